"""Who may come in over HTTP: hosts that are ours, web pages of ours, and whoever has the token."""

from __future__ import annotations

import hmac
import json
from collections.abc import Collection
from dataclasses import dataclass, field

from groundwire.server.mcp.presence import ASGIApp, Receive, Scope, Send
from groundwire.server.names import Names

__all__ = ["MIN_TOKEN", "Gate", "gated"]

MIN_TOKEN = 16  # characters


@dataclass(frozen=True)
class Gate:
    """The rules of one server."""

    host: str
    """Where it listens."""
    token: str = field(default="", repr=False)
    """What clients must send as their bearer token; empty means that none is asked for."""
    allowed_hosts: Collection[str] = ()
    """Names under which it may be called, beside the address where it listens."""

    def judge(self, host: str | None, origin: str | None, authorization: str | None) -> tuple[int, str] | None:
        """Return the HTTP status and the reason of a refusal, or None for a request that may come in.

        Args:
            host: The request's Host.
            origin: Its Origin, which browsers send.
            authorization: Its Authorization.
        """
        fault = Names.of(self.host, self.allowed_hosts).judge(host, origin)
        if fault == "name":
            return 421, "This server is not called by that name; see groundwire mcp --allowed-host."
        if fault == "page":
            return 403, "Pages of that origin may not call this server."
        if self.token:
            scheme, _, given = (authorization or "").partition(" ")
            same = hmac.compare_digest(given.strip().encode(), self.token.encode())
            if scheme.lower() != "bearer" or not same:
                return 401, "Send the server's token: Authorization: Bearer TOKEN."
        return None


def gated(app: ASGIApp, gate: Gate) -> ASGIApp:
    """Return an ASGI application that lets through what the gate lets through."""

    async def guarding(scope: Scope, receive: Receive, send: Send) -> None:
        if scope["type"] != "http":
            await app(scope, receive, send)
            return
        headers = {name.decode("latin-1").lower(): value.decode("latin-1") for name, value in scope["headers"]}
        refusal = gate.judge(headers.get("host"), headers.get("origin"), headers.get("authorization"))
        if refusal is None:
            await app(scope, receive, send)
            return
        status, reason = refusal
        body = json.dumps({"error": reason}).encode()
        answer = [(b"content-type", b"application/json"), (b"content-length", str(len(body)).encode())]
        if status == 401:
            answer.append((b"www-authenticate", b'Bearer realm="groundwire"'))
        await send({"type": "http.response.start", "status": status, "headers": answer})
        await send({"type": "http.response.body", "body": body})

    return guarding
