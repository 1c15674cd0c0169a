"""Limits on the size of a page, applied before and after parsing.

A page over a limit is read up to it, with a warning; nothing is rejected or dropped silently. Pages that would cost a
tree parser seconds or overflow its stack (a hundred thousand siblings, ten thousand nested elements) are tokenized,
which is linear in time, without a tree or nesting.
"""

from __future__ import annotations

import re
from collections import Counter
from collections.abc import Iterator, Sequence
from dataclasses import dataclass, field
from itertools import islice
from typing import TYPE_CHECKING, Final

if TYPE_CHECKING:
    from turbohtml import Document, Element, Token

__all__ = [
    "HEAVY_BYTES",
    "MAX_DEPTH",
    "MAX_LINKS",
    "MAX_MARKUP",
    "MAX_NODES",
    "MAX_TAGS",
    "fit",
    "is_heavy",
    "shorten",
    "trim",
]

_TEXT, _START, _END, _COMMENT = range(4)  # of `turbohtml.TokenType`, which takes long to load
_MAX_KEPT: Final = 100_000  # characters of a style or of JSON-LD that are worth keeping
_LONG_TAG: Final = 2_000  # characters of a value of an attribute
_LONG_VALUE = re.compile(r"""=\s*+(?:"[^"]{2000,}+"|'[^']{2000,}+'|[^\s>"'=]{2000,}+)""")


def _tokens_with_starts(markup: str) -> Iterator[tuple[Token, int]]:
    """Yield the tokens of markup whose lines end in a line feed, and where they begin."""
    from turbohtml import tokenize

    line, begin = 1, 0
    for token in tokenize(markup, resolve_references=False, capture_attributes=False):
        while line < token.line:
            line, begin = line + 1, markup.index("\n", begin) + 1
        yield token, begin + token.col


def shorten(markup: str, length: int) -> tuple[str, bool]:
    """Shorten markup to at most `length` characters; return whether text may be missing.

    Markup other than text is removed first (scripts other than JSON-LD, huge styles, comments, attribute values of at
    least 2,000 characters), then the end, from the start of a tag.
    """
    if len(markup) > length:
        markup = _without_programs(markup)
    if len(markup) <= length:
        return markup, False
    cut = 0
    for token, start in _tokens_with_starts(markup):
        if start >= length:
            cut = length if start == length else cut
            break
        cut = length if token.type == _TEXT else start
    return markup[:cut], True


def _without_programs(markup: str) -> str:
    """Return markup without scripts, huge styles, comments, and huge attribute values."""
    from turbohtml import tokenize

    parts: list[str] = []
    program = ""
    for token in tokenize(markup, resolve_references=False, capture_source=True, capture_attributes=False):
        text, source = token.data or "", token.source or ""
        if token.type in {_START, _END}:
            parts.append(source if len(source) < _LONG_TAG else _LONG_VALUE.sub("=''", source))
            program = token.tag if token.tag in {"script", "style"} and token.type == _START else ""
        elif program and not source:
            # styles determine what is hidden
            is_telling = program == "style" or '"@context"' in text
            parts.append(text if is_telling and len(text) < _MAX_KEPT else "")
        elif token.type != _COMMENT:
            parts.append(source or text)
    return "".join(parts)


MAX_MARKUP: Final = 2_000_000
"""Characters of markup; the largest of 1,497 real pages had 1.2 million."""
MAX_TAGS: Final = 100_000
"""The number of `<`; the largest of 1,497 real pages had 19,444."""
MAX_NODES: Final = 400_000
"""Elements that a tree may get from unclosed formatting tags: 110 bytes each make 44 MB."""
MAX_DEPTH: Final = 512
"""Nesting depth, as in Chromium (kMaximumHTMLParserDOMTreeDepth)."""
MAX_LINKS: Final = 10_000
"""Links that keep their targets; of 300 real pages, the largest had 1,562."""
_MAX_ROOTS: Final = 20
HEAVY_BYTES: Final = 250_000
"""Size of a body in bytes from which a page is converted in a separate process; 121 of 1,497 real pages have more."""
_HEAVY_TAGS: Final = 5_000

