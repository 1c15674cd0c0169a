"""Parser of style sheets to flat rules, for `style` elements and attributes on a screen.

Follows CSS Syntax 3 (https://www.w3.org/TR/css-syntax-3/), CSS Nesting 1, and Media Queries 5 for conditions. Linear in
the sheet's length. A sheet is split at its braces and semicolons, after those in strings and URLs have been taken out:
no value that counts here has any. Conditions are evaluated for a desktop screen; an unknown one does not hold, since a
rule that is not applied hides nothing.
"""

from __future__ import annotations

import re
from collections.abc import Callable
from dataclasses import dataclass, field
from functools import lru_cache
from typing import Final, NamedTuple

from groundwire.reading.css.at_rules import in_container, is_supported, on_screen
from groundwire.reading.css.longhands import affects_visibility

__all__ = ["OTHERS", "UNLAYERED", "Declaration", "Sheet", "StyleRule", "declarations", "read_sheet"]

UNLAYERED: Final = 1 << 60
"""The layer of unlayered rules; later layers take precedence, and this one over all."""

OTHERS: Final = " others"
"""After the name of an animation, the key of all its frames but the last."""
_LAST_STOPS: Final = frozenset({"to", "100%"})
_MAX_LAYERS: Final = 1_000  # in one layer; further ones have the place of the last
_MAX_LEVELS: Final = 5  # of layers in layers
_MAX_DEPTH: Final = 24
_MAX_SELECTOR: Final = 2_000  # characters
_COMMENT: Final = re.compile(r"/\*.*?(?:\*/|\Z)", re.DOTALL)
_ESCAPE: Final = re.compile(r"\\(?:([0-9a-fA-F]{1,6})[ \t\n]?|(.))", re.DOTALL)
_QUOTED: Final = re.compile(
    r"""(["'\\uU](?:(?<=")(?:[^"\\\n]|\\.)*"?|(?<=')(?:[^'\\\n]|\\.)*'?|(?<=\\).|(?<=[uU])[rR][lL]\(\s*+[^"')\s][^)]*+\)?))""",
    re.DOTALL,
)
"""A string, an escape or a URL. It begins with a class of characters, which skips other text several times faster."""
_STRUCTURE: Final = str.maketrans({";": r"\3b ", "{": r"\7b ", "}": r"\7d "})
"""Braces and semicolons as escapes, which mean the same in a string."""
_SIGNS: Final = re.compile("[;{}]")
_SCOPE: Final = re.compile(r"\A\((.*)\)\Z")
_MAX_CACHED: Final = 60  # characters of a declaration that is likely to be repeated
_NAME: Final = re.compile(r"-{0,2}[a-z_][\w-]*|--[\w-]+", re.IGNORECASE)
_IMPORTANT: Final = re.compile(r"(?<!\s)\s*!\s*important\s*\Z", re.IGNORECASE)


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
    """The properties of the last frame of each animation, and of the others; see `OTHERS`."""
    initial: dict[str, str] = field(default_factory=dict)
    """The initial values of registered custom properties."""
    layers: dict[str, int] = field(default_factory=dict)
    """The place of each layer in the order of precedence."""
    inside: dict[str, int] = field(default_factory=dict)
    """How many layers each layer has; the key of those in no other is empty."""


@dataclass(slots=True)
class _Block:
    """An open block of a sheet."""

    kind: str
    """`group` holds rules, `rule` declarations, `frames` the frames of an animation, `frame` one; `skip` is ignored."""
    selector: str = ""
    layer: int = UNLAYERED
    path: str = ""
    """The full name of its cascade layer."""
    declared: list[Declaration] = field(default_factory=list)


def declarations(text: str) -> list[Declaration]:
    """Parse the declarations of a `style` attribute that may affect visibility, in order."""
    return _relevant(_without_structure(text))


def _without_structure(text: str) -> str:
    """Take out comments, and escape the braces and semicolons in strings and URLs."""
    if "/*" in text:
        text = _COMMENT.sub(" ", text)
    if '"' in text or "'" in text or "\\" in text or "(" in text:
        parts = _QUOTED.split(text)
        if _SIGNS.search("".join(parts[1::2])) is not None:
            parts[1::2] = map(_escaped, parts[1::2])
            text = "".join(parts)
    return text


def _escaped(piece: str) -> str:
    if _SIGNS.search(piece) is None:
        return piece
    return (piece[1:] if piece[0] == "\\" else piece).translate(_STRUCTURE)


def read_sheet(text: str, sheet: Sheet, may_match: Callable[[str], bool] | None = None) -> None:
    """Add the rules of a style sheet that apply on a screen to `sheet`.

    Args:
        text: The style sheet.
        sheet: The result.
        may_match: Returns whether a selector can match any element; the other rules may be omitted.
    """
    text = _without_structure(text).replace("<!--", " ").replace("-->", " ")
    stack, stray = [_Block("group")], ""
    for piece in text.split("}"):
        parts = (stray + piece).split("{")
        body, stray, block = parts.pop(), "", stack[-1]
        if len(parts) == 1 and block.kind in {"skip", "group"} and not block.selector:
            prelude = parts[0].strip()  # most rules are in no other one
            if block.kind == "skip":
                continue
            if prelude[:1] not in {"@", "}"} and "&" not in prelude and ";" not in prelude:
                is_rule = len(prelude) <= _MAX_SELECTOR and (may_match is None or may_match(prelude))
                if is_rule and (declared := _relevant(body)):
                    sheet.rules.append(StyleRule(prelude, tuple(declared), block.layer))
                continue
        for prelude in parts:
            block = stack[-1]
            statements, _, prelude = prelude.rpartition(";")
            _end_statements(statements, block, sheet)
            opened = _open(prelude.strip(), block, sheet, deep=len(stack) > _MAX_DEPTH)
            is_foreign = opened.kind == "rule" and may_match is not None and not may_match(opened.selector)
            stack.append(_Block("skip") if is_foreign else opened)  # nor do the rules nested in it match
        _end_statements(body, stack[-1], sheet)
        if len(stack) > 1:
            _close(stack.pop(), sheet)
        else:
            stray = "}"  # part of the next selector, which it makes invalid
    for block in reversed(stack[1:]):
        _close(block, sheet)


