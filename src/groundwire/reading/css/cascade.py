"""The CSS cascade: which declarations apply to which element, as far as they affect visibility.

Sources: CSS Cascading 5 (https://www.w3.org/TR/css-cascade-5/), CSS Variables 1, and section 15 (Rendering) of the HTML
Standard for attributes such as `bgcolor` and `<font color>`.
"""

from __future__ import annotations

import re
from collections.abc import Callable, Iterable, Mapping, Sequence
from functools import cached_property
from operator import neg
from types import MappingProxyType
from typing import Final, NamedTuple, TypeVar

from turbohtml import Element

from groundwire.reading.css.colors import legacy_color
from groundwire.reading.css.longhands import longhands, may_hide
from groundwire.reading.css.parser import DEFAULTS, OTHERS, UNLAYERED, Declaration, Layer

NO_STYLE: Final[Mapping[str, str]] = MappingProxyType({})
"""The longhands of an element without any."""
_MAX_VALUE: Final = 500  # characters, after `var()`
_VAR: Final = re.compile(r"var\(\s*(--[\w-]+)\s*(?:,((?:[^()]|\([^()]*\))*))?\)")
_ANIMATION_PROPERTIES: Final = ("animation", "animation-name", "animation-fill-mode", "animation-iteration-count")
_REVEALERS: Final = frozenset({"display", "visibility", "opacity", "height", "max-height", "left", "transform", "clip"})
_FADES: Final = frozenset({"opacity", "visibility", "transform"})
ANIMATED: Final = "animated"
"""The key of a style that an unknown animation changes, without what the animation may show."""
_PAINTS: Final = frozenset({"background", "background-color", "background-image"})
_UNSET_WORDS: Final = frozenset({"initial", "unset", "revert", "revert-layer", "inherit"})

_Priority = tuple[bool, bool, Layer, tuple[int, int, int], int]
_Entry = tuple[_Priority, str]
Kind = tuple[int, int]
"""What elements with the same longhands share: a sequence of declarations, and the custom properties that it uses."""
_Inherited = TypeVar("_Inherited")


class _Sequence(NamedTuple):
    """What a sequence of sources declares."""

    values: dict[str, str]
    """The longhands, without custom properties."""
    computed: bool
    """Whether some of their values use custom properties."""
    declares: bool
    """Whether it may have custom properties."""


