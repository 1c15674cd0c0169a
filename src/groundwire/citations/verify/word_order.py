"""Word order: whether a sentence in the words of its passage says of one thing what the passage says of another.

The subject and the object of a verb, what is compared and what it is compared with, what a preposition or a particle
belongs to, what is denied, what the sentence ends with. Names and numbers that have changed places are found before, by
`argument_roles`.
"""

from __future__ import annotations

import itertools
from collections.abc import Iterator, Sequence
from typing import Final

from groundwire.citations.verify.alignment import Alignment, WordToken, sentence_at, stretches, tokens_of
from groundwire.citations.verify.argument_roles import fold_text, has_converse, joined
from groundwire.citations.verify.language_packs import Language
from groundwire.citations.verify.passage_index import IndexedPassage, PageIndex
from groundwire.citations.verify.report import Disagreement
from groundwire.citations.verify.segmentation import JOINS, spelled_words, squeezed, words_of

__all__ = [
    "apart",
    "beside",
    "carries",
    "loose_end",
    "lost_run",
    "reordered",
    "spliced",
    "stands_for",
    "turned",
]

_SAME: Final = 0.8  # share of the words of a sentence from which their order tells who does what
_STEM: Final = 5  # letters that two forms of a verb have in common
_DENIED: Final = 2  # tokens between a denial and the permission that it denies
_NEAR: Final = 5  # tokens between a word and its particle
_COPY: Final = 4  # consecutive words from which the beginning of a sentence is the page's
_APART: Final = 7  # words of two such parts, and of what their sentences have besides
_LONGEST: Final = 100  # words of a sentence that is looked for in two parts
_HALF: Final = 2  # words and numbers of an end that are judged


def reordered(aligned: Alignment) -> Iterator[Disagreement]:
    """Yield what has exchanged its place around a verb, in a comparison, or behind a preposition.

    Args:
        aligned: A sentence and its passage.
    """
    home = aligned.home
    if not home or aligned.share < _SAME or has_converse(aligned):
        return
    content = [at for at, there in aligned.pairs.items() if there in home and carries(aligned.claim[at])]
    found = (
        _compared(aligned, content)
        or _around_verb(aligned, content)
        or _by_particle(aligned, content)
        or _by_article(aligned, content)
        or _by_preposition(aligned, content)
    )
    if found:
        one, other = sorted(found)
        places = sorted(aligned.pairs[at] for at in found)
        dense = aligned.tongue.dense
        yield Disagreement(
            kind="order",
            claimed=joined(aligned.claim[one : other + 1], dense),
            stated=joined(aligned.page[places[0] : places[1] + 1], dense),
        )


def carries(token: WordToken) -> bool:
    """Return whether a token is a word that is not a number."""
    return token.kind == "word" and token.value is None


def _compared(aligned: Alignment, content: Sequence[int]) -> tuple[int, int] | None:
    """Return two things of which the other one is compared with the first: more bread than cake."""
    claim, page, pairs = aligned.claim, aligned.page, aligned.pairs
    than = aligned.tongue.than
    here = next((at for at, token in enumerate(claim) if fold_text(token) in than and at > content[0]), None)
    there = next((at for at in aligned.home if fold_text(page[at]) in than), None)
    if here is None or there is None or not than:
        return None
    if any(carries(token) and at not in pairs for at, token in enumerate(claim[:here])):
        return None
    behind = next((at for at in content if at > here), None)
    standard = next((at for at in content if pairs[at] > there), None)
    if behind is None or standard is None or not pairs[behind] < there or not standard < here:
        return None
    return standard, behind


def _around_verb(aligned: Alignment, content: Sequence[int]) -> tuple[int, int] | None:
    """Return a subject and something behind the verb that have changed sides of the verb."""
    claim, page, pairs, tongue = aligned.claim, aligned.page, aligned.pairs, aligned.tongue
    for verb in content:
        there = pairs[verb]
        if not _same_verb(claim[verb].key, page[there].key, tongue) or not (
            _governs(aligned, claim, verb) or _governs(aligned, page, there)
        ):
            continue
        if claim[verb].key in tongue.symmetric or _voice(aligned, claim, verb) != _voice(aligned, page, there):
            continue
        clause = max((at for at in range(verb) if claim[at].breaks), default=0)
        before = [at for at in content if at < verb and verb - at != there - pairs[at] and not _moved(aligned, at)]
        subject = [at for at in before if at >= clause] or before
        behind = [at for at in content if at > verb and pairs[at] < there and not _moved(aligned, at)]
        if subject and behind and all(pairs[at] > there for at in subject):
            return subject[0], behind[0]
    return None


