"""Sentences in other words than their page, and others that differ in a fact: only the first are supported."""

from __future__ import annotations

import pytest

from groundwire.citations.verify import CitedPage, verify_answer

pytestmark = pytest.mark.req("B35")

HALL = "The hall, which opened in 1931, seats 900."
ORGAN = "The organ, built by Otto Lund, has 48 stops."


@pytest.mark.parametrize(
    ("pages", "right", "wrong"),
    [
        pytest.param(
            ("61 percent of the bees died.",), "Most of the bees died", "Half of the bees died", id="percentage"
        ),
        pytest.param(
            ("El pozo tiene 9 metros. Dio agua a la aldea hasta 1912.",),
            "Hasta 1912 suministró agua al barrio",
            "Hasta 1921 suministró agua al barrio",
            id="other words, with the page's numbers",
        ),
        pytest.param(
            ("El puente cayó en mayo. No hubo heridos.",),
            "El puente cayó en mayo",
            "Hubo heridos",
            id="quotation without its not",
        ),
        pytest.param(
            ("Der Umbau kostete 4 Millionen Euro.",),
            "Der Umbau kostete 4 Mio. Euro",
            "Der Umbau kostete 6 Mio. Euro",
            id="abbreviation in a sentence",
        ),
        pytest.param(
            ("Das Wasserkraftwerk hat drei Turbinen.",),
            "Das Kraftwerk hat drei Turbinen",
            "Das Wasserkraftwerk hat drei Schornsteine",
            id="part of a compound",
        ),
        pytest.param(
            ("Le musée est fermé le lundi.",),
            "Le lundi, le musée est fermé",
            "Le mardi, le musée est fermé",
            id="fronted phrase",
        ),
        pytest.param(
            ("Завод «Сталевар» открыт в 1950 году. На нём работают 90 человек.",),
            "На «Сталеваре» работают 90 человек",
            "На «Стекольщике» работают 90 человек",
            id="quoted name in another case",
        ),
        pytest.param(
            ("Учась в Перми, она работала в Казани.",),
            "Она работала в Казани, учась в Перми",
            "Учась в Казани, она работала в Перми",
            id="places of one case",
        ),
        pytest.param(
            ("В 2020 году в городе жили 41 тысячу человек.",),
            "В 2020 году в городе жили 41 000 человек",
            "В 2020 году в городе жили 14 000 человек",
            id="scale in another case",
        ),
        pytest.param(
            ("العمال يأكلون التمر والخبز.",),
            "العمال يأكلون الخبز والتمر",
            "العمال لا يأكلون الخبز والتمر",
            id="list whose and is a letter",
        ),
        pytest.param(
            ("لا يمكن للشاحنات عبور الجسر.",),
            "الشاحنات لا يمكنها عبور الجسر",
            "يمكن للشاحنات عبور الجسر",
            id="cannot",
        ),
        pytest.param(
            ("社長は工場を閉鎖しないと強調した。",),
            "社長は工場の閉鎖を否定した",
            "社長は工場を閉鎖すると強調した",
            id="denial",
        ),
        pytest.param(
            (HALL, ORGAN),
            f"{HALL[:-1]}, and the o{ORGAN[5:-1]}",
            f"{HALL[:-1]}, and the o{ORGAN[5:-1].replace('48', '84')}",
            id="two pages, with commas on both sides",
        ),
    ],
)
def test_other_words_are_supported_and_other_facts_are_not(pages: tuple[str, ...], right: str, wrong: str) -> None:
    cited = [CitedPage(number=number, url="", content=text) for number, text in enumerate(pages, start=1)]
    marks = "".join(f"[{page.number}]" for page in cited)
    verdicts = [
        {one.verdict for one in verify_answer(f"{said} {marks}.", cited).findings} == {"supported"}
        for said in (right, wrong)
    ]
    assert verdicts == [True, False]
