"""One call over HTTP: its body is read and judged, it runs while its client waits, and it ends in one response."""

from __future__ import annotations

import asyncio
from collections.abc import Awaitable, Callable
from typing import Generic, TypeVar

from pydantic import BaseModel, ValidationError
from starlette.requests import ClientDisconnect, Request
from starlette.responses import Response
from starlette.types import Receive, Scope, Send

from groundwire.errors import GroundwireError
from groundwire.server.http.asked import Asked
from groundwire.server.http.failures import Failed, Problem, failed, failure_of, invalid
from groundwire.server.http.house import Caller, House
from groundwire.server.streaming import answer_whole

__all__ = ["Endpoint", "Work", "read_body", "within"]

_GRACE = 1.0  # seconds after a call's own deadline, which it should have met by itself

_A = TypeVar("_A", bound=Asked)
_T = TypeVar("_T")

Work = Callable[[Caller, _A], Awaitable[BaseModel]]
"""Does what a request asks for."""


class Endpoint(Generic[_A]):
    """An endpoint that takes JSON and answers with JSON, as an ASGI application.

    Args:
        house: What it shares with the others.
        model: What a request must be.
        work: What is done.
        usual: Seconds for a call whose request does not say how many.
    """

    def __init__(self, house: House, model: type[_A], work: Work[_A], *, usual: float) -> None:
        self._house = house
        self._model = model
        self._work = work
        self._usual = usual

    async def __call__(self, scope: Scope, receive: Receive, send: Send) -> None:
        """Answer one request."""
        request = Request(scope, receive)
        try:
            with self._house.traffic.call():
                asked = self._judge(request, await read_body(request, self._house.largest_body))
                await answer_whole(self._whole(self._house.caller(scope), asked), scope, receive, send)
        except ClientDisconnect:
            return
        except (Failed, GroundwireError) as error:
            await failure_of(error).response()(scope, receive, send)

    def _judge(self, request: Request, body: bytes) -> _A:
        kind = request.headers.get("content-type", "").partition(";")[0].strip().lower()
        if kind != "application/json" and not kind.endswith("+json"):
            raise failed(415, "not_json", "Send the request as JSON, with Content-Type: application/json.")
        try:
            asked = self._model.model_validate_json(body)
        except ValidationError as error:
            raise invalid(error) from None
        if asked.timeout is None or asked.timeout > self._house.longest:
            asked = asked.model_copy(update={"timeout": min(asked.timeout or self._usual, self._house.longest)})
        return asked

    async def _whole(self, caller: Caller, asked: _A) -> Response:
        try:
            made = await within(asked.timeout, self._work(caller, asked))
        except (Failed, GroundwireError) as error:
            return failure_of(error).response()
        return Response(made.model_dump_json(), media_type="application/json")


async def read_body(request: Request, most: int) -> bytes:
    """Return the body of a request.

    Raises:
        Failed: it is too large.
        ClientDisconnect: the client has gone.
    """
    body = bytearray()
    async for piece in request.stream():
        body += piece
        if len(body) > most:
            text = f"The request has more than {most:,} bytes. Send less."
            raise Failed(413, Problem(code="too_large", message=text), {"Connection": "close"})
    return bytes(body)


async def within(seconds: float | None, work: Awaitable[_T]) -> _T:
    """Await work that has a deadline of its own, and end it soon after that whatever it does.

    Raises:
        Failed: it had to be ended.
    """
    try:
        async with asyncio.timeout(None if seconds is None else seconds + _GRACE) as limit:
            return await work
    except TimeoutError:
        if not limit.expired():
            raise
        text = f"The call took more than {seconds:g} seconds. Ask again, with a longer timeout."
        raise failed(504, "deadline_exceeded", text) from None
