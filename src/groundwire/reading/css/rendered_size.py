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

from groundwire.reading.css.cascade import Styles
from groundwire.reading.css.values import NUMBER, arguments, bounded, fraction, pixels, ratio

__all__ = [
    "TINY_FONT",
    "TRANSFORMS",
    "cuts_all",
    "font_size",
    "is_flat",
    "is_turned_away",
    "may_be_tiny",
    "measure_fonts",
    "moves",
    "scaling",
]

_PLACED: Final = frozenset({"absolute", "fixed"})
TRANSFORMS: Final = frozenset({"scale", "rotate", "transform"})
"""The longhands that can make an element invisible."""

_Matrix = list[list[float]]

_CALL: Final = re.compile(r"(?<![a-z0-9-])([a-z0-9-]++)\(((?:[^()]|\((?:[^()]|\([^()]*\))*\))*)\)")
_SHAPES: Final = re.compile("scale|rotate|skew|matrix|perspective")  # all except translations
_ANGLE: Final = re.compile(r"([+-]?(?:\d+\.?\d*|\.\d+)(?:e[+-]?\d+)?)(deg|grad|rad|turn)?")
_TURN: Final[Mapping[str, float]] = {"deg": 360.0, "grad": 400.0, "rad": 2 * math.pi, "turn": 1.0}
_SHARE_OF: Final = 200.0  # pixels
_FLAT: Final = 4e-4  # of its area
_THIN: Final = 0.02  # of its width or height
_MAX_CALLS: Final = 500


def is_flat(style: Mapping[str, str]) -> bool:
    """Return whether an element is scaled to nothing, turned edge-on or skewed into a line."""
    if "scale" in style or "rotate" in style:
        matrix = _product([_scale(_factors(style.get("scale", ""))), _turn(style.get("rotate", ""))])
        if _is_flat(matrix):
            return True
    if _SHAPES.search(style.get("transform", "")) is None:
        return False
    return any(_is_flat(step) for step in _steps(style)) or _is_behind(style["transform"])


def scaling(style: Mapping[str, str]) -> float:
    """Return how large an element is in relation to its size without transforms, as the root of its area's share."""
    if _SHAPES.search(style.get("transform", "")) is None and "scale" not in style:
        return 1.0
    (a, c), (b, d) = (row[:2] for row in _product([_scale(_factors(style.get("scale", ""))), *_steps(style)])[:2])
    return math.sqrt(abs(a * d - b * c))


def is_turned_away(style: Mapping[str, str]) -> bool:
    """Return whether an element faces away and its back face is hidden."""
    if style.get("backface-visibility") != "hidden":
        return False
    turned = _product([_turn(style.get("rotate", "")), *_steps(style)])
    return turned[2][2] < 0


def moves(style: Mapping[str, str], whole: float = _SHARE_OF) -> tuple[float, float]:
    """Return by how many pixels an element is moved right and down.

    Args:
        style: Its longhands.
        whole: The reference of percentages, in pixels.
    """
    if "translate" not in style and "transform" not in style:
        return 0.0, 0.0
    own = [_shift(*_lengths(style["translate"].split(), whole))] if "translate" in style else []
    matrix = _product([*own, *_steps(style, whole)])
    x, y = (*_lengths(arguments(style.get("transform-origin", "")), 0.0),)
    turned = matrix[0][0] * x + matrix[0][1] * y, matrix[1][0] * x + matrix[1][1] * y
    return matrix[0][3] + x - turned[0], matrix[1][3] + y - turned[1]


def _is_behind(transform: str) -> bool:
    """Return whether an element is moved behind the viewer of its perspective, or so far away that it is a dot."""
    distance = 0.0
    for name, inside in _CALL.findall(transform)[:_MAX_CALLS] if "perspective" in transform else ():
        parts = arguments(inside)
        if name == "perspective" and parts:
            distance = max(pixels(parts[0]) or 0.0, 1.0)
        elif distance and name in {"translatez", "translate3d"} and parts:
            depth = pixels(parts[-1]) or 0.0
            if depth >= distance or distance <= _THIN * (distance - depth):
                return True
    return False


