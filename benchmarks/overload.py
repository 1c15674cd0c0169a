"""A gateway with more searches than the machine can carry: what is answered, what is refused, and what waits too long.

Three processes: the gateway with default settings, the provider (that of `throughput.py`, with other results for each
query), and this one, which sends. First
`--clients` clients ask one search after the other: what the gateway answers then is its capacity. Then searches are
sent at each of `--loads` times that rate, whether or not earlier ones have been answered. A search counts as refused
if the status is 503, the code `overloaded`, and there is a Retry-After; any other failure is listed. `beyond the
deadline` is how long a search took, from sending to the last byte, less `search.timeout`: the largest of it, and of 99
percent. Ends with 1 if that is more than 250 ms for 99 percent, if a search failed in another way, or if nothing was
answered.

With `--heavy 256` two tenants follow: one asks one search after the other, alone and then beside another with that many
in flight.

    python benchmarks/overload.py [--seconds 20] [--loads 1 2] [--clients 64] [--delay 0.2]
"""

from __future__ import annotations

import argparse
import asyncio
import itertools
import math
import os
import statistics
import sys
import tempfile
import time
from collections import Counter
from contextlib import suppress
from dataclasses import dataclass, field
from datetime import UTC, datetime
from pathlib import Path

import aiohttp
from gateway import RESULTS, gateway_of, keep_in_flight, searching, used
from servers import aiohttp_server

from groundwire.settings.sections import SearchSettings
from groundwire_server.auth.keys import KeyFile, make_key

DEADLINE = SearchSettings().timeout
SLOWER = 2.0  # times as long, at most, that a tenant waits beside another
TOLERATED = 0.25  # seconds beyond the deadline
PATIENCE = 6 * DEADLINE
SETTINGS = """
[search]
providers = ["tavily"]
limit = 10
[session]
max_searches = 0
[providers.tavily]
base_url = "{tavily}"
"""
KEYS = """
[server]
require_key = true
key_file = "{path}"
"""


@dataclass
class Load:
    """What became of the searches of one load."""

    answered: list[float] = field(default_factory=list)
    """Seconds that each took."""
    refused: list[float] = field(default_factory=list)
    others: Counter[str] = field(default_factory=Counter)
    late: list[float] = field(default_factory=list)
    """Seconds by which each search outlived its deadline; negative if it ended before."""
    lag: float = 0.0
    """Seconds by which a search was sent too late, at most."""

    @property
    def beyond(self) -> float:
        """The 99th percentile of the seconds beyond the deadline."""
        return max(0.0, _share(self.late, 0.99))

    @property
    def misses(self) -> list[str]:
        """Return what is wrong."""
        found = [f"{number} x {what}" for what, number in self.others.items()]
        if self.beyond > TOLERATED:
            found.append(f"p99 {self.beyond * 1_000:.0f} ms beyond the deadline, at most {TOLERATED * 1_000:.0f}")
        return found if self.answered else [*found, "nothing was answered"]


async def offer(url: str, rate: float, seconds: float, numbers: itertools.count[int]) -> Load:
    """Send searches at a constant rate, and return what became of them."""
    load, loop = Load(), asyncio.get_running_loop()
    timeout = aiohttp.ClientTimeout(total=PATIENCE)
    connector = aiohttp.TCPConnector(limit=0)
    async with aiohttp.ClientSession(connector=connector, timeout=timeout, trust_env=False) as http:

        async def one() -> None:
            began = loop.time()
            try:
                body = {"query": f"search engines {next(numbers)}"}
                async with http.post(f"{url}/v1/search", json=body) as response:
                    answer = await response.json()
                    took = loop.time() - began
                    if response.status == 200 and len(answer["results"]) == RESULTS:
                        load.answered.append(took)
                    elif answer["error"]["code"] == "overloaded" and "Retry-After" in response.headers:
                        load.refused.append(took)
                    else:
                        load.others[f"{response.status} {answer['error']['message']}"[:200]] += 1
            except (aiohttp.ClientError, TimeoutError, OSError, KeyError, ValueError) as error:
                took = loop.time() - began
                load.others[f"{error!r}"[:200]] += 1
            load.late.append(took - DEADLINE)

        sending, first = set[asyncio.Task[None]](), loop.time()
        for number in range(int(rate * seconds)):
            due = first + number / rate
            await asyncio.sleep(max(0.0, due - loop.time()))
            load.lag = max(load.lag, loop.time() - due)
            sending.add(asyncio.create_task(one()))
        await asyncio.gather(*sending)
    return load


def _share(values: list[float], share: float) -> float:
    ordered = sorted(values)
    return ordered[min(len(ordered) - 1, math.ceil(share * len(ordered)))] if ordered else math.nan


def _pin(pid: int, other: int) -> None:
    """Give the gateway a core of its own, and all three precedence over other work where that is permitted."""
    cores = sorted(os.sched_getaffinity(0))
    for process in (pid, other, os.getpid()):
        for task in Path(f"/proc/{process}/task").iterdir() if len(cores) > 1 else ():
            os.sched_setaffinity(int(task.name), cores[:1] if process == pid else cores[1:])
        with suppress(OSError):
            Path(f"/proc/{process}/autogroup").write_text("-19")  # of the session: processes of others have their own


