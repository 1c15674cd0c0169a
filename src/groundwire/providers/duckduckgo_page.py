"""The two pages on which DuckDuckGo shows results to browsers without scripts, as far as they are read."""

from __future__ import annotations

import re
from collections.abc import Iterable, Iterator, Mapping
from datetime import datetime
from html import escape
from typing import Any
from urllib.parse import parse_qs, urlsplit

from groundwire.models import SearchResult
from groundwire.providers.http_parsing import day

__all__ = ["document", "is_bot_check", "is_search_page", "next_fields", "rows", "says_empty"]

_LONGEST = 20_000  # characters of a title or snippet with its markup; real ones have a few hundred
_TITLES = frozenset({"result__a", "result-link"})  # the html page, the lite page
_SNIPPETS = frozenset({"result__snippet", "result-snippet"})
_ADS = frozenset({"result--ad", "result-sponsored", "badge--ad"})
_AD_WORDS = frozenset({"ad", "sponsored", "sponsored link"})
_AD_LABELS = frozenset({"span", "button", "td", "a", "div"})
_EMPTY = frozenset({"no-results", "result--no-result"})
_NO_RESULTS = re.compile(r"\s*No\s+(?:more\s+)?results\.\s*")
_BOT_CHECK = re.compile(rb"anomaly-modal|anomaly\.js|challenge-form|/wr\.do\b|anomalydetectionblock|g-recaptcha|cf-chl")


def document(body: bytes) -> Any:
    """Return a page as a tree, or None when there is nothing in it."""
    from lxml import etree, html

    text = body.decode("utf-8", "replace").replace("\x00", "")
    parser = html.HTMLParser(encoding="utf-8", remove_comments=True, remove_pis=True)
    try:
        return html.document_fromstring(text.encode(), parser=parser)
    except (etree.ParserError, etree.XMLSyntaxError):
        return None


def is_bot_check(body: bytes) -> bool:
    """Tell whether a page has the marks of a bot check; a page with results may quote them."""
    return _BOT_CHECK.search(body.lower()) is not None


def is_search_page(page: Any) -> bool:
    """Tell whether a page is DuckDuckGo's, whatever it found."""
    return bool(page.xpath("//form[@action='/lite/' or @action='/html/']//input[@name='q']"))


def says_empty(page: Any) -> bool:
    """Tell whether a page says that nothing was found."""
    return any(_EMPTY & _classes(element) or _NO_RESULTS.fullmatch(element.text or "") for element in page.iter("*"))


def next_fields(page: Any) -> dict[str, str]:
    """Return the hidden fields of the form for the next page, `vqd` among them; none when there is no next page."""
    for form in page.xpath("//form[.//input[@name='vqd']]"):
        fields = form.xpath(".//input[@type='hidden'][@name]")
        return {str(field.get("name")): str(field.get("value") or "") for field in fields}
    return {}


def rows(page: Any, name: str) -> Iterator[SearchResult]:
    """Yield the results of either page: a link, then its snippet and date before the next link."""
    row: dict[str, str] | None = None
    for element in page.iter("a", "td", "span", "button", "div"):
        classes = _classes(element)
        if element.tag == "a" and classes & _TITLES:
            if row:
                yield _result(row, name)
            url = _unwrapped(element.get("href") or "")
            row = {"url": url, "title": _inner(element)} if url and not _is_ad(element) else None
        elif row is None:
            continue
        elif classes & _SNIPPETS:
            row.setdefault("snippet", _inner(element))
        elif classes & _ADS or (element.tag in _AD_LABELS and (element.text or "").strip().lower() in _AD_WORDS):
            row = None
        elif element.tag == "span" and (published := _day(element.text or "")):
            row.setdefault("published", published)
    if row:
        yield _result(row, name)


def _result(row: Mapping[str, str], name: str) -> SearchResult:
    return SearchResult(
        title=row["title"],
        url=row["url"],
        snippet=row.get("snippet", ""),
        source=name,
        published=row.get("published"),
    )


def _is_ad(link: Any) -> bool:
    return any(_ADS & _classes(element) for element in link.iterancestors())


def _classes(element: Any) -> set[str]:
    return set((element.get("class") or "").split())


def _inner(element: Any) -> str:
    """Return what stands in an element, with its tags and entities, as all providers give titles and snippets."""
    from lxml import html

    parts: Iterable[str] = (html.tostring(child, encoding="unicode") for child in element)
    return (escape(element.text or "", quote=False) + "".join(parts)).strip()[:_LONGEST]


def _unwrapped(href: str, depth: int = 3) -> str:
    """Return where a link of the page leads in the end; nothing for advertisements and for what is no web address."""
    url = f"https:{href.strip()}" if href.strip().startswith("//") else href.strip()
    try:
        parts = urlsplit(url)
        host = (parts.hostname or "").lower()
    except ValueError:
        return ""
    if not host and parts.path == "/l/":
        host = "duckduckgo.com"
    if host == "duckduckgo.com" or host.endswith(".duckduckgo.com"):
        if parts.path == "/l/":
            inner = parse_qs(parts.query).get("uddg", [""])[0]
            return _unwrapped(inner, depth - 1) if depth else ""
        if parts.path.startswith("/y.js"):
            return ""
    if host.removeprefix("www.") == "bing.com" and parts.path.startswith("/aclick"):
        return ""
    return url if parts.scheme in {"http", "https"} and host else ""


def _day(text: str) -> str:
    """Return a date of the page (`2026-04-12T00:00:00.0000000`) as ISO 8601, without a time that is not known."""
    found = day(text)
    if not found or len(found) < len("2026-04-12"):
        return ""
    moment = datetime.fromisoformat(found)
    return moment.date().isoformat() if moment.time() == datetime.min.time() else moment.isoformat()
