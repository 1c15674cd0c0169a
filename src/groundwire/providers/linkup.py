"""Linkup, a web search for agents (https://docs.linkup.so/pages/documentation/api-reference/endpoint/post-search).

It reads with fetch (https://docs.linkup.so/pages/documentation/endpoints/fetch, linkup-sdk 0.24.0; 2026-11-28).
"""

from __future__ import annotations

from typing import Any, ClassVar, Literal

from groundwire.deadline import Deadline
from groundwire.errors import AuthenticationFailed, PageTooLarge, QuotaExceeded, UnexpectedResponse, UnsupportedContent
from groundwire.models import Filters, ReadResult, Results, SearchResult
from groundwire.providers.base import ANY_RANGE, Capabilities
from groundwire.providers.http_api import ApiOptions, ReadApiProvider, SearchApiProvider
from groundwire.providers.http_parsing import (
    ErrorRule,
    clean,
    error_text,
    json_or_empty,
    result,
    text_or_empty,
    value_at,
)
from groundwire.providers.query_mapping import Mapped, page_failure, page_result, window
from groundwire.transport import Response

_FILES = frozenset({"FETCH_URL_IS_FILE", "FETCH_UNSUPPORTED_CONTENT_TYPE"})
_MAX_RESULTS = 50  # no limit is documented; this is the most that is ever requested
_MAX_DOMAINS = 100
_ERRORS = (
    ErrorRule(  # sent as 429, like too many requests
        QuotaExceeded,
        "the account's credit is used up",
        "Add credit to the account, or raise the budget of the key",
        pattern="^(INSUFFICIENT_FUNDS_CREDITS|EXCEED_BUDGET_LIMIT)$",
    ),
    ErrorRule(
        AuthenticationFailed,
        "the key is not allowed from this machine",
        "Add this machine's public address to the key's list of addresses",
        status=(403,),
        pattern="^IP_NOT_WHITELISTED$",
    ),
)


class LinkupOptions(ApiOptions):
    """`[providers.linkup]`."""

    depth: Literal["flash", "fast", "standard", "deep"] = "fast"
    """How long it searches: `flash` below a second, `fast` about one, `standard` several, `deep` tens of seconds at
    ten times the price."""


class LinkupSearchProvider(SearchApiProvider, ReadApiProvider):
    """Web search and reading with the Linkup API; one instance serves both roles."""

    service = "https://api.linkup.so"
    key_variables: ClassVar[tuple[str, ...]] = ("LINKUP_API_KEY",)
    key_page = "https://app.linkup.so"
    search_path = "/v1/search"
    read_path = "/v1/fetch"
    errors: ClassVar[tuple[ErrorRule, ...]] = _ERRORS
    mode_option = "depth"
    Options: ClassVar[type[LinkupOptions]] = LinkupOptions
    _options: LinkupOptions
    capabilities: Capabilities = Capabilities(
        search=True, read=True, max_results=_MAX_RESULTS, time_ranges=ANY_RANGE, dates=True, domains="native"
    )

    def to_request(self, query: str, limit: int, filters: Filters) -> Mapped:
        """Convert a query to a request."""
        body: dict[str, Any] = {
            "q": query,
            "depth": self._options.depth,
            "outputType": "searchResults",
            "includeImages": False,
            "maxResults": min(limit, _MAX_RESULTS),
        }
        mapped = Mapped(body)
        days = zip(("fromDate", "toDate"), window(filters, self.today), strict=True)
        body |= {key: day.isoformat() for key, day in days if day}
        body |= mapped.domain_lists(filters, self.name, ("includeDomains", "excludeDomains"), most=_MAX_DOMAINS)
        return mapped

    def to_results(self, reply: Response, mapped: Mapped) -> Results:
        """Parse the results in a response."""
        if reply.status == 400 and value_at(json_or_empty(reply), "error.code") == "SEARCH_QUERY_NO_RESULT":
            return Results(status=400)
        return self.rows(reply, self.answer(reply).get("results"), _row)

    def search_cost(self, reply: Response, results: Results) -> float:
        """Return the cost of a search: an empty result is an error of the service, and errors are free."""
        return self.price_usd if results.status == 200 else 0.0

    def to_page_request(self, url: str, deadline: Deadline) -> Mapped:
        """Convert a page's URL to a request."""
        return Mapped({"url": url, "renderJs": False})

    def to_page(self, reply: Response, url: str) -> ReadResult:
        """Parse the page in a response; that a page cannot be read is an error with a code of its own."""
        code = text_or_empty(value_at(json_or_empty(reply), "error.code"))
        if reply.status == 400 and code.startswith("FETCH_"):
            if code == "FETCH_RESPONSE_TOO_LARGE":
                raise PageTooLarge(url, f"The page is larger than {self.name} reads. Look for a smaller page.")
            if code in _FILES:
                raise UnsupportedContent(url, "The reader does not support this type of page.")
            missing = 404 if code == "FETCH_TARGET_NOT_FOUND" else None
            raise page_failure(url, status=missing, words=error_text(reply).removeprefix(": "))
        content = self.answer(reply).get("markdown")
        if not isinstance(content, str):
            raise UnexpectedResponse(self.name, "answered with JSON that has no page", status=reply.status)
        return page_result(url, clean(content))

    def page_cost(self, reply: Response) -> float:
        """Return the cost of a page: the price of how it was fetched."""
        return self.page_price_usd


def _row(item: dict[str, Any], name: str) -> SearchResult | None:
    if item.get("type") == "image":
        return None
    return result(name, url=item.get("url"), title=item.get("name"), snippet=item.get("content"))
