"""Disagreements of aligned sentences: markers, opposites, and replaced words."""

from __future__ import annotations

from collections.abc import Callable, Iterator, Mapping, Sequence
from collections.abc import Set as AbstractSet
from typing import Final

from groundwire.citations.verify.alignment import Alignment, WordToken, sentence_at, stretches
from groundwire.citations.verify.argument_roles import fold_text, joined, roles
from groundwire.citations.verify.cited_parts import mismatched
from groundwire.citations.verify.comparisons import (
    borne,
    crossed,
    denied_instead,
    little_opposites,
    related,
    turns_comparison,
)
from groundwire.citations.verify.conditions import (
    each_time,
    excludes,
    measures,
    other_days,
    other_duty,
    other_time,
    overstated,
    prices,
    said_by,
)
from groundwire.citations.verify.copied_sentences import contrary, exchanged, substituted
from groundwire.citations.verify.report import Disagreement, Kind
from groundwire.citations.verify.word_order import apart, beside, reordered, stands_for, turned

__all__ = ["made_up", "reworded"]

_NEAR: Final = 5  # tokens within which a marker's head is searched
_DENIED: Final = 2  # tokens after a "not" that it denies
_CLOSE: Final = 0.6  # share of a sentence's words from which markers are compared
_VERBATIM: Final = 0.6  # share from which a replaced word is a change
_ONE_SIDED: Final = 0.7  # share from which one neighbor is enough to find what a word replaces
_LITERAL: Final = 0.65  # share of its tokens that are the page's without a synonym, from which one is
_MARKED: Final = 0.4  # the same from which a "not" or "all" without a counterpart is one
_REACH: Final = 12  # tokens from what is denied to a word that denies it
_RUN: Final = 2  # words of a replacement
_RIVALS: Final = 8  # words that exclude another whose places are compared
_APART: Final = 6  # words from one neighbor of a replacement to the other
_FAMILIES: Final[Mapping[str, Kind]] = {
    "negation": "negation",
    "quantifier": "quantifier",
    "modal": "modal",
    "bound": "comparison",
    "degree": "comparison",
}
_NEARLY: Final = tuple(map(frozenset, (("most", "usual"), ("only", "few"), ("shall", "should"))))  # only a few, few
_TOLD: Final[Mapping[str, AbstractSet[str]]] = {
    "negation": {"not"},
    "quantifier": {"all", "most", "few", "half", "only", "none"},
    "modal": {"may", "must"},
}
_DROPPED: Final[Mapping[str, AbstractSet[str]]] = {
    "negation": {"not"},
    "quantifier": {"few", "half"},
    "modal": {"may", "must"},
}


def reworded(aligned: Alignment, near: Callable[[], frozenset[str]]) -> Iterator[Disagreement]:
    """Yield the differences between a sentence and the passage it is aligned with.

    Args:
        aligned: The word alignment.
        near: Returns the keys of the words around the passage and in the page's title, which are its context.
    """
    if aligned.share < 0.3:
        return
    swapped = exchanged(aligned) or list(roles(aligned)) or list(mismatched(aligned)) or list(reordered(aligned))
    swapped = [] if borne(aligned) else swapped or list(crossed(aligned))
    yield from (one for one in swapped if one.claimed != one.stated)
    marked = list(_markers(aligned)) if aligned.share >= _CLOSE else []
    if aligned.share >= _CLOSE:
        marked = ([] if any(one.stated for one in marked) else list(overstated(aligned))) or marked
        yield from marked
        yield from denied_instead(aligned) if aligned.copies else ()
    yield from related(aligned, near)
    yield from () if swapped else _astray(aligned)
    converse = not swapped and turns_comparison(aligned)
    replaced = [*little_opposites(aligned), *_replaced(aligned, near, converse=converse)] or list(other_time(aligned))
    replaced = replaced or list(other_days(aligned))
    replaced = replaced or ([] if marked or made_up(aligned) else list(other_duty(aligned)))
    yield from replaced
    told = replaced or any(one.claimed and one.stated for one in marked)
    yield from () if swapped or marked or replaced else contrary(aligned)
    if not swapped and not told and (place := substituted(aligned)):
        first, last, start, stop = place
        here, there = sides = (aligned.claim[first:last], aligned.page[start:stop])
        valued = here[0].value is not None
        added = not there and not all(near().isdisjoint(one.keys) for one in here)
        denied = any(len(side) > 1 and any(one.denies for one in side) for side in sides) and made_up(aligned)
        if valued or (not added and not denied and _matters(aligned, first, last, range(start, stop), near)):
            modal = all(one.kind != "word" for one in (*here, *there))
            claimed, stated = (joined(side, aligned.tongue.dense) for side in sides)
            kind: Kind = "number" if valued else "modal" if modal else "word"
            yield Disagreement(kind=kind, claimed=claimed, stated=stated)


