"""Removal of everything that a person who looks at the page could not see.

That is: what a browser does not render, what its style hides, and what only programs read. Visible facts are never
lost: closed `details` are a click away, white on dark is readable, and a page that hides its main part until a script
has run keeps it.
"""

from __future__ import annotations

from collections import Counter
from collections.abc import Iterable, Iterator, Mapping
from dataclasses import dataclass, field
from functools import partial
from typing import Final

from turbohtml import Document, Element, Text
from turbohtml.query import escape_identifier

from groundwire.reading.css.cascade import ANIMATED, Kind, Styles, declare_attributes, inherited
from groundwire.reading.css.parser import DEFAULTS, Declaration
from groundwire.reading.css.stylesheets import read_styles
from groundwire.reading.css.values import OUT_OF_FLOW, pixels, ratio
from groundwire.reading.html.math import is_formula, write_out_drawings
from groundwire.reading.html.semantics import fill_streamed, topmost
from groundwire.reading.text.sanitize import lower_ascii
from groundwire.reading.visibility.appearance import prefer_spoken, write_appearance
from groundwire.reading.visibility.hidden_styles import (
    BLOCKS,
    FAINT,
    INHERITED,
    PLAIN,
    TINY_BOX,
    StyleEffect,
    box_hidden,
    effect_of,
    has_no_rows,
    hiding_classes,
    is_boxed,
    is_far,
    is_shown_by,
    measure_fonts,
)
from groundwire.reading.visibility.text_contrast import COLORED, unreadable
from groundwire.reading.visibility.unrendered import (
    checked_states,
    drop_texts,
    drop_unrendered,
    is_cloaked,
    is_marked,
    keep_folded,
    place_shadows,
    take_shadows,
)

_POSITIONED: Final = OUT_OF_FLOW | {"relative", "sticky"}
_FADE_INS: Final = frozenset({"opacity", "visibility", "transform", "position", "clip", "filter"})
"""Properties that scripts reset when a part scrolls into view; `display` needs a click."""

_CLIPS: Final = frozenset({"hidden", "clip"})
_ARIA_HIDDEN: Final = '[aria-hidden="true"]'
_HIDDEN_ATTRIBUTES: Final = "[hidden], dialog:not([open]), [popover]"
_WRAPPERS: Final = "html, body, main, article, h1, [role=main]"
_Frame = tuple[tuple[float, float], tuple[float, float]]
_IN_PLACE: Final[_Frame] = ((0.0, 0.0), (0.0, 0.0))
_AWAY: Final = (-1e9, 0.0)
"""How far away is what lies beside the window by a share of its width, or behind the page: no pixels move it back."""
_MIN_PAGE: Final = 500  # characters of a wrapper whose name does not tell that it has the page; fewer may be a slide
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
    fill_streamed(document, alive=alive)
    write_out_drawings(document)
    boxes = checked_states(document, styles)
    counts = drop_unrendered(document)
    selector = f"{_HIDDEN_ATTRIBUTES}, {COLORED}, {_ARIA_HIDDEN}"
    marked = document.select(selector)  # all at once: searching the page is what takes time
    names = "\n".join(styles.page_classes)
    lowered = lower_ascii(names)
    utilities = {name for name in hiding_classes(names, lowered) if "." + name not in styles.sheet_names}
    reasons = _declare_defaults(document, marked, styles, utilities)
    for element in marked:
        declare_attributes(element, styles)
    drawings = [element for element in marked if element.attr("aria-hidden") == "true"]
    hidden: dict[Element, str] = {}
    texts: dict[str, dict[Element, bool]] = {name: {} for name in INHERITED}
    near, revealed = _judge(styles, reasons, hidden, texts, alive=alive)
    measure_fonts(document, texts["font-size"], styles)
    texts["color"], doubtful = unreadable(document, styles)
    _let_out(hidden, near, styles)
    revealed += keep_folded(document, hidden, texts["visibility"], styles, boxes, alive=alive)
    for _ in range(_MAX_WRAPPERS if alive else 0):
        if not (kept := _keep_main_part(document, hidden, texts["visibility"])):
            break
        revealed += kept
    prefer_spoken(drawings, hidden)
    _drop_whole(hidden, reasons, counts)
    for name, states in texts.items():
        if any(states.values()) and (dropped := drop_texts(states)):
            counts[name] += dropped
    described = write_appearance(document, styles)
    return Removed(dict(counts), revealed, doubtful, lowered, described)


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
    styles.apply(attributes, none, layer=DEFAULTS)
    reasons.update(dict.fromkeys(attributes, "attribute"))
    if utilities:
        selector = ", ".join("." + escape_identifier(name) for name in utilities)
        hidden = [e for e in document.select(selector) if not is_shown_by(e.attr("class") or "")]
        styles.apply(hidden, none, layer=DEFAULTS)
        reasons.update(dict.fromkeys(hidden, "class"))
    return reasons


