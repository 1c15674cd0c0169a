"""Removal of everything that a person who looks at the page could not see.

That is: what a browser does not render, what its style hides, and what only programs read. Visible facts are never
lost: closed `details` are a click away, white on dark is readable, and a page that hides its main part until a script
has run keeps it.
"""

from __future__ import annotations

import math
import re
from collections import Counter
from collections.abc import Iterable, Iterator, Mapping
from dataclasses import dataclass, field
from itertools import islice
from typing import Final, NamedTuple

from turbohtml import Document, Element, Node, Text
from turbohtml.query import escape_identifier

from groundwire.reading.css.cascade import Kind, Styles, declare_attributes
from groundwire.reading.css.longhands import may_hide
from groundwire.reading.css.parser import Declaration
from groundwire.reading.css.rendered_size import measure_fonts, scaling
from groundwire.reading.css.stylesheets import read_styles
from groundwire.reading.css.values import arguments, pixels, ratio
from groundwire.reading.html.semantics import fill_streamed, topmost
from groundwire.reading.visibility.hidden_styles import (
    BLOCKS,
    FAINT,
    INHERITED,
    box_hidden,
    hidden_by,
    hiding_classes,
    is_boxed,
    is_flattened,
    is_shown_by,
    other_states,
    text_hidden,
)
from groundwire.reading.visibility.layout import Placement, covered, moves_away
from groundwire.reading.visibility.overflow import CUT, Overflow, blank_references, clips
from groundwire.reading.visibility.text_contrast import COLORED, unreadable
from groundwire.reading.visibility.unrendered import (
    class_names,
    drop_texts,
    drop_unrendered,
    flatten_shadows,
    is_cloaked,
    is_marked,
    keep_folded,
)

__all__ = ["Removed", "drop_unseen"]

_OUT: Final = frozenset({"absolute", "fixed"})
_FREE: Final = frozenset({"fixed"})
_SOFT: Final = frozenset({"opacity", "visibility", "transform", "position", "clip", "filter"})
"""Properties that scripts reset when a part scrolls into view; `display` needs a click."""

_NO_TRACK: Final = frozenset({"0fr", "0px", "0", "minmax(0,0fr)", "minmax(0,0)", "minmax(0px,0fr)"})
_REFERENCE: Final = re.compile(r"url\(\s*[\"']?#([^\"')]+)")
_LINE_NAMES: Final = re.compile(r"\[[^\]]*\]")
_GRIDS: Final = ("grid-template-rows", "grid-template-columns", "grid-auto-rows")
_HIDDEN: Final = '[hidden], dialog:not([open]), [popover], marquee[width="0"], marquee[height="0"]'
_WRAPPERS: Final = "html, body, main, article, h1, [role=main]"
_SPECK: Final = 0.03  # of its size
_COLUMNS: Final = 50  # of a table that may be collapsed
_NESTED: Final = 5
"""How many hidden wrappers, one in another, are judged: `html, body { opacity: 0 }` hides a page twice."""

_SCRIPTS: Final = "script:not([type]), script[type*=javascript i], script[type=module i], script[src]"


@dataclass(frozen=True, slots=True)
class Removed:
    """What was removed from a page, and what was left in although it is not shown initially."""

    counts: Mapping[str, int] = field(default_factory=dict)
    """How many pieces of text were removed, by reason: the property, `attribute`, `class`, `color`, `element`."""
    revealed: int = 0
    """How many pieces were kept because a script or an animation shows them."""
    named: frozenset[str] = field(default=frozenset(), compare=False)
    """All class names of the page's elements."""

    @property
    def warnings(self) -> tuple[str, ...]:
        """Warnings for readers of the page's text."""
        total = sum(self.counts.values())
        found = (f"hidden text removed: {total}",) if total else ()
        return (*found, f"text kept that a script or a click shows: {self.revealed}") if self.revealed else found


@dataclass(slots=True)
class _Judgement:
    """The hidden parts of a page."""

    whole: dict[Element, str] = field(default_factory=dict)
    """The reason for each element that is removed with its content."""
    texts: dict[str, dict[Element, bool]] = field(default_factory=dict)
    """For each inherited property, whether it hides an element's own text."""
    pieces: list[Text] = field(default_factory=list)
    """Pieces of text that are removed from a visible element."""
    revealed: int = 0

    def hide(self, node: Node) -> None:
        """Note a part of the page that lies where no one sees it."""
        if isinstance(node, Element):
            self.whole.setdefault(node, "position")
        elif isinstance(node, Text):
            self.pieces.append(node)


