"""A search and read service that speaks as Tavily's Search and Extract do (SDK 0.8.5), with keys and without."""

from __future__ import annotations

from collections.abc import Mapping
from email.utils import format_datetime
from typing import Any, ClassVar, Final

from groundwire.testing.http_messages import EmulatedResponse, Recorded
from groundwire.testing.search_index import IndexHit, Library
from groundwire.testing.site import midnight
from world.services.shared import (
    ApiEmulator,
    ApiSpec,
    EmulatedRefusal,
    SearchFields,
    addresses,
    choice,
    domains,
    iso_day,
    number,
    visit,
    words,
)

_DAYS: Final[Mapping[str, int]] = {"day": 1, "week": 7, "month": 31, "year": 366}
_COUNTRIES = ("austria", "germany", "japan", "united states")  # a few are enough to tell names from codes


class Tavily(ApiEmulator):
    """Tavily; see `ApiEmulator`.

    Attributes:
        over_budget: Whether the limit that a key meets is that of pay as you go.
        keyless_left: How many more calls may be made without a key; None for no bound.
        keyless_wait: The seconds after which those without a key may come back.
    """

    spec: ClassVar[ApiSpec] = ApiSpec(
        name="tavily",
        routes={"POST /search": "search", "POST /extract": "extract"},
        fields=SearchFields(
            usual_limit=5,
            allowed="include_domains",
            blocked="exclude_domains",
            within="time_range",
            days=_DAYS,
            first="start_date",
            last="end_date",
        ),
        parameters={
            "search": {
                "query": words(400),
                "search_depth": choice("basic", "advanced", "fast", "ultra-fast"),
                "topic": choice("general", "news", "finance"),
                "time_range": choice(*_DAYS),
                "max_results": number(0, 20),
                "include_domains": domains(300),
                "exclude_domains": domains(150),
                "start_date": iso_day,
                "end_date": iso_day,
                "country": choice(*_COUNTRIES),
            },
            "extract": {
                "urls": addresses(20),
                "extract_depth": choice("basic", "advanced"),
                "format": choice("markdown", "text"),
            },
        },
        refusals={
            "credit": EmulatedRefusal(432, message="The plan's limit."),
            "budget": EmulatedRefusal(433, message="The limit of pay as you go."),
            "body": EmulatedRefusal(422, message="No object"),
        },
    )

    def __init__(self, library: Library) -> None:
        super().__init__(library)
        self.over_budget = False
        self.keyless_left: int | None = None
        self.keyless_wait = 3_600

    def accepts(self, request: Recorded, key: str) -> bool:
        """Whether a key is known, or the keyless mode is asked for."""
        return super().accepts(request, key) or _is_keyless(request, key)

    def refuses(self, request: Recorded, key: str) -> EmulatedResponse | None:
        """Return the refusal of the keyless mode, after a call that it still allows is counted."""
        if not _is_keyless(request, key) or self.keyless_left is None:
            return None
        self.keyless_left -= 1
        if self.keyless_left >= 0:
            return None
        error = {
            "code": "keyless_limit",
            "message": "Enough for today without a key.",
            "window": "day",
            "retry_after_seconds": self.keyless_wait,
            "next_actions": [],
        }
        return EmulatedResponse.json({"error": error}, status=429)

    def contradiction(self, body: dict[str, Any]) -> str:
        """Return what is wrong with parameters together."""
        if body.get("country") and body.get("topic", "general") != "general":
            return "country goes with the general topic only."
        if body.get("safe_search") and body.get("search_depth", "").endswith("fast"):
            return "safe_search is not for fast searches."
        return ""

    def error(self, refusal: EmulatedRefusal, message: str, parameter: str) -> EmulatedResponse:
        """Return an error in the service's form."""
        if refusal is self.spec.refusals["credit"] and self.over_budget:
            return self.refuse("budget")
        if refusal.status == 422:
            detail = [{"type": "json_invalid", "loc": ["body"], "msg": message}]
            return EmulatedResponse.json({"detail": detail}, status=422)
        return EmulatedResponse.json({"detail": {"error": message}}, status=refusal.status)

    def search(self, body: dict[str, Any]) -> EmulatedResponse:
        """Return the results of a search."""
        news = body.get("topic") == "news"
        hits = self.found(body)[: self.limit(body)]
        answer = {
            "query": body["query"],
            "follow_up_questions": None,
            "answer": None,
            "images": [],
            "results": [_row(hit, place, news=news) for place, hit in enumerate(hits)],
            "response_time": 0.01,
            "request_id": "00000000-0000-4000-8000-000000000001",
        }
        if body.get("include_usage"):
            answer["usage"] = {"credits": 2 if body.get("search_depth") == "advanced" else 1}
        return EmulatedResponse.json(answer)

    def extract(self, body: dict[str, Any]) -> EmulatedResponse:
        """Return the contents of pages, and the pages that could not be read."""
        urls = [body["urls"]] if isinstance(body["urls"], str) else body["urls"]
        results: list[dict[str, Any]] = []
        failed: list[dict[str, str]] = []
        for url in urls:
            page = visit(self.library, url)
            if page is None or page.status != 200 or not page.markdown:
                failed.append({"url": url, "error": "Nothing could be fetched."})
            else:
                markdown = body.get("format", "markdown") == "markdown"
                text = page.markdown if markdown else page.markdown.removeprefix("# ")
                results.append({"url": url, "raw_content": text, "images": []})
        answer = {"results": results, "failed_results": failed, "response_time": 0.02}
        return EmulatedResponse.json({**answer, "request_id": "00000000-0000-4000-8000-000000000002"})


def _is_keyless(request: Recorded, key: str) -> bool:
    return not key and request.headers.get("X-Tavily-Access-Mode") == "keyless"


def _row(hit: IndexHit, place: int, *, news: bool) -> dict[str, Any]:
    row: dict[str, Any] = {
        "url": hit.url,
        "title": hit.title,
        "content": hit.snippet,
        "score": round(0.95 - place / 50, 4),
        "raw_content": None,
    }
    return row | ({"published_date": format_datetime(midnight(hit.published), usegmt=True)} if news else {})
