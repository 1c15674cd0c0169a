"""Work on an answer grows with its length: counted at n, 2n and 4n on the texts that are worst for it."""

from __future__ import annotations

import pytest

from components.work import growths, lines
from groundwire.citations.marker_parser import find_marks
from groundwire.citations.rendering import render_answer
from groundwire.citations.verify import CitedPage, verify_answer
from groundwire.citations.verify.language_packs import LANGUAGES, language
from groundwire.models import Source

WORST = {
    "markers": "[1]",
    "markers, each in its line": "\n\n[1]",
    "sentences": "A b c. ",
    "sentences with markers": "Ships sail [1]. ",
    "lenticular": "【.【a】",
    "links": "[a](b",
    "brackets": "[",
    "backticks": "` `` ",
    "rows": "\n| a | b |",
    "names": "Big Ship ",
    "numbers": "twenty-1.1 ",
    "quotations": '"a b c d" ',
    "numbers with hyphens": "twenty-",
    "clauses": "ships sail, ",
    "a sentence of many sources": "ships [1] sail [2] ",
    "table heads": "\n| a | b |\n| - | - |",
    "dates": "5 May 2020 ",
    "images": "![a](b) ",
    "formulas": "$a$ \\[ ",
}
LONGEST = ("..x", ".", " ", "|", "| x", "1", "【.【a】", "[1]", "_", "(", "<http://", "](a ", "*  ")
SOURCES = [Source(citation_id=1, title="Ships", url="https://a.example/")]


def page(content: str) -> CitedPage:
    return CitedPage(number=1, url="https://a.example/", content=content)


def repeated(unit: str, size: int) -> str:
    return (unit * (size // len(unit) + 1))[:size]


@pytest.mark.parametrize("size", [500, pytest.param(1_000, marks=pytest.mark.slow)])
@pytest.mark.parametrize("unit", WORST.values(), ids=WORST)
@pytest.mark.parametrize(
    "work",
    [
        lambda text: verify_answer(text, [page("The ship sails. A b c.")]),
        lambda text: verify_answer('On 5 May 2020 the big ship A said "b c d e" [1].', [page(text)]),
        find_marks,
        lambda text: render_answer(text, SOURCES, "markdown"),
        lambda text: render_answer(text, SOURCES, "slack"),
    ],
    ids=["answer", "page", "marks", "markdown", "slack"],
)
def test_work_grows_with_the_length(work: object, unit: str, size: int) -> None:
    assert callable(work)
    for code in LANGUAGES:  # what a language needs is read once, when it is first met
        language(code)
    assert max(growths(work, *(repeated(unit, size * times) for times in (1, 2, 4)))) < 3


@pytest.mark.parametrize("unit", LONGEST)
def test_no_pattern_is_stuck_in_what_goes_on_for_long(unit: str) -> None:
    """A pattern that tries every beginning again would need hours for it."""
    text = repeated(unit, 500_000)
    verify_answer(f"{text} x [1].", [page(text)])


def test_a_number_beyond_all_floating_points_is_compared() -> None:
    digits = "9" * 400
    report = verify_answer(
        f"About {digits} ships sail by the sea [1].", [page(f"About {digits}1 ships sail by the sea.")]
    )
    assert [finding.source for finding in report.findings] == [1]


def test_a_sentence_of_numbers_is_not_compared_with_each_of_a_page() -> None:
    assert lines(lambda: verify_answer("12 " * 600 + "[1].", [page("12 " * 2_400)])) < 12_000_000
