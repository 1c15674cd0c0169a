"""CPU time of the first search in a process, beside one that imports aiohttp and pydantic and makes the same request.

The server is a SearXNG on loopback in this process, which is not counted. Every contender is a process of its own, all
take turns, and CPU time is user and system time of the whole process, from its start until its end. It ends with 1
unless the library needs at most 90 ms more than the bare process, and `groundwire search` at most 150 ms.

`python benchmarks/first_search.py [--rounds 15]`
"""

from __future__ import annotations

import argparse
import json
import os
import statistics
import sys
import tempfile
import threading
from http.server import BaseHTTPRequestHandler, ThreadingHTTPServer
from pathlib import Path

BARE = """
import asyncio, sys
import aiohttp, pydantic
async def main():
    async with aiohttp.ClientSession() as session:
        async with session.get(sys.argv[1] + "/search", params={"q": sys.argv[2], "format": "json"}) as response:
            assert len((await response.json())["results"]) == 10
asyncio.run(main())
"""
SYNC = "import groundwire, sys\nassert groundwire.search(sys.argv[2], limit=10)\n"
ASYNC = """
import asyncio, sys
from groundwire import Web
async def main():
    async with Web() as web:
        assert (await web.search(sys.argv[2], limit=10)).results
asyncio.run(main())
"""
LIMITS_MS = {"groundwire.search": 90, "Web": 90, "groundwire search": 150}


class _SearXNG(BaseHTTPRequestHandler):
    def do_GET(self) -> None:
        row = {"title": "Reciprocal rank fusion", "content": "A sum of the reciprocals of ranks. " * 6}
        body = json.dumps({"results": [row | {"url": f"https://www.example.org/{n}"} for n in range(10)]}).encode()
        self.send_response(200)
        self.send_header("Content-Type", "application/json")
        self.send_header("Content-Length", str(len(body)))
        self.end_headers()
        self.wfile.write(body)

    def log_request(self, code: int | str = "-", size: int | str = "-") -> None: ...


def cpu_ms(command: list[str], environment: dict[str, str]) -> float:
    """Run a command to its end and return its CPU time."""
    actions = [(os.POSIX_SPAWN_OPEN, 1, os.devnull, os.O_WRONLY, 0)]
    _, status, used = os.wait4(os.posix_spawn(command[0], command, environment, file_actions=actions), 0)
    assert status == 0, command
    return 1000 * (used.ru_utime + used.ru_stime)


def main() -> int:
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--rounds", type=int, default=15)
    rounds = parser.parse_args().rounds
    server = ThreadingHTTPServer(("127.0.0.1", 0), _SearXNG)
    threading.Thread(target=server.serve_forever, daemon=True).start()
    url = f"http://127.0.0.1:{server.server_port}"
    program = str(Path(sys.executable).with_name("groundwire"))
    times: dict[str, list[float]] = {"aiohttp and pydantic": [], **{name: [] for name in LIMITS_MS}}
    with tempfile.TemporaryDirectory() as home:
        environment = {"HOME": home, "PATH": os.environ["PATH"], "GROUNDWIRE_SEARCH_PROVIDERS": "searxng"}
        environment |= {"GROUNDWIRE_PROVIDERS_SEARXNG_BASE_URL": url}
        for n in range(rounds + 1):  # the first round writes bytecode and files
            commands = [
                [sys.executable, "-c", code, url, f"query {n} {m}"] for m, code in enumerate((BARE, SYNC, ASYNC))
            ]
            for name, command in zip(times, [*commands, [program, "search", f"query {n}"]], strict=True):
                times[name].append(cpu_ms(command, environment))
    bare = statistics.median(times["aiohttp and pydantic"][1:])
    print(f"{'process':24}{'median':>10}{'least':>10}{'more than bare':>16}{'at most':>10}")
    for name, (_, *rows) in times.items():
        limit = f"{LIMITS_MS[name]} ms" if name in LIMITS_MS else ""
        median = statistics.median(rows)
        print(f"{name:24}{median:>7.0f} ms{min(rows):>7.0f} ms{median - bare:>13.0f} ms{limit:>10}")
    return int(any(statistics.median(times[name][1:]) - bare > limit for name, limit in LIMITS_MS.items()))


if __name__ == "__main__":
    sys.exit(main())
