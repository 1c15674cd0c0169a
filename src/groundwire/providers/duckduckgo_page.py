"""DuckDuckGo's pages for browsers without scripts: their form, and their results.

A bot check, a redesigned page and a page without results all have HTTP status 200 or 202, so only a page that contains
"No results." counts as empty.
"""

from __future__ import annotations

import re
from collections.abc import Iterable, Iterator, Mapping
from datetime import datetime
from html import escape
from typing import Any, Final
from urllib.parse import parse_qs, urlsplit

from groundwire.errors import ProviderBlocked, RateLimited, UnexpectedResponse, UnprovenEmpty
from groundwire.models import Filters, Results, SearchResult
from groundwire.providers.http_parsing import day, raise_for_status, retry_after
from groundwire.transport import Response

# The options of the form's `kl`, in its own order: country, then language.
_REGIONS = """
ar-es au-en at-de be-fr be-nl br-pt bg-bg ca-en ca-fr ct-ca cl-es cn-zh co-es hr-hr cz-cs dk-da ee-et fi-fi fr-fr
de-de gr-el hk-tzh hu-hu is-is in-en id-en ie-en il-en it-it jp-jp kr-kr lv-lv lt-lt my-en mx-es nl-nl nz-en no-no pk-en
pe-es ph-en pl-pl pt-pt ro-ro ru-ru xa-ar sg-en sk-sk sl-sl za-en es-es es-ca se-sv ch-de ch-fr tw-tzh th-en tr-tr us-en
us-es ua-uk uk-en vn-en
"""
# where they differ from ISO 3166-1
_OWN_COUNTRIES: Mapping[str, str] = {"gb": "uk", "sa": "xa", "si": "sl", "sl": "", "ct": "", "xa": ""}
_OWN_LANGUAGES: Final[Mapping[str, str]] = {"jp": "ja", "kr": "ko", "tzh": "zh"}  # where they differ from ISO 639-1

_DENIED = frozenset({401, 403, 451})
_LONGEST_TEXT = 20_000  # characters of a title or snippet with its markup; real ones have a few hundred
_TITLES = frozenset({"result__a", "result-link"})  # the HTML page, the lite page
_SNIPPETS = frozenset({"result__snippet", "result-snippet"})
_AD_BADGE = "badge--ad"  # beside the link; the other marks are on whole rows
_ADS = frozenset({"result--ad", "result-sponsored", _AD_BADGE})
_AD_WORDS = frozenset({"ad", "sponsored", "sponsored link"})
_AD_LABELS = frozenset({"span", "button", "td", "a", "div"})
_EMPTY = frozenset({"no-results", "result--no-result"})
_NO_RESULTS = re.compile(r"\s*No\s+(?:more\s+)?results\.\s*")
_BOT_CHECK = re.compile(rb"anomaly-modal|anomaly\.js|challenge-form|/wr\.do\b|anomalydetectionblock|g-recaptcha|cf-chl")


def parse(reply: Response, name: str = "duckduckgo_lite") -> Results:
    """Parse a result page of either kind.

    Args:
        reply: The response.
        name: The provider's name.

    Raises:
        ProviderError: the response is a failure, a bot check, or a page that is not known to be empty.
    """
    status = reply.status
    checked = _is_bot_check(reply.body)
    if checked and not 200 <= status < 300:
        raise _bot_check(reply, name)
    if status in _DENIED:
        raise ProviderBlocked(name, "access denied", status=status, retry_after=retry_after(reply.headers))
    raise_for_status(reply, name)
    page = document(reply.body)
    results = () if page is None else tuple(_rows(page, name))
    if checked and not results:
        raise _bot_check(reply, name)
    if status == 202:
        raise RateLimited(name, "too many requests", status=status, retry_after=retry_after(reply.headers))
    if results:
        return Results(results, status=status)
    if page is not None and _says_empty(page):
        return Results(status=status)
    if page is not None and _is_search_page(page):
        raise UnprovenEmpty(name, "a page with neither results nor a message that there are none", status=status)
    raise UnexpectedResponse(name, "answered with a page that is not a results page", status=status)


