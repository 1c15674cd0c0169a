"""Selection of a page's main content, without menus, banners and recommendations.

Blocks are chosen by the model's scores and by their grouping.
"""

from __future__ import annotations

import re
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from operator import mul
from typing import Final

from turbohtml import Document, Element, Text

from groundwire.reading.main_content.blocks import HEADINGS, INLINE, Layout, is_tiny, lay_out
from groundwire.reading.main_content.classifier import KINDS, Lanes, Model, load_model
from groundwire.reading.main_content.context_features import second_look
from groundwire.reading.main_content.features import FEATURES, ElementFacts, describe
from groundwire.reading.main_content.grouping import (
    BETWEEN,
    drop_empty_contents,
    drop_empty_sections,
    keep_lists_whole,
    keep_sources,
    keep_standfirst,
    keep_tables_whole,
    repeats,
    side_by_side,
    with_companions,
)
from groundwire.reading.main_content.page_parts import (
    CONTROLS,
    PARTS,
    attribute_posts,
    choose_parts,
    label_posts,
    part_blocks,
)
from groundwire.reading.main_content.page_type import NO_HINTS, Hints
from groundwire.reading.main_content.text_features import NameIndex

__all__ = [
    "MENUS_ONLY",
    "SHARE_OF_BEST",
    "Selection",
    "Verdict",
    "choose",
    "is_tiny",
    "judge",
    "keep_callouts",
    "kind_row",
    "label_callouts",
    "may_repeat",
    "select_main",
]

_EVEN: Final = 0.5
"""The best block's score below which a page without running text is kept whole, as there is nothing to prefer."""
_ARTICLE, _DOCUMENTATION, _SERVICE = map(KINDS.index, ("article", "documentation", "service"))
MENUS_ONLY: Final = 0.2
"""The best block's score below which a page has no content: true of nine of 1,497 real pages. The reviewed text of
six of them is empty, and that of three is not in the response."""
_MAYBE: Final = 0.15
"""The probability from which a page counts as documentation where a mistake would lose some of it."""
_LIKELY: Final = 0.5
"""The probability from which a page counts as an article, whose standfirst is kept."""
SHARE_OF_BEST: Final = 0.6
"""A block with this share of the best score is content, however low all scores are."""
_IN_MENUS: Final = ("controls", "dialogs", "navigation", "notices", "promotions", "related")
"""Parts of a page that menus may have."""
_LINKS_OF_SECTION: Final = tuple(
    {"product": 0.0, "article": 0.8, "documentation": 0.8, "forum": 0.8}.get(kind, 2.0) for kind in KINDS
)
"""The share of links in a section that is left out, from which its heading is left out, too. Headings above what is
left out are names of other products on the pages of shops, and labels of menus elsewhere, but entries of a list on
pages of other kinds."""

