"""What a session has been shown, under the numbers to cite it by.

A page gets its number when it is first shown, as a result or as a page, and keeps it as long as the session lasts. What
is known of it is in the store under the session's name, so that a fleet that shares both gives it one number; for a
session without a name, which no other process can use, it is in this process. The content of an opened page is stored
under its own SHA-256.
"""

from __future__ import annotations

import asyncio
import hashlib
import json
import zlib
from collections.abc import Callable, Container, Sequence
from contextlib import suppress
from dataclasses import dataclass, replace
from typing import TYPE_CHECKING, Final, TypeVar, cast

from groundwire.errors import BlockedByPolicy, InvalidRequest
from groundwire.models import MAX_SNIPPET, MAX_TITLE, Page, SearchResult
from groundwire.routing.budget import SessionBudget
from groundwire.routing.result_merging import address_of, canonical
from groundwire.safety.tenancy import Owner
from groundwire.safety.urls import parse_url
from groundwire.storage import StoreError
from groundwire.storage.archive.store import Archive
from groundwire.storage.base import Answer, AssignNumbers, Numbers, Register, Store
from groundwire.storage.memory import MemoryStore

if TYPE_CHECKING:
    from groundwire.citations.verify.report import CitedPage

__all__ = ["CitedPages", "SeenSource", "SessionSources"]

_LIFE: Final = 7 * 86_400.0  # seconds after which the store forgets a session, as its budget
_LONGEST: Final = 2_000_000  # characters of a page that is kept
_AT_ONCE: Final = 100_000  # characters that are packed without a thread, in about 2 ms
_PRIVATE: Final = 32_000_000  # bytes that sessions without a name may take in this process
_NAME: Final = 8  # bytes of a name in a register
_BETWEEN: Final = " … "  # two snippets of one page

_T = TypeVar("_T", SearchResult, Page)
_R = TypeVar("_R")


@dataclass(frozen=True, slots=True, kw_only=True)
class SeenSource:
    """One page that a session was shown."""

    number: int
    """The number to cite it by."""
    url: str
    """Its address."""
    title: str = ""
    """Its title."""
    snippet: str = ""
    """What searches showed of it."""
    digest: str = ""
    """The SHA-256 of its whole Markdown, in hexadecimal digits, as it was last opened; empty when it was not."""


class SessionSources:
    """Numbers what sessions are shown, and remembers it so that an answer can be checked.

    A register of the session's store gives the numbers; what was shown is noted with it. Both are one operation of the
    store for each search, as long as its results whatever the session has seen before.

    Args:
        store: Where the content of pages is.
    """

    def __init__(self, store: Store) -> None:
        self._store = store
        self._private = MemoryStore(max_bytes=_PRIVATE)

    def numbering(self, session: SessionBudget, rows: Sequence[SearchResult]) -> AssignNumbers:
        """Return the operation on the session's store that gives results their numbers; see `numbered`."""
        return _number(
            session,
            [(_row_name(row),) for row in rows],
            [[row.url, "", row.title[:MAX_TITLE], row.snippet, ""] for row in rows],
        )

    async def number_results(
        self, session: SessionBudget, rows: Sequence[SearchResult], answer: Answer = None
    ) -> tuple[SearchResult, ...]:
        """Return results with the numbers that they have in a session.

        Args:
            session: The session.
            rows: The results.
            answer: What the store said to `numbering`, when it was asked already.
        """
        if not rows:
            return ()
        known = answer if isinstance(answer, Numbers) else await _asked(session, self.numbering(session, rows))
        return tuple(_numbered(row, number) for row, number in zip(rows, known.numbers, strict=True))

    async def number_page(self, session: SessionBudget, page: Page) -> Page:
        """Return a whole page with the number that it has in a session, and keep its content."""
        digest = await _off_loop(_digest, page.content)
        names = tuple(dict.fromkeys(_name(url) for url in (page.url, page.final_url) if url))
        note = [page.url, page.final_url or "", (page.title or "")[:MAX_TITLE], "", digest]
        answer = await _asked(session, _number(session, [names], [note]))
        if answer.new and len(page.content) <= _LONGEST:
            no_store = page.freshness is not None and page.freshness.no_store
            store = self._private if no_store or not session.named else self._store
            await store.set(_content_key(session.owner, digest), await _off_loop(_packed, page.content), fresh=_LIFE)
        return _numbered(page, answer.numbers[0])

    async def listed(self, session: SessionBudget) -> tuple[SeenSource, ...]:
        """Return what a session was shown, by number; nothing when it is gone, or was shown nothing."""
        return _merged(await session.store.register(_key(session)))

    async def content(self, digest: str, *, owner: Owner) -> str | None:
        """Return the whole Markdown of a page of an owner by its SHA-256; None when it is not kept any more."""
        for store in (self._private, self._store):
            entry = await store.get(_content_key(owner, digest))
            if entry is not None:
                with suppress(zlib.error, UnicodeDecodeError):
                    return zlib.decompress(entry.value).decode("utf-8", "surrogatepass")
        return None

    async def forget(self, session: SessionBudget) -> None:
        """Forget what a session was shown."""
        await session.store.delete(_key(session))


