"""Styles that hide an element from a person who looks at the page.

The decision uses longhands, without layout: the thresholds separate known tricks from real pages. Each rule was
compared with Chromium's rendering; `tests/reading/test_visible.py` has the tables.
"""

from __future__ import annotations

import math
import re
from collections.abc import Mapping, Sequence
from typing import Final, NamedTuple

from turbohtml import Document, Element

from groundwire.reading.css.cascade import ANIMATED, Styles, inherited
from groundwire.reading.css.colors import gradient_colors
from groundwire.reading.css.values import (
    CALL,
    NUMBER,
    OUT_OF_FLOW,
    arguments,
    four_sides,
    fraction,
    pixels,
    radians,
    ratio,
)

FAINT: Final = 0.05
"""The opacity up to which nothing is visible."""

TINY_BOX: Final = 2.0
"""Pixels of padding that make no room for text."""

INHERITED: Final = ("visibility", "font-size", "text-indent", "letter-spacing", "text-security")
"""The properties that hide text unless a descendant sets them again."""

_TRANSFORMS: Final = frozenset({"transform", "translate", "scale", "rotate"})
_TINY_FONT: Final = 2.0  # pixels; smaller text is unreadable
_MIN_LINE: Final = 4.0  # pixels; a line has as many above its letters
_FAR_LEFT: Final = -900.0  # pixels; tricks use -9999px, -999em, -5000px, -100vw
_FAR_RIGHT: Final = 4_000.0  # pixels
_FAR_UP: Final = -700.0  # pixels; a screen is 720 high
_FAR_DOWN: Final = 50_000.0  # pixels; documents converted to HTML place their later pages this way
_FAR_FROM_RIGHT: Final = 3_000.0  # pixels from the right edge
_FAR_RATIO: Final = 5.0  # times the size of the box around it
_PLACED_FAR_RATIO: Final = 2.0  # the same, if it is placed
_MIN_BLUR: Final = 10.0  # pixels
_Z_BEHIND: Final = -10
_SIDES: Final = (("left", "width"), ("right", "width"), ("top", "height"), ("bottom", "height"))
_NO_BOX: Final = frozenset({"none", "table-column", "table-column-group"})
_CLIPPING_CONTAIN: Final = frozenset({"strict", "content", "paint"})
"""Values of `contain` that clip overflow."""
_HEIGHTS: Final = frozenset(
    {"height", "min-height", "aspect-ratio", "contain-intrinsic-size", "contain-intrinsic-height"}
)
"""The properties that give a box a height that its content does not."""
_CLIPS: Final = frozenset({"hidden", "clip", "scroll", "auto", "overlay"})
_NO_TRACK: Final = frozenset({"0fr", "0px", "0", "minmax(0,0fr)", "minmax(0,0)", "minmax(0px,0fr)"})
_TABLE: Final = frozenset({"table", "tbody", "thead", "tfoot", "tr", "td", "th", "caption"})
BLOCKS: Final = _TABLE | {
    "html", "body", "address", "article", "aside", "blockquote", "center", "dd", "details", "dialog", "dir", "div",
    "dl", "dt", "fieldset", "figcaption", "figure", "footer", "form", "h1", "h2", "h3", "h4", "h5", "h6", "header",
    "hgroup", "hr", "legend", "li", "listing", "main", "menu", "nav", "ol", "optgroup", "option", "p", "plaintext",
    "pre", "search", "section", "summary", "ul", "xmp", "button", "marquee",
}  # fmt: skip
_MOVES: Final = frozenset(
    {
        "left", "right", "top", "bottom", "z-index", "margin-left", "margin-top", "padding-left", "padding-top",
        "border-left", "border-top", "translate", "transform",
    }
)  # fmt: skip
_TELLING: Final = _MOVES | _TRANSFORMS | {*INHERITED} | {
    "position", "opacity", "clip", "clip-path", "filter", "mask-image", "zoom", "overflow-x", "overflow-y",
    "content-visibility", "grid-template-rows", "contain", ANIMATED,
}  # fmt: skip
"""One of these is in each style that hides or moves something, but for values of `display`."""
_RELATIVE_LENGTH: Final = re.compile(rf"({NUMBER})(?:%|[sld]?v[wh])")


