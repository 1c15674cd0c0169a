"""Pinned connections: resolved once, checked by the guard, and made to exactly the checked addresses."""

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
"""The reason in `Dialler.open` for forbidden destinations."""
READING: Final = frozenset({"GET", "HEAD", "CONNECT"})
"""The methods allowed for an exempt origin, and that of a tunnel."""
_CONNECT_TIME: Final = 10.0  # seconds per address
_HEAD_LIMIT: Final = 65_536  # bytes of another proxy's response


class Dialler:
    """Opens connections for one page in a browser.

    An exempt private origin is only for pages of that origin, and read-only: no other page's redirect, resource or
    script reaches it. The content of a tunnel is not visible here, so that a page of such an origin may use HTTPS and
    WebSockets with it freely.

    Args:
        guard: Checks names, ports and addresses.
        page: The URL of the page, named by the user or the operator; None for a page outside of exempt origins.
        upstream: The operator's forward proxy, or empty for none. It resolves names itself, so with one the guard
            checks only the form of requests.
    """

    def __init__(self, guard: Guard, page: WebUrl | None, upstream: str = "") -> None:
        self._guard = guard
        self._page = page
        self._upstream = upstream

    async def open(self, asked: BrowserRequest) -> Streams:
        """Open the connection for a request; a tunnel is ready for use, any other request has been sent.

        Raises:
            BlockedAddress: it is forbidden. OSError: it is unreachable. InvalidRequest: it is not a valid address.
        """
        self._check_exempt(asked)
        if self._upstream:
            return await self._through(asked)
        reader, writer = await self._direct(asked.host, asked.port)
        if not asked.tunnel:
            writer.write(asked.head())
        return reader, writer

    def _check_exempt(self, asked: BrowserRequest) -> None:
        """Check that an exempt origin is requested by its own page, and only for reading.

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
