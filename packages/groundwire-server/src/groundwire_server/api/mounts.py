"""Applications that can be mounted beside the REST API: MCP, the OpenAI-compatible endpoint, the web page."""

from __future__ import annotations

from collections.abc import AsyncIterator, Callable, Iterable, Iterator, Sequence
from contextlib import AbstractAsyncContextManager, AsyncExitStack, asynccontextmanager, nullcontext, suppress
from dataclasses import dataclass, field
from functools import lru_cache
from typing import TYPE_CHECKING, Any, Final

from starlette.requests import Request
from starlette.routing import BaseRoute, Match, Router
from starlette.types import ASGIApp, Receive, Scope, Send

from groundwire.mcp_server.stdio import check_sdk
from groundwire.web import Web
from groundwire_server.api.context import AppContext, Counted
from groundwire_server.api.mcp_routing import SessionRouting
from groundwire_server.api.mcp_sessions import PATH, SSE_PATH, TenantSessions
from groundwire_server.api.peers import Peers
from groundwire_server.auth import KeyFile
from groundwire_server.client_disconnect import watched

if TYPE_CHECKING:
    from mcp.server.lowlevel.server import Server
    from mcp.server.transport_security import TransportSecuritySettings
    from starlette.applications import Starlette

    from groundwire.mcp_server.sessions import Sessions

__all__ = [
    "LARGEST_MODEL_REQUEST",
    "Mount",
    "SignedIn",
    "mcp_application",
    "mcp_mounts",
    "openai_mounts",
]

_POSTED: Final = "/messages/"
_PATHS_SEEN: Final = 256  # of which it is remembered whether they are of the page


def mcp_application(sessions: Sessions, *, sse: bool = False) -> tuple[ASGIApp, AbstractAsyncContextManager[object]]:
    """Return streamable HTTP as an application for the path /mcp of another, and its context manager.

    Args:
        sessions: The sessions; they stay the caller's to close.
        sse: Whether to speak the older SSE transport, too, at /sse and /messages.
    """
    from groundwire.mcp_server.handlers import make_server

    server = make_server(sessions)
    inner = server.streamable_http_app(streamable_http_path=PATH, transport_security=_security())
    if sse:
        _add_sse(inner, server)
    return watched(inner), inner.router.lifespan_context(inner)


def _security() -> TransportSecuritySettings:
    from mcp.server.transport_security import TransportSecuritySettings

    # Hosts and origins were already checked.
    return TransportSecuritySettings(enable_dns_rebinding_protection=False)


def _add_sse(app: Starlette, server: Server[Any]) -> None:
    from mcp.server.sse import SseServerTransport
    from starlette.routing import Mount, Route

    transport = SseServerTransport(_POSTED, security_settings=_security())

    class Stream:
        """The stream of one client, from its first request to its last; an ASGI application, not an endpoint."""

        async def __call__(self, scope: Scope, receive: Receive, send: Send) -> None:
            async with AsyncExitStack() as stack:
                incoming, outgoing = await stack.enter_async_context(transport.connect_sse(scope, receive, send))
                with suppress(ConnectionError):
                    await server.run(incoming, outgoing, server.create_initialization_options())

    app.router.routes += [
        Route(SSE_PATH, endpoint=Stream(), methods=["GET"]),
        Mount(_POSTED, transport.handle_post_message),
    ]


LARGEST_MODEL_REQUEST = 32_000_000  # bytes of a request to a model, which may contain images


@dataclass(frozen=True, slots=True)
class Mount:
    """A mounted application."""

    path: str
    """Its path prefix."""
    app: ASGIApp
    """The application."""
    running: AbstractAsyncContextManager[object] = field(default_factory=nullcontext)
    """Its context manager, entered once."""
    max_body_bytes: int = 0
    """Maximum bytes of a request's body, where that is more than the settings say."""


