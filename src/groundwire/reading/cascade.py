"""Which element gets which of the longhands that decide what is seen: the CSS cascade, as far as that needs it.

Sources: CSS Cascading 5 (https://www.w3.org/TR/css-cascade-5/), CSS Variables 1, and section 15 (Rendering) of the HTML
Standard for attributes such as `bgcolor` and `<font color>`.
"""

from __future__ import annotations

import re
from collections.abc import Iterable, Iterator, Mapping
from typing import Final

from turbohtml import Document, Element, SelectorSyntaxError
from turbohtml.convert import css_specificity

from groundwire.reading.conditions import on_screen
from groundwire.reading.css import UNLAYERED, Declaration, Rule, Sheet, declarations, read_sheet
from groundwire.reading.inlined import sheet_of, with_imports
from groundwire.reading.longhands import is_told, longhands

__all__ = ["Styles", "class_names", "read_styles"]

_MAX_SHEETS: Final = 1_000_000  # characters of all sheets of a page together
_MAX_WORK: Final = 5_000_000  # rules times elements; a selector visits every element
_MANY: Final = 150  # rules; from here on an index of the classes pays
_CONTAINS: Final = re.compile(r"[;{\s]container(?:-type)?\s*:", re.IGNORECASE)
_MAX_VALUE: Final = 500  # characters, after `var()`
_HIDES: Final = re.compile(
    r"none|hidden|collapse|opacity|clip|transparent|font|-size|indent|spacing|-\d{3}|-\d+em|scale|rotate|matrix|height"
    r"|width|colou?r|background|filter|mask|z-index|security|translate|animation|display|visib|left|right|top|bottom|inset|contain|\\|var\(|fill|zoom|text-s|skew",
    re.IGNORECASE,
)
"""What stands in every style that could hide something."""

_STATES: Final = re.compile(
    r":(?:hover|active|focus|focus-within|focus-visible|visited|target|autofill|fullscreen|popover-open|modal)(?![\w-])"
)
_NOT_STATE: Final = re.compile(rf":not\(\s*(?:{_STATES.pattern}\s*,?\s*)+\)")
_ADDED: Final = re.compile(r"::?(?:before|after)\Z")
_OF_OTHERS: Final = re.compile(r":-(?:ms|moz|o|khtml)-")
"""What makes a whole list of selectors invalid, as it is for the browsers of one maker alone."""
_ALWAYS: Final = ":not(.\u2205)"
"""What is true of every element, and as specific as what it stands for."""
_NAMED: Final = re.compile(r"([.#])((?:[\w-]|[^\x00-\x7f])+)(?![\\])")
_KEY: Final = re.compile(r"(?:^|[\s>+~\w-])([.#][\w-]+)\Z")
"""The class or id at the end of a selector: only elements that have it can match."""

_VAR: Final = re.compile(r"var\(\s*(--[\w-]+)\s*(?:,((?:[^()]|\([^()]*\))*))?\)")
_UNSET: Final = frozenset({"initial", "unset", "revert", "revert-layer", "inherit"})

_Priority = tuple[bool, bool, int, tuple[int, int, int], int]
_Entry = tuple[_Priority, str]
_Row = tuple[str, _Entry]
_Sources = tuple[int, ...]
"""The numbers of the declarations that an element gets, in their order."""


