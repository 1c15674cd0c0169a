"""Sentences made of a page's own words that the page does not say.

Two parts are exchanged, a word is replaced, or words belong to something else on the page.
"""

from __future__ import annotations

import itertools
from collections import Counter
from collections.abc import Iterator, Sequence
from difflib import SequenceMatcher
from typing import Final

from groundwire.citations.verify.alignment import Alignment, WordToken, same_value, stretches
from groundwire.citations.verify.argument_roles import fold_text, has_converse, is_symmetric, joined, joined_by_and
from groundwire.citations.verify.entities import comparable
from groundwire.citations.verify.language_packs import Language, fold
from groundwire.citations.verify.quantities import Number
from groundwire.citations.verify.report import Disagreement, Kind

__all__ = ["exchanged", "mismatched", "substituted"]

_TOLD: Final = 0.9  # share of a sentence's words from which it may be a copy with two parts exchanged
_COPIED: Final = 0.75  # share of a sentence's words that are the page's in the same order
_LONGEST: Final = 100  # words of a sentence that is compared word for word with each place of a passage
_PART: Final = 9  # words of an exchanged part, at most 8
_WORDS: Final = 2  # words of a replacement
_SHARED: Final = 2  # words of a clause that the passage must have together
_CLAUSE: Final = 3  # words and numbers of a clause
_TITLE: Final = 3  # letters of an abbreviation before a name: Dr., St.
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


def mismatched(aligned: Alignment) -> Iterator[Disagreement]:
    """Yield a name, number or word that the passage has, but with something else.

    Each clause of the sentence is compared with the clause of the passage that has most of its words: "adults need 15,
    and people over 70 need 20" does not say that adults over 70 need 15, though it has all these words.
    """
    clauses = _clauses(aligned.page, aligned.tongue, elliptic=True)
    if len(clauses) < 2:
        return
    keys = [frozenset(token.key for token in clause) for clause in clauses]
    for part in _clauses(aligned.claim, aligned.tongue, elliptic=False):
        told = _words(part)
        has = [[_has(token, clause, own) for token in told] for clause, own in zip(clauses, keys, strict=True)]
        counts = [sum(one) for one in has]
        most = max(counts)
        if most < _SHARED or 2 * most < len(told):
            continue
        homes = [at for at, count in enumerate(counts) if count == most]
        if len(homes) > 1:  # the one that has the subject
            homes = [at for at in homes if has[at][0]]
        if len(homes) != 1:
            continue
        (home,) = homes
        for place, token in enumerate(told):
            elsewhere = [one for one in has if one[place] and not has[home][place]]
            strays = {other for one in elsewhere for other in _only(one, has[home])} - {place}
            alone = all(token.name and told[other].name for other in strays)  # further parts of a name
            if not alone or not any(_only(has[home], one) for one in elsewhere):
                continue  # what only the home clause has ties the sentence to it
            whole = sum(has[home]) == len(told) - 1
            rival = _rival(token, place, part, clauses[home], aligned, whole=whole)
            if rival is None and isinstance(token.value, Number):
                rival = _pair(has, home, place, told, clauses)
            if rival is not None:
                kind: Kind = "number" if token.value else "name" if token.name else "opposite"
                if kind == "opposite" and not aligned.tongue.are_opposite(token.key, rival.key):
                    kind = "word"
                yield Disagreement(kind=kind, claimed=token.text, stated=rival.text)
                return


def _only(one: Sequence[bool], other: Sequence[bool]) -> list[int]:
    """Return the words that a clause has and another has not."""
    return [place for place, (here, there) in enumerate(zip(one, other, strict=True)) if here and not there]


def _clauses(tokens: Sequence[WordToken], tongue: Language, *, elliptic: bool) -> list[Sequence[WordToken]]:
    """Split a text at the ends of its sentences, and where a conjunction begins a contrast.

    Args:
        tokens: The text.
        tongue: Its language.
        elliptic: Whether a clause that begins with "and" and a name may lack its verb, and is not split off; then
            commas split clauses, too, where three words or more are on both sides.
    """
    starts = [0]
    ends = {at: one.stop for one in stretches([token.breaks for token in tokens]) for at in one}
    for place, token in enumerate(tokens[1:], start=1):
        small = token.kind == "function"
        joins = small and fold_text(token) in tongue.conjunctions
        counts = joins and _counts_apart(tokens, starts[-1], place)
        joins = joins and not elliptic
        goes_on = joins and len(_words(tokens[place + 1 : ends[place]])) > 1
        if (
            (token.stops and not (len(tokens[place - 1].text) <= _TITLE and tokens[place - 1].text.istitle()))
            or (small and fold_text(token) in tongue.contrasting)
            or (elliptic and token.breaks and _is_long(tokens[starts[-1] : place], tokens[place : ends[place]]))
            or counts
            or (joins and tokens[place + 1 : place + 2] and tokens[place + 1].name and goes_on)
        ):
            starts.append(place)
    return [tokens[slice(*span)] for span in itertools.pairwise([*starts, len(tokens)])]


