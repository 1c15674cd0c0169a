"""The sources of a session, by citation number.

A page gets its number when it is first shown, as a result or as a page, and keeps it for the session. Sources are in
the store under the session's name, so that a fleet that shares both uses the same numbers; for a session without a
name, which no other process can use, they are in this process. The content of an opened page is stored under its own
SHA-256.
"""

from __future__ import annotations

import asyncio
import hashlib
import json
import zlib
from collections.abc import Callable, Container, Iterable, Sequence
from contextlib import suppress
from dataclasses import replace
from typing import TYPE_CHECKING, Final, TypeVar, cast

from pydantic_core import to_json

from groundwire.errors import BlockedByPolicy, InvalidRequest
from groundwire.models import MAX_SNIPPET, MAX_TITLE, SearchResult
from groundwire.routing.budget import SessionBudget
from groundwire.routing.result_merging import canonical, replaced
from groundwire.safety.tenancy import Owner
from groundwire.safety.urls import url_or_none
from groundwire.storage import StoreError
from groundwire.storage.archive.store import Archive
from groundwire.storage.base import Answer, AssignNumbers, Numbers, Register, Store
from groundwire.storage.memory import MemoryStore

if TYPE_CHECKING:
    from groundwire.citations.verify.report import CitedPage
    from groundwire.models import Page

_LIFE_SECONDS: Final = 7 * 86_400.0  # seconds after which the store deletes a session's sources, like its budget
_MAX_PAGE_CHARS: Final = 2_000_000  # characters of a page that is stored
_MAX_LOOP_CHARS: Final = 100_000  # characters that are compressed without a thread, in about 2 ms
_MAX_PRIVATE_BYTES: Final = 32_000_000  # bytes that sessions without a name may take in this process
_NAME_BYTES: Final = 8  # bytes of a name in a register
_VERSION_DIGITS: Final = 16  # of a digest, as in `Page.version`
_SNIPPET_SEPARATOR: Final = " … "  # between two snippets of one page

_SourceFields = tuple[str, str, str, str, str]  # URL, URL after redirects, title, snippet, digest of the content
_R = TypeVar("_R")


class SessionSources:
    """Numbers and stores the sources of sessions, so that answers can be verified.

    A register of the session's store gives the numbers; what was shown is noted with it. Both are one operation of the
    store for each search, as long as its results whatever the session has seen before.

    Args:
        store: Where the content of pages is.
        archive: Where it is if the store has no longer got it; None if it is disabled.
    """

    def __init__(self, store: Store, archive: Archive | None = None) -> None:
        self._store = store
        self._archive = archive
        self._private = MemoryStore(max_bytes=_MAX_PRIVATE_BYTES)

    def numbering(self, session: SessionBudget, rows: Sequence[SearchResult]) -> AssignNumbers:
        """Return the store operation that numbers results; see `number_results`."""
        names = [(_name(row.url) if row._address is None else _short_name(row._address[1]),) for row in rows]
        return _number(session, names, [(row.url, "", row.title[:MAX_TITLE], row.snippet, "") for row in rows])

    async def number_results(
        self, session: SessionBudget, rows: Sequence[SearchResult], opener: object, answer: Answer = None
    ) -> tuple[SearchResult, ...]:
        """Return results with their numbers in a session; see `taken`.

        Args:
            session: The session.
            rows: The results, which calls of other sessions may share.
            opener: Opens them.
            answer: What the store said to `numbering`, when it was asked already.
        """
        if not rows:
            return ()
        assigned = answer if isinstance(answer, Numbers) else await _assign(session, self.numbering(session, rows))
        numbered = zip(rows, assigned.numbers, strict=True)
        return tuple([taken(row, number, opener) for row, number in numbered])

    async def number_page(self, session: SessionBudget, page: Page) -> Page:
        """Return a whole page with its number in a session, and store its content."""
        digest = await _off_loop(_digest, page.content)
        names = tuple(dict.fromkeys(_name(url) for url in (page.url, page.final_url) if url))
        fields = page.url, page.final_url or "", (page.title or "")[:MAX_TITLE], "", digest
        answer = await _assign(session, _number(session, [names], [fields]))
        if answer.new and len(page.content) <= _MAX_PAGE_CHARS:
            no_store = page.freshness is not None and page.freshness.no_store
            store = self._private if no_store or not session.named else self._store
            key = _content_key(session.owner, digest)
            await store.set(key, await _off_loop(_compressed, page.content), fresh=_LIFE_SECONDS)
        return page.model_copy(update={"citation_id": answer.numbers[0]})

    async def content(self, digest: str, *, owner: Owner) -> str | None:
        """Return the whole Markdown of an owner's page by its SHA-256; None if it is no longer stored."""
        for store in (self._private, self._store):
            entry = await store.get(_content_key(owner, digest))
            if entry is not None:
                with suppress(zlib.error, UnicodeDecodeError):
                    return zlib.decompress(entry.value).decode("utf-8", "surrogatepass")
        return None

    async def forget(self, session: SessionBudget) -> None:
        """Delete the sources of a session."""
        await session.store.delete(_key(session))

    async def pages(self, session: SessionBudget, numbers: Container[int] | None = None) -> tuple[CitedPage, ...]:
        """Return the pages that a session may cite, by number; none if they have expired.

        Args:
            session: The session.
            numbers: Numbers whose content is loaded, too; None loads all of it.
        """
        seen = _merge(await session.store.register(_key(session)))
        return tuple(
            [
                await self._page(page, session.owner, with_content=numbers is None or page.number in numbers)
                for page in seen
            ]
        )

    async def _page(self, page: CitedPage, owner: Owner, *, with_content: bool) -> CitedPage:
        digest, content = page.version, None
        if digest and with_content:
            content = await self.content(digest, owner=owner)
            if content is None and (last := await self._archived(page.url, owner)) is not None:
                content, digest = last.content, _digest(last.content)
        return replace(page, content=content, version=digest[:_VERSION_DIGITS], changed=digest != page.version)

    async def _archived(self, url: str, owner: Owner) -> Page | None:
        """Return the last archived version of a page visible to its viewer."""
        if self._archive is not None:
            with suppress(StoreError, InvalidRequest, BlockedByPolicy):
                return await self._archive.get_page(url, viewer=owner)
        return None


