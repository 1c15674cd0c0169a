"""Serving of any ASGI application with uvicorn: bounded connections, and a graceful shutdown.

Uvicorn bounds only the silence between two requests; each byte of an unfinished head restarts that timeout, so a client
that drips its headers keeps a connection for nothing (CWE-400, "slowloris"). No application can see that: it runs when
the head is there.
"""

from __future__ import annotations

import asyncio
import gc
import itertools
import logging
import re
import signal
import socket
import time
from collections.abc import AsyncIterator, Callable, Generator, Mapping
from contextlib import asynccontextmanager, contextmanager, suppress
from functools import partial
from typing import TYPE_CHECKING, Any

import uvicorn
from starlette.types import ASGIApp
from uvicorn.protocols.http.httptools_impl import HttpToolsProtocol

from groundwire.errors import ConfigurationError
from groundwire.fair_queue import CURRENT_TENANT
from groundwire_server.auth.admission import OVERLOADED, Admission
from groundwire_server.auth.authentication import CREDENTIALS
from groundwire_server.auth.error_response import raw_response

if TYPE_CHECKING:
    from groundwire_server.api.context import Traffic

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
        listener = socket.socket(family, socket.SOCK_STREAM, socket.IPPROTO_TCP)
        try:
            listener.setsockopt(socket.SOL_SOCKET, socket.SO_REUSEADDR, 1)
            listener.bind(address)
            listener.listen(_BACKLOG)
        except BaseException:
            listener.close()
            raise
        return listener
    except OSError as error:
        raise ConfigurationError(
            f"Cannot listen on {host}, port {port}: {error.strerror or error}. Pass another --host or --port."
        ) from error


_HEAD = 32_768  # bytes of an incomplete head; `Access` refuses a complete one with more
_LINGER = 1.0  # seconds for which a rejected client may still send
_SILENCE = 10.0  # seconds between two lines about invalid requests
_OF_CLIENTS = ("Invalid HTTP request", "Unsupported upgrade request", "No supported WebSocket library")
_UNREAD = 60.0  # seconds for which a client may read nothing of the pending data
# Seconds that a connection is kept without a request, as nginx keeps it: a client that sends one just as the server
# closes gets a reset. Clients (httpx 5, undici 4, aiohttp 15) and load balancers (60) must be the ones that close.
_KEPT = 75.0


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


_PROBES = (b"GET /healthz ", b"GET /readyz ")
_NAMES = b"|".join(sorted(CREDENTIALS))
_CREDENTIAL = re.compile(rb"\r\n(?:%s):([^\r\n]*)" % _NAMES, re.IGNORECASE)
_PLAIN = re.compile(rb"(?:get|post) [!-~]+ http/1\.1\r\n")
_LENGTH = re.compile(rb"\r\ncontent-length:[ \t]*([0-9]{1,9})[ \t]*(?=\r\n|$)")
_OTHERWISE = (b"\r\ntransfer-encoding", b"\r\nupgrade", b"\r\nexpect", b"\r\nconnection: close")
_REFUSED, _REFUSED_LAST = (raw_response(OVERLOADED, closes=closes) for closes in (False, True))


def _is_complete(head: bytes, body: bytes) -> bool:
    """Whether this is a complete request and no more, so that the next byte is sure to be that of another request."""
    head = head.lower()
    lengths = _LENGTH.findall(head)
    if not _PLAIN.match(head) or not len(lengths) == head.count(b"content-length") <= 1:
        return False
    return len(body) == int(*lengths) and not any(header in head for header in _OTHERWISE)


