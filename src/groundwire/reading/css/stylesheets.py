"""Application of a page's own style sheets, including those in `data:` URLs (RFC 2397), to its elements.

Source: Selectors 4 (https://www.w3.org/TR/selectors-4/). States such as `:hover` never match.
"""

from __future__ import annotations

import re
from collections.abc import Mapping
from typing import Final

from turbohtml import Document, DocumentFragment, Element, SelectorSyntaxError
from turbohtml.convert import css_specificity
from turbohtml.query import Matcher

from groundwire.reading.css.at_rules import on_screen
from groundwire.reading.css.cascade import Styles, is_computed
from groundwire.reading.css.longhands import is_told, longhands
from groundwire.reading.css.parser import Declaration, Sheet, StyleRule, declarations, read_sheet
from groundwire.reading.css.values import comma_parts, nested_levels, sheet_of

__all__ = ["SHADOW_STEPS", "read_shadow", "read_styles", "with_imports"]

_IMPORT: Final = re.compile(
    r"@import\s+(?:url\(\s*([^\"')\s]+)\s*\)|(?:url\(\s*)?(?:\"([^\"\n]*)\"|'([^'\n]*)')\s*\)?)([^;{}]{0,200})(?:;|\Z)",
    re.IGNORECASE,
)


def with_imports(text: str) -> tuple[str, bool]:
    """Inline the imports of a style sheet that it embeds itself, and return whether others are missing."""
    missing = False

    def put_in(match: re.Match[str]) -> str:
        nonlocal missing
        imported = sheet_of(match[1] or match[2] or match[3] or "")
        if imported is None:
            missing = True
            return ""
        condition = match[4].strip()
        return f"@media {condition} {{{imported}}}" if condition else f"{imported}\n"

    return _IMPORT.sub(put_in, text), missing


_MAX_SHEETS: Final = 1_000_000  # characters of all sheets of a page in total
_MAX_WORK: Final = 5_000_000  # steps: elements visited by selectors, and characters of attributes searched
SHADOW_STEPS: Final = 1_000_000  # elements of shadow trees visited by selectors
_STEP: Final = 64  # characters of attributes; searching them takes as long as visiting an element
_DEEP: Final = 64  # nested elements that may have an attribute
_MATCHES: Final = 8  # elements visited in the time of one individual match
_MANY: Final = 4  # selectors from which an index of the classes pays off
_FEW: Final = 12  # elements; matching each of them is faster than searching the page
_STATES: Final = re.compile(
    r":(?:hover|active|focus|focus-within|focus-visible|visited|target|autofill|fullscreen|popover-open|modal)(?![\w-])"
)
_STATE: Final = re.compile(r"(:not\()?:(checked|hover|active|focus|focus-within|focus-visible|target)(?![\w-])(?(1)\))")
_NOT_STATE: Final = re.compile(rf":not\(\s*(?:{_STATES.pattern}\s*,?\s*)+\)")
_ADDED: Final = re.compile(r"::?(?:before|after)\Z")
_TEXT: Final = re.compile(r"none|normal|attr\(|[\"']\s*[^\s\"'\ufffd]")
"""A value of `content` that is a text, or sets none."""
_ICON: Final = re.compile("[\ue000-\uf8ff\U000f0000-\U0010ffff]|url\\(|counter")
_OF_OTHERS: Final = re.compile(r":-(?:ms|moz|o|khtml)-")
"""What makes a whole selector list invalid, as it does in browsers of other vendors."""
_ALWAYS: Final = ":not(.\u2205)"
"""A selector that matches every element, with the specificity of the replaced one."""
_PSEUDOS: Final[Mapping[str, str]] = {
    ":-webkit-any": ":is", ":-webkit-any-link": ":any-link", ":defined": _ALWAYS, ":open": "[open]",
    ":placeholder-shown": "[placeholder]:not([value])", ":valid": ":is(input, select, textarea):not([required])",
    ":invalid": ":is(input, select, textarea)[required]:not([value])",
    ":indeterminate": ":is([type=radio i]:not([checked]), progress:not([value]))", ":in-range": "[min][value]",
}  # fmt: skip
_HOST: Final = re.compile(r":host(?:\(([^()]*)\))?(?=[\s>]|\Z)")
_ASTRAL: Final = re.compile("[\U00010000-\U0010ffff]")
_PSEUDO: Final = re.compile(rf"(?:{'|'.join(sorted(_PSEUDOS, key=len, reverse=True))})(?![\w-])")
_NAMED: Final = re.compile(r"[.#][\w\x80-\U0010ffff-]+(?!\\)")
_ESCAPED: Final = re.compile(r"[.#](?:[\w\x80-\U0010ffff-]|\\.)+")
_SPECIAL: Final = re.compile(r"[(\[\\,]")
_HEX: Final = re.compile(r"\\[0-9a-fA-F\s]")
"""A numeric escape, which is not compared with names."""
_ATTRIBUTE: Final = re.compile(r"\[(?:[^\[\]\"']|\"[^\"]*+\"|'[^']*+')*+\]")
_ATTRIBUTE_NAME: Final = re.compile(r"\[\s*([\w-]+)")
_BRACKETS: Final = re.compile(r"\([^()]*+\)")
_NESTED: Final = 20  # brackets within brackets
_COMBINED: Final = re.compile(r"[\s>+~]")
_KEY: Final = re.compile(r"(?:^|[\s>+~\w-])([.#][\w-]+)(?::[\w-]+(?:\([^()\"']*\))?)*\Z")
"""The class or id at the end of a selector: only elements with it can match."""


