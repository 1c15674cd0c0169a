"""Comparison of the facts of a sentence and a passage: numbers, units, dates, names, negations, quotations."""

from __future__ import annotations

import re
from collections.abc import Iterator, Sequence
from dataclasses import dataclass, field
from difflib import SequenceMatcher
from functools import cached_property
from typing import Final

from groundwire.citations.verify.alignment import Alignment, WordToken, tokens_of
from groundwire.citations.verify.cited_parts import exchanged_counts
from groundwire.citations.verify.comparisons import abbreviates, equal_numbers, of_other_unit
from groundwire.citations.verify.differences import made_up as _made_up
from groundwire.citations.verify.differences import reworded
from groundwire.citations.verify.entities import (
    Date,
    Name,
    comparable,
    dates_of,
    denied,
    distance,
    is_derived,
    is_like,
    is_vague,
    is_year,
    names_of,
    same_date,
    same_number,
    small_count,
)
from groundwire.citations.verify.language_packs import Language, fold, language
from groundwire.citations.verify.passage_index import IndexedPassage, PageIndex
from groundwire.citations.verify.quantities import MAX_NUMBERS, Number, numbers_of
from groundwire.citations.verify.report import Disagreement
from groundwire.citations.verify.segmentation import (
    CONTENT_WORD,
    most_like,
    other_first_names,
    pieces_of,
    quotes_of,
    spelled_words,
    squeezed,
    words_of,
)

__all__ = ["Claim", "disagreements", "quoted_otherwise"]

_BEFORE, _AFTER = 3, 1  # sentences around a passage that count as its context
_ALIKE: Final = 0.6  # share of a sentence's words from which a missing "not" is a contradiction
_DIGITS: Final = 8  # numbers that help to find the passage
_FEW_DIGITS: Final = 2
_WORDS_BEHIND: Final = 20  # characters behind a number
_NEAR_BY: Final = 2  # words around a "not" that another sentence has without one
_OPENING: Final = 200  # characters that may name what a page is about
_VERBATIM: Final = 0.75  # similarity of two sentences from which a replaced word is a change


@dataclass(frozen=True)
class Claim:
    """A sentence of the answer, without markers and markup."""

    text: str
    """What it says."""
    language: Language = field(default_factory=lambda: language("en"))
    """The language whose words it is compared by: that of the page."""

    @cached_property
    def words(self) -> dict[str, str]:
        """Its words by normal form; function words, negations and numbers only if it has no others."""
        words = {form: word for form, word in spelled_words(self.text, self.language) if not self._denies(word)}
        return {form: word for form, word in words.items() if not form[0].isdecimal()} or words

    @cached_property
    def digits(self) -> list[str]:
        """Its numbers in digits, as the page's words are found."""
        return [form for form, _ in spelled_words(self.text, self.language) if form[0].isdecimal()][:_DIGITS]

    def _denies(self, word: str) -> bool:
        marker = self.language.markers.get(fold(word))
        return marker is not None and marker.family == "negation" and not self.language.dense

    @cached_property
    def dates(self) -> list[Date]:
        """Its dates."""
        return dates_of(self.text)

    @cached_property
    def numbers(self) -> list[Number]:
        """Its numbers that are not part of a date."""
        return _outside(numbers_of(self.text, self.language)[:MAX_NUMBERS], self.dates)

    @cached_property
    def names(self) -> list[Name]:
        """Its names."""
        return names_of(self.text, self.language)

    @cached_property
    def tokens(self) -> list[WordToken]:
        """Its words, numbers and dates."""
        return tokens_of(self.text, self.language, self.dates)

    @cached_property
    def states_facts(self) -> bool:
        """Whether it states something that a source could confirm."""
        named = {word for name in self.names for word in name.words}  # a name alone is a heading, or an item
        told = any(not name.first or len(name.words) > 1 for name in self.names) and not named.issuperset(self.words)
        return bool(self.numbers or self.dates) or told


