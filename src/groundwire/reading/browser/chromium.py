"""A warm Chromium driven by Playwright: started on first use, replaced when old or dead, killed at the end."""

from __future__ import annotations

import asyncio
import logging
import os
import re
import sys
import tempfile
import time
import weakref
from collections.abc import AsyncIterator, Coroutine
from contextlib import asynccontextmanager, suppress
from pathlib import Path
from typing import TYPE_CHECKING, Any, Final

from groundwire.errors import Closed
from groundwire.reading.browser.launch import FLAGS, NOWHERE
from groundwire.reading.workers import kill_group

if TYPE_CHECKING:
    from playwright.async_api import Browser, BrowserContext, Page, Playwright

__all__ = ["LIBRARY_MISSING", "NO_SANDBOX", "Chromium", "NoBrowser"]

_logger = logging.getLogger(__name__)

LIBRARY_MISSING: Final = "a required library is not installed"
NO_SANDBOX: Final = "this machine does not allow its sandbox"
"""Why it does not start, as in the text of `NoBrowser`."""

_START_TIME: Final = 30.0  # seconds for a start on a busy machine; usually a quarter of one
_CLOSE_TIME: Final = 3.0  # seconds for closing a page; after that, the whole browser is replaced
_END_TIME: Final = 1.0  # seconds for the browser to exit by itself
_STOP_TIME: Final = 5.0  # seconds for the driver to exit
_VARIABLES: Final = ("PATH", "LANG", "LC_ALL", "TMPDIR", "TZ", "LD_LIBRARY_PATH", "FONTCONFIG_PATH", "XDG_RUNTIME_DIR")


class NoBrowser(Exception):
    """The browser cannot be started; the message has the reason."""


class _BrowserProcess:
    """One browser process, from start to exit."""

    def __init__(self, browser: Browser, group: int | None) -> None:
        self.browser = browser
        self.pages = 0
        self.open = 0
        self.born = time.monotonic()
        self._kill = weakref.finalize(self, kill_group, group)  # also when the interpreter exits without closing
        browser.on("disconnected", self._on_disconnect)

    @property
    def dead(self) -> bool:
        return not self.browser.is_connected()

    async def close(self) -> None:
        """Let the process exit with its children, so that no zombies are left; kill it if it is too slow."""
        from playwright.async_api import Error

        with suppress(TimeoutError, Error):
            async with asyncio.timeout(_END_TIME):
                await self.browser.close()
        self._kill()

    def kill(self) -> None:
        """Kill the process and all its children immediately."""
        self._kill()

    def _on_disconnect(self, browser: Browser) -> None:
        """Kill the rest of the process group before its ID can be reused."""
        del browser
        self._kill()