def _same_verb(one: str, other: str, tongue: Language) -> bool:
    """Return whether two words are one verb: a synonym or an adjective may have its object where it has its subject."""
    derived = max(one, other, key=len).endswith(tongue.derivations)
    return one == other or (len(one) >= _STEM and one[:_STEM] == other[:_STEM] and not derived)


def _governs(aligned: Alignment, tokens: Sequence[WordToken], verb: int) -> bool:
    """Return whether a word has an object: the beginning of one follows, and no article or preposition precedes it."""
    after = next((fold_text(token) for token in tokens[verb + 1 : verb + 2] if not token.breaks), "")
    nominal = any(
        token.kind == "function"
        and (fold_text(token) in aligned.tongue.articles or _preposition(aligned, fold_text(token)))
        for token in tokens[:verb][-1:]
    )
    return not nominal and after in aligned.tongue.object_begins


def _preposition(aligned: Alignment, word: str) -> bool:
    tongue = aligned.tongue
    return not any(word in group for group in (tongue.passive, tongue.pronouns, tongue.conjunctions, tongue.certain))


def _voice(aligned: Alignment, tokens: Sequence[WordToken], verb: int) -> bool:
    """Return whether the subject may follow a verb: it is passive, or its object precedes it."""
    tongue = aligned.tongue
    near = [fold_text(token) for token in tokens[max(0, verb - 3) : verb + 4]]
    before = [fold_text(token) for token in tokens[:verb][-2:] if token.kind == "function"]
    return (
        not tongue.agent.isdisjoint(near)
        or not tongue.passive.isdisjoint(before)
        or not tongue.clitics.isdisjoint(before[-1:])
    )


def _moved(aligned: Alignment, at: int) -> bool:
    """Return whether a word has the same preposition in the passage: in May."""
    here, there = _tie(aligned, aligned.claim, at), _tie(aligned, aligned.page, aligned.pairs[at])
    return bool(here) and here == there


def _tie(aligned: Alignment, tokens: Sequence[WordToken], at: int) -> str:
    """Return the preposition of a word, before its article and the other words of its name."""
    tongue = aligned.tongue
    for token in reversed(tokens[:at][-3:]):
        word = fold_text(token)
        if token.kind == "word" and token.name and tokens[at].name:
            continue
        if token.kind == "function" and word in tongue.articles and not tokens[at].breaks:
            continue
        tied = token.kind == "function" and _preposition(aligned, word) and not tokens[at].breaks
        return word if tied else ""
    return ""


def _by_particle(aligned: Alignment, content: Sequence[int]) -> tuple[int, int] | None:
    """Return the subject and the object of a Japanese sentence that are the passage's object and subject."""
    tongue = aligned.tongue
    if not tongue.dense:
        return None
    acts = {at: (_acts(tongue, aligned.claim, at), _acts(tongue, aligned.page, aligned.pairs[at])) for at in content}
    subject = next((at for at, said in acts.items() if said == (True, False)), None)
    other = next((at for at, said in acts.items() if said == (False, True)), None)
    if subject is None or other is None:
        return None
    voices = (
        _is_passive(tokens[last + 1 : last + 2 * _NEAR])
        for tokens, last in (
            (aligned.claim, max(subject, other)),
            (aligned.page, max(aligned.pairs[subject], aligned.pairs[other])),
        )
    )
    return (subject, other) if len(set(voices)) == 1 else None


def _acts(tongue: Language, tokens: Sequence[WordToken], at: int) -> bool | None:
    """Return whether the particle after a word and what it belongs to is a subject's; None if it is neither."""
    for token in tokens[at + 1 : at + _NEAR]:
        if token.text in tongue.subject:
            return True
        if token.text in tongue.object:
            return False
        if token.breaks:
            return None
    return None


def _is_passive(tokens: Sequence[WordToken]) -> bool:
    clause = "".join(token.text for token in itertools.takewhile(lambda token: not token.breaks, tokens))
    return any(f"{syllable}れ" in clause for syllable in "わかがさたなばまら")


def _by_article(aligned: Alignment, content: Sequence[int]) -> tuple[int, int] | None:
    """Return a subject that is the object of a passage in the same words, or the reverse: der, den."""
    if aligned.tongue.dense or not _same_words(aligned, content):
        return None
    sides = [[fold_text(token) for token in tokens] for tokens in (aligned.claim, aligned.page)]
    if any(not aligned.tongue.agent.isdisjoint(words) for words in sides):
        return None
    for at in content:
        here, there = _case(aligned, aligned.claim, at), _case(aligned, aligned.page, aligned.pairs[at])
        if here and there and here != there:
            other = next((one for one in content if (one > at) != (aligned.pairs[one] > aligned.pairs[at])), None)
            return None if other is None else (at, other)
    return None


