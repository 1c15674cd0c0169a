"""`groundwire serve --workers`: real processes on one port, which lose no request but those that a killed one held."""

from __future__ import annotations

import asyncio
import json
import os
import re
import signal
import socket
import sys
from collections import Counter
from collections.abc import AsyncIterator, Iterator
from contextlib import asynccontextmanager, suppress
from datetime import UTC, datetime
from pathlib import Path
from typing import Any

import aiohttp
import prometheus_client as prometheus
import pytest
from prometheus_client.parser import text_string_to_metric_families as families_of
from starlette.responses import Response
from starlette.types import Message, Receive, Scope, Send

from components.held import Held
from groundwire.fair_queue import CURRENT_TENANT
from groundwire.testing.fault_injection import InjectedFault
from groundwire.testing.http_messages import Recorded
from groundwire_server.api.context import Traffic
from groundwire_server.api.mcp_http import SessionRouting
from groundwire_server.api.peers import Peers, summed
from groundwire_server.auth import Tenant, tenant_of
from groundwire_server.auth.authentication import TENANT
from groundwire_server.auth.keys import KeyLimits, make_key
from groundwire_server.uvicorn_runner import serving
from server.api.test_neighbours import BOTH, opened, status
from server.api.test_running import WORDS, Process, begun, running
from world import World

pytestmark = pytest.mark.req("B18")

VARIABLES = {
    "GROUNDWIRE_STORAGE_URL": "sqlite://",
    "GROUNDWIRE_STORAGE_TIMEOUT": "60",
    "GROUNDWIRE_SERVER_ACCESS_LOG": "false",
}
MODERN = BOTH | {"MCP-Protocol-Version": "2026-07-28"}


class Workers:
    """Serves with two workers in a folder, over the miniature web.

    Args:
        python: What runs the command.
        world: The web.
        home: The folder, in which nothing else runs.
    """

    def __init__(self, python: Path, world: World, home: Path) -> None:
        self._python = python
        self._world = world
        self._home = home

    @asynccontextmanager
    async def __call__(self, *arguments: str, python: str = "") -> AsyncIterator[tuple[Process, str]]:
        """Yield the process of their supervisor, and the address."""
        given = ("--workers", "2", *arguments)
        async with running(python or self._python, self._world, self._home, *given, **VARIABLES) as process:
            url = await begun(process)
            async with fresh(url) as client:
                await by_each(client)
            yield process, url

    def __iter__(self) -> Iterator[int]:
        """Yield the process ids of the workers: here, as children of their supervisor, whose parent is not here."""
        parents = {}
        for folder in Path("/proc").glob("[0-9]*"):
            with suppress(OSError):  # it has ended, or is another user's
                if (folder / "cwd").readlink() == self._home:
                    parents[int(folder.name)] = int((folder / "stat").read_text().rpartition(")")[2].split()[1])
        yield from (pid for pid, parent in parents.items() if parent in parents and parents[parent] not in parents)


@pytest.fixture
def workers(world: World, tmp_path: Path, warm_python: Path) -> Workers:
    return Workers(warm_python, world, tmp_path)


def fresh(url: str) -> aiohttp.ClientSession:
    """Return a client that opens a connection for each request."""
    return aiohttp.ClientSession(url, connector=aiohttp.TCPConnector(force_close=True, limit=0))


async def by_each(client: aiohttp.ClientSession, *numbers: str) -> dict[str, str]:
    """Open MCP sessions until each of two workers has one, and return them by the worker's number."""
    found: dict[str, str] = {}
    while len(found) < 2 or not {*numbers} <= found.keys():
        session = await opened(client)
        found[session.partition("-")[0]] = session
    return found


async def find(client: aiohttp.ClientSession) -> int:
    async with client.post("/v1/search", json={"query": WORDS, "timeout": 60}) as response:
        await response.read()
        return response.status


async def counted(client: aiohttp.ClientSession, path: str) -> float:
    """Return how many requests there were for a path, as the metrics have it."""
    async with client.get("/metrics") as response:
        families = {family.name: family for family in families_of(await response.text())}
    samples = families["groundwire_http_requests"].samples
    return sum(one.value for one in samples if one.name.endswith("_total") and one.labels["path"] == path)


