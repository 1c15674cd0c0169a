"""You.com, web and news results from its own index (https://you.com/docs/api-reference/search)."""

from __future__ import annotations

from typing import Any, ClassVar

from groundwire.errors import QuotaExceeded, UnexpectedResponse
from groundwire.models import Filters, Results, SearchResult
from groundwire.providers.base import ANY_RANGE, Capabilities
from groundwire.providers.http_api import ApiOptions, SearchApiProvider
from groundwire.providers.http_parsing import ErrorRule, joined, objects, result, short_message, text_or_empty, value_at
from groundwire.providers.query_mapping import RANGE_NAMES, Mapped
from groundwire.providers.you_contents import YouContents
from groundwire.transport import Response

_MAX_RESULTS = 100  # of the web, and as many of the news
_MAX_DOMAINS = 500
_USED_UP = ("the account's quota is used up", "Add credit to the account")
_ERRORS = (ErrorRule(QuotaExceeded, *_USED_UP, status=(402,), wait="reset_at"),)


class YouOptions(ApiOptions):
    """`[providers.you]`."""

    highlights: bool = False
    """Whether snippets are the passages that answer the query best, which are longer, instead of the usual ones."""
    knowledge: bool = False
    """Whether licensed data (prices, companies, sports, weather) is searched too; it has no URL, so it is a warning."""


class YouSearchProvider(SearchApiProvider, YouContents):
    """Web search and reading with the You.com APIs; one instance serves both roles.

    News follow the web pages, so there may be more rows than requested.
    """

    service = "https://ydc-index.io"  # where youdotcom 3.6.0 sends searches, read on 2026-11-28
    key_variables: ClassVar[tuple[str, ...]] = ("YDC_API_KEY", "YOU_API_KEY", "YOUCOM_API_KEY")
    key_page = "https://you.com/platform"
    key_header = "X-API-Key"
    search_path = "/v1/search"
    errors: ClassVar[tuple[ErrorRule, ...]] = _ERRORS
    Options: ClassVar[type[ApiOptions]] = YouOptions
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
        if freshness := mapped.freshness(filters, RANGE_NAMES, self.today):
            body["freshness"] = freshness
        keys = ("include_domains", "exclude_domains")
        body |= mapped.domain_lists(filters, self.name, keys, most=_MAX_DOMAINS, one_list=True)
        if language := mapped.known_language(filters, "you"):
            body["language"] = language.upper()
        if country := mapped.country_code(filters, "you"):
            body["country"] = country
        if isinstance(self._options, YouOptions):  # a request without a key has neither
            body |= {"extraction": {"extraction_mode": "highlights"}} if self._options.highlights else {}
            body |= {"knowledge": "core"} if self._options.knowledge else {}
        return mapped

    def to_results(self, reply: Response, mapped: Mapped) -> Results:
        """Parse the results in a response."""
        sections = self.answer(reply).get("results")
        if not isinstance(sections, dict):
            raise UnexpectedResponse(self.name, "answered with JSON that has no results", status=reply.status)
        web, news, facts = (sections.get(name) for name in ("web", "news", "knowledge"))  # any may be absent
        if any(section is not None and not isinstance(section, list) for section in (web, news, facts)):
            raise UnexpectedResponse(self.name, "answered with results of an unexpected form", status=reply.status)
        sections = ((web, self.name), (news, f"{self.name} (news)"))
        rows = tuple(row for items, source in sections for item in objects(items) if (row := _row(item, source)))
        if (web or news) and not rows:
            raise UnexpectedResponse(self.name, "answered with results without URLs", status=reply.status)
        return Results(rows, status=reply.status, warnings=tuple(_fact(item, self.name) for item in objects(facts)))


def _fact(item: dict[str, Any], name: str) -> str:
    """Return an entry of licensed data, with its day and who licensed it."""
    by = joined([source.get("name") for source in objects(item.get("attribution"))], ", ")
    about = ", ".join(part for part in (text_or_empty(item.get("as_of")), by) if part) or "licensed data"
    fact = short_message(": ".join(text_or_empty(item.get(key)) for key in ("title", "description")))
    return f"{name}: {fact} ({about})"


def _row(item: dict[str, Any], source: str) -> SearchResult | None:
    return result(
        source,
        url=item.get("url"),
        title=item.get("title"),
        snippet=joined(value_at(item, "contents.highlights"))
        or joined(item.get("snippets"))
        or item.get("description"),
        date=item.get("page_age"),
    )
