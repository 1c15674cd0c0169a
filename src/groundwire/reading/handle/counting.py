"""How many tokens a text has at most, without a tokenizer.

Byte-pair encoding joins two neighbouring tokens whenever the two together are a token. So no two neighbours in a
finished row are one together, and the longest row for which that holds of all tokens that are known is an upper bound.
Known is what two public vocabularies (cl100k_base and o200k_base) have in common, as `benchmarks/learn_tokens.py`
writes it: most English words are one token in both, and the bound is close. What is not known counts as its bytes.
"""

from __future__ import annotations

import gzip
import json
import re
from collections.abc import Callable, Set
from functools import cache
from importlib.resources import files
from typing import Final

__all__ = ["CountTokens", "TokenBound", "load_token_bound"]

CountTokens = Callable[[str], int]
"""Counts the tokens of a text."""

_PARTS: Final = re.compile(
    r"(?P<word> ?[A-Za-z]+)"
    r"|(?P<digits>[0-9]+)"
    r"|(?P<marks> ?[!-/:-@\[-`{-~]+)"
    r"|(?P<lines>[\r\n]+)"
    r"|(?P<blanks>[ \t]+(?= [^\s])|[ \t]+)"
    r"|(?P<other>[^\x00-\x7f]+)"
    r"|(?P<control>[\x00-\x1f\x7f])"
)
_CAMEL: Final = re.compile(r"(?<=[a-z])(?=[A-Z])")
_LONGEST: Final = 24  # letters of a word that is looked at closely
_MANY: Final = 50_000  # words whose bounds are kept


class TokenBound:
    """Bounds the tokens of texts from above.

    Args:
        words: Runs of ASCII letters, some with a space in front, that are one token each.
        marks: The same of punctuation, some with line ends behind.
        characters: Characters beyond ASCII that are one token each.
        groups: Code points beyond U+07FF divided by 64, whose first bytes are one token.
    """

    def __init__(self, words: Set[str], marks: Set[str], characters: Set[str], groups: Set[int]) -> None:
        self._words = words
        self._marks = marks
        self._characters = characters
        self._groups = groups
        self._known: dict[str, int] = {}

    def __call__(self, text: str) -> int:
        """Return the most tokens that a text has."""
        return sum(self._cost(part, text) for part in _PARTS.finditer(text))

    def reach(self, text: str, start: int, room: int) -> int:
        """Return where the tokens from `start` on have used up the room; the length of the text if they do not.

        Args:
            text: The text.
            start: Where to begin.
            room: Tokens.
        """
        for part in _PARTS.finditer(text, start):
            room -= self._cost(part, text)
            if room < 0:
                return part.start()
        return len(text)

    def _cost(self, part: re.Match[str], text: str) -> int:
        kind, piece = part.lastgroup, part[0]
        if kind == "word":
            start, end = part.span()
            if end < len(text) and text[end] > "\x7f" and not text[end].isspace():
                return self._row(piece) + 1  # it goes on beyond ASCII, and its last token with it
            if piece[0] != " " and start:
                before = text[start - 1]
                if before > "\x7f" and before.isalnum():
                    return self._row(piece) + 1
                if _is_joined(before, text[start - 2 : start - 1]):
                    # The mark is counted by itself; an apostrophe may belong to the word before.
                    return self._word(before + piece) - (before != "'")
            return self._word(piece)
        if kind == "digits":
            return (len(piece) + 2) // 3
        if kind == "marks":
            return self._row_of_marks(piece)
        if kind == "lines":
            return (len(piece) + 1) // 2
        if kind == "blanks":
            return 1 + len(piece) // 16 if piece.isspace() and "\t" not in piece else len(piece)
        if kind == "other":
            return sum(map(self._character, piece))
        return 1

    def _word(self, piece: str) -> int:
        """Return the bound for a run of letters that stands alone, with or without a space."""
        if piece in self._words:
            return 1
        found = self._known.get(piece)
        if found is None:
            if len(self._known) > _MANY:
                self._known.clear()
            parts = _CAMEL.split(piece)
            found = self._row(piece)
            if len(parts) > 1:
                found = max(found, sum(1 if part in self._words else self._row(part) for part in parts))
            self._known[piece] = found
        return found

    def _row(self, piece: str) -> int:
        """Return the length of the longest row of tokens in which no two neighbours are one token together."""
        size = len(piece)
        if size > _LONGEST:
            return sum(self._row(piece[at : at + _LONGEST]) for at in range(0, size, _LONGEST)) + size // _LONGEST
        words = self._words
        # best[start][end]: the longest row for the first `end` letters whose last token is piece[start:end]
        best = [[0] * (size + 1) for _ in range(size + 1)]
        for end in range(1, size + 1):
            best[0][end] = 1
            for start in range(1, end):
                longest = 0
                for before in range(start):
                    row = best[before][start]
                    if row > longest and piece[before:end] not in words:
                        longest = row
                best[start][end] = longest + 1 if longest else 0
        return max(best[start][size] for start in range(size)) if size else 0

    def _row_of_marks(self, piece: str) -> int:
        if len(piece) == 1 or piece in self._marks:
            return 1
        return len(piece) if piece[0] != " " else len(piece) - 1

    def _character(self, character: str) -> int:
        if character in self._characters:
            return 1
        code = ord(character)
        size = 2 if code < 0x800 else 3 if code < 0x10000 else 4
        return size - 1 if code // 64 in self._groups else size


def _is_joined(before: str, earlier: str) -> bool:
    """Whether a mark is taken together with the word behind it: one that stands alone is, and so is a tab."""
    if before.isalnum() or before in " \r\n":
        return False
    return before.isspace() or not earlier or earlier.isalnum() or (earlier != " " and earlier.isspace())


@cache
def load_token_bound() -> TokenBound:
    """Return the bound with the data that comes with the package; it is read once."""
    data = files("groundwire.reading").joinpath("data", "tokens.json.gz").read_bytes()
    table = json.loads(gzip.decompress(data))
    return TokenBound(
        frozenset(table["words"]),
        frozenset(table["marks"]),
        frozenset(table["characters"]),
        frozenset(table["groups"]),
    )
