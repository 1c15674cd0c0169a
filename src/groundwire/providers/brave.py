"""Brave Search API, an index of its own (https://api-dashboard.search.brave.com/app/documentation)."""

from __future__ import annotations

import re
from collections.abc import Mapping
from dataclasses import replace
from datetime import UTC, date, datetime
from typing import Any, Literal, cast
from urllib.parse import quote

from groundwire.deadline import Deadline
from groundwire.errors import AuthenticationFailed, ProviderUnsupported, QuotaExceeded, RateLimited
from groundwire.models import NO_FILTERS, Filters, Results, SearchResult
from groundwire.providers.base import Capabilities
from groundwire.providers.http_api import ApiOptions, ApiProvider, Mapped
from groundwire.providers.http_parsing import (
    clipped,
    day,
    error_text,
    json_object,
    json_or_empty,
    number_or_none,
    objects,
    raise_for_status,
    retry_after,
    text_or_empty,
    window,
)
from groundwire.providers.query_mapping import with_site_operators
from groundwire.providers.result_rows import result, results
from groundwire.transport import Reply

__all__ = ["BraveOptions", "BraveSearchProvider", "parse", "to_params"]

_MOST = {"web": 20, "news": 50}  # results of one request
_CHARACTERS, _WORDS = 400, 50  # of a query
_GOGGLE = 5_000  # characters in the URL; servers take lines of 8,000
_FRESHNESS = {"d": "pd", "w": "pw", "m": "pm", "y": "py"}
_QUOTA_CODES = frozenset({"QUOTA_LIMITED", "USAGE_LIMIT_EXCEEDED"})
_FIRST_DAY = date(1970, 1, 1)
_COUNTRIES = frozenset(
    re.findall(
        "[a-z]+",
        "ar at au be br ca ch cl cn de dk es fi fr gb hk id in it jp kr mx my nl no nz ph pl pt ru sa se tr tw us za",
    )
)
_LANGUAGES = frozenset(
    re.findall(
        "[a-z]+",
        "ar bg bn ca cs da de en es et eu fi fr gl gu he hi hr hu is it kn ko lt lv ml mr ms nb nl pa pl ro ru sk sl "
        "sr sv ta te th tr uk vi",
    )
)
_OTHER_LANGUAGES = {  # by language, or by language and script or country; the longest that fits counts
    "en-gb": "en-gb",
    "ja": "jp",
    "no": "nb",
    "nn": "nb",
    "pt": "pt-pt",
    "pt-br": "pt-br",
    "zh": "zh-hans",
    "zh-hant": "zh-hant",
    "zh-hk": "zh-hant",
    "zh-mo": "zh-hant",
    "zh-tw": "zh-hant",
}


class BraveOptions(ApiOptions):
    """`[providers.brave]`."""

    kind: Literal["web", "news"] = "web"
    """What to search: the web, or the news."""
    extra_snippets: bool = False
    """Whether to ask for up to five more passages of each page, which not every plan has."""


class BraveSearchProvider(ApiProvider):
    """Web or news search by the Brave Search API."""

    Options = BraveOptions
    capabilities = Capabilities(
        search=True,
        max_results=20,
        time_ranges=frozenset({"d", "w", "m", "y"}),
        dates=True,
        domains="operator",
        pages=True,
        language=True,
        region=True,
        safesearch=True,
    )
    service = "https://api.search.brave.com"
    key_variables = ("BRAVE_API_KEY", "BRAVE_SEARCH_API_KEY")
    key_page = "https://api-dashboard.search.brave.com/app/keys"
    key_header = "X-Subscription-Token"
    tells_rates = True

    async def search(
        self, query: str, *, limit: int = 5, filters: Filters = NO_FILTERS, deadline: Deadline | None = None
    ) -> Results:
        """Search; see `SearchProvider.search`."""
        options = cast("BraveOptions", self._options)
        mapped = to_params(query, limit, filters, options, name=self.name)
        found = await self.ask(
            "GET",
            f"/res/v1/{options.kind}/search",
            lambda reply: parse(reply, self.name, extra_snippets=options.extra_snippets),
            deadline=deadline,
            params=mapped.values,
        )
        return self.finished(found, mapped)


