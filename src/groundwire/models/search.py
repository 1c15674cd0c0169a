"""What a search brings back.

What is asked: the words, and what a result must satisfy.
"""

from __future__ import annotations

import re
from collections.abc import Callable, Iterator, Mapping, Sequence
from dataclasses import dataclass, field
from datetime import date
from types import MappingProxyType
from typing import Any, Final, Literal, Self, get_args, overload

from groundwire.errors import InvalidRequest
from groundwire.models.validators import (
    FrozenModel,
    check_choice,
    check_date,
    check_domains,
    check_int,
    check_pattern,
    check_text,
)

__all__ = [
    "LOW_BUDGET",
    "MAX_LIMIT",
    "MAX_PAGE",
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
    "FilterReceipt",
    "Filters",
    "Observer",
    "Outcome",
    "Query",
    "RateWindow",
    "Results",
    "SafeSearch",
    "SearchResponse",
    "SearchResult",
    "Source",
    "TimeRange",
]

Outcome = Literal[
    "ok",
    "empty",
    "partial",
    "rate_limited",
    "quota",
    "auth",
    "bad_request",
    "blocked",
    "unsupported",
    "timeout",
    "network",
    "invalid_response",
    "unavailable",
]
"""How one attempt ended."""


class Attempt(FrozenModel):
    """One request to one provider within a call, with its outcome."""

    provider: str
    """The provider's name."""
    outcome: Outcome
    """How it ended."""
    reason: str = ""
    """Why, in a few words, unless it went well."""
    status: int | None = None
    """The HTTP status, when there was one."""
    latency_ms: int = 0
    """How long it took, in milliseconds."""
    cost_usd: float = 0.0
    """What it cost, in US dollars."""
    retry_after: float | None = None
    """Seconds after which the service itself says it may be asked again."""
    abandoned: bool = False
    """Whether it was still running when another provider answered: it says nothing about this one."""

    def describe(self) -> str:
        """Return the attempt as one line for a person."""
        status = f", HTTP {self.status}" if self.status else ""
        reason = f": {self.reason}" if self.reason else ""
        again = f" (may be asked again in {self.retry_after:g} s)" if self.retry_after else ""
        return f"{self.provider} {self.outcome}{status} after {self.latency_ms} ms{reason}{again}"


@dataclass(frozen=True, slots=True)
class AttemptStarted:
    """A provider is being asked now."""

    provider: str
    """The provider's name."""


@dataclass(frozen=True, slots=True)
class AttemptFinished:
    """A provider has answered, or failed."""

    attempt: Attempt
    """What became of it."""


Event = AttemptStarted | AttemptFinished
"""What an attempt listener receives while a call runs."""

Observer = Callable[[Event], None]
"""A function that receives the events of attempts; it must return at once and must not raise."""


Applied = Literal["native", "operator", "post_filter", "not_possible"]
"""What applied a filter: the service by a parameter, operators in the query, we afterwards, or nothing."""

MAX_URL = 2_048  # characters
MAX_TITLE = 500  # characters
MAX_SNIPPET = 1_000  # characters


class SearchResult(FrozenModel):
    """One page that a provider found."""

    # Beside the fields: the address, read once (`routing.result_merging.Address`), and what found the row.
    __slots__ = ("_address", "_opener")

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

    def open(self, **options: Any) -> Any:
        """Read this page with what found it.

        Args:
            options: The arguments of `Web.open_page`, besides the address.

        Returns:
            The `Page`; from a `Web`, which is asynchronous, an awaitable of it.

        Raises:
            TypeError: this result was not returned by a search of this process. GroundwireError: see `Web.open_page`.
        """
        opener = getattr(self, "_opener", None)
        if opener is None:
            raise TypeError("This result was not returned by a search of this process: use open_page(result.url).")
        return opener.open_page(self.url, **options)


class FilterReceipt(FrozenModel):
    """What became of one filter of a search."""

    filter: str
    """The filter's name, as in the call."""
    applied: Applied
    """Who saw to it."""
    note: str = ""
    """What the reader should know: rows without a date, more domains than a query can hold."""


class Source(FrozenModel):
    """What a citation `[1]` points to."""

    citation_id: int
    """The number in the brackets."""
    title: str
    """The page's title."""
    url: str
    """The page's address."""


LOW_BUDGET: Final = re.compile(r"Searches left in this session: ([0-9]+) of [0-9]+\.")
"""The warning of a response whose session comes near its limit; tools have another one for models."""


