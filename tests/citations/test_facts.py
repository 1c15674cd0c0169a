"""In what a sentence differs from its page: each kind of fact, where it may stand, and what is no difference."""

from __future__ import annotations

import pytest

from groundwire.citations.verify import CitedPage, verify_answer
from groundwire.citations.verify.entities import denied, is_like, names_of
from groundwire.citations.verify.facts import Claim
from groundwire.citations.verify.language_packs import language
from groundwire.citations.verify.segmentation import blocks, most_like, other_first_names, quotes_of, sentences_of

pytestmark = pytest.mark.req("B9")

BRIDGE = "The bridge was designed by John Smith and Mary Miller. It opened in Lisbon on 5 May 1932."
MALARIA = "The new report on malaria was published by the World Health Organization in Geneva in May."
WAR = (
    "The war was won by the north in 1865. Sales did not rise in March. "
    "The US army had 20 tanks, 30 guns and 4 km of wire."
)
ACME = (
    "Acme was founded in 1999. The founder was Anna Lee. In 2004 it moved to Bern. It employs 300 people there. "
    "Profits reached $5 million."
)

FINAL = (
    "In the final of the great spring tournament Alice Fox beat Bob Hill by three goals. "
    "The trains of Northern Rail reached London on 5 May 1932 with 20 wagons and 300 guests."
)
CASTLE = (
    "The gates of the old castle do not open on Sunday in winter. Guests never pay for the parking there. "
    "All dogs are allowed in the garden."
)
SPLIT = "The new museum opened its doors in May 1931 and closed them on 3 June. It cost 300 in 1932."


@pytest.mark.parametrize(
    ("page", "sentence"),
    [
        (BRIDGE, "The bridge was designed by Smith"),
        (MALARIA, "The new report on malaria was published by the WHO in Geneva in May"),
        (BRIDGE, "The bridge was designed by J. Smith"),
        (BRIDGE, "The bridge was designed by Mary Miller and John Smith"),
        (BRIDGE, "Smith designed the bridge"),
        (BRIDGE, "The Bridge opened in 1932 in Lisbon"),
        (BRIDGE, "It opened in May 1932"),
        (BRIDGE, "It opened on 5 May"),
        (BRIDGE, "It opened in Lisbon on 5/5/1932"),
        (WAR, "Sales did not rise in March"),
        (WAR, "The war was one of many won by the north in 1865"),
        (FINAL, "The trains of Northern Rail reached London with 20 wagons and one of the guests"),
        (CASTLE, "The gates of the old castle do not open on Sunday in winter"),
        (CASTLE, "The old castle gates never open in winter on Sunday"),
        (SPLIT, "The new museum opened its doors in May 1932 and it cost 300"),
        (ACME, "Acme moved to Bern in 2004"),
        (ACME, "Acme employs 300 people in Bern since 2004"),
        (ACME, "Acme was founded by Anna Lee in 1999"),
        (ACME, "Profits reached 5 million"),
        (ACME, "One page has “In 2004 it moved to … employs 300 people”"),
        (ACME, "One page has “in 2004 it moved to [...] employs 300 people”"),
    ],
)
def test_what_does_not_differ(page: str, sentence: str) -> None:
    (finding,) = verify_answer(f"{sentence} [1].", [CitedPage(number=1, url="", content=page)]).findings
    assert finding.disagreements == ()


