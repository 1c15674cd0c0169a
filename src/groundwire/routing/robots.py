"""The robots.txt of sites: fetched once a day, by one call for all who ask, and kept in the store.

What counts as an answer is RFC 9309, 2.3.1: a file is followed; 4xx and endless redirects mean that there is none; a
server that fails or cannot be reached means that nothing may be read, until it answers or an older file is at hand.
HTTP 429 is read as a failure of the moment.
"""

from __future__ import annotations

import asyncio
import hashlib
import time
from collections import OrderedDict
from collections.abc import Callable

from groundwire.deadline import Deadline
from groundwire.errors import BlockedByPolicy, DeadlineExceeded, PageUnavailable, TooManyRedirects
from groundwire.routing.cache import Cache, Life
from groundwire.safety.robots import MAX_BYTES, NO_RULES, Robots, agent_names, parse_robots
from groundwire.safety.urls import WebUrl
from groundwire.storage.base import Store
from groundwire.transport import Transport

__all__ = ["RobotsFiles"]

_LIFE = Life(86_400.0, 0.0, 6 * 86_400.0)  # seconds: a day (RFC 9309, 2.4), then in place of a file that cannot be had
_PATIENCE = 5.0  # seconds for the file, and never more than half of what the page may take
_REST = 30.0  # seconds after a failure until the file is tried again
_REMEMBERED = 1_000  # failures
_HOPS = 5  # redirects (RFC 9309, 2.3.1.2)
_TOO_MANY = 429


class RobotsFiles:
    """Knows what sites ask of us.

    Args:
        transport: Gets the files; its gate is passed by.
        store: Keeps them.
        user_agent: How we introduce ourselves; files call us by the products in it.
        clock: Seconds that only grow.
    """

    def __init__(
        self, transport: Transport, store: Store, user_agent: str, *, clock: Callable[[], float] = time.monotonic
    ) -> None:
        self._transport = transport
        self._cache = Cache(store)
        self._names = agent_names(user_agent)
        self._clock = clock
        self._failed: OrderedDict[str, tuple[float, str, int | None]] = OrderedDict()

    async def of(self, url: WebUrl, deadline: Deadline) -> Robots:
        """Return what the site of an address asks.

        Raises:
            PageUnavailable: it cannot be known now; `status` is that of a site which failed, and None for one that
            cannot be reached. DeadlineExceeded: the call's time was up before.
        """
        origin = url.origin
        until, reason, status = self._failed.get(origin, (0.0, "", None))
        if self._clock() < until:
            raise PageUnavailable(url.text, reason, status=status)
        limited = deadline.capped(min(_PATIENCE, deadline.remaining() / 2))
        name = hashlib.sha256(repr((origin, sorted(self._names))).encode()).hexdigest()
        try:
            kept = await self._cache.through(
                f"robots:{name}",
                lambda: self._load(origin, limited),
                pack=Robots.pack,
                unpack=Robots.unpack,
                life=lambda robots: _LIFE,
                deadline=limited,
            )
        except DeadlineExceeded as error:
            if deadline.passed:
                raise
            raise self._remember(origin, url, _unknown(url, "did not come in time")) from error
        except PageUnavailable as error:
            raise self._remember(origin, url, str(error), error.status) from error
        return kept.value

    async def aclose(self) -> None:
        """End what is being fetched."""
        await self._cache.aclose()

    async def _load(self, origin: str, deadline: Deadline) -> Robots:
        address = f"{origin}/robots.txt"
        try:
            reply = await self._transport.fetch(
                address, deadline=deadline, headers={"Accept": "text/plain, */*;q=0.1"}, cap=MAX_BYTES, cut=True,
                hops=_HOPS, gated=False,
            )  # fmt: skip
        except (BlockedByPolicy, TooManyRedirects):
            return NO_RULES  # it leads nowhere; where the page itself may not be asked, the guard says so
        if reply.status >= 500 or reply.status == _TOO_MANY:
            raise PageUnavailable(address, _unknown_file(address, f"failed (HTTP {reply.status})"), status=reply.status)
        if not 200 <= reply.status < 300:
            return NO_RULES
        if len(reply.body) > 50_000:
            return await asyncio.to_thread(parse_robots, reply.body, self._names)
        return parse_robots(reply.body, self._names)

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
