"""`serve`, `mcp --http` and `proxy` are one server: what protects one of them protects all."""

from __future__ import annotations

import asyncio
import io
import json
import os
import re
import signal
import subprocess
import sys
from collections.abc import AsyncIterator, Awaitable, Callable
from contextlib import AsyncExitStack, suppress
from dataclasses import dataclass
from datetime import UTC, datetime
from pathlib import Path
from typing import Any

import aiohttp
import pytest

from groundwire import Settings
from groundwire.errors import ConfigurationError
from groundwire.testing.model_apis import Say, script
from groundwire_server.api import Gateway, build_gateway, build_mcp, build_proxy
from groundwire_server.auth import KeyFile
from groundwire_server.auth.keys import make_key
from groundwire_server.uvicorn_runner import serving
from world import World
from world.model_apis import ModelServer

pytestmark = pytest.mark.req("B18")


@dataclass(frozen=True)
class Preset:
    """One preset, and a call that it answers."""

    build: Callable[[Settings, str, str], Gateway]
    """Builds it, with a model server, for an address."""
    command: tuple[str, ...]
    path: str
    call: dict[str, Any]
    largest: int
    """The most bytes of a call when `server.max_body_bytes` is 1,000."""
    code: int
    """The exit code after SIGTERM."""


PRESETS = {
    "serve": Preset(
        build=lambda settings, _, host: build_gateway(settings, host=host),
        command=("serve",),
        path="/v1/search",
        call={"query": "reciprocal rank fusion"},
        largest=1_000,
        code=128 + signal.SIGTERM,
    ),
    "mcp": Preset(
        build=lambda settings, _, host: build_mcp(settings, host=host),
        command=("mcp", "--http"),
        path="/mcp",
        call={
            "jsonrpc": "2.0",
            "id": 0,
            "method": "initialize",
            "params": {
                "protocolVersion": "2025-06-18",
                "capabilities": {},
                "clientInfo": {"name": "test", "version": "1"},
            },
        },
        largest=1_000,
        code=0,
    ),
    "proxy": Preset(
        build=lambda settings, upstream, host: build_proxy(upstream, settings, host=host),
        command=("proxy",),
        path="/v1/chat/completions",
        call={"model": "m", "messages": [{"role": "user", "content": "What is it?"}]},
        largest=32_000_000,
        code=128 + signal.SIGTERM,
    ),
}


@pytest.fixture(params=PRESETS)
def preset(request: pytest.FixtureRequest) -> Preset:
    return PRESETS[request.param]


@pytest.fixture
def models(world: World) -> ModelServer:
    return world.add(ModelServer(script(end=Say("It merges.")), name="model"))


class Connection:
    """A client that says byte for byte what it likes."""

    def __init__(self, reader: asyncio.StreamReader, writer: asyncio.StreamWriter) -> None:
        self.reader = reader
        self.writer = writer

    async def answer(self) -> tuple[int, dict[str, str], bytes]:
        """Return the status, the headers and the body of an answer, read to its end."""
        head = (await self.reader.readuntil(b"\r\n\r\n")).decode("latin-1")
        first, *lines = head.split("\r\n")
        headers = {name.lower(): value for name, _, value in (line.partition(": ") for line in lines)}
        if "content-length" in headers:
            body = await self.reader.readexactly(int(headers["content-length"]))
        else:
            body = await self.reader.readuntil(b"0\r\n\r\n")
        return int(first.split()[1]), headers, body


class Client:
    """Asks one server."""

    def __init__(self, preset: Preset, port: int, stack: AsyncExitStack) -> None:
        self.preset = preset
        self.port = port
        self._stack = stack

    async def connect(self) -> Connection:
        reader, writer = await asyncio.open_connection("127.0.0.1", self.port)
        self._stack.callback(writer.close)
        return Connection(reader, writer)

    async def begin(self, *, method: str = "POST", length: int | None = None, **headers: str) -> Connection:
        """Send the head of the preset's call; the names of headers are given with underscores."""
        size = len(self.body) if length is None else length
        lines = {
            "Host": f"127.0.0.1:{self.port}",
            "Content-Type": "application/json",
            "Accept": "application/json, text/event-stream",
            "Content-Length": str(size),
        } | {name.replace("_", "-"): value for name, value in headers.items()}
        head = "".join(f"{name}: {value}\r\n" for name, value in lines.items())
        connection = await self.connect()
        connection.writer.write(f"{method} {self.preset.path} HTTP/1.1\r\n{head}\r\n".encode("latin-1"))
        return connection

    async def ask(self, *, method: str = "POST", **headers: str) -> tuple[int, dict[str, str], bytes]:
        """Make the preset's call."""
        connection = await self.begin(method=method, length=None, **headers)
        connection.writer.write(self.body)
        return await connection.answer()

    async def hold(self) -> Connection:
        """Begin a call and return once it is under way: the server has asked for its body."""
        connection = await self.begin(Expect="100-continue")
        assert b" 100 " in await connection.reader.readuntil(b"\r\n\r\n")
        return connection

    async def finish(self, held: Connection) -> int:
        held.writer.write(self.body)
        return (await held.answer())[0]

    @property
    def body(self) -> bytes:
        return json.dumps(self.preset.call).encode()


