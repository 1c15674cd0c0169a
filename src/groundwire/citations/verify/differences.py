"""What aligned sentences disagree in: markers, opposites, words in the place of others, and who did what to whom."""

from __future__ import annotations

from collections.abc import Callable, Iterator, Sequence
from typing import Final

from groundwire.citations.verify.alignment import Alignment, Token
from groundwire.citations.verify.report import Disagreement, Kind

__all__ = ["made_up", "reworded"]

_NEAR: Final = 5  # tokens within which a marker's head stands
_CLOSE: Final = 0.6  # share of a sentence's words from which on what a marker does is compared
_VERBATIM: Final = 0.6  # share from which on a word in another's place is a change
_RUN: Final = 2  # words of a replacement
_FAMILIES: Final[dict[str, Kind]] = {
    "negation": "negation",
    "quantifier": "quantifier",
    "modal": "modal",
    "bound": "comparison",
    "degree": "comparison",
}
_TOLD: Final = {"negation": {"not"}, "quantifier": {"all", "most", "few", "half", "only", "none"}, "modal": {"may", "must"}}
_DROPPED: Final = {"negation": {"not"}, "quantifier": {"few", "half"}, "modal": {"may", "must"}}


def reworded(aligned: Alignment, near: Callable[[], frozenset[str]]) -> Iterator[Disagreement]:
    """Yield in what a sentence differs from the passage that it is aligned with.

    Args:
        aligned: Both, word by word.
        near: Returns the keys of the words around the passage and in the page's title: what it may take for granted.
    """
    if aligned.share < 0.4:
        return
    swapped = list(_roles(aligned))
    yield from swapped
    if aligned.share >= _CLOSE:
        yield from _markers(aligned)
    yield from _astray(aligned)
    yield from _little_opposites(aligned)
    yield from _replaced(aligned, near, converse=not swapped and _inverted(aligned))


def _said(tokens: Sequence[Token]) -> str:
    return " ".join(token.text for token in tokens)


# --- markers -----------------------------------------------------------------------------------------------------


def _markers(aligned: Alignment) -> Iterator[Disagreement]:
    """Yield the words that deny, count, weaken or compare, where the other side has none or another."""
    claim, page, to = aligned.claim, aligned.page, aligned.to
    free = [at for at, token in enumerate(page) if token.marker is not None and at not in aligned.back]
    taken: set[int] = set()
    for at, token in enumerate(claim):
        marker = token.marker
        if marker is None or to[at] is not None or marker.family not in _FAMILIES:
            continue
        head = _head(at, claim, to, aligned.tongue.dense)
        others = [
            place for place in free if place not in taken and (one := page[place].marker) and one.family == marker.family
        ]
        rival = min(others, key=lambda place: abs(place - (head if head is not None else 0)), default=None)
        if rival is not None and page[rival].marker != marker:
            if head is None or abs(rival - head) <= 2 * _NEAR:
                taken.add(rival)
                yield Disagreement(kind=_FAMILIES[marker.family], claimed=token.text, stated=page[rival].text)
            continue
        told = marker.kind in _TOLD.get(marker.family, ())
        if told and head is not None and rival is None and not _balanced(aligned, at, marker.family):
            yield Disagreement(kind=_FAMILIES[marker.family], claimed=_around(claim, at), stated="")
    for place in free:
        marker = page[place].marker
        if place in taken or marker is None or marker.kind not in _DROPPED.get(marker.family, ()):
            continue
        if any(one.marker and one.marker.family == marker.family for one in claim):
            continue
        head = _head(place, page, [aligned.back.get(at) for at in range(len(page))], aligned.tongue.dense)
        if head is not None and _within(aligned, place) and not _balanced(aligned, place, marker.family, of_page=True):
            yield Disagreement(kind=_FAMILIES[marker.family], claimed="", stated=_around(page, place))


def _within(aligned: Alignment, place: int) -> bool:
    """Tell whether what the sentence takes from the passage stands on both sides of a place, with no break between."""
    page, reach = aligned.page, _NEAR + 1
    if aligned.tongue.dense:
        return True
    for other in range(place + 1, min(len(page), place + reach)):
        if page[other].stops:
            return False
        if other in aligned.back and page[other].kind in {"word", "number"}:
            break
    else:
        return False
    for other in range(place, max(-1, place - reach), -1):
        if other in aligned.back:
            return True
        if page[other].breaks:
            return page[other].stops
    return place < reach


