"""The command, as a process: it says when it is ready, and stops when it is asked to."""

from __future__ import annotations

import os
import re
import signal
import socket
import subprocess
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path

import pytest

from components import heavy
from groundwire.testing.model_apis import Say, ScriptedCall, script
from groundwire_server.uvicorn_runner import listen
from world import World
from world.model_apis import ModelServer


@contextmanager
def command(python: str | Path, world: World, folder: Path, *arguments: str) -> Iterator[subprocess.Popen[str]]:
    environment = {
        **os.environ,
        "GROUNDWIRE_SEARCH_PROVIDERS": "searxng",
        "GROUNDWIRE_PROVIDERS_SEARXNG_BASE_URL": world.searxng.url,
        "GROUNDWIRE_STORAGE_URL": "memory://",
    }
    line = [python, "-m", "groundwire", "proxy", *arguments]
    with subprocess.Popen(line, env=environment, cwd=folder, stderr=subprocess.PIPE, text=True) as started:
        try:
            yield started
        finally:
            started.kill()


@pytest.mark.xdist_group(heavy.GROUP)
@pytest.mark.parametrize(("number", "code"), [(signal.SIGINT, 130), (signal.SIGTERM, 143)])
def test_it_serves_until_it_is_stopped(
    world: World, tmp_path: Path, warm_python: Path, number: signal.Signals, code: int
) -> None:
    search = ScriptedCall("web_search", {"query": "reciprocal rank fusion"})
    models = world.add(ModelServer(script(search, end=Say("It merges [1].")), name="model"))
    with command(warm_python, world, tmp_path, "--upstream", f"{models.url}/v1/", "--port", "0") as started:
        assert started.stderr
        ready = re.fullmatch(r"Ready at (\S+) for (\S+)\.\n", started.stderr.readline())
        assert ready
        assert ready[2] == f"{models.url}/v1"
        with heavy.openai.OpenAI(base_url=ready[1], api_key="none", max_retries=0, timeout=100) as client:
            started.send_signal(signal.SIGHUP)  # there is nothing to read again, and it goes on
            question = [{"role": "user", "content": "What is it?"}]
            answer = client.chat.completions.create(model="m", messages=question)  # type: ignore[arg-type]
        message = answer.choices[0].message
        assert message.content == "It merges [1]."
        assert message.annotations
        assert message.annotations[0].url_citation.url.endswith("/wiki/reciprocal-rank-fusion")
        started.send_signal(number)
        assert started.stderr.read() == "Control-C stops it.\nStopped.\n"
        assert started.wait() == code


@pytest.mark.parametrize(
    ("arguments", "words"),
    [
        (("--upstream", "127.0.0.1:11434"), "Pass one like http://127.0.0.1:11434/v1"),
        ((), "Missing option '--upstream'"),
        (("--upstream", "http://127.0.0.1:1/v1", "--host", "192.0.2.1"), "groundwire keys create"),
    ],
)
def test_wrong_use_is_said(
    world: World, tmp_path: Path, warm_python: Path, arguments: tuple[str, ...], words: str
) -> None:
    with command(warm_python, world, tmp_path, *arguments) as started:
        assert started.stderr
        said = started.stderr.read()
        assert words in said
        assert "Traceback" not in said
        assert started.wait() == 2


def test_small_events_are_not_held_back() -> None:
    """Where the socket names its protocol asyncio switches off Nagle's algorithm, which costs 40 ms an event."""
    with listen("127.0.0.1", 0) as listener:
        assert listener.proto == socket.IPPROTO_TCP