class Load:
    """Clients that search all the time, some of them with a new connection each time."""

    def __init__(self, url: str) -> None:
        self._url = url
        self._over = asyncio.Event()
        self.outcomes: Counter[int] = Counter()
        self.more = asyncio.Event()

    async def __aenter__(self) -> Load:
        self._tasks = [asyncio.create_task(self._client(keeps=number % 2 == 0)) for number in range(4)]
        await self.some()
        return self

    async def __aexit__(self, *_: object) -> None:
        self._over.set()
        await asyncio.gather(*self._tasks)

    async def some(self) -> None:
        """Wait for a hundred more answers."""
        for _ in range(100):
            self.more.clear()
            await self.more.wait()

    async def _client(self, *, keeps: bool) -> None:
        async with aiohttp.ClientSession(self._url) if keeps else fresh(self._url) as client:
            while not self._over.is_set():
                try:
                    self.outcomes[await find(client)] += 1
                except aiohttp.ClientError:
                    self.outcomes[0] += 1
                self.more.set()


async def ended(pid: int) -> None:
    """Wait until a process that is not this one's child has ended."""
    end, seen, loop = os.pidfd_open(pid), asyncio.Event(), asyncio.get_running_loop()
    loop.add_reader(end, seen.set)
    await seen.wait()
    loop.remove_reader(end)
    os.close(end)


async def until(process: Process, word: str) -> str:
    """Return the next line of the log with a word."""
    async with asyncio.timeout(120):
        while word not in (line := await process.line()):
            assert line, process.said
    return line


@pytest.mark.req("H3")
async def test_each_request_counts_once_and_a_killed_worker_is_replaced(workers: Workers) -> None:
    async with workers(python=sys.executable) as (process, url), fresh(url) as client:
        for number in range(1, 41):
            assert await find(client) == 200
            if number % 20 == 0:
                assert await counted(client, "/v1/search") == number
        before = set(workers)
        async with Load(url) as load:
            killed = max(before)
            os.kill(killed, signal.SIGKILL)
            assert f"(process {killed}) was ended by SIGKILL; another one is started" in await until(
                process, "ended by"
            )
            await load.some()
        assert load.outcomes.keys() <= {200, 0}
        assert load.outcomes[0] <= 4, "no more than were in progress"
        await by_each(client)
        assert len(set(workers) & before) == 1
        assert await counted(client, "/v1/search") >= 40, "counters never fall"


@pytest.mark.parametrize("number", [signal.SIGTERM, signal.SIGINT])
async def test_what_runs_is_finished(world: World, workers: Workers, number: signal.Signals) -> None:
    loop, asked, held = asyncio.get_running_loop(), asyncio.Event(), Held()

    def note(_request: Recorded) -> bool:
        loop.call_soon_threadsafe(asked.set)
        return True

    async with workers() as (process, url), fresh(url) as client:
        world.searxng.fail(held.fault, when=note)
        searching = asyncio.create_task(find(client))
        await asked.wait()
        ends = [asyncio.create_task(ended(pid)) for pid in set(workers)]
        process.process.send_signal(number)
        await asyncio.wait(ends, return_when=asyncio.FIRST_COMPLETED)  # the other one has nothing to wait for
        for pid in set(workers):
            with suppress(ProcessLookupError):  # the one that has ended is listed until the supervisor has asked for it
                os.kill(pid, signal.SIGTERM)  # as a service manager does, beside the supervisor
        held.release()
        assert await searching == 200
        assert await asyncio.wait_for(process.end(), 100) == 128 + number
        assert "Traceback" not in "".join(process.said)


async def test_a_second_signal_ends_it_at_once(world: World, workers: Workers) -> None:
    loop, asked = asyncio.get_running_loop(), asyncio.Event()

    def note(_request: Recorded) -> bool:
        loop.call_soon_threadsafe(asked.set)
        return True

    async with workers("--grace", "300") as (process, url), fresh(url) as client:
        world.searxng.fail(InjectedFault.hang(), times=5, when=note)
        searching = asyncio.create_task(find(client))
        await asked.wait()
        ends = [asyncio.create_task(ended(pid)) for pid in set(workers)]
        process.process.send_signal(signal.SIGTERM)
        await asyncio.wait(ends, return_when=asyncio.FIRST_COMPLETED)
        process.process.send_signal(signal.SIGTERM)
        assert await asyncio.wait_for(process.end(), 100) == 128 + signal.SIGTERM
        assert await searching == 503