def read_styles(document: Document) -> Styles:
    """Apply a page's own style sheets and `style` attributes; its `style` elements must still be in it."""
    elements = _sheets(document)
    texts = [element.text if element.tag == "style" else sheet_of(element.attr("href") or "") for element in elements]
    rows = [(element, element.attr("class") or "", element.attr("id")) for element in document.select("[class], [id]")]
    named = frozenset(" ".join({classes for _, classes, _ in rows}).split())
    names = _Names(named, {own for _, _, own in rows if own})
    sheet, incomplete = Sheet(), None in texts
    styled = document.select("[style]")
    inline = [element.attr("style") or "" for element in styled]
    room = _MAX_SHEETS
    for element, text in zip(elements, texts, strict=True):
        if text is None:
            continue
        if "@import" in text:
            text, missing = with_imports(text)
            incomplete = incomplete or missing
        if not text.strip():
            incomplete = incomplete or document.find("script") is not None  # which may fill it
        elif len(text) > room:
            incomplete = True
        elif (
            (element.attr("type") or "text/css").lower() == "text/css"
            and element.closest("noscript, template") is None
            and on_screen(element.attr("media") or "")
        ):
            room -= len(text)
            read_sheet(text, sheet, names.may_match)
    styles = Styles(keyframes=sheet.keyframes, incomplete=incomplete, named=named)
    styles.initial, styles.stripped = sheet.initial, bool(named) and not any(texts)
    styles.classes = {name[1:] for name in names.asked if name[0] == "."}
    if sheet.rules:
        _apply(_Finder(document, rows), sheet.rules, styles, names)
    sources = {text: styles.source(declarations(text), inline=True) for text in dict.fromkeys(inline)}
    for element, text in zip(styled, inline, strict=True):
        styles.give(element, sources[text])
    return styles


def read_shadow(styles: Styles, host: Element, shadow: DocumentFragment, room: int) -> int:
    """Apply the style sheets of a shadow tree to it and its host, before it is moved.

    Args:
        styles: The styles of the page.
        host: The element that has the tree.
        shadow: The tree.
        room: How many steps may be taken.

    Returns:
        How many are left.
    """
    sheet = Sheet()
    for element in [node for node in shadow.descendants if isinstance(node, Element) and node in styles]:
        styles.isolate(element)
        styles.give(element, styles.source(declarations(element.attr("style") or ""), inline=True))
    for element in shadow.select('style, link[rel~="stylesheet" i]'):
        text = element.text if element.tag == "style" else sheet_of(element.attr("href") or "")
        styles.incomplete = styles.incomplete or text is None
        read_sheet(text or "", sheet)
    size = sum(1 for _ in shadow.descendants) if sheet.rules else 0
    for rule in sheet.rules:
        for arm in filter(None, comma_parts(rule.selector)):
            room -= size * _FEW ** (2 * nested_levels(arm))
            if room < 0:
                styles.incomplete = True
                return room
            own = _HOST.match(arm)
            try:
                if own is not None:
                    inside = arm[own.end() :].lstrip("> ")
                    elements = (
                        [] if own[1] and not host.matches(own[1]) else shadow.select(inside) if inside else [host]
                    )
                else:
                    elements = [] if ":" in arm and _STATES.search(arm) else shadow.select(arm)
            except (SelectorSyntaxError, ValueError, RecursionError):
                continue
            styles.declare(elements, rule.declarations, layer=rule.layer)
    return room


