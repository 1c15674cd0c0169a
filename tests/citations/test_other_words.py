"""What a page says in other words: the true sentence is supported, and the one beside it that is false is not."""

from __future__ import annotations

import pytest

from groundwire.citations.verify import CitedPage, verify_answer

pytestmark = pytest.mark.req("B9")

CAUSES = [
    (
        "The concert in Elmsford was moved to Friday because of a burst pipe in the hall.",
        "The concert in Elmsford was moved because of a pipe.",
        "The concert in Elmsford was moved because of a lack of singers.",
    ),
    (
        "Most of the bees in the orchard died in May. The keepers blame a mild winter.",
        "Most of the bees in the orchard died in May because of the mild winter, according to the keepers.",
        "Most of the bees in the orchard died in May, owing to new pesticides.",
    ),
    (
        "The bridge was repaired with a loan that the town will have repaid by 2031.",
        "The bridge was repaired with a loan due to be paid back by 2031.",
        "The bridge was repaired due to a flood.",
    ),
    (
        "Die Fähre nach Borum fiel am Montag aus, weil ein Motor ausgefallen war.",
        "Die Fähre nach Borum fiel am Montag wegen eines Motors aus.",
        "Die Fähre nach Borum fiel am Montag wegen eines Streiks aus.",
    ),
    (
        "La course de Valmer a été annulée samedi : la route était inondée.",
        "La course de Valmer a été annulée samedi parce que la route était inondée.",
        "La course de Valmer a été annulée samedi en raison d'un manque de bénévoles.",
    ),
    (
        "La carrera de Olmedo se suspendió el sábado porque la carretera estaba helada.",
        "La carrera de Olmedo se suspendió el sábado porque la carretera estaba helada.",
        "La carrera de Olmedo se suspendió el sábado por falta de corredores.",
    ),
    (
        "A feira de Alvite foi adiada no domingo por causa da chuva.",
        "A feira de Alvite foi adiada no domingo devido à chuva.",
        "A feira de Alvite foi adiada no domingo devido a uma greve.",
    ),
    (
        "Концерт в Лугове отменили в субботу из-за болезни певицы.",
        "Концерт в Лугове отменили в субботу по причине болезни певицы.",
        "Концерт в Лугове отменили в субботу из-за сильной метели.",
    ),
]
OPPOSITES = [
    (
        "The pool is free for children.",
        "Children do not pay for the pool.",
        "Children pay for the pool.",
    ),
    (
        "Der Eintritt in das Museum von Aldau ist am Sonntag kostenlos.",
        "Am Sonntag muss man für den Eintritt in das Museum von Aldau nicht bezahlen.",
        "Am Sonntag muss man für den Eintritt in das Museum von Aldau bezahlen.",
    ),
    (
        "По средам вход в галерею бесплатный.",
        "По средам за вход в галерею не нужно платить.",
        "По средам вход в галерею платный.",
    ),
    (
        "Aos sábados a biblioteca de Alvor fecha.",
        "Aos sábados a biblioteca de Alvor não abre.",
        "Aos sábados a biblioteca de Alvor está aberta.",
    ),
    (
        "La tienda de Olmedo abre de martes a viernes. Vende queso, miel y vino. Los lunes permanece cerrada.",
        "Los lunes, la tienda de Olmedo permanece cerrada.",
        "Los lunes, la tienda de Olmedo permanece abierta.",
    ),
    (
        "温泉「月の湯」は毎週火曜日は休みです。",
        "「月の湯」は火曜日が休みです。",
        "「月の湯」は火曜日も営業しています。",
    ),
    ("展望台への入場は無料です。", "展望台への入場は無料です。", "展望台への入場は300円です。"),
    ("باب التسجيل فُتح يوم الخميس.", "باب التسجيل فتح يوم الخميس.", "باب التسجيل أُغلق يوم الخميس."),
    (
        "وقال المدير إن الشركة فتحت أبواب المصنع.",
        "فتحت الشركة أبواب المصنع.",
        "أغلقت الشركة أبواب المصنع.",
    ),
]
COMPARISONS = [
    (
        "The theater sold 900 tickets this spring, more than in the previous one.",
        "The theater sold more tickets this spring than in the previous one.",
        "The theater sold a smaller number of tickets this spring than in the previous one.",
    ),
    (
        "Dieses Jahr stieg der Umsatz der Mühle auf 9 Millionen Euro.",
        "Der Umsatz der Mühle war dieses Jahr höher als im Jahr davor.",
        "Der Umsatz der Mühle war dieses Jahr niedriger als im Jahr davor.",
    ),
    (
        "Cette année, la récolte de pommes est plus importante que l'an dernier.",
        "Cette année, la récolte de pommes est supérieure à celle de l'an dernier.",
        "Cette année, la récolte de pommes est inférieure à celle de l'an dernier.",
    ),
    (
        "El museo recibió 9.000 visitantes, un 12 % más que el año anterior.",
        "El número de visitantes del museo subió un 12 %.",
        "El número de visitantes del museo bajó un 12 %.",
    ),
    (
        "Зарплаты на заводе теперь выше, чем до реформы.",
        "Теперь зарплаты на заводе выше, чем до реформы.",
        "Теперь зарплаты на заводе ниже, чем до реформы.",
    ),
    ("今年公司的出口收入超过国内收入。", "今年公司的国内收入少于出口收入。", "今年公司的国内收入多于出口收入。"),
]
FOUND = [
    (
        "Harlow Bikes is based in Denby. Founded by Ann Harlow, the firm employs 41 people and sells abroad.",
        "Harlow Bikes has a workforce of 41.",
        "Harlow Bikes has a workforce of 57.",
    ),
]
QUANTITIES = [
    (
        "Die Forscher beobachteten die Wölfe ein Jahr lang mit neun Kameras.",
        "Die Forscher beobachteten die Wölfe zwölf Monate lang.",
        "Die Forscher beobachteten die Wölfe zwanzig Monate lang.",
    ),
    (
        "Para la masa, mezcle un kilo de harina con agua y sal.",
        "Para la masa, mezcle 1 kg de harina con agua y sal.",
        "Para la masa, mezcle 3 kg de harina con agua y sal.",
    ),
    ("The survey took a year and had 4,100 answers.", "The survey took 12 months.", "The survey took 18 months."),
    ("该工程耗资三兆元，历时五年。", "该工程耗资3兆元。", "该工程耗资3亿元。"),
]
DUTIES = [
    (
        "Cats are welcome in the inn from May to June only. All cats must wear a bell. Guests pay 80 euros.",
        "Every cat in the inn has to wear a bell.",
        "No cat in the inn has to wear a bell.",
    ),
    ("Le moulin de 1842 tourne encore.", "Le moulin de 1842 tourne toujours.", "Le moulin de 1842 ne tourne pas."),
    ("全員が4分以内に校庭へ避難した。", "全員が4分たたないうちに校庭へ避難した。", "全員は校庭へ避難しなかった。"),
]


