"""One request on its way through: its body bounded while it comes, its answer closed to others."""

from __future__ import annotations

import asyncio
from collections.abc import Callable, Mapping

from groundwire.server.access.refusal import Headers, Refusal, refuse, safe_headers
from groundwire.server.mcp.presence import ASGIApp, Message, Receive, Scope, Send

__all__ = ["Exchange", "too_large"]


class Exchange:
    """Passes a request to an application, and its answer back.

    Args:
        receive: The server's.
        send: The server's.
        limit: The most bytes of the body.
        seconds: The most that the application waits for the body, all in all.
        headers: More headers of the answer.
        allowed: Says, while an answer streams, whether its client may still have it.
    """

    def __init__(
        self,
        receive: Receive,
        send: Send,
        *,
        limit: int,
        seconds: float,
        headers: Mapping[str, str],
        allowed: Callable[[], bool],
    ) -> None:
        self._receive = receive
        self._send = send
        self._limit = limit
        self._left = seconds
        self._headers: Headers = [(name.encode(), value.encode("latin-1")) for name, value in headers.items()]
        self._allowed = allowed
        self._came = 0
        self._whole = False
        self._began = False
        self._refusal: Refusal | None = None

    async def run(self, app: ASGIApp, scope: Scope) -> None:
        """Let the application answer.

        If the body is too large or too slow, the application is told that the client has gone, the client why; what
        the application says then is not passed on.
        """
        try:
            await app(scope, self._to_app, self._from_app)
        except _Cut:
            return  # the server closes the connection of an answer that has no end
        except Exception:
            if self._refusal is None or self._began:
                raise
        if self._refusal is not None and not self._began:
            await refuse(self._refusal, scope, self._receive, self._send)

    async def _to_app(self) -> Message:
        if self._refusal is not None:
            return {"type": "http.disconnect"}
        if self._whole:
            return await self._receive()
        loop = asyncio.get_running_loop()
        began = loop.time()
        try:
            async with asyncio.timeout(self._left):
                message = await self._receive()
        except TimeoutError:
            self._refusal = Refusal(408, "body_too_slow", "The body did not come in time. Send it faster.")
            return {"type": "http.disconnect"}
        self._left -= loop.time() - began
        if message["type"] == "http.request":
            self._came += len(message.get("body", b""))
            self._whole = not message.get("more_body", False)
            if self._came > self._limit:
                self._refusal = too_large(self._limit)
                return {"type": "http.disconnect"}
        return message

    async def _from_app(self, message: Message) -> None:
        if self._refusal is not None and not self._began:
            return
        if message["type"] == "http.response.start":
            self._began = True
            given: Headers = [(bytes(name), bytes(value)) for name, value in message.get("headers", ())]
            message = {**message, "headers": safe_headers(given) + self._headers}
        elif message.get("more_body") and not self._allowed():
            raise _Cut
        await self._send(message)


class _Cut(Exception):
    """The client may not have the rest."""


def too_large(limit: int) -> Refusal:
    """Return the refusal of a body that is too large."""
    return Refusal(413, "body_too_large", f"Send a body of at most {limit:,} bytes.")
