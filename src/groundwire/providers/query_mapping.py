"""The two mappings of a service: a query with its filters in its terms, and its rows and pages as results.

The languages and countries that a service knows are lists in `locales.toml`.
"""

from __future__ import annotations

import tomllib
from collections.abc import Callable, Mapping
from datetime import date
from email.utils import parsedate_to_datetime
from functools import cache
from importlib.resources import files
from typing import Any

from groundwire.errors import UnexpectedResponse
from groundwire.models import Filters, ReadResult, Results, SearchResult
from groundwire.models.validators import unchecked
from groundwire.providers.http_api import Mapped
from groundwire.providers.http_parsing import clean, day, number_or_none, objects, text_or_empty, window
from groundwire.transport import Response

__all__ = [
    "american_date",
    "any_date",
    "country_code",
    "country_name",
    "domain_lists",
    "google_dates",
    "known_language",
    "language_code",
    "language_of",
    "page_result",
    "result",
    "results",
    "time_filter",
    "with_site_operators",
]


def domain_lists(
    mapped: Mapped,
    filters: Filters,
    name: str,
    keys: tuple[str, str],
    *,
    most: int | None = None,
    most_blocked: int | None = None,
    one_list: bool = False,
) -> dict[str, list[str]]:
    """Return the domains to send; the others are filtered from the results afterwards, with a warning.

    Allowed domains are sent all or none: with only some of them, the pages of the others would be missing.

    Args:
        mapped: The request so far; warnings and receipts are added to it.
        filters: The filters with the domains.
        name: The provider's name, for the warnings.
        keys: The service's names of the allowed and of the blocked list.
        most: The maximum length of a list; None for unlimited.
        most_blocked: The maximum number of blocked domains, if it differs.
        one_list: Whether the service accepts only one list: the allowed domains, which are narrower.
    """
    lists = {"allowed_domains": filters.allowed_domains, "blocked_domains": filters.blocked_domains}
    if one_list and all(lists.values()):
        mapped.applied["blocked_domains"] = "post_filter"
        lists["blocked_domains"] = ()
    found = {}
    for key, (which, wanted), bound in zip(keys, lists.items(), (most, most_blocked or most), strict=True):
        if bound is not None and len(wanted) > bound:
            mapped.applied[which] = "post_filter"
            rest = "results were checked against all of them afterwards"
            mapped.warnings.append(f"{name}: it accepts at most {bound} {which}, not {len(wanted)}; {rest}")
            wanted = () if which == "allowed_domains" else wanted[:bound]
        if wanted:
            found[key] = list(wanted)
    return found


_MAX_OPERATORS = 5  # operators; engines ignore or reject queries with many more
_MAX_QUERY = 380  # characters; Brave, the index behind several of the services, allows 400


def with_site_operators(text: str, filters: Filters) -> tuple[str, str | None]:
    """Add `site:` operators for the domains of the filters.

    Allowed domains become `text (site:a OR site:b)`: without the parentheses, OR would bind to the text.

    Args:
        text: The query.
        filters: The filters with the domains.

    Returns:
        The query, and a warning if there were more domains than a query can hold. Results are checked against the
        domains afterwards in any case.
    """
    wanted = [f"site:{domain}" for domain in filters.allowed_domains]
    parts = [text]
    if wanted and len(wanted) <= _MAX_OPERATORS:
        parts.append(wanted[0] if len(wanted) == 1 else f"({' OR '.join(wanted)})")
    unwanted = [f"-site:{domain}" for domain in filters.blocked_domains]
    room = _MAX_OPERATORS - len(wanted) if len(wanted) <= _MAX_OPERATORS else _MAX_OPERATORS
    parts += unwanted[: max(0, room)]
    query = " ".join(parts)
    if len(query) > max(_MAX_QUERY, len(text)):
        return text, "the domains did not fit into the query; results were checked against them afterwards"
    if len(wanted) > _MAX_OPERATORS or len(unwanted) > max(0, room):
        return query, "not all domains fitted into the query; results were checked against them afterwards"
    return query, None


def time_filter(
    filters: Filters,
    ranges: Mapping[str, str],
    range_key: str,
    day_keys: tuple[str, str],
    *,
    form: Callable[[date], str] = date.isoformat,
    today: date | None = None,
) -> dict[str, str]:
    """Return a time range under one key, or dates under two, for services that accept only one kind at a time.

    Args:
        filters: The filters; a range together with dates becomes a date.
        ranges: The service's values of the time ranges.
        range_key: The service's name of the range.
        day_keys: Its names of the first and the last day.
        form: Formats a day.
        today: The day on which a time range ends, by default that of the system's clock, in UTC.
    """
    if not filters.published_after and not filters.published_before:
        return {} if filters.time_range == "all" else {range_key: ranges[filters.time_range]}
    return {key: form(day) for key, day in zip(day_keys, window(filters, today), strict=True) if day}


def american_date(day: date) -> str:
    """Format a date as month, day and year, without leading zeros."""
    return f"{day.month}/{day.day}/{day.year}"


