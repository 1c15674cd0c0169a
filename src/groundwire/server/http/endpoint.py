"""One call over HTTP: its request is read and judged, it runs while its client waits, and it ends in one response."""

from __future__ import annotations

import asyncio
import logging
from collections.abc import Awaitable, Callable
from functools import partial
from typing import Generic, TypeVar

from pydantic import BaseModel, ValidationError
from starlette.requests import ClientDisconnect, Request
from starlette.responses import Response
from starlette.types import Receive, Scope, Send

from groundwire.errors import GroundwireError
from groundwire.server.http.asked import Asked
from groundwire.server.http.events import told, wants_events
from groundwire.server.http.failures import Failed, failed, failure_of, internal, invalid
from groundwire.server.http.house import Caller, House
from groundwire.server.streaming import answer_whole, answer_with_events

__all__ = ["Endpoint", "Reader", "Work", "is_json", "read_json"]

_logger = logging.getLogger(__name__)

_GRACE = 1.0  # seconds after a call's own deadline, which it should have met by itself

_A = TypeVar("_A", bound=BaseModel)
_T = TypeVar("_T")

Reader = Callable[[Request, bytes], _A]
"""Makes what is asked of a request and its body, or raises Failed or InvalidRequest."""

Work = Callable[[Caller, _A], Awaitable[BaseModel]]
"""Does what a request asks for."""


class Endpoint(Generic[_A]):
    """An endpoint that answers with JSON, or with events where the request accepts them; an ASGI application.

    Args:
        house: What it shares with the others.
        read: Makes what is asked of a request.
        work: What is done.
        usual: Seconds for a call whose request does not say how many.
        events: Whether a client may have events.
        refuse: Makes the response of a failure.
    """

    def __init__(
        self,
        house: House,
        read: Reader[_A],
        work: Work[_A],
        *,
        usual: float,
        events: bool = False,
        refuse: Callable[[Failed], Response] = Failed.response,
    ) -> None:
        self._house = house
        self._read = read
        self._work = work
        self._usual = usual
        self._events = events
        self._refuse = refuse

    async def __call__(self, scope: Scope, receive: Receive, send: Send) -> None:
        """Answer one request."""
        request = Request(scope, receive)
        try:
            with self._house.traffic.call():
                await self._answer(request, scope, receive, send)
        except (Failed, GroundwireError) as error:
            await self._refuse(failure_of(error))(scope, receive, send)
        except ClientDisconnect:
            return

    async def _answer(self, request: Request, scope: Scope, receive: Receive, send: Send) -> None:
        asked = self._read(request, await request.body())
        seconds = self._usual
        if isinstance(asked, Asked) and asked.timeout is not None:
            seconds = min(asked.timeout, self._house.longest)
        done = partial(self._done, self._house.caller(scope), asked, seconds)
        if self._events and wants_events(request):
            work = partial(told, done, self._refuse)
            await answer_with_events(work, _never, scope, receive, send, keep_alive=self._house.keep_alive)
        else:
            await answer_whole(self._whole(done), scope, receive, send)

    async def _whole(self, done: Callable[[], Awaitable[BaseModel]]) -> Response:
        try:
            made = await done()
        except Failed as error:
            return self._refuse(error)
        return Response(made.model_dump_json(), media_type="application/json")

    async def _done(self, caller: Caller, asked: _A, seconds: float) -> BaseModel:
        """Return what came of a call.

        Raises:
            Failed: whatever went wrong.
        """
        try:
            async with asyncio.timeout(seconds + _GRACE) as limit:
                return await self._house.traffic.until_ended(self._work(caller, asked))
        except TimeoutError as error:
            if isinstance(error, GroundwireError):
                raise failure_of(error) from error
            if limit.expired():
                text = f"The call took more than {seconds:g} seconds. Ask again, with a longer timeout."
                raise failed(504, "deadline_exceeded", text) from error
            _logger.exception("A call failed")
            raise internal() from error
        except GroundwireError as error:
            raise failure_of(error) from error
        except Failed:
            raise
        except Exception as error:
            _logger.exception("A call failed")
            raise internal() from error


def read_json(model: type[_A], request: Request, body: bytes) -> _A:
    """Return a JSON body as what is asked.

    Raises:
        Failed: it is none, or something in it is wrong.
    """
    if not is_json(request):
        raise failed(415, "not_json", "Send the request as JSON, with Content-Type: application/json.")
    try:
        return model.model_validate_json(body)
    except ValidationError as error:
        raise invalid(error) from None


def is_json(request: Request) -> bool:
    """Whether a request says that its body is JSON."""
    kind = request.headers.get("content-type", "").partition(";")[0].strip().lower()
    return kind == "application/json" or (kind.startswith("application/") and kind.endswith("+json"))


def _never(_error: Exception) -> bytes:
    """Events tell of failures themselves."""
    return b""
