"""arXiv over its API (https://info.arxiv.org/help/api): an abstract, and where the text is."""

from __future__ import annotations

from typing import Final

from lxml import etree

from groundwire.reading.documents.office_package import parse_xml
from groundwire.reading.sites.parts import facts, heading, plain, say
from groundwire.reading.sites.site import (
    FormatChanged,
    NotAvailable,
    PageAddress,
    SiteContent,
    SiteRate,
    SiteRequest,
    SiteSpec,
    Steps,
    day,
    route,
)

__all__ = ["ARXIV"]

_ATOM: Final = "{http://www.w3.org/2005/Atom}"
_OWN: Final = "{http://arxiv.org/schemas/atom}"
_ID: Final = r"(?:[0-9]{4}\.[0-9]{4,5}|[a-z-]{2,20}(?:\.[A-Z]{2})?/[0-9]{7})(?:v[0-9]{1,3})?"
_API: Final = "https://export.arxiv.org/api/query"


def abstract(page: PageAddress) -> Steps:
    """Read what the abstract page of a paper says."""
    number = page["id"]
    (feed,) = yield (SiteRequest(url=page.api, params={"id_list": number}, accept="application/atom+xml", kind="text"),)
    root = parse_xml(feed.partition("?>")[2].encode() if feed.startswith("<?xml") else feed.encode())
    if root is None or root.tag != f"{_ATOM}feed":
        raise FormatChanged("the response is not an Atom feed")
    entry = root.find(f"{_ATOM}entry")
    title = _text(entry, f"{_ATOM}title")
    if entry is None or title == "Error":
        raise NotAvailable(f"the API has no paper {number}")
    if not title or not _text(entry, f"{_ATOM}summary"):
        raise FormatChanged("title or summary is missing")
    authors = [_text(author, f"{_ATOM}name") for author in entry.findall(f"{_ATOM}author")]
    subjects = [category.get("term", "") for category in entry.findall(f"{_ATOM}category")]
    changed = day(_text(entry, f"{_ATOM}updated"))
    submitted = day(_text(entry, f"{_ATOM}published"))
    return SiteContent(
        title=title,
        published=submitted,
        url=f"{page.url.origin}/abs/{number}",
        parts=(
            heading(1, title),
            say(", ".join(authors)),
            facts(
                (
                    ("arXiv", number),
                    ("Submitted", submitted),
                    ("Last revised", changed if changed != submitted else ""),
                    ("Subjects", ", ".join(filter(None, subjects))),
                    ("Comments", _text(entry, f"{_OWN}comment")),
                    ("Journal reference", _text(entry, f"{_OWN}journal_ref")),
                    ("DOI", _text(entry, f"{_OWN}doi")),
                    ("Full text as HTML, for most papers since 2023", f"https://arxiv.org/html/{number}"),
                    ("Full text as PDF", f"https://arxiv.org/pdf/{number}"),
                )
            ),
            heading(2, "Abstract"),
            plain(" ".join(_text(entry, f"{_ATOM}summary").split())),
        ),
        warnings=("this is the abstract; open the PDF or the HTML version for the paper",),
    )


def _text(element: etree._Element | None, name: str) -> str:
    found = element.find(name) if element is not None else None
    return " ".join("".join(found.itertext()).split()) if found is not None else ""


ARXIV: Final = SiteSpec(
    name="arxiv",
    title="arXiv",
    hosts={"arxiv.org": _API, "www.arxiv.org": _API, "export.arxiv.org": _API},
    elsewhere="{origin}/api/query",
    rate=SiteRate(1, 3.0, "https://info.arxiv.org/help/api/tou.html"),
    routes=(route("/abs/{id}", abstract, id=_ID),),
)
