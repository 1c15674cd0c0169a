"""A text in sentences, each with its place."""

from __future__ import annotations

import re
from collections.abc import Iterator
from dataclasses import dataclass
from typing import Final

from groundwire.citations.verify.vocabulary import MONTHS

__all__ = ["Span", "blocks", "sentences", "sentences_of_block"]


@dataclass(frozen=True, slots=True)
class Span:
    """A stretch of a text."""

    start: int
    """Its first code point."""
    end: int
    """The code point after its last."""


_NEW_BLOCK: Final = re.compile(
    r"\n(?=[ \t]*(?:\n|#{1,6}[ \t]|>|[-*+][ \t]|\d{1,3}[.)][ \t]|\||```|~~~|[-=*_]{3,}[ \t]*(?:\n|$)))"
)
_FENCE: Final = re.compile(r"(?ms)^[ \t]*(```+|~~~+).*?(?:^[ \t]*\1[`~]*[ \t]*$|\Z)")
_END: Final = re.compile(
    r"[.!?…]+[\"'”’»)\]*_]*(?=\s|$|\[\d|[【［])|[。！？｡][\"”’»）」』]*|[।؟۔]+(?=\s|$|\[\d|[【［])",
)
_MARKS_AFTER: Final = re.compile(r"(?:[ \t]*(?:\[[\d ,;\-–—]{1,40}\]|【[^】\n]{1,40}】|［[^］\n]{1,40}］))+")
_DAY: Final = re.compile(r"(?<!\d)\d{1,2}\.$")
_MONTH: Final = re.compile(r"\s+([^\W\d_]+)")
_NEXT: Final = re.compile(r"\s*[\"'“‘«(\[*_]*([^\s])")
_ABBREVIATION: Final = re.compile(
    r"(?:\b(?:mr|mrs|ms|dr|prof|st|sr|jr|vs|etc|e\.g|i\.e|cf|al|no|nos|vol|fig|pp?|ed|eds|approx|ca|inc|ltd|co|corp|dept|est|gen|gov|"
    r"jan|feb|mar|apr|jun|jul|aug|sep|sept|oct|nov|dec|u\.s|u\.k|u\.n|a\.m|p\.m|ph\.d|z\.b|bzw|ggf|usw|nr|bd|ca)|\b[A-Za-zÀ-Þ])\.$",
    re.IGNORECASE,
)


def sentences(text: str) -> Iterator[Span]:
    """Yield the sentences of a text in Markdown, in order; code is left out.

    A heading, a list's item and a table's row are sentences of their own. Citation marks that follow a full stop
    belong to the sentence before them.
    """
    for block in blocks(text):
        yield from sentences_of_block(text, block)


def blocks(text: str) -> Iterator[Span]:
    """Yield the paragraphs, headings, items and rows of a text in Markdown, in order; code is left out."""
    place = 0
    if "```" in text or "~~~" in text:
        for code in _FENCE.finditer(text):
            yield from _of_part(text, place, code.start())
            place = code.end()
    yield from _of_part(text, place, len(text))


def _of_part(text: str, start: int, end: int) -> Iterator[Span]:
    for found in _NEW_BLOCK.finditer(text, start, end):
        if found.start() > start:
            yield Span(start, found.start())
        start = found.end()
    if end > start:
        yield Span(start, end)


def sentences_of_block(text: str, block: Span) -> Iterator[Span]:
    """Yield the sentences of one of a text's blocks, in order."""
    return _of_block(text, block.start, block.end)


def _of_block(text: str, start: int, end: int) -> Iterator[Span]:
    begin = start
    for stop in _END.finditer(text, start, end):
        after = stop.end()
        if marks := _MARKS_AFTER.match(text, after, end):
            after = marks.end()
        if after >= end:
            break
        if stop[0][0] in ".…" and not _is_end(text, stop.start(), after, end, marked=after > stop.end()):
            continue
        if after > begin:
            yield from _trimmed(text, begin, after)
            begin = after
    yield from _trimmed(text, begin, end)


def _is_end(text: str, dot: int, after: int, end: int, *, marked: bool) -> bool:
    following = _NEXT.match(text, after, end)
    if following is None:
        return True
    character = following[1]
    if character.islower():
        return False
    if _DAY.search(text, max(0, dot - 3), dot + 1) and (month := _MONTH.match(text, after, end)):
        return month[1].lower() not in MONTHS  # 31. März
    return marked or not _ABBREVIATION.search(text, max(0, dot - 12), dot + 1)


def _trimmed(text: str, start: int, end: int) -> Iterator[Span]:
    piece = text[start:end]
    if stripped := piece.strip():
        begin = start + len(piece) - len(piece.lstrip())
        yield Span(begin, begin + len(stripped))
