"""CPU time of a search: Groundwire beside bare aiohttp and peers, against one local server in one run.

The server is a process of its own (the miniature web's services, six results of some 250 characters), so that its work
does not count. No two queries have a result in common: addresses, titles and snippets carry the query's number. Each
contender is a process of its own. For each number of searches in flight it opens its client anew, warms up, makes
`--calls` searches in one session, and closes; CPU time is user and system time of all threads, closing included, so
that what was put off counts. `growth` compares the CPU time of a session's last hundreds of searches with that of its
first, the median of three each, as a full garbage collection falls into one hundred or another; with one search in
flight each hundred includes writing what it has left to the archive, which otherwise gathers 128 searches. `start` is
the CPU time from before the first import until the first answer. The median of `--rounds` interleaved rounds is
shown, of memory the most. With `redis-server` or `valkey-server` on the machine one more contender keeps its state
there, and what it sent is counted by the server.

    python benchmarks/overhead.py [--calls 1000] [--rounds 3] [--only groundwire] [--seconds 30]

`--instructions` counts instead, with `valgrind`: the instructions that a search takes with 64 in flight, as the
difference of two runs. These do not depend on how busy the machine is, but leave out the kernel.

    python benchmarks/overhead.py --instructions --only groundwire
"""

from __future__ import annotations

import argparse
import json
import os
import re
import shutil
import socket
import statistics
import subprocess
import sys
import time
from collections.abc import Iterator
from contextlib import contextmanager, suppress
from dataclasses import dataclass
from pathlib import Path

import peers
from contenders import CONTENDERS, Contender

BASE, PEER = "bare aiohttp, json.loads", "tavily-python, one client"
WIDTHS = ("1", "8", "64")
MEMORY_RATIO, FILE_RATIO = 4.0, 6.0  # times bare aiohttp's CPU, at most
FASTER = 3.0  # times tavily-python's rate, at least
GROWTH = 1.05
MEMORY = 60.0  # MB after a session
TRIPS, SENT = 2.0, 4_096.0  # round trips and bytes to Valkey a search

SERVER = r"""
import json, re, sys
from dataclasses import replace
from world import World
from groundwire.testing.server import EmulatedServer
class Distinct(EmulatedServer):
    def __init__(self, inner):
        super().__init__(inner.name + "-distinct")
        self.inner, self.kept = inner, {}
    def handle(self, request):
        if request.path not in self.kept:
            self.kept[request.path] = self.inner.handle(request)
        self.forget()
        answer = self.kept[request.path]
        asked = re.search(rb"engines\D{1,3}?(\d{6})", request.target.encode() + request.body)
        number = asked[1] if asked else b"000000"
        body = answer.body.replace(b"127.0.0.1:", b"w" + number + b".test:")
        body = re.sub(rb'("(?:title|content|description|text)": ?")', rb"\g<1>" + number + b" ", body)
        return replace(answer, body=body)
with World() as world:
    names = ("tavily", "searxng", "brave", "duckduckgo_lite", "exa")
    urls = {name: world.add(Distinct(world.service(name))).url for name in names}
    print(json.dumps(urls | {"nobody": world.closed_url}), flush=True)
    sys.stdin.read()
"""

FRAME = r"""
import asyncio, inspect, itertools, json, resource, sys, time
from concurrent.futures import ThreadPoolExecutor
URLS, CALLS, WIDTHS, SECONDS = json.loads(sys.argv[1]), int(sys.argv[2]), sys.argv[3].split(","), float(sys.argv[4])
NUMBER = itertools.count(100_000)
def words():
    return f"search engines {next(NUMBER)}"
BEGAN = time.process_time()
{body}
async def session(width):
    async with ready() as search:
        blocking = not inspect.iscoroutinefunction(search)
        async def ask():
            if (await asyncio.to_thread(search) if blocking and width > 1 else search() if blocking else
                    await search()) < 5:
                raise SystemExit("too few results")
        for _ in range(20):
            await asyncio.gather(*(ask() for _ in range(width // 8 or 1)))
        hundreds, began, until = [], time.process_time(), time.monotonic() + SECONDS
        for _ in range(CALLS // 100):
            moment, left = time.process_time(), iter(range(100))
            async def some():
                for _ in left:
                    await ask()
            await asyncio.gather(*(some() for _ in range(width)))
            if width == 1 and hasattr(search, "settle"):
                await search.settle()
            hundreds.append(time.process_time() - moment)
            if time.monotonic() > until:
                break
    cpu = (time.process_time() - began) / (100 * len(hundreds))
    first, last = (sorted(some)[len(some) // 2] / 100 for some in (hundreds[:3], hundreds[-3:]))
    return {"cpu": cpu, "first": first, "last": last, "made": 100 * len(hundreds) + 20 * (width // 8 or 1)}
async def main():
    asyncio.get_running_loop().set_default_executor(ThreadPoolExecutor(64))
    async with ready() as search:
        await search() if inspect.iscoroutinefunction(search) else search()
    figures = {"start": time.process_time() - BEGAN}
    for width in WIDTHS:
        figures[width] = await session(int(width))
        figures.setdefault("memory", resource.getrusage(resource.RUSAGE_SELF).ru_maxrss / 1024)
    print(json.dumps(figures))
asyncio.run(main())
"""


