"""The gateway as one ASGI application."""

from __future__ import annotations

from collections.abc import Sequence
from contextlib import AsyncExitStack
from typing import Self

from starlette.types import Message, Receive, Scope, Send

from groundwire.observing import Metrics
from groundwire.server.access import Access, KeyFile, gate_of, key_file_of
from groundwire.server.http.counts import Requests
from groundwire.server.http.house import House
from groundwire.server.http.neighbours import LARGER, Neighbour, mcp_of, proxy_of
from groundwire.server.http.page import SignedIn
from groundwire.server.http.routing import application
from groundwire.server.http.traffic import Traffic
from groundwire.settings import Settings
from groundwire.web import Web

__all__ = ["Gateway", "build_gateway"]


class Gateway:
    """The gateway: an ASGI application, to be served or called in this process; see `build_gateway`.

    Use it as `async with build_gateway() as gateway:`, or serve it with its lifespan on.
    """

    def __init__(
        self, house: House, gate: Access, requests: Requests, neighbours: Sequence[Neighbour], *, owned: bool
    ) -> None:
        self._house = house
        self._gate = gate
        self._requests = requests
        self._neighbours = tuple(neighbours)
        self._owned = owned
        self._stack = AsyncExitStack()

    @property
    def web(self) -> Web:
        """What searches and reads."""
        return self._house.web

    @property
    def running(self) -> int:
        """How many calls run."""
        return self._house.traffic.running

    @property
    def paths(self) -> tuple[str, ...]:
        """Where what is there besides the gateway's own calls begins, such as `/mcp`."""
        return tuple(neighbour.path for neighbour in self._neighbours)

    @property
    def asks_for_keys(self) -> bool:
        """Whether a key is asked for now."""
        return self._gate.asks

    async def __call__(self, scope: Scope, receive: Receive, send: Send) -> None:
        """Answer as an ASGI application."""
        if scope["type"] == "lifespan":
            await self._live(receive, send)
        elif scope["type"] == "http":
            answer = _parting(send) if self._house.traffic.leaving else send
            await self._requests.through(self._gate, scope, receive, answer)
        else:
            await self._gate(scope, receive, send)

    async def __aenter__(self) -> Self:
        await self.start()
        return self

    async def __aexit__(self, *exc_info: object) -> None:
        await self.aclose()

    async def start(self) -> None:
        """Be ready for requests. Call it, and `aclose`, in the same task."""
        for neighbour in self._neighbours:
            await self._stack.enter_async_context(neighbour.running)
        self._house.traffic.started = True

    def leave(self) -> None:
        """Say at `/readyz`, and with the end of every connection, that others should be asked; take calls all the same.

        A load balancer goes on sending calls until it has noticed.
        """
        self._house.traffic.leave()

    def drain(self) -> None:
        """Take no new calls; those that run go on. `/readyz` says so from now on."""
        self._house.traffic.drain()

    def end_calls(self) -> None:
        """Take no new calls, and end those that run; their clients are told."""
        self._house.traffic.end()

    async def idle(self) -> None:
        """Return when no call runs."""
        await self._house.traffic.idle()

    async def aclose(self) -> None:
        """Take no more calls, and close the `Web` if it is the gateway's own. Closing twice is fine."""
        self.drain()
        try:
            await self._stack.aclose()
            await self._gate.aclose()
        finally:
            if self._owned:
                await self._house.web.aclose()

    async def _live(self, receive: Receive, send: Send) -> None:
        """Follow the lifespan of the server (https://asgi.readthedocs.io/en/latest/specs/lifespan.html)."""
        await receive()
        try:
            await self.start()
        except Exception as error:
            await send({"type": "lifespan.startup.failed", "message": str(error)})
            raise
        await send({"type": "lifespan.startup.complete"})
        await receive()
        try:
            await self.aclose()
        finally:
            await send({"type": "lifespan.shutdown.complete"})


def _parting(send: Send) -> Send:
    """Return a `send` that ends the connection with the response, so that a client's next request goes elsewhere."""

    async def parting(message: Message) -> None:
        if message["type"] == "http.response.start":
            headers = [pair for pair in message.get("headers", ()) if pair[0].lower() != b"connection"]
            message = {**message, "headers": [*headers, (b"connection", b"close")]}
        await send(message)

    return parting


def build_gateway(
    source: Settings | Web | None = None,
    *,
    host: str = "",
    upstream: str | None = None,
    upstream_key: str = "",
    mcp: bool | None = None,
    page: bool = True,
    metrics: Metrics | None = None,
) -> Gateway:
    """Return a gateway, with its gate in front of everything.

    Args:
        source: The settings in force, from which the gateway makes a `Web` of its own and closes it; or a `Web`, which
            stays the caller's to close. By default the settings are read from the environment and files.
        host: Where it is going to listen; by default where the settings say.
        upstream: Where a model server's OpenAI-compatible API begins: the proxy before it is then at `/openai/v1`.
        upstream_key: The key for that server, of clients that send none of their own.
        mcp: Whether MCP is at `/mcp`; by default it is when its SDK is installed.
        page: Whether the web page is at `/`.
        metrics: What watches a `Web` that is the caller's, for `/metrics`.

    Raises:
        ConfigurationError: the settings are wrong, or a gateway may not listen where they say.
        InvalidRequest: `upstream` is no address.
    """
    if isinstance(source, Web):
        web = source
    else:
        metrics = metrics or Metrics()
        web = Web(source, call_listeners=(metrics,))
    house = House(web=web, traffic=Traffic())
    neighbours = [*mcp_of(house, mcp), *proxy_of(house, upstream, upstream_key)]
    keys = KeyFile(key_file_of(web.settings))
    pages = SignedIn(web, keys) if page else None
    inner, requests = application(house, neighbours, metrics, pages)
    gate = gate_of(inner, web.settings, web.store, host=host, larger=LARGER, keys=keys, pages=pages)
    if pages is not None:
        pages.asks = lambda: gate.asks
    return Gateway(house, gate, requests, neighbours, owned=not isinstance(source, Web))
