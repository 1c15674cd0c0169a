"""Application of a page's own style sheets, including those in `data:` URLs (RFC 2397), to its elements.

Source: Selectors 4 (https://www.w3.org/TR/selectors-4/). States such as `:hover` never match.
"""

from __future__ import annotations

import re
from base64 import b64decode
from collections import defaultdict
from collections.abc import Callable, Iterable, Sequence
from functools import cached_property
from typing import Final
from urllib.parse import unquote

from turbohtml import Document, DocumentFragment, Element, Node, SelectorSyntaxError
from turbohtml.convert import css_specificity
from turbohtml.query import Matcher

from groundwire.reading.css.at_rules import on_screen
from groundwire.reading.css.cascade import Styles
from groundwire.reading.css.parser import COMMENT, DEFAULTS, Sheet, StyleRule, declarations, read_sheet
from groundwire.reading.css.values import OUT_OF_FLOW, comma_parts, nested_levels

_MAX_SHEETS: Final = 1_000_000  # characters of all sheets of a page in total
_SHEETS: Final = 'style, link[rel~="stylesheet" i]'
_MAX_EMBEDDED: Final = 200_000  # characters of a sheet in a URL
_IMPORT: Final = re.compile(
    r"@import\s+(?:url\(\s*([^\"')\s]+)\s*\)|(?:url\(\s*)?(?:\"([^\"\n]*)\"|'([^'\n]*)')\s*\)?)([^;{}]{0,200})(?:;|\Z)",
    re.IGNORECASE,
)
_MAX_WORK: Final = 5_000_000  # steps: elements visited by selectors, and characters of attributes searched
SHADOW_STEPS: Final = 1_000_000  # elements of shadow trees visited by selectors
_STEP: Final = 64  # characters of attributes; searching them takes as long as visiting an element
_DEPTH: Final = 64  # nested elements that may have an attribute
_MATCH_STEPS: Final = 8  # elements visited in the time of one individual match
_FEW_ELEMENTS: Final = 12  # elements; matching each of them is faster than searching the page
_STATES: Final = re.compile(
    r":(?:hover|active|focus|focus-within|focus-visible|visited|target|autofill|fullscreen|popover-open|modal)(?![\w-])"
)
_CHECKED: Final = re.compile(r"(:not\()?:checked(?![\w-])(?(1)\))")
_NOT_STATE: Final = re.compile(rf":not\(\s*(?:{_STATES.pattern}\s*,?\s*)+\)")
_GENERATED_BOX: Final = re.compile(r"::?(?:before|after)\Z")
_FORGIVING: Final = re.compile(r":(?:is|where)\(")
_TEXT: Final = re.compile(r"none|normal|attr\(|[\"']\s*[^\s\"'\ufffd]")
"""A value of `content` that is a text, or sets none."""
_ICON: Final = re.compile("[\ue000-\uf8ff\U000f0000-\U0010ffff]|url\\(|counter")
_FOREIGN_PSEUDO: Final = re.compile(r":-(?:ms|moz|o|khtml)-")
"""What makes a whole selector list invalid, as it does in browsers of other vendors."""
_ANY_ELEMENT: Final = ":not(.\u2205)"
"""A selector that matches every element, with the specificity of the replaced one."""
_HOST: Final = re.compile(r":host(?:\(((?:[^()]|:(?:not|is)\([^()]*\))*+)\))?(?:(\s*>)|(?=\s)|\Z)")
_NAMED: Final = re.compile(r"[.#][a-zA-Z0-9_\x80-\U0010ffff-]+(?!\\)")
_ESCAPED: Final = re.compile(r"[.#](?:[a-zA-Z0-9_\x80-\U0010ffff-]|\\.)+")
_OPAQUE: Final = re.compile(r"\\[0-9a-fA-F\s\\]|(?<!\\)[(\[]")
"""What escaped names are not looked up beside: escapes of numbers and of escapes, and brackets without one."""
_ATTRIBUTE: Final = re.compile(r"\[(?:[^\[\]\"']|\"[^\"]*+\"|'[^']*+')*+\]")
_SEARCHED: Final = re.compile(r"(?<![^\\]\\)\[([^\[\]=\"']*)=")
"""What precedes the value of an attribute in a selector: its name, and the sign of how it is searched."""
_BRACKETS: Final = re.compile(r"\([^()]*+\)")
_MAX_BRACKETS: Final = 20  # brackets within brackets
_COMBINED: Final = re.compile(r"[\s>+~]")
_WRAPPED: Final = re.compile(r":is\(((?:[^(),]|\([^(),]*\))*+)\)")
"""A selector in needless brackets, as Tailwind 4 writes those of elements inside or beside another one."""
_NOT_NESTED: Final = re.compile(r"[+~(\[\\]")
"""A sign in selectors of which a name may be outside of the elements around the one in question."""
_BEFORE: Final = re.compile(r"\A.*[\s>+~]", re.DOTALL)
"""What is before the part of a selector that stands for the element itself."""


