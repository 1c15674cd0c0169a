"""What survives `kill -9` during a write: 200 times, on one store file and one archive file that are never reset.

Each round is a process of its own that searches without a pause, eight searches at a time: every one is counted in a
shared session, priced, cached, and its results archived; beside them pages are archived one after the other. It
acknowledges a search on its standard output when `Web.search` has returned, and a page when `Archive.flush` has. After
some acknowledgements, among them two searches and a page, and milliseconds, both drawn by lot, it is killed. Then both
files must pass SQLite's `integrity_check` and its foreign-key check, open through our own code, hold every acknowledged
page, and have counted every acknowledged search, in numbers and in money. `torn` are the rounds in which something was
counted or kept that had not been acknowledged: the kill came in the middle. Ends with 1 if anything was lost.

    python benchmarks/crash.py [--rounds 200] [--seed 1] [--one-file]
"""

from __future__ import annotations

import argparse
import asyncio
import json
import random
import sqlite3
import subprocess
import sys
import tempfile
import time
from collections.abc import AsyncIterator, Sequence
from contextlib import closing
from dataclasses import dataclass, field
from itertools import count
from pathlib import Path
from urllib.parse import quote

from groundwire import Settings, Web
from groundwire.deadline import Deadline
from groundwire.models import NO_FILTERS, Filters, Page, ReadResult, Results, SearchResult
from groundwire.providers import Capabilities
from groundwire.safety.tenancy import LOCAL, OPERATOR
from groundwire.storage.archive.store import Archive, ArchiveHit

SESSION = "crash"
PRICE_USD = 0.005
SEARCHING = 8  # searches at a time
MOST_ACKNOWLEDGED = 60  # in one round
MOST_DELAY = 0.02  # seconds between the last acknowledgement that is read and the kill


class Instant:
    """A paid provider and a reader that answer at once, without a network."""

    name = "instant"
    capabilities = Capabilities(search=True, read=True)
    price_usd = PRICE_USD

    async def search(
        self, query: str, *, limit: int = 5, filters: Filters = NO_FILTERS, deadline: Deadline | None = None
    ) -> Results:
        rows = (
            SearchResult(
                title=f"{query} {number}", url=f"https://{number}.example/{quote(query)}", snippet=f"{query} " * 40
            )
            for number in range(limit)
        )
        return Results(tuple(rows), cost_usd=PRICE_USD)

    async def read_url(self, url: str, *, deadline: Deadline | None = None) -> ReadResult:
        return ReadResult(url=url, content="words " * 2_000, success=True)


def settings(folder: Path, archive: str) -> Settings:
    return Settings.model_validate(
        {
            "session": {"id": SESSION, "max_searches": 0},
            # Nor is a busy machine to refuse calls: one that may take ten minutes bears a lag of ten seconds.
            "search": {"timeout": 600},
            # A busy machine may write late; what process memory counted instead would be lost with the process.
            "storage": {"url": f"sqlite:///{folder}/store.db", "timeout": 60},
            "archive": {"path": f"{folder}/{archive}"},
        }
    )


async def write(folder: Path, archive: str, number: int) -> None:
    """Search and keep pages until killed."""
    provider, numbers = Instant(), count()
    async with Web(settings(folder, archive), search_providers=[provider], read_providers=[provider]) as web:
        beside = Archive(folder / archive)

        async def search() -> None:
            while True:
                await web.search(f"words {number} {next(numbers)}")
                _say("search")

        async def keep() -> None:
            for page in count():
                url = f"https://pages.example/{number}/{page}"
                beside.remember(Page(url=url, title=f"Page {page}", content=f"page {page} " * 1_500), owner=LOCAL)
                await beside.flush()
                if not beside.problem:
                    _say(url)

        await asyncio.gather(*(search() for _ in range(SEARCHING)), keep())


@dataclass
class Ledger:
    """The acknowledged data, and the data found afterwards."""

    searches: int = 0
    paid: int = 0
    pages: set[str] = field(default_factory=set)
    torn: int = 0
    faults: list[str] = field(default_factory=list)


