"""Perplexity Search, ranked pages without a written answer (https://docs.perplexity.ai/api-reference/search-post)."""

from __future__ import annotations

import re
from datetime import date
from typing import Any, Literal, cast

from pydantic import Field

from groundwire.deadline import Deadline
from groundwire.errors import QuotaExceeded
from groundwire.models import NO_FILTERS, Filters, Results, SearchResult
from groundwire.providers.base import Capabilities
from groundwire.providers.http_api import ApiOptions, ApiProvider, Mapped
from groundwire.providers.http_parsing import failure, json_object, raise_for_status, text_or_empty, window
from groundwire.providers.query_mapping import domain_lists
from groundwire.providers.result_rows import result, results
from groundwire.transport import Reply

__all__ = ["PerplexityOptions", "PerplexitySearchProvider", "parse", "to_body"]

_MAX_RESULTS = 20
_MAX_DOMAINS = 20
_TIME_RANGES = {"d": "day", "w": "week", "m": "month", "y": "year"}
# An account without credit gets 401 or 429, the statuses of a wrong key and of haste: only the words differ.
_NO_CREDIT = re.compile(
    r"(?i)insufficient[ _-]?(quota|credit|balance|fund)|exceeded your (current )?quota|out of credit"
)
_MAY_MEAN_MONEY = frozenset({401, 403, 429})


class PerplexityOptions(ApiOptions):
    """`[providers.perplexity]`."""

    mode: Literal["web", "academic", "sec"] = "web"
    """What is searched: the web, papers, or the filings of the US Securities and Exchange Commission."""
    max_tokens_per_page: int = Field(default=256, ge=1, le=1_000_000)
    """How much of a page comes as its snippet, in tokens; 256 are about the 1,000 characters that a snippet keeps."""


class PerplexitySearchProvider(ApiProvider):
    """Web search by the Perplexity Search API."""

    service = "https://api.perplexity.ai"
    key_variables = ("PERPLEXITY_API_KEY",)
    key_page = "https://www.perplexity.ai/account/api/keys"
    Options = PerplexityOptions
    capabilities = Capabilities(
        search=True,
        max_results=_MAX_RESULTS,
        time_ranges=frozenset({"d", "w", "m", "y"}),
        dates=True,
        domains="native",
        language=True,
        region=True,
    )

    async def search(
        self, query: str, *, limit: int = 5, filters: Filters = NO_FILTERS, deadline: Deadline | None = None
    ) -> Results:
        """Search; see `SearchProvider.search`."""
        mapped = to_body(query, limit, filters, cast("PerplexityOptions", self._options), self.name)
        found = await self.ask(
            "POST", "/search", lambda reply: parse(reply, self.name), deadline=deadline, json_body=mapped.values
        )
        return self.finished(found, mapped)


def to_body(
    query: str,
    limit: int,
    filters: Filters,
    options: PerplexityOptions | None = None,
    name: str = "perplexity",
    *,
    today: date | None = None,
) -> Mapped:
    """Return a query as the body of a request; a time range ends `today`, by default the clock's day in UTC."""
    options = options or PerplexityOptions()
    mapped = Mapped(
        {
            "query": query,
            "max_results": min(limit, _MAX_RESULTS),
            "max_tokens_per_page": options.max_tokens_per_page,
        }
    )
    body = mapped.values
    if options.mode != "web":
        body["search_mode"] = options.mode
    lists = domain_lists(mapped, filters, name, ("", "-"), most=_MAX_DOMAINS, one_list=True)
    if lists:  # what is blocked has a sign before it
        body["search_domain_filter"] = [sign + domain for sign, domains in lists.items() for domain in domains]
    body |= _times(filters, today)
    if filters.language:
        language = filters.language.partition("-")[0].lower()
        if len(language) == 2:
            body["search_language_filter"] = [language]
        else:  # the filter takes the two letters of ISO 639-1 only
            mapped.applied["language"] = "not_possible"
    if filters.region:
        body["country"] = filters.region.upper()
    return mapped


def _times(filters: Filters, today: date | None) -> dict[str, Any]:
    """Return the date filters; a time range beside days becomes a day, for the service takes one kind only."""
    if not filters.published_after and not filters.published_before:
        return {} if filters.time_range == "all" else {"search_recency_filter": _TIME_RANGES[filters.time_range]}
    days = zip(("search_after_date_filter", "search_before_date_filter"), window(filters, today), strict=True)
    return {key: _american(moment) for key, moment in days if moment}


def _american(moment: date) -> str:
    return f"{moment.month}/{moment.day}/{moment.year}"


def parse(reply: Reply, name: str = "perplexity") -> Results:
    """Read an answer of any status.

    Raises:
        ProviderError: one of its classes; the answer is a failure.
    """
    if reply.status in _MAY_MEAN_MONEY and _is_about_money(reply):
        raise failure(QuotaExceeded, reply, name, "the account's credit is used up", fix="Add credit to the account")
    raise_for_status(reply, name)
    return results(reply, name, json_object(reply, name).get("results"), _row)


def _is_about_money(reply: Reply) -> bool:
    """Whether a failure names missing credit in its type, code or message."""
    try:
        data = reply.json()
    except ValueError:
        return False
    error = data.get("error", data) if isinstance(data, dict) else data
    said = [error.get(key) for key in ("type", "code", "message")] if isinstance(error, dict) else [error]
    return any(_NO_CREDIT.search(text_or_empty(words)) for words in said)


def _row(item: dict[str, Any], name: str) -> SearchResult | None:
    return result(
        name, url=item.get("url"), title=item.get("title"), snippet=item.get("snippet"), date=item.get("date")
    )
