"""A search query with its filters, and the search response."""

from __future__ import annotations

import re
from collections.abc import AsyncIterator, Callable, Iterator, Mapping, Sequence
from dataclasses import dataclass, field, replace
from datetime import date
from types import MappingProxyType
from typing import Any, Final, Literal, Self, get_args, overload

from groundwire.errors import InvalidRequest
from groundwire.models.base import ROW_CONFIG, Row, no_item
from groundwire.models.validators import (
    FrozenModel,
    check_choice,
    check_date,
    check_domains,
    check_int,
    check_pattern,
    check_text,
)

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
"""The outcome of an attempt."""


class Attempt(FrozenModel):
    """One request to one provider within a call, with its outcome."""

    provider: str
    """The provider's name."""
    outcome: Outcome
    """The outcome."""
    reason: str = ""
    """The reason in a few words, unless it succeeded."""
    status: int | None = None
    """The HTTP status, if any."""
    latency_ms: int = 0
    """How long it took, in milliseconds."""
    cost_usd: float = 0.0
    """The cost, in US dollars."""
    retry_after: float | None = None
    """Seconds after which the service allows another request, as stated by it."""
    abandoned: bool = False
    """Whether it was still running when another attempt returned a result: not evidence against its provider."""

    def describe(self) -> str:
        """Return the attempt as one line of text."""
        status = f", HTTP {self.status}" if self.status else ""
        reason = f": {self.reason}" if self.reason else ""
        again = f" (retry after {self.retry_after:,.10g} s)" if self.retry_after else ""
        return f"{self.provider} {self.outcome}{status} after {self.latency_ms} ms{reason}{again}"


@dataclass(frozen=True, slots=True)
class AttemptStarted:
    """An attempt has started."""

    provider: str
    """The provider's name."""


@dataclass(frozen=True, slots=True)
class AttemptFinished:
    """An attempt has ended."""

    attempt: Attempt
    """The attempt."""


Event = AttemptStarted | AttemptFinished
"""An event for an attempt listener."""

Observer = Callable[[Event], None]
"""A function that receives the events of attempts; it must return immediately and must not raise."""


Applied = Literal["native", "operator", "post_filter", "not_possible"]
"""What applied a filter: a parameter of the service, operators in the query, Groundwire afterwards, or nothing."""

MAX_URL = 2_048  # characters
MAX_TITLE = 500  # characters
MAX_SNIPPET = 1_000  # characters


@dataclass(kw_only=True, slots=True)
class SearchResult(Row):
    """A page found by a provider."""

    __pydantic_config__ = ROW_CONFIG

    citation_id: int = 0
    """The number to cite it by, counted from 1. In a session, a page keeps its number and new pages get the next
    ones. 0 until a `Web` has numbered it."""
    title: str
    """The page's title as plain text, at most 500 characters."""
    url: str
    """The page's URL as returned by the provider, at most 2,048 characters."""
    snippet: str = ""
    """A passage of the page as plain text, at most 1,000 characters."""
    source: str = ""
    """The provider that found it and, if it reports them, the underlying indexes: `searxng (bing, mojeek)`."""
    published: str | None = None
    """When the page was published, ISO 8601 (`2026-11-01` or with a time of day); None means unknown."""
    published_origin: str = ""
    """The date as given by the provider, if it was not ISO 8601: `2 days ago`."""
    score: float | None = None
    """The provider's own score, comparable only within one response."""

    def open(self, **options: Any) -> Any:
        """Read this page with the web that found it.

        Args:
            options: The arguments of `Web.open_page`, except for the URL.

        Returns:
            The `Page`; for an asynchronous `Web`, an awaitable of it.

        Raises:
            TypeError: this result was not returned by a search of this process. GroundwireError: see `Web.open_page`.
        """
        opener: Any = self._opener
        if opener is None:
            raise TypeError("This result was not returned by a search of this process: use open_page(result.url).")
        return opener.open_page(self.url, **options)

    def __str__(self) -> str:
        return f"{self.citation_id}. {self.title}\n   {self.url}\n   {self.snippet}".rstrip()


