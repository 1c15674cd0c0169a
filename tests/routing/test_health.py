"""Who is asked when: the limits of suspicion, of closing and of what other processes say, each to the second."""

from __future__ import annotations

from collections.abc import Mapping, Sequence

import pytest

from groundwire.deadline import Deadline
from groundwire.models import NO_FILTERS, Attempt, Filters, Outcome, SearchResult
from groundwire.providers import Capabilities
from groundwire.routing.health import Health, Order

HOUR = 3_600.0


class Named:
    """A provider that is only put in order."""

    capabilities = Capabilities(search=True)

    def __init__(self, name: str) -> None:
        self.name = name

    async def search(
        self, query: str, *, limit: int = 5, filters: Filters = NO_FILTERS, deadline: Deadline | None = None
    ) -> Sequence[SearchResult]:
        return ()


class Watched:
    """The health of three providers, with a clock that a test moves and a list of what was told to others."""

    def __init__(self, jitter: float = 1.0) -> None:
        self.now = 1_000.0
        self.told: list[tuple[str, Mapping[str, float | int | str]]] = []
        self.health = Health(lambda: self.now, lambda: jitter)
        self.providers = [Named("a"), Named("b"), Named("c")]

    def note(self, provider: str, changes: Mapping[str, float | int | str]) -> None:
        if changes:
            self.told.append((provider, changes))

    def order(self) -> Order:
        return self.health.order(self.providers)

    def names(self) -> str:
        return "".join(provider.name for provider in self.order().queue)

    def fail(self, outcome: Outcome = "timeout", *, provider: str = "a", times: int = 1) -> None:
        for _ in range(times):
            attempt = Attempt(provider=provider, outcome=outcome, reason="said so")
            self.note(provider, self.health.report(attempt, answered=False))

    def answer(self, provider: str = "a") -> None:
        self.note(provider, self.health.report(Attempt(provider=provider, outcome="ok"), answered=True))

    def hear(
        self, *, provider: str = "a", closed: float = 0.0, reason: str = "", suspect: float = 0.0, times: int = 0
    ) -> None:
        self.health.merge(provider, closed=closed, outcome="quota", reason=reason, suspect=suspect, times=times)

    def suspicion(self, provider: str = "a") -> float:
        """Return the seconds for which a provider is a suspect; 0 when it is none."""
        standing = self.health.provider_health(provider)
        return standing.seconds if standing.state == "suspect" else 0.0


@pytest.mark.parametrize(
    ("outcome", "most", "first", "longest"),
    [
        ("timeout", 3, 2.0, 20.0),
        ("rate_limited", 3, 1.0, 10.0),
        ("blocked", 3, 1.0, 10.0),
        ("unavailable", 4, 2.0, 20.0),
        ("invalid_response", 4, 2.0, 20.0),
    ],
)
def test_failures_in_a_row_make_a_suspect_for_twice_as_long_each_time(
    outcome: Outcome, most: int, first: float, longest: float
) -> None:
    watched = Watched()
    watched.fail(outcome, times=most - 1)
    assert watched.names() == "abc"
    assert watched.health.provider_health("a").state == "well"
    assert watched.told == []
    watched.fail(outcome)
    assert watched.names() == "bca"
    seconds = first
    for times in range(1, 12):
        assert watched.suspicion() == min(seconds, longest)
        assert watched.told[-1] == ("a", {"suspect": min(seconds, longest), "times": min(times, 8)})
        watched.fail(outcome)
        seconds *= 2


def test_an_answer_between_failures_begins_the_count_anew() -> None:
    watched = Watched()
    watched.fail(times=2)
    watched.answer()
    watched.fail(times=2)
    assert watched.names() == "abc"
    assert watched.told == []
    watched.fail()
    assert watched.names() == "bca"


def test_failures_of_several_kinds_are_counted_apart() -> None:
    watched = Watched()
    watched.fail("timeout", times=2)
    watched.fail("blocked", times=2)
    watched.fail("unavailable", times=3)
    assert watched.names() == "abc"


def test_the_length_of_a_suspicion_is_spread() -> None:
    watched = Watched(jitter=0.75)
    watched.fail(times=3)
    assert watched.suspicion() == 1.5
    assert watched.told == [("a", {"suspect": 1.5, "times": 1})]