def _judge(
    styles: Styles,
    reasons: Mapping[Element, str],
    hidden: dict[Element, str],
    texts: Mapping[str, dict[Element, bool]],
    *,
    alive: bool,
) -> tuple[set[Element], int]:
    """Find what styles hide.

    Args:
        styles: The styles of the page.
        reasons: What is known of elements that an attribute or a class hides.
        hidden: The elements to be removed with their content are added, with the property that hides each.
        texts: For each inherited property, whether it hides an element's own text is added.
        alive: Whether a script may show something.

    Returns:
        The elements that are moved, and lie on the page; and how many a script or an animation shows.
    """
    revealed = 0

    def is_revealed(element: Element, reason: str) -> bool:
        """Return whether something shows an element for which a property hides it."""
        if reason == ANIMATED:
            return True
        return alive and (is_marked(element) if reason in _FADE_INS else reason == "display" and is_cloaked(element))

    effects_by_kind: dict[tuple[str, Kind], StyleEffect] = {}
    effects: list[tuple[Element, str, StyleEffect]] = []
    for element, kind, style in styles.rows:
        tag = _box_of(element, styles)
        effect = effects_by_kind.get((tag, kind))
        if effect is None:
            effect = effects_by_kind[tag, kind] = effect_of(tag, style, incomplete=styles.incomplete)
        if effect is not PLAIN:
            effects.append((element, tag, effect))
    faint = {element: effect.opacity for element, _, effect in effects if effect.opacity is not None}
    moved = {element: effect.moved for element, _, effect in effects if effect.moved is not None}
    opacities: dict[Element, float] = {}
    for element, tag, (reason, opacity, states, flat, _) in effects:
        if opacity is not None:
            opacity = inherited(element, opacities, 1.0, lambda inner, around: around * faint.get(inner, 1.0))
            reason = "opacity" if opacity <= FAINT else ""
        if reason and not _is_shown_after_all(element, tag, reason, styles):
            if is_revealed(element, reason):
                revealed += 1
            else:
                hidden[element] = reasons.get(element, reason) if reason == "display" else reason
        if flat:
            hidden.update(dict.fromkeys(_flattened(element, styles), "size"))
        for name, state in states:
            if state and name == "visibility" and is_revealed(element, name):
                revealed += 1
            else:
                texts[name][element] = state
    positions = {element: style["position"] for element, _, style in styles.rows if "position" in style}
    moved |= {element: _AWAY for element, reason in hidden.items() if reason == "position"}
    near, frames = set[Element](), dict[Element, _Frame]()
    for element, (dx, dy) in moved.items():
        x, y = inherited(element, frames, _IN_PLACE, partial(_moved_frame, moved, positions))[0]
        if not is_far(x, y):
            near.add(element)
        elif is_far(x - dx, y - dy):
            continue  # it goes with what is around it, or stays with that
        elif is_revealed(element, "position"):
            revealed += 1
        else:
            hidden.setdefault(element, "position")
    return near, revealed


def _is_shown_after_all(element: Element, tag: str, reason: str, styles: Styles) -> bool:
    """Return whether an element is no less visible for what seems to hide it.

    The box around it may give it a height or, in a row that it grows in, a width.
    """
    if reason == "clip" and tag == "mjx-assistive-mml":  # MathJax draws the same formula by generated content
        return is_formula(" ".join(element.stripped_strings))
    around = styles.get(element.parent) if isinstance(element.parent, Element) else {}
    style, display = styles.get(element), around.get("display", "")
    if reason == "contain":
        return "flex" in display or "grid" in display
    if reason != "size" or "flex" not in display or not ratio(style.get("flex-grow", "0")):
        return False
    size = "height" if "flex-direction" in around else "width"
    return style.get("max-width", "none") == "none" and not box_hidden({k: v for k, v in style.items() if k != size})


