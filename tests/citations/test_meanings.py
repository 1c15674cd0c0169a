"""Sentences that say what their page says, or something else, in one respect: the verdict follows the meaning."""

from __future__ import annotations

import pytest
from hypothesis import given
from hypothesis import strategies as st

from components.meanings import ENGLISH, PAIRS
from groundwire.citations.verify import CitedPage, verify_answer

pytestmark = pytest.mark.req("B9", "B35")


def check(pair: tuple[str, str, str, tuple[str, ...]], content: str) -> None:
    claim, stated, verdict, disagreement = pair
    page = CitedPage(number=1, url="https://a.example/", content=content)
    (finding,) = verify_answer(f"{claim[:-1]} [1]{claim[-1]}", [page]).findings
    assert finding.verdict == verdict
    found = [(one.kind, one.claimed, one.stated) for one in finding.disagreements]
    assert found == ([disagreement] if disagreement else [])
    assert finding.passage is not None
    assert finding.passage.startswith(stated)


@pytest.mark.parametrize("pair", PAIRS, ids=lambda pair: pair[0])
def test_the_verdict_follows_the_meaning(pair: tuple[str, str, str, tuple[str, ...]]) -> None:
    check(pair, pair[1])


@pytest.mark.parametrize("pair", ENGLISH, ids=lambda pair: pair[0])
def test_what_else_is_on_the_page_does_not_matter(pair: tuple[str, str, str, tuple[str, ...]]) -> None:
    check(pair, f"# Notes\n\nThe sun rose over the hills.\n\n{pair[1]}\n\nIt rained on the next day.")


def test_an_answer_of_many_sentences_is_checked_sentence_by_sentence() -> None:
    several = [pair for pair in ENGLISH if '"' not in pair[0]]
    pages = [
        CitedPage(number=number, url="https://a.example/", content=stated)
        for number, (_, stated, _, _) in enumerate(several, start=1)
    ]
    answer = " ".join(f"{claim[:-1]} [{number}]." for number, (claim, _, _, _) in enumerate(several, start=1))
    findings = verify_answer(answer, pages).findings
    assert [finding.verdict for finding in findings] == [verdict for _, _, verdict, _ in several]
    assert [finding.source for finding in findings] == list(range(1, len(several) + 1))


def test_a_part_whose_source_is_unknown_is_said() -> None:
    pages = [
        CitedPage(number=1, url="", content="The hall seats 900."),
        CitedPage(number=2, url="", content="Nothing."),
    ]
    answer = "The hall seats {} [1], and the organ dates from 1932 [9]. The hall seats 900 [1]."
    assert [one.verdict for one in verify_answer(answer.format(900), pages).findings] == ["unknown_source", "supported"]
    assert [one.verdict for one in verify_answer(answer.format(800), pages).findings] == ["altered", "supported"]


@given(
    st.lists(
        st.tuples(st.sampled_from(ENGLISH), st.sampled_from(["", " [1]", " [2]", " [9]", " [1][9]", " [2, 7]"])),
        max_size=6,
    ),
    st.sampled_from([", and ", ". ", "; ", "\n\n- "]),
)
def test_any_answer_with_any_markers_has_a_verdict_for_each_sentence(
    parts: list[tuple[tuple[str, str, str, tuple[str, ...]], str]], joint: str
) -> None:
    answer = joint.join(pair[0][:-1] + mark for pair, mark in parts) + "."
    pages = [
        CitedPage(number=number, url="", content=" ".join(pair[1] for pair, _ in parts[number - 1 :: 2]))
        for number in (1, 2)
    ]
    for finding in verify_answer(answer, pages).findings:
        assert finding.text == answer[finding.start : finding.end]
        assert not set(finding.unsupporting) - {1, 2}
        if finding.verdict in {"supported", "altered"}:
            assert finding.source in {1, 2}


@pytest.mark.parametrize(
    ("claim", "stated", "missing"),
    [
        (
            "The ferry leaves at noon, and a swimming pool was opened for the children of the town [1].",
            "The ferry leaves at noon.",
            "swimming pool opened children town",
        ),
        (
            "The company's founder, Lena Ortiz, stepped down as chief accountant [1].",
            "The company's founder, Lena Ortiz, sold her shares in March 2021 and stepped down as chief executive.",
            "stepped down as chief accountant",
        ),
    ],
)
def test_what_the_page_does_not_have_is_named(claim: str, stated: str, missing: str) -> None:
    (finding,) = verify_answer(claim, [CitedPage(number=1, url="", content=stated)]).findings
    assert finding.verdict == "not_found"
    assert finding.notes == (f"the page says a part of it, but nothing of this: {missing}",)
