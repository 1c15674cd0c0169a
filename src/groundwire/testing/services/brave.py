"""A search service that speaks as the Brave Search API does: web and news, one request at a time."""

from __future__ import annotations

import re
import time
from collections import deque
from dataclasses import replace
from datetime import date
from html import escape
from urllib.parse import urlsplit

from groundwire.testing.http_messages import EmulatedResponse, Recorded
from groundwire.testing.search_index import IndexHit, Library
from groundwire.testing.server import Endpoint
from groundwire.testing.services.shared import split_sites
from groundwire.testing.site import midnight

__all__ = ["Brave"]

_MOST = {"web": 20, "news": 50}
_DAYS = {"pd": 1, "pw": 7, "pm": 31, "py": 365}
_RANGE = re.compile(r"(\d{4}-\d{2}-\d{2})to(\d{4}-\d{2}-\d{2})")
_FORMS = {
    "offset": r"[0-9]",
    "safesearch": "off|moderate|strict",
    "freshness": f"{'|'.join(_DAYS)}|{_RANGE.pattern}",
    "country": "ALL|[A-Z]{2}",
    "search_lang": "[a-z]{2}|zh-han[st]|pt-(br|pt)|en-gb",
    "text_decorations": "true|false|0|1",
    "extra_snippets": "true|false|0|1",
    "result_filter": "[a-z_,]+",
}
_NO_PAGES = frozenset({"xx", "ja", "zh", "pt", "no"})  # codes that look right, and which it has under other names
_ICON = "https://imgs.example/icon.png"


class Brave(Endpoint):
    """The service; set its attributes to make it refuse.

    Args:
        library: What it searches.

    Attributes:
        keys: The keys that it accepts.
        used_up: Those of them whose month's quota is used up.
        rate_limited: Whether the limit per second is reached.
        per_second: The searches that it answers in any one second, 0 for any number; it says 1 then all the same.
        refused: How many it has refused because of that.
        quota: The requests of a month, 0 for no limit.
        spent: The requests of this month so far.
        extra_snippets: Whether the plan has further passages.
        altered: What its spelling correction makes of every query, or None.
    """

    def __init__(self, library: Library) -> None:
        super().__init__("brave")
        self._library = library
        self.keys = {"test-key"}
        self.used_up: set[str] = set()
        self.rate_limited = False
        self.per_second = 0
        self.refused = 0
        self._times: deque[float] = deque()
        self.quota = 2_000
        self.spent = 0
        self.extra_snippets = False
        self.altered: str | None = None

    def handle(self, request: Recorded) -> EmulatedResponse:
        """Return what the service answers."""
        kind = {"/res/v1/web/search": "web", "/res/v1/news/search": "news"}.get(request.path)
        if kind is None or request.method not in ("GET", "POST"):
            return _error(404, "NOT_FOUND", "The resource does not exist", {})
        key = request.headers.get("X-Subscription-Token")
        if key is None:
            return _invalid(["header", "x-subscription-token"], "Field required", "missing")
        if key not in self.keys:
            return _error(422, "SUBSCRIPTION_TOKEN_INVALID", "The token is not valid", {"component": "authentication"})
        if refusal := self._limits(key):
            return replace(refusal, headers=self._rates(key))
        reply = self._search(kind, request)
        if reply.status == 200:
            self.spent += 1
        return replace(reply, headers=self._rates(key))

    def _limits(self, key: str) -> EmulatedResponse | None:
        over = key in self.used_up
        too_fast = self.rate_limited or self._is_too_fast()
        if not over and not too_fast:
            return None
        self.refused += not over
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
        what = "Quota" if over else "Rate"
        return _error(429, "QUOTA_LIMITED" if over else "RATE_LIMITED", f"{what} limit exceeded for plan", meta)

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
        left = 0 if key in self.used_up or not self.quota else self.quota - self.spent
        return {
            "X-RateLimit-Limit": f"{self.per_second or 1}, {self.quota}",
            "X-RateLimit-Policy": f"{self.per_second or 1};w=1, {self.quota};w=2592000",
            "X-RateLimit-Remaining": f"{max(0, (self.per_second or 1) - max(1, len(self._times)))}, {left}",
            "X-RateLimit-Reset": "1, 1419704",
        }

    def _search(self, kind: str, request: Recorded) -> EmulatedResponse:
        params = request.params
        if wrong := _wrong(params, kind):
            return _invalid(["query", wrong], f"The value of {wrong} is not valid", "value_error")
        if params.get("extra_snippets") in ("true", "1") and not self.extra_snippets:
            return _error(400, "OPTION_NOT_IN_PLAN", "The option is not in the plan", {"component": "authentication"})
        query = params["q"]
        found = self._find(query, params)
        count, offset = int(params.get("count", 20)), int(params.get("offset", 0))
        rows = found[offset * count : (offset + 1) * count]
        about = {"original": query, "show_strict_warning": False, "spellcheck_off": self.altered is None}
        if self.altered is not None:
            about["altered"] = self.altered
        if kind == "news":
            return EmulatedResponse.json(
                {"type": "news", "query": about, "results": [_news(one, self._age(one)) for one in rows]}
            )
        more = len(found) > (offset + 1) * count
        body: dict[str, object] = {"query": about | _whereabouts(params) | {"more_results_available": more}}
        places = [{"type": "web", "index": index, "all": False} for index in range(len(rows))]
        body |= {"mixed": {"type": "mixed", "main": places, "top": [], "side": []}, "type": "search"}
        if "web" not in params.get("result_filter", "videos"):
            body["videos"] = {"type": "videos", "results": [], "mutated_by_goggles": "goggles" in params}
        if rows:
            extra = params.get("extra_snippets") in ("true", "1")
            bold = params.get("text_decorations") not in ("false", "0")
            results = [_web(one, self._age(one), query if bold else "", extra) for one in rows]
            body["web"] = {"type": "search", "results": results, "family_friendly": True}
        return EmulatedResponse.json(body)

    def _find(self, query: str, params: dict[str, str]) -> list[IndexHit]:
        words, hosts, not_hosts = split_sites(query)
        freshness = params.get("freshness", "")
        goggle = params.get("goggles", "").splitlines()
        if "$discard" in goggle:
            hosts += tuple(line.removeprefix("$site=") for line in goggle if line.startswith("$site="))
        not_hosts += tuple(line.removeprefix("$discard,site=") for line in goggle if line.startswith("$discard,"))
        found = self._library.search(words, within_days=_DAYS.get(freshness), hosts=hosts, not_hosts=not_hosts)
        if span := _RANGE.fullmatch(freshness):
            first, last = date.fromisoformat(span[1]), date.fromisoformat(span[2])
            found = [one for one in found if first <= one.published <= last]
        return found

    def _age(self, found: IndexHit) -> str:
        days = (self._library.calendar.today - found.published).days
        return (
            f"{days} days ago" if days < 31 else f"{found.published:%B} {found.published.day}, {found.published.year}"
        )


