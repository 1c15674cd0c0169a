"""Serper, the results of Google search (https://serper.dev)."""

from __future__ import annotations

import re
from datetime import date
from typing import Any, Literal, cast

from groundwire.deadline import Deadline
from groundwire.errors import QuotaExceeded
from groundwire.models import NO_FILTERS, Filters, Results, SearchResult
from groundwire.providers.base import Capabilities
from groundwire.providers.http_api import ApiOptions, ApiProvider, Mapped
from groundwire.providers.http_parsing import (
    day,
    failure,
    json_object,
    json_or_empty,
    number_or_none,
    raise_for_status,
    text_or_empty,
    window,
)
from groundwire.providers.query_mapping import with_site_operators
from groundwire.providers.result_rows import result, results
from groundwire.transport import Reply

__all__ = ["SerperOptions", "SerperSearchProvider", "credits_used", "parse", "to_body"]

_MOST = 100  # results of one request; more than ten cost a second credit
_ROWS = {"search": "organic", "news": "news"}  # where the rows are, by the type of the search
_LANGUAGES = frozenset(
    {"es-419", "pt-br", "pt-pt", "zh-cn", "zh-tw"}
)  # those that Google tells apart by more than the language
_SAFE = {"off": "off", "strict": "active"}  # Google's own default is between the two
_MONTHS = ("jan", "feb", "mar", "apr", "may", "jun", "jul", "aug", "sep", "oct", "nov", "dec")
_DAY = re.compile(r"([a-z]{3})[a-z]*\.? (\d{1,2}), (\d{4})", re.IGNORECASE)


class SerperOptions(ApiOptions):
    """`[providers.serper]`."""

    kind: Literal["web", "news"] = "web"
    """What to search: the web, or the news."""


class SerperSearchProvider(ApiProvider):
    """Web or news search by Serper."""

    Options = SerperOptions
    capabilities = Capabilities(
        search=True,
        max_results=_MOST,
        time_ranges=frozenset({"d", "w", "m", "y"}),
        dates=True,
        domains="operator",
        pages=True,
        language=True,
        region=True,
        safesearch=True,
    )
    service = "https://google.serper.dev"
    key_variables = ("SERPER_API_KEY",)
    key_page = "https://serper.dev"
    key_header = "X-API-KEY"

    async def search(
        self, query: str, *, limit: int = 5, filters: Filters = NO_FILTERS, deadline: Deadline | None = None
    ) -> Results:
        """Search; see `SearchProvider.search`."""
        options = cast("SerperOptions", self._options)
        mapped = to_body(query, limit, filters, name=self.name)
        used = 1.0

        def read(reply: Reply) -> Results:
            nonlocal used
            found = parse(reply, self.name)
            used = credits_used(reply)
            return found

        path = "/news" if options.kind == "news" else "/search"
        found = await self.ask("POST", path, read, deadline=deadline, json_body=mapped.values)
        return self.finished(found, mapped, self._prices.cost("credit", used))


def to_body(query: str, limit: int, filters: Filters, *, today: date | None = None, name: str = "serper") -> Mapped:
    """Return the body of a search.

    Args:
        query: The words.
        limit: The most results wanted.
        filters: What the results should satisfy.
        today: The day from which a time range counts, by default the system's in UTC.
        name: The provider's name, for the warnings.
    """
    text, warning = with_site_operators(query, filters)
    mapped = Mapped({"q": text, "num": min(limit, _MOST)})
    if warning:
        mapped.warnings.append(f"{name}: {warning}")
        mapped.applied |= {
            field: "post_filter" for field in ("allowed_domains", "blocked_domains") if getattr(filters, field)
        }
    if filters.page > 1:
        mapped.values["page"] = filters.page
    if tbs := _tbs(filters, today, mapped):
        mapped.values["tbs"] = tbs
    if filters.region:
        mapped.values["gl"] = filters.region.lower()
    if filters.language:
        mapped.values["hl"] = _language(filters.language)
    if filters.safesearch in _SAFE:
        mapped.values["safe"] = _SAFE[filters.safesearch]
    return mapped


def _tbs(filters: Filters, today: date | None, mapped: Mapped) -> str:
    """Return Google's own parameter for time: `qdr` for a range, `cdr` with American dates for two days."""
    if not filters.published_after and not filters.published_before:
        return "" if filters.time_range == "all" else f"qdr:{filters.time_range}"
    after, before = window(filters, today)
    if after and before and after > before:
        mapped.applied["time_range"] = "post_filter"
        after = filters.published_after
    parts = ["cdr:1"]
    parts += [f"cd_min:{after.month}/{after.day}/{after.year}"] if after else []
    parts += [f"cd_max:{before.month}/{before.day}/{before.year}"] if before else []
    return ",".join(parts)


def _language(tag: str) -> str:
    parts = tag.lower().split("-")
    if parts[0] == "zh":
        return "zh-tw" if {"hant", "tw", "hk", "mo"} & set(parts) else "zh-cn"
    whole = "-".join(parts[:2])
    return whole if whole in _LANGUAGES else parts[0]


def parse(reply: Reply, name: str = "serper") -> Results:
    """Read an answer of any type of search; only those of the web and of the news have rows.

    Args:
        reply: The answer.
        name: The provider's name.

    Raises:
        ProviderError: the answer is a failure.
    """
    _raise_for_error(reply, name)
    data = json_object(reply, name)
    asked = data.get("searchParameters")
    kind = text_or_empty(asked.get("type")) if isinstance(asked, dict) else ""
    key = _ROWS.get(kind) or next((key for key in _ROWS.values() if key in data), "organic")
    return results(reply, name, data.get(key, [] if kind and kind not in _ROWS else None), _row)


def credits_used(reply: Reply) -> float:
    """Return the credits that an answer says it cost; one when it does not say."""
    used = number_or_none(json_or_empty(reply).get("credits"))
    return 1.0 if used is None or used < 0 else used


def _raise_for_error(reply: Reply, name: str) -> None:
    """Raise what Serper says in its own way: an account without credits may come with any status."""
    if "credit" in text_or_empty(json_or_empty(reply).get("message")).lower():
        raise failure(QuotaExceeded, reply, name, "the account has no credits", fix="Buy credits at serper.dev")
    raise_for_status(reply, name)


def _row(item: dict[str, Any], name: str) -> SearchResult | None:
    return result(
        name,
        url=item.get("link"),
        title=item.get("title"),
        snippet=item.get("snippet"),
        date=item.get("date"),
        read_date=_published,
    )


def _published(said: str) -> str:
    """Return a day such as `Jan 29, 2023` as ISO 8601, or an empty text for what is no day, such as `2 days ago`."""
    if match := _DAY.fullmatch(said):
        month = match[1].lower()
        try:
            return date(int(match[3]), _MONTHS.index(month) + 1, int(match[2])).isoformat()
        except ValueError:
            return ""
    return day(said)
