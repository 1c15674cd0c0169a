"""Names, dates and negations in a sentence, and numbers that follow from others."""

from __future__ import annotations

import itertools
import math
import re
from collections.abc import Mapping, Sequence
from dataclasses import dataclass, replace
from types import MappingProxyType
from typing import ClassVar, Final

from groundwire.citations.verify.language_packs import UNIT_BASES, Language, dimension_of, fold, language, months_of_all
from groundwire.citations.verify.quantities import Number
from groundwire.citations.verify.segmentation import CONTENT_WORD, words_of

__all__ = [
    "Date", "Denial", "Name", "comparable", "dates_of", "denied", "distance", "is_derived",
    "is_like", "is_vague", "is_year", "names_of", "same_date", "same_number", "same_quantity", "small_count",
]  # fmt: skip


_ONE: Final = Number("", (1.0,), "", "", 0, 0)
_LEAST: Final = 10  # a smaller sum may equal a number by chance
_TERMS: Final = 12  # numbers of one unit whose sums are looked at
_ALIKE: Final = 10  # times that a number without a unit may be larger than one that it replaces
_BOUND: Final = 0.1  # share of a bound by which a number may exceed it
_RATIO: Final = 0.1  # share of a ratio by which it may be rounded
_CLOSE: Final = 0.005  # difference of two equal shares
_MONTH_DAYS: Final = 31
_CURRENCY: Final = 3  # letters of its code
_COUNTED: Final = 20  # largest count of items that is written in words
_DAYS: Final[Mapping[str, int]] = MappingProxyType({"day": 1, "week": 7})
_YEARS: Final[Mapping[str, int]] = MappingProxyType({"year": 1, "decade": 10})


@dataclass(frozen=True, slots=True)
class Name:
    """A name in a sentence: consecutive capitalized words."""

    text: str
    """As it is written."""
    words: tuple[str, ...]
    """Its words in normal form."""
    first: bool
    """Whether it is at the start of the sentence, where every word is capitalized."""
    start: int
    """Its first code point."""
    end: int
    """The code point after its last."""


@dataclass(frozen=True, slots=True)
class Denial:
    """The scope of a "no" or "not"."""

    text: str
    """The negation."""
    near: frozenset[str]
    """The three words after it, in normal form."""
    wide: frozenset[str]
    """The words around it."""


_SCOPE: Final = 80  # characters after a negation in which its scope is searched
_WORD: Final = r"[^\W\d_]+(?:['’.-][^\W\d_]+)*"
_WORDS: Final = re.compile(rf"{_WORD}|\d[\d.,]*")
_BREAK: Final = re.compile(r"[.!?:;,()\"“”«»\[\]|/\n–—•]")
_STARTS: Final = re.compile(r"[.!?:•|]\s*[\"“*]*$")
_PAUSES: Final = frozenset(";:؛")
_NO_MORE: Final = re.compile(r"\s+(?:more than|less than|fewer than|later than|earlier than)\b", re.IGNORECASE)
_CLAUSE_ENDS: Final = re.compile(r"[^\W\d_].*?(?P<end>[,;:،؛]\s|\s[–—]\s)")


def names_of(text: str, tongue: Language | None = None) -> list[Name]:
    """Return the names in a sentence, in order; none in scripts without capitals.

    Args:
        text: The sentence.
        tongue: Its language, by default English. In languages that capitalize every noun, a name has two words.
    """
    tongue = tongue or language("en")
    found: list[Name] = []
    run: list[re.Match[str]] = []
    previous_end, first_of_run = 0, True

    def close() -> None:
        words = tuple(tongue.normal_form(part) for word in run for part in CONTENT_WORD.findall(word[0]))
        found.append(Name(text[run[0].start() : run[-1].end()], words, first_of_run, run[0].start(), run[-1].end()))
        run.clear()

    for at, word in enumerate(_WORDS.finditer(text)):
        gap, form = text[previous_end : word.start()], word[0]
        if run and (len(gap) > 2 or _BREAK.search(gap)):
            close()
        previous_end = word.end()
        is_capital = form[0].isupper() and fold(form) not in tongue.not_names
        if is_capital:
            starts = not at or (gap != " " and _STARTS.search(gap) is not None)
            every = starts and fold(form) in tongue.markers  # every, most
            is_capital = not every and not (tongue.is_function(form) and (starts or form[1:].islower()))
        if is_capital:
            if not run:
                first_of_run = starts
            run.append(word)
        elif run:
            close()
    if run:
        close()
    return [name for name in found if len(name.words) > 1] if tongue.nouns else found