def play(folder: Path, archive: str, number: int, chance: random.Random, ledger: Ledger) -> None:
    """One process, from its start to its kill."""
    command = [sys.executable, "-W", "error", __file__, "--child", str(folder), archive, str(number)]
    wanted = chance.randrange(1, MOST_ACKNOWLEDGED)
    with subprocess.Popen(command, stdout=subprocess.PIPE, text=True) as process:
        assert process.stdout is not None
        try:
            lines: list[str] = []
            while not _enough(lines, wanted) and (line := process.stdout.readline()):
                lines.append(line)
            ended = not _enough(lines, wanted)
            time.sleep(chance.uniform(0, MOST_DELAY))
        finally:
            process.kill()
        lines += process.stdout.readlines()  # acknowledged before the kill, and not read yet
    whole = [line.strip() for line in lines if line.endswith("\n")]
    if ended:
        ledger.faults.append(f"round {number}: the process ended by itself after {len(whole)} acknowledgements")
    ledger.searches += whole.count("search")
    ledger.paid += whole.count("search")
    ledger.pages.update(line for line in whole if line != "search")


def _enough(lines: Sequence[str], wanted: int) -> bool:
    """Whether so many were acknowledged, of both kinds: which of them is the faster depends on the machine."""
    searches = lines.count("search\n")
    return len(lines) >= wanted and searches >= 2 and len(lines) > searches


async def examine(folder: Path, archive: str, number: int, ledger: Ledger) -> None:
    """Check that no acknowledged data was lost, through SQLite itself and through Groundwire."""
    for name in {"store.db", archive}:
        with closing(sqlite3.connect(folder / name)) as db:
            for pragma in ("integrity_check", "foreign_key_check"):
                found = db.execute(f"pragma {pragma}").fetchall()
                if found not in ([("ok",)], []):
                    ledger.faults.append(f"round {number}: {pragma} of {name}: {found[:3]}")
    if aside := _moved_aside(folder):
        ledger.faults.append(f"round {number}: moved aside: {aside}")
    provider = Instant()
    async with Web(settings(folder, archive), search_providers=[provider], read_providers=[provider]) as web:
        used = await web.usage()
    counted, paid = round(used["searches"]), round(used["cost_usd"] / PRICE_USD)
    if counted < ledger.searches:
        ledger.faults.append(f"round {number}: {ledger.searches} searches acknowledged, {counted} counted")
    if paid < ledger.paid:
        ledger.faults.append(f"round {number}: {ledger.paid} searches acknowledged, {paid} paid for")
    opened = Archive(folder / archive)
    held = {found.url async for found in _pages(opened)}
    await opened.aclose()
    if lost := ledger.pages - held:
        ledger.faults.append(f"round {number}: {len(lost)} acknowledged pages are gone, such as {min(lost)}")
    ledger.torn += counted > ledger.searches or paid > ledger.paid or len(held) > len(ledger.pages)
    ledger.searches, ledger.paid, ledger.pages = (
        counted,
        paid,
        held,
    )  # what is there now must be there after the next kill too


def _moved_aside(folder: Path) -> list[str]:
    return [path.name for path in folder.glob("*.corrupt-*")]


async def _pages(archive: Archive) -> AsyncIterator[ArchiveHit]:
    offset = 0
    while found := await archive.list(500, offset, viewer=OPERATOR):
        for one in found:
            if one.url.startswith("https://pages.example/"):
                yield one
        offset += len(found)


def _say(line: str) -> None:
    print(line, flush=True)


def main() -> None:
    """Run all rounds and print the results."""
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    parser.add_argument("--rounds", type=int, default=200)
    parser.add_argument("--seed", type=int, default=1)
    parser.add_argument("--one-file", action="store_true", help="keep store and archive in the same file")
    parser.add_argument("--child", nargs=3, help=argparse.SUPPRESS)
    options = parser.parse_args()
    if options.child:
        folder, archive, number = options.child
        asyncio.run(write(Path(folder), archive, int(number)))
        return
    archive = "store.db" if options.one_file else "archive.db"
    ledger, chance, began = Ledger(), random.Random(options.seed), time.perf_counter()
    with tempfile.TemporaryDirectory() as name:
        for number in range(1, options.rounds + 1):
            play(Path(name), archive, number, chance, ledger)
            asyncio.run(examine(Path(name), archive, number, ledger))
            if number % 20 == 0:
                print(f"{number} rounds, {len(ledger.faults)} faults ...", file=sys.stderr)
        size = sum(path.stat().st_size for path in Path(name).iterdir())
    print(
        json.dumps(
            {
                "kills": options.rounds,
                "torn": ledger.torn,
                "searches": ledger.searches,
                "pages": len(ledger.pages),
                "bytes": size,
                "seconds": round(time.perf_counter() - began, 1),
                "faults": len(ledger.faults),
            }
        )
    )
    if ledger.faults:
        sys.exit("\n".join(ledger.faults))


if __name__ == "__main__":
    main()
