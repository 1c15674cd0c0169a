"""The wire between ddgs and the search engines: a proxy on loopback that ends TLS itself and answers by host name.

A client that is given `url` as its proxy and `ca_file` as its list of trusted certificates believes that it
talks to the real hosts. No name is resolved and nothing leaves the machine.
"""

from __future__ import annotations

import socket
import ssl
import sys
import threading
from collections.abc import Callable, Mapping, Sequence
from contextlib import suppress
from dataclasses import dataclass, field, replace
from functools import partial
from io import BufferedIOBase
from socketserver import BaseServer, StreamRequestHandler, ThreadingTCPServer
from typing import Any
from urllib.parse import parse_qsl, urlsplit

from components.authority import Authority
from components.engine_pages import HTML, page_for
from components.upstream import Row

_POLL = 0.02  # seconds; how soon the server sees that it should end


@dataclass(frozen=True, slots=True, kw_only=True)
class WireRequest:
    """A request of ddgs to a search engine."""

    host: str
    """The host it expects to talk to."""
    method: str
    """The method."""
    path: str
    """The path with the query."""
    headers: Mapping[str, str] = field(repr=False)
    """The headers, their names in lower case."""
    body: bytes = field(repr=False)
    """The body."""

    @property
    def query(self) -> dict[str, str]:
        """The parameters in the path."""
        return dict(parse_qsl(urlsplit(self.path).query, keep_blank_values=True))

    @property
    def form(self) -> dict[str, str]:
        """The parameters in the body."""
        return dict(parse_qsl(self.body.decode("utf-8", "replace"), keep_blank_values=True))


@dataclass(frozen=True, slots=True, kw_only=True)
class Answer:
    """A response of a search engine."""

    status: int = 200
    """The HTTP status."""
    headers: Mapping[str, str] = field(default_factory=lambda: HTML)
    """The headers besides the length."""
    body: bytes = b""
    """The body."""
    pause: float = 0.0
    """Seconds between one byte of the body and the next; 0 sends it whole."""


class Wire:
    """A proxy that emulates every search engine.

    Args:
        authority: Signs the certificates.

    Attributes:
        url: The proxy's address.
        ca_file: The certificate to trust.
        log: The requests, in order.
        tls_failures: Why handshakes failed, one entry each.
        faults: What `handler` raised; the fixture fails the test for it.
        rows: What every engine finds, unless `handler` is set to something else.
        handler: Makes the answer to a request; None cuts the connection.
    """

    def __init__(self, authority: Authority) -> None:
        self.authority = authority
        self.ca_file = authority.ca_file
        self.log: list[WireRequest] = []
        self.tls_failures: list[str] = []
        self.faults: list[BaseException] = []
        self.rows: Sequence[Row] = [Row(f"title {n}", f"https://site{n}.example/", f"text {n}") for n in range(10)]
        self.handler: Callable[[WireRequest], Answer | None] = self._canned
        self._delay = 0.0
        self._closing = threading.Event()
        self._open = threading.Event()
        self._open.set()
        self._asked = threading.Condition()
        self._connections: set[socket.socket] = set()
        self._server = _Server(("127.0.0.1", 0), partial(_Connection, self))
        self._server.faults = self.faults
        self.url = f"http://127.0.0.1:{self._server.server_address[1]}"
        self._thread = threading.Thread(target=self._server.serve_forever, args=(_POLL,), name="wire")
        self._thread.start()

    def answer_with(
        self, status: int, headers: Mapping[str, str] = HTML, body: bytes = b"", *, pause: float = 0.0
    ) -> None:
        """Respond to every request in the same way; `pause` is the seconds between two bytes of the body."""
        answer = Answer(status=status, headers=headers, body=body, pause=pause)
        self.handler = lambda _: answer

    def trickle(self, pause: float) -> None:
        """Answer with the rows, a byte every `pause` seconds."""
        self.handler = lambda request: replace(self._canned(request), pause=pause)

    def drop(self) -> None:
        """Drop the connection at every request."""
        self.handler = lambda _: None

    def delay(self, seconds: float) -> None:
        """Delay every response."""
        self._delay = seconds

    def hold(self) -> None:
        """Hold every response until `release`."""
        self._open.clear()

    def release(self) -> None:
        """Release what `hold` held."""
        self._open.set()

    def wait_until_asked(self, count: int = 1, *, timeout: float = 60.0) -> bool:
        """Wait until there were `count` requests, at most `timeout` seconds, and return whether there were."""
        with self._asked:
            return self._asked.wait_for(lambda: len(self.log) >= count, timeout)

    def close(self) -> None:
        """Release what is held, drop every connection, and wait for the threads."""
        self._closing.set()
        self.release()
        self._server.shutdown()
        self._thread.join()
        for connection in list(self._connections):
            with suppress(OSError):
                connection.shutdown(socket.SHUT_RDWR)
        self._server.server_close()

    def reply(self, request: WireRequest) -> Answer | None:
        """Record a request and return its response when it is due; None drops the connection."""
        with self._asked:
            self.log.append(request)
            self._asked.notify_all()
        self._open.wait()
        self._closing.wait(self._delay)
        return None if self._closing.is_set() else self.handler(request)

    def pause(self, seconds: float) -> bool:
        """Wait, and return whether to continue."""
        return not self._closing.wait(seconds)

    def entered(self, connection: socket.socket) -> None:
        """Register a connection for `close` to drop."""
        self._connections.add(connection)

    def left(self, connection: socket.socket) -> None:
        """Unregister a connection."""
        self._connections.discard(connection)

    def _canned(self, request: WireRequest) -> Answer:
        page = page_for(request.host, request.method, request.path, self.rows)
        return Answer(status=404) if page is None else Answer(headers=page[0], body=page[1])


