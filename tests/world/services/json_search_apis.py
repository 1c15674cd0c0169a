"""Search services that take and return flat JSON: Linkup (SDK 0.24), Parallel (SDK 1.3), Perplexity, and Serper."""

from __future__ import annotations

from collections.abc import Callable, Mapping
from typing import Any, ClassVar, Final
from uuid import uuid4

from groundwire.testing.http_messages import EmulatedResponse, Recorded
from groundwire.testing.search_index import IndexHit, Library
from world.services.shared import (
    ApiEmulator,
    ApiSpec,
    EmulatedRefusal,
    SearchFields,
    addresses,
    american_day,
    at,
    boolean,
    choice,
    domains,
    iso_day,
    nothing,
    number,
    pattern,
    visit,
    words,
)


class Linkup(ApiEmulator):
    """Linkup; see `ApiEmulator`.

    Attributes:
        money_code: The code for a key without credit, or `EXCEED_BUDGET_LIMIT`.
        address_allowed: Whether the keys may be used from the client's address.
    """

    spec: ClassVar[ApiSpec] = ApiSpec(
        name="linkup",
        routes={"POST /v1/search": "search", "POST /v1/fetch": "fetch"},
        fields=SearchFields(
            query="q",
            limit="maxResults",
            allowed="includeDomains",
            blocked="excludeDomains",
            first="fromDate",
            last="toDate",
        ),
        parameters={
            "search": {
                "q": words(),
                "depth": choice("flash", "fast", "standard", "deep"),
                "outputType": choice("searchResults", "sourcedAnswer", "structured"),
                "maxResults": number(1),
                "includeDomains": domains(100),
                "excludeDomains": domains(100),
                "fromDate": iso_day,
                "toDate": iso_day,
            },
            "fetch": {"url": addresses(1), "renderJs": boolean, "mode": choice("standard", "pro")},
        },
        refusals={
            "route": EmulatedRefusal(404, "NOT_FOUND", "There is no such address."),
            "key": EmulatedRefusal(401, "UNAUTHORIZED", "This key is not known."),
            "address": EmulatedRefusal(403, "IP_NOT_WHITELISTED", "This address is not on the list."),
            "credit": EmulatedRefusal(429, "INSUFFICIENT_FUNDS_CREDITS", "Nothing is left to pay with."),
            "fast": EmulatedRefusal(429, "TOO_MANY_REQUESTS", "More than 10 requests in a second."),
            "body": EmulatedRefusal(400, "VALIDATION_ERROR", "The body is not a JSON object."),
            "invalid": EmulatedRefusal(400, "VALIDATION_ERROR"),
            "nothing": EmulatedRefusal(400, "SEARCH_QUERY_NO_RESULT", "Nothing was found."),
            "missing": EmulatedRefusal(400, "FETCH_TARGET_NOT_FOUND", "The target was not found."),
            "unread": EmulatedRefusal(400, "FETCH_ERROR", "The page could not be fetched."),
        },
    )

    def __init__(self, library: Library) -> None:
        super().__init__(library)
        self.money_code = "INSUFFICIENT_FUNDS_CREDITS"
        self.address_allowed = True

    def refuses(self, request: Recorded, key: str) -> EmulatedResponse | None:
        """Return the refusal of an address."""
        return None if self.address_allowed else self.refuse("address")

    def error(self, refusal: EmulatedRefusal, message: str, parameter: str) -> EmulatedResponse:
        """Return an error in the service's form."""
        code = self.money_code if refusal is self.spec.refusals["credit"] else refusal.code
        details = [{"field": parameter, "message": message}] if parameter else []
        error = {"code": code, "message": message, "details": details}
        return EmulatedResponse.json({"statusCode": refusal.status, "error": error}, status=refusal.status)

    def search(self, body: dict[str, Any]) -> EmulatedResponse:
        """Return the results of a search; finding nothing is an error."""
        rows = [self._row(hit) for hit in self.found(body)[: self.limit(body)]]
        return EmulatedResponse.json({"results": rows}) if rows else self.refuse("nothing")

    def fetch(self, body: dict[str, Any]) -> EmulatedResponse:
        """Return a page as Markdown."""
        page = visit(self.library, body["url"])
        if page is None or not page.markdown:
            return self.refuse("missing" if page is None or page.status == 404 else "unread")
        return EmulatedResponse.json({"markdown": page.markdown, "favicon": ""})

    def _row(self, hit: IndexHit) -> dict[str, object]:
        icon = f"{hit.site.url}/favicon.ico"
        return {"type": "text", "name": hit.title, "url": hit.url, "content": hit.page.text, "favicon": icon}


