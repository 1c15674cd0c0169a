"""A real Valkey or Redis server without persistence, with a minimal client."""

from __future__ import annotations

import socket
from collections.abc import Iterator
from contextlib import contextmanager, suppress
from pathlib import Path

from components.needs import system_program
from components.processes import Program, ReservedPort

_SCHEDULED = (b":provider:", b":score:", b":extra-paid")
"""Keys of what all searches together read and write every few seconds: the more of it, the slower the machine."""
_START_TIMEOUT = 100.0  # seconds; it takes 0.1


class Valkey:
    """A Valkey server on loopback, or one of Redis.

    Args:
        program: The server program.
        folder: An empty folder for its log.
    """

    def __init__(self, program: Path, folder: Path) -> None:
        self._server = program
        self._folder = folder
        self.started_in = 0.0
        self._reserved = ReservedPort()
        self.port = self._reserved.number
        self._program = self._start()
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

    @contextmanager
    def searching(self) -> Iterator[list[bytes]]:
        """Note the exchanges that searches take during the block, as MONITOR tells them."""
        noted: list[bytes] = []
        with socket.create_connection(("127.0.0.1", self.port), timeout=60) as line, line.makefile("rb") as told:
            line.sendall(b"MONITOR\r\n")
            assert told.readline() == b"+OK\r\n"
            yield noted
            self.command("ECHO", "the-end")
            for command in iter(told.readline, b""):
                if b"the-end" in command:
                    return
                # What a script does is no exchange, and a connection is begun now and then.
                if b'"EVALSHA"' in command and not any(key in command for key in _SCHEDULED):
                    noted.append(command)

    def flush(self) -> None:
        """Delete every key of every database."""
        self.command("FLUSHALL")

    def stop(self) -> None:
        """Stop the server; its address stays reserved for `restart`."""
        self._program.stop()
        self._running = False

    def restart(self) -> None:
        """Restart the server, empty and on the same port, if it was stopped."""
        if not self._running:
            self._program = self._start()
            self._running = True

    def _start(self) -> Program:
        options = ["--bind", "127.0.0.1", "--port", str(self.port), "--save", "", "--appendonly", "no"]
        program = Program(self._server.name, [str(self._server), *options], env={}, log=self._folder / "server.log")
        self.started_in = program.wait_until(lambda: _command(self.port, "PING") == "+PONG", _START_TIMEOUT)
        return program


def redis_server_program() -> Path:
    """Return the machine's own program `redis-server`.

    Raises:
        Unavailable: It is not installed; it comes with the system and not from a package index.
    """
    return system_program("redis-server")


def _command(port: int, *words: str) -> str:
    request = f"*{len(words)}\r\n" + "".join(f"${len(word.encode())}\r\n{word}\r\n" for word in words)
    with socket.create_connection(("127.0.0.1", port), timeout=60) as connection:
        connection.sendall(request.encode())
        answer = b""
        with suppress(TimeoutError):
            while b"\r\n" not in answer and (piece := connection.recv(4096)):
                answer += piece
    return answer.partition(b"\r\n")[0].decode()
