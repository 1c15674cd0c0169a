"""The search service of the world that ships, speaking in all respects as SearXNG does.

Statuses, wordings and keys are those that were measured on unmodified SearXNG 2025.8.3 and 2026.8, with the results
coming from the pages of this world.
"""

from __future__ import annotations

import re
from dataclasses import dataclass, replace
from html import escape
from urllib.parse import quote_plus

from groundwire.testing.http_messages import EmulatedResponse, Recorded
from groundwire.testing.search_index import Library
from groundwire.testing.searxng import SearXng as ShippedSearXng

_FORMATS = ("html", "csv", "json", "rss")
_BANGS = frozenset(
    {"general", "gen", "it", "news", "science", "images", "videos", "files", "map", "music", "miniature"}
)
_LANGUAGE = re.compile(r"[a-z]{2,3}(-[a-zA-Z]{2,4})?|all|auto")


@dataclass(frozen=True, slots=True)
class _Parsed:
    """A query as SearXNG and its engines take it apart."""

    echo: str
    """What the answer echoes."""
    outside: bool


class SearXng(ShippedSearXng):
    """One SearXNG instance; set its attributes to make it another one.

    Args:
        name: What the world calls it.
        library: What it searches.

    Attributes:
        json_enabled: Whether `json` is in the instance's `search.formats`; if not, JSON requests get 403 and a page.
        limiter: Whether requests that look automatic get 429 and a page: those of curl, and those that lack
            Accept-Language, Accept-Encoding or a word in Accept for web pages.
        unresponsive: Engines that failed, with SearXNG's words for it, such as `("google", "Suspended: CAPTCHA")`.
        only_unresponsive: Whether no engine answered, so that results are empty.
        number_of_results: The value of the key that versions until 2025 send; None leaves it out.
    """

    def __init__(self, name: str, library: Library) -> None:
        super().__init__(name, library)
        self.json_enabled = True
        self.limiter = False
        self.unresponsive: list[tuple[str, str]] = []
        self.only_unresponsive = False
        self.number_of_results: int | None = None

    def handle(self, request: Recorded) -> EmulatedResponse:
        """Return what the instance answers."""
        if request.path == "/healthz":
            return EmulatedResponse.text("OK")
        if request.path == "/":
            return _page("Miniature search", '<form action="/search"><input name="q"></form>')
        if request.path not in ("/search", "/config"):
            return _page("404 Not Found", "<h1>Not Found</h1>", status=404)
        if request.method not in ("GET", "HEAD", "POST"):
            return _page("405 Method Not Allowed", "<h1>Method Not Allowed</h1>", status=405)
        if request.path == "/config":
            return self._config()
        if self.limiter and _looks_automatic(request):
            return _page("429 Too Many Requests", "<h1>Too Many Requests</h1>", status=429)
        return self._search(request.params)

    def _config(self) -> EmulatedResponse:
        """Return what the instance tells of itself, whatever formats it answers searches in."""
        return EmulatedResponse.json(
            {"instance_name": "Miniature search", "categories": ["general"], "engines": [], "plugins": []}
        )

    def _search(self, params: dict[str, str]) -> EmulatedResponse:
        form = params.get("format", "html")
        wants_json = form == "json"
        if form in _FORMATS[1:] and not (wants_json and self.json_enabled):
            return _page("403 Forbidden", "<h1>Forbidden</h1><p>This format is not switched on.</p>", status=403)
        if not params.get("q", "").strip():
            return (
                EmulatedResponse.json({"error": "No query"}, status=400)
                if wants_json
                else _page("Miniature search", "")
            )
        if fault := _invalid(params):
            return (
                EmulatedResponse.json({"error": fault}, status=400)
                if wants_json
                else _page("400", escape(fault), status=400)
            )
        query = _parse(params["q"])
        if query.outside:
            return EmulatedResponse.redirect(f"https://outside.invalid/search?q={quote_plus(query.echo)}")
        hits = [] if self.only_unresponsive else self.find(query.echo, params)
        if not wants_json:
            items = "".join(f'<li><a href="{escape(hit.url)}">{escape(hit.title)}</a></li>' for hit in hits)
            return _page(escape(query.echo), f"<ol>{items}</ol>")
        body = self.body(query.echo, hits, params)
        if self.number_of_results is not None:
            body["number_of_results"] = self.number_of_results
        body["unresponsive_engines"] = [list(pair) for pair in self.unresponsive]
        return EmulatedResponse.json(body)


def _looks_automatic(request: Recorded) -> bool:
    headers = request.headers
    return (
        not headers.get("Accept-Language")
        or not headers.get("Accept-Encoding")
        or not any(word in headers.get("Accept", "") for word in ("text/html", "text/*", "*/*"))
        or headers.get("Connection", "").lower() == "close"
        or headers.get("User-Agent", "").lower().startswith("curl")
    )


def _invalid(params: dict[str, str]) -> str | None:
    """Return SearXNG's words for the first parameter that is wrong."""
    accepted = {
        "pageno": r"[1-9][0-9]{0,5}",
        "language": _LANGUAGE.pattern,
        "safesearch": "[012]",
        "time_range": "day|week|month|year",
    }
    for name, pattern in accepted.items():
        value = params.get(name, "")
        if value and not re.fullmatch(pattern, value):
            return f"Invalid value {value} for parameter {name}"
    return None


def _parse(text: str) -> _Parsed:
    words, outside = [], False
    for part in text.split():
        if re.fullmatch(r"!!\w+", part):
            outside = True
        elif not (
            (part.startswith("!") and part[1:] in _BANGS)
            or (part.startswith(":") and _LANGUAGE.fullmatch(part[1:]))
            or re.fullmatch(r"<\d+", part)
        ):
            words.append(part)
    return _Parsed(echo=" ".join(words), outside=outside)


def _page(title: str, body: str, *, status: int = 200) -> EmulatedResponse:
    text = f'<!doctype html>\n<html lang="en"><title>{title}</title><body>{body}</body></html>\n'
    return replace(EmulatedResponse.html(text), status=status)
