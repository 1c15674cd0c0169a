"""What several service emulators need: search operators taken out of a query, and pages as a reader finds them."""

from __future__ import annotations

import re
import time
from dataclasses import dataclass
from datetime import date
from urllib.parse import urlsplit

from multidict import CIMultiDict, CIMultiDictProxy

from groundwire.testing.http_messages import Recorded
from groundwire.testing.search_index import Library

__all__ = ["Visited", "split_sites", "visit"]


@dataclass(frozen=True, slots=True)
class Visited:
    """One visited page."""

    status: int
    """The HTTP status of its site."""
    title: str
    """Its title."""
    markdown: str
    """What is to be read on it, as Markdown; empty when there is nothing."""
    published: date | None
    """When it was published."""
    content_type: str
    """The Content-Type that its site sends."""


def visit(library: Library, url: str) -> Visited | None:
    """Return what lies at an address, or None when nobody in the world has that host and port.

    Args:
        library: Whose sites are visited; the world has to run.
        url: The address, by number or by name.
    """
    parts = urlsplit(url)
    site = library.site_at(f"{parts.scheme}://{parts.netloc}")
    if site is None:
        return None
    target = (parts.path or "/") + (f"?{parts.query}" if parts.query else "")
    headers = CIMultiDictProxy(CIMultiDict({"Host": parts.netloc, "User-Agent": "a reader"}))
    request = Recorded(
        method="GET",
        path=parts.path or "/",
        target=target,
        query={},
        headers=headers,
        body=b"",
        at=time.monotonic(),
    )
    reply = site.handle(request)
    page = next((page for page in site.contents if page.path == target), None)
    text = page.text if page and reply.status == 200 else ""
    return Visited(
        status=reply.status,
        title=page.title if page else "",
        markdown=f"# {page.title}\n\n{text}" if page and text else "",
        published=site.published(page) if page else None,
        content_type=reply.content_type or "",
    )


_SITE = re.compile(r"(-?)site:([^\s()]+)", re.IGNORECASE)


def split_sites(query: str) -> tuple[str, tuple[str, ...], tuple[str, ...]]:
    """Return the words of a query, the hosts of its `site:` operators, and those of its `-site:` operators."""
    sites = [(sign, host.lower()) for sign, host in _SITE.findall(query)]
    words = re.sub(r"\b(?:OR|AND|NOT)\b|[()]", " ", _SITE.sub(" ", query))
    return (
        " ".join(words.split()),
        tuple(host for sign, host in sites if not sign),
        tuple(host for sign, host in sites if sign),
    )
