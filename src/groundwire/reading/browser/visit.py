"""A browser's visit to a page, from the fetch slot to the result or error, for all browsers.

The URL that a page ended at is checked like the requested one.
"""

from __future__ import annotations

import asyncio
import os
from abc import ABC, abstractmethod
from dataclasses import replace
from pathlib import Path
from typing import Final

from multidict import CIMultiDict
from pydantic import Field

from groundwire.deadline import Deadline
from groundwire.errors import (
    BlockedAddress,
    Closed,
    ConfigurationError,
    DeadlineExceeded,
    GroundwireError,
    InvalidRequest,
    PageBlocked,
    PageEmpty,
    PageUnavailable,
    ProviderUnavailable,
)
from groundwire.models import ReadResult
from groundwire.providers.base import Capabilities, Options, ProviderContext
from groundwire.providers.query_mapping import page_failure
from groundwire.reading.block_pages.classify import known_wall
from groundwire.reading.browser.pinned_connect import Dialler
from groundwire.reading.browser.render import BrowserGone, Rendered, Unreachable
from groundwire.reading.browser.vetting_proxy import VettingProxy
from groundwire.reading.extracted import read_result
from groundwire.reading.workers.pool import Conversion
from groundwire.safety.urls import WebUrl, url_or_none
from groundwire.settings.user_folders import expand_user

_TIMEOUT: Final = 30.0  # seconds, without a deadline
_TRIES: Final = 2  # a browser that dies is replaced once within a call
_REDIRECTED: Final = "The page redirects to an address that is not allowed: only public http and https addresses are."


class RenderingOptions(Options):
    """The settings of all browsers."""

    executable: str = ""
    """The path of a Chromium, Chrome or headless shell; by default the first one found on this machine."""
    settle: float = Field(default=6.0, gt=0, le=120)
    """Maximum seconds to wait for a page's scripts."""
    pages_at_once: int = Field(default=4, ge=1, le=64)
    """Maximum pages rendered at once; further ones wait."""
    max_bytes: int = Field(default=50_000_000, ge=100_000, le=1_000_000_000)
    """Maximum bytes that a page with all its resources may load, on the wire."""