class StyleEffect(NamedTuple):
    """The effect of a style on an element."""

    reason: str = ""
    """The property that hides it with its content; empty if none does."""
    opacity: float | None = None
    """Its opacity, if it may be low."""
    texts: tuple[tuple[str, bool], ...] = ()
    """The inherited properties that hide or show its text."""
    flat: bool = False
    """Whether it may have no height."""
    moved: tuple[float, float] | None = None
    """How many pixels it is moved right and down; None if it is where the one around it is."""


PLAIN: Final = StyleEffect()
"""The effect of a style that hides and moves nothing."""


def effect_of(tag: str, style: Mapping[str, str], *, incomplete: bool) -> StyleEffect:
    """Return the effect of a style, as far as it does not depend on the element's position.

    Args:
        tag: The element's name.
        style: Its longhands.
        incomplete: Whether other style sheets may set more.
    """
    if _TELLING.isdisjoint(style) and style.get("display") not in _NO_BOX:  # as a third of a page's
        return PLAIN
    if incomplete and "position" not in style:
        style = {**style, "position": "relative"}  # another sheet positions what has a position
    boxed = is_boxed(tag, style) or (incomplete and "display" not in style)
    reason = hidden_by(tag, style, boxed=boxed) or (ANIMATED if ANIMATED in style else "")
    opacity = None if reason or "opacity" not in style else ratio(style["opacity"])
    pairs = [(name, _text_hidden(name, style[name], boxed=boxed)) for name in INHERITED if name in style]
    effect = StyleEffect(
        reason,
        opacity if opacity is not None and opacity < 0.5 and style.get("display") != "contents" else None,
        tuple((name, state) for name, state in pairs if state is not None),
        has_no_rows(style) or (boxed and _is_flattened(style)),
        _offset(style, boxed=boxed),
    )
    return PLAIN if effect == PLAIN else effect


def is_boxed(tag: str, style: Mapping[str, str]) -> bool:
    """Return whether sizes, indents and transforms apply to an element, unlike an inline one."""
    if style.get("position") in OUT_OF_FLOW or style.get("float") in {"left", "right"}:
        return True
    display = style.get("display")
    return tag in BLOCKS if display is None else display not in {"inline", "contents"}


def hidden_by(tag: str, style: Mapping[str, str], *, boxed: bool) -> str:
    """Return the property that hides an element with its content; empty if none does.

    Args:
        tag: The element's name.
        style: Its longhands.
        boxed: Whether it generates a box; see `is_boxed`.
    """
    if style.get("display") in _NO_BOX:
        return "display"
    if style.get("display") == "contents":
        return ""
    if style.get("content-visibility") == "hidden" and boxed:
        return "content-visibility"
    return _unpainted_by(style) or _placed_by(tag, style, boxed=boxed)


def _unpainted_by(style: Mapping[str, str]) -> str:
    """Return the property that leaves nothing of an element to be painted; empty if none does."""
    if ("clip" in style or "clip-path" in style) and _cuts_all(style):
        return "clip"
    if "filter" in style and _is_filtered_out(style["filter"]):
        return "filter"
    if "mask-image" in style and _is_masked_out(style["mask-image"]):
        return "mask"
    return ""


def _placed_by(tag: str, style: Mapping[str, str], *, boxed: bool) -> str:
    """Return the property that gives an element no room, or moves it out of sight; empty if none does."""
    if boxed and not _TRANSFORMS.isdisjoint(style) and _transformed(style)[0]:
        return "transform"
    if not _MOVES.isdisjoint(style) and _is_away(style):
        return "position"
    if "zoom" in style and (zoom := ratio(style["zoom"])) is not None and 0 < zoom <= _TINY_FONT / 16:
        return "size"
    if boxed and tag not in _TABLE and tag != "hr" and "table" not in style.get("display", "") and box_hidden(style):
        return "size"
    if "contain" in style and boxed and _is_contained(style):
        return "contain"
    if "text-indent" not in style or not boxed or style.get("overflow-x") not in _CLIPS:
        return ""
    return "text-indent" if (pixels(style["text-indent"], _FAR_RIGHT) or 0.0) >= _FAR_RIGHT else ""


