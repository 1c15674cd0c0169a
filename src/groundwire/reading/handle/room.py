"""How much a caller wants to read, in characters, in tokens, or both."""

from __future__ import annotations

from dataclasses import dataclass, field, replace

from groundwire.reading.handle.counting import CountTokens, TokenBound, load_token_bound

__all__ = ["Room"]

_CHARACTERS_PER_TOKEN = 12  # more than any text in use has; a first guess where a real tokenizer counts


@dataclass(frozen=True, slots=True, kw_only=True)
class Room:
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

    def less(self, text: str) -> Room:
        """Return what is left when a text has been put in."""
        return self.limited(
            self.characters - len(text), None if self.tokens is None else self.tokens - self.tokens_of(text)
        )

    def limited(self, characters: int, tokens: int | None) -> Room:
        """Return another amount of room, counted in the same way."""
        return replace(self, characters=max(0, characters), tokens=None if tokens is None else max(0, tokens))

    @property
    def is_empty(self) -> bool:
        """Whether nothing fits."""
        return self.characters <= 0 or (self.tokens is not None and self.tokens <= 0)