def disagreements(claim: Claim, passage: IndexedPassage, aligned: Alignment, *, words: bool) -> Iterator[Disagreement]:
    """Yield the differences between a sentence and the passage most similar to it.

    Args:
        claim: The sentence.
        passage: The passage.
        aligned: The word alignment.
        words: Whether to look for replaced and reordered words if no fact differs.
    """
    around = passage.around(_BEFORE, _AFTER)
    closest, close_share = _closest(claim, passage)
    facts = [*_dates(claim, passage, around), *_numbers(claim, passage, around, copied=aligned.copies)]
    named = list(_names(claim, passage.page, closest, around, aligned)) or list(_swapped(claim, passage.page, closest))
    facts += named
    pairs = [] if named else other_first_names(claim.text, around.text, passage.page.content, claim.language)
    facts += [Disagreement(kind="name", claimed=one, stated=other) for one, other in pairs]
    negated = _negated_otherwise(claim.text, closest, passage.text, claim.language) if close_share >= _ALIKE else None
    if negated and not _made_up(aligned):  # not safe, dangerous
        facts.append(Disagreement(kind="negation", claimed=negated[0], stated=negated[1]))
    if words and not facts:
        near = f"{around.text} {passage.page.title}"
        facts += reworded(
            aligned, lambda: frozenset(key for one in tokens_of(near, claim.language, (), ()) for key in one.keys)
        )
    mine, theirs = (claim.text, claim.numbers), (around.text, around.numbers)
    if not facts and (counts := exchanged_counts(mine, theirs, claim.language)):
        facts.append(Disagreement(kind="number", claimed=counts[0], stated=counts[1]))
    yield from facts


def quoted_otherwise(claim: Claim, page: PageIndex) -> Iterator[Disagreement]:
    """Yield the quotations of a sentence that the page words differently or does not have."""
    for span in quotes_of(claim.text):
        quote = claim.text[span.start : span.end]
        if all(part in page.squeezed for part in map(squeezed, pieces_of(quote)) if part):
            continue
        if " " not in quote and page.has(page.language.normal_form(quote), quote):  # in another case
            continue
        passage, share = page.best(dict(spelled_words(quote, page.language)), widest=2)
        stated = " ".join(passage.text.split()) if passage is not None and share >= 0.5 else ""
        yield Disagreement(kind="quote", claimed=quote, stated=most_like(quote, stated, page.language))


def _outside(numbers: Sequence[Number], dates: Sequence[Date]) -> list[Number]:
    return [
        number for number in numbers if not any(date.start <= number.start and number.end <= date.end for date in dates)
    ]


def _dates(claim: Claim, passage: IndexedPassage, near: IndexedPassage) -> Iterator[Disagreement]:
    stated = passage.dates
    for date in claim.dates:
        if date.readings[0][::2] == (None, None):  # the end of May
            continue
        if any(same_date(date, other) for other in (stated or near.dates)):
            continue
        if _month_then_number(date, passage):
            continue
        if _in_parts(date, passage if stated else near):
            continue
        other = next((other for other in stated if not any(same_date(mine, other) for mine in claim.dates)), None)
        yield Disagreement(kind="date", claimed=date.text, stated=other.text if other else "")


def _month_then_number(date: Date, passage: IndexedPassage) -> bool:
    """Return whether an apparent date is a month and a number: 12 in April, and in May 19."""
    year, _, day = date.readings[0]
    month = re.match(r"[^\W\d_]+", date.text)
    if year is not None or month is None or day is None:
        return False
    return month[0] in passage.text and any(day == number.amount for number in passage.numbers)


def _in_parts(date: Date, passage: IndexedPassage) -> bool:
    """Return whether the month and the year of a date are both in a text but not adjacent, as in a table."""
    stated = [reading for other in passage.dates for reading in other.readings]
    months = {month for _, month, _ in stated}
    years = {year for year, _, _ in stated} | {value for number in passage.numbers for value in number.values}
    return any(
        day is None and year is not None and year in years and month in months for year, month, day in date.readings
    )


def _numbers(claim: Claim, passage: IndexedPassage, near: IndexedPassage, *, copied: bool) -> Iterator[Disagreement]:
    stated = passage.numbers
    taken: list[Number] = []
    missing: list[tuple[Number, Number | None]] = []
    for number in claim.numbers:
        same = equal_numbers(number, stated)
        taken += same
        if not same or of_other_unit(number, same):
            missing.append((number, same[0] if same else None))
    left = [other for other in _outside(stated, passage.dates) if other not in taken]
    context = passage.around(0 if passage.is_item else _BEFORE, _AFTER).numbers if missing else []
    words = [fold(word[0]) for word in CONTENT_WORD.finditer(near.text)] if missing else []
    for number, other_unit in missing:
        behind = fold(claim.text[number.end :][:_WORDS_BEHIND]).split()[:1]
        if is_derived(number, (claim.numbers, stated, near.numbers), near.dates, words, claim.language, behind):
            continue
        replaced = any(number.unit == other.unit and is_year(number) == is_year(other) for other in left)
        if other_unit is None and not replaced and (same := equal_numbers(number, context)):
            if not of_other_unit(number, same):
                continue
            other_unit = same[0]
        if other_unit is not None:
            yield Disagreement(kind="unit", claimed=_with_unit(number), stated=_with_unit(other_unit))
            continue
        listed = small_count(number) in passage.page.sizes
        if listed or is_vague(number) or _is_part(number, passage.text, claim.language):
            continue
        free = copied or not _is_elsewhere(number, passage, context)
        rivals = (other for other in left if free and (copied or _is_rival(number, other, passage)))
        closest = min(rivals, key=lambda other: distance(number, other), default=None)
        yield Disagreement(kind="number", claimed=number.text, stated=closest.text if closest else "")