def _head(at: int, tokens: Sequence[Token], to: Sequence[int | None], dense: bool) -> int | None:
    """Return the counterpart of the word that a marker belongs to: the next that has one, or the one before."""
    ahead = range(at + 1, min(len(tokens), at + _NEAR))
    behind = range(at - 1, max(-1, at - _NEAR), -1)
    for place in (*ahead, *behind) if not dense else (*sorted((*ahead, *behind), key=lambda one: abs(one - at)),):
        if tokens[place].kind in {"word", "number"}:
            if (there := to[place]) is not None:
                return there
            if place > at and not dense:
                break
    return None


def _balanced(aligned: Alignment, at: int, family: str, *, of_page: bool = False) -> bool:
    """Tell whether a "not" is made up for by a word of the opposite meaning: not safe, dangerous."""
    if family != "negation":
        return False
    mine, theirs = (aligned.page, aligned.claim) if of_page else (aligned.claim, aligned.page)
    counterparts = set(aligned.back) if of_page else {here for here, there in enumerate(aligned.to) if there is not None}
    beside = {here for here, there in enumerate(aligned.to) if there is not None} if of_page else set(aligned.back)
    lonely = [token for place, token in enumerate(mine) if place not in counterparts and abs(place - at) <= _NEAR]
    others = [token for place, token in enumerate(theirs) if place not in beside]
    return any(
        aligned.tongue.are_opposite(one.keys[0], other.keys[0]) for one in lonely for other in others if one.keys and other.keys
    )


def made_up(aligned: Alignment) -> bool:
    """Tell whether a negation on one side has a word of the opposite meaning on the other."""
    return any(
        token.marker is not None
        and token.marker.family == "negation"
        and _balanced(aligned, at, "negation", of_page=of_page)
        for of_page, tokens in ((False, aligned.claim), (True, aligned.page))
        for at, token in enumerate(tokens)
    )


def _around(tokens: Sequence[Token], at: int) -> str:
    return _said(tokens[at : at + 4])


# --- words -------------------------------------------------------------------------------------------------------


def _replaced(aligned: Alignment, near: Callable[[], frozenset[str]], *, converse: bool) -> Iterator[Disagreement]:
    """Yield the words that stand in the place of others."""
    claim, page, to, tongue = aligned.claim, aligned.page, aligned.to, aligned.tongue
    lonely = [place for place, token in enumerate(page) if token.kind == "word" and place not in aligned.back]
    runs = _runs(aligned)
    denied = sum(token.marker is not None and token.marker.family == "negation" for token in claim)
    denied -= sum(token.marker is not None and token.marker.family == "negation" for token in page)
    for first, last in runs:
        for at in range(first, last):
            word = claim[at].keys[0]
            against = next((place for place in lonely if tongue.are_opposite(word, page[place].keys[0])), None)
            if against is not None and aligned.share >= 0.5:
                if converse or denied % 2:
                    break
                yield Disagreement(kind="opposite", claimed=claim[at].text, stated=page[against].text)
                break
            other = next((place for place in lonely if tongue.exclude(word, page[place].keys[0])), None)
            if other is not None and aligned.share >= 0.5:
                yield Disagreement(kind="word", claimed=claim[at].text, stated=page[other].text)
                break
        else:
            there = _in_place(aligned, first, last)
            if there and _is_change(aligned, first, last, there, near):
                yield Disagreement(
                    kind="name" if any(claim[at].name for at in range(first, last)) and not tongue.dense else "word",
                    claimed=_joined(claim[first:last], tongue.dense),
                    stated=_joined([page[place] for place in there], tongue.dense),
                )


def _little_opposites(aligned: Alignment) -> Iterator[Disagreement]:
    """Yield words such as before and after that stand in each other's place."""
    claim, page, to, tongue = aligned.claim, aligned.page, aligned.to, aligned.tongue
    for at, token in enumerate(claim):
        form = tongue.normal_form(token.text) if token.kind == "function" else ""
        if to[at] is not None or form not in tongue.opposites or at + 1 >= len(to):
            continue
        after = next((there for there in to[at + 1 : at + 4] if there is not None), None)
        for place in range(max(0, after - 3), after) if after is not None else ():
            other = page[place]
            if other.kind == "function" and place not in aligned.back:
                if tongue.are_opposite(form, tongue.normal_form(other.text)) and not _inverted(aligned):
                    yield Disagreement(kind="opposite", claimed=token.text, stated=other.text)
                    return


