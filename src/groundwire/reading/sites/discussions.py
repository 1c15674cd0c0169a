"""Discussions: stories and posts, each with its whole tree of comments, and questions.

Hacker News: a story, over the API of its search (https://hn.algolia.com/api). Reddit: a post, as the JSON of its own
address (https://www.reddit.com/dev/api). Stack Overflow and the other sites of Stack Exchange: a question with its
answers, over their API (https://api.stackexchange.com/docs).
"""

from __future__ import annotations

import re
from collections.abc import Iterator
from html import unescape
from typing import Any, Final

from groundwire.providers.http_parsing import number_or_none
from groundwire.reading.sites.parts import SitePart, facts, heading, html, markdown, say
from groundwire.reading.sites.site import (
    FormatChanged,
    NotAvailable,
    PageAddress,
    SiteContent,
    SiteRequest,
    SiteSpec,
    Steps,
    day,
    need,
    route,
    rows,
    rows_or_none,
    text,
)

_SEARCH: Final = "https://hn.algolia.com/api/v1"
_MAX_STORY_COMMENTS: Final = 400  # comments
_REDDIT: Final = "https://www.reddit.com"
_ID: Final = "[A-Za-z0-9]{2,12}"
_DELETED_ACCOUNT: Final = "a deleted account"
_WHERE: Final = "(?:(?:[rR]|u|user)/[^/]{1,200}/)?"
_FORM: Final = r"(?:/?\.json)?"  # the address of the API, which people paste
_MAX_REDDIT_COMMENTS: Final = 300  # comments
_MAX_DEPTH: Final = 20  # levels of replies
_STACK_EXCHANGE: Final = "https://api.stackexchange.com/2.3"
_MAX_ANSWERS: Final = 30  # answers
_NUMBER: Final = "[0-9]{1,12}"
_NO_SITES: Final = frozenset({"api", "area51", "chat", "data", "stackauth"})  # subdomains without questions


def item(page: PageAddress) -> Steps:
    """Read a story, or a comment with the replies to it."""
    number = page["id"] or page.query.get("id", "")
    if not re.fullmatch(_NUMBER, number):
        return None
    (story,) = yield (SiteRequest(url=f"{_SEARCH}/items/{number}"),)
    need(story, "id", kind=int)
    title, author = text(story, "title"), text(story, "author") or _DELETED_ACCOUNT
    comments, words = list(_walk(story, author)), text(story, "text")
    if not title and not words and not comments:
        raise NotAvailable("it is deleted")
    what = title or (f"Comment by {author}" if words else "[deleted]")
    options = rows_or_none(story, "options")
    parts = [
        heading(1, what),
        facts(("Link", text(story, "url")), ("Story", _story(page, story))),
        say(
            f"{text(story, 'points')} points" if text(story, "points") else "",
            f"by {author}",
            day(story.get("created_at")),
        ),
        html(str(story.get("text") or ""), below=1),
        *(html(f"{row.get('text')} ({text(row, 'points') or 'unknown'} points)") for row in options),
    ]
    if comments:
        parts.append(heading(2, "Comments"))
    for row, parent in comments[:_MAX_STORY_COMMENTS]:
        parts += _reply(row, parent, author)
    limit_note = f"the first {_MAX_STORY_COMMENTS} of {len(comments)} comments are read"
    return SiteContent(
        title=title or f"{what} on Hacker News",
        published=text(story, "created_at"),
        parts=parts,
        missing=[limit_note] if len(comments) > _MAX_STORY_COMMENTS else [],
    )


def _story(page: PageAddress, story: dict[str, Any]) -> str:
    number = story.get("story_id")
    return f"{page.url.origin}/item?id={number}" if isinstance(number, int) and number != story["id"] else ""


def _walk(story: dict[str, Any], author: str) -> Iterator[tuple[dict[str, Any], str]]:
    """Yield the comments in page order, each with the author it replies to."""
    if not isinstance(story.get("children"), list):
        raise FormatChanged("children is missing")
    stack = [(row, author) for row in reversed(story["children"])]
    while stack:
        row, parent = stack.pop()
        if not isinstance(row, dict):
            continue
        if row.get("text"):
            yield row, parent
        children = row.get("children")
        if isinstance(children, list):
            stack += [(child, text(row, "author") or _DELETED_ACCOUNT) for child in reversed(children)]


def _reply(row: dict[str, Any], parent: str, author: str) -> list[SitePart]:
    to = f"to {parent}" if parent and parent != author else ""
    who = " ".join(filter(None, (text(row, "author") or _DELETED_ACCOUNT, to)))
    return [heading(3, f"{who}, {day(row.get('created_at'))}"), html(str(row["text"]), below=3)]


