"""Argument roles: whether names, numbers or words of a sentence have changed places in its passage.

Parts in reverse order are a change, unless one side is passive or has the converse word, or they are items of a list.
"""

from __future__ import annotations

import itertools
import re
from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from typing import Final

from groundwire.citations.verify.alignment import Alignment, WordToken, sentence_at
from groundwire.citations.verify.entities import is_year
from groundwire.citations.verify.quantities import Number
from groundwire.citations.verify.report import Disagreement

__all__ = [
    "alike", "blocks_of", "fold_text", "has_converse", "is_symmetric", "joined", "joined_by_and", "roles",
    "turned_degree",
]  # fmt: skip

_AND: Final = frozenset({"and", "und", "et", "y", "e", "и", "而", "while", "но", "а"})
_DEGREES: Final = frozenset({"more", "less", "over", "under"})
_BEGINNING: Final = 4  # letters that a word has in common with its adjective
_FEW: Final = 7  # words of a brief sentence without spaces
_WITHIN: Final = 2  # other words between two things and the symmetric word that holds them
_SAME_WORDS: Final = 0.9  # share of all words from which their order tells who does what, where names are not known


@dataclass(frozen=True, slots=True)
class _AlignedWords:
    places: list[int]

    @property
    def first(self) -> int:
        return self.places[0]

    @property
    def last(self) -> int:
        return self.places[-1]


def joined(tokens: Sequence[WordToken], dense: bool) -> str:
    """Join words to one text."""
    return ("" if dense else " ").join(token.text for token in tokens)


def blocks_of(aligned: Alignment) -> list[_AlignedWords]:
    """Return the sentence's words that have a counterpart, grouped where they are adjacent on both sides."""
    blocks: list[_AlignedWords] = []
    for at, there in enumerate(aligned.to):
        if there is None or aligned.claim[at].kind in {"function", "marker"}:
            continue
        if blocks and _adjoin(aligned, blocks[-1].last, at):
            blocks[-1].places.append(at)
        else:
            blocks.append(_AlignedWords([at]))
    return blocks


def _adjoin(aligned: Alignment, last: int, at: int) -> bool:
    """Return whether two words are adjacent on both sides, or have the same small words between: Gulf of Riga."""
    one, other, tongue = aligned.claim[last], aligned.claim[at], aligned.tongue
    if one.name != other.name or one.value is not None or other.value is not None:
        return False
    before, there = aligned.pairs[last], aligned.pairs[at]
    if at - last > 3 or there - before != at - last:
        return False
    return at == last + 1 or (
        one.name
        and not any(token.breaks for token in aligned.claim[last + 1 : at + 1])
        and all(
            one.kind == other.kind == "function"
            and one.text == other.text
            and fold_text(one) not in tongue.conjunctions
            and fold_text(one) not in tongue.agent
            for one, other in zip(aligned.claim[last + 1 : at], aligned.page[before + 1 : there], strict=True)
        )
    )


def alike(aligned: Alignment, left: _AlignedWords, right: _AlignedWords) -> bool:
    """Return whether two parts are of one kind; a sentence's first word is always capitalized."""
    one, other = _kind(aligned, left), _kind(aligned, right)
    begins = left.first <= 1 and left.first == left.last and not aligned.tongue.dense
    return one == other or (begins and {one, other} == {"name", "word"})


def roles(aligned: Alignment) -> Iterator[Disagreement]:
    """Yield pairs of words, names or numbers that have changed places."""
    blocks = blocks_of(aligned)[:60]
    for one in range(len(blocks)):
        for two in range(len(blocks))[one + 1 : one + 10]:
            left, right = blocks[one], blocks[two]
            if not alike(aligned, left, right) or left.first < aligned.label <= right.first:
                continue
            if _changed_places(aligned, blocks, one, two):
                told = aligned.claim[left.first : right.last + 1]
                places = sorted(aligned.pairs[at] for at in (*left.places, *right.places))
                stated = joined(aligned.page[places[0] : places[-1] + 1], aligned.tongue.dense)
                yield Disagreement(kind="order", claimed=joined(told, aligned.tongue.dense), stated=stated)
                return