def _astray(aligned: Alignment) -> Iterator[Disagreement]:
    """Yield words that the passage has elsewhere, while it has the opposite where the words around them stand."""
    claim, page, to = aligned.claim, aligned.page, aligned.to
    lonely = [place for place, token in enumerate(page) if token.kind == "word" and place not in aligned.back]
    for at, token in enumerate(claim):
        there = to[at]
        if there is None or token.kind != "word" or token.keys[0] not in aligned.tongue.opposites:
            continue
        around = [
            place
            for other in range(max(0, at - 4), min(len(claim), at + 5))
            if other != at and claim[other].kind in {"word", "number"} and (place := to[other]) is not None
        ]
        for rival in lonely:
            if aligned.tongue.are_opposite(token.keys[0], page[rival].keys[0]):
                here = sum(1 / (1 + abs(place - there)) for place in around)
                if sum(1 / (1 + abs(place - rival)) for place in around) > 1.2 * here:
                    yield Disagreement(kind="opposite", claimed=token.text, stated=page[rival].text)
                    return


def _joined(tokens: Sequence[Token], dense: bool) -> str:
    return ("" if dense else " ").join(token.text for token in tokens)


def _runs(aligned: Alignment) -> list[tuple[int, int]]:
    """Return the stretches of words that have no counterpart."""
    found: list[tuple[int, int]] = []
    for at, token in enumerate(aligned.claim):
        if token.kind != "word" or aligned.to[at] is not None:
            continue
        if found and found[-1][1] == at:
            found[-1] = (found[-1][0], at + 1)
        else:
            found.append((at, at + 1))
    return found


def _in_place(aligned: Alignment, first: int, last: int) -> list[int]:
    """Return the words of the passage that stand where a stretch of the sentence stands, between the same neighbors."""
    page, to = aligned.page, aligned.to
    left = to[first - 1] if first else None
    right = to[last] if last < len(to) else None
    if first and left is None and aligned.claim[first - 1].kind == "function" and first > 1:
        left = to[first - 2]
    if last < len(to) and right is None and aligned.claim[last].kind == "function" and last + 1 < len(to):
        right = to[last + 1]
    found: list[int] = []
    if left is not None and right is not None and 0 < right - left <= _RUN + 4:
        found = [place for place in range(left + 1, right) if page[place].kind == "word" and place not in aligned.back]
        strangers = [place for place in range(left + 1, right) if place in aligned.back and page[place].kind != "function"]
        return found if not strangers else []
    if left is not None and (right is None or right < left):
        found = _stretch(aligned, range(left + 1, len(page)))
        if last < len(to) and right is None and aligned.claim[last].kind != "function":
            return []
        if right is not None and found and found[-1] + 1 < len(page) and not _ends(aligned, found[-1] + 1):
            return []
        return found
    if right is not None and left is None and first <= 1:
        return _stretch(aligned, range(right - 1, -1, -1))
    return []


def _ends(aligned: Alignment, place: int) -> bool:
    return place >= len(aligned.page) or aligned.page[place].breaks or aligned.page[place].kind == "function"


def _stretch(aligned: Alignment, places: range) -> list[int]:
    """Return the words without a counterpart that begin a stretch of the passage, in order."""
    found: list[int] = []
    for place in places:
        token = aligned.page[place]
        if token.kind == "function" and not found and place not in aligned.back:
            continue
        if token.kind != "word" or place in aligned.back or len(found) >= _RUN + 2:
            break
        if found and abs(place - found[-1]) > 1:
            break
        found.append(place)
        if token.breaks and places.step > 0 and len(found) > 1:
            found.pop()
            break
    return sorted(found)


def _is_change(aligned: Alignment, first: int, last: int, there: Sequence[int], near: Callable[[], frozenset[str]]) -> bool:
    """Tell whether other words in a place are another meaning, as far as words can tell."""
    claim, page, tongue = aligned.claim, aligned.page, aligned.tongue
    size = 4 if tongue.dense else _RUN
    if last - first > size or len(there) > size:
        return False
    if aligned.share < _VERBATIM or aligned.strict_share < 0.5:
        return False
    words = [claim[at] for at in range(first, last)]
    others = [page[place] for place in there]
    vague = [any(one.keys[0] in tongue.generic for one in side) for side in (words, others)]
    named = [any(one.name for one in side) for side in (words, others)]
    if (vague[0] and named[1]) or (vague[1] and (named[0] or not near().isdisjoint(words[-1].keys))):
        return False
    if first <= 10 and all(one.keys[0] in tongue.attribution for one in words):
        return False
    if not tongue.dense and all(len(one.text) < 2 for one in words):
        return False
    initials = "".join(one.text[0] for one in others).casefold()
    if len(words) == 1 and len(others) > 1 and initials.startswith(words[0].text.casefold()[:2]):
        return False
    known = all(not near().isdisjoint(one.keys) for one in words)
    return not (known and named[1] and not named[0])


