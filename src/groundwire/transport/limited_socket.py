"""Sockets that count what they receive, and receive no more than they were allowed.

A client of HTTP hands on bodies without their framing, and interim answers not at all; a server may send as much of
both as it likes. What comes from the wire is seen here alone, whatever stands in it.
"""

from __future__ import annotations

import socket
from typing import TYPE_CHECKING, Final

if TYPE_CHECKING:
    from _typeshed import ReadableBuffer, WriteableBuffer

__all__ = ["HEAD_ALLOWANCE", "MeteredSocket", "Overrun"]

HEAD_ALLOWANCE: Final = 500_000
"""Bytes that may come before an answer's body: its head, interim answers, and what TLS exchanges first."""


class Overrun(OSError):
    """More came than the socket was allowed to receive."""


class MeteredSocket(socket.socket):
    """A socket that limits the bytes it receives. Sending resets the limit of the head; `allow` sets that of a body.

    Only event loops that receive through the socket itself count (those of asyncio do); with others nothing is refused.
    """

    _received = 0
    _allowed = HEAD_ALLOWANCE

    @property
    def overrun(self) -> bool:
        """Whether more came than was allowed."""
        return self._received > self._allowed

    def allow(self, size: int) -> None:
        """Let so many bytes come from now on, in place of what was allowed before."""
        self._allowed = self._received + size

    def recv(self, bufsize: int, flags: int = 0, /) -> bytes:
        """Receive bytes; raises `Overrun` when more than was allowed has come already."""
        data = super().recv(min(bufsize, self._room()), flags)
        self._received += len(data)
        return data

    def recv_into(self, buffer: WriteableBuffer, nbytes: int = 0, flags: int = 0) -> int:
        """Receive bytes into a buffer; raises `Overrun` when more than was allowed has come already."""
        room = self._room()
        size = super().recv_into(buffer, min(nbytes or memoryview(buffer).nbytes, room), flags)
        self._received += size
        return size

    def send(self, data: ReadableBuffer, flags: int = 0, /) -> int:
        """Send bytes; an answer to them may come."""
        self._allowed = max(self._allowed, self._received + HEAD_ALLOWANCE)
        return super().send(data, flags)

    def _room(self) -> int:
        """Return how many bytes may be received at once: what is left, and one more that tells that there are more."""
        if self.overrun:
            raise Overrun("more came than was allowed")
        return self._allowed - self._received + 1
