"""The robots.txt of sites: fetched once a day, by one call for all who ask, and kept in the store.

What counts as an answer is RFC 9309, 2.3.1: a file is followed; 4xx and endless redirects mean that there is none, for
a day if it is said to be missing and for a minute if it is only refused; a server that fails or cannot be reached means
that nothing may be read, until it answers or an older file is at hand.
"""

from __future__ import annotations

import asyncio
import hashlib
import time
from collections import OrderedDict
from collections.abc import Callable
from dataclasses import dataclass
from functools import lru_cache

from groundwire.deadline import Deadline
from groundwire.errors import BlockedByPolicy, DeadlineExceeded, PageUnavailable, TooManyRedirects
from groundwire.routing.cache import Cache, Life
from groundwire.safety.robots_txt import MAX_BYTES, NO_RULES, Robots, agent_names, parse_robots
from groundwire.safety.urls import WebUrl
from groundwire.storage.base import Store
from groundwire.transport import Transport

__all__ = ["RobotsFiles"]

_LIFE = Life(86_400.0, 0.0, 6 * 86_400.0)  # seconds: a day (RFC 9309, 2.4), then in place of a file that cannot be had
_SHORT = Life(60.0)  # for what may be otherwise the next time
_PATIENCE = 5.0  # seconds for the file
_REST = 30.0  # seconds after a failure until the file is tried again
_REMEMBERED = 1_000  # failures
_AT_ONCE = 50_000  # bytes that are read without a thread
_KEPT_READY = 64  # files of ordinary size that need not be read again for the next page
_HOPS = 5  # redirects (RFC 9309, 2.3.1.2)
_MISSING = frozenset({404, 410})


@dataclass(frozen=True, slots=True)
class _File:
    """What a site asks, and how long that holds."""

    robots: Robots
    life: Life = _LIFE


class RobotsFiles:
    """Knows what sites ask of us.

    Args:
        transport: Gets the files; its gate is passed by.
        store: Keeps them.
        user_agent: How we introduce ourselves; files call us by the products in it.
        patience: The most seconds for one file.
        clock: Seconds that only grow.
    """

    def __init__(
        self,
        transport: Transport,
        store: Store,
        user_agent: str,
        *,
        patience: float = _PATIENCE,
        clock: Callable[[], float] = time.monotonic,
    ) -> None:
        self._transport = transport
        self._cache = Cache(store)
        self._names = agent_names(user_agent)
        self._patience = patience
        self._clock = clock
        self._unpacked = lru_cache(_KEPT_READY)(Robots.unpack)
        self._failed: OrderedDict[str, tuple[float, str, int | None]] = OrderedDict()

    async def of(self, url: WebUrl, deadline: Deadline, *, share: float = 1.0) -> Robots:
        """Return what the site of an address asks.

        Args:
            url: The address.
            deadline: When the page must be here.
            share: How much of the time that is left may be spent on it.

        Raises:
            PageUnavailable: it cannot be known now; `status` is that of a site which failed, and None for one that
            cannot be reached. DeadlineExceeded: the call's time was up before.
        """
        origin = url.origin
        until, reason, status = self._failed.get(origin, (0.0, "", None))
        if self._clock() < until:
            raise PageUnavailable(url.text, reason, status=status)
        limited = deadline.capped(min(self._patience, deadline.remaining() * share))
        name = hashlib.sha256(repr((origin, sorted(self._names))).encode()).hexdigest()
        try:
            kept = await self._cache.through(
                f"robots:{name}",
                lambda: self._load(origin, limited),
                pack=lambda file: file.robots.pack(),
                unpack=lambda data: _File((Robots.unpack if len(data) > _AT_ONCE else self._unpacked)(data)),
                life=lambda file: file.life,
                deadline=limited,
            )
        except DeadlineExceeded as error:
            if deadline.passed:
                raise
            raise self._remember(origin, url, _unknown(url, "did not come in time")) from error
        except PageUnavailable as error:
            raise self._remember(origin, url, str(error), error.status) from error
        return kept.value.robots

    async def aclose(self) -> None:
        """End what is being fetched."""
        await self._cache.aclose()

    async def _load(self, origin: str, deadline: Deadline) -> _File:
        address = f"{origin}/robots.txt"
        try:
            reply = await self._transport.fetch(
                address, deadline=deadline, headers={"Accept": "text/plain, */*;q=0.1"}, cap=MAX_BYTES, cut=True,
                hops=_HOPS, gated=False,
            )  # fmt: skip
        except (BlockedByPolicy, TooManyRedirects):
            return _File(NO_RULES, _SHORT)  # where the page itself may not be asked, the guard says so
        if reply.status >= 500:
            raise PageUnavailable(address, _unknown_file(address, f"failed (HTTP {reply.status})"), status=reply.status)
        if not 200 <= reply.status < 300:
            return _File(NO_RULES, _LIFE if reply.status in _MISSING else _SHORT)
        if len(reply.body) > _AT_ONCE:
            return _File(await asyncio.to_thread(parse_robots, reply.body, self._names))
        return _File(parse_robots(reply.body, self._names))

    def _remember(self, origin: str, url: WebUrl, reason: str, status: int | None = None) -> PageUnavailable:
        """Note a failure, and return it as the error of a page."""
        self._failed[origin] = (self._clock() + _REST, reason, status)
        self._failed.move_to_end(origin)
        while len(self._failed) > _REMEMBERED:
            self._failed.popitem(last=False)
        return PageUnavailable(url.text, reason, status=status)


def _unknown(url: WebUrl, what: str) -> str:
    return _unknown_file(f"{url.origin}/robots.txt", what)


def _unknown_file(address: str, what: str) -> str:
    return (
        f"{address} {what}, so it is not known whether the page may be read. Try again in a minute, or open another "
        "page. (The operator may switch this off: read.robots, or read.robots_exceptions for one domain.)"
    )