@pytest.mark.parametrize(
    ("page", "sentence", "kind", "claimed", "stated"),
    [
        (
            MALARIA,
            "In Geneva the IMF published it in May after talks",
            "name",
            "IMF",
            "World Health Organization",
        ),
        (BRIDGE, "The bridge was designed by John Brown", "name", "John Brown", "John Smith"),
        (BRIDGE, "The bridge was designed by Peter Brown", "name", "Peter Brown", "John Smith"),
        (BRIDGE, "It opened in Porto on 5 May 1932", "name", "Porto", "Lisbon"),
        (BRIDGE, "It opened in June 1932", "date", "June 1932", "5 May 1932"),
        (BRIDGE, "It opened on 6 May 1932", "date", "6 May 1932", "5 May 1932"),
        (BRIDGE, "It opened on 5 May 1933", "date", "5 May 1933", "5 May 1932"),
        (BRIDGE, "It opened in Lisbon on 5/6/1932", "date", "5/6/1932", "5 May 1932"),
        (
            BRIDGE,
            "The bridge was not designed by John Smith",
            "negation",
            "not designed by John Smith",
            "The bridge was designed by John Smith and Mary Miller.",
        ),
        (
            BRIDGE,
            "The bridge was never opened in Lisbon",
            "negation",
            "never opened in Lisbon",
            "It opened in Lisbon on 5 May 1932.",
        ),
        (WAR, "Sales rose in March", "negation", "Sales rose in March", "not rise in March."),
        (WAR, "The war was lost by the north in 1865", "opposite", "lost", "won"),
        (WAR, "The war was won by the south in 1865", "opposite", "south", "north"),
        (WAR, "The war was won by the north in 1866", "number", "1866", "1865"),
        (WAR, "The US army had 21 tanks", "number", "21", "20"),
        (WAR, "The US army had 31 guns", "number", "31", "30"),
        (WAR, "The US army had 29 guns and 20 tanks", "number", "29", "30"),
        (WAR, "The US army had 20 tanks and 4 miles of wire", "unit", "4 mile", "4 km"),
        (WAR, "The US army had 4 kg of wire", "unit", "4 kg", "4 km"),
        (WAR, "The UK army had 20 tanks, 30 guns and 4 km of wire", "name", "UK", "US"),
        (
            FINAL,
            "In the final of the great spring tournament AF beat Bob Hill by three goals",
            "name",
            "AF",
            "Alice Fox",
        ),
        (FINAL, "In the final Alice beat Bob by four goals", "number", "four", "three"),
        (FINAL, "With 21 wagons the trains of Northern Rail reached London on 5 May 1932", "number", "21", "20"),
        (FINAL, "Northern Rail trains reached London on 5 May 1932 with 22 wagons", "number", "22", "20"),
        (FINAL, "The trains of Northern Rail reached London with 20 wagons and 1 guest", "number", "1", "300"),
        (FINAL, "The trains of Northern Rail reached London with 20 wagons and nine guests", "number", "nine", "300"),
        (FINAL, "Rail trains reached Paris on 5 May 1932 with 20 wagons and 300 guests", "name", "Paris", "London"),
        (SPLIT, "The new museum opened its doors in July 1932 and it cost 300", "date", "July 1932", "May 1931"),
        (SPLIT, "The new museum opened its doors in May 1933 and it cost 300", "date", "May 1933", "May 1931"),
        (SPLIT, "The new museum opened its doors on 3 May 1932 and it cost 300", "date", "3 May 1932", "May 1931"),
        (CASTLE, "Dogs are banned in the garden", "opposite", "banned", "allowed"),
        (
            CASTLE,
            "Dogs are not allowed in the garden",
            "negation",
            "not allowed in the garden",
            "All dogs are allowed in the garden.",
        ),
        (
            CASTLE,
            "Guests pay for the parking there",
            "negation",
            "Guests pay for the parking there",
            "never pay for the parking there.",
        ),
        (ACME, "Acme employs 300 people since 2005", "number", "2005", ""),
        (ACME, "Acme employs 400 people", "number", "400", "300"),
        (ACME, "Acme's profits reached €5 million", "unit", "€5 million", "$5 million."),
        (ACME, "Profits reached $6 million", "number", "$6 million", "$5 million."),
        (ACME, "Acme was founded by Anne Lee in 1999", "name", "Anne Lee", ""),
        (ACME, "Acme was founded by Bob Lee", "name", "Bob Lee", ""),
        (ACME, "The founder was Anna Fox", "name", "Anna Fox", "Anna Lee"),
        (
            ACME,
            "“The founder was Anna Li, a rich heiress of the family” it says",
            "quote",
            "The founder was Anna Li, a rich heiress of the family",
            "The founder was Anna Lee.",
        ),
    ],
)
def test_what_differs_is_shown_with_what_the_page_says(
    page: str, sentence: str, kind: str, claimed: str, stated: str
) -> None:
    (finding,) = verify_answer(f"{sentence} [1].", [CitedPage(number=1, url="", content=page)]).findings
    assert [(one.kind, one.claimed, one.stated) for one in finding.disagreements] == [(kind, claimed, stated)]


