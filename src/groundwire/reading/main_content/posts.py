"""The posts of a forum: who wrote each and when, and whether it is a question, an answer, or a comment."""

from __future__ import annotations

import re
from collections.abc import Callable, Iterable, Iterator, Sequence
from functools import cache
from itertools import compress
from types import MappingProxyType
from typing import Final

from turbohtml import Element, Text

from groundwire.reading.main_content.blocks import Layout
from groundwire.reading.main_content.classifier import KINDS
from groundwire.reading.main_content.page_blocks import PageBlocks, sums_of
from groundwire.reading.main_content.page_parts import (
    BYLINE,
    CONTROLS,
    MOST_OF_IT,
    VERBATIM,
    WHEN,
    named,
    names_around,
)

_WRITER: Final = named(
    "author", r"(?<!\w)\w*user-?_?name", r"message-+name", r"poster", r"posted-?by", r"post-?author", "creator",
    r"nick-?name", r"member-?name", r"name-with-attributions", r"(?<!\w)\w*authorpane_author", "author-?wrap",
    "crawler-post-meta", "tagline", "user-?text", "postmenu", "post-header", "hnuser",
)  # fmt: skip
_NO_WRITER: Final = re.compile(
    r"(?<![a-z])(?:avatar|signature|(?<!\w)\w*stats|(?<!\w)\w*title|quote\w*|(?<!\w)\w*quote|reactions?\w*|role"
    r"|badges?|group|rank|buttons?|controls|latest|sidebar|related|codeblock\w*)(?![a-z])",
    re.IGNORECASE,
)
_OTHER_TIME: Final = re.compile(
    r"\b(?:join\w*|member since|registered|posts|messages|edited|modified|updated|last|latest|dabei seit|inscrit)\b",
    re.IGNORECASE,
)
_COMMENT: Final = named("comment")
_MIN_TEXT: Final = 40  # characters of a text
_MAX_DISTANCE: Final = 12  # blocks between a post's text and its byline
_LINES_ABOVE: Final = 3  # blocks between a line with the time and the post
_MAX_POSTS: Final = 1_000
_FORUM: Final = KINDS.index("forum")


def post_bylines(page: PageBlocks) -> Iterator[int]:
    """Yield who wrote each kept post of a forum, and when, which scores seldom tell from the menus around it.

    A post is the innermost element with the name of a writer and kept text.

    Args:
        page: The page.
    """
    layout, names = page.layout, page.verdict.names
    if not _is_forum(page.verdict.kinds):
        return
    writers = _writers(page)[:_MAX_POSTS]
    writer_counts = sums_of(layout, map(set(writers).__contains__, range(len(layout.owners))))
    sizes = sums_of(layout, _kept_sizes(page))
    firsts, lasts = _spans(layout)
    posts = {0}
    for number in writers:
        post = _post_around(layout.owners[number], layout, names, sizes)
        if post in posts or (sizes[post] > MOST_OF_IT * sizes[0] and writer_counts[post] > 1):
            continue
        posts.add(post)
        yield number
        if page.parts.get("dates", True) and WHEN.search(layout.texts[number]) is None:
            yield from _post_time(page, number, firsts[post], lasts[post])


def _is_forum(kinds: Sequence[float]) -> bool:
    return kinds[_FORUM] >= max(kinds)


def _kept_sizes(page: PageBlocks) -> Iterator[int]:
    """Yield the characters of each block that is a kept text, and 0 for the others."""
    for text, is_kept in zip(page.layout.texts, page.keep, strict=True):
        yield len(text) if is_kept and len(text) >= _MIN_TEXT else 0


def _spans(layout: Layout) -> tuple[list[int], list[int]]:
    """Return the first and the last block in each element."""
    parents, owners = layout.parents, layout.owners
    firsts, lasts = [len(owners)] * len(parents), [-1] * len(parents)
    for number, owner in enumerate(owners):
        firsts[owner], lasts[owner] = min(firsts[owner], number), number
    for element in range(len(parents) - 1, 0, -1):
        parent = parents[element]
        firsts[parent], lasts[parent] = min(firsts[parent], firsts[element]), max(lasts[parent], lasts[element])
    return firsts, lasts


def _post_around(element: int, layout: Layout, names: Sequence[str], sizes: Sequence[int]) -> int:
    """Return the innermost element with kept text around one; 0 for none, or for a comment whose text is left out."""
    while element and not sizes[element]:
        element = 0 if _COMMENT.search(names[element]) else layout.parents[element]
    return element


def _post_time(page: PageBlocks, writer: int, first: int, last: int) -> Iterator[int]:
    """Yield the line with the time of a post: the last one before its text, else the first after it.

    Args:
        page: The page.
        writer: The line with the name of its writer.
        first: The first block of the post.
        last: The last one.
    """
    texts = page.layout.texts
    near = range(max(first, writer - _MAX_DISTANCE), min(last, writer + _MAX_DISTANCE) + 1)
    body = next((n for n in near if page.keep[n] and len(texts[n]) >= _MIN_TEXT), near.stop)
    times = [n for n in near if n != writer and _tells_time(texts[n]) and not (n and _labels_other(texts[n - 1]))]
    if not times:  # in a line above, as in tables
        times = [n for n in range(max(0, first - _LINES_ABOVE), first) if _tells_time(texts[n])]
    if times:
        yield max((n for n in times if n < body), default=times[0])


