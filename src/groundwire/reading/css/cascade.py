"""The CSS cascade: which declarations apply to which element, as far as they affect visibility.

Sources: CSS Cascading 5 (https://www.w3.org/TR/css-cascade-5/), CSS Variables 1, and section 15 (Rendering) of the HTML
Standard for attributes such as `bgcolor` and `<font color>`.
"""

from __future__ import annotations

import re
from collections.abc import Callable, Container, Iterable, Iterator, Mapping, Sequence
from types import MappingProxyType
from typing import Final

from turbohtml import Element

from groundwire.reading.css.colors import Color, legacy_color
from groundwire.reading.css.longhands import affects_visibility, longhands, may_hide
from groundwire.reading.css.parser import OTHERS, UNLAYERED, Declaration, declarations

__all__ = ["ANIMATED", "NO_STYLE", "Kind", "Styles", "declare_attributes", "is_computed", "unknown_path"]

NO_STYLE: Final[Mapping[str, str]] = MappingProxyType({})
"""The longhands of an element without any."""
_MAX_VALUE: Final = 500  # characters, after `var()`
_VAR: Final = re.compile(r"var\(\s*(--[\w-]+)\s*(?:,((?:[^()]|\([^()]*\))*))?\)")
_ENV: Final = re.compile(r"env\(([\w\s-]+)(?:,([^()]*))?\)")
_COMPUTED_CALLS: Final = ("var(", "env(")
_ANIMATION_PROPERTIES: Final = ("animation", "animation-name", "animation-fill-mode", "animation-iteration-count")
_REVEALERS: Final = frozenset({"display", "visibility", "opacity", "height", "max-height", "left", "transform", "clip"})
_FADES: Final = frozenset({"opacity", "visibility", "transform"})
ANIMATED: Final = "animated"
"""The key of a style that an unknown animation changes, without what the animation may show."""
_UNSET_WORDS: Final = frozenset({"initial", "unset", "revert", "revert-layer", "inherit"})

_Priority = tuple[bool, bool, int, tuple[int, int, int], int]
_Entry = tuple[_Priority, str]
_Row = tuple[str, _Entry]
Kind = int | tuple[int, int]
"""What elements with the same longhands share: a sequence of declarations, also with custom properties."""
_Pair = tuple[str, str, bool]
"""A longhand, its value, and whether it is important."""


