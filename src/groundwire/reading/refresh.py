"""Pages that lead on to another one by themselves: `<meta http-equiv="refresh">` and the header `Refresh`.

See https://html.spec.whatwg.org/multipage/document-lifecycle.html#shared-declarative-refresh-steps. Such a page is a
redirect only when a reader would not have read it: it leads on within seconds and has no text of its own.
"""

from __future__ import annotations

import re
from dataclasses import dataclass
from typing import Final

from groundwire.errors import BlockedAddress, InvalidRequest
from groundwire.safety.urls import join_url, parse_url
from groundwire.transport import Response

__all__ = ["Refresh", "Refreshes", "read_refresh"]

_MAX_SECONDS: Final = 5.0  # seconds; people read what stays longer
_HTML: Final = frozenset({"", "text/html", "application/xhtml+xml"})
_MIN_OWN_TEXT: Final = 200  # characters outside of links; "You are being redirected" in any words has fewer
_MAX_BYTES: Final = 100_000  # bytes
_MARK: Final = re.compile(rb"http-equiv\s*=\s*[\"']?\s*refresh", re.IGNORECASE)
_VALUE: Final = re.compile(r"\s*(\d{0,9})(?:\.[\d.]*)?(?:\s*[;,]\s*|\s+)(?:url\s*=\s*)?(.+)", re.IGNORECASE | re.DOTALL)


@dataclass(frozen=True, slots=True)
class Refresh:
    """What a page leads on to."""

    url: str
    """The other page's URL."""
    seconds: float
    """After how long."""
    is_redirect: bool
    """Whether it is to be followed as a redirect."""


class Refreshes:
    """What the pages of one chain of redirects lead on to."""

    def __init__(self) -> None:
        self.last: Refresh | None = None
        """That of the last page."""

    def target(self, response: Response) -> str:
        """Return the URL that a page redirects to by itself; empty when it is to be read."""
        self.last = read_refresh(response)
        return self.last.url if self.last is not None and self.last.is_redirect else ""


def read_refresh(response: Response) -> Refresh | None:
    """Return what a page leads on to; None for nothing, for itself, and for what is no web page."""
    start, header = response.body[:_MAX_BYTES], response.headers.get("Refresh", "")
    if not (header or _MARK.search(start)):
        return None
    page = _read(start, response) if response.media_type in _HTML else _Sign()
    if (match := _VALUE.fullmatch((header or page.value)[:8_000])) is None:
        return None
    reference, seconds = match[2].strip(), float(match[1] or 0)
    if reference[:1] in {'"', "'"}:
        reference = reference[1:].partition(reference[0])[0]
    here = parse_url(response.url)
    try:
        target = join_url(join_url(here, page.base), reference)
    except (InvalidRequest, BlockedAddress):
        return None
    if target.request_text == here.request_text:
        return None
    return Refresh(target.text, seconds, is_redirect=seconds <= _MAX_SECONDS and not page.is_read)


@dataclass(frozen=True, slots=True)
class _Sign:
    """What a page says about where it leads."""

    value: str = ""
    """The value of its `<meta http-equiv="refresh">`."""
    base: str = ""
    """The base of its links, if it is not its own URL."""
    is_read: bool = False
    """Whether it is read itself: it has text, or is a bot check, which leads on to no page."""


def _read(start: bytes, response: Response) -> _Sign:
    from turbohtml import parse

    from groundwire.reading.block_pages.classify import soft_block
    from groundwire.reading.encoding.decode import decode

    markup = decode(start, response.content_type).text
    document = parse(markup)
    metas = (meta for meta in document.find_all("meta") if meta.closest("noscript") is None)
    value = next((meta.attr("content") or "" for meta in metas if _is_refresh(meta.attr("http-equiv"))), "")
    base = document.base_url(response.url) if document.find("base") is not None else ""
    title, body = document.find("title"), document.find("body")
    named = title.text if title is not None else ""
    texts = []
    for left_out in ("script, style, noscript, template", "a"):
        for element in document.select(left_out):
            element.decompose()
        texts.append(" ".join(body.stripped_strings) if body is not None else "")
    text, own = texts
    wall = soft_block(response.headers, response.url, markup, title=named, content=text)
    return _Sign(value, base, is_read=wall is not None or len(own) >= _MIN_OWN_TEXT)


def _is_refresh(name: str | None) -> bool:
    return (name or "").strip().lower() == "refresh"
