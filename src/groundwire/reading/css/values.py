"""Values of CSS as numbers: lengths in pixels, opacities; their parts; and style sheets as URLs.

Source: CSS Values and Units 4 (https://www.w3.org/TR/css-values-4/).
There is no layout, so relative units have their usual size: 16 pixels per em, 1280 x 720 for the screen.
"""

from __future__ import annotations

import math
import re
from base64 import b64decode
from collections.abc import Callable, Mapping
from functools import lru_cache
from typing import Final
from urllib.parse import unquote

__all__ = [
    "CALL",
    "NUMBER",
    "OUT_OF_FLOW",
    "SCREEN_HEIGHT",
    "SCREEN_WIDTH",
    "arguments",
    "bounded",
    "comma_parts",
    "four_sides",
    "fraction",
    "nested_levels",
    "pixels",
    "ratio",
    "sheet_of",
]

SCREEN_WIDTH: Final = 1280  # pixels
SCREEN_HEIGHT: Final = 720  # pixels

_ANGLES: Final[Mapping[str, float]] = {"deg": math.pi / 180, "rad": 1.0, "turn": 2 * math.pi, "grad": math.pi / 200}
_UNITS: Final[Mapping[str, float]] = {
    "px": 1.0, "em": 16.0, "rem": 16.0, "ex": 8.0, "ch": 8.0, "lh": 19.0, "rlh": 19.0, "ic": 16.0, "cap": 11.0,
    "pt": 4 / 3, "pc": 16.0, "in": 96.0, "cm": 96 / 2.54, "mm": 9.6 / 2.54, "q": 2.4 / 2.54,
    "vw": 12.8, "vi": 12.8, "svw": 12.8, "lvw": 12.8, "dvw": 12.8, "vmax": 12.8, "cqw": 12.8, "cqi": 12.8,
    "vh": 7.2, "vb": 7.2, "svh": 7.2, "lvh": 7.2, "dvh": 7.2, "vmin": 7.2, "cqh": 7.2, "cqb": 7.2,
}  # fmt: skip
NUMBER: Final = r"[+-]?(?:\d+(?:\.\d+)?|\.\d+)(?:e[+-]?\d+)?"
"""A pattern of the numbers of CSS in lower case."""
CALL: Final = re.compile(r"(?<![a-z0-9-])([a-z0-9-]++)\(((?:[^()]|\([^()]*\))*)\)")
"""The name and the arguments of a function, such as those of `transform` and `filter`."""
OUT_OF_FLOW: Final = frozenset({"absolute", "fixed"})
"""Values of `position` that take an element out of the flow."""
_QUANTITY: Final = re.compile(rf"({NUMBER})(%|[a-z]*)")
_TERM: Final = re.compile(rf"\s*(?:({NUMBER})(%|[a-z]*)|([a-z-]*\()|([()*/+,-]))\s*")
_CONSTANTS: Final[Mapping[str, str]] = {"pi": f"{math.pi}", "e": f"{math.e}", "infinity": "1e300"}
_CONSTANT: Final = re.compile(r"\b(?:pi|e|infinity)\b")
_FUNCTIONS: Final[Mapping[str, Callable[..., float]]] = {
    "(": lambda x: x, "calc(": lambda x: x, "min(": min, "max(": max,
    "clamp(": lambda low, x, high: max(low, min(x, high)), "abs(": abs, "sign(": lambda x: float((x > 0) - (x < 0)),
    "round(": lambda x, step=1.0: math.floor(x / step + 0.5) * step, "mod(": lambda x, y: x % y, "rem(": math.fmod,
    "sin(": math.sin, "cos(": math.cos, "tan(": math.tan, "sqrt(": math.sqrt, "pow(": math.pow, "exp(": math.exp,
    "hypot(": math.hypot, "log(": math.log,
}  # fmt: skip
_INNERMOST: Final = re.compile(r":([\w-]+)\(([^()]*+)\)")
_ATTRIBUTES: Final = re.compile(r"\[[^\]]*+\]|(\[.*)", re.DOTALL)  # what is not closed is matched once, and kept
_COMBINED: Final = re.compile(r"[^\s,>+~](?:\s+(?=[^\s,>+~])|\s*+[>+~])")
_MAX_SHEET: Final = 200_000  # characters
_MAX_FORMULA: Final = 500  # characters
_MAX_DEPTH: Final = 16
_INFINITY: Final = 1e10  # what an infinite number counts as
_MAX_CACHED: Final = 80  # characters of a value that is likely to be repeated


def bounded(number: float) -> float:
    """Return a finite number: not a number is zero, and an infinite one the largest (CSS Values 4, section 10.9.1)."""
    return min(max(number, -_INFINITY), _INFINITY) if number == number else 0.0


class _NotANumber(Exception):
    """A formula that cannot be evaluated."""


def pixels(value: str, basis: float | None = None) -> float | None:
    """Return a length in pixels, or None if it is not one.

    Args:
        value: The value in lower case, such as `-9999px` or `calc(-1 * 100em)`.
        basis: The reference of percentages, in pixels; without it, a percentage is not a length.
    """
    return _pixels(value, basis) if len(value) <= _MAX_CACHED else _pixels.__wrapped__(value, basis)


@lru_cache(maxsize=4096)
def _pixels(value: str, basis: float | None) -> float | None:
    if match := _QUANTITY.fullmatch(value):
        number, unit = float(match[1]), match[2]
        if not unit:
            return 0.0 if number == 0 else None
        length = _scale(number, unit, basis)
        return None if length is None else bounded(length)
    return _reckon(value, basis)


