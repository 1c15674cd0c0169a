"""Connections to where the guard allows: looked up once, judged, and made to exactly the judged addresses."""

from __future__ import annotations

import asyncio
import base64
import ssl
from typing import Final
from urllib.parse import unquote, urlsplit

from groundwire.errors import BlockedAddress, InvalidRequest
from groundwire.reading.browser.proxy_requests import BrowserRequest
from groundwire.safety.guard import Guard
from groundwire.safety.hostnames import NOT_ALLOWED, canonical_host
from groundwire.safety.urls import WebUrl

__all__ = ["READING", "REFUSALS", "Dialler", "Streams"]

Streams = tuple[asyncio.StreamReader, asyncio.StreamWriter]
"""Both ends of a connection, for reading and for writing."""

REFUSALS: Final = (BlockedAddress, InvalidRequest)
"""What `Dialler.open` raises for what is not allowed."""
READING: Final = frozenset({"GET", "HEAD", "CONNECT"})
"""The methods that an allowed origin may be asked with, and that of a tunnel."""
_CONNECT_TIME: Final = 10.0  # seconds for one address
_HEAD_LIMIT: Final = 65_536  # bytes of another proxy's answer


class Dialler:
    """Opens connections for one page in a browser.

    An allowed origin that is not public is there for a page of its own, and to be read only: no other page's redirect,
    resource or script reaches it. What goes through a tunnel is not seen here, so that a page of such an origin may
    speak to it as it likes over HTTPS and WebSockets.

    Args:
        guard: Judges names, ports and addresses.
        page: The address of the page, which the user or the operator has named; None is a page of no allowed origin.
        upstream: The operator's forward proxy, or empty for none. It resolves names itself, so with one the guard
            judges the form of what is asked for only.
    """

    def __init__(self, guard: Guard, page: WebUrl | None, upstream: str = "") -> None:
        self._guard = guard
        self._page = page
        self._upstream = upstream

    async def open(self, asked: BrowserRequest) -> Streams:
        """Return a connection to where a request wants to go; a tunnel is ready, another request has been sent.

        Raises:
            BlockedAddress: it is not allowed. OSError: it cannot be reached. InvalidRequest: it is no address.
        """
        self._check_exempt(asked)
        if self._upstream:
            return await self._through(asked)
        reader, writer = await self._direct(asked.host, asked.port)
        if not asked.tunnel:
            writer.write(asked.head())
        return reader, writer

    def _check_exempt(self, asked: BrowserRequest) -> None:
        """See that an allowed origin is asked by a page of its own, and only to be read.

        Raises:
            BlockedAddress: it is not.
        """
        if not self._guard.is_exempt(asked.host, asked.port):
            return
        page = self._page
        own = page is not None and (canonical_host(asked.host), asked.port) == (page.host, page.port)
        if not own or asked.method not in READING:
            raise BlockedAddress(NOT_ALLOWED)

    async def _direct(self, host: str, port: int) -> Streams:
        failure: OSError = ConnectionRefusedError("no address answered")
        for address in await self._guard.resolve(host, port):
            if not self._guard.permits(address, port):
                raise BlockedAddress(NOT_ALLOWED)
            try:
                async with asyncio.timeout(_CONNECT_TIME):
                    return await asyncio.open_connection(address, port)
            except OSError as error:
                failure = error
        raise failure

    async def _through(self, asked: BrowserRequest) -> Streams:
        scheme = "https" if asked.tunnel and asked.port == 443 else "http"
        self._guard.admit(f"{scheme}://{asked.authority}/")
        parts = urlsplit(self._upstream)
        secure = parts.scheme == "https"
        port = parts.port or (443 if secure else 80)
        async with asyncio.timeout(_CONNECT_TIME):
            context = ssl.create_default_context() if secure else None
            reader, writer = await asyncio.open_connection(parts.hostname, port, ssl=context)
        try:
            if not asked.tunnel:
                writer.write(asked.head(absolute=True, more=self._credentials()))
                return reader, writer
            lines = (f"CONNECT {asked.authority} HTTP/1.1", f"Host: {asked.authority}", *self._credentials(), "", "")
            writer.write("\r\n".join(lines).encode("latin-1"))
            async with asyncio.timeout(_CONNECT_TIME):
                head = await reader.readuntil(b"\r\n\r\n")
            if len(head) > _HEAD_LIMIT or head[8:11] != b" 20":
                raise ConnectionRefusedError("the proxy refused")
        except (asyncio.IncompleteReadError, asyncio.LimitOverrunError) as error:
            writer.close()
            raise ConnectionResetError("the proxy broke off") from error
        except BaseException:
            writer.close()
            raise
        return reader, writer

    def _credentials(self) -> tuple[str, ...]:
        parts = urlsplit(self._upstream)
        if parts.username is None:
            return ()
        pair = f"{unquote(parts.username)}:{unquote(parts.password or '')}"
        return (f"Proxy-Authorization: Basic {base64.b64encode(pair.encode()).decode('ascii')}",)
