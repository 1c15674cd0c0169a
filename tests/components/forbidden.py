"""A local port that nothing may reach: it counts every connection and every datagram."""

from __future__ import annotations

import select
import socket
import threading
from contextlib import suppress
from types import TracebackType
from typing import Self


class Forbidden:
    """Listens on one port of loopback, by TCP and by UDP, IPv4 and IPv6. It answers, so that an answer could be read.

    Attributes:
        hits: What arrived: the first bytes of each connection (empty for one that sent none) and each datagram.
    """

    def __init__(self) -> None:
        self.hits: list[bytes] = []
        tcp = socket.create_server(("127.0.0.1", 0))
        self.port: int = tcp.getsockname()[1]
        self._listening = [tcp]
        self._datagrams = [socket.socket(socket.AF_INET, socket.SOCK_DGRAM)]
        self._datagrams[0].bind(("127.0.0.1", self.port))
        if socket.has_ipv6:
            with suppress(OSError):  # a machine without IPv6
                self._listening.append(socket.create_server(("::1", self.port), family=socket.AF_INET6))
        self._end = threading.Event()
        self._thread = threading.Thread(target=self._run, daemon=True)

    def _run(self) -> None:
        while not self._end.is_set():
            ready, _, _ = select.select([*self._listening, *self._datagrams], [], [], 0.05)
            for sock in ready:
                if sock in self._datagrams:
                    self.hits.append(sock.recv(2_000))
                    continue
                connection, _ = sock.accept()
                with connection:
                    connection.settimeout(0.2)
                    try:
                        self.hits.append(connection.recv(300))
                        connection.sendall(
                            b"HTTP/1.1 200 OK\r\nAccess-Control-Allow-Origin: *\r\nContent-Length: 6\r\n"
                            b"Connection: close\r\n\r\nSECRET"
                        )
                    except OSError:
                        self.hits.append(b"")

    def __enter__(self) -> Self:
        self._thread.start()
        return self

    def __exit__(
        self, kind: type[BaseException] | None, error: BaseException | None, trace: TracebackType | None
    ) -> None:
        self._end.set()
        self._thread.join()
        for sock in (*self._listening, *self._datagrams):
            sock.close()
