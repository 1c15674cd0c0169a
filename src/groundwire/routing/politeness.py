"""Politeness: robots.txt, crawl delay, and concurrent requests per site.

Rules and delays are stored, so that all processes that share the store act as one; concurrent requests are counted per
process. Nothing waits beyond the deadline of its call: instead, an error states how long the wait is.
"""

from __future__ import annotations

import asyncio
import hashlib
import time
from collections import OrderedDict
from collections.abc import AsyncGenerator, Callable, Sequence
from contextlib import asynccontextmanager
from dataclasses import dataclass
from functools import lru_cache
from weakref import WeakValueDictionary

from groundwire.deadline import Deadline
from groundwire.errors import (
    BlockedByPolicy,
    BlockedByRobots,
    DeadlineExceeded,
    HostNotFound,
    PagePaced,
    PageUnavailable,
    TooManyRedirects,
    excerpt,
)
from groundwire.providers.http_parsing import retry_after
from groundwire.routing.cache import Cache, CacheTtl, Codec
from groundwire.safety.robots_txt import MAX_BYTES, NO_RULES, Robots, agent_names, parse_robots
from groundwire.safety.tenancy import LOCAL
from groundwire.safety.urls import WebUrl, host_matches
from groundwire.storage.base import Store
from groundwire.transport import FetchSlot, Transport

_LONGEST_DELAY = 5.0  # the maximum delay in seconds that a robots.txt may set
_LONGEST_PAUSE = 3_600.0  # the maximum pause in seconds that a site may request
_LARGE = 20_000  # characters of rules that are matched without a thread
_MARGIN = 0.1  # seconds before the deadline, so that the error can state the reason of the wait
_PAUSE_STATUSES = frozenset({429, 503})


class Politeness:
    """The crawl rules for page requests, also for readers that connect by themselves.

    Args:
        transport: Fetches robots.txt files; its cassette is respected, so a replay sends nothing.
        store: Stores rules, delays and pauses.
        robots: Whether to respect robots.txt files.
        exceptions: Domains whose files are ignored, including subdomains.
        delay: Seconds between two requests to one site.
        at_once: Maximum concurrent requests per site.
        user_agent: The User-Agent header.
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
        self._files = RobotsFiles(transport, store, user_agent, store_clock=clock) if robots else None
        self._exceptions = tuple(exceptions)
        self._delay = delay
        self._at_once = at_once
        self._clock = clock
        self._replaying = transport.cassette is not None and transport.cassette.replaying
        self._slots: WeakValueDictionary[str, asyncio.Semaphore] = WeakValueDictionary()  # of sites in use

    async def check(self, url: WebUrl, deadline: Deadline, *, remote: bool = False) -> float:
        """Check that a site's robots.txt allows a page.

        Args:
            url: The page's URL.
            deadline: The deadline of the page.
            remote: Whether a remote reader will fetch it: then a site that is unreachable from here is allowed, as it
                may be reachable from there.

        Returns:
            The site's crawl delay in seconds, at most five; 0 if it sets none.

        Raises:
            BlockedByRobots: it disallows the page. PageUnavailable: it cannot be fetched. DeadlineExceeded.
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
        rules = asyncio.to_thread(_rule_and_delay, robots, url.target) if large else None
        forbidding, delay = _rule_and_delay(robots, url.target) if rules is None else await rules
        if forbidding is not None:
            raise BlockedByRobots(
                f"{url.origin}/robots.txt disallows this page ({excerpt(forbidding, 80)}). (The operator can "
                "disable this check: read.robots, or read.robots_exceptions for one domain.)"
            )
        return min(delay, _LONGEST_DELAY)

    async def sitemaps(self, url: WebUrl, deadline: Deadline) -> tuple[str, ...]:
        """Return the addresses of the sitemaps that a site's robots.txt lists; none if it is not respected here.

        Args:
            url: A page of the site.
            deadline: When they must be here.

        Raises:
            PageUnavailable: the file cannot be fetched. DeadlineExceeded.
        """
        return () if self._files is None else (await self._files.of(url, deadline)).sitemaps

    @asynccontextmanager
    async def visit(self, url: WebUrl, deadline: Deadline) -> AsyncGenerator[FetchSlot]:
        """Wait for a slot and admit one request to a site; see `FetchPolicy.visit`.

        Raises:
            BlockedByRobots, PageUnavailable: as `check`. PagePaced: the slot comes too late. DeadlineExceeded.
        """
        crawl_delay = await self.check(url, deadline)
        visit = FetchSlot()
        if self._replaying:
            yield visit
            return
        site = url.origin.partition("://")[2]
        delay = max(crawl_delay, self._delay)
        origin = "its robots.txt" if crawl_delay > self._delay else "the setting read.crawl_delay"
        async with self._slot(site, url, deadline):
            await self._wait_for_pause(site, url, deadline)
            await self._wait_for_turn(site, url, deadline, delay, origin)
            try:
                yield visit
            finally:
                if visit.status in _PAUSE_STATUSES and (seconds := retry_after(visit.headers)):
                    await self._store.set(f"rest:{site}", b"", fresh=min(seconds, _LONGEST_PAUSE))

    async def aclose(self) -> None:
        """Cancel running fetches."""
        if self._files is not None:
            await self._files.aclose()

    @asynccontextmanager
    async def _slot(self, site: str, url: WebUrl, deadline: Deadline) -> AsyncGenerator[None]:
        """Hold one of the site's slots for the block."""
        free = self._slots.setdefault(site, asyncio.Semaphore(self._at_once))
        try:
            async with asyncio.timeout(max(0.0, deadline.remaining() - _MARGIN)):
                await free.acquire()
        except TimeoutError as error:
            raise DeadlineExceeded(
                f"{url.host} is already serving {self._at_once} pages, and none finished in time. Try again."
            ) from error
        try:
            yield
        finally:
            free.release()

    async def _wait_for_pause(self, site: str, url: WebUrl, deadline: Deadline) -> None:
        """Wait as long as the site has requested, up to a limit."""
        entry = await self._store.get(f"rest:{site}")
        wait = entry.fresh_until - self._clock() if entry is not None else 0.0
        if wait > deadline.remaining():
            raise _pacing_error(url, "asked for a delay", wait)
        if wait > 0:
            await asyncio.sleep(wait)

    async def _wait_for_turn(self, site: str, url: WebUrl, deadline: Deadline, delay: float, origin: str) -> None:
        """Wait until the delay between two requests to the site is over; `origin` says who set it."""
        if not delay:
            return
        slot = await self._store.pace(f"site:{site}", interval=delay, max_wait=deadline.remaining())
        if not slot.granted:
            raise _pacing_error(url, f"allows one request every {delay:g} seconds, according to {origin}", slot.wait)
        if slot.wait > 0:
            await asyncio.sleep(slot.wait)


