"""Limits of keys across all servers that share a store, limits on requests, and limits on wrong keys by address."""

from __future__ import annotations

import asyncio
import math
import re
from collections.abc import Callable, Iterable, Mapping
from ipaddress import IPv6Address, IPv6Network, ip_address
from urllib.parse import unquote_to_bytes

from starlette.types import ASGIApp, Message, Receive, Scope, Send

from groundwire.deadline import Timeout
from groundwire.storage.base import Store, StoreError
from groundwire_server.auth.error_response import Headers, refuse, safe_headers, sends_a_body
from groundwire_server.auth.keys import KeyLimits
from groundwire_server.error_body import Failed, failed

_ONCE = frozenset(
    {
        b"access-control-request-method",
        b"authorization",
        b"content-encoding",
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
_CONTROL_BUT_TAB = re.compile(rb"[\x00-\x08\x0a-\x1f\x7f]")
_ENCODED_AGAIN = re.compile(rb"%(?:2e|2f|5c|00|25)", re.IGNORECASE)
_LENGTH = re.compile(rb"\d{1,18}")


def check_headers(pairs: Iterable[tuple[bytes, bytes]]) -> Mapping[str, str]:
    """Return the relevant headers, by their names in lower case.

    Raises:
        Failed: one is repeated, two contradict each other, or there are too many.
    """
    headers = list(pairs)
    if len(headers) > _MOST or sum(len(name) + len(value) for name, value in headers) > _LARGEST:
        raise failed(431, "too_many_headers", f"Send at most {_MOST} headers, {_LARGEST:,} bytes in all.")
    single: dict[str, str] = {}
    for name, value in headers:
        if (lower := name.lower()) in _ONCE:
            if (text := lower.decode()) in single:
                raise failed(400, "conflicting_headers", f"Send the header {text} once.")
            single[text] = value.decode("latin-1")
    if "content-length" in single and "transfer-encoding" in single:
        raise failed(400, "conflicting_headers", "Send Content-Length or Transfer-Encoding, not both.")
    if any(_CONTROL_BUT_TAB.search(value) for _, value in headers):
        raise failed(400, "bad_header", "A header has a control character.")
    return single


def check_encoding(scope: Scope, headers: Mapping[str, str]) -> None:
    """Check that a body is not compressed (RFC 9110, 8.4 and 15.5.16).

    Raises:
        Failed: it is.
    """
    if sends_a_body(scope) and headers.get("content-encoding", "").strip().lower() not in {"", "identity"}:
        text = "Send the body uncompressed, without the header Content-Encoding."
        raise failed(415, "encoded_body", text, headers={"accept-encoding": "identity"})


def declared_length(headers: Mapping[str, str]) -> int | None:
    """Return the declared length of a body in bytes; None if undeclared.

    Raises:
        Failed: it is not a number.
    """
    length = headers.get("content-length")
    if length is None:
        return None
    if not _LENGTH.fullmatch(length.encode("latin-1")):
        raise failed(400, "bad_header", "Content-Length is not a number.")
    return int(length)


def check_path(scope: Scope) -> None:
    """Check that every decoder interprets a path identically, however often it is decoded.

    Raises:
        Failed: it is not an absolute path, has empty or dotted parts, backslashes, control characters, or is encoded
            twice.
    """
    raw = bytes(scope.get("raw_path") or str(scope["path"]).encode("utf-8", "surrogatepass"))
    if len(raw) + len(scope.get("query_string", b"")) > _LONGEST:
        raise failed(414, "path_too_long", f"Send at most {_LONGEST:,} bytes of URL.")
    path = unquote_to_bytes(raw)
    parts = path.split(b"/")
    wrong = (
        not raw.startswith(b"/")
        or b"" in parts[1:-1]
        or any(part in {b".", b".."} for part in parts)
        or b"\\" in path
        or _CONTROL.search(path)
        or _ENCODED_AGAIN.search(path)
    )
    if not wrong:
        try:
            path.decode()
        except UnicodeDecodeError:
            wrong = True
    if wrong:
        is_page = b":/" in path  # as Jina takes addresses
        hint = ' To read a page, send {"url": "..."} to /v1/pages.' if is_page else ""
        raise failed(400, "bad_path", f"The path is not normalized: remove //, dots and double encoding.{hint}")


class LimitedRequest:
    """Passes a request to an application, and its response back.

    Args:
        receive: The server's.
        send: The server's.
        limit: Maximum bytes of the body.
        seconds: Timeout for the whole body.
        allowed: Says, while an answer streams, whether its client may still have it.
    """

    def __init__(
        self,
        receive: Receive,
        send: Send,
        *,
        limit: int,
        seconds: float,
        allowed: Callable[[], bool],
    ) -> None:
        self._receive = receive
        self._send = send
        self._limit = limit
        self._seconds_left = seconds
        self._allowed = allowed
        self._came = 0
        self._is_complete = False
        self._began = False
        self._refusal: Failed | None = None

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
        if self._is_complete:
            return await self._receive()
        loop = asyncio.get_running_loop()
        began = loop.time()
        try:
            with Timeout(self._seconds_left):
                message = await self._receive()
        except TimeoutError:
            self._refusal = failed(408, "body_too_slow", "Timeout while receiving the body. Send it faster.")
            return {"type": "http.disconnect"}
        self._seconds_left -= loop.time() - began
        if message["type"] == "http.request":
            self._came += len(message.get("body", b""))
            self._is_complete = not message.get("more_body", False)
            if self._came > self._limit:
                self._refusal = too_large(self._limit)
                return {"type": "http.disconnect"}
        return message

    async def _from_app(self, message: Message) -> None:
        if self._refusal is not None and not self._began:
            return
        if message["type"] == "http.response.start":
            self._began = True
            headers: Headers = [(bytes(name), bytes(value)) for name, value in message.get("headers", ())]
            message = {**message, "headers": safe_headers(headers)}
        elif message.get("more_body") and not self._allowed():
            raise _Cut
        await self._send(message)


class _Cut(Exception):
    """The rest of the response must not be sent."""


def too_large(limit: int) -> Failed:
    """Return the rejection of a body that is too large."""
    return failed(413, "body_too_large", f"Send a body of at most {limit:,} bytes.")


def client_network(address: str) -> str:
    """Return what identifies a client without a key: its IPv4 address, or its /64, in which it has all addresses.

    Args:
        address: The client's address; what is no IP address is returned as it is.
    """
    try:
        parsed = ip_address(address.partition("%")[0])
    except ValueError:
        return address
    if not isinstance(parsed, IPv6Address):
        return str(parsed)
    return str(parsed.ipv4_mapped or IPv6Network((parsed, 64), strict=False))


class Failures:
    """Counts wrong keys by the client's network, across all servers that share a store.

    A key is checked before anything is counted, so that wrong keys never lock out a right one. 256 bits cannot be
    guessed: this tells a client that keeps sending a wrong key to stop.

    Args:
        store: Where they are counted.
        burst: Wrong keys that a network may send at once.
        interval: Seconds after which it may send one more.
    """

    def __init__(self, store: Store, *, burst: int = 10, interval: float = 6.0) -> None:
        self._store = store
        self._burst = burst
        self._interval = interval

    async def count(self, address: str) -> float:
        """Count a wrong key; return 0, or the seconds until the next one is allowed."""
        name = f"wrong-keys:{client_network(address)}"
        try:
            pace = await self._store.pace(name, interval=self._interval, burst=self._burst, max_wait=0.0)
        except StoreError:
            return 0.0
        return 0.0 if pace.granted else max(1.0, pace.wait)


_MINUTE = 60.0
_ROUNDING = 0.001  # seconds; of a rate whose interval is no round number, the last of a burst would come too early


class Rates:
    """Enforces the rate limits of keys.

    Args:
        store: Where the paces are.
        rate: Requests per minute of a key without its own rate; 0 means no limit.
        burst: Its burst; 0 is a sixth of the rate.
    """

    def __init__(self, store: Store, rate: int, burst: int) -> None:
        self._store = store
        self._rate = rate
        self._burst = burst

    async def take(self, key_id: str, limits: KeyLimits, share: int = 1) -> None:
        """Count one request.

        Args:
            key_id: The key.
            limits: Its limits.
            share: How many requests of this kind are as one; more than one are counted apart.

        Raises:
            Failed: the rate limit was exceeded.
        """
        rate = limits.rate or self._rate
        if not rate:
            return
        burst = ((limits.burst if limits.rate else self._burst) or math.ceil(rate / 6)) * share
        rate *= share
        interval, name = _MINUTE / rate, f"key:{key_id}:rate" + (f":{share}" if share > 1 else "")
        pace = await self._store.pace(name, interval=interval, burst=burst, max_wait=_ROUNDING)
        if not pace.granted:
            text = f"This key may send {rate:,} requests a minute, in bursts of {burst:,}. Retry later."
            raise failed(429, "rate_limited", text, retry_after=pace.wait)
