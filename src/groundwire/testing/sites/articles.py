"""Sites of articles: an encyclopedia, the documentation of a made-up library, and a forum."""

from __future__ import annotations

import json
from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass
from datetime import date
from functools import cache, lru_cache
from html import escape
from html.parser import HTMLParser
from importlib.resources import files
from types import MappingProxyType

from groundwire.testing.http_messages import EmulatedResponse, Recorded
from groundwire.testing.site import Calendar, Site, SitePage

__all__ = ["ContentFile", "articles_site", "docs_site", "forum_site", "load_documents", "plain_text"]

_BREAKS = frozenset({"blockquote", "caption", "dd", "dt", "h1", "h2", "h3", "h4", "li", "p", "pre", "td", "th", "tr"})


@dataclass(frozen=True, slots=True)
class ContentFile:
    """One text."""

    slug: str
    """The file's name without its ending."""
    head: Mapping[str, str]
    """The header lines: title, summary, author, age_days."""
    html: str
    """The body, without the page around it."""

    @property
    def title(self) -> str:
        """The title."""
        return self.head["title"]

    @property
    def age_days(self) -> int:
        """How many days before today it was published."""
        return int(self.head["age_days"])


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


@cache
def _template(name: str) -> str:
    """Return the page around texts, with `{}` for what differs."""
    return files(__package__).joinpath("data", f"{name}.html").read_text(encoding="utf-8")


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


def articles_site(calendar: Calendar) -> Site:
    """Return the encyclopedia."""
    documents = load_documents("articles")
    pages = [_article(document, documents) for document in documents]
    return Site("articles", "encyclopedia.test", pages, calendar)


def _article_path(document: ContentFile) -> str:
    return f"/wiki/{document.slug}"


def _article(document: ContentFile, documents: Sequence[ContentFile]) -> SitePage:
    def render(request: Recorded, published: date) -> EmulatedResponse:
        return EmulatedResponse.html(_render_article(document, documents, request.base_url, published))

    return _page(document, _article_path(document), render)


def _page(document: ContentFile, path: str, render: Callable[[Recorded, date], EmulatedResponse]) -> SitePage:
    return SitePage(
        name=document.slug,
        path=path,
        render=render,
        title=document.title,
        text=f"{document.head['summary']} {plain_text(document.html)}",
        age_days=document.age_days,
    )


def _render_article(document: ContentFile, documents: Sequence[ContentFile], base_url: str, published: date) -> str:
    author, url = document.head["author"], base_url + _article_path(document)
    described = {
        "@context": "https://schema.org",
        "@type": "Article",
        "headline": document.title,
        "author": {"@type": "Person", "name": author},
        "datePublished": published.isoformat(),
        "mainEntityOfPage": url,
    }
    place = documents.index(document)
    others = [documents[(place + step) % len(documents)] for step in (1, 2, 3, 4, 5)]
    return _template("article").format(
        title=escape(document.title),
        summary=escape(document.head["summary"]),
        author=escape(author),
        url=escape(url),
        day=published.isoformat(),
        long_day=f"{published:%d %B %Y}",
        ld=json.dumps(described),
        popular=_links(others[3:]),
        related=_links(others[:3]),
        body=document.html,
    )


def _links(documents: Sequence[ContentFile]) -> str:
    return "".join(f'<li><a href="{_article_path(each)}">{escape(each.title)}</a></li>' for each in documents)


def docs_site(calendar: Calendar) -> Site:
    """Return the documentation."""
    documents = load_documents("docs")
    return Site("docs", "docs.test", [_docs_page(document, documents) for document in documents], calendar)


def _docs_path(document: ContentFile) -> str:
    return f"/en/stable/{document.slug}.html"


def _docs_page(document: ContentFile, documents: Sequence[ContentFile]) -> SitePage:
    place = documents.index(document)
    before, after = documents[place - 1], documents[(place + 1) % len(documents)]
    menu = "".join(f'<li><a href="{_docs_path(each)}">{escape(each.title)}</a></li>' for each in documents)

    def render(request: Recorded, published: date) -> EmulatedResponse:
        return EmulatedResponse.html(
            _template("documentation").format(
                title=escape(document.title),
                summary=escape(document.head["summary"]),
                menu=menu,
                body=document.html,
                previous_path=_docs_path(before),
                previous=escape(before.title),
                next_path=_docs_path(after),
                next=escape(after.title),
                day=published.isoformat(),
                slug=document.slug,
            )
        )

    return _page(document, _docs_path(document), render)


def forum_site(calendar: Calendar) -> Site:
    """Return the forum."""
    return Site("forum", "forum.test", [_forum_page(each) for each in load_documents("forum")], calendar)


def _forum_page(document: ContentFile) -> SitePage:
    def render(request: Recorded, published: date) -> EmulatedResponse:
        title = escape(document.title)
        return EmulatedResponse.html(
            _template("question").format(title=title, day=published.isoformat(), body=document.html)
        )

    return SitePage(
        name=document.slug,
        path=f"/questions/{document.slug}",
        render=render,
        title=document.title,
        text=plain_text(document.html),
        age_days=document.age_days,
    )