def _rule_and_delay(robots: Robots, target: str) -> tuple[str | None, float]:
    """Return the rule that disallows a path, and the site's crawl delay in seconds."""
    return robots.forbidding(target), robots.delay or 0.0


def _pacing_error(url: WebUrl, why: str, wait: float) -> PagePaced:
    seconds = f"{wait:,.0f} seconds" if wait >= 1.5 else "a second"
    return PagePaced(url.text, f"{url.host} {why}. Try again in {seconds}.", retry_after=round(wait, 3))


# Seconds: a day (RFC 9309, 2.4), then for a file that cannot be fetched.
_LIFE = CacheTtl(86_400.0, 6 * 86_400.0)
_SHORT = CacheTtl(60.0)  # for temporary conditions
_MAX_WAIT, _WAIT_SHARE = 5.0, 0.25  # seconds for the file, or this share of the time that is left if that is longer
_RETRY_PAUSE = 30.0  # seconds after a failure until the file is fetched again
_REMEMBERED = 1_000  # failures
_AT_ONCE = 50_000  # bytes that are parsed without a thread
_UNPACKED = 64  # files of ordinary size kept parsed
_HOPS = 5  # redirects (RFC 9309, 2.3.1.2)
_MISSING = frozenset({404, 410})


@dataclass(frozen=True, slots=True)
class _File:
    """The rules of a site, and how long they are valid."""

    robots: Robots
    ttl: CacheTtl = _LIFE


