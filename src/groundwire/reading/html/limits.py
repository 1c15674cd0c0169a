"""Limits on the size of a page, applied before and after parsing, and a flat tokenizer for pages beyond them.

A page over a limit is read up to it, with a warning; nothing is rejected or dropped silently. The tokenizer is linear
in time, without a tree or nesting. It is for pages that would cost a tree parser seconds or overflow its stack (a
hundred thousand siblings, ten thousand nested elements), and follows the HTML Standard
(https://html.spec.whatwg.org/multipage/parsing.html#tokenization) as far as visible text requires.
"""

from __future__ import annotations

import re
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass
from itertools import islice
from typing import TYPE_CHECKING, Final, NamedTuple

if TYPE_CHECKING:
    from turbohtml import Document, Element

__all__ = [
    "HEAVY_BYTES",
    "MAX_DEPTH",
    "MAX_LINKS",
    "MAX_MARKUP",
    "MAX_NODES",
    "MAX_TAGS",
    "Token",
    "fit",
    "is_heavy",
    "shorten",
    "tokens",
    "trim",
]

# A lookahead and a backreference make the group atomic, so that a page of unclosed quotes takes linear time. Possessive
# groups are equivalent but matched incorrectly by Python up to 3.11.4 (CPython issue 106052).
_ATTRIBUTES = r"""(?:[^>=]+|=\s*(?!\s)(?:"[^"]*"|'[^']*'|(?!["'])))*"""
_TAG = re.compile(rf"<(/?)([a-zA-Z][^\s/>]*+)(?=({_ATTRIBUTES}))\3>")
_RAW: Final[Mapping[str, re.Pattern[str]]] = {
    name: re.compile(rf"</{name}(?=[\s/>])", re.IGNORECASE)
    for name in ("script", "style", "title", "textarea", "xmp", "iframe", "noembed", "noframes")
}
_TELLING: Final = 100_000  # characters of a style or of JSON-LD that are worth keeping
_LONG: Final = 2_000  # characters of a value of an attribute
_LONG_VALUE = re.compile(r"""=\s*+(?:"[^"]{2000,}+"|'[^']{2000,}+'|[^\s>"'=]{2000,}+)""")
_RUN = re.compile(
    r"""(?:[^<]*<(?!/?(?:[sS](?:[cC]|[tT][yY])|[tT](?:[iI]|[eE])|[xX][mM]|[iI][fF]|[nN][oO][eEfF]))/?[a-zA-Z]"""
    r"""[^<>"']{0,1500}(?:="[^<>"]{0,1500}"[^<>"']{0,1500})*>){1,500}"""
)
"""Text and tags of which nothing is removed, with attributes in plain quotes, all at once."""


class Token(NamedTuple):
    """A token of HTML: text, a start tag or an end tag."""

    kind: str
    """`text`, `start`, `end`, or `raw` for the content of a script, style, title and the like."""
    name: str
    """The element's name in lower case; empty for text."""
    text: str
    """The unprocessed text, with references; for a start tag, its attributes."""
    start: int
    """The position of the token."""


def tokens(markup: str) -> Iterator[Token]:
    """Yield the tokens of `markup` in order, without comments, doctypes and processing instructions."""
    position, end = 0, len(markup)
    while position < end:
        opening = markup.find("<", position)
        if opening < 0:
            yield Token("text", "", markup[position:], position)
            return
        if opening > position:
            yield Token("text", "", markup[position:opening], position)
        if (tag := _TAG.match(markup, opening)) is not None:
            position = tag.end()
            name = tag[2].lower()
            yield Token("end" if tag[1] else "start", name, tag[3], opening)
            if not tag[1] and (closing := _RAW.get(name)) is not None:
                close = closing.search(markup, position)
                until = close.start() if close else end
                yield Token("raw", name, markup[position:until], position)
                position = until
            continue
        position = _past(markup, opening)
        if position == opening + 1:
            yield Token("text", "", "<", opening)


def _past(markup: str, opening: int) -> int:
    """Return the end of what begins with a `<` that is no tag: a comment, an unterminated tag, or only itself."""
    follower = markup[opening + 1 : opening + 2]
    if follower.isascii() and (follower.isalpha() or (follower == "/" and markup[opening + 2 : opening + 3].isalpha())):
        return len(markup)  # an unterminated tag swallows the rest
    if markup.startswith("<!--", opening):
        close_at = opening + 2 if markup.startswith(("<!-->", "<!--->"), opening) else opening + 4
        return _after(markup, "-->", close_at)
    return _after(markup, ">", opening + 1) if follower in {"!", "?", "/"} and follower else opening + 1


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
    for token in tokens(markup):
        if token.start >= length:
            cut = length if token.start == length else cut
            break
        cut = length if token.kind == "text" else token.start
    return markup[:cut], True


