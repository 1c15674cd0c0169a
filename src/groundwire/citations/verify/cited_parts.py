"""The parts of a sentence: what only attributes it, and which of several cited pages each other part is from."""

from __future__ import annotations

import itertools
import re
from collections.abc import Iterator, Mapping, Sequence
from operator import itemgetter
from typing import Final

from groundwire.citations.verify.passage_index import PageIndex
from groundwire.citations.verify.report import CitedPage
from groundwire.citations.verify.segmentation import JOINS, NEW_CLAUSE, spelled_words, unjoined, words_of

__all__ = ["clauses", "name_of_site", "parts_by_page", "unattributed"]

_LEAST: Final = 2  # words and numbers of a clause that is verified on its own
_OTHER_PAGE: Final = 0.9  # words that another page must have more to be taken for the one that says a part
_NEW_CLAUSE: Final = 0.7  # the same behind a comma and a conjunction

_ATTRIBUTED: Final = 80  # characters of an attribution
_OPENING: Final = re.compile(
    rf"([^,:，：]{{1,{_ATTRIBUTED}}}?)(?:[,:，：]|[,，]?\s(?:that|dass|daß|que|что)\s)\s*", re.IGNORECASE
)
_CLOSING: Final = re.compile(rf"\s*[,，]\s*([^,:，：]{{1,{_ATTRIBUTED}}})$")
_SITE: Final = re.compile(r"https?://(?:www\.)?([^/?#:@\s]{1,253})\.[a-z\d-]{1,63}(?=[/?#:]|$)", re.IGNORECASE)
_QUOTES: Final = frozenset('"“”„«»「」『』')
_KEPT: Final = 2  # words of a sentence without its attribution


def clauses(text: str) -> list[str]:
    """Split a sentence at commas and conjunctions; a part with too few words is joined to its neighbor."""
    found, said = list[str](), 0  # and the words of the last one
    for piece in _pieces(text):
        words = len(words_of(piece))
        if found and min(words, said) < _LEAST:
            found[-1] += piece
            words += said
        else:
            found.append(piece)
        said = words
    return found


def _pieces(text: str) -> Iterator[str]:
    cuts = [0, *(found.start() for found in JOINS.finditer(text)), len(text)]
    return (text[begin:end] for begin, end in itertools.pairwise(cuts))


def parts_by_page(
    text: str, pages: Sequence[CitedPage], indexes: Mapping[int, PageIndex]
) -> Iterator[tuple[str, CitedPage]]:
    """Yield the parts of a sentence, each with the page that has most of its words.

    The sentence is cut at commas and conjunctions only, and as seldom as possible: of all ways to give each piece a
    page, the one with most words is taken, less nearly a word for each change of the
    page, and less behind a semicolon or a comma with a conjunction.

    Args:
        text: The sentence.
        pages: The pages it cites, at least one.
        indexes: Their indexes, by number.
    """
    pieces, tongue = [""], indexes[pages[0].number].language
    for piece in _pieces(text):
        pieces[-1] += piece
        if not tongue.attribution.issuperset(words_of(piece, tongue)):  # else it goes with what follows
            pieces.append("")
    pieces[-2:] = ["".join(pieces[-2:])]
    total, before = [0.0] * len(pages), list[list[int]]()  # for each piece and page of it, the page of the one before
    for piece in pieces:
        best = total.index(max(total))
        least = total[best] - (_NEW_CLAUSE if NEW_CLAUSE.match(piece) else _OTHER_PAGE)
        before.append([at if one > least else best for at, one in enumerate(total)])
        said = (_words_on(indexes[page.number], piece) for page in pages)
        total = [max(one, least) + words for one, words in zip(total, said, strict=True)]
    at, by = total.index(max(total)), list[int]()
    for origins in reversed(before):
        by.append(at)
        at = origins[at]
    for of, some in itertools.groupby(zip(reversed(by), pieces, strict=True), key=itemgetter(0)):
        yield unjoined("".join(piece for _, piece in some)), pages[of]


def _words_on(index: PageIndex, piece: str) -> float:
    """Return how many words of a piece a page has together; all of them count for more than most."""
    tongue = index.language
    words = {form: word for form, word in spelled_words(piece, tongue) if form not in tongue.attribution}
    return index.best(words)[1] ** 2 * len(words)


def name_of_site(url: str) -> str:
    """Return the words of a URL's host without `www` and its last part; empty if it has none."""
    found = _SITE.match(url)
    return found[1].replace(".", " ").replace("-", " ") if found else ""


def unattributed(text: str, index: PageIndex) -> str:
    """Return a sentence without what attributes it to the page: According to the report; according to Reuters.

    An attribution is at the start or the end, behind or before a comma, and has words of attribution only, besides
    those of the page's title and site.
    """
    tongue = index.language
    if not _QUOTES.isdisjoint(text):  # who says it matters
        return text
    known = tongue.attribution.union(words_of(index.title, tongue))

    def attributes(clause: str) -> bool:
        words = words_of(clause, tongue)
        return not tongue.attribution.isdisjoint(words) and known.issuperset(words)

    rest = text
    if (opening := _OPENING.match(text)) and attributes(opening[1]):
        rest = text[opening.end() :]
    if (closing := _CLOSING.search(rest, max(0, len(rest) - _ATTRIBUTED - 9))) and attributes(closing[1].rstrip(" .")):
        rest = rest[: closing.start()]
    return rest if rest == text or len(words_of(rest, tongue)) >= _KEPT else text
