"""A search service that speaks as the Perplexity Search API does (SDK 0.46, one recorded refusal)."""

from __future__ import annotations

import re
from dataclasses import replace
from datetime import date
from typing import Any
from uuid import uuid4

from groundwire.testing.http_messages import EmulatedResponse, Recorded
from groundwire.testing.search_index import IndexHit, Library
from groundwire.testing.server import Endpoint

__all__ = ["Perplexity"]

_DAYS = {"hour": 0, "day": 1, "week": 7, "month": 31, "year": 365}
_CHARACTERS = 4  # of a token, on average
_LANGUAGE = re.compile(r"[a-z]{2}")
_TIMES = ("search_after_date_filter", "search_before_date_filter")


class Perplexity(Endpoint):
    """The service; set its attributes to make it refuse.

    Args:
        library: What it searches.

    Attributes:
        keys: The keys it accepts.
        searches_left: How many more searches the account of a key may make; a key that is not here has no bound.
        money_status: The status for an account without credit: 401 as it was recorded, or 429.
        retry_after: While it is set, everybody is too fast; the value of the Retry-After header, empty for none.
    """

    def __init__(self, library: Library) -> None:
        super().__init__("perplexity")
        self._library = library
        self.keys = {"test-key"}
        self.searches_left: dict[str, int] = {}
        self.money_status = 401
        self.retry_after: str | None = None

    def handle(self, request: Recorded) -> EmulatedResponse:
        """Return what the service answers."""
        if request.path != "/search":
            return EmulatedResponse.json({"detail": "Not Found"}, status=404)
        if request.method != "POST":
            return EmulatedResponse.json({"detail": "Method Not Allowed"}, status=405)
        key = request.headers.get("Authorization", "").removeprefix("Bearer ")
        if key not in self.keys:
            return _error(401, "invalid_api_key", "This key is not known.")
        if self.searches_left.get(key, 1) <= 0:
            return _error(self.money_status, "insufficient_quota", "This account has no credit left.")
        if self.retry_after is not None:
            headers = {"Retry-After": self.retry_after} if self.retry_after else {}
            return _error(429, "rate_limit_exceeded", "More than 50 requests in a second.", headers)
        try:
            body = request.json()
        except ValueError:
            body = None
        if fault := _fault(body):
            return fault
        if key in self.searches_left:
            self.searches_left[key] -= 1
        return self._search(body if isinstance(body, dict) else {})

    def _search(self, body: dict[str, Any]) -> EmulatedResponse:
        domains: list[str] = body.get("search_domain_filter") or []
        found = self._library.search(
            body["query"],
            within_days=_DAYS.get(body.get("search_recency_filter") or ""),
            hosts=[domain for domain in domains if not domain.startswith("-")],
            not_hosts=[domain[1:] for domain in domains if domain.startswith("-")],
        )
        after, before = (_day(body.get(name)) for name in _TIMES)
        kept = [one for one in found if (after or date.min) <= one.published <= (before or date.max)]
        size = int(body.get("max_tokens_per_page") or 4_096) * _CHARACTERS
        return EmulatedResponse.json(
            {
                "results": [_result(one, size) for one in kept[: body.get("max_results") or 10]],
                "id": str(uuid4()),
                "server_time": None,
            }
        )


def _fault(body: object) -> EmulatedResponse | None:
    """Return the refusal of a wrong body: 422 for a wrong form, 400 for what contradicts itself."""
    if not isinstance(body, dict):
        return _invalid("body", "The body is no JSON object.")
    query, count = body.get("query"), body.get("max_results", 10)
    if not isinstance(query, str) or not query.strip():
        return _invalid("query", "Words are needed.")
    if not isinstance(count, int) or not 1 <= count <= 20:
        return _invalid("max_results", "This must be a number from 1 to 20.")
    if body.get("search_recency_filter", "day") not in _DAYS:
        return _invalid("search_recency_filter", "This is none of the known ranges.")
    if not all(_LANGUAGE.fullmatch(code) for code in body.get("search_language_filter") or []):
        return _invalid("search_language_filter", "Languages have two letters.")
    if len(body.get("country") or "us") != 2:
        return _invalid("country", "Countries have two letters.")
    domains = body.get("search_domain_filter") or []
    if len(domains) > 20:
        return _error(400, "bad_request", "At most 20 domains may be given.")
    if len({domain.startswith("-") for domain in domains}) > 1:
        return _error(400, "bad_request", "Domains are either all wanted or all unwanted.")
    times = [body[name] for name in _TIMES if body.get(name)]
    if times and body.get("search_recency_filter"):
        return _error(400, "bad_request", "A range and days cannot be combined.")
    if not all(_day(text) for text in times):
        return _error(400, "bad_request", "Days are written month/day/year.")
    return None


def _day(text: str | None) -> date | None:
    match = re.fullmatch(r"(\d{1,2})/(\d{1,2})/(\d{4})", text or "")
    return date(int(match[3]), int(match[1]), int(match[2])) if match else None


def _result(found: IndexHit, size: int) -> dict[str, object]:
    published = found.published.isoformat()
    text = f"# {found.title}\n\n{found.page.text}"
    return {
        "title": found.title,
        "url": found.url,
        "snippet": text[:size],
        "date": published,
        "last_updated": published,
    }


def _error(status: int, kind: str, message: str, headers: dict[str, str] | None = None) -> EmulatedResponse:
    body = {"error": {"message": message, "type": kind, "code": status}}
    return replace(EmulatedResponse.json(body, status=status), headers=headers or {})


def _invalid(field: str, message: str) -> EmulatedResponse:
    return EmulatedResponse.json(
        {"detail": [{"type": "value_error", "loc": ["body", field], "msg": message}]}, status=422
    )