_CALLOUT: Final = re.compile(
    r"(?<![\w-])(?:(?P<manual>(?:theme-)?admonition(?:block)?|markdown-alert|custom-block|hint-container|starlight-aside"
    r"|confluence-information-macro|(?:gdoc|book)-hint|notecard)|(?:ant-|el-|v-|bs-)?(?:alert|callout)(?:_\w+)?|notices"
    r"|note|tip|hint|warning|caution|important|danger|messagebox|rolenote)(?![\w-])",
    re.IGNORECASE | re.ASCII,
)
"""Names of a box with a note or a warning; the group is those that only generators of documentation use."""
_IN_TABLE: Final = frozenset({"table", "tbody", "thead", "tr", "td", "th", "li", "body"})
_STEMS_OF_CALLOUTS: Final = (
    "admonition", "alert", "callout", "caution", "custom-block", "danger", "hint", "important", "messagebox", "note",
    "notice", "starlight-aside", "information-macro", "tip", "warning",
)  # fmt: skip
"""One of these is in each name that `_CALLOUT` matches."""
_NO_LABELS: Final = HEADINGS | {"li", "dt", "dd", "pre", "summary"}
_BOLD: Final = frozenset({"strong", "b", "code", "a"})
_BOX: Final = 2_000  # characters of such a box, or half of the text; larger ones are parts of the page
_LABEL: Final = 40  # characters of its label
_ICON: Final = ".icon i[title],.icon img[alt]"
_ENDS_OF_TEXT: Final = (".", ",", ";", "…", "。")
_OTHER_BOXES: Final = tuple(PARTS[part] for part in ("promotions", "notices", "related"))
"""Names of boxes that are not part of the text; in documentation only the first are."""
_REQUEST: Final = re.compile(
    r"\b(?:(?:we|(?:this|our) (?:web)?site) uses?|verwende[nt]|util\w+|usa|usamos) (?:\w+ ){0,3}cookies\b"
    r"|\baccept (?:all )?cookies\b|\bplease enable javascript\b|\bjavascript (?:is|seems to be) disabled\b"
    r"|\byour browser is (?:out of date|outdated|(?:no longer|not) supported)\b"
    r"|\b(?:log|sign) in\b.{0,40}\bto (?:continue|comment|post|read|reply|view)\b"
    r"|\b(?:sign up|subscribe|abonniere\w*)\b.{0,40}\bnewsletter\b",
    re.IGNORECASE,
)
"""What a site asks its visitors in such a box."""


@dataclass(frozen=True, slots=True)
class Verdict:
    """The model's scores of a page."""

    scores: list[int]
    """The probability of each block being main content, 0 to 254."""
    kinds: tuple[float, ...]
    """The probability of each of `KINDS`; their sum is 1."""
    cut: float
    """The score from which a block is content."""
    names: Sequence[str] = ()
    """The names of each element with text."""


def choose(layout: Layout, verdict: Verdict, copies: bool | None = None) -> list[bool]:
    """Select the blocks to keep: at least one, and all of a page with very little text or no content.

    A heading is kept with what follows it, and code with the blocks around it and its name, whatever their scores.
    Paragraphs are kept with adjacent ones, especially between two. Text that is repeated on the page, as for narrow and
    wide screens, is kept once, except in documentation, where every function may have the same note.

    Args:
        layout: The page.
        verdict: The scores.
        copies: Whether text that is repeated is kept or left out, if that is decided.
    """
    best, groups = max(verdict.scores), side_by_side(layout)
    if is_tiny(layout) or best < MENUS_ONLY * 254 or (best < _EVEN * 254 and not groups):
        return [True] * len(verdict.scores)
    cut = min(verdict.cut, SHARE_OF_BEST * best)
    keep = [score >= cut for score in with_companions(layout, verdict.scores, groups)]
    for group in groups:
        kept = [number for number in group if keep[number]]
        for number in group if kept else ():
            if kept[0] < number < kept[-1] and verdict.scores[number] >= BETWEEN * cut:
                keep[number] = True
    for number in range(len(keep) - 2, -1, -1):  # backwards, so that consecutive headings depend on what follows
        if keep[number + 1] and not keep[number]:
            tag = layout.tags[layout.owners[number]]
            named = number > 1 and not keep[number - 1] and len(layout.texts[number - 1]) < _LABEL
            keep[number] = tag in HEADINGS or (tag == "pre" and number > 0 and keep[number - 1 - named])
    if not (may_repeat(verdict.kinds) if copies is None else copies):
        for number in repeats(layout, keep):
            keep[number] = False
    keep_lists_whole(layout, verdict.scores, cut, keep)
    keep_sources(layout, keep)
    keep_tables_whole(layout, keep)
    drop_empty_contents(layout, keep)
    return keep


def may_repeat(kinds: Sequence[float]) -> bool:
    """Return whether a page's kind, by the probability of each of `KINDS`, makes repetition plausible."""
    return kinds[_DOCUMENTATION] > _MAYBE


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


@dataclass(frozen=True, slots=True)
class Selection:
    """A page's main content."""

    root: Element
    """The element with the selected blocks; everything else is removed from it."""
    kind: str
    """The page's kind: article, documentation, forum, product, listing, collection or service."""
    whole: bool
    """Whether everything was kept."""
    best: float = 1.0
    """The highest score of a block, 0 to 1; almost 0 for a page of only menus, 1 if there was nothing to select."""


