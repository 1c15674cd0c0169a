"""Numbers of a sentence, as values: digits and words of each language, scales, units, rounding."""

from __future__ import annotations

import itertools
import re
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass, replace
from functools import lru_cache
from typing import Final, NamedTuple

from groundwire.citations.verify.language_packs import DENSE, Language, fold, language

__all__ = ["MAX_NUMBERS", "Number", "numbers_of"]


@dataclass(frozen=True, slots=True)
class Number:
    """A number in a sentence."""

    text: str
    """The number as written, including its scale."""
    values: tuple[float, ...]
    """Its possible values: 1.234 may be about a thousand or a bit more than one."""
    unit: str
    """The unit, in a canonical spelling, if it is known."""
    mark: str
    """What is said of it: `about`, `nearly`, `over` (no less), `under` (no more); `""` if it is exact."""
    start: int
    """Its first code point."""
    end: int
    """The code point after its last."""
    span: tuple[float, float] | None = None
    """The range that it is an end of, if it is said to be between two numbers."""

    @property
    def amount(self) -> float:
        """Its likeliest value."""
        return self.values[0]

    @property
    def rounded(self) -> bool:
        """Whether it is marked as approximate, or as a bound."""
        return bool(self.mark)

    @property
    def telling(self) -> bool:
        """Whether it identifies what it is said of: a quantity, or no small count."""
        return bool(self.unit) or self.values[0] >= _TELLING


class _NumberWord(NamedTuple):
    """A word of a number: its value, and whether it multiplies what precedes it."""

    value: float
    scales: bool
    start: int
    end: int


MAX_NUMBERS: Final = 200
"""Numbers of a sentence compared as values; further ones are compared as words."""
_TELLING: Final = 10  # a smaller number without a unit may be on a page by chance
_LETTERS: Final = frozenset({"k", "m", "b"})  # scales only after a currency sign, or without a space
_DIGITS: Final = (
    r"\d+(?:\.\d+){3,}|\d+\.\d{1,2}\.\d+|\d+(?:[.,'’ \u00a0\u202f]\d{3})+(?:[.,]\d+)?(?!\d)|\d+(?:[.,]\d+)?"
)
_NUMBER: Final = re.compile(
    rf"(?P<sign>[$€£¥₹])?[ ]?(?<![^\Wو{DENSE}])(?<![.,])(?P<minus>[-−](?=\d))?(?P<digits>{_DIGITS})"
    r"(?:st|nd|rd|th|er|e(?!\w))?"
)
_WORDS: Final = re.compile(rf"[^\W\d_{DENSE}]+(?:['’-][^\W\d_]+)*")
_AFTER: Final = re.compile(r"(?P<gap>[ \u00a0\u202f-]?)(?P<word>%|％|℃|°[CF]|km/h|[^\W\d_]+\.?)?")
_BETWEEN: Final = re.compile(r"[\u064b-\u0652]{0,2}[ \u00a0-]{1,2}")  # behind the vowel marks of Arabic
_HUNDREDS: Final = re.compile(r", (?=[a-z]+ hundred\b)")  # five thousand, two hundred
_KANJI: Final[Mapping[str, int]] = dict(zip("〇一二三四五六七八九零两", (*range(10), 0, 2), strict=True))
_KANJI_RUN: Final = re.compile(
    r"百分之(?P<percent>[〇零一二两三四五六七八九十百]+)|(?P<run>[〇零一二两三四五六七八九十百千万亿億兆]+)"
)
_KANJI_SCALES: Final[Mapping[str, float]] = dict(
    zip("十百千万亿億兆", (1e1, 1e2, 1e3, 1e4, 1e8, 1e8, 1e12), strict=True)
)
_TENTHS: Final = re.compile(r"割|成(?![员員立功果本为為都])")
_ORDINAL: Final = re.compile(r"(?<=zig)ste[mnrs]?$")  # einundzwanzigste
_MOST_PARTS: Final = 4  # parts of a hyphenated number: quatre-vingt-dix-neuf
_GAP: Final = 16  # characters between the numbers of a range, and of the word that says so
_COUNTER: Final = 4  # characters of a counter, and the bound after it: 40人以上
_ENDS_COUNT: Final = re.compile(r"[\d、，。,]")
_TO: Final = re.compile(r" ?(?:[-–—~〜～至到]|から|to|or|bis|o(?:der)?|à|ou|a|até|до|или|إلى|أو) ?")  # in a range
_SENTENCE_ENDS: Final = re.compile(r"[\d,.;:!?、，。]")
_OPENING: Final = re.compile(r"\b(?:half )?an? $", re.IGNORECASE)
_HALF: Final = re.compile(r"\bhalf an? (?=[^\W\d_]+)", re.IGNORECASE)