_POLICY = "advanced_settings.source_policy"


class Parallel(ApiEmulator):
    """Parallel; see `ApiEmulator`.

    Attributes:
        untitled: Whether it knows neither titles nor days.
    """

    spec: ClassVar[ApiSpec] = ApiSpec(
        name="parallel",
        routes={"POST /v1/search": "search", "POST /v1/extract": "extract"},
        key_header="x-api-key",
        fields=SearchFields(
            query="words",
            limit="advanced_settings.max_results",
            allowed=f"{_POLICY}.include_domains",
            blocked=f"{_POLICY}.exclude_domains",
            first=f"{_POLICY}.after_date",
        ),
        parameters={
            "search": {
                "objective": lambda value: "" if value is None else words(5_000)(value),
                "mode": choice("turbo", "fast", "basic", "advanced"),
                f"{_POLICY}.include_domains": domains(200),
                f"{_POLICY}.exclude_domains": domains(200),
                f"{_POLICY}.after_date": iso_day,
            },
            "extract": {
                "urls": addresses(20),
                "advanced_settings.fetch_policy.max_age_seconds": number(600),
                "advanced_settings.full_content.max_chars_per_result": number(1),
                "search_queries": nothing,
                "mode": nothing,
            },
        },
        refusals={
            "body": EmulatedRefusal(422, message="The body is not a JSON object."),
            "invalid": EmulatedRefusal(422),
        },
    )
    known: frozenset[str] = frozenset(
        {"search_queries", "objective", "mode", "max_chars_total", "client_model", "session_id", "advanced_settings"}
        | {"urls"}
    )
    """The parameters that it takes; others are refused."""
    locations: frozenset[str] = frozenset({"us", "gb", "de", "fr", "jp"})
    """The locations that it knows; others are ignored, and that is said."""
    included = 10
    """The results that the price of a request covers."""

    def __init__(self, library: Library) -> None:
        super().__init__(library)
        self.untitled = False

    def contradiction(self, body: dict[str, Any]) -> str:
        """Return what is wrong with the queries, or which parameter is unknown."""
        if unknown := sorted(body.keys() - self.known):
            return f"Not known here: {', '.join(unknown)}."
        if "urls" in body:
            return ""
        queries = body.get("search_queries")
        if not isinstance(queries, list) or not 1 <= len(queries) <= 5:
            return "One to five search queries are needed."
        good = all(isinstance(query, str) and 1 <= len(query) <= 200 for query in queries)
        return "" if good else "A search query has 1 to 200 characters."

    def error(self, refusal: EmulatedRefusal, message: str, parameter: str) -> EmulatedResponse:
        """Return an error in the service's form."""
        error = {"ref_id": uuid4().hex, "message": message, "detail": None}
        return EmulatedResponse.json({"type": "error", "error": error}, status=refusal.status)

    def search(self, body: dict[str, Any]) -> EmulatedResponse:
        """Return the results of a search. With domains that are allowed, those that are blocked are ignored."""
        text = " ".join((*body["search_queries"], body.get("objective") or ""))
        asked = {**body, "words": text}
        if at(body, self.spec.fields.allowed):
            policy = {**at(body, _POLICY), "exclude_domains": ()}
            asked["advanced_settings"] = {**body["advanced_settings"], "source_policy": policy}
        hits = self.found(asked)[: self.limit(body)]
        usage = [{"name": "sku_search", "count": 1}]
        if len(hits) > self.included:
            usage.append({"name": "sku_search_additional_results", "count": len(hits) - self.included})
        warnings = None
        if (at(body, "advanced_settings.location") or "us") not in self.locations:
            warnings = [{"type": "input_validation_warning", "message": "This location was ignored.", "detail": None}]
        size = at(body, "advanced_settings.excerpt_settings.max_chars_per_result") or 5_000
        return EmulatedResponse.json(
            {
                "search_id": f"search_{uuid4().hex}",
                "results": [self._row(hit, size) for hit in hits],
                "warnings": warnings,
                "usage": usage,
                "session_id": body.get("session_id") or f"session_{uuid4().hex}",
            }
        )

    def extract(self, body: dict[str, Any]) -> EmulatedResponse:
        """Return pages as Markdown, and why others could not be read."""
        results, errors = [], []
        most = at(body, "advanced_settings.full_content.max_chars_per_result")
        for url in body["urls"]:
            page = visit(self.library, url)
            status = 404 if page is None else page.status
            if page is None or status != 200:
                errors.append({"url": url, "error_type": "fetch_error", "http_status_code": status, "content": None})
                continue
            known = {"url": url, "title": page.title, "publish_date": page.published and page.published.isoformat()}
            results.append(known | {"excerpts": [page.markdown[:200]], "full_content": page.markdown[:most]})
        usage = [{"name": "sku_extract", "count": len(results)}]
        made = {"extract_id": f"extract_{uuid4().hex}", "session_id": f"session_{uuid4().hex}", "warnings": None}
        return EmulatedResponse.json({**made, "results": results, "errors": errors, "usage": usage})

    def _row(self, hit: IndexHit, size: int) -> dict[str, object]:
        rest = hit.page.text[: max(0, size - len(hit.snippet))]
        return {
            "url": hit.url,
            "title": None if self.untitled else hit.title,
            "publish_date": None if self.untitled else hit.published.isoformat(),
            "excerpts": [part for part in (hit.snippet[:size], rest) if part],
        }


