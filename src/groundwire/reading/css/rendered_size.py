"""Transforms, clipping shapes, and font sizes, as far as they affect whether an element is visible and legible.

Sources: CSS Transforms 2 (https://www.w3.org/TR/css-transforms-2/), where percentages refer to 200 pixels, since there
    is no layout; CSS Fonts 4, section 2.5 (https://www.w3.org/TR/css-fonts-4/#font-size-prop).
"""

from __future__ import annotations

import math
import re
from collections.abc import Mapping, Sequence
from typing import Final

from turbohtml import Document, Element

from groundwire.reading.css.cascade import Styles, inherited
from groundwire.reading.css.values import (
    CALL,
    NUMBER,
    OUT_OF_FLOW,
    arguments,
    four_sides,
    pixels,
    radians,
    ratio,
)

__all__ = [
    "TINY_FONT",
    "TRANSFORMS",
    "cuts_all",
    "may_be_tiny",
    "measure_fonts",
    "transformed",
]

TRANSFORMS: Final = frozenset({"transform", "translate", "scale", "rotate"})
_Step = tuple[float, float, float, float]
"""What one transform does, seen from the front: by what it multiplies the width and the height, negative if the sides
are exchanged, and by how many pixels it moves right and down."""

_SAME: Final[_Step] = (1.0, 1.0, 0.0, 0.0)
_BASIS: Final = 200.0  # pixels; what a percentage of a translation refers to
_FLAT_AREA: Final = 4e-4  # of its area; a text of 20 pixels is then less than a pixel
_THIN_SIDE: Final = 0.02  # of its width or height
_MAX_SLOPE: Final = 1_000.0  # times its height
_MAX_CALLS: Final = 500
_MATRIX: Final[Mapping[int, tuple[int, ...]]] = {6: (0, 1, 2, 3, 4, 5), 16: (0, 1, 4, 5, 12, 13)}
"""Of the numbers of `matrix()` and `matrix3d()`, those for what is seen from the front."""


def transformed(style: Mapping[str, str]) -> tuple[bool, float, float]:
    """Return whether transforms leave nothing to see of an element, and by how many pixels they move it right and down.

    Nothing is seen of what is scaled to nothing, turned edge-on, skewed into a line, or faces away with a hidden back.
    """
    wide = high = facing = 1.0
    right = down = 0.0
    is_flat = is_turned = False
    for name, parts in _transforms(style):
        width, height, across, along = _step(name, parts)
        is_flat = is_flat or abs(width * height) <= _FLAT_AREA or min(abs(width), abs(height)) <= _THIN_SIDE
        if name.startswith("rotate"):
            is_turned, facing = True, facing * width * height
        if not is_turned:  # what follows a rotation moves in another direction
            right, down = right + wide * across, down + high * along
            wide, high = wide * width, high * height
    return is_flat or (facing < 0 and style.get("backface-visibility") == "hidden"), right, down


def _transforms(style: Mapping[str, str]) -> list[tuple[str, list[str]]]:
    """Return an element's transforms, in order, with their arguments."""
    own = [(name, style[name].split()) for name in ("translate", "rotate", "scale") if name in style]
    calls = CALL.findall(style["transform"])[:_MAX_CALLS] if "transform" in style else ()
    return [(name, parts) for name, parts in (*own, *((name, arguments(inside)) for name, inside in calls)) if parts]


def _step(name: str, parts: Sequence[str]) -> _Step:
    """Return what one function does; nothing if it is unknown."""
    numbers = [1.0 if (number := ratio(part)) is None else number for part in parts]
    if name.startswith("matrix"):
        if len(numbers) not in _MATRIX:
            return _SAME
        a, b, c, d, right, down = (numbers[place] for place in _MATRIX[len(numbers)])
        width = math.hypot(a, c)
        return width, (a * d - b * c) / width if width else 0.0, right, down
    axis = name[-1] if name[-1] in "xyz" else ""
    if name.startswith("translate"):
        x, y = (pixels(part, _BASIS) or 0.0 for part in [*parts, "0"][:2])
        return 1.0, 1.0, *_along(axis, x, y, 0.0)
    if name.startswith("scale"):
        if axis == "z" and numbers[0] == 0:
            return 0.0, 0.0, 0.0, 0.0  # what has no depth is not displayed (CSS Transforms 2)
        return *_along(axis, numbers[0], numbers[min(len(numbers), 2) - 1], 1.0), 0.0, 0.0
    angle = radians(parts[-1]) or 0.0
    if name.startswith("rotate"):
        if len(parts) > 1:  # the name of an axis, or a direction, of which its main axis counts
            axis = parts[0] if len(parts) == 2 else max(zip(map(abs, numbers), "xyz", strict=False))[1]
        height, width = _along(axis or "z", math.cos(angle), 1.0, 1.0)
        return width, height, 0.0, 0.0
    return (0.0, 0.0, 0.0, 0.0) if name.startswith("skew") and abs(math.tan(angle)) > _MAX_SLOPE else _SAME


def _along(axis: str, first: float, second: float, other: float) -> tuple[float, float]:
    """Return two values for x and y; with the name of an axis, the first value is its own, and the rest the other."""
    return {"x": (first, other), "y": (other, first), "z": (other, other)}.get(axis, (first, second))