TREATY = (
    "The treaty was signed by the United States after long talks in the old city hall. "
    "It gave much land to Spain and little to France in the end."
)
STORM = (
    "US troops landed in the wide bay at dawn before the storm. Winter sales rose by a third while costs fell. "
    "Peter Miller won the prize in the spring."
)
MAYOR = (
    "The mayor said: we will build the new harbour in two years and open it to all ships of the world. "
    "Nobody else spoke."
)
LIFT = "The lift is not safe. The rope holds 2 tonnes and 40 kg of tools. In June 1950 the lift stopped."


@pytest.mark.parametrize(
    ("page", "sentence", "found"),
    [
        (
            TREATY,
            "The treaty was signed by the United Nations after long talks in the old city hall",
            [("name", "United Nations", "United States")],
        ),
        (TREATY, "It gave much land to Italy and little to France in the end", [("name", "Italy", "Spain")]),
        (TREATY, "It gave much land to Spain and little to Germany in the end", [("name", "Germany", "France")]),
        (STORM, "US troops landed in the wide bay at dawn after the storm", [("opposite", "after", "before")]),
        (STORM, "Winter sales rose by a third while costs fell", []),
        (STORM, "Peter Miller lost the prize in the spring", [("opposite", "lost", "won")]),
        (STORM, "Paul Miller won the prize in the spring", [("name", "Paul Miller", "Peter Miller")]),
        (STORM, "Peter Muller won the prize in the spring", [("name", "Peter Muller", "Peter Miller")]),
        (STORM, "Susan Clark won the prize in the spring", [("name", "Susan Clark", "Peter Miller")]),
        (STORM, "Peter Miller won the prize in Rome in the spring", [("name", "Rome", "")]),
        (STORM, "Peter Miller and Susan Clark won the prize in the spring", [("name", "Susan Clark", "")]),
        (
            MAYOR,
            "The mayor said “we will build the old harbour in two years and open it”",
            [
                (
                    "quote",
                    "we will build the old harbour in two years and open it",
                    "we will build the new harbour in two years and open it",
                )
            ],
        ),
        (
            MAYOR,
            "He said “build the new bridge in two years”",
            [("quote", "build the new bridge in two years", "build the new harbour in two years")],
        ),
        (MAYOR, "He said “all boats of the world.”", [("quote", "all boats of the world.", "all ships of the world.")]),
        (
            MAYOR,
            "He said “we will build ... all ships of the moon”",
            [
                (
                    "quote",
                    "we will build ... all ships of the moon",
                    "we will build the new harbour in two years and open it to all ships of the world.",
                )
            ],
        ),
        (
            MAYOR,
            "He said “purple elephants dance quietly nightly”",
            [("quote", "purple elephants dance quietly nightly", "")],
        ),
        (
            "Then Alice beat Bob by three goals in the great spring final.",
            "Carol beat Bob by three goals in the great spring final",
            [("name", "Carol", "Alice")],
        ),
        (
            "Then European Union troops landed in the wide bay at dawn before the storm.",
            "EU troops landed in the wide bay at dawn before the storm",
            [],
        ),
        (
            "Then European Union troops landed in the wide bay at dawn before the storm.",
            "EX troops landed in the wide bay at dawn before the storm",
            [("name", "EX", "European Union")],
        ),
        (
            "The old mill does not grind yellow corn in winter.",
            "The old mill does grind corn in winter",
            [("negation", "The old mill does grind corn in winter", "not grind yellow corn in winter.")],
        ),
        ("The box holds 10 ropes and 150 nails.", "The box holds 100 nails", [("number", "100", "150")]),
        (LIFT, "The lift is safe", [("negation", "The lift is safe", "not safe.")]),
        (LIFT, "The rope holds 2 tons and 40 kg of tools", []),
        (LIFT, "The rope holds 2 tonnes and 45 kg of tools", [("number", "45", "40")]),
        (LIFT, "The rope holds 5 tonnes and 40 kg of tools", [("number", "5", "2")]),
        (LIFT, "The rope holds 2.5 tonnes", [("number", "2.5", "2")]),
        (
            LIFT,
            "The rope holds 40 tonnes and 2 kg of tools",
            [("unit", "40 tonne", "40 kg"), ("unit", "2 kg", "2 tonne")],
        ),
        (LIFT, "In June 1951 the lift stopped", [("date", "June 1951", "June 1950")]),
        (LIFT, "On 3 June 1950 the lift stopped", [("date", "3 June 1950", "June 1950")]),
        (LIFT, "The lift stopped in 1950", []),
    ],
)
def test_every_difference_of_a_sentence(page: str, sentence: str, found: list[tuple[str, str, str]]) -> None:
    (finding,) = verify_answer(f"{sentence} [1].", [CitedPage(number=1, url="", content=page)]).findings
    assert [(one.kind, one.claimed, one.stated) for one in finding.disagreements] == found