HACKER_NEWS: Final = SiteSpec(
    name="hackernews",
    hosts=("news.ycombinator.com", "hn.algolia.com"),
    requests=10_000,  # https://hn.algolia.com/api
    seconds=3_600.0,
    routes=(route("/item", item), route("hn.algolia.com/item/{id}", item)),
    params=("id",),
)


def post(page: PageAddress) -> Steps:
    """Read a post with its comments, or with those around one of them."""
    params = {"raw_json": "1", "limit": str(_MAX_REDDIT_COMMENTS)}
    if page["comment"]:
        params |= {"comment": page["comment"].lower(), "context": "8"}
    (listings,) = yield (SiteRequest(url=f"{_REDDIT}/comments/{page['id'].lower()}.json", params=params),)
    submission = need(listings, "data.children.data", kind=dict)
    title = need(submission, "title")
    link = text(submission, "url") if not submission.get("is_self") else ""
    parts = [
        heading(1, title),
        say(
            text(submission, "subreddit_name_prefixed"),
            f"by {text(submission, 'author') or '[deleted]'}",
            day(submission.get("created_utc")),
            f"score {text(submission, 'score')}",
            f"{text(submission, 'num_comments')} comments",
            text(submission, "link_flair_text"),
        ),
        facts(("Link", link)),
        _body(submission, "selftext", 1),
        *_attached(submission),
    ]
    comments: list[SitePart] = []
    hidden = _comments(listings[1] if len(listings) > 1 else None, "", comments, 0)
    parts += [heading(2, "Comments"), *comments] if comments else []
    return SiteContent(
        title=title,
        url=_REDDIT + permalink if (permalink := text(submission, "permalink")).startswith(("/r/", "/user/")) else "",
        published=day(submission.get("created_utc")),
        parts=parts,
        missing=[f"comments that Reddit did not send: {hidden}"] if hidden else [],
        warnings=("only the comments around one of them are read",) if page["comment"] else (),
    )


def _attached(submission: dict[str, Any]) -> Iterator[SitePart]:
    """Yield what a post has besides its text: captions of pictures, the options of a poll, the post that it repeats."""
    captions = (text(picture, "caption") for picture in rows_or_none(submission, "gallery_data.items"))
    yield facts(*((f"Picture {number}", caption) for number, caption in enumerate(captions, 1)))
    options = rows_or_none(submission, "poll_data.options")
    yield facts(*((text(row, "text"), f"{text(row, 'vote_count') or 'unknown'} votes") for row in options))
    for original in rows_or_none(submission, "crosspost_parent_list")[:1]:
        yield heading(2, f"Crosspost of: {text(original, 'title')}")
        yield say(text(original, "subreddit_name_prefixed"), f"by {text(original, 'author') or '[deleted]'}")
        yield _body(original, "selftext", 2)
        yield from _attached({**original, "crosspost_parent_list": []})


def _comments(listing: Any, parent: str, parts: list[SitePart], depth: int) -> int:
    """Append the comments of a listing, and return how many it only counts."""
    hidden = 0
    for row in rows(listing, "data.children") if isinstance(listing, dict) else ():
        comment = row.get("data")
        if not isinstance(comment, dict):
            continue
        if row.get("kind") == "more" or depth >= _MAX_DEPTH:
            count = comment.get("count")
            hidden += count if isinstance(count, int) and count > 0 else 1
            continue
        author = text(comment, "author") or "[deleted]"
        to = f" to {parent}" if parent else ""
        parts += [
            heading(3, f"{author}{to}, {day(comment.get('created_utc'))}, score {text(comment, 'score')}"),
            _body(comment, "body", 3),
        ]
        hidden += _comments(comment.get("replies"), author, parts, depth + 1)
    return hidden


def _body(entry: dict[str, Any], name: str, below: int) -> SitePart:
    rendered = entry.get(f"{name}_html")
    if isinstance(rendered, str):
        return html(rendered, below=below)
    return markdown(str(entry.get(name) or ""), below=below)


REDDIT: Final = SiteSpec(
    name="reddit",
    hosts=("reddit.com", "*.reddit.com", "redd.it", "www.redd.it"),
    requests=10,  # https://support.reddithelp.com/hc/en-us/articles/16160319875092
    seconds=60.0,
    routes=(
        *(
            route(f"/{{where}}comments/{{id}}{more}{{form}}", post, where=_WHERE, id=_ID, comment=_ID, form=_FORM)
            for more in ("/{slug}/{comment}", "/{slug}", "")
        ),
        route("/{kind}/{id}", post, kind="gallery|tb", id=_ID),
        route("redd.it/{id}", post, id=_ID),
    ),
)


