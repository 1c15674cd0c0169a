"""Rate limits of providers: set by the operator, stated by a provider, or learned from its errors.

The limits are counted in the store and shared by all its processes. Stated limits are read from responses. If every
response states them and none has arrived yet, the calls wait for the first one instead of exceeding the limit together.
Without stated limits, a rate is learned from a 429 response received at a higher request rate than usual: calls are
then paced slightly below that rate, which increases steadily until the next 429. A Retry-After is the upper bound of a
pause, which starts short and doubles with each failed probe, because a single response may refer to one moment only.
"""

from __future__ import annotations

import asyncio
import math
import secrets
from collections import defaultdict, deque
from collections.abc import Sequence
from contextlib import suppress
from dataclasses import dataclass, field
from types import MappingProxyType
from typing import NamedTuple

from groundwire.deadline import Deadline
from groundwire.models import Attempt, RateWindow
from groundwire.providers.base import SearchProvider, scope
from groundwire.routing.health import Changes, HealthRecord
from groundwire.storage.base import Store

LONGEST_WINDOW = 60.0
"""Seconds of a window over which requests are spread; the limit of a longer one is a quota, without pacing."""

_SLACK = 0.25  # seconds of jitter between two requests, such as for opening a connection
_SCOUT = 2.0  # seconds that calls wait for the first response
_POLL = 0.05  # seconds between two checks of what another process has learned
# Seconds, doubled by each failed probe, up to Retry-After. The whole Retry-After at once: 100 -> 26 % answered with 1 %
# of stray 429 that say an hour (benchmarks/NOTES.md, "Rules of routing switched off").
_FIRST_PAUSE = 0.5
_SOON, _UNKNOWN_PAUSE = 5.0, 60.0  # a Retry-After that is tested at once; the first pause without responses
_WINDOW = 1.0  # seconds over which requests are counted, to tell a rate limit from a stray 429
_FEWEST = 5  # minimum number of responses
# 429 responses at rates above any successful one that indicate a rate limit. Believing each 429: 9.2 -> 54.5 paid calls
# of 100 with 3 % of stray ones.
_REFUSALS = 3
_LONGEST_PAUSE = 3_600.0  # seconds
_SAMPLES = 50  # responses that are compared
# Of the rate after a 429; per second, of the last rejected rate. Without growth, 30 % on the first: p99 2.2 -> 4.2 s.
_DECREASE, _INCREASE = 0.95, 0.005
_NO_CHANGES: Changes = MappingProxyType({})


class Rate(NamedTuple):
    """The rate limit of a provider."""

    interval: float
    """Seconds between two requests in the long run."""
    burst: int = 1
    """The burst size after a quiet period."""


class Slot(NamedTuple):
    """The slot of a call."""

    granted: bool
    """Whether the call may go now; otherwise no slot was taken."""
    wait: float
    """Seconds waited, or that would have been."""
    interval: float
    """Seconds between two requests."""
    pause_reason: str = ""
    """The provider's reason for the wait: ` (slow down)`."""
    where: str = ""
    """The provider's scope."""
    at: float = 0.0
    """The start time, on the loop's clock."""
    density: int = 0
    """The number of requests in the second before."""


@dataclass(slots=True, eq=False, repr=False)
class _Pause:
    """A pause requested with Retry-After."""

    since: float
    until: float
    times: int
    reason: str = ""
    probe: asyncio.Event | None = None


@dataclass(slots=True, eq=False, repr=False)
class _Learned:
    """What requests and 429 responses reveal about the rate limit."""

    sent: deque[float] = field(default_factory=deque)
    densities: deque[int] = field(default_factory=lambda: deque(maxlen=_SAMPLES))
    refusals: deque[int] = field(default_factory=lambda: deque(maxlen=_REFUSALS))
    answered: bool = False
    refused_at: float = -math.inf
    limit: float = 0.0

    def send(self, now: float) -> int:
        """Record a request; return the number in the second before it."""
        while self.sent and self.sent[0] <= now - _WINDOW:
            self.sent.popleft()
        self.sent.append(now)
        return len(self.sent) - 1

    def refuse(self, sent_at: float, density: int, now: float) -> None:
        """Record a 429 response, and learn a rate if the last few came with more requests than any successful one."""
        if sent_at in self.sent:
            self.sent.remove(sent_at)
        self.refusals.append(density)
        if len(self.refusals) < _REFUSALS or len(self.densities) < _FEWEST:
            return
        if max(self.densities) >= min(self.refusals) or now - self.refused_at < _WINDOW:
            return  # requests from before the rate was learned still fill the window
        self.limit = _DECREASE * min(density / _WINDOW, self.allowed(now) or math.inf)
        self.refused_at = now

    def allowed(self, now: float) -> float:
        """Return the rate in requests per second; 0 if none is known, or it was learned long ago."""
        grown = 1.0 + _INCREASE * (now - self.refused_at)
        return self.limit * grown if grown < 2 else 0.0