_SERPER: Final[Mapping[str, Callable[[Any], str]]] = {
    "q": words(),
    "num": number(1, 100),
    "page": number(1, 100),
    "tbs": pattern(r"qdr:[hdwmy]|cdr:1(,cd_min:\d{1,2}/\d{1,2}/\d{4})?(,cd_max:\d{1,2}/\d{1,2}/\d{4})?"),
    **dict.fromkeys(("gl", "hl", "location", "safe"), pattern(".*")),
}


class Serper(ApiEmulator):
    """Serper; see `ApiEmulator`.

    Attributes:
        refusal_status: The status with which it says that there are no credits.
    """

    spec: ClassVar[ApiSpec] = ApiSpec(
        name="serper",
        routes={"POST /search": "search", "GET /search": "search", "POST /news": "news", "GET /news": "news"},
        key_header="X-API-KEY",
        fields=SearchFields(query="q", limit="num", operators=True, tbs="tbs"),
        parameters={"search": _SERPER, "news": _SERPER},
        refusals={
            "key": EmulatedRefusal(403, message="Unauthorized."),
            "credit": EmulatedRefusal(400, message="Not enough credits"),
        },
    )

    def __init__(self, library: Library) -> None:
        super().__init__(library)
        self.refusal_status = 400

    def error(self, refusal: EmulatedRefusal, message: str, parameter: str) -> EmulatedResponse:
        """Return an error in the service's form."""
        status = self.refusal_status if refusal is self.spec.refusals["credit"] else refusal.status
        message = f"Invalid parameter {parameter}" if parameter else message
        return EmulatedResponse.json({"message": message, "statusCode": status}, status=status)

    def search(self, body: dict[str, Any]) -> EmulatedResponse:
        """Return pages of the web."""
        rows = [self._row(hit, place) for place, hit in enumerate(self._rows(body), start=1)]
        return self._answer(body, "search", organic=rows, relatedSearches=[{"query": f"{body['q']} explained"}])

    def news(self, body: dict[str, Any]) -> EmulatedResponse:
        """Return pages of the news."""
        more = {"imageUrl": "https://imgs.example/picture.png"}
        rows = [
            self._row(hit, place) | {"source": hit.site.name} | more
            for place, hit in enumerate(self._rows(body), start=1)
        ]
        return self._answer(body, "news", news=rows)

    def _answer(self, body: dict[str, Any], kind: str, **rows: object) -> EmulatedResponse:
        said = {"gl": "us", "hl": "en", **body, "type": kind, "num": self.limit(body), "engine": "google"}
        return EmulatedResponse.json({"searchParameters": said, **rows, "credits": 1 if self.limit(body) <= 10 else 2})

    def _rows(self, body: dict[str, Any]) -> list[IndexHit]:
        limit, page = self.limit(body), int(body.get("page") or 1)
        return self.found(body)[(page - 1) * limit : page * limit]

    def _row(self, hit: IndexHit, place: int) -> dict[str, object]:
        day, age = hit.published, self.age(hit)
        said = f"{age} days ago" if age < 8 else f"{day:%b} {day.day}, {day.year}"
        return {"title": hit.title, "link": hit.url, "snippet": hit.snippet, "date": said, "position": place}


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
            "body": EmulatedRefusal(422, message="The body is not a JSON object."),
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
