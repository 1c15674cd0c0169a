"""Parser of style sheets to flat rules, for `style` elements and attributes on a screen.

Follows CSS Syntax 3 (https://www.w3.org/TR/css-syntax-3/), CSS Nesting 1, and Media Queries 5 for conditions. Linear in
the sheet's length. A sheet is split at its braces and semicolons, after those in strings and URLs have been taken out:
no value that counts here has any. Conditions are evaluated for a desktop screen; an unknown one does not hold, since a
rule that is not applied hides nothing.
"""

from __future__ import annotations

import re
from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass, field
from functools import lru_cache
from typing import Final, NamedTuple

from groundwire.reading.css.at_rules import in_container, is_supported, on_screen
from groundwire.reading.css.longhands import affects_visibility, longhands, may_hide
from groundwire.reading.css.values import comma_parts

Layer = tuple[int, ...]
"""The place of a cascade layer, level by level, in the order in which they appear; later ones take precedence."""

_OWN_RULES: Final = 1 << 60
"""The place of a layer's own rules: they take precedence over those of the layers in it."""

UNLAYERED: Final[Layer] = (_OWN_RULES,)
DEFAULTS: Final[Layer] = (-1,)
"""The layer of what attributes and browsers declare."""

OTHERS: Final = " others"
"""After the name of an animation, the key of all its frames but the last."""
_LAST_STOPS: Final = frozenset({"to", "100%"})
_MAX_LEVELS: Final = 5  # of layers in layers
_MAX_DEPTH: Final = 24
_MAX_SELECTOR: Final = 2_000  # characters
COMMENT: Final = re.compile(r"/\*.*?(?:\*/|\Z)", re.DOTALL)
_ESCAPE: Final = re.compile(r"\\(?:([0-9a-fA-F]{1,6})[ \t\n]?|(.))", re.DOTALL)
_QUOTED: Final = re.compile(
    r"""(["'\\(](?:(?<=")(?:[^"\\\n]|\\.)*"?|(?<=')(?:[^'\\\n]|\\.)*'?|(?<=\\).|(?<=[uU][rR][lL]\()\s*+[^"')\s][^)]*+\)?))""",
    re.DOTALL,
)
"""A string, an escape or the parentheses of a URL. It begins with a class of characters, which skips other text several
times faster."""
_SIGNS: Final = re.compile("[;{}]")
_MAX_CACHED: Final = 60  # characters of a declaration that is likely to be repeated
_SCOPE: Final = re.compile(r"\(.+\)")
_COMPLEX: Final = re.compile(r"[,\s>+~]")
"""A sign in selectors of more than one element, and in lists of selectors."""
_CONDITIONS: Final[Mapping[str, Callable[[str], bool]]] = {
    "media": on_screen, "supports": is_supported, "container": in_container
}  # fmt: skip
_ENV: Final = re.compile(r"env\(([\w\s-]+)(?:,([^()]*))?\)", re.IGNORECASE)
_IMPORTANT: Final = re.compile(r"(?<!\s)\s*!\s*important\s*\Z", re.IGNORECASE)


class Declaration(NamedTuple):
    """A longhand and its value in lower case, or a custom property, one with `var()`, or `content`, as written."""

    name: str
    value: str
    important: bool


class StyleRule(NamedTuple):
    """A rule: selectors and declarations."""

    selectors: Sequence[str]
    """Those of its selectors that may match an element, with nesting resolved."""
    declarations: tuple[Declaration, ...]
    """The declarations, in order."""
    layer: Layer = UNLAYERED
    """Its cascade layer."""


@dataclass(slots=True)
class Sheet:
    """The rules that apply on a screen."""

    rules: list[StyleRule] = field(default_factory=list)
    keyframes: dict[str, dict[str, str]] = field(default_factory=dict)
    """The properties of the last frame of each animation, and of the others what shows most; see `OTHERS`."""
    initial: dict[str, str] = field(default_factory=dict)
    """The initial values of registered custom properties."""
    layers: dict[str, int] = field(default_factory=dict)
    """The place of each layer by its full name."""


