"""The offline archive: pages and results stay searchable without a network.

Storing never fails a search or a read: a file that is damaged, full or not writable disables the archive, with one
warning in the log. Its content comes from the web and is handled as data only.
"""

from __future__ import annotations

import asyncio
import logging
import os
import sys
import threading
import time
from collections import deque
from collections.abc import Callable, Iterable, Mapping, Sequence
from concurrent.futures import ThreadPoolExecutor
from contextlib import nullcontext, suppress
from datetime import UTC, date, datetime
from functools import partial
from importlib.util import find_spec
from pathlib import Path
from typing import TYPE_CHECKING, Any, TypeAlias, TypeVar

from groundwire._version import install_extra
from groundwire.errors import ConfigurationError, InvalidRequest
from groundwire.fair_queue import FairQueue
from groundwire.models import NO_FILTERS, Filters, SearchResponse
from groundwire.safety.tenancy import OPERATOR, Owner, Viewer
from groundwire.safety.urls import parse_url
from groundwire.settings.user_folders import expand_user, user_folder
from groundwire.storage.archive.fts import storable, words_and_runs
from groundwire.storage.archive.records import ArchiveHit, Item, items_of, key_of
from groundwire.storage.archive.tables import ArchiveTables, Broken, Search, Statistics
from groundwire.storage.base import StoreError

if TYPE_CHECKING:
    from groundwire.models import Page
    from groundwire.settings import Settings

__all__ = [
    "Archive",
    "ArchiveHit",
    "Statistics",
    "archive_path",
    "default_path",
    "open_archive",
    "open_file_index",
]

_logger = logging.getLogger(__name__)

_DAY = 86_400.0  # seconds
_NICE = 10  # how much less than calls the thread that indexes counts, of 19
_BATCH = 128  # entries that are written without waiting for more
_MOST_WAITING = 1_024  # entries that wait at most; the oldest are dropped while the database is too slow or away
_MOST_LENGTH = 32_000_000  # characters of all that wait
_GATHERED = 2.0  # seconds for which entries are collected; a killed process loses no more
_RETRY = 30.0  # seconds after a failure until the database is tried again
_OPENING = 1.0  # seconds for which a call waits for the database to open
_READERS = 2
_LONGEST_TYPED = 200  # characters of a query to which suggestions are made

_T = TypeVar("_T")
_Source: TypeAlias = "tuple[Page | SearchResponse, float, Owner]"


