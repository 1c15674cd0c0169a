"""A document as a sequence of text blocks, the input of the main content classifier.

A block is a run of text that no block-level element interrupts: a paragraph, a heading, a list item, a cell, a menu
entry. A single tree walk finds all blocks in document order, with their block-level ancestors.
"""

from __future__ import annotations

import re
from collections.abc import Container, Iterator, Sequence
from dataclasses import dataclass, field
from typing import Final

from turbohtml import Document, Element, Node, Text

HEADINGS: Final = frozenset({"h1", "h2", "h3", "h4", "h5", "h6"})
"""Elements that are headings."""

INLINE: Final = frozenset(
    {
        "a", "abbr", "acronym", "annotation", "annotation-xml", "b", "bdi", "bdo", "big", "br", "cite", "code", "data",
        "del", "dfn", "em", "font", "i", "img", "input", "ins", "kbd", "mark", "math", "menclose", "merror", "mfrac",
        "mi", "mn", "mo", "mover", "mpadded", "mphantom", "mroot", "mrow", "ms", "mspace", "msqrt", "mstyle", "msub",
        "msubsup", "msup", "mtable", "mtd", "mtext", "mtr", "munder", "munderover", "nobr", "picture", "q", "rb", "rp",
        "rt", "ruby", "s", "samp", "script", "semantics", "small", "source", "span", "strike", "strong", "sub", "sup",
        "time", "tt", "u", "var", "wbr",
    }
)  # fmt: skip
"""Elements that do not interrupt a run of text. Unknown names count as blocks, as custom elements do."""

_SHIFT: Final = 20
_LINK: Final = (1 << _SHIFT) - 1
"""The bits of a link's number; a page with more links has one number for the rest."""

_MENUS: Final = "nav,[role=navigation],footer,[role=contentinfo]"
_MIN_LINKS: Final = 4
_MENU_SHARE: Final = 0.7
_FOOTER_SHARE: Final = 0.4
"""The share of links from which a menu or a footer has nothing else. On the development pages these hold three in
ten of all blocks, and one in a thousand of the words of the main content."""
_MENU_NAME: Final = re.compile(
    "menu|nav|foot(?!note)|header|masthead|topbar|toolbar|breadcrumb|dropdown|flyout|drawer|pagin|share|social|aside"
)
_NAME_SHARE: Final = 0.6
"""The same for an element only named like a menu, if it is at the edge of the page and has no main heading: one in
ten of the remaining blocks, and one in five thousand of the words of the main content."""
_OUTER_LEVELS: Final = 5  # levels
_MAX_NAMES: Final = 150  # elements whose names are examined
_MAX_MENUS_SHARE: Final = 0.9  # share of a page's text; larger menus are the purpose of the page
_TINY: Final = 200  # characters of a whole page; too short to select from, and a notice counts in full
_MAX_WEIGHED: Final = 2_000_000  # characters; nested elements are weighed repeatedly


@dataclass(slots=True)
class Layout:
    """The blocks of a document and their block-level elements, as columns of equal length.

    Elements are numbered in document order, so descendants have higher numbers. The first element is the root.
    """

    elements: list[Element] = field(default_factory=list)
    """The block-level elements."""
    parents: list[int] = field(default_factory=list)
    """The number of each element's nearest block-level ancestor; the root is its own."""
    tags: list[str] = field(default_factory=list)
    """Name of each element."""
    texts: list[str] = field(default_factory=list)
    """Text of each block, with collapsed white space."""
    owners: list[int] = field(default_factory=list)
    """The number of each block's element."""
    linked: list[int] = field(default_factory=list)
    """Characters inside links, of each block."""
    lengths: list[int] = field(default_factory=list)
    """Characters of each block in the source; the basis for `linked`."""
    links: list[int] = field(default_factory=list)
    """Linked pieces of text in each block."""
    leads: list[str] = field(default_factory=list)
    """The inline element around the first text of each block; empty if none."""
    nodes: list[list[Text]] = field(default_factory=list)
    """The text nodes of each block."""
    hrefs: list[str] = field(default_factory=list)
    """The address of each link; the first stands for no link."""
    targets: dict[int, list[tuple[int, int]]] = field(default_factory=dict)
    """For each block with links, the number of the link and the characters of each linked piece of text."""
    url: str = ""
    """The page's URL."""
    title: str = ""
    """The page's title, if it is known."""
    stated: Sequence[str] = ()
    """What its structured data state as its content; see `stated_content`."""
    trimmed: bool = False
    """Whether menus have been removed beforehand."""


def is_tiny(layout: Layout) -> bool:
    """Return whether a page has too little text to select from."""
    return sum(map(len, layout.texts)) <= _TINY


