"""Features of each block of a page, as numbers from 0 to 254.

The features are columns with a byte per block, because the trees read them column by column.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from functools import reduce
from itertools import accumulate, repeat
from operator import add, floordiv, or_, sub
from typing import Final

from groundwire.reading.main_content.blocks import Layout
from groundwire.reading.main_content.element_features import (
    SEMANTIC,
    ElementFeatures,
    Holdings,
    innermost,
    see_standing,
    sum_up,
    within,
)
from groundwire.reading.main_content.page_type import HINTS, NO_HINTS, Hints
from groundwire.reading.main_content.quantize import (
    MAX_CODE,
    LookupColumn,
    Picker,
    fields,
    log,
    logs,
    picker,
    ratio,
    shift,
    steps,
    stretch,
    take,
)
from groundwire.reading.main_content.text_features import GROUPS, Lexicon, Wording, names_of, read_wording

_TAGS: Final[Mapping[str, int]] = {
    name: number
    for number, names in enumerate(
        (
            "p", "div", "section", "article", "main", "header", "footer", "nav", "aside", "form", "h1", "h2", "h3",
            "h4", "h5 h6", "li", "td", "th", "dt", "dd", "blockquote", "pre", "figcaption caption", "button",
            "label", "summary", "address", "tr table tbody", "ul ol dl", "body", "noscript", "figure", "details",
        )
    )
    for name in names.split()
}  # fmt: skip
_OTHER_TAG: Final = 40
_HEADINGS: Final[Mapping[str, int]] = {f"h{level}": level for level in range(1, 7)}
_LEADS: Final[Mapping[str, int]] = {
    "": 0,
    "a": 1,
    "strong": 2,
    "b": 2,
    "em": 3,
    "i": 3,
    "span": 4,
    "time": 5,
    "code": 6,
    "small": 7,
}
_OTHER_LEAD: Final = 9
_FOOTER: Final = 1 << SEMANTIC.index("footer")
_LEVELS: Final = (0, 1, 2, 3, 5)
_STEPS: Final = (-2, -1, 1, 2)
_WIDENED: Final = tuple(int(f"{mask:b}", 4) for mask in range(1 << len(GROUPS)))
"""Masks with two bits for each bit, so that two of them can be added group by group."""
_PAGE_GROUPS: Final = tuple(GROUPS.index(name) for name in ("comment", "thread", "product", "listing"))

FEATURES: Final[tuple[str, ...]] = (
    "size", "link_share", "links", "end", "tag", "lead", "heading", "opening1", "opening2", "repeat",
    "place", "good_place", "since_h1", "since_heading", "last_heading_size",
    "under_heading1", "under_heading2", "under_label1", "under_label2",
    *(f"{what}{step:+d}" for step in _STEPS for what in ("size", "link_share")), "window_links",
    *(f"{what}@{level}" for level in _LEVELS for what in ("size", "link_share", "good", "blocks", "paragraphs")),
    "depth", *(f"in_{name}" for name in SEMANTIC), "articles_around",
    *(f"kw_{name}" for name in GROUPS), "name_low@0", "name_high@0", "name_low@1", "name_high@1", "name_low@2",
    "name_high@2", "name_low_any", "name_high_any", "name_sum",
    *(f"brothers{what}@{level}" for level in (0, 1, 2, 3) for what in ("", "_size")),
    "kind_count", "kind_size", "kind_links",
    "in_core", "below_core", "core_place",
    "page_blocks", "page_size", "page_links", "page_paragraphs", "page_good", "core_size", "core_good",
    "page_article", "page_articles", "page_headings", "page_pre", "page_cells", "page_items", "page_money",
    "page_times", "page_forms", "page_main", "page_kind_share", "page_kind_size", "page_kind_count", "page_comment",
    "page_thread", "page_product", "page_listing", *HINTS,
)  # fmt: skip
"""The column names. `@n` refers to the n-th ancestor of the block, `+n` to the n-th block after it. "Good" is
running text: long and without links. A label is a heading, or short text that is not a sentence and not a link. The
core is the innermost element with 70 % of the good text."""


@dataclass(slots=True)
class ElementFacts:
    """The features of a page's blocks."""

    columns: list[bytes]
    """The columns in the order of `FEATURES`; a byte per block."""
    sizes: list[int]
    """Characters of each block."""
    names: list[str]
    """The names of each element with text; see `names_of`."""


