"""The data models: queries, results, pages and attempts.

Pydantic models for public data (validated, with a JSON form), plain dataclasses inside. All are frozen but results and
sources: a search makes a dozen, so these are dataclasses with slots that have the methods of a model and no hash.
"""

from __future__ import annotations

from typing import TYPE_CHECKING

from groundwire.models.search import (
    MAX_LIMIT,
    MAX_PAGE,
    MAX_SNIPPET,
    MAX_TITLE,
    MAX_URL,
    NO_FILTERS,
    Applied,
    Attempt,
    AttemptFinished,
    AttemptStarted,
    Budget,
    Event,
    FilterReceipt,
    Filters,
    Observer,
    Outcome,
    Query,
    RateWindow,
    Results,
    SafeSearch,
    SearchResponse,
    SearchResult,
    SearchSource,
    Source,
    Strategy,
    TimeRange,
)
from groundwire.models.validators import MAX_QUERY

if TYPE_CHECKING:
    from groundwire.models.pages import Excerpt, Freshness, Match, Page, ReadResult, Section, SiteUrl

__all__ = [
    "MAX_LIMIT",
    "MAX_PAGE",
    "MAX_QUERY",
    "MAX_SNIPPET",
    "MAX_TITLE",
    "MAX_URL",
    "NO_FILTERS",
    "Applied",
    "Attempt",
    "AttemptFinished",
    "AttemptStarted",
    "Budget",
    "Event",
    "Excerpt",
    "FilterReceipt",
    "Filters",
    "Freshness",
    "Match",
    "Observer",
    "Outcome",
    "Page",
    "Query",
    "RateWindow",
    "ReadResult",
    "Results",
    "SafeSearch",
    "SearchResponse",
    "SearchResult",
    "SearchSource",
    "Section",
    "SiteUrl",
    "Source",
    "Strategy",
    "TimeRange",
]


def __getattr__(name: str) -> object:
    """Load the models of pages on their first use (PEP 562): a search needs none, and they are slow to make."""
    if name in __all__:
        from groundwire.models import pages

        value = globals()[name] = getattr(pages, name)
        return value
    raise AttributeError(f"module {__name__!r} has no attribute {name!r}")
