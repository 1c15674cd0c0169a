"""Who is asked when: the limits of degraded health, cooldowns and the word of other processes, to the second."""

from __future__ import annotations

import math
from collections.abc import Mapping, Sequence

import pytest
from pydantic import ValidationError

from groundwire.deadline import Deadline
from groundwire.models import NO_FILTERS, Attempt, Filters, Outcome, SearchResult
from groundwire.providers import Capabilities
from groundwire.routing.health import Health, HealthRecord, Order

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
        self.now += 0.1  # what is sent at the same time would say nothing new

    def hear(self, *, provider: str = "a", cooldown: float, reason: str = "") -> None:
        self.health.merge(provider, HealthRecord(cooldown=cooldown, outcome="quota", reason=reason))

    def degraded(self, provider: str = "a") -> float:
        """Return the seconds for which a provider is asked last; 0 when it is not."""
        standing = self.health.provider_health(provider)
        return standing.seconds if standing.state == "degraded" else 0.0


@pytest.mark.parametrize(
    ("outcome", "most", "first", "longest"),
    [
        ("timeout", 3, 2.0, 4.0),
        ("rate_limited", 3, 1.0, 10.0),
        ("blocked", 3, 1.0, 10.0),
        ("unavailable", 4, 2.0, 4.0),
        ("invalid_response", 4, 2.0, 4.0),
    ],
)
def test_failures_in_a_row_make_a_suspect_for_twice_as_long_each_time(
    outcome: Outcome, most: int, first: float, longest: float
) -> None:
    watched = Watched()
    watched.fail(outcome, times=most - 1)
    assert watched.names() == "abc"
    assert watched.health.provider_health("a").state == "healthy"
    assert watched.told == []
    watched.fail(outcome)
    assert watched.names() == "bca"
    seconds = first
    for _ in range(11):
        assert watched.degraded() == min(seconds, longest)
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
    assert watched.degraded() == 1.5


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
    assert watched.health.provider_health("a").state == "healthy"
    watched.fail(times=3)
    assert watched.degraded() == 2.0, "an answer also ends the doubling"


def test_a_probe_that_fails_makes_a_longer_suspicion_and_another_probe_later() -> None:
    watched = Watched()
    watched.fail(times=3)
    watched.now += 2.0
    assert watched.order().probes == {"a"}
    watched.fail("unavailable")
    assert watched.degraded() == 4.0
    watched.now += 4.0
    assert watched.order().probes == {"a"}


def test_a_suspect_whose_time_is_up_has_no_seconds_left() -> None:
    watched = Watched()
    watched.fail(times=3)
    watched.now += 5.0
    standing = watched.health.provider_health("a")
    assert (standing.state, standing.seconds) == ("degraded", 0.0)


def test_suspects_come_last_and_the_one_that_is_due_first_leads_them() -> None:
    watched = Watched()
    watched.fail(times=4)
    watched.fail(provider="b", times=3)
    assert watched.names() == "cba"


@pytest.mark.req("B29")
@pytest.mark.parametrize("outcome", ["auth", "quota"])
def test_what_is_said_of_a_key_or_plan_begins_a_cooldown_of_a_minute_that_doubles_up_to_an_hour(
    outcome: Outcome,
) -> None:
    watched = Watched()
    for seconds in (60.0, 120.0, 240.0, 480.0, 960.0, 1_920.0, HOUR, HOUR):
        watched.fail(outcome)
        (cooldown,) = watched.order().skipped
        assert (cooldown.provider, cooldown.retry_after, cooldown.outcome, cooldown.reason) == (
            "a",
            seconds,
            outcome,
            "not called: in cooldown (said so)",
        )
        assert watched.names() == "bc"
        standing = watched.health.provider_health("a")
        assert (standing.state, standing.seconds, standing.reason) == ("cooldown", seconds, "said so")
        assert watched.told[-1] == ("a", {"cooldown": seconds, "outcome": outcome, "reason": "said so"})
        watched.now += seconds - 0.5
        assert watched.names() == "bc"
        watched.now += 0.5
        assert watched.order().probes == {"a"}, "every rest ends in a probe"
        assert watched.names() == "bca", "one at a time"
    watched.answer()
    assert watched.names() == "abc"
    for seconds in (1.0, 2.0, 4.0):
        watched.fail(outcome)
        watched.fail(outcome)  # sent before the cooldown: it tells nothing new
        assert watched.health.provider_health("a").seconds == seconds, "a key that worked is tried again soon"
        watched.now += seconds


