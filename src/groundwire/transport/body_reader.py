"""The body of an answer: streamed, one layer of coding, bounded on the wire and decoded."""

from __future__ import annotations

from dataclasses import replace
from typing import TYPE_CHECKING, NoReturn

from groundwire.transport.connector import Connections
from groundwire.transport.decompression import BodyDecoder, UndecodableBody
from groundwire.transport.errors import ExchangeFailed
from groundwire.transport.limited_socket import HEAD_ALLOWANCE, MeteredSocket
from groundwire.transport.request_response import Head, Inspect, Response

if TYPE_CHECKING:
    import aiohttp

__all__ = ["SNIFF", "read_body", "refuse_more_than", "show"]

SNIFF = 1_024
"""Bytes that are shown before the rest is read; the signatures of media types lie in the first few hundred (WHATWG MIME
Sniffing: 1,445)."""
_FAILURES = 400  # statuses from here on say that there is no answer (RFC 9110, section 15)


async def read_body(
    connections: Connections,
    response: aiohttp.ClientResponse,
    cap: int,
    inspect: Inspect | None,
    body: bytearray,
    *,
    cut: bool,
) -> Response:
    """Read one body; unless it ends, its connection is closed.

    Args:
        connections: Where the answer comes from.
        response: The answer, its head read.
        cap: The most bytes, on the wire and decoded.
        inspect: Called with the beginning.
        body: Where the decoded bytes are put, so that a partial body is available when the rest does not come.
        cut: Whether a larger body is cut there instead of refused.

    Raises:
        ExchangeFailed: it is too large, cannot be decoded, or broke off. Closed.
    """
    head = Head(str(response.url), response.status, response.headers)
    announced = 0 if cut else response.content_length or 0
    decoder: BodyDecoder | None = None
    wire, start = 0, b""
    meter = connections.begin(response)
    if meter is not None:
        meter.allow(cap + _framing(cap))
    try:
        while chunk := await _chunk(connections, response, cap, meter):
            # Made with the first bytes: an answer without a body may name any coding (RFC 9110, 8.4).
            decoder = decoder or BodyDecoder(",".join(response.headers.getall("Content-Encoding", [])))
            wire += len(chunk)
            for piece in decoder.feed(chunk):
                body += piece
                if not start and (len(body) >= SNIFF or announced > cap):
                    start, cap = show(inspect, head, body, cap)
                    if meter is not None:
                        meter.allow(cap + _framing(cap))
                    refuse_more_than(cap, announced)
                if cut and len(body) > cap:
                    response.close()
                    return Response(head.url, head.status, head.headers, start, bytes(body[:cap]))
                refuse_more_than(cap, len(body))
            refuse_more_than(cap, wire)
        if decoder:
            decoder.finish()
    except UndecodableBody as error:
        response.close()
        if head.status < _FAILURES:
            raise ExchangeFailed("coding", str(error)) from error
        # The status of a failure says enough without its body.
    except BaseException:
        response.close()
        raise
    finally:
        connections.end(response)
        if meter is not None:
            meter.allow(HEAD_ALLOWANCE)
    if not start:
        start, cap = show(inspect, head, body, cap)
        refuse_more_than(cap, len(body))
    return Response(head.url, head.status, head.headers, start, bytes(body))


async def _chunk(
    connections: Connections, response: aiohttp.ClientResponse, cap: int, meter: MeteredSocket | None
) -> bytes:
    """Return the next bytes of a body as they come from the wire, and none at its end."""
    import aiohttp

    try:
        return await response.content.readany()
    except (aiohttp.ClientError, OSError, ValueError) as error:
        if connections.closed:
            raise connections.gone() from error
        if meter is not None and meter.overrun:
            _refuse(cap)
        raise ExchangeFailed("network", "broke off in the middle of its answer") from error


def show(inspect: Inspect | None, head: Head, body: bytearray, cap: int) -> tuple[bytes, int]:
    """Show the head with the first bytes of the body, and return these and the cap that holds from here on."""
    start = bytes(body[:SNIFF])
    changed = inspect(replace(head, start=start)) if inspect is not None else None
    return start, cap if changed is None else changed


def refuse_more_than(cap: int, size: int) -> None:
    """Raise ExchangeFailed when a body has more bytes than it may."""
    if size > cap:
        _refuse(cap)


def _refuse(cap: int) -> NoReturn:
    raise ExchangeFailed("large", f"has more than {cap:,} bytes")


def _framing(cap: int) -> int:
    """Return how many bytes the chunks and TLS records of a body may take; of ordinary ones they are 1 to 2 %."""
    return cap // 40 + 32_768
