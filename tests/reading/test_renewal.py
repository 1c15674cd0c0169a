"""What is started on first use and replaced when worn: one start for all who wait, and nothing is left at the end."""

from __future__ import annotations

import asyncio

import pytest

from groundwire.errors import Closed
from groundwire.reading.browser.renewal import Renewed


class Starts:
    """Starts numbers instead of processes, as soon as it may."""

    def __init__(self) -> None:
        self.may_start = asyncio.Event()
        self.started = 0
        self.worn: set[int] = set()
        self.ended: list[int] = []
        self.renewed = Renewed(self.start, lambda number: number not in self.worn, self.end)

    async def start(self) -> int:
        await self.may_start.wait()
        self.started += 1
        if self.started == 3:
            raise OSError("it does not start")
        return self.started

    async def end(self, number: int) -> None:
        self.ended.append(number)


async def test_one_start_serves_all_who_wait_and_outlives_the_one_who_gives_up() -> None:
    starts = Starts()
    first, *others = [asyncio.ensure_future(starts.renewed.get()) for _ in range(3)]
    await asyncio.sleep(0)
    first.cancel()
    starts.may_start.set()
    assert await asyncio.gather(*others) == [1, 1]
    assert await starts.renewed.get() == 1


async def test_the_worn_is_ended_and_replaced_and_a_failed_start_is_tried_again() -> None:
    starts = Starts()
    starts.may_start.set()
    assert await starts.renewed.get() == 1
    starts.worn.add(1)
    assert await starts.renewed.get() == 2
    assert starts.ended == [1]
    starts.worn.add(2)
    with pytest.raises(OSError, match="does not start"):
        await starts.renewed.get()
    assert await starts.renewed.get() == 4


async def test_closing_ends_what_runs_and_nothing_starts_after_it() -> None:
    starts = Starts()
    starts.may_start.set()
    await starts.renewed.get()
    await starts.renewed.aclose()
    assert starts.ended == [1]
    with pytest.raises(Closed):
        await starts.renewed.get()