def _is_flat(matrix: _Matrix) -> bool:
    """Return whether a matrix leaves no area when seen from the front."""
    (a, c), (b, d) = matrix[0][:2], matrix[1][:2]
    return abs(a * d - b * c) <= _FLAT or math.hypot(a, b) <= _THIN or math.hypot(c, d) <= _THIN or matrix[2][2] == 0


def _steps(style: Mapping[str, str], whole: float = _SHARE_OF) -> list[_Matrix]:
    calls = _CALL.findall(style.get("transform", ""))[:_MAX_CALLS]
    return [_step(name, arguments(inside), whole) for name, inside in calls]


def _step(name: str, parts: Sequence[str], whole: float) -> _Matrix:
    """Return the matrix of one function; the identity if it is unknown."""
    if name in {"translate", "translate3d"}:
        return _shift(*_lengths(parts, whole))
    if name == "translatex":
        return _shift(*_lengths([*parts[:1], "0"], whole))
    if name == "translatey":
        return _shift(*_lengths(["0", *parts[:1]], whole))
    if name in {"scale", "scale3d"}:
        return _scale([ratio(part) for part in parts])
    if name in {"scalex", "scaley", "scalez"} and parts:
        factors: list[float | None] = [1.0, 1.0, 1.0]
        factors["xyz".index(name[-1])] = ratio(parts[0])
        return _scale(factors)
    if name in {"rotatex", "rotatey", "rotate3d"}:
        return _turn(" ".join(parts if name == "rotate3d" else [name[-1], *parts]))
    if name in {"rotate", "rotatez"} and len(parts) == 1:
        return _turn(parts[0])
    if name in {"skew", "skewx", "skewy"} and parts:
        angles = [_angle(part) or 0.0 for part in parts]
        matrix = _identity()
        matrix[0][1] = 0.0 if name == "skewy" else math.tan(angles[0])
        matrix[1][0] = math.tan(angles[-1]) if name == "skewy" or len(angles) > 1 else 0.0
        return _scale([0.0, 0.0]) if max(abs(matrix[0][1]), abs(matrix[1][0])) > 1_000 else matrix
    numbers = [number for part in parts if (number := ratio(part)) is not None]
    if name == "matrix" and len(numbers) == 6:
        a, b, c, d, x, y = numbers
        return [[a, c, 0.0, x], [b, d, 0.0, y], [0.0, 0.0, 1.0, 0.0], [0.0, 0.0, 0.0, 1.0]]
    if name == "matrix3d" and len(numbers) == 16:
        return [list(numbers[row::4]) for row in range(4)]
    return _identity()


def _identity() -> _Matrix:
    return [[float(row == column) for column in range(4)] for row in range(4)]


def _product(matrices: Sequence[_Matrix]) -> _Matrix:
    if not matrices:
        return _identity()
    result = matrices[0]
    for one, two, three, four in matrices[1:]:
        result = [
            [a * one[column] + b * two[column] + c * three[column] + d * four[column] for column in range(4)]
            for a, b, c, d in result
        ]
    return result


def _factors(value: str) -> list[float | None]:
    return [ratio(part) for part in value.split()]


def _scale(factors: Sequence[float | None]) -> _Matrix:
    matrix = _identity()
    known = [1.0 if factor is None else factor for factor in factors[:3]]
    if len(known) == 1:
        known *= 2
    for place, factor in enumerate(known):
        matrix[place][place] = factor
    return matrix


def _lengths(parts: Sequence[str], whole: float) -> tuple[float, float]:
    lengths = [pixels(part, whole) or 0.0 for part in parts[:2]]
    return (lengths[0] if lengths else 0.0), (lengths[1] if len(lengths) > 1 else 0.0)


def _shift(x: float, y: float) -> _Matrix:
    matrix = _identity()
    matrix[0][3], matrix[1][3] = x, y
    return matrix


