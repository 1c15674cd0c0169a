"""Application of a page's own style sheets, including those in `data:` URLs (RFC 2397), to its elements.

Source: Selectors 4 (https://www.w3.org/TR/selectors-4/). States such as `:hover` never match.
"""

from __future__ import annotations

import re
from base64 import b64decode
from collections import defaultdict
from collections.abc import Container, Iterable, Mapping, Sequence
from functools import cached_property
from typing import Final
from urllib.parse import unquote

from turbohtml import Document, DocumentFragment, Element, Node, SelectorSyntaxError
from turbohtml.convert import css_specificity
from turbohtml.query import Matcher

from groundwire.reading.css.at_rules import on_screen
from groundwire.reading.css.cascade import Styles
from groundwire.reading.css.longhands import longhands
from groundwire.reading.css.parser import COMMENT, DEFAULTS, Sheet, StyleRule, declarations, read_sheet
from groundwire.reading.css.values import comma_parts, nested_levels

__all__ = ["SHADOW_STEPS", "read_shadow", "read_styles"]

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
_STATE: Final = re.compile(r"(:not\()?:(checked|hover|active|focus|focus-within|focus-visible|target)(?![\w-])(?(1)\))")
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
_ATTRIBUTE_NAME: Final = re.compile(r"(?<![^\\]\\)\[\s*([\w-]+)")
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
    links = [link for link in document.find_all("link") if "stylesheet" in (link.attr("rel") or "").lower().split()]
    sheets = [*document.find_all("style"), *links]
    if any((link.attr("href") or "").lstrip()[:5].lower() == "data:" for link in links):
        sheets = document.select(_SHEETS)  # in their order
    sources = list(map(_text_of, sheets))
    sheet, incomplete, texts = Sheet(), False, list[str]()
    room = _MAX_SHEETS
    for element, (text, missing) in zip(sheets, sources, strict=True):
        incomplete = incomplete or missing
        if not text.strip():
            incomplete = incomplete or document.find("script") is not None  # which may fill it
        elif len(text) > room:
            incomplete = True
        elif _is_read(element, None):
            room -= len(text)
            texts.append(text)
    classes, inline = _by_attribute(document, "class"), _by_attribute(document, "style")
    ids = _by_attribute(document, "id") if texts else {}
    page_classes = set(" ".join(classes).split())
    names = _Names({*("." + name for name in page_classes), *("#" + own for own in ids)} if texts else ())
    for text in texts:
        read_sheet(text, sheet, names.arms)
    styles = Styles(keyframes=sheet.keyframes, incomplete=incomplete, page_classes=page_classes)
    styles.initial, styles.scripted = sheet.initial, document.find("script") is not None
    styles.without_sheets = bool(page_classes) and not any(text for text, _ in sources)
    styles.sheet_names = names.sheet_names
    if sheet.rules:
        _apply(_Finder(document, _index(classes, ids, names.sheet_names)), sheet.rules, styles, names)
    for text, elements in inline.items():
        styles.apply(elements, styles.pairs(declarations(text)), inline=True)
    return styles


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


def _by_attribute(document: Document, name: str) -> dict[str, list[Element]]:
    """Return the elements with an attribute by its value: many share one, which is then judged once."""
    groups: dict[str, list[Element]] = defaultdict(list)
    for element in document.select(f"[{name}]"):
        groups[element.attr(name) or ""].append(element)
    return groups


