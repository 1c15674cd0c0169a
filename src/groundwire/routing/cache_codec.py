"""Storage format of cached values: keys, bytes, and time to live."""

from __future__ import annotations

import hashlib
import struct
from collections.abc import Callable, Sequence
from dataclasses import fields
from functools import partial
from operator import attrgetter
from typing import TYPE_CHECKING, Generic, NamedTuple, NewType, TypeVar

from pydantic_core import to_json

from groundwire.models import Query, SearchResponse, SearchResult, Source
from groundwire.providers import ReadProvider, SearchProvider
from groundwire.providers.registry import PlainProvider
from groundwire.safety.tenancy import Owner, Visibility
from groundwire.safety.urls import DomainPolicy, WebUrl
from groundwire.settings import Settings
from groundwire.storage.base import Answer, Entry

if TYPE_CHECKING:
    from groundwire.models import Page

_HEAD = struct.Struct("<2sd")  # before each value: the format, and the seconds of freshness
_FORM = b"g2"

_T = TypeVar("_T")

Partition = NewType("Partition", str)
"""A partition of a store; created by `partition_of`."""


def partition_of(owner: Owner, visibility: Visibility) -> Partition:
    """Return the partition in which data is stored and looked up.

    Args:
        owner: The owner.
        visibility: Whether it is public by construction: then all who have no tenant share it.
    """
    return Partition("shared" if visibility == "public" and not owner.tenant else owner.key)


class CacheTtl(NamedTuple):
    """The time to live of a value, in seconds; all zero: not cached. The phases are consecutive."""

    fresh: float = 0.0
    """Seconds for which it is fresh."""
    stale: float = 0.0
    """Seconds after those for which it is returned only if loading fails (RFC 5861, stale-if-error)."""


class Codec(NamedTuple, Generic[_T]):
    """How values of one kind are stored."""

    encode: Callable[[_T], bytes]
    """Serializes a value."""
    decode: Callable[[bytes], _T]
    """Deserializes a value; ValueError means that it is unusable, as if there were none."""
    ttl: Callable[[_T], CacheTtl]
    """Returns the time to live of a value."""


class CacheResult(NamedTuple, Generic[_T]):
    """A value and its origin."""

    value: _T
    """The value."""
    cached: bool = False
    """Whether this call did not load it: it was cached, or loaded by a concurrent call."""
    stale: bool = False
    """Whether it is stale."""
    age: float = 0.0
    """Seconds since it was fetched."""
    also: tuple[Answer, ...] = ()
    """The store's responses to the caller's own operations, if they were combined with storing the value."""


def encode_entry(data: bytes, life: CacheTtl) -> bytes:
    """Return the bytes to store for a serialized value."""
    return _HEAD.pack(_FORM, life.fresh) + data


def decode_entry(entry: Entry, unpack: Callable[[bytes], _T], now: float) -> CacheResult[_T]:
    """Return the value of an entry and its age.

    Raises:
        ValueError: the bytes are not in this format, or `unpack` rejects them.
    """
    if len(entry.value) < _HEAD.size:
        raise ValueError("too short")
    form, fresh = _HEAD.unpack_from(entry.value)
    if form != _FORM:
        raise ValueError(f"the form {form!r}")
    # The store gives the end of freshness in the reader's clock, so the age is right though the writer's was not.
    return CacheResult(
        unpack(entry.value[_HEAD.size :]),
        cached=True,
        stale=entry.fresh_until <= now,
        age=max(0.0, now - (entry.fresh_until - fresh)),
    )


_AS_SETS = frozenset({"text", "allowed_domains", "blocked_domains"})  # compared in another form
_FILTERS = tuple(field.name for field in fields(Query) if field.name not in _AS_SETS)
_values = attrgetter(*_FILTERS)
_KEY_FORM = 2  # version of keys and values; a change invalidates everything stored before


def search_key(
    query: Query, providers: Sequence[str], policy: DomainPolicy, extra: str = "", *, partition: Partition
) -> str:
    """Return the cache key of a search.

    White space is normalized; case and accents are kept, as services treat them differently. Domain lists are sets, and
    the order of providers matters.

    Args:
        query: The query with all its filters.
        providers: The names of the providers in the order in which they would be asked.
        policy: The operator's domain lists.
        extra: Anything else that affects the response: the strategy, the providers' options.
        partition: The partition of the store.
    """
    lists = (query.allowed_domains, query.blocked_domains, policy.allowed, policy.blocked)
    request = (" ".join(query.text.split()), *_values(query), *map(_as_set, lists))
    return _key("search", partition, (request, tuple(providers), extra))


def page_key(url: WebUrl, readers: Sequence[str], extra: str = "", *, partition: Partition) -> str:
    """Return the cache key of a page, without the fragment, which is never sent.

    Args:
        url: The page's address.
        readers: The names of the readers in the order in which they would be asked.
        extra: Anything else that affects the page.
        partition: The partition of the store.
    """
    return _key("page", partition, (url.request_text, tuple(readers), extra))


def _as_set(names: Sequence[str]) -> tuple[str, ...]:
    return tuple(sorted(set(names))) if names else ()


