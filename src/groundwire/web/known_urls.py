"""The URLs that a session knows: from its user, from results, from pages it has opened; and the URLs in a text.

They are in the store under the session's name, so that a fleet that shares both shares them. Each is stored as a digest
of the requested URL, and of the one with its fragment: a known URL must match exactly, so that nothing can be appended
to it. The oldest are evicted first, separately by origin, so that a page with very many links does not evict the user's
URLs.
"""

from __future__ import annotations

import asyncio
import hashlib
import re
import secrets
from collections.abc import AsyncGenerator, Iterable, Iterator, Mapping
from contextlib import asynccontextmanager
from html import unescape
from typing import Final, Literal
from weakref import WeakValueDictionary

from groundwire.errors import BlockedUnknown
from groundwire.routing.budget import SessionBudget
from groundwire.safety.urls import MAX_LENGTH, WebUrl, url_or_none
from groundwire.storage.base import Store

UNKNOWN: Final = "Only URLs from the user, from a search, or from a page opened before may be opened, unchanged."
"""The reason for rejecting a URL that is unknown to the session."""

Origin = Literal["user", "results", "pages"]
"""The origin of a URL."""

_LIFE_SECONDS = 7 * 86_400.0  # seconds after which the store forgets a session, as its budget
_LEASE_SECONDS = 3.0
_LEASE_POLL_SECONDS, _MAX_LEASE_TRIES = 0.02, 100  # between two attempts, and attempts
_DIGEST_BYTES = 16  # bytes of a digest
_MAX_DIGESTS: Mapping[Origin, int] = {"user": 2_000, "results": 4_000, "pages": 20_000}  # the most trusted first
FROM_TEXT: Final = "its address is known only from the text of a page, neither from the user nor from a search"
"""What is said of a page whose address only web text has named."""


class KnownUrls:
    """Stores the URLs known to sessions, and rejects others.

    Args:
        store: Where the addresses are.
    """

    def __init__(self, store: Store) -> None:
        self._store = store
        self._owner = secrets.token_hex(8)
        self._locks: WeakValueDictionary[str, asyncio.Lock] = WeakValueDictionary()  # of keys in use

    async def note(self, session: SessionBudget, origin: Origin, urls: Iterable[WebUrl]) -> None:
        """Add URLs.

        Args:
            session: The session.
            origin: Their origin.
            urls: The URLs.
        """
        digests = dict.fromkeys(digest for url in urls for digest in _digests(url))
        if not digests:
            return
        key = _key(session, origin)
        async with self._locked(key):
            old = await self._load(key)
            remaining = [digest for digest in old if digest not in digests] + list(digests)
            await self._store.set(key, b"".join(remaining[-_MAX_DIGESTS[origin] :]), fresh=_LIFE_SECONDS)

    async def admit(self, session: SessionBudget, url: WebUrl) -> tuple[WebUrl, Origin]:
        """Return a URL known to the session, without an unknown fragment, and the most trusted of its origins.

        Raises:
            BlockedUnknown: the session has not seen it.
        """
        whole, plain = _digest(url.text), _digest(url.request_text)
        known = {
            origin: {whole, plain}.intersection(await self._load(_key(session, origin))) for origin in _MAX_DIGESTS
        }
        origins = [origin for origin, digests in known.items() if digests]
        if not origins:
            raise BlockedUnknown(UNKNOWN)
        has_fragment = any(whole in digests for digests in known.values())
        return url if has_fragment else url._replace(fragment=""), origins[0]

    async def forget(self, session: SessionBudget) -> None:
        """Delete a session's known URLs."""
        for origin in _MAX_DIGESTS:
            await self._store.delete(_key(session, origin))

    @asynccontextmanager
    async def _locked(self, key: str) -> AsyncGenerator[None]:
        """Hold the lock on a key for the block; after waiting two seconds for other processes, continue without it."""
        async with self._locks.setdefault(key, asyncio.Lock()):
            for _ in range(_MAX_LEASE_TRIES):
                if await self._store.lease(key, owner=self._owner, ttl=_LEASE_SECONDS):
                    break
                await asyncio.sleep(_LEASE_POLL_SECONDS)
            try:
                yield
            finally:
                await self._store.release(key, owner=self._owner)

    async def _load(self, key: str) -> list[bytes]:
        entry = await self._store.get(key)
        data = b"" if entry is None else entry.value
        return [data[at : at + _DIGEST_BYTES] for at in range(0, len(data), _DIGEST_BYTES)]


def _key(session: SessionBudget, origin: Origin) -> str:
    return f"known:{session.owner.key}:{session.session}:{origin}"


def _digests(url: WebUrl) -> list[bytes]:
    return [_digest(url.request_text), *([_digest(url.text)] if url.fragment else [])]


def _digest(text: str) -> bytes:
    return hashlib.sha256(text.encode()).digest()[:_DIGEST_BYTES]


_START = re.compile(r"https?://", re.IGNORECASE)
_END = re.compile(r"[\s<>\"`\x00-\x1f]|\]\(")
_ESCAPED = re.compile(r"\\([!-/:-@\[-`{-~])")  # CommonMark 0.31, 2.4
_TRAILING_PUNCTUATION = ".,;:!?'\"*_~|\u2026\u3002\uff0c\u201d\u2019\u00bb"  # what follows an address in a sentence
_PAIRS: Final[Mapping[str, str]] = {")": "(", "]": "[", "}": "{"}
_MAX_TRAILING_CHARS = 20  # after an address
_MAX_SCANNED_CHARS = 1_000_000  # characters that are looked through


def addresses_in(text: str, *, limit: int = 2_000) -> tuple[WebUrl, ...]:
    """Return the http and https addresses in a text, each once, in their order.

    Addresses of Markdown links, between angle brackets, and plain ones. What can be read in several ways (`&amp;`,
    a full stop or a bracket at the end) is returned in each; an address within another is part of that one.

    Args:
        text: Any text.
        limit: Maximum addresses.
    """
    urls: dict[WebUrl, None] = {}
    for url in _addresses(text[:_MAX_SCANNED_CHARS]):
        urls.setdefault(url)
        if len(urls) >= limit:
            break
    return tuple(urls)


def _addresses(text: str) -> Iterator[WebUrl]:
    at = 0
    while start := _START.search(text, at):
        begin = start.start()
        longest = min(begin + MAX_LENGTH, len(text))
        end = _END.search(text, start.end(), longest)
        address = text[begin : end.start() if end else longest]
        if text[max(0, begin - 2) : begin] == "](":  # the address of a Markdown link
            address = _within_brackets(address)
        at = begin + len(address)
        for reading in dict.fromkeys((address, _without_punctuation(address))):
            for spelling in dict.fromkeys((reading, unescape(reading), _ESCAPED.sub(r"\1", reading))):
                if url := url_or_none(spelling):
                    yield url


def _within_brackets(address: str) -> str:
    """Return an address up to the bracket that closes the link; those within it come in pairs."""
    depth = 0
    for at, char in enumerate(address):
        if char == "(":
            depth += 1
        elif char == ")":
            depth -= 1
            if depth < 0:
                return address[:at]
    return address


def _without_punctuation(address: str) -> str:
    """Return an address without the punctuation after it."""
    end = len(address)
    for _ in range(min(end, _MAX_TRAILING_CHARS)):
        last = address[end - 1]
        opening = _PAIRS.get(last)
        closes = opening is not None and address.count(last, 0, end) > address.count(opening, 0, end)
        if last not in _TRAILING_PUNCTUATION and not closes:
            break
        end -= 1
    return address[:end]
