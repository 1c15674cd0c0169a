"""Text as it may be handed on: one kind of newline, and nothing in it that a terminal would obey."""

from __future__ import annotations

import re
from typing import Final

__all__ = ["clean", "strip_controls"]

_ESCAPES: Final = re.compile(
    "[\x1b\x90\x98\x9b\x9d-\x9f](?:"  # all begin so, and what surely does not is passed by quickly
    r"(?:(?<=\x1b)[\]PX^_]|(?<=[\x90\x98\x9d-\x9f]))"  # OSC, DCS ...
    r"[^\n\x07\x1b\x90\x98\x9c-\x9f]{0,4096}(?:\x07|\x1b\\|\x9c)"
    r"|(?:(?<=\x1b)\[|(?<=\x9b))[0-?]{0,64}[ -/]{0,16}[@-~]"  # CSI
    r"|(?<=\x1b)[ -/]{0,16}[0-~])"
)
"""The escape sequences of ECMA-48, to be taken out whole: taking the controls alone leaves their payload behind."""

_CONTROLS: Final = re.compile("[\x00-\x08\x0b-\x1f\x7f-\x9f\ufdd0-\ufdef\ufffe\uffff\ud800-\udfff]")
_PLAIN: Final = bytes([*b"\t\n", *range(0x20, 0x7F)])
_TELLING: Final = re.compile(
    rb"[\x00-\x1f\x7f]|\xc2[\x80-\x9f]|\xe2\x80[\xa8\xa9]|\xef(?:\xb7[\x90-\xaf]|\xbf[\xbe\xbf])"
)
"""All of `_CONTROLS` and of `_NEWLINES` in UTF-8 (which has no surrogates), of a text without `_PLAIN`."""
_NEWLINES: Final = "\x0b\x0c\x85\u2028\u2029"
_BEGINNINGS: Final = "\x1b\x90\x98\x9b\x9d\x9e\x9f"
"""What the escape sequences begin with."""
_BARE: Final = re.compile(r"\r(?!\n)")
_GAPS: Final = re.compile(r"\n{4,}")


def strip_controls(text: str) -> str:
    """Return `text` without escape sequences and without control characters other than newline and tab."""
    if "\r" in text:  # looking for pairs takes five times as long as for one sign
        text = text.replace("\r\n", "\n").replace("\r", "\n") if _BARE.search(text) else text.replace("\r", "")
    if _is_plain(text):
        return text
    for newline in _NEWLINES:
        text = text.replace(newline, "\n")
    if _is_plain(text):
        return text
    if any(sign in text for sign in _BEGINNINGS):
        text = _ESCAPES.sub("", text)
    return _CONTROLS.sub("", text)


def _is_plain(text: str) -> bool:
    """Tell whether there is nothing to strip; some ten times faster than patterns that look at every character."""
    try:
        rest = text.encode().translate(None, _PLAIN)
    except UnicodeEncodeError:
        return False
    return not rest or _TELLING.search(rest) is None


def clean(text: str) -> str:
    """Return `text` with plain newlines, no controls, no space at line ends, and at most two blank lines together."""
    text = strip_controls(text)
    if " \n" in text or "\t\n" in text:
        text = "\n".join([line.rstrip(" \t") for line in text.split("\n")])
    if "\n\n\n\n" in text:
        text = _GAPS.sub("\n\n\n", text)
    return text.strip("\n").rstrip()
