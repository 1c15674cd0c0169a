"""A caller's limit of text, in characters, tokens, or both, and an upper bound of tokens without a tokenizer.

Byte-pair encoding joins two adjacent tokens whenever the result is a token. So in the final sequence no two adjacent
tokens form a token together, and the longest sequence with that property is an upper bound. The known tokens are those
that two public vocabularies (cl100k_base and o200k_base) have in common, as written by `benchmarks/learn_tokens.py`:
most English words are one token in both, so the bound is tight. A token may also begin or end within a character
beyond ASCII, but only if one of the vocabularies has it. Unknown text counts as its bytes.
"""

from __future__ import annotations

import gzip
import json
import re
import unicodedata
from collections.abc import Set
from dataclasses import dataclass, replace
from functools import cache
from importlib.resources import files
from typing import Final

_PARTS: Final = re.compile(
    r"(?P<word> ?[^\W\d_\u0900-\u1dff\u2000-\U0010ffff]+)"  # letters of alphabets; the other scripts by character
    r"|(?P<digits>[0-9]+)"
    r"|(?P<marks> ?[!-/:-@\[-`{-~]+)"
    r"|(?P<lines>[\r\n]+)"
    r"|(?P<blanks>[ \t]+(?= [^\s])|[ \t]+)"
    r"|(?P<other>[^\x00-\x7f]+)"
    r"|(?P<control>[\x00-\x1f\x7f])"
)
_CAMEL: Final = re.compile(r"(?<=[a-z])(?=[A-Z])")
_MAX_WORD_LENGTH: Final = 20  # letters of a word that are analyzed; half of that beyond ASCII
_STEPS: Final = (20, 4, 1)  # step sizes in characters for a run without spaces
_LONG_RUN: Final = _STEPS[0] * _MAX_WORD_LENGTH  # characters of a run that is analyzed as a whole
_LONG_TOKEN: Final = 16  # characters a token that no long run has more of
_MAX_CACHED_WORDS: Final = 50_000  # words whose bounds are cached
_MAX_NEW_WORDS: Final = 20_000  # new words analyzed per text; for further ones the letters are counted


class TokenBound:
    """Computes upper bounds of the tokens of texts.

    Args:
        words: Runs of letters, some with a leading space, that are one token each, every byte as the Latin-1 character
            of its value.
        marks: The same for punctuation, some with trailing newlines.
        characters: Non-ASCII characters that are one token each.
        groups: Code points above U+07FF divided by 64, whose first bytes are one token.
        cut: Tokens that begin or end within a character, in the same form.
    """

    def __init__(
        self, words: Set[str], marks: Set[str], characters: Set[str], groups: Set[int], cut: Set[str] = frozenset()
    ) -> None:
        self._words = words
        self._cut = cut
        self._marks = marks
        self._characters = characters
        self._groups = groups
        self._rows: dict[str, int] = {}

    def __call__(self, text: str) -> int:
        """Return an upper bound of a text's tokens."""
        self._forget()
        return self._count(text)

    def _count(self, text: str) -> int:
        return sum(self._cost(part, text) for part in _PARTS.finditer(text))

    def reach(self, text: str, start: int, room: int) -> int:
        """Return the position at which the tokens from `start` on exceed the limit, or the length of the text.

        Takes time in proportion to the limit, not to the text.

        Args:
            text: The text.
            start: The start position.
            room: The limit in tokens.
        """
        self._forget()
        left = room
        for part in _PARTS.finditer(text, start):
            begin, end = part.span()
            is_long = end - begin > _LONG_RUN
            cost = self._cost(part, text) if not is_long or end - begin <= _LONG_TOKEN * room else room + 1
            if cost > left:
                break
            left -= cost
        else:
            return len(text)
        stop = begin
        for step in _STEPS if is_long or begin == start else ():  # another word is not cut
            while stop < end - 1:
                piece = text[stop : min(stop + step, end - 1)]
                if (cost := 1 + self._count(piece)) > left:
                    break
                left, stop = left - cost, stop + len(piece)
        while text[stop : stop + 1].strip() and stop > start and self._count(text[start:stop]) > room:
            stop -= 1  # a piece may cost more where it is cut, or beside others
        return stop

    def _forget(self) -> None:
        if len(self._rows) > _MAX_CACHED_WORDS:
            self._rows.clear()

    def _cost(self, part: re.Match[str], text: str) -> int:
        kind, piece = part.lastgroup, part[0]
        if kind == "word":
            start, end = part.span()
            if end < len(text) and text[end] > "\x7f" and unicodedata.category(text[end])[0] in "LMN":
                return self._row(piece) + 1  # it continues with non-ASCII characters, and so does its last token
            if piece[0] != " " and start:
                before = text[start - 1]
                if before > "\x7f" and before.isalnum():
                    return self._row(piece) + 1
                if _is_joined(before, text[start - 2 : start - 1]):
                    # The mark is counted separately; an apostrophe may belong to the preceding word.
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
        """Return the bound for a separate run of letters, with or without a space."""
        if _bytes(piece) in self._words:
            return 1
        if not piece.isascii():
            return self._row(piece) if _in_one_case(piece.strip()) else sum(map(self._character, piece))
        bound = self._row(piece)
        parts = _CAMEL.split(piece)
        if len(parts) > 1:
            bound = max(bound, sum(1 if part in self._words else self._row(part) for part in parts))
        return bound

    def _row(self, piece: str) -> int:
        """Return the length of the longest token sequence in which no two adjacent tokens form one token."""
        size = len(piece)
        if size > _LONG_RUN:
            return sum(map(self._character, piece))
        longest = _MAX_WORD_LENGTH if piece.isascii() else _MAX_WORD_LENGTH // 2
        if size > longest:
            return sum(self._row(piece[at : at + longest]) for at in range(0, size, longest)) + size // longest
        length = self._rows.get(piece)
        if length is None:
            if len(self._rows) > _MAX_CACHED_WORDS + _MAX_NEW_WORDS:
                return sum(map(self._character, piece))
            length = self._rows[piece] = _longest_row(_bytes(piece), self._words, self._cut)
        return length

    def _row_of_marks(self, piece: str) -> int:
        if piece in self._marks:
            return 1
        return len(piece) if piece[0] != " " else len(piece) - 1

    def _character(self, character: str) -> int:
        if character < "\x80" or character in self._characters:
            return 1
        code = ord(character)
        size = 2 if code < 0x800 else 3 if code < 0x10000 else 4
        return size - 1 if code // 64 in self._groups else size