def _key(kind: str, partition: Partition, parts: tuple[object, ...]) -> str:
    # A literal of Python keeps apart what joining would merge, and escapes lone surrogates.
    return f"{kind}:{_KEY_FORM}:{partition}:{hashlib.sha256(ascii(parts).encode('ascii')).hexdigest()}"


_SHORT = 60.0  # seconds; a response that may be better next time is cached only against immediate repetition
_REQUIRED = frozenset({"query", "results", "provider"})
_OF_THE_CALL = frozenset({"budget", "cached", "stale"})  # specific to one call, not to the response
_ROW_FIELDS = tuple(field.name for field in fields(SearchResult))
_row_values = attrgetter(*_ROW_FIELDS)


def pack_search(answer: SearchResponse) -> bytes:
    """Serialize a response, without fields specific to one call (its budget and origin)."""
    attempts = tuple([attempt for attempt in answer.attempts if attempt.outcome != "quota"])
    if len(attempts) < len(answer.attempts):
        answer = answer.model_copy(update={"attempts": attempts})
    fields = vars(answer).items()
    values = {key: value for key, value in fields if key not in _OF_THE_CALL and (value or key in _REQUIRED)}
    # Not `model_dump_json`: to build its serializer takes longer than the first search of a process. Rows as
    # dictionaries are written in half the time.
    values["results"] = [dict(zip(_ROW_FIELDS, _row_values(row), strict=True)) for row in answer.results]
    for key in values.keys() & {"attempts", "filters"}:
        values[key] = [vars(item) for item in values[key]]
    return to_json(values, inf_nan_mode="null")


def unpack_search(data: bytes) -> SearchResponse:
    """Deserialize a response.

    Raises:
        ValueError: the bytes are invalid, or of a version with other fields.
    """
    return SearchResponse.model_validate_json(data)


def sources_of(results: Sequence[SearchResult]) -> tuple[Source, ...]:
    """Return the sources to cite results by."""
    return tuple([Source(citation_id=row.citation_id, title=row.title, url=row.url) for row in results])


def pack_page(page: Page) -> bytes:
    """Serialize a page as JSON, after a line with its caching headers."""
    head = b"" if page.freshness is None else page.freshness.model_dump_json().encode()
    return head + b"\n" + page.model_dump_json().encode()


def unpack_page(data: bytes) -> Page:
    """Deserialize a page.

    Raises:
        ValueError: the bytes are invalid, or of a version with other fields.
    """
    from groundwire.models import Freshness, Page

    head, _, body = data.partition(b"\n")
    page = Page.model_validate_json(body)
    return page.model_copy(update={"freshness": Freshness.model_validate_json(head)}) if head else page


def search_ttl(answer: SearchResponse, good_ttl: CacheTtl) -> CacheTtl:
    """Return the time to live of a response: at most a minute, and never stale, if it is empty or partial.

    A response that is itself stale is not cached.

    Args:
        answer: The answer.
        good_ttl: The time to live of a good response.
    """
    if answer.stale:
        return CacheTtl()
    in_part = any(attempt.outcome == "partial" for attempt in answer.attempts)
    return good_ttl if answer.results and not in_part else CacheTtl(min(good_ttl.fresh, _SHORT))


def page_ttl(page: Page, good_ttl: CacheTtl) -> CacheTtl:
    """Return the time to live of a page: at most that of the settings, and less if its server requires it.

    A minute is the minimum, so that a page that is read piece by piece is fetched once. A page without text, or with
    `no-store`, is cached for that minute and never stale.

    Args:
        page: What a reader returned.
        good_ttl: The time to live of a good page.
    """
    if page.stale:
        return CacheTtl()
    freshness = page.freshness
    if not page.content.strip() or (freshness is not None and freshness.no_store):
        return CacheTtl(min(good_ttl.fresh, _SHORT))
    if freshness is None or freshness.seconds is None:
        return good_ttl
    return CacheTtl(min(good_ttl.fresh, max(freshness.seconds, _SHORT)), good_ttl.stale)


def identity(provider: SearchProvider | ReadProvider, settings: Settings) -> str:
    """Return what distinguishes a provider from another of the same name: its kind and options."""
    of_class = f"{type(provider).__module__}.{type(provider).__qualname__}"
    kind = provider.kind if isinstance(provider, PlainProvider) else of_class
    options = sorted((key, str(value)) for key, value in settings.providers.get(provider.name, {}).items())
    return f"{provider.name} {kind} {options}"


def search_codec(good_ttl: CacheTtl) -> Codec[SearchResponse]:
    """Return how responses are stored; `good_ttl` is the time to live of a good one."""
    return Codec(pack_search, unpack_search, partial(search_ttl, good_ttl=good_ttl))


def page_codec(good_ttl: CacheTtl) -> Codec[Page]:
    """Return how pages are stored; `good_ttl` is the time to live of a good one."""
    return Codec(pack_page, unpack_page, partial(page_ttl, good_ttl=good_ttl))


def age_fields(warnings: tuple[str, ...], cached: bool, stale: bool, seconds: float) -> dict[str, object]:
    """Return the fields of a value that describe its age."""
    if not stale:
        return {"cached": cached}
    warning = f"this result is {seconds / 60:,.0f} minutes old; a new one is not available"
    return {"cached": cached, "stale": True, "warnings": (warning, *warnings)}
