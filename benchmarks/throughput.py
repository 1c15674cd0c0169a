"""Search servers side by side: Groundwire's gateway, litellm's proxy, SearXNG, and a bare aiohttp handler.

All search through one stand-in on loopback, which takes `--delay` seconds and gives ten results whose titles contain
the query; no query comes twice. Servers have one core, the client and the stand-in the other; two workers have both.
First a closed loop keeps `--flights` searches in flight for `--seconds`, `--rounds` times, each round in the opposite
order; medians are shown. `added` is the latency beyond the stand-in's delay, `CPU` what all processes of a server use
for an answer. Then an open loop sends for 30 s at `--loads` times what each server answered at best: the share of that
which is answered within 10 s of being sent, and by how many ms the sender itself was `late` at most. Answers whose
titles lack the query are `wrong`.

litellm is taken from a virtual environment with `litellm[proxy]==1.106.2`, SearXNG from a checkout with its
requirements and granian in its folder `.venv`; each is left out if it is not given.

    python benchmarks/throughput.py [--litellm VENV] [--searxng CHECKOUT]
"""

from __future__ import annotations

import argparse
import asyncio
import itertools
import math
import os
import resource
import statistics
import tempfile
import time
from collections import Counter
from collections.abc import AsyncIterator, Callable, Coroutine, Iterator, Sequence
from contextlib import ExitStack, asynccontextmanager
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any

import aiohttp
from gateway import RESULTS, gateway_of
from overload import DEADLINE, SETTINGS
from servers import Server, aiohttp_server, litellm, searxng

_STAND_IN, _BARE, _TWO = "the stand-in itself", "bare aiohttp", "Groundwire, 2 workers"
_IDLE = 500.0  # ms
_SENDING = 30.0  # seconds; at twice the capacity, the answers of a first-in-first-out queue are late after 10

Once = Callable[[], Coroutine[Any, Any, None]]


@dataclass
class Outcomes:
    """How some searches ended."""

    seconds: dict[str, list[float]] = field(default_factory=lambda: {"answered": []})
    """How long those of each outcome took."""
    rate: float = 0.0
    cpu: float = 0.0
    """Milliseconds for an answer."""
    lag: float = 0.0
    """Seconds by which a search was sent too late, at most."""

    def percentile(self, share: float, outcome: str = "answered") -> float:
        """Return within how many milliseconds this share of searches ended."""
        values = sorted(self.seconds.get(outcome, ()))
        return values[int(share * len(values))] * 1_000 if values else float("nan")


@asynccontextmanager
async def _asking(server: Server, numbers: Iterator[int]) -> AsyncIterator[tuple[Outcomes, Once]]:
    """Give the outcomes of searches and a function that searches once, and count CPU and time of the block."""
    found, before, began = Outcomes(), server.cpu(), time.perf_counter()
    how: dict[str, Any] = {"timeout": aiohttp.ClientTimeout(total=DEADLINE), "headers": server.headers}
    async with aiohttp.ClientSession(connector=aiohttp.TCPConnector(limit=0), trust_env=False, **how) as http:

        async def once() -> None:
            sent = time.perf_counter()
            outcome = await server.ask(http, next(numbers))
            found.seconds.setdefault(outcome, []).append(time.perf_counter() - sent)

        yield found, once
    answers = len(found.seconds["answered"])
    found.rate = answers / (time.perf_counter() - began)
    found.cpu = (server.cpu() - before) / answers * 1_000 if answers else math.nan


async def keep(server: Server, flights: int, seconds: float, numbers: Iterator[int]) -> Outcomes:
    """Keep so many searches in flight."""
    async with _asking(server, numbers) as (found, once):
        until = time.perf_counter() + seconds

        async def client() -> None:
            while time.perf_counter() < until:
                await once()

        await asyncio.gather(*(client() for _ in range(flights)))
    return found


async def send(server: Server, rate: float, seconds: float, numbers: Iterator[int]) -> Outcomes:
    """Send at a constant rate, whether or not earlier searches have ended."""
    async with _asking(server, numbers) as (found, once), asyncio.TaskGroup() as group:
        first = time.perf_counter()
        for number in range(int(rate * seconds)):
            due = first + number / rate
            await asyncio.sleep(max(0.0, due - time.perf_counter()))
            found.lag = max(found.lag, time.perf_counter() - due)
            group.create_task(once())
    return found


