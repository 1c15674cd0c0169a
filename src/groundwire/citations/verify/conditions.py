"""What a sentence requires, asserts or allows, how often, and when, where its passage says otherwise or hedges."""

from __future__ import annotations

import itertools
import math
import re
from collections.abc import Iterator, Mapping, Sequence
from types import MappingProxyType
from typing import Final

from groundwire.citations.verify.alignment import Alignment, WordToken
from groundwire.citations.verify.argument_roles import fold_text, joined
from groundwire.citations.verify.language_packs import UNIT_BASES, Language, Marker, dimension_of, fold
from groundwire.citations.verify.quantities import Number
from groundwire.citations.verify.report import Disagreement

__all__ = [
    "each_time",
    "excludes",
    "is_close",
    "measures",
    "other_days",
    "other_duty",
    "other_time",
    "overstated",
    "prices",
    "said_by",
]

_NEAR: Final = 5  # tokens between a denial and what says when it ends
_NOT: Final = re.compile(r"(?<!\bca)(?<!\bwo)(?<!\bsha)(?<!\bmust)(?<!\bneed)n't\b", re.IGNORECASE)  # aren't, not can't
_CLOSE: Final = 5  # words between two of a clause
_SHOWN: Final = 4  # words of the passage that are shown
_DENIED: Final = 2  # words before a duty of which one may deny it
_DENIED_BEHIND: Final[Mapping[str, int]] = MappingProxyType({"de": 4, "en": 1, "fr": 1})  # words behind it
_DENIED_IS: Final[Mapping[str, str]] = MappingProxyType(
    {"must": "need not", "may": "must not", "must not": "may", "need not": "must"}
)
_LIMITS: Final = frozenset({"not", "only", "over", "under"})  # only with a ticket, nothing without one
_SHARES: Final = (("most", 50.0, 100.0), ("half", 45.0, 55.0), ("few", 0.0, 20.0))  # percent
_CONTRARY: Final = frozenset(
    map(frozenset, (("must", "may"), ("must", "must not"), ("must", "need not"), ("may", "must not")))
)
_WEEK: Final = 7  # days
_TOGETHER: Final = 3  # tokens from one weekday to the next of a range or a list
_EXCEPT: Final = 3  # tokens from "except" to a weekday
_TIMES: Final = 2  # tokens before a period that may count how often
_SECONDS: Final[Mapping[str, float]] = MappingProxyType(
    {
        unit: size * (1.0 if dimension == "time" else 365.25 * 86_400 / 12)
        for unit, (dimension, size) in UNIT_BASES.items()
        if dimension in {"time", "months"}
    }
)  # of each unit of time
_CURRENCY: Final = 3  # letters of the code of a currency
_SCOPE: Final = 5  # words of a sentence behind a word that counts


def other_duty(aligned: Alignment) -> Iterator[Disagreement]:
    """Yield what a sentence requires, allows or forbids, if the passage says otherwise of it in other words.

    Compulsory, and they may; not required, and they must; forbidden, and it is allowed.

    Args:
        aligned: A sentence and its passage.
    """
    home = [aligned.page[at] for at in aligned.home]
    mine, theirs = _duties(aligned.claim, aligned), _duties(home, aligned)
    limited = any(
        token.marker
        and token.marker.family in {"negation", "bound", "quantifier"}
        and token.marker.kind in _LIMITS
        and not any(fold_text(token) in words for words in (*mine.values(), *theirs.values()))
        for token in (*aligned.claim, *home)
    )
    if limited or not mine.keys().isdisjoint(_duties(aligned.page, aligned)):
        return
    if len(mine) == len(theirs) == 1:
        (kind, claimed), (other, stated) = *mine.items(), *theirs.items()
        if frozenset((kind, other)) in _CONTRARY:
            yield Disagreement(kind="modal", claimed=claimed, stated=stated)


def _duties(tokens: Sequence[WordToken], aligned: Alignment) -> dict[str, str]:
    """Return what some words require, allow or forbid, with the words that say so."""
    tongue, text = aligned.tongue, _NOT.sub(" not", joined(tokens, aligned.tongue.dense).replace("’", "'"))
    found: dict[str, str] = {}
    for match in tongue.duty.finditer(fold(text)):
        kind = tongue.duties[match[0]]
        behind = text[match.end() :].split()[: _DENIED_BEHIND.get(tongue.code, 0)]
        beside = [] if tongue.dense else [*text[: match.start()].split()[-_DENIED:], *behind]
        if any((marker := tongue.markers.get(fold(word))) and marker.family == "negation" for word in beside):
            kind = _DENIED_IS[kind]
        found.setdefault(kind, text[slice(*match.span())])
    return found


