"""Evaluation of the conditions of `@media` and `@supports`.

Sources: Media Queries 5 (https://www.w3.org/TR/mediaqueries-5/), CSS Conditional Rules 5. Evaluated for a desktop
    screen; for an unknown condition, neither it nor its negation holds, since a rule that is not applied hides nothing.
"""

from __future__ import annotations

import re
from collections.abc import Callable
from functools import lru_cache, partial
from typing import Final

from groundwire.reading.css.longhands import affects_visibility, longhands
from groundwire.reading.css.values import SCREEN_HEIGHT, SCREEN_WIDTH, pixels

__all__ = ["in_container", "is_supported", "on_screen"]

_Judge = Callable[[str], bool | None]
"""Evaluates the condition in parentheses; None if unknown."""

_SPACE: Final = re.compile(r"\s+")
_WORD: Final = re.compile(r"\s*(and|or|not)(?=[\s(])")
_TYPE: Final = re.compile(r"(?:(not|only)\s+)?(?!not\b|only\b)([a-z-]+)(?:\s+and\s+|$)")
_FEATURE: Final = re.compile(r"([a-z0-9-]+)\s*(?::\s*(.*))?")
_RANGE: Final = re.compile(
    r"(?:([\w.+/-]+)\s*([<>]=?)\s*)?((?:device-)?(?:width|height|inline-size|block-size)|aspect-ratio|resolution|color)"
    r"\s*(?:([<>]=?|=)\s*([\w.+/-]+))?"
)
_RATIO: Final = re.compile(r"([\d.]+)\s*(?:/\s*([\d.]+))?")
_MAX_DEPTH: Final = 12
_MAX_CACHED: Final = 120  # characters of a query that is likely to be repeated on other pages
_FOREIGN_PREFIXES: Final = ("-ms-", "-moz-", "-o-", "-khtml-", "-apple-")
"""Prefixes of properties and values of other browsers only."""
_CONTAINER_WIDTHS: Final = (240.0, SCREEN_WIDTH)  # pixels; a condition has to hold for the narrowest and the widest
_DESKTOP_FEATURES: Final = frozenset(
    {
        ("prefers-color-scheme", "light"), ("prefers-reduced-motion", "no-preference"), ("orientation", "landscape"),
        ("hover", "hover"), ("any-hover", "hover"), ("pointer", "fine"), ("any-pointer", "fine"), ("hover", ""),
        ("pointer", ""), ("color", ""), ("width", ""), ("height", ""), ("scripting", "enabled"), ("scripting", ""),
        ("update", "fast"), ("grid", "0"), ("display-mode", "browser"), ("prefers-contrast", "no-preference"),
        ("forced-colors", "none"), ("overflow-block", "scroll"), ("color-gamut", "srgb"), ("dynamic-range", "standard"),
        ("monochrome", "0"), ("prefers-reduced-transparency", "no-preference"), ("overflow-inline", "scroll"),
        ("color-index", "0"), ("-webkit-transform-3d", ""), ("prefers-reduced-data", "no-preference"),
        ("video-color-gamut", "srgb"), ("nav-controls", ""),
    }
)  # fmt: skip


def on_screen(query: str) -> bool:
    """Return whether a media query list matches a desktop screen."""
    return _on_screen(query) if len(query) <= _MAX_CACHED else _on_screen.__wrapped__(query)


@lru_cache(maxsize=1024)
def _on_screen(query: str) -> bool:
    query = _SPACE.sub(" ", query.lower()).strip()
    return not query or any(_media(part.strip()) is True for part in query.split(","))


def is_supported(condition: str) -> bool:
    """Return whether a current browser supports an `@supports` condition."""
    return _condition(_SPACE.sub(" ", condition.lower()).strip(), _supports, 0) is True


def in_container(condition: str) -> bool:
    """Return whether an `@container` condition holds for any width of the container; its name is ignored."""
    bare = _SPACE.sub(" ", condition.lower()).strip()
    bare = bare[max(bare.find("("), 0) :] if not bare.startswith("not ") else bare
    return all(_condition(bare, partial(_size, width=width, height=width), 0) is True for width in _CONTAINER_WIDTHS)


def _media(query: str) -> bool | None:
    """Return whether a single media query matches."""
    if match := _TYPE.match(query):
        holds: bool | None = match[2] in {"all", "screen"}
        condition = query[match.end() :]
        if condition:
            holds = holds and _condition(condition, _feature, 0)
        return (None if holds is None else not holds) if match[1] == "not" else holds
    return _condition(query, _feature, 0)


