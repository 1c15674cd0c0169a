"""What an archive returns, and the interface of the database behind it."""

from __future__ import annotations

from collections.abc import Iterable, Mapping, Sequence
from datetime import date, datetime
from pathlib import Path
from typing import NamedTuple, Protocol

from groundwire.models import Filters
from groundwire.safety.tenancy import Viewer
from groundwire.storage.archive.records import ArchiveHit, Item
from groundwire.storage.base import StoreError

__all__ = ["ArchiveTables", "Broken", "Statistics"]


class Statistics(NamedTuple):
    """The size of the archive."""

    pages: int
    results: int
    size: int
    """Bytes, approximately, including the index."""
    oldest: datetime | None
    """When the oldest entry was seen, in UTC; None if there is none."""
    newest: datetime | None


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


class ArchiveTables(Protocol):
    """The items of an archive and their full-text index, on one thread at a time; see `SqliteTables`.

    Every call raises `StoreError` when it failed, and then has changed nothing, or `Broken` when later ones would too.
    """

    def put(self, items: Iterable[Item], *, max_bytes: int, oldest: int) -> int:
        """Keep items, each in place of an older one of the same page, and return how many were kept.

        Args:
            items: The items; they are kept all together or not at all.
            max_bytes: What all items may take. Those that were seen longest ago are deleted until the rest fits.
            oldest: Items seen earlier are deleted; in milliseconds since the epoch.
        """

    def find(
        self,
        question: str,
        viewer: Viewer,
        filters: Filters,
        today: date,
        *,
        limit: int,
        offset: int,
        answers: bool,
        any_word: bool = False,
        passages: bool = True,
    ) -> Sequence[ArchiveHit]:
        """Return the best matches; see `Archive.search`."""

    def newest_page(self, key: str, viewer: Viewer) -> Item | None:
        """Return the newest page with a key, that of its address or of the one it was asked for under."""

    def stamps(self, viewer: Viewer) -> Mapping[str, tuple[str, bool]]:
        """Return the stamp of each file that the viewer may see, by its URL, and whether it has text."""

    def drop(self, places: Iterable[str], viewer: Viewer) -> None:
        """Delete the items of these files that the viewer may see."""

    def newest_first(self, limit: int, offset: int, viewer: Viewer) -> Sequence[ArchiveHit]:
        """Return entries in the order of `seen`."""

    def forget(self, *, key: str | None, domain: str | None, before: int | None) -> int:
        """Delete what one argument selects, or everything, without a trace in the files; return how many."""

    def totals(self, viewer: Viewer) -> Statistics:
        """Return the statistics of what the viewer may see."""

    def move_aside(self) -> Path | None:
        """Disconnect and rename a damaged file, so that the next call makes a new one.

        Returns:
            Its new name; None if another process has renamed it.
        """

    def close(self) -> None:
        """Disconnect."""
