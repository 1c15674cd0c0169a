"""Opening one page, or several side by side with one deadline and one amount of room."""

from __future__ import annotations

import asyncio
import time
from collections import Counter
from collections.abc import Iterable, Sequence
from dataclasses import dataclass, replace

from groundwire.deadline import Deadline
from groundwire.errors import GroundwireError, InvalidRequest
from groundwire.models import Attempt, Page
from groundwire.observing.records import Watchers
from groundwire.reading.handle.room import Room
from groundwire.reading.handle.view import Ask
from groundwire.routing.budget import SessionBudget
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
    watchers: Watchers
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
        try:
            async with asyncio.TaskGroup() as group:
                reading = {url: group.create_task(self._whole(url, deadline, fresh, budget, limit)) for url in often}
        except BaseExceptionGroup as errors:  # a fault of ours; what a page can do wrong is a page
            raise errors.exceptions[0] from None
        whole = {url: task.result() for url, task in reading.items()}
        shown = {url: page for url, page in whole.items() if page.status == "error"}
        waiting = sorted((url for url in whole if url not in shown), key=lambda url: len(whole[url].content))
        room, parts = ask.room, sum(often[url] for url in waiting)
        for url in waiting:
            mine = _share(room, parts) if shared else room
            shown[url] = await self._shown(whole[url], replace(ask, room=mine), budget)
            parts -= often[url]
            if shared:
                room = _left(room, shown[url].content, often[url])
        return tuple(shown[url] for url in urls)

    async def _whole(
        self, url: str, deadline: Deadline, fresh: bool, budget: SessionBudget, limit: asyncio.Semaphore
    ) -> Page:
        """Return a whole page, or what went wrong as a page."""
        started = time.perf_counter()
        attempts: list[Attempt] = []
        try:
            async with limit:
                page = await self.opening.whole(url, deadline, fresh, attempts, budget)
        except BaseException as error:
            self.watchers.page_done(page_done(url, attempts, started, error, budget))
            if not isinstance(error, GroundwireError):
                raise
            return _failed(url, error)
        self.watchers.page_done(page_done(url, attempts, started, page, budget))
        return page

    async def _shown(self, page: Page, ask: Ask, budget: SessionBudget) -> Page:
        try:
            return await self.opening.shown(page, ask, budget)
        except GroundwireError as error:
            return _failed(page.url, error)


def _failed(url: str, error: GroundwireError) -> Page:
    shown = url[:2_048].encode("utf-8", "replace").decode()
    return Page(url=shown, status="error", error=str(error))


def _share(room: Room, parts: int) -> Room:
    """Return an even share of what is left; the shortest page comes first, and what it leaves is there for the rest."""
    tokens = None if room.tokens is None else room.tokens // parts
    return room.limited(room.characters // parts, tokens)


def _left(room: Room, content: str, times: int) -> Room:
    tokens = None if room.tokens is None else room.tokens - times * room.tokens_of(content)
    return room.limited(room.characters - times * len(content), tokens)
