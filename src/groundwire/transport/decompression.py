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
_MAGIC = b"\x1f\x8b"  # the first bytes of a gzip member
_MAX_MEMBERS = 1_000  # a member of 20 bytes decodes to nothing, so the cap on what comes out does not bound the work


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
        self._inflate: zlib._Decompress | None = None  # None between members
        self._members = 0
        self._held = b""  # fewer bytes than tell what begins
        self._ended = False

    def feed(self, data: bytes) -> Iterator[bytes]:
        """Yield what `data` decodes to, in pieces of at most 64 KiB when it was compressed.

        Raises:
            UndecodableBody: the data is not of the coding.
        """
        if not self._coding:
            if data:
                yield data
            return
        data, self._held = self._held + data, b""
        while data and not self._ended:
            if self._inflate is None:
                if len(data) < len(_MAGIC):
                    self._held = data
                    return
                self._inflate = self._begin(data)
            else:
                yield from self._decoded(self._inflate, data)
                data = self._inflate.unused_data
                if self._inflate.eof:
                    self._inflate = None

    def finish(self) -> None:
        """Check that the compressed data has come to its end.

        Raises:
            UndecodableBody: it was cut off.
        """
        if self._inflate is not None or (self._held and not self._members):
            raise UndecodableBody("ends in the middle of its compressed data")

    def _begin(self, data: bytes) -> zlib._Decompress | None:
        """Return what decodes the member that begins here, or None when what begins is none and is ignored."""
        if self._members and not (self._coding == "gzip" and data.startswith(_MAGIC)):
            self._ended = True
            return None
        self._members += 1
        if self._members > _MAX_MEMBERS:
            raise UndecodableBody(f"consists of more than {_MAX_MEMBERS:,} compressed parts")
        if self._coding == "gzip":
            return zlib.decompressobj(_GZIP)
        return zlib.decompressobj(_ZLIB if _has_zlib_header(data) else _RAW)

    def _decoded(self, inflate: zlib._Decompress, data: bytes) -> Iterator[bytes]:
        """Yield what one member's `data` decodes to; what follows the member stays in `inflate.unused_data`."""
        try:
            while True:
                piece = inflate.decompress(data, _STEP)
                if piece:
                    yield piece
                data = inflate.unconsumed_tail
                # A full step may have left output inside although all input is taken.
                if inflate.eof or not (data or len(piece) == _STEP):
                    return
        except zlib.error as error:
            raise UndecodableBody(f"is not the {self._coding} data that its header announces") from error


def _has_zlib_header(data: bytes) -> bool:
    """Tell the format of RFC 1950 from the bare one of RFC 1951, which many servers send for `deflate`."""
    return data[0] & 0x0F == 8 and int.from_bytes(data[:2], "big") % 31 == 0
