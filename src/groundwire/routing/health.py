"""What is known about providers, to order them: a provider is left out only on its own word.

Leaving out what merely looks ill cost 24 points of success in our study; moving it to the end costs nothing.
"""

from __future__ import annotations

import asyncio
import random
from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass, field
from typing import Annotated, Literal, TypeVar

from pydantic import BaseModel, ConfigDict, Field, ValidationError

from groundwire.models import Attempt, Outcome
from groundwire.providers import SearchProvider
from groundwire.storage.base import Store, StoreError

__all__ = [
    "Changes",
    "Cooldown",
    "Health",
    "HealthRecord",
    "Order",
    "ProviderHealth",
    "load_record",
    "record_key",
    "scope",
]

_P = TypeVar("_P", bound=SearchProvider)

_SLOW: frozenset[Outcome] = frozenset({"timeout"})
_REFUSED: frozenset[Outcome] = frozenset({"rate_limited", "blocked", "quota", "auth"})
_RULES = {"slow": (3, 2.0, 20.0), "refused": (3, 1.0, 10.0), "broken": (4, 2.0, 20.0)}
# failures in a row that make a suspect; seconds of the first suspicion, doubling; the longest
_LEARNING = 0.05  # weight of the newest call in the share that never answers
_FEWEST_LOST, _MOST_LOST = 0.005, 0.45
_LONGEST_CLOSED = 3_600.0  # seconds that a Retry-After is believed; a longer one is asked about again after an hour
_ITS_WORD: frozenset[Outcome] = frozenset({"auth", "quota"})  # nothing changes by itself until an hour has passed
_LONGEST_SUSPECT = 30.0  # seconds; what another process says about more is not believed


Changes = Mapping[str, float | int | str]
"""What became known of a provider: fields of a `HealthRecord`, but seconds from now instead of moments."""

_Moment = Annotated[float, Field(ge=0, le=1e11, allow_inf_nan=False)]


class HealthRecord(BaseModel):
    """What is known of a provider. Times are in seconds since the epoch; 0 says nothing."""

    model_config = ConfigDict(frozen=True, extra="ignore")

    closed: _Moment = 0.0
    """Until when it is in a cooldown."""
    outcome: str = ""
    """The outcome of the attempt in which it asked so."""
    reason: str = ""
    """What it said."""
    suspect: _Moment = 0.0
    """Until when it looks ill."""
    times: Annotated[int, Field(ge=0)] = 0
    """How often in a row that was so."""
    interval: _Moment = 0.0
    """Seconds between two requests."""
    burst: Annotated[int, Field(ge=0)] = 0
    """How many requests may go at once."""


@dataclass(slots=True)
class _State:
    in_a_row: dict[str, int] = field(default_factory=lambda: dict.fromkeys(_RULES, 0))
    times: int = 0
    closed_until: float = 0.0
    closed_by: Outcome = "rate_limited"
    closed_why: str = ""
    suspect_until: float = 0.0
    probing: bool = False
    lost: float = 0.01
    heard: bool = False


@dataclass(frozen=True, slots=True)
class Cooldown:
    """A provider that is skipped for a while, because it said so."""

    provider: SearchProvider
    """The provider."""
    seconds: float
    """The seconds that are left."""
    outcome: Outcome
    """The outcome of the attempt in which it asked so."""
    reason: str
    """What it said."""


@dataclass(frozen=True, slots=True)
class Order:
    """In which order to ask."""

    queue: tuple[SearchProvider, ...]
    """Those that may be asked: the healthy ones and those to probe in their configured order, suspects after them."""
    probes: frozenset[str]
    """The names of suspects whose time is up: this one request shows whether they are well again."""
    closed: tuple[Cooldown, ...]
    """Those in a cooldown."""


@dataclass(frozen=True, slots=True)
class ProviderHealth:
    """How a provider stands now."""

    provider: str
    """Its name."""
    state: Literal["well", "suspect", "closed"]
    """Whether it is asked in its turn, asked last, or skipped."""
    seconds: float = 0.0
    """For how long it is skipped, or until it is given another attempt."""
    reason: str = ""
    """What it said when its cooldown began."""


