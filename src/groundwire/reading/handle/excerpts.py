"""Passages put together in the order of the page, as many as fit, each marked with where it stands."""

from __future__ import annotations

from collections.abc import Iterable, Sequence
from dataclasses import dataclass
from typing import Final

from groundwire.models import Excerpt
from groundwire.reading.handle.document import Document
from groundwire.reading.handle.pieces import cut_piece, wrapped
from groundwire.reading.handle.ranking import Ranked
from groundwire.reading.handle.room import Room

__all__ = ["Chosen", "Span", "assemble", "choose", "excerpt_of", "mark_of"]

_WORTH: Final = 0.12  # of the best score; what has less is not worth its room
_SAME: Final = 0.8  # of the terms; passages that share more say the same
_TRIES: Final = 30  # passages that are tried when one does not fit
_PATH: Final = 90  # characters of the headings in a mark
_BESIDE: Final = 3  # of the best passages get their neighbours too


@dataclass(frozen=True, slots=True)
class Span:
    """A part of a page that is to be shown."""

    start: int
    """Where it begins."""
    end: int
    """Where it ends."""
    score: float = 0.0
    """How well it answers."""


@dataclass(frozen=True, slots=True)
class Chosen:
    """What is shown of a page."""

    content: str
    """The excerpts as Markdown, each after a mark that says where it stands."""
    excerpts: tuple[Excerpt, ...]
    """The same as data."""


def choose(document: Document, ranked: Sequence[Ranked], room: Room) -> Chosen:
    """Return the passages that answer best and fit, without those that say the same again.

    Args:
        document: The page.
        ranked: Its passages; at least one has a score.
        room: What may be filled, marks included.
    """
    best = sorted((row for row in ranked if row.score > 0), key=lambda row: (-row.score, row.number))
    worth = [row for row in best if row.score >= _WORTH * best[0].score]
    beside = [
        ranked[at]
        for row in best[:_BESIDE]
        for at in (row.number + 1, row.number - 1)
        if 0 <= at < len(ranked) and ranked[at].passage.path == row.passage.path
    ]
    taken: dict[int, Ranked] = {}
    left, missed = room, 0
    for row in (*worth, *beside):
        if row.number in taken or any(_same(row, other) for other in taken.values()):
            continue
        alone = row.number - 1 not in taken and row.number + 1 not in taken
        piece = wrapped(document, row.passage.start, row.passage.end)
        cost = f"{mark_of(document, row.passage.start, row.passage.end) if alone else ''}\n{piece.content}\n\n"
        if left.holds(cost):
            taken[row.number] = row
            left = left.less(cost)
        else:
            missed += 1
            if missed > _TRIES:
                break
    while taken:
        chosen = assemble(document, _joined(taken[number] for number in sorted(taken)))
        if room.holds(chosen.content):
            return chosen
        del taken[min(taken, key=lambda number: taken[number].score)]
    return _beginning_of(document, best[0], room)


def assemble(document: Document, spans: Iterable[Span]) -> Chosen:
    """Return parts of a page, in their order, as text with marks and as data."""
    texts: list[str] = []
    excerpts: list[Excerpt] = []
    for span in spans:
        texts.append(f"{mark_of(document, span.start, span.end)}\n{wrapped(document, span.start, span.end).content}")
        excerpts.append(excerpt_of(document, span))
    return Chosen("\n\n".join(texts), tuple(excerpts))


def excerpt_of(document: Document, span: Span) -> Excerpt:
    """Return a part of a page as data."""
    return Excerpt(
        start=span.start,
        end=span.end,
        heading=_heading(document, span.end),
        score=span.score,
        text=document.text[span.start : span.end],
    )


def mark_of(document: Document, start: int, end: int) -> str:
    """Return the line that says where an excerpt stands: `[@5120-5660 Guide > Install]`."""
    heading = _heading(document, end)
    return f"[@{start}-{end}{' ' + heading if heading else ''}]"


def _joined(rows: Iterable[Ranked]) -> list[Span]:
    """Return passages that follow each other as one, unless the second begins another section."""
    spans: list[Span] = []
    last: Ranked | None = None
    for row in rows:
        if last is not None and row.number == last.number + 1 and row.passage.path == last.passage.path:
            spans[-1] = Span(spans[-1].start, row.passage.end, max(spans[-1].score, row.score))
        else:
            spans.append(Span(row.passage.start, row.passage.end, row.score))
        last = row
    return spans


def _beginning_of(document: Document, row: Ranked, room: Room) -> Chosen:
    """Return as much of a passage as fits, when not even one fits as a whole; without a mark where that is too much."""
    start, end, _ = row.passage
    mark = mark_of(document, start, end) + "\n"
    if not room.limited(room.characters // 2, room.tokens and room.tokens // 2).holds(mark):
        mark = ""
    piece = cut_piece(document, start, room.less(mark), end)
    excerpt = excerpt_of(document, Span(piece.start, piece.end, row.score))
    if mark:
        mark = mark_of(document, piece.start, piece.end) + "\n"
    return Chosen(mark + piece.content, (excerpt,))


def _same(row: Ranked, other: Ranked) -> bool:
    union = len(row.terms | other.terms)
    return union > 5 and len(row.terms & other.terms) / union > _SAME


def _heading(document: Document, place: int) -> str:
    path = list(document.path(max(0, place - 1)))
    while len(path) > 1 and sum(map(len, path)) + 3 * len(path) > _PATH:
        del path[0]
    return " > ".join(path)