def numbers_of(text: str, tongue: Language | None = None) -> list[Number]:
    """Return the numbers in a text, in digits and in words, in order.

    Args:
        text: The text.
        tongue: Its language; English when none is given.
    """
    tongue = tongue or language("en")
    found = [_in_digits(match, tongue) for match in _NUMBER.finditer(text)]
    taken = {place for number in found for place in range(number.start, number.end)}
    for number in _in_words(text, tongue):
        if taken.isdisjoint(own := range(number.start, number.end)):
            found.append(number)
            taken.update(own)
    numbers: list[Number] = []
    for one in sorted(found, key=lambda number: number.start):
        last = numbers[-1] if tongue.dense and numbers else None
        if last and last.end == one.start and one.amount < tongue.scales.get(last.text[-1], 0.0):
            amount, mark = last.amount + one.amount, last.mark or one.mark  # 3万5000
            one = Number(text[last.start : one.end], (amount,), one.unit, mark, numbers.pop().start, one.end)
        numbers.append(one)
    return _in_spans(numbers, text, tongue)


def _in_spans(numbers: list[Number], text: str, tongue: Language) -> list[Number]:
    """Add the ranges: between 30 and 50, and the unit of both: 30 to 50 km. The ends of a range of years are exact."""
    for at, (low, high) in enumerate(itertools.pairwise(numbers)):
        gap = text[low.end : high.start]
        if not 0 < len(gap) <= _GAP or _SENTENCE_ENDS.search(gap) or not low.amount < high.amount:
            continue
        said = text[high.end :][:_GAP] if tongue.dense else f" {fold(text[max(0, low.start - _GAP) : low.start])}"
        between = any(said.find(word) >= 0 if tongue.dense else said.endswith(f" {word} ") for word in tongue.between)
        year = low.text.isdecimal() and len(low.text) == 4 and not high.unit
        span = (low.amount, high.amount) if between and not year else None
        if span or _TO.fullmatch(gap):
            values, ahead = _scaled(low, high), low.text[0] in "$€£¥₹"
            numbers[at] = replace(low, values=values, span=span or low.span, unit=low.unit or high.unit)
            numbers[at + 1] = replace(high, span=span, unit=high.unit or (low.unit if ahead else ""))
    return numbers


def _scaled(low: Number, high: Number) -> tuple[float, ...]:
    """Return the values of a number, first those with the scale that only the end of its range has: 9 to 12 million."""
    one, two = (re.match(r"[$€£¥₹]?([\d.,]*\d)(.*)", number.text) for number in (low, high))
    whole = _readings(two[1])[0] if one and two and not one[2] else 0.0
    scale = high.amount / whole if whole > low.amount else 1.0
    return (*(value * scale for value in low.values if scale >= 1_000.0), *low.values)


def _mark(text: str, begins: int, ends: int, tongue: Language) -> str:
    """Return what the words before or right after a number say of it: that it is approximate, or a bound."""
    if text[begins - 1 : begins] in {"~", "≈"}:
        return "about"
    after = text[ends : ends + _COUNTER] if tongue.dense else ""
    for phrase, mark in tongue.marked_after.items():
        if phrase in after and not _ENDS_COUNT.search(after[: after.find(phrase)]):
            return mark
    before = " ".join(fold(text[max(0, begins - 24) : begins]).rstrip("$€£¥₹ \n").split())
    for phrase, mark in tongue.marked.items():
        if before.endswith(phrase) and (
            tongue.dense or (text[begins - 1 : begins] in set(" $€£¥₹") and not before[: -len(phrase)][-1:].isalnum())
        ):
            return mark
    return ""