def _changed_places(aligned: Alignment, blocks: Sequence[_AlignedWords], one: int, two: int) -> bool:
    pairs, page = aligned.pairs, aligned.page
    left, right = blocks[one], blocks[two]
    at, there = [pairs[block.first] for block in blocks], (pairs[left.first], pairs[right.first])
    inverted = there[1] < there[0]
    names = aligned.claim[left.first].name
    dense, arabic = aligned.tongue.dense, aligned.tongue.script == "arabic"  # any word may be a name
    certain = names and all(page[place].name for place in there) and not (dense or arabic)
    mutual = any(token.key in aligned.tongue.symmetric for token in aligned.claim) if certain else True
    counts = all(aligned.claim[block.first].value is not None for block in (left, right))
    if counts or not (mutual or _is_even(aligned, left, right)):
        counted = _counted(aligned, left, right)
        if counted is not None:
            return counted
    free = aligned.strict_share < _SAME_WORDS  # in other words
    if dense and free and not counts and len(aligned.to) > _FEW:
        return False
    paired = _companions(aligned, blocks, one, two) if _kind(aligned, left) != "word" else None
    if paired is not None:
        return paired
    claim_voice = _passive(aligned, aligned.claim, left.last, right.first)
    first, second = sorted(there)
    page_voice = _passive(aligned, page, first, second)
    other = (aligned.claim[at].keys[:1] != page[pairs[at]].keys[:1] for at in (left.first, right.first) if not names)
    home = sentence_at(page, first)
    if second not in home or any(other):  # a synonym may govern otherwise
        return False
    if aligned.tongue.code == "ja" and names:
        return _by_particle(aligned, left, right)
    if arabic and free and min(len(left.places), len(right.places)) == 1:  # it may be any word
        return False
    if arabic and (not first or page[first].stops or not left.first):
        kinds = {_kind(aligned, left), _kind(aligned, right)}
        if "word" in kinds or not aligned.claim[right.first].name or aligned.tongue.knows_form(page[first].key):
            return False  # the verb may come first or second
    if not inverted:
        between = [block for block in blocks if first < pairs[block.first] < second]
        return names and claim_voice != page_voice and bool(between) and two - one <= 3
    if claim_voice != page_voice or _is_even(aligned, left, right):
        return False
    if has_converse(aligned) or _keeps_case(aligned, left, right) or _moved_along(aligned, left, right):
        return False
    if two == one + 1 and not (names and arabic) and not _moved_along(aligned, left, right, crossed=True):
        return False
    if not names and aligned.claim[left.first].value is None and _another_way(aligned, first, second):
        return False
    moves = {place for place, block in enumerate(blocks) if certain and _kind(aligned, block) in {"date", "year"}}
    same = [place for place, start in enumerate(at) if start in home and place not in moves]
    return _exchange_restores([at[place] for place in same], same.index(one), same.index(two))


def _another_way(aligned: Alignment, first: int, second: int) -> bool:
    """Return whether a sentence says it in another construction: in the passive, or with other words between."""
    tongue = aligned.tongue
    voices = [
        not tongue.agent.isdisjoint(words) and not tongue.passive.isdisjoint(words)
        for words in ([fold_text(token) for token in tokens] for tokens in (aligned.claim, aligned.page))
    ]
    between = range(first, second)
    return voices[0] != voices[1] or any(
        aligned.page[place].kind == "word" and place not in aligned.back for place in between
    )