@pytest.fixture
def clean_environment(world: World, tmp_path: Path) -> dict[str, str]:
    return {
        "PATH": os.environ["PATH"],
        "HOME": str(tmp_path),
        "PYTHONPATH": os.environ.get("PYTHONPATH", ""),
        "GROUNDWIRE_SEARCH_PROVIDERS": "searxng",
        "GROUNDWIRE_PROVIDERS_SEARXNG_BASE_URL": world.searxng.url,
        "GROUNDWIRE_POLICY_ALLOWED_ORIGINS": ",".join(world.origins),
        "GROUNDWIRE_STORAGE_URL": "memory://",
        "GROUNDWIRE_ARCHIVE_ENABLED": "false",
    }


Serve = Callable[..., Awaitable[tuple[Gateway, Client]]]


@pytest.fixture
async def serve(
    preset: Preset, models: ModelServer, settings: Callable[..., Settings], tmp_path: Path
) -> AsyncIterator[Serve]:
    """Serve the preset, with the given settings of the section `server`."""
    async with AsyncExitStack() as stack:

        async def make(**section: Any) -> tuple[Gateway, Client]:
            given = settings(server={"key_file": str(tmp_path / "keys.json"), **section})
            gateway = await stack.enter_async_context(preset.build(given, f"{models.url}/v1", "127.0.0.1"))
            url = await stack.enter_async_context(serving(gateway))
            return gateway, Client(preset, int(url.rpartition(":")[2]), stack)

        yield make


def code(body: bytes) -> str:
    return str(json.loads(body)["error"]["code"])


@pytest.mark.parametrize(
    ("headers", "refused"),
    [
        ({}, 200),
        ({"Host": "localhost"}, 200),
        ({"Host": "evil.example"}, 421),
        ({"Host": "10.0.0.1"}, 421),
        ({"Origin": "https://evil.example"}, 403),
        ({"Origin": "null"}, 403),
        ({"Sec-Fetch-Site": "cross-site"}, 403),
        ({"Origin": "https://evil.example", "Access-Control-Request-Method": "POST"}, 403),
    ],
)
async def test_by_what_name_and_from_which_page(
    serve: Serve, world: World, models: ModelServer, headers: dict[str, str], refused: int
) -> None:
    _, client = await serve()
    status, answered, _ = await client.ask(**headers)
    assert status == refused
    assert not [name for name in answered if name.startswith("access-control-")]
    if refused != 200:
        assert not world.searxng.requests
        assert not models.requests


async def test_a_preflight_is_refused(serve: Serve) -> None:
    _, client = await serve()
    status, _, _ = await client.ask(
        method="OPTIONS", Origin="https://evil.example", Access_Control_Request_Method="POST"
    )
    assert status == 403


async def test_with_keys_a_wrong_one_is_refused(serve: Serve, models: ModelServer, tmp_path: Path) -> None:
    _, client = await serve()
    assert (await client.ask())[0] == 200
    key, record = make_key("ci", datetime.now(UTC))
    KeyFile(tmp_path / "keys.json").add(record)
    wrong, _ = make_key("other", datetime.now(UTC))
    _, guarded = await serve()
    asked = len(models.requests)
    status, headers, body = await guarded.ask()
    assert (status, code(body), headers["www-authenticate"][:6]) == (401, "missing_key", "Bearer")
    status, _, body = await guarded.ask(X_API_Key=wrong)
    assert (status, code(body)) == (401, "wrong_key")
    assert len(models.requests) == asked
    assert (await guarded.ask(X_API_Key=key))[0] == 200
    assert (await guarded.ask(X_API_Key=key, Authorization="Bearer the-models-key"))[0] == 200
    assert key not in "".join(f"{one.headers}" for one in models.requests)
    for _ in range(20):
        status, _, body = await guarded.ask(X_API_Key=wrong)
    assert (status, code(body)) == (429, "too_many_wrong_keys")


