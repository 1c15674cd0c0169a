"""You.com, web and news results from its own index (https://you.com/docs/api-reference/search)."""

from __future__ import annotations

from datetime import UTC, date, datetime
from typing import Any, ClassVar

from groundwire.errors import QuotaExceeded, UnexpectedResponse
from groundwire.models import Filters, Results, SearchResult
from groundwire.providers.base import ANY_RANGE, Capabilities
from groundwire.providers.http_api import SearchApiProvider
from groundwire.providers.http_parsing import ErrorRule, objects, result, text_or_empty
from groundwire.providers.query_mapping import RANGE_NAMES, Mapped, window
from groundwire.providers.you_contents import YouContents
from groundwire.transport import Response

__all__ = ["YouSearchProvider"]

_MAX_RESULTS = 100  # of the web, and as many of the news
_MAX_DOMAINS = 500
_FIRST_DAY = date(1990, 1, 1)  # before there was a web; a range must have both ends
_ERRORS = (
    ErrorRule(
        QuotaExceeded,
        "the account's quota is used up",
        "Add credit to the account",
        status=(402,),
        wait="reset_at",
    ),
)


class YouSearchProvider(SearchApiProvider, YouContents):
    """Web search and reading with the You.com APIs; one instance serves both roles.

    News follow the web pages, so there may be more rows than requested.
    """

    service = "https://ydc-index.io"
    key_variables: ClassVar[tuple[str, ...]] = ("YDC_API_KEY", "YOU_API_KEY", "YOUCOM_API_KEY")
    key_page = "https://you.com/platform"
    key_header = "X-API-Key"
    search_path = "/v1/search"
    errors: ClassVar[tuple[ErrorRule, ...]] = _ERRORS
    capabilities: Capabilities = Capabilities(
        search=True,
        read=True,
        renders=True,
        max_results=_MAX_RESULTS,
        time_ranges=ANY_RANGE,
        dates=True,
        domains="native",
        pages=True,
        language=True,
        region=True,
        safesearch=True,
    )

    def to_request(self, query: str, limit: int, filters: Filters) -> Mapped:
        """Convert a query to a request."""
        mapped = Mapped({"query": query, "count": min(limit, _MAX_RESULTS), "safesearch": filters.safesearch})
        body = mapped.values
        if filters.page > 1:
            body["offset"] = filters.page - 1  # counted in pages of `count` rows
        if freshness := _freshness(filters, self.today):
            body["freshness"] = freshness
        keys = ("include_domains", "exclude_domains")
        body |= mapped.domain_lists(filters, self.name, keys, most=_MAX_DOMAINS, one_list=True)
        if language := mapped.known_language(filters, "you"):
            body["language"] = language.upper()
        if country := mapped.country_code(filters, "you"):
            body["country"] = country
        return mapped

    def to_results(self, reply: Response, mapped: Mapped) -> Results:
        """Parse the results in a response."""
        found = self.answer(reply).get("results")
        if not isinstance(found, dict):
            raise UnexpectedResponse(self.name, "answered with JSON that has no results", status=reply.status)
        web, news = found.get("web"), found.get("news")  # either may be absent
        if any(section is not None and not isinstance(section, list) for section in (web, news)):
            raise UnexpectedResponse(self.name, "answered with results of an unexpected form", status=reply.status)
        sections = ((web, self.name), (news, f"{self.name} (news)"))
        rows = tuple(row for items, source in sections for item in objects(items) if (row := _row(item, source)))
        if (web or news) and not rows:
            raise UnexpectedResponse(self.name, "answered with results without URLs", status=reply.status)
        return Results(rows, status=reply.status)


def _freshness(filters: Filters, today: date | None) -> str:
    """Return the single time filter that a request may have: a keyword, or two dates."""
    if not filters.published_after and not filters.published_before:
        return RANGE_NAMES.get(filters.time_range, "")
    start, end = window(filters, today)
    end = end or today or datetime.now(UTC).date()
    return f"{min(start or _FIRST_DAY, end).isoformat()}to{end.isoformat()}"


def _row(item: dict[str, Any], source: str) -> SearchResult | None:
    passages = item.get("snippets")
    snippet = "\n".join(text_or_empty(part) for part in passages) if isinstance(passages, list) else ""
    return result(
        source,
        url=item.get("url"),
        title=item.get("title"),
        snippet=snippet.strip() or item.get("description"),
        date=item.get("page_age"),
    )
