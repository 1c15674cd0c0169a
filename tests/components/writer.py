"""A model whose answer comes piece by piece, as a test says."""

from __future__ import annotations

import json
import threading
from collections.abc import Iterator, Sequence
from typing import Any

from groundwire.testing import EmulatedResponse, EmulatedServer, Recorded

_CALL = {"name": "web_search", "arguments": json.dumps({"query": "reciprocal rank fusion"})}


class Writer(EmulatedServer):
    """A model behind chat completions that streams its text as given; after each turn but the last it searches.

    Args:
        turns: The text of each turn, in pieces.
        pause: Whether the last turn waits after its first piece, until `go_on` is set.
    """

    def __init__(self, *turns: Sequence[str], pause: bool = False) -> None:
        super().__init__("writer")
        self._turns = list(turns)
        self.go_on = threading.Event()
        if not pause:
            self.go_on.set()

    def handle(self, request: Recorded) -> EmulatedResponse:
        """Return the next turn."""
        body: Any = request.json()
        assert body["stream"] is True
        pieces = self._turns.pop(0)
        return EmulatedResponse(
            chunks=lambda: self._written(pieces, last=not self._turns), content_type="text/event-stream"
        )

    def _written(self, pieces: Sequence[str], *, last: bool) -> Iterator[bytes]:
        for number, piece in enumerate(pieces):
            if number == 1 and last:
                assert self.go_on.wait(60)
            yield _chunk({"content": piece})
        if not last:
            call = {"index": 0, "id": f"call_{len(self._turns)}", "type": "function", "function": _CALL}
            yield _chunk({"tool_calls": [call]})
        yield _chunk({}, "stop" if last else "tool_calls")


def _chunk(delta: object, finish: str | None = None) -> bytes:
    data = {"choices": [{"index": 0, "delta": delta, "finish_reason": finish}]}
    return f"data: {json.dumps(data)}\n\n".encode()
