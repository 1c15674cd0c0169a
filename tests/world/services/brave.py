"""A search service that speaks as the Brave Search API does: web and news, one request at a time."""

from __future__ import annotations

import re
import time
from collections import deque
from collections.abc import Callable, Mapping
from dataclasses import replace
from html import escape
from typing import Any, ClassVar, Final
from urllib.parse import urlsplit

from groundwire.testing.http_messages import EmulatedResponse, Recorded
from groundwire.testing.search_index import IndexHit, Library
from world.services.shared import (
    ApiEmulator,
    ApiSpec,
    EmulatedRefusal,
    SearchFields,
    choice,
    moment,
    number,
    pattern,
    split_sites,
)

_DAYS: Final[Mapping[str, int]] = {"pd": 1, "pw": 7, "pm": 31, "py": 365}
_RANGE = r"\d{4}-\d{2}-\d{2}to\d{4}-\d{2}-\d{2}"
_OTHER_NAMES = "xx|ja|zh|pt|no"  # codes that look right, and which it has under other names
_YES_NO = choice("true", "false", "0", "1")
_PARAMETERS: Final[Mapping[str, Callable[[Any], str]]] = {
    "q": lambda value: "" if value and len(value) <= 400 and len(value.split()) <= 50 else "is not valid",
    "count": number(1, 20),
    "offset": number(0, 9),
    "safesearch": choice("off", "moderate", "strict"),
    "freshness": pattern(f"{'|'.join(_DAYS)}|{_RANGE}"),
    "country": pattern("ALL|[A-Z]{2}"),
    "search_lang": pattern(f"(?!({_OTHER_NAMES})$)([a-z]{{2}}|zh-han[st]|pt-(br|pt)|en-gb)"),
    "text_decorations": _YES_NO,
    "extra_snippets": _YES_NO,
    "result_filter": pattern("[a-z_,]+"),
    "goggles": pattern("(?s).{0,10000}"),
}
_ICON = "https://imgs.example/icon.png"