def read_styles(document: Document) -> Styles:
    """Apply a page's own style sheets and `style` attributes; its `style` elements must still be in it."""
    styles = Styles(scripted=document.find("script") is not None)
    selectors = _Selectors(document, _MAX_WORK)
    sheet, is_empty = _read_sheets(document, styles, selectors)
    styles.initial, styles.sheet_names = sheet.initial, selectors.sheet_names
    styles.without_sheets = bool(styles.page_classes) and is_empty
    _apply(selectors, sheet.rules, styles, None)
    _apply_attributes(document, styles)
    return styles


def read_shadow(styles: Styles, host: Element, shadow: DocumentFragment, room: int) -> int:
    """Apply the style sheets of a shadow tree to it and its host, before it is moved.

    Args:
        styles: The styles of the page.
        host: The element that has the tree.
        shadow: The tree, without those of its elements.
        room: How many steps may be taken.

    Returns:
        How many are left.
    """
    selectors = _Selectors(shadow, room)
    _apply_attributes(shadow, styles)
    _apply(selectors, _read_sheets(shadow, styles, selectors)[0].rules, styles, host)
    return selectors.room


def _read_sheets(tree: Document | DocumentFragment, styles: Styles, selectors: _Selectors) -> tuple[Sheet, bool]:
    """Return the rules of all style sheets in a tree, and whether all are empty."""
    links = [link for link in tree.find_all("link") if "stylesheet" in (link.attr("rel") or "").lower().split()]
    in_order = any((link.attr("href") or "").lstrip()[:5].lower() == "data:" for link in links)
    sheet, room, is_empty = Sheet(), _MAX_SHEETS, True
    for element in tree.select(_SHEETS) if in_order else [*tree.find_all("style"), *links]:
        text, missing = _text_of(element)
        is_empty, is_blank = is_empty and not text, not text.strip()
        styles.incomplete = styles.incomplete or missing or (is_blank and styles.scripted) or len(text) > room
        if not is_blank and len(text) <= room and _is_read(element, tree.parent):
            room -= len(text)
            read_sheet(text, sheet, selectors.split)
    styles.page_classes |= selectors.classes
    styles.keyframes = sheet.keyframes | styles.keyframes
    return sheet, is_empty


def _apply_attributes(tree: Document | DocumentFragment, styles: Styles) -> None:
    for text, elements in _by_attribute(tree, "style").items():
        styles.apply(elements, declarations(text), inline=True)


def _is_read(element: Element, tree: Node | None) -> bool:
    """Return whether a style sheet is for screens, and in a document or a tree itself, not in a template in it."""
    is_sheet = (element.attr("type") or "text/css").lower() == "text/css"
    return is_sheet and element.closest("noscript, template") == tree and on_screen(element.attr("media") or "")


