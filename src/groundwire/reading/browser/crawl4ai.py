"""Crawl4AI (https://github.com/unclecode/crawl4ai) as a reader: its crawler and its Chromium, behind the vetting proxy.

It runs in a separate process, optionally with another interpreter: it needs many packages in specific versions, and its
output and setup are kept apart from the caller's program. Its HTML is converted to Markdown here.
"""

from __future__ import annotations

import asyncio
import os
import re
import sys
from collections.abc import Callable
from importlib.util import find_spec
from pathlib import Path
from typing import Any, Self

from pydantic import Field

from groundwire._version import install_extra
from groundwire.deadline import Deadline
from groundwire.errors import (
    Closed,
    ConfigurationError,
    NotConfigured,
    ProviderUnavailable,
)
from groundwire.models import ReadResult
from groundwire.providers.base import Capabilities, Options, ProviderContext
from groundwire.reading.browser.crawl4ai_process import Crawl4AIProcess, HostGone
from groundwire.reading.browser.launch import HINT, find_chromium
from groundwire.reading.browser.pinned_connect import Dialler
from groundwire.reading.browser.render import Rendered
from groundwire.reading.browser.vetting_proxy import VettingProxy
from groundwire.reading.browser.visit import judge_landing, visit_page, why_not, with_remarks
from groundwire.reading.workers.pool import Conversion
from groundwire.safety.guard import Guard
from groundwire.safety.urls import WebUrl
from groundwire.settings.user_folders import expand_user
from groundwire.transport import FetchPolicy

__all__ = ["Crawl4AIOptions", "Crawl4AIReadProvider"]

_TIMEOUT = 30.0  # seconds, without a deadline
_PAGES = 100  # the process is replaced after this many pages; it keeps a browser context for each
_TRIES = 2  # a process that dies is replaced once within a call
_CLOSED = "This Web is closed; create a new one."
_CODE = re.compile(r"net::(ERR_[A-Z_0-9]+)")


class Crawl4AIOptions(Options):
    """`[providers.crawl4ai]`."""

    python: str = ""
    """The interpreter of an environment with crawl4ai installed; by default the current one."""
    executable: str = ""
    """The path of a Chromium or headless shell; by default the first one found on this machine."""
    images: bool = False
    """Whether images are loaded; they are not read."""
    settle: float = Field(default=6.0, gt=0, le=120)
    """Maximum seconds to wait for a page's scripts after the page has loaded."""
    pages_at_once: int = Field(default=4, ge=1, le=64)
    """Maximum pages rendered at once; further ones wait."""
    max_bytes: int = Field(default=50_000_000, ge=100_000, le=1_000_000_000)
    """Maximum bytes that a page with all its resources may load, on the wire."""


