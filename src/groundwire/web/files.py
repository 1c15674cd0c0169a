"""Searching the files of folders through a full-text index, which is brought up to date before each search."""

from __future__ import annotations

import asyncio
import logging
import re
import time
from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass, field
from functools import partial
from pathlib import Path
from typing import Final, NamedTuple

from groundwire.deadline import Deadline
from groundwire.errors import DeadlineExceeded, InvalidRequest, PageError, PermissionDenied
from groundwire.models import MAX_SNIPPET, MAX_TITLE, Attempt, Page, Query, SearchResponse, SearchResult
from groundwire.models.search import Filters
from groundwire.reading.local_files import FILES_READER, FileReader
from groundwire.reading.passages.view import check_ask
from groundwire.reading.workers.pool import Workers, view_off_loop
from groundwire.safety.files import HOW_TO_ALLOW, LocalFile, files_below
from groundwire.safety.tenancy import OPERATOR, Owner
from groundwire.settings import Settings
from groundwire.storage.archive.fts import readable
from groundwire.storage.archive.records import ArchiveHit, Item, file_item
from groundwire.storage.archive.store import Archive

Progress = Callable[[int, int], None]
"""Called with the number of files that were read, and of those to be read."""

_logger = logging.getLogger(__name__)

_REFRESH_SHARE: Final = 0.7  # of a search's time for reading what is new
_LISTING: Final = ("the folders are still being listed, and some files are not found yet; search again in a while",)
_PASSAGE_CHARS: Final = 700  # characters of a passage
_BATCH_SIZE: Final = 2_000_000  # bytes of files, or characters of texts if more, that are written at once: seconds
_BATCH_FILES: Final = 64  # files that are written at once
_PAGE: Final = re.compile(r"^\[page (\d+)\]$", re.MULTILINE)
_PAGE_MARK_CHARS: Final = 12  # characters of such a line


class Indexed(NamedTuple):
    """The state of the index of some folders."""

    files: int = 0
    """The files in the folders."""
    read: int = 0
    """Those that were read now, because they are new or have changed."""
    without_text: int = 0
    """Those that are too large or have no readable text: pictures, programs, protected or damaged documents."""
    left: int = 0
    """Those that are yet to be read, for lack of time, or because the index is as large as it may be."""

    def plus(self, *, files: int = 0, read: int = 0, without_text: int = 0, left: int = 0) -> Indexed:
        """Return the state with more of each."""
        return Indexed(self.files + files, self.read + read, self.without_text + without_text, self.left + left)

    def warnings(self) -> tuple[str, ...]:
        """Return what a reader of results must know."""
        notes = []
        if self.left:
            notes.append(
                f"{self.left:,} of {self.files:,} files are not indexed yet; search again in a while "
                "(the setting archive.max_bytes limits the index)"
            )
        if self.without_text:
            count = f"{self.without_text:,} of {self.files:,} files"
            notes.append(f"{count} are too large or have no readable text, and cannot be found")
        if not self.files:
            notes.append("the folders have no files")
        return tuple(notes)


class _Refresh:
    """Work on the index of some folders."""

    def __init__(self, progress: Progress | None) -> None:
        self.progress = progress
        self.state: Indexed | None = None
        """The state until now; None while the folders are listed."""
        self.task: asyncio.Task[None]


