"""Text in the colour of what is behind it, or in no colour at all."""

from __future__ import annotations

from collections.abc import Iterable, Mapping
from typing import Final

from turbohtml import Document, Element

from groundwire.reading.backdrop import BLACK, PLACED, WHITE, Backdrop, Given
from groundwire.reading.cascade import Styles
from groundwire.reading.colours import Colour, alike, blend, colour, legacy_colour
from groundwire.reading.css import Declaration
from groundwire.reading.css_values import arguments, comma_parts, pixels
from groundwire.reading.hiding import FAINT

__all__ = ["COLOURED", "declare_attributes", "unreadable"]

COLOURED: Final = "font[color], [bgcolor], body[text], [background]"
"""Elements to which an attribute gives a colour."""

_COLOURS: Final = frozenset(
    {"color", "text-fill", "background-color", "background-image", "text-shadow", "text-stroke", "box-shadow"}
)
_LINK: Final = Colour(0.0, 0.0, 0.93, 1.0)
_NEAR: Final = 500.0  # pixels; a shadow that is farther away is elsewhere
_WHOLE: Final = 50.0  # pixels; a shadow inside that is wider fills a line of text
_OWN_COLOUR: Final = "a[href], mark, button"
"""Elements to which browsers give a colour of their own."""


def unreadable(document: Document, styles: Styles) -> dict[Element, bool]:
    """Return for each element that changes a colour whether its text cannot be told from its background.

    White on white counts only where both are known: with style sheets elsewhere, the page's own background is not.
    """
    found = [(element, styles.get(element)) for element in styles]
    given = {element: style for element, style in found if _changes(style)}
    if not any(_could_hide(style) for style in given.values()):
        return {}
    placed = any(style.get("position") in PLACED for _, style in found)
    filled = any("text-fill" in style for style in given.values())
    shown = any("text-shadow" in style or "text-stroke" in style for style in given.values())
    look = _Look(
        given, Backdrop(styles, given, dark=_is_dark(document, styles), placed=placed), filled=filled, shown=shown
    )
    states = {element: look.hides(element) for element in given}
    if any(states.values()):
        for element in document.select(_OWN_COLOUR):
            if element not in states:
                states[element] = filled and look.hides(element)
    return states


def _is_dark(document: Document, styles: Styles) -> bool:
    """Tell whether a page asks for the browser's dark colours."""
    root = document.root
    value = styles.get(root).get("color-scheme", "") if root is not None else ""
    if not value and (meta := document.select_one('meta[name="color-scheme" i]')) is not None:
        value = (meta.attr("content") or "").lower()
    words = value.split()
    return "dark" in words and "light" not in words


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
        if (shade := legacy_colour(value)) is not None:
            parts = (round((part or 0.0) * 255) for part in shade[:3])
            value = "#" + "".join(f"{part:02x}" for part in parts)
            styles.declare((element,), (Declaration(name, value, important=False),), layer=-1)
    if element.attr("background"):
        styles.declare((element,), (Declaration("background-image", "image", important=False),), layer=-1)


def _changes(style: Mapping[str, str]) -> bool:
    return not _COLOURS.isdisjoint(style)


def _could_hide(style: Mapping[str, str]) -> bool:
    return "color" in style or "text-fill" in style


class _Look:
    """Tells whether the text of elements can be told from what is behind it."""

    def __init__(self, given: Given, backdrop: Backdrop, *, filled: bool, shown: bool) -> None:
        self._given = given
        self._backdrop = backdrop
        self._names = ("text-fill", "color") if filled else ("color",)
        self._shown = shown

    def hides(self, element: Element) -> bool:
        """Tell whether an element's own text cannot be read."""
        front = self._front(element, self._names)
        if front is None:
            return False
        back = None
        if front.alpha <= FAINT:
            if self._backdrop.shines_through(element):
                return False
        elif (back := self._behind(element)) is None or not alike(blend(front, back), back):
            return False
        return not (self._shown and self._has_edges(element, back or self._behind(element)))

    def _behind(self, element: Element) -> Colour | None:
        """Return the colour behind an element's text, also if it is that of a shadow inside."""
        shadows = self._given[element].get("box-shadow", "") if element in self._given else ""
        for shadow in comma_parts(shadows) if "inset" in shadows else ():
            words = arguments(shadow)
            lengths = [length for word in words if (length := pixels(word)) is not None]
            if "inset" in words and max(lengths, default=0.0) >= _WHOLE:
                return next(filter(None, map(self._shade, words)), None)
        return self._backdrop.behind(element)

    def _shade(self, value: str) -> Colour | None:
        return colour(value, dark=self._backdrop.dark)

    def _front(self, element: Element, names: tuple[str, ...]) -> Colour | None:
        """Return the colour of an element's text, by the first property that says it; None if it cannot be told."""
        plain = WHITE if self._backdrop.dark else BLACK
        for name in names:
            node: object = element
            while isinstance(node, Element):
                value = self._given.get(node, {}).get(name, "")
                if name == "text-fill" and value in {"initial", "revert", "currentcolor"}:
                    break
                if value and value not in {"inherit", "unset", "currentcolor"}:
                    return plain if value in {"initial", "revert"} else self._shade(value)
                if name == "color" and not value and node.tag in {"a", "mark", "button"}:
                    if node.tag != "a":
                        return BLACK
                    if node.attr("href") is not None:
                        return _LINK
                node = node.parent
        return plain

    def _has_edges(self, element: Element, back: Colour | None) -> bool:
        """Tell whether a shadow or an outline shows a text that has no colour of its own."""
        own = self._front(element, ("color",))
        for shadow in comma_parts(self._inherited(element, "text-shadow")):
            words = arguments(shadow)
            lengths = [length for word in words if (length := pixels(word)) is not None]
            near = len(lengths) >= 2 and max(map(abs, lengths[:2])) < _NEAR
            if near and self._stands_out(next(filter(None, map(self._shade, words)), own), back):
                return True
        stroke = arguments(self._inherited(element, "text-stroke"))
        widths = [width for word in stroke if (width := pixels(word)) is not None]
        if not widths or max(widths) <= 0:
            return False
        said = (*stroke, self._inherited(element, "text-stroke-color"))
        return self._stands_out(next(filter(None, map(self._shade, said)), own), back)

    def _inherited(self, element: Element, name: str) -> str:
        node: object = element
        while isinstance(node, Element):
            value = self._given.get(node, {}).get(name, "")
            if value and value not in {"inherit", "unset"}:
                return "" if value in {"none", "initial", "revert"} else value
            node = node.parent
        return ""

    @staticmethod
    def _stands_out(shade: Colour | None, back: Colour | None) -> bool:
        if shade is None or back is None:
            return shade is None or shade.alpha > FAINT
        return shade.alpha > FAINT and not alike(blend(shade, back), back)