def ratio(value: str) -> float | None:
    """Return a number or a percentage as a number, as for `opacity`; None for anything else."""
    if match := _QUANTITY.fullmatch(value):
        if match[2] not in {"", "%"}:
            return None
        return bounded(float(match[1]) / (100 if match[2] else 1))
    return _reckon(value, 1.0)


def fraction(value: str) -> float | None:
    """Return a percentage as a number; None for anything else."""
    return ratio(value) if value.endswith("%") else None


def comma_parts(value: str) -> list[str]:
    """Split a value at commas outside of brackets."""
    if "," not in value:
        return [value.strip()]
    parts = _split(value, ",") if "(" in value or ")" in value or "[" in value else value.split(",")
    return [part.strip() for part in parts]


def nested_levels(selector: str) -> int:
    """Return how many selectors, one in another, are matched with elements around the one in question or inside it."""
    selector, levels = _ATTRIBUTES.sub(r"\1", selector), 0
    for _ in range(_MAX_DEPTH):
        if not (functions := _INNERMOST.findall(selector)):
            return levels
        levels += max(
            (" of " in inside) if name.startswith("nth-") else (name == "has") + (_COMBINED.search(inside) is not None)
            for name, inside in functions
        )
        selector = _INNERMOST.sub("x", selector)
    return _MAX_DEPTH


def arguments(value: str) -> list[str]:
    """Split a value at commas, slashes or spaces outside of brackets."""
    if "(" in value or ")" in value:
        return [part for part in _split(value, ",/ \t\n\r\f") if part]
    return value.replace(",", " ").replace("/", " ").split()


def four_sides(parts: list[str]) -> list[str]:
    """Return the values for top, right, bottom and left of one to four values, as for `margin`."""
    return {1: parts * 4, 2: parts * 2, 3: [*parts, *parts[1:2]]}.get(len(parts), parts[:4])


def _split(value: str, signs: str) -> list[str]:
    parts, depth, start = [], 0, 0
    for index, char in enumerate(value):
        if char in "([":
            depth += 1
        elif char in ")]":
            depth -= 1
        elif depth == 0 and char in signs:
            parts.append(value[start:index])
            start = index + 1
    return [*parts, value[start:]]


def _scale(number: float, unit: str, basis: float | None) -> float | None:
    if unit == "%":
        return None if basis is None else number / 100 * basis
    factor = _UNITS.get(unit)
    return None if factor is None else number * factor


def _reckon(value: str, basis: float | None) -> float | None:
    """Evaluate a formula such as `calc(1px - 100em)`."""
    value = value.removeprefix("-webkit-")
    if len(value) > _MAX_FORMULA or value.partition("(")[0] + "(" not in _FUNCTIONS:
        return None
    try:
        terms = _terms(_CONSTANT.sub(lambda match: _CONSTANTS[match[0]], value))
        result = _sum(terms, basis, 0)
    except (_NotANumber, IndexError, ArithmeticError, ValueError, TypeError):
        return None
    return None if terms else bounded(result)


def _terms(value: str) -> list[tuple[str | None, ...]]:
    """Return the terms of a formula, in reverse order."""
    terms, position = [], 0
    while position < len(value):
        match = _TERM.match(value, position)
        if match is None:
            raise _NotANumber
        terms.append(match.groups())
        position = match.end()
    return terms[::-1]


def _sum(terms: list[tuple[str | None, ...]], basis: float | None, depth: int) -> float:
    result = _product(terms, basis, depth)
    while terms:
        sign, number = terms[-1][3], terms[-1][0]
        if sign in {"+", "-"}:
            terms.pop()
            right = _product(terms, basis, depth)
            result += right if sign == "+" else -right
        elif number is not None and number[0] in "+-":
            result += _product(terms, basis, depth)
        else:
            break
    return result


def _product(terms: list[tuple[str | None, ...]], basis: float | None, depth: int) -> float:
    result = _factor(terms, basis, depth)
    while terms and terms[-1][3] in {"*", "/"}:
        sign = terms.pop()[3]
        right = _factor(terms, basis, depth)
        result = result * right if sign == "*" else result / right
    return result


def _factor(terms: list[tuple[str | None, ...]], basis: float | None, depth: int) -> float:
    number, unit, function, sign = terms.pop()
    if number is not None:
        if not unit:
            return float(number)
        if unit in _ANGLES:
            return float(number) * _ANGLES[unit]
        scaled = _scale(float(number), unit, basis)
        if scaled is None:
            raise _NotANumber
        return scaled
    name = function or ("(" if sign == "(" else "")
    if name not in _FUNCTIONS or depth > _MAX_DEPTH:
        raise _NotANumber
    values = [_sum(terms, basis, depth + 1)]
    while (mark := terms.pop()[3]) == ",":
        values.append(_sum(terms, basis, depth + 1))
    if mark != ")":
        raise _NotANumber
    return float(_FUNCTIONS[name](*values))


def sheet_of(address: str) -> str | None:
    """Return the style sheet embedded in a URL; None if it is external."""
    address = address.strip()
    if address[:5].lower() != "data:" or len(address) > _MAX_SHEET:
        return None
    kind, comma, data = address[5:].partition(",")
    if not comma or kind.partition(";")[0].strip().lower() not in {"", "text/css"}:
        return ""
    if kind.strip().lower().endswith(";base64"):
        try:
            return b64decode(unquote(data)).decode("utf-8", "replace")
        except ValueError:
            return ""
    return unquote(data)
