"""`groundwire serve` as a process: how it begins, and how it ends."""

from __future__ import annotations

import asyncio
import json
import os
import re
import signal
import sys
from collections.abc import AsyncIterator
from contextlib import asynccontextmanager
from pathlib import Path
from typing import Any

import aiohttp
import pytest

from components.held import Held
from groundwire.testing.fault_injection import InjectedFault
from groundwire.testing.http_messages import Recorded
from world import World

pytestmark = pytest.mark.req("B18")

WORDS = "reciprocal rank fusion"


class Process:
    """A running gateway."""

    def __init__(self, process: asyncio.subprocess.Process) -> None:
        self.process = process
        self.said: list[str] = []
        self.url = ""

    async def line(self) -> str:
        assert self.process.stderr is not None
        line = (await self.process.stderr.readline()).decode()
        self.said.append(line)
        return line

    async def end(self) -> int:
        assert self.process.stderr is not None
        self.said.append((await self.process.stderr.read()).decode())
        return await self.process.wait()


@asynccontextmanager
async def running(
    python: str | Path, world: World, home: Path, *arguments: str, options: str = "", **variables: str
) -> AsyncIterator[Process]:
    environment = {
        "PATH": os.environ["PATH"],
        "HOME": str(home),
        "PYTHONPATH": os.environ.get("PYTHONPATH", ""),
        "XDG_CONFIG_HOME": str(home / ".config"),
        "XDG_CACHE_HOME": str(home / ".cache"),
        "GROUNDWIRE_SEARCH_PROVIDERS": "searxng",
        "GROUNDWIRE_SEARCH_TIMEOUT": "600",
        "GROUNDWIRE_PROVIDERS_SEARXNG_BASE_URL": world.searxng.url,
        "GROUNDWIRE_POLICY_ALLOWED_ORIGINS": ",".join(world.origins),
        "GROUNDWIRE_STORAGE_URL": "memory://",
        "GROUNDWIRE_ARCHIVE_ENABLED": "false",
        **variables,
    }
    command = (python, "-m", "groundwire", *options.split(), "serve", "--port", "0", *arguments)
    process = await asyncio.create_subprocess_exec(
        *command, env=environment, cwd=home, stderr=asyncio.subprocess.PIPE, stdout=asyncio.subprocess.DEVNULL
    )
    made = Process(process)
    try:
        yield made
    finally:
        if process.returncode is None:
            process.kill()
        await made.end()


async def search(client: aiohttp.ClientSession) -> tuple[int, str]:
    async with client.post("/v1/search", json={"query": WORDS, "timeout": 300}) as response:
        return response.status, (await response.json())["error"]["code"]


async def begun(process: Process) -> str:
    """Return the address, once the gateway says that it is ready."""
    while "stops it" not in (line := await process.line()):
        assert line, process.said
    found = re.search(r"ready at (http://\S+)", "".join(process.said))
    assert found
    return found[1]


async def test_it_says_where_it_is_and_ends_when_asked(world: World, tmp_path: Path) -> None:
    async with running(sys.executable, world, tmp_path) as process:
        url = await begun(process)
        told = "".join(process.said)
        for path in ("/v1/search", "/mcp", "/openapi.json", "searxng", "for this machine only"):
            assert path in told
        async with aiohttp.ClientSession(url) as client, client.post("/v1/search", json={"query": WORDS}) as response:
            assert response.status == 200
        process.process.send_signal(signal.SIGTERM)
        assert await process.end() == 128 + signal.SIGTERM


@pytest.mark.parametrize(("options", "level"), [("", ""), ("", "info"), ("--log-format json", "")])
async def test_each_request_is_logged_once(
    world: World, tmp_path: Path, warm_python: Path, options: str, level: str
) -> None:
    async with running(warm_python, world, tmp_path, options=options, GROUNDWIRE_LOG=level) as process:
        url = await begun(process)
        headers = {"X-Request-ID": "probe-1"}
        async with aiohttp.ClientSession(url) as client, client.get("/healthz?x=y", headers=headers) as response:
            assert response.headers["X-Request-ID"] == "probe-1"
        process.process.send_signal(signal.SIGTERM)
        await process.end()
    (line,) = [line for line in "".join(process.said).splitlines() if "probe-1" in line]
    if options:
        record = json.loads(line)
        assert (record["logger"], record["path"], record["status"]) == ("groundwire_server.access", "/healthz", 200)
    else:
        assert line.startswith("INFO groundwire_server.access: Request request_id=probe-1 method=GET path=/healthz st")


async def test_the_log_says_that_a_store_is_away(world: World, tmp_path: Path, warm_python: Path) -> None:
    async with running(warm_python, world, tmp_path, GROUNDWIRE_STORAGE_URL="valkey://127.0.0.1:1/0") as process:
        url = await begun(process)
        async with aiohttp.ClientSession(url) as client, client.post("/v1/search", json={"query": WORDS}) as response:
            assert response.status == 200
        process.process.send_signal(signal.SIGTERM)
        await process.end()
    (line,) = [line for line in "".join(process.said).splitlines() if "Using process memory instead" in line]
    assert line.startswith("WARNING groundwire.storage.")


