"""Detection of client disconnects, and cancellation of the work for the client."""

from __future__ import annotations

import asyncio
from collections.abc import Awaitable, Callable, Coroutine, MutableMapping, Sequence
from typing import TYPE_CHECKING, Any

from groundwire.deadline import Timeout
from groundwire.mcp_server.client_presence import PRESENCE, Presence
from groundwire_server.request_json import UpstreamRejected

if TYPE_CHECKING:
    from aiohttp import ClientResponse
    from starlette.responses import Response

__all__ = [
    "ASGIApp",
    "Message",
    "Outbox",
    "Receive",
    "Scope",
    "Send",
    "TrackedSend",
    "answer_whole",
    "answer_with_events",
    "relay",
    "until_done",
    "watched",
]

Scope = MutableMapping[str, Any]
Message = MutableMapping[str, Any]
Receive = Callable[[], Awaitable[Message]]
Send = Callable[[Message], Awaitable[None]]
ASGIApp = Callable[[Scope, Receive, Send], Awaitable[None]]


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
    """Send the response produced by a coroutine; it is canceled when the client disconnects."""

    async def respond() -> None:
        await (await work)(scope, receive, send)

    await _while_connected(respond(), receive)


async def relay(response: ClientResponse, headers: Sequence[tuple[bytes, bytes]], send: Send) -> None:
    """Send a response of another server while it arrives."""
    await send({"type": "http.response.start", "status": response.status, "headers": headers})
    async for piece in response.content.iter_any():
        await send({"type": "http.response.body", "body": piece, "more_body": True})
    await send({"type": "http.response.body", "body": b"", "more_body": False})


async def answer_with_events(
    work: Callable[[Outbox], Coroutine[Any, Any, Response | None]],
    failed: Callable[[UpstreamRejected], bytes],
    scope: Scope,
    receive: Receive,
    send: Send,
    *,
    keep_alive: float,
    media_type: str = "text/event-stream; charset=utf-8",
    idle: Callable[[], bytes] = lambda: b": searching\n\n",
) -> None:
    """Send the events emitted by a coroutine; it is canceled when the client disconnects.

    Args:
        work: Emits events. Until it has, it may also return a response, or raise UpstreamRejected, which becomes one.
        failed: Makes the event for a failure after the first event.
        scope: The connection.
        receive: Its receiving end.
        send: Its sending end.
        keep_alive: Seconds of silence after which something is sent, so that no proxy in between times out.
        media_type: The media type of the stream.
        idle: Returns what is sent then, which the client ignores.
    """
    default_headers = ((b"content-type", media_type.encode()), (b"cache-control", b"no-cache"))
    outbox = Outbox()
    task = asyncio.create_task(work(outbox))
    watcher = asyncio.create_task(_until_gone(receive))
    begun = False

    async def pass_on(data: bytes) -> None:
        nonlocal begun
        if not begun:
            begun = True
            extra = [(name.lower().encode("latin-1"), value) for name, value in outbox.headers.items()]
            more = [(name, value.encode("latin-1")) for name, value in extra if name not in dict(default_headers)]
            await send({"type": "http.response.start", "status": 200, "headers": [*default_headers, *more]})
        await send({"type": "http.response.body", "body": data, "more_body": True})

    for future in (task, watcher):
        future.add_done_callback(lambda _: outbox.changed.set())
    try:
        while True:
            outbox.changed.clear()
            if (data := outbox.take()) is not None:
                await pass_on(data)
            elif watcher.done():
                return
            elif task.done():
                break
            else:
                try:
                    async with asyncio.timeout(keep_alive):
                        await outbox.changed.wait()
                except TimeoutError:
                    if begun:
                        await pass_on(idle())
        try:
            response = task.result()
        except UpstreamRejected as error:
            response = None
            if begun:
                await pass_on(failed(error))
            else:
                from starlette.responses import Response

                response = Response(error.body, error.status, dict(error.headers))
        if begun:
            await send({"type": "http.response.body", "body": b"", "more_body": False})
        elif response is not None:
            await response(scope, receive, send)
    finally:
        await _end(task, watcher)


async def until_done(app: ASGIApp, scope: Scope, receive: Receive, send: Send, *, has_read: bool = False) -> None:
    """Run an application until it is done, or until the client disconnects after the request was read.

    Args:
        app: The application.
        scope: The connection.
        receive: Its receiving end.
        send: Its sending end.
        has_read: Whether the whole request was read before.
    """
    request_end = asyncio.Event()
    if has_read:
        request_end.set()

    async def receiving() -> Message:
        if request_end.is_set():
            await asyncio.Event().wait()  # the watch below has the connection from here on
        message = await receive()
        if message["type"] == "http.disconnect" or not message.get("more_body", False):
            request_end.set()
        return message

    await _while_connected(app(scope, receiving, send), receive, request_end)


async def _while_connected(work: Awaitable[None], receive: Receive, after: asyncio.Event | None = None) -> None:
    """Await work, which is canceled when the client disconnects; nothing is received before an event.

    What work raises as it ends for a client that has gone is not reported.
    """
    working = Timeout(None)

    async def watch() -> None:
        if after is not None:
            await after.wait()
        await _until_gone(receive)
        working.expire()

    watcher = asyncio.create_task(watch())
    try:
        with working:
            await work
    except Exception:
        if not working.expired:
            raise
    finally:
        watcher.cancel()


async def _until_gone(receive: Receive) -> None:
    while (await receive())["type"] != "http.disconnect":
        pass


async def _end(*tasks: asyncio.Future[Any]) -> None:
    for task in tasks:
        task.cancel()
    await asyncio.gather(*tasks, return_exceptions=True)


def watched(app: ASGIApp) -> ASGIApp:
    """Return an ASGI application whose requests know whether their client is connected."""

    async def watching(scope: Scope, receive: Receive, send: Send) -> None:
        if scope["type"] != "http" or scope["method"] != "POST":
            await app(scope, receive, send)
            return
        presence = scope[PRESENCE] = Presence()

        async def received() -> Message:
            message = await receive()
            if message["type"] == "http.disconnect":
                presence.leave()
            return message

        await app(scope, received, send)

    return watching