@pytest.mark.parametrize("away", [1, 2, 3, 4])
def test_what_a_passage_takes_for_granted_stands_at_most_three_sentences_before(away: int) -> None:
    between = " ".join(f"Nobody {word} there." for word in ("sleeps", "sings", "smokes")[: away - 1])
    page = f"It is the year 2004. {between} Acme employs many people in a large factory."
    sentence = "Acme employs many people in a large factory in 2004"
    (finding,) = verify_answer(f"{sentence} [1].", [CitedPage(number=1, url="", content=page)]).findings
    assert bool(finding.disagreements) is (away > 3)


@pytest.mark.parametrize("away", [1, 2])
def test_or_in_the_sentence_after(away: int) -> None:
    between = "Nobody sings there. " * (away - 1)
    page = f"Acme employs many people in a large factory. {between}It is the year 2004."
    sentence = "Acme employs many people in a large factory in 2004"
    (finding,) = verify_answer(f"{sentence} [1].", [CitedPage(number=1, url="", content=page)]).findings
    assert bool(finding.disagreements) is (away > 1)


@pytest.mark.parametrize(
    ("text", "names"),
    [
        ("The man met Ada Lovelace in Paris.", [("Ada Lovelace", False), ("Paris", False)]),
        ("Ada Lovelace met him.", [("Ada Lovelace", True)]),
        ("The tower", []),
        ("He read The Times", [("Times", False)]),
        ("The US and IT", [("US", False), ("IT", False)]),
        ("NATO troops", [("NATO", True)]),
        ("US troops", []),
        ("On Monday in March I met Bob", [("Bob", False)]),
        ("He met Ann, Bob", [("Ann", False), ("Bob", False)]),
        ("He met Ann (Bob) Fox", [("Ann", False), ("Bob", False), ("Fox", False)]),
        ("He met Ann  Fox", [("Ann  Fox", False)]),
        ("He met Ann   Fox", [("Ann", False), ("Fox", False)]),
        ("It rained. Bob left", [("Bob", True)]),
        ("It rained; Bob left", [("Bob", False)]),
        ("He met J. Smith", [("J", False), ("Smith", True)]),
        ("He met O'Brien-Smith", [("O'Brien-Smith", False)]),
        ("nothing at all", []),
    ],
)
def test_names(text: str, names: list[tuple[str, bool]]) -> None:
    found = names_of(text)
    assert [(name.text, name.first) for name in found] == names
    assert all(text[name.start : name.end] == name.text for name in found)


@pytest.mark.parametrize(
    ("word", "other", "like"),
    [
        ("german", "germany", True),
        ("germany", "german", True),
        ("bob", "bob", True),
        ("bob", "bobs", False),
        ("anna", "annab", True),
        ("anna", "annabel", True),
        ("anna", "annabell", False),
        ("anna", "anne", False),
    ],
)
def test_one_name_with_two_endings(word: str, other: str, like: bool) -> None:
    assert is_like(word, other) is like


def test_what_is_denied() -> None:
    (scope,) = denied("Red blue green tower doors could not open windows inside kitchens during summer evenings lately")
    assert scope.text == "not open windows inside kitchens during"
    assert scope.near == {"open", "window", "insid"}
    assert scope.wide == {"open", "window", "insid", "kitchen", "summer", "even", "green", "tower", "door"}


@pytest.mark.parametrize("text", ["It is not only tall", "Notes on knots", "another nonsense"])
def test_what_only_looks_like_a_denial(text: str) -> None:
    assert denied(text) == []


@pytest.mark.parametrize(
    ("mark", "code"),
    [
        *((mark, "en") for mark in ("isn't", "cannot", "fails to", "lacks", "without", "never")),
        ("kein", "de"),
        ("sans", "fr"),
        ("нельзя", "ru"),
    ],
)
def test_words_that_deny(mark: str, code: str) -> None:
    assert len(denied(f"The tower {mark} open its doors", language(code))) == 1