def _counted(aligned: Alignment, left: _AlignedWords, right: _AlignedWords) -> bool | None:
    """Return whether two numbers or names have each other's words around them: 6 cakes and 40 rolls; None if unclear.

    The words go to the next comma, conjunction or number, around a name on the page to the next name; those of numbers
    may have their beginnings in common: a month, monthly.
    """
    sides = (aligned.claim, left.places), (aligned.claim, right.places)
    named, pairs = aligned.claim[left.first].name, aligned.pairs
    here = [_phrase(aligned, *side, wide=False) for side in sides]
    there = [_phrase(aligned, aligned.page, [pairs[at] for at in side[1]], wide=named) for side in sides]
    for size in (None,) if named or aligned.tongue.dense else (None, _BEGINNING):
        one, two, first, second = ({key[:size] for key in keys} for keys in (*here, *there))
        own, other, first, second = one - two, two - one, first - second, second - first
        straight, crossed = bool(own & first and other & second), bool(own & second and other & first)
        if straight != crossed:
            return crossed
    return None


def _phrase(aligned: Alignment, tokens: Sequence[WordToken], places: Sequence[int], *, wide: bool) -> set[str]:
    """Return the words around a number or a name; on the page by their counterparts, up to another name if `wide`."""
    found: set[str] = set()
    for way in (-1, 1):
        place = places[-1] if way > 0 else places[0]
        while 0 <= (place := place + way) < len(tokens):
            token, later = tokens[place], tokens[max(place, place - way)]
            known = aligned.back.get(place) if tokens is aligned.page else place
            cut = later.breaks and (way > 0 or bool(found))
            counts = token.value is not None or fold_text(token) in aligned.tongue.conjunctions
            if later.stops or ((token.name and known is not None) if wide else (cut or counts)):
                break
            if token.kind == "word":
                found.add(aligned.claim[known].key if wide and known is not None else token.key)
    return found


def _exchange_restores(at: Sequence[int], one: int, two: int) -> bool:
    """Return whether exchanging two parts of the sentence gives the order of the passage."""
    order = list(at)
    order[one], order[two] = order[two], order[one]
    inner = order[one : two + 1]
    if any(b <= a for a, b in itertools.pairwise(inner)):
        return False
    outer = [*order[:one][-1:], *inner, *order[two + 1 : two + 2]]
    falls = sum(b <= a for a, b in itertools.pairwise(outer))
    return falls == 0 or (falls == 1 and len(inner) >= 4)


def _companions(aligned: Alignment, blocks: Sequence[_AlignedWords], one: int, two: int) -> bool | None:
    """Return whether two parts have other companions than in the passage; None if they have none of a kind.

    41 in May and 38 in June: the months distinguish the numbers.
    """
    pairs = aligned.pairs
    mine = _kind(aligned, blocks[one])
    if mine != _kind(aligned, blocks[two]):
        return None
    others = (*blocks[:one][-3:], *blocks[one : two + 4])  # a part is no companion of one of its kind
    for third, fourth in itertools.combinations(others, 2):
        kind = _kind(aligned, third)
        if kind != _kind(aligned, fourth) or kind in {"word", mine}:
            continue
        here = [block.first for block in (blocks[one], blocks[two], third, fourth)]
        there = [pairs[place] for place in here]
        straight, crossed = _pairing(here, aligned.claim), _pairing(there, aligned.page)
        if straight is not None and crossed is not None:
            return straight != crossed
    return None


def _kind(aligned: Alignment, block: _AlignedWords) -> str:
    """Return the kind of a part: a date, a year, a number, a month or weekday, a name, a word."""
    token = aligned.claim[block.first]
    if isinstance(token.value, Number):
        return "year" if is_year(token.value) else "number"
    if groups := aligned.tongue.contrasts.get(token.key):
        return groups[0]
    return "date" if token.value is not None else "name" if token.name else "word"


def _pairing(places: Sequence[int], tokens: Sequence[WordToken]) -> bool | None:
    """Return whether the first position pairs with the third and the second with the fourth; None if unclear."""
    one, two, third, fourth = places

    def far(here: int, there: int) -> int:
        low, high = sorted((here, there))
        return high - low + 3 * sum(token.breaks or token.text.lower() in _AND for token in tokens[low + 1 : high + 1])

    straight, crossed = far(one, third) + far(two, fourth), far(one, fourth) + far(two, third)
    return None if straight == crossed else straight < crossed


