"""Serving of any ASGI application with uvicorn: bounded connections, and a graceful shutdown.

Uvicorn bounds only the silence between two requests; each byte of an unfinished head restarts that timeout, so a client
that drips its headers keeps a connection for nothing (CWE-400, "slowloris"). No application can see that: it runs when
the head is there.
"""

from __future__ import annotations

import asyncio
import gc
import logging
import signal
import socket
import time
from collections.abc import AsyncIterator, Callable, Generator, Mapping
from contextlib import asynccontextmanager, contextmanager, suppress
from typing import Any, Protocol

import h11
import uvicorn
from starlette.types import ASGIApp
from uvicorn.protocols.http.h11_impl import H11Protocol

from groundwire.errors import ConfigurationError

__all__ = ["InvalidRequests", "RunningCalls", "bounded", "listen", "run", "serving"]

_logger = logging.getLogger(__name__)

_BACKLOG = 512


def listen(host: str, port: int) -> socket.socket:
    """Return a socket that listens.

    Args:
        host: A name or address of this machine.
        port: The port; 0 is any that is free.

    Raises:
        ConfigurationError: it is in use, or not permitted.
    """
    try:
        family, _, _, _, address = socket.getaddrinfo(host, port, type=socket.SOCK_STREAM, flags=socket.AI_PASSIVE)[0]
        # With the protocol named, asyncio disables Nagle's algorithm, which would delay each small event by 40 ms.
        made = socket.socket(family, socket.SOCK_STREAM, socket.IPPROTO_TCP)
        try:
            made.setsockopt(socket.SOL_SOCKET, socket.SO_REUSEADDR, 1)
            made.bind(address)
            made.listen(_BACKLOG)
        except BaseException:
            made.close()
            raise
        return made
    except OSError as error:
        raise ConfigurationError(
            f"Cannot listen on {host}, port {port}: {error.strerror or error}. Pass another --host or --port."
        ) from error


_HEAD = 32_768  # bytes of a request line and headers
_LINGER = 1.0  # seconds for which a rejected client may still send
_SILENCE = 10.0  # seconds between two lines about invalid requests
_OF_CLIENTS = ("Invalid HTTP request", "Unsupported upgrade request", "No supported WebSocket library")
_UNREAD = 60.0  # seconds for which a client may read nothing of the pending data


class InvalidRequests:
    """Logs requests that are not HTTP: a line at once, and then at most one every ten seconds.

    Args:
        clock: Seconds that only grow.
    """

    def __init__(self, clock: Callable[[], float] = time.monotonic) -> None:
        self._clock = clock
        self._next = float("-inf")
        self._unlogged = 0

    def add(self, client: str) -> None:
        """Log or count a request from an address."""
        if self._clock() < self._next:
            self._unlogged += 1
            return
        more = f"; {self._unlogged:,} more since the last such line" if self._unlogged else ""
        _logger.warning("Invalid HTTP request from %s%s", client, more)
        self._next, self._unlogged = self._clock() + _SILENCE, 0


def _is_of_server(record: logging.LogRecord) -> bool:
    """Whether a record of uvicorn is not one of those that any client can cause at will."""
    return not str(record.msg).startswith(_OF_CLIENTS)


class _Bounded(H11Protocol):
    """A connection; `bounded` documents the limits."""

    head_timeout = 10.0
    unread_timeout = _UNREAD
    most = 2_000
    invalid: InvalidRequests

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
        """Receive data; the timeout runs from the first byte of a head to its last."""
        if self._over:
            return
        super().data_received(data)
        if not self._owes():
            self._stop_waiting()
        elif self._waiting is None and (self.conn.their_state is h11.SEND_BODY or self.conn.trailing_data[0]):
            self._wait()

    def send_400_response(self, msg: str) -> None:
        """Reject a request that is not HTTP."""
        self.invalid.add(self.client[0] if self.client else "an unknown address")
        super().send_400_response(msg)

    def connection_lost(self, exc: Exception | None) -> None:
        """End."""
        self._stop_waiting()
        self._stop_unread()
        super().connection_lost(exc)

    def pause_writing(self) -> None:
        """Start the timeout for a client that does not read the pending data."""
        super().pause_writing()
        if self._unread is None:
            self._unread = self.loop.call_later(self.unread_timeout, self.transport.abort)

    def resume_writing(self) -> None:
        """Stop the timeout: the client has read on."""
        self._stop_unread()
        super().resume_writing()

    def _owes(self) -> bool:
        """Whether the client must still send a head, or the rest of a body whose request was already answered."""
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
                # Closing immediately on a client that is still sending would reset the connection and lose the
                # response.
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


def bounded(
    *,
    head_timeout: float = 10.0,
    unread_timeout: float = _UNREAD,
    connections: int = 2_000,
    invalid: InvalidRequests | None = None,
) -> dict[str, Any]:
    """Return the options of `uvicorn.Config` that limit its connections.

    Args:
        head_timeout: Seconds that a client has for the head of a request.
        unread_timeout: Seconds for which a client may read nothing of an answer.
        connections: Maximum number at the same time; further ones are closed immediately.
        invalid: Logs requests that are not HTTP.
    """
    own: dict[str, Any] = {"head_timeout": head_timeout, "unread_timeout": unread_timeout, "most": connections}
    own["invalid"] = invalid or InvalidRequests()
    protocol: Callable[..., H11Protocol] = type("Bounded", (_Bounded,), own)
    return {"http": protocol, "h11_max_incomplete_event_size": _HEAD}


_PARTING = 3  # seconds that conversations have to end


