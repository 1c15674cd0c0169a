"""Timeouts of blocks."""

from __future__ import annotations

import asyncio
import random
from collections.abc import Callable, Coroutine
from typing import Any

import pytest

from groundwire.deadline import Deadline, Timeout
from world.virtual_time import run_virtually


def virtually(test: Callable[[], Coroutine[Any, Any, None]]) -> Callable[[], None]:
    def run() -> None:
        run_virtually(test())

    run.__name__ = test.__name__
    return run


@virtually
async def test_blocks_end_when_their_time_is_up_in_whatever_order_they_began() -> None:
    loop = asyncio.get_running_loop()

    async def one(seconds: float, needs: float) -> None:
        began = loop.time()
        try:
            with Timeout(seconds):
                await asyncio.sleep(needs)
        except TimeoutError:
            assert seconds < needs
            assert loop.time() - began == pytest.approx(seconds)
        else:
            assert seconds > needs
            assert loop.time() - began == pytest.approx(needs)

    numbers = random.Random(7)
    for _ in range(20):
        async with asyncio.TaskGroup() as tasks:
            for _ in range(30):
                tasks.create_task(one(numbers.uniform(0.1, 9), numbers.uniform(0.1, 9)))
                await asyncio.sleep(numbers.choice((0, 0.05)))


@virtually
async def test_a_deadline_that_has_passed_ends_a_block_where_it_waits() -> None:
    late = Deadline.after(-1.0, asyncio.get_running_loop().time)
    with late.timeout():
        pass
    with pytest.raises(TimeoutError), late.timeout():
        await asyncio.sleep(1)


@virtually
async def test_the_inner_of_two_blocks_ends_alone_and_the_outer_one_with_it() -> None:
    with Timeout(5):
        with pytest.raises(TimeoutError), Timeout(1):
            await asyncio.sleep(3)
        await asyncio.sleep(1)
    began = asyncio.get_running_loop().time()
    with pytest.raises(TimeoutError), Timeout(1), Timeout(5) as inner:
        await asyncio.sleep(3)
    assert asyncio.get_running_loop().time() == pytest.approx(began + 1)
    assert not inner.expired


@virtually
async def test_a_canceled_task_is_canceled_and_not_late() -> None:
    ended: list[str] = []

    async def work() -> None:
        try:
            with Timeout(2):
                await asyncio.sleep(3)
        except BaseException as error:
            ended.append(type(error).__name__)
            raise

    task = asyncio.create_task(work())
    await asyncio.sleep(1)
    task.cancel()
    await asyncio.wait({task})
    assert task.cancelled()
    both = asyncio.create_task(work())
    await asyncio.sleep(0)
    asyncio.get_running_loop().call_at(asyncio.get_running_loop().time() + 2, both.cancel)
    await asyncio.wait({both})
    assert ended[0] == "CancelledError"
    assert both.cancelled() == (ended[1] == "CancelledError")


@virtually
async def test_what_ends_in_time_is_let_alone_later() -> None:
    with Timeout(1) as block:
        await asyncio.sleep(0.5)
    await asyncio.sleep(5)
    block.expire()
    assert not block.expired
    assert not asyncio.current_task().cancelling()  # type: ignore[union-attr]  # there is one


def test_a_block_needs_a_task() -> None:
    loop = asyncio.new_event_loop()
    loop.call_soon(loop.stop)
    loop.run_forever()
    with pytest.raises(RuntimeError), Timeout(1):
        pass
    loop.close()
