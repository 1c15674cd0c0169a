"""Values of CSS as numbers: lengths in pixels, opacities; and their parts.

Source: CSS Values and Units 4 (https://www.w3.org/TR/css-values-4/).
There is no layout, so relative units have their usual size: 16 pixels per em, 1280 x 720 for the screen.
"""

from __future__ import annotations

import ast
import math
import operator
import re
from collections.abc import Callable, Mapping
from functools import lru_cache
from typing import Final

SCREEN_WIDTH: Final = 1280  # pixels
SCREEN_HEIGHT: Final = 720  # pixels

_UNITS: Final[Mapping[str, float]] = {
    "px": 1.0, "em": 16.0, "rem": 16.0, "ex": 8.0, "ch": 8.0, "lh": 19.0, "rlh": 19.0, "ic": 16.0, "cap": 11.0,
    "pt": 4 / 3, "pc": 16.0, "in": 96.0, "cm": 96 / 2.54, "mm": 9.6 / 2.54, "q": 2.4 / 2.54,
    "vw": 12.8, "vi": 12.8, "svw": 12.8, "lvw": 12.8, "dvw": 12.8, "vmax": 12.8, "cqw": 12.8, "cqi": 12.8,
    "vh": 7.2, "vb": 7.2, "svh": 7.2, "lvh": 7.2, "dvh": 7.2, "vmin": 7.2, "cqh": 7.2, "cqb": 7.2,
}  # fmt: skip
_ANGLES: Final[Mapping[str, float]] = {"deg": math.pi / 180, "rad": 1.0, "turn": 2 * math.pi, "grad": math.pi / 200}
NUMBER: Final = r"[+-]?(?:\d+(?:\.\d+)?|\.\d+)(?:e[+-]?\d+)?"
"""A pattern of the numbers of CSS in lower case."""
CALL: Final = re.compile(r"(?<![a-z0-9-])([a-z0-9-]++)\(((?:[^()]|\([^()]*\))*)\)")
"""The name and the arguments of a function, such as those of `transform` and `filter`."""
OUT_OF_FLOW: Final = frozenset({"absolute", "fixed"})
"""Values of `position` that take an element out of the flow."""
_QUANTITY: Final = re.compile(rf"({NUMBER})(%|[a-z]*)")
_AMOUNT: Final = re.compile(r"(?<![\w.])((?:\d+(?:\.\d+)?|\.\d+)(?:e[+-]?\d+)?)(%|[a-z]*)")
_NO_FORMULA: Final = re.compile(r"[^a-z0-9\s.%()*/+,-]|,\s*\)|[(,*/+-]\s*[+-][\s(]")
"""What an expression of Python may have, or a later check overlooks, and no formula: a comma or a sign on its own."""
_CONSTANTS: Final[Mapping[str, float]] = {"pi": math.pi, "e": math.e, "infinity": 1e300}
_FUNCTIONS: Final[Mapping[str, Callable[..., float]]] = {
    "calc": float, "min": min, "max": max, "clamp": lambda low, x, high: max(low, min(x, high)), "abs": abs,
    "sign": lambda x: float((x > 0) - (x < 0)), "round": lambda x, step=1.0: math.floor(x / step + 0.5) * step,
    "mod": lambda x, y: x % y, "rem": math.fmod, "sin": math.sin, "cos": math.cos, "tan": math.tan, "sqrt": math.sqrt,
    "pow": math.pow, "exp": math.exp, "hypot": math.hypot, "log": math.log,
}  # fmt: skip
_OPERATORS: Final[Mapping[type[ast.operator], Callable[[float, float], float]]] = {
    ast.Add: operator.add, ast.Sub: operator.sub, ast.Mult: operator.mul, ast.Div: operator.truediv,
}  # fmt: skip
_INNERMOST: Final = re.compile(r":([\w-]+)\(([^()]*+)\)")
_ATTRIBUTES: Final = re.compile(r"\[[^\]]*+\]|(\[.*)", re.DOTALL)  # what is not closed is matched once, and kept
_COMBINED: Final = re.compile(r"[^\s,>+~](?:\s+(?=[^\s,>+~])|\s*+[>+~])")
_SEPARATOR: Final = re.compile(r"[,/ \t\n\r\f]")
_MAX_FORMULA: Final = 200  # characters
_MAX_DEPTH: Final = 16
_INFINITY: Final = 1e10  # what an infinite number counts as
_MAX_CACHED: Final = 80  # characters of a value that is likely to be repeated


