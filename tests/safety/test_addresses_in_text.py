"""The addresses in a message, or on a page."""

from __future__ import annotations

import pytest
from hypothesis import given
from hypothesis import strategies as st

from components.work import growth
from groundwire.web.known_urls import addresses_in


def texts(text: str) -> set[str]:
    return {url.text for url in addresses_in(text)}


@pytest.mark.req("B10")
@pytest.mark.parametrize(
    ("text", "expected"),
    [
        ("Read https://a.example/x, please.", "https://a.example/x"),
        ("(see https://a.example/x_(y))", "https://a.example/x_(y)"),
        ("Is it https://a.example/?", "https://a.example/"),
        ("**https://a.example/x**", "https://a.example/x"),
        ("<https://a.example/x?a=1&b=2>", "https://a.example/x?a=1&b=2"),
        ("[one](https://a.example/x 'title')", "https://a.example/x"),
        ("[one](https://a.example/x_(y))", "https://a.example/x_(y)"),
        ("[https://a.example/shown](https://b.example/meant)", "https://b.example/meant"),
        ("[https://a.example/shown](https://b.example/meant)", "https://a.example/shown"),
        ("| [one](https://a.example/x) | [two](https://b.example/y) |", "https://b.example/y"),
        ("https://a.example/a\\_b", "https://a.example/a_b"),
        ("https://a.example/?a=1&amp;b=2", "https://a.example/?a=1&b=2"),
        ("HTTPS://A.Example", "https://a.example/"),
        ("今日 https://例え.テスト/あ。", "https://xn--r8jz45g.xn--zckzah/%E3%81%82"),
    ],
)
def test_an_address_is_found(text: str, expected: str) -> None:
    assert expected in texts(text)


@pytest.mark.parametrize("text", ["", "a.example", "ftp://a.example/", "https://", "http://user:pass@a.example/"])
def test_other_words_are_none(text: str) -> None:
    assert texts(text) == set()


def test_there_is_a_limit() -> None:
    assert len(addresses_in(" ".join(f"https://a.example/{n}" for n in range(50)), limit=7)) == 7


@given(st.text(max_size=200))
def test_any_text_is_read(text: str) -> None:
    assert isinstance(addresses_in(text), tuple)


@pytest.mark.parametrize(
    "piece", ["](https://a", "<https://a", "https://a.b](", "https://a.example/" + "(" * 50, "[x](https://a 'b"]
)
def test_a_long_text_takes_no_longer(piece: str) -> None:
    text = piece * (200_000 // len(piece))
    addresses_in(text)
    assert growth(addresses_in, text[:10_000], text[:40_000]) < 5
