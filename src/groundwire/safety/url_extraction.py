"""Extraction of URLs from a text: a user's message, or a page as Markdown."""

from __future__ import annotations

import re
from collections.abc import Iterator, Mapping
from html import unescape
from typing import Final

from groundwire.errors import BlockedByPolicy, InvalidRequest
from groundwire.safety.urls import MAX_LENGTH, WebUrl, parse_url

__all__ = ["addresses_in"]

_START = re.compile(r"https?://", re.IGNORECASE)
_END = re.compile(r"[\s<>\"`\x00-\x1f]|\]\(")
_ESCAPED = re.compile(r"\\([!-/:-@\[-`{-~])")  # CommonMark 0.31, 2.4
_AFTER = ".,;:!?'\"*_~|\u2026\u3002\uff0c\u201d\u2019\u00bb"  # punctuation after a URL in a sentence
_PAIRS: Final[Mapping[str, str]] = {")": "(", "]": "[", "}": "{"}
_SIGNS = 20  # after a URL
_LONGEST = 1_000_000  # characters that are examined


def addresses_in(text: str, *, limit: int = 2_000) -> tuple[WebUrl, ...]:
    """Return the unique http and https URLs in a text, in order.

    URLs of Markdown links, in angle brackets, and plain ones. An ambiguous one (`&amp;`, a trailing full stop or
    bracket) is returned in each form; a URL inside another is part of it.

    Args:
        text: Any text.
        limit: The most URLs.
    """
    found: dict[WebUrl, None] = {}
    for url in _read(text[:_LONGEST]):
        found.setdefault(url)
        if len(found) >= limit:
            break
    return tuple(found)


def _read(text: str) -> Iterator[WebUrl]:
    at = 0
    while start := _START.search(text, at):
        begin = start.start()
        longest = min(begin + MAX_LENGTH, len(text))
        end = _END.search(text, start.end(), longest)
        address = text[begin : end.start() if end else longest]
        if text[max(0, begin - 2) : begin] == "](":  # the URL of a Markdown link
            address = _to_closing(address)
        at = begin + len(address)
        for reading in dict.fromkeys((address, _trimmed(address))):
            for spelling in dict.fromkeys((reading, unescape(reading), _ESCAPED.sub(r"\1", reading))):
                try:
                    yield parse_url(spelling)
                except (InvalidRequest, BlockedByPolicy):
                    continue


def _to_closing(address: str) -> str:
    """Return a URL up to the bracket that closes the link; its own brackets are balanced."""
    depth = 0
    for at, char in enumerate(address):
        if char == "(":
            depth += 1
        elif char == ")":
            depth -= 1
            if depth < 0:
                return address[:at]
    return address


def _trimmed(address: str) -> str:
    """Return a URL without trailing punctuation."""
    end = len(address)
    for _ in range(min(end, _SIGNS)):
        last = address[end - 1]
        opening = _PAIRS.get(last)
        closes = opening is not None and address.count(last, 0, end) > address.count(opening, 0, end)
        if last not in _AFTER and not closes:
            break
        end -= 1
    return address[:end]
