"""What the text of each block looks like."""

from __future__ import annotations

import re
from collections.abc import Sequence
from typing import Final

from groundwire.reading.codes import log
from groundwire.reading.lexicon import NEUTRAL, Lexicon, edges

__all__ = ["Wording", "read_wording"]

_ENDS: Final = {
    **dict.fromkeys(".!?…。！？", 1), **dict.fromkeys(",;、，", 2), ":": 3, "：": 3, **dict.fromkeys("\"”’)»]」", 4),
    **dict.fromkeys("›→>»|", 5),
}  # fmt: skip
_SIGNS: Final = {**dict.fromkeys("©®™", 1), **dict.fromkeys("$€£¥₹", 2), "@": 3, **dict.fromkeys("|•·›»→←", 4)}
_SIGN: Final = re.compile("[" + "".join(_SIGNS) + "]")
_MONEY: Final = 2
_CLOCK: Final = 5
_YEAR: Final = 6
_TIME: Final = re.compile(r"\d:\d\d|\b(?:19|20)\d\d\b")
_DIGITS: Final = re.compile(r"\d")
_FIGURES: Final = b"0123456789"
_SHORT: Final = 100  # characters; more are looked at as running text
_FAR: Final = 200  # blocks since a heading


class Wording:
    """What the texts of a page look like: columns of codes, and counts for the page.

    Attributes:
        cases: 1 for a block in title case, 2 for one in capitals.
        repeats: How often the text has been seen before, up to four.
        money: Short blocks with a price.
        times: Short blocks with a time or a year.
    """

    def __init__(self, count: int) -> None:
        self.ends = bytearray(count)
        self.starts = bytearray(count)
        self.cases = bytearray(count)
        self.digits = bytearray(count)
        self.signs = bytearray(count)
        self.sentences = bytearray(count)
        self.commas = bytearray(count)
        self.phrases = bytearray(count)
        self.first_words = bytearray(count)
        self.two_words = bytearray(count)
        self.last_words = bytearray(count)
        self.repeats = bytearray(count)
        self.same_as_heading = bytearray(count)
        self.since_heading = bytearray(count)
        self.heading_sizes = bytearray(count)
        self.money = 0
        self.times = 0


def read_wording(texts: Sequence[str], headings: Sequence[bool], main_heading: str | None, lexicon: Lexicon) -> Wording:
    """Return what the texts of a page look like.

    Args:
        texts: The blocks.
        headings: Whether each block is a heading.
        main_heading: The text of the page's main heading, in small letters.
        lexicon: What words mean.
    """
    found = Wording(len(texts))
    seen: dict[str, int] = {}
    since, heading_size = _FAR, 0
    search_sign, search_time, find_digits = _SIGN.search, _TIME.search, _DIGITS.findall
    phrases, openings, endings = lexicon.phrases.get, lexicon.openings.get, lexicon.endings.get
    ends, starts, cases, digits, signs = found.ends, found.starts, found.cases, found.digits, found.signs
    sentences, commas, since_heading, heading_sizes = (
        found.sentences, found.commas, found.since_heading, found.heading_sizes,
    )  # fmt: skip
    phrase_codes, first_words, two_words, last_words = (
        found.phrases, found.first_words, found.two_words, found.last_words,
    )  # fmt: skip
    initials: dict[str, int] = {}
    for block, text in enumerate(texts):
        size = len(text)
        ascii_only = text.isascii()
        ends[block] = _ENDS.get(text[-1], 0)
        initial = initials.get(text[0])
        if initial is None:
            initial = initials[text[0]] = _initial(text[0])
        starts[block] = initial
        if size < _SHORT:
            cases[block] = 1 if text.istitle() else 2 if text.isupper() else 0
            lowered = text.lower()
            phrase_codes[block] = phrases(lowered, NEUTRAL)
            before = seen.get(lowered, 0)
            seen[lowered] = before + 1
            if before:
                found.repeats[block] = min(4, before)
            if lowered == main_heading:
                found.same_as_heading[block] = 1
            number = size - len(text.encode().translate(None, _FIGURES)) if ascii_only else len(find_digits(text))
            if number:
                digits[block] = 200 * number // size
            one, two, end = edges(text, lowered)
        else:
            phrase_codes[block] = NEUTRAL
            one, two, end = edges(text)
        if size > 40:
            count = text.count
            sentences[block] = log(count(". ") + count("? ") + count("! ") + count("。"))
            commas[block] = log(count(",") + count("、") + count("，"))
        match = None
        if not ascii_only or "$" in text or "@" in text or "|" in text:  # all of them that are ASCII
            match = search_sign(text, 0, 80)
        if match is not None:
            sign = signs[block] = _SIGNS[match[0]]
            if sign == _MONEY and size < 40:
                found.money += 1
        elif digits[block] and (match := search_time(text)) is not None:
            signs[block] = _CLOCK if ":" in match[0] else _YEAR
            if size < 60:
                found.times += 1
        first_words[block] = openings(one, NEUTRAL)
        two_words[block] = openings(two, NEUTRAL)
        last_words[block] = endings(end, NEUTRAL)
        if headings[block]:
            since, heading_size = 0, log(size)
        elif since < _FAR:
            since += 1
        since_heading[block] = since
        heading_sizes[block] = heading_size
    return found


def _initial(char: str) -> int:
    if char.isupper():
        return 1
    if char.islower():
        return 2
    if char.isdigit():
        return 3
    return 4 if char.isalpha() else 5
