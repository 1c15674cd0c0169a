"""A search service that speaks as the search of MediaWiki does; its articles are the titles of this world's pages."""

from __future__ import annotations

import re
from dataclasses import replace
from html import escape
from typing import Any, ClassVar

from groundwire.testing.http_messages import EmulatedResponse, Recorded
from groundwire.testing.search_index import IndexHit, Library
from world.services.shared import ApiEmulator, ApiSpec, EmulatedRefusal, moment

_ROBOT = re.compile(r"(?i)(python|curl|wget|java|go-http|okhttp|aiohttp)\b.*|")
_LONGEST, _MOST = 300, 500


class Wikipedia(ApiEmulator):
    """Wikipedia, which needs no key but a user agent; see `ApiEmulator`.

    Attributes:
        lagging: Whether its database is behind, which it says with a status of 200.
    """

    spec: ClassVar[ApiSpec] = ApiSpec(
        name="wikipedia",
        routes={"GET /w/api.php": "query", "POST /w/api.php": "query"},
        parameters={"query": {}},
        refusals={
            "key": EmulatedRefusal(403, message="Please set a user agent that says who you are."),
            "fast": EmulatedRefusal(429, message="Too many requests", wait="9"),
        },
    )

    def __init__(self, library: Library) -> None:
        super().__init__(library)
        self.lagging = False

    def accepts(self, request: Recorded, key: str) -> bool:
        """Whether the user agent says who is asking."""
        return not _ROBOT.fullmatch(request.headers.get("User-Agent", ""))

    def body(self, request: Recorded) -> dict[str, Any]:
        """Return the parameters, which come in the address or in a form."""
        return dict(request.params)

    def error(self, refusal: EmulatedRefusal, message: str, parameter: str) -> EmulatedResponse:
        """Return the page of an error."""
        if refusal.status == 403:
            return EmulatedResponse.text(message, status=403)
        page = f"<!doctype html><title>{refusal.status}</title><h1>{message}</h1>"
        return EmulatedResponse.html(page, status=refusal.status)

    def query(self, params: dict[str, Any]) -> EmulatedResponse:
        """Return the results of a search, or an error with a status of 200."""
        if self.lagging:
            return _error("maxlag", "Waiting for a database server: 7 seconds lagged.", {"Retry-After": "5"})
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
        found, first, count = self.library.search(words), int(offset), min(int(limit), _MOST)
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


def _row(hit: IndexHit, number: int, words: str, props: list[str]) -> dict[str, object]:
    text = escape(hit.snippet)
    for word in set(re.findall(r"\w{4,}", words)):
        text = re.sub(rf"(?i)\b({word})\b", r'<span class="searchmatch">\1</span>', text)
    more: dict[str, object] = {
        "size": len(hit.page.text),
        "wordcount": len(hit.page.text.split()),
        "snippet": text,
        "timestamp": f"{moment(hit)}Z",
    }
    return {"ns": 0, "title": hit.title, "pageid": number, **{name: more[name] for name in props if name in more}}
