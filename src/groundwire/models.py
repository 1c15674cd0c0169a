"""The nouns: what is asked, what comes back, and what was tried.

Pydantic models where data crosses a border (it is validated and has a JSON form), plain dataclasses inside.
All are frozen.
"""

from __future__ import annotations

import re
from collections.abc import Callable, Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass, field
from datetime import date, datetime
from types import MappingProxyType
from typing import Literal, Self, get_args, overload

from pydantic import BaseModel, ConfigDict, Field

from groundwire.errors import InvalidRequest

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
"""How one attempt ended (row B1 of the requirements)."""

TimeRange = Literal["d", "w", "m", "y", "all"]
"""How recent a result must be: a day, a week, a month, a year, or any age."""

Applied = Literal["native", "operator", "post_filter", "not_possible"]
"""Who saw to a filter: the service by a parameter, by words in the query, we afterwards, or nobody."""

SafeSearch = Literal["off", "moderate", "strict"]
"""How much a provider should leave out for decency."""

MAX_QUERY = 2_000  # characters; the providers' own limits (Brave 400, Tavily 400) are met in their files
MAX_LIMIT = 50  # results; no provider of the reference gives more than 20 to 50 for one request
MAX_PAGE = 10  # pages of results; Brave's own limit, and more than anybody reads
MAX_URL = 2_048  # characters, row C4
MAX_TITLE = 500  # characters, row C4
MAX_SNIPPET = 1_000  # characters, row C4

_DOMAIN = re.compile(r"""(?!-)[^\s/:@?#\\%\[\](),;|"']{1,253}""")


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
    """How much a provider should leave out for decency."""
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
        check_choice("time_range", self.time_range, get_args(TimeRange))
        check_choice("safesearch", self.safesearch, get_args(SafeSearch))
        for name in ("allowed_domains", "blocked_domains"):
            set_(self, name, check_domains(name, getattr(self, name)))
        check_int("page", self.page, 1, MAX_PAGE)
        for name in ("published_after", "published_before"):
            set_(self, name, check_date(name, getattr(self, name)))
        if self.published_after and self.published_before and self.published_after > self.published_before:
            raise InvalidRequest("published_before", "is before published_after", "Swap the two days.")
        check_pattern("language", self.language, r"[A-Za-z]{2,3}(-[A-Za-z0-9]{2,8})*", "en or pt-BR")
        check_pattern("region", self.region, r"[A-Za-z]{2}", "us or de")


def check_text(text: object) -> str:
    """Return the trimmed words of a query, or raise InvalidRequest."""
    if not isinstance(text, str):
        raise InvalidRequest("query", f"must be text, not {type(text).__name__}", "Pass the words to look for.")
    clean = " ".join(text.encode("utf-8", "replace").decode("utf-8").replace("\x00", " ").split())
    if not clean:
        raise InvalidRequest("query", "is empty", "Pass the words to look for.")
    if len(clean) > MAX_QUERY:
        raise InvalidRequest(
            "query", f"has {len(clean):,} characters", f"Shorten it to at most {MAX_QUERY:,} characters."
        )
    return clean


def check_int(field: str, value: object, low: int, high: int) -> int:
    """Return `value` if it is a whole number from `low` to `high`, or raise InvalidRequest."""
    fix = f"Pass a whole number from {low:,} to {high:,}."
    if isinstance(value, bool) or not isinstance(value, int):
        raise InvalidRequest(field, f"must be a whole number, not {type(value).__name__}", fix)
    if not low <= value <= high:
        raise InvalidRequest(field, f"is {_shown(value)}", fix)
    return value


def check_choice(field: str, value: object, choices: Sequence[str]) -> None:
    """Raise InvalidRequest unless `value` is one of `choices`."""
    if value not in choices:
        raise InvalidRequest(field, f"does not know {_shown(value)}", f"Pass one of: {', '.join(choices)}.")


