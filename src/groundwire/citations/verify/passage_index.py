"""An index of a page for finding the passage that a sentence is based on.

The words of a sentence are looked up in the page's text, and only blocks with several of them are split.
"""

from __future__ import annotations

import math
import re
from bisect import bisect_left, bisect_right
from collections import defaultdict
from collections.abc import Callable, Iterable, Iterator, Mapping, Sequence
from functools import cache, cached_property, reduce
from heapq import nsmallest
from itertools import islice, repeat, takewhile
from operator import attrgetter, or_
from typing import Final, NamedTuple

from groundwire.citations.verify.alignment import WordToken, tokens_of
from groundwire.citations.verify.entities import Date, dates_of
from groundwire.citations.verify.language_detection import SpokenPage
from groundwire.citations.verify.language_packs import VOWEL_MARKS, Language, fold
from groundwire.citations.verify.quantities import MAX_NUMBERS, Number, numbers_of
from groundwire.citations.verify.segmentation import (
    CONTENT_WORD,
    MAX_SENTENCE,
    TextSpan,
    blank_markup,
    blocks,
    sentences_of_block,
    words_of,
)

__all__ = ["IndexedPassage", "PageIndex"]

_ABSENT: Final = 4
_ITEM: Final = re.compile(r"[ \t]*(?:[-*+]|\d{1,3}[.)]|#{1,6})[ \t]")
_FIGURES: Final = re.compile(r"\S*\d\S*")
_BEFORE_NAME: Final = re.compile(r"[^\W\d_][ ,]|, ")
_SENTENCE: Final = 90  # characters of a typical sentence, including headings and cells
_OFTEN: Final = 400  # occurrences of a word that are considered
_CANDIDATES: Final = 6  # blocks split into sentences for each sentence of an answer
_ENOUGH: Final = 0.45  # share of the best block's score from which a block is split into sentences
_DECIDES: Final = 0.7  # weight of a number, beside a word's, for the choice of a passage
_LOOKED_AT: Final = 20_000  # characters of a page in which synonyms are looked for
_KEPT: Final = 16  # passages of which it is kept what they say
_LONGEST: Final = 40  # characters of a word used for the lookup
_PREFIXED: Final = re.compile(r"(?<![^\W\d_])[^\W\d_]{1,4}$")
_CONTEXT: Final = 2_000  # characters before a sentence in which markup that reaches into it may begin
_DENYING: Final = 20  # characters before a text in which it may be denied
_SENTENCE_END: Final = re.compile(r"[.!?。！？؟:;\n]")
_start: Final = attrgetter("start")
_end: Final = attrgetter("end")
_MAX_PASSAGE: Final = 3 * MAX_SENTENCE


class _Place(NamedTuple):
    """The position of a sentence: its block, and its index there."""

    block: int
    number: int


class _PassageText:
    """What a passage says, found out once however often it is compared."""

    def __init__(self, text: str, tongue: Language) -> None:
        self.text, self.tongue = text, tongue
        self.sentences: list[tuple[str, frozenset[str]]] = []

    @cached_property
    def dates(self) -> list[Date]:
        return dates_of(self.text)

    @cached_property
    def numbers(self) -> list[Number]:
        return numbers_of(self.text, self.tongue)[: 4 * MAX_NUMBERS]

    @cached_property
    def tokens(self) -> list[WordToken]:
        return tokens_of(self.text, self.tongue, self.dates, self.numbers)


