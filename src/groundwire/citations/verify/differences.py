"""How a sentence differs from a near copy of it on a page: by a number, date, unit, quotation or negation."""

from __future__ import annotations

import re
from collections.abc import Iterator, Mapping, Sequence, Set
from dataclasses import replace
from typing import Final

from groundwire.citations.segmentation import TextSpan, quotes_of, squeezed
from groundwire.citations.verify.evidence import FEATURES, Claim, Evidence, PagePassage
from groundwire.citations.verify.language_data import unit_size
from groundwire.citations.verify.passage_index import PageIndex, terms_in
from groundwire.citations.verify.report import Disagreement, Kind
from groundwire.citations.verify.values import ValueToken, same_number, same_value
from groundwire.reading.passages.terms import Terms

_ORDER: Final = FEATURES.index("order")
_MIN_DENIAL_ORDER: Final = 0.5  # the same for a negation
_MIN_ORDER: Final = 0.15  # share of a sentence's words that its passage must have in order to be compared in full
_MAX_CLAIM_TOKENS: Final = 120  # tokens of a sentence that are aligned
_MAX_PASSAGE_TOKENS: Final = 300  # the same of a passage
_FIGURE_CONTEXT_WORDS: Final = 3  # words on each side of a figure
_CLAUSE_CONTEXT_WORDS: Final = 8  # the same of a negation
_MIN_CONTEXT_SHARE: Final = 0.34
"""Share of the words beside a figure that the passage has in the same order, one of them right beside it."""
_MIN_COPIED_SHARE: Final = 0.2  # share of the sentence
_NEARBY_SENTENCES: Final = 3  # sentences before and after a passage that may have the figure of a sentence
_FULL_COPY_SHARE: Final = 0.8  # share of a sentence's words by which it copies a passage as a whole
_DENIED_SHARE: Final = 0.75  # share of the clause with a negation
_MIN_QUOTED_WORDS: Final = 4  # words from which a quotation must be on the page
_MIN_INVENTED_WORDS: Final = 6  # the same of one that resembles nothing on it
_SIMILAR_SHARE: Final = 0.6  # share of a quotation's words that a passage must have to be shown beside it


def near_copy(claim: Claim, evidence: Evidence) -> tuple[tuple[Disagreement, ...], PagePassage | None]:
    """Return how a sentence differs from a near copy: by a number, date, unit or negation; and the passage that is one.

    Args:
        claim: The sentence.
        evidence: The evidence for it.
    """
    if evidence.counts[_ORDER] < _MIN_ORDER:
        return (), None
    mine = claim.tokens[:_MAX_CLAIM_TOKENS]
    for passage in ([evidence.sentence] if evidence.sentence else []) + list(evidence.passages):
        page = passage.tokens[:_MAX_PASSAGE_TOKENS]
        lost = {at for at, token in enumerate(mine) if token.kind in {"number", "date"} and not _has(token, page)}
        denies = evidence.counts[_ORDER] >= _MIN_DENIAL_ORDER and _denials(mine) != _denials(page)
        if not denies and not any(token.kind in {"number", "date"} for token in page if lost):
            continue
        pairs = _aligned(mine, page)
        equal = sum(_equal(mine[at], page[other]) for at, other in pairs.items())
        copied = equal >= _FULL_COPY_SHARE * (len(mine) - len(lost))
        if lost and not copied:  # a sentence near it may have the figure
            nearby = passage.index.tokens(max(0, passage.first - _NEARBY_SENTENCES), 2 * _NEARBY_SENTENCES + 1)
            lost = {at for at in lost if not _has(mine[at], nearby)}
        if differ := tuple(_differences(mine, page, pairs, passage.index, lost, claim)):
            return differ, passage
        if copied:
            break  # a copy without a difference
    return (), None


def _has(wanted_token: ValueToken, tokens: Sequence[ValueToken]) -> bool:
    return any(_equal(wanted_token, token) for token in tokens)


def _denials(tokens: Sequence[ValueToken]) -> int:
    return sum(token.kind == "negation" for token in tokens)


def _equal(first: ValueToken, second: ValueToken) -> bool:
    if first.kind == second.kind == "word":
        return _stem(first.key) == _stem(second.key)
    if first.kind == second.kind == "date" and not any(map(all, zip(first.date, second.date, strict=True))):
        return False  # nothing is known of both
    return first.kind == second.kind == "negation" or same_value(first, second, rounded=False)


