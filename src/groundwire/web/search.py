"""The flow of a search: budget, cache, chain, archive."""

from __future__ import annotations

import asyncio
from collections.abc import Sequence
from dataclasses import dataclass

from groundwire.deadline import Deadline
from groundwire.errors import PermissionDenied
from groundwire.models import Query, SearchResponse, SearchResult, Source
from groundwire.routing import Router, RouterResult
from groundwire.routing.budget import SessionBudget
from groundwire.routing.cache import Cache, CacheTtl
from groundwire.routing.cache_codec import (
    age,
    identity,
    life_of_search,
    lifetime,
    pack_search,
    search_key,
    unpack_search,
)
from groundwire.routing.cost_ledger import CostLedger
from groundwire.routing.hedging_policy import Strategy
from groundwire.safety.addresses_in_text import addresses_in
from groundwire.safety.canaries import Canaries
from groundwire.safety.domains import DomainPolicy
from groundwire.settings import Settings
from groundwire.storage.archive import Archive
from groundwire.web.known_urls import KnownUrls
from groundwire.web.session_sources import SessionSources

__all__ = ["SearchFlow"]


@dataclass(frozen=True, slots=True, kw_only=True)
class SearchFlow:
    """Searches, for one `Web` and all of its sessions."""

    settings: Settings
    """What is in force."""
    chain: Router
    """Asks the providers."""
    policy: DomainPolicy
    """The operator's domain lists."""
    cache: Cache | None
    """Keeps answers; None keeps nothing."""
    archive: Archive | None
    """Remembers answers for good; None remembers nothing."""
    canaries: Canaries
    """Know the secrets that must go out in no query."""
    known: KnownUrls | None
    """Are told what a session has found; None where it may open any address."""
    sources: SessionSources | None
    """Number what a session is shown; None numbers each answer for itself."""

    async def search(
        self, asked: Query, deadline: Deadline, strategy: Strategy, refresh: bool, budget: SessionBudget
    ) -> SearchResponse:
        """Search within a session's budget; a search that could not be made is given back.

        Args:
            asked: What to search for.
            deadline: When the answer must be here.
            strategy: How to ask the providers.
            refresh: Whether to skip the cache; the new result is stored.
            budget: The session's.

        Raises:
            BlockedSecret, PermissionDenied, BudgetExceeded, AllProvidersFailed.
        """
        self.canaries.check(asked.text, *asked.allowed_domains, *asked.blocked_domains, what="query")
        if not self.chain.providers:
            raise PermissionDenied("No provider that searches may be used here; the operator can allow one.")
        reservation = await budget.take(self.chain.price_usd)
        bill = budget.ledger(reservation)
        try:
            response = await self._kept(asked, deadline, strategy, refresh, bill)
        except BaseException:
            await asyncio.shield(budget.release(reservation, bill.close()))
            raise
        await budget.settle(reservation, bill.close())
        if self.known is not None:
            await self.known.note(
                budget.session, "results", [url for row in response.results for url in addresses_in(f"<{row.url}>")]
            )
        warning = budget.warning(reservation)
        rows = response.results
        if self.sources is not None:
            rows = await self.sources.number_results(budget, rows)
        update = {
            "budget": budget.state(),
            "results": rows,
            "sources": _sources(rows),
            "warnings": (*response.warnings, *((warning,) if warning else ())),
        }
        return response.model_copy(update=update)

    async def _kept(
        self, asked: Query, deadline: Deadline, strategy: Strategy, refresh: bool, bill: CostLedger
    ) -> SearchResponse:
        """Return an answer from the cache, or from the chain."""

        async def load() -> SearchResponse:
            response = _response(asked, await self.chain.search(asked, deadline, strategy, bill))
            if self.archive is not None:
                self.archive.remember(response)
            return response

        if self.cache is None:
            return await load()
        settings = self.settings.cache
        names = [identity(provider, self.settings) for provider in self.chain.providers]
        whole = lifetime(settings.search_ttl, settings.stale)
        kept = await self.cache.get_or_load(
            search_key(asked, names, self.policy, strategy),
            load,
            pack=pack_search,
            unpack=unpack_search,
            life=lambda answer: CacheTtl() if answer.stale else life_of_search(answer, whole),
            deadline=deadline,
            refresh=refresh,
        )
        return kept.value.model_copy(update=age(kept.value.warnings, kept.cached, kept.stale, kept.age))


def _response(asked: Query, answer: RouterResult) -> SearchResponse:
    """Return what a chain answered, its results numbered from 1."""
    results = tuple(
        row if row.citation_id == number else row.model_copy(update={"citation_id": number})
        for number, row in enumerate(answer.results, start=1)
    )
    return SearchResponse(
        query=asked.text,
        results=results,
        sources=_sources(results),
        provider=answer.provider,
        attempts=answer.attempts,
        filters=answer.filters,
        warnings=answer.warnings,
        stale=answer.stale,
    )


def _sources(results: Sequence[SearchResult]) -> tuple[Source, ...]:
    return tuple(Source(citation_id=row.citation_id, title=row.title, url=row.url) for row in results)
