"""Values of CSS as numbers: lengths in pixels, opacities, colours.

Sources: CSS Values and Units 4 (https://www.w3.org/TR/css-values-4/), CSS Color 4 (https://www.w3.org/TR/css-color-4/).
Nothing is laid out, so a relative unit is taken at its usual size: 16 pixels for a letter, 1280 x 720 for the screen.
"""

from __future__ import annotations

import re
from colorsys import hls_to_rgb
from functools import lru_cache
from typing import Final, NamedTuple

__all__ = ["SCREEN_HEIGHT", "SCREEN_WIDTH", "Colour", "alike", "arguments", "colour", "fraction", "pixels", "ratio"]

SCREEN_WIDTH: Final = 1280  # pixels
SCREEN_HEIGHT: Final = 720  # pixels

_UNITS: Final = {
    "px": 1.0, "em": 16.0, "rem": 16.0, "ex": 8.0, "ch": 8.0, "lh": 19.0, "rlh": 19.0, "ic": 16.0, "cap": 11.0,
    "pt": 4 / 3, "pc": 16.0, "in": 96.0, "cm": 96 / 2.54, "mm": 9.6 / 2.54, "q": 2.4 / 2.54,
    "vw": 12.8, "vi": 12.8, "svw": 12.8, "lvw": 12.8, "dvw": 12.8, "vmax": 12.8, "cqw": 12.8, "cqi": 12.8,
    "vh": 7.2, "vb": 7.2, "svh": 7.2, "lvh": 7.2, "dvh": 7.2, "vmin": 7.2, "cqh": 7.2, "cqb": 7.2,
}  # fmt: skip
_NUMBER: Final = r"[+-]?(?:\d+\.?\d*|\.\d+)(?:e[+-]?\d+)?"
_QUANTITY: Final = re.compile(rf"({_NUMBER})(%|[a-z]*)")
_TERM: Final = re.compile(rf"\s*(?:({_NUMBER})(%|[a-z]*)|([a-z-]*\()|([()*/+,-]))\s*")
_FUNCTIONS: Final = frozenset({"(", "calc(", "min(", "max(", "clamp("})
_MAX_FORMULA: Final = 500  # characters
_MAX_DEPTH: Final = 16
_HEX: Final = re.compile(r"#([0-9a-f]{3,4}|[0-9a-f]{6}|[0-9a-f]{8})")
_FUNCTION: Final = re.compile(r"([a-z-]+)\((.*)\)", re.DOTALL)
_COLOUR_FUNCTIONS: Final = frozenset(
    {
        "rgb", "rgba", "hsl", "hsla", "hwb", "lab", "lch", "oklab", "oklch",
        "color", "color-mix", "light-dark", "device-cmyk",
    }
)  # fmt: skip
_COLOUR_NAMES: Final = """
    aliceblue:f0f8ff antiquewhite:faebd7 aqua:00ffff aquamarine:7fffd4 azure:f0ffff beige:f5f5dc bisque:ffe4c4
    black:000000 blanchedalmond:ffebcd blue:0000ff blueviolet:8a2be2 brown:a52a2a burlywood:deb887 cadetblue:5f9ea0
    chartreuse:7fff00 chocolate:d2691e coral:ff7f50 cornflowerblue:6495ed cornsilk:fff8dc crimson:dc143c cyan:00ffff
    darkblue:00008b darkcyan:008b8b darkgoldenrod:b8860b darkgray:a9a9a9 darkgreen:006400 darkgrey:a9a9a9
    darkkhaki:bdb76b darkmagenta:8b008b darkolivegreen:556b2f darkorange:ff8c00 darkorchid:9932cc darkred:8b0000
    darksalmon:e9967a darkseagreen:8fbc8f darkslateblue:483d8b darkslategray:2f4f4f darkslategrey:2f4f4f
    darkturquoise:00ced1 darkviolet:9400d3 deeppink:ff1493 deepskyblue:00bfff dimgray:696969 dimgrey:696969
    dodgerblue:1e90ff firebrick:b22222 floralwhite:fffaf0 forestgreen:228b22 fuchsia:ff00ff gainsboro:dcdcdc
    ghostwhite:f8f8ff gold:ffd700 goldenrod:daa520 gray:808080 green:008000 greenyellow:adff2f grey:808080
    honeydew:f0fff0 hotpink:ff69b4 indianred:cd5c5c indigo:4b0082 ivory:fffff0 khaki:f0e68c lavender:e6e6fa
    lavenderblush:fff0f5 lawngreen:7cfc00 lemonchiffon:fffacd lightblue:add8e6 lightcoral:f08080 lightcyan:e0ffff
    lightgoldenrodyellow:fafad2 lightgray:d3d3d3 lightgreen:90ee90 lightgrey:d3d3d3 lightpink:ffb6c1
    lightsalmon:ffa07a lightseagreen:20b2aa lightskyblue:87cefa lightslategray:778899 lightslategrey:778899
    lightsteelblue:b0c4de lightyellow:ffffe0 lime:00ff00 limegreen:32cd32 linen:faf0e6 magenta:ff00ff maroon:800000
    mediumaquamarine:66cdaa mediumblue:0000cd mediumorchid:ba55d3 mediumpurple:9370db mediumseagreen:3cb371
    mediumslateblue:7b68ee mediumspringgreen:00fa9a mediumturquoise:48d1cc mediumvioletred:c71585
    midnightblue:191970 mintcream:f5fffa mistyrose:ffe4e1 moccasin:ffe4b5 navajowhite:ffdead navy:000080
    oldlace:fdf5e6 olive:808000 olivedrab:6b8e23 orange:ffa500 orangered:ff4500 orchid:da70d6 palegoldenrod:eee8aa
    palegreen:98fb98 paleturquoise:afeeee palevioletred:db7093 papayawhip:ffefd5 peachpuff:ffdab9 peru:cd853f
    pink:ffc0cb plum:dda0dd powderblue:b0e0e6 purple:800080 rebeccapurple:663399 red:ff0000 rosybrown:bc8f8f
    royalblue:4169e1 saddlebrown:8b4513 salmon:fa8072 sandybrown:f4a460 seagreen:2e8b57 seashell:fff5ee
    sienna:a0522d silver:c0c0c0 skyblue:87ceeb slateblue:6a5acd slategray:708090 slategrey:708090 snow:fffafa
    springgreen:00ff7f steelblue:4682b4 tan:d2b48c teal:008080 thistle:d8bfd8 tomato:ff6347 turquoise:40e0d0
    violet:ee82ee wheat:f5deb3 white:ffffff whitesmoke:f5f5f5 yellow:ffff00 yellowgreen:9acd32
"""
"""The named colours of CSS Color 4, section 6.1."""