@dataclass(slots=True)
class _Block:
    """An open block of a sheet."""

    kind: str
    """`group` holds rules, `rule` declarations, `frames` the frames of an animation, `frame` one, `property` what is
    registered of a custom property; `skip` is ignored."""
    selector: str = ""
    layer: Layer = UNLAYERED
    path: str = ""
    """The full name of its cascade layer."""
    selectors: Sequence[str] = ()
    """Those in `selector` that may match an element."""
    declared: list[Declaration] = field(default_factory=list)


def declarations(text: str) -> list[Declaration]:
    """Parse the declarations of a `style` attribute that may affect visibility, in order."""
    return _relevant(_without_structure(text))


def _without_structure(text: str) -> str:
    """Take out comments, and escape the braces and semicolons in strings and URLs."""
    if "/*" in text:
        text = COMMENT.sub(" ", text)
    if '"' in text or "'" in text or "\\" in text or "(" in text:
        parts = _QUOTED.split(text)
        if _SIGNS.search("".join(parts[1::2])) is not None:
            parts[1::2] = map(_escaped, parts[1::2])
            text = "".join(parts)
    return text


def _escaped(piece: str) -> str:
    """Return a string, a URL, or an escape with its braces and semicolons as escapes, which mean the same."""
    if _SIGNS.search(piece) is None:
        return piece
    piece = piece.removeprefix("\\")
    return piece.replace(";", r"\3b ").replace("{", r"\7b ").replace("}", r"\7d ")  # `translate` takes 50 times as long


def read_sheet(text: str, sheet: Sheet, split: Callable[[str], Sequence[str]] = comma_parts) -> None:
    """Add the rules of a style sheet that apply on a screen to `sheet`.

    Args:
        text: The style sheet.
        sheet: The result.
        split: Returns those selectors of a list that may match an element; a rule without any is omitted.
    """
    text = _without_structure(text).replace("<!--", " ").replace("-->", " ")
    stack, stray = [_Block("group")], ""
    for piece in text.split("}"):
        parts = (stray + piece).split("{")
        body, stray, block = parts.pop(), "", stack[-1]
        if len(parts) == 1 and block.kind in {"skip", "group"}:
            prelude = parts[0].strip()  # most rules are in no other one
            if block.kind == "skip":
                continue
            if prelude[:1] not in {"@", "}"} and "&" not in prelude and ";" not in prelude:
                selectors = split(prelude) if len(prelude) <= _MAX_SELECTOR else ()
                if selectors and (declared := _relevant(body)):
                    sheet.rules.append(StyleRule(selectors, tuple(declared), block.layer))
                continue
        for prelude in parts:
            block = stack[-1]
            statements, _, prelude = prelude.rpartition(";")
            _end_statements(statements, block, sheet)
            if block.kind == "rule":  # what is nested in it comes after what precedes it
                _close(block, sheet)
                block.declared.clear()
            opened = _open(prelude.strip(), block, sheet, deep=len(stack) > _MAX_DEPTH)
            if opened.kind == "rule":
                opened.selectors = split(opened.selector) if opened.selector else ()
                opened.kind = "rule" if opened.selectors else "skip"  # nor do the rules nested in it match
            stack.append(opened)
        _end_statements(body, stack[-1], sheet)
        if len(stack) > 1:
            _close(stack.pop(), sheet)
        else:
            stray = "}"  # part of the next selector, which it makes invalid
    for block in reversed(stack[1:]):
        _close(block, sheet)


def _relevant(body: str) -> list[Declaration]:
    """Return what declarations of a rule may affect visibility."""
    cached, direct = _longhands_of, _longhands_of.__wrapped__
    return [row for part in body.split(";") for row in (cached(part) if len(part) <= _MAX_CACHED else direct(part))]


