"""A search service that speaks as Serper does."""

from __future__ import annotations

import re
from datetime import date

from groundwire.testing.http_messages import EmulatedResponse, Recorded
from groundwire.testing.search_index import IndexHit, Library
from groundwire.testing.server import Endpoint
from groundwire.testing.services.shared import split_sites

__all__ = ["Serper"]

_DAYS = {"h": 1, "d": 1, "w": 7, "m": 31, "y": 365}
_TBS = re.compile(r"(?:qdr:[hdwmy]|cdr:1(?:,cd_min:\d{1,2}/\d{1,2}/\d{4})?(?:,cd_max:\d{1,2}/\d{1,2}/\d{4})?)")
_TEXTS = ("gl", "hl", "location", "safe")


class Serper(Endpoint):
    """The service; set its attributes to make it refuse.

    Args:
        library: What it searches.

    Attributes:
        keys: The keys that it accepts.
        used_up: Those of them that have no credits left.
        rate_limited: Whether there were too many requests; there is no header that says until when.
        refusal_status: The status with which it says that there are no credits.
    """

    def __init__(self, library: Library) -> None:
        super().__init__("serper")
        self._library = library
        self.keys = {"test-key"}
        self.used_up: set[str] = set()
        self.rate_limited = False
        self.refusal_status = 400

    def handle(self, request: Recorded) -> EmulatedResponse:
        """Return what the service answers."""
        kind = {"/search": "search", "/news": "news"}.get(request.path)
        if kind is None or request.method not in ("GET", "POST"):
            return _refusal(404, "Not Found")
        key = request.headers.get("X-API-KEY")
        if key not in self.keys:
            return _refusal(403, "Unauthorized.")
        if key in self.used_up:
            return _refusal(self.refusal_status, "Not enough credits")
        if self.rate_limited:
            return _refusal(429, "Too many requests")
        try:
            asked = request.json() if request.method == "POST" else request.params
        except ValueError:
            return _refusal(400, "Bad Request")
        if not isinstance(asked, dict) or (wrong := _wrong(asked)):
            return _refusal(400, f"Invalid parameter {wrong}" if isinstance(asked, dict) else "Bad Request")
        return self._search(kind, asked)

    def _search(self, kind: str, asked: dict[str, object]) -> EmulatedResponse:
        query, number, page = str(asked["q"]), _whole(asked.get("num", 10)), _whole(asked.get("page", 1))
        found = self._find(query, str(asked.get("tbs", "")))[(page - 1) * number : page * number]
        said = {"gl": "us", "hl": "en"} | {name: value for name, value in asked.items() if name != "q"}
        body: dict[str, object] = {
            "searchParameters": {"q": query, **said, "type": kind, "num": number, "engine": "google"}
        }
        rows = [self._row(kind, one, position) for position, one in enumerate(found, start=1)]
        if kind == "news":
            body["news"] = rows
        else:
            body |= {"organic": rows, "relatedSearches": [{"query": f"{query} explained"}]}
        return EmulatedResponse.json(body | {"credits": 1 if number <= 10 else 2})

    def _find(self, query: str, tbs: str) -> list[IndexHit]:
        words, hosts, not_hosts = split_sites(query)
        within = _DAYS[tbs[4:]] if tbs.startswith("qdr:") else None
        found = self._library.search(words, within_days=within, hosts=hosts, not_hosts=not_hosts)
        first, last = _day(tbs, "cd_min"), _day(tbs, "cd_max")
        return [one for one in found if (first or date.min) <= one.published <= (last or date.max)]

    def _row(self, kind: str, found: IndexHit, position: int) -> dict[str, object]:
        days = (self._library.calendar.today - found.published).days
        published = found.published
        row: dict[str, object] = {
            "title": found.title,
            "link": found.url,
            "snippet": found.snippet,
            "date": f"{days} days ago" if days < 8 else f"{published:%b} {published.day}, {published.year}",
        }
        if kind == "news":
            row |= {"source": found.site.name, "imageUrl": "https://imgs.example/picture.png"}
        return row | {"position": position}


def _refusal(status: int, message: str) -> EmulatedResponse:
    return EmulatedResponse.json({"message": message, "statusCode": status}, status=status)


def _wrong(asked: dict[object, object]) -> str | None:
    query = asked.get("q")
    if not isinstance(query, str) or not query.strip():
        return "q"
    for name, most in (("num", 100), ("page", 100)):
        if name in asked and not 1 <= _whole(asked[name]) <= most:
            return name
    tbs = asked.get("tbs", "qdr:d")
    if not isinstance(tbs, str) or not _TBS.fullmatch(tbs):
        return "tbs"
    return next((name for name in _TEXTS if not isinstance(asked.get(name, ""), str)), None)


def _whole(value: object) -> int:
    return int(value) if isinstance(value, (int, str)) and str(value).isdigit() else 0


def _day(tbs: str, name: str) -> date | None:
    match = re.search(rf"{name}:(\d+)/(\d+)/(\d+)", tbs)
    return date(int(match[3]), int(match[1]), int(match[2])) if match else None