def _verdict(sentence: str, page: str) -> str:
    answer = f"{sentence[:-1]} [1]{sentence[-1]}"
    (finding,) = verify_answer(answer, [CitedPage(number=1, url="", content=page)]).findings
    return finding.verdict


@pytest.mark.parametrize(("page", "right", "wrong"), CAUSES)
def test_another_cause_is_not_supported(page: str, right: str, wrong: str) -> None:
    assert (_verdict(right, page), _verdict(wrong, page) == "supported") == ("supported", False)


@pytest.mark.parametrize(("page", "right", "wrong"), OPPOSITES)
def test_an_opposite_is_the_same_only_if_it_is_denied(page: str, right: str, wrong: str) -> None:
    assert (_verdict(right, page), _verdict(wrong, page)) == ("supported", "altered")


@pytest.mark.parametrize(("page", "right", "wrong"), COMPARISONS)
def test_more_is_not_less_in_other_words(page: str, right: str, wrong: str) -> None:
    assert (_verdict(right, page), _verdict(wrong, page)) == ("supported", "altered")


@pytest.mark.parametrize(("page", "right", "wrong"), FOUND)
def test_a_passage_is_found_by_synonyms(page: str, right: str, wrong: str) -> None:
    assert (_verdict(right, page), _verdict(wrong, page) == "supported") == ("supported", False)


@pytest.mark.parametrize(("page", "right", "wrong"), QUANTITIES)
def test_one_of_a_unit_is_a_quantity(page: str, right: str, wrong: str) -> None:
    assert (_verdict(right, page), _verdict(wrong, page) == "supported") == ("supported", False)


@pytest.mark.parametrize(("page", "right", "wrong"), DUTIES)
def test_what_a_page_asks_for_must_be_done(page: str, right: str, wrong: str) -> None:
    assert (_verdict(right, page), _verdict(wrong, page) == "supported") == ("supported", False)
