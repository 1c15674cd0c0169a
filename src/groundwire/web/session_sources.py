"""What a session has been shown, under the numbers to cite it by.

A page gets its number when it is first shown, as a result or as a page, and keeps it. What is known of it is kept in
the store under the session's name, so that a fleet that shares both gives it one number; of a session without a name
nobody else can ask, so that is kept in this process. The content of an opened page is kept under its own SHA-256.
"""

from __future__ import annotations

import asyncio
import hashlib
import json
import secrets
import zlib
from collections.abc import AsyncGenerator, Callable, Container, Sequence
from contextlib import asynccontextmanager, suppress
from dataclasses import asdict, dataclass, field, replace
from typing import TYPE_CHECKING, Final, TypeVar

from groundwire.errors import BlockedByPolicy, InvalidRequest
from groundwire.models import MAX_SNIPPET, MAX_TITLE, Page, SearchResult
from groundwire.reading.passages.outline import version_of
from groundwire.routing.budget import SessionBudget
from groundwire.routing.result_merging import canonical
from groundwire.safety.tenancy import Owner
from groundwire.safety.urls import parse_url
from groundwire.storage import StoreError
from groundwire.storage.archive.store import Archive
from groundwire.storage.base import Store
from groundwire.storage.memory import MemoryStore

if TYPE_CHECKING:
    from groundwire.citations.verify.report import CitedPage

__all__ = ["CitedPages", "KeyLocks", "SeenSource", "SessionSources"]

_LIFE: Final = 7 * 86_400.0  # seconds after which the store forgets a session, as its budget
_MOST: Final = 1_000  # sources of a session; of more the oldest are forgotten, and their numbers with them
_LONGEST: Final = 2_000_000  # characters of a page that is kept
_AT_ONCE: Final = 100_000  # characters that are packed without a thread, in about 2 ms
_PRIVATE: Final = 32_000_000  # bytes that sessions without a name may take in this process
_LEASE, _LEASE_POLL, _LEASE_TRIES = 3.0, 0.02, 100  # seconds of a lease and between two attempts, and attempts
_BETWEEN: Final = " … "  # two snippets of one page

_T = TypeVar("_T", SearchResult, Page)
_R = TypeVar("_R")


class KeyLocks:
    """Locks on keys of a store, among tasks and among processes: for changes of a value that must not be divided.

    Args:
        store: Where the values are, and the leases on them.
    """

    def __init__(self, store: Store) -> None:
        self._store = store
        self._owner = secrets.token_hex(8)
        self._locks: dict[str, tuple[asyncio.Lock, int]] = {}

    @asynccontextmanager
    async def hold(self, key: str) -> AsyncGenerator[None]:
        """Hold the lock on a key for the block; after two seconds of waiting for other processes it begins anyway."""
        lock, users = self._locks.get(key, (asyncio.Lock(), 0))
        self._locks[key] = (lock, users + 1)
        try:
            async with lock:
                for _ in range(_LEASE_TRIES):
                    if await self._store.lease(key, owner=self._owner, ttl=_LEASE):
                        break
                    await asyncio.sleep(_LEASE_POLL)
                try:
                    yield
                finally:
                    await self._store.release(key, owner=self._owner)
        finally:
            lock, users = self._locks.pop(key)
            if users > 1:
                self._locks[key] = (lock, users - 1)


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


