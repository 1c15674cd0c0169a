"""A search and read service that speaks as Tavily's Search and Extract do (SDK 0.8.5), with keys and without."""

from __future__ import annotations

from dataclasses import replace
from datetime import date
from email.utils import format_datetime
from typing import Any

from groundwire.testing.http_messages import EmulatedResponse, Recorded
from groundwire.testing.search_index import IndexHit, Library
from groundwire.testing.server import Endpoint
from groundwire.testing.services.shared import visit
from groundwire.testing.site import midnight

__all__ = ["Tavily"]

_DAYS = {"day": 1, "week": 7, "month": 31, "year": 366}
_CHOICES: dict[str, tuple[str, ...]] = {
    "search_depth": ("basic", "advanced", "fast", "ultra-fast"),
    "topic": ("general", "news", "finance"),
    "time_range": tuple(_DAYS),
    "extract_depth": ("basic", "advanced"),
    "format": ("markdown", "text"),
}
_COUNTRIES = ("austria", "germany", "japan", "united states")  # a few are enough to tell names from codes


class Tavily(Endpoint):
    """The service; set its attributes to make it refuse.

    Args:
        library: What it searches, and whose pages it reads.

    Attributes:
        keys: The keys it accepts.
        calls_left: How many more calls a key may make before its plan's limit; a key that is not here has no bound.
        over_budget: Whether the limit that a key meets is that of pay as you go.
        keyless_left: How many more calls may be made without a key; None for no bound.
        keyless_wait: The seconds after which those without a key may come back.
        retry_after: While it is set, everybody is too fast; the value of the Retry-After header, empty for none.
    """

    def __init__(self, library: Library) -> None:
        super().__init__("tavily")
        self._library = library
        self.keys = {"test-key"}
        self.calls_left: dict[str, int] = {}
        self.over_budget = False
        self.keyless_left: int | None = None
        self.keyless_wait = 3_600
        self.retry_after: str | None = None

    def handle(self, request: Recorded) -> EmulatedResponse:
        """Return what the service answers."""
        if request.path not in ("/search", "/extract"):
            return EmulatedResponse.json({"detail": "Not Found"}, status=404)
        if request.method != "POST":
            return EmulatedResponse.json({"detail": "Method Not Allowed"}, status=405)
        scheme, _, key = request.headers.get("Authorization", "").partition(" ")
        keyless = not key and request.headers.get("X-Tavily-Access-Mode") == "keyless"
        if not keyless and (scheme != "Bearer" or key not in self.keys):
            return _error(401, "Unauthorized: there is no key, or it is not known.")
        if self.retry_after is not None:
            refusal = _error(429, "Too many requests from here.")
            return replace(refusal, headers={"Retry-After": self.retry_after}) if self.retry_after else refusal
        if keyless and self.keyless_left == 0:
            return self._keyless_limit()
        if self.calls_left.get(key, 1) <= 0:
            return _error(433, "The limit of pay as you go.") if self.over_budget else _error(432, "The plan's limit.")
        try:
            body = request.json()
        except ValueError:
            body = None
        if not isinstance(body, dict):
            return EmulatedResponse.json(
                {"detail": [{"type": "json_invalid", "loc": ["body"], "msg": "No object"}]}, status=422
            )
        if fault := _fault(body, searching=request.path == "/search"):
            return _error(400, fault)
        if keyless and self.keyless_left is not None:
            self.keyless_left -= 1
        if key in self.calls_left:
            self.calls_left[key] -= 1
        return self._search(body) if request.path == "/search" else self._extract(body)

    def _keyless_limit(self) -> EmulatedResponse:
        error = {
            "code": "keyless_limit",
            "message": "Enough for today without a key.",
            "window": "day",
            "retry_after_seconds": self.keyless_wait,
            "next_actions": [],
        }
        return EmulatedResponse.json({"error": error}, status=429)

    def _search(self, body: dict[str, Any]) -> EmulatedResponse:
        start, end = (date.fromisoformat(body[key]) if body.get(key) else None for key in ("start_date", "end_date"))
        found = self._library.search(
            body["query"],
            within_days=_DAYS.get(body.get("time_range", "")),
            hosts=body.get("include_domains") or (),
            not_hosts=body.get("exclude_domains") or (),
        )
        kept = [one for one in found if (start or date.min) <= one.published <= (end or date.max)]
        news = body.get("topic") == "news"
        rows = [_result(one, place, news=news) for place, one in enumerate(kept[: body.get("max_results", 5)])]
        answer = {
            "query": body["query"],
            "follow_up_questions": None,
            "answer": None,
            "images": [],
            "results": rows,
            "response_time": 0.01,
            "request_id": "00000000-0000-4000-8000-000000000001",
        }
        if body.get("include_usage"):
            answer["usage"] = {"credits": 2 if body.get("search_depth") == "advanced" else 1}
        return EmulatedResponse.json(answer)

    def _extract(self, body: dict[str, Any]) -> EmulatedResponse:
        urls = [body["urls"]] if isinstance(body["urls"], str) else body["urls"]
        results: list[dict[str, Any]] = []
        failed: list[dict[str, str]] = []
        for url in urls:
            page = visit(self._library, url)
            if page is None or page.status != 200 or not page.markdown:
                failed.append({"url": url, "error": "Nothing could be fetched."})
            else:
                text = (
                    page.markdown if body.get("format", "markdown") == "markdown" else page.markdown.removeprefix("# ")
                )
                results.append({"url": url, "raw_content": text, "images": []})
        answer = {"results": results, "failed_results": failed, "response_time": 0.02}
        return EmulatedResponse.json({**answer, "request_id": "00000000-0000-4000-8000-000000000002"})


def _error(status: int, text: str) -> EmulatedResponse:
    return EmulatedResponse.json({"detail": {"error": text}}, status=status)


def _fault(body: dict[str, Any], *, searching: bool) -> str:
    """Return what is wrong with a body, or nothing."""
    for name, choices in _CHOICES.items():
        if name in body and body[name] not in choices:
            return f"{name} must be one of {', '.join(choices)}."
    if not searching:
        urls = body.get("urls")
        if not urls or not isinstance(urls, (str, list)):
            return "urls is missing."
        return "At most 20 urls." if isinstance(urls, list) and len(urls) > 20 else ""
    query, most = body.get("query"), body.get("max_results", 5)
    if not isinstance(query, str) or not query.strip():
        return "query is missing."
    if len(query) > 400:
        return "query has more than 400 characters."
    if not isinstance(most, int) or not 0 <= most <= 20:
        return "max_results must be from 0 to 20."
    for name, bound in (("include_domains", 300), ("exclude_domains", 150)):
        if len(body.get(name) or ()) > bound:
            return f"{name} takes at most {bound}."
    for name in ("start_date", "end_date"):
        try:
            date.fromisoformat(body.get(name) or "2000-01-01")
        except ValueError:
            return f"{name} must be YYYY-MM-DD."
    if (country := body.get("country")) and (country not in _COUNTRIES or body.get("topic", "general") != "general"):
        return "country must be a known name, with the general topic."
    if body.get("safe_search") and body.get("search_depth", "").endswith("fast"):
        return "safe_search is not for fast searches."
    return ""


def _result(found: IndexHit, place: int, *, news: bool) -> dict[str, Any]:
    row: dict[str, Any] = {
        "url": found.url,
        "title": found.title,
        "content": found.snippet,
        "score": round(0.95 - place / 50, 4),
        "raw_content": None,
    }
    return row | ({"published_date": format_datetime(midnight(found.published), usegmt=True)} if news else {})
