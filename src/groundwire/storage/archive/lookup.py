"""What an archive is asked for: search, list, single pages, statistics, and a JSON Lines file, out and in.

All lines of a file are validated before any is imported.
"""

from __future__ import annotations

from abc import ABC, abstractmethod
from collections.abc import AsyncIterator, Callable, Mapping, Sequence
from datetime import UTC, datetime, timedelta
from typing import IO, TYPE_CHECKING, Final, NamedTuple, Protocol, TypeVar

from groundwire.models import NO_FILTERS, Filters, Page
from groundwire.safety.tenancy import Sharing, Viewer
from groundwire.safety.urls import parse_url
from groundwire.storage.archive.questions import Question
from groundwire.storage.archive.records import ArchiveHit, Item, key_of, read_line, seen_at
from groundwire.storage.base import StoreError

if TYPE_CHECKING:
    from sqlite3 import Connection

    from groundwire.storage.archive.sql import ArchiveLimits

__all__ = [
    "ArchiveQueries",
    "ImportRefused",
    "Imported",
    "Progress",
    "Statistics",
    "Writable",
    "check_lines",
    "take_in",
]

_RANGES: Final[Mapping[str, int]] = {"d": 1, "w": 7, "m": 31, "y": 366}  # days

_LONGEST_LINE = 32_000_000  # bytes
_MOST_PROBLEMS = 20  # lines that are named
_EVERY = 100  # lines between two progress reports

_T = TypeVar("_T")

Progress = Callable[[int], object]
"""Called with the additional progress: bytes of an import, entries of an export. It may run on another thread."""


class Writable(Protocol):
    """The target of an export."""

    def write(self, data: bytes, /) -> object:
        """Write some bytes."""
        ...


class Statistics(NamedTuple):
    """The size of the archive."""

    pages: int
    """The number of pages."""
    results: int
    """The number of results."""
    size: int
    """The approximate size in bytes, including the index."""
    oldest: datetime | None
    """When the oldest entry was seen, in UTC; None if there is none."""
    newest: datetime | None
    """The same for the newest."""


class ArchiveQueries(ABC):
    """The reading half of the archive; every call raises `StoreError` when the archive cannot be read.

    Every read has a viewer: an `Owner` sees what `sharing` allows, `OPERATOR` everything.

    Args:
        max_age: Seconds after which an entry is no longer returned.
        clock: The time in seconds since the epoch.
        sharing: What owners share; see `groundwire.storage.archive.sql.visible_to`.
    """

    def __init__(self, max_age: float, clock: Callable[[], float], sharing: Sharing) -> None:
        self._sharing = sharing
        self._max_age = max_age
        self._clock = clock

    @abstractmethod
    async def _read(self, look: Callable[[Connection], _T]) -> _T:
        """Run one query on the reading thread."""

    async def search(
        self,
        text: str,
        *,
        viewer: Viewer,
        limit: int = 5,
        filters: Filters = NO_FILTERS,
        offset: int = 0,
        answers: bool = False,
    ) -> Sequence[ArchiveHit]:
        """Return the best matches of a query, without duplicate URLs: what has all words that are not frequent ones.

        Case, accents and inflection are ignored. Results of an earlier search for the same come first.

        Args:
            text: Any text; nothing in it is an operator.
            viewer: The reader of the data.
            limit: Maximum number of entries.
            filters: Domains, and days by which something was published or, where that is unknown, seen. Language,
                region, SafeSearch and the page are left aside.
            offset: How many of the best matches to skip.
            answers: Only what may stand in for an answer of the web: results of an earlier search for the same,
                and what has all words in its title and one passage and was not found for something narrower.

        Raises:
            StoreError: the archive cannot be searched.
        """
        question = Question.read(text)
        if question is None:
            return []
        from groundwire.storage.archive import sql

        bounds, visible = self._bounds(filters), sql.visible_to(viewer, self._sharing)
        return await self._read(lambda db: sql.find(db, question, bounds, limit, offset, visible, answers))

    async def get_page(self, url: str, *, viewer: Viewer) -> Page | None:
        """Return the newest copy of a page, marked as stale, with a warning that states its age; or None.

        Args:
            url: The address that was asked for, or the one it redirected to.
            viewer: The reader of the data.

        Raises:
            InvalidRequest, BlockedAddress: it is not a valid URL. StoreError: the archive cannot be read.
        """
        from groundwire.storage.archive import sql

        key = key_of(parse_url(url))
        visible = sql.visible_to(viewer, self._sharing)
        item = await self._read(lambda db: sql.latest(db, key, visible))
        if item is None or item.seen < self._oldest:
            return None
        return item.page()

    async def list(self, limit: int = 20, offset: int = 0, *, viewer: Viewer) -> Sequence[ArchiveHit]:
        """Return the entries visible to the viewer, newest first.

        Raises:
            StoreError: the archive cannot be read.
        """
        from groundwire.storage.archive import sql

        visible = sql.visible_to(viewer, self._sharing)
        return await self._read(lambda db: sql.listed(db, limit, offset, visible))

    async def export(self, file: Writable, *, viewer: Viewer, progress: Progress | None = None) -> int:
        """Write every entry visible to the viewer as a line of JSON, for `import_`; return their number.

        Args:
            file: What takes the bytes.
            viewer: The reader of the data.
            progress: Called with how many more entries were written.

        Raises:
            StoreError: the archive cannot be read. OSError: the file cannot be written.
        """
        count = 0
        async for items in self._all(viewer):
            for item in items:
                file.write(item.line().encode() + b"\n")
            count += len(items)
            if progress is not None:
                progress(len(items))
        return count

    async def statistics(self, *, viewer: Viewer) -> Statistics:
        """Return the statistics of the entries visible to the viewer.

        Raises:
            StoreError: the archive cannot be read.
        """
        from groundwire.storage.archive import sql

        visible = sql.visible_to(viewer, self._sharing)
        found = await self._read(lambda db: sql.totals(db, visible))
        oldest, newest = (None if moment is None else seen_at(moment) for moment in (found.oldest, found.newest))
        return Statistics(pages=found.pages, results=found.results, size=found.size, oldest=oldest, newest=newest)

    @property
    def _oldest(self) -> int:
        """Entries last seen earlier are deleted; milliseconds since the epoch."""
        return round((self._clock() - self._max_age) * 1_000)

    def _bounds(self, filters: Filters) -> ArchiveLimits:
        from groundwire.storage.archive.sql import ArchiveLimits

        today = datetime.fromtimestamp(self._clock(), UTC).date()
        days = _RANGES.get(filters.time_range)
        starts = [filters.published_after, None if days is None else today - timedelta(days=days)]
        first = max((day for day in starts if day), default=None)
        last = filters.published_before
        return ArchiveLimits(
            allowed=filters.allowed_domains,
            blocked=filters.blocked_domains,
            first=first.isoformat() if first else None,
            last=last.isoformat() if last else None,
        )

    async def _all(self, viewer: Viewer) -> AsyncIterator[Sequence[Item]]:
        from groundwire.storage.archive import sql

        last, visible = 0, sql.visible_to(viewer, self._sharing)
        while True:
            start = last
            last, items = await self._read(lambda db, start=start: sql.after(db, start, visible))  # type: ignore[misc]
            if not items:
                return
            yield items


