"""Perplexity Search, ranked pages without a generated answer (https://docs.perplexity.ai/api-reference/search-post)."""

from __future__ import annotations

from typing import Any, ClassVar, Literal

from groundwire.errors import QuotaExceeded
from groundwire.models import Filters, Results, SearchResult
from groundwire.providers.base import ANY_RANGE, Capabilities
from groundwire.providers.http_api import ApiOptions, SearchApiProvider
from groundwire.providers.http_parsing import ErrorRule, result
from groundwire.providers.query_mapping import (
    Mapped,
    american_date,
    time_filter,
)
from groundwire.transport import Response

_MAX_RESULTS = 20
_MAX_DOMAINS = 20
_PAGE_TOKENS = 256  # of a snippet: about the 1,000 characters that it may have
_ERRORS = (
    # An account without credit gets 401 or 429, the statuses of an invalid key and of too many requests.
    ErrorRule(
        QuotaExceeded,
        "the account's credit is used up",
        "Add credit to the account",
        status=(401, 403, 429),
        at="error.type error.code error.message error type code message",
        pattern=r"(?i)insufficient[ _-]?(quota|credit|balance|fund)|exceeded your (current )?quota|out of credit",
    ),
)


class PerplexityOptions(ApiOptions):
    """`[providers.perplexity]`."""

    search_type: Literal["web", "fast", "people"] = "web"
    """How to search: `fast` answers sooner and costs a fifth, `people` finds people."""


class PerplexitySearchProvider(SearchApiProvider):
    """Web search with the Perplexity Search API."""

    service = "https://api.perplexity.ai"
    key_variables: ClassVar[tuple[str, ...]] = ("PERPLEXITY_API_KEY", "PPLX_API_KEY", "PERPLEXITYAI_API_KEY")
    key_page = "https://www.perplexity.ai/account/api/keys"
    errors: ClassVar[tuple[ErrorRule, ...]] = _ERRORS
    mode_option = "search_type"
    Options: ClassVar[type[PerplexityOptions]] = PerplexityOptions
    _options: PerplexityOptions
    capabilities: Capabilities = Capabilities(
        search=True,
        max_results=_MAX_RESULTS,
        time_ranges=ANY_RANGE,
        dates=True,
        domains="native",
        language=True,
        region=True,
    )

    def to_request(self, query: str, limit: int, filters: Filters) -> Mapped:
        """Convert a query to a request."""
        body = {"query": query, "max_results": min(limit, _MAX_RESULTS), "max_tokens_per_page": _PAGE_TOKENS}
        mapped = Mapped(body)
        if self._options.search_type != "web":
            body["search_type"] = self._options.search_type
        lists = mapped.domain_lists(filters, self.name, ("", "-"), most=_MAX_DOMAINS, one_list=True)
        if lists:  # a blocked domain is prefixed with a minus sign
            body["search_domain_filter"] = [sign + domain for sign, domains in lists.items() for domain in domains]
        days = ("search_after_date_filter", "search_before_date_filter")
        body |= time_filter(filters, "search_recency_filter", days, form=american_date, today=self.today)
        if language := mapped.language_code(filters):
            body["search_language_filter"] = [language]
        if filters.region:
            body["country"] = filters.region.upper()
        return mapped

    def to_results(self, reply: Response, mapped: Mapped) -> Results:
        """Parse the results in a response."""
        return self.rows(reply, self.answer(reply).get("results"), _row)


def _row(item: dict[str, Any], name: str) -> SearchResult | None:
    return result(
        name, url=item.get("url"), title=item.get("title"), snippet=item.get("snippet"), date=item.get("date")
    )
