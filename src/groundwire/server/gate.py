"""Who may ask the proxy: nobody's web page, by whatever name it calls this machine."""

from __future__ import annotations

from collections.abc import Collection

from starlette.responses import Response
from starlette.types import ASGIApp, Receive, Scope, Send

from groundwire.server.names import LOOPBACK, Names
from groundwire.server.upstream import error_body

__all__ = ["LOOPBACK", "Gate"]


class Gate:
    """Refuses requests that a web page in a browser made: those of other origins, or with a foreign name as Host.

    Args:
        app: What is behind it.
        hosts: The names by which this server may be called; None is any name.
    """

    def __init__(self, app: ASGIApp, hosts: Collection[str] | None) -> None:
        self._app = app
        self._names = Names(hosts)

    async def __call__(self, scope: Scope, receive: Receive, send: Send) -> None:
        """Pass a request on, or refuse it."""
        if scope["type"] == "http":
            headers = {name.lower(): value.decode("latin-1") for name, value in scope["headers"]}
            fault = self._names.judge(headers.get(b"host"), headers.get(b"origin"))
            if fault == "name":
                await _refuse(421, "This server does not go by that name.", scope, receive, send)
                return
            if fault == "page":
                await _refuse(403, "Web pages of other sites may not ask this server.", scope, receive, send)
                return
        await self._app(scope, receive, send)


async def _refuse(status: int, text: str, scope: Scope, receive: Receive, send: Send) -> None:
    await Response(error_body(text), status, media_type="application/json")(scope, receive, send)