def _markers(aligned: Alignment) -> Iterator[Disagreement]:
    """Yield the words that deny, count, weaken or compare, if the other side has none or another."""
    claim, page, to = aligned.claim, aligned.page, aligned.to
    free = [at for at, token in enumerate(page) if token.marker is not None and at not in aligned.back]
    home = aligned.home or range(len(page))
    taken: set[int] = set()
    for at, token in enumerate(claim):
        marker = token.marker
        if marker is None or to[at] is not None or marker.family not in _FAMILIES or measures(aligned, at, marker):
            continue
        head = _head(at, claim, to, aligned.tongue.dense)
        if any(page[place].marker == marker and _belongs(aligned, place) for place in free):
            continue
        others = [
            place
            for place in free
            if place not in taken and (one := page[place].marker) and one.family == marker.family
            if place in home
        ]
        rival = min(others, key=lambda place: place if head is None else abs(place - head), default=None)
        if rival is not None and page[rival].marker != marker:
            stated = (page[rival].marker or marker).kind
            kinds = {marker.kind, stated}
            barred = marker.kind == "may" and any(one.denies for one in claim[max(0, at - _DENIED) : at + _DENIED + 1])
            may_not = barred and (aligned.tongue.code != "de" or not any(page[place].denies for place in home))
            nearly = kinds in _NEARLY or ("beyond" in kinds and "only" not in kinds)
            weaker = (marker.kind, stated) == ("shall", "must")
            if nearly or weaker or (may_not and "must" in kinds):  # may not without a ticket, must have one
                taken.add(rival)
                continue
            if marker.family in {"degree", "bound"} and turns_comparison(aligned):  # A has more, B has less
                continue
            if head is None or abs(rival - head) <= 2 * _NEAR:
                taken.add(rival)
                yield Disagreement(kind=_FAMILIES[marker.family], claimed=token.text, stated=page[rival].text)
            continue
        denies = any(one.denies for one in claim)
        negation, modal = (marker.family == one for one in ("negation", "modal"))
        if (negation and excludes(aligned)) or (modal and not (aligned.copies and not made_up(aligned))):
            continue
        spared = (marker.kind == "must" and denies) or said_by(aligned, marker)
        told = marker.kind in _TOLD.get(marker.family, ()) and not spared and aligned.literal_share >= _MARKED
        if marker.kind == "all" and (unit := each_time(aligned, at)) is not None:
            other = next((page[place].text for place in unit), "")
            if other:
                yield Disagreement(kind="unit", claimed=joined(claim[at : at + 2], False), stated=other)
            continue
        if told and head is not None and rival is None and not _balanced(aligned, at, marker.family):
            yield Disagreement(kind=_FAMILIES[marker.family], claimed=joined(claim[at : at + 4], False), stated="")
    for place in free:
        marker = page[place].marker
        astray = place not in home and marker is not None and marker.family != "negation"
        if marker is None or astray or marker.kind not in _DROPPED.get(marker.family, ()):
            continue
        same = [at for at, one in enumerate(claim) if one.marker and one.marker.family == marker.family]
        if any(at not in aligned.pairs or marker.family != "negation" for at in same):
            continue
        negation, modal = (marker.family == one for one in ("negation", "modal"))
        if said_by(aligned, marker, of_page=True) or (modal and not aligned.copies) or (negation and excludes(aligned)):
            continue
        head = _head(place, page, [aligned.back.get(at) for at in range(len(page))], aligned.tongue.dense)
        if head is not None and _within(aligned, place) and not _balanced(aligned, place, marker.family, of_page=True):
            yield Disagreement(kind=_FAMILIES[marker.family], claimed="", stated=joined(page[place : place + 4], False))


