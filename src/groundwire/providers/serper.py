"""Serper, the results of Google search (https://serper.dev)."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any, ClassVar, Final

from groundwire.errors import QuotaExceeded
from groundwire.models import Filters, Results, SearchResult
from groundwire.providers.base import ANY_RANGE, Capabilities
from groundwire.providers.http_api import SearchApiProvider
from groundwire.providers.http_parsing import ANY_STATUS, ErrorRule, objects, result, text_or_empty, value_at
from groundwire.providers.query_mapping import Mapped
from groundwire.transport import Response

_MAX_RESULTS = 100  # of one request; more than ten cost a second credit
_WITH_ROWS = frozenset({"", "search", "news"})  # search types; images and places have no pages
_BOXES = frozenset({"answerBox", "knowledgeGraph", "peopleAlsoAsk"})
_LANGUAGES = frozenset({"es-419", "pt-br", "pt-pt", "zh-cn", "zh-tw"})  # those with more than a language code
_SAFE: Final[Mapping[str, str]] = {"off": "off", "strict": "active"}  # Google's own default is between the two
_ERRORS = (
    ErrorRule(
        QuotaExceeded,
        "the account has no credits",
        "Buy credits at serper.dev",
        status=ANY_STATUS,
        at="message",
        pattern="(?i)credit",
    ),
)


class SerperSearchProvider(SearchApiProvider):
    """Web search with Serper."""

    service = "https://google.serper.dev"
    key_variables: ClassVar[tuple[str, ...]] = ("SERPER_API_KEY",)
    key_page = "https://serper.dev"
    key_header = "X-API-KEY"
    errors: ClassVar[tuple[ErrorRule, ...]] = _ERRORS
    capabilities: Capabilities = Capabilities(
        search=True,
        max_results=_MAX_RESULTS,
        time_ranges=ANY_RANGE,
        dates=True,
        domains="operator",
        pages=True,
        language=True,
        region=True,
        safesearch=True,
    )

    def to_request(self, query: str, limit: int, filters: Filters) -> Mapped:
        """Convert a query to a request."""
        mapped = Mapped({"q": query, "num": min(limit, _MAX_RESULTS)})
        mapped.add_sites(filters, self.name)
        if filters.page > 1:
            mapped.values["page"] = filters.page
        if tbs := mapped.google_dates(filters, self.today):
            mapped.values["tbs"] = tbs
        if filters.region:
            mapped.values["gl"] = filters.region.lower()
        if filters.language:
            mapped.values["hl"] = _language(filters.language)
        if filters.safesearch in _SAFE:
            mapped.values["safe"] = _SAFE[filters.safesearch]
        return mapped

    def to_results(self, reply: Response, mapped: Mapped) -> Results:
        """Parse a response of any search type, as gateways have them; only those of the web and the news have rows."""
        data = self.answer(reply)
        kind = text_or_empty(value_at(data, "searchParameters.type"))
        rows = data.get("organic", data.get("news", [] if kind not in _WITH_ROWS else None))
        if rows is None and _BOXES & data.keys():  # all that Google has for some questions
            boxes = (data.get("answerBox"), data.get("knowledgeGraph"), *objects(data.get("peopleAlsoAsk")))
            rows = [box for box in boxes if isinstance(box, dict) and box.get("link")]
        return self.rows(reply, rows, _row)

    def search_cost(self, reply: Response, results: Results) -> float:
        """Return the cost of a search from the credits stated in the response."""
        return self.charge(reply, "credits", "credit")


def _language(tag: str) -> str:
    parts = tag.lower().split("-")
    if parts[0] == "zh":
        return "zh-tw" if {"hant", "tw", "hk", "mo"} & set(parts) else "zh-cn"
    code = "-".join(parts[:2])
    return code if code in _LANGUAGES else parts[0]


def _row(item: dict[str, Any], name: str) -> SearchResult | None:
    return result(
        name, url=item.get("link"), title=item.get("title"), snippet=item.get("snippet"), date=item.get("date")
    )
