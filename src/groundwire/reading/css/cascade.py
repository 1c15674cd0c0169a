"""The CSS cascade: which declarations apply to which element, as far as they affect visibility.

Sources: CSS Cascading 5 (https://www.w3.org/TR/css-cascade-5/), CSS Variables 1, and section 15 (Rendering) of the HTML
Standard for attributes such as `bgcolor` and `<font color>`.
"""

from __future__ import annotations

import re
from collections.abc import Iterable, Iterator, Mapping
from types import MappingProxyType
from typing import Final

from turbohtml import Element

from groundwire.reading.css.longhands import is_told, longhands
from groundwire.reading.css.parser import UNLAYERED, Declaration

__all__ = ["Styles"]

_NOTHING: Final[Mapping[str, str]] = MappingProxyType({})
_MAX_VALUE: Final = 500  # characters, after `var()`
_VAR: Final = re.compile(r"var\(\s*(--[\w-]+)\s*(?:,((?:[^()]|\([^()]*\))*))?\)")
_UNSET: Final = frozenset({"initial", "unset", "revert", "revert-layer", "inherit"})

_Priority = tuple[bool, bool, int, tuple[int, int, int], int]
_Entry = tuple[_Priority, str]
_Row = tuple[str, _Entry]
_Sources = tuple[int, ...]
"""The indexes of the declarations that apply to an element, in order. Each sequence that occurs has a number, and an
element has that number: most elements of a page share a few."""


class Styles:
    """The longhands of the elements that have any.

    Attributes:
        keyframes: The properties of the last frame of each animation.
        incomplete: Whether there are external styles that were not loaded.
        classes: The classes with rules in the available sheets.
        named: The classes of the page's elements.
        added: The longhands of an element's generated box (`::before`), if it has a background.
    """

    def __init__(
        self, *, keyframes: Mapping[str, Mapping[str, str]], incomplete: bool, named: frozenset[str] = frozenset()
    ) -> None:
        self.keyframes = keyframes
        self.incomplete = incomplete
        self.classes: set[str] = set()
        self.named = named
        self.added: dict[Element, dict[str, str]] = {}
        self._rows: list[list[_Row]] = []
        self._numbers: dict[Element, int] = {}
        self._sources: list[_Sources] = [()]
        self._longer: dict[tuple[int, int], int] = {}
        self._merged: dict[int, dict[str, _Entry]] = {}
        self._plain: dict[int, dict[str, str] | None] = {}
        self._custom: dict[str, dict[Element, str]] = {}

    def __iter__(self) -> Iterator[Element]:
        return iter(self._numbers)

    def __len__(self) -> int:
        return len(self._numbers)

    def kind(self, element: Element) -> int | None:
        """Return a key shared by all elements with the same longhands; None if they depend on the position."""
        number = self._numbers[element]
        return None if self._shared(number) is None else number

    def get(self, element: Element) -> Mapping[str, str]:
        """Return an element's longhands, with custom properties resolved."""
        number = self._numbers.get(element)
        if number is None:
            return _NOTHING
        shared = self._shared(number)
        if shared is not None:
            return shared
        style: dict[str, str] = {}
        for name, value in _in_force(self._merge(number)):
            if "var(" not in value:
                style[name] = value
            elif not name.startswith("--"):
                style.update(longhands(name, self._resolve(element, value)))
        return style

    def declare(
        self,
        elements: Iterable[Element],
        declared: Iterable[Declaration],
        *,
        layer: int = UNLAYERED,
        specificity: tuple[int, int, int] = (0, 0, 0),
    ) -> None:
        """Apply declarations to elements, unless a stronger one applies."""
        source = self.source(declared, layer=layer, specificity=specificity)
        if source is None:
            return
        numbers = self._numbers
        before, after = -1, 0
        for element in elements:
            number = numbers.get(element, 0)
            if number != before:
                before, after = number, self._with(number, source)
            numbers[element] = after
        self._custom.clear()

    def source(
        self,
        declared: Iterable[Declaration],
        *,
        inline: bool = False,
        layer: int = UNLAYERED,
        specificity: tuple[int, int, int] = (0, 0, 0),
    ) -> int | None:
        """Register declarations for `give`; None if none of them is relevant."""
        rows: list[_Row] = []
        number = len(self._rows)
        for name, value, important in declared:
            if name == "all":
                rows = [row for row in rows if row[0].startswith("--") or row[1][0][0] > important]
            later = name.startswith("--") or ("var(" in value and is_told(name))
            pairs = ((name, value),) if later else longhands(name, value)
            priority = (important, inline, -layer if important else layer, specificity, number)
            rows += [(longhand, (priority, part)) for longhand, part in pairs]
        if not rows:
            return None
        self._rows.append(rows)
        return number

    def give(self, element: Element, source: int | None) -> None:
        """Apply registered declarations to an element, unless a stronger one applies."""
        if source is not None:
            self._numbers[element] = self._with(self._numbers.get(element, 0), source)
            self._custom.clear()

    def _with(self, before: int, source: int) -> int:
        """Return the number of a sequence of sources with another one at its end."""
        number = self._longer.get((before, source))
        if number is None:
            number = self._longer[before, source] = len(self._sources)
            self._sources.append((*self._sources[before], source))
        return number

    def _merge(self, number: int) -> dict[str, _Entry]:
        merged = self._merged.get(number)
        if merged is None:
            merged = self._merged[number] = {}
            for source in self._sources[number]:
                for longhand, entry in self._rows[source]:
                    if longhand not in merged or merged[longhand][0] <= entry[0]:
                        merged[longhand] = entry
        return merged

    def _shared(self, number: int) -> dict[str, str] | None:
        """Return the longhands of a sequence of sources; None if custom properties are involved."""
        if number not in self._plain:
            style = dict(_in_force(self._merge(number)))
            found = any("var(" in value and not name.startswith("--") for name, value in style.items())
            plain = {name: value for name, value in style.items() if "var(" not in value}
            self._plain[number] = None if found else plain
        return self._plain[number]

    def _resolve(self, element: Element, value: str) -> str:
        for _ in range(8):
            if "var(" not in value or len(value) > _MAX_VALUE:
                break
            value = _VAR.sub(lambda match: self._property(element, match[1]) or (match[2] or "").strip(), value)
        return "" if "var(" in value else value.lower()

    def _property(self, element: Element, name: str) -> str:
        """Resolve a custom property of an element; linear, since no path is visited twice."""
        known = self._custom.setdefault(name, {})
        path: list[Element] = []
        node: object = element
        value = ""
        while isinstance(node, Element):
            if (said := known.get(node)) is not None:
                value = said
                break
            path.append(node)
            if (number := self._numbers.get(node)) and (entry := self._merge(number).get(name)) is not None:
                value = entry[1]
                if value == "initial":
                    value = ""
                    break
                if value not in _UNSET:
                    break
                value = ""
            node = node.parent
        known.update(dict.fromkeys(path, value))
        return value


def _in_force(merged: Mapping[str, _Entry]) -> Iterator[tuple[str, str]]:
    """Yield longhands and values without those overridden by a stronger `all`."""
    reset = merged.get("all")
    for name, (priority, value) in merged.items():
        if reset is None or priority >= reset[0]:
            yield name, value
