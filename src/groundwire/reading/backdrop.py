"""What is behind a text: the background of the element, of those around it, or of one that lies under them."""

from __future__ import annotations

from collections.abc import Iterable, Mapping
from types import MappingProxyType
from typing import Final

from turbohtml import Element, Node

from groundwire.reading.cascade import Styles
from groundwire.reading.colours import Colour, alike, blend, colour, gradient_colours
from groundwire.reading.css_values import fraction, pixels
from groundwire.reading.hiding import FAINT

__all__ = ["BLACK", "PLACED", "WHITE", "Backdrop", "Given"]

Given = Mapping[Element, Mapping[str, str]]
"""The longhands of the elements that change a colour."""

WHITE: Final = Colour(1.0, 1.0, 1.0, 1.0)
BLACK: Final = Colour(0.0, 0.0, 0.0, 1.0)
_NOTHING: Final[Mapping[str, str]] = MappingProxyType({})
_CLEAR: Final = Colour(0.0, 0.0, 0.0, 0.0)
_DARK: Final = Colour(0.07, 0.07, 0.07, 1.0)
_YELLOW: Final = Colour(1.0, 1.0, 0.0, 1.0)
_CONTROLS: Final = frozenset({"button", "input", "select", "textarea"})
_MEDIA: Final = frozenset({"img", "video", "picture", "canvas", "svg", "iframe", "object", "embed"})
PLACED: Final = frozenset({"absolute", "fixed"})
_MAX_SIBLINGS: Final = 50


class Backdrop:
    """Looks for what is behind a text.

    Args:
        styles: All styles of the page.
        given: Those that change a colour.
        dark: Whether the page asks for the browser's dark colours.
        placed: Whether a style of the page places anything by itself.
    """

    def __init__(self, styles: Styles, given: Given, *, dark: bool, placed: bool) -> None:
        self._styles = styles
        self._given = given
        self.dark = dark
        self._known: dict[Element, Colour | None] = {}
        self._paints: dict[tuple[int, str], Colour | None] = {}
        self._anything_placed = placed or bool(styles.added)

    def behind(self, element: Element) -> Colour | None:
        """Return the colour behind an element's text; None if it cannot be told."""
        back = self._at(element)
        own = self._of(element)
        if back is None or own is None or own.alpha >= 0.95:
            return back
        lying = self._under(element, element.children)  # the text may be in any that follows
        return lying and blend(lying, back)

    def _at(self, element: Element) -> Colour | None:
        """Return what is behind an element and its siblings; linear, since no path is walked twice."""
        path: list[Element] = []
        node: object = element
        while isinstance(node, Element) and node not in self._known:
            path.append(node)
            node = node.parent
        back = self._known[node] if isinstance(node, Element) else None
        if not isinstance(node, Element) and not self._styles.incomplete:
            back = _DARK if self.dark else WHITE
        for step in reversed(path):
            back = self._known[step] = self._over(step, back)
        return back

    def _over(self, element: Element, back: Colour | None) -> Colour | None:
        """Return the colour of an element's background on what is behind it."""
        shade = self._of(element)
        if shade is None or shade.alpha >= 0.95:
            return shade
        if self._styles.incomplete and element.attr("class"):
            return None
        lying = self._under(element, element.previous_siblings)
        if lying is None or lying.alpha >= 0.95:
            back = lying
        elif back is not None and lying is not _CLEAR:
            back = blend(lying, back)
        return back if shade is _CLEAR else back and blend(shade, back)

    def shines_through(self, element: Element) -> bool:
        """Tell whether a background that can be seen is cut to the letters, as in headings with a gradient."""
        node: object = element
        while isinstance(node, Element):
            style = self._given.get(node, {})
            if style.get("background-clip") == "text":
                paints = [colour(style.get("background-color", "transparent"), dark=self.dark)]
                if (image := style.get("background-image", "none")) not in {"none", "initial"}:
                    paints = [*(gradient_colours(image, dark=self.dark) or (None,))]
                around = node.parent
                back = self.behind(around) if isinstance(around, Element) else WHITE
                return any(
                    paint is None or (paint.alpha > FAINT and (back is None or not alike(blend(paint, back), back)))
                    for paint in paints
                )
            node = node.parent
        return False

    def _of(self, element: Element) -> Colour | None:
        """Return the background of an element itself; None if it cannot be told."""
        style = self._given.get(element, _NOTHING)
        key = id(style), element.tag  # elements of one style share one mapping, which the page's styles keep
        if key not in self._paints:
            self._paints[key] = self._painted(style, element.tag)
        return self._paints[key]

    def _painted(self, style: Mapping[str, str], tag: str) -> Colour | None:
        if style.get("background-clip") == "text":
            return _CLEAR
        if (image := style.get("background-image", "none")) not in {"none", "initial"}:
            shades = gradient_colours(image, dark=self.dark)
            if not shades or any(shade.alpha < 0.95 or not alike(shade, shades[0]) for shade in shades):
                return None
            return shades[0]
        value = style.get("background-color", "")
        if value in {"", "initial", "unset", "revert"}:
            if tag in _CONTROLS:
                return None
            return _YELLOW if tag == "mark" else _CLEAR
        return colour(value, dark=self.dark)

    def _under(self, element: Element, beside: Iterable[Node]) -> Colour | None:
        """Return the colour of what lies under an element because it is placed over all of the part around both.

        Pages put a picture or a shade there and the text on it. None if its colour cannot be told.
        """
        if not self._anything_placed:
            return _CLEAR
        added = self._styles.added.get(element, {})
        if added.get("position") in PLACED and _is_spread(added):
            return self._painted(added, "")
        for steps, sibling in enumerate(beside):
            if steps > _MAX_SIBLINGS:
                break
            if not isinstance(sibling, Element):
                continue
            style = self._styles.get(sibling)
            if style.get("position") in PLACED and (sibling.tag in _MEDIA or _is_spread(style)):
                return None if sibling.tag in _MEDIA or sibling.find("img") is not None else self._of(sibling)
        return _CLEAR


def _is_spread(style: Mapping[str, str]) -> bool:
    """Tell whether an element is as large as what it is placed in."""

    def fills(size: str, start: str, end: str) -> bool:
        if (fraction(style.get(size, "")) or 0.0) >= 0.99:
            return True
        return all((edge := pixels(style.get(side, ""), 1_000.0)) is not None and edge <= 0 for side in (start, end))

    return fills("width", "left", "right") and fills("height", "top", "bottom")