class _Look(NamedTuple):
    """The effect of a style on an element."""

    reason: str
    """The property that hides it with its content; empty if none does."""
    opacity: float | None
    """Its opacity, if it may be low."""
    scale: float
    """How large its transforms make it."""
    texts: tuple[tuple[str, bool], ...]
    """The inherited properties that hide or show its text."""
    flat: bool
    """Whether it may have no height; see `_flattened`."""
    moved: bool
    """Whether it may lie outside of the page; see `Placement.is_out`."""
    cuts: bool = False
    """Whether it may clip some of its content; see `Overflow.clipped`."""


def drop_unseen(document: Document) -> Removed:
    """Remove what a person could not see on a page.

    Args:
        document: The page, modified in place; parsed with `allow_declarative_shadow_roots=False`, so that shadow trees
            can be moved to where they are shown.

    Returns:
        What was removed.
    """
    styles = read_styles(document)
    alive = styles.incomplete or document.select_one(_SCRIPTS) is not None
    named = class_names(document) if flatten_shadows(document, styles) else styles.named
    if alive:
        fill_streamed(document)
    styles.blank = blank_references(document) if document.find("svg") is not None else frozenset()
    boxes = other_states(document, styles) if styles.states else []
    counts = drop_unrendered(document)
    marked = document.select(f"{_HIDDEN}, {COLORED}")  # both at once: searching the page is what takes time
    reasons = _declare_defaults(document, marked, styles, named)
    declare_attributes(marked, styles)
    if not len(styles):
        return Removed(counts, named=named)
    found = _judge(styles, reasons, alive=alive)
    measure_fonts(document, found.texts["font-size"], styles)
    found.texts["color"] = unreadable(document, styles)
    _let_out(found.whole, styles)
    for node in covered(styles, alive=alive):
        found.hide(node)
    found.revealed += keep_folded(document, found.whole, found.texts["visibility"], styles, boxes, alive=alive)
    for _ in range(_NESTED if alive else 0):
        if not _keep_main_part(document, found):
            break
    _drop_whole(found.whole, reasons, counts)
    for piece in found.pieces:
        piece.extract()
        counts["position"] += 1
    for name, states in found.texts.items():
        if any(states.values()) and (dropped := drop_texts(states)):
            counts[name] += dropped
    return Removed(dict(counts), found.revealed, named)


def _declare_defaults(
    document: Document, marked: Iterable[Element], styles: Styles, named: Iterable[str]
) -> dict[Element, str]:
    """Declare what attributes and well-known classes hide; return which of the two, for the counts."""
    none = (Declaration("display", "none", important=False),)
    reasons: dict[Element, str] = {}
    attributes = [element for element in marked if _is_hidden(element)]
    styles.declare(attributes, none, layer=-1)
    reasons.update(dict.fromkeys(attributes, "attribute"))
    utilities = hiding_classes(named) - styles.classes
    if utilities:
        selector = ", ".join("." + escape_identifier(name) for name in utilities)
        hidden = [e for e in document.select(selector) if not is_shown_by(e.attr("class") or "")]
        styles.declare(hidden, none, layer=-1)
        reasons.update(dict.fromkeys(hidden, "class"))
    return reasons


def _is_hidden(element: Element) -> bool:
    """Return whether `_HIDDEN` matches an element."""
    if element.tag == "marquee" and "0" in {element.attr("width"), element.attr("height")}:
        return True
    if element.tag == "dialog" and element.attr("open") is None:
        return True
    return element.attr("hidden") is not None or element.attr("popover") is not None


