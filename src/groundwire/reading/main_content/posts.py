"""The posts of a forum: who wrote each and when, and whether it is a question, an answer, or a comment."""

from __future__ import annotations

import re
from collections.abc import Iterator, Sequence
from itertools import compress
from types import MappingProxyType
from typing import Final

from turbohtml import Element, Text

from groundwire.reading.main_content.blocks import Layout
from groundwire.reading.main_content.classifier import KINDS
from groundwire.reading.main_content.page_blocks import PageBlocks
from groundwire.reading.main_content.page_parts import BYLINE, CONTROLS, MOST_OF_IT, VERBATIM, WHEN, named

__all__ = ["label_posts", "post_bylines"]

_WRITER: Final = named(
    "author", r"(?:big)?user-?_?name", r"message-+name", r"poster", r"posted-?by", r"post-?author", "creator",
    r"nick-?name", r"member-?name", r"name-with-attributions", r"\w*authorpane_author", r"crawler-post-meta", "tagline",
    "hnuser",
)  # fmt: skip
_NO_WRITER: Final = re.compile(
    r"(?<![a-z])(?:avatar|signature|\w*stats|\w*title|quote\w*|\w*quote|reactions?\w*|role|badges?|group|rank|buttons?"
    r"|controls|latest|sidebar|related|codeblock\w*)(?![a-z])",
    re.IGNORECASE,
)
_OTHER_TIME: Final = re.compile(
    r"\b(?:join\w*|member since|registered|posts|messages|edited|modified|updated|last|latest|dabei seit|inscrit)\b",
    re.IGNORECASE,
)
_COMMENT: Final = named("comment")
_POST: Final = 40  # characters of a text
_NEAR: Final = 12  # blocks between a post's text and its byline
_MAX_POSTS: Final = 1_000
_FORUM: Final = KINDS.index("forum")


def post_bylines(page: PageBlocks) -> Iterator[int]:
    """Yield who wrote each kept post of a forum, and when, which scores seldom tell from the menus around it.

    A post is the innermost element with the name of a writer and kept text. The time is the last one before that text,
    else the first after it.

    Args:
        page: The page.
    """
    kinds, names, keep = page.verdict.kinds, page.verdict.names, page.keep
    if kinds[_FORUM] < max(kinds):
        return
    parents, owners, texts = page.layout.parents, page.layout.owners, page.layout.texts
    held, firsts, lasts = [0] * len(parents), [len(owners)] * len(parents), [-1] * len(parents)
    for number, (owner, text) in enumerate(zip(owners, texts, strict=True)):
        held[owner] += len(text) if keep[number] and len(text) >= _POST else 0
        firsts[owner], lasts[owner] = min(firsts[owner], number), number
    for element in range(len(parents) - 1, 0, -1):
        parent = parents[element]
        held[parent] += held[element]
        firsts[parent], lasts[parent] = min(firsts[parent], firsts[element]), max(lasts[parent], lasts[element])
    writers = [number for number in range(len(owners)) if _names_writer(page.layout, names, number)][:_MAX_POSTS]
    done = set[int]()
    for number in writers:
        post = owners[number]
        while post and not held[post]:
            post = 0 if _COMMENT.search(names[post]) else parents[post]  # a comment whose text is left out
        if not post or post in done or (held[post] > MOST_OF_IT * held[0] and len(writers) > 1):
            continue
        done.add(post)
        near = range(max(firsts[post], number - _NEAR), min(lasts[post], number + _NEAR) + 1)
        body = next((n for n in near if keep[n] and len(texts[n]) >= _POST), near.stop)
        times = [n for n in near if n != number and _tells_time(texts[n]) and not _labels_other(texts[n - 1])]
        before = [n for n in times if n < body]
        yield number
        if times and page.parts.get("dates", True) and WHEN.search(texts[number]) is None:
            yield before[-1] if before else times[0]


_POST_KINDS: Final = MappingProxyType({"question": "Question", "answer": "Answer", "comment": "Comment"})
_ACCEPTED: Final = re.compile(r"(?<![a-z])accepted-?answer(?![a-z])", re.IGNORECASE)


def label_posts(layout: Layout, names: Sequence[str], kinds: Sequence[float], keep: Sequence[bool]) -> None:
    """Write at each selected post of a forum whether it is a question, an answer, or a comment on one.

    Only where the page marks questions or answers, as schema.org does or by class.

    Args:
        layout: The page, whose elements are modified.
        names: The names of each element.
        kinds: The probability of each of `KINDS`.
        keep: Whether each block is selected.
    """
    if kinds[_FORUM] < max(kinds):
        return
    parents, posts, labels = layout.parents, [0] * len(names), {0: ""}
    for number, name in enumerate(names):
        around = posts[number] = posts[parents[number]]
        if name or layout.elements[number].attr("itemtype"):
            marked = (layout.elements[number].attr("itemtype") or "").rpartition("/")[2].lower()
            classes = (layout.elements[number].attr("class") or "").lower().split()
            label = next((_POST_KINDS[word] for word in (marked, *classes) if word in _POST_KINDS), "")
            if label and not labels[around].lower().endswith(label.lower()):
                label = "Accepted answer" if label == "Answer" and _ACCEPTED.search(name) else label
                posts[number], labels[number] = number, label
    if {"Question", "Answer"}.isdisjoint(labels.values()):
        return
    done = {0}
    for owner in compress(layout.owners, keep):
        if posts[owner] not in done and layout.tags[owner] not in VERBATIM:
            done.add(posts[owner])
            mark = Element("strong", {}, [Text(f"{labels[posts[owner]]}:")])
            layout.elements[owner].insert(0, Text(" "))
            layout.elements[owner].insert(0, mark)


def _names_writer(layout: Layout, names: Sequence[str], number: int) -> bool:
    text, owner = layout.texts[number], layout.owners[number]
    if len(text) > BYLINE or layout.tags[owner] in CONTROLS or not any(map(str.isalpha, text)):
        return False
    around = (names[owner], names[layout.parents[owner]])
    return any(map(_WRITER.search, around)) and not any(map(_NO_WRITER.search, around))


def _tells_time(text: str) -> bool:
    return len(text) <= BYLINE and WHEN.search(text) is not None and _OTHER_TIME.search(text) is None


def _labels_other(text: str) -> bool:
    return _OTHER_TIME.match(text) is not None and not any(map(str.isdigit, text))