class _Server(ThreadingTCPServer):
    daemon_threads = False  # server_close waits for the threads
    faults: list[BaseException]

    def handle_error(self, request: object, client_address: object) -> None:
        fault = sys.exception()
        if fault is not None and not isinstance(fault, OSError):  # a client may go away at any time
            self.faults.append(fault)


class _Connection(StreamRequestHandler):
    def __init__(self, wire: Wire, request: socket.socket, address: Any, server: BaseServer) -> None:
        self._wire = wire
        super().__init__(request, address, server)

    def handle(self) -> None:
        """Handle a CONNECT request and then the requests in the tunnel."""
        method, target, _ = _head(self.rfile)
        if method != "CONNECT":
            self.wfile.write(b"HTTP/1.1 405 Only CONNECT\r\nContent-Length: 0\r\nConnection: close\r\n\r\n")
            return
        self.wfile.write(b"HTTP/1.1 200 Connected\r\n\r\n")
        host = target.rpartition(":")[0]
        with self.connection.dup() as twin:  # cutting this one cuts the tunnel, whatever TLS is doing there
            self._wire.entered(twin)
            try:
                self._tunnel(host)
            finally:
                self._wire.left(twin)

    def _tunnel(self, host: str) -> None:
        context = self._wire.authority.context(host)
        try:
            tunnel = context.wrap_socket(self.connection.dup(), server_side=True)
        except OSError as exc:
            self._wire.tls_failures.append(f"{host}: {exc}")
            return
        with tunnel, tunnel.makefile("rb") as incoming, suppress(OSError):
            while self._exchange(host, tunnel, incoming):
                pass

    def _exchange(self, host: str, tunnel: ssl.SSLSocket, incoming: BufferedIOBase) -> bool:
        method, path, headers = _head(incoming)
        if not method:
            return False
        body = incoming.read(int(headers.get("content-length", "0")))
        request = WireRequest(host=host, method=method, path=path, headers=headers, body=body)
        answer = self._wire.reply(request)
        if answer is None:
            return False
        lines = {"Content-Length": str(len(answer.body)), **answer.headers}
        head = f"HTTP/1.1 {answer.status} Answer\r\n" + "".join(f"{k}: {v}\r\n" for k, v in lines.items())
        tunnel.sendall(head.encode() + b"\r\n" + (b"" if answer.pause else answer.body))
        if answer.pause:
            for byte in answer.body:
                if not self._wire.pause(answer.pause):
                    return False
                tunnel.sendall(bytes([byte]))
        return True


def _head(incoming: BufferedIOBase) -> tuple[str, str, dict[str, str]]:
    """Read the method, the target and the headers of a request; all empty when there is none."""
    method, _, rest = incoming.readline().decode("latin-1").strip().partition(" ")
    headers = {}
    while line := incoming.readline().strip():
        name, _, value = line.decode("latin-1").partition(":")
        headers[name.lower()] = value.strip()
    return method, rest.partition(" ")[0], headers
