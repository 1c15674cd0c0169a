"""Pages of the miniature web as a read service finds them when it visits an address."""

from __future__ import annotations

import time
from dataclasses import dataclass
from datetime import date
from urllib.parse import urlsplit

from multidict import CIMultiDict, CIMultiDictProxy

from groundwire.testing.exchange import Recorded
from groundwire.testing.library import Library

__all__ = ["Visited", "visit"]


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
