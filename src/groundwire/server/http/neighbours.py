"""What is served beside the gateway's own calls, over the same `Web`: MCP, and the proxy for models."""

from __future__ import annotations

from collections import OrderedDict
from collections.abc import AsyncIterator, Iterator, Mapping
from contextlib import AbstractAsyncContextManager, asynccontextmanager
from dataclasses import dataclass
from importlib.util import find_spec
from types import MappingProxyType

from starlette.requests import Request
from starlette.types import ASGIApp, Message, Receive, Scope, Send

from groundwire.errors import ConfigurationError
from groundwire.server.http.failures import failed
from groundwire.server.http.house import House
from groundwire.server.http.traffic import Counted

__all__ = ["LARGER", "Neighbour", "mcp_of", "proxy_of"]

_MCP, _PROXY = "/mcp", "/openai/v1"
LARGER: Mapping[str, int] = MappingProxyType({_PROXY: 32_000_000})
"""Paths whose requests may be larger, in bytes: pictures are sent inside."""
_MOST = 10_000  # MCP sessions whose owners are remembered
_SESSION = "mcp-session-id"


@dataclass(frozen=True, slots=True)
class Neighbour:
    """An application beside the gateway's own."""

    path: str
    """Where it begins; everything below is its own."""
    app: ASGIApp
    """The application."""
    running: AbstractAsyncContextManager[object]
    """What it runs in; it is entered once."""


def mcp_of(house: House, wanted: bool | None) -> Iterator[Neighbour]:
    """Yield MCP over streamable HTTP.

    Args:
        house: The gateway's parts.
        wanted: Whether it is; None is when the SDK is installed.

    Raises:
        ConfigurationError: it is wanted, and the SDK is not installed.
    """
    if wanted is False or (wanted is None and find_spec("mcp") is None):
        return
    if find_spec("mcp") is None:
        raise ConfigurationError('The MCP SDK is not installed: pip install "groundwire[mcp]"')
    from groundwire.server.mcp.http import mounted
    from groundwire.server.mcp.sessions import Sessions

    app, running = mounted(Sessions(house.web.settings, alone=False, web=house.web, whose=house.whose))
    yield Neighbour(_MCP, Counted(_Owned(app, house), house.traffic), running)


def proxy_of(house: House, upstream: str | None, key: str) -> Iterator[Neighbour]:
    """Yield the proxy before a model server, if there is one.

    Raises:
        InvalidRequest: the address is none.
    """
    if upstream is None:
        return
    from groundwire.server.proxy import Proxy

    proxy = Proxy(house.web, upstream, prefix=_PROXY, hosts=None, key=key)

    @asynccontextmanager
    async def running() -> AsyncIterator[None]:
        try:
            yield
        finally:
            await proxy.aclose()

    yield Neighbour(_PROXY, Counted(proxy.app, house.traffic), running())


class _Owned:
    """MCP whose sessions are each its owner's: to everybody else they are not there.

    The SDK knows a session by its id alone.
    """

    def __init__(self, app: ASGIApp, house: House) -> None:
        self._app = app
        self._house = house
        self._owners: OrderedDict[str, str] = OrderedDict()

    async def __call__(self, scope: Scope, receive: Receive, send: Send) -> None:
        """Pass a request on if its session is the caller's."""
        name = self._house.caller(scope).name
        asked = Request(scope).headers.get(_SESSION)
        if asked is not None and self._owners.get(asked, name) != name:
            failure = failed(404, "no_such_session", "There is no such session; initialize a new one.")
            await failure.response()(scope, receive, send)
            return

        async def sending(message: Message) -> None:
            if message["type"] == "http.response.start":
                self._note(message, name)
            await send(message)

        await self._app(scope, receive, sending)

    def _note(self, message: Message, name: str) -> None:
        for header, value in message.get("headers", ()):
            if header.lower() == _SESSION.encode():
                id_ = value.decode("latin-1")
                self._owners.setdefault(id_, name)
                self._owners.move_to_end(id_)
        while len(self._owners) > _MOST:
            self._owners.popitem(last=False)
