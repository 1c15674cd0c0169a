"""Soak test: 100,000 searches and pages, 64 at a time, against the miniature web in another process.

Half of the calls go through a `Web` as it comes (cache and archive in SQLite files), half through one that keeps
nothing. Three of four are searches, of which every other one has words of its own; every tenth meets a first provider
that fails, and every hundredth call is cancelled in its middle. After each interval all that is in flight ends, and
open files and sockets, tasks, threads, Python objects and resident memory are counted. The first half warms up (pools,
caches that are bounded, the allocator); from then on no count may exceed the first by more than `TOLERATED`, and when
idle connections have been closed at the end, no socket may be left. Ends with 1 otherwise, with `--trace` also with the
lines whose memory grew most (three times as slow). Linux only.

    python benchmarks/soak.py [--calls 100000] [--intervals 20] [--trace]
"""

from __future__ import annotations

import argparse
import asyncio
import gc
import json
import os
import subprocess
import sys
import tempfile
import threading
import time
import tracemalloc
from collections import Counter
from collections.abc import Iterator
from contextlib import contextmanager, suppress
from itertools import count
from pathlib import Path
from typing import Any

from groundwire import Settings, Web
from groundwire.errors import GroundwireError

IN_FLIGHT = 64
LATEST = 300.0  # seconds for a call: what is slow on a busy machine is not lost
SETTLING = 15.0  # seconds for what goes on in the background, before counting
WORDS = ("bm25", "reciprocal rank fusion", "citations", "web search api", "unicode", "http caching")
RESTING = 30.0  # seconds for idle connections to be closed; they are kept for 15
TOLERATED = {"files": 0, "sockets": IN_FLIGHT, "tasks": 0, "threads": 2, "objects": 2_000, "rss_mb": 8.0}
"""How much more there may be than at the end of the warm-up: as many idle connections as calls at a time, threads that
end when there is no work, and noise."""

SERVER = """
import json, sys
from groundwire.testing import InjectedFault
from world import World
with World() as world:
    broken = lambda request: "broken" in request.query.get("q", "")
    world.searxng.fail(InjectedFault.status(500), times=None, when=broken)
    pages = [site.page(name) for site in (world.site("articles"), world.site("docs")) for name in site.pages]
    brave = world.service("brave")
    brave.per_second, brave.quota = 1_000, 0  # a plan that keeps nobody waiting
    print(json.dumps({"searxng": world.searxng.url, "brave": brave.url, "origins": world.origins, "pages": pages}))
    sys.stdout.flush()
    for _ in sys.stdin:  # what grows with its records is not to be the server
        for endpoint in world.endpoints:
            endpoint.forget()
"""


def settings(served: dict[str, Any], **sections: Any) -> Settings:
    base = {
        "search": {"providers": ("searxng", "brave"), "timeout": LATEST, "attempt_timeout": LATEST},
        "read": {"timeout": LATEST},
        "policy": {"allowed_origins": served["origins"]},
        "providers": {"searxng": {"base_url": served["searxng"]}, "brave": {"base_url": served["brave"]}},
        "keys": {"BRAVE_API_KEY": "test-key"},
        "session": {"max_searches": 0},
    }
    return Settings.model_validate(base | sections)


async def call(web: Web, number: int, pages: list[str]) -> str:
    """Make one call and return how it ended."""
    try:
        async with asyncio.timeout(0.003 if number % 100 == 99 else None):
            if number % 4 == 3:
                kept = (await web.open_page(f"{pages[number % len(pages)]}?n={number % 4_000}")).cached
            else:
                own = f" {number}" if number % 2 else ""
                broken = " broken" if number % 10 == 6 else ""
                kept = (await web.search(f"{WORDS[number % len(WORDS)]}{broken}{own}")).cached
    except TimeoutError:
        return "cancelled"
    except GroundwireError as error:
        return f"{type(error).__name__}: {error}"[:300]
    return "cached" if kept else "fetched"


def descriptors() -> tuple[int, int]:
    """Return how many files and how many sockets are open."""
    kinds = Counter[bool]()
    for path in Path("/proc/self/fd").iterdir():
        with suppress(FileNotFoundError):  # the listing's own
            kinds[str(path.readlink()).startswith("socket:")] += 1
    return kinds[False], kinds[True]


