"""Features of each block from its element."""

from __future__ import annotations

from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass
from itertools import compress
from typing import Final

from groundwire.reading.main_content.blocks import Layout
from groundwire.reading.main_content.quantize import Picker, take
from groundwire.reading.main_content.text_features import NEUTRAL, Lexicon

SEMANTIC: Final = (
    "main", "article", "footer", "aside", "figure", "nav", "header", "form", "table", "list", "section", "quote",
    "button", "noscript", "details", "pre",
)  # fmt: skip
"""The semantics of an element's name or role, in the order of the bits of `ElementFeatures.flags`."""
_FLAGS: Final[Mapping[str, int]] = {
    **{name: 1 << bit for bit, name in enumerate(SEMANTIC)},
    "ul": 1 << 9, "ol": 1 << 9, "dl": 1 << 9, "menu": 1 << 9, "blockquote": 1 << 11,
}  # fmt: skip
_ROLES: Final[Mapping[str, int]] = {
    "main": 1, "article": 1 << 1, "contentinfo": 1 << 2, "complementary": 1 << 3, "navigation": 1 << 5,
    "banner": 1 << 6, "form": 1 << 7, "search": 1 << 7, "dialog": 1 << 5, "menu": 1 << 5, "menubar": 1 << 5,
}  # fmt: skip

_Place = tuple[int, int, int, int, int, int, int, int, int, int, int]
"""Depth, flags, the purpose of its names, and the attributes of `ElementFeatures` for each context from `near` on."""
_NOWHERE: Final[_Place] = (0, 0, 0, 0, 0, NEUTRAL, NEUTRAL, NEUTRAL, NEUTRAL, NEUTRAL, 0)
_Verdict = tuple[int, int, int, int]
"""Meanings of names: keyword groups as bits; the worst of the words; the best; the meaning of the role."""


@dataclass(slots=True)
class Holdings:
    """Sums over the blocks inside each element."""

    sizes: list[int]
    """Characters."""
    links: list[int]
    """Characters times the share of links."""
    good: list[int]
    """Running text; see `groundwire.reading.main_content.features`."""
    blocks: list[int]
    paragraphs: list[int]
    firsts: list[int]
    """The first block inside each."""
    lasts: list[int]
    ends: list[int]
    """The last descendant with text of each."""


@dataclass(slots=True)
class ElementFeatures:
    """Names and contexts of the elements that hold text.

    Elements with the same name and tag in the same context share a context, which applies to most elements of a page,
    so features are stored once per context.
    """

    states: list[int]
    """The context of each element; 0 for elements without text."""
    depths: list[int]
    """The depth of each element with text."""
    flags: list[int]
    """For each context, the semantics of the element and all ancestors as bits; see `SEMANTIC`."""
    near: list[int]
    """The purpose suggested by its names and its parent's, a bit per keyword group."""
    around: list[int]
    """The same, including all ancestors."""
    low: list[int]
    """The worst meaning of its names."""
    high: list[int]
    """The best."""
    low_any: list[int]
    high_any: list[int]
    sums: list[int]
    articles: list[int]
    """The number of enclosing articles."""
    siblings: list[int]
    """For each element, its sibling group: same parent, same tag, same names."""
    brother_counts: list[int]
    brother_sizes: list[int]


def sum_up(layout: Layout, sizes: Sequence[int], link_shares: Sequence[int], good: Sequence[int]) -> Holdings:
    """Return the sums for each element."""
    count, total = len(sizes), len(layout.parents)
    characters, links, running, blocks, paragraphs = ([0] * total for _ in range(5))
    firsts, lasts, ends = [count] * total, [-1] * total, list(range(total))
    for block, owner in enumerate(layout.owners):
        size, share = sizes[block], link_shares[block]
        characters[owner] += size
        links[owner] += size * share
        running[owner] += good[block]
        blocks[owner] += 1
        if size >= 80 and share < 80:
            paragraphs[owner] += 1
        if firsts[owner] == count:
            firsts[owner] = block
        lasts[owner] = block
    parents = layout.parents
    for element in range(total - 1, 0, -1):
        if blocks[element]:
            parent = parents[element]
            characters[parent] += characters[element]
            links[parent] += links[element]
            running[parent] += running[element]
            blocks[parent] += blocks[element]
            paragraphs[parent] += paragraphs[element]
            if firsts[element] < firsts[parent]:
                firsts[parent] = firsts[element]
            if lasts[element] > lasts[parent]:
                lasts[parent] = lasts[element]
            if ends[element] > ends[parent]:
                ends[parent] = ends[element]
    return Holdings(characters, links, running, blocks, paragraphs, firsts, lasts, ends)


