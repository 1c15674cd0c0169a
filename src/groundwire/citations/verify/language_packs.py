"""Language data: number words, units, months, negation, quantifiers, antonyms, synonyms.

Each is a file in `languages/`, loaded when first needed; `shared.toml` has units and languages with little data.
"""

from __future__ import annotations

import itertools
import re
import tomllib
import unicodedata
from collections.abc import Callable, Iterable, Iterator, Mapping
from functools import lru_cache
from importlib.resources import files
from types import MappingProxyType
from typing import Any, Final, NamedTuple

__all__ = [
    "DENSE", "LANGUAGES", "UNIT_BASES", "VOWEL_MARKS", "Language", "Marker", "dimension_of",
    "fold", "language", "months_of_all", "pack_text",
]  # fmt: skip

DENSE: Final = (
    "\u0e00-\u0eff\u1000-\u109f\u1780-\u17ff\u3040-\u30ff\u3400-\u4dbf\u4e00-\u9fff\uac00-\ud7af\uf900-\ufaff"
)
"""The characters of scripts without spaces, as a regular expression class: words are compared by pairs of them."""

VOWEL_MARKS: Final = MappingProxyType(dict.fromkeys(range(0x64B, 0x653)))
"""The vowel marks of Arabic, which few texts have, for `str.translate`."""

LANGUAGES: Final = ("en", "de", "fr", "es", "pt", "ru", "zh", "ja", "ar", "it", "nl")
"""The languages that have a pack."""

_LITTLE: Final = ("it", "nl")  # those in the shared file
_ENDINGS: Final = tuple(
    one.split(">") for one in ["ies>y", "ied>y", "ily>y", "ings>", "ing>", "edly>", "ed>", "es>", "ly>", "s>"]
)
_WORD: Final = 24  # characters of a word that is folded once
_SHORTEST: Final = 3  # characters of a word without its ending
_SPELLED_OTHERWISE: Final = str.maketrans("أإآٱىةß", "اااايهs")


class Marker(NamedTuple):
    """The effect of a function word: it denies, counts, weakens or compares."""

    family: str
    """Such as `negation`, `quantifier`, `modal`, `bound` or `degree`."""
    kind: str
    """Which one of its family, such as `all` or `some`."""


def fold(text: str) -> str:
    """Remove case and diacritics from a text; every character keeps its position."""
    if text.isascii():
        return text.lower()
    return _folded(text) if len(text) <= _WORD else _folded.__wrapped__(text)


@lru_cache(maxsize=20_000)
def _folded(text: str) -> str:
    low = text.lower() if len(text.lower()) == len(text) else "".join(one.lower()[0] for one in text)
    for character in set(low):
        if not character.isascii() and (plain := _plain(character)) != character:
            low = low.replace(character, plain)
    return low


@lru_cache(maxsize=20_000)
def _plain(character: str) -> str:
    if "\u3040" <= character <= "\u9fff" or "\uac00" <= character <= "\ud7af":
        return character
    spread = [one for one in unicodedata.normalize("NFKD", character) if not unicodedata.combining(one)]
    plain = "'" if character == "’" else spread[0] if len(spread) == 1 else character
    return plain.translate(_SPELLED_OTHERWISE)


def _lines(data: Mapping[str, Any], name: str) -> Iterator[str]:
    yield from filter(None, map(str.strip, str(data.get(name, "")).splitlines()))


def _valued(data: Mapping[str, Any], name: str) -> Iterator[tuple[str, str]]:
    """Yield the words and values of lines such as `12: twelve dozen`."""
    for line in _lines(data, name):
        value, _, words = line.partition(":")
        for word in words.split():
            yield fold(word.replace("_", " ")), value.strip()


def _numbers(data: Mapping[str, Any], name: str) -> Mapping[str, float]:
    return MappingProxyType({word: float(value) for word, value in _valued(data, name)})


def _any_of(phrases: Iterable[str]) -> str:
    """Return a regular expression for phrases, the longest first: common beginnings are read once."""
    groups = itertools.groupby(sorted(set(phrases), key=lambda one: (one[:1], -len(one))), key=lambda one: one[:1])
    found = ((first, "|".join(re.escape(phrase[1:]) for phrase in group)) for first, group in groups)
    return "|".join(f"{re.escape(first)}(?:{rests})" for first, rests in found) or "(?!)"


