"""The size of letters, as far as it decides whether they can be read.

Source: CSS Fonts 4, section 2.5 (https://www.w3.org/TR/css-fonts-4/#font-size-prop).
"""

from __future__ import annotations

import re
from typing import Final

from turbohtml import Document, Element

from groundwire.reading.cascade import Styles
from groundwire.reading.css_values import pixels

__all__ = ["TINY_FONT", "may_be_tiny", "measure_fonts"]

_MEDIUM_FONT: Final = 16.0  # pixels
TINY_FONT: Final = 2.0  # pixels; what is smaller is no text for anybody

_RELATIVE: Final = re.compile(r"([+-]?[\d.]+(?:e[+-]?\d+)?)(em|%|ex|ch|lh|ic|cap)")
_IN_RELATION: Final = re.compile(r"(?<=[\d.])em(?![a-z])")
_OF_LETTER: Final = {"em": 1.0, "%": 0.01, "ex": 0.5, "ch": 0.5, "lh": 1.2, "ic": 1.0, "cap": 0.7}
_STEPS: Final = {"larger": 1.2, "smaller": 1 / 1.2}
_SMALL: Final = 0.5  # of the element around; a few of those in each other leave nothing


def _resolved(value: str, around: float) -> float:
    """Return a font size in pixels.

    Args:
        value: What `font-size` says.
        around: The size of the element around, in pixels.
    """
    if value in {"inherit", "unset"}:
        return around
    if match := _RELATIVE.fullmatch(value):
        return float(match[1]) * _OF_LETTER[match[2]] * around
    if value in _STEPS:
        return _STEPS[value] * around
    if "em" in value:
        value = _IN_RELATION.sub(f"px*{around:.6f}", value)
    size = pixels(value, around)
    return _MEDIUM_FONT if size is None else size


def may_be_tiny(value: str) -> bool:
    """Tell whether a font size may leave nothing to be read, depending on the element around."""
    match = _RELATIVE.fullmatch(value)
    return _resolved(value, _MEDIUM_FONT) <= TINY_FONT or (
        match is not None and float(match[1]) * _OF_LETTER[match[2]] <= _SMALL
    )


def measure_fonts(document: Document, states: dict[Element, bool], styles: Styles) -> None:
    """Measure the letters where some may be tiny: a size that is relative is one to that of the element around."""
    if not any(states.values()):
        return
    known: dict[Element, float] = {}
    for element in states:
        if "font-size" in styles.get(element):  # and not in an animation alone
            states[element] = _font_size(element, styles, known) <= TINY_FONT
    for control in document.select("button"):
        states.setdefault(control, False)  # has a size of its own, whatever is around it


def _font_size(element: Element, styles: Styles, known: dict[Element, float]) -> float:
    """Return the size of an element's letters in pixels; linear, since no path is walked twice."""
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
