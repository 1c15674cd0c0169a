"""The nouns: what is asked, what comes back, and what was tried.

Pydantic models where data crosses a border (it is validated and has a JSON form), plain dataclasses inside.
All are frozen.
"""

from groundwire.models.pages import Excerpt, Freshness, Match, Page, ReadResult, Section
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
    Source,
    TimeRange,
)
from groundwire.models.validators import MAX_QUERY

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
    "Section",
    "Source",
    "TimeRange",
]