def is_like(word: str, other: str) -> bool:
    """Return whether two words of names are the same except for an ending: Germany and German."""
    if word == other:
        return True
    short, long = sorted((word, other), key=len)
    return len(short) >= 4 and len(long) - len(short) <= 3 and long.startswith(short)


def denied(text: str, tongue: Language | None = None) -> list[Denial]:
    """Return what a sentence denies: the words that follow each "no" or "not"."""
    tongue = tongue or language("en")
    found: list[Denial] = []
    if tongue.dense:
        return found
    for negation in tongue.negation.finditer(fold(text)):
        if not negation["denies"] or _NO_MORE.match(text, negation.end()):
            continue
        scope = "" if text[negation.end() :][:1] in _PAUSES else text[negation.end() : negation.end() + _SCOPE]
        ends = _CLAUSE_ENDS.search(scope)
        near = words_of(scope[: ends.start("end")] if ends else scope, tongue)
        before = words_of(text[: negation.start()][-_SCOPE // 2 :], tongue)
        shown = " ".join(text[negation.start() : negation.end() + _SCOPE].split()[:6])
        found.append(Denial(shown, frozenset(near[:3]), frozenset(near[:6] + before[-3:])))
    return found


@dataclass(frozen=True, slots=True)
class Date:
    """A date as written in a sentence."""

    text: str
    """The date as written."""
    readings: tuple[tuple[int | None, int | None, int | None], ...]
    """Its possible values, as year, month, day: 3/4/2020 has two readings."""
    start: int
    """Its first code point."""
    end: int
    """The code point after its last."""
    telling: ClassVar[bool] = True
    """That it identifies what it is said of."""


_MONTH: Final = "|".join(months_of_all())
_DATE: Final = re.compile(
    r"\b(?P<y1>\d{4})-(?P<m1>\d{2})-(?P<d1>\d{2})(?!\d)"
    rf"|\b(?P<d2>\d{{1,2}})(?:st|nd|rd|th|er|\.)?(?: of| de)? (?P<m2>{_MONTH})\.?(?:,? (?:de |del )?(?P<y2>\d{{4}}))?\b"
    rf"|\b(?P<m3>{_MONTH})\.? (?P<d3>\d{{1,2}})(?:st|nd|rd|th)?(?!\d)(?:,? (?P<y3>\d{{4}}))?\b"
    rf"|\b(?P<m4>{_MONTH})\.?,? (?:of |de )?(?P<y4>\d{{4}})\b"
    r"|\b(?P<a5>\d{1,2})(?P<sep>[/.])(?P<b5>\d{1,2})(?P=sep)(?P<y5>\d{4})(?!\d)"
    rf"|\b(?:end of |ende |fin (?:de |d['’])|finales de |fim de )(?P<m9>{_MONTH})\b(?!,? (?:de )?\d)"
    r"|(?:\b(?:thru|until|till|ends|expires) )(?P<a8>\d{1,2})/(?P<b8>\d{1,2})(?![/\d])"
    r"|(?P<y6>\d{4})年(?:(?P<m6>\d{1,2})月(?:(?P<d6>\d{1,2})日)?)?|(?<!\d)(?P<m7>\d{1,2})月(?P<d7>\d{1,2})日",
    re.IGNORECASE,
)
_DIGIT: Final = re.compile(r"\d")
_TOKEN: Final = re.compile(r"\w+")
_IN_DIGITS: Final = re.compile(r"\d{4}-\d{2}-\d|\d([/.])\d{1,2}\1\d{4}|\d[年月]|(?:thru|until|till|s) \d{1,2}/\d")
_ENDS: Final = re.compile(r"\b(?:end of|ende|fin|finales|fim) ", re.IGNORECASE)
_MONTH_BEGINS: Final = frozenset(name.partition(" ")[0].casefold() for name in months_of_all())


def dates_of(text: str) -> list[Date]:
    """Return the dates in a text with at least a month, in order."""
    found: list[Date] = []
    if not (_DIGIT.search(text) or _ENDS.search(text)) or (
        _MONTH_BEGINS.isdisjoint(_TOKEN.findall(text.casefold())) and not _IN_DIGITS.search(text)
    ):
        return found
    names = months_of_all()
    for match in _DATE.finditer(text):
        group = match.groupdict()
        readings: tuple[tuple[int | None, int | None, int | None], ...]
        if group["a5"] or group["a8"]:
            year, *days = (int(one) if one else None for one in match.group("y5", "a5", "b5", "a8", "b8"))
            one, two = (day for day in days if day is not None)
            orders = ((two, one), (one, two)) if one != two else ((one, two),)
            readings = tuple((year, month, day) for month, day in orders if 1 <= month <= 12 and day)
        else:
            kind = next(number for number in "1234679" if group.get(f"m{number}") or group.get(f"y{number}"))
            name = group.get(f"m{kind}") or ""
            readings = (
                (
                    int(group.get(f"y{kind}") or 0) or None,
                    int(name) if name.isdecimal() else names.get(name.lower()),
                    int(group.get(f"d{kind}") or 0) or None,
                ),
            )
        if readings and (readings[0][2] or 1) <= 31:
            begin = match.start("a8") if group["a8"] else match.start()
            found.append(Date(text[begin : match.end()], readings, begin, match.end()))
    return found


def same_date(claimed: Date, stated: Date) -> bool:
    """Return whether a claimed date equals the stated one, or is less precise."""
    return any(
        all(part is None or part == other for part, other in zip(one, two, strict=True))
        for one in claimed.readings
        for two in stated.readings
    )


def is_derived(
    number: Number,
    figures: tuple[Sequence[Number], ...],
    dates: Sequence[Date],
    words: Sequence[str],
    tongue: Language,
    behind: Sequence[str] = (),
) -> bool:
    """Return whether a number follows from others: two years after 2009, from 1962 to 1970, 240 of 1,600 as 15 %.

    Args:
        number: The number.
        figures: The numbers of its sentence, of the passage, and of the passage with the sentences around it.
        dates: The dates of these.
        words: Their words, folded.
        tongue: Their language.
        behind: The words behind the number: five times.
    """
    told, stated, near = figures
    value = number.amount
    if any(tongue.rates.get(one) == "times" for one in behind):
        pairs = itertools.permutations([one.amount for one in stated if not is_year(one)][:_TERMS], 2)
        return any(two and abs(one / two - value) <= _RATIO * value for one, two in pairs)
    units = {tongue.units.get(two, "") for one, two in itertools.pairwise(words) if one in tongue.vague} - {""}
    if (value == 1 and number.unit in units) or any(same_quantity(number, replace(_ONE, unit=one)) for one in units):
        return True  # a year
    if not is_year(number) and number.unit not in _YEARS:
        return _is_share(number, told, stated, near) or _is_sum(number, told, stated)
    years = {other.amount for other in near if is_year(other)}
    years |= {float(year) for date in dates for year, _, _ in date.readings if year}
    if not is_year(number):
        return any(abs(one - two) == value * _YEARS[number.unit] for one in years for two in years)
    for way, said in ((1, tongue.later), (-1, tongue.earlier)):
        if said.isdisjoint(words):
            continue
        steps = [other.amount * _YEARS[other.unit] for other in near if other.unit in _YEARS]
        if any(one in said and tongue.units.get(two) == "year" for one, two in itertools.pairwise(words)):
            steps.append(1.0)
        if any(year + way * step == value for year in years for step in steps):
            return True
    return False


def _is_share(number: Number, told: Sequence[Number], stated: Sequence[Number], near: Sequence[Number]) -> bool:
    """Return whether a number is a share of others, or a discount: half of 12, 240 of 1,600 as 15 %, $20 for $25."""
    value = number.amount
    plain = [one.amount for one in stated if not is_year(one)][:_TERMS]
    if number.unit == "%":
        shares = [100 * one / two for one, two in itertools.permutations(plain, 2) if two and one < two]
        prices = itertools.permutations([one for one in near if len(one.unit) == _CURRENCY][:_TERMS], 2)
        shares += [100 - 100 * one.amount / two.amount for one, two in prices if one.amount < two.amount]
        return any(abs(share - value) < (0.5 if value == int(value) else 0.05) for share in shares)
    shares = [one.amount / 100 for one in stated if one.unit == "%"]
    wholes = [one.amount for one in stated if one.unit == number.unit]
    if any(math.isclose(share * whole, value) for share in shares for whole in wholes):
        return True
    pairs = itertools.pairwise(told if shares else ())
    parts = [(one.amount, two.amount) for one, two in pairs if number in {one, two}]
    return any(0 < one < two and abs(one / two - share) < _CLOSE for one, two in parts for share in shares)


def _is_sum(number: Number, told: Sequence[Number], stated: Sequence[Number]) -> bool:
    """Return whether a number is the sum or the difference of two others: 58 and 13 million, an hour and 40 minutes."""
    dimension, base = UNIT_BASES.get(number.unit, ("", 1.0))
    if not number.unit:
        return False
    value = number.amount * base
    terms = [
        other.amount * (UNIT_BASES[other.unit][1] if other.unit in UNIT_BASES else base)
        for other in stated
        if other.unit == number.unit
        or (dimension and dimension_of(other.unit) == dimension)
        or (not other.unit and other.amount >= _LEAST and not is_year(other))
    ]
    if number.unit in _DAYS:  # from 4 to 17 August, both included or not
        days = [other.amount for other in stated if not other.unit and other.amount <= _MONTH_DAYS]
        span = number.amount * _DAYS[number.unit]
        if any(last - first in {span, span - 1} for first in days for last in days):
            return True
    said = [one.amount * base for one in told]
    return any(
        math.isclose(abs(total), value)
        for one, two in itertools.combinations(terms[:_TERMS], 2)
        if (one in said) == (two in said)  # else the other end of a range
        for total in (one + two, one - two)
    )


def comparable(one: Number, other: Number) -> bool:
    """Return whether two numbers may stand for each other: both years, of one unit, or of similar size."""
    if is_year(one) != is_year(other):
        return False
    low, high = sorted((abs(one.amount), abs(other.amount)))
    if not other.unit:
        return one.unit not in {"%", "usd", "eur", "gbp"} and high <= _ALIKE * low
    return one.unit == other.unit or "" != dimension_of(one.unit) == dimension_of(other.unit)


def is_vague(number: Number) -> bool:
    """Return whether a number is a figure of speech: one of, two sides."""
    return number.amount == 1 and (number.text.isalpha() or dimension_of(number.unit) in {"time", "months"})


def is_year(number: Number) -> bool:
    """Return whether a number looks like a year: four digits without a unit."""
    return not number.unit and len(number.text) == 4 and number.text.isdecimal()


def same_number(claimed: Number, stated: Number) -> bool:
    """Return whether a claimed number equals the stated one, is a rounding or a bound of it, or a range around it."""
    if claimed.span and not stated.span and stated.unit == claimed.unit and not is_year(stated):
        return claimed.span[0] <= stated.amount <= claimed.span[1]
    for one in claimed.values:
        for two in stated.values:
            if math.isclose(one, two, rel_tol=1e-12):
                return True
            scaled = claimed.rounded or (len(claimed.values) == 1 and one >= 1e5 and claimed.text[-1].isalpha())
            if scaled and two and _on_side(claimed, one, two) and abs(one - two) <= _tolerance(claimed, stated, one):
                return True
    return False


def same_quantity(claimed: Number, stated: Number) -> bool:
    """Return whether two numbers with units are the same quantity: 2 tonnes and 2,000 kg, 5 miles and 8 km."""
    one, other = UNIT_BASES.get(claimed.unit), UNIT_BASES.get(stated.unit)
    if one is None or other is None or one[0] != other[0] or claimed.unit == stated.unit:
        return False
    factor = other[1] / one[1]
    power = math.log10(factor)
    steps = (10 ** round(power), 7, 12, 24, 60)
    related = any(math.isclose(ratio, step) for ratio in (factor, 1 / factor) for step in steps)
    value, converted = claimed.amount, stated.amount * factor
    if math.isclose(value, converted, rel_tol=1e-6):
        return True
    loose = claimed.rounded or stated.rounded or not related
    return loose and _on_side(claimed, value, converted) and abs(value - converted) <= _half_a_digit(claimed, value)


def _on_side(claimed: Number, value: float, stated: float) -> bool:
    """Return whether a number is on the side of a bound that is claimed: more than 40 is not 39, nearly 40 not 41."""
    if claimed.mark in {"under", "nearly"}:
        return stated <= value
    return claimed.mark != "over" or stated >= value


def _tolerance(claimed: Number, stated: Number, value: float) -> float:
    """Return how far a number may be from a claimed one: a bound is round in its last digit, or within a tenth."""
    half = _half_a_digit(claimed, value)
    exact = claimed.mark not in {"over", "under"} or stated.rounded or is_year(claimed)
    return half if exact else max(2 * half, _BOUND * abs(value))


def _half_a_digit(number: Number, value: float) -> float:
    """Return the tolerance of a rounded number: half of its last significant digit."""
    digits = re.sub(r"\D", "", number.text).lstrip("0").rstrip("0") or "1"
    if not value or not math.isfinite(value):
        return 0.5
    magnitude = math.floor(math.log10(abs(value)))
    return 0.50005 * math.pow(10.0, magnitude - len(digits) + 1)


def small_count(number: Number) -> int:
    """Return a small number in words, as an author counts what a page lists: six shows; -1 for others."""
    return int(number.amount) if number.text.isalpha() and not number.unit and 1 < number.amount <= _COUNTED else -1


def distance(one: Number, other: Number) -> float:
    """Return how far two numbers are from each other, the nearest being the likeliest to replace one."""
    low, high = one.amount, other.amount
    return abs(low - high) / (abs(low) + abs(high) or 1.0) + (one.unit != other.unit)
