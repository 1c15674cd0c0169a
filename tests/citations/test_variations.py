"""What changes neither the meaning of a sentence nor of its page leaves the verdict as it is."""

from __future__ import annotations

from collections.abc import Callable, Mapping
from typing import Final

import pytest

from components.meanings import ENGLISH
from groundwire.citations.verify import CitedPage, verify_answer

pytestmark = pytest.mark.req("B9")

_NAMES: Final = frozenset(
    {"Anna", "Otto", "Eva", "Ulm", "Bonn", "Peru", "Norway", "Kiel", "Berg", "Professor", "Smith"}
)


def _lower(sentence: str) -> str:
    return sentence if sentence.split()[0] in _NAMES else sentence[0].lower() + sentence[1:]


def _marked(sentence: str) -> str:
    return f"{sentence[:-1]} [1]{sentence[-1]}"


def _bold(text: str) -> str:
    return " ".join(f"**{word}**" if at % 3 == 1 else word for at, word in enumerate(text.split()))


VARIATIONS: Final[Mapping[str, Callable[[str, str], tuple[str, str]]]] = {
    "according to": lambda claim, page: (_marked(f"According to the report, {_lower(claim)}"), page),
    "the report says": lambda claim, page: (_marked(f"The report says that {_lower(claim)}"), page),
    "the page says that it is said": lambda claim, page: (_marked(claim), f"The report says that {_lower(page)}"),
    "bold words on the page": lambda claim, page: (_marked(claim), _bold(page)),
    "bold words in the answer": lambda claim, page: (_marked(_bold(claim[:-1]) + claim[-1]), page),
    "broken lines": lambda claim, page: (_marked(claim), page.replace(" ", "\n", 2)),
    "items of lists": lambda claim, page: (_marked(f"- {claim}"), f"- one\n- {page}\n- three"),
    "a cell of a table": lambda claim, page: (_marked(claim), f"| what | when |\n| --- | --- |\n| {page} | now |"),
    "a clause on both sides": lambda claim, page: (
        f"{claim[:-1]}, and the weather was warm [1].",
        f"{page[:-1]}, and the weather was warm.",
    ),
    "a quotation on the page": lambda claim, page: (_marked(claim), f"> {page}"),
}
KNOWN_ERRORS: Final = frozenset(
    {
        ("according to", "Some ships reached the port."),
        ("according to", "The vaccine protects children."),
        ("the report says", "Some ships reached the port."),
        ("the report says", "The vaccine protects children."),
        ("bold words on the page", "The WHO published the report."),
        ("broken lines", "The WHO published the report."),
    }
)
"""Variations and sentences whose verdict is wrong."""


@pytest.mark.parametrize("variation", VARIATIONS)
def test_the_verdict_stays(variation: str) -> None:
    wrong = set()
    for claim, page, verdict, _ in ENGLISH:
        if '"' not in claim:
            answer, content = VARIATIONS[variation](claim, page)
            report = verify_answer(answer, [CitedPage(number=1, url="https://a.example/", content=content)])
            if [finding.verdict for finding in report.findings] != [verdict]:
                wrong.add((variation, claim))
    assert wrong == {one for one in KNOWN_ERRORS if one[0] == variation}
