"""Exa: web search by meaning, and the contents of pages (https://exa.ai/docs)."""

from __future__ import annotations

from typing import Any, Literal, cast

from groundwire.deadline import Deadline
from groundwire.errors import PageError, QuotaExceeded, RateLimited, UnexpectedResponse
from groundwire.models import NO_FILTERS, Filters, ReadResult, Results, SearchResult
from groundwire.providers.base import Capabilities
from groundwire.providers.http_api import ApiOptions, ApiProvider, Mapped
from groundwire.providers.http_parsing import (
    clean,
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
    said,
    text_or_empty,
    window,
)
from groundwire.providers.query_mapping import domain_lists
from groundwire.providers.result_rows import result, results
from groundwire.transport import Reply

__all__ = ["ExaOptions", "ExaProvider", "parse", "parse_page", "to_body"]

_MOST_RESULTS = 100  # with highlights
_MOST_DOMAINS = 1_200
_SNIPPET = 1_000  # characters of highlights for a row; without a bound five rows have been 170 kB
_PAGE = 500_000  # characters of a page
_READ_TIMEOUT = 30.0  # seconds
_NO_MONEY = frozenset({"NO_MORE_CREDITS", "API_KEY_BUDGET_EXCEEDED"})
_STATUSES = {"CRAWL_NOT_FOUND": 404, "SOURCE_NOT_AVAILABLE": 403}  # tags of pages, where no status comes with them


class ExaOptions(ApiOptions):
    """`[providers.exa]`."""

    type: Literal["auto", "fast", "instant", "lite", "neural", "deep-lite", "deep", "deep-reasoning"] = "auto"
    """How to search; the deep ones take longer and cost about twice as much."""
    category: str = ""
    """What to look for, such as `news` or `research paper`; empty means everything."""


class ExaProvider(ApiProvider):
    """Web search and reading by Exa; one instance serves both roles."""

    service = "https://api.exa.ai"
    key_variables = ("EXA_API_KEY",)
    key_page = "https://dashboard.exa.ai/api-keys"
    key_header = "x-api-key"
    Options = ExaOptions
    capabilities = Capabilities(
        search=True,
        read=True,
        max_results=_MOST_RESULTS,
        time_ranges=frozenset({"d", "w", "m", "y"}),
        dates=True,
        domains="native",
        region=True,
        safesearch=True,
    )

    async def search(
        self, query: str, *, limit: int = 5, filters: Filters = NO_FILTERS, deadline: Deadline | None = None
    ) -> Results:
        """Search; see `SearchProvider.search`."""
        mapped = to_body(query, limit, filters, cast("ExaOptions", self._options))

        def read(reply: Reply) -> Results:
            return self.finished(parse(reply, self.name), mapped, self._cost(reply, "request"))

        return await self.ask("POST", "/search", read, json_body=mapped.values, deadline=deadline)

    async def read_url(self, url: str, *, deadline: Deadline | None = None) -> ReadResult:
        """Read a page; see `ReadProvider.read_url`."""
        body = {"urls": [url], "text": {"maxCharacters": _PAGE}}

        def read(reply: Reply) -> ReadResult:
            page = parse_page(reply, url, self.name)
            return page.model_copy(update={"cost_usd": self._cost(reply, "page")})

        return await self.ask("POST", "/contents", read, json_body=body, deadline=deadline, timeout=_READ_TIMEOUT)

    def _cost(self, reply: Reply, unit: str) -> float:
        """Return what a good answer cost: the total that it names, else that of the price list."""
        cost = json_object(reply, self.name).get("costDollars")
        total = number_or_none(cost.get("total")) if isinstance(cost, dict) else None
        return self._prices.cost(unit) if total is None else max(0.0, total)