def _moved_frame(
    moved: Mapping[Element, tuple[float, float]], positions: Mapping[Element, str], element: Element, frame: _Frame
) -> _Frame:
    """Return how far an element is moved with those around it, and what is placed in it; see `inherited`."""
    around, holder = frame
    position = positions.get(element)
    if (shift := moved.get(element)) is not None:
        around = holder if position == "absolute" else _IN_PLACE[0] if position == "fixed" else around
        around = around[0] + shift[0], around[1] + shift[1]
    return around, around if position in _POSITIONED else holder


def _box_of(element: Element, styles: Styles) -> str:
    """Return an element's name; that of a block for a part of a flexible row or a grid, which has a box."""
    tag = element.tag
    if tag not in BLOCKS:
        display = styles.get(element.parent).get("display", "") if isinstance(element.parent, Element) else ""
        return "div" if "flex" in display or "grid" in display else tag
    return tag


def _flattened(element: Element, styles: Styles) -> Iterator[Element]:
    """Yield what a box without height clips: one whose own lines have none, or the parts in rows without height."""
    style, children = styles.get(element), [child for child in element if isinstance(child, Element)]
    if has_no_rows(style):
        around = style.get("overflow-y") in _CLIPS
        yield from (child for child in children if around or styles.get(child).get("overflow-y") in _CLIPS)
    elif not any(is_boxed(child.tag, styles.get(child)) for child in children):
        yield element


def _let_out(reasons: Mapping[Element, str], near: set[Element], styles: Styles) -> None:
    """Move what is seen out of hidden elements: what is moved back to the page, and what a box does not clip.

    A box without height clips positioned content only if it is positioned itself, otherwise the content is relative to
    an ancestor; and content over the padding is visible, as in aspect-ratio boxes.
    """
    for element in list(topmost([element for element, reason in reasons.items() if reason in {"size", "position"}])):
        inside = [node for node in element.descendants if isinstance(node, Element)] if element.text.strip() else []
        if reasons[element] == "position":
            visible = [node for node in inside if node in near and node not in reasons]
        else:
            style = styles.get(element)
            is_holder = style.get("position", "static") != "static"
            padded = (pixels(style.get("padding-top", ""), 500.0) or 0.0) > TINY_BOX
            free = {"fixed"} if is_holder and not padded else OUT_OF_FLOW
            visible = [node for node in inside if styles.get(node).get("position") in free and node not in reasons]
        for node in list(topmost(visible)):
            element.insert_before(node.extract())


def _keep_main_part(document: Document, hidden: dict[Element, str], unseen: dict[Element, bool]) -> int:
    """Keep what a script must be about to show: otherwise almost nothing of the page would be left.

    Args:
        document: The page.
        hidden: The elements to be removed, with the reason of each; those that are kept are taken out.
        unseen: Whether `visibility` hides the text of an element; those that are kept are taken out.

    Returns:
        How many elements are kept; what is hidden inside of them has yet to be judged.
    """
    body = document.find("body")
    sizes = {element: len(element.text) for element in topmost([*hidden, *filter(unseen.get, unseen)])}
    if body is None or not any(sizes.values()):
        return 0
    total = len(body.text)
    fading = {element for element in sizes if hidden.get(element, "visibility") in _FADE_INS}
    lost = sum(sizes[element] for element in fading)
    # A slide or a closed tab is less of a page than a wrapper of all of it, or than pieces that wait for a font.
    shows_most = lost > (total / 2 if len(fading) > 2 else max(_MIN_PAGE, total * 0.8))
    shown_size = total - sum(sizes.values())  # of some pages most is closed menus
    kept = 0
    for element, size in sizes.items():
        soft = element in fading
        if (soft and shows_most) or (
            (size * 5 > total or (soft and size > shown_size and size * 20 > total))
            and (element.matches(_WRAPPERS) or element.select_one(_WRAPPERS) is not None)
        ):
            hidden.pop(element, None)
            unseen.pop(element, None)
            kept += 1
    return kept


def _drop_whole(elements: Mapping[Element, str], reasons: Mapping[Element, str], counts: Counter[str]) -> None:
    for element in list(topmost(elements)):
        if element.tag in {"html", "body"}:
            element.clear()
        if element.text.strip():
            counts[elements[element]] += 1
        if element.tag not in {"html", "body"}:
            element.extract()
