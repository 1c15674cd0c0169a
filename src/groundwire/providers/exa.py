"""Exa: semantic web search, and page contents (https://exa.ai/docs)."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any, ClassVar, Literal

from groundwire.deadline import Deadline
from groundwire.errors import PageError, QuotaExceeded, RateLimited
from groundwire.models import Filters, ReadResult, Results, SearchResult
from groundwire.providers.base import ANY_RANGE, Capabilities
from groundwire.providers.http_api import ApiOptions, ReadApiProvider, SearchApiProvider
from groundwire.providers.http_parsing import (
    ErrorRule,
    clean,
    day,
    joined,
    json_or_empty,
    number_or_none,
    result,
    short_message,
    text_or_empty,
)
from groundwire.providers.query_mapping import Mapped, empty_page, page_failure, page_result, window
from groundwire.transport import Response

_MAX_RESULTS = 100  # with highlights
_MAX_DOMAINS = 1_200
_MAX_SNIPPET = 1_000  # characters of highlights per row; without a limit, five rows have been 170 kB
_MAX_PAGE = 500_000  # characters
_USED_UP = ("the credits or the key's budget are used up", "Add credits, or raise the key's budget")
# tags of pages, used when there is no status
_STATUSES: Mapping[str, int] = {"CRAWL_NOT_FOUND": 404, "SOURCE_NOT_AVAILABLE": 403}


class ExaOptions(ApiOptions):
    """`[providers.exa]`."""

    type: Literal["auto", "fast", "instant", "lite", "neural", "deep-lite", "deep", "deep-reasoning"] = "auto"
    """How to search: `lite` is fast and costs about half, `deep` takes longer and costs about twice as much."""


class ExaProvider(SearchApiProvider, ReadApiProvider):
    """Web search and reading with Exa; one instance serves both roles."""

    service = "https://api.exa.ai"
    key_variables: ClassVar[tuple[str, ...]] = ("EXA_API_KEY",)
    key_page = "https://dashboard.exa.ai/api-keys"
    key_header = "x-api-key"
    read_path = "/contents"
    errors: ClassVar[tuple[ErrorRule, ...]] = (
        ErrorRule(QuotaExceeded, *_USED_UP, at="tag", pattern="^(NO_MORE_CREDITS|API_KEY_BUDGET_EXCEEDED)$"),
        # Its own code for overload; a proxy's 503 has no JSON.
        ErrorRule(RateLimited, "overloaded", status=(503,), at="error tag", pattern="."),
    )
    mode_option = "type"
    Options: ClassVar[type[ExaOptions]] = ExaOptions
    _options: ExaOptions
    capabilities: Capabilities = Capabilities(
        search=True,
        read=True,
        max_results=_MAX_RESULTS,
        time_ranges=ANY_RANGE,
        dates=True,
        domains="native",
        region=True,
        safesearch=True,
        undated=False,
    )

    def to_request(self, query: str, limit: int, filters: Filters) -> Mapped:
        """Convert a query to a request."""
        body: dict[str, Any] = {"query": query, "type": self._options.type, "numResults": min(limit, _MAX_RESULTS)}
        body["contents"] = {"highlights": {"maxCharacters": _MAX_SNIPPET}}
        body["moderation"] = filters.safesearch != "off"
        mapped = Mapped(body)
        keys = ("includeDomains", "excludeDomains")
        body |= mapped.domain_lists(filters, self.name, keys, most=_MAX_DOMAINS, one_list=True)
        first, last = window(filters, self.today)
        if first:
            body["startPublishedDate"] = f"{first.isoformat()}T00:00:00.000Z"
        if last:
            body["endPublishedDate"] = f"{last.isoformat()}T23:59:59.999Z"
        if filters.region:
            body["userLocation"] = filters.region.upper()
        return mapped

    def to_results(self, reply: Response, mapped: Mapped) -> Results:
        """Parse the results in a response."""
        return self.rows(reply, self.answer(reply).get("results"), _row, "warnings", "notices")

    def search_cost(self, reply: Response, results: Results) -> float:
        """Return the cost of a search: in dollars as stated in the response, or from the price list."""
        return self.charge(reply, "costDollars.total", "usd", self.price_usd)

    def to_page_request(self, url: str, deadline: Deadline) -> Mapped:
        """Convert a page's URL to a request."""
        return Mapped({"urls": [url], "text": {"maxCharacters": _MAX_PAGE}})

    def to_page(self, reply: Response, url: str) -> ReadResult:
        """Parse the page in a response; the outcome for the page itself is in `statuses`."""
        if reply.status >= 400 and json_or_empty(reply).get("tag") == "NO_CONTENT_FOUND":
            raise empty_page(url)
        pages, statuses = self.lists(reply, "results", "statuses")
        page = next((item for item in pages if clean(item.get("text")).strip()), {})
        failed = next((item for item in statuses if item.get("status") != "success"), None)
        if failed is not None and not page:
            raise _failed_page(url, failed.get("error"))
        content = clean(page.get("text"))
        return page_result(
            url,
            content,
            title=page.get("title"),
            truncated=len(content) >= _MAX_PAGE,
            final_url=clean(page.get("url")),
            published=day(text_or_empty(page.get("publishedDate"))) or None,
        )

    def page_cost(self, reply: Response) -> float:
        """Return the cost of a page; see `search_cost`."""
        return self.charge(reply, "costDollars.total", "usd", self._prices.cost("page"))


def _failed_page(url: str, error: object) -> PageError:
    """Return the error for an entry of `statuses`, from the page's status or else from the tag."""
    details = error if isinstance(error, dict) else {"tag": error}
    tag = text_or_empty(details.get("tag"))
    code = number_or_none(details.get("httpStatusCode"))
    return page_failure(url, status=int(code) if code else _STATUSES.get(tag), words=short_message(tag))


def _row(item: dict[str, Any], name: str) -> SearchResult | None:
    return result(
        name,
        url=item.get("url"),
        title=item.get("title"),
        snippet=text_or_empty(item.get("text")) or joined(item.get("highlights"), " … ") or item.get("summary"),
        date=item.get("publishedDate"),
        score=item.get("score"),
    )
