"""The gateway under load: added latency, lost calls and memory.

The engine is a process of its own: the miniature web's services and pages, each answer made once and kept, so that its
work does not count; it waits `--delay` seconds before each answer, as real services do. First `--in-flight` searches
and as many pages are kept in flight at the engine itself, then for `--minutes` at one gateway process with its default
storage (SQLite and the archive on disk), words and addresses new each time. `added` is the gateway's percentile less
the engine's own; `CPU` is what the gateway's process used for all calls, divided by their number. Memory is its
resident set; it counts as warm after a fifth of the time, a minute at most. Ends with 1 when a call was lost or memory
grew by more than 50 MB. `throughput.py` puts it beside litellm's proxy and SearXNG.

With `--workers 1 2`, gateways with that many worker processes are asked in turn instead, at an engine that answers at
once: the CPU time of all their processes a search, and the share of searches of each worker. With `--keys 10000`, so is
a gateway of one process with so many keys, of a tenth as many tenants, each with a session of its own.

    python benchmarks/gateway.py [--minutes 1] [--delay 5] [--in-flight 200] [--storage URL]
    python benchmarks/gateway.py --workers 1 2 --keys 10000 [--rounds 3] [--flights 64]
"""

from __future__ import annotations

import argparse
import asyncio
import itertools
import json
import os
import re
import statistics
import subprocess
import sys
import tempfile
import time
from collections.abc import Awaitable, Callable, Iterator
from contextlib import ExitStack, contextmanager
from dataclasses import dataclass, field
from datetime import UTC, datetime
from pathlib import Path
from typing import Any

sys.path[:0] = [str(Path(__file__).resolve().parents[1] / folder) for folder in ("src", "tests", "benchmarks")]

import aiohttp

from components.processes import Program, ReservedPort
from groundwire_server.auth.keys import make_key

ROOT = Path(__file__).resolve().parents[1]
MOST_GROWTH = 50.0  # MB
RESULTS = 10
SITES = 16
PATIENCE = 120.0  # seconds until a call counts as lost
START = 120.0  # seconds for a server to start; litellm's proxy takes long

ENGINE = """
import json, sys
from groundwire.testing import EmulatedResponse, EmulatedServer, InjectedFault
from world import World
class AtOnce(EmulatedServer):
    def __init__(self, name, inner, handle=None):
        super().__init__(name)
        self.inner, self.kept, self.own = inner, {}, handle
    def handle(self, request):
        if request.path not in self.kept:
            self.kept[request.path] = (self.own or self.inner.handle)(request)
        self.forget()
        return self.kept[request.path]
with World() as world:
    def items(request):
        found = world.library.search("search engines 0")[:10]
        items = [{"title": one.title, "url": one.url, "text": one.snippet} for one in found]
        return EmulatedResponse.json({"items": items})
    article = world.site("articles")
    page = article.page("bm25").removeprefix(article.url)
    ends = {"tavily": AtOnce("tavily-at-once", world.service("tavily")), "json": AtOnce("json-at-once", None, items)}
    ends |= {f"site{n}": AtOnce(f"site{n}", article) for n in range(int(sys.argv[1]))}
    print(json.dumps({name: world.add(end).url for name, end in ends.items()} | {"page": page}), flush=True)
    for line in sys.stdin:
        for end in ends.values():
            end.heal()
            if float(line):
                end.fail(InjectedFault.delay(float(line)), times=None)
        print("set", flush=True)
"""

GATEWAY = """
[search]
providers = ["tavily"]
timeout = 100.0
attempt_timeout = 100.0
limit = 10
[read]
timeout = 100.0
max_per_host = 100
[policy]
allowed_origins = {sites}
[providers.tavily]
base_url = "{tavily}"
"""

Ask = Callable[[aiohttp.ClientSession, int], Awaitable[bool]]
"""Makes one call; says whether its answer was whole."""


class Engine:
    """Stand-ins for search services and web pages."""

    def __init__(self) -> None:
        self._process = subprocess.Popen(
            [sys.executable, "-c", ENGINE, str(SITES)],
            stdin=subprocess.PIPE,
            stdout=subprocess.PIPE,
            text=True,
            env={**os.environ, "PYTHONPATH": os.pathsep.join((str(ROOT / "src"), str(ROOT / "tests")))},
        )
        self.pid: int = self._process.pid
        self.urls: dict[str, str] = json.loads(self._line())
        self.sites = [self.urls[f"site{number}"] for number in range(SITES)]

    def delay(self, seconds: float) -> None:
        """Delay each response from now on."""
        assert self._process.stdin is not None
        self._process.stdin.write(f"{seconds}\n")
        self._process.stdin.flush()
        assert self._line() == "set\n"

    def page(self, number: int) -> str:
        """Return the address of a page, another one for each number."""
        return f"{self.sites[number % SITES]}{self.urls['page']}?n={number}"

    def close(self) -> None:
        """End it."""
        self._process.kill()
        self._process.wait()

    def _line(self) -> str:
        assert self._process.stdout is not None
        return self._process.stdout.readline()