class Styles:
    """The longhands of the elements that have any.

    Each sequence of rules that applies to an element has a number, and an element has that number: most elements of a
    page share a few.

    Attributes:
        keyframes: The properties of the frames that animations end with, and of the others; see `OTHERS`.
        initial: The initial values of registered custom properties.
        incomplete: Whether there are external styles that were not loaded.
        scripted: Whether a script may set custom properties.
        sheet_names: The classes and ids with rules in the available sheets, written as selectors.
        page_classes: The classes of the page's elements.
        without_sheets: Whether the page's style sheets may have been taken away: it has classes, and no sheet.
        states: Selectors with a state that shows something: what is before it, its name, what is after it, and the
            properties that show it.
        box_styles: The longhands of an element's generated box (`::before`), if it has a background.
        generated: What `content` is for the sides of elements, `before` or `after`, with its precedence.
    """

    def __init__(self, *, scripted: bool) -> None:
        self.keyframes: dict[str, dict[str, str]] = {}
        self.initial: Mapping[str, str] = NO_STYLE
        self.incomplete = self.without_sheets = False
        self.scripted = scripted
        self.sheet_names: set[str] = set()
        self.page_classes: set[str] = set()
        self.states: list[tuple[str, str, frozenset[str]]] = []
        self.box_styles: dict[Element, dict[str, str]] = {}
        self.generated: dict[tuple[Element, str], tuple[tuple[Layer, tuple[int, int, int]], str]] = {}
        self._declared: list[tuple[Sequence[Declaration], bool, Layer, tuple[int, int, int]]] = []
        self._numbers: dict[Element, int] = {}
        self._sources: list[tuple[int, int]] = [(0, 0)]  # each is another one, and a source at its end
        self._longer: dict[tuple[int, int], int] = {}
        self._merged: dict[int, dict[str, _Entry]] = {}
        self._sequences: dict[int, _Sequence] = {}
        self._styles: dict[Kind, Mapping[str, str]] = {}
        self._scopes: dict[Element, int] = {}
        self._inner: dict[tuple[int, int], int] = {}
        self._custom: dict[str, dict[Element, str | None]] = {}

    @cached_property
    def rows(self) -> list[tuple[Element, Kind, Mapping[str, str]]]:
        """The elements with declarations, each with a key that those of the same longhands share, and these.

        For when everything is applied.
        """
        return [(element, *self._kind_and_style(element, number)) for element, number in self._numbers.items()]

    def where(self, is_meant: Callable[[Mapping[str, str]], bool]) -> list[tuple[Element, Mapping[str, str]]]:
        """Return the elements whose longhands are meant, and these; those that elements share are judged once."""
        rows = self.rows
        kinds = {kind for kind, style in self._styles.items() if is_meant(style)}
        return [(element, style) for element, kind, style in rows if kind in kinds] if kinds else []

    def get(self, element: Element) -> Mapping[str, str]:
        """Return an element's longhands after its animations, with custom properties resolved."""
        number = self._numbers.get(element)
        return NO_STYLE if number is None else self._kind_and_style(element, number)[1]

    def _kind_and_style(self, element: Element, number: int) -> tuple[Kind, Mapping[str, str]]:
        sequence = self._sequences.get(number) or self._sequence(number)
        kind = number, self._scope(element) if sequence.computed else 0
        style = self._styles.get(kind)
        if style is None:
            values = self._resolved(element, sequence.values) if sequence.computed else sequence.values
            style = self._styles[kind] = self._after_animation(values)
        return kind, style

    def _resolved(self, element: Element, values: Mapping[str, str]) -> dict[str, str]:
        """Return longhands with an element's custom properties in their values."""
        style: dict[str, str] = {}
        for name, value in values.items():
            if _is_computed(value):
                resolved = self._resolve(element, value)
                style.update(longhands(name, resolved) if resolved else ())
                if not resolved and name in _PAINTS and (self.incomplete or self.scripted):
                    style["background-image"] = "image"  # unknown: its colors may be set elsewhere
            else:
                style[name] = value
        return style

    def _sequence(self, number: int) -> _Sequence:
        """Return what a sequence of sources declares."""
        merged = self._merge(number)
        reset = merged["all"][0] if "all" in merged else None
        values = {
            name: value
            for name, (priority, value) in merged.items()
            if not name.startswith("--") and (reset is None or priority >= reset)
        }
        computed = any(map(_is_computed, values.values()))
        sequence = self._sequences[number] = _Sequence(values, computed, len(values) < len(merged))
        return sequence

    def _scope(self, element: Element) -> int:
        """Return the number of an element's custom properties: those of its parent, unless it declares some itself."""

        def scope_of(inner: Element, around: int) -> int:
            number = self._numbers.get(inner, 0)
            if number and (self._sequences.get(number) or self._sequence(number)).declares:
                return self._inner.setdefault((around, number), len(self._inner) + 1)
            return around

        return inherited(element, self._scopes, 0, scope_of)

    def apply(
        self,
        elements: Iterable[Element],
        declared: Sequence[Declaration],
        *,
        inline: bool = False,
        layer: Layer = UNLAYERED,
        specificity: tuple[int, int, int] = (0, 0, 0),
    ) -> None:
        """Apply declarations to elements, unless a stronger one applies."""
        if not declared:
            return
        source, numbers = len(self._declared), self._numbers
        self._declared.append((declared, inline, layer, specificity))
        before, after = -1, 0
        for element in elements:
            number = numbers.get(element, 0)
            if number != before:
                before, after = number, self._longer.setdefault((number, source), len(self._sources))
                if after == len(self._sources):
                    self._sources.append((number, source))
            numbers[element] = after

    def note_state(self, selector: str, state: re.Match[str], declared: Iterable[Declaration]) -> None:
        """Record a rule that shows something if a box is checked, or hides it unless the box is.

        Args:
            selector: Its selector.
            state: Where the state is in it, as `:checked` or `:not(:checked)`.
            declared: Its declarations.
        """
        pairs = [(name, value) for name, value, _ in declared if name in _REVEALERS and not _is_computed(value)]
        names = {name.removeprefix("max-") for name, value in pairs if may_hide(name, value) is bool(state[1])}
        if names and (after := selector[state.end() :]):
            self.states.append((selector[: state.start()], after, frozenset(names)))

    def _merge(self, number: int) -> dict[str, _Entry]:
        merged = self._merged.get(number)
        if merged is None:
            merged = self._merged[number] = {}
            while number:  # from the last source to the first
                number, source = self._sources[number]
                declared, inline, layer, specificity = self._declared[source]
                normal = False, inline, layer, specificity, source
                for longhand, value, important in reversed(declared):
                    priority = (True, inline, tuple(map(neg, layer)), specificity, source) if important else normal
                    if "all" in merged and priority <= merged["all"][0] and not longhand.startswith("--"):
                        continue  # and those after it in the same rule are there already
                    if longhand not in merged or merged[longhand][0] < priority:
                        merged[longhand] = priority, value
        return merged

    def _after_animation(self, style: dict[str, str]) -> dict[str, str]:
        """Return a style after its animation has ended."""
        if "animation" not in style and "animation-name" not in style:
            return style
        words = set(" ".join(style.get(name, "") for name in _ANIMATION_PROPERTIES).replace(",", " ").split())
        if words.isdisjoint({"forwards", "both", "infinite"}):
            return style
        name = next((name for name in self.keyframes if name.lower() in words), None)
        endless = "infinite" in words
        if name is None or (not endless and any(word.endswith("reverse") for word in words)):
            if not self.incomplete or not any(part in style and may_hide(part, style[part]) for part in _FADES):
                return style
            return {part: value for part, value in style.items() if part not in _FADES} | {ANIMATED: "unknown"}
        ended, others = dict(self.keyframes[name]), self.keyframes[name + OTHERS]
        if endless:  # what is shown from time to time is seen
            visible = {part for part in ended if part not in style or not may_hide(part, style[part])} - others.keys()
            ended = {part: value for part, value in ended.items() if part not in visible or not may_hide(part, value)}
            shown = {part: value for part, value in others.items() if not may_hide(part, value)}
            ended |= {part: value for part, value in shown.items() if part in ended or part in style}
        return style | ended

    def _resolve(self, element: Element, value: str) -> str:
        text = value
        for _ in range(8):
            if not _is_computed(value) or len(value) > _MAX_VALUE:
                break
            value, found = _VAR.subn(lambda match: _substitute(self._property(element, match[1]), match[2]), value)
            if not found:
                break
        else:
            value = _VAR.sub(lambda match: _substitute(None, match[2]), text)  # of a cycle, the fallback counts
        return "" if _is_computed(value) else value.lower()

    def _property(self, element: Element, name: str) -> str | None:
        """Return a custom property of an element; None if it is not set."""
        initial = self.initial.get(name)

        def value_of(inner: Element, around: str | None) -> str | None:
            number = self._numbers.get(inner)
            if number is None or (entry := self._merge(number).get(name)) is None:
                return around
            value = entry[1]
            return value if value not in _UNSET_WORDS else initial if value == "initial" else around

        return inherited(element, self._custom.setdefault(name, {}), initial, value_of)


