"""What is known of a language: its words for numbers, months and units, its negations, and its commonest words."""

from __future__ import annotations

import json
import re
import unicodedata
from collections import Counter
from collections.abc import Callable, Iterable, Mapping
from dataclasses import dataclass
from functools import cache, lru_cache
from importlib.resources import files
from types import MappingProxyType
from typing import Any, Final, TypeVar

_V = TypeVar("_V")
_SCRIPTS: Final = re.compile(
    r"(?P<latin>[A-Za-z\u00c0-\u024f]+)|(?P<greek>[\u0370-\u03ff]+)|(?P<ru>[\u0400-\u052f]+)|(?P<hebrew>[\u0590-\u05ff]+)"
    r"|(?P<ar>[\u0600-\u06ff]+)|(?P<indic>[\u0900-\u0dff]+)|(?P<thai>[\u0e00-\u0e7f]+)|(?P<ja>[\u3040-\u30ff]+)"
    r"|(?P<zh>[\u3400-\u9fff]+)|(?P<hangul>[\uac00-\ud7af]+)"
)
_WORD: Final = re.compile(r"[^\W\d_]{2,}")
_SAMPLE_CHARS: Final = 2_000  # characters from which a language is detected


@dataclass(frozen=True, slots=True)
class Language:
    """The words of a language that are compared by what they mean."""

    code: str
    """Its code of ISO 639-1."""
    numbers: Mapping[str, float]
    """Number words below a thousand."""
    scales: Mapping[str, float]
    """Words and abbreviations that multiply the number before them."""
    months: Mapping[str, int]
    """Names of months."""
    units: Mapping[str, str]
    """Names and signs of units, with one spelling for each."""
    negations: frozenset[str]
    """Words that deny."""

    @property
    def is_dense(self) -> bool:
        """Whether it is written without spaces."""
        return self.code in {"zh", "ja"}


@cache
def _data() -> Mapping[str, Any]:
    text = files("groundwire.citations.verify").joinpath("languages.json").read_text("utf-8")
    return MappingProxyType(json.loads(text))


@cache
def language(code: str) -> Language:
    """Return a language by its code; English for one without data."""
    data = _data()
    own = data["languages"].get(code) or data["languages"]["en"]
    numbers = _by_word(own.get("numbers", {}).items(), float)
    if code == "de":  # einundzwanzig
        ones = [(word, value) for word, value in numbers.items() if 1 < value < 10]
        tens = [(word, value) for word, value in numbers.items() if 20 <= value < 100]
        numbers |= {f"{digit}und{ten}": low + high for digit, low in [*ones, ("ein", 1.0)] for ten, high in tens}
    return Language(
        code=code if code in data["languages"] else "en",
        numbers=MappingProxyType(numbers),
        scales=MappingProxyType(_by_word(own.get("scales", {}).items(), float)),
        months=MappingProxyType(_by_word(enumerate(own.get("months", ()), start=1), int)),
        units=MappingProxyType(_by_word([*data["signs"].items(), *own.get("units", {}).items()], str)),
        negations=frozenset(_words(own.get("negation", ""))),
    )


def _by_word(rows: Iterable[tuple[Any, str]], value: Callable[[Any], _V]) -> dict[str, _V]:
    """Return the value of each word, from rows with a value and its words."""
    return {word: value(of) for of, words in rows for word in _words(words)}


def _words(text: str) -> list[str]:
    return [fold(word.replace("_", " ")) for word in text.split()]


def unit_size(unit: str) -> tuple[str, float]:
    """Return what a unit measures, and its size; of a unit that is not converted, the unit itself."""
    kind, size = _data()["units"].get(unit, (unit, 1.0))
    return kind, size


@lru_cache(maxsize=20_000)
def fold(text: str) -> str:
    """Return a short text without case, accents and vowel signs; dense scripts keep their characters."""
    low = text.lower()
    if low.isascii():
        return low
    plain = unicodedata.normalize("NFKD", low.replace("’", "'").replace("ß", "ss"))
    bare = "".join(sign for sign in plain if not unicodedata.combining(sign) or sign in "\u3099\u309a")
    return unicodedata.normalize("NFC", bare).translate(_ARABIC)


_ARABIC: Final = str.maketrans("أإآٱىة", "اااايه")


@cache
def _telling_words() -> Mapping[str, tuple[str, ...]]:
    codes: dict[str, tuple[str, ...]] = {}
    for code, own in _data()["languages"].items():
        for word in own.get("telling", "").split():
            codes[word] = (*codes.get(word, ()), code)
    return MappingProxyType(codes)


def language_of(text: str, lead: int = 2) -> str:
    """Return the code of a text's language, the name of a script that is of several, or `""` if that is not clear.

    Args:
        text: The text.
        lead: By how many common words a language in Latin script must lead over the next.
    """
    sample = text[:_SAMPLE_CHARS]
    if sample.isascii():
        scripts = Counter({"latin": 1})
    else:
        scripts = Counter[str]()
        for run in _SCRIPTS.finditer(sample):
            scripts[run.lastgroup or ""] += len(run[0])
    if not scripts:
        return ""
    script = scripts.most_common(1)[0][0]
    if script == "zh" and scripts["ja"] * 20 > scripts["zh"]:
        return "ja"
    if script != "latin":
        return script
    telling = _telling_words()
    counts = Counter(code for word in _WORD.findall(sample.lower()) for code in telling.get(word, ()))
    first, second, *_ = [*counts.most_common(2), ("", 0), ("", 0)]
    return first[0] if first[1] - second[1] >= lead else ""