def select_main(
    document: Document,
    model: Model | None = None,
    hints: Hints = NO_HINTS,
    *,
    url: str = "",
    parts: Mapping[str, bool] | None = None,
) -> Selection:
    """Reduce a parsed page to its main content.

    Args:
        document: The page without invisible text, modified in place.
        model: The classifier; by default the built-in one.
        hints: The page's type hints.
        url: Its URL.
        parts: The parts that are kept or left out on every kind of page; see `choose_parts`. Copies are a part, too.

    Returns:
        The rest of the page. It has text whenever the page has.
    """
    parts = parts or {}
    if any(map(parts.get, _IN_MENUS)):  # menus are looked into, but left out unless they are wanted themselves
        parts = {"navigation": False, **parts}
    layout = lay_out(document, url, menus="navigation" in parts)
    if not layout.texts:
        root = document.find("body") or document.root or Element("body")
        return Selection(root, KINDS[0], whole=True)
    verdict = judge(layout, model or load_model(), hints)
    keep = choose(layout, verdict, parts.get("copies"))
    if not is_tiny(layout):
        if verdict.kinds[_ARTICLE] > _LIKELY and parts.get("subtitles", True):
            keep_standfirst(layout, verdict.names, keep)
        before = None if verdict.kinds[_SERVICE] > _LIKELY else list(keep)
        choose_parts(layout, verdict.names, verdict.kinds, keep, parts)
        keep_tables_whole(layout, keep)  # a column of authors has the name of a byline
        drop_empty_sections(layout, keep, sum(map(mul, verdict.kinds, _LINKS_OF_SECTION)), before)
        if parts.get("bylines", True) and parts.get("dates", True):
            attribute_posts(layout, verdict.names, verdict.kinds, keep)
        chosen = list(keep)
        boxes = keep_callouts(layout, verdict.names, keep)
        for part in parts.keys() - {"copies"}:  # a caller's wish counts inside of boxes, too
            for number in part_blocks(layout, verdict.names, chosen, part):
                keep[number] = chosen[number]
        label_callouts(layout, {box: [number for number in inside if keep[number]] for box, inside in boxes.items()})
    prune(layout, keep)
    if not is_tiny(layout):
        label_posts(layout, verdict.names, verdict.kinds, keep)
    kind = KINDS[verdict.kinds.index(max(verdict.kinds))]
    best = 1.0 if is_tiny(layout) and not layout.trimmed else max(verdict.scores) / 254  # 1: nothing to choose from
    return Selection(root=layout.elements[0], kind=kind, whole=all(keep) and not layout.trimmed, best=best)


def judge(layout: Layout, model: Model, hints: Hints = NO_HINTS) -> Verdict:
    """Score each block of a page with blocks, and classify the page."""
    facts = describe(layout, model.lexicon, hints=hints)
    lanes: Lanes = {}
    scores = model.first.chances(facts.columns, lanes)
    powers = model.powers(kind_row(facts, scores))
    whole = sum(powers)
    kinds = tuple(power / whole for power in powers)
    columns = [*facts.columns, *second_look(facts, scores)]
    columns.extend(bytes((int(200 * chance + 0.5),)) * len(scores) for chance in kinds)
    return Verdict(model.second.chances(columns, lanes), kinds, sum(map(mul, kinds, model.cuts)), facts.names)


def kind_row(facts: ElementFacts, scores: Sequence[int]) -> list[int]:
    """Return the features for a page's kind: the page's own, and the average of its apparent content."""
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