@asynccontextmanager
async def serving(
    app: ASGIApp, host: str = "127.0.0.1", port: int = 0, *, options: Mapping[str, Any] | None = None
) -> AsyncIterator[str]:
    """Serve in this event loop while the block runs, and yield the URL, such as `http://127.0.0.1:41233`.

    Args:
        app: What is served.
        host: Where.
        port: Where; 0 is any that is free.
        options: Other bounds of the connections; see `groundwire_server.uvicorn_runner.bounded`.
    """
    listener = listen(host, port)
    server = _Quiet(_config(app, options or bounded()), lambda: None)
    task = asyncio.create_task(server.serve(sockets=[listener]))
    try:
        yield f"http://{host}:{listener.getsockname()[1]}"
    finally:
        server.should_exit = True
        await task
        listener.close()


def _config(app: ASGIApp, options: Mapping[str, Any]) -> uvicorn.Config:
    logging.getLogger("uvicorn.error").addFilter(_is_of_server)
    return uvicorn.Config(
        app,
        log_config=None,
        access_log=False,
        lifespan="off",
        server_header=False,
        proxy_headers=False,
        ws="none",
        timeout_graceful_shutdown=_PARTING,
        **options,
    )


_STOP = (signal.SIGINT, signal.SIGTERM)
_LAST_WORDS = 1.0  # seconds for canceled calls to send their errors


class _Quiet(uvicorn.Server):
    """A server that does not handle signals, and reports when it is serving."""

    def __init__(self, config: uvicorn.Config, ready: Callable[[], None]) -> None:
        super().__init__(config)
        self._ready = ready

    async def startup(self, sockets: list[socket.socket] | None = None) -> None:
        """Begin to serve."""
        await super().startup(sockets)
        self._ready()

    @contextmanager
    def capture_signals(self) -> Generator[None, None, None]:
        """Capture no signals."""
        yield


class RunningCalls(Protocol):
    """The running calls of an application, and its shutdown."""

    @property
    def running(self) -> int:
        """The number of running calls."""
        ...

    def leave(self) -> None:
        """Report to load balancers that the server is stopping; calls are still accepted."""
        ...

    def drain(self) -> None:
        """Accept no new calls; running ones continue."""
        ...

    def end_calls(self) -> None:
        """End the running calls with an error to their clients."""
        ...

    async def idle(self) -> None:
        """Wait until no call is running."""
        ...


async def run(
    app: ASGIApp,
    listener: socket.socket,
    ready: Callable[[], None],
    *,
    calls: RunningCalls,
    grace: float,
    say: Callable[[str], None],
    notice: float = 0.0,
    options: Mapping[str, Any] | None = None,
    reload: Callable[[], None] | None = None,
) -> int:
    """Serve until the process gets SIGINT or SIGTERM, and return the signal.

    Calls are taken for as long as load balancers need to see that it ends; those that run then have some time to end.
    The listener stays open meanwhile. A second signal ends everything at once.

    Args:
        app: What is served; it was started, and stays the caller's to close.
        listener: Where.
        ready: Is called when requests are taken.
        calls: The calls that run in the application.
        grace: Seconds that running calls have to end.
        say: Called with status messages.
        notice: Seconds for which calls are still taken.
        options: Other bounds of the connections; see `bounded`.
        reload: Called on SIGHUP; without it, SIGHUP changes nothing. It never ends the server.
    """

    def begun() -> None:
        ready()
        gc.collect()
        gc.freeze()  # what was made so far lasts as long as the server: no collection need look at it again

    server = _Quiet(_config(app, options or bounded()), begun)
    loop = asyncio.get_running_loop()
    came: list[int] = []
    asked, hurried = asyncio.Event(), asyncio.Event()

    def stop(number: int) -> None:
        (hurried if came else asked).set()
        came.append(number)

    def hang_up() -> None:
        if reload is None:
            _logger.warning("SIGHUP is ignored: this server reads its settings only when it starts")
        else:
            reload()

    handled: list[signal.Signals] = []
    with suppress(NotImplementedError, RuntimeError):
        loop.add_signal_handler(signal.SIGHUP, hang_up)
        handled.append(signal.SIGHUP)
    for number in _STOP:
        with suppress(NotImplementedError, RuntimeError):  # Windows, or not the main thread
            loop.add_signal_handler(number, stop, number)
            handled.append(number)
    serving = asyncio.create_task(server.serve(sockets=[listener]))
    ending = asyncio.create_task(_end(calls, server, asked, hurried, notice, grace, say))
    try:
        await serving
    finally:
        ending.cancel()
        await asyncio.gather(ending, return_exceptions=True)
        for one in handled:
            loop.remove_signal_handler(one)
        gc.unfreeze()
    return came[0] if came else 0


async def _end(
    calls: RunningCalls,
    server: uvicorn.Server,
    asked: asyncio.Event,
    hurried: asyncio.Event,
    notice: float,
    grace: float,
    say: Callable[[str], None],
) -> None:
    await asked.wait()
    second = asyncio.create_task(hurried.wait())
    calls.leave()
    if notice:
        say(f"Stopping in {notice:g} seconds; calls are accepted until then. Press again to stop at once.")
        await asyncio.wait({second}, timeout=notice)
    calls.drain()
    if calls.running:
        say(f"Stopping; {calls.running} running calls have {grace:g} seconds to finish. Press again to stop at once.")
    idle = asyncio.create_task(calls.idle())
    try:
        await asyncio.wait({idle, second}, timeout=grace, return_when=asyncio.FIRST_COMPLETED)
        calls.end_calls()
        await asyncio.wait({idle}, timeout=_LAST_WORDS)
    finally:
        idle.cancel()
        second.cancel()
    server.force_exit = hurried.is_set()
    server.should_exit = True
    await hurried.wait()
    server.force_exit = True
