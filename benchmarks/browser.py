"""How long a warm browser takes for a page, and whether the page is complete: Groundwire's readers and Crawl4AI.

All take turns page by page, with the same Chromium, against the same local site. `Crawl4AI, told` is told which element
to wait for, which nobody knows of a page that he has not seen; `Crawl4AI` has its defaults. Ours go through the proxy
that vets every connection, and their time includes extraction.
"""

from __future__ import annotations

import argparse
import asyncio
import json
import statistics
import sys
import tempfile
import time
from collections.abc import Awaitable, Callable
from pathlib import Path
from subprocess import DEVNULL, PIPE

ROOT = Path(__file__).resolve().parents[1]
sys.path[:0] = [str(ROOT / "src"), str(ROOT / "tests")]

from components.application import PARAGRAPHS, Application
from components.environment import crawl4ai_python
from groundwire import Settings, Web
from groundwire.reading.browser.launch import find_chromium
from groundwire.testing import EmulatedResponse
from world import World

Show = Callable[[str, str, str], Awaitable[tuple[float, bool]]]
PAGES = {"static": "article", "filled at once": "article", "filled after 300 ms": "article"}
PATHS = {"static": "/static", "filled at once": "/now", "filled after 300 ms": "/late"}


def ours(web: Web) -> Show:
    async def show(url: str, wanted: str, element: str) -> tuple[float, bool]:
        began = time.perf_counter()
        page = await web.open_page(url, timeout=30)
        return time.perf_counter() - began, wanted in page.content

    return show


def theirs(process: asyncio.subprocess.Process, *, told: bool) -> Show:
    async def show(url: str, wanted: str, element: str) -> tuple[float, bool]:
        assert process.stdin is not None
        assert process.stdout is not None
        asked = {"url": url, "wanted": wanted, "wait_for": f"css:{element}" if told else None}
        process.stdin.write(json.dumps(asked).encode() + b"\n")
        answer = json.loads(await process.stdout.readline())
        return answer["seconds"], answer["right"]

    return show


async def main(rounds: int) -> None:
    executable = find_chromium()
    if executable is None:
        sys.exit("There is no Chromium on this machine.")
    python = crawl4ai_python(ROOT / ".venv-crawl4ai", lambda text: print(text, file=sys.stderr))
    with World() as world, tempfile.TemporaryDirectory() as home:
        site = world.add(Application())
        text = "".join(f"<p>{paragraph}</p>" for paragraph in PARAGRAPHS * 20)
        site.pages["/static"] = EmulatedResponse.html(
            f"<title>The orchard</title><article><h1>Orchard</h1>{text}</article>"
        )
        given = json.dumps({"home": home, "executable": str(executable)})
        peer = await asyncio.create_subprocess_exec(
            str(python), str(ROOT / "benchmarks/browser_peer.py"), given, stdin=PIPE, stdout=PIPE, stderr=DEVNULL
        )
        webs = [Web(settings(site.url, name, str(executable), str(python))) for name in ("browser", "crawl4ai")]
        contenders = {
            "groundwire, browser": ours(webs[0]),
            "groundwire, crawl4ai": ours(webs[1]),
            "Crawl4AI": theirs(peer, told=False),
            "Crawl4AI, told": theirs(peer, told=True),
        }
        took: dict[tuple[str, str], list[tuple[float, bool]]] = {}
        for number in range(rounds + 2):  # the first two are for warming up
            for page, path in PATHS.items():
                for name, show in contenders.items():
                    seen = await show(f"{site.url}{path}?{number}", PARAGRAPHS[-1], PAGES[page])
                    if number > 1:
                        took.setdefault((page, name), []).append(seen)
        for web in webs:
            await web.aclose()
        assert peer.stdin is not None
        peer.stdin.close()
        await peer.wait()
    report(took, list(contenders))


def settings(origin: str, reader: str, executable: str, python: str) -> Settings:
    return Settings.model_validate(
        {
            "search": {"providers": ("duckduckgo",)},
            "read": {"providers": (reader,)},
            "providers": {reader: {"executable": executable} | ({"python": python} if reader == "crawl4ai" else {})},
            "policy": {"allowed_origins": (origin,)},
            "storage": {"url": "memory://"},
            "cache": {"enabled": False},
            "archive": {"enabled": False},
        }
    )


def report(took: dict[tuple[str, str], list[tuple[float, bool]]], names: list[str]) -> None:
    print("| page | reader | median ms | slowest ms | whole | against Crawl4AI | against Crawl4AI, told |")
    print("| --- | --- | --- | --- | --- | --- | --- |")
    for page in PATHS:
        for name in names:
            seen = took[page, name]
            median = statistics.median(seconds for seconds, _ in seen)
            ratios = [
                median / statistics.median(seconds for seconds, _ in took[page, peer])
                for peer in ("Crawl4AI", "Crawl4AI, told")
            ]
            cells = (
                page,
                name,
                f"{median * 1_000:,.0f}",
                f"{max(seconds for seconds, _ in seen) * 1_000:,.0f}",
                f"{sum(right for _, right in seen)} of {len(seen)}",
                *(f"{ratio:.2f}" for ratio in ratios),
            )
            print(f"| {' | '.join(cells)} |")


if __name__ == "__main__":
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--rounds", type=int, default=15, help="pages of each kind for each reader")
    asyncio.run(main(parser.parse_args().rounds))