class ImportRefused(StoreError):
    """A file was not imported at all, because some of its lines are invalid.

    Args:
        problems: The number of a line, from 1, and what is wrong with it.
        more: How many more lines are wrong.
    """

    def __init__(self, problems: Sequence[tuple[int, str]], more: int = 0) -> None:
        self.problems: tuple[tuple[int, str], ...] = tuple(problems)
        self.more = more
        lines = [f"line {number}: {text}" for number, text in self.problems]
        lines += [f"and {more} more"] if more else []
        super().__init__("Nothing was imported. " + "; ".join(lines) + ".")


class Imported(NamedTuple):
    """The result of an import."""

    added: int
    """Entries that are new, or newer than what was there."""
    unchanged: int
    """Entries that were there already."""
    skipped: int
    """Entries that were skipped: too old, without text, or with a secret in their URL."""


def check_lines(file: IO[bytes], spool: IO[bytes], now: float, progress: Progress | None) -> None:
    """Copy and validate the lines of an import.

    Raises:
        ImportRefused: some are invalid.
    """
    problems: list[tuple[int, str]] = []
    wrong = number = size = 0
    while line := file.readline(_LONGEST_LINE + 1):
        number += 1
        size += len(line)
        if progress is not None and number % _EVERY == 0:
            progress(size)
            size = 0
        try:
            if len(line) > _LONGEST_LINE:
                raise ValueError(f"is longer than {_LONGEST_LINE:,} bytes")
            if line.strip():
                read_line(line, now)
                spool.write(line.rstrip(b"\r\n") + b"\n")
        except ValueError as error:
            wrong += 1
            if len(problems) < _MOST_PROBLEMS:
                problems.append((number, str(error)))
            if len(line) > _LONGEST_LINE:
                break  # what follows is its rest
    if progress is not None and size:
        progress(size)
    if wrong:
        raise ImportRefused(problems, wrong - len(problems))


def take_in(db: Connection, lines: IO[bytes], *, now: float, oldest: int, max_bytes: int) -> Imported:
    """Keep the items of lines that were found good.

    Args:
        db: The database.
        lines: Lines of JSON.
        now: The current time, in seconds since the epoch.
        oldest: Earlier entries are skipped; in milliseconds since the epoch.
        max_bytes: Maximum size of all entries.
    """
    from groundwire.storage.archive import sql

    added = unchanged = skipped = grown = 0
    for line in lines:
        item = read_line(line, now)
        if item is None or item.seen < oldest or item.size > max_bytes:
            skipped += 1
        elif (size := sql.put(db, item)) is not None:
            added += 1
            grown += size
        else:
            unchanged += 1
    sql.grow(db, grown)
    sql.prune(db, max_bytes=max_bytes, oldest=oldest)
    return Imported(added=added, unchanged=unchanged, skipped=skipped)
