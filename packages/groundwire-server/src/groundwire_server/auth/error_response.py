"""Responses to rejected requests."""

from __future__ import annotations

import asyncio
from collections.abc import Iterable
from http import HTTPStatus
from types import MappingProxyType

from starlette.types import Message, Receive, Scope, Send

from groundwire_server.auth.access_log import facts_of
from groundwire_server.error_body import Failed

Headers = list[tuple[bytes, bytes]]

_LINGER = 1.0  # seconds, and
_MOST = (
    4_000_000  # bytes for which a client that still sends is listened to, so that it reads the answer (RFC 9112, 9.6)
)

_SAFE = MappingProxyType(
    {
        b"x-content-type-options": b"nosniff",
        b"x-frame-options": b"DENY",
        b"referrer-policy": b"no-referrer",
        b"cross-origin-resource-policy": b"same-origin",
        b"cross-origin-opener-policy": b"same-origin",
        b"content-security-policy": b"default-src 'none'; frame-ancestors 'none'; base-uri 'none'; form-action 'none'",
        b"cache-control": b"no-store",
    }
)
"""Default headers of every response."""

_CLOSED = b"access-control-"


def safe_headers(pairs: Iterable[tuple[bytes, bytes]]) -> Headers:
    """Return a response's headers with secure defaults, closed to other origins."""
    headers = [(name, value) for name, value in pairs if not name.lower().startswith(_CLOSED)]
    there = {name.lower() for name, _ in headers}
    return headers + [(name, value) for name, value in _SAFE.items() if name not in there]


def raw_response(failure: Failed, *, closes: bool) -> bytes:
    """Return the bytes of the response to a rejected request, for where there is no application to send them.

    Args:
        failure: Why it is rejected.
        closes: Whether the connection ends with it.
    """
    response = failure.response()
    head = safe_headers(response.raw_headers) + ([(b"connection", b"close")] if closes else [])
    status = HTTPStatus(response.status_code)
    lines = [f"HTTP/1.1 {status.value} {status.phrase}".encode(), *(b"%s: %s" % pair for pair in head)]
    return b"\r\n".join([*lines, b"", bytes(response.body)])


async def refuse(failure: Failed, scope: Scope, receive: Receive, send: Send) -> None:
    """Respond to a rejected request.

    Who still sends a body would find the connection reset, and the answer lost, if it were closed on him: what comes
    is thrown away for a moment.
    """
    facts_of(scope).code = failure.problem.code
    response = failure.response()
    headers = safe_headers(response.raw_headers)
    sending = sends_a_body(scope) or failure.status == HTTPStatus.REQUEST_TIMEOUT
    if sending:
        headers.append((b"connection", b"close"))
    await send({"type": "http.response.start", "status": failure.status, "headers": headers})
    await send({"type": "http.response.body", "body": response.body, "more_body": sending})
    if sending:
        await _drain(scope, receive)
        await send({"type": "http.response.body", "body": b"", "more_body": False})


async def _drain(scope: Scope, receive: Receive) -> None:
    if any(name == b"expect" for name, _ in scope["headers"]):
        return  # the client waits for permission to send, which is not given
    came = 0
    try:
        async with asyncio.timeout(_LINGER):
            while came < _MOST:
                message: Message = await receive()
                if message["type"] != "http.request" or not message.get("more_body"):
                    return
                came += len(message.get("body", b""))
    except TimeoutError:
        return


def sends_a_body(scope: Scope) -> bool:
    """Whether a request has a body."""
    return any(
        name == b"transfer-encoding" or (name == b"content-length" and value.strip() != b"0")
        for name, value in scope["headers"]
    )
