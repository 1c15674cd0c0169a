"""Crawl4AI (https://github.com/unclecode/crawl4ai) as a reader: its crawler and its Chromium, behind the vetting proxy.

It runs in a separate process, optionally with another interpreter: it needs many packages in specific versions, and its
output and setup are kept apart from the caller's program. Its HTML is converted to Markdown here.
"""

from __future__ import annotations

import asyncio
import re
import sys
from importlib.util import find_spec
from pathlib import Path
from typing import Any, ClassVar, Self

from pydantic import Field

from groundwire._version import install_extra
from groundwire.deadline import Deadline
from groundwire.errors import NotConfigured, ProviderUnavailable
from groundwire.providers.base import Options, ProviderContext
from groundwire.reading.browser.crawl4ai_process import Crawl4AIProcess, HostGone
from groundwire.reading.browser.launch import HINT, find_chromium
from groundwire.reading.browser.pinned_connect import Dialler
from groundwire.reading.browser.render import Rendered
from groundwire.reading.browser.vetting_proxy import VettingProxy
from groundwire.reading.browser.visit import RenderingReader, judge_landing, why_not, with_remarks
from groundwire.safety.urls import WebUrl

__all__ = ["Crawl4AIOptions", "Crawl4AIReadProvider"]

_PAGES = 100  # the process is replaced after this many pages; it keeps a browser context for each
_TRIES = 2  # a process that dies is replaced once within a call
_CODE = re.compile(r"net::(ERR_[A-Z_0-9]+)")


class Crawl4AIOptions(Options):
    """`[providers.crawl4ai]`."""

    python: str = ""
    """The interpreter of an environment with crawl4ai installed; by default the current one."""
    executable: str = ""
    """The path of a Chromium or headless shell; by default the first one found on this machine."""
    settle: float = Field(default=6.0, gt=0, le=120)
    """Maximum seconds to wait for a page's scripts after the page has loaded."""
    pages_at_once: int = Field(default=4, ge=1, le=64)
    """Maximum pages rendered at once; further ones wait."""
    max_bytes: int = Field(default=50_000_000, ge=100_000, le=1_000_000_000)
    """Maximum bytes that a page with all its resources may load, on the wire."""


class Crawl4AIReadProvider(RenderingReader):
    """Reads pages rendered by Crawl4AI.

    Args:
        python: The interpreter that has Crawl4AI.
        executable: The browser's program; Playwright's own if None.
        options: The reader's own settings.
        surroundings: See `RenderingReader`.
    """

    usual_timeout: ClassVar[float] = 30.0
    Options = Crawl4AIOptions

    def __init__(
        self, python: Path, executable: Path | None, *, options: Crawl4AIOptions | None = None, **surroundings: Any
    ) -> None:
        self._options = options = options or Crawl4AIOptions()
        super().__init__(pages_at_once=options.pages_at_once, **{"name": "crawl4ai", **surroundings})
        self._python = python
        self._executable = executable
        self._lock = asyncio.Lock()
        self._process: Crawl4AIProcess | None = None
        self._pages = 0
        self._tasks: set[asyncio.Task[Any]] = set()

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
        python = cls.program(context, "python", options.python)
        executable = cls.program(context, "executable", options.executable) or find_chromium()
        if executable is None and python is None:
            raise NotConfigured(context.name, f"there is no Chromium on this machine; {HINT}")
        return cls(python or Path(sys.executable), executable, options=options, **cls.surroundings(context))

    async def aclose(self) -> None:
        """End the process and all connections of its pages; running reads fail."""
        self.end_pages()
        process, self._process = self._process, None
        if process is not None:
            await asyncio.shield(self._spawn(process.close()))
        while self._tasks:
            await asyncio.wait(self._tasks)
        await super().aclose()

    async def show(self, target: WebUrl, deadline: Deadline) -> Rendered:
        """Render a page; a process that dies in the meantime is replaced once."""
        async with self.slots:
            for _ in range(_TRIES):
                self.check_open()
                try:
                    return await self._render_once(target, deadline)
                except HostGone as error:
                    failure = error
            self.check_open()
            raise ProviderUnavailable(
                self.name, f"Crawl4AI failed to start: {failure}", fix="See docs/guides/browsers.md"
            ) from failure

    async def _render_once(self, target: WebUrl, deadline: Deadline) -> Rendered:
        """Render a page once."""
        process = await self._running()
        proxy = VettingProxy(Dialler(self.guard, target, self.upstream), max_bytes=self._options.max_bytes)
        self.proxies.add(proxy)
        try:
            async with proxy:
                spare = min(1.0, deadline.remaining() / 4)
                seconds = max(0.1, deadline.remaining() - spare)
                answer = await process.ask(
                    {
                        "url": target.text,
                        "proxy": proxy.url,
                        "timeout": seconds,
                        "settle": min(self._options.settle, seconds / 2),
                        "max_length": self.max_length,
                    }
                )
                return self._checked(target, answer, proxy)
        finally:
            self.proxies.discard(proxy)

    def _checked(self, target: WebUrl, answer: Any, proxy: VettingProxy) -> Rendered:
        """Validate Crawl4AI's result; it reports short pages as failures, and browser errors as pages."""
        html, failure = str(answer.get("html", "")), str(answer.get("error", ""))
        code = _CODE.search(failure)
        landed = str(answer.get("url", "")) or target.text
        if landed.startswith("chrome-error:") or (failure and (code or not html)):
            if "Timeout" in failure:
                raise TimeoutError
            raise why_not(target, code[1] if code else "ERR_FAILED", proxy)
        judge_landing(self.guard, target, landed, proxy)
        status = int(answer.get("status") or 200)
        rendered = Rendered(
            url=landed,
            html=html,
            status=200 if 300 <= status < 400 else status,  # it reports the first hop's status
            headers=dict(answer.get("headers") or {}),
        )
        return with_remarks(rendered, proxy)

    async def _running(self) -> Crawl4AIProcess:
        """Return a running process; a start completes even if its caller is canceled."""
        while True:
            self.check_open()
            if (current := self._process) is not None and self._serves(current):
                self._pages += 1
                return current
            renewal = self._spawn(self._renew())
            await asyncio.wait({renewal})
            if not renewal.cancelled():
                renewal.result()

    async def _renew(self) -> None:
        async with self._lock:
            current = self._process
            if current is not None and self._serves(current):
                return
            self._process = None
            if current is not None:
                await current.close()
            started = Crawl4AIProcess(self._python, self._executable)
            try:
                await started.start()
            except BaseException:
                await started.close()
                raise
            if self.closed:
                await started.close()
                return
            self._process, self._pages = started, 0

    def _serves(self, process: Crawl4AIProcess) -> bool:
        """Return whether a process can render further pages; one that renders some is not replaced."""
        return not process.dead and (self._pages < _PAGES or bool(self.proxies))

    def _spawn(self, work: Any) -> asyncio.Task[Any]:
        """Run a coroutine that continues when its caller is canceled."""
        task: asyncio.Task[Any] = asyncio.get_running_loop().create_task(work)
        self._tasks.add(task)
        task.add_done_callback(self._tasks.discard)
        return task
