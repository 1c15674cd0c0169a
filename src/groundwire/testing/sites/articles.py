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


_ARTICLE = """<!doctype html>
<html lang="en" prefix="og: https://ogp.me/ns#">
<head>
<meta charset="utf-8">
<title>{title} - The Small Encyclopedia</title>
<meta name="description" content="{summary}">
<meta name="author" content="{author}">
<meta property="og:type" content="article">
<meta property="og:title" content="{title}">
<meta property="og:url" content="{url}">
<meta property="og:site_name" content="The Small Encyclopedia">
<meta property="article:published_time" content="{day}T00:00:00Z">
<link rel="canonical" href="{url}">
<script type="application/ld+json">{ld}</script>
<style>.toc {{ float: right }} .hidden {{ display: none }}</style>
<script>window.dataLayer = window.dataLayer || []; dataLayer.push({{ page: "article" }});</script>
</head>
<body>
<div id="cookie-notice" role="dialog" aria-label="Cookies"><p>This site keeps a cookie to remember that you have read
this notice.</p><button>Accept all</button> <button>Only what is needed</button></div>
<header><a href="/" class="logo">The Small Encyclopedia</a>
<form action="/find" role="search"><input name="q" placeholder="Search the encyclopedia"><button>Search</button></form>
<nav aria-label="Main"><ul><li><a href="/">Front page</a></li><li><a href="/random">Random article</a></li>
<li><a href="/about">About us</a></li><li><a href="/sign-in">Sign in</a></li></ul></nav></header>
<div class="layout">
<aside class="sidebar"><h2>Popular this week</h2><ul>{popular}</ul>
<div class="newsletter"><h2>Newsletter</h2><p>One article by mail every Sunday.</p>
<input type="email" placeholder="Your address"><button>Subscribe</button></div></aside>
<main id="content"><article>
<h1>{title}</h1>
<p class="byline">By {author}, published <time datetime="{day}">{long_day}</time></p>
{body}
</article>
<section class="related"><h2>Related articles</h2><ul>{related}</ul></section></main></div>
<footer><p>The Small Encyclopedia exists only on this machine.</p>
<ul><li><a href="/privacy">Privacy</a></li><li><a href="/imprint">Imprint</a></li>
<li><a href="/contact">Contact</a></li></ul></footer>
</body>
</html>
"""


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
    return _ARTICLE.format(
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


_DOCS_PAGE = """<!doctype html>
<html lang="en">
<head><meta charset="utf-8"><meta name="viewport" content="width=device-width">
<title>{title} | Larder 2.4 documentation</title>
<meta name="description" content="{summary}"></head>
<body>
<a class="skip" href="#main">Skip to content</a>
<header><a href="/">Larder 2.4</a> <select aria-label="Version">
<option>2.4 (stable)</option><option>2.3</option></select>
<button>Switch theme</button></header>
<nav class="toctree" aria-label="Pages"><ul>{menu}</ul></nav>
<main id="main" role="main">
<nav class="breadcrumbs" aria-label="Breadcrumbs"><a href="/">Docs</a> &rsaquo; <span>{title}</span></nav>
<h1 id="top">{title}<a class="headerlink" href="#top" title="Link to this heading">&para;</a></h1>
{body}
<nav class="prev-next"><a rel="prev" href="{previous_path}">Previous: {previous}</a>
<a rel="next" href="{next_path}">Next: {next}</a></nav>
</main>
<footer><p>Last updated <time datetime="{day}">{day}</time>. <a href="/edit/{slug}">Edit this page</a></p>
<p>Was this page helpful? <button>Yes</button> <button>No</button></p></footer>
</body>
</html>
"""


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
            _DOCS_PAGE.format(
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


_FORUM_PAGE = """<!doctype html>
<html lang="en">
<head><meta charset="utf-8"><title>{title} - Workbench forum</title></head>
<body>
<header><a href="/">Workbench forum</a><nav><a href="/questions">Questions</a> <a href="/tags">Tags</a>
<a href="/users">Users</a> <a href="/login">Log in</a></nav></header>
<div id="question-header"><h1>{title}</h1>
<p>Asked <time datetime="{day}">{day}</time> &middot; Viewed 1,204 times</p></div>
<main>
{body}
</main>
<aside><h2>Hot questions</h2><ul><li><a href="/q/1">Why does my sourdough sink?</a></li>
<li><a href="/q/2">Is a rubber duck a debugger?</a></li></ul></aside>
<footer><p>Be kind. Posts are written for tests.</p></footer>
</body>
</html>
"""


def forum_site(calendar: Calendar) -> Site:
    """Return the forum."""
    return Site("forum", "forum.test", [_forum_page(each) for each in load_documents("forum")], calendar)


def _forum_page(document: ContentFile) -> SitePage:
    def render(request: Recorded, published: date) -> EmulatedResponse:
        title = escape(document.title)
        return EmulatedResponse.html(_FORUM_PAGE.format(title=title, day=published.isoformat(), body=document.html))

    return SitePage(
        name=document.slug,
        path=f"/questions/{document.slug}",
        render=render,
        title=document.title,
        text=plain_text(document.html),
        age_days=document.age_days,
    )
