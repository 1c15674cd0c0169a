"""Limits on the size of a page, applied before and after parsing.

A page over a limit is read up to it, with a warning; nothing is rejected or dropped silently.
"""

from __future__ import annotations

import re
from itertools import count, islice
from typing import TYPE_CHECKING, Final

if TYPE_CHECKING:
    from turbohtml import Document

_TEXT, _START, _END, _COMMENT = range(4)  # of `turbohtml.TokenType`, which takes long to load
_MAX_KEPT: Final = 100_000  # characters of a style or of JSON-LD that are worth keeping
_LONG_TAG: Final = 2_000  # characters of a value of an attribute
_LONG_VALUE = re.compile(r"""=\s*+(?:"[^"]{2000,}+"|'[^']{2000,}+'|[^\s>"'=]{2000,}+)""")


def shorten(markup: str, length: int) -> tuple[str, bool]:
    """Shorten markup to at most `length` characters; return whether text may be missing.

    Markup other than text is removed first (scripts other than JSON-LD, huge styles, comments, attribute values of at
    least 2,000 characters), then the end. A parser ignores a tag that is cut.
    """
    if len(markup) > length:
        markup = _without_programs(markup)
    return markup[:length], len(markup) > length


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

# `a` is missing: a second one closes the first, so that at most one is reopened.
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
        markup, tags = "<".join(markup.split("<", MAX_TAGS + 1)[:-1]), MAX_TAGS
    markup, is_shortened = shorten(markup, MAX_MARKUP)
    root_names = _ROOT_OR_FORMATTING.findall(markup) if tags > _MAX_ROOTS else []
    roots = len(root_names) - root_names.count("")
    most_open = MAX_NODES // max(tags, 1)
    surplus = len(root_names) - roots - most_open  # so many must end where they seem to; no more are looked for
    closed = sum(1 for _ in islice(_CLOSED_LATER.finditer(markup), surplus)) if surplus > 0 else surplus
    if roots > _MAX_ROOTS or closed < surplus:
        markup = _without_surplus(markup, most_open)
    return markup, has_many_tags or is_shortened


def _without_surplus(markup: str, most_open: int) -> str:
    """Return markup in which later tags of `html` and `body`, and of formatting that may stay open, are without effect.

    The parser adds the attributes of each root to the element, and copies all of it for that; every block opens all
    formatting again that is not closed, so a page of n blocks with a new one each makes a tree of n * n / 2 elements.

    Args:
        markup: The HTML.
        most_open: How many formatting elements may stay open.
    """
    roots, is_open = count(), count()

    def rename(match: re.Match[str]) -> str:
        is_surplus = (
            next(roots) >= _MAX_ROOTS
            if match[1]
            else _CLOSED_LATER.match(markup, match.start()) is None and next(is_open) >= most_open
        )
        return f"<wbr{match[0][-1]}" if is_surplus else match[0]

    return _ROOT_OR_FORMATTING.sub(rename, markup)


def trim(document: Document) -> bool:
    """Flatten elements that are nested too deeply, and unlink links over the limit.

    All text stays. Elements below the deepest level are replaced by their content, so that the tree can be walked
    recursively afterwards.

    Args:
        document: The tree, modified in place.

    Returns:
        Whether anything was changed.
    """
    levels: dict[object, int] = {}
    deep = []
    # each is at most one level below the one before it
    some = islice(document.iter_elements(), 0, None, MAX_DEPTH // 2)
    may_be_deep = any(len(list(element.ancestors)) > MAX_DEPTH // 2 for element in some)
    for element in document.iter_elements() if may_be_deep else ():
        level = levels[element] = levels.get(element.parent, 0) + 1
        if level > MAX_DEPTH:
            deep.append(element)
    for element in deep:  # from the top down, so that every node moves once per child list
        element.unwrap()
    surplus = document.find_all("a")[MAX_LINKS:]
    for link in surplus:
        link.attrs.pop("href", None)
    return bool(deep or surplus)