def check_domains(field: str, value: object) -> tuple[str, ...]:
    """Return a tuple of bare domain names in lower case, or raise InvalidRequest."""
    if isinstance(value, str) or not isinstance(value, Iterable):
        raise InvalidRequest(field, f"must be a list, not {type(value).__name__}", 'Pass e.g. ["wikipedia.org"].')
    domains = []
    for item in value:
        name = item.strip().strip(".").lower() if isinstance(item, str) else ""
        name = name.removeprefix("*.")
        if not _DOMAIN.fullmatch(name):
            raise InvalidRequest(
                field, f"has {_shown(item)}, which is not a domain name", "Pass bare names such as wikipedia.org."
            )
        domains.append(name)
    return tuple(dict.fromkeys(domains))


def check_date(field: str, value: object) -> date | None:
    """Return a day, given as a date or as ISO 8601 text, or raise InvalidRequest."""
    if value is None:
        return None
    if isinstance(value, date):
        return value.date() if isinstance(value, datetime) else value
    try:
        return date.fromisoformat(value if isinstance(value, str) else "")
    except ValueError:
        raise InvalidRequest(field, f"has {_shown(value)}", "Pass a day such as 2026-01-31.") from None


def check_pattern(field: str, value: object, pattern: str, examples: str) -> None:
    """Raise InvalidRequest unless `value` is None or matches `pattern` as a whole."""
    if value is not None and not (isinstance(value, str) and re.fullmatch(pattern, value)):
        raise InvalidRequest(field, f"does not know {_shown(value)}", f"Pass a code such as {examples}.")


def _shown(value: object) -> str:
    text = repr(value) if not isinstance(value, int) or abs(value) < 10**18 else "a huge number"
    return text if len(text) <= 60 else text[:57] + "..."


class _Noun(BaseModel):
    model_config = ConfigDict(frozen=True, extra="forbid", ser_json_inf_nan="null")


class SearchResult(_Noun):
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


class FilterReceipt(_Noun):
    """What became of one filter of a search."""

    filter: str
    """The filter's name, as in the call."""
    applied: Applied
    """Who saw to it."""
    note: str = ""
    """What the reader should know: rows without a date, more domains than a query can hold."""


class Source(_Noun):
    """What a citation `[1]` points to."""

    citation_id: int
    """The number in the brackets."""
    title: str
    """The page's title."""
    url: str
    """The page's address."""


class Attempt(_Noun):
    """One try of one provider, and what became of it."""

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


class Budget(_Noun):
    """What a session may use and has used, in searches."""

    limit: int
    """The most searches of the session."""
    spent: int
    """The searches made so far."""

    @property
    def remaining(self) -> int:
        """The searches that are left."""
        return max(0, self.limit - self.spent)


class SearchResponse(_Noun):
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


class Freshness(_Noun):
    """What a server said about keeping a page, and how to ask whether it has changed (RFC 9110, 13; RFC 9111)."""

    url: str
    """The address that said it, after all redirects, without a fragment."""
    etag: str = ""
    """Its entity tag, weak or strong, as sent; empty when there is none."""
    last_modified: str = ""
    """When it was last modified, as sent; empty when that is not known."""
    seconds: float | None = None
    """For how long it is fresh, as the server says; None when it says nothing."""
    must_ask: bool = False
    """Whether it must not be used any longer without asking (`no-cache`, `must-revalidate`)."""
    no_store: bool = False
    """Whether it should not be kept (`no-store`)."""

    @property
    def conditions(self) -> dict[str, str]:
        """The headers that ask whether the page has changed; none when there is no way to ask."""
        asked = {"If-None-Match": self.etag, "If-Modified-Since": self.last_modified}
        return {name: value for name, value in asked.items() if value}