class Styles:
    """The longhands of the elements that have any.

    Each sequence of rules that applies to an element has a number, and an element has that number: most elements of a
    page share a few.

    Attributes:
        keyframes: The properties of the frames that animations end with.
        initial: The initial values of registered custom properties.
        incomplete: Whether there are external styles that were not loaded.
        sheet_classes: The classes with rules in the available sheets.
        page_classes: The classes of the page's elements.
        without_sheets: Whether the page's style sheets may have been taken away: it has classes, and no sheet.
        states: Selectors with a state that shows something: what is before it, its name, what is after it, and the
            properties that show it.
        box_styles: The longhands of an element's generated box (`::before`), if it has a background.
        generated: What `content` is for the sides of elements, `before` or `after`, with its precedence.
    """

    def __init__(
        self, *, keyframes: Mapping[str, Mapping[str, str]], incomplete: bool, page_classes: frozenset[str]
    ) -> None:
        self.keyframes = keyframes
        self.incomplete = incomplete
        self.sheet_classes: set[str] = set()
        self.initial: Mapping[str, str] = {}
        self.page_classes = page_classes
        self.without_sheets = False
        self.states: list[tuple[str, str, str, frozenset[str]]] = []
        self.box_styles: dict[Element, dict[str, str]] = {}
        self.generated: dict[tuple[Element, str], tuple[tuple[int, tuple[int, int, int]], str]] = {}
        self._rows: list[list[_Row]] = []
        self._numbers: dict[Element, int] = {}
        self._sources: list[tuple[int, int]] = [(0, 0)]  # each is another one, and a source at its end
        self._longer: dict[tuple[int, int], int] = {}
        self._merged: dict[int, dict[str, _Entry]] = {}
        self._parts: dict[int, list[tuple[str, str, bool]]] = {}
        self._plain: dict[int, dict[str, str] | None] = {}
        self._own: dict[Kind, dict[str, str]] = {}
        self._declaring: dict[int, bool] = {}
        self._scopes: dict[Element, int] = {}
        self._inner: dict[tuple[int, int], int] = {}
        self._custom: dict[str, dict[Element, str]] = {}

    def __len__(self) -> int:
        return len(self._numbers)

    def items(self) -> Iterator[tuple[Element, Kind, Mapping[str, str]]]:
        """Yield the elements with declarations, each with a key that those of the same longhands share, and these."""
        for element, number in self._numbers.items():
            shared = self._plain.get(number)
            if shared is None and (shared := self._shared(number)) is None:
                yield element, (number, self._scope(element)), self.get(element)
            else:
                yield element, number, shared

    def get(self, element: Element) -> Mapping[str, str]:
        """Return an element's longhands after its animations, with custom properties resolved."""
        number = self._numbers.get(element)
        if number is None:
            return NO_STYLE
        shared = self._plain.get(number)
        if shared is None:
            shared = self._shared(number)
        if shared is not None:
            return shared
        kind = number, self._scope(element)
        if kind in self._own:
            return self._own[kind]
        style: dict[str, str] = {}
        for name, value, computed in self._values(number):
            if computed:
                style.update(longhands(name, self._resolve(element, value)))
            else:
                style[name] = value
        style = self._own[kind] = self._after_animation(style)
        return style

    def _scope(self, element: Element) -> int:
        """Return the number of an element's custom properties: those of its parent, unless it declares some itself."""
        scopes = self._scopes
        above, path = unknown_path(element, scopes)
        scope = scopes[above] if above is not None else 0
        for inner in path:
            number = self._numbers.get(inner, 0)
            if number and self._declares(number):
                scope = self._inner.setdefault((scope, number), len(self._inner) + 1)
            scopes[inner] = scope
        return scope

    def _declares(self, number: int) -> bool:
        """Return whether a sequence has custom properties."""
        declares = self._declaring.get(number)
        if declares is None:
            declares = self._declaring[number] = any(name.startswith("--") for name in self._merge(number))
        return declares

    def _values(self, number: int) -> list[tuple[str, str, bool]]:
        """Return a sequence's longhands, their values, and whether a value is computed; without custom properties."""
        rows = self._parts.get(number)
        if rows is None:
            merged = _in_force(self._merge(number))
            rows = self._parts[number] = [
                (name, value, is_computed(value)) for name, value in merged if not name.startswith("--")
            ]
        return rows

    def declare(self, elements: Iterable[Element], declared: Iterable[Declaration], *, layer: int = UNLAYERED) -> None:
        """Apply declarations to elements, unless a stronger one applies."""
        if pairs := self.pairs(declared):
            self.apply(elements, pairs, layer=layer)

    def apply(
        self,
        elements: Iterable[Element],
        pairs: Sequence[_Pair],
        *,
        inline: bool = False,
        layer: int = UNLAYERED,
        specificity: tuple[int, int, int] = (0, 0, 0),
    ) -> None:
        """Apply longhands to elements; see `pairs` and `declare`."""
        source, numbers = len(self._rows), self._numbers
        normal, strong = (
            (important, inline, -layer if important else layer, specificity, source) for important in (False, True)
        )
        self._rows.append([(name, (strong if important else normal, value)) for name, value, important in pairs])
        before, after = -1, 0
        for element in elements:
            number = numbers.get(element, 0)
            if number != before:
                before, after = number, self._extended(number, source)
            numbers[element] = after
        self._forget()

    def pairs(self, declared: Iterable[Declaration]) -> list[_Pair]:
        """Return the longhands of declarations that are relevant; values that `var()` makes up keep their property."""
        pairs: list[_Pair] = []
        for name, value, important in declared:
            if name == "all":
                pairs = [pair for pair in pairs if pair[0].startswith("--") or pair[2] > important]
            if name.startswith("--") or ("(" in value and is_computed(value) and affects_visibility(name)):
                pairs.append((name, value, important))
            else:
                pairs += [(longhand, part, important) for longhand, part in longhands(name, value)]
        return pairs

    def apply_inline(self, elements: Iterable[Element], text: str) -> None:
        """Apply the declarations of a `style` attribute to the elements that have it."""
        if pairs := self.pairs(declarations(text)):
            self.apply(elements, pairs, inline=True)

    def isolate(self, element: Element) -> None:
        """Take away the declarations of an element, such as those of rules from outside of its shadow tree."""
        self._numbers.pop(element, None)

    def declaring(self, tells: Callable[[str, str], bool]) -> Iterator[Element]:
        """Yield the elements with a declaration of which `tells` is true, whether another one overrides it or not."""
        sources = {
            number for number, rows in enumerate(self._rows) if any(tells(name, entry[1]) for name, entry in rows)
        }
        if sources:
            telling = [False]
            for before, source in self._sources[1:]:  # what a sequence begins with comes before it
                telling.append(telling[before] or source in sources)
            yield from [element for element, number in self._numbers.items() if telling[number]]

    def note_state(self, selector: str, state: re.Match[str], declared: Iterable[Declaration]) -> None:
        """Record a rule that shows something in a state of an element, or hides it unless the element is in that state.

        Args:
            selector: Its selector.
            state: Where the state is in it, as `:name` or `:not(:name)`.
            declared: Its declarations.
        """
        after = selector[state.end() :]
        if not after and state[2] != "target":
            return
        pairs = [pair for name, value, _ in declared for pair in longhands(name, value) if pair[0] in _REVEALERS]
        names = {name.removeprefix("max-") for name, value in pairs if may_hide(name, value) is bool(state[1])}
        if names:
            self.states.append((selector[: state.start()], state[2], after, frozenset(names)))

    def _forget(self) -> None:
        """Forget what depends on declarations that may have changed."""
        self._custom.clear()
        self._own.clear()
        self._scopes.clear()
        self._inner.clear()

    def _extended(self, before: int, source: int) -> int:
        """Return the number of a sequence of sources with another one at its end."""
        number = self._longer.get((before, source))
        if number is None:
            number = self._longer[before, source] = len(self._sources)
            self._sources.append((before, source))
        return number

    def _merge(self, number: int) -> dict[str, _Entry]:
        merged = self._merged.get(number)
        if merged is None:
            merged = self._merged[number] = {}
            while number:  # from the last source to the first
                number, source = self._sources[number]
                for longhand, entry in reversed(self._rows[source]):
                    if longhand not in merged or merged[longhand][0] < entry[0]:
                        merged[longhand] = entry
        return merged

    def _shared(self, number: int) -> dict[str, str] | None:
        """Return the longhands of a sequence of sources; None if custom properties are involved."""
        if number not in self._plain:
            rows = self._values(number)
            is_shared = not any(computed for _, _, computed in rows)
            self._plain[number] = self._after_animation({name: value for name, value, _ in rows}) if is_shared else None
        return self._plain[number]

    def _after_animation(self, style: dict[str, str]) -> dict[str, str]:
        """Return a style after its animation has ended."""
        if "animation" not in style and "animation-name" not in style:
            return style
        words = set(" ".join(style.get(name, "") for name in _ANIMATION_PROPERTIES).replace(",", " ").split())
        if words.isdisjoint({"forwards", "both", "infinite"}):
            return style
        frames = {name.lower(): name for name in self.keyframes if not name.endswith(OTHERS)}
        name = next((frames[word] for word in frames if word in words), None)
        if name is None or any(word.endswith("reverse") for word in words):
            if not self.incomplete or not any(part in style and may_hide(part, style[part]) for part in _FADES):
                return style
            return {part: value for part, value in style.items() if part not in _FADES} | {ANIMATED: "unknown"}
        ended = dict(pair for declared in self.keyframes[name].items() for pair in longhands(*declared))
        if "infinite" in words:  # what is shown from time to time is seen
            others = (pair for declared in self.keyframes[name + OTHERS].items() for pair in longhands(*declared))
            ended |= {key: value for key, value in others if key in ended and not may_hide(key, value)}
        return style | ended

    def _resolve(self, element: Element, value: str) -> str:
        text = value
        for _ in range(8):
            if not is_computed(value) or len(value) > _MAX_VALUE:
                break
            value = _VAR.sub(lambda match: self._property(element, match[1]) or (match[2] or "").strip(), value)
            value = _ENV.sub(lambda match: "0px" if "safe-area" in match[1] else (match[2] or "").strip(), value)
        else:
            value = _VAR.sub(lambda match: (match[2] or "").strip(), text)  # of a cycle, the fallback is what counts
        return "" if is_computed(value) else value.lower()

    def _property(self, element: Element, name: str) -> str:
        """Resolve a custom property of an element; linear, since no path is visited twice."""
        values = self._custom.setdefault(name, {})
        path: list[Element] = []
        node: object = element
        value = self.initial.get(name, "")
        while isinstance(node, Element):
            if (inherited := values.get(node)) is not None:
                value = inherited
                break
            path.append(node)
            if (number := self._numbers.get(node)) and (entry := self._merge(number).get(name)) is not None:
                value = entry[1]
                if value == "initial":
                    value = self.initial.get(name, "")
                    break
                if value not in _UNSET_WORDS:
                    break
                value = self.initial.get(name, "")
            node = node.parent
        values.update(dict.fromkeys(path, value))
        return value