@pytest.mark.req("B29")
def test_a_provider_that_often_fails_alone_is_moved_to_the_end_only_after_a_longer_row() -> None:
    watched = Watched()
    for _ in range(60):
        watched.fail("blocked")
        watched.now += 1.0
        watched.answer()
        watched.now += 1.0
    watched.fail("blocked", times=4)
    assert watched.names() == "abc", "at a half, four in a row happen once in sixteen"
    watched.fail("blocked", times=4)
    assert watched.names() == "bca", "at most eight"


@pytest.mark.parametrize(("failures", "answers"), [(1, 9), (1, 4), (1, 2), (1, 1), (3, 2), (2, 1), (3, 1)])
def test_a_row_is_long_if_it_happens_less_than_once_in_a_hundred_at_the_usual_share(
    failures: int, answers: int
) -> None:
    watched, share = Watched(), 0.0
    for _ in range(60):
        for failed in [True] * failures + [False] * answers:
            watched.now += 1.0
            if failed:
                watched.fail("unavailable")
            else:
                watched.answer()
            share += 0.03 * (failed - share)
    row = 0
    while watched.names() == "abc":
        enough = max(4, min(8, math.ceil(math.log(0.01) / math.log(share))))
        watched.now += 1.0
        watched.fail("unavailable")
        row, share = row + 1, share + 0.03 * (1 - share)
        assert (watched.names() == "bca") is (row >= enough)


def test_however_often_a_provider_fails_there_is_a_row_that_suffices() -> None:
    watched = Watched()
    watched.fail("unavailable", times=2_000)
    assert watched.names() == "bca"


@pytest.mark.parametrize(("said", "believed"), [(7.0, 7.0), (59.0, 59.0), (61.0, 60.0), (1e9, 60.0)])
def test_a_cooldown_is_never_longer_than_the_provider_says(said: float, believed: float) -> None:
    watched = Watched()
    watched.note("a", watched.health.report(Attempt(provider="a", outcome="quota", retry_after=said), answered=False))
    assert watched.order().skipped[0].retry_after == believed
    assert [changes["cooldown"] for _, changes in watched.told] == [believed]


def test_no_seconds_begin_no_cooldown_and_nobody_is_told() -> None:
    watched = Watched()
    assert watched.health.cool_down("a", 0.0) == {}
    assert watched.health.cool_down("a", -5.0) == {}
    assert watched.names() == "abc"
    assert watched.told == []


def test_the_later_end_counts_with_what_was_said_about_it() -> None:
    watched = Watched()
    watched.note("a", watched.health.cool_down("a", 10.0, "quota", "ten"))
    watched.note("a", watched.health.cool_down("a", 10.0, "auth", "ten again"))
    watched.note("a", watched.health.cool_down("a", 5.0, "auth", "five"))
    (cooldown,) = watched.order().skipped
    assert (cooldown.retry_after, cooldown.outcome) == (10.0, "quota")
    assert cooldown.reason == "not called: in cooldown (ten)"
    assert len(watched.told) == 1
    watched.note("a", watched.health.cool_down("a", 11.0, "auth", "eleven"))
    assert watched.health.provider_health("a").reason == "eleven"
    assert len(watched.told) == 2


@pytest.mark.req("B29")
def test_failures_of_requests_from_before_an_answer_say_nothing() -> None:
    watched = Watched()
    before = watched.now
    watched.now += 6.0
    watched.answer()
    for _ in range(5):
        attempt = Attempt(provider="a", outcome="timeout")
        watched.note("a", watched.health.report(attempt, answered=False, sent_at=before))
    assert watched.names() == "abc"
    watched.fail(times=3)
    assert watched.names() == "bca"


