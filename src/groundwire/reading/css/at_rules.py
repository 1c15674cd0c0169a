"""Evaluation of the conditions of `@media`, `@supports`, and `@container`.

Sources: Media Queries 5 (https://www.w3.org/TR/mediaqueries-5/), CSS Conditional Rules 5. Evaluated for a desktop
    screen; for an unknown condition, neither it nor its negation holds, since a rule that is not applied hides nothing.
"""

from __future__ import annotations

import operator
import re
from collections.abc import Callable, Mapping
from functools import lru_cache
from typing import Final

from groundwire.reading.css.longhands import affects_visibility, longhands
from groundwire.reading.css.values import SCREEN_HEIGHT, SCREEN_WIDTH, pixels

_Judge = Callable[[str], bool | None]
"""Evaluates the condition in parentheses; None if unknown."""

_SPACE: Final = re.compile(r"\s+")
_GROUP: Final = re.compile(r"(?<![\w-])(selector|font-[a-z]+|)\(((?:[\w-]\((?:[^()]|\([^()]*+\))*+\)|[^()])*+)\)")
"""Parentheses that hold no other ones, but for those of functions."""
_VERDICTS: Final[Mapping[str, bool | None]] = {"1": True, "0": False, "?": None}
_LOGIC: Final = frozenset({"and", "or", "not", *_VERDICTS})
_TYPE: Final = re.compile(r"(?:(not|only)\s+)?(?!not\b|only\b)([a-z-]+)(?:\s+and\s+|$)")
_FEATURE: Final = re.compile(r"(?:-webkit-)?(min-|max-|)(?:device-)?([a-z0-9-]+)\s*(?::\s*(.*))?")
_RANGE: Final = re.compile(
    r"(?:([\w.+/-]+)\s*([<>]=?)\s*)?((?:device-)?(?:width|height)|(?:inline|block)-size|aspect-ratio|resolution)"
    r"\s*(?:([<>]=?|=)\s*([\w.+/-]+))?"
)
_COMPARISONS: Final[Mapping[str, Callable[[float, float], bool]]] = {
    "min-": operator.ge, "max-": operator.le, "": operator.eq, "=": operator.eq, "<": operator.lt, ">": operator.gt,
    "<=": operator.le, ">=": operator.ge,
}  # fmt: skip
_SIZES: Final[Mapping[str, float]] = {
    "width": SCREEN_WIDTH, "height": SCREEN_HEIGHT, "inline-size": SCREEN_WIDTH, "block-size": SCREEN_HEIGHT,
    "aspect-ratio": SCREEN_WIDTH / SCREEN_HEIGHT, "resolution": 1.0, "pixel-ratio": 1.0,
}  # fmt: skip
_RATIO: Final = re.compile(r"(\d+(?:\.\d+)?)\s*(?:/\s*(\d*[1-9]\d*)|dppx|x)?")
_CONTAINER_NAME: Final = re.compile(r"\A(?!not\b)[\w-]+ (?=[(n])", re.IGNORECASE)
"""The name of a container before its condition, of which one may begin with `not`."""
_MAX_DEPTH: Final = 12
_MAX_CACHED: Final = 120  # characters of a query that is likely to be repeated on other pages
_FOREIGN_PREFIXES: Final = ("-ms-", "-moz-", "-o-", "-khtml-", "-apple-")
"""Prefixes of properties and values of other browsers only."""
_DESKTOP_FEATURES: Final[Mapping[str, tuple[str, ...]]] = {
    "prefers-color-scheme": ("light",), "prefers-reduced-motion": ("no-preference",), "orientation": ("landscape",),
    "hover": ("hover", ""), "any-hover": ("hover",), "pointer": ("fine", ""), "any-pointer": ("fine",), "color": ("",),
    "width": ("",), "height": ("",), "scripting": ("enabled", ""), "update": ("fast",), "grid": ("0",),
    "display-mode": ("browser",), "prefers-contrast": ("no-preference",), "forced-colors": ("none",),
    "prefers-reduced-transparency": ("no-preference",), "color-gamut": ("srgb",), "dynamic-range": ("standard",),
    "monochrome": ("0",),
}  # fmt: skip
"""The values of media features that a desktop screen has; an empty one if it has the feature."""


