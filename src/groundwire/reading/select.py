"""The choice of a page's main content: what a reader came for, without menus, banners and what else is on offer."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from math import exp
from operator import mul
from typing import Final

from turbohtml import Document, Element

from groundwire.reading.blocks import INLINE, Layout, lay_out
from groundwire.reading.choosing import Verdict, choose, is_tiny
from groundwire.reading.features import FEATURES, Facts, describe
from groundwire.reading.hints import NO_HINTS, Hints
from groundwire.reading.model import KINDS, Model, load_model
from groundwire.reading.scorer import Lanes
from groundwire.reading.second import second_look

__all__ = ["Selection", "judge", "kind_row", "select_main"]

_PAGE: Final = FEATURES.index("page_blocks")
_AVERAGED: Final = tuple(
    FEATURES.index(name)
    for name in (
        "link_share", "size", "kw_comment", "kw_thread", "kw_article", "kw_product", "kw_listing", "in_article",
        "in_table", "in_list", "tag", "brothers@1", "brothers@2", "brothers_size@1", "brothers_size@2", "in_pre",
        "heading", "end", "kind_count", "repeat", "opening1",
    )
)  # fmt: skip
_FLAGS: Final = frozenset(
    index
    for index, name in enumerate(FEATURES)
    if name.startswith(("in_", "kw_")) or name in {"heading", "end", "repeat"}
)
_HOLDS_PLACE: Final = frozenset({"tr", "td", "th", "col", "colgroup", "hr"})
_CELLS: Final = frozenset({"td", "th"})


@dataclass(frozen=True, slots=True)
class Selection:
    """A page's main content."""

    root: Element
    """The element that holds what was kept; everything else is gone from it."""
    kind: str
    """The page's kind: article, documentation, forum, product, listing, collection or service."""
    whole: bool
    """Whether nothing was left out."""
    best: float = 1.0
    """How likely the likeliest block is main content, 0 to 1; next to 0 on a page of nothing but menus, 1 if nothing
    was there to choose."""


def select_main(document: Document, model: Model | None = None, hints: Hints = NO_HINTS) -> Selection:
    """Cut a parsed page down to its main content.

    Args:
        document: The page; what a reader could not see should be gone from it. It is changed.
        model: What was learned; the one of the package when not given.
        hints: What the page says it is.

    Returns:
        What is left. It has text whenever the page has.
    """
    layout = lay_out(document)
    if not layout.texts:
        root = document.find("body") or document.root or Element("body")
        return Selection(root, KINDS[0], whole=True)
    verdict = judge(layout, model or load_model(), hints)
    keep = choose(layout, verdict)
    prune(layout, keep)
    kind = KINDS[verdict.kinds.index(max(verdict.kinds))]
    nothing_to_choose = is_tiny(layout) and not layout.trimmed
    best = 1.0 if nothing_to_choose else max(verdict.scores) / 254
    return Selection(root=layout.elements[0], kind=kind, whole=all(keep) and not layout.trimmed, best=best)


def judge(layout: Layout, model: Model, hints: Hints = NO_HINTS) -> Verdict:
    """Score each block of a page that has blocks, and tell the page's kind."""
    facts = describe(layout, model.lexicon, hints=hints)
    lanes: Lanes = {}
    scores = model.first.chances(facts.columns, lanes)
    row = kind_row(facts, scores)
    powers = [exp((forest.total_of(row) - forest.zero) / forest.scale) for forest in model.kinds]
    whole = sum(powers)
    kinds = tuple(power / whole for power in powers)
    columns = [*facts.columns, *second_look(facts, scores)]
    columns.extend(bytes((int(200 * chance + 0.5),)) * len(scores) for chance in kinds)
    return Verdict(model.second.chances(columns, lanes), kinds, sum(map(mul, kinds, model.cuts)))


def kind_row(facts: Facts, scores: Sequence[int]) -> list[int]:
    """Return what a page's kind is told by: the page's own features, and the average of what seems to be content."""
    row = [column[0] for column in facts.columns[_PAGE:]]
    weights = [size * score for size, score in zip(facts.sizes, scores, strict=True)]
    whole = sum(weights) or 1
    count = len(weights)
    for index in _AVERAGED:
        column = facts.columns[index]
        total = sum(map(mul, column, weights)) if column.count(0) < count else 0
        row.append(min(254, (50 if index in _FLAGS else 1) * total // whole))
    row.append(200 * sum(scores) // (254 * len(scores)))
    row.append(200 * sum(score > 178 for score in scores) // len(scores))
    return row


def prune(layout: Layout, keep: Sequence[bool]) -> None:
    """Remove from the tree every block that is not kept, and the elements that nothing kept is in."""
    elements, parents, owners = layout.elements, layout.parents, layout.owners
    kept = bytearray(len(elements))
    full = bytearray(len(elements))
    kept[0] = 1
    for owner, wanted in zip(owners, keep, strict=True):
        marks = kept if wanted else full
        while not marks[owner]:
            marks[owner] = 1
            owner = parents[owner]
    for pieces, owner, wanted in zip(layout.nodes, owners, keep, strict=True):
        if not wanted and kept[owner]:
            for piece in pieces:
                around = piece.parent
                piece.extract()
                while isinstance(around, Element) and around.tag in INLINE and not around.text.strip():
                    empty, around = around, around.parent
                    empty.extract()
    tables: dict[int, bool] = {}
    for number in range(1, len(elements)):
        if not kept[number] and kept[parents[number]]:
            if layout.tags[number] == "label" and elements[number].find("input") is not None:
                continue  # the box of a task, beside its text
            if layout.tags[number] not in _HOLDS_PLACE:
                elements[number].decompose()
            elif full[number]:
                if layout.tags[number] in _CELLS and _has_columns(layout, kept, number, tables):
                    elements[number].clear()
                else:
                    elements[number].decompose()


def _has_columns(layout: Layout, kept: bytearray, cell: int, known: dict[int, bool]) -> bool:
    """Tell whether the table around a cell keeps several cells of a row, so that the others must hold their places.

    Args:
        layout: The page.
        kept: Whether each element is kept.
        cell: The number of the cell.
        known: What is known of the tables, by their numbers; what is found is added.
    """
    parents, tags = layout.parents, layout.tags
    table = cell
    while table and tags[table] != "table":
        table = parents[table]
    if table not in known:
        known[table] = False
        inside = bytearray(len(tags))
        inside[table] = 1
        rows: set[int] = set()
        for number in range(table + 1, len(tags)):
            if not inside[parents[number]]:
                break
            inside[number] = 1
            if kept[number] and tags[number] in _CELLS:
                if parents[number] in rows:
                    known[table] = True
                    break
                rows.add(parents[number])
    return known[table]