def _turn(value: str) -> _Matrix:
    """Return the matrix of a rotation about an axis, as in `rotate`; without one, in the plane."""
    words = value.split()
    angle = _angle(words[-1]) if words else None
    axis = {"x": [1.0, 0.0, 0.0], "y": [0.0, 1.0, 0.0]}.get(words[0]) if len(words) == 2 else None
    if len(words) == 4:
        axis = [ratio(word) or 0.0 for word in words[:3]]
    length = math.hypot(*axis) if axis else 0.0
    if angle is not None and len(words) == 1:
        axis, length = [0.0, 0.0, 1.0], 1.0
    if angle is None or axis is None or length == 0:
        return _identity()
    x, y, z = (part / length for part in axis)
    cosine, sine = math.cos(angle), math.sin(angle)
    rest = 1 - cosine
    matrix = _identity()
    matrix[0][:3] = [cosine + x * x * rest, x * y * rest - z * sine, x * z * rest + y * sine]
    matrix[1][:3] = [y * x * rest + z * sine, cosine + y * y * rest, y * z * rest - x * sine]
    matrix[2][:3] = [z * x * rest - y * sine, z * y * rest + x * sine, cosine + z * z * rest or 1.0]
    return matrix


def _angle(value: str) -> float | None:
    """Return an angle in radians, or None."""
    match = _ANGLE.fullmatch(value)
    if match is None or (match[2] is None and float(match[1])):
        return None
    return bounded(float(match[1]) / _TURN[match[2] or "deg"]) * 2 * math.pi


_SLIVER: Final = 2.0  # pixels
_ALL: Final = 99.0  # percent of a box
_WIDE: Final = 1_000.0  # pixels
_HUGE: Final = 5_000.0  # pixels
_NUMBER: Final = re.compile(r"[+-]?(?:\d+\.?\d*|\.\d+)")
_MOVE: Final = re.compile(rf"m\s*({_NUMBER.pattern})[\s,]*({_NUMBER.pattern})", re.IGNORECASE)
_ABSOLUTE: Final = re.compile(r"[LHVCSQTA]")


def cuts_all(style: Mapping[str, str]) -> bool:
    """Return whether `clip` or `clip-path` leaves nothing of an element."""
    clip = style.get("clip", "")
    if clip.startswith("rect(") and style.get("position") in _PLACED and _is_sliver(clip[5:-1]):
        return True
    return any(_cuts_all(name, inside) for name, inside in _CALL.findall(style.get("clip-path", "")))


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
    if name == "rect":
        return _is_sliver(inside)
    parts = arguments(inside.partition(" round")[0])
    if name == "inset" and parts:
        top, right, bottom, left = (parts + parts[:1] * 3)[:4] if len(parts) != 2 else parts * 2
        if len(parts) == 3:
            left = right
        return _covers(top, bottom) or _covers(left, right)
    if name in {"circle", "ellipse"}:
        radii, _, center = inside.partition("at ")
        sizes = [pixels(part, 100.0) for part in arguments(radii)]
        places = [pixels(part) for part in arguments(center)]
        farthest = max((size or 1e6 for size in sizes), default=1e6)
        if any(size is not None and size <= 1 for size in sizes):
            return True
        beyond = [(fraction(part) or 0.0) * 100 for part in arguments(center)]
        return any(place is not None and not -farthest < place < _HUGE for place in places) or any(
            not -1 - farthest <= share <= 100 + farthest for share in beyond
        )
    if name == "xywh" and len(parts) >= 4:
        if any((fraction(part) or 0.0) >= 1 for part in parts[:2]):
            return True
        x, y, width, height = (pixels(part, 100.0) for part in parts[:4])
        return any(
            size is not None and (size <= 1 or (place is not None and not -size < place < _HUGE))
            for place, size in ((x, width), (y, height))
        )
    if name == "polygon":
        return _has_no_area(inside)
    if name == "path":
        return _is_no_path(inside)
    if name == "shape":
        return len(set(re.findall(r"(?:from|to)\s++(\S++\s++[^\s,]++)", inside))) <= 1
    return False


def _is_no_path(inside: str) -> bool:
    """Return whether an SVG path has no area, or lies outside of any box; relative steps are assumed to be short."""
    if len(_NUMBER.findall(inside)) <= 4:
        return True  # a point or a line
    starts = [(float(x), float(y)) for x, y in _MOVE.findall(inside)]
    steps = [abs(float(part)) for part in _NUMBER.findall(_MOVE.sub(" ", inside))]
    if not starts or _ABSOLUTE.search(_MOVE.sub(" ", inside)) is not None:
        return False
    reach = sum(steps)
    return all(min(x, y) <= -reach or max(x, y) >= _HUGE for x, y in starts)


