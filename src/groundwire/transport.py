"""The one HTTP client: guarded, bounded, on time.

Two ways to use it. `call` asks a provider: the request may carry a key, so a redirect is never followed (every
client sends custom key headers on to the new origin). `fetch` gets a page: no credentials, at most ten redirects,
each judged by the guard. Both read bodies on one path, with a cap on the bytes on the wire and on the bytes that
they decode to, and both end at their deadline: nothing is sent after it. With a cassette they are recorded hop by
hop, or answered from it before anything is looked up or connected to.
"""

from __future__ import annotations

import asyncio
import json
import socket
import time
from collections.abc import Callable, Mapping
from contextlib import AbstractAsyncContextManager, nullcontext
from dataclasses import dataclass, field, replace
from typing import TYPE_CHECKING, Any, Literal, NoReturn, Protocol
from urllib.parse import urlsplit
from weakref import WeakValueDictionary

from groundwire._version import USER_AGENT
from groundwire.bodies import ACCEPT_ENCODING, BodyDecoder, UndecodableBody
from groundwire.cassette import Answer, CallFailed, Cassette, Failure
from groundwire.deadline import Deadline
from groundwire.errors import (
    BlockedAddress,
    Closed,
    ConfigurationError,
    DeadlineExceeded,
    InvalidRequest,
    ProviderTimeout,
    TooManyRedirects,
)
from groundwire.metering import HEAD_ALLOWANCE, MeteredSocket
from groundwire.safety.guard import Guard
from groundwire.safety.urls import WebUrl, join_url, parse_url
from groundwire.transport_errors import (
    UNREAD,
    ExchangeFailed,
    Vetoed,
    as_error,
    as_failure,
    nowhere,
    raise_page_error,
    raise_provider_error,
    translated,
)

if TYPE_CHECKING:
    import aiohttp
    from aiohttp.abc import AbstractResolver
    from yarl import URL

__all__ = ["Gate", "Head", "Reply", "Transport", "Visit"]

MAX_HOPS = 10
"""Redirects that a page may take (rule 5 of the guard)."""

_CALL_CAP = 5_000_000  # bytes; the largest recorded search answer has 0.3 million
_REDIRECTS = frozenset({301, 302, 303, 307, 308})
_SNIFF = 1_024  # bytes; the signatures of media types lie in the first few hundred (WHATWG MIME Sniffing: 1,445)
_FAILURES = 400  # statuses from here on say that there is no answer (RFC 9110, section 15)
_CLOSED = "This Web was closed; make a new one."
_FIELD_CAP = 65_536  # bytes of one header; pages do have policies and link lists of more than aiohttp's own 8,190
_CONNECTIONS = 500  # a gateway has some hundreds of calls at work; who waits for a connection loses its deadline

_AHEAD = 262_144  # bytes; Linux doubles it, and would grow it to 6 MB that a refused body could fill unread


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
        """The Content-Type header as sent, empty when there is none; what is not UTF-8 in it becomes `?`."""
        return self.headers.get("Content-Type", "").encode("utf-8", "replace").decode()

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


@dataclass(slots=True)
class Visit:
    """One request for a page, seen by the gate that let it through."""

    status: int = 0
    """The HTTP status of the answer; 0 while there is none, and for a redirect."""
    headers: Mapping[str, str] = field(default_factory=dict)
    """Its headers."""


class Gate(Protocol):
    """Decides whether and when a page may be asked for, each redirect's target too."""

    async def check(self, url: WebUrl, deadline: Deadline, *, remote: bool = False) -> object:
        """See that a page may be read at all.

        Args:
            url: An address that the guard has admitted.
            deadline: When the page must be here.
            remote: Whether somebody else will read it for us.

        Raises:
            BlockedByPolicy, PageError: it may not.
        """
        ...

    def visit(self, url: WebUrl, deadline: Deadline) -> AbstractAsyncContextManager[Visit]:
        """Return a block in which one address may be asked; entering it waits for its turn.

        Args:
            url: An address that the guard has admitted.
            deadline: When the page must be here.

        Raises:
            BlockedByPolicy, PageError: it may not be asked, or not in time.
        """
        ...


