"""DuckDuckGo's pages for browsers without scripts (https://lite.duckduckgo.com/lite/), without a key.

There is no API and no stability guarantee: the page is scraped, see `duckduckgo_page`.
"""

from __future__ import annotations

import re
from collections.abc import Mapping
from dataclasses import replace
from typing import ClassVar, Literal

from groundwire.deadline import Deadline
from groundwire.errors import BlockedAddress, InvalidRequest, UnexpectedResponse
from groundwire.models import NO_FILTERS, Filters, Results
from groundwire.providers.base import ANY_RANGE, Capabilities
from groundwire.providers.duckduckgo_page import document, form_region, next_fields, parse, speaks
from groundwire.providers.http_api import ApiOptions, SearchApiProvider
from groundwire.providers.query_mapping import Mapped, clipped
from groundwire.safety.urls import WebUrl, join_url, parse_url
from groundwire.transport import Response

Endpoint = Literal["lite", "html"]

_NEUTRALIZED = "duckduckgo_lite: characters that it treats as operators (! \\) were removed from the query"
_MOST_REDIRECTS = 3
_CAP = 1_000_000  # bytes; the recorded pages have 25,000 to 45,000
_LONGEST = 499  # characters of a query; according to SearXNG, longer ones are rejected
_PER_PAGE = 10  # the first page; further ones have 15
_ADDRESSES: Mapping[Endpoint, str] = {"lite": "https://lite.duckduckgo.com", "html": "https://html.duckduckgo.com"}
_REDIRECTS = frozenset({301, 302, 303, 307, 308})


class DuckDuckGoLiteOptions(ApiOptions):
    """`[providers.duckduckgo_lite]`."""

    endpoint: Endpoint = "lite"
    """Which of the two pages to use; each has its own rate limit."""


class DuckDuckGoLiteSearchProvider(SearchApiProvider):
    """Web search with DuckDuckGo's HTML and lite pages."""

    service: ClassVar[str] = _ADDRESSES["lite"]
    keyless: ClassVar[bool] = True
    terms: ClassVar[str] = "https://duckduckgo.com/terms"
    search_timeout: ClassVar[float] = 15.0
    Options: ClassVar[type[DuckDuckGoLiteOptions]] = DuckDuckGoLiteOptions
    _options: DuckDuckGoLiteOptions
    capabilities: Capabilities = Capabilities(
        search=True, max_results=_PER_PAGE, time_ranges=ANY_RANGE, domains="operator", pages=True, region=True
    )

    @property
    def address(self) -> str:
        """The URL of the page."""
        endpoint = self._options.endpoint
        return f"{_ADDRESSES[endpoint] if self._base == self.service else self._base}/{endpoint}/"

    def headers(self, key: str | None) -> Mapping[str, str]:
        """Return the headers of a request; the user agent is the transport's own."""
        del key
        return {"Accept": "text/html, application/xhtml+xml"}

    def to_request(self, query: str, limit: int, filters: Filters) -> Mapped:
        """Return the form fields for a first page; its size is fixed."""
        words, warnings = clipped(self.name, neutralize(query), characters=_LONGEST)
        if re.search(r"(?<!\S)[!\\]", query):
            warnings.append(_NEUTRALIZED)
        mapped = Mapped({"q": words}, warnings=warnings)
        mapped.add_sites(filters, self.name)
        if self._options.endpoint == "html":
            mapped.values["b"] = ""
        mapped.values["kl"] = region = form_region(filters)
        mapped.values["df"] = "" if filters.time_range == "all" else filters.time_range
        if filters.region and not region:
            mapped.applied["region"] = "not_possible"
        if region and filters.language and speaks(region, filters.language):
            mapped.applied["language"] = "native"
        return mapped

    def to_results(self, reply: Response, mapped: Mapped) -> Results:
        """Parse a result page of either kind."""
        return parse(reply, self.name)

    async def search(
        self, query: str, *, limit: int = 5, filters: Filters = NO_FILTERS, deadline: Deadline | None = None
    ) -> Results:
        """Search; see `SearchProvider.search`.

        The service returns a further page only with a token from the first one, which takes a second request.
        """
        deadline = (deadline or Deadline.after(self.search_timeout)).capped(self.search_timeout)
        mapped = self.to_request(query, limit, filters)
        reply = await self._ask(mapped.values, deadline)
        results = self.to_results(reply, mapped)
        if filters.page > 1 and results:
            onwards = next_fields(document(reply.body))
            if not onwards:
                return self.finish(replace(results, items=()), mapped)
            start = _PER_PAGE + (filters.page - 2) * 15  # 10 for the second page, then 25, 40 and so on
            form = {**onwards, **mapped.values, "s": str(start), "dc": str(start + 1)}
            results = self.to_results(await self._ask(form, deadline), mapped)
        return self.finish(results, mapped)

    async def _ask(self, form: Mapping[str, str], deadline: Deadline) -> Response:
        """Submit a form and follow redirects within the site, each checked by the guard."""
        method: Literal["GET", "POST"] = "POST"
        target = parse_url(self.address)
        for _ in range(_MOST_REDIRECTS + 1):
            fields, headers = form if method == "POST" else None, self.headers(None)
            reply = await self._transport.call(
                self.name, method, target.text, deadline=deadline, headers=headers, form=fields, cap=_CAP
            )
            if reply.status not in _REDIRECTS:
                return reply
            target = _onwards(target, reply, self.name)
            if reply.status not in {307, 308}:
                method = "GET"  # as browsers do (Fetch standard, 4.4)
        raise UnexpectedResponse(self.name, f"redirects more than {_MOST_REDIRECTS} times", status=reply.status)


def neutralize(query: str) -> str:
    r"""Return the query without the operators that redirect to other sites: `!w x`, `w! x`, `\x`."""
    words = (word.lstrip("!\\").rstrip("!") for word in query.split())
    return " ".join(word for word in words if word) or f'"{"".join(query.split())}"'


def _onwards(target: WebUrl, reply: Response, name: str) -> WebUrl:
    """Return the target of a redirect, if it is on the same site."""
    location = reply.headers.get("Location", "")
    try:
        there = join_url(target, location)
    except (InvalidRequest, BlockedAddress) as error:
        raise UnexpectedResponse(name, "redirects to an invalid URL", status=reply.status) from error
    both = (target, there)
    ours = all(url.scheme == "https" and f".{url.host}".endswith(".duckduckgo.com") for url in both)
    if not location or not (ours or target.origin == there.origin):
        raise UnexpectedResponse(name, "redirects elsewhere", status=reply.status, fix="Check base_url")
    return there
