"""CSS colors as numbers in sRGB, and whether two of them are distinguishable.

Of the color spaces beyond sRGB only grays are converted, and what is almost gray; other colors are unknown, and text in
them stays.

Sources: CSS Color 4 (https://www.w3.org/TR/css-color-4/), CSS Color 5 on mixed and relative colors, and the rules for
parsing a legacy color value of the HTML Standard, section 2.3.6.
"""

from __future__ import annotations

import math
import re
from collections.abc import Mapping
from colorsys import hls_to_rgb
from functools import lru_cache
from typing import Final, NamedTuple

from groundwire.reading.css.values import arguments, comma_parts, radians, ratio

_Triple = tuple[float, float, float]

_HEX: Final = re.compile(r"#([0-9a-f]{3,4}|[0-9a-f]{6}|[0-9a-f]{8})")
_FUNCTION: Final = re.compile(r"([a-z-]+)\((.*)\)", re.DOTALL)
_HSL: Final = frozenset({"hsl", "hsla"})
_RGB: Final = (255.0, 255.0, 255.0)
_FULL_SCALES: Final[Mapping[str, _Triple]] = {
    "rgb": _RGB, "rgba": _RGB, "hsl": (1.0, 100.0, 100.0), "hsla": (1.0, 100.0, 100.0), "lab": (100.0, 125.0, 125.0),
    "oklab": (1.0, 0.4, 0.4), "lch": (100.0, 150.0, 1.0), "oklch": (1.0, 0.4, 1.0),
}  # fmt: skip
"""The value of 100 % for each channel of a function."""
_FUNCTIONS: Final = frozenset({*_FULL_SCALES, "color", "color-mix", "hwb", "light-dark"})
_GRAY_CHROMA: Final = 0.02  # of the largest chroma; what is below it is gray to the eye
_SYSTEM_COLORS: Final[Mapping[str, str]] = {
    **dict.fromkeys(("canvas", "window", "field", "background"), "white"),
    **dict.fromkeys(("canvastext", "windowtext", "fieldtext"), "black"),
}
_TOKEN: Final = re.compile(r"#[0-9a-f]{3,8}|(?<![a-z-])[a-z-]++\((?:[^()]|\((?:[^()]|\([^()]*\))*\))*\)|[a-z]++")
_NOT_HEX: Final = re.compile("[^0-9a-f]")
_MAX_LEGACY: Final = 128  # characters
_MAX_COLOR: Final = 500  # characters of a color; this also limits how deeply colors are mixed
_COLOR_NAMES: Final = """
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
"""The named colors of CSS Color 4, section 6.1."""

_NAMED_COLORS: Final[Mapping[str, str]] = dict(pair.split(":") for pair in _COLOR_NAMES.split())


class Color(NamedTuple):
    """An sRGB color with channels from 0 to 1; an unknown channel is None."""

    red: float | None
    green: float | None
    blue: float | None
    alpha: float


_UNKNOWN: Final = Color(None, None, None, 1.0)


def color(value: str) -> Color | None:
    """Parse a color in lower case, for the light color scheme; None for invalid ones and `currentcolor`."""
    return _color(value) if len(value) <= _MAX_COLOR else None


@lru_cache(maxsize=4096)
def _color(value: str) -> Color | None:
    if value == "transparent":
        return Color(0, 0, 0, 0)
    value = _SYSTEM_COLORS.get(value, value)
    if value in _NAMED_COLORS:
        value = "#" + _NAMED_COLORS[value]
    if match := _HEX.fullmatch(value):
        digits = match[1] if len(match[1]) > 4 else "".join(char * 2 for char in match[1])
        red, green, blue, *alpha = bytes.fromhex(digits)
        return Color(red / 255, green / 255, blue / 255, alpha[0] / 255 if alpha else 1.0)
    call = _FUNCTION.fullmatch(value)
    if call is None or call[1] not in _FUNCTIONS:
        return None
    name, inside = call[1], call[2]
    if name == "light-dark":
        return color(comma_parts(inside)[0])
    if name == "color-mix":
        return _mixed(comma_parts(inside)[1:])
    words = arguments(inside)
    if name in _HSL and "," in inside and not all(part.endswith("%") for part in words[1:3]):
        return None  # only the modern syntax has numbers there
    if name == "hwb" or len(words) < 3 or words[0] == "from":
        return _UNKNOWN
    return _from_function(name, words, slashed="/" in inside)


def legacy_color(value: str) -> str:
    """Return the color of an attribute such as `bgcolor`, where almost any text is one, as style sheets write it."""
    value = value.strip().lower()
    if value in {"", "transparent"}:
        return ""
    if value in _NAMED_COLORS or (len(value) == 4 and _HEX.fullmatch(value)):
        return value
    value = _NOT_HEX.sub("0", value[:_MAX_LEGACY].removeprefix("#"))
    size = max(-(-len(value) // 3), 1)
    value = value.ljust(size * 3, "0")
    parts = [value[start : start + size][-8:] for start in range(0, 3 * size, size)]
    while len(parts[0]) > 2 and all(part[0] == "0" for part in parts):
        parts = [part[1:] for part in parts]
    return "#" + "".join(part[:2].zfill(2) for part in parts)


def gradient_colors(value: str) -> list[Color]:
    """Return the colors of a background's gradients; none for anything else, or if one is unknown."""
    if "gradient(" not in value or "url(" in value or "image(" in value:
        return []
    tokens = [token for layer in value.split("gradient(")[1:] for token in _TOKEN.findall(layer.rpartition(")")[0])]
    shades = [shade for token in tokens if (shade := color(token)) is not None]
    return [] if any(None in shade[:3] for shade in shades) else shades