def _sheets(document: Document) -> list[Element]:
    """Return the elements that hold or link a style sheet, in document order if a link embeds one."""
    links = [link for link in document.find_all("link") if "stylesheet" in (link.attr("rel") or "").lower().split()]
    if any((link.attr("href") or "").lstrip()[:5].lower() == "data:" for link in links):
        return document.select('style, link[rel~="stylesheet" i]')
    return [*document.find_all("style"), *links]


class _Names:
    """The classes and ids of a page, and those in its style sheets."""

    def __init__(self, classes: frozenset[str], ids: set[str]) -> None:
        self.asked: set[str] = set()
        """The classes and ids in selectors, written as selectors."""
        self._verdicts: dict[str, bool] = {}
        self._known = {"." + name for name in classes} | {"#" + name for name in ids}

    def may_match(self, selector: str) -> bool:
        """Return whether a selector list may match an element: none of its classes and ids is missing from the page."""
        verdict = self._verdicts.get(selector)
        if verdict is None:
            verdict = self._verdicts[selector] = self._judge(selector)
        return verdict

    def _judge(self, selector: str) -> bool:
        names = _NAMED.findall(selector)
        self.asked.update(names)
        known = self._known.issuperset
        if _SPECIAL.search(selector) is None:
            return known(names)
        if "\\" in selector:
            if "(" in selector or "[" in selector or _HEX.search(selector) is not None:
                return True
            arms = selector.split(",")
            return any(known([name.replace("\\", "") for name in _ESCAPED.findall(arm)]) for arm in arms)
        if "[" in selector:
            selector = _ATTRIBUTE.sub("", selector)
        for _ in range(_NESTED):
            if "(" not in selector or (shorter := _BRACKETS.sub("", selector)) == selector:
                break
            selector = shorter
        else:
            return True  # no page needs so many; each takes a look at the whole selector
        return any(known(_NAMED.findall(arm)) for arm in selector.split(","))


