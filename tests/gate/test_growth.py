"""The work of every public function of text grows with the text: counted at n, 2n and 4n, on its worst texts."""

from __future__ import annotations

from collections.abc import Callable

import pytest

from components.text_calls import LANGUAGES
from components.text_functions import BOUNDED, GROWING, functions_of_text
from components.work import growths
from groundwire.citations.verify.language_data import language

pytestmark = pytest.mark.req("B23")
LONG = 200_000
SIZES = (200, 800, 3_200)
"""Where a text is long enough for something to begin, such as another passage, the count takes a step: then at the next
size it must not."""


def repeated(unit: str, size: int) -> str:
    return unit * max(1, size // len(unit))


def grows(call: Callable[[str], object], unit: str) -> bool:
    """Whether the work of a function more than trebles with each doubling of a text, however long it is."""
    return all(max(growths(call, *(repeated(unit, size * times) for times in (1, 2, 4)))) >= 3 for size in SIZES)


def test_every_function_of_text_is_here() -> None:
    missing = [name for name in functions_of_text() if name not in GROWING and name not in BOUNDED]
    assert not missing, "add them to components/text_functions.py"


@pytest.mark.parametrize(
    "name", [pytest.param(name, marks=pytest.mark.slow) if GROWING[name].heavy else name for name in GROWING]
)
def test_work_grows_with_the_text(name: str) -> None:
    for code in LANGUAGES:  # what a language needs is read once, when it is first met
        language(code)
    assert not [unit for unit in GROWING[name].units if grows(GROWING[name].call, unit)]


@pytest.mark.slow
@pytest.mark.timeout(900)
@pytest.mark.parametrize("name", GROWING)
def test_no_function_is_stuck_in_what_goes_on_for_long(name: str) -> None:
    """What is quadratic within C code (a pattern, a copy in a loop) would need hours for it."""
    for unit in GROWING[name].units:
        GROWING[name].call(repeated(unit, LONG))
