"""Selection of a page's main content, without menus, banners and recommendations.

Blocks are chosen by the model's scores and by the rules in `rules`.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from operator import mul
from typing import Final

from turbohtml import Document, Element

from groundwire.reading.main_content.blocks import INLINE, Layout, is_tiny, lay_out
from groundwire.reading.main_content.boxes import label_boxes
from groundwire.reading.main_content.classifier import KINDS, Model, load_model
from groundwire.reading.main_content.features import FEATURES, ElementFacts, describe
from groundwire.reading.main_content.page_blocks import PageBlocks, Verdict
from groundwire.reading.main_content.page_type import NO_HINTS, Hints, states_article
from groundwire.reading.main_content.posts import label_posts
from groundwire.reading.main_content.rules import RULES, apply_rules

__all__ = [
    "MENUS_ONLY",
    "Selection",
    "choose",
    "is_tiny",
    "judge",
    "kind_row",
    "prune",
    "select_main",
]

MENUS_ONLY: Final = 0.25
"""The best block's score below which a page has no content: true of nine of 1,497 real pages, as with any share from
.13 to .27. The reviewed text of six of them is empty, and that of three is not in the response."""
_SENTENCES, _PROSE = 100, 500  # characters of a text that no menu has, and of such texts on a page with content
_IN_MENUS: Final = ("controls", "dialogs", "navigation", "notices", "promotions", "related")
"""Parts of a page that menus may have."""


_ARTICLE: Final = KINDS.index("article")
_STATED: Final = 10
"""How many times as likely as any other kind an article is that states to be one twice, in JSON-LD and in `og:type`:
198 of 201 such pages are articles."""
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
_LINES: Final = frozenset({"div", "li", "p", "pre"})
_CODE: Final = "pre, .cm-content, .CodeMirror-code, .fragment"
_HOLDS_PLACE: Final = frozenset({"tr", "td", "th", "col", "colgroup", "hr"})


def choose(layout: Layout, verdict: Verdict, parts: Mapping[str, bool] | None = None) -> PageBlocks:
    """Select the blocks to keep by their scores and by `RULES`: at least one, and all of a page with very little text.

    Args:
        layout: The page.
        verdict: The scores.
        parts: The parts that are kept or left out on every kind of page.
    """
    best = max(verdict.scores)
    keeps_all = (best < MENUS_ONLY * 254 and not _has_prose(layout)) or is_tiny(layout)
    cut = 0.0 if keeps_all else verdict.least_score()
    page = PageBlocks(layout, verdict, [score >= cut for score in verdict.scores], parts or {})
    if not keeps_all or (parts and not is_tiny(layout)):
        apply_rules(page, RULES)
    return page


@dataclass(frozen=True, slots=True)
class Selection:
    """A page's main content."""

    root: Element
    """The element with the selected blocks; everything else is removed from it."""
    kind: str
    """The page's kind: article, documentation, forum, product, listing, collection or service."""
    is_complete: bool
    """Whether everything was kept."""
    best: float = 1.0
    """The highest score of a block, 0 to 1; almost 0 for a page of only menus, 1 if there was nothing to select."""


