"""Text in the color of its background, or without color.

The background of a text is that of the element, of its ancestors, or of an element below them. What a filter, a blend
mode or an inner shadow changes is unknown.
"""

from __future__ import annotations

from collections.abc import Container, Iterable, Mapping
from functools import lru_cache
from itertools import islice
from typing import Final

from turbohtml import Document, Element, Node, Text

from groundwire.reading.css.cascade import NO_STYLE, Styles, inherited
from groundwire.reading.css.colors import Color, alike, blend, color, gradient_colors
from groundwire.reading.css.values import OUT_OF_FLOW, arguments, comma_parts, fraction, pixels, ratio
from groundwire.reading.visibility.hidden_styles import FAINT, hidden_by

COLORED: Final = "font[color], [bgcolor], body[text], body[link], [background]"
"""Elements that an attribute gives a color."""

_ColorStyles = Mapping[Element, Mapping[str, str]]
"""The longhands of the elements that change a color."""

_WHITE: Final = Color(1.0, 1.0, 1.0, 1.0)
_BLACK: Final = Color(0.0, 0.0, 0.0, 1.0)
_CLEAR: Final = Color(0.0, 0.0, 0.0, 0.0)
_YELLOW: Final = Color(1.0, 1.0, 0.0, 1.0)
_LINK: Final = Color(0.0, 0.0, 0.93, 1.0)
_CONTROLS: Final = frozenset({"button", "input", "select", "textarea"})
_MEDIA: Final = frozenset({"img", "video", "picture", "canvas", "svg", "iframe", "object", "embed"})
_COLORS: Final = frozenset(
    {"color", "text-fill-color", "background-color", "background-image", "text-shadow", "text-stroke", "box-shadow",
     "color-scheme", "filter", "mix-blend-mode"}
)  # fmt: skip
_ALTERING_FILTERS: Final = ("invert", "brightness", "contrast")
_INHERITED_WORDS: Final = frozenset({"inherit", "unset", "currentcolor"})
_OWN_COLOR: Final = "a[href], mark, button"
"""Elements with a default color in browsers."""
_MAX_ANCESTORS: Final = 32  # ancestors that are looked at for a filter
_MAX_SIBLINGS: Final = 50  # siblings that are looked at for a positioned background
_FAR_SHADOW: Final = 150.0  # pixels; a shadow that is moved or blurred so far shows nothing
_HUGE_BOX: Final = 3_000.0  # pixels; a box of this size fills any other


def unreadable(document: Document, styles: Styles) -> tuple[dict[Element, bool], int]:
    """Return for each element that changes a color whether its text is indistinguishable from its background.

    White on white counts only if both are known: with external style sheets, that of boxes in `body` is not.

    Returns:
        The elements, and how many texts would be unreadable if what is unknown had the colors of a page without styles.
    """
    colors = dict(styles.where(lambda style: not _COLORS.isdisjoint(style)))
    placed = styles.where(lambda style: style.get("position") in OUT_OF_FLOW)
    covered = {element.parent for element, style in placed if element.tag in _MEDIA or _is_spread(style)}
    look = _Contrast(styles, colors, covered, dark=_is_dark(document, styles))
    unknown_tags = {"html", "body"} if styles.incomplete else set[str]()
    states = {element: look.hides(element) for element in colors if element.tag not in unknown_tags}
    if any(states.values()):
        for element in document.select(_OWN_COLOR):
            if element not in states:
                states[element] = look.filled and look.hides(element)
    return states, look.doubtful


def _is_dark(document: Document, styles: Styles) -> bool:
    """Return whether a page uses the browser's dark color scheme."""
    root = document.root
    words = styles.get(root).get("color-scheme", "").split() if root is not None else ()
    return "dark" in words and "light" not in words


def _is_spread(style: Mapping[str, str]) -> bool:
    """Return whether an element is as large as its containing block."""

    def fills(size: str, start: str, end: str) -> bool:
        if (fraction(style.get(size, "")) or 0.0) >= 0.99 or (pixels(style.get(size, "")) or 0.0) >= _HUGE_BOX:
            return True
        return all((edge := pixels(style.get(side, ""), 1_000.0)) is not None and edge <= 0 for side in (start, end))

    return fills("width", "left", "right") and fills("height", "top", "bottom")