@dataclass(frozen=True)
class Cost:
    """What a search of one contender costs, in seconds of CPU time unless said otherwise."""

    cpu: dict[str, float]  # by the number in flight
    growth: float  # of one after the other
    start: float
    memory: float  # MB, after a session
    trips: float = 0.0  # to Valkey
    sent: float = 0.0  # bytes

    @classmethod
    def of(cls, runs: list[dict[str, dict[str, float]]]) -> Cost:
        def middle(*path: str) -> float:
            values = []
            for run in runs:
                value: object = run
                for name in path:
                    value = value[name]  # type: ignore[index]
                values.append(value)
            return statistics.median(values)  # type: ignore[type-var]

        first, last = (sum(run["1"][end] for run in runs) for end in ("first", "last"))
        return cls(
            cpu={width: middle(width, "cpu") for width in WIDTHS},
            growth=last / first,
            start=middle("start"),
            memory=max(run["memory"] for run in runs),  # type: ignore[type-var]
            trips=middle("trips") if "trips" in runs[0] else 0.0,
            sent=middle("sent") if "sent" in runs[0] else 0.0,
        )


def main() -> None:
    """Run all contenders and print the table."""
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    parser.add_argument("--calls", type=int, default=1_000)
    parser.add_argument("--rounds", type=int, default=3)
    parser.add_argument("--seconds", type=float, default=30.0, help="the longest time for one session")
    parser.add_argument("--only", default="", help="those with this in their names, bare aiohttp and tavily-python")
    parser.add_argument("--instructions", action="store_true", help="count instructions with valgrind")
    options = parser.parse_args()
    if options.instructions:
        with _served() as urls:
            _print_instructions([name for name in CONTENDERS if options.only in name or name == BASE], urls)
        return
    peers.install()
    chosen = {name: one for name, one in CONTENDERS.items() if options.only in name or name in (BASE, PEER)}
    rounds: dict[str, list[dict[str, dict[str, float]]]] = {name: [] for name in chosen}
    with _served() as urls, _valkey() as port:
        for number in range(options.rounds):
            for name, contender in chosen.items():
                if contender.valkey and not port:
                    rounds.pop(name, None)
                    continue
                print(f"round {number + 1} of {options.rounds}: {name}", file=sys.stderr)
                rounds[name].append(
                    _measure(name, contender, urls | {"valkey": f"valkey://127.0.0.1:{port}/0"}, options)
                )
    _print({name: Cost.of(runs) for name, runs in rounds.items()})


def _print(costs: dict[str, Cost]) -> None:
    base, peer = costs[BASE], costs[PEER]
    print("| contender | service | CPU µs at 1 | at 8 | at 64 | beside aiohttp | times tavily-python's rate | growth "
          "| start, CPU ms | peak MB | Valkey: trips, bytes |")  # fmt: skip
    print(f"|{' --- |' * 11}")
    for name, cost in costs.items():
        alone, eight, most = (f"{cost.cpu[width] * 1e6:,.0f}" for width in WIDTHS)
        ratios = " / ".join(f"{cost.cpu[width] / base.cpu[width]:.1f}" for width in WIDTHS)
        rates = " / ".join(f"{peer.cpu[width] / cost.cpu[width]:.1f}" for width in WIDTHS)
        valkey = f"{cost.trips:.2f}, {cost.sent:,.0f}" if cost.trips else ""
        print(
            f"| {name} | {CONTENDERS[name].service} | {alone} | {eight} | {most} | {ratios} | {rates} "
            f"| {cost.growth:.2f} | {cost.start * 1e3:,.0f} | {cost.memory:.0f} | {valkey} |"
        )
    print("\nTargets:\n")
    for name, cost in costs.items():
        contender = CONTENDERS[name]
        if not contender.most:
            continue
        ratio = max(cost.cpu[width] / base.cpu[width] for width in WIDTHS)
        verdicts = [
            (ratio <= contender.most, f"{ratio:.1f} times aiohttp's CPU, at most {contender.most:g}"),
            (cost.growth <= GROWTH, f"grows {cost.growth:.2f} times, at most {GROWTH:g}"),
            (cost.memory <= MEMORY, f"{cost.memory:.0f} MB, at most {MEMORY:g}"),
        ]
        if "default" in name:
            rate = min(peer.cpu[width] / cost.cpu[width] for width in WIDTHS)
            verdicts.append((rate >= FASTER, f"{rate:.1f} times tavily-python's rate, at least {FASTER:g}"))
        if cost.trips:
            verdicts.append((cost.trips <= TRIPS, f"{cost.trips:.2f} round trips, at most {TRIPS:g}"))
            verdicts.append((cost.sent <= SENT, f"{cost.sent:,.0f} bytes sent, at most {SENT:,.0f}"))
        print(f"- {name}: " + "; ".join(f"{text}: {'met' if met else 'NOT met'}" for met, text in verdicts))


