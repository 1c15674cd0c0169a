"""Text in the colour of what is behind it, or in no colour at all."""

from __future__ import annotations

from collections.abc import Iterable, Mapping
from typing import Final

from turbohtml import Document, Element

from groundwire.reading.cascade import Styles
from groundwire.reading.css import Declaration
from groundwire.reading.css_values import Colour, alike, colour
from groundwire.reading.hiding import FAINT

__all__ = ["COLOURED", "declare_attributes", "unreadable"]

_WHITE: Final = Colour(1.0, 1.0, 1.0, 1.0)
_BLACK: Final = Colour(0.0, 0.0, 0.0, 1.0)
COLOURED: Final = "font[color], [bgcolor], body[text], [background]"
"""Elements to which an attribute gives a colour."""

_OWN_COLOUR: Final = "a[href], mark, button"
"""Elements to which browsers give a colour of their own."""


def unreadable(document: Document, styles: Styles) -> dict[Element, bool]:
    """Return for each element that changes a colour whether its text cannot be told from its background.

    White on white counts only where both are known: with style sheets elsewhere, the page's own background is not.
    """
    given = {element: style for element in styles if _changes(style := styles.get(element))}
    if not any(_could_hide(style) for style in given.values()):
        return {}
    names = ("text-fill", "color") if any("text-fill" in style for style in given.values()) else ("color",)
    states: dict[Element, bool] = {}
    for element in given:
        states[element] = _is_unreadable(element, given, names, incomplete=styles.incomplete)
    if any(states.values()):
        for element in document.select(_OWN_COLOUR):
            states.setdefault(element, False)
    return states


def declare_attributes(elements: Iterable[Element], styles: Styles) -> None:
    """Declare the colours that attributes give: `bgcolor`, `<font color>` and the like.

    Args:
        elements: All that `COLOURED` selects, and maybe more.
        styles: Where they are declared.
    """
    for element in elements:
        _declare_attributes(element, styles)


def _declare_attributes(element: Element, styles: Styles) -> None:
    pairs = (
        {"bgcolor": "background-color", "text": "color"} if element.tag == "body" else {"bgcolor": "background-color"}
    )
    if element.tag == "font":
        pairs = {"color": "color"}
    for attribute, name in pairs.items():
        value = (element.attr(attribute) or "").strip().lower()
        if value and colour(value) is None:
            value = "#" + value
        if value:
            styles.declare((element,), (Declaration(name, value, important=False),), layer=-1)
    if element.attr("background"):
        styles.declare((element,), (Declaration("background-image", "image", important=False),), layer=-1)


def _changes(style: Mapping[str, str]) -> bool:
    return "color" in style or "text-fill" in style or "background-color" in style or "background-image" in style


def _could_hide(style: Mapping[str, str]) -> bool:
    return "color" in style or "text-fill" in style


def _is_unreadable(
    element: Element, given: Mapping[Element, Mapping[str, str]], names: tuple[str, ...], *, incomplete: bool
) -> bool:
    style = given[element]
    if style.get("text-shadow", "none") != "none" or style.get("text-stroke", "0")[:1] not in {"0", "i", "u"}:
        return False
    front = _front(element, given, names)
    if front is None:
        return False
    if front.alpha <= FAINT:
        return not _shines_through(element, given)
    back = _back(element, given, incomplete=incomplete)
    return back is not None and front.alpha > 0.9 and alike(front, back)


def _front(element: Element, given: Mapping[Element, Mapping[str, str]], names: tuple[str, ...]) -> Colour | None:
    """Return the colour of an element's text, by the first property that says it; None if it cannot be told."""
    for name in names:
        node: object = element
        while isinstance(node, Element):
            value = given.get(node, {}).get(name, "")
            if value and value not in {"inherit", "unset", "currentcolor"}:
                return _BLACK if value in {"initial", "revert"} else colour(value)
            node = node.parent
    return _BLACK


def _shines_through(element: Element, given: Mapping[Element, Mapping[str, str]]) -> bool:
    """Tell whether the background is cut to the letters, as in headings with a gradient."""
    node: object = element
    while isinstance(node, Element):
        if given.get(node, {}).get("background-clip") == "text":
            return True
        node = node.parent
    return False


def _back(element: Element, given: Mapping[Element, Mapping[str, str]], *, incomplete: bool) -> Colour | None:
    """Return the colour behind an element's text; None if it cannot be told."""
    node: object = element
    while isinstance(node, Element):
        style = given.get(node, {})
        if style.get("background-image", "none") not in {"none", "initial"}:
            return None
        shade = colour(style.get("background-color", "transparent"))
        if shade is None or 0.1 < shade.alpha < 0.95:
            return None
        if shade.alpha >= 0.95:
            return shade
        if incomplete and node.attr("class"):
            return None
        node = node.parent
    return None if incomplete else _WHITE
