"""A search service that speaks as the Parallel Search API does (SDK 1.3)."""

from __future__ import annotations

from dataclasses import replace
from datetime import date
from typing import Any
from uuid import uuid4

from groundwire.testing.http_messages import EmulatedResponse, Recorded
from groundwire.testing.search_index import IndexHit, Library
from groundwire.testing.server import Endpoint

__all__ = ["Parallel"]

_FIELDS = frozenset(
    {"search_queries", "objective", "mode", "max_chars_total", "client_model", "session_id", "advanced_settings"}
)
_MODES = ("turbo", "fast", "basic", "advanced")
_LOCATIONS = frozenset({"us", "gb", "de", "fr", "jp"})
_INCLUDED = 10  # results that the price of a request covers


class Parallel(Endpoint):
    """The service; set its attributes to make it refuse.

    Args:
        library: What it searches.

    Attributes:
        keys: The keys it accepts.
        searches_left: How many more searches the account of a key may make; a key that is not here has no bound.
        retry_after: While it is set, everybody is too fast; the value of the Retry-After header, empty for none.
        untitled: Whether it knows neither titles nor days.
    """

    def __init__(self, library: Library) -> None:
        super().__init__("parallel")
        self._library = library
        self.keys = {"test-key"}
        self.searches_left: dict[str, int] = {}
        self.retry_after: str | None = None
        self.untitled = False

    def handle(self, request: Recorded) -> EmulatedResponse:
        """Return what the service answers."""
        if request.path != "/v1/search" or request.method != "POST":
            return _error(404, "There is no such address.")
        key = request.headers.get("x-api-key", "")
        if key not in self.keys:
            return _error(401, "This key is not known.")
        if self.searches_left.get(key, 1) <= 0:
            return _error(402, "This account has no credit left.")
        if self.retry_after is not None:
            headers = {"Retry-After": self.retry_after} if self.retry_after else {}
            return replace(_error(429, "More than 600 requests in a minute."), headers=headers)
        try:
            body = request.json()
        except ValueError:
            body = None
        if not isinstance(body, dict):
            return _error(422, "The body is no JSON object.")
        if fault := _fault(body):
            return _error(422, fault)
        if key in self.searches_left:
            self.searches_left[key] -= 1
        return self._search(body)

    def _search(self, body: dict[str, Any]) -> EmulatedResponse:
        settings = body.get("advanced_settings") or {}
        policy = settings.get("source_policy") or {}
        wanted = policy.get("include_domains") or ()
        found = self._library.search(
            " ".join((*body["search_queries"], body.get("objective") or "")),
            hosts=wanted,
            not_hosts=() if wanted else policy.get("exclude_domains") or (),
        )
        start = date.fromisoformat(policy.get("after_date") or "0001-01-01")
        kept = [one for one in found if one.published >= start][: settings.get("max_results") or 10]
        size = (settings.get("excerpt_settings") or {}).get("max_chars_per_result") or 5_000
        usage = [{"name": "sku_search", "count": 1}]
        if len(kept) > _INCLUDED:
            usage.append({"name": "sku_search_additional_results", "count": len(kept) - _INCLUDED})
        warnings = None
        if (settings.get("location") or "us") not in _LOCATIONS:
            warnings = [{"type": "input_validation_warning", "message": "This location was ignored.", "detail": None}]
        return EmulatedResponse.json(
            {
                "search_id": f"search_{uuid4().hex}",
                "results": [self._result(one, size) for one in kept],
                "warnings": warnings,
                "usage": usage,
                "session_id": body.get("session_id") or f"session_{uuid4().hex}",
            }
        )

    def _result(self, found: IndexHit, size: int) -> dict[str, object]:
        rest = found.page.text[: max(0, size - len(found.snippet))]
        return {
            "url": found.url,
            "title": None if self.untitled else found.title,
            "publish_date": None if self.untitled else found.published.isoformat(),
            "excerpts": [part for part in (found.snippet[:size], rest) if part],
        }


def _fault(body: dict[str, Any]) -> str:
    """Return what is wrong with a body, or nothing."""
    if unknown := sorted(body.keys() - _FIELDS):
        return f"Not known here: {', '.join(unknown)}."
    queries = body.get("search_queries")
    if not isinstance(queries, list) or not 1 <= len(queries) <= 5:
        return "One to five search queries are needed."
    if not all(isinstance(query, str) and 1 <= len(query) <= 200 for query in queries):
        return "A search query has 1 to 200 characters."
    if len(body.get("objective") or "") > 5_000:
        return "An objective has at most 5,000 characters."
    if body.get("mode", "advanced") not in _MODES:
        return "There is no such mode."
    policy = (body.get("advanced_settings") or {}).get("source_policy") or {}
    if sum(len(policy.get(name) or ()) for name in ("include_domains", "exclude_domains")) > 200:
        return "At most 200 domains may be given."
    try:
        date.fromisoformat(policy.get("after_date") or "2026-01-01")
    except ValueError:
        return "This is no day."
    return ""


def _error(status: int, message: str) -> EmulatedResponse:
    error = {"ref_id": uuid4().hex, "message": message, "detail": None}
    return EmulatedResponse.json({"type": "error", "error": error}, status=status)