class Crawl4AIReadProvider:
    """Reads pages rendered by Crawl4AI.

    Args:
        guard: Checks every URL that a page requests.
        python: The interpreter that has Crawl4AI.
        executable: The browser's program; Playwright's own if None.
        options: The reader's own settings.
        upstream: A forward proxy's URL for all connections, or empty for none.
        max_length: Maximum characters of a page's markup.
        gate: Returns the fetch policy, which decides whether and when a site may be visited.
        name: Its name.
        conversion: Converts the HTML to Markdown; by default a new one.
    """

    capabilities: Capabilities = Capabilities(read=True, guarded=True, renders=True)
    Options = Crawl4AIOptions

    def __init__(
        self,
        guard: Guard,
        python: Path,
        executable: Path | None,
        *,
        options: Crawl4AIOptions | None = None,
        upstream: str = "",
        max_length: int = 10_000_000,
        gate: Callable[[], FetchPolicy | None] = lambda: None,
        name: str = "crawl4ai",
        conversion: Conversion | None = None,
    ) -> None:
        self._gate = gate
        self.name = name
        self._guard = guard
        self._python = python
        self._executable = executable
        self._options = options = options or Crawl4AIOptions()
        self._upstream = upstream
        self._max_length = max_length
        self._turn = asyncio.Semaphore(options.pages_at_once)
        self._lock = asyncio.Lock()
        self._conversion = conversion or Conversion()
        self._process: Crawl4AIProcess | None = None
        self._pages = 0
        self._open = 0
        self._tasks: set[asyncio.Task[Any]] = set()
        self._proxies: set[VettingProxy] = set()
        self._closed = False

    @classmethod
    def create(cls, context: ProviderContext) -> Self:
        """Create the reader.

        Raises:
            NotConfigured: Crawl4AI or a browser is missing. ConfigurationError: an option is invalid.
        """
        options = context.options(Crawl4AIOptions)
        if context.transports.pages.cassette is not None:
            raise NotConfigured(context.name, "it cannot be recorded or replayed; use the reader browser for that")
        if not options.python and find_spec("crawl4ai") is None:
            fix = f"or set providers.{context.name}.python to the interpreter of an environment that has it"
            raise NotConfigured(context.name, f"install it: {install_extra('crawl4ai')}, {fix}")
        for option, path in (("python", options.python), ("executable", options.executable)):
            if path and not os.access(expand_user(path), os.X_OK):
                where = f"providers.{context.name}.{option}"
                raise ConfigurationError(f"{where} = {path!r}: there is no such program.")
        executable = expand_user(options.executable) if options.executable else find_chromium()
        if executable is None and not options.python:
            raise NotConfigured(context.name, f"there is no Chromium on this machine; {HINT}")
        return cls(
            context.transports.pages.guard,
            expand_user(options.python or sys.executable),
            executable,
            options=options,
            upstream=context.settings.network.proxy,
            max_length=context.settings.read.max_bytes,
            gate=lambda: context.transports.pages.gate,
            name=context.name,
            conversion=Conversion(
                context.workers,
                isolated=context.settings.read.isolation == "process",
                parts=context.settings.read.parts,
            ),
        )

    async def read_url(self, url: str, *, deadline: Deadline | None = None) -> ReadResult:
        """Read a page; see `ReadProvider.read_url`. A process that dies in the meantime is replaced once."""
        deadline = deadline or Deadline.after(_TIMEOUT)
        return await visit_page(
            url,
            guard=self._guard,
            gate=self._gate(),
            conversion=self._conversion,
            deadline=deadline,
            show=lambda target: self._rendered(target, deadline),
        )

    async def aclose(self) -> None:
        """End the process and all connections of its pages; running reads fail."""
        self._closed = True
        for proxy in self._proxies:
            proxy.close()
        process, self._process = self._process, None
        if process is not None:
            await asyncio.shield(self._later(process.close()))
        while self._tasks:
            await asyncio.wait(self._tasks)
        await self._conversion.aclose()

    async def _rendered(self, target: WebUrl, deadline: Deadline) -> Rendered:
        async with self._turn:
            for _ in range(_TRIES):
                if self._closed:
                    raise Closed(_CLOSED)
                try:
                    return await self._shown(target, deadline)
                except HostGone as error:
                    failure = error
            if self._closed:
                raise Closed(_CLOSED)
            raise ProviderUnavailable(
                self.name, f"Crawl4AI failed to start: {failure}", fix="See docs/guides/browsers.md"
            ) from failure

    async def _shown(self, target: WebUrl, deadline: Deadline) -> Rendered:
        """Render a page once."""
        process = await self._ready()
        self._open += 1
        proxy = VettingProxy(Dialler(self._guard, target, self._upstream), max_bytes=self._options.max_bytes)
        try:
            async with proxy:
                self._proxies.add(proxy)
                spare = min(1.0, deadline.remaining() / 4)
                left = max(0.1, deadline.remaining() - spare)
                answer = await process.ask(
                    {
                        "url": target.text,
                        "proxy": proxy.url,
                        "timeout": left,
                        "settle": min(self._options.settle, left / 2),
                        "max_length": self._max_length,
                    }
                )
                return self._judged(target, answer, proxy)
        finally:
            self._open -= 1
            self._proxies.discard(proxy)

    def _judged(self, target: WebUrl, answer: Any, proxy: VettingProxy) -> Rendered:
        """Validate Crawl4AI's result; it reports short pages as failures, and browser errors as pages."""
        html, failure = str(answer.get("html", "")), str(answer.get("error", ""))
        code = _CODE.search(failure)
        landed = str(answer.get("url", "")) or target.text
        if landed.startswith("chrome-error:") or (failure and (code or not html)):
            if "Timeout" in failure:
                raise TimeoutError
            raise why_not(target, code[1] if code else "ERR_FAILED", proxy)
        judge_landing(self._guard, target, landed, proxy)
        status = int(answer.get("status") or 200)
        rendered = Rendered(
            url=landed,
            html=html,
            status=200 if 300 <= status < 400 else status,  # it reports the first hop's status
            headers=dict(answer.get("headers") or {}),
        )
        return with_remarks(rendered, proxy)

    async def _ready(self) -> Crawl4AIProcess:
        """Return a running process; a start completes even if its caller is canceled."""
        while True:
            if self._closed:
                raise Closed(_CLOSED)
            current = self._process
            if current is not None and not current.dead and (self._pages < _PAGES or self._open):
                self._pages += 1
                return current
            renewal = self._later(self._renew())
            await asyncio.wait({renewal})
            if not renewal.cancelled():
                renewal.result()

    async def _renew(self) -> None:
        async with self._lock:
            current = self._process
            if current is not None and not current.dead and (self._pages < _PAGES or self._open):
                return
            self._process = None
            if current is not None:
                await current.close()
            started = Crawl4AIProcess(self._python, self._executable, images=self._options.images)
            try:
                await started.start()
            except BaseException:
                await started.close()
                raise
            if self._gone():
                await started.close()
                return
            self._process, self._pages = started, 0

    def _gone(self) -> bool:
        return self._closed

    def _later(self, work: Any) -> asyncio.Task[Any]:
        """Run a coroutine that continues when its caller is canceled."""
        task: asyncio.Task[Any] = asyncio.get_running_loop().create_task(work)
        self._tasks.add(task)
        task.add_done_callback(self._tasks.discard)
        return task
