"""The terms of a text in any script, by which queries and passages are compared."""

from __future__ import annotations

import re
import unicodedata
from functools import cache
from typing import Final

__all__ = ["Terms", "expected", "is_common", "readable_run"]

# Thai to Tibetan, Myanmar, Khmer, kana, ideographs, Hangul: words are not separated, or take suffixes.
_DENSE: Final = (
    "\u0e00-\u0fff\u1000-\u109f\u1780-\u17ff\u2e80-\u2fdf\u3005-\u3007\u3021-\u3029\u3031-\u303c\u3040-\u30ff"
    "\u3105-\u312f\u31a0-\u9fff\ua960-\ua97f\uac00-\ud7ff\uf900-\ufaff\uff66-\uff9f\U00020000-\U0003fffd"
)
_RUN: Final = re.compile(rf"[{_DENSE}]+|[^\W{_DENSE}]+(?:[.,'\u2019](?=[0-9])[0-9]+)*")
_CAMEL: Final = re.compile(r"[A-Z]+(?![a-z])|[A-Z]?[a-z]+|[0-9]+|[^\W\d_a-zA-Z]+")
_THOUSANDS: Final = re.compile(r"(?<=[0-9])[,'\u2019](?=[0-9]{3}(?![0-9]))")
_IS_DENSE: Final = re.compile(rf"[{_DENSE}]")
_MANY: Final = 100_000  # runs whose terms are cached
_LONGEST: Final = 60  # characters of a run that may be a word

_COMMON: Final = frozenset(
    {
        "a", "about", "an", "and", "any", "are", "as", "at", "be", "been", "but", "by", "can", "could", "did", "do",
        "does", "for", "from", "had", "has", "have", "how", "i", "if", "in", "into", "is", "it", "its", "many", "me",
        "much", "my", "no", "not", "of", "on", "or", "our", "should", "so", "than", "that", "the", "their", "them",
        "then", "there", "these", "they", "thi", "this", "those", "to", "wa", "was", "we", "were", "what", "when",
        "where", "which", "who", "whom", "whose", "why", "will", "with", "would", "you", "your",
        "al", "am", "au", "auf", "aus", "avec", "bei", "bekomme", "ce", "che", "chi", "combien", "come", "como",
        "con", "cual", "cuando", "cuanta", "cuanto", "cuantos", "da", "dans", "das", "de", "del", "dem", "den",
        "depuis", "der", "des", "desde", "di", "die", "donde", "du", "e", "ein", "eine", "el", "em", "en", "es",
        "est", "esta", "et", "foi", "fue", "fur", "gibt", "gli", "ha", "hat", "hay", "ich", "ihr", "il", "ile", "im",
        "ist", "jak", "jaka", "jaki", "jakie", "je", "jest", "kann", "kiedy", "kto", "ktory", "la", "le", "les",
        "lo", "los", "ma", "man", "mich", "mir", "mit", "na", "nach", "nao", "nicht", "nie", "non", "o", "od", "os",
        "ou", "par", "para", "pas", "per", "plus", "por", "pour", "qual", "quale", "quand", "quando", "quanti",
        "quanto", "que", "quel", "quelle", "quels", "quem", "qui", "quien", "se", "seit", "sich", "sie", "sind",
        "sono", "sont", "su", "sur", "um", "uma", "un", "una", "und", "une", "vai", "viel", "viele", "vom", "von",
        "w", "wann", "war", "waren", "welche", "welcher", "welches", "wem", "wen", "wenn", "wer", "werden", "wie",
        "wird", "wo", "wurde", "y", "z", "za", "zu", "zum", "zur",
    }
)  # fmt: skip


def is_common(term: str) -> bool:
    """Whether a term is so common that it occurs in every text."""
    return term in _COMMON


class Terms:
    """Extracts and caches the terms of texts."""

    def __init__(self) -> None:
        self._known: dict[str, tuple[str, ...]] = {}

    def __call__(self, text: str) -> list[str]:
        """Return the terms of a text, in order.

        These are words without case, accents and the most common endings, pairs of characters in scripts without
        spaces, numbers, and identifiers both whole and in parts.
        """
        found: list[str] = []
        known = self._known
        for run in _RUN.findall(text if text.isascii() else _folded(text)):
            terms = known.get(run)
            if terms is None:
                if len(known) > _MANY:
                    known.clear()
                terms = known[run] = _terms(run)
            found += terms
        return found


