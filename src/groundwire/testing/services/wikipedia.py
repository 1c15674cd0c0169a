"""A search service that speaks as the search of MediaWiki does; its articles are the titles of this world's pages."""

from __future__ import annotations

import re
from dataclasses import replace
from html import escape

from groundwire.testing.http_messages import EmulatedResponse, Recorded
from groundwire.testing.search_index import IndexHit, Library
from groundwire.testing.server import Endpoint
from groundwire.testing.site import midnight

__all__ = ["Wikipedia"]

_ROBOT = re.compile(r"(?i)(python|curl|wget|java|go-http|okhttp|aiohttp)\b.*|")
_LONGEST, _MOST = 300, 500


class Wikipedia(Endpoint):
    """The service; set its attributes to make it refuse.

    Args:
        library: What it searches.

    Attributes:
        rate_limited: Whether there were too many requests.
        lagging: Whether its database is behind, which it says with a status of 200.
    """

    def __init__(self, library: Library) -> None:
        super().__init__("wikipedia")
        self._library = library
        self.rate_limited = False
        self.lagging = False

    def handle(self, request: Recorded) -> EmulatedResponse:
        """Return what the service answers."""
        if _ROBOT.fullmatch(request.headers.get("User-Agent", "")):
            return EmulatedResponse.text("Please set a user agent that says who you are.", status=403)
        if request.path != "/w/api.php":
            return EmulatedResponse.html("<!doctype html><title>404</title><h1>Not found</h1>", status=404)
        if self.rate_limited:
            busy = EmulatedResponse.html("<!doctype html><title>429</title><h1>Too many requests</h1>", status=429)
            return replace(busy, headers={"Retry-After": "9"})
        if self.lagging:
            return _error("maxlag", "Waiting for a database server: 7 seconds lagged.", {"Retry-After": "5"})
        return self._query(request.params)

    def _query(self, params: dict[str, str]) -> EmulatedResponse:
        if params.get("format") != "json":
            return EmulatedResponse.html("<!doctype html><title>MediaWiki API result</title>")
        if params.get("action") != "query" or params.get("list") != "search":
            return _error("badvalue", 'Unrecognized value for parameter "action".')
        words, limit, offset = params.get("srsearch", ""), params.get("srlimit", "10"), params.get("sroffset", "0")
        if not words:
            return _error("missingparam", 'The "srsearch" parameter must be set.')
        if len(words) > _LONGEST:
            return _error("cirrussearch-query-too-long", "The request is longer than the maximum allowed length.")
        if not limit.isdigit() or not offset.isdigit():
            return _error("badinteger", "Invalid value for an integer parameter.")
        found, first, count = self._library.search(words), int(offset), min(int(limit), _MOST)
        props = params.get("srprop", "size|wordcount|timestamp|snippet").split("|")
        rows = [_row(one, number, words, props) for number, one in enumerate(found, start=1)]
        body: dict[str, object] = {"batchcomplete": True}
        if len(found) > first + count:
            body["continue"] = {"sroffset": first + count, "continue": "-||"}
        body["query"] = {"searchinfo": {"totalhits": len(found)}, "search": rows[first : first + count]}
        return EmulatedResponse.json(body)


def _error(code: str, info: str, headers: dict[str, str] | None = None) -> EmulatedResponse:
    body = {"error": {"code": code, "info": info, "docref": "See the help of the API."}, "servedby": "miniature"}
    return replace(EmulatedResponse.json(body), headers={"MediaWiki-API-Error": code, **(headers or {})})


def _row(found: IndexHit, number: int, words: str, props: list[str]) -> dict[str, object]:
    text = escape(found.snippet)
    for word in set(re.findall(r"\w{4,}", words)):
        text = re.sub(rf"(?i)\b({word})\b", r'<span class="searchmatch">\1</span>', text)
    more: dict[str, object] = {
        "size": len(found.page.text),
        "wordcount": len(found.page.text.split()),
        "snippet": text,
        "timestamp": f"{midnight(found.published).replace(tzinfo=None).isoformat()}Z",
    }
    return {"ns": 0, "title": found.title, "pageid": number, **{name: more[name] for name in props if name in more}}