@pytest.mark.req("B29")
def test_who_is_empty_time_after_time_has_no_record_and_comes_last_until_it_has_rows() -> None:
    watched = Watched()
    assert not watched.health.has_record("a"), "it has never had rows"
    watched.answer()
    assert watched.health.has_record("a")
    empty = Attempt(provider="a", outcome="unavailable")
    for _ in range(2):
        watched.note("a", watched.health.report(empty, answered=True, rows=False))
    assert (watched.names(), watched.health.has_record("a"), watched.health.suspects) == ("abc", True, set())
    watched.note("a", watched.health.report(empty, answered=True, rows=False))
    assert (watched.names(), watched.health.has_record("a"), watched.health.suspects) == ("bca", False, {"a"})
    watched.health.suspects.clear()
    watched.note("a", watched.health.report(empty, answered=True, rows=False))
    assert watched.health.suspects == set(), "it is asked a control query once for each time that it is asked last"
    watched.now = 2_000.0
    watched.health.prove("a")
    assert (watched.names(), watched.health.has_record("a")) == ("abc", True)
    watched.now = 2_599.0
    assert watched.health.has_record("a")
    watched.now = 2_600.0
    assert not watched.health.has_record("a"), "that was long ago"


def test_who_is_empty_time_after_time_is_asked_last_for_four_seconds_at_most() -> None:
    watched = Watched()
    empty = Attempt(provider="a", outcome="unavailable")
    for _ in range(2):
        watched.health.report(empty, answered=True, rows=False)
    for seconds in (2.0, 4.0, 4.0):
        watched.health.report(empty, answered=True, rows=False)
        assert watched.degraded() == seconds


@pytest.mark.req("B29")
def test_whose_nothing_is_contradicted_has_no_record_until_nothing_was_there() -> None:
    watched = Watched()
    watched.answer()
    watched.health.weigh("a", contradicted=True)
    assert not watched.health.has_record("a")
    watched.health.weigh("a", contradicted=False)
    assert watched.health.has_record("a")


@pytest.mark.req("B29")
def test_failures_beside_an_answer_to_a_request_of_the_same_moment_say_nothing() -> None:
    watched = Watched()
    sent = watched.now
    watched.answer()
    watched.now += 6.0
    for _ in range(20):
        failed = Attempt(provider="a", outcome="timeout")
        watched.health.report(failed, answered=False, sent_at=sent + 0.05)
    assert watched.names() == "abc"


@pytest.mark.req("B29")
def test_a_free_provider_that_fails_at_once_keeps_its_place_before_paid_ones_only() -> None:
    prices = {"a": 0.0, "b": 0.0, "c": 0.005}
    watched = Watched()
    watched.fail("unavailable", times=4)
    order = watched.health.order(watched.providers, lambda provider: prices[provider.name])
    assert [provider.name for provider in order.queue] == ["b", "a", "c"]
    slow = Watched()
    sent = slow.now
    slow.now += 3.0
    for _ in range(4):
        slow.health.report(Attempt(provider="a", outcome="unavailable"), answered=False, sent_at=sent)
    order = slow.health.order(slow.providers, lambda provider: prices[provider.name])
    assert [provider.name for provider in order.queue] == ["b", "c", "a"]


def test_the_share_that_never_answers_is_learned_within_its_limits() -> None:
    watched = Watched()
    assert watched.health.lost("a") == 0.01
    watched.fail()
    assert watched.health.lost("a") == pytest.approx((20 * 0.01 + 1) / 21), "as if one of a hundred was lost before"
    watched.answer()
    assert watched.health.lost("a") == pytest.approx((20 * 0.01 + 1) / 22)
    watched.fail("unavailable")
    assert watched.health.lost("a") == pytest.approx((20 * 0.01 + 1) / 23), "it did answer, with an error"
    for _ in range(97):
        watched.answer()
    lost = watched.health.lost("a")
    watched.fail()
    assert watched.health.lost("a") == pytest.approx(lost + 0.01 * (1 - lost)), "later, each counts as one in a hundred"
    for _ in range(500):
        watched.answer()
    assert watched.health.lost("a") == 0.005
    watched.fail(times=200)
    assert watched.health.lost("a") == 0.45


def test_a_slow_call_that_answered_all_the_same_is_not_lost() -> None:
    watched = Watched()
    watched.note("a", watched.health.report(Attempt(provider="a", outcome="timeout"), answered=True))
    assert watched.health.lost("a") == pytest.approx(20 * 0.01 / 21)


class TestOthers:
    """What other processes say."""

    def test_they_begin_a_cooldown_of_an_hour_at_most_and_it_is_not_told_on(self) -> None:
        watched = Watched()
        watched.hear(cooldown=2 * HOUR, reason="empty")
        (closed,) = watched.order().skipped
        assert (closed.retry_after, closed.outcome) == (HOUR, "quota")
        assert closed.reason == "not called: in cooldown (empty)"
        assert watched.told == []


