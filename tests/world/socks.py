"""A SOCKS5 proxy on loopback (RFC 1928, RFC 1929) that leads every destination to one port of ours."""

from __future__ import annotations

import asyncio
import contextlib
from ipaddress import ip_address

from groundwire.transport.connector import close_server

_NO_LOGIN, _LOGIN, _NOTHING = 0, 2, 255  # methods: none, user name and password, none acceptable


class SocksServer:
    """The proxy; `async with` starts and stops it.

    Args:
        upstream: The port on 127.0.0.1 that it connects to, whatever is asked for.
        login: A user name and password that it requires.
        reply: The code that it replies with; it connects only for 0. One for each request, the last for all others.
        hangs: Whether it takes requests and never replies.
        garbage: Bytes that it sends in place of its replies.
    """

    def __init__(
        self,
        upstream: int = 0,
        *,
        login: tuple[str, str] | None = None,
        reply: tuple[int, ...] = (0,),
        hangs: bool = False,
        garbage: bytes = b"",
    ) -> None:
        self.upstream, self.login, self.hangs, self.garbage = upstream, login, hangs, garbage
        self._replies = list(reply)
        self.destinations: list[tuple[str, int]] = []
        """What was asked for: a name or an address, and a port."""
        self.logins: list[tuple[str, str]] = []
        """The user names and passwords that it was given."""
        self.asked = asyncio.Event()
        """Set at the first connection."""
        self.left = asyncio.Event()
        """Set when a connection has ended."""
        self.port = 0
        self._tasks: set[asyncio.Task[None]] = set()

    def url(self, scheme: str = "socks5h", login: str = "") -> str:
        """Return its URL."""
        return f"{scheme}://{login and f'{login}@'}127.0.0.1:{self.port}"

    async def __aenter__(self) -> SocksServer:
        self._server = await asyncio.start_server(self._serve, "127.0.0.1", 0)
        self.port = self._server.sockets[0].getsockname()[1]
        return self

    async def __aexit__(self, *error: object) -> None:
        await close_server(self._server)
        for task in self._tasks:
            task.cancel()
        await asyncio.gather(*self._tasks, return_exceptions=True)

    async def _serve(self, reader: asyncio.StreamReader, writer: asyncio.StreamWriter) -> None:
        task = asyncio.current_task()
        assert task is not None
        self._tasks.add(task)
        self.asked.set()
        try:
            if self.hangs or self.garbage:
                writer.write(self.garbage)
                await reader.read(-1)
            elif await self._admitted(reader, writer) and await self._connected(reader, writer):
                there, back = await asyncio.open_connection("127.0.0.1", self.upstream)
                try:
                    await asyncio.gather(_copy(reader, back), _copy(there, writer))
                finally:
                    back.close()
        except (ConnectionError, asyncio.IncompleteReadError, asyncio.CancelledError):
            pass
        finally:
            self.left.set()
            writer.close()
            with contextlib.suppress(ConnectionError, asyncio.CancelledError):
                await writer.wait_closed()

    async def _admitted(self, reader: asyncio.StreamReader, writer: asyncio.StreamWriter) -> bool:
        version, count = await reader.readexactly(2)
        methods = await reader.readexactly(count)
        assert version == 5
        method = _LOGIN if self.login else _NO_LOGIN
        writer.write(bytes([5, method if method in methods else _NOTHING]))
        if method not in methods:
            return False
        if self.login:
            given = []
            await reader.readexactly(1)
            for _ in range(2):
                (size,) = await reader.readexactly(1)
                given.append((await reader.readexactly(size)).decode("ascii"))
            self.logins.append((given[0], given[1]))
            writer.write(bytes([1, int(self.logins[-1] != self.login)]))
            return self.logins[-1] == self.login
        return True

    async def _connected(self, reader: asyncio.StreamReader, writer: asyncio.StreamWriter) -> bool:
        _, command, _, kind = await reader.readexactly(4)
        assert command == 1
        size = {1: 4, 4: 16}.get(kind) or (await reader.readexactly(1))[0]
        raw = await reader.readexactly(size)
        host = raw.decode("ascii") if kind == 3 else str(ip_address(raw))
        self.destinations.append((host, int.from_bytes(await reader.readexactly(2), "big")))
        code = self._replies.pop(0) if len(self._replies) > 1 else self._replies[0]
        writer.write(bytes([5, code, 0, 1, 0, 0, 0, 0, 0, 0]))
        return code == 0


async def _copy(reader: asyncio.StreamReader, writer: asyncio.StreamWriter) -> None:
    with contextlib.suppress(ConnectionError):
        while data := await reader.read(65_536):
            writer.write(data)
            await writer.drain()
    writer.close()
