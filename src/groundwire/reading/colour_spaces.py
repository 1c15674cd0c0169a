"""Colours of other spaces than sRGB, in sRGB.

The matrices and curves are those of CSS Color 4 (https://www.w3.org/TR/css-color-4/#color-conversion-code). What lies
outside of sRGB is cut at its edges.
"""

from __future__ import annotations

import math
from colorsys import hls_to_rgb
from typing import Final

__all__ = ["Triple", "from_hsl", "from_hwb", "from_lab", "from_linear", "from_oklab", "from_p3", "from_xyz", "polar"]

Triple = tuple[float, float, float]
_Matrix = tuple[Triple, Triple, Triple]

_XYZ_TO_SRGB: Final[_Matrix] = (
    (3.2409699, -1.5373832, -0.4986108), (-0.9692436, 1.8759675, 0.0415551), (0.0556301, -0.2039770, 1.0569715),
)  # fmt: skip
_P3_TO_XYZ: Final[_Matrix] = (
    (0.4865709, 0.2656677, 0.1982173), (0.2289746, 0.6917385, 0.0792869), (0.0, 0.0451134, 1.0439444),
)  # fmt: skip
_D50_TO_D65: Final[_Matrix] = (
    (0.9554734, -0.0230985, 0.0632593), (-0.0283697, 1.0099955, 0.0210414), (0.0123140, -0.0205077, 1.3303660),
)  # fmt: skip
_WHITE_D50: Final[Triple] = (0.9642956, 1.0, 0.8251046)
_OKLAB_TO_LMS: Final[_Matrix] = (
    (1.0, 0.3963377774, 0.2158037573), (1.0, -0.1055613458, -0.0638541728), (1.0, -0.0894841775, -1.2914855480),
)  # fmt: skip
_LMS_TO_SRGB: Final[_Matrix] = (
    (4.0767416621, -3.3077115913, 0.2309699292), (-1.2684380046, 2.6097574011, -0.3413193965),
    (-0.0041960863, -0.7034186147, 1.7076147010),
)  # fmt: skip


def from_hsl(hue: float, saturation: float, light: float) -> Triple:
    """Return a colour by its hue in degrees, its saturation and its lightness, both from 0 to 1."""
    return hls_to_rgb(hue / 360 % 1, min(max(light, 0.0), 1.0), min(max(saturation, 0.0), 1.0))


def from_hwb(hue: float, white: float, black: float) -> Triple:
    """Return a colour by its hue in degrees and how much white and black is in it, both from 0 to 1."""
    if white + black >= 1:
        return (white / (white + black),) * 3
    red, green, blue = (part * (1 - white - black) + white for part in from_hsl(hue, 1.0, 0.5))
    return red, green, blue


def from_lab(light: float, a: float, b: float) -> Triple:
    """Return a colour of CIE Lab, its lightness from 0 to 100."""
    y = (light + 16) / 116
    xyz = [
        share * (edge**3 if edge > 6 / 29 else (116 * edge - 16) / (24389 / 27))
        for share, edge in zip(_WHITE_D50, (y + a / 500, y, y - b / 200), strict=True)
    ]
    return from_xyz(xyz[0], xyz[1], xyz[2], d50=True)


def from_oklab(light: float, a: float, b: float) -> Triple:
    """Return a colour of Oklab, its lightness from 0 to 1."""
    long, middle, short = (part**3 for part in _times(_OKLAB_TO_LMS, (light, a, b)))
    return from_linear(*_times(_LMS_TO_SRGB, (long, middle, short)))


def polar(chroma: float, hue: float) -> tuple[float, float]:
    """Return the two axes of a colour that is given by its chroma and its hue in degrees."""
    return chroma * math.cos(math.radians(hue)), chroma * math.sin(math.radians(hue))


def from_xyz(x: float, y: float, z: float, *, d50: bool = False) -> Triple:
    """Return a colour of CIE XYZ, under the white D65 unless it is D50."""
    return from_linear(*_times(_XYZ_TO_SRGB, _times(_D50_TO_D65, (x, y, z)) if d50 else (x, y, z)))


def from_p3(red: float, green: float, blue: float) -> Triple:
    """Return a colour of Display P3."""
    linear = [part / 12.92 if part <= 0.04045 else ((part + 0.055) / 1.055) ** 2.4 for part in (red, green, blue)]
    return from_xyz(*_times(_P3_TO_XYZ, (linear[0], linear[1], linear[2])))


def from_linear(red: float, green: float, blue: float) -> Triple:
    """Return a colour of linear sRGB."""
    parts = [
        12.92 * part if part <= 0.0031308 else 1.055 * part ** (1 / 2.4) - 0.055
        for part in (min(max(part, 0.0), 1.0) for part in (red, green, blue))
    ]
    return parts[0], parts[1], parts[2]


def _times(matrix: _Matrix, vector: Triple) -> Triple:
    rows = [sum(a * b for a, b in zip(row, vector, strict=True)) for row in matrix]
    return rows[0], rows[1], rows[2]