def _is_elsewhere(number: Number, passage: IndexedPassage, near: Sequence[Number]) -> bool:
    """Return whether a page has a number near a passage, or a year or a large number anywhere."""
    long = number.text.isdecimal() and len(number.text) > _FEW_DIGITS and passage.page.has(number.text, number.text)
    return long or any(same_number(number, other) for other in near)


def _is_rival(number: Number, other: Number, passage: IndexedPassage) -> bool:
    """Return whether a passage has another number instead of one: not the rest of a hundred, nor a part of a score."""
    scored = re.search(
        r"\d[-–:]$|^[-–:]\d", f"{passage.text[: other.start][-2:]}\n{passage.text[other.end :][:2]}", re.MULTILINE
    )
    whole = number.unit == other.unit == "%" and number.amount + other.amount == 100.0
    return comparable(number, other) and not whole and not scored


def _is_part(number: Number, text: str, tongue: Language) -> bool:
    """Return whether a number is the start of a compound in a text: eleven years, an elevenyear term in German."""
    return tongue.nouns and number.text.isalpha() and f" {fold(number.text)}" in " ".join(("", *fold(text).split()))


def _with_unit(number: Number) -> str:
    shown = not number.unit or number.unit in number.text or not number.text[0].isdecimal()
    return number.text if shown else f"{number.text} {number.unit}"


def _names(
    claim: Claim, page: PageIndex, said: str, near: IndexedPassage, aligned: Alignment
) -> Iterator[Disagreement]:
    tongue = claim.language
    measures = tongue.units.keys() | tongue.scales.keys()
    found = {token.start for token, there in zip(aligned.claim, aligned.to, strict=True) if there is not None}
    here = _bare_words(said, tongue)
    if all(word in here for name in claim.names for word in name.words):
        return
    around = here | _bare_words(near.text, tongue) | _bare_words(page.title, tongue)
    opening = _bare_words(page.content[:_OPENING].lstrip().partition("\n")[0], tongue)
    claimed = {*claim.words, *(word for name in claim.names for word in name.words)}
    replaced = _replaced(claim.text, said, tongue)
    stated = names_of(said, tongue)
    others = [
        name
        for name in stated
        if not any(is_like(word, mine) for word in name.words for mine in claimed)
        and (not name.first or len(name.words) > 1 or page.is_name(name.words[0], name.text))
    ]
    for name in claim.names:
        if any(date.start <= name.start < date.end for date in claim.dates):
            continue
        lost = [word for word in name.words if len(word) > 1 and not any(is_like(word, other) for other in here)]
        lost = [word for word in lost if here.isdisjoint(tongue.groups.get(word, ()))]  # Dr., Doctor
        instead = ""
        places = [name.start + word.start() for word in CONTENT_WORD.finditer(name.text)]
        if not lost or measures.issuperset(fold(name.text).split()) or found.issuperset(places):
            continue
        if name.first and " " not in name.text:  # it may be any word: only a name in its position is evidence
            instead = next((other.text for other in others if other.first), "")
        elif len(lost) < len(name.words):
            instead = next((other.text for other in stated if _replaces(other, name, claimed)), "")
        else:
            instead = others[0].text if others else ""
            short = opening if any(word in around for word in name.words) else frozenset[str]()  # the library
            lost = [word for word in lost if not any(is_like(word, other) for other in around | short)]
            if not instead and lost and _has_initials(near.text, name.text, tongue):
                continue
            if not instead and lost[name.first and len(name.words) > len(lost) :]:
                yield Disagreement(kind="name", claimed=name.text, stated="")
                continue
            instead = instead or next((replaced[word] for word in lost if word in replaced), "")
        if instead and not abbreviates(name.text, instead):
            yield Disagreement(kind="name", claimed=name.text, stated=instead)


def _has_initials(text: str, name: str, tongue: Language) -> bool:
    """Return whether an abbreviation has the initials of content words that follow one another in a text."""
    words = [word[0] for _, word in spelled_words(text, tongue)] if name.isupper() and name.isalpha() else []
    return name.casefold() in fold("".join(words))


