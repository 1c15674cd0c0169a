"""The terms of a text in any script, by which queries and passages are compared."""

from __future__ import annotations

import re
import tomllib
import unicodedata
from collections import defaultdict
from collections.abc import Mapping
from functools import cache
from importlib.resources import files
from typing import Final, NamedTuple

from groundwire.models.frequent_words import FREQUENT

# Thai to Tibetan, Myanmar, Khmer, kana, ideographs, Hangul: words are not separated, or take suffixes.
DENSE: Final = (
    "\u0e00-\u0fff\u1000-\u109f\u1780-\u17ff\u2e80-\u2fdf\u3005-\u3007\u3021-\u3029\u3031-\u303c\u3040-\u30ff"
    "\u3105-\u312f\u31a0-\u9fff\ua960-\ua97f\uac00-\ud7ff\uf900-\ufaff\uff66-\uff9f\U00020000-\U0003fffd"
)
_RUN: Final = re.compile(rf"[{DENSE}]+|[^\W{DENSE}]+(?:[.,'\u2019](?=[0-9])[0-9]+)*")
_ASCII_RUN: Final = re.compile(r"\w+(?:[.,'](?=[0-9])[0-9]+)*", re.ASCII)
_CAMEL: Final = re.compile(r"[A-Z]+(?![a-z])|[A-Z]?[a-z]+|[0-9]+|[^\W\d_a-zA-Z]+")
_THOUSANDS: Final = re.compile(r"(?<=[0-9])[,'\u2019](?=[0-9]{3}(?![0-9]))")
_IS_DENSE: Final = re.compile(rf"[{DENSE}]")
_MAX_CACHED_RUNS: Final = 100_000  # runs whose terms are cached
_MAX_WORD_LENGTH: Final = 60  # characters of a run that may be a word


def is_common(term: str) -> bool:
    """Whether a term is so common that it occurs in every text."""
    return term in _common()


class Terms:
    """Extracts and caches the terms of texts."""

    def __init__(self) -> None:
        self._terms_by_run: dict[str, tuple[str, ...]] = {}

    def __call__(self, text: str) -> list[str]:
        """Return the terms of a text, in order.

        These are words without case, accents and the most common endings, pairs of characters in scripts without
        spaces, numbers, and identifiers both whole and in parts.
        """
        all_terms: list[str] = []
        terms_by_run = self._terms_by_run
        for run in _ASCII_RUN.findall(text) if text.isascii() else _RUN.findall(folded(text)):
            terms = terms_by_run.get(run)
            if terms is None:
                if len(terms_by_run) > _MAX_CACHED_RUNS:
                    terms_by_run.clear()
                terms = terms_by_run[run] = _terms(run)
            all_terms += terms
        return all_terms


class Related(NamedTuple):
    """What else a word may be called."""

    terms: frozenset[str]
    """Terms."""
    beginnings: tuple[str, ...]
    """Beginnings of further terms."""


def related(term: str) -> Related:
    """Return what a word may be called in other words, by a small table in several languages."""
    relations = _relations()  # a beginning in it is at least half of the word: `com*` is not for "company"
    keys = (term, *(f"{term[:size]}*" for size in range(-(-len(term) // 2), len(term) + 1)))
    others = frozenset(other for key in keys for other in relations.get(key, ()))
    beginnings = tuple(sorted(other[:-1] for other in others if other.endswith("*")))
    return Related(frozenset(other for other in others if not other.endswith("*")), beginnings)


@cache
def _relations() -> Mapping[str, tuple[str, ...]]:
    """Read the table: a word and what it may be called, on each line; `*` stands for any ending."""
    relations: dict[str, set[str]] = defaultdict(set)
    table = files("groundwire.reading").joinpath("data", "related.txt").read_text("utf-8")
    terms = Terms()
    for line in table.splitlines():
        first, *others = (folded(word) if word.endswith("*") else terms(word)[0] for word in line.split())
        for other in others:
            relations[first].add(other)
            relations[other].add(first)
    return {word: tuple(sorted(others)) for word, others in relations.items()}


@cache
def _answer_patterns() -> tuple[tuple[re.Pattern[str], re.Pattern[str]], ...]:
    """Read what a question of each kind has, and its answer."""
    table = tomllib.loads(files("groundwire.reading").joinpath("data", "questions.toml").read_text("utf-8"))
    patterns = []
    for kind in table["kinds"]:
        question = "|".join((rf"\b(?:{'|'.join(kind['words'])})", *kind.get("characters", ())))
        answer = "|".join(kind["answer"]).replace("{unit}", table["unit"]).replace("{months}", table["months"])
        flags = re.MULTILINE if kind.get("multiline") else re.IGNORECASE
        patterns.append((re.compile(question), re.compile(answer, flags)))
    return tuple(patterns)


def expected(query: str) -> re.Pattern[str] | None:
    """Return a pattern for what a question asks for: a number, a date, a price; None if it is unclear."""
    low = folded(query.casefold())
    return next((answer for question, answer in _answer_patterns() if question.search(low)), None)


def readable_run(text: str) -> bool:
    """Whether a text has any terms."""
    return _RUN.search(text) is not None


def _terms(run: str) -> tuple[str, ...]:
    if run.isascii() and run.islower() and run.isalpha():  # most runs
        return (_stem(run[:_MAX_WORD_LENGTH]),)
    if _IS_DENSE.match(run):
        pairs = tuple(run[at : at + 2] for at in range(len(run) - 1))
        return pairs or (run,)
    run = run[:_MAX_WORD_LENGTH]
    word = run.strip("_")
    word = word if word.isalpha() else _THOUSANDS.sub("", word)
    low = word.casefold()
    if low.isalpha() and (word.islower() or word[1:].islower()):
        return (_stem(low),)
    parts = [_stem(part.casefold()) for part in _CAMEL.findall(word)]
    stem = _stem(low)
    return (stem, *(part for part in parts if part != stem)) if len(parts) > 1 else (stem,)


def _stem(word: str) -> str:
    """Remove the most common English endings from a word, which does little harm in other languages."""
    size = len(word)
    if size < 4 or word[-1] not in "degsy" or not word.isascii() or not word.isalpha():
        return word
    if word.endswith("ies") and size > 4:
        return word[:-3] + "y"
    if word.endswith("s") and word[-2] not in "us":
        word = word[:-2] if word.endswith(("ches", "shes", "sses", "xes", "zes")) else word[:-1]
        size = len(word)
    for ending in ("ing", "edly", "ed", "ly"):
        if size - len(ending) >= 3 and word.endswith(ending):
            stem = word[: -len(ending)]
            if not re.search("[aeiouy]", stem):
                break
            if len(stem) > 3 and stem[-1] == stem[-2] and stem[-1] not in "lsz":
                stem = stem[:-1]
            return stem[:-1] if len(stem) > 3 and stem[-1] == "e" else stem
    return word[:-1] if len(word) > 3 and word[-1] == "e" else word


@cache
def _common() -> frozenset[str]:
    """Return the frequent words, with and without endings: terms have none."""
    return FREQUENT.union(map(_stem, FREQUENT))


def folded(text: str) -> str:
    """Remove accents and points from a text, and normalize variant forms (NFKC)."""
    return unicodedata.normalize("NFC", unicodedata.normalize("NFKD", text).translate(_marks()))


@cache
def _marks() -> Mapping[int, None]:
    """Return a table that removes marks: accents, vowel signs, points. A pattern of so many takes 30 times as long."""
    return {mark: None for mark in range(0x300, 0x20000) if unicodedata.category(chr(mark))[0] == "M"}
