"""Blocks that are selected together: lists, tables, a heading and its section, and copies that are not.

Scores judge blocks one by one; readers expect whole lists and tables, and each text once. Each rule here was left out
in turn, on 998 pages whose text was reviewed and 495 with snippets: what changed no figure is gone (siblings of one
shape, entries below entries, excerpts).
"""

from __future__ import annotations

import re
from collections.abc import Iterable, Sequence
from itertools import accumulate, chain
from math import sqrt
from operator import mul
from types import MappingProxyType
from typing import Final

from groundwire.reading.main_content.blocks import Layout
from groundwire.reading.markdown.tables import is_layout

__all__ = [
    "BETWEEN",
    "REPEATED",
    "drop_empty_contents",
    "drop_empty_sections",
    "keep_lists_whole",
    "keep_sources",
    "keep_standfirst",
    "keep_tables_whole",
    "repeats",
    "side_by_side",
    "with_companions",
]

_WORD_FOR_WORD: Final = frozenset({"pre", "td", "th"})
"""Kinds of pages that are looked up rather than read; a repeated line belongs there."""
REPEATED: Final = 40
"""Characters; shorter text may well be repeated."""
_RUNNING: Final = frozenset({"p", "li"})
_LONG: Final = 40  # characters of running text
_FEW_LINKS: Final = 0.4  # their share of a running text
BETWEEN: Final = 0.5
"""The share of the threshold that suffices between two selected paragraphs, or for a short list between blocks."""
_SEVERAL: Final = 4  # list items from which they are judged together
_SHARE_OF_LIST: Final = 0.6
"""The share of a list's items from which the whole list is content."""
_ENTRY: Final = 80  # characters of an entry in a list
_OF_SOURCE: Final = frozenset({"blockquote", "footer", "p"})
_SHARE_OF_TABLE: Final = 0.5
"""The share of a table's text, without headers, from which the table is content."""
_CONTENTS: Final = re.compile(
    r"\W*(?:table of contents|contents|(?:in|on) this (?:article|guide|page|post)|page contents|jump to|inhalt"
    r"|inhaltsverzeichnis|sommaire|table des mati[eè]res|contenidos?|índice|tabla de contenidos?|indice|sommario"
    r"|sumário|inhoud|inhoudsopgave|spis treści|содержание|目次|目录|目錄)\W*",
    re.IGNORECASE,
)
"""The heading of a table of contents."""
_LEVELS: Final = MappingProxyType({f"h{level}": level for level in range(1, 7)})
_STANDFIRST: Final = re.compile(
    r"(?<![a-z])(?:leads?|lede|dek|deck|standfirst|strapline|sub-?(?:title|head|heading|headline|line)s?|summary|excerpt"
    r"|intro(?:duction)?|teaser|hero|description|abstract|preamble|vorspann|anriss|ingress|bajada|entradilla|sumario"
    r"|resumen|epigraph|epigrafe|chapeau|chapo|occhiello|sommario|sapo)(?![a-z])",
    re.IGNORECASE,
)
"""Names of what stands between the headline of an article and its text, in the languages of newspapers."""
_NO_STANDFIRST: Final = re.compile(
    r"(?<![a-z])(?:author|byline|meta|date|share|social|breadcrumbs?|tags?|nav|menu|credit|related|caption|comments?|ads?"
    r"|affiliate|discl\w+|reviewed)(?![a-z])",
    re.IGNORECASE,
)
_HEADERS: Final = frozenset({"header", "hgroup"})
_ASIDE: Final = frozenset(
    {"aside", "button", "figcaption", "figure", "footer", "label", "li", "nav", "pre", "td", "th"}
)
_BELOW_HEADLINE: Final = 12  # blocks
_SHORTEST, _LONGEST = 60, 500  # characters of a standfirst
_BODY: Final = 80  # characters of a block that the text begins with
_COMPANIONS: Final = 3  # adjacent paragraphs from which they are also judged together


