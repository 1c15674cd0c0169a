"""Where boxes lie, as far as styles tell without fonts and images: outside of the page, or below another box.

Positions are bounds rather than values: a text counts as at most as wide and as high as any usual font makes it. Where
a float, a flexible row, a table, or a missing style sheet decides, the position is unknown, and nothing is hidden by
it. What scrolls is visible.

Sources: CSS 2, sections 9 and 10 and appendix E (https://www.w3.org/TR/CSS22/).
"""

from __future__ import annotations

import math
from collections.abc import Iterator, Mapping
from itertools import islice
from typing import Final, NamedTuple

from turbohtml import Element, Node, Text

from groundwire.reading.css.cascade import Styles
from groundwire.reading.css.colors import color, gradient_colors
from groundwire.reading.css.rendered_size import moves
from groundwire.reading.css.values import SCREEN_HEIGHT, SCREEN_WIDTH, fraction, pixels, ratio
from groundwire.reading.visibility.hidden_styles import is_boxed

__all__ = [
    "HIGH_LINE",
    "OUT_OF_FLOW",
    "POSITIONED",
    "WIDE_LETTER",
    "Extent",
    "Placement",
    "covered",
    "is_spread",
    "moves_away",
]

OUT_OF_FLOW: Final = frozenset({"absolute", "fixed"})
POSITIONED: Final = OUT_OF_FLOW | {"relative", "sticky", "-webkit-sticky"}
WIDE_LETTER: Final = 10.0  # pixels; the widest average of common fonts at 16 pixels
HIGH_LINE: Final = 26.0  # pixels
_GAP: Final = 36.0  # pixels between paragraphs, at most
_FONT: Final = 16.0  # pixels
_SHIFT: Final = 90.0  # pixels; smaller shifts are design
_SHIFTS: Final = (("left", -1), ("top", -1), ("margin-left", -1), ("text-indent", -1), ("right", 1), ("bottom", 1))
_INSIDE: Final = 64  # nodes of an element whose height is estimated
_TALL: Final = 20_000.0  # pixels of one with more
_BESIDE: Final = 50  # siblings that are looked at
_MEDIA: Final = "img, video, picture, canvas, svg, iframe, object, embed, input"
_ROWS: Final = ("flex", "grid", "table")
_CELLS: Final = frozenset({"td", "th", "tr", "tbody", "thead", "tfoot", "table", "caption"})
_STACKED: Final = frozenset(
    {"opacity", "visibility", "display", "transform", "translate", "scale", "rotate", "clip", "clip-path", "filter",
     "mask-image", "animation", "animation-name"}
)  # fmt: skip
"""What changes the order in which elements are painted, or what is painted of them."""
_HUGE: Final = 3_000.0  # pixels; a larger box covers any other


class Extent(NamedTuple):
    """The horizontal extent of a box."""

    left: float
    """Its left edge, in pixels from that of the page."""
    content: float
    """The left edge of its content."""
    width: float
    """The width of its content."""


_PAGE: Final = Extent(0.0, 0.0, float(SCREEN_WIDTH))


def moves_away(style: Mapping[str, str]) -> bool:
    """Return whether a style may move an element out of the page, depending on its place."""
    if style.get("position") == "fixed" or "%" in style.get("transform", "") or "%" in style.get("translate", ""):
        return True
    for name, sign in _SHIFTS:
        if name in style and (pixels(style[name], 1e3) or 0.0) * sign >= _SHIFT:
            return True
    return ("translate" in style or "transform" in style) and min(moves(style)) <= -_SHIFT


