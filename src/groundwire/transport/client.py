"""The one HTTP client: guarded, bounded, on time.

Two ways to use it. `call` asks a provider: the request may carry a key, so a redirect is never followed (every
client sends custom key headers on to the new origin). `fetch` gets a page: no credentials, at most ten redirects,
each judged by the guard, and no cookies but those that one of them sets for its own host. Both read bodies on one path,
with a cap on the bytes on the wire and on the bytes that they decode to, and both end at their deadline: nothing is
sent after it.

One request and its answer: the one place where a request meets the network, or the cassette.

With a cassette requests are recorded hop by hop, or answered from it before anything is looked up or connected to.
"""

from __future__ import annotations

import time
from collections.abc import Callable, Mapping
from contextlib import AbstractAsyncContextManager, nullcontext
from dataclasses import dataclass, field, replace
from typing import TYPE_CHECKING, Any, Literal, Protocol

from groundwire._version import USER_AGENT
from groundwire.deadline import Deadline, Timeout
from groundwire.errors import (
    BlockedAddress,
    DeadlineExceeded,
    InvalidRequest,
    ProviderTimeout,
    TooManyRedirects,
)
from groundwire.safety.guard import Guard
from groundwire.safety.urls import WebUrl, join_url
from groundwire.transport.body_reader import read_body, seen_by
from groundwire.transport.chain_cookies import ChainCookies
from groundwire.transport.connector import (
    Connections,
    HttpRequest,
    Inspect,
    PartialResponse,
    Response,
)
from groundwire.transport.errors import (
    ExchangeFailed,
    raise_page_error,
    raise_provider_error,
)

if TYPE_CHECKING:
    from yarl import URL

    from groundwire.cassette import Cassette


@dataclass(slots=True, eq=False, repr=False)
class FetchSlot:
    """The permission for one page request, with the status and headers of its response."""

    status: int = 0
    """The HTTP status; 0 until there is one, and for a redirect."""
    headers: Mapping[str, str] = field(default_factory=dict)
    """Its headers."""


class FetchPolicy(Protocol):
    """Decides whether and when a page may be requested, including each redirect's target."""

    async def check(self, url: WebUrl, deadline: Deadline, *, remote: bool = False) -> object:
        """Check that a page may be read at all.

        Args:
            url: An address that the guard has admitted.
            deadline: When the page must be here.
            remote: Whether a third party fetches it.

        Raises:
            BlockedByPolicy, PageError: it is not allowed.
        """
        ...

    def visit(self, url: WebUrl, deadline: Deadline) -> AbstractAsyncContextManager[FetchSlot]:
        """Return a block in which a URL may be requested; entering it waits for a slot.

        Args:
            url: An address that the guard has admitted.
            deadline: When the page must be here.

        Raises:
            BlockedByPolicy, PageError: it is not allowed, or not in time.
        """
        ...


async def exchange(
    connections: Connections,
    cassette: Cassette | None,
    request: HttpRequest,
    deadline: Deadline,
    cap: int,
    inspect: Inspect | None,
) -> Response:
    """Send a request and read the response.

    Args:
        connections: Where it is sent.
        cassette: Records the exchange, or answers in place of the network.
        request: The request.
        deadline: When the answer must be here; nothing is sent after it.
        cap: Maximum bytes of the body, on the wire and decoded.
        inspect: Is shown the beginning.

    Raises:
        TimeoutError: the deadline passed. ExchangeFailed, Vetoed, BlockedAddress, Closed.
    """
    partial = PartialResponse()
    if cassette is None:
        with _within(deadline):
            return await _ask(connections, request, cap, inspect, partial)
    from groundwire.transport.recording import as_failure, record, replayed  # only a cassette waits for it

    if cassette.replaying:
        with _within(deadline):
            return await replayed(connections, request, cassette, cap, inspect)
    started = time.perf_counter()
    try:
        with _within(deadline):
            reply = await _ask(connections, request, cap, inspect, partial)
    except BaseException as error:
        failure = as_failure(error, began=bool(partial.status))
        if failure is not None and not connections.closed:
            record(cassette, request, partial, failure, started)
        raise
    record(cassette, request, partial, None, started)
    return reply


async def _ask(
    connections: Connections, request: HttpRequest, cap: int, inspect: Inspect | None, partial: PartialResponse
) -> Response:
    async with await connections.send(request) as response:
        partial.status, partial.headers = response.status, response.headers
        if request.leads_on(response.status, response.headers):  # unread: the body may be endless or undecodable
            return Response(str(response.url), response.status, response.headers)
        on_data = request.on_data if response.status == 200 else None
        return await read_body(connections, response, cap, inspect, partial.body, cut=request.cut, on_data=on_data)


def _within(deadline: Deadline) -> Timeout:
    """Return a block that raises TimeoutError at the deadline; if it has passed, before anything is sent.

    Raises:
        TimeoutError: it has passed.
    """
    if deadline.passed:
        raise TimeoutError
    return deadline.timeout()


MAX_HOPS = 10
"""The maximum redirects of a page (rule 5 of the guard)."""

_SERVICES = 64  # service URLs that are checked once; the check of a URL's form never changes
_CALL_CAP = 5_000_000  # bytes; the largest recorded search response has 0.3 million


