"""The public names of the miniature web's sites, reached as on the real web: over a forward proxy, and TLS."""

from __future__ import annotations

import asyncio
import contextlib

from components.authority import Authority
from groundwire.transport.connector import close_server
from world import World
from world.site_apis import SITE_APIS


class PublicWeb:
    """A forward proxy that leads `https://api.github.com` and the like to the sites of a world.

    Args:
        world: Whose sites they are.
        authority: Vouches for the names; this process trusts it.

    Attributes:
        asked: The hosts to which a tunnel was asked for.
    """

    def __init__(self, world: World, authority: Authority) -> None:
        self._authority = authority
        sites = [world.site_api(name) for name in SITE_APIS]
        self._sites = {host: site for site in sites for host in site.public_hosts}
        self._server: asyncio.Server | None = None
        self._tasks: set[asyncio.Task[None]] = set()
        self.asked: list[str] = []

    @property
    def url(self) -> str:
        """The proxy's address, for `network.proxy`."""
        assert self._server is not None
        return f"http://127.0.0.1:{self._server.sockets[0].getsockname()[1]}"

    async def start(self) -> None:
        """Start listening."""
        self._server = await asyncio.start_server(self._tunnel, "127.0.0.1", 0)

    async def aclose(self) -> None:
        """Break all tunnels."""
        for task in tuple(self._tasks):
            task.cancel()
        await asyncio.gather(*self._tasks, return_exceptions=True)
        if self._server is not None:
            await close_server(self._server)

    async def _tunnel(self, reader: asyncio.StreamReader, writer: asyncio.StreamWriter) -> None:
        task = asyncio.current_task()
        assert task is not None
        self._tasks.add(task)
        try:
            with contextlib.suppress(OSError, asyncio.IncompleteReadError, asyncio.CancelledError):
                await self._serve(reader, writer)
        finally:
            self._tasks.discard(task)
            writer.close()

    async def _serve(self, reader: asyncio.StreamReader, writer: asyncio.StreamWriter) -> None:
        head = (await reader.readuntil(b"\r\n\r\n")).decode()
        host = head.split()[1].partition(":")[0]
        self.asked.append(host)
        site = self._sites.get(host)
        if not head.startswith("CONNECT ") or site is None:
            writer.write(b"HTTP/1.1 502 Bad Gateway\r\nContent-Length: 0\r\n\r\n")
            await writer.drain()
            return
        writer.write(b"HTTP/1.1 200 Connection established\r\n\r\n")
        await writer.drain()
        await writer.start_tls(self._authority.context(host))
        far_reader, far_writer = await asyncio.open_connection("127.0.0.1", site.port)
        try:
            await asyncio.gather(_copy(reader, far_writer), _copy(far_reader, writer))
        finally:
            far_writer.close()


async def _copy(source: asyncio.StreamReader, target: asyncio.StreamWriter) -> None:
    while data := await source.read(65_536):
        target.write(data)
        await target.drain()
    target.close()