async def test_what_runs_is_finished(world: World, tmp_path: Path, warm_python: Path) -> None:
    loop, asked = asyncio.get_running_loop(), asyncio.Event()

    def note(request: Recorded) -> bool:
        loop.call_soon_threadsafe(asked.set)
        return True

    held = Held()
    world.searxng.fail(held.fault, when=note)
    async with running(warm_python, world, tmp_path) as process:
        url = await begun(process)
        async with aiohttp.ClientSession(url) as client:

            async def find() -> tuple[int, Any]:
                async with client.post("/v1/search", json={"query": WORDS, "timeout": 60}) as response:
                    return response.status, await response.json()

            searching = asyncio.create_task(find())
            await asked.wait()
            process.process.send_signal(signal.SIGTERM)
            assert "1 running call" in await process.line()
            async with client.get("/readyz") as response:
                assert (response.status, await response.json()) == (503, {"status": "draining"})
            async with client.get("/healthz") as response:
                assert response.status == 200
            async with client.post("/v1/search", json={"query": "new"}) as response:
                assert (response.status, (await response.json())["error"]["code"]) == (503, "draining")
            held.release()
            assert (await searching)[0] == 200
        assert await process.end() == 128 + signal.SIGTERM


async def test_calls_are_taken_until_load_balancers_have_seen_that_it_ends(
    world: World, tmp_path: Path, warm_python: Path
) -> None:
    async with running(warm_python, world, tmp_path, "--notice", "60") as process:
        url = await begun(process)
        async with aiohttp.ClientSession(url) as client:
            async with client.get("/readyz") as response:
                assert (response.status, response.headers.get("Connection")) == (200, None)
            process.process.send_signal(signal.SIGTERM)
            while "Stopping in 60 seconds" not in await process.line():
                pass
            async with client.get("/readyz") as response:
                assert (response.status, await response.json()) == (503, {"status": "draining"})
            async with client.post("/v1/search", json={"query": WORDS}) as response:
                assert (response.status, response.headers["Connection"]) == (200, "close")
        process.process.send_signal(signal.SIGTERM)
        assert await asyncio.wait_for(process.end(), 100) == 128 + signal.SIGTERM


async def test_a_second_signal_ends_it_at_once(world: World, tmp_path: Path, warm_python: Path) -> None:
    loop, asked = asyncio.get_running_loop(), asyncio.Event()

    def note(request: Recorded) -> bool:
        loop.call_soon_threadsafe(asked.set)
        return True

    world.searxng.fail(InjectedFault.hang(), times=5, when=note)
    async with running(warm_python, world, tmp_path, "--grace", "300") as process:
        url = await begun(process)
        async with aiohttp.ClientSession(url) as client:
            searching = asyncio.create_task(search(client))
            await asked.wait()
            process.process.send_signal(signal.SIGTERM)
            await process.line()
            process.process.send_signal(signal.SIGINT)
            assert await asyncio.wait_for(process.end(), 100) == 128 + signal.SIGTERM
            assert await searching == (503, "ended")


async def test_what_cannot_end_is_ended_when_the_grace_is_over(world: World, tmp_path: Path, warm_python: Path) -> None:
    loop, asked = asyncio.get_running_loop(), asyncio.Event()

    def note(request: Recorded) -> bool:
        loop.call_soon_threadsafe(asked.set)
        return True

    world.searxng.fail(InjectedFault.hang(), times=5, when=note)
    async with running(warm_python, world, tmp_path, "--grace", "0.5") as process:
        url = await begun(process)
        async with aiohttp.ClientSession(url) as client:
            searching = asyncio.create_task(search(client))
            await asked.wait()
            process.process.send_signal(signal.SIGTERM)
            assert await asyncio.wait_for(process.end(), 100) == 128 + signal.SIGTERM
            assert await searching == (503, "ended")


@pytest.mark.parametrize(
    ("arguments", "variables", "told"),
    [
        (("--host", "0.0.0.0"), {}, "groundwire keys create"),
        (("--upstream", "nonsense"), {}, "not an API's base URL"),
        ((), {"GROUNDWIRE_SEARCH_PROVIDERS": "nobody"}, "Unknown provider"),
    ],
)
async def test_wrong_use_is_said(
    world: World, tmp_path: Path, warm_python: Path, arguments: tuple[str, ...], variables: dict[str, str], told: str
) -> None:
    async with running(warm_python, world, tmp_path, *arguments, **variables) as process:
        assert await process.end() == 2
        assert told in "".join(process.said)


async def test_a_hang_up_reads_the_settings_again_and_never_ends_the_server(
    world: World, tmp_path: Path, warm_python: Path
) -> None:
    file = tmp_path / "groundwire.toml"
    file.write_text("[server]\nmax_body_bytes = 1000\n")

    async with running(warm_python, world, tmp_path) as process:
        url = await begun(process)

        async def hang_up(settings: str, *words: str) -> None:
            """Write the settings, send the signal, and wait for what the log says."""
            file.write_text(settings)
            process.process.send_signal(signal.SIGHUP)
            for word in words:
                while word not in (line := await process.line()):
                    assert line, process.said

        async with aiohttp.ClientSession(url) as client:

            async def status() -> int:
                async with client.post("/v1/search", json={"query": WORDS + " " * 1_500}) as response:
                    return response.status

            assert await status() == 413
            await hang_up("[server\n", "ERROR groundwire_server.api.app: The settings are not reloaded: ")
            assert await status() == 413
            await hang_up(
                "[server]\nmax_body_bytes = 5000\nmax_connections = 7\n[search]\nlimit = 3\n",
                "Settings reloaded; changed: server.max_body_bytes",
                "only when the server is started again: search.limit, server.max_connections",
            )
            assert await status() == 200
            await hang_up(file.read_text(), "Settings reloaded; changed: nothing")
            assert await status() == 200
