"""How much of a page is read: the limits, and what holds a page to them before and after it is parsed.

A page over a limit is read up to it, and the caller says so; nothing is refused and nothing is left out silently.
"""

from __future__ import annotations

import re
from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from itertools import islice
from typing import TYPE_CHECKING, Final

from groundwire.reading.markup import shorten, tokens

if TYPE_CHECKING:
    from turbohtml import Document, Element

__all__ = [
    "HEAVY_BYTES",
    "MAX_DEPTH",
    "MAX_LINKS",
    "MAX_MARKUP",
    "MAX_NODES",
    "MAX_TAGS",
    "fit",
    "is_heavy",
    "trim",
]

MAX_MARKUP: Final = 2_000_000
"""Characters of markup; the largest of 1,497 real pages had 1.2 million."""
MAX_TAGS: Final = 100_000
"""The count of `<`; the largest of 1,497 real pages had 19,444."""
MAX_NODES: Final = 400_000
"""Elements that a tree may get from formatting tags which are never closed: 110 bytes each make 44 MB."""
MAX_DEPTH: Final = 512
"""Elements inside each other; where Chromium stops nesting, too (kMaximumHTMLParserDOMTreeDepth)."""
MAX_LINKS: Final = 10_000
"""Links that keep their targets; of 300 real pages, the fullest had 1,562."""
HEAVY_BYTES: Final = 250_000
"""Bytes of a body from which a page is converted in a process of its own; 121 of 1,497 real pages have more."""
_HEAVY_TAGS: Final = 5_000

_FORMATTING: Final = frozenset(
    {"a", "b", "big", "code", "em", "font", "i", "nobr", "s", "small", "strike", "strong", "tt", "u"}
)
"""The elements that a parser opens again in every later block until they are closed (HTML Standard, 13.2.4.3)."""
_BORDERS: Final = frozenset(
    {"applet", "caption", "html", "marquee", "math", "object", "select", "svg", "table", "td", "template", "th"}
)
"""The elements out of which an end tag does not reach (HTML Standard, 13.2.4.2)."""
# `a` is missing in both: a second one closes the first, so that at most one is opened again.
_NAMES: Final = (
    "[bisuBISU]|[bB][iI][gG]|[cC][oO][dD][eE]|[eE][mM]|[fF][oO][nN][tT]|[nN][oO][bB][rR]|[sS][mM][aA][lL]{2}"
    "|[sS][tT][rR](?:[iI][kK][eE]|[oO][nN][gG])|[tT]{2}"
)
_OPENING = re.compile(rf"<(?=[bcefinstuBCEFINSTU])(?:{_NAMES})[\s/>]")  # twice as fast as with IGNORECASE
_ATTRIBUTES: Final = r"""(?:\s+[^\s<>"'=/]+(?:\s*=\s*(?:"[^"<>]*"|'[^'<>]*'|[^\s<>"'=`]+))?)*\s*/?>"""
_CLOSED_LATER = re.compile(
    rf"<(?=[bcefinstuBCEFINSTU])({_NAMES}){_ATTRIBUTES}"
    rf"(?=[^<>]*(?:</?(?!(?i:\1)[\s/>])(?:{_NAMES}|[aA]|(?i:span|br|img|wbr|svg|path|use)){_ATTRIBUTES}[^<>]*)*"
    r"</(?i:\1)\s*>)"
)
"""A formatting element that surely ends where it seems to: no quote in it can be read in two ways, and what is inside
neither hides its end tag nor is a border."""


@dataclass(slots=True)
class _Open:
    """The formatting elements that are open inside one border."""

    border: str
    names: dict[str, int]


def is_heavy(body: bytes) -> bool:
    """Return whether converting a body may take so long or so much memory that it belongs into its own process.

    Args:
        body: The bytes, without any content coding; of any kind and in any encoding.
    """
    return len(body) > HEAVY_BYTES or body.count(b"<") > _HEAVY_TAGS


def fit(markup: str) -> tuple[str, bool]:
    """Return markup that can be parsed within bounds, and whether text may be missing from it.

    Args:
        markup: The markup of a page, of any size and any form.
    """
    tags = markup.count("<")
    many = tags > MAX_TAGS
    if many:
        markup, tags = _first_tags(markup, MAX_TAGS), MAX_TAGS
    markup, long = shorten(markup, MAX_MARKUP)
    if _may_explode(markup, tags) and (end := _explosion(markup)) is not None:
        return markup[:end], True
    return markup, many or long


def trim(document: Document) -> bool:
    """Flatten what is nested too deeply, and unlink what comes after the last link that counts.

    All text stays. Elements below the deepest level are taken out and leave what they held in their place, so that
    whoever walks the tree afterwards may do it recursively.

    Args:
        document: The tree; it is changed.

    Returns:
        Whether anything was changed.
    """
    deep = _too_deep(list(document.iter_elements())) if _is_deep(document.iter_elements()) else []
    for element in deep:  # from the top down, so that every node moves once for each child list it is in
        element.unwrap()
    surplus = document.find_all("a")[MAX_LINKS:]
    for link in surplus:
        link.attrs.pop("href", None)
    return bool(deep or surplus)


def _is_deep(elements: Iterator[Element]) -> bool:
    """Return whether an element of a document may be nested too deeply; only a few are looked at.

    In the order of the document each is at most one level below the one before it.
    """
    skipped = 0
    while (element := next(islice(elements, skipped, None), None)) is not None:
        level = len(list(element.ancestors)) + 1
        if level > MAX_DEPTH:
            return True
        skipped = MAX_DEPTH - level
    return False


def _too_deep(elements: Sequence[Element]) -> list[Element]:
    levels: dict[object, int] = {}
    deep = []
    for element in elements:
        level = levels[element] = levels.get(element.parent, 0) + 1
        if level > MAX_DEPTH:
            deep.append(element)
    return deep


def _first_tags(markup: str, count: int) -> str:
    """Return the beginning of `markup`, up to where the tag after the first `count` begins."""
    parts = markup.split("<", count + 1)
    return markup[: len(markup) - len(parts[-1]) - 1]


def _may_explode(markup: str, tags: int) -> bool:
    """Return whether formatting elements might be opened so often that simulating them is worth its time."""
    if tags * tags <= MAX_NODES:
        return False
    opened = len(_OPENING.findall(markup))
    if opened * tags <= MAX_NODES:
        return False
    needed = opened - MAX_NODES // tags  # as many have to end where they seem to; no more are looked for
    return sum(1 for _ in islice(_CLOSED_LATER.finditer(markup), needed)) < needed


def _explosion(markup: str) -> int | None:
    """Return where formatting elements that stay open would have multiplied into too many nodes, or None.

    Every block opens all of them again, so a page of n blocks with a new one each makes a tree of n * n / 2 elements.
    """
    nodes = 0
    scopes = [_Open("", {})]
    for token in tokens(markup):
        if token.kind not in {"start", "end"}:
            continue
        opened = scopes[-1].names
        if token.name in _FORMATTING:
            if token.kind == "start":
                opened[token.name] = 1 if token.name == "a" else opened.get(token.name, 0) + 1
            elif opened.get(token.name, 0):
                opened[token.name] -= 1
        elif token.name in _BORDERS:
            if token.kind == "start":
                scopes.append(_Open(token.name, {}))
            elif scopes[-1].border == token.name:
                scopes.pop()
        if token.kind == "start":
            nodes += 1 + sum(sum(scope.names.values()) for scope in scopes[-3:])
            if nodes > MAX_NODES:
                return token.start
    return None