def _passive(aligned: Alignment, tokens: Sequence[WordToken], left: int, right: int) -> bool:
    """Return whether the second part is the agent: an agent marker precedes it."""
    tongue = aligned.tongue
    between = [fold_text(token) for token in tokens[left:right]]
    if tongue.code == "zh":
        return not {"被", "由"}.isdisjoint(between)
    tail = [word for word in between[-3:] if word not in tongue.articles]
    built = any(one.breaks and one.kind == "word" and not one.name for one in tokens[left + 1 : left + 2])  # , built by
    return not tongue.agent.isdisjoint(tail) and (built or not tongue.passive.isdisjoint(between))


def fold_text(token: WordToken) -> str:
    """Return a token's word as the word lists spell it."""
    return token.key if token.kind in {"function", "marker"} else token.text.lower()


def _by_particle(aligned: Alignment, left: _AlignedWords, right: _AlignedWords) -> bool:
    """Return whether the particles after two names show that they exchanged roles, as in Japanese."""
    topics = {"は", "が", "のは"}

    def acts(tokens: Sequence[WordToken], at: int) -> bool | None:
        after = next((token.text for token in tokens[at : at + 3] if token.kind == "function"), "")
        return True if after in topics else False if after in {"を", "に", "の", "から"} else None

    pairs = aligned.pairs
    here = [acts(aligned.claim, block.last) for block in (left, right)]
    there = [acts(aligned.page, pairs[block.last]) for block in (left, right)]
    crossed = here[0] == there[1] and here[1] == there[0] and None not in here and here[0] != here[1]
    turned = has_converse(aligned) != (_is_passive_ja(aligned.claim) != _is_passive_ja(aligned.page))
    return here == there and None not in here if turned else crossed


def _is_passive_ja(tokens: Sequence[WordToken]) -> bool:
    """Return whether a Japanese sentence has a verb in the passive: a syllable in "a" before "re"."""
    return bool(re.search("[わかがさたなばまら]れ[たてるま、]", "".join(token.text for token in tokens)))


def has_converse(aligned: Alignment) -> bool:
    """Return whether the sentence uses the converse of a word in the passage: buy, sell; more, less."""
    mine = [token for at, token in enumerate(aligned.claim) if at not in aligned.pairs]
    theirs = [token for at, token in enumerate(aligned.page) if at not in aligned.back]
    keys = {key for token in theirs for key in token.keys[:2]}
    if any(not aligned.tongue.converse.get(key, frozenset()).isdisjoint(keys) for one in mine for key in one.keys[:2]):
        return True
    kinds = [{one.marker.kind for one in side if one.marker} & _DEGREES for side in (mine, theirs)]
    return (all(kinds) and kinds[0].isdisjoint(kinds[1])) or turned_degree(aligned) is not None


def turned_degree(aligned: Alignment) -> int | None:
    """Return a word that the sentence or the passage compares with "less", and the other side without it: cheaper."""
    degrees = {token.marker.kind for token in (*aligned.claim, *aligned.page) if token.marker}
    for at, there in aligned.pairs.items() if "less" in degrees else ():
        sides = ((aligned.claim, at), (aligned.page, there))
        compared = (any(fold_text(one) in aligned.tongue.than for one in side[at + 1 : at + 3]) for side, at in sides)
        before = {one.marker.kind if one.marker else "" for side, at in sides for one in side[:at][-1:]}
        if before == {"less", ""} and aligned.claim[at].kind == "word" and all(compared):
            return at
    return None