def test_a_probe_holds_its_place_for_a_second() -> None:
    watched = Watched()
    watched.fail(times=3)
    watched.now = 1_002.0
    assert watched.order().probes == {"a"}
    watched.now = 1_002.99
    assert watched.order().probes == frozenset()
    watched.now = 1_003.0
    assert watched.order().probes == {"a"}


def test_whose_last_nothing_was_contradicted_is_doubtful() -> None:
    watched = Watched()
    assert not watched.health.is_doubtful("a")
    for contradicted in (False, True, False, False, True, False, True, True):
        watched.health.weigh("a", contradicted=contradicted)
        assert watched.health.is_doubtful("a") is contradicted


def test_rows_count_until_their_time_is_up() -> None:
    watched = Watched()
    watched.answer()
    watched.now = 1_004.5
    assert watched.health.had_rows("a", 5.0)
    watched.now = 1_005.0
    assert not watched.health.had_rows("a", 5.0)


def test_a_cooldown_doubles_twelve_times_after_which_it_has_an_hour() -> None:
    watched = Watched()
    for _ in range(12):
        watched.health.report(Attempt(provider="a", outcome="quota", retry_after=0.5), answered=False)
        watched.now += 0.5
    watched.health.prove("a")
    for _ in range(12):
        watched.health.report(Attempt(provider="a", outcome="quota", retry_after=0.5), answered=False)
        watched.now += 0.5
    assert watched.health.report(Attempt(provider="a", outcome="quota"), answered=False)["cooldown"] == HOUR


def test_an_empty_answer_shows_that_a_provider_is_well_again() -> None:
    sick = Watched()
    sick.fail(times=3)
    sick.now += 2.0
    sick.health.report(Attempt(provider="a", outcome="unavailable"), answered=True, rows=False)
    assert sick.names() == "abc"
    assert sick.told == [], "others find it out by themselves"


NUMBERS = ("cooldown", "interval", "rest", "written")


@pytest.mark.parametrize("name", NUMBERS)
def test_a_record_with_an_impossible_number_is_refused(name: str) -> None:
    assert getattr(HealthRecord(), name) == 0.0
    for moment in (0.0, 0.5, 1e11):
        assert getattr(HealthRecord.model_validate({name: moment}), name) == moment
    for moment in (-0.5, 1.1e11, 1e11 + 0.5, float("inf"), float("nan")):
        with pytest.raises(ValidationError):
            HealthRecord.model_validate({name: moment})


@pytest.mark.parametrize("name", ["burst", "rests"])
def test_a_record_with_a_negative_number_is_refused(name: str) -> None:
    assert getattr(HealthRecord(), name) == 0
    assert getattr(HealthRecord.model_validate({name: 0}), name) == 0
    with pytest.raises(ValidationError):
        HealthRecord.model_validate({name: -1})


@pytest.mark.parametrize(
    ("outcome", "seconds", "keeps"),
    [
        ("unavailable", 0.49, True),
        ("unavailable", 0.5, False),
        ("rate_limited", 0.49, True),
        ("rate_limited", 0.5, False),
        ("blocked", 0.1, False),
        ("timeout", 0.1, False),
    ],
)
def test_only_a_failure_within_half_a_second_costs_nothing(outcome: Outcome, seconds: float, keeps: bool) -> None:
    prices = {"a": 0.0, "b": 0.005, "c": 0.0}
    watched = Watched()
    for _ in range(4):
        attempt = Attempt(provider="a", outcome=outcome)
        watched.health.report(attempt, answered=False, sent_at=watched.now - seconds)
    order = watched.health.order(watched.providers, lambda provider: prices[provider.name])
    assert [provider.name for provider in order.queue] == (["a", "b", "c"] if keeps else ["b", "c", "a"])


def test_a_paid_provider_that_fails_at_once_does_not_keep_its_place() -> None:
    watched = Watched()
    watched.fail("unavailable", times=4)
    order = watched.health.order(watched.providers, lambda provider: 0.005)
    assert [provider.name for provider in order.queue] == ["b", "c", "a"]
    first = Watched()
    first.fail("unavailable", provider="c", times=4)
    order = first.health.order(first.providers, lambda provider: 0.005 * (provider.name != "c"))
    assert [provider.name for provider in order.queue] == ["a", "b", "c"], "only before those that come after it"


