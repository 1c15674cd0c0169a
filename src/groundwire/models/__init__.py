"""The data models: queries, results, pages and attempts.

Pydantic models for public data (validated, with a JSON form), plain dataclasses inside. All are frozen. Results and
sources, of which a search makes a dozen, have slots: they are pydantic dataclasses with the methods of a model.
"""

from groundwire.models.pages import Excerpt, Freshness, Match, Page, ReadResult, Section, Source
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
    Strategy,
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
    "Strategy",
    "TimeRange",
]
