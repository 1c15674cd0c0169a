"""What a query asks for, in any language, and whether another query or a text is about the same.

A word that is not among the most frequent ones counts, and no statistics tell otherwise: an archive of three pages has
none, and in one about a single drug its name is the most frequent word. Names, numbers and negations always count.
Endings are compared by paradigms, never by a common beginning: "Austria" and "Australia" share more than "mouse" and
"mice" do. A word that is not understood makes the archive answer less, not more.
"""

from __future__ import annotations

import re
import tomllib
import unicodedata
from collections import Counter
from collections.abc import Iterable, Iterator, Mapping, Sequence
from functools import cache
from pathlib import Path
from typing import Final, NamedTuple

from groundwire.models.frequent_words import FREQUENT
from groundwire.storage.archive.fts import dense, storable, words_and_runs

_LONGEST = 2_000  # characters of a query
_MOST = 24  # words that are looked up; all of them are compared with the queries and passages that are found
_STEM = 3  # letters before an ending
_PASSAGE = 64  # words, or characters of a script without spaces
_SEARCHED = 50_000  # characters of a text for its passage

_NEGATED: Final = re.compile(r"(?:\b(?:ca|wo))?n['\u2019]t\b")
_ELIDED: Final = re.compile(
    r"\b(?:[cdjlmnst]|qu|[dn]ell|[ds]?all|sull|un)['\u2019](?=\w)|['\u2019](?:s|d|ll|re|ve|m)\b"
)
_DIRECTED_DENSE: Final = re.compile("(..)(から|まで|より)|([从從到至去比])(..)")
# What does not count in scripts without spaces: words that ask, and particles.
_CHINESE: Final = re.compile(
    "^[年月日号]|请问|請問|知りたい|教えて|什么(?!时)|什麼(?!時)|多少|怎么样|怎麼樣|怎样|怎樣|如何|[的了吗嗎呢吧是有在从從到至去和与與我你]"
)
_KANA: Final = re.compile("[\u3041-\u309f]+")
_PARTICLE: Final = (
    "どう|どの|どれ|いくら|いくつ|なに|なん|ください|から|まで|より|という|って"
    "|ですか|です|ますか|ます|でした|ました|した|する|[のはがをにでともへやなだ]"
)
_PARTICLES: Final = re.compile(rf"^(?:{_PARTICLE})+|(?:{_PARTICLE})+$")
_NOT_IN_KANA: Final = re.compile("ない|なく|なかった|ません")
_HANGUL: Final = re.compile(r"(?<=[\uac00-\ud7a3])(?:에서|으로|[은는이가을를의에로와과도])$")


class _Languages(NamedTuple):
    """The tables of `languages.toml`."""

    common: frozenset[str]
    asking: Mapping[str, str]
    directions: frozenset[str]
    paradigms: tuple[tuple[str, ...], ...]


@cache
def _languages() -> _Languages:
    table = tomllib.loads(Path(__file__).with_name("languages.toml").read_text(encoding="utf-8"))
    return _Languages(
        FREQUENT - {*table["negations"].split()} | {*table["common"].split()},
        {word: kind for kind, words in table["asking"].items() for word in words.split()},
        frozenset(table["directions"].split()),
        tuple(tuple(row.replace("-", "").split(" ")) for row in table["endings"].strip().split("\n")),
    )