def _counts_apart(tokens: Sequence[WordToken], start: int, place: int) -> bool:
    """Return whether "and" joins two clauses that begin with a number each: a third had this, and 8 % had that."""
    rest = tokens[place + 1 : place + 2 + _CLAUSE]
    begins = len(rest) > _CLAUSE and rest[0].value is not None and rest[-1].value is None
    return begins and tokens[start].value is not None and len(_words(tokens[start:place])) >= _CLAUSE


def _is_long(*sides: Sequence[WordToken]) -> bool:
    """Return whether a comma has enough words on both sides for a clause each."""
    span = all(one.value is not None for one in (sides[0][-1], sides[1][0]))  # $500 – $800
    return not span and all(len(_words(side)) >= _CLAUSE for side in sides)


def _has(token: WordToken, clause: Sequence[WordToken], keys: frozenset[str]) -> bool:
    said = token.value
    return token.key in keys if said is None else any(same_value(said, one.value) for one in clause)


def _rival(
    token: WordToken,
    place: int,
    claim: Sequence[WordToken],
    clause: Sequence[WordToken],
    aligned: Alignment,
    *,
    whole: bool,
) -> WordToken | None:
    """Return what a clause of the passage has instead of a word that is elsewhere in it.

    Args:
        token: The word.
        place: Its position among the words of its clause.
        claim: Its clause.
        clause: The clause of the passage.
        aligned: The word alignment.
        whole: Whether the clause of the passage has all other words.
    """
    tongue = aligned.tongue
    if isinstance(token.value, Number):
        numbers = (one for one in clause if isinstance(one.value, Number) and comparable(token.value, one.value))
        return next((one for one in numbers if not _has(one, claim, frozenset())), None)
    known = frozenset(key for one in claim for key in one.keys)
    if token.name:
        if tongue.dense or tongue.script == "arabic":  # any unknown word is taken for a name
            return None
        pronouns = tongue.pronouns - tongue.articles
        if any(one.kind == "function" and fold_text(one) in pronouns for one in clause):
            return None
        names = [at for at, one in enumerate(clause) if one.name and at and known.isdisjoint(one.keys)]
        return clause[names[0]] if names and names[-1] - names[0] < len(names) else None
    if token.value is not None or any(one.denies for one in (*claim, *clause)):
        return None
    opposite = (one for one in clause if tongue.are_opposite(token.key, one.key))
    rival = next((one for one in opposite if one.key not in known), None)
    ends = whole and token.kind == "word" and (not place or token is _words(claim)[-1])
    if rival is None and ends and not tongue.dense:
        return _at_end(token, clause, known, tongue, last=bool(place))
    return rival


def _words(tokens: Sequence[WordToken]) -> list[WordToken]:
    return [one for one in tokens if one.kind in {"word", "number"}]


def _at_end(
    token: WordToken, clause: Sequence[WordToken], known: frozenset[str], tongue: Language, *, last: bool
) -> WordToken | None:
    """Return the first or the last word of a clause of which a sentence has all others: who does it, or by whom."""
    words = _words(clause)
    first = words[-1 if last else 0]
    if len(words) < _CLAUSE or first.kind != "word" or first.name != token.name or not known.isdisjoint(first.keys):
        return None
    return None if first.key in tongue.generic or token.key in tongue.generic else first


def _pair(
    has: Sequence[Sequence[bool]],
    home: int,
    place: int,
    told: Sequence[WordToken],
    clauses: Sequence[Sequence[WordToken]],
) -> WordToken | None:
    """Return the number that a clause pairs with a number of the sentence: over 70, it is 20."""
    mine = [token.value for other, token in enumerate(told) if has[home][other] and isinstance(token.value, Number)]
    for clause, one in zip(clauses, has, strict=True):
        for token in clause if one[place] else ():
            value = token.value
            if not isinstance(value, Number) or _has(token, told, frozenset()) or _is_fronted(clause, told[place]):
                continue
            if any(comparable(each, value) for each in mine):
                return token
    return None


def _is_fronted(clause: Sequence[WordToken], token: WordToken) -> bool:
    """Return whether a clause opens with a date or number before a comma, which holds for what follows, too."""
    ends = next((at for at, one in enumerate(clause) if at and one.breaks), 0)
    return 0 < ends <= _CLAUSE and _has(token, clause[:ends], frozenset())