class _Bounded(HttpToolsProtocol):
    """A connection; `bounded` documents the limits."""

    head_timeout = 10.0
    idle_timeout = _KEPT
    unread_timeout = _UNREAD
    most = 2_000
    invalid: InvalidRequests
    admission: Admission | None = None
    silent: dict[_Bounded, None]
    """The connections that have sent no request yet, the oldest first."""
    idle: tuple[dict[_Bounded, None], dict[_Bounded, None]]
    """Those between two requests, the longest idle first: of those without a valid credential, and of the others."""

    _is_silent = True  # whether nothing has come
    _begun = False  # whether there was a whole head
    _in_head = False
    _in_body = False
    _came = 0  # bytes received since the last whole head
    _over = False
    _credential = b""  # that came with the last request
    _waiting: asyncio.TimerHandle | None = None
    _unread: asyncio.TimerHandle | None = None

    def connection_made(self, transport: asyncio.Transport) -> None:  # type: ignore[override]  # as uvicorn has it
        """Begin; if there are too many, the oldest without a request ends, else the longest idle, else this one."""
        super().connection_made(transport)
        self._wait(self.idle_timeout)
        self.silent[self] = None
        if len(self.connections) > 2 * self.most:  # with those that end
            transport.abort()
        elif len(self.connections) > self.most:
            longest_idle = next(itertools.chain(*self.idle), None)
            if longest_idle is not None and next(iter(self.silent)) is self:
                longest_idle._attend()
                longest_idle.transport.close()
            else:
                next(iter(self.silent))._part(_REFUSED_LAST)

    def data_received(self, data: bytes) -> None:
        """Receive data; the timeout runs from the first byte of a head to its last."""
        if self._over:
            return
        CURRENT_TENANT.set("")  # reading that a request has paused goes on in the context of that request
        if self._is_silent:
            self._is_silent = False
            self._stop_waiting()
        if self.admission is not None and self._begins() and self._is_refused(data):
            return
        super().data_received(data)
        self._came = self._came + len(data) if self._in_head else 0
        if self._came > _HEAD and not self.transport.is_closing():
            self.send_400_response("The request's headers are too large.")
        if not self._owes():
            self._stop_waiting()
        elif self._waiting is None:
            self._wait(self.head_timeout)

    def on_message_begin(self) -> None:
        """Begin a head."""
        self._in_head = True
        super().on_message_begin()

    def on_header(self, name: bytes, value: bytes) -> None:
        """Take a header, but none after a body: the application has read the headers by then."""
        if self._in_head:
            super().on_header(name, value.strip(b" \t"))  # the blanks around it are not part of it (RFC 9110, 5.5)

    def on_headers_complete(self) -> None:
        """End a head."""
        self._in_head, self._in_body = False, True
        self._attend()
        super().on_headers_complete()
        self._begun = True

    def on_message_complete(self) -> None:
        """End a body."""
        self._in_body = False
        super().on_message_complete()

    def on_response_complete(self) -> None:
        """End an answer."""
        super().on_response_complete()
        if self.timeout_keep_alive_task is not None:
            self.idle[self._is_known()][self] = None

    def send_400_response(self, msg: str) -> None:
        """Reject a request that is not HTTP."""
        self._over = True
        self.invalid.add(self.client[0] if self.client else "an unknown address")
        super().send_400_response(msg)

    def connection_lost(self, exc: Exception | None) -> None:
        """End."""
        self._attend()
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

    def _begins(self) -> bool:
        """Whether the next byte is the first of a request."""
        return not self._in_head and not self._in_body and self._is_answered()

    def _is_refused(self, data: bytes) -> bool:
        """Refuse a request that has just begun to arrive, if the server has too many, without parsing it."""
        if data.startswith(_PROBES) or self.admission is None:
            return False
        head, _, body = data.partition(b"\r\n\r\n")
        match = _CREDENTIAL.search(head)
        self._credential = match[1].strip() if match else b""
        if not self.admission.refuses(self._credential, self.client[0] if self.client else ""):
            return False
        if _is_complete(head, body):
            self._attend()
            self._stop_waiting()
            self.transport.write(_REFUSED)
            self.on_response_complete()
        else:
            self._part(_REFUSED_LAST)
        return True

    def _is_known(self) -> bool:
        """Whether the last request came with a credential that was found valid."""
        address = self.client[0] if self.client else ""
        return self.admission is not None and self.admission.knows(self._credential, address)

    def _is_answered(self) -> bool:
        return not self._begun or self.cycle.response_complete

    def _owes(self) -> bool:
        """Whether the client must still send a head, or the rest of a body whose request was already answered."""
        return self._in_head or not self._begun or (self._in_body and self._is_answered())

    def _attend(self) -> None:
        """Count this connection no longer among those without a request."""
        for connections in (self.silent, *self.idle):
            connections.pop(self, None)

    def _wait(self, timeout: float) -> None:
        self._waiting = self.loop.call_later(timeout, self._give_up)

    def _give_up(self) -> None:
        self._waiting = None
        if self.transport.is_closing() or not self._owes():
            return
        if self._in_head and self._is_answered():
            text = b"The request headers did not arrive in time."
            self._part(
                b"HTTP/1.1 408 Request Timeout\r\ncontent-type: text/plain\r\ncontent-length: %d\r\n"
                b"connection: close\r\n\r\n%s" % (len(text), text)
            )
        else:
            self.transport.close()

    def _part(self, answer: bytes) -> None:
        """Send a last answer, and end the connection once the client has had time to read it.

        Closing immediately on a client that is still sending would reset the connection and lose the response.
        """
        self._over = True
        self._attend()
        self._stop_waiting()
        self.transport.write(answer)
        if self.transport.can_write_eof():
            self.transport.write_eof()
            self._waiting = self.loop.call_later(_LINGER, self.transport.abort)
        else:
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
    idle_timeout: float = _KEPT,
    connections: int = 2_000,
    invalid: InvalidRequests | None = None,
    admission: Admission | None = None,
) -> dict[str, Any]:
    """Return the options of `uvicorn.Config` that limit its connections.

    Args:
        head_timeout: Seconds that a client has for the head of a request, from its first byte.
        unread_timeout: Seconds for which a client may read nothing of an answer.
        idle_timeout: Seconds that a connection is kept before the first request, and between two.
        connections: Maximum number at the same time; one more ends the oldest that has sent
            no request yet, with a 503; if there is none, the one that has been idle for longest, first of those
            whose last request had no valid credential; or itself.
        invalid: Logs requests that are not HTTP.
        admission: Refuses requests before they are parsed.
    """
    own: dict[str, Any] = {"head_timeout": head_timeout, "idle_timeout": idle_timeout, "unread_timeout": unread_timeout}
    own["most"], own["admission"], own["silent"], own["idle"] = connections, admission, {}, ({}, {})
    own["invalid"] = invalid or InvalidRequests()
    protocol: Callable[..., HttpToolsProtocol] = type("Bounded", (_Bounded,), own)
    return {"http": protocol, "timeout_keep_alive": idle_timeout}


