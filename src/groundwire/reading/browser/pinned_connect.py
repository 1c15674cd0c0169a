"""Requests of a browser to a forward proxy, and pinned connections for them.

The requests are parsed from bytes (RFC 9112, section 3.2; RFC 9110, section 9.3.6). Connections are resolved once,
checked by the guard, and made to exactly the checked addresses.
"""

from __future__ import annotations

import asyncio
import base64
import re
import ssl
from dataclasses import dataclass
from typing import Final
from urllib.parse import unquote, urlsplit

from groundwire.errors import BlockedAddress
from groundwire.safety.guard import Guard
from groundwire.safety.hostnames import NOT_ALLOWED, canonical_host
from groundwire.safety.urls import WebUrl
from groundwire.transport.socks import socks_proxy

_CONNECT: Final = re.compile(r"CONNECT ([^\s/?#@]+) HTTP/1\.[01]", re.ASCII)
_ABSOLUTE: Final = re.compile(
    r"([A-Z]{3,16}) [hH][tT][tT][pP]://([^\s/?#@]+)(/[^\s#]*|\?[^\s#]*)? HTTP/1\.[01]", re.ASCII
)
_NAME: Final = re.compile(r"[!#$%&'*+.^_`|~0-9A-Za-z-]+")
_HOP: Final = frozenset(
    {"connection", "keep-alive", "proxy-authorization", "proxy-connection", "te", "trailer", "upgrade"}
)
"""Hop-by-hop headers (RFC 9110, section 7.6.1)."""


class NotUnderstood(ValueError):
    """The bytes are not a valid request to a proxy."""


@dataclass(frozen=True, slots=True, kw_only=True)
class BrowserRequest:
    """One request to a proxy."""

    host: str
    """The requested name or address, IPv6 without brackets."""
    port: int
    """Its port."""
    tunnel: bool
    """Whether a tunnel is requested (CONNECT); its content is between the browser and the host."""
    method: str
    """The method."""
    target: str = "/"
    """Path and query; not for a tunnel."""
    headers: tuple[str, ...] = ()
    """The header lines for the host; not for a tunnel."""
    length: int = 0
    """The length of its body in bytes."""

    @property
    def authority(self) -> str:
        """Host and port as written in a URL."""
        return f"[{self.host}]:{self.port}" if ":" in self.host else f"{self.host}:{self.port}"

    def head(self, *, absolute: bool = False, more: tuple[str, ...] = ()) -> bytes:
        """Return the request head for the next server.

        Args:
            absolute: Whether that is another proxy, which expects the absolute URL.
            more: Additional header lines.
        """
        target = f"http://{self.authority}{self.target}" if absolute else self.target
        lines = (f"{self.method} {target} HTTP/1.1", *self.headers, *more, "Connection: close", "", "")
        return "\r\n".join(lines).encode("latin-1")


def parse_head(data: bytes) -> BrowserRequest:
    """Parse a request head, including the empty line at its end.

    Raises:
        NotUnderstood: it is invalid, or ambiguous between servers.
    """
    first, *lines = data.decode("latin-1").removesuffix("\r\n\r\n").split("\r\n")
    if match := _CONNECT.fullmatch(first):
        host, port = _split(match[1], None)
        return BrowserRequest(host=host, port=port, tunnel=True, method="CONNECT")
    match = _ABSOLUTE.fullmatch(first)
    if match is None:
        raise NotUnderstood("not a request to a proxy")
    host, port = _split(match[2], 80)
    headers, length = [], None
    for line in lines:
        name, colon, value = line.partition(":")
        if not colon or not _NAME.fullmatch(name) or "\r" in value or "\n" in value or "\0" in value:
            raise NotUnderstood("a header line is malformed")
        small = name.lower()
        if small == "transfer-encoding":
            raise NotUnderstood("a body of unknown length")
        if small == "content-length":
            digits = value.strip()
            if length is not None or not digits.isascii() or not digits.isdecimal() or len(digits) > 12:
                raise NotUnderstood("a body of unknown length")
            length = int(digits)
        if small not in _HOP:
            headers.append(line)
    target = match[3] or "/"
    return BrowserRequest(
        host=host,
        port=port,
        tunnel=False,
        method=match[1],
        target=target if target.startswith("/") else f"/{target}",
        headers=tuple(headers),
        length=length or 0,
    )