def _belongs(aligned: Alignment, place: int) -> bool:
    """Return whether the head of a marker in the passage is in the sentence too."""
    page = aligned.page
    for other in range(len(page))[place + 1 : place + _NEAR]:
        if page[other].breaks:
            return False
        if page[other].kind in {"word", "number"}:
            return other in aligned.back or any(page[other].key == one.key for one in aligned.claim if one.key)
    return False


def _within(aligned: Alignment, place: int) -> bool:
    """Return whether the sentence's counterparts surround a position in the passage without a break."""
    page, reach = aligned.page, _NEAR + 1
    spans = stretches([token.stops for token in page])
    most, mine = (
        max(sum(at in aligned.back for at in span) for span in some) for some in (spans, [sentence_at(page, place)])
    )
    if 2 * mine < most:  # another sentence of the passage is meant
        return False
    if aligned.tongue.dense:
        clauses = stretches([token.breaks for token in page])
        return any(place in clause and not aligned.back.keys().isdisjoint(clause) for clause in clauses)
    for other in range(len(page))[place + 1 : place + reach]:
        if page[other].stops:
            return False
        if other in aligned.back and page[other].kind in {"word", "number"}:
            break
    else:
        return False
    for other in reversed(range(place + 1)[-reach:]):
        if other in aligned.back:
            return True
        if page[other].breaks:
            return page[other].stops
    return place < reach


def _head(at: int, tokens: Sequence[WordToken], to: Sequence[int | None], dense: bool) -> int | None:
    """Return the counterpart of a marker's head: the next word that has one, or the previous."""
    near = [*range(len(tokens))[at : at + _NEAR], *reversed(range(at)[1 - _NEAR :])]
    for place in sorted(near, key=lambda one: abs(one - at)) if dense else near:
        if tokens[place].kind in {"word", "number"}:
            there: int | None = to[place]
            if there is not None:
                return there
            if place > at and not dense:
                break
    return None


def _balanced(aligned: Alignment, at: int, family: str, *, of_page: bool = False) -> bool:
    """Return whether an antonym makes up for a "not": not safe, dangerous."""
    if family != "negation":
        return False
    mine, theirs = (aligned.page, aligned.claim) if of_page else (aligned.claim, aligned.page)
    counterparts, theirs_too = (aligned.back, aligned.pairs) if of_page else (aligned.pairs, aligned.back)
    near = (*range(at)[-_NEAR:], *range(len(mine))[at : at + 2 * _NEAR])
    heads = sorted((one for one in counterparts if mine[one].kind in {"word", "number"}), key=lambda one: one < at)
    head = counterparts[heads[0]] if heads else 0
    reach = len(theirs) if aligned.tongue.dense or not heads else _REACH
    home = [one for one in sentence_at(theirs, head) if abs(one - head) <= reach] if heads else range(len(theirs))
    denying = any(theirs[place].key in aligned.tongue.denying for place in home if place not in theirs_too)
    if denying or not aligned.tongue.instead.isdisjoint(fold_text(theirs[place]) for place in home):  # sent instead
        return True
    for said in stretches([token.stops for token in theirs]):
        known = {theirs_too[place] for place in said if place in theirs_too and theirs[place].kind != "function"}
        free = [mine[place] for place in near if place == at + 1 or place not in known] if known or not heads else []
        others = (theirs[place] for place in said if place not in theirs_too)
        if any(aligned.tongue.are_opposite(one.key, other.key) for other in others for one in free):
            return True
    return False