def _bot_check(reply: Response, name: str) -> ProviderBlocked:
    return ProviderBlocked(
        name,
        "it requires a CAPTCHA",
        status=reply.status,
        retry_after=retry_after(reply.headers),
        fix="Send fewer requests from this address, or use another provider",
    )


def document(body: bytes) -> Any:
    """Parse a page as a tree; None if it is empty."""
    from lxml import etree, html

    text = body.decode("utf-8", "replace").replace("\x00", "")
    parser = html.HTMLParser(encoding="utf-8", remove_comments=True, remove_pis=True)
    try:
        return html.document_fromstring(text.encode(), parser=parser)
    except (etree.ParserError, etree.XMLSyntaxError):
        return None


def _is_bot_check(body: bytes) -> bool:
    """Return whether a page has the marks of a bot check; a page with results may quote them."""
    return _BOT_CHECK.search(body.lower()) is not None


def _is_search_page(page: Any) -> bool:
    """Return whether a page is a DuckDuckGo search page, with or without results."""
    return bool(page.xpath("//form[@action='/lite/' or @action='/html/']//input[@name='q']"))


def _says_empty(page: Any) -> bool:
    """Return whether a page states that nothing was found."""
    return any(_EMPTY & _classes(element) or _NO_RESULTS.fullmatch(element.text or "") for element in page.iter("*"))


def next_fields(page: Any) -> dict[str, str]:
    """Return the hidden fields of the form for the next page, including `vqd`; none if there is no next page."""
    for form in page.xpath("//form[.//input[@name='vqd']]"):
        fields = form.xpath(".//input[@type='hidden'][@name]")
        return {str(field.get("name")): str(field.get("value") or "") for field in fields}
    return {}


def form_region(filters: Filters) -> str:
    """Return the form's value for a country, in the given language if available; empty for all regions."""
    if not filters.region:
        return ""
    country = _OWN_COUNTRIES.get(filters.region.lower(), filters.region.lower())
    regions = [region for region in _REGIONS.split() if region.partition("-")[0] == country]
    matching = [region for region in regions if filters.language and speaks(region, filters.language)]
    return next(iter(matching or regions), "")


def speaks(region: str, language: str) -> bool:
    """Whether a value of `form_region` is for a language."""
    own = region.partition("-")[2]
    return _OWN_LANGUAGES.get(own, own) == language.partition("-")[0].lower()


def _rows(page: Any, name: str) -> Iterator[SearchResult]:
    """Yield the results of either page: a link, followed by its snippet and date before the next link."""
    row: dict[str, str] | None = None
    for element in page.iter("a", "td", "span", "button", "div"):
        classes = _classes(element)
        if element.tag == "a" and classes & _TITLES:
            if row:
                yield _result(row, name)
            url = _unwrap(element.get("href") or "")
            row = {"url": url, "title": _inner(element)} if url and not _is_ad(element) else None
        elif row is None:
            continue
        elif classes & _SNIPPETS:
            row.setdefault("snippet", _inner(element))
        elif _AD_BADGE in classes or (element.tag in _AD_LABELS and (element.text or "").strip().lower() in _AD_WORDS):
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
    """Return the inner HTML of an element, including tags and entities, as titles and snippets are passed on."""
    from lxml import html

    parts: Iterable[str] = (html.tostring(child, encoding="unicode") for child in element)
    return (escape(element.text or "", quote=False) + "".join(parts)).strip()[:_LONGEST_TEXT]


def _unwrap(href: str, depth: int = 3) -> str:
    """Return the final target of a link; empty for advertisements and for anything but web URLs."""
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
            return _unwrap(inner, depth - 1) if depth else ""
        if parts.path.startswith("/y.js"):
            return ""
    if host.removeprefix("www.") == "bing.com" and parts.path.startswith("/aclick"):
        return ""
    return url if parts.scheme in {"http", "https"} and host else ""


def _day(text: str) -> str:
    """Return a date of the page (`2026-04-12T00:00:00.0000000`) as ISO 8601, without an unknown time."""
    text = day(text)
    if not text or len(text) < len("2026-04-12"):
        return ""
    moment = datetime.fromisoformat(text)
    return moment.date().isoformat() if moment.time() == datetime.min.time() else moment.isoformat()
