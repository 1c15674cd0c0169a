"""Styled runs of text, which documents consist of, as inline Markdown."""

from __future__ import annotations

import re
from collections.abc import Iterable, Iterator
from dataclasses import dataclass, replace
from itertools import groupby
from typing import Final

from groundwire.reading.markdown.escaping import inline_code
from groundwire.reading.markdown.writer import BREAK, MarkdownWriter

MONOSPACED: Final = re.compile(
    r"mono|courier|consol|typewriter|fixed|menlo|terminal|(?:^|\+)(?:cmtt|cmsltt|sftt|ectt|lmtt|lmmono|txtt|pcrr)",
    re.IGNORECASE,
)
"""What the name of a monospaced font has."""
_MARKS: Final = ("del", "strong", "em", "sup", "sub")
"""The styles from the outermost to the innermost."""
TARGET: Final = str.maketrans({" ": "%20", "(": "%28", ")": "%29", "<": "%3C", ">": "%3E", "\n": "", "\t": ""})
"""What makes an address the target of a Markdown link, for `str.translate`."""


@dataclass(frozen=True, slots=True)
class TextRun:
    """A piece of text in one style."""

    text: str
    """Plain text; a newline is a line break."""
    styles: frozenset[str] = frozenset()
    """Any of `del`, `strong`, `em`, `sup`, `sub`, and `code`."""
    link: str = ""
    """Its target; see `link_target`."""
    is_markdown: bool = False
    """Whether the text is inline Markdown, such as the mark of a note."""


def link_target(address: str) -> str:
    """Return an address as the target of a Markdown link; empty if it does not lead to the web."""
    if not address.startswith(("http://", "https://")):
        return ""
    return address.translate(TARGET)


def to_inline(runs: Iterable[TextRun]) -> str:
    """Return runs as Markdown within a block; a line break is a newline.

    Raised and lowered text is marked where it would change a value (`10^6`), as on pages.
    """
    writer = MarkdownWriter()
    opened: list[tuple[str, str]] = []
    for (styles, link, is_markdown), group in groupby(
        _evened(runs), lambda run: (run.styles, run.link, run.is_markdown)
    ):
        text = "".join(run.text for run in group)
        marks = [("link", link)] if link else []
        marks += [(name, "") for name in _MARKS if name in styles]
        while opened != marks[: len(opened)]:
            opened.pop()
            writer.close_mark()
        for kind, address in marks[len(opened) :]:
            opened.append((kind, address))
            writer.open_mark(kind, address)
        if is_markdown:
            writer.raw(text)
            continue
        for number, line in enumerate(text.split("\n")):
            if number:
                writer.line_break()
            if "code" in styles and (code := line.strip()):
                before, _, after = line.partition(code)
                writer.text(before)
                writer.raw(inline_code(code))
                writer.text(after)
            else:
                writer.text(line)
    for _ in opened:
        writer.close_mark()
    return "\n".join(" ".join(line.split()) for line in "".join(writer.line).split(BREAK))


def _evened(runs: Iterable[TextRun]) -> Iterator[TextRun]:
    """Yield runs that have text; white space is in the style of what is before it."""
    before = TextRun("")
    for run in runs:
        if run.text:
            before = replace(run, styles=before.styles, link=before.link) if run.text.isspace() else run
            yield before