class Styles:
    """The longhands of the elements that have any; the others have none.

    Attributes:
        keyframes: For each animation the properties of its last frame.
        incomplete: Whether more styles exist than were read, in files of their own.
        classes: The classes that the sheets at hand have rules for.
        named: The classes that elements of the page have.
        added: The longhands of the box that a sheet adds to an element (`::before`), if it has a background.
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
        self._sources: dict[Element, list[int]] = {}
        self._merged: dict[_Sources, dict[str, _Entry]] = {}
        self._plain: dict[_Sources, dict[str, str] | None] = {}
        self._custom: dict[str, dict[Element, str]] = {}

    def __iter__(self) -> Iterator[Element]:
        return iter(self._sources)

    def __len__(self) -> int:
        return len(self._sources)

    def kind(self, element: Element) -> tuple[int, ...] | None:
        """Return what is the same for all elements with the same longhands; None when they depend on its place."""
        sources = tuple(self._sources[element])
        return None if self._shared(sources) is None else sources

    def get(self, element: Element) -> Mapping[str, str]:
        """Return an element's longhands, custom properties resolved."""
        sources = tuple(self._sources.get(element, ()))
        shared = self._shared(sources)
        if shared is not None:
            return shared
        style: dict[str, str] = {}
        for name, value in _in_force(self._merge(sources)):
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
        inline: bool = False,
        layer: int = UNLAYERED,
        specificity: tuple[int, int, int] = (0, 0, 0),
    ) -> None:
        """Let elements have what is declared, unless something stronger has been."""
        number = self.source(declared, inline=inline, layer=layer, specificity=specificity)
        for element in elements:
            self.give(element, number)

    def source(
        self,
        declared: Iterable[Declaration],
        *,
        inline: bool = False,
        layer: int = UNLAYERED,
        specificity: tuple[int, int, int] = (0, 0, 0),
    ) -> int | None:
        """Note what is declared, for `give`; None when it says nothing that is looked at."""
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
        """Let an element have what `source` has noted, unless something stronger has been."""
        if source is not None:
            self._sources.setdefault(element, []).append(source)
            self._custom.clear()

    def _merge(self, sources: _Sources) -> dict[str, _Entry]:
        merged = self._merged.get(sources)
        if merged is None:
            merged = self._merged[sources] = {}
            for number in sources:
                for longhand, entry in self._rows[number]:
                    if longhand not in merged or merged[longhand][0] <= entry[0]:
                        merged[longhand] = entry
        return merged

    def _shared(self, sources: _Sources) -> dict[str, str] | None:
        """Return the longhands that some sources make; None when custom properties take part."""
        if sources not in self._plain:
            style = dict(_in_force(self._merge(sources)))
            found = any("var(" in value and not name.startswith("--") for name, value in style.items())
            plain = {name: value for name, value in style.items() if "var(" not in value}
            self._plain[sources] = None if found else plain
        return self._plain[sources]

    def _resolve(self, element: Element, value: str) -> str:
        for _ in range(8):
            if "var(" not in value or len(value) > _MAX_VALUE:
                break
            value = _VAR.sub(lambda match: self._property(element, match[1]) or (match[2] or "").strip(), value)
        return "" if "var(" in value else value.lower()

    def _property(self, element: Element, name: str) -> str:
        """Return a custom property as an element has it; linear, since no path is walked twice."""
        known = self._custom.setdefault(name, {})
        path: list[Element] = []
        node: object = element
        value = ""
        while isinstance(node, Element):
            if (said := known.get(node)) is not None:
                value = said
                break
            path.append(node)
            if (sources := self._sources.get(node)) and (entry := self._merge(tuple(sources)).get(name)) is not None:
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
    """Yield longhands and values without those that a stronger `all` undoes."""
    reset = merged.get("all")
    for name, (priority, value) in merged.items():
        if reset is None or priority >= reset[0]:
            yield name, value


def read_styles(document: Document) -> Styles:
    """Return what a page's own style sheets and `style` attributes say; its `style` elements must still be in it."""
    elements = document.select('style, link[rel~="stylesheet" i]')
    texts = [element.text if element.tag == "style" else sheet_of(element.attr("href") or "") for element in elements]
    sheet, incomplete = Sheet(), None in texts
    if any("@container" in text for text in texts if text):
        sheet.contained = any(_CONTAINS.search(text) for text in texts if text)
        sheet.contained = sheet.contained or document.select_one('[style*="container" i]') is not None
    room = _MAX_SHEETS
    for element, text in zip(elements, texts, strict=True):
        if text is None:
            continue
        if "@import" in text:
            text, missing = with_imports(text)
            incomplete = incomplete or missing
        if not text.strip() or len(text) > room:
            incomplete = True
        elif (
            _HIDES.search(text)
            and (element.attr("type") or "text/css").lower() == "text/css"
            and element.closest("noscript, template") is None
            and on_screen(element.attr("media") or "")
        ):
            room -= len(text)
            read_sheet(text, sheet)
    styles = Styles(keyframes=sheet.keyframes, incomplete=incomplete, named=class_names(document))
    if sheet.rules:
        _apply(document, sheet.rules, styles)
    sources: dict[str, int | None] = {}
    for element in document.select("[style]"):
        text = element.attr("style") or ""
        if text not in sources:
            telling = _HIDES.search(text) is not None or "--" in text
            sources[text] = styles.source(declarations(text), inline=True) if telling else None
        styles.give(element, sources[text])
    return styles


