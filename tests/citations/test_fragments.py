"""Links to a sentence: which words of a page the text fragment names."""

from __future__ import annotations

from dataclasses import replace
from urllib.parse import unquote

import pytest

from components.work import lines
from groundwire.citations import finding_links, fragment_link, source_links
from groundwire.citations.verify import CitedPage, verify_answer

pytestmark = pytest.mark.req("B9")

URL = "https://tower.example/a"


def directive(content: str, passage: str, *, last: bool = False) -> str:
    start = content.rindex(passage) if last else content.index(passage)
    link = fragment_link(URL, content, start, start + len(passage))
    return unquote(link.removeprefix(f"{URL}#:~:text="))


@pytest.mark.parametrize(
    ("passage", "shown"),
    [
        ("The **tower** is _old_.", "The tower is old."),
        (r"It costs \*5\* or \_6\_ \[net\].", "It costs *5* or _6_ [net]."),
        (r"A \# sign and a \\ and a \| b.", "A # sign and a \\ and a | b."),
        ("See `code_name` and snake_case there.", "See code_name and snake_case there."),
        ("The [old_mill](https://m.example/a_b_c) is there.", "The old_mill is there."),
        ("![Photo](https://p.example/x.png) of it", "Photo of it"),
        ("> quoted words", "quoted words"),
        ("a_b_c is here", "a_b_c is here"),
        ("3. third item", "third item"),
        ("| one | two |", "one,two"),
        ("one  \n two\nthree", "one two three"),
    ],
)
def test_what_is_shown_is_what_is_looked_for(passage: str, shown: str) -> None:
    assert directive(f"Before it.\n\n{passage}\n\nAfter it.", passage) == shown


def test_up_to_eleven_words_are_given_whole() -> None:
    eleven = "one two three four five six seven eight nine ten eleven"
    assert directive(f"{eleven}\n\nmore", eleven) == eleven
    assert directive(f"{eleven} twelve\n\nmore", f"{eleven} twelve") == "one two three four,nine ten eleven twelve"


def test_a_passage_of_several_blocks_is_given_by_its_ends() -> None:
    content = "One two three four five six.\n\n---\n\nSeven eight.\n\nNine ten eleven twelve thirteen."
    assert directive(content, content) == "One two three four,ten eleven twelve thirteen."
    assert directive("Same words.\n\nSame words.", "Same words.\n\nSame words.").startswith("Same words.")


def test_words_beside_it_tell_apart_what_occurs_twice() -> None:
    content = "First the bell rang. It has a lift. Then it was quiet there.\n\n"
    content += "Last of all: It has a lift. The end is here now."
    assert directive(content, "It has a lift.") == "the bell rang.-,It has a lift.,-Then it was"
    assert directive(content, "It has a lift.", last=True) == "Last of all:-,It has a lift.,-The end is"
    assert directive("It has a lift.\n\nit HAS a lift.", "It has a lift.") == "It has a lift.,-it HAS a"
    assert directive("It has a lift.\n\nit HAS a lift.", "it HAS a lift.") == "has a lift.-,it HAS a lift."
    assert directive("It has a lift. More.", "It has a lift.") == "It has a lift."


def test_a_word_that_the_stretch_cuts_in_two_is_not_named() -> None:
    far = "w" * 397 + " near "
    content = f"{far}It has a lift. {'beside it ' + 'z' * 500}\n\nIt has a lift."
    found = directive(content, "It has a lift.")
    assert found == "near-,It has a lift.,-beside it"


def test_words_beside_it_are_whole_at_both_ends_of_the_page() -> None:
    assert (
        directive("Bell rang. It has a lift. It has a lift.", "It has a lift.")
        == "Bell rang.-,It has a lift.,-It has a"
    )
    assert directive("It has a lift. It has a lift. The end.", "It has a lift. The", last=True).startswith(
        "It has a lift. The"
    )
    assert directive("It has a lift. So: It has a lift. The end.", "It has a lift.", last=True) == (
        "a lift. So:-,It has a lift.,-The end."
    )
    assert directive("It has a lift. So: It has a lift. End.", "It has a lift.", last=True).endswith(",-End.")
    long = f"It has a lift. {'z' * 500}\n\nIt has a lift."
    assert directive(long, "It has a lift.") == "It has a lift."  # the word beside it is beyond the stretch