# --- roles -------------------------------------------------------------------------------------------------------


def _blocks(aligned: Alignment) -> list[list[int]]:
    """Return the words of the sentence that have a counterpart, those together that stand together on both sides."""
    blocks: list[list[int]] = []
    for at, there in enumerate(aligned.to):
        if there is None or aligned.claim[at].kind in {"function", "marker"}:
            continue
        last = blocks[-1][-1] if blocks else -2
        before = aligned.to[last] if blocks else None
        same = blocks and aligned.claim[last].name == aligned.claim[at].name and aligned.claim[at].value is None
        if same and at == last + 1 and before is not None and there == before + 1 and aligned.claim[last].value is None:
            blocks[-1].append(at)
        else:
            blocks.append([at])
    return blocks


def _inverted(aligned: Alignment) -> bool:
    """Tell whether two words of a kind stand in the other order: what a converse word is used for."""
    blocks = _blocks(aligned)
    firsts = [aligned.to[block[0]] or 0 for block in blocks]
    return any(
        firsts[two] < firsts[one] and _class(aligned, blocks[one]) == _class(aligned, blocks[two])
        for one in range(len(blocks))
        for two in range(one + 1, min(len(blocks), one + 8))
    )


def _class(aligned: Alignment, block: Sequence[int]) -> str:
    token = aligned.claim[block[0]]
    if isinstance(token.value, object) and token.value is not None:
        return type(token.value).__name__
    return "name" if token.name else "word"


def _roles(aligned: Alignment) -> Iterator[Disagreement]:
    """Yield two words, names or numbers that stand in each other's place."""
    blocks = _blocks(aligned)[:60]
    for one in range(len(blocks)):
        for two in range(one + 1, min(len(blocks), one + 10)):
            left, right = blocks[one], blocks[two]
            if _class(aligned, left) != _class(aligned, right):
                continue
            if _changed_places(aligned, blocks, one, two):
                yield Disagreement(
                    kind="order",
                    claimed=_joined(aligned.claim[left[0] : right[-1] + 1], aligned.tongue.dense),
                    stated=_stated(aligned, left, right),
                )
                return


def _stated(aligned: Alignment, left: Sequence[int], right: Sequence[int]) -> str:
    places = sorted(there for at in (*left, *right) if (there := aligned.to[at]) is not None)
    return _joined(aligned.page[places[0] : places[-1] + 1], aligned.tongue.dense)


def _changed_places(aligned: Alignment, blocks: Sequence[Sequence[int]], one: int, two: int) -> bool:
    to, page = aligned.to, aligned.page
    left, right = blocks[one], blocks[two]
    at, there = [to[block[0]] or 0 for block in blocks], (to[left[0]] or 0, to[right[0]] or 0)
    inverted = there[1] < there[0]
    paired = _companions(aligned, blocks, one, two) if _class(aligned, left) != "word" else None
    if paired is not None:
        return paired
    claim_voice = _passive(aligned, aligned.claim, left[-1], right[0])
    first, second = sorted(there)
    page_voice = _passive(aligned, page, first, second)
    names = aligned.claim[left[0]].name
    if any(token.stops for token in page[first + 1 : second + 1]):
        return False
    if aligned.tongue.code == "ja" and names:
        return _by_particle(aligned, left, right)
    if not inverted:
        between = [block for block in blocks if first < (to[block[0]] or 0) < second and block is not left]
        return names and claim_voice != page_voice and bool(between) and two - one <= 3
    if claim_voice != page_voice or _is_list(aligned, left, right) or _is_symmetric(aligned, left, right):
        return False
    if _has_converse(aligned) or _keeps_case(aligned, left, right) or _moved_along(aligned, left, right):
        return False
    if two == one + 1 and not (names and aligned.tongue.script == "arabic") and not _crossed_ties(aligned, left, right):
        return False
    return _exchange_restores(at, one, two)