@dataclass(kw_only=True, slots=True)
class Source(Row):
    """The target of a citation `[1]`."""

    __pydantic_config__ = ROW_CONFIG

    citation_id: int
    """The number in the brackets."""
    title: str
    """The page's title."""
    url: str
    """The page's address."""


class FilterReceipt(FrozenModel):
    """How one filter of a search was applied."""

    filter: str
    """The filter's name, as in the call."""
    applied: Applied
    """What applied the filter."""
    note: str = ""
    """Limitations: results without a date, more domains than a query can hold."""


LOW_BUDGET: Final = re.compile(r"Searches left in this session: ([0-9]+) of [0-9]+\.")
"""The warning of a response whose session is close to its limit; tools have a different one for models."""


class Budget(FrozenModel):
    """The limit and the usage of a session, in searches."""

    limit: int
    """Maximum searches of the session."""
    spent: int
    """The searches made so far."""

    @property
    def remaining(self) -> int:
        """The searches that are left."""
        return max(0, self.limit - self.spent)


class SearchResponse(FrozenModel):
    """The response to a search. No results means that the search succeeded and found nothing."""

    query: str
    """The query."""
    results: tuple[SearchResult, ...]
    """The results, best first."""
    sources: tuple[Source, ...] = ()
    """The target of each citation number."""
    provider: str
    """The provider of the results."""
    attempts: tuple[Attempt, ...] = ()
    """All attempts, in order."""
    filters: tuple[FilterReceipt, ...] = ()
    """How each requested filter was applied."""
    budget: Budget | None = None
    """The budget of the session; None if it has no limit."""
    warnings: tuple[str, ...] = ()
    """Warnings: a shortened query, filters that were not applied, a budget that is nearly used up."""
    cached: bool = False
    """Whether the response came from the cache."""
    stale: bool = False
    """Whether it is of an earlier search, past its time to live; the first of the warnings then says of when."""

    @property
    def notice(self) -> str:
        """What a reader must know before the results: that they are of an earlier search, and of when; else empty."""
        return self.warnings[0] if self.stale and self.warnings else ""

    def opened_by(self, opener: object) -> Self:
        """Return the response with results whose `open` uses the `open_page` of a `Web`."""
        rows = tuple([replace(row) for row in self.results])  # other callers may share the results
        for row in rows:
            row.bind(opener)
        return self.model_copy(update={"results": rows})

    def __len__(self) -> int:
        return len(self.results)

    def __iter__(self) -> Iterator[SearchResult]:  # type: ignore[override]  # over the results, not over the fields
        return iter(self.results)

    async def __aiter__(self) -> AsyncIterator[SearchResult]:
        for row in self.results:
            yield row

    @overload
    def __getitem__(self, index: int) -> SearchResult: ...
    @overload
    def __getitem__(self, index: slice) -> tuple[SearchResult, ...]: ...
    def __getitem__(self, index: int | slice) -> SearchResult | tuple[SearchResult, ...]:
        try:
            return self.results[index]
        except TypeError:  # by a name, as where responses are dictionaries
            raise no_item(self, index) from None

    def __str__(self) -> str:
        return "\n\n".join(map(str, self.results)) or f"No results found for: {self.query}"


@dataclass(frozen=True, slots=True, kw_only=True)
class RateWindow:
    """A rate limit stated by a service: a number of requests in a number of seconds."""

    limit: int | None = None
    """The requests of one window; 0 means no limit, None unknown."""
    seconds: float | None = None
    """The length of a window."""
    remaining: int | None = None
    """The requests left in this window."""
    reset: float | None = None
    """Seconds until the next window begins."""