def _in_digits(match: re.Match[str], tongue: Language) -> Number:
    text, digits, sign = match.string, match["digits"], match["sign"]
    values = tuple(-value if match["minus"] else value for value in _readings(digits))
    if len(values) > 1 and tongue.code in {"en", "zh", "ja"} and "," in digits:
        values = values[:1]  # 48,000 is never 48 there
    elif len(values) > 1 and tongue.code not in {"en", "zh", "ja"} and "." in digits:
        values = values[::-1]
    end = shown = match.end("digits")
    signed = tongue.units.get(sign or "", "")
    scale, end = _scale_at(text, match.end(), tongue, sign is not None)
    if scale is not None:
        values, shown = tuple(value * scale for value in values), end
    unit, after = _unit_at(text, end, tongue, scaled=scale is not None)
    if not signed and unit == "%":
        shown = after
    start = match.start("sign") if sign else match.start("digits")
    mark = _mark(text, match.start("digits"), shown, tongue)
    return Number(text[start:shown], values, signed or unit, mark, start, shown)


def _scale_at(text: str, place: int, tongue: Language, signed: bool) -> tuple[float | None, int]:
    """Return the factor of the scale word after a number, and where that word ends."""
    if tongue.dense:
        scale, end = 1.0, place
        while (more := tongue.scales.get(text[end : end + 1])) is not None:
            scale, end = scale * more, end + 1
        return (scale, end) if end > place else (None, place)
    after = _AFTER.match(text, place)
    if after is None or not after["word"]:
        return None, place
    word, gap = fold(after["word"]), after["gap"]
    two = re.match(r" ([^\W\d_]+)", text[after.end() : after.end() + 20])
    if two and (both := tongue.scales.get(f"{word} {fold(two[1])}")) is not None:
        return both, after.end() + two.end()
    factor = tongue.scales.get(bare := word.rstrip("."))
    lettered = bare in _LETTERS and not signed and (bare == "m" or gap)
    return (None, place) if lettered or factor is None else (factor, after.end())


def _unit_at(text: str, place: int, tongue: Language, *, scaled: bool = False) -> tuple[str, int]:
    """Return the unit at a position, in canonical spelling, and where it ends."""
    if tongue.dense:
        begin = place + (text[place : place + 1] == " ")
        for length in range(tongue.longest, 0, -1):
            if (unit := tongue.units.get(fold(text[begin : begin + length]))) is not None:
                return unit, begin + length
    after = _AFTER.match(text, place)
    if after is None or not after["word"]:
        return "", place
    words = [fold(after["word"]), *(fold(word) for word in text[after.end() : after.end() + 40].split()[:1])]
    if scaled and words[0] in {"d", "de", "des"} and len(words) > 1:
        return tongue.units.get(words[1].strip("'’.,;"), ""), place
    if len(words) > 1 and (unit := tongue.units.get(f"{words[0]} {words[1].strip('-.,;')}")):
        return unit, after.end() + 1 + len(words[1].strip("-.,;"))
    return (tongue.units.get(words[0].rstrip("."), "") if words[0] not in {"in", "in."} else ""), after.end()


