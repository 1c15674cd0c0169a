"""OpenAlex, an open catalog of papers (https://developers.openalex.org, read on 2026-11-28).

Without a key an address has about 100 searches a day, with a free one 1,000. The former `mailto` parameter has had no
effect since February 2026; the User-Agent identifies the client. A key goes into the header that pyalex 0.21 uses.
"""

from __future__ import annotations

from typing import Any, ClassVar, Literal

from groundwire.errors import QuotaExceeded, RateLimited, UnexpectedResponse
from groundwire.models import Filters, Results, SearchResult
from groundwire.providers.base import ANY_RANGE, Capabilities
from groundwire.providers.http_api import SearchApiProvider
from groundwire.providers.http_parsing import ErrorRule, json_or_empty, number_or_none, objects, result, value_at
from groundwire.providers.http_parsing import text_or_empty as text_of
from groundwire.providers.papers import arxiv_page, with_byline
from groundwire.providers.query_mapping import Mapped, clipped, window
from groundwire.transport import Response

_MAX_RESULTS = 100
_MAX_QUERY = 1_000  # characters; a whole address may have 4 KB
_MAX_WORDS = 400  # of an abstract, more than a result can show
_SEARCH_CREDITS = 10  # of one search
_FIELDS = (
    "id,doi,display_name,publication_date,authorships,primary_location,best_oa_location,cited_by_count,"
    "abstract_inverted_index"
)


def _is_spent(reply: Response) -> bool:
    """Return whether the day's credits, rather than requests a second, are used up."""
    remaining_credits = reply.headers.get("X-RateLimit-Remaining", "")
    spent = remaining_credits.isdecimal() and int(remaining_credits[:9]) < _SEARCH_CREDITS
    return spent or "budget" in text_of(json_or_empty(reply).get("message")).lower()


def _reset(reply: Response) -> float | None:
    text = reply.headers.get("X-RateLimit-Reset", "")
    return float(text) if text.isdecimal() and len(text) < 7 else None  # seconds until midnight UTC


class OpenAlexSearchProvider(SearchApiProvider):
    """Search in the papers that OpenAlex lists, with or without a key."""

    service = "https://api.openalex.org"
    key_variables: ClassVar[tuple[str, ...]] = ("OPENALEX_API_KEY",)
    key_page = "https://openalex.org/settings/api"
    key_needed = False
    keyless: ClassVar[bool] = True
    terms: ClassVar[str] = "https://developers.openalex.org/api-reference/authentication"
    search_method: ClassVar[Literal["GET", "POST"]] = "GET"
    search_path = "/works"
    errors: ClassVar[tuple[ErrorRule, ...]] = (
        ErrorRule(
            QuotaExceeded,
            "the day's searches are used up",
            "Set OPENALEX_API_KEY (a free key has ten times as many), or add credit to the account",
            status=(429,),
            when=_is_spent,
            retry_after=_reset,
        ),
        ErrorRule(RateLimited, "too many requests", status=(403,), at="error message", pattern="(?i)rate limit"),
    )
    capabilities: Capabilities = Capabilities(
        search=True, max_results=_MAX_RESULTS, time_ranges=ANY_RANGE, dates=True, pages=True, language=True
    )

    def to_request(self, query: str, limit: int, filters: Filters) -> Mapped:
        """Convert a query to a request."""
        words, warnings = clipped(self.name, query, characters=_MAX_QUERY)
        words = words.replace("?", " ").strip()  # a wildcard there
        values = {"search": words, "per_page": str(min(limit, _MAX_RESULTS)), "select": _FIELDS}
        mapped = Mapped(values, warnings=warnings)
        if filters.page > 1:
            values["page"] = str(filters.page)
        days = zip(("from_publication_date", "to_publication_date"), window(filters, self.today), strict=True)
        conditions = [f"{key}:{day.isoformat()}" for key, day in days if day]
        if language := mapped.language_code(filters):
            conditions.append(f"language:{language}")
        if conditions:
            values["filter"] = ",".join(conditions)
        return mapped

    def to_results(self, reply: Response, mapped: Mapped) -> Results:
        """Parse the results in a response."""
        data = self.answer(reply)
        if number_or_none(value_at(data, "meta.count")) is None:
            raise UnexpectedResponse(self.name, "answered with JSON that counts no results", status=reply.status)
        return self.rows(reply, data.get("results"), _row)


def _row(item: dict[str, Any], name: str) -> SearchResult | None:
    doi, page, open_page = (text_of(value_at(item, path)) for path in _ADDRESSES)
    authors = [text_of(value_at(authorship, "author.display_name")) for authorship in objects(item.get("authorships"))]
    venue = text_of(value_at(item, "primary_location.source.display_name"))
    cited = int(number_or_none(item.get("cited_by_count")) or 0)
    return result(
        name,
        url=next(filter(None, map(arxiv_page, (doi, open_page, page))), "") or doi or page or item.get("id"),
        title=item.get("display_name"),
        snippet=with_byline(_abstract(item.get("abstract_inverted_index")), list(filter(None, authors)), venue, cited),
        date=item.get("publication_date"),
    )


_ADDRESSES = ("doi", "primary_location.landing_page_url", "best_oa_location.landing_page_url")


def _abstract(index: object) -> str:
    """Return the text of an index that has the places of each word."""
    words = {
        place: word
        for word, places in (index.items() if isinstance(index, dict) else ())
        for place in (places if isinstance(places, list) else ())
        if type(place) is int and 0 <= place < _MAX_WORDS
    }
    return " ".join(words[place] for place in sorted(words))
