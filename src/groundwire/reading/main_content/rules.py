"""The rules by which blocks are kept or left out beside their scores, in the order of `RULES`.

Scores judge blocks one by one; readers expect whole lists and tables, headings with their sections, and each text once.
Each rule looks at the blocks that are kept so far and returns those that it changes; none may leave out all of them.
The figures at the rules are word F1 without them, less that with them, on 1,497 reviewed pages (mixed), and the F1 of
the snippets of 495 articles, read with the package's model of 2026-11-28.
"""

from __future__ import annotations

from collections.abc import Callable, Collection, Iterable, Iterator, Sequence
from dataclasses import dataclass
from functools import partial
from types import MappingProxyType
from typing import Final
from urllib.parse import quote

from groundwire.reading.main_content.blocks import HEADINGS, Layout
from groundwire.reading.main_content.boxes import torn_boxes
from groundwire.reading.main_content.classifier import KINDS
from groundwire.reading.main_content.page_blocks import PageBlocks, blocks_in
from groundwire.reading.main_content.page_parts import (
    CONTROLS,
    KINDS_WITHOUT,
    PARTS,
    WITH_EXTRAS,
    credit_lines,
    lines_leading_away,
    other_pages,
    part_blocks,
    standfirst,
)
from groundwire.reading.main_content.posts import post_bylines, post_texts, story_link
from groundwire.reading.main_content.products import product_price, specifications
from groundwire.reading.main_content.stated_content import stated_blocks
from groundwire.reading.markdown.lists import footnotes
from groundwire.reading.markdown.tables import is_layout

_DOCUMENTATION: Final = KINDS.index("documentation")
_MIN_MANUAL_CHANCE: Final = 0.15
"""The probability from which a page counts as documentation where a mistake would lose some of it."""
REPEATED: Final = 40  # characters; shorter text may well be repeated
_WORD_FOR_WORD: Final = frozenset({"pre", "td", "th"})
"""Elements whose text is looked up rather than read; a repeated line belongs there."""
_SHARE_OF_LIST: Final = 0.75
"""The share of a list's blocks from which the whole list is kept: +.0003 on mixed pages beside .6; .45 is .0003 less
than .6, and .3 is .001. Leaving out a list of which less is kept costs .002 (below .2) to .007 (below .6)."""
_SHORT_LIST: Final = 6
"""The blocks of a list that is kept whole between two kept blocks: +.0001 on mixed pages, +.0004 on snippets. Whatever
the length, half of a list between two costs .0001."""
_SHARE_OF_TABLE: Final = 0.5
"""The share of a table's text, without headers, from which the table is kept; a table in pieces looks complete."""
_SENTENCE: Final = 40  # characters of a paragraph of prose
_PROSE, _RUN, _LEAST = 1_500, 5, 0.5  # characters and paragraphs of a run of prose, and the share of the threshold
"""A run that is twice as long as any other is kept: +.0003 on articles, +.0012 on the pages of mozilla's readability,
-.0003 on snippets. With paragraphs of a third of the threshold, articles lose .0001; without any, .0009."""
_NOTE_MARK: Final = 8  # characters of the mark of a note
_LEVELS: Final = MappingProxyType({f"h{level}": level for level in range(1, 7)})


@dataclass(frozen=True, slots=True)
class Rule:
    """One rule of the selection."""

    name: str
    """What it is about."""
    keeps: bool
    """Whether it keeps its blocks or leaves them out."""
    blocks: Callable[[PageBlocks], Iterable[int]]
    """Returns its blocks."""
    kinds: Collection[str] = KINDS
    """The kinds of pages that it is for."""
    part: str = ""
    """The part of a page that it is about, if callers may want that or not; their wish counts on every kind of page."""

    def applies(self, page: PageBlocks) -> bool:
        """Return whether the rule is for a page."""
        if self.part in page.parts:
            return page.parts[self.part] is self.keeps
        return self.kinds is KINDS or page.is_likely(self.kinds)


