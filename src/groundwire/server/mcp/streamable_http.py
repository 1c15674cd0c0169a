"""Serving of many clients over streamable HTTP, and over the older SSE transport."""

from __future__ import annotations

from contextlib import AbstractAsyncContextManager, AsyncExitStack, suppress
from typing import TYPE_CHECKING, Any

from groundwire.server.client_disconnect import ASGIApp, Receive, Scope, Send, watched

if TYPE_CHECKING:
    from mcp.server.lowlevel.server import Server
    from mcp.server.transport_security import TransportSecuritySettings
    from starlette.applications import Starlette

    from groundwire.server.mcp.sessions import Sessions

__all__ = ["mcp_application"]

_PATH, _SSE_PATH, _MESSAGES = "/mcp", "/sse", "/messages/"


def mcp_application(sessions: Sessions, *, sse: bool = False) -> tuple[ASGIApp, AbstractAsyncContextManager[object]]:
    """Return streamable HTTP as an application for the path /mcp of another, and its context manager.

    Args:
        sessions: The sessions; they stay the caller's to close.
        sse: Whether to speak the older SSE transport, too, at /sse and /messages.
    """
    from groundwire.server.mcp.handlers import make_server

    server = make_server(sessions)
    inner = _starlette(server)
    if sse:
        _add_sse(inner, server)
    return watched(inner), inner.router.lifespan_context(inner)


def _starlette(server: Server[Any]) -> Starlette:
    return server.streamable_http_app(streamable_http_path=_PATH, transport_security=_security())


def _security() -> TransportSecuritySettings:
    from mcp.server.transport_security import TransportSecuritySettings

    # Hosts and origins were already checked.
    return TransportSecuritySettings(enable_dns_rebinding_protection=False)


def _add_sse(app: Starlette, server: Server[Any]) -> None:
    from mcp.server.sse import SseServerTransport
    from starlette.routing import Mount, Route

    transport = SseServerTransport(_MESSAGES, security_settings=_security())

    class Stream:
        """The stream of one client, from its first request to its last; an ASGI application, not an endpoint."""

        async def __call__(self, scope: Scope, receive: Receive, send: Send) -> None:
            async with AsyncExitStack() as stack:
                received, sent = await stack.enter_async_context(transport.connect_sse(scope, receive, send))
                with suppress(ConnectionError):
                    await server.run(received, sent, server.create_initialization_options())

    app.router.routes += [
        Route(_SSE_PATH, endpoint=Stream(), methods=["GET"]),
        Mount(_MESSAGES, transport.handle_post_message),
    ]