def _split(authority: str, default_port: int | None) -> tuple[str, int]:
    """Split an authority into host and port."""
    try:
        parts = urlsplit(f"//{authority}")
        host, port = parts.hostname, default_port if parts.port is None else parts.port
    except ValueError as error:
        raise NotUnderstood("not an authority") from error
    if not host or not port:
        raise NotUnderstood("not an authority")
    return host, port


Streams = tuple[asyncio.StreamReader, asyncio.StreamWriter]
"""Both ends of a connection, for reading and for writing."""

READ_METHODS: Final = frozenset({"GET", "HEAD", "CONNECT"})
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
        upstream: The operator's forward proxy, or empty for none. Unless it is a `socks5://` one, it resolves names
            itself, so that the guard checks only the form of requests.
    """

    def __init__(self, guard: Guard, page: WebUrl | None, upstream: str = "") -> None:
        self._guard = guard
        self._page = page
        self._upstream = upstream
        self._socks = socks_proxy(upstream)

    async def open(self, request: BrowserRequest) -> Streams:
        """Open the connection for a request; a tunnel is ready for use, any other request has been sent.

        Raises:
            BlockedAddress: it is forbidden. OSError: it is unreachable. InvalidRequest: it is not a valid address.
        """
        self._check_exempt(request)
        if self._upstream:
            self._guard.admit(f"{'https' if request.tunnel and request.port == 443 else 'http'}://{request.authority}/")
            if self._socks is None:
                return await self._connect_through(request)
        reader, writer = await self._direct(request.host, request.port)
        if not request.tunnel:
            writer.write(request.head())
        return reader, writer

    def _check_exempt(self, request: BrowserRequest) -> None:
        """Check that an exempt origin is requested by its own page, and only for reading.

        Raises:
            BlockedAddress: it is not.
        """
        if not self._guard.is_exempt(request.host, request.port):
            return
        page = self._page
        own = page is not None and (canonical_host(request.host), request.port) == (page.host, page.port)
        if not own or request.method not in READ_METHODS:
            raise BlockedAddress(NOT_ALLOWED)

    async def _direct(self, host: str, port: int) -> Streams:
        failure: OSError = ConnectionRefusedError("no address answered")
        by_name = self._socks is not None and self._socks.resolves_names
        for address in [host] if by_name else await self._guard.resolve(host, port):
            if not (by_name or self._guard.permits(address, port)):
                raise BlockedAddress(NOT_ALLOWED)
            try:
                async with asyncio.timeout(_CONNECT_TIME):
                    if self._socks is not None:
                        return await asyncio.open_connection(sock=await self._socks.connect(address, port))
                    return await asyncio.open_connection(address, port)
            except OSError as error:
                failure = error
        raise failure

    async def _connect_through(self, request: BrowserRequest) -> Streams:
        parts = urlsplit(self._upstream)
        secure = parts.scheme == "https"
        port = parts.port or (443 if secure else 80)
        async with asyncio.timeout(_CONNECT_TIME):
            context = ssl.create_default_context() if secure else None
            reader, writer = await asyncio.open_connection(parts.hostname, port, ssl=context)
        try:
            if not request.tunnel:
                writer.write(request.head(absolute=True, more=self._credentials()))
                return reader, writer
            authority = request.authority
            lines = (f"CONNECT {authority} HTTP/1.1", f"Host: {authority}", *self._credentials(), "", "")
            writer.write("\r\n".join(lines).encode("latin-1"))
            async with asyncio.timeout(_CONNECT_TIME):
                head = await reader.readuntil(b"\r\n\r\n")
            if len(head) > _HEAD_LIMIT or head[8:11] != b" 20":
                raise ConnectionRefusedError("the proxy refused")
        except (asyncio.IncompleteReadError, asyncio.LimitOverrunError) as error:
            writer.close()
            raise ConnectionResetError("the proxy closed the connection") from error
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