def apply_rules(page: PageBlocks, rules: Iterable[Rule]) -> None:
    """Apply rules to a page, one after the other; at least one block remains.

    Args:
        page: The page, whose `keep` is changed.
        rules: The rules, such as `RULES`.
    """
    for rule in rules:
        if rule.applies(page):
            changed = {number for number in rule.blocks(page) if page.keep[number] is not rule.keeps}
            if rule.keeps or len(changed) < sum(page.keep):
                for number in changed:
                    page.keep[number] = rule.keeps


def _torn_lists(page: PageBlocks) -> Iterator[int]:
    """Yield the blocks of lists that are kept for the most part, and of short ones between kept blocks.

    A list in an item is a list of its own.
    """
    tags, parents, keep = page.layout.tags, page.layout.parents, page.keep
    if "li" not in tags:
        return
    lists = [0] * len(tags)
    for number, tag in enumerate(tags):
        lists[number] = parents[number] if tag == "li" else lists[parents[number]]
    for inside in blocks_in(page.layout, lists).values():
        before, after = inside[0] - 1, inside[-1] + 1
        is_between = len(inside) <= _SHORT_LIST and before >= 0 and after < len(keep) and keep[before] and keep[after]
        if is_between or _SHARE_OF_LIST * len(inside) <= sum(keep[number] for number in inside):
            yield from inside


def _quoted_authors(page: PageBlocks) -> Iterator[int]:
    """Yield who said the quotations of which most is kept: what comes last, in a figure around it too, or has a colon.

    Buttons, as `Click to expand...`, are left to the scores. Of 7,819 pages, 96 have more text, most of it authors of
    posts in forums and on Twitter. Word F1 of reviewed pages, few of which have these authors, is .00001 less.
    """
    layout, keep = page.layout, page.keep
    if "blockquote" not in layout.tags:
        return
    quotations = [0] * len(layout.tags)
    for number, tag in enumerate(layout.tags):
        around = quotations[layout.parents[number]]
        is_quotation = tag == "blockquote" or (tag == "figure" and layout.elements[number].find("blockquote"))
        quotations[number] = number if is_quotation and not around else around
    for inside in blocks_in(layout, quotations).values():
        last, share = -1, 0
        for number in inside:
            share += len(layout.texts[number]) if keep[number] else -len(layout.texts[number])
            last = number if keep[number] else last
        for number in inside if share >= 0 else ():
            is_author = number > last or layout.texts[number].endswith(":")
            if is_author and layout.elements[layout.owners[number]].select_one("[role=button]") is None:
                yield number


def _torn_tables(page: PageBlocks, *, mostly: bool) -> Iterator[int]:
    """Yield the cells of tables of data of which something is kept: most of the text, or all of the page, or less."""
    layout, keep = page.layout, page.keep
    if "table" not in layout.tags:
        return
    tables, count = [0] * len(layout.tags), sum(keep)
    for number, tag in enumerate(layout.tags):
        tables[number] = tables[layout.parents[number]]
        if tag == "table" and not tables[number] and not is_layout(layout.elements[number]):
            tables[number] = number
    for inside in blocks_in(layout, tables).values():
        kept_count = sum(keep[number] for number in inside)
        cells = [number for number in inside if layout.tags[layout.owners[number]] != "th"] or inside
        share = sum(len(layout.texts[number]) for number in cells if keep[number])
        most = share >= _SHARE_OF_TABLE * sum(len(layout.texts[number]) for number in cells) or kept_count == count
        if kept_count and most is mostly:
            yield from inside