def _case(aligned: Alignment, tokens: Sequence[WordToken], at: int) -> str:
    """Return the case of a masculine word, if its article tells it and no preposition precedes."""
    article = next((fold_text(token) for token in tokens[:at][-1:]), "")
    if _tie(aligned, tokens, at):
        return ""
    return "subject" if article in aligned.tongue.subject else "object" if article in aligned.tongue.object else ""


def _same_words(aligned: Alignment, content: Sequence[int]) -> bool:
    told = [at for at, token in enumerate(aligned.claim) if carries(token)]
    return told == list(content) and all(aligned.claim[at].key == aligned.page[aligned.pairs[at]].key for at in content)


def _by_preposition(aligned: Alignment, content: Sequence[int]) -> tuple[int, int] | None:
    """Return two words of which one has the other's preposition, in a sentence of the passage's words."""
    if aligned.tongue.dense or not _same_words(aligned, content):
        return None
    ties = {at: (_tie(aligned, aligned.claim, at), _tie(aligned, aligned.page, aligned.pairs[at])) for at in content}
    for at, (here, there) in ties.items():
        for other, (its, their) in ties.items():
            if other <= at or here != their or its != there or here == its or _are_list(aligned, at, other):
                continue
            if abs(aligned.pairs[other] - aligned.pairs[at]) == 1:  # an adverb of one phrase: to better withstand
                continue
            if aligned.pairs[other] < aligned.pairs[at] or aligned.pairs[other] - aligned.pairs[at] <= _NEAR:
                return at, other
    return None


def _are_list(aligned: Alignment, one: int, two: int) -> bool:
    """Return whether a conjunction joins two words: between the old town and the new port."""
    return any(fold_text(token) in aligned.tongue.conjunctions for token in aligned.claim[one + 1 : two])


def turned(aligned: Alignment, at: int, against: int) -> bool:
    """Return whether a converse word has the page's object as its subject: B bought it from A, A sold it to B."""
    if aligned.page[against].key not in aligned.tongue.converse.get(aligned.claim[at].key, ()):
        return False
    sentence = sentence_at(aligned.page, against)
    mine = [there for there, token in zip(aligned.to[:at], aligned.claim, strict=False) if carries(token)]
    elsewhere = mine and not any(there in sentence for there in mine)  # a library lends what its members borrow
    if elsewhere and not aligned.tongue.dense:
        return any(there in sentence for there in aligned.to[at:])
    names = (there for there, token in zip(aligned.to[:at], aligned.claim, strict=False) if token.name)
    subject = next((there for there in reversed(list(names)) if there is not None), None)
    return subject is not None and subject > against and any(there is not None for there in aligned.to[at:])


def beside(aligned: Alignment, at: int, place: int) -> bool:
    """Return whether a word of the passage is in a sentence that has a neighbor of a word of the claim."""
    near = _neighbors(aligned, at)
    home = sentence_at(aligned.page, place)
    told = sum(there in home and aligned.page[there].kind == "word" for there in aligned.back)
    known = near == [None, None] or told > 1 or any(there in home for there in near if there is not None)
    return known and not apart(aligned, at, place)


def stands_for(aligned: Alignment, at: int, place: int) -> bool:
    """Return whether a word of the passage has the place that another has in a sentence.

    One neighbor is the same, or both sentences have no other word without a counterpart, as with a phrase in front.
    """
    sentence = sentence_at(aligned.page, place)
    words = [there for there in aligned.pairs.values() if there in sentence and aligned.page[there].kind != "function"]
    left = max((there for there in words if there < place), default=None)
    right = min((there for there in words if there > place), default=None)
    mine = [there for there in _neighbors(aligned, at, "function") if there is not None]
    denials = sum(token.denies for token in aligned.claim), sum(aligned.page[there].denies for there in sentence)
    lost = sum(token.kind == "word" and one not in aligned.pairs for one, token in enumerate(aligned.claim))
    free = sum(aligned.page[there].kind == "word" and there not in aligned.back for there in sentence)
    near = left in mine or right in mine or lost == free == 1 < len(words)
    return near and denials[0] == denials[1] and not apart(aligned, at, place)


def _neighbors(aligned: Alignment, at: int, besides: str = "") -> list[int | None]:
    sides = (range(at - 1, -1, -1), range(at + 1, len(aligned.to)))
    pairs, claim = aligned.pairs, aligned.claim
    return [next((pairs[one] for one in side if one in pairs and claim[one].kind != besides), None) for side in sides]


