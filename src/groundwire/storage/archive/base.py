"""What an archive is asked for, what it returns besides rows, and how its database fails."""

from __future__ import annotations

from datetime import date
from typing import NamedTuple

from groundwire.models import Filters
from groundwire.storage.base import StoreError

__all__ = ["Broken", "Search", "Statistics"]


_CANDIDATES = 64  # rows, at least


class Statistics(NamedTuple):
    """The size of the archive."""

    pages: int
    results: int
    size: int
    """Bytes, approximately, including the index."""


class Broken(StoreError):
    """The database cannot be used any more: damaged, not writable, full, or of another program.

    Args:
        message: Why, and what to do.
        readable: Whether it can still be read.
        damaged: Whether a new one can take its place.
    """

    def __init__(self, message: str, *, readable: bool = False, damaged: bool = False) -> None:
        super().__init__(message)
        self.readable = readable
        self.damaged = damaged


class Search(NamedTuple):
    """What is searched for in an archive; see `Archive.search`."""

    text: str
    filters: Filters
    today: date
    limit: int
    offset: int = 0
    answers: bool = False
    any_word: bool = False
    passages: bool = True

    @property
    def end(self) -> int:
        """How many matches are needed to leave out those before `offset`."""
        return self.offset + self.limit

    @property
    def candidates(self) -> int:
        """The best rows that are compared with the text: an address may have a page and a result of several owners."""
        return max(_CANDIDATES, 4 * self.end)