@lru_cache(maxsize=4096)
def _longhands_of(text: str) -> tuple[Declaration, ...]:
    """Parse a declaration that may affect visibility; nothing for any other."""
    name, colon, value = text.partition(":")
    if "\\" in text:
        name, value = _unescape(name), _unescape(value)
    name, value = name.strip(), " ".join(value.split())
    is_custom = name.startswith("--") and colon != ""  # its value may be empty
    name = name if is_custom else name.lower()
    if not is_custom and not (value and affects_visibility(name)):
        return ()
    if "env(" in value:  # a window without a notch
        value = _ENV.sub(lambda match: "0px" if "safe-area" in match[1] else (match[2] or "").strip(), value)
    value, important = _IMPORTANT.subn("", value) if "!" in value else (value, 0)
    lowered = value.lower()  # not in the names of custom properties, or strings
    value = value if "var(" in lowered or name == "content" else lowered
    if is_custom or "var(" in value or name == "content":
        return (Declaration(name, value, bool(important)),)
    return tuple(Declaration(longhand, part, bool(important)) for longhand, part in longhands(name, value))


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
        return _Block("frame", around.selector + (OTHERS if stops.isdisjoint(_LAST_STOPS) else ""))
    if not prelude.startswith("@"):
        if len(prelude) > _MAX_SELECTOR or "}" in prelude:
            return _Block("skip")
        if around.kind == "group":
            return _Block("rule", prelude.replace("&", ":root"), around.layer, around.path)
        return _Block("rule", _nested(prelude.replace(":scope", "&"), around.selector), around.layer, around.path)
    name, _, condition = " ".join(prelude[1:].split()).partition(" ")
    name, paren, more = name.lower().partition("(")
    condition = (paren + more + " " + condition).strip()
    return _open_at(name, condition, around, sheet)


def _open_at(name: str, text: str, around: _Block, sheet: Sheet) -> _Block:
    inside = _Block(around.kind, around.selector, around.layer, around.path)
    if name in _CONDITIONS:
        return inside if _CONDITIONS[name](text) else _Block("skip")
    if name == "layer":
        inside.path = f"{around.path}.{text or f'({len(sheet.layers)})'}".lstrip(".")
        inside.layer = _layer(inside.path, sheet)
        return inside
    if name == "scope" and "to (" not in text:
        root = text[1:-1] if _SCOPE.fullmatch(text) else ":root"
        return _Block("rule", f":where({root})", around.layer, around.path)
    if name == "property":
        return _Block("property", text)
    if name.endswith("keyframes"):
        text = text.strip("\"' ")
        for key in (text, text + OTHERS):
            sheet.keyframes.setdefault(key, {})
        return _Block("frames", text)
    return _Block("skip")


def _layer(name: str, sheet: Sheet) -> Layer:
    parts = [part.strip() for part in name.split(".", _MAX_LEVELS)[:_MAX_LEVELS]]
    paths = (".".join(parts[: level + 1]) for level in range(len(parts)))
    return (*(sheet.layers.setdefault(path, len(sheet.layers)) for path in paths), _OWN_RULES)


def _nested(selector: str, parent: str) -> str:
    as_part = f":is({parent})" if _COMPLEX.search(parent) else parent  # one element, wherever those around it are
    if len(selector) + len(as_part) * max(selector.count("&"), 1) > _MAX_SELECTOR:
        return ""
    parent = as_part if "," in parent else parent
    arms = comma_parts(selector)
    arms = [arm if "&" in arm else f"& {arm}" for arm in arms]
    return ", ".join((parent + arm[1:] if arm[0] == "&" else arm).replace("&", as_part) for arm in arms)


def _end_statements(text: str, block: _Block, sheet: Sheet) -> None:
    if block.kind in {"rule", "frame"}:
        block.declared += _relevant(text)
    elif block.kind == "property":
        for name, _, value in (part.partition(":") for part in text.split(";")):
            if name.strip().lower() == "initial-value":
                sheet.initial[block.selector] = " ".join(value.split())
    elif block.kind == "group" and "@" in text:
        for statement in text.split(";"):
            if (layers := statement.strip())[:6].lower() == "@layer":
                for name in layers[6:].split(","):
                    _layer(f"{block.path}.{name}".lstrip("."), sheet)


def _close(block: _Block, sheet: Sheet) -> None:
    if block.kind == "rule" and block.declared:
        sheet.rules.append(StyleRule(block.selectors, tuple(block.declared), block.layer))
    elif block.kind == "frame":
        frame, is_other = sheet.keyframes[block.selector], block.selector.endswith(OTHERS)
        for name, value, important in block.declared:
            is_plain = not important and "var(" not in value and not name.startswith("--")
            if is_plain and not (is_other and name in frame and may_hide(name, value)):
                frame[name] = value
