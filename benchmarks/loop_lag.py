"""How long reading real pages blocks the event loop.

    python benchmarks/loop_lag.py [--pages 300] [--at-once 4] [--heavy 400000]

A probe asks to be woken every millisecond while pages of the shared extraction set, and giants, are converted as the
reader converts them: in a thread, or from `--heavy` bytes on in a process. Prints the probe's delays.
"""

from __future__ import annotations

import argparse
import asyncio
import gzip
import sys
import time
from concurrent.futures import ThreadPoolExecutor
from functools import partial
from pathlib import Path

ROOT = Path(__file__).resolve().parents[1]
sys.path[:0] = [str(ROOT / "src")]

from groundwire.reading.convert import convert
from groundwire.reading.html.limits import HEAVY_BYTES, is_heavy
from groundwire.reading.workers.pool import Workers

GIANTS = {
    "deep": b"<div>" * 90_000,
    "paragraphs": b"<p>a paragraph</p>" * 25_000,
    "word": b"w" * 500_000,
    "formatting": b"".join(b"<p><b id=%d>" % number for number in range(5_000)),
    "cells": b"<table>" + (b"<tr>" + b"<td>c</td>" * 40) * 40,
    "links": b"<a href=/a>b</a> " * 9_000,
    "huge table": b"<table>" + (b"<tr>" + b"<td>cell</td>" * 700) * 700,
    "huge flat": b"".join(b"<p>Paragraph %d.</p>" % number for number in range(100_000)),
    "bytes": b"\xe4\xf6\xfc \xdf" * 90_000,
}


async def main() -> int:
    """Measure and print."""
    options = argparse.ArgumentParser(description=__doc__.partition("\n")[0])
    options.add_argument("--pages", type=int, default=300)
    options.add_argument("--at-once", type=int, default=4)
    options.add_argument("--heavy", type=int, default=HEAVY_BYTES)
    chosen = options.parse_args()
    files = sorted((ROOT.parent / "shared" / "data" / "extraction" / "html").glob("*.html.gz"))
    step = max(1, len(files) // chosen.pages)
    pages = [(file.name, gzip.decompress(file.read_bytes())) for file in files[::step]]
    workers, threads = Workers(), ThreadPoolExecutor(2)
    delays: list[tuple[float, str]] = []
    now: set[str] = set()

    async def probe() -> None:
        while True:
            before = time.perf_counter()
            await asyncio.sleep(0.001)
            delays.append((time.perf_counter() - before - 0.001, ", ".join(sorted(now))))

    async def one(name: str, body: bytes, turn: asyncio.Semaphore) -> bool:
        async with turn:
            now.add(name)
            heavy = is_heavy(body) or len(body) > chosen.heavy
            if heavy:
                request = {
                    "content_type": "text/html",
                    "url": "https://a.example/",
                    "headers": {},
                    "seconds": 12,
                    "parts": {},
                }
                await workers.run("groundwire.reading.convert:convert_in_worker", request, body)
            else:
                here = partial(convert, body, "text/html", "https://a.example/", headers={})
                await asyncio.get_running_loop().run_in_executor(threads, here)
            now.discard(name)
            return heavy

    await asyncio.get_running_loop().run_in_executor(
        threads, partial(convert, pages[0][1], "", "https://a.example/", headers={})
    )
    watching = asyncio.ensure_future(probe())
    for title, group in (("real pages", pages), ("giants", list(GIANTS.items()))):
        delays.clear()
        started = time.perf_counter()
        turn = asyncio.Semaphore(chosen.at_once)
        heavy = sum(await asyncio.gather(*(one(name, body, turn) for name, body in group)))
        ordered = sorted(delays)
        print(
            f"{title}: {len(group)} ({heavy} in a process) in {time.perf_counter() - started:.1f} s; the loop was held "
            f"p50 {ordered[len(ordered) // 2][0] * 1e3:.1f} p99 {ordered[len(ordered) * 99 // 100][0] * 1e3:.1f} "
            f"max {ordered[-1][0] * 1e3:.1f} ms"
        )
        for delay, names in ordered[:-6:-1]:
            print(f"    {delay * 1e3:6.1f} ms  {names}")
    watching.cancel()
    await workers.aclose()
    threads.shutdown()
    return 0


if __name__ == "__main__":
    sys.exit(asyncio.run(main()))
