"""MCP servers in processes of their own, and clients that call them, by the official SDK and by hand."""

from __future__ import annotations

import json
import os
import re
import subprocess
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any

import pytest

from world import World

CLIENT = Path(__file__).with_name("mcp_client.py")


@dataclass
class Place:
    """Where servers run: the miniature web and nothing else."""

    world: World
    home: Path
    python: Path
    """What runs servers and clients."""
    variables: dict[str, str] = field(default_factory=dict)
    started: list[subprocess.Popen[str]] = field(default_factory=list)

    @property
    def server(self) -> tuple[str, ...]:
        """The command that starts a server."""
        return (str(self.python), "-m", "groundwire", "mcp")

    @property
    def environment(self) -> dict[str, str]:
        return {
            "PATH": os.environ["PATH"],
            "HOME": str(self.home),
            "PYTHONPATH": os.environ.get("PYTHONPATH", ""),
            "XDG_CONFIG_HOME": str(self.home / ".config"),
            "GROUNDWIRE_SEARCH_PROVIDERS": "searxng",
            "GROUNDWIRE_PROVIDERS_SEARXNG_BASE_URL": self.world.searxng.url,
            "GROUNDWIRE_POLICY_ALLOWED_ORIGINS": ",".join(self.world.origins),
            "GROUNDWIRE_STORAGE_URL": "memory://",
            "GROUNDWIRE_ARCHIVE_ENABLED": "false",
            "GROUNDWIRE_CACHE_ENABLED": "false",
            **self.variables,
        }

    def start(self, *arguments: str, stdin: int | None = subprocess.PIPE) -> subprocess.Popen[str]:
        """Start a server."""
        process = subprocess.Popen(
            [*self.server, *arguments],
            env=self.environment,
            cwd=self.home,
            stdin=stdin,
            stdout=subprocess.PIPE,
            stderr=subprocess.PIPE,
            encoding="utf-8",
        )
        self.started.append(process)
        return process

    def serve(self, *arguments: str) -> str:
        """Start a server over HTTP and return its base URL."""
        process = self.start("--http", "--port", "0", *arguments, stdin=subprocess.DEVNULL)
        assert process.stderr
        line = process.stderr.readline()
        found = re.search(r"http://\S+:\d+", line)
        assert found, line
        return found[0]

    def ask(
        self,
        calls: Sequence[tuple[str, Mapping[str, Any]]],
        *,
        target: str | Sequence[str] = (),
        headers: Mapping[str, str] | None = None,
    ) -> dict[str, Any]:
        """Make calls by an SDK's client in a process of its own."""
        done = subprocess.run(
            [self.python, str(CLIENT), json.dumps(target or self.server), json.dumps(calls)],
            env={**self.environment, "CLIENT_HEADERS": json.dumps(headers or {})},
            cwd=self.home,
            capture_output=True,
            encoding="utf-8",
            timeout=100,
            check=False,
        )
        assert done.returncode == 0, done.stderr
        answers: dict[str, Any] = json.loads(done.stdout)
        return answers

    def start_client(
        self, calls: Sequence[tuple[str, Mapping[str, Any]]], *, target: str | Sequence[str] = ()
    ) -> subprocess.Popen[str]:
        """Start making calls and do not wait for the answers."""
        client = subprocess.Popen(
            [self.python, str(CLIENT), json.dumps(target or self.server), json.dumps(calls)],
            env=self.environment,
            cwd=self.home,
            stdout=subprocess.PIPE,
            stderr=subprocess.PIPE,
            encoding="utf-8",
        )
        self.started.append(client)
        return client


@pytest.fixture
def place(world: World, tmp_path: Path, warm_python: Path) -> Iterator[Place]:
    there = Place(world, tmp_path, warm_python)
    yield there
    for process in there.started:
        process.kill()
        process.communicate()


HELLO: dict[str, Any] = {
    "jsonrpc": "2.0",
    "id": 0,
    "method": "initialize",
    "params": {
        "protocolVersion": "2025-06-18",
        "capabilities": {},
        "clientInfo": {"name": "test", "version": "1"},
    },
}
READY = {"jsonrpc": "2.0", "method": "notifications/initialized"}


def search(**arguments: Any) -> tuple[str, dict[str, Any]]:
    return "call_tool", {"name": "web_search", "arguments": arguments}


def open_page(**arguments: Any) -> tuple[str, dict[str, Any]]:
    return "call_tool", {"name": "open_page", "arguments": arguments}
