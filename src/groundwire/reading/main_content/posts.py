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
from groundwire.reading.main_content.page_parts import (
    BYLINE,
    CONTROLS,
    MOST_OF_IT,
    VERBATIM,
    WHEN,
    named,
    names_around,
)

__all__ = ["label_posts", "post_bylines", "post_texts", "story_link"]

_WRITER: Final = named(
    "author", r"\w*user-?_?name", r"message-+name", r"poster", r"posted-?by", r"post-?author", "creator",
    r"nick-?name", r"member-?name", r"name-with-attributions", r"\w*authorpane_author", "author-?wrap",
    "crawler-post-meta", "tagline", "user-?text", "postmenu", "post-header", "hnuser",
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
_ABOVE: Final = 3  # blocks between a line with the time and the post
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
    writers = [number for number in range(len(owners)) if _names_writer(page.layout, names, number)][:_MAX_POSTS]
    written = [0] * len(parents)
    for number in writers:
        written[owners[number]] += 1
    for number, (owner, text) in enumerate(zip(owners, texts, strict=True)):
        held[owner] += len(text) if keep[number] and len(text) >= _POST else 0
        firsts[owner], lasts[owner] = min(firsts[owner], number), number
    for element in range(len(parents) - 1, 0, -1):
        parent = parents[element]
        held[parent] += held[element]
        written[parent] += written[element]
        firsts[parent], lasts[parent] = min(firsts[parent], firsts[element]), max(lasts[parent], lasts[element])
    done = set[int]()
    for number in writers:
        post = owners[number]
        while post and not held[post]:
            post = 0 if _COMMENT.search(names[post]) else parents[post]  # a comment whose text is left out
        if not post or post in done or (held[post] > MOST_OF_IT * held[0] and written[post] > 1):
            continue
        done.add(post)
        near = range(max(firsts[post], number - _NEAR), min(lasts[post], number + _NEAR) + 1)
        body = next((n for n in near if keep[n] and len(texts[n]) >= _POST), near.stop)
        times = [n for n in near if n != number and _tells_time(texts[n]) and not _labels_other(texts[n - 1])]
        if not times:  # in a line above, as in tables
            times = [n for n in range(max(0, firsts[post] - _ABOVE), firsts[post]) if _tells_time(texts[n])]
        before = [n for n in times if n < body]
        yield number
        if times and page.parts.get("dates", True) and WHEN.search(texts[number]) is None:
            yield before[-1] if before else times[0]


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

    Scores leave out short posts, and what looks unlike prose. The elements with the texts have the same names, each
    belongs to one writer, and of all such they are the smallest with almost all of the kept text.

    Args:
        page: The page.
    """
    kinds, names, keep = page.verdict.kinds, page.verdict.names, page.keep
    if kinds[_FORUM] < max(kinds):
        return
    tags, parents, owners, texts = page.layout.tags, page.layout.parents, page.layout.owners, page.layout.texts
    total, kept, written = [0] * len(parents), [0] * len(parents), [0] * len(parents)
    for number, owner in enumerate(owners):
        size = len(texts[number])
        total[owner] += size
        kept[owner] += size if keep[number] and size >= _POST else 0
        written[owner] += _names_writer(page.layout, names, number)
    for element in range(len(parents) - 1, 0, -1):
        for sums in (total, kept, written):
            sums[parents[element]] += sums[element]
    posts, shapes = list(range(len(parents))), dict[tuple[str, ...], list[int]]()
    for element in range(1, len(parents)):
        parent = parents[element]
        posts[element] = element if written[element] else posts[parent]
        if total[element] and not written[element]:
            name = _DIGITS.sub("", names[element])
            shape = (tags[element], name) if name else (tags[element], name, tags[parent], names[parent])
            shapes.setdefault(shape, []).append(element)
    found = list[tuple[int, int, list[int]]]()
    for alike in shapes.values():
        covered, size = sum(kept[element] for element in alike), sum(total[element] for element in alike)
        is_kept = 2 * covered >= size or 4 * sum(kept[element] > 0 for element in alike) >= len(alike)
        if is_kept and covered and len({posts[element] for element in alike}) >= max(2, _ONE_EACH * len(alike)):
            found.append((covered, size, alike))
    most = max((covered for covered, _, _ in found), default=0)
    _, _, best = min((row for row in found if row[0] >= _COVERS * most), key=lambda row: row[1], default=(0, 0, []))
    inside = [False] * len(parents)
    for element in best:
        inside[element] = total[element] <= _SHORT_POST
    for element in range(1, len(parents)):
        is_other = tags[element] in _OF_OTHERS or _QUOTE.search(names[element]) is not None
        inside[element] = inside[element] or (inside[parents[element]] and not is_other)
    yield from (number for number, owner in enumerate(owners) if inside[owner] and tags[owner] not in CONTROLS)


_STORY: Final = 12  # characters of a title


def story_link(page: PageBlocks) -> Iterator[int]:
    """Yield the link to what a page discusses, which has the words of its title, and who posted it when.

    Args:
        page: The page.
    """
    layout, title = page.layout, page.layout.title.casefold()
    site = _site(layout.url)
    for number, pieces in layout.targets.items():
        text, (link, size), below = layout.texts[number].casefold(), pieces[0], number + 1
        leads_away = _site(layout.hrefs[link]) not in ("", site)
        if leads_away and _STORY <= len(text) <= size + 40 and title[:_STORY] and title.startswith(text[:size]):
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
    is_line = len(text) <= BYLINE or (len(text) <= 2 * BYLINE and WHEN.search(text) is not None)
    if not is_line or text.startswith("@") or layout.tags[owner] in CONTROLS or not any(map(str.isalpha, text)):
        return False  # what begins with @ speaks to somebody
    around = names_around(layout, names, number, 1)
    return any(map(_WRITER.search, around)) and not any(map(_NO_WRITER.search, around))


def _tells_time(text: str) -> bool:
    return len(text) <= BYLINE and WHEN.search(text) is not None and _OTHER_TIME.search(text) is None


def _labels_other(text: str) -> bool:
    return _OTHER_TIME.match(text) is not None and not any(map(str.isdigit, text))