def _judge(styles: Styles, reasons: Mapping[Element, str], *, alive: bool) -> _Judgement:
    found = _Judgement(texts={name: {} for name in INHERITED})
    layout = Placement(styles)
    overflow = Overflow(styles, layout, alive=alive or styles.reacts or styles.stripped)
    faint: dict[Element, float] = {}
    scaled: dict[Element, float] = {}
    known: dict[tuple[str, Kind], _Look] = {}
    columns: dict[Element, list[Element]] = {}
    for element in styles:
        tag, kind = _box_of(element, styles), styles.kind(element)
        look = known.get((tag, kind))
        if look is None:
            look = known[tag, kind] = _look(tag, styles.get(element), styles)
        reason, opacity, scale, texts, flat, moved, cuts = look
        if opacity is not None:
            faint[element] = opacity
            reason = "opacity" if _combined(element, faint) <= FAINT else ""
        if scale != 1.0:
            scaled[element] = scale
            reason = "transform" if scale < 1 and _combined(element, scaled) <= _SPECK else reason
        if reason in {"contain", "size"} and _is_stretched(element, reason, styles):
            reason = ""
        if reason:
            if alive and (is_marked(element) if reason in _SOFT else reason == "display" and is_cloaked(element)):
                found.revealed += 1
            else:
                found.whole[element] = reasons.get(element, reason) if reason == "display" else reason
        if moved and not reason and layout.is_out(element):
            found.whole[element] = "position"
        if cuts:
            for node in overflow.clipped(element):
                found.hide(node)
        if flat:
            found.whole.update(dict.fromkeys(_flattened(element, styles), "size"))
        if tag == "col" and ("visibility", True) in texts:
            found.whole.update(dict.fromkeys(_cells_of(element, columns), "visibility"))
        for name, state in texts:
            if state and name == "visibility" and alive and is_marked(element):
                found.revealed += 1
            else:
                found.texts[name][element] = state
    return found


def _box_of(element: Element, styles: Styles) -> str:
    """Return an element's name; that of a block for a part of a flexible row or a grid, which has a box."""
    tag = element.tag
    if tag not in BLOCKS:
        display = styles.get(element.parent).get("display", "") if isinstance(element.parent, Element) else ""
        return "div" if "flex" in display or "grid" in display else tag
    return tag


def _look(tag: str, style: Mapping[str, str], styles: Styles) -> _Look:
    """Return the effect of a style, as far as it does not depend on the element's position."""
    moved, cuts = moves_away(style), clips(style)
    if not any(may_hide(name, value) for name, value in style.items()):
        shows = tuple((name, False) for name in INHERITED if style.get(name, "inherit") != "inherit")
        return _Look("", None, 1.0, shows, flat=False, moved=moved, cuts=cuts)
    if styles.incomplete and "position" not in style:
        style = {**style, "position": "relative"}  # another sheet positions what has a position
    boxed = is_boxed(tag, style) or (styles.incomplete and "display" not in style)
    reason = "clip" if styles.blank and _refers(style, styles.blank) else hidden_by(tag, style, boxed=boxed)
    opacity = None if reason else ratio(style.get("opacity", "1"))
    said = [(name, text_hidden(name, style[name], boxed=boxed)) for name in INHERITED if name in style]
    return _Look(
        reason,
        opacity if opacity is not None and opacity < 0.5 and style.get("display") != "contents" else None,
        scaling(style) if boxed and not reason else 1.0,
        tuple((name, state) for name, state in said if state is not None),
        any(True in _tracks(style[name]) for name in _GRIDS if name in style) or (boxed and is_flattened(style)),
        moved,
        cuts,
    )


def _cells_of(column: Element, known: dict[Element, list[Element]]) -> Iterator[Element]:
    """Yield the cells of a column of a table without spans.

    Args:
        column: The `col`.
        known: The columns of the tables seen so far; none of one with very many columns, or with spans.
    """
    if (table := column.closest("table")) is None:
        return
    if (columns := known.get(table)) is None:
        columns = table.select("col")
        if len(columns) > _COLUMNS or table.select_one("[colspan], [rowspan], [span]") is not None:
            columns = []
        known[table] = columns
    if column in columns:
        yield from table.select(f"tr > :nth-child({columns.index(column) + 1})")


def _refers(style: Mapping[str, str], blank: frozenset[str]) -> bool:
    """Return whether a style clips, masks or filters by something that leaves nothing."""
    values = " ".join(style.get(name, "") for name in ("clip-path", "mask-image", "filter"))
    return any(reference in blank for reference in _REFERENCE.findall(values))


