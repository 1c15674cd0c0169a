"""The words of a sentence as they are compared: numbers as values with their units, dates as what is known of them."""

from __future__ import annotations

import re
from collections.abc import Iterator, Mapping, Sequence
from typing import Final, Literal, NamedTuple

from groundwire.citations.segmentation import DENSE
from groundwire.citations.verify.language_data import Language, fold, unit_size


class Date(NamedTuple):
    """What a text tells of a date."""

    years: tuple[int, int] | None = None
    """The first and the last year that it may be in."""
    month: int | None = None
    """The month."""
    day: int | None = None
    """The day of the month."""


_UNKNOWN: Final = Date()


class ValueToken(NamedTuple):
    """A word, a number with its unit, a date or a negation."""

    kind: Literal["word", "number", "date", "negation"]
    """What it is."""
    key: str
    """What two equal words have in common."""
    start: int
    """Its first code point in the text."""
    end: int
    """The code point after its last."""
    values: tuple[float, ...] = ()
    """What a number may be: 1.234 is one and a bit or more than a thousand."""
    unit: str = ""
    """The unit of a number, in one spelling; empty if none is known."""
    date: Date = _UNKNOWN
    """What is known of a date."""


_NUMBER: Final = r"\d+(?:[,.'’ \u00a0\u202f]\d{3})+(?:[.,]\d+)?(?!\d)|\d+(?:[.,:٫]\d+)*"
_TOKEN: Final = re.compile(
    rf"(?P<iso>\b[12]\d{{3}}-[01]\d-[0-3]\d\b)|(?P<dotted>\b[0-3]?\d[./][01]?\d[./](?:19|20)\d\d\b)"
    rf"|(?P<east>\d{{4}}年(?:\d{{1,2}}月(?:\d{{1,2}}日)?)?|\d{{1,2}}月\d{{1,2}}日)"
    rf"|(?P<sign>[$€£¥₹][ ]?)?(?P<digits>{_NUMBER})(?P<ordinal>(?:st|nd|rd|th|er|º|ª)\b)?"
    rf"|(?P<kanji>[〇零一二三四五六七八九十百千万亿億兆两]+)"
    rf"|(?P<kana>[\u30a0-\u30ff]+)|(?P<dense>[{DENSE}])|(?P<word>[^\W\d_{DENSE}]+(?:['’][^\W\d_]+)*)|(?P<percent>[%％℃]|°[CF])"
)
_PART: Final = re.compile(r"\d+")
_GROUPED: Final = re.compile(r"\d{1,3}(?:[,.'’ \u00a0\u202f]\d{3})+")
_NO_DIGITS: Final = re.compile(r"[,.'’ \u00a0\u202f]")
_KANJI: Final[Mapping[str, int]] = dict(zip("〇一二三四五六七八九零两", (*range(10), 0, 2), strict=True))
_SCALES: Final[Mapping[str, float]] = dict(zip("十百千万亿億兆", (1e1, 1e2, 1e3, 1e4, 1e8, 1e8, 1e12), strict=True))
_YEAR_RANGE: Final = (1000, 2099)


def tokens_of(text: str, tongue: Language, start: int = 0, end: int | None = None) -> list[ValueToken]:
    """Return the words of a text, in order, in linear time.

    Args:
        text: The text, without markup.
        tongue: Its language.
        start: Where to begin.
        end: Where to stop; at the end of the text if None.
    """
    stop = len(text) if end is None else end
    return _with_dates(_with_units(list(_plain(text, tongue, start, stop)), text, tongue), text, tongue)


def _plain(text: str, tongue: Language, place: int, stop: int) -> Iterator[ValueToken]:
    longer = {*tongue.negations, *(unit for unit in tongue.units if not unit.isascii())} if tongue.is_dense else ()
    longest_first = sorted(longer, key=len, reverse=True)
    while (match := _TOKEN.search(text, place, stop)) is not None:
        start, place = match.span()
        raw = match[0]
        if match.lastgroup == "word":
            yield from _word(raw, start, tongue)
        elif match["digits"]:
            unit = tongue.units.get((match["sign"] or "").strip(), "")
            yield ValueToken("number", raw, start, place, _readings(match["digits"], tongue), unit)
        elif match["iso"] or match["east"] or match["dotted"]:
            yield ValueToken("date", raw, start, place, date=_numeric_date(match))
        elif match["kanji"]:
            counts = len(raw) > 1 or text[place : place + 1] in _COUNTERS
            yield ValueToken("number" if counts else "word", raw, start, place, (_kanji(raw),) if counts else ())
        elif match["dense"] or match["kana"]:
            word = next((entry for entry in longest_first if text.startswith(entry, start)), raw)
            place = max(place, start + len(word))
            yield ValueToken("negation" if word in tongue.negations else "word", word, start, place)
        else:
            yield ValueToken("word", raw, start, place)


