"""The first page: searching, and a page that was found beside the results."""

from __future__ import annotations

import asyncio
import time
from collections.abc import AsyncIterator, Coroutine, Mapping
from datetime import UTC, datetime
from typing import Any, Generic, TypeVar

from groundwire.errors import GroundwireError
from groundwire.models import Event
from groundwire.observing.listening import listening
from groundwire.server.ui.asking import Asked, link
from groundwire.server.ui.html import Html, Redirect
from groundwire.server.ui.reading import Reading, read_page
from groundwire.server.ui.room import Visit
from groundwire.server.ui.shown import Found, find_shown, keep_shown
from groundwire.server.ui.words import web_url

__all__ = ["Later", "start"]

_T = TypeVar("_T", Found, Reading)


class Later(Generic[_T]):
    """Something that a template waits for. By then the page is on its way, so how it went is said in the page.

    Args:
        visit: The visit with which it ends.
        work: Makes it.
    """

    def __init__(self, visit: Visit, work: Coroutine[Any, Any, _T]) -> None:
        self._news: asyncio.Queue[Event | None] = asyncio.Queue()
        self._task: asyncio.Task[_T] = visit.begin(self._told(work))

    async def news(self) -> AsyncIterator[Event]:
        """Yield who is asked and how it ended, while it goes on."""
        while (event := await self._news.get()) is not None:
            yield event

    async def get(self) -> _T:
        """Return it, once it is there."""
        return await self._task

    async def _told(self, work: Coroutine[Any, Any, _T]) -> _T:
        try:
            with listening(self._news.put_nowait):
                return await work
        finally:
            self._news.put_nowait(None)


async def start(visit: Visit) -> Html | Redirect:
    """Show the form, the results, and the page that is opened."""
    asked = visit.asked
    words = asked.get("q")
    if web_url(words) and not words.split()[1:]:
        return Redirect(to=link("/", open=words) + "#reader")
    found: Later[Found] | None = None
    reading: Later[Reading] | None = None
    may_spend = visit.may_spend
    if asked.get("open") and may_spend:
        reading = Later(visit, read_page(visit.web, asked))
        if words and (shown := await find_shown(visit.web.store, visit.session, asked.search)) is not None:
            found = Later(visit, _known(shown))
    elif words and may_spend:
        found = Later(visit, _search(visit, asked))
    values = {
        "asked": asked,
        "found": found,
        "reading": reading,
        "waits_for_click": bool(words or asked.get("open")) and not may_spend,
        "providers": visit.web.settings.search.providers,
        "budget": await _budget(visit) if not (found or reading) else None,
    }
    return Html(template="start.html", values=values)


async def _known(found: Found) -> Found:
    return found


async def _search(visit: Visit, asked: Asked) -> Found:
    started = time.perf_counter()
    web = visit.web
    try:
        response = await web.search(asked.get("q"), **asked.search_arguments())
    except GroundwireError as error:
        return Found(error=error, milliseconds=_since(started), at=datetime.now(UTC))
    found = Found(response=response, milliseconds=_since(started), at=datetime.now(UTC))
    if web.settings.session.citations == "session":  # else nothing is to be remembered of what was shown
        await keep_shown(web.store, visit.session, asked.search, found)
    return found


async def _budget(visit: Visit) -> Mapping[str, float]:
    web = visit.web
    used = await web.usage()
    return {**used, "limit": web.settings.session.limit}


def _since(started: float) -> float:
    return (time.perf_counter() - started) * 1_000
