"""The body of a response: streamed, one layer of coding, bounded on the wire and decoded.

Two gigabytes of zeros gzip to two megabytes (RFC 1952), so the size on the wire says nothing: every step of the
decoder may put out a limited amount, and the reader stops at the cap.
"""

from __future__ import annotations

import zlib
from collections.abc import Callable, Iterator, Mapping
from typing import TYPE_CHECKING, NoReturn

from groundwire.transport.connector import HEAD_ALLOWANCE, Connections, Head, Inspect, MeteredSocket, Response
from groundwire.transport.errors import ExchangeFailed

if TYPE_CHECKING:
    import aiohttp

    from groundwire.transport.client import FetchSlot

SNIFF = 1_024
"""Bytes shown before the rest is read; media type signatures are in the first few hundred (WHATWG MIME Sniffing:
1,445)."""
_FAILURES = 400  # statuses from here on are failures (RFC 9110, section 15)


async def read_body(
    connections: Connections,
    response: aiohttp.ClientResponse,
    cap: int,
    inspect: Inspect | None,
    body: bytearray,
    *,
    cut: bool,
    on_data: Callable[[bytes], None] | None = None,
) -> Response:
    """Read a body; its connection is closed unless the body is complete.

    Args:
        connections: Where the answer comes from.
        response: The answer, its head read.
        cap: Maximum bytes, on the wire and decoded.
        inspect: Called with the beginning.
        body: Where the decoded bytes are put, so that a partial body is available when the rest does not come.
        cut: Whether a larger body is cut there instead of refused.
        on_data: Called with each decoded piece.

    Raises:
        ExchangeFailed: it is too large, cannot be decoded, or is incomplete. Closed.
    """
    url, status, headers = str(response.url), response.status, response.headers
    announced = 0 if cut else response.content_length or 0
    decoder: BodyDecoder | None = None
    wire, start, coded = 0, b"", "Content-Encoding" in headers
    meter = connections.begin(response)
    if meter is not None:
        meter.allow(cap + _framing(cap))
    try:
        while chunk := await _chunk(connections, response, cap, meter):
            # Created with the first bytes: a response without a body may declare any coding (RFC 9110, 8.4).
            if coded and decoder is None:
                decoder = BodyDecoder(",".join(headers.getall("Content-Encoding")))
            wire += len(chunk)
            for piece in (chunk,) if decoder is None else decoder.feed(chunk):
                body += piece
                if not start and (len(body) >= SNIFF or announced > cap):
                    start, cap = show(inspect, url, status, headers, body, cap)
                    if meter is not None:
                        meter.allow(cap + _framing(cap))
                    refuse_more_than(cap, announced)
                if cut and len(body) > cap:
                    response.close()
                    return Response(url, status, headers, start, bytes(body[:cap]))
                refuse_more_than(cap, len(body))
                if on_data is not None:
                    on_data(piece)
            refuse_more_than(cap, wire)
        if decoder:
            decoder.finish()
    except UndecodableBody as error:
        response.close()
        if status < _FAILURES:
            raise ExchangeFailed("coding", str(error)) from error
        # The status of a failure is sufficient without its body.
    except BaseException:
        response.close()
        raise
    finally:
        connections.end(response)
        if meter is not None:
            meter.allow(HEAD_ALLOWANCE)
    if not start:
        start, cap = show(inspect, url, status, headers, body, cap)
        refuse_more_than(cap, len(body))
    return Response(url, status, headers, start, bytes(body))


async def _chunk(
    connections: Connections, response: aiohttp.ClientResponse, cap: int, meter: MeteredSocket | None
) -> bytes:
    """Return the next bytes of a body from the wire; empty at its end."""
    import aiohttp

    try:
        return await response.content.readany()
    except (aiohttp.ClientError, OSError, ValueError) as error:
        if connections.closed:
            raise connections.closed_error() from error
        if meter is not None and meter.overrun:
            _refuse(cap)
        raise ExchangeFailed("network", "ended its response early") from error


def show(
    inspect: Inspect | None, url: str, status: int, headers: Mapping[str, str], body: bytearray, cap: int
) -> tuple[bytes, int]:
    """Show the head with the first bytes of the body, and return these and the new size limit."""
    start = bytes(body[:SNIFF])
    changed = inspect(Head(url, status, headers, start)) if inspect is not None else None
    return start, cap if changed is None else changed


