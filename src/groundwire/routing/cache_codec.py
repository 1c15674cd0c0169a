"""What is stored for a cached value: its key, its bytes, and how long it may be served."""

from __future__ import annotations

import hashlib
import json
import struct
from collections.abc import Callable, Sequence
from dataclasses import dataclass, fields
from functools import partial
from typing import Generic, TypeVar

from groundwire.models import Freshness, Page, Query, SearchResponse, SearchResult, Source
from groundwire.providers import ReadProvider, SearchProvider
from groundwire.safety.domains import DomainPolicy
from groundwire.safety.tenancy import Partition
from groundwire.safety.urls import WebUrl
from groundwire.settings import Settings
from groundwire.storage.base import Answer, Entry

__all__ = [
    "CacheEntry",
    "CacheResult",
    "CacheTtl",
    "Codec",
    "age",
    "decode_entry",
    "encode_entry",
    "identity",
    "lifetime",
    "pack_page",
    "pack_search",
    "page_codec",
    "page_key",
    "page_ttl",
    "search_codec",
    "search_key",
    "search_ttl",
    "sources_of",
    "unpack_page",
    "unpack_search",
]

_HEAD = struct.Struct("<2sdd")  # before each value: the form, and the seconds of its freshness and staleness
_FORM = b"g1"

_T = TypeVar("_T")


@dataclass(frozen=True, slots=True)
class CacheTtl:
    """For how long a value is kept, in seconds; all zero: not at all. The phases follow one another."""

    fresh: float = 0.0
    """Seconds for which it is fresh."""
    stale: float = 0.0
    """Seconds for which it is returned and refreshed in the background (RFC 5861, stale-while-revalidate)."""
    error: float = 0.0
    """Seconds for which it is returned only if loading fails (RFC 5861, stale-if-error)."""


@dataclass(frozen=True, slots=True)
class Codec(Generic[_T]):
    """How values of one kind are stored."""

    encode: Callable[[_T], bytes]
    """Turns a value into bytes."""
    decode: Callable[[bytes], _T]
    """Turns bytes into a value; ValueError means that they are of no use, as if there were none."""
    ttl: Callable[[_T], CacheTtl]
    """Says how long a value is kept."""


@dataclass(frozen=True, slots=True)
class CacheResult(Generic[_T]):
    """A value and where it came from."""

    value: _T
    """The value."""
    cached: bool = False
    """Whether this call was spared the fetching: it was kept, or another call fetched it meanwhile."""
    stale: bool = False
    """Whether it is older than it should be."""
    age: float = 0.0
    """Seconds since it was fetched."""
    also: tuple[Answer, ...] = ()
    """What the store answered to the caller's own operations, when they went along with keeping the value."""


@dataclass(frozen=True, slots=True)
class CacheEntry(Generic[_T]):
    """What a store had."""

    kept: CacheResult[_T]
    """The value."""
    at_once: bool
    """Whether it may be returned without trying to fetch."""


def encode_entry(data: bytes, life: CacheTtl) -> bytes:
    """Return the bytes to keep for a packed value."""
    return _HEAD.pack(_FORM, life.fresh, life.stale) + data


def decode_entry(entry: Entry, unpack: Callable[[bytes], _T], now: float) -> CacheEntry[_T]:
    """Return the value of an entry and how old it is.

    Raises:
        ValueError: the bytes are not of this form, or `unpack` does not want them.
    """
    if len(entry.value) < _HEAD.size:
        raise ValueError("too short")
    form, fresh, stale = _HEAD.unpack_from(entry.value)
    if form != _FORM:
        raise ValueError(f"the form {form!r}")
    # The store gives the end of freshness in the reader's clock, so the age is right though the writer's was not.
    kept = CacheResult(
        unpack(entry.value[_HEAD.size :]),
        cached=True,
        stale=entry.fresh_until <= now,
        age=max(0.0, now - (entry.fresh_until - fresh)),
    )
    return CacheEntry(kept, at_once=now < entry.fresh_until + stale)


_ASKED = tuple(field.name for field in fields(Query))
_KEY_FORM = 1  # of keys and kept values; another number makes everything that was kept before unknown


def search_key(
    query: Query, providers: Sequence[str], policy: DomainPolicy, extra: str = "", *, partition: Partition
) -> str:
    """Return the name of a search's answer.

    Words that differ in white space only are the same words; case and accents stay, as services treat them
    differently. Domain lists are sets, and the order of providers counts.

    Args:
        query: What is asked, with all its filters.
        providers: The names of the providers in the order in which they would be asked.
        policy: The operator's domain lists.
        extra: Whatever else changes the answer: the strategy, the providers' options.
        partition: The part of the store that it belongs to.
    """
    asked = {name: getattr(query, name) for name in _ASKED}
    asked["text"] = " ".join(query.text.split())
    for name in ("allowed_domains", "blocked_domains"):
        asked[name] = _as_set(asked[name])
    return _key("search", partition, [asked, list(providers), _as_set(policy.allowed), _as_set(policy.blocked), extra])


def page_key(url: WebUrl, readers: Sequence[str], extra: str = "", *, partition: Partition) -> str:
    """Return the name of a page as read; the fragment is left out, as it never reaches the network.

    Args:
        url: The page's address.
        readers: The names of the readers in the order in which they would be asked.
        extra: Whatever else changes what is read.
        partition: The part of the store that it belongs to.
    """
    return _key("page", partition, [url.request_text, list(readers), extra])


