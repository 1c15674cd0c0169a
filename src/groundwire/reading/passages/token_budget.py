"""How much a caller wants to read, in characters, in tokens, or both.

How many tokens a text has at most, without a tokenizer.

Byte-pair encoding joins two neighboring tokens whenever the two together are a token. So no two neighbors in a
finished row are one together, and the longest row for which that holds of all tokens that are known is an upper bound.
Known is what two public vocabularies (cl100k_base and o200k_base) have in common, as `benchmarks/learn_tokens.py`
writes it: most English words are one token in both, and the bound is close. What is not known counts as its bytes.
"""

from __future__ import annotations

import gzip
import json
import re
from collections.abc import Callable, Set
from dataclasses import dataclass, field, replace
from functools import cache
from importlib.resources import files
from typing import Final

__all__ = ["CountTokens", "TextBudget", "TokenBound", "load_token_bound"]

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
_LONGEST: Final = 20  # letters of a word that is looked at closely
_STEPS: Final = (20, 4, 1)  # characters by which a run without a break is gone through
_MANY: Final = 50_000  # words whose bounds are kept
_NEW: Final = 20_000  # words that are looked at closely for one text; of more the letters are counted


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
        self._rows: dict[str, int] = {}

    def __call__(self, text: str) -> int:
        """Return the most tokens that a text has."""
        self._forget()
        return sum(self._cost(part, text) for part in _PARTS.finditer(text))

    def reach(self, text: str, start: int, room: int) -> int:
        """Return where the tokens from `start` on have used up the room; the length of the text if they do not.

        Takes time in proportion to the room, not to the text.

        Args:
            text: The text.
            start: Where to begin.
            room: Tokens.
        """
        self._forget()
        for part in _PARTS.finditer(text, start):
            begin, end = part.span()
            cost = self._cost(part, text) if end - begin <= _STEPS[0] * _LONGEST else room + 1
            if cost <= room:
                room -= cost
                continue
            if begin > start and end - begin <= _STEPS[0] * _LONGEST:
                return begin
            stop, room = self._inside(text, begin, end, room)
            if stop < end:
                return stop
        return len(text)

    def _inside(self, text: str, start: int, end: int, room: int) -> tuple[int, int]:
        """Return how far a run without a break can be read, step by step, and the room that is left."""
        for step in _STEPS:
            while start < end:
                cost = 1 + sum(self._cost(part, text) for part in _PARTS.finditer(text, start, min(start + step, end)))
                if cost > room:
                    break
                room -= cost
                start = min(start + step, end)
        return start, room

    def _forget(self) -> None:
        if len(self._rows) > _MANY:
            self._rows.clear()

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
        found = self._row(piece)
        parts = _CAMEL.split(piece)
        if len(parts) > 1:
            found = max(found, sum(1 if part in self._words else self._row(part) for part in parts))
        return found

    def _row(self, piece: str) -> int:
        """Return the length of the longest row of tokens in which no two neighbors are one token together."""
        size = len(piece)
        if size > _STEPS[0] * _LONGEST:
            return size
        if size > _LONGEST:
            return sum(self._row(piece[at : at + _LONGEST]) for at in range(0, size, _LONGEST)) + size // _LONGEST
        found = self._rows.get(piece)
        if found is None:
            if len(self._rows) > _MANY + _NEW:
                return size
            found = self._rows[piece] = _longest_row(piece, self._words)
        return found

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


def _longest_row(piece: str, words: Set[str]) -> int:
    size = len(piece)
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
    return max(best[start][size] for start in range(size))


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


_CHARACTERS_PER_TOKEN = 12  # more than any text in use has; a first guess where a real tokenizer counts


@dataclass(frozen=True, slots=True, kw_only=True)
class TextBudget:
    """What may be filled with text."""

    characters: int
    """The most characters."""
    tokens: int | None = None
    """The most tokens; None when they do not matter."""
    count: CountTokens | None = None
    """Counts tokens; None bounds them from above without a tokenizer."""
    _bound: TokenBound | None = field(default=None, repr=False, compare=False)

    def __post_init__(self) -> None:
        if self.tokens is not None and self.count is None and self._bound is None:
            object.__setattr__(self, "_bound", load_token_bound())

    def tokens_of(self, text: str) -> int:
        """Return the tokens of a text, exact or at most; 0 when they do not matter."""
        if self.tokens is None:
            return 0
        return self.count(text) if self.count is not None else (self._bound or load_token_bound())(text)

    def holds(self, text: str) -> bool:
        """Whether a text fits."""
        if self.tokens is None or len(text) > self.characters:
            return len(text) <= self.characters
        if self.count is not None:
            return self.count(text) <= self.tokens
        return (self._bound or load_token_bound()).reach(text, 0, self.tokens) == len(text)

    def reach(self, text: str, start: int) -> int:
        """Return about how far a text can be read from `start`; whether a piece of it fits is for `holds` to say."""
        end = min(len(text), start + self.characters)
        if self.tokens is None:
            return end
        if self.count is None:
            return min(end, (self._bound or load_token_bound()).reach(text, start, self.tokens))
        low, high = start, min(end, start + self.tokens * _CHARACTERS_PER_TOKEN)
        while high - low > 8:
            middle = (low + high) // 2
            low, high = (middle, high) if self.count(text[start:middle]) <= self.tokens else (low, middle)
        return low

    def less(self, text: str) -> TextBudget:
        """Return what is left when a text has been put in."""
        return self.limited(
            self.characters - len(text), None if self.tokens is None else self.tokens - self.tokens_of(text)
        )

    def limited(self, characters: int, tokens: int | None) -> TextBudget:
        """Return another amount of room, counted in the same way."""
        return replace(self, characters=max(0, characters), tokens=None if tokens is None else max(0, tokens))

    @property
    def is_empty(self) -> bool:
        """Whether nothing fits."""
        return self.characters <= 0 or (self.tokens is not None and self.tokens <= 0)