def _is_stretched(element: Element, reason: str, styles: Styles) -> bool:
    """Return whether the box around an element may give it a height, or in a row that it grows in, a width."""
    around = styles.get(element.parent) if isinstance(element.parent, Element) else {}
    style, display = styles.get(element), around.get("display", "")
    if reason == "contain":
        return "flex" in display or "grid" in display
    grows = "flex" in display and bool(ratio(style.get("flex-grow", "0"))) and style.get("max-width", "none") == "none"
    size = "height" if "flex-direction" in around else "width"
    return grows and not box_hidden({name: value for name, value in style.items() if name != size})


def _flattened(element: Element, styles: Styles) -> Iterator[Element]:
    """Yield what a box without height clips: one whose own lines have none, or parts in such a row or column."""
    style, children = styles.get(element), [child for child in element if isinstance(child, Element)]
    rows, columns = (_tracks(style.get(f"grid-template-{name}", "")) for name in ("rows", "columns"))
    rows = rows or _tracks(style.get("grid-auto-rows", ""))
    if not (rows and all(rows)) and not any(columns):
        if not rows and not columns and not any(is_boxed(child.tag, styles.get(child)) for child in children):
            yield element
        return
    around = style.get("overflow-y") in CUT
    for place, child in enumerate(children):
        has_none = (rows and all(rows)) or (place < len(columns) and columns[place])
        if has_none and (around or styles.get(child).get("overflow-y") in CUT):
            yield child


def _tracks(value: str) -> list[bool]:
    """Return for each row or column of a grid whether it has no size."""
    return [track in _NO_TRACK for track in arguments(_LINE_NAMES.sub(" ", value).replace(", ", ","))]


def _combined(element: Element, factors: Mapping[Element, float]) -> float:
    """Return the product of a factor of an element and of those around it."""
    nearest = (ancestor for ancestor in islice(element.ancestors, 50) if isinstance(ancestor, Element))
    return factors[element] * math.prod(factors.get(ancestor, 1.0) for ancestor in nearest)


def _let_out(whole: Mapping[Element, str], styles: Styles) -> None:
    """Move positioned elements out of a box without height that does not clip them.

    A box clips positioned content only if it is positioned itself, otherwise the content is relative to an ancestor;
    and content over the padding is visible, as in aspect-ratio boxes.
    """
    for element in list(topmost([element for element, reason in whole.items() if reason == "size"])):
        style = styles.get(element)
        free = _OUT if style.get("position", "static") == "static" else _FREE
        if style.get("position", "static") != "static" and (pixels(style.get("padding-top", ""), 500.0) or 0) > 2:
            free = _OUT
        inside = [node for node in element.descendants if isinstance(node, Element)] if element.text.strip() else []
        placed = [node for node in inside if styles.get(node).get("position") in free and node not in whole]
        for node in list(topmost(placed)):
            element.insert_before(node.extract())


def _keep_main_part(document: Document, found: _Judgement) -> bool:
    """Keep what a script must be about to show: otherwise almost nothing of the page would be left.

    Returns:
        Whether anything was kept; what is hidden inside of it has yet to be judged.
    """
    body = document.select_one("body")
    hides = [*found.whole, *(element for element, hidden in found.texts["visibility"].items() if hidden)]
    if body is None or not hides:
        return False
    sizes = {element: len(element.text) for element in topmost(hides)}
    if not any(sizes.values()):
        return False
    before = found.revealed
    total = len(body.text)
    top = [element for element, size in sizes.items() if size * 20 > total]
    lost = sum(sizes[element] for element in top)
    left = total - sum(sizes.values())  # of some pages most is closed menus
    for element in top:
        soft = found.whole.get(element, "visibility") in _SOFT
        if (soft and len(top) > 2 and lost * 2 > total) or (
            (sizes[element] * 5 > total or (soft and sizes[element] > left))
            and (element.matches(_WRAPPERS) or element.select_one(_WRAPPERS) is not None)
        ):
            found.whole.pop(element, None)
            found.texts["visibility"].pop(element, None)
            found.revealed += 1
    return found.revealed > before


def _drop_whole(whole: Mapping[Element, str], reasons: Mapping[Element, str], counts: Counter[str]) -> None:
    for element in list(topmost(whole)):
        if element.tag in {"html", "body"}:
            element.clear()
        if element.text.strip():
            counts[whole[element]] += 1
        if element.tag not in {"html", "body"}:
            element.extract()
