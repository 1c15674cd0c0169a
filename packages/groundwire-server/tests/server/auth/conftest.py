"""An application behind the gate, served by the real server, and a client that says byte for byte what it likes."""

from __future__ import annotations

import asyncio
import json
from collections.abc import AsyncIterator, Callable
from contextlib import AsyncExitStack
from dataclasses import dataclass, field
from datetime import UTC, datetime
from pathlib import Path
from typing import Any

import pytest

from groundwire.settings import ServerSettings
from groundwire.storage import MemoryStore
from groundwire_server.auth import Access, Authenticator, Failures, KeyFile, needs_key, tenant_of
from groundwire_server.auth.keys import KeyLimits, KeyRecord, make_key
from groundwire_server.auth.oauth import AccessTokens
from groundwire_server.uvicorn_runner import bounded, serving


@dataclass
class Answer:
    """What a server answered."""

    status: int
    headers: dict[str, str]
    body: bytes

    @property
    def json(self) -> Any:
        return json.loads(self.body)

    @property
    def code(self) -> str:
        return str(self.json["error"]["code"])

    @staticmethod
    def of(data: bytes) -> Answer:
        head, _, body = data.partition(b"\r\n\r\n")
        first, *lines = head.decode("latin-1").split("\r\n")
        pairs = (line.partition(": ") for line in lines)
        return Answer(int(first.split(" ")[1]), {name.lower(): value for name, _, value in pairs}, body)


class Clock:
    """Seconds that a test lets go by."""

    def __init__(self) -> None:
        self.now = 1_000_000.0

    def __call__(self) -> float:
        return self.now


class Echo:
    """Says what of a request arrived; some paths wait, stream, or do not read."""

    def __init__(self) -> None:
        self.entered = asyncio.Event()
        self.go = asyncio.Event()
        self.seen: list[str] = []
        self.ended = asyncio.Event()

    async def __call__(self, scope: Any, receive: Any, send: Any) -> None:
        self.seen.append(scope["path"])
        tenant = tenant_of(scope)
        if scope["path"] == "/stream":
            await self._stream(send)
            return
        if scope["path"] == "/broken":
            raise RuntimeError("a bug")
        size = 0
        if scope["path"] != "/deaf":
            while True:
                message = await receive()
                if message["type"] == "http.disconnect":
                    self.ended.set()
                    return
                size += len(message.get("body", b""))
                if not message.get("more_body"):
                    break
        if scope["path"] == "/wait":
            self.entered.set()
            await self.go.wait()
        said = {
            "tenant": tenant.id if tenant else None,
            "headers": sorted(name.decode() for name, _ in scope["headers"]),
            "authorization": dict(scope["headers"]).get(b"authorization", b"").decode(),
            "size": size,
        }
        body = b"x" * 50_000_000 if scope["path"] == "/huge" else json.dumps(said).encode()
        headers = [
            (b"content-type", b"application/json"),
            (b"content-length", str(len(body)).encode()),
            (b"access-control-allow-origin", b"*"),
        ]
        await send({"type": "http.response.start", "status": 200, "headers": headers})
        for at in range(0, len(body), 100_000):
            await send({"type": "http.response.body", "body": body[at : at + 100_000], "more_body": True})
        await send({"type": "http.response.body", "body": b"", "more_body": False})
        self.ended.set()

    async def _stream(self, send: Any) -> None:
        await send({"type": "http.response.start", "status": 200, "headers": []})
        try:
            while True:
                await send({"type": "http.response.body", "body": b"tick\n", "more_body": True})
                await self.go.wait()
                self.go.clear()
        finally:
            self.ended.set()


@dataclass
class Gateway:
    """The gate, what is behind it, and where it is."""

    access: Access
    echo: Echo
    keys: KeyFile
    url: str
    clock: Clock
    store: MemoryStore
    made: list[str] = field(default_factory=list)

    @property
    def port(self) -> int:
        return int(self.url.rpartition(":")[2])

    def key(self, name: str = "ci", *, expires: datetime | None = None, tenant: str = "", **limits: Any) -> str:
        """Make a key; the gate looks at the file again."""
        return self.record(name, expires=expires, tenant=tenant, **limits)[0]

    def record(
        self,
        name: str = "ci",
        *,
        expires: datetime | None = None,
        tenant: str = "",
        operator: bool = False,
        **limits: Any,
    ) -> tuple[str, KeyRecord]:
        made = make_key(
            name,
            datetime.now(UTC),
            expires=expires,
            tenant=tenant,
            operator=operator,
            limits=KeyLimits.model_validate(limits),
        )
        KeyFile(self.keys.path).add(made[1])
        self.made.append(made[0])
        self.clock.now += 1
        return made

    def revoke(self, name: str) -> None:
        KeyFile(self.keys.path).revoke(name, datetime.now(UTC))
        self.clock.now += 1

    async def raw(self, data: bytes, *, close: bool = True) -> Answer:
        """Send bytes and take the answer."""
        reader, writer = await asyncio.open_connection("127.0.0.1", self.port)
        try:
            writer.write(data)
            if close:
                writer.write_eof()
            return Answer.of(await _answer(reader))
        finally:
            writer.close()

    async def ask(
        self, path: str = "/", *, method: str = "GET", key: str = "", body: bytes = b"", **headers: str
    ) -> Answer:
        """Send a request; the names of headers are given with underscores."""
        lines = {"Host": f"127.0.0.1:{self.port}"}
        if key:
            lines["Authorization"] = f"Bearer {key}"
        if body:
            lines["Content-Length"] = str(len(body))
        lines |= {name.replace("_", "-"): value for name, value in headers.items()}
        head = "".join(f"{name}: {value}\r\n" for name, value in lines.items())
        return await self.raw(f"{method} {path} HTTP/1.1\r\n{head}\r\n".encode("latin-1") + body, close=False)


async def _answer(reader: asyncio.StreamReader) -> bytes:
    """Return one answer, read to its end."""
    head = await reader.readuntil(b"\r\n\r\n")
    for line in head.split(b"\r\n"):
        if line.lower().startswith(b"content-length:"):
            return head + await reader.readexactly(int(line.partition(b":")[2]))
    return head + await reader.read()


Serve = Callable[..., Any]


@pytest.fixture
async def serve(tmp_path: Path) -> AsyncIterator[Serve]:
    """Serve the application behind the gate; `clock` and `failures` are the gate's, all else are settings."""
    async with AsyncExitStack() as stack:

        async def make(
            *,
            host: str = "",
            bounds: dict[str, Any] | None = None,
            now: Callable[[], datetime] = lambda: datetime.now(UTC),
            **settings: Any,
        ) -> Gateway:
            clock, echo = Clock(), Echo()
            store = MemoryStore(clock=clock)
            keys = KeyFile(tmp_path / "keys.json", clock=clock)
            section = ServerSettings.model_validate(settings)
            access = Access(
                echo,
                section,
                Authenticator(
                    keys,
                    must=needs_key(section, host),
                    failures=Failures(store, burst=3, interval=5.0),
                    now=now,
                    tokens=AccessTokens(section.oauth, clock=clock) if section.oauth.issuers else None,
                ),
                store,
                host=host,
                larger={"/larger": 3_000_000},
            )
            stack.push_async_callback(access.aclose)
            url = await stack.enter_async_context(serving(access, options=bounded(**(bounds or {}))))
            return Gateway(access, echo, keys, url, clock, store)

        yield make
