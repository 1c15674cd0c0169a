"""Services on loopback that are only slow: each is called once, and the last one is waited for."""

from __future__ import annotations

import asyncio
from collections.abc import Callable
from typing import Any

import pytest

from groundwire import AllProvidersFailed, Settings, Web
from groundwire.providers.searxng import SearXngSearchProvider
from groundwire.safety.guard import Guard
from groundwire.testing import InjectedFault
from groundwire.transport import Transport
from world import World

pytestmark = pytest.mark.req("B37")

Make = Callable[..., Settings]
DELAYS = (3.0, 4.5, 6.0, 6.4)  # seconds; an attempt has 6, the search 8
SLOW = 0.5  # seconds, more than an attempt has in the settings below


def pair(world: World, make: Make, **search: Any) -> Settings:
    """Return settings in which `searxng` comes first and `searxng:second` is behind it."""
    second = world.add_searxng("second")
    return make(
        search={"providers": ("searxng", "searxng:second"), "strategy": "fallback", **search},
        providers={"searxng": {"base_url": world.searxng.url}, "searxng:second": {"base_url": second.url}},
    )


async def test_the_only_service_answers_within_the_default_timeout_to_one_request(world: World, settings: Make) -> None:
    slow = [world.add_searxng(f"slow{seconds}") for seconds in DELAYS]
    for service, seconds in zip(slow, DELAYS, strict=True):
        service.fail(InjectedFault.delay(seconds), times=None)

    async def search(url: str) -> str | None:
        async with Web(settings(providers={"searxng": {"base_url": url}})) as web:
            found = await web.search("bm25")
            assert [attempt.outcome for attempt in found.attempts] == ["ok"]
            return found.provider

    assert await asyncio.gather(*(search(service.url) for service in slow)) == ["searxng"] * len(slow)
    assert [len(service.requests) for service in slow] == [1] * len(slow)


@pytest.mark.parametrize("strategy", ["hedge", "fallback"])
async def test_the_last_that_has_not_failed_gets_the_rest_of_the_time(
    world: World, settings: Make, strategy: str
) -> None:
    made = pair(world, settings, strategy=strategy, attempt_timeout=0.1)
    world.searxng.fail(InjectedFault.status(401), times=None)
    world.service("second").fail(InjectedFault.delay(SLOW), times=None)
    async with Web(made) as web:
        found = await web.search("bm25")
    assert found.provider == "searxng:second"
    assert len(world.service("second").requests) == 1


async def test_four_searches_at_a_slow_service_are_four_requests(world: World, settings: Make) -> None:
    world.searxng.fail(InjectedFault.delay(SLOW), times=None)
    async with Web(settings(search={"providers": ("searxng",), "attempt_timeout": 0.1})) as web:
        for number in range(4):
            assert (await web.search(f"bm25 {number}")).provider == "searxng"
    assert len(world.searxng.requests) == 4


async def test_the_timeout_of_a_call_raises_that_of_an_attempt(world: World, settings: Make) -> None:
    made = pair(world, settings, timeout=6.0, attempt_timeout=0.2)
    world.searxng.fail(InjectedFault.hang(), times=1)
    world.searxng.fail(InjectedFault.delay(SLOW), times=None)
    async with Web(made) as web:
        assert (await web.search("bm25")).provider == "searxng:second"
        assert (await web.search("bm25", timeout=600)).provider == "searxng"
    assert len(world.searxng.requests) == 2


async def test_an_error_names_the_setting_that_ended_the_attempt(world: World, settings: Make) -> None:
    made = pair(world, settings, attempt_timeout=0.2)
    world.searxng.fail(InjectedFault.hang(), times=None)
    world.service("second").fail(InjectedFault.status(401), times=None)
    async with Web(made) as web:
        with pytest.raises(AllProvidersFailed) as caught:
            await web.search("bm25")
    assert "no answer in 0.2 s, the limit of one attempt (search.attempt_timeout)" in str(caught.value)
    assert len(world.searxng.requests) == 1


async def test_a_longer_search_has_longer_attempts_where_they_have_no_limit_of_their_own(
    world: World, settings: Make
) -> None:
    world.searxng.fail(InjectedFault.hang(), times=None, when=lambda request: request.params["q"] == "rrf")
    world.searxng.fail(InjectedFault.delay(7.0), times=None)
    made = pair(world, settings)
    longer = made.model_copy(update={"search": made.search.model_copy(update={"timeout": 30.0})})
    async with Web(longer) as web, Web(made, timeout=30.0) as given:
        found = await asyncio.gather(web.search("bm25"), given.search("bm25"), web.search("rrf", timeout=9.0))
    assert [one.provider for one in found] == ["searxng", "searxng", "searxng:second"]


async def test_an_adapter_keeps_its_own_limit_and_names_it(world: World) -> None:
    class Impatient(SearXngSearchProvider):
        search_timeout = 0.2

    world.searxng.fail(InjectedFault.hang(), times=None)
    transport = Transport(Guard(allowed_origins=world.origins))
    made = Settings.model_validate({"search": {"timeout": 60.0}, "storage": {"url": "memory://"}})
    provider = Impatient(transport, base_url=world.searxng.url, name="searxng")
    async with Web(made, search_providers=[provider]) as web:
        with pytest.raises(AllProvidersFailed, match=r"no answer in 0\.2 s, its limit"):
            await web.search("bm25")
    await transport.aclose()
    assert len(world.searxng.requests) == 1
