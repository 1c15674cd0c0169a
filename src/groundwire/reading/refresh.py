"""Pages that lead on to another one by themselves: `<meta http-equiv="refresh">` and the header `Refresh`.

See https://html.spec.whatwg.org/multipage/document-lifecycle.html#shared-declarative-refresh-steps. Such a page is a
redirect only when a reader would not have read it: it leads on within seconds and has no text of its own.
"""

from __future__ import annotations

import re
from dataclasses import dataclass
from html import escape
from typing import TYPE_CHECKING, Final

from groundwire.errors import BlockedAddress
from groundwire.safety.urls import join_url, parse_url
from groundwire.transport import Response

if TYPE_CHECKING:
    from turbohtml import Document

_MAX_SECONDS: Final = 5.0  # seconds; people read what stays longer
_HTML: Final = frozenset({"", "text/html", "application/xhtml+xml"})
_MIN_OWN_TEXT: Final = 200  # characters outside of links; "You are being redirected" in any words has fewer
_MAX_BYTES: Final = 100_000  # bytes
_MARK: Final = re.compile(rb"http-equiv\s*=\s*[\"']?\s*refresh", re.IGNORECASE)
_MAX_VALUE: Final = 8_000  # characters of a header


@dataclass(frozen=True, slots=True)
class Refresh:
    """What a page leads on to."""

    url: str
    """The other page's URL."""
    seconds: float
    """After how long."""
    is_redirect: bool
    """Whether it is to be followed as a redirect."""


def refresh_target(response: Response) -> str:
    """Return the URL that a page redirects to by itself; empty when it is to be read."""
    refresh = read_refresh(response)
    return refresh.url if refresh is not None and refresh.is_redirect else ""


def read_refresh(response: Response) -> Refresh | None:
    """Return what a page leads on to; None for nothing, for itself, and for what is no web page."""
    start, header = response.body[:_MAX_BYTES], response.headers.get("Refresh", "")[:_MAX_VALUE]
    is_page = response.media_type in _HTML
    if not (header or (is_page and _MARK.search(start))):
        return None
    from turbohtml import parse

    from groundwire.reading.encoding.decode import decode

    markup = decode(start, response.content_type).text if is_page else ""
    document, base = parse(markup), parse_url(response.url)
    stated = parse(f'<meta http-equiv="refresh" content="{escape(header)}">') if header else document
    try:
        seconds, reference = stated.meta_refresh() or (0.0, "")
        target = join_url(join_url(base, document.base_url(base.text)), reference)
    except (ValueError, BlockedAddress):  # no address, as with brackets around a name
        return None
    if not reference or target.request_text == base.request_text:
        return None
    return Refresh(
        target.text, seconds, is_redirect=seconds <= _MAX_SECONDS and not _is_read(document, markup, response)
    )


def _is_read(document: Document, markup: str, response: Response) -> bool:
    """Return whether a page is read itself: it has text, or is a bot check, which leads on to no page."""
    from groundwire.reading.block_pages.classify import soft_block

    title, body = document.find("title"), document.find("body")
    texts = []
    for left_out in ("script, style, noscript, template", "a"):
        for element in document.select(left_out):
            element.decompose()
        texts.append(" ".join(body.stripped_strings) if body is not None else "")
    text, own = texts
    named = title.text if title is not None else ""
    wall = soft_block(response.headers, response.url, markup, title=named, content=text)
    return wall is not None or len(own) >= _MIN_OWN_TEXT
