"""Removal of everything that a person who looks at the page could not see.

That is: what a browser does not render, what its style hides, and what only programs read. Visible facts are never
lost: closed `details` are a click away, white on dark is readable, and a page that hides its main part until a script
has run keeps it.
"""

from __future__ import annotations

import math
from collections import Counter
from collections.abc import Iterable, Iterator, Mapping
from dataclasses import dataclass, field
from itertools import islice
from operator import itemgetter
from typing import Final, NamedTuple

from turbohtml import Document, Element, Text
from turbohtml.query import escape_identifier

from groundwire.reading.css.cascade import ANIMATED, Kind, Row, Styles, declare_attributes, unknown_path
from groundwire.reading.css.parser import DEFAULTS, Declaration
from groundwire.reading.css.rendered_size import measure_fonts
from groundwire.reading.css.stylesheets import read_styles
from groundwire.reading.css.values import OUT_OF_FLOW, arguments, pixels, ratio
from groundwire.reading.html.math import is_formula, write_out_drawings
from groundwire.reading.html.semantics import fill_streamed, topmost
from groundwire.reading.text.sanitize import lower_ascii
from groundwire.reading.visibility.appearance import prefer_spoken, write_appearance
from groundwire.reading.visibility.hidden_styles import (
    BLOCKS,
    FAINT,
    INHERITED,
    TINY_BOX,
    box_hidden,
    hidden_by,
    hiding_classes,
    is_boxed,
    is_far,
    is_flattened,
    is_plain,
    is_shown_by,
    offset,
    other_states,
    text_hidden,
)
from groundwire.reading.visibility.text_contrast import COLORED, unreadable
from groundwire.reading.visibility.unrendered import (
    drop_texts,
    drop_unrendered,
    is_cloaked,
    is_marked,
    keep_folded,
    place_shadows,
    take_shadows,
)

__all__ = ["Removed", "drop_unseen"]

_POSITIONED: Final = OUT_OF_FLOW | {"relative", "sticky"}
_FIXED: Final = frozenset({"fixed"})
_FADE_INS: Final = frozenset({"opacity", "visibility", "transform", "position", "clip", "filter"})
"""Properties that scripts reset when a part scrolls into view; `display` needs a click."""

_CLIPS: Final = frozenset({"hidden", "clip"})
_NO_TRACK: Final = frozenset({"0fr", "0px", "0", "minmax(0,0fr)", "minmax(0,0)", "minmax(0px,0fr)"})
_ARIA_HIDDEN: Final = '[aria-hidden="true"]'
_HIDDEN_ATTRIBUTES: Final = "[hidden], dialog:not([open]), [popover]"
_WRAPPERS: Final = "html, body, main, article, h1, [role=main]"
_IN_PLACE: Final = (0.0, 0.0)
_Frame = tuple[tuple[float, float], tuple[float, float]]
_MAX_WRAPPERS: Final = 5
"""How many hidden wrappers, one in another, are judged: `html, body { opacity: 0 }` hides a page twice."""

_SCRIPTS: Final = "script:not([type]), script[type*=javascript i], script[type=module i], script[src]"


@dataclass(frozen=True, slots=True)
class Removed:
    """What was removed from a page, and what was left in although it is not shown initially."""

    counts: Mapping[str, int] = field(default_factory=dict)
    """How many pieces of text were removed, by reason: the property, `attribute`, `class`, `color`, `element`."""
    revealed: int = 0
    """How many pieces were kept because a script or an animation shows them."""
    doubtful: int = 0
    """How many pieces were kept whose color would be that of their background, if the styles that are not known set
    neither."""
    class_names: str = field(default="", compare=False)
    """All class names of the page's elements in lower case, a line each."""
    described: tuple[tuple[Text, Text], ...] = field(default=(), compare=False)
    """The texts before and after each picture whose description is not in the page's text."""

    @property
    def warnings(self) -> tuple[str, ...]:
        """Warnings for readers of the page's text."""
        total = sum(self.counts.values())
        return tuple(
            f"{what}: {count}"
            for what, count in (
                ("hidden text removed", total),
                ("text kept that a script or a click shows", self.revealed),
                ("text kept that may have the color of its background, as a style is not known", self.doubtful),
            )
            if count
        )


@dataclass(slots=True)
class _Judgment:
    """The hidden parts of a page."""

    elements: dict[Element, str] = field(default_factory=dict)
    """The reason for each element that is removed with its content."""
    texts: dict[str, dict[Element, bool]] = field(default_factory=dict)
    """For each inherited property, whether it hides an element's own text."""
    revealed: int = 0
    doubtful: int = 0
    near: list[Element] = field(default_factory=list)
    """The elements that are moved, and lie on the page."""


