"""A search service that answers in SearXNG's JSON, with results from the pages of this world."""

from __future__ import annotations

import re
from collections.abc import Mapping, Sequence
from typing import Any, Final
from urllib.parse import urlparse

from groundwire.testing.http_messages import EmulatedResponse, Recorded
from groundwire.testing.search_index import IndexHit, Library
from groundwire.testing.server import EmulatedServer
from groundwire.testing.site import midnight

__all__ = ["SearXng"]

_PAGE_SIZE = 10
_DAYS: Final[Mapping[str, int]] = {"day": 1, "week": 7, "month": 31, "year": 365}
_SITE = re.compile(r"(-?)site:(\S+)", re.IGNORECASE)


class SearXng(EmulatedServer):
    """One SearXNG instance.

    Args:
        name: What the world calls it.
        library: What it searches.
    """

    def __init__(self, name: str, library: Library) -> None:
        super().__init__(name)
        self._library = library

    def handle(self, request: Recorded) -> EmulatedResponse:
        """Return what the instance answers."""
        if request.path != "/search":
            return EmulatedResponse.text("Not Found", status=404)
        query = request.params.get("q", "")
        return EmulatedResponse.json(self.body(query, self.find(query, request.params), request.params))

    def find(self, query: str, params: Mapping[str, str]) -> list[IndexHit]:
        """Return the pages that match a query with `site:` operators, best first.

        Args:
            query: The query.
            params: The parameters of the request, of which `time_range` counts.
        """
        plain = query.replace("(", " ").replace(")", " ")
        sites = [(sign, host.lower().rstrip(".,/")) for sign, host in _SITE.findall(plain)]
        return self._library.search(
            re.sub(r"\b(?:OR|AND|NOT)\b", " ", _SITE.sub(" ", plain)),
            within_days=_DAYS.get(params.get("time_range", "")),
            hosts=[host for sign, host in sites if not sign],
            not_hosts=[host for sign, host in sites if sign],
        )

    def body(self, query: str, hits: Sequence[IndexHit], params: Mapping[str, str]) -> dict[str, Any]:
        """Return an answer as JSON data.

        Args:
            query: The query.
            hits: All that match it.
            params: The parameters of the request, of which `pageno` counts.
        """
        first = (int(params.get("pageno") or 1) - 1) * _PAGE_SIZE
        rows = [_result(hit, place) for place, hit in enumerate(hits[first : first + _PAGE_SIZE], start=first + 1)]
        rest = ("answers", "corrections", "infoboxes", "suggestions", "unresponsive_engines")
        return {"query": query, "results": rows} | {key: [] for key in rest}


def _result(hit: IndexHit, position: int) -> dict[str, object]:
    return {
        "url": hit.url,
        "title": hit.title,
        "content": hit.snippet,
        "engine": "miniature",
        "engines": ["miniature"],
        "score": 1.0 / position,
        "category": "general",
        "template": "default.html",
        "parsed_url": list(urlparse(hit.url)),
        "positions": [position],
        "img_src": "",
        "thumbnail": "",
        "priority": "",
        "metadata": "",
        "publishedDate": midnight(hit.published).replace(tzinfo=None).isoformat(),
    }
