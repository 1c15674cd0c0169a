"""`groundwire record FILE -- COMMAND`."""

from __future__ import annotations

import os
import signal
import subprocess
import sys
from collections.abc import Callable
from pathlib import Path

import pytest

from groundwire.cassette import Cassette, count_exchanges
from world import World

GROUNDWIRE = "import sys; from groundwire.cli import main; sys.argv[1:1] = ['record']; main()"
CHILD = """
import asyncio, os, sys
from groundwire.cassette import cassette_from_environment
from groundwire.deadline import Deadline
from groundwire.safety.guard import Guard
from groundwire.transport import Transport

async def work(url, words):
    client = Transport(Guard(allowed_origins=[url]), cassette=cassette_from_environment(os.environ))
    for word in words:
        params = {"q": word, "format": "json"}
        print((await client.call("t", "GET", f"{url}/search", params=params, deadline=Deadline.after(60))).status)
    await client.aclose()

asyncio.run(work(sys.argv[1], sys.argv[2:]))
"""

Run = Callable[..., subprocess.CompletedProcess[str]]


@pytest.fixture
def run(tmp_path: Path, warm_python: Path) -> Run:
    def started(*arguments: str, **variables: str) -> subprocess.CompletedProcess[str]:
        return subprocess.run(
            [warm_python, "-c", GROUNDWIRE, *arguments],
            env={"PATH": os.environ["PATH"], "HOME": str(tmp_path), **variables},
            cwd=tmp_path,
            stdin=subprocess.DEVNULL,
            capture_output=True,
            text=True,
            timeout=100,
            check=False,
        )

    return started


@pytest.mark.req("B12")
@pytest.mark.timeout(600)
class TestRecord:
    def test_records_what_a_command_asks_and_replays_it(
        self, run: Run, world: World, tmp_path: Path, warm_python: Path
    ) -> None:
        command = (str(warm_python), "-c", CHILD, world.searxng.url, "one", "two")
        done = run("web.jsonl", "--", *command, GROUNDWIRE_REPLAY="elsewhere")
        assert (done.returncode, done.stdout) == (0, "200\n200\n")
        assert done.stderr == "Recorded 2 exchanges in web.jsonl.\n"
        again = run("--append", "web.jsonl", "--", *command[:-1])
        assert again.stderr == "Recorded 1 exchange in web.jsonl.\n"
        assert count_exchanges(tmp_path / "web.jsonl") == 3
        world.stop()
        replayed = subprocess.run(
            command,
            env={"PATH": os.environ["PATH"], "GROUNDWIRE_REPLAY": str(tmp_path / "web.jsonl")},
            capture_output=True,
            text=True,
            check=False,
        )
        assert (replayed.returncode, replayed.stdout) == (0, "200\n200\n"), replayed.stderr

    def test_the_exit_code_is_the_commands(self, run: Run, tmp_path: Path) -> None:
        done = run("x.jsonl", "--", "sh", "-c", "cat; exit 7", "--help")
        assert done.returncode == 7
        assert "Nothing was recorded in x.jsonl" in done.stderr
        assert run("x.jsonl", "sh", "-c", "kill -9 $$").returncode == 128 + 9
        assert Cassette.replay(tmp_path / "x.jsonl").replaying

    def test_mistakes_leave_the_file_alone(self, run: Run, tmp_path: Path) -> None:
        Cassette.record(tmp_path / "x.jsonl").add("test", {}, response={})
        done = run("x.jsonl", "--", "no-such-command")
        assert (done.returncode, done.stderr) == (
            127,
            "Error: There is no command 'no-such-command', or you may not run it.\n",
        )
        assert count_exchanges(tmp_path / "x.jsonl") == 1
        (tmp_path / "agent.py").write_text("print('mine')\n")
        done = run("agent.py", "--", "true")
        assert done.returncode == 2
        assert "agent.py is not a cassette" in done.stderr
        assert run("x.jsonl").returncode == 2
        assert "Missing argument 'COMMAND...'" in run("x.jsonl", "--").stderr
        assert run().returncode == 2

    @pytest.mark.posix
    def test_a_signal_is_passed_on(self, tmp_path: Path) -> None:
        script = "trap 'exit 5' TERM; echo ready; while :; do sleep 0.05; done"
        with subprocess.Popen(
            [sys.executable, "-c", GROUNDWIRE, "x.jsonl", "--", "sh", "-c", script],
            cwd=tmp_path,
            stdout=subprocess.PIPE,
            stderr=subprocess.DEVNULL,
            text=True,
        ) as process:
            assert process.stdout is not None
            assert process.stdout.readline() == "ready\n"
            process.send_signal(signal.SIGTERM)
            assert process.wait(100) == 5
