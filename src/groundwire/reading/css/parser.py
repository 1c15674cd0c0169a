"""Parser of style sheets to flat rules, for `style` elements and attributes on a screen.

Follows CSS Syntax 3 (https://www.w3.org/TR/css-syntax-3/), CSS Nesting 1, and Media Queries 5 for conditions. Linear in
the sheet's length. Conditions are evaluated for a desktop screen; an unknown one does not hold, since a rule that is
not applied hides nothing.
"""

from __future__ import annotations

import re
from collections.abc import Callable
from dataclasses import dataclass, field
from functools import lru_cache
from typing import Final, NamedTuple

from groundwire.reading.css.at_rules import in_container, is_supported, on_screen
from groundwire.reading.css.longhands import is_told
from groundwire.reading.css.values import is_closed, is_plain

__all__ = ["BETWEEN", "REVERSED", "UNLAYERED", "Declaration", "Sheet", "StyleRule", "declarations", "read_sheet"]

UNLAYERED: Final = 1 << 60
"""The layer of unlayered rules; later layers take precedence, and this one over all."""

REVERSED: Final = " reversed"
BETWEEN: Final = " between"
_FIRST: Final = frozenset({"from", "0%"})
_LAST: Final = frozenset({"to", "100%"})
_LAYERS: Final = 1_000  # in one layer; further ones have the place of the last
_LEVELS: Final = 5  # of layers in layers
_MAX_DEPTH: Final = 24
_MAX_SELECTOR: Final = 2_000  # characters
_COMMENT: Final = re.compile(r"/\*.*?(?:\*/|\Z)", re.DOTALL)
_ESCAPE: Final = re.compile(r"\\(?:([0-9a-fA-F]{1,6})[ \t\n]?|(.))", re.DOTALL)
_NESTING: Final = re.compile(r"[\"'(\\]")
"""Contexts in which a semicolon does not end a declaration."""
_PIECE: Final = re.compile(
    r"""["'\\uU{};()\[\]](?:(?<=[{};()\[\]])|(?<=")(?:[^"\\\n]|\\.)*"?|(?<=')(?:[^'\\\n]|\\.)*'?|(?<=\\)."""
    r"""|(?<=[uU])[rR][lL]\(\s*+[^"')\s][^)]*+\)?)""",
    re.DOTALL,
)
_COMMON: Final = 60  # characters of a declaration that is likely to be repeated
_NAME: Final = re.compile(r"-{0,2}[a-z_][\w-]*|--[\w-]+", re.IGNORECASE)
_IMPORTANT: Final = re.compile(r"(?<!\s)\s*!\s*important\s*\Z", re.IGNORECASE)
_SCOPE: Final = re.compile(r"\(((?:[^()]|\([^()]*\))+)\)(?:\s*to\s*\(((?:[^()]|\([^()]*\))+)\))?", re.IGNORECASE)


class Declaration(NamedTuple):
    """A property and its value, both in lower case unless case matters."""

    name: str
    value: str
    important: bool


@dataclass(frozen=True, slots=True)
class StyleRule:
    """A rule: selectors and declarations."""

    selector: str
    """A list of selectors, with nesting resolved."""
    declarations: tuple[Declaration, ...]
    """The declarations, in order."""
    layer: int = UNLAYERED
    """The index of its cascade layer."""


@dataclass(slots=True)
class Sheet:
    """The rules that apply on a screen."""

    rules: list[StyleRule] = field(default_factory=list)
    keyframes: dict[str, dict[str, str]] = field(default_factory=dict)
    """The properties of the last frame of each animation; of the first with `REVERSED`, of others with `BETWEEN`."""
    initial: dict[str, str] = field(default_factory=dict)
    """The initial values of registered custom properties."""
    layers: dict[str, int] = field(default_factory=dict)
    """The place of each layer in the order of precedence."""
    inside: dict[str, int] = field(default_factory=dict)
    """How many layers each layer has; the key of those in no other is empty."""
    contained: bool = False
    """Whether any element may be a container, for `@container`."""


