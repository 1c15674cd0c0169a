"""A search and read service that speaks as Exa's search and contents do (SDK 2.27 and its page of error codes)."""

from __future__ import annotations

from dataclasses import replace
from datetime import date
from typing import Any

from groundwire.testing.http_messages import EmulatedResponse, Recorded
from groundwire.testing.search_index import IndexHit, Library
from groundwire.testing.server import Endpoint
from groundwire.testing.services.shared import visit
from groundwire.testing.site import midnight

__all__ = ["Exa"]

_TYPES = ("auto", "fast", "instant", "lite", "neural", "deep-lite", "deep", "deep-reasoning", "keyword")
_ID = "00000000000000000000000000000001"
_LIMITS = {"X-RateLimit-Limit": "450", "X-RateLimit-Remaining": "449", "X-RateLimit-Reset": "1790000000"}


class Exa(Endpoint):
    """The service; set its attributes to make it refuse.

    Args:
        library: What it searches, and whose pages it reads.

    Attributes:
        keys: The keys it accepts.
        calls_left: How many more calls a key may make; a key that is not here has no bound.
        money_tag: The tag for a key without means: that of an account without credit, or `API_KEY_BUDGET_EXCEEDED`.
        retry_after: While it is set, everybody is too fast; the value of the Retry-After header, empty for none.
        overloaded: Whether it answers 503.
    """

    def __init__(self, library: Library) -> None:
        super().__init__("exa")
        self._library = library
        self.keys = {"test-key"}
        self.calls_left: dict[str, int] = {}
        self.money_tag = "NO_MORE_CREDITS"
        self.retry_after: str | None = None
        self.overloaded = False

    def handle(self, request: Recorded) -> EmulatedResponse:
        """Return what the service answers."""
        if request.path not in ("/search", "/contents") or request.method != "POST":
            return _error(404, "NOT_FOUND", f"There is no {request.method} {request.path}.")
        key = request.headers.get("x-api-key") or request.headers.get("Authorization", "").removeprefix("Bearer ")
        if key not in self.keys:
            return _error(401, "INVALID_API_KEY", "This key is not known.")
        if self.overloaded:
            return _error(503, "OVERLOADED", "Too much to do at the moment.")
        if self.retry_after is not None:
            refusal = EmulatedResponse.json({"error": "More than 10 requests in a second."}, status=429)
            return replace(refusal, headers={"Retry-After": self.retry_after}) if self.retry_after else refusal
        if self.calls_left.get(key, 1) <= 0:
            return _error(402, self.money_tag, "Nothing is left to pay with.")
        try:
            body = request.json()
        except ValueError:
            body = None
        if not isinstance(body, dict):
            return _error(400, "INVALID_REQUEST_BODY", "The body is no JSON object.")
        if fault := _fault(body, searching=request.path == "/search"):
            return _error(400, *fault)
        if key in self.calls_left:
            self.calls_left[key] -= 1
        answer = self._search(body) if request.path == "/search" else self._contents(body)
        return replace(EmulatedResponse.json(answer), headers=_LIMITS)

    def _search(self, body: dict[str, Any]) -> dict[str, Any]:
        names = ("startPublishedDate", "endPublishedDate")
        start, end = (date.fromisoformat(body[name][:10]) if body.get(name) else None for name in names)
        found = self._library.search(
            body["query"], hosts=body.get("includeDomains") or (), not_hosts=body.get("excludeDomains") or ()
        )
        kept = [one for one in found if (start or date.min) <= one.published <= (end or date.max)]
        wanted = body.get("contents") or {}
        rows = [_result(one, wanted) for one in kept[: body.get("numResults", 10)]]
        cost: dict[str, Any] = {"total": 0.007 if wanted else 0.005, "search": {"neural": 0.005}}
        if wanted:
            cost["contents"] = {"text": 0.002}
        answer = {"requestId": _ID, "resolvedSearchType": "neural", "results": rows}
        return {**answer, "searchTime": 12.5, "costDollars": cost}

    def _contents(self, body: dict[str, Any]) -> dict[str, Any]:
        results: list[dict[str, Any]] = []
        statuses: list[dict[str, Any]] = []
        for url in body["urls"]:
            page = visit(self._library, url)
            status = 404 if page is None else page.status
            if page is None or status != 200:
                tag = (
                    "CRAWL_NOT_FOUND"
                    if status == 404
                    else "SOURCE_NOT_AVAILABLE"
                    if status < 500
                    else "CRAWL_UNKNOWN_ERROR"
                )
                statuses.append({"id": url, "status": "error", "error": {"tag": tag, "httpStatusCode": status}})
                continue
            row: dict[str, Any] = {"id": url, "title": page.title, "url": url, "author": "", "image": ""}
            if page.published:
                row["publishedDate"] = _moment(page.published)
            results.append(row | {"text": _cut(page.markdown, body.get("text"))})
            statuses.append({"id": url, "status": "success"})
        cost = 0.001 * len(results)
        costs = {"total": cost, "contents": {"text": cost}}
        answer = {"requestId": _ID, "results": results, "statuses": statuses}
        return {**answer, "costDollars": costs, "searchTime": 40.25}


def _error(status: int, tag: str, text: str) -> EmulatedResponse:
    return EmulatedResponse.json({"requestId": _ID, "error": text, "tag": tag}, status=status)


def _fault(body: dict[str, Any], *, searching: bool) -> tuple[str, str] | None:
    """Return the tag and the words for what is wrong with a body."""
    if not searching:
        urls = body.get("urls") or body.get("ids")
        good = isinstance(urls, list) and all(isinstance(url, str) and "://" in url for url in urls)
        return None if urls and good else ("INVALID_URLS", "urls must be a list of addresses.")
    most = body.get("numResults", 10)
    if not isinstance(body.get("query"), str) or not body["query"].strip():
        return "INVALID_REQUEST_BODY", "query is missing."
    if body.get("type", "auto") not in _TYPES:
        return "INVALID_REQUEST_BODY", f"type must be one of {', '.join(_TYPES)}."
    if not isinstance(most, int) or not 1 <= most <= 100:
        return "INVALID_NUM_RESULTS", "numResults must be from 1 to 100."
    for name in ("text", "highlights", "summary"):
        if name in body:
            return "INVALID_REQUEST_BODY", f"{name} belongs into contents."
    for name in ("startPublishedDate", "endPublishedDate"):
        try:
            date.fromisoformat((body.get(name) or "2000-01-01")[:10])
        except (TypeError, ValueError):
            return "INVALID_REQUEST_BODY", f"{name} must be ISO 8601."
    if not isinstance(body.get("moderation", False), bool) or len(body.get("userLocation") or "US") != 2:
        return "INVALID_REQUEST_BODY", "moderation must be a boolean, userLocation two letters."
    return None


def _result(found: IndexHit, wanted: dict[str, Any]) -> dict[str, Any]:
    row: dict[str, Any] = {"id": found.url, "title": found.title, "url": found.url}
    row |= {"publishedDate": _moment(found.published), "author": None}
    if wanted.get("text"):
        row["text"] = _cut(found.page.text, wanted["text"])
    if wanted.get("highlights"):
        row |= {"highlights": [_cut(found.snippet, wanted["highlights"])], "highlightScores": [0.5]}
    return row


def _cut(text: str, option: object) -> str:
    return text[: option.get("maxCharacters")] if isinstance(option, dict) else text


def _moment(day: date) -> str:
    return midnight(day).strftime("%Y-%m-%dT%H:%M:%S.000Z")