def describe(layout: Layout, lexicon: Lexicon, names: list[str] | None = None, hints: Hints = NO_HINTS) -> ElementFacts:
    """Return the features of each block of a page with blocks.

    Args:
        layout: The page.
        lexicon: The meanings of words.
        names: The names of each element, if already known; see `names_of`.
        hints: The page's type hints.
    """
    owners, tags = layout.owners, layout.tags
    sizes = list(map(len, layout.texts))
    shares = [ratio(linked, length) for linked, length in zip(layout.linked, layout.lengths, strict=True)]
    good = [
        size * (200 - share) * (10 if size >= 80 else 3) // 2000 if size >= 40 else 0
        for size, share in zip(sizes, shares, strict=True)
    ]
    holdings = sum_up(layout, sizes, shares, good)
    names = names_of(layout, holdings.blocks) if names is None else names
    standing = see_standing(layout, names, holdings, lexicon)
    headings = [tags[owner] in _HEADINGS for owner in owners]
    main_heading = next(
        (
            block
            for block, owner in enumerate(owners)
            if tags[owner] == "h1" and not standing.flags[standing.states[owner]] & _FOOTER
        ),
        -1,
    )
    wording = read_wording(layout.texts, sizes, shares, headings, lexicon)
    picks: Sequence[int] = owners
    around: list[Picker] = [picker(picks)]
    for _ in range(5):
        picks = around[-1](layout.parents)
        around.append(picker(picks))
    kinds = _shapes(layout, names)
    core = innermost(holdings.good, standing.depths, 0.7)
    columns = [
        *_block_columns(layout, sizes, shares, wording, headings),
        *_place_columns(sizes, good, main_heading, wording, holdings),
        *_neighbor_columns(sizes, shares),
        *_element_columns(_holding_codes(holdings), standing, around),
        *_shape_columns(kinds, sizes, shares),
        *within(around[0], standing.depths, core, holdings.ends[core]),
        stretch(holdings.firsts[core], holdings.lasts[core] - holdings.firsts[core] + 1, len(sizes)),
        *_page_columns(layout, holdings, standing, wording, headings, kinds, sizes, core),
        *(bytes((code,)) * len(sizes) for code in hints),
    ]
    return ElementFacts(columns, sizes, names)


def _block_columns(
    layout: Layout, sizes: Sequence[int], shares: Sequence[int], wording: Wording, headings: Sequence[bool]
) -> list[bytes]:
    tags, owners = layout.tags, layout.owners
    return [
        logs(sizes),
        bytes(shares),
        logs(layout.links),
        wording.ends,
        _tag_column(layout),
        bytes([_LEADS.get(lead, _OTHER_LEAD) for lead in layout.leads]),
        bytes([_HEADINGS[tags[owner]] if is_one else 0 for is_one, owner in zip(headings, owners, strict=True)]),
        bytes(wording.first_words),
        bytes(wording.two_words),
        bytes(wording.repeats),
    ]


def _tag_column(layout: Layout) -> bytes:
    return bytes([_TAGS.get(layout.tags[owner], _OTHER_TAG) for owner in layout.owners])


