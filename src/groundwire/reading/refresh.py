"""Pages that lead on to another one by themselves: `<meta http-equiv="refresh">` and the header `Refresh`.

See https://html.spec.whatwg.org/multipage/document-lifecycle.html#shared-declarative-refresh-steps. Such a page is a
redirect only when a reader would not have read it: it leads on within seconds and has no text of its own.
"""

from __future__ import annotations

import re
from dataclasses import dataclass
from typing import Final

from groundwire.errors import BlockedAddress, InvalidRequest
from groundwire.reading.encoding.decode import decode
from groundwire.safety.urls import join_url, parse_url
from groundwire.transport import Response

__all__ = ["Refresh", "read_refresh", "refresh_target"]

_SOON: Final = 5.0  # seconds; people read what stays longer
_OWN_TEXT: Final = 200  # characters outside of links; "You are being redirected" in any words has fewer
_LOOKED_AT: Final = 100_000  # bytes
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


def refresh_target(response: Response) -> str:
    """Return the URL that a page redirects to by itself; empty when it is to be read."""
    found = read_refresh(response)
    return found.url if found is not None and found.is_redirect else ""


def read_refresh(response: Response) -> Refresh | None:
    """Return what a page leads on to; None for nothing, for itself, and for what is no web page."""
    start = response.body[:_LOOKED_AT]
    said, base, own_text = response.headers.get("Refresh", ""), response.url, 0
    if response.media_type in {"", "text/html", "application/xhtml+xml"} and (said or _MARK.search(start)):
        shown, base, own_text = _page(decode(start, response.content_type).text, base)
        said = said or shown
    if (found := _VALUE.fullmatch(said[:8_000])) is None:
        return None
    reference, seconds = found[2].strip(), float(found[1] or 0)
    if reference[:1] in {'"', "'"}:
        reference = reference[1:].partition(reference[0])[0]
    here = parse_url(response.url)
    try:
        target = join_url(join_url(here, base), reference)
    except (InvalidRequest, BlockedAddress):
        return None
    if target.request_text == here.request_text:
        return None
    return Refresh(target.text, seconds, is_redirect=seconds <= _SOON and own_text < _OWN_TEXT)


def _page(markup: str, url: str) -> tuple[str, str, int]:
    """Return what a page says of its refresh, the base of its links, and the characters of its text outside links."""
    from turbohtml import parse

    document = parse(markup)
    metas = (meta for meta in document.find_all("meta") if meta.closest("noscript") is None)
    said = next((meta.attr("content") or "" for meta in metas if _is_refresh(meta.attr("http-equiv"))), "")
    base = document.base_url(url) if document.find("base") is not None else url
    for element in document.select("script, style, noscript, template, head, a"):
        element.decompose()
    body = document.find("body")
    return said, base, len(" ".join(body.stripped_strings)) if body is not None else 0


def _is_refresh(name: str | None) -> bool:
    return (name or "").strip().lower() == "refresh"
