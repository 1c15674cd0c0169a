"""The numbering of sources, and the marks that use it."""

from __future__ import annotations

import pytest
from hypothesis import given
from hypothesis import strategies as st

from groundwire.agent_loop import CitationLedger
from groundwire.agent_loop.citation_ledger import citations_in
from groundwire.tools import SearchResultItem, WebSearchToolResult

TEXTS: tuple[tuple[str, list[str]], ...] = (
    ("A [1] and [2].", ["[1]", "[2]"]),
    ("A[1][3].", ["[1]", "[3]"]),
    ("A [1, 2].", ["[1, 2]", "[1, 2]"]),
    ("A 【2】 and 【1†L3-L5】.", ["【2】", "【1†L3-L5】"]),
    ("Ein Ärger 😀 [1]", ["[1]"]),
    ("None: [0] [4] [99] [] [a] [-1] [10000].", []),
    ("A link [1](https://a.org) is none.", []),
    ("[1]: https://a.org", []),
    ("Code `rows[1]` and\n```\nx[2]\n```\nbut [3].", ["[3]"]),
    ("", []),
)


def ledger() -> CitationLedger:
    made = CitationLedger()
    for letter in "abc":
        made.number(f"https://{letter}.org/", letter.upper())
    return made


@pytest.mark.parametrize(("text", "marks"), TEXTS)
def test_marks(text: str, marks: list[str]) -> None:
    found = list(citations_in(text, ledger()))
    assert [text[one.start : one.end] for one in found] == marks
    assert all(one.covers == "marker" and one.title for one in found)


def test_a_page_keeps_its_number() -> None:
    made = ledger()
    assert made.number("https://b.org/", "Another title") == 2
    assert made.number("https://d.org/") == 4
    assert made.number("https://d.org/", "D") == 4
    assert [one.title for one in made.sources] == ["A", "B", "C", "D"]
    assert made.get(0) is made.get(5) is None


def test_the_first_title_of_a_page_counts() -> None:
    def row(url: str, title: str) -> SearchResultItem:
        return SearchResultItem(citation_id=0, title=title, url=url, snippet="")

    made = CitationLedger()
    rows = (
        row("https://a.org/", ""),
        row("https://b.org/", "B"),
        row("https://a.org/", "A"),
        row("https://a.org/", "C"),
    )
    text = made.take(WebSearchToolResult(query="letters", results=rows))
    assert [(one.citation_id, one.title) for one in made.sources] == [(1, "A"), (2, "B")]
    assert [line[0] for line in text.splitlines() if line[1:3] == ". "] == ["1", "2", "1", "1"]


@given(st.text(alphabet="[]0123456789, (`~\n【】†x:", max_size=60))
def test_any_text_has_marks_that_lie_in_it(text: str) -> None:
    for one in citations_in(text, ledger()):
        assert one.start is not None
        assert one.end is not None
        assert 0 <= one.start < one.end <= len(text)
        assert text[one.start] in "[【"
