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

import asyncio
import time
from collections.abc import Callable, Mapping
from contextlib import AbstractAsyncContextManager, nullcontext
from dataclasses import dataclass, field, replace
from typing import TYPE_CHECKING, Any, Literal, Protocol

from groundwire._version import USER_AGENT
from groundwire.cassette import Answer, CallFailed, Cassette, RecordedFailure
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
from groundwire.transport.body_reader import SNIFF, read_body, refuse_more_than, seen_by, show
from groundwire.transport.chain_cookies import ChainCookies
from groundwire.transport.connector import (
    CONNECTIONS,
    Connections,
    Head,
    HttpRequest,
    Inspect,
    PartialResponse,
    Response,
)
from groundwire.transport.errors import (
    UNREAD,
    ExchangeFailed,
    as_error,
    as_failure,
    raise_page_error,
    raise_provider_error,
)

if TYPE_CHECKING:
    from yarl import URL

__all__ = ["FetchPolicy", "FetchSlot", "Transport", "exchange"]


@dataclass(slots=True)
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
    asked: HttpRequest,
    deadline: Deadline,
    cap: int,
    inspect: Inspect | None,
) -> Response:
    """Send a request and read the response.

    Args:
        connections: Where it is sent.
        cassette: Records the exchange, or answers in place of the network.
        asked: The request.
        deadline: When the answer must be here; nothing is sent after it.
        cap: Maximum bytes of the body, on the wire and decoded.
        inspect: Is shown the beginning.

    Raises:
        TimeoutError: the deadline passed. ExchangeFailed, Vetoed, BlockedAddress, Closed.
    """
    partial = PartialResponse()
    if cassette is None:
        with _within(deadline):
            return await _ask(connections, asked, cap, inspect, partial)
    if cassette.replaying:
        with _within(deadline):
            return await _replayed(connections, asked, cassette, cap, inspect)
    started = time.perf_counter()
    try:
        with _within(deadline):
            reply = await _ask(connections, asked, cap, inspect, partial)
    except BaseException as error:
        failure = as_failure(error, began=bool(partial.status))
        if failure is not None and not connections.closed:
            _record(cassette, asked, partial, failure, started)
        raise
    _record(cassette, asked, partial, None, started)
    return reply


async def _replayed(
    connections: Connections, asked: HttpRequest, cassette: Cassette, cap: int, inspect: Inspect | None
) -> Response:
    """Answer a request from the cassette, without a lookup or connection."""
    from multidict import CIMultiDict

    if connections.closed:
        raise connections.gone()
    await asyncio.sleep(0)  # so that other tasks can run, as with a network
    try:
        found = cassette.find("http", asked.as_json())
    except CallFailed as error:
        raise ExchangeFailed("cassette", error.failure.detail) from error
    if (answer := found.answer) is not None:
        head = Head(str(asked.url), answer.status, CIMultiDict(answer.headers))
        if found.failure is None and asked.leads_on(head.status, head.headers):
            return Response(head.url, head.status, head.headers)
        start = b""
        if found.failure is None or found.failure.kind == UNREAD or len(answer.body) >= SNIFF:
            start, cap = show(inspect, head.url, head.status, head.headers, bytearray(answer.body), cap)
        if not asked.cut:
            refuse_more_than(cap, len(answer.body))
        if asked.on_data is not None and answer.status == 200:
            asked.on_data(bytes(answer.body))
        if found.failure is None:
            return Response(head.url, head.status, head.headers, start, answer.body[:cap])
    raise as_error(found.failure)


async def _ask(
    connections: Connections, asked: HttpRequest, cap: int, inspect: Inspect | None, partial: PartialResponse
) -> Response:
    async with await connections.send(asked) as response:
        partial.status, partial.headers = response.status, response.headers
        if asked.leads_on(response.status, response.headers):  # unread: the body may be endless or undecodable
            return Response(str(response.url), response.status, response.headers)
        on_data = asked.on_data if response.status == 200 else None
        return await read_body(connections, response, cap, inspect, partial.body, cut=asked.cut, on_data=on_data)


def _within(deadline: Deadline) -> Timeout:
    """Return a block that raises TimeoutError at the deadline; if it has passed, before anything is sent.

    Raises:
        TimeoutError: it has passed.
    """
    if deadline.passed:
        raise TimeoutError
    return deadline.timeout()


def _record(
    cassette: Cassette, asked: HttpRequest, partial: PartialResponse, failure: RecordedFailure | None, started: float
) -> None:
    body = bytes(partial.body if failure is None else partial.body[:SNIFF])  # of a part only the start is looked at
    answer = Answer(partial.status, partial.headers, body) if partial.status else None
    took = round((time.perf_counter() - started) * 1_000)
    cassette.add("http", asked.as_json(), response=answer, failure=failure, ms=took)


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
            names itself, so with a proxy the guard judges the form of URLs only. Proxies named in the environment
            are never used.
        max_connections: Maximum connections open at once.
        cassette: Records every exchange, or answers every request in place of the network.

    Raises:
        ConfigurationError: `proxy` is not the URL of an HTTP proxy.
    """

    def __init__(
        self,
        guard: Guard,
        *,
        user_agent: str = USER_AGENT,
        proxy: str = "",
        max_connections: int = CONNECTIONS,
        cassette: Cassette | None = None,
    ) -> None:
        self.guard = guard
        self.cassette = cassette
        self.gate: FetchPolicy | None = None
        """Admits page requests; None admits all immediately. `call` does not use it."""
        self._services: dict[str, tuple[str, URL]] = {}
        self._connections = Connections(guard, user_agent=user_agent, proxy=proxy, most=max_connections)

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

        known = self._services.get(url)
        if known is None:
            target = self.guard.admit(url)
            address = URL(target.request_text, encoded=True)
            known = target.host if address.is_default_port() else f"{target.host}:{address.port}", address
            if len(self._services) < _SERVICES:
                self._services[url] = known
        host, full = known
        if params:
            full = full.extend_query(params)
        body: dict[str, Any] = {}
        if json_body is not None:
            body["json"] = json_body
        elif form is not None:
            body["data"] = dict(form)
        try:
            asked = HttpRequest(method, full, headers or {}, body, on_data=on_data)
            return await exchange(self._connections, self.cassette, asked, deadline, cap, None)
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
        passed: list[str] = []
        cookies = ChainCookies()
        try:
            while True:
                sent = {**(headers or {}), **(conditions or {}).get(target.request_text, {}), **cookies.header(target)}
                asked = HttpRequest("GET", URL(target.request_text, encoded=True), sent, {}, page=True, cut=cut)
                async with gate.visit(target, deadline) if gate else nullcontext(FetchSlot()) as visit:
                    reply = await exchange(
                        self._connections, self.cassette, asked, deadline, cap, seen_by(visit, inspect)
                    )
                redirected = asked.leads_on(reply.status, reply.headers)
                reply = replace(reply, url=target.text, hops=tuple(passed))
                location = reply.headers["Location"] if redirected else leads_to(reply) if leads_to else ""
                if not location:
                    return reply
                cookies.keep(target, reply.headers)
                passed.append(target.text)
                if len(passed) > hops:
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
