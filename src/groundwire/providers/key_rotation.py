"""Several keys for one service: the next one is used when a key is exhausted or refused."""

from __future__ import annotations

import hashlib
import time
from collections.abc import Awaitable, Callable, Sequence
from typing import TypeVar

from pydantic import SecretStr

from groundwire.errors import AuthenticationFailed, ProviderError, QuotaExceeded, RateLimited

__all__ = ["Keys", "digest"]

_T = TypeVar("_T")

_QUOTA_REST = 3_600.0  # seconds, when the service does not say when its quota resets
_FOR_GOOD = float("inf")


class Keys:
    """The keys of one provider, and which of them is resting until when.

    A key whose quota is used up rests until the quota resets, one that is refused is not used again, one that is rate
    limited rests for as long as the service says. Other errors are not about the key.

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
                return await call(key)
            except ProviderError as error:
                said = _without(key, error)
                if not isinstance(said, (AuthenticationFailed, QuotaExceeded, RateLimited)):
                    raise said from None if said is not error else error.__cause__
                self._rests[number] = (self._clock() + _rest(said), said)
                failure = said
        raise failure or self._first_awake(resting)

    def _resting(self) -> dict[int, tuple[float, ProviderError]]:
        now = self._clock()
        return {number: rest for number, rest in self._rests.items() if rest[0] > now}

    def _first_awake(self, resting: dict[int, tuple[float, ProviderError]]) -> ProviderError:
        """Return the error of the key that may be used first, with the time that is left."""
        until, error = min(resting.values(), key=lambda rest: rest[0])
        left = None if until == _FOR_GOOD else max(0.0, until - self._clock())
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


def _rest(error: ProviderError) -> float:
    if isinstance(error, AuthenticationFailed):
        return _FOR_GOOD
    usual = _QUOTA_REST if isinstance(error, QuotaExceeded) else 0.0  # a limit without a time may be over by now
    return usual if error.retry_after is None else error.retry_after