class _Look(NamedTuple):
    """The effect of a style on an element."""

    reason: str
    """The property that hides it with its content; empty if none does."""
    opacity: float | None
    """Its opacity, if it may be low."""
    texts: tuple[tuple[str, bool], ...]
    """The inherited properties that hide or show its text."""
    flat: bool
    """Whether it may have no height; see `_flattened`."""
    moved: tuple[float, float] | None
    """How many pixels it is moved right and down; None if it is where the one around it is."""


_PLAIN_LOOK: Final = _Look("", None, (), flat=False, moved=None)


def drop_unseen(document: Document) -> Removed:
    """Remove what a person could not see on a page.

    Args:
        document: The page, modified in place; parsed with `allow_declarative_shadow_roots=False`, so that shadow trees
            can be moved to where they are shown.

    Returns:
        What was removed.
    """
    shadows = take_shadows(document)
    styles = read_styles(document)
    place_shadows(shadows, styles)
    alive = styles.incomplete or document.select_one(_SCRIPTS) is not None
    names = "\n".join(styles.page_classes)
    lowered = lower_ascii(names)
    fill_streamed(document, alive=alive)
    write_out_drawings(document)
    boxes = other_states(document, styles) if styles.states else []
    counts = drop_unrendered(document)
    selector = f"{_HIDDEN_ATTRIBUTES}, {COLORED}, {_ARIA_HIDDEN}"
    marked = document.select(selector)  # all at once: searching the page is what takes time
    utilities = {name for name in hiding_classes(names, lowered) if "." + name not in styles.sheet_names}
    reasons = _declare_defaults(document, marked, styles, utilities)
    for element in marked:
        declare_attributes(element, styles)
    drawings = [element for element in marked if element.attr("aria-hidden") == "true"]
    if not len(styles):
        prefer_spoken(drawings, {})
        return Removed(counts, class_names=lowered, described=write_appearance(document, styles, [], {}))
    rows = list(styles.items())
    styles_by_kind = dict(map(itemgetter(1, 2), rows))  # most elements share a few
    judgment = _judge(rows, styles, reasons, alive=alive)
    measure_fonts(document, judgment.texts["font-size"], styles)
    judgment.texts["color"], judgment.doubtful = unreadable(document, styles, rows, styles_by_kind)
    _let_out(judgment, styles)
    invisible = judgment.texts["visibility"]
    judgment.revealed += keep_folded(document, judgment.elements, invisible, styles, boxes, alive=alive)
    for _ in range(_MAX_WRAPPERS if alive else 0):
        if not _keep_main_part(document, judgment):
            break
    prefer_spoken(drawings, judgment.elements)
    _drop_whole(judgment.elements, reasons, counts)
    for name, states in judgment.texts.items():
        if any(states.values()) and (dropped := drop_texts(states)):
            counts[name] += dropped
    described = write_appearance(document, styles, rows, styles_by_kind)
    return Removed(dict(counts), judgment.revealed, judgment.doubtful, lowered, described)


def _declare_defaults(
    document: Document, marked: Iterable[Element], styles: Styles, utilities: set[str]
) -> dict[Element, str]:
    """Declare what attributes and well-known classes hide; return which of the two, for the counts."""
    none = (Declaration("display", "none", important=False),)
    reasons: dict[Element, str] = {}
    attributes = [
        element
        for element in marked
        if element.attr("hidden") is not None
        or element.attr("popover") is not None
        or (element.tag == "dialog" and element.attr("open") is None)
    ]
    styles.declare(attributes, none, layer=DEFAULTS)
    reasons.update(dict.fromkeys(attributes, "attribute"))
    if utilities:
        selector = ", ".join("." + escape_identifier(name) for name in utilities)
        hidden = [e for e in document.select(selector) if not is_shown_by(e.attr("class") or "")]
        styles.declare(hidden, none, layer=DEFAULTS)
        reasons.update(dict.fromkeys(hidden, "class"))
    return reasons


