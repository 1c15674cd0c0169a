"""How long what a site says about robots holds, and what each status means."""

from __future__ import annotations

from collections.abc import AsyncIterator

import pytest

from components.ruled import Ruled
from groundwire.deadline import Deadline
from groundwire.errors import PageUnavailable
from groundwire.routing.politeness import RobotsFiles
from groundwire.safety.guard import Guard
from groundwire.safety.urls import parse_url
from groundwire.storage import MemoryStore
from groundwire.testing import EmulatedResponse, World
from groundwire.transport import Transport

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
