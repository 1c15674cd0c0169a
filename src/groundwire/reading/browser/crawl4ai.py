"""Crawl4AI (https://github.com/unclecode/crawl4ai) as a reader: its crawler and its Chromium, behind the vetting proxy.

It runs in processes of its own, optionally with another interpreter: it needs many packages in specific versions, and
its output and setup are kept apart from the caller's program. Each process renders one page at a time, as a worker does
(`groundwire.reading.workers`). Its HTML is converted to Markdown here.
"""

from __future__ import annotations

import json
import os
import re
import sys
from contextlib import suppress
from importlib.util import find_spec
from pathlib import Path
from tempfile import TemporaryDirectory
from typing import Self

from pydantic import Field

from groundwire._version import install_extra
from groundwire.deadline import Deadline
from groundwire.errors import NotConfigured
from groundwire.providers.base import ProviderContext
from groundwire.reading.browser.launch import FLAGS, HINT, NOWHERE, find_chromium
from groundwire.reading.browser.render import BrowserGone, Rendered, Unreachable
from groundwire.reading.browser.vetting_proxy import VettingProxy
from groundwire.reading.browser.visit import RenderingOptions, RenderingReader
from groundwire.reading.workers.pool import Workers, WorkerUnavailable, WorkTooHeavy
from groundwire.safety.urls import WebUrl

_CODE = re.compile(r"net::(ERR_[A-Z_0-9]+)")
_VARIABLES = ("PATH", "LANG", "LC_ALL", "TZ", "LD_LIBRARY_PATH", "PLAYWRIGHT_BROWSERS_PATH")


class Crawl4AIOptions(RenderingOptions):
    """`[providers.crawl4ai]`."""

    python: str = ""
    """The interpreter of an environment with crawl4ai installed; by default the current one."""
    pages_at_once: int = Field(default=2, ge=1, le=64)
    """Maximum pages rendered at once, each by a process with its own browser; further ones wait."""


class Crawl4AIReadProvider(RenderingReader):
    """Reads pages rendered by Crawl4AI.

    Args:
        context: See `RenderingReader`.
        options: The reader's own settings.
        python: The interpreter that has Crawl4AI.
        executable: The browser's program; Playwright's own if None.
    """

    Options = Crawl4AIOptions

    def __init__(
        self, context: ProviderContext, options: Crawl4AIOptions, python: Path, executable: Path | None
    ) -> None:
        super().__init__(context, options)
        self._settle = options.settle
        self._home = TemporaryDirectory(prefix="groundwire-crawl4ai-")
        home = self._home.name
        settings = {"executable": str(executable or ""), "flags": FLAGS, "nowhere": NOWHERE}
        own = {"CRAWL4_AI_BASE_DIRECTORY": home, "CRAWL4AI_NO_CLOUD_NOTICE": "1", "HOME": home, "TMPDIR": home}
        self._processes = Workers(
            options.pages_at_once,
            command=(str(python), "-I", str(Path(__file__).with_name("crawl4ai_host.py")), json.dumps(settings)),
            environment={name: os.environ[name] for name in _VARIABLES if name in os.environ} | own,
        )

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
        return cls(context, options, python or Path(sys.executable), executable)

    async def aclose(self) -> None:
        """End the processes and all connections of their pages; running reads fail."""
        self.end_pages()
        await self._processes.aclose()
        with suppress(OSError):
            self._home.cleanup()
        await super().aclose()

    async def render(self, target: WebUrl, proxy: VettingProxy, deadline: Deadline) -> Rendered:
        """Render a page; see `RenderingReader.render`."""
        spare = min(1.0, deadline.remaining() / 4)
        seconds = max(0.1, deadline.remaining() - spare)
        request = {
            "url": target.text,
            "proxy": proxy.url,
            "timeout": seconds,
            "settle": min(self._settle, seconds / 2),
            "max_length": self.max_length,
        }
        try:
            answer, body = await self._processes.run("", request)
        except (WorkerUnavailable, WorkTooHeavy) as error:
            raise BrowserGone("Crawl4AI failed to start, or has died", fix="See docs/guides/browsers.md") from error
        html, failure = body.decode(), str(answer.get("error", ""))
        code = _CODE.search(failure)
        landed = str(answer.get("url", "")) or target.text
        # it reports short pages as failures, and browser errors as pages
        if landed.startswith("chrome-error:") or (failure and (code or not html)):
            if "Timeout" in failure:
                raise TimeoutError
            raise Unreachable(code[1] if code else "ERR_FAILED")
        status = int(answer.get("status") or 200)
        return Rendered(
            url=landed,
            html=html,
            status=200 if 300 <= status < 400 else status,  # it reports the first hop's status
            headers=dict(answer.get("headers") or {}),
        )
