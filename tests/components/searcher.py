"""A process that searches through its own `Web`: `searcher.py SETTINGS QUERY ...`.

It prints `ready`, waits for a line, asks all the queries at once, and prints a list of `[provider, outcomes]` as JSON.
"""

from __future__ import annotations

import asyncio
import json
import subprocess
import sys
from collections.abc import Mapping, Sequence
from importlib import import_module
from types import TracebackType
from typing import Any, Self

from groundwire import Web
from groundwire.errors import AllProvidersFailed
from groundwire.settings import Settings


class Searcher:
    """Such a process, as controlled by a test.

    Args:
        settings: The sections of its settings.
        queries: What it asks.
    """

    def __init__(self, settings: Mapping[str, Any], queries: Sequence[str]) -> None:
        command = [sys.executable, "-W", "error", __file__, json.dumps(settings), *queries]
        self._process = subprocess.Popen(command, stdin=subprocess.PIPE, stdout=subprocess.PIPE, text=True)

    def __enter__(self) -> Self:
        return self

    def __exit__(
        self, kind: type[BaseException] | None, error: BaseException | None, trace: TracebackType | None
    ) -> None:
        with self._process:
            self._process.kill()

    def ready(self) -> None:
        """Wait until it can begin."""
        assert self._line() == "ready\n"

    def go(self) -> None:
        """Let it begin."""
        assert self._process.stdin is not None
        self._process.stdin.write("go\n")
        self._process.stdin.flush()

    def answers(self) -> list[tuple[str, list[str]]]:
        """Return the provider that answered each query, and all outcomes."""
        return [(provider, outcomes) for provider, outcomes in json.loads(self._line())]

    def _line(self) -> str:
        assert self._process.stdout is not None
        return self._process.stdout.readline()


async def _ask(web: Web, query: str) -> tuple[str, list[str]]:
    try:
        answer = await web.search(query)
    except AllProvidersFailed as error:
        return "", [attempt.describe() for attempt in error.attempts]
    return str(answer.provider), [attempt.outcome for attempt in answer.attempts]


async def _main(settings: str, queries: Sequence[str]) -> None:
    import_module("aiohttp")  # as in a process that has made a call before
    async with Web(Settings.model_validate(json.loads(settings))) as web:
        print("ready", flush=True)
        await asyncio.to_thread(sys.stdin.readline)
        print(json.dumps(await asyncio.gather(*(_ask(web, query) for query in queries))), flush=True)


if __name__ == "__main__":
    asyncio.run(_main(sys.argv[1], sys.argv[2:]))
