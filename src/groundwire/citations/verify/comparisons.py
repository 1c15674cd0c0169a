"""Comparisons, opposites, denials, causes, and names of scripts without spaces that differ from the passage's."""

from __future__ import annotations

import itertools
from collections import Counter
from collections.abc import Callable, Iterator, Mapping, Sequence
from dataclasses import replace
from difflib import SequenceMatcher
from typing import Final

from groundwire.citations.verify.alignment import Alignment, WordToken, sentence_at, stretches
from groundwire.citations.verify.argument_roles import alike, blocks_of, fold_text, joined, turned_degree
from groundwire.citations.verify.entities import same_number, same_quantity
from groundwire.citations.verify.language_packs import Language, fold
from groundwire.citations.verify.quantities import Number
from groundwire.citations.verify.report import Disagreement
from groundwire.citations.verify.word_order import carries

__all__ = [
    "abbreviates", "borne", "crossed", "denied_instead", "equal_numbers", "inverted", "little_opposites",
    "of_other_unit", "related", "renamed", "turns_comparison",
]  # fmt: skip

_COMPARED: Final = 8  # tokens between a "more" and its "than", where this is an everyday word
_PHRASE: Final = 6  # tokens of a phrase before a cause
_KNOWN: Final = 0.5  # share of the words of a cause from which the page has it in other words
_SHOWN: Final = 4  # words of the passage that are shown
_POUND: Final = frozenset({"pound", "gbp"})
_SCOPE: Final = 5  # words after a "not" that it may deny
_SAME_NAME: Final = 0.8  # share of the words of a sentence from which the last character of a name may be another one
_COPIED: Final = 0.6  # share of its words that are the page's in the same order
_COPY: Final = 4  # such words
_LONGEST: Final = 100  # words of a sentence that is compared word for word
_CLAUSES: Final = 6  # clauses of a sentence that are compared
_NAME: Final = 10  # words of a name, where an unknown character is one
_UNKNOWN: Final = 2  # characters that no list has


def related(aligned: Alignment, near: Callable[[], frozenset[str]]) -> Iterator[Disagreement]:
    """Yield a name with another character, another cause, and a "more" where the passage has "less" in other words.

    Args:
        aligned: A sentence and its passage.
        near: Returns the keys of the words around the passage.
    """
    yield from renamed(aligned)
    yield from _other_cause(aligned, near)
    yield from list(_reversed_degree(aligned)) or _compared_otherwise(aligned)


def turns_comparison(aligned: Alignment, *, surely: bool = False) -> bool:
    """Return whether a sentence compares with a thing what the passage compares the thing with: A is more, B is less.

    Args:
        aligned: A sentence and its passage.
        surely: Whether what follows the only "than" must be in both. Else any two parts in reverse order will do.
    """
    if found := borne(aligned):
        return found[1]
    home = aligned.home
    back = {there: here for there, here in aligned.back.items() if there in home} if home else aligned.back
    pairs = {here: there for there, here in back.items()}
    here = _standard(aligned.claim, range(len(aligned.claim)), aligned.tongue)
    there = _standard(aligned.page, home or range(len(aligned.page)), aligned.tongue)
    mine = [pairs[at] for at in here if at in pairs and carries(aligned.claim[at])]
    theirs = [back[at] for at in there if at in back and carries(aligned.page[at])]
    if here and there:
        return any(at < there.start for at in mine) and any(at < here.start for at in theirs)
    near = replace(aligned, to=[there if there in home else None for there in aligned.to]) if home else aligned
    return bool(mine or theirs) if surely else inverted(near)