_UNITS: Final = r"[\d.,]{1,20}[ \u00a0\u2013-]?(?:to \d+ |bis \d+ )?"
_MONTHS: Final = (
    r"(?:jan|feb|f\u00e9v|f\u00e9b|mar|m\u00e4r|apr|avr|abr|mai|maj|may|jun|juin|jul|juil|aug|ago"
    r"|ao\u00fb|sep|oct|okt|out|nov|dec|dez|d\u00e9c|dic)"
    r"[a-z\u00e9\u00fb\u00e4]*"
)
# Question words in several languages, without accents, and patterns of the expected answers.
_ASKED: Final = tuple(
    (re.compile(rf"\b(?:{asked})"), re.compile(found, re.IGNORECASE if name != "name" else 0))
    for name, asked, found in (
        (
            "share",
            r"percent|share\b|portion\b|prozent|anteil|pourcentage|quelle part|porcentaje|por ?ciento|procent",
            r"\d\s?%|\d\s?(?:percent|prozent|por ?ciento|pour cent|per cento|proc)",
        ),
        (
            "price",
            r"costs?\b|prices?\b|pay|paid|fees?\b|how much money|kost|preis|zahl|prix\b|cout|cuesta|precio|preco"
            r"|cust|cena\b|kosz",
            r"[$\u20ac\u00a3\u00a5]|\b(?:euros?|dollars?|usd|eur|chf|franken|pounds?|funt|z\u0142|reais|pesos"
            r"|cents?)\b",
        ),
        (
            "time",
            r"how (?:long|soon|old)\b|wie (?:lange?|alt|schnell)\b|combien de temps|quel age|cuanto (?:dura"
            r"|tiempo)|que edad"
            r"|quanto tempo|after what time|nach welcher zeit",
            _UNITS + r"(?:years?|months?|weeks?|days?|hours?|hrs?|h|min|minutes?|seconds?|s|jahr|monat|woche|tag|stunde"
            r"|sekunde"
            r"|ans?|mois|semaine|jour|heure|a\u00f1o|mes|semana|d\u00eda|hora|anni|mesi|giorni|ore|anos|dias)"
            r"|\d+-(?:year|j\u00e4hrig)",
        ),
        (
            "date",
            r"when\b|(?:what|which) (?:year|day|date|month)|since\b|date\b|wann\b|(?:welche[mnrs]?|seit) (?:jahr"
            r"|tag|datum|wann)|quand\b"
            r"|quelle (?:date|annee)|cuando\b|que (?:dia|ano|fecha)|desde (?:cuando|que)|quando\b|kiedy\b",
            rf"\b(?:1[1-9]|20)\d\d\b|\b\d{{1,2}}[./]\d{{1,2}}[./]|\d{{1,2}}:\d\d|\d(?:st|nd|rd|th|\.|er"
            rf"| de)? ?{_MONTHS}\b"
            rf"|\b{_MONTHS}\.? \d|\b(?:im|in|en) {_MONTHS}\b",
        ),
        (
            "number",
            r"how (?:many|much|far|big|large|tall|high|heavy|often|fast|wide|well|deep|few|little)\b|(?:what"
            r"|which) (?:number|size|version|port)\b"
            r"|wie (?:viel|gro|hoch|weit|schwer|oft|tief|breit|wenig)|combien|quel(?:le)? (?:taille|nombre)"
            r"|cuant[oa]|que (?:hora|numero)"
            r"|quant[oiae]|qual .*numero|ile\b|hvor (?:mange|mye)|hoeveel",
            r"(?<![\n|] )(?<!^)\d[\d.,]*(?![.)] |\d)|\d,\d",
        ),
        (
            "name",
            r"who\b|whose\b|whom\b|we[rnm]\b|wessen\b|qui\b|quien|chi\b|quem\b|kto\b|komu\b|czyj|which (?:person"
            r"|company|candidates?)",
            r"[^\W\d_][\w.]{0,40}[^\s\w.!?:|*#]{0,8} [*_\[]{0,4}[A-Z\u00c0-\u00de][\w.-]{1,60} [A-Z\u00c0-\u00de]"
            r"[\w-]+",
        ),
        ("code", r"how (?:do|can|to|should)\b|command|option|function|flag\b", r"`|^ {4}|--?\w|\w\(|\w=\w"),
    )
)  # fmt: skip


def expected(query: str) -> re.Pattern[str] | None:
    """Return a pattern for what a question asks for: a number, a date, a name; None if it is unclear."""
    low = _folded(query.casefold())
    return next((found for asked, found in _ASKED if asked.search(low)), None)


def readable_run(text: str) -> bool:
    """Whether a text has any terms."""
    return _RUN.search(text) is not None


def _terms(run: str) -> tuple[str, ...]:
    if _IS_DENSE.match(run):
        pairs = tuple(run[at : at + 2] for at in range(len(run) - 1))
        return pairs or (run,)
    run = run[:_LONGEST]
    whole = _THOUSANDS.sub("", run.strip("_"))
    low = whole.casefold()
    if low.isalpha() and (whole.islower() or whole[1:].islower()):
        return (_stem(low),)
    if low.isdecimal():
        return (low,)
    parts = [_stem(part.casefold()) for part in _CAMEL.findall(whole)]
    stem = _stem(low)
    return (stem, *(part for part in parts if part != stem)) if len(parts) > 1 else (stem,)


def _stem(word: str) -> str:
    """Remove the most common English endings from a word, which does little harm in other languages."""
    size = len(word)
    if size < 4 or not word.isascii() or not word.isalpha():
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


def _folded(text: str) -> str:
    """Remove accents and points from a text, and normalize variant forms (NFKC)."""
    if unicodedata.is_normalized("NFKD", text):
        return _marks().sub("", text)
    return unicodedata.normalize("NFC", _marks().sub("", unicodedata.normalize("NFKD", text)))


@cache
def _marks() -> re.Pattern[str]:
    """Return a pattern for marks: accents, vowel signs, points."""
    points = [point for point in range(0x300, 0x20000) if unicodedata.category(chr(point))[0] == "M"]
    runs: list[list[int]] = []
    for point in points:
        if runs and runs[-1][1] == point - 1:
            runs[-1][1] = point
        else:
            runs.append([point, point])
    return re.compile("[" + "".join(f"{chr(low)}-{chr(high)}" for low, high in runs) + "]")
