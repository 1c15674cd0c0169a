"""The one HTTP client: guarded, bounded, on time.

Two ways to use it. `call` asks a provider: the request may carry a key, so a redirect is never followed (every
client sends custom key headers on to the new origin). `fetch` gets a page: no credentials, at most ten redirects,
each judged by the guard. Both read bodies on one path, with a cap on the bytes on the wire and on the bytes that
they decode to, and both end at their deadline.
"""

from __future__ import annotations

import json
import socket
from collections.abc import Callable, Mapping
from dataclasses import dataclass, field
from typing import TYPE_CHECKING, Any, Literal, NoReturn

from groundwire._version import USER_AGENT
from groundwire.bodies import ACCEPT_ENCODING, BodyDecoder, UndecodableBody
from groundwire.deadline import Deadline
from groundwire.errors import (
    BlockedAddress,
    Closed,
    DeadlineExceeded,
    GroundwireError,
    InvalidRequest,
    PageTooLarge,
    PageUnavailable,
    ProviderTimeout,
    ProviderUnreachable,
    TooManyRedirects,
    UnexpectedResponse,
)
from groundwire.safety.guard import Guard
from groundwire.safety.urls import WebUrl, join_url, parse_url

if TYPE_CHECKING:
    import aiohttp
    from aiohttp.abc import AbstractResolver

__all__ = ["Head", "Reply", "Transport"]

MAX_HOPS = 10
"""Redirects that a page may take (rule 5 of the guard)."""

_CALL_CAP = 5_000_000  # bytes; the largest recorded search answer has 0.3 million
_REDIRECTS = frozenset({301, 302, 303, 307, 308})

Trouble = Literal["timeout", "network", "name", "certificate", "large", "coding", "protocol"]


class _ExchangeFailed(Exception):
    """One request failed; `call` and `fetch` say it in their own terms."""

    def __init__(self, kind: Trouble, detail: str) -> None:
        super().__init__(detail)
        self.kind = kind
        self.detail = detail


class _Vetoed(OSError):
    """The last gate refused a socket address."""


@dataclass(frozen=True, slots=True)
class Head:
    """What is known of an answer when its body begins."""

    url: str
    """The address that answered, after all redirects."""
    status: int
    """The HTTP status."""
    headers: Mapping[str, str]
    """The headers; names in any case."""
    start: bytes = b""
    """The first decoded bytes of the body."""

    @property
    def content_type(self) -> str:
        """The Content-Type header as sent, empty when there is none."""
        return self.headers.get("Content-Type", "")

    @property
    def media_type(self) -> str:
        """The media type alone, in lower case."""
        return self.content_type.split(";", 1)[0].strip().lower()


@dataclass(frozen=True, slots=True)
class Reply(Head):
    """A whole answer."""

    body: bytes = b""
    """The decoded body."""
    hops: tuple[str, ...] = field(default=())
    """The addresses that redirected, in order."""

    def json(self) -> Any:
        """Return the body as JSON.

        Raises:
            ValueError: it is not JSON.
        """
        try:
            return json.loads(self.body)
        except RecursionError as error:
            raise ValueError("nested too deeply") from error