def alike(front: Color, back: Color) -> bool:
    """Return whether text of one opaque color on another is unreadable: a contrast below 1.1 to 1 (WCAG 2.2)."""
    if None in front[:3] or None in back[:3]:
        return False
    for a, b in zip(front[:3], back[:3], strict=True):
        if not abs((a or 0) - (b or 0)) < 0.15:
            return False
    lighter, darker = sorted((_luminance(front), _luminance(back)), reverse=True)
    return (lighter + 0.05) / (darker + 0.05) < 1.1


def blend(front: Color, back: Color) -> Color:
    """Blend a color over an opaque one."""
    red, green, blue = (
        None if a is None or b is None else a * front.alpha + b * (1 - front.alpha)
        for a, b in zip(front[:3], back[:3], strict=True)
    )
    return Color(red, green, blue, 1.0)


def _luminance(shade: Color) -> float:
    linear = [(c or 0) / 12.92 if (c or 0) <= 0.04045 else (((c or 0) + 0.055) / 1.055) ** 2.4 for c in shade[:3]]
    return 0.2126 * linear[0] + 0.7152 * linear[1] + 0.0722 * linear[2]


def _mixed(parts: list[str]) -> Color:
    """Mix two colors in sRGB, whatever the space: where both are nearly gray, one cannot see the difference."""
    if len(parts) != 2:
        return _UNKNOWN
    (front, share), (back, rest) = (
        (
            next((shade for word in words if (shade := color(word)) is not None), _UNKNOWN),
            next((ratio(word) for word in words if word.endswith("%")), None),
        )
        for words in map(arguments, parts)
    )
    if share is None:
        share = 0.5 if rest is None else 1 - rest
    total = 1.0 if rest is None else share + rest
    share = share / total if total > 0 else 0.5
    alpha = front.alpha * share + back.alpha * (1 - share)
    if alpha <= 0:
        return Color(0, 0, 0, 0)
    return blend(front._replace(alpha=share * front.alpha / alpha), back)._replace(alpha=alpha * min(total, 1.0))


def _from_function(name: str, parts: list[str], *, slashed: bool) -> Color:
    """Return the color of a function; unknown if a channel is, or if it is no gray of a space other than sRGB."""
    alpha = 1.0
    if slashed or (len(parts) == 4 and name != "color"):
        alpha = min(max(_channel(parts[-1], 1.0) or 0.0, 0.0), 1.0)
        parts = parts[:-1]
    space, parts = (parts[0], parts[1:]) if name == "color" else (name, parts)
    scales = _FULL_SCALES.get(space, (1.0, 1.0, 1.0))
    channels = [_channel(part, scale) for part, scale in zip(parts, scales, strict=False)]
    if len(parts) != 3 or None in channels:
        return Color(None, None, None, alpha)
    first, second, third = (channel or 0.0 for channel in channels)
    triple: tuple[float | None, ...] = (first, second, third)
    if space in {"rgb", "rgba"}:
        triple = first / 255, second / 255, third / 255
    elif space in _HSL:
        saturation, light = (min(max(part / 100, 0.0), 1.0) for part in (second, third))
        triple = hls_to_rgb(first / 360 % 1, light, saturation)
    elif space not in {"srgb", "display-p3"}:  # the same for grays
        triple = (_gray(space, first, second, third),) * 3
    red, green, blue = (None if part is None else min(max(part, 0.0), 1.0) for part in triple)
    return Color(red, green, blue, alpha)


def _gray(space: str, light: float, second: float, third: float) -> float | None:
    """Return the sRGB value of a gray in another color space; None of a color, or an unknown space."""
    chroma = abs(second) if space.endswith("lch") else math.hypot(second, third)
    if space not in _FULL_SCALES or chroma > _GRAY_CHROMA * _FULL_SCALES[space][1]:
        return None
    linear = min(max(light**3 if space[:2] == "ok" else ((max(light, 0.0) + 16) / 116) ** 3, 0.0), 1.0)
    return 12.92 * linear if linear <= 0.0031308 else 1.055 * linear ** (1 / 2.4) - 0.055


def _channel(part: str, scale: float) -> float | None:
    """Return a channel as a number, of which a percentage is a share of its scale, and an angle has degrees."""
    number = 0.0 if part == "none" else ratio(part)
    if number is not None:
        return number * scale if part.endswith("%") else number
    angle = radians(part)
    return None if angle is None else math.degrees(angle)
