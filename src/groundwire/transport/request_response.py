"""Requests and responses."""

from __future__ import annotations

import json
from collections.abc import Callable, Mapping
from contextlib import AbstractAsyncContextManager
from dataclasses import dataclass, field
from typing import TYPE_CHECKING, Any, Protocol, TypeAlias

from groundwire.deadline import Deadline
from groundwire.safety.urls import WebUrl

if TYPE_CHECKING:
    from yarl import URL

__all__ = ["FetchPolicy", "FetchSlot", "Head", "HttpRequest", "Inspect", "PartialResponse", "Response"]

_REDIRECTS = frozenset({301, 302, 303, 307, 308})


@dataclass(frozen=True, slots=True)
class Head:
    """The head and first bytes of a response."""

    url: str
    """The URL of the response, after all redirects."""
    status: int
    """The HTTP status."""
    headers: Mapping[str, str]
    """The headers; names in any case."""
    start: bytes = b""
    """The first decoded bytes of the body."""

    @property
    def content_type(self) -> str:
        """The Content-Type header as sent, empty when there is none; what is not UTF-8 in it becomes `?`."""
        return self.headers.get("Content-Type", "").encode("utf-8", "replace").decode()

    @property
    def media_type(self) -> str:
        """The media type alone, in lower case."""
        return self.content_type.split(";", 1)[0].strip().lower()


@dataclass(frozen=True, slots=True)
class Response(Head):
    """A complete response."""

    body: bytes = b""
    """The decoded body."""
    hops: tuple[str, ...] = field(default=())
    """The URLs that redirected, in order."""
    _read: list[Any] = field(default_factory=list, init=False, repr=False, compare=False)

    def json(self) -> Any:
        """Parse the body as JSON, once; callers must not change the result.

        Raises:
            ValueError: it is not JSON.
        """
        try:
            if not self._read:
                self._read.append(json.loads(self.body))
            return self._read[0]
        except RecursionError as error:
            raise ValueError("nested too deeply") from error


Inspect: TypeAlias = Callable[[Head], int | None]
"""Receives a head and the first bytes before the rest is read; an exception ends the exchange, and a returned number
replaces the size limit."""


@dataclass(frozen=True, slots=True)
class HttpRequest:
    """A request, before it is sent or replayed."""

    method: str
    url: URL
    headers: Mapping[str, str]
    body: Mapping[str, Any]
    """aiohttp's arguments for the body: `json`, `data` (a form) or none."""
    page: bool = False
    """Whether a redirect will be followed, so that its body is not read."""
    cut: bool = False
    """Whether a body that is too large is cut instead of refused."""
    on_data: Callable[[bytes], None] | None = None
    """Called with each decoded piece of the body of an answer with status 200, as it comes."""

    def leads_on(self, status: int, headers: Mapping[str, str]) -> bool:
        """Return whether a response is a redirect that will be followed."""
        return self.page and status in _REDIRECTS and bool(headers.get("Location", ""))

    def as_json(self) -> dict[str, Any]:
        """Return the request in the format of a cassette."""
        names = {"json": "json", "data": "form"}
        body = {names[name]: value for name, value in self.body.items()}
        return {"method": self.method, "url": str(self.url), "headers": dict(self.headers)} | body


@dataclass(slots=True)
class PartialResponse:
    """The received part of a response."""

    status: int = 0
    headers: Mapping[str, str] = field(default_factory=dict)
    body: bytearray = field(default_factory=bytearray)


@dataclass(slots=True)
class FetchSlot:
    """The permission for one page request, with the status and headers of its response."""

    status: int = 0
    """The HTTP status; 0 until there is one, and for a redirect."""
    headers: Mapping[str, str] = field(default_factory=dict)
    """Its headers."""


class FetchPolicy(Protocol):
    """Decides whether and when a page may be requested, including each redirect's target."""

    async def check(self, url: WebUrl, deadline: Deadline, *, remote: bool = False) -> object:
        """Check that a page may be read at all.

        Args:
            url: An address that the guard has admitted.
            deadline: When the page must be here.
            remote: Whether a third party fetches it.

        Raises:
            BlockedByPolicy, PageError: it is not allowed.
        """
        ...

    def visit(self, url: WebUrl, deadline: Deadline) -> AbstractAsyncContextManager[FetchSlot]:
        """Return a block in which a URL may be requested; entering it waits for a slot.

        Args:
            url: An address that the guard has admitted.
            deadline: When the page must be here.

        Raises:
            BlockedByPolicy, PageError: it is not allowed, or not in time.
        """
        ...
