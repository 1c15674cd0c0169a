"""Paraphrased and falsified sentences, by rules and a seeded random generator."""

from __future__ import annotations

import calendar
import itertools
import random
import re
from collections.abc import Callable, Mapping, Sequence

from groundwire.citations.verify.entities import dates_of, names_of
from groundwire.citations.verify.language_packs import language
from groundwire.citations.verify.quantities import numbers_of

__all__ = ["MUTATIONS", "PARAPHRASES", "WORDS_KEPT", "exchanged", "mutate", "names_exchanged", "one_of", "paraphrase"]

NUMBER_WORDS = language("en").numbers
Rule = Callable[[str, random.Random], str | None]
"""Returns a sentence changed, or None when the rule has nothing to change in it."""

_SAME = dict(
    pair.split("=")
    for pair in [
        "said=stated",
        "also=additionally",
        "however=though",
        "began=started",
        "large=big",
        "uses=employs",
        "used=employed",
        "help=assist",
        "helps=assists",
        "buy=purchase",
        "show=demonstrate",
        "shows=demonstrates",
        "many=numerous",
        "important=significant",
        "about=regarding",
        "because=since",
        "get=obtain",
        "need=require",
        "needs=requires",
        "while=whereas",
        "must=have to",
        "often=frequently",
        "make=create",
        "makes=creates",
        "made=created",
        "people=persons",
        "quickly=rapidly",
        "ensure=guarantee",
        "provides=offers",
        "provide=offer",
        "allows=lets",
        "allow=let",
        "nearly=almost",
        "famous=well-known",
        "children=kids",
        "company=firm",
        "located=situated",
        "improve=enhance",
    ]
)
_MONTH = tuple(calendar.month_name)[1:]
_PAIRS = (
    "km=miles kilometres=miles kilometers=miles miles=kilometres mile=kilometre kg=pounds "
    "pounds=kilograms metres=feet meters=feet feet=metres foot=metre hours=days hour=day days=weeks "
    "day=month weeks=months week=month months=years month=year years=months year=month minutes=hours "
    "minute=hour seconds=minutes inches=centimetres inch=centimetre cm=inches mm=cm percent=dollars GB=TB "
    "MB=GB litres=gallons gallons=litres acres=hectares tonnes=kilograms tons=kilograms grams=ounces "
    "ounces=grams "
)
_UNITS = dict(pair.split("=") for pair in _PAIRS.split())


def _digits_apart(sentence: str, chance: random.Random) -> str | None:
    changed = re.sub(r"(?<![\d.,])(\d{1,3}),(\d{3})(?![\d,])", r"\1\2", sentence)
    if changed == sentence:
        changed = re.sub(r"(?<![\d.,/:-])([1-9]\d?)(\d{3})(?![\d.,/:-])(?= [a-z])", r"\1,\2", sentence)
        if re.search(r"(?<!\d)(1[5-9]|20)\d\d(?!\d)", sentence):
            return None
    return None if changed == sentence else changed


def _percent(sentence: str, chance: random.Random) -> str | None:
    changed = re.sub(r"(\d) ?%", r"\1 percent", sentence)
    return None if changed == sentence else changed


def _spelled(sentence: str, chance: random.Random) -> str | None:
    names = {int(value): word for word, value in NUMBER_WORDS.items() if 2 <= value <= 12}
    changed = re.sub(
        r"(?<![\d.,:/$€£%-])\b([2-9]|1[0-2])\b(?= [a-z])(?! (?:percent|million|billion|thousand|[ap]m))",
        lambda found: names[int(found[1])],
        sentence,
    )
    return None if changed == sentence or dates_of(sentence) else changed


def _in_digits(sentence: str, chance: random.Random) -> str | None:
    changed = re.sub(
        r"(?<![\w-])(two|three|four|five|six|seven|eight|nine|ten|eleven|twelve)\b(?= [a-z])",
        lambda found: str(int(NUMBER_WORDS[found[1]])),
        sentence,
    )
    return None if changed == sentence else changed


def _date_otherwise(sentence: str, chance: random.Random) -> str | None:
    for date in dates_of(sentence):
        year, month, day = date.readings[0]
        if len(date.readings) == 1 and year and month and day:
            name = _MONTH[month - 1]
            ways = [f"{day} {name} {year}", f"{name} {day}, {year}", f"{year}-{month:02}-{day:02}"]
            ways = [way for way in ways if way.lower() != date.text.lower()]
            return sentence[: date.start] + chance.choice(ways) + sentence[date.end :]
    return None