class Health:
    """The health of the providers of one `Web`.

    Args:
        clock: Seconds, monotonic; by default the event loop's.
        jitter: Returns a factor around 1 for the length of a suspicion, so that a fleet does not probe in step.
    """

    def __init__(self, clock: Callable[[], float] | None = None, jitter: Callable[[], float] | None = None) -> None:
        self._clock = clock or _loop_time
        self._jitter = jitter or (lambda: random.uniform(0.8, 1.2))  # noqa: S311  # spreads load, guards nothing
        self._states: dict[str, _State] = {}

    def order(self, providers: Sequence[SearchProvider]) -> Order:
        """Return the providers in the order in which to ask them now; whoever uses a probe reports on it."""
        now = self._clock()
        well: list[SearchProvider] = []
        suspects: list[tuple[float, SearchProvider]] = []
        closed: list[Cooldown] = []
        probes = set()
        for provider in providers:
            state = self._state(provider.name)
            if now < state.closed_until:
                left = state.closed_until - now
                closed.append(Cooldown(provider, left, state.closed_by, state.closed_why))
            elif not state.suspect_until:
                well.append(provider)
            elif now >= state.suspect_until and not state.probing:
                state.probing = True
                probes.add(provider.name)
                well.append(provider)
            else:
                suspects.append((state.suspect_until, provider))
        suspects.sort(key=lambda item: item[0])
        return Order((*well, *(provider for _, provider in suspects)), frozenset(probes), tuple(closed))

    def provider_health(self, provider: str) -> ProviderHealth:
        """Return how a provider stands, without taking it for a probe."""
        state, now = self._state(provider), self._clock()
        if now < state.closed_until:
            return ProviderHealth(provider, "closed", state.closed_until - now, state.closed_why)
        if state.suspect_until:
            return ProviderHealth(provider, "suspect", max(0.0, state.suspect_until - now))
        return ProviderHealth(provider, "well")

    def report(self, attempt: Attempt, *, answered: bool) -> Changes:
        """Take note of how an attempt ended; return what other processes should know.

        Args:
            attempt: The attempt.
            answered: Whether the provider answered, with rows or without: then it is well.
        """
        state = self._state(attempt.provider)
        was_suspect, state.probing = bool(state.suspect_until), False
        kind = "slow" if attempt.outcome in _SLOW else "refused" if attempt.outcome in _REFUSED else "broken"
        state.lost += _LEARNING * ((not answered and kind == "slow") - state.lost)
        if answered:
            state.in_a_row = dict.fromkeys(_RULES, 0)
            state.suspect_until, state.times = 0.0, 0
            return {"suspect": 0.0, "times": 0} if was_suspect else {}
        if attempt.retry_after is not None or attempt.outcome in _ITS_WORD:
            seconds = _LONGEST_CLOSED if attempt.retry_after is None else attempt.retry_after
            why = attempt.reason.partition(": ")[0]  # what follows is the service's, and may quote a tenant's query
            return self.close(attempt.provider, seconds, attempt.outcome, why)
        most, first, longest = _RULES[kind]
        state.in_a_row[kind] += 1
        if was_suspect or state.in_a_row[kind] >= most:
            seconds = min(first * 2**state.times, longest) * self._jitter()
            state.suspect_until = self._clock() + seconds
            state.times = min(state.times + 1, 8)
            return {"suspect": seconds, "times": state.times}
        return {}

    def close(self, provider: str, seconds: float, outcome: Outcome = "rate_limited", reason: str = "") -> Changes:
        """Skip a provider for as long as it asked, an hour at most; return what other processes should know.

        Args:
            provider: Its name.
            seconds: For how long.
            outcome: The outcome of the attempt in which it asked so.
            reason: What it said.
        """
        seconds = min(seconds, _LONGEST_CLOSED)
        if self._close(provider, seconds, outcome, reason) and seconds > 0:
            return {"closed": seconds, "outcome": outcome, "reason": reason}
        return {}

    def merge(self, provider: str, *, closed: float, outcome: Outcome, reason: str, suspect: float, times: int) -> None:
        """Take note of what another process knows; what is known here and says more stays.

        Args:
            provider: Its name.
            closed: Seconds from now of its cooldown.
            outcome: The outcome of the attempt in which it asked so.
            reason: What it said.
            suspect: Seconds from now for which it looks ill.
            times: How often in a row that was so.
        """
        self._close(provider, min(closed, _LONGEST_CLOSED), outcome, reason)
        state = self._state(provider)
        if suspect > 0 and not state.suspect_until:
            state.suspect_until = self._clock() + min(suspect, _LONGEST_SUSPECT)
            state.times = min(max(times, state.times), 8)
        elif not suspect and not times and state.suspect_until and state.heard:
            state.suspect_until, state.times = 0.0, 0  # somebody's probe went well
        state.heard = suspect > 0

    def _close(self, provider: str, seconds: float, outcome: Outcome, reason: str) -> bool:
        state, until = self._state(provider), self._clock() + seconds
        if until <= state.closed_until:
            return False
        state.closed_until, state.closed_by, state.closed_why = until, outcome, reason
        return True

    def give_up_probe(self, provider: str) -> None:
        """Say that a probe was not used after all."""
        self._state(provider).probing = False

    def lost(self, provider: str) -> float:
        """Return the share of the provider's calls that never answer."""
        return min(max(self._state(provider).lost, _FEWEST_LOST), _MOST_LOST)

    def _state(self, provider: str) -> _State:
        return self._states.setdefault(provider, _State())


def scope(provider: SearchProvider) -> str:
    """Return the name of the account that a provider is asked with: what is said to it holds for all who use it."""
    account = getattr(provider, "account", "")
    return f"{provider.name}:{account}" if account else provider.name


async def load_record(store: Store, where: str) -> HealthRecord | None:
    """Return what other processes know of a scope; None when there is nothing, or nothing that can be read."""
    try:
        entry = await store.get(record_key(where))
    except StoreError:
        return None
    try:
        return None if entry is None else HealthRecord.model_validate_json(entry.value)
    except ValidationError:
        return None  # another program has put it there


def record_key(where: str) -> str:
    """Return the key of a scope's record in the store."""
    return f"provider:{where}"


def _loop_time() -> float:
    return asyncio.get_running_loop().time()