async def test_a_reload_loses_no_request(tmp_path: Path, workers: Workers) -> None:
    file = tmp_path / "groundwire.toml"
    file.write_text("[server]\nmax_body_bytes = 1000\n")
    async with workers() as (process, url), fresh(url) as client:

        async def hang_up(settings: str, word: str) -> None:
            file.write_text(settings)
            process.process.send_signal(signal.SIGHUP)
            await until(process, word)

        async def found() -> tuple[int, int]:
            body = {"query": WORDS + " " * 1_500, "timeout": 60}
            async with client.post("/v1/search", json=body) as response:
                return response.status, len((await response.json()).get("results", ()))

        async with Load(url) as load:
            before = set(workers)
            await hang_up("[server\n", "The settings are not reloaded: ")
            for _ in range(2):
                await hang_up("[server]\nmax_body_bytes = 5000\n", "Settings reloaded")
                await until(process, "Settings reloaded")
            assert [await found() for _ in range(20)] == [(200, 3)] * 20
            assert set(workers) == before, "what can change while they run needs no new ones"
            await hang_up("[server]\nmax_body_bytes = 5000\n[search]\nlimit = 1\n", "Workers are replaced")
            while set(workers) & before:
                await load.some()
            assert [await found() for _ in range(20)] == [(200, 1)] * 20
            before = set(workers)
            await hang_up('[read]\nproviders = ["nobody"]\n', "ended with code 2; another one is started")
            await load.some()
            assert set(workers) >= before
        assert load.outcomes.keys() == {200}


@pytest.mark.req("B22")
async def test_any_worker_takes_the_requests_of_an_mcp_session(workers: Workers) -> None:
    async with workers() as (process, url), fresh(url) as client:
        sessions = await by_each(client)
        for session in list(sessions.values()) * 20:
            assert await status(client, session) == 200
        call = {"jsonrpc": "2.0", "id": 3, "method": "tools/call"}
        call["params"] = {"name": "web_search", "arguments": {"query": WORDS}}
        for number in range(1, 6):
            headers = BOTH | {"Mcp-Session-Id": sessions["1"]}
            async with client.post("/mcp", json=call, headers=headers) as response:
                assert "text/event-stream" in response.headers["Content-Type"]
                assert "BM25" in await response.text()
            read = {"jsonrpc": "2.0", "id": 4, "method": "resources/read", "params": {"uri": "groundwire://session"}}
            async with client.post("/mcp", json=read, headers=headers) as response:
                (line,) = [line for line in (await response.text()).splitlines() if line.startswith("data: {")]
            text = json.loads(line.removeprefix("data: "))["result"]["contents"][0]["text"]
            assert json.loads(text)["searches"]["made"] == number
        assert await status(client, "3-" + "0" * 32) == 404
        (_, session) = sessions.popitem()
        assert [await status(client, session, "DELETE"), await status(client, session)] == [200, 404]
        (_, session) = sessions.popitem()
        assert await status(client, session) == 200
        for pid in set(workers):
            os.kill(pid, signal.SIGKILL)
            await until(process, "ended by SIGKILL")
        await by_each(client)
        assert await status(client, session) == 404, "it has ended with its worker"


@pytest.mark.req("B22")
async def test_a_client_without_mcp_sessions_has_one_worker(workers: Workers) -> None:
    meta = {
        "io.modelcontextprotocol/protocolVersion": "2026-07-28",
        "io.modelcontextprotocol/clientInfo": {"name": "test", "version": "1"},
        "io.modelcontextprotocol/clientCapabilities": {},
    }
    async with workers() as (_, url), fresh(url) as client:

        async def ask(method: str, **params: Any) -> dict[str, Any]:
            body = {"jsonrpc": "2.0", "id": 1, "method": method, "params": {"_meta": meta, **params}}
            headers = MODERN | {"Mcp-Method": method, "Mcp-Name": params.get("name") or params.get("uri", "")}
            async with client.post("/mcp", json=body, headers=headers) as response:
                text = await response.text()
                assert response.status == 200, text
            data = [line.removeprefix("data: ") for line in text.splitlines() if line.startswith("data: {")]
            result: dict[str, Any] = json.loads(data[-1] if data else text)["result"]
            return result

        for number in range(1, 11):
            await ask("tools/call", name="web_search", arguments={"query": WORDS})
            contents = (await ask("resources/read", uri="groundwire://session"))["contents"]
            assert json.loads(contents[0]["text"])["searches"]["made"] == number


async def test_the_workers_end_with_their_supervisor(workers: Workers) -> None:
    async with workers() as (process, _):
        ends = [asyncio.create_task(ended(pid)) for pid in set(workers)]
        await asyncio.sleep(0)  # they watch
        process.process.kill()
        await asyncio.wait_for(asyncio.gather(*ends), 100)


@pytest.mark.parametrize(
    ("variables", "told"),
    [
        ({"GROUNDWIRE_STORAGE_URL": "memory://"}, "Several workers must share a store"),
        ({"GROUNDWIRE_SEARCH_PROVIDERS": "nobody"}, "Unknown provider"),
    ],
)
async def test_wrong_settings_are_told_once(
    world: World, tmp_path: Path, warm_python: Path, variables: dict[str, str], told: str
) -> None:
    async with running(warm_python, world, tmp_path, "--workers", "3", **(VARIABLES | variables)) as process:
        assert await process.end() == 2
        said = "".join(process.said)
        assert (said.count(told), "Traceback" in said) == (1, False)


