"""The offline archive: pages and results stay searchable without a network.

Storing never fails a search or a read: a file that is damaged, full or not writable disables the archive, with one
warning in the log. Its content comes from the web and is handled as data only.
"""

from __future__ import annotations

import asyncio
import logging
import sys
import time
from collections.abc import Callable, Iterable, Mapping, Sequence
from concurrent.futures import Future, ThreadPoolExecutor
from contextlib import suppress
from datetime import UTC, date, datetime
from pathlib import Path
from typing import TYPE_CHECKING, TypeVar

from groundwire.errors import InvalidRequest
from groundwire.models import NO_FILTERS, Filters, Page, SearchResponse
from groundwire.safety.tenancy import OPERATOR, Owner, Sharing, Viewer
from groundwire.safety.urls import parse_url
from groundwire.settings.user_folders import expand_user, user_folder
from groundwire.storage.archive.base import ArchiveTables, Broken, Statistics
from groundwire.storage.archive.records import ArchiveHit, Item, items_of, key_of
from groundwire.storage.base import StoreError

if TYPE_CHECKING:
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
_MOST_WAITING = 128  # entries collected at most before they are written
_MOST_WRITTEN = 4  # multiple of that being written; a slow disk loses some entries rather than all memory
_GATHERED = 2.0  # seconds for which entries are collected; a killed process loses no more

_T = TypeVar("_T")