_COUNTERS: Final = frozenset("个個人年月日回件名本枚台社歳岁位种次家所")


def _word(raw: str, start: int, tongue: Language) -> Iterator[ValueToken]:
    low = fold(raw)
    if low in tongue.numbers:
        yield ValueToken("number", low, start, start + len(raw), (tongue.numbers[low],))
    elif low in tongue.negations:
        yield ValueToken("negation", low, start, start + len(raw))
    elif tongue.code in {"fr", "it"} and 0 < (cut := low.find("'") + 1) <= 3:  # n'est
        yield ValueToken("word", low[:cut], start, start + cut)
        yield from _word(raw[cut:], start + cut, tongue)
    elif low.endswith("n't"):
        stem = {"ca": "can", "wo": "will", "sha": "shall"}.get(low[:-3], low[:-3])
        yield ValueToken("word", stem, start, start + len(raw) - 3)
        yield ValueToken("negation", "n't", start + len(raw) - 3, start + len(raw))
    else:
        yield ValueToken("word", low, start, start + len(raw))


def _readings(digits: str, tongue: Language) -> tuple[float, ...]:
    """Return what digits may be, the likeliest first."""
    digits = digits.replace("٫", ".")
    if ":" in digits or (digits.count(".") > 1 and not _GROUPED.fullmatch(digits)):
        value = 0.0  # a time or a version: each part counts
        for part in _PART.findall(digits)[:6]:
            value = value * 1_000 + int(part[:9])
        return (value,)
    integer, _, fraction = digits.rpartition("," if digits.rfind(",") > digits.rfind(".") else ".")
    plain = float(_NO_DIGITS.sub("", digits)[:300])
    decimal = float(f"{_NO_DIGITS.sub('', integer)[:300]}.{fraction}") if integer and fraction else plain
    if not _GROUPED.fullmatch(digits):
        return (decimal,)
    mark = digits[-4]
    if mark not in ",." or digits.count(mark) > 1 or len(integer) > 3:
        return (plain,)
    english = tongue.code in {"en", "zh", "ja"}
    return (plain,) if english and mark == "," else (decimal, plain) if english == (mark == ".") else (plain, decimal)


def _kanji(run: str) -> float:
    total = current = digits = 0.0
    for sign in run[:40]:
        if sign in _KANJI:
            digits = digits * 10 + _KANJI[sign]
            continue
        scale = _SCALES[sign]
        if scale < 1e4:
            current += (digits or 1.0) * scale
        else:
            total, current = total + (current + digits or 1.0) * scale, 0.0
        digits = 0.0
    return total + current + digits


def _numeric_date(match: re.Match[str]) -> Date:
    parts = [int(part) for part in _PART.findall(match[0])]
    if match["dotted"]:
        day, month, year = parts
        if month > 12:
            day, month = month, day
        clear = day > 12 or "." in match[0]
        return Date((year, year), month if clear else None, day if clear else None)
    if match["east"] and "年" not in match[0]:
        return Date(None, parts[0], parts[1])
    parts_after_year: list[int | None] = [*parts[1:], None, None]
    return Date((parts[0], parts[0]), parts_after_year[0], parts_after_year[1])


def _with_units(tokens: Sequence[ValueToken], text: str, tongue: Language) -> list[ValueToken]:
    """Join the words of a number, its scale and its unit."""
    joined: list[ValueToken] = []
    at = 0
    while at < len(tokens):
        token = tokens[at]
        at += 1
        if token.kind != "number":
            joined.append(token)
            continue
        value, worded = token.values, not text[token.start].isdecimal() and not token.unit
        while at < len(tokens) and _next_to(token, tokens[at], text):
            after = tokens[at]
            scale = tongue.scales.get(after.key.rstrip("."))
            if scale is None and tongue.is_dense:
                scale = _SCALES.get(after.key)
            if (
                worded
                and after.kind == "number"
                and not text[after.start].isdecimal()
                and value[0] % 100 in _TENS
                and after.values[0] < 10
            ):
                value = (value[0] + after.values[0],)
            elif scale is not None and (
                len(after.key) > 1 or not after.key.isascii() or token.unit or token.end == after.start
            ):
                value = tuple(factor * scale for factor in value)
            else:
                break
            token, at = token._replace(values=value, end=after.end), at + 1
        for size in (2, 1):
            words = tokens[at : at + size]
            decade = words and words[0].key == "s" and words[0].start == token.end
            if len(words) == size and not token.unit and not decade and _next_to(token, words[0], text):
                unit = tongue.units.get(" ".join(word.key for word in words))
                if unit is not None:
                    token, at = token._replace(unit=unit, end=words[-1].end), at + size
        joined.append(token)
    return joined


