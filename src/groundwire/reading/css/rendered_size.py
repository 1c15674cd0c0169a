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

from groundwire.reading.css.cascade import Styles, unknown_path
from groundwire.reading.css.values import CALL, NUMBER, OUT_OF_FLOW, arguments, bounded, four_sides, pixels, ratio

__all__ = [
    "PATH_NUMBER",
    "TINY_FONT",
    "TRANSFORMS",
    "cuts_all",
    "is_flat",
    "is_turned_away",
    "may_be_tiny",
    "measure_fonts",
    "moves",
]

TRANSFORMS: Final = frozenset({"transform", "scale", "rotate"})
_Matrix = tuple[float, float, float, float, float, float]
"""The matrix of `matrix()`: what is seen from the front."""

_IDENTITY: Final[_Matrix] = (1.0, 0.0, 0.0, 1.0, 0.0, 0.0)
_ANGLE: Final = re.compile(rf"({NUMBER})(deg|grad|rad|turn)?")
_TURN: Final[Mapping[str, float]] = {"deg": 360.0, "grad": 400.0, "rad": 2 * math.pi, "turn": 1.0}
_BASIS: Final = 200.0  # pixels; what a percentage of a translation refers to
_FLAT_AREA: Final = 4e-4  # of its area; a text of 20 pixels is then less than a pixel
_THIN_SIDE: Final = 0.02  # of its width or height
_MAX_SLOPE: Final = 1_000.0  # times its height
_MAX_CALLS: Final = 500
PATH_NUMBER: Final = re.compile(r"[+-]?(?:\d+\.?\d*|\.\d+)")
"""A number of an SVG path."""


def is_flat(style: Mapping[str, str]) -> bool:
    """Return whether an element is scaled to nothing, turned edge-on or skewed into a line."""
    return any(
        abs(a * d - b * c) <= _FLAT_AREA or math.hypot(a, c) <= _THIN_SIDE or math.hypot(b, d) <= _THIN_SIDE
        for a, b, c, d, _, _ in _steps(style)
    )


def is_turned_away(style: Mapping[str, str]) -> bool:
    """Return whether an element faces away and its back face is hidden."""
    if style.get("backface-visibility") != "hidden":
        return False
    turns = [f"rotate({style['rotate']})" if "rotate" in style else "", style.get("transform", "")]
    steps = [_step(name, arguments(inside), 0.0) for name, inside in CALL.findall(" ".join(turns)) if "rot" in name]
    a, b, c, d, _, _ = _product(steps)
    return a * d - b * c < 0


def moves(style: Mapping[str, str]) -> tuple[float, float]:
    """Return by how many pixels a style moves an element right and down."""
    if "translate" not in style and "transform" not in style:
        return 0.0, 0.0
    a, b, c, d, right, down = _product(_steps(style))
    x, y = _lengths(arguments(style.get("transform-origin", "")), 0.0)
    return right + x - (a * x + c * y), down + y - (b * x + d * y)


def _steps(style: Mapping[str, str]) -> list[_Matrix]:
    """Return the matrices of an element's transforms, in order."""
    own = [_step(name, style[name].split(), _BASIS) for name in ("translate", "rotate", "scale") if name in style]
    calls = CALL.findall(style["transform"])[:_MAX_CALLS] if "transform" in style else ()
    return own + [_step(name, arguments(inside), _BASIS) for name, inside in calls]


def _step(name: str, parts: Sequence[str], basis: float) -> _Matrix:
    """Return the matrix of one function; the identity if it is unknown."""
    axis = name[-1] if name[-1] in "xyz" and name != "matrix" else ""
    if name.startswith("translate"):
        x, y = _lengths(parts, basis)
        return (1.0, 0.0, 0.0, 1.0, *((0.0, x) if axis == "y" else (0.0, 0.0) if axis == "z" else (x, y)))
    numbers = [1.0 if (number := ratio(part)) is None else number for part in parts]
    if name.startswith("scale") and numbers:
        return _scaling(axis, numbers)
    if name.startswith("rotate") and parts and (angle := _angle(parts[-1])) is not None:
        return _turn(parts[0] if len(parts) == 2 else axis, numbers[:3] if len(parts) == 4 else (), angle)
    if name.startswith("skew") and parts:
        return _skewing(axis, [math.tan(_angle(part) or 0.0) for part in parts])
    if name == "matrix" and len(numbers) == 6:
        a, b, c, d, right, down = numbers
        return a, b, c, d, right, down
    if name == "matrix3d" and len(numbers) == 16:
        return numbers[0], numbers[1], numbers[4], numbers[5], numbers[12], numbers[13]
    return _IDENTITY


def _scaling(axis: str, numbers: Sequence[float]) -> _Matrix:
    x, y = numbers[0], numbers[min(len(numbers), 2) - 1]
    if axis == "z":
        return (0.0, 0.0, 0.0, 0.0, 0.0, 0.0) if x == 0 else _IDENTITY
    return (1.0 if axis == "y" else x, 0.0, 0.0, 1.0 if axis == "x" else y, 0.0, 0.0)


def _skewing(axis: str, slopes: Sequence[float]) -> _Matrix:
    x = 0.0 if axis == "y" else slopes[0]
    y = slopes[-1] if axis == "y" or len(slopes) > 1 else 0.0
    return (0.0, 0.0, 0.0, 0.0, 0.0, 0.0) if max(abs(x), abs(y)) > _MAX_SLOPE else (1.0, y, x, 1.0, 0.0, 0.0)


def _product(matrices: Sequence[_Matrix]) -> _Matrix:
    a, b, c, d, x, y = _IDENTITY
    for e, f, g, h, right, down in matrices:
        x, y = a * right + c * down + x, b * right + d * down + y
        a, b, c, d = a * e + c * f, b * e + d * f, a * g + c * h, b * g + d * h
    return a, b, c, d, x, y