def keep_callouts(layout: Layout, names: Sequence[str], keep: list[bool]) -> dict[int, list[int]]:
    """Keep each box with a note or a warning whole, with its label, if some of it or the text on both sides is kept.

    A box of documentation needs text on one side, under the same element. What asks for cookies, scripts, or an
    address, and what is named as an advertisement, is left out, unless there is nothing else.

    Args:
        layout: The page.
        names: The names of each element.
        keep: Whether each block is selected; changed in place.

    Returns:
        The blocks of each box that is kept, by the number of its element.
    """
    told = {
        name: found
        for name in NameIndex(names).having(_STEMS_OF_CALLOUTS)
        if (found := _CALLOUT.search(name)) is not None
    }
    if not told:
        return {}
    parents, owners, texts, tags = layout.parents, layout.owners, layout.texts, layout.tags
    boxes = [0] * len(parents)  # for each element, the box it is in
    for element in range(1, len(parents)):
        is_box = names[element] in told and tags[element] not in _IN_TABLE
        boxes[element] = element if is_box else boxes[parents[element]]
    inside: dict[int, list[int]] = {}
    for number, owner in enumerate(owners):
        if boxes[owner]:
            inside.setdefault(boxes[owner], []).append(number)
    kept, before = dict[int, list[int]](), list(keep)
    most = min(_BOX, sum(len(text) for text, is_kept in zip(texts, keep, strict=True) if is_kept) // 2)
    for box, numbers in inside.items():
        text = " ".join([texts[number] for number in numbers])
        if len(text) > most:
            continue
        in_manual = told[names[box]]["manual"] is not None
        named = " ".join({names[box], *(names[owners[number]] for number in numbers)})
        others = _OTHER_BOXES[:1] if in_manual else _OTHER_BOXES
        if any(other.search(named) for other in others) or (not in_manual and _REQUEST.search(text)):
            for number in numbers:
                keep[number] = False
            continue
        around = [number for number in (numbers[0] - 1, numbers[-1] + 1) if 0 <= number < len(keep) and before[number]]
        is_near = len(around) > 1 or (in_manual and any(_holds(layout, parents[box], number) for number in around))
        is_links = 2 * sum(layout.linked[n] for n in numbers) > sum(layout.lengths[n] for n in numbers)
        if any(before[number] for number in numbers) or (is_near and (in_manual or not is_links)):
            for number in numbers:
                keep[number] = tags[owners[number]] not in CONTROLS
            kept[box] = [number for number in numbers if keep[number]]
    if not any(keep):
        keep[:] = before
    return kept


def _holds(layout: Layout, element: int, number: int) -> bool:
    """Return whether a block is inside an element."""
    owner = layout.owners[number]
    while owner > element:
        owner = layout.parents[owner]
    return owner == element


def label_callouts(layout: Layout, boxes: Mapping[int, Sequence[int]]) -> None:
    """Write the label of each box in bold: a short text at its beginning, or else what its icon stands for.

    Args:
        layout: The page, whose elements are modified.
        boxes: The blocks of each box; see `keep_callouts`.
    """
    for box, numbers in boxes.items():
        first = numbers[0] if numbers else 0
        tag, text, nodes = layout.tags[layout.owners[first]], layout.texts[first], layout.nodes[first]
        if len(numbers) > 1 and len(text) <= _LABEL and not text.endswith(_ENDS_OF_TEXT):
            if len(nodes) == 1 and tag not in _NO_LABELS and layout.leads[first] not in _BOLD:
                nodes[0].replace_with(Element("strong", {}, [Text(text)]))
        elif numbers and (icon := layout.elements[box].select_one(_ICON)) is not None:
            label = (icon.attr("title") or icon.attr("alt") or "").strip()
            if label and len(label) <= _LABEL and not text.startswith(label):
                nodes[0].insert_before(Element("strong", {}, [Text(f"{label}:")]), Text(" "))


def prune(layout: Layout, keep: Sequence[bool]) -> None:
    """Remove every block that is not selected, and elements without selected content."""
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
    for number in range(1, len(elements)):
        if not kept[number] and kept[parents[number]]:
            if layout.tags[number] == "label" and elements[number].find("input") is not None:
                continue  # the checkbox of a task, beside its text
            if layout.tags[number] not in _HOLDS_PLACE or full[number]:
                elements[number].decompose()