_NAMED: Final = dict(pair.split(":") for pair in _COLOUR_NAMES.split())


class Colour(NamedTuple):
    """A colour of sRGB, each part from 0 to 1; a part that cannot be told is None."""

    red: float | None
    green: float | None
    blue: float | None
    alpha: float


class _NotANumber(Exception):
    """A formula that cannot be reckoned."""


def pixels(value: str, whole: float | None = None) -> float | None:
    """Return a length in pixels; None for what is not one.

    Args:
        value: The value in lower case, such as `-9999px` or `calc(-1 * 100em)`.
        whole: What a percentage is of, in pixels; without it a percentage is no length.
    """
    if match := _QUANTITY.fullmatch(value):
        number, unit = float(match[1]), match[2]
        if not unit:
            return 0.0 if number == 0 else None
        return _scale(number, unit, whole)
    return _reckon(value, whole)


def ratio(value: str) -> float | None:
    """Return a number or a percentage as a number, as `opacity` takes it; None for what is neither."""
    if match := _QUANTITY.fullmatch(value):
        if match[2] not in {"", "%"}:
            return None
        return float(match[1]) / (100 if match[2] else 1)
    return _reckon(value, 1.0)


def fraction(value: str) -> float | None:
    """Return a percentage as a number; None for what is none."""
    return ratio(value) if value.endswith("%") else None


def arguments(value: str) -> list[str]:
    """Return what stands between commas or spaces, as far as they are outside of brackets."""
    parts, depth, start = [], 0, 0
    for index, char in enumerate(value):
        if char == "(":
            depth += 1
        elif char == ")":
            depth -= 1
        elif depth == 0 and (char in ",/" or char.isspace()):
            parts.append(value[start:index])
            start = index + 1
    parts.append(value[start:])
    return [part for part in parts if part]


@lru_cache(maxsize=1024)
def colour(value: str) -> Colour | None:
    """Return a colour in lower case as numbers; None for what is none, `currentcolor` and system colours among it."""
    if value == "transparent":
        return Colour(0, 0, 0, 0)
    if value in _NAMED:
        value = "#" + _NAMED[value]
    if match := _HEX.fullmatch(value):
        digits = match[1] if len(match[1]) > 4 else "".join(char * 2 for char in match[1])
        parts = [int(digits[index : index + 2], 16) / 255 for index in range(0, len(digits), 2)]
        return Colour(parts[0], parts[1], parts[2], parts[3] if len(parts) == 4 else 1.0)
    match = _FUNCTION.fullmatch(value)
    if match is None or match[1] not in _COLOUR_FUNCTIONS:
        return None
    return _from_function(match[1], arguments(match[2]), slashed="/" in match[2])