class Placement:
    """The estimated layout of a page.

    Args:
        styles: All styles of the page.
    """

    def __init__(self, styles: Styles) -> None:
        self._styles = styles
        self._unknown = styles.incomplete or styles.stripped
        self._frames: dict[Element, Extent | None] = {}
        self._holders: dict[Element, Extent | None] = {}

    def is_out(self, element: Element) -> bool:
        """Return whether all text of an element is left of the page or above it; if it is fixed, on any side."""
        style = self._styles.get(element)
        if style.get("display") == "contents":
            return False
        holder = self._holder(element, style)
        frame = self.frame(element)
        if frame is not None:
            right = frame.left + self._text_width(element, style, frame)
            if holder is not None and "left" not in style and "right" in style:
                right = frame.left + frame.width
            indent = pixels(style.get("text-indent", "")) or 0.0
            if indent <= -_SHIFT and is_boxed(element.tag, style) and not self._resets_indent(element):
                right += indent
            if right <= 0 or (style.get("position") == "fixed" and frame.left >= SCREEN_WIDTH):
                return True
        if holder is not _PAGE or not {"top", "bottom"} & style.keys():
            return False
        height = pixels(style.get("height", ""), float(SCREEN_HEIGHT))
        if height is None or style.get("overflow-y") not in {"hidden", "clip"}:
            height = max(height or 0.0, self._most_height(element, style, frame))
        down = moves(style, height)[1] + (pixels(style.get("margin-top", "")) or 0.0)
        top = pixels(style.get("top", ""), float(SCREEN_HEIGHT))
        if top is None:
            bottom = pixels(style.get("bottom", ""), float(SCREEN_HEIGHT))
            if bottom is None:
                return False
            top = SCREEN_HEIGHT - bottom - height
        top += down
        return top + height <= 0 or (style.get("position") == "fixed" and top >= SCREEN_HEIGHT)

    def _resets_indent(self, element: Element) -> bool:
        inside = list(islice(element.descendants, _INSIDE))
        return len(inside) == _INSIDE or any(
            "text-indent" in self._styles.get(node) for node in inside if isinstance(node, Element)
        )

    def _holder(self, element: Element, style: Mapping[str, str]) -> Extent | None:
        """Return the frame that a placed element is relative to; None if it is not placed, or the frame unknown."""
        position = style.get("position")
        if position == "fixed":
            return _PAGE
        if position != "absolute":
            return None
        path: list[Element] = []
        holder: Extent | None = _PAGE
        for ancestor in element.ancestors:
            if not isinstance(ancestor, Element) or ancestor.tag == "html":
                break
            path.append(ancestor)
            around = self._styles.get(ancestor)
            if ancestor in self._holders:  # no path is visited twice
                holder = self._holders[ancestor]
            elif around.get("position") in POSITIONED or {"transform", "translate", "filter"} & around.keys():
                holder = self.frame(ancestor)
            elif self._unknown and ancestor.attr("class"):
                holder = None
            else:
                continue
            break
        self._holders.update(dict.fromkeys(path, holder))
        return holder

    def frame(self, element: Element) -> Extent | None:
        """Return where an element lies; None if unknown. Linear, since no path is visited twice."""
        path: list[Element] = []
        node: object = element
        while isinstance(node, Element) and node not in self._frames:
            path.append(node)
            node = node.parent
        around = self._frames[node] if isinstance(node, Element) else _PAGE
        for step in reversed(path):
            around = self._frames[step] = self._placed(step, around)
        return around

    def _placed(self, element: Element, around: Extent | None) -> Extent | None:
        style, tag = self._styles.get(element), element.tag
        if tag == "html":
            return _PAGE
        if style.get("position") in OUT_OF_FLOW:
            around = self._holder(element, style)
        elif around is None or tag in _CELLS or self._is_elsewhere(element, style):
            return None
        if around is None or (self._unknown and element.attr("class") and tag != "body"):
            return None
        if not is_boxed(tag, style) or style.get("display", "block") == "contents":
            left = self._shift(style, around, 0.0)
            if left is not None and (margin := pixels(style.get("margin-left", "0")) or 0.0) < 0:
                before = list(islice(element.previous_siblings, _BESIDE))
                left += (
                    margin + sum(len(node.text) for node in before if isinstance(node, (Element, Text))) * WIDE_LETTER
                )
                left = left if len(before) < _BESIDE else 0.0
            return None if left is None else Extent(around.content + left, around.content + left, around.width)
        if "inline" in style.get("display", "") or style.get("direction") == "rtl" or element.attr("dir") == "rtl":
            return None
        return self._boxed(element, style, around)

    def _is_elsewhere(self, element: Element, style: Mapping[str, str]) -> bool:
        """Return whether what is beside an element decides where it lies."""
        display = self._styles.get(element.parent).get("display", "") if isinstance(element.parent, Element) else ""
        if any(row in display for row in _ROWS):
            return True
        floats = style.get("float", "none")
        if floats != "left":
            return floats != "none"
        before = islice(element.previous_siblings, _BESIDE)
        return any(isinstance(node, Element) and "float" in self._styles.get(node) for node in before)

    def _boxed(self, element: Element, style: Mapping[str, str], around: Extent) -> Extent | None:
        placed = style.get("position") in OUT_OF_FLOW
        indent = pixels(style.get("margin-left", "8px" if element.tag == "body" else "0"), around.width)
        inside = pixels(style.get("padding-left", "0"), around.width)
        most = pixels(style.get("max-width", "none"), around.width)
        width = pixels(style.get("width", "auto"), around.width)
        if inside is None or (indent is None and style.get("margin-left") != "auto"):
            return None
        if width is None:
            taken = max(around.width - (indent or 0.0) - inside, 0.0)
            shrinks = placed or "float" in style
            width = min(taken, len(element.text.strip()) * WIDE_LETTER) if shrinks else taken
        width = width if most is None else min(width, most)
        if indent is None:
            indent = max((around.width - width) / 2, 0.0)
        shift = self._shift(style, around, width)
        if shift is None:
            return None
        start = around.content
        if placed and style.get("left", "auto") == "auto":
            right = pixels(style.get("right", "auto"), around.width)
            before = self._frames.get(element.parent) if right is None and isinstance(element.parent, Element) else None
            if right is None and before is None:
                return None
            start = before.content if before is not None else start + around.width - (right or 0.0) - width
        left = start + indent + shift
        return Extent(left, left + inside, width)

    @staticmethod
    def _shift(style: Mapping[str, str], around: Extent, width: float) -> float | None:
        """Return by how many pixels an element is moved to the right."""
        position = style.get("position", "static")
        shift = moves(style, width)[0] if width else 0.0
        if position in OUT_OF_FLOW or position == "relative":
            left, right = (pixels(style.get(side, "auto"), around.width) for side in ("left", "right"))
            if "left" in style and left is None and style["left"] != "auto":
                return None
            shift += left if left is not None else -right if right is not None and position == "relative" else 0.0
        return shift

    def _text_width(self, element: Element, style: Mapping[str, str], frame: Extent) -> float:
        """Return the most pixels that the text of an element takes from its left edge on."""
        text = element.text.strip()
        size = max(pixels(style.get("font-size", "")) or _FONT, _FONT) / _FONT
        wide = len(text) * WIDE_LETTER * size * (2 if element.tag in {"h1", "h2"} else 1)
        wide += frame.content - frame.left
        shrinks = "float" in style or (style.get("position") in OUT_OF_FLOW and "width" not in style)
        if not shrinks and (self._styles.aligned or element.closest("center, [align]") is not None):
            return max(frame.width, wide)
        if "width" in style and style.get("white-space") not in {"nowrap", "pre"}:
            longest = max(map(len, text.split()), default=0) * WIDE_LETTER * size
            return min(wide, max(frame.width, longest)) + (frame.content - frame.left)
        return wide

    def _most_height(self, element: Element, style: Mapping[str, str], frame: Extent | None) -> float:
        """Return the most pixels that an element is high."""
        width = max(frame.width if frame is not None else 100.0, 40.0)
        blocks = sum(1 for node in islice(element.descendants, _INSIDE) if isinstance(node, Element))
        if blocks >= _INSIDE // 2:
            return _TALL
        lines = int(len(element.text.strip()) * WIDE_LETTER / width - 0.01) + max(blocks, 1)
        media = 400.0 * len(element.select(_MEDIA))
        padding = sum(pixels(style.get(f"padding-{side}", "0"), 500.0) or 0.0 for side in ("top", "bottom"))
        return lines * HIGH_LINE + blocks * _GAP + media + padding

    def exceeds(self, style: Mapping[str, str], around: Element) -> bool:
        """Return whether an absolute box is larger than the text around it, from the top left corner on."""
        inner, frame = self._styles.get(around), self.frame(around)
        if frame is None or any((pixels(style.get(side, "")) or 1.0) > 0 for side in ("left", "top") if side in style):
            return False
        if not {"left", "top"} <= style.keys():
            return False
        wide = fraction(style.get("width", ""))
        width = pixels(style.get("width", ""), frame.width) or 0.0
        height = pixels(style.get("height", "")) or 0.0
        most = pixels(inner.get("height", "")) or self._most_height(around, inner, frame)
        return height >= most and ((wide or 0.0) >= 0.99 or width >= self._text_width(around, inner, frame))


