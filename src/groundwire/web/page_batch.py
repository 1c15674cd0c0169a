"""Reading any number of pages, a few at a time for each host."""

from __future__ import annotations

import asyncio
from collections.abc import AsyncGenerator, AsyncIterable, AsyncIterator, Callable, Iterable
from pathlib import Path
from typing import Final, Self
from weakref import WeakValueDictionary

from groundwire.errors import (
    BudgetExceeded,
    Closed,
    DeadlineExceeded,
    GroundwireError,
    PageUnavailable,
    ProviderError,
)
from groundwire.models import Page, SiteUrl
from groundwire.routing.calls import PageCall
from groundwire.safety.urls import parse_url
from groundwire.storage.archive.store import Archive
from groundwire.web.open_page import OpenPageFlow, check_address
from groundwire.web.page_output import PageOutput, url_digest
from groundwire.web.site_map import patiently

_MAX_WAITING: Final = 500  # addresses that wait, so that one slow host does not hold up the others
_PAGES_PER_SYNC: Final = 32  # pages after which files are synced, and the archive has caught up
_TRANSIENT_ERRORS: Final = (PageUnavailable, ProviderError, DeadlineExceeded)
_TOO_MANY_REQUESTS: Final = 429


class _Host:
    """What the pages of one host wait for.

    Args:
        places: How many of them may be read at the same time.
    """

    def __init__(self, places: int) -> None:
        self.places = asyncio.Semaphore(places)
        self.turn = asyncio.Lock()
        self.ready: float = 0.0
        """When the next page may be requested, on the clock of the loop."""


class PageBatch:
    """Pages in the order in which they are read, to be iterated with `async for`; see `Web.read_many`.

    Args:
        urls: Their addresses.
        flow: Opens them.
        new_call: Returns a call for an address, with a deadline of its own.
        output: Where they are written; None for nowhere.
        at_once: Maximum pages read at the same time.
        per_host: The same for one host.
        delay: Seconds between the beginnings of two pages of one host.
        archive: Is given time to store each page.
    """

    def __init__(
        self,
        urls: Iterable[str | SiteUrl] | AsyncIterable[str | SiteUrl],
        *,
        flow: OpenPageFlow,
        new_call: Callable[[str], PageCall],
        output: Path | None,
        at_once: int,
        per_host: int,
        delay: float,
        archive: Archive | None,
    ) -> None:
        self.read: int = 0
        """The pages read so far."""
        self.failed: int = 0
        """The pages that could not be read."""
        self.failed_earlier: int = 0
        """The pages that earlier runs could not read, and that are not tried again."""
        self.skipped: int = 0
        """The addresses that were skipped: pages that an earlier run has dealt with, and repetitions."""
        self._source = urls
        self._flow = flow
        self._new_call = new_call
        self._path = output
        self._per_host = per_host
        self._delay = delay
        self._archive = archive
        self._hosts: WeakValueDictionary[str, _Host] = WeakValueDictionary()  # of pages that are not read yet
        self._slots = asyncio.Semaphore(at_once)
        self._room = asyncio.Semaphore(_MAX_WAITING)
        self._digests: set[bytes] = set()
        self._ends: asyncio.Queue[tuple[str, Page | GroundwireError] | BaseException | None] = asyncio.Queue(at_once)
        self._pages = self._run()

    def __aiter__(self) -> Self:
        return self

    async def __anext__(self) -> Page:
        return await anext(self._pages)

    async def aclose(self) -> None:
        """Stop early; what was read stays."""
        await self._pages.aclose()

    async def _run(self) -> AsyncGenerator[Page]:
        """Yield pages, after they are written."""
        output = await asyncio.to_thread(PageOutput, self._path) if self._path is not None else None
        if output is not None:
            self._digests, self.failed_earlier = output.digests, output.failed
        reading = asyncio.create_task(self._read_all())
        try:
            while (end := await self._ends.get()) is not None:
                if isinstance(end, BaseException):
                    raise end
                yield await self._write(*end, output)
        finally:
            reading.cancel()
            await asyncio.gather(reading, return_exceptions=True)
            await self._sync(output)
            if output is not None:
                await asyncio.to_thread(output.close)

    async def _write(self, url: str, page: Page | GroundwireError, output: PageOutput | None) -> Page:
        """Write a page or its error, and return it."""
        if isinstance(page, GroundwireError):
            self.failed += 1
            is_final = not isinstance(page, _TRANSIENT_ERRORS) and getattr(page, "status", None) != _TOO_MANY_REQUESTS
            if output is not None:
                output.fail(url, str(page), is_final=is_final)
            return Page(url=url[:2_048], status="error", error=str(page))
        if output is not None:
            await asyncio.to_thread(output.write, url, page)
        self.read += 1
        if self.read % _PAGES_PER_SYNC == 0:
            await self._sync(output)
        return page

    async def _sync(self, output: PageOutput | None) -> None:
        if output is not None:
            await asyncio.to_thread(output.sync)
        if self._archive is not None:
            await self._archive.flush()

    async def _read_all(self) -> None:
        """Read all pages; the last entry of the queue is None, or what ended the work early."""
        try:
            async with asyncio.TaskGroup() as group:
                async for item in _each(self._source):
                    await self._enqueue(item.url if isinstance(item, SiteUrl) else check_address("urls", item), group)
        except BaseExceptionGroup as errors:
            await self._ends.put(errors.exceptions[0])
        else:
            await self._ends.put(None)

    async def _enqueue(self, url: str, group: asyncio.TaskGroup) -> None:
        problem: GroundwireError | None = None
        host = ""
        try:
            url, host = (parsed := parse_url(url)).request_text, parsed.authority
        except GroundwireError as error:
            problem = error
        if (digest := url_digest(url)) in self._digests:
            self.skipped += 1
            return
        self._digests.add(digest)
        if problem is not None:
            await self._ends.put((url, problem))
            return
        await self._room.acquire()
        group.create_task(self._read(url, self._hosts.setdefault(host, _Host(self._per_host))))

    async def _read(self, url: str, host: _Host) -> None:
        end: Page | GroundwireError
        async with host.places:  # until somebody takes the page, so that no more of them are kept
            try:
                end = await patiently(lambda: self._open(url, host))
            except (BudgetExceeded, Closed):
                raise  # so will all others
            except GroundwireError as error:
                end = error
            await self._ends.put((url, end))
        self._room.release()

    async def _open(self, url: str, host: _Host) -> Page:
        loop = asyncio.get_running_loop()
        async with host.turn:
            await asyncio.sleep(max(0.0, host.ready - loop.time()))
            host.ready = loop.time() + self._delay
        async with self._slots:
            page = await self._flow.open(self._new_call(url), whole=True)
        if page.cached:  # the site was not asked
            host.ready = 0.0
        return page


async def _each(
    urls: Iterable[str | SiteUrl] | AsyncIterable[str | SiteUrl],
) -> AsyncIterator[str | SiteUrl]:
    """Yield what either kind of iterable has."""
    if isinstance(urls, AsyncIterable):
        async for url in urls:
            yield url
    else:
        for url in urls:
            yield url