@dataclass(frozen=True, slots=True)
class _Asked:
    """One request, before it meets the network or the cassette."""

    method: str
    url: URL
    headers: Mapping[str, str]
    body: Mapping[str, Any]
    """What aiohttp makes the body of: `json`, `data` (a form) or nothing."""
    page: bool = False
    """Whether a redirect will be followed, so that its body is for nobody."""
    cut: bool = False
    """Whether a body that is too large is cut instead of refused."""

    def leads_on(self, status: int, headers: Mapping[str, str]) -> bool:
        """Tell whether an answer is a redirect that will be followed."""
        return self.page and status in _REDIRECTS and bool(headers.get("Location", ""))

    def as_json(self) -> dict[str, Any]:
        """Return the request as a cassette holds it."""
        names = {"json": "json", "data": "form"}
        body = {names[name]: value for name, value in self.body.items()}
        return {"method": self.method, "url": str(self.url), "headers": dict(self.headers)} | body


@dataclass(slots=True)
class _Heard:
    """As much of one answer as has come."""

    status: int = 0
    headers: Mapping[str, str] = field(default_factory=dict)
    body: bytearray = field(default_factory=bytearray)


class Transport:
    """One pool of connections under one guard.

    It is made at once and connects on first use. All its requests must run in one event loop.

    Args:
        guard: Judges every URL and every address at the moment of connecting.
        user_agent: How we introduce ourselves.
        proxy: A forward proxy's URL, with a user name and password if it wants them, or empty for none. It resolves
            names itself, so with a proxy the guard judges the form of URLs only. Proxies named in the environment
            are never used.
        max_connections: The most connections open at once.
        cassette: Records every exchange, or answers every request in place of the network.

    Raises:
        ConfigurationError: `proxy` is not the address of an HTTP proxy.
    """

    def __init__(
        self,
        guard: Guard,
        *,
        user_agent: str = USER_AGENT,
        proxy: str = "",
        max_connections: int = _CONNECTIONS,
        cassette: Cassette | None = None,
    ) -> None:
        self.guard = guard
        self.cassette = cassette
        self.gate: Gate | None = None
        """Lets pages through, one request after the other; None lets all through at once. `call` knows no gate."""
        self._user_agent = user_agent
        self._proxy = proxy or None
        self._gate = guard if not proxy else Guard(allow_origins=(_origin(proxy),))
        self._max_connections = max_connections
        self._session: aiohttp.ClientSession | None = None
        self._reading: set[aiohttp.ClientResponse] = set()
        self._sockets: WeakValueDictionary[int, MeteredSocket] = WeakValueDictionary()
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
            ProviderTimeout, ProviderUnreachable, UnexpectedResponse, BlockedAddress, InvalidRequest, Closed.
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
            return await self._exchange(_Asked(method, full, headers or {}, body), deadline, cap, None)
        except TimeoutError as error:
            raise ProviderTimeout(provider, f"no answer from {target.host} in time") from error
        except ExchangeFailed as error:
            raise_provider_error(provider, target.host, error)

    async def fetch(
        self,
        url: str,
        *,
        deadline: Deadline,
        headers: Mapping[str, str] | None = None,
        conditions: Mapping[str, Mapping[str, str]] | None = None,
        cap: int = 10_000_000,
        cut: bool = False,
        inspect: Callable[[Head], int | None] | None = None,
        hops: int = MAX_HOPS,
        gated: bool = True,
    ) -> Reply:
        """Get a page, following at most ten redirects; any status that is not a redirect is an answer.

        Args:
            url: The page's address.
            deadline: When it must be here.
            headers: More headers; never credentials.
            conditions: Headers for one address only, by its `WebUrl.request_text`: what an address has given as its
                validators is shown to no other.
            cap: The most bytes to take, on the wire and decoded.
            cut: Whether a larger body is cut there instead of refused.
            inspect: Is shown the head and the first bytes before the rest is read; what it raises ends the fetch, and
                a number that it returns is the cap instead.
            hops: The most redirects.
            gated: Whether each request waits until the gate lets it through.

        Raises:
            BlockedAddress, InvalidRequest, PageError (its classes), DeadlineExceeded, Closed.
        """
        from yarl import URL

        target = self.guard.admit(url)
        gate = self.gate if gated else None
        passed: list[str] = []
        try:
            while True:
                sent = {**(headers or {}), **(conditions or {}).get(target.request_text, {})}
                asked = _Asked("GET", URL(target.request_text, encoded=True), sent, {}, page=True, cut=cut)
                async with gate.visit(target, deadline) if gate else nullcontext(Visit()) as visit:
                    reply = await self._exchange(asked, deadline, cap, _seen(visit, inspect))
                if not asked.leads_on(reply.status, reply.headers):
                    return replace(reply, url=target.text, hops=tuple(passed))
                passed.append(target.text)
                if len(passed) > hops:
                    raise TooManyRedirects(
                        url, f"The page redirects more than {hops} times. Look for another address of it."
                    )
                target = self._follow(target, reply.headers["Location"])
        except DeadlineExceeded:
            raise
        except TimeoutError as error:
            raise DeadlineExceeded(f"{target.host} did not answer in time. Try again, or open another page.") from error
        except ExchangeFailed as error:
            raise_page_error(url, target.host, error)

    async def aclose(self) -> None:
        """Close all connections; further requests raise Closed, and so do those that are under way."""
        self._closed = True
        for response in tuple(self._reading):
            response.close()  # closing the session alone would leave their readers waiting
        if self._session is not None:
            await self._session.close()
            self._session = None

    def _follow(self, target: WebUrl, location: str) -> WebUrl:
        """Return where a redirect leads; a fragment lives on unless it brings its own (RFC 9110, 10.2.2)."""
        reference = _as_reference(location)
        if target.fragment and "#" not in reference:
            reference += f"#{target.fragment}"
        try:
            return self.guard.admit(join_url(target, reference))
        except (InvalidRequest, BlockedAddress) as error:
            raise BlockedAddress(
                "The page redirects to an address that is not allowed: only public http and https addresses are. "
                "Open another page."
            ) from error

    async def _exchange(
        self, asked: _Asked, deadline: Deadline, cap: int, inspect: Callable[[Head], int | None] | None
    ) -> Reply:
        """Send one request and read the answer: the one place where a request meets the network, or the cassette."""
        heard = _Heard()
        if self.cassette is None:
            async with _within(deadline):
                return await self._ask(asked, cap, inspect, heard)
        if self.cassette.replaying:
            async with _within(deadline):
                return await self._replayed(asked, self.cassette, cap, inspect)
        started = time.perf_counter()
        try:
            async with _within(deadline):
                reply = await self._ask(asked, cap, inspect, heard)
        except BaseException as error:
            failure = as_failure(error, began=bool(heard.status))
            if failure is not None and not self._closed:
                _record(self.cassette, asked, heard, failure, started)
            raise
        _record(self.cassette, asked, heard, None, started)
        return reply

    async def _replayed(
        self, asked: _Asked, cassette: Cassette, cap: int, inspect: Callable[[Head], int | None] | None
    ) -> Reply:
        """Answer one request from the cassette; nothing is looked up and nothing connected to."""
        from multidict import CIMultiDict

        if self._closed:
            raise Closed(_CLOSED)
        await asyncio.sleep(0)  # so that others get their turn, as with a network
        try:
            found = cassette.find("http", asked.as_json())
        except CallFailed as error:
            raise ExchangeFailed("cassette", error.failure.detail) from error
        if (answer := found.answer) is not None:
            head = Head(str(asked.url), answer.status, CIMultiDict(answer.headers))
            if found.failure is None and asked.leads_on(head.status, head.headers):
                return Reply(head.url, head.status, head.headers)
            start = b""
            if found.failure is None or found.failure.kind == UNREAD or len(answer.body) >= _SNIFF:
                start, cap = _shown(inspect, head, bytearray(answer.body), cap)
            if not asked.cut:
                _refuse_more_than(cap, len(answer.body))
            if found.failure is None:
                return Reply(head.url, head.status, head.headers, start, answer.body[:cap])
        raise as_error(found.failure)

    async def _ask(self, asked: _Asked, cap: int, inspect: Callable[[Head], int | None] | None, heard: _Heard) -> Reply:
        async with await self._request(asked) as response:
            heard.status, heard.headers = response.status, response.headers
            if asked.leads_on(response.status, response.headers):  # left unread: the body may be endless or undecodable
                return Reply(str(response.url), response.status, response.headers)
            return await self._read(response, cap, inspect, heard.body, cut=asked.cut)

    async def _request(self, asked: _Asked) -> aiohttp.ClientResponse:
        """Send one request and return the answer when its head is here; leaving it as a context lets it go."""
        import aiohttp

        session = self._open()
        try:
            return await session.request(
                asked.method,
                asked.url,
                headers=asked.headers,
                allow_redirects=False,
                proxy=self._proxy,
                **asked.body,
            )
        except Exception as error:
            if self._closed:  # closing under aiohttp ends in whatever it trips over, failed assertions among it
                raise Closed(_CLOSED) from error
            if isinstance(error, (aiohttp.ClientError, OSError, ValueError)):
                raise translated(error, proxied=self._proxy is not None) from error
            raise

    async def _read(
        self,
        response: aiohttp.ClientResponse,
        cap: int,
        inspect: Callable[[Head], int | None] | None,
        body: bytearray,
        *,
        cut: bool,
    ) -> Reply:
        """Read one body into `body`: streamed, one layer of coding, both sizes capped.

        Unless it ends, its connection is closed.
        """
        head = Head(str(response.url), response.status, response.headers)
        announced = 0 if cut else response.content_length or 0
        decoder: BodyDecoder | None = None
        wire, start = 0, b""
        self._reading.add(response)
        meter = self._meter(response)
        if meter is not None:
            meter.allow(cap + _framing(cap))
        try:
            while chunk := await self._chunk(response, cap, meter):
                # Made with the first bytes: an answer without a body may name any coding (RFC 9110, 8.4).
                decoder = decoder or BodyDecoder(",".join(response.headers.getall("Content-Encoding", [])))
                wire += len(chunk)
                for piece in decoder.feed(chunk):
                    body += piece
                    if not start and (len(body) >= _SNIFF or announced > cap):
                        start, cap = _shown(inspect, head, body, cap)
                        if meter is not None:
                            meter.allow(cap + _framing(cap))
                        _refuse_more_than(cap, announced)
                    if cut and len(body) > cap:
                        response.close()
                        return Reply(head.url, head.status, head.headers, start, bytes(body[:cap]))
                    _refuse_more_than(cap, len(body))
                _refuse_more_than(cap, wire)
            if decoder:
                decoder.finish()
        except UndecodableBody as error:
            response.close()
            if head.status < _FAILURES:
                raise ExchangeFailed("coding", str(error)) from error
            # The status of a failure says enough without its body.
        except BaseException:
            response.close()
            raise
        finally:
            self._reading.discard(response)
            if meter is not None:
                meter.allow(HEAD_ALLOWANCE)
        if not start:
            start, cap = _shown(inspect, head, body, cap)
            _refuse_more_than(cap, len(body))
        return Reply(head.url, head.status, head.headers, start, bytes(body))

    async def _chunk(self, response: aiohttp.ClientResponse, cap: int, meter: MeteredSocket | None) -> bytes:
        """Return the next bytes of a body as they come from the wire, and none at its end."""
        import aiohttp

        try:
            return await response.content.readany()
        except (aiohttp.ClientError, OSError, ValueError) as error:
            if self._closed:
                raise Closed(_CLOSED) from error
            if meter is not None and meter.overrun:
                _refuse(cap)
            raise ExchangeFailed("network", "broke off in the middle of its answer") from error

    def _open(self) -> aiohttp.ClientSession:
        if self._closed:
            raise Closed(_CLOSED)
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
                max_field_size=_FIELD_CAP,
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
            raise Vetoed("address not allowed")
        made = MeteredSocket(family, kind, protocol)
        made.setsockopt(socket.SOL_SOCKET, socket.SO_RCVBUF, _AHEAD)
        self._sockets[made.fileno()] = made
        return made

    def _meter(self, response: aiohttp.ClientResponse) -> MeteredSocket | None:
        """Return the socket on which an answer comes; None when it is here already."""
        connection = response.connection
        if connection is None or connection.transport is None:
            return None
        found = connection.transport.get_extra_info("socket")
        return None if found is None else self._sockets.get(found.fileno())


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
                raise BlockedAddress(f"{nowhere(host)} Check the spelling, or search for the page.") from error
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