def made_up(aligned: Alignment) -> bool:
    """Return whether a negation on one side corresponds to an antonym on the other, or to a limit."""
    return excludes(aligned) or any(
        token.denies and _balanced(aligned, at, "negation", of_page=of_page)
        for of_page, tokens in ((False, aligned.claim), (True, aligned.page))
        for at, token in enumerate(tokens)
    )


def _replaced(aligned: Alignment, near: Callable[[], frozenset[str]], *, converse: bool) -> Iterator[Disagreement]:
    """Yield the words that replace others."""
    claim, page, tongue = aligned.claim, aligned.page, aligned.tongue
    unmatched = [place for place, token in enumerate(page) if token.kind == "word" and place not in aligned.back]
    said, all_there = (sum(token.denies for token in side) for side in (claim, page))
    for first, last in _runs(aligned):
        for at, word in ((place, claim[place].key) for place in range(first, last)):
            likely = (place for place in unmatched if tongue.are_opposite(word, page[place].key))
            against = next((place for place in likely if beside(aligned, at, place)), None)
            if against is not None and aligned.share >= 0.5:
                exchanged = page[against].key in tongue.converse.get(word, ()) or turns_comparison(aligned, surely=True)
                near_by = sum(page[place].denies for place in sentence_at(page, against))
                odd = (said - near_by) % 2 or (said - all_there) % 2
                if (converse and exchanged) or odd or turned(aligned, at, against):
                    break
                yield Disagreement(kind="opposite", claimed=claim[at].text, stated=page[against].text)
                break
            rivals = [place for place in unmatched if tongue.exclude(word, page[place].key)][:_RIVALS]
            other = next((place for place in rivals if stands_for(aligned, at, place)), None)
            if other is not None and aligned.share >= 0.5:
                yield Disagreement(kind="word", claimed=claim[at].text, stated=page[other].text)
                break
        else:
            there = _in_place(aligned, first, last)
            if there and not prices(aligned, first, last) and _is_change(aligned, first, last, there, near):
                yield Disagreement(
                    kind="name" if any(claim[at].name for at in range(first, last)) and not tongue.dense else "word",
                    claimed=joined(claim[first:last], tongue.dense),
                    stated=joined([page[place] for place in there], tongue.dense),
                )


def _astray(aligned: Alignment) -> Iterator[Disagreement]:
    """Yield words that are elsewhere in the passage, with their antonym between the same neighbors."""
    claim, page, to = aligned.claim, aligned.page, aligned.to
    unmatched = [place for place, token in enumerate(page) if token.kind == "word" and place not in aligned.back]
    if all(any(one.denies for one in side) for side in (claim, page)):
        return
    for at, token in enumerate(claim):
        there = to[at]
        if there is None or token.kind != "word" or token.key not in aligned.tongue.opposites:
            continue
        if any(one.denies for one in claim[:at][-_DENIED:]):
            continue
        around = [
            place
            for other in (*range(at)[-4:], *range(len(claim))[at + 1 : at + 5])
            if claim[other].kind in {"word", "number"} and (place := to[other]) is not None
        ]
        for rival in unmatched:
            if aligned.tongue.are_opposite(token.key, page[rival].key):
                if apart(aligned, at, rival) or turned(aligned, at, rival):
                    continue
                here = sum(1 / (1 + abs(place - there)) for place in around)
                left = to[at - 1] if at else None
                it, other = (left is not None and abs(left - one) == 1 for one in (there, rival))
                nearer = sum(1 / (1 + abs(place - rival)) for place in around) > 1.2 * here
                if other > it or (nearer and other == it):
                    yield Disagreement(kind="opposite", claimed=token.text, stated=page[rival].text)
                    return


