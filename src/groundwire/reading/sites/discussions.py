"""Discussions, each with its whole tree of comments.

Hacker News: a story, over the API of its search (https://hn.algolia.com/api). Reddit: a post, as the JSON of its own
address (https://www.reddit.com/dev/api).
"""

from __future__ import annotations

from collections.abc import Iterator
from typing import Any, Final

from groundwire.reading.sites.parts import SitePart, facts, heading, html, markdown, say
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
    rows,
    text,
)

__all__ = ["HACKER_NEWS", "REDDIT"]

_SEARCH: Final = "https://hn.algolia.com/api/v1"
_MOST_OF_STORY: Final = 400  # comments
_REDDIT: Final = "https://www.reddit.com"
_ID: Final = "[a-z0-9]{2,12}"
_MOST_COMMENTS: Final = 300  # comments
_DEEPEST: Final = 20  # levels of replies


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
    for row, parent in comments[:_MOST_OF_STORY]:
        parts += _reply(row, parent, author)
    shown = f"the first {_MOST_OF_STORY} of {len(comments)} comments are read"
    return SiteContent(
        title=title or f"Comment by {author} on Hacker News",
        published=text(found, "created_at"),
        parts=parts,
        missing=[shown] if len(comments) > _MOST_OF_STORY else [],
    )


def _story(page: PageAddress, found: dict[str, Any]) -> str:
    story = found.get("story_id")
    return f"{page.url.origin}/item?id={story}" if isinstance(story, int) and story != found["id"] else ""


def _walk(found: dict[str, Any], author: str) -> Iterator[tuple[dict[str, Any], str]]:
    """Yield the comments in page order, each with the author it replies to."""
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


def _reply(row: dict[str, Any], parent: str, author: str) -> list[SitePart]:
    to = f"to {parent}" if parent and parent != author else ""
    who = " ".join(filter(None, (text(row, "author") or "a deleted account", to)))
    return [heading(3, f"{who}, {day(row.get('created_at'))}"), html(str(row["text"]), below=3)]


HACKER_NEWS: Final = SiteSpec(
    name="hackernews",
    title="Hacker News",
    hosts={"news.ycombinator.com": _SEARCH},
    elsewhere="{origin}/api/v1",
    rate=SiteRate(10_000, 3_600.0, "https://hn.algolia.com/api"),
    routes=(route("/item", item),),
)


def post(page: PageAddress) -> Steps:
    """Read a post with its comments, or with those around one of them."""
    params = {"raw_json": "1", "limit": str(_MOST_COMMENTS)}
    if page["comment"]:
        params |= {"comment": page["comment"], "context": "8"}
    (found,) = yield (SiteRequest(url=f"{page.api}/comments/{page['id']}.json", params=params),)
    one = need(found, 0, "data", "children", 0, "data", kind=dict)
    title = need(one, "title")
    link = text(one, "url") if not one.get("is_self") else ""
    parts = [
        heading(1, title),
        say(
            text(one, "subreddit_name_prefixed"),
            f"by {text(one, 'author')}",
            day(one.get("created_utc")),
            f"score {text(one, 'score')}",
            f"{text(one, 'num_comments')} comments",
            text(one, "link_flair_text"),
        ),
        facts((("Link", link),)),
        _body(one, "selftext", 1),
    ]
    comments: list[SitePart] = []
    hidden = _comments(found[1] if len(found) > 1 else None, "", comments, 0)
    parts += [heading(2, "Comments"), *comments] if comments else []
    return SiteContent(
        title=title,
        url=page.api + permalink if (permalink := text(one, "permalink")).startswith(("/r/", "/user/")) else "",
        published=day(one.get("created_utc")),
        parts=parts,
        missing=[f"comments that Reddit did not send: {hidden}"] if hidden else [],
        warnings=("only the comments around one of them are read",) if page["comment"] else (),
    )


def short(page: PageAddress) -> Steps | None:
    """Read the post of a short link."""
    return post(page) if page.url.host == "redd.it" else None


def _comments(listing: Any, parent: str, parts: list[SitePart], depth: int) -> int:
    """Append the comments of a listing, and return how many it only counts."""
    hidden = 0
    for row in rows(listing, "data", "children") if isinstance(listing, dict) else ():
        one = row.get("data")
        if not isinstance(one, dict):
            continue
        if row.get("kind") == "more" or depth >= _DEEPEST:
            count = one.get("count")
            hidden += count if isinstance(count, int) and count > 0 else 1
            continue
        author = text(one, "author")
        to = f" to {parent}" if parent else ""
        parts += [
            heading(3, f"{author}{to}, {day(one.get('created_utc'))}, score {text(one, 'score')}"),
            _body(one, "body", 3),
        ]
        hidden += _comments(one.get("replies"), author, parts, depth + 1)
    return hidden


def _body(one: dict[str, Any], name: str, below: int) -> SitePart:
    rendered = one.get(f"{name}_html")
    return html(rendered, below=below) if isinstance(rendered, str) else markdown(str(one.get(name) or ""), below=below)


REDDIT: Final = SiteSpec(
    name="reddit",
    title="Reddit",
    hosts=dict.fromkeys(("reddit.com", "*.reddit.com", "redd.it"), _REDDIT),
    elsewhere="{origin}",
    rate=SiteRate(10, 60.0, "https://support.reddithelp.com/hc/en-us/articles/16160319875092"),
    routes=(
        route("/{kind}/{sub}/comments/{id}/{slug}/{comment}", post, kind="r|user", id=_ID, comment=_ID),
        route("/{kind}/{sub}/comments/{id}/{slug}", post, kind="r|user", id=_ID),
        route("/{kind}/{sub}/comments/{id}", post, kind="r|user", id=_ID),
        route("/{kind}/{id}", post, kind="comments|gallery", id=_ID),
        route("/{id}", short, id=_ID),
    ),
)