def _wrong(params: dict[str, str], kind: str) -> str | None:
    query = params.get("q", "")
    if not query or len(query) > 400 or len(query.split()) > 50:
        return "q"
    count = params.get("count", "20")
    if not count.isdigit() or not 1 <= int(count) <= _MOST[kind]:
        return "count"
    if params.get("search_lang") in _NO_PAGES or len(params.get("goggles", "")) > 10_000:
        return "search_lang" if params.get("search_lang") in _NO_PAGES else "goggles"
    return next(
        (name for name, form in _FORMS.items() if name in params and not re.fullmatch(form, params[name])), None
    )


def _error(status: int, code: str, detail: str, meta: dict[str, object]) -> EmulatedResponse:
    error = {"id": "5d83-miniature", "status": status, "detail": detail, "meta": meta, "code": code}
    return EmulatedResponse.json({"type": "ErrorResponse", "error": error, "time": 1_790_000_000}, status=status)


def _invalid(where: list[str], message: str, kind: str) -> EmulatedResponse:
    errors = [{"type": kind, "loc": where, "msg": message, "input": None}]
    return _error(422, "VALIDATION", "Unable to validate request parameters", {"errors": errors})


def _whereabouts(params: dict[str, str]) -> dict[str, object]:
    texts = dict.fromkeys(("postal_code", "city", "header_country", "state"), "")
    flags = dict.fromkeys(("is_navigational", "is_news_breaking", "bad_results", "should_fallback"), False)
    return {**texts, **flags, "country": params.get("country", "us").lower()}


def _address(url: str) -> dict[str, str]:
    parts = urlsplit(url)
    host = parts.hostname or ""
    shown = "".join(f"› {part} " for part in parts.path.split("/") if part).rstrip()
    return {"scheme": parts.scheme, "netloc": host, "hostname": host, "favicon": _ICON, "path": shown}


def _web(found: IndexHit, age: str, bold: str, extra: bool) -> dict[str, object]:
    host = urlsplit(found.url).hostname or ""
    text = escape(found.snippet)
    for word in set(re.findall(r"\w{4,}", bold)):
        text = re.sub(rf"(?i)\b({word})\b", r"<strong>\1</strong>", text)
    row: dict[str, object] = {
        "title": escape(found.title, quote=False),
        "url": found.url,
        "is_source_local": False,
        "is_source_both": False,
        "description": text,
        "page_age": midnight(found.published).replace(tzinfo=None).isoformat(),
        "profile": {"name": found.site.name, "url": found.url, "long_name": host, "img": _ICON},
        "language": "en",
        "family_friendly": True,
        "type": "search_result",
        "subtype": "generic",
        "meta_url": _address(found.url),
        "age": age,
    }
    return row | ({"extra_snippets": [f"Also: {found.title}."]} if extra else {})


def _news(found: IndexHit, age: str) -> dict[str, object]:
    return {
        "type": "news_result",
        "title": found.title,
        "url": found.url,
        "description": found.snippet,
        "age": age,
        "page_age": midnight(found.published).replace(tzinfo=None).isoformat(),
        "meta_url": _address(found.url),
    }