def alike(one: Colour, other: Colour) -> bool:
    """Tell whether text of one opaque colour on the other cannot be read: a contrast below 1.1 to 1 (WCAG 2.2)."""
    if None in one[:3] or None in other[:3]:
        return False
    lighter, darker = sorted((_luminance(one), _luminance(other)), reverse=True)
    close = all(abs((a or 0) - (b or 0)) < 0.15 for a, b in zip(one[:3], other[:3], strict=True))
    return close and (lighter + 0.05) / (darker + 0.05) < 1.1


def _luminance(shade: Colour) -> float:
    linear = [(c or 0) / 12.92 if (c or 0) <= 0.04045 else (((c or 0) + 0.055) / 1.055) ** 2.4 for c in shade[:3]]
    return 0.2126 * linear[0] + 0.7152 * linear[1] + 0.0722 * linear[2]


def _from_function(name: str, parts: list[str], *, slashed: bool) -> Colour | None:
    if name in {"color-mix", "light-dark", "device-cmyk"} or len(parts) < 3:
        return Colour(None, None, None, 1.0)
    alpha = 1.0
    if slashed or (len(parts) == 4 and name != "color"):
        alpha = 0.0 if parts[-1] == "none" else min(max(ratio(parts[-1]) or 0.0, 0.0), 1.0)
        parts = parts[:-1]
    if name in {"rgb", "rgba"} and len(parts) == 3:
        channels = [fraction(part) if part.endswith("%") else _byte(part) for part in parts]
        red, green, blue = (None if c is None else min(max(c, 0.0), 1.0) for c in channels)
        return Colour(red, green, blue, alpha)
    if name in {"hsl", "hsla"} and len(parts) == 3:
        hue, saturation, light = ratio(parts[0].removesuffix("deg")), fraction(parts[1]), fraction(parts[2])
        if hue is not None and saturation is not None and light is not None:
            return Colour(*hls_to_rgb(hue / 360 % 1, min(max(light, 0), 1), min(max(saturation, 0), 1)), alpha)
    return Colour(None, None, None, alpha)


def _byte(part: str) -> float | None:
    number = 0.0 if part == "none" else ratio(part)
    return None if number is None else number / 255


def _scale(number: float, unit: str, whole: float | None) -> float | None:
    if unit == "%":
        return None if whole is None else number / 100 * whole
    factor = _UNITS.get(unit)
    return None if factor is None else number * factor


def _reckon(value: str, whole: float | None) -> float | None:
    """Return what a formula such as `calc(1px - 100em)` comes to."""
    if len(value) > _MAX_FORMULA or not value.startswith(("calc(", "min(", "max(", "clamp(", "-webkit-calc(")):
        return None
    try:
        terms = _terms(value.removeprefix("-webkit-"))
        result = _sum(terms, whole, 0)
    except (_NotANumber, IndexError, ZeroDivisionError, OverflowError):
        return None
    return None if terms else result


def _terms(value: str) -> list[tuple[str | None, ...]]:
    """Return the terms of a formula, the first one last."""
    found, position = [], 0
    while position < len(value):
        match = _TERM.match(value, position)
        if match is None:
            raise _NotANumber
        found.append(match.groups())
        position = match.end()
    return found[::-1]


def _sum(terms: list[tuple[str | None, ...]], whole: float | None, depth: int) -> float:
    result = _product(terms, whole, depth)
    while terms:
        sign, number = terms[-1][3], terms[-1][0]
        if sign in {"+", "-"}:
            terms.pop()
            right = _product(terms, whole, depth)
            result += right if sign == "+" else -right
        elif number is not None and number[0] in "+-":
            result += _product(terms, whole, depth)
        else:
            break
    return result


def _product(terms: list[tuple[str | None, ...]], whole: float | None, depth: int) -> float:
    result = _factor(terms, whole, depth)
    while terms and terms[-1][3] in {"*", "/"}:
        sign = terms.pop()[3]
        right = _factor(terms, whole, depth)
        result = result * right if sign == "*" else result / right
    return result


def _factor(terms: list[tuple[str | None, ...]], whole: float | None, depth: int) -> float:
    number, unit, function, sign = terms.pop()
    if number is not None:
        if not unit:
            return float(number)
        scaled = _scale(float(number), unit, whole)
        if scaled is None:
            raise _NotANumber
        return scaled
    name = function or ("(" if sign == "(" else "")
    if name not in _FUNCTIONS or depth > _MAX_DEPTH:
        raise _NotANumber
    values = [_sum(terms, whole, depth + 1)]
    while (mark := terms.pop()[3]) == ",":
        values.append(_sum(terms, whole, depth + 1))
    if mark != ")":
        raise _NotANumber
    if name == "min(":
        return min(values)
    if name == "max(":
        return max(values)
    if name == "clamp(" and len(values) == 3:
        return max(values[0], min(values[1], values[2]))
    if len(values) > 1:
        raise _NotANumber
    return values[0]
