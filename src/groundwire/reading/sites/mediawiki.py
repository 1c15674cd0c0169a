"""Wikipedia, its sister projects and other wikis over the API of MediaWiki (https://www.mediawiki.org/wiki/API)."""

from __future__ import annotations

from typing import Any, Final

from groundwire.providers.http_parsing import json_or_empty
from groundwire.reading.sites.parts import heading, html, say
from groundwire.reading.sites.site import (
    NotAvailable,
    PageAddress,
    SiteContent,
    SiteRate,
    SiteRequest,
    SiteSpec,
    Steps,
    day,
    need,
    route,
    text,
)
from groundwire.transport import Response

__all__ = ["MEDIAWIKI"]

_OTHER_VIEWS: Final = frozenset({"action", "curid", "diff", "oldid", "printable", "veaction"})
_NO_ARTICLES: Final = ("Special:", "Spezial:", "Especial:", "Spécial:", "Speciale:", "Служебная:", "特別:", "特殊:")
_NOT_TEXT: Final = (
    ".navbox, .navbox-styles, .vertical-navbox, .sistersitebox, .side-box, .metadata, .ambox, .noprint, .catlinks, "
    ".mw-editsection, .mw-jump-link, .mw-empty-elt, .mw-cite-backlink, .authority-control, .toc, #toc, .portalbox"
)
_BUSY: Final = frozenset({"maxlag", "ratelimited", "readonly"})


def article(page: PageAddress) -> Steps | None:
    """Read an article as it is now; views of something else are read as any page."""
    title = page["title"].replace("_", " ")
    if _OTHER_VIEWS & page.query.keys() or title.startswith(_NO_ARTICLES):
        return None
    return _article(page, title)


def _article(page: PageAddress, title: str) -> Steps:
    common = {"format": "json", "formatversion": "2", "redirects": "1"}
    parse = {
        "action": "parse",
        "page": title,
        "prop": "text|revid",
        "disableeditsection": "1",
        "disabletoc": "1",
        "disablelimitreport": "1",
    }
    if page["variant"]:
        parse["variant"] = page["variant"]
    query = {"action": "query", "titles": title, "prop": "info|revisions", "inprop": "url", "rvprop": "timestamp"}
    parsed, queried = yield (
        SiteRequest(url=page.api, params={**parse, **common}),
        SiteRequest(url=page.api, params={**query, **common}, optional="the day of the last edit"),
    )
    _refuse_errors(parsed)
    name = need(parsed, "parse", "title")
    edited = text(queried, "query", "pages", 0, "revisions", 0, "timestamp")
    moved = text(parsed, "parse", "redirects", 0, "from")
    return SiteContent(
        title=name,
        url=text(queried, "query", "pages", 0, "canonicalurl") or text(queried, "query", "pages", 0, "fullurl"),
        language=text(queried, "query", "pages", 0, "pagelanguage"),
        parts=(
            heading(1, name),
            say(f"last edited {day(edited)}" if edited else "", f"redirected from {moved}" if moved else ""),
            html(need(parsed, "parse", "text"), drop=_NOT_TEXT),
        ),
    )


def _refuse_errors(answer: Any) -> None:
    if code := text(answer, "error", "code"):
        raise NotAvailable(f"the API says {code}: {text(answer, 'error', 'info')}")


def refusal(reply: Response) -> str:
    """Return the reason of a "too busy" response, which has status 200."""
    code = text(json_or_empty(reply), "error", "code") if b'"error"' in reply.body[:200] else ""
    return f"the API says {code}" if code in _BUSY else ""


_PROJECTS: Final = (
    *("wikipedia", "wiktionary", "wikibooks", "wikinews", "wikiquote", "wikisource", "wikiversity", "wikivoyage"),
)
MEDIAWIKI: Final = SiteSpec(
    name="mediawiki",
    title="MediaWiki",
    hosts={
        **{f"*.{project}.org": "https://{host}/w/api.php" for project in _PROJECTS},
        "www.mediawiki.org": "https://{host}/w/api.php",
        "wiki.archlinux.org": "https://{host}/api.php",
        "wiki.gentoo.org": "https://{host}/api.php",
    },
    elsewhere="{origin}/w/api.php",
    rate=SiteRate(60, 60.0, "https://www.mediawiki.org/wiki/API:Etiquette"),
    routes=(
        route("/wiki/{title}", article, title=".{1,500}"),
        route("/title/{title}", article, title=".{1,500}"),
        route("/{variant}/{title}", article, variant="(?:zh|sr)(?:-[a-z]{2,8})?", title=".{1,500}"),
    ),
    refusal=refusal,
)
