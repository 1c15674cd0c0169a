"""When and how often: the periods, rates, and weekdays that a sentence and its passage name."""

from __future__ import annotations

import itertools
import math
from collections.abc import Iterator, Mapping, Sequence
from types import MappingProxyType
from typing import Final

from groundwire.citations.verify.alignment import Alignment, WordToken, home_of
from groundwire.citations.verify.argument_roles import fold_text, joined
from groundwire.citations.verify.language_packs import UNIT_BASES, Language, dimension_of, fold
from groundwire.citations.verify.quantities import Number
from groundwire.citations.verify.report import Disagreement

__all__ = ["each_time", "other_days", "other_time"]

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


def other_days(aligned: Alignment) -> Iterator[Disagreement]:
    """Yield weekdays of which the passage says otherwise: open on Monday, open from Tuesday to Sunday.

    Args:
        aligned: A sentence and its passage. If one of them names weekdays twice, or speaks of what is open and of what
            is closed, nothing can be told.
    """
    home = [aligned.page[at] for at in home_of(aligned)]
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
    claim, page, home = aligned.claim, aligned.page, home_of(aligned)
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
        near = [one for one in range(max(0, at - 3), at) if fold_text(tokens[one]) not in small]
        if near and tokens[near[-1]].value is None and not tokens[at].breaks and _time_of(tokens[at], tongue):
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
