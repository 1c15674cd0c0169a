"""Numbers and dates of a sentence, as values."""

from __future__ import annotations

import math
import re
from dataclasses import dataclass
from typing import Final

from groundwire.citations.verify.vocabulary import MONTHS, NUMBER_WORDS, SCALES, UNITS
from groundwire.citations.verify.words import DENSE

__all__ = ["Date", "Number", "dates_of", "numbers_of", "same_date", "same_number"]


@dataclass(frozen=True, slots=True)
class Number:
    """A number as it stands in a sentence."""

    text: str
    """As it is written, with what scales it."""
    values: tuple[float, ...]
    """What it may be: 1.234 may be a thousand and more, or one and some."""
    unit: str
    """What is counted, in one spelling, when it is a unit that is known."""
    rounded: bool
    """Whether it says itself that it is not exact."""
    start: int
    """Its first code point."""
    end: int
    """The code point after its last."""


@dataclass(frozen=True, slots=True)
class Date:
    """A date as it stands in a sentence."""

    text: str
    """As it is written."""
    readings: tuple[tuple[int | None, int | None, int | None], ...]
    """What it may be, as year, month, day: 3/4/2020 has two readings."""
    start: int
    """Its first code point."""
    end: int
    """The code point after its last."""


_LETTERS: Final = frozenset({"k", "m", "b"})  # scales only behind a currency sign, or without a space
_TENS: Final = "|".join(word for word, value in NUMBER_WORDS.items() if value >= 20)
_ONES: Final = "|".join(word for word, value in NUMBER_WORDS.items() if 1 <= value < 10)
_DIGITS: Final = (
    r"\d+(?:\.\d+){3,}|\d+\.\d{1,2}\.\d+|\d+(?:[.,'’ \u00a0\u202f]\d{3})+(?:[.,]\d+)?(?!\d)|\d+(?:[.,]\d+)?"
)
_IN_WORDS: Final = rf"(?:{_TENS})[- ](?:{_ONES})|{'|'.join(NUMBER_WORDS)}"
_NUMBER: Final = re.compile(
    rf"(?P<sign>[$€£¥₹])?[ ]?(?<![^\W{DENSE}])(?<![.,])(?P<minus>[-−](?=\d))?(?P<digits>{_DIGITS})(?:st|nd|rd|th)?"
    r"(?P<gap>[ \u00a0\u202f-]?)(?P<after>%|°[CF]|km/h|[^\W\d_]+\.?)?"
    rf"|\b(?P<words>(?:{_IN_WORDS})|(?:a|half a)(?= (?:million|billion|thousand|hundred|dozen)))\b"
    r"(?:[ -](?P<wafter>[^\W\d_]+|%))?",
    re.IGNORECASE,
)
_DIGIT: Final = re.compile(r"\d")
_ROUNDED: Final = re.compile(
    r"\b(?:about|around|roughly|approximately|approx\.?|some|nearly|almost|circa|ca\.|over|under|more than|less than|"
    r"fewer than|up to|at least|at most|close to|just over|just under)[ ]+(?:[$€£¥₹])?$|[~≈]$",
    re.IGNORECASE,
)
_MONTH: Final = "|".join(sorted(MONTHS, key=len, reverse=True))
_DATE: Final = re.compile(
    rf"\b(?P<y1>\d{{4}})-(?P<m1>\d{{2}})-(?P<d1>\d{{2}})(?!\d)"
    rf"|\b(?P<d2>\d{{1,2}})(?:st|nd|rd|th|\.)?(?: of| de)? (?P<m2>{_MONTH})\.?(?:,? (?:de )?(?P<y2>\d{{4}}))?\b"
    rf"|\b(?P<m3>{_MONTH})\.? (?P<d3>\d{{1,2}})(?:st|nd|rd|th)?(?!\d)(?:,? (?P<y3>\d{{4}}))?\b"
    rf"|\b(?P<m4>{_MONTH})\.?,? (?:of |de )?(?P<y4>\d{{4}})\b"
    r"|\b(?P<a5>\d{1,2})(?P<sep>[/.])(?P<b5>\d{1,2})(?P=sep)(?P<y5>\d{4})(?!\d)"
    r"|(?P<y6>\d{4})年(?:(?P<m6>\d{1,2})月(?:(?P<d6>\d{1,2})日)?)?",
    re.IGNORECASE,
)


def dates_of(text: str) -> list[Date]:
    """Return the dates in a text that name at least a month, in order."""
    found: list[Date] = []
    if not _DIGIT.search(text):
        return found
    for match in _DATE.finditer(text):
        group = match.groupdict()
        readings: tuple[tuple[int | None, int | None, int | None], ...]
        if group["a5"]:
            year, one, two = int(group["y5"]), int(group["a5"]), int(group["b5"])
            orders = ((two, one), (one, two)) if one != two else ((one, two),)
            readings = tuple((year, month, day) for month, day in orders if 1 <= month <= 12 and 1 <= day <= 31)
        else:
            kind = next(number for number in "12346" if group.get(f"m{number}") or group.get(f"y{number}"))
            month = group.get(f"m{kind}") or ""
            readings = (
                (
                    _integer(group.get(f"y{kind}")),
                    int(month) if month.isdecimal() else MONTHS.get(month.lower()),
                    _integer(group.get(f"d{kind}")),
                ),
            )
        if readings:
            found.append(Date(match[0], readings, match.start(), match.end()))
    return found


