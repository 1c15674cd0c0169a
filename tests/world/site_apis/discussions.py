"""Sites of questions and comments: Stack Exchange (API 2.3), Hacker News (API of its search), and Reddit (.json)."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any, ClassVar

from groundwire.testing.http_messages import EmulatedResponse
from world.site_apis import HIDDEN, SiteApi


class StackExchange(SiteApi):
    """The sites of Stack Exchange with one question; see `SiteApi`.

    Attributes:
        quota_remaining: What is left of the day's 300 requests.
        backoff: Seconds that the API asks to wait, 0 for none.
    """

    name_of_site: ClassVar[str] = "stackexchange"
    public_hosts: ClassVar[tuple[str, ...]] = (
        "stackoverflow.com",
        "dba.stackexchange.com",
        "api.stackexchange.com",
    )
    articles: ClassVar[Mapping[str, str]] = {
        "/questions/4711/why-is-a-lamp-dark": (
            '<h1>Why is a lamp "dark" after 2.1?</h1><p>My red lamp is dark.</p><pre><code>light(1)</code></pre>'
            "<h2>3 answers</h2><p>Turn it <em>off and on</em>.</p><p>by Bo</p>"
            "<p>Replace the <a href=/q/9>fuse</a>: it has to be one of 5 A.</p><p>by Cy</p>"
        )
    }
    routes: ClassVar[Mapping[str, str]] = {
        r"/2\.3/questions/(?P<number>\d+)\?.*": "question",
        r"/2\.3/questions/(?P<number>\d+)/answers\?.*": "answers",
        r"/2\.3/answers/(?P<number>\d+)\?.*": "answer",
    }

    def __init__(self) -> None:
        super().__init__()
        self.quota_remaining = 290
        self.backoff = 0

    def refusal(self) -> EmulatedResponse:
        """Return a throttle violation, which comes with status 400."""
        words = "too many requests from this IP, more requests available in 120 seconds"
        return self.json({"error_id": 502, "error_message": words, "error_name": "throttle_violation"}, status=400)

    def _wrapped(self, items: list[dict[str, Any]]) -> EmulatedResponse:
        more = {"backoff": self.backoff} if self.backoff else {}
        if self.request.query.get("filter") != "withbody":
            items = [{key: value for key, value in item.items() if key != "body"} for item in items]
        left = self.quota_remaining
        return self.json({"items": items, "has_more": False, **more, "quota_max": 300, "quota_remaining": left})

    def question(self, number: str) -> EmulatedResponse:
        """Return the question."""
        if number not in {"4711", "4799"}:
            return self._wrapped([])
        closed = {"closed_reason": "Duplicate", "closed_date": 1_789_000_000} if number == "4799" else {}
        return self._wrapped(
            [
                {
                    "tags": ["lamps", "wiring"],
                    "owner": {"user_id": 1, "display_name": "Ada V&#246;ss", "user_type": "registered"},
                    "is_answered": True,
                    "accepted_answer_id": 4713,
                    "view_count": 90,
                    "answer_count": 3 if number == "4711" else 45,
                    "score": 17,
                    "creation_date": 1_788_000_000,
                    "last_edit_date": 1_789_000_000,
                    "question_id": int(number),
                    "link": f"https://stackoverflow.com/questions/{number}/why-is-a-lamp-dark",
                    "title": "Why is a lamp &quot;dark&quot; after 2.1?",
                    **closed,
                    "body": f"<p>My red lamp is dark.</p><p hidden>{HIDDEN}</p>\n<pre><code>light(1)\n</code></pre>",
                }
            ]
        )

    def answers(self, number: str) -> EmulatedResponse:
        """Return the answers, best score first: as many as are asked for."""
        if number == "4799":
            room = int(self.request.query["pagesize"])
            return self._wrapped([self._many(identifier) for identifier in range(5_045, 5_000, -1)][:room])
        written = (
            (4712, 40, False, "Bo", "<p>Turn it <em>off and on</em>.</p>"),
            (4713, 12, True, "Cy", '<p>Replace the <a href="/q/9">fuse</a>: it has to be one of 5&nbsp;A.</p>'),
            (4714, -2, False, "Di", f"<p>Buy a new one.</p><!-- {HIDDEN} -->"),
        )
        return self._wrapped(
            [
                {
                    "owner": {"user_id": 2, "display_name": name},
                    "is_accepted": accepted,
                    "score": score,
                    "creation_date": 1_788_100_000,
                    "answer_id": identifier,
                    "question_id": int(number),
                    "body": body,
                }
                for identifier, score, accepted, name, body in written
            ]
        )

    def answer(self, number: str) -> EmulatedResponse:
        """Return one answer."""
        if number == "4713":
            about = {"answer_id": 4713, "question_id": 4711, "is_accepted": True, "score": 12}
            return self._wrapped([{**about, "owner": {"display_name": "Cy"}, "body": "<p>Replace the fuse.</p>"}])
        return self._wrapped([self._many(int(number))] if number.startswith("50") else [])

    def _many(self, identifier: int) -> dict[str, Any]:
        """Return one of the 45 answers of a question, whose score is the end of its number."""
        about = {"answer_id": identifier, "question_id": 4799, "creation_date": 1_788_100_000}
        owner = {"user_type": "does_not_exist", "display_name": "user3"}
        body = f"<p>Answer {identifier} shows this:</p><p><img src=x.png alt='the lamp with its cover taken off'></p>"
        return {**about, "owner": owner, "is_accepted": False, "score": identifier - 5_000, "body": body}


def _comment(identifier: int, author: str, text: str, *children: dict[str, Any]) -> dict[str, Any]:
    return {
        "id": identifier,
        "created_at": f"2026-10-0{identifier % 10}T10:00:00.000Z",
        "type": "comment",
        "author": author,
        "title": None,
        "url": None,
        "text": text,
        "points": None,
        "parent_id": 100,
        "story_id": 100,
        "children": list(children),
    }


class HackerNews(SiteApi):
    """Hacker News with one story; see `SiteApi`."""

    name_of_site: ClassVar[str] = "hackernews"
    public_hosts: ClassVar[tuple[str, ...]] = ("news.ycombinator.com", "hn.algolia.com")
    routes: ClassVar[Mapping[str, str]] = {r"/api/v1/items/(?P<number>\d+)": "item"}

    def item(self, number: str) -> EmulatedResponse:
        """Return a story with the tree of its comments."""
        reply = _comment(102, "cy", "<p>It was the fuse.<p>Really.")
        story = {
            "id": 100,
            "created_at": "2026-10-01T09:00:00.000Z",
            "type": "story",
            "author": "ada",
            "title": "Show HN: Lantern keeps the lights of a harbor",
            "url": "https://lantern.example/news",
            "text": None,
            "points": 77,
            "parent_id": None,
            "story_id": 100,
            "children": [
                _comment(101, "bo", f'Nice. Why is it <i>red</i>? <span style="display:none">{HIDDEN}</span>', reply),
                _comment(103, "di", 'See <a href="https://lantern.example/docs" rel="nofollow">the docs</a>.'),
            ],
        }
        empty = {**story, "author": None, "title": None, "url": None, "points": None}
        options = [
            {"id": 201, "type": "pollopt", "text": "Oil &amp; <i>wick</i>", "points": 12},
            {"id": 202, "text": "Gas"},
        ]
        poll = {**story, "id": 104, "story_id": 104, "title": "Poll: which lamp?", "url": None, "options": options}
        gone = {**empty, "id": 105, "type": "comment", "parent_id": 100, "children": [reply]}
        nothing = {**empty, "id": 106, "type": "comment", "parent_id": 100, "children": []}
        numbers = {"100": story, "102": reply, "104": poll, "105": gone, "106": nothing}
        found = numbers.get(number)
        return self.json(found) if found else self.json({"status": 404, "error": "Not Found"}, status=404)


class Reddit(SiteApi):
    """Reddit with one post; see `SiteApi`."""

    name_of_site: ClassVar[str] = "reddit"
    public_hosts: ClassVar[tuple[str, ...]] = ("www.reddit.com", "old.reddit.com", "redd.it")
    routes: ClassVar[Mapping[str, str]] = {r"/comments/(?P<number>\w+)\.json\?.*": "post"}

    def refusal(self) -> EmulatedResponse:
        """Return what clients get that Reddit does not want."""
        return EmulatedResponse.html("<!doctype html><title>Blocked</title><h1>whoa there, pardner!</h1>", status=403)

    def post(self, number: str) -> EmulatedResponse:
        """Return a post and its comments."""
        if number == "private":
            left = {"x-ratelimit-remaining": "9322.0", "x-ratelimit-used": "1", "x-ratelimit-reset": "60"}
            return self.json({"reason": "private", "message": "Forbidden", "error": 403}, status=403, headers=left)
        if number not in {"1lamp", "2lamp"}:
            return self.json({"message": "Not Found", "error": 404}, status=404)
        post: dict[str, Any] = {
            "title": "My lamp is dark again",
            "author": "ada_voss",
            "subreddit_name_prefixed": "r/harbors",
            "selftext": "The *third* time.",
            "selftext_html": f'<!-- SC_OFF --><div class="md"><p>The <em>third</em> time.</p></div><!-- {HIDDEN} -->',
            "permalink": "/r/harbors/comments/1lamp/my_lamp_is_dark_again/",
            "url": "https://www.reddit.com/r/harbors/comments/1lamp/my_lamp_is_dark_again/",
            "is_self": True,
            "score": 31,
            "num_comments": 6,
            "created_utc": 1_790_000_000.0,
            "link_flair_text": "Help",
        }
        if number == "2lamp":
            repeated = {key: post[key] for key in ("title", "author", "selftext", "selftext_html")}
            gallery = {"items": [{"media_id": "m1", "id": 1, "caption": "The red one"}, {"media_id": "m2", "id": 2}]}
            poll = {"options": [{"id": "1", "text": "Oil", "vote_count": 10}, {"id": "2", "text": "Gas"}]}
            post |= {"title": "Look at this", "author": "[deleted]", "selftext": "", "selftext_html": None}
            post |= {"gallery_data": gallery, "poll_data": poll, "crosspost_parent_list": [repeated]}
        reply = {"kind": "t1", "data": self._said("cy", "It is the fuse. It is always the fuse.", 40, "")}
        more = {"kind": "more", "data": {"count": 4, "children": ["a", "b", "c", "d"]}}
        first = {"kind": "t1", "data": self._said("bo", "Have you tried turning it off?", 12, _listing(reply, more))}
        return self.json([_listing({"kind": "t3", "data": post}), _listing(first)])

    def _said(self, author: str, text: str, score: int, replies: object) -> dict[str, Any]:
        html = f'<div class="md"><p>{text}</p>\n</div>'
        said = {"author": author, "body": text, "body_html": html, "score": score, "replies": replies}
        return {**said, "created_utc": 1_790_010_000.0}


def _listing(*children: dict[str, Any]) -> dict[str, Any]:
    return {"kind": "Listing", "data": {"after": None, "dist": None, "children": list(children)}}
