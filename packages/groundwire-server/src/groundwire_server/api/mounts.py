"""Applications that can be mounted beside the REST API: MCP, the OpenAI-compatible endpoint, the web page."""

from __future__ import annotations

from collections.abc import AsyncIterator, Callable, Iterable, Iterator, Mapping, Sequence
from contextlib import AbstractAsyncContextManager, AsyncExitStack, asynccontextmanager, nullcontext, suppress
from dataclasses import dataclass, field
from datetime import UTC, datetime
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
from groundwire_server.auth import KeyFile, Tenant, tenant_of
from groundwire_server.auth.authentication import ClientAddress
from groundwire_server.auth.keys import KeyRecord, id_of, is_key_of
from groundwire_server.auth.rate_limits import client_network
from groundwire_server.client_disconnect import watched

if TYPE_CHECKING:
    from mcp.server.lowlevel.server import Server
    from mcp.server.transport_security import TransportSecuritySettings
    from starlette.applications import Starlette

    from groundwire.mcp_server.sessions import Sessions
    from groundwire_server.ui import Visitor

__all__ = [
    "LARGEST_MODEL_REQUEST",
    "MODEL_PATHS",
    "Mount",
    "SignedIn",
    "mcp_application",
    "mcp_mounts",
    "openai_mounts",
]

MODEL_PATHS = (
    *(f"/v1/{name}" for name in ("chat/completions", "completions", "responses", "messages", "models", "embeddings")),
    "/chat/completions",
)
"""The paths of model APIs when a client is given the address of this server."""
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


def openai_mounts(
    context: AppContext, upstream: str, path: str = "/openai/v1", *, key: str = "", **options: Any
) -> Iterator[Mount]:
    """Yield the OpenAI-compatible endpoint in front of a model server, and those of Ollama and Gemini.

    Args:
        context: The server's parts.
        upstream: Where the model server's API begins.
        path: The path where it is mounted.
        key: The key for the model server, of clients that send none.
        options: Others of `Proxy`.

    Raises:
        InvalidRequest: the URL is invalid.
    """
    from groundwire_server.openai.app import Proxy

    proxy = Proxy(context.web, upstream, prefix=path, key=key, **options)

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
    if path != "/v1":
        for alias in MODEL_PATHS:
            yield Mount(alias, _Renamed(app, path), max_body_bytes=LARGEST_MODEL_REQUEST)


class _Renamed:
    """The endpoint under the paths that clients know it by, which begin with `/v1` or with nothing."""

    def __init__(self, app: ASGIApp, prefix: str) -> None:
        self._app = app
        self._prefix = prefix

    async def __call__(self, scope: Scope, receive: Receive, send: Send) -> None:
        """Forward a request to the endpoint's own path."""
        path = self._prefix + scope["path"].removeprefix("/v1")
        await self._app({**scope, "path": path, "raw_path": path.encode()}, receive, send)


class SignedIn:
    """The paths of the web page, and its login sessions.

    Args:
        web: The web to search and read with.
        keys: The keys with which people sign in.
        asks: Says whether a key is asked for now.
        now: The time.
    """

    def __init__(
        self,
        web: Web,
        keys: KeyFile,
        *,
        asks: Callable[[], bool] = lambda: True,
        now: Callable[[], datetime] = lambda: datetime.now(UTC),
    ) -> None:
        from groundwire_server.ui import STATIC_FILES, ui_routes  # a server without the page needs no templates
        from groundwire_server.ui.login_sessions import SignIns

        verifier = _KeyVerifier(web, keys, now)
        self.asks = asks
        self._sign_ins = SignIns(verifier, web.store)
        self._files = frozenset(STATIC_FILES)
        self._open = Router(ui_routes(web, catch_all=True), redirect_slashes=False)
        self._closed = Router(ui_routes(web, authenticate=verifier, catch_all=True), redirect_slashes=False)
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
        return _matches(self._closed.routes[:-1], scope)

    async def key_id(self, scope: Scope) -> str | None:
        """Return the ID of the key that a visitor has signed in with; static files need no key."""
        if scope["path"] in self._files:
            return None
        visitor = await self._sign_ins.visitor(Request(scope))
        return visitor.id if visitor else None

    def routes(self) -> list[BaseRoute]:
        """Return the routes of the page."""
        return [_Either(self)]

    async def __call__(self, scope: Scope, receive: Receive, send: Send) -> None:
        """Show the page."""
        await (self._closed if self.asks() else self._open)(scope, receive, send)


class _Either(BaseRoute):
    """A route to the web page, looked up per request; the last one."""

    def __init__(self, page: SignedIn) -> None:
        self._page = page

    def matches(self, scope: Scope) -> tuple[Match, Scope]:
        """Return whether a request belongs to the page."""
        return (Match.FULL if scope["type"] == "http" and self._page.has(scope) else Match.NONE), {}

    async def handle(self, scope: Scope, receive: Receive, send: Send) -> None:
        """Show the page."""
        await self._page(scope, receive, send)


def _matches(routes: Iterable[BaseRoute], scope: Scope) -> bool:
    return any(route.matches(scope)[0] is not Match.NONE for route in routes)


class _KeyVerifier:
    """Admits holders of a key, with the permissions of the key."""

    def __init__(self, web: Web, keys: KeyFile, now: Callable[[], datetime]) -> None:
        self._web = web
        self._keys = keys
        self._now = now
        self._clients = ClientAddress(web.settings.server.trusted_proxies)

    async def admit(self, key: str) -> Visitor | None:
        """Return the visitor for a key; see `KeyVerifier`."""
        record = self._keys.find(id_of(key))
        return self._of(record) if is_key_of(record, key) else None

    async def recall(self, visitor: str) -> Visitor | None:
        """Return the visitor of an id; see `KeyVerifier`."""
        return self._of(self._keys.find(visitor))

    def known(self, scope: Mapping[str, Any]) -> Visitor | None:
        """Return the visitor admitted by `Access` in any way; see `KeyVerifier`."""
        tenant = tenant_of(scope)
        return None if tenant is None else self._visitor(tenant)

    def address(self, scope: Mapping[str, Any]) -> str:
        """Return the client's network, also behind a load balancer; see `KeyVerifier`."""
        return client_network(self._clients.address(dict(scope)))

    def _of(self, record: KeyRecord | None) -> Visitor | None:
        if record is None or record.why_dead(self._now()):
            return None
        return self._visitor(Tenant.of(record))

    def _visitor(self, tenant: Tenant) -> Visitor:
        from groundwire_server.ui import Visitor

        return Visitor(
            id=tenant.key_id,
            name=tenant.name,
            web=tenant.narrow(self._web),
            prefix=tenant.prefix,
            sees_all=tenant.operator,
        )