_SLIVER: Final = 2.0  # pixels
_FULL_PERCENT: Final = 99.0  # percent of a box
_FULL_PIXELS: Final = 1_000.0  # pixels
_PATH_NUMBER: Final = re.compile(r"[+-]?(?:\d+\.?\d*|\.\d+)")
_LINE_NUMBERS: Final = 4  # numbers of a path that is a point or a line


def cuts_all(style: Mapping[str, str]) -> bool:
    """Return whether `clip` or `clip-path` leaves nothing of an element."""
    clip = style.get("clip", "")
    if clip.startswith("rect(") and style.get("position") in OUT_OF_FLOW and _is_sliver(clip[5:-1]):
        return True
    return any(_cuts_all(name, inside) for name, inside in CALL.findall(style.get("clip-path", "")))


def _is_sliver(edges: str) -> bool:
    """Return whether the rectangle with the edges top, right, bottom, left has no area."""
    parts = arguments(edges.partition(" round")[0])
    sides = [0.0 if part == "auto" and place in {0, 3} else pixels(part, 100.0) for place, part in enumerate(parts)]
    if len(sides) != 4:
        return False
    top, right, bottom, left = sides
    flat = top is not None and bottom is not None and bottom - top <= _SLIVER
    return flat or (left is not None and right is not None and right - left <= _SLIVER)


def _cuts_all(name: str, inside: str) -> bool:
    parts = arguments(inside.partition(" round")[0])
    if name == "rect":
        return _is_sliver(inside)
    if name == "inset" and parts:
        top, right, bottom, left = four_sides(parts)
        return _covers(top, bottom) or _covers(right, left)
    if name in {"circle", "ellipse"}:
        sizes = [pixels(part, 100.0) for part in arguments(inside.partition("at ")[0])]
        return any(size is not None and size <= 1 for size in sizes)
    if name == "polygon":
        return _has_no_area(inside)
    return name == "path" and len(_PATH_NUMBER.findall(inside)) <= _LINE_NUMBERS


def _covers(start: str, end: str) -> bool:
    first, second = pixels(start, 100.0), pixels(end, 100.0)
    if first is None or second is None:
        return False
    shares = "%" in start or "%" in end
    return first + second >= (_FULL_PERCENT if shares and first >= 0 and second >= 0 else _FULL_PIXELS)


def _has_no_area(points: str) -> bool:
    """Return whether a polygon has no area (the shoelace formula)."""
    pairs = [arguments(pair) for pair in points.removeprefix("evenodd,").removeprefix("nonzero,").split(",")]
    corners = [[pixels(part, 1_000.0) for part in pair] for pair in pairs if len(pair) == 2]
    vertices = [(x, y) for x, y in corners if x is not None and y is not None]
    if len(vertices) != len(corners) or not vertices:
        return False
    area = sum(x * v - u * y for (x, y), (u, v) in zip(vertices, vertices[1:] + vertices[:1], strict=True))
    return abs(area) / 2 < 4


_MEDIUM_FONT: Final = 16.0  # pixels
TINY_FONT: Final = 2.0  # pixels; smaller text is unreadable

_RELATIVE_SIZE: Final = re.compile(rf"{NUMBER}(?:em|%|ex|ch|lh|ic|cap)")
_EM_UNIT: Final = re.compile(r"(?<=[\d.])em(?![a-z])")
_SIZE_RATIOS: Final[Mapping[str, float]] = {"larger": 1.2, "smaller": 1 / 1.2}
_SMALL_RATIO: Final = 0.5  # relative to the parent; a few nested ones leave nothing


def _resolved(value: str, around: float) -> float:
    """Resolve a font size to pixels.

    Args:
        value: The value of `font-size`.
        around: The size of the parent element, in pixels.
    """
    if value in {"inherit", "unset"}:
        return around
    if _RELATIVE_SIZE.fullmatch(value):
        return (pixels(value, _MEDIUM_FONT) or 0.0) / _MEDIUM_FONT * around
    if value in _SIZE_RATIOS:
        return _SIZE_RATIOS[value] * around
    if "em" in value:
        value = _EM_UNIT.sub(f"px*{around:.6f}", value)
    size = pixels(value, around)
    return _MEDIUM_FONT if size is None else size


def may_be_tiny(value: str) -> bool:
    """Return whether a font size may make text unreadable, depending on the parent element."""
    size = _resolved(value, _MEDIUM_FONT)
    return size <= (TINY_FONT if _RELATIVE_SIZE.fullmatch(value) is None else _SMALL_RATIO * _MEDIUM_FONT)


def measure_fonts(document: Document, states: dict[Element, bool], styles: Styles) -> None:
    """Compute font sizes where some may be tiny: a relative size depends on that of the parent element."""
    if not any(states.values()):
        return
    sizes: dict[Element, float] = {}

    def size_of(element: Element, around: float) -> float:
        value = styles.get(element).get("font-size")
        return around if value is None else _resolved(value, around)

    for element in states:
        if "font-size" in styles.get(element):  # and not only in an animation
            states[element] = inherited(element, sizes, _MEDIUM_FONT, size_of) <= TINY_FONT
    for control in document.select("button"):
        states.setdefault(control, False)  # has its own size, whatever its parent's
