"""The cache under many processes; as a program, one of them: `stampede.py STORE URL TASKS LEASE`."""

from __future__ import annotations

import asyncio
import json
import subprocess
import sys
import threading
from collections import Counter
from functools import partial
from http.server import BaseHTTPRequestHandler, ThreadingHTTPServer
from pathlib import Path
from socket import socket
from socketserver import BaseServer
from typing import Any

import aiohttp

from groundwire.deadline import Deadline
from groundwire.routing.cache import Cache, CacheResult, CacheTtl, Codec
from groundwire.safety.tenancy import LOCAL
from groundwire.storage import open_store

LATENCY = 0.3  # seconds that the upstream takes, so that all who ask meet while it works


class Upstream:
    """A server that counts requests, and holds responses on request."""

    def __init__(self) -> None:
        self.asked: Counter[str] = Counter()
        self.first = threading.Event()
        self.release = threading.Event()
        self._server = ThreadingHTTPServer(("127.0.0.1", 0), partial(_Handler, self))
        self.url = f"http://127.0.0.1:{self._server.server_port}"
        self._thread = threading.Thread(target=self._server.serve_forever, args=(0.02,))
        self._thread.start()

    def close(self) -> None:
        self.release.set()
        self._server.shutdown()
        self._thread.join()
        self._server.server_close()


class _Handler(BaseHTTPRequestHandler):
    def __init__(self, upstream: Upstream, request: socket, address: Any, server: BaseServer) -> None:
        self._upstream = upstream
        super().__init__(request, address, server)

    def do_GET(self) -> None:
        self._upstream.asked[self.path] += 1
        body = f"answer {self._upstream.asked[self.path]}".encode()
        self._upstream.first.set()
        self._upstream.release.wait(60 if self.path == "/held" and body == b"answer 1" else LATENCY)
        try:
            self.send_response_only(200)
            self.send_header("Content-Length", str(len(body)))
            self.end_headers()
            self.wfile.write(body)
        except OSError:
            self.close_connection = True  # who asked was killed

    def log_message(self, *args: object) -> None:
        """Print nothing; requests are counted."""


class Asker:
    """A process with many tasks that all request the same value through one cache."""

    def __init__(self, python: Path, store: str, url: str, tasks: int, *, lease: float) -> None:
        command = [str(python), "-W", "error", __file__, store, url, str(tasks), str(lease)]
        self.process = subprocess.Popen(command, stdin=subprocess.PIPE, stdout=subprocess.PIPE, text=True)
        self._line()

    def go(self) -> None:
        assert self.process.stdin is not None
        self.process.stdin.write("go\n")
        self.process.stdin.flush()

    def answers(self) -> list[CacheResult[str]]:
        return [CacheResult(**answer) for answer in json.loads(self._line())]

    def close(self) -> None:
        with self.process:
            self.process.kill()

    def _line(self) -> str:
        assert self.process.stdout is not None
        return self.process.stdout.readline()


async def ask(store_url: str, url: str, tasks: int, lease: float) -> None:
    store = open_store(store_url, timeout=20)  # the store of a busy machine has not stopped
    cache = Cache(store, lease=lease)
    async with aiohttp.ClientSession() as session:

        async def load() -> str:
            async with session.get(url) as reply:
                return await reply.text()

        def one() -> Any:
            return cache.get_or_load(
                url,
                load,
                codec=Codec(str.encode, bytes.decode, lambda value: CacheTtl(fresh=60, stale=60)),
                deadline=Deadline.after(60),
                owner=LOCAL,
            )

        print("ready", flush=True)
        await asyncio.to_thread(sys.stdin.readline)
        answers = await asyncio.gather(*(one() for _ in range(tasks)))
        fields = ("value", "cached", "stale", "age")
        print(json.dumps([{name: getattr(answer, name) for name in fields} for answer in answers]), flush=True)
        await cache.aclose()
        await store.aclose()


def ask_in_four_processes(python: Path, store: str, url: str) -> list[CacheResult[str]]:
    """Return the results of fifty tasks in four processes with one store for the same concurrent request."""
    # A busy machine may keep a process from its work for seconds: what it has leased is not to become another's.
    askers = [Asker(python, store, url, tasks, lease=60) for tasks in (13, 13, 12, 12)]
    try:
        for asker in askers:
            asker.go()
        answers = [answer for asker in askers for answer in asker.answers()]
        assert [asker.process.wait(100) for asker in askers] == [0] * 4
    finally:
        for asker in askers:
            asker.close()
    return answers


if __name__ == "__main__":
    asyncio.run(ask(sys.argv[1], sys.argv[2], int(sys.argv[3]), float(sys.argv[4])))