def _exchange_restores(at: Sequence[int], one: int, two: int) -> bool:
    """Tell whether the sentence would run as the passage does if two of its parts changed places."""
    order = list(at)
    order[one], order[two] = order[two], order[one]
    begin, end = max(0, one - 1), min(len(order), two + 2)
    inner = order[one : two + 1]
    if any(b <= a for a, b in zip(inner, inner[1:], strict=False)):
        return False
    outer = order[begin:end]
    falls = sum(b <= a for a, b in zip(outer, outer[1:], strict=False))
    return falls == 0 or (falls == 1 and len(inner) >= 4)


def _companions(aligned: Alignment, blocks: Sequence[Sequence[int]], one: int, two: int) -> bool | None:
    """Tell whether two parts go with other companions than in the passage; None when they have none of a kind.

    41 in May and 38 in June: the months are what tells the numbers apart.
    """
    to = aligned.to
    mine = _class(aligned, blocks[one])
    span = range(max(0, one - 3), min(len(blocks), two + 4))
    for third in span:
        for fourth in range(third + 1, span.stop):
            if {third, fourth} & {one, two} or _kind(aligned, blocks[third]) != _kind(aligned, blocks[fourth]):
                continue
            kind = _kind(aligned, blocks[third])
            if kind in {"", mine} or (mine == "word" and kind == "name"):
                continue
            here = [block[0] for block in (blocks[one], blocks[two], blocks[third], blocks[fourth])]
            there = [to[place] or 0 for place in here]
            straight, crossed = _pairing(here, aligned.claim), _pairing(there, aligned.page)
            if straight is not None and crossed is not None:
                return straight != crossed
    return None


def _kind(aligned: Alignment, block: Sequence[int]) -> str:
    """Return of which kind a companion is: a date, a year, a month or weekday, a name."""
    token = aligned.claim[block[0]]
    if token.value is not None:
        return type(token.value).__name__
    if token.keys and (groups := aligned.tongue.contrasts.get(token.keys[0])):
        return groups[0]
    return "name" if token.name else ""


def _pairing(places: Sequence[int], tokens: Sequence[Token]) -> bool | None:
    """Tell whether of four places the first goes with the third and the second with the fourth; None when unclear."""
    one, two, third, fourth = places

    def far(here: int, there: int) -> int:
        low, high = sorted((here, there))
        return high - low + 3 * sum(token.breaks or token.text.lower() in _AND for token in tokens[low + 1 : high + 1])

    straight, crossed = far(one, third) + far(two, fourth), far(one, fourth) + far(two, third)
    return None if straight == crossed else straight < crossed


_AND: Final = frozenset({"and", "und", "et", "y", "e", "и", "而", "while", "но", "а"})


def _passive(aligned: Alignment, tokens: Sequence[Token], left: int, right: int) -> bool:
    """Tell whether what comes second does it: an agent's word stands before it."""
    tongue = aligned.tongue
    start = max(0, left + 1)
    between = [fold_text(token) for token in tokens[start:right]]
    if tongue.code == "zh":
        return "被" in between or "由" in between
    tail = [word for word in between[-3:] if word not in tongue.articles]
    return bool(tail) and bool(tongue.agent & set(tail[-1:])) and bool(tongue.passive & set(between))


def fold_text(token: Token) -> str:
    """Return a token's word as the lists have it."""
    return token.keys[0] if token.kind in {"function", "marker"} and token.keys else token.text.lower()


def _by_particle(aligned: Alignment, left: Sequence[int], right: Sequence[int]) -> bool:
    """Tell by the particles behind two names whether they changed roles, as in Japanese."""
    topics = {"は", "が", "のは"}

    def acts(tokens: Sequence[Token], at: int) -> bool | None:
        after = next((token.text for token in tokens[at + 1 : at + 3] if token.kind == "function"), "")
        return True if after in topics else False if after in {"を", "に", "の", "から"} else None

    to = aligned.to
    here = [acts(aligned.claim, block[-1]) for block in (left, right)]
    there = [acts(aligned.page, to[block[-1]] or 0) for block in (left, right)]
    crossed = here[0] == there[1] and here[1] == there[0] and None not in here and here[0] != here[1]
    return here == there and None not in here if _has_converse(aligned) else crossed


