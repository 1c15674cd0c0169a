"""Works of reference.

arXiv: an abstract, with links to the full text (https://info.arxiv.org/help/api). MediaWiki: Wikipedia, its sister
projects and other wikis (https://www.mediawiki.org/wiki/API).
"""

from __future__ import annotations

from typing import Any, Final

from lxml import etree

from groundwire.reading.documents.office_package import parse_xml
from groundwire.reading.sites.parts import facts, heading, html, plain, say
from groundwire.reading.sites.site import (
    FormatChanged,
    NotAvailable,
    PageAddress,
    SiteContent,
    SiteRequest,
    SiteSpec,
    Steps,
    day,
    need,
    route,
    text,
)

_ATOM: Final = "{http://www.w3.org/2005/Atom}"
_OWN: Final = "{http://arxiv.org/schemas/atom}"
_ID: Final = r"(?:[0-9]{4}\.[0-9]{4,5}|[a-z-]{2,20}(?:\.[A-Z]{2})?/[0-9]{7})(?:v[0-9]{1,3})?"
_ARXIV: Final = "https://export.arxiv.org/api/query"
_OTHER_VIEWS: Final = frozenset({"action", "diff", "oldid", "printable", "search", "veaction"})
_NOT_TEXT: Final = (
    ".navbox, .navbox-styles, .vertical-navbox, .sistersitebox, .side-box, .metadata, .ambox, .noprint, .catlinks, "
    ".mw-editsection, .mw-jump-link, .mw-empty-elt, .mw-cite-backlink, .authority-control, .toc, #toc, .portalbox"
)


def abstract(page: PageAddress) -> Steps:
    """Read the abstract page of a paper."""
    number = page["id"].rpartition(":")[2]
    (feed,) = yield (SiteRequest(url=_ARXIV, params={"id_list": number}, accept="application/atom+xml", kind="text"),)
    root = parse_xml(feed.partition("?>")[2].encode() if feed.startswith("<?xml") else feed.encode())
    if root is None or root.tag != f"{_ATOM}feed":
        raise FormatChanged("the response is not an Atom feed")
    entry = root.find(f"{_ATOM}entry")
    title = _text_of(entry, f"{_ATOM}title")
    if entry is None or title == "Error":
        raise NotAvailable(f"the API has no paper {number}")
    if not title or not _text_of(entry, f"{_ATOM}summary"):
        raise FormatChanged("title or summary is missing")
    version = _text_of(entry, f"{_ATOM}id").partition("/abs/")[2] or number
    authors = [_text_of(author, f"{_ATOM}name") for author in entry.findall(f"{_ATOM}author")]
    primary = entry.find(f"{_OWN}primary_category")
    main = primary.get("term", "") if primary is not None else ""
    terms = (category.get("term", "") for category in entry.findall(f"{_ATOM}category"))
    subjects = [f"{main} (primary)" if main else "", *(term for term in terms if term != main)]
    changed = day(_text_of(entry, f"{_ATOM}updated"))
    submitted = day(_text_of(entry, f"{_ATOM}published"))
    return SiteContent(
        title=title,
        published=submitted,
        modified=changed,
        url=f"https://arxiv.org/abs/{number}",
        parts=(
            heading(1, title),
            say(", ".join(authors)),
            facts(
                ("arXiv", version),
                ("Submitted", submitted),
                ("Last revised", changed if changed != submitted else ""),
                ("Subjects", ", ".join(filter(None, subjects))),
                ("Comments", _text_of(entry, f"{_OWN}comment")),
                ("Journal reference", _text_of(entry, f"{_OWN}journal_ref")),
                ("DOI", _text_of(entry, f"{_OWN}doi")),
                ("Full text as HTML, for most papers since 2023", f"https://arxiv.org/html/{number}"),
                ("Full text as PDF", f"https://arxiv.org/pdf/{number}"),
            ),
            heading(2, "Abstract"),
            plain(" ".join(_text_of(entry, f"{_ATOM}summary").split())),
        ),
        warnings=("this is the abstract; open the PDF or the HTML version for the paper",),
    )


