"""Responses that are canceled when the client disconnects, whole or as server-sent events."""

from __future__ import annotations

import asyncio
from collections.abc import Callable, Coroutine
from typing import Any

from starlette.responses import Response
from starlette.types import ASGIApp, Message, Receive, Scope, Send

from groundwire.server.request_errors import UpstreamRejected

__all__ = ["Outbox", "answer_whole", "answer_with_events", "until_done"]

_WAITING = 64  # chunks that wait for a slow client before the work waits too
_HEAD = ((b"content-type", b"text/event-stream; charset=utf-8"), (b"cache-control", b"no-cache"))


class Outbox:
    """Event chunks on their way to the client."""

    def __init__(self) -> None:
        self.headers: dict[str, str] = {}
        """Additional headers of the response; effective until the first chunk."""
        self._pieces: asyncio.Queue[bytes] = asyncio.Queue()
        self._room = asyncio.Event()
        self._room.set()

    def add(self, data: bytes) -> None:
        """Send a chunk."""
        self._pieces.put_nowait(data)
        if self._pieces.qsize() >= _WAITING:
            self._room.clear()

    async def put(self, data: bytes) -> None:
        """Send a chunk, and wait for a slow client to take the previous ones."""
        self.add(data)
        await self._room.wait()

    async def get(self) -> bytes:
        """Return the next chunk, once there is one."""
        data = await self._pieces.get()
        self._room.set()
        return data

    @property
    def empty(self) -> bool:
        """Whether all chunks were taken."""
        return self._pieces.empty()


async def answer_whole(work: Coroutine[Any, Any, Response], scope: Scope, receive: Receive, send: Send) -> None:
    """Send the response produced by a coroutine; it is canceled when the client disconnects."""
    task = asyncio.create_task(work)
    gone = asyncio.create_task(_until_gone(receive))
    try:
        await asyncio.wait({task, gone}, return_when=asyncio.FIRST_COMPLETED)
        if task.done():
            await task.result()(scope, receive, send)
    finally:
        await _end(task, gone)


async def answer_with_events(
    work: Callable[[Outbox], Coroutine[Any, Any, Response | None]],
    failed: Callable[[UpstreamRejected], bytes],
    scope: Scope,
    receive: Receive,
    send: Send,
    *,
    keep_alive: float,
) -> None:
    """Send the events emitted by a coroutine; it is canceled when the client disconnects.

    Args:
        work: Emits events. Until it has, it may also return a response, or raise UpstreamRejected, which becomes one.
        failed: Makes the event for a failure after the first event.
        scope: The connection.
        receive: Its receiving end.
        send: Its sending end.
        keep_alive: Seconds of silence after which a comment is sent, so that no proxy on the way times out.
    """
    outbox = Outbox()
    task = asyncio.create_task(work(outbox))
    gone = asyncio.create_task(_until_gone(receive))
    begun = False

    async def pass_on(data: bytes) -> None:
        nonlocal begun
        if not begun:
            begun = True
            given = [(name.lower().encode("latin-1"), value) for name, value in outbox.headers.items()]
            more = [(name, value.encode("latin-1")) for name, value in given if name not in dict(_HEAD)]
            await send({"type": "http.response.start", "status": 200, "headers": [*_HEAD, *more]})
        await send({"type": "http.response.body", "body": data, "more_body": True})

    try:
        getting = asyncio.create_task(outbox.get())
        while True:
            done, _ = await asyncio.wait({task, gone, getting}, timeout=keep_alive, return_when=asyncio.FIRST_COMPLETED)
            if getting in done:
                await pass_on(getting.result())
                getting = asyncio.create_task(outbox.get())
            elif gone in done:
                return
            elif task in done:
                break
            elif begun:
                await pass_on(b": searching\n\n")
        while not outbox.empty:
            await pass_on(await outbox.get())
        try:
            response = task.result()
        except UpstreamRejected as error:
            response = None
            if begun:
                await pass_on(failed(error))
            else:
                response = Response(error.body, error.status, dict(error.headers))
        if begun:
            await send({"type": "http.response.body", "body": b"", "more_body": False})
        elif response is not None:
            await response(scope, receive, send)
    finally:
        await _end(task, gone, getting)


async def until_done(app: ASGIApp, scope: Scope, receive: Receive, send: Send, *, has_read: bool = False) -> None:
    """Run an application until it is done, or until the client disconnects after the request was read.

    Args:
        app: The application.
        scope: The connection.
        receive: Its receiving end.
        send: Its sending end.
        has_read: Whether the whole request was read before.
    """
    read = asyncio.Event()
    if has_read:
        read.set()

    async def receiving() -> Message:
        if read.is_set():
            await asyncio.Event().wait()  # the watch below has the connection from here on
        message = await receive()
        if message["type"] == "http.disconnect" or not message.get("more_body", False):
            read.set()
        return message

    task = asyncio.ensure_future(app(scope, receiving, send))

    async def watch() -> None:
        await read.wait()
        await _until_gone(receive)

    gone = asyncio.create_task(watch())
    try:
        await asyncio.wait({task, gone}, return_when=asyncio.FIRST_COMPLETED)
        if task.done():
            await task
    finally:
        await _end(task, gone)


async def _until_gone(receive: Receive) -> None:
    while (await receive())["type"] != "http.disconnect":
        pass


async def _end(*tasks: asyncio.Future[Any]) -> None:
    for task in tasks:
        task.cancel()
    await asyncio.gather(*tasks, return_exceptions=True)
