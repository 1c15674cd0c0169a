"""The source files that one call uses: a default search and an opened page, on the miniature web.

A call counts when a function of one file enters a function of another, what lies between them in the standard library
left out; a coroutine counts once, however often it is resumed. The first call of each kind is not watched, so that what
is set up once does not count.

Of a search, the visits are also counted: how often a function of a file gets the search itself, as a `SearchCall` or a
`Query`, from a function of another file.

    python benchmarks/walk.py [--calls | --json]
"""

from __future__ import annotations

import argparse
import asyncio
import json
import sys
import threading
from collections import Counter
from collections.abc import Awaitable, Callable, Iterable, Iterator
from contextlib import contextmanager
from dataclasses import dataclass, field
from functools import partial
from pathlib import Path
from types import FrameType

sys.path.insert(0, str(Path(__file__).resolve().parents[1] / "tests"))

import groundwire
from groundwire import Web
from groundwire.models import Query
from groundwire.routing.calls import SearchCall
from groundwire.settings import Settings
from groundwire.testing import World

QUERIES = ("reciprocal rank fusion", "rank fusion reciprocal", "fusion reciprocal rank")  # with the same results
ROOT = str(Path(groundwire.__file__).parent) + "/"


@dataclass
class Walk:
    """What was seen of one call."""

    files: set[str] = field(default_factory=set)
    """The files that were entered, relative to the package."""
    calls: Counter[tuple[str, str]] = field(default_factory=Counter)
    """How often functions of one file entered functions of another."""
    visits: Counter[str] = field(default_factory=Counter)
    """How often each file was entered from another one with the search itself among the arguments."""
    frames: list[FrameType] = field(default_factory=list)
    """Every frame that was seen, held so that no other takes its identity."""
    seen: set[int] = field(default_factory=set)

    @property
    def both_ways(self) -> list[tuple[str, str]]:
        """Pairs of files that call each other."""
        return sorted((one, other) for one, other in self.calls if one < other and (other, one) in self.calls)

    @property
    def figures(self) -> dict[str, object]:
        """What a test holds."""
        return {
            "files": sorted(self.files),
            "calls": self.calls.total(),
            "both_ways": self.both_ways,
            "visits": dict(+self.visits),
        }

    def enter(self, frame: FrameType, event: str, _: object) -> None:
        """Note a call; a profile function of `sys.setprofile`."""
        if event != "call" or (name := _file(frame)) is None or id(frame) in self.seen:
            return
        self.seen.add(id(frame))
        self.frames.append(frame)
        self.files.add(name)
        caller = frame.f_back
        while caller is not None and (above := _file(caller)) is None:
            caller = caller.f_back
        if caller is not None and above is not None and above != name:
            self.calls[above, name] += 1
            self.visits[name] += _takes_search(frame)


def _file(frame: FrameType) -> str | None:
    path = frame.f_code.co_filename
    return path.removeprefix(ROOT) if path.startswith(ROOT) and not path.startswith(f"{ROOT}testing/") else None


def _takes_search(frame: FrameType) -> bool:
    code = frame.f_code
    names = code.co_varnames[: code.co_argcount + code.co_kwonlyargcount]
    return any(isinstance(frame.f_locals.get(name), (SearchCall, Query)) for name in names if name != "self")


@contextmanager
def watched() -> Iterator[Walk]:
    """Watch the calls that this thread and those which it begins make in the block."""
    walk = Walk()
    threading.setprofile(walk.enter)
    sys.setprofile(walk.enter)
    try:
        yield walk
    finally:
        sys.setprofile(None)
        threading.setprofile(None)


async def walks(world: World) -> dict[str, Walk]:
    """Watch a search and a page with everything on that is on by default."""
    settings = Settings.model_validate(
        {
            "search": {"providers": ("searxng",)},
            "policy": {"allowed_origins": world.origins},
            "providers": {"searxng": {"base_url": world.searxng.url}},
            "storage": {"url": "memory://"},
        }
    )
    async with Web(settings) as web:
        found = await web.search("search engines")
        await web.open_page(found.results[0].url)
        return {
            "search": await _least(partial(web.search, words) for words in QUERIES),
            "open_page": await _least(partial(web.open_page, row.url) for row in found.results[1:4]),
        }


async def _least(calls: Iterable[Callable[[], Awaitable[object]]]) -> Walk:
    """Watch calls, and return the shortest walk: in the others, work that goes on in the background was seen too."""
    made = []
    for call in calls:
        with watched() as walk:
            await call()
        made.append(walk)
    return min(made, key=lambda walk: (len(walk.files), walk.calls.total()))


def main() -> None:
    """Print what was seen."""
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--calls", action="store_true", help="print every call between files")
    parser.add_argument("--json", action="store_true", help="print the figures as JSON")
    options = parser.parse_args()
    with World() as world:
        made = asyncio.run(walks(world))
        if options.json:
            print(json.dumps({name: walk.figures for name, walk in made.items()}))
            return
        for name, walk in made.items():
            print(
                f"{name}: {len(walk.files)} files, {walk.calls.total()} calls between files ({len(walk.calls)} pairs)"
            )
            print("  files:", " ".join(sorted(walk.files)))
            print("  both ways:", "; ".join(" <-> ".join(pair) for pair in walk.both_ways) or "none")
            print("  visits:", " ".join(f"{file} {times}" for file, times in (+walk.visits).most_common()) or "none")
            if options.calls:
                for (caller, callee), times in sorted(walk.calls.items()):
                    print(f"  {times:4} {caller} -> {callee}")


if __name__ == "__main__":
    main()
