"""The process that runs Crawl4AI: started on first use, called over pipes, and ended with all its children."""

from __future__ import annotations

import asyncio
import contextlib
import json
import os
import tempfile
from asyncio.subprocess import DEVNULL, PIPE, Process
from collections.abc import Mapping
from pathlib import Path
from typing import Any, Final

from groundwire.reading.browser.launch import FLAGS, NOWHERE
from groundwire.reading.browser.render import BrowserGone
from groundwire.reading.workers import NO_WINDOW, kill_group

__all__ = ["Crawl4AIProcess"]

_START_TIME: Final = 60.0  # seconds; importing it takes one to several
_END_TIME: Final = 3.0  # seconds to close its browser by itself
_PAGES: Final = 100  # the process is replaced after this many pages; it keeps a browser context for each
_LINE: Final = 100_000_000  # bytes of a response
_VARIABLES: Final = ("PATH", "LANG", "LC_ALL", "TMPDIR", "TZ", "LD_LIBRARY_PATH", "PLAYWRIGHT_BROWSERS_PATH")


def _gone(reason: str) -> BrowserGone:
    return BrowserGone(f"Crawl4AI failed to start: {reason}", fix="See docs/guides/browsers.md")


class Crawl4AIProcess:
    """One process with Crawl4AI and its browser. All its calls must run in one event loop.

    Args:
        python: The interpreter that has Crawl4AI.
        executable: The browser; Playwright's own if None.
    """

    def __init__(self, python: Path, executable: Path | None) -> None:
        self._python = python
        self._executable = executable
        self._home = tempfile.TemporaryDirectory(prefix="groundwire-crawl4ai-")
        self._process: Process | None = None
        self._waiting: dict[int, asyncio.Future[Mapping[str, Any]]] = {}
        self._listener: asyncio.Task[None] | None = None
        self._number = 0

    async def start(self) -> None:
        """Start the process and wait until its browser runs.

        Raises:
            BrowserGone: it cannot be started.
        """
        settings = {
            "executable": str(self._executable) if self._executable else "",
            "home": self._home.name,
            "flags": FLAGS,
            "nowhere": NOWHERE,
        }
        environment = {name: os.environ[name] for name in _VARIABLES if name in os.environ}
        quiet = {"CRAWL4_AI_BASE_DIRECTORY": self._home.name, "CRAWL4AI_NO_CLOUD_NOTICE": "1", "HOME": self._home.name}
        host = Path(__file__).with_name("crawl4ai_host.py")
        try:
            self._process = await asyncio.create_subprocess_exec(
                str(self._python),
                "-I",
                str(host),
                json.dumps(settings),
                stdin=PIPE,
                stdout=PIPE,
                stderr=DEVNULL,
                env=environment | quiet,
                limit=_LINE,
                start_new_session=True,
                creationflags=NO_WINDOW,
            )
        except OSError as error:
            raise _gone("its interpreter cannot be started") from error
        ready = self._expect(0)
        self._listener = asyncio.get_running_loop().create_task(self._listen(self._process))
        try:
            async with asyncio.timeout(_START_TIME):
                await ready
            del self._waiting[0]
        except TimeoutError as error:
            raise _gone(f"it did not start within {_START_TIME:g} seconds") from error

    async def ask(self, request: Mapping[str, Any]) -> Mapping[str, Any]:
        """Send a request and return its response.

        Raises:
            BrowserGone: it has died.
        """
        process = self._process
        if process is None or process.stdin is None or process.returncode is not None:
            raise _gone("it has died")
        self._number = number = self._number + 1
        answer = self._expect(number)
        try:
            process.stdin.write(json.dumps({**request, "id": number}).encode() + b"\n")
            await process.stdin.drain()
            return await answer
        except OSError as error:
            raise _gone("it has died") from error
        finally:
            self._waiting.pop(number, None)

    async def close(self) -> None:
        """End the process, by force if it is too slow. Idempotent."""
        process, self._process = self._process, None
        if process is not None:
            if process.stdin is not None:
                process.stdin.close()
            with contextlib.suppress(TimeoutError):
                async with asyncio.timeout(_END_TIME):
                    await process.wait()
            kill_group(process.pid)
            await process.wait()
        if self._listener is not None:
            await asyncio.wait({self._listener}, timeout=_END_TIME)
            self._listener.cancel()
        with contextlib.suppress(OSError):
            self._home.cleanup()

    def serves(self) -> bool:
        """Return whether it can render further pages; one that renders some is not replaced."""
        is_dead = self._process is None or self._process.returncode is not None
        return not is_dead and (self._number < _PAGES or bool(self._waiting))

    def _expect(self, number: int) -> asyncio.Future[Mapping[str, Any]]:
        future: asyncio.Future[Mapping[str, Any]] = asyncio.get_running_loop().create_future()
        self._waiting[number] = future
        return future

    async def _listen(self, process: Process) -> None:
        try:
            while process.stdout is not None and (line := await process.stdout.readline()):
                answer = json.loads(line)
                waiting = self._waiting.get(answer["id"])
                if waiting is not None and not waiting.done():
                    waiting.set_result(answer)
        except (ValueError, KeyError, OSError):
            pass  # invalid output: treat the process as dead
        finally:
            for waiting in self._waiting.values():
                if not waiting.done():
                    waiting.set_exception(_gone("it has died"))