def _text_of(element: Element) -> tuple[str, bool]:
    """Return a style sheet with the imports that it embeds, and whether it is, or imports, one that is elsewhere."""
    text = element.text if element.tag == "style" else _embedded(element.attr("href") or "")
    if text is None or "@import" not in text:
        return text or "", text is None
    missing = False

    def put_in(match: re.Match[str]) -> str:
        nonlocal missing
        imported, condition = _embedded(match[1] or match[2] or match[3] or ""), match[4].strip()
        missing = missing or imported is None
        return f"@media {condition} {{{imported or ''}}}" if condition else f"{imported or ''}\n"

    return _IMPORT.sub(put_in, COMMENT.sub(" ", text)), missing


def _embedded(address: str) -> str | None:
    """Return the style sheet in a `data:` URL; None if it is elsewhere."""
    address = address.strip()
    if address[:5].lower() != "data:" or len(address) > _MAX_EMBEDDED:
        return None
    kind, comma, data = address[5:].partition(",")
    if not comma or kind.partition(";")[0].strip().lower() not in {"", "text/css"}:
        return ""
    try:
        is_encoded = kind.strip().lower().endswith(";base64")
        return b64decode(unquote(data)).decode("utf-8", "replace") if is_encoded else unquote(data)
    except ValueError:
        return ""


def _by_attribute(tree: Document | DocumentFragment, name: str) -> dict[str, list[Element]]:
    """Return the elements with an attribute by its value: many share one, which is then judged once."""
    groups: dict[str, list[Element]] = defaultdict(list)
    for element in tree.select(f"[{name}]"):
        groups[element.attr(name) or ""].append(element)
    return groups


def _names_in(selector: str) -> list[str]:
    """Return the classes and ids in a selector, written as selectors, without escapes."""
    if "\\" in selector:
        return [name.replace("\\", "") for name in _ESCAPED.findall(selector)]
    return _NAMED.findall(selector)


def _outside_brackets(selector: str) -> str:
    """Return a selector without attributes and parentheses; "" if it has too many, or escapes of any character."""
    if "\\" in selector:
        return "" if _OPAQUE.search(selector) is not None else selector
    if "[" in selector:
        selector = _ATTRIBUTE.sub("", selector)
    for _ in range(_MAX_BRACKETS):
        if "(" not in selector or (shorter := _BRACKETS.sub("", selector)) == selector:
            return selector
        selector = shorter
    return ""  # no page needs so many; each takes a look at the whole selector


def _key_of(selector: str) -> str:
    """Return a class or an id, as a selector, that every element has which a selector matches; empty if it has none."""
    outside = _outside_brackets(selector)
    names = _names_in(_BEFORE.sub("", outside)) if "," not in outside else ()
    return names[0] if names else ""


