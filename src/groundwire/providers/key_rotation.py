"""The keys of one service: rotation when one is exhausted or rejected, and the rate limits stated for them."""

from __future__ import annotations

import hashlib
import math
import re
import time
from collections.abc import Awaitable, Callable, Mapping, Sequence
from itertools import islice, zip_longest
from typing import TypeVar

from pydantic import SecretStr

from groundwire.errors import AuthenticationFailed, PageError, ProviderError, QuotaExceeded, RateLimited
from groundwire.models import RateWindow

_T = TypeVar("_T")

_SHORTEST, _LONGEST = 60.0, 3_600.0  # seconds


class Keys:
    """The keys of one provider, and their cooldowns.

    A key that is rejected, or whose quota is used up, is skipped for a minute at first, and twice as long after each
    further failure, up to an hour; so is a key whose rate limit the service says to wait for. No cooldown is longer
    than the service states. Other errors do not depend on the key. If all are skipped, the one is used whose cooldown
    ends first: whether the service is called at all, the router decides.

    Args:
        provider: The provider's name.
        keys: The keys, in order of use; none if the service needs none.
        clock: Returns monotonic seconds.
    """

    def __init__(
        self, provider: str, keys: Sequence[SecretStr] = (), *, clock: Callable[[], float] = time.monotonic
    ) -> None:
        self._provider = provider
        self._keys = tuple(key.get_secret_value() for key in keys)
        self._clock = clock
        self._cooldowns: dict[int, float] = {}
        self._times: dict[int, int] = {}

    def __len__(self) -> int:
        return len(self._keys)

    def __repr__(self) -> str:
        return f"Keys({self._provider!r}, {len(self)} keys)"

    def digest(self, *more: str) -> str:
        """Return a digest of these keys and further texts, which identifies the account."""
        return digest(*more, *self._keys)

    async def use(self, call: Callable[[str | None], Awaitable[_T]]) -> _T:
        """Make a call with the first available key, and with the next one if that is exhausted or rejected.

        Args:
            call: Takes the key, or None where there is none.

        Raises:
            ProviderError: the error of the last key that was used.
        """
        if not self._keys:
            return await call(None)
        now, ends = self._clock(), [self._cooldowns.get(number, 0.0) for number in range(len(self))]
        usable = [number for number, end in enumerate(ends) if end <= now] or [ends.index(min(ends))]
        failures: list[ProviderError] = []
        for number in usable:
            key = self._keys[number]
            try:
                answer = await call(key)
            except ProviderError as error:
                cleaned = _without(key, error)
                if not isinstance(cleaned, (AuthenticationFailed, QuotaExceeded, RateLimited)):
                    raise cleaned from None if cleaned is not error else error.__cause__
                self._cool_down(number, cleaned)
                failures.append(cleaned)
            except PageError as error:
                if key not in error.reason:
                    raise
                reason = error.reason.replace(key, "***")
                raise type(error)(error.url, reason, status=error.status, retry_after=error.retry_after) from None
            else:
                self._times.pop(number, None)
                return answer
        raise failures[-1]

    def _cool_down(self, number: int, error: ProviderError) -> None:
        """Start a key's cooldown: never longer than stated, and short at first, as one response is weak evidence."""
        now, stated = self._clock(), error.retry_after
        if isinstance(error, RateLimited) and stated is None:
            return  # it may already be over
        times = self._times[number] = min(self._times.get(number, 0) + 1, 10)
        length = min(_SHORTEST * 2.0 ** (times - 1), _LONGEST, math.inf if stated is None else stated)
        self._cooldowns[number] = now + length


def digest(*words: str) -> str:
    """Return a short digest of some texts."""
    return hashlib.sha256("\0".join(words).encode("utf-8", "surrogatepass")).hexdigest()[:16]


def _without(key: str, error: ProviderError) -> ProviderError:
    """Return the error without the key, which some services repeat in their message."""
    if key not in str(error):
        return error
    return type(error)(
        error.provider,
        error.reason.replace(key, "***"),
        status=error.status,
        retry_after=error.retry_after,
        fix=error.fix.replace(key, "***"),
        windows=error.windows,
    )


_MAX_SECONDS = 366 * 86_400.0  # seconds
_EPOCH = 1e9  # a larger reset is a Unix timestamp; one above _MILLISECONDS is in milliseconds
_MILLISECONDS = 1e11
_NUMBER = re.compile(r"[0-9]{1,15}(\.[0-9]{1,9})?")
_MAX_WINDOWS = 8  # windows


def rate_windows(headers: Mapping[str, str], clock: Callable[[], float] = time.time) -> tuple[RateWindow, ...]:
    """Parse the rate limits in a response's headers, in order; none if there are no such headers.

    `X-RateLimit-Limit`, `-Remaining`, `-Reset` and `-Policy` are not standardized. In their usual forms, with or
    without `X-`, each is one number, or one per window, separated by commas; a policy such as `1;w=1, 2000;w=2592000`
    states the seconds of each window (draft-ietf-httpapi-ratelimit-headers-07; Brave Search API documentation).

    Args:
        headers: The headers, with names in any case.
        clock: Seconds since the epoch, for services that send the time of a reset.
    """
    limits, counts, resets, lengths = (
        _members(headers, kind, pattern)
        for kind, pattern in (("Limit", ""), ("Remaining", ""), ("Reset", ""), ("Policy", r";\s*w\s*=\s*"))
    )
    windows = [
        RateWindow(
            limit=None if limit is None else int(limit),
            seconds=_seconds(length),
            remaining=None if remaining is None else int(remaining),
            reset=_seconds(_from_now(reset, clock)),
        )
        for limit, remaining, reset, length in islice(zip_longest(limits, counts, resets, lengths), _MAX_WINDOWS)
    ]
    return tuple(window for window in windows if window.limit is not None or window.remaining is not None)


def _members(headers: Mapping[str, str], kind: str, before: str) -> list[float | None]:
    text = headers.get(f"X-RateLimit-{kind}") or headers.get(f"RateLimit-{kind}") or ""
    members: list[float | None] = []
    for part in text.split(",") if text else ():
        start = re.search(before, part) if before else None
        match = None if before and not start else _NUMBER.fullmatch(part[start.end() if start else 0 :].strip())
        members.append(float(match[0]) if match else None)
    return members


def _from_now(reset: float | None, clock: Callable[[], float]) -> float | None:
    if reset is None or reset < _EPOCH:
        return reset
    return max(0.0, (reset / 1_000 if reset >= _MILLISECONDS else reset) - clock())


def _seconds(value: float | None) -> float | None:
    return None if value is None else min(value, _MAX_SECONDS)
