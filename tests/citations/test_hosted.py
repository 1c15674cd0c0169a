"""Hosted answers in the shape of our own."""

from __future__ import annotations

from collections.abc import Callable

import pytest

from groundwire import Settings
from groundwire.citations import marked, render_answer
from groundwire.citations.verify import verify_answer
from groundwire.hosted.answers import HostedAnswer, HostedCitation, HostedSource

Make = Callable[..., Settings]
ONE, TWO = "https://one.example/a", "https://two.example/b"


def citation(url: str, **fields: object) -> HostedCitation:
    return HostedCitation(url=url, **fields)  # type: ignore[arg-type]  # the fields of the table below


@pytest.mark.req("B7", "B9")
@pytest.mark.parametrize(
    ("text", "citations", "expected"),
    [
        ("It is so. And so.", [citation(ONE, start=0, end=9, covers="claim")], "It is so.[1] And so."),
        (
            "It is so ([one](https://one.example/a)). More.",
            [citation(ONE, start=10, end=38, covers="link")],
            "It is so ([1]). More.",
        ),
        ("As known [2]. Really.", [citation(TWO, start=9, end=12, covers="marker")], "As known [1]. Really."),
        (
            "One. Two.",
            [citation(TWO, position=9), citation(ONE, position=4), citation(TWO, position=4)],
            "One.[1][2] Two.[2]",
        ),
        ("A list a[3] is none.", [], "A list a\\[3] is none."),
        ("No place.", [citation(ONE)], "No place."),
        ("Past the end.", [citation(ONE, start=0, end=99, covers="claim")], "Past the end.[1]"),
    ],
)
def test_marks_stand_where_the_api_says(text: str, citations: list[HostedCitation], expected: str) -> None:
    said = marked(HostedAnswer(api="x", text=text, citations=tuple(citations)))
    assert said.text == expected
    assert {page.url for page in said.pages} == {one.url for one in citations}


def test_what_was_only_found_comes_last_and_the_apis_quotations_count_as_seen() -> None:
    answer = HostedAnswer(
        api="anthropic",
        text="The tower is 324 metres tall.",
        sources=(HostedSource(url=TWO, title="Two"), HostedSource(url=ONE, title="One", snippet="A tower.")),
        citations=(
            citation(ONE, start=0, end=29, covers="block", cited_text="The tower is 330 metres tall."),
            citation(ONE, position=29, cited_text="The tower is 324 metres tall."),
        ),
    )
    said = marked(answer)
    assert [(page.number, page.url) for page in said.pages] == [(1, ONE), (2, TWO)]
    assert said.pages[0].snippet == "A tower. … The tower is 330 metres tall."
    (finding,) = verify_answer(said.text, said.pages).findings
    assert finding.verdict == "contradicted"
    rendered = render_answer(said.text, said.sources, "plain")
    assert rendered.used == (1,)
