"""Names where the page has others: in scripts without spaces, by their place, and those of two clauses exchanged."""

from __future__ import annotations

import itertools
from collections import Counter
from collections.abc import Iterator, Mapping, Sequence
from difflib import SequenceMatcher
from typing import Final

from groundwire.citations.verify.alignment import Alignment, WordToken, home_of, stretches
from groundwire.citations.verify.argument_roles import fold_text, joined
from groundwire.citations.verify.language_packs import Language
from groundwire.citations.verify.report import Disagreement

__all__ = ["abbreviates", "crossed", "renamed"]

_SAME: Final = 0.8  # share of the words of a sentence from which the last character of a name may be another one
_COPIED: Final = 0.6  # share of its words that are the page's in the same order
_COPY: Final = 4  # such words
_LONGEST: Final = 100  # words of a sentence that is compared word for word
_CLAUSES: Final = 6  # clauses of a sentence that are compared
_NAME: Final = 10  # words of a name, where an unknown character is one
_UNKNOWN: Final = 2  # characters that no list has


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
        for first, second in itertools.combinations(sorted(told[one].keys() & told[other].keys()), 2):
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
    home = home_of(aligned) or max(stretches([token.stops for token in page]), key=len)
    if ends := _overwritten(claim, page[home.start : home.stop]):
        first, last, start, stop = ends
        sides = claim[first:last], page[home.start + start : home.start + stop]
        yield Disagreement(kind="name", claimed=joined(sides[0], True), stated=joined(sides[1], True))
        return
    for at in range(2, len(claim)) if aligned.share >= _SAME else ():
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