def _condition(text: str, judge: _Judge, depth: int) -> bool | None:
    """Evaluate a condition of parentheses, `and`, `or` and `not`."""
    if depth > _MAX_DEPTH:
        return None
    verdicts: list[bool | None] = []
    words: set[str] = set()
    negated, position = False, 0
    while position < len(text):
        if match := _WORD.match(text, position):
            if match[1] == "not":
                negated = not negated
            else:
                words.add(match[1])
            position = match.end()
            continue
        start = text.find("(", position)
        end = _closing(text, start)
        if start < 0 or end < 0:
            return None
        name, inside = text[position:start].strip(), text[start + 1 : end].strip()
        verdict = judge(f"{name}({inside})") if name else _inside(inside, judge, depth)
        verdicts.append(verdict if verdict is None else verdict != negated)
        negated, position = False, end + 1
        while position < len(text) and text[position] == " ":
            position += 1
    if not verdicts or len(words) > 1:
        return None
    if "or" in words:
        return True if True in verdicts else None if None in verdicts else False
    return False if False in verdicts else None if None in verdicts else True


def _inside(text: str, judge: _Judge, depth: int) -> bool | None:
    return _condition(text, judge, depth + 1) if text.startswith(("(", "not ", "not(")) else judge(text)


def _closing(text: str, start: int) -> int:
    depth = 0
    for index in range(max(start, 0), len(text)):
        if text[index] == "(":
            depth += 1
        elif text[index] == ")":
            depth -= 1
            if depth == 0:
                return index
    return -1


def _feature(text: str) -> bool | None:
    """Evaluate a media feature for a desktop screen."""
    if (sized := _size(text, SCREEN_WIDTH, SCREEN_HEIGHT)) is not None:
        return sized
    match = _FEATURE.fullmatch(text)
    if match is None:
        return None
    pair = (match[1], (match[2] or "").strip())
    if pair in _DESKTOP_FEATURES:
        return True
    return False if match[1] in {name for name, _ in _DESKTOP_FEATURES} else None


def _size(text: str, width: float, height: float) -> bool | None:
    """Evaluate a numeric feature; None if it is not numeric."""
    sizes = {"width": width, "inline-size": width, "height": height, "block-size": height}
    sizes |= {"aspect-ratio": width / height, "resolution": 1.0, "color": 8.0, "-webkit-device-pixel-ratio": 1.0}
    if (match := _FEATURE.fullmatch(text)) and match[2]:
        name = match[1].replace("-webkit-min-", "min--webkit-").replace("-webkit-max-", "max--webkit-")
        bound = name[:4] if name[:4] in {"min-", "max-"} else ""
        size = sizes.get(name.removeprefix(bound).removeprefix("device-"))
        limit = _number(match[2].strip())
        if size is None or limit is None:
            return None
        return size >= limit if bound == "min-" else size <= limit if bound == "max-" else size == limit
    if (match := _RANGE.fullmatch(text)) and (match[1] or match[4]):
        size = sizes[match[3].removeprefix("device-")]
        pairs = [(_number(match[1]), match[2], size)] if match[1] else []
        verdicts = [_compare(*pair) for pair in pairs]
        if match[4]:
            verdicts.append(_compare(size, match[4], _number(match[5])))
        return None if None in verdicts else all(verdicts)
    return None


def _number(value: str) -> float | None:
    if (length := pixels(value)) is not None:
        return length
    match = _RATIO.fullmatch(value.removesuffix("dppx"))
    try:
        return float(match[1]) / float(match[2] or 1) if match else None
    except (ValueError, ZeroDivisionError):
        return None


def _compare(left: float | None, sign: str, right: float | None) -> bool | None:
    if left is None or right is None:
        return None
    if sign == "=" or left == right:
        return left == right and "=" in sign
    return left < right if sign[0] == "<" else left > right


def _supports(text: str) -> bool | None:
    """Return whether a declaration is supported, as far as it affects visibility."""
    if text.startswith("selector("):
        return ":" not in text or any(pseudo in text for pseudo in (":has(", ":is(", ":where(", ":focus"))
    if text.startswith("font-"):
        return True  # font formats, all of which are supported
    name, colon, value = text.partition(":")
    name, value = name.strip(), value.strip()
    if not colon or "(" in name:
        return None
    if name.startswith("--"):
        return True
    if name.startswith(_FOREIGN_PREFIXES) or value.startswith(_FOREIGN_PREFIXES):
        return False
    return bool(longhands(name, value)) if affects_visibility(name) else None