class Transport:
    """One pool of connections under one guard.

    It is made at once and connects on first use. All its requests must run in one event loop.

    Args:
        guard: Judges every URL and every address at the moment of connecting.
        user_agent: How we introduce ourselves.
        proxy: A forward proxy's URL, or empty for none. It resolves names itself, so with a proxy the guard judges
            the form of URLs only. Proxies named in the environment are never used.
        max_connections: The most connections open at once.
    """

    def __init__(
        self, guard: Guard, *, user_agent: str = USER_AGENT, proxy: str = "", max_connections: int = 100
    ) -> None:
        self.guard = guard
        self._user_agent = user_agent
        self._proxy = proxy or None
        self._gate = guard if not proxy else Guard(allow_origins=(_origin(proxy),))
        self._max_connections = max_connections
        self._session: aiohttp.ClientSession | None = None
        self._closed = False

    async def call(
        self,
        provider: str,
        method: Literal["GET", "POST"],
        url: str,
        *,
        deadline: Deadline,
        params: Mapping[str, str] | None = None,
        headers: Mapping[str, str] | None = None,
        json_body: object = None,
        form: Mapping[str, str] | None = None,
        cap: int = _CALL_CAP,
    ) -> Reply:
        """Ask a provider; any status is an answer, a redirect too.

        Args:
            provider: The provider's name, for the errors.
            method: GET or POST.
            url: The address without the parameters.
            deadline: When the answer must be here.
            params: Query parameters.
            headers: Headers, keys among them.
            json_body: A value to send as JSON.
            form: Fields to send as a form.
            cap: The most bytes to take, on the wire and decoded.

        Raises:
            ProviderTimeout, ProviderUnreachable, UnexpectedResponse, BlockedAddress, Closed.
        """
        from yarl import URL

        target = self.guard.admit(url)
        full = URL(target.request_text, encoded=True)
        if params:
            full = full.extend_query(params)
        body: dict[str, Any] = {}
        if json_body is not None:
            body["json"] = json_body
        elif form is not None:
            body["data"] = dict(form)
        try:
            async with deadline.timeout():
                return await self._exchange(method, full, headers or {}, body, cap, None)
        except TimeoutError as error:
            raise ProviderTimeout(provider, "no answer in time") from error
        except _ExchangeFailed as error:
            if error.kind in {"large", "coding", "protocol"}:
                raise UnexpectedResponse(provider, error.detail) from error
            raise ProviderUnreachable(provider, error.detail) from error

    async def fetch(
        self,
        url: str,
        *,
        deadline: Deadline,
        headers: Mapping[str, str] | None = None,
        cap: int = 10_000_000,
        inspect: Callable[[Head], None] | None = None,
    ) -> Reply:
        """Get a page, following at most ten redirects; any status that is not a redirect is an answer.

        Args:
            url: The page's address.
            deadline: When it must be here.
            headers: More headers; never credentials.
            cap: The most bytes to take, on the wire and decoded.
            inspect: Is shown the head and the first bytes before the rest is read; what it raises ends the fetch.

        Raises:
            BlockedAddress, InvalidRequest, PageError (its classes), DeadlineExceeded, Closed.
        """
        target = self.guard.admit(url)
        hops: list[str] = []
        try:
            async with deadline.timeout():
                while True:
                    reply = await self._hop(target, headers or {}, cap, inspect)
                    location = reply.headers.get("Location")
                    if reply.status not in _REDIRECTS or location is None:
                        return Reply(reply.url, reply.status, reply.headers, reply.start, reply.body, tuple(hops))
                    hops.append(target.text)
                    if len(hops) > MAX_HOPS:
                        raise TooManyRedirects(
                            url, f"The page redirects more than {MAX_HOPS} times. Look for another address of it."
                        )
                    target = self._follow(target, location)
        except TimeoutError as error:
            raise DeadlineExceeded(f"{_host(url)} did not answer in time. Try again, or open another page.") from error
        except _ExchangeFailed as error:
            _raise_page_error(url, error)

    async def aclose(self) -> None:
        """Close all connections; further requests raise Closed."""
        self._closed = True
        if self._session is not None:
            await self._session.close()
            self._session = None

    async def _hop(
        self, target: WebUrl, headers: Mapping[str, str], cap: int, inspect: Callable[[Head], None] | None
    ) -> Reply:
        from yarl import URL

        def only_last(head: Head) -> None:
            if inspect and not (head.status in _REDIRECTS and "Location" in head.headers):
                inspect(head)

        reply = await self._exchange("GET", URL(target.request_text, encoded=True), headers, {}, cap, only_last)
        return Reply(target.text, reply.status, reply.headers, reply.start, reply.body)

    def _follow(self, target: WebUrl, location: str) -> WebUrl:
        try:
            return self.guard.admit(join_url(target, location))
        except (InvalidRequest, BlockedAddress) as error:
            raise BlockedAddress(
                "The page redirects to an address that is not allowed: only public http and https addresses are."
            ) from error

    async def _exchange(
        self,
        method: str,
        url: Any,
        headers: Mapping[str, str],
        body: Mapping[str, Any],
        cap: int,
        inspect: Callable[[Head], None] | None,
    ) -> Reply:
        import aiohttp

        session = self._open()
        try:
            async with session.request(
                method, url, headers=headers, allow_redirects=False, proxy=self._proxy, **body
            ) as response:
                return await _read(response, cap, inspect)
        except GroundwireError:
            raise
        except (aiohttp.ClientError, OSError, ValueError) as error:
            raise _translated(error) from error

    def _open(self) -> aiohttp.ClientSession:
        if self._closed:
            raise Closed("This Web was closed; make a new one.")
        if self._session is None:
            import aiohttp

            connector = aiohttp.TCPConnector(
                resolver=_resolver(self._gate),
                socket_factory=self._socket,
                use_dns_cache=False,
                limit=self._max_connections,
            )
            self._session = aiohttp.ClientSession(
                connector=connector,
                cookie_jar=aiohttp.DummyCookieJar(),
                auto_decompress=False,
                trust_env=False,
                timeout=aiohttp.ClientTimeout(total=None),
                requote_redirect_url=False,
                headers={
                    "User-Agent": self._user_agent,
                    "Accept-Encoding": ACCEPT_ENCODING,
                    "Accept-Language": "en, *;q=0.5",
                },
            )
        return self._session

    def _socket(self, info: Any) -> socket.socket:
        """Make the socket for one address, if the guard permits it: the gate that IP literals pass too."""
        family, kind, protocol, _, address = info
        if not self._gate.permits(address[0], address[1]):
            raise _Vetoed("address not allowed")
        return socket.socket(family, kind, protocol)


