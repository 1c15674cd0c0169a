"""Expansion of declarations to the longhands that affect visibility or meaning, without invalid ones.

Sources: CSS Cascading 5 (https://www.w3.org/TR/css-cascade-5/) on shorthands and invalid values, CSS Logical
Properties 1, and the Compatibility Standard (https://compat.spec.whatwg.org/) on vendor prefixes.
"""

from __future__ import annotations

import re
from collections.abc import Callable, Iterator, Mapping
from typing import Final

from groundwire.reading.css.colors import color
from groundwire.reading.css.values import arguments, four_sides, pixels, ratio

_CSS_WIDE_KEYWORDS: Final = frozenset({"inherit", "initial", "unset", "revert", "revert-layer"})
_SIDES: Final = ("top", "right", "bottom", "left")
_LOGICAL: Final[Mapping[str, str]] = {
    "left": "inline-start", "right": "inline-end", "top": "block-start", "bottom": "block-end", "width": "inline-size",
    "height": "block-size",
}  # fmt: skip
_DISPLAY: Final = re.compile(
    r"none|contents|(?:-webkit-)?(?:inline-)?(?:block|flex|grid|box|table|grid-lanes)|inline|flow|flow-root|list-item|run-in|math"
    r"|table-(?:row|cell|column|caption|(?:row|header|footer|column)-group)|ruby(?:-base|-text)?(?:-container)?"
)
_NAMED_SIZE: Final = re.compile(r"(?:xx?-)?small|(?:x{1,3}-)?large|medium|smaller|larger|math")
_VERTICAL_ALIGNMENTS: Final = frozenset({"super", "sub", "baseline", "top", "text-top"})
_LENGTH_WORDS: Final = frozenset({"auto", "none", "normal"})
_FONT_SIZE: Final = re.compile(
    r"(?:^|\s)([\w.%+-]+|(?:calc|min|max|clamp)\([^()]*\))\s*/|(?:^|\s)([+-]?[\d.]+(?:[a-z]+|%)|0|(?:calc|min|max|clamp)\([^()]*\))(?=\s)"
)


def _one_of(*words: str) -> Callable[[str], bool]:
    return frozenset(words).__contains__


def _is_length(value: str) -> bool:
    return value in _LENGTH_WORDS or pixels(value, 100.0) is not None or "content" in value or "(" in value


def _is_positive_length(value: str) -> bool:
    return _is_length(value) and not value.startswith("-")


def _is_size(value: str) -> bool:
    length = pixels(value, 16.0)
    return _NAMED_SIZE.fullmatch(value) is not None or "(" in value or (length is not None and length >= 0)


def _is_color(value: str) -> bool:
    return value == "currentcolor" or color(value) is not None


_VALID: Final[Mapping[str, Callable[[str], bool]]] = {
    "display": lambda value: all(map(_DISPLAY.fullmatch, value.split())),
    "visibility": _one_of("visible", "hidden", "collapse"),
    "opacity": lambda value: ratio(value) is not None,
    "content-visibility": _one_of("visible", "hidden", "auto"),
    "position": _one_of("static", "relative", "absolute", "fixed", "sticky", "-webkit-sticky"),
    **dict.fromkeys(
        ("overflow-x", "overflow-y"), _one_of("visible", "hidden", "clip", "scroll", "auto", "overlay")
    ),
    "font-size": _is_size,
    "flex-direction": lambda value: value.startswith("column"),
    **dict.fromkeys(("color", "background-color", "text-fill-color"), _is_color),
    "vertical-align": lambda value: value in _VERTICAL_ALIGNMENTS or pixels(value, 16.0) is not None,
    "user-select": _one_of("none", "text", "all", "auto"),
    **dict.fromkeys(
        (*_SIDES, "margin-left", "margin-top", "text-indent", "letter-spacing"), _is_length
    ),
    **dict.fromkeys(
        (
            *(f"{bound}{size}" for bound in ("", "max-", "min-") for size in ("width", "height")),
            *(f"padding-{side}" for side in _SIDES),
        ),
        _is_positive_length,
    ),
}  # fmt: skip
_LONGHANDS: Final = frozenset(_VALID) | {
    "clip", "clip-path", "transform", "translate", "scale", "rotate", "line-height", "background-image",
    "background-clip", "text-shadow", "text-stroke", "filter", "mask-image", "z-index", "animation", "animation-name",
    "animation-fill-mode", "text-security", "float", "white-space", "border-left", "border-top", "all",
    "backface-visibility", "grid-template-rows", "box-shadow", "color-scheme", "text-stroke-color",
    "zoom", "animation-iteration-count", "mix-blend-mode", "flex-grow", "list-style-type", "contain",
    "aspect-ratio", "contain-intrinsic-size", "contain-intrinsic-height", "text-decoration-line",
}  # fmt: skip


def affects_visibility(name: str) -> bool:
    """Return whether a property, in lower case, affects visibility."""
    return name in _PROPERTIES or name in _ALIASES