_PARTING = 3  # seconds that conversations have to end


@asynccontextmanager
async def serving(
    app: ASGIApp,
    host: str = "127.0.0.1",
    port: int = 0,
    *,
    options: Mapping[str, Any] | None = None,
    listener: socket.socket | None = None,
) -> AsyncIterator[str]:
    """Serve in this event loop while the block runs, and yield the URL, such as `http://127.0.0.1:41233`.

    Args:
        app: What is served.
        host: Where.
        port: Where; 0 is any that is free.
        options: Other bounds of the connections; see `bounded`.
        listener: A socket that listens, instead; a Unix one has no URL.
    """
    listener = listener or listen(host, port)
    server = _Quiet(_config(app, bounded() if options is None else options), lambda: None)
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
_STEP = 0.1  # seconds between two looks at the connections of a retired process
_LOOKS = 10  # in a row without a connection after which it ends: one that was just accepted takes turns of the loop

RETIRE = signal.SIGUSR1
"""Tells one of several processes on a socket to accept no more connections, and to end when its own are closed.

It answers on each of them for the last time, and ends when there is none left on which a request can come. It closes
idle ones no sooner than ever: a client that sent a request at that moment would get a reset.
"""


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


async def run(
    app: ASGIApp,
    listener: socket.socket,
    ready: Callable[[], None],
    *,
    calls: Traffic,
    grace: float,
    say: Callable[[str], None],
    notice: float = 0.0,
    options: Mapping[str, Any] | None = None,
    reload: Callable[[], None] | None = None,
    retire: Callable[[], None] | None = None,
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
        retire: Called on `RETIRE`, where other processes accept connections from the listener, too.
    """

    def begun() -> None:
        ready()
        gc.collect()
        gc.freeze()  # what was made so far lasts as long as the server: no collection need look at it again

    options = options or bounded()
    server = _Quiet(_config(app, options), begun)
    loop = asyncio.get_running_loop()
    came: list[int] = []
    first_signal, second_signal, retired = asyncio.Event(), asyncio.Event(), asyncio.Event()

    def stop(number: int) -> None:
        if retire is not None and number in came:
            return  # a service manager sends it to all processes, and so does their supervisor
        (second_signal if came else first_signal).set()
        came.append(number)

    def leave() -> None:
        if retire is not None:
            retire()
        for each_server in server.servers:
            for each_listener in each_server.sockets:
                loop.remove_reader(each_listener.fileno())
            loop.call_soon(each_server.close)  # after connections just accepted: asyncio drops those of a closed server
        calls.retire()
        retired.set()

    async def end_when_left() -> None:
        await retired.wait()
        unused = 0
        for _ in range(round(options["timeout_keep_alive"] / _STEP)):
            # On a connection, there may be a request that is no call yet.
            unused = 0 if calls.running or server.server_state.connections else unused + 1
            if unused == _LOOKS:
                break
            await asyncio.sleep(_STEP)
        first_signal.set()

    handlers: dict[int, Callable[[], None]] = {number: partial(stop, number) for number in _STOP}
    text = "SIGHUP is ignored: this server reads its settings only when it starts"
    handlers[signal.SIGHUP] = reload or partial(_logger.warning, text)
    if retire is not None:
        handlers[RETIRE] = leave
    with suppress(RuntimeError):  # not the main thread
        for number, handler in handlers.items():
            loop.add_signal_handler(number, handler)
    serving = asyncio.create_task(server.serve(sockets=[listener]))
    ending = asyncio.gather(
        end_when_left(),
        _end(calls, server, first_signal, second_signal, lambda: notice if came else 0.0, grace, say),
        return_exceptions=True,
    )
    try:
        await serving
    finally:
        ending.cancel()
        await asyncio.gather(ending, return_exceptions=True)
        for number in handlers:
            loop.remove_signal_handler(number)
        gc.unfreeze()
    return came[0] if came else 0


async def _end(
    calls: Traffic,
    server: uvicorn.Server,
    first_signal: asyncio.Event,
    second_signal: asyncio.Event,
    noticed: Callable[[], float],
    grace: float,
    say: Callable[[str], None],
) -> None:
    await first_signal.wait()
    second = asyncio.create_task(second_signal.wait())
    calls.leave()
    if notice := noticed():
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
    server.force_exit = second_signal.is_set()
    server.should_exit = True
    await second_signal.wait()
    server.force_exit = True
