"""Connections of one client, and what goes over them: requests and responses.

They lead only to addresses that the guard permits, with a limit of received bytes.

A client of HTTP hands on bodies without their framing, and interim answers not at all; a server may send as much of
both as it likes. What comes from the wire is seen by the socket alone, so the sockets count it and stop it.
"""

from __future__ import annotations

import asyncio
import json
import socket
from collections.abc import Awaitable, Callable, Mapping, Sequence
from contextlib import suppress
from dataclasses import dataclass, field
from functools import partial
from typing import TYPE_CHECKING, Any, Final, NamedTuple, TypeAlias
from urllib.parse import urlsplit
from weakref import WeakValueDictionary

from groundwire.errors import BlockedAddress, Closed, ConfigurationError, InvalidRequest
from groundwire.safety.guard import Guard, Resolver
from groundwire.safety.urls import parse_url
from groundwire.transport.errors import Overrun, SocksFailed, Vetoed, nowhere, translated
from groundwire.transport.socks import SocksProxy, socks_proxy

if TYPE_CHECKING:
    import aiohttp
    from _typeshed import ReadableBuffer, WriteableBuffer
    from aiohttp import AddrInfoType, ClientRequest, ClientTimeout, TCPConnector
    from aiohttp.abc import AbstractResolver
    from aiohttp.client_proto import ResponseHandler
    from yarl import URL

_REDIRECTS = frozenset({301, 302, 303, 307, 308})
_TURNS: Final = 3  # accepted, made known to the protocol, and the first step of what `asyncio.start_server` serves with


class HttpRequest(NamedTuple):
    """A request, before it is sent or replayed."""

    method: str
    url: URL
    headers: Mapping[str, str]
    body: Mapping[str, Any]
    """aiohttp's arguments for the body: `json`, `data` (a form) or none."""
    page: bool = False
    """Whether a redirect will be followed, so that its body is not read."""
    cut: bool = False
    """Whether a body that is too large is cut instead of refused."""
    on_data: Callable[[bytes], None] | None = None
    """Called with each decoded piece of the body of an answer with status 200, as it comes."""

    def leads_on(self, status: int, headers: Mapping[str, str]) -> bool:
        """Return whether a response is a redirect that will be followed."""
        return self.page and status in _REDIRECTS and bool(headers.get("Location", ""))

    def as_json(self) -> dict[str, Any]:
        """Return the request in the format of a cassette."""
        names = {"json": "json", "data": "form"}
        body = {names[name]: value for name, value in self.body.items()}
        return {"method": self.method, "url": str(self.url), "headers": dict(self.headers)} | body


@dataclass(frozen=True, slots=True)
class Head:
    """The head and first bytes of a response."""

    url: str
    """The URL of the response, after all redirects."""
    status: int
    """The HTTP status."""
    headers: Mapping[str, str]
    """The headers; names in any case."""
    start: bytes = b""
    """The first decoded bytes of the body."""

    @property
    def content_type(self) -> str:
        """The Content-Type header as sent, empty when there is none; what is not UTF-8 in it becomes `?`."""
        return self.headers.get("Content-Type", "").encode("utf-8", "replace").decode()

    @property
    def media_type(self) -> str:
        """The media type alone, in lower case."""
        return self.content_type.split(";", 1)[0].strip().lower()


@dataclass(frozen=True, slots=True)
class Response(Head):
    """A complete response."""

    body: bytes = b""
    """The decoded body."""
    _parsed: list[Any] = field(default_factory=list, init=False, repr=False, compare=False)

    def json(self) -> Any:
        """Parse the body as JSON, once; callers must not change the result.

        Raises:
            ValueError: it is not JSON.
        """
        try:
            if not self._parsed:
                self._parsed.append(json.loads(self.body))
            return self._parsed[0]
        except RecursionError as error:
            raise ValueError("nested too deeply") from error


Inspect: TypeAlias = Callable[[Head], int | None]
"""Receives a head and the first bytes before the rest is read; an exception ends the exchange, and a returned number
replaces the size limit."""


@dataclass(slots=True, eq=False, repr=False)
class PartialResponse:
    """The received part of a response."""

    status: int = 0
    headers: Mapping[str, str] = field(default_factory=dict)
    body: bytearray = field(default_factory=bytearray)


def close_soon(server: asyncio.Server) -> None:
    """Close a server of the running loop: accept no more, and hand over accepted connections first.

    asyncio accepts a connection in one turn of the loop and hands it over in the next. A server that is closed between
    them refuses it, and the connection stays open until the garbage collector warns of it (`Server._attach` and
    `_accept_connection2` in CPython 3.11 to 3.14).

    Args:
        server: Is closed in the next turn of the loop. Idempotent.
    """
    loop = server.get_loop()
    with suppress(NotImplementedError):  # a loop without socket readers
        for listener in server.sockets:
            loop.remove_reader(listener.fileno())
    loop.call_soon(server.close)


