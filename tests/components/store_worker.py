"""A process that uses a store, for tests of several processes: `store_worker.py MODE URL ...`.

It prints `ready`, waits for a line, and prints what it found out as JSON.
"""

from __future__ import annotations

import asyncio
import json
import logging
import os
import resource
import sys
from logging.handlers import QueueHandler
from queue import SimpleQueue

from groundwire.errors import BudgetExceeded
from groundwire.routing.budget import Limits, SessionBudget
from groundwire.storage import open_store
from groundwire.storage.base import AssignNumbers, Numbers, Store

_BOUND = 20.0  # seconds; on a busy machine a test of exactness must not fall back


async def _main(mode: str, url: str, arguments: list[str]) -> None:
    store = open_store(url, timeout=_BOUND)
    await store.get("warm")
    if mode != "hammer":
        _say("ready")
        sys.stdin.readline()
    match mode:
        case "count":
            limit, tries = map(int, arguments)
            answers = await asyncio.gather(*(store.count("fleet", 1, limit=limit) for _ in range(tries)))
            _say(json.dumps(sum(answer.granted for answer in answers)))
        case "session":
            limit, tries = map(int, arguments)
            budget = SessionBudget(store, "fleet", Limits(searches=limit))
            takes = await asyncio.gather(*(budget.take() for _ in range(tries)), return_exceptions=True)
            refused = [end for end in takes if isinstance(end, BaseException)]
            assert all(isinstance(end, BudgetExceeded) and f"({limit}/{limit})" in str(end) for end in refused)
            _say(json.dumps(tries - len(refused)))
        case "pace":
            interval, tries = map(int, arguments)
            paces = [await store.pace("fleet", interval=interval) for _ in range(tries)]
            _say(json.dumps([pace.wait for pace in paces]))
        case "number":
            most, searches = map(int, arguments)
            given: dict[str, list[int]] = {}
            for search in range(searches):  # each shows ten of the fleet's pages, in an order of its own
                names = [f"page {(search * 7 + step * 13 + os.getpid()) % most}" for step in range(10)]
                groups = tuple((name.encode(),) for name in names)
                (answer,) = await store.batch((AssignNumbers("fleet", groups, b"%d" % search, 600),))
                assert isinstance(answer, Numbers)
                for name, number in zip(names, answer.numbers, strict=True):
                    given[name] = sorted({*given.get(name, []), number})
            _say(json.dumps(given))
        case "lease":
            _say(json.dumps(await store.lease("fleet", owner=arguments[0], ttl=float(arguments[1]))))
            sys.stdin.readline()
        case "hammer":
            while True:
                total = (await store.count("calls", 1)).total
                _say(json.dumps(total))
                await store.set(f"page {total % 50}", b"x" * 8_192, fresh=60)
        case "full":
            await _fill(store, int(arguments[0]))
    await store.aclose()


async def _fill(store: Store, most: int) -> None:
    told: SimpleQueue[logging.LogRecord] = SimpleQueue()
    logging.getLogger("groundwire.storage").addHandler(QueueHandler(told))
    await store.count("calls", 5)
    resource.setrlimit(resource.RLIMIT_FSIZE, (most, most))  # as a full disk: a write beyond it fails
    for number in range(200):
        await store.set(f"page {number}", b"x" * 8_192, fresh=60)
        assert await store.get(f"page {number}") is not None
    total = (await store.count("calls", 1)).total
    _say(json.dumps({"total": total, "warnings": told.qsize()}))


def _say(line: str) -> None:
    print(line, flush=True)


if __name__ == "__main__":
    asyncio.run(_main(sys.argv[1], sys.argv[2], sys.argv[3:]))