def google_dates(
    mapped: Mapped, filters: Filters, today: date | None = None, *, form: Callable[[date], str] = american_date
) -> str:
    """Return Google's parameter `tbs`: `qdr` for a range, `cdr` with American dates for two days, or an empty string.

    A range that ends before it begins is omitted, with a receipt.

    Args:
        mapped: The request so far; receipts are added to it.
        filters: The filters; a range together with dates becomes a date.
        today: The day on which a time range ends, by default that of the system's clock, in UTC.
        form: Formats a day.
    """
    if not filters.published_after and not filters.published_before:
        return "" if filters.time_range == "all" else f"qdr:{filters.time_range}"
    first, last = window(filters, today)
    if first and last and first > last:
        mapped.applied["time_range"] = "post_filter"
        first = filters.published_after
    days = (("cd_min", first), ("cd_max", last))
    return ",".join(["cdr:1", *(f"{key}:{form(day)}" for key, day in days if day)])


def result(
    source: str,
    *,
    url: object,
    title: object,
    snippet: object,
    date: object = None,
    score: object = None,
    read_date: Callable[[str], str] = day,
) -> SearchResult | None:
    """Return one row as a result, or None if it has no URL.

    Args:
        source: The provider's name.
        url: Its address as it came; anything but text counts as none, here and below.
        title: Its title.
        snippet: A passage.
        date: When it was published, in the service's own way.
        score: The service's own measure.
        read_date: Returns a date as ISO 8601, or an empty text for what is none, which is then passed on as said.
    """
    if not (address := text_or_empty(url)):
        return None
    said = text_or_empty(date).strip()
    published = read_date(said) if said else ""
    return unchecked(
        SearchResult,
        citation_id=0,  # given: then a copy with a number needs no other set of given fields
        title=text_or_empty(title),
        url=address,
        snippet=text_or_empty(snippet),
        source=source,
        published=published or None,
        published_origin="" if published else said,
        score=number_or_none(score),
    )


def results(
    reply: Response, name: str, items: object, row: Callable[[dict[str, Any], str], SearchResult | None]
) -> Results:
    """Return the rows of a successful response; what is not a row is skipped.

    Args:
        reply: The response.
        name: The provider's name.
        items: The value where the list of rows belongs.
        row: Reads one object, given the provider's name; None if it has no URL.

    Raises:
        UnexpectedResponse: there is no list, or no row in it has a URL.
    """
    if not isinstance(items, list):
        raise UnexpectedResponse(name, "answered with JSON that has no list of results", status=reply.status)
    found = tuple(read for item in objects(items) if (read := row(item, name)) is not None)
    if items and not found:
        raise UnexpectedResponse(name, "answered with results without URLs", status=reply.status)
    return Results(found, status=reply.status)


def page_result(url: str, content: str, *, title: object = "", **more: Any) -> ReadResult:
    """Return a page that was read.

    Args:
        url: The address that was asked for.
        content: Its Markdown.
        title: Its title as it came; anything but text counts as none.
        more: Further fields of the result.
    """
    return ReadResult(url=url, title=clean(title), content=content, content_length=len(content), success=True, **more)


def any_date(text: str) -> str:
    """Return a date in ISO 8601 or in the form of email (RFC 5322) as ISO 8601; an empty text for what is neither."""
    if found := day(text):
        return found
    try:
        return parsedate_to_datetime(text).isoformat()
    except (ValueError, OverflowError):
        return ""


@cache
def _lists() -> Mapping[str, Any]:
    text = files("groundwire.providers").joinpath("locales.toml").read_text(encoding="utf-8")
    return tomllib.loads(text)


@cache
def _countries(service: str) -> frozenset[str]:
    return frozenset(str(_lists()[service]["countries"]).split())


@cache
def _languages(service: str) -> frozenset[str]:
    return frozenset((*str(_lists()[service]["languages"]).split(), *_lists()[service]["other"].values()))


def country_code(mapped: Mapped, filters: Filters, service: str) -> str:
    """Return the wanted country in two capital letters; nothing, with a receipt, when a service does not know it.

    Args:
        mapped: The request so far; its receipts are added to.
        filters: Where the country is.
        service: Whose list counts.
    """
    code = (filters.region or "").lower()
    if not code or code in _countries(service):
        return code.upper()
    mapped.applied["region"] = "not_possible"
    return ""


def country_name(code: str) -> str:
    """Return a country's English name in lower case, or an empty text for a code that is not in the list."""
    return str(_lists()["names"].get(code.lower(), ""))


def language_of(tag: str, service: str, region: str = "") -> str:
    """Return a service's own code for a language, in lower case; nothing for one that it does not know.

    Args:
        tag: The language, such as `pt-BR` or `zh-Hant-HK`; the part that the service tells apart counts.
        service: Whose list counts.
        region: Tells the kinds of a language apart where the tag does not: those of Portuguese and of Chinese.
    """
    base, *more = tag.lower().split("-")
    other, known = _lists()[service]["other"], _languages(service)
    names = [f"{base}-{part}" for part in more or [region.lower()]]
    codes = (other.get(name, name) for name in (*names, base))
    return next((code for code in codes if code in known), "")


def known_language(mapped: Mapped, filters: Filters, service: str) -> str:
    """Return a service's own code for the wanted language; nothing, with a receipt, for one that it does not know.

    Args:
        mapped: The request so far; its receipts are added to.
        filters: Where language and country are.
        service: Whose list counts; see `language_of`.
    """
    code = language_of(filters.language, service, filters.region or "") if filters.language else ""
    if filters.language and not code:
        mapped.applied["language"] = "not_possible"
    return code


def language_code(mapped: Mapped, filters: Filters) -> str:
    """Return the wanted language in the two letters of ISO 639-1; nothing, with a receipt, when it has three."""
    code = (filters.language or "").partition("-")[0].lower()
    if len(code) == 2:
        return code
    if code:
        mapped.applied["language"] = "not_possible"
    return ""
