"""Sentences that copy a page but for one thing, and sentences that say the same in another order or other words."""

from __future__ import annotations

import pytest

from groundwire.citations.verify import CitedPage, Finding, verify_answer

pytestmark = pytest.mark.req("B9")


def check(sentence: str, *pages: str) -> Finding:
    cited = [CitedPage(number=number, url="", content=text) for number, text in enumerate(pages, start=1)]
    (finding,) = verify_answer(sentence, cited).findings
    return finding


TARIFF = "The ministry lifted the tariff that Norway imposed after US courts had struck down an older one."
PUSH = "The licence follows a push from Anna Berg to open Peru's mines to outside money."
SCHOOL = "She went to the School of Arts of Turin for her diploma and the Academy of Oslo for her doctorate."
METALS = "As such, Lodestar hashes resemble Viper tables, and nothing else does."


@pytest.mark.parametrize(
    ("page", "sentence"),
    [
        (TARIFF, "The ministry lifted the tariff that US courts imposed after Norway had struck down an older one"),
        (PUSH, "The licence follows a push from Peru to open Anna Berg mines to outside money"),
        (SCHOOL, SCHOOL.replace("School of Arts of Turin", "@").replace("Academy of Oslo", "School of Arts of Turin")
            .replace("@", "Academy of Oslo")[:-1]),
        (METALS, "As such, Viper hashes resemble Lodestar tables, and nothing else does"),
        ("Die Hunde jagen im Garten die Katzen.", "Die Katzen jagen im Garten die Hunde"),
        ("王芳去年在決賽中打敗了陳靜。", "陳靜去年在決賽中打敗了王芳"),
    ],
)  # fmt: skip
def test_two_parts_of_a_copied_sentence_that_have_changed_places(page: str, sentence: str) -> None:
    finding = check(f"{sentence} [1].", page)
    assert finding.verdict == "altered"
    assert [one.kind for one in finding.disagreements] == ["order"]
    assert all(one.claimed and one.stated and one.claimed != one.stated for one in finding.disagreements)


@pytest.mark.parametrize(
    ("page", "sentence"),
    [
        ("Ulm, Kiel and Bonn sold boats to Oslo.", "Bonn, Kiel and Ulm sold boats to Oslo"),
        ("Kiel sold 41 boats in May.", "In May, Kiel sold 41 boats"),
        ("On Monday the club met in Oslo.", "In Oslo the club met on Monday"),
        ("Alle Tore der Scheune sind nachts zu.", "Nachts sind alle Tore der Scheune zu"),
        ("Анна Белова победила Карину Дымову в финале.", "Карину Дымову победила Анна Белова в финале"),
        ("Anna Berg met Carla Dunn at the market.", "Carla Dunn met Anna Berg at the market"),
        ("Ida Holm sold the mill to Otto Lund in 1931.", "Otto Lund bought the mill from Ida Holm in 1931"),
        ("In 2019 Halden carried 3 million people and Sorvik 2 million.",
         "Halden carried 3 million people in 2019, Sorvik 2 million"),
        ("2014年の決勝で林健は森誠を破った。", "2014年の決勝で森誠は林健に破られた"),
    ],
)  # fmt: skip
def test_another_order_that_keeps_the_roles(page: str, sentence: str) -> None:
    assert check(f"{sentence} [1].", page).verdict == "supported"


@pytest.mark.parametrize(
    ("sentence", "claimed", "stated"),
    [
        ("The keeper feeds the seals and the otters mostly in the hidden hall", "hidden", "northern"),
        ("The keeper feeds the seals and the otters mostly in the seals hall", "seals", "northern"),
        ("The keeper feeds the seals and the otters children in the northern hall", "children", "mostly"),
    ],
)
def test_a_word_replaced_in_a_copied_sentence(sentence: str, claimed: str, stated: str) -> None:
    finding = check(f"{sentence} [1].", "The keeper feeds the seals and the otters mostly in the northern hall.")
    assert finding.verdict == "altered"
    assert [(one.kind, one.claimed, one.stated) for one in finding.disagreements] == [("word", claimed, stated)]


def test_a_sentence_in_several_other_words_is_not_accused_of_one() -> None:
    page = "The keeper feeds the seals each evening in the northern hall of the zoo."
    assert check("In the zoo's northern hall, its warden feeds the seals [1].", page).verdict == "supported"


@pytest.mark.parametrize(
    ("page", "right", "wrong"),
    [
        ("It sells 600 loaves a day.", "Every day it sells 600 loaves", "Every week it sells 600 loaves"),
        ("Er verkauft täglich 600 Brote.", "Jeden Tag verkauft er 600 Brote", "Jeden Tag kauft er 600 Brote"),
        ("Smoking is prohibited on board.", "Smoking is not allowed on board", "Smoking is allowed on board"),
        ("The lot holds up to 400 cars.", "The lot holds no more than 400 cars", "The lot holds at least 400 cars"),
        ("Side effects were usually mild.", "Side effects were mostly mild", "Side effects were never mild"),
        ("Guests may swim in the lake.", "Guests are allowed to swim in the lake", "Guests must swim in the lake"),
        ("The dog must wear a muzzle.", "The dog is required to wear a muzzle", "The dog may wear a muzzle"),
        ("Rain fell, but no house was lost, and the roads were closed.", "The roads were closed",
         "The roads were not closed"),
        ("Most loaves are sold before noon.", "Most loaves are sold before noon", "Most loaves are sold after noon"),
        ("The north has less rain than the south.", "The south has more rain than the north",
         "The north has more rain than the south"),
    ],
)  # fmt: skip
def test_what_small_words_say(page: str, right: str, wrong: str) -> None:
    assert check(f"{right} [1].", page).verdict == "supported"
    assert check(f"{wrong} [1].", page).verdict == "altered"


def test_each_clause_is_looked_for_on_each_cited_page() -> None:
    pages = (
        "The inn has 120 rooms. Breakfast is served from 7 to 10.",
        "The inn is near the lake. Dogs are not allowed.",
    )
    assert check("Breakfast is served from 7 to 10, but dogs are not allowed [1][2].", *pages).verdict == "supported"
    assert check("Breakfast is served from 7 to 10, and dogs are allowed [1][2].", *pages).verdict == "altered"


def test_a_number_may_be_in_the_next_sentence() -> None:
    page = "The bakery was opened in 1987. It employs eleven people."
    assert check("The bakery, opened in 1987, employs 11 people [1].", page).verdict == "supported"
    assert check("The bakery, opened in 1987, employs 12 people [1].", page).verdict == "altered"
