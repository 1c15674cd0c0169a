"""The sites of the miniature web: an encyclopedia, the documentation of a made-up library, and a forum."""

from __future__ import annotations

import json
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from datetime import date
from functools import cache, lru_cache
from html import escape
from html.parser import HTMLParser
from importlib.resources import files
from types import MappingProxyType
from typing import Final, NamedTuple

from groundwire.testing.http_messages import EmulatedResponse, Recorded
from groundwire.testing.site import Site, SitePage

__all__ = ["ContentFile", "load_documents", "make_sites", "plain_text"]

_BREAKS = frozenset({"blockquote", "caption", "dd", "dt", "h1", "h2", "h3", "h4", "li", "p", "pre", "td", "th", "tr"})


class _SiteKind(NamedTuple):
    """What distinguishes a site: its folder of texts, its host, the page around a text, and the path of a page."""

    folder: str
    host: str
    template: str
    path: str


_KINDS: Final = (
    _SiteKind("articles", "encyclopedia.test", "article", "/wiki/{}"),
    _SiteKind("docs", "docs.test", "documentation", "/en/stable/{}.html"),
    _SiteKind("forum", "forum.test", "question", "/questions/{}"),
)


@dataclass(frozen=True, slots=True)
class ContentFile:
    """One text."""

    slug: str
    """The file's name without its ending."""
    head: Mapping[str, str]
    """The header lines: title and age_days, and of some summary and author."""
    html: str
    """The body, without the page around it."""

    @property
    def title(self) -> str:
        """The title."""
        return self.head["title"]


def make_sites(today: date) -> tuple[Site, ...]:
    """Return every site of a world, dated from `today`."""
    return tuple(Site(kind.folder, kind.host, _pages(kind), today) for kind in _KINDS)


@cache
def load_documents(folder: str) -> tuple[ContentFile, ...]:
    """Return the texts of one folder of `data`, by name."""
    documents = []
    for entry in sorted(files(__package__).joinpath("data", folder).iterdir(), key=lambda entry: entry.name):
        if entry.name.endswith(".html"):
            head, _, body = entry.read_text(encoding="utf-8").partition("\n\n")
            pairs = (line.partition(": ") for line in head.splitlines())
            fields = {name: value for name, _, value in pairs}
            documents.append(ContentFile(entry.name.removesuffix(".html"), MappingProxyType(fields), body))
    return tuple(documents)


@lru_cache(maxsize=256)  # every world has the same texts
def plain_text(html: str) -> str:
    """Return the words of a piece of HTML as one line."""
    words = _Words()
    words.feed(html)
    words.close()
    return " ".join("".join(words.parts).split())


class _Words(HTMLParser):
    def __init__(self) -> None:
        super().__init__()
        self.parts: list[str] = []

    def handle_data(self, data: str) -> None:
        self.parts.append(data)

    def handle_endtag(self, tag: str) -> None:
        if tag in _BREAKS:
            self.parts.append(" ")


def _pages(kind: _SiteKind) -> list[SitePage]:
    """Return the pages of a site, each in the template of its site, which takes of its fields what it shows."""
    documents = load_documents(kind.folder)
    template = files(__package__).joinpath("data", f"{kind.template}.html").read_text(encoding="utf-8")

    def page(place: int, document: ContentFile) -> SitePage:
        path, others = kind.path.format(document.slug), [*documents[place + 1 :], *documents[:place]]
        fields = {name: escape(value) for name, value in document.head.items()}
        fields |= {"slug": document.slug, "body": document.html, "menu": _links(kind, documents)}
        fields |= {"related": _links(kind, others[:3]), "popular": _links(kind, others[3:5])}
        for name, neighbor in (("previous", others[-1]), ("next", others[0])):
            fields |= {name: escape(neighbor.title), f"{name}_path": kind.path.format(neighbor.slug)}

        def render(request: Recorded, published: date) -> EmulatedResponse:
            url = request.base_url + path
            dated = {"day": published.isoformat(), "long_day": f"{published:%d %B %Y}"}
            described = _described(document, url, dated["day"])
            return EmulatedResponse.html(template.format(**fields, **dated, url=escape(url), ld=json.dumps(described)))

        return SitePage(
            name=document.slug,
            path=path,
            render=render,
            title=document.title,
            text=f"{document.head.get('summary', '')} {plain_text(document.html)}".strip(),
            age_days=int(document.head["age_days"]),
        )

    return [page(place, document) for place, document in enumerate(documents)]


def _links(kind: _SiteKind, documents: Sequence[ContentFile]) -> str:
    links = (f'<a href="{kind.path.format(each.slug)}">{escape(each.title)}</a>' for each in documents)
    return "".join(f"<li>{link}</li>" for link in links)


def _described(document: ContentFile, url: str, day: str) -> dict[str, object]:
    """Return the metadata of a page as JSON-LD (https://schema.org/Article)."""
    return {
        "@context": "https://schema.org",
        "@type": "Article",
        "headline": document.title,
        "author": {"@type": "Person", "name": document.head.get("author", "")},
        "datePublished": day,
        "mainEntityOfPage": url,
    }
