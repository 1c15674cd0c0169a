"""How long the archive takes for a search, by the number of pages: median and 99th percentile for each kind of query.

Each page has 240 words by Zipf's law from 60,000. Half of them are the local user's, half those of ten tenants. A query
of `common` words has three of the twenty most frequent; the others take theirs from one page: `many` its ten most and
its ten least frequent ones, `mixed` three and three, `rare` the three least frequent, `answers` five in a row, asked as
in an outage. `tenant` and `local` are common words for one of these owners; all others are asked by the operator. The
rows are written by the archive's own tables, the searches go through `Archive`. `--url` names a PostgreSQL database.

    python benchmarks/archive.py [--pages 10000 100000] [--queries 100] [--url postgresql://...] [--at-once 1]
"""

from __future__ import annotations

import argparse
import asyncio
import random
import tempfile
import time
from collections.abc import Iterator
from itertools import accumulate
from pathlib import Path
from typing import Any, Final

from groundwire.models import Page
from groundwire.safety.tenancy import LOCAL, OPERATOR, Owner, Viewer
from groundwire.storage.archive.records import Item, page_item
from groundwire.storage.archive.sqlite import SqliteTables
from groundwire.storage.archive.store import Archive
from groundwire.storage.archive.tables import ArchiveTables
from groundwire.storage.base import StoreError

WORDS: Final = 60_000
A_PAGE: Final = 240  # words
TENANTS: Final = 20  # of which the odd ones have pages
WEEK: Final = 604_800_000  # milliseconds
START: Final = 1_700_000_000_000
VIEWERS: Final = {"tenant": Owner("t7"), "local": LOCAL}
BATCH: Final = 2_000  # pages of one transaction
SYLLABLES: Final = [a + b for a in "bdfgklmnprstvz" for b in "aiou"]


def vocabulary() -> list[str]:
    """Return the words, the most frequent first: five or six letters without an ending of a language."""
    lots, size = random.Random(1), len(SYLLABLES)
    words = {"".join(lots.choices(SYLLABLES, k=3)) + lots.choice("kvz") for _ in range(size * 20_000)}
    return lots.sample(sorted(words), WORDS)


class Corpus:
    """Pages, and queries for them."""

    def __init__(self) -> None:
        self.words = vocabulary()
        self.ranks = {word: rank for rank, word in enumerate(self.words)}
        self.weights = list(accumulate(1 / (rank + 2.7) for rank in range(WORDS)))

    def text(self, number: int) -> str:
        """Return the text of a page, always the same one."""
        return " ".join(random.Random(number).choices(self.words, cum_weights=self.weights, k=A_PAGE))

    def items(self, pages: int, *, weeks: int) -> Iterator[Item]:
        """Yield the rows, the oldest first."""
        for number in range(pages):
            text = self.text(number)
            page = Page(url=f"https://{number % 997}.example/{number}", title=text[:60], content=text, reader="local")
            seen = START + number * weeks * WEEK // pages
            item = page_item(page, seen, Owner(f"t{number % TENANTS}") if number % 2 else LOCAL)
            if item is not None:
                yield item

    def queries(self, kind: str, count: int, pages: int) -> list[str]:
        """Return queries of a kind."""
        lots = random.Random(kind)
        made = []
        for _ in range(count):
            page = self.text(lots.randrange(pages)).split()
            common, ranked = self.words[:20], sorted(set(page), key=self.ranks.__getitem__)
            some = {
                "common": lots.sample(common, 3),
                "tenant": lots.sample(common, 3),
                "local": lots.sample(common, 3),
                "many": ranked[:10] + ranked[-10:],
                "mixed": ranked[:3] + ranked[-3:],
                "answers": page[100:105],
                "rare": ranked[-3:],
            }[kind]
            made.append(" ".join(some))
        return made


def fill(tables: ArchiveTables[Any], corpus: Corpus, pages: int, weeks: int) -> None:
    """Write the pages."""
    started, cpu, batch = time.perf_counter(), time.process_time(), list[Item]()
    for item in corpus.items(pages, weeks=weeks):
        batch.append(item)
        if len(batch) == BATCH:
            tables.put(batch, max_bytes=1 << 60, oldest=0)
            batch.clear()
    tables.put(batch, max_bytes=1 << 60, oldest=0)
    each, busy = (time.perf_counter() - started) / pages, (time.process_time() - cpu) / pages
    print(f"{pages:,} pages written, {each * 1e3:.2f} ms and {busy * 1e3:.2f} ms of CPU here a page")


async def search(archive: Archive, query: str, kind: str, free: asyncio.Semaphore) -> tuple[float, bool]:
    """Return how many milliseconds a search took, and whether it found something."""
    viewer: Viewer = VIEWERS.get(kind, OPERATOR)
    async with free:
        began = time.perf_counter()
        try:
            found = bool(await archive.search(query, viewer=viewer, answers=kind == "answers"))
        except StoreError as error:
            print(error)
            found = False
        return 1_000 * (time.perf_counter() - began), found


async def measure(archive: Archive, corpus: Corpus, arguments: argparse.Namespace, pages: int) -> None:
    """Print the times of each kind of query."""
    for kind in ("common", "many", "mixed", "rare", "answers", "tenant", "local"):
        free = asyncio.Semaphore(arguments.at_once)
        asked = corpus.queries(kind, arguments.queries, pages)
        cpu = time.process_time()
        done = await asyncio.gather(*(search(archive, query, kind, free) for query in asked))
        each = 1_000 * (time.process_time() - cpu) / len(done)
        took = sorted(milliseconds for milliseconds, _ in done)
        p50, p99 = took[len(took) // 2], took[min(len(took) - 1, len(took) * 99 // 100)]
        answered = sum(found for _, found in done)
        times = f"p50 {p50:8.1f} ms  p99 {p99:8.1f} ms  CPU here {each:6.1f} ms"
        print(f"{pages:>9,} {kind:8} {times}  answered {answered} of {len(took)}", flush=True)


async def main() -> None:
    """Measure each size."""
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--pages", type=int, nargs="+", default=[10_000, 100_000])
    parser.add_argument("--queries", type=int, default=100)
    parser.add_argument("--weeks", type=int, default=26)
    parser.add_argument("--at-once", type=int, default=1)
    parser.add_argument("--url", default="")
    parser.add_argument("--folder", type=Path, help="where the files are made")
    parser.add_argument("--filled", action="store_true", help="the pages are there from an earlier run")
    arguments = parser.parse_args()
    corpus = Corpus()
    with tempfile.TemporaryDirectory() as scratch:
        for pages in arguments.pages:
            path = (arguments.folder or Path(scratch)) / f"{pages}.db"
            if not arguments.filled:
                tables: ArchiveTables[Any] = SqliteTables(path)
                if arguments.url:
                    from groundwire.storage.archive.postgres import PostgresTables

                    tables = PostgresTables(arguments.url)
                fill(tables, corpus, pages, arguments.weeks)
                tables.close()
            archive = Archive(arguments.url or path)
            await measure(archive, corpus, arguments, pages)
            await archive.aclose()


if __name__ == "__main__":
    asyncio.run(main())