def mcp_mounts(
    context: AppContext, *, sse: bool = False, peers: Peers | None = None, keys: KeyFile | None = None
) -> Iterator[Mount]:
    """Yield MCP over streamable HTTP at `/mcp`.

    Args:
        context: The server's parts.
        sse: Whether to speak the older SSE transport at `/sse`, too.
        peers: The other workers of the server.
        keys: The keys.

    Raises:
        ConfigurationError: the SDK is not installed.
    """
    check_sdk()
    from groundwire.mcp_server.sessions import Sessions

    sessions = Sessions(context.web.settings, alone=False, web=context.web, web_for=context.web_for)
    inner, running = mcp_application(sessions, sse=sse)
    app: ASGIApp = Counted(TenantSessions(inner, context), context.traffic)
    if peers is not None and keys is not None:
        app = SessionRouting(app, peers, keys, context.traffic)
    yield Mount(PATH, app, running)
    if sse:
        yield Mount(SSE_PATH, app)
        yield Mount(_POSTED.rstrip("/"), app)


def openai_mounts(context: AppContext, upstream: str, path: str = "/openai/v1", *, key: str = "") -> Iterator[Mount]:
    """Yield the OpenAI-compatible endpoint in front of a model server, and those of Ollama and Gemini.

    Args:
        context: The server's parts.
        upstream: Where the model server's API begins.
        path: The path where it is mounted.
        key: The key for the model server, of clients that send none.

    Raises:
        InvalidRequest: the URL is invalid.
    """
    from groundwire_server.openai.app import Proxy

    proxy = Proxy(context.web, upstream, prefix=path, key=key)

    @asynccontextmanager
    async def running() -> AsyncIterator[None]:
        try:
            yield
        finally:
            await proxy.aclose()

    app = Counted(proxy.app, context.traffic)
    yield Mount(path, app, running(), LARGEST_MODEL_REQUEST)
    for other in proxy.beside:
        yield Mount(other, app, max_body_bytes=LARGEST_MODEL_REQUEST)


class SignedIn(BaseRoute):
    """The paths of the web page, looked up per request, and its login sessions; the last route.

    Args:
        web: The web to search and read with.
        keys: The keys with which people sign in.
    """

    def __init__(self, web: Web, keys: KeyFile) -> None:
        from groundwire_server.ui import STATIC_FILES, ui_routes  # a server without the page needs no templates
        from groundwire_server.ui.login_sessions import SignIns

        self.asks: Callable[[], bool] = lambda: True
        """Says whether a key is asked for now."""
        self._sign_ins = SignIns(keys, web.store)
        self._files = frozenset(STATIC_FILES)
        routes = ui_routes(web, sign_ins=self._sign_ins, asks=lambda: self.asks(), catch_all=True)
        self._router = Router(routes, redirect_slashes=False)
        self._is_of_page = lru_cache(_PATHS_SEEN)(self._matches_page)  # else it costs more than authentication
        self.others: Sequence[BaseRoute] = ()
        """The routes of the server beside these."""

    def has(self, scope: Scope) -> bool:
        """Whether a request is for the page; see `Pages`. A browser gets it at every path without anything else."""
        if self._is_of_page(scope["path"], scope.get("root_path", "")):
            return True
        is_person = scope["method"] == "GET" and "text/html" in Request(scope).headers.get("accept", "")
        return is_person and not _matches(self.others, scope)

    def _matches_page(self, path: str, root_path: str) -> bool:
        scope = {"type": "http", "method": "GET", "path": path, "root_path": root_path}
        return _matches(self._router.routes[:-1], scope)

    async def key_id(self, scope: Scope) -> str | None:
        """Return the ID of the key that a visitor has signed in with; static files need no key."""
        if scope["path"] in self._files:
            return None
        return await self._sign_ins.key_id(Request(scope))

    def matches(self, scope: Scope) -> tuple[Match, Scope]:
        """Return whether a request belongs to the page."""
        return (Match.FULL if scope["type"] == "http" and self.has(scope) else Match.NONE), {}

    async def handle(self, scope: Scope, receive: Receive, send: Send) -> None:
        """Show the page."""
        await self._router(scope, receive, send)


def _matches(routes: Iterable[BaseRoute], scope: Scope) -> bool:
    return any(route.matches(scope)[0] is not Match.NONE for route in routes)