@dataclass
class Calls:
    """The outcomes of some calls."""

    seconds: list[float] = field(default_factory=list)
    lost: int = 0
    first_fault: str = ""

    def percentile(self, share: float) -> float:
        """Return within how many milliseconds this share of calls ended."""
        if len(self.seconds) < 2:
            return float("nan")
        return statistics.quantiles(self.seconds, n=1_000)[round(share * 1_000) - 1] * 1_000


async def keep_in_flight(
    asks: dict[str, tuple[Ask, int]], seconds: float, watch: Callable[[float], None] | None = None
) -> tuple[dict[str, Calls], float]:
    """Keep this many calls of each kind in flight, and return their outcomes and durations."""
    numbers, calls = itertools.count(), {name: Calls() for name in asks}
    began = time.monotonic()

    async def client(http: aiohttp.ClientSession, ask: Ask, into: Calls) -> None:
        while time.monotonic() - began < seconds:
            started = time.perf_counter()
            try:
                async with asyncio.timeout(PATIENCE):
                    whole, why = await ask(http, next(numbers)), "an answer that is not whole"
            except (aiohttp.ClientError, TimeoutError, OSError) as error:
                whole, why = False, repr(error)
            if whole:
                into.seconds.append(time.perf_counter() - started)
            else:
                into.lost += 1
                into.first_fault = into.first_fault or why

    async def look() -> None:
        while watch is not None:
            watch(time.monotonic() - began)
            await asyncio.sleep(1)

    looking = asyncio.create_task(look())
    async with aiohttp.ClientSession(connector=aiohttp.TCPConnector(limit=0), trust_env=False) as http:
        await asyncio.gather(*(client(http, ask, calls[name]) for name, (ask, at) in asks.items() for _ in range(at)))
    looking.cancel()
    return calls, time.monotonic() - began


def searching(url: str, body: dict[str, Any], headers: dict[str, str], numbers: Iterator[int]) -> Ask:
    """Return calls that post words with the next number: those that were asked before would be found in the cache."""

    async def ask(http: aiohttp.ClientSession, _: int) -> bool:
        query = f"search engines {next(numbers)}"
        async with http.post(url, json=body | {"query": query}, headers=headers) as response:
            return response.status == 200 and len((await response.json())["results"]) == RESULTS

    return ask


def reading(url: str, engine: Engine) -> Ask:
    """Return calls that have a page opened, another one each time."""

    async def ask(http: aiohttp.ClientSession, number: int) -> bool:
        async with http.post(url, json={"url": engine.page(number)}) as response:
            return response.status == 200 and len((await response.json())["pages"][0]["content"]) > 500

    return ask


def fetching(engine: Engine) -> Ask:
    """Return calls that fetch a page from the engine itself."""

    async def ask(http: aiohttp.ClientSession, number: int) -> bool:
        async with http.get(engine.page(number)) as response:
            return response.status == 200 and len(await response.read()) > 500

    return ask


def resident(pid: int) -> float:
    """Return the resident set of a process, in MB."""
    lines = Path(f"/proc/{pid}/status").read_text().splitlines()
    return next(int(line.split()[1]) for line in lines if line.startswith("VmRSS")) / 1_024


def used(pid: int) -> float:
    """Return the seconds of CPU time that a process has used."""
    fields = Path(f"/proc/{pid}/stat").read_text().rpartition(")")[2].split()
    return (int(fields[11]) + int(fields[12])) / os.sysconf("SC_CLK_TCK")


def family(pid: int) -> list[int]:
    """Return a process and those that it has started."""
    children = Path(f"/proc/{pid}/task/{pid}/children").read_text().split()
    return [pid, *(one for child in children for one in family(int(child)))]


@contextmanager
def serving(name: str, command: list[str], env: dict[str, str], health: str, folder: Path) -> Iterator[int]:
    """Run a server while the block runs, and give its process id."""
    program = Program(name, command, env={"PATH": os.environ["PATH"], "HOME": str(folder), **env}, log=folder / name)
    try:
        program.wait_until(lambda: _is_up(health), START)
        yield program.pid
    finally:
        program.stop()


def _is_up(url: str) -> bool:
    import urllib.request

    with urllib.request.build_opener(urllib.request.ProxyHandler({})).open(url, timeout=5) as response:
        return bool(response.status == 200)