def keep_standfirst(layout: Layout, names: Sequence[str], keep: list[bool]) -> None:
    """Keep what stands between the headline of an article and its text, which tells the essence of it.

    It is known by the names of its elements, or by a header around it. Scores seldom tell it from a teaser.

    Args:
        layout: The page.
        names: The names of each element.
        keep: Whether each block is selected; changed in place.
    """
    tags, parents, owners, texts = layout.tags, layout.parents, layout.owners, layout.texts
    headline = next((number for number, owner in enumerate(owners) if tags[owner] == "h1"), len(owners))
    around, element = {0}, owners[headline] if headline < len(owners) else 0
    while element:
        around.add(element)
        element = parents[element]
    for number in range(headline + 1, min(len(owners), headline + 1 + _BELOW_HEADLINE)):
        size, inside, element = len(texts[number]), list[int](), owners[number]
        if keep[number] and size >= _BODY:
            return
        while element not in around:
            inside.append(element)
            element = parents[element]
        own = {tags[one] for one in inside}
        named = " ".join([names[one] for one in inside])
        if (
            _SHORTEST <= size <= _LONGEST
            and 3 * layout.linked[number] <= layout.lengths[number]
            and own.isdisjoint(_ASIDE)
            and _NO_STANDFIRST.search(named) is None
            and (_STANDFIRST.search(named) or not _HEADERS.isdisjoint({*own, tags[element]}))
        ):
            keep[number] = True


def keep_lists_whole(layout: Layout, scores: Sequence[int], cut: float, keep: list[bool]) -> None:
    """Keep the missing items of mostly selected lists, and of short ones by their average score.

    Between selected blocks, a share of the threshold suffices for a short list.
    """
    tags, parents = layout.tags, layout.parents
    if "li" not in tags:
        return
    lists = [0] * len(tags)  # for each element, the list of its enclosing item
    for number, tag in enumerate(tags):
        lists[number] = parents[number] if tag == "li" else lists[parents[number]]
    blocks: dict[int, list[int]] = {}
    for number, owner in enumerate(layout.owners):
        if lists[owner]:
            blocks.setdefault(lists[owner], []).append(number)
    for inside in blocks.values():
        kept = sum(keep[number] for number in inside)
        first, last = inside[0], inside[-1]
        between = first > 0 and last < len(keep) - 1 and keep[first - 1] and keep[last + 1]
        if len(inside) >= _SEVERAL:
            whole = _SHARE_OF_LIST * len(inside) <= kept
        else:
            whole = sum(scores[number] for number in inside) >= cut * len(inside) * (BETWEEN if between else 1)
        if (kept > 0 or between) and kept < len(inside) and whole:
            for number in inside:
                keep[number] = True


def keep_sources(layout: Layout, keep: list[bool]) -> None:
    """Keep the short end of a selected quotation, which says whose it is; a link alone, such as "Expand", does not."""
    tags, parents, owners = layout.tags, layout.parents, layout.owners
    if "blockquote" not in tags:
        return
    quotes = [0] * len(tags)  # for each element, the quotation it is in
    for number, tag in enumerate(tags):
        quotes[number] = number if tag == "blockquote" else quotes[parents[number]]
    for number in range(1, len(keep)):
        quote, tag = quotes[owners[number]], tags[owners[number]]
        if keep[number - 1] and quote and quotes[owners[number - 1]] == quote and tag in _OF_SOURCE:
            is_link = tag == "blockquote" and layout.linked[number] >= layout.lengths[number]
            keep[number] = keep[number] or (len(layout.texts[number]) < _ENTRY and not is_link)


def drop_empty_contents(layout: Layout, keep: list[bool]) -> None:
    """Leave out the heading of a table of contents whose entries are left out; at least one block remains."""
    left = sum(keep)
    for number in range(len(keep) - 1):
        if keep[number] and not keep[number + 1] and left > 1 and _CONTENTS.fullmatch(layout.texts[number]):
            keep[number] = False
            left -= 1


