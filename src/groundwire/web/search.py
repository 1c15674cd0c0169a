"""The search flow: budget, cache, router, citation numbers."""

from __future__ import annotations

import asyncio
import time
from collections.abc import Awaitable, Callable, Sequence
from dataclasses import dataclass, field, replace
from functools import partial

from groundwire.errors import PermissionDenied
from groundwire.models import SearchResponse
from groundwire.providers.base import SearchProvider, is_owned
from groundwire.routing.cache import Cache, CacheResult, CacheTtl, Codec
from groundwire.routing.cache_codec import (
    age_fields,
    identity,
    partition_of,
    search_codec,
    search_key,
    sources_of,
)
from groundwire.routing.calls import SearchCall
from groundwire.routing.router import Router
from groundwire.safety.secret_scanner import SecretScanner
from groundwire.safety.tenancy import Visibility
from groundwire.settings import Settings
from groundwire.storage.archive.store import Archive
from groundwire.storage.base import AssignNumbers, Lookup, Store
from groundwire.storage.fallback_store import ResilientStore
from groundwire.telemetry.call_events import CallListeners, SearchDone
from groundwire.web.known_urls import KnownUrls, addresses_in
from groundwire.web.session_sources import SessionSources, taken

Search = Callable[[], Awaitable[SearchResponse]]
"""Returns the response to a search."""


_DEGRADED = "the store is unavailable; cache and budgets are in this process's memory until it returns"
_NO_ARCHIVE = "the archive of earlier searches is unavailable; run `groundwire doctor` for details"
STORAGE_FAILS = frozenset({_DEGRADED, _NO_ARCHIVE})
"""The warnings of a result whose reason, which has paths, is in the log."""
_RECREATED = "the {} was damaged: it was moved aside and recreated"


class StateWarnings:
    """Warnings about the store and the archive; none while both work.

    That one was recreated is said once, without its path, as results may leave this machine.

    Args:
        store: The store of a `Web`.
        archive: Its archive; None if it is disabled.
    """

    def __init__(self, store: Store, archive: Archive | None) -> None:
        self._store = store if isinstance(store, ResilientStore) else None
        self._archive = archive
        self._reported: set[str] = set()

    async def __call__(self) -> tuple[str, ...]:
        """Return the warnings for a response."""
        warnings = []
        if self._store is not None:
            if self._store.degraded:
                warnings.append(_DEGRADED)
            if self._store.recreated:
                warnings += self._once(_RECREATED.format("store of cache and budgets"))
        if self._archive is not None:
            await self._archive.open()
            if self._archive.problem:
                warnings.append(_NO_ARCHIVE)
            if self._archive.recreated:
                warnings += self._once(_RECREATED.format("archive of earlier searches"))
        return tuple(warnings)

    def _once(self, text: str) -> list[str]:
        if text in self._reported:
            return []
        self._reported.add(text)
        return [text]