async def close_server(server: asyncio.Server) -> None:
    """Close a server as `close_soon` does, and wait until all accepted connections are being served.

    Args:
        server: Serves on; its connections are the caller's to end.
    """
    close_soon(server)
    for _ in range(_TURNS):
        await asyncio.sleep(0)


_CONNECTIONS = 500
"""The maximum of open connections: a gateway runs some hundreds of calls, and a call that waits for a connection may
miss its deadline."""
ACCEPT_ENCODING = "gzip, deflate"
"""The requested codings, which every server supports and the standard library decodes."""
_FIELD_CAP = 65_536  # bytes of one header; pages do have policies and link lists of more than aiohttp's own 8,190
_AHEAD = 262_144  # bytes; Linux doubles it, and would grow it to 6 MB that a refused body could fill unread


class Connections:
    """A connection pool with a guard; connects on first use.

    Args:
        guard: Judges every address at the moment of connecting.
        user_agent: How we introduce ourselves.
        proxy: A forward proxy's URL, or empty for none; see `groundwire.transport.Transport`.

    Raises:
        ConfigurationError: `proxy` is not the URL of an HTTP or SOCKS5 proxy, or the extra `socks` is not installed.
    """

    def __init__(self, guard: Guard, *, user_agent: str, proxy: str = "") -> None:
        self.closed: bool = False
        """Whether it is closed; nothing can be sent then."""
        self._user_agent = user_agent
        self._socks = socks_proxy(proxy)
        self._proxy = None if self._socks else proxy or None
        self._guard = guard if self._proxy is None else Guard(allowed_origins=(_origin(proxy),))
        self._session: aiohttp.ClientSession | None = None
        self._reading: set[aiohttp.ClientResponse] = set()
        self._sockets: WeakValueDictionary[int, MeteredSocket] = WeakValueDictionary()

    async def send(self, request: HttpRequest) -> aiohttp.ClientResponse:
        """Send a request and return the response once its head has arrived; exiting its context releases it.

        Raises:
            ExchangeFailed, Vetoed, BlockedAddress, Closed.
        """
        import aiohttp

        session = self._open()
        try:
            return await session.request(
                request.method,
                request.url,
                headers=request.headers,
                allow_redirects=False,
                proxy=self._proxy,
                **request.body,
            )
        except Exception as error:
            if self.closed:  # closing under aiohttp ends in whatever it trips over, failed assertions among it
                raise self.closed_error() from error
            if isinstance(error, (aiohttp.ClientError, OSError, ValueError)):
                raise translated(error, proxied=self._proxy is not None) from error
            raise

    def closed_error(self) -> Closed:
        """Return the error of a call that is made after closing, or interrupted by it."""
        return Closed("This Web is closed; create a new one.")

    def begin(self, response: aiohttp.ClientResponse) -> MeteredSocket | None:
        """Record that a response body is being read, and return its socket; None if it is complete."""
        self._reading.add(response)
        connection = response.connection
        if connection is None or connection.transport is None:
            return None
        sock = connection.transport.get_extra_info("socket")
        return None if sock is None else self._sockets.get(sock.fileno())

    def end(self, response: aiohttp.ClientResponse) -> None:
        """Record that a response body was read or abandoned."""
        self._reading.discard(response)

    async def aclose(self) -> None:
        """Close all connections; running requests raise Closed."""
        self.closed = True
        for response in tuple(self._reading):
            response.close()  # closing only the session would leave their readers waiting
        if self._session is not None:
            await self._session.close()
            self._session = None

    def _open(self) -> aiohttp.ClientSession:
        if self.closed:
            raise self.closed_error()
        if self._session is None:
            import aiohttp

            socks = self._socks
            connector = aiohttp.TCPConnector if socks is None else _socks_connector(partial(self._tunnel, socks))
            self._session = aiohttp.ClientSession(
                connector=connector(
                    resolver=_resolver(_as_name if socks and socks.resolves_names else self._guard.resolve),
                    socket_factory=self._socket,
                    use_dns_cache=False,
                    limit=_CONNECTIONS,
                ),
                cookie_jar=aiohttp.DummyCookieJar(),
                auto_decompress=False,
                trust_env=False,
                timeout=aiohttp.ClientTimeout(total=None),
                requote_redirect_url=False,
                max_field_size=_FIELD_CAP,
                headers={
                    "User-Agent": self._user_agent,
                    "Accept-Encoding": ACCEPT_ENCODING,
                    "Accept-Language": "en, *;q=0.5",
                },
            )
        return self._session

    def _socket(self, info: Any) -> socket.socket:
        """Create the socket for an address if the guard permits it; IP literals are checked here, too."""
        family, kind, protocol, _, address = info
        if not self._guard.permits(address[0], address[1]):
            raise Vetoed("address not allowed")
        return self._meter(MeteredSocket(family, kind, protocol))

    async def _tunnel(self, socks: SocksProxy, addresses: Sequence[tuple[str, int]]) -> socket.socket:
        """Connect through a SOCKS proxy to the first address that can be reached; the guard permits each before."""
        failure: OSError = Vetoed("address not allowed")
        for host, port in addresses:
            if not (socks.resolves_names or self._guard.permits(host, port)):
                raise Vetoed("address not allowed")
            try:
                plain = await socks.connect(host, port)
            except SocksFailed as error:
                failure = error
            else:
                return self._meter(MeteredSocket(plain.family, plain.type, plain.proto, fileno=plain.detach()))
        raise failure

    def _meter(self, sock: MeteredSocket) -> MeteredSocket:
        sock.setsockopt(socket.SOL_SOCKET, socket.SO_RCVBUF, _AHEAD)
        self._sockets[sock.fileno()] = sock
        return sock


