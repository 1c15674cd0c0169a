"""The worker processes of one server, and their metrics as one.

Each worker listens on a Unix socket in a folder that only they can open. A worker that has ended leaves its counters.
"""

from __future__ import annotations

import asyncio
import operator
from collections.abc import Callable, Iterable, Mapping
from pathlib import Path
from typing import Final

import aiohttp
from starlette.responses import Response
from starlette.types import ASGIApp, Receive, Scope, Send

_MAX_WAIT: Final = 5.0  # seconds for the metrics of another worker, half of what Prometheus waits for a scrape
_NOT_SUMMED: Final[Mapping[str, Callable[[float, float], float]]] = {
    "groundwire_archive_up": min,
    "groundwire_build_info": max,
    "groundwire_loop_lag_seconds": max,
    "groundwire_store_up": min,
    "process_start_time_seconds": max,
}


class Peers:
    """What a worker knows of the others.

    Args:
        folder: The folder of their sockets and counters.
        number: The worker's own number.
    """

    def __init__(self, folder: Path, number: int) -> None:
        self.number = number
        self.socket: Path = folder / f"{number}.sock"
        """Where this worker listens for the others."""
        self.render: Callable[[], str] = lambda: ""
        """Returns the worker's own metrics."""
        self.taken_over: ASGIApp | None = None
        """Answers the requests that other workers forward."""
        self._folder = folder
        self._file = folder / f"{number}.prom"
        self._before = summed([], [self._file.read_text()]) if self._file.exists() else ""
        self._clients: dict[int, aiohttp.ClientSession] = {}

    def others(self) -> set[int]:
        """Return the numbers of the other workers that run."""
        return {int(path.stem) for path in self._folder.glob("*.sock")} - {self.number}

    def client(self, number: int) -> aiohttp.ClientSession:
        """Return the HTTP client for another worker."""
        if number not in self._clients:
            connector = aiohttp.UnixConnector(str(self._folder / f"{number}.sock"), limit=0, force_close=True)
            self._clients[number] = aiohttp.ClientSession(
                connector=connector, timeout=aiohttp.ClientTimeout(total=None), auto_decompress=False
            )
        return self._clients[number]

    def leave(self) -> None:
        """Be found by the other workers no more; what they have begun here goes on."""
        self.socket.unlink(missing_ok=True)

    async def metrics(self) -> str:
        """Return the metrics of all workers, summed; gauges of those that run."""
        others = self.others()
        has_saved = await asyncio.gather(*(self._ask_to_save(number) for number in others))
        self.save()
        running = {self._file.name, *(f"{number}.prom" for number, has in zip(others, has_saved, strict=True) if has)}
        files = {path.name: path.read_text() for path in sorted(self._folder.glob("*.prom"))}
        alive = [text for name, text in files.items() if name in running]
        return summed(alive, (text for name, text in files.items() if name not in running))

    def save(self) -> None:
        """Write this worker's metrics to its file, with the counters of those that had its number before."""
        draft = self._file.with_suffix(".new")
        draft.write_text(summed([self.render()], [self._before]))
        draft.replace(self._file)

    async def aclose(self) -> None:
        """Close connections, and leave the counters."""
        if self._folder.exists():
            self.save()
        for client in self._clients.values():
            await client.close()

    async def __call__(self, scope: Scope, receive: Receive, send: Send) -> None:
        """Answer a request of another worker, which has authenticated its caller."""
        if scope["path"] == "/metrics":
            self.save()
            await Response(status_code=204)(scope, receive, send)
        elif self.taken_over is not None:
            await self.taken_over(scope, receive, send)

    async def _ask_to_save(self, number: int) -> bool:
        try:
            timeout = aiohttp.ClientTimeout(total=_MAX_WAIT)
            async with self.client(number).get("http://worker/metrics", timeout=timeout) as response:
                return response.status == 204
        except (aiohttp.ClientError, TimeoutError, OSError):
            return False


def summed(running: Iterable[str], ended: Iterable[str]) -> str:
    """Return the sum of metrics in the text format that Prometheus reads, as rendered by `Scrape`.

    Args:
        running: The metrics of processes that run.
        ended: Those of processes that have ended; their gauges are dropped.
    """
    heads: dict[str, list[str]] = {}
    values: dict[str, dict[str, float]] = {}
    for text, has_ended in [*((text, False) for text in running), *((text, True) for text in ended)]:
        name, skipped = "", False
        for line in text.splitlines():
            if line.startswith("#"):
                _, what, name, detail = line.split(" ", 3)
                skipped = has_ended and what == "TYPE" and detail == "gauge"
                if line not in (head := heads.setdefault(name, [])):
                    head.append(line)
                continue
            series, _, number = line.rpartition(" ")
            value, family = float(number), values.setdefault(name, {})
            if skipped:
                continue
            join: Callable[[float, float], float] = _NOT_SUMMED.get(name, operator.add)
            family[series] = join(family[series], value) if series in family else value
    lines = ((head, values[name]) for name, head in heads.items() if values.get(name))
    return "".join(
        "\n".join([*head, *(f"{series} {value:.16g}" for series, value in family.items())]) + "\n"
        for head, family in lines
    )
