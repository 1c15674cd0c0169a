"""Provider health: recent outcomes, which determine the order of providers, and the circuit breaker.

A provider with recent failures is called last rather than skipped: in a comparison of both, skipping lowered the
success rate by 24 percentage points, and moving it to the end costs nothing. Only a provider with a rejected key or an
exhausted quota is skipped. Every cooldown ends in a probe: the first one soon, the next after twice the time.
"""

from __future__ import annotations

import asyncio
import math
import random
from collections import defaultdict
from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass, field
from typing import Annotated, ClassVar, Final, Literal, NamedTuple, TypeVar, cast, get_args

from pydantic import BaseModel, ConfigDict, Field, ValidationError

from groundwire.models import Attempt, Outcome
from groundwire.providers import SearchProvider
from groundwire.storage.base import Entry

_P = TypeVar("_P", bound=SearchProvider)

_SLOW: frozenset[Outcome] = frozenset({"timeout"})
_REFUSED: frozenset[Outcome] = frozenset({"rate_limited", "blocked", "quota", "auth"})
# What each rule and constant changes: benchmarks/NOTES.md, "Rules of routing switched off".
_RULES: Final[Mapping[str, tuple[int, float, float]]] = {
    "slow": (3, 2.0, 4.0),
    "refused": (3, 1.0, 10.0),
    "broken": (4, 2.0, 4.0),
    "empty": (3, 2.0, 4.0),
}
# consecutive failures that degrade a provider; seconds of the first time, doubling; the maximum
_LEARNING, _FIRST_CALLS = 0.01, 20  # weight of the latest call in the share of lost calls; the first weigh more
_FEWEST_LOST, _UNKNOWN_LOST, _MOST_LOST = 0.005, 0.01, 0.45
_ITS_WORD: frozenset[Outcome] = frozenset({"auth", "quota"})  # about the key or the plan: retrying is pointless
_FIRST_COOLDOWN, _LONGEST_COOLDOWN = 60.0, 3_600.0  # seconds; doubled each time that a probe fails the same way
# With a minute also for a key that has worked, 2 % of stray 401: 100 -> 61 % answered.
_STRAY_COOLDOWN, _MOST_COOLDOWNS = 1.0, 12  # seconds, the first if the key has worked recently; doublings, to an hour
_FAST = 0.5  # seconds; a provider that fails faster costs almost nothing
# Without: 47.5 -> 55.7 paid calls of 100 when half of all answers are a 403.
_WEIGHT, _IMPROBABLE, _LONGEST_ROW = 0.03, 0.01, 8  # of the latest call; a probability; failures
# 0: 25.5 -> 28.0 paid calls of 100 when two fail together.
_PROBE = 1.0  # seconds reserved for a probe; after that, another one may be sent
# 0: 40.5 -> 42.8 paid calls of 100 in bursts of twenty.
_TOGETHER = 0.1  # seconds; requests sent this close together meet the same state, in whichever order they end
_RECORD = 600.0  # seconds for which rows are evidence that a provider works


Changes = Mapping[str, float | int | str]
"""What other processes should know: fields of a `HealthRecord`."""

_Number = Annotated[float, Field(ge=0, le=1e11)]


class HealthRecord(BaseModel):
    """A cooldown, a pause or the pace of a provider, for all processes; what is 0 is not known."""

    model_config: ClassVar[ConfigDict] = ConfigDict(frozen=True, extra="ignore", defer_build=True)

    cooldown: _Number = 0.0
    """Seconds of a cooldown."""
    outcome: str = ""
    """The outcome of the attempt that started it."""
    reason: str = ""
    """The provider's message."""
    interval: _Number = 0.0
    """Seconds between two requests."""
    burst: Annotated[int, Field(ge=0)] = 0
    """How many requests may be sent at once."""
    rest: _Number = 0.0
    """Seconds of a pause required by Retry-After."""
    rests: Annotated[int, Field(ge=0)] = 0
    """How many times in a row it was restarted."""
    written: _Number = 0.0
    """When it was written, in seconds since the epoch."""

    @classmethod
    def parse(cls, entry: object) -> HealthRecord | None:
        """Return the record in an entry of the store; None if there is none, or another program's."""
        try:
            return cls.model_validate_json(entry.value) if isinstance(entry, Entry) else None
        except ValidationError:
            return None


