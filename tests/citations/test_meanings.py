"""Sentences that say what their page says, or something else, in one respect: the verdict follows the meaning."""

from __future__ import annotations

from collections.abc import Callable, Mapping
from typing import Final

import pytest
from hypothesis import given
from hypothesis import strategies as st

from components.meanings import ENGLISH, PAIRS
from groundwire.citations.verify import CitedPage, verify_answer
from groundwire.citations.verify.comparisons import abbreviates

pytestmark = pytest.mark.req("B9", "B35")

CLAIMS: Final = (
    ("The city has 500k inhabitants", "The city has 500,400 inhabitants.", "supported", ()),
    (
        "The mill burned in 1933",
        "The mill opened in 1931. A year later it burned.",
        "altered",
        (("number", "1933", "1931"),),
    ),
    ("The firm won 3 prizes in 1990", "In 1990 the firm won 3 prizes, and in 1995 it won 5.", "supported", ()),
    (
        "The firm won 5 prizes in 1990",
        "In 1990 the firm won 3 prizes, and in 1995 it won 5.",
        "altered",
        (("number", "5", "3"),),
    ),
    (
        "The hall cost 5 million dollars",
        "The hall cost 5 million euros.",
        "altered",
        (("unit", "5 million usd", "5 million eur"),),
    ),
    ("The tower is 0.3 km high", "The tower is 300 meters high.", "supported", ()),
    ("The tower is 0.4 km high", "The tower is 300 meters high.", "altered", (("number", "0.4", "300"),)),
    ("The box weighs 2,000 kg", "The box weighs 2 tonnes.", "supported", ()),
    ("The trip takes 120 minutes", "The trip takes 2 hours.", "supported", ()),
    ("About 1,200 people came", "1,234 people came.", "supported", ()),
    ("About 1,200 people came", "1,434 people came.", "altered", (("number", "1,200", "1,434"),)),
    ("6 million people live there", "6.2 million people live there.", "supported", ()),
    ("6 million people live there", "6,234,567 people live there.", "supported", ()),
    ("6 million people live there", "7,234,567 people live there.", "altered", (("number", "6 million", "7,234,567"),)),
    (
        "The dog bit the man in the park",
        "The man bit the dog in the park.",
        "altered",
        (("order", "dog bit the man", "man bit the dog"),),
    ),
    ("The station opens at 9:30", "The station opens at 9:45.", "altered", (("number", "30", "45"),)),
    ("It was signed on 3/4/2020", "It was signed on 4 March 2020.", "supported", ()),
    ("It was signed on 3/4/2020", "It was signed on 3 April 2020.", "supported", ()),
    (
        "It was signed on 13/4/2020",
        "It was signed on 4 January 2020.",
        "altered",
        (("date", "13/4/2020", "4 January 2020"),),
    ),
    ("He said “we will never sell the old mill”", "“We will never sell the old mill”, he said.", "supported", ()),
    (
        "He said “we will always sell the old mill”",
        "“We will never sell the old mill”, he said.",
        "altered",
        (
            ("quote", "we will always sell the old mill", "“We will never sell the old mill”,"),
            ("negation", "He said “we will always sell the old mill”", "never sell the old mill”, he"),
        ),
    ),
    (
        "The mill didn’t close in 1931",
        "The mill closed in 1931.",
        "altered",
        (("negation", "n’t close in 1931", "The mill closed in 1931."),),
    ),
    ("The UK signed it", "The United Kingdom signed it.", "supported", ()),
    ("The U.N. met in Geneva", "The United Nations met in Geneva.", "supported", ()),
    ("Twelve members of the 30 voted", "Twelve of the 30 members voted.", "supported", ()),
    (
        "Two thirds of the members voted",
        "One third of the members voted.",
        "altered",
        (("number", "Two thirds", "One third"),),
    ),
    ("A third of the members voted", "33% of the members voted.", "supported", ()),
    (
        "The bridge was opened after the war",
        "The bridge was opened before the war.",
        "altered",
        (("opposite", "after", "before"),),
    ),
    (
        "No visitors may enter the hall",
        "All visitors may enter the hall.",
        "altered",
        (("negation", "No visitors may enter the hall", "All visitors may enter the hall."),),
    ),
    (
        "Visitors must not enter the hall",
        "Visitors may enter the hall.",
        "altered",
        (("negation", "not enter the hall", "Visitors may enter the hall."),),
    ),
    (
        "He bought 20 horses, 30 cows and 40 pigs",
        "He bought 20 horses, 40 cows and 30 pigs.",
        "altered",
        (("order", "30 cows and 40", "40 cows and 30"),),
    ),
    ("Mary and John met Peter", "John and Mary met Peter.", "supported", ()),
    ("The company was sold to Bell by Acme", "Acme sold the company to Bell.", "supported", ()),
    ("The mill burned in 1932", "The mill opened in 1931. The following year it burned.", "supported", ()),
    (
        "The mill burned in 1933",
        "The mill opened in 1931. The following year it burned.",
        "altered",
        (("number", "1933", "1931"),),
    ),
    ("The mill burned in 1930", "The mill opened in 1931. The previous year it burned.", "supported", ()),
    ("He reigned for 8 years", "He reigned from 1962 to 1970.", "supported", ()),
    ("He reigned for 9 years", "He reigned from 1962 to 1970.", "altered", (("number", "9", "1962"),)),
    (
        "The plants made 71 million tonnes",
        "The plants made 58 million tonnes of coal and 13 million tonnes of steel.",
        "supported",
        (),
    ),
    (
        "The plants made 72 million tonnes",
        "The plants made 58 million tonnes of coal and 13 million tonnes of steel.",
        "altered",
        (("number", "72 million", "58 million"),),
    ),
    ("The fund has 600k dollars", "The fund has 599,700 dollars.", "supported", ()),
    ("The fund has 600k dollars", "The fund has 649,700 dollars.", "supported", ()),
    ("The weight is 500 g", "The weight is 0.5 kg.", "supported", ()),
    ("The weight is 500 g", "The weight is 0.6 kg.", "altered", (("number", "500", "0.6"),)),
    ("The tower is 984 feet high", "The tower is 300 meters high.", "supported", ()),
    ("The tower is 900 feet high", "The tower is 300 meters high.", "altered", (("number", "900", "300"),)),
    ("It costs 5 dollars", "It costs $5.", "supported", ()),
    ("It costs 5 dollars", "It costs €5.", "altered", (("unit", "5 usd", "€5"),)),
    ("Peter Miller won", "Miller won.", "supported", ()),
    ("P. Miller won", "Peter Miller won.", "supported", ()),
    ("The Germans won the cup", "Germany won the cup.", "supported", ()),
    ("The French won the cup", "Germany won the cup.", "altered", (("name", "French", ""),)),
    (
        "The 12 dogs sleep in the barn, and the 9 cats sleep in the mill",
        "The 9 cats sleep in the mill. The 12 dogs sleep in the barn.",
        "supported",
        (),
    ),
    (
        "He bought 12 dogs in Ulm, then 9 cats in Kiel",
        "He bought 12 dogs in Kiel, then 9 cats in Ulm.",
        "altered",
        (("order", "Ulm then 9 cats in Kiel", "Kiel then 9 cats in Ulm"),),
    ),
    ("All of the 40 shops are closed", "All of the 40 shops are open.", "altered", (("opposite", "closed", "open"),)),
    ("The hotel has 300 rooms and a pool", "The hotel has a pool. It has 300 rooms.", "supported", ()),
    (
        "The hotel has no pool",
        "The hotel has a pool. It has 300 rooms.",
        "altered",
        (("negation", "no pool", "The hotel has a pool."),),
    ),
    ("Either party may cancel within 14 days", "Either party may cancel within 14 days.", "supported", ()),
    (
        "Neither party may cancel within 14 days",
        "Either party may cancel within 14 days.",
        "altered",
        (("negation", "Neither party may cancel within 14", "Either party may cancel within 14 days."),),
    ),
    (
        "The law was passed in 1998 by 120 votes to 90",
        "The law was passed in 1998 by 90 votes to 120.",
        "altered",
        (("order", "120 votes to 90", "90 votes to 120"),),
    ),
    (
        "Lisbon is 300 km north of Porto",
        "Lisbon is 300 km south of Porto.",
        "altered",
        (("opposite", "north", "south"),),
    ),
    (
        "The first mill stood in Ulm, the second in Kiel",
        "The first mill stood in Kiel, the second in Ulm.",
        "altered",
        (("order", "Ulm the second in Kiel", "Kiel the second in Ulm"),),
    ),
    (
        "Berg resigned on 3 May and Lund on 4 May",
        "Berg resigned on 4 May and Lund on 3 May.",
        "altered",
        (("order", "3 May and Lund on 4 May", "4 May and Lund on 3 May"),),
    ),
    ("On 3 May 2019, Berg resigned", "Berg resigned on May 3rd, 2019.", "supported", ()),
    (
        "In spring 2019 Berg resigned",
        "Berg resigned in the autumn of 2019.",
        "altered",
        (("opposite", "spring", "autumn"),),
    ),
    ("It took place in the 19th century", "It took place in the 18th century.", "altered", (("number", "19", "18"),)),
)
"""Claims and pages: what follows by arithmetic, by a unit, by another spelling of a name or date, and what does not."""


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


def test_what_follows_from_a_page_is_supported_and_what_does_not_is_named() -> None:
    wrong = []
    for claim, content, verdict, disagreements in CLAIMS:
        (finding,) = verify_answer(f"{claim} [1].", [CitedPage(number=1, url="", content=content)]).findings
        found = (finding.verdict, tuple((one.kind, one.claimed, one.stated) for one in finding.disagreements))
        if found != (verdict, disagreements):
            wrong.append((claim, content, found))
    assert wrong == []


@pytest.mark.parametrize(
    ("short", "long", "is_short"),
    [
        ("US", "United States", True),
        ("U.S.", "United States", True),
        ("Us", "United States", False),
        ("UK", "United States", False),
        ("WHO", "World Health Organization", True),
        ("W.H.O.", "World Health Organization", True),
        ("Who", "World Health Organization", False),
        ("WHA", "World Health Organization", False),
        ("WH", "World Health", False),
        ("W", "World", False),
        ("IBM", "IBM", False),
    ],
)
def test_which_names_are_abbreviations(short: str, long: str, is_short: bool) -> None:
    assert abbreviates(short, long) is is_short


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
        ("the report says", "Some ships reached the port."),
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
