"""Several keys for one service: the next one is used when a key is exhausted or refused."""

from __future__ import annotations

import hashlib
import math
import time
from collections.abc import Awaitable, Callable, Sequence
from typing import TypeVar

from pydantic import SecretStr

from groundwire.errors import AuthenticationFailed, ProviderError, QuotaExceeded, RateLimited

__all__ = ["Keys", "digest"]

_T = TypeVar("_T")

_FIRST_REST, _LONGEST_REST = 60.0, 3_600.0  # seconds


class Keys:
    """The keys of one provider, and which of them is resting until when.

    A key that is refused, or whose quota is used up, rests for a minute at first, and twice as long each time that it
    is tried in vain, up to an hour; one that is rate limited beside others does so as well. None rests longer than the
    service says. Other errors are not about the key.

    Args:
        provider: The provider's name.
        keys: The keys in the order in which they are used; none where the service needs none.
        clock: Seconds, monotonic.
    """

    def __init__(
        self, provider: str, keys: Sequence[SecretStr] = (), *, clock: Callable[[], float] = time.monotonic
    ) -> None:
        self._provider = provider
        self._keys = tuple(key.get_secret_value() for key in keys)
        self._clock = clock
        self._rests: dict[int, tuple[float, ProviderError]] = {}
        self._times: dict[int, int] = {}
        self._said_until: dict[int, float] = {}

    def __len__(self) -> int:
        return len(self._keys)

    def __repr__(self) -> str:
        return f"Keys({self._provider!r}, {len(self)} keys, {len(self._resting())} resting)"

    def digest(self, *more: str) -> str:
        """Return a digest of these keys and further texts, to tell accounts apart."""
        return digest(*more, *self._keys)

    async def use(self, call: Callable[[str | None], Awaitable[_T]]) -> _T:
        """Make a call with the first key that does not rest, and with the next one if that key gives out.

        Args:
            call: Takes the key, or None where there is none.

        Raises:
            ProviderError: the call's own error, or that of the key that is awake first when all rest.
        """
        if not self._keys:
            return await call(None)
        failure: ProviderError | None = None
        resting = self._resting()
        for number, key in enumerate(self._keys):
            if number in resting:
                continue
            try:
                found = await call(key)
            except ProviderError as error:
                said = _without(key, error)
                if not isinstance(said, (AuthenticationFailed, QuotaExceeded, RateLimited)):
                    raise said from None if said is not error else error.__cause__
                self._rest(number, said)
                failure = said
            else:
                self._times.pop(number, None)
                return found
        raise failure or self._first_awake(resting)

    def _resting(self) -> dict[int, tuple[float, ProviderError]]:
        now = self._clock()
        return {number: rest for number, rest in self._rests.items() if rest[0] > now}

    def _rest(self, number: int, error: ProviderError) -> None:
        """Let a key rest: never longer than was said, and short at first, because one answer may not mean it."""
        now, said = self._clock(), error.retry_after
        if isinstance(error, RateLimited) and (said is None or len(self) == 1):
            return  # without a time it may be over by now, and the router gives the rest to an only key
        times = self._times[number] = min(self._times.get(number, 0) + 1, 10)
        self._said_until[number] = now + (said or 0.0)
        length = min(_FIRST_REST * 2.0 ** (times - 1), _LONGEST_REST, math.inf if said is None else said)
        self._rests[number] = (now + length, error)

    def _first_awake(self, resting: dict[int, tuple[float, ProviderError]]) -> ProviderError:
        """Return the error of the key that may be used first, with the time that is left of what was said."""
        number, (until, error) = min(resting.items(), key=lambda rest: rest[1][0])
        left = max(0.0, max(until, self._said_until.get(number, 0.0)) - self._clock())
        which = "the key rests" if len(self) == 1 else f"all {len(self)} keys rest"
        return type(error)(
            error.provider, f"{error.reason} ({which})", status=error.status, retry_after=left, fix=error.fix
        )


def digest(*words: str) -> str:
    """Return a short digest of some texts."""
    return hashlib.sha256("\0".join(words).encode("utf-8", "surrogatepass")).hexdigest()[:16]


def _without(key: str, error: ProviderError) -> ProviderError:
    """Return the error without the key, which some services repeat when they refuse it."""
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