class Chromium:
    """A browser for the pages of one `Web`. All its calls must run in one event loop.

    Args:
        executable: The program.
        sandbox: Whether the operating system sandboxes the renderer processes.
        max_pages: Pages after which the process is replaced.
        max_age: Seconds after which it is replaced.
    """

    def __init__(self, executable: Path, *, sandbox: bool, max_pages: int = 200, max_age: float = 1_800.0) -> None:
        self._executable = executable
        self._sandbox = sandbox
        self._max_pages = max_pages
        self._max_age = max_age
        self._lock = asyncio.Lock()
        self._playwright: Playwright | None = None
        self._home: tempfile.TemporaryDirectory[str] | None = None
        self._current: _BrowserProcess | None = None
        self._worn: set[_BrowserProcess] = set()
        self._tasks: set[asyncio.Task[Any]] = set()
        self._ending: asyncio.Task[None] | None = None
        self._closed = False

    @asynccontextmanager
    async def page(self, proxy: str, *, user_agent: str = "") -> AsyncIterator[tuple[BrowserContext, Page]]:
        """Open an empty page with its own proxy, cookies and cache; leaving the block does not wait for it to close.

        Args:
            proxy: The URL of the page's proxy.
            user_agent: The User-Agent header; empty for the browser's own.

        Raises:
            NoBrowser: the browser cannot be started. Closed: the browser was closed.
        """
        started = await self._running()
        started.pages += 1
        started.open += 1
        context: BrowserContext | None = None
        try:
            context = await started.browser.new_context(
                proxy={"server": proxy, "bypass": "<-loopback>"},
                service_workers="block",
                accept_downloads=False,
                user_agent=user_agent or None,
                viewport={"width": 1_280, "height": 1_600},
                reduced_motion="reduce",
            )
            yield context, await context.new_page()
        finally:
            self._spawn(self._close_page(started, context))

    async def aclose(self) -> None:
        """Close the browser; open pages fail. Idempotent; every call waits for the end."""
        self._closed = True
        if self._ending is None:
            self._ending = asyncio.get_running_loop().create_task(self._end())
        await asyncio.shield(self._ending)

    @property
    def process(self) -> Browser | None:
        """The running browser, or None."""
        return None if self._current is None or self._current.dead else self._current.browser

    async def _running(self) -> _BrowserProcess:
        """Return a running browser; a start completes even if its caller is canceled."""
        while True:
            if self._closed:
                raise Closed("This Web is closed; create a new one.")
            current = self._current
            if current is not None and not current.dead and not self._is_worn(current):
                return current
            renewal = self._spawn(self._renew())
            await asyncio.wait({renewal})  # canceling this call does not cancel the start
            if not renewal.cancelled():
                renewal.result()

    def _is_worn(self, started: _BrowserProcess) -> bool:
        return started.pages >= self._max_pages or time.monotonic() - started.born > self._max_age

    async def _renew(self) -> None:
        async with self._lock:
            current = self._current
            if current is not None:
                if not current.dead and not self._is_worn(current):
                    return
                self._current = None
                if current.dead or not current.open:
                    current.kill()
                else:
                    self._worn.add(current)
            if self._closed:
                return
            try:
                async with asyncio.timeout(_START_TIME):
                    self._current = await self._start()
            except TimeoutError as error:
                raise NoBrowser(f"it did not start within {_START_TIME:g} seconds") from error
            finally:
                self._end_if_closed()

    def _end_if_closed(self) -> None:
        if self._closed and self._current is not None:
            self._current.kill()

    async def _start(self) -> _BrowserProcess:
        from playwright.async_api import Error, async_playwright

        if self._playwright is None:
            try:
                self._playwright = await async_playwright().start()
            except (OSError, Error) as error:
                raise NoBrowser(f"Playwright does not start ({type(error).__name__})") from error
        if self._home is None:
            self._home = tempfile.TemporaryDirectory(prefix="groundwire-browser-")
        environment = {name: os.environ[name] for name in _VARIABLES if name in os.environ}
        try:
            browser = await self._playwright.chromium.launch(
                executable_path=self._executable,
                args=FLAGS,
                proxy={"server": NOWHERE, "bypass": "<-loopback>"},
                chromium_sandbox=self._sandbox,
                env={**environment, "HOME": self._home.name},  # no key of the caller's goes to what shows hostile pages
                handle_sigint=False,
                handle_sigterm=False,
                handle_sighup=False,
            )
        except Error as error:
            raise NoBrowser(_why(str(error))) from error
        return _BrowserProcess(browser, await _group(browser))

    async def _close_page(self, started: _BrowserProcess, context: BrowserContext | None) -> None:
        """Close a page; a browser that cannot do so in time is replaced, including its other pages."""
        from playwright.async_api import Error

        try:
            if context is not None and not started.dead:
                async with asyncio.timeout(_CLOSE_TIME):
                    await context.close()
        except Error:
            pass  # it is already gone
        except TimeoutError:
            started.kill()
            if self._current is started:
                self._current = None
        finally:
            started.open -= 1
            if not started.open and started in self._worn:
                self._worn.discard(started)
                started.kill()

    async def _end(self) -> None:
        """End the processes, then the driver, which would wait for them."""
        await asyncio.gather(*(started.close() for started in (self._current, *self._worn) if started is not None))
        if self._tasks:  # starts that had better complete, and pages that are closing
            await asyncio.wait(self._tasks, timeout=_STOP_TIME)
        for task in self._tasks:
            task.cancel()
        if self._current is not None:
            self._current.kill()
        playwright, self._playwright = self._playwright, None
        if playwright is not None:
            with suppress(TimeoutError, OSError):
                async with asyncio.timeout(_STOP_TIME):
                    await playwright.stop()
        home, self._home = self._home, None
        if home is not None:
            with suppress(OSError):
                home.cleanup()

    def _spawn(self, work: Coroutine[Any, Any, Any]) -> asyncio.Task[Any]:
        """Run a coroutine that continues when its caller is canceled."""
        task = asyncio.get_running_loop().create_task(work)
        self._tasks.add(task)
        task.add_done_callback(self._forget)
        return task

    def _forget(self, task: asyncio.Task[Any]) -> None:
        self._tasks.discard(task)
        if not task.cancelled() and (error := task.exception()) is not None:
            _logger.debug("The browser: %s", error)


async def _group(browser: Browser) -> int | None:
    """Return the process group of a browser: Playwright creates one where they exist."""
    if sys.platform != "win32":
        session = await browser.new_browser_cdp_session()
        answer = await session.send("SystemInfo.getProcessInfo")
        await session.detach()
        number = next((row["id"] for row in answer["processInfo"] if row["type"] == "browser"), None)
        if number is not None and (group := os.getpgid(number)) != os.getpgid(0):
            return group
    return None


def _why(text: str) -> str:
    """Return Playwright's reason for a failed start, in one line with the remedy."""
    if "sandbox" in text.lower() and "No usable sandbox" in text:
        fix = 'allow user namespaces, or set providers.browser.sandbox = "off"'
        return f"{NO_SANDBOX}; {fix}"
    if match := re.search(r"error while loading shared libraries: ([\w.+-]+)", text):
        return f"{LIBRARY_MISSING} ({match[1]})"
    lines = [line.strip() for line in text.splitlines() if line.strip()]
    return lines[0][:200] if lines else "it does not start"
