"""The records that call listeners get when a call has ended."""

from __future__ import annotations

import time
from collections.abc import Sequence

from groundwire.errors import GroundwireError
from groundwire.models import Attempt, Page, Query, SearchResponse
from groundwire.routing.budget import SessionBudget
from groundwire.routing.hedging_policy import Strategy
from groundwire.safety.urls import parse_url
from groundwire.telemetry.call_events import PageDone, SearchDone

__all__ = ["cost_of", "page_done", "search_done"]


def search_done(
    query: Query,
    strategy: Strategy,
    started: float,
    end: SearchResponse | BaseException,
    attempts: tuple[Attempt, ...],
    budget: SessionBudget,
) -> SearchDone:
    """Return how a search ended.

    Args:
        query: What was searched for.
        strategy: How the providers were asked.
        started: When it began, by `time.perf_counter`.
        end: The response, or what was raised.
        attempts: Those of the call itself: one that waited for another's load has made none.
        budget: The session's.
    """
    answer = end if isinstance(end, SearchResponse) else None
    attempts = () if answer and answer.cached else attempts
    known = budget.state()
    return SearchDone(
        session=budget.session,
        query_length=len(query.text),
        provider=answer.provider if answer else None,
        attempts=attempts,
        results=len(answer.results) if answer else 0,
        seconds=time.perf_counter() - started,
        cached=bool(answer and answer.cached),
        stale=bool(answer and answer.stale),
        error=None if answer else type(end).__name__,
        cost_usd=cost_of(attempts),
        session_count=known.spent if known else None,
        session_limit=known.limit if known else None,
        strategy=strategy,
    )


def page_done(
    url: str, attempts: Sequence[Attempt], started: float, end: Page | BaseException, budget: SessionBudget
) -> PageDone:
    """Return how opening a page ended; the arguments are those of `search_done`."""
    page = end if isinstance(end, Page) else None
    try:
        host = parse_url(url).host
    except GroundwireError:
        host = ""
    return PageDone(
        session=budget.session,
        host=host,
        reader=page.reader if page else None,
        attempts=tuple(attempts),
        characters=page.content_length if page else 0,
        seconds=time.perf_counter() - started,
        cached=bool(page and page.cached),
        stale=bool(page and page.stale),
        error=None if page else type(end).__name__,
        cost_usd=cost_of(attempts),
    )


def cost_of(attempts: Sequence[Attempt]) -> float:
    """Return what attempts cost together, in US dollars."""
    return sum(attempt.cost_usd for attempt in attempts)
