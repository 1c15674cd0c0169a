"""Compression bombs: bodies that take little on the wire and much in memory."""

from __future__ import annotations

import importlib
import struct
import zlib
from collections.abc import Iterator
from dataclasses import replace

from groundwire._version import install_command
from groundwire.testing.fault_injection import InjectedFault

_MEGABYTE = b" " * 1_000_000  # blanks: legal in HTML and in JSON, so that only the size is wrong
_GZIP_HEAD = b"\x1f\x8b\x08\x00\x00\x00\x00\x00\x02\xff"  # RFC 1952, section 2.3: no name, no time
_ZLIB_HEAD = b"\x78\xda"  # RFC 1950, section 2.2: 32 KB window, best compression


def bomb_fault(encoding: str = "gzip", mb: int = 200) -> InjectedFault:
    """Return a fault that responds with compressed spaces, so that little is sent on the wire.

    Args:
        encoding: `gzip`, `deflate`, `br`, or layers such as `gzip, gzip`.
        mb: The decoded size, in units of 1,000,000 bytes.

    Raises:
        ValueError: The encoding is unknown, or Brotli is not installed.
    """
    bomb(encoding, 0)  # a wrong name fails the test, not the client
    return InjectedFault.reply(
        f"bomb({encoding!r}, {mb})",
        lambda reply: replace(
            reply, headers={**reply.headers, "Content-Encoding": encoding}, chunks=lambda: bomb(encoding, mb)
        ),
    )


def bomb(encoding: str, megabytes: int) -> Iterator[bytes]:
    """Return the parts of a body of spaces in one Content-Encoding.

    One megabyte is compressed once and repeated: after a full flush a deflate block is independent (RFC 1951), so
    sending costs next to nothing.

    Args:
        encoding: `gzip`, `deflate`, `br`, or layers such as `gzip, gzip`, innermost first.
        megabytes: The decoded size, in units of 1,000,000 bytes.

    Raises:
        ValueError: The encoding is unknown, or Brotli is not installed.
    """
    first, *layers = [name.strip() for name in encoding.split(",")]
    if first == "gzip":
        parts = _gzip(megabytes)
    elif first == "deflate":
        parts = _deflate(megabytes)
    elif first == "br":
        parts = _brotli(megabytes)
    else:
        raise ValueError(f"Unknown encoding {first!r}. Use gzip, deflate or br, or layers of gzip.")
    for layer in layers:
        if layer != "gzip":
            raise ValueError(f"Only gzip can be a further layer, not {layer!r}.")
        parts = _wrap(parts)
    return parts


def _block() -> bytes:
    packer = zlib.compressobj(9, zlib.DEFLATED, -15)
    return packer.compress(_MEGABYTE) + packer.flush(zlib.Z_FULL_FLUSH)


def _end() -> bytes:
    return zlib.compressobj(9, zlib.DEFLATED, -15).flush()


def _gzip(megabytes: int) -> Iterator[bytes]:
    yield _GZIP_HEAD
    block, check = _block(), 0
    for _ in range(megabytes):
        check = zlib.crc32(_MEGABYTE, check)
        yield block
    yield _end() + struct.pack("<II", check, megabytes * len(_MEGABYTE) & 0xFFFFFFFF)


def _deflate(megabytes: int) -> Iterator[bytes]:
    yield _ZLIB_HEAD
    block, check = _block(), 1
    for _ in range(megabytes):
        check = zlib.adler32(_MEGABYTE, check)
        yield block
    yield _end() + struct.pack(">I", check)


def _brotli(megabytes: int) -> Iterator[bytes]:
    try:
        brotli = importlib.import_module("brotli")
    except ImportError as exc:
        raise ValueError(f"Brotli is not installed: {install_command('brotli')}, or use another encoding.") from exc

    def parts() -> Iterator[bytes]:
        packer = brotli.Compressor()
        for _ in range(megabytes):
            if packed := packer.process(_MEGABYTE):
                yield packed
        yield packer.finish()

    return parts()


def _wrap(parts: Iterator[bytes]) -> Iterator[bytes]:
    packer = zlib.compressobj(9, zlib.DEFLATED, 31)
    for part in parts:
        if packed := packer.compress(part):
            yield packed
    yield packer.flush()