def _place_columns(
    sizes: Sequence[int], good: Sequence[int], main_heading: int, wording: Wording, holdings: Holdings
) -> list[bytes]:
    count, total = len(sizes), holdings.good[0]
    places = [200 * so_far // total for so_far in accumulate(good[:-1], initial=0)] if total else [0] * count
    far = bytes((220,)) * count
    if main_heading >= 0:
        far = steps(60 - main_heading, count)
    return [
        bytes([200 * block // count for block in range(count)]),
        bytes(places),
        far,
        bytes(wording.since_heading),
        bytes(wording.heading_sizes),
        *map(bytes, wording.under),
    ]


def _neighbor_columns(sizes: Sequence[int], shares: Sequence[int]) -> list[bytes]:
    count = len(sizes)
    near = (logs(sizes), bytes(shares))
    columns = [shift(column, step) for step in _STEPS for column in near]
    widths = _around(range(count + 1))
    columns.append(bytes(map(floordiv, _around(list(accumulate(shares, initial=0))), widths)))
    return columns


def _around(sums: Sequence[int]) -> list[int]:
    """Return, from running sums, the sum of five blocks before to five after each block."""
    count = len(sums) - 1
    ends = [*sums[6:], *repeat(sums[-1], min(count, 5))]
    starts = [*repeat(sums[0], min(count, 5)), *sums[: max(0, count - 5)]]
    return list(map(sub, ends, starts))


def _holding_codes(holdings: Holdings) -> list[bytes]:
    total = holdings.good[0] or 1
    return [
        logs(holdings.sizes),
        bytes([links // size if size else 0 for links, size in zip(holdings.links, holdings.sizes, strict=True)]),
        bytes([200 * part // total for part in holdings.good]),
        logs(holdings.blocks),
        bytes([200 * n // every if n else 0 for n, every in zip(holdings.paragraphs, holdings.blocks, strict=True)]),
    ]


def _element_columns(codes: list[bytes], standing: ElementFeatures, around: list[Picker]) -> list[bytes]:
    here = around[0]
    columns = [take(column, around[level]) for level in _LEVELS for column in codes]
    depths = here(standing.depths)
    columns.append(bytes(depths if max(depths) <= MAX_CODE else [min(MAX_CODE, depth) for depth in depths]))
    places = [LookupColumn(around[level](standing.states), len(standing.flags)) for level in (0, 1, 2)]
    own_column = places[0].column
    columns += fields(standing.flags, len(SEMANTIC), 1, own_column)
    columns.append(own_column(standing.articles))
    wide = _WIDENED.__getitem__
    columns += fields(list(map(add, map(wide, standing.near), map(wide, standing.around))), len(GROUPS), 2, own_column)
    for place in places:
        columns += [place.column(standing.low), place.column(standing.high)]
    columns += [own_column(standing.low_any), own_column(standing.high_any)]
    columns.append(own_column([max(0, min(MAX_CODE, total)) for total in standing.sums]))
    group: Picker = picker(standing.siblings)
    groups = zip(standing.brother_sizes, standing.brother_counts, strict=True)
    counts = take(logs(standing.brother_counts), group)
    means = take(logs([size // number for size, number in groups]), group)
    for level in (0, 1, 2, 3):
        columns += [take(counts, around[level]), take(means, around[level])]
    return columns


def _shapes(layout: Layout, names: Sequence[str]) -> list[int]:
    """Return the shape group of each block: tag and names of its element and its parent."""
    tags, parents = layout.tags, layout.parents
    numbers: dict[tuple[str, str, str, str], int] = {}
    shapes = []
    for owner in layout.owners:
        parent = parents[owner]
        shapes.append(numbers.setdefault((tags[owner], names[owner], tags[parent], names[parent]), len(numbers)))
    return shapes


def _shape_sums(kinds: Sequence[int], values: Sequence[int]) -> list[int]:
    sums = [0] * (max(kinds) + 1)
    for kind, value in zip(kinds, values, strict=True):
        sums[kind] += value
    return sums


def _shape_columns(kinds: Sequence[int], sizes: Sequence[int], shares: Sequence[int]) -> list[bytes]:
    counts = _shape_sums(kinds, [1] * len(kinds))
    means = [size // number for size, number in zip(_shape_sums(kinds, sizes), counts, strict=True)]
    links = [share // number for share, number in zip(_shape_sums(kinds, shares), counts, strict=True)]
    pick: Picker = picker(kinds)
    return [take(logs(counts), pick), take(logs(means), pick), take(links, pick)]


def _page_columns(
    layout: Layout,
    holdings: Holdings,
    standing: ElementFeatures,
    wording: Wording,
    headings: Sequence[bool],
    kinds: Sequence[int],
    sizes: Sequence[int],
    core: int,
) -> list[bytes]:
    tags, owners, count, total = layout.tags, layout.owners, len(sizes), holdings.sizes[0]
    states = [standing.states[owner] for owner in owners]
    flags = [standing.flags[state] for state in states]
    meanings = reduce(or_, set(flags))
    block_tags = [tags[owner] for owner in owners]
    pre = 1 << SEMANTIC.index("pre")
    shape_sizes = _shape_sums(kinds, sizes)
    widest = shape_sizes.index(max(shape_sizes))
    shape_count = kinds.count(widest)
    around = [standing.around[state] for state in states]
    groups = reduce(or_, set(around))
    page = (
        log(count),
        log(total),
        ratio(holdings.links[0] / 200, total),
        log(holdings.paragraphs[0]),
        ratio(holdings.good[0], total),
        log(holdings.sizes[core]),
        ratio(holdings.good[core], holdings.sizes[core]),
        meanings >> 1 & 1,
        log(tags.count("article")),
        log(sum(headings)),
        ratio(
            sum([size for size, flag in zip(sizes, flags, strict=True) if flag & pre]) if meanings & pre else 0, total
        ),
        ratio(block_tags.count("td") + block_tags.count("th"), count),
        ratio(block_tags.count("li"), count),
        log(wording.money),
        log(wording.times),
        log(tags.count("form")),
        meanings & 1,
        ratio(shape_sizes[widest], total),
        log(shape_sizes[widest] // shape_count),
        log(shape_count),
        *(
            ratio(sum([s for s, mask in zip(sizes, around, strict=True) if mask >> bit & 1]), total)
            if groups >> bit & 1
            else 0
            for bit in _PAGE_GROUPS
        ),
    )
    return [bytes((value,)) * count for value in page]