@dataclass(frozen=True, slots=True, kw_only=True)
class FileSearch:
    """Searches folders for one `Web` and all of its views."""

    settings: Settings
    """The settings in effect."""
    reader: FileReader
    """Reads the files."""
    index: Archive | None
    """The index; None if nothing may be kept."""
    workers: Workers
    """The workers for long files."""
    _running: dict[tuple[str, ...], _Refresh] = field(default_factory=dict)
    """What is being brought up to date, by owner and folders."""

    async def refresh(
        self, owner: Owner, folders: Sequence[str], *, wait: float | None = None, progress: Progress | None = None
    ) -> Indexed | None:
        """Bring the index of folders up to date: changed files are read again, and deleted ones leave.

        Args:
            owner: Whose calls it is for.
            folders: The folders.
            wait: Seconds to wait; the work goes on after them, so that no file is too slow for a search. None waits
                for all of it.
            progress: See `Progress`.

        Returns:
            The state by then; None if the folders are still being listed.

        Raises:
            InvalidRequest: a folder cannot be read, or is too large. PermissionDenied: there is no folder or no index.
            StoreError: the index cannot be used.
        """
        if not folders:
            raise PermissionDenied(f"Local files are not searched here: no folder is allowed. {HOW_TO_ALLOW}")
        if self.index is None:
            why = "which is kept only if archive.enabled is true, and neither recorded nor replayed"
            raise PermissionDenied(f"Files are found by an index, {why}.")
        key = (owner.key, *folders)
        running = self._running.get(key)
        if running is None:
            running = self._running[key] = _Refresh(progress)
            running.task = asyncio.create_task(self._refresh(self.index, owner, folders, running))
            running.task.add_done_callback(partial(self._forget, key))
        done, _ = await asyncio.wait({running.task}, timeout=wait)
        if done:
            await running.task
        return running.state

    def _forget(self, key: tuple[str, ...], task: asyncio.Task[None]) -> None:
        """Forget work that has ended; who still waits for it gets its error."""
        self._running.pop(key, None)
        if not task.cancelled() and (error := task.exception()) is not None:
            _logger.info("The index of files was not brought up to date: %s", error)

    async def _refresh(self, index: Archive, owner: Owner, folders: Sequence[str], running: _Refresh) -> None:
        new: list[tuple[Owner, str, Path, str]] = []
        state = Indexed()
        for folder in folders:
            partition = _partition(owner, folder)
            stamps = await index.stamps(viewer=partition)
            present = await asyncio.to_thread(_present_files, folder)
            await index.put_files((), stamps.keys() - present.keys(), viewer=partition)
            same = {url for url, (_, stamp) in present.items() if stamps.get(url, ("",))[0] == stamp}
            new += [(partition, folder, *entry) for url, entry in present.items() if url not in same]
            state = state.plus(files=len(present), without_text=sum(not stamps[url][1] for url in same))
        running.state = state = state.plus(left=len(new))
        room = self.settings.archive.max_bytes - (await index.statistics(viewer=OPERATOR)).size
        batch: list[Item] = []
        size = 0
        try:
            for partition, folder, path, stamp in new:
                item = await self._item(partition, folder, path, stamp) if room > 0 else None
                if item is None:
                    continue
                batch.append(item)
                room -= item.size
                running.state = state = state.plus(read=1, left=-1, without_text=int(not item.text))
                size += max(len(item.text), int(stamp.partition(" ")[0]))
                if len(batch) >= _BATCH_FILES or size > _BATCH_SIZE:
                    full, batch, size = batch, [], 0
                    await index.put_files(full, viewer=partition)
                if running.progress is not None:
                    running.progress(state.read, len(new))
        finally:
            await asyncio.shield(index.put_files(batch, viewer=OPERATOR))

    async def _item(self, partition: Owner, folder: str, path: Path, stamp: str) -> Item | None:
        """Return the entry of a file; None if it took too long, so that it is tried again."""
        page: Page | None = None
        try:
            page = await self.reader.read(LocalFile(path, (folder,)), Deadline.after(self.settings.read.timeout))
        except DeadlineExceeded:
            return None
        except (PageError, PermissionDenied) as error:  # its stamp is kept, so that it is not read at every search
            _logger.info("A file cannot be found by its text: %s: %s", path, error)
        names = " ".join(re.findall(r"\w+", str(path.relative_to(folder))))
        return file_item(path.as_uri(), stamp, partition, names=names, seen_ms=round(time.time() * 1_000), page=page)

    async def search(self, query: Query, owner: Owner, folders: Sequence[str], deadline: Deadline) -> SearchResponse:
        """Return the files that answer a query best, each with its best passage; its title has the section and page.

        Raises:
            InvalidRequest: a filter has no meaning for files. Others: see `refresh`.
        """
        if query.allowed_domains or query.blocked_domains or query.language or query.region:
            fix = "Leave out domains, language and region, or search the web."
            raise InvalidRequest("sources", "is files, which have no domains, language or region", fix)
        started = time.perf_counter()
        try:
            with deadline.timeout():
                state = await self.refresh(owner, folders, wait=_REFRESH_SHARE * deadline.remaining())
                hits, note = await self._hits(query, owner, folders)
                rows = [await self._row(query.text, hit, viewer) for hit, viewer in hits]
        except TimeoutError as error:
            raise DeadlineExceeded(
                "The files could not be searched in time. Search again, or allow more time."
            ) from error
        spent = round((time.perf_counter() - started) * 1_000)
        attempt = Attempt(provider=FILES_READER, outcome="ok" if rows else "empty", latency_ms=spent)
        return SearchResponse(
            query=query.text,
            results=tuple(rows),
            provider=FILES_READER,
            attempts=(attempt,),
            warnings=(*note, *(_LISTING if state is None else state.warnings())),
        )

    async def _hits(
        self, query: Query, owner: Owner, folders: Sequence[str]
    ) -> tuple[Sequence[tuple[ArchiveHit, Owner]], tuple[str, ...]]:
        """Return the best matches, each with the viewer who sees it, and a note if they lack words of the query."""
        if self.index is None:
            return (), ()
        skipped = (query.page - 1) * query.limit
        filters = Filters(
            time_range=query.time_range,
            published_after=query.published_after,
            published_before=query.published_before,
        )
        for any_word in (False, True):
            hits: dict[str, tuple[ArchiveHit, Owner]] = {}
            for viewer in (_partition(owner, folder) for folder in folders):
                for hit in await self.index.search(
                    query.text,
                    viewer=viewer,
                    limit=skipped + query.limit,
                    filters=filters,
                    any_word=any_word,
                    passages=False,
                ):
                    hits.setdefault(hit.url, (hit, viewer))
            if hits:
                note = ("no file has all words of the query; these have some of them",) if any_word else ()
                best = sorted(hits.values(), key=lambda row: -row[0].rank)
                return best[skipped : skipped + query.limit], note
        return (), ()

    async def _row(self, question: str, hit: ArchiveHit, viewer: Owner) -> SearchResult:
        """Return a result with the passage of a file that answers best, and where it is."""
        title, snippet = hit.title, hit.snippet
        page = None if self.index is None else await self.index.file(hit.url, viewer=viewer)
        if page is not None:
            part = await view_off_loop(
                self.workers, page, check_ask(query=question, max_length=_PASSAGE_CHARS, default_length=_PASSAGE_CHARS)
            )
            if part.excerpts:
                best = max(part.excerpts, key=lambda excerpt: excerpt.score)
                snippet = readable(best.text) or snippet
                pages = _PAGE.findall(page.content, 0, best.start + _PAGE_MARK_CHARS)
                where = best.heading.removeprefix(title).removeprefix(" > ")
                title = " > ".join(filter(None, (title, where, f"page {pages[-1]}" if pages else "")))
        return SearchResult(
            title=title[:MAX_TITLE],
            url=hit.url,
            snippet=snippet[:MAX_SNIPPET],
            source=FILES_READER,
            published=hit.published,
        )

    async def aclose(self) -> None:
        """Close the index, and release threads; what was read until now is kept."""
        tasks = [running.task for running in self._running.values()]
        for task in tasks:
            task.cancel()
        await asyncio.gather(*tasks, return_exceptions=True)
        await self.reader.aclose()
        if self.index is not None:
            await self.index.aclose()


def _partition(owner: Owner, folder: str) -> Owner:
    """Return who sees the entries of a folder: no one but this owner, in a search of this folder."""
    return Owner(tenant=owner.key, session=Path(folder).as_uri())


def _present_files(folder: str) -> Mapping[str, tuple[Path, str]]:
    return {path.as_uri(): (path, stamp) for path, stamp in files_below(folder)}
