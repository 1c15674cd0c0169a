"""Pages of search engines in the form that ddgs 9.16 reads, one function for each engine.

The forms follow the `items_xpath` and `elements_xpath` of the engines in the package `ddgs`.
"""

from __future__ import annotations

import json
from collections.abc import Iterable, Sequence
from html import escape

from components.upstream import Row

HTML = {"Content-Type": "text/html; charset=utf-8"}
"""The headers of a page."""

JSON = {"Content-Type": "application/json"}
"""The headers of an answer in JSON."""


def page_for(host: str, method: str, path: str, rows: Sequence[Row]) -> tuple[dict[str, str], bytes] | None:
    """Return the headers and the body with which an engine shows `rows`, or None for a host that is none.

    Args:
        host: The engine's host name.
        method: The request's method; Startpage is asked for a form first.
        path: The request's path; Wikipedia is asked for titles first and for a text then.
        rows: What was found. Wikipedia shows the first only, Grokipedia nothing.
    """
    if host.endswith(".wikipedia.org"):
        return JSON, _wikipedia(path, rows)
    match host:
        case "html.duckduckgo.com":
            return HTML, _document(map(_duckduckgo, rows))
        case "search.brave.com":
            return HTML, _document(map(_brave, rows))
        case "www.mojeek.com":
            return HTML, _document(['<ul class="results-standard">', *map(_mojeek, rows), "</ul>"])
        case "search.yahoo.com":
            return HTML, _document(map(_yahoo, rows))
        case "www.startpage.com" if method == "GET":
            return HTML, _document(['<form id="search"><input name="sc" value="token"></form>'])
        case "www.startpage.com":
            return HTML, _document(map(_startpage, rows))
        case "grokipedia.com":
            return JSON, b'{"results": []}'
    return None


def _document(parts: Iterable[str]) -> bytes:
    return f"<html><body>{''.join(parts)}</body></html>".encode()


def _duckduckgo(row: Row) -> str:
    title, url, text = map(escape, row)
    return f'<div class="result__body"><h2><a href="{url}">{title}</a></h2><a href="{url}">{text}</a></div>'


def _brave(row: Row) -> str:
    title, url, text = map(escape, row)
    snippet = f'<div class="snippet"><div class="content">{text}</div></div>'
    return f'<div data-type="web"><a href="{url}"><div class="title">{title}</div></a>{snippet}</div>'


def _mojeek(row: Row) -> str:
    title, url, text = map(escape, row)
    return f'<li><h2><a href="{url}">{title}</a></h2><p class="s">{text}</p></li>'


def _yahoo(row: Row) -> str:
    title, url, text = map(escape, row)
    head = f'<div class="compTitle"><a href="{url}"><h3>{title}</h3></a></div>'
    return f'<div class="relsrch">{head}<div class="compText">{text}</div></div>'


def _startpage(row: Row) -> str:
    title, url, text = map(escape, row)
    return f'<div class="result css-1"><a href="{url}"><h2>{title}</h2></a><p>{text}</p></div>'


def _wikipedia(path: str, rows: Sequence[Row]) -> bytes:
    first = rows[:1]
    if "opensearch" in path:
        answer: object = ["", [row.title for row in first], ["" for _ in first], [row.url for row in first]]
    else:
        answer = {"query": {"pages": {str(row.url): {"title": row.title, "extract": row.text} for row in first}}}
    return json.dumps(answer).encode()
