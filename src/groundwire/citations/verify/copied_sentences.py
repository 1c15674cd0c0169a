"""Sentences made of a page's own words that the page does not say.

Two parts are exchanged, a word is replaced, or what the page denies is said, or the reverse.
"""

from __future__ import annotations

import itertools
from collections import Counter
from collections.abc import Iterator, Sequence
from difflib import SequenceMatcher
from typing import Final

from groundwire.citations.verify.alignment import Alignment, WordToken, align, same_value, stretches
from groundwire.citations.verify.argument_roles import fold_text, has_converse, is_symmetric, joined, joined_by_and
from groundwire.citations.verify.conditions import excludes
from groundwire.citations.verify.language_packs import Language, fold
from groundwire.citations.verify.report import Disagreement

__all__ = ["contrary", "exchanged", "substituted"]

_TOLD: Final = 0.9  # share of a sentence's words from which it may be a copy with two parts exchanged
_COPIED: Final = 0.75  # share of a sentence's words that are the page's in the same order
_LONGEST: Final = 100  # words of a sentence that is compared word for word with each place of a passage
_PART: Final = 9  # words of an exchanged part, at most 8
_WORDS: Final = 2  # words of a replacement
_LESS, _MORE = frozenset({"less", "few"}), frozenset({"more", "most"})
_FEWEST: Final = 2  # words that a sentence has in common with one of the passage
_WORDED: Final = 0.6  # share of its tokens that are the page's, from which what only a sentence denies is compared
_REACH: Final = 7  # tokens behind a denial that it may deny
_SHOWN: Final = 4  # words of the passage that are shown
_NOT_MORE: Final = 2  # words behind a "not" that may make it "not only"
_Ends = tuple[int, int, int, int]  # of one part and of the other


def substituted(aligned: Alignment) -> tuple[int, int, int, int] | None:
    """Return the place of words that replace others in a sentence that is the page's, word for word, otherwise."""
    claim, page, tongue = aligned.claim, aligned.page, aligned.tongue
    mine, theirs = [fold(token.text) for token in claim], [fold(token.text) for token in page]
    if len(mine) > _LONGEST or len(theirs) > 4 * _LONGEST:
        return None
    changes = _changes(aligned, mine, theirs)
    if len(changes) != 1 or changes[0][0] == "insert":
        return None
    ((kind, first, last, start, stop),) = changes
    here, there = claim[first:last], page[start:stop]
    if kind == "delete" and not (here[0].breaks and (claim[last:] and _separates(claim[last], tongue))):
        return None  # only an item of a list can be added so
    longest = 4 if tongue.dense else _WORDS
    if max(last - first, stop - start) > longest or len(claim) - (last - first) < _COPIED * len(claim):
        return None
    single = last - first == stop - start == 1
    if (single and _opposed(here[0], there[0], page, tongue)) or _other_tense(here, there, tongue):
        return first, last, start, stop
    small = single and not here[0].name and here[0].kind == "word"  # typically, researchers
    if single and here[0].kind == "function" and there[0].kind == "word" and not tongue.dense:
        small = fold_text(here[0]) not in tongue.pronouns
    if not small and any(one.kind == "function" or one.value is not None for one in (*here, *there)):
        return None
    keys = {key for one in there for key in (*one.keys, *tongue.keys(one.text))}
    part = tongue.nouns and any(key.endswith(one.keys[0]) for key in keys for one in here)  # of a compound
    same = part or any(not keys.isdisjoint((*one.keys, *tongue.keys(one.text))) for one in here)
    if same or any(one.marker and other.marker for one in here for other in there):
        return None
    return first, last, start, stop


