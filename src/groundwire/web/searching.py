"""The flow of a search: budget, cache, chain, archive."""

from __future__ import annotations

import asyncio
from collections.abc import Sequence
from dataclasses import dataclass

from groundwire.deadline import Deadline
from groundwire.errors import PermissionDenied
from groundwire.models import Query, SearchResponse, SearchResult, Source
from groundwire.routing import Chain, ChainAnswer
from groundwire.routing.bill import Bill
from groundwire.routing.budget import SessionBudget
from groundwire.routing.cache import Cache, Life
from groundwire.routing.cache_keys import search_key
from groundwire.routing.cache_values import life_of_search, pack_search, unpack_search
from groundwire.routing.policy import Strategy
from groundwire.safety.domains import DomainPolicy
from groundwire.safety.secret_scanner import SecretScanner
from groundwire.safety.url_extraction import addresses_in
from groundwire.settings import Settings
from groundwire.storage.archive.store import Archive
from groundwire.web.keeping import age, identity, lifetime
from groundwire.web.known import KnownAddresses
from groundwire.web.sources import SessionSources

__all__ = ["Searching"]


@dataclass(frozen=True, slots=True, kw_only=True)
class Searching:
    """Searches, for one `Web` and all of its sessions."""

    settings: Settings
    """What is in force."""
    chain: Chain
    """Asks the providers."""
    policy: DomainPolicy
    """The operator's domain lists."""
    cache: Cache | None
    """Keeps answers; None keeps nothing."""
    archive: Archive | None
    """Remembers answers for good; None remembers nothing."""
    canaries: SecretScanner
    """Know the secrets that must go out in no query."""
    known: KnownAddresses | None
    """Are told what a session has found; None where it may open any address."""
    sources: SessionSources | None
    """Number what a session is shown; None numbers each answer for itself."""

    async def search(
        self, asked: Query, deadline: Deadline, strategy: Strategy, fresh: bool, budget: SessionBudget
    ) -> SearchResponse:
        """Search within a session's budget; a search that could not be made is given back.

        Args:
            asked: What to search for.
            deadline: When the answer must be here.
            strategy: How to ask the providers.
            fresh: Whether to pass by what is kept.
            budget: The session's.

        Raises:
            BlockedSecret, PermissionDenied, BudgetExceeded, AllProvidersFailed.
        """
        self.canaries.check(asked.text, *asked.allowed_domains, *asked.blocked_domains, what="query")
        if not self.chain.providers:
            raise PermissionDenied("No provider that searches may be used here; the operator can allow one.")
        reservation = await budget.take(self.chain.price_usd)
        bill = budget.bill(reservation)
        try:
            response = await self._kept(asked, deadline, strategy, fresh, bill)
        except BaseException:
            await asyncio.shield(budget.give_back(reservation, bill.close()))
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
        self, asked: Query, deadline: Deadline, strategy: Strategy, fresh: bool, bill: Bill
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
        whole = lifetime(settings.search_ttl, settings.stale_ttl)
        kept = await self.cache.through(
            search_key(asked, names, self.policy, strategy),
            load,
            pack=pack_search,
            unpack=unpack_search,
            life=lambda answer: Life() if answer.stale else life_of_search(answer, whole),
            deadline=deadline,
            bypass=fresh,
        )
        return kept.value.model_copy(update=age(kept.value.warnings, kept.cached, kept.stale, kept.age))


def _response(asked: Query, answer: ChainAnswer) -> SearchResponse:
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
