"""Decoding of compressed bodies within a bound on what comes out.

Two gigabytes of zeros gzip to two megabytes (RFC 1952), so the size on the wire says nothing: every step of the
decoder may put out a limited amount, and the reader stops at the cap.
"""

from __future__ import annotations

import zlib
from collections.abc import Iterator

__all__ = ["ACCEPT_ENCODING", "BodyDecoder", "UndecodableBody"]

ACCEPT_ENCODING = "gzip, deflate"
"""What we ask for: the codings that every server has and that the standard library decodes."""

_STEP = 65_536  # bytes put out at a time
_GZIP = 31  # zlib's wbits for a gzip header and the largest window
_ZLIB = 15
_RAW = -15


class UndecodableBody(Exception):
    """The body is not what its Content-Encoding says, or of a coding that was not asked for."""


class BodyDecoder:
    """Takes off the one layer of content coding that a body may have (RFC 9110, section 8.4).

    Args:
        content_encoding: The header's value; more than one layer is refused.

    Raises:
        UndecodableBody: the coding is unknown or stacked.
    """

    def __init__(self, content_encoding: str) -> None:
        codings = [
            word for part in content_encoding.lower().split(",") if (word := part.strip()) not in {"", "identity"}
        ]
        if len(codings) > 1:
            raise UndecodableBody("is compressed more than once")
        self._coding = codings[0].removeprefix("x-") if codings else ""
        if self._coding not in {"", "gzip", "deflate"}:
            raise UndecodableBody(f"is compressed as {self._coding[:40]!r}, which was not asked for")
        self._inflate = zlib.decompressobj(_GZIP if self._coding == "gzip" else _ZLIB)
        self._started = False

    def feed(self, data: bytes) -> Iterator[bytes]:
        """Yield what `data` decodes to, in pieces of at most 64 KiB when it was compressed.

        Raises:
            UndecodableBody: the data is not of the coding.
        """
        if not self._coding:
            if data:
                yield data
            return
        while data:
            piece = self._step(data)
            if piece:
                yield piece
            data = self._inflate.unconsumed_tail
            if self._inflate.eof:
                data = self._next_member()

    def finish(self) -> None:
        """Check that the compressed data has come to its end.

        Raises:
            UndecodableBody: it was cut off.
        """
        if self._started and not self._inflate.eof:
            raise UndecodableBody("ends in the middle of its compressed data")

    def _step(self, data: bytes) -> bytes:
        first, self._started = not self._started, True
        try:
            return self._inflate.decompress(data, _STEP)
        except zlib.error as error:
            if first and self._coding == "deflate":  # many servers send the bare format of RFC 1951
                self._inflate = zlib.decompressobj(_RAW)
                return self._step(data)
            raise UndecodableBody(f"is not the {self._coding} data that its header announces") from error

    def _next_member(self) -> bytes:
        """Start on the next gzip member (RFC 1952, section 2.2); anything else behind the end is ignored."""
        rest = self._inflate.unused_data
        if self._coding != "gzip" or not rest.startswith(b"\x1f\x8b"):
            return b""
        self._inflate = zlib.decompressobj(_GZIP)
        return rest