def _resolver(guard: Guard) -> AbstractResolver:
    from aiohttp.abc import AbstractResolver, ResolveResult

    class GuardResolver(AbstractResolver):
        """Hands out only addresses that the guard has vetted; nothing is resolved a second time."""

        async def resolve(
            self, host: str, port: int = 0, family: socket.AddressFamily = socket.AF_INET
        ) -> list[ResolveResult]:
            del family  # both families are wanted; the connector races them (RFC 8305)
            try:
                addresses = await guard.resolve(host, port)
            except BlockedAddress as error:
                raise BlockedAddress(f"{_nowhere(host)} Check the spelling, or search for the page.") from error
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
            """Nothing is held."""

    return GuardResolver()


async def _read(response: aiohttp.ClientResponse, cap: int, inspect: Callable[[Head], None] | None) -> Reply:
    """Read one body: streamed, one layer of coding, both sizes capped."""
    headers = response.headers
    wire, body, start = 0, bytearray(), b""
    try:
        decoder = BodyDecoder(",".join(headers.getall("Content-Encoding", [])))
        announced = response.content_length
        shown = False
        async for chunk in response.content.iter_any():
            wire += len(chunk)
            for piece in decoder.feed(chunk):
                body += piece
                if len(body) > cap:
                    raise _ExchangeFailed("large", f"has more than {cap:,} bytes")
            if not shown and len(body) >= _SNIFF:
                start, shown = bytes(body[:_SNIFF]), True
                _show(inspect, response, start)
                if announced is not None and announced > cap:
                    raise _ExchangeFailed("large", f"has {announced:,} bytes, more than {cap:,}")
            if wire > cap:
                raise _ExchangeFailed("large", f"has more than {cap:,} bytes")
        decoder.finish()
        if not shown:
            start = bytes(body[:_SNIFF])
            _show(inspect, response, start)
    except UndecodableBody as error:
        response.close()
        raise _ExchangeFailed("coding", str(error)) from error
    except BaseException:
        response.close()  # a body that was not read to its end must not go back into the pool
        raise
    return Reply(str(response.url), response.status, headers, start, bytes(body))


_SNIFF = 1_024  # bytes; the signatures of media types lie in the first few hundred (WHATWG MIME Sniffing: 1,445)


def _show(inspect: Callable[[Head], None] | None, response: aiohttp.ClientResponse, start: bytes) -> None:
    if inspect is not None:
        inspect(Head(str(response.url), response.status, response.headers, start))


def _translated(error: Exception) -> Exception:
    """Return a library's error in our terms; its text, which may name addresses, stays behind."""
    import aiohttp

    cause: BaseException | None = error
    while cause is not None:
        if isinstance(cause, _Vetoed):
            return BlockedAddress("This address is not allowed: only public web addresses may be opened.")
        cause = getattr(cause, "os_error", None) or cause.__cause__
    match error:
        case aiohttp.ClientConnectorCertificateError():
            return _ExchangeFailed("certificate", "has a TLS certificate that is not valid for it")
        case aiohttp.ClientSSLError():
            return _ExchangeFailed("certificate", "did not agree on a TLS connection")
        case aiohttp.ClientConnectorDNSError() | socket.gaierror():
            return _ExchangeFailed("name", "its host name does not resolve")
        case aiohttp.ClientConnectorError():
            return _ExchangeFailed("network", "refused the connection or could not be reached")
        case aiohttp.ClientProxyConnectionError() | aiohttp.ClientHttpProxyError():
            return _ExchangeFailed("network", "could not be reached through the proxy")
        case aiohttp.ServerDisconnectedError() | aiohttp.ClientOSError() | aiohttp.ClientConnectionError():
            return _ExchangeFailed("network", "closed the connection without an answer")
        case aiohttp.ClientPayloadError():
            return _ExchangeFailed("network", "broke off in the middle of its answer")
        case aiohttp.ClientResponseError():
            return _ExchangeFailed("protocol", "sent an answer that is not HTTP")
        case OSError():
            return _ExchangeFailed("network", "could not be reached")
        case _:
            return _ExchangeFailed("protocol", "could not be asked or sent an answer that is not HTTP")


def _raise_page_error(url: str, error: _ExchangeFailed) -> NoReturn:
    subject = f"{_host(url)} {error.detail}."
    if error.kind == "large":
        raise PageTooLarge(url, f"The page {error.detail}. Look for a smaller page on the same subject.") from error
    if error.kind == "coding":
        raise PageUnavailable(url, f"The page {error.detail}. Open another page.") from error
    if error.kind == "name":
        text = f"{_nowhere(_host(url))} Check the spelling, or search for the page."
        raise PageUnavailable(url, text) from error
    raise PageUnavailable(url, f"{subject} Try again later, or open another page.") from error


def _nowhere(host: str) -> str:
    """Say the same of a name that does not exist and of one that leads inside, so that nobody can tell them apart."""
    return f"{host} does not lead to a public web address."


def _host(url: str) -> str:
    return parse_url(url).host


def _origin(proxy: str) -> str:
    return parse_url(proxy).origin