class _Selectors:
    """The selectors of a tree's style sheets, and its elements that they match, within a limited number of steps.

    Args:
        tree: The page, or a shadow tree.
        room: How many steps may be taken.
    """

    def __init__(self, tree: Document | DocumentFragment, room: int) -> None:
        self.room = room
        self.sheet_names: set[str] = set()
        """The classes and ids in selectors, written as selectors."""
        self._tree = tree
        self._matches: dict[str, list[Element]] = {}
        self._lengths: dict[str, int] = {}
        self._by_class = _by_attribute(tree, "class")
        self.classes = set(" ".join(self._by_class).split())

    @cached_property
    def _by_id(self) -> dict[str, list[Element]]:
        return _by_attribute(self._tree, "id")

    @cached_property
    def _exist(self) -> Callable[[Iterable[str]], bool]:
        return {*("." + name for name in self.classes), *("#" + own for own in self._by_id)}.issuperset

    @cached_property
    def _index(self) -> dict[str, list[Element]]:
        """The elements by those of their classes and ids that style sheets have, written as selectors."""
        index: dict[str, list[Element]] = {}
        for names, elements in self._by_class.items():
            for name in dict.fromkeys(names.split()):
                if (key := "." + name) in self.sheet_names:
                    index.setdefault(key, []).extend(elements)
        return index | {"#" + own: elements for own, elements in self._by_id.items()}

    @cached_property
    def _size(self) -> int:
        return len(self._tree.select("*"))

    def split(self, selector: str) -> Sequence[str]:
        """Return the selectors of a list that may match an element: none of their classes and ids is missing."""
        self.sheet_names.update(names := _names_in(selector))
        if ":-" in selector and _FOREIGN_PSEUDO.search(selector) and not _FORGIVING.search(selector):
            return ()
        if "," not in selector and "(" not in selector and "[" not in selector and "\\" not in selector:
            return (selector,) if self._exist(names) else ()
        arms = comma_parts(selector)
        return [arm for arm in arms if self._may_match(arm)] if all(arms) else ()

    def _may_match(self, selector: str) -> bool:
        outside = _outside_brackets(selector)
        if "," in outside:  # brackets in strings may be unbalanced
            return any(self._exist(_names_in(part)) for part in outside.split(","))
        return self._exist(_names_in(outside))

    def find(self, selector: str) -> Sequence[Element]:
        """Return the elements that a selector without commas matches.

        Raises:
            _OutOfSteps: it would exceed the limit of steps.
            SelectorSyntaxError, ValueError, RecursionError: the selector is not valid.
        """
        if (whole := _WRAPPED.fullmatch(selector)) is not None:
            selector = whole[1]
        if ":root" in selector and isinstance(self._tree, DocumentFragment):  # the page's
            return ()
        if _NAMED.fullmatch(selector) is not None:
            named = self._index.get(selector, ())
            self._take(len(named))  # each is given the rule
            return named
        if "[" in selector:
            before, _, own = selector.replace(">", " ").rpartition(" ")
            self._take((self._size * self._searched(before) + _DEPTH * self._searched(own)) // _STEP)
        key = _key_of(selector)
        elements: Sequence[Element] = self._index.get(key, ()) if key else ()
        above = ":has(" in selector and _COMBINED.search(selector.rpartition(")")[2]) is not None
        if ":has(" in selector:  # it searches all descendants of an element, of one around others for each of these
            among = len(elements) if key and above else self._size
            self._take(self._size * among // (_STEP if above else _STEP * _MATCH_STEPS))
        if "(" in selector and (levels := nested_levels(selector)):
            self._take_levels(levels + above, selector, elements if key else list(self._tree.iter_elements()))
        if key:
            if not elements:
                return elements
            self._take(_MATCH_STEPS * len(elements))
            return Matcher(selector).filter(elements)
        if _NOT_NESTED.search(selector) is None and (names := _NAMED.findall(selector)):
            around = min([self._index.get(name, ()) for name in names], key=len)
            if len(around) <= _FEW_ELEMENTS:
                self._take(_MATCH_STEPS * len(around))
                inside = [element for outer in around for element in outer.select(selector)]
                self._take(len(inside))
                return inside if len(around) < 2 else list(dict.fromkeys(inside))
        return self._all(selector)

    def find_in_shadow(self, selector: str, host: Element) -> tuple[Sequence[Element], str]:
        """Return the elements of a shadow tree, or its host, that a selector matches, and its like for a page.

        Raises:
            _OutOfSteps, SelectorSyntaxError, ValueError, RecursionError: as for `find`.
        """
        own = _HOST.match(selector)
        if own is None:
            return self.find(selector), selector
        inside = selector[own.end() :].strip()
        if own[1] and not host.matches(own[1]):
            return (), selector
        elements = self.find(inside) if inside else [host]
        if own[2] and not _COMBINED.search(inside):
            elements = [element for element in elements if element.parent == self._tree]
        return elements, f":root:is({own[1] or '*'}) {inside}".strip()

    def _take_levels(self, levels: int, selector: str, elements: Sequence[Element]) -> None:
        """Take the steps of selectors within selectors: on each level, all elements around one may be visited."""
        sample = elements[:: len(elements) // _FEW_ELEMENTS + 1]
        around = sum(len(list(element.ancestors)) for element in sample)
        if "~" in selector or " of " in selector:
            around += sum(len(list(element.previous_siblings)) for element in sample)
        self._take(around + int(len(elements) * (around / max(len(sample), 1)) ** levels))

    def _searched(self, selector: str) -> int:
        """Return how many characters of a selector's attributes may be searched for an element and those around it."""
        names = [name.rstrip("~^$*| \t\n").rpartition("|")[2].strip().lower() for name in _SEARCHED.findall(selector)]
        if any("\\" in name for name in names):  # it may be any
            names = list({name for element in self._tree.iter_elements() for name in element.attrs})
        return sum(map(self._length, names))

    def _length(self, attribute: str) -> int:
        if attribute not in self._lengths:
            values = [len(element.attr(attribute) or "") for element in self._all(f"[{attribute}]")]
            self._lengths[attribute] = min(sum(values), _DEPTH * max(values, default=0))
        return self._lengths[attribute]

    def _all(self, selector: str) -> list[Element]:
        elements = self._matches.get(selector)
        self._take(self._size if elements is None else len(elements))
        if elements is None:
            elements = self._matches[selector] = self._tree.select(selector)
        return elements

    def _take(self, steps: int) -> None:
        self.room -= steps
        if self.room < 0:
            raise _OutOfSteps


class _OutOfSteps(Exception):
    """Matching the rules would take too many steps."""


def _apply(selectors: _Selectors, rules: list[StyleRule], styles: Styles, host: Element | None) -> None:
    """Apply the rules of a page, or of the shadow tree that an element has."""
    for rule in rules:
        for selector in rule.selectors:
            if ":" in selector:
                selector = _NOT_STATE.sub(_ANY_ELEMENT, selector).replace(":defined", _ANY_ELEMENT)
                if _GENERATED_BOX.search(selector):
                    _note_added(selectors, selector, rule, styles)
                if host is None and (state := _CHECKED.search(selector)) is not None:
                    styles.note_state(selector, state, rule.declarations)
                if "::" in selector or _STATES.search(selector):
                    continue
            try:
                if host is None:
                    elements = selectors.find(selector)
                else:
                    elements, selector = selectors.find_in_shadow(selector, host)
                specificity = css_specificity(selector)[0] if elements else (0, 0, 0)
            except (SelectorSyntaxError, ValueError, RecursionError):
                continue
            except _OutOfSteps:
                styles.incomplete = True
                return
            layer = (*DEFAULTS, *rule.layer) if elements == [host] else rule.layer  # the page's own rules are stronger
            styles.apply(elements, rule.declarations, layer=layer, specificity=specificity)


def _note_added(selectors: _Selectors, selector: str, rule: StyleRule, styles: Styles) -> None:
    """Record the generated box of a rule if it has a background, as some pages shade text this way, or a text."""
    values = {declared.name: declared.value for declared in rule.declarations}
    placed = values.get("position") in OUT_OF_FLOW
    shades = placed and any(name.startswith("background") for name in values)
    content = "" if placed or _STATES.search(selector) or values.get("display") == "none" else values.get("content", "")
    if not (shades or (_TEXT.search(content) and not _ICON.search(content))):
        return
    base = _GENERATED_BOX.sub("", selector) or "*"
    try:
        elements = selectors.find(base)
        specificity = css_specificity(base)[0]
    except (SelectorSyntaxError, ValueError, RecursionError, _OutOfSteps):
        return
    precedence = rule.layer, specificity
    for element in elements:
        if shades:
            styles.box_styles.setdefault(element, {}).update(values)
        key = element, selector.rpartition(":")[2]
        if content and styles.generated.get(key, (precedence,))[0] <= precedence:
            styles.generated[key] = precedence, content