@pytest.mark.parametrize(("later", "counts"), [(0.09, False), (0.11, True)])
def test_a_failure_of_a_later_request_counts(later: float, counts: bool) -> None:
    watched = Watched()
    sent = watched.now
    watched.answer()
    watched.now += 6.0
    for _ in range(3):
        watched.health.report(Attempt(provider="a", outcome="timeout"), answered=False, sent_at=sent + later)
    assert watched.names() == ("bca" if counts else "abc")


def test_of_what_a_service_says_only_our_own_words_are_told() -> None:
    watched = Watched()
    attempt = Attempt(provider="a", outcome="quota", reason="used up: no more for quokka: today")
    watched.note("a", watched.health.report(attempt, answered=False))
    assert watched.health.provider_health("a").reason == "used up"
    assert watched.told == [("a", {"cooldown": 60.0, "outcome": "quota", "reason": "used up"})]


def test_a_cooldown_may_be_shorter_than_a_second_and_is_over_at_its_end() -> None:
    watched = Watched()
    watched.note("a", watched.health.cool_down("a", 0.5))
    assert watched.names() == "bc"
    watched.now += 0.25
    assert watched.health.provider_health("a").seconds == 0.25
    watched.now += 0.25
    standing = watched.health.provider_health("a")
    assert (standing.state, standing.seconds) == ("degraded", 0.0)
    assert watched.order().probes == {"a"}


def test_rows_of_just_now_excuse_empty_answers() -> None:
    watched = Watched()
    watched.answer()
    for _ in range(3):
        watched.health.report(Attempt(provider="a", outcome="unavailable"), answered=True, rows=False)
    assert not watched.health.has_record("a")
    assert watched.health.has_record("a", just_now=60.0)
    watched.now += 59.85
    assert watched.health.has_record("a", just_now=60.0)
    watched.now = 1_060.0
    assert not watched.health.has_record("a", just_now=60.0)


def test_a_control_query_that_succeeds_makes_a_provider_healthy() -> None:
    watched = Watched()
    watched.health.prove("a")
    assert watched.health.has_record("a")
    watched.fail(times=3)
    watched.health.prove("a")
    assert watched.names() == "abc"


def test_what_changes_nothing_is_not_shared() -> None:
    watched = Watched()
    failed, refused = Attempt(provider="a", outcome="timeout"), Attempt(provider="a", outcome="auth")
    assert watched.health.report(failed, answered=False) == {}
    assert watched.health.report(Attempt(provider="a", outcome="ok"), answered=True) == {}
    assert watched.health.report(failed, answered=False, sent_at=watched.now - 5.0) == {}
    assert watched.health.cool_down("a", 9.0) == {"cooldown": 9.0, "outcome": "quota", "reason": ""}
    assert watched.health.report(refused, answered=False) == {}


def test_a_cooldown_doubles_whatever_is_asked_for() -> None:
    watched = Watched()
    for seconds in (60.0, 120.0, 240.0, 480.0, 960.0, 1_920.0, HOUR):
        assert watched.health.cool_down("a", 1e6)["cooldown"] == seconds
    assert watched.health.cool_down("a", 1e6) == {}, "it ends no later"


def test_an_empty_probe_makes_a_suspect_once_the_time_is_up() -> None:
    watched = Watched()
    empty = Attempt(provider="a", outcome="unavailable")
    for _ in range(3):
        watched.health.report(empty, answered=True, rows=False)
    watched.health.suspects.clear()
    for later, suspects in ((1.99, set()), (4.0, {"a"})):
        watched.now = 1_000.0 + later if later < 2 else watched.now + later
        watched.health.report(empty, answered=True, rows=False)
        assert watched.health.suspects == suspects


def test_a_provider_that_answers_after_a_cooldown_is_healthy() -> None:
    watched = Watched()
    watched.note("a", watched.health.cool_down("a", 5.0))
    watched.now += 5.0
    assert watched.order().probes == {"a"}
    watched.answer()
    assert watched.health.provider_health("a").state == "healthy"
    assert (watched.names(), watched.order().probes) == ("abc", frozenset())
