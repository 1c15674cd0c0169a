"""The style sheets that a page brings along, applied to its elements.

Source: Selectors 4 (https://www.w3.org/TR/selectors-4/). States such as `:hover` hold of nothing.

Style sheets that a page brings along in an address of their own, a `data:` URL (RFC 2397).
"""

from __future__ import annotations

import re
import time
from base64 import b64decode
from typing import Final
from urllib.parse import unquote

from turbohtml import Document, Element, SelectorSyntaxError
from turbohtml.convert import css_specificity

from groundwire.reading.css.at_rules import on_screen
from groundwire.reading.css.cascade import Styles
from groundwire.reading.css.longhands import is_told, longhands
from groundwire.reading.css.parser import Declaration, Sheet, StyleRule, declarations, read_sheet

__all__ = ["class_names", "read_styles", "sheet_of", "with_imports"]

_MAX: Final = 200_000  # characters
_IMPORT: Final = re.compile(
    r"@import\s+(?:url\(\s*([^\"')\s]+)\s*\)|(?:url\(\s*)?(?:\"([^\"\n]*)\"|'([^'\n]*)')\s*\)?)([^;{}]{0,200})(?:;|\Z)",
    re.IGNORECASE,
)


def sheet_of(address: str) -> str | None:
    """Return the style sheet that an address holds itself; None if it is somewhere else."""
    address = address.strip()
    if address[:5].lower() != "data:" or len(address) > _MAX:
        return None
    kind, comma, data = address[5:].partition(",")
    if not comma or kind.partition(";")[0].strip().lower() not in {"", "text/css"}:
        return ""
    if kind.strip().lower().endswith(";base64"):
        try:
            return b64decode(unquote(data)).decode("utf-8", "replace")
        except ValueError:
            return ""
    return unquote(data)


def with_imports(text: str) -> tuple[str, bool]:
    """Return a style sheet with those that it imports from itself put in, and whether others are missing."""
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


_MAX_SHEETS: Final = 1_000_000  # characters of all sheets of a page together
_MAX_WORK: Final = 5_000_000  # rules times elements; a selector visits every element
_MAX_SECONDS: Final = 1.0  # of processor time for finding what rules are about; real pages took a tenth at most
_MANY: Final = 150  # rules; from here on an index of the classes pays
_CONTAINS: Final = re.compile(r"[;{\s]container(?:-type)?\s*:", re.IGNORECASE)
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


def read_styles(document: Document) -> Styles:
    """Return what a page's own style sheets and `style` attributes say; its `style` elements must still be in it."""
    elements = _sheets(document)
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


def _sheets(document: Document) -> list[Element]:
    """Return what holds or names a style sheet; in the order of the page if a link holds one itself."""
    links = [link for link in document.find_all("link") if "stylesheet" in (link.attr("rel") or "").lower().split()]
    if any((link.attr("href") or "").lstrip()[:5].lower() == "data:" for link in links):
        return document.select('style, link[rel~="stylesheet" i]')
    return [*document.find_all("style"), *links]


def class_names(document: Document) -> frozenset[str]:
    """Return the names of all classes that a page's elements have."""
    return frozenset(" ".join(set(map(str, document.xpath_iter("//*/@class", smart_strings=False)))).split())


def _apply(document: Document, rules: list[StyleRule], styles: Styles) -> None:
    names = {"." + name for name in styles.named}
    names.update(f"#{value}" for value in document.xpath_iter("//*/@id"))
    size = sum(1 for _ in document.iter_elements())
    room = _MAX_WORK // max(size, 1)
    index = _by_name(document) if len(rules) > _MANY else {}
    end = time.thread_time() + _MAX_SECONDS
    for rule in rules:
        selector = rule.selector
        asked = _NAMED.findall(selector)
        styles.classes.update([name for mark, name in asked if mark == "."])
        plain = not any(sign in selector for sign in "(,\\[")
        if plain and not all(mark + name in names for mark, name in asked):
            continue
        if not any(map(_matters, rule.declarations)):
            continue
        if ":-" in selector and _OF_OTHERS.search(selector) and ":is(" not in selector and ":where(" not in selector:
            continue
        if time.thread_time() > end:  # a selector may look through long attributes of every ancestor
            styles.incomplete = True
            return
        arms = _arms(selector)
        for arm in arms if all(arms) else ():
            if ":" in arm:
                arm = _NOT_STATE.sub(_ALWAYS, arm).replace(":-webkit-any(", ":is(").replace(":defined", _ALWAYS)
                if _ADDED.search(arm) and _occurs(arm, names):
                    _note_added(document, arm, rule, styles)
                if "::" in arm or _STATES.search(arm):
                    continue
            if not _occurs(arm, names):
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


def _note_added(document: Document, arm: str, rule: StyleRule, styles: Styles) -> None:
    """Note the box that a rule adds to elements, where it has a background: pages lay shades under a text this way."""
    said = {declared.name.partition("-")[0]: declared.value for declared in rule.declarations}
    if "background" not in said or said.get("position") not in {"absolute", "fixed"}:
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