@dataclass(slots=True, kw_only=True, eq=False, repr=False)
class SearchFlow:
    """Searches for one `Web` and all of its sessions."""

    settings: Settings
    """The settings in effect."""
    router: Router
    """The router of provider calls."""
    cache: Cache | None
    """The cache; None disables it."""
    secrets: SecretScanner
    """The scanner for secrets in queries."""
    known_urls: KnownUrls | None
    """The URLs known to sessions; None allows any."""
    sources: SessionSources
    """The numbering of a session's sources."""
    call_listeners: CallListeners
    """Called at the end of a call."""
    state: Callable[[], Awaitable[tuple[str, ...]]]
    """Returns warnings about the store and the archive."""
    _names: tuple[str, ...] = field(init=False)
    """What distinguishes the providers from others of the same name."""
    _visibility: Visibility = field(init=False)
    """`private` if the results of a provider depend on whose call it is."""
    _codec: Codec[SearchResponse] = field(init=False)
    """How responses are stored."""

    def __post_init__(self) -> None:
        self._names = tuple(identity(provider, self.settings) for provider in self.router.providers)
        owned = any(is_owned(provider) for provider in self.router.providers)
        self._visibility = "private" if owned else "public"
        self._codec = search_codec(CacheTtl(self.settings.cache.search_ttl, self.settings.cache.stale_ttl))

    def restricted(self, providers: Sequence[SearchProvider]) -> SearchFlow:
        """Return a copy with only some of the providers, in order."""
        return replace(self, router=self.router.restricted(providers))

    async def search(self, call: SearchCall, other: Search | None = None) -> SearchResponse:
        """Search within a session's budget, and notify the listeners; see `Web.search`.

        Args:
            call: The search.
            other: Answers it instead of the providers, free and from this machine.
        """
        started = time.perf_counter()
        try:
            response = await (self._search(call) if other is None else self._answer(call, other))
        except BaseException as error:
            self.call_listeners.search_done(_record(call, started, error))
            raise
        self.call_listeners.search_done(_record(call, started, response))
        return response

    async def _answer(self, call: SearchCall, other: Search) -> SearchResponse:
        """Count a call of the day, as for a page, and make it."""
        async with call.paid_from(await call.budget.take_page()):
            result = CacheResult(await other())
        return await self._number(call, result)

    async def _search(self, call: SearchCall) -> SearchResponse:
        """Reserve, make and settle a search; release one that could not be made."""
        self.secrets.check(call.query.text, *call.query.allowed_domains, *call.query.blocked_domains, what="query")
        if not self.router.providers:
            raise PermissionDenied("No provider that searches may be used here; the operator can allow one.")
        key = self._key(call)
        lookup = self.cache.lookup(key) if self.cache is not None and call.cache_mode == "use" else None
        await self._reserve(call, key, lookup)
        try:
            result = await self._cached(call, key, lookup)
        except BaseException:
            await asyncio.shield(call.budget.settle(call.reservation, call.ledger.close(), searches=0))
            raise
        await call.budget.settle(call.reservation, call.ledger.close())
        return await self._number(call, result)

    def _key(self, call: SearchCall) -> str:
        """Return the key of a response in the cache; empty if nothing may be stored."""
        if self.cache is None or call.cache_mode == "bypass":
            return ""
        partition = partition_of(call.owner, self._visibility)
        return search_key(call.query, self._names, call.policy, call.strategy, partition=partition)

    async def _reserve(self, call: SearchCall, key: str, lookup: Lookup | None) -> None:
        """Count a search and reserve its price; a store that has both budget and cache is read in the same operation.

        Raises:
            BudgetExceeded: no search, or not enough money, is left.
        """
        along = lookup if self.cache is not None and self.cache.store is call.budget.store else None
        try:
            call.pay_from(await call.budget.take(self.router.price_usd, along))
        except BaseException:
            if self.cache is not None and along is not None:
                self.cache.abandon(key)
            raise

    async def _cached(self, call: SearchCall, key: str, lookup: Lookup | None) -> CacheResult[SearchResponse]:
        """Return a response from the cache or the router; `also` has its numbers, if the store was already read."""
        if self.cache is None or not key:
            return CacheResult(await self.router.search(call))

        def numbering(response: SearchResponse) -> tuple[AssignNumbers, ...]:
            rows = response.results
            return (self.sources.numbering(call.budget, rows),) if rows else ()

        result = await self.cache.get_or_load(
            key,
            partial(self.router.search, call),
            call.deadline,
            self._codec,
            owner=call.owner,
            refresh=call.cache_mode == "refresh",
            look=lookup,
            also=numbering if self.cache.store is call.budget.store else None,
        )
        if not result.cached and not result.stale:
            return result
        update = age_fields(result.value.warnings, result.cached, result.stale, result.age)
        return result._replace(value=result.value.model_copy(update=update))

    async def _number(self, call: SearchCall, result: CacheResult[SearchResponse]) -> SearchResponse:
        """Return a response for its session, with citation numbers and remaining budget; its results are its own."""
        response, rows = result.value, result.value.results
        if self.known_urls is not None:
            urls = [url for row in rows for url in addresses_in(f"<{row.url}>")]
            await self.known_urls.note(call.budget, "results", urls)
        if call.cache_mode != "bypass":
            numbers = result.also[0] if result.also else None
            rows = await self.sources.number_results(call.budget, rows, call.opener, numbers)
        else:
            rows = tuple([taken(row, number, call.opener) for number, row in enumerate(rows, start=1)])
        warning = call.budget.warning(call.reservation)
        update = {
            "budget": call.budget.state(),
            "results": rows,
            "sources": sources_of(rows),
            "warnings": (*response.warnings, *await self.state(), *((warning,) if warning else ())),
        }
        return response.model_copy(update=update)


def _record(call: SearchCall, started: float, end: SearchResponse | BaseException) -> SearchDone:
    """Return the event for call listeners.

    Args:
        call: The search. Its attempts are its own: one that waited for another's load has made none.
        started: When it began, by `time.perf_counter`.
        end: The response, or what was raised.
    """
    response = end if isinstance(end, SearchResponse) else None  # one without results is false, but an answer
    cached = response is not None and response.cached
    attempts = () if cached else tuple(call.attempts)
    budget = call.budget.state()
    return SearchDone(
        session=call.budget.session,
        query_length=len(call.query.text),
        provider=None if response is None else response.provider,
        attempts=attempts,
        results=0 if response is None else len(response.results),
        seconds=time.perf_counter() - started,
        cached=cached,
        stale=response is not None and response.stale,
        error=type(end).__name__ if response is None else None,
        cost_usd=sum(attempt.cost_usd for attempt in attempts),
        session_count=budget.spent if budget else None,
        session_limit=budget.limit if budget else None,
        strategy=call.strategy,
    )