def class_names(document: Document) -> frozenset[str]:
    """Return the names of all classes that a page's elements have."""
    return frozenset(" ".join(set(map(str, document.xpath_iter("//*/@class", smart_strings=False)))).split())


def _apply(document: Document, rules: list[Rule], styles: Styles) -> None:
    names = {"." + name for name in styles.named}
    names.update(f"#{value}" for value in document.xpath_iter("//*/@id"))
    size = sum(1 for _ in document.iter_elements())
    room = _MAX_WORK // max(size, 1)
    index = _by_name(document) if len(rules) > _MANY else {}
    for rule in rules:
        selector = rule.selector
        asked = _NAMED.findall(selector)
        styles.classes.update([name for mark, name in asked if mark == "."])
        plain = not any(sign in selector for sign in "(,\\[")
        if plain and not all(mark + name in names for mark, name in asked):
            continue
        if not any(map(_matters, rule.declarations)):
            continue
        if _OF_OTHERS.search(selector) and ":is(" not in selector and ":where(" not in selector:
            continue
        arms = _arms(selector)
        for arm in arms if all(arms) else ():
            arm = _NOT_STATE.sub(_ALWAYS, arm).replace(":-webkit-any(", ":is(").replace(":defined", _ALWAYS)
            if _ADDED.search(arm):
                _note_added(document, arm, rule, styles)
                continue
            if "::" in arm or _STATES.search(arm) or not _occurs(arm, names):
                continue
            key = _KEY.search(arm) if index else None
            if key is None:
                room -= 1
                if room < 0:
                    styles.incomplete = True
                    continue
            try:
                if key is None:
                    elements = document.select(arm)
                else:
                    elements = [e for e in index.get(key[1], ()) if key[1] == arm or e.matches(arm)]
                specificity = css_specificity(arm)[0]
            except (SelectorSyntaxError, ValueError, RecursionError):
                continue
            if elements:
                styles.declare(elements, rule.declarations, layer=rule.layer, specificity=specificity)


def _note_added(document: Document, arm: str, rule: Rule, styles: Styles) -> None:
    """Note the box that a rule adds to elements, where it has a background: pages lay shades under a text this way."""
    if not any(declared.name.startswith(("background", "position")) for declared in rule.declarations):
        return
    try:
        elements = document.select(_ADDED.sub("", arm) or "*")
    except (SelectorSyntaxError, ValueError, RecursionError):
        return
    style = dict(pair for name, value, _ in rule.declarations for pair in longhands(name, value))
    for element in elements:
        styles.added.setdefault(element, {}).update(style)


def _by_name(document: Document) -> dict[str, list[Element]]:
    """Return the elements of each class and id, written as selectors."""
    index: dict[str, list[Element]] = {}
    for element in document.select("[class], [id]"):
        value = element.attrs.get("class")
        for name in value if isinstance(value, list) else (value or "").split():
            index.setdefault(f".{name}", []).append(element)
        index.setdefault(f"#{element.attr('id')}", []).append(element)
    return index


def _matters(declared: Declaration) -> bool:
    name, value, _ = declared
    return name.startswith("--") or ("var(" in value and is_told(name)) or bool(longhands(name, value))


def _occurs(selector: str, names: set[str]) -> bool:
    """Tell whether every class and id that a plain selector asks for is on the page."""
    if "(" in selector or "\\" in selector or "[" in selector:
        return True
    return all(mark + name in names for mark, name in _NAMED.findall(selector))


def _arms(selector: str) -> list[str]:
    if "," not in selector:
        return [selector.strip()]
    if "(" not in selector and "[" not in selector:
        return [arm.strip() for arm in selector.split(",")]
    arms, depth, start = [], 0, 0
    for index, char in enumerate(selector):
        if char in "([":
            depth += 1
        elif char in ")]":
            depth -= 1
        elif char == "," and depth == 0:
            arms.append(selector[start:index].strip())
            start = index + 1
    return [*arms, selector[start:].strip()]
