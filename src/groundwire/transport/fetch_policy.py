"""Who lets pages through, one request after the other."""

from __future__ import annotations

from collections.abc import Mapping
from contextlib import AbstractAsyncContextManager
from dataclasses import dataclass, field
from typing import Protocol

from groundwire.deadline import Deadline
from groundwire.safety.urls import WebUrl
from groundwire.transport.request_response import Head, Inspect

__all__ = ["FetchPolicy", "FetchSlot", "seen_by"]


@dataclass(slots=True)
class FetchSlot:
    """One permission to fetch a page, with the status and headers of the response."""

    status: int = 0
    """The HTTP status of the answer; 0 while there is none, and for a redirect."""
    headers: Mapping[str, str] = field(default_factory=dict)
    """Its headers."""


class FetchPolicy(Protocol):
    """Decides whether and when a page may be asked for, each redirect's target too."""

    async def check(self, url: WebUrl, deadline: Deadline, *, remote: bool = False) -> object:
        """See that a page may be read at all.

        Args:
            url: An address that the guard has admitted.
            deadline: When the page must be here.
            remote: Whether somebody else will read it for us.

        Raises:
            BlockedByPolicy, PageError: it may not.
        """
        ...

    def visit(self, url: WebUrl, deadline: Deadline) -> AbstractAsyncContextManager[FetchSlot]:
        """Return a block in which one address may be asked; entering it waits for a slot.

        Args:
            url: An address that the guard has admitted.
            deadline: When the page must be here.

        Raises:
            BlockedByPolicy, PageError: it may not be asked, or not in time.
        """
        ...


def seen_by(visit: FetchSlot, inspect: Inspect | None) -> Inspect:
    """Return an `inspect` that also shows the fetch policy the response's head."""

    def look(head: Head) -> int | None:
        visit.status, visit.headers = head.status, head.headers
        return inspect(head) if inspect is not None else None

    return look
