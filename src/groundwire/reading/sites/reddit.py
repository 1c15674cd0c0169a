"""Reddit: a post with its comments, as the JSON of its own address (https://www.reddit.com/dev/api)."""

from __future__ import annotations

from typing import Any, Final

from groundwire.reading.sites.parts import SitePart, facts, heading, html, markdown, say
from groundwire.reading.sites.site import (
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

__all__ = ["REDDIT"]

_API: Final = "https://www.reddit.com"
_MOST: Final = 300  # comments
_DEEP: Final = 20  # levels of replies


def post(page: PageAddress) -> Steps:
    """Read a post with its comments."""
    (found,) = yield (
        SiteRequest(url=f"{page.api}/comments/{page['id']}.json", params={"raw_json": "1", "limit": str(_MOST)}),
    )
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
        url=page.url.origin + permalink if (permalink := text(one, "permalink")).startswith("/r/") else "",
        published=day(one.get("created_utc")),
        parts=parts,
        missing=[f"comments that Reddit did not send: {hidden}"] if hidden else [],
    )


def _comments(listing: Any, parent: str, parts: list[SitePart], depth: int) -> int:
    """Append the comments of a listing, and return how many it only counts."""
    hidden = 0
    for row in rows(listing, "data", "children") if isinstance(listing, dict) else ():
        one = row.get("data")
        if not isinstance(one, dict):
            continue
        if row.get("kind") == "more" or depth >= _DEEP:
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
    hosts=dict.fromkeys(("www.reddit.com", "reddit.com", "old.reddit.com", "new.reddit.com"), _API),
    elsewhere="{origin}",
    rate=SiteRate(10, 60.0, "https://support.reddithelp.com/hc/en-us/articles/16160319875092"),
    routes=(
        route("/r/{sub}/comments/{id}", post, id="[a-z0-9]{2,12}"),
        route("/r/{sub}/comments/{id}/{slug}", post, id="[a-z0-9]{2,12}"),
        route("/comments/{id}", post, id="[a-z0-9]{2,12}"),
    ),
)
