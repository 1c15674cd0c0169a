"""Removal of everything that a person who looks at the page could not see.

That is: what a browser does not render, what its style hides, and what only programs read. Visible facts are never
lost: closed `details` are a click away, white on dark is readable, and a page that hides its main part until a script
has run keeps it.
"""

from __future__ import annotations

import re
from collections import Counter
from collections.abc import Iterable, Iterator, Mapping
from dataclasses import dataclass, field
from typing import Final, NamedTuple

from turbohtml import Document, Element
from turbohtml.query import escape_identifier

from groundwire.reading.css.cascade import Styles
from groundwire.reading.css.longhands import may_hide
from groundwire.reading.css.parser import Declaration
from groundwire.reading.css.rendered_size import measure_fonts
from groundwire.reading.css.stylesheets import class_names, read_styles
from groundwire.reading.css.values import pixels, ratio
from groundwire.reading.visibility.hidden_styles import (
    FAINT,
    INHERITED,
    hidden_by,
    hiding_classes,
    is_boxed,
    is_flattened,
    is_shown_by,
    text_hidden,
)
from groundwire.reading.visibility.text_contrast import COLORED, covered, declare_attributes, unreadable
from groundwire.reading.visibility.unrendered import (
    drop_texts,
    drop_unrendered,
    fill_streamed,
    flatten_shadows,
    keep_folded,
    topmost,
)

__all__ = ["Removed", "drop_unseen"]

_REVEALED: Final = re.compile(
    r"(?:^|[\s_-])(?:aos|wow|sal|sr|fade|reveal|animat\w*|scroll|in-?view|lazy|appear|motion|elementor-invisible)",
    re.IGNORECASE,
)
_REVEAL_MARKS: Final = (
    "data-aos", "data-sal", "data-w-id", "data-animate", "data-animation", "data-scroll", "data-sr-id", "data-reveal",
    "data-framer-appear-id", "data-motion", "v-cloak", "ng-cloak", "x-cloak",
)  # fmt: skip
_OUT: Final = frozenset({"absolute", "fixed"})
_FREE: Final = frozenset({"fixed"})
_SOFT: Final = frozenset({"opacity", "visibility", "transform", "position", "clip", "filter"})
"""Properties that scripts reset when a part scrolls into view; `display` needs a click."""

_ANIMATED: Final = ("animation", "animation-name", "animation-fill-mode", "animation-iteration-count")
_NO_ROWS: Final = frozenset({"0fr", "0px", "0"})
_CUT: Final = frozenset({"hidden", "clip"})
_MARGINS: Final = ("margin-top", "margin-left")
_CLIPPED: Final = (("height", "overflow-y"), ("width", "overflow-x"))
_MOVED: Final = frozenset({"top", "left", "bottom", "right", "transform", "translate"})
_LINE: Final = 20.0  # pixels; a box of less shows no line of text
_HIDDEN: Final = '[hidden], dialog:not([open]), [popover], marquee[width="0"], marquee[height="0"]'
_WRAPPERS: Final = "html, body, main, article, h1, [role=main]"
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
    revealed: int = 0


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
    pushed: bool
    """Whether its margin may move it out of a box; see `_is_pushed_out`."""
    cuts: bool = False
    """Whether it may clip what follows an empty part; see `_beyond`."""


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
    named = class_names(document) if flatten_shadows(document) else styles.named
    if alive:
        fill_streamed(document)
    counts = drop_unrendered(document)
    marked = document.select(f"{_HIDDEN}, {COLORED}")  # both at once: searching the page is what takes time
    reasons = _declare_defaults(document, marked, styles, named)
    declare_attributes(marked, styles)
    if not len(styles):
        return Removed(counts, named=named)
    found = _judge(styles, reasons)
    measure_fonts(document, found.texts["font-size"], styles)
    found.texts["color"] = unreadable(document, styles)
    _let_out(found.whole, styles)
    for element in covered(styles):
        found.whole.setdefault(element, "position")
    if alive:
        found.revealed += keep_folded(document, found.whole)
        for _ in range(_NESTED):
            if not _keep_main_part(document, found):
                break
    _drop_whole(found.whole, reasons, counts)
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


def _judge(styles: Styles, reasons: Mapping[Element, str]) -> _Judgement:
    found = _Judgement(texts={name: {} for name in INHERITED})
    faint: dict[Element, float] = {}
    known: dict[tuple[str, int], _Look] = {}
    for element in styles:
        tag, kind = element.tag, styles.kind(element)
        look = known.get((tag, kind)) if kind is not None else None
        if look is None:
            look = _look(tag, styles.get(element), styles)
            if kind is not None:
                known[tag, kind] = look
        reason, opacity, texts, flat, pushed, cuts = look
        if opacity is not None:
            faint[element] = opacity
            reason = "opacity" if _opacity(element, faint) <= FAINT else ""
        if reason == "contain" and _is_stretched(element, styles):
            reason = ""
        if reason:
            if reason in _SOFT and styles.incomplete and _is_marked(element):
                found.revealed += 1
            else:
                found.whole[element] = reasons.get(element, reason) if reason == "display" else reason
        if pushed and not reason and _is_pushed_out(element, styles):
            found.whole[element] = "position"
        if cuts:
            found.whole.update(dict.fromkeys(_beyond(element, styles), "position"))
        if flat:
            found.whole.update(dict.fromkeys(_flattened(element, styles), "size"))
        for name, state in texts:
            if state and name == "visibility" and styles.incomplete and _is_marked(element):
                found.revealed += 1
            else:
                found.texts[name][element] = state
    return found


