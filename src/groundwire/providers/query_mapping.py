"""The mapping of a query: its text and filters in the terms of a service; and pages as readers return them.

The languages and countries that a service knows are lists in `locales.toml`.
"""

from __future__ import annotations

from collections.abc import Callable, Mapping
from dataclasses import dataclass, field
from datetime import UTC, date, datetime, timedelta
from functools import cache
from pathlib import Path
from typing import TYPE_CHECKING, Any, Final, Literal

from groundwire.errors import ConfigurationError, PageEmpty, PageError, PageNotFound, PageRefused, PageUnavailable
from groundwire.models import Applied, Filters
from groundwire.providers.http_parsing import clean, short_message

if TYPE_CHECKING:
    from groundwire.models import ReadResult


def american_date(day: date) -> str:
    """Format a date as month, day and year, without leading zeros."""
    return f"{day.month}/{day.day}/{day.year}"


@dataclass(slots=True, eq=False, repr=False)
class Mapped:
    """A query or a page's URL as a request to a service."""

    values: dict[str, Any]
    """The parameters of a GET, or the JSON body of a POST; empty for a GET without parameters."""
    applied: dict[str, Applied] = field(default_factory=dict)
    """How filters were applied, by name, where that differs from the provider's capabilities."""
    warnings: list[str] = field(default_factory=list)
    """Warnings: a shortened query, omitted domains."""
    method: Literal["GET", "POST"] | None = None
    """GET or POST; by default the provider's."""
    path: str | None = None
    """The path; by default the provider's."""
    headers: dict[str, str] = field(default_factory=dict)
    """Additional headers."""
    address: dict[str, str] = field(default_factory=dict)
    """Values of the placeholders in the service's URL, such as `{language}`."""

    def domain_lists(
        self,
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
            filters: The filters with the domains.
            name: The provider's name, for the warnings.
            keys: The service's names of the allowed and of the blocked list.
            most: The maximum length of a list; None for unlimited.
            most_blocked: The maximum number of blocked domains, if it differs.
            one_list: Whether the service accepts only one list: the allowed domains, which are narrower.
        """
        if not filters.allowed_domains and not filters.blocked_domains:
            return {}
        lists = {"allowed_domains": filters.allowed_domains, "blocked_domains": filters.blocked_domains}
        if one_list and all(lists.values()):
            self.applied["blocked_domains"] = "post_filter"
            lists["blocked_domains"] = ()
        parameters = {}
        for key, (which, domains), bound in zip(keys, lists.items(), (most, most_blocked or most), strict=True):
            if bound is not None and len(domains) > bound:
                self.applied[which] = "post_filter"
                consequence = "results were checked against all of them afterwards"
                self.warnings.append(f"{name}: it accepts at most {bound} {which}, not {len(domains)}; {consequence}")
                domains = () if which == "allowed_domains" else domains[:bound]
            if domains:
                parameters[key] = list(domains)
        return parameters

    def add_sites(self, filters: Filters, name: str, key: str = "q") -> None:
        """Add `site:` operators to the query; domains that do not fit get a warning and a receipt.

        Args:
            filters: The filters with the domains.
            name: The provider's name, for the warning.
            key: The name of the query among the values.
        """
        self.values[key], warning = with_site_operators(self.values[key], filters)
        if warning:
            self.warnings.append(f"{name}: {warning}")
            sent = set(self.values[key].replace("(", " ").replace(")", " ").split())
            for sign, which in (("", "allowed_domains"), ("-", "blocked_domains")):
                if any(f"{sign}site:{domain}" not in sent for domain in getattr(filters, which)):
                    self.applied[which] = "post_filter"

    def google_dates(
        self, filters: Filters, today: date | None = None, *, form: Callable[[date], str] = american_date
    ) -> str:
        """Return Google's parameter `tbs`: `qdr` for a range, `cdr` with American dates for two days, or nothing.

        A range that ends before it begins is omitted, with a receipt.

        Args:
            filters: The filters; a range together with dates becomes a date.
            today: The day on which a time range ends, by default that of the system's clock, in UTC.
            form: Formats a day.
        """
        if not filters.published_after and not filters.published_before:
            return "" if filters.time_range == "all" else f"qdr:{filters.time_range}"
        days = zip(("cd_min", "cd_max"), self._days(filters, today), strict=True)
        return ",".join(["cdr:1", *(f"{key}:{form(day)}" for key, day in days if day)])

    def freshness(self, filters: Filters, names: Mapping[str, str], today: date | None = None) -> str:
        """Return the name of a time range, or two days such as `2026-01-01to2026-01-31`; see `google_dates`."""
        if not filters.published_after and not filters.published_before:
            return names.get(filters.time_range, "")
        first, last = self._days(filters, today)
        last = last or max(today or datetime.now(UTC).date(), first or _FIRST_DAY)
        return f"{(first or _FIRST_DAY).isoformat()}to{last.isoformat()}"

    def _days(self, filters: Filters, today: date | None) -> tuple[date | None, date | None]:
        """Return the days of `window`; a range that ends before it begins is omitted, with a receipt."""
        first, last = window(filters, today)
        if first and last and first > last:
            self.applied["time_range"] = "post_filter"
            first = filters.published_after
        return first, last

    def country_code(self, filters: Filters, service: str) -> str:
        """Return the wanted country in two capital letters; nothing, with a receipt, when a service does not know it.

        Args:
            filters: Where the country is.
            service: Whose list counts.
        """
        code = (filters.region or "").lower()
        if not code or code in _countries(service):
            return code.upper()
        self.applied["region"] = "not_possible"
        return ""

    def known_language(self, filters: Filters, service: str) -> str:
        """Return a service's own code for the wanted language; nothing, with a receipt, for one that it does not know.

        Args:
            filters: Where language and country are.
            service: Whose list counts; see `language_of`.
        """
        code = language_of(filters.language, service, filters.region or "") if filters.language else ""
        if filters.language and not code:
            self.applied["language"] = "not_possible"
        return code

    def language_code(self, filters: Filters) -> str:
        """Return the wanted language in the two letters of ISO 639-1; nothing, with a receipt, when it has three."""
        code = (filters.language or "").partition("-")[0].lower()
        if len(code) == 2:
            return code
        if code:
            self.applied["language"] = "not_possible"
        return ""


def base_of(url: str, path: str) -> str:
    """Return the base of a service's URL, which may be given as other programs have it: `/search?q=<query>`.

    Args:
        url: The URL.
        path: The path of its searches, which is not part of the base.

    Raises:
        ConfigurationError: it has a query of another kind; the message has the right value.
    """
    address, _, query = url.strip().partition("?")
    base = address.rstrip("/").removesuffix(path).rstrip("/")
    if query and not query.startswith(("q=", "format=")):
        raise ConfigurationError(f"It must be an address without a query, such as {base}.")
    return base


_FIRST_DAY = date(1990, 1, 1)  # before there was a web, for a range that must have both ends
RANGE_NAMES: Final[Mapping[str, str]] = {"d": "day", "w": "week", "m": "month", "y": "year"}
"""The names that many services have for time ranges."""
_RANGES: Final[Mapping[str, int]] = {"d": 1, "w": 7, "m": 31, "y": 366}  # days


def clipped(name: str, query: str, *, characters: int, words: int | None = None) -> tuple[str, list[str]]:
    """Shorten a query at a word to a service's limit, with a warning if it was shortened.

    Args:
        name: The provider's name.
        query: The query.
        characters: Maximum characters.
        words: Maximum words, if the service counts them.
    """
    if words is None and len(query) <= characters:
        return query, []
    parts = query.split()
    first_words = parts if words is None else parts[:words]
    text = " ".join(first_words)
    if len(text) > characters:
        head, space, _ = text[: characters + 1].rpartition(" ")
        text = head if space else text[:characters]
    if text == " ".join(parts):
        return query, []
    return text, [f"{name}: the query was cut to {len(text)} characters, which is its maximum"]


def time_range_start(time_range: str, today: date | None = None) -> date | None:
    """Return the first day of a time range that ends today, or None for `all`."""
    days = _RANGES.get(time_range)
    return None if days is None else (today or datetime.now(UTC).date()) - timedelta(days=days)


def window(filters: Filters, today: date | None = None) -> tuple[date | None, date | None]:
    """Return the first and the last day allowed by the dates and the time range of the filters together.

    Args:
        filters: The filters.
        today: The day on which a time range ends, by default that of the system's clock, in UTC.
    """
    starts = (filters.published_after, time_range_start(filters.time_range, today))
    return max((start for start in starts if start), default=None), filters.published_before


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
    allowed = [f"site:{domain}" for domain in filters.allowed_domains]
    parts = [text]
    if allowed and len(allowed) <= _MAX_OPERATORS:
        parts.append(allowed[0] if len(allowed) == 1 else f"({' OR '.join(allowed)})")
    blocked = [f"-site:{domain}" for domain in filters.blocked_domains]
    room = _MAX_OPERATORS - len(allowed) if len(allowed) <= _MAX_OPERATORS else _MAX_OPERATORS
    parts += blocked[: max(0, room)]
    query = " ".join(parts)
    if len(query) > max(_MAX_QUERY, len(text)):
        return text, "the domains did not fit into the query; results were checked against them afterwards"
    if len(allowed) > _MAX_OPERATORS or len(blocked) > max(0, room):
        return query, "not all domains fitted into the query; results were checked against them afterwards"
    return query, None


def time_filter(
    filters: Filters,
    range_key: str,
    day_keys: tuple[str, str],
    *,
    form: Callable[[date], str] = date.isoformat,
    today: date | None = None,
) -> dict[str, str]:
    """Return a time range under one key, or dates under two, for services that accept only one kind at a time.

    Args:
        filters: The filters; a range together with dates becomes a date.
        range_key: The service's name of the range.
        day_keys: Its names of the first and the last day.
        form: Formats a day.
        today: The day on which a time range ends, by default that of the system's clock, in UTC.
    """
    if not filters.published_after and not filters.published_before:
        return {} if filters.time_range == "all" else {range_key: RANGE_NAMES[filters.time_range]}
    return {key: form(day) for key, day in zip(day_keys, window(filters, today), strict=True) if day}


_MISSING_STATUSES = frozenset({404, 410})
_REFUSAL_STATUSES = frozenset({401, 403, 407, 429, 451})


def page_failure(url: str, *, status: int | None = None, words: str = "") -> PageError:
    """Return the error for a page that its server did not deliver.

    Args:
        url: The page's URL.
        status: The status returned by the page's server, if known.
        words: The service's message.
    """
    code = f"HTTP {status}" if status else ""
    detail = f" ({': '.join(part for part in (code, short_message(words)) if part)})" if code or words else ""
    if status in _MISSING_STATUSES:
        reason = f"The server says that there is no such page{detail}. Check the address, or search for the page."
        return PageNotFound(url, reason, status=status)
    if status in _REFUSAL_STATUSES:
        return PageRefused(url, f"The server refuses access to this page{detail}.", status=status)
    reason = f"The page could not be fetched{detail}. Try again later."
    return PageUnavailable(url, reason, status=status)


def empty_page(url: str) -> PageEmpty:
    """Return the error for a page without readable content."""
    return PageEmpty(url, "There is nothing readable on this page.")


def page_result(url: str, content: str, *, title: object = "", **more: Any) -> ReadResult:
    """Return a page that was read.

    Args:
        url: The address that was asked for.
        content: Its Markdown.
        title: Its title as it came; anything but text counts as none.
        more: Further fields of the result.

    Raises:
        PageEmpty: there is nothing readable in it.
    """
    from groundwire.models import ReadResult

    if not content.strip():
        raise empty_page(url)
    return ReadResult(url=url, title=clean(title), content=content, content_length=len(content), success=True, **more)


@cache
def _lists() -> Mapping[str, Any]:
    import tomllib  # only a search with a language or region waits for it

    text = Path(__file__).with_name("locales.toml").read_text(encoding="utf-8")
    return tomllib.loads(text)


@cache
def _countries(service: str) -> frozenset[str]:
    return frozenset(str(_lists()[service]["countries"]).split())


@cache
def _languages(service: str) -> frozenset[str]:
    return frozenset((*str(_lists()[service]["languages"]).split(), *_lists()[service]["other"].values()))


def country_name(code: str) -> str:
    """Return a country's English name in lower case, or an empty text for a code that is not in the list."""
    return str(_lists()["names"].get(code.lower(), "")) if code else ""


def language_of(tag: str, service: str, region: str = "") -> str:
    """Return a service's own code for a language, in lower case; nothing for one that it does not know.

    Args:
        tag: The language, such as `pt-BR` or `zh-Hant-HK`; the part that the service tells apart counts.
        service: Whose list counts.
        region: Tells the kinds of a language apart where the tag does not: those of Portuguese and of Chinese.
    """
    base, *more = tag.lower().split("-")
    other, languages = _lists()[service]["other"], _languages(service)
    names = [f"{base}-{part}" for part in more or [region.lower()]]
    codes = (other.get(name, name) for name in (*names, base))
    return next((code for code in codes if code in languages), "")
