"""Serving many clients over streamable HTTP, and over the SSE transport that went before it."""

from __future__ import annotations

import asyncio
import signal
import socket
from collections.abc import Callable, Iterator
from contextlib import AbstractAsyncContextManager, AsyncExitStack, contextmanager, suppress
from typing import TYPE_CHECKING, Any

from groundwire.errors import ConfigurationError
from groundwire.server.client_disconnect import ASGIApp, Receive, Scope, Send, watched
from groundwire.server.host_check import MIN_TOKEN, TokenCheck, gated, is_loopback
from groundwire.settings import Settings

if TYPE_CHECKING:
    from mcp.server.lowlevel.server import Server
    from mcp.server.transport_security import TransportSecuritySettings
    from starlette.applications import Starlette

    from groundwire.server.mcp.sessions import Sessions

__all__ = ["check_gate", "mounted", "serve_http"]

_PATH, _SSE_PATH, _MESSAGES = "/mcp", "/sse", "/messages/"
_GRACE = 2  # seconds for what is under way when the server is asked to end


def check_gate(gate: TokenCheck) -> None:
    """Return if a server may listen so.

    Raises:
        ConfigurationError: others than this machine could reach it, and anybody could use it; or the token is weak.
    """
    if not gate.token and not is_loopback(gate.host):
        raise ConfigurationError(
            f"The server would listen on {gate.host}, where other machines reach it, and it has no token. "
            "Set GROUNDWIRE_MCP_TOKEN or give --token-file FILE, or listen on 127.0.0.1."
        )
    if gate.token and (len(gate.token) < MIN_TOKEN or not gate.token.isascii() or not gate.token.isprintable()):
        raise ConfigurationError(
            f"The token must be at least {MIN_TOKEN} visible ASCII characters. "
            "Make one: python -c 'import secrets; print(secrets.token_urlsafe())'"
        )


async def serve_http(
    settings: Settings, gate: TokenCheck, sock: socket.socket, *, sse: bool = False, ready: Callable[[str], None]
) -> None:
    """Serve until this process is asked to end.

    Args:
        settings: What is in force.
        gate: Who may come in.
        sock: A socket that listens.
        sse: Whether to speak the older SSE transport, too.
        ready: Called with the server's address when it serves.

    Raises:
        ConfigurationError: the settings are wrong.
    """
    import uvicorn

    from groundwire.server.mcp.handlers import make_server
    from groundwire.server.mcp.sessions import Sessions

    sessions = Sessions(settings, alone=False)
    try:
        await sessions.start()
        app = gated(_application(make_server(sessions), sse=sse), gate)
        # Its own logging would write to standard output.
        config = uvicorn.Config(
            app, log_config=None, access_log=False, lifespan="on", timeout_graceful_shutdown=_GRACE, ws="none"
        )
        shown = f"[{gate.host}]" if ":" in gate.host else gate.host
        address = f"http://{shown}:{sock.getsockname()[1]}"

        class Announcing(uvicorn.Server):
            """Says when it serves."""

            async def startup(self, sockets: list[socket.socket] | None = None) -> None:
                await super().startup(sockets)
                ready(address)

            @contextmanager
            def capture_signals(self) -> Iterator[None]:
                """End on a signal without raising it again, which would end the process before the `Web` is closed."""
                loop, caught = asyncio.get_running_loop(), []
                for number in (signal.SIGINT, signal.SIGTERM):
                    with suppress(NotImplementedError, RuntimeError):  # Windows, or not the main thread
                        loop.add_signal_handler(number, self.handle_exit, number, None)
                        caught.append(number)
                try:
                    yield
                finally:
                    for number in caught:
                        loop.remove_signal_handler(number)

        await Announcing(config).serve(sockets=[sock])
    finally:
        await sessions.aclose()


def mounted(sessions: Sessions) -> tuple[ASGIApp, AbstractAsyncContextManager[object]]:
    """Return streamable HTTP as an application for the path /mcp of another, and what it runs in.

    Args:
        sessions: What searches and reads; they stay the caller's to close.
    """
    from groundwire.server.mcp.handlers import make_server

    inner = _starlette(make_server(sessions))
    return watched(inner), inner.router.lifespan_context(inner)


def _application(server: Server[Any], *, sse: bool) -> ASGIApp:
    inner = _starlette(server)
    if sse:
        _add_sse(inner, server)
    return watched(inner)


def _starlette(server: Server[Any]) -> Starlette:
    return server.streamable_http_app(streamable_http_path=_PATH, transport_security=_security())


def _security() -> TransportSecuritySettings:
    from mcp.server.transport_security import TransportSecuritySettings

    # Hosts and origins were judged at the gate already.
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