def _changes(aligned: Alignment, mine: Sequence[str], theirs: Sequence[str]) -> list[tuple[str, int, int, int, int]]:
    """Return the edits by which a sentence of the passage becomes the claim, without what it has before or after."""
    known = frozenset(mine)
    spans = stretches([token.stops for token in aligned.page])
    more = sum(token.stops for token in aligned.claim[1:])
    spans = [range(one.start, other.stop) for one, other in zip(spans, spans[more:] or spans[-1:], strict=False)]
    home = max(spans, key=lambda span: len(known.intersection(theirs[span.start : span.stop])))
    matcher = SequenceMatcher(None, mine, theirs[home.start : home.stop], autojunk=False)
    return [
        (kind, first, last, home.start + start, home.start + stop)
        for kind, first, last, start, stop in matcher.get_opcodes()
        if kind != "equal" and not (kind == "insert" and (not start or stop == len(home)))
    ]


def _separates(token: WordToken, tongue: Language) -> bool:
    return token.breaks or fold_text(token) in tongue.conjunctions


def _opposed(one: WordToken, other: WordToken, page: Sequence[WordToken], tongue: Language) -> bool:
    """Return whether two tokens are antonyms such as up and down, or values of which the page has both."""
    if one.value is not None is not other.value:
        return not same_value(one.value, other.value) and any(same_value(one.value, token.value) for token in page)
    return tongue.are_opposite(tongue.normal_form(one.text), tongue.normal_form(other.text))


def _other_tense(here: Sequence[WordToken], there: Sequence[WordToken], tongue: Language) -> bool:
    """Return whether one of two forms of a verb is a plan or a duty, and the other a fact or a permission."""
    for one, other in ((here, there), (there, here)):
        kinds = {token.marker.kind for token in one if token.marker and token.marker.family == "modal"}
        words = {fold_text(token) for token in other if token.kind == "function"}
        if ("will" in kinds and not words.isdisjoint(tongue.certain)) or (
            kinds - {"may"} and not words.isdisjoint(tongue.modal_words["may"])
        ):
            return True
    return False


def exchanged(aligned: Alignment) -> list[Disagreement]:
    """Return the two parts that have changed places, if the other words of a sentence are in the page's order.

    Another voice or a fronted phrase changes the small words or moves them along, so it is not taken for an exchange.
    Other parts than names and numbers count only if all words, small ones included, are as on the page.
    """
    theirs = _forms(aligned, aligned.page)
    if aligned.tongue.case or len(theirs) > 4 * _LONGEST:
        return []
    for begin in dict.fromkeys((0, aligned.begins)):
        claim = aligned.claim[begin:]
        mine = _forms(aligned, claim)
        if not 3 <= len(mine) <= _LONGEST:
            continue
        copied = _windows(aligned, claim, mine, theirs) if aligned.share >= _TOLD else ()
        for ends, others in itertools.chain(copied, _traded(aligned, begin, mine, theirs)):
            fronted = claim[ends[1]].breaks and not aligned.page[others[1]].breaks
            if not fronted and _counts(aligned, claim, ends) and _counts(aligned, aligned.page, others):
                sides = claim[slice(*ends[::3])], aligned.page[slice(*others[::3])]
                claimed, stated = (joined(side, aligned.tongue.dense) for side in sides)
                return [Disagreement(kind="order", claimed=claimed, stated=stated)]
    return []


def _windows(
    aligned: Alignment, claim: Sequence[WordToken], mine: Sequence[str], theirs: Sequence[str]
) -> Iterator[tuple[_Ends, _Ends]]:
    """Yield the places of two parts exchanged between a sentence and as many words of the passage."""
    size = len(mine)
    missing = Counter(mine)
    missing.subtract(theirs[:size])
    differ = sum(often != 0 for often in missing.values())
    for begin in range(len(theirs) - size + 1):
        if begin:
            for form, change in ((theirs[begin - 1], 1), (theirs[begin + size - 1], -1)):
                differ -= missing[form] != 0
                missing[form] += change
                differ += missing[form] != 0
        for first, left, right, last in [] if differ else _crosswise(claim, mine, theirs[begin : begin + size]):
            others = (begin + first, begin + first + right, begin + last - left, begin + last)
            yield (first, first + left, last - right, last), others


