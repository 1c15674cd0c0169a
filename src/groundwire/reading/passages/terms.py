"""The terms of a text in any script, by which queries and passages are compared."""

from __future__ import annotations

import re
import unicodedata
from collections import defaultdict
from collections.abc import Mapping
from functools import cache
from importlib.resources import files
from typing import Final, NamedTuple

from groundwire.models.frequent_words import FREQUENT

__all__ = ["DENSE", "Related", "Terms", "expected", "folded", "is_common", "readable_run", "related"]

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


_UNIT: Final = r"\d[\d.,]{0,20}[ \u00a0\u2013-]?(?:to \d+ |bis \d+ )?"  # a number, before its unit
_MONTHS: Final = (
    r"(?:jan|ene|feb|f\u00e9v|f\u00e9b|mar|m\u00e4r|apr|abr|avr|kwi|mai|maj|mag|may|jun|juin|giu|jul|juil|lug|aug|ago"
    r"|ao\u00fb|sep|set|oct|okt|ott|out|nov|dec|dez|d\u00e9c|dic"
    r"|\u044f\u043d\u0432|\u0444\u0435\u0432|\u043c\u0430\u0440|\u0430\u043f\u0440|\u043c\u0430\u044f|\u0438\u044e\u043d"
    r"|\u0438\u044e\u043b|\u0430\u0432\u0433|\u0441\u0435\u043d|\u043e\u043a\u0442|\u043d\u043e\u044f|\u0434\u0435\u043a)"
    r"[^\W\d_]{0,12}"
)
# Question words in several languages, without accents, in scripts with and without spaces, and patterns of the expected
# answers; the most specific first.
_QUESTIONS: Final = (
    (  # a share
        r"percent|share\b|(?:what|which) (?:part|portion|proportion)\b|prozent|anteil|pourcentage"
        r"|quelle part|porcentaje"
        r"|por ?ciento|percentuale|porcentagem|procent|\u043f\u0440\u043e\u0446\u0435\u043d\u0442",
        "\u767e\u5206|\u5272\u5408|\ud37c\uc13c\ud2b8",
        r"\d[ \u00a0]?[%\u066a]|\d[ \u00a0]?(?:percent|per cent|prozent|por ?ciento|pour cent|per cento|por cento|proc)"
        r"|\b(?:half|third|quarter|h\u00e4lfte|drittel|viertel|moiti\u00e9|tiers|mitad|tercio|met\u00e0|metade)\b"
        r"|\b(?:one|two|three|four|five|six|seven|eight|nine) (?:in|out of) \w",
        re.IGNORECASE,
    ),
    (  # a price
        r"costs?\b|prices?\b|how (?:much money|expensive|cheap)|cheapest|kost|preis|teuer|billig|prix\b|cout|cuestan?\b"
        r"|precio|valen?\b|preco|cust|costa|prezzo|cena\b|kosz|prijs|\u0446\u0435\u043d|\u0441\u0442\u043e\u0438"
        r"|(?:how much|wie ?viel|combien|cuanto|quanto)\b.{0,60}\b(?:pa(?:y|id)|spen[dt]|fees?\b|zahl|bezahl|pag|gast)",
        "\u591a\u5c11\u94b1|\u591a\u5c11\u9322|\u3044\u304f\u3089|\u5024\u6bb5|\uc5bc\ub9c8",
        r"[$\u20ac\u00a3\u00a5\u20b9\u20bd\u20a9\u20ab\u5143\u5186]|\b(?:euros?|dollars?|usd|eur|chf|franken|francs?"
        r"|pounds?|pence|funt|z\u0142|reais|pesos|cents?|yen|rupees|\u0440\u0443\u0431)|\d ?%",
        re.IGNORECASE,
    ),
    (  # a duration or an age
        r"how (?:long|soon|old)\b|what age|wie (?:lange?|alt|schnell|bald)\b|combien de temps|quel age"
        r"|cuanto (?:dura|tiempo|tarda)|que edad|quanti anni|quanto (?:tempo|dura)|que idade|after what time"
        r"|nach welcher zeit|hoe (?:lang|oud)|hvor (?:lenge|gammel)|jak dlugo|ile lat"
        r"|\u0441\u043a\u043e\u043b\u044c\u043a\u043e (?:\u043b\u0435\u0442"
        r"|\u0432\u0440\u0435\u043c\u0435\u043d\u0438)",
        "\u591a\u4e45|\u51e0\u5c81|\u4f55\u6b73",
        rf"{_UNIT}(?:years?|months?|weeks?|days?|hours?|hrs?|h|min|minutes?|seconds?|s|jahre?n?|monate?n?|wochen?|tagen?"
        r"|stunden?|minuten|sekunden?|ans?|mois|semaines?|jours?|heures?|a\u00f1os?|mes|meses|semanas?|d\u00edas?|horas?"
        r"|anni|mesi|giorni|ore|anos|dias|jaar|uur|lat|dni|\u043b\u0435\u0442|\u0433\u043e\u0434\u0430?"
        r"|\u0447\u0430\u0441\u043e\u0432|\u0434\u043d\u0435\u0439)\b"
        r"|\d+-(?:years?|j\u00e4hrig|\u043b\u0435\u0442\u043d)|\d[\u5e74\u5929\u6708\u65e5\u5c81]"
        r"|\b(?:one|two|three|four|five|six|seven|eight|nine|ten) (?:years|months|weeks|days|hours|minutes)\b"
        r"|\b(?:zwei|drei|vier|f\u00fcnf|sechs|sieben|acht|neun|zehn) (?:jahre|monate|wochen|tage|stunden|minuten)"
        r"|\b(?:deux|trois|quatre|cinq|dos|tres|cuatro|cinco) (?:ans|mois|semaines|jours|heures"
        r"|a\u00f1os|meses|d\u00edas)",
        re.IGNORECASE,
    ),
    (  # a date
        r"when\b|(?:what|which) (?:year|day|date|month)|since\b|until\b|date\b|wann\b|(?:welche[mnrs]?|seit|bis) (?:"
        r"jahr|tag|datum|wann|welche[mnrs]?)|quand\b|quelle (?:date|annee)|cuando\b|que (?:dia|ano"
        r"|fecha)|desde (?:cuando"
        r"|que)|quando\b|kiedy\b|wanneer\b|nar\b|khi nao|kapan\b|ne zaman|milloin\b|mikor\b|kdy\b"
        r"|\u043a\u043e\u0433\u0434\u0430|\u03c0\u03bf\u03c4\u03b5|\u0645\u062a\u0649",
        "\u4ec0\u4e48\u65f6\u5019|\u4ec0\u9ebc\u6642\u5019|\u54ea\u4e00?\u5e74|\u54ea\u5929|\u3044\u3064|\uc5b8\uc81c",
        rf"\b(?:1[1-9]|20)\d\d\b|\b\d{{1,2}}[./]\d{{1,2}}[./]|\d{{1,2}}:\d\d|\d(?:st|nd|rd|th|\.|er| de)? ?{_MONTHS}\b"
        rf"|\b{_MONTHS}\.? \d|\b(?:im|in|en|em|w) {_MONTHS}\b|\b(?:vom|am|den|zum) \d{{1,2}}\."
        r"|\d[\u5e74\u6708\ub144\uc6d4]|\b(?:mon|tues|wednes|thurs|fri|satur|sun)day\b"
        r"|\b(?:mon|diens|donners|frei|sams|sonn)tags?\b|\bmittwochs?\b",
        re.IGNORECASE,
    ),
    (  # a number
        r"how (?:many|much|often|fast|well|far|few|little|big|large|tall|high|heavy|deep|wide)\b|phone number|weigh"
        r"|(?:what|which) (?:number|size|version|port|score|rate)\b|wie (?:viel|gro|hoch|weit|oft|tief|breit|wenig"
        r"|stark|schwer)|welche[nrsm]? (?:zahl|nummer)|combien|quel(?:le)? (?:taille|nombre|note)|cuant[oa]|que numero"
        r"|quant[oiae]|qual .{0,20}numero|ile\b"
        r"|hvor (?:mange|mye|stor)|hur (?:manga|mycket)|hoeveel|kuinka (?:monta|paljon)|kolik|hany\b|kac\b|berapa"
        r"|bao nhieu|\u0441\u043a\u043e\u043b\u044c\u043a\u043e|\u0441\u043a\u0456\u043b\u044c\u043a\u0438"
        r"|\u043a\u043e\u043b\u043a\u043e|\u03c0\u03bf\u03c3|\u0643\u0645\b|\u0686\u0646\u062f|\u0686\u0642\u062f\u0631"
        r"|\u0915\u093f\u0924\u0928|\u0915\u0924\u0928",
        "\u591a\u5c11|\u51e0|\u5e7e|\u4f55\u4eba|\u3044\u304f\u3064|\uba87",
        r"(?<![\n|] )(?<!^)\d[\d.,]{0,20}(?![.)] |\d)|\d,\d|\b(?:two|three|four|five|six|seven|eight|nine|ten|eleven"
        r"|twelve|dozen|hundred|thousand|million|zwei|drei|vier|f\u00fcnf|sechs|sieben|acht|neun|zehn|elf|zw\u00f6lf"
        r"|hundert|tausend|millionen|deux|trois|quatre|cinq|sept|huit|neuf|dix|cent|mille|dos|tres|cuatro|cinco|seis"
        r"|siete|ocho|nueve|diez|cien|mil|due|tre|quattro|cinque|sei|otto|nove|dieci|cento|dois|duas|quatro|oito|dez)\b"
        r"|[\u4e00\u4e8c\u4e09\u56db\u4e94\u516d\u4e03\u516b\u4e5d\u5341\u767e\u5343\u4e07\u842c][\u4e2a\u500b\u540d\u4eba"
        r"\u5f20\u5f35\u5929\u5e74\u6b21\u6761\u689d\u5bb6]",
        re.IGNORECASE,
    ),
    (  # a reason
        r"why\b|warum\b|wieso\b|weshalb\b|pourquoi\b|por que\b|perche\b|dlaczego\b|waarom\b"
        r"|\u043f\u043e\u0447\u0435\u043c\u0443\b",
        "\u4e3a\u4ec0\u4e48|\u70ba\u4ec0\u9ebc|\u306a\u305c|\uc65c",
        r"\b(?:because|since|due to|so that|thanks to|reasons?|caused?|therefore|in order to|weil|da|denn|wegen|deshalb"
        r"|gr(?:und|\u00fcnde)|damit|aufgrund|parce|car|raisons?|gr\u00e2ce|afin|porque|debido|raz\u00f3n|motivo|causa"
        r"|perch\u00e9|poich\u00e9|poniewa\u017c|omdat|\u043f\u043e\u0442\u043e\u043c\u0443|\u0438\u0437-\u0437\u0430)\b|\u56e0\u4e3a|\u56e0\u70ba",
        re.IGNORECASE,
    ),
    (  # code
        r"how (?:do|can|to|should)\b|commands?\b|options?\b|functions?\b|flags?\b|befehl|fonction|comando",
        "",
        r"`|^ {4}|(?<![\w-])--?[a-z]\w|\w\(|\w=\w",
        re.MULTILINE,
    ),
)
_ANSWER_PATTERNS: Final = tuple(
    (re.compile(rf"\b(?:{spaced})|{dense}" if dense else rf"\b(?:{spaced})"), re.compile(answer, flags))
    for spaced, dense, answer, flags in _QUESTIONS
)


def expected(query: str) -> re.Pattern[str] | None:
    """Return a pattern for what a question asks for: a number, a date, a price; None if it is unclear."""
    low = folded(query.casefold())
    return next((answer for question, answer in _ANSWER_PATTERNS if question.search(low)), None)


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