def test_by_default_it_is_spread_by_a_fifth() -> None:
    lengths = []
    for _ in range(500):
        health = Health(lambda: 0.0)
        for _ in range(3):
            health.report(Attempt(provider="a", outcome="timeout"), answered=False)
        lengths.append(health.provider_health("a").seconds)
    assert all(1.6 <= length <= 2.4 for length in lengths)
    assert min(lengths) < 1.7
    assert max(lengths) > 2.3


def test_one_probe_at_a_time_shows_whether_a_suspect_is_well_again() -> None:
    watched = Watched()
    watched.fail(times=3)
    watched.now += 1.99
    assert watched.order().probes == frozenset()
    assert watched.names() == "bca"
    watched.now = 1_002.0
    probing = watched.order()
    assert probing.probes == {"a"}
    assert [provider.name for provider in probing.queue] == ["a", "b", "c"]
    assert watched.order().probes == frozenset()
    assert watched.names() == "bca"
    watched.health.give_up_probe("a")
    assert watched.order().probes == {"a"}
    watched.answer()
    assert watched.order().probes == frozenset()
    assert watched.names() == "abc"
    assert watched.health.provider_health("a").state == "well"
    assert watched.told[1:] == [("a", {"suspect": 0.0, "times": 0})]
    watched.fail(times=3)
    assert watched.suspicion() == 2.0, "an answer also ends the doubling"


def test_a_probe_that_fails_makes_a_longer_suspicion_and_another_probe_later() -> None:
    watched = Watched()
    watched.fail(times=3)
    watched.now += 2.0
    assert watched.order().probes == {"a"}
    watched.fail("unavailable")
    assert watched.suspicion() == 4.0
    watched.now += 4.0
    assert watched.order().probes == {"a"}


def test_a_suspect_whose_time_is_up_has_no_seconds_left() -> None:
    watched = Watched()
    watched.fail(times=3)
    watched.now += 5.0
    standing = watched.health.provider_health("a")
    assert (standing.state, standing.seconds) == ("suspect", 0.0)


def test_suspects_come_last_and_the_one_that_is_due_first_leads_them() -> None:
    watched = Watched()
    watched.fail(times=4)
    watched.fail(provider="b", times=3)
    assert watched.names() == "cba"


@pytest.mark.parametrize("outcome", ["auth", "quota"])
def test_what_does_not_change_by_itself_closes_a_provider_for_an_hour(outcome: Outcome) -> None:
    watched = Watched()
    watched.fail(outcome)
    (closed,) = watched.order().closed
    assert (closed.provider.name, closed.seconds, closed.outcome, closed.reason) == ("a", HOUR, outcome, "said so")
    assert watched.names() == "bc"
    standing = watched.health.provider_health("a")
    assert (standing.state, standing.seconds, standing.reason) == ("closed", HOUR, "said so")
    assert watched.told == [("a", {"closed": HOUR, "outcome": outcome, "reason": "said so"})]
    watched.now += HOUR - 0.5
    assert watched.health.provider_health("a").seconds == 0.5
    assert watched.order().closed[0].seconds == 0.5
    watched.now += 0.5
    assert watched.names() == "abc"
    assert watched.health.provider_health("a").state == "well"


@pytest.mark.parametrize(("said", "believed"), [(7.0, 7.0), (HOUR - 1, HOUR - 1), (HOUR + 1, HOUR), (1e9, HOUR)])
def test_a_provider_is_left_alone_for_as_long_as_it_says_up_to_an_hour(said: float, believed: float) -> None:
    watched = Watched()
    watched.note(
        "a", watched.health.report(Attempt(provider="a", outcome="rate_limited", retry_after=said), answered=False)
    )
    assert watched.order().closed[0].seconds == believed
    assert [changes["closed"] for _, changes in watched.told] == [believed]


def test_no_seconds_close_nothing_and_nobody_is_told() -> None:
    watched = Watched()
    watched.note("a", watched.health.close("a", 0.0))
    watched.note("a", watched.health.close("a", -5.0))
    assert watched.names() == "abc"
    assert watched.told == []


def test_the_later_end_counts_with_what_was_said_about_it() -> None:
    watched = Watched()
    watched.note("a", watched.health.close("a", 10.0, "rate_limited", "ten"))
    watched.note("a", watched.health.close("a", 10.0, "blocked", "ten again"))
    watched.note("a", watched.health.close("a", 5.0, "quota", "five"))
    (closed,) = watched.order().closed
    assert (closed.seconds, closed.outcome, closed.reason) == (10.0, "rate_limited", "ten")
    assert len(watched.told) == 1
    watched.note("a", watched.health.close("a", 11.0, "quota", "eleven"))
    assert watched.health.provider_health("a").reason == "eleven"
    assert len(watched.told) == 2