@pytest.mark.parametrize(
    ("text", "quotes"),
    [
        ("He said “one two three” then", ["one two three"]),
        ("He said “one two” then", []),
        ('He said "one two three four" then', ["one two three four"]),
        ("Er sagte „eins zwei drei“ dann", ["eins zwei drei"]),
        ("Il dit «un deux trois» puis", ["un deux trois"]),
        ("彼は「一二三四五六」と言った", ["一二三四五六"]),
        ("彼は「一二三四五」と言った", []),
        ("彼は『一二三四五六』と言った", ["一二三四五六"]),
        ("He said “abcdefgh” then", []),
        ("He said “écouté émue” then", []),
        ("“a b c” and “d e f”", ["a b c", "d e f"]),
    ],
)
def test_quotations(text: str, quotes: list[str]) -> None:
    assert [text[span.start : span.end] for span in quotes_of(text)] == quotes


@pytest.mark.parametrize(
    ("text", "parts"),
    [
        ("\n\nOne.\n\n\n\nTwo.\n\n", ["One.", "Two.", ""]),
        ("# A\n# B\n", ["# A", "# B"]),
        ("One.\n```\nx\n```\n\nTwo.", ["One.", "Two."]),
        ("```\nx\n```", []),
        ("- a\n- b", ["- a", "- b"]),
        ("", []),
    ],
)
def test_a_page_has_no_empty_blocks(text: str, parts: list[str]) -> None:
    found = list(blocks(text))
    assert [text[block.start : block.end].strip("\n") for block in found] == parts
    assert all(block.start < block.end for block in found)


def test_of_a_very_long_sentence_the_beginning_is_read() -> None:
    first, second = sentences_of("mill " * 900 + "end. Next one [1].")
    assert (len(first.plain), first.end, second.numbers) == (4_000, 4_504, (1,))


@pytest.mark.parametrize(
    ("quote", "stated", "part"),
    [
        ("red old mill stands", "mill stands here", "mill stands"),
        ("mill " * 200, "old mill mill stands", "mill mill stands"),
        ("the old mill", "we saw the old mill today", "the old mill"),
        ("zeppelin", "we saw the old mill", "we saw the old mill"),
    ],
)
def test_the_part_of_a_passage_that_is_like_a_quotation(quote: str, stated: str, part: str) -> None:
    assert most_like(quote, stated, language("en")) == part


LAST_NAMES = ("Berg", "Lund", "Holm", "Fox", "Hart", "King", "Wolf", "Stone", "Wood")


@pytest.mark.parametrize(
    ("code", "text", "near", "found"),
    [
        ("en", "A. Miller came", "Peter Miller came", [("A. Miller", "Peter Miller")]),
        ("en", "P. Miller came", "Peter Miller came", []),
        ("de", "A. Müller kam", "Peter Müller kam", []),  # it may be any noun
        ("en", "X. Miller came", "Anna Maria Eva Lisa Miller came", [("X. Miller", "Maria Eva Lisa Miller")]),
        ("en", "A. Miller came", "In Miller we trust", []),
        ("en", "A. Miller came", "Bob-Lee Miller came", []),
        ("en", "X. Miller", f"A{'n' * 37}a Miller", [("X. Miller", f"A{'n' * 37}a Miller")]),
        ("en", "X. Miller", f"A{'n' * 38}a Miller", []),
        (
            "en",
            ", ".join(f"A. {name}" for name in LAST_NAMES),
            ", ".join(f"Peter {name}" for name in LAST_NAMES),
            [(f"A. {name}", f"Peter {name}") for name in LAST_NAMES[:8]],
        ),
    ],
)
def test_initials_that_a_page_contradicts(code: str, text: str, near: str, found: list[tuple[str, str]]) -> None:
    assert other_first_names(text, near, near, language(code)) == found


def test_a_few_numbers_of_a_sentence_help_to_find_its_passage() -> None:
    claim = Claim("Rooms 11, 12, 13, 14, 15, 16, 17, 18, 19 and 20 are closed.")
    assert claim.digits == ["11", "12", "13", "14", "15", "16", "17", "18"]
    assert len(claim.numbers) == 10
