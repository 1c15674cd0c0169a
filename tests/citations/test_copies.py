"""Sentences that copy a page but for one thing, and sentences that say the same in another order or other words."""

from __future__ import annotations

import pytest
from hypothesis import given
from hypothesis import strategies as st

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
        ("Anna Berg, the singer of Blue Harbor, played in Oslo with the pianist Otto Lund.",
         "Otto Lund, the singer of Blue Harbor, played in Oslo with the pianist Anna Berg"),
        ("Wool is bought in Iceland, and the coats are sewn at partner mills in Portugal.",
         "Wool is bought in Portugal, and the coats are sewn at partner mills in Iceland"),
        ("You can hire Blue Harbor tents, but not the Harbor kayaks.",
         "You can hire Harbor tents, but not the Blue Harbor kayaks"),
        ("The club rents Harbor Nine by the week, and visitors of Harbor pay by the day.",
         "The club rents Harbor by the week, and visitors of Harbor Nine pay by the day"),
        ("Nordic Power runs entirely on Oslo-based servers, which provides some safety.",
         "The report says that Oslo-based runs entirely on Nordic Power servers, which offers some safety"),
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
        ("The report praises Oslo and Riga.", "The report says that it praises Riga and Oslo"),
        ("Anna Berg recently married Otto Lund.", "Otto Lund recently married Anna Berg"),
        ("The train runs between Oslo and the port of Riga.", "The train runs between the port of Riga and Oslo"),
        ("Anna Berg hired Otto Lund in May.", "The report says that Otto Lund was hired by Anna Berg in May"),
        ("Anna Berg bought the mill from Otto Lund.", "Otto Lund sold the mill to Anna Berg"),
        ("Oslo is larger than Riga.", "Riga is smaller than Oslo"),
        ("The fair takes place in Oslo, Riga, and Thal.", "The fair takes place in Thal, Riga, and Oslo"),
    ],
)
def test_names_in_another_order_that_say_the_same(page: str, sentence: str) -> None:
    assert check(f"{sentence} [1].", page).verdict == "supported"


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
        ("Alvar was founded in 2016 by Mette Berg and employs 64 people.",
         "Alvar, founded in 2016 by Mette Berg, employs 64 people"),
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
    assert finding.verdict == "not_found"  # it may be a synonym
    assert finding.confidence < 0.5
    assert finding.reason == f"You say “{claimed}”, and [1] says “{stated}”, which may mean the same."
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
    assert check(f"{wrong} [1].", page).verdict != "supported"


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


INN = "Children need about 12 drops a day; people over 80 need 30. Half of the guests came by rail."
RACE = "Eva Holm won the race in Turku, ahead of Norway's Siri Dahl. Olympic champion Nina Roth fell in the last bend."
GIFT = "The will gave the forest to Velden, while Harlow received a yearly rent of 900 crowns."
TRAINS = "The old trains are cleaned first, in the morning. Trains of the express class are cleaned last."
WASPS = (
    "Die Wespe sieht grünes Licht, aber kein Blau. Erwachsene zahlen 7 Euro, Kinder unter acht haben freien Zutritt."
)
PLANT = "The plant makes 48,000 kilowatt-hours a year. It was planned in 1994, and its gates opened three years later."
COSTS = "The budget of 40 million euros was exceeded by 6 million euros. Work went on from 1951 to 1963."


@pytest.mark.parametrize(
    ("page", "wrong", "kind"),
    [
        (INN, "Children over 80 need about 12 drops a day", "number"),
        (RACE, "Olympic champion Siri Dahl fell in the last bend", "name"),
        (GIFT, "Harlow was given the forest, and Velden received a yearly rent of 900 crowns", "order"),
        (TRAINS, "Trains of the express class are cleaned first", "opposite"),
        (WASPS, "Die Wespe sieht Blau, aber kein grünes Licht", "negation"),
        (WASPS, "Erwachsene haben freien Zutritt", "word"),
        ("The river is longer than the canal and has five locks.", "The canal is longer than the river", "order"),
        ("Его высота 40 метров, ширина 15 метров.", "Его высота 15 метров, ширина 40 метров", "order"),
        ("The café is closed on weekdays.", "The café is closed on weekends", "opposite"),
    ],
)  # fmt: skip
def test_words_that_belong_to_something_else(page: str, wrong: str, kind: str) -> None:
    finding = check(f"{wrong} [1].", page)
    assert finding.verdict == "altered"
    assert kind in [one.kind for one in finding.disagreements]


@pytest.mark.parametrize(
    ("page", "right"),
    [
        (INN, "People over 80 need 30 drops a day"),
        (RACE, "Siri Dahl of Norway came in behind Eva Holm in Turku"),
        (GIFT, "Harlow received 900 crowns a year in rent, while the forest went to Velden"),
        (TRAINS, "Express class trains are cleaned last"),
        (WASPS, "Kein Blau sieht die Wespe, aber grünes Licht"),
        ("The river is longer than the canal and has five locks.", "The canal is shorter than the river"),
        ("Dr. Ida Moe taught Per Lund in Bergen. Lund later hired Moe's son.", "Per Lund studied with Dr. Ida Moe"),
        (PLANT, "The plant makes 48 MWh a year"),
        (PLANT, "Its gates opened in 1997"),
        (COSTS, "Work went on for twelve years"),
        (COSTS, "With 6 million euros over the budget of 40 million euros, it cost 46 million euros"),
        ("La visite dure une heure et vingt minutes.", "La visite dure une heure et vingt minutes"),
        ("公司三成的员工住在城里。", "公司30%的员工住在城里"),
    ],
)  # fmt: skip
def test_the_same_facts_put_together_otherwise(page: str, right: str) -> None:
    assert check(f"{right} [1].", page).verdict == "supported"