class RenderingReader(ABC):
    """A reader that shows pages in a browser; a subclass starts the browser, and renders in `render`.

    Args:
        context: The settings and the other parts of a `Web`.
        options: Its own settings.
    """

    capabilities: Capabilities = Capabilities(read=True, guarded=True, renders=True)

    def __init__(self, context: ProviderContext, options: RenderingOptions) -> None:
        self.name: str = context.name
        self.max_length: int = context.settings.read.max_bytes
        """Maximum characters of a page's markup."""
        self.closed: bool = False
        self._transport = context.transports.pages
        self._guard = self._transport.guard
        self._upstream = context.settings.network.proxy
        self._slots = asyncio.Semaphore(options.pages_at_once)
        self._max_bytes = options.max_bytes
        self._proxies: set[VettingProxy] = set()
        self._conversion = Conversion.of(context.settings.read, context.workers)

    @staticmethod
    def program(context: ProviderContext, option: str, path: str) -> Path | None:
        """Return the program that an option names; None if it names none.

        Raises:
            ConfigurationError: there is no such program.
        """
        if not path:
            return None
        if not os.access(executable := expand_user(path), os.X_OK):
            where = f"providers.{context.name}.{option}"
            raise ConfigurationError(f"{where} = {path!r}: there is no such program.")
        return executable

    @abstractmethod
    async def render(self, target: WebUrl, proxy: VettingProxy, deadline: Deadline) -> Rendered:
        """Render a page that the guard has admitted, behind a proxy of its own.

        Raises:
            BrowserGone: the browser has died; a new one is to be tried. Unreachable: the page did not load.
        """

    async def show(self, target: WebUrl, deadline: Deadline) -> Rendered:
        """Render a page when a slot is free; a browser that dies in the meantime is replaced once."""
        async with self._slots:
            for _ in range(_TRIES):
                self.check_open()
                try:
                    return await self._render_behind_proxy(target, deadline)
                except BrowserGone as error:
                    failure = error
            self.check_open()
            raise ProviderUnavailable(self.name, str(failure), fix=failure.fix) from failure

    async def _render_behind_proxy(self, target: WebUrl, deadline: Deadline) -> Rendered:
        dialler = Dialler(self._guard, target, self._upstream)
        async with VettingProxy(dialler, max_bytes=self._max_bytes) as proxy:
            self._proxies.add(proxy)
            try:
                rendered = await self.render(target, proxy, deadline)
            except Unreachable as error:
                self.check_open()
                raise _why_not(target, str(error), proxy) from error
            finally:
                self._proxies.discard(proxy)
            self._judge_landing(target, rendered.url, proxy)
            return _with_remarks(rendered, proxy)

    def _judge_landing(self, target: WebUrl, final: str, proxy: VettingProxy) -> None:
        """Raise an error for a page that ended at a forbidden URL, or nowhere."""
        try:
            landed = self._guard.admit(final)
        except (BlockedAddress, InvalidRequest) as error:
            raise _why_not(target, "ERR_FAILED", proxy, refused=True) from error
        place = _authority(landed)
        if place in proxy.refused or place in proxy.failed:
            raise _why_not(target, "ERR_TUNNEL", proxy, place=place)

    async def read_url(self, url: str, *, deadline: Deadline | None = None) -> ReadResult:
        """Read a page; see `ReadProvider.read_url`."""
        deadline = deadline or Deadline.after(_TIMEOUT)
        target = self._guard.admit(url)
        try:
            with deadline.timeout():
                rendered = await self._visit(target, deadline)
        except TimeoutError as error:
            if isinstance(error, GroundwireError):
                raise
            raise DeadlineExceeded(f"{target.host} could not be rendered in time. Try again.") from error
        if not 200 <= rendered.status < 300:
            wall = known_wall(rendered.headers, rendered.html)
            if wall is not None:
                raise PageBlocked(url, str(wall), status=rendered.status)
            raise page_failure(url, status=rendered.status)
        converted = await self._conversion.convert(
            rendered.html.encode("utf-8", "replace"),
            "text/html; charset=utf-8",
            rendered.url,
            headers=rendered.headers,
            deadline=deadline,
        )
        block = converted.block
        if block is not None and block.kind != "script shell":  # its scripts have run, so this is the page
            raise PageBlocked(url, str(block), status=rendered.status)
        if not converted.extracted.content:
            markup = f"{len(rendered.html):,} characters of markup"
            raise PageEmpty(url, f"The page has no readable text, not even in a browser ({markup}).")
        kind = rendered.headers.get("content-type", "text/html").partition(";")[0].strip().lower()
        return read_result(url, converted, final_url=rendered.url, content_type=kind, warnings=rendered.warnings)

    def end_pages(self) -> None:
        """End all connections of its pages; running reads fail, and no others begin."""
        self.closed = True
        for proxy in self._proxies:
            proxy.close()

    async def aclose(self) -> None:
        """End the workers that convert pages."""
        await self._conversion.aclose()

    def check_open(self) -> None:
        """Raise Closed once the reader is closed."""
        if self.closed:
            raise Closed("This Web is closed; create a new one.")

    async def _visit(self, target: WebUrl, deadline: Deadline) -> Rendered:
        """Render a page when its site allows it and a slot is free; a redirect to another site is checked too.

        Requests of the page's own scripts and frames are not paced: they are part of one visit, as a person's are.
        """
        gate = self._transport.gate
        if gate is None:
            return await self.show(target, deadline)
        async with gate.visit(target, deadline) as visit:
            rendered = await self.show(target, deadline)
            visit.status, visit.headers = rendered.status, CIMultiDict(rendered.headers)
        final = url_or_none(rendered.url)
        if final is not None and final.request_text != target.request_text:
            await gate.check(final, deadline)
        return rendered


def _why_not(target: WebUrl, code: str, proxy: VettingProxy, *, refused: bool = False, place: str = "") -> Exception:
    """Return the error for a page that did not load.

    Args:
        target: The requested URL.
        code: The browser's error code.
        proxy: The page's proxy.
        refused: Whether the guard blocked the target.
        place: The final host and port, if known.
    """
    start = _authority(target)
    end = place or start
    moved = end != start or (start not in proxy.refused and bool(proxy.refused))
    if refused or end in proxy.refused or (moved and end not in proxy.failed and bool(proxy.refused)):
        unknown = f"{target.host} does not resolve to a public web address. Check the spelling."
        return BlockedAddress(_REDIRECTED if moved or refused else unknown)
    cause = "does not resolve, or refused the connection" if end in proxy.failed else f"could not be read: {code}"
    return PageUnavailable(target.text, f"{target.host} {cause}. Try again later.")


def _with_remarks(rendered: Rendered, proxy: VettingProxy) -> Rendered:
    """Return a page with the warnings of its proxy."""
    warnings = list(rendered.warnings)
    if proxy.refused:
        warnings.append(f"the page tried to reach {proxy.refused.total()} addresses that are not allowed")
    if proxy.exhausted:
        warnings.append("the page exceeds the download limit; the rest was not loaded")
    return replace(rendered, warnings=tuple(warnings))


def _authority(url: WebUrl) -> str:
    return f"[{url.host}]:{url.port}" if ":" in url.host else f"{url.host}:{url.port}"