def _covers(one: str, other: str) -> bool:
    first, second = pixels(one, 100.0), pixels(other, 100.0)
    if first is None or second is None:
        return False
    shares = "%" in one or "%" in other
    return first + second >= (_ALL if shares and first >= 0 and second >= 0 else _WIDE)


def _has_no_area(points: str) -> bool:
    """Return whether a polygon has no area (the shoelace formula)."""
    points = points.removeprefix("evenodd,").removeprefix("nonzero,")
    corners = [[pixels(part, 1_000.0) for part in arguments(pair)] for pair in points.split(",")]
    corners = [corner for corner in corners if len(corner) == 2]
    known = [(x, y) for x, y in corners if x is not None and y is not None]
    if len(known) != len(corners) or not known:
        return False
    for place in (0, 1):
        sides = [arguments(pair)[place] for pair in points.split(",") if len(arguments(pair)) == 2]
        if all(corner[place] <= 0 for corner in known) or all((fraction(side) or 0.0) >= 1 for side in sides):
            return True
    area = sum(x * v - u * y for (x, y), (u, v) in zip(known, known[1:] + known[:1], strict=True))
    return abs(area) / 2 < 4


_MEDIUM_FONT: Final = 16.0  # pixels
TINY_FONT: Final = 2.0  # pixels; smaller text is unreadable

_RELATIVE: Final = re.compile(rf"({NUMBER})(em|%|ex|ch|lh|ic|cap)")
_IN_RELATION: Final = re.compile(r"(?<=[\d.])em(?![a-z])")
_OF_LETTER: Final[Mapping[str, float]] = {"em": 1.0, "%": 0.01, "ex": 0.5, "ch": 0.5, "lh": 1.2, "ic": 1.0, "cap": 0.7}
_STEPS: Final[Mapping[str, float]] = {"larger": 1.2, "smaller": 1 / 1.2}
_SMALL: Final = 0.5  # relative to the parent; a few nested ones leave nothing


def _resolved(value: str, around: float) -> float:
    """Resolve a font size to pixels.

    Args:
        value: The value of `font-size`.
        around: The size of the parent element, in pixels.
    """
    if value in {"inherit", "unset"}:
        return around
    if match := _RELATIVE.fullmatch(value):
        return bounded(float(match[1]) * _OF_LETTER[match[2]] * around)
    if value in _STEPS:
        return _STEPS[value] * around
    if "em" in value:
        value = _IN_RELATION.sub(f"px*{around:.6f}", value)
    size = pixels(value, around)
    return _MEDIUM_FONT if size is None else size


def may_be_tiny(value: str) -> bool:
    """Return whether a font size may make text unreadable, depending on the parent element."""
    match = _RELATIVE.fullmatch(value)
    return _resolved(value, _MEDIUM_FONT) <= TINY_FONT or (
        match is not None and float(match[1]) * _OF_LETTER[match[2]] <= _SMALL
    )


def measure_fonts(document: Document, states: dict[Element, bool], styles: Styles) -> None:
    """Compute font sizes where some may be tiny: a relative size depends on that of the parent element."""
    if not any(states.values()):
        return
    known: dict[Element, float] = {}
    for element in states:
        if "font-size" in styles.get(element):  # and not only in an animation
            states[element] = font_size(element, styles, known) <= TINY_FONT
    for control in document.select("button"):
        states.setdefault(control, False)  # has its own size, whatever its parent's


def font_size(element: Element, styles: Styles, known: dict[Element, float]) -> float:
    """Return the font size of an element in pixels.

    Args:
        element: The element.
        styles: All styles of the page.
        known: The sizes computed so far, which makes it linear: no path is visited twice.
    """
    path: list[Element] = []
    node: object = element
    while isinstance(node, Element) and node not in known:
        path.append(node)
        node = node.parent
    size = known[node] if isinstance(node, Element) else _MEDIUM_FONT
    for step in reversed(path):
        if (value := styles.get(step).get("font-size")) is not None:
            size = _resolved(value, size)
        known[step] = size
    return size
