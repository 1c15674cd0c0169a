"""Whether two texts can be compared word by word: their scripts, and for Latin ones their languages."""

from __future__ import annotations

import re
from collections import Counter
from typing import Final

from groundwire.citations.verify.vocabulary import TELLING_WORDS

__all__ = ["comparable"]

_SCRIPTS: Final = re.compile(
    r"(?P<latin>[A-Za-z\u00c0-\u024f]+)|(?P<greek>[\u0370-\u03ff]+)|(?P<cyrillic>[\u0400-\u052f]+)"
    r"|(?P<hebrew>[\u0590-\u05ff]+)|(?P<arabic>[\u0600-\u06ff\u0750-\u077f]+)|(?P<indic>[\u0900-\u0dff]+)"
    r"|(?P<thai>[\u0e00-\u0e7f]+)|(?P<kana>[\u3040-\u30ff]+)|(?P<han>[\u3400-\u9fff]+)|(?P<hangul>[\uac00-\ud7af]+)"
)
_ENOUGH: Final = 3  # telling words from which on a language is believed
_SAMPLE: Final = 20_000  # characters
_WORD: Final = re.compile(r"[^\W\d_]+")


def comparable(claim: str, page: str) -> bool:
    """Tell whether a sentence may say in its words what a page says in its own; when in doubt it may."""
    one, two = _script(claim), _script(page[:_SAMPLE])
    if not one or not two:
        return True
    if one != two:
        return {one, two} == {"kana", "han"}
    if one != "latin":
        return True
    mine, theirs = _language(claim), _language(page[:_SAMPLE])
    return not mine or not theirs or mine == theirs


def _script(text: str) -> str:
    counts: Counter[str] = Counter()
    for found in _SCRIPTS.finditer(text):
        counts[found.lastgroup or ""] += len(found[0])
    return counts.most_common(1)[0][0] if counts else ""


def _language(text: str) -> str:
    """Return the language whose little words a text has most of; nothing when none is clearly ahead."""
    words = _WORD.findall(text.lower())
    counts = Counter(TELLING_WORDS[word] for word in words if word in TELLING_WORDS).most_common(2)
    if not counts or counts[0][1] < _ENOUGH:
        return ""
    second = counts[1][1] if len(counts) > 1 else 0
    return counts[0][0] if counts[0][1] >= 2 * second else ""
