"""A search service that speaks as the Kagi Search API does, on its present wire (v1) and its former one (v0)."""

from __future__ import annotations

from datetime import date
from typing import Any

from groundwire.testing.http_messages import EmulatedResponse, Recorded
from groundwire.testing.search_index import IndexHit, Library
from groundwire.testing.server import Endpoint
from groundwire.testing.services.shared import split_sites
from groundwire.testing.site import midnight

__all__ = ["Kagi"]


class Kagi(Endpoint):
    """The service; set its attributes to make it refuse.

    Args:
        library: What it searches.

    Attributes:
        keys: The keys that it accepts.
        used_up: Those of them whose account has no credit left.
        rate_limited: Whether there were too many requests.
        balance: The credit of the account in US dollars, as the former wire says it.
    """

    def __init__(self, library: Library) -> None:
        super().__init__("kagi")
        self._library = library
        self.keys = {"test-key"}
        self.used_up: set[str] = set()
        self.rate_limited = False
        self.balance = 12.5

    def handle(self, request: Recorded) -> EmulatedResponse:
        """Return what the service answers."""
        if request.path == "/api/v1/search" and request.method == "POST":
            return self._present(request)
        if request.path == "/api/v0/search" and request.method == "GET":
            return self._former(request)
        return EmulatedResponse.html("<!doctype html><title>404</title><h1>Not found</h1>", status=404)

    def _present(self, request: Recorded) -> EmulatedResponse:
        scheme, _, key = request.headers.get("Authorization", "").partition(" ")
        if scheme != "Bearer" or key not in self.keys:
            return _problem(401, "auth.invalid_token", "The token is missing or not valid")
        if key in self.used_up:
            return _problem(429, "billing.usage_limit_exceeded", "The usage limit is exhausted")
        if self.rate_limited:
            return _problem(429, "request.rate_limited", "Too many requests", {"Retry-After": "7"})
        try:
            asked = request.json()
        except ValueError:
            asked = None
        if not isinstance(asked, dict):
            return _problem(400, "request.malformed", "The body is not a JSON object")
        try:
            data = self._answer(asked)
        except (KeyError, TypeError, ValueError, AttributeError) as error:
            return _problem(400, "request.invalid_parameter", f"A parameter is not valid: {type(error).__name__}")
        return EmulatedResponse.json({"meta": {"trace": "69c3-miniature", "node": "miniature", "ms": 7}, "data": data})

    def _answer(self, asked: dict[str, Any]) -> dict[str, object]:
        limit, page = _between(asked.get("limit", 10), 1, 1024), _between(asked.get("page", 1), 1, 10)
        workflow = {"search": "search", "news": "news"}[asked.get("workflow", "search")]
        if not isinstance(asked.get("safe_search", True), bool) or not asked["query"].strip():
            raise ValueError
        limits, lens = asked.get("filters", {}), asked.get("lens", {})
        words, hosts, not_hosts = split_sites(asked["query"])
        found = self._library.search(
            words,
            hosts=lens.get("sites_included") or hosts,  # a lens goes before operators
            not_hosts=lens.get("sites_excluded") or not_hosts,
        )
        first = date.fromisoformat(limits["after"]) if "after" in limits else date.min
        last = date.fromisoformat(limits["before"]) if "before" in limits else date.max
        rows = [_row(one) for one in found if first <= one.published <= last][(page - 1) * limit : page * limit]
        return {workflow: rows, "related_search": [{"title": f"{words} explained"}]} if rows else {}

    def _former(self, request: Recorded) -> EmulatedResponse:
        scheme, _, key = request.headers.get("Authorization", "").partition(" ")
        if scheme != "Bot" or key not in self.keys:
            return self._envelope(None, 401, (2, "Unauthorized"))
        if key in self.used_up:
            return self._envelope(None, 402, (101, "Insufficient credit to perform this request"))
        if self.rate_limited:
            return self._envelope(None, 429, (0, "Too many requests"))
        query, limit = request.params.get("q", ""), request.params.get("limit", "10")
        if not query.strip() or not limit.isdigit():
            return self._envelope(None, 400, (1, "Malformed request"))
        words, hosts, not_hosts = split_sites(query)
        found = self._library.search(words, hosts=hosts, not_hosts=not_hosts)[: int(limit)]
        rows: list[dict[str, object]] = [{"t": 0, **_row(one, "published")} for one in found]
        return self._envelope([*rows, {"t": 1, "list": [f"{words} explained"]}])

    def _envelope(self, data: object, status: int = 200, error: tuple[int, str] | None = None) -> EmulatedResponse:
        meta = {"id": "69c3-miniature", "node": "miniature", "ms": 7, "api_balance": self.balance}
        body = {"meta": meta, "data": data}
        if error:
            body["error"] = [{"code": error[0], "msg": error[1], "ref": None}]
        return EmulatedResponse.json(body, status=status)


def _problem(status: int, code: str, message: str, headers: dict[str, str] | None = None) -> EmulatedResponse:
    error = {"code": code, "url": f"https://help.example/errors#{code}", "message": message, "location": None}
    body = {"meta": {"trace": "69c3-miniature", "node": "miniature", "ms": 1}, "data": [], "error": [error]}
    plain = EmulatedResponse.json(body, status=status)
    return EmulatedResponse(status=status, body=plain.body, content_type=plain.content_type, headers=headers or {})


def _between(value: object, low: int, high: int) -> int:
    if isinstance(value, bool) or not isinstance(value, int) or not low <= value <= high:
        raise ValueError
    return value


def _row(found: IndexHit, dated: str = "time") -> dict[str, object]:
    moment = f"{midnight(found.published).replace(tzinfo=None).isoformat()}Z"
    return {"url": found.url, "title": found.title, "snippet": found.snippet, dated: moment}
