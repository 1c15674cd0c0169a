"""What lies outside of a box that clips its content, and what of SVG clips, masks or filters it all away.

The content is laid out from the top, as low as it must be: a text counts as at least as high as any usual font makes
it. What scrolls is visible.

Sources: CSS 2, sections 9 to 11 (https://www.w3.org/TR/CSS22/), CSS Multi-column Placement 1, CSS Overflow 4.
"""

from __future__ import annotations

import re
from collections.abc import Iterator, Mapping
from typing import Final

from turbohtml import Document, Element, Node, Text

from groundwire.reading.css.cascade import Styles
from groundwire.reading.css.rendered_size import font_size, moves
from groundwire.reading.css.values import SCREEN_WIDTH, fraction, pixels, ratio
from groundwire.reading.visibility.hidden_styles import is_boxed
from groundwire.reading.visibility.layout import HIGH_LINE, OUT_OF_FLOW, POSITIONED, WIDE_LETTER, Placement

__all__ = ["CUT", "Overflow", "blank_references", "clips"]

CUT: Final = frozenset({"hidden", "clip"})
"""Values of `overflow` with which nothing can be scrolled to."""

_NARROW_LETTER: Final = 0.4  # of the font size; the narrowest average of common fonts
_LOW_LINE: Final = 14.0  # pixels
_FONT: Final = 16.0  # pixels
_SPACED: Final = frozenset({"p", "ul", "ol", "dl", "pre", "blockquote", "figure"})
"""Elements with a margin of a line by default."""
_CELLS: Final = frozenset({"td", "th", "tr", "tbody", "thead", "tfoot", "table", "caption"})
_BREAKS: Final = frozenset({"column", "always", "page", "left", "right"})
_VISITED: Final = 300  # nodes of a box that are laid out
_DEPTH: Final = 8


def clips(style: Mapping[str, str]) -> bool:
    """Return whether a box may clip some of its content."""
    return style.get("overflow-x") in CUT or style.get("overflow-y") in CUT


class Overflow:
    """The overflow of a page's boxes.

    Args:
        styles: All styles of the page.
        layout: Where its boxes lie.
        alive: Whether a script, a state, or a missing style sheet may open what a box clips. Then only what follows
            empty parts counts as clipped.
    """

    def __init__(self, styles: Styles, layout: Placement, *, alive: bool) -> None:
        self._styles = styles
        self._layout = layout
        self._alive = alive
        self._fonts: dict[Element, float] = {}

    def clipped(self, box: Element) -> Iterator[Node]:
        """Yield the parts of a box that lie outside of what it shows of its content."""
        style = self._styles.get(box)
        if box.tag in _CELLS or "table" in style.get("display", "") or not is_boxed(box.tag, style):
            return
        height = self._room(style, "height", "overflow-y")
        if height is not None:
            height += pixels(style.get("padding-bottom", "0"), 500.0) or 0.0
        width = self._room(style, "width", "overflow-x")
        if width is None and not self._alive and style.get("overflow-x") in CUT:
            frame = self._layout.frame(box)
            width = frame.width if frame is not None else None
        if height is None and width is None and "line-clamp" not in style:
            return
        font = font_size(box, self._styles, self._fonts)
        flow = _Flow(self._styles, box, height, width, font=font, alive=self._alive)
        yield from flow.outside()

    def _room(self, box: Mapping[str, str], size: str, overflow: str) -> float | None:
        """Return the pixels of a box that clips what exceeds them; None if it does not."""
        if box.get(overflow) not in CUT:
            return None
        room = pixels(box.get(size, ""))
        if room is None and size == "height" and not self._alive:
            room = pixels(box.get("max-height", ""))
        return None if room is None else max(room, pixels(box.get(f"min-{size}", "0"), 500.0) or 0.0, 1.0)