@dataclass(slots=True)
class _Block:
    """An open block of a sheet."""

    kind: str
    """`group` holds rules, `rule` declarations, `frames` the frames of an animation, `frame` one; `skip` is ignored."""
    selector: str = ""
    layer: int = UNLAYERED
    end: str = ""
    """The end of a scope: a selector."""
    path: str = ""
    """The full name of its cascade layer."""
    declared: list[Declaration] = field(default_factory=list)


def declarations(text: str) -> list[Declaration]:
    """Parse the declarations of a `style` attribute, in order."""
    if "/*" in text:
        text = _COMMENT.sub(" ", text)
    if _NESTING.search(text) is None:
        return [declared for part in text.split(";") if (declared := _declaration(part))]
    found: list[Declaration | None] = []
    start = depth = 0
    for match in _PIECE.finditer(text):
        piece = match[0]
        if piece in "([{":
            depth += 1
        elif piece in ")]}":
            depth = max(depth - 1, 0)
        elif piece == ";" and depth == 0:
            found.append(_declaration(text[start : match.start()]))
            start = match.end()
    found.append(_declaration(text[start:]))
    return [declared for declared in found if declared]


def read_sheet(text: str, sheet: Sheet, may_match: Callable[[str], bool] | None = None) -> None:
    """Add the rules of a style sheet that apply on a screen to `sheet`.

    Args:
        text: The style sheet.
        sheet: The result.
        may_match: Returns whether a selector can match any element; the other rules may be omitted.
    """
    if "/*" in text:
        text = _COMMENT.sub(" ", text)
    text = text.replace("<!--", " ").replace("-->", " ")
    _read_nested(text[_read_flat(text, sheet, may_match) :], sheet, may_match)


def _read_flat(text: str, sheet: Sheet, may_match: Callable[[str], bool] | None) -> int:
    """Parse a sheet only by its braces, which is much faster, up to where that would be wrong; return that place.

    It is wrong in the outermost block with a brace in a string or in brackets, or with a nested rule.
    """
    stack, stray = [_Block("group")], False
    read, start, known = 0, 0, len(sheet.rules)
    for piece in text.split("}"):
        if len(stack) == 1 and not stray:
            start, known = read, len(sheet.rules)
        read += len(piece) + 1
        parts = piece.split("{")
        if not (is_plain(piece) or all(map(is_closed, parts))):
            del sheet.rules[known:]
            return start
        body = parts.pop()
        block = stack[-1]
        if len(parts) == 1 and not stray and block.kind in {"group", "skip"} and not block.selector:
            prelude = parts[0].strip()
            if block.kind == "skip":
                continue
            if prelude[:1] != "@" and "&" not in prelude and ";" not in prelude:
                wanted = len(prelude) <= _MAX_SELECTOR and (may_match is None or may_match(prelude))
                if wanted and (declared := _told(body)):
                    sheet.rules.append(StyleRule(prelude, tuple(declared), block.layer))
                continue
        for prelude in parts:
            block = stack[-1]
            if block.kind == "rule":
                del sheet.rules[known:]
                return start
            statements, semicolon, prelude = prelude.rpartition(";")
            if semicolon:
                stray = False
                for statement in statements.split(";"):
                    _end_statement(statement, block, sheet)
            opened = _Block("skip") if stray else _open(prelude.strip(), block, sheet, deep=len(stack) > _MAX_DEPTH)
            stray = False
            stack.append(_if_wanted(opened, may_match))
        block = stack[-1]
        if block.kind in {"rule", "frame", "property"}:
            block.declared.extend(_told(body) if block.kind != "property" else declarations(body))
        elif block.kind == "group" and "@layer" in body.lower():
            for statement in body.split(";"):
                _end_statement(statement, block, sheet)
        if len(stack) > 1:
            _close(stack.pop(), sheet)
        else:
            stray = True
    for block in reversed(stack[1:]):
        _close(block, sheet)
    return len(text)