def overstated(aligned: Alignment) -> Iterator[Disagreement]:
    """Yield what a sentence asserts or extends where the passage hedges, limits or counts a part.

    "Has approved" where a decision is expected; "also" where the passage has "not"; nine where it is two of the nine.
    """
    claim, page, tongue = aligned.claim, aligned.page, aligned.tongue
    for place, token in enumerate(page):  # two of the nine members, one of the lanes
        if place in aligned.back or not (isinstance(token.value, Number) or fold_text(token) in tongue.vague):
            continue
        whole = next((at for at in range(len(page))[place + 1 : place + 4] if page[at].kind != "function"), place)
        here = aligned.back.get(whole)
        if here is None or tongue.partitive.isdisjoint(map(fold_text, page[place + 1 : whole])):
            continue
        before = claim[:here][-3:]
        every = next((one for one in before if one.marker and one.marker.kind == "all"), None)
        if every or (page[whole].value is not None and tongue.partitive.isdisjoint(map(fold_text, before))):
            stated = joined(page[place : whole + 1], tongue.dense)
            yield Disagreement(kind="quantifier", claimed=(every or claim[here]).text, stated=stated)
            return
    also = [token for at, token in enumerate(claim) if at not in aligned.pairs and fold_text(token) in tongue.additive]
    guarded = not tongue.hedging.isdisjoint(map(fold_text, claim))
    for place in aligned.home:
        token, form = page[place], fold_text(page[place])
        if place in aligned.back or not token.keys or not is_close(aligned, place):
            continue
        stated = joined(page[place : place + _SHOWN], tongue.dense)
        denies = token.denies or token.key in tongue.denying
        if also and (denies or form in tongue.limiting):
            yield Disagreement(kind="negation", claimed=also[0].text, stated=stated)
            return
        if form in tongue.hedging and not guarded and (sure := _asserts(aligned, form)):
            yield Disagreement(kind="modal", claimed=sure, stated=stated)
            return


def is_close(aligned: Alignment, place: int) -> bool:
    """Return whether a word of the passage is in the clause of one that the sentence has."""
    page = aligned.page
    for way in (1, -1):
        for step in range(1, _CLOSE):
            at = place + way * step
            if not 0 <= at < len(page) or page[max(at, at - way)].breaks:
                break
            if at in aligned.back and page[at].kind in {"word", "number"}:
                return True
    return False


def _asserts(aligned: Alignment, hedge: str) -> str:
    """Return the word of a sentence that states as a fact what the passage hedges; empty if none does."""
    if any(token.marker and token.marker.kind in {"may", "shall", "should"} for token in aligned.claim):
        return ""
    added = (token for at, token in enumerate(aligned.claim) if at not in aligned.pairs)
    sure = aligned.tongue.certain - {hedge}
    return next((token.text for token in added if fold_text(token) in sure), "")


def said_by(aligned: Alignment, marker: Marker, *, of_page: bool = False) -> bool:
    """Return whether the other side says it otherwise: can be, is allowed to be; most, 61 percent."""
    other = aligned.claim if of_page else aligned.page
    if marker.kind == "may" and any(token.marker and token.marker.kind == "under" for token in other):  # up to
        return True
    shares = [one.value.amount for one in other if isinstance(one.value, Number) and one.value.unit == "%"]
    words = aligned.tongue.modal_words.get(marker.kind, frozenset()) if marker.family == "modal" else frozenset()
    said = (aligned.tongue.normal_form(token.text) in words for token in other)
    spans = ((low, high) for kind, low, high in _SHARES if kind == marker.kind)
    return any(low < share < high for low, high in spans for share in shares) or any(said)


def other_days(aligned: Alignment) -> Iterator[Disagreement]:
    """Yield weekdays of which the passage says otherwise: open on Monday, open from Tuesday to Sunday.

    Args:
        aligned: A sentence and its passage. If one of them names weekdays twice, or speaks of what is open and of what
            is closed, nothing can be told.
    """
    home = [aligned.page[at] for at in aligned.home]
    mine, theirs = days_of(aligned.claim, aligned.tongue), days_of(home, aligned.tongue)
    if len(mine) != 1 or len(theirs) != 1:
        return
    (here, first, last), (there, start, stop) = mine[0], theirs[0]
    free = [token.key for at, token in enumerate(aligned.page) if at not in aligned.back]
    lost = [token.key for at, token in enumerate(aligned.claim) if at not in aligned.pairs]
    turns = any(aligned.tongue.are_opposite(one, other) for one, other in itertools.product(lost, free))
    turns ^= any(token.denies for token in aligned.claim) ^ any(token.denies for token in home)
    ranges = max(len(here), len(there)) > 1  # single days are compared as words
    if ranges and ((here & there) if turns else (here - there)):
        stated = joined(home[start : stop + 1], aligned.tongue.dense)
        claimed = joined(aligned.claim[first : last + 1], aligned.tongue.dense)
        yield Disagreement(kind="word", claimed=claimed, stated=stated)