def _swapped(claim: Claim, page: PageIndex, said: str) -> Iterator[Disagreement]:
    """Yield the names of a sentence that replace others in a nearly identical one."""
    mine, theirs = list(CONTENT_WORD.finditer(claim.text)), list(CONTENT_WORD.finditer(said))
    normal_form = claim.language.normal_form
    one, two = [normal_form(word[0]) for word in mine], [normal_form(word[0]) for word in theirs]
    matcher = SequenceMatcher(None, one, two, autojunk=False)
    if not claim.names or matcher.ratio() < _VERBATIM:
        return
    changes = [change[1:] for change in matcher.get_opcodes() if change[0] != "equal"]
    told = (word[0] for first, last, *_ in changes for word in mine[first:last])
    known = {key for word in told for key in claim.language.keys(word)}
    for first, last, from_theirs, to_theirs in changes:
        here = [word for word in mine[first:last] if any(name.start <= word.start() < name.end for name in claim.names)]
        there = [word for word in theirs[from_theirs:to_theirs] if _may_name(word[0], claim.language)]
        if not here or not there or _is_short_for(here, there) or _is_short_for(there, here):
            continue
        others = [word for word in there if known.isdisjoint(claim.language.keys(word[0]))]
        others = [word for word in others if not any(is_like(normal_form(word[0]), other) for other in one[first:last])]
        begins = not first or not from_theirs  # any word is capitalized there
        if begins:
            others = [word for word in others if page.is_name(normal_form(word[0]), word[0])]
        if others:
            yield Disagreement(
                kind="name",
                claimed=claim.text[here[0].start() : here[-1].end()],
                stated=said[there[0].start() : there[-1].end()],
            )


def _may_name(word: str, tongue: Language) -> bool:
    return word[0].isupper() and not tongue.is_function(word) and fold(word) not in tongue.not_names


def _is_short_for(short: Sequence[re.Match[str]], long: Sequence[re.Match[str]]) -> bool:
    """Return whether a word consists of the initials of others: US, United States; J., John."""
    return "".join(word[0] for word in short).casefold() == "".join(word[0][0] for word in long).casefold()


def _replaced(claimed: str, stated: str, tongue: Language) -> dict[str, str]:
    """Return the words of a sentence that differ from those of a nearly identical one."""
    mine, theirs = CONTENT_WORD.findall(claimed), CONTENT_WORD.findall(stated)
    one, two = [tongue.normal_form(word) for word in mine], [tongue.normal_form(word) for word in theirs]
    matcher = SequenceMatcher(None, one, two, autojunk=False)
    if matcher.ratio() < _VERBATIM:
        return {}
    return {
        word: " ".join(theirs[from_theirs:to_theirs])
        for change, first, last, from_theirs, to_theirs in matcher.get_opcodes()
        if change == "replace" and any(not tongue.is_function(word) for word in theirs[from_theirs:to_theirs])
        for word in one[first:last]
    }


def _negated_otherwise(claimed: str, stated: str, passage: str, tongue: Language) -> tuple[str, str] | None:
    """Return what one of two sentences denies and the other states, in their words; None if the passage agrees."""
    mine, theirs = denied(claimed, tongue), denied(stated, tongue)
    said = [scope.near for scope in denied(passage, tongue)] if mine and not theirs else []
    mine = [scope for scope in mine if scope.near not in said]  # another sentence of the passage denies it
    my_words, their_words = set(words_of(claimed, tongue)), set(words_of(stated, tongue))
    all_mine = {word for scope in mine for word in scope.wide}
    all_theirs = {word for scope in theirs for word in scope.wide}
    for scope in mine:
        common = scope.near & their_words
        if (scope.near and len(common) >= min(2, len(scope.near)) and not common & all_theirs) or (
            not theirs and len(scope.wide & their_words) >= _NEAR_BY
        ):
            return scope.text, " ".join(stated.split())
    for scope in theirs:
        common = scope.near & my_words
        if common and len(common) >= min(2, len(scope.near)) and not common & all_mine:
            return " ".join(claimed.split()), scope.text
    return None


def _replaces(other: Name, name: Name, claimed: set[str]) -> bool:
    """Return whether a passage replaces one word of a name: John Smith for John Brown."""
    common = [word for word in other.words if any(is_like(word, mine) for mine in name.words)]
    return bool(common) and any(
        word not in common and not any(is_like(word, mine) for mine in claimed) for word in other.words
    )


def _bare_words(text: str, tongue: Language) -> set[str]:
    words = [tongue.normal_form(word) for word in CONTENT_WORD.findall(text)]
    return {key for word in words for key in (word, *tongue.groups.get(word, ()))}


def _closest(claim: Claim, passage: IndexedPassage) -> tuple[str, float]:
    """Return the sentence of a passage most similar to a claim, and the share of its words it has."""
    wanted = claim.words.keys()
    told = {text: len(wanted & words) for text, words in passage.sentences}
    best = max(told, key=told.__getitem__)
    return best, told[best] / len(wanted)