def _relevant(body: str) -> list[Declaration]:
    """Return the declarations of a rule that may affect visibility."""
    cached, direct = _relevant_declaration, _relevant_declaration.__wrapped__
    return [row for part in body.split(";") if (row := cached(part) if len(part) <= _MAX_CACHED else direct(part))]


@lru_cache(maxsize=4096)
def _relevant_declaration(text: str) -> Declaration | None:
    """Parse a declaration that may affect visibility; None for any other."""
    name = text.partition(":")[0]
    name = (_unescape(name) if "\\" in name else name).strip()
    return _declaration(text) if name.startswith("--") or affects_visibility(name.lower()) else None


def _declaration(text: str) -> Declaration | None:
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
    lowered, is_text = value.lower(), name.lower() == "content"  # not in the names of custom properties, or strings
    if not value:
        return None
    return Declaration(name if custom else name.lower(), value if "var(" in lowered or is_text else lowered, important)


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
        return _Block("frame", around.selector if not stops.isdisjoint(_LAST_STOPS) else around.selector + OTHERS)
    if not prelude.startswith("@"):
        if len(prelude) > _MAX_SELECTOR or "}" in prelude:
            return _Block("skip")
        if around.kind == "group" and not around.selector:
            return _Block("rule", prelude.replace("&", ":root"), around.layer)
        if around.kind == "group":
            prelude = prelude.replace(":scope", "&")
        return _Block("rule", _nested(prelude, around.selector), around.layer)
    name, _, condition = " ".join(prelude[1:].split()).partition(" ")
    name, paren, more = name.lower().partition("(")
    condition = (paren + more + " " + condition).strip()
    return _open_at(name, condition, around, sheet)


def _open_at(name: str, text: str, around: _Block, sheet: Sheet) -> _Block:
    inside = _Block(around.kind, around.selector, around.layer, around.path)
    if name == "media":
        return inside if on_screen(text) else _Block("skip")
    if name == "supports":
        return inside if is_supported(text) else _Block("skip")
    if name == "layer":
        inside.path = f"{around.path}.{text or f'({len(sheet.layers)})'}".lstrip(".")
        inside.layer = _layer(inside.path, sheet)
        return inside
    if name == "container":
        return inside if in_container(text) else _Block("skip")
    if name == "scope":
        return _Block("skip" if " to " in text else "group", _SCOPE.sub(r"\1", text) or around.selector, around.layer)
    if name == "property":
        return _Block("property", text)
    if name.endswith("keyframes"):
        text = text.strip("\"' ")
        for key in (text, text + OTHERS):
            sheet.keyframes.setdefault(key, {})
        return _Block("frames", text)
    return _Block("skip")


def _layer(name: str, sheet: Sheet) -> int:
    """Return the place of a layer in the order of precedence; that of one within another is before it."""
    path, place, width = "", 0, _MAX_LAYERS**_MAX_LEVELS
    for part in name.strip().split(".", _MAX_LEVELS)[:_MAX_LEVELS]:
        around, path = path, f"{path}.{part.strip()}".lstrip(".")
        if path not in sheet.layers:
            beside = sheet.inside[around] = min(sheet.inside.get(around, 0) + 1, _MAX_LAYERS - 1)
            sheet.layers[path] = (place - width if around else 0) + beside * (width // _MAX_LAYERS)
        place, width = sheet.layers[path], width // _MAX_LAYERS
    return place


def _nested(selector: str, parent: str) -> str:
    parent = f":is({parent})" if "," in parent else parent
    if len(selector) + len(parent) * max(selector.count("&"), 1) > _MAX_SELECTOR:
        return ""
    arms = (arm.strip() for arm in selector.split(",")) if "(" not in selector else (selector,)
    return ", ".join(arm.replace("&", parent) if "&" in arm else f"{parent} {arm}" for arm in arms)


def _end_statements(text: str, block: _Block, sheet: Sheet) -> None:
    if block.kind in {"rule", "frame"}:
        block.declared += _relevant(text)
    elif block.kind == "property":
        block.declared += [declared for part in text.split(";") if (declared := _declaration(part))]
    elif block.kind == "group" and "@" in text:
        for statement in text.split(";"):
            if (layers := statement.strip())[:6].lower() == "@layer":
                for name in layers[6:].split(",")[:_MAX_LAYERS]:
                    _layer(f"{block.path}.{name.strip()}".lstrip("."), sheet)


def _close(block: _Block, sheet: Sheet) -> None:
    if block.kind == "rule" and block.declared and block.selector:
        sheet.rules.append(StyleRule(block.selector, tuple(block.declared), block.layer))
    elif block.kind == "property":
        values = {declared.name: declared.value for declared in block.declared}
        sheet.initial[block.selector] = values.get("initial-value", "")
    elif block.kind == "frame":
        frame = {declared.name: declared.value for declared in block.declared if not declared.important}
        sheet.keyframes[block.selector].update(frame)