@pytest.mark.parametrize(
    "wrong", ["The plant makes 48 kWh a year", "Its gates opened in 1996", "Its gates opened in 1991"]
)
def test_a_number_that_does_not_follow_from_the_others(wrong: str) -> None:
    assert check(f"{wrong} [1].", PLANT).verdict == "altered"


@given(st.lists(st.tuples(st.sampled_from(["The inn has 30 rooms", "it was built in 1911", "dogs swim"]),
                          st.sampled_from([(), (1,), (7,), (1, 7), (7, 8)])), min_size=1, max_size=4))  # fmt: skip
def test_marks_of_known_and_unknown_sources_in_one_sentence(parts: list[tuple[str, tuple[int, ...]]]) -> None:
    text = ", and ".join(part + "".join(f"[{number}]" for number in numbers) for part, numbers in parts)
    report = verify_answer(
        f"{text}.", [CitedPage(number=1, url="", content="The inn has 30 rooms. It was built in 1911.")]
    )
    unknown = {number for _, numbers in parts for number in numbers} - {1}
    assert set(report.unknown) == unknown
    known = {number for _, numbers in parts for number in numbers} - unknown
    assert [one.verdict for one in report.findings] != ["supported"] or known


HARBOR = (
    "The harbor of Thal was dredged in spring to let larger freighters in. The council raised the fee for moorings to "
    "pay for three new cranes. The old mill will be restored after the flood. "
    "Visitors find ropes, lamps, and maps there."
)


@pytest.mark.parametrize(
    ("sentence", "verdict"),
    [
        ("The council raised the fee for moorings to let larger freighters in", "altered"),
        ("The old mill was restored after the flood", "altered"),
        ("The old mill can be restored after the flood", "altered"),
        ("The old mill will be restored before the flood", "altered"),
        ("Visitors find ropes, candles, lamps, and maps there", "not_found"),
        ("The harbor of Thal was dredged in spring and painters show their work on the quay", "not_found"),
        ("The harbor of Thal was dredged in spring", "supported"),
        ("The harbor of Thal was dredged in spring, and the council raised the fee for moorings", "supported"),
        ("Visitors find lamps, ropes, and maps there", "supported"),
    ],
)
def test_what_a_careless_summary_changes(sentence: str, verdict: str) -> None:
    assert check(f"{sentence} [1].", HARBOR).verdict == verdict


@pytest.mark.parametrize(
    ("page", "sentence"),
    [
        ("The US signed the treaty.", "The United States signed the treaty"),
        ("Most products cost $500 – $800, and those of the other maker $300.", "Most products cost $500 – $800"),
        ("The clerks count the votes so you don’t have to.", "The clerks count the votes so you do not have to"),
        (
            "The ferry leaves at noon. No cars are taken on the deck.",
            "The ferry leaves at noon and no cars are taken on the deck",
        ),
        ("The depot stores 40 kg of rope.", "The depot stores 40 kilograms of rope"),
    ],
)
def test_the_same_in_another_form_is_supported(page: str, sentence: str) -> None:
    assert check(f"{sentence} [1].", page).verdict == "supported"


FERRY = (
    "The ferry sails every 40 minutes from May to June; from July on it sails hourly. Goats graze on the quay, and"
    " visitors are warned about them. The path along the shore has been closed since the flood of 1988."
)
FLOOD = (
    "A cheia chegou a dois bairros, e as águas chegaram à ponte. Cerca de 900 pessoas ficaram sem casa e morreram duas."
)
SON = "Le lac perd son eau en été. Son fils, Hugo Brun, a succédé à sa mère en 2015."


@pytest.mark.parametrize(
    ("page", "right", "wrong"),
    [
        (FERRY, "The path along the shore has been closed since the flood of 1988",
         "The path along the shore has been about since the flood of 1988"),
        (FERRY, "The ferry sails every 40 minutes from May to June; from July on it sails hourly",
         "The ferry sails every 40 minutes from May to June; from July on it grazes hourly"),
        (FLOOD, "Cerca de 900 pessoas ficaram sem casa e morreram duas",
         "Cerca de 900 pessoas ficaram sem casa e chegaram duas"),
        (SON, "Son fils, Hugo Brun, a succédé à sa mère en 2015", "Son eau, Hugo Brun, a succédé à sa mère en 2015"),
    ],
)  # fmt: skip
def test_a_word_of_the_page_does_not_stand_for_another_in_a_copied_sentence(page: str, right: str, wrong: str) -> None:
    assert check(f"{right} [1].", page).verdict == "supported"
    assert check(f"{wrong} [1].", page).verdict != "supported"