_TENS: Final = frozenset(range(20, 100, 10))


def _next_to(token: ValueToken, after: ValueToken, text: str) -> bool:
    gap = text[token.end : after.start]
    return (len(gap) <= 1 and gap in " \u00a0\u202f-") or (
        gap == ". " and text[token.end - 1].isalpha()
    )  # 12 Mio. Euro


def _with_dates(tokens: Sequence[ValueToken], text: str, tongue: Language) -> list[ValueToken]:
    """Join day, month and year; a number of four digits without a unit is a year."""
    joined: list[ValueToken] = []
    at = 0
    while at < len(tokens):
        token = tokens[at]
        at += 1
        month = tongue.months.get(token.key) if token.kind == "word" else None
        if month is not None and tongue.code in {"en", "de"} and text[token.start].islower():
            month = None  # may, march
        if month is None:
            joined.append(_year(token, text, tongue))
            continue
        start, end, day, years = token.start, token.end, None, None
        back = 1 if joined and joined[-1].kind == "number" else 2
        before = joined[-back] if len(joined) >= back else None
        of = back == 1 or (len(joined) > 1 and len(joined[-1].key) <= 2)  # 3 de mayo
        if before is not None and of and _is_day(before) and token.start - before.end <= 5:
            day, start = int(before.values[0]), before.start
            del joined[-back:]
        if day is None and at < len(tokens) and _is_day(tokens[at]) and tokens[at].start - end <= 2:
            day, end, at = int(tokens[at].values[0]), tokens[at].end, at + 1
        ahead = at + 1 if at < len(tokens) and tokens[at].kind == "word" and len(tokens[at].key) <= 3 else at
        if (
            ahead < len(tokens)
            and (year := _year(tokens[ahead], text, tongue)).kind == "date"
            and year.start - end <= 6
        ):
            years, end, at = year.date.years, year.end, ahead + 1
        is_date = day is not None or years is not None or (len(token.key) > 4 and text[token.start].isupper())
        joined.append(ValueToken("date", token.key, start, end, date=Date(years, month, day)) if is_date else token)
    return joined


def _is_day(token: ValueToken) -> bool:
    return token.kind == "number" and not token.unit and token.values[0] in range(1, 32)


def _year(token: ValueToken, text: str, tongue: Language) -> ValueToken:
    digits = text[token.start : token.end]
    named = token.unit == "year" and tongue.code in {"ru", "zh", "ja"}  # 1961 года
    short = named or (not token.unit and len(digits) == 4)
    if token.kind != "number" or not short or not digits[:4].isdecimal() or digits[4:5].isdecimal() or len(digits) < 4:
        return token
    year = int(digits[:4])
    if not _YEAR_RANGE[0] <= year <= _YEAR_RANGE[1]:
        return token
    last = year + 9 if text[token.end : token.end + 1] == "s" and year % 10 == 0 else year
    return token._replace(kind="date", date=Date((year, last)))


def same_date(mine: Date, other: Date) -> bool:
    """Whether two dates may be the same: what is known of both agrees."""
    if mine.years and other.years and (mine.years[0] > other.years[1] or other.years[0] > mine.years[1]):
        return False
    return (mine.month or other.month) == (other.month or mine.month) and (mine.day or other.day) == (
        other.day or mine.day
    )


def same_number(claimed: ValueToken, stated: ValueToken, *, rounded: bool) -> bool:
    """Whether two numbers may be the same quantity.

    Args:
        claimed: The number of the answer.
        stated: The number of the page.
        rounded: Whether the answer's may be rounded.
    """
    mine, theirs = unit_size(claimed.unit), unit_size(stated.unit)
    if claimed.unit and stated.unit and mine[0] != theirs[0]:
        return False
    converts = bool(claimed.unit and stated.unit) and claimed.unit != stated.unit
    ratio = theirs[1] / mine[1] if converts else 1.0
    for value in claimed.values:
        for other in stated.values:
            other *= ratio
            size = max(abs(value), abs(other))
            if abs(value - other) <= size * (0.03 if converts else 1e-9) or (
                rounded and abs(value - other) <= size * 0.06
            ):
                return True
    return False


def same_value(claimed: ValueToken, stated: ValueToken, *, rounded: bool) -> bool:
    """Whether a number or date of an answer may be that of a page; see `same_number`."""
    if claimed.kind == stated.kind == "date":
        return same_date(claimed.date, stated.date)
    return claimed.kind == stated.kind == "number" and same_number(claimed, stated, rounded=rounded)
