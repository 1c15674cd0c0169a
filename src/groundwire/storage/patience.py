"""How long a store is waited for: as long as it answers somebody."""

from __future__ import annotations

import asyncio
from collections.abc import AsyncGenerator
from contextlib import asynccontextmanager

__all__ = ["Patience"]

_LONGEST = 5.0  # seconds
_LATE = 0.25  # of the bound


class Patience:
    """Ends calls to a store that answers nobody, but not those that wait because this process is busy.

    With hundreds of calls at work an answer may lie unread for longer than a store that is well takes to give it. To
    take that for a failure would part this process from the others that share the store.

    Args:
        bound: The most seconds in which a store that is well answers one of all calls.
    """

    def __init__(self, bound: float) -> None:
        self._bound = bound
        self._answered = float("-inf")

    @asynccontextmanager
    async def wait(self) -> AsyncGenerator[None, None]:
        """Wait for one call, which is the block.

        Raises:
            TimeoutError: the store answers nobody.
        """
        loop = asyncio.get_running_loop()
        began = loop.time()
        async with asyncio.timeout(None) as limit:
            watching: list[asyncio.TimerHandle] = []

            def look_at(due: float) -> None:
                watching[:] = [loop.call_at(due, look, due)]

            def look(due: float) -> None:
                now = loop.time()
                busy = now - due > _LATE * self._bound  # what came in the meantime has not been seen yet
                if now < began + max(self._bound, _LONGEST) and (busy or now < self._answered + self._bound):
                    look_at(now + self._bound)
                else:
                    limit.reschedule(now)

            look_at(began + self._bound)
            try:
                yield
                self._answered = loop.time()
            finally:
                watching.pop().cancel()