def taken(row: SearchResult, number: int, opener: object) -> SearchResult:
    """Return a row with its number for one call: the row itself if no call has it yet, else a copy.

    Args:
        row: The row; calls with other numbers, of other tenants even, may share it.
        number: The number to cite it by.
        opener: Its `open_page` opens the row; see `SearchResult.open`.
    """
    if row._opener is not None:
        row = replaced(row, citation_id=number)
    row.citation_id = number
    row.bind(opener)
    return row


def _key(session: SessionBudget) -> str:
    return f"sources:{session.session}"


def _content_key(owner: Owner, digest: str) -> str:
    return f"cited:{owner.key}:{digest}"


def _number(
    session: SessionBudget, names: Sequence[tuple[bytes, ...]], fields: Sequence[_SourceFields]
) -> AssignNumbers:
    """Return the operation that numbers sources.

    Args:
        session: The session.
        names: Of each source, of one or more URLs.
        fields: What is noted of each source.
    """
    try:
        note = to_json(fields)
    except ValueError:  # lone surrogates, as of a file's name; only Python's own slower encoder takes them
        note = json.dumps(fields).encode()
    if session.named:  # it leaves this process, and is stored
        note = zlib.compress(note, 1)
    return AssignNumbers(_key(session), tuple(names), note, _LIFE_SECONDS)


def _fields_of(note: bytes) -> Iterable[_SourceFields]:
    """Return what a note holds.

    Raises:
        ValueError, zlib.error: nothing that was noted here.
    """
    return cast("list[_SourceFields]", json.loads(note if note[:1] == b"[" else zlib.decompress(note)))


async def _assign(session: SessionBudget, operation: AssignNumbers) -> Numbers:
    return cast("Numbers", await session.store.apply(operation))


def _merge(register: Register) -> tuple[CitedPage, ...]:
    """Merge the notes of a register by number, without the content of pages."""
    from groundwire.citations.verify.report import CitedPage  # not needed for searching and reading

    pages: dict[int, CitedPage] = {}
    for note in register.notes:
        with suppress(ValueError, TypeError, zlib.error):
            for url, other, title, snippet, digest in _fields_of(note):
                names = (_name(address) for address in (url, other) if address)
                number = next((assigned for name in names if (assigned := register.numbers.get(name))), None)
                if number is None:
                    continue
                old = pages.get(number) or CitedPage(number=number, url=url)
                snippet = _joined_snippets(old.snippet, snippet)
                pages[number] = replace(old, title=old.title or title, snippet=snippet, version=digest or old.version)
    return tuple(page for _, page in sorted(pages.items()))


def _name(url: str) -> bytes:
    """Return the short name of a page's URL in a register; see `_short_name`."""
    parsed = url_or_none(url)
    return _short_name(canonical(parsed) if parsed else url)


def _short_name(text: str) -> bytes:
    """Return a short digest."""
    return hashlib.sha256(text.encode("utf-8", "surrogatepass")).digest()[:_NAME_BYTES]


def _joined_snippets(snippets: str, snippet: str) -> str:
    """Return known snippets with one more, without the oldest if they are too long."""
    if not snippet or snippet in snippets:
        return snippets
    return f"{snippets}{_SNIPPET_SEPARATOR}{snippet}"[-2 * MAX_SNIPPET :] if snippets else snippet


async def _off_loop(work: Callable[[str], _R], content: str) -> _R:
    """Apply `work` to a page, in a thread if it is long."""
    return work(content) if len(content) < _MAX_LOOP_CHARS else await asyncio.to_thread(work, content)


def _digest(content: str) -> str:
    return hashlib.sha256(content.encode("utf-8", "surrogatepass")).hexdigest()


def _compressed(content: str) -> bytes:
    return zlib.compress(content.encode("utf-8", "surrogatepass"), 1)
