"""The addresses that a page, a sitemap, or a feed leads to, without converting it to Markdown."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Any, Final, Literal

from turbohtml import TokenType, tokenize

from groundwire.errors import BlockedAddress, InvalidRequest
from groundwire.reading.documents.feeds import read_listing
from groundwire.reading.documents.office_package import GZIP, gunzipped
from groundwire.reading.encoding.content_type import media_type
from groundwire.reading.encoding.decode import decode
from groundwire.reading.extracted import UnreadableDocument
from groundwire.safety.urls import WebUrl, join_url, parse_url

_MAX_ADDRESSES: Final = 50_000  # addresses, as many as a sitemap may have
_LINKING_TAGS: Final = frozenset({"a", "area", "link", "base", "meta", "frame", "iframe"})
_FEEDS: Final = frozenset({"application/rss+xml", "application/atom+xml"})


@dataclass(frozen=True, slots=True)
class SiteLinks:
    """What a document of a site leads to."""

    kind: Literal["page", "sitemap", "index", "feed"]
    """What the document is; an index lists sitemaps."""
    rows: tuple[tuple[str, str], ...] = ()
    """Canonical URLs without fragments, and the days of their last change, empty if unknown."""
    feeds: tuple[str, ...] = ()
    """The URLs of feeds that a page names."""
    problem: str = ""
    """What could not be read, and why."""


def read_site_links(body: bytes, content_type: str, url: str) -> SiteLinks:
    """Return what a page, a sitemap (also a compressed one), or a feed leads to; any other content has no links.

    Links that the page does not vouch for (`nofollow`) are left out.

    Args:
        body: The content; a page may be cut off.
        content_type: The `Content-Type` header.
        url: Its URL, for relative links.
    """
    if body.startswith(GZIP):
        try:
            body, content_type = gunzipped(body), ""
        except UnreadableDocument as error:
            return SiteLinks("page", problem=str(error))
    kind = media_type(content_type, body[:4_096], url).kind
    if kind not in {"html", "text", "xml"}:
        return SiteLinks("page")
    text = decode(body, content_type).text
    if (listing := read_listing(text, url)) is not None:
        base = parse_url(url)
        resolved = ((_resolved(base, address), day) for address, day in listing.rows[:_MAX_ADDRESSES])
        return SiteLinks(listing.kind, tuple(row for row in resolved if row[0]))
    if kind == "text":  # a sitemap may be a list of addresses
        lines = (line.strip() for line in text.split("\n")[:_MAX_ADDRESSES])
        addresses = (_resolved(parse_url(url), line) for line in lines if line.startswith(("http://", "https://")))
        return SiteLinks("sitemap", tuple((address, "") for address in addresses if address))
    return _of_page(text, url)


def _of_page(text: str, url: str) -> SiteLinks:
    base = parse_url(url)
    links: dict[str, None] = {}
    feeds: dict[str, None] = {}
    for token in tokenize(text):
        if token.type != TokenType.START_TAG or token.tag not in _LINKING_TAGS or len(links) >= _MAX_ADDRESSES:
            continue
        rel, href = (token.attr("rel") or "").lower().split(), token.attr("href") or token.attr("src") or ""
        if token.tag == "meta":
            if (token.attr("name") or "").lower() == "robots" and "nofollow" in (token.attr("content") or "").lower():
                return SiteLinks("page")
        elif token.tag == "base":
            base = parse_url(_resolved(base, href) or base.text)
        elif token.tag == "link":
            if "alternate" in rel and (token.attr("type") or "").lower() in _FEEDS:
                feeds[_resolved(base, href)] = None
        elif "nofollow" not in rel:
            links[_resolved(base, href)] = None
    return SiteLinks("page", tuple((address, "") for address in links if address), tuple(filter(None, feeds)))


def _resolved(base: WebUrl, reference: str) -> str:
    """Return the URL that a reference means, without its fragment; empty if it is no web address."""
    try:
        return join_url(base, reference).request_text if reference else ""
    except (InvalidRequest, BlockedAddress):
        return ""


def site_links_in_worker(request: dict[str, Any], body: bytes) -> tuple[dict[str, Any], bytes]:
    """Return what `read_site_links` does, as JSON data."""
    links = read_site_links(body, request["content_type"], request["url"])
    return {"kind": links.kind, "rows": links.rows, "feeds": links.feeds, "problem": links.problem}, b""
