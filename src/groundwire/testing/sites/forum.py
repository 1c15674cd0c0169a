"""forum.test: questions with answers, names, votes, quotes and code."""

from __future__ import annotations

from datetime import date
from html import escape

from groundwire.testing.exchange import Recorded, Reply
from groundwire.testing.pages import Calendar, Page, Site
from groundwire.testing.sites.documents import Document, load_documents, plain_text

__all__ = ["forum_site"]

_PAGE = """<!doctype html>
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
    return Site("forum", "forum.test", [_page(each) for each in load_documents("forum")], calendar)


def _page(document: Document) -> Page:
    def render(request: Recorded, published: date) -> Reply:
        title = escape(document.title)
        return Reply.html(_PAGE.format(title=title, day=published.isoformat(), body=document.html))

    return Page(
        name=document.slug,
        path=f"/questions/{document.slug}",
        render=render,
        title=document.title,
        text=plain_text(document.html),
        age_days=document.age_days,
    )
