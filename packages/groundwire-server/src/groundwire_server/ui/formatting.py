"""Values formatted for readers: ages, durations, amounts of money, sizes."""

from __future__ import annotations

import re
from datetime import UTC, datetime
from urllib.parse import unquote, urlsplit

__all__ = [
    "age",
    "day",
    "duration",
    "host",
    "language_tag",
    "money",
    "number",
    "path",
    "percent",
    "plural",
    "size",
    "tile",
    "web_url",
]

_TAG = re.compile(r"[A-Za-z]{2,3}(-[A-Za-z0-9]{2,8}){0,4}")
_UNITS = ((365 * 86_400, "year"), (30 * 86_400, "month"), (86_400, "day"), (3_600, "hour"), (60, "minute"))


def age(when: str | datetime | None, now: datetime) -> str:
    """Return the age of something: `3 days ago`; empty if unknown.

    Args:
        when: A moment, or ISO 8601 text of a day or a moment.
        now: The present, with its zone.
    """
    moment = _moment(when)
    if moment is None:
        return ""
    if isinstance(when, str) and len(when) <= 10:  # a date without a time: by the calendar, not by the hour
        days = (now.astimezone(UTC).date() - moment.date()).days
        if days in (0, 1):
            return ("today", "yesterday")[days]
    seconds = (now - moment).total_seconds()
    if seconds < -60:
        return f"dated {moment.date()}"
    for length, unit in _UNITS:
        if seconds >= length:
            return f"{plural(int(seconds // length), unit)} ago"
    return "just now"


def day(when: str | datetime | None) -> str:
    """Return the day of a moment as `2026-01-31`; empty when that is not known."""
    moment = _moment(when)
    return "" if moment is None else moment.date().isoformat()


def duration(milliseconds: float | None) -> str:
    """Return a duration: `431 ms`, `2.4 s`."""
    if milliseconds is None:
        return "–"
    return f"{milliseconds:,.0f}\u00a0ms" if milliseconds < 1_000 else f"{milliseconds / 1_000:,.1f}\u00a0s"


def money(dollars: float | None) -> str:
    """Return an amount in US dollars, with enough digits for small ones."""
    if dollars is None:
        return "–"
    if not dollars:
        return "$0"
    if dollars < 0.0001:
        return "< $0.0001"
    return f"${dollars:,.2f}" if dollars >= 0.1 else f"${dollars:.4f}".rstrip("0").ljust(5, "0")


def number(value: float) -> str:
    """Return an integer with thousands separators."""
    return f"{value:,.0f}"


def path(url: str) -> str:
    """Return the path of a URL for display, `guides › install`; empty for the front page."""
    try:
        parts = unquote(urlsplit(url).path).split("/")
    except ValueError:
        return ""
    return " › ".join(part for part in parts if part)


def percent(share: float | None) -> str:
    """Return a share as `97.5 %`."""
    if share is None:
        return "–"
    text = f"{100 * share:.1f}".removesuffix(".0")
    return f"{text}\u00a0%"


def plural(count: float, one: str, many: str = "") -> str:
    """Return a count with its noun: `1 search`, `12 searches`."""
    return f"{count:,.0f} {one if count == 1 else many or one + 's'}"


def size(count: float) -> str:
    """Return a number of bytes: `3.2 MB`."""
    for unit in ("bytes", "kB", "MB"):
        if count < 1_000:
            return f"{count:,.0f} {unit}" if unit == "bytes" else f"{count:,.1f} {unit}"
        count /= 1_000
    return f"{count:,.1f} GB"


def host(url: str) -> str:
    """Return the host of a URL for display, or an empty string."""
    try:
        return (urlsplit(url).hostname or "").removeprefix("www.")
    except ValueError:
        return ""


def tile(url: str) -> tuple[str, int]:
    """Return what stands where others show a site's icon: the first letter of its host, and one of six colors.

    Icons would have to be fetched: by the browser, which tells each site who saw it among which results, or by this
    server, for every result of every search.
    """
    name = host(url)
    letter = name[:1].upper() if name[:1].isalpha() else ""  # of an address in digits the number says nothing
    return letter, sum(name.encode("utf-8", "replace")) % 6


def language_tag(text: str) -> bool:
    """Return whether a text has the form of a BCP 47 language tag."""
    return bool(_TAG.fullmatch(text))


def web_url(url: str) -> str:
    """Return a URL that a link may have, or an empty string unless it is http or https."""
    try:
        parts = urlsplit(url.strip())
    except ValueError:
        return ""
    return url.strip() if parts.scheme in {"http", "https"} and parts.hostname else ""


def _moment(when: str | datetime | None) -> datetime | None:
    if isinstance(when, str):
        try:
            when = datetime.fromisoformat(when)
        except ValueError:
            return None
    if when is None:
        return None
    return when if when.tzinfo else when.replace(tzinfo=UTC)