def days_of(tokens: Sequence[WordToken], tongue: Language) -> list[tuple[frozenset[int], int, int]]:
    """Return the weekdays of a text, from 0 for Monday, where they are together, with their first and last token.

    A range has all its days, and "except" all others: Tuesday to Sunday, daily except Monday.
    """
    found: list[tuple[frozenset[int], int, int]] = []
    for at, token in enumerate(tokens):
        day = tongue.weekdays.get(fold(token.text))
        if day is None:
            continue
        days, first = frozenset({day}), at
        before = {fold(one.text) for one in tokens[max(0, at - _EXCEPT) : at]}
        if found and at - found[-1][2] <= _TOGETHER:
            others, first, last = found.pop()
            between = [fold(one.text) for one in tokens[last + 1 : at]]
            to = tongue.weekdays.get(fold(tokens[last].text), day) if not tongue.day_range.isdisjoint(between) else day
            span = frozenset((to + step) % _WEEK for step in range((day - to) % _WEEK + 1))
            days = others | span if len(others) < _WEEK - 1 else others - days
        elif not before.isdisjoint(tongue.excepting):
            days = frozenset(range(_WEEK)) - days
        found.append((days, first, at))
    return found


def other_time(aligned: Alignment) -> Iterator[Disagreement]:
    """Yield a unit of time without a number, if the passage has another one in its place: within an hour, a day."""
    claim, page, home = aligned.claim, aligned.page, aligned.home
    often, there_often = _rates(claim, aligned.tongue), _rates([page[at] for at in home], aligned.tongue)
    if often and there_often and not any(math.isclose(*rates) for rates in itertools.product(often, there_often)):
        yield Disagreement(kind="unit", claimed=next(iter(often.values())), stated=next(iter(there_often.values())))
        return
    mine = _times(claim, range(len(claim)), aligned.tongue)
    theirs = _times(page, home or range(len(page)), aligned.tongue)
    units = {_time_of(page[one], aligned.tongue) for one in theirs}
    for (at, before), (place, there) in itertools.product(mine.items(), theirs.items()):
        same = claim[before].key == page[there].key if home else aligned.to[before] == there
        if same and aligned.to[at] is None and _time_of(claim[at], aligned.tongue) not in units:
            yield Disagreement(kind="unit", claimed=claim[at].text, stated=page[place].text)
            return


def _rates(tokens: Sequence[WordToken], tongue: Language) -> dict[float, str]:
    """Return how many times a second something happens, with the words that say so: daily, twice a week."""
    found: dict[float, str] = {}
    for at, token in enumerate(tokens):
        kind = tongue.rates.get(fold(token.text), "")
        every = token.marker is not None and token.marker.kind == "all"
        unit, last, steps = (kind if kind in UNIT_BASES else ""), at, 1.0
        for place in range(len(tokens))[at + 1 : at + 3] if not unit and (every or kind == "each") else ():
            value = tokens[place].value
            if (unit := value.unit if isinstance(value, Number) else _time_of(tokens[place], tongue)) in _SECONDS:
                last, steps = place, value.amount if isinstance(value, Number) else 1.0
                break
        times, begins = _count(tokens, at, tongue)
        counted = times or any(isinstance(one.value, Number) for one in tokens[max(0, at - _TIMES - 1) : at])
        if unit in _SECONDS and steps and (counted or kind != "each"):
            found.setdefault((times or 1.0) / steps / _SECONDS[unit], joined(tokens[begins : last + 1], tongue.dense))
    return found


def _count(tokens: Sequence[WordToken], at: int, tongue: Language) -> tuple[float, int]:
    """Return how many times something happens, by the words before a period, and the first of them: twice, 3 times."""
    for place in range(at)[-_TIMES:]:
        kind = tongue.rates.get(fold(tokens[place].text), "")
        if kind.isdecimal():
            return float(kind), place
        value = tokens[place - 1].value if place else None
        if kind == "times" and isinstance(value, Number):
            return value.amount, place - 1
    return 0.0, at