def same_date(claimed: Date, stated: Date) -> bool:
    """Tell whether a date that is claimed is the one that is stated, or less exact than it."""
    return any(
        all(part is None or part == other for part, other in zip(one, two, strict=True))
        for one in claimed.readings
        for two in stated.readings
    )


def numbers_of(text: str) -> list[Number]:
    """Return the numbers in a text, in digits and in English words, in order."""
    found = []
    for match in _NUMBER.finditer(text):
        begins = match.start("digits") if match["digits"] else match.start("words")
        rounded = bool(_ROUNDED.search(text, max(0, begins - 17), begins))
        if match["digits"]:
            found.append(_in_digits(match, rounded))
        else:
            found.append(_in_words(match, rounded))
    return found


def same_number(claimed: Number, stated: Number) -> bool:
    """Tell whether a number that is claimed is the one that is stated, or that one rounded as it says."""
    for one in claimed.values:
        for two in stated.values:
            if abs(one - two) <= 1e-12 * max(abs(one), abs(two)):
                return True
            scaled = claimed.rounded or (len(claimed.values) == 1 and one >= 1e5 and claimed.text[-1].isalpha())
            if scaled and two and abs(one - two) <= _half_a_digit(claimed, one):
                return True
    return False


def _half_a_digit(number: Number, value: float) -> float:
    """Return by how much a rounded number may be off: half of its last digit that counts."""
    digits = re.sub(r"\D", "", number.text).lstrip("0").rstrip("0") or "1"
    if not value:
        return 0.5
    magnitude = math.floor(math.log10(abs(value)))
    return 0.50005 * math.pow(10.0, magnitude - len(digits) + 1)


def _in_digits(match: re.Match[str], rounded: bool) -> Number:
    digits, after, gap = match["digits"], (match["after"] or "").rstrip("."), match["gap"]
    values = _readings(digits)
    if match["minus"]:
        values = tuple(-value for value in values)
    word, end = after.lower(), match.end("digits")
    scale = SCALES.get(word) if word not in _LETTERS or not gap or match["sign"] else None
    if word in _LETTERS and not match["sign"] and scale is not None and (word == "m" or gap):
        scale = None
    unit = UNITS.get(match["sign"] or "", "")
    if scale is not None:
        values, end = tuple(value * scale for value in values), match.end("after")
    elif not unit:
        unit = UNITS.get(word, "") if word != "in" else ""
        if unit == "%":
            end = match.end("after")
    start = match.start("sign") if match["sign"] else match.start("digits")
    return Number(match.string[start:end], values, unit, rounded, start, end)


def _in_words(match: re.Match[str], rounded: bool) -> Number:
    parts = re.split(r"[ -]", match["words"].lower())
    value = {"half": 0.5, "a": 1.0}.get(parts[0]) or sum(NUMBER_WORDS[part] for part in parts)
    after, end, unit = (match["wafter"] or "").lower(), match.end("words"), ""
    if after in SCALES and after not in _LETTERS:
        value, end = value * SCALES[after], match.end("wafter")
    else:
        unit = UNITS.get(after, "") if after != "in" else ""
    start = match.start("words")
    return Number(match.string[start:end], (value,), unit, rounded, start, end)


def _readings(digits: str) -> tuple[float, ...]:
    """Return what digits with points and commas may mean."""
    parts = digits.split(".")
    if len(parts) > 2 and "".join(parts).isdecimal() and any(len(part) != 3 for part in parts[1:]):
        return (float("".join(f"{int(part):05}" for part in parts[:3])),)  # a version such as 3.12.4
    bare = re.sub(r"['’ \u00a0\u202f]", "", digits)
    points, commas = bare.count("."), bare.count(",")
    if points and commas:
        decimal = max(bare.rfind("."), bare.rfind(","))
        return (float(re.sub(r"[.,]", "", bare[:decimal]) + "." + bare[decimal + 1 :]),)
    if not points and not commas:
        return (float(bare),)
    separator = "." if points else ","
    head, _, tail = bare.rpartition(separator)
    if points + commas > 1:
        return (float(bare.replace(separator, "")),)
    decimal_value = float(f"{head}.{tail}")
    if len(tail) != 3:
        return (decimal_value,)
    whole = float(head + tail)
    return (whole, decimal_value) if separator == "," else (decimal_value, whole)


def _integer(text: str | None) -> int | None:
    return int(text) if text else None
