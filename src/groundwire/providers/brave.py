"""Brave Search API, with its own index (https://api-dashboard.search.brave.com/app/documentation)."""

from __future__ import annotations

import re
from collections.abc import Mapping
from dataclasses import replace
from typing import Any, ClassVar, Final, Literal
from urllib.parse import quote

from groundwire.errors import AuthenticationFailed, ProviderUnsupported, QuotaExceeded, RateLimited
from groundwire.models import Filters, Results, SearchResult
from groundwire.providers.base import ANY_RANGE, Capabilities
from groundwire.providers.http_api import SearchApiProvider
from groundwire.providers.http_parsing import (
    ErrorRule,
    day,
    json_or_empty,
    number_or_none,
    objects,
    result,
    text_or_empty,
    value_at,
)
from groundwire.providers.key_rotation import rate_windows
from groundwire.providers.query_mapping import Mapped, clipped, with_site_operators
from groundwire.transport import Response

_MAX_RESULTS = 20  # of one request
_MAX_CHARACTERS, _MAX_WORDS = 400, 50  # of a query
_MAX_GOGGLE = 5_000  # characters in the URL; servers accept lines of 8,000
_FRESHNESS: Final[Mapping[str, str]] = {"d": "pd", "w": "pw", "m": "pm", "y": "py"}


def _lacks_key(reply: Response) -> bool:
    """Whether a validation error refers to the header of the key."""
    locations = (entry.get("loc") for entry in objects(_meta(reply, "errors")))
    return any("x-subscription-token" in map(str.lower, map(str, loc)) for loc in locations if isinstance(loc, list))


def _month_used_up(reply: Response) -> bool:
    """Whether the monthly quota is used up, according to the rate headers or the error."""
    month = rate_windows(reply.headers)[1:]  # the first window is per second
    if month and month[-1].remaining == 0 and month[-1].limit != 0:  # a limit of 0 means none
        return True
    limit, current = (number_or_none(_meta(reply, name)) for name in ("quota_limit", "quota_current"))
    return limit is not None and current is not None and 0 < limit <= current


def _resets(reply: Response) -> list[float | None]:
    """Return the seconds until each window resets: per second, then per month, if that is stated."""
    parts = reply.headers.get("X-RateLimit-Reset", "").split(",")
    return [float(part) if re.fullmatch(r"\s*[0-9]{1,9}\s*", part) else None for part in parts]


def _next_month(reply: Response) -> float | None:
    return _resets(reply)[-1] if len(_resets(reply)) > 1 else None


def _meta(reply: Response, name: str) -> object:
    body = json_or_empty(reply)
    return value_at(body, f"error.meta.{name}") or value_at(body, f"errors.meta.{name}")


_CODE = "error.code errors.code"  # the first in practice, the second in the documentation
_WRONG_KEY = "the key is not accepted"  # sent as 422
_NOT_IN_PLAN = "the key's plan does not include this search"
_USED_UP = "the plan's quota is used up"
_ERRORS = (
    ErrorRule(AuthenticationFailed, _WRONG_KEY, at=_CODE, pattern="^SUBSCRIPTION_"),
    ErrorRule(AuthenticationFailed, _WRONG_KEY, when=_lacks_key),
    ErrorRule(AuthenticationFailed, _NOT_IN_PLAN, "Check the plan", at=_CODE, pattern="^RESOURCE_NOT_ALLOWED$"),
    ErrorRule(ProviderUnsupported, "the plan does not include this option", at=_CODE, pattern="^OPTION_NOT_IN_PLAN$"),
    ErrorRule(QuotaExceeded, _USED_UP, at=_CODE, pattern="^(QUOTA|USAGE)_LIMIT", retry_after=_next_month),
    ErrorRule(QuotaExceeded, _USED_UP, status=(429,), when=_month_used_up, retry_after=_next_month),
    ErrorRule(RateLimited, "too many requests", status=(429,), retry_after=lambda reply: _resets(reply)[0]),
)


