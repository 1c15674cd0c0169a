"""The script and the language of a text, by the alphabet and the function words of the language packs."""

from __future__ import annotations

import re
from collections import Counter
from collections.abc import Iterator, Mapping
from functools import cached_property, lru_cache
from types import MappingProxyType
from typing import Final

from groundwire.citations.verify.entities import Date, dates_of
from groundwire.citations.verify.language_packs import LANGUAGES, Language, fold, language, pack_text
from groundwire.citations.verify.quantities import Number, numbers_of
from groundwire.citations.verify.segmentation import blank_markup, squeezed

__all__ = ["SpokenPage", "language_of", "script_of"]

_SCRIPTS: Final = re.compile(
    r"(?P<latin>[A-Za-z\u00c0-\u024f]+)|(?P<greek>[\u0370-\u03ff]+)|(?P<cyrillic>[\u0400-\u052f]+)"
    r"|(?P<hebrew>[\u0590-\u05ff]+)|(?P<arabic>[\u0600-\u06ff\u0750-\u077f]+)|(?P<indic>[\u0900-\u0dff]+)"
    r"|(?P<thai>[\u0e00-\u0e7f]+)|(?P<kana>[\u3040-\u30ff]+)|(?P<han>[\u3400-\u9fff]+)|(?P<hangul>[\uac00-\ud7af]+)"
)
_LATIN: Final = re.compile(r"[A-Za-z\u00c0-\u024f]")
_OTHERS: Final = re.compile(
    r"[\u0370-\u052f\u0590-\u06ff\u0750-\u077f\u0900-\u0dff\u0e00-\u0e7f\u3040-\u30ff\u3400-\u9fff\uac00-\ud7af]"
)
_WORD: Final = re.compile(r"[^\W\d_]+")
_STEM: Final = 4  # characters from which the last one of a word may vary: city, cities
_HEADING: Final = re.compile(r"^(#{1,6})[ \t]", re.MULTILINE)
_ITEM: Final = re.compile(r"([ \t]*)(?:[-*+]|\d{1,3}\\?[.)])[ \t]")
_NUMBERED: Final = re.compile(r"^[ \t]*[#*]{0,6}[ \t]*(\d{1,2})\\?[.)][ \t]", re.MULTILINE)
_TOLD: Final = 4_000  # characters used to detect a text's language
_SAMPLE: Final = 6_000  # the same of a page, with its markup
_CLEARLY: Final = 4  # lead of a language, in function words, on a page that has many
_BRIEF: Final = 400  # characters of a page that has few


@lru_cache(maxsize=1)
def _telling() -> Mapping[str, tuple[str, ...]]:
    telling: dict[str, list[str]] = {}
    for code in LANGUAGES:
        text = pack_text(code)
        if 'script = "latin"' in text:
            words = " ".join(re.findall(r'^(?:telling|function) = "([^"]*)"', text, re.MULTILINE))
            for word in filter(lambda one: len(one) > 1, dict.fromkeys(words.split())):
                telling.setdefault(word, []).append(code)
    return MappingProxyType({word: tuple(codes) for word, codes in telling.items()})


def script_of(text: str) -> str:
    """Return the script of most letters of a text."""
    if _OTHERS.search(text, 0, _TOLD // 4) is None:
        return "latin" if _LATIN.search(text, 0, _TOLD // 4) else ""
    counts: Counter[str] = Counter()
    for found in _SCRIPTS.finditer(text[: _TOLD // 4]):
        counts[found.lastgroup or ""] += len(found[0])
    if counts["kana"] and counts["han"] and counts["kana"] * 20 > counts["han"]:
        return "kana"
    return counts.most_common(1)[0][0] if counts else ""


def language_of(text: str) -> tuple[str, int]:
    """Return the code of a text's language and its lead over the next; `""` if it cannot be detected."""
    script = script_of(text)
    if script != "latin":
        return {"cyrillic": "ru", "han": "zh", "kana": "ja", "arabic": "ar"}.get(script, script), _TOLD
    telling = _telling()
    counts: Counter[str] = Counter()
    for word, often in Counter(_WORD.findall(text[:_TOLD].lower())).items():
        for code in telling.get(word, ()):
            counts[code] += often
    first, second, *_ = [*counts.most_common(2), ("", 0), ("", 0)]
    return first[0], first[1] - second[1]


class SpokenPage:
    """A page without its markup: its letters, the language that it is in, its numbers and dates, the forms of a word.

    Args:
        content: The page as Markdown.
    """

    def __init__(self, content: str) -> None:
        self.content = content

    @cached_property
    def squeezed(self) -> str:
        """The page's letters and digits in one line, for exact matching of quotations."""
        return squeezed(blank_markup(self.content))

    @cached_property
    def sample(self) -> str:
        """The beginning of the page, without markup."""
        return blank_markup(self.content[:_SAMPLE])

    @cached_property
    def language(self) -> Language:
        """The language of the page; English if it cannot be detected."""
        return language(self.spoken[1])

    @cached_property
    def spoken(self) -> tuple[str, str, int]:
        """The page's script, its language code, and how clear the detection is."""
        code, ahead = language_of(self.sample)
        told = ahead >= _CLEARLY or len(self.sample) < _BRIEF
        return script_of(self.sample), code if told else "", ahead

    def may_say(self, claim: str, *, doubt: int = 0) -> bool:
        """Return whether the page may state, in its own words, what a sentence states; true if in doubt.

        Args:
            claim: The sentence.
            doubt: How many function words of another language leave it in doubt.
        """
        script, code, clearly = self.spoken
        other = script_of(claim)
        if not other or not script:
            return True
        if other != script:
            return {other, script} == {"kana", "han"}
        if other != "latin":
            return True
        mine, ahead = language_of(claim)
        return not mine or not code or mine == code or ahead <= doubt or not clearly

    @cached_property
    def figures(self) -> tuple[list[Number], list[Date]]:
        """All its numbers, including those of dates, and all its dates."""
        plain = blank_markup(self.content)
        return numbers_of(plain, self.language), dates_of(plain)

    @cached_property
    def sizes(self) -> frozenset[int]:
        """How many items its lists have, and how many headings it has of each level: what "six shows" may count."""
        levels = Counter[str](match[1] for match in _HEADING.finditer(self.content))
        lists, run, indent = list[int](), 0, ""
        for line in self.content.splitlines():
            item = _ITEM.match(line)
            if item and (not run or item[1] == indent):
                run, indent = run + 1, item[1]
            elif line.strip() and not line.startswith((" ", "\t")):
                lists, run = [*lists, run], 0
        last = (int(match[1]) for match in _NUMBERED.finditer(self.content))
        return frozenset((*levels.values(), *lists, run, *last))

    def _stems(self, word: str, spelled: str) -> Iterator[str]:
        """Yield prefixes of the forms of a word, without case and diacritics."""
        low = fold(spelled)
        if word[0].isdecimal():
            stem = low
        elif not low.startswith(word):  # a prefix was removed
            stem = word if word in low else low[:1] if not low.isascii() else low[: max(2, len(word) - 2)]
        elif self.language.code != "en":
            stem = word
        else:
            stem = low[: len(word) - (len(word) >= _STEM)]
        yield stem
        yield from (form for form in self.language.spellings.get(word, ()) if not form.startswith(stem))

    def _is(self, word: str, found: str) -> bool:
        """Return whether a word, as written on a page, has the given normal form."""
        if found[0].isdecimal():
            return found == word
        return self.language.normal_form(found) == word or word == found[: len(word)]