class Language:
    """A language: its words, and the normal form in which they are compared.

    Args:
        code: Its code of ISO 639-1.
        data: The content of its file.
    """

    pronouns: frozenset[str]
    not_names: frozenset[str]
    particles: frozenset[str]
    passive: frozenset[str]
    agent: frozenset[str]
    articles: frozenset[str]
    conjunctions: frozenset[str]
    nor: frozenset[str]
    object: frozenset[str]
    later: frozenset[str]
    earlier: frozenset[str]
    additive: frozenset[str]
    limiting: frozenset[str]
    vague: frozenset[str]
    day_range: frozenset[str]
    excepting: frozenset[str]
    until: frozenset[str]
    titles: frozenset[str]
    """Titles and offices before a last name."""
    than: frozenset[str]
    """The words before what something is compared with."""
    contrasting: frozenset[str]
    """Conjunctions that begin a clause about something else: while, whereas, but."""
    partitive: frozenset[str]
    """Words between a part and its whole: two of the nine."""
    hedging: frozenset[str]
    """Words for what is possible, planned or believed."""
    certain: frozenset[str]
    instead: frozenset[str]
    """Words for what is done in place of something that is not: instead."""

    def __init__(self, code: str, data: Mapping[str, Any]) -> None:
        self.code: str = code
        self.normal_form: Callable[[str], str] = lru_cache(maxsize=20_000)(self._without_endings)
        """Returns a word without case, diacritics and the most common endings."""
        self.keys: Callable[[str], tuple[str, ...]] = lru_cache(maxsize=20_000)(self._keys)
        """Returns the comparison keys of a word: its normal form and its synonym groups."""
        self.related_keys: Callable[[str], tuple[str, ...]] = lru_cache(maxsize=20_000)(self._related_keys)
        """Returns the same of a word that the lists of content words have; empty for others."""
        self.dense: bool = data.get("dense") == "true"
        self.nouns: bool = data.get("nouns") == "true"
        self.case: bool = data.get("case") == "true"
        self._endings = tuple(sorted(map(fold, data.get("endings", "").split()), key=len)[::-1])
        self.prefixes: tuple[str, ...] = tuple(sorted(map(fold, data.get("prefixes", "").split()), key=len)[::-1])
        lines = map(str.split, _lines(data, "forms" if code == "en" else "stems"))
        self._forms = {form: words[0] for words in lines for form in words[code == "en" :]}
        self.spellings: Mapping[str, tuple[str, ...]] = MappingProxyType(self._spellings())
        self.script: str = str(data.get("script", "latin"))
        words = data.get("function", "").split()
        self.function_words: frozenset[str] = frozenset(words if self.script == "latin" else map(fold, words))
        for name in (
            "pronouns", "not_names", "particles", "passive", "agent", "articles", "conjunctions", "nor", "object",
            "later", "earlier", "additive", "limiting", "vague", "day_range", "excepting", "until", "titles", "than",
            "contrasting", "partitive", "hedging", "certain", "instead",
        ):  # fmt: skip
            setattr(self, name, self._folded(data, name))
        self.subject: frozenset[str] = self._folded(data, "subject")
        """The articles or particles by which a subject is known, if they are others than those of an object."""
        self.object_begins: frozenset[str] = self._folded(data, "object_begins")
        """What follows a verb that has an object, in languages with the subject before the verb."""
        self.clitics: frozenset[str] = self._folded(data, "clitics")
        """Pronouns before a verb for an object that may precede them: El museo lo fundó Ana."""
        self.cause: frozenset[str] = self._folded(data, "cause")
        """Phrases before a cause, or behind it in Japanese: because of."""
        self.attribution: frozenset[str] = self._normal(data.get("attribution", "").split())
        self.generic: frozenset[str] = self._normal(data.get("generic", "").split())
        self.symmetric: frozenset[str] = self._normal(data.get("symmetric", "").split())
        self.price: frozenset[str] = self._normal(data.get("price", "").split())
        self.derivations: tuple[str, ...] = tuple(map(fold, data.get("derivations", "").split()))
        """The endings, in normal form, by which a word is derived from the stem of another."""
        self.denying: frozenset[str] = self._normal(data.get("denying", "").split())
        """Words that deny what they govern: a ban on smoking, a lack of water."""
        self.modal_words: Mapping[str, frozenset[str]] = MappingProxyType(
            {kind: self._normal(data.get(of, "").split()) for kind, of in (("may", "permitting"), ("must", "obliging"))}
        )
        """Words that say what a modal verb does: it is allowed, it is required."""
        self.duties: Mapping[str, str] = MappingProxyType(dict(_valued(data, "duties")))
        """The phrases that require, allow or forbid: `must`, `may`, `must not`, `need not`."""
        edge = "" if self.dense else r"\b"
        self.duty: re.Pattern[str] = re.compile(f"{edge}(?:{_any_of(self.duties)}){edge}")
        self.rates: Mapping[str, str] = MappingProxyType(dict(_valued(data, "rates")))
        """The words that say how often: a unit of time, a count, `times` behind one, and `each` before a unit."""
        self.weekdays: Mapping[str, int] = MappingProxyType(
            {fold(name): day for day, names in enumerate(data.get("weekdays", ())) for name in names.split()}
        )
        """The weekdays, from 0 for Monday."""
        self.joiner: str = fold(data.get("joiner", ""))
        named = enumerate(map(str.split, data.get("months", ())), start=1)
        self.months: Mapping[str, int] = MappingProxyType(
            {fold(name.replace("_", " ")): number for number, names in named for name in names}
        )
        self.numbers: Mapping[str, float] = _numbers(data, "numbers")
        self.ordinals: Mapping[str, float] = _numbers(data, "ordinals")
        self.scales: Mapping[str, float] = _numbers(data, "scales")
        self.fractions: Mapping[str, float] = _numbers(data, "fractions")
        self.units: Mapping[str, str] = MappingProxyType(dict(_SIGNS) | dict(_valued(data, "units")))
        self.opposites: Mapping[str, frozenset[str]] = self._pairs(data, "opposites")
        self.other_ending: frozenset[frozenset[str]] = frozenset(
            frozenset(map(fold, (one, other)))
            for left, _, right in (line.partition("|") for line in _lines(data, "opposites"))
            for one, other in itertools.product(left.split(), right.split())
            if one[:_SHORTEST] == other[:_SHORTEST]
        )
        """Opposites that may be taken for forms of one word: hermano, hermana."""
        self.converse: Mapping[str, frozenset[str]] = self._pairs(data, "converse")
        self.contrasts: Mapping[str, tuple[str, ...]] = self._groups(_lines(data, "contrasts"), "c")
        grouped = (*_lines(data, "synonyms"), *_lines(data, "forms"))
        self.groups: Mapping[str, tuple[str, ...]] = self._groups(grouped, "g")
        self.markers: Mapping[str, Marker] = MappingProxyType(
            {
                fold(phrase.replace("_", " ")): Marker(family, kind)
                for family, kinds in reversed(data.get("markers", {}).items())
                if family != "rounded"
                for kind, phrases in kinds.items()
                for phrase in phrases.split()
            }
        )
        prefix = "[وف]?" if self.script == "arabic" else ""  # and, so
        other = _any_of(one for one, marker in self.markers.items() if marker.kind in {"beyond", "whether"})
        denying = _any_of(one for one, marker in self.markers.items() if marker.family == "negation")
        self.negation: re.Pattern[str] = re.compile(
            rf"\b(?:{other})\b|(?P<denies>\b{prefix}(?:{denying})\b|n['’]t\b)", re.IGNORECASE
        )
        """What denies, as the group `denies`; "not only" and "or not" do not."""
        self.marked: Mapping[str, str] = self._marks(data, "")
        """The phrases before a number that is not exact, longest first, with what they say of it."""
        self.marked_after: Mapping[str, str] = self._marks(data, "_after")
        """The phrases behind such a number."""
        self.between: tuple[str, ...] = tuple(self._folded(data, "between"))
        """The words for a range, before its numbers, or behind them in a script without spaces."""
        phrases = _any_of(phrase for phrase in (*self.markers, *self.groups) if " " in phrase)
        self.phrases: re.Pattern[str] = re.compile(rf"\b(?:{phrases})\b(?<!up(?= to\b))")
        lists = (
            self.function_words, self.markers, self.groups, self.contrasts, self.opposites, self.converse,
            self.pronouns, self.generic, self.attribution, self.units, self.agent, self.passive,
            self.denying, self.rates, self.hedging, self.certain, self.additive, self.limiting, self.partitive,
        )  # fmt: skip
        self._lexicon = frozenset[str]().union(*lists if self.dense else ())
        self.longest: int = max(map(len, self._lexicon), default=1)

    def _spellings(self) -> dict[str, tuple[str, ...]]:
        forms: dict[str, list[str]] = {}
        for form, base in self._forms.items():
            forms.setdefault(self.normal_form(base), [base]).append(form)
        return dict(zip(forms, map(tuple, forms.values()), strict=True))

    def _marks(self, data: Mapping[str, Any], where: str) -> Mapping[str, str]:
        marks = data.get("markers", {}).get("rounded", {})
        kinds = ("about", "nearly", "over", "under")
        told = ((one.replace("_", " "), kind) for kind in kinds for one in marks.get(f"{kind}{where}", "").split())
        return MappingProxyType(dict(sorted(((fold(one), kind) for one, kind in told), key=lambda one: -len(one[0]))))

    def _folded(self, data: Mapping[str, Any], name: str) -> frozenset[str]:
        return frozenset(fold(word.replace("_", " ")) for word in data.get(name, "").split())

    def _normal(self, words: Iterable[str]) -> frozenset[str]:
        return frozenset(fold(word.replace("_", " ")) if "_" in word else self.normal_form(word) for word in words)

    def _groups(self, lines: Iterable[str], prefix: str) -> Mapping[str, tuple[str, ...]]:
        """Return the names of the groups of each word in normal form."""
        groups: dict[str, list[str]] = {}
        for number, line in enumerate(lines):
            words = line.split()
            for word in itertools.chain.from_iterable(map(self._inflected, words)) if "~" in line else words:
                form = fold(word.replace("_", " ")) if "_" in word else self.normal_form(word)
                past = self.normal_form(f"{word.removesuffix('e')}ed") if self.code == "en" else form
                for one in dict.fromkeys((form, past)):
                    groups.setdefault(one, []).append(f"{prefix}{number}")
        return MappingProxyType({word: tuple(dict.fromkeys(names)) for word, names in groups.items()})

    def _inflected(self, word: str) -> Iterator[str]:
        """Yield a word; if it is a phrase with `~` behind its verb, with all forms of that: give~_up, gave_up."""
        verb, mark, rest = word.partition("~")
        doubles = len(verb) < 5 and verb[-2:-1] in set("aeiou") and verb[-1] not in "wxy"
        stem, third = verb + verb[-1] if doubles else verb.removesuffix("e"), "es" if verb[-1] in "sh" else "s"
        regular = (verb, verb + third, f"{stem}ed", f"{stem}ing", *self.spellings.get(self.normal_form(verb), ()))
        return (form + rest for form in (regular if mark else (verb,)))

    def _pairs(self, data: Mapping[str, Any], name: str) -> Mapping[str, frozenset[str]]:
        """Return the antonyms of each word in normal form."""
        pairs: dict[str, set[str]] = {}
        for line in _lines(data, name):
            left, right = (self._normal(side.split()) for side in line.partition("|")[::2])
            for here, there in ((left, right), (right, left)):
                for word in here:
                    pairs.setdefault(word, set()).update(there - here)
        return MappingProxyType({word: frozenset(others) for word, others in pairs.items()})

    def ends_denying(self, text: str) -> bool:
        """Return whether the last two words of a text deny what follows: never, did not."""
        if self.dense:
            return text.endswith(tuple(one for one, marker in self.markers.items() if marker.family == "negation"))
        return any(found["denies"] for found in self.negation.finditer(" ".join(fold(text).split()[-2:])))

    def is_function(self, word: str) -> bool:
        """Return whether a word is a function word."""
        return (word.lower().replace("’", "'") if self.script == "latin" else fold(word)) in self.function_words

    def knows_form(self, form: str) -> bool:
        """Return whether a word in normal form is in one of the lists of content words."""
        return form in self.groups or form in self.opposites or form in self.contrasts or form in self.converse

    def knows(self, text: str) -> bool:
        """Return whether a run of a script without spaces is in this language's word lists."""
        return text in self._lexicon

    def _without_endings(self, word: str) -> str:
        word = fold(word)
        if self.code == "en":
            word = word.removesuffix("'s").replace("'", "")
            word = self._forms.get(word, word)
            for ending, instead in _ENDINGS:
                if word.endswith(ending) and len(word) - len(ending) >= _SHORTEST and not word.endswith("ss"):
                    word = word[: -len(ending)] + instead
                    break
            if len(word) > _SHORTEST and word[-1] == word[-2] and word[-1] not in "aeiousl":
                word = word[:-1]
            return word.removesuffix("e") if len(word) > _SHORTEST else word
        _, _, word = word.rpartition("'") if word.find("'") in (1, 2) else ("", "", word.replace("'", ""))
        if self.dense or word in self._forms:
            return self._forms.get(word, word)
        for _ in range(2 if self.script == "arabic" else 1):
            for prefix in self.prefixes:
                if word.startswith(prefix) and len(word) - len(prefix) >= _SHORTEST + (self.code == "de"):
                    word = word.removeprefix(prefix)
                    break
        for ending in self._endings:
            if word.endswith(ending) and len(word) - len(ending) >= _SHORTEST:
                return word[: -len(ending)]
        return word

    def _keys(self, word: str) -> tuple[str, ...]:
        form, low = self.normal_form(word), fold(word)
        same = (self.units.get(low) if len(low) > 1 else "") or self.months.get(low)  # km, kilometer; Oct, October
        same = f"day {self.weekdays[low]}" if low in self.weekdays else same
        return (form, *self.groups.get(form, ()), *([f"={same}"] if same else ()))

    def _related_keys(self, word: str) -> tuple[str, ...]:
        return self.keys(word) if self.knows_form(self.normal_form(word)) else ()

    def are_opposite(self, word: str, other: str) -> bool:
        """Return whether two words in normal form are antonyms, or have synonyms that are; so clear, unclear."""
        if other in self.opposites.get(word, ()) or other in self.converse.get(word, ()) or f"un{word}" == other:
            return True
        one, two = (frozenset(self.groups.get(key, ())) for key in (word, other))
        return bool(one and two) and one.isdisjoint(two) and self._turns(word, two) and self._turns(other, one)

    def _turns(self, word: str, groups: frozenset[str]) -> bool:
        return any(not groups.isdisjoint(self.groups.get(one, ())) for one in self.opposites.get(word, ()))

    def exclude(self, word: str, other: str) -> bool:
        """Return whether two words in normal form exclude each other, such as two weekdays."""
        return word != other and not set(self.contrasts.get(word, ())).isdisjoint(self.contrasts.get(other, ()))