_FORMATTING: Final = frozenset(
    {"a", "b", "big", "code", "em", "font", "i", "nobr", "s", "small", "strike", "strong", "tt", "u"}
)
"""The elements that a parser reopens in every later block until they are closed (HTML Standard, 13.2.4.3)."""
_BORDERS: Final = frozenset({"applet", "caption", "marquee", "object", "table", "td", "template", "th"})
"""The elements that limit which formatting elements are reopened (the markers of HTML Standard, 13.2.4.3), and tables,
with which their cells end."""
_CELLS: Final = frozenset({"caption", "td", "th"})
"""Those of them whose tags are ignored outside of tables."""
_DRAWINGS: Final = frozenset({"math", "svg"})
"""The elements in which nothing limits it; they end where a paragraph or a formatting element begins in them."""
# `a` is missing in both: a second one closes the first, so that at most one is reopened.
_NAMES: Final = (
    "[bisuBISU]|[bB][iI][gG]|[cC][oO][dD][eE]|[eE][mM]|[fF][oO][nN][tT]|[nN][oO][bB][rR]|[sS][mM][aA][lL]{2}"
    "|[sS][tT][rR](?:[iI][kK][eE]|[oO][nN][gG])|[tT]{2}"
)
_ROOT_OR_FORMATTING = re.compile(  # the name only of `html` and `body`; twice as fast as IGNORECASE
    rf"<(?=[bcefhinstuBCEFHINSTU])(?:([hH][tT][mM][lL]|[bB][oO][dD][yY])|{_NAMES})[\s/>]"
)
_ATTRIBUTES_PATTERN: Final = r"""(?:\s+[^\s<>"'=/]+(?:\s*=\s*(?:"[^"<>]*"|'[^'<>]*'|[^\s<>"'=`]+))?)*\s*/?>"""
_CLOSED_LATER = re.compile(
    rf"<(?=[bcefinstuBCEFINSTU])({_NAMES}){_ATTRIBUTES_PATTERN}"
    rf"(?=[^<>]*(?:</?(?!(?i:\1)[\s/>])(?:{_NAMES}|[aA]|(?i:span|br|img|wbr|svg|path|use)){_ATTRIBUTES_PATTERN}[^<>]*)*"
    r"</(?i:\1)\s*>)"
)
"""A formatting element that certainly ends where it seems to: its quotes are unambiguous, and its content neither
hides the end tag nor limits its scope."""


@dataclass(slots=True)
class _Open:
    """The open formatting elements inside one scope."""

    border: str
    names: Counter[str] = field(default_factory=Counter)


def is_heavy(body: bytes) -> bool:
    """Return whether converting a body may take so much time or memory that it needs a separate process.

    Args:
        body: The bytes, without any content coding; of any kind and in any encoding.
    """
    return len(body) > HEAVY_BYTES or body.count(b"<") > _HEAVY_TAGS


def fit(markup: str) -> tuple[str, bool]:
    """Shorten markup to the limits; return whether text may be missing.

    Args:
        markup: The HTML of a page, of any size.
    """
    tags = markup.count("<")
    has_many_tags = tags > MAX_TAGS
    if has_many_tags:
        markup, tags = _first_tags(markup, MAX_TAGS), MAX_TAGS
    markup, is_shortened = shorten(markup, MAX_MARKUP)
    root_names = _ROOT_OR_FORMATTING.findall(markup) if tags > _MAX_ROOTS else []
    roots = len(root_names) - root_names.count("")
    if roots > _MAX_ROOTS:
        markup = _with_few_roots(markup)
    if _may_explode(markup, tags, len(root_names) - roots) and (end := _explosion(markup)) is not None:
        return markup[:end], True
    return markup, has_many_tags or is_shortened


