"""maze.test: redirects of every kind, some of which a careful client must not follow."""

from __future__ import annotations

import re
from collections.abc import Callable
from datetime import date

from groundwire.testing.exchange import Recorded, Reply
from groundwire.testing.pages import Calendar, Page, Site

__all__ = ["Maze"]

_Answer = Callable[[Recorded], Reply]

_END = """<!doctype html>
<html lang="en"><head><meta charset="utf-8"><title>The way out</title></head>
<body><article><h1>The way out</h1><p>You have reached the end of the maze. Whoever came here by a redirect has followed
it to its last page, and may now read this short text in peace.</p></article></body></html>
"""

_FIXED = {
    "loop": ("/loop", "/loop/back"),
    "loop-back": ("/loop/back", "/loop"),
    "self": ("/self", "/self"),
    "relative": ("/relative/start", "../end"),
    "path": ("/path", "/end"),
    "query": ("/query", "?step=2"),
    "private-metadata": ("/private/metadata", "http://169.254.169.254/"),
    "private-port": ("/private/port", "http://127.0.0.1:1/"),
    "private-ipv6": ("/private/ipv6", "http://[::1]/"),
    "private-decimal": ("/private/decimal", "http://2130706433/"),
    "private-mapped": ("/private/mapped", "http://[::ffff:169.254.169.254]/"),
    "file": ("/file", "file:///etc/passwd"),
    "script": ("/script", "javascript:alert(1)"),
    "data": ("/data", "data:text/html,hello"),
    "ftp": ("/ftp", "ftp://outside.invalid/file"),
    "credentials": ("/credentials", "http://user:secret@outside.invalid/"),
    "unknown-name": ("/unknown-name", "http://outside.invalid/"),
    "broken": ("/broken", "http://[not-an-address/"),
    "blank": ("/blank", ""),
}


class Maze(Site):
    """The maze. `/hops/N` needs N redirects to the end; `?status=` chooses their status.

    Args:
        calendar: The world's today.
        elsewhere: The site to which `/cross-site` leads.
    """

    def __init__(self, calendar: Calendar, elsewhere: Site) -> None:
        self._other = elsewhere
        pages = [_redirect(name, path, location) for name, (path, location) in _FIXED.items()]
        pages += [
            _page("end", "/end", lambda _: Reply.html(_END)),
            _page("query-end", "/query?step=2", lambda _: Reply.html(_END)),
            _page("hops-1", "/hops/1", lambda _: Reply.redirect("/hops/0")),
            _page("hops-3", "/hops/3", lambda _: Reply.redirect("/hops/2")),
            _page("hops-30", "/hops/30", lambda _: Reply.redirect("/hops/29")),
            _page("absolute", "/absolute", lambda request: Reply.redirect(f"{request.base_url}/end")),
            _page(
                "protocol-relative",
                "/protocol-relative",
                lambda request: Reply.redirect(f"{request.base_url.removeprefix('http:')}/end"),
            ),
            _page("cross-site", "/cross-site", self._across),
            _page("no-location", "/no-location", lambda _: Reply(status=302, content_type=None)),
        ]
        super().__init__("maze", "maze.test", pages, calendar)

    def elsewhere(self, request: Recorded) -> Reply:
        """Return one step of a chain, or the end of it."""
        if hops := re.fullmatch(r"/hops/(\d{1,4})", request.path):
            left = int(hops[1])
            if left == 0:
                return Reply.html(_END)
            given = request.query.get("status", "302")
            status = int(given) if given in ("301", "302", "303", "307", "308") else 302
            onwards = f"?status={status}" if "status" in request.query else ""
            return Reply.redirect(f"/hops/{left - 1}{onwards}", status=status)
        return super().elsewhere(request)

    def _across(self, request: Recorded) -> Reply:
        """Redirect to the other site under the kind of name by which this one was called."""
        named = request.headers.get("Host", "").startswith(self.host)
        return Reply.redirect(self._other.page(next(iter(self._other.pages)), named=named))


def _page(name: str, path: str, answer: _Answer) -> Page:
    def render(request: Recorded, published: date) -> Reply:
        return answer(request)

    return Page(name=name, path=path, render=render, title=name)


def _redirect(name: str, path: str, location: str) -> Page:
    return _page(name, path, lambda _: Reply.redirect(location))
