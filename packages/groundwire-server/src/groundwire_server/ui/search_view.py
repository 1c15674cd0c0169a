"""The search view: results, and the opened page beside them."""

from __future__ import annotations

import asyncio
import hashlib
import json
import re
import time
from collections.abc import AsyncIterator, Callable, Coroutine, Mapping
from contextlib import aclosing
from dataclasses import dataclass
from datetime import UTC, datetime
from functools import partial
from typing import Any, Generic, TypeVar

from markupsafe import Markup

from groundwire.agent_loop import AnswerCompleted, CitedAnswer, TextDelta, TextReset, ask_stream
from groundwire.citations import find_marks
from groundwire.citations.markdown_blocks import BlockSplitter
from groundwire.errors import GroundwireError
from groundwire.models import Event, SearchResponse
from groundwire.safety.tenancy import Owner
from groundwire.storage import Store, StoreError
from groundwire.telemetry.call_events import listening
from groundwire_server.ui.formatting import web_url
from groundwire_server.ui.page_view import Reading, inert_html, read_page
from groundwire_server.ui.query_params import ViewQuery, link
from groundwire_server.ui.template_streaming import Html, Redirect
from groundwire_server.ui.view import Visit

__all__ = ["Answering", "Pending", "RecentResults", "find_shown", "keep_shown", "start"]

_LIFE = 3_600.0  # seconds
_OPEN, _CLOSE = "\ue000", "\ue001"  # of the private use area: delimiters of a number until it becomes a link
_CITED = re.compile(f"{_OPEN}(\\d+){_CLOSE}")


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


@dataclass(frozen=True, slots=True, kw_only=True)
class DraftText:
    """More of a draft: complete blocks as HTML, which replace the text before them, and text that follows them."""

    delta: str
    """The text."""
    html: Markup | None = None
    """The blocks that are complete with it."""


_News = Event | TextDelta | TextReset
_Tell = Callable[[_News], None]
_SYNTAX = str.maketrans("", "", "*`#")  # of Markdown, in a block that is not complete yet
_T = TypeVar("_T", RecentResults, Reading, Answering)


class Pending(Generic[_T]):
    """A pending value of a template. The page is already being sent, so a failure is shown in the page.

    Args:
        visit: The visit with which it ends.
        work: Makes it; called with what takes news beside those of the providers.
    """

    def __init__(self, visit: Visit, work: Callable[[_Tell], Coroutine[Any, Any, _T]]) -> None:
        self._news: asyncio.Queue[_News | None] = asyncio.Queue()
        self._task: asyncio.Task[_T] = visit.begin(self._told(work(self._news.put_nowait)))

    async def news(self) -> AsyncIterator[Event | DraftText | TextReset]:
        """Yield the start and outcome of each attempt, and the draft of an answer, as they come."""
        draft = BlockSplitter()
        while (event := await self._news.get()) is not None:
            if isinstance(event, TextReset):
                draft = BlockSplitter()
            if not isinstance(event, TextDelta):
                yield event
            elif blocks := "".join(draft.feed(event.delta)):
                html = await asyncio.to_thread(inert_html, blocks)
                yield DraftText(html=html, delta=draft.pending.translate(_SYNTAX))
            else:
                yield DraftText(delta=event.delta.translate(_SYNTAX))

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
        reading = Pending(visit, lambda _: read_page(visit.web, asked))
        if words and (shown := await _shown_before(visit, asked)) is not None:
            found = Pending(visit, partial(_known, shown))
    elif words and may_spend:
        if asked.get("answer"):
            answering = Pending(visit, partial(_ask, visit, words))
        found = Pending(visit, lambda _: _search(visit, asked))
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


async def _known(found: RecentResults, _tell: _Tell) -> RecentResults:
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


async def _ask(visit: Visit, question: str, tell: _Tell) -> Answering:
    answer: CitedAnswer | None = None
    try:
        async with aclosing(ask_stream(question, web=visit.web, follows=visit.asked.follows)) as events:
            async for event in events:
                if isinstance(event, (TextDelta, TextReset)):
                    tell(event)
                elif isinstance(event, AnswerCompleted):
                    answer = event.answer
    except GroundwireError as error:
        return Answering(error=error)
    if answer is None:
        raise RuntimeError("A stream of events ended without its answer.")
    doubtful = (one.text for one in answer.report.findings if one.sources and one.verdict != "supported")
    return Answering(answer=answer, html=_linked(answer, visit.asked), doubtful=tuple(doubtful))


def _linked(answer: CitedAnswer, asked: ViewQuery) -> Markup:
    """Return an answer as HTML, in which the number of a source is a link that opens it."""
    sources = {source.citation_id: source for source in answer.sources}
    written: list[str] = []
    for piece in find_marks(answer.text.replace(_OPEN, "").replace(_CLOSE, "")):
        if isinstance(piece, str):
            written.append(piece)
        elif set(piece.numbers) <= set(sources):
            written += [f"{_OPEN}{number}{_CLOSE}" for number in piece.numbers]
        else:
            written.append(piece.text)

    def cite(found: re.Match[str]) -> str:
        source = sources[int(found[1])]
        to = link("/", asked.kept, open=source.url) + "#reader"
        return Markup('<a class="cite" href="{}" title="{}">{}</a>').format(to, source.title or source.url, found[1])

    html = inert_html("".join(written))
    return Markup(_CITED.sub(cite, html))  # noqa: S704  # safe HTML, in which safe HTML was put for numbers


async def _shown_before(visit: Visit, asked: ViewQuery) -> RecentResults | None:
    web = visit.web
    return await find_shown(web.store, visit.session, asked.search, owner=web.owner)


async def _budget(visit: Visit) -> Mapping[str, float]:
    web = visit.web
    used = await web.usage()
    return {**used, "limit": web.settings.session.max_searches}


def _since(started: float) -> float:
    return (time.perf_counter() - started) * 1_000
