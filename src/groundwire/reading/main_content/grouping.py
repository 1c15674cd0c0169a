"""Blocks that are selected together: paragraphs, lists, tables, siblings of one shape, copies.

Scores judge blocks one by one; readers expect whole lists, tables, and series of posts, and each text once.
"""

from __future__ import annotations

import re
from bisect import bisect_left, bisect_right
from collections import Counter
from collections.abc import Iterable, Sequence
from itertools import accumulate, chain, compress
from math import sqrt
from operator import mul
from types import MappingProxyType
from typing import Final

from groundwire.reading.main_content.blocks import HEADINGS, Layout
from groundwire.reading.markdown.tables import is_layout

__all__ = [
    "BETWEEN",
    "REPEATED",
    "drop_empty_contents",
    "drop_empty_sections",
    "excerpts",
    "judge_siblings",
    "keep_lists_whole",
    "keep_sources",
    "keep_standfirst",
    "keep_sublists",
    "keep_tables_whole",
    "repeats",
    "side_by_side",
    "with_companions",
]

_WORD_FOR_WORD: Final = frozenset({"pre", "td", "th"})
"""Kinds of pages that are looked up rather than read; a repeated line belongs there."""
REPEATED: Final = 40
"""Characters; shorter text may well be repeated."""
_BESIDE_TEXT: Final = frozenset({"div", "aside", "label", "dd", "dt"})
"""Elements of an excerpt; a paragraph or an item that another has word for word is a summary, or the text itself."""
_EXCERPT: Final = 0.9
"""The share of a text below which a part of it is an excerpt."""
_MOST_EXCERPTS: Final = 50
"""Blocks that are looked for in all earlier text, which bounds the time."""
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
_SIBLINGS: Final = 3
"""Siblings of one shape from which they are judged together, and blocks from which a place in them is."""
_MOST_IN_SIBLING: Final = 100
"""Blocks of a sibling; larger ones are sections of the page, and this bounds the work on nested ones."""
_NO_SIBLINGS: Final = HEADINGS | {"p", "td", "th", "tr", "tbody", "thead", "pre"}
_SHARE_OF_SIBLINGS: Final = 0.4
"""The share of selected siblings from which the others are selected, too."""
_SHARE_OF_PLACE: Final = 0.5
"""The share of the selected siblings in which a place must be selected to be so in the others."""
_MOST_OF_PLACE: Final = 0.75
"""The share from which a place is selected in all of them; if so many have it not, it is in none."""
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


def judge_siblings(layout: Layout, names: Sequence[str], keep: list[bool]) -> None:
    """Select the same places in all siblings of one shape: posts, cards, questions with their answers.

    Siblings have one parent, tag, and first name; items without names have a rule of their own. Blocks are at the same
    place in them if their elements and the elements around these have the same tags and first names. If enough of the
    siblings are selected, the others are, too, at the places where most of those are; and a place at which almost all
    or almost none of those are is selected in all of them, or in none.

    Args:
        layout: The page.
        names: The names of each element.
        keep: Whether each block is selected; changed in place.
    """
    parents, tags, owners = layout.parents, layout.tags, layout.owners
    firsts, lasts = [len(owners)] * len(parents), [-1] * len(parents)
    for number, owner in enumerate(owners):
        lasts[owner] = number
        if number < firsts[owner]:
            firsts[owner] = number
    leads = [name.partition(" ")[0] for name in names] or [""] * len(parents)
    groups: dict[tuple[int, str, str], list[int]] = {}
    for element in range(len(parents) - 1, 0, -1):
        if (last := lasts[element]) < 0:
            continue
        first, parent, tag, lead = firsts[element], parents[element], tags[element], leads[element]
        if first < firsts[parent]:
            firsts[parent] = first
        if last > lasts[parent]:
            lasts[parent] = last
        if tag not in _NO_SIBLINGS and (lead or tag != "li") and last - first < _MOST_IN_SIBLING:
            groups.setdefault((parent, tag, lead), []).append(element)

    def shape_of(number: int) -> tuple[str, str, str, str]:
        owner = owners[number]
        around = parents[owner]
        return tags[owner], tags[around], leads[owner], leads[around]

    for group in groups.values():
        if len(group) < _SIBLINGS or len(set(keep[firsts[group[-1]] : lasts[group[0]] + 1])) < 2:
            continue
        members = [range(firsts[element], lasts[element] + 1) for element in group]
        chosen = [True in keep[member.start : member.stop] for member in members]
        if sum(chosen) < _SHARE_OF_SIBLINGS * len(group):
            continue
        selected = list(chain.from_iterable(compress(members, chosen)))
        found = Counter(map(shape_of, selected))
        kept = Counter(shape_of(number) for number in selected if keep[number])
        for member, is_chosen in zip(members, chosen, strict=True):
            for number in member:
                shape = shape_of(number)
                share = kept[shape] / (found[shape] or 1)
                if not is_chosen:
                    keep[number] = share >= _SHARE_OF_PLACE
                elif found[shape] >= _SIBLINGS and not 1 - _MOST_OF_PLACE < share < _MOST_OF_PLACE:
                    keep[number] = share >= _MOST_OF_PLACE


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


def keep_sublists(layout: Layout, keep: list[bool]) -> None:
    """Keep short entries below selected entries, as in a table of contents."""
    tags, parents = layout.tags, layout.parents
    if "li" not in tags:
        return
    items = [0] * len(tags)  # for each element, the item it is in
    for number, tag in enumerate(tags):
        items[number] = number if tag == "li" else items[parents[number]]
    firsts: dict[int, bool] = {}  # for each item, whether its own text is selected
    for number, owner in enumerate(layout.owners):
        item = items[owner]
        if item:
            if not keep[number] and len(layout.texts[number]) < _ENTRY:
                keep[number] = firsts.get(items[parents[item]], False)
            firsts.setdefault(item, keep[number])


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


def excerpts(layout: Layout, keep: Sequence[bool]) -> list[int]:
    """Return the selected blocks, none of them running text, that an earlier one elsewhere contains word for word."""
    tags, owners, parents, texts = layout.tags, layout.owners, layout.parents, layout.texts
    kept = [number for number, wanted in enumerate(keep) if wanted]
    asked = [n for n in kept if tags[owners[n]] in _BESIDE_TEXT and len(texts[n]) >= REPEATED][:_MOST_EXCERPTS]
    if not asked:
        return []
    starts = list(accumulate((len(texts[number]) + 1 for number in kept), initial=1))
    joined = "\n".join(("", *(texts[number] for number in kept), ""))
    found = []
    for number in asked:
        text, own = texts[number], starts[bisect_left(kept, number)]
        place = joined.find(text, 0, own)
        if place < 0 or joined[place - 1].isalnum() or joined[place + len(text)].isalnum():
            continue
        around = kept[bisect_right(starts, place) - 1]
        if len(text) < _EXCERPT * len(texts[around]) and parents[owners[around]] != parents[owners[number]]:
            found.append(number)
    return found