def drop_empty_sections(layout: Layout, keep: list[bool], links: float, before: Sequence[bool] | None = None) -> None:
    """Leave out the headings of sections of which nothing is selected.

    Args:
        layout: The page.
        keep: Whether each block is selected; changed in place. At least one remains.
        links: The share of links in the text of a section from which that applies; a section without text is none.
        before: What was selected before parts of the page were left out; where these were the whole section, its
            heading belongs to them.
    """
    before = before or keep
    if links > 1 and keep == before:
        return
    columns = (layout.lengths, layout.linked, before)
    lengths, linked, had = (list(accumulate(map(int, sizes), initial=0)) for sizes in columns)
    left, nearest, ends = sum(keep), len(keep), [len(keep)] * (len(_LEVELS) + 1)
    for number in range(len(keep) - 1, -1, -1):
        level = _LEVELS.get(layout.tags[layout.owners[number]], 0)
        if keep[number] and level > 1 and left > 1 and not layout.linked[number]:
            end = min(ends[1 : level + 1])
            length = lengths[end] - lengths[number + 1]
            emptied = had[end] > had[number + 1] and len(layout.texts[number]) < _ENTRY
            if end <= nearest and length > 0 and (emptied or links * length <= linked[end] - linked[number + 1]):
                keep[number] = False
                left -= 1
        if keep[number]:
            nearest = number
        ends[level] = number


def keep_tables_whole(layout: Layout, keep: list[bool]) -> None:
    """Keep all of a data table, or nothing: a table with missing cells looks complete but is wrong."""
    tags, parents, lengths = layout.tags, layout.parents, list(map(len, layout.texts))
    if "table" not in tags:
        return
    tables = [0] * len(tags)  # for each element, its enclosing data table
    for number, tag in enumerate(tags):
        tables[number] = tables[parents[number]]
        if tag == "table" and not tables[number] and not is_layout(layout.elements[number]):
            tables[number] = number
    blocks: dict[int, list[int]] = {}
    for number, owner in enumerate(layout.owners):
        if tables[owner]:
            blocks.setdefault(tables[owner], []).append(number)
    kept = [inside for inside in blocks.values() if any(keep[number] for number in inside)]
    for inside in kept:
        told = [number for number in inside if tags[layout.owners[number]] != "th"] or inside
        share = sum(lengths[number] for number in told if keep[number])
        wanted = share >= _SHARE_OF_TABLE * sum(lengths[number] for number in told)
        for number in inside:
            keep[number] = wanted
    if not any(keep):
        for number in chain.from_iterable(kept):
            keep[number] = True


def with_companions(layout: Layout, scores: Sequence[int], groups: Iterable[Sequence[int]]) -> list[int]:
    """Return the scores, with each paragraph's at least the average of its adjacent paragraphs.

    Args:
        layout: The page.
        scores: The score of each block, 0 to 254.
        groups: The groups of adjacent blocks; see `side_by_side`.
    """
    raised = list(scores)
    for group in groups:
        if len(group) >= _COMPANIONS:
            weights = [sqrt(len(layout.texts[number])) for number in group]
            mean = int(sum(map(mul, weights, [scores[number] for number in group])) / sum(weights))
            for number in group:
                raised[number] = max(scores[number], mean)
    return raised


def side_by_side(layout: Layout) -> list[list[int]]:
    """Return the blocks of running text, grouped by parent element and kind."""
    parents, tags, linked, lengths = layout.parents, layout.tags, layout.linked, layout.lengths
    groups: dict[tuple[int, str], list[int]] = {}
    for number, (owner, text) in enumerate(zip(layout.owners, layout.texts, strict=True)):
        if len(text) >= _LONG and tags[owner] in _RUNNING and linked[number] <= _FEW_LINKS * lengths[number]:
            groups.setdefault((parents[owner], tags[owner]), []).append(number)
    return list(groups.values())


def repeats(layout: Layout, keep: Sequence[bool]) -> list[int]:
    """Return the selected blocks whose text was already selected in another part of the page."""
    found = []
    parents, owners, tags = layout.parents, layout.owners, layout.tags
    places: dict[str, int] = {}
    for number, (text, kept) in enumerate(zip(layout.texts, keep, strict=True)):
        if kept and len(text) >= REPEATED and tags[owners[number]] not in _WORD_FOR_WORD:
            around = parents[owners[number]]
            if places.setdefault(text, around) != around:
                found.append(number)
    return found