class Archive:
    """Full-text search over earlier pages and results.

    The database is opened by the first call. It is written on a thread of its own and searched on two others, so that
    no search waits for the index. `remember` never raises; every other call raises `StoreError` when the
    archive is switched off, busy or closed. A damaged file is renamed to `NAME.corrupt-TIMESTAMP`, once, and a new one
    begun; any other failure is tried again every 30 seconds.

    Every read has a viewer: an `Owner` sees its own and, without a tenant, what is public of other sessions;
    `OPERATOR` sees everything.

    Args:
        path: The file, which the SQLite store may share; or the URL of a PostgreSQL database.
        max_bytes: About the most that it may take, the index included; what was seen longest ago goes first.
        max_age: Seconds after which something is forgotten.
        clock: The time in seconds since the epoch.

    Raises:
        ConfigurationError: the package that PostgreSQL needs is not installed.
    """

    def __init__(
        self,
        path: Path | str,
        *,
        max_bytes: int = 500_000_000,
        max_age: float = 365 * _DAY,
        clock: Callable[[], float] = time.time,
    ) -> None:
        if isinstance(path, str) and find_spec("psycopg") is None:
            raise ConfigurationError(f"The archive needs the package psycopg: {install_extra('postgres')}")
        self.path = path
        self.recreated: bool = False
        """Whether a damaged file was moved aside and replaced."""
        self.dropped: int = 0
        """How many pages and responses were given to `remember` and not kept, as the database was too slow or away."""
        self._max_bytes = max_bytes
        self._max_age = max_age
        self._clock = clock
        self._tables: ArchiveTables[Any] | None = None
        self._opening = threading.Lock()
        self._thread = ThreadPoolExecutor(1, thread_name_prefix="groundwire-archive", initializer=_yield_to_calls)
        self._readers = ThreadPoolExecutor(_READERS, thread_name_prefix="groundwire-archive-reader")
        self._reads = FairQueue(_READERS)
        self._waiting: deque[_Source] = deque()
        self._length = 0
        self._timer: asyncio.TimerHandle | None = None
        self._writing: asyncio.Future[int | None] | None = None
        self._problem: Broken | None = None
        self._retry_at = 0.0
        self._closed = False

    @property
    def problem(self) -> str:
        """Why it stores nothing any more; empty while it works."""
        return str(self._problem) if self._problem else ""

    async def open(self) -> None:
        """Open the database unless that was tried, to determine its state; wait a second at most. Never raises."""
        if self._tables is None and not self._closed:
            with suppress(StoreError, TimeoutError):
                async with asyncio.timeout(_OPENING):
                    await self.list(0, viewer=OPERATOR)

    def remember(self, source: Page | SearchResponse, *, owner: Owner) -> None:
        """Store a page or the results of a search in the background. Call it on the event loop.

        A page that could not be read, what came from a cache or the archive, and what has a secret in its address is
        not kept. A copy that was cut shorter than the one that is there only brings its date up to date.

        What comes within two seconds is written in one transaction, in which it costs a fraction. `aclose` and every
        look into the archive but `search` come after it; a process that is killed loses what was not written yet. While
        the database is away, the newest entries wait for it; see `dropped`.
        """
        if self._closed:
            return
        self._waiting.append((source, self._clock(), owner))
        self._length += _length(source)
        while len(self._waiting) > _MOST_WAITING or self._length > _MOST_LENGTH:
            self._length -= _length(self._waiting.popleft()[0])
            self._drop(1)
        if self._timer is None:
            self._timer = asyncio.get_running_loop().call_later(_GATHERED, self._start)
        elif len(self._waiting) >= _BATCH:
            self._start()

    async def flush(self) -> None:
        """Wait until all that `remember` was given before is written, or the database failed. Never raises."""
        for _ in range(len(self._waiting) // _BATCH + 2):  # with the batch that is being written; not what comes later
            if self._start() and self._writing is not None:
                await asyncio.wait([self._writing])

    async def search(
        self,
        text: str,
        *,
        viewer: Viewer,
        limit: int = 5,
        filters: Filters = NO_FILTERS,
        offset: int = 0,
        answers: bool = False,
        any_word: bool = False,
        passages: bool = True,
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
            any_word: What has any of the words, those with more and rarer ones first.
            passages: Whether each has the passage with the words, instead of its beginning.
        """
        today = datetime.fromtimestamp(self._clock(), UTC).date()
        search = Search(text, filters, today, limit, offset, answers, any_word, passages)
        return await self._run(lambda tables: _with_pages(tables, tables.find(search, viewer), viewer), self._readers)

    async def suggest(self, text: str, *, owner: Owner, limit: int = 6) -> Sequence[str]:
        """Return earlier queries, then titles of what was found, that have all words of a text that is being typed.

        Args:
            text: The text; its last word may be the beginning of one.
            owner: Whose queries they are; others' are never suggested, whatever is shared.
            limit: Maximum number of suggestions.

        Raises:
            StoreError: the archive cannot be read.
        """
        words = words_and_runs().findall(storable(text[:_LONGEST_TYPED]).lower())
        return await self._look(lambda tables: tables.suggest(words, owner, limit)) if words else []

    async def get_page(self, url: str, *, viewer: Viewer) -> Page | None:
        """Return the newest copy of a page, marked as stale, with a warning that states its age; or None.

        Args:
            url: The address that was asked for, or the one it redirected to.
            viewer: The reader of the data.

        Raises:
            InvalidRequest, BlockedAddress: it is not a valid URL. StoreError: the archive cannot be read.
        """
        key = key_of(parse_url(url))
        item = await self._look(lambda tables: tables.newest_page(key, viewer))
        return None if item is None or item.seen < self._oldest else item.page()

    async def stamps(self, *, viewer: Viewer) -> Mapping[str, tuple[str, bool]]:
        """Return the stamp of each file in an index of files, by its URL, and whether it has text."""
        return await self._look(lambda tables: tables.stamps(viewer))

    async def file(self, url: str, *, viewer: Viewer) -> Page | None:
        """Return a file as it was indexed."""
        item = await self._look(lambda tables: tables.newest_page(url, viewer))
        return None if item is None else item.page()

    async def put_files(self, items: Sequence[Item], places: Iterable[str] = (), *, viewer: Viewer) -> None:
        """Store files in an index of files, of any size, and delete others."""
        await self._run(lambda tables: tables.drop(places, viewer), self._thread)
        await self._run(lambda tables: tables.put(items, max_bytes=sys.maxsize, oldest=0), self._thread)

    async def list(self, limit: int = 20, offset: int = 0, *, viewer: Viewer) -> Sequence[ArchiveHit]:
        """Return the entries visible to the viewer, newest first, without duplicate URLs."""
        return await self._look(lambda tables: _with_pages(tables, tables.newest_first(limit, offset, viewer), viewer))

    async def statistics(self, *, viewer: Viewer) -> Statistics:
        """Return the statistics of the entries visible to the viewer."""
        return await self._look(lambda tables: tables.totals(viewer))

    async def forget(
        self,
        *,
        url: str | None = None,
        domain: str | None = None,
        before: date | None = None,
        everything: bool = False,
    ) -> int:
        """Delete entries permanently, of all owners: they are overwritten in the file. Pass one of the arguments.

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
        key = None if url is None else key_of(parse_url(url))
        moment = None
        if before is not None:
            moment = round(datetime(before.year, before.month, before.day, tzinfo=UTC).timestamp() * 1_000)
        await self.flush()
        return await self._run(lambda tables: tables.forget(key=key, domain=domain, before=moment), self._thread)

    async def aclose(self) -> None:
        """Write pending entries, close the database and end the threads. Idempotent."""
        if not self._closed:
            self._closed = True
            if self._timer is not None:
                self._timer.cancel()
            closing = asyncio.get_running_loop().run_in_executor(self._thread, self._close, list(self._waiting))
            self._waiting.clear()
            for pool in (self._thread, self._readers):  # after what they have to do, even if this call is canceled
                pool.shutdown(wait=False)
            await closing

    @property
    def _oldest(self) -> int:
        """Entries last seen earlier are deleted; milliseconds since the epoch."""
        return round((self._clock() - self._max_age) * 1_000)

    def _start(self) -> bool:
        """Start writing what waits; return whether something is being written."""
        if self._timer is not None:
            self._timer.cancel()
            self._timer = None
        if self._closed:
            return False
        if self._writing is None and self._waiting:
            loop = asyncio.get_running_loop()
            if self._problem is not None and (pause_seconds := self._retry_at - self._clock()) > 0:
                self._timer = loop.call_later(pause_seconds, self._start)
                return False
            batch = [self._waiting.popleft() for _ in range(min(_BATCH, len(self._waiting)))]
            self._length -= sum(_length(source) for source, _, _ in batch)
            self._writing = loop.run_in_executor(self._thread, self._keep, batch)
            self._writing.add_done_callback(partial(self._written, batch))
        return self._writing is not None

    def _written(self, batch: Sequence[_Source], writing: asyncio.Future[int | None]) -> None:
        """Go on after a batch; it waits again if the database failed."""
        self._writing = None
        if writing.result() is None:
            self._waiting.extendleft(reversed(batch))
            self._length += sum(_length(source) for source, _, _ in batch)
        if self._waiting and not self._closed and self._timer is None:
            self._timer = asyncio.get_running_loop().call_later(_GATHERED, self._start)

    def _drop(self, count: int) -> None:
        if not self.dropped and self._problem is None:  # which has a warning of its own
            _logger.warning("The archive is too slow or unavailable: not all pages and results are stored.")
        self.dropped += count

    def _keep(self, sources: Sequence[_Source]) -> int | None:
        """Store sources; return how many entries were kept, or None if the database failed. On the writing thread."""
        try:
            if self._problem is not None and self._clock() < self._retry_at:
                raise self._problem
            items = [item for source, now, owner in sources for item in items_of(source, now, owner=owner)]
            return self._work(
                lambda tables: tables.put(items, max_bytes=self._max_bytes, oldest=self._oldest), self._thread
            )
        except StoreError as exc:
            _logger.debug("Not archived: %s", exc)
            return None
        except Exception:  # no call may wait for it
            _logger.exception("The archive failed in an unexpected way")
            self._drop(len(sources))
        return 0

    async def _look(self, work: Callable[[ArchiveTables[Any]], _T]) -> _T:
        """Read on a reading thread, after what waits to be written."""
        await self.flush()
        return await self._run(work, self._readers)

    async def _run(self, work: Callable[[ArchiveTables[Any]], _T], pool: ThreadPoolExecutor) -> _T:
        if self._closed:
            raise StoreError("The archive is closed.")
        async with self._reads.slot() if pool is self._readers else nullcontext():
            return await asyncio.get_running_loop().run_in_executor(pool, self._work, work, pool)

    def _work(self, work: Callable[[ArchiveTables[Any]], _T], pool: ThreadPoolExecutor) -> _T:
        """Work on the tables, on a thread of the pool; once more if their file was damaged, which is moved aside.

        It is moved once: a disk that damages every file must not be filled with them.
        """
        problem, recreated = self._problem, self.recreated
        if problem is not None and not problem.readable and self._clock() < self._retry_at:
            raise problem
        try:
            try:
                done = work(self._open_tables())
            except Broken as damage:
                if not damage.damaged or recreated:
                    raise
                if pool is self._thread:
                    self._mend(damage)
                else:
                    self._thread.submit(self._mend, damage).result()
                done = work(self._open_tables())
        except Broken as exc:
            self._retry_at = self._clock() + _RETRY
            if self._problem is None:
                self._problem = exc
                _logger.warning("The archive is disabled. %s", exc)
            raise
        if problem is not None and (pool is self._thread or not problem.readable) and self._problem is problem:
            self._problem = None
            _logger.warning("The archive works again.")
        return done

    def _open_tables(self) -> ArchiveTables[Any]:
        with self._opening:
            if self._tables is None and isinstance(self.path, Path):  # what a first search need not wait for
                from groundwire.storage.archive.sqlite import SqliteTables

                self._tables = SqliteTables(self.path)
            elif self._tables is None:
                from groundwire.storage.archive.postgres import PostgresTables

                self._tables = PostgresTables(str(self.path))
            return self._tables

    def _mend(self, damage: Broken) -> None:
        """Move a damaged file aside, unless another thread has; on the writing thread."""
        if not self.recreated:
            aside = self._open_tables().move_aside()
            self.recreated = True
            if aside is not None:
                _logger.warning("%s It was moved to %s and recreated.", damage, aside)

    def _close(self, sources: Sequence[_Source]) -> None:
        """Write the rest and disconnect, when all readers are done; on the writing thread."""
        if sources and self._keep(sources) is None:
            self._drop(len(sources))
        self._readers.shutdown()
        if self._tables is not None:
            self._tables.close()


def _length(source: Page | SearchResponse) -> int:
    """Return about how many characters a source takes while it waits."""
    if isinstance(source, SearchResponse):
        return sum(len(row.snippet) for row in source.results)
    return len(source.content)


def open_archive(settings: Settings) -> Archive | None:
    """Return the archive of the settings, or None if it is disabled. Nothing is opened before the first call.

    Raises:
        ConfigurationError: See `Archive`.
    """
    chosen = settings.archive
    if not chosen.enabled:
        return None
    path = chosen.url or archive_path(settings)
    return Archive(path, max_bytes=chosen.max_bytes, max_age=chosen.max_age_days * _DAY)


def open_file_index(settings: Settings) -> Archive | None:
    """Return the index of local files, beside the archive, or None if archiving is disabled: nothing is kept then.

    An entry has its folder in place of a session, so that only a search of this folder sees it.
    """
    path = archive_path(settings)
    return Archive(path.with_name(f"{path.stem}-files.db")) if settings.archive.enabled else None


def archive_path(settings: Settings) -> Path:
    """Return the path of the archive of the settings."""
    return expand_user(settings.archive.path) if settings.archive.path else default_path()


def default_path() -> Path:
    """Return the default path of the archive, in the user's cache folder."""
    return user_folder("cache") / "archive.db"


def _with_pages(tables: ArchiveTables[Any], hits: Sequence[ArchiveHit], viewer: Viewer) -> Sequence[ArchiveHit]:
    """Return hits; one whose whole page is there, too, is a page."""
    keys = {hit.url: key_of(parse_url(hit.url)) for hit in hits if hit.kind == "result"}
    pages = tables.pages_among(list(keys.values()), viewer) if keys else frozenset()
    return [hit._replace(kind="page") if keys.get(hit.url) in pages else hit for hit in hits]


def _yield_to_calls() -> None:
    """Give this thread what calls leave of the processor: else indexing takes up to half of a busy core from them."""
    if sys.platform == "linux":  # elsewhere a priority is a process's
        with suppress(OSError):
            os.setpriority(os.PRIO_PROCESS, threading.get_native_id(), _NICE)
