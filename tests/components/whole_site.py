"""A site with a sitemap, a feed, links, a calendar without an end, and rules."""

from __future__ import annotations

import gzip

from groundwire.testing import EmulatedResponse, EmulatedServer, Recorded

_SITEMAPS = 'xmlns="http://www.sitemaps.org/schemas/sitemap/0.9"'


class WholeSite(EmulatedServer):
    """Serves an article at every path below /docs/, /calendar/, and /list.

    Attributes:
        rules: The lines of its robots.txt.
        sitemaps: The paths that each sitemap below / lists, by its name; those of an index end in `index.xml`.
        sitemap_host: The origin of what they list; by default its own.
        documents: Other documents by path: HTML, or bytes of no type.
    """

    def __init__(self, name: str = "whole", pages: int = 20) -> None:
        super().__init__(name)
        self.rules = "User-agent: *\nDisallow: /docs/private\n"
        self.sitemaps: dict[str, list[str]] = {}
        self.sitemap_host = ""
        self.documents: dict[str, str | bytes] = {}
        self.articles = [f"/docs/page-{number}" for number in range(pages)]

    def paths(self, start: str = "/docs") -> list[str]:
        """Return the paths of the pages that were asked for."""
        return [request.target for request in self.requests if request.path.startswith(start)]

    def handle(self, request: Recorded) -> EmulatedResponse:
        """Return the document at a path."""
        path = request.path
        if path == "/robots.txt":
            return EmulatedResponse.text(self.rules)
        if path.strip("/") in self.sitemaps:
            return self._sitemap(path.strip("/"))
        if path in self.documents:
            body = self.documents[path]
            kind = "text/html" if isinstance(body, str) else "application/octet-stream"
            return EmulatedResponse(body=body.encode() if isinstance(body, str) else body, content_type=kind)
        if path == "/feed":
            link = f"<item><title>x</title><link>{self.url}/docs/news</link></item>"
            return EmulatedResponse(body=f"<rss><channel>{link}</channel></rss>".encode(), content_type="text/xml")
        if path == "/docs/":
            links = [
                *self.articles[:3],
                "/docs/private/a",
                "/elsewhere",
                "https://other.example/",
                "mailto:a@b.example",
            ]
            return self._article(request, links, '<link rel="alternate" type="application/rss+xml" href="/feed">')
        if path in self.articles:
            following = self.articles.index(path) + 3
            return self._article(request, [*self.articles[following : following + 1], "#top"])
        if path.startswith("/calendar/"):
            day = int(path.rpartition("/")[2] or 0)
            return self._article(request, [f"/calendar/{day + 1}", f"/calendar/{day + 2}"])
        if path == "/list":
            orders = ("asc", "desc", "name", "date")
            return self._article(request, [f"/list?{request.target.partition('?')[2]}&sort={one}" for one in orders])
        return EmulatedResponse.html("<title>404</title>", status=404)

    def _sitemap(self, name: str) -> EmulatedResponse:
        host = self.sitemap_host or self.url
        rows = (f"<loc>{host}{path}</loc><lastmod>2026-03-05</lastmod>" for path in self.sitemaps[name])
        outer, inner = ("sitemapindex", "sitemap") if "index.xml" in name else ("urlset", "url")
        body = f"<{outer} {_SITEMAPS}>{''.join(f'<{inner}>{row}</{inner}>' for row in rows)}</{outer}>".encode()
        return EmulatedResponse(body=gzip.compress(body) if name.endswith(".gz") else body, content_type="text/xml")

    def _article(self, request: Recorded, links: list[str], head: str = "") -> EmulatedResponse:
        anchors = "".join(f'<li><a href="{link}">to {link}</a></li>' for link in links)
        text = f"The article at {request.path} says how the lock keeper of that mile opens the gates in spring."
        return EmulatedResponse.html(
            f"<!doctype html><html><head><title>Lock {request.path}</title>{head}</head>"
            f"<body><nav><ul>{anchors}</ul></nav><main><h1>Lock {request.path}</h1><p>{text}</p></main></body></html>"
        )
