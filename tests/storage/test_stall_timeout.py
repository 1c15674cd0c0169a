"""A store is waited for while it answers anybody, and no longer."""

from __future__ import annotations

import asyncio
import time

import pytest

from groundwire.storage.fallback_store import StallTimeout
from world.virtual_time import run_virtually

pytestmark = pytest.mark.req("B20")


async def _call(timeout: StallTimeout, seconds: float) -> float:
    """Make a call that takes so long; return how long it was waited for."""
    loop = asyncio.get_running_loop()
    began = loop.time()
    try:
        await timeout.wait(asyncio.sleep(seconds))
    except TimeoutError:
        return -(loop.time() - began)
    return loop.time() - began


def test_a_store_that_answers_nobody_is_given_up_after_the_bound() -> None:
    async def main() -> list[float]:
        timeout = StallTimeout(0.25)
        return await asyncio.gather(*(_call(timeout, 60.0) for _ in range(3)))

    assert run_virtually(main()) == pytest.approx([-0.25] * 3)


def test_a_store_that_answers_others_is_waited_for() -> None:
    async def main() -> float:
        timeout = StallTimeout(0.25)

        async def others() -> None:
            for _ in range(20):
                await _call(timeout, 0.1)

        busy = asyncio.create_task(others())
        waited = await _call(timeout, 1.9)
        await busy
        return waited

    assert run_virtually(main()) == pytest.approx(1.9)


def test_not_for_ever() -> None:
    async def main() -> float:
        timeout = StallTimeout(0.25)

        async def others() -> None:
            while True:
                await _call(timeout, 0.1)

        busy = asyncio.create_task(others())
        waited = await _call(timeout, 60.0)
        busy.cancel()
        return waited

    assert -5.3 < run_virtually(main()) < -4.9


async def test_that_this_process_was_busy_is_no_fault_of_the_store() -> None:
    async def call() -> bool:
        await asyncio.sleep(0)
        time.sleep(0.2)  # noqa: ASYNC251  # nothing of this process runs meanwhile
        for _ in range(5):  # an answer that has come is seen some turns of the loop later
            await asyncio.sleep(0)
        return True

    assert await StallTimeout(0.05).wait(call())


async def test_cancelling_goes_through() -> None:
    task = asyncio.create_task(StallTimeout(60.0).wait(asyncio.Event().wait()))
    await asyncio.sleep(0)
    task.cancel()
    with pytest.raises(asyncio.CancelledError):
        await task
