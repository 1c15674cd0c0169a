"""An index of a page's sentences, by which the passage that a sentence of an answer rests on is found."""

from __future__ import annotations

from collections import defaultdict
from collections.abc import Iterable, Mapping, Sequence
from functools import cached_property
from typing import Final

from groundwire.citations.segmentation import TextSpan, blank_markup, sentences, squeezed, table_heads
from groundwire.citations.verify.language_data import Language, language, language_of
from groundwire.citations.verify.values import ValueToken, tokens_of
from groundwire.reading.passages.terms import Terms

MAX_TERMS: Final = 400
"""Terms of a sentence, of a page or an answer, that are compared."""
_MAX_POSTINGS: Final = 300  # sentences of a page in which a term is looked up
_MAX_PASSAGE_CHARS: Final = 12_000  # characters of a passage
_MAX_LOOKUPS: Final = 400  # places in which the terms of a sentence are looked up, those of the rarest first
_STEM_CHARS: Final[Mapping[str, int]] = {"ru": 5, "ar": 5, "de": 6, "fr": 6, "es": 6, "pt": 6, "it": 6, "nl": 6}
"""How many letters of a word are compared in languages whose words have many endings."""

_MAX_CANDIDATES: Final = 4  # passages that are compared in full


def terms_in(text: str, terms: Terms, tongue: Language) -> list[str]:
    """Return the terms of a text; words of languages that inflect more than English are cut at their beginnings.

    Args:
        text: The text.
        terms: Extracts terms.
        tongue: Its language.
    """
    page_terms = terms(text)[:MAX_TERMS]
    return page_terms if (size := _STEM_CHARS.get(tongue.code)) is None else [term[:size] for term in page_terms]


class PageIndex:
    """The sentences of a page and their terms.

    Args:
        content: The page as Markdown.
        title: Its title, which counts as said in each passage.
        terms: Extracts terms.
    """

    def __init__(self, content: str, title: str, terms: Terms) -> None:
        self.content = content
        self.plain: str = blank_markup(content)
        heads = table_heads(content) if "|" in content else []
        self.spans: list[TextSpan] = []
        self.terms: list[list[str]] = []
        self.title: frozenset[str] = frozenset(terms_in(title, terms, self.language))
        head, row = iter([*heads, TextSpan(len(content), len(content))]), list[str]()
        coming, under = next(head), TextSpan(0, 0)
        for span in sentences(content):
            sentence_terms = terms_in(self.plain[span.start : span.end], terms, self.language)
            while span.start >= coming.end and coming.start < len(content):
                under, row = coming, terms_in(self.plain[coming.start : coming.end], terms, self.language)
                coming = next(head)
            if row and content[span.start] == "|" and span.start >= under.end:
                sentence_terms = [*row, *sentence_terms]
            elif row and span.start >= under.end:
                row = []
            if sentence_terms:
                self.spans.append(span)
                self.terms.append(sentence_terms)
        self.sets: list[frozenset[str]] = [frozenset(sentence_terms) for sentence_terms in self.terms]
        self.postings: dict[str, list[int]] = defaultdict(list)
        """The sentences in which each term is, at most 300 of them."""
        for at, distinct_terms in enumerate(self.sets):
            for term in distinct_terms:
                self.postings[term].append(at)
        for where in self.postings.values():
            del where[_MAX_POSTINGS:]
        self._tokens: dict[tuple[int, int], list[ValueToken]] = {}

    @cached_property
    def line(self) -> str:
        """All terms in one line, a space on each side, and a line feed between sentences."""
        return "\n".join(f" {' '.join(sentence_terms)} " for sentence_terms in self.terms)

    def tokens(self, first: int, size: int) -> list[ValueToken]:
        """Return the words of a passage; their positions are of the page."""
        if (passage_tokens := self._tokens.get((first, size))) is None:
            span = self.span(first, size)
            end = min(span.end, span.start + _MAX_PASSAGE_CHARS)
            passage_tokens = tokens_of(self.plain, self.language, span.start, end)
            self._tokens[first, size] = passage_tokens
        return passage_tokens

    @cached_property
    def language(self) -> Language:
        """The likeliest language of the page; English if it has no common words."""
        return language(self.code or language_of(self.plain, 1) or "en")

    @cached_property
    def code(self) -> str:
        """The code of that language, or the name of its script; empty if that is not clear."""
        return language_of(self.plain)

    @cached_property
    def letters(self) -> str:
        """The letters and digits of the page in one line."""
        return f" {squeezed(' '.join(self.plain[span.start : span.end] for span in self.spans))} "

    def says(self, text: str) -> bool:
        """Whether the page has the words of a text, one after the other."""
        words = squeezed(text)
        return bool(words) and (f" {words} " if words.isascii() else words) in self.letters

    def candidates(self, weights: Iterable[tuple[str, float]], size: int) -> list[int]:
        """Return the first sentences of the passages with most of some terms, the best first.

        Args:
            weights: The terms, and how much each counts.
            size: The sentences of a passage.
        """
        sums: dict[int, float] = defaultdict(float)
        rows = [(self.postings[term], weight) for term, weight in weights if term in self.postings]
        lookups = 0
        for where, weight in sorted(rows, key=lambda row: len(row[0])):
            done, lookups = -1, lookups + len(where)
            if lookups > _MAX_LOOKUPS and sums:
                break
            for at in where:
                for first in range(max(0, at - size + 1, done + 1), at + 1):
                    sums[first] += weight
                done = at
        return sorted(sums, key=lambda at: (-sums[at], at))[:_MAX_CANDIDATES]

    def words(self, first: int, size: int) -> frozenset[str]:
        """Return the terms of a passage."""
        return frozenset().union(*self.sets[max(0, first) : max(0, first) + size])

    def sequence(self, first: int, size: int) -> Sequence[str]:
        """Return the terms of a passage in order."""
        return [term for terms in self.terms[first : first + size] for term in terms]

    def span(self, first: int, size: int) -> TextSpan:
        """Return the positions of a passage in the page."""
        return TextSpan(self.spans[first].start, self.spans[min(first + size, len(self.spans)) - 1].end)
