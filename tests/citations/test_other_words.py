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


def _verdict(sentence: str, page: str) -> str:
    answer = f"{sentence[:-1]} [1]{sentence[-1]}"
    (finding,) = verify_answer(answer, [CitedPage(number=1, url="", content=page)]).findings
    return finding.verdict


@pytest.mark.parametrize(("page", "right", "wrong"), CAUSES)
def test_another_cause_is_not_supported(page: str, right: str, wrong: str) -> None:
    assert (_verdict(right, page), _verdict(wrong, page) == "supported") == ("supported", False)