class RateLimiter:
    """Paces calls as fast as each provider allows.

    Args:
        store: The store of the slots, and of what other processes have learned.
    """

    def __init__(self, store: Store) -> None:
        self._store = store
        self._rates: dict[str, Rate | None] = {}
        self._window_ends: dict[str, float] = {}
        self._scouts: dict[str, asyncio.Event] = {}
        self._pauses: dict[str, _Pause] = {}
        self._learned: defaultdict[str, _Learned] = defaultdict(_Learned)
        self._owner = secrets.token_hex(8)

    async def acquire(self, provider: SearchProvider, deadline: Deadline, max_wait: float) -> Slot:
        """Wait for a slot; take none if it is after the deadline or later than `max_wait`.

        Args:
            provider: The provider to call.
            deadline: The deadline of the response.
            max_wait: Maximum seconds to wait.
        """
        where, clock = scope(provider), asyncio.get_running_loop().time
        began = clock()
        latest = began + min(deadline.remaining(), max_wait)
        if getattr(provider, "tells_rates", False) and where not in self._rates:
            await self._scout(provider, min(latest - clock(), _SCOUT))
        pause_seconds = await self._wait_for_pause(where, latest) if where in self._pauses else 0.0
        pace = self.pace(provider, where)
        interval = pace.interval if pace else 0.0
        window_seconds = self._window_ends.get(where, 0.0) - clock()
        if pause_seconds > 0:
            reason = self._pauses[where].reason if where in self._pauses else ""
            return Slot(False, pause_seconds, interval, f" ({reason})" if reason else " ")
        if window_seconds > latest - clock():
            self.release(provider)
            return Slot(False, window_seconds, interval)
        wait = max(0.0, window_seconds)
        if pace is not None:
            slot = await self._store.pace(
                f"pace:{where}", interval=pace.interval, burst=pace.burst, max_wait=max(0.0, latest - clock())
            )
            if not slot.granted:
                self.release(provider)
                return Slot(False, slot.wait, interval)
            wait = max(wait, slot.wait)
        if wait > 0:
            try:
                await asyncio.sleep(wait)
            except BaseException:
                self.release(provider)
                raise
        now = clock()
        return Slot(True, now - began, interval, "", where, now, self._learned[where].send(now))

    def report(self, slot: Slot, attempt: Attempt) -> Changes:
        """Record the outcome of a request with a slot; return what to share with other processes.

        Args:
            slot: The slot.
            attempt: The outcome.
        """
        where, now = slot.where, asyncio.get_running_loop().time()
        pause, changes = self._pauses.get(where), _NO_CHANGES
        if attempt.retry_after and attempt.outcome not in {"auth", "quota"}:
            why = attempt.reason.partition(": ")[0]  # the rest is the service's message, and may quote a tenant's query
            changes = self._begin_pause(where, attempt.retry_after, why)
        elif pause is not None and slot.at > pause.since:
            self._pauses.pop(where)  # it responds again, or fails in another way
            if pause.probe is not None:
                pause.probe.set()
        learned = self._learned[where]
        if attempt.outcome in {"ok", "partial"}:
            learned.answered = True
        if attempt.outcome != "rate_limited":
            learned.densities.append(slot.density)
        elif self._rates.get(where) is None:
            learned.refuse(slot.at, slot.density, now)
        return changes

    def merge(self, where: str, record: HealthRecord) -> None:
        """Merge what a provider has stated to another process.

        Args:
            where: The provider's scope.
            record: The record; the seconds in it are those that are left.
        """
        if (announced := rate_in(record)) is not None:
            self._rates[where] = announced
        if record.rest > 0 and where not in self._pauses:
            now = asyncio.get_running_loop().time()
            until = now + min(record.rest, _LONGEST_PAUSE)
            self._pauses[where] = _Pause(now, until, min(record.rests, 20), record.reason)

    def pause_of(self, provider: SearchProvider) -> tuple[float, str] | None:
        """Return the seconds left of a provider's pause, 0 until its probe has a response, and the message."""
        pause = self._pauses.get(scope(provider))
        return None if pause is None else (max(0.0, pause.until - asyncio.get_running_loop().time()), pause.reason)

    def _begin_pause(self, where: str, seconds: float, reason: str) -> Changes:
        """Start a pause: short at first, doubled by each failed probe, and never longer than requested.

        For a provider without any successful response, the requested time counts for longer.
        """
        now, pause = asyncio.get_running_loop().time(), self._pauses.get(where)
        if pause is not None and now < pause.until:
            return {}  # belongs to a request from before the pause
        times = pause.times + 1 if pause is not None else 0
        is_credible = seconds <= _SOON or (where in self._learned and self._learned[where].answered)
        length = min(seconds, (_FIRST_PAUSE if is_credible else _UNKNOWN_PAUSE) * 2 ** min(times, 20), _LONGEST_PAUSE)
        self._pauses[where] = _Pause(now, now + length, times, reason)
        if pause is not None and pause.probe is not None:
            pause.probe.set()
        return {"rest": length, "rests": times, "reason": reason}

    async def _wait_for_pause(self, where: str, latest: float) -> float:
        """Wait until a pause is over and its probe has a response; return the seconds left if it takes longer.

        The first call after the pause is the probe.
        """
        clock = asyncio.get_running_loop().time
        while (pause := self._pauses.get(where)) is not None:
            now = clock()
            if now < pause.until:
                if pause.until > latest:
                    return pause.until - now
                await asyncio.sleep(pause.until - now)
            elif pause.probe is None:
                pause.probe = asyncio.Event()
                return 0.0
            else:
                try:
                    async with asyncio.timeout(max(0.0, latest - now)):
                        await pause.probe.wait()
                except TimeoutError:
                    return _FIRST_PAUSE
        return 0.0

    async def update_limits(self, provider: SearchProvider, windows: Sequence[RateWindow]) -> Rate | None:
        """Apply the limits stated in a response; return the rate if it is new.

        Args:
            provider: The provider.
            windows: The stated limits, possibly none.
        """
        where = scope(provider)
        if not windows and where in self._rates and where not in self._scouts:
            return None
        for window in windows:
            spent = window.remaining == 0 and window.limit != 0 and window.limit != 1  # a single one is paced exactly
            if spent and _is_short(window) and window.reset:
                self._window_ends[where] = asyncio.get_running_loop().time() + min(window.reset, LONGEST_WINDOW)
        rate = rate_of(windows)
        news = rate is not None and self._rates.get(where) != rate
        if rate is not None and self._rates.get(where) is None:  # the call that received it had no slot yet
            await self._store.pace(f"pace:{where}", interval=rate.interval, burst=rate.burst)
        if rate is not None or where not in self._rates:
            self._rates[where] = rate
        self._wake(where)
        return rate if news else None

    def release(self, provider: SearchProvider) -> None:
        """Record that a call ended without a response, and release the callers waiting for it."""
        where = scope(provider)
        pause = self._pauses.get(where)
        if pause is not None and pause.probe is not None:
            pause.probe.set()
            pause.probe = None
        if where in self._scouts:
            self._rates.setdefault(where, None)
            self._wake(where)

    async def _scout(self, provider: SearchProvider, seconds: float) -> None:
        """Make the first call, or wait for its response."""
        where = scope(provider)
        if (scouting := self._scouts.get(where)) is not None:
            with suppress(TimeoutError):
                async with asyncio.timeout(seconds):
                    await scouting.wait()
            return
        self._scouts[where] = asyncio.Event()
        until = asyncio.get_running_loop().time() + seconds
        try:
            while not await self._store.lease(f"scout:{where}", owner=self._owner, ttl=_SCOUT):
                await asyncio.sleep(_POLL)
                record = HealthRecord.parse(await self._store.get(record_key(where, "interval")))
                if record is not None and (rate := rate_in(record)) is not None:
                    self._rates[where] = rate
                if where in self._rates or asyncio.get_running_loop().time() >= until:
                    self._wake(where)
                    return
        except BaseException:
            self._wake(where)
            raise

    def _wake(self, where: str) -> None:
        if (scouting := self._scouts.pop(where, None)) is not None:
            scouting.set()

    def pace(self, provider: SearchProvider, where: str) -> Rate | None:
        """Return the slower of the operator's and the provider's rate, which may be stated or learned."""
        delay, rate = float(getattr(provider, "delay", 0.0)), self._rates.get(where)
        if rate is None and (learned := self._learned.get(where)) is not None:
            allowed = learned.allowed(asyncio.get_running_loop().time())
            rate = Rate(1 / allowed) if allowed else None
        if not delay:
            return rate
        return Rate(max(delay, rate.interval if rate else 0.0))


def rate_of(windows: Sequence[RateWindow]) -> Rate | None:
    """Return the rate that satisfies all short windows, or None if there are none.

    A fifth of a window may be a burst. The rest is spread so that no interval of the window's length, wherever it
    starts, exceeds the limit.
    """
    rates = []
    for window in windows:
        if window.limit and window.seconds and _is_short(window):
            burst = max(1, window.limit // 5)
            rates.append(Rate((window.seconds + _SLACK) / (window.limit - burst + 1), burst))
    if not rates:
        return None
    return Rate(max(rate.interval for rate in rates), min(rate.burst for rate in rates))


def record_key(where: str, kind: str) -> str:
    """Return the key in the store of what is known of a scope: its `cooldown`, `rest` or `interval`."""
    return f"provider:{where}:{kind}"


def rate_in(record: HealthRecord) -> Rate | None:
    """Return the rate learned by another process; None if there is none."""
    if record.interval <= 0 or record.burst < 1:
        return None
    return Rate(min(record.interval, LONGEST_WINDOW), record.burst)


def _is_short(window: RateWindow) -> bool:
    return (window.seconds or window.reset or 0.0) <= LONGEST_WINDOW