def refuse_more_than(cap: int, size: int) -> None:
    """Raise ExchangeFailed if a body exceeds its limit."""
    if size > cap:
        _refuse(cap)


def _refuse(cap: int) -> NoReturn:
    raise ExchangeFailed("large", f"has more than {cap:,} bytes")


def _framing(cap: int) -> int:
    """Return the maximum overhead of chunk and TLS framing of a body; usually 1 to 2 %."""
    return cap // 40 + 32_768


def seen_by(visit: FetchSlot, inspect: Inspect | None) -> Inspect:
    """Return an `inspect` that also passes the response's head to the fetch policy."""

    def look(head: Head) -> int | None:
        visit.status, visit.headers = head.status, head.headers
        return inspect(head) if inspect is not None else None

    return look


_STEP = 65_536  # bytes put out at a time
_GZIP = 31  # zlib's wbits for a gzip header and the largest window
_ZLIB = 15
_RAW = -15
_MAGIC = b"\x1f\x8b"  # the first bytes of a gzip member
_MAX_MEMBERS = 1_000  # a member of 20 bytes decodes to nothing, so the cap on what comes out does not bound the work


class UndecodableBody(Exception):
    """The body does not match its Content-Encoding, or has an unrequested coding."""


class BodyDecoder:
    """Decodes the single layer of content coding that a body may have (RFC 9110, section 8.4).

    Args:
        content_encoding: The header's value; more than one layer is refused.

    Raises:
        UndecodableBody: the encoding is unknown or applied more than once.
    """

    def __init__(self, content_encoding: str) -> None:
        parts = content_encoding.lower().split(",") if content_encoding else ()
        codings = [word for part in parts if (word := part.strip()) not in {"", "identity"}]
        if len(codings) > 1:
            raise UndecodableBody("is compressed more than once")
        self._coding = codings[0].removeprefix("x-") if codings else ""
        if self._coding not in {"", "gzip", "deflate"}:
            raise UndecodableBody(f"is compressed as {self._coding[:40]!r}, which was not requested")
        self._inflate: zlib._Decompress | None = None  # None between members
        self._members = 0
        self._pending = b""  # too few bytes to recognize the format
        self._ended = False

    def feed(self, data: bytes) -> Iterator[bytes]:
        """Yield the decoded `data`, in chunks of at most 64 KiB if it was compressed.

        Raises:
            UndecodableBody: the data is not in that encoding.
        """
        if not self._coding:
            if data:
                yield data
            return
        data, self._pending = self._pending + data, b""
        while data and not self._ended:
            if self._inflate is None:
                if len(data) < len(_MAGIC):
                    self._pending = data
                    return
                self._inflate = self._begin(data)
            else:
                yield from self._decode(self._inflate, data)
                data = self._inflate.unused_data
                if self._inflate.eof:
                    self._inflate = None

    def finish(self) -> None:
        """Check that the compressed data is complete.

        Raises:
            UndecodableBody: it was cut off.
        """
        if self._inflate is not None or (self._pending and not self._members):
            raise UndecodableBody("ends in the middle of its compressed data")

    def _begin(self, data: bytes) -> zlib._Decompress | None:
        """Return the decoder for the member that begins here, or None if the data is to be ignored."""
        if self._members and not (self._coding == "gzip" and data.startswith(_MAGIC)):
            self._ended = True
            return None
        self._members += 1
        if self._members > _MAX_MEMBERS:
            raise UndecodableBody(f"consists of more than {_MAX_MEMBERS:,} compressed parts")
        if self._coding == "gzip":
            return zlib.decompressobj(_GZIP)
        return zlib.decompressobj(_ZLIB if _has_zlib_header(data) else _RAW)

    def _decode(self, inflate: zlib._Decompress, data: bytes) -> Iterator[bytes]:
        """Yield a member's decoded `data`; trailing data stays in `inflate.unused_data`."""
        try:
            while True:
                piece = inflate.decompress(data, _STEP)
                if piece:
                    yield piece
                data = inflate.unconsumed_tail
                # A full step may have left output although all input is consumed.
                if inflate.eof or not (data or len(piece) == _STEP):
                    return
        except zlib.error as error:
            raise UndecodableBody(f"is not valid {self._coding} data, although its header says so") from error


def _has_zlib_header(data: bytes) -> bool:
    """Return whether data has the header of RFC 1950 and not the raw format of RFC 1951, which many servers send."""
    return data[0] & 0x0F == 8 and int.from_bytes(data[:2], "big") % 31 == 0
