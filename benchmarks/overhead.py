"""CPU time of one search call: ours beside bare aiohttp and two peers, against one local Tavily in one run.

The server is a process of its own (the miniature web's Tavily, ten results of some 250 characters), so that its work
does not count. Each contender is a process of its own: it asks 20 times to warm up, then `--calls` times, one after the
other, and reports its CPU time (user and system, all threads). The least of `--rounds` interleaved rounds is shown.

    python benchmarks/overhead.py [--calls 300] [--rounds 3]
"""

from __future__ import annotations

import argparse
import json
import subprocess
import sys
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path

ROOT = Path(__file__).resolve().parents[1]
PEERS = ROOT / ".venv-peers"
PINNED = ("tavily-python==0.8.5", "anysearch-sdk==0.2.0")

SERVER = """
import sys
from groundwire.testing import World
with World() as world:
    print(world.service("tavily").url, flush=True)
    sys.stdin.read()
"""

FRAME = """
import asyncio, json, sys, time
URL, CALLS = sys.argv[1], int(sys.argv[2])
{body}
async def main():
    async with ready() as ask:
        for _ in range(20):
            assert await ask() >= 5
        cpu, wall = time.process_time(), time.perf_counter()
        for _ in range(CALLS):
            await ask()
        print(json.dumps([(time.process_time() - cpu) / CALLS, (time.perf_counter() - wall) / CALLS]))
asyncio.run(main())
"""

CONTENDERS = {
    "bare aiohttp, json.loads": (
        False,
        """
from contextlib import asynccontextmanager
import aiohttp
@asynccontextmanager
async def ready():
    async with aiohttp.ClientSession(headers={"Authorization": "Bearer test-key"}) as session:
        async def ask():
            async with session.post(URL + "/search", json={"query": "search engines", "max_results": 10}) as reply:
                return len(json.loads(await reply.read())["results"])
        yield ask
""",
    ),
    "groundwire, one provider": (
        False,
        """
from contextlib import asynccontextmanager
from pydantic import SecretStr
from groundwire.providers.keys import Keys
from groundwire.providers.tavily import TavilyProvider
from groundwire.safety.guard import Guard
from groundwire.transport import Transport
@asynccontextmanager
async def ready():
    transport = Transport(Guard(allow_origins=(URL,)))
    provider = TavilyProvider(transport, keys=Keys("tavily", [SecretStr("test-key")]), base_url=URL, name="tavily")
    async def ask():
        return len(await provider.search("search engines", limit=10))
    yield ask
    await transport.aclose()
""",
    ),
    "groundwire, Web.search, nothing kept": (
        False,
        """
from contextlib import asynccontextmanager
from groundwire import Settings, Web
@asynccontextmanager
async def ready():
    settings = Settings.model_validate({"search": {"providers": ("tavily",)}, "session": {"limit": 0},
        "storage": {"url": "memory://"}, "cache": {"enabled": False}, "archive": {"enabled": False},
        "providers": {"tavily": {"base_url": URL}}, "keys": {"TAVILY_API_KEY": "test-key"}})
    async with Web(settings) as web:
        async def ask():
            return len((await web.search("search engines", limit=10)).results)
        yield ask
""",
    ),
    "groundwire, Web.search, cache and archive on SQLite, new words each time": (
        False,
        """
import itertools, tempfile
from contextlib import asynccontextmanager
from groundwire import Settings, Web
@asynccontextmanager
async def ready():
    number = itertools.count()
    with tempfile.TemporaryDirectory() as folder:
        settings = Settings.model_validate({"search": {"providers": ("tavily",)}, "session": {"limit": 0},
            "storage": {"url": f"sqlite:///{folder}/store.db"}, "archive": {"path": f"{folder}/archive.db"},
            "providers": {"tavily": {"base_url": URL}}, "keys": {"TAVILY_API_KEY": "test-key"}})
        async with Web(settings) as web:
            async def ask():
                return len((await web.search(f"search engines {next(number)}", limit=10)).results)
            yield ask
""",
    ),
    "tavily-python, one client": (
        True,
        """
from contextlib import asynccontextmanager
from tavily import AsyncTavilyClient
@asynccontextmanager
async def ready():
    client = AsyncTavilyClient(api_key="test-key", api_base_url=URL)
    async def ask():
        return len((await client.search("search engines", max_results=10))["results"])
    yield ask
""",
    ),
    "anysearch-sdk, tavily": (
        True,
        """
from contextlib import asynccontextmanager
from anysearch import AnySearch
@asynccontextmanager
async def ready():
    client = AnySearch(provider="tavily", api_key="test-key", base_url=URL)
    async def ask():
        return len((await client.asearch("search engines", max_results=10)).results)
    yield ask
""",
    ),
}


def main() -> None:
    """Run all contenders and print the table."""
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    parser.add_argument("--calls", type=int, default=300)
    parser.add_argument("--rounds", type=int, default=3)
    options = parser.parse_args()
    _install_peers()
    best: dict[str, tuple[float, float]] = {}
    with _served() as url:
        for number in range(options.rounds):
            print(f"round {number + 1} of {options.rounds} ...", file=sys.stderr)
            for name in CONTENDERS:
                cpu, wall = _measure(name, url, options.calls)
                known = best.get(name, (cpu, wall))
                best[name] = (min(cpu, known[0]), min(wall, known[1]))
    peer = best["tavily-python, one client"][0]
    print(f"| contender | CPU µs a call | wall µs a call | CPU beside tavily-python |\n| {'--- | ' * 4}")
    for name, (cpu, wall) in best.items():
        print(f"| {name} | {cpu * 1e6:,.0f} | {wall * 1e6:,.0f} | {cpu / peer:.2f} |")


def _install_peers() -> None:
    if not PEERS.exists():
        uv = [sys.executable, "-m", "uv", "--system-certs", "-q"]
        subprocess.run([*uv, "venv", "-p", sys.executable, str(PEERS)], check=True)
        subprocess.run([*uv, "pip", "install", "-p", str(PEERS), *PINNED], check=True)


@contextmanager
def _served() -> Iterator[str]:
    server = subprocess.Popen([sys.executable, "-c", SERVER], stdin=subprocess.PIPE, stdout=subprocess.PIPE, text=True)
    try:
        assert server.stdout is not None
        yield server.stdout.readline().strip()
    finally:
        server.communicate("")


def _measure(name: str, url: str, calls: int) -> tuple[float, float]:
    peer, body = CONTENDERS[name]
    python = str(PEERS / "bin" / "python") if peer else sys.executable
    command = [python, "-c", FRAME.replace("{body}", body), url, str(calls)]
    done = subprocess.run(command, capture_output=True, text=True, check=False)
    if done.returncode:
        sys.exit(f"{name} failed:\n{done.stderr[-2000:]}")
    cpu, wall = json.loads(done.stdout)
    return cpu, wall


if __name__ == "__main__":
    main()