def _is_even(aligned: Alignment, left: _AlignedWords, right: _AlignedWords) -> bool:
    """Return whether two parts are items of one list, or a symmetric word is beside them."""
    pairs = aligned.pairs
    there = sorted(((pairs[left.first], pairs[left.last]), (pairs[right.first], pairs[right.last])))
    together = joined_by_and(aligned, aligned.page, there[0][1], there[1][0])
    if together and joined_by_and(aligned, aligned.claim, left.last, right.first):
        return True
    beside = (*aligned.claim[: left.first][-2:], *aligned.claim[right.last + 1 :][:2])
    return is_symmetric(aligned, aligned.claim[left.last + 1 : right.first], beside)


def joined_by_and(aligned: Alignment, tokens: Sequence[WordToken], left: int, right: int) -> bool:
    """Return whether two positions are items of one list, with separators after the one and before the other."""
    if right == left + 1 and aligned.tongue.script == "arabic" and tokens[right].text.startswith("و"):
        return True  # "and" is a letter of the word
    joins = aligned.tongue.conjunctions
    separates = [token.breaks or fold_text(token) in joins for token in tokens[left + 1 : right + 1]]
    between = tokens[left + 1 : right]
    words = 0
    for token, parts in zip(between, separates, strict=False):
        words = 0 if parts else words + (token.kind in {"word", "number"})
        if words > 2:
            return False
    if not any(separates[:1]):
        return False
    near = between[-2:]
    follows = any(fold_text(token) in joins for token in near[-1:])
    article = len(near) == 2 and near[1].kind == "function" and fold_text(near[0]) in joins
    return tokens[right].breaks or follows or article


def is_symmetric(aligned: Alignment, between: Sequence[WordToken], beside: Sequence[WordToken] = ()) -> bool:
    """Return whether a symmetric word is beside two positions, or between them with few others: met, is married to."""
    symmetric = aligned.tongue.symmetric
    others = [token for token in between if token.kind != "function" and token.key not in symmetric]
    few = len(others) <= _WITHIN and not any(token.breaks or token.name or token.value for token in others)
    return any(token.key in symmetric for token in (*beside, *(between if few else ())))


def _keeps_case(aligned: Alignment, left: _AlignedWords, right: _AlignedWords) -> bool:
    """Return whether two words keep the endings or articles of the passage, in languages where these mark the roles."""
    pairs, claim, page = aligned.pairs, aligned.claim, aligned.page
    if aligned.tongue.case:
        tied = {_preposition(aligned, claim, block.first) for block in (left, right)}  # of one, both are in one case
        same = all(fold_text(claim[at]) == fold_text(page[pairs[at]]) for at in (*left.places, *right.places))
        return (len(tied) > 1 or "" in tied) and same
    if aligned.tongue.code == "de":
        for block in (left, right):
            here, there = _article(aligned, claim, block.first), _article(aligned, page, pairs[block.first])
            if here == there and here in {"den", "dem", "einen", "einem", "des"}:
                return True
    return False


def _article(aligned: Alignment, tokens: Sequence[WordToken], at: int) -> str:
    return next((fold_text(token) for token in reversed(tokens[:at][-2:]) if token.kind == "function"), "")


def _moved_along(aligned: Alignment, left: _AlignedWords, right: _AlignedWords, *, crossed: bool = False) -> bool:
    """Return whether a part moved with its preposition: in May, on Saturday; or each follows the other's: from, to."""
    here = [_preposition(aligned, aligned.claim, block.first) for block in (left, right)]
    there = [_preposition(aligned, aligned.page, aligned.pairs[block.first]) for block in (left, right)]
    if crossed:
        return here == there[::-1] and here[0] != here[1] and all(here)
    return here[0] != here[1] and any(one == other and one for one, other in zip(here, there, strict=True))


def _preposition(aligned: Alignment, tokens: Sequence[WordToken], at: int) -> str:
    """Return the preposition of a part: the word before it and its article."""
    tongue = aligned.tongue
    for token in reversed(tokens[:at]):
        word = fold_text(token)
        if token.kind != "function" or word not in tongue.articles:
            tied = token.kind == "function" and word not in tongue.conjunctions and word not in tongue.passive
            return word if tied else ""
    return ""