def _turn(axis: str, direction: Sequence[float], angle: float) -> _Matrix:
    """Return the matrix of a rotation about an axis, by its name or as a direction; without one, in the plane."""
    x, y, z = direction or (float(axis == "x"), float(axis == "y"), float(axis not in {"x", "y"}))
    length = math.hypot(x, y, z)
    if length == 0:
        return _IDENTITY
    x, y, z = x / length, y / length, z / length
    cosine, sine = math.cos(angle), math.sin(angle)
    vers = 1 - cosine
    return cosine + x * x * vers, y * x * vers + z * sine, x * y * vers - z * sine, cosine + y * y * vers, 0.0, 0.0


def _lengths(parts: Sequence[str], basis: float) -> tuple[float, float]:
    x, y = [*(pixels(part, basis) or 0.0 for part in parts[:2]), 0.0, 0.0][:2]
    return x, y


def _angle(value: str) -> float | None:
    """Return an angle in radians, or None."""
    match = _ANGLE.fullmatch(value)
    if match is None or (match[2] is None and float(match[1])):
        return None
    return bounded(float(match[1]) / _TURN[match[2] or "deg"]) * 2 * math.pi


_SLIVER: Final = 2.0  # pixels
_FULL_PERCENT: Final = 99.0  # percent of a box
_FULL_PIXELS: Final = 1_000.0  # pixels
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
        radii, _, center = inside.partition("at ")
        sizes = [pixels(part, 100.0) for part in arguments(radii)]
        reach = max((size or 1e6 for size in sizes), default=1e6)
        places = [pixels(part, 100.0) for part in arguments(center)]
        return any(size is not None and size <= 1 for size in sizes) or any(
            place is not None and place <= -reach for place in places
        )
    if name == "xywh" and len(parts) >= 4:
        x, y, width, height = (pixels(part, 100.0) for part in parts[:4])
        return any(
            size is not None and (size <= 1 or (place is not None and place <= -size))
            for place, size in ((x, width), (y, height))
        )
    if name == "polygon":
        return _has_no_area(inside)
    return name == "path" and len(PATH_NUMBER.findall(inside)) <= _LINE_NUMBERS


def _covers(start: str, end: str) -> bool:
    first, second = pixels(start, 100.0), pixels(end, 100.0)
    if first is None or second is None:
        return False
    shares = "%" in start or "%" in end
    return first + second >= (_FULL_PERCENT if shares and first >= 0 and second >= 0 else _FULL_PIXELS)


def _has_no_area(points: str) -> bool:
    """Return whether a polygon has no area (the shoelace formula), or lies outside of any box."""
    pairs = [arguments(pair) for pair in points.removeprefix("evenodd,").removeprefix("nonzero,").split(",")]
    corners = [[pixels(part, 1_000.0) for part in pair] for pair in pairs if len(pair) == 2]
    vertices = [(x, y) for x, y in corners if x is not None and y is not None]
    if len(vertices) != len(corners) or not vertices:
        return False
    if any(all(corner[place] <= 0 for corner in vertices) for place in (0, 1)):
        return True
    area = sum(x * v - u * y for (x, y), (u, v) in zip(vertices, vertices[1:] + vertices[:1], strict=True))
    return abs(area) / 2 < 4


_MEDIUM_FONT: Final = 16.0  # pixels
TINY_FONT: Final = 2.0  # pixels; smaller text is unreadable

_RELATIVE_SIZE: Final = re.compile(rf"({NUMBER})(em|%|ex|ch|lh|ic|cap)")
_EM_UNIT: Final = re.compile(r"(?<=[\d.])em(?![a-z])")
_EM_RATIOS: Final[Mapping[str, float]] = {"em": 1.0, "%": 0.01, "ex": 0.5, "ch": 0.5, "lh": 1.2, "ic": 1.0, "cap": 0.7}
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
    if match := _RELATIVE_SIZE.fullmatch(value):
        return bounded(float(match[1]) * _EM_RATIOS[match[2]] * around)
    if value in _SIZE_RATIOS:
        return _SIZE_RATIOS[value] * around
    if "em" in value:
        value = _EM_UNIT.sub(f"px*{around:.6f}", value)
    size = pixels(value, around)
    return _MEDIUM_FONT if size is None else size


def may_be_tiny(value: str) -> bool:
    """Return whether a font size may make text unreadable, depending on the parent element."""
    match = _RELATIVE_SIZE.fullmatch(value)
    return _resolved(value, _MEDIUM_FONT) <= TINY_FONT or (
        match is not None and float(match[1]) * _EM_RATIOS[match[2]] <= _SMALL_RATIO
    )


def measure_fonts(document: Document, states: dict[Element, bool], styles: Styles) -> None:
    """Compute font sizes where some may be tiny: a relative size depends on that of the parent element."""
    if not any(states.values()):
        return
    sizes: dict[Element, float] = {}
    for element in states:
        if "font-size" in styles.get(element):  # and not only in an animation
            states[element] = _font_size(element, styles, sizes) <= TINY_FONT
    for control in document.select("button"):
        states.setdefault(control, False)  # has its own size, whatever its parent's


def _font_size(element: Element, styles: Styles, sizes: dict[Element, float]) -> float:
    """Return the font size of an element in pixels.

    Args:
        element: The element.
        styles: All styles of the page.
        sizes: The sizes computed so far, which makes it linear: no path is visited twice.
    """
    above, path = unknown_path(element, sizes)
    size = sizes[above] if above is not None else _MEDIUM_FONT
    for step in path:
        if (value := styles.get(step).get("font-size")) is not None:
            size = _resolved(value, size)
        sizes[step] = size
    return size