def to_body(query: str, limit: int, filters: Filters, options: ExaOptions | None = None) -> Mapped:
    """Return the body of a search, and what became of the filters."""
    options = options or ExaOptions()
    mapped = Mapped({"query": query, "type": options.type, "numResults": min(limit, _MOST_RESULTS)})
    body = mapped.values
    body["contents"] = {"highlights": {"maxCharacters": _SNIPPET}}
    body["moderation"] = filters.safesearch != "off"
    if options.category:
        body["category"] = options.category
    keys = ("includeDomains", "excludeDomains")
    body |= domain_lists(mapped, filters, "exa", keys, most=_MOST_DOMAINS, one_list=True)
    first, last = window(filters)
    if first:
        body["startPublishedDate"] = f"{first.isoformat()}T00:00:00.000Z"
    if last:
        body["endPublishedDate"] = f"{last.isoformat()}T23:59:59.999Z"
    if filters.region:
        body["userLocation"] = filters.region.upper()
    return mapped


def parse(reply: Reply, name: str = "exa") -> Results:
    """Read the answer to a search.

    Raises:
        ProviderError: it is a failure, or not of the service's form.
    """
    return results(reply, name, _checked(reply, name).get("results"), _row)


def parse_page(reply: Reply, url: str, name: str = "exa") -> ReadResult:
    """Read the answer to a request for one page. How the page itself fared stands in `statuses`.

    Raises:
        PageError: the page cannot be had. ProviderError: the answer is a failure, or not of the service's form.
    """
    if reply.status >= 400 and _tag(reply) == "NO_CONTENT_FOUND":
        raise empty_page(url)
    data = _checked(reply, name)
    if not isinstance(data.get("results"), list) and not isinstance(data.get("statuses"), list):
        raise UnexpectedResponse(name, "answered with JSON that has no list of results", status=reply.status)
    for item in objects(data.get("results")):
        content = clean(item.get("text"))
        if content.strip():
            return ReadResult(
                url=url,
                title=clean(item.get("title")),
                content=content,
                content_length=len(content),
                truncated=len(content) >= _PAGE,
                success=True,
                final_url=clean(item.get("url")),
                published=day(text_or_empty(item.get("publishedDate"))) or None,
            )
    for item in objects(data.get("statuses")):
        if item.get("status") != "success":
            raise _failed_page(url, item.get("error"))
    raise empty_page(url)


def _failed_page(url: str, error: object) -> PageError:
    """Return the error for an entry of `statuses`, by the page's status or else by the tag."""
    known = error if isinstance(error, dict) else {"tag": error}
    tag = text_or_empty(known.get("tag"))
    code = number_or_none(known.get("httpStatusCode"))
    return page_failure(url, status=int(code) if code else _STATUSES.get(tag), words=said(tag))


def _checked(reply: Reply, name: str) -> dict[str, Any]:
    """Return the body of a good answer, or raise what the service says."""
    if reply.status >= 400 and _tag(reply) in _NO_MONEY:
        fix = "Add credits, or raise the key's budget"
        raise failure(QuotaExceeded, reply, name, "the credits or the key's budget are used up", fix=fix)
    if reply.status == 503 and error_text(reply):  # its own word for too much load; a proxy's 503 has no JSON
        raise failure(RateLimited, reply, name, "overloaded")
    raise_for_status(reply, name)
    return json_object(reply, name)


def _tag(reply: Reply) -> str:
    return text_or_empty(json_or_empty(reply).get("tag"))


def _row(item: dict[str, Any], name: str) -> SearchResult | None:
    return result(
        name,
        url=item.get("url"),
        title=item.get("title"),
        snippet=_snippet(item),
        date=item.get("publishedDate"),
        score=item.get("score"),
    )


def _snippet(item: dict[str, Any]) -> str:
    """Return the text, the highlights or the summary, whichever was asked for and came."""
    highlights = item.get("highlights")
    parts = [part for part in highlights if isinstance(part, str)] if isinstance(highlights, list) else []
    return text_or_empty(item.get("text")) or " … ".join(parts) or text_or_empty(item.get("summary"))
