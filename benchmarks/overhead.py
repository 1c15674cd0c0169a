"""What one search call costs: ours beside bare aiohttp and its peers, against one local server in one run.

The server is a process of its own (the miniature web's services, ten results of some 250 characters, each answer made
once and kept), so that its work does not count. Each contender is a process of its own. It asks 20 times to warm up,
then `--calls` times one after the other, then as often in turn with a raw socket, then twice as often with `--flights`
in flight (functions that block get as many threads), each phase for `--seconds` at most; 64 further calls are watched
for connections that are opened. CPU time is user and system time of all threads; `added` is the median wall time of a
call less that of the raw socket; `start` is the CPU time from before the first import until the first answer. The best
of `--rounds` interleaved rounds is shown, of memory the most.

    python benchmarks/overhead.py [--calls 300] [--flights 64] [--rounds 3] [--seconds 4] [--only groundwire]
"""

from __future__ import annotations

import argparse
import json
import os
import subprocess
import sys
from collections.abc import Iterator
from contextlib import contextmanager
from dataclasses import dataclass

import peers
from contenders import CONTENDERS, Contender

BASE, PEER = "bare aiohttp, json.loads", "tavily-python, one client"
LEAST = 1_200  # calls a second and core at 64 in flight, with everything on
MOST_ADDED = 3.0  # times what bare aiohttp adds
MOST_MEMORY = 60.0  # MB

SERVER = """
import json, sys
from groundwire.testing import Endpoint, World
class AtOnce(Endpoint):
    def __init__(self, inner):
        super().__init__(inner.name + "-at-once")
        self.inner, self.kept = inner, {}
    def handle(self, request):
        if request.path not in self.kept:
            self.kept[request.path] = self.inner.handle(request)
        self.forget()
        return self.kept[request.path]
with World() as world:
    names = ("tavily", "searxng", "brave", "duckduckgo_lite")
    urls = {name: world.add(AtOnce(world.service(name))).url for name in names}
    print(json.dumps(urls | {"nobody": world.closed_url}), flush=True)
    sys.stdin.read()
"""

FRAME = r"""
import asyncio, inspect, itertools, json, resource, socket, statistics, sys, time
from concurrent.futures import ThreadPoolExecutor
from urllib.parse import urlsplit
URLS, CALLS, FLIGHTS, SECONDS = json.loads(sys.argv[1]), int(sys.argv[2]), int(sys.argv[3]), float(sys.argv[4])
NUMBER = itertools.count(100_000)
def words():
    return f"search engines {next(NUMBER)}"
BEGAN = time.process_time()
{body}
class Raw:
    def __init__(self):
        url = urlsplit(URLS["tavily"])
        self.line = socket.create_connection((url.hostname, url.port))
        body = b'{"query": "search engines", "max_results": 10}'
        self.asked = b"\r\n".join((b"POST /search HTTP/1.1", b"Host: " + url.netloc.encode(),
            b"Authorization: Bearer test-key", b"Content-Type: application/json",
            b"Content-Length: %d" % len(body), b"", body))
    def ask(self):
        self.line.sendall(self.asked)
        read = b""
        while b"\r\n\r\n" not in read:
            read += self.line.recv(65536)
        head, _, rest = read.partition(b"\r\n\r\n")
        left = int(head.lower().partition(b"content-length:")[2].split()[0]) - len(rest)
        while left > 0:
            left -= len(self.line.recv(65536))
async def main():
    asyncio.get_running_loop().set_default_executor(ThreadPoolExecutor(FLIGHTS))
    async with ready() as search:
        blocking = not inspect.iscoroutinefunction(search)
        async def ask():
            return await asyncio.to_thread(search) if blocking else await search()
        async def direct():
            return search() if blocking else await search()
        async def cpu(width, one, calls):
            left, done, began, until = iter(range(calls)), 0, time.process_time(), time.monotonic() + SECONDS
            async def some():
                nonlocal done
                for _ in left:
                    if not await one():
                        raise SystemExit("no results")
                    done += 1
                    if time.monotonic() > until:
                        return
            await asyncio.gather(*(some() for _ in range(width)))
            return (time.process_time() - began) / done
        async def added():
            raw, ours, until, floor = Raw(), [], time.monotonic() + SECONDS, []
            raw.ask()
            while len(ours) < CALLS and time.monotonic() < until:
                moments = [time.perf_counter()]
                raw.ask()
                moments.append(time.perf_counter())
                await direct()
                moments.append(time.perf_counter())
                floor.append(moments[1] - moments[0])
                ours.append(moments[2] - moments[1])
            return statistics.median(ours) - statistics.median(floor)
        if await direct() < 5:
            raise SystemExit("too few results")
        start = time.process_time() - BEGAN
        for _ in range(20):
            await direct()
        figures = {"start": start, "alone": await cpu(1, direct, CALLS), "added": await added()}
        await asyncio.gather(*(ask() for _ in range(FLIGHTS)))
        figures["crowd"] = await cpu(FLIGHTS, ask, 2 * CALLS)
        figures["memory"] = resource.getrusage(resource.RUSAGE_SELF).ru_maxrss / 1024
        opened = 0
        def heard(event, arguments):
            nonlocal opened
            opened += event == "socket.connect"
        sys.addaudithook(heard)
        for _ in range(64):
            await direct()
        print(json.dumps(figures | {"opened": opened / 64}))
asyncio.run(main())
"""


