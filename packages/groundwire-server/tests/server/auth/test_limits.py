"""The limits of a key hold over all gateways that share a store."""

from __future__ import annotations

from collections.abc import AsyncIterator, Callable
from pathlib import Path

import pytest

from groundwire.storage import MemoryStore, Store, open_store
from groundwire_server.auth.keys import KeyLimits
from groundwire_server.auth.rate_limits import Failures, Rates
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
    await gateways[0].take("other", limits)
    for _ in range(20):
        await gateways[0].take("without", KeyLimits())


async def test_who_asks_for_too_much_is_told_when_to_come_again() -> None:
    clock = Clock()
    rates = Rates(MemoryStore(clock=clock), 60, 0)
    for _ in range(10):
        await rates.take("k", KeyLimits())
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
        ((60, 3), {"rate": 18}, 3),
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


async def test_a_store_that_fails_counts_no_wrong_key() -> None:
    store = MemoryStore()
    await store.aclose()
    assert await Failures(store, burst=1).count("192.0.2.1") == 0.0