def _with_few_roots(markup: str) -> str:
    """Return markup without attributes of `html` and `body` in the tags after the first ones.

    The parser adds the attributes of each to the element, and copies all of it for that. The tags stay, or what is on
    both sides of one might be a tag.
    """
    parts, done, roots, surplus = [], 0, 0, False
    for token, start in _tokens_with_starts(markup):
        if surplus:
            done, surplus = start, False
        if token.type == _START and token.tag in {"html", "body"}:
            roots += 1
            if roots > _MAX_ROOTS:
                parts.append(f"{markup[done:start]}<{token.tag}>")
                done, surplus = len(markup), True
    return "".join([*parts, markup[done:]])


def trim(document: Document) -> bool:
    """Flatten elements that are nested too deeply, and unlink links over the limit.

    All text stays. Elements below the deepest level are replaced by their content, so that the tree can be walked
    recursively afterwards.

    Args:
        document: The tree, modified in place.

    Returns:
        Whether anything was changed.
    """
    deep = _too_deep(list(document.iter_elements())) if _is_deep(document.iter_elements()) else []
    for element in deep:  # from the top down, so that every node moves once per child list
        element.unwrap()
    surplus = document.find_all("a")[MAX_LINKS:]
    for link in surplus:
        link.attrs.pop("href", None)
    return bool(deep or surplus)


def _is_deep(elements: Iterator[Element]) -> bool:
    """Return whether an element of a document may be nested too deeply; only a few are examined.

    In document order, each is at most one level below the previous one.
    """
    skipped = 0
    while (element := next(islice(elements, skipped, None), None)) is not None:
        level = len(list(element.ancestors)) + 1
        if level > MAX_DEPTH:
            return True
        skipped = MAX_DEPTH - level
    return False


def _too_deep(elements: Sequence[Element]) -> list[Element]:
    levels: dict[object, int] = {}
    deep = []
    for element in elements:
        level = levels[element] = levels.get(element.parent, 0) + 1
        if level > MAX_DEPTH:
            deep.append(element)
    return deep


def _first_tags(markup: str, count: int) -> str:
    """Return the beginning of `markup`, up to the tag after the first `count`."""
    parts = markup.split("<", count + 1)
    return markup[: len(markup) - len(parts[-1]) - 1]


def _may_explode(markup: str, tags: int, opened: int) -> bool:
    """Return whether formatting elements might be reopened so often that a simulation is worthwhile."""
    if opened * tags <= MAX_NODES:
        return False
    min_ends = opened - MAX_NODES // tags  # this many must end where they seem to; no more are looked for
    return sum(1 for _ in islice(_CLOSED_LATER.finditer(markup), min_ends)) < min_ends


def _explosion(markup: str) -> int | None:
    """Return where unclosed formatting elements would multiply to too many nodes, or None.

    Every block reopens all of them, so a page of n blocks with a new one each makes a tree of n * n / 2 elements.
    """
    nodes = tables = 0
    scopes, drawings = [_Open("")], Counter[str]()
    for token, start in _tokens_with_starts(markup):
        name = token.tag
        if name is None:
            continue
        opened, is_start = scopes[-1].names, token.type == _START
        if name in _FORMATTING:
            if is_start:
                opened[name] = 1 if name == "a" else opened[name] + 1
            elif opened[name]:
                opened[name] -= 1
        elif name in _DRAWINGS and not token.self_closing and (is_start or drawings[name]):
            drawings[name] += 1 if is_start else -1
        elif name in _BORDERS and (tables or name not in _CELLS) and not drawings.total():
            while scopes[-1].border in _CELLS and (name in _CELLS if is_start else name == "table"):
                scopes.pop()
            if scopes[-1].border == name == "table":  # what was opened outside of its cells stays open
                scopes[-2].names.update(scopes.pop().names)
                tables -= 1
            elif scopes[-1].border == name and not is_start:
                scopes.pop()
            if is_start:
                scopes.append(_Open(name))
                tables += name == "table"
        if is_start:
            nodes += 1 + sum(scope.names.total() for scope in scopes[-3:])
            if nodes > MAX_NODES:
                return start
    return None