class _Flow:
    """Lays out the content of a box that clips it, from the top, as low as it must be."""

    def __init__(
        self,
        styles: Styles,
        box: Element,
        height: float | None,
        width: float | None,
        *,
        font: float,
        alive: bool,
    ) -> None:
        style = styles.get(box)
        self._font = font
        self._styles = styles
        self._box = box
        self._height = height
        self._width = width
        self._alive = alive
        self._line = min(width or SCREEN_WIDTH, SCREEN_WIDTH)
        self._left = _VISITED
        self._down = self._across = self._high = 0.0
        self._letters = 0
        self._columns = _columns(style, self._line)
        self._lines = int(ratio(style.get("line-clamp", "")) or 0) if "box" in style.get("display", "") else 0
        if self._lines > 0 and not alive:
            self._height = self._lines * font
        if not alive and style.get("white-space") == "nowrap":
            self._across = pixels(style.get("text-indent", ""), width) or 0.0
        self._is_row = "flex" in style.get("display", "") and "column" not in style.get("flex-direction", "")
        self._holds = style.get("position") in POSITIONED
        if self._columns:
            self._line /= self._columns
            self._column = height
            self._height = None if height is None else height * self._columns
        if not alive and (line := _line_height(style)) is not None:
            self._down = (line - HIGH_LINE) / 2 if line > 1.2 * HIGH_LINE else 0.0

    def outside(self) -> Iterator[Node]:
        """Yield the parts that are not shown."""
        yield from self._inside(self._box, 0)

    def _inside(self, around: Element, depth: int) -> Iterator[Node]:
        for node in around:
            self._left -= 1
            if self._left < 0:
                return
            if isinstance(node, Text):
                if node.data.strip():
                    beside = self._is_one_line() and self._is_beside(self._across)
                    if beside or self._is_below(self._down + self._rows() * self._font):
                        yield node
                    self._letters += 0 if self._alive else len(node.data.strip())
            elif isinstance(node, Element):
                yield from self._element(node, depth)

    def _element(self, node: Element, depth: int) -> Iterator[Node]:
        style = self._styles.get(node)
        if style.get("display") == "none":
            return
        position = style.get("position")
        if position in OUT_OF_FLOW:
            if position == "absolute" and self._holds and not self._alive and self._is_placed_out(node, style):
                yield node
            return
        if style.get("float", "none") != "none":
            return
        if node.tag == "br":
            self._break(1)
            return
        boxed = is_boxed(node.tag, style)
        empty = not node.text.strip()
        if not boxed or "inline" in style.get("display", ""):
            yield from self._inline(node, style, empty=empty)
            return
        self._break(0)
        if self._columns and style.get("break-before", "") in _BREAKS:
            self._next_column()
        right, down = self._offset(node, style)
        if not empty and (self._is_below(self._down + down) or self._is_beside(self._across + right)):
            yield node
            return
        start = self._down
        self._down = start + max(down, 0.0)
        if not empty and depth < _DEPTH and not self._is_row and not self._alive:
            yield from self._inside(node, depth + 1)
            self._break(0)
        self._down += self._before(node, style) - max(down, 0.0)
        least = max(pixels(style.get(name, "")) or 0.0 for name in ("height", "min-height"))
        if empty or not self._alive:
            self._down = max(self._down, start + least)
        if self._alive and not empty:
            self._down = start
        if self._is_row and (empty or not self._alive):
            self._down = start
            self._across += max(pixels(style.get(name, ""), self._width) or 0.0 for name in ("min-width", "width"))
        if self._columns and style.get("break-after", "") in _BREAKS:
            self._next_column()

    def _inline(self, node: Element, style: Mapping[str, str], *, empty: bool) -> Iterator[Node]:
        if empty:
            self._high = max(
                self._high, pixels(f"{node.attr('height') or 0}px") or 0.0, pixels(style.get("height", "")) or 0.0
            )
            self._across += pixels(style.get("width", "")) or 0.0
            return
        right = pixels(style.get("margin-left", "0"), self._width) or 0.0
        if not self._alive:
            right += pixels(style.get("padding-left", "0"), self._width) or 0.0
        right += self._across if self._is_one_line() else 0.0
        if self._is_below(self._down + self._rows() * self._font) or self._is_beside(right):
            yield node
            return
        self._letters += 0 if self._alive else len(node.text.strip())

    def _is_one_line(self) -> bool:
        return self._styles.get(self._box).get("white-space") == "nowrap"

    def _offset(self, node: Element, style: Mapping[str, str]) -> tuple[float, float]:
        """Return by how many pixels the text of an element is moved right and down of where it would start."""
        down = self._before(node, style)
        right = pixels(style.get("margin-left", "0"), self._width) or 0.0
        if style.keys() & {"top", "left", "bottom", "right", "transform", "translate"}:
            if self._alive:
                return 0.0, 0.0
            if style.get("position") == "relative":
                right += pixels(style.get("left", "0"), self._width) or 0.0
                down += pixels(style.get("top", "0"), self._height) or 0.0
            high = pixels(style.get("height", "")) or _LOW_LINE
            x, y = moves(style, self._width or 0.0)[0], moves(style, high)[1]
            right, down = right + x, down + y
            if self._width is not None and right < 0 and right + self._most_width(node, style) <= 0:
                return self._width, 0.0
        if not self._alive:
            right += pixels(style.get("padding-left", "0"), self._width) or 0.0
            if style.get("white-space") == "nowrap":
                right += pixels(style.get("text-indent", "0"), self._width) or 0.0
        return right, down

    def _before(self, node: Element, style: Mapping[str, str]) -> float:
        """Return the space above the content of an element."""
        usual = f"{self._font}px" if node.tag in _SPACED and not self._alive and not self._styles.incomplete else "0"
        padding = 0.0
        if not self._alive:
            border = pixels(style.get("border-top", "0").partition(" ")[0]) or 0.0
            padding = border + (pixels(style.get("padding-top", "0"), self._width) or 0.0)
        return padding + (pixels(style.get("margin-top", usual), self._width) or 0.0)

    def _most_width(self, node: Element, style: Mapping[str, str]) -> float:
        width = pixels(style.get("width", ""), self._width)
        return width if width is not None else min(self._line, len(node.text.strip()) * WIDE_LETTER)

    def _is_placed_out(self, node: Element, style: Mapping[str, str]) -> bool:
        """Return whether an absolute element lies outside of the box, which it is relative to."""
        for start, end, room in (("left", "right", self._width), ("top", "bottom", self._height)):
            for side in (start, end):
                value = style.get(side, "")
                away = pixels(value, room)
                share = fraction(value)
                if (share is not None and share >= 1) or (away is not None and room is not None and away >= room):
                    return True
                most = self._most_width(node, style) if start == "left" else HIGH_LINE
                fits = start == "left" or len(node.text.strip()) * WIDE_LETTER <= self._line
                if away is not None and side != "top" and fits and away + most <= 0:
                    return True
        return False

    def _rows(self) -> int:
        return int(self._letters * _NARROW_LETTER * self._font / max(self._line, 1.0))

    def _break(self, lines: int) -> None:
        """End a line."""
        if not self._alive:
            lines = max(lines, self._rows(), 1 if self._letters else 0)
            self._down += max(lines * self._font, self._high)
        else:
            self._down += self._high
        if not self._is_row:
            self._across = 0.0
        self._letters, self._high = 0, 0.0

    def _next_column(self) -> None:
        if self._column and not self._alive:
            self._down = (self._down // self._column + 1) * self._column

    def _is_below(self, top: float) -> bool:
        return self._height is not None and top >= self._height

    def _is_beside(self, left: float) -> bool:
        return self._width is not None and left >= self._width


def _columns(style: Mapping[str, str], width: float) -> int:
    """Return how many columns a box has; 0 if its content is not in columns."""
    said = [*style.get("columns", "").split(), style.get("column-count", ""), style.get("column-width", "")]
    counts = [int(number) for part in said if (number := ratio(part)) is not None and number >= 1 and "%" not in part]
    widths = [size for part in said if (size := pixels(part)) is not None and size > 0]
    fitting = [int(width // max(size, 1.0)) or 1 for size in widths]
    return min([*counts, *fitting], default=0)


def _line_height(style: Mapping[str, str]) -> float | None:
    value = style.get("line-height", "")
    return pixels(value, _FONT) if pixels(value, _FONT) is not None else (ratio(value) or 0.0) * _FONT or None


_SHAPES: Final = frozenset(
    {"path", "polygon", "polyline", "line", "text", "use", "image", "foreignobject", "foreignObject"}
)
_NUMBERS: Final = re.compile(r"\d+")
_BLACK: Final = re.compile(r"(?:^|fill:\s*)(?:black|#000(?:000)?|none)(?:;|$)")
_FAR: Final = 900.0  # pixels
_MAX_REFERENCES: Final = 500


def blank_references(document: Document) -> frozenset[str]:
    """Return the ids, in lower case, of SVG's clip paths, masks and filters that leave nothing of an element."""
    found: set[str] = set()
    for name, leaves_nothing in (("clippath", _clips_all), ("mask", _masks_all), ("filter", _filters_all)):
        for element in document.select(f"svg {name}[id]")[:_MAX_REFERENCES]:
            if leaves_nothing([child for child in element.descendants if isinstance(child, Element)]):
                found.add((element.attr("id") or "").lower())
    return frozenset(found)


def _is_dot(shape: Element) -> bool:
    """Return whether a shape has no area; one that uses another has an unknown area."""
    if shape.tag == "path":
        return len(_NUMBERS.findall(shape.attr("d") or "")) <= 4  # a point or a line
    sizes = {"rect": ("width", "height"), "circle": ("r",), "ellipse": ("rx", "ry")}.get(shape.tag)
    if sizes is None:
        return shape.tag not in _SHAPES
    return any(
        (pixels(f"{value}px" if (value := shape.attr(size) or "0")[-1:].isdigit() else value, 1e3) or 0.0) <= 1
        for size in sizes
    )


def _clips_all(shapes: list[Element]) -> bool:
    return all(map(_is_dot, shapes))


def _masks_all(shapes: list[Element]) -> bool:
    return all(_is_dot(shape) or _BLACK.search(f"{shape.attr('fill')};{shape.attr('style')}") for shape in shapes)


def _filters_all(steps: list[Element]) -> bool:
    for step in steps:
        tag, values = step.tag.lower(), (step.attr("values") or "").replace(",", " ").split()
        if tag == "feflood" and ratio(step.attr("flood-opacity") or "1") == 0 and step is steps[-1]:
            return True
        if tag == "fecolormatrix" and len(values) == 20 and all(ratio(value) == 0 for value in values[15:]):
            return True
        if tag == "fefunca" and step.attr("type") in {"linear", "gamma", "table", "discrete"}:
            sizes = (step.attr("slope"), step.attr("amplitude"), *(step.attr("tablevalues") or "").split())
            said = [ratio(size) for size in sizes if size]
            if said and all(size == 0 for size in said) and not ratio(step.attr("intercept") or "0"):
                return True
        if tag == "feoffset" and max(abs(ratio(step.attr(side) or "0") or 0.0) for side in ("dx", "dy")) >= _FAR:
            return True
    return False
