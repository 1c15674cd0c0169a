"""docs.test: the documentation of a made-up library, with code, tables and lists."""

from __future__ import annotations

from collections.abc import Sequence
from datetime import date
from html import escape

from groundwire.testing.exchange import Recorded, Reply
from groundwire.testing.pages import Calendar, Page, Site
from groundwire.testing.sites.documents import Document, load_documents, plain_text

__all__ = ["docs_site"]

_PAGE = """<!doctype html>
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
    return Site("docs", "docs.test", [_page(document, documents) for document in documents], calendar)


def _path(document: Document) -> str:
    return f"/en/stable/{document.slug}.html"


def _page(document: Document, documents: Sequence[Document]) -> Page:
    place = documents.index(document)
    before, after = documents[place - 1], documents[(place + 1) % len(documents)]
    menu = "".join(f'<li><a href="{_path(each)}">{escape(each.title)}</a></li>' for each in documents)

    def render(request: Recorded, published: date) -> Reply:
        return Reply.html(
            _PAGE.format(
                title=escape(document.title),
                summary=escape(document.head["summary"]),
                menu=menu,
                body=document.html,
                previous_path=_path(before),
                previous=escape(before.title),
                next_path=_path(after),
                next=escape(after.title),
                day=published.isoformat(),
                slug=document.slug,
            )
        )

    return Page(
        name=document.slug,
        path=_path(document),
        render=render,
        title=document.title,
        text=f"{document.head['summary']} {plain_text(document.html)}",
        age_days=document.age_days,
    )