@contextmanager
def gateway(
    engine: Engine, storage: str, folder: Path, template: str = GATEWAY, *options: str
) -> Iterator[tuple[str, int]]:
    """Run a gateway."""
    text = template.format(sites=json.dumps(engine.sites), tavily=engine.urls["tavily"])
    with gateway_of(text + (f'[storage]\nurl = "{storage}"\n' if storage else ""), folder, "-v", *options) as served:
        yield served


@contextmanager
def gateway_of(text: str, folder: Path, *options: str) -> Iterator[tuple[str, int]]:
    """Run a gateway with these settings."""
    settings, reserved = folder / "groundwire.toml", ReservedPort()
    settings.write_text(text)
    command = [sys.executable, "-m", "groundwire", "serve", "--port", str(reserved.number), *options]
    env = {
        "PYTHONPATH": str(ROOT / "src"),
        "GROUNDWIRE_CONFIG": str(settings),
        "TAVILY_API_KEY": "test-key",
        "XDG_CACHE_HOME": str(folder),
        "TMPDIR": str(folder),
    }
    url = f"http://127.0.0.1:{reserved.number}"
    with serving("gateway", command, env, f"{url}/readyz", folder) as pid:
        yield url, pid


def main() -> None:
    """Run the load and the comparison, and print the tables."""
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    parser.add_argument("--minutes", type=float, default=1.0, help="how long the gateway is under load")
    parser.add_argument("--delay", type=float, default=5.0, help="seconds that the engine takes for an answer")
    parser.add_argument("--in-flight", type=int, default=200, help="searches, and as many pages")
    parser.add_argument("--flights", type=int, default=32, help="clients of a gateway with --workers")
    parser.add_argument("--seconds", type=float, default=8.0, help="of a round with --workers")
    parser.add_argument("--rounds", type=int, default=2)
    parser.add_argument("--storage", default="", help="the gateway's storage.url; by default SQLite")
    parser.add_argument("--workers", type=int, nargs="+", default=[], help="compare gateways with these numbers")
    parser.add_argument("--keys", type=int, default=0, help="and one with so many keys")
    options = parser.parse_args()
    with ExitStack() as stack:
        folder = Path(stack.enter_context(tempfile.TemporaryDirectory()))
        engine = Engine()
        stack.callback(engine.close)
        if options.workers:
            engine.delay(0)
            _scale(engine, folder, options)
            return
        url, pid = stack.enter_context(gateway(engine, options.storage, folder))
        fine = _load(engine, url, pid, options)
        said = [line for line in (folder / "gateway").read_text().splitlines() if "WARNING" in line or "ERROR" in line]
        print(f"\nThe gateway's log has {len(said)} warnings{': ' + said[0][:300] if said else '.'}")
    sys.exit(0 if fine else 1)


def _load(engine: Engine, url: str, pid: int, options: argparse.Namespace) -> bool:
    engine.delay(options.delay)
    key = {"Authorization": "Bearer test-key"}
    ours, its = {"limit": RESULTS}, {"max_results": RESULTS}
    direct = {
        "searches": (searching(f"{engine.urls['tavily']}/search", its, key, itertools.count()), options.in_flight),
        "pages": (fetching(engine), options.in_flight),
    }
    through = {
        "searches": (searching(f"{url}/v1/search", ours, {}, itertools.count()), options.in_flight),
        "pages": (reading(f"{url}/v1/pages", engine), options.in_flight),
    }
    base, _ = asyncio.run(keep_in_flight(direct, max(10.0, 3 * options.delay)))
    memory: list[tuple[float, float]] = []
    before = used(pid)
    total = options.minutes * 60
    calls, took = asyncio.run(keep_in_flight(through, total, lambda at: memory.append((at, resident(pid)))))
    print(
        f"{options.in_flight} searches and {options.in_flight} pages in flight for {took:.0f} s, "
        f"the engine taking {options.delay:g} s:\n"
    )
    print("| calls | number | lost | a second | p50 ms | added p50 | p99 ms | added p99 |")
    print(f"|{' --- |' * 8}")
    for name, found in calls.items():
        p50, p99, own = found.percentile(0.5), found.percentile(0.99), base[name]
        print(
            f"| {name} | {len(found.seconds):,} | {found.lost} | {len(found.seconds) / took:.1f} | {p50:,.0f} "
            f"| {p50 - own.percentile(0.5):,.0f} | {p99:,.0f} | {p99 - own.percentile(0.99):,.0f} |"
        )
    warm = next(mb for at, mb in memory if at >= min(60.0, total / 5))
    growth = max(mb for at, mb in memory if at >= 0.8 * total) - warm
    lost = sum(found.lost for found in calls.values())
    number, busy = sum(len(found.seconds) for found in calls.values()), used(pid) - before
    print(f"\nCPU: {busy / number * 1_000:.1f} ms a call, {busy / took:.2f} of a core.")
    print(f"Memory: {memory[0][1]:.0f} MB at first, {warm:.0f} MB warm, grew by {growth:.0f} MB.")
    for name, found in calls.items():
        if found.first_fault:
            print(f"The first of the lost {name}: {found.first_fault[:300]}")
    print(f"None lost: {'met' if not lost else 'NOT met'}. Growth under {MOST_GROWTH:g} MB: ", end="")
    print("met." if growth < MOST_GROWTH else "NOT met.", flush=True)
    return not lost and growth < MOST_GROWTH