def is_spread(style: Mapping[str, str]) -> bool:
    """Return whether an element is as large as its containing block."""

    def fills(size: str, start: str, end: str) -> bool:
        if (fraction(style.get(size, "")) or 0.0) >= 0.99 or (pixels(style.get(size, "")) or 0.0) >= _HUGE:
            return True
        return all((edge := pixels(style.get(side, ""), 1_000.0)) is not None and edge <= 0 for side in (start, end))

    return fills("width", "left", "right") and fills("height", "top", "bottom")


def covered(styles: Styles, *, alive: bool) -> Iterator[Node]:
    """Yield what an opaque box without text lies on, and what lies behind an opaque box around it.

    With external style sheets it is unknown which those are.

    Args:
        styles: All styles of the page.
        alive: Whether a script may take away a box that is raised above others.
    """
    if styles.incomplete or styles.stripped:
        return
    layout, done, raised, behind = Placement(styles), set[Element](), _Raised(styles), dict[Element, bool]()
    for host, added in styles.added.items():
        if _is_cover(added, host, layout, alive=alive):
            yield from _under(host, host, added, raised)
    for element in styles:
        style, around = styles.get(element), element.parent
        if not isinstance(around, Element):
            continue
        if around not in done and _is_cover(style, around, layout, alive=alive) and not element.text.strip():
            done.add(around)
            yield from _under(around, element, style, raised)
        is_low = style.get("position") in {"relative", "sticky"} and (ratio(style.get("z-index", "0")) or 0) < 0
        if is_low and _is_behind(element, styles, behind):
            yield element
        if "grid-area" in style and not alive and _is_opaque(style) and "grid" in styles.get(around).get("display", ""):
            yield from _same_area(element, style["grid-area"], styles)


