"""Who may ask: nobody's web page, by whatever name it calls this machine."""

from __future__ import annotations

from collections.abc import Collection
from urllib.parse import urlsplit

from starlette.responses import Response
from starlette.types import ASGIApp, Receive, Scope, Send

from groundwire.server.upstream import error_body

__all__ = ["LOOPBACK", "Gate"]

LOOPBACK = frozenset({"localhost", "127.0.0.1", "::1"})
"""The names of this machine to itself."""


class Gate:
    """Refuses requests that a web page in a browser made: those with an Origin, or with a foreign name as Host.

    A page on the internet can have a browser on this machine send requests to it; with a name that resolves here
    (DNS rebinding) it could even read the answers.

    Args:
        app: What is behind it.
        hosts: The names by which this server may be called; None is any name.
    """

    def __init__(self, app: ASGIApp, hosts: Collection[str] | None) -> None:
        self._app = app
        self._hosts = hosts

    async def __call__(self, scope: Scope, receive: Receive, send: Send) -> None:
        """Pass a request on, or refuse it."""
        if scope["type"] == "http":
            headers = {name.lower(): value.decode("latin-1") for name, value in scope["headers"]}
            host = _host(f"//{headers.get(b'host', '')}")
            origin = headers.get(b"origin")
            if self._hosts is not None and host not in self._hosts:
                await _refuse(421, f"This server does not go by the name {host[:80]!r}.", scope, receive, send)
                return
            if origin is not None and _host(origin) != host:
                await _refuse(403, "Web pages of other sites may not ask this server.", scope, receive, send)
                return
        await self._app(scope, receive, send)


async def _refuse(status: int, text: str, scope: Scope, receive: Receive, send: Send) -> None:
    await Response(error_body(text), status, media_type="application/json")(scope, receive, send)


def _host(url: str) -> str:
    try:
        return urlsplit(url).hostname or ""
    except ValueError:
        return ""