def borne(aligned: Alignment) -> tuple[int, bool] | None:
    """Return the word of the passage that a sentence compares by, and whether it is said of what follows "than".

    The Gull is newer than the Heron: the older Heron. None if the passage says it of neither, or has a "than" as well.
    """
    claim, page, tongue = aligned.claim, aligned.page, aligned.tongue
    standard = _standard(claim, range(len(claim)), tongue)
    if not standard or tongue.dense or _standard(page, aligned.home, tongue):
        return None
    at = _compared(claim, standard)
    for place in aligned.home:
        if aligned.to[at] == place or tongue.are_opposite(claim[at].key, page[place].key):
            near = [place + 1, *range(place)[-2:][::-1]]
            bearer = next((one for one in near if one in aligned.back and carries(page[one])), None)
            if bearer is not None and not any(token.breaks for token in page[place + 1 : bearer + 1]):
                here = aligned.back[bearer]
                return (place, here in standard) if here in standard or here < at else None
    return None


def _compared(claim: Sequence[WordToken], standard: range) -> int:
    """Return the word before a "than"."""
    return next((at for at in range(standard.start)[-4:][::-1] if carries(claim[at])), 0)


def _compared_otherwise(aligned: Alignment) -> Iterator[Disagreement]:
    """Yield a comparison that the passage makes the other way: cheaper, less cheap; more in May, most in June."""
    claim, page, tongue = aligned.claim, aligned.page, aligned.tongue
    turned = turned_degree(aligned)
    if turned is not None and not turns_comparison(aligned):
        place = aligned.pairs[turned]
        stated = joined(page[max(0, place - 1) : place + 1], False)
        yield Disagreement(kind="comparison", claimed=claim[turned].text, stated=stated)
        return
    standard, home = _standard(claim, range(len(claim)), tongue), aligned.home or range(len(page))
    at = _compared(claim, standard)
    if (found := borne(aligned)) and found[1] == (at in aligned.pairs):
        stated = joined(page[found[0] : found[0] + 2], False)
        yield Disagreement(kind="comparison", claimed=claim[at].text, stated=stated)
        return
    if not standard or tongue.dense or _standard(page, home, tongue):
        return
    before = range(standard.start)[-_COMPARED:]
    degrees = [(claim[at].text, one.kind) for at in before if _degree(claim, at, tongue) and (one := claim[at].marker)]
    for place in home if degrees else ():
        marker = page[place].marker
        if marker is None or marker.kind not in {"most", "more"}:
            continue
        near = itertools.takewhile(lambda one: not page[one].breaks, range(place + 1, min(place + _SCOPE, home.stop)))
        here = aligned.back.get(next((one for one in near if page[one].kind == "word"), -1), -1)
        if sum(one in aligned.back and page[one].kind == "word" for one in sentence_at(page, place)) < 2:
            continue
        if here in standard if degrees[0][1] in {"more", "over"} else 0 <= here < standard.start:
            stated = joined(page[place : place + _SHOWN], False)
            yield Disagreement(kind="comparison", claimed=degrees[0][0], stated=stated)
            return


def inverted(aligned: Alignment) -> bool:
    """Return whether two words of a class are in reverse order, as used for converse words."""
    blocks = blocks_of(aligned)
    firsts = [aligned.pairs[block.first] for block in blocks]
    return any(
        firsts[two] < firsts[one] and alike(aligned, blocks[one], blocks[two])
        for one in range(len(blocks))
        for two in range(len(blocks))[one : one + 8]
    )


def _standard(tokens: Sequence[WordToken], places: range, tongue: Language) -> range:
    """Return what follows a "than", up to a comma; empty if there is none."""
    for at in places:
        if fold_text(tokens[at]).rpartition(" ")[2] in tongue.than:
            near = tokens[max(places.start, at - _COMPARED) : at]
            if "que" not in tongue.than or any(one.marker and one.marker.family == "degree" for one in near):
                return range(
                    at + 1, next((end for end in range(at + 1, places.stop) if tokens[end].breaks), places.stop)
                )
    return range(0)


