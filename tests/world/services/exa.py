"""A search and read service that speaks as Exa's search and contents do (SDK 2.27 and its page of error codes)."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import replace
from datetime import date
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
    boolean,
    choice,
    iso_day,
    number,
    pattern,
    visit,
    words,
)

_TYPES = ("auto", "fast", "instant", "lite", "neural", "deep-lite", "deep", "deep-reasoning", "keyword")
_ID = "00000000000000000000000000000001"
_LIMITS: Final[Mapping[str, str]] = {
    "X-RateLimit-Limit": "450",
    "X-RateLimit-Remaining": "449",
    "X-RateLimit-Reset": "1790000000",
}


class Exa(ApiEmulator):
    """Exa; see `ApiEmulator`.

    Attributes:
        money_tag: The tag for a key without credit: `NO_MORE_CREDITS` or `API_KEY_BUDGET_EXCEEDED`.
        overloaded: Whether it answers 503.
    """

    spec: ClassVar[ApiSpec] = ApiSpec(
        name="exa",
        routes={"POST /search": "search", "POST /contents": "contents"},
        key_header="x-api-key",
        fields=SearchFields(
            limit="numResults",
            allowed="includeDomains",
            blocked="excludeDomains",
            first="startPublishedDate",
            last="endPublishedDate",
        ),
        parameters={
            "search": {
                "query": words(),
                "type": choice(*_TYPES),
                "numResults": number(1, 100),
                **dict.fromkeys(("text", "highlights", "summary"), choice()),  # they belong into contents
                "startPublishedDate": iso_day,
                "endPublishedDate": iso_day,
                "moderation": boolean,
                "userLocation": pattern(".."),
            },
            "contents": {"urls": addresses(100)},
        },
        refusals={
            "route": EmulatedRefusal(404, "NOT_FOUND", "There is no such address."),
            "key": EmulatedRefusal(401, "INVALID_API_KEY", "This key is not known."),
            "overloaded": EmulatedRefusal(503, "OVERLOADED", "Too much to do at the moment."),
            "fast": EmulatedRefusal(429, message="More than 10 requests in a second."),
            "credit": EmulatedRefusal(402, "NO_MORE_CREDITS", "Nothing is left to pay with."),
            "body": EmulatedRefusal(400, "INVALID_REQUEST_BODY", "The body is not a JSON object."),
            "invalid": EmulatedRefusal(400, "INVALID_REQUEST_BODY"),
        },
    )

    def __init__(self, library: Library) -> None:
        super().__init__(library)
        self.money_tag = "NO_MORE_CREDITS"
        self.overloaded = False

    def refuses(self, request: Recorded, key: str) -> EmulatedResponse | None:
        """Return the refusal of too much load."""
        return self.refuse("overloaded") if self.overloaded else None

    def error(self, refusal: EmulatedRefusal, message: str, parameter: str) -> EmulatedResponse:
        """Return an error in the service's form."""
        tag = self.money_tag if refusal is self.spec.refusals["credit"] else refusal.code
        body = {"requestId": _ID, "error": message} | ({"tag": tag} if tag else {})
        return EmulatedResponse.json(body, status=refusal.status)

    def search(self, body: dict[str, Any]) -> EmulatedResponse:
        """Return the results of a search."""
        wanted = body.get("contents") or {}
        rows = [_row(hit, wanted) for hit in self.found(body)[: self.limit(body)]]
        cost: dict[str, Any] = {"total": 0.007 if wanted else 0.005, "search": {"neural": 0.005}}
        if wanted:
            cost["contents"] = {"text": 0.002}
        return _answer(results=rows, resolvedSearchType="neural", searchTime=12.5, costDollars=cost)

    def contents(self, body: dict[str, Any]) -> EmulatedResponse:
        """Return the contents of pages, and how each of them fared."""
        results: list[dict[str, Any]] = []
        statuses: list[dict[str, Any]] = []
        for url in body["urls"]:
            page = visit(self.library, url)
            status = 404 if page is None else page.status
            if page is None or status != 200:
                refused = "SOURCE_NOT_AVAILABLE" if status < 500 else "CRAWL_UNKNOWN_ERROR"
                tag = "CRAWL_NOT_FOUND" if status == 404 else refused
                statuses.append({"id": url, "status": "error", "error": {"tag": tag, "httpStatusCode": status}})
                continue
            row: dict[str, Any] = {"id": url, "title": page.title, "url": url, "author": "", "image": ""}
            if page.published:
                row["publishedDate"] = _moment(page.published)
            results.append(row | {"text": _cut(page.markdown, body.get("text"))})
            statuses.append({"id": url, "status": "success"})
        cost = 0.001 * len(results)
        costs = {"total": cost, "contents": {"text": cost}}
        return _answer(results=results, statuses=statuses, costDollars=costs, searchTime=40.25)


def _answer(**values: Any) -> EmulatedResponse:
    return replace(EmulatedResponse.json({"requestId": _ID, **values}), headers=_LIMITS)


def _row(hit: IndexHit, wanted: dict[str, Any]) -> dict[str, Any]:
    row: dict[str, Any] = {"id": hit.url, "title": hit.title, "url": hit.url}
    row |= {"publishedDate": _moment(hit.published), "author": None}
    if wanted.get("text"):
        row["text"] = _cut(hit.page.text, wanted["text"])
    if wanted.get("highlights"):
        row |= {"highlights": [_cut(hit.snippet, wanted["highlights"])], "highlightScores": [0.5]}
    return row


def _cut(text: str, option: object) -> str:
    return text[: option.get("maxCharacters")] if isinstance(option, dict) else text


def _moment(day: date) -> str:
    return midnight(day).strftime("%Y-%m-%dT%H:%M:%S.000Z")
