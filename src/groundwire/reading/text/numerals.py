"""Numbers of lists in letters and Roman numerals."""

from __future__ import annotations

from typing import Final

_ROMAN: Final = (
    (1000, "m"), (900, "cm"), (500, "d"), (400, "cd"), (100, "c"), (90, "xc"), (50, "l"), (40, "xl"), (10, "x"),
    (9, "ix"), (5, "v"), (4, "iv"), (1, "i"),
)  # fmt: skip
_MAX_NUMERAL: Final = 3_999


def numeral(number: int, form: str) -> str:
    """Return a number as a list shows it; in decimal if its kind of numerals is none of the common ones.

    Args:
        number: The number.
        form: `lowerRoman`, `lowerAlpha` (after z comes aa, ab, as in browsers), `lowerLetter` (aa, bb, as in Word), or
            the same with `upper`.
    """
    text = "" if 0 < number <= _MAX_NUMERAL and form.endswith(("Roman", "Alpha", "Letter")) else str(number)
    if form.endswith("Roman") and not text:
        for value, letters in _ROMAN:
            count, number = divmod(number, value)
            text += letters * count
    elif form.endswith("Letter") and not text:
        text = chr(ord("a") + (number - 1) % 26) * ((number - 1) // 26 + 1)
    elif not text:
        while number:
            number, letter = divmod(number - 1, 26)
            text = chr(ord("a") + letter) + text
    return text.upper() if form.startswith("upper") else text
