"""How long what a site says about robots holds, and what each status means."""

from __future__ import annotations

import asyncio
import re
from collections.abc import AsyncIterator, Callable, Coroutine
from contextlib import asynccontextmanager
from typing import Any

import pytest

from components.ruled import Ruled
from groundwire.deadline import Deadline
from groundwire.errors import BlockedByRobots, DeadlineExceeded, PagePaced, PageUnavailable
from groundwire.routing.politeness import Politeness, RobotsFiles
from groundwire.safety.guard import Guard
from groundwire.safety.urls import parse_url
from groundwire.storage import MemoryStore
from groundwire.testing import EmulatedResponse
from groundwire.transport import Transport
from world import World
from world.virtual_time import run_virtually

pytestmark = pytest.mark.req("B3")

DAY = 86_400.0
RULES = "User-agent: *\nDisallow: /private\n"


class Asker:
    """Asks for the rules of a site.

    Attributes:
        ago: How many seconds ago the store believes that it is, while something is written.
        now: The time in which failures are remembered.
    """

    def __init__(self, site: Ruled) -> None:
        self.site = site
        self.now = 10_000.0
        self.ago = 0.0
        self._transport = Transport(Guard(allowed_origins=[site.url]))
        self._store = MemoryStore(clock=self._today)
        self.files = RobotsFiles(
            self._transport, self._store, "acme/1.0", clock=lambda: self.now, store_clock=self._today
        )

    def _today(self) -> float:
        return 1_800_000_000.0 - self.ago

    async def may_open(self, path: str = "/private") -> bool:
        robots = await self.files.of(parse_url(self.site.url + path), Deadline.after(60))
        return robots.permits(path)

    @property
    def requests(self) -> int:
        return len(self.site.robots_requests)

    async def aclose(self) -> None:
        await self.files.aclose()
        await self._transport.aclose()
        await self._store.aclose()


@pytest.fixture
async def asker(world: World) -> AsyncIterator[Asker]:
    made = Asker(world.add(Ruled("tides", RULES)))
    yield made
    await made.aclose()


@pytest.mark.parametrize(("age", "requests"), [(DAY - 0.5, 1), (DAY + 0.5, 2)])
async def test_rules_hold_for_a_day(asker: Asker, age: float, requests: int) -> None:
    asker.ago = age
    assert not await asker.may_open()
    asker.ago = 0
    asker.site.robots = EmulatedResponse.text("")
    assert await asker.may_open() is (requests == 2)
    assert asker.requests == requests


@pytest.mark.parametrize("later", [-0.5, 0.5])
@pytest.mark.parametrize(("status", "seconds"), [(404, DAY), (410, DAY), (403, 60.0), (429, 60.0), (499, 60.0)])
async def test_how_long_a_site_without_rules_is_believed(
    asker: Asker, status: int, seconds: float, later: float
) -> None:
    asker.site.robots = EmulatedResponse.text("", status=status)
    asker.ago = seconds + later
    assert await asker.may_open()
    asker.ago = 0
    asker.site.robots = EmulatedResponse.text(RULES)
    assert await asker.may_open() is (later < 0)


@pytest.mark.parametrize(("status", "are_rules"), [(200, True), (299, True), (300, False), (404, False)])
async def test_only_a_success_has_rules(asker: Asker, status: int, are_rules: bool) -> None:
    asker.site.robots = EmulatedResponse.text(RULES, status=status)
    assert await asker.may_open() is not are_rules


@pytest.mark.parametrize("status", [500, 503])
async def test_a_failure_is_remembered_for_half_a_minute(asker: Asker, status: int) -> None:
    asker.site.robots = EmulatedResponse.text("", status=status)
    for wait in (0.0, 29.5):
        asker.now += wait
        with pytest.raises(PageUnavailable, match=rf"failed \(HTTP {status}\)") as caught:
            await asker.may_open()
        assert caught.value.status == status
        assert asker.requests == 1
    asker.site.robots = EmulatedResponse.text(RULES)
    asker.now += 0.5
    assert not await asker.may_open()
    assert asker.requests == 2