@dataclass(slots=True, eq=False, repr=False)
class _State:
    in_a_row: dict[str, int] = field(default_factory=lambda: dict.fromkeys(_RULES, 0))
    times: int = 0
    cooldowns: int = 0
    failure_shares: dict[str, float] = field(default_factory=dict)
    """The share of each kind of failure in the calls."""
    calls: int = 0
    cooldown_until: float = 0.0
    cooldown_outcome: Outcome = "quota"
    cooldown_reason: str = ""
    degraded_until: float = 0.0
    probe_until: float = 0.0
    lost: float = _UNKNOWN_LOST
    rows_at: float = -math.inf
    doubtful: bool = False
    answered_sent_at: float = -math.inf
    fails_fast: bool = False

    def count(self, kind: str = "") -> None:
        """Record a call that failed in this way, or had rows."""
        for failure in {kind, *self.failure_shares} - {""}:
            share = self.failure_shares.get(failure, 0.0)
            self.failure_shares[failure] = share + _WEIGHT * ((failure == kind) - share)

    def improbable_row(self, kind: str) -> int:
        """Return how many such failures in a row happen less than once in a hundred at the usual share."""
        share = self.failure_shares.get(kind, 0.0)
        return min(math.ceil(math.log(_IMPROBABLE) / math.log(share)), _LONGEST_ROW) if share > 0 else 1


class Order(NamedTuple):
    """The order in which to call providers."""

    queue: tuple[SearchProvider, ...]
    """The available ones: healthy ones and those to probe in their configured order, degraded ones last."""
    probes: frozenset[str]
    """The names of those whose cooldown is over: this request shows whether they are healthy again."""
    skipped: tuple[Attempt, ...]
    """What is said of those in cooldown, because of their key or plan."""


class ProviderHealth(NamedTuple):
    """The health of a provider now."""

    provider: str
    """Its name."""
    state: Literal["healthy", "degraded", "cooldown"]
    """Whether it is called in the configured order, called last, or skipped."""
    seconds: float = 0.0
    """Until it is probed."""
    reason: str = ""
    """Its message when the cooldown started."""


