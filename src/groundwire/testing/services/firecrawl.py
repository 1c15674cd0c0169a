"""A search and read service that speaks as version 2 of Firecrawl's search and scrape do (SDK 4.55 and its source)."""

from __future__ import annotations

import math
import re
from dataclasses import replace
from datetime import date
from typing import Any

from groundwire.testing.http_messages import EmulatedResponse, Recorded
from groundwire.testing.search_index import IndexHit, Library
from groundwire.testing.server import Endpoint
from groundwire.testing.services.shared import Visited, visit

__all__ = ["Firecrawl"]

_DAYS = {"qdr:h": 0, "qdr:d": 1, "qdr:w": 7, "qdr:m": 31, "qdr:y": 366}
_SOURCES = ("web", "news", "images")
_EDGE = re.compile(r"cd_(min|max):(\d+)/(\d+)/(\d+)")


class Firecrawl(Endpoint):
    """The service; set its attributes to make it refuse.

    Args:
        library: What it searches, and whose pages it reads.

    Attributes:
        keys: The keys it accepts.
        credits_left: How many more credits a key has; a key that is not here has no bound.
        retry_after: While it is set, everybody is too fast; the value of the Retry-After header, empty for none.
        queue_full: Whether requests wait for a browser until their time is up.
        restricted: Hosts whose pages it does not read.
        warning: What it says beside its results; empty for nothing.
    """

    def __init__(self, library: Library) -> None:
        super().__init__("firecrawl")
        self._library = library
        self.keys = {"test-key"}
        self.credits_left: dict[str, int] = {}
        self.retry_after: str | None = None
        self.queue_full = False
        self.restricted: set[str] = set()
        self.warning = ""

    def handle(self, request: Recorded) -> EmulatedResponse:
        """Return what the service answers."""
        if request.path not in ("/v2/search", "/v2/scrape") or request.method != "POST":
            return EmulatedResponse.html(f"<pre>Cannot {request.method} {request.path}</pre>", status=404)
        key = request.headers.get("Authorization", "").removeprefix("Bearer ")
        if key not in self.keys:
            return _error(401, "Unauthorized: this token is not known.")
        if self.retry_after is not None:
            refusal = _error(429, "Too many requests in a minute.")
            return replace(refusal, headers={"Retry-After": self.retry_after}) if self.retry_after else refusal
        if self.queue_full:
            return _error(408, "No browser became free.", code="CONCURRENCY_QUEUE_TIMEOUT")
        if self.credits_left.get(key, 1) <= 0:
            return _error(402, "Not enough credits for this.")
        try:
            body = request.json()
        except ValueError:
            body = None
        if not isinstance(body, dict):
            return _error(400, "The body is no JSON.", code="BAD_REQUEST_INVALID_JSON")
        searching = request.path == "/v2/search"
        if fault := _fault(body, searching=searching):
            return _error(400, fault, code="BAD_REQUEST")
        reply, spent = self._search(body) if searching else self._scrape(body["url"])
        if key in self.credits_left:
            self.credits_left[key] -= spent
        return reply

    def _search(self, body: dict[str, Any]) -> tuple[EmulatedResponse, int]:
        tbs = body.get("tbs") or ""
        edges = {edge: date(int(year), int(month), int(day)) for edge, month, day, year in _EDGE.findall(tbs)}
        found = self._library.search(
            body["query"],
            within_days=_DAYS.get(tbs),
            hosts=body.get("includeDomains") or (),
            not_hosts=body.get("excludeDomains") or (),
        )
        kept = [one for one in found if edges.get("min", date.min) <= one.published <= edges.get("max", date.max)]
        kept = kept[: body.get("limit", 5)]
        formats = (body.get("scrapeOptions") or {}).get("formats") or []
        data: dict[str, Any] = {}
        for source in body.get("sources") or ["web"]:
            kind = source["type"] if isinstance(source, dict) else source
            if kind != "images":
                rows = [self._row(one, place, kind, formats) for place, one in enumerate(kept, start=1)]
                data |= {kind: rows} if rows else {}
        spent = 2 * math.ceil(len(kept) / 10)
        answer = {"success": True, "data": data, "creditsUsed": spent, "id": "00000000-0000-4000-8000-000000000003"}
        return EmulatedResponse.json(answer | ({"warning": self.warning} if self.warning else {})), spent

    def _row(self, found: IndexHit, place: int, kind: str, formats: list[Any]) -> dict[str, Any]:
        row: dict[str, Any] = {"url": found.url, "title": found.title, "position": place}
        if kind == "news":
            age = (self._library.calendar.today - found.published).days
            return row | {"snippet": found.snippet, "date": f"{age} days ago"}
        row["description"] = found.snippet
        page = visit(self._library, found.url) if formats else None
        return row | (_document(found.url, page) if page else {})

    def _scrape(self, url: str) -> tuple[EmulatedResponse, int]:
        host = url.partition("://")[2].partition("/")[0]
        if host in self.restricted:
            return _error(403, "This site is not served.", code="UNSUPPORTED_SITE"), 0
        page = visit(self._library, url)
        if page is None:
            return _error(200, f"Nothing answers at {host}.", code="SCRAPE_DNS_RESOLUTION_ERROR"), 1
        if not page.content_type.startswith(("text/", "application/json", "application/pdf")):
            return _error(500, "Files of this type are not read.", code="SCRAPE_UNSUPPORTED_FILE_ERROR"), 0
        document = _document(url, page)
        document["metadata"]["creditsUsed"] = 1
        return EmulatedResponse.json({"success": True, "data": document}), 1


def _error(status: int, text: str, *, code: str = "") -> EmulatedResponse:
    return EmulatedResponse.json({"success": False} | ({"code": code} if code else {}) | {"error": text}, status=status)


def _fault(body: dict[str, Any], *, searching: bool) -> str:
    """Return what is wrong with a body, or nothing."""
    timeout = body.get("timeout", 60_000)
    if not isinstance(timeout, int) or timeout < 1_000:
        return "timeout must be at least 1000."
    if not searching:
        url = body.get("url")
        return "" if isinstance(url, str) and url.startswith(("http://", "https://")) else "url is not valid."
    query, most = body.get("query"), body.get("limit", 5)
    if not isinstance(query, str) or not query.strip() or len(query) > 500:
        return "query must have 1 to 500 characters."
    if not isinstance(most, int) or not 1 <= most <= 100:
        return "limit must be from 1 to 100."
    if body.get("includeDomains") and body.get("excludeDomains"):
        return "includeDomains and excludeDomains exclude each other."
    kinds = [source.get("type") if isinstance(source, dict) else source for source in body.get("sources") or []]
    if not all(kind in _SOURCES for kind in kinds):
        return "sources is not valid."
    tbs = body.get("tbs") or "qdr:d"
    if tbs not in _DAYS and not tbs.startswith("cdr:1"):
        return "tbs is not valid."
    return "" if len(body.get("country") or "US") == 2 else "country must be a code of two letters."


def _document(url: str, page: Visited) -> dict[str, Any]:
    metadata: dict[str, Any] = {
        "title": page.title,
        "description": page.markdown.partition("\n\n")[2][:100],
        "language": "en",
        "scrapeId": "00000000-0000-4000-8000-000000000004",
        "sourceURL": url,
        "url": url,
        "statusCode": page.status,
        "contentType": page.content_type,
        "proxyUsed": "basic",
        "cacheState": "miss",
    }
    if page.published:
        metadata["publishedTime"] = page.published.isoformat()
    if page.status >= 400:
        metadata["error"] = "The site answered with a failure."
    return {"markdown": page.markdown, "metadata": metadata}
