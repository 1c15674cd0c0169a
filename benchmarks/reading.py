"""CPU time from bytes to Markdown: news, mixed pages, and articles, page by page beside trafilatura and resiliparse.

    python -m benchmarks.reading FOLDER --web FOLDER [--pages 100] [--repeat 2] [--only groundwire,trafilatura]

FOLDER has the mixed pages and the articles, `--web` the news pages, all as they were served, with style sheets and
scripts. Every reader does all that it does for a page: decoding, style sheets, metadata, main content, Markdown. They
take turns at each page in one process, and the least time of `--repeat` turns counts, so that a busy machine slows all
of them alike: the ratios are the figures. Then each page is read once more while the calls of functions are counted,
those of Python and those into C, for each node of the page; these do not depend on the machine. Readers that are not
installed are left out.
"""

from __future__ import annotations

import argparse
import importlib.metadata
import random
import statistics
import sys
import time
from collections import Counter
from pathlib import Path

from turbohtml import parse

from benchmarks.extraction.pages import Page, read_pages, read_web_pages
from benchmarks.extraction.quality import READERS, Reader

_PEER = "trafilatura"


def sample_pages(folder: Path, web: Path | None, count: int, seed: int) -> dict[str, list[Page]]:
    """Return up to `count` pages of each set."""
    mixed = list(read_pages(folder))
    sets = {
        "news": list(read_web_pages(web)) if web else [],
        "mixed": [page for page in mixed if page.kind != "article"],
        "articles": [page for page in mixed if page.kind == "article"],
    }
    draw = random.Random(seed)
    return {name: draw.sample(pages, min(count, len(pages))) for name, pages in sets.items() if pages}


def least_seconds(readers: dict[str, Reader], pages: list[Page], repeat: int) -> dict[str, list[float]]:
    """Return the CPU time of each reader for each page, the least of several turns."""
    seconds: dict[str, list[float]] = {name: [] for name in readers}
    for number, page in enumerate(pages):
        body, least = page.body(), dict.fromkeys(readers, float("inf"))
        for turn in range(repeat):
            order = random.Random(f"{number}.{turn}").sample(sorted(readers), len(readers))
            for name in order:
                start = time.process_time()
                readers[name](body, page.url)
                least[name] = min(least[name], time.process_time() - start)
        for name, value in least.items():
            seconds[name].append(value)
    return seconds


def calls_per_node(reader: Reader, pages: list[Page]) -> tuple[float, float]:
    """Return how many calls of Python functions and of C functions a reader makes for each node of the pages."""
    calls, nodes = Counter[str](), 0
    for page in pages:
        body = page.body()
        nodes += sum(1 for _ in parse(body.decode("utf-8", "replace")).descendants)
        sys.setprofile(lambda _frame, event, _argument: calls.update((event,)))
        try:
            reader(body, page.url)
        finally:
            sys.setprofile(None)
    return calls["call"] / nodes, calls["c_call"] / nodes


def share(values: list[float], percent: int) -> float:
    """Return a percentile."""
    return sorted(values)[min(len(values) - 1, len(values) * percent // 100)]


def main() -> None:
    """Measure and print a table for each set."""
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("folder", type=Path, help="the developers' pages")
    parser.add_argument("--web", type=Path, help="whole news pages")
    parser.add_argument("--pages", type=int, default=100, help="at most so many of each set")
    parser.add_argument("--repeat", type=int, default=2, help="how often each page is read; the least time counts")
    parser.add_argument("--seed", type=int, default=5, help="which pages are drawn")
    parser.add_argument("--counted", type=int, default=10, help="pages of each set whose calls are counted")
    parser.add_argument("--only", default=f"groundwire,{_PEER},resiliparse", help="readers, with commas between them")
    options = parser.parse_args()
    readers: dict[str, Reader] = {}
    for name in options.only.split(","):
        package, make = READERS[name]
        try:
            print(name, importlib.metadata.version(package) if package else "")
            readers[name] = make(None)
        except importlib.metadata.PackageNotFoundError:
            print(f"{name}: not installed, left out")
    for set_name, pages in sample_pages(options.folder, options.web, options.pages, options.seed).items():
        for reader in readers.values():  # what is loaded and compiled on first use
            reader(pages[0].body(), pages[0].url)
        seconds = least_seconds(readers, pages, options.repeat)
        print(f"\n{set_name}: {len(pages)} pages, CPU milliseconds a page")
        for name, own in seconds.items():
            line = f"{name:12} mean {1000 * statistics.mean(own):6.1f}  p50 {1000 * share(own, 50):6.1f}"
            line += f"  p99 {1000 * share(own, 99):6.1f}"
            if (theirs := seconds.get(_PEER)) is not None and name != _PEER:
                ratios = [their / mine for their, mine in zip(theirs, own, strict=True)]
                line += f"  {sum(theirs) / sum(own):.2f} times as fast as {_PEER} (median of pages"
                line += f" {statistics.median(ratios):.2f}), slower on {sum(ratio < 1 for ratio in ratios)} pages,"
                line += f" p99 {share(own, 99) / statistics.median(theirs):.1f} of its medians"
            print(line)
        for name in readers:
            python, native = calls_per_node(readers[name], pages[: options.counted])
            print(f"{name:12} calls a node: {python:.1f} of Python, {native:.1f} into C")


if __name__ == "__main__":
    main()
