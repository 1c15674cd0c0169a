"""Texts over which a pattern of ours could go again and again; with the time limit of every test as the bound."""

from __future__ import annotations

import pytest

from groundwire.deadline import Deadline
from groundwire.errors import DeadlineExceeded
from groundwire.reading.block_pages.classify import soft_block
from groundwire.reading.convert import convert
from groundwire.reading.documents.pdf.blocks import join_broken
from groundwire.reading.documents.pdf.headings import _NUMBERING
from groundwire.reading.workers.pool import Conversion

pytestmark = pytest.mark.req("B2")
ARTICLE = "<p>" + "The wheel was mended, and the miller wrote down what each spoke had cost. " * 12 + "</p>"


@pytest.mark.parametrize(
    "markup",
    [
        f"<p>{'-' * 200_000}x</p>",
        f"<p style='filter:{'a' * 100_000}'>x</p>",
        f"<p style='clip-path:{'a-' * 100_000}'>x</p>",
        f"<p style='transform:{'a(' * 100_000}'>x</p>",
    ],
    ids=["dashes", "filter", "clip-path", "transform"],
)
def test_a_long_run_of_one_sign_takes_no_more_than_its_length(markup: str) -> None:
    found = convert((markup + ARTICLE).encode(), "text/html; charset=utf-8", "https://mill.example/", headers={})
    assert "wrote down what each spoke" in found.extracted.content


def test_a_long_word_at_the_beginning_of_a_heading_is_no_number() -> None:
    assert _NUMBERING.sub("", "Donaudampfschifffahrtsgesellschaft" * 20) == "Donaudampfschifffahrtsgesellschaft" * 20
    assert _NUMBERING.sub("", "Chapter 3.2.1 The wheel") == "The wheel"


def test_a_text_without_spaces_is_joined_in_its_length() -> None:
    assert join_broken("水" * 200_000, "車", frozenset()) == "水" * 200_000 + " 車"


@pytest.mark.parametrize("text", ["your network ", "アクセス", "a.", "[a](b)", "subscribe to "])
def test_what_a_short_page_pleads_is_looked_for_in_no_more_than_its_length(text: str) -> None:
    for content in (text * 20_000, text.replace(" ", "_") * 20_000):
        soft_block({}, "https://mill.example/", "<p>", title=content, content=content)


async def test_a_page_that_cannot_be_ended_does_not_hold_up_the_next() -> None:
    rules = "".join(f"[data-x*='{number}'] p{{display:none}}" for number in range(3_000))
    slow = f"<style>{rules}</style><div data-x='{'12345' * 3_000}'>{'<p>x</p>' * 2_000}".encode()
    pages = Conversion()
    first = pages._threads
    try:
        for _ in range(2):
            with pytest.raises(DeadlineExceeded):
                await pages.convert(slow, "text/html", "https://a.example/", headers={}, deadline=Deadline.after(0.05))
        found = await pages.convert(
            ARTICLE.encode(), "text/html", "https://a.example/", headers={}, deadline=Deadline.after(60)
        )
    finally:
        await pages.aclose()
    assert pages._threads is not first, "an ordinary page waits for one that nobody waits for any more"
    assert "wrote down" in found.extracted.content


async def test_style_rules_that_take_long_to_match_are_given_up() -> None:
    rules = "".join(f"[data-x*='{number}'] p{{display:none}}" for number in range(3_000))
    slow = f"<style>{rules}</style><div data-x='{'12345' * 3_000}'></div>{'<p>x</p>' * 2_000}{ARTICLE}".encode()
    found = convert(slow, "text/html; charset=utf-8", "https://mill.example/", headers={})
    assert "wrote down" in found.extracted.content
