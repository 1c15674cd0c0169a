"""The search flow: budget, cache, router, citation numbers."""

from __future__ import annotations

import asyncio
import re
import time
from collections.abc import Awaitable, Callable
from dataclasses import dataclass, field
from functools import partial
from typing import Any, get_args

from groundwire.deadline import Deadline
from groundwire.errors import PermissionDenied
from groundwire.models import Attempt, Query, SearchResponse, Strategy
from groundwire.models.argument_names import SAFE_SEARCHES
from groundwire.models.validators import check_choice, time_range_of
from groundwire.providers.base import is_owned
from groundwire.routing.budget import SessionBudget
from groundwire.routing.cache import Cache, CacheResult, Codec
from groundwire.routing.cache_codec import age, identity, lifetime, partition_of, search_codec, search_key, sources_of
from groundwire.routing.calls import AttemptLog, CacheMode, SearchCall
from groundwire.routing.router import Router
from groundwire.safety.secret_scanner import SecretScanner
from groundwire.safety.tenancy import Owner, Visibility
from groundwire.safety.urls import DomainPolicy
from groundwire.settings import Settings
from groundwire.storage.archive.store import Archive
from groundwire.storage.base import AssignNumbers, Lookup, Store
from groundwire.storage.fallback_store import ResilientStore
from groundwire.telemetry.call_events import CallListeners, SearchDone
from groundwire.web.known_urls import KnownUrls, addresses_in
from groundwire.web.session_sources import SessionSources, taken

__all__ = ["STORAGE_FAILS", "SearchFlow", "StateWarnings"]

_STRATEGIES: tuple[str, ...] = get_args(Strategy)
_COUNTRY_LANGUAGE = re.compile("([a-z]{2})-([a-z]{2})")
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
        self._said: set[str] = set()

    async def __call__(self) -> tuple[str, ...]:
        """Return the warnings for a response."""
        said = []
        if self._store is not None:
            if self._store.degraded:
                said.append(_DEGRADED)
            if self._store.recreated:
                said += self._once(_RECREATED.format("store of cache and budgets"))
        if self._archive is not None:
            await self._archive.open()
            if self._archive.problem:
                said.append(_NO_ARCHIVE)
            if self._archive.recreated:
                said += self._once(_RECREATED.format("archive of earlier searches"))
        return tuple(said)

    def _once(self, text: str) -> list[str]:
        if text in self._said:
            return []
        self._said.add(text)
        return [text]