def measure() -> dict[str, float]:
    gc.collect()
    pages = int(Path("/proc/self/statm").read_text("ascii").split()[1])
    files, sockets = descriptors()
    return {
        "files": files,
        "sockets": sockets,
        "tasks": len(asyncio.all_tasks()) - 1,
        "threads": threading.active_count(),
        "objects": len(gc.get_objects()),
        "rss_mb": round(pages * 4_096 / 1e6, 1),
    }


async def settle() -> None:
    """Let the background end."""
    end = time.monotonic() + SETTLING
    while (others := asyncio.all_tasks() - {asyncio.current_task()}) and (left := end - time.monotonic()) > 0:
        await asyncio.wait(others, timeout=left)


async def soak(server: subprocess.Popen[str], calls: int, intervals: int, trace: bool) -> list[dict[str, float]]:
    """Make all calls, print a line for each interval, and return the counts after the warm-up."""
    assert server.stdin is not None
    assert server.stdout is not None
    served = json.loads(server.stdout.readline())
    each, ends, numbers, rows = calls // intervals, Counter[str](), count(), []
    print(f"| calls | calls/s | {' | '.join(TOLERATED)} | ends |\n|{' --- |' * (len(TOLERATED) + 3)}", flush=True)
    _, sockets = descriptors()
    with tempfile.TemporaryDirectory() as folder:
        usual = {"storage": {"url": f"sqlite:///{folder}/store.db"}, "archive": {"path": f"{folder}/archive.db"}}
        bare = {"storage": {"url": "memory://"}, "cache": {"enabled": False}, "archive": {"enabled": False}}
        async with Web(settings(served, **usual)) as one, Web(settings(served, **bare)) as other:

            async def work(last: int) -> None:
                while (number := next(numbers)) < last:
                    ends[
                        await call(one if number // 4 % 2 else other, number // 8 * 4 + number % 4, served["pages"])
                    ] += 1

            for interval in range(1, intervals + 1):
                began = time.perf_counter()
                numbers = count((interval - 1) * each)
                await asyncio.gather(*(work(interval * each) for _ in range(IN_FLIGHT)))
                rate = each / (time.perf_counter() - began)
                await settle()
                server.stdin.write("forget\n")
                server.stdin.flush()
                row = measure()
                rows.append(row)
                numbers_shown = " | ".join(f"{value:,}" for value in row.values())
                print(f"| {interval * each:,} | {rate:,.0f} | {numbers_shown} | {dict(ends)} |", flush=True)
                if trace and interval == intervals // 2:
                    tracemalloc.start(12)
                    before = tracemalloc.take_snapshot()
            end = time.monotonic() + RESTING
            while descriptors()[1] > sockets and time.monotonic() < end:  # noqa: ASYNC110 - nothing tells of it
                await asyncio.sleep(0.2)
            left = descriptors()[1] - sockets
            print(f"sockets left when idle connections were closed: {left}")
    if left:
        sys.exit(f"{left} sockets stayed open")
    if trace:
        for line in tracemalloc.take_snapshot().compare_to(before, "lineno")[:25]:
            print(line, file=sys.stderr)
    unexpected = {name: number for name, number in ends.items() if name not in {"cached", "fetched", "cancelled"}}
    if unexpected:
        sys.exit(f"Calls failed: {unexpected}")
    return rows[intervals // 2 - 1 :]


@contextmanager
def serving() -> Iterator[subprocess.Popen[str]]:
    tests = {"PYTHONPATH": str(Path(__file__).resolve().parents[1] / "tests")}
    server = subprocess.Popen(
        [sys.executable, "-c", SERVER],
        env=os.environ | tests,
        stdin=subprocess.PIPE,
        stdout=subprocess.PIPE,
        text=True,
    )
    try:
        yield server
    finally:
        server.communicate("")


def main() -> None:
    """Run the soak test, and print what grew."""
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    parser.add_argument("--calls", type=int, default=100_000)
    parser.add_argument("--intervals", type=int, default=20)
    parser.add_argument("--trace", action="store_true")
    options = parser.parse_args()
    with serving() as server:
        rows = asyncio.run(soak(server, options.calls, options.intervals, options.trace))
    grown = {name: max(row[name] for row in rows) - rows[0][name] for name in TOLERATED}
    print("grown since the warm-up: " + ", ".join(f"{name} {value:,.1f}" for name, value in grown.items()))
    if over := {name: round(value, 1) for name, value in grown.items() if value > TOLERATED[name]}:
        sys.exit(f"Not flat: {over}, tolerated are {TOLERATED}")


if __name__ == "__main__":
    main()
