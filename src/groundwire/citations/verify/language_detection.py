"""The script and the language of a text, by the alphabet and the function words of the language packs."""

from __future__ import annotations

import re
from collections import Counter
from collections.abc import Mapping
from functools import lru_cache
from types import MappingProxyType
from typing import Final

from groundwire.citations.verify.language_packs import LANGUAGES, pack_text

__all__ = ["language_of", "script_of"]

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
_SAMPLE: Final = 4_000  # characters used to detect a text's language


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
    if _OTHERS.search(text, 0, _SAMPLE // 4) is None:
        return "latin" if _LATIN.search(text, 0, _SAMPLE // 4) else ""
    counts: Counter[str] = Counter()
    for found in _SCRIPTS.finditer(text[: _SAMPLE // 4]):
        counts[found.lastgroup or ""] += len(found[0])
    if counts["kana"] and counts["han"] and counts["kana"] * 20 > counts["han"]:
        return "kana"
    return counts.most_common(1)[0][0] if counts else ""


def language_of(text: str) -> tuple[str, int]:
    """Return the code of a text's language and its lead over the next; `""` if it cannot be detected."""
    script = script_of(text)
    if script != "latin":
        return {"cyrillic": "ru", "han": "zh", "kana": "ja", "arabic": "ar"}.get(script, script), _SAMPLE
    telling = _telling()
    counts: Counter[str] = Counter()
    for word, often in Counter(_WORD.findall(text[:_SAMPLE].lower())).items():
        for code in telling.get(word, ()):
            counts[code] += often
    first, second, *_ = [*counts.most_common(2), ("", 0), ("", 0)]
    return first[0], first[1] - second[1]