async def _as_name(host: str, port: int) -> Sequence[str]:
    """Return a name itself, which a proxy resolves."""
    del port
    return (host,)


def _resolver(resolve: Resolver) -> AbstractResolver:
    from aiohttp.abc import AbstractResolver, ResolveResult

    class GuardResolver(AbstractResolver):
        """Returns addresses that the guard has checked, or a name for a proxy; nothing is resolved a second time."""

        async def resolve(
            self, host: str, port: int = 0, family: socket.AddressFamily = socket.AF_INET
        ) -> list[ResolveResult]:
            del family  # both families are used; the connector races them (RFC 8305)
            try:
                addresses = await resolve(host, port)
            except BlockedAddress as error:
                raise BlockedAddress(
                    f"{nowhere(host)} Check the spelling, and that this machine is online, or search for the page."
                ) from error
            return [
                ResolveResult(
                    hostname=host,
                    host=address,
                    port=port,
                    family=socket.AF_INET6 if ":" in address else socket.AF_INET,
                    proto=socket.IPPROTO_TCP,
                    flags=socket.AI_NUMERICHOST,
                )
                for address in addresses
            ]

        async def close(self) -> None:
            """Do nothing."""

    return GuardResolver()


def _socks_connector(tunnel: Callable[[Sequence[tuple[str, int]]], Awaitable[socket.socket]]) -> type[TCPConnector]:
    from aiohttp import TCPConnector

    class SocksConnector(TCPConnector):
        """Opens sockets through a SOCKS proxy; TLS and the rest are aiohttp's."""

        async def _wrap_create_connection(
            self, *args: Any, addr_infos: list[AddrInfoType], req: ClientRequest, timeout: ClientTimeout, **kwargs: Any
        ) -> tuple[asyncio.Transport, ResponseHandler]:
            sock = await tunnel([address[:2] for *_, address in addr_infos])
            return await self._wrap_existing_connection(*args, req=req, timeout=timeout, sock=sock, **kwargs)

    return SocksConnector


def _origin(proxy: str) -> str:
    """Return a proxy's origin, without user name and password, which only proxies may have."""
    try:
        scheme, authority, *_ = urlsplit(proxy)
        return parse_url(f"{scheme}://{authority.rpartition('@')[2]}").origin
    except (ValueError, InvalidRequest, BlockedAddress) as error:
        raise ConfigurationError(
            "network.proxy: this is not the URL of an HTTP or SOCKS5 proxy. Write it as http://proxy.example:3128 or "
            "socks5h://proxy.example:1080, also in HTTPS_PROXY."
        ) from error


HEAD_ALLOWANCE: Final = 500_000
"""Maximum bytes before a response body: its head, interim responses, and the TLS handshake."""


class MeteredSocket(socket.socket):
    """A socket with a limit of received bytes. Sending resets the limit of the head; `allow` sets that of a body.

    Only event loops that receive through the socket itself count (those of asyncio do); with others nothing is refused.
    """

    _received = 0
    _allowed = HEAD_ALLOWANCE

    @property
    def overrun(self) -> bool:
        """Whether the limit was exceeded."""
        return self._received > self._allowed

    def allow(self, size: int) -> None:
        """Allow this many bytes from now on, replacing the previous limit."""
        self._allowed = self._received + size

    def recv(self, bufsize: int, flags: int = 0, /) -> bytes:
        """Receive bytes; raises `Overrun` if the limit is exceeded."""
        data = super().recv(min(bufsize, self._room()), flags)
        self._received += len(data)
        return data

    def recv_into(self, buffer: WriteableBuffer, nbytes: int = 0, flags: int = 0) -> int:
        """Receive bytes into a buffer; raises `Overrun` if the limit is exceeded."""
        room = self._room()
        size = super().recv_into(buffer, min(nbytes or memoryview(buffer).nbytes, room), flags)
        self._received += size
        return size

    def send(self, data: ReadableBuffer, flags: int = 0, /) -> int:
        """Send bytes, and allow a response."""
        self._allowed = max(self._allowed, self._received + HEAD_ALLOWANCE)
        return super().send(data, flags)

    def _room(self) -> int:
        """Return the maximum bytes per read: the remaining ones, and one more to detect an overrun."""
        if self.overrun:
            raise Overrun("more data arrived than was allowed")
        return self._allowed - self._received + 1