def _other_words(sentence: str, chance: random.Random) -> str | None:
    changed = re.sub(r"\b[a-z]+\b", lambda found: _SAME.get(found[0], found[0]), sentence)
    return None if changed == sentence else changed


def _attributed(sentence: str, chance: random.Random) -> str | None:
    first = sentence.split()[0]
    lowered = first if not first.istitle() or (names_of(f"x {first}") and first not in _OPENERS) else first.lower()
    lead = chance.choice(("According to the page, ", "The source says that ", "It is reported that "))
    return lead + lowered + sentence[len(first) :]


_OPENERS = frozenset(
    re.findall(r"\w+", "The A An This These Those It They We You In On At For With As When While After Before If")
)


def _place_first(sentence: str, chance: random.Random) -> str | None:
    found = re.fullmatch(
        r"([A-Z][^,;:()]{20,}?) ((?:in|on|at|during|after|before|since|for|with) (?:[\w'’-]+ ?){2,6})\.", sentence
    )
    if not found:
        return None
    head = found[1]
    first = head.split()[0]
    head = (first.lower() if first in _OPENERS else first) + head[len(first) :]
    return f"{found[2][0].upper()}{found[2][1:]}, {head}."


def _shorter(sentence: str, chance: random.Random) -> str | None:
    found = re.match(r"(.{40,}?),? (?:and|but|which|because|while|although|so that) .{15,}$", sentence)
    return found[1].rstrip(" ,;") + "." if found and len(found[1].split()) >= 7 else None


def _without_brackets(sentence: str, chance: random.Random) -> str | None:
    changed = re.sub(r" \([^()]{3,60}\)", "", sentence)
    return None if changed == sentence else changed


def _contracted(sentence: str, chance: random.Random) -> str | None:
    changed = re.sub(r"\b(is|are|was|were|do|does|did|has|have|would|should|could) not\b", r"\1n't", sentence)
    changed = re.sub(r"\b[Cc]annot\b", "can't", changed)
    if changed == sentence:
        changed = re.sub(r"\b(is|are|was|were|do|does|did|has|have|would|should|could)n['’]t\b", r"\1 not", sentence)
    return None if changed == sentence else changed


PARAPHRASES: Sequence[Rule] = (
    _digits_apart, _percent, _spelled, _in_digits, _date_otherwise, _other_words, _attributed, _place_first, _shorter,
    _without_brackets, _contracted,
)  # fmt: skip
"""The rules by which a sentence is said otherwise without another meaning."""


def paraphrase(sentence: str, chance: random.Random) -> str | None:
    """Return a sentence paraphrased by one to three rules, or None if none applies."""
    changed = sentence
    used = 0
    for rule in chance.sample(PARAPHRASES, len(PARAPHRASES)):
        result = rule(changed, chance)
        if result is not None and used < 3:
            changed, used = result, used + 1
    return changed if used else None


def _number(sentence: str, chance: random.Random) -> str | None:
    dates = dates_of(sentence)
    digits = [
        number
        for number in numbers_of(sentence)
        if re.fullmatch(r"[$€£]?[\d.,]+%?(?: ?[a-z]+)?", number.text)
        and not any(date.start <= number.start < date.end for date in dates)
        and number.values[0] > 1
    ]
    if not digits:
        return None
    number = chance.choice(digits)
    core = re.search(r"\d[\d.,]*\d|\d", number.text)
    assert core is not None
    places = [place for place, character in enumerate(core[0]) if character.isdecimal()]
    place = chance.choice(places)
    other = chance.choice([digit for digit in "123456789" if digit != core[0][place]])
    changed = core[0][:place] + other + core[0][place + 1 :]
    at = number.start + core.start()
    return sentence[:at] + changed + sentence[at + len(core[0]) :]


def _unit(sentence: str, chance: random.Random) -> str | None:
    found = [match for match in re.finditer(r"(?<=\d)[ -]?([A-Za-z]+)\b", sentence) if match[1] in _UNITS]
    if not found:
        return None
    match = chance.choice(found)
    return sentence[: match.start(1)] + _UNITS[match[1]] + sentence[match.end(1) :]