class Health:
    """The health of the providers of one `Web`.

    Args:
        clock: Seconds, monotonic; by default the event loop's.
        jitter: Returns a factor around 1 for the time until a probe, so that a fleet does not probe in step.
    """

    def __init__(self, clock: Callable[[], float] | None = None, jitter: Callable[[], float] | None = None) -> None:
        self._clock = clock or _loop_time
        self._jitter = jitter or (lambda: random.uniform(0.8, 1.2))  # noqa: S311  # spreads load, guards nothing
        self._states: defaultdict[str, _State] = defaultdict(_State)
        self.suspects: set[str] = set()
        """Providers with repeated empty results; each gets a control query and is then removed from here."""

    def order(
        self, providers: Sequence[SearchProvider], price: Callable[[SearchProvider], float] | None = None
    ) -> Order:
        """Return the providers in the order in which to call them now; the caller reports a probe that it uses.

        Args:
            providers: In their configured order.
            price: Returns the price of a search: a free provider that fails quickly keeps its place before paid ones.
        """
        now = self._clock()
        first: list[SearchProvider] = []
        degraded: list[tuple[float, SearchProvider]] = []
        skipped: list[Attempt] = []
        probes = set()
        for provider in providers:
            state = self._states[provider.name]
            if now < state.cooldown_until:
                said = f" ({state.cooldown_reason})" if state.cooldown_reason else ""
                skipped.append(
                    Attempt(
                        provider=provider.name,
                        outcome=state.cooldown_outcome,
                        reason=f"not called: in cooldown{said}",
                        retry_after=round(state.cooldown_until - now, 3),
                    )
                )
            elif not state.degraded_until and not state.cooldown_until:
                first.append(provider)
            elif now >= state.degraded_until and now >= state.probe_until:
                state.probe_until = now + _PROBE
                probes.add(provider.name)
                first.append(provider)
            else:
                degraded.append((state.degraded_until, provider))
        degraded.sort(key=lambda item: item[0])
        for _, provider in degraded:
            place = len(first)
            if price is not None and self._states[provider.name].fails_fast and not price(provider):
                after = providers[providers.index(provider) :]
                place = next((at for at, other in enumerate(first) if other in after and price(other)), place)
            first.insert(place, provider)
        return Order(tuple(first), frozenset(probes), tuple(skipped))

    def provider_health(self, provider: str) -> ProviderHealth:
        """Return the health of a provider, without probing it."""
        state, now = self._states[provider], self._clock()
        if now < state.cooldown_until:
            return ProviderHealth(provider, "cooldown", state.cooldown_until - now, state.cooldown_reason)
        if state.degraded_until or state.cooldown_until:
            return ProviderHealth(provider, "degraded", max(0.0, state.degraded_until - now))
        return ProviderHealth(provider, "healthy")

    def report(self, attempt: Attempt, *, answered: bool, rows: bool = True, sent_at: float | None = None) -> Changes:
        """Record the outcome of an attempt; return what to share with other processes.

        Args:
            attempt: The attempt.
            answered: Whether the provider responded, with rows or without.
            rows: Whether it had rows. A provider without rows is healthy as well, but not repeatedly.
            sent_at: When the request was sent, on the clock; by default now. A failure is ignored if the provider has
                responded to a later request.
        """
        sent_at = self._clock() if sent_at is None else sent_at
        state = self._states[attempt.provider]
        was_ill, state.probe_until = bool(state.degraded_until or state.cooldown_until), 0.0
        kind = "slow" if attempt.outcome in _SLOW else "refused" if attempt.outcome in _REFUSED else "broken"
        state.calls += 1
        learning = max(_LEARNING, 1 / (_FIRST_CALLS + state.calls))
        state.lost += learning * ((not answered and kind == "slow") - state.lost)
        if answered and rows:
            state.count()
            state.rows_at = self._clock()
            state.answered_sent_at = max(state.answered_sent_at, sent_at)
            self._recover(state)
            return {}
        if attempt.outcome in _ITS_WORD and not answered:
            if self._clock() < state.cooldown_until:
                return {}  # sent before the cooldown began
            first = _STRAY_COOLDOWN if self.had_rows(attempt.provider, _RECORD) else _FIRST_COOLDOWN
            seconds = first * 2**state.cooldowns if attempt.retry_after is None else attempt.retry_after
            why = attempt.reason.partition(": ")[0]  # the rest is the service's message, and may quote a tenant's query
            return self.cool_down(attempt.provider, seconds, attempt.outcome, why)
        if sent_at < state.answered_sent_at + _TOGETHER:
            return {}
        kind = "empty" if answered else kind
        most, first, longest = _RULES[kind]
        most = max(most, state.improbable_row(kind))
        state.count(kind)
        state.in_a_row[kind] += 1
        if answered and state.in_a_row[kind] < most:
            self._recover(state, empties=state.in_a_row[kind])
        elif was_ill or state.in_a_row[kind] >= most:
            if answered and self._clock() >= state.degraded_until:
                self.suspects.add(attempt.provider)
            seconds = min(first * 2**state.times, longest) * self._jitter()
            state.degraded_until, state.cooldown_until = self._clock() + seconds, 0.0
            fast = self._clock() - sent_at < _FAST
            state.fails_fast = fast and (kind == "broken" or attempt.outcome == "rate_limited")
            state.times = min(state.times + 1, 8)
        return {}

    def cool_down(self, provider: str, seconds: float, outcome: Outcome = "quota", reason: str = "") -> Changes:
        """Skip a provider: for a minute at first, then, as long as probes fail the same way, for twice as long.

        Args:
            provider: Its name.
            seconds: The cooldown it requested, which is the maximum, like an hour.
            outcome: The outcome of the attempt that starts it.
            reason: The provider's message.

        Returns:
            What to share with other processes.
        """
        state = self._states[provider]
        seconds = min(seconds, _FIRST_COOLDOWN * 2**state.cooldowns, _LONGEST_COOLDOWN)
        if not self._cool_down(provider, seconds, outcome, reason):
            return {}
        state.cooldowns = min(state.cooldowns + 1, _MOST_COOLDOWNS)
        return {"cooldown": seconds, "outcome": outcome, "reason": reason}

    def merge(self, provider: str, record: HealthRecord) -> None:
        """Merge a record of another process, unless more is known here."""
        outcome = cast("Outcome", record.outcome) if record.outcome in get_args(Outcome) else "quota"
        self._cool_down(provider, min(record.cooldown, _LONGEST_COOLDOWN), outcome, record.reason)

    def give_up_probe(self, provider: str) -> None:
        """Release a probe that was not used."""
        self._states[provider].probe_until = 0.0

    def lost(self, provider: str) -> float:
        """Return the share of the provider's calls without a response."""
        return min(max(self._states[provider].lost, _FEWEST_LOST), _MOST_LOST)

    def loses(self, provider: str) -> bool:
        """Whether more of the provider's calls end without a response than is assumed of one that is not known."""
        return self._states[provider].lost > _UNKNOWN_LOST

    def has_record(self, provider: str, *, just_now: float = 0.0) -> bool:
        """Whether an empty result of this provider is credible.

        It is if it has had rows recently, was not repeatedly empty since, and was not contradicted the last time.

        Args:
            provider: Its name.
            just_now: Seconds since it had rows in which repeated empty results are ignored.
        """
        state = self._states[provider]
        since = self._clock() - state.rows_at
        steady = state.in_a_row["empty"] < _RULES["empty"][0] or since < just_now
        return since < _RECORD and steady and not self.is_doubtful(provider)

    def had_rows(self, provider: str, seconds: float) -> bool:
        """Whether the provider had rows in the last so many seconds."""
        return self._clock() - self._states[provider].rows_at < seconds

    def is_doubtful(self, provider: str) -> bool:
        """Whether another provider had rows where it found nothing the last time."""
        return self._states[provider].doubtful

    def weigh(self, provider: str, *, contradicted: bool) -> None:
        """Record whether another provider had rows where this one found nothing."""
        self._states[provider].doubtful = contradicted

    def prove(self, provider: str) -> None:
        """Record a successful control query."""
        state = self._states[provider]
        state.rows_at = self._clock()
        self._recover(state)

    def _recover(self, state: _State, empties: int = 0) -> None:
        if empties or any(state.in_a_row.values()):
            state.in_a_row = dict.fromkeys(_RULES, 0) | {"empty": empties}
        state.degraded_until, state.times, state.cooldowns = 0.0, 0, 0
        if state.cooldown_until <= self._clock():
            state.cooldown_until = 0.0

    def _cool_down(self, provider: str, seconds: float, outcome: Outcome, reason: str) -> bool:
        state, until = self._states[provider], self._clock() + seconds
        if seconds <= 0 or until <= state.cooldown_until:
            return False
        state.cooldown_until, state.cooldown_outcome, state.cooldown_reason = until, outcome, reason
        return True


def _loop_time() -> float:
    return asyncio.get_running_loop().time()
