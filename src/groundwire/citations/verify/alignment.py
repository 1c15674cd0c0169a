"""Word alignment of a sentence with its closest passage.

Each word of the sentence is aligned with its counterpart in the passage: the same word in another form, a synonym, or
the same number. Words without a counterpart, replaced words, and names or numbers that have changed places are
reported. Words that moved together with what they belong to are not a change: active and passive voice, a fronted
phrase, the order of a list.
"""

from __future__ import annotations

import itertools
import re
from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from functools import cached_property
from typing import Final, Literal, NamedTuple

from groundwire.citations.verify.entities import Date, dates_of, names_of, same_date, same_number, same_quantity
from groundwire.citations.verify.language_packs import Language, Marker, fold
from groundwire.citations.verify.quantities import MAX_NUMBERS, Number, numbers_of
from groundwire.citations.verify.segmentation import CONTENT_WORD

__all__ = ["Alignment", "WordToken", "align", "same_value", "sentence_at", "stretches", "tokens_of"]

_KATAKANA: Final = re.compile(r"[\u30a1-\u30ff]+")
_IS_DENSE: Final = re.compile(r"[\u0e00-\u0eff\u1000-\u109f\u1780-\u17ff\u3040-\u9fff\uac00-\ud7af\uf900-\ufaff]")
_HIRAGANA: Final = re.compile(r"[\u3041-\u309f]")
_BREAK: Final = re.compile(r"[,;:.()–—、，；。：،؛]")
_STOP: Final = re.compile(r"[.!?;؛。！？؟]\s|[；]|[。！？؟]|\n\s*\n")
_COPIED: Final = 0.75  # share of all words, small ones included, from which a sentence copies another
_WHOLE_PART: Final = 5  # letters of a word that may end a longer one, in a language with compounds
_STEM: Final = 4  # letters of a word from which another is derived
_LABEL: Final = 6  # words of a label
_BRIEF: Final = 5  # words of a sentence that copies another if it has all words but one
Kind = Literal["word", "number", "marker", "function"]


class WordToken(NamedTuple):
    """A word or a number as written in a sentence."""

    text: str
    """As it is written."""
    start: int
    """Its first code point."""
    end: int
    """The code point after its last."""
    kind: Kind
    """Its class: a function word carries little meaning, a marker denies, counts or weakens."""
    keys: tuple[str, ...] = ()
    """Its comparison keys, the normal form first."""
    marker: Marker | None = None
    """The effect of a marker."""
    value: Number | Date | None = None
    """The value of a number or date."""
    name: bool = False
    """Whether it looks like part of a name."""
    breaks: bool = False
    """Whether a comma or the like precedes it."""
    stops: bool = False
    """Whether a sentence ended before it."""
    colon: bool = False
    """Whether a colon precedes it."""

    @property
    def key(self) -> str:
        """Its normal form; empty for a number."""
        return self.keys[0] if self.keys else ""

    @property
    def denies(self) -> bool:
        """Whether it is a "no" or "not"."""
        return self.marker is not None and self.marker.family == "negation"


def tokens_of(
    text: str, tongue: Language, dates: Sequence[Date] | None = None, numbers: Sequence[Number] | None = None
) -> list[WordToken]:
    """Return the words, numbers and dates of a text, in order.

    Args:
        text: The text.
        tongue: Its language.
        dates: Its dates, if already known.
        numbers: Its numbers, likewise.
    """
    low = fold(text)
    dates = dates_of(text) if dates is None else dates
    spans = [WordToken(date.text, date.start, date.end, "number", value=date) for date in dates]
    spans += (
        WordToken(number.text, number.start, number.end, "number", value=number)
        for number in (numbers_of(text, tongue)[:MAX_NUMBERS] if numbers is None else numbers)
        if not any(date.start < number.end and number.start < date.end for date in dates)
    )
    for phrase in tongue.phrases.finditer(low):
        if not any(one.start < phrase.end() and phrase.start() < one.end for one in spans):
            marker = tongue.markers.get(phrase[0])
            kind: Kind = "marker" if marker else "word"
            keys = (phrase[0], *tongue.groups.get(phrase[0], ()))
            spans.append(WordToken(text[slice(*phrase.span())], *phrase.span(), kind, keys, marker))
    spans.sort(key=lambda one: one.start)
    names = {at for name in names_of(text, tongue) for at in range(name.start, name.end)} if tongue.nouns else set()
    found: list[WordToken] = []
    place = 0
    for one in [*spans, None]:
        end = one.start if one else len(text)
        found += _after_number(_words(text, low, place, end, tongue, names), found, tongue)
        if one:
            found.append(one)
            place = max(place, one.end)
    found = [
        _with_break(token, text[found[at - 1].end : token.start]) if at else token for at, token in enumerate(found)
    ]
    for at, token in enumerate(found):
        if low[token.start : token.end] in tongue.weekdays:
            found[at] = _with_days(at, found, tongue)
    return found


