"""Limits of one request: a well-formed head, a bounded body, a response closed to other origins.

Two readers of one request that understand it differently (a proxy in front, the server, the application) are how
requests are smuggled past a check (RFC 9112, 11.2); so what can be read in two ways is refused.
"""

from __future__ import annotations

import asyncio
import re
from collections import Counter
from collections.abc import Callable, Iterable, Mapping
from urllib.parse import unquote_to_bytes

from groundwire.server.auth.error_response import Headers, Refusal, refuse, safe_headers
from groundwire.server.client_disconnect import ASGIApp, Message, Receive, Scope, Send

__all__ = ["LimitedRequest", "check_headers", "check_path", "declared_length", "too_large"]

_ONCE = frozenset(
    {
        b"access-control-request-method",
        b"authorization",
        b"content-length",
        b"content-type",
        b"expect",
        b"host",
        b"origin",
        b"sec-fetch-dest",
        b"sec-fetch-mode",
        b"sec-fetch-site",
        b"transfer-encoding",
        b"x-api-key",
    }
)
"""Headers that are invalid when repeated."""

_MOST = 100  # headers
_LARGEST = 32_768  # bytes of all headers; a server that reads faster than it counts may let more through
_LONGEST = 8_192  # bytes of a path with its query
_CONTROL = re.compile(rb"[\x00-\x1f\x7f]")
_ENCODED_AGAIN = re.compile(rb"%(?:2e|2f|5c|00|25)", re.IGNORECASE)
_LENGTH = re.compile(rb"\d{1,18}")


def check_headers(given: Iterable[tuple[bytes, bytes]]) -> Mapping[str, str]:
    """Return the relevant headers, by their names in lower case.

    Raises:
        Refusal: one is repeated, two contradict each other, or there are too many.
    """
    headers = list(given)
    if len(headers) > _MOST or sum(len(name) + len(value) for name, value in headers) > _LARGEST:
        raise Refusal(431, "too_many_headers", f"Send at most {_MOST} headers, {_LARGEST:,} bytes in all.")
    names = Counter(name.lower() for name, _ in headers)
    for name in _ONCE:
        if names[name] > 1:
            raise Refusal(400, "conflicting_headers", f"Send the header {name.decode()} once.")
    if names[b"content-length"] and names[b"transfer-encoding"]:
        raise Refusal(400, "conflicting_headers", "Send Content-Length or Transfer-Encoding, not both.")
    if any(_CONTROL.search(value.replace(b"\t", b" ")) for _, value in headers):
        raise Refusal(400, "bad_header", "A header has a control character.")
    return {name.lower().decode("latin-1"): value.decode("latin-1") for name, value in headers if name.lower() in _ONCE}


def declared_length(headers: Mapping[str, str]) -> int | None:
    """Return the declared length of a body in bytes; None if undeclared.

    Raises:
        Refusal: it is not a number.
    """
    given = headers.get("content-length")
    if given is None:
        return None
    if not _LENGTH.fullmatch(given.encode("latin-1")):
        raise Refusal(400, "bad_header", "Content-Length is not a number.")
    return int(given)


def check_path(scope: Scope) -> None:
    """Check that every decoder interprets a path identically, however often it is decoded.

    Raises:
        Refusal: it is not an absolute path, has empty or dotted parts, backslashes, control characters, or is encoded
            twice.
    """
    raw = bytes(scope.get("raw_path") or str(scope["path"]).encode("utf-8", "surrogatepass"))
    if len(raw) + len(scope.get("query_string", b"")) > _LONGEST:
        raise Refusal(414, "path_too_long", f"Send at most {_LONGEST:,} bytes of URL.")
    path = unquote_to_bytes(raw)
    parts = path.split(b"/")
    wrong = (
        not raw.startswith(b"/")
        or b"" in parts[1:-1]
        or any(part in {b".", b".."} for part in parts)
        or b"\\" in path
        or _CONTROL.search(path)
        or _ENCODED_AGAIN.search(path)
        or path.startswith(b"//")
    )
    if not wrong:
        try:
            path.decode()
        except UnicodeDecodeError:
            wrong = True
    if wrong:
        raise Refusal(400, "bad_path", "The path is not normalized: remove //, dots and double encoding.")


class LimitedRequest:
    """Passes a request to an application, and its response back.

    Args:
        receive: The server's.
        send: The server's.
        limit: Maximum bytes of the body.
        seconds: Timeout for the whole body.
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
        """Run the application.

        If the body is too large or too slow, the client gets the error and the application sees a disconnect; what
        it sends after that is dropped.
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
            self._refusal = Refusal(408, "body_too_slow", "Timeout while receiving the body. Send it faster.")
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
    """The rest of the response must not be sent."""


def too_large(limit: int) -> Refusal:
    """Return the rejection of a body that is too large."""
    return Refusal(413, "body_too_large", f"Send a body of at most {limit:,} bytes.")
