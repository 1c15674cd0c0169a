"""Text for the full-text index, and parts of safe queries for it.

SQLite's `unicode61` tokenizer folds case and diacritics, and splits words at spaces. Scripts without spaces would
become words as long as sentences, so their characters are separated by one that occurs in no text (U+001F), and a run
of them is searched as a phrase. SQLite's trigram index does not find words of two characters, as most are in Chinese
and Japanese, and takes several times the space.
"""

from __future__ import annotations

import re
from functools import cache

_MARK = "\x1f"  # a control character: `unicode61` treats it as a space
# Thai and Lao, Myanmar, Hangul jamo, Khmer, CJK and kana, Hangul, CJK compatibility, half-width kana, CJK extensions.
_DENSE = (
    "\u0e00-\u0eff\u1000-\u109f\u1100-\u11ff\u1780-\u17ff\u2e80-\u2fdf\u3005-\u3007\u3021-\u3029\u3031-\u303c"
    "\u3040-\u9fff\ua960-\ua97f\uac00-\ud7ff\uf900-\ufaff\uff66-\uff9f\U00020000-\U0003fffd"
)
_LINK = re.compile(r"!?\[([^\[\]]*)\]\([^()\s]*\)")
_MARKUP = re.compile(r"(?m)^[^\S\n]*+(?:#{1,6}|[-*+>]|\d+\.)\s+|[*_`|]{1,3}(?=\s|$)|(?<!\S)[*_`|]{1,3}")


@cache
def dense() -> re.Pattern[str]:
    """Return the pattern of a character of these scripts; to compile it takes milliseconds, and ASCII has none."""
    return re.compile(f"[{_DENSE}]")


@cache
def words_and_runs() -> re.Pattern[str]:
    """Return the pattern of a run of such characters, or of a word or a number."""
    return re.compile(rf"[{_DENSE}]+|[^\W_{_DENSE}]+(?:[.,][0-9]+)*(?:\+\+|#)?")


@cache
def _between() -> re.Pattern[str]:
    return re.compile(rf"(?<=[{_DENSE}])(?=\w)|(?<=\w)(?=[{_DENSE}])")


def storable(text: str) -> str:
    """Return text that has a UTF-8 form, without the sign that keeps characters apart and without NUL."""
    if text.isascii() and _MARK not in text and "\0" not in text:
        return text
    return text.encode("utf-8", "replace").decode("utf-8").replace(_MARK, " ").replace("\0", " ")


def split(text: str) -> str:
    """Return storable text for the index, with separated characters in scripts without spaces."""
    if not (text := storable(text)).isascii() and dense().search(text):
        return _between().sub(_MARK, text)
    return text


def joined(text: str) -> str:
    """Return what `split` was given, but for what is not storable."""
    return text.replace(_MARK, "")


def readable(snippet: str) -> str:
    """Return a passage of Markdown as a line of plain text."""
    return " ".join(_MARKUP.sub("", _LINK.sub(r"\1", joined(snippet))).split())


def quoted(word: str) -> str:
    """Return a word, or a run of characters as a phrase, for a full-text expression; quoted, it is no operator."""
    return '"' + split(word).replace('"', '""') + '"'