def test_a_provider_that_says_when_to_come_back_does_not_become_a_suspect() -> None:
    watched = Watched()
    for _ in range(5):
        watched.note(
            "a", watched.health.report(Attempt(provider="a", outcome="rate_limited", retry_after=1.0), answered=False)
        )
    watched.now += 1.0
    assert watched.names() == "abc"


def test_the_share_that_never_answers_is_learned_within_its_limits() -> None:
    watched = Watched()
    assert watched.health.lost("a") == 0.01
    watched.fail()
    assert watched.health.lost("a") == pytest.approx(0.01 + 0.05 * 0.99)
    watched.answer()
    assert watched.health.lost("a") == pytest.approx((0.01 + 0.05 * 0.99) * 0.95)
    watched.fail("unavailable")
    assert watched.health.lost("a") == pytest.approx((0.01 + 0.05 * 0.99) * 0.95**2), "it did answer, with an error"
    for _ in range(200):
        watched.answer()
    assert watched.health.lost("a") == 0.005
    watched.fail(times=200)
    assert watched.health.lost("a") == 0.45


def test_a_slow_call_that_answered_all_the_same_is_not_lost() -> None:
    watched = Watched()
    watched.note("a", watched.health.report(Attempt(provider="a", outcome="timeout"), answered=True))
    assert watched.health.lost("a") == pytest.approx(0.01 * 0.95)


class TestOthers:
    """What other processes say."""

    def test_they_close_a_provider_for_an_hour_at_most_and_it_is_not_told_on(self) -> None:
        watched = Watched()
        watched.hear(closed=2 * HOUR, reason="empty")
        (closed,) = watched.order().closed
        assert (closed.seconds, closed.outcome, closed.reason) == (HOUR, "quota", "empty")
        assert watched.told == []

    @pytest.mark.parametrize(("said", "believed"), [(0.5, 0.5), (29.0, 29.0), (30.5, 30.0), (500.0, 30.0)])
    def test_they_make_a_suspect_for_half_a_minute_at_most(self, said: float, believed: float) -> None:
        watched = Watched()
        watched.hear(suspect=said, times=1)
        assert watched.suspicion() == believed
        assert watched.names() == "bca"
        assert watched.told == []

    def test_what_is_known_here_is_not_replaced(self) -> None:
        watched = Watched()
        watched.fail(times=3)
        watched.hear(suspect=20.0, times=5)
        assert watched.suspicion() == 2.0

    @pytest.mark.parametrize(("times", "next_suspicion"), [(0, 2.0), (1, 4.0), (3, 16.0), (4, 20.0)])
    def test_the_next_failure_doubles_what_they_counted(self, times: int, next_suspicion: float) -> None:
        watched = Watched()
        watched.hear(suspect=5.0, times=times)
        watched.fail()
        assert watched.suspicion() == next_suspicion

    def test_a_count_out_of_all_bounds_is_not_told_on(self) -> None:
        watched = Watched()
        watched.hear(suspect=5.0, times=10**6)
        watched.fail()
        assert watched.told == [("a", {"suspect": 20.0, "times": 8})]

    def test_somebody_elses_probe_that_went_well_ends_what_they_said(self) -> None:
        watched = Watched()
        watched.hear(suspect=5.0, times=3)
        watched.hear()
        assert watched.health.provider_health("a").state == "well"
        watched.fail(times=3)
        assert watched.suspicion() == 2.0, "their count is forgotten, too"

    def test_their_silence_does_not_end_what_was_seen_here(self) -> None:
        watched = Watched()
        watched.fail(times=3)
        watched.hear()
        assert watched.suspicion() == 2.0

    def test_a_count_without_a_suspicion_ends_nothing(self) -> None:
        watched = Watched()
        watched.hear(suspect=5.0, times=1)
        watched.hear(times=1)
        assert watched.suspicion() == 5.0

    def test_what_they_said_once_and_took_back_does_not_end_a_later_suspicion_of_our_own(self) -> None:
        watched = Watched()
        watched.hear(suspect=5.0, times=1)
        watched.hear()
        watched.fail(times=3)
        watched.hear()
        assert watched.suspicion() == 2.0