def to_params(
    query: str,
    limit: int,
    filters: Filters,
    options: BraveOptions | None = None,
    *,
    today: date | None = None,
    name: str = "brave",
) -> Mapped:
    """Return the parameters of a search.

    Domains go into the query as operators; where they do not fit, they go as an inline Goggle
    (https://search.brave.com/help/goggles).

    Args:
        query: The words.
        limit: The most results wanted.
        filters: What the results should satisfy.
        options: The provider's settings.
        today: The day from which a time range counts, by default the system's in UTC.
        name: The provider's name, for the warnings.
    """
    options = options or BraveOptions()
    words, warnings = clipped(name, query, characters=_CHARACTERS, words=_WORDS)
    values: dict[str, str] = {
        "q": words,
        "count": str(min(limit, _MOST[options.kind])),
        "safesearch": filters.safesearch,
    }
    mapped = Mapped(values, warnings=warnings)
    if options.kind == "web":
        values |= {"text_decorations": "false", "result_filter": "web"}
    if options.extra_snippets:
        values["extra_snippets"] = "true"
    if filters.page > 1:
        values["offset"] = str(min(filters.page - 1, 9))
    if freshness := _freshness(filters, today or datetime.now(UTC).date(), mapped):
        values["freshness"] = freshness
    if filters.region:
        if filters.region.lower() in _COUNTRIES:
            values["country"] = filters.region.upper()
        else:
            mapped.applied["region"] = "not_possible"
    if filters.language:
        if language := _language(filters.language, filters.region):
            values["search_lang"] = language
        else:
            mapped.applied["language"] = "not_possible"
    _add_domains(mapped, words, filters, name)
    return mapped


def _add_domains(mapped: Mapped, words: str, filters: Filters, name: str) -> None:
    if not filters.allowed_domains and not filters.blocked_domains:
        return
    text, warning = with_site_operators(words, filters)
    if not warning and len(text) <= _CHARACTERS and len(text.split()) <= _WORDS:
        mapped.values["q"] = text
        return
    goggle = _goggle(filters)
    wanted = [field for field in ("allowed_domains", "blocked_domains") if getattr(filters, field)]
    if len(quote(goggle)) <= _GOGGLE:
        mapped.values["goggles"] = goggle
        mapped.applied |= dict.fromkeys(wanted, "native")
    else:
        mapped.applied |= dict.fromkeys(wanted, "post_filter")
        mapped.warnings.append(f"{name}: too many domains to send; results were checked against them afterwards")


def _goggle(filters: Filters) -> str:
    """Return a Goggle: with a list of what is allowed everything else is discarded, and a discarded site stays so."""
    lines = ["$discard", *(f"$site={domain}" for domain in filters.allowed_domains)] if filters.allowed_domains else []
    return "\n".join([*lines, *(f"$discard,site={domain}" for domain in filters.blocked_domains)])


def _freshness(filters: Filters, today: date, mapped: Mapped) -> str:
    if not filters.published_after and not filters.published_before:
        return _FRESHNESS.get(filters.time_range, "")
    start, end = window(filters, today)
    end = end or max(today, start or today)
    if start and start > end:
        mapped.applied["time_range"] = "post_filter"
        start = filters.published_after
    return f"{(start or _FIRST_DAY).isoformat()}to{end.isoformat()}"


def _language(tag: str, region: str | None) -> str | None:
    """Return the service's code for a language, or None if it does not know it."""
    parts = tag.lower().split("-")
    if len(parts) == 1 and region:
        parts.append(region.lower())
    for part in parts[1:]:
        if code := _OTHER_LANGUAGES.get(f"{parts[0]}-{part}"):
            return code
    return _OTHER_LANGUAGES.get(parts[0]) or (parts[0] if parts[0] in _LANGUAGES else None)


def parse(reply: Reply, name: str = "brave", *, extra_snippets: bool = False) -> Results:
    """Read an answer of the web or the news search.

    Args:
        reply: The answer.
        name: The provider's name.
        extra_snippets: Whether further passages belong to the snippet.

    Raises:
        ProviderError: the answer is a failure.
    """
    _raise_for_error(reply, name)
    data = json_object(reply, name)
    query = data.get("query")
    if data.get("type") == "news" or "results" in data:
        rows = data.get("results")
    elif "web" in data:
        rows = data["web"].get("results") if isinstance(data["web"], dict) else None
    else:  # a search that finds no pages has no such section
        rows = [] if isinstance(query, dict) and not _announces_pages(data) else None
    found = results(reply, name, rows, _row_with_passages if extra_snippets else _row)
    altered = text_or_empty(query.get("altered")) if isinstance(query, dict) else ""
    return replace(found, warnings=(f"{name}: it searched for {altered!r} instead",) if altered else ())