def _with_days(at: int, tokens: Sequence[WordToken], tongue: Language) -> WordToken:
    """Return a word; if a range of weekdays ends with it, with the keys of the days between: Monday to Friday."""
    last = tongue.weekdays.get(fold(tokens[at].text))
    first = tongue.weekdays.get(fold(tokens[at - 2].text)) if last is not None and at > 1 else None
    if last is None or first is None or fold(tokens[at - 1].text) not in tongue.day_range:
        return tokens[at]
    between = (f"=day {(first + step) % 7}" for step in range(1, (last - first) % 7))
    return tokens[at]._replace(keys=(*tokens[at].keys, *between))


def _after_number(words: Iterator[WordToken], before: Sequence[WordToken], tongue: Language) -> Iterator[WordToken]:
    """Yield words, without the units that belong to a preceding number."""
    value = before[-1].value if before else None
    unit = value.unit if isinstance(value, Number) else ""
    if not unit:
        yield from words
        return
    for at, word in enumerate(words):
        form = fold(word.text)
        phrases = (one for one, of in tongue.units.items() if of == unit and " " in one)
        is_unit = at < 2 and (tongue.units.get(form) == unit or any(form in one.split() for one in phrases))
        if is_unit or (at == 0 and unit in {"celsius", "fahrenheit"} and len(form) == 1):
            word = WordToken(word.text, word.start, word.end, "function", (form,))
        yield word


def _with_break(token: WordToken, gap: str) -> WordToken:
    if gap == " " or not _BREAK.search(gap):
        return token
    return token._replace(breaks=True, stops=_STOP.search(gap) is not None, colon=":" in gap)


def _words(text: str, low: str, start: int, end: int, tongue: Language, names: set[int]) -> Iterator[WordToken]:
    shouted = text.isupper()
    for match in CONTENT_WORD.finditer(text, start, end):
        word, (begin, after) = match[0], match.span()
        if not word.isascii() and _IS_DENSE.match(word):
            yield from _dense(word, begin, tongue)
            continue
        form = low[begin:after]
        joins = tongue.script == "arabic" and form[:1] in "وف" and not tongue.knows_form(tongue.normal_form(form))
        joined = form[1:] if joins else ""  # to an "and" or "so"
        if text[after : after + 1] == "@":  # of an address
            yield WordToken(word, begin, after, "word", (f"{form}@",))
        elif tongue.code == "en" and form.endswith(("n't", "n’t")):
            verb = form[:-3]
            if (said := tongue.markers.get(verb)) is not None:  # couldn't
                yield WordToken(word[:-3], begin, after - 3, "marker", (verb, tongue.normal_form(verb)), said)
                word, begin = word[-3:], after - 3
            yield WordToken(word, begin, after, "marker", ("not",), Marker("negation", "not"))
        elif (marker := tongue.markers.get(form)) is not None and not (word == "May" and text[:begin].strip()):
            yield WordToken(word, begin, after, "marker", (form, tongue.normal_form(word)), marker)
        elif joined and (marker := tongue.markers.get(joined)) is not None:
            yield WordToken(word, begin, after, "marker", (joined,), marker)
        elif tongue.is_function(word) and word != "May" and not (len(word) > 1 and word.isupper() and not shouted):
            yield WordToken(word, begin, after, "function", (form,))
        else:
            keys = tongue.keys(word)
            if tongue.script == "arabic":
                name = not tongue.knows_form(keys[0])
            else:
                name = begin in names if tongue.nouns else word[0].isupper() and form not in tongue.not_names
            yield WordToken(word, begin, after, "word", keys, name=name)


def _dense(run: str, start: int, tongue: Language) -> Iterator[WordToken]:
    """Yield the words of a run of a script without spaces: the longest known words, else single characters."""
    place = 0
    while place < len(run):
        sizes = range(min(tongue.longest, len(run) - place), 0, -1)
        length = next((size for size in sizes if tongue.knows(run[place : place + size])), 0)
        if not length and (katakana := _KATAKANA.match(run, place)):
            length = len(katakana[0])
        known, length = bool(length), length or 1
        word = run[place : place + length]
        begin, place = start + place, place + length
        if (marker := tongue.markers.get(word)) is not None:
            yield WordToken(word, begin, begin + length, "marker", (word,), marker)
        elif (word in tongue.function_words and word not in tongue.groups and word not in tongue.opposites) or (
            not known and _HIRAGANA.match(word)
        ):
            yield WordToken(word, begin, begin + length, "function", (word,))
        else:
            yield WordToken(word, begin, begin + length, "word", tongue.keys(word), name=not known)


