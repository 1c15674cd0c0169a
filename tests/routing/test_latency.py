"""The quantiles of a provider's answers: exact, of the last two hundred, and only of enough of them."""

from __future__ import annotations

import pytest

from groundwire.routing.hedging_policy import ExtraBudget, Latencies


def test_fewer_than_twenty_answers_say_nothing() -> None:
    latencies = Latencies()
    for _ in range(19):
        latencies.add(1.0)
    assert latencies.quantile(0.5, 7.0) == 7.0
    latencies.add(1.0)
    assert latencies.quantile(0.5, 7.0) == 1.0


@pytest.mark.parametrize(
    ("share", "seconds"), [(0.0, 1.0), (0.49, 50.0), (0.5, 51.0), (0.95, 96.0), (0.995, 100.0), (1.0, 100.0)]
)
def test_a_quantile_is_one_of_the_answers(share: float, seconds: float) -> None:
    latencies = Latencies()
    for number in range(1, 51):
        latencies.add(float(number))
        latencies.add(float(101 - number))
    assert latencies.quantile(share, 0.0) == seconds


def test_the_last_two_hundred_count() -> None:
    latencies = Latencies()
    latencies.add(0.5)
    for _ in range(199):
        latencies.add(3.0)
    assert latencies.quantile(0.0, 0.0) == 0.5
    latencies.add(9.0)
    assert latencies.quantile(0.0, 0.0) == 3.0
    assert latencies.quantile(1.0, 0.0) == 9.0
    for _ in range(199):
        latencies.add(4.0)
    assert (latencies.quantile(0.0, 0.0), latencies.quantile(1.0, 0.0)) == (4.0, 9.0)
    latencies.add(4.0)
    assert latencies.quantile(1.0, 0.0) == 4.0


def test_how_many_answers_take_longer() -> None:
    latencies = Latencies()
    for number in range(1, 20):
        latencies.add(float(number))
    assert latencies.later(6.0, 12.0) == 0.5, "too few are known: a quarter take longer than 12 s"
    latencies.add(20.0)
    assert latencies.later(0.5, 12.0) == 20.5 / 21
    assert latencies.later(5.0, 12.0) == 15.5 / 21
    assert latencies.later(20.0, 12.0) == 0.5 / 21, "one more is always thought possible"


def test_a_whole_call_is_allowed_while_one_is_left_and_a_part_the_less_the_less_is_left() -> None:
    budget = ExtraBudget(0.1, 3.0)
    budget.spend(2.0)
    assert budget.allows(1.0)
    assert not budget.allows(0.9), "one third is left: help may be five sixths sure to be extra"
    assert budget.allows(0.8)
    assert budget.allows(1.0, reserve=0.0)
    assert not budget.allows(1.0, reserve=0.5)
    budget.earn()
    budget.spend(0.2)
    assert not budget.allows(1.0)
