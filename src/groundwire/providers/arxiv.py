"""arXiv's own search (https://info.arxiv.org/help/api/user-manual.html and tou.html, read on 2026-11-28).

Results are an Atom feed, and so are some errors, also with status 200.
"""

from __future__ import annotations

import re
from typing import TYPE_CHECKING, ClassVar, Literal

from pydantic import Field

from groundwire.errors import RateLimited, RequestRefused, UnexpectedResponse
from groundwire.models import Filters, Results, SearchResult
from groundwire.models.frequent_words import FREQUENT
from groundwire.providers.base import ANY_RANGE, Capabilities
from groundwire.providers.http_api import ApiOptions, SearchApiProvider
from groundwire.providers.http_parsing import ANY_STATUS, ErrorRule, raise_for_error, result, results, short_message
from groundwire.providers.papers import arxiv_page, with_byline
from groundwire.providers.query_mapping import Mapped, clipped, window
from groundwire.transport import Response

if TYPE_CHECKING:
    from lxml.etree import _Element

_MAX_RESULTS, _MAX_WORDS = 50, 30  # the service takes up to 2,000 results
_TERM = re.compile(r'"[^"]{1,300}"|[^\W_]+(?:[-.\'’][^\W_]+)*')


class ArxivOptions(ApiOptions):
    """`[providers.arxiv]`."""

    delay: float = Field(default=3.0, ge=0, le=3_600)
    """Seconds between two requests, across all processes that share the store; arXiv's terms require three."""


class ArxivSearchProvider(SearchApiProvider):
    """Search in the papers of arXiv."""

    service = "https://export.arxiv.org"
    keyless: ClassVar[bool] = True
    terms: ClassVar[str] = "https://info.arxiv.org/help/api/tou.html"
    search_method: ClassVar[Literal["GET", "POST"]] = "GET"
    search_path = "/api/query"
    errors: ClassVar[tuple[ErrorRule, ...]] = (
        ErrorRule(
            RateLimited,
            "too many requests",
            status=ANY_STATUS,
            when=lambda reply: reply.body[:100].lstrip().lower().startswith(b"rate exceeded"),
        ),
    )
    Options: ClassVar[type[ArxivOptions]] = ArxivOptions
    _options: ArxivOptions
    capabilities: Capabilities = Capabilities(
        search=True, max_results=_MAX_RESULTS, time_ranges=ANY_RANGE, dates=True, pages=True
    )

    def to_request(self, query: str, limit: int, filters: Filters) -> Mapped:
        """Convert a query to a request: all of its words, without those that occur in every text."""
        text, warnings = clipped(self.name, query, characters=2_000, words=_MAX_WORDS)
        terms = _TERM.findall(text)
        rare_terms = [term for term in terms if term.lower() not in FREQUENT] or terms or [text]
        parts = [f"all:{term}" if term.isalnum() else f'all:"{term.strip(chr(34))}"' for term in rare_terms]
        first, last = window(filters, self.today)
        if first or last:
            since, until = (
                f"{day:%Y%m%d}" if day else other for day, other in ((first, "19910101"), (last, "29991231"))
            )
            parts.append(f"submittedDate:[{since}0000 TO {until}2359]")
        rows = min(limit, _MAX_RESULTS)
        values = {"search_query": " AND ".join(parts), "sortBy": "relevance"}
        values |= {"start": str((filters.page - 1) * rows), "max_results": str(rows)}
        return Mapped(values, warnings=warnings, headers={"Accept": "application/atom+xml"})

    def to_results(self, reply: Response, mapped: Mapped) -> Results:
        """Parse the results in a response."""
        raise_for_error(reply, self.name, self.errors)
        feed = self._feed(reply)
        entries = feed.findall("{*}entry")
        if entries and "/api/errors" in _text(entries[0], "id"):
            words = short_message(_text(entries[0], "summary"))
            raise RequestRefused(self.name, f"the request was refused: {words}", status=reply.status)
        count, start = _text(feed, "totalResults"), int(mapped.values.get("start", 0))
        if not entries and (not count.isdecimal() or int(count[:9]) > start):  # it sometimes leaves a page out
            raise UnexpectedResponse(self.name, "answered with a feed that lacks its results", status=reply.status)
        return results(reply, self.name, entries, [_row(entry, self.name) for entry in entries])

    def _feed(self, reply: Response) -> _Element:
        from lxml import etree  # slow to load

        parser = etree.XMLParser(resolve_entities=False, load_dtd=False, no_network=True, huge_tree=False)
        try:
            feed = etree.fromstring(reply.body, parser)
        except (etree.XMLSyntaxError, ValueError, LookupError):
            feed = None
        if feed is None or feed.tag != "{http://www.w3.org/2005/Atom}feed":
            raise UnexpectedResponse(self.name, "answered with something that is not a feed", status=reply.status)
        return feed


def _text(element: _Element, name: str) -> str:
    return " ".join(element.findtext(f"{{*}}{name}", "").split())


def _row(entry: _Element, name: str) -> SearchResult | None:
    url = _text(entry, "id")
    authors = [_text(author, "name") for author in entry.findall("{*}author")]
    return result(
        name,
        url=arxiv_page(url) or url,
        title=_text(entry, "title"),
        snippet=with_byline(_text(entry, "summary"), authors, _text(entry, "journal_ref")),
        date=_text(entry, "published"),
    )
