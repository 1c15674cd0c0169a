"""Parsing, and what a page says by other means than its tags: roles, boxes, tasks, streamed parts.

Source: WAI-ARIA 1.2, section 5.4 (https://www.w3.org/TR/wai-aria-1.2/#role_definitions).
"""

from __future__ import annotations

import re
from collections.abc import Iterable, Iterator, Mapping
from itertools import islice
from typing import Final

from turbohtml import Comment, Document, Element, Node, Text, parse

_CONDITION: Final = re.compile(r"<!--\[if[^>\]]{0,200}\](?:>(?:<!-->)?)?|<!\[endif\](?:-->)?", re.IGNORECASE)
_EMPTY_FRAME: Final = re.compile(r"(<iframe\b[^<>]{0,2000})/>(?=\s{0,100}</noscript)", re.IGNORECASE)
_MIN_FALLBACK: Final = 250  # characters; shorter text for browsers without scripts is a request to enable them
_MAX_SHELL: Final = 200  # characters of a page that waits for its script


def parse_page(markup: str, *, opened: bool = False) -> Document:
    """Parse a page; `groundwire.reading.visibility.visible.drop_unseen` is the next step.

    A frame in `noscript` that ends in `/>` is closed: browsers with scripts do not parse it, but for a parser without
    them the rest of the page would be inside. Hidden content normally stays hidden: comments are opened only if there
    is no other text.

    Args:
        markup: The page's HTML.
        opened: Whether `fallbacks` are shown.
    """
    document = _parse(markup)
    if any("</noscript" in frame.text.lower() for frame in document.find_all("iframe")):
        markup = _EMPTY_FRAME.sub(r"\1></iframe>", markup)
        document = _parse(markup)
    if not _has_text(document) and "<!--[if" in markup:
        document = _parse(mend_comments(markup))
    for element in fallbacks(document) if opened else ():
        element.tag = "div"
    return document


def fallbacks(document: Document) -> list[Element]:
    """Return the elements for browsers without scripts that have more than a request to enable them."""
    return [element for element in document.find_all("noscript") if len(element.text) >= _MIN_FALLBACK]


_MARKS: Final = (
    '[itemprop*="date"], [itemprop="author"], [rel="author"], [itemprop^="recipeI"], [data-cfemail], [aria-busy="true"]'
)


def marked_elements(document: Document) -> list[Element]:
    """Return the elements that are marked as dates, authors, parts of recipes, hidden addresses, or waiting boxes.

    Few are: searching a page is what takes time, so it is done once for all of these.

    Args:
        document: The page.
    """
    return document.select(_MARKS)


def _parse(markup: str) -> Document:
    """Parse markup, without the lines and columns of elements, which take a tenth of the time."""
    return parse(markup, allow_declarative_shadow_roots=False, positions=False)


def mend_comments(markup: str) -> str:
    """Remove the markers of conditional comments (`<!--[if gte IE 9]>` and `<![endif]-->`).

    An unclosed one hides what follows; a parser treats the rest of the page as a comment.

    Args:
        markup: The page's HTML.
    """
    return _CONDITION.sub("", markup)


def _has_text(document: Document) -> bool:
    body = document.find("body")
    return body is not None and any(not text.isspace() for text in body.strings)


_TAG_OF_ROLE: Final[Mapping[str, str]] = {
    "table": "table", "grid": "table", "treegrid": "table", "rowgroup": "tbody", "row": "tr", "cell": "td",
    "gridcell": "td", "columnheader": "th", "rowheader": "th", "list": "ul", "listitem": "li",
}  # fmt: skip
_NEUTRAL_TAGS: Final = frozenset({"div", "span", "p", "section"})
_CONTAINER_ROLES: Final[Mapping[str, str]] = {
    "cell": "row", "gridcell": "row", "columnheader": "row", "rowheader": "row", "listitem": "list"
}  # fmt: skip


def apply_roles(root: Element) -> None:
    """Rename elements with the role of a heading, a list, a table or a part of one to the semantic tag.

    Only elements without their own semantics are renamed, and parts only inside their container.

    Args:
        root: The element to modify.
    """
    for element in root.select("[role]"):
        role = (element.attr("role") or "").strip().lower()
        if element.tag not in _NEUTRAL_TAGS:
            continue
        if role == "heading":
            level = (element.attr("aria-level") or "").strip()
            is_level = level.isascii() and level.isdigit() and len(level) < 3 and int(level) > 0
            element.tag = f"h{min(int(level), 6)}" if is_level else "h2"
        elif role in _TAG_OF_ROLE:
            around = _CONTAINER_ROLES.get(role)
            if around is None or element.closest(f"[role={around}]") is not None:
                element.tag = _TAG_OF_ROLE[role]


