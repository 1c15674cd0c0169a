"""Catalogs of papers: OpenAlex, and arXiv with its Atom feed; the papers are the pages of this world."""

from __future__ import annotations

import re
from dataclasses import replace
from typing import Any, ClassVar, Final
from xml.sax.saxutils import escape

from groundwire.testing.http_messages import EmulatedResponse, Recorded
from groundwire.testing.search_index import IndexHit, Library
from world.services.shared import ApiEmulator, ApiSpec, EmulatedRefusal, SearchFields, choice, number, pattern, words

_SELECTABLE: Final = (
    "id|doi|display_name|title|publication_date|publication_year|authorships|primary_location|best_oa_location"
    "|cited_by_count|abstract_inverted_index|language|type"
)
_FILTER = r"(from_publication_date|to_publication_date):\d{4}-\d\d-\d\d|language:[a-z]{2}"


class OpenAlex(ApiEmulator):
    """OpenAlex, with or without a key; see `ApiEmulator`."""

    spec: ClassVar[ApiSpec] = ApiSpec(
        name="openalex",
        routes={"GET /works": "works"},
        fields=SearchFields(query="search", limit="per_page", usual_limit=25, first="first", last="last"),
        parameters={
            "works": {
                "search": words(4_000),
                "per_page": number(1, 100),
                "page": number(1, 100),
                "select": pattern(rf"({_SELECTABLE})(,({_SELECTABLE}))*"),
                "filter": pattern(rf"({_FILTER})(,({_FILTER}))*"),
            }
        },
        refusals={
            "credit": EmulatedRefusal(429, "Rate limit exceeded", "Insufficient budget. It resets at midnight UTC."),
            "fast": EmulatedRefusal(429, "Rate limit exceeded", "More than 100 requests in a second."),
        },
    )

    def accepts(self, request: Recorded, key: str) -> bool:
        """Whether there is no key, or a known one."""
        return not key or key in self.keys

    def contradiction(self, body: dict[str, Any]) -> str:
        """Return which parameter is unknown."""
        unknown = sorted(body.keys() - self.spec.parameters["works"].keys())
        return f"{unknown[0]} is not a valid parameter." if unknown else ""

    def error(self, refusal: EmulatedRefusal, message: str, parameter: str) -> EmulatedResponse:
        """Return an error in the service's form, with what is left of the day."""
        body = {"error": refusal.code or "Invalid query parameters error.", "message": message}
        reply = EmulatedResponse.json(body, status=refusal.status)
        return replace(reply, headers=_left(0)) if refusal is self.spec.refusals["credit"] else reply

    def works(self, body: dict[str, Any]) -> EmulatedResponse:
        """Return the papers that match."""
        wanted = dict(part.split(":") for part in body.get("filter", "").split(",") if part)
        days = {"first": wanted.get("from_publication_date"), "last": wanted.get("to_publication_date")}
        found, size, page = self.found({**body, **days}), self.limit(body), int(body.get("page") or 1)
        names = body.get("select", _SELECTABLE.replace("|", ",")).split(",")
        rows = [{name: _work(hit).get(name) for name in names} for hit in found[(page - 1) * size : page * size]]
        meta = {"count": len(found), "db_response_time_ms": 9, "page": page, "per_page": size}
        return replace(EmulatedResponse.json({"meta": meta, "results": rows, "group_by": []}), headers=_left(990))


def _left(remaining: int) -> dict[str, str]:
    return {"X-RateLimit-Limit": "1000", "X-RateLimit-Remaining": str(remaining), "X-RateLimit-Reset": "3600"}


def _work(hit: IndexHit) -> dict[str, object]:
    index: dict[str, list[int]] = {}
    for place, word in enumerate(hit.page.text.split()):
        index.setdefault(word, []).append(place)
    location = {"landing_page_url": hit.url, "source": {"display_name": f"Journal of {hit.site.name}"}}
    return {
        "id": "https://openalex.org/W1",
        "doi": None,
        "display_name": hit.title,
        "publication_date": hit.published.isoformat(),
        "authorships": [
            {"author": {"display_name": name}} for name in ("Ada Ash", "Bo Birch", "Cy Cedar", "Di Dogwood")
        ],
        "primary_location": location,
        "best_oa_location": None,
        "cited_by_count": 12,
        "abstract_inverted_index": dict(sorted(index.items())),
    }


_TERM = r'all:(?:"[^"]+"|\w+)'
_DAYS = r"submittedDate:\[(\d{8})\d{4} TO (\d{8})\d{4}\]"


class Arxiv(ApiEmulator):
    """arXiv; see `ApiEmulator`.

    Attributes:
        late: Whether it leaves out the results that it counts, as it does under load.
    """

    spec: ClassVar[ApiSpec] = ApiSpec(
        name="arxiv",
        routes={"GET /api/query": "query"},
        fields=SearchFields(query="words", limit="max_results", first="first", last="last"),
        parameters={
            "query": {
                "search_query": pattern(rf"({_TERM})( AND {_TERM})*( AND {_DAYS})?"),
                "start": number(0, 30_000),
                "max_results": number(0, 2_000),
                "sortBy": choice("relevance", "lastUpdatedDate", "submittedDate"),
            }
        },
        refusals={},
    )

    def __init__(self, library: Library) -> None:
        super().__init__(library)
        self.late = False

    def accepts(self, request: Recorded, key: str) -> bool:
        """Whether there is no key."""
        return not key

    def error(self, refusal: EmulatedRefusal, message: str, parameter: str) -> EmulatedResponse:
        """Return an error: text if there are too many requests, else a feed."""
        if refusal.status == 429:
            return EmulatedResponse.text("Rate exceeded.", status=429)
        entry = f"<entry><id>http://arxiv.org/api/errors#{parameter}</id><title>Error</title>"
        return _feed(f"{entry}<summary>{escape(message)}</summary></entry>", 1, status=refusal.status)

    def query(self, body: dict[str, Any]) -> EmulatedResponse:
        """Return the papers that match."""
        asked, days = body["search_query"], re.search(_DAYS, body["search_query"])
        terms = re.findall(r'all:(?:"([^"]+)"|(\w+))', asked)
        first, last = (
            f"{day[:4]}-{day[4:6]}-{day[6:]}" if day else "" for day in (days.groups() if days else ("", ""))
        )
        found = self.found({"words": " ".join(map("".join, terms)), "first": first, "last": last})
        start, size = int(body.get("start") or 0), self.limit(body)
        rows = () if self.late else map(_entry, found[start : start + size])
        return _feed("".join(rows), len(found))


def _feed(entries: str, total: int, status: int = 200) -> EmulatedResponse:
    head = '<feed xmlns="http://www.w3.org/2005/Atom" xmlns:o="http://a9.com/-/spec/opensearch/1.1/">'
    count = f"<o:totalResults>{total}</o:totalResults>"
    text = f"<?xml version='1.0' encoding='UTF-8'?>\n{head}{count}{entries}</feed>"
    return EmulatedResponse(body=text.encode(), status=status, content_type="application/atom+xml")


def _entry(hit: IndexHit) -> str:
    return (
        f"<entry><id>{escape(hit.url)}</id><title>{escape(hit.title)}</title>"
        f"<published>{hit.published.isoformat()}T00:00:00Z</published><author><name>Ada Ash</name></author>"
        f"<summary>\n  {escape(hit.snippet)}\n</summary></entry>"
    )
