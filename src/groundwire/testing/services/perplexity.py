"""A search service that speaks as the Perplexity Search API does (SDK 0.46, one recorded refusal)."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any, ClassVar, Final
from uuid import uuid4

from groundwire.testing.http_messages import EmulatedResponse
from groundwire.testing.search_index import IndexHit, Library
from groundwire.testing.services.shared import (
    ApiEmulator,
    ApiSpec,
    EmulatedRefusal,
    SearchFields,
    american_day,
    choice,
    number,
    pattern,
    words,
)

__all__ = ["Perplexity"]

_DAYS: Final[Mapping[str, int]] = {"hour": 0, "day": 1, "week": 7, "month": 31, "year": 365}
_CHARACTERS = 4  # of a token, on average
_TIMES = ("search_after_date_filter", "search_before_date_filter")


class Perplexity(ApiEmulator):
    """Perplexity; see `ApiEmulator`.

    Attributes:
        money_status: The status for an account without credit: 401 as it was recorded, or 429.
    """

    spec: ClassVar[ApiSpec] = ApiSpec(
        name="perplexity",
        routes={"POST /search": "search"},
        fields=SearchFields(
            allowed="allowed",
            blocked="blocked",
            within="search_recency_filter",
            days=_DAYS,
            first=_TIMES[0],
            last=_TIMES[1],
            read_day=american_day,
        ),
        parameters={
            "search": {
                "query": words(),
                "max_results": number(1, 20),
                "search_recency_filter": choice(*_DAYS),
                "country": pattern(".."),
            }
        },
        refusals={
            "key": EmulatedRefusal(401, "invalid_api_key", "This key is not known."),
            "credit": EmulatedRefusal(401, "insufficient_quota", "This account has no credit left."),
            "fast": EmulatedRefusal(429, "rate_limit_exceeded", "More than 50 requests in a second."),
            "body": EmulatedRefusal(422, message="The body is no JSON object."),
            "invalid": EmulatedRefusal(422),
            "contradiction": EmulatedRefusal(400, "bad_request"),
        },
    )

    def __init__(self, library: Library) -> None:
        super().__init__(library)
        self.money_status = 401

    def contradiction(self, body: dict[str, Any]) -> str:
        """Return what is wrong with parameters together: domains with and without a sign, a range and days."""
        domains = body.get("search_domain_filter") or []
        if len(domains) > 20:
            return "At most 20 domains may be given."
        if len({domain.startswith("-") for domain in domains}) > 1:
            return "Domains are either all wanted or all unwanted."
        times = [body[name] for name in _TIMES if body.get(name)]
        if times and body.get("search_recency_filter"):
            return "A range and days cannot be combined."
        return "" if all(map(american_day, times)) else "Days are written month/day/year."

    def error(self, refusal: EmulatedRefusal, message: str, parameter: str) -> EmulatedResponse:
        """Return an error in the service's form; a wrong form of a parameter has another one."""
        status = self.money_status if refusal is self.spec.refusals["credit"] else refusal.status
        if status == 404:
            return EmulatedResponse.json({"detail": message}, status=status)
        if status == 422:
            detail = {"type": "value_error", "loc": ["body", parameter], "msg": message}
            return EmulatedResponse.json({"detail": [detail]}, status=status)
        error = {"message": message, "type": refusal.code, "code": status}
        return EmulatedResponse.json({"error": error}, status=status)

    def search(self, body: dict[str, Any]) -> EmulatedResponse:
        """Return the results of a search."""
        if any(len(code) != 2 for code in body.get("search_language_filter") or ()):
            return self.refuse("invalid", "Languages have two letters.", "search_language_filter")
        domains: list[str] = body.get("search_domain_filter") or []
        asked = {
            **body,
            "allowed": [domain for domain in domains if not domain.startswith("-")],
            "blocked": [domain[1:] for domain in domains if domain.startswith("-")],
        }
        size = int(body.get("max_tokens_per_page") or 4_096) * _CHARACTERS
        rows = [_row(hit, size) for hit in self.found(asked)[: self.limit(body)]]
        return EmulatedResponse.json({"results": rows, "id": str(uuid4()), "server_time": None})


def _row(hit: IndexHit, size: int) -> dict[str, object]:
    published = hit.published.isoformat()
    text = f"# {hit.title}\n\n{hit.page.text}"[:size]
    return {"title": hit.title, "url": hit.url, "snippet": text, "date": published, "last_updated": published}