def _within(deadline: Deadline) -> asyncio.Timeout:
    """Return a block that raises TimeoutError when the deadline passes; when it already has, before anything is sent.

    Raises:
        TimeoutError: it has passed.
    """
    if deadline.passed:
        raise TimeoutError
    return deadline.timeout()


def _seen(visit: Visit, inspect: Callable[[Head], int | None] | None) -> Callable[[Head], int | None]:
    """Return an `inspect` that also lets the gate see the head."""

    def look(head: Head) -> int | None:
        visit.status, visit.headers = head.status, head.headers
        return inspect(head) if inspect is not None else None

    return look


def _shown(inspect: Callable[[Head], int | None] | None, head: Head, body: bytearray, cap: int) -> tuple[bytes, int]:
    """Show the head with the first bytes of the body, and return these and the cap that holds from here on."""
    start = bytes(body[:_SNIFF])
    changed = inspect(replace(head, start=start)) if inspect is not None else None
    return start, cap if changed is None else changed


def _refuse_more_than(cap: int, size: int) -> None:
    if size > cap:
        _refuse(cap)


def _refuse(cap: int) -> NoReturn:
    raise ExchangeFailed("large", f"has more than {cap:,} bytes")


def _framing(cap: int) -> int:
    """Return how many bytes the chunks and TLS records of a body may take; of ordinary ones they are 1 to 2 %."""
    return cap // 40 + 32_768


def _as_reference(location: str) -> str:
    """Percent-encode what servers leave raw in a `Location`: spaces, and bytes that are not UTF-8."""
    return "".join(
        "%20" if char == " " else f"%{ord(char) & 0xFF:02X}" if "\udc80" <= char <= "\udcff" else char
        for char in location
    )


def _record(cassette: Cassette, asked: _Asked, heard: _Heard, failure: Failure | None, started: float) -> None:
    body = bytes(heard.body if failure is None else heard.body[:_SNIFF])  # of a part only the start is looked at
    answer = Answer(heard.status, heard.headers, body) if heard.status else None
    took = round((time.perf_counter() - started) * 1_000)
    cassette.add("http", asked.as_json(), response=answer, failure=failure, ms=took)


def _origin(proxy: str) -> str:
    """Return a proxy's origin, without the user name and password that only proxies may have."""
    try:
        scheme, authority, *_ = urlsplit(proxy)
        return parse_url(f"{scheme}://{authority.rpartition('@')[2]}").origin
    except (ValueError, InvalidRequest, BlockedAddress) as error:
        raise ConfigurationError(
            "network.proxy: this is not the address of an HTTP proxy. Write it as http://proxy.example:3128."
        ) from error