def _is_contained(style: Mapping[str, str]) -> bool:
    """Return whether a box has the height of nothing and clips its overflow, unless a flexible box stretches it."""
    kinds = set(style["contain"].split())
    if kinds.isdisjoint({"strict", "size"}) or not _HEIGHTS.isdisjoint(style):
        return False
    is_stretched = style.get("position") in OUT_OF_FLOW and {"top", "bottom"} <= style.keys()
    return not is_stretched and (style.get("overflow-y") in _CLIPS or not _CLIPPING_CONTAIN.isdisjoint(kinds))


def box_hidden(style: Mapping[str, str]) -> bool:
    """Return whether a box has no room for text and clips its overflow."""
    clips = style.get("overflow-x") in _CLIPS or style.get("overflow-y") in _CLIPS
    if not clips and _CLIPPING_CONTAIN.isdisjoint(style.get("contain", "").split()):
        return False
    for size, end in (("height", "bottom"), ("width", "right")):
        least = (pixels(style.get(name, "0"), 500.0) or 0.0 for name in (f"padding-{end}", f"min-{size}"))
        if max(least) <= TINY_BOX and (_is_tiny(style.get(size, "")) or _is_tiny(style.get(f"max-{size}", ""))):
            return True
    return False


def _text_hidden(name: str, value: str, *, boxed: bool) -> bool | None:
    """Return whether an inherited property hides the text; None if it depends on the parent.

    Args:
        name: One of `INHERITED`.
        value: Its value on the element.
        boxed: Whether it generates a box; see `is_boxed`.
    """
    if value in {"inherit", "unset"}:
        return None
    if value in {"initial", "revert", "revert-layer"}:
        return False
    if name == "visibility":
        return value != "visible"
    if name == "font-size":
        return _may_be_tiny(value)
    if name == "text-indent":
        share = fraction(value)
        away = pixels(value)
        if (share is not None and share <= -_FAR_RATIO / 5) or (away is not None and away <= _FAR_LEFT):
            return True if boxed else None
        return False
    if name == "letter-spacing":
        spacing = pixels(value)
        return spacing is not None and (spacing <= -12 or spacing >= 500)
    return value != "none"


def _is_flattened(style: Mapping[str, str]) -> bool:
    """Return whether the lines of a box have no height, and overflow is clipped."""
    if "line-height" not in style or style.get("overflow-y") not in _CLIPS:
        return False
    value = style["line-height"]
    size = ratio(value) if pixels(value, 16.0) is None else pixels(value, 16.0)
    if size is None or size > 0.1:
        return False
    sizes = ("height", "min-height", "padding-top", "padding-bottom")
    return all((pixels(style.get(name, "0"), 500.0) or 0.0) <= TINY_BOX for name in sizes)


def has_no_rows(style: Mapping[str, str]) -> bool:
    """Return whether all rows of a grid have no height, as in accordions that open by `1fr`."""
    rows = style.get("grid-template-rows")
    return rows is not None and _NO_TRACK.issuperset(arguments(rows.replace(", ", ",")))


def _is_tiny(value: str) -> bool:
    if not value or value in {"auto", "none"}:
        return False
    size = pixels(value, 500.0)
    return size is not None and size <= _MIN_LINE


def _is_filtered_out(value: str) -> bool:
    for name, inside in CALL.findall(value):
        if name in {"opacity", "contrast"} and (share := ratio(inside.strip())) is not None and share <= FAINT:
            return True
        if name == "blur" and (pixels(inside.strip()) or 0) >= _MIN_BLUR:
            return True
    return False


def _is_masked_out(value: str) -> bool:
    """Return whether a mask is a fully transparent gradient."""
    shades = gradient_colors(value)
    return bool(shades) and all(shade.alpha <= FAINT for shade in shades)


