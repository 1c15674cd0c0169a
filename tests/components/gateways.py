"""Gateway processes that share a store, and clients that keep them busy."""

from __future__ import annotations

import asyncio
import itertools
import json
import os
import time
from collections import Counter
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass
from http.client import HTTPConnection
from pathlib import Path
from typing import Any

import aiohttp

from components.processes import Program, ReservedPort

_START_TIMEOUT = 100.0  # seconds; it takes 1 to 3
_END_TIMEOUT = 100.0


class GatewayProcess:
    """`groundwire serve` on a port that stays its own.

    Args:
        name: What it is called.
        settings: The file of its settings.
        folder: An empty folder for what it keeps, and its log.
        python: The program that runs it.
        notice: Seconds for which it takes calls after it was asked to end.
    """

    def __init__(self, name: str, settings: Path, folder: Path, *, python: Path, notice: float) -> None:
        self._python = python
        self._name = name
        self._settings = settings
        self._folder = folder
        self._notice = notice
        self._program: Program | None = None
        self._reserved = ReservedPort()
        self.port = self._reserved.number

    @property
    def log(self) -> str:
        """Its output since the last start."""
        return (self._folder / "gateway.log").read_text("utf-8")

    def launch(self) -> None:
        """Start it without waiting for it, unless it is running."""
        if self._program is not None:
            return
        command = [str(self._python), "-m", "groundwire", "-v", "serve", "--port", str(self.port)]
        self._program = Program(
            self._name,
            [*command, "--notice", f"{self._notice:g}", "--grace", "300"],
            env={
                "PATH": os.defpath,
                "PYTHONPATH": os.environ.get("PYTHONPATH", ""),
                "XDG_CACHE_HOME": str(self._folder),
                "XDG_CONFIG_HOME": str(self._folder),
                "GROUNDWIRE_CONFIG": str(self._settings),
                "TAVILY_API_KEY": "test-key",
            },
            log=self._folder / "gateway.log",
        )

    def wait(self) -> None:
        """Wait until it accepts calls."""
        assert self._program is not None
        self._program.wait_until(self._is_ready, _START_TIMEOUT)

    def kill(self) -> None:
        """Kill it."""
        assert self._program is not None
        self._program.kill()
        self._program = None

    def end(self) -> int:
        """Ask it to stop, and return its exit code."""
        assert self._program is not None
        program, self._program = self._program, None
        return program.end(_END_TIMEOUT)

    def stop(self) -> None:
        """End it somehow."""
        if self._program is not None:
            self._program.stop()
            self._program = None

    def _is_ready(self) -> bool:
        connection = HTTPConnection("127.0.0.1", self.port, timeout=60)
        try:
            connection.request("GET", "/readyz")
            return connection.getresponse().status == 200
        finally:
            connection.close()


@dataclass(frozen=True, slots=True)
class Answer:
    """A client's response."""

    id: str
    """The request's ID, which is in its query, too."""
    session: str | None
    """The requested session."""
    status: int
    """The status; 0 for a connection that broke."""
    body: Mapping[str, Any]
    """The body, empty if it was no JSON."""


class Load:
    """Clients that search one thing after another.

    Args:
        url: Whom they ask.
        clients: How many.
        name: Begins the ids of their requests.
        sessions: The sessions that they name in turn.
    """

    def __init__(self, url: str, *, clients: int, name: str, sessions: Sequence[str | None] = (None,)) -> None:
        self._url = url
        self._clients = clients
        self._name = name
        self._sessions = sessions
        self._stopped = False
        self._more = asyncio.Event()
        self.answers: list[Answer] = []
        self.began = 0.0
        """When `run` was called, on the monotonic clock."""

    async def run(self, requests: int | None = None) -> list[Answer]:
        """Send this number of requests, or until `stop`, and return the responses."""
        self.began = time.monotonic()
        numbers = iter(range(requests)) if requests is not None else itertools.count()
        connector = aiohttp.TCPConnector(limit=0)
        async with aiohttp.ClientSession(self._url, connector=connector) as http:
            await asyncio.gather(*(self._client(http, numbers) for _ in range(self._clients)))
        return self.answers

    def stop(self) -> None:
        """Make the clients stop."""
        self._stopped = True

    async def answered(self, more: int) -> None:
        """Return when this number of further responses has arrived."""
        wanted = len(self.answers) + more
        while len(self.answers) < wanted:
            self._more.clear()
            await self._more.wait()

    def statuses(self) -> Counter[int]:
        """Return the counts of each status."""
        return Counter(answer.status for answer in self.answers)

    async def _client(self, http: aiohttp.ClientSession, numbers: Iterator[int]) -> None:
        for number in numbers:
            if self._stopped:
                return
            session = self._sessions[number % len(self._sessions)]
            self.answers.append(await self._ask(http, f"{self._name}{number}", session))
            self._more.set()

    async def _ask(self, http: aiohttp.ClientSession, id_: str, session: str | None) -> Answer:
        asked = {"query": f"ranking {id_}", "timeout": 60, **({"session": session} if session else {})}
        try:
            async with http.post("/v1/search", json=asked, headers={"X-Request-ID": id_}) as response:
                text = await response.text()
                body = json.loads(text) if response.content_type == "application/json" else {}
                return Answer(id_, session, response.status, body)
        except aiohttp.ClientError:
            return Answer(id_, session, 0, {})
