"""Asks the three services as others do; started by `routing_sockets.py`, prints one row a query.

`sequential` is haytham's chain: one after the other, 15, 10 and 10 seconds for each read, no second try.
`langchain` are the same three requests as Runnables, joined by `with_fallbacks`.
"""

from __future__ import annotations

import asyncio
import contextlib
import json
import re
import sys
import time

import httpx

HOW, URLS, QUERIES, SCALE, RATE = sys.argv[1], json.loads(sys.argv[2]), int(sys.argv[3]), *map(float, sys.argv[4:])
NAMES = ("duckduckgo_lite", "brave", "tavily")
TIMEOUTS = (15.0, 10.0, 10.0)
_LINK = re.compile(r"""href="([^"]+)" class='result-link'""")


class Failed(Exception):
    pass


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
            raise Failed(f"{NAMES[self.place]}: no results (HTTP {reply.status_code})")
        return NAMES[self.place], found


async def main() -> None:
    providers = [Provider(place) for place in range(3)]

    async def sequential(query: str) -> tuple[str, list[str]]:
        errors = []
        for provider in providers:
            try:
                return await provider.search(query)
            except Exception as error:  # noqa: BLE001  # so does haytham
                errors.append(str(error))
        raise Failed(f"Web search unavailable. Errors: {'; '.join(errors)}")

    ask = sequential
    if HOW == "langchain":
        from langchain_core.runnables import RunnableLambda

        first, *others = (RunnableLambda(provider.search) for provider in providers)
        ask = first.with_fallbacks(others).ainvoke

    rows: list[tuple[float, str, str]] = []

    async def one(number: int) -> None:
        await asyncio.sleep(number / RATE * SCALE)
        began, answered_by, told = time.perf_counter(), "", ""
        try:
            answered_by, _ = await ask(f"search engines {number}")
        except Exception as error:  # noqa: BLE001  # whatever it is, the agent is told
            told = str(error) or type(error).__name__
        rows.append(((time.perf_counter() - began) / SCALE, answered_by, told))

    for _ in range(3):  # the first answers take long to make on a busy machine
        for provider in providers:
            with contextlib.suppress(httpx.HTTPError):
                await provider.search("search engines warm up")
    await ask("search engines warm up")
    print("ready", flush=True)
    sys.stdin.readline()
    await asyncio.gather(*(one(number) for number in range(QUERIES)))
    print(json.dumps(rows))


asyncio.run(main())
