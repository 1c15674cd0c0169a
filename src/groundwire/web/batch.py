"""Opening one page, or several side by side with one deadline and one amount of room."""

from __future__ import annotations

import asyncio
import time
from collections import Counter
from collections.abc import Iterable, Sequence
from dataclasses import dataclass, field, replace

from groundwire.deadline import Deadline
from groundwire.errors import GroundwireError, InvalidRequest
from groundwire.models import Attempt, Page
from groundwire.reading.passages.token_budget import TextBudget
from groundwire.reading.passages.view import Ask
from groundwire.routing.budget import SessionBudget
from groundwire.telemetry.call_events import CallListeners
from groundwire.web.opening import Opening
from groundwire.web.telling import page_done

__all__ = ["Batch", "check_url", "check_urls"]

_MOST = 50  # pages of one call


def check_url(field: str, url: object) -> str:
    """Return an address that is text, or raise InvalidRequest."""
    if not isinstance(url, str):
        raise InvalidRequest(field, f"must be text, not {type(url).__name__}", "Pass an http or https address.")
    return url


def check_urls(urls: object) -> tuple[str, ...]:
    """Return 1 to 50 addresses, or raise InvalidRequest."""
    if isinstance(urls, str) or not isinstance(urls, Iterable):
        raise InvalidRequest("urls", f"must be a list, not {type(urls).__name__}", "Pass a list of addresses.")
    checked = tuple(check_url("urls", url) for url in urls)
    if not 1 <= len(checked) <= _MOST:
        raise InvalidRequest("urls", f"has {len(checked):,} addresses", f"Pass 1 to {_MOST}.")
    return checked


@dataclass(frozen=True, slots=True, kw_only=True)
class Batch:
    """Opens pages and tells the watchers of each."""

    opening: Opening
    """The flow of one page."""
    watchers: CallListeners
    """Are told when a page is done."""

    async def one(self, url: str, ask: Ask, deadline: Deadline, fresh: bool, budget: SessionBudget) -> Page:
        """Open one page; see `Web.open_page`."""
        started = time.perf_counter()
        attempts: list[Attempt] = []
        try:
            page = await self.opening.open(url, ask, deadline, fresh, attempts, budget)
        except BaseException as error:
            self.watchers.page_done(page_done(url, attempts, started, error, budget))
            raise
        self.watchers.page_done(page_done(url, attempts, started, page, budget))
        return page

    async def all(
        self,
        urls: Sequence[str],
        ask: Ask,
        deadline: Deadline,
        fresh: bool,
        budget: SessionBudget,
        *,
        shared: bool,
        limit: asyncio.Semaphore,
    ) -> tuple[Page, ...]:
        """Open several pages; see `Web.open_pages`.

        Args:
            urls: Their addresses.
            ask: What is wanted of each.
            deadline: When all must be here.
            fresh: Whether to pass by what is kept.
            budget: The session's.
            shared: Whether the room is that of all together.
            limit: How many may be read at the same time.
        """
        often = Counter(urls)
        read = {url: _Reading(url) for url in often}
        try:
            async with asyncio.TaskGroup() as group:
                for reading in read.values():
                    group.create_task(self._whole(reading, deadline, fresh, budget, limit))
        except BaseExceptionGroup as errors:  # a fault of ours; what a page can do wrong is kept with it
            raise errors.exceptions[0] from None
        room, parts = ask.room, sum(often[url] for url in often if read[url].page is not None)
        for url in sorted(often, key=lambda url: read[url].length):
            reading = read[url]
            if reading.page is not None:
                mine = _share(room, parts) if shared else room
                await self._show(reading, replace(ask, room=mine), deadline, budget)
                parts -= often[url]
                if shared and reading.page is not None:
                    room = _left(room, reading.page.content, often[url])
            end = reading.error or reading.result()
            self.watchers.page_done(page_done(url, reading.attempts, reading.started, end, budget))
        return tuple(read[url].result() for url in urls)

    async def _whole(
        self, reading: _Reading, deadline: Deadline, fresh: bool, budget: SessionBudget, limit: asyncio.Semaphore
    ) -> None:
        """Read a whole page, or note what went wrong."""
        try:
            async with limit:
                reading.started = time.perf_counter()
                reading.page = await self.opening.whole(reading.url, deadline, fresh, reading.attempts, budget)
        except GroundwireError as error:
            reading.error = error
        except BaseException as error:
            self.watchers.page_done(page_done(reading.url, reading.attempts, reading.started, error, budget))
            raise

    async def _show(self, reading: _Reading, ask: Ask, deadline: Deadline, budget: SessionBudget) -> None:
        """Put the part that is wanted in the place of the whole page."""
        page, reading.page = reading.page, None
        try:
            reading.page = await self.opening.shown(page, ask, deadline, budget) if page is not None else None
        except GroundwireError as error:
            reading.error = error


@dataclass(slots=True)
class _Reading:
    """One page of a batch on its way."""

    url: str
    started: float = field(default_factory=time.perf_counter)
    attempts: list[Attempt] = field(default_factory=list)
    page: Page | None = None
    error: GroundwireError | None = None

    @property
    def length(self) -> int:
        return len(self.page.content) if self.page is not None else 0

    def result(self) -> Page:
        """Return the page, or what went wrong as one."""
        if self.page is not None:
            return self.page
        shown = self.url[:2_048].encode("utf-8", "replace").decode()
        return Page(url=shown, status="error", error=str(self.error))


def _share(room: TextBudget, parts: int) -> TextBudget:
    """Return an even share of what is left; the shortest page comes first, and what it leaves is there for the rest."""
    tokens = None if room.tokens is None else room.tokens // parts
    return room.limited(room.characters // parts, tokens)


def _left(room: TextBudget, content: str, times: int) -> TextBudget:
    tokens = None if room.tokens is None else room.tokens - times * room.tokens_of(content)
    return room.limited(room.characters - times * len(content), tokens)
