"""Sentences that say what their page says, or something else, in one respect: the verdict follows the meaning."""

from __future__ import annotations

import pytest

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