def _reversed_degree(aligned: Alignment) -> Iterator[Disagreement]:
    """Yield a "more" or "less" for which the other side has an opposite word: fewer visitors, the number rose."""
    claim, page, tongue = aligned.claim, aligned.page, aligned.tongue
    if any(token.denies for token in (*claim, *page)) or turns_comparison(aligned, surely=True):
        return
    mine = [at for at in range(len(claim)) if at not in aligned.pairs]
    theirs = [at for at in aligned.home or range(len(page)) if at not in aligned.back]
    degrees = {place: _degree(page, place, tongue) for place in theirs}
    sides = [[place for place in theirs if bool(degrees[place]) == counts] for counts in (True, False)]
    for at in mine:
        degree = _degree(claim, at, tongue)
        for place in sides[bool(degree)]:  # only one of them is a degree
            words = itertools.product(degree or claim[at].keys, degrees[place] or page[place].keys)
            if any(tongue.are_opposite(one, other) for one, other in words):
                yield Disagreement(kind="comparison", claimed=claim[at].text, stated=page[place].text)
                return


def _degree(tokens: Sequence[WordToken], at: int, tongue: Language) -> tuple[str, ...]:
    """Return the normal form of a "more" or "less", also before "than" if no number follows; empty for others."""
    marker = tokens[at].marker
    counts = any(token.value is not None for token in tokens[at + 1 : at + 2])
    degree = marker is not None and (marker.family == "degree" or (marker.family == "bound" and not counts))
    return (tongue.normal_form(tokens[at].text.split()[0]),) if degree else ()


def _other_cause(aligned: Alignment, near: Callable[[], frozenset[str]]) -> Iterator[Disagreement]:
    """Yield the cause that a sentence gives, if the page has little of it, and the page's: because of a strike."""
    claim, page, tongue = aligned.claim, aligned.page, aligned.tongue
    for cause in _causes(claim, tongue):
        told = [at for at in cause if claim[at].kind in {"word", "number"}]
        known = sum(at in aligned.pairs or not near().isdisjoint(claim[at].keys) for at in told)
        if not told or known > _KNOWN * len(told):
            continue
        others = (span for span in _causes(page, tongue) if aligned.back.keys().isdisjoint(span))
        stated = next((joined(page[span.start : span.stop], tongue.dense) for span in others), "")
        yield Disagreement(kind="word", claimed=joined(claim[cause.start : cause.stop], tongue.dense), stated=stated)
        return


def _causes(tokens: Sequence[WordToken], tongue: Language) -> Iterator[range]:
    """Yield what follows the phrases before a cause, up to a comma; in Japanese, what precedes those behind it."""
    for at in range(len(tokens)):
        after, size = "", 0
        for one in tokens[at : at + _PHRASE]:
            after, size = f"{after}{'' if tongue.dense or not after else ' '}{fold(one.text)}", size + 1
            if after in tongue.cause:
                break
        else:
            continue
        if tongue.code == "ja":
            begins = max((one for one in range(at) if tokens[one].breaks), default=0)
            yield range(begins, at)
        else:
            begins = at + size
            if [one.text for one in tokens[begins : begins + 1]] == ["be"]:  # due to be
                continue
            ends = next((one for one in range(begins + 1, len(tokens)) if tokens[one].breaks), len(tokens))
            yield range(begins, ends)


def little_opposites(aligned: Alignment) -> Iterator[Disagreement]:
    """Yield words such as before and after that have changed places, and those with another ending: hermana."""
    claim, page, to, tongue = aligned.claim, aligned.page, aligned.to, aligned.tongue
    for at, place in aligned.pairs.items() if tongue.other_ending else ():
        if frozenset((fold(claim[at].text), fold(page[place].text))) in tongue.other_ending:
            yield Disagreement(kind="opposite", claimed=claim[at].text, stated=page[place].text)
            return
    for at, token in enumerate(claim):
        form = tongue.normal_form(token.text) if token.kind == "function" else ""
        if to[at] is not None or form not in tongue.opposites:
            continue
        after = next((there for there in to[at : at + 4] if there is not None), 0)
        for place in range(after)[-3:]:
            other = page[place]
            unmatched = other.kind == "function" and place not in aligned.back
            if unmatched and tongue.are_opposite(form, tongue.normal_form(other.text)):
                yield Disagreement(kind="opposite", claimed=token.text, stated=other.text)
                return