def _text_of(element: etree._Element | None, name: str) -> str:
    child = element.find(name) if element is not None else None
    return " ".join("".join(child.itertext()).split()) if child is not None else ""


ARXIV: Final = SiteSpec(
    name="arxiv",
    hosts=("arxiv.org", "www.arxiv.org", "export.arxiv.org"),
    requests=1,  # https://info.arxiv.org/help/api/tou.html
    seconds=3.0,
    routes=(route("/abs/{id}", abstract, id=f"(?i:arxiv:)?{_ID}"),),
)


def article(page: PageAddress) -> Steps:
    """Read an article as it is now; views of something else are read as any page."""
    number = page.query.get("curid", "")
    title = "" if number else (page["title"] or page.query.get("title", "")).replace("_", " ")
    special = title.lower().startswith("special:")  # its names in other languages cost a request
    if _OTHER_VIEWS & page.query.keys() or special or not (title or number.isdecimal()):
        return None
    parsed_as, queried_as = ({"page": title}, {"titles": title}) if title else ({"pageid": number}, {"pageids": number})
    common = {"format": "json", "formatversion": "2", "redirects": "1"}
    parse = {
        "action": "parse",
        **parsed_as,
        "prop": "text|revid",
        "disableeditsection": "1",
        "disabletoc": "1",
        "disablelimitreport": "1",
    }
    if page["variant"]:
        parse["variant"] = page["variant"]
    api = f"https://{page.url.host}/{'' if page.url.host in _AT_ROOT else 'w/'}api.php"
    query = {"action": "query", **queried_as, "prop": "info|revisions", "inprop": "url", "rvprop": "timestamp"}
    parsed, queried = yield (
        SiteRequest(url=api, params={**parse, **common}),
        SiteRequest(url=api, params={**query, **common}, optional="the day of the last edit"),
    )
    _refuse_errors(parsed)
    name = need(parsed, "parse.title")
    edited = text(queried, "query.pages.revisions.timestamp")
    moved = text(parsed, "parse.redirects.from")
    return SiteContent(
        title=name,
        url=text(queried, "query.pages.canonicalurl") or text(queried, "query.pages.fullurl"),
        modified=edited,
        language=text(queried, "query.pages.pagelanguage"),
        parts=(
            heading(1, name),
            say(f"last edited {day(edited)}" if edited else "", f"redirected from {moved}" if moved else ""),
            html(need(parsed, "parse.text"), drop=_NOT_TEXT),
        ),
    )


def _refuse_errors(answer: Any) -> None:
    if code := text(answer, "error.code"):
        raise NotAvailable(f"the API says {code}: {text(answer, 'error.info')}")


_VARIANTS: Final = "(?:zh|sr|kk|ku|uz|tg|iu|shi|gan|crh|sh)(?:-[a-z]{2,8})?"
_PROJECTS: Final = (
    *("wikipedia", "wiktionary", "wikibooks", "wikinews", "wikiquote", "wikisource", "wikiversity", "wikivoyage"),
)
_SISTERS: Final = (
    *("commons.wikimedia.org", "meta.wikimedia.org", "species.wikimedia.org", "incubator.wikimedia.org"),
    *("wikidata.org", "www.wikidata.org", "m.wikidata.org", "commons.m.wikimedia.org"),
    *("www.mediawiki.org", "www.wikifunctions.org"),
)
_AT_ROOT: Final = ("wiki.archlinux.org", "wiki.gentoo.org")  # where the API is not below /w/
MEDIAWIKI: Final = SiteSpec(
    name="mediawiki",
    hosts=(*(f"*.{project}.org" for project in _PROJECTS), *_SISTERS, *_AT_ROOT),
    requests=60,  # https://www.mediawiki.org/wiki/API:Etiquette
    seconds=60.0,
    routes=(
        route("/wiki/{title}", article, title=".{1,500}"),
        route("/title/{title}", article, title=".{1,500}"),
        route("/{script}", article, script=r"(?:w/)?(?:index\.php)?"),
        route("/{script}/{title}", article, script=r"(?:w/)?index\.php", title=".{1,500}"),
        route("/{variant}/{title}", article, variant=_VARIANTS, title=".{1,500}"),
    ),
    params=("title", "curid"),
)