def pack_text(code: str) -> str:
    """Return the data of a language as TOML, by its code of ISO 639-1."""
    text = files(__package__).joinpath("languages", f"{'shared' if code in _LITTLE else code}.toml").read_text("utf-8")
    own = text.rpartition(f"\n[{code}]\n")[2].partition("\n# ")[0] if code in _LITTLE else text
    return own.replace(f"[{code}.", "[")


def _shared() -> tuple[Mapping[str, tuple[str, float]], Mapping[str, str]]:
    data = tomllib.loads(pack_text("shared"))
    bases = {unit: (str(dimension), float(factor)) for unit, (dimension, factor) in data["base"].items()}
    signs = {sign: unit for unit, signs in data["signs"].items() for sign in signs.split()}
    return MappingProxyType(bases), MappingProxyType(signs)


UNIT_BASES, _SIGNS = _shared()


def dimension_of(unit: str) -> str:
    """Return what a unit measures, such as `time` or `length`; empty if it is not convertible."""
    return UNIT_BASES[unit][0] if unit in UNIT_BASES else ""


@lru_cache(maxsize=len(LANGUAGES))
def language(code: str) -> Language:
    """Return a language by its code; English if it has no pack."""
    known = code if code in LANGUAGES else "en"
    return Language(known, tomllib.loads(pack_text(known)))


@lru_cache(maxsize=1)
def months_of_all() -> Mapping[str, int]:
    """Return the month names of all languages, with their numbers: they are few, and a page may mix languages."""
    months: dict[str, int] = {}
    for code in LANGUAGES:
        found = re.search(r"^months = .*$", pack_text(code), re.MULTILINE)
        for number, names in enumerate(tomllib.loads(found[0])["months"] if found else [], start=1):
            months.update({name.replace("_", " "): number for name in names.split() if name not in months})
    return MappingProxyType(months)
