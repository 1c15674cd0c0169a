"""Tavily: web search and page extraction (https://docs.tavily.com); without a key in its keyless mode."""

from __future__ import annotations

from collections.abc import Mapping
from email.utils import parsedate_to_datetime
from typing import Any, Literal, Self, cast

from groundwire.deadline import Deadline
from groundwire.errors import NotConfigured, QuotaExceeded, UnexpectedResponse
from groundwire.models import NO_FILTERS, Filters, ReadResult, Results, SearchResult
from groundwire.providers.base import Capabilities, ProviderContext
from groundwire.providers.http_api import ApiOptions, ApiProvider, Mapped
from groundwire.providers.http_parsing import (
    clean,
    clipped,
    day,
    empty_page,
    error_text,
    failure,
    json_object,
    json_or_empty,
    number_or_none,
    objects,
    page_failure,
    raise_for_status,
    retry_after,
    said,
    window,
)
from groundwire.providers.query_mapping import country_name, domain_lists
from groundwire.providers.result_rows import result, results
from groundwire.transport import Reply

__all__ = ["TavilyOptions", "TavilyProvider", "parse", "parse_page", "to_body"]

_TIME_RANGES = {"d": "day", "w": "week", "m": "month", "y": "year"}
_MOST_RESULTS = 20
_MOST_CHARACTERS = 400  # of a query
_MOST_ALLOWED, _MOST_BLOCKED = 300, 150  # domains
_MOST_SECONDS = 366 * 86_400
_SEARCH_CREDITS = {"basic": 1, "fast": 1, "ultra-fast": 1, "advanced": 2}
_EXTRACT_CREDITS = {"basic": 0.2, "advanced": 0.4}  # 1 and 2 for five pages
_READ_TIMEOUT = 30.0  # seconds
_QUOTA = frozenset({432, 433})  # the plan's or the key's limit; the limit of pay as you go


class TavilyOptions(ApiOptions):
    """`[providers.tavily]`."""

    search_depth: Literal["basic", "advanced", "fast", "ultra-fast"] = "basic"
    """How thoroughly to search; `advanced` costs 2 credits instead of 1."""
    topic: Literal["general", "news", "finance"] = "general"
    """What to search; `news` gives dates, and only `general` can prefer a country."""
    extract_depth: Literal["basic", "advanced"] = "basic"
    """How thoroughly to read pages; `advanced` gets more tables and embedded parts and costs twice as much."""
    keyless: bool = False
    """Whether to use Tavily's keyless mode, free of charge and within narrow limits, when there is no key."""
    safe_search: bool = False
    """Whether to ask for safe search, which only enterprise plans may; not with a fast depth."""


class TavilyProvider(ApiProvider):
    """Web search and reading by Tavily; one instance serves both roles."""

    service = "https://api.tavily.com"
    key_variables = ("TAVILY_API_KEY",)
    key_page = "https://app.tavily.com"
    key_needed = False
    Options = TavilyOptions
    capabilities = Capabilities(
        search=True,
        read=True,
        max_results=_MOST_RESULTS,
        time_ranges=frozenset({"d", "w", "m", "y"}),
        dates=True,
        domains="native",
        language=True,
        region=True,
    )

    @classmethod
    def create(cls, context: ProviderContext) -> Self:
        """Make the provider.

        Raises:
            NotConfigured: there is no key, and the keyless mode is not switched on.
            ConfigurationError: an option is wrong.
        """
        if not context.options(TavilyOptions).keyless and not context.keys(*cls.key_variables, needed=False):
            needs = f"set {cls.key_variables[0]}, or providers.{context.name}.keyless = true to go without a key"
            raise NotConfigured(context.name, needs)
        return super().create(context)

    def headers(self, key: str | None) -> Mapping[str, str]:
        """Return the headers of a request; without a key those of the keyless mode."""
        return {**super().headers(key), **({} if key else {"X-Tavily-Access-Mode": "keyless"})}

    async def search(
        self, query: str, *, limit: int = 5, filters: Filters = NO_FILTERS, deadline: Deadline | None = None
    ) -> Results:
        """Search; see `SearchProvider.search`."""
        options = cast("TavilyOptions", self._options)
        mapped = to_body(query, limit, filters, options)
        usual = _SEARCH_CREDITS[options.search_depth]

        def read(reply: Reply) -> Results:
            return self.finished(parse(reply, self.name), mapped, self._cost(reply, usual))

        return await self.ask("POST", "/search", read, json_body=mapped.values, deadline=deadline)

    async def read_url(self, url: str, *, deadline: Deadline | None = None) -> ReadResult:
        """Read a page; see `ReadProvider.read_url`."""
        depth = cast("TavilyOptions", self._options).extract_depth
        body = {"urls": [url], "extract_depth": depth, "format": "markdown", "include_usage": True}

        def read(reply: Reply) -> ReadResult:
            page = parse_page(reply, url, self.name)
            return page.model_copy(update={"cost_usd": self._cost(reply, _EXTRACT_CREDITS[depth])})

        return await self.ask("POST", "/extract", read, json_body=body, deadline=deadline, timeout=_READ_TIMEOUT)

    def _cost(self, reply: Reply, usual: float) -> float:
        """Return what a good answer cost: the credits that it names, or the usual ones; keyless is free of charge."""
        if not len(self._keys):
            return 0.0
        usage = json_object(reply, self.name).get("usage")
        credits_used = number_or_none(usage.get("credits")) if isinstance(usage, dict) else None
        return self._prices.cost("credit", usual if credits_used is None else max(0.0, credits_used))


