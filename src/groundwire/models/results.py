"""What a search brings back."""

from __future__ import annotations

from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass, field
from types import MappingProxyType
from typing import Literal, Self, overload

from groundwire.models.attempts import Attempt
from groundwire.models.noun import Noun

__all__ = [
    "MAX_SNIPPET",
    "MAX_TITLE",
    "MAX_URL",
    "Applied",
    "Budget",
    "FilterReceipt",
    "RateWindow",
    "Results",
    "SearchResponse",
    "SearchResult",
    "Source",
]

Applied = Literal["native", "operator", "post_filter", "not_possible"]
"""Who saw to a filter: the service by a parameter, by words in the query, we afterwards, or nobody."""

MAX_URL = 2_048  # characters, row C4
MAX_TITLE = 500  # characters, row C4
MAX_SNIPPET = 1_000  # characters, row C4


class SearchResult(Noun):
    """One page that a provider found."""

    citation_id: int = 0
    """The number to cite it by: in a session a page keeps its number, new ones go on from there, from 1. 0 until a
    `Web` has numbered it."""
    title: str
    """The page's title as plain text, at most 500 characters."""
    url: str
    """The page's address, as the provider gave it, at most 2,048 characters."""
    snippet: str = ""
    """A passage of the page as plain text, at most 1,000 characters."""
    source: str = ""
    """The provider that found it and, where it says so, the indexes behind it: `searxng (bing, mojeek)`."""
    published: str | None = None
    """When the page was published, ISO 8601 (`2026-11-01` or with a time of day); None means unknown."""
    published_origin: str = ""
    """How the provider said it, when that was not a date: `2 days ago`."""
    score: float | None = None
    """The provider's own measure; comparable within one response only."""


class FilterReceipt(Noun):
    """What became of one filter of a search."""

    filter: str
    """The filter's name, as in the call."""
    applied: Applied
    """Who saw to it."""
    note: str = ""
    """What the reader should know: rows without a date, more domains than a query can hold."""


class Source(Noun):
    """What a citation `[1]` points to."""

    citation_id: int
    """The number in the brackets."""
    title: str
    """The page's title."""
    url: str
    """The page's address."""


class Budget(Noun):
    """What a session may use and has used, in searches."""

    limit: int
    """The most searches of the session."""
    spent: int
    """The searches made so far."""

    @property
    def remaining(self) -> int:
        """The searches that are left."""
        return max(0, self.limit - self.spent)


class SearchResponse(Noun):
    """The answer to a search. No results means: searched, and found nothing."""

    query: str
    """The words that were searched for."""
    results: tuple[SearchResult, ...]
    """What was found, best first."""
    sources: tuple[Source, ...] = ()
    """What each citation number points to."""
    provider: str
    """The provider that answered."""
    attempts: tuple[Attempt, ...] = ()
    """Every try that led here, in order."""
    filters: tuple[FilterReceipt, ...] = ()
    """What became of each filter that was asked for."""
    budget: Budget | None = None
    """What the session may still use; None when it has no limit."""
    warnings: tuple[str, ...] = ()
    """What the reader should know: words cut, filters not honoured, searches running out."""
    cached: bool = False
    """Whether the answer came from the cache."""
    stale: bool = False
    """Whether the answer is older than it should be."""


@dataclass(frozen=True, slots=True, kw_only=True)
class RateWindow:
    """What a service says about one of its limits: so many requests in so many seconds."""

    limit: int | None = None
    """The requests of one window; 0 means no limit, None that it was not said."""
    seconds: float | None = None
    """How long a window is."""
    remaining: int | None = None
    """The requests that are left in this window."""
    reset: float | None = None
    """Seconds until the next window begins."""


@dataclass(frozen=True, slots=True)
class Results(Sequence[SearchResult]):
    """What a search provider returns when it has more to say than a plain list.

    A provider may return any sequence of `SearchResult`; this one carries notes with it.
    """

    items: tuple[SearchResult, ...] = ()
    """The results, best first."""
    partial: bool = False
    """Whether some of the service's own sources failed."""
    warnings: tuple[str, ...] = ()
    """What the reader should know about them."""
    status: int | None = None
    """The HTTP status of the answer."""
    cost_usd: float = 0.0
    """What the answer cost, in US dollars."""
    applied: Mapping[str, Applied] = field(default_factory=lambda: MappingProxyType({}))
    """What the service did about filters, by their names, where it differs from its capabilities."""
    windows: tuple[RateWindow, ...] = ()
    """What the service said about its limits."""

    @classmethod
    def of(cls, rows: Sequence[SearchResult]) -> Self:
        """Return `rows` as `Results`, itself if it is one already."""
        return rows if isinstance(rows, cls) else cls(tuple(rows))

    def __len__(self) -> int:
        return len(self.items)

    def __iter__(self) -> Iterator[SearchResult]:
        return iter(self.items)

    @overload
    def __getitem__(self, index: int) -> SearchResult: ...
    @overload
    def __getitem__(self, index: slice) -> Sequence[SearchResult]: ...
    def __getitem__(self, index: int | slice) -> SearchResult | Sequence[SearchResult]:
        return self.items[index]