def main() -> None:
    """Measure, and print the tables."""
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    parser.add_argument("--litellm", type=Path, help="a virtual environment with litellm[proxy]")
    parser.add_argument("--searxng", type=Path, help="a checkout of SearXNG, with its environment in .venv")
    parser.add_argument("--delay", type=float, default=0.02, help="seconds that the stand-in takes")
    parser.add_argument("--flights", type=int, nargs="*", default=[1, 8, 32, 64, 256], help="searches in flight")
    parser.add_argument("--seconds", type=float, default=4.0, help="of a round of a closed loop")
    parser.add_argument("--rounds", type=int, default=3)
    parser.add_argument("--loads", type=float, nargs="*", default=[0.5, 1.0, 2.0, 4.0], help="times the capacity")
    options = parser.parse_args()
    hard = resource.getrlimit(resource.RLIMIT_NOFILE)[1]
    resource.setrlimit(resource.RLIMIT_NOFILE, (hard, hard))  # an open loop has thousands of connections
    cores = sorted(os.sched_getaffinity(0))
    with ExitStack() as stack:
        folder = Path(stack.enter_context(tempfile.TemporaryDirectory()))
        os.sched_setaffinity(0, cores[-1:])
        url, pid = stack.enter_context(aiohttp_server(folder, options.delay))
        servers = [Server(_STAND_IN, f"{url}/search", {}, pid)]
        for workers, of in (("1", cores[:1]), ("2", cores)):
            os.sched_setaffinity(0, of)  # what is started has it too
            (own := folder / workers).mkdir()
            ours, pid = stack.enter_context(gateway_of(SETTINGS.format(tavily=url), own, "--workers", workers))
            name = _TWO if workers == "2" else "Groundwire"
            servers.append(Server(name, f"{ours}/v1/search", {"limit": RESULTS}, pid))
        os.sched_setaffinity(0, cores[:1])
        bare, pid = stack.enter_context(aiohttp_server(folder, 0.0, url))
        servers.insert(1, Server(_BARE, f"{bare}/search", {}, pid))
        if options.litellm:
            servers.append(stack.enter_context(litellm(url, folder, options.litellm)))
        if options.searxng:
            servers.append(stack.enter_context(searxng(url, folder, options.searxng)))
        os.sched_setaffinity(0, cores[-1:])
        numbers = itertools.count()
        best = _closed(servers, options, numbers)
        _open([server for server in servers if server.name not in (_STAND_IN, _BARE, _TWO)], options, best, numbers)
        print(f"\nLoad of the machine at the end: {os.getloadavg()[0]:.1f}")


def _closed(servers: Sequence[Server], options: argparse.Namespace, numbers: Iterator[int]) -> dict[str, float]:
    """Print the table of closed loops, and return the largest rate of each server."""
    _head("in flight", "server", "a second", "added p50, p99 ms", "CPU ms", "beside bare aiohttp", "otherwise")
    best = dict.fromkeys((server.name for server in servers), 0.0)
    for flights in options.flights:
        rounds: dict[str, list[Outcomes]] = {server.name: [] for server in servers}
        for number in range(options.rounds):
            for server in servers[:: -1 if number % 2 else 1]:
                asyncio.run(keep(server, flights, options.seconds / 8, numbers))
                rounds[server.name].append(asyncio.run(keep(server, flights, options.seconds, numbers)))
        cpu = {name: statistics.median(one.cpu for one in found) for name, found in rounds.items()}
        for name, found in rounds.items():
            rate = statistics.median(one.rate for one in found)
            best[name] = max(best[name], rate)
            p50, p99 = (statistics.median(one.percentile(share) for one in found) for share in (0.5, 0.99))
            added, own = f"{p50 - options.delay * 1_000:,.0f}, {p99 - options.delay * 1_000:,.0f}", cpu[name]
            print(f"| {flights} | {name} | {rate:,.0f} | {added} ", end="")
            print(f"| {own:.2f} | {own / cpu[_BARE]:.1f} | {_others(found)} |", flush=True)
    return best


def _open(
    servers: Sequence[Server], options: argparse.Namespace, best: dict[str, float], numbers: Iterator[int]
) -> None:
    """Print the table of open loops."""
    _head("server", "sent", "a second", "answered", "p99 ms", "refusals p50, p99 ms", "CPU ms", "late ms", "otherwise")
    for server, times in itertools.product(servers, options.loads):
        rate = times * best[server.name]
        for _ in range(20):  # a server that still works on what nobody waits for is given time
            if asyncio.run(keep(server, 1, 0.5, numbers)).percentile(0.5) < _IDLE:
                break
        found = asyncio.run(send(server, rate, _SENDING, numbers))
        share = len(found.seconds["answered"]) / best[server.name] / _SENDING
        refusals = ", ".join(f"{found.percentile(one, 'refused'):,.0f}" for one in (0.5, 0.99))
        print(f"| {server.name} | {times:g} | {rate:,.0f} | {share:.0%} | {found.percentile(0.99):,.0f} ", end="")
        print(f"| {refusals} | {found.cpu:.2f} | {found.lag * 1_000:,.0f} | {_others([found])} |", flush=True)


def _others(found: Sequence[Outcomes]) -> str:
    counts = Counter[str]()
    for one in found:
        counts.update({outcome: len(taken) for outcome, taken in one.seconds.items() if outcome != "answered"})
    return ", ".join(f"{number:,} {outcome}" for outcome, number in counts.items()) or "0"


def _head(*columns: str) -> None:
    print(f"\n| {' | '.join(columns)} |\n|{' --- |' * len(columns)}", flush=True)


if __name__ == "__main__":
    main()
