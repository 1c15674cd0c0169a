"""A real HAProxy with the deployed configuration, its state and its log."""

from __future__ import annotations

import csv
import json
import socket
import time
from collections.abc import Sequence
from dataclasses import dataclass
from pathlib import Path

from components.needs import system_program
from components.processes import Program, ReservedPort

_SETTINGS = Path(__file__).resolve().parents[2] / "deploy" / "haproxy.cfg"
_START_TIMEOUT = 100.0  # seconds; it takes 0.1
_LOG_TIMEOUT = 60.0  # seconds; a line is written when an exchange has ended
_STEP = 0.02  # seconds between two looks


@dataclass(frozen=True, slots=True)
class Exchange:
    """A request in the log."""

    id: str
    """The request's ID."""
    status: int
    """The status sent to the client."""
    backend: str
    """The backend."""
    server: str
    """The last server that was used."""
    ended: str
    """How the session ended: `SC` could not connect, `SH` and `SD` the server disconnected, `--` normally."""


class Balancer:
    """HAProxy on loopback.

    Args:
        ports: Where the three gateways are.
        folder: An empty folder for its log and its socket.
    """

    def __init__(self, ports: Sequence[int], folder: Path) -> None:
        self._ports = ports
        self._log = folder / "haproxy.log"
        self._socket = folder / "admin"
        self._reserved = ReservedPort()
        self.port = self._reserved.number
        self._program = self._start()

    @property
    def url(self) -> str:
        """Its address without a path."""
        return f"http://127.0.0.1:{self.port}"

    def up(self, backend: str = "ready") -> set[str]:
        """Return the active servers of a backend."""
        lines = self._admin("show stat").removeprefix("# ").splitlines()
        return {
            row["svname"]
            for row in csv.DictReader(lines)
            if row["pxname"] == backend and row["svname"] != "BACKEND" and row["status"].startswith("UP")
        }

    def wait_until_up(self, servers: int, backend: str = "ready", *, seconds: float = 100.0) -> None:
        """Wait until a backend has this number of active servers.

        Raises:
            Unavailable: It does not.
        """
        self._program.wait_until(lambda: len(self.up(backend)) == servers, seconds)

    def log(self, ids: Sequence[str]) -> dict[str, Exchange]:
        """Return the log entries of those requests, once all are logged.

        Raises:
            AssertionError: One was logged twice, or never.
        """
        until = time.monotonic() + _LOG_TIMEOUT
        while True:
            found = [one for one in self._lines() if one.id in set(ids)]
            if len(found) >= len(ids) or time.monotonic() > until:
                break
            time.sleep(_STEP)
        by_id = {one.id: one for one in found}
        assert len(by_id) == len(found) == len(ids)
        return by_id

    def stop(self) -> None:
        """Stop it."""
        self._program.stop()

    def _lines(self) -> list[Exchange]:
        found = []
        for line in self._log.read_text("utf-8").splitlines(keepends=True):
            if line.startswith("{") and line.endswith("}\n"):
                said = json.loads(line)
                backend, _, server = said["server"].partition("/")
                found.append(Exchange(said["id"], said["status"], backend, server, said["ended"][:2]))
        return found

    def _admin(self, command: str) -> str:
        with socket.socket(socket.AF_UNIX) as line:
            line.settimeout(60)
            line.connect(str(self._socket))
            line.sendall(f"{command}\n".encode())
            said = b""
            while piece := line.recv(65_536):
                said += piece
        return said.decode()

    def _start(self) -> Program:
        program = Program(
            "haproxy",
            [str(haproxy_program()), "-db", "-f", str(_SETTINGS)],
            env={
                "LISTEN": f"127.0.0.1:{self.port}",
                "ADMIN": str(self._socket),
                "CHECK": "100ms",
                "CHECK_TIMEOUT": "60s",  # a gateway on a busy machine is slow, not down
                **{f"GATEWAY_{number}": f"127.0.0.1:{at}" for number, at in enumerate(self._ports, 1)},
            },
            log=self._log,
        )
        program.wait_until(lambda: bool(self.up()), _START_TIMEOUT)
        return program


def haproxy_program() -> Path:
    """Return the machine's own program `haproxy`.

    Raises:
        Unavailable: It is not installed; it comes with the system and not from a package index.
    """
    return system_program("haproxy")
