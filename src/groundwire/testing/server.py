"""The servers of the miniature web: a port for each endpoint, all in one thread."""

from __future__ import annotations

import asyncio
import socket
import threading
import time
from abc import ABC, abstractmethod
from collections.abc import Callable, Iterable
from dataclasses import dataclass

from aiohttp import web

from groundwire.testing.fault_injection import InjectedFault
from groundwire.testing.http_messages import EmulatedResponse, Recorded, Wire
from groundwire.transport.connector import close_server

__all__ = ["EmulatedServer", "ServerThread"]

_LOOPBACK = "127.0.0.1"
_MAX_WAIT = 60.0  # seconds for operations of the thread that take milliseconds; reached only on a broken machine


@dataclass(slots=True)
class _Planned:
    """A planned fault with its remaining requests."""

    fault: InjectedFault
    remaining: int | None
    when: Callable[[Recorded], bool] | None


class EmulatedServer(ABC):
    """A server of the miniature web: a site, or a search service.

    A sub-class says in `handle` what it answers; faults, records and addresses are here. Every method may be
    called from any thread.

    Args:
        name: What the world calls it.
        host: Its name under .test, to which it answers beside 127.0.0.1.
    """

    def __init__(self, name: str, host: str | None = None) -> None:
        self.name = name
        self.host: str = host or f"{name}.test"
        self._port: int | None = None
        self._planned: list[_Planned] = []
        self._requests: list[Recorded] = []
        self._robots: list[Recorded] = []
        self._arrived = threading.Condition()
        self._server: web.Server | None = None

    @abstractmethod
    def handle(self, request: Recorded) -> EmulatedResponse:
        """Return the response to `request`; called in the server's thread, so it must not block."""

    @property
    def port(self) -> int:
        """The TCP port on 127.0.0.1.

        Raises:
            RuntimeError: The world has not been started.
        """
        if self._port is None:
            raise RuntimeError(f"{self.name} has no address yet: start the world first, as in `with World()`.")
        return self._port

    @property
    def url(self) -> str:
        """The base URL with the address, such as `http://127.0.0.1:41233`."""
        return f"http://{_LOOPBACK}:{self.port}"

    @property
    def named_url(self) -> str:
        """The base URL with the name, such as `http://docs.test:41233`."""
        return f"http://{self.host}:{self.port}"

    @property
    def requests(self) -> list[Recorded]:
        """The requests so far, in order, except for those in `robots_requests`."""
        with self._arrived:
            return list(self._requests)

    @property
    def robots_requests(self) -> list[Recorded]:
        """The requests for /robots.txt so far, in order."""
        with self._arrived:
            return list(self._robots)

    @property
    def connections(self) -> int:
        """The number of open connections."""
        return 0 if self._server is None else len(self._server.connections)

    def fail(
        self, fault: InjectedFault, *, times: int | None = 1, when: Callable[[Recorded], bool] | None = None
    ) -> None:
        """Inject `fault` into coming requests. Pending faults are applied in order.

        Args:
            fault: What goes wrong.
            times: For how many requests; None for all, until `heal`.
            when: Only for requests for which this returns True. Without it /robots.txt goes on being answered.
        """
        with self._arrived:
            self._planned.append(_Planned(fault, times, when))

    def heal(self) -> None:
        """Remove all pending faults."""
        with self._arrived:
            self._planned.clear()

    def forget(self) -> None:
        """Remove the recorded requests."""
        with self._arrived:
            self._requests.clear()
            self._robots.clear()

    def wait_for_requests(self, count: int, timeout: float = 60.0) -> list[Recorded]:
        """Block until `count` requests have been received, and return them.

        Args:
            count: How many since the start or since `forget`.
            timeout: The longest wait, in seconds.

        Raises:
            TimeoutError: Fewer arrived in that time.
        """
        with self._arrived:
            if not self._arrived.wait_for(lambda: len(self._requests) >= count, timeout):
                raise TimeoutError(f"{self.name} got {len(self._requests)} of {count} requests in {timeout} s.")
            return list(self._requests)

    def _answered(self, request: Recorded) -> EmulatedResponse:
        try:
            return self.handle(request)
        except Exception:
            if request.path != "/robots.txt":
                raise
            return EmulatedResponse.text("There are no rules here.", status=404)  # most endpoints do not support any

    def _note(self, request: Recorded) -> InjectedFault | None:
        about_robots = request.path == "/robots.txt"
        with self._arrived:
            (self._robots if about_robots else self._requests).append(request)
            self._arrived.notify_all()
            for planned in self._planned:
                if planned.when(request) if planned.when else not about_robots:
                    if planned.remaining is not None:
                        planned.remaining -= 1
                        if planned.remaining <= 0:
                            self._planned.remove(planned)
                    return planned.fault
        return None

    async def _respond(self, request: web.BaseRequest) -> web.StreamResponse:
        recorded = Recorded(
            method=request.method,
            path=request.path,
            target=request.raw_path,
            query=dict(request.query.items()),
            headers=request.headers,
            body=await request.read(),
            at=time.monotonic(),
        )
        fault = self._note(recorded)
        wire = Wire(request)
        try:
            reply = self._answered(recorded)
            return await wire.send(reply) if fault is None else await fault.play(wire, reply)
        except ConnectionError:  # the client left during the write, which also cancels this task
            await wire.gone()

    async def _open(self, listener: socket.socket) -> asyncio.Server:
        self._server = web.Server(self._respond, handler_cancellation=True, access_log=None)
        return await asyncio.get_running_loop().create_server(self._server, sock=listener)

    async def _shut(self) -> None:
        if self._server is None:
            return
        for connection in self._server.connections:
            if connection.transport is not None:
                connection.transport.abort()
        await self._server.shutdown(timeout=0.1)


