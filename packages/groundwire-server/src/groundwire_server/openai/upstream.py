"""HTTP client of the model server. The operator configures its URL, so the guard does not check it."""

from __future__ import annotations

import asyncio
import json
import re
from collections.abc import AsyncIterator, Iterable, Iterator, Mapping
from contextlib import asynccontextmanager
from dataclasses import dataclass
from types import MappingProxyType
from typing import Any
from urllib.parse import urlsplit

import aiohttp
from multidict import CIMultiDict

from groundwire.errors import InvalidRequest
from groundwire.hosted.answers.event_streams import EventDecoder, ServerSentEvent, TooLarge
from groundwire.hosted.answers.types import parsed
from groundwire_server.error_body import Failed, failed
from groundwire_server.request_json import UpstreamRejected

_CONNECTION_HEADERS = frozenset(
    # RFC 9110, section 7.6.1, and what each connection sets for itself.
    {
        "accept-encoding",
        "connection",
        "content-encoding",
        "content-length",
        "expect",
        "host",
        "keep-alive",
        "proxy-authenticate",
        "proxy-authorization",
        "proxy-connection",
        "te",
        "trailer",
        "transfer-encoding",
        "upgrade",
    }
)
_LOCAL_HEADERS = frozenset({"origin", "referer", "cookie", "set-cookie", "server", "date", "content-type"})
_BELOW_ROOT = re.compile(r"(/v1beta)?(/openai)?(/v1)?\Z")  # where OpenAI's API is below the root of a server
_MAX_ANSWER_BYTES = 64_000_000  # bytes of a whole answer
_CONNECT_SECONDS = 10.0  # seconds; a server that runs on the same machine or nearby
_MAX_CONNECTIONS = 512  # connections
# Seconds that an idle connection is kept: model servers close theirs after 2 to 5, load balancers with TLS after 60.
_KEEPALIVE_SECONDS = MappingProxyType({"http": 1.0, "https": 15.0})


@dataclass(frozen=True, slots=True)
class UpstreamAnswer:
    """A complete response of a model server."""

    value: dict[str, Any]
    """Its JSON object."""
    data: bytes
    """The raw body."""
    headers: Mapping[str, str]
    """The headers for the client."""


