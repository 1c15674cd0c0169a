"""Discussions: stories and posts, each with its whole tree of comments, and questions.

Hacker News: a story, over the API of its search (https://hn.algolia.com/api). Reddit: a post, as the JSON of its own
address (https://www.reddit.com/dev/api). Stack Overflow and the other sites of Stack Exchange: a question with its
answers, over their API (https://api.stackexchange.com/docs).
"""

from __future__ import annotations

from collections.abc import Iterator
from html import unescape
from typing import Any, Final

from groundwire.providers.http_parsing import json_or_empty, number_or_none
from groundwire.reading.sites.parts import SitePart, facts, heading, html, markdown, say
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
    need,
    route,
    rows,
    text,
)
from groundwire.transport import Response

__all__ = ["HACKER_NEWS", "REDDIT", "STACK_EXCHANGE"]

_SEARCH: Final = "https://hn.algolia.com/api/v1"
_MOST_OF_STORY: Final = 400  # comments
_REDDIT: Final = "https://www.reddit.com"
_ID: Final = "[a-z0-9]{2,12}"
_MOST_COMMENTS: Final = 300  # comments
_DEEPEST: Final = 20  # levels of replies
_STACK_EXCHANGE: Final = "https://api.stackexchange.com/2.3"
_MOST_ANSWERS: Final = 30  # answers


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


def question(page: PageAddress) -> Steps:
    """Read a question with its answers."""
    return (yield from _question(page, page["id"]))


def answer(page: PageAddress) -> Steps:
    """Read the question that an answer belongs to."""
    (found,) = yield (SiteRequest(url=f"{page.api}/answers/{page['id']}", params={"site": _site(page)}),)
    return (yield from _question(page, str(need(_first(found), "question_id", kind=int))))


def _question(page: PageAddress, number: str) -> Steps:
    params = {"site": _site(page), "filter": "withbody"}
    best = {**params, "order": "desc", "sort": "votes", "pagesize": str(_MOST_ANSWERS)}
    asked, answered = yield (
        SiteRequest(url=f"{page.api}/questions/{number}", params=params),
        SiteRequest(url=f"{page.api}/questions/{number}/answers", params=best, optional="answers"),
    )
    found = _first(asked)
    title = unescape(need(found, "title"))
    answers = rows(answered, "items") if answered is not None else []
    answers.sort(key=lambda row: (row.get("is_accepted") is not True, -(number_or_none(row.get("score")) or 0)))
    count = found.get("answer_count")
    parts = [
        heading(1, title),
        say(
            f"asked by {_who(found)} on {day(found.get('creation_date'))}",
            f"score {text(found, 'score')}",
            f"{count} answers" if isinstance(count, int) else "",
            f"tags: {', '.join(map(str, found.get('tags') or ()))}",
            f"closed: {text(found, 'closed_reason')}" if found.get("closed_reason") else "",
        ),
        html(need(found, "body"), below=1),
    ]
    for row in answers:
        parts += _answer(row)
    shown = f"the best {len(answers)} of {count} answers are read"
    missing = [shown] if isinstance(count, int) and answered is not None and count > len(answers) else []
    return SiteContent(
        title=title,
        url=text(found, "link"),
        published=day(found.get("creation_date")),
        modified=day(found.get("last_edit_date")),
        parts=parts,
        missing=missing,
        warnings=("comments are not part of the text",),
    )


def _answer(row: dict[str, Any]) -> list[SitePart]:
    kind = "Accepted answer" if row.get("is_accepted") is True else "Answer"
    edited = day(row.get("last_edit_date"))
    return [
        heading(2, f"{kind} by {_who(row)}"),
        say(f"score {text(row, 'score')}", day(row.get("creation_date")), f"edited {edited}" if edited else ""),
        html(need(row, "body"), below=2),
    ]


def _who(row: dict[str, Any]) -> str:
    return unescape(text(row, "owner", "display_name")) or "a deleted account"


def _first(answered: Any) -> dict[str, Any]:
    found = rows(answered, "items")
    if not found:
        raise NotAvailable("the API has no such question")
    return found[0]


def _site(page: PageAddress) -> str:
    return page.url.host.removeprefix("www.")


def refusal(reply: Response) -> str:
    """Return the words of a throttle violation, which comes with status 400."""
    said = json_or_empty(reply) if reply.status == 400 else {}
    return text(said, "error_message")[:200] if text(said, "error_name") == "throttle_violation" else ""


def pause(reply: Response) -> float:
    """Return the seconds of `backoff`; an hour when nothing is left of the day's quota."""
    said = json_or_empty(reply)
    return 3_600.0 if said.get("quota_remaining") == 0 else number_or_none(said.get("backoff")) or 0.0


_HOSTS: Final = (
    *("stackoverflow.com", "*.stackoverflow.com", "*.stackexchange.com", "serverfault.com", "superuser.com"),
    *("askubuntu.com", "mathoverflow.net", "stackapps.com"),
)
STACK_EXCHANGE: Final = SiteSpec(
    name="stackexchange",
    title="Stack Exchange",
    hosts=dict.fromkeys(_HOSTS, _STACK_EXCHANGE),
    elsewhere="{origin}/2.3",
    rate=SiteRate(300, 86_400.0, "https://api.stackexchange.com/docs/throttle"),
    routes=(
        route("/questions/{id}", question, id="[0-9]{1,12}"),
        route("/questions/{id}/{rest}", question, id="[0-9]{1,12}", rest="[^/]{1,500}(?:/[0-9]{1,12})?"),
        route("/q/{id}", question, id="[0-9]{1,12}"),
        route("/q/{id}/{user}", question, id="[0-9]{1,12}"),
        route("/a/{id}", answer, id="[0-9]{1,12}"),
        route("/a/{id}/{user}", answer, id="[0-9]{1,12}"),
    ),
    refusal=refusal,
    pause=pause,
)
