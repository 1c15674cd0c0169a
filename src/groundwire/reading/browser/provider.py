"""The browser reader: a local Chromium, with each page behind a proxy that vets its connections."""

from __future__ import annotations

import asyncio
import os
import sys
import time
from collections.abc import Callable
from importlib import import_module
from pathlib import Path
from typing import Literal, Self

from pydantic import Field

from groundwire._version import install_extra
from groundwire.cassette import Answer, CallFailed, Cassette
from groundwire.deadline import Deadline
from groundwire.errors import (
    Closed,
    ConfigurationError,
    NotConfigured,
    PageUnavailable,
    ProviderUnavailable,
)
from groundwire.models import ReadResult
from groundwire.providers.base import Capabilities, Options, ProviderContext
from groundwire.reading.browser.chromium import Chromium, NoBrowser
from groundwire.reading.browser.launch import HINT, NOWHERE, find_chromium, has_playwright
from groundwire.reading.browser.pinned_connect import Dialler
from groundwire.reading.browser.render import BrowserGone, Rendered, Unreachable, render
from groundwire.reading.browser.vetting_proxy import VettingProxy
from groundwire.reading.browser.visit import judge_landing, visit_page, why_not, with_remarks
from groundwire.reading.workers.pool import Conversion
from groundwire.safety.guard import Guard
from groundwire.safety.urls import WebUrl
from groundwire.settings.user_folders import expand_user
from groundwire.transport import FetchPolicy

__all__ = ["BrowserOptions", "BrowserReadProvider"]

_PLAYWRIGHT = "playwright.async_api"
_TIMEOUT = 20.0  # seconds, without a deadline
_TRIES = 2  # a browser that dies is replaced once within a call
_CLOSED = "This Web is closed; create a new one."


class BrowserOptions(Options):
    """`[providers.browser]`."""

    executable: str = ""
    """The path of a Chromium, Chrome or headless shell; by default the first one found on this machine."""
    sandbox: Literal["auto", "on", "off"] = "auto"
    """Whether the operating system sandboxes the browser's processes; `auto` does except for root."""
    images: bool = False
    """Whether images are loaded; they are not read."""
    user_agent: str = Field(default="", max_length=500, pattern=r"^[\x20-\x7e]*$")
    """The User-Agent header; empty for the browser's own."""
    settle: float = Field(default=6.0, gt=0, le=120)
    """Maximum seconds to wait for a page's scripts after the page has started to load."""
    pages_at_once: int = Field(default=4, ge=1, le=64)
    """Maximum pages rendered at once; further ones wait."""
    max_bytes: int = Field(default=50_000_000, ge=100_000, le=1_000_000_000)
    """Maximum bytes that a page with all its resources may load, on the wire."""
    max_requests: int = Field(default=1_000, ge=1, le=100_000)
    """Maximum connections of a page."""
    max_pages: int = Field(default=200, ge=1, le=100_000)
    """The number of pages after which the browser is replaced."""
    max_minutes: float = Field(default=30.0, gt=0, le=1_440)
    """The minutes after which it is replaced."""


