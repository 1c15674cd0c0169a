"""The pytest plugin, in the projects of our users."""

from __future__ import annotations

import os
import subprocess
import sys
from collections.abc import Callable
from pathlib import Path

import pytest

from groundwire.cassette.format import load
from world import World

pytest_plugins = ["pytester"]

TEST = """
import asyncio, os
import pytest
from groundwire.deadline import Deadline
from groundwire.safety.guard import Guard
from groundwire.transport import Transport

URL = os.environ["TEST_URL"]

def ask(cassette, query="x"):
    async def work():
        client = Transport(Guard(allowed_origins=[URL]), cassette=cassette)
        try:
            params = {"q": query, "format": "json"}
            return await client.call("t", "GET", f"{URL}/search", params=params, deadline=Deadline.after(60))
        finally:
            await client.aclose()
    return asyncio.run(work())

def test_one(groundwire_cassette):
    assert ask(groundwire_cassette).status == 200
    if os.environ.get("TEST_FAILS"):
        assert ask(groundwire_cassette, os.environ["TEST_FAILS"]).status == 200
        assert False, "as told"

class TestGroup:
    @pytest.mark.parametrize("word", ["a/b", "c"])
    def test_two(self, groundwire_cassette, word):
        assert ask(groundwire_cassette, word).status == 200
"""

Run = Callable[..., pytest.RunResult]


@pytest.fixture
def run(pytester: pytest.Pytester, world: World, monkeypatch: pytest.MonkeyPatch) -> Run:
    """Run the tests above in a process of its own."""
    pytester.makepyfile(test_mine=TEST)
    monkeypatch.delenv("CI", raising=False)
    monkeypatch.setenv("TEST_URL", world.searxng.url)
    monkeypatch.setenv("PYTEST_DISABLE_PLUGIN_AUTOLOAD", "1")  # ours alone: all that are installed here take seconds
    plugin = ("-p", "groundwire.testing.plugin", "-p", "no:cacheprovider")

    def started(*arguments: str, **variables: str) -> pytest.RunResult:
        for name, value in variables.items():
            monkeypatch.setenv(name, value)
        return pytester.runpytest_subprocess(*plugin, *arguments, timeout=100)

    return started


@pytest.mark.req("B12")
@pytest.mark.timeout(600)
class TestModes:
    def test_once_records_and_then_replays(self, run: Run, pytester: pytest.Pytester, world: World) -> None:
        run().assert_outcomes(passed=3)
        folder = pytester.path / "cassettes" / "test_mine"
        names = sorted(path.name for path in folder.iterdir())
        assert len(names) == 3
        assert names[-1] == "test_one.jsonl"
        assert names[1] == "TestGroup.test_two[c].jsonl"
        assert names[0].startswith("TestGroup.test_two[a-b]-")
        assert all(len(load(folder / name)) == 1 for name in names)
        world.stop()
        run(CI="1").assert_outcomes(passed=3)

    def test_none_says_what_to_do(self, run: Run, pytester: pytest.Pytester) -> None:
        for result in (run("--groundwire-record=none"), run(CI="true")):
            result.assert_outcomes(errors=3)
            result.stdout.fnmatch_lines(["*There is no cassette *Record it: pytest --groundwire-record=once.*"])
        assert not (pytester.path / "cassettes").exists()

    def test_all_records_anew_but_keeps_the_old_one_if_the_test_fails(
        self, run: Run, pytester: pytest.Pytester, world: World
    ) -> None:
        failed = run("-k", "one", TEST_FAILS="y")
        failed.assert_outcomes(failed=1, deselected=2)
        folder = pytester.path / "cassettes" / "test_mine"
        assert list(folder.iterdir()) == []
        run("-k", "one", TEST_FAILS="").assert_outcomes(passed=1, deselected=2)
        path = folder / "test_one.jsonl"
        before = path.read_bytes()
        run("-k", "one", "--groundwire-record=all", TEST_FAILS="y").assert_outcomes(failed=1, deselected=2)
        assert path.read_bytes() == before
        asked = len(world.searxng.requests)
        run("-k", "one", "--groundwire-record=all", TEST_FAILS="").assert_outcomes(passed=1, deselected=2)
        assert len(world.searxng.requests) == asked + 1
        assert [one.name for one in folder.iterdir()] == ["test_one.jsonl"]

    def test_a_failed_test_says_what_is_missing(self, run: Run) -> None:
        run("-k", "one")
        result = run("-k", "one", TEST_FAILS="another")
        result.assert_outcomes(failed=1, deselected=2)
        result.stdout.fnmatch_lines(
            [
                "*Groundwire cassette*",
                "Not in *test_one.jsonl (record it with --groundwire-record=all):",
                "GET *another*",
            ]
        )


def test_nothing_heavy_is_loaded_at_the_start_of_pytest() -> None:
    program = (
        "import sys, pytest; before = set(sys.modules); import groundwire.testing.plugin; "
        "print(*sorted({name.partition('.')[0] for name in set(sys.modules) - before}))"
    )
    environment = {name: value for name, value in os.environ.items() if name == "PATH"}
    environment["PYTHONPATH"] = os.pathsep.join(sys.path)
    done = subprocess.run(
        [sys.executable, "-c", program], env=environment, capture_output=True, text=True, check=True, cwd=Path.cwd()
    )
    assert "groundwire" in done.stdout.split()
    heavy = {"aiohttp", "pydantic", "lxml", "turbohtml", "click", "ddgs", "asyncio", "yarl"}
    assert heavy.isdisjoint(done.stdout.split())