def is_computed(value: str) -> bool:
    """Return whether a value depends on an element's custom properties or attributes."""
    return "(" in value and any(call in value for call in _COMPUTED_CALLS)


def _in_force(merged: Mapping[str, _Entry]) -> Iterator[tuple[str, str]]:
    """Yield longhands and values without those overridden by a stronger `all`."""
    reset = merged.get("all")
    for name, (priority, value) in merged.items():
        if reset is None or priority >= reset[0]:
            yield name, value


def declare_attributes(element: Element, styles: Styles) -> None:
    """Declare the colors of an element's attributes: `bgcolor`, `<font color>` and the like."""
    if element.tag == "body" and (shade := legacy_color(element.attr("link") or "")) is not None:
        links = element.select("a[href]:not([style*=color])")
        styles.declare(links, (Declaration("color", _in_hex(shade), important=False),), layer=-1)
    pairs = {"color": "color"} if element.tag == "font" else {"bgcolor": "background-color"}
    if element.tag == "body":
        pairs["text"] = "color"
    for attribute, name in pairs.items():
        if (shade := legacy_color(element.attr(attribute) or "")) is not None:
            styles.declare((element,), (Declaration(name, _in_hex(shade), important=False),), layer=-1)
    if element.attr("background"):
        styles.declare((element,), (Declaration("background-image", "image", important=False),), layer=-1)


def _in_hex(shade: Color) -> str:
    """Return a color in the form that style sheets have."""
    return "#" + "".join(f"{round((part or 0.0) * 255):02x}" for part in shade[:3])


def unknown_path(element: Element, known: Container[Element]) -> tuple[Element | None, list[Element]]:
    """Return the nearest known element, an element itself or above it, and the path from there down to the element.

    A caller that adds the path to what is known visits no element twice.
    """
    path: list[Element] = []
    node: object = element
    while isinstance(node, Element) and node not in known:
        path.append(node)
        node = node.parent
    return node if isinstance(node, Element) else None, path[::-1]