class IndexedPassage:
    """Consecutive sentences of a page."""

    def __init__(self, page: PageIndex, first: _Place, last: _Place) -> None:
        self.page = page
        self.first, self.last = first, last

    @cached_property
    def span(self) -> TextSpan:
        """Its position in the page's Markdown."""
        start = self.page.span(self.first).start
        return TextSpan(start, min(self.page.span(self.last).end, start + _MAX_PASSAGE))

    @cached_property
    def _said(self) -> _PassageText:
        kept, key = self.page.texts, (self.first, self.last)
        if key not in kept:
            if len(kept) >= _KEPT:
                kept.clear()
            text = " ".join(self.page.plain_of(self.span, self.first.block).split())
            kept[key] = _PassageText(text, self.page.language)
        return kept[key]

    @property
    def text(self) -> str:
        """Its text in one line, without markup."""
        return self._said.text

    @property
    def dates(self) -> list[Date]:
        """Its dates."""
        return self._said.dates

    @property
    def numbers(self) -> list[Number]:
        """Its numbers, including those of dates; of a very long row only the first ones."""
        return self._said.numbers

    @property
    def tokens(self) -> list[WordToken]:
        """Its words, numbers and dates."""
        return self._said.tokens

    @property
    def sentences(self) -> Sequence[tuple[str, frozenset[str]]]:
        """The text of each sentence, without markup, and its words in normal form."""
        said, page = self._said, self.page
        if not said.sentences:
            for place in takewhile(self.last.__ge__, page.since(self.first)):
                start, end = page.span(place).start, page.span(place).end
                text = page.plain_of(TextSpan(start, min(end, start + MAX_SENTENCE)), place.block)
                said.sentences.append((text, frozenset(words_of(text, page.language))))
        return said.sentences

    @property
    def is_item(self) -> bool:
        """Whether it begins with an item of a list."""
        return _ITEM.match(self.page.content, self.span.start) is not None

    @property
    def own(self) -> IndexedPassage:
        """The passage without what only has the figures of an item or a heading before: $3, - Radio."""
        after = self.page.after(self.first) if self.first < self.last else None
        rest = IndexedPassage(self.page, after, self.last) if after else self
        begins = rest is not self and _ITEM.match(self.page.content, rest.span.start) is not None
        return rest if begins and not self.is_item and not words_of(_FIGURES.sub("", self.sentences[0][0])) else self

    def around(self, before: int, after: int) -> IndexedPassage:
        """Return the passage extended by this many sentences on each side."""
        first, last = self.first, self.last
        for _ in range(before):
            first = self.page.before(first) or first
        for _ in range(after):
            last = self.page.after(last) or last
        return IndexedPassage(self.page, first, last)