def _stem(key: str) -> str:
    return key[: max(4, len(key) - 2)] if len(key) > 4 else key


def _aligned(claim: Sequence[ValueToken], page: Sequence[ValueToken]) -> Mapping[int, int]:
    """Return which token of a page each token of a sentence is aligned with: most of them equal, and in order.

    Numbers and dates may be aligned with others between equal neighbors.
    """
    places: dict[tuple[str, str], list[int]] = {}
    for at, token in enumerate(page):
        places.setdefault(_aligned_as(token), []).append(at)
    rows: list[list[float]] = [[0.0] * (len(page) + 1)]
    for token in claim:
        before, row = rows[-1], rows[-1].copy()
        for at in places.get(_aligned_as(token), ()):
            gain = 1.0 if token.kind in {"word", "negation"} else 2.0 if _equal(token, page[at]) else 0.5
            place, best = at + 1, before[at] + gain
            while place < len(row) and row[place] < best:  # rows never fall
                row[place] = best
                place += 1
        rows.append(row)
    pairs: dict[int, int] = {}
    at, other = len(claim), len(page)
    while at and other:
        if rows[at][other] == rows[at - 1][other]:
            at -= 1
        elif rows[at][other] == rows[at][other - 1]:
            other -= 1
        else:
            at, other = at - 1, other - 1
            pairs[at] = other
    return pairs


def _aligned_as(token: ValueToken) -> tuple[str, str]:
    """Return what two tokens that are aligned have in common."""
    return token.kind, _stem(token.key) if token.kind == "word" else ""


def _differences(
    mine: Sequence[ValueToken],
    page: Sequence[ValueToken],
    pairs: Mapping[int, int],
    index: PageIndex,
    lost: Set[int],
    claim: Claim,
) -> Iterator[Disagreement]:
    equal = {at: other for at, other in pairs.items() if _equal(mine[at], page[other])}
    if len(equal) < _MIN_COPIED_SHARE * (len(mine) - 1):
        return
    for at, other in pairs.items():
        if at not in lost or page[other].kind != mine[at].kind:
            continue
        kind = _kind(mine[at], page[other], at, other, equal)
        if kind and _context_share(at, other, len(mine), equal, _FIGURE_CONTEXT_WORDS) >= _MIN_CONTEXT_SHARE:
            yield _disagreement(kind, claim, mine[at], index, page[other])
    for token in _claimed_denials(mine, page, pairs, equal):
        yield _disagreement("negation", claim, token, index, None)
    for token in _stated_denials(mine, page, pairs, equal, index.plain):
        yield _disagreement("negation", claim, None, index, token)


def _claimed_denials(
    mine: Sequence[ValueToken], page: Sequence[ValueToken], pairs: Mapping[int, int], equal: Mapping[int, int]
) -> Iterator[ValueToken]:
    """Yield the negations of a sentence that the passage it copies does not have."""
    for at, token in enumerate(mine):
        place = next((equal[near] for near in (at - 1, at + 1, at - 2) if near in equal), None)
        if token.kind != "negation" or at in pairs or place is None or (_is_only(mine, at) and at + 1 not in equal):
            continue
        if _denies(at, place, len(mine), equal, page[max(0, place - 4) : place + 5]):
            yield token


def _stated_denials(
    mine: Sequence[ValueToken],
    page: Sequence[ValueToken],
    pairs: Mapping[int, int],
    equal: Mapping[int, int],
    plain: str,
) -> Iterator[ValueToken]:
    """Yield the negations inside a copied passage, or right after it, that the sentence does not have."""
    back = {other: at for at, other in pairs.items()}
    first, last = min(equal.values(), default=0), max(equal.values(), default=0)
    for other, token in enumerate(page):
        place = next((back[near] for near in (other - 1, other + 1) if back.get(near) in equal), None)
        if token.kind != "negation" or other in back or place is None:
            continue
        if _is_only(page, other) and other + 1 not in back:
            continue
        ends = place == len(mine) - 1 and not _STOP.search(plain, page[other - 1].end, token.start)
        near = mine[max(0, place - 4) : place + 5]
        if (first < other < last or ends) and _denies(place, other, len(mine), equal, near):
            yield token


