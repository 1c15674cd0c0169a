"""Detection of client disconnects, and cancellation of the work for the client."""

from __future__ import annotations

import asyncio
from collections.abc import Callable, Coroutine, Sequence
from typing import TYPE_CHECKING, Any

from starlette.types import ASGIApp, Message, Receive, Scope, Send

from groundwire.deadline import Timeout
from groundwire_server.request_json import UpstreamRejected

if TYPE_CHECKING:
    from aiohttp import ClientResponse
    from starlette.responses import Response


class TrackedSend:
    """Passes on the messages of a response, and knows whether it has begun."""

    def __init__(self, send: Send) -> None:
        self.begun: bool = False
        """Whether it has; then its status cannot be changed any more."""
        self._send = send

    async def __call__(self, message: Message) -> None:
        """Pass on a message."""
        self.begun = True
        await self._send(message)


_WAITING = 64  # chunks that wait for a slow client before the work waits too


class Outbox:
    """Event chunks on their way to the client."""

    def __init__(self) -> None:
        self.headers: dict[str, str] = {}
        """Additional headers of the response; effective until the first chunk."""
        self.changed: asyncio.Event = asyncio.Event()
        """Set when there are chunks."""
        self._pieces: list[bytes] = []
        self._begun = False
        self._room = asyncio.Event()
        self._room.set()

    def add(self, data: bytes) -> None:
        """Send a chunk."""
        self._pieces.append(data)
        self.changed.set()
        if len(self._pieces) >= _WAITING:
            self._room.clear()

    async def put(self, data: bytes) -> None:
        """Send a chunk, and wait for a slow client to take the previous ones."""
        first, self._begun = not self._begun, True
        self.add(data)
        if first:  # it is on its way before the next one is read
            await asyncio.sleep(0)
        await self._room.wait()

    def take(self) -> bytes | None:
        """Return the waiting chunks as one, None if there are none."""
        if not self._pieces:
            return None
        data = b"".join(self._pieces)
        self._pieces.clear()
        self._room.set()
        return data


async def answer_whole(work: Coroutine[Any, Any, Response], scope: Scope, receive: Receive, send: Send) -> None:
    """Send the response produced by a coroutine; see `until_done`."""

    async def respond(scope: Scope, receive: Receive, send: Send) -> None:
        await (await work)(scope, receive, send)

    await until_done(respond, scope, receive, send)


async def relay(response: ClientResponse, headers: Sequence[tuple[bytes, bytes]], send: Send) -> None:
    """Send a response of another server while it arrives."""
    await send({"type": "http.response.start", "status": response.status, "headers": headers})
    async for piece in response.content.iter_any():
        await send({"type": "http.response.body", "body": piece, "more_body": True})
    await send({"type": "http.response.body", "body": b"", "more_body": False})


async def answer_with_events(
    work: Callable[[Outbox], Coroutine[Any, Any, None]],
    failed: Callable[[UpstreamRejected], bytes] | None,
    scope: Scope,
    receive: Receive,
    send: Send,
    *,
    keep_alive: float,
    media_type: str = "text/event-stream; charset=utf-8",
    idle: Callable[[], bytes] = lambda: b": searching\n\n",
) -> None:
    """Send the events emitted by a coroutine; see `until_done`.

    Args:
        work: Emits events. It may raise UpstreamRejected, which becomes the response if it has not emitted any.
        failed: Makes the event for a failure after the first event; None where work emits it itself.
        scope: The connection.
        receive: Its receiving end.
        send: Its sending end.
        keep_alive: Seconds of silence after which something is sent, so that no proxy in between times out.
        media_type: The media type of the stream.
        idle: Returns what is sent then, which the client ignores.
    """
    outbox = Outbox()
    begun = False

    async def pass_on(data: bytes) -> None:
        nonlocal begun
        if not begun:
            begun = True
            headers = {"content-type": media_type, "cache-control": "no-cache"}
            headers = {name.lower(): value for name, value in outbox.headers.items()} | headers
            raw = [(name.encode("latin-1"), value.encode("latin-1")) for name, value in headers.items()]
            await send({"type": "http.response.start", "status": 200, "headers": raw})
        await send({"type": "http.response.body", "body": data, "more_body": True})

    async def pass_on_events(task: asyncio.Task[None]) -> None:
        while True:
            outbox.changed.clear()
            if (data := outbox.take()) is not None:
                await pass_on(data)
            elif task.done():
                return
            else:
                try:
                    async with asyncio.timeout(keep_alive):
                        await outbox.changed.wait()
                except TimeoutError:
                    if begun:
                        await pass_on(idle())

    async def respond(scope: Scope, receive: Receive, send: Send) -> None:
        task = asyncio.create_task(work(outbox))
        task.add_done_callback(lambda _: outbox.changed.set())
        try:
            await pass_on_events(task)
        finally:
            task.cancel()
            await asyncio.gather(task, return_exceptions=True)
        try:
            task.result()
        except UpstreamRejected as error:
            if not begun:
                await error.response()(scope, receive, send)
                return
            if failed is not None:
                await pass_on(failed(error))
        await send({"type": "http.response.body", "body": b"", "more_body": False})

    await until_done(respond, scope, receive, send)


async def until_done(app: ASGIApp, scope: Scope, receive: Receive, send: Send) -> None:
    """Run an application until it is done; it is canceled when the client disconnects.

    What it raises as it ends for a client that has gone is not reported.

    Args:
        app: The application.
        scope: The connection, whose request was read.
        receive: Its receiving end.
        send: Its sending end.
    """
    working = Timeout(None)

    async def watch() -> None:
        while (await receive())["type"] != "http.disconnect":
            pass
        working.expire()

    watcher = asyncio.create_task(watch())
    try:
        with working:
            await app(scope, never, send)
    except Exception:
        if not working.expired:
            raise
    finally:
        watcher.cancel()


async def never() -> Message:
    """Receive nothing: the request was read, and another task waits for its client to disconnect."""
    await asyncio.Event().wait()
    raise AssertionError("the event is never set")
