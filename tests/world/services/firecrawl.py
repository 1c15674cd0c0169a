"""A search and read service that speaks as version 2 of Firecrawl's search and scrape do (SDK 4.55 and its source)."""

from __future__ import annotations

import json
import math
from typing import Any, ClassVar

from groundwire.testing.http_messages import EmulatedResponse, Recorded
from groundwire.testing.search_index import IndexHit, Library
from world.services.shared import (
    ApiEmulator,
    ApiSpec,
    EmulatedRefusal,
    SearchFields,
    Visited,
    number,
    pattern,
    visit,
    words,
)

_SOURCES = ("web", "news", "images")
_READABLE = ("text/", "application/json", "application/pdf")


class Firecrawl(ApiEmulator):
    """Firecrawl; see `ApiEmulator`.

    Attributes:
        queue_full: Whether requests wait for a browser until their time is up.
        restricted: Hosts whose pages it does not read.
        warning: What it says beside its results; empty for nothing.
    """

    spec: ClassVar[ApiSpec] = ApiSpec(
        name="firecrawl",
        routes={"POST /v2/search": "search", "POST /v2/scrape": "scrape"},
        fields=SearchFields(
            limit="limit", usual_limit=5, allowed="includeDomains", blocked="excludeDomains", tbs="tbs"
        ),
        parameters={
            "search": {
                "query": words(500),
                "limit": number(1, 100),
                "timeout": number(1_000),
                "tbs": pattern("qdr:[hdwmy]|cdr:1.*"),
                "country": pattern(".."),
            },
            "scrape": {"timeout": number(1_000), "url": pattern("https?://.*")},
        },
        refusals={
            "queue": EmulatedRefusal(408, "CONCURRENCY_QUEUE_TIMEOUT", "No browser became free."),
            "body": EmulatedRefusal(400, "BAD_REQUEST_INVALID_JSON", "The body is not JSON."),
            "invalid": EmulatedRefusal(400, "BAD_REQUEST"),
            "restricted": EmulatedRefusal(403, "UNSUPPORTED_SITE", "This site is not served."),
            "nowhere": EmulatedRefusal(200, "SCRAPE_DNS_RESOLUTION_ERROR", "Nothing answers at this host."),
            "file": EmulatedRefusal(500, "SCRAPE_UNSUPPORTED_FILE_ERROR", "Files of this type are not read."),
        },
    )

    def __init__(self, library: Library) -> None:
        super().__init__(library)
        self.queue_full = False
        self.restricted: set[str] = set()
        self.warning = ""

    def refuses(self, request: Recorded, key: str) -> EmulatedResponse | None:
        """Return the refusal of a full queue."""
        return self.refuse("queue") if self.queue_full else None

    def contradiction(self, body: dict[str, Any]) -> str:
        """Return what is wrong with parameters together."""
        if body.get("includeDomains") and body.get("excludeDomains"):
            return "includeDomains and excludeDomains exclude each other."
        return "" if all(kind in _SOURCES for kind in _kinds(body)) else "sources is not valid."

    def price(self, response: EmulatedResponse) -> int:
        """Return the credits that a call costs: those of a search, or one."""
        return int(json.loads(response.body).get("creditsUsed", 1)) if response.status == 200 else 0

    def error(self, refusal: EmulatedRefusal, message: str, parameter: str) -> EmulatedResponse:
        """Return an error in the service's form; an unknown address is a page."""
        if refusal.status == 404:
            return EmulatedResponse.html("<pre>Cannot find this</pre>", status=404)
        code = {"code": refusal.code} if refusal.code else {}
        return EmulatedResponse.json({"success": False, **code, "error": message}, status=refusal.status)

    def search(self, body: dict[str, Any]) -> EmulatedResponse:
        """Return the results of a search, by their sources."""
        hits = self.found(body)[: self.limit(body)]
        formats = (body.get("scrapeOptions") or {}).get("formats") or []
        kinds = [kind for kind in _kinds(body) if kind != "images"] if hits else []
        data = {
            kind: [self._row(hit, place, kind, formats) for place, hit in enumerate(hits, start=1)] for kind in kinds
        }
        answer = {"success": True, "data": data, "creditsUsed": 2 * math.ceil(len(hits) / 10)}
        warning = {"warning": self.warning} if self.warning else {}
        return EmulatedResponse.json({**answer, "id": "00000000-0000-4000-8000-000000000003", **warning})

    def _row(self, hit: IndexHit, place: int, kind: str, formats: list[Any]) -> dict[str, Any]:
        row: dict[str, Any] = {"url": hit.url, "title": hit.title, "position": place}
        if kind == "news":
            return row | {"snippet": hit.snippet, "date": f"{self.age(hit)} days ago"}
        row["description"] = hit.snippet
        page = visit(self.library, hit.url) if formats else None
        return row | (_document(hit.url, page) if page else {})

    def scrape(self, body: dict[str, Any]) -> EmulatedResponse:
        """Return a page, or how its site failed."""
        url = body["url"]
        if url.partition("://")[2].partition("/")[0] in self.restricted:
            return self.refuse("restricted")
        page = visit(self.library, url)
        if page is None:
            return self.refuse("nowhere")
        if not page.content_type.startswith(_READABLE):
            return self.refuse("file")
        document = _document(url, page)
        document["metadata"]["creditsUsed"] = 1
        return EmulatedResponse.json({"success": True, "data": document})


def _kinds(body: dict[str, Any]) -> list[Any]:
    return [source.get("type") if isinstance(source, dict) else source for source in body.get("sources") or ["web"]]


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