class Brave(ApiEmulator):
    """Brave; see `ApiEmulator`.

    Attributes:
        per_second: The searches that it answers in any one second, 0 for any number; it says 1 then all the same.
        refused: How many it has refused because of that.
        quota: The requests of a month, 0 for no limit.
        spent: The requests of this month so far.
        extra_snippets: Whether the plan has further passages.
        altered: What its spelling correction makes of every query, or None.
    """

    spec: ClassVar[ApiSpec] = ApiSpec(
        name="brave",
        routes={f"{method} /res/v1/{kind}/search": kind for method in ("GET", "POST") for kind in ("web", "news")},
        key_header="X-Subscription-Token",
        fields=SearchFields(
            query="words",
            limit="count",
            usual_limit=20,
            allowed="allowed",
            blocked="blocked",
            within="freshness",
            days=_DAYS,
            first="first",
            last="last",
        ),
        parameters={"web": _PARAMETERS, "news": {**_PARAMETERS, "count": number(1, 50)}},
        refusals={
            "route": EmulatedRefusal(404, "NOT_FOUND", "The resource does not exist"),
            "key": EmulatedRefusal(422, "SUBSCRIPTION_TOKEN_INVALID", "The token is not valid"),
            "no key": EmulatedRefusal(422, "VALIDATION", "Unable to validate request parameters"),
            "fast": EmulatedRefusal(429, "RATE_LIMITED", "Rate limit exceeded for plan"),
            "credit": EmulatedRefusal(429, "QUOTA_LIMITED", "Quota limit exceeded for plan"),
            "plan": EmulatedRefusal(400, "OPTION_NOT_IN_PLAN", "The option is not in the plan"),
            "invalid": EmulatedRefusal(422, "VALIDATION", "Unable to validate request parameters"),
        },
    )

    def __init__(self, library: Library) -> None:
        super().__init__(library)
        self.per_second = 0
        self.refused: int = 0
        self._times: deque[float] = deque()
        self.quota = 2_000
        self.spent: int = 0
        self.extra_snippets = False
        self.altered: str | None = None

    def handle(self, request: Recorded) -> EmulatedResponse:
        """Return what the service answers, with its rate limits in the headers."""
        response = super().handle(request)
        key = self.key(request)
        if key not in self.keys or response.status == 404:
            return response
        self.spent += response.status == 200
        return replace(response, headers={**self._rates(key), **response.headers})

    def body(self, request: Recorded) -> dict[str, Any]:
        """Return the parameters, which come in the address or in a form."""
        return dict(request.params)

    def refuses(self, request: Recorded, key: str) -> EmulatedResponse | None:
        """Return the refusal of a search that is one more than a second has."""
        if not self._has_credit(key) or not (self.rate_limited or self._is_too_fast()):
            return None
        self.refused += 1
        return self.refuse("fast")

    def _has_credit(self, key: str) -> bool:
        return key not in self.used_up and self.credits_left.get(key, 1) > 0

    def error(self, refusal: EmulatedRefusal, message: str, parameter: str) -> EmulatedResponse:
        """Return an error in the service's form."""
        meta: dict[str, object] = {"component": "authentication"}
        if refusal is self.spec.refusals["key"] and not self.key(self.request):
            refusal, message = self.spec.refusals["no key"], self.spec.refusals["no key"].message
            meta = _invalid("header", "x-subscription-token", "Field required", "missing")
        elif parameter:
            meta = _invalid("query", parameter, f"The value of {parameter} is not valid", "value_error")
        elif refusal.status == 429:
            over = refusal is self.spec.refusals["credit"]
            meta = {
                "plan": "Free",
                "rate_limit": 1,
                "rate_current": 0 if over else 1,
                "quota_limit": self.quota,
                "quota_current": self.quota if over else self.spent,
                "org_rate_limit": None,
                "org_rate_current": 0,
                "component": "rate_limiter",
            }
        status = refusal.status
        error = {"id": "5d83-miniature", "status": status, "detail": message, "meta": meta, "code": refusal.code}
        return EmulatedResponse.json({"type": "ErrorResponse", "error": error, "time": 1_790_000_000}, status=status)

    def _is_too_fast(self) -> bool:
        """Whether this search is one more than a second has; those that were refused do not count."""
        now = time.monotonic()
        while self._times and now - self._times[0] >= 1:
            self._times.popleft()
        if not self.per_second:
            return False
        if len(self._times) >= self.per_second:
            return True
        self._times.append(now)
        return False

    def _rates(self, key: str) -> dict[str, str]:
        left = 0 if not self._has_credit(key) or not self.quota else self.quota - self.spent
        return {
            "X-RateLimit-Limit": f"{self.per_second or 1}, {self.quota}",
            "X-RateLimit-Policy": f"{self.per_second or 1};w=1, {self.quota};w=2592000",
            "X-RateLimit-Remaining": f"{max(0, (self.per_second or 1) - max(1, len(self._times)))}, {left}",
            "X-RateLimit-Reset": "1, 1419704",
        }

    def web(self, body: dict[str, Any]) -> EmulatedResponse:
        """Return pages of the web."""
        extra = body.get("extra_snippets") in ("true", "1")
        if extra and not self.extra_snippets:
            return self.refuse("plan")
        found, rows = self._page(body)
        bold = body["q"] if body.get("text_decorations") not in ("false", "0") else ""
        last = (int(body.get("offset", 0)) + 1) * self.limit(body)
        query = self._query(body) | _whereabouts(body) | {"more_results_available": len(found) > last}
        places = [{"type": "web", "index": index, "all": False} for index in range(len(rows))]
        mixed = {"type": "mixed", "main": places, "top": [], "side": []}
        answer: dict[str, object] = {"query": query, "mixed": mixed, "type": "search"}
        if "web" not in body.get("result_filter", "videos"):
            answer["videos"] = {"type": "videos", "results": [], "mutated_by_goggles": "goggles" in body}
        if rows:
            results = [_web(hit, self._age(hit), bold, extra) for hit in rows]
            answer["web"] = {"type": "search", "results": results, "family_friendly": True}
        return EmulatedResponse.json(answer)

    def news(self, body: dict[str, Any]) -> EmulatedResponse:
        """Return pages of the news."""
        rows = [_news(hit, self._age(hit)) for hit in self._page(body)[1]]
        return EmulatedResponse.json({"type": "news", "query": self._query(body), "results": rows})

    def _query(self, body: dict[str, Any]) -> dict[str, object]:
        about = {"original": body["q"], "show_strict_warning": False, "spellcheck_off": self.altered is None}
        return about if self.altered is None else {**about, "altered": self.altered}

    def _page(self, body: dict[str, Any]) -> tuple[list[IndexHit], list[IndexHit]]:
        """Return all pages that are found, and those of the page of results that was asked for."""
        text, hosts, not_hosts = split_sites(body["q"])
        goggle = body.get("goggles", "").splitlines()
        if "$discard" in goggle:
            hosts += tuple(line.removeprefix("$site=") for line in goggle if line.startswith("$site="))
        not_hosts += tuple(line.removeprefix("$discard,site=") for line in goggle if line.startswith("$discard,"))
        first, _, last = body.get("freshness", "").partition("to")
        days = {"first": first, "last": last} if last else {}
        found = self.found({**body, "words": text, "allowed": hosts, "blocked": not_hosts, **days})
        count, offset = self.limit(body), int(body.get("offset", 0))
        return found, found[offset * count : (offset + 1) * count]

    def _age(self, hit: IndexHit) -> str:
        days, published = self.age(hit), hit.published
        return f"{days} days ago" if days < 31 else f"{published:%B} {published.day}, {published.year}"


