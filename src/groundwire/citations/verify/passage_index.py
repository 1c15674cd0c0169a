"""An index of a page for finding the passage that a sentence is based on.

The words of a sentence are looked up in the page's text, and only blocks with several of them are split.
"""

from __future__ import annotations

import math
import re
from bisect import bisect_right
from collections import defaultdict
from collections.abc import Iterable, Iterator, Mapping
from functools import cache, cached_property
from typing import Final, NamedTuple

from groundwire.citations.verify.entities import Date, dates_of
from groundwire.citations.verify.language_detection import language_of, script_of
from groundwire.citations.verify.language_packs import VOWEL_MARKS, Language, fold, language
from groundwire.citations.verify.quantities import MAX_NUMBERS, Number, numbers_of
from groundwire.citations.verify.segmentation import (
    CONTENT_WORD,
    MAX_SENTENCE,
    TextSpan,
    blank_markup,
    blocks,
    sentences_of_block,
    squeezed,
    words_of,
)

__all__ = ["IndexedPassage", "PageIndex"]

_ABSENT: Final = 4
_BEFORE_NAME: Final = re.compile(r"[^\W\d_][ ,]|, ")
_SENTENCE: Final = 90  # characters of a typical sentence, including headings and cells
_OFTEN: Final = 400  # occurrences of a word that are considered
_CANDIDATES: Final = 6  # blocks split into sentences for each sentence of an answer
_ENOUGH: Final = 0.45  # share of the best block's score from which a block is split into sentences
_DECIDES: Final = 0.7  # weight of a number, beside a word's, for the choice of a passage
_LOOKED_AT: Final = 20_000  # characters of a page in which synonyms are looked for
_LONGEST: Final = 40  # characters of a word used for the lookup
_STEM: Final = 4  # characters from which the last one of a word may vary: city, cities
_CLEARLY: Final = 4  # lead of a language, in function words, on a page that has many
_BRIEF: Final = 400  # characters of a page that has few
_PREFIXED: Final = re.compile(r"(?<![^\W\d_])[^\W\d_]{1,4}$")
_SAMPLE: Final = 6_000  # characters used to detect a page's language
_CONTEXT: Final = 2_000  # characters before a sentence in which markup that reaches into it may begin
_DENYING: Final = 20  # characters before a text in which it may be denied
_SENTENCE_END: Final = re.compile(r"[.!?。！？؟:;\n]")
_MAX_PASSAGE: Final = 3 * MAX_SENTENCE


class _Place(NamedTuple):
    """The position of a sentence: its block, and its index there."""

    block: int
    number: int


class IndexedPassage:
    """Consecutive sentences of a page."""

    def __init__(self, page: PageIndex, first: _Place, last: _Place) -> None:
        self.page = page
        self.first = first
        self.last = last

    @property
    def span(self) -> TextSpan:
        """Its position in the page's Markdown."""
        start = self.page.span(self.first).start
        return TextSpan(start, min(self.page.span(self.last).end, start + _MAX_PASSAGE))

    @cached_property
    def text(self) -> str:
        """Its text in one line, without markup."""
        return " ".join(self.page.plain_of(self.span, self.first.block).split())

    @cached_property
    def dates(self) -> list[Date]:
        """Its dates."""
        return dates_of(self.text)

    @cached_property
    def numbers(self) -> list[Number]:
        """Its numbers, including those of dates; of a very long row only the first ones."""
        return numbers_of(self.text, self.page.language)[: 4 * MAX_NUMBERS]

    @property
    def texts(self) -> Iterator[str]:
        """The text of each sentence, without markup."""
        place: _Place | None = self.first
        while place is not None and place <= self.last:
            yield self.page.text(place)
            place = self.page.after(place)

    def around(self, before: int, after: int) -> IndexedPassage:
        """Return the passage extended by this many sentences on each side."""
        first, last = self.first, self.last
        for _ in range(before):
            first = self.page.before(first) or first
        for _ in range(after):
            last = self.page.after(last) or last
        return IndexedPassage(self.page, first, last)


