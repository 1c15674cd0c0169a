"""The offline archive: pages and results stay searchable without a network.

One SQLite file with a full-text index. Storing never fails a search or a read: a file that is damaged, full or not
writable disables the archive, with one warning in the log. Its content comes from the web and is handled as data only.
"""

from __future__ import annotations

import asyncio
import logging
import tempfile
import time
from collections.abc import Callable, Sequence
from concurrent.futures import ThreadPoolExecutor
from contextlib import suppress
from datetime import UTC, date, datetime
from pathlib import Path
from typing import IO, TYPE_CHECKING, Protocol, TypeVar

from groundwire.errors import InvalidRequest
from groundwire.models import Page, SearchResponse
from groundwire.safety.tenancy import Owner, Sharing
from groundwire.safety.urls import parse_url
from groundwire.settings.user_folders import expand_user, user_folder
from groundwire.storage.archive.lookup import (
    ArchiveQueries,
    Imported,
    ImportRefused,
    Progress,
    Statistics,
    check_lines,
    take_in,
)
from groundwire.storage.archive.records import ArchiveHit, Item, Kind, items_of, key_of
from groundwire.storage.base import StoreError
from groundwire.storage.write_queue import Job, Writer

if TYPE_CHECKING:
    from sqlite3 import Connection

    from groundwire.storage.archive.db import ArchiveFile, Broken

__all__ = ["Archive", "ArchiveHit", "ImportRefused", "Imported", "Statistics", "default_path", "open_archive"]

_logger = logging.getLogger(__name__)

_DAY = 86_400.0  # seconds
_MOST_WAITING = 128  # entries collected at most before they are written
_MOST_WRITTEN = 4  # multiple of that being written; a slow disk loses some entries rather than all memory
_GATHERED = 2.0  # seconds for which entries are collected; a killed process loses no more
_SPOOLED = 8_000_000  # bytes of an import that stay in memory

_T = TypeVar("_T")


class ArchiveOptions(Protocol):
    """The section `[archive]` of the settings."""

    @property
    def enabled(self) -> bool:
        """Whether there is an archive."""
        ...

    @property
    def path(self) -> str:
        """The file; empty for one in the user's cache folder."""
        ...

    @property
    def max_bytes(self) -> int:
        """Its maximum size in bytes."""
        ...

    @property
    def max_age_days(self) -> float:
        """Days after which an entry is deleted."""
        ...


class StorageOptions(Protocol):
    """The archive's view of the section `[storage]`."""

    @property
    def sharing(self) -> Sharing:
        """What owners share."""
        ...


class HasArchiveSettings(Protocol):
    """Settings with a section `[archive]`."""

    @property
    def storage(self) -> StorageOptions:
        """The section `[storage]`."""
        ...

    @property
    def archive(self) -> ArchiveOptions:
        """The section."""
        ...


