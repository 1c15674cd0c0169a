"""What a reader of one wire format is."""

from __future__ import annotations

from typing import Any, Protocol

from groundwire.native.answers.gather import Gather

__all__ = ["WireReader"]


class WireReader(Protocol):
    """Reads one wire format into a `Gather`: either one whole body, or the events of one stream and then `finish`."""

    complete: bool
    """Whether a stream has said that the answer is over."""

    def __init__(self, gather: Gather) -> None: ...

    def whole(self, body: dict[str, Any]) -> None:
        """Read a whole body."""
        ...

    def event(self, name: str, data: dict[str, Any]) -> None:
        """Read one event of a stream.

        Args:
            name: The event's name, or empty.
            data: Its data.
        """
        ...

    def finish(self) -> None:
        """Read what is left when a stream is over, be it whole or cut off."""
        ...