def bounded(number: float) -> float:
    """Return a finite number: not a number is zero, and an infinite one the largest (CSS Values 4, section 10.9.1)."""
    return min(max(number, -_INFINITY), _INFINITY) if number == number else 0.0


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
        length = None if unit in _ANGLES else _scale(number, unit, basis)
        return None if length is None else bounded(length)
    return _reckon(value, basis)


def radians(value: str) -> float | None:
    """Return an angle in radians; None for anything else."""
    match = _QUANTITY.fullmatch(value)
    return bounded(float(match[1]) * _ANGLES[match[2]]) if match and match[2] in _ANGLES else _reckon(value, None)


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
    parts = value.split(",")
    if "(" in value or ")" in value or "[" in value:
        parts = _joined(value, parts)
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
        return [part for part in _joined(value, _SEPARATOR.split(value)) if part]
    return value.replace(",", " ").replace("/", " ").split()


def four_sides(parts: list[str]) -> list[str]:
    """Return the values for top, right, bottom and left of one to four values, as for `margin`."""
    return {1: parts * 4, 2: parts * 2, 3: [*parts, *parts[1:2]]}.get(len(parts), parts[:4])


def _joined(value: str, pieces: list[str]) -> list[str]:
    """Return the pieces of a value, with one character between them, joined again where that is in brackets."""
    parts, depth, start, end = list[str](), 0, 0, -1
    for piece in pieces:
        end += len(piece) + 1
        depth += piece.count("(") + piece.count("[") - piece.count(")") - piece.count("]")
        if depth == 0:
            parts.append(value[start:end])
            start = end + 1
    return parts if depth == 0 else [*parts, value[start:]]


def _scale(number: float, unit: str, basis: float | None) -> float | None:
    if unit == "%":
        return None if basis is None else number / 100 * basis
    factor = _UNITS.get(unit) or _ANGLES.get(unit)
    return None if factor is None else number * factor


def _reckon(value: str, basis: float | None) -> float | None:
    """Evaluate a formula such as `calc(1px - 100em)`: with its lengths in pixels, it is an expression of Python."""
    value = value.removeprefix("-webkit-")
    if len(value) > _MAX_FORMULA or value.partition("(")[0] not in _FUNCTIONS or _NO_FORMULA.search(value):
        return None

    def in_pixels(match: re.Match[str]) -> str:
        number = _scale(float(match[1]), match[2], basis) if match[2] else float(match[1])
        return "none" if number is None else f"{bounded(number)!r}"

    try:
        return bounded(_value_of(ast.parse(_AMOUNT.sub(in_pixels, value), mode="eval").body))
    except (ArithmeticError, KeyError, MemoryError, RecursionError, SyntaxError, TypeError, ValueError):
        return None


def _value_of(node: ast.expr) -> float:
    match node:
        case ast.Constant(value=float(number)):
            return number
        case ast.Name(id=name):
            return _CONSTANTS[name]
        case ast.BinOp(left=left, op=sign, right=right):
            return _OPERATORS[type(sign)](_value_of(left), _value_of(right))
        case ast.UnaryOp(op=ast.USub() | ast.UAdd() as sign, operand=ast.Constant() | ast.Name() as inside):
            return -_value_of(inside) if isinstance(sign, ast.USub) else _value_of(inside)
        case ast.Call(func=ast.Name(id=name), args=[_, *_] as values, keywords=[]):
            return float(_FUNCTIONS[name](*map(_value_of, values)))
    raise ValueError(node)