def _judge(rows: Iterable[Row], styles: Styles, reasons: Mapping[Element, str], *, alive: bool) -> _Judgment:
    judgment = _Judgment(texts={name: {} for name in INHERITED})
    moved: dict[Element, tuple[float, float]] = {}
    faint: dict[Element, float] = {}
    looks_by_kind: dict[tuple[str, Kind], _Look] = {}
    looks: list[tuple[Element, str, _Look]] = []
    placed: dict[Element, str] = {}
    for element, kind, style in rows:
        tag = _box_of(element, styles)
        if "position" in style:
            placed[element] = style["position"]
        look = looks_by_kind.get((tag, kind))
        if look is None:
            look = looks_by_kind[tag, kind] = _look(tag, style, styles)
        if look is not _PLAIN_LOOK:
            looks.append((element, tag, look))
            if look.opacity is not None:
                faint[element] = look.opacity
    for element, tag, (reason, opacity, texts, flat, shift) in looks:
        if opacity is not None:
            reason = "opacity" if _combined(element, faint) <= FAINT else ""
        if reason == ANIMATED:
            judgment.revealed += 1
        elif reason and not _is_shown_after_all(element, tag, reason, styles):
            if alive and (is_marked(element) if reason in _FADE_INS else reason == "display" and is_cloaked(element)):
                judgment.revealed += 1
            else:
                judgment.elements[element] = reasons.get(element, reason) if reason == "display" else reason
        if shift is not None:
            moved[element] = shift
        if flat:
            judgment.elements.update(dict.fromkeys(_flattened(element, styles), "size"))
        for name, state in texts:
            if state and name == "visibility" and alive and is_marked(element):
                judgment.revealed += 1
            else:
                judgment.texts[name][element] = state
    _judge_places(moved, placed, judgment, alive=alive)
    return judgment


def _is_shown_after_all(element: Element, tag: str, reason: str, styles: Styles) -> bool:
    """Return whether an element is no less visible for what seems to hide it."""
    if reason == "clip" and tag == "mjx-assistive-mml":  # MathJax draws the same formula by generated content
        return is_formula(" ".join(element.stripped_strings))
    return reason in {"contain", "size"} and _is_stretched(element, reason, styles)


def _judge_places(
    moved: Mapping[Element, tuple[float, float]], placed: Mapping[Element, str], judgment: _Judgment, *, alive: bool
) -> None:
    """Judge the elements that are moved, each with those around it."""
    frames: dict[Element, _Frame] = {}
    for element in moved:
        if not is_far(*_frame(element, moved, placed, frames)[0]):
            judgment.near.append(element)
        elif alive and is_marked(element):
            judgment.revealed += 1
        else:
            judgment.elements.setdefault(element, "position")


def _frame(
    element: Element,
    moved: Mapping[Element, tuple[float, float]],
    placed: Mapping[Element, str],
    frames: dict[Element, _Frame],
) -> _Frame:
    """Return how far an element is moved with those around it, and what is placed in it; no path is visited twice."""
    above, path = unknown_path(element, frames)
    around, holder = frames[above] if above is not None else (_IN_PLACE, _IN_PLACE)
    for step in path:
        position = placed.get(step)
        if (shift := moved.get(step)) is not None:
            around = holder if position == "absolute" else _IN_PLACE if position == "fixed" else around
            around = around[0] + shift[0], around[1] + shift[1]
        if position in _POSITIONED:
            holder = around
        frames[step] = around, holder
    return frames[element]


def _box_of(element: Element, styles: Styles) -> str:
    """Return an element's name; that of a block for a part of a flexible row or a grid, which has a box."""
    tag = element.tag
    if tag not in BLOCKS:
        display = styles.get(element.parent).get("display", "") if isinstance(element.parent, Element) else ""
        return "div" if "flex" in display or "grid" in display else tag
    return tag


def _look(tag: str, style: Mapping[str, str], styles: Styles) -> _Look:
    """Return the effect of a style, as far as it does not depend on the element's position."""
    if is_plain(style):
        return _PLAIN_LOOK
    if styles.incomplete and "position" not in style:
        style = {**style, "position": "relative"}  # another sheet positions what has a position
    boxed = is_boxed(tag, style) or (styles.incomplete and "display" not in style)
    reason = hidden_by(tag, style, boxed=boxed) or (ANIMATED if ANIMATED in style else "")
    opacity = None if reason or "opacity" not in style else ratio(style["opacity"])
    pairs = [(name, text_hidden(name, style[name], boxed=boxed)) for name in INHERITED if name in style]
    look = _Look(
        reason,
        opacity if opacity is not None and opacity < 0.5 and style.get("display") != "contents" else None,
        tuple((name, state) for name, state in pairs if state is not None),
        _has_no_rows(style) or (boxed and is_flattened(style)),
        offset(style, boxed=boxed),
    )
    return _PLAIN_LOOK if look == _PLAIN_LOOK else look


