"""Searching the files of folders through a full-text index, which is brought up to date before each search."""

from __future__ import annotations

import asyncio
import re
import time
from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass, field
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

__all__ = ["FileSearch", "Indexed", "Progress", "check_sources"]

Progress = Callable[[int, int], None]
"""Called with the number of files that were read, and of those to be read."""

_SHARE: Final = 0.7  # of a search's time for reading what is new
_PASSAGE: Final = 700  # characters of a passage
_BATCH: Final = 2_000_000  # characters of texts that are written at once
_MANY: Final = 64  # files that are written at once
_PAGE: Final = re.compile(r"^\[page (\d+)\]$", re.MULTILINE)
_PAGE_MARK: Final = 12  # characters of such a line


class Indexed(NamedTuple):
    """The state of the index of some folders."""

    files: int = 0
    """The files in the folders."""
    read: int = 0
    """Those that were read now, because they are new or have changed."""
    without_text: int = 0
    """Those that have no readable text: pictures, programs, protected or damaged documents."""
    left: int = 0
    """Those that are yet to be read: for lack of time, or because the index is as large as it may be."""

    def __add__(self, other: object) -> Indexed:
        """Return the sum of two states."""
        return Indexed(*map(sum, zip(self, other, strict=True))) if isinstance(other, Indexed) else NotImplemented

    def warnings(self) -> tuple[str, ...]:
        """Return what a reader of results must know."""
        said = []
        if self.left:
            said.append(
                f"{self.left:,} of {self.files:,} files are not indexed yet; search again to go on with them "
                "(the setting archive.max_bytes limits the index)"
            )
        if self.without_text:
            said.append(f"{self.without_text:,} of {self.files:,} files have no readable text and cannot be found")
        if not self.files:
            said.append("the folders have no files")
        return tuple(said)


def check_sources(sources: object) -> str:
    """Return what a search is of: `web` or `files`.

    Raises:
        InvalidRequest: it is neither.
    """
    given = (sources,) if isinstance(sources, str) else sources
    if not isinstance(given, Sequence) or len(given) != 1 or given[0] not in {"web", "files"}:
        raise InvalidRequest(
            "sources",
            'is neither ["web"] nor ["files"]',
            "Make a search of each; Web(search_providers=[...]) chooses providers.",
        )
    return str(given[0])


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
    _turn: asyncio.Lock = field(default_factory=asyncio.Lock)
    """Only one call reads files at a time."""

    async def refresh(
        self, owner: Owner, folders: Sequence[str], *, until: Deadline | None = None, progress: Progress | None = None
    ) -> Indexed:
        """Bring the index of folders up to date: changed files are read again, and deleted ones leave.

        Args:
            owner: Whose calls it is for.
            folders: The folders.
            until: When to stop; what was read by then is kept. None means to read everything.
            progress: See `Progress`.

        Raises:
            InvalidRequest: a folder cannot be read, or is too large. PermissionDenied: there is no folder or no index.
            StoreError: the index cannot be used.
        """
        if not folders:
            raise PermissionDenied(f"Local files are not searched here: no folder is allowed. {HOW_TO_ALLOW}")
        if self.index is None:
            raise PermissionDenied("Files are found by an index, which is kept only if archive.enabled is true.")
        found = Indexed()
        async with self._turn:
            for folder in folders:
                found += await self._refresh(self.index, _partition(owner, folder), folder, until, progress)
        return found

    async def _refresh(
        self, index: Archive, partition: Owner, folder: str, until: Deadline | None, progress: Progress | None
    ) -> Indexed:
        known = await index.stamps(viewer=partition)
        present = await asyncio.to_thread(_listed, folder)
        await index.put_files((), known.keys() - present.keys(), viewer=partition)
        new = [url for url, (_, stamp) in present.items() if known.get(url, ("", False))[0] != stamp]
        empty = sum(not has_text for url, (_, has_text) in known.items() if url in present) - sum(
            not known[url][1] for url in new if url in known
        )
        room = self.settings.archive.max_bytes - (await index.statistics(viewer=OPERATOR)).size
        batch: list[Item] = []
        read = 0
        try:
            for url in new:
                if room <= 0 or (until is not None and until.passed):
                    break
                item = await self._item(partition, folder, url, *present[url], until)
                if item is None:
                    break
                batch.append(item)
                read, empty, room = read + 1, empty + (not item.text), room - item.size
                if len(batch) >= _MANY or sum(len(one.text) for one in batch) > _BATCH:
                    full, batch = batch, []
                    await index.put_files(full, viewer=partition)
                if progress is not None:
                    progress(read, len(new))
        finally:
            await asyncio.shield(index.put_files(batch, viewer=partition))
        return Indexed(len(present), read, empty, len(new) - read)

    async def _item(
        self, partition: Owner, folder: str, url: str, path: Path, stamp: str, until: Deadline | None
    ) -> Item | None:
        """Return the entry of a file; None if there was too little time to read it."""
        deadline = Deadline.after(self.settings.read.timeout)
        page: Page | None = None
        try:
            page = await self.reader.read(LocalFile(path, (folder,)), until or deadline)
        except DeadlineExceeded:
            if until is not None and until.remaining() < deadline.remaining():
                return None
        except (PageError, PermissionDenied):
            pass  # its stamp is kept, so that it is not read at every search
        names = " ".join(re.findall(r"\w+", str(path.relative_to(folder))))
        return file_item(url, stamp, partition, names=names, seen=round(time.time() * 1_000), page=page)

    async def search(self, query: Query, owner: Owner, folders: Sequence[str], deadline: Deadline) -> SearchResponse:
        """Return the files that answer a query best, each with its best passage; its title has the section and page.

        Raises:
            InvalidRequest: a filter has no meaning for files. Others: see `refresh`.
        """
        if query.allowed_domains or query.blocked_domains or query.language or query.region:
            fix = "Leave out domains, language and region, or search the web."
            raise InvalidRequest("sources", "is files, which have no domains, language or region", fix)
        started = time.perf_counter()
        until = deadline.capped(_SHARE * deadline.remaining())
        try:
            with deadline.timeout():
                state = await self.refresh(owner, folders, until=until)
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
            warnings=(*note, *state.warnings()),
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
                best = sorted(hits.values(), key=lambda one: -one[0].rank)
                return best[skipped : skipped + query.limit], note
        return (), ()

    async def _row(self, question: str, hit: ArchiveHit, viewer: Owner) -> SearchResult:
        """Return a result with the passage of a file that answers best, and where it is."""
        title, snippet = hit.title, hit.snippet
        page = None if self.index is None else await self.index.file(hit.url, viewer=viewer)
        if page is not None:
            part = await view_off_loop(
                self.workers, page, check_ask(query=question, max_length=_PASSAGE, usual=_PASSAGE)
            )
            if part.excerpts:
                best = max(part.excerpts, key=lambda one: one.score)
                snippet = readable(best.text) or snippet
                pages = _PAGE.findall(page.content, 0, best.start + _PAGE_MARK)
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
        """Close the index, and release threads."""
        await self.reader.aclose()
        if self.index is not None:
            await self.index.aclose()


def _partition(owner: Owner, folder: str) -> Owner:
    """Return who sees the entries of a folder: no one but this owner, in a search of this folder."""
    return Owner(tenant=owner.key, session=Path(folder).as_uri())


def _listed(folder: str) -> Mapping[str, tuple[Path, str]]:
    return {path.as_uri(): (path, stamp) for path, stamp in files_below(folder)}