class ReadResult(_Noun):
    """What a read provider returns for one URL."""

    url: str
    """The address that was asked for."""
    title: str = ""
    """The page's title."""
    content: str = ""
    """The page as Markdown."""
    content_length: int = 0
    """The length of `content`, in characters."""
    original_length: int | None = None
    """The length before anything was cut, in characters, when the provider knows it."""
    truncated: bool = False
    """Whether `content` is not the whole page."""
    success: bool
    """Whether the page could be read."""
    error: str = ""
    """Why not, and what to do, when `success` is false."""
    final_url: str = ""
    """Where the redirects led; empty when unknown."""
    published: str | None = None
    """When the page was published, ISO 8601; None means unknown."""
    language: str | None = None
    """The page's language as a BCP 47 tag; None means unknown."""
    content_type: str = ""
    """The media type the server gave, such as `text/html`."""
    warnings: tuple[str, ...] = ()
    """What the reader should know about the content."""
    cost_usd: float = 0.0
    """What reading it cost, in US dollars."""
    freshness: Freshness | None = Field(default=None, repr=False)
    """What the server said about keeping the page; None when it is not known."""
    unchanged: bool = False
    """Whether the page is as it was when it was read before (HTTP 304); then `content` is left out."""


class Section(_Noun):
    """A section of a page: a heading and what stands under it."""

    level: int
    """The heading's level, 1 to 6."""
    title: str
    """The heading as plain text, at most 100 characters."""
    start: int
    """Where it begins, in code points of the page's whole Markdown."""
    length: int
    """Its length in characters, its sub-sections included."""


class Excerpt(_Noun):
    """A passage of a page that was chosen."""

    start: int
    """Where it begins, in code points of the page's whole Markdown."""
    end: int
    """Where it ends."""
    heading: str = ""
    """The headings that it stands under: `Guide > Install`."""
    score: float = 0.0
    """How well it answers the query; comparable within one page only. 0 for what was found literally."""
    text: str
    """The passage: the page's Markdown from `start` to `end`."""


class Match(_Noun):
    """A place where a text was found on a page."""

    start: int
    """Where it begins, in code points of the page's whole Markdown."""
    end: int
    """Where it ends."""


class Page(_Noun):
    """A page that was read, or why it was not."""

    citation_id: int = 0
    """The number to cite it by, the same as that of a search result of this address; 0 when it has none."""
    url: str
    """The address that was asked for."""
    final_url: str = ""
    """Where the redirects led."""
    title: str = ""
    """The page's title; empty when it has none."""
    content: str = ""
    """The page as Markdown."""
    content_length: int = 0
    """The length of `content`, in characters."""
    original_length: int | None = None
    """The length of the whole page's Markdown, in characters."""
    truncated: bool = False
    """Whether `content` is not the whole page."""
    next_cursor: str | None = None
    """What to pass as `cursor` for what comes next; None when nothing does."""
    version: str = ""
    """What tells this state of the page from others: the beginning of the SHA-256 of its whole Markdown."""
    start: int = 0
    """Where the piece begins, in code points of the whole Markdown; of excerpts, where the first begins."""
    end: int | None = None
    """Where it ends; of excerpts, where the last ends. None when the page was not looked at as a whole."""
    sections: tuple[Section, ...] = ()
    """The sections of the whole page; `cursor="#2"` reads the second. At most 100."""
    excerpts: tuple[Excerpt, ...] = ()
    """The passages that `content` is made of, in the order of the page, when `query` or `find` was given."""
    matches: tuple[Match, ...] = ()
    """The places in `excerpts` where `find` was found."""
    match_count: int | None = None
    """How often `find` is on the whole page; None when it was not given."""
    published: str | None = None
    """When the page was published, ISO 8601; None means unknown."""
    language: str | None = None
    """The page's language as a BCP 47 tag; None means unknown."""
    content_type: str = ""
    """The media type the server gave, such as `text/html`."""
    reader: str = ""
    """The reader that read it."""
    status: Literal["success", "error"] = "success"
    """Whether the page could be read."""
    error: str = ""
    """Why not, and what to do."""
    warnings: tuple[str, ...] = ()
    """What the reader should know about the content."""
    cached: bool = False
    """Whether it came from the cache."""
    stale: bool = False
    """Whether it is older than it should be."""
    freshness: Freshness | None = Field(default=None, exclude=True, repr=False)
    """What the server said about keeping it; None when it is not known. It is no part of the page as JSON."""


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
"""What an observer is told while a call runs."""

Observer = Callable[[Event], None]
"""A function that is told what happens; it must return at once and must not raise."""