def _longest_prose(page: PageBlocks) -> Iterator[int]:
    """Yield the paragraphs of the part with most of the page's prose, but for the least likely of them."""
    layout, verdict = page.layout, page.verdict
    runs: dict[int, list[int]] = {}
    for number, owner in enumerate(layout.owners):
        is_long = len(layout.texts[number]) >= _SENTENCE and 5 * layout.linked[number] <= layout.lengths[number]
        if is_long and layout.tags[owner] == "p":
            runs.setdefault(layout.parents[layout.parents[owner]], []).append(number)
    sizes = {part: sum(len(layout.texts[number]) for number in run) for part, run in runs.items()}
    first, second, *_ = [*sorted(sizes, key=lambda part: -sizes[part]), 0, 0]
    if sizes.get(first, 0) < max(_PROSE, 2 * (sizes[second] if len(sizes) > 1 else 0)) or len(runs[first]) < _RUN:
        return
    least = _LEAST * verdict.least_score()
    yield from (number for number in runs[first] if verdict.scores[number] >= least)


def _notes(page: PageBlocks) -> Iterator[int]:
    """Yield the notes that kept text refers to."""
    layout, marked = page.layout, set[str]()
    for number, pieces in layout.targets.items():
        if page.keep[number]:
            marked.update(layout.hrefs[link] for link, size in pieces if size <= _NOTE_MARK)
    if not any(href.startswith("#") for href in marked):
        return
    labels = footnotes(layout.elements[0])
    notes = [0] * len(layout.tags)
    for number, element in enumerate(layout.elements):
        target = (element.attr("id") or "") if labels else ""
        is_note = target in labels and not marked.isdisjoint({f"#{target}", f"#{quote(target)}"})
        notes[number] = number if is_note else notes[layout.parents[number]]
    for inside in blocks_in(layout, notes).values():
        yield from inside


def _note_marks(page: PageBlocks) -> Iterator[int]:
    """Yield the marks of kept notes: a number alone that leads back to the text, right before the note.

    Scores leave out such boxes: 8 of 169 marks on defuddle's pages. Of 3,308 stored pages, one more has them.
    """
    layout, keep = page.layout, page.keep
    for number, pieces in layout.targets.items():
        text = layout.texts[number]
        is_number = len(text) <= _NOTE_MARK and text.strip("[]. ").isdecimal()
        if (
            is_number
            and all("#" in layout.hrefs[link] for link, _ in pieces)
            and keep[number + 1 : number + 2] == [True]
        ):
            owner, after = layout.owners[number], layout.owners[number + 1]
            if owner in (after, layout.parents[after], layout.parents[layout.parents[after]]):
                yield number


def _headings(page: PageBlocks) -> Iterator[int]:
    """Yield the headings right above kept text, and those above these that contain their sections.

    Reviewed texts seldom have titles, so that mixed pages are .0005 better without; headings right above one of the
    same level, which have no section, cost .0003.
    """
    tags, owners = page.layout.tags, page.layout.owners
    below = ""  # the tag of the next block, if it is kept
    for number in range(len(owners) - 1, -1, -1):
        tag = tags[owners[number]]
        if page.keep[number] or (tag in HEADINGS and below and not (below in HEADINGS and below <= tag)):
            yield number
            below = tag
        else:
            below = ""


def _code(page: PageBlocks) -> Iterator[int]:
    """Yield code between kept blocks.

    Mixed pages are .0005 better without; code that a text speaks of is not to be missed all the same.
    """
    keep, tags, owners = page.keep, page.layout.tags, page.layout.owners
    for number in range(len(keep) - 2, 0, -1):
        if tags[owners[number]] == "pre" and keep[number - 1] and keep[number + 1]:
            yield number


def may_repeat(kinds: Sequence[float]) -> bool:
    """Return whether a page's kind, by the probability of each of `KINDS`, makes repetition plausible."""
    return kinds[_DOCUMENTATION] > _MIN_MANUAL_CHANCE


def copies(layout: Layout, keep: Sequence[bool]) -> Iterator[int]:
    """Yield the kept blocks whose text is already kept in another part of the page.

    Args:
        layout: The page.
        keep: Whether each block is kept.
    """
    places: dict[str, int] = {}
    for number, (text, is_kept) in enumerate(zip(layout.texts, keep, strict=True)):
        owner = layout.owners[number]
        if is_kept and len(text) >= REPEATED and layout.tags[owner] not in _WORD_FOR_WORD:
            around = layout.parents[owner]
            if places.setdefault(text, around) != around:
                yield number