def _print_instructions(names: list[str], urls: dict[str, str]) -> None:
    """Print the thousands of instructions of a search, and what it has more than the one above."""
    print("| contender | thousand instructions | more than above |\n| --- | --- | --- |")
    above = 0.0
    for name in names:
        if CONTENDERS[name].peer or CONTENDERS[name].valkey:
            continue
        few, many = (_instructions(name, urls, calls) for calls in (200, 800))
        each = (many - few) / 600_000
        print(f"| {name} | {each:,.0f} | {each - above:+,.0f} |", flush=True)
        above = each


def _instructions(name: str, urls: dict[str, str], calls: int) -> int:
    code = FRAME.replace("{body}", CONTENDERS[name].code)
    counted = ["valgrind", "--tool=cachegrind", "--cache-sim=no", "--cachegrind-out-file=/dev/null"]
    command = [*counted, sys.executable, "-c", code, json.dumps(urls), str(calls), "64", "3600"]
    clean = {key: value for key, value in os.environ.items() if "proxy" not in key.lower()} | {"PYTHONHASHSEED": "0"}
    done = subprocess.run(command, capture_output=True, text=True, check=False, env=clean)
    found = re.search(r"I\s+refs:\s+([\d,]+)", done.stderr)
    if done.returncode or found is None:
        sys.exit(f"{name} failed:\n{done.stderr[-2000:]}")
    return int(found[1].replace(",", ""))


@contextmanager
def _served() -> Iterator[dict[str, str]]:
    tests = {"PYTHONPATH": str(Path(__file__).resolve().parents[1] / "tests")}
    server = subprocess.Popen(
        [sys.executable, "-c", SERVER],
        env=os.environ | tests,
        stdin=subprocess.PIPE,
        stdout=subprocess.PIPE,
        text=True,
    )
    try:
        assert server.stdout is not None
        yield json.loads(server.stdout.readline())
    finally:
        server.communicate("")


@contextmanager
def _valkey() -> Iterator[int]:
    """Run a server for the time of the block, and give its port; 0 when none is installed."""
    program = shutil.which("valkey-server") or shutil.which("redis-server")
    if program is None:
        yield 0
        return
    with socket.socket() as free:
        free.bind(("127.0.0.1", 0))
        port = int(free.getsockname()[1])
    command = [program, "--port", str(port), "--bind", "127.0.0.1", "--save", "", "--appendonly", "no"]
    server = subprocess.Popen(command, stdout=subprocess.DEVNULL)
    try:
        for _ in range(200):
            with suppress(OSError), socket.create_connection(("127.0.0.1", port)):
                break
            time.sleep(0.05)
        yield port
    finally:
        server.terminate()
        server.wait()


def _told(url: str, *, empty: bool = False) -> tuple[int, int]:
    """Return how many commands were sent to the server so far, those inside scripts left out, and how many bytes.

    With `empty`, its data are deleted first: otherwise a round would get the responses that the one before cached.
    """
    from redis import Redis

    with Redis.from_url(url.replace("valkey://", "redis://")) as server:
        if empty:
            server.flushall()
        inside = {"get", "set", "pttl", "time", "del", "hget", "hset", "hincrby", "hexists", "hlen", "pexpire", "hmget"}
        stats: dict[str, dict[str, int]] = server.info("commandstats")
        calls = {name.removeprefix("cmdstat_"): one["calls"] for name, one in stats.items()}
        sent = server.info("stats")["total_net_input_bytes"]
    return sum(count for name, count in calls.items() if name not in inside), int(sent)


def _measure(
    name: str, contender: Contender, urls: dict[str, str], options: argparse.Namespace
) -> dict[str, dict[str, float]]:
    python = str(peers.PYTHON) if contender.peer else sys.executable
    code = FRAME.replace("{body}", contender.code)
    command = [python, "-c", code, json.dumps(urls), str(options.calls), ",".join(WIDTHS), str(options.seconds)]
    clean = {key: value for key, value in os.environ.items() if "proxy" not in key.lower()}
    before = _told(urls["valkey"], empty=True) if contender.valkey else (0, 0)
    done = subprocess.run(command, capture_output=True, text=True, check=False, env=clean)
    if done.returncode:
        sys.exit(f"{name} failed:\n{done.stderr[-2000:]}")
    figures: dict[str, dict[str, float]] = json.loads(done.stdout.splitlines()[-1])
    if contender.valkey:
        after, made = _told(urls["valkey"]), sum(figures[width]["made"] for width in WIDTHS)
        figures |= {"trips": (after[0] - before[0]) / made, "sent": (after[1] - before[1]) / made}  # type: ignore[dict-item]
    return figures


if __name__ == "__main__":
    main()
