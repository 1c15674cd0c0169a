"""A search service that speaks as the Linkup API does (SDK 0.24 and its page of errors)."""

from __future__ import annotations

from dataclasses import replace
from datetime import date
from typing import Any

from groundwire.testing.http_messages import EmulatedResponse, Recorded
from groundwire.testing.search_index import IndexHit, Library
from groundwire.testing.server import Endpoint

__all__ = ["Linkup"]

_CHOICES = {
    "depth": ("flash", "fast", "standard", "deep"),
    "outputType": ("searchResults", "sourcedAnswer", "structured"),
}


class Linkup(Endpoint):
    """The service; set its attributes to make it refuse.

    Args:
        library: What it searches.

    Attributes:
        keys: The keys it accepts.
        searches_left: How many more searches a key may make; a key that is not here has no bound.
        money_code: The code for a key without means: that of an account without credit, or `EXCEED_BUDGET_LIMIT`.
        retry_after: While it is set, everybody is too fast; the value of the Retry-After header, empty for none.
        address_allowed: Whether the keys may be used from the client's address.
    """

    def __init__(self, library: Library) -> None:
        super().__init__("linkup")
        self._library = library
        self.keys = {"test-key"}
        self.searches_left: dict[str, int] = {}
        self.money_code = "INSUFFICIENT_FUNDS_CREDITS"
        self.retry_after: str | None = None
        self.address_allowed = True

    def handle(self, request: Recorded) -> EmulatedResponse:
        """Return what the service answers."""
        if request.path != "/v1/search" or request.method != "POST":
            return _error(404, "NOT_FOUND", f"There is no {request.method} {request.path}.")
        key = request.headers.get("Authorization", "").removeprefix("Bearer ")
        if key not in self.keys:
            return _error(401, "UNAUTHORIZED", "This key is not known.")
        if not self.address_allowed:
            return _error(403, "IP_NOT_WHITELISTED", "This address is not on the list.")
        if self.searches_left.get(key, 1) <= 0:
            return _error(429, self.money_code, "Nothing is left to pay with.")
        if self.retry_after is not None:
            headers = {"Retry-After": self.retry_after} if self.retry_after else {}
            return replace(_error(429, "TOO_MANY_REQUESTS", "More than 10 requests in a second."), headers=headers)
        try:
            body = request.json()
        except ValueError:
            body = None
        if not isinstance(body, dict):
            return _error(400, "VALIDATION_ERROR", "The body is no JSON object.")
        if details := _faults(body):
            return _error(400, "VALIDATION_ERROR", "The request is not valid.", details)
        return self._search(key, body)

    def _search(self, key: str, body: dict[str, Any]) -> EmulatedResponse:
        found = self._library.search(
            body["q"], hosts=body.get("includeDomains") or (), not_hosts=body.get("excludeDomains") or ()
        )
        start, end = (
            date.fromisoformat(body[name][:10]) if body.get(name) else None for name in ("fromDate", "toDate")
        )
        kept = [one for one in found if (start or date.min) <= one.published <= (end or date.max)]
        if not kept:
            return _error(400, "SEARCH_QUERY_NO_RESULT", "Nothing was found.")
        if key in self.searches_left:
            self.searches_left[key] -= 1
        return EmulatedResponse.json({"results": [_result(one) for one in kept[: body.get("maxResults") or 10]]})


def _faults(body: dict[str, Any]) -> list[dict[str, str]]:
    """Return what is wrong with a body, a field each."""
    faults = {}
    if not isinstance(body.get("q"), str) or not body["q"].strip():
        faults["q"] = "must be words"
    for name, choices in _CHOICES.items():
        if body.get(name) not in choices:
            faults[name] = f"must be one of {', '.join(choices)}"
    count = body.get("maxResults", 10)
    if not isinstance(count, int) or count < 1:
        faults["maxResults"] = "must be a positive number"
    for name in ("includeDomains", "excludeDomains"):
        domains = body.get(name) or []
        if not isinstance(domains, list) or len(domains) > 100:
            faults[name] = "must be a list of at most 100 domains"
    for name in ("fromDate", "toDate"):
        try:
            date.fromisoformat((body.get(name) or "2026-01-01")[:10])
        except ValueError:
            faults[name] = "must be a day of ISO 8601"
    return [{"field": field, "message": f"{field} {problem}"} for field, problem in faults.items()]


def _result(found: IndexHit) -> dict[str, object]:
    return {
        "type": "text",
        "name": found.title,
        "url": found.url,
        "content": found.page.text,
        "favicon": f"{found.site.url}/favicon.ico",
    }


def _error(status: int, code: str, message: str, details: list[dict[str, str]] | None = None) -> EmulatedResponse:
    error = {"code": code, "message": message, "details": details or []}
    return EmulatedResponse.json({"statusCode": status, "error": error}, status=status)