def denied_instead(aligned: Alignment) -> Iterator[Disagreement]:
    """Yield a word that a sentence denies where the passage denies another: red, but no blue."""
    sides = (aligned.claim, aligned.page)
    denies = [(tokens, at) for tokens in sides for at, token in enumerate(tokens) if token.denies]
    if [tokens for tokens, _ in denies] != [*sides]:
        return
    mine, theirs = (_denied(*one) for one in denies)
    there = {place: aligned.pairs.get(place) for place in mine}
    here = {place: aligned.back.get(place) for place in theirs}
    if not mine or not theirs or None in (*there.values(), *here.values()):
        return
    for (tokens, at), denied, others in zip(denies, (mine, theirs), (here.values(), there.values()), strict=True):
        beside = {(at, at - 1), (denied[-1] + 1, denied[-1] + 1)}  # a word beside, and where a comma would cut it off
        verbs = {place for cut, place in beside if cut < len(tokens) and not tokens[cut].breaks}
        if len(others) == 1 and not verbs.isdisjoint(others):
            return  # found no link: a link was not found
    if set(there.values()).isdisjoint(theirs) and set(here.values()).isdisjoint(mine):
        told, stated = (
            joined([tokens[place] for place in (at, *of)], False)
            for (tokens, at), of in zip(denies, (mine, theirs), strict=True)
        )
        yield Disagreement(kind="negation", claimed=told, stated=stated)


def _denied(tokens: Sequence[WordToken], at: int) -> list[int]:
    """Return the words between a "not" and the next comma or small word: what it denies, where it precedes."""
    found: list[int] = []
    for place, token in enumerate(tokens[at + 1 : at + _SCOPE], start=at + 1):
        if token.breaks or token.kind != "word":
            break
        found.append(place)
    return found


def equal_numbers(number: Number, others: Sequence[Number]) -> list[Number]:
    """Return the numbers that are the same quantity as one, or else those that are the same number."""
    same = [other for other in others if same_quantity(number, other)]
    return same or [other for other in others if same_number(number, other)]


def of_other_unit(number: Number, same: Sequence[Number]) -> bool:
    """Return whether equal numbers all have another unit: 5 km, 5 miles; a pound may be money, and half is no 50 %."""
    if number.unit == "%" and number.text.replace(" ", "").isalpha():
        return False
    units = {other.unit for other in same}
    return bool(number.unit) and not (
        units & {"", number.unit}
        or _POUND.issuperset(units | {number.unit})
        or any(same_quantity(number, one) for one in same)
    )


def crossed(aligned: Alignment) -> Iterator[Disagreement]:
    """Yield two clauses of which each has a part of one clause of the passage and a part of the other.

    Tanaka drew it, and Sato built it: Sato drew it, and Tanaka built it. What both clauses of the passage have tells
    nothing. Other scripts have capitals, so that their names are known.
    """
    if not aligned.tongue.dense:
        return
    mine, theirs = _clauses(aligned.claim, aligned.tongue), _clauses(aligned.page, aligned.tongue)
    where = {at: number for number, clause in enumerate(theirs) for at in clause}
    often = Counter(token.key for clause in theirs for token in {aligned.page[at] for at in clause})
    told: list[dict[int, list[int]]] = []  # for each clause, its words by the clause of the passage that they are in
    for clause in mine[:_CLAUSES]:
        places: dict[int, list[int]] = {}
        for at in clause:
            there = aligned.pairs.get(at)
            token = aligned.claim[at]
            if there is not None and token.kind in {"word", "number"} and often[aligned.page[there].key] < 2:
                places.setdefault(where[there], []).append(at)
        told.append(places)
    for one, other in itertools.combinations(range(len(told)), 2):
        for first, second in itertools.combinations(sorted(told[one].keys() & told[other].keys())[:_CLAUSES], 2):
            parts = [told[clause][home] for clause in (one, other) for home in (first, second)]
            few = min(sum(len(aligned.claim[at].text) for at in part) for part in parts)
            if few >= _UNKNOWN:
                claimed, stated = ([*parts[0], *parts[1]], [*parts[0], *parts[2]])
                yield Disagreement(
                    kind="order",
                    claimed=joined([aligned.claim[at] for at in sorted(claimed)], True),
                    stated=joined([aligned.page[aligned.pairs[at]] for at in stated], True),
                )
                return