def _date(sentence: str, chance: random.Random) -> str | None:
    dates = [date for date in dates_of(sentence) if len(date.readings) == 1]
    if not dates:
        years = list(re.finditer(r"(?<![\d.,/-])(?:1[6-9]|20)\d\d(?![\d.,/-]|%)", sentence))
        if not years:
            return None
        year = chance.choice(years)
        other = int(year[0]) + chance.choice([-31, -12, -3, -2, -1, 1, 2, 5, 10])
        return sentence[: year.start()] + str(other) + sentence[year.end() :]
    date = chance.choice(dates)
    year_, month, day = date.readings[0]
    parts = [part for part, value in (("year", year_), ("month", month), ("day", day)) if value]
    part = chance.choice(parts)
    if part == "year" and year_:
        text = date.text.replace(str(year_), str(year_ + chance.choice([-10, -2, -1, 1, 2, 5])))
    elif part == "day" and day:
        text = re.sub(
            rf"(?<!\d)0?{day}(?!\d)", str(chance.choice([d for d in range(1, 29) if d != day])), date.text, count=1
        )
    else:
        name = next((word for word in re.findall(r"[^\W\d_]+", date.text) if len(word) > 2), "")
        other_month = chance.choice([m for m in _MONTH if m[:3].lower() != name[:3].lower()])
        text = date.text.replace(name, other_month) if name else date.text
    return None if text == date.text else sentence[: date.start] + text + sentence[date.end :]


def _negated(sentence: str, chance: random.Random) -> str | None:
    changed = re.sub(r"\b(is|are|was|were|can|will|would|should|could|has|have) not\b", r"\1", sentence, count=1)
    if changed == sentence:
        changed = re.sub(
            r"\b(is|are|was|were|can|will|would|should|could)\b(?! not)(?! only)", r"\1 not", sentence, count=1
        )
        if re.search(r"\b(?:not|never|no|without|none|neither|nor|cannot)\b|n['’]t", sentence):
            return None
    return None if changed == sentence else changed


def one_of(sentence: str, chance: random.Random, others: Mapping[str, tuple[str, ...]]) -> str | None:
    """Return a sentence with one word replaced by another from its table row."""
    found = [match for match in re.finditer(r"[A-Za-z]+", sentence) if match[0].lower() in others]
    if not found:
        return None
    match = chance.choice(found)
    word = chance.choice(others[match[0].lower()])
    return sentence[: match.start()] + (word.capitalize() if match[0][0].isupper() else word) + sentence[match.end() :]


_QUANTIFIERS = {
    "all": ("some", "few"), "every": ("no",), "each": ("no",), "some": ("all", "no"), "many": ("few", "all"),
    "most": ("all", "few"), "few": ("many", "most"), "several": ("all",), "always": ("never", "sometimes"),
    "often": ("never", "rarely"), "usually": ("rarely", "always"), "never": ("always",), "sometimes": ("always",),
}  # fmt: skip
_MODALS = {
    "may": ("must", "will"), "might": ("must", "will"), "must": ("may", "might"), "should": ("must", "may"),
    "will": ("may", "might"), "could": ("must", "will"),
}  # fmt: skip
_COMPARED = {
    "more": ("less",), "less": ("more",), "higher": ("lower",), "lower": ("higher",), "larger": ("smaller",),
    "smaller": ("larger",), "better": ("worse",), "worse": ("better",), "best": ("worst",), "largest": ("smallest",),
    "fewer": ("more",), "greater": ("smaller",), "longer": ("shorter",), "shorter": ("longer",), "older": ("younger",),
    "faster": ("slower",), "easier": ("harder",), "earlier": ("later",), "later": ("earlier",), "highest": ("lowest",),
    "cheaper": ("dearer",), "bigger": ("smaller",), "stronger": ("weaker",),
}  # fmt: skip


def _quantifier(sentence: str, chance: random.Random) -> str | None:
    return one_of(sentence, chance, _QUANTIFIERS)


def _modal(sentence: str, chance: random.Random) -> str | None:
    plain = re.sub(r"\b(?:May|Will)\b", "#", sentence)  # the month, a name
    return None if plain != sentence else one_of(sentence, chance, _MODALS)


def _compared(sentence: str, chance: random.Random) -> str | None:
    return one_of(sentence, chance, _COMPARED)


def exchanged(sentence: str, spans: Sequence[tuple[int, int]]) -> str | None:
    (one, end), (two, last) = spans
    if sentence[one:end].lower() == sentence[two:last].lower():
        return None
    return sentence[:one] + sentence[two:last] + sentence[end:two] + sentence[one:end] + sentence[last:]


def _numbers_swapped(sentence: str, chance: random.Random) -> str | None:
    dates = dates_of(sentence)
    found = [
        (number.start, number.end)
        for number in numbers_of(sentence)
        if re.fullmatch(r"[\d.,]*\d", number.text) and not any(date.start <= number.start < date.end for date in dates)
    ]
    found = [span for span in found if len(sentence[span[0] : span[1]]) > 1]
    if len(found) < 2 or re.search(r"\d ?(?:[-–/:x]|to|and|or) ?\d", sentence):
        return None
    return exchanged(sentence, sorted(chance.sample(found, 2)))