class PageIndex:
    """The sentences of a page, and the positions of each word.

    Args:
        content: The page as Markdown.
        title: The page's title.
    """

    def __init__(self, content: str, title: str = "") -> None:
        self.content = content
        self.title = title
        self._low = fold(content)
        self._found: dict[str, list[int]] = {}
        self._spans: dict[int, list[TextSpan]] = {}

    @cached_property
    def squeezed(self) -> str:
        """The page's letters and digits in one line, for exact matching of quotations."""
        return squeezed(blank_markup(self.content))

    @cached_property
    def language(self) -> Language:
        """The language of the page; English if it cannot be detected."""
        return language(self.spoken[1])

    @cached_property
    def spoken(self) -> tuple[str, str, int]:
        """The page's script, its language code, and how clear the detection is."""
        code, ahead = language_of(self.sample)
        told = ahead >= _CLEARLY or len(self.sample) < _BRIEF
        return script_of(self.sample), code if told else "", ahead

    def may_say(self, claim: str, *, doubt: int = 0) -> bool:
        """Return whether the page may state, in its own words, what a sentence states; true if in doubt.

        Args:
            claim: The sentence.
            doubt: How many function words of another language leave it in doubt.
        """
        script, code, clearly = self.spoken
        other = script_of(claim)
        if not other or not script:
            return True
        if other != script:
            return {other, script} == {"kana", "han"}
        if other != "latin":
            return True
        mine, ahead = language_of(claim)
        return not mine or not code or mine == code or ahead <= doubt or not clearly

    @cached_property
    def figures(self) -> tuple[list[Number], list[Date]]:
        """All its numbers, including those of dates, and all its dates."""
        plain = blank_markup(self.content)
        return numbers_of(plain, self.language), dates_of(plain)

    @cached_property
    def sample(self) -> str:
        """The beginning of the page, without markup."""
        return blank_markup(self.content[:_SAMPLE])

    @cached_property
    def _blocks(self) -> list[TextSpan]:
        return list(blocks(self.content))

    @cached_property
    def _starts(self) -> list[int]:
        return [block.start for block in self._blocks]

    def _in_block(self, number: int) -> list[TextSpan]:
        if number not in self._spans:
            self._spans[number] = list(sentences_of_block(self.content, self._blocks[number]))
        return self._spans[number]

    def span(self, place: _Place) -> TextSpan:
        """Return the position of a sentence."""
        return self._in_block(place.block)[place.number]

    def text(self, place: _Place) -> str:
        """Return the text of a sentence, without markup."""
        span = self.span(place)
        return self.plain_of(TextSpan(span.start, min(span.end, span.start + MAX_SENTENCE)), place.block)

    def plain_of(self, span: TextSpan, block: int) -> str:
        """Return the text of a stretch that begins in a block, without markup."""
        start = max(self._blocks[block].start, span.start - _CONTEXT)
        return blank_markup(self.content[start : span.end])[span.start - start :].translate(VOWEL_MARKS)

    def after(self, place: _Place) -> _Place | None:
        """Return the position of the next sentence, or None."""
        if place.number + 1 < len(self._in_block(place.block)):
            return _Place(place.block, place.number + 1)
        block = place.block + 1
        while block < len(self._blocks) and not self._in_block(block):
            block += 1
        return _Place(block, 0) if block < len(self._blocks) else None

    def before(self, place: _Place) -> _Place | None:
        """Return the position of the previous sentence, or None."""
        if place.number:
            return _Place(place.block, place.number - 1)
        block = place.block - 1
        while block >= 0 and not self._in_block(block):
            block -= 1
        return _Place(block, len(self._in_block(block)) - 1) if block >= 0 else None

    def has(self, word: str, spelled: str) -> bool:
        """Return whether a word is on the page.

        Args:
            word: The word in normal form.
            spelled: The same word as written.
        """
        return bool(self._places(word, spelled))

    def is_name(self, word: str, spelled: str) -> bool:
        """Return whether a word is capitalized inside a sentence somewhere on the page: a name, in most languages."""
        content = self.content
        return any(
            content[at].isupper() and _BEFORE_NAME.fullmatch(content, at - 2, at) for at in self._places(word, spelled)
        )

    def literally(self, text: str) -> IndexedPassage | None:
        """Return the sentences that contain a text exactly, or None."""
        if not text or text not in self.content:
            return None
        at = self.content.index(text)
        end = at + len(text)
        before, after = self.content[at - 1 : at], self.content[end : end + 1]
        block = bisect_right(self._starts, at) - 1
        if before.isalnum() or after.isalnum() or block < 0 or self._is_denied(at):
            return None
        spans = self._in_block(block)
        first = next((number for number, span in enumerate(spans) if at < span.end), None)
        last = next((number for number, span in enumerate(spans) if end <= span.end), None)
        if first is None or last is None or at < spans[first].start:
            return None
        return IndexedPassage(self, _Place(block, first), _Place(block, last))

    def _is_denied(self, at: int) -> bool:
        """Return whether the words before a position, in the same sentence, deny what follows."""
        return self.language.ends_denying(_SENTENCE_END.split(self.content[max(0, at - _DENYING) : at])[-1])

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

    def _stems(self, word: str, spelled: str) -> Iterator[str]:
        """Yield prefixes of the forms of a word, without case and diacritics."""
        low = fold(spelled)
        if word[0].isdecimal():
            stem = low
        elif not low.startswith(word):  # a prefix was removed
            stem = word if word in low else low[:1] if not low.isascii() else low[: max(2, len(word) - 2)]
        elif self.language.code != "en":
            stem = word
        elif len(word) >= _STEM:
            stem = low[: len(word) - 1]
        else:
            stem = low[: len(word)]
        yield stem
        yield from (form for form in self.language.spellings.get(word, ()) if not form.startswith(stem))

    def _is(self, word: str, found: str) -> bool:
        """Return whether a word, as written on a page, has the given normal form."""
        return (
            found == word
            if found[0].isdecimal()
            else self.language.normal_form(found) == word or word == found[: len(word)]
        )

    def weight(self, word: str, spelled: str) -> float:
        """Return the weight of a word: the rarer on the page, the higher.

        A missing word may be a synonym of one that is there: it weighs as much as one with a few occurrences.
        """
        often = len(self._places(word, spelled)) or _ABSENT
        return math.log(1 + max(1, len(self.content) / _SENTENCE) / (1 + often))

    @cached_property
    def _by_meaning(self) -> Mapping[str, list[int]]:
        """The positions of each word and of each synonym group."""
        tongue, found = self.language, defaultdict[str, list[int]](list)
        for word in () if tongue.dense else CONTENT_WORD.finditer(self.content, 0, _LOOKED_AT):
            for key in tongue.keys(word[0]):
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
        extra = [digits for digits in also if digits not in words and self._places(digits, digits)]
        weights.update({digits: _DECIDES * self.weight(digits, digits) for digits in extra})
        if not total:
            return None, 0.0
        best, best_score = None, 0.0
        marked = self._marked({**words, **dict(zip(extra, extra, strict=True))}, related=related)
        by_sentence = cache(lambda block: self._by_sentence(block, marked.get(block, ())))
        for place in self._likely(marked, weights):
            if place.number not in by_sentence(place.block):
                continue
            found: set[str] = set()
            last: _Place | None = place
            for width in range(widest):
                if last is None:
                    break
                here = by_sentence(last.block).get(last.number)
                if here:
                    new = here - found
                    if not width or new.difference(extra):
                        found |= new
                    score = (
                        sum(weights[word] for word in sorted(found)) / total - 0.04 * width
                    )  # prefer the shorter one
                    if score > best_score + 1e-9:
                        best, best_score = IndexedPassage(self, place, last), score
                last = self.after(last)
        if best is None:
            return None, 0.0
        said = {word for text in best.texts for word in words_of(text, self.language)}  # words in URLs do not count
        return best, sum(weights[word] for word in words if word in said) / total

    def _marked(self, words: Mapping[str, str], *, related: bool) -> dict[int, list[tuple[int, str]]]:
        """Return the positions of words, by block."""
        marked: dict[int, list[tuple[int, str]]] = defaultdict(list)
        for word, spelled in words.items():
            for at in (*self._places(word, spelled), *(self._related(word) if related else ())):
                marked[bisect_right(self._starts, at) - 1].append((at, word))
        marked.pop(-1, None)
        return marked

    def _by_sentence(self, block: int, marked: Iterable[tuple[int, str]]) -> dict[int, set[str]]:
        """Return the words in each sentence of a block, by index."""
        spans, found = self._in_block(block), defaultdict[int, set[str]](set)
        for at, word in marked:
            number = bisect_right(spans, at, key=_start) - 1
            if number >= 0 and at < spans[number].end:
                found[number].add(word)
        return dict(found)

    def _likely(self, marked: Mapping[int, list[tuple[int, str]]], weights: Mapping[str, float]) -> Iterator[_Place]:
        """Yield the sentences of the blocks that match best, and of the blocks before them, in order."""
        worth = {
            block: sum(weights[word] for word in sorted({word for _, word in found})) for block, found in marked.items()
        }
        scores = {
            block: value + 0.6 * max(worth.get(block - 1, 0.0), worth.get(block + 1, 0.0))
            for block, value in worth.items()
        }
        best = sorted(scores, key=lambda block: (-scores[block], block))[:_CANDIDATES]
        chosen = [block for block in best if scores[block] >= _ENOUGH * scores[best[0]]]
        wanted = {near for block in chosen for near in (block - 2, block - 1, block) if near in marked}
        for block in sorted(wanted):
            for number in range(len(self._in_block(block))):
                yield _Place(block, number)


def _start(span: TextSpan) -> int:
    return span.start
