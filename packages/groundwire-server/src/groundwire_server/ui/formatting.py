"""Values formatted for readers: ages, durations, amounts of money, sizes."""

from __future__ import annotations

import re
from collections.abc import Mapping
from datetime import UTC, datetime
from typing import Final
from urllib.parse import unquote, urlsplit

from markupsafe import Markup, escape

from groundwire.errors import counted
from groundwire.reading.passages.terms import DENSE, Terms, is_common

__all__ = [
    "age",
    "bold",
    "counted",
    "duration",
    "host",
    "language_tag",
    "money",
    "number",
    "origin",
    "path",
    "tile",
    "web_url",
]

_WORD = rf"[^\W{DENSE}]+"
_DENSE = re.compile(f"[{DENSE}]+")
_APART = re.compile(r"</b>(\s+)<b>")
_TAG = re.compile(r"[A-Za-z]{2,3}(-[A-Za-z0-9]{2,8}){0,4}")
_PORTS: Final[Mapping[str, int]] = {"http": 80, "https": 443}
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
            return f"{counted(int(seconds // length), unit)} ago"
    return "just now"


def bold(text: str, query: str) -> Markup:
    """Return a text as HTML, with the words of a query in bold in any of their forms, but for the most common ones.

    Args:
        text: A title or a snippet.
        query: What was searched for.
    """
    terms = Terms()
    query_terms = set(terms(query))
    rare = {term for term in query_terms if not is_common(term)} or query_terms
    runs = sorted(set(_DENSE.findall(query)), key=len, reverse=True)  # of scripts without spaces, as they stand
    words = re.compile(f"({'|'.join([*map(re.escape, runs), _WORD])})")
    pieces = words.split(text)
    marked = (
        Markup("<b>{}</b>").format(piece) if at % 2 and (piece in runs or rare & {*terms(piece)}) else escape(piece)
        for at, piece in enumerate(pieces)
    )
    return Markup(_APART.sub(r"\1", Markup("").join(marked)))  # noqa: S704  # escaped above


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


def host(url: str) -> str:
    """Return the host of a URL for display, with a port of its own, or an empty string."""
    return origin(url).partition("://")[2].removeprefix("www.")


def origin(url: str) -> str:
    """Return the scheme, the host and a port of its own of an http or https URL, or an empty string."""
    try:
        parts = urlsplit(url.strip())
        port = parts.port
    except ValueError:
        return ""
    name = f"[{parts.hostname}]" if ":" in (parts.hostname or "") else parts.hostname
    own = "" if port in (None, _PORTS.get(parts.scheme)) else f":{port}"
    return f"{parts.scheme}://{name}{own}" if name and parts.scheme in _PORTS else ""


def tile(url: str) -> tuple[str, int]:
    """Return what stands for a site: the first letter of its host or a dot, and one of six colors."""
    name = host(url)
    letter = name[:1].upper() if name[:1].isalpha() else "•"  # of an address in digits the number says nothing
    return letter, sum(name.encode("utf-8", "replace")) % 6


def language_tag(text: str) -> bool:
    """Return whether a text has the form of a BCP 47 language tag."""
    return bool(_TAG.fullmatch(text))


def web_url(url: str) -> str:
    """Return a URL that a link may have, or an empty string unless it is http or https."""
    return url.strip() if origin(url) else ""


def _moment(when: str | datetime | None) -> datetime | None:
    if isinstance(when, str):
        try:
            when = datetime.fromisoformat(when)
        except ValueError:
            return None
    if when is None:
        return None
    return when if when.tzinfo else when.replace(tzinfo=UTC)