class ServerThread:
    """A thread with its own event loop that serves endpoints until it is stopped.

    Args:
        port: The port of the first endpoint, and the following ports for the others; 0 uses any free ones.
    """

    def __init__(self, port: int = 0) -> None:
        self._next_port = port
        self._ready = threading.Event()
        self._thread: threading.Thread | None = None
        self._loop: asyncio.AbstractEventLoop | None = None
        self._stopping: asyncio.Event | None = None
        self._served: list[tuple[EmulatedServer, asyncio.Server]] = []

    def start(self) -> None:
        """Start the thread.

        Raises:
            RuntimeError: It is already running.
        """
        if self._thread is not None:
            raise RuntimeError("The world runs already.")
        self._ready.clear()
        self._thread = threading.Thread(target=lambda: asyncio.run(self._main()), name="world", daemon=True)
        self._thread.start()
        if not self._ready.wait(_MAX_WAIT):
            raise RuntimeError("The world's thread did not start.")

    def serve(self, endpoints: Iterable[EmulatedServer]) -> None:
        """Assign a port to each endpoint and serve it.

        Raises:
            RuntimeError: The thread is not running.
        """
        if self._loop is None or self._thread is None:
            raise RuntimeError("Start the world first, as in `with World()`.")
        asyncio.run_coroutine_threadsafe(self._listen(list(endpoints)), self._loop).result(_MAX_WAIT)

    def stop(self) -> None:
        """Close all connections, end the thread and wait for it. Idempotent."""
        thread, self._thread = self._thread, None
        if thread is None or self._loop is None or self._stopping is None:
            return
        self._loop.call_soon_threadsafe(self._stopping.set)
        thread.join(_MAX_WAIT)

    async def _main(self) -> None:
        self._loop, self._stopping = asyncio.get_running_loop(), asyncio.Event()
        self._ready.set()
        await self._stopping.wait()
        for _, server in self._served:
            await close_server(server)
        await asyncio.gather(*(endpoint._shut() for endpoint, _ in self._served))
        self._served.clear()

    async def _listen(self, endpoints: list[EmulatedServer]) -> None:
        for endpoint in endpoints:
            listener = socket.create_server((_LOOPBACK, self._next_port), backlog=512)
            self._next_port += self._next_port > 0
            endpoint._port = listener.getsockname()[1]
            self._served.append((endpoint, await endpoint._open(listener)))
