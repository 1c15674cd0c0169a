"""The browser reader: a local Chromium, with each page behind a proxy that vets its connections."""

from __future__ import annotations

import asyncio
import os
import sys
import time
from importlib import import_module
from pathlib import Path
from typing import Literal, Self

from groundwire._version import install_extra
from groundwire.cassette import Answer, CallFailed
from groundwire.deadline import Deadline
from groundwire.errors import (
    NotConfigured,
    PageUnavailable,
    ProviderUnavailable,
)
from groundwire.providers.base import ProviderContext
from groundwire.reading.browser.chromium import Chromium, NoBrowser
from groundwire.reading.browser.launch import HINT, NOWHERE, find_chromium, has_playwright
from groundwire.reading.browser.render import BrowserGone, Rendered, render
from groundwire.reading.browser.vetting_proxy import VettingProxy
from groundwire.reading.browser.visit import RenderingOptions, RenderingReader
from groundwire.safety.urls import WebUrl

_PLAYWRIGHT = "playwright.async_api"


class BrowserOptions(RenderingOptions):
    """`[providers.browser]`."""

    sandbox: Literal["auto", "on", "off"] = "auto"
    """Whether the operating system sandboxes the browser's processes; `auto` does except for root."""


class BrowserReadProvider(RenderingReader):
    """Reads pages as rendered by a browser, including the output of their scripts.

    Args:
        context: See `RenderingReader`.
        options: The reader's own settings.
        executable: The browser's program.
    """

    Options = BrowserOptions

    def __init__(self, context: ProviderContext, options: BrowserOptions, executable: Path) -> None:
        super().__init__(context, options)
        self._options = options
        self._cassette = self._transport.cassette
        self._chromium = Chromium(executable, sandbox=_has_sandbox(options.sandbox))

    @classmethod
    def create(cls, context: ProviderContext) -> Self:
        """Create the reader.

        Raises:
            NotConfigured: Playwright or a browser is missing. ConfigurationError: an option is invalid.
        """
        options = context.options(BrowserOptions)
        cassette = context.transports.pages.cassette
        replaying = cassette is not None and cassette.replaying
        if not replaying and not has_playwright():
            raise NotConfigured(context.name, f"install Playwright: {install_extra('browser')}")
        executable = cls.program(context, "executable", options.executable) or find_chromium()
        if executable is None and not replaying:
            raise NotConfigured(context.name, f"there is no Chromium on this machine; {HINT}")
        return cls(context, options, executable or Path())

    async def start(self) -> None:
        """Start the browser now instead of with the first page.

        Raises:
            ProviderUnavailable: it cannot be started; the message has the reason.
        """
        try:
            async with self._chromium.page(NOWHERE):
                pass
        except NoBrowser as error:
            raise _does_not_start(self.name, error) from error

    async def aclose(self) -> None:
        """Kill the browser and end all connections of its pages; running reads raise Closed."""
        self.end_pages()
        await self._chromium.aclose()
        await super().aclose()

    async def show(self, target: WebUrl, deadline: Deadline) -> Rendered:
        """Render a page, or replay it; see `RenderingReader.show`."""
        if self._cassette is None:
            return await super().show(target, deadline)
        request = {"url": target.text}
        if self._cassette.replaying:
            try:
                answer = self._cassette.find("browser", request).answer
            except CallFailed as error:
                raise PageUnavailable(target.text, f"{target.host} {error.failure.detail}.") from error
            if answer is None:
                raise PageUnavailable(target.text, f"{target.host} could not be read when this was recorded.")
            final = answer.headers.get("Content-Location", target.text)
            return Rendered(
                url=final, html=answer.body.decode("utf-8", "replace"), status=answer.status, headers=answer.headers
            )
        started = time.perf_counter()
        rendered = await super().show(target, deadline)
        kind = rendered.headers.get("content-type", "text/html")
        self._cassette.add(
            "browser",
            request,
            response=Answer(
                rendered.status,
                {"Content-Type": kind, "Content-Location": rendered.url},
                rendered.html.encode("utf-8", "replace"),
            ),
            ms=round((time.perf_counter() - started) * 1_000),
        )
        return rendered

    async def render(self, target: WebUrl, proxy: VettingProxy, deadline: Deadline) -> Rendered:
        """Render a page; see `RenderingReader.render`."""
        if _PLAYWRIGHT not in sys.modules:  # importing it takes a third of a second, which must not block the loop
            await asyncio.to_thread(import_module, _PLAYWRIGHT)
        from playwright.async_api import Error

        options = self._options
        try:
            async with self._chromium.page(proxy.url) as (context, page):
                return await render(
                    context,
                    page,
                    target.text,
                    deadline=deadline,
                    settle=options.settle,
                    max_length=self.max_length,
                )
        except NoBrowser as error:
            raise _does_not_start(self.name, error) from error
        except Error as error:
            raise BrowserGone from error


def _does_not_start(name: str, error: NoBrowser) -> ProviderUnavailable:
    return ProviderUnavailable(name, f"the browser does not start: {error}", fix="See providers.browser.executable")


def _has_sandbox(chosen: str) -> bool:
    if chosen == "auto":
        return not (hasattr(os, "geteuid") and os.geteuid() == 0)  # Chromium refuses to sandbox as root
    return chosen == "on"
