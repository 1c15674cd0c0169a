"""A search service that speaks as the You.com Search API does (SDK 3.6)."""

from __future__ import annotations

import re
from dataclasses import replace
from datetime import date
from typing import Any
from uuid import uuid4

from groundwire.testing.http_messages import EmulatedResponse, Recorded
from groundwire.testing.search_index import IndexHit, Library
from groundwire.testing.server import Endpoint
from groundwire.testing.site import midnight

__all__ = ["You"]

_DAYS = {"day": 1, "week": 7, "month": 31, "year": 365}
_RANGE = re.compile(r"(\d{4}-\d\d-\d\d)to(\d{4}-\d\d-\d\d)")
_NEWS_DAYS = 31


class You(Endpoint):
    """The service; set its attributes to make it refuse.

    Args:
        library: What it searches.

    Attributes:
        keys: The keys it accepts.
        searches_left: How many more searches the account of a key may make; a key that is not here has no bound.
        reset_at: When an account without means gets new ones, ISO 8601; None leaves it out.
        retry_after: While it is set, everybody is too fast; the value of the Retry-After header, empty for none.
        scoped: Whether the keys may search.
        news: Whether it takes queries for questions about the news, and adds that section.
    """

    def __init__(self, library: Library) -> None:
        super().__init__("you")
        self._library = library
        self.keys = {"test-key"}
        self.searches_left: dict[str, int] = {}
        self.reset_at: str | None = None
        self.retry_after: str | None = None
        self.scoped = True
        self.news = False

    def handle(self, request: Recorded) -> EmulatedResponse:
        """Return what the service answers."""
        if request.path != "/v1/search" or request.method not in ("GET", "POST"):
            return EmulatedResponse.json({"detail": "Not Found"}, status=404)
        key = request.headers.get("X-API-Key", "")
        if key not in self.keys:
            return EmulatedResponse.json({"detail": "This key is not known or has expired."}, status=401)
        if not self.scoped:
            return EmulatedResponse.json({"detail": "This key may not search."}, status=403)
        if self.searches_left.get(key, 1) <= 0:
            money = {"error": "payment_required", "message": "Nothing is left to pay with.", "reset_at": self.reset_at}
            return EmulatedResponse.json({name: text for name, text in money.items() if text}, status=402)
        if self.retry_after is not None:
            headers = {"Retry-After": self.retry_after} if self.retry_after else {}
            return replace(
                EmulatedResponse.json({"detail": "More than 10 requests in a second."}, status=429), headers=headers
            )
        body = _body(request)
        if fault := _fault(body):
            return fault
        if key in self.searches_left:
            self.searches_left[key] -= 1
        return self._search(body)

    def _search(self, body: dict[str, Any]) -> EmulatedResponse:
        freshness = body.get("freshness") or ""
        days = _RANGE.fullmatch(freshness)
        start, end = (date.fromisoformat(text) for text in days.groups()) if days else (date.min, date.max)
        found = [
            one
            for one in self._library.search(
                body["query"],
                within_days=_DAYS.get(freshness),
                hosts=body.get("include_domains") or (),
                not_hosts=body.get("exclude_domains") or (),
            )
            if start <= one.published <= end
        ]
        count = body.get("count", 10)
        first = body.get("offset", 0) * count
        newest = self._library.calendar.published(_NEWS_DAYS)
        sections = {
            "web": [_web(one) for one in found[first : first + count]],
            "news": [_news(one) for one in found if self.news and one.published >= newest][first : first + count],
        }
        return EmulatedResponse.json(
            {
                "results": {name: rows for name, rows in sections.items() if rows},
                "metadata": {"search_uuid": str(uuid4()), "query": body["query"], "latency": 0.01},
            }
        )


def _body(request: Recorded) -> dict[str, Any]:
    """Return the body of a POST, or the parameters of a GET in the same form."""
    if request.method == "POST":
        try:
            body = request.json()
        except ValueError:
            return {}
        return body if isinstance(body, dict) else {}
    values: dict[str, Any] = dict(request.query)
    for name in ("include_domains", "exclude_domains"):
        if name in values:
            values[name] = values[name].split(",")
    for name in ("count", "offset"):
        if values.get(name, "").isdecimal():
            values[name] = int(values[name])
    return values


def _fault(body: dict[str, Any]) -> EmulatedResponse | None:
    """Return the refusal of a wrong body: a list of faults by field, or a word for what contradicts itself."""
    query, freshness = body.get("query"), body.get("freshness", "day")
    if not isinstance(query, str) or not query.strip():
        return _invalid("query", "Words are needed.")
    for name, low, high in (("count", 1, 100), ("offset", 0, 9)):
        value = body.get(name, low)
        if not isinstance(value, int) or not low <= value <= high:
            return _invalid(name, f"This must be a number from {low} to {high}.")
    if not isinstance(freshness, str) or not (freshness in _DAYS or _RANGE.fullmatch(freshness)):
        return _invalid("freshness", "This is no range of time.")
    if body.get("safesearch", "off") not in ("off", "moderate", "strict"):
        return _invalid("safesearch", "This is none of the levels.")
    for name, pattern in (("country", r"[A-Z]{2}"), ("language", r"[A-Z]{2}(-[A-Z]{2,4})?")):
        if not re.fullmatch(pattern, str(body.get(name, "EN"))):
            return _invalid(name, "This is none of the codes.")
    if body.get("include_domains") and body.get("exclude_domains"):
        return EmulatedResponse.json({"error": "include_domains and exclude_domains exclude each other"}, status=422)
    if max(len(body.get(name) or ()) for name in ("include_domains", "exclude_domains")) > 500:
        return EmulatedResponse.json({"error": "at most 500 domains"}, status=422)
    return None


def _web(found: IndexHit) -> dict[str, object]:
    return {
        "url": found.url,
        "title": found.title,
        "description": found.page.text[:120],
        "snippets": [found.snippet],
        "page_age": midnight(found.published).replace(tzinfo=None).isoformat(),
        "favicon_url": f"{found.site.url}/favicon.ico",
    }


def _news(found: IndexHit) -> dict[str, object]:
    return {
        "title": found.title,
        "description": found.snippet,
        "page_age": midnight(found.published).isoformat(),
        "url": found.url,
    }


def _invalid(field: str, message: str) -> EmulatedResponse:
    return EmulatedResponse.json(
        {"detail": [{"type": "value_error", "loc": ["body", field], "msg": message}]}, status=422
    )
