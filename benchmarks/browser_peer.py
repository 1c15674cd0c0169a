"""Renders pages with Crawl4AI alone; started by `browser.py` in Crawl4AI's environment. One line in, one line out."""

from __future__ import annotations

import asyncio
import json
import os
import sys
import time
from pathlib import Path

SETTINGS = json.loads(sys.argv[1])
os.environ.update({"CRAWL4_AI_BASE_DIRECTORY": SETTINGS["home"], "CRAWL4AI_NO_CLOUD_NOTICE": "1"})


def link(program: Path, folder: Path) -> None:
    """Link the machine's browser to where Playwright looks for its own."""
    import playwright

    listed = json.loads((Path(playwright.__file__).parent / "driver/package/browsers.json").read_text())["browsers"]
    revisions = {row["name"]: row["revision"] for row in listed}
    for name, inside in (
        ("chromium-headless-shell", "chrome-headless-shell-linux64/chrome-headless-shell"),
        ("chromium", "chrome-linux64/chrome"),
    ):
        place = folder / f"{name.replace('-', '_')}-{revisions[name]}" / inside
        place.parent.mkdir(parents=True, exist_ok=True)
        place.symlink_to(program)
    os.environ["PLAYWRIGHT_BROWSERS_PATH"] = str(folder)


async def main() -> None:
    answers = os.fdopen(os.dup(1), "w")
    os.dup2(2, 1)
    link(Path(SETTINGS["executable"]), Path(SETTINGS["home"]) / "browsers")
    from crawl4ai import AsyncWebCrawler, BrowserConfig, CacheMode, CrawlerRunConfig

    async with AsyncWebCrawler(config=BrowserConfig(headless=True, verbose=False)) as crawler:
        while line := await asyncio.to_thread(sys.stdin.readline):
            asked = json.loads(line)
            config = CrawlerRunConfig(verbose=False, cache_mode=CacheMode.BYPASS, wait_for=asked["wait_for"])
            began = time.perf_counter()
            result = await crawler.arun(asked["url"], config=config)
            took = time.perf_counter() - began
            text = result.markdown.raw_markdown if result.markdown else ""
            answers.write(json.dumps({"seconds": took, "right": asked["wanted"] in text}) + "\n")
            answers.flush()


asyncio.run(main())
