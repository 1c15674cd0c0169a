"""A search service whose two pages have the make of DuckDuckGo's: /lite/ and /html/, for browsers without scripts."""

from __future__ import annotations

import re
import zlib
from collections.abc import Mapping
from html import escape
from typing import Final
from urllib.parse import quote

from groundwire.testing.http_messages import EmulatedResponse, Recorded
from groundwire.testing.search_index import IndexHit, Library
from groundwire.testing.server import EmulatedServer
from world.services.shared import split_sites

_FIRST, _MORE = 10, 15  # rows of the first page and of further ones
_DAYS: Final[Mapping[str, int]] = {"d": 1, "w": 7, "m": 31, "y": 366}
_BANG = re.compile(r"(?<!\S)!\w+|(?<!\S)\w+!(?!\S)|^\\\S")
_LONGEST = 499  # characters of a query


class DuckDuckGoLite(EmulatedServer):
    """The service; set its attributes to make it refuse.

    Args:
        library: What it searches.

    Attributes:
        throttled: Whether every request gets a bare 202.
        bot_check: The status, such as 202 or 200, with which every request gets a puzzle instead of results.
        advertisements: How many of them precede the results.
        silent: Whether a page without results does not say so.
    """

    def __init__(self, library: Library) -> None:
        super().__init__("duckduckgo_lite")
        self._library = library
        self.throttled = False
        self.bot_check: int | None = None
        self.advertisements = 0
        self.silent = False

    def handle(self, request: Recorded) -> EmulatedResponse:
        """Return what the service answers."""
        if request.path not in ("/lite/", "/html/"):
            return EmulatedResponse.html("<!doctype html><title>404</title><h1>Not Found</h1>", status=404)
        form = request.path.strip("/")
        if self.throttled:
            return EmulatedResponse.html("<!doctype html><title>DuckDuckGo</title>", status=202)
        if self.bot_check is not None:
            return _puzzle(form, self.bot_check)
        params = request.params
        query = params.get("q", "").strip()
        if not query:
            return _page(form, "", "")
        if len(query) > _LONGEST:
            return EmulatedResponse.html("<!doctype html><title>400</title><h1>Bad Request</h1>", status=400)
        if _BANG.search(query):
            return EmulatedResponse.redirect(f"https://outside.invalid/?q={quote(query)}", status=303)
        start = int(params["s"]) if params.get("s", "").isdigit() else 0
        if start and params.get("vqd") != _vqd(query):
            return _puzzle(form, 202)
        return self._results(form, query, params, start)

    def _results(self, form: str, query: str, params: dict[str, str], start: int) -> EmulatedResponse:
        words, hosts, not_hosts = split_sites(query)
        found = self._library.search(
            words, within_days=_DAYS.get(params.get("df", "")), hosts=hosts, not_hosts=not_hosts
        )
        end = start + (_MORE if start else _FIRST)
        shown = found[start:end]
        row, advertisement = (_lite_row, _lite_ad) if form == "lite" else (_html_row, _html_ad)
        body = "".join(advertisement(number) for number in range(self.advertisements if shown else 0))
        body += "".join(row(one, start + number) for number, one in enumerate(shown, start=1))
        if not shown and not self.silent:
            body += _NOTHING[form]
        if len(found) > end:
            body += _next_form(form, query, end, params)
        return _page(form, query, body)


_NOTHING: Final[Mapping[str, str]] = {
    "lite": "<tr><td>No results.</td></tr>",
    "html": '<div class="result results_links results_links_deep result--no-result"><div class="links_main">'
    '<div class="no-results">No  results.</div></div></div>',
}


def _page(form: str, query: str, body: str) -> EmulatedResponse:
    head = f"<head><meta charset=utf-8><title>{escape(query)} at DuckDuckGo</title></head>"
    selects = (
        '<select name="kl"><option value="" >All Regions</option><option value="us-en" >US (English)</option></select>'
        '<select name="df"><option value="" selected>Any Time</option><option value="d" >Past Day</option></select>'
    )
    if form == "lite":
        inside = f"""<form action="/lite/" method="post">
            <input class='query' type="text" name="q" value="{escape(query)}"><input class='submit' type="submit">
            {selects}</form><table border="0">{body}</table>"""
    else:
        inside = f"""<form name="x" class="header__form" action="/html/" method="post"><input name="q" type="text"
            value="{escape(query)}" /><input name="b" value="" type="submit" />{selects}</form>
            <div class="serp__results"><div id="links" class="results">{body}</div></div>"""
    return EmulatedResponse.html(f"<!doctype html><html>{head}<body>{inside}</body></html>")