def _has_converse(aligned: Alignment) -> bool:
    """Tell whether the sentence has a word for the other side of what a word of the passage says: buy, sell."""
    mine = [token for at, token in enumerate(aligned.claim) if aligned.to[at] is None and token.keys]
    theirs = {
        key for at, token in enumerate(aligned.page) if at not in aligned.back and token.keys for key in token.keys[:2]
    }
    return any(not aligned.tongue.converse.get(key, frozenset()).isdisjoint(theirs) for one in mine for key in one.keys[:2])


def _is_list(aligned: Alignment, left: Sequence[int], right: Sequence[int]) -> bool:
    to = aligned.to
    there = sorted(((to[left[0]] or 0, to[left[-1]] or 0), (to[right[0]] or 0, to[right[-1]] or 0)))
    return _joined_by_and(aligned, aligned.claim, left[-1], right[0]) and _joined_by_and(
        aligned, aligned.page, there[0][1], there[1][0]
    )


def _joined_by_and(aligned: Alignment, tokens: Sequence[Token], left: int, right: int) -> bool:
    """Tell whether two places are items of one list: separators stand behind the one and before the other."""
    if right - left > 12 or right <= left:
        return False
    joins = aligned.tongue.conjunctions
    items = 1
    for place in range(left + 1, right + 1):
        token = tokens[place]
        if token.breaks or fold_text(token) in joins:
            items = 0
        elif token.kind in {"word", "number"} and place != right:
            items += 1
            if items > 2:
                return False
        if place == left + 1 and not (token.breaks or fold_text(token) in joins):
            return False
    before = tokens[right - 1] if right - 1 > left else None
    article = before is not None and before.kind == "function" and right - 2 > left
    return (
        tokens[right].breaks
        or (before is not None and fold_text(before) in joins)
        or (article and fold_text(tokens[right - 2]) in joins)
    )


def _is_symmetric(aligned: Alignment, left: Sequence[int], right: Sequence[int]) -> bool:
    """Tell whether what stands between or before two places holds both ways: met, married, between."""
    span = aligned.claim[max(0, left[0] - 2) : right[-1] + 3]
    return any(token.keys and token.keys[0] in aligned.tongue.symmetric for token in span)


def _keeps_case(aligned: Alignment, left: Sequence[int], right: Sequence[int]) -> bool:
    """Tell whether two words have the endings or articles that they have in the passage, where these tell the roles."""
    to, claim, page = aligned.to, aligned.claim, aligned.page
    if aligned.tongue.case:
        return all(fold_text(claim[at]) == fold_text(page[to[at] or 0]) for at in (*left, *right))
    if aligned.tongue.code == "de":
        for block in (left, right):
            here, there = _article(aligned, claim, block[0]), _article(aligned, page, to[block[0]] or 0)
            if here == there and here in {"den", "dem", "einen", "einem", "des"}:
                return True
    return False


def _article(aligned: Alignment, tokens: Sequence[Token], at: int) -> str:
    for token in reversed(tokens[max(0, at - 2) : at]):
        if token.kind == "function":
            return fold_text(token)
    return ""


def _moved_along(aligned: Alignment, left: Sequence[int], right: Sequence[int]) -> bool:
    """Tell whether a part moved with its preposition: in May, on Saturday."""
    to = aligned.to
    here = [_preposition(aligned, aligned.claim, block[0]) for block in (left, right)]
    there = [_preposition(aligned, aligned.page, to[block[0]] or 0) for block in (left, right)]
    return here[0] != here[1] and any(one == other and one for one, other in zip(here, there, strict=True))


def _crossed_ties(aligned: Alignment, left: Sequence[int], right: Sequence[int]) -> bool:
    """Tell whether each of two parts stands behind the other's preposition: from 20 to 85."""
    to = aligned.to
    here = [_preposition(aligned, aligned.claim, block[0]) for block in (left, right)]
    there = [_preposition(aligned, aligned.page, to[block[0]] or 0) for block in (left, right)]
    return here == there[::-1] and here[0] != here[1] and all(here)


def _preposition(aligned: Alignment, tokens: Sequence[Token], at: int) -> str:
    """Return the word that ties a part to the rest: what stands before it and its article."""
    tongue = aligned.tongue
    for token in reversed(tokens[max(0, at - 3) : at]):
        word = fold_text(token)
        if token.kind == "function" and word in tongue.articles:
            continue
        tied = token.kind == "function" and word not in tongue.conjunctions and word not in tongue.passive
        return word if tied else ""
    return ""
