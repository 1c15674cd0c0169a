"""encyclopedia.test: articles inside the furniture of a real page."""

from __future__ import annotations

import json
from collections.abc import Sequence
from datetime import date
from html import escape

from groundwire.testing.exchange import Recorded, Reply
from groundwire.testing.pages import Calendar, Page, Site
from groundwire.testing.sites.documents import Document, load_documents, plain_text

__all__ = ["articles_site"]

_PAGE = """<!doctype html>
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
    pages = [_page(document, documents) for document in documents]
    return Site("articles", "encyclopedia.test", pages, calendar)


def _path(document: Document) -> str:
    return f"/wiki/{document.slug}"


def _page(document: Document, documents: Sequence[Document]) -> Page:
    def render(request: Recorded, published: date) -> Reply:
        return Reply.html(_render(document, documents, request.base_url, published))

    return Page(
        name=document.slug,
        path=_path(document),
        render=render,
        title=document.title,
        text=f"{document.head['summary']} {plain_text(document.html)}",
        age_days=document.age_days,
    )


def _render(document: Document, documents: Sequence[Document], base_url: str, published: date) -> str:
    author, url = document.head["author"], base_url + _path(document)
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
    return _PAGE.format(
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


def _links(documents: Sequence[Document]) -> str:
    return "".join(f'<li><a href="{_path(each)}">{escape(each.title)}</a></li>' for each in documents)