@pytest.mark.parametrize("age", [7 * DAY - 0.5, 7 * DAY + 0.5])
async def test_old_rules_stand_in_for_six_more_days_of_failures(asker: Asker, age: float) -> None:
    asker.ago = age
    assert not await asker.may_open()
    asker.ago = 0
    asker.site.robots = EmulatedResponse.text("", status=503)
    if age < 7 * DAY:
        assert not await asker.may_open()
    else:
        with pytest.raises(PageUnavailable):
            await asker.may_open()


async def test_a_long_file_is_read_like_a_short_one(asker: Asker) -> None:
    asker.site.robots = EmulatedResponse.text("#" * 60_000 + "\n" + RULES)
    for _ in range(2):
        assert not await asker.may_open()
        assert await asker.may_open("/open")
    assert asker.requests == 1


class Visits:
    """Visits to sites without a robots.txt, on a virtual clock."""

    def __init__(self, **options: Any) -> None:
        self.clock = asyncio.get_running_loop().time
        self._transport = Transport(Guard())
        self._politeness = Politeness(
            self._transport,
            MemoryStore(clock=self.clock),
            robots=False,
            user_agent="acme/1.0",
            clock=self.clock,
            **options,
        )

    async def visit(
        self, host: str = "a.example", *, seconds: float = 5.0, status: int = 200, after: str = "", hold: float = 0.0
    ) -> float:
        """Visit a site, and return when the request was admitted."""
        url = parse_url(f"https://{host}/")
        async with self._politeness.visit(url, Deadline.after(seconds, self.clock)) as slot:
            slot.status, slot.headers = status, {"Retry-After": after} if after else {}
            admitted = self.clock()
            await asyncio.sleep(hold)
        return admitted

    async def aclose(self) -> None:
        await self._politeness.aclose()
        await self._transport.aclose()


def virtual(test: Callable[[], Coroutine[Any, Any, None]]) -> Callable[[], None]:
    def run() -> None:
        run_virtually(test())

    run.__name__ = test.__name__
    return run


@virtual
async def test_without_a_delay_six_requests_at_once_go_to_each_site() -> None:
    visits = Visits()
    moments = await asyncio.gather(*(visits.visit(hold=1.0) for _ in range(8)), visits.visit("b.example"))
    assert moments == [0.0] * 6 + [1.0] * 2 + [0.0]
    await visits.aclose()


@virtual
async def test_a_delay_is_kept_for_each_site() -> None:
    visits = Visits(delay=2.0)
    hosts = ("a.example", "b.example", "a.example", "a.example:8443")
    assert await asyncio.gather(*map(visits.visit, hosts)) == [0.0, 0.0, 2.0, 0.0]
    await visits.aclose()


@virtual
async def test_who_gets_no_place_is_told_just_before_the_deadline() -> None:
    visits = Visits(at_once=1)
    holding = asyncio.create_task(visits.visit(hold=3.0))
    await asyncio.sleep(1.0)
    with pytest.raises(DeadlineExceeded, match="already serving 1 pages"):
        await visits.visit(seconds=1.0)
    assert visits.clock() == pytest.approx(1.9)
    assert await visits.visit(seconds=1.3) == 3.0
    await holding
    await visits.aclose()


@pytest.mark.parametrize(
    ("status", "after", "rest"),
    [(429, "7", 7.0), (503, "7", 7.0), (429, "100000", 3_600.0), (200, "7", 0.0), (500, "7", 0.0), (429, "", 0.0)],
)
def test_a_rest_that_a_site_asks_for_is_kept_for_an_hour_at_most(status: int, after: str, rest: float) -> None:
    async def run() -> None:
        visits = Visits()
        await visits.visit(status=status, after=after)
        assert await visits.visit("b.example") == 0.0
        if rest:
            with pytest.raises(PagePaced, match=r"a\.example asked for a delay") as caught:
                await visits.visit(seconds=rest - 0.01)
            assert caught.value.retry_after == rest
        assert await visits.visit(seconds=rest + 1) == pytest.approx(rest)
        await visits.aclose()

    run_virtually(run())


@pytest.mark.parametrize(
    ("line", "delay"),
    [("", 0.0), ("Crawl-delay: 2.5", 2.5), ("Crawl-delay: 5", 5.0), ("Crawl-delay: 30", 5.0), ("Request-rate: 1/3", 3)],
)
async def test_the_delay_of_a_site_counts_up_to_five_seconds(world: World, line: str, delay: float) -> None:
    site = world.add(Ruled("tides", f"User-agent: *\n{line}\nDisallow: /private\n"))
    async with polite(site) as politeness:
        assert await politeness.check(parse_url(f"{site.url}/open"), Deadline.after(60)) == delay