async def test_a_port_in_use_is_told_once(world: World, tmp_path: Path, warm_python: Path) -> None:
    with socket.create_server(("127.0.0.1", 0)) as taken:
        port = taken.getsockname()[1]
        arguments = ("--workers", "2", "--port", str(port))
        async with running(warm_python, world, tmp_path, *arguments, **VARIABLES) as process:
            assert await process.end() == 2
    said = "".join(process.said)
    assert said.startswith(f"Error: Cannot listen on 127.0.0.1, port {port}: Address already in use.")
    assert said.count("Error") == 1


def test_counters_of_ended_workers_stay_and_gauges_do_not(tmp_path: Path) -> None:
    texts = []
    for number in (1, 2, 4):
        registry = prometheus.CollectorRegistry()
        prometheus.Counter("a", "Texts.", ("path",), registry=registry).labels("/a b").inc(number)
        prometheus.Histogram("b_seconds", "Texts.", registry=registry).observe(number / 8)
        gauges = {"c": number, "groundwire_build_info": 1, "groundwire_store_up": number - 1}
        for name, value in {**gauges, "groundwire_loop_lag_seconds": number}.items():
            prometheus.Gauge(name, "Texts.", registry=registry).set(value)
        texts.append(prometheus.generate_latest(registry).decode())
    total = summed(texts[:2], texts[2:])
    values = {(one.name, *one.labels.values()): one.value for family in families_of(total) for one in family.samples}
    assert values["a_total", "/a b"] == 7
    assert values["b_seconds_count",] == values["b_seconds_bucket", "+Inf"] == 3
    assert values["b_seconds_sum",] == 0.875
    assert (values["c",], values["groundwire_build_info",]) == (3, 1)
    assert (values["groundwire_store_up",], values["groundwire_loop_lag_seconds",]) == (0, 2)  # the worst
    assert summed([total], []) == total
    for _ in range(2):
        worker = Peers(tmp_path, 1)
        worker.render = lambda: texts[0]
        worker.save()
    assert re.findall(r"a_total.* (\d+)", (tmp_path / "1.prom").read_text()) == ["2"]
    assert re.findall(r"^c (\d+)", (tmp_path / "1.prom").read_text(), re.MULTILINE) == ["1"]


@pytest.mark.parametrize("has_token", [True, False])
async def test_another_worker_answers_for_the_same_tenant(tmp_path: Path, has_token: bool) -> None:
    name = f"{'a' * 60}.{'b' * 60}.{'c' * 60}.com"  # with such lists, the head is longer than that of a client may be
    many = tuple(f"{number}.{name}" for number in range(1_000))
    _, record = make_key("alice", datetime.now(UTC), limits=KeyLimits(allowed_domains=many, blocked_domains=many))
    tenant = Tenant.of(record)
    if has_token:  # no worker has a record of its holder
        limits = KeyLimits(calls_per_day=2, usd_per_day=0.5)
        tenant = Tenant("oauth-1", "oauth-1", "oauth-1", operator=False, limits=limits)
    seen: list[tuple[object, str]] = []

    async def mcp(scope: Scope, receive: Receive, send: Send) -> None:
        seen.append((tenant_of(scope), CURRENT_TENANT.get()))
        await Response(status_code=202)(scope, receive, send)

    one, two = Peers(tmp_path, 1), Peers(tmp_path, 2)
    routing, _ = (SessionRouting(mcp, peers, Traffic()) for peers in (one, two))
    sent: list[Message] = []

    async def send(message: Message) -> None:
        sent.append(message)

    coming: asyncio.Queue[Message] = asyncio.Queue()
    coming.put_nowait({"type": "http.request", "body": b"{}", "more_body": False})

    headers = [(b"mcp-session-id", b"2-abc"), (b"content-type", b"application/json")]
    scope = {"type": "http", "method": "POST", "path": "/mcp", "query_string": b"", "headers": headers, TENANT: tenant}
    with socket.socket(socket.AF_UNIX) as listener:
        listener.bind(str(two.socket))
        listener.listen()
        async with serving(two, options={}, listener=listener):
            CURRENT_TENANT.set(tenant.id)
            await routing(scope, coming.get, send)
    assert sent[0]["status"] == 202
    assert seen == [(tenant, tenant.id)]
    await one.aclose()