def lay_out(document: Document, url: str = "", *, menus: bool = False) -> Layout:
    """Return the blocks of a document.

    Args:
        document: A page without what is never displayed, modified in place; closed dialogs, which a click may open,
            and what stands for objects are removed.
        url: Its URL.
        menus: Whether menus that are mostly links are blocks, too.
    """
    for element in [*document.find_all("dialog"), *document.find_all("object")]:
        if element.attr("open") is None:
            element.extract()
    layout = Layout(hrefs=[""], url=url)
    root = document.find("body") or document.root
    if root is None:
        return layout
    layout.trimmed = not menus and _cut_menus(root)
    elements, parents, tags = layout.elements, layout.parents, layout.tags
    texts, owners, linked, lengths = layout.texts, layout.owners, layout.linked, layout.lengths
    leads, nodes, hrefs = layout.leads, layout.nodes, layout.hrefs
    inline, text_type, element_type = INLINE, Text, Element  # local names are faster to look up
    elements.append(root)
    parents.append(0)
    tags.append(root.tag)
    places: dict[Node, int] = {root: 0}  # the element's number, shifted, and the link's; 0 outside of links
    owner, length, link_length = 0, 0, 0
    lead = ""
    parts: list[str] = []
    pieces: list[Text] = []
    inside: list[tuple[int, int]] = []

    def flush() -> None:
        text = "".join(parts)
        single = text.isascii() and text.isprintable() and "  " not in text  # this check takes half the time
        text = text.strip() if single else " ".join(text.split())
        if text:
            if inside:
                layout.targets[len(texts)] = inside
            texts.append(text)
            owners.append(owner)
            linked.append(link_length)
            lengths.append(length)
            layout.links.append(len(inside))
            leads.append(lead)
            nodes.append(pieces)

    for node in root.descendants:
        kind = type(node)
        if kind is text_type:
            data = node.data  # type: ignore[attr-defined]
            if not parts and data.isspace():
                continue
            parent = node.parent
            place = places[parent]  # type: ignore[index]
            if parts and place >> _SHIFT != owner:
                flush()
                parts, pieces = [], []
                if data.isspace():
                    continue
            if not parts:
                owner, length, link_length, inside = place >> _SHIFT, 0, 0, []
                tag = parent.tag  # type: ignore[union-attr]
                lead = tag if tag in inline else ""
            parts.append(data)
            pieces.append(node)  # type: ignore[arg-type]
            size = len(data)
            length += size
            if place & _LINK:
                link_length += size
                inside.append((place & _LINK, size))
        elif kind is element_type:
            place = places[node.parent]  # type: ignore[index]
            tag = node.tag  # type: ignore[attr-defined]
            if tag in inline:
                if tag == "br":
                    if parts:
                        parts.append("\n")
                elif tag == "a":
                    places[node] = place & ~_LINK | min(len(hrefs), _LINK)
                    hrefs.append(node.attr("href") or "")  # type: ignore[attr-defined]
                else:
                    places[node] = place
                continue
            if parts:
                flush()
                parts, pieces = [], []
            places[node] = len(elements) << _SHIFT | place & _LINK
            elements.append(node)  # type: ignore[arg-type]
            parents.append(place >> _SHIFT)
            tags.append(tag)
    if parts:
        flush()
    return layout


def _cut_menus(root: Element) -> bool:
    """Remove menus and footers that are mostly links, unless the page is mostly such."""
    menus: dict[Element, int] = {}
    budget = _MAX_WEIGHED
    for menu, share in _likely_menus(root, menus):
        if budget < 0:
            break
        links = menu.find_all("a")
        if menu is root or len(links) < _MIN_LINKS or menu in menus:
            continue
        size = _weight(menu)
        budget -= size
        if _weight(*links) >= share * size:
            menus[menu] = size
    outer = [menu for menu in menus if not any(around in menus for around in menu.ancestors)]
    if not outer or sum(menus[menu] for menu in outer) >= _MAX_MENUS_SHARE * _weight(root):
        return False
    for menu in outer:
        menu.decompose()
    return True


def _likely_menus(root: Element, menus: Container[Element]) -> Iterator[tuple[Element, float]]:
    """Yield possible menus and footers, and the share of links from which each is one.

    Args:
        root: The element to search.
        menus: The menus found so far; nothing inside them is yielded.
    """
    for element in root.select(_MENUS):
        is_footer = element.tag == "footer" or element.attr("role") == "contentinfo"
        yield element, _FOOTER_SHARE if is_footer else _MENU_SHARE
    level, name_count = [root], 0
    for _ in range(_OUTER_LEVELS):
        below = [child for element in level for child in element if type(child) is Element and child.tag not in INLINE]
        level = []
        for element in below[: max(0, _MAX_NAMES - name_count)]:
            name = f"{element.tag} {element.attr('class')} {element.attr('id')}".lower()
            if _MENU_NAME.search(name) is not None and element.find("h1") is None:
                yield element, _NAME_SHARE
            if element not in menus:
                level.append(element)
        name_count += len(below)


def _weight(*elements: Element) -> int:
    """Return how many characters some elements have, without white space."""
    return _length("".join([element.text for element in elements]))


def _length(text: str) -> int:
    count = text.count
    return len(text) - count(" ") - count("\n") - count("\t")