def _is_unpainted(element: Element, style: Mapping[str, str]) -> bool:
    """Return whether a positioned element, such as a panel that a click opens, shows no background."""
    faint = (opacity := ratio(style.get("opacity", "1"))) is not None and opacity <= FAINT
    return faint or style.get("visibility") == "hidden" or hidden_by(element.tag, style, boxed=True) != ""


class _Contrast:
    """Decides whether the text of elements is distinguishable from its background.

    Args:
        styles: All styles of the page.
        color_styles: The styles that change a color.
        covered: The elements that a positioned one may cover, which is right in them.
        dark: Whether the page uses the browser's dark color scheme.
    """

    def __init__(
        self, styles: Styles, color_styles: _ColorStyles, covered: Container[Node | None], *, dark: bool
    ) -> None:
        self._styles = styles
        self._color_styles = color_styles
        self.doubtful = 0
        """How many texts would be unreadable if what is unknown had the colors of a page without styles."""
        self._dark = dark
        self._back = None if styles.incomplete or dark else _WHITE
        self._default = None if self._back is None or styles.without_sheets else _BLACK
        self._backs: dict[Element, Color | None] = {}
        self._colors: dict[Element, Color | None] = {}
        self._values: dict[str, dict[Element, str]] = {}
        self._covered = covered
        self.filled: bool = any("text-fill-color" in style for style in color_styles.values())
        """Whether any text has a color that is not its `color`."""

    def _behind(self, element: Element) -> Color | None:
        """Return the background color of an element's text; None if unknown."""
        back = inherited(element, self._backs, self._back, self._over)
        own = self._of(element)
        if back is None or own is None or own.alpha >= 0.95:
            return back
        lying = self._under(element, element, element.children)  # the text may be in any of the following children
        return lying and blend(lying, back)

    def _over(self, element: Element, back: Color | None) -> Color | None:
        """Return the color of an element's background blended over the one below."""
        shade = self._of(element)
        if shade is None or shade.alpha >= 0.95:
            return shade
        if self._styles.incomplete and element.attr("class"):
            return None
        lying = self._under(element, element.parent, element.previous_siblings)
        if lying is None or lying.alpha >= 0.95:
            back = lying
        elif back is not None and lying is not _CLEAR:
            back = blend(lying, back)
        return back if shade is _CLEAR else back and blend(shade, back)

    def _shines_through(self, element: Element) -> bool:
        """Return whether a visible background is clipped to the text, as in headings with a gradient."""
        for node in (element, *element.ancestors):
            if (
                not isinstance(node, Element)
                or (style := self._color_styles.get(node, NO_STYLE)).get("background-clip") != "text"
            ):
                continue
            paints = [color(style.get("background-color", "transparent"))]
            if (image := style.get("background-image", "none")) not in {"none", "initial"}:
                paints = [*(gradient_colors(image) or (None,))]
            back = self._behind(node.parent) if isinstance(node.parent, Element) else _WHITE
            return any(_stands_out(paint, back) for paint in paints)
        return False

    def _of(self, element: Element) -> Color | None:
        """Return the background of an element itself; None if unknown."""
        return self._painted(self._color_styles.get(element, NO_STYLE), element.tag)

    def _painted(self, style: Mapping[str, str], tag: str) -> Color | None:
        if not style and tag not in _CONTROLS and tag != "mark":
            return _CLEAR
        if "inset" in style.get("box-shadow", ""):
            return None
        if style.get("background-clip") == "text":
            return _CLEAR
        if (image := style.get("background-image", "none")) not in {"none", "initial"}:
            shades = gradient_colors(image)
            if not shades or any(shade.alpha < 0.95 or not alike(shade, shades[0]) for shade in shades):
                return None
            return shades[0]
        value = style.get("background-color", "")
        if value == "currentcolor":
            return None
        if value in {"", "initial", "unset", "revert"}:
            if tag in _CONTROLS:
                return None
            return _YELLOW if tag == "mark" else _CLEAR
        return self._shade(value)

    def _under(self, element: Element, around: Node | None, beside: Iterable[Node]) -> Color | None:
        """Return the color of a positioned element that covers the part around both; None if unknown.

        Pages place an image or a shade there below the text.
        """
        added = self._styles.box_styles.get(element, NO_STYLE)
        if added.get("position") in OUT_OF_FLOW and _is_spread(added):
            return self._painted(added, "")
        for sibling in islice(beside, _MAX_SIBLINGS) if around in self._covered else ():
            if not isinstance(sibling, Element):
                continue
            style = self._styles.get(sibling)
            if style.get("position") in OUT_OF_FLOW and (sibling.tag in _MEDIA or _is_spread(style)):
                if sibling.tag in _MEDIA or sibling.find("img") is not None:
                    return None
                if not _is_unpainted(sibling, style):
                    return self._of(sibling)
        return _CLEAR

    def hides(self, element: Element) -> bool:
        """Return whether an element's own text is unreadable."""
        front, back = self._front(element), None
        style = self._color_styles.get(element, NO_STYLE)
        if front is not None and style.get("background-color") == "currentcolor":
            return self._color(element) == front and element.text.strip() != ""
        if front is None or front.alpha > FAINT:
            back = self._behind(element)
            if not _is_lost(front or _BLACK, back or _WHITE):
                return False
            if front is None or back is None or self._is_altered(element):
                self.doubtful += any(isinstance(node, Text) and node.data.strip() != "" for node in element)
                return False
        elif self._shines_through(element):
            return False
        return not self._has_edges(element, back or self._behind(element))

    def _is_altered(self, element: Element) -> bool:
        """Return whether a filter or a blend mode changes the colors after the text is painted."""
        around = (element, *islice(element.ancestors, _MAX_ANCESTORS))
        return any(_alters(self._color_styles.get(node, NO_STYLE)) for node in around if isinstance(node, Element))

    def _front(self, element: Element) -> Color | None:
        """Return the color of an element's text; None if unknown."""
        fill = self._inherited(element, "text-fill-color") if self.filled else ""
        return self._color(element) if fill in {"", "currentcolor"} else self._shade(fill)

    def _color(self, element: Element) -> Color | None:
        """Return the color that `color` gives an element's text."""
        return inherited(element, self._colors, self._default, self._own_color)

    def _own_color(self, element: Element, around: Color | None) -> Color | None:
        value = self._color_styles.get(element, NO_STYLE).get("color", "")
        if not value and element.tag == "a" and element.attr("href") is not None:
            return _LINK
        if not value and element.tag in {"mark", "button"}:
            return _BLACK
        if not value or value in _INHERITED_WORDS:
            return around
        return self._default if value in {"initial", "revert"} else self._shade(value)

    def _shade(self, value: str) -> Color | None:
        """Return a color; None if it is unknown, as which half of `light-dark()` a dark page shows."""
        return None if self._dark and "light-dark(" in value else color(value)

    def _has_edges(self, element: Element, back: Color | None) -> bool:
        """Return whether a shadow or an outline shows a text without color."""
        own, names = self._color(element), ("text-shadow", "text-stroke", "text-stroke-color")
        shadow, *strokes = (self._inherited(element, name) for name in names)
        stroke = " ".join(strokes)
        for edge in (*comma_parts(shadow), stroke):
            words = arguments(edge)
            reach = max((abs(length) for word in words if (length := pixels(word)) is not None), default=_FAR_SHADOW)
            if (
                reach < _FAR_SHADOW
                and (reach or edge != stroke)
                and _stands_out(next(filter(None, map(color, words)), own), back)
            ):
                return True
        return False

    def _inherited(self, element: Element, name: str) -> str:
        def value_of(inner: Element, around: str) -> str:
            value = self._color_styles.get(inner, NO_STYLE).get(name, "")
            if not value or value in {"inherit", "unset"}:
                return around
            return "" if value in {"none", "initial", "revert"} else value

        return inherited(element, self._values.setdefault(name, {}), "", value_of)


@lru_cache(maxsize=1024)
def _is_lost(shade: Color, back: Color) -> bool:
    """Return whether a color cannot be told from the one it is painted on; a page has few pairs of them."""
    return alike(blend(shade, back), back)


def _stands_out(shade: Color | None, back: Color | None) -> bool:
    """Return whether a color that is painted, or an unknown one, can be told from what is behind it."""
    if shade is None or back is None:
        return shade is None or shade.alpha > FAINT
    return shade.alpha > FAINT and not _is_lost(shade, back)


def _alters(style: Mapping[str, str]) -> bool:
    """Return whether a style changes the colors of what is already painted."""
    return "mix-blend-mode" in style or any(name in style.get("filter", "") for name in _ALTERING_FILTERS)