def _is_away(style: Mapping[str, str]) -> bool:
    """Return whether an element is out of the scrollable area wherever those around it are, or behind everything."""
    position = style.get("position", "static")
    if position not in {"relative", "absolute", "fixed"}:
        return False
    placed, fixed = position != "relative", position == "fixed"
    if placed and (order := ratio(style.get("z-index", "0"))) is not None and order <= _Z_BEHIND:
        return True
    for side, size in _SIDES:
        if (value := style.get(side)) is None:
            continue
        if (match := _RELATIVE_LENGTH.fullmatch(value)) is None:
            place, room = pixels(value), pixels(style.get(size, ""))
            if fixed and place is not None and room is not None and place < 0 and place + room <= 0:
                return True
            continue
        share, at_start, of_box = float(match[1]) / 100, side in {"left", "top"}, value.endswith("%")
        if fixed and abs(share) >= 1:
            return True
        far = _PLACED_FAR_RATIO if placed and at_start else _FAR_RATIO
        if of_box and (share <= -far or (at_start and share >= 10 * _FAR_RATIO)):
            return True
        if not of_box and share >= 1 and ((placed and not at_start) or (side == "left" and value.endswith("w"))):
            return True
    return False


def _offset(style: Mapping[str, str], *, boxed: bool) -> tuple[float, float] | None:
    """Return by how many pixels an element is moved right and down; None if it is where the one around it is.

    A length from the other edge counts only if it is far. What is out of the flow is elsewhere even without a length.

    Args:
        style: Its longhands.
        boxed: Whether it generates a box; see `is_boxed`.
    """
    x = y = 0.0
    if style.get("display") == "contents" or (_MOVES.isdisjoint(style) and style.get("position") != "fixed"):
        return None
    if style.get("position") in {"relative", "absolute", "fixed"}:
        left, top = pixels(style.get("left", "")), pixels(style.get("top", ""))
        right, bottom = pixels(style.get("right", "")), pixels(style.get("bottom", ""))
        if left is None and right is not None:
            x = _FAR_LEFT if right >= _FAR_FROM_RIGHT else _FAR_RIGHT if right <= _FAR_LEFT else 0.0
        if top is None and bottom is not None:
            y = _FAR_UP if bottom >= _FAR_DOWN else _FAR_DOWN if bottom <= _FAR_UP else 0.0
        x, y = x + (left or 0.0), y + (top or 0.0)
    for name in ("margin-left", "padding-left", "border-left"):
        x += (pixels(style[name].partition(" ")[0]) or 0.0) if name in style else 0.0
    for name in ("margin-top", "padding-top", "border-top") if boxed else ():
        y += (pixels(style[name].partition(" ")[0]) or 0.0) if name in style else 0.0
    if boxed:
        _, dx, dy = _transformed(style)
        x, y = x + dx, y + dy
    return (x, y) if x or y or style.get("position") in OUT_OF_FLOW else None


def is_far(x: float, y: float) -> bool:
    """Return whether what is moved so many pixels right and down is out of the scrollable area."""
    return x <= _FAR_LEFT or x >= _FAR_RIGHT or y <= _FAR_UP or y >= _FAR_DOWN


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


def _transformed(style: Mapping[str, str]) -> tuple[bool, float, float]:
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


def _cuts_all(style: Mapping[str, str]) -> bool:
    """Return whether `clip` or `clip-path` leaves nothing of an element."""
    clip = style.get("clip", "")
    if clip.startswith("rect(") and style.get("position") in OUT_OF_FLOW and _is_sliver(clip[5:-1]):
        return True
    return any(_shape_cuts_all(name, inside) for name, inside in CALL.findall(style.get("clip-path", "")))


