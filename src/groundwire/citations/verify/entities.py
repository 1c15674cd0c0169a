"""Names, negations and quotations in a sentence.

Numbers and dates of a sentence, as values.
"""

from __future__ import annotations

import math
import re
from dataclasses import dataclass
from typing import Final

from groundwire.citations.verify.segmentation import CONTENT_WORD, DENSE, TextSpan, normal_form, words_of
from groundwire.citations.verify.vocabulary import (
    DENYING,
    FUNCTION_WORDS,
    MONTHS,
    NO_NAMES,
    NUMBER_WORDS,
    SCALES,
    UNITS,
)

__all__ = [
    "Date",
    "Denial",
    "Name",
    "Number",
    "dates_of",
    "denied",
    "is_like",
    "names_of",
    "numbers_of",
    "quotes_of",
    "same_date",
    "same_number",
]


@dataclass(frozen=True, slots=True)
class Name:
    """A name as it stands in a sentence: words that begin with a capital, one after the other."""

    text: str
    """As it is written."""
    words: tuple[str, ...]
    """Its words in normal form."""
    first: bool
    """Whether it begins the sentence, where every word has a capital."""
    start: int
    """Its first code point."""
    end: int
    """The code point after its last."""


@dataclass(frozen=True, slots=True)
class Denial:
    """What a "no" or "not" denies."""

    text: str
    """How it begins."""
    near: frozenset[str]
    """The three words after it, in normal form."""
    wide: frozenset[str]
    """The words around it."""


_SCOPE: Final = 80  # characters after a negation in which its words are looked for
_WORD: Final = r"[^\W\d_]+(?:['’.-][^\W\d_]+)*"
_WORDS: Final = re.compile(rf"{_WORD}|\d[\d.,]*")
_BREAK: Final = re.compile(r"[.!?:;,()\"“”«»\[\]|/\n–—•]")
_NEGATION: Final = re.compile(
    r"\b(?:not|never|no longer|no|none|nobody|nothing|nowhere|neither|nor|without|cannot|hardly|barely)\b|n['’]t\b"
    r"|\b(?:fail(?:s|ed)? to|lack(?:s|ed)?)\b"
    r"|\b(?:nicht|kein\w{0,2}|nie|niemals|ohne|pas|jamais|aucune?|sans|ninguna?|nunca|jamás|sin|nessun\w?|senza)\b",
    re.IGNORECASE,
)
_START: Final = re.compile(r"[^\W\d_]{1,5}")  # of words: what denies is looked for before the slower rule
_NOT_ONLY: Final = re.compile(r"\s+only\b", re.IGNORECASE)
_QUOTES: Final = re.compile(
    r"“([^”\n]{2,1000})”|«([^»\n]{2,1000})»|„([^“”\n]{2,1000})[“”]|(?<!\w)\"([^\"\n]{2,1000})\"(?!\w)|「([^」\n]{2,1000})」|『([^』\n]{2,1000})』"
)
_QUOTED_WORDS: Final = 3  # fewer are a title or a term
_QUOTED_SIGNS: Final = 6  # the same in a script without spaces


def names_of(text: str) -> list[Name]:
    """Return the names in a sentence, in order; in scripts without capitals there are none to be seen."""
    found: list[Name] = []
    run: list[re.Match[str]] = []
    previous_end, first_of_run = 0, True
    begun = False

    def close() -> None:
        if run:
            words = tuple(normal_form(part) for word in run for part in CONTENT_WORD.findall(word[0]))
            found.append(Name(text[run[0].start() : run[-1].end()], words, first_of_run, run[0].start(), run[-1].end()))
            run.clear()

    for word in _WORDS.finditer(text):
        gap = text[previous_end : word.start()]
        if run and (_BREAK.search(gap) or len(gap) > 2):
            close()
        previous_end = word.end()
        is_capital = word[0][0].isupper() and word[0].lower() not in NO_NAMES
        starts = not begun or bool(re.search(r"[.!?:•|]\s*[\"“*]*$", gap))
        begun = True
        if is_capital and not (
            word[0].lower() in FUNCTION_WORDS and (starts or (len(word[0]) > 1 and word[0][1:].islower()))
        ):
            if not run:
                first_of_run = starts
            run.append(word)
        else:
            close()
    close()
    return found


def is_like(word: str, other: str) -> bool:
    """Tell whether two words of names are one, up to an ending: Germany and German."""
    if word == other:
        return True
    short, long = sorted((word, other), key=len)
    return len(short) >= 4 and len(long) - len(short) <= 3 and long.startswith(short)


def denied(text: str) -> list[Denial]:
    """Return what a sentence denies: for each "no" or "not" the words that follow it."""
    found: list[Denial] = []
    if DENYING.isdisjoint(_START.findall(text.lower())):
        return found
    for negation in _NEGATION.finditer(text):
        if _NOT_ONLY.match(text, negation.end()):
            continue
        words = words_of(text[negation.end() : negation.end() + _SCOPE])
        before = words_of(text[max(0, negation.start() - _SCOPE // 2) : negation.start()])
        shown = " ".join(text[negation.start() : negation.end() + _SCOPE // 2].split()[:6])
        found.append(Denial(shown, frozenset(words[:3]), frozenset(words[:6] + before[-3:])))
    return found


def quotes_of(text: str) -> list[TextSpan]:
    """Return where a sentence quotes, without the marks around it; a word or two are no quotation."""
    spans = []
    for found in _QUOTES.finditer(text):
        group = found.lastindex or 0
        words = found[group].split()
        if len(words) >= _QUOTED_WORDS or (
            not found[group].isascii() and len(words) == 1 and len(found[group]) >= _QUOTED_SIGNS
        ):
            spans.append(TextSpan(*found.span(group)))
    return spans


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
    if not value or not math.isfinite(value):
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
