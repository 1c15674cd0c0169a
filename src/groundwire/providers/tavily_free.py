"""Tavily's keyless mode: search and extraction without a key (https://docs.tavily.com/documentation/keyless).

Requests and answers are those of the API with a key; the header `X-Tavily-Access-Mode: keyless` stands for the key. The
limits are not published; an answer says when they are reached, and for how long (read on 2026-11-28).
"""

from __future__ import annotations

from collections.abc import Mapping
from typing import ClassVar

from groundwire.errors import QuotaExceeded
from groundwire.providers.http_parsing import ErrorRule
from groundwire.providers.mcp_search import refusal_rules
from groundwire.providers.tavily import TavilyProvider

_WAIT = "error.retry_after_seconds"
_USED_UP = ("the free searches without a key are used up", "Set TAVILY_API_KEY")


class TavilyFreeProvider(TavilyProvider):
    """Web search and reading with Tavily, without a key."""

    key_variables: ClassVar[tuple[str, ...]] = ()
    key_page = ""
    keyless: ClassVar[bool] = True
    terms: ClassVar[str] = "https://www.tavily.com/terms"
    errors: ClassVar[tuple[ErrorRule, ...]] = (
        ErrorRule(QuotaExceeded, *_USED_UP, at=_WAIT, pattern=r"\d", wait=_WAIT),
        *TavilyProvider.errors,
        *refusal_rules("TAVILY_API_KEY"),
    )

    def headers(self, key: str | None) -> Mapping[str, str]:
        """Return the headers of a request."""
        return {**super().headers(key), "X-Tavily-Access-Mode": "keyless"}