_DIGITS: Final = re.compile(r"\d+")
_SHORT_POST: Final = 600
"""The characters up to which a post is kept for its place; scores tell longer text. Without a limit, reviewed forums,
of which some have the first posts only, are .004 worse."""
_ONE_EACH: Final = 0.8  # share of the texts that have a writer of their own
_OF_OTHERS: Final = frozenset({"blockquote", "aside"})
_QUOTE: Final = named(r"(?:ips)?quote(?:box|block|title|content|author|header|d)?", "onebox", "signature")
_COVERS: Final = 0.9  # share of the most kept text that elements of one shape hold


def post_texts(page: PageBlocks) -> Iterator[int]:
    """Yield the text of each post of a forum, which stands where the kept text of the others does.

    Scores leave out short posts, and what looks unlike prose.

    Args:
        page: The page.
    """
    layout, names = page.layout, page.verdict.names
    if not _is_forum(page.verdict.kinds):
        return
    tags, owners = layout.tags, layout.owners
    sizes = sums_of(layout, map(len, layout.texts))
    inside = [False] * len(tags)
    for element in _post_bodies(page, sizes):
        inside[element] = sizes[element] <= _SHORT_POST
    for element in range(1, len(tags)):
        if inside[layout.parents[element]] and tags[element] not in _OF_OTHERS:
            inside[element] = inside[element] or _QUOTE.search(names[element]) is None
    yield from (number for number, owner in enumerate(owners) if inside[owner] and tags[owner] not in CONTROLS)


def _post_bodies(page: PageBlocks, sizes: Sequence[int]) -> list[int]:
    """Return the elements with the texts of the posts.

    They have the same shape, each belongs to one writer, and of all such they are the smallest with almost all of the
    kept text.

    Args:
        page: The page.
        sizes: The characters in each element.
    """
    layout, names = page.layout, page.verdict.names
    writers = sums_of(layout, map(set(_writers(page)).__contains__, range(len(layout.owners))))
    kept_sizes = sums_of(layout, _kept_sizes(page))
    posts = list(range(len(writers)))  # the innermost element with a writer around each
    for element in range(1, len(posts)):
        posts[element] = element if writers[element] else posts[layout.parents[element]]
    texts = [element for element in range(1, len(writers)) if sizes[element] and not writers[element]]
    candidates = list[tuple[int, int, list[int]]]()
    for alike in _shapes(texts, layout, names):
        covered, size = sum(kept_sizes[element] for element in alike), sum(sizes[element] for element in alike)
        is_kept = 2 * covered >= size or 4 * sum(kept_sizes[element] > 0 for element in alike) >= len(alike)
        if is_kept and covered and len({posts[element] for element in alike}) >= max(2, _ONE_EACH * len(alike)):
            candidates.append((covered, size, alike))
    least = _COVERS * max((covered for covered, _, _ in candidates), default=0)
    rows = (row for row in candidates if row[0] >= least)
    return min(rows, key=lambda row: row[1], default=(0, 0, []))[2]


def _shapes(elements: Iterable[int], layout: Layout, names: Sequence[str]) -> Iterable[list[int]]:
    """Return elements in groups of the same tag and names, but for numbers; without names, of the same parents, too."""
    shapes = dict[tuple[str, ...], list[int]]()
    for element in elements:
        tag, name, parent = layout.tags[element], _DIGITS.sub("", names[element]), layout.parents[element]
        shape = (tag, name) if name else (tag, name, layout.tags[parent], names[parent])
        shapes.setdefault(shape, []).append(element)
    return shapes.values()


_MIN_STORY: Final = 12  # characters of a title


def story_link(page: PageBlocks) -> Iterator[int]:
    """Yield the link to what a page discusses, which has the words of its title, and who posted it when.

    Args:
        page: The page.
    """
    layout, title = page.layout, page.layout.title.casefold()
    site = _site(layout.url)
    for number, pieces in layout.targets.items():
        if not title.startswith(layout.texts[number][0].casefold()):  # most links
            continue
        text, (link, size), below = layout.texts[number].casefold(), pieces[0], number + 1
        is_title = _MIN_STORY <= len(text) <= size + 40 and title.startswith(text[:size])
        if is_title and _site(layout.hrefs[link]) not in ("", site):
            yield number
            if below < len(layout.texts) and _tells_time(layout.texts[below]):
                yield below
            return


def _site(address: str) -> str:
    """Return the host of an address; empty for a relative one. No text raises: a page's links may be malformed."""
    return address.partition("://")[2].partition("/")[0].lower()


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
    if not _is_forum(kinds):
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


def _writers(page: PageBlocks) -> list[int]:
    """Return the blocks that name a writer, which are looked for once."""
    if page.writers is None:
        called = cache(_called_writer)  # most names are those of many elements
        page.writers = [number for number in range(len(page.keep)) if _names_writer(page, number, called)]
    return page.writers


def _called_writer(name: str) -> bool | None:
    """Return whether a name is that of a writer; None if it is that of something beside one."""
    return None if _NO_WRITER.search(name) else _WRITER.search(name) is not None


def _names_writer(page: PageBlocks, number: int, called: Callable[[str], bool | None]) -> bool:
    layout = page.layout
    text, owner = layout.texts[number], layout.owners[number]
    is_line = len(text) <= BYLINE or (len(text) <= 2 * BYLINE and WHEN.search(text) is not None)
    if not is_line or text.startswith("@") or layout.tags[owner] in CONTROLS or not any(map(str.isalpha, text)):
        return False  # what begins with @ speaks to somebody
    answers = set(map(called, names_around(layout, page.verdict.names, number, 1)))
    return True in answers and None not in answers


def _tells_time(text: str) -> bool:
    return len(text) <= BYLINE and WHEN.search(text) is not None and _OTHER_TIME.search(text) is None


def _labels_other(text: str) -> bool:
    return _OTHER_TIME.match(text) is not None and not any(map(str.isdigit, text))