def _copies(page: PageBlocks) -> Iterable[int]:
    """Return the kept copies of kept blocks, unless functions of a manual may have the same note."""
    return () if may_repeat(page.verdict.kinds) and "copies" not in page.parts else copies(page.layout, page.keep)


def _part(page: PageBlocks, *, part: str) -> Iterable[int]:
    """Return the blocks of a part."""
    return part_blocks(page.layout, page.verdict.names, page.keep, part, page.index)


def _other_part(page: PageBlocks, *, part: str) -> Iterable[int]:
    """Return the blocks of a part, unless stated content is among them: a recipe is no notice, whatever its name."""
    numbers = _part(page, part=part)
    return numbers if not page.stated or page.stated.isdisjoint(numbers) else ()


def _stated(page: PageBlocks) -> Iterable[int]:
    """Return the blocks whose text is stated, which parts look for too."""
    page.stated = frozenset(stated_blocks(page))
    return page.stated


def _requested_parts(page: PageBlocks, *, controls: bool) -> Iterator[int]:
    """Yield the blocks of the parts that the caller wants, or the buttons in them."""
    for part, is_requested in page.parts.items():
        for number in _part(page, part=part) if is_requested and part != "copies" else ():
            if (page.layout.tags[page.layout.owners[number]] in CONTROLS and part != "controls") is controls:
                yield number


def _empty_sections(page: PageBlocks) -> Iterator[int]:
    """Yield the headings of sections of which nothing is kept, other than entries of a list, which are links."""
    layout, nearest, ends = page.layout, len(page.keep), [len(page.keep)] * (len(_LEVELS) + 1)
    for number in range(len(page.keep) - 1, -1, -1):
        level = _LEVELS.get(layout.tags[layout.owners[number]], 0)
        if page.keep[number]:
            end = min(ends[1 : level + 1]) if level > 1 else 0
            if number + 1 < end <= nearest and 2 * layout.linked[number] <= layout.lengths[number]:
                yield number
            else:
                nearest = number
        ends[level] = number


RULES: Final = (
    Rule("stated content", True, _stated, frozenset(KINDS) - {"product"}),
    Rule("most of a list", True, _torn_lists),
    Rule("boxes", True, torn_boxes),
    Rule("the longest prose", True, _longest_prose),
    Rule("notes", True, _notes, frozenset(KINDS) - {"product"}),
    Rule("marks of notes", True, _note_marks),
    Rule("code", True, _code),
    Rule("headings", True, _headings),
    Rule("texts of posts", True, post_texts),
    Rule("story", True, story_link),
    Rule("price", True, product_price),
    Rule("specifications", True, specifications),
    Rule("copies", False, _copies, part="copies"),
    Rule("standfirst", True, standfirst, frozenset({"article"}), "subtitles"),
    Rule("lines that lead away", False, lines_leading_away, WITH_EXTRAS, "related"),
    Rule("credits", False, credit_lines, WITH_EXTRAS, "captions"),
    Rule("other pages", False, other_pages, frozenset({"article", "forum"}), "related"),
    *(
        Rule(part, False, partial(_other_part, part=part), KINDS_WITHOUT.get(part, frozenset()), part)
        for part in sorted({*PARTS, "headline"})
    ),
    Rule("what is wanted", True, partial(_requested_parts, controls=False)),
    Rule("buttons of what is wanted", False, partial(_requested_parts, controls=True)),
    Rule("most of a table", True, partial(_torn_tables, mostly=True)),
    Rule("little of a table", False, partial(_torn_tables, mostly=False)),
    Rule("authors of quotations", True, _quoted_authors),
    Rule("empty sections", False, _empty_sections, frozenset(KINDS) - {"service"}),
    Rule("bylines of posts", True, post_bylines, part="bylines"),
)
"""All rules in their order. Those that keep blocks for their place come first, so that the names of parts decide;
callers' wishes come before tables, of which none is torn; sections are looked at when all else is known."""