def _traded(
    aligned: Alignment, begin: int, mine: Sequence[str], theirs: Sequence[str]
) -> Iterator[tuple[_Ends, _Ends]]:
    """Yield the places of two names or numbers that replace each other in a sentence that differs in other words."""
    claim = aligned.claim[begin:]
    changes = [] if has_converse(aligned) else _changes(aligned, mine, theirs)
    for (_, first, left, start, after), (_, right, last, other, stop) in itertools.combinations(changes, 2):
        crossed = mine[first:left] == theirs[other:stop] and mine[right:last] == theirs[start:after]
        if crossed and first < left and right < last and _is_named(claim[first]) and _is_named(claim[right]):
            between = range(begin + left, begin + right)
            if all(aligned.claim[at].kind == "function" or aligned.to[at] in range(after, other) for at in between):
                yield (first, left, right, last), (start, after, other, stop)


def _is_named(token: WordToken) -> bool:
    return token.text[0].isupper() or token.value is not None


def _forms(aligned: Alignment, tokens: Sequence[WordToken]) -> list[str]:
    """Return the words as compared here: not by stem, since an ending may be a case."""
    folded = (fold(token.text) for token in tokens)
    return [form.removesuffix("'s") for form in folded] if aligned.tongue.code == "en" else list(folded)


def _crosswise(
    tokens: Sequence[WordToken], mine: Sequence[str], theirs: Sequence[str]
) -> Iterator[tuple[int, int, int, int]]:
    """Yield the start, the two lengths and the end of two parts that are exchanged."""
    differ = [place for place, (one, other) in enumerate(zip(mine, theirs, strict=True)) if one != other]
    if not differ:
        return
    first, last = differ[0], differ[-1] + 1
    capital = [token.text[0].isupper() for token in tokens]
    for size in range(1, _PART):  # Blue Harbor and Harbor: only "Blue" is elsewhere
        for ahead, (one, other) in ((1, (mine, theirs)), (0, (theirs, mine))):
            if (
                one[first : first + size] != other[last - size : last]
                or one[first + size : last] != other[first : last - size]
            ):
                continue
            sizes = (1 + size * ahead, 1 + size * (not ahead))
            for begin, end in ((first, last + 1), (first - 1, last)):
                parts = (mine[max(begin, 0) : begin + sizes[0]], mine[end - sizes[1] : end])
                heads = {part[-1 if end > last else 0] for part in parts if part}
                if (
                    begin >= 0
                    and end <= len(mine)
                    and len(heads) == 1
                    and all(capital[begin : begin + sizes[0]] + capital[end - sizes[1] : end])
                ):
                    yield begin, *sizes, end
    for left, right in itertools.product(range(1, _PART), repeat=2):
        if (
            mine[first : first + left] == theirs[last - left : last]
            and mine[last - right : last] == theirs[first : first + right]
            and mine[first + left : last - right] == theirs[first + right : last - left]
        ):
            yield first, left, right, last
            return


def _counts(aligned: Alignment, tokens: Sequence[WordToken], ends: _Ends) -> bool:
    """Return whether it matters which of two parts comes first: both are of one kind, and no items of a list."""
    first, after_left, right, last = ends
    parts = (tokens[first:after_left], tokens[right:last])
    between = tokens[after_left:right]
    if any(
        part[0].kind not in {"word", "number"}
        or (part[-1].kind == "function" and not (len(part) > 1 and part[-1].text.isupper()))
        for part in parts
    ):
        return False
    named = all(_is_named(token) for part in parts for token in part)
    if not named and (aligned.tongue.nouns or any(token.stops for token in tokens[first + 1 : last])):
        return False  # an adverb may come first, but in German only nouns are capitalized
    if not between or joined_by_and(aligned, tokens, after_left - 1, right):
        return False
    whole = last >= len(tokens) or tokens[last].kind == "function" or tokens[last].breaks
    return not (whole and is_symmetric(aligned, between))