def on_screen(query: str) -> bool:
    """Return whether a media query list matches a desktop screen."""
    return _on_screen(query) if len(query) <= _MAX_CACHED else _on_screen.__wrapped__(query)


@lru_cache(maxsize=1024)
def _on_screen(query: str) -> bool:
    query = _SPACE.sub(" ", query.lower()).strip()
    return not query or any(_media(part.strip()) is True for part in query.split(","))


def in_container(condition: str) -> bool:
    """Return whether an `@container` condition matches a container as large as the screen.

    Of two twins, one for narrow and one for wide containers, exactly one is shown then, as in a browser.
    """
    return "(" in condition and on_screen(_CONTAINER_NAME.sub("", condition))


def is_supported(condition: str) -> bool:
    """Return whether a current browser supports an `@supports` condition."""
    return _condition(_SPACE.sub(" ", condition.lower()).strip(), _supports) is True


def _media(query: str) -> bool | None:
    """Return whether a single media query matches."""
    if match := _TYPE.match(query):
        holds: bool | None = match[2] in {"all", "screen"}
        condition = query[match.end() :]
        if condition:
            holds = holds and _condition(condition, _feature)
        return (None if holds is None else not holds) if match[1] == "not" else holds
    return _condition(query, _feature)


def _condition(text: str, judge: _Judge) -> bool | None:
    """Evaluate a condition of parentheses, `and`, `or` and `not`, from the innermost ones on."""

    def verdict(group: re.Match[str]) -> str:
        name, inside = group[1], group[2].strip()
        is_logic = not name and _LOGIC.issuperset(inside.split())
        holds = _combined(inside) if is_logic else judge(f"{name}({inside})" if name else inside)
        return " ? " if holds is None else f" {holds:d} "

    for _ in range(_MAX_DEPTH):
        text, before = _GROUP.sub(verdict, text), text
        if text == before:
            break
    return _combined(text)


def _combined(text: str) -> bool | None:
    """Evaluate verdicts between the words `and`, `or` and `not`."""
    words = text.split()
    if not _LOGIC.issuperset(words) or {"and", "or"} <= set(words):
        return None
    pairs = [(before, _VERDICTS[word]) for before, word in zip(["", *words], words, strict=False) if word in _VERDICTS]
    verdicts = [holds if holds is None else holds != (before == "not") for before, holds in pairs]
    decisive = "or" in words
    if decisive in verdicts or not verdicts:
        return decisive if verdicts else None
    return None if None in verdicts else not decisive


def _feature(text: str) -> bool | None:
    """Evaluate a media feature for a desktop screen; None if it is unknown."""
    if (match := _RANGE.fullmatch(text)) and (match[2] or match[4]):
        size = _SIZES[match[3].removeprefix("device-")]
        verdicts = [_compare(_number(match[1]), match[2], size)] if match[2] else []
        verdicts += [_compare(size, match[4], _number(match[5]))] if match[4] else []
        return None if None in verdicts else all(verdicts)
    if (match := _FEATURE.fullmatch(text)) is None:
        return None
    bound, name, value = match[1], match[2], (match[3] or "").strip()
    if value and name in _SIZES:
        return _compare(_SIZES[name], bound, _number(value))
    return value in _DESKTOP_FEATURES[name] if name in _DESKTOP_FEATURES and not bound else None


def _number(value: str) -> float | None:
    """Return a length in pixels, or a ratio."""
    if (length := pixels(value)) is not None:
        return length
    match = _RATIO.fullmatch(value)
    return float(match[1]) / float(match[2] or 1) if match else None


def _compare(left: float | None, sign: str, right: float | None) -> bool | None:
    return None if left is None or right is None else _COMPARISONS[sign](left, right)


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
    return any(longhands(name, value)) if affects_visibility(name) else None
