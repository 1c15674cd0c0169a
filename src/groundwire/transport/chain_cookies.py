"""The cookies of one chain of redirects. Some sites redirect in a circle until a cookie that they set comes back."""

from __future__ import annotations

import re
from collections.abc import Mapping
from datetime import UTC, datetime
from typing import Final

from groundwire.safety.urls import WebUrl
from groundwire.transport.http_date import http_date

_MOST: Final = 50  # cookies of a host, as many as browsers keep at least (RFC 6265, 6.1)
_PAIR: Final = re.compile(r"([!-~]*[!-:<-~])[ \t]*=[ \t]*([ -:<-~]*)")
_LONGEST: Final = 4_096  # characters of one, as in browsers


class ChainCookies:
    """Cookies that go back only to the host that set them, and are thrown away after the last redirect.

    `Domain` is ignored, so that none goes to another host. `Path` is, too: a chain is short, and its cookies are few.
    """

    def __init__(self) -> None:
        self._by_authority: dict[str, dict[str, tuple[str, bool]]] = {}

    def keep(self, url: WebUrl, headers: Mapping[str, str]) -> None:
        """Keep what a response sets.

        Args:
            url: Its URL.
            headers: Its headers, with names in any case; one may be there several times.
        """
        cookies = self._by_authority.setdefault(url.authority, {})
        for header, value in headers.items():
            if header.lower() != "set-cookie" or len(value) > _LONGEST:
                continue
            pair, _, tail = value.partition(";")
            if (match := _PAIR.fullmatch(pair.strip(" \t"))) is None:
                continue
            attributes = {name.strip().lower(): text.strip() for name, _, text in map(_split, tail.split(";"))}
            secure = "secure" in attributes
            if _is_over(attributes):
                cookies.pop(match[1], None)
            elif (url.scheme == "https" or not secure) and (match[1] in cookies or len(cookies) < _MOST):
                cookies[match[1]] = match[2].rstrip(" "), secure

    def header(self, url: WebUrl) -> dict[str, str]:
        """Return the header for a request to a URL; empty when its host has set no cookies."""
        if not self._by_authority:
            return {}
        cookies = self._by_authority.get(url.authority, {})
        pairs = [f"{name}={value}" for name, (value, secure) in cookies.items() if url.scheme == "https" or not secure]
        return {"Cookie": "; ".join(pairs)} if pairs else {}


def _split(attribute: str) -> tuple[str, str, str]:
    return attribute.partition("=")


def _is_over(attributes: Mapping[str, str]) -> bool:
    """Return whether a cookie is set only to be removed."""
    age = attributes.get("max-age", "")
    if re.fullmatch(r"-?\d{1,18}", age):
        return int(age) <= 0
    ends = http_date(attributes.get("expires", ""))
    return ends is not None and ends <= datetime.now(UTC)