class Archive(ArchiveQueries):
    """Full-text search over earlier pages and results.

    The file is opened by the first call. Writing is done on one thread and looking up on another. `add_page`,
    `add_results` and `remember` never raise; every other call raises `StoreError` when the archive is switched off,
    busy or closed. A damaged file is renamed to `NAME.corrupt-TIMESTAMP`, once, and a new one begun.

    Args:
        path: The file, which the SQLite store may share; None for process memory.
        max_bytes: About the most that it may take, the index included; what was seen longest ago goes first.
        max_age: Seconds after which something is forgotten.
        clock: The time in seconds since the epoch.
        sharing: What owners see of one another; see `groundwire.storage.archive.sql.visible_to`.
    """

    def __init__(
        self,
        path: Path | None,
        *,
        max_bytes: int = 500_000_000,
        max_age: float = 365 * _DAY,
        clock: Callable[[], float] = time.time,
        sharing: Sharing = "sessions",
    ) -> None:
        super().__init__(max_age, clock, sharing)
        self.path = path
        self._max_bytes = max_bytes
        self._file: ArchiveFile | None = None
        self._writer = Writer(self._commit)
        self._reader = ThreadPoolExecutor(1, thread_name_prefix="groundwire-archive")
        self._waiting: list[tuple[Page | SearchResponse, float, Owner]] = []
        self._timer: asyncio.TimerHandle | None = None
        self._tasks: set[asyncio.Task[int]] = set()
        self._problem: Broken | None = None
        self._damage: Broken | None = None
        self._recreated = False
        self._scrub = False
        self._closed = False

    @property
    def problem(self) -> str:
        """Why it stores nothing any more; empty while it works."""
        return str(self._problem) if self._problem else ""

    @property
    def recreated(self) -> bool:
        """Whether a damaged file was moved aside and replaced."""
        return self._recreated

    async def open(self) -> None:
        """Open the file unless that was tried, to determine its state. Never raises."""
        if self._file is None and not self._closed and not self._problem:
            with suppress(StoreError):
                await self._writer.run(lambda db: None)

    async def add_page(self, page: Page, *, owner: Owner) -> bool:
        """Store a page, replacing an older copy; return whether it was stored.

        A page that could not be read, that came from a cache or the archive, or whose address carries a secret is not
        kept. A copy that was cut shorter than the one that is there only brings its date up to date. Never raises.
        """
        return await self._keep((page, self._clock(), owner)) > 0

    async def add_results(self, response: SearchResponse, *, owner: Owner) -> int:
        """Store the results of a search; return how many were stored. Never raises."""
        return await self._keep((response, self._clock(), owner))

    def remember(self, source: Page | SearchResponse, *, owner: Owner) -> None:
        """Store a page or a response in the background. Call it on the event loop.

        What comes within two seconds is written in one transaction. `aclose` and every look into the archive wait for
        it; a process that is killed loses what was not written yet.
        """
        if self._closed or self._problem or len(self._tasks) >= _MOST_WRITTEN:
            return
        self._waiting.append((source, self._clock(), owner))
        if len(self._waiting) >= _MOST_WAITING:
            self._begin()
        elif self._timer is None:
            self._timer = asyncio.get_running_loop().call_later(_GATHERED, self._begin)

    async def forget(
        self,
        *,
        url: str | None = None,
        domain: str | None = None,
        before: date | None = None,
        everything: bool = False,
    ) -> int:
        """Delete entries permanently: they are overwritten in the file. Pass one of the arguments.

        Args:
            url: One address.
            domain: A domain and its subdomains.
            before: What was seen before this day, in UTC.
            everything: All there is.

        Returns:
            How many entries were forgotten.

        Raises:
            InvalidRequest: not exactly one argument was given, or it is wrong. BlockedAddress: the address is of a
                refused form. StoreError: nothing was deleted.
        """
        if sum((url is not None, domain is not None, before is not None, everything)) != 1:
            raise InvalidRequest("forget", "needs one thing to delete", "Pass a url, a domain, a day, or everything.")
        from groundwire.storage.archive import sql

        await self._settle()
        key = None if url is None else key_of(parse_url(url))
        moment = None if before is None else round(_midnight(before).timestamp() * 1_000)

        def work(db: Connection) -> int:
            gone = sql.forget(db, key=key, domain=domain, before=moment)
            self._scrub = self._scrub or gone > 0
            return gone

        return await self._writer.run(work)

    async def import_(self, file: IO[bytes], *, progress: Progress | None = None) -> Imported:
        """Import lines written by `export`: all of them, or none if one is invalid. Idempotent.

        Args:
            file: Lines of JSON; empty ones do not count.
            progress: Called with how many more bytes were read.

        Raises:
            ImportRefused: some lines are invalid; it lists them. StoreError: the archive cannot be written.
        """
        now = self._clock()
        oldest = self._oldest
        with tempfile.SpooledTemporaryFile(_SPOOLED) as spool:
            checked = asyncio.get_running_loop().run_in_executor(self._reader, check_lines, file, spool, now, progress)
            try:
                await checked
            finally:
                await asyncio.wait([checked])  # the thread must not write to a closed file

            def work(db: Connection) -> Imported:
                spool.seek(0)
                return take_in(db, spool, now=now, oldest=oldest, max_bytes=self._max_bytes)

            return await self._writer.run(work)

    async def aclose(self) -> None:
        """Write pending entries, close the file and end the threads. Idempotent."""
        if self._closed:
            return
        self._closed = True
        await self._settle()
        self._reader.shutdown(wait=False)
        await self._writer.aclose(self._close)

    def _begin(self) -> None:
        """Start writing the collected entries: in a batch this costs a fraction."""
        if self._timer is not None:
            self._timer.cancel()
            self._timer = None
        gathered, self._waiting = self._waiting, []
        if gathered:
            task = asyncio.get_running_loop().create_task(self._keep(*gathered))
            self._tasks.add(task)
            task.add_done_callback(self._tasks.discard)

    async def _settle(self) -> None:
        """Wait until all pending entries are written."""
        self._begin()
        if self._tasks:
            await asyncio.wait(set(self._tasks))

    async def _keep(self, *sources: tuple[Page | SearchResponse, float, Owner]) -> int:
        if self._problem:
            return 0

        def work(db: Connection) -> int:
            from groundwire.storage.archive import sql

            items: dict[tuple[str, Kind], Item] = {}
            for source, now, owner in sources:
                for item in items_of(source, now, owner=owner):
                    earlier = items.get(place := (item.key, item.kind))
                    items[place] = item if earlier is None else item.merged(earlier)
            stored = sql.put_all(db, items.values(), largest=self._max_bytes)
            sql.grow(db, sum(stored))
            sql.prune(db, max_bytes=self._max_bytes, oldest=self._oldest)
            return len(stored)

        try:
            return await self._writer.run(work)
        except StoreError as exc:
            _logger.debug("Not archived: %s", exc)
            return 0

    async def _read(self, look: Callable[[Connection], _T]) -> _T:
        if self._closed:
            raise StoreError("The archive is closed.")
        if self._problem and not self._problem.readable:
            raise self._problem
        await self._settle()
        if self._file is None or not self._file.is_open:
            await self._writer.run(lambda db: None)  # opens it
        loop = asyncio.get_running_loop()
        try:
            return await loop.run_in_executor(self._reader, self._look, look)
        except StoreError:
            if self._damage is None:
                raise
            await self._writer.run(lambda db: None)  # moves it aside, and begins another
            return await loop.run_in_executor(self._reader, self._look, look)

    def _look(self, look: Callable[[Connection], _T]) -> _T:
        if self._file is None:
            raise StoreError("The archive is closed.")
        from groundwire.storage.archive.db import Broken

        try:
            return self._file.read(look)
        except Broken as exc:
            if exc.damaged and not self._recreated:
                self._damage = exc
            else:
                self._switch_off(exc)
            raise

    def _commit(self, jobs: Sequence[Job[object]]) -> None:
        if self._problem:
            raise self._problem
        from groundwire.storage.archive.db import ArchiveFile, Broken

        if self._file is None:
            self._file = ArchiveFile(self.path)
        try:
            if self._damage is not None:
                self._mend(self._damage)
            try:
                self._file.commit(jobs, self._scrubbed)
            except Broken as exc:
                self._mend(exc)
                self._file.commit(jobs, self._scrubbed)
        except Broken as exc:
            self._switch_off(exc)
            raise

    def _mend(self, damage: Broken) -> None:
        """Move a damaged file aside, once: a disk that damages every file must not be filled with them.

        Raises:
            Broken: it is not damaged, or cannot be moved.
        """
        self._damage = None
        if self._file is None or not damage.damaged or self._recreated:
            raise damage
        try:
            aside = self._file.move_aside()
        except OSError as exc:
            raise damage from exc
        self._recreated = True
        if aside is not None:
            _logger.warning("%s It was moved to %s and recreated.", damage, aside)

    def _scrubbed(self) -> bool:
        scrub, self._scrub = self._scrub, False
        return scrub

    def _switch_off(self, problem: Broken) -> None:
        if self._problem is None:
            self._problem = problem
            _logger.warning("The archive is disabled. %s", problem)

    def _close(self) -> None:
        if self._file is not None:
            self._file.close()


def open_archive(settings: HasArchiveSettings) -> Archive | None:
    """Return the archive of the settings, or None if it is disabled. Nothing is opened before the first call."""
    chosen = settings.archive
    if not chosen.enabled:
        return None
    path = expand_user(chosen.path) if chosen.path else default_path()
    days, sharing = chosen.max_age_days, settings.storage.sharing
    return Archive(path, max_bytes=chosen.max_bytes, max_age=days * _DAY, sharing=sharing)


def default_path() -> Path:
    """Return the default path of the archive, in the user's cache folder."""
    return user_folder("cache") / "archive.db"


def _midnight(day: date) -> datetime:
    return datetime(day.year, day.month, day.day, tzinfo=UTC)