def select_main(
    document: Document,
    model: Model | None = None,
    hints: Hints = NO_HINTS,
    *,
    url: str = "",
    title: str = "",
    stated: Sequence[str] = (),
    parts: Mapping[str, bool] | None = None,
) -> Selection:
    """Reduce a parsed page to its main content.

    Args:
        document: The page without invisible text, modified in place.
        model: The classifier; by default the built-in one.
        hints: The page's type hints.
        url: Its URL.
        title: Its title.
        stated: Texts that its structured data state as its content.
        parts: The parts that are kept or left out on every kind of page; see `PARTS`. Copies are a part, too.

    Returns:
        The rest of the page. It has text whenever the page has.
    """
    parts = parts or {}
    if any(map(parts.get, _IN_MENUS)):  # menus are looked into, but left out unless they are wanted themselves
        parts = {"navigation": False, **parts}
    layout = lay_out(document, url, menus="navigation" in parts)
    layout.title, layout.stated = title, stated
    if not layout.texts:
        root = document.find("body") or document.root or Element("body")
        return Selection(root, KINDS[0], is_complete=True)
    verdict = judge(layout, model or load_model(), hints)
    page = choose(layout, verdict, parts)
    tiny = is_tiny(layout)
    if not tiny:
        label_boxes(page)
    prune(layout, page.keep)
    if not tiny:
        label_posts(layout, verdict.names, verdict.kinds, page.keep)
    kind = KINDS[verdict.kinds.index(max(verdict.kinds))]
    best = 1.0 if tiny and not layout.trimmed else max(verdict.scores) / 254  # 1: nothing to choose from
    best = max(best, MENUS_ONLY) if _has_prose(layout) else best
    return Selection(root=layout.elements[0], kind=kind, is_complete=all(page.keep) and not layout.trimmed, best=best)


def _has_prose(layout: Layout) -> bool:
    """Return whether a page has text that no menu has, whatever its scores."""
    sizes = zip(map(len, layout.texts), layout.linked, layout.lengths, strict=True)
    return sum(size for size, linked, length in sizes if size >= _SENTENCES and 5 * linked <= length) >= _PROSE


def judge(layout: Layout, model: Model, hints: Hints = NO_HINTS) -> Verdict:
    """Score each block of a page with blocks, and classify the page."""
    facts = describe(layout, model.lexicon, hints=hints)
    scores = model.blocks.chances(facts.columns)
    powers = model.powers(kind_row(facts, scores))
    if states_article(hints):
        powers[_ARTICLE] = max(_STATED * max(powers), powers[_ARTICLE])
    total = sum(powers)
    kinds = tuple(power / total for power in powers)
    return Verdict(scores, kinds, sum(map(mul, kinds, model.cuts)), facts.names)


def kind_row(facts: ElementFacts, scores: Sequence[int]) -> list[int]:
    """Return the features for a page's kind: the page's own, and the average of its apparent content."""
    row = [column[0] for column in facts.columns[_PAGE:]]
    weights = [size * score for size, score in zip(facts.sizes, scores, strict=True)]
    total_weight = sum(weights) or 1
    count = len(weights)
    for index in _AVERAGED:
        column = facts.columns[index]
        total = sum(map(mul, column, weights)) if column.count(0) < count else 0
        row.append(min(254, (50 if index in _FLAGS else 1) * total // total_weight))
    row.append(200 * sum(scores) // (254 * len(scores)))
    row.append(200 * sum(score > 178 for score in scores) // len(scores))
    return row


def prune(layout: Layout, keep: Sequence[bool]) -> None:
    """Remove every block that is not selected, and elements without selected content."""
    elements, parents, owners = layout.elements, layout.parents, layout.owners
    has_content = bytearray(len(elements))
    has_others = bytearray(len(elements))
    has_content[0] = 1
    for owner, is_kept in zip(owners, keep, strict=True):
        marks = has_content if is_kept else has_others
        while not marks[owner]:
            marks[owner] = 1
            owner = parents[owner]
    for pieces, owner, is_kept in zip(layout.nodes, owners, keep, strict=True):
        if not is_kept and has_content[owner]:
            for piece in pieces:
                around = piece.parent
                piece.extract()
                while isinstance(around, Element) and around.tag in INLINE and not around.text.strip():
                    empty, around = around, around.parent
                    empty.extract()
    for number in range(1, len(elements)):
        if not has_content[number] and has_content[parents[number]]:
            if layout.tags[number] == "label" and elements[number].find("input") is not None:
                continue  # the checkbox of a task, beside its text
            if not has_others[number] and layout.tags[number] in _LINES and elements[number].closest(_CODE) is not None:
                continue  # an empty line
            if layout.tags[number] not in _HOLDS_PLACE or has_others[number]:
                elements[number].decompose()