def to_body(query: str, limit: int, filters: Filters, options: TavilyOptions | None = None) -> Mapped:
    """Return the body of a search, and what became of the filters."""
    options = options or TavilyOptions()
    text, warnings = clipped("tavily", query, characters=_MOST_CHARACTERS)
    mapped = Mapped({"query": text, "max_results": min(limit, _MOST_RESULTS)}, warnings=warnings)
    body = mapped.values
    body |= {"search_depth": options.search_depth, "topic": options.topic, "include_usage": True}
    _add_times(body, filters)
    keys = ("include_domains", "exclude_domains")
    body |= domain_lists(mapped, filters, "tavily", keys, most=_MOST_ALLOWED, most_blocked=_MOST_BLOCKED)
    if filters.language:
        language = filters.language.partition("-")[0].lower()
        if len(language) == 2:
            body["language"] = language
        else:
            mapped.applied["language"] = "not_possible"
    if filters.region:
        country = country_name(filters.region)
        if country and options.topic == "general":
            body["country"] = country
        else:
            mapped.applied["region"] = "not_possible"
    if options.safe_search and not options.search_depth.endswith("fast"):
        body["safe_search"] = filters.safesearch != "off"
        mapped.applied["safesearch"] = "native"
    return mapped


def _add_times(body: dict[str, Any], filters: Filters) -> None:
    """Add the time range as such, or with dates beside it as one more date: both at once are not documented."""
    if filters.published_after is None and filters.published_before is None:
        if filters.time_range != "all":
            body["time_range"] = _TIME_RANGES[filters.time_range]
        return
    first, last = window(filters)
    if first:
        body["start_date"] = first.isoformat()
    if last:
        body["end_date"] = last.isoformat()


def parse(reply: Reply, name: str = "tavily") -> Results:
    """Read the answer to a search.

    Raises:
        ProviderError: it is a failure, or not of the service's form.
    """
    return results(reply, name, _checked(reply, name).get("results"), _row)


def parse_page(reply: Reply, url: str, name: str = "tavily") -> ReadResult:
    """Read the answer to a request for one page. HTTP 200 may hold a failure.

    Raises:
        PageError: the page cannot be had. ProviderError: the answer is a failure, or not of the service's form.
    """
    data = _checked(reply, name)
    read, failed = data.get("results"), data.get("failed_results")
    if not isinstance(read, list) and not isinstance(failed, list):
        raise UnexpectedResponse(name, "answered with JSON that has no list of results", status=reply.status)
    for item in objects(read):
        content = clean(item.get("raw_content"))
        if content.strip():
            title = clean(item.get("title"))
            return ReadResult(url=url, title=title, content=content, content_length=len(content), success=True)
    for item in objects(failed):
        raise page_failure(url, words=said(item.get("error")))
    raise empty_page(url)


def _checked(reply: Reply, name: str) -> dict[str, Any]:
    """Return the body of a good answer, or raise what the service says."""
    if reply.status >= 400 and (wait := _keyless_wait(reply)) is not None:
        again = retry_after(reply.headers)
        reason = f"the free searches without a key are used up{error_text(reply)}"
        again = wait or None if again is None else again
        raise QuotaExceeded(name, reason, status=reply.status, retry_after=again, fix="Set TAVILY_API_KEY")
    if reply.status in _QUOTA:
        fix = "Raise the limit, or wait for the next month"
        raise failure(QuotaExceeded, reply, name, "the plan's limit is reached", fix=fix)
    raise_for_status(reply, name)
    return json_object(reply, name)


def _keyless_wait(reply: Reply) -> float | None:
    """Return the seconds that the error of the keyless mode names, 0 for none, None for another error."""
    error = json_or_empty(reply).get("error")
    if not isinstance(error, dict):
        return None
    seconds = number_or_none(error.get("retry_after_seconds"))
    if seconds is None:
        return 0.0 if reply.status in {402, 429} and isinstance(error.get("code"), str) else None
    return min(max(0.0, seconds), _MOST_SECONDS)


def _row(item: dict[str, Any], name: str) -> SearchResult | None:
    return result(
        name,
        url=item.get("url"),
        title=item.get("title"),
        snippet=item.get("content"),
        date=item.get("published_date"),
        score=item.get("score"),
        read_date=_published,
    )


def _published(text: str) -> str:
    """Return a date as ISO 8601; the news topic sends that of e-mail (RFC 5322)."""
    if found := day(text):
        return found
    try:
        return parsedate_to_datetime(text).isoformat()
    except (ValueError, OverflowError):
        return ""
