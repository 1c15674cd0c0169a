"""A search service that speaks as the Kagi Search API does, version 1 and version 0, which it replaces."""

from __future__ import annotations

from typing import Any, ClassVar

from groundwire.testing.http_messages import EmulatedResponse, Recorded
from groundwire.testing.search_index import IndexHit, Library
from world.services.shared import (
    ApiEmulator,
    ApiSpec,
    EmulatedRefusal,
    SearchFields,
    boolean,
    choice,
    iso_day,
    moment,
    number,
    words,
)


class Kagi(ApiEmulator):
    """Kagi; see `ApiEmulator`.

    Attributes:
        balance: The credit of the account in US dollars, as version 0 says it.
    """

    spec: ClassVar[ApiSpec] = ApiSpec(
        name="kagi",
        routes={"POST /api/v1/search": "search", "GET /api/v0/search": "search_v0"},
        fields=SearchFields(
            limit="limit",
            operators=True,
            allowed="lens.sites_included",
            blocked="lens.sites_excluded",
            first="filters.after",
            last="filters.before",
        ),
        parameters={
            "search": {
                "query": words(),
                "workflow": choice("search", "news"),
                "limit": number(1, 1_024),
                "page": number(1, 10),
                "safe_search": boolean,
                "filters.after": iso_day,
                "filters.before": iso_day,
            },
            "search_v0": {"q": words(), "limit": number(1)},
        },
        refusals={
            "key": EmulatedRefusal(401, "auth.invalid_token", "The token is missing or not valid"),
            "credit": EmulatedRefusal(429, "billing.usage_limit_exceeded", "The usage limit is exhausted"),
            "fast": EmulatedRefusal(429, "request.rate_limited", "Too many requests", wait="7"),
            "body": EmulatedRefusal(400, "request.malformed", "The body is not a JSON object"),
            "invalid": EmulatedRefusal(400, "request.invalid_parameter"),
            "v0 key": EmulatedRefusal(401, 2, "Unauthorized"),
            "v0 credit": EmulatedRefusal(402, 101, "Insufficient credit to perform this request"),
            "v0 fast": EmulatedRefusal(429, 0, "Too many requests"),
            "v0 invalid": EmulatedRefusal(400, 1, "Malformed request"),
        },
    )

    def __init__(self, library: Library) -> None:
        super().__init__(library)
        self.balance: float = 12.5

    def accepts(self, request: Recorded, key: str) -> bool:
        """Whether a key is known; the versions name its scheme differently."""
        scheme, _, key = request.headers.get("Authorization", "").partition(" ")
        return key in self.keys and scheme == ("Bot" if "/v0/" in request.path else "Bearer")

    def key(self, request: Recorded) -> str:
        """Return the key of a request."""
        return request.headers.get("Authorization", "").partition(" ")[2]

    def refuse(self, reason: str, message: str = "", parameter: str = "") -> EmulatedResponse:
        """Return one of the refusals of the version that was asked."""
        old = f"v0 {reason}"
        known = "/v0/" in self.request.path and old in self.spec.refusals
        return super().refuse(old if known else reason, message, parameter)

    def error(self, refusal: EmulatedRefusal, message: str, parameter: str) -> EmulatedResponse:
        """Return an error in the form of the version that was asked; an unknown address is a page."""
        if refusal.status == 404:
            return EmulatedResponse.html("<!doctype html><title>404</title><h1>Not found</h1>", status=404)
        if isinstance(refusal.code, int):
            return self._envelope(None, [{"code": refusal.code, "msg": message, "ref": None}], refusal.status)
        error = {"code": refusal.code, "url": f"https://help.example/errors#{refusal.code}", "message": message}
        meta = {"trace": "69c3-miniature", "node": "miniature", "ms": 1}
        return EmulatedResponse.json(
            {"meta": meta, "data": [], "error": [{**error, "location": None}]}, status=refusal.status
        )

    def search(self, body: dict[str, Any]) -> EmulatedResponse:
        """Return the results of a search by version 1; a lens goes before operators."""
        limit, page = self.limit(body), int(body.get("page") or 1)
        rows = [_row(hit, "time") for hit in self.found(body)[(page - 1) * limit : page * limit]]
        more = {"related_search": [{"title": f"{body['query']} explained"}]}
        data = {body.get("workflow", "search"): rows, **more} if rows else {}
        return EmulatedResponse.json({"meta": {"trace": "69c3-miniature", "node": "miniature", "ms": 7}, "data": data})

    def search_v0(self, body: dict[str, Any]) -> EmulatedResponse:
        """Return the results of a search by version 0."""
        hits = self.found({"query": body["q"]})[: self.limit(body)]
        rows: list[dict[str, object]] = [{"t": 0, **_row(hit, "published")} for hit in hits]
        return self._envelope([*rows, {"t": 1, "list": [f"{body['q']} explained"]}])

    def _envelope(
        self, data: object, error: list[dict[str, object]] | None = None, status: int = 200
    ) -> EmulatedResponse:
        meta = {"id": "69c3-miniature", "node": "miniature", "ms": 7, "api_balance": self.balance}
        body = {"meta": meta, "data": data} | ({"error": error} if error else {})
        return EmulatedResponse.json(body, status=status)


def _row(hit: IndexHit, dated: str) -> dict[str, object]:
    return {"url": hit.url, "title": hit.title, "snippet": hit.snippet, dated: f"{moment(hit)}Z"}
