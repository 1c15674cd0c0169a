"""What contradicts a sentence: a near copy with another figure or a negation, and a quotation that no page has."""

from __future__ import annotations

import pytest

from groundwire.citations.verify import CitedPage, Finding, verify_answer

pytestmark = pytest.mark.req("B9", "B35")

TOWER = """# The tower

The tower is 324 metres tall and weighs 10,100 tonnes. It was opened on 31 March 1889 by Gustave Eiffel. The lift was
not repaired before 1946. “The most beautiful thing in the city”, a visitor wrote in the guest book.
"""


def check(sentence: str, page: str = TOWER) -> Finding:
    stop = "" if sentence.endswith("。") else "."
    (finding,) = verify_answer(f"{sentence} [1]{stop}", [CitedPage(number=1, url="", content=page)]).findings
    return finding


@pytest.mark.parametrize(
    ("sentence", "kind", "claimed", "stated"),
    [
        ("The tower is 342 metres tall", "number", "342 metres", "324 metres"),
        ("The tower is 324 feet tall", "unit", "324 feet", "324 metres"),
        ("It was opened on 13 March 1889", "date", "13 March 1889", "31 March 1889"),
        ("It was opened on 31 May 1889 by Gustave Eiffel", "date", "31 May 1889", "31 March 1889"),
        ("The tower was not opened on 31 March 1889", "negation", "not", ""),
        ("The lift was repaired before 1946", "negation", "", "not"),
        (
            "A visitor wrote of “the most boring thing in the city”",
            "quote",
            "the most boring thing in the city",
            "“The most beautiful thing in the city”, a visitor wrote in the guest book.",
        ),
        ("A visitor wrote that “every child should drink more cold milk”", "quote", "every child", ""),
    ],
)
def test_a_difference_is_shown_with_its_places(sentence: str, kind: str, claimed: str, stated: str) -> None:
    finding = check(sentence)
    assert finding.verdict == "contradicted"
    (one,) = finding.disagreements
    assert (one.kind, one.stated, one.source) == (kind, stated, 1)
    assert one.claimed.startswith(claimed)
    if claimed:
        assert f"{sentence} [1]."[one.claimed_start : one.claimed_end] == one.claimed
    if stated:
        assert TOWER[one.stated_start : one.stated_end] == stated
    assert finding.probability is not None
    assert finding.probability <= 0.1


@pytest.mark.parametrize(
    ("page", "true", "false", "kind"),
    [
        (
            "Version 3.12.4 is out since March.",
            "Version 3.12.4 is out since March",
            "Version 3.12.5 is out since March",
            "number",
        ),
        ("Shares rose 4.5% to €32.10.", "Shares rose 4.5 percent to 32.10 euros", "Shares rose 4.5% to $32.10", "unit"),
        ("Between 10 and 15 people came.", "Between 10 and 15 people came", "Between 10 and 16 people came", "number"),
        (
            "The meeting is at 14:30 in Rome.",
            "The meeting is at 14:30 in Rome",
            "The meeting is at 15:30 in Rome",
            "number",
        ),
        (
            "It cost $1.25 billion in all.",
            "It cost about $1.3 billion in all",
            "It cost $1.25 million in all",
            "number",
        ),
        ("Three ships left the old port.", "3 ships left the old port", "Four ships left the old port", "number"),
        (
            "The lake is 3 km long and deep.",
            "The lake is 3,000 m long and deep",
            "The lake is 300 m long and deep",
            "number",
        ),
        (
            "Der Turm wurde am 31. März 1889 eröffnet.",
            "Der Turm wurde am 31. März 1889 eröffnet",
            "Der Turm wurde am 30. März 1889 eröffnet",
            "date",
        ),
        ("Der Turm ist 1.250 Meter hoch.", "Der Turm ist 1250 Meter hoch", "Der Turm ist 1.260 Meter hoch", "number"),
        (
            "Im Hafen der Stadt lagen einundzwanzig alte Schiffe.",
            "Im Hafen der Stadt lagen 21 alte Schiffe",
            "Im Hafen der Stadt lagen zweiundzwanzig alte Schiffe",
            "number",
        ),
        (
            "La tour pèse 7 300 tonnes en tout.",
            "La tour pèse 7300 tonnes en tout",
            "La tour pèse 7 500 tonnes en tout",
            "number",
        ),
        (
            "La tour n'est pas ouverte en janvier.",
            "La tour n’est pas ouverte en janvier",
            "La tour est ouverte en janvier",
            "negation",
        ),
        (
            "El puente abrió el 3 de mayo de 1932.",
            "El puente abrió el 3 de mayo de 1932",
            "El puente abrió el 3 de junio de 1932",
            "date",
        ),
        (
            "A ponte mede 2,5 km e não tem luz.",
            "A ponte mede 2,5 km e não tem luz",
            "A ponte mede 3,5 km e não tem luz",
            "number",
        ),
        (
            "Гагарин полетел в космос в 1961 году.",
            "Гагарин полетел в космос в 1961 году",
            "Гагарин полетел в космос в 1962 году",
            "date",
        ),
        (
            "塔は高さ333メートルの建物である。",
            "塔は高さ333メートルの建物である。",
            "塔は高さ343メートルの建物である。",
            "number",
        ),
        ("这座桥于1932年建成,长503米。", "这座桥于1932年建成,长503米。", "这座桥于1935年建成,长503米。", "date"),
        (
            "يبلغ ارتفاع البرج 324 مترا فوق المدينة.",
            "يبلغ ارتفاع البرج 324 مترا فوق المدينة",
            "يبلغ ارتفاع البرج 342 مترا فوق المدينة",
            "number",
        ),
    ],
)
def test_figures_of_many_kinds(page: str, true: str, false: str, kind: str) -> None:
    assert check(true, page).verdict == "supported"
    finding = check(false, page)
    assert (finding.verdict, [one.kind for one in finding.disagreements]) == ("contradicted", [kind])


@pytest.mark.parametrize(
    ("page", "sentence"),
    [
        (TOWER, "The tower weighs about 10 thousand tonnes"),
        (TOWER, "The tower was opened in March 1889 by Eiffel"),
        (TOWER, "It was opened in the 1880s by Gustave Eiffel"),
        (TOWER, "A visitor called it “the most beautiful thing in the city”"),
        (TOWER, "The tower, a landmark of 20 floors, is visited by 7 million people"),
        (TOWER, "It was opened on 31 March 1889 by Thomas Edison"),
        ("It is not only old but also the largest.", "It is old but also the largest"),
        ("Our sofas aren’t just big, they’re comfortable.", "Our sofas are not just big, they are comfortable"),
        ("The company won’t sell the mill.", "The company will not sell the mill"),
        ("In 2019 the port had 20 ships. In 2020 the port had 25 ships.", "In 2020 the port had 25 ships"),
        ("He read The Old Man and the Sea.", "He read “The Old Man and the Sea and Others”"),
    ],
)
def test_what_may_be_the_same_is_not_accused(page: str, sentence: str) -> None:
    finding = check(sentence, page)
    assert finding.verdict in {"supported", "not_found"}
    assert finding.disagreements == ()
