"""The bound on tokens, held against two real tokenizers."""

from __future__ import annotations

import base64
import random
from collections.abc import Callable

import pytest
from hypothesis import example, given, settings
from hypothesis import strategies as st

from components.data_sets import SavedPages
from components.examples import examples
from groundwire.reading.passages.token_budget import TextBudget, load_token_bound

pytestmark = [
    pytest.mark.req("B8"),
    pytest.mark.filterwarnings("ignore:open_binary is deprecated"),
]

bound = load_token_bound()


SCRIPTS = {
    "ascii": (0x20, 0x7E), "latin": (0xA0, 0x24F), "greek": (0x370, 0x3FF), "cyrillic": (0x400, 0x4FF),
    "hebrew": (0x590, 0x5FF), "arabic": (0x600, 0x6FF), "devanagari": (0x900, 0x97F), "thai": (0xE00, 0xE5B),
    "georgian": (0x10A0, 0x10FF), "punctuation": (0x2010, 0x206F), "symbols": (0x2190, 0x27FF),
    "kana": (0x3040, 0x30FF), "ideographs": (0x4E00, 0x9FFF), "hangul": (0xAC00, 0xD7A3),
    "emoji": (0x1F300, 0x1F6FF), "astral": (0x10000, 0x2FFFF),
}  # fmt: skip

pieces = st.sampled_from(
    ["é", "a", "Foo", " bar", "ß", " the", "'s", "’s", "don't", "x'VE", " (", "](", "http", "://", "\n", "\n\n", "  ",
     "    ", "\t", "…", "—", "“", "**", "`", "```", "|", " | ", "---", "1", "23", "2026", "漢", "字", "й", "слово",
     "Лукашенко", " größte", "français", "łódź", "Éµ", "ÜBER", "ήλιος", "العربية", "שלום", "đường",
     "🙂", "👩\u200d💻", "\u0301", "\r\n", "/", "_", "-", "getElementById", "HTTPServer", "JSON", "\xa0", "\x00"]
)  # fmt: skip


@pytest.mark.parametrize("script", SCRIPTS)
def test_no_script_has_more_tokens(script: str, real: Callable[[str], int]) -> None:
    low, high = SCRIPTS[script]
    draw = random.Random(script)
    for _ in range(400):
        text = "".join(chr(draw.randint(low, high)) for _ in range(draw.randint(1, 60)))
        assert real(text) <= bound(text), text


@settings(max_examples=examples(400))
@given(st.one_of(st.lists(pieces, max_size=60).map("".join), st.text(max_size=80), st.text(alphabet="abcXYZ09+/=_-.")))
def test_no_mixture_has_more_tokens(real: Callable[[str], int], text: str) -> None:
    clean = text.encode("utf-8", "replace").decode()
    assert real(clean) <= bound(clean)


@given(st.binary(max_size=300))
def test_bytes_as_text_have_no_more_tokens(real: Callable[[str], int], data: bytes) -> None:
    for text in (base64.b64encode(data).decode(), data.hex()):
        assert real(text) <= bound(text)


@example("égetElementById", 5)
@given(st.lists(pieces, max_size=60).map("".join), st.integers(min_value=0, max_value=80))
def test_what_is_reached_fits(text: str, room: int) -> None:
    end = bound.reach(text, 0, room)
    assert bound(text[:end]) <= room or end == 0
    assert end == len(text) or bound(text) > room


@pytest.mark.parametrize("part", ["a", "\u0436", "ab", "7", "-", "\u6f22", " ", "\n"])
@pytest.mark.parametrize("count", [399, 400, 401, 900, 1_600])
def test_what_fits_has_no_more_tokens_than_are_counted(part: str, count: int) -> None:
    for text in (part * count, f"Lit. {part * count} end", f"{part * count}\n\n{part * count}"):
        for tokens in (5, 300, 800, 1_500):
            room = TextBudget(characters=10_000, tokens=tokens)
            assert not room.holds(text) or bound(text) <= tokens
            assert bound(text[: room.reach(text, 0)]) <= tokens


def test_saved_pages_have_no_more_and_not_many_fewer(saved_pages: SavedPages, real: Callable[[str], int]) -> None:
    entries = list(saved_pages.truth.values())[:: 1 if saved_pages.is_own else 10]
    texts = [entry["text"][:length] for entry in entries for length in (200, 6_000)]
    shares = sorted(real(text) / bound(text) for text in texts if len(text) > 20)
    assert shares[-1] <= 1
    assert shares[len(shares) // 2] > 0.85
    assert shares[len(shares) // 20] > 0.7  # most of the set is English prose


def test_markup_and_code_have_no_more(saved_pages: SavedPages, real: Callable[[str], int]) -> None:
    for name in sorted(saved_pages.truth)[:12]:
        whole = saved_pages.body(name).decode("utf-8", "replace")
        text = whole if saved_pages.is_own else whole[5_000:25_000]
        assert real(text) <= bound(text)


@pytest.mark.parametrize(
    "text", ["Die größten Überraschungen für Käufer", "Président élu à Montréal", "Он приехал домой"]
)
def test_letters_of_other_alphabets_do_not_count_one_by_one(real: Callable[[str], int], text: str) -> None:
    assert real(text) <= bound(text) < 0.7 * len(text)