def _substitute(value: str | None, fallback: str | None) -> str:
    """Return what stands for a `var()`: without a value and a fallback something that makes the whole value invalid."""
    return value if value is not None else "var(" if fallback is None else fallback.strip()


def _is_computed(value: str) -> bool:
    """Return whether a value depends on an element's custom properties."""
    return "var(" in value


def declare_attributes(element: Element, styles: Styles) -> None:
    """Declare the colors of an element's attributes: `bgcolor`, `<font color>` and the like."""

    def declare(elements: Iterable[Element], name: str, value: str) -> None:
        if value:
            styles.apply(elements, [Declaration(name, value, important=False)], layer=DEFAULTS)

    if element.tag == "body":
        declare(element.select("a[href]:not([style*=color])"), "color", legacy_color(element.attr("link") or ""))
        declare((element,), "color", legacy_color(element.attr("text") or ""))
    name, attribute = ("color", "color") if element.tag == "font" else ("background-color", "bgcolor")
    declare((element,), name, legacy_color(element.attr(attribute) or ""))
    declare((element,), "background-image", "image" if element.attr("background") else "")


def inherited(
    element: Element,
    known: dict[Element, _Inherited],
    initial: _Inherited,
    value_of: Callable[[Element, _Inherited], _Inherited],
) -> _Inherited:
    """Return what an element has by itself or from the elements around it; linear, since no path is visited twice.

    Args:
        element: The element.
        known: What is known so far, to which the path to the element is added.
        initial: What the outermost element has around it.
        value_of: Returns what an element has, given what the one around it has.
    """
    path: list[Element] = []
    node: object = element
    while isinstance(node, Element) and node not in known:
        path.append(node)
        node = node.parent
    value = known[node] if isinstance(node, Element) else initial
    for inner in reversed(path):
        value = known[inner] = value_of(inner, value)
    return value