@pytest.mark.parametrize("host", ["0.0.0.0", "::", "10.0.0.1"])
def test_other_machines_need_a_key(
    preset: Preset, settings: Callable[..., Settings], tmp_path: Path, host: str
) -> None:
    given = settings(server={"key_file": str(tmp_path / "keys.json")})
    with pytest.raises(ConfigurationError, match="groundwire keys create"):
        preset.build(given, "http://127.0.0.1:1/v1", host)
    KeyFile(tmp_path / "keys.json").add(make_key("ci", datetime.now(UTC))[1])
    assert preset.build(given, "http://127.0.0.1:1/v1", host).asks_for_keys


async def test_the_rate_of_a_key(serve: Serve, tmp_path: Path) -> None:
    key, record = make_key("ci", datetime.now(UTC))
    KeyFile(tmp_path / "keys.json").add(record)
    _, client = await serve(requests_per_minute=1, burst=2)
    answers = [await client.ask(X_API_Key=key) for _ in range(3)]
    assert [status for status, _, _ in answers] == [200, 200, 429]
    assert answers[2][1]["retry-after"]


async def test_a_body_that_is_too_large_or_does_not_come(serve: Serve, preset: Preset) -> None:
    _, client = await serve(max_body_bytes=1_000, body_timeout=0.1)
    large = await client.begin(length=preset.largest + 1)
    status, _, body = await large.answer()
    assert (status, code(body)) == (413, "body_too_large")
    status, _, body = await (await client.hold()).answer()
    assert (status, code(body)) == (408, "body_too_slow")


async def test_no_more_calls_at_once_than_the_server_takes(serve: Serve) -> None:
    _, client = await serve(max_concurrent_requests=1)
    held = await client.hold()
    status, _, body = await client.ask()
    assert (status, code(body)) == (429, "busy")
    assert await client.finish(held) == 200
    assert (await client.ask())[0] == 200


async def test_calls_under_way_are_finished_or_told(serve: Serve) -> None:
    gateway, client = await serve()
    finished, ended = await client.hold(), await client.hold()
    assert gateway.traffic.running == 2
    gateway.traffic.drain()
    status, headers, body = await client.ask()
    assert (status, code(body), headers["connection"]) == (503, "draining", "close")
    assert await client.finish(finished) == 200
    gateway.traffic.end_calls()
    status, _, body = await ended.answer()
    assert (status, code(body)) == (503, "ended")
    await gateway.traffic.idle()


async def test_an_unknown_path_names_those_that_there_are(serve: Serve, preset: Preset) -> None:
    _, client = await serve()
    async with aiohttp.ClientSession(f"http://127.0.0.1:{client.port}") as session:
        async with session.get("/nothing") as response:
            said = (await response.json())["error"]["message"]
        async with session.get("/openapi.json") as response:
            is_described = response.status == 200
    assert is_described == (preset.path == "/v1/search") == ("/openapi.json lists" in said)
    assert is_described or re.search(
        rf"those here are /healthz, /readyz, .*/{preset.path.split('/')[1]}\b", said, re.IGNORECASE
    )
    assert "/ping" not in said


async def test_health_needs_no_key(serve: Serve, tmp_path: Path) -> None:
    KeyFile(tmp_path / "keys.json").add(make_key("ci", datetime.now(UTC))[1])
    gateway, client = await serve()
    for draining, expected in ((False, 200), (True, 503)):
        if draining:
            gateway.traffic.drain()
        probe = await client.connect()
        probe.writer.write(b"GET /readyz HTTP/1.1\r\nHost: 127.0.0.1\r\n\r\n")
        assert (await probe.answer())[0] == expected


async def hold_once_there_is_room(client: Client) -> Connection:
    """Hold a call; the server may not have noticed yet that a connection was closed, and refuse this one."""
    while True:
        connection = await client.begin(Expect="100-continue")
        with suppress(ConnectionError, asyncio.IncompleteReadError):
            if b" 100 " in await connection.reader.readuntil(b"\r\n\r\n"):
                return connection
        connection.writer.close()
        await asyncio.sleep(0)


