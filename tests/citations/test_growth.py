"""Work on an answer grows with its length: counted at n, 2n and 4n on the texts that are worst for it."""

from __future__ import annotations

import random
from collections.abc import Callable

import pytest

from components.text_calls import LANGUAGES
from components.work import growth, growths, lines
from groundwire.citations.marker_parser import find_marks
from groundwire.citations.rendering import render_answer
from groundwire.citations.verify import CitedPage, verify_answer
from groundwire.citations.verify.language_data import language
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
LETTERS = "abcdefghijklmnopqrstuvwxyz"
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
        lambda text: render_answer(text, SOURCES, "telegram_html"),
    ],
    ids=["answer", "page", "marks", "markdown", "telegram"],
)
def test_work_grows_with_the_length(work: object, unit: str, size: int) -> None:
    assert callable(work)
    for code in LANGUAGES:  # what a language needs is read once, when it is first met
        language(code)
    assert max(growths(work, *(repeated(unit, size * times) for times in (1, 2, 4)))) < 3


@pytest.mark.parametrize("unit", LONGEST)
def test_no_pattern_is_stuck_in_what_goes_on_for_long(unit: str) -> None:
    """A pattern that tries every beginning again would need far longer than a test has."""
    text = repeated(unit, 300_000)
    verify_answer(f"{text} x [1].", [page(text)])


def test_a_number_beyond_all_floating_points_is_compared() -> None:
    digits = "9" * 400
    report = verify_answer(
        f"About {digits} ships sail by the sea [1].", [page(f"About {digits}1 ships sail by the sea.")]
    )
    assert [finding.source for finding in report.findings] == [1]


def test_a_sentence_of_numbers_is_not_compared_with_each_of_a_page() -> None:
    assert lines(lambda: verify_answer("12 " * 600 + "[1].", [page("12 " * 2_400)])) < 12_000_000