def _in_words(text: str, tongue: Language) -> Iterator[Number]:
    """Yield the numbers written in words."""
    low = fold(text)
    if tongue.dense:
        yield from _in_kanji(text, tongue)
    for phrase, part in tongue.fractions.items():
        if (tongue.dense or " " in phrase or "-" in phrase) and (at := low.find(phrase)) >= 0:
            end = at + len(phrase)
            if tongue.dense or not (low[at - 1 : at].isalnum() or low[end : end + 1].isalnum()):
                yield Number(text[at:end], (part * 100,), "%", "about", at, end)
    if tongue.dense or not tongue.numbers:
        return
    for half in _HALF.finditer(text) if tongue.code == "en" else ():
        if unit := _unit_at(text, half.end(), tongue)[0]:
            yield Number(half[0].strip(), (0.5,), unit, "", half.start(), half.end() - 1)
    # one of them, without a word for "one"
    bare = {100.0, 1000.0, 1e6, 1e9} if tongue.code == "ar" else {100.0, 1000.0}
    run: list[_NumberWord] = []
    for piece, start, end in _pieces(low, tongue):
        value, is_scale = _value(piece, tongue, bool(run))
        if value is None and not run:
            continue
        joins = bool(run) and piece in {tongue.joiner, "and"}
        hundreds = bool(run) and run[-1].value > 100 and _HUNDREDS.match(low, run[-1].end)
        near = not run or hundreds or _BETWEEN.fullmatch(low, run[-1].end, start)
        ordinal = tongue.ordinals.get(piece) if near and (tongue.code != "en" or low[start - 1] == "-") else None
        if ordinal and run and not (piece == "second" and _opening(low, run[0].start)):  # a twenty-second delay
            value = ordinal if _goes_on(run, ordinal, False, tongue.code) else value
        if run and not (near and (joins if value is None else _goes_on(run, value, is_scale, tongue.code))):
            yield from _number_of(run, text, tongue)
            run = []
        if value is not None and (run or not is_scale or value in bare or _opening(low, start)):
            run.append(_NumberWord(value, is_scale, start, end))
        elif joins and run:
            run.append(_NumberWord(0.0, False, start, end))
    yield from _number_of(run, text, tongue) if run else ()


def _pieces(low: str, tongue: Language) -> Iterator[tuple[str, int, int]]:
    """Yield the words of a text, splitting hyphenated ones if the language hyphenates numbers."""
    for match in _WORDS.finditer(low):
        if "-" not in match[0]:
            yield match[0], *match.span()
            continue
        parts, place, at = match[0].split("-"), match.start(), 0
        while at < len(parts):
            tried = ("-".join(parts[at : at + count]) for count in range(min(_MOST_PARTS, len(parts) - at), 0, -1))
            word = next((word for word in tried if word in tongue.numbers), parts[at])
            yield word, place, place + len(word)
            place, at = place + len(word) + 1, at + 1 + word.count("-")


@lru_cache(maxsize=20_000)
def _value(piece: str, tongue: Language, within: bool) -> tuple[float | None, bool]:
    """Return the value of a word in a number, and whether it multiplies the preceding value."""
    if piece in tongue.numbers:
        return tongue.numbers[piece], False
    if piece in tongue.scales and piece not in _LETTERS:
        return tongue.scales[piece], True
    if tongue.code == "de" and len(piece) > 6:
        return _glued(_ORDINAL.sub("", piece), tongue), False
    if within and tongue.code == "ar" and piece.startswith(tongue.joiner):
        return tongue.numbers.get(piece[1:]), False
    return None, False


def _glued(piece: str, tongue: Language) -> float | None:
    """Return the value of a number written as one word: dreihundertfünfundzwanzig."""
    total, current, place = 0.0, 0.0, 0
    while place < len(piece):
        for length in range(min(8, len(piece) - place), 1, -1):
            part = piece[place : place + length]
            if part in tongue.numbers or part in {"hundert", "tausend"} or (part == tongue.joiner and place):
                break
        else:
            return None
        if part == "hundert":
            current = (current or 1.0) * 100
        elif part == "tausend":
            total, current = total + (current or 1.0) * 1000, 0.0
        else:
            current += tongue.numbers.get(part, 0.0)
        place += len(part)
    return total + current


def _opening(text: str, start: int) -> re.Match[str] | None:
    return _OPENING.search(text, start - len("half an "), start)


