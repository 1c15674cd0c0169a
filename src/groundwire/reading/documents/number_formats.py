"""Numbers as a spreadsheet shows them (ECMA-376, part 1, 18.8.30 and 18.8.31)."""

from __future__ import annotations

import re
from collections.abc import Mapping
from decimal import ROUND_HALF_UP, Decimal, localcontext
from typing import Final

BUILT_IN: Final[Mapping[int, str]] = {
    1: "0", 2: "0.00", 3: "#,##0", 4: "#,##0.00", 5: '"$"#,##0', 6: '"$"#,##0', 7: '"$"#,##0.00', 8: '"$"#,##0.00',
    9: "0%", 10: "0.00%", 11: "0.00E+00", 37: "#,##0;(#,##0)", 38: "#,##0;(#,##0)", 39: "#,##0.00;(#,##0.00)",
    40: "#,##0.00;(#,##0.00)", 41: "#,##0", 42: '"$"#,##0', 43: "#,##0.00", 44: '"$"#,##0.00', 48: "##0.0E+0",
}  # fmt: skip
"""The formats of numbers that a workbook does not spell out, by their identifiers."""
_PART: Final = re.compile(  # 200 as _MAX_FORMAT_LENGTH
    r"""
      "(?P<quoted>[^"]*)" | \\(?P<escaped>.) | [_*](?:.) | \[\$(?P<currency>[^\]-]*)[^\]]*\]
    | \[(?P<condition>[<>=][^\]]*)\] | \[[^\]]*\]
    | (?P<digits>[0\#?.,]{0,200}[0\#?.](?:,+(?![0\#?.]))?)(?P<exponent>E[+-]0+)?
    | (?P<text>General|@|[a-zA-Z/]) | (?P<sign>.)
    """,
    re.VERBOSE | re.DOTALL,
)
_SECTION: Final = re.compile(r'((?:"[^"]*"|\\.|[^;"\\])*)(?:;|$)', re.DOTALL)
_MAX_FORMAT_LENGTH: Final = 200  # characters of a format
_DIGITS: Final = 15  # significant ones of a number that a spreadsheet stores
_MAX_VALUE: Final = 1e21
_MAX_DECIMALS: Final = 15


def _plain_number(value: float) -> str:
    """Return a number with the digits that a spreadsheet has of it, without an exponent unless it is very large."""
    text = f"{value:.{_DIGITS}g}"
    return f"{Decimal(text):f}" if "e" in text and abs(value) < _MAX_VALUE else text


def format_number(value: float, code: str) -> str:
    """Return a number in a format; with all its digits if it is a format for something else, such as fractions.

    Args:
        value: The number.
        code: The format, such as `#,##0.00 "EUR"`.
    """
    if not code or len(code) > _MAX_FORMAT_LENGTH or abs(value) >= _MAX_VALUE:
        return _plain_number(value)
    sections = [match[1] for match in _SECTION.finditer(code)][: 1 + code.count(";")]
    place = 2 if value == 0 and len(sections) > 2 else 1 if value < 0 and len(sections) > 1 else 0
    parts = list(_PART.finditer(sections[place]))
    numbers = [part for part in parts if part["digits"]]
    if len(numbers) != 1 or any(part["condition"] or part["text"] for part in parts):
        return _plain_number(value)
    scaled = Decimal(repr(abs(value))) * 100 ** sum(part["sign"] == "%" for part in parts)
    digits = _digits(scaled, numbers[0]["digits"], numbers[0]["exponent"] or "")
    sign = "-" if value < 0 and place == 0 and digits.strip("0.,") else ""
    pieces = (
        digits if part["digits"] else part["quoted"] or part["escaped"] or part["currency"] or part["sign"] or ""
        for part in parts
    )
    return sign + " ".join("".join(pieces).split())


def _digits(value: Decimal, form: str, exponent: str) -> str:
    """Return a number as its placeholders say: `0` is a digit always, `#` one that is needed, `,` groups or divides."""
    if exponent:
        decimals = form.partition(".")[2].count("0")
        return f"{value:.{decimals}E}"
    integer_form, _, decimal_form = form.rstrip(",").partition(".")
    value /= 1_000 ** (len(form) - len(form.rstrip(",")))
    most = min(sum(decimal_form.count(sign) for sign in "0#?"), _MAX_DECIMALS)
    with localcontext(prec=60):
        text = f"{value.quantize(Decimal(1).scaleb(-most), ROUND_HALF_UP):f}"
    before, _, after = text.partition(".")
    while len(after) > decimal_form.count("0") and after.endswith("0"):
        after = after[:-1]
    before = before.zfill(integer_form.count("0")) if integer_form.count("0") else before.lstrip("0")
    if "," in integer_form:
        before = re.sub(r"(\d{3})(?=\d)", r"\1,", before[::-1])[::-1]
    return f"{before}.{after}" if after else before or ("" if not integer_form.strip("?") else "0")