async def run(options: argparse.Namespace) -> list[str]:
    """Measure the capacity and each load, print a table, and return what is wrong."""
    numbers, missed = itertools.count(), list[str]()
    with tempfile.TemporaryDirectory() as folder, aiohttp_server(Path(folder), options.delay) as provider:
        with gateway_of(SETTINGS.format(tavily=provider[0]), Path(folder)) as (url, pid):
            _pin(pid, provider[1])
            asks = {"searches": (searching(f"{url}/v1/search", {}, {}, numbers), options.clients)}
            await keep_in_flight(asks, 3.0)
            before = used(pid)
            calls, seconds = await keep_in_flight(asks, options.seconds / 2)
            capacity = len(calls["searches"].seconds) / seconds
            cpu = (used(pid) - before) / seconds
            print(f"capacity: {capacity:.0f} searches a second, {cpu:.2f} of a core, lost {calls['searches'].lost}\n")
            head = "load | sent/s | answered | refused | otherwise | p50, p99 s | refusal ms | late ms | cores"
            print(f"| {head} |\n|{' --- |' * 9}", flush=True)
            for times in options.loads:
                before, began = used(pid), time.monotonic()
                load = await offer(url, times * capacity, options.seconds, numbers)
                cores = (used(pid) - before) / (time.monotonic() - began)
                refusal = ", ".join(f"{_share(load.refused, share) * 1_000:.0f}" for share in (0.5, 0.99))
                middle = max(0.0, statistics.median(load.late)) * 1_000
                print(
                    f"| {times:g} | {times * capacity:.0f} | {len(load.answered)} | {len(load.refused)} "
                    f"| {load.others.total()} | {_share(load.answered, 0.5):.2f}, {_share(load.answered, 0.99):.2f} "
                    f"| {refusal} | {middle:.0f}, {load.beyond * 1_000:.0f} | {cores:.2f} |",
                    flush=True,
                )
                if load.lag > TOLERATED:
                    print(f"(the sender was {load.lag * 1_000:.0f} ms late at most)")
                missed += [f"load {times:g}: {one}" for one in load.misses]
        if options.heavy:
            missed += await share(*provider, options)
    return missed


async def share(provider: str, engine: int, options: argparse.Namespace) -> list[str]:
    """Measure a tenant with one search at a time, alone and beside a heavy one, and return what is wrong."""
    with tempfile.TemporaryDirectory() as folder:
        path, keys, numbers = Path(folder) / "keys.json", list[dict[str, str]](), itertools.count()
        for name in ("light", "heavy"):
            key, record = make_key(name, datetime.now(UTC))
            KeyFile(path).add(record)
            keys.append({"Authorization": f"Bearer {key}"})
        with gateway_of((SETTINGS + KEYS).format(tavily=provider, path=path), Path(folder)) as (url, pid):
            _pin(pid, engine)
            light, heavy = (searching(f"{url}/v1/search", {}, key, numbers) for key in keys)
            await keep_in_flight({"warm": (heavy, options.clients)}, 3.0)
            alone, _ = await keep_in_flight({"light": (light, 1)}, options.seconds)
            beside, _ = await keep_in_flight({"light": (light, 1), "heavy": (heavy, options.heavy)}, options.seconds)
    print("\n| the light tenant | searches | lost | p50, p99 ms |\n| --- | --- | --- | --- |")
    for name, calls in (("alone", alone["light"]), (f"beside {options.heavy} in flight", beside["light"])):
        both = f"{calls.percentile(0.5):.0f}, {calls.percentile(0.99):.0f}"
        print(f"| {name} | {len(calls.seconds)} | {calls.lost} | {both} |")
    print(f"the heavy tenant: {len(beside['heavy'].seconds)} answered, {beside['heavy'].lost} lost")
    times = beside["light"].percentile(0.5) / alone["light"].percentile(0.5)
    missed = [f"the light tenant waits {times:.1f} times as long, at most {SLOWER:g}"] if times > SLOWER else []
    return [*missed, *([f"{beside['light'].lost} of the light tenant lost"] if beside["light"].lost else [])]


def main() -> None:
    """Measure, and say what is wrong."""
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    parser.add_argument("--seconds", type=float, default=20.0, help="for each load")
    parser.add_argument("--loads", type=float, nargs="*", default=[1.0, 2.0], help="times the capacity")
    parser.add_argument("--clients", type=int, default=64, help="that measure the capacity")
    parser.add_argument("--delay", type=float, default=0.2, help="seconds that the provider takes")
    parser.add_argument("--heavy", type=int, default=0, help="searches that one tenant has in flight beside another")
    if missed := asyncio.run(run(parser.parse_args())):
        sys.exit("Missed:\n- " + "\n- ".join(missed))


if __name__ == "__main__":
    main()
