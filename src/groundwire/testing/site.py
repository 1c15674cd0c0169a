"""Sites made of pages: what a page is, when it was published, and how a site serves it."""

from __future__ import annotations

import hashlib
from collections.abc import Callable, Iterable
from dataclasses import dataclass, replace
from datetime import UTC, date, datetime, time, timedelta
from email.utils import format_datetime
from html import escape

from groundwire.testing.http_messages import EmulatedResponse, Recorded
from groundwire.testing.server import EmulatedServer

__all__ = ["Site", "SitePage", "midnight"]


@dataclass(frozen=True, slots=True, kw_only=True)
class SitePage:
    """One page of a site."""

    name: str
    """What tests call it."""
    path: str
    """Its path, which may have a query."""
    render: Callable[[Recorded, date], EmulatedResponse]
    """Makes the answer from the request and the day of publication."""
    title: str = ""
    """Its title, for the index."""
    text: str = ""
    """Its words, for the index; a page without words is not found by searching."""
    age_days: int = 90
    """How long before today it was published."""


class Site(EmulatedServer):
    """A site: pages, a front page that lists them, robots.txt, validators and HEAD.

    Args:
        name: What the world calls it.
        host: Its name under .test.
        pages: What it serves.
        today: The day from which its pages are dated.
    """

    def __init__(self, name: str, host: str, pages: Iterable[SitePage], today: date) -> None:
        super().__init__(name, host)
        self.contents: tuple[SitePage, ...] = tuple(pages)
        self._by_path = {page.path: page for page in self.contents}
        self._today = today

    @property
    def pages(self) -> dict[str, str]:
        """The path of every named page."""
        return {page.name: page.path for page in self.contents}

    def page(self, name: str, *, named: bool = False) -> str:
        """Return the absolute URL of a page.

        Args:
            name: One of `pages`.
            named: Whether to use the name under .test instead of the address.

        Raises:
            KeyError: There is no such page; the message lists the known ones.
        """
        paths = self.pages
        if name not in paths:
            raise KeyError(f"{self.name} has no page {name!r}; it has {', '.join(sorted(paths))}.")
        return (self.named_url if named else self.url) + paths[name]

    def published(self, page: SitePage) -> date:
        """Return the day on which `page` was published."""
        return self._today - timedelta(days=page.age_days)

    def handle(self, request: Recorded) -> EmulatedResponse:
        """Return the page at the request's path, or 404."""
        if request.method not in ("GET", "HEAD"):
            return replace(_problem(405, "Only GET and HEAD."), headers={"Allow": "GET, HEAD"})
        page = self._by_path.get(request.target) or self._by_path.get(request.path)
        if page is not None:
            published = self.published(page)
            return _validated(request, page.render(request, published), published)
        return self.elsewhere(request)

    def elsewhere(self, request: Recorded) -> EmulatedResponse:
        """Return the response for a path that is not a page: the front page, robots.txt, or 404."""
        if request.path == "/":
            links = "".join(
                f'<li><a href="{escape(page.path)}">{escape(page.title or page.name)}</a></li>'
                for page in self.contents
            )
            return EmulatedResponse.html(
                f'<!doctype html><html lang="en"><head><meta charset="utf-8"><title>{escape(self.host)}</title>'
                f"</head><body><h1>{escape(self.host)}</h1><ul>{links}</ul></body></html>"
            )
        if request.path == "/robots.txt":
            return EmulatedResponse.text("User-agent: *\nAllow: /\n")
        return _problem(404, "There is no such page here.")


def midnight(day: date) -> datetime:
    """Return the first moment of `day` in UTC."""
    return datetime.combine(day, time(), UTC)


def _problem(status: int, text: str) -> EmulatedResponse:
    page = f'<!doctype html><html lang="en"><title>{status}</title><h1>{status}</h1><p>{text}</p></html>'
    return EmulatedResponse.html(page, status=status)


def _validated(request: Recorded, reply: EmulatedResponse, published: date) -> EmulatedResponse:
    """Add ETag and Last-Modified to a whole page, and answer a request that has it with 304 (RFC 9110, section 13)."""
    if reply.status != 200 or reply.chunks is not None or reply.fault is not None:
        return reply
    tag = f'"{hashlib.sha256(reply.body).hexdigest()[:16]}"'
    modified = format_datetime(midnight(published), usegmt=True)
    headers = {**reply.headers, "ETag": tag, "Last-Modified": modified}
    if (tags := request.headers.get("If-None-Match")) is not None:
        fresh = tag in (given_tag.strip().removeprefix("W/") for given_tag in tags.split(","))
    else:
        fresh = request.headers.get("If-Modified-Since") == modified
    if fresh:
        return EmulatedResponse(status=304, content_type=None, headers=headers)
    return replace(reply, headers=headers)