def _names_swapped(sentence: str, chance: random.Random) -> str | None:
    found = [
        (name.start, name.end)
        for name in names_of(sentence)
        if (not name.first or len(name.words) > 1) and len(name.text) > 2
    ]
    for first, second in sorted(itertools.pairwise(found), key=lambda _: chance.random()):
        between = sentence[first[1] : second[0]]
        if (
            len(between.split()) >= 2
            and not re.fullmatch(r"\W*(?:,|and|or|&|of the|of|in|the)*\W*", between)
            and "," not in between
        ) and not re.search(r"\b(?:and|or)\b", between):
            return exchanged(sentence, (first, second))
    return None


def names_exchanged(sentence: str, chance: random.Random) -> str | None:
    """Return a sentence of which any two names have changed places, near or far, unless only names are between them."""
    found = [
        (name.start, name.end)
        for name in names_of(sentence)
        if (not name.first or len(name.words) > 1) and len(name.text) > 2
    ]
    pairs = [
        (one, two)
        for one, two in itertools.combinations(found, 2)
        if not re.fullmatch(r"(?:[^\w]|\b(?:and|or|nor|the|a|an|vs?)\b|[A-Z][\w'’.-]*)*", sentence[one[1] : two[0]])
    ]
    return exchanged(sentence, chance.choice(pairs)) if pairs else None


MUTATIONS: dict[str, Rule] = {
    "number": _number, "unit": _unit, "date": _date, "negation": _negated, "quantifier": _quantifier, "modal": _modal,
    "comparison": _compared, "numbers swapped": _numbers_swapped, "names swapped": _names_swapped,
}  # fmt: skip
"""The rules by which a sentence is made wrong, as far as it alone is needed for it."""


WORDS_KEPT = frozenset(
    [
        "about",
        "above",
        "after",
        "again",
        "along",
        "although",
        "among",
        "around",
        "because",
        "before",
        "being",
        "below",
        "between",
        "could",
        "during",
        "either",
        "every",
        "having",
        "himself",
        "itself",
        "maybe",
        "might",
        "other",
        "others",
        "quite",
        "rather",
        "shall",
        "should",
        "since",
        "still",
        "their",
        "theirs",
        "there",
        "these",
        "thing",
        "things",
        "those",
        "though",
        "through",
        "together",
        "toward",
        "towards",
        "under",
        "until",
        "using",
        "which",
        "while",
        "whose",
        "within",
        "without",
        "would",
        "years",
        "often",
        "never",
        "always",
    ]
)


def mutate(sentence: str, kind: str, names: Sequence[str], others: Sequence[str], chance: random.Random) -> str | None:
    """Return a falsified sentence, or None if no rule applies.

    Args:
        sentence: A true sentence.
        kind: One of `MUTATIONS`, `name`, `word`, `half invented` or `invented`.
        names: Names from this page and from others, to put in place of one.
        others: Sentences of other pages.
        chance: Decides.
    """
    if kind in MUTATIONS:
        return MUTATIONS[kind](sentence, chance)
    if kind == "name":
        mine = [name for name in names_of(sentence) if not name.first or len(name.words) > 1]
        rest = [name for name in names if not set(name.lower().split()) & set(sentence.lower().split())]
        if not mine or not rest:
            return None
        name = chance.choice(mine)
        return sentence[: name.start] + chance.choice(rest) + sentence[name.end :]
    if kind == "word":
        spans = [
            match for match in re.finditer(r"(?<![\w'’-])[a-z]{5,}(?![\w'’-])", sentence) if match[0] not in WORDS_KEPT
        ]
        words = [word for word in re.findall(r"\b[a-z]{5,}\b", chance.choice(others)) if word not in WORDS_KEPT]
        words = [word for word in words if word not in sentence]
        if len(spans) < 4 or not words:
            return None
        match = chance.choice(spans)
        return f"{sentence[: match.start()]}{chance.choice(words)}{sentence[match.end() :]}"
    if kind == "half invented":
        words, other = sentence.rstrip(".!").split(), chance.choice(others).rstrip(".!").split()
        if len(words) < 10 or len(other) < 10:
            return None
        return " ".join([*words, "and", *other[-min(9, len(other) - 3) :]]) + "."
    if kind == "invented":
        words, other = sentence.split(), chance.choice(others).split()
        if len(words) < 10 or len(other) < 10:
            return None
        return " ".join([*words[: len(words) // 3], *other[len(other) // 3 :]])
    raise ValueError(kind)
