"""Features of each block's text, names and phrases: the lexical part of the model."""

from __future__ import annotations

import re
from bisect import bisect_right
from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass, field
from itertools import accumulate, repeat
from typing import Final

from groundwire.reading.main_content.blocks import Layout
from groundwire.reading.main_content.quantize import log

NEUTRAL: Final = 128
GROUPS: Final = (
    "nav", "foot", "related", "consent", "byline", "caption", "comment", "thread", "article", "product", "listing",
)  # fmt: skip
"""The purposes that a name can suggest."""
_WORDS: Final = re.compile(r"[A-Z]?[a-z]{2,}|[A-Z]{2,}")
_END_OF_NAMES: Final = "."
_LETTERS: Final = bytes(code if 97 <= code <= 122 else ord(_END_OF_NAMES) if code == 10 else 32 for code in range(256))
"""Keeps lower-case letters, converts a line break to the end of names, and everything else to a space."""
SHORT: Final = 100
"""Characters; only the beginning of a longer block is used."""
_BEGINNING: Final = 50


@dataclass(frozen=True, slots=True, eq=False)
class Lexicon:
    """The learned meanings of words for a block: 128 is neutral, less is boilerplate, more is content."""

    names: Mapping[str, int]
    """Parts of class names, ids, roles and item properties."""
    openings: Mapping[str, int]
    """The first two words of a block, in lower case; one word and a space for the first word alone."""
    groups: Mapping[str, int]
    """The purposes that parts of names suggest: a bit for each of `GROUPS`."""
    parts: Mapping[str, tuple[int, int]] = field(init=False, repr=False)
    """Both values of each part of a name: its bits from `groups`, and the one from `names`; -1 at the end of names."""

    def __post_init__(self) -> None:
        words = {*self.groups, *self.names}
        parts = {word: (self.groups.get(word, 0), self.names.get(word, NEUTRAL)) for word in words}
        object.__setattr__(self, "parts", {**parts, _END_OF_NAMES: (-1, NEUTRAL)})

    def judge(self, names: Sequence[str]) -> list[tuple[int, int, int]]:
        """Return for each text of names its bits from `groups`, and the worst and the best of its words.

        They are processed together, which is several times faster.
        """
        verdicts = []
        mask, worst, best = 0, NEUTRAL, NEUTRAL
        lines = [name if name == name.lower() else " ".join(split_name(name)) for name in names]
        text = " \n ".join([line.replace("\n", " ") for line in lines])
        words = text.encode("ascii", "replace").translate(_LETTERS).decode().split()
        for bits, value in filter(None, map(self.parts.get, words)):  # most words are unknown
            if bits < 0:
                verdicts.append((mask, worst, best))
                mask, worst, best = 0, NEUTRAL, NEUTRAL
            else:
                mask |= bits
                if value < worst:
                    worst = value
                elif value > best:
                    best = value
        return [*verdicts, (mask, worst, best)]


def split_name(name: str) -> list[str]:
    """Split a class name or an id into words, in lower case."""
    return [word.lower() for word in _WORDS.findall(name)]


def beginning(text: str) -> str:
    """Return the part of a block that its first words are taken from: all of a short one."""
    return text if len(text) < SHORT else text[:_BEGINNING]


def names_of(layout: Layout, blocks: Sequence[int] | None = None) -> list[str]:
    """Return the names of each element: its classes, id, item property and role.

    Args:
        layout: The page.
        blocks: How many blocks each element holds; the names of those without any are omitted.
    """
    names = []
    for element, block_count in zip(layout.elements, repeat(1) if blocks is None else blocks, strict=False):
        if not block_count:
            names.append("")
            continue
        get = element.attr
        text = get("class") or ""
        if (more := get("id")) is not None:
            text = f"{text} {more}"
        if (more := get("itemprop")) is not None:
            text = f"{text} {more}"
        if (more := get("role")) is not None:
            text = f"{text} role{more}"
        names.append(text)
    return names