@pytest.mark.parametrize(
    ("size", "beside"),
    [
        (388, ("far near W", "W near far")),
        (389, ("near W", "W near far")),
        (390, ("near W", "W near far")),
        (391, ("near W", "W near")),
        (392, ("near W", "W near")),
        (393, ("W", "W")),
        (397, ("W", "W")),
        (398, ("", "")),
    ],
)
def test_whole_words_within_400_characters_are_beside_it(size: int, beside: tuple[str, str]) -> None:
    word = "w" * size
    content = f"it has a lift. far near {word} It has a lift. {word} near far"
    found = directive(content, "It has a lift.", last=True).replace(word, "W").split(",")
    assert (found[0][:-1] if len(found) == 3 else "", found[-1][1:] if len(found) == 3 else "") == beside


def test_the_first_words_of_a_passage_say_whether_it_occurs_twice() -> None:
    content = "One two three four five.\n\nEnd of it.\n\nOne two three four six.\n\nThe last."
    assert directive(content, content[38:]) == "End of it.-,One two three four,The last."
    content = "The last.\n\nEnd of it.\n\nOne two three four six.\n\nThe last."
    assert directive(content, content[23:]) == "One two three four,The last."


def test_an_existing_fragment_stays_and_a_directive_is_replaced() -> None:
    assert fragment_link(f"{URL}#part", "Some words.", 0, 11) == f"{URL}#part:~:text=Some%20words."
    assert fragment_link(f"{URL}#part:~:text=old", "Some words.", 0, 11) == f"{URL}#part:~:text=Some%20words."
    assert fragment_link(URL, "***", 0, 3) == URL
    assert fragment_link(f"{URL}#part", "", 0, 0) == f"{URL}#part"


def test_delimiters_are_encoded() -> None:
    link = fragment_link(URL, "a-b, c & d = é", 0, 14)
    assert link == f"{URL}#:~:text=a%2Db%2C%20c%20%26%20d%20=%20%C3%A9"


def test_the_link_of_a_source_is_made_once() -> None:
    ships = [f"Ship {number} sails." for number in range(12)]
    pages = [CitedPage(number=1, url=URL, content=" ".join(ships))]
    report = verify_answer(" ".join(f"{ship[:-1]} [1]." for ship in ships), pages)
    assert report.count("supported") == len(ships)
    one = replace(report, findings=report.findings[:1])
    assert lines(lambda: source_links(report, pages)) < 2 * lines(lambda: source_links(one, pages))


def test_links_are_of_supported_sentences_only() -> None:
    pages = [
        CitedPage(number=1, url="https://one.example/", content="The tower is 324 metres tall. It has three floors."),
        CitedPage(number=2, url="https://two.example/", content="The mill burned in 1931."),
    ]
    answer = "The tower is 342 metres tall [1]. It has three floors [1]. The mill burned in 1931 [2]. "
    answer += "The tower is 324 metres tall [1]."
    report = verify_answer(answer, pages)
    assert [one.verdict for one in report.findings] == ["contradicted", "supported", "supported", "supported"]
    links = finding_links(report, pages)
    assert list(links) == [1, 2, 3]
    assert links[1] == "https://one.example/#:~:text=It%20has%20three%20floors."
    assert links[2] == "https://two.example/#:~:text=The%20mill%20burned%20in%201931."
    assert source_links(report, pages) == {1: links[1], 2: links[2]}
    assert finding_links(report, pages[1:]) == {2: links[2]}
    assert source_links(report, []) == {}
    unread = CitedPage(number=1, url="https://one.example/", content=None)
    assert source_links(report, [unread, pages[1]]) == {2: links[2]}
