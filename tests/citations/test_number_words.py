"""Numbers in words, written by other software (eight languages) or by the rules of a grammar, are read back."""

from __future__ import annotations

import json
from pathlib import Path
from typing import Final

import pytest

from groundwire.citations.verify.language_packs import language
from groundwire.citations.verify.quantities import numbers_of

pytestmark = pytest.mark.req("B9", "B35")

WORDS: Final[dict[str, dict[str, str]]] = json.loads(Path(__file__).with_name("number_words.json").read_text("utf-8"))
"""Language, number, and how it is written; not what is rather another word when it stands alone, as neuf is."""


def _chinese(number: int) -> str:
    """Write a number below 10^16 in Chinese characters: a zero stands for the places that are left out."""
    digits, small, large = "零一二三四五六七八九", ("", "十", "百", "千"), ("", "万", "亿", "万亿")
    groups, rest = [], number
    while rest:
        rest, group = divmod(rest, 10_000)
        groups.append(group)
    written = ""
    for place in range(len(groups) - 1, -1, -1):
        text, skipped = "", bool(written) and groups[place] < 1_000
        for power in (3, 2, 1, 0):
            digit = groups[place] // 10**power % 10
            if digit:
                text += ("零" if skipped and (text or written) else "") + digits[digit] + small[power]
            skipped = not digit
        written += text + large[place] if text else ""
    return written.removeprefix("一") if written.startswith("一十") else written


def _misread(code: str, words: dict[int, str]) -> dict[str, tuple[int, object]]:
    """Return what is read otherwise, in parentheses: with what was meant and what was read."""
    wrong: dict[str, tuple[int, object]] = {}
    for number, text in words.items():
        found = [(one.text, one.values) for one in numbers_of(f"({text})", language(code))]
        if found != [(text, (float(number),))]:
            wrong[text] = (number, found)
    return wrong


@pytest.mark.parametrize("code", WORDS)
def test_numbers_in_words_are_read(code: str) -> None:
    assert _misread(code, {int(number): words for number, words in WORDS[code].items()}) == {}


def test_chinese_numbers_are_read() -> None:
    numbers = [int(number) for number in WORDS["de"] if number != "10"] + [10**8 + 7, 3 * 10**12 + 20_500]
    assert _misread("zh", {number: _chinese(number) for number in numbers}) == {}
