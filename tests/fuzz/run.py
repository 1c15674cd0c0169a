"""Fuzz the reader: keep the inputs that reach new lines, change them, and look for what breaks.

    python tests/fuzz/run.py [--minutes 10 | --inputs 100] [--target extract ...] [--seed 1] [--crashes FOLDER]

Each target runs in a process of its own, so that a crash of the parser in C is caught, too. An input that raises, is
slower than `SLOW` or kills the process is written to the folder; the exit status is then 1.
"""

from __future__ import annotations

import argparse
import hashlib
import random
import subprocess
import sys
import time
from math import inf
from pathlib import Path

ROOT = Path(__file__).resolve().parents[2]
sys.path[:0] = [str(ROOT / "src"), str(ROOT / "tests")]

from components.data_sets import HOSTILE_PAGES
from fuzz.arcs import Arcs
from fuzz.mutate import MAX_INPUT, mutate
from fuzz.targets import SEEDS, TARGETS

SLOW = 5.0  # seconds of processor time for at most thirty thousand bytes
_PAGES = (ROOT / "src/groundwire/testing/sites/data", *HOSTILE_PAGES)


def starting_corpus(target: str) -> list[bytes]:
    """Return the inputs that a target begins with."""
    pages = [file.read_bytes() for folder in _PAGES if folder.is_dir() for file in sorted(folder.rglob("*.html"))]
    head = {"convert": b"text/html\n", "decode": b"\xf0", "inflate": b"\x03"}.get(target, b"")
    return [*SEEDS[target], *(head + page for page in pages if len(page) < MAX_INPUT)]


def fuzz(target: str, seed: int, crashes: Path, *, seconds: float = inf, inputs: float = inf) -> int:
    """Fuzz one target in this process, for so long or with so many inputs; return how many broke it.

    With a number of inputs nothing depends on the machine's speed, and no input is too slow.
    """
    chance, call, arcs = random.Random(seed), TARGETS[target], Arcs(str(ROOT / "src" / "groundwire"))
    crashes.mkdir(parents=True, exist_ok=True)
    running = crashes / f"{target}.running"
    corpus = starting_corpus(target)
    waiting = list(corpus)
    call(corpus[0])  # imports are no part of the first input's time
    ends, slow = time.monotonic() + seconds, SLOW if inputs == inf else inf
    count, broken, known = 0, 0, set[str]()
    while time.monotonic() < ends and count < inputs:
        data = waiting.pop() if waiting else mutate(chance.choice(corpus), corpus, chance)
        before, started, fault = len(arcs.seen), time.process_time(), ""
        running.write_bytes(data)
        try:
            with arcs:
                call(data)
        except Exception as error:  # noqa: BLE001 - finding what nobody expects is the purpose
            trace = error.__traceback__
            while trace is not None and trace.tb_next is not None:
                trace = trace.tb_next
            fault = f"{type(error).__name__} in line {trace.tb_lineno if trace else 0}: {error}"
        count += 1
        if not fault and time.process_time() - started > slow:
            fault = f"took {time.process_time() - started:.1f} seconds"
        if fault and (kind := fault.partition(":")[0]) not in known:
            known.add(kind)
            broken += 1
            name = crashes / f"{target}-{hashlib.sha256(data).hexdigest()[:12]}"
            name.write_bytes(data)
            print(f"{target}: {fault[:300]}\n    {name}", flush=True)
        if len(arcs.seen) > before and data not in corpus:
            corpus.append(data)
    running.unlink()
    print(f"{target}: {count:,} inputs, {len(arcs.seen):,} arcs, corpus {len(corpus)}, {broken} broke")
    return broken


def main() -> int:
    """Fuzz every target for its share of the time."""
    options = argparse.ArgumentParser(description=__doc__.partition("\n")[0])
    options.add_argument("--minutes", type=float, default=10.0, help="for all targets together")
    options.add_argument("--inputs", type=float, default=inf, help="for each target, instead of a time")
    options.add_argument("--target", nargs="*", choices=list(TARGETS), default=list(TARGETS))
    options.add_argument("--seed", type=int, default=1)
    options.add_argument("--crashes", type=Path, default=ROOT / ".fuzz")
    options.add_argument("--here", action="store_true", help=argparse.SUPPRESS)
    chosen = options.parse_args()
    minutes = chosen.minutes if chosen.inputs == inf else inf
    if chosen.here:
        seconds = 60 * minutes
        return bool(fuzz(chosen.target[0], chosen.seed, chosen.crashes, seconds=seconds, inputs=chosen.inputs))
    failed = 0
    for target in chosen.target:
        command = [
            sys.executable,
            __file__,
            "--here",
            "--target",
            target,
            "--minutes",
            str(minutes / len(chosen.target)),
        ]
        command += ["--inputs", str(chosen.inputs)]
        command += ["--minutes", str(minutes / len(chosen.target))]
        command += ["--seed", str(chosen.seed), "--crashes", str(chosen.crashes)]
        status = subprocess.run(command, check=False).returncode
        failed += bool(status)
        if status not in {0, 1}:
            print(f"{target}: the process died with status {status} on {chosen.crashes / f'{target}.running'}")
    return bool(failed)


if __name__ == "__main__":
    sys.exit(main())