def _is_stretched(element: Element, reason: str, styles: Styles) -> bool:
    """Return whether the box around an element may give it a height, or in a row that it grows in, a width."""
    around = styles.get(element.parent) if isinstance(element.parent, Element) else {}
    style, display = styles.get(element), around.get("display", "")
    if reason == "contain":
        return "flex" in display or "grid" in display
    grows = "flex" in display and bool(ratio(style.get("flex-grow", "0")))
    size = "height" if "flex-direction" in around else "width"
    return (
        grows
        and style.get("max-width", "none") == "none"
        and not box_hidden({k: v for k, v in style.items() if k != size})
    )


def _flattened(element: Element, styles: Styles) -> Iterator[Element]:
    """Yield what a box without height clips: one whose own lines have none, or the parts in rows without height."""
    style, children = styles.get(element), [child for child in element if isinstance(child, Element)]
    if _has_no_rows(style):
        around = style.get("overflow-y") in _CLIPS
        yield from (child for child in children if around or styles.get(child).get("overflow-y") in _CLIPS)
    elif not any(is_boxed(child.tag, styles.get(child)) for child in children):
        yield element


def _has_no_rows(style: Mapping[str, str]) -> bool:
    """Return whether all rows of a grid have no height, as in accordions that open by `1fr`."""
    rows = style.get("grid-template-rows")
    return rows is not None and _NO_TRACK.issuperset(arguments(rows.replace(", ", ",")))


def _combined(element: Element, factors: Mapping[Element, float]) -> float:
    """Return the product of a factor of an element and of those around it."""
    nearest = (ancestor for ancestor in islice(element.ancestors, 50) if isinstance(ancestor, Element))
    return factors[element] * math.prod(factors.get(ancestor, 1.0) for ancestor in nearest)


def _let_out(judgment: _Judgment, styles: Styles) -> None:
    """Move what is seen out of hidden elements: what is moved back to the page, and what a box does not clip.

    A box without height clips positioned content only if it is positioned itself, otherwise the content is relative to
    an ancestor; and content over the padding is visible, as in aspect-ratio boxes.
    """
    reasons, near = judgment.elements, set(judgment.near)
    for element in list(topmost([element for element, reason in reasons.items() if reason in {"size", "position"}])):
        inside = [node for node in element.descendants if isinstance(node, Element)] if element.text.strip() else []
        if reasons[element] == "position":
            visible = [node for node in inside if node in near and node not in reasons]
        else:
            style = styles.get(element)
            is_holder = style.get("position", "static") != "static"
            padded = (pixels(style.get("padding-top", ""), 500.0) or 0.0) > TINY_BOX
            free = _FIXED if is_holder and not padded else OUT_OF_FLOW
            visible = [node for node in inside if styles.get(node).get("position") in free and node not in reasons]
        for node in list(topmost(visible)):
            element.insert_before(node.extract())


def _keep_main_part(document: Document, judgment: _Judgment) -> bool:
    """Keep what a script must be about to show: otherwise almost nothing of the page would be left.

    Returns:
        Whether anything was kept; what is hidden inside of it has yet to be judged.
    """
    body = document.find("body")
    hides = [*judgment.elements, *(element for element, hidden in judgment.texts["visibility"].items() if hidden)]
    if body is None or not hides:
        return False
    sizes = {element: len(element.text) for element in topmost(hides)}
    if not any(sizes.values()):
        return False
    before = judgment.revealed
    total = len(body.text)
    top = [element for element, size in sizes.items() if size * 20 > total]
    lost = sum(sizes[element] for element in top)
    shown_size = total - sum(sizes.values())  # of some pages most is closed menus
    for element in top:
        soft = judgment.elements.get(element, "visibility") in _FADE_INS
        if (soft and len(top) > 2 and lost * 2 > total) or (
            (sizes[element] * 5 > total or (soft and sizes[element] > shown_size))
            and (element.matches(_WRAPPERS) or element.select_one(_WRAPPERS) is not None)
        ):
            judgment.elements.pop(element, None)
            judgment.texts["visibility"].pop(element, None)
            judgment.revealed += 1
    return judgment.revealed > before


def _drop_whole(elements: Mapping[Element, str], reasons: Mapping[Element, str], counts: Counter[str]) -> None:
    for element in list(topmost(elements)):
        if element.tag in {"html", "body"}:
            element.clear()
        if element.text.strip():
            counts[elements[element]] += 1
        if element.tag not in {"html", "body"}:
            element.extract()