def _clauses(tokens: Sequence[WordToken], tongue: Language) -> list[range]:
    """Return the clauses of a text: what is between commas and conjunctions."""
    return stretches([token.breaks or fold_text(token) in tongue.conjunctions for token in tokens])


def renamed(aligned: Alignment) -> Iterator[Disagreement]:
    """Yield characters that replace others in a sentence of the page, in a script without spaces.

    Two or more unknown characters are a name or a word that no list has; of a name, the last one alone may be another.
    """
    claim, page, to = aligned.claim, aligned.page, aligned.to
    if not aligned.tongue.dense:
        return
    home = aligned.home or max(stretches([token.stops for token in page]), key=len)
    if ends := _overwritten(claim, page[home.start : home.stop]):
        first, last, start, stop = ends
        sides = claim[first:last], page[home.start + start : home.start + stop]
        yield Disagreement(kind="name", claimed=joined(sides[0], True), stated=joined(sides[1], True))
        return
    for at in range(2, len(claim)) if aligned.share >= _SAME_NAME else ():
        before = to[at - 1]
        if before is None or to[at - 2] != before - 1 or to[at] is not None or not _ends_name(claim, at):
            continue
        if before + 1 not in aligned.back and _ends_name(page, before + 1):
            claimed, stated = claim[at - 2 : at + 1], page[before - 1 : before + 2]
            yield Disagreement(kind="name", claimed=joined(claimed, True), stated=joined(stated, True))


def _overwritten(claim: Sequence[WordToken], page: Sequence[WordToken]) -> tuple[int, int, int, int] | None:
    """Return the only part of a sentence that is not the page's, and what the page has there, if both may be names."""
    mine, theirs = [token.text for token in claim], [token.text for token in page]
    if len(mine) > _LONGEST or len(theirs) > _LONGEST:
        return None
    matcher = SequenceMatcher(None, mine, theirs, autojunk=False)
    spans = [one[1:] for one in matcher.get_opcodes() if one[0] != "equal"]
    spans = [one for one in spans if one[0] < one[1] or 0 < one[2] < one[3] < len(theirs)]  # the page may say more
    if not spans:
        return None
    first, last, start, stop = spans[0][0], spans[-1][1], spans[0][2], spans[-1][3]
    rest = len(mine) - (last - first)
    if rest < max(_COPY, _COPIED * len(mine)) or last - first > _NAME or stop - start > _NAME:
        return None
    sides = claim[first:last], page[start:stop]
    unknown = [sum(len(token.text) for token in side if token.name) for side in sides]
    plain = all(token.kind != "marker" for side in sides for token in side)
    return (first, last, start, stop) if plain and min(unknown) >= _UNKNOWN else None


def _ends_name(tokens: Sequence[WordToken], at: int) -> bool:
    """Return whether an unknown character follows another one, and none follows it."""
    run = [token.name and not token.breaks for token in tokens[at - 1 : at + 2]]
    return run[:2] == [True, True] and run[2:] != [True]


def abbreviates(short: str, long: str) -> bool:
    """Return whether one name is the usual abbreviation of another: US, WHO."""
    if not short.replace(".", "").isupper():
        return long.replace(".", "").isupper() and abbreviates(long, short)
    letters, words = short.replace(".", "").casefold(), long.split()
    known = _SHORT_FORMS.get(letters)
    return known == long.casefold() or (len(letters) > 2 and letters == "".join(word[0] for word in words).casefold())


_SHORT_FORMS: Final[Mapping[str, str]] = {
    "us": "united states",
    "usa": "united states",
    "uk": "united kingdom",
    "eu": "european union",
    "un": "united nations",
}