def _times(tokens: Sequence[WordToken], places: range, tongue: Language) -> dict[int, int]:
    """Return the units of time without a number, and what is before each and its article."""
    found = {}
    small = tongue.articles | tongue.vague
    for at in places[1:]:
        if tokens[at].breaks or not _time_of(tokens[at], tongue):
            continue
        near = [one for one in range(max(0, at - 3), at) if fold_text(tokens[one]) not in small]
        if near and tokens[near[-1]].value is None:
            found[at] = near[-1]
    return found


def each_time(aligned: Alignment, at: int) -> list[int] | None:
    """Return the other units of time in the passage if "every" belongs to one: every day, per week; None if not."""
    for place in range(len(aligned.claim))[at + 1 : at + 3]:
        unit = _time_of(aligned.claim[place], aligned.tongue)
        if unit or aligned.claim[place].kind != "function" or aligned.tongue.dense:
            times = {at: time for at, token in enumerate(aligned.page) if (time := _time_of(token, aligned.tongue))}
            keys = frozenset(aligned.tongue.keys(aligned.claim[place].text))
            same = any(not keys.isdisjoint(one.keys) for one in aligned.page)  # daily
            if not unit or same or aligned.to[place] is not None or unit in times.values():
                return [] if unit else None
            return [at for at in times if at not in aligned.back] or None
    return None


def _time_of(token: WordToken, tongue: Language) -> str:
    """Return the unit of time that a word is; empty if it is none."""
    unit = tongue.units.get(fold(token.text), "") if token.value is None else ""
    return unit if dimension_of(unit) in {"time", "months"} else ""


def measures(aligned: Alignment, at: int, marker: Marker) -> bool:
    """Return whether a word is about a number behind it, not about things: every 5,000 miles, only 40."""
    behind = list(range(len(aligned.claim))[at + 1 : at + _SCOPE])
    first = next((place for place in behind if aligned.claim[place].kind not in {"function", "marker"}), at)
    told = [one.value for one in aligned.claim[first : at + _SCOPE] if isinstance(one.value, Number)]
    if not isinstance(aligned.claim[first].value, Number):
        return False
    if marker.kind == "all":
        return any(dimension_of(one.unit) in {"time", "months", "length"} for one in told)
    there = aligned.pairs.get(first)
    stated = aligned.page[there].value if there is not None else None
    return marker.kind == "only" and isinstance(stated, Number) and stated.mark != "over"


def prices(aligned: Alignment, first: int, last: int) -> bool:
    """Return whether words only say that an amount of money behind them, which the passage has, is a price: costs £3.

    Args:
        aligned: A sentence and its passage.
        first: The first of the words.
        last: The word after the last.
    """
    here = next((at for at in range(len(aligned.claim))[last:] if aligned.claim[at].kind != "function"), last)
    value = aligned.claim[here].value if here in aligned.pairs else None
    money = isinstance(value, Number) and len(value.unit) == _CURRENCY and not dimension_of(value.unit)
    return money and all(token.key in aligned.tongue.price for token in aligned.claim[first:last])


def excludes(aligned: Alignment) -> bool:
    """Return whether one side denies what the other limits or delays: no show without music, not until May."""
    if _delays(aligned):
        return True
    home = aligned.home or range(len(aligned.page))
    page = [aligned.page[at] for at in home]
    limits = {token.marker.kind for token in page if token.marker} & {"all", "only"}
    said = {token.marker.kind for token in aligned.claim if token.marker}
    denials = [at for at, token in enumerate(aligned.claim) if token.denies]
    twice = (
        "all" in limits
        and len(denials) == 2
        and aligned.tongue.nor.isdisjoint(fold_text(aligned.claim[at]) for at in denials)
    )
    barred = "only" in limits and len(denials) == 1 and _permits(aligned, denials[0])
    return (twice or barred) and limits.isdisjoint(said) and not any(token.denies for token in page)


def _delays(aligned: Alignment) -> bool:
    """Return whether a denial on one side, and only there, only says when something began: not until May."""
    until = aligned.tongue.until
    for tokens, others in ((aligned.claim, aligned.page), (aligned.page, aligned.claim)):
        denials = [at for at, token in enumerate(tokens) if token.denies]
        if len(denials) == 1 and not any(token.denies for token in others):
            behind = {fold_text(token) for token in tokens[denials[0] + 1 : denials[0] + 1 + _NEAR]}
            earlier = until | aligned.tongue.earlier
            if not until.isdisjoint(behind) and earlier.isdisjoint(map(fold_text, others)):
                return True
    return False


def _permits(aligned: Alignment, at: int) -> bool:
    """Return whether a permission is beside a word."""
    words = aligned.tongue.modal_words.get("may", frozenset())
    near = aligned.claim[max(0, at - _DENIED) : at + _DENIED + 1]
    return any((token.marker and token.marker.kind == "may") or token.key in words for token in near)