def longhands(name: str, value: str) -> Iterator[tuple[str, str]]:
    """Expand a declaration to the longhands that affect visibility.

    Args:
        name: The property in lower case.
        value: Its value in lower case, with `var()` already resolved.
    """
    name = _ALIASES.get(name, name)
    if name in _LONGHANDS:
        if value in _CSS_WIDE_KEYWORDS or (valid := _VALID.get(name)) is None or valid(value):
            yield name, value
    elif (shorthand := _SHORTHANDS.get(name)) is not None:
        for longhand, part in shorthand(name, value):
            yield from longhands(longhand, part)


def _box(name: str, value: str) -> Iterator[tuple[str, str]]:
    parts = arguments(value)
    if 1 <= len(parts) <= 4:
        for side, part in zip(_SIDES, four_sides(parts), strict=True):
            yield (side if name == "inset" else f"{name}-{side}"), part


def _axis(name: str, value: str) -> Iterator[tuple[str, str]]:
    parts = arguments(value)
    base = "" if name.startswith("inset") else name.partition("-")[0] + "-"
    start, end = ("x", "y") if name == "overflow" else ("left", "right") if "inline" in name else ("top", "bottom")
    if parts:
        yield base + start, parts[0]
        yield base + end, parts[-1]


def _font(_: str, value: str) -> Iterator[tuple[str, str]]:
    if match := _FONT_SIZE.search(value):
        yield "font-size", match[1] or match[2]
    elif value in _CSS_WIDE_KEYWORDS:
        yield "font-size", value
    else:
        for word in value.split():
            if _NAMED_SIZE.fullmatch(word):
                yield "font-size", word


_BACKGROUND_WORD: Final = re.compile(
    r"(?:no-)?repeat(?:-[xy])?|space|round|scroll|fixed|local|left|right|top|bottom|center|cover|contain|text"
    r"|(?:border|padding|content)-box|border-area|initial|inherit|unset|revert(?:-layer)?"
)


def _background(_: str, value: str) -> Iterator[tuple[str, str]]:
    parts = arguments(value)
    if not all(
        _BACKGROUND_WORD.fullmatch(part) or "(" in part or _is_color(part) or _is_length(part) for part in parts
    ):
        return
    shade = next((part for part in parts if color(part) is not None or part == "currentcolor"), None)
    image = "url(" in value or "image(" in value or "image-set(" in value
    yield "background-color", shade or "transparent"
    yield "background-image", "image" if image else value if "gradient(" in value else "none"
    yield "background-clip", "text" if "text" in parts else "border-box"


def _flex(_: str, value: str) -> Iterator[tuple[str, str]]:
    first, _, rest = value.partition(" ")
    if ratio(first) == 0 and (pixels(basis := rest.partition(" ")[2]) or 0.0) < 1 and basis:
        yield "width", basis  # of a part that does not grow
    yield "flex-grow", {"auto": "1", "none": "0"}.get(first, first)


_SHORTHANDS: Final[Mapping[str, Callable[[str, str], Iterator[tuple[str, str]]]]] = {
    **dict.fromkeys(("inset", "margin", "padding"), _box),
    **dict.fromkeys(
        (f"{name}-{axis}" for name in ("inset", "margin", "padding") for axis in ("inline", "block")), _axis
    ),
    "overflow": _axis,
    "font": _font,
    "background": _background,
    "flex": _flex,
}
_ALIASES: Final[Mapping[str, str]] = {
    **{f"-webkit-{name}": name for name in (*_LONGHANDS, *_SHORTHANDS)},
    **{name.replace(side, logical): name for side, logical in _LOGICAL.items() for name in _LONGHANDS if side in name},
    **{f"inset-{_LOGICAL[side]}": side for side in _SIDES},
    **{f"{vendor}user-select": "user-select" for vendor in ("-moz-", "-ms-")},
    "overflow-inline": "overflow-x", "overflow-block": "overflow-y", "mask": "mask-image", "-webkit-mask": "mask-image",
    "-webkit-mask-box-image": "mask-image", "-webkit-text-stroke-width": "text-stroke", "list-style": "list-style-type",
    "text-decoration": "text-decoration-line", "border-left-width": "border-left", "border-top-width": "border-top",
    "border-inline-start-width": "border-left", "border-block-start-width": "border-top",
}  # fmt: skip


def may_hide(name: str, value: str) -> bool:
    """Return whether a longhand hides an element by its value alone: for what a rule or an animation changes."""
    if name in {"display", "visibility"}:
        return value in {"none", "hidden", "collapse"}
    if name in {"clip", "transform"}:
        return value not in {"none", "auto"}
    size = ratio(value) if name == "opacity" else pixels(value, 500.0)
    return size is not None and size < (0.5 if name == "opacity" else 0.0 if name == "left" else 5.0)


_PROPERTIES: Final = _LONGHANDS | frozenset(_SHORTHANDS) | {"content"}
"""The properties that affect visibility or meaning, but for their aliases."""
