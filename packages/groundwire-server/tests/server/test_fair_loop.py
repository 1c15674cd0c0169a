"""On the server's event loop, a tenant with little to do waits for no more than a step of each of the others."""

from __future__ import annotations

import asyncio
from collections.abc import Callable
from typing import Any

import pytest

from groundwire.fair_queue import CURRENT_TENANT
from groundwire_server.fair_loop import FairLoop, run

pytestmark = pytest.mark.req("B18")


async def steps(name: str, count: int, done: list[str]) -> None:
    """Take steps for a tenant, each of which waits for its turn of the event loop."""
    CURRENT_TENANT.set(name)
    for _ in range(count):
        await asyncio.sleep(0)
        done.append(name)


def test_a_tenant_with_one_call_is_not_slowed_by_another_with_many() -> None:
    done = list[str]()

    async def work() -> None:
        heavy = [asyncio.create_task(steps("heavy", 20, done)) for _ in range(256)]
        await asyncio.gather(*heavy, asyncio.create_task(steps("light", 20, done)))

    run(work())
    light = [at for at, name in enumerate(done) if name == "light"]
    assert len(done) == 257 * 20
    assert light[-1] - light[0] == 2 * 19, "every second step"


def test_tenants_take_turns_and_keep_their_order() -> None:
    done = list[str]()

    async def work() -> None:
        loop = asyncio.get_running_loop()
        assert isinstance(loop, FairLoop)
        for name, number in (("a", 1), ("a", 2), ("a", 3), ("b", 1), ("", 1), ("b", 2), ("c", 1), ("", 2)):
            CURRENT_TENANT.set(name)
            loop.call_soon(done.append, f"{name}{number}")
        await asyncio.sleep(0)

    run(work())
    assert [step for step in done if len(step) == 2] == ["a1", "b1", "c1", "a2", "b2", "a3"]
    assert done.index("1") < done.index("2")


def test_steps_that_fail_or_are_canceled_leave_the_others_alone() -> None:
    done, faults = list[Any](), list[dict[str, Any]]()

    def fail() -> None:
        raise ValueError("a fault")

    async def work() -> None:
        loop = asyncio.get_running_loop()
        loop.set_exception_handler(lambda _, fault: faults.append(fault))
        CURRENT_TENANT.set("a")
        calls: list[Callable[[], object]] = [fail, lambda: done.append(1), lambda: done.append(CURRENT_TENANT.get())]
        handles = [loop.call_soon(call) for call in calls]
        handles[1].cancel()
        await asyncio.sleep(0)

    run(work())
    assert done == ["a"]
    assert [str(fault["exception"]) for fault in faults] == ["a fault"]
