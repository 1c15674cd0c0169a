"""Manners: what a site asks in its robots.txt, how fast it is asked, and how many pages of it at once.

Rules, paces and pauses are kept in the store, so that all processes that share it behave as one; how many requests run
at once is counted in each process. Nothing waits beyond the deadline of its call: what would is an error that says
how long the wait is.
"""

from __future__ import annotations

import asyncio
import time
from collections.abc import AsyncGenerator, Callable, Sequence
from contextlib import asynccontextmanager
from dataclasses import dataclass

from groundwire.deadline import Deadline
from groundwire.errors import BlockedByRobots, DeadlineExceeded, PagePaced, PageUnavailable
from groundwire.providers.http_parsing import retry_after
from groundwire.routing.robots import RobotsFiles
from groundwire.safety.domains import host_matches
from groundwire.safety.robots_txt import Robots
from groundwire.safety.urls import WebUrl
from groundwire.storage.base import Store
from groundwire.transport import FetchSlot, Transport

__all__ = ["Manners"]

_LONGEST_DELAY = 5.0  # seconds between two requests that a robots.txt may ask for
_LONGEST_REST = 3_600.0  # seconds of silence that a site may ask for
_LARGE = 20_000  # characters of rules that are compared without a thread
_MARGIN = 0.1  # seconds before the deadline, so that who waits is told for what
_ASKING_FOR_REST = frozenset({429, 503})


@dataclass(slots=True)
class _Room:
    """The requests of one site that may run at once."""

    free: asyncio.Semaphore
    users: int = 0


@dataclass(slots=True)
class _Rules:
    """What holds for one site."""

    delay: float
    """Seconds between two requests."""
    said_by: str
    """Who wants it."""


class Manners:
    """The gate that requests for pages go through; every reader that connects by itself can ask it, too.

    Args:
        transport: Gets robots.txt files, whose cassette is respected: what is replayed asks nobody.
        store: Keeps rules, paces and pauses.
        robots: Whether robots.txt files are respected.
        exceptions: Domains whose files are not, with their sub-domains.
        delay: Seconds between two requests to one site.
        at_once: The most requests to one site at once.
        user_agent: How we introduce ourselves.
        clock: The time in seconds since the epoch, the store's own.
    """

    def __init__(
        self,
        transport: Transport,
        store: Store,
        *,
        robots: bool = True,
        exceptions: Sequence[str] = (),
        delay: float = 0.0,
        at_once: int = 6,
        user_agent: str,
        clock: Callable[[], float] = time.time,
    ) -> None:
        self._store = store
        self._files = RobotsFiles(transport, store, user_agent) if robots else None
        self._exceptions = tuple(exceptions)
        self._delay = delay
        self._at_once = at_once
        self._clock = clock
        self._replaying = transport.cassette is not None and transport.cassette.replaying
        self._rooms: dict[str, _Room] = {}

    async def check(self, url: WebUrl, deadline: Deadline, *, remote: bool = False) -> float:
        """See that a site's robots.txt lets us read a page.

        Args:
            url: The page's address.
            deadline: When the page must be here.
            remote: Whether somebody else will read it for us: then a site that cannot be reached from here stops
                nobody, as it may be reached from there.

        Returns:
            The seconds that the site wants between two requests, five at most; 0 when it says nothing.

        Raises:
            BlockedByRobots: it does not. PageUnavailable: it is not known. DeadlineExceeded.
        """
        if self._files is None or any(host_matches(url.host, domain) for domain in self._exceptions):
            return 0.0
        try:
            robots = await self._files.of(url, deadline, share=0.5 if remote else 1.0)
        except PageUnavailable as error:
            if self._replaying or (remote and error.status is None):
                return 0.0
            raise
        large = sum(map(len, robots.lines)) > _LARGE
        forbidding, delay = await asyncio.to_thread(_asked, robots, url.target) if large else _asked(robots, url.target)
        if forbidding is not None:
            raise BlockedByRobots(
                f"{url.origin}/robots.txt asks not to read this page ({_shown(forbidding)}). Open another page. (The "
                "operator may switch this off: read.robots, or read.robots_exceptions for one domain.)"
            )
        return min(delay, _LONGEST_DELAY)

    @asynccontextmanager
    async def visit(self, url: WebUrl, deadline: Deadline) -> AsyncGenerator[FetchSlot]:
        """Let one request to a site through, when it is its turn; see `Gate.visit`.

        Raises:
            BlockedByRobots, PageUnavailable: as `check`. PagePaced: its turn comes too late. DeadlineExceeded.
        """
        asked = await self.check(url, deadline)
        visit = FetchSlot()
        if self._replaying:
            yield visit
            return
        site = url.origin.partition("://")[2]
        rules = (
            _Rules(asked, "its robots.txt")
            if asked > self._delay
            else _Rules(self._delay, "the setting read.crawl_delay")
        )
        async with self._room(site, url, deadline):
            await self._rested(site, url, deadline)
            await self._turn(site, url, deadline, rules)
            try:
                yield visit
            finally:
                if visit.status in _ASKING_FOR_REST and (seconds := retry_after(visit.headers)):
                    await self._store.set(f"rest:{site}", b"", fresh=min(seconds, _LONGEST_REST))

    async def aclose(self) -> None:
        """End what is being fetched."""
        if self._files is not None:
            await self._files.aclose()

    @asynccontextmanager
    async def _room(self, site: str, url: WebUrl, deadline: Deadline) -> AsyncGenerator[None]:
        """Hold one of the site's places for the block."""
        room = self._rooms.setdefault(site, _Room(asyncio.Semaphore(self._at_once)))
        room.users += 1
        try:
            try:
                async with asyncio.timeout(max(0.0, deadline.remaining() - _MARGIN)):
                    await room.free.acquire()
            except TimeoutError as error:
                raise DeadlineExceeded(
                    f"{url.host} is being asked for {self._at_once} pages already, and none came in time. Try again, "
                    "or open another page."
                ) from error
            try:
                yield
            finally:
                room.free.release()
        finally:
            room.users -= 1
            if not room.users:
                self._rooms.pop(site, None)

    async def _rested(self, site: str, url: WebUrl, deadline: Deadline) -> None:
        """Wait as long as the site itself has asked for, if that is not too long."""
        entry = await self._store.get(f"rest:{site}")
        wait = entry.fresh_until - self._clock() if entry is not None else 0.0
        if wait > deadline.remaining():
            raise _paced(url, "has asked for a pause", wait)
        if wait > 0:
            await asyncio.sleep(wait)

    async def _turn(self, site: str, url: WebUrl, deadline: Deadline, rules: _Rules) -> None:
        if not rules.delay:
            return
        slot = await self._store.pace(f"site:{site}", interval=rules.delay, max_wait=deadline.remaining())
        if not slot.granted:
            raise _paced(url, f"is asked every {rules.delay:g} seconds, as {rules.said_by} says", slot.wait)
        if slot.wait > 0:
            await asyncio.sleep(slot.wait)


def _asked(robots: Robots, target: str) -> tuple[str | None, float]:
    """Return the line that forbids a path, and the seconds between two requests that the site wants."""
    return robots.forbidding(target), robots.delay or 0.0


def _paced(url: WebUrl, why: str, wait: float) -> PagePaced:
    seconds = f"{wait:,.0f} seconds" if wait >= 1 else "a second"
    return PagePaced(
        url.text, f"{url.host} {why}. Try again in {seconds}, or open another page.", retry_after=round(wait, 3)
    )


def _shown(rule: str) -> str:
    return rule if len(rule) <= 80 else rule[:77] + "..."