@dataclass(slots=True)
class _Register:
    """The sources of one session."""

    last: int = 0
    sources: dict[int, SeenSource] = field(default_factory=dict)
    numbers: dict[str, int] = field(default_factory=dict)
    changed: bool = False

    def show(self, url: str, title: str, snippet: str = "", digest: str = "", also: str = "") -> int:
        """Return the number of a page, a new one if it has none, and note what was shown of it."""
        name = _name(url)
        number = self.numbers.get(name) or (self.numbers.get(_name(also)) if also else None)
        if number is None:
            self.last += 1
            number = self.last
        known = self.sources.get(number) or SeenSource(number=number, url=url, title=title)
        new = replace(
            known,
            title=known.title or title,
            snippet=_joined(known.snippet, snippet),
            digest=digest or known.digest,
        )
        if self.numbers.get(name) != number or self.sources.get(number) != new:
            self.numbers[name] = number
            self.sources[number] = new
            self.changed = True
        if also and _name(also) not in self.numbers:
            self.numbers[_name(also)] = number
            self.changed = True
        return number

    def pack(self) -> bytes:
        """Return it as bytes; the oldest sources are left out when there are too many."""
        kept = dict(sorted(self.sources.items())[-_MOST:])
        numbers = {name: number for name, number in self.numbers.items() if number in kept}
        rows = [{**asdict(source), "title": source.title[:MAX_TITLE]} for source in kept.values()]
        return json.dumps({"last": self.last, "rows": rows, "numbers": numbers}).encode()

    @classmethod
    def unpack(cls, data: bytes) -> _Register:
        """Return the register that was packed.

        Raises:
            ValueError, TypeError, KeyError: these are no such bytes.
        """
        read = json.loads(data)
        sources = {row["number"]: SeenSource(**row) for row in read["rows"]}
        return cls(int(read["last"]), sources, dict(read["numbers"]))


class SessionSources:
    """Numbers what sessions are shown, and remembers it so that an answer can be checked.

    Args:
        store: Where named sessions are.
    """

    def __init__(self, store: Store) -> None:
        self._store = store
        self._locks = KeyLocks(store)
        self._private = MemoryStore(max_bytes=_PRIVATE)
        self._private_locks = KeyLocks(self._private)

    async def number_results(self, session: SessionBudget, rows: Sequence[SearchResult]) -> tuple[SearchResult, ...]:
        """Return results with the numbers that they have in a session."""

        def show(register: _Register) -> list[int]:
            return [register.show(row.url, row.title, row.snippet) for row in rows]

        numbers = (await self._shown(session, show))[0] if rows else []
        return tuple(_numbered(row, number) for row, number in zip(rows, numbers, strict=True))

    async def number_page(self, session: SessionBudget, page: Page) -> Page:
        """Return a whole page with the number that it has in a session, and keep its content."""
        digest = await _off_loop(_digest, page.content)

        def show(register: _Register) -> list[int]:
            return [register.show(page.url, page.title, digest=digest, also=page.final_url)]

        (number,), new = await self._shown(session, show)
        if new and len(page.content) <= _LONGEST:
            no_store = page.freshness is not None and page.freshness.no_store
            store = self._private if no_store or not session.named else self._store
            await store.set(_content_key(session.owner, digest), await _off_loop(_packed, page.content), fresh=_LIFE)
        return _numbered(page, number)

    async def listed(self, session: SessionBudget) -> tuple[SeenSource, ...]:
        """Return what a session was shown, by number; nothing when it is gone, or was shown nothing."""
        register = await self._load(session)
        return tuple(source for _, source in sorted(register.sources.items()))

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
        await self._of(session)[0].delete(_key(session))

    def _of(self, session: SessionBudget) -> tuple[Store, KeyLocks]:
        return (self._store, self._locks) if session.named else (self._private, self._private_locks)

    async def _load(self, session: SessionBudget) -> _Register:
        entry = await self._of(session)[0].get(_key(session))
        if entry is not None:
            with suppress(ValueError, TypeError, KeyError):
                return _Register.unpack(entry.value)
        return _Register()

    async def _shown(self, session: SessionBudget, show: Callable[[_Register], list[int]]) -> tuple[list[int], bool]:
        """Return the numbers of what is shown, and whether something in it was new; only then anything is written."""
        register = await self._load(session)
        numbers = show(register)
        if not register.changed:
            return numbers, False
        store, locks = self._of(session)
        async with locks.hold(_key(session)):
            register = await self._load(session)
            numbers = show(register)
            await store.set(_key(session), register.pack(), fresh=_LIFE)
        return numbers, True


def _key(session: SessionBudget) -> str:
    return f"sources:{session.session}"


def _content_key(owner: Owner, digest: str) -> str:
    return f"cited:{owner.key}:{digest}"


def _name(url: str) -> str:
    """Return what tells a page's address from those of others, in few bytes."""
    try:
        text = canonical(parse_url(url))
    except (InvalidRequest, BlockedByPolicy):
        text = url
    return hashlib.sha256(text.encode("utf-8", "surrogatepass")).hexdigest()[:16]


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
