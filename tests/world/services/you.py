"""A search service that speaks as the You.com Search API does (SDK 3.6)."""

from __future__ import annotations

from collections.abc import Mapping
from datetime import date, timedelta
from typing import Any, ClassVar, Final
from uuid import uuid4

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
    moment,
    number,
    pattern,
    visit,
    words,
)

_DAYS: Final[Mapping[str, int]] = {"day": 1, "week": 7, "month": 31, "year": 365}
_RANGE = r"\d{4}-\d\d-\d\dto\d{4}-\d\d-\d\d"
_NEWS_DAYS = 31
_FACTS: Final = [
    {
        "type": "answer",
        "title": "Copper",
        "description": "9,812.50 US dollars a ton",
        "attribution": [{"name": "Metals Board"}],
        "as_of": "2026-11-20",
    }
]


class You(ApiEmulator):
    """You.com; see `ApiEmulator`.

    Attributes:
        reset_at: When an account without credit gets new credit, ISO 8601; None leaves it out.
        scoped: Whether the keys may search.
        news: Whether it takes queries for questions about the news, and adds that section.
    """

    spec: ClassVar[ApiSpec] = ApiSpec(
        name="you",
        routes={"POST /v1/search": "search", "GET /v1/search": "search", "POST /v1/contents": "contents"},
        key_header="X-API-Key",
        fields=SearchFields(
            limit="count",
            allowed="include_domains",
            blocked="exclude_domains",
            within="freshness",
            days=_DAYS,
            first="first",
            last="last",
        ),
        parameters={
            "search": {
                "query": words(),
                "count": number(1, 100),
                "offset": number(0, 9),
                "freshness": pattern(f"{'|'.join(_DAYS)}|{_RANGE}"),
                "safesearch": choice("off", "moderate", "strict"),
                "country": pattern("[A-Z]{2}"),
                "language": pattern("[A-Z]{2}(-[A-Z]{2,4})?"),
                "include_domains": domains(500),
                "exclude_domains": domains(500),
                "knowledge": choice("core"),
                "extraction": lambda value: (
                    "" if value in (None, {"extraction_mode": "highlights"}) else "is not valid"
                ),
            },
            "contents": {"urls": addresses(10), "crawl_timeout": number(1, 60), "max_age": number(0)},
        },
        refusals={
            "scope": EmulatedRefusal(403, message="This key may not search."),
            "credit": EmulatedRefusal(402, "payment_required", "Nothing is left to pay with."),
            "body": EmulatedRefusal(422, message="The body is not a JSON object."),
            "invalid": EmulatedRefusal(422),
        },
    )

    def __init__(self, library: Library) -> None:
        super().__init__(library)
        self.reset_at: str | None = None
        self.scoped = True
        self.news = False

    def refuses(self, request: Recorded, key: str) -> EmulatedResponse | None:
        """Return the refusal of keys that may not search."""
        return None if self.scoped else self.refuse("scope")

    def body(self, request: Recorded) -> dict[str, Any] | None:
        """Return the body of a POST, or the parameters of a GET in the same form."""
        body = super().body(request)
        for name in ("include_domains", "exclude_domains"):
            if body and isinstance(body.get(name), str):
                body[name] = body[name].split(",")
        return body

    def contradiction(self, body: dict[str, Any]) -> str:
        """Return what is wrong with parameters together."""
        both = body.get("include_domains") and body.get("exclude_domains")
        return "include_domains and exclude_domains exclude each other" if both else ""

    def error(self, refusal: EmulatedRefusal, message: str, parameter: str) -> EmulatedResponse:
        """Return an error in the service's form, of which there are several."""
        if refusal.code:
            reset = {"reset_at": self.reset_at} if self.reset_at else {}
            body: dict[str, object] = {"error": refusal.code, "message": message, **reset}
        elif parameter:
            body = {"detail": [{"type": "value_error", "loc": ["body", parameter], "msg": message}]}
        else:
            body = {"error" if refusal is self.spec.refusals["invalid"] else "detail": message}
        return EmulatedResponse.json(body, status=refusal.status)

    def search(self, body: dict[str, Any]) -> EmulatedResponse:
        """Return the results of a search: the pages of the web, and the news."""
        first, _, last = (body.get("freshness") or "").partition("to")
        found = self.found({**body, "first": first, "last": last} if last else body)
        count = self.limit(body)
        start = int(body.get("offset") or 0) * count
        newest = self.library.today - timedelta(days=_NEWS_DAYS) if self.news else date.max
        sections = {
            "web": [_web(hit, "extraction" in body) for hit in found[start : start + count]],
            "news": [_news(hit) for hit in found if hit.published >= newest][start : start + count],
            "knowledge": _FACTS if "knowledge" in body else [],
        }
        return EmulatedResponse.json(
            {
                "results": {name: rows for name, rows in sections.items() if rows},
                "metadata": {"search_uuid": str(uuid4()), "query": body["query"], "latency": 0.01},
            }
        )

    def contents(self, body: dict[str, Any]) -> EmulatedResponse:
        """Return pages as Markdown; those that could not be read are entries without it."""
        rows: list[dict[str, object]] = []
        for url in body["urls"]:
            page = visit(self.library, url)
            read = page if page is not None and page.status == 200 else None
            rows.append({"url": url, "title": read.title if read else "", "html": None})
            rows[-1]["markdown"] = read.markdown if read else None
        return EmulatedResponse.json(rows)


def _web(hit: IndexHit, highlights: bool) -> dict[str, object]:
    passages = {"contents": {"highlights": [f"Also: {hit.title}.", hit.snippet]}} if highlights else {}
    return passages | {
        "url": hit.url,
        "title": hit.title,
        "description": hit.page.text[:120],
        **({} if highlights else {"snippets": [hit.snippet]}),
        "page_age": moment(hit),
        "favicon_url": f"{hit.site.url}/favicon.ico",
    }


def _news(hit: IndexHit) -> dict[str, object]:
    return {
        "title": hit.title,
        "description": hit.snippet,
        "page_age": midnight(hit.published).isoformat(),
        "url": hit.url,
    }