class NameIndex:
    """The names of a page's elements, each once, to be searched for parts of them.

    Args:
        names: The names of each element; see `names_of`.
    """

    def __init__(self, names: Iterable[str]) -> None:
        self._names = list(dict.fromkeys(names))
        lowered = list(map(str.lower, self._names))
        self._joined = "\0".join(lowered)
        self._ends = list(accumulate([len(name) + 1 for name in lowered]))

    def having(self, stems: Iterable[str]) -> set[str]:
        """Return the names with one of the stems; matching all names takes ten times as long as looking for these.

        Args:
            stems: Parts of names in lower case.
        """
        numbers, joined, ends = set[int](), self._joined, self._ends
        for stem in stems:
            place = joined.find(stem)
            while place >= 0:
                number = bisect_right(ends, place)
                numbers.add(number)
                place = joined.find(stem, ends[number])
        return {self._names[number] for number in numbers}


_ENDS: Final[Mapping[str, int]] = {
    **dict.fromkeys(".!?…。！？", 1), **dict.fromkeys(",;、，", 2), ":": 3, "：": 3, **dict.fromkeys("\"”’)»]」", 4),
    **dict.fromkeys("›→>»|", 5),
}  # fmt: skip
_MONEY: Final = re.compile(r"[$€£¥₹][^\n]*")
_TIME: Final = re.compile(r"[0-9](?::[0-9]{2}|(?:(?<=\b1)9|(?<=\b2)0)[0-9]{2}\b)[^\n]*")
"""A time or a year, and the rest of its line."""
_MONEY_SIZE: Final = 40  # characters; a price in a longer block is mentioned, not offered
_TIME_SIZE: Final = 60
_FAR: Final = 200  # blocks since a heading
_LABEL: Final = 40  # characters


class Wording:
    """Features of a page's texts: columns of codes, and counts for the page.

    Attributes:
        repeats: How often the text has occurred before, up to four.
        money: Short blocks with a price.
        times: Short blocks with a time or a year.
        under: The first word and the first two words of the heading before each block, then of the last label.
    """

    def __init__(self, count: int) -> None:
        self.ends = b""
        self.first_words: bytearray = bytearray(count)
        self.two_words: bytearray = bytearray(count)
        self.repeats: bytearray = bytearray(count)
        self.since_heading: bytearray = bytearray(count)
        self.heading_sizes: bytearray = bytearray(count)
        self.under: tuple[bytearray, ...] = tuple(bytearray(count) for _ in range(4))
        self.money = 0
        self.times = 0


def read_wording(
    texts: Sequence[str],
    sizes: Sequence[int],
    shares: Sequence[int],
    headings: Sequence[bool],
    lexicon: Lexicon,
) -> Wording:
    """Return the features of a page's texts.

    Args:
        texts: The blocks; each is one line.
        sizes: The characters of each block.
        shares: The share of each block that is linked, from 0 to 200.
        headings: Whether each block is a heading.
        lexicon: The meanings of words.
    """
    wording = Wording(len(texts))
    ends = _ENDS.get
    wording.ends = bytes([ends(text[-1], 0) for text in texts])
    wording.money = len(_MONEY.findall("\n".join([text for text in texts if len(text) < _MONEY_SIZE])))
    wording.times = len(_TIME.findall("\n".join([text for text in texts if len(text) < _TIME_SIZE])))
    beginnings = "\n".join(list(map(beginning, texts)))
    lowered = beginnings.lower().split("\n")  # all at once, which takes a tenth of the time
    counts: dict[str, int] = {}
    count_of, openings = counts.get, lexicon.openings.get
    repeats, first_words, two_words = wording.repeats, wording.first_words, wording.two_words
    since_heading, heading_sizes = wording.since_heading, wording.heading_sizes
    heading1, heading2, label1, label2 = wording.under
    since, heading_size = _FAR, 0
    under1 = under2 = near1 = near2 = NEUTRAL
    for block, text in enumerate(lowered):
        size = sizes[block]
        if size < SHORT:
            before = count_of(text, 0)
            counts[text] = before + 1
            if before:
                repeats[block] = min(4, before)
        first, space, tail = text.partition(" ")
        first_words[block] = word1 = openings(first + " ", NEUTRAL)
        two_words[block] = word2 = openings(f"{first} {tail.partition(' ')[0]}" if space else first, NEUTRAL)
        heading1[block], heading2[block], label1[block], label2[block] = under1, under2, near1, near2
        if (headings[block] or size < _LABEL) and shares[block] < 100 and text[-1] != ".":
            near1, near2 = word1, word2
        if headings[block]:
            under1, under2 = word1, word2
            since, heading_size = 0, log(size)
        elif since < _FAR:
            since += 1
        since_heading[block] = since
        heading_sizes[block] = heading_size
    return wording
