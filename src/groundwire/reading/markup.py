"""HTML as a flat row of tokens: linear in time, no tree, no depth.

For pages that a tree parser cannot take: what costs it seconds or its stack (a hundred thousand siblings, ten
thousand nested elements) is nothing here. Follows the tokenizer of the HTML Standard
(https://html.spec.whatwg.org/multipage/parsing.html#tokenization) as far as the visible text needs it.
"""

from __future__ import annotations

import re
from collections.abc import Iterator
from typing import Final, NamedTuple

__all__ = ["Token", "shorten", "tokens"]

# A lookahead and a backreference make the group atomic, so that a page of unclosed quotes costs linear time. Possessive
# groups say the same and are matched wrongly by Python up to 3.11.4 (CPython issue 106052).
_ATTRIBUTES = r"""(?:[^>=]+|=\s*(?!\s)(?:"[^"]*"|'[^']*'|(?!["'])))*"""
_TAG = re.compile(rf"<(/?)([a-zA-Z][^\s/>]*+)(?=({_ATTRIBUTES}))\3>")
_RAW: Final = {
    name: re.compile(rf"</{name}(?=[\s/>])", re.IGNORECASE)
    for name in ("script", "style", "title", "textarea", "xmp", "iframe", "noembed", "noframes")
}
_TELLING: Final = 100_000  # characters of a style or of JSON-LD that are worth their room
_LONG_VALUE = re.compile(r"""=\s*+(?:"[^"]{2000,}+"|'[^']{2000,}+'|[^\s>"'=]{2000,}+)""")


class Token(NamedTuple):
    """One piece of markup: a text, a start tag or an end tag."""

    kind: str
    """`text`, `start`, `end`, or `raw` for what stands inside a script, style, title and the like."""
    name: str
    """The element's name in lower case; empty for a text."""
    text: str
    """The text as it stands, references not resolved; the attributes of a start tag."""
    start: int
    """Where the token begins."""


def tokens(markup: str) -> Iterator[Token]:
    """Yield the tokens of `markup` in order; comments, doctypes and processing instructions are left out."""
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
        follower = markup[opening + 1 : opening + 2]
        if follower.isascii() and (
            follower.isalpha() or (follower == "/" and markup[opening + 2 : opening + 3].isalpha())
        ):
            return  # a tag that never ends swallows the rest
        if markup.startswith("<!--", opening):
            close_at = opening + 2 if markup.startswith(("<!-->", "<!--->"), opening) else opening + 4
            position = _after(markup, "-->", close_at)
        elif follower in {"!", "?", "/"} and follower:
            position = _after(markup, ">", opening + 1)
        else:
            yield Token("text", "", "<", opening)
            position = opening + 1


def shorten(markup: str, length: int) -> tuple[str, bool]:
    """Return markup of at most `length` characters, and whether text may be missing from it.

    What is not text goes first (scripts other than JSON-LD, huge styles, comments, attribute values of 2,000 characters
    and more); then the end, at the beginning of a tag.
    """
    if len(markup) <= length:
        return markup, False
    parts: list[str] = []
    room = length
    for token in tokens(markup):
        if token.kind == "text":
            part = token.text
        elif token.kind == "raw":
            wanted = token.name == "style" or '"@context"' in token.text  # styles say what is hidden
            part = (
                token.text if token.name not in {"script", "style"} or (wanted and len(token.text) < _TELLING) else ""
            )
        elif token.kind == "start":
            attributes = token.text if len(token.text) < 2_000 else _LONG_VALUE.sub("=''", token.text)
            part = f"<{token.name}{attributes}>"
        else:
            part = f"</{token.name}>"
        if len(part) > room:
            parts.append(part[:room] if token.kind == "text" else "")
            return "".join(parts), True
        parts.append(part)
        room -= len(part)
    return "".join(parts), False


def _after(markup: str, mark: str, position: int) -> int:
    found = markup.find(mark, position)
    return len(markup) if found < 0 else found + len(mark)