def question(page: PageAddress) -> Steps:
    """Read a question with its answers, the one first whose number is in the address."""
    if page.url.host.partition(".")[0] in _NO_SITES:
        return None
    params = {"site": page.url.host.removeprefix("www."), "filter": "withbody"}
    number, linked = page["id"], list[dict[str, Any]]()
    if page["answer"]:
        what = "the linked answer" if number else ""
        url = f"{_STACK_EXCHANGE}/answers/{page['answer']}"
        (response,) = yield (SiteRequest(url=url, params=params, optional=what),)
        number = number or str(need(_first(response), "question_id", kind=int))
        linked = [row for row in rows_or_none(response, "items")[:1] if text(row, "question_id") in {"", number}]
    best = {**params, "order": "desc", "sort": "votes", "pagesize": str(_MAX_ANSWERS)}
    question_response, answers_response = yield (
        SiteRequest(url=f"{_STACK_EXCHANGE}/questions/{number}", params=params),
        SiteRequest(url=f"{_STACK_EXCHANGE}/questions/{number}/answers", params=best, optional="answers"),
    )
    question_row = _first(question_response)
    title = unescape(need(question_row, "title"))
    answers = rows(answers_response, "items") if answers_response is not None else []
    answers.sort(key=lambda row: (row.get("is_accepted") is not True, -(number_or_none(row.get("score")) or 0)))
    answers = linked + [row for row in answers if not linked or text(row, "answer_id") != page["answer"]]
    count = question_row.get("answer_count")
    parts = [
        heading(1, title),
        say(
            f"asked by {_who(question_row)} on {day(question_row.get('creation_date'))}",
            f"score {text(question_row, 'score')}",
            f"{count} answers" if isinstance(count, int) else "",
            f"tags: {', '.join(map(str, question_row.get('tags') or ()))}",
            f"closed: {text(question_row, 'closed_reason')}" if question_row.get("closed_reason") else "",
        ),
        html(need(question_row, "body"), below=1),
    ]
    for row in answers:
        parts += _answer(row, linked=row in linked)
    limit_note = f"the {'linked and the ' * len(linked)}best {len(answers) - len(linked)} of {count} answers are read"
    missing = [limit_note] if isinstance(count, int) and answers_response is not None and count > len(answers) else []
    return SiteContent(
        title=title,
        url=text(question_row, "link"),
        published=day(question_row.get("creation_date")),
        modified=day(question_row.get("last_edit_date")),
        parts=parts,
        missing=missing,
        warnings=("comments are not part of the text",),
    )


def _answer(row: dict[str, Any], *, linked: bool) -> list[SitePart]:
    kind = ("Accepted answer" if row.get("is_accepted") is True else "Answer") + " (linked)" * linked
    edited = day(row.get("last_edit_date"))
    return [
        heading(2, f"{kind} by {_who(row)}"),
        say(f"score {text(row, 'score')}", day(row.get("creation_date")), f"edited {edited}" if edited else ""),
        html(need(row, "body"), below=2),
    ]


def _who(row: dict[str, Any]) -> str:
    return unescape(text(row, "owner.display_name")) or "a deleted account"


def _first(response: Any) -> dict[str, Any]:
    items = rows(response, "items")
    if not items:
        raise NotAvailable("the API has no such question")
    return items[0]


_HOSTS: Final = (
    *("stackoverflow.com", "*.stackoverflow.com", "*.stackexchange.com", "stackapps.com", "serverfault.com"),
    *("superuser.com", "askubuntu.com", "mathoverflow.net", "meta.serverfault.com", "meta.superuser.com"),
    *("meta.askubuntu.com", "meta.mathoverflow.net"),
)
STACK_EXCHANGE: Final = SiteSpec(
    name="stackexchange",
    hosts=(*_HOSTS, *(f"www.{host}" for host in _HOSTS if host[0] != "*")),
    requests=300,  # https://api.stackexchange.com/docs/throttle
    seconds=86_400.0,
    routes=(
        route("/{kind}/{id}", question, kind="questions|q", id=_NUMBER),
        route("/questions/{id}/{slug}/{answer}", question, id=_NUMBER, answer=_NUMBER),
        route("/{kind}/{id}/{rest}", question, kind="questions|q", id=_NUMBER, rest="[^/]{1,500}"),
        route("/a/{answer}", question, answer=_NUMBER),
        route("/a/{answer}/{user}", question, answer=_NUMBER),
    ),
)