class Budget(FrozenModel):
    """What a session may use and has used, in searches."""

    limit: int
    """The most searches of the session."""
    spent: int
    """The searches made so far."""

    @property
    def remaining(self) -> int:
        """The searches that are left."""
        return max(0, self.limit - self.spent)


class SearchResponse(FrozenModel):
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
    """What the reader should know: words cut, filters not honored, searches running out."""
    cached: bool = False
    """Whether the answer came from the cache."""
    stale: bool = False
    """Whether the answer is older than it should be."""

    def opened_by(self, opener: object) -> Self:
        """Return the response with results whose `open` uses the `open_page` of a `Web`."""
        rows = tuple(row.model_copy() for row in self.results)  # others may have been given the same rows
        for row in rows:
            object.__setattr__(row, "_opener", opener)
        return self.model_copy(update={"results": rows})

    def __len__(self) -> int:
        return len(self.results)

    def __iter__(self) -> Iterator[SearchResult]:  # type: ignore[override]  # over the results, not over the fields
        return iter(self.results)

    @overload
    def __getitem__(self, index: int) -> SearchResult: ...
    @overload
    def __getitem__(self, index: slice) -> tuple[SearchResult, ...]: ...
    def __getitem__(self, index: int | slice) -> SearchResult | tuple[SearchResult, ...]:
        try:
            return self.results[index]
        except TypeError:
            raise TypeError("A response is a sequence of results: use response[0], or response.results.") from None

    def __str__(self) -> str:
        rows = (f"{row.citation_id}. {row.title}\n   {row.url}\n   {row.snippet}".rstrip() for row in self.results)
        return "\n\n".join(rows) or f"No results found for: {self.query}"


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


TimeRange = Literal["d", "w", "m", "y", "all"]
"""How recent a result must be: a day, a week, a month, a year, or any age."""

SafeSearch = Literal["off", "moderate", "strict"]
"""How strictly a provider should filter explicit results."""

_TIME_RANGES, _SAFE_SEARCH = get_args(TimeRange), get_args(SafeSearch)
MAX_LIMIT = 50  # results; no provider of the reference gives more than 20 to 50 for one request
MAX_PAGE = 10  # pages of results; Brave's own limit, and more than anybody reads


@dataclass(frozen=True, slots=True, kw_only=True)
class Filters:
    """What a result must satisfy beyond matching the words."""

    allowed_domains: tuple[str, ...] = ()
    """Only these domains and their sub-domains; empty means every domain."""
    blocked_domains: tuple[str, ...] = ()
    """Never these domains nor their sub-domains."""
    time_range: TimeRange = "all"
    """How recent a result must be."""
    published_after: date | None = None
    """The first day on which a result may have been published."""
    published_before: date | None = None
    """The last day on which a result may have been published."""
    language: str | None = None
    """A BCP 47 language tag such as `en` or `pt-BR`."""
    region: str | None = None
    """An ISO 3166-1 country code of two letters such as `us`."""
    safesearch: SafeSearch = "moderate"
    """How strictly a provider should filter explicit results."""
    page: int = 1
    """Which page of results, from 1 to 10."""


NO_FILTERS = Filters()
"""Every result will do."""


@dataclass(frozen=True, slots=True, kw_only=True)
class Query(Filters):
    """A validated question to the web; it is its own `Filters`.

    Raises:
        InvalidRequest: a value is out of bounds; the error names the field and what to do.
    """

    text: str
    """The words to search for: 1 to 2,000 characters once white space is trimmed."""
    limit: int = 5
    """The most results to return: 1 to 50."""

    def __post_init__(self) -> None:
        set_ = object.__setattr__  # how a frozen dataclass brings its own fields into one form
        set_(self, "text", check_text(self.text))
        check_int("limit", self.limit, 1, MAX_LIMIT)
        check_choice("time_range", self.time_range, _TIME_RANGES)
        check_choice("safesearch", self.safesearch, _SAFE_SEARCH)
        for name in ("allowed_domains", "blocked_domains"):
            set_(self, name, check_domains(name, getattr(self, name)))
        check_int("page", self.page, 1, MAX_PAGE)
        for name in ("published_after", "published_before"):
            set_(self, name, check_date(name, getattr(self, name)))
        if self.published_after and self.published_before and self.published_after > self.published_before:
            raise InvalidRequest("published_before", "is before published_after", "Swap the two days.")
        check_pattern("language", self.language, r"[A-Za-z]{2,3}(-[A-Za-z0-9]{2,8})*", "en or pt-BR")
        check_pattern("region", self.region, r"[A-Za-z]{2}", "us or de")