class BrowserReadProvider:
    """Reads pages as rendered by a browser, including the output of their scripts.

    Args:
        guard: Checks every URL that a page requests.
        executable: The browser's program.
        options: The reader's own settings.
        upstream: A forward proxy's URL for all connections, or empty for none.
        max_length: Maximum characters of a page's markup.
        cassette: Records rendered pages, or replays them.
        gate: Returns the fetch policy, which decides whether and when a site may be visited.
        name: Its name.
        conversion: Converts the HTML to Markdown; by default a new one.
    """

    capabilities: Capabilities = Capabilities(read=True, guarded=True, renders=True)
    Options = BrowserOptions

    def __init__(
        self,
        guard: Guard,
        executable: Path,
        *,
        options: BrowserOptions | None = None,
        upstream: str = "",
        max_length: int = 10_000_000,
        cassette: Cassette | None = None,
        gate: Callable[[], FetchPolicy | None] = lambda: None,
        name: str = "browser",
        conversion: Conversion | None = None,
    ) -> None:
        self._gate = gate
        self.name = name
        self._guard = guard
        self._options = options = options or BrowserOptions()
        self._upstream = upstream
        self._max_length = max_length
        self._cassette = cassette
        self._turn = asyncio.Semaphore(options.pages_at_once)
        self._conversion = conversion or Conversion()
        self._proxies: set[VettingProxy] = set()
        self._closed = False
        self._chromium = Chromium(
            executable,
            sandbox=_has_sandbox(options.sandbox),
            images=options.images,
            max_pages=options.max_pages,
            max_age=options.max_minutes * 60,
        )

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
        if options.executable:
            executable: Path | None = expand_user(options.executable)
            if executable is not None and not os.access(executable, os.X_OK):
                where = f"providers.{context.name}.executable"
                raise ConfigurationError(f"{where} = {options.executable!r}: there is no such program.")
        else:
            executable = find_chromium()
        if executable is None and not replaying:
            raise NotConfigured(context.name, f"there is no Chromium on this machine; {HINT}")
        return cls(
            context.transports.pages.guard,
            executable or Path(),
            options=options,
            upstream=context.settings.network.proxy,
            max_length=context.settings.read.max_bytes,
            cassette=cassette,
            gate=lambda: context.transports.pages.gate,
            name=context.name,
            conversion=Conversion(
                context.workers,
                isolated=context.settings.read.isolation == "process",
                parts=context.settings.read.parts,
            ),
        )

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

    async def read_url(self, url: str, *, deadline: Deadline | None = None) -> ReadResult:
        """Read a page; see `ReadProvider.read_url`. A browser that dies in the meantime is replaced once."""
        deadline = deadline or Deadline.after(_TIMEOUT)
        return await visit_page(
            url,
            guard=self._guard,
            gate=self._gate(),
            conversion=self._conversion,
            deadline=deadline,
            show=lambda target: self._recorded(target, deadline),
        )

    async def aclose(self) -> None:
        """Kill the browser and end all connections of its pages; running reads raise Closed."""
        self._closed = True
        for proxy in self._proxies:
            proxy.close()
        await self._chromium.aclose()
        await self._conversion.aclose()

    async def _recorded(self, target: WebUrl, deadline: Deadline) -> Rendered:
        if self._cassette is None:
            return await self._rendered(target, deadline)
        asked = {"url": target.text}
        if self._cassette.replaying:
            try:
                answer = self._cassette.find("browser", asked).answer
            except CallFailed as error:
                raise PageUnavailable(target.text, f"{target.host} {error.failure.detail}.") from error
            if answer is None:
                raise PageUnavailable(target.text, f"{target.host} could not be read when this was recorded.")
            final = answer.headers.get("Content-Location", target.text)
            return Rendered(
                url=final, html=answer.body.decode("utf-8", "replace"), status=answer.status, headers=answer.headers
            )
        started = time.perf_counter()
        rendered = await self._rendered(target, deadline)
        kind = rendered.headers.get("content-type", "text/html")
        self._cassette.add(
            "browser",
            asked,
            response=Answer(
                rendered.status,
                {"Content-Type": kind, "Content-Location": rendered.url},
                rendered.html.encode("utf-8", "replace"),
            ),
            ms=round((time.perf_counter() - started) * 1_000),
        )
        return rendered

    async def _rendered(self, target: WebUrl, deadline: Deadline) -> Rendered:
        async with self._turn:
            for attempt in range(_TRIES):
                try:
                    return await self._shown(target, deadline)
                except NoBrowser as error:
                    raise _does_not_start(self.name, error) from error
                except BrowserGone as error:
                    if self._closed:
                        raise Closed(_CLOSED) from error
                    if attempt == _TRIES - 1:
                        raise ProviderUnavailable(self.name, "the browser crashed on this page") from error
        raise AssertionError("unreachable")

    async def _shown(self, target: WebUrl, deadline: Deadline) -> Rendered:
        """Render a page once."""
        if _PLAYWRIGHT not in sys.modules:  # importing it takes a third of a second, which must not block the loop
            await asyncio.to_thread(import_module, _PLAYWRIGHT)
        from playwright.async_api import Error

        options = self._options
        if self._closed:
            raise Closed(_CLOSED)
        dialler = Dialler(self._guard, target, self._upstream)
        async with VettingProxy(dialler, max_bytes=options.max_bytes, max_requests=options.max_requests) as proxy:
            self._proxies.add(proxy)
            try:
                async with self._chromium.page(proxy.url, user_agent=options.user_agent) as (context, page):
                    rendered = await render(
                        context,
                        page,
                        target.text,
                        deadline=deadline,
                        settle=options.settle,
                        max_length=self._max_length,
                    )
                    judge_landing(self._guard, target, rendered.url, proxy)
                    return with_remarks(rendered, proxy)
            except Unreachable as error:
                if self._closed:
                    raise Closed(_CLOSED) from error
                raise why_not(target, str(error), proxy) from error
            except Error as error:
                raise BrowserGone("the browser crashed") from error
            finally:
                self._proxies.discard(proxy)


def _does_not_start(name: str, error: NoBrowser) -> ProviderUnavailable:
    return ProviderUnavailable(name, f"the browser does not start: {error}", fix="See providers.browser.executable")


def _has_sandbox(chosen: str) -> bool:
    if chosen == "auto":
        return not (hasattr(os, "geteuid") and os.geteuid() == 0)  # Chromium refuses to sandbox as root
    return chosen == "on"