def _goes_on(run: Sequence[_NumberWord], value: float, is_scale: bool, code: str) -> bool:
    """Return whether a word continues the number that the preceding words began."""
    last, was_scale, *_ = run[-1]
    if not last and len(run) > 1:  # an "and"
        last, was_scale, *_ = run[-2]
    if is_scale:
        return not was_scale or value > last or value == 100  # mille cent
    if was_scale or (last and last % 100 == 0):
        return value < last
    if last < 10 and value >= 10 and value % 10 == 0 and code == "ar":
        return True  # nine ten, five and twenty
    if last in {60.0, 80.0} and 10 <= value < 20:
        return code == "fr"  # soixante et onze
    return last >= 20 and last % 10 == 0 and 1 <= value < 10


def _number_of(run: Sequence[_NumberWord], text: str, tongue: Language) -> Iterator[Number]:
    while len(run) > 1 and not run[-1].value:
        run = run[:-1]  # a trailing "and"
    total, current, start, end = 0.0, 0.0, run[0].start, run[-1].end
    if len(run) == 1 and not run[0].scales and tongue.code != "en" and fold(text[start:end]) in tongue.vague:
        counts = run[0].value > 1 and re.match(r" [^\W\d_]+[sx]\b", text[end : end + 40])  # neuf portes
        if not counts:
            return
    if run[0].scales:
        opening = _opening(text, start)
        if tongue.code == "en" and opening is None:
            return
        current = 0.5 if opening and opening[0].lower().startswith("half") else 1.0
        start -= len(opening[0]) if opening else 0
    for value, is_scale, *_ in run:
        if not is_scale:
            current += value
        elif value == 100:
            current = (current or 1.0) * value
        elif total < value:
            total, current = (total + current) * value, 0.0  # dos mil millones
        else:
            total, current = total + current * value, 0.0
    unit, after = _unit_at(text, end, tongue, scaled=run[-1].scales)
    end = after if unit == "%" and tongue.code != "en" else end
    values = (total + current, total + current - run[-1].value)[: 1 + text.endswith("-second", start, end)]  # or a time
    yield Number(text[start:end], values, unit, _mark(text, start, end, tongue), start, end)


def _in_kanji(text: str, tongue: Language) -> Iterator[Number]:
    """Yield the numbers written in Chinese characters."""
    for match in _KANJI_RUN.finditer(text):
        group = "percent" if match["percent"] else "run"
        run = match[group]
        before, single = text[max(0, match.start() - 2) : match.start()], group == "run" and len(run) == 1
        if (single and (run in _KANJI_SCALES or run == "一")) or before[-1:].isdecimal() or before == "星期":
            continue
        total, part, digit = 0.0, 0.0, 0.0
        scaled = not _KANJI_SCALES.keys().isdisjoint(run)  # else a row of digits: 一九八四
        for character in run:
            scale = _KANJI_SCALES.get(character)
            if scale is None:
                digit = (0.0 if scaled else digit * 10) + _KANJI[character]
            elif character in "十百千":
                part, digit = part + (digit or 1.0) * scale, 0.0
            elif total < scale:
                total, part, digit = (total + part + digit or 1.0) * scale, 0.0, 0.0  # 三万亿
            else:
                total, part, digit = total + (part + digit or 1.0) * scale, 0.0, 0.0
        value, end = total + part + digit, match.end()
        unit = "%" if group == "percent" else _unit_at(text, end, tongue)[0]
        if _TENTHS.match(text, end) and value <= 10:
            value, unit, end = value * 10, "%", end + 1
        start = match.start()
        yield Number(text[start:end], (value,), unit, _mark(text, start, end, tongue), start, end)


def _readings(digits: str) -> tuple[float, ...]:
    """Return the possible values of digits with points and commas."""
    parts = digits.split(".")
    if len(parts) > 2 and "".join(parts).isdecimal() and any(len(part) != 3 for part in parts[1:]):
        return (float("".join(part.lstrip("0").zfill(5) for part in parts[:3])),)  # a version such as 3.12.4
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
    return (float(head + tail), decimal_value)[:: 1 if separator == "," else -1]
