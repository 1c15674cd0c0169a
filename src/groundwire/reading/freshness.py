"""What a server says about keeping a page (RFC 9111), read with care: what makes no sense says nothing.

We are a cache that several users may share, so `s-maxage` counts before `max-age`. Pages are asked for without cookies
and without credentials, so `private` and `Vary` change nothing for us: the next request would be the same one.
"""

from __future__ import annotations

import re
from collections.abc import Mapping
from datetime import UTC, datetime
from email.utils import parsedate_to_datetime

from groundwire.models import Freshness
from groundwire.safety.urls import parse_url

__all__ = ["freshness"]

_ETAG = re.compile(r'(?:W/)?"[\x21\x23-\x7e\x80-\xff]*"')
_DIRECTIVE = re.compile(r'([!#$%&\'*+.^_`|~0-9A-Za-z-]+)(?:=("(?:[^"\\]|\\.)*"|[^\s,;]*))?')
_LONGEST = 512  # characters of a validator; real ones have less than a hundred
_YEAR = 31_536_000.0


def freshness(url: str, headers: Mapping[str, str]) -> Freshness:
    """Return what an answer says about keeping it.

    Args:
        url: The address that answered.
        headers: Its headers; names in any case.
    """
    etag = headers.get("ETag", "").strip()
    modified = headers.get("Last-Modified", "").strip()
    said = {name.lower(): value.strip('"') for name, value in _DIRECTIVE.findall(headers.get("Cache-Control", ""))}
    seconds = _seconds(said, headers)
    return Freshness(
        url=parse_url(url).request_text,
        etag=etag if len(etag) <= _LONGEST and etag.isascii() and _ETAG.fullmatch(etag) else "",
        last_modified=modified if len(modified) <= _LONGEST and _date(modified) is not None else "",
        seconds=seconds,
        must_ask=not said.keys().isdisjoint({"no-cache", "must-revalidate", "proxy-revalidate"}),
        no_store="no-store" in said,
    )


def _seconds(said: Mapping[str, str], headers: Mapping[str, str]) -> float | None:
    if "no-cache" in said:
        return 0.0
    for name in ("s-maxage", "max-age"):
        if name in said:
            age = headers.get("Age", "").strip()
            whole = _number(said[name])
            return 0.0 if whole is None else max(0.0, whole - (_number(age) or 0.0))
    if "Expires" not in headers:
        return None
    ends = _date(headers["Expires"].strip())
    now = _date(headers.get("Date", "").strip()) or datetime.now(UTC)
    return 0.0 if ends is None else min(max(0.0, (ends - now).total_seconds()), _YEAR)


def _number(text: str) -> float | None:
    return min(float(text), _YEAR) if re.fullmatch(r"[0-9]{1,12}", text) else None


def _date(text: str) -> datetime | None:
    try:
        moment = parsedate_to_datetime(text)
    except (ValueError, OverflowError, TypeError):
        return None
    return moment if moment.tzinfo is not None else moment.replace(tzinfo=UTC)
