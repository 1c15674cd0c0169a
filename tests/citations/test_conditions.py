"""What a sentence asserts beyond its page, in nine languages, and when a difference is an accusation."""

from __future__ import annotations

import pytest

from groundwire.citations.verify import CitedPage, Finding, verify_answer

pytestmark = pytest.mark.req("B9")


def _finding(sentence: str, page: str) -> Finding:
    stop = "。" if page.endswith("。") else "."
    return verify_answer(f"{sentence} [1]{stop}", [CitedPage(number=1, url="", content=page)]).findings[0]


@pytest.mark.parametrize(
    ("sentence", "page", "kind", "stated"),
    [
        (
            "The mayor has limited traffic to one lane",
            "The mayor wants to limit traffic to one lane.",
            "modal",
            "wants",
        ),
        ("Two members voted to leave", "One of the two members voted to leave.", "quantifier", "One of the two"),
        ("All the lanes will reopen", "One of the lanes will reopen.", "quantifier", "One of the lanes"),
        ("Der Rat hat den Neubau der Halle bestätigt", "Der Rat plant den Neubau der Halle.", "modal", "plant"),
        ("Le maire a limité le trafic", "Le maire veut limiter le trafic.", "modal", "veut"),
        ("El alcalde ha limitado los cruceros", "El alcalde quiere limitar los cruceros.", "modal", "quiere"),
        ("Todas as faixas serão reabertas", "Uma das faixas será reaberta.", "quantifier", "Uma das faixas"),
        ("Мэр уже ограничил движение", "Мэр хочет ограничить движение.", "modal", "хочет"),
        ("青湖市已经建设支线", "青湖市计划建设支线。", "modal", "计划"),
        ("市長は中学校の給食も無料にする", "市長は小学校の給食だけ無料にする。", "", "だけ"),
        ("ستبقى قاعة الأطفال مغلقة أيضا", "ستبقى قاعة الأطفال فقط مغلقة.", "negation", "فقط"),
    ],
)
def test_what_the_page_hedges_limits_or_counts_in_part_is_named(
    sentence: str, page: str, kind: str, stated: str
) -> None:
    finding = _finding(sentence, page)
    assert finding.verdict != "supported"
    assert any(kind in {"", one.kind} and one.stated.startswith(stated) for one in finding.disagreements)


@pytest.mark.parametrize(
    ("sentence", "page"),
    [
        ("About 15% of the 1,600 jobs go", "It will cut 240 of its 1,600 jobs."),
        ("The closure for repairs takes two weeks", "The closure for repairs is from 4 to 17 August."),
        ("One in three people had a sore arm", "A third of people had a sore arm."),
        ("The Norway botanist described 34 mosses", "The Norwegian botanist described 34 mosses."),
        ("The EU signed the treaty", "The European Union signed the treaty."),
        ("学生每逢星期一不开放", "学生每逢星期一闭馆。"),
    ],
)
def test_what_follows_from_the_page_is_not_an_accusation(sentence: str, page: str) -> None:
    assert _finding(sentence, page).verdict != "altered"


def test_a_difference_without_a_counterpart_is_not_found_and_named() -> None:
    page = "The mill in Thal was built by Anna Berg, who came from Ulm, and it was sold to the town by her heirs."
    finding = _finding("Anna Berg, the owner from Ulm, had the mill built with a loan of 70,000 marks", page)
    assert finding.verdict == "not_found"
    assert "does not say" in finding.reason


def test_a_copied_sentence_with_another_number_is_altered() -> None:
    finding = _finding("The mill in Thal was built in 1908", "The mill in Thal was built in 1931.")
    assert (finding.verdict, [(one.claimed, one.stated) for one in finding.disagreements]) == (
        "altered",
        [("1908", "1931")],
    )


@pytest.mark.parametrize("mark", ["'", "’"])
@pytest.mark.parametrize(
    ("page", "sentence", "verdict"),
    [
        ("Dogs aren't allowed.", "Dogs are not allowed", "supported"),
        ("Dogs are not allowed.", "Dogs aren't allowed", "supported"),
        ("A ticket isn't required.", "A ticket is not required", "supported"),
        ("You can't pay by card.", "You cannot pay by card", "supported"),
        ("Visitors couldn't swim there.", "Visitors could not swim there", "supported"),
        ("Visitors could not swim there.", "Visitors couldn't swim there", "supported"),
        ("Visitors couldn't swim there.", "Visitors could swim there", "altered"),
        ("Dogs aren't allowed.", "Dogs are allowed", "altered"),
        ("A ticket is required.", "A ticket isn't required", "altered"),
    ],
)
def test_a_contracted_denial_denies_a_duty(page: str, sentence: str, verdict: str, mark: str) -> None:
    cited = CitedPage(number=1, url="", content=page.replace("'", mark))
    assert [one.verdict for one in verify_answer(f"{sentence} [1].", [cited]).findings] == [verdict]
