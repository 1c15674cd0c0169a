"""Text for the full-text index, and safe queries for it from any input.

SQLite's `unicode61` tokenizer folds case and diacritics, and splits words at spaces. Scripts without spaces would
become words as long as sentences, so their characters are separated by one that occurs in no text (U+001F), and a run
of them is searched as a phrase. SQLite's trigram index does not find words of two characters, as most are in Chinese
and Japanese, and takes several times the space.
"""

from __future__ import annotations

import re
import unicodedata
from functools import cache
from typing import NamedTuple

from groundwire.errors import BlockedByPolicy, InvalidRequest
from groundwire.safety.hostnames import canonical_host

__all__ = ["Question", "joined", "readable", "split", "storable", "under_domain"]

_MARK = "\x1f"  # a control character: `unicode61` treats it as a space
# Thai and Lao, Myanmar, Hangul jamo, Khmer, CJK and kana, Hangul, CJK compatibility, half-width kana, CJK extensions.
_DENSE = (
    "\u0e00-\u0eff\u1000-\u109f\u1100-\u11ff\u1780-\u17ff\u2e80-\u2fdf\u3005-\u3007\u3021-\u3029\u3031-\u303c"
    "\u3040-\u9fff\ua960-\ua97f\uac00-\ud7ff\uf900-\ufaff\uff66-\uff9f\U00020000-\U0003fffd"
)
_LONGEST = 2_000  # characters of a query
_MOST = 24  # words of a query
_PREFIX = 3  # letters from which the last word may be a prefix
_LINK = re.compile(r"!?\[([^\[\]]*)\]\([^()\s]*\)")
_MARKUP = re.compile(r"(?m)^[^\S\n]*+(?:#{1,6}|[-*+>]|\d+\.)\s+|[*_`|]{1,3}(?=\s|$)|(?<!\S)[*_`|]{1,3}")


@cache
def _dense() -> re.Pattern[str]:
    """Return the pattern of such a character; to compile it takes milliseconds, and ASCII text has none."""
    return re.compile(f"[{_DENSE}]")


@cache
def _between() -> re.Pattern[str]:
    """Return the pattern of the places between such characters; it is compiled when a text has some."""
    return re.compile(rf"(?<=[{_DENSE}])(?=\w)|(?<=\w)(?=[{_DENSE}])")


def storable(text: str) -> str:
    """Return text that has a UTF-8 form, without the sign that keeps characters apart and without NUL."""
    if text.isascii() and _MARK not in text and "\0" not in text:
        return text
    return text.encode("utf-8", "replace").decode("utf-8").replace(_MARK, " ").replace("\0", " ")


def split(text: str) -> str:
    """Return text for the index, with separated characters in scripts without spaces."""
    return text if text.isascii() or not _dense().search(text) else _between().sub(_MARK, text)


def joined(text: str) -> str:
    """Revert `split`."""
    return text.replace(_MARK, "")


def readable(snippet: str) -> str:
    """Return a passage of Markdown as a line of plain text."""
    return " ".join(_MARKUP.sub("", _LINK.sub(r"\1", joined(snippet))).split())


class Question(NamedTuple):
    """A query as FTS5 expressions; every word is quoted, so that none is an operator.

    https://sqlite.org/fts5.html#full_text_query_syntax
    """

    strict: str
    """Matches all words, each run of characters as a phrase, the last word possibly as a prefix."""
    loose: tuple[str, ...]
    """Matches each word separately; scripts without spaces by pairs of characters."""

    @classmethod
    def read(cls, text: str) -> Question | None:
        """Parse a query, or return None if it has no letters and digits."""
        clean = unicodedata.normalize("NFC", storable(text[:_LONGEST]))
        words = list(dict.fromkeys(word for word in clean.split() if any(map(str.isalnum, word))))[:_MOST]
        if not words:
            return None
        strict = [_quoted(word) for word in words]
        if words[-1][-_PREFIX:].isalpha() and len(words[-1]) >= _PREFIX and not _dense().search(words[-1]):
            strict[-1] += " *"
        pieces = dict.fromkeys(piece for word in words for piece in _pieces(word))
        return cls(" AND ".join(strict), tuple(map(_quoted, pieces))[:_MOST])

    @property
    def any(self) -> str:
        """An expression that matches any of the words."""
        return " OR ".join(self.loose)

    @property
    def least(self) -> int:
        """How many of the words must match: half of them."""
        return (len(self.loose) + 1) // 2


def _pieces(word: str) -> list[str]:
    runs = re.findall(f"[{_DENSE}]{{3,}}", word)
    if not runs:
        return [word]
    pairs = [run[at : at + 2] for run in runs for at in range(len(run) - 1)]
    rest = [part for part in re.sub(f"[{_DENSE}]{{3,}}", " ", word).split() if any(map(str.isalnum, part))]
    return [pair for pair in pairs if any(map(str.isalnum, pair))] + rest


def _quoted(word: str) -> str:
    return '"' + split(word).replace('"', '""') + '"'


def under_domain(domain: str) -> tuple[str, list[str]]:
    """Return an SQL condition on the host of `i`, and its values; an invalid domain matches nothing."""
    try:
        host = canonical_host(domain.removeprefix("*").removeprefix("."))
    except (InvalidRequest, BlockedByPolicy):
        return "(i.host is null)", []
    return "(i.host = ? or substr(i.host, -length(?)) = ?)", [host, f".{host}", f".{host}"]