class Archive:
    """Full-text search over earlier pages and results.

    The file is opened by the first call, and used on a thread of its own: a call waits for those before it. `add` and
    `remember` never raise; every other call raises `StoreError` when the archive is switched off, busy or closed. A
    damaged file is renamed to `NAME.corrupt-TIMESTAMP`, once, and a new one begun.

    Every read has a viewer: an `Owner` sees what `sharing` allows, `OPERATOR` everything.

    Args:
        path: The file, which the SQLite store may share.
        max_bytes: About the most that it may take, the index included; what was seen longest ago goes first.
        max_age: Seconds after which something is forgotten.
        clock: The time in seconds since the epoch.
        sharing: What owners see of one another.
    """

    def __init__(
        self,
        path: Path,
        *,
        max_bytes: int = 500_000_000,
        max_age: float = 365 * _DAY,
        clock: Callable[[], float] = time.time,
        sharing: Sharing = "sessions",
    ) -> None:
        self.path = path
        self.recreated: bool = False
        """Whether a damaged file was moved aside and replaced."""
        self._max_bytes = max_bytes
        self._max_age = max_age
        self._clock = clock
        self._sharing: Sharing = sharing
        self._tables: ArchiveTables | None = None
        self._thread = ThreadPoolExecutor(1, thread_name_prefix="groundwire-archive")
        self._waiting: list[tuple[Page | SearchResponse, float, Owner]] = []
        self._timer: asyncio.TimerHandle | None = None
        self._writes: set[Future[int]] = set()
        self._problem: Broken | None = None
        self._closed = False

    @property
    def problem(self) -> str:
        """Why it stores nothing any more; empty while it works."""
        return str(self._problem) if self._problem else ""

    async def open(self) -> None:
        """Open the file unless that was tried, to determine its state. Never raises."""
        if self._tables is None and not self._closed:
            with suppress(StoreError):
                await self.list(0, viewer=OPERATOR)

    async def add(self, source: Page | SearchResponse, *, owner: Owner) -> int:
        """Store a page or the results of a search; return how many entries are new or newer. Never raises.

        A page that could not be read, what came from a cache or the archive, and what has a secret in its address is
        not kept. A copy that was cut shorter than the one that is there only brings its date up to date.
        """
        if self._closed:
            return 0
        self._write()
        sources = [(source, self._clock(), owner)]
        return await asyncio.get_running_loop().run_in_executor(self._thread, self._keep, sources)

    def remember(self, source: Page | SearchResponse, *, owner: Owner) -> None:
        """Store a page or a response in the background. Call it on the event loop.

        What comes within two seconds is written in one transaction, in which it costs a fraction. `aclose` and every
        look into the archive come after it; a process that is killed loses what was not written yet.
        """
        if self._closed or self._problem or len(self._writes) >= _MOST_WRITTEN:
            return
        self._waiting.append((source, self._clock(), owner))
        if len(self._waiting) >= _MOST_WAITING:
            self._write()
        elif self._timer is None:
            self._timer = asyncio.get_running_loop().call_later(_GATHERED, self._write)

    async def flush(self) -> None:
        """Wait until all that `remember` was given is written. Never raises."""
        self._write()
        if self._writes:
            await asyncio.wait(list(map(asyncio.wrap_future, self._writes)))

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
            passages: Whether each has the passage with the words, instead of its beginning. SQLite takes time in
                proportion to the square of the matches: a log of one word repeated would take minutes.
        """
        today = datetime.fromtimestamp(self._clock(), UTC).date()
        return await self._run(
            lambda tables: tables.find(
                text,
                viewer,
                filters,
                today,
                limit=limit,
                offset=offset,
                answers=answers,
                any_word=any_word,
                passages=passages,
            )
        )

    async def get_page(self, url: str, *, viewer: Viewer) -> Page | None:
        """Return the newest copy of a page, marked as stale, with a warning that states its age; or None.

        Args:
            url: The address that was asked for, or the one it redirected to.
            viewer: The reader of the data.

        Raises:
            InvalidRequest, BlockedAddress: it is not a valid URL. StoreError: the archive cannot be read.
        """
        key = key_of(parse_url(url))
        item = await self._run(lambda tables: tables.newest_page(key, viewer))
        return None if item is None or item.seen < self._oldest else item.page()

    async def stamps(self, *, viewer: Viewer) -> Mapping[str, tuple[str, bool]]:
        """Return the stamp of each file in an index of files, by its URL, and whether it has text."""
        return await self._run(lambda tables: tables.stamps(viewer))

    async def file(self, url: str, *, viewer: Viewer) -> Page | None:
        """Return a file as it was indexed."""
        item = await self._run(lambda tables: tables.newest_page(url, viewer))
        return None if item is None else item.page()

    async def put_files(self, items: Sequence[Item], gone: Iterable[str] = (), *, viewer: Viewer) -> None:
        """Store files in an index of files, of any size, and delete others."""
        await self._run(lambda tables: tables.drop(gone, viewer))
        await self._run(lambda tables: tables.put(items, max_bytes=sys.maxsize, oldest=0))

    async def list(self, limit: int = 20, offset: int = 0, *, viewer: Viewer) -> Sequence[ArchiveHit]:
        """Return the entries visible to the viewer, newest first."""
        return await self._run(lambda tables: tables.newest_first(limit, offset, viewer))

    async def statistics(self, *, viewer: Viewer) -> Statistics:
        """Return the statistics of the entries visible to the viewer."""
        return await self._run(lambda tables: tables.totals(viewer))

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
        return await self._run(lambda tables: tables.forget(key=key, domain=domain, before=moment))

    async def aclose(self) -> None:
        """Write pending entries, close the file and end the thread. Idempotent."""
        if not self._closed:
            self._write()
            self._closed = True
            closing = asyncio.get_running_loop().run_in_executor(self._thread, self._close)
            self._thread.shutdown(wait=False)  # after what it has to do, even if this call is canceled
            await closing

    @property
    def _oldest(self) -> int:
        """Entries last seen earlier are deleted; milliseconds since the epoch."""
        return round((self._clock() - self._max_age) * 1_000)

    def _write(self) -> None:
        """Start writing the collected entries."""
        if self._timer is not None:
            self._timer.cancel()
            self._timer = None
        gathered, self._waiting = self._waiting, []
        if gathered:
            write = self._thread.submit(self._keep, gathered)
            self._writes.add(write)
            write.add_done_callback(self._writes.discard)

    def _keep(self, sources: Sequence[tuple[Page | SearchResponse, float, Owner]]) -> int:
        """Store sources; on the thread."""
        try:
            if self._problem is not None:
                raise self._problem
            items = [item for source, now, owner in sources for item in items_of(source, now, owner=owner)]
            return self._work(lambda tables: tables.put(items, max_bytes=self._max_bytes, oldest=self._oldest))
        except StoreError as exc:
            _logger.debug("Not archived: %s", exc)
        except Exception:  # no call may wait for it
            _logger.exception("The archive failed in an unexpected way")
        return 0

    async def _run(self, work: Callable[[ArchiveTables], _T]) -> _T:
        if self._closed:
            raise StoreError("The archive is closed.")
        self._write()
        return await asyncio.get_running_loop().run_in_executor(self._thread, self._work, work)

    def _work(self, work: Callable[[ArchiveTables], _T]) -> _T:
        """Work on the tables, on the thread; once more if their file was damaged, which is moved aside.

        It is moved once: a disk that damages every file must not be filled with them.
        """
        if self._problem is not None and not self._problem.readable:
            raise self._problem
        if self._tables is None:  # what a first search need not wait for
            from groundwire.storage.archive.sqlite import SqliteTables

            self._tables = SqliteTables(self.path, self._sharing)
        try:
            try:
                return work(self._tables)
            except Broken as damage:
                if not damage.damaged or self.recreated:
                    raise
                aside = self._tables.move_aside()
                self.recreated = True
                if aside is not None:
                    _logger.warning("%s It was moved to %s and recreated.", damage, aside)
                return work(self._tables)
        except Broken as exc:
            if self._problem is None:
                self._problem = exc
                _logger.warning("The archive is disabled. %s", exc)
            raise

    def _close(self) -> None:
        if self._tables is not None:
            self._tables.close()


def open_archive(settings: Settings) -> Archive | None:
    """Return the archive of the settings, or None if it is disabled. Nothing is opened before the first call."""
    chosen = settings.archive
    if not chosen.enabled:
        return None
    path = archive_path(settings)
    days, sharing = chosen.max_age_days, settings.storage.sharing
    return Archive(path, max_bytes=chosen.max_bytes, max_age=days * _DAY, sharing=sharing)


def open_file_index(settings: Settings) -> Archive | None:
    """Return the index of local files, beside the archive, or None if archiving is disabled: nothing is kept then.

    An entry has its folder in place of a session, so that only a search of this folder sees it.
    """
    path = archive_path(settings)
    return Archive(path.with_name(f"{path.stem}-files.db"), sharing="none") if settings.archive.enabled else None


def archive_path(settings: Settings) -> Path:
    """Return the path of the archive of the settings."""
    return expand_user(settings.archive.path) if settings.archive.path else default_path()


def default_path() -> Path:
    """Return the default path of the archive, in the user's cache folder."""
    return user_folder("cache") / "archive.db"