def _told(body: str) -> list[Declaration]:
    """Return the declarations of a rule that may affect visibility."""
    parts = body.split(";")
    if "\\" in body or not (is_plain(body) or all(map(is_closed, parts))):
        every = declarations(body)
        return [declared for declared in every if declared.name.startswith("--") or is_told(declared.name)]
    return [declared for part in parts if (declared := _told_part(part))]


def _if_wanted(block: _Block, may_match: Callable[[str], bool] | None) -> _Block:
    """Return a block, or one that is ignored for a rule that matches no element: nor do the rules nested in it."""
    unwanted = block.kind == "rule" and may_match is not None and not may_match(block.selector)
    return _Block("skip") if unwanted else block


def _read_nested(text: str, sheet: Sheet, may_match: Callable[[str], bool] | None) -> None:
    """Parse a sheet character by character."""
    stack, start, brackets = [_Block("group")], 0, 0
    for match in _PIECE.finditer(text):
        piece, block = match[0], stack[-1]
        if piece in "([":
            brackets += 1
        elif piece in ")]":
            brackets = max(brackets - 1, 0)
        elif brackets or piece not in "{};":
            continue
        elif piece == "{":
            opened = _open(text[start : match.start()].strip(), block, sheet, deep=len(stack) > _MAX_DEPTH)
            stack.append(_if_wanted(opened, may_match))
            start = match.end()
        elif piece == "}" and len(stack) == 1:
            continue  # part of the next selector, which it makes invalid
        else:
            if block.kind != "skip":
                _end_statement(text[start : match.start()], block, sheet)
            start = match.end()
            if piece == "}" and len(stack) > 1:
                _close(stack.pop(), sheet)
    _end_statement(text[start:], stack[-1], sheet)
    for block in reversed(stack[1:]):
        _close(block, sheet)


def _declaration(text: str) -> Declaration | None:
    return _known(text) if len(text) <= _COMMON else _read(text)


@lru_cache(maxsize=2048)
def _known(text: str) -> Declaration | None:
    return _read(text)


def _told_part(text: str) -> Declaration | None:
    return _common(text) if len(text) <= _COMMON else _telling(text)


def _telling(text: str) -> Declaration | None:
    """Parse a declaration that may affect visibility."""
    name = text.partition(":")[0].strip()
    return _declaration(text) if name.startswith("--") or is_told(name.lower()) else None


@lru_cache(maxsize=4096)
def _common(text: str) -> Declaration | None:
    return _telling(text)


def _read(text: str) -> Declaration | None:
    name, colon, value = text.partition(":")
    if not colon:
        return None
    if "\\" in text:
        name, value = _unescape(name), _unescape(value)
    name = name.strip()
    if not _NAME.fullmatch(name):
        return None
    important = False
    if "!" in value:
        value, count = _IMPORTANT.subn("", value)
        important = bool(count)
    custom = name.startswith("--")
    value = " ".join(value.split())
    lowered = value.lower()  # except the names of custom properties
    return (
        Declaration(name if custom else name.lower(), value if "var(" in lowered else lowered, important)
        if value
        else None
    )


def _unescape(text: str) -> str:
    def char(match: re.Match[str]) -> str:
        if match[2]:
            return match[2]
        code = int(match[1], 16)
        char = chr(code) if 0 < code < 0x110000 and not 0xD800 <= code < 0xE000 else "\ufffd"
        return "\ufffd" if char.isspace() else char  # `display: none\9` is only for old browsers

    return _ESCAPE.sub(char, text)