def _is_cover(style: Mapping[str, str], around: Element, layout: Placement, *, alive: bool) -> bool:
    if style.get("position") != "absolute" or not _is_opaque(style):
        return False
    order = ratio(style.get("z-index", "0"))
    if not _STACKED.isdisjoint(style) or order is None or not (order == 0 or (order > 0 and not alive)):
        return False
    return is_spread(style) or (not alive and layout.exceeds(style, around))


def _same_area(element: Element, area: str, styles: Styles) -> Iterator[Element]:
    """Yield the parts of a grid that an opaque one is painted over."""
    for node in islice(element.previous_siblings, _BESIDE):
        if isinstance(node, Element) and (style := styles.get(node)).get("grid-area") == area:
            yield from () if "z-index" in style else (node,)


def _is_opaque(style: Mapping[str, str]) -> bool:
    shades = gradient_colors(style.get("background-image", ""))
    shade = color(style.get("background-color", ""))
    return (shade is not None and shade.alpha == 1) or (bool(shades) and all(one.alpha == 1 for one in shades))


class _Raised:
    """How high the highest positioned part of an element is painted."""

    def __init__(self, styles: Styles) -> None:
        self.styles = styles
        self._orders: dict[Element, float] | None = None

    def order(self, element: Element) -> float | None:
        """Return the highest `z-index` in an element, or its own; None if nothing is positioned there."""
        if self._orders is None:
            self._orders = {}
            for inner in self.styles:
                style = self.styles.get(inner)
                node: object = inner
                order = ratio(style.get("z-index", "0")) or 0.0 if style.get("position") in POSITIONED else -math.inf
                while isinstance(node, Element) and self._orders.get(node, -math.inf) < order:
                    self._orders[node], node = order, node.parent
        return self._orders.get(element)


def _under(around: Element, cover: Element, style: Mapping[str, str], raised: _Raised) -> Iterator[Node]:
    """Yield the parts of an element that its spread box covers: those without a position, and those below it."""
    styles = raised.styles
    if styles.get(around).get("position") not in POSITIONED:
        return
    order = ratio(style.get("z-index", "0")) or 0.0
    for child in around:
        if isinstance(child, Text) and child.data.strip():
            yield child
        if not isinstance(child, Element) or child is cover or not _STACKED.isdisjoint(styles.get(child)):
            continue
        if (highest := raised.order(child)) is None or highest < order:
            yield child


def _is_behind(element: Element, styles: Styles, known: dict[Element, bool]) -> bool:
    """Return whether an element is painted before the opaque background of one around it; no path is visited twice."""
    path, answer = list[Element](), False
    for ancestor in element.ancestors:
        if not isinstance(ancestor, Element) or ancestor.tag == "html":
            break
        path.append(ancestor)
        style, around = styles.get(ancestor), ancestor.parent
        ends = style.get("position") in POSITIONED and style.get("z-index", "auto") != "auto"
        ends = ends or "isolation" in style or style.get("position") == "fixed"
        if ancestor.tag == "body" and not (isinstance(around, Element) and _is_opaque(styles.get(around))):
            ends = True  # the background of the page itself is behind everything
        if ancestor in known:
            answer = known[ancestor]
        elif not ends and _STACKED.isdisjoint(style.keys() - {"display"}) and not (answer := _is_opaque(style)):
            continue
        break
    known.update(dict.fromkeys(path, answer))
    return answer
