"""A warm Chromium driven by Playwright: started on first use, replaced when worn or dead, killed at the end."""

from __future__ import annotations

import asyncio
import os
import re
import sys
import tempfile
import weakref
from collections.abc import AsyncIterator
from contextlib import asynccontextmanager, suppress
from pathlib import Path
from typing import TYPE_CHECKING, Final

from groundwire.errors import Closed
from groundwire.reading.browser.launch import FLAGS, NOWHERE
from groundwire.reading.workers import kill_group

if TYPE_CHECKING:
    from playwright.async_api import Browser, BrowserContext, Page, Playwright

LIBRARY_MISSING: Final = "a required library is not installed"
NO_SANDBOX: Final = "this machine does not allow its sandbox"
"""Why it does not start, as in the text of `NoBrowser`."""
MAX_PAGES: Final = 200
"""Pages after which the process is replaced, to release what it holds."""
_START_TIME: Final = 30.0  # seconds for the browser to start and answer on a busy machine; usually a quarter of one
_CLOSE_TIME: Final = 3.0  # seconds for closing a page; after that, the whole browser is replaced
_END_TIME: Final = 1.0  # seconds for the browser to exit by itself, and before that to start
_STOP_TIME: Final = 5.0  # seconds for the driver to exit, and before that to start
_VARIABLES: Final = ("PATH", "LANG", "LC_ALL", "TMPDIR", "TZ", "LD_LIBRARY_PATH", "FONTCONFIG_PATH", "XDG_RUNTIME_DIR")


class NoBrowser(Exception):
    """The browser cannot be started; the message has the reason."""


class _BrowserProcess:
    """One browser process, from start to exit."""

    def __init__(self, browser: Browser, group: int | None) -> None:
        self.browser = browser
        self.pages = 0
        self.open = 0
        self.kill = weakref.finalize(self, kill_group, group)  # also when the interpreter exits without closing
        browser.on("disconnected", lambda _: self.kill())  # before the ID of its group can be used again

    @property
    def serves(self) -> bool:
        """Whether it can show further pages."""
        return self.browser.is_connected() and self.pages < MAX_PAGES

    async def close(self) -> None:
        """Let the process exit with its children, so that no zombies are left; kill it if it is too slow."""
        from playwright.async_api import Error

        with suppress(TimeoutError, Error):
            async with asyncio.timeout(_END_TIME):
                await self.browser.close()
        self.kill()


class Chromium:
    """A browser for the pages of one `Web`. All its calls must run in one event loop.

    Args:
        executable: The program.
        sandbox: Whether the operating system sandboxes the renderer processes.
    """

    def __init__(self, executable: Path, *, sandbox: bool) -> None:
        self._executable = executable
        self._sandbox = sandbox
        self._starting: asyncio.Task[_BrowserProcess] | None = None
        self._processes: set[_BrowserProcess] = set()
        self._playwright: Playwright | None = None
        self._home: tempfile.TemporaryDirectory[str] | None = None
        self._closing: set[asyncio.Task[None]] = set()
        self._ending: asyncio.Task[None] | None = None

    @asynccontextmanager
    async def page(self, proxy: str) -> AsyncIterator[tuple[BrowserContext, Page]]:
        """Open an empty page with its own proxy, cookies and cache; leaving the block does not wait for it to close.

        Args:
            proxy: The URL of the page's proxy.

        Raises:
            NoBrowser: the browser cannot be started. Closed: the browser was closed.
        """
        started = await self._started()
        started.pages += 1
        started.open += 1
        context: BrowserContext | None = None
        try:
            context = await started.browser.new_context(
                proxy={"server": proxy, "bypass": "<-loopback>"},
                service_workers="block",
                accept_downloads=False,
                viewport={"width": 1_280, "height": 1_600},
                reduced_motion="reduce",
            )
            yield context, await context.new_page()
        finally:
            task = asyncio.get_running_loop().create_task(self._close_page(started, context))
            self._closing.add(task)
            task.add_done_callback(self._closing.discard)

    async def aclose(self) -> None:
        """Close the browser; open pages fail. Idempotent; every call waits for the end."""
        if self._ending is None:
            self._ending = asyncio.get_running_loop().create_task(self._end())
        await asyncio.shield(self._ending)

    async def _started(self) -> _BrowserProcess:
        """Return a process for a page; its start is shared, and completes even if its caller is canceled."""
        if self._ending is None:
            task = self._starting
            if task is None or (task.done() and not _serves(task)):
                task = self._starting = asyncio.get_running_loop().create_task(self._start())
            await asyncio.wait({task})
            if not task.cancelled():
                return task.result()
        raise Closed("This Web is closed; create a new one.")

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
            async with asyncio.timeout(_START_TIME):
                browser = await self._playwright.chromium.launch(
                    executable_path=self._executable,
                    args=FLAGS,
                    proxy={"server": NOWHERE, "bypass": "<-loopback>"},
                    chromium_sandbox=self._sandbox,
                    env={**environment, "HOME": self._home.name},  # hostile pages get no key of the caller's
                    handle_sigint=False,
                    handle_sigterm=False,
                    handle_sighup=False,
                )
                started = _BrowserProcess(browser, await _group(browser))
        except (Error, TimeoutError) as error:
            raise NoBrowser(_why(str(error))) from error
        self._processes.add(started)
        browser.on("disconnected", lambda _: self._processes.discard(started))
        return started

    async def _close_page(self, started: _BrowserProcess, context: BrowserContext | None) -> None:
        """Close a page; a browser that cannot do so in time is replaced, including its other pages."""
        from playwright.async_api import Error

        try:
            if context is not None and started.browser.is_connected():
                async with asyncio.timeout(_CLOSE_TIME):
                    await context.close()
        except Error:
            pass  # it is already gone
        except TimeoutError:
            started.kill()
        finally:
            started.open -= 1
            if not started.open and not started.serves:
                await started.close()

    async def _end(self) -> None:
        """End the processes, then the driver, which would wait for them."""
        if self._starting is not None:
            # the driver's own start is not canceled, as it would be left over; that ends a browser which still starts
            await asyncio.wait({self._starting}, timeout=_END_TIME if self._playwright else _STOP_TIME)
            self._starting.cancel()
            await asyncio.gather(self._starting, return_exceptions=True)
        await asyncio.gather(*(started.close() for started in self._processes))
        if self._closing:
            await asyncio.wait(self._closing, timeout=_STOP_TIME)
        for task in self._closing:
            task.cancel()
        playwright, self._playwright = self._playwright, None
        if playwright is not None:
            with suppress(TimeoutError, OSError):
                async with asyncio.timeout(_STOP_TIME):
                    await playwright.stop()
        home, self._home = self._home, None
        if home is not None:
            with suppress(OSError):
                home.cleanup()


def _serves(task: asyncio.Task[_BrowserProcess]) -> bool:
    return not task.cancelled() and task.exception() is None and task.result().serves


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
    if "No usable sandbox" in text:
        return f'{NO_SANDBOX}; allow user namespaces, or set providers.browser.sandbox = "off"'
    if match := re.search(r"error while loading shared libraries: ([\w.+-]+)", text):
        return f"{LIBRARY_MISSING} ({match[1]})"
    lines = [line.strip() for line in text.splitlines() if line.strip()]
    return lines[0][:200] if lines else "it does not start"