class BraveSearchProvider(SearchApiProvider):
    """Web search with the Brave Search API."""

    search_method: ClassVar[Literal["GET", "POST"]] = "GET"
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
    service = "https://api.search.brave.com"
    key_variables: ClassVar[tuple[str, ...]] = ("BRAVE_API_KEY", "BRAVE_SEARCH_API_KEY")
    key_page = "https://api-dashboard.search.brave.com/app/keys"
    key_header = "X-Subscription-Token"
    tells_rates = True

    def to_request(self, query: str, limit: int, filters: Filters) -> Mapped:
        """Convert a query to a request."""
        mapped = self.filtered(query, filters, "/res/v1/web/search")
        mapped.values |= {"count": str(min(limit, _MAX_RESULTS)), "safesearch": filters.safesearch}
        mapped.values |= {"text_decorations": "false", "result_filter": "web"}
        if filters.page > 1:
            mapped.values["offset"] = str(min(filters.page - 1, 9))
        return mapped

    def filtered(self, query: str, filters: Filters, path: str) -> Mapped:
        """Return a request with the filters that all endpoints have.

        Domains are operators in the query; if they do not fit, an inline Goggle (https://search.brave.com/help/goggles).
        """
        words, warnings = clipped(self.name, query, characters=_MAX_CHARACTERS, words=_MAX_WORDS)
        mapped = Mapped(values := {"q": words}, warnings=warnings, path=path)
        if freshness := mapped.freshness(filters, _FRESHNESS, self.today):
            values["freshness"] = freshness
        if country := mapped.country_code(filters, "brave"):
            values["country"] = country
        if language := mapped.known_language(filters, "brave"):
            values["search_lang"] = language
        _add_domains(mapped, words, filters, self.name)
        return mapped

    def to_results(self, reply: Response, mapped: Mapped) -> Results:
        """Parse the results in a response."""
        data = self.answer(reply)
        if "results" in data:  # as the service's search of the news answers
            rows = data.get("results")
        elif "web" in data:
            rows = value_at(data, "web.results")
        else:  # a search without results has no such section
            announced = any(entry.get("type") == "web" for entry in objects(value_at(data, "mixed.main")))
            rows = None if announced or not isinstance(data.get("query"), dict) else []
        rows = self.rows(reply, rows, _row)
        altered = text_or_empty(value_at(data, "query.altered"))
        return replace(rows, warnings=(f"{self.name}: it searched for {altered!r} instead",) if altered else ())


def _add_domains(mapped: Mapped, words: str, filters: Filters, name: str) -> None:
    if not filters.allowed_domains and not filters.blocked_domains:
        return
    text, warning = with_site_operators(words, filters)
    if not warning and len(text) <= _MAX_CHARACTERS and len(text.split()) <= _MAX_WORDS:
        mapped.values["q"] = text
        return
    # With allowed domains, all others are discarded; a discarded site cannot be boosted again.
    only = ["$discard", *(f"$site={domain}" for domain in filters.allowed_domains)] if filters.allowed_domains else []
    goggle = "\n".join([*only, *(f"$discard,site={domain}" for domain in filters.blocked_domains)])
    field_names = [field for field in ("allowed_domains", "blocked_domains") if getattr(filters, field)]
    if len(quote(goggle)) <= _MAX_GOGGLE:
        mapped.values["goggles"] = goggle
        mapped.applied |= dict.fromkeys(field_names, "native")
    else:
        mapped.applied |= dict.fromkeys(field_names, "post_filter")
        mapped.warnings.append(f"{name}: too many domains to send; results were checked against them afterwards")


def _row(item: dict[str, Any], name: str) -> SearchResult | None:
    date = day(text_or_empty(item.get("page_age"))) or item.get("age")
    return result(name, url=item.get("url"), title=item.get("title"), snippet=item.get("description"), date=date)
