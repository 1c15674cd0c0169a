"""A shared load runs under the call that started it: the calls that wait for it make no attempts and pay nothing."""

from __future__ import annotations

import asyncio
from collections.abc import Callable

import pytest

from groundwire import AllProvidersFailed, Settings, Web
from groundwire.deadline import Deadline
from groundwire.errors import DeadlineExceeded
from groundwire.providers.base import scope
from groundwire.routing.single_flight import InFlightLoad, SingleFlight
from groundwire.telemetry import PageDone, SearchDone
from groundwire.testing import InjectedFault
from world import World
from world.virtual_time import run_virtually

from .test_shared_health import Planned

Make = Callable[..., Settings]


class Records:
    """Keeps what calls came to."""

    def __init__(self) -> None:
        self.searches: list[SearchDone] = []
        self.pages: list[PageDone] = []

    def search_done(self, done: SearchDone) -> None:
        self.searches.append(done)

    def page_done(self, done: PageDone) -> None:
        self.pages.append(done)


async def test_a_search_that_waited_has_made_no_attempts(world: World, settings: Make) -> None:
    records = Records()
    async with Web(settings(cache={"enabled": True}), call_listeners=[records]) as web:
        found = await asyncio.gather(web.search("bm25"), web.search("bm25"))
    assert len(world.searxng.requests) == 1
    assert [response.cached for response in found].count(True) == 1
    assert sorted(len(done.attempts) for done in records.searches) == [0, 1]


async def test_nor_has_one_that_waited_for_a_failure(world: World, settings: Make) -> None:
    records = Records()
    world.searxng.fail(InjectedFault.status(403), times=None)
    async with Web(settings(cache={"enabled": True}), call_listeners=[records]) as web:
        failures = await asyncio.gather(web.search("bm25"), web.search("bm25"), return_exceptions=True)
    made = [len(failure.attempts) for failure in failures if isinstance(failure, AllProvidersFailed)]
    assert len(made) == 2, "both calls say why"
    assert sorted(len(done.attempts) for done in records.searches) == [0, made[0]]


async def test_nor_a_page_that_waited(world: World, settings: Make) -> None:
    records = Records()
    async with Web(settings(cache={"enabled": True}), call_listeners=[records]) as web:
        (row, *_) = (await web.search("bm25")).results
        pages = await asyncio.gather(web.open_page(row.url), web.open_page(row.url))
    assert [page.cached for page in pages].count(True) == 1
    assert sorted(len(done.attempts) for done in records.pages) == [0, 1]


def clock() -> float:
    return asyncio.get_running_loop().time()


async def never(load: InFlightLoad[str]) -> None:
    await asyncio.Event().wait()


def test_a_call_waits_beyond_its_deadline_only_for_work_that_ends_with_it() -> None:
    async def run() -> None:
        flight = SingleFlight()
        with pytest.raises(DeadlineExceeded):
            await flight.share("a", never, Deadline.after(1.0, clock))
        assert clock() == pytest.approx(1.25)
        assert not flight.active("a")
        long = asyncio.create_task(flight.share("a", never, Deadline.after(5.0, clock)))
        await asyncio.sleep(0)
        assert flight.active("a")
        with pytest.raises(DeadlineExceeded):
            await flight.share("a", never, Deadline.after(1.0, clock))
        assert clock() == pytest.approx(2.25)
        with pytest.raises(DeadlineExceeded):
            await long
        assert clock() == pytest.approx(6.5)
        await flight.aclose()

    run_virtually(run())


@pytest.mark.parametrize("shared", [True, False, None])
def test_a_result_is_for_later_calls_while_the_work_goes_on_if_it_may_be_shared(shared: bool | None) -> None:
    async def work(load: InFlightLoad[str]) -> None:
        if shared is None:  # what is not said may be shared
            load.resolve("one")
        else:
            load.resolve("one", shared=shared)
        await asyncio.sleep(10)

    async def run() -> None:
        flight = SingleFlight()
        assert await flight.share("a", work, Deadline.after(5.0, clock)) == ("one", True)
        assert clock() == pytest.approx(0.25), "the call that follows sees what the work has changed, if it ends soon"
        assert await flight.share("a", work, Deadline.after(5.0, clock)) == ("one", shared is False)
        await flight.aclose()

    run_virtually(run())


def test_what_is_known_of_a_provider_is_that_of_its_account() -> None:
    assert scope(Planned("p", None)) == "p:one"
    assert scope(Planned("p", None, account="")) == "p"