@pytest.mark.parametrize("length", [80, 81])
async def test_a_long_rule_is_shown_in_part(world: World, length: int) -> None:
    rule = "Disallow: /" + "p" * (length - len("Disallow: /"))
    site = world.add(Ruled("tides", f"User-agent: *\n{rule}\n"))
    shown = rule if length == 80 else rule[:77] + "..."
    async with polite(site) as politeness:
        with pytest.raises(BlockedByRobots, match=re.escape(f"({shown})")):
            await politeness.check(parse_url(f"{site.url}/{'p' * 100}"), Deadline.after(60))


@asynccontextmanager
async def polite(site: Ruled) -> AsyncIterator[Politeness]:
    """The rules of a site, asked for by our own client."""
    transport = Transport(Guard(allowed_origins=[site.url]))
    politeness = Politeness(transport, MemoryStore(), user_agent="acme/1.0")
    yield politeness
    await politeness.aclose()
    await transport.aclose()


class Silent(Transport):
    """A client whose requests are never answered."""

    async def fetch(self, *args: Any, **options: Any) -> Any:
        await asyncio.Event().wait()


@pytest.mark.parametrize(
    ("seconds", "remote", "waits"),
    [(60.0, False, 15.0), (30.0, False, 7.5), (10.0, False, 5.0), (19.0, True, 5.0), (8.0, True, 4.0)],
)
def test_rules_are_waited_for_as_long_as_the_time_of_the_page_allows(
    seconds: float, remote: bool, waits: float
) -> None:
    async def run() -> None:
        clock = asyncio.get_running_loop().time
        transport = Silent(Guard())
        politeness = Politeness(transport, MemoryStore(clock=clock), user_agent="acme/1.0", clock=clock)
        url, deadline = parse_url("https://a.example/open"), Deadline.after(seconds, clock)
        if remote:
            assert await politeness.check(url, deadline, remote=True) == 0.0, "it may be reachable from there"
        else:
            with pytest.raises(PageUnavailable, match=r"robots\.txt timed out") as caught:
                await politeness.check(url, deadline)
            assert caught.value.status is None
        assert clock() == pytest.approx(waits, abs=0.3)
        await politeness.aclose()
        await transport.aclose()

    run_virtually(run())


@virtual
async def test_rules_that_take_all_of_the_time_of_a_page_are_its_deadline() -> None:
    clock = asyncio.get_running_loop().time
    transport = Silent(Guard())
    politeness = Politeness(transport, MemoryStore(clock=clock), user_agent="acme/1.0", clock=clock)
    with pytest.raises(DeadlineExceeded):
        await politeness.check(parse_url("https://a.example/open"), Deadline.after(4.0, clock))
    assert clock() == pytest.approx(4.0, abs=0.3)
    await politeness.aclose()
    await transport.aclose()


class Down(Transport):
    """A client for which every site is unreachable."""

    def __init__(self) -> None:
        super().__init__(Guard())
        self.asked: list[str] = []

    async def fetch(self, url: Any, **options: Any) -> Any:
        self.asked.append(str(url))
        raise PageUnavailable(str(url), "is down")


async def test_the_last_thousand_failures_are_remembered() -> None:
    now = [0.0]
    transport = Down()
    files = RobotsFiles(transport, MemoryStore(), "acme/1.0", clock=lambda: now[0])

    async def is_asked(number: int) -> bool:
        before = len(transport.asked)
        with pytest.raises(PageUnavailable):
            await files.of(parse_url(f"https://s{number}.example/"), Deadline.after(60))
        return len(transport.asked) > before

    assert all([await is_asked(number) for number in range(1_000)])
    assert not await is_asked(0)
    assert await is_asked(1_000)
    assert [await is_asked(number) for number in (1, 1_000, 0)] == [False, False, True]
    now[0] = 31.0
    assert await is_asked(2), "which makes it the latest"
    assert all([await is_asked(number) for number in range(2_000, 2_999)])
    assert not await is_asked(2)
    await files.aclose()
    await transport.aclose()
