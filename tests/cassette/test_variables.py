"""GROUNDWIRE_RECORD and GROUNDWIRE_REPLAY, for any program."""

from __future__ import annotations

import os
import subprocess
from pathlib import Path

import pytest

from groundwire.cassette.format import load
from world import World

CHILD = """
import asyncio, os, sys
from groundwire.cassette import choose_cassette
from groundwire.deadline import Deadline
from groundwire.safety.guard import Guard
from groundwire.transport import Transport

async def work(url, words):
    client = Transport(Guard(allowed_origins=[url]), cassette=choose_cassette(None, None, None, os.environ))
    for word in words:
        params = {"q": word, "format": "json"}
        print((await client.call("t", "GET", f"{url}/search", params=params, deadline=Deadline.after(60))).status)
    await client.aclose()

asyncio.run(work(sys.argv[1], sys.argv[2:]))
"""


@pytest.mark.req("B12")
@pytest.mark.timeout(600)
def test_what_programs_ask_is_recorded_and_replayed(world: World, tmp_path: Path, warm_python: Path) -> None:
    file = tmp_path / "web.jsonl"

    def run(*words: str, **variables: str) -> subprocess.CompletedProcess[str]:
        return subprocess.run(
            (str(warm_python), "-c", CHILD, world.searxng.url, *words),
            env={"PATH": os.environ["PATH"], **variables},
            capture_output=True,
            text=True,
            timeout=100,
            check=False,
        )

    for words in (("one", "two"), ("three",)):
        done = run(*words, GROUNDWIRE_RECORD=str(file))
        assert (done.returncode, done.stdout) == (0, "200\n" * len(words)), done.stderr
    assert len(load(file)) == 3
    world.stop()
    done = run("three", "one", GROUNDWIRE_REPLAY=str(file))
    assert (done.returncode, done.stdout) == (0, "200\n200\n"), done.stderr