def _without_programs(markup: str) -> str:
    """Return markup without scripts, huge styles, comments, and huge attribute values."""
    parts: list[str] = []
    done = position = 0
    while True:
        if (run := _RUN.match(markup, position)) is not None:
            position = run.end()
        opening = markup.find("<", position)
        if opening < 0:
            return "".join([*parts, markup[done:]])
        tag = _TAG.match(markup, opening)
        if tag is None:
            position = _past(markup, opening)
            if position > opening + 1:
                parts.append(markup[done:opening])
                done = position
            continue
        position = tag.end()
        if tag[1]:
            continue
        if position - opening >= _LONG:
            parts += [markup[done : tag.start(3)], _LONG_VALUE.sub("=''", tag[3])]
            done = tag.end(3)
        name = tag[2].lower()
        if (closing := _RAW.get(name)) is not None:
            close = closing.search(markup, position)
            until = close.start() if close else len(markup)
            # styles determine what is hidden
            telling = name == "style" or (name == "script" and markup.find('"@context"', position, until) >= 0)
            if name in {"script", "style"} and not (telling and until - position < _TELLING):
                parts.append(markup[done:position])
                done = until
            position = until


def _after(markup: str, mark: str, position: int) -> int:
    found = markup.find(mark, position)
    return len(markup) if found < 0 else found + len(mark)


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
_BORDERS: Final = frozenset(
    {"applet", "caption", "html", "marquee", "math", "object", "select", "svg", "table", "td", "template", "th"}
)
"""The elements that limit the scope of an end tag (HTML Standard, 13.2.4.2)."""
# `a` is missing in both: a second one closes the first, so that at most one is reopened.
_NAMES: Final = (
    "[bisuBISU]|[bB][iI][gG]|[cC][oO][dD][eE]|[eE][mM]|[fF][oO][nN][tT]|[nN][oO][bB][rR]|[sS][mM][aA][lL]{2}"
    "|[sS][tT][rR](?:[iI][kK][eE]|[oO][nN][gG])|[tT]{2}"
)
_TOLD = re.compile(  # the name only of `html` and `body`; twice as fast as IGNORECASE
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
    names: dict[str, int]


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
    many = tags > MAX_TAGS
    if many:
        markup, tags = _first_tags(markup, MAX_TAGS), MAX_TAGS
    markup, long = shorten(markup, MAX_MARKUP)
    told = _TOLD.findall(markup) if tags > _MAX_ROOTS else []
    roots = len(told) - told.count("")
    if roots > _MAX_ROOTS:
        markup = _with_few_roots(markup)
    if _may_explode(markup, tags, len(told) - roots) and (end := _explosion(markup)) is not None:
        return markup[:end], True
    return markup, many or long


def _with_few_roots(markup: str) -> str:
    """Return markup without the start tags of `html` and `body` after the first ones.

    The parser adds the attributes of each to the element, and copies all of it for that.
    """
    parts, done, roots = [], 0, 0
    for token in tokens(markup):
        if token.kind == "start" and token.name in {"html", "body"}:
            roots += 1
            if roots > _MAX_ROOTS:
                parts.append(markup[done : token.start])
                done = markup.index(">", token.start + len(token.name) + len(token.text) + 1) + 1
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
    needed = opened - MAX_NODES // tags  # this many must end where they seem to; no more are looked for
    return sum(1 for _ in islice(_CLOSED_LATER.finditer(markup), needed)) < needed


def _explosion(markup: str) -> int | None:
    """Return where unclosed formatting elements would multiply to too many nodes, or None.

    Every block reopens all of them, so a page of n blocks with a new one each makes a tree of n * n / 2 elements.
    """
    nodes = 0
    scopes = [_Open("", {})]
    for token in tokens(markup):
        if token.kind not in {"start", "end"}:
            continue
        opened = scopes[-1].names
        if token.name in _FORMATTING:
            if token.kind == "start":
                opened[token.name] = 1 if token.name == "a" else opened.get(token.name, 0) + 1
            elif opened.get(token.name, 0):
                opened[token.name] -= 1
        elif token.name in _BORDERS:
            if token.kind == "start":
                scopes.append(_Open(token.name, {}))
            elif scopes[-1].border == token.name:
                scopes.pop()
        if token.kind == "start":
            nodes += 1 + sum(sum(scope.names.values()) for scope in scopes[-3:])
            if nodes > MAX_NODES:
                return token.start
    return None