class PageIndex(SpokenPage):
    """The sentences of a page, and the positions of each word.

    Args:
        content: The page as Markdown.
        title: The page's title.
    """

    def __init__(self, content: str, title: str = "") -> None:
        super().__init__(content)
        self.title = title
        self.texts: dict[tuple[_Place, _Place], _PassageText] = {}
        """What passages say that were found lately."""
        self._low = fold(content)
        self._found: dict[str, list[int]] = {}
        self._weights: dict[str, float] = {}
        self._spans: dict[int, list[TextSpan]] = {}
        self._spread: dict[tuple[str, bool], tuple[Mapping[int, list[int]], frozenset[int]]] = {}
        self._numbers: dict[tuple[str, bool, int], frozenset[int]] = {}

    @cached_property
    def _blocks(self) -> list[TextSpan]:
        return list(blocks(self.content))

    @cached_property
    def _starts(self) -> list[int]:
        return [block.start for block in self._blocks]

    @cached_property
    def _filled(self) -> list[int]:
        return [number for number, one in enumerate(self._blocks) if not self.content[one.start : one.end].isspace()]

    def _in_block(self, number: int) -> list[TextSpan]:
        if number not in self._spans:
            self._spans[number] = list(sentences_of_block(self.content, self._blocks[number]))
        return self._spans[number]

    def span(self, place: _Place) -> TextSpan:
        """Return the position of a sentence."""
        return self._in_block(place.block)[place.number]

    def plain_of(self, span: TextSpan, block: int) -> str:
        """Return the text of a stretch that begins in a block, without markup."""
        start = max(self._blocks[block].start, span.start - _CONTEXT)
        return blank_markup(self.content[start : span.end])[span.start - start :].translate(VOWEL_MARKS)

    def after(self, place: _Place) -> _Place | None:
        """Return the position of the next sentence, or None."""
        if place.number + 1 < len(self._in_block(place.block)):
            return _Place(place.block, place.number + 1)
        at = bisect_right(self._filled, place.block)
        return _Place(self._filled[at], 0) if at < len(self._filled) else None

    def since(self, place: _Place) -> Iterator[_Place]:
        """Yield a position and those of the sentences after it."""
        at: _Place | None = place
        while at is not None:
            yield at
            at = self.after(at)

    def before(self, place: _Place) -> _Place | None:
        """Return the position of the previous sentence, or None."""
        if place.number:
            return _Place(place.block, place.number - 1)
        at = bisect_left(self._filled, place.block)
        return _Place(self._filled[at - 1], len(self._in_block(self._filled[at - 1])) - 1) if at else None

    def has(self, word: str, spelled: str) -> bool:
        """Return whether a word, in normal form and as spelled, is on the page."""
        return bool(self._places(word, spelled))

    def is_name(self, word: str, spelled: str) -> bool:
        """Return whether a word is capitalized inside a sentence somewhere on the page: a name, in most languages."""
        text, places = self.content, self._places(word, spelled)
        return any(text[at].isupper() and _BEFORE_NAME.fullmatch(text, at - 2, at) for at in places)

    def literally(self, text: str) -> IndexedPassage | None:
        """Return the sentences that contain a text exactly, or None."""
        if not text or text not in self.content:
            return None
        at = self.content.index(text)
        end = at + len(text)
        before, after = self.content[at - 1 : at], self.content[end : end + 1]
        block = bisect_right(self._starts, at) - 1
        near = _SENTENCE_END.split(self.content[max(0, at - _DENYING) : at])[-1]
        if before.isalnum() or after.isalnum() or block < 0 or self.language.ends_denying(near):
            return None
        spans = self._in_block(block)
        first, last = bisect_right(spans, at, key=_end), bisect_left(spans, end, key=_end)
        if last == len(spans) or at < spans[first].start:
            return None
        return IndexedPassage(self, _Place(block, first), _Place(block, last))

    def _places(self, word: str, spelled: str) -> list[int]:
        """Return the start positions of a word, up to a limit."""
        if word in self._found:
            return self._found[word]
        places: list[int] = []
        low, content = self._low, self.content
        for stem in self._stems(word[:_LONGEST], spelled[:_LONGEST]):
            at = low.find(stem)
            while at >= 0 and len(places) < _OFTEN:
                if not at or not low[at - 1].isalnum():
                    found = CONTENT_WORD.match(content, at)
                    if found is not None and self._is(word, found[0]):
                        places.append(at)
                elif CONTENT_WORD.match(content, at, at + 1) is None:
                    pass
                elif not word.isascii() and stem == word:
                    places.append(at)
                elif self.language.prefixes and (whole := _PREFIXED.search(content, at - 4, at)):
                    full = CONTENT_WORD.match(content, whole.start())
                    places += [whole.start()] if full and self._is(word, full[0]) else []
                at = low.find(stem, at + 1)
        self._found[word] = places
        return places

    def weight(self, word: str, spelled: str) -> float:
        """Return the weight of a word: the rarer on the page, the higher.

        A missing word may be a synonym of one that is there: it weighs as much as one with a few occurrences.
        """
        if word not in self._weights:
            often = len(self._places(word, spelled)) or _ABSENT
            self._weights[word] = math.log(1 + max(1, len(self.content) / _SENTENCE) / (1 + often))
        return self._weights[word]

    @cached_property
    def _by_meaning(self) -> Mapping[str, list[int]]:
        """The positions of each word with synonyms or antonyms, and of each synonym group."""
        tongue, found = self.language, defaultdict[str, list[int]](list)
        for word in () if tongue.dense else CONTENT_WORD.finditer(self.content, 0, _LOOKED_AT):
            for key in tongue.related_keys(word[0]):
                found[key].append(word.start())
        return found

    def _related(self, word: str) -> list[int]:
        """Return the positions of the synonyms and antonyms of a word, up to a limit."""
        keys = (*self.language.groups.get(word, ()), *sorted(self.language.opposites.get(word, ())))
        return sorted({at for key in keys for at in self._by_meaning.get(key, ())[:_OFTEN]})[:_OFTEN]

    def best(
        self, words: Mapping[str, str], *, widest: int = 3, also: Iterable[str] = (), related: bool = False
    ) -> tuple[IndexedPassage | None, float]:
        """Return the passage with the highest weight of the given words, and its share of their total weight.

        Args:
            words: Words in normal form, and each as it is spelled.
            widest: Maximum sentences of a passage.
            also: Digits that decide between passages but do not count for the share.
            related: Whether synonyms and antonyms help to find the passage. They do not count for the share either.
        """
        weights = {word: self.weight(word, spelled) for word, spelled in words.items()}
        total = sum(weights.values())
        if not total:
            return None, 0.0
        extra = {digits: digits for digits in also if digits not in words and self._places(digits, digits)}
        weights.update({digits: _DECIDES * self.weight(digits, digits) for digits in extra})
        looked_up = {**words, **extra}
        bits = {word: 1 << at for at, word in enumerate(sorted(looked_up))}  # of a set of words
        others = sum(bits[digits] for digits in extra)
        worth = cache(lambda found: sum(weights[word] for word, bit in bits.items() if found & bit))
        marked = _bits_of((self._by_block(word, looked_up[word], related)[1], bit) for word, bit in bits.items())
        by_sentence = cache(lambda block: self._by_sentence(block, bits if block in marked else {}, related))
        best, best_score = None, 0.0
        for block in self._likely(marked, worth):
            for number, most in _windows(by_sentence(block), widest, len(self._in_block(block))):
                if worth(most) / total <= best_score + 1e-9:
                    continue
                found, place = 0, _Place(block, number)
                for width, last in enumerate(islice(self.since(place), widest)):
                    if said := by_sentence(last.block).get(last.number):
                        new = said & ~found
                        if not width or new & ~others:
                            found |= new
                        score = worth(found) / total - 0.04 * width  # prefer the shorter one
                        if score > best_score + 1e-9:
                            best, best_score = IndexedPassage(self, place, last), score
        if best is None:
            return None, 0.0
        there = {word for _, words_there in best.sentences for word in words_there}  # words in URLs do not count
        return best.own if widest > 1 else best, sum(weights[word] for word in words if word in there) / total

    def _by_block(self, word: str, spelled: str, related: bool) -> tuple[Mapping[int, list[int]], frozenset[int]]:
        """Return the positions of a word, and of its synonyms and antonyms if these help, by block, and the blocks."""
        if (word, related) not in self._spread:
            found = defaultdict[int, list[int]](list)
            for at in (*self._places(word, spelled), *(self._related(word) if related else ())):
                found[bisect_right(self._starts, at) - 1].append(at)
            found.pop(-1, None)
            self._spread[word, related] = dict(found), frozenset(found)
        return self._spread[word, related]

    def _by_sentence(self, block: int, bits: Mapping[str, int], related: bool) -> Mapping[int, int]:
        """Return the words in each sentence of a block, as the sum of their bits, by index."""
        spans = self._in_block(block)
        for word in bits:
            key = word, related, block
            if key not in self._numbers:
                places = self._spread[word, related][0].get(block, ())
                numbers = {at: bisect_right(spans, at, key=_start) - 1 for at in places}
                self._numbers[key] = frozenset(one for at, one in numbers.items() if one >= 0 and at < spans[one].end)
        return _bits_of((self._numbers[word, related, block], bit) for word, bit in bits.items())

    def _likely(self, marked: Mapping[int, int], worth: Callable[[int], float]) -> list[int]:
        """Return the blocks that match best, and the blocks before them, in order."""
        values = {block: worth(found) for block, found in marked.items()}
        get = values.get
        scores = {at: value + 0.6 * max(get(at - 1, 0.0), get(at + 1, 0.0)) for at, value in values.items()}
        best = nsmallest(_CANDIDATES, scores, key=lambda block: (-scores[block], block))
        chosen = [block for block in best if scores[block] >= _ENOUGH * scores[best[0]]]
        return sorted({near for block in chosen for near in (block - 2, block - 1, block) if near in marked})


def _bits_of(sets: Iterable[tuple[frozenset[int], int]]) -> dict[int, int]:
    """Return the bits of each member of some sets; equal sets, as of words in all sentences, are gone through once."""
    together: dict[frozenset[int], int] = defaultdict(int)
    for members, bit in sets:
        together[members] |= bit
    found: dict[int, int] = {}
    for members, bits in together.items():
        for one in members:
            found[one] = found.get(one, 0) | bits
    return found


def _windows(here: Mapping[int, int], widest: int, size: int) -> list[tuple[int, int]]:
    """Return the sentences of a block from which to look, and the words there; the same words together only once."""
    numbers = sorted(here)
    near = list(zip(*(map(here.get, map(step.__add__, numbers), repeat(0)) for step in range(widest)), strict=True))
    firsts = dict(zip(reversed(near), reversed(numbers), strict=True))
    found = {number: reduce(or_, words) for words, number in firsts.items()}
    found.update({number: -1 for number in numbers[-widest:] if number + widest > size})  # goes on in the next block
    return sorted(found.items())
