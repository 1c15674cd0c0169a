"""The limits of a key hold over all gateways that share a store."""

from __future__ import annotations

from collections.abc import AsyncIterator, Callable
from pathlib import Path

import pytest

from groundwire.storage import MemoryStore, Store, open_store
from groundwire.storage.base import Pace
from groundwire_server.auth.keys import KeyLimits
from groundwire_server.auth.rate_limits import Failures, Rates, rate_headers
from groundwire_server.error_body import Failed


class Clock:
    def __init__(self) -> None:
        self.now = 1_000.0

    def __call__(self) -> float:
        return self.now


@pytest.fixture(params=["memory", "sqlite"])
async def stores(request: pytest.FixtureRequest, tmp_path: Path) -> AsyncIterator[Callable[[], tuple[Store, Store]]]:
    """Make what two gateways hold of one store."""
    made: list[Store] = []

    def make() -> tuple[Store, Store]:
        if request.param == "memory":
            made.append(MemoryStore())
            return made[0], made[0]
        url = f"sqlite:///{tmp_path / 'store.sqlite3'}"
        made.extend((open_store(url, timeout=60.0), open_store(url, timeout=60.0)))
        return made[0], made[1]

    yield make
    for store in made:
        await store.aclose()


async def test_one_rate_for_two_gateways(stores: Callable[[], tuple[Store, Store]]) -> None:
    gateways = [Rates(store, 0, 0) for store in stores()]
    limits = KeyLimits(rate=1, burst=6)

    async def take(number: int) -> int:
        try:
            await gateways[number % 2].take("k", limits)
        except Failed as refusal:
            return refusal.status if refusal.problem.retry_after else 0
        return 200

    given = [await take(number) for number in range(12)]
    assert given == [200] * 6 + [429] * 6
    assert await gateways[0].take("other", limits)
    assert await gateways[0].take("without", KeyLimits()) == {}


async def test_who_asks_for_too_much_is_told_when_to_come_again() -> None:
    clock = Clock()
    rates = Rates(MemoryStore(clock=clock), 60, 0)
    for _ in range(10):
        headers = await rates.take("k", KeyLimits())
    assert headers == {"ratelimit-policy": '"requests";q=10;w=10', "ratelimit": '"requests";r=0;t=10'}
    with pytest.raises(Failed, match="60 requests a minute, in bursts of 10") as caught:
        await rates.take("k", KeyLimits())
    assert caught.value.status == 429
    assert caught.value.problem.retry_after == pytest.approx(1.0)
    clock.now += 1
    await rates.take("k", KeyLimits())


@pytest.mark.parametrize(
    ("general", "own", "burst"),
    [
        ((60, 0), {}, 10),
        ((60, 3), {}, 3),
        ((60, 3), {"rate": 12}, 2),
        ((60, 3), {"rate": 13}, 3),
        ((60, 3), {"rate": 12, "burst": 7}, 7),
        ((60, 3), {"burst": 7}, 3),
        ((0, 3), {"rate": 1}, 1),
    ],
)
async def test_a_keys_own_rate_comes_with_its_own_burst(
    general: tuple[int, int], own: dict[str, int], burst: int
) -> None:
    clock = Clock()
    rates = Rates(MemoryStore(clock=clock), *general)
    for _ in range(burst):
        await rates.take("k", KeyLimits.model_validate(own))
    with pytest.raises(Failed):
        await rates.take("k", KeyLimits.model_validate(own))


@pytest.mark.parametrize(
    ("pace", "left", "reset"),
    [
        (Pace(granted=True, wait=0, backlog=1.0), 9, 1),
        (Pace(granted=True, wait=0, backlog=10.0), 0, 10),
        (Pace(granted=True, wait=0, backlog=9.1), 0, 10),
        (Pace(granted=False, wait=0.4, backlog=9.4), 0, 1),
    ],
)
def test_what_a_client_is_told(pace: Pace, left: int, reset: int) -> None:
    headers = rate_headers(pace, 1.0, 10)
    assert headers == {"ratelimit-policy": '"requests";q=10;w=10', "ratelimit": f'"requests";r={left};t={reset}'}


@pytest.mark.parametrize(
    ("one", "other", "same"),
    [
        ("192.0.2.1", "192.0.2.1", True),
        ("192.0.2.1", "192.0.2.2", False),
        ("2001:db8:0:1::1", "2001:db8:0:1:ffff:ffff:ffff:ffff", True),
        ("2001:db8:0:1::1", "2001:db8::1", False),
        ("2001:db8::8000:0:0:1", "2001:db8::1", True),
        ("fe80::1%eth0", "fe80::1%eth1", True),
        ("::ffff:192.0.2.1", "192.0.2.1", True),
        ("::ffff:192.0.2.1", "::ffff:192.0.2.2", False),
        ("a name", "a name", True),
        ("a name", "another", False),
    ],
)
async def test_wrong_keys_are_counted_by_address_and_by_network(one: str, other: str, same: bool) -> None:
    clock = Clock()
    failures = Failures(MemoryStore(clock=clock))
    assert [await failures.count(one) for _ in range(10)] == [0.0] * 10
    assert await failures.count(one) == pytest.approx(6.0)
    assert await failures.count(other) == (pytest.approx(6.0) if same else 0.0)
    clock.now += 5.5
    assert await failures.count(one) == 1.0, "at least a second"
    clock.now += 0.5
    assert await failures.count(one) == 0.0


def test_a_backlog_beyond_the_burst_leaves_nothing() -> None:
    told = rate_headers(Pace(granted=True, wait=0.0, backlog=70.0), 10.0, 6)
    assert told["ratelimit"] == '"requests";r=0;t=70'


async def test_a_store_that_fails_counts_no_wrong_key() -> None:
    store = MemoryStore()
    await store.aclose()
    assert await Failures(store, burst=1).count("192.0.2.1") == 0.0


@pytest.mark.parametrize(
    ("backlog", "interval", "burst", "left"), [(4.0, 4.0, 6, 5), (0.5, 0.5, 4, 3), (1.1, 0.5, 4, 1), (2.0, 0.5, 4, 0)]
)
def test_how_many_requests_are_left_at_another_pace(backlog: float, interval: float, burst: int, left: int) -> None:
    told = rate_headers(Pace(granted=True, wait=0.0, backlog=backlog), interval, burst)
    assert told["ratelimit"].startswith(f'"requests";r={left};')