def _is_sliver(edges: str) -> bool:
    """Return whether the rectangle with the edges top, right, bottom, left has no area."""
    parts = arguments(edges.partition(" round")[0])
    sides = [0.0 if part == "auto" and place in {0, 3} else pixels(part, 100.0) for place, part in enumerate(parts)]
    if len(sides) != 4:
        return False
    top, right, bottom, left = sides
    flat = top is not None and bottom is not None and bottom - top <= _SLIVER
    return flat or (left is not None and right is not None and right - left <= _SLIVER)


def _shape_cuts_all(name: str, inside: str) -> bool:
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


def _may_be_tiny(value: str) -> bool:
    """Return whether a font size may make text unreadable, depending on the parent element."""
    size = _resolved(value, _MEDIUM_FONT)
    return size <= (_TINY_FONT if _RELATIVE_SIZE.fullmatch(value) is None else _SMALL_RATIO * _MEDIUM_FONT)


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
            states[element] = inherited(element, sizes, _MEDIUM_FONT, size_of) <= _TINY_FONT
    for control in document.select("button"):
        states.setdefault(control, False)  # has its own size, whatever its parent's


_UTILITY: Final = re.compile(
    r"^(?!not-)(?:(?:[a-z0-9]+[-_]{1,2})?"
    r"(?:visually-?_?hidden|screen-?_?reader(?:-?_?(?:text|only))?|sr-?_?only|a11y-hidden"
    r"|assistive-?text|hidden-accessible)(?:-focusable|__?[\w-]+)?"
    r"|(?:u-|is-|d-|ui-|uk-|w-|js-)?(?:hidden|hide)(?:-all|-visually)?|d-none|display-none|element-(?:invisible|hidden)"
    r"|off-?screen|invisible|w-condition-invisible|ui-helper-hidden(?:-accessible)?|elementor-hidden-desktop"
    r"|elementor-screen-only|visible-print(?:-block)?)$",
    re.MULTILINE,
)
"""Class names, in lower case, that hide in common style kits (Bootstrap, Tailwind, WordPress, Angular, Drupal ...)."""

_UNHIDING: Final = re.compile(
    r"(?:^|\s)(?:not-sr-only|(?:sm|md|lg|xl|2xl|xxl):(?:not-sr-only|visible|block|inline\S*|flex|grid|table\S*|contents)"
    r"|d-(?:(?:sm|md|lg|xl|xxl)-)?(?:block|inline\S*|flex|grid|table\S*)|u-(?:block|visible)\S*|is-visible|show(?:n)?)(?=\s|$)",
    re.IGNORECASE,
)
_SHOWING_WORDS: Final = frozenset({"show", "shown", "visible", "block", "flex", "grid", "inline"})
_WIDE_SCREENS: Final = frozenset(
    {
        "s", "sm", "small", "m", "md", "medium", "tablet", "l", "lg", "large", "laptop", "desktop", "wide", "xl", "2xl",
        "xlarge", "xxl", "xxlarge",
    }
)  # fmt: skip
_PHONE_NAMES: Final = frozenset({"max", "down", "only", "until", "below", "lt", "mobile", "phone", "print", "portrait"})
"""Class names of style kits (Tailwind, Bootstrap, Foundation, UIkit ...) for what is shown on which screens:
`md:block`, `d-lg-flex`, `show-for-medium`, `uk-visible@m`."""
_PARTS: Final = re.compile(r"[^a-z0-9]+")


def hiding_classes(names: str, lowered: str) -> set[str]:
    """Return the class names, of which each has a line, that hide in common style kits; `lowered` is in lower case."""
    return {names[match.start() : match.end()] for match in _UTILITY.finditer(lowered)}


def is_shown_by(classes: str) -> bool:
    """Return whether one of an element's classes shows it on a desktop screen, though another hides it."""
    if _UNHIDING.search(classes):
        return True
    for name in classes.lower().split():
        first, *middle = parts = [part for part in _PARTS.split(name) if part] or [""]
        words = {first, parts[-1], *middle[:1]} & _SHOWING_WORDS
        shows = parts[-1] in words or not words.isdisjoint({"show", "visible"})
        if shows and not _WIDE_SCREENS.isdisjoint(parts) and _PHONE_NAMES.isdisjoint(parts):
            return True
    return False
