"""A page made ready to be searched for what a sentence says."""

from __future__ import annotations

import math
import re
from collections import defaultdict
from collections.abc import Iterable, Sequence
from functools import cached_property
from typing import Final

from groundwire.citations.verify.sentences import Span, sentences
from groundwire.citations.verify.words import blank_markup, normal_form, words_of

__all__ = ["PageIndex", "Passage", "squeezed"]

_ABSENT: Final = 4
_CAPITAL: Final = re.compile(r"(?<=[^\W\d_][ ,]) ?([^\W\d_]{2,})")
_SQUEEZE: Final = re.compile(r"[\W_]+")


class Passage:
    """Sentences of a page that stand one after the other."""

    def __init__(self, page: PageIndex, first: int, last: int) -> None:
        self.page = page
        self.first = first
        self.last = last

    @property
    def span(self) -> Span:
        """Where it stands in the page's Markdown."""
        return Span(self.page.spans[self.first].start, self.page.spans[self.last].end)

    @property
    def text(self) -> str:
        """What it says, without markup."""
        return self.page.plain[self.span.start : self.span.end]

    def around(self, before: int, after: int) -> Passage:
        """Return the passage with so many sentences more on each side."""
        return Passage(self.page, max(0, self.first - before), min(len(self.page.spans) - 1, self.last + after))


class PageIndex:
    """The sentences of a page, and where each word stands.

    Args:
        content: The page as Markdown.
        title: The page's title.
    """

    def __init__(self, content: str, title: str = "") -> None:
        self.content = content
        self.title = title
        self.plain = blank_markup(content)
        self.spans: Sequence[Span] = tuple(sentences(content))

    @cached_property
    def squeezed(self) -> str:
        """The page's letters and digits alone, in one line: in it what is quoted is found exactly."""
        return squeezed(self.plain)

    @cached_property
    def names(self) -> frozenset[str]:
        """The words that have a capital within a sentence, in normal form: names, in most languages."""
        return frozenset(normal_form(word) for word in _CAPITAL.findall(self.plain) if word[0].isupper())

    @cached_property
    def _where(self) -> dict[str, list[int]]:
        where: dict[str, list[int]] = defaultdict(list)
        for number, span in enumerate(self.spans):
            for word in set(words_of(self.plain[span.start : span.end])):
                where[word].append(number)
        return where

    def has(self, word: str) -> bool:
        """Tell whether a word, in normal form, stands on the page."""
        return word in self._where

    def weight(self, word: str) -> float:
        """Return how much a word tells: the rarer on the page, the more.

        One that is not there may be another word for one that is: it tells as much as one that is there a few times.
        """
        return math.log(1 + len(self.spans) / (1 + (len(self._where.get(word, ())) or _ABSENT)))

    def best(self, words: Iterable[str], *, widest: int = 3) -> tuple[Passage | None, float]:
        """Return the passage that has most of some words, and which share of their weight it has.

        Args:
            words: In normal form.
            widest: The most sentences of a passage.
        """
        weights = {word: self.weight(word) for word in words}
        total = sum(weights.values())
        if not self.spans or not total:
            return None, 0.0
        has: dict[int, set[str]] = defaultdict(set)
        for word in weights:
            for number in self._where.get(word, ()):
                has[number].add(word)
        best, best_score, best_share = None, 0.0, 0.0
        for number in has:
            found: set[str] = set()
            for width in range(widest):
                last = number + width
                if last >= len(self.spans):
                    break
                if last in has:
                    found = found | has[last]
                elif width:
                    continue
                share = sum(weights[word] for word in found) / total
                score = share - 0.04 * width  # a shorter passage says it more plainly
                if score > best_score:
                    best, best_score, best_share = Passage(self, number, last), score, share
        return best, best_share


def squeezed(text: str) -> str:
    """Return the letters and digits of a text, without case, with one space between words."""
    return _SQUEEZE.sub(" ", text.casefold()).strip()