def _announces_pages(data: dict[str, Any]) -> bool:
    mixed = data.get("mixed")
    return isinstance(mixed, dict) and any(entry.get("type") == "web" for entry in objects(mixed.get("main")))


def _row(item: dict[str, Any], name: str) -> SearchResult | None:
    said = day(text_or_empty(item.get("page_age"))) or item.get("age")
    return result(name, url=item.get("url"), title=item.get("title"), snippet=item.get("description"), date=said)


def _row_with_passages(item: dict[str, Any], name: str) -> SearchResult | None:
    further = item.get("extra_snippets")
    parts = [item.get("description"), *(further if isinstance(further, list) else ())]
    return _row(item | {"description": " ".join(part for part in map(text_or_empty, parts) if part)}, name)


def _raise_for_error(reply: Reply, name: str) -> None:
    """Raise what Brave says in its own way: a wrong key by 422, a used-up quota by 429."""
    if 200 <= reply.status < 300:
        return
    error = _error(reply)
    code = text_or_empty(error.get("code"))
    meta = error["meta"] if isinstance(error.get("meta"), dict) else {}
    words = error_text(reply) or (f": {code}" if code else "")
    if code.startswith("SUBSCRIPTION_") or _lacks_key(meta):
        raise AuthenticationFailed(
            name, f"the key is not accepted{words}", status=reply.status, fix="Check BRAVE_API_KEY"
        )
    if code == "OPTION_NOT_IN_PLAN":
        raise ProviderUnsupported(
            name, f"the plan does not have what was asked for{words}", status=reply.status, fix="Check extra_snippets"
        )
    again = retry_after(reply.headers)
    used_up, next_month = _monthly(reply.headers)
    if code in _QUOTA_CODES or (reply.status == 429 and (used_up or _used_up(meta))):
        again = next_month if again is None else again
        raise QuotaExceeded(name, f"the plan's quota is used up{words}", status=reply.status, retry_after=again)
    if reply.status == 429:
        again = _members(reply.headers, "X-RateLimit-Reset")[0] if again is None else again
        raise RateLimited(name, f"too many requests{words}", status=reply.status, retry_after=again)
    raise_for_status(reply, name)


def _error(reply: Reply) -> dict[str, Any]:
    """Return the error of an answer: `error` in practice, the first of `errors` in the documentation."""
    data = json_or_empty(reply)
    error = data.get("error")
    return error if isinstance(error, dict) else next(objects(data.get("errors")), {})


def _lacks_key(meta: dict[str, Any]) -> bool:
    """Tell whether a validation error is about the header of the key."""
    return any(
        isinstance(where := entry.get("loc"), list) and "x-subscription-token" in [str(part).lower() for part in where]
        for entry in objects(meta.get("errors"))
    )


def _used_up(meta: dict[str, Any]) -> bool:
    limit, current = number_or_none(meta.get("quota_limit")), number_or_none(meta.get("quota_current"))
    return limit is not None and current is not None and 0 < limit <= current


def _monthly(headers: Mapping[str, str]) -> tuple[bool, float | None]:
    """Return whether the month's quota is used up, and the seconds until it begins anew.

    The rate headers have two members, one for the second and one for the month; a limit of 0 is none.
    """
    limits, left, resets = (_members(headers, f"X-RateLimit-{kind}") for kind in ("Limit", "Remaining", "Reset"))
    used_up = len(left) > 1 and left[-1] == 0 and limits[-1:] != [0]
    return used_up, resets[-1] if len(resets) > 1 else None


def _members(headers: Mapping[str, str], name: str) -> list[float | None]:
    """Return the whole numbers of a header, None for what is none."""
    parts = [part.strip() for part in headers.get(name, "").split(",")]
    return [float(part) if re.fullmatch("[0-9]{1,9}", part) else None for part in parts]
