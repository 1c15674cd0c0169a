"""Formulas that MathJax 3 and 4 only draw, as MathML: their elements are named after MathML's, their glyphs by code."""

from __future__ import annotations

import re
import unicodedata
from collections.abc import Iterator
from typing import Final

from turbohtml import Element, Text

__all__ = ["read_drawing"]

_TOKENS: Final = frozenset({"mi", "mn", "mo", "ms", "mtext"})
_PARTS: Final = frozenset(
    {
        "mfrac", "mover", "mroot", "mrow", "msqrt", "mstyle", "msub", "msubsup", "msup", "mtable", "mtd", "mtr",
        "munder", "munderover",
    }
)  # fmt: skip
_SLOTS: Final = ("num", "den", "box", "root", "base", "under", "over", "script")
"""The boxes in which MathJax's HTML puts the parts of an element, in MathML's order."""
_SIGNS_OF_ROOTS: Final = frozenset({"surd", "assistive-mml"})
_CODE: Final = re.compile(r"(?:^|\s)mjx-c([0-9A-Fa-f]{2,5})(?:\s|$)")
_DIGITS: Final = re.compile("[0-9A-Fa-f]{2,5}")
_ITALIC_RANGES: Final = ((0x1D434, 0x1D467), (0x1D6E2, 0x1D71B))
_INVISIBLE_OPERATORS: Final = range(0x2061, 0x2065)  # operators such as the one of a product
_FIRST_PRINTABLE: Final = 0x20
_HEIGHT: Final = re.compile(r"translate\(\s*[-\d.]+\s*[,\s]\s*(-?[\d.]+)")
_MAX_DEPTH: Final = 40


def read_drawing(container: Element) -> Element | None:
    """Return what a container of MathJax draws as MathML, or None if that cannot be read.

    Args:
        container: The `mjx-container` element.
    """
    return _element_of("math", [_part(child, 0) for child in _inside(container)])


def _name(node: Element) -> str:
    """Return the name of the part of a formula that an element draws, if any: `mi` for `mjx-mi` and in drawn SVG."""
    name = node.tag[4:] if node.tag.startswith("mjx-") else node.attr("data-mml-node") or ""
    return name.lower()


def _inside(node: Element) -> Iterator[Element]:
    """Yield the nearest parts and slots in an element."""
    stack = [child for child in reversed(list(node)) if isinstance(child, Element)]
    while stack:
        child = stack.pop()
        name = _name(child)
        if name in _TOKENS or name in _PARTS or name in _SLOTS:
            yield child
        elif name not in _SIGNS_OF_ROOTS:
            stack.extend(below for below in reversed(list(child)) if isinstance(below, Element))


def _part(node: Element, depth: int) -> Element | None:
    name = _name(node)
    if depth > _MAX_DEPTH:
        return None
    if name in _TOKENS:
        glyphs = list(_glyphs(node))
        return Element(name, {}, [Text("".join(glyphs))]) if glyphs else None
    inside = list(_inside(node))
    slots = {_name(child): child for child in inside if _name(child) in _SLOTS}
    if name == "munderover" and "box" in slots:  # which has the base and what is under it
        inner = next(_inside(slots.pop("box")), node)
        slots |= {_name(child): child for child in _inside(inner)}
    script = slots.pop("script", None)
    if script is not None:
        inside = [child for child in inside if child is not script] + list(_inside(script))[::-1]
    elif slots and name in _PARTS:
        inside = [slots[slot] for slot in _SLOTS if slot in slots]
    elif name in {"msubsup", "munderover"}:
        inside[1:] = sorted(inside[1:], key=_height)
    elif name == "msqrt":
        inside = [child for child in inside if _name(child) != "mo" or "".join(_glyphs(child)) != "√"]
    return _element_of(name if name in _PARTS else "mrow", [_part(child, depth + 1) for child in inside])


def _element_of(name: str, parts: list[Element | None]) -> Element | None:
    """Return an element with its parts, or None if one of them cannot be read."""
    readable = [part for part in parts if part is not None]
    return Element(name, {}, list(readable)) if readable and len(readable) == len(parts) else None


def _height(node: Element) -> float:
    """Return how high a part of a drawing is above its line."""
    match = _HEIGHT.match((node.attr("transform") or "").strip())
    return float(match[1]) if match is not None and match[1].count(".") < 2 else 0.0


def _glyphs(token: Element) -> Iterator[str]:
    """Yield the characters of a token, with italic letters as plain ones: those that a formula has anyway."""
    for glyph in token.descendants:
        if isinstance(glyph, Element):
            match = _CODE.search(glyph.attr("class") or "")
            digits = match[1] if match is not None else glyph.attr("data-c") or ""
            code = int(digits, 16) if _DIGITS.fullmatch(digits) else 0
            if any(first <= code <= last for first, last in _ITALIC_RANGES):
                yield unicodedata.normalize("NFKC", chr(code))
            elif code >= _FIRST_PRINTABLE and not 0xD800 <= code < 0xE000:
                yield "" if code in _INVISIBLE_OPERATORS else chr(code)