def _look(tag: str, style: Mapping[str, str], styles: Styles) -> _Look:
    """Return the effect of a style, as far as it does not depend on the element's position."""
    pushed = _MOVED.isdisjoint(style) and any((pixels(style.get(name, "")) or 0.0) >= _LINE for name in _MARGINS)
    cuts = any(style.get(overflow) in _CUT and size in style for size, overflow in _CLIPPED)
    if not any(may_hide(name, value) for name, value in style.items()):
        shows = tuple((name, False) for name in INHERITED if style.get(name, "inherit") != "inherit")
        return _Look("", None, shows, flat=False, pushed=pushed, cuts=cuts)
    if styles.keyframes or "animation" in style or "animation-name" in style:
        style = _animated(style, styles)
    if styles.incomplete and "position" not in style:
        style = {**style, "position": "relative"}  # another sheet positions what has a position
    boxed = is_boxed(tag, style) or (styles.incomplete and "display" not in style)
    reason = hidden_by(tag, style, boxed=boxed)
    opacity = None if reason else ratio(style.get("opacity", "1"))
    said = [(name, text_hidden(name, style[name], boxed=boxed)) for name in INHERITED if name in style]
    return _Look(
        reason,
        opacity if opacity is not None and opacity < 0.5 else None,
        tuple((name, state) for name, state in said if state is not None),
        style.get("grid-template-rows") in _NO_ROWS or (boxed and is_flattened(style)),
        pushed,
        cuts,
    )


def _is_pushed_out(element: Element, styles: Styles) -> bool:
    """Return whether the margin of an element moves it out of a box that clips it."""
    style, around = styles.get(element), element.parent
    box = styles.get(around) if isinstance(around, Element) else {}
    return any(
        (room := _room(box, size, overflow)) is not None and (pixels(style.get(margin, "")) or 0.0) >= room
        for margin, (size, overflow) in zip(_MARGINS, _CLIPPED, strict=True)
    )


def _room(box: Mapping[str, str], size: str, overflow: str) -> float | None:
    """Return the pixels of a box that clips what exceeds them; None if it does not."""
    if box.get(overflow) not in _CUT or (room := pixels(box.get(size, ""))) is None:
        return None
    return max(room, pixels(box.get(f"min-{size}", "0"), 500.0) or 0.0, 1.0)


def _beyond(element: Element, styles: Styles) -> Iterator[Element]:
    """Yield the parts of a box that empty ones before them push out of it."""
    box = styles.get(element)
    for size, overflow in _CLIPPED:
        room = _room(box, size, overflow)
        if room is None or (size == "width" and box.get("white-space") != "nowrap"):
            continue
        for child in element:
            if not isinstance(child, Element) or (style := styles.get(child)).get("position") in _OUT:
                continue
            if room <= 0:
                yield child
            elif is_boxed(child.tag, style) and not child.text.strip():
                room -= pixels(style.get(size, "")) or 0.0


def _is_stretched(element: Element, styles: Styles) -> bool:
    """Return whether the box around an element may give it a height."""
    display = styles.get(element.parent).get("display", "") if isinstance(element.parent, Element) else ""
    return "flex" in display or "grid" in display


def _flattened(element: Element, styles: Styles) -> Iterator[Element]:
    """Yield what a box without height clips: one whose own lines have none, or parts in such a row."""
    children = [child for child in element if isinstance(child, Element)]
    if styles.get(element).get("grid-template-rows") in _NO_ROWS:
        yield from (child for child in children if styles.get(child).get("overflow-y") in _CUT)
    elif not any(is_boxed(child.tag, styles.get(child)) for child in children):
        yield element


def _animated(style: Mapping[str, str], styles: Styles) -> Mapping[str, str]:
    """Return a style after its animation has ended."""
    words = " ".join(style.get(name, "") for name in _ANIMATED).split()
    words = [word.rstrip(",") for word in words]
    if not words or words == ["none"]:
        return style
    if not {"forwards", "both", "infinite"} & set(words):
        return style
    names = {name.lower(): frame for name, frame in styles.keyframes.items()}
    for word in words:
        if word in names:
            return {**style, **names[word]}
    if styles.incomplete:
        return {name: value for name, value in style.items() if name not in {"opacity", "visibility", "transform"}}
    return style


def _opacity(element: Element, faint: Mapping[Element, float]) -> float:
    product = faint[element]
    for steps, ancestor in enumerate(element.ancestors):
        if steps > 50 or product <= FAINT:
            break
        if isinstance(ancestor, Element):
            product *= faint.get(ancestor, 1.0)
    return product


def _is_marked(element: Element) -> bool:
    """Return whether an element is faded in by a common library."""
    if any(element.attr(mark) is not None for mark in _REVEAL_MARKS):
        return True
    if _REVEALED.search(element.attr("class") or ""):
        return True
    style = (element.attr("style") or "").replace(" ", "").lower()
    return "opacity:0" in style and "transform:" in style and "scale(0)" not in style


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