_BOXES: Final = re.compile(
    r"(?:^|[\s:_-])(?:(?:flex|grid)(?:-?(?:row|col(?:umn)?|wrap|container|center|between))?|[hv]?stack(?:-root)?)(?=\s|$)"
    r"|display\s*:\s*(?:inline-)?(?:flex|grid)\b",
    re.IGNORECASE,
)
"""The names and styles of flexible boxes and grids in which templates write no white space between the children, as
each is displayed in a box of its own."""


def boxes_of(root: Element) -> frozenset[Element]:
    """Return the elements each child of which is displayed in a box of its own, by their class or style."""
    candidates = root.select("[class*=flex i], [class*=grid i], [class*=stack i], [style*=flex i], [style*=grid i]")
    return frozenset(
        element
        for element in candidates
        if any(_BOXES.search(text) is not None for name in ("class", "style") if (text := element.attr(name)))
    )


def is_labeled(span: Element, classes: str) -> bool:
    """Return whether a `span` is not one word with that before it: a number and its unit, a day and its month.

    Both then have a class, and not the same; the two parts of a word seldom do.

    Args:
        span: The element.
        classes: Its class.
    """
    before, around = span.previous_sibling, span.parent
    if not (isinstance(before, Element) and before.tag == "span" and isinstance(around, Element)):
        return False
    other_classes = before.attr("class")
    return bool(other_classes) and other_classes != classes and around.tag in _LABELED_PARENTS


_LABELED_PARENTS: Final = frozenset({"a", "div", "li", "section", "td"})


def is_source(element: Element) -> bool:
    """Return whether a `cite` names the source of a quotation, at its end."""
    around, after = element.parent, element.next_sibling
    while isinstance(after, Text) and after.data.isspace():
        after = after.next_sibling
    return after is None and isinstance(around, Element) and around.tag == "blockquote"


_TASK: Final = re.compile(r"(?:^|[\s_-])(?:tasks?|to-?do|checklist)(?=[\s_-]|$)", re.IGNORECASE)


def is_task_box(box: Element) -> bool:
    """Return whether an `input` is the checkbox of a task and not a form field.

    That is: a checkbox in a list item that is disabled, or has a corresponding class.

    Args:
        box: An `input` element.
    """
    if (box.attr("type") or "").strip().lower() != "checkbox":
        return False
    item = box.closest("li")
    if item is None:
        return False
    if box.attr("disabled") is not None:
        return True
    named = [node.attr("class") or "" for node in (box, item, item.parent) if isinstance(node, Element)]
    return _TASK.search(" ".join(named)) is not None


_MAX_SPINNER: Final = 200  # nodes of a placeholder


def fill_streamed(document: Document, *, alive: bool) -> None:
    """Move late content streamed by React to where its script would: `<div hidden id="S:0">` for `<template id="B:0">`.

    Without scripts, as on a saved page, that is done only if the page shows almost nothing else. The placeholder there
    (a spinner) is removed, as far as React's markers delimit it. A `<template id="P:0">` stands for itself only: what
    follows it is content.
    """
    places = {
        (place.attr("id") or "")[2:]: place for place in document.select('template[id^="B:"], template[id^="P:"]')
    }
    segments = document.select('div[hidden][id^="S:"]') if places else []
    late = sum(len(segment.text) for segment in topmost(segments)) if not alive else 0
    if late and len(document.text) - late > _MAX_SHELL:
        return
    for segment in segments:
        place = places.pop((segment.attr("id") or "")[2:], None)
        if place is None or place.parent is None or segment in place.ancestors:  # removed with a spinner, perhaps
            continue
        waiting: list[Node] = []
        for node in islice(place.next_siblings, _MAX_SPINNER) if (place.attr("id") or "").startswith("B:") else ():
            if isinstance(node, Comment) and node.data == "/$":
                for spinner in waiting:
                    spinner.extract()
                break
            waiting.append(node)
        children = list(segment.children)
        if children:
            place.insert_before(*children)
        place.extract()
        segment.extract()


def topmost(elements: Iterable[Element]) -> Iterator[Element]:
    """Yield the elements that are not inside another of them, in order; linear, since no path is visited twice."""
    candidates = dict.fromkeys(elements)
    inside: dict[Element, bool] = {}
    for element in candidates:
        path: list[Element] = []
        node = element.parent
        while isinstance(node, Element) and node not in candidates and node not in inside:
            path.append(node)
            node = node.parent
        is_inside = isinstance(node, Element) and (node in candidates or inside[node])
        inside.update(dict.fromkeys(path, is_inside))
        if not is_inside:
            yield element