def _proportional(pid: int) -> float:
    """Return the resident set of a process, in MB, with its part of what it shares with others."""
    lines = Path(f"/proc/{pid}/smaps_rollup").read_text().splitlines()
    return next(int(line.split()[1]) for line in lines if line.startswith("Pss:")) / 1_024


def _write_keys(file: Path, number: int) -> list[str]:
    """Write a file of keys, and return them."""
    made = [make_key(f"key{one}", datetime.now(UTC), tenant=f"tenant{one // 10}") for one in range(number)]
    file.write_text(json.dumps({"version": 1, "keys": [record.model_dump(mode="json") for _, record in made]}))
    file.chmod(0o600)
    return [key for key, _ in made]


def _with_keys(url: str, keys: list[str], numbers: Iterator[int]) -> Ask:
    """Return searches with one key after the other, if there are any, in sessions of their own."""

    async def ask(http: aiohttp.ClientSession, _: int) -> bool:
        number = next(numbers)
        body, headers = {"limit": RESULTS, "query": f"search engines {number}"}, {}
        if keys:
            at = number * 7919 % len(keys)
            body["session"], headers = f"session{at}", {"X-API-Key": keys[at]}
        async with http.post(f"{url}/v1/search", json=body, headers=headers) as response:
            answer = await response.json()
            if response.status != 200:
                raise OSError(response.status, answer["error"]["code"])
            return len(answer["results"]) == RESULTS

    return ask


def _scale(engine: Engine, folder: Path, options: argparse.Namespace) -> None:
    numbers, lost, faults = itertools.count(), 0, set[str]()
    with ExitStack() as stack:
        servers: dict[str, tuple[str, int, Ask]] = {}
        for count, keys in [*((count, 0) for count in options.workers), *([(1, options.keys)] if options.keys else [])]:
            name = f"{count}-{keys}"
            own = folder / name
            own.mkdir()
            known = _write_keys(own / "keys.json", keys) if keys else []
            template = GATEWAY + (f'[server]\nkey_file = "{own}/keys.json"\n' if keys else "")
            url, pid = stack.enter_context(gateway(engine, options.storage, own, template, "--workers", str(count)))
            print(f"{name}: ready after {sum(map(used, family(pid))):.2f} s of CPU", flush=True)
            servers[name] = url, pid, _with_keys(url, known, numbers)
        rows: dict[str, list[tuple[float, float]]] = {name: [] for name in servers}
        for _ in range(options.rounds):
            for name, (_url, pid, ask) in servers.items():
                before = sum(map(used, family(pid)))
                calls, took = asyncio.run(keep_in_flight({"": (ask, options.flights)}, options.seconds))
                done, lost = len(calls[""].seconds), lost + calls[""].lost
                faults |= {calls[""].first_fault}
                rows[name].append(((sum(map(used, family(pid))) - before) / done * 1_000, done / took))
        print("\n| workers-keys | CPU ms a search | beside the first | searches a second | MB | share of each worker |")
        print(f"|{' --- |' * 6}")
        first = statistics.median(cpu for cpu, _ in next(iter(rows.values())))
        for name, (url, pid, _ask) in servers.items():
            cpu, rate = (statistics.median(column) for column in zip(*rows[name], strict=True))
            memory = sum(map(_proportional, family(pid)))
            shares = _shares(url, folder / name)
            print(f"| {name} | {cpu:.2f} | {cpu / first:.2f} | {rate:,.0f} | {memory:,.0f} | {shares} |")
        print(f"\nNot whole: {lost} {' '.join(faults)}")


def _shares(url: str, folder: Path) -> str:
    """Return the percentage of searches of each worker, whose counts are saved when the metrics are read."""
    import urllib.request

    if not (folders := list(folder.glob("groundwire-*"))):
        return "100 %"
    with urllib.request.build_opener(urllib.request.ProxyHandler({})).open(f"{url}/metrics", timeout=5):
        pass
    texts = [path.read_text() for path in sorted(folders[0].glob("*.prom"))]
    counts = [float(re.findall(r"^groundwire_search_seconds_count (\S+)", text, re.MULTILINE)[0]) for text in texts]
    return ", ".join(f"{100 * count / sum(counts):.0f} %" for count in counts)


if __name__ == "__main__":
    main()