def _runs(aligned: Alignment) -> list[tuple[int, int]]:
    """Return the runs of words without a counterpart."""
    found: list[tuple[int, int]] = []
    for at, token in enumerate(aligned.claim):
        if token.kind != "word" or aligned.to[at] is not None:
            continue
        found.append((found.pop()[0] if found and found[-1][1] == at else at, at + 1))
    return found


def _in_place(aligned: Alignment, first: int, last: int) -> list[int]:
    """Return the words of the passage between the same neighbors as a run of the sentence."""
    page, to = aligned.page, aligned.to
    left = to[first - 1] if first else None
    right = to[last] if last < len(to) else None
    if first and left is None and aligned.claim[first - 1].kind == "function" and first > 1:
        left = to[first - 2]
    if last < len(to) and right is None and aligned.claim[last].kind == "function" and last + 1 < len(to):
        right = to[last + 1]
    if left is not None and right is not None and right <= left + _APART:
        return [place for place in range(left, right) if page[place].kind == "word" and place not in aligned.back]
    if aligned.strict_share < _ONE_SIDED:
        return []
    if left is not None and right is None:
        if last < len(to) and aligned.claim[last].kind != "function":
            return []
        return _stretch(aligned, range(left + 1, len(page)))
    if right is not None and left is None and first <= 1:
        return _stretch(aligned, range(right - 1, -1, -1))
    return []


def _stretch(aligned: Alignment, places: range) -> list[int]:
    """Return the words without a counterpart at the start of a stretch of the passage, in order."""
    found: list[int] = []
    for place in places:
        token = aligned.page[place]
        if token.kind == "function" and not found and place not in aligned.back:
            continue
        if token.kind != "word" or place in aligned.back or len(found) >= _RUN + 2:
            break
        found.append(place)
        if token.breaks and places.step > 0 and len(found) > 1:
            found.pop()
            break
    return sorted(found)


def _is_change(
    aligned: Alignment, first: int, last: int, there: Sequence[int], near: Callable[[], frozenset[str]]
) -> bool:
    """Return whether replaced words change the meaning, as far as words can show."""
    size = 4 if aligned.tongue.dense else _RUN
    if last - first > size or len(there) > size:
        return False
    places = [there for there in aligned.to if there is not None]
    copied = sorted(places) == places and _runs(aligned) == [(first, last)]  # more changes make a paraphrase
    if aligned.share < _VERBATIM or aligned.literal_share < _LITERAL or not copied:
        return False
    return _matters(aligned, first, last, there, near)


def _matters(
    aligned: Alignment, first: int, last: int, there: Sequence[int], near: Callable[[], frozenset[str]]
) -> bool:
    """Return whether words that replace others say something else than these."""
    claim, page, tongue = aligned.claim, aligned.page, aligned.tongue
    words = claim[first:last]
    word = words[-1]
    others = [page[place] for place in there]
    vague, vague_there = (any(one.key in tongue.generic for one in side) for side in (words, others))
    named, named_there = (any(one.name for one in side) for side in (words, others))
    if (vague and named_there) or (vague_there and (named or not near().isdisjoint(word.keys))):
        return False
    if first <= 10 and all(one.key in tongue.attribution for one in words):
        return False
    if not tongue.dense and all(len(one.text) < 2 for one in words):
        return False
    for short, long in ((words, others), (others, words)):  # AI, artificial intelligence
        initials = "".join(one.text[0] for one in long).casefold()
        if len(short) == 1 and len(long) > 1 and initials.startswith(short[0].text.casefold()[:2]):
            return False
    known = all(not near().isdisjoint(one.keys) for one in words)
    return not (known and named_there and not named)
