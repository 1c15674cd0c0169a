"""Responses to rejected requests."""

from __future__ import annotations

import asyncio
import json
import math
from collections.abc import Iterable, Mapping
from http import HTTPStatus
from types import MappingProxyType

from groundwire_server.auth.access_log import facts_of
from groundwire_server.client_disconnect import Message, Receive, Scope, Send

__all__ = ["Headers", "Refusal", "raw_response", "refuse", "safe_headers", "sends_a_body"]

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


class Refusal(Exception):
    """A rejected request. The message never repeats what the client sent.

    Args:
        status: The HTTP status.
        code: The reason as a word for programs.
        text: The reason, and what to do, for people.
        retry_after: Seconds after which it may be let in.
        headers: More headers of the answer.
    """

    def __init__(
        self,
        status: int,
        code: str,
        text: str,
        *,
        retry_after: float | None = None,
        headers: Mapping[str, str] | None = None,
    ) -> None:
        super().__init__(text)
        self.status = status
        self.code = code
        self.text = text
        self.retry_after: int | None = None if retry_after is None else max(1, math.ceil(retry_after))
        self.headers: dict[str, str] = dict(headers or {})

    def body(self) -> bytes:
        """Return the body: JSON, in the form of every failure of the gateway; OpenAI's clients read it as well."""
        problem: dict[str, object] = {
            "code": self.code,
            "message": self.text,
            "field": None,
            "retry_after": self.retry_after,
            "attempts": [],
        }
        return json.dumps({"error": problem}).encode()


def safe_headers(pairs: Iterable[tuple[bytes, bytes]]) -> Headers:
    """Return a response's headers with secure defaults, closed to other origins."""
    headers = [(name, value) for name, value in pairs if not name.lower().startswith(_CLOSED)]
    there = {name.lower() for name, _ in headers}
    return headers + [(name, value) for name, value in _SAFE.items() if name not in there]


def raw_response(refusal: Refusal, *, closes: bool) -> bytes:
    """Return the bytes of the response to a rejected request, for where there is no application to send them.

    Args:
        refusal: Why it is rejected.
        closes: Whether the connection ends with it.
    """
    status, head = HTTPStatus(refusal.status), [*_headers(refusal), *safe_headers(())]
    head += [(b"connection", b"close")] if closes else []
    lines = [f"HTTP/1.1 {status.value} {status.phrase}".encode(), *(b"%s: %s" % pair for pair in head)]
    return b"\r\n".join([*lines, b"", refusal.body()])


def _headers(refusal: Refusal) -> Headers:
    size = str(len(refusal.body())).encode()
    headers = [(b"content-type", b"application/json"), (b"content-length", size)]
    if refusal.retry_after is not None:
        headers.append((b"retry-after", str(refusal.retry_after).encode()))
    return headers + [(name.encode("latin-1"), value.encode("latin-1")) for name, value in refusal.headers.items()]


async def refuse(refusal: Refusal, scope: Scope, receive: Receive, send: Send) -> None:
    """Respond to a rejected request.

    Who still sends a body would find the connection reset, and the answer lost, if it were closed on him: what comes
    is thrown away for a moment.
    """
    facts_of(scope).code = refusal.code
    body, headers = refusal.body(), _headers(refusal)
    sending = sends_a_body(scope) or refusal.status == HTTPStatus.REQUEST_TIMEOUT
    if sending:
        headers.append((b"connection", b"close"))
    await send({"type": "http.response.start", "status": refusal.status, "headers": safe_headers(headers)})
    await send({"type": "http.response.body", "body": body, "more_body": sending})
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
