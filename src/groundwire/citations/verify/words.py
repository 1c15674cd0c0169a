"""Words of a text in the form in which two texts are compared."""

from __future__ import annotations

import re
import unicodedata
from collections.abc import Mapping
from functools import lru_cache
from types import MappingProxyType
from typing import Final

from groundwire.citations.verify.vocabulary import FUNCTION_WORDS, IRREGULAR

__all__ = ["CONTENT_WORD", "DENSE", "blank_markup", "normal_form", "other_forms", "spelled_words", "words_of"]

# Scripts that put no spaces between words are compared by pairs of characters.
DENSE: Final = (
    "\u0e00-\u0eff\u1000-\u109f\u1780-\u17ff\u3040-\u30ff\u3400-\u4dbf\u4e00-\u9fff\uac00-\ud7af\uf900-\ufaff"
)
"""The characters of those scripts, as a class of a pattern has them."""

CONTENT_WORD: Final = re.compile(rf"[{DENSE}]+|[^\W\d_{DENSE}]+(?:['’][^\W\d_]+)*|\d+(?:[.,]\d+)*")
"""One word, one number, or one run of a script without spaces."""

_IS_DENSE: Final = re.compile(rf"[{DENSE}]")
_MARKUP: Final = re.compile(
    r"!?\[(?=[^\]\n]{0,500}\]\()"  # a link's or image's beginning
    r"|\]\([^()\s]*(?:\([^()\s]*\)[^()\s]*)*(?:[ ]\"[^\"\n]*\")?\)"  # its destination
    r"|<https?://[^>\s]*>|https?://[^\s)>\]]+"
    r"|(?m:^[ \t]*(?:#{1,6}|>|[-*+]|\d{1,3}[.)])[ \t]+)"
    r"|(?m:^[ \t]*\|?[ \t:|-]*\|[ \t:|-]*$)"
    r"|[*_`|\\]+"
)

_ENDINGS: Final = (("ies", "y"), ("ings", ""), ("ing", ""), ("edly", ""), ("ed", ""), ("es", ""), ("ly", ""), ("s", ""))
_SHORTEST: Final = 3  # characters of a word without its ending


def blank_markup(text: str) -> str:
    """Return Markdown with its marks and the addresses of its links as spaces; every character keeps its place."""
    return _MARKUP.sub(lambda found: " " * len(found[0]), text)


@lru_cache(maxsize=20_000)
def normal_form(word: str) -> str:
    """Return a word without case, marks of pronunciation, and the commonest endings, which are those of English."""
    if word.isascii():
        word = word.lower()
    else:
        spread = unicodedata.normalize("NFKD", word.casefold())
        word = "".join(character for character in spread if not unicodedata.combining(character)).replace("’", "'")
    word = word.removesuffix("'s").replace("'", "")
    word = IRREGULAR.get(word, word)
    for ending, instead in _ENDINGS:
        if word.endswith(ending) and len(word) - len(ending) >= _SHORTEST and not word.endswith("ss"):
            word = word[: -len(ending)] + instead
            break
    if len(word) > _SHORTEST and word[-1] == word[-2] and word[-1] not in "aeiousl":
        word = word[:-1]
    return word.removesuffix("e") if len(word) > _SHORTEST else word


@lru_cache(maxsize=1)
def _forms() -> Mapping[str, tuple[str, ...]]:
    forms: dict[str, list[str]] = {}
    for form, base in IRREGULAR.items():
        forms.setdefault(normal_form(base), [base]).append(form)
    return MappingProxyType({word: tuple(found) for word, found in forms.items()})


def other_forms(word: str) -> tuple[str, ...]:
    """Return the spellings that no ending tells of a word in normal form."""
    return _forms().get(word, ())


def words_of(text: str) -> list[str]:
    """Return the words of a text without its function words, in their normal form."""
    return [form for form, _ in spelled_words(text)]


def spelled_words(text: str) -> list[tuple[str, str]]:
    """Return the words of a text without its function words, in their normal form and as they are spelled."""
    found: list[tuple[str, str]] = []
    for word in CONTENT_WORD.findall(text):
        if not word.isascii() and _IS_DENSE.match(word):
            found += [(word[place : place + 2],) * 2 for place in range(max(1, len(word) - 1))]
        elif word[0].isdecimal():
            found.append((word, word))
        elif word.lower() not in FUNCTION_WORDS:
            found.append((normal_form(word), word))
    return found