def contrary(aligned: Alignment) -> Iterator[Disagreement]:
    """Yield what a sentence denies and the sentence of the passage that has most of its words does not, or the reverse.

    So with "less" before a word that both have. Half of the sentence's words are in the clause that is denied, and no
    opposite or denying word makes up for it. Scripts without spaces have no such clauses.
    """
    tongue, sides = aligned.tongue, (aligned.claim, aligned.page)
    if tongue.dense or not any(
        one.denies or (one.marker and one.marker.kind in _LESS) for side in sides for one in side
    ):
        return
    known = frozenset(key for token in aligned.claim if token.kind == "word" for key in token.keys)
    spans = stretches([token.stops for token in aligned.page])
    said = [sum(not known.isdisjoint(aligned.page[at].keys) for at in one) for one in spans]
    best = spans[said.index(max(said))]
    near = align(aligned.claim, aligned.page[best.start : best.stop], tongue) if len(spans) > 1 else aligned
    claim, page, pairs, back = near.claim, near.page, near.pairs, near.back
    words = [at for at, token in enumerate(claim) if token.kind in {"word", "number"}]
    told = [at for at in words if at in pairs]
    lost = [token for at, token in enumerate(claim) if at not in pairs]
    free = [token for at, token in enumerate(page) if at not in back]
    turned = any(tongue.are_opposite(one.key, other.key) for one in lost for other in free)
    if turned or len(told) < _FEWEST or 2 * len(told) < len(words):
        return
    compared = any(fold_text(one) in tongue.than for one in (*claim, *page))
    denies = [any(one.denies for one in side) for side in (claim, page)]
    for at in () if compared else told:
        degrees = _degree(claim, at), _degree(page, pairs[at])
        if set(degrees) == {"less", "more"} or (degrees == ("less", "") and not denies[1]):
            shown = [joined(side[max(0, one - 1) : one + 1], False) for side, one in ((claim, at), (page, pairs[at]))]
            yield Disagreement(kind="comparison", claimed=shown[0], stated=shown[1])
            return
    mine, theirs = _denied(claim, tongue), _denied(page, tongue)
    made_up = any(
        one.key in tongue.denying or fold_text(one) in tongue.instead | tongue.until or _is_prefixed(one, tongue)
        for one in (*lost, *free)
    )
    if made_up or all(denies) or excludes(near):
        return
    clauses = stretches([one.breaks or fold_text(one) in tongue.contrasting | tongue.conjunctions for one in page])
    here = next((at for at in told if at in mine), -1) if near.literal_share >= _WORDED else -1
    if here >= 0:
        yield Disagreement(kind="negation", claimed=joined(claim[mine[here] :][:_SHOWN], False), stated="")
    for clause in clauses:
        there = [pairs[at] for at in told if pairs[at] in clause]
        if 2 * len(there) >= len(words) and (denied_there := [at for at in there if at in theirs]):
            yield Disagreement(
                kind="negation", claimed="", stated=joined(page[theirs[denied_there[0]] :][:_SHOWN], False)
            )
            return


def _denied(tokens: Sequence[WordToken], tongue: Language) -> dict[int, int]:
    """Return the words that a "no" or "not" denies, with its place; not those of "not only" or "no more"."""
    found: dict[int, int] = {}
    for at, token in enumerate(tokens):
        behind = {one.marker.kind for one in tokens[at + 1 : at + 1 + _NOT_MORE] if one.marker}
        if token.denies and behind <= {"not", "may", "must"}:
            reach = tokens[at + 1 : at + 1 + _REACH]
            ends = (step for step, one in enumerate(reach) if one.breaks or fold_text(one) in tongue.contrasting)
            found.update((at + 1 + step, at) for step in range(next(ends, len(reach))) if reach[step].kind == "word")
    return found


def _is_prefixed(token: WordToken, tongue: Language) -> bool:
    """Return whether a word denies another by its beginning: unclear, inactive."""
    return any(
        tongue.knows_form(token.key[len(one) :]) for one in ("un", "in", "im", "dis") if token.key.startswith(one)
    )


def _degree(tokens: Sequence[WordToken], at: int) -> str:
    """Return whether a word is compared as more or less."""
    kinds = (one.marker.kind if one.marker else "" for one in reversed(tokens[:at][-1:]))
    return next(({"most": "more", "least": "less"}.get(kind, kind) for kind in kinds if kind in _LESS | _MORE), "")