def _longest_row(piece: str, words: Set[str], cut: Set[str]) -> int:
    size = len(piece)
    inside = {at for at, byte in enumerate(piece) if "\x80" <= byte <= "\xbf"}  # not at the start of a character
    # best[start][end]: the longest row for the first `end` bytes whose last token is piece[start:end]
    best = [[0] * (size + 1) for _ in range(size + 1)]
    for end in range(1, size + 1):
        for start in range(end):
            if inside and (start in inside or end in inside) and piece[start:end] not in cut:
                continue
            longest = 0
            for before in range(start):
                row = best[before][start]
                if row > longest and piece[before:end] not in words:
                    longest = row
            best[start][end] = longest + 1 if longest or not start else 0
    return max(best[start][size] for start in range(size))


def _bytes(text: str) -> str:
    """Return the bytes of a text, each as the Latin-1 character of its value."""
    return text if text.isascii() else text.encode("utf-8", "surrogatepass").decode("latin-1")


def _in_one_case(word: str) -> bool:
    """Whether capital letters are at the start only, or everywhere: elsewhere a vocabulary may split a word."""
    return word[1:] == word[1:].lower() or word == word.upper()


def _is_joined(before: str, earlier: str) -> bool:
    """Whether a mark is joined with the following word: a single one is, and so is a tab."""
    if before.isalnum() or before in " \r\n":
        return False
    return before.isspace() or not earlier or earlier.isalnum() or (earlier != " " and earlier.isspace())


@cache
def load_token_bound() -> TokenBound:
    """Return the bound from the built-in data, loaded once."""
    data = files("groundwire.reading").joinpath("data", "tokens.json.gz").read_bytes()
    table = json.loads(gzip.decompress(data))
    return TokenBound(
        frozenset(table["words"]),
        frozenset(table["marks"]),
        frozenset(table["characters"]),
        frozenset(table["groups"]),
        frozenset(table["cut"]),
    )


@dataclass(frozen=True, slots=True, kw_only=True)
class TextBudget:
    """A limit of text."""

    characters: int
    """Maximum characters."""
    tokens: int | None = None
    """Maximum tokens; None for no limit."""

    def tokens_of(self, text: str) -> int:
        """Return an upper bound of the tokens of a text; 0 if they are not limited."""
        return 0 if self.tokens is None else load_token_bound()(text)

    def holds(self, text: str) -> bool:
        """Whether a text fits."""
        if self.tokens is None or len(text) > self.characters:
            return len(text) <= self.characters
        return load_token_bound().reach(text, 0, self.tokens) == len(text)

    def reach(self, text: str, start: int) -> int:
        """Return the position up to which text from `start` fits."""
        end = min(len(text), start + self.characters)
        return end if self.tokens is None else min(end, load_token_bound().reach(text, start, self.tokens))

    def less(self, text: str) -> TextBudget:
        """Return the limit that remains after adding a text."""
        return self.limited(
            self.characters - len(text), None if self.tokens is None else self.tokens - self.tokens_of(text)
        )

    def limited(self, characters: int, tokens: int | None) -> TextBudget:
        """Return another limit, counted in the same way."""
        return replace(self, characters=max(0, characters), tokens=None if tokens is None else max(0, tokens))
