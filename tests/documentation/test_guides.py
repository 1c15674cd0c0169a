"""Code and output of documents that run in surroundings of their own."""

from __future__ import annotations

import os
import subprocess
from pathlib import Path

import pytest

from components.markdown_blocks import blocks_of
from demo_picture import PICTURE, text_of
from documentation.shell import matches
from world import World

pytest_plugins = ["pytester"]

GUIDE = "docs/guides/record-and-replay.md"

AGENT = """
from groundwire import Web

async def my_agent(web):
    return (await web.search("reciprocal rank fusion")).results[0].title

"""


def test_the_guides_fixture_records_and_replays(
    pytester: pytest.Pytester, world: World, monkeypatch: pytest.MonkeyPatch
) -> None:
    (block,) = [block.text for block in blocks_of(GUIDE) if "def test_" in block.text]
    pytester.makepyfile(test_mine=AGENT + block)
    pytester.makeini("[pytest]\nanyio_mode = auto\n")
    monkeypatch.delenv("CI", raising=False)
    monkeypatch.setenv("GROUNDWIRE_SEARCH_PROVIDERS", "searxng")
    monkeypatch.setenv("GROUNDWIRE_PROVIDERS_SEARXNG_BASE_URL", world.searxng.url)
    monkeypatch.setenv("PYTEST_DISABLE_PLUGIN_AUTOLOAD", "1")  # ours alone: all that are installed here take seconds
    plugins = ("-p", "groundwire.testing.plugin", "-p", "anyio", "-p", "no:cacheprovider")
    pytester.runpytest_subprocess(*plugins).assert_outcomes(passed=1)
    assert len(world.searxng.requests) == 1
    pytester.runpytest_subprocess(*plugins).assert_outcomes(passed=1)
    assert len(world.searxng.requests) == 1
    assert [file.suffix for file in (pytester.path / "cassettes" / "test_mine").iterdir()] == [".jsonl"]


def test_the_demo_prints_what_its_picture_shows(warm_python: Path) -> None:
    demo = [str(warm_python), "-m", "groundwire", "demo"]
    wide = os.environ | {"COLUMNS": "100"}  # the width of the picture
    done = subprocess.run(demo, capture_output=True, encoding="utf-8", timeout=100, check=True, env=wide)
    printed = "".join(line for line in done.stdout.splitlines(keepends=True) if line.strip())
    shown = text_of(PICTURE.read_text(encoding="utf-8")) + "...\n"
    assert matches(shown, printed), f"Run `python scripts/demo_picture.py`: the picture shows\n{shown}"
