"""Calls the three services like other libraries; started by `routing_sockets.py`, prints a row per query.

`chain` is that of document 001: one after the other, 15, 10 and 10 seconds for each read, no second try. `breaker` is
the textbook's, `race` asks all at once, `langchain` and `litellm` join the same three requests by the libraries' means.
"""

from __future__ import annotations

import asyncio
import contextlib
import json
import re
import sys
import time

import fallbacks
import httpx

HOW, URLS, QUERIES, SCALE, RATE = sys.argv[1], json.loads(sys.argv[2]), int(sys.argv[3]), *map(float, sys.argv[4:])
NAMES = ("duckduckgo_lite", "brave", "tavily")
TIMEOUTS = (15.0, 10.0, 10.0)
_LINK = re.compile(r"""href="([^"]+)" class='result-link'""")


class Provider:
    def __init__(self, place: int) -> None:
        self.place = place
        limits = httpx.Limits(max_connections=None)
        self.client = httpx.AsyncClient(base_url=URLS[place], timeout=TIMEOUTS[place] * SCALE, limits=limits)

    async def search(self, query: str) -> tuple[str, list[str]]:
        if self.place == 0:
            reply = await self.client.post("/lite/", data={"q": query})
            found = _LINK.findall(reply.raise_for_status().text)
        elif self.place == 1:
            headers = {"X-Subscription-Token": "test-key"}
            reply = await self.client.get("/res/v1/web/search", params={"q": query, "count": 5}, headers=headers)
            found = [row["url"] for row in reply.raise_for_status().json().get("web", {}).get("results", [])]
        else:
            body = {"query": query, "max_results": 5}
            reply = await self.client.post("/search", json=body, headers={"Authorization": "Bearer test-key"})
            found = [row["url"] for row in reply.raise_for_status().json().get("results", [])]
        if not found:
            raise fallbacks.Failed(f"{NAMES[self.place]}: no results (HTTP {reply.status_code})")
        return NAMES[self.place], found


class Timed:
    """A provider with the interface that `fallbacks` calls."""

    def __init__(self, place: int) -> None:
        self.inner = Provider(place)

    async def ask(self, query: int, timeout: float) -> str:
        """Search; the read's timeout is the client's, another one is the whole request's and scaled already."""
        whole = None if timeout == TIMEOUTS[self.inner.place] else timeout
        try:
            async with asyncio.timeout(whole):
                return (await self.inner.search(f"search engines {query}"))[0]
        except (httpx.HTTPError, ValueError, AttributeError, TypeError) as error:  # a status, a connection, other JSON
            raise fallbacks.Failed(f"{NAMES[self.inner.place]}: {error!r}") from error


async def main() -> None:
    timed = [Timed(place) for place in range(3)]
    providers = [one.inner for one in timed]
    fallbacks.BREAKER_OPEN *= SCALE
    fallbacks.BREAKER_TRY *= SCALE
    fallbacks.DEADLINE *= SCALE
    makers = {
        "chain": fallbacks.chain,
        "breaker": fallbacks.breaker,
        "race": fallbacks.race,
        "langchain": fallbacks.langchain,
        "litellm": fallbacks.litellm,
    }
    ask = makers[HOW](timed)

    rows: list[tuple[float, float, str, str]] = []

    async def one(number: int) -> None:
        await asyncio.sleep(number / RATE * SCALE)
        began, answered_by, told = time.perf_counter(), "", ""
        try:
            answered_by = await ask(number)
        except Exception as error:  # noqa: BLE001  # whatever it is, the agent is told
            told = str(error) or type(error).__name__
        rows.append((number / RATE, (time.perf_counter() - began) / SCALE, answered_by, told))

    for _ in range(3):  # the first answers take long to make on a busy machine
        for provider in providers:
            with contextlib.suppress(httpx.HTTPError, fallbacks.Failed):
                await provider.search("search engines warm up")
    print("ready", flush=True)
    sys.stdin.readline()
    await asyncio.gather(*(one(number) for number in range(QUERIES)))
    print(json.dumps(rows))


asyncio.run(main())