class Question(NamedTuple):
    """What a query asks for."""

    words: tuple[frozenset[str], ...]
    """The forms of each word that counts; in scripts without spaces, the pairs of characters with each character."""
    pieces: frozenset[str]
    """All that a form may be compared with."""
    details: Mapping[str, str]
    """What follows a direction, the letter after a word ("vitamin A"), and what is asked for: a person, a time, a place
    or a reason."""

    @classmethod
    def parse(cls, text: str) -> Question | None:
        """Parse a query, or return None if it has no letters and digits."""
        runs = _runs(text[:_LONGEST])
        words = tuple(dict.fromkeys(word for run in runs for word in _words(run)))
        if not words:  # "The Who" has only words that do not count
            words = tuple(frozenset({run}) for run in dict.fromkeys(runs))
        return cls(words, _pieces(runs), dict(_details(runs))) if words else None

    @property
    def required(self) -> tuple[frozenset[str], ...]:
        """The words that a text must have for the index to give it, each in any of its forms."""
        words = [forms for forms in self.words if "not" not in forms] or self.words  # it may be written as "can't"
        return tuple(words[:_MOST])

    def passage(self, text: str) -> str:
        """Return the part of a text that has the most of the words; empty if its beginning has none of them."""
        text = text[:_SEARCHED]
        number = {form: at for at, forms in enumerate(self.words) for form in forms}
        tokens: list[tuple[int, int]] = []
        matches: list[tuple[int, int]] = []  # the token, and the number of the word
        for match in words_and_runs().finditer(text):
            run, start = _fold(match[0].lower()), match.start()
            if dense().match(match[0]):
                for at, character in enumerate(match[0]):
                    word = number.get(match[0][at : at + 2], number.get(character))
                    matches += [] if word is None else [(len(tokens), word)]
                    tokens.append((start + at, start + at + 1))
            else:
                matches += [(len(tokens), number[run])] if run in number else []
                tokens.append(match.span())
        if not matches:
            return ""
        best, first, last, end = 0, 0, 0, 0
        among = Counter[int]()
        for token, word in matches:  # from each word that is found, as far as a passage goes
            while end < len(matches) and matches[end][0] < token + _PASSAGE:
                among[matches[end][1]] += 1
                end += 1
            if len(+among) > best:
                best, first, last = len(+among), token, matches[end - 1][0]
            among[word] -= 1
        begin = max(0, first - (_PASSAGE - 1 - last + first) // 2 if last >= _PASSAGE else 0)
        stop = min(len(tokens), begin + _PASSAGE) - 1
        before, after = "…" if begin else "", "…" if stop < len(tokens) - 1 else ""
        return f"{before}{text[0 if not begin else tokens[begin][0] : tokens[stop][1] if after else None]}{after}"

    def within(self, text: str) -> bool:
        """Whether a text has all words."""
        return self._among(_pieces(_runs(text)))

    def compare(self, query: str) -> bool | None:
        """Return whether another query asks for the same, or None if the two have nothing to do with one another.

        False means that it has all words of this one, and asks for something narrower or else.
        """
        if not self.within(query) or (other := Question.parse(query)) is None:
            return None
        details = all(self.details[key] == other.details[key] for key in self.details.keys() & other.details)
        return details and other._among(self.pieces)

    def _among(self, pieces: frozenset[str]) -> bool:
        return not any(forms.isdisjoint(pieces) for forms in self.words)


def terms(text: str) -> Iterator[str]:
    """Yield the words of a text in order, as they are compared; of scripts without spaces, characters and pairs."""
    runs = _runs(text)
    if text.isascii():
        yield from runs
        return
    for run in runs:
        if dense().match(run):
            for at, character in enumerate(run):
                yield from (character, run[at : at + 2]) if at + 1 < len(run) else (character,)
        else:
            yield _fold(run)


def alternatives(forms: Iterable[str]) -> Iterator[Sequence[str]]:
    """Yield the terms that a text must have for each form of a word."""
    for form in sorted({form if dense().match(form) else _fold(form) for form in forms}):
        pairs = len(form) > 2 and dense().match(form)
        yield [form[at : at + 2] for at in range(len(form) - 1)] if pairs else [form]


def _runs(text: str) -> list[str]:
    low = unicodedata.normalize("NFC", storable(text)).lower()
    return words_and_runs().findall(_ELIDED.sub("", _NEGATED.sub(" not", low)))


def _details(runs: list[str]) -> Iterator[tuple[str, str]]:
    languages = _languages()
    for at, run in enumerate(runs):
        if run in languages.asking:
            yield "", languages.asking[run]
        elif dense().match(run):
            yield from [(way[2] or way[3], way[1] or way[4]) for way in _DIRECTED_DENSE.finditer(run)]
        elif run in languages.directions or (run == "a" and "de" in runs):
            yield from [(run, other) for other in runs[at + 1 : at + 4] if other not in languages.common][:1]
        elif len(run) == 1 and run in languages.common and at and runs[at - 1] not in languages.common:
            yield runs[at - 1], run


def _words(run: str) -> Iterator[frozenset[str]]:
    """Yield the forms of each word of a run that counts."""
    if not dense().match(run):
        if _fold(run) not in _languages().common and run not in _languages().asking:
            forms = _forms(run)
            yield frozenset(forms | set(map(_fold, forms)))
        return
    if _NOT_IN_KANA.search(run):
        yield frozenset({"ない", "なく", "なかった", "ません"})
    counting = _HANGUL.sub("", _KANA.sub(_without_particles, _CHINESE.sub(" ", run)))
    for part in counting.split():
        for at, character in enumerate(part):
            yield frozenset({part[max(0, at - 1) : at + 1], part[at : at + 2]} - {character}) or frozenset({character})


def _without_particles(kana: re.Match[str]) -> str:
    """Return what counts of a run of hiragana: neither particles nor the ending of a word in other characters."""
    run, before = kana[0], kana.string[: kana.start()]
    stem = _PARTICLES.sub("", run)
    is_ending = before and "\u3400" <= before[-1] <= "\u9fff" and run.startswith(stem[:1])
    return f" {stem} " if len(stem) > 1 and not is_ending else " "


def _forms(word: str) -> set[str]:
    forms = {word}
    if word.isalpha():
        for endings in _languages().paradigms:
            for ending in endings:
                if word.endswith(ending) and len(word) - len(ending) >= _STEM:
                    forms.update(word[: len(word) - len(ending)] + other for other in endings)
    return forms


def _pieces(runs: list[str]) -> frozenset[str]:
    pieces = set(runs)
    for run in runs:
        if dense().match(run):
            pieces.update(run, (run[at : at + 2] for at in range(len(run) - 1)), _NOT_IN_KANA.findall(run))
        else:
            pieces.add(_fold(run))
    return frozenset(pieces)


def _fold(word: str) -> str:
    """Return a word without accents."""
    if word.isascii():
        return word
    return "".join(filter(lambda sign: not unicodedata.combining(sign), unicodedata.normalize("NFKD", word.casefold())))