@dataclass(frozen=True)
class Cost:
    """What a call of one contender costs, in seconds of CPU time unless said otherwise."""

    alone: float
    added: float  # seconds of wall time
    crowd: float
    start: float
    opened: float  # connections
    memory: float  # MB

    @classmethod
    def best(cls, runs: list[Cost]) -> Cost:
        least = {name: min(getattr(run, name) for run in runs) for name in cls.__dataclass_fields__}
        return cls(**least | {"memory": max(run.memory for run in runs)})


def main() -> None:
    """Run all contenders and print the table."""
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    parser.add_argument("--calls", type=int, default=300)
    parser.add_argument("--flights", type=int, default=64)
    parser.add_argument("--rounds", type=int, default=3)
    parser.add_argument("--seconds", type=float, default=4.0, help="the longest time for one phase")
    parser.add_argument("--only", default="", help="those with this in their names, bare aiohttp and tavily-python")
    options = parser.parse_args()
    peers.install()
    chosen = {name: one for name, one in CONTENDERS.items() if options.only in name or name in (BASE, PEER)}
    rounds: dict[str, list[Cost]] = {name: [] for name in chosen}
    with _served() as urls:
        for number in range(options.rounds):
            for name, contender in chosen.items():
                print(f"round {number + 1} of {options.rounds}: {name}", file=sys.stderr)
                rounds[name].append(_measure(name, contender, urls, options))
    _print({name: Cost.best(runs) for name, runs in rounds.items()}, options.flights)


def _print(costs: dict[str, Cost], flights: int) -> None:
    base, peer = costs[BASE], costs[PEER]
    print(
        "| contender | service | CPU µs | beside tavily-python | added µs | beside aiohttp "
        f"| CPU µs at {flights} | calls/s/core at {flights} | connections a call | start, CPU ms | peak MB |"
    )
    print(f"|{' --- |' * 11}")
    for name, cost in costs.items():
        connections = "?" if "ddgs" in name else f"{cost.opened:.2f}"  # ddgs connects from Rust, unseen by the audit
        print(
            f"| {name} | {CONTENDERS[name].service} | {cost.alone * 1e6:,.0f} | {cost.alone / peer.alone:.2f} "
            f"| {cost.added * 1e6:,.0f} | {cost.added / base.added:.2f} | {cost.crowd * 1e6:,.0f} "
            f"| {1 / cost.crowd:,.0f} | {connections} | {cost.start * 1e3:,.0f} | {cost.memory:.0f} |"
        )
    print("\nTargets of a call with everything on:\n")
    for name, cost in costs.items():
        if "everything on" in name:
            times, calls = cost.added / base.added, 1 / cost.crowd
            verdicts = (
                (calls >= LEAST, f"{calls:,.0f} calls/s/core at {flights}, at least {LEAST:,}"),
                (times <= MOST_ADDED, f"adds {times:.2f} times what aiohttp adds, at most {MOST_ADDED:g}"),
                (cost.opened == 0, f"opens {cost.opened:.2f} connections a call, none"),
                (cost.memory <= MOST_MEMORY, f"{cost.memory:.0f} MB, at most {MOST_MEMORY:g}"),
            )
            print(f"- {name}: " + "; ".join(f"{text}: {'met' if met else 'NOT met'}" for met, text in verdicts))


@contextmanager
def _served() -> Iterator[str]:
    server = subprocess.Popen([sys.executable, "-c", SERVER], stdin=subprocess.PIPE, stdout=subprocess.PIPE, text=True)
    try:
        assert server.stdout is not None
        yield server.stdout.readline().strip()
    finally:
        server.communicate("")


def _measure(name: str, contender: Contender, urls: str, options: argparse.Namespace) -> Cost:
    python = str(peers.PYTHON) if contender.peer else sys.executable
    code = FRAME.replace("{body}", contender.code)
    command = [python, "-c", code, urls, str(options.calls), str(options.flights), str(options.seconds)]
    clean = {key: value for key, value in os.environ.items() if "proxy" not in key.lower()}
    done = subprocess.run(command, capture_output=True, text=True, check=False, env=clean)
    if done.returncode:
        sys.exit(f"{name} failed:\n{done.stderr[-2000:]}")
    return Cost(**json.loads(done.stdout.splitlines()[-1]))


if __name__ == "__main__":
    main()