class _Finder:
    """Finds the elements matched by selectors, within a limited number of steps.

    Args:
        document: The page.
        rows: Its elements with a class or an id, with both.
    """

    def __init__(self, document: Document, rows: list[tuple[Element, str, str | None]]) -> None:
        self.document = document
        self._rows = rows
        self._size = sum(1 for _ in document.iter_elements())
        self._room = _MAX_WORK
        self._found: dict[str, list[Element]] = {}
        self._lengths: dict[str, int] = {}
        self._index: dict[str, list[Element]] | None = None

    def find(self, selector: str) -> list[Element]:
        """Return the elements that a selector without commas matches.

        Raises:
            _OutOfSteps: it would exceed the page's limit of steps.
            SelectorSyntaxError, ValueError, RecursionError: the selector is not valid.
        """
        if "[" in selector:
            before, _, own = selector.replace(">", " ").rpartition(" ")
            looked_through = self._size * sum(map(self._length, _ATTRIBUTE_NAME.findall(before)))
            self._take((looked_through + _DEEP * sum(map(self._length, _ATTRIBUTE_NAME.findall(own)))) // _STEP)
        key = _KEY.search(selector)
        above = ":has(" in selector and _COMBINED.search(selector.rpartition(")")[2]) is not None
        if ":has(" in selector:  # it searches all descendants of an element, of one around others for each of these
            among = len(self._having(key[1])) if key is not None and above else self._size
            self._take(self._size * among // (_STEP if above else _STEP * _MATCHES))
        if "(" in selector and (levels := nested_levels(selector)):
            elements = self._having(key[1]) if key is not None else list(self.document.iter_elements())
            self._take_levels(levels + above, selector, elements)
        if key is not None:
            elements = self._having(key[1])
            if key[1] == selector or not elements:
                self._take(len(elements))  # each is given the rule
                return elements
            self._take(_MATCHES * len(elements))
            return Matcher(selector).filter(elements)
        if not any(sign in selector for sign in "+~([\\") and (names := _NAMED.findall(selector)):
            around = min(map(self._having, names), key=len)
            if len(around) <= _FEW:
                self._take(_MATCHES * len(around))
                inside = [element for outer in around for element in outer.select(selector)]
                self._take(len(inside))
                return inside if len(around) < 2 else list(dict.fromkeys(inside))
        return self._all(selector)

    def _take_levels(self, levels: int, selector: str, elements: list[Element]) -> None:
        """Take the steps of selectors within selectors: on each level, all elements around one may be visited."""
        sample = elements[:: len(elements) // _FEW + 1]
        around = sum(len(list(element.ancestors)) for element in sample)
        if "~" in selector or " of " in selector:
            around += sum(len(list(element.previous_siblings)) for element in sample)
        self._take(around + int(len(elements) * (around / max(len(sample), 1)) ** levels))

    def _length(self, attribute: str) -> int:
        """Return how many attribute characters may be searched for an element and its ancestors."""
        if attribute not in self._lengths:
            values = [len(element.attr(attribute) or "") for element in self._all(f"[{attribute}]")]
            self._lengths[attribute] = min(sum(values), _DEEP * max(values, default=0))
        return self._lengths[attribute]

    def _having(self, name: str) -> list[Element]:
        """Return the elements with a class or an id, written as a selector."""
        if self._index is None and len(self._found) < _MANY:
            return self._all(name)
        if self._index is None:
            index = self._index = {}
            places: dict[str, list[list[Element]]] = {}  # many elements have the same classes
            for element, names, own in self._rows:
                if names:
                    if (found := places.get(names)) is None:
                        parts = dict.fromkeys(names.split())
                        found = places[names] = [index.setdefault("." + part, []) for part in parts]
                    for place in found:
                        place.append(element)
                if own:
                    index.setdefault("#" + own, []).append(element)
        return self._index.get(name, [])

    def _all(self, selector: str) -> list[Element]:
        found = self._found.get(selector)
        self._take(self._size if found is None else len(found))
        if found is None:
            found = self._found[selector] = self.document.select(selector)
        return found

    def _take(self, steps: int) -> None:
        self._room -= steps
        if self._room < 0:
            raise _OutOfSteps


class _OutOfSteps(Exception):
    """Matching the rules would take too many steps."""


def _apply(finder: _Finder, rules: list[StyleRule], styles: Styles, names: _Names) -> None:
    for rule in rules:
        selector = rule.selector
        if not names.may_match(selector) or not any(map(_matters, rule.declarations)):
            continue
        if ":-" in selector and _OF_OTHERS.search(selector) and ":is(" not in selector and ":where(" not in selector:
            continue
        arms = comma_parts(selector)
        for arm in arms if all(arms) else ():
            if len(arms) > 1 and not names.may_match(arm):
                continue
            if ":" in arm:
                arm = _PSEUDO.sub(lambda match: _PSEUDOS[match[0]], _NOT_STATE.sub(_ALWAYS, arm))
                if _ADDED.search(arm):
                    _note_added(finder, arm, rule, styles)
                if (state := _STATE.search(arm)) is not None:
                    styles.note_state(arm, state, rule.declarations)
                if "::" in arm or _STATES.search(arm):
                    continue
            if _ASTRAL.search(arm) is not None:
                arm = _ASTRAL.sub(lambda match: f"\\{ord(match[0]):x} ", arm)
            try:
                elements = finder.find(arm)
                specificity = css_specificity(arm)[0] if elements else (0, 0, 0)
            except (SelectorSyntaxError, ValueError, RecursionError):
                continue
            except _OutOfSteps:
                styles.incomplete = True
                return
            if elements:
                styles.declare(elements, rule.declarations, layer=rule.layer, specificity=specificity)


def _note_added(finder: _Finder, arm: str, rule: StyleRule, styles: Styles) -> None:
    """Record the generated box of a rule if it has a background, as some pages shade text this way, or a text."""
    said = {declared.name: declared.value for declared in rule.declarations}
    placed = said.get("position") in {"absolute", "fixed"}
    shades = placed and any(name.startswith("background") for name in said)
    content = "" if placed or _STATES.search(arm) or said.get("display") == "none" else said.get("content", "")
    if not (shades or (_TEXT.search(content) and not _ICON.search(content))):
        return
    base = _ADDED.sub("", arm) or "*"
    try:
        elements = finder.find(base)
        specificity = css_specificity(base)[0]
    except (SelectorSyntaxError, ValueError, RecursionError, _OutOfSteps):
        return
    style = dict(pair for name, value, _ in rule.declarations for pair in longhands(name, value)) if shades else {}
    precedence = rule.layer, specificity
    for element in elements:
        if shades:
            styles.added.setdefault(element, {}).update(style)
        key = element, arm.rpartition(":")[2]
        if content and styles.generated.get(key, (precedence,))[0] <= precedence:
            styles.generated[key] = precedence, content


def _matters(declared: Declaration) -> bool:
    name, value, _ = declared
    return (
        name.startswith("--")
        or name == "content"
        or (is_computed(value) and is_told(name))
        or bool(longhands(name, value))
    )
