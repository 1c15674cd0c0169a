"""A real Valkey server without persistence, and just enough of its protocol to look at it."""

from __future__ import annotations

import socket
from contextlib import suppress
from pathlib import Path

from components.environment import Environment
from components.processes import Program, start_on_free_port

__all__ = ["Valkey"]

_START_TIMEOUT = 20.0  # seconds; it takes 0.1


class Valkey:
    """A Valkey server on loopback.

    Args:
        environment: Where the server program is.
        folder: An empty folder for its log.
    """

    def __init__(self, environment: Environment, folder: Path) -> None:
        self._server = environment.valkey_server
        self._folder = folder
        self.started_in = 0.0
        self._program, self.port = start_on_free_port(self._start)
        self._running = True

    @property
    def url(self) -> str:
        """The address, with database 0."""
        return f"redis://127.0.0.1:{self.port}/0"

    def command(self, *words: str) -> str:
        """Send one command and return the first line of the answer, such as `+PONG`.

        The requests and answers are those of https://valkey.io/topics/protocol/.
        """
        return _command(self.port, *words)

    def flush(self) -> None:
        """Forget every key of every database."""
        self.command("FLUSHALL")

    def stop(self) -> None:
        """End the server; its address stays its own for `restart`."""
        self._program.stop()
        self._running = False

    def restart(self) -> None:
        """Start the server again, empty and on the same port, if it was stopped."""
        if not self._running:
            self._program = self._start(self.port)
            self._running = True

    def _start(self, port: int) -> Program:
        options = ["--bind", "127.0.0.1", "--port", str(port), "--save", "", "--appendonly", "no"]
        program = Program("Valkey", [str(self._server), *options], env={}, log=self._folder / "valkey.log")
        self.started_in = program.wait_until(lambda: _command(port, "PING") == "+PONG", _START_TIMEOUT)
        return program


def _command(port: int, *words: str) -> str:
    request = f"*{len(words)}\r\n" + "".join(f"${len(word.encode())}\r\n{word}\r\n" for word in words)
    with socket.create_connection(("127.0.0.1", port), timeout=2) as connection:
        connection.sendall(request.encode())
        answer = b""
        with suppress(TimeoutError):
            while b"\r\n" not in answer and (piece := connection.recv(4096)):
                answer += piece
    return answer.partition(b"\r\n")[0].decode()
