"""The search view: results, and the opened page beside them."""

from __future__ import annotations

import asyncio
import hashlib
import json
import time
from collections.abc import AsyncIterator, Coroutine, Mapping
from dataclasses import dataclass
from datetime import UTC, datetime
from typing import Any, Generic, TypeVar

from markupsafe import Markup

from groundwire.agent_loop import CitedAnswer
from groundwire.errors import GroundwireError
from groundwire.models import Event, SearchResponse
from groundwire.safety.tenancy import Owner
from groundwire.server.ui.formatting import web_url
from groundwire.server.ui.page_view import Reading, inert_html, read_page
from groundwire.server.ui.query_params import ViewQuery, link
from groundwire.server.ui.template_streaming import Html, Redirect
from groundwire.server.ui.view import Visit
from groundwire.storage import Store, StoreError
from groundwire.telemetry.call_events import listening

__all__ = ["Answering", "Pending", "RecentResults", "find_shown", "keep_shown", "start"]

_LIFE = 3_600.0  # seconds


@dataclass(frozen=True, slots=True, kw_only=True)
class RecentResults:
    """The outcome of a search."""

    response: SearchResponse | None = None
    """Its answer; None when it failed."""
    error: GroundwireError | None = None
    """Why it failed."""
    milliseconds: float = 0.0
    """How long it took."""
    at: datetime
    """When it ended."""
    again: bool = False
    """Whether this is an earlier result, shown again."""


async def keep_shown(
    store: Store, session: str, fields: Mapping[str, str], found: RecentResults, *, owner: Owner
) -> None:
    """Store the results of a session's search; failures of the store are ignored."""
    if found.response is None:
        return
    said = {"at": found.at.isoformat(), "ms": found.milliseconds, "response": found.response.model_dump(mode="json")}
    try:
        await store.set(_key(owner, session, fields), json.dumps(said).encode(), fresh=_LIFE)
    except StoreError:
        return


async def find_shown(store: Store, session: str, fields: Mapping[str, str], *, owner: Owner) -> RecentResults | None:
    """Return this session's results for these fields from the last hour, or None."""
    try:
        entry = await store.get(_key(owner, session, fields))
        if entry is None:
            return None
        said = json.loads(entry.value)
        return RecentResults(
            response=SearchResponse.model_validate(said["response"]),
            milliseconds=float(said["ms"]),
            at=datetime.fromisoformat(said["at"]).astimezone(UTC),
            again=True,
        )
    except (StoreError, ValueError, KeyError, TypeError):
        return None


def _key(owner: Owner, session: str, fields: Mapping[str, str]) -> str:
    asked = json.dumps([session, sorted((name, value) for name, value in fields.items() if name != "refresh")])
    return f"shown:{owner.key}:{hashlib.sha256(asked.encode('utf-8', 'surrogatepass')).hexdigest()}"


@dataclass(frozen=True, slots=True, kw_only=True)
class Answering:
    """The outcome of answering a question."""

    answer: CitedAnswer | None = None
    """The answer; None when there is none."""
    html: Markup | None = None
    """Its text."""
    doubtful: tuple[str, ...] = ()
    """The sentences that the cited pages do not support."""
    error: GroundwireError | None = None
    """Why there is none."""


_T = TypeVar("_T", RecentResults, Reading, Answering)


class Pending(Generic[_T]):
    """A pending value of a template. The page is already being sent, so a failure is shown in the page.

    Args:
        visit: The visit with which it ends.
        work: Makes it.
    """

    def __init__(self, visit: Visit, work: Coroutine[Any, Any, _T]) -> None:
        self._news: asyncio.Queue[Event | None] = asyncio.Queue()
        self._task: asyncio.Task[_T] = visit.begin(self._told(work))

    async def news(self) -> AsyncIterator[Event]:
        """Yield the attempts while they are made."""
        while (event := await self._news.get()) is not None:
            yield event

    async def get(self) -> _T:
        """Return the value when it is available."""
        return await self._task

    async def _told(self, work: Coroutine[Any, Any, _T]) -> _T:
        try:
            with listening(self._news.put_nowait):
                return await work
        finally:
            self._news.put_nowait(None)


async def start(visit: Visit) -> Html | Redirect:
    """Show the form, the results, and the opened page."""
    asked = visit.asked
    words = asked.get("q")
    if web_url(words) and not words.split()[1:]:
        return Redirect(to=link("/", open=words) + "#reader")
    found: Pending[RecentResults] | None = None
    reading: Pending[Reading] | None = None
    answering: Pending[Answering] | None = None
    may_spend = visit.may_spend
    if asked.get("open") and may_spend:
        reading = Pending(visit, read_page(visit.web, asked))
        if words and (shown := await _shown_before(visit, asked)) is not None:
            found = Pending(visit, _known(shown))
    elif words and may_spend:
        if asked.get("answer"):
            answering = Pending(visit, _ask(visit, words))
        found = Pending(visit, _search(visit, asked))
    values = {
        "asked": asked,
        "found": found,
        "reading": reading,
        "answering": answering,
        "waits_for_click": bool(words or asked.get("open")) and not may_spend,
        "providers": visit.web.settings.search.providers,
        "budget": await _budget(visit) if not (found or reading) else None,
    }
    return Html(template="start.html", values=values)


async def _known(found: RecentResults) -> RecentResults:
    return found


async def _search(visit: Visit, asked: ViewQuery) -> RecentResults:
    started = time.perf_counter()
    web = visit.web
    try:
        response = await web.search(asked.get("q"), **asked.search_arguments())
    except GroundwireError as error:
        return RecentResults(error=error, milliseconds=_since(started), at=datetime.now(UTC))
    found = RecentResults(response=response, milliseconds=_since(started), at=datetime.now(UTC))
    if web.keeps and web.settings.session.citations == "session":  # otherwise nothing shown may be remembered
        await keep_shown(web.store, visit.session, asked.search, found, owner=web.owner)
    return found


async def _ask(visit: Visit, question: str) -> Answering:
    try:
        answer = await visit.web.ask(question)
    except GroundwireError as error:
        return Answering(error=error)
    doubtful = (one.text for one in answer.report.findings if one.sources and one.verdict != "supported")
    return Answering(answer=answer, html=inert_html(answer.text), doubtful=tuple(doubtful))


async def _shown_before(visit: Visit, asked: ViewQuery) -> RecentResults | None:
    web = visit.web
    return await find_shown(web.store, visit.session, asked.search, owner=web.owner)


async def _budget(visit: Visit) -> Mapping[str, float]:
    web = visit.web
    used = await web.usage()
    return {**used, "limit": web.settings.session.max_searches}


def _since(started: float) -> float:
    return (time.perf_counter() - started) * 1_000