class RobotsFiles:
    """Fetches and caches robots.txt rules.

    Args:
        transport: Fetches the files, without its fetch policy.
        store: Stores them.
        user_agent: The User-Agent header; its product tokens select the rules.
        max_wait: Maximum seconds for one file; a call with much time waits for a quarter of it.
        clock: Returns monotonic seconds.
        store_clock: The time in seconds since the epoch, the store's own.
    """

    def __init__(
        self,
        transport: Transport,
        store: Store,
        user_agent: str,
        *,
        max_wait: float = _MAX_WAIT,
        clock: Callable[[], float] = time.monotonic,
        store_clock: Callable[[], float] = time.time,
    ) -> None:
        self._transport = transport
        self._cache = Cache(store, clock=store_clock)
        self._names = agent_names(user_agent)
        self._max_wait = max_wait
        self._clock = clock
        self._unpack = lru_cache(_UNPACKED)(Robots.unpack)
        self._codec: Codec[_File] = Codec(
            encode=lambda file: file.robots.pack(), decode=self._decode, ttl=lambda file: file.ttl
        )
        self._failed: OrderedDict[str, tuple[float, type[PageUnavailable], str, int | None]] = OrderedDict()

    def _decode(self, data: bytes) -> _File:
        return _File(Robots.unpack(data) if len(data) > _AT_ONCE else self._unpack(data))

    async def of(self, url: WebUrl, deadline: Deadline, *, share: float = 1.0) -> Robots:
        """Return the rules of a URL's site.

        Args:
            url: The URL.
            deadline: When the page must be here.
            share: The share of the remaining time that may be spent on it.

        Raises:
            PageUnavailable: they are not available now; `status` is that of a failing site, and None for an unreachable
                one. DeadlineExceeded: the deadline passed before.
        """
        origin = url.origin
        until, kind, reason, status = self._failed.get(origin, (0.0, PageUnavailable, "", None))
        if self._clock() < until:
            raise kind(url.text, reason, status=status)
        remaining = deadline.remaining()
        limited = deadline.capped(min(max(self._max_wait, _WAIT_SHARE * remaining), remaining * share))
        name = hashlib.sha256(repr((origin, sorted(self._names))).encode()).hexdigest()
        try:
            cached = await self._cache.get_or_load(
                f"robots:{name}",
                lambda: self._load(origin, limited),
                limited,
                self._codec,
                owner=LOCAL,  # robots.txt is the same for all tenants
            )
        except DeadlineExceeded as error:
            if deadline.passed:
                raise
            raise self._remember(origin, url, _unknown_file(f"{url.origin}/robots.txt", "timed out")) from error
        except PageUnavailable as error:
            is_missing_host = isinstance(error, HostNotFound) and str(error).startswith(
                f"{url.host} "
            )  # not a redirect's target
            kind = HostNotFound if is_missing_host else PageUnavailable
            raise self._remember(origin, url, str(error), error.status, kind) from error
        return cached.value.robots

    async def aclose(self) -> None:
        """Cancel running fetches."""
        await self._cache.aclose()

    async def _load(self, origin: str, deadline: Deadline) -> _File:
        address = f"{origin}/robots.txt"
        try:
            reply = await self._transport.fetch(
                address, deadline=deadline, headers={"Accept": "text/plain, */*;q=0.1"}, cap=MAX_BYTES, cut=True,
                hops=_HOPS, gated=False,
            )  # fmt: skip
        except (BlockedByPolicy, TooManyRedirects):
            return _File(NO_RULES, _SHORT)  # the guard reports whether the page itself is forbidden
        if reply.status >= 500:
            raise PageUnavailable(address, _unknown_file(address, f"failed (HTTP {reply.status})"), status=reply.status)
        if not 200 <= reply.status < 300:
            return _File(NO_RULES, _LIFE if reply.status in _MISSING else _SHORT)
        if len(reply.body) > _AT_ONCE:
            return _File(await asyncio.to_thread(parse_robots, reply.body, self._names))
        return _File(parse_robots(reply.body, self._names))

    def _remember(
        self,
        origin: str,
        url: WebUrl,
        reason: str,
        status: int | None = None,
        kind: type[PageUnavailable] = PageUnavailable,
    ) -> PageUnavailable:
        """Record a failure, and return it as the error of a page."""
        self._failed[origin] = (self._clock() + _RETRY_PAUSE, kind, reason, status)
        self._failed.move_to_end(origin)
        while len(self._failed) > _REMEMBERED:
            self._failed.popitem(last=False)
        return kind(url.text, reason, status=status)


def _unknown_file(address: str, what: str) -> str:
    return (
        f"{address} {what}, so Groundwire cannot tell whether it may read the page. Try again in a minute, or open "
        "another page. (The operator may disable this check: read.robots, or read.robots_exceptions for one domain.)"
    )