def named(number: int) -> str:
    """Return a name that no other number has."""
    return "".join(LETTERS[number // len(LETTERS) ** place % len(LETTERS)] for place in (2, 1, 0))


MANY: dict[str, tuple[Callable[[int], str], Callable[[int], str], str]] = {  # sentences, those of the page, the joint
    "equal ones": (
        lambda _: "The old ferry to the island carries forty cars and leaves the harbor at seven",
        lambda _: "The old ferry to the island carries forty cars and leaves the harbor at seven.",
        " ",
    ),
    "equal ones in other words": (
        lambda _: "The old ferry to the island transports forty cars, it leaves our harbor at nine",
        lambda _: "The old ferry to the island carries forty cars and leaves the harbor at seven.",
        " ",
    ),
    "equal paragraphs": (
        lambda _: "The old ferry to the island transports forty cars, it leaves our harbor at nine",
        lambda _: "The old ferry to the island carries forty cars and leaves the harbor at seven.",
        "\n\n",
    ),
    "other names": (
        lambda at: f"The old ferry of {named(at).title()}berg reaches the island and brings cars",
        lambda at: f"The old ferry of {named(at).title()}berg sails to the island with cars.",
        " ",
    ),
    "other numbers": (
        lambda at: f"The ferry carries {1_000 + at} cars to {2 * at + 3} islands each year",
        lambda at: f"In a year the ferry carries {1_000 + at} cars, to {2 * at + 3} islands.",
        " ",
    ),
    "one word in common": (
        lambda at: f"Ferry {named(at)}x {named(at + 3)}y {named(at + 5)}z {named(at + 9)}v",
        lambda at: f"Ferry {named(at)}a {named(at + 3)}b {named(at + 5)}c {named(at + 9)}d.",
        " ",
    ),
    "items of a list": (
        lambda at: f"{named(at)}berg island ferry {at}",
        lambda at: f"- {named(at)}berg island boat {at}",
        "\n",
    ),
    "ends of others": (
        lambda at: f"The ferry carries goats {named(at)} and mules to the port",
        lambda at: f"The ferry carries goats {named(at)} by sea. The car {named(at)} and mules to the port.",
        " ",
    ),
    "initials": (
        lambda at: f"A. Miller met {named(at).title()} at the ferry port",
        lambda at: f"Peter Miller met {named(at).title()} by the ferry port.",
        " ",
    ),
    "quotations": (
        lambda at: f'He said "the {named(at)} ferry carries goats" there',
        lambda at: f'He said "the {named(at)} ferry carries mules" here.',
        " ",
    ),
    "one stem": (
        lambda at: f"Ship{LETTERS[at % len(LETTERS)]} {named(at)} sails by sea to port",
        lambda at: "ship " * 8,
        "",
    ),
    "blank lines": (
        lambda at: f"The ferry {named(at)} carries goats over sea",
        lambda at: "\n " * 20 if at else "The ferry carries goats.",
        "",
    ),
}


@pytest.mark.parametrize("kind", MANY)
def test_work_grows_with_the_sentences_of_the_answer_and_of_the_page(kind: str) -> None:
    """Twice as many sentences about a page of twice as many take twice the work, not four times."""
    claim, stated, joint = MANY[kind]

    def work(often: int) -> None:
        answer = " ".join(f"{claim(at)} [1]." for at in range(often))
        verify_answer(answer, [page(joint.join(map(stated, range(often))))])

    assert growth(work, 40, 80) < 2.5


def test_a_sentence_of_many_parts_and_many_sources() -> None:
    def work(often: int) -> None:
        said = ", ".join(f"the {named(at)} ferry carries {named(at + 9)} cars" for at in range(16))
        marks = "".join(f"[{at + 1}]" for at in range(often))
        pages = [CitedPage(number=at + 1, url="", content=f"The ferry {at} carries goats.") for at in range(often)]
        verify_answer(f"{said} {marks}.", pages)

    assert growth(work, 16, 32) < 2.3


SMALL_WORDS = {
    "en": "the and of to was were with that this from which are his her their has have had",
    "de": "der die das und ist nicht mit von zu den dem des ein eine auf für wurde auch",
    "fr": "le la les des est dans une que pour par avec sur pas sont plus au aux ce",
    "es": "el la los las una por con para que del se su como más al lo fue",
}


def like_a_page(code: str, chance: random.Random) -> list[str]:
    """Return sentences of the small words of a language, with clauses, numbers and dates, as whole pages have them."""
    small = SMALL_WORDS[code].split()
    months = sorted(month for month in language(code).months if len(month) > 4)
    found = []
    for _ in range(60):
        words = []
        for at in range(chance.randrange(9, 26)):
            content = "".join(
                f"{chance.choice(LETTERS)}{chance.choice('aeiou')}" for _ in range(chance.randrange(2, 6))
            )
            if code == "de" and chance.random() < 0.6:
                content = content.title()
            words += [chance.choice(small)] * (at % 2) + [content] * (1 - at % 2)
            if at % 6 == 5 and chance.random() < 0.6:
                words[-1] += ","
        if chance.random() < 0.3:
            words.insert(
                3, f"{chance.randrange(2, 31)}. {chance.choice(months).title()} {chance.randrange(1900, 2030)}"
            )
        elif chance.random() < 0.5:
            words.insert(3, f"{chance.randrange(2, 9_000)}")
        found.append(f"{words[0].title()} {' '.join(words[1:])}.".replace(",.", "."))
    return found


@pytest.mark.parametrize(("code", "most"), [("en", 1_200), ("de", 1_200), ("fr", 1_200), ("es", 1_200)])
def test_the_work_for_a_word_of_an_answer_about_whole_pages(code: str, most: int) -> None:
    """Half of the sentences are the pages' own, and half are attributed and end with what the page does not say."""
    chance = random.Random(7)
    pages = [like_a_page(code, chance) for _ in range(8)]
    answer = []
    for at in range(32):
        number = at % len(pages)
        said = chance.choice(pages[number])
        if at % 2:
            other = chance.choice(pages[number - 1]).split()
            said = f"According to the report, {said[:-1]}, {' '.join(other[-6:])}"
        answer.append(f"{said} [{number + 1}]")
    cited = [CitedPage(number=at, url="", content="\n\n".join(one)) for at, one in enumerate(pages, start=1)]

    def work() -> None:
        verify_answer(" ".join(answer), cited)

    work()
    assert lines(work) < most * len(" ".join(answer).split())