def _as_set(names: Sequence[str]) -> list[str]:
    return sorted(set(names))


def _key(kind: str, partition: Partition, parts: list[object]) -> str:
    # JSON keeps apart what a plain joining of texts would run together, and escapes lone surrogates.
    text = json.dumps(parts, sort_keys=True, separators=(",", ":"), default=str)
    return f"{kind}:{_KEY_FORM}:{partition}:{hashlib.sha256(text.encode('ascii')).hexdigest()}"


_SHORT = 60.0  # seconds; an answer that may be better the next time is kept only against being asked again at once
_OF_THE_CALL = frozenset({"budget", "cached", "stale"})  # true of one call and not of the answer


def pack_search(answer: SearchResponse) -> bytes:
    """Return an answer as JSON, without what is true of one call only (its money, where it came from)."""
    attempts = tuple(attempt for attempt in answer.attempts if attempt.outcome != "quota")
    if len(attempts) < len(answer.attempts):
        answer = answer.model_copy(update={"attempts": attempts})
    return answer.model_dump_json(exclude=set(_OF_THE_CALL), exclude_defaults=True).encode()


def unpack_search(data: bytes) -> SearchResponse:
    """Return the answer that `pack_search` was given.

    Raises:
        ValueError: these are no such bytes, or those of a version that had other fields.
    """
    return SearchResponse.model_validate_json(data)


def sources_of(results: Sequence[SearchResult]) -> tuple[Source, ...]:
    """Return the sources to cite results by."""
    return tuple(Source(citation_id=row.citation_id, title=row.title, url=row.url) for row in results)


def pack_page(page: Page) -> bytes:
    """Return a page as JSON, after a line with what its server said about keeping it."""
    head = b"" if page.freshness is None else page.freshness.model_dump_json().encode()
    return head + b"\n" + page.model_dump_json().encode()


def unpack_page(data: bytes) -> Page:
    """Return the page that `pack_page` was given.

    Raises:
        ValueError: these are no such bytes, or those of a version that had other fields.
    """
    head, _, body = data.partition(b"\n")
    page = Page.model_validate_json(body)
    return page.model_copy(update={"freshness": Freshness.model_validate_json(head)}) if head else page


def search_ttl(answer: SearchResponse, whole: CacheTtl) -> CacheTtl:
    """Return how long a search's answer is kept: a minute at most, and never stale, when it is empty or in part.

    One that is stale itself is not kept at all.

    Args:
        answer: The answer.
        whole: The life of a good one.
    """
    if answer.stale:
        return CacheTtl()
    in_part = any(attempt.outcome == "partial" for attempt in answer.attempts)
    return whole if answer.results and not in_part else CacheTtl(min(whole.fresh, _SHORT))


def page_ttl(page: Page, whole: CacheTtl) -> CacheTtl:
    """Return how long a page is kept: at most as long as the settings say, and less if its server says less.

    A minute is the least, so that who reads a page piece by piece reads one page, and its site is asked once. A page
    without text, and one that should not be kept at all (`no-store`), stay for that minute and are never stale. One
    that its server wants to be asked about is never given stale at once, only in place of a failure.

    Args:
        page: What a reader returned.
        whole: The life of a good one.
    """
    if page.stale:
        return CacheTtl()
    said = page.freshness
    if not page.content.strip() or (said is not None and said.no_store):
        return CacheTtl(min(whole.fresh, _SHORT))
    if said is None:
        return whole
    fresh = whole.fresh if said.seconds is None else min(whole.fresh, max(said.seconds, _SHORT))
    if fresh < whole.fresh or said.must_ask:
        return CacheTtl(fresh, 0.0, whole.stale + whole.error)
    return whole


_LONGEST_STALE = 3_600.0  # seconds for which a stale answer is given at once


def identity(provider: SearchProvider | ReadProvider, settings: Settings) -> str:
    """Return what tells a provider from another of its name: its kind, and the options it was given."""
    options = sorted((key, str(value)) for key, value in settings.providers.get(provider.name, {}).items())
    return f"{provider.name} {type(provider).__module__}.{type(provider).__qualname__} {options}"


def lifetime(fresh: float, stale: float) -> CacheTtl:
    """Return how long an answer is kept: fresh, then stale for an hour at most, then only to stand in for a failure.

    Args:
        fresh: Seconds.
        stale: Seconds after those.
    """
    return CacheTtl(fresh, min(stale, _LONGEST_STALE), max(0.0, stale - _LONGEST_STALE))


def search_codec(whole: CacheTtl) -> Codec[SearchResponse]:
    """Return how responses are stored; `whole` is the time to live of a good one."""
    return Codec(pack_search, unpack_search, partial(search_ttl, whole=whole))


def page_codec(whole: CacheTtl) -> Codec[Page]:
    """Return how pages are stored; `whole` is the time to live of a good one."""
    return Codec(pack_page, unpack_page, partial(page_ttl, whole=whole))


def age(warnings: tuple[str, ...], cached: bool, stale: bool, seconds: float) -> dict[str, object]:
    """Return what a caller should know of a value's age, as fields of the value."""
    if not stale:
        return {"cached": cached}
    said = f"this answer is {seconds / 60:,.0f} minutes old; it could not be refreshed yet"
    return {"cached": cached, "stale": True, "warnings": (*warnings, said)}