def see_standing(layout: Layout, names: Sequence[str], holdings: Holdings, lexicon: Lexicon) -> ElementFeatures:
    """Return the names and contexts of the elements that hold text."""
    parents, tags, characters, blocks = layout.parents, layout.tags, holdings.sizes, holdings.blocks
    total = len(parents)
    states, siblings = [0] * total, [0] * total
    entries = [_NOWHERE]
    state_of: dict[tuple[int, str, str], int] = {}
    groups: dict[int, int] = {}
    counts: list[int] = []
    sizes: list[int] = []
    verdicts = _judge(names, lexicon)
    rows = compress(zip(range(total), parents, tags, names, characters, strict=True), blocks)
    for element, parent, tag, name, size in rows:
        above = states[parent]
        key = (above, tag, name)
        state = state_of.get(key)
        if state is None:
            verdict = verdicts[name]
            state = state_of[key] = len(entries)
            entries.append(_stand(entries[above], tag, verdict) if element else _at_root(verdict))
        states[element] = state
        brothers = state * total + parent
        group = groups.get(brothers)
        if group is None:
            group = groups[brothers] = len(counts)
            counts.append(1)
            sizes.append(size)
        else:
            counts[group] += 1
            sizes[group] += size
        siblings[element] = group
    deep, flags, _, near, masks, low, high, low_any, high_any, sums, articles = map(list, zip(*entries, strict=True))
    depths = [deep[state] for state in states]
    return ElementFeatures(
        states, depths, flags, near, masks, low, high, low_any, high_any, sums, articles, siblings, counts, sizes
    )


def _at_root(verdict: _Verdict) -> _Place:
    mask, low, high, _ = verdict
    return 0, 0, mask, mask, 0, low, high, NEUTRAL, NEUTRAL, NEUTRAL, 0


def _stand(around: _Place, tag: str, verdict: _Verdict) -> _Place:
    """Return the context of an element, given its parent's."""
    depth, flags, own, _, masks, _, _, low_any, high_any, total, articles = around
    mask, low, high, flag = verdict
    return (
        depth + 1,
        flags | flag | _FLAGS.get(tag, 0),
        mask,
        own | mask,
        masks | mask,
        low,
        high,
        min(low, low_any),
        max(high, high_any),
        total + (low + high - 2 * NEUTRAL) // 2,
        articles + 1 if tag == "article" and articles < 9 else articles,
    )


def _judge(names: Iterable[str], lexicon: Lexicon) -> dict[str, _Verdict]:
    """Return the meaning of each text of names: keyword groups, the worst, the best, and the meaning of the role."""
    different = list(dict.fromkeys(names))
    verdicts: dict[str, _Verdict] = {}
    for name, (mask, worst, best) in zip(different, lexicon.judge(different), strict=True):
        role = name.rfind(" role")
        verdicts[name] = mask, worst, best, _ROLES.get(name[role + 5 :], 0) if role >= 0 else 0
    return verdicts


def innermost(parts: Sequence[int], depths: Sequence[int], share: float) -> int:
    """Return the first of the deepest elements that hold a share of the whole.

    Args:
        parts: The weight of each element; the first holds the whole.
        depths: The depth of each element.
        share: From 0 to 1.
    """
    least = share * (parts[0] or 1)
    return max([element for element, part in enumerate(parts) if part >= least], key=depths.__getitem__, default=0)


def within(here: Picker, depths: Sequence[int], place: int, end: int) -> list[bytes]:
    """Return for each block whether an element contains it, and how deep below it, from 1 to 51.

    Args:
        here: Selects the value of each block's element.
        depths: The depth of each element.
        place: The element.
        end: The last element inside.
    """
    inside = take(bytes(place) + b"\x01" * (end + 1 - place) + bytes(len(depths) - end - 1), here)
    base = depths[place] - 1
    deepest = base + 51
    below = [
        0 if not i else depth - base if depth < deepest else 51 for depth, i in zip(here(depths), inside, strict=True)
    ]
    return [inside, bytes(below)]
