"""One HTTP exchange as values: the recorded request, the response to send, and the connection between them."""

from __future__ import annotations

import asyncio
import json
import socket
import struct
from collections.abc import Callable, Iterable, Mapping
from dataclasses import dataclass, field, replace
from http.client import responses
from typing import TYPE_CHECKING, NoReturn
from urllib.parse import parse_qsl

from aiohttp import web
from multidict import CIMultiDictProxy

if TYPE_CHECKING:
    from groundwire.testing.fault_injection import InjectedFault

__all__ = ["EmulatedResponse", "Recorded", "Wire"]

_FORM = "application/x-www-form-urlencoded"


@dataclass(frozen=True, slots=True, kw_only=True)
class Recorded:
    """A received request."""

    method: str
    """`GET`, `POST` and so on, in capitals."""
    path: str
    """The path, percent-decoded, without the query."""
    target: str
    """Path and query, as received."""
    query: Mapping[str, str]
    """The parameters of the URL; the last value of each."""
    headers: CIMultiDictProxy[str]
    """The headers; names in any case."""
    body: bytes
    """The body, empty if there was none."""
    at: float
    """When it was received, in seconds of `time.monotonic`."""

    @property
    def params(self) -> dict[str, str]:
        """The parameters of the URL, overlaid with those of a form in the body."""
        if not self.headers.get("Content-Type", "").startswith(_FORM):
            return dict(self.query)
        return {**self.query, **dict(parse_qsl(self.body.decode("utf-8", "replace"), keep_blank_values=True))}

    @property
    def base_url(self) -> str:
        """The origin that the client named, such as `http://docs.test:41233`."""
        return f"http://{self.headers.get('Host', '127.0.0.1')}"

    def json(self) -> object:
        """Parse the body as JSON.

        Raises:
            ValueError: It is not JSON.
        """
        value: object = json.loads(self.body)
        return value


@dataclass(frozen=True, slots=True, kw_only=True)
class EmulatedResponse:
    """A response, before any fault is applied."""

    status: int = 200
    """The HTTP status."""
    body: bytes = b""
    """The body; ignored when there are `chunks`."""
    content_type: str | None = "text/html; charset=utf-8"
    """The whole Content-Type header; None leaves it out."""
    headers: Mapping[str, str] = field(default_factory=dict)
    """Further headers."""
    chunks: Callable[[], Iterable[bytes]] | None = None
    """For a body generated while it is sent: returns the parts, possibly endless."""
    fault: InjectedFault | None = None
    """A fault that belongs to the page, such as one that always trickles."""

    @classmethod
    def html(cls, text: str, *, status: int = 200) -> EmulatedResponse:
        """Return an HTML page in UTF-8."""
        return cls(status=status, body=text.encode())

    @classmethod
    def json(cls, value: object, *, status: int = 200) -> EmulatedResponse:
        """Return `value` as a JSON document."""
        return cls(status=status, body=json.dumps(value).encode(), content_type="application/json")

    @classmethod
    def text(cls, text: str, *, status: int = 200) -> EmulatedResponse:
        """Return plain text in UTF-8."""
        return cls(status=status, body=text.encode(), content_type="text/plain; charset=utf-8")

    @classmethod
    def redirect(cls, location: str, *, status: int = 302) -> EmulatedResponse:
        """Return a redirect to `location`, which is sent verbatim."""
        return cls(status=status, body=b"", content_type=None, headers={"Location": location})

    @property
    def all_headers(self) -> dict[str, str]:
        """The headers with the Content-Type among them."""
        typed = {} if self.content_type is None else {"Content-Type": self.content_type}
        return {"Server": "miniature", **typed, **self.headers}

    def head(self, **headers: str) -> bytes:
        """Return status line and headers as bytes, for faults that write by themselves.

        Args:
            headers: Further headers; an underscore in a name stands for a hyphen.
        """
        named = {name.replace("_", "-"): value for name, value in headers.items()}
        lines = [f"HTTP/1.1 {self.status} {responses.get(self.status, 'Unknown')}"]
        lines += [f"{name}: {value}" for name, value in {**self.all_headers, **named}.items()]
        return "\r\n".join([*lines, "", ""]).encode("latin-1", "replace")


class Wire:
    """The server's side of an exchange: sends a response properly, or misbehaves.

    Args:
        request: The exchange; its body has been read.
    """

    def __init__(self, request: web.BaseRequest) -> None:
        self._request = request

    async def send(self, reply: EmulatedResponse) -> web.StreamResponse:
        """Send `reply` as HTTP requires, after applying its own fault."""
        if reply.fault is not None:
            return await reply.fault.play(self, replace(reply, fault=None))
        if reply.chunks is None and reply.body and reply.content_type is None:  # aiohttp would add a type of its own
            body = b"" if self._request.method == "HEAD" else reply.body
            await self.raw(reply.head(Content_Length=str(len(reply.body)), Connection="close") + body)
            await self.close()
        if reply.chunks is None:
            whole = web.Response(status=reply.status, headers=reply.all_headers, body=reply.body)
            await whole.prepare(self._request)
            await whole.write_eof()
            return whole
        response = web.StreamResponse(status=reply.status, headers=reply.all_headers)
        await response.prepare(self._request)
        if self._request.method != "HEAD":
            for chunk in reply.chunks():
                await response.write(chunk)
                await asyncio.sleep(0)  # a client that reads fast must not keep the other sites waiting
        await response.write_eof()
        return response

    async def raw(self, data: bytes) -> None:
        """Write bytes below the HTTP layer and wait until the client has read most of them."""
        await self._request.writer.write(data)
        await self._request.writer.drain()

    async def close(self) -> NoReturn:
        """Close the connection after everything written was read."""
        if (transport := self._request.transport) is not None:
            transport.close()
        await self.gone()

    async def reset(self) -> NoReturn:
        """Reset the TCP connection."""
        if (transport := self._request.transport) is not None:
            peer = transport.get_extra_info("socket")
            peer.setsockopt(socket.SOL_SOCKET, socket.SO_LINGER, struct.pack("ii", 1, 0))
            transport.abort()
        await self.gone()

    async def gone(self) -> NoReturn:
        """Wait until the client or the world closes the connection, which cancels the caller."""
        while True:
            await asyncio.Event().wait()
