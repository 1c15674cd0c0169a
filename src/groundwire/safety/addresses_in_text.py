"""The web addresses that stand in a text: a message of a user, or a page as Markdown."""

from __future__ import annotations

import re
from collections.abc import Iterator
from html import unescape

from groundwire.errors import BlockedByPolicy, InvalidRequest
from groundwire.safety.urls import WebUrl, parse_url

__all__ = ["addresses_in"]

_FOUND = re.compile(
    r"\]\(<?(?P<link>https?://[^\s<>]*?)>?(?:\s+[\"'(][^\n]*?)?\)(?!\))"  # [text](address "title")
    r"|<(?P<angled>https?://[^\s<>]+)>"
    r"|(?P<bare>https?://[^\s<>\"`\x00-\x1f]+)",
    re.IGNORECASE,
)
_AFTER = ".,;:!?'\"*_~|\u2026\u3002\uff0c\u201d\u2019\u00bb"  # what follows an address in a sentence
_PAIRS = {")": "(", "]": "[", "}": "{"}
_LONGEST = 1_000_000  # characters that are looked through


def addresses_in(text: str, *, limit: int = 2_000) -> tuple[WebUrl, ...]:
    """Return the http and https addresses in a text, each once, in their order.

    Addresses of Markdown links, between angle brackets, and plain ones; full stops and brackets around these are left
    out. What can be read in several ways (`&amp;`, brackets at the end) is returned in each.

    Args:
        text: Any text.
        limit: The most addresses.
    """
    found: dict[WebUrl, None] = {}
    for url in _read(text[:_LONGEST]):
        found.setdefault(url)
        if len(found) >= limit:
            break
    return tuple(found)


def _read(text: str) -> Iterator[WebUrl]:
    for match in _FOUND.finditer(text):
        bare = match["bare"]
        for one in (bare, _trimmed(bare)) if bare else (match["link"] or match["angled"],):
            for address in dict.fromkeys((one, unescape(one))):
                try:
                    yield parse_url(address)
                except (InvalidRequest, BlockedByPolicy):
                    continue


def _trimmed(address: str) -> str:
    """Return a plain address without the punctuation after it."""
    while address:
        last = address[-1]
        opening = _PAIRS.get(last)
        if last in _AFTER or (opening is not None and address.count(last) > address.count(opening)):
            address = address[:-1]
        else:
            break
    return address