class Transport:
    """A connection pool with a guard.

    It is made at once and connects on first use. All its requests must run in one event loop.

    Args:
        guard: Judges every URL and every address at the moment of connecting.
        user_agent: How we introduce ourselves.
        proxy: A forward proxy's URL, with a user name and password if it requires them, or empty for none. It resolves
            names itself, so with a proxy the guard judges the form of URLs only; but for `socks5://`, which is sent
            addresses that the guard has checked. Proxies named in the environment are never used.
        cassette: Records every exchange, or answers every request in place of the network.

    Raises:
        ConfigurationError: `proxy` is not the URL of an HTTP or SOCKS5 proxy, or the extra `socks` is not installed.
    """

    def __init__(
        self,
        guard: Guard,
        *,
        user_agent: str = USER_AGENT,
        proxy: str = "",
        cassette: Cassette | None = None,
    ) -> None:
        self.guard = guard
        self.cassette = cassette
        self.gate: FetchPolicy | None = None
        """Admits page requests; None admits all immediately. `call` does not use it."""
        self._services: dict[str, tuple[str, URL]] = {}
        self._connections = Connections(guard, user_agent=user_agent, proxy=proxy)

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
        on_data: Callable[[bytes], None] | None = None,
    ) -> Response:
        """Call a provider; any status is a response, including redirects.

        Args:
            provider: The provider's name, for the errors.
            method: GET or POST.
            url: The address without the parameters.
            deadline: When the answer must be here.
            params: Query parameters.
            headers: Headers, keys among them.
            json_body: A value to send as JSON.
            form: Fields to send as a form.
            cap: Maximum bytes to take, on the wire and decoded.
            on_data: Called with each decoded piece of the body of a response with status 200.

        Raises:
            ProviderTimeout, ProviderUnreachable, UnexpectedResponse, BlockedAddress, InvalidRequest, Closed.
        """
        from yarl import URL

        service = self._services.get(url)
        if service is None:
            target = self.guard.admit(url)
            address = URL(target.request_text, encoded=True)
            service = target.host if address.is_default_port() else f"{target.host}:{address.port}", address
            if len(self._services) < _SERVICES:
                self._services[url] = service
        host, full = service
        if params:
            full = full.extend_query(params)
        body: dict[str, Any] = {}
        if json_body is not None:
            body["json"] = json_body
        elif form is not None:
            body["data"] = dict(form)
        try:
            request = HttpRequest(method, full, headers or {}, body, on_data=on_data)
            return await exchange(self._connections, self.cassette, request, deadline, cap, None)
        except TimeoutError as error:
            raise ProviderTimeout(provider, f"no answer from {host} in time") from error
        except ExchangeFailed as error:
            raise_provider_error(provider, host, error)

    async def fetch(
        self,
        url: str,
        *,
        deadline: Deadline,
        headers: Mapping[str, str] | None = None,
        conditions: Mapping[str, Mapping[str, str]] | None = None,
        cap: int = 10_000_000,
        cut: bool = False,
        inspect: Inspect | None = None,
        hops: int = MAX_HOPS,
        gated: bool = True,
        leads_to: Callable[[Response], str] | None = None,
    ) -> Response:
        """Get a page, following at most ten redirects; any other status is a response.

        Args:
            url: The page's address.
            deadline: When it must be here.
            headers: More headers; never credentials.
            conditions: Headers for one address only, by its `WebUrl.request_text`: what an address has given as its
                validators is shown to no other.
            cap: Maximum bytes to take, on the wire and decoded.
            cut: Whether a larger body is cut there instead of refused.
            inspect: Is shown the head and the first bytes before the rest is read; what it raises ends the fetch, and
                a number that it returns is the cap instead.
            hops: Maximum redirects.
            gated: Whether each request waits for the fetch policy.
            leads_to: Returns the URL that a page redirects to by itself, or an empty text; it is followed like others.

        Raises:
            BlockedAddress, InvalidRequest, PageError (its classes), DeadlineExceeded, Closed.
        """
        from yarl import URL

        target = self.guard.admit(url)
        gate = self.gate if gated else None
        passed = 0
        cookies = ChainCookies()
        try:
            while True:
                fields = {
                    **(headers or {}),
                    **(conditions or {}).get(target.request_text, {}),
                    **cookies.header(target),
                }
                request = HttpRequest("GET", URL(target.request_text, encoded=True), fields, {}, page=True, cut=cut)
                async with gate.visit(target, deadline) if gate else nullcontext(FetchSlot()) as visit:
                    reply = await exchange(
                        self._connections, self.cassette, request, deadline, cap, seen_by(visit, inspect)
                    )
                redirected = request.leads_on(reply.status, reply.headers)
                reply = replace(reply, url=target.text)
                location = reply.headers["Location"] if redirected else leads_to(reply) if leads_to else ""
                if not location:
                    return reply
                cookies.keep(target, reply.headers)
                passed += 1
                if passed > hops:
                    raise TooManyRedirects(
                        url, f"The page redirects more than {hops} times. Look for another URL of it."
                    )
                target = self._follow(target, location)
        except DeadlineExceeded:
            raise
        except TimeoutError as error:
            raise DeadlineExceeded(f"{target.host} did not respond in time. Try again.") from error
        except ExchangeFailed as error:
            raise_page_error(url, target.host, error)

    async def aclose(self) -> None:
        """Close all connections; running and further requests raise Closed."""
        await self._connections.aclose()

    def _follow(self, target: WebUrl, location: str) -> WebUrl:
        """Return the target of a redirect, which keeps the fragment unless it has its own (RFC 9110, 10.2.2)."""
        reference = _as_reference(location)
        if target.fragment and "#" not in reference:
            reference += f"#{target.fragment}"
        try:
            return self.guard.follow(target, join_url(target, reference))
        except (InvalidRequest, BlockedAddress) as error:
            raise BlockedAddress(
                "The page redirects to an address that is not allowed: only public http and https addresses are."
            ) from error


def _as_reference(location: str) -> str:
    """Percent-encode the bytes of a `Location` that are not UTF-8."""
    return "".join(f"%{ord(char) & 0xFF:02X}" if "\udc80" <= char <= "\udcff" else char for char in location)