async def test_as_a_process(
    preset: Preset, models: ModelServer, tmp_path: Path, clean_environment: dict[str, str], warm_python: Path
) -> None:
    """A head that drips is not waited for, connections are counted, and SIGTERM lets calls finish."""
    environment = clean_environment | {
        "GROUNDWIRE_SERVER_HEADER_TIMEOUT": "3",
        "GROUNDWIRE_SERVER_MAX_CONNECTIONS": "2",
    }
    upstream = ("--upstream", f"{models.url}/v1") if preset.command == ("proxy",) else ()
    process = await asyncio.create_subprocess_exec(
        *(warm_python, "-m", "groundwire", *preset.command, "--port", "0", *upstream),
        env=environment,
        cwd=tmp_path,
        stderr=subprocess.PIPE,
        stdout=subprocess.DEVNULL,
    )
    assert process.stderr
    try:
        async with AsyncExitStack() as stack:
            found = re.search(r"http://127\.0\.0\.1:(\d+)", (await process.stderr.readline()).decode())
            assert found
            client = Client(preset, int(found[1]), stack)
            dripping = await client.connect()
            dripping.writer.write(f"POST {preset.path} HTTP/1.1\r\n".encode())
            assert b" 408 " in await dripping.reader.read()
            dripping.writer.close()
            first, second = await hold_once_there_is_room(client), await hold_once_there_is_room(client)
            assert (await client.ask())[0] == 503
            process.send_signal(signal.SIGTERM)
            while (line := await process.stderr.readline()) and b"2 running calls" not in line:
                pass
            assert line
            assert [await client.finish(held) for held in (first, second)] == [200, 200]
            assert await process.wait() == preset.code
    finally:
        if process.returncode is None:
            process.kill()
            await process.wait()


def test_mcp_alone_needs_nothing_of_the_page() -> None:
    code = (
        "import sys; from groundwire import Settings; from groundwire_server.api import build_mcp;"
        "build_mcp(Settings.model_validate({'search': {'providers': ['searxng']},"
        " 'providers': {'searxng': {'base_url': 'http://127.0.0.1:1'}}, 'storage': {'url': 'memory://'}}));"
        "print([name for name in ('jinja2', 'markdown_it') if name in sys.modules])"
    )
    done = subprocess.run([sys.executable, "-c", code], capture_output=True, text=True, check=True)
    assert done.stdout == "[]\n"


@pytest.mark.req("B27")
async def test_pages_of_named_origins_may_call_and_no_others(
    models: ModelServer, settings: Callable[..., Settings]
) -> None:
    """A web page of another site, as a browser has it: it asks first, and reads the answer if it may."""
    page = "http://chat.example:3000"
    made = settings(server={"allowed_origins": (page,)})
    async with AsyncExitStack() as stack:
        app = await stack.enter_async_context(build_proxy(f"{models.url}/v1", made))
        url = await stack.enter_async_context(serving(app))
        http = await stack.enter_async_context(aiohttp.ClientSession())
        asking = {"Access-Control-Request-Method": "POST", "Access-Control-Request-Headers": "authorization"}
        body = {"model": "m", "messages": [{"role": "user", "content": "What?"}]}
        for path in ("/v1/chat/completions", "/api/chat"):
            call = url + path
            for origin, status in ((page, 200), ("http://evil.example", 403), (f"{page}0", 403), ("null", 403)):
                async with http.options(call, headers={"Origin": origin, **asking}) as reply:
                    assert reply.status == status
                    allowed = reply.headers.get("Access-Control-Allow-Origin")
                    assert allowed == (page if origin == page else None)
                if origin == page:
                    assert reply.headers["Access-Control-Allow-Headers"] == "authorization"
                    assert "Access-Control-Allow-Credentials" not in reply.headers
            headers = {"Origin": page, "Sec-Fetch-Site": "cross-site", "Sec-Fetch-Mode": "cors", "Cookie": "a=b"}
            async with http.post(call, json=body, headers=headers) as reply:
                assert (reply.status, reply.headers["Access-Control-Allow-Origin"]) == (200, page)
            async with http.post(call, json=body, headers={**headers, "Origin": "http://evil.example"}) as reply:
                assert reply.status == 403
                assert "Access-Control-Allow-Origin" not in reply.headers
        assert all("cookie" not in {name.lower() for name in one.headers} for one in models.requests)
    with pytest.raises(ValueError, match="is not an origin"):
        settings(server={"allowed_origins": ("*",)})


async def test_a_request_to_a_model_has_at_most_32_mb(models: ModelServer, settings: Callable[..., Settings]) -> None:
    async with AsyncExitStack() as stack:
        app = await stack.enter_async_context(build_proxy(f"{models.url}/v1", settings()))
        url = await stack.enter_async_context(serving(app))
        http = await stack.enter_async_context(aiohttp.ClientSession())
        for path in ("/v1/chat/completions", "/v1/embeddings"):
            async with http.post(url + path, data=io.BytesIO(b" " * 32_000_001)) as reply:
                assert (reply.status, (await reply.json())["error"]["code"]) == (413, "body_too_large")
    assert models.requests == []