@dataclass(frozen=True)
class Alignment:
    """A sentence and a passage with their aligned words."""

    claim: Sequence[WordToken]
    """The sentence."""
    page: Sequence[WordToken]
    """The passage."""
    to: Sequence[int | None]
    """For each token of the sentence, the index of its counterpart in the passage."""
    tongue: Language
    """The language of both."""

    @cached_property
    def pairs(self) -> dict[int, int]:
        """For each aligned token of the sentence, the index of its counterpart."""
        return {here: there for here, there in enumerate(self.to) if there is not None}

    @cached_property
    def back(self) -> dict[int, int]:
        """For each aligned token of the passage, the index of its counterpart."""
        return {there: here for here, there in self.pairs.items()}

    @cached_property
    def home(self) -> range:
        """The sentence of the passage that has most words of the sentence, from two thirds of them; else empty."""
        spans = stretches([token.stops for token in self.page])
        counts = [sum(at in self.back and self.page[at].kind != "function" for at in span) for span in spans]
        sure = self.tongue.certain
        told = sum(token.kind in {"word", "number"} and fold(token.text) not in sure for token in self.claim)
        best = max(range(len(spans)), key=lambda at: counts[at])
        return spans[best] if 3 * counts[best] >= 2 * told else range(0)

    @cached_property
    def share(self) -> float:
        """The share of the sentence's words and numbers that have a counterpart, 0 to 1, without attributions."""
        told = [
            here in self.pairs
            for here, token in enumerate(self.claim)
            if token.kind in {"word", "number"} and (here in self.pairs or token.key not in self.tongue.attribution)
        ]
        return sum(told) / len(told) if told else 0.0

    @cached_property
    def strict_share(self) -> float:
        """The same for all tokens, including function words."""
        return sum(there is not None for there in self.to) / max(1, len(self.to))

    @cached_property
    def literal_share(self) -> float:
        """The share of all tokens after an attribution that are the passage's without a synonym."""
        same = (self.claim[at].keys[:1] == self.page[there].keys[:1] for at, there in self.pairs.items())
        return sum(same) / max(1, len(self.to) - self.begins)

    @property
    def anchored(self) -> bool:
        """Whether all numbers and dates are the passage's, one being no small count, and few words have no rival."""
        told = {at: token.value for at, token in enumerate(self.claim) if token.value is not None}
        lost, free = (
            sum(one.kind == "word" and at not in known for at, one in enumerate(tokens))
            for tokens, known in ((self.claim, self.pairs), (self.page, self.back))
        )
        telling = told.keys() <= self.pairs.keys() and any(one.telling for one in told.values())
        return telling and lost <= free + 1 and any(self.claim[at].kind == "word" for at in self.pairs)

    @cached_property
    def label(self) -> int:
        """The first token after the label that a sentence begins with, as an item does: Price: it costs 3 euros."""
        return next((at for at, token in enumerate(self.claim[: _LABEL + 1]) if token.colon and at), 0)

    @cached_property
    def begins(self) -> int:
        """The first token after an attribution."""
        words = self.tongue.attribution
        said = [at for at, token in enumerate(self.claim[:_BRIEF]) if not words.isdisjoint(token.keys)]
        begin = said[-1] + 1 if said else 0
        follows = self.claim[begin : begin + 1] if said else ()
        return begin + any(
            one.kind == "function" and not one.breaks and one.keys[0] not in self.tongue.articles for one in follows
        )

    @property
    def copies(self) -> bool:
        """Whether the sentence is in the words of the passage, except for a few."""
        lost = [token for at, token in enumerate(self.claim) if at >= self.begins and at not in self.pairs]
        size = len(self.claim) - self.begins
        brief = size <= _BRIEF and sum(token.kind != "function" for token in lost) <= 1
        return brief or len(lost) <= (1 - _COPIED) * size


