"""Hacker News: a story with its whole tree of comments, over the API of its search (https://hn.algolia.com/api)."""

from __future__ import annotations

from collections.abc import Iterator
from typing import Any, Final

from groundwire.reading.sites.parts import SitePart, facts, heading, html, say
from groundwire.reading.sites.site import (
    FormatChanged,
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

__all__ = ["HACKER_NEWS"]

_API: Final = "https://hn.algolia.com/api/v1"
_MOST: Final = 400  # comments


def item(page: PageAddress) -> Steps | None:
    """Read a story, or a comment with the replies to it."""
    number = page.query.get("id", "")
    return _item(page, number) if number.isascii() and number.isdigit() and len(number) < 13 else None


def _item(page: PageAddress, number: str) -> Steps:
    (found,) = yield (SiteRequest(url=f"{page.api}/items/{number}"),)
    need(found, "id", kind=int)
    author, title = text(found, "author"), text(found, "title")
    if not title and not text(found, "text"):
        raise FormatChanged("title and text are missing")
    parts = [
        heading(1, title or f"Comment by {author}"),
        facts((("Link", text(found, "url")), ("Story", _story(page, found)))),
        say(
            f"{text(found, 'points')} points" if text(found, "points") else "",
            f"by {author}",
            day(found.get("created_at")),
        ),
        html(found.get("text") or "", below=1),
    ]
    comments = list(_walk(found, author))
    if comments:
        parts.append(heading(2, "Comments"))
    for row, parent in comments[:_MOST]:
        parts += _comment(row, parent, author)
    shown = f"the first {_MOST} of {len(comments)} comments are read"
    return SiteContent(
        title=title or f"Comment by {author} on Hacker News",
        published=text(found, "created_at"),
        parts=parts,
        missing=[shown] if len(comments) > _MOST else [],
    )


def _story(page: PageAddress, found: dict[str, Any]) -> str:
    story = found.get("story_id")
    return f"{page.url.origin}/item?id={story}" if isinstance(story, int) and story != found["id"] else ""


def _walk(found: dict[str, Any], author: str) -> Iterator[tuple[dict[str, Any], str]]:
    """Yield the comments in the order of the page, each with whom it answers."""
    if not isinstance(found.get("children"), list):
        raise FormatChanged("children is missing")
    stack = [(row, author) for row in reversed(found["children"])]
    while stack:
        row, parent = stack.pop()
        if not isinstance(row, dict):
            continue
        if row.get("text"):
            yield row, parent
        children = row.get("children")
        if isinstance(children, list):
            stack += [(child, text(row, "author")) for child in reversed(children)]


def _comment(row: dict[str, Any], parent: str, author: str) -> list[SitePart]:
    to = f"to {parent}" if parent and parent != author else ""
    who = " ".join(filter(None, (text(row, "author") or "a deleted account", to)))
    return [heading(3, f"{who}, {day(row.get('created_at'))}"), html(str(row["text"]), below=3)]


HACKER_NEWS: Final = SiteSpec(
    name="hackernews",
    title="Hacker News",
    hosts={"news.ycombinator.com": _API},
    elsewhere="{origin}/api/v1",
    rate=SiteRate(10_000, 3_600.0, "https://hn.algolia.com/api"),
    routes=(route("/item", item),),
)