def _puzzle(form: str, status: int) -> EmulatedResponse:
    text = f"""<!doctype html><html lang="en"><head><title>DuckDuckGo</title></head><body>
        <form id="img-form" action="//duckduckgo.com/anomaly.js?sv={form}&cc=sre" method="POST"></form>
        <form id="challenge-form" action="//duckduckgo.com/anomaly.js?sv={form}&cc=sre" method="POST">
        <div class="anomaly-modal__mask"><div class="anomaly-modal__modal"><div class="anomaly-modal__title">Which of
        these are ducks?</div></div></div></form></body></html>"""
    return EmulatedResponse.html(text, status=status)


def _wrapped(url: str) -> str:
    return escape(f"//duckduckgo.com/l/?uddg={quote(url, safe='')}&rut={zlib.crc32(url.encode()):064x}")


def _advertised(number: int) -> str:
    return _wrapped(f"https://duckduckgo.com/y.js?ad_domain=shop{number}.example&ad_provider=bingv7aa")


def _lite_row(found: IndexHit, place: int) -> str:
    return f"""
        <tr><td valign="top">{place}.&nbsp;</td>
        <td><a rel="nofollow" href="{_wrapped(found.url)}" class='result-link'>{escape(found.title)}</a></td></tr>
        <tr><td>&nbsp;&nbsp;&nbsp;</td><td class='result-snippet'>{_marked(found.snippet)}</td></tr>
        <tr><td>&nbsp;&nbsp;&nbsp;</td><td><span class='link-text'>{escape(found.url.partition("//")[2])}</span>
        <span class='timestamp'>{found.published.isoformat()}T00:00:00.0000000</span></td></tr>
        <tr><td>&nbsp;</td><td>&nbsp;</td></tr>"""


def _lite_ad(number: int) -> str:
    return f"""
        <tr class="result-sponsored"><td valign="top">{number}.&nbsp;</td>
        <td><a rel="nofollow" href="{_advertised(number)}" class='result-link'>Buy number {number}</a></td></tr>
        <tr class="result-sponsored"><td>&nbsp;</td><td class='result-snippet'>Cheaper than ever.</td></tr>"""


def _html_row(found: IndexHit, place: int) -> str:
    del place
    link = _wrapped(found.url)
    return f"""
        <div class="result results_links results_links_deep web-result ">
        <div class="links_main links_deep result__body">
        <h2 class="result__title"><a rel="nofollow" class="result__a" href="{link}">{escape(found.title)}</a></h2>
        <div class="result__extras"><div class="result__extras__url"><a class="result__url" href="{link}">
        {escape(found.url.partition("//")[2])}</a>
        <span>&nbsp; &nbsp; {found.published.isoformat()}T00:00:00.0000000</span></div></div>
        <a class="result__snippet" href="{link}">{_marked(found.snippet)}</a><div class="clear"></div></div></div>"""


def _html_ad(number: int) -> str:
    link = _advertised(number)
    return f"""
        <div class="result results_links results_links_deep result--ad ">
        <div class="links_main links_deep result__body">
        <h2 class="result__title"><a rel="nofollow" class="result__a" href="{link}">Buy number {number}</a>
        <div class="result__badge-wrap"><button class="badge--ad">Ad</button></div></h2>
        <a class="result__snippet" href="{link}">Cheaper than ever.</a></div></div>"""


def _marked(snippet: str) -> str:
    """Return a snippet with a word in bold, as the pages mark what was searched for."""
    first, _, rest = escape(snippet).partition(" ")
    return f"<b>{first}</b> {rest}"


def _next_form(form: str, query: str, start: int, params: dict[str, str]) -> str:
    hidden = {
        "q": query,
        "s": str(start),
        "nextParams": "",
        "v": "l",
        "o": "json",
        "dc": str(start + 1),
        "api": "d.js",
        "vqd": _vqd(query),
        "kl": params.get("kl") or "wt-wt",
    }
    fields = "".join(f'<input type="hidden" name="{name}" value="{escape(value)}">' for name, value in hidden.items())
    inside = (
        f'<form class="next_form" action="/{form}/" method="post"><input type="submit" value="Next">{fields}</form>'
    )
    return f"<tr><td colspan=2>{inside}</td></tr>" if form == "lite" else f'<div class="nav-link">{inside}</div>'


def _vqd(query: str) -> str:
    """Return the number that ties a further page to the first one."""
    return f"4-{zlib.crc32(query.encode())}"