def align(claim: Sequence[WordToken], page: Sequence[WordToken], tongue: Language) -> Alignment:
    """Align the words of a sentence with those of a passage."""
    by_key: dict[str, list[int]] = {}
    numbers = [place for place, token in enumerate(page) if token.value is not None]
    for place, token in enumerate(page):
        for key in token.keys:
            by_key.setdefault(key, []).append(place)
    to: list[int | None] = [None] * len(claim)
    used: set[int] = set()
    options = [_options(token, page, by_key, numbers) for token in claim]
    wanted = [place for place, token in enumerate(claim) if token.kind in {"word", "number"}]
    for place in wanted:  # tokens with a single counterpart
        if len(options[place]) == 1 and used.isdisjoint(options[place]):
            (to[place],) = options[place]
            used.update(options[place])
    for kinds in ({"word", "number"}, {"marker"}, {"function"}):
        for place, token in enumerate(claim):
            if to[place] is None and token.kind in kinds:
                free = [option for option in options[place] if option not in used]
                expected = _expected(place, to, ahead=token.kind == "marker" and not tongue.dense)
                if token.kind == "marker":
                    free = [option for option in free if abs(option - expected) <= 6.0]
                if token.kind == "function":
                    free = [option for option in free if abs(option - expected) <= 1.0]
                if free:
                    best = min(free, key=lambda option: (abs(option - expected), option))
                    to[place] = best
                    used.add(best)
    ends: dict[str, list[int]] = {}
    for place, token in enumerate(page):
        if token.kind == "word" and place not in used:
            for end in _ends(token.key, tongue):
                ends.setdefault(end, []).append(place)
    for place in wanted:  # words with the same stem
        if to[place] is None and claim[place].kind == "word":
            for option in sorted({at for end in _ends(claim[place].key, tongue) for at in ends.get(end, ())}):
                if option not in used and _akin(claim[place], page[option], tongue):
                    to[place] = option
                    used.add(option)
                    break
    return Alignment(claim, page, to, tongue)


def _ends(key: str, tongue: Language) -> Iterator[str]:
    """Yield the beginning of a word, and the end in a language with compounds: words akin have one in common."""
    yield key[: _STEM - 1]
    if tongue.nouns:
        yield f"-{key[-_WHOLE_PART:]}"


def _options(
    token: WordToken, page: Sequence[WordToken], by_key: dict[str, list[int]], numbers: Sequence[int]
) -> list[int]:
    if token.value is not None:
        return [place for place in numbers if same_value(token.value, page[place].value)]
    exact = [place for place in by_key.get(token.key, ()) if page[place].kind == token.kind]
    if exact or token.kind == "function":
        return exact
    if token.marker is not None:
        same = [place for place, other in enumerate(page) if other.marker == token.marker]
        return [at for at in same if token.marker.family != "bound" or any(one.value for one in page[at + 1 : at + 3])]
    return sorted({place for key in token.keys for place in by_key.get(key, ()) if page[place].kind == "word"})


def same_value(one: Number | Date, other: Number | Date | None) -> bool:
    """Return whether two numbers or dates are the same: as a number, a quantity, or a day; a date may be a year."""
    if isinstance(one, Date):
        return isinstance(other, Date) and same_date(one, other)
    if isinstance(other, Date):
        return any(value == reading[0] for value in one.values for reading in other.readings)
    return other is not None and (same_number(one, other) or same_quantity(one, other))


def _expected(place: int, to: Sequence[int | None], *, ahead: bool = False) -> float:
    """Return the position in the passage at which a word is expected, by its neighbors; by the next one if `ahead`."""
    if ahead and (after := to[place + 1 : place + 2]) and after[0] is not None:
        return after[0] - 1
    for distance in range(1, len(to)):
        if place - distance >= 0 and (left := to[place - distance]) is not None:
            return left + distance
        if place + distance < len(to) and (right := to[place + distance]) is not None:
            return right - distance
    return float(place)


def _akin(one: WordToken, other: WordToken, tongue: Language) -> bool:
    """Return whether two words share a stem: measure, measurement; or one is a compound with the other, in German."""
    if one.name != other.name:
        return False
    if tongue.nouns and len(one.key) >= _WHOLE_PART and other.key.endswith(one.key):
        return True
    short, long = sorted((one.key, other.key), key=len)
    common = next((place for place, (a, b) in enumerate(zip(short, long, strict=False)) if a != b), len(short))
    derived = len(short) >= _STEM and len(short) - common <= 1 and long[common:] in tongue.derivations  # suit, suitable
    return derived or (common >= 5 and common >= 0.7 * len(long) and len(short) - common <= 2)


def stretches(begins: Sequence[bool]) -> list[range]:
    """Return the sentences or clauses of a text; `begins` says for each word whether one begins there."""
    starts = [0, *itertools.compress(range(len(begins)), begins), len(begins)]
    return [range(*span) for span in itertools.pairwise(starts)]


def sentence_at(tokens: Sequence[WordToken], at: int) -> range:
    """Return the sentence that a word is in."""
    return next(one for one in stretches([token.stops for token in tokens]) if at in one)