def _key(session: SessionBudget) -> str:
    return f"sources:{session.session}"


def _content_key(owner: Owner, digest: str) -> str:
    return f"cited:{owner.key}:{digest}"


def _number(
    session: SessionBudget, names: Sequence[tuple[bytes, ...]], shown: Sequence[Sequence[str]]
) -> AssignNumbers:
    """Return the operation that numbers what a session is shown: for each an address, another one of it, and so on."""
    note = json.dumps(shown, separators=(",", ":")).encode()
    if session.named:  # it goes out of this process, and is kept there
        note = zlib.compress(note, 1)
    return AssignNumbers(_key(session), tuple(names), note, _LIFE)


async def _asked(session: SessionBudget, wanted: AssignNumbers) -> Numbers:
    (answer,) = await session.store.batch((wanted,))
    return cast("Numbers", answer)


def _merged(register: Register) -> tuple[SeenSource, ...]:
    """Return what the notes of a register say of each number."""
    known: dict[int, SeenSource] = {}
    for note in register.notes:
        with suppress(ValueError, TypeError, zlib.error):
            for url, other, title, snippet, digest in json.loads(note if note[:1] == b"[" else zlib.decompress(note)):
                names = (_name(one) for one in (url, other) if one)
                number = next((found for name in names if (found := register.numbers.get(name))), None)
                if number is None:
                    continue
                old = known.get(number) or SeenSource(number=number, url=url)
                known[number] = replace(
                    old,
                    title=old.title or title,
                    snippet=_joined(old.snippet, snippet),
                    digest=digest or old.digest,
                )
    return tuple(source for _, source in sorted(known.items()))


def _name(url: str) -> bytes:
    """Return what tells a page's address from those of others, in few bytes."""
    try:
        return _short(canonical(parse_url(url)))
    except (InvalidRequest, BlockedByPolicy):
        return _short(url)


def _row_name(row: SearchResult) -> bytes:
    """Return the same for a result, which carries its canonical address when it comes from a provider."""
    try:
        return _short(address_of(row).canonical)
    except (InvalidRequest, BlockedByPolicy):
        return _short(row.url)


def _short(text: str) -> bytes:
    return hashlib.sha256(text.encode("utf-8", "surrogatepass")).digest()[:_NAME]


def _joined(known: str, snippet: str) -> str:
    """Return what is known of a page's words with a snippet more; the last are kept when they are too many."""
    if not snippet or snippet in known:
        return known
    return f"{known}{_BETWEEN}{snippet}"[-2 * MAX_SNIPPET :] if known else snippet


def _numbered(noun: _T, number: int) -> _T:
    return noun if noun.citation_id == number else noun.model_copy(update={"citation_id": number})


async def _off_loop(work: Callable[[str], _R], content: str) -> _R:
    """Return what `work` makes of a page; a long one is seen to by a thread."""
    return work(content) if len(content) < _AT_ONCE else await asyncio.to_thread(work, content)


def _digest(content: str) -> str:
    return hashlib.sha256(content.encode("utf-8", "surrogatepass")).hexdigest()


def _packed(content: str) -> bytes:
    return zlib.compress(content.encode("utf-8", "surrogatepass"), 1)


@dataclass(frozen=True, slots=True, kw_only=True)
class CitedPages:
    """Finds what a session's numbers stand for."""

    sources: SessionSources
    """Know what a session was shown."""
    archive: Archive | None
    """Remembers pages for good; None remembers nothing."""

    async def pages(self, session: SessionBudget, wanted: Container[int] | None = None) -> tuple[CitedPage, ...]:
        """Return what a session was shown, by number.

        Args:
            session: The session.
            wanted: Of these numbers the content is wanted, too; None wants all of it.
        """
        return tuple(
            [
                await self._page(source, session.owner, with_content=wanted is None or source.number in wanted)
                for source in await self.sources.listed(session)
            ]
        )

    async def _page(self, source: SeenSource, owner: Owner, *, with_content: bool) -> CitedPage:
        from groundwire.citations.verify.report import CitedPage  # what searches and reads has no need of it
        from groundwire.reading.passages.outline import version_of

        content, changed, newer = None, False, False
        if source.digest and with_content:
            content = await self.sources.content(source.digest, owner=owner)
            last = await self._archived(source.url, owner)
            other = last is not None and _digest(last.content) != source.digest
            newer = content is not None and other
            if content is None and last is not None:
                content, changed = last.content, other
        version = (version_of(content) if changed and content is not None else source.digest[:16]) or ""
        return CitedPage(
            number=source.number,
            url=source.url,
            title=source.title,
            content=content,
            snippet=source.snippet,
            version=version,
            changed=changed,
            newer=newer,
        )

    async def _archived(self, url: str, owner: Owner) -> Page | None:
        """Return a page as it was when it was last read, as far as its viewer may see that."""
        if self.archive is not None:
            with suppress(StoreError, InvalidRequest, BlockedByPolicy):
                return await self.archive.get_page(url, viewer=owner)
        return None