class Upstream:
    """Client of a model server; connects on first use, and belongs to one event loop.

    Args:
        base_url: Where its OpenAI-compatible API begins, such as `http://127.0.0.1:11434/v1`.
        read_timeout: Seconds of silence after which an answer is given up.

    Raises:
        InvalidRequest: the URL is invalid.
    """

    def __init__(self, base_url: str, *, read_timeout: float = 600.0) -> None:
        parts = urlsplit(base_url.strip())
        if parts.scheme not in ("http", "https") or not parts.hostname or parts.query or parts.fragment:
            raise InvalidRequest(
                "upstream", f"{base_url[:80]!r} is not an API's base URL", "Pass one like http://127.0.0.1:11434/v1."
            )
        self.base_url: str = base_url.strip().rstrip("/")
        self.root: str = _BELOW_ROOT.sub("", self.base_url)
        self.display_url: str = f"{parts.scheme}://{parts.netloc.rpartition('@')[2]}{parts.path.rstrip('/')}"
        self._read_timeout = read_timeout
        self._session: aiohttp.ClientSession | None = None

    @asynccontextmanager
    async def ask(
        self, method: str, path: str, headers: Mapping[str, str], data: bytes | None = None
    ) -> AsyncIterator[aiohttp.ClientResponse]:
        """Send a request and yield the response before its body is read.

        Args:
            method: The method.
            path: The path with the query, below the base URL; one that starts with a slash is below the server's root.
            headers: The headers.
            data: The body.

        Raises:
            Failed: the connection failed or timed out; with status 502 or 504.
        """
        url = self.root + path if path.startswith("/") else f"{self.base_url}/{path}"
        try:
            request = self._connected().request(
                method, url, data=data, headers=CIMultiDict(headers), allow_redirects=False
            )
            async with request as response:
                if response.status < 200:
                    raise self._failed(502, "changed to another protocol", "upstream_broken")
                yield response
        except TimeoutError as error:
            raise self._failed(504, "did not answer in time", "upstream_timeout") from error
        except aiohttp.ClientConnectorError as error:
            raise self._failed(502, "cannot be reached", "upstream_unreachable") from error
        except (aiohttp.ClientError, ConnectionError) as error:
            raise self._failed(502, "ended its response early", "upstream_broken") from error

    async def answer(self, response: aiohttp.ClientResponse) -> UpstreamAnswer:
        """Read the JSON object in a response.

        Raises:
            UpstreamRejected: the response is an error.
            Failed: it is not an answer.
        """
        data = await self.read_body(response)
        value = parsed(data)
        if not isinstance(value, dict):
            raise self._failed(502, "did not answer with a JSON object", "upstream_broken")
        return UpstreamAnswer(value, data, returned_headers(response.headers))

    async def read_body(self, response: aiohttp.ClientResponse) -> bytes:
        """Read the whole body of a successful response.

        Raises:
            UpstreamRejected: it is an error.
            Failed: it is too large.
        """
        data = bytearray()
        async for piece in response.content.iter_any():
            data += piece
            if len(data) > _MAX_ANSWER_BYTES:
                raise self._failed(502, f"answered with more than {_MAX_ANSWER_BYTES:,} bytes", "upstream_broken")
        if not 200 <= response.status < 300:
            status = response.status if response.status >= 400 else 502
            raise UpstreamRejected(status, bytes(data), returned_headers(response.headers))
        return bytes(data)

    async def aclose(self) -> None:
        """Close all connections."""
        if self._session is not None:
            await self._session.close()
            await asyncio.sleep(0)

    def _connected(self) -> aiohttp.ClientSession:
        """Return the client. It uses connections again only long before servers close them.

        A server may close an idle one in the moment in which it is used again, and a request to a model must not be
        sent twice.
        """
        if self._session is None:
            keep = _KEEPALIVE_SECONDS[self.base_url.partition(":")[0].lower()]
            self._session = aiohttp.ClientSession(
                connector=aiohttp.TCPConnector(limit=_MAX_CONNECTIONS, keepalive_timeout=keep),
                timeout=aiohttp.ClientTimeout(total=None, sock_connect=_CONNECT_SECONDS, sock_read=self._read_timeout),
                trust_env=False,
            )
        return self._session

    def _failed(self, status: int, what: str, code: str) -> Failed:
        return failed(status, code, f"The model server at {self.display_url} {what}.")


def broken(what: str) -> Failed:
    """Return the failure for an unusable response of a model server.

    Args:
        what: What it did, such as `sent an event that is not JSON`.
    """
    return failed(502, "upstream_broken", f"The model server {what}.")


async def parse_events(
    response: aiohttp.ClientResponse,
) -> AsyncIterator[tuple[ServerSentEvent, dict[str, Any] | None]]:
    """Yield the events of a stream with their JSON objects; `[DONE]`, the end of an OpenAI stream, has None.

    Raises:
        Failed: an event is too large, or not JSON.
    """
    decoder = EventDecoder()
    try:
        async for piece in response.content.iter_any():
            for event in _with_values(decoder.feed(piece)):
                yield event
        for event in _with_values(decoder.close()):
            yield event
    except TooLarge as error:
        raise broken(f"sent a stream of which {error}") from error


def _with_values(events: Iterable[ServerSentEvent]) -> Iterator[tuple[ServerSentEvent, dict[str, Any] | None]]:
    for event in events:
        if event.data.strip() == "[DONE]":
            yield event, None
            continue
        try:
            value = json.loads(event.data)
        except (ValueError, RecursionError):
            raise broken("sent an event that is not JSON") from None
        if isinstance(value, dict):
            yield event, value


def forwarded_headers(headers: Mapping[str, str]) -> dict[str, str]:
    """Return the client's headers that are forwarded to the model server, including its key."""
    forwarded = {name: value for name, value in headers.items() if not _is_local_header(name)}
    return {**forwarded, "Content-Type": "application/json"}


def returned_headers(headers: Mapping[str, str]) -> dict[str, str]:
    """Return the model server's headers that are sent to the client, including rate limits and Retry-After."""
    returned = {name: value for name, value in headers.items() if not _is_local_header(name)}
    return {**returned, "Content-Type": headers.get("Content-Type", "application/json")}


def _is_local_header(name: str) -> bool:
    """Whether a header is for this connection or for the proxy alone."""
    small = name.lower()
    return small in _CONNECTION_HEADERS or small in _LOCAL_HEADERS or small.startswith("x-groundwire-")
