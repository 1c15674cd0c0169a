"""Calls the three services through `Web` with one strategy; started by `routing_sockets.py`, prints a row per query.

Its clocks run faster than the machine's: they are changed before anything that reads them is loaded, and the event
loop waits for as much less.
"""

from __future__ import annotations

import asyncio
import contextlib
import json
import selectors
import sys
import time
from collections.abc import Callable

STRATEGY, URLS, QUERIES, SCALE, RATE = sys.argv[1], json.loads(sys.argv[2]), int(sys.argv[3]), *map(float, sys.argv[4:])


def faster(clock: Callable[[], float]) -> Callable[[], float]:
    began = clock()
    return lambda: began + (clock() - began) / SCALE


time.monotonic, time.perf_counter = faster(time.monotonic), faster(time.perf_counter)

from groundwire import Settings, Web
from groundwire.errors import GroundwireError


class Selector(selectors.DefaultSelector):  # type: ignore[misc,valid-type]
    def select(self, timeout: float | None = None) -> list[tuple[selectors.SelectorKey, int]]:
        return super().select(timeout * SCALE if timeout and timeout > 0 else timeout)


async def main() -> None:
    names = ("duckduckgo_lite", "brave", "tavily")
    settings = Settings.model_validate(
        {
            "search": {"providers": names, "strategy": STRATEGY},
            "session": {"max_searches": 0},
            "storage": {"url": "memory://"},
            "cache": {"enabled": False},
            "archive": {"enabled": False},
            "providers": {name: {"base_url": url} for name, url in zip(names, URLS, strict=True)},
            "keys": {"BRAVE_API_KEY": "test-key", "TAVILY_API_KEY": "test-key"},
        }
    )
    rows: list[tuple[float, float, str, str]] = []
    async with Web(settings) as web:

        async def one(number: int) -> None:
            await asyncio.sleep(number / RATE)
            began, provider, told = time.perf_counter(), "", ""
            try:
                response = await web.search(f"search engines {number}")
                provider = response.provider if response.results else ""
            except GroundwireError as error:
                told = str(error)
            rows.append((number / RATE, time.perf_counter() - began, provider, told))

        for _ in range(3):  # the first answers take long to make on a busy machine
            with contextlib.suppress(GroundwireError):
                await web.search("search engines warm up", strategy="fuse")
        print("ready", flush=True)
        sys.stdin.readline()
        await asyncio.gather(*(one(number) for number in range(QUERIES)))
    print(json.dumps(rows))


with asyncio.Runner(loop_factory=lambda: asyncio.SelectorEventLoop(Selector())) as runner:
    runner.run(main())