def _index(
    classes: Mapping[str, list[Element]], ids: Mapping[str, list[Element]], sheet_names: Container[str]
) -> dict[str, list[Element]]:
    """Return the elements by those of their classes and ids that style sheets have, written as selectors."""
    index: dict[str, list[Element]] = {}
    for names, elements in classes.items():
        for name in dict.fromkeys(names.split()):
            if (key := "." + name) in sheet_names:
                index.setdefault(key, []).extend(elements)
    return index | {"#" + own: elements for own, elements in ids.items()}


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
    sheet, template = Sheet(), shadow.parent
    lengths: dict[str, int] = {}
    for element in (host, *shadow.iter_elements()):
        for name in element.attrs:
            lengths[name] = max(lengths.get(name, 0), len(element.attr(name) or ""))
    for element in shadow.iter_elements():
        styles.page_classes.update((element.attr("class") or "").split())
        if text := element.attr("style"):
            styles.apply((element,), styles.pairs(declarations(text)), inline=True)
    for element in shadow.select(_SHEETS):
        text, missing = _text_of(element)
        styles.incomplete = styles.incomplete or missing
        if _is_read(element, template):
            read_sheet(text, sheet)
    for name, frame in sheet.keyframes.items():
        styles.keyframes.setdefault(name, frame)
    size = sum(1 for _ in shadow.descendants) if sheet.rules else 0
    for rule in sheet.rules:
        pairs = styles.pairs(rule.declarations)
        for arm in filter(None, comma_parts(rule.selector)):
            names = [name.lower() for name in _ATTRIBUTE_NAME.findall(arm)]
            searched = lengths if len(names) < arm.count("[") else names  # all of them for a name with an escape
            attributes = sum(lengths.get(name, 0) for name in searched)  # those of _DEPTH elements around each
            room -= size * (_FEW_ELEMENTS ** (2 * nested_levels(arm)) + attributes * _DEPTH // _STEP)
            if room < 0:
                styles.incomplete = True
                return room
            if ":root" in arm:  # is in no shadow tree
                continue
            own = _HOST.match(arm)
            inside = (arm if own is None else arm[own.end() :]).replace(":defined", _ANY_ELEMENT).strip()
            try:
                if own is not None and own[1] and not host.matches(own[1]):
                    continue
                elements = shadow.select(inside) if inside else [host]
                if own is not None:
                    if own[2] and not _COMBINED.search(inside):
                        elements = [element for element in elements if element.parent == shadow]
                    arm = f":root:is({own[1] or '*'}) {inside}".strip()
                specificity = css_specificity(arm)[0]
            except (SelectorSyntaxError, ValueError, RecursionError):
                continue
            layer = rule.layer if inside else (*DEFAULTS, *rule.layer)  # the page's own rules are stronger
            styles.apply(elements, pairs, layer=layer, specificity=specificity)
    return room


class _Names:
    """The classes and ids of a page, and those in its style sheets."""

    def __init__(self, names: Iterable[str]) -> None:
        self.sheet_names: set[str] = set()
        """The classes and ids in selectors, written as selectors."""
        self._arms: dict[str, Sequence[str]] = {}
        self._page_names = frozenset(names)

    def arms(self, selector: str) -> Sequence[str]:
        """Return the selectors of a list that may match an element: none of their classes and ids is missing."""
        arms = self._arms.get(selector)
        if arms is None:
            arms = self._arms[selector] = self._split(selector)
        return arms

    def _split(self, selector: str) -> Sequence[str]:
        names = _names_in(selector)
        self.sheet_names.update(names)
        is_plain = "(" not in selector and "[" not in selector and "\\" not in selector
        if is_plain and "," not in selector:
            return (selector,) if self._page_names.issuperset(names) else ()
        arms = comma_parts(selector)
        if not all(arms):
            return ()
        if is_plain:
            return [arm for arm in arms if self._page_names.issuperset(_NAMED.findall(arm))]
        return [arm for arm in arms if self._may_match(arm)]

    def _may_match(self, arm: str) -> bool:
        if "\\" in arm:
            return _OPAQUE.search(arm) is not None or self._page_names.issuperset(_names_in(arm))
        exist, outside = self._page_names.issuperset, _outside_brackets(arm)
        return any(exist(_NAMED.findall(part)) for part in outside.split(","))  # brackets in strings may be unbalanced


def _names_in(selector: str) -> list[str]:
    """Return the classes and ids in a selector, written as selectors, without escapes."""
    if "\\" in selector:
        return [name.replace("\\", "") for name in _ESCAPED.findall(selector)]
    return _NAMED.findall(selector)


def _outside_brackets(selector: str) -> str:
    """Return a selector without attributes and without what is in parentheses; nothing of one with too many."""
    if "[" in selector:
        selector = _ATTRIBUTE.sub("", selector)
    for _ in range(_MAX_BRACKETS):
        if "(" not in selector or (shorter := _BRACKETS.sub("", selector)) == selector:
            return selector
        selector = shorter
    return ""  # no page needs so many; each takes a look at the whole selector


def _key_of(selector: str) -> str:
    """Return a class or an id, as a selector, that every element has which a selector matches; empty if it has none."""
    if "\\" in selector and _OPAQUE.search(selector) is not None:
        return ""
    outside = selector if "\\" in selector else _outside_brackets(selector)
    names = _names_in(_BEFORE.sub("", outside)) if "," not in outside else ()
    return names[0] if names else ""


class _Finder:
    """Finds the elements matched by selectors, within a limited number of steps.

    Args:
        document: The page.
        index: Its elements by their classes and ids, written as selectors.
    """

    def __init__(self, document: Document, index: Mapping[str, Sequence[Element]]) -> None:
        self.document = document
        self._index = index
        self._room = _MAX_WORK
        self._matches: dict[str, list[Element]] = {}
        self._lengths: dict[str, int] = {}

    @cached_property
    def _size(self) -> int:
        return len(self.document.select("*"))

    def find(self, selector: str) -> Sequence[Element]:
        """Return the elements that a selector without commas matches.

        Raises:
            _OutOfSteps: it would exceed the page's limit of steps.
            SelectorSyntaxError, ValueError, RecursionError: the selector is not valid.
        """
        if (whole := _WRAPPED.fullmatch(selector)) is not None:
            selector = whole[1]
        if _NAMED.fullmatch(selector) is not None:
            named = self._index.get(selector, ())
            self._take(len(named))  # each is given the rule
            return named
        if "[" in selector:
            before, _, own = selector.replace(">", " ").rpartition(" ")
            looked_through = self._size * sum(map(self._length, _ATTRIBUTE_NAME.findall(before)))
            self._take((looked_through + _DEPTH * sum(map(self._length, _ATTRIBUTE_NAME.findall(own)))) // _STEP)
        key = _key_of(selector)
        elements: Sequence[Element] = self._index.get(key, ()) if key else ()
        above = ":has(" in selector and _COMBINED.search(selector.rpartition(")")[2]) is not None
        if ":has(" in selector:  # it searches all descendants of an element, of one around others for each of these
            among = len(elements) if key and above else self._size
            self._take(self._size * among // (_STEP if above else _STEP * _MATCH_STEPS))
        if "(" in selector and (levels := nested_levels(selector)):
            self._take_levels(levels + above, selector, elements if key else list(self.document.iter_elements()))
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

    def _take_levels(self, levels: int, selector: str, elements: Sequence[Element]) -> None:
        """Take the steps of selectors within selectors: on each level, all elements around one may be visited."""
        sample = elements[:: len(elements) // _FEW_ELEMENTS + 1]
        around = sum(len(list(element.ancestors)) for element in sample)
        if "~" in selector or " of " in selector:
            around += sum(len(list(element.previous_siblings)) for element in sample)
        self._take(around + int(len(elements) * (around / max(len(sample), 1)) ** levels))

    def _length(self, attribute: str) -> int:
        """Return how many attribute characters may be searched for an element and its ancestors."""
        if attribute not in self._lengths:
            values = [len(element.attr(attribute) or "") for element in self._all(f"[{attribute}]")]
            self._lengths[attribute] = min(sum(values), _DEPTH * max(values, default=0))
        return self._lengths[attribute]

    def _all(self, selector: str) -> list[Element]:
        elements = self._matches.get(selector)
        self._take(self._size if elements is None else len(elements))
        if elements is None:
            elements = self._matches[selector] = self.document.select(selector)
        return elements

    def _take(self, steps: int) -> None:
        self._room -= steps
        if self._room < 0:
            raise _OutOfSteps


class _OutOfSteps(Exception):
    """Matching the rules would take too many steps."""


def _apply(finder: _Finder, rules: list[StyleRule], styles: Styles, names: _Names) -> None:
    for rule in rules:
        arms = names.arms(rule.selector)
        pairs = styles.pairs(rule.declarations) if arms else ()
        if not pairs and not (arms and any(declared.name == "content" for declared in rule.declarations)):
            continue
        if ":-" in rule.selector and _FOREIGN_PSEUDO.search(rule.selector) and not _FORGIVING.search(rule.selector):
            continue
        for arm in arms:
            if ":" in arm:
                arm = _NOT_STATE.sub(_ANY_ELEMENT, arm).replace(":defined", _ANY_ELEMENT)
                if _GENERATED_BOX.search(arm):
                    _note_added(finder, arm, rule, styles)
                if (state := _STATE.search(arm)) is not None:
                    styles.note_state(arm, state, rule.declarations)
                if "::" in arm or _STATES.search(arm):
                    continue
            try:
                elements = finder.find(arm)
                specificity = css_specificity(arm)[0] if elements else (0, 0, 0)
            except (SelectorSyntaxError, ValueError, RecursionError):
                continue
            except _OutOfSteps:
                styles.incomplete = True
                return
            if elements and pairs:
                styles.apply(elements, pairs, layer=rule.layer, specificity=specificity)


def _note_added(finder: _Finder, arm: str, rule: StyleRule, styles: Styles) -> None:
    """Record the generated box of a rule if it has a background, as some pages shade text this way, or a text."""
    values = {declared.name: declared.value for declared in rule.declarations}
    placed = values.get("position") in {"absolute", "fixed"}
    shades = placed and any(name.startswith("background") for name in values)
    content = "" if placed or _STATES.search(arm) or values.get("display") == "none" else values.get("content", "")
    if not (shades or (_TEXT.search(content) and not _ICON.search(content))):
        return
    base = _GENERATED_BOX.sub("", arm) or "*"
    try:
        elements = finder.find(base)
        specificity = css_specificity(base)[0]
    except (SelectorSyntaxError, ValueError, RecursionError, _OutOfSteps):
        return
    style = dict(pair for name, value, _ in rule.declarations for pair in longhands(name, value)) if shades else {}
    precedence = rule.layer, specificity
    for element in elements:
        if shades:
            styles.box_styles.setdefault(element, {}).update(style)
        key = element, arm.rpartition(":")[2]
        if content and styles.generated.get(key, (precedence,))[0] <= precedence:
            styles.generated[key] = precedence, content
