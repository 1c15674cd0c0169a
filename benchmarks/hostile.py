"""The cost of misbehaving servers: time beyond the deadline, memory, bytes read.

    python benchmarks/hostile.py [--seconds 2] [--only NAME ...]

Each behavior is met by a process of its own, which first reads an ordinary page, so that memory counts from there.
Bounds: 250 ms over the deadline, 64 MB of growth, the cap and 1 MB of bytes. The exit status is 1 when one is broken.
"""

from __future__ import annotations

import argparse
import asyncio
import json
import resource
import sys
import time
from pathlib import Path

sys.path[:0] = [str(Path(__file__).resolve().parents[1] / folder) for folder in ("src", "tests")]

from components.hostile import BEHAVIORS, CAP, HostileServer

OVER = 0.25  # seconds
GROWTH = 64  # MB
AHEAD = 1_000_000  # bytes


def peak() -> float:
    """Return the peak memory of this process, in MB."""
    return resource.getrusage(resource.RUSAGE_SELF).ru_maxrss / (1_000_000 if sys.platform == "darwin" else 1_000)


async def visit(origin: str, name: str, seconds: float) -> dict[str, object]:
    """Read one page in this process and print its cost."""
    from groundwire.deadline import Deadline
    from groundwire.errors import GroundwireError
    from groundwire.reading.local import LocalReadProvider
    from groundwire.safety.guard import Guard
    from groundwire.transport import Transport

    transport = Transport(Guard(allowed_origins=(origin,)))
    reader = LocalReadProvider(transport)
    for _ in range(3):
        await reader.read_url(f"{origin}/right", deadline=Deadline.after(20))
    before = peak()
    started = time.perf_counter()
    try:
        result = await reader.read_url(f"{origin}/{name}", deadline=Deadline.after(seconds))
        outcome = "text" if "The lighthouse keeper counts ships every eve" in result.content else "Heavy"
    except GroundwireError as error:
        outcome = type(error).__name__
    took = time.perf_counter() - started
    await reader.aclose()
    await transport.aclose()
    return {"outcome": outcome, "took": took, "growth": peak() - before}


async def main() -> int:
    """Visit every behavior and print the table."""
    options = argparse.ArgumentParser(description=__doc__.partition("\n")[0])
    options.add_argument("--seconds", type=float, default=2.0, help="the deadline of each visit")
    options.add_argument("--only", nargs="*", default=list(BEHAVIORS), choices=list(BEHAVIORS))
    options.add_argument("--visit", nargs=2, help=argparse.SUPPRESS)
    chosen = options.parse_args()
    if chosen.visit:
        print(json.dumps(await visit(*chosen.visit, chosen.seconds)))
        return 0
    bad = 0
    print(f"{'behavior':28} {'outcome':20} {'seconds':>8} {'growth MB':>10} {'pulled MB':>10}")
    async with HostileServer() as server:
        for name in chosen.only:
            child = await asyncio.create_subprocess_exec(
                sys.executable, __file__, "--seconds", str(chosen.seconds), "--visit", server.origin, name,
                stdout=asyncio.subprocess.PIPE,
            )  # fmt: skip
            said, _ = await child.communicate()
            found = json.loads(said)
            pulled = server.sent.get(name, 0)
            broken = [
                word
                for word, wrong in {
                    "outcome": found["outcome"] not in BEHAVIORS[name][1].split(),
                    "late": found["took"] > chosen.seconds + OVER,
                    "memory": found["growth"] > GROWTH,
                    "bytes": pulled > CAP + AHEAD,
                }.items()
                if wrong
            ]
            bad += bool(broken)
            print(
                f"{name:28} {found['outcome']:20} {found['took']:8.3f} {found['growth']:10.1f} {pulled / 1e6:10.2f}"
                f"  {' '.join(broken)}",
                flush=True,
            )
    print(f"{len(chosen.only) - bad} of {len(chosen.only)} within bounds")
    return bool(bad)


if __name__ == "__main__":
    sys.exit(asyncio.run(main()))