def _denies(at: int, other: int, size: int, equal: Mapping[int, int], near: Sequence[ValueToken]) -> bool:
    """Whether the clause around a negation is copied, and the other side has no negation near it."""
    share = _context_share(at, other, size, equal, _CLAUSE_CONTEXT_WORDS)
    return share >= _DENIED_SHARE and all(token.kind != "negation" for token in near)


def _is_only(tokens: Sequence[ValueToken], at: int) -> bool:
    """Whether what follows a negation makes it deny no statement: not only, not just."""
    return at + 1 < len(tokens) and tokens[at + 1].key in _ONLY


_ONLY: Final = frozenset({"only", "just", "nur", "seulement", "solo", "apenas", "только"})
_STOP: Final = re.compile(r"[.!?。！？\n]")


def _context_share(at: int, other: int, size: int, equal: Mapping[int, int], reach: int) -> float:
    """Return the share of the words around a difference that the page has around it, too."""
    around = [place for place in range(max(0, at - reach), min(size, at + reach + 1)) if place != at]
    near = sum(abs(equal.get(place, 10**6) - other) <= 2 * reach for place in around)
    return near / len(around) if len(around) > 2 else 0.0


def _kind(claimed: ValueToken, stated: ValueToken, at: int, other: int, equal: Mapping[int, int]) -> Kind | None:
    """Return how a number or date differs; None if it may be another way to say the same."""
    beside = (equal.get(at - 1) == other - 1) + (equal.get(at + 1) == other + 1)
    if not beside:
        return None
    if claimed.kind == "date":
        return "date"
    if claimed.unit and stated.unit and claimed.unit != stated.unit:
        if any(abs(value - theirs) <= 1e-9 * abs(value) for value in claimed.values for theirs in stated.values):
            return "unit"
        if unit_size(claimed.unit)[0] != unit_size(stated.unit)[0]:
            return None
    before = equal.get(at - 1) == other - 1 or at == 0
    shorter = sum(map(str.isdecimal, claimed.key)) < sum(map(str.isdecimal, stated.key))
    return None if (shorter or not before) and same_number(claimed, stated, rounded=True) else "number"


_Span = ValueToken | TextSpan | None
_Unquoted = tuple[Disagreement, PagePassage | None]


def _disagreement(kind: Kind, claim: Claim, claimed: _Span, index: PageIndex, stated: _Span) -> Disagreement:
    return Disagreement(
        kind=kind,
        claimed=claim.text[claimed.start : claimed.end] if claimed else "",
        stated=index.plain[stated.start : stated.end] if stated else "",
        claimed_start=claim.start + claimed.start if claimed else None,
        claimed_end=claim.start + claimed.end if claimed else None,
        stated_start=stated.start if stated else None,
        stated_end=stated.end if stated else None,
    )


def unquoted(claim: Claim, pages: Sequence[PageIndex], terms: Terms) -> Iterator[_Unquoted]:
    """Yield the quotations of a sentence that no page has, with the most similar passage.

    Args:
        claim: The sentence.
        pages: The pages that it cites.
        terms: Extracts terms.
    """
    text = claim.text
    for span in quotes_of(text):
        quote = text[span.start : span.end].replace("[…]", "…").replace("[...]", "…").replace("...", "…").strip(" .,;:")
        words = quote.split()
        if (len(words) < _MIN_QUOTED_WORDS and quote.isascii()) or all(
            word[:1].isupper() for word in words if len(word) > 3
        ):
            continue  # a term, or a title
        if quote.endswith(("?", "!")):
            continue  # what someone might say
        pieces = [piece for piece in quote.split("…") if squeezed(piece)]
        if any(all(squeezed(piece) in index.letters for piece in pieces) for index in pages):
            continue
        best: PagePassage | None = None
        best_share = 0.0
        quote_terms: dict[str, float] = {}
        for index in pages:
            quote_terms = dict.fromkeys(terms_in(quote, terms, index.language), 1.0)
            for first in index.candidates(quote_terms.items(), 1):
                share = len(quote_terms.keys() & index.sets[first]) / len(quote_terms)
                if share > best_share:
                    best_share, best = share, PagePassage(index, first, 1)
        near = best if best and best_share >= _SIMILAR_SHARE else None
        if near is None and len(quote_terms) < _MIN_INVENTED_WORDS:
            continue
        stated_span = near.index.span(near.first, 1) if near else None
        difference = _disagreement("quote", claim, span, near.index if near else pages[0], stated_span)
        yield replace(difference, claimed=quote), near