def apart(aligned: Alignment, at: int, place: int) -> bool:
    """Return whether a clause of the passage has what is on both sides of a word of the claim, but not a place."""
    left, right = _neighbors(aligned, at)
    clauses = stretches([token.breaks for token in aligned.page])
    return any(left in clause and right in clause and place not in clause for clause in clauses)


def loose_end(text: str, passage: IndexedPassage, aligned: Alignment) -> str:
    """Return a clause or the end of a sentence that the passage has almost nothing of."""
    tongue = aligned.tongue
    cuts = [*(found.start() for found in JOINS.finditer(text)), len(text)]
    near: set[str] | None = None
    at = 0
    for cut in cuts if len(cuts) > 1 else ():
        there = here = 0
        begin = at
        while at < len(aligned.claim) and aligned.claim[at].start < cut:
            token = aligned.claim[at]
            if token.kind in {"word", "number"} and token.key not in tongue.attribution:
                here += 1
                if aligned.to[at] is None and near is None:
                    around = passage.around(2, 1)
                    near = {key for one in tokens_of(around.text, tongue, (), ()) for key in one.keys}
                there += aligned.to[at] is not None or not (near or set()).isdisjoint(token.keys)
                there += aligned.to[at] is not None and token.value is not None and token.value.telling
            at += 1
        few = 2 + tongue.dense
        if (here > few and there < 0.4 * here) or (here >= few and not there and at - begin > _COPY):
            return text[aligned.claim[begin].start : aligned.claim[at - 1].end]
    return _leftover(text, passage, aligned)


def lost_run(aligned: Alignment, near: frozenset[str]) -> list[str]:
    """Return the most consecutive words of a sentence without a counterpart, of which no key is near the passage."""
    runs: list[list[str]] = [[]]
    for token, there in zip(aligned.claim, aligned.to, strict=True):
        if token.kind != "word" or token.key in aligned.tongue.attribution:
            continue
        if there is None and near.isdisjoint(token.keys):
            runs[-1].append(token.text)
        else:
            runs.append([])
    return max(runs, key=len)


def _leftover(text: str, passage: IndexedPassage, aligned: Alignment) -> str:
    """Return the end of a sentence that begins with the page's words in their order, and goes on with others."""
    claim, page, to = aligned.claim, aligned.page, aligned.to
    begin = aligned.begins if to[0] is None else 0
    end = begin
    while end < len(to) and (there := to[end]) is not None and there - end == (to[begin] or 0) - begin:
        end += 1
    tail = [at for at, token in enumerate(claim) if at >= end and token.kind in {"word", "number"}]
    if min(end - begin, len(to) - end) < _COPY * (1 + aligned.tongue.dense) or len(tail) < _HALF:
        return ""
    near = {key for token in passage.around(1, 1).tokens for key in token.keys}
    told = sum(to[at] is not None or not near.isdisjoint(claim[at].keys) for at in tail)
    told += any((value := claim[at].value) is not None and value.telling and to[at] is not None for at in tail)
    last = (to[end - 1] or 0) + 1
    whole = last >= len(page) or page[last].stops
    return text[claim[end].start :] if told < (0.5 if whole else 0.3 if len(tail) > 2 else 0.0) * len(tail) else ""


def spliced(text: str, index: PageIndex) -> Disagreement | None:
    """Return the end of a sentence that is another sentence's on the page, if it begins with the words of one.

    Both parts are the page's, word for word, from the middle of two sentences.
    """
    words, page, tongue = squeezed(text).split()[:_LONGEST], index.squeezed, index.language
    cut, first = _COPY, len(words) - _COPY
    if tongue.dense or first < cut or any(" ".join(part) not in page for part in (words[:cut], words[first:])):
        return None
    while cut < len(words) and " ".join(words[: cut + 1]) in page:
        cut += 1
    while first > 0 and " ".join(words[first - 1 :]) in page:
        first -= 1
    parts = [" ".join(words[:cut]), " ".join(words[cut:])]
    found = [index.best(dict(spelled_words(part, tongue)), widest=1)[0] for part in parts if first <= cut]
    if len({one.first for one in found if one}) < len(parts):
        return None
    said = [squeezed(one.text) for one in found if one]
    rests = [said[0].partition(parts[0])[2].strip(), said[1].rpartition(parts[1])[0]]
    known = set(words_of(text, tongue))
    told = [len(words_of(part, tongue)) for part in parts] + [
        len(set(words_of(rest, tongue)) - known) for rest in rests
    ]
    return Disagreement(kind="order", claimed=parts[1], stated=rests[0]) if min(told) and sum(told) >= _APART else None