@dataclass(frozen=True, slots=True)
class Results(Sequence[SearchResult]):
    """The results of a search provider, with metadata.

    A provider may return any sequence of `SearchResult`; this one also carries notes.
    """

    items: tuple[SearchResult, ...] = ()
    """The results, best first."""
    partial: bool = False
    """Whether some of the service's own sources failed."""
    warnings: tuple[str, ...] = ()
    """Warnings about the results."""
    status: int | None = None
    """The HTTP status of the response."""
    cost_usd: float = 0.0
    """The cost of the request, in US dollars."""
    applied: Mapping[str, Applied] = field(default_factory=lambda: MappingProxyType({}))
    """How the service applied filters, by name, where that differs from its capabilities."""
    windows: tuple[RateWindow, ...] = ()
    """The rate limits stated by the service."""

    @classmethod
    def of(cls, rows: Sequence[SearchResult]) -> Self:
        """Return `rows` as `Results`, unchanged if it is one."""
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
"""The maximum age of a result: a day, a week, a month, a year, or any age."""

SafeSearch = Literal["off", "moderate", "strict"]
"""How strictly a provider should filter explicit results."""

SearchSource = Literal["web", "papers", "files"]
"""What is searched: the pages of the web, papers, or the user's own files."""

Strategy = Literal["fallback", "hedge", "fuse"]
"""`fallback`: one after another. `hedge`: the next starts when one is late. `fuse`: several at once, merged."""

_TIME_RANGES, _SAFE_SEARCH = get_args(TimeRange), get_args(SafeSearch)
MAX_LIMIT = 50  # results; no supported provider returns more than 20 to 50 per request
MAX_PAGE = 10  # pages of results; Brave's own limit, and more than anyone reads


@dataclass(frozen=True, slots=True, kw_only=True)
class Filters:
    """The filters for results."""

    allowed_domains: tuple[str, ...] = ()
    """Only these domains and their subdomains; empty means every domain."""
    blocked_domains: tuple[str, ...] = ()
    """Exclude these domains and their subdomains."""
    time_range: TimeRange = "all"
    """The maximum age of a result."""
    published_after: date | None = None
    """The first publication date allowed."""
    published_before: date | None = None
    """The last publication date allowed."""
    language: str | None = None
    """A BCP 47 language tag such as `en` or `pt-BR`."""
    region: str | None = None
    """A two-letter ISO 3166-1 country code such as `us`."""
    safesearch: SafeSearch = "moderate"
    """How strictly a provider should filter explicit results."""
    page: int = 1
    """The page of results, from 1 to 10."""


def normalize_filters(filters: Any) -> None:
    """Normalize the domains, time range and days of an instance of a frozen dataclass.

    Raises:
        InvalidRequest: a value is out of range; the error names the field and the fix.
    """
    for name in ("allowed_domains", "blocked_domains"):
        if (domains := getattr(filters, name)) != ():
            object.__setattr__(filters, name, check_domains(name, domains))
    check_choice("time_range", filters.time_range, _TIME_RANGES)
    for name in ("published_after", "published_before"):
        if (day := getattr(filters, name)) is not None:
            object.__setattr__(filters, name, check_date(name, day))
    if filters.published_after and filters.published_before and filters.published_after > filters.published_before:
        raise InvalidRequest("published_before", "is before the first day", "Swap the two days.")


NO_FILTERS = Filters()
"""No filters."""


@dataclass(frozen=True, slots=True, kw_only=True)
class Query(Filters):
    """A validated query; it is its own `Filters`.

    Raises:
        InvalidRequest: a value is out of range; the error names the field and the fix.
    """

    text: str
    """The text of the query: 1 to 2,000 characters after white space is trimmed."""
    limit: int = 5
    """Maximum results to return: 1 to 50."""

    def __post_init__(self) -> None:
        object.__setattr__(self, "text", check_text(self.text))  # how a frozen dataclass normalizes its own fields
        check_int("limit", self.limit, 1, MAX_LIMIT)
        normalize_filters(self)
        check_choice("safesearch", self.safesearch, _SAFE_SEARCH)
        check_int("page", self.page, 1, MAX_PAGE)
        if self.language is not None:
            check_pattern("language", self.language, r"[A-Za-z]{2,3}(-[A-Za-z0-9]{2,8})*", "en or pt-BR")
        if self.region is not None:
            check_pattern("region", self.region, r"[A-Za-z]{2}", "us or de; language takes en or pt-BR")