class BraveContext(Brave):
    """Brave's LLM context, in the form of its MCP server's schemas (2.1.4)."""

    spec: ClassVar[ApiSpec] = replace(
        Brave.spec,
        name="brave_context",
        routes={f"{method} /res/v1/llm/context": "context" for method in ("GET", "POST")},
        fields=replace(Brave.spec.fields, limit="maximum_number_of_urls"),
        parameters={
            "context": {
                **{name: _PARAMETERS[name] for name in ("q", "freshness", "country", "search_lang", "goggles")},
                "count": number(1, 50),
                "maximum_number_of_urls": number(1, 50),
                "maximum_number_of_tokens": number(1_024, 32_768),
                "maximum_number_of_tokens_per_url": number(512, 8_192),
            }
        },
    )

    def context(self, body: dict[str, Any]) -> EmulatedResponse:
        """Return passages of pages, and what is known of each."""
        hits = self._page(body)[1]
        rows = [{"url": hit.url, "title": hit.title, "snippets": [hit.snippet, f"Also: {hit.title}."]} for hit in hits]
        sources = {
            hit.url: {"title": hit.title, "hostname": _address(hit.url)["hostname"], "age": self._ages(hit)}
            for hit in hits
        }
        return EmulatedResponse.json({"grounding": {"generic": rows, "map": []}, "sources": sources})

    def _ages(self, hit: IndexHit) -> list[str]:
        return [f"{hit.published:%A, %B %d, %Y}", hit.published.isoformat(), f"{self.age(hit)} days ago"]


def _invalid(place: str, name: str, message: str, kind: str) -> dict[str, object]:
    return {"errors": [{"type": kind, "loc": [place, name], "msg": message, "input": None}]}


def _whereabouts(params: dict[str, str]) -> dict[str, object]:
    texts = dict.fromkeys(("postal_code", "city", "header_country", "state"), "")
    flags = dict.fromkeys(("is_navigational", "is_news_breaking", "bad_results", "should_fallback"), False)
    return {**texts, **flags, "country": params.get("country", "us").lower()}


def _address(url: str) -> dict[str, str]:
    parts = urlsplit(url)
    host = parts.hostname or ""
    shown = "".join(f"› {part} " for part in parts.path.split("/") if part).rstrip()
    return {"scheme": parts.scheme, "netloc": host, "hostname": host, "favicon": _ICON, "path": shown}


def _web(hit: IndexHit, age: str, bold: str, extra: bool) -> dict[str, object]:
    host = urlsplit(hit.url).hostname or ""
    text = escape(hit.snippet)
    for word in set(re.findall(r"\w{4,}", bold)):
        text = re.sub(rf"(?i)\b({word})\b", r"<strong>\1</strong>", text)
    row: dict[str, object] = {
        "title": escape(hit.title, quote=False),
        "url": hit.url,
        "is_source_local": False,
        "is_source_both": False,
        "description": text,
        "page_age": moment(hit),
        "profile": {"name": hit.site.name, "url": hit.url, "long_name": host, "img": _ICON},
        "language": "en",
        "family_friendly": True,
        "type": "search_result",
        "subtype": "generic",
        "meta_url": _address(hit.url),
        "age": age,
    }
    return row | ({"extra_snippets": [f"Also: {hit.title}."]} if extra else {})


def _news(hit: IndexHit, age: str) -> dict[str, object]:
    return {
        "type": "news_result",
        "title": hit.title,
        "url": hit.url,
        "description": hit.snippet,
        "age": age,
        "page_age": moment(hit),
        "meta_url": _address(hit.url),
    }
