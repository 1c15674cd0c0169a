"""Sentences copied from a page except for one thing: two parts exchanged, or a word replaced."""

from __future__ import annotations

import itertools
from collections import Counter
from collections.abc import Sequence
from difflib import SequenceMatcher
from typing import Final

from groundwire.citations.verify.alignment import Alignment, WordToken
from groundwire.citations.verify.argument_roles import fold_text, joined, joined_by_and
from groundwire.citations.verify.language_packs import fold
from groundwire.citations.verify.report import Disagreement

__all__ = ["exchanged", "substituted"]

_TOLD: Final = 0.9  # share of a sentence's words from which it may be a copy with two parts exchanged
_COPIED: Final = 0.75  # share of a sentence's words that are the page's in the same order
_LONGEST: Final = 100  # words of a sentence that is compared word for word with each place of a passage
_PART: Final = 9  # words of an exchanged part, at most 8
_WORDS: Final = 2  # words of a replacement


def substituted(aligned: Alignment) -> tuple[int, int, int, int] | None:
    """Return the place of words that replace others in a sentence that is the page's, word for word, otherwise.

    The replacing word may be elsewhere in the passage too, so that the alignment does not miss it.
    """
    claim, page, tongue = aligned.claim, aligned.page, aligned.tongue
    starts = [0, *(place for place, token in enumerate(page) if token.stops), len(page)]
    mine, theirs = [fold(token.text) for token in claim], [fold(token.text) for token in page]
    if len(mine) > _LONGEST or len(theirs) > 4 * _LONGEST:
        return None
    known = frozenset(mine)
    begin, end = max(itertools.pairwise(starts), key=lambda span: len(known.intersection(theirs[slice(*span)])))
    matcher = SequenceMatcher(None, mine, theirs[begin:end], autojunk=False)
    changes = [
        (kind, first, last, begin + start, begin + stop)
        for kind, first, last, start, stop in matcher.get_opcodes()
        if kind != "equal" and not (kind == "insert" and (not start or stop == end - begin))
    ]
    if len(changes) != 1 or changes[0][0] != "replace":
        return None
    _, first, last, start, stop = changes[0]
    size = 4 if tongue.dense else _WORDS
    if last - first > size or stop - start > size or len(claim) - (last - first) < _COPIED * len(claim):
        return None
    here, there = claim[first:last], page[start:stop]
    if any(not one.keys or one.kind == "function" or one.value is not None for one in (*here, *there)):
        return None
    keys = {key for one in there for key in one.keys}
    if any(not keys.isdisjoint(one.keys) for one in here) or any(
        one.marker and other.marker for one in here for other in there
    ):
        return None
    return first, last, start, stop


def exchanged(aligned: Alignment) -> list[Disagreement]:
    """Return the two parts that have changed places while all other words, small ones included, are as on the page.

    Another voice or a fronted phrase changes the small words or moves them along, so it is not taken for an exchange.
    """
    mine, theirs = _forms(aligned, aligned.claim), _forms(aligned, aligned.page)
    size = len(mine)
    if not 3 <= size <= min(len(theirs), _LONGEST) or len(theirs) > 4 * _LONGEST:
        return []
    if aligned.share < _TOLD or aligned.tongue.case:
        return []
    missing = Counter(mine)
    missing.subtract(theirs[:size])
    differ = sum(often != 0 for often in missing.values())
    for begin in range(len(theirs) - size + 1):
        if begin:
            for form, change in ((theirs[begin - 1], 1), (theirs[begin + size - 1], -1)):
                differ -= missing[form] != 0
                missing[form] += change
                differ += missing[form] != 0
        if not differ and (parts := _crosswise(mine, theirs[begin : begin + size])):
            first, left, right, last = parts
            ends = (first, first + left, last - right, last)
            others = (begin + first, begin + first + right, begin + last - left, begin + last)
            if _counts(aligned, aligned.claim, ends) and _counts(aligned, aligned.page, others):
                dense = aligned.tongue.dense
                claimed, stated = (
                    joined(aligned.claim[first:last], dense),
                    joined(aligned.page[slice(*others[::3])], dense),
                )
                return [Disagreement(kind="order", claimed=claimed, stated=stated)]
    return []


def _forms(aligned: Alignment, tokens: Sequence[WordToken]) -> list[str]:
    """Return the words as compared here: not by stem, since an ending may be a case."""
    folded = (fold(token.text) for token in tokens)
    return [form.removesuffix("'s") for form in folded] if aligned.tongue.code == "en" else list(folded)


def _crosswise(mine: Sequence[str], theirs: Sequence[str]) -> tuple[int, int, int, int] | None:
    """Return the start, the two lengths and the end of two parts that are exchanged; something is between them."""
    differ = [place for place, (one, other) in enumerate(zip(mine, theirs, strict=True)) if one != other]
    if not differ:
        return None
    first, last = differ[0], differ[-1] + 1
    for left in range(1, _PART):
        for right in range(1, _PART):
            if left + right >= last - first:
                break
            if (
                mine[first : first + left] == theirs[last - left : last]
                and mine[last - right : last] == theirs[first : first + right]
                and mine[first + left : last - right] == theirs[first + right : last - left]
            ):
                return first, left, right, last
    return None


def _counts(aligned: Alignment, tokens: Sequence[WordToken], ends: tuple[int, int, int, int]) -> bool:
    """Return whether it matters which of two parts comes first: both are of one kind, and no items of a list."""
    first, after_left, right, last = ends
    parts = (tokens[first:after_left], tokens[right:last])
    between = tokens[after_left:right]
    if any(part[0].kind not in {"word", "number"} or part[-1].kind == "function" for part in parts):
        return False
    if aligned.tongue.nouns and not all(part[0].text[0].isupper() or part[0].value for part in parts):
        return False  # an adverb may come first: only nouns are capitalized
    if all(token.kind == "function" and fold_text(token) in aligned.tongue.conjunctions for token in between):
        return False
    if joined_by_and(aligned, tokens, after_left - 1, right) or any(token.stops for token in tokens[first + 1 : last]):
        return False
    if any(part[0].value is None for part in parts) and any(part[0].value is not None for part in parts):
        return False
    whole = last >= len(tokens) or tokens[last].kind == "function" or tokens[last].breaks
    return not (whole and any(token.keys and token.keys[0] in aligned.tongue.symmetric for token in between))
