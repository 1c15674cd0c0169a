"""Connections that do not wait for ever: for the head of a request, or for a client that does not read its answer.

Uvicorn bounds only the silence between two requests; each byte of an unfinished head begins that anew, so a client
that drips its headers keeps a connection for nothing (CWE-400, "slowloris"). No application can see that: it runs when
the head is there.
"""

from __future__ import annotations

import asyncio
from typing import TYPE_CHECKING, Any

import h11
from uvicorn.protocols.http.h11_impl import H11Protocol

if TYPE_CHECKING:
    from collections.abc import Callable

__all__ = ["bounded"]

_HEAD = 32_768  # bytes of a request line and headers
_LINGER = 1.0  # seconds for which a client that was given up may still send
_UNREAD = 60.0  # seconds for which a client may read nothing of what is there for it


class _Bounded(H11Protocol):
    """One connection; `bounded` says the numbers."""

    head_timeout = 10.0
    unread_timeout = _UNREAD
    most = 2_000

    _over = False
    _waiting: asyncio.TimerHandle | None = None
    _unread: asyncio.TimerHandle | None = None

    def connection_made(self, transport: asyncio.Transport) -> None:  # type: ignore[override]  # as uvicorn has it
        """Begin, unless there are too many."""
        super().connection_made(transport)
        if len(self.connections) > self.most:
            transport.abort()
            return
        self._wait()

    def data_received(self, data: bytes) -> None:
        """Take what came; the clock runs from the first byte of a head until its last."""
        if self._over:
            return
        super().data_received(data)
        if not self._owes():
            self._stop_waiting()
        elif self._waiting is None and (self.conn.their_state is h11.SEND_BODY or self.conn.trailing_data[0]):
            self._wait()

    def connection_lost(self, exc: Exception | None) -> None:
        """End."""
        self._stop_waiting()
        self._stop_unread()
        super().connection_lost(exc)

    def pause_writing(self) -> None:
        """Note that the client has not read what is there; it gets a while to do it."""
        super().pause_writing()
        if self._unread is None:
            self._unread = self.loop.call_later(self.unread_timeout, self.transport.abort)

    def resume_writing(self) -> None:
        """Note that the client has read on."""
        self._stop_unread()
        super().resume_writing()

    def _owes(self) -> bool:
        """Whether the client has still to send a head, or the rest of a body whose request is answered already."""
        if self.conn.their_state is h11.SEND_BODY:
            return self.cycle.response_complete
        return self.conn.their_state is h11.IDLE

    def _wait(self) -> None:
        self._waiting = self.loop.call_later(self.head_timeout, self._give_up)

    def _give_up(self) -> None:
        self._waiting = None
        if self.transport.is_closing() or not self._owes():
            return
        if self.conn.trailing_data[0] and self.conn.our_state is h11.IDLE:
            text = b"The head of the request did not come in time."
            head = [("content-type", "text/plain"), ("content-length", str(len(text))), ("connection", "close")]
            response = h11.Response(status_code=408, headers=head, reason=b"Request Timeout")
            for event in (response, h11.Data(data=text), h11.EndOfMessage()):
                if (data := self.conn.send(event)) is not None:
                    self.transport.write(data)
            if self.transport.can_write_eof():
                # Closed at once on a client that still sends, the connection is reset and the answer lost.
                self._over = True
                self.transport.write_eof()
                self._waiting = self.loop.call_later(_LINGER, self.transport.abort)
                return
        self.transport.close()

    def _stop_waiting(self) -> None:
        if self._waiting is not None:
            self._waiting.cancel()
            self._waiting = None

    def _stop_unread(self) -> None:
        if self._unread is not None:
            self._unread.cancel()
            self._unread = None


def bounded(*, head_timeout: float = 10.0, unread_timeout: float = _UNREAD, connections: int = 2_000) -> dict[str, Any]:
    """Return the options of `uvicorn.Config` that bound its connections.

    Args:
        head_timeout: Seconds that a client has for the head of a request.
        unread_timeout: Seconds for which a client may read nothing of an answer.
        connections: The most at the same time; one more is closed at once.
    """
    numbers = {"head_timeout": head_timeout, "unread_timeout": unread_timeout, "most": connections}
    protocol: Callable[..., H11Protocol] = type("Bounded", (_Bounded,), numbers)
    return {"http": protocol, "h11_max_incomplete_event_size": _HEAD}