@dataclass(frozen=True, slots=True, kw_only=True)
class SearchFlow:
    """Searches for one `Web` and all of its sessions."""

    settings: Settings
    """The settings in effect."""
    router: Router
    """The router of provider calls."""
    policy: DomainPolicy
    """The operator's domain lists."""
    cache: Cache | None
    """The cache; None disables it."""
    secrets: SecretScanner
    """The scanner for secrets in queries."""
    known: KnownUrls | None
    """The URLs known to sessions; None allows any."""
    sources: SessionSources | None
    """The numbering of a session's sources; None numbers each response separately."""
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
        names = tuple(identity(provider, self.settings) for provider in self.router.providers)
        object.__setattr__(self, "_names", names)
        owned = any(is_owned(provider) for provider in self.router.providers)
        object.__setattr__(self, "_visibility", "private" if owned else "public")
        lives = lifetime(self.settings.cache.search_ttl, self.settings.cache.stale_ttl)
        object.__setattr__(self, "_codec", search_codec(lives))

    def checked(
        self, query: str, strategy: Strategy | None, *, time_range: str, **filters: Any
    ) -> tuple[Query, Strategy]:
        """Return the arguments of a search as a query and a strategy; None stands for the setting.

        Raises:
            InvalidRequest: an argument is wrong.
        """
        usual = self.settings.search
        for name, default in (("limit", usual.limit), ("safesearch", usual.safesearch)):
            filters[name] = default if filters[name] is None else filters[name]
        filters["safesearch"] = SAFE_SEARCHES.get(str(filters["safesearch"]).lower(), filters["safesearch"])
        region = filters["region"]
        if isinstance(region, str) and (found := _COUNTRY_LANGUAGE.fullmatch(region)):  # as ddgs writes it
            filters["region"] = None if region == "wt-wt" else found[1]
            filters["language"] = filters["language"] or (None if found[2] == "wt" else found[2])
        checked = Query(text=query, time_range=time_range_of(time_range), **filters)
        chosen = usual.strategy if strategy is None else strategy
        check_choice("strategy", chosen, _STRATEGIES)
        return checked, chosen

    async def search(
        self,
        query: Query,
        deadline: Deadline,
        strategy: Strategy,
        cache_mode: CacheMode,
        budget: SessionBudget,
        opener: object,
    ) -> SearchResponse:
        """Search within a session's budget, and notify the listeners; see `Web.search`.

        Args:
            query: What to search for.
            deadline: When the response must be here.
            strategy: How to ask the providers.
            cache_mode: What to do with a cached response.
            budget: The session's.
            opener: Opens the results: see `SearchResult.open`.
        """
        started, attempts = time.perf_counter(), AttemptLog()
        try:
            response = await self._reserved(query, deadline, strategy, cache_mode, budget, attempts, opener)
        except BaseException as error:
            self.call_listeners.search_done(_record(query, strategy, started, error, attempts.entries, budget))
            raise
        self.call_listeners.search_done(_record(query, strategy, started, response, attempts.entries, budget))
        return response

    async def _reserved(
        self,
        query: Query,
        deadline: Deadline,
        strategy: Strategy,
        cache_mode: CacheMode,
        budget: SessionBudget,
        attempts: AttemptLog,
        opener: object,
    ) -> SearchResponse:
        """Reserve, make and settle a search; release one that could not be made."""
        self.secrets.check(query.text, *query.allowed_domains, *query.blocked_domains, what="query")
        if not self.router.providers:
            raise PermissionDenied("No provider that searches may be used here; the operator can allow one.")
        key, look = self._looked_for(query, strategy, cache_mode, budget.owner)
        along = look if self.cache is not None and self.cache.store is budget.store else None
        try:
            reservation = await budget.take(self.router.price_usd, along)
        except BaseException:
            if self.cache is not None and along is not None:
                self.cache.abandon(key)
            raise
        call = SearchCall(
            query=query,
            deadline=deadline,
            cache_mode=cache_mode,
            strategy=strategy,
            owner=budget.owner,
            session=budget.session,
            reservation=reservation,
            ledger=budget.ledger(reservation),
            attempts=attempts,
        )
        try:
            found = await self._cached(call, key, look, budget)
        except BaseException:
            await asyncio.shield(budget.release(reservation, call.ledger.close()))
            raise
        await budget.settle(reservation, call.ledger.close())
        return await self._shown(call, found, budget, opener)

    def _looked_for(
        self, query: Query, strategy: Strategy, cache_mode: CacheMode, owner: Owner
    ) -> tuple[str, Lookup | None]:
        """Return the cache key of a response, and the store operations before the search."""
        if self.cache is None or cache_mode == "bypass":
            return "", None
        partition = partition_of(owner, self._visibility, self.settings.storage.sharing)
        key = search_key(query, self._names, self.policy, strategy, partition=partition)
        return key, self.cache.lookup(key) if cache_mode == "use" else None

    async def _cached(
        self, call: SearchCall, key: str, look: Lookup | None, budget: SessionBudget
    ) -> CacheResult[SearchResponse]:
        """Return a response from the cache or the router; `also` has its numbers, if the store was already read."""
        if self.cache is None or not key:
            return CacheResult(await self.router.search(call))
        sources = self.sources

        def numbering(response: SearchResponse) -> tuple[AssignNumbers, ...]:
            rows = response.results
            return (sources.numbering(budget, rows),) if sources is not None and rows else ()

        found = await self.cache.get_or_load(
            key,
            partial(self.router.search, call),
            call.deadline,
            self._codec,
            owner=call.owner,
            refresh=call.cache_mode == "refresh",
            look=look,
            also=numbering if self.cache.store is budget.store else None,
        )
        if not found.cached and not found.stale:
            return found
        warnings = found.value.warnings
        return found._replace(value=found.value.model_copy(update=age(warnings, found.cached, found.stale, found.age)))

    async def _shown(
        self, call: SearchCall, found: CacheResult[SearchResponse], budget: SessionBudget, opener: object
    ) -> SearchResponse:
        """Return a response for its session, with citation numbers and remaining budget; its results are its own."""
        response, rows = found.value, found.value.results
        if self.known is not None:
            urls = [url for row in rows for url in addresses_in(f"<{row.url}>")]
            await self.known.note(budget, "results", urls)
        if self.sources is not None and call.cache_mode != "bypass":
            numbers = found.also[0] if found.also else None
            rows = await self.sources.number_results(budget, rows, opener, numbers)
        else:
            rows = tuple([taken(row, number, opener) for number, row in enumerate(rows, start=1)])
        warning = budget.warning(call.reservation)
        update = {
            "budget": budget.state(),
            "results": rows,
            "sources": sources_of(rows),
            "warnings": (*response.warnings, *await self.state(), *((warning,) if warning else ())),
        }
        return response.model_copy(update=update)


def _record(
    query: Query,
    strategy: Strategy,
    started: float,
    end: SearchResponse | BaseException,
    attempts: tuple[Attempt, ...],
    budget: SessionBudget,
) -> SearchDone:
    """Return the event for call listeners.

    Args:
        query: What was searched for.
        strategy: How the providers were asked.
        started: When it began, by `time.perf_counter`.
        end: The response, or what was raised.
        attempts: Those of the call itself: one that waited for another's load has made none.
        budget: The session's.
    """
    answer = end if isinstance(end, SearchResponse) else None  # one without results is false, but an answer
    cached = answer is not None and answer.cached
    attempts = () if cached else attempts
    known = budget.state()
    return SearchDone(
        session=budget.session,
        query_length=len(query.text),
        provider=None if answer is None else answer.provider,
        attempts=attempts,
        results=0 if answer is None else len(answer.results),
        seconds=time.perf_counter() - started,
        cached=cached,
        stale=answer is not None and answer.stale,
        error=type(end).__name__ if answer is None else None,
        cost_usd=sum(attempt.cost_usd for attempt in attempts),
        session_count=known.spent if known else None,
        session_limit=known.limit if known else None,
        strategy=strategy,
    )
