"""Sentences in the words of the page that say of one thing what the page says of another, and those that only turn."""

from __future__ import annotations

import pytest

from groundwire.citations.verify import CitedPage, verify_answer

pytestmark = pytest.mark.req("B9")

EXCHANGED = [
    # the subject and the object of a verb
    (
        "A clinic in Norwell sent the samples to Harlan College.",
        "Staff of Harlan College sent the samples to a clinic in Norwell.",
    ),
    (
        "Brightwave has sued the owners of the Lorne Dam.",
        "The owners of the Lorne Dam have sued the power firm Brightwave.",
    ),
    (
        "Last spring, the bakery praised the reporter from Delft.",
        "Last spring, the reporter from Delft praised the bakery.",
    ),
    ("L'orchestre de Morval a critiqué la ville.", "La ville de Morval a critiqué l'orchestre."),
    (
        "Los vecinos denunciaron el ruido de la fábrica ante el alcalde.",
        "El alcalde denunció el ruido de la fábrica ante los vecinos.",
    ),
    ("A editora processou a autora do romance.", "A autora do romance processou a editora."),
    ("清河纺织厂起诉了环保局。", "环保局起诉了清河纺织厂。"),
    # what is compared
    ("The town spends more on roads than on schools.", "The town spends more on schools than on roads."),
    ("La tienda vende más pan que queso.", "La tienda vende más queso que pan."),
    (
        "A cidade exporta mais para o Peru do que para a Bolívia.",
        "A cidade exporta mais para a Bolívia do que para o Peru.",
    ),
    ("Продажи чая выросли сильнее, чем продажи кофе.", "Продажи кофе выросли сильнее, чем продажи чая."),
    (
        "Last year the club sold fewer tickets online than at the gate.",
        "The club has 40 members. Last year it sold more tickets online than at the gate.",
    ),
    # particles, articles, prepositions
    ("青木工業が北山電機を買収した。", "北山電機が青木工業を買収した。"),
    ("国内の売上が海外を上回った。", "海外の売上が国内を上回った。"),
    ("Die Firma Lenz hat den Landkreis verklagt.", "Der Landkreis hat die Firma Lenz verklagt."),
    (
        "Der Nebel macht die Schiffe für die Fischer unsichtbar.",
        "Der Nebel macht die Fischer für die Schiffe unsichtbar.",
    ),
    # numbers
    (
        "The mill, which Anna Berg had built in 1931, burned in 1908.",
        "Anna Berg built the mill in 1908. It burned in 1931.",
    ),
    (
        "In der Küche arbeiten 45 Leute, im Lager sind es 12.",
        "Der Betrieb beschäftigt 45 Leute im Lager und 12 in der Küche.",
    ),
    ("Add 30 grams of butter and 90 grams of sugar.", "Add 90 grams of butter and, a little later, 30 grams of sugar."),
]
TURNED = [
    ("In May, the bakery opened a second shop.", "The bakery opened a second shop in May."),
    ("Harlan College sent the samples to a clinic.", "The samples were sent to a clinic by Harlan College."),
    ("The firm Brightwave was sued by the owners of the dam.", "The owners of the dam have sued the firm Brightwave."),
    ("The owners sued the firm that built the dam.", "The firm that built the dam was sued by the owners."),
    ("Anna Ruiz fundó el museo.", "El museo lo fundó Anna Ruiz."),
    ("En 2003 abrió el museo.", "El museo abrió en 2003."),
    ("L'orchestre a critiqué la ville de Morval.", "La ville de Morval, que l'orchestre a critiqué, se tait."),
    ("Schools got less than roads.", "Roads got more than schools."),
    ("Продажи чая выросли сильнее, чем продажи кофе.", "Сильнее, чем продажи кофе, выросли продажи чая."),
    ("北山電機は青木工業に買収された。", "青木工業が北山電機を買収した。"),
    ("環境局被清河纺织厂起诉。", "清河纺织厂起诉了環境局。"),
    ("Den Landkreis hat die Firma Lenz verklagt.", "Die Firma Lenz hat den Landkreis verklagt."),
    (
        "Für die Schiffe macht der Nebel die Fischer unsichtbar.",
        "Der Nebel macht die Fischer für die Schiffe unsichtbar.",
    ),
    (
        "In der Küche arbeiten 12 Leute, im Lager sind es 45.",
        "Der Betrieb beschäftigt 45 Leute im Lager und 12 in der Küche.",
    ),
    ("Add 30 grams of sugar and 90 grams of butter.", "Add 90 grams of butter and, a little later, 30 grams of sugar."),
    ("The prize of 90 euros went to 30 pupils.", "30 pupils got the prize of 90 euros."),
    ("Ein Team aus Halle verfolgte die Vögel im Winter.", "Die Vögel verfolgte im Winter ein Team aus Halle."),
    ("A Bolívia compra mais do Brasil do que o Peru.", "O Peru compra menos do Brasil do que a Bolívia."),
]
OTHERWISE = [
    # a character of a name
    ("该公司由陈立平创办。", "该公司由陈立群创办。", "name"),
    ("工場を建てたのは川野実である。", "工場は川野清が建てた。", "name"),
    # a "not" where another sentence of the page has one
    ("判決は12月には出されない。", "同社は「事実はない」と話した。判決は12月に出される。", "negation"),
    ("The flat is free on Mondays only.", "The flat is free on no Mondays.", "negation"),
]
THE_SAME = [
    ("No concert took place without a choir.", "Every concert featured a choir, and tickets sold out."),
    ("Bikes may not be left outside zone B.", "Bikes may only be left in zone B."),
    ("Ohne Ausweis kann man nichts ausleihen.", "Zum Ausleihen müssen alle ihren Ausweis vorlegen."),
    ("La cooperativa produce cada año 900 litros de miel.", "La cooperativa produce 900 litros de miel al año."),
    ("该公司由陈立群于1998年创办。", "该公司1998年由陈立群创办。"),
]


def _findings(sentence: str, page: str) -> list[tuple[str, list[str]]]:
    answer = f"{sentence[:-1]} [1]{sentence[-1]}"
    report = verify_answer(answer, [CitedPage(number=1, url="", content=page)])
    return [(one.verdict, [other.kind for other in one.disagreements]) for one in report.findings]


@pytest.mark.parametrize(("sentence", "page"), EXCHANGED)
def test_what_has_changed_places_is_told(sentence: str, page: str) -> None:
    ((verdict, kinds),) = _findings(sentence, page)
    assert verdict == "altered"
    assert kinds in (["order"], ["comparison"])


@pytest.mark.parametrize(("sentence", "page"), TURNED)
def test_another_order_that_says_the_same_is_supported(sentence: str, page: str) -> None:
    assert _findings(sentence, page) == [("supported", [])]


@pytest.mark.parametrize(("sentence", "page", "kind"), OTHERWISE)
def test_one_character_or_word_makes_another_sentence(sentence: str, page: str, kind: str) -> None:
    ((verdict, kinds),) = _findings(sentence, page)
    assert verdict in {"altered", "not_found"}
    assert kind in kinds


@pytest.mark.parametrize(("sentence", "page"), THE_SAME)
def test_a_denied_exception_is_supported(sentence: str, page: str) -> None:
    assert _findings(sentence, page) == [("supported", [])]