def _open(prelude: str, around: _Block, sheet: Sheet, *, deep: bool) -> _Block:
    """Return the block that begins after `prelude`."""
    if deep or around.kind in {"skip", "frame"}:
        return _Block("skip")
    if around.kind == "frames":
        stops = {stop.strip().lower() for stop in prelude.split(",")}
        place = "" if not stops.isdisjoint(_LAST) else BETWEEN if stops.isdisjoint(_FIRST) else REVERSED
        return _Block("frame", around.selector + place)
    if not prelude.startswith("@"):
        if len(prelude) > _MAX_SELECTOR or "}" in prelude:
            return _Block("skip")
        if around.kind == "group" and not around.selector and "&" in prelude and "[" not in prelude:
            prelude = prelude.replace("&", ":root")
        if around.kind == "group" and not around.selector:
            return _Block("rule", prelude, around.layer)
        scoped = around.kind == "group"
        prelude = prelude.replace(":scope", "&") if scoped else prelude
        selector = _nested(prelude, around.selector)
        if around.end and selector:
            inside = f":is({selector})" if "," in selector else selector
            selector = f"{inside}:not(:is({around.end}), :is({around.end}) *)"
        return _Block("rule", selector, around.layer)
    name, _, rest = " ".join(prelude[1:].split()).partition(" ")
    name, paren, more = name.lower().partition("(")
    rest = (paren + more + " " + rest).strip()
    return _open_at(name, rest, around, sheet)


def _open_at(name: str, rest: str, around: _Block, sheet: Sheet) -> _Block:
    inside = _Block(around.kind, around.selector, around.layer, around.end, around.path)
    if name == "media":
        return inside if on_screen(rest) else _Block("skip")
    if name == "supports":
        return inside if is_supported(rest) else _Block("skip")
    if name == "container":
        return inside if sheet.contained and in_container(rest) else _Block("skip")
    if name == "layer":
        inside.path = f"{around.path}.{rest or f'({len(sheet.layers)})'}".lstrip(".")
        inside.layer = _layer(inside.path, sheet)
        return inside
    if name == "property":
        return _Block("property", rest)
    if name == "scope" and not rest:
        return inside
    if name == "scope":
        match = _SCOPE.fullmatch(rest)
        return _Block("group", match[1].strip(), around.layer, end=match[2] or "") if match else _Block("skip")
    if name.endswith("keyframes"):
        rest = rest.strip("\"' ")
        for place in ("", REVERSED, BETWEEN):
            sheet.keyframes.setdefault(rest + place, {})
        return _Block("frames", rest)
    return _Block("skip")


def _layer(name: str, sheet: Sheet) -> int:
    """Return the place of a layer in the order of precedence; that of one within another is before it."""
    whole, place, width = "", 0, _LAYERS**_LEVELS
    for part in name.strip().split(".", _LEVELS)[:_LEVELS]:
        around, whole = whole, f"{whole}.{part.strip()}".lstrip(".")
        if whole not in sheet.layers:
            beside = sheet.inside[around] = min(sheet.inside.get(around, 0) + 1, _LAYERS - 1)
            sheet.layers[whole] = (place - width if around else 0) + beside * (width // _LAYERS)
        place, width = sheet.layers[whole], width // _LAYERS
    return place


def _nested(selector: str, parent: str) -> str:
    parent = f":is({parent})" if "," in parent else parent
    if len(selector) + len(parent) * max(selector.count("&"), 1) > _MAX_SELECTOR:
        return ""
    arms = (arm.strip() for arm in selector.split(",")) if "(" not in selector else (selector,)
    return ", ".join(arm.replace("&", parent) if "&" in arm else f"{parent} {arm}" for arm in arms)


def _end_statement(text: str, block: _Block, sheet: Sheet) -> None:
    text = text.strip()
    if not text:
        return
    if block.kind in {"rule", "frame", "property"}:
        if declared := _declaration(text) if "\\" in text or block.kind == "property" else _told_part(text):
            block.declared.append(declared)
    elif block.kind == "group" and text[:6].lower() == "@layer":
        for name in text[6:].split(",")[:_LAYERS]:
            _layer(f"{block.path}.{name.strip()}".lstrip("."), sheet)


def _close(block: _Block, sheet: Sheet) -> None:
    if block.kind == "rule" and block.declared and block.selector:
        sheet.rules.append(StyleRule(block.selector, tuple(block.declared), block.layer))
    elif block.kind == "property":
        said = {declared.name: declared.value for declared in block.declared}
        sheet.initial[block.selector] = said.get("initial-value", "")
    elif block.kind == "frame":
        frame = {declared.name: declared.value for declared in block.declared if not declared.important}
        sheet.keyframes[block.selector].update(frame)
