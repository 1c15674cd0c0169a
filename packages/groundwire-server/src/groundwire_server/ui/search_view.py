"""The search view: results, and the opened page beside them."""

from __future__ import annotations

import asyncio
import re
import time
from collections.abc import AsyncIterator, Callable, Coroutine, Mapping
from contextlib import aclosing
from dataclasses import dataclass
from functools import partial
from typing import Any, Generic, TypeVar

from markupsafe import Markup
from starlette.responses import RedirectResponse, Response

from groundwire.agent_loop import AnswerCompleted, CitedAnswer, TextCompleted, TextDelta, TextReset, ask_stream
from groundwire.citations import find_marks
from groundwire.citations.markdown_blocks import BlockSplitter
from groundwire.errors import GroundwireError
from groundwire.models import Event, SearchResponse
from groundwire.safety.urls import with_scheme
from groundwire.telemetry.call_events import listening
from groundwire_server.ui.formatting import web_url
from groundwire_server.ui.page_view import Reading, elapsed_ms, inert_html, read_page
from groundwire_server.ui.query_params import ViewQuery, link
from groundwire_server.ui.template_streaming import Html
from groundwire_server.ui.view import Visit

_OPEN, _CLOSE = "\ue000", "\ue001"  # of the private use area: delimiters of a number until it becomes a link
_CITED = re.compile(f"{_OPEN}(\\d+){_CLOSE}")


@dataclass(frozen=True, slots=True, kw_only=True)
class SearchOutcome:
    """The outcome of a search."""

    response: SearchResponse | None = None
    """Its answer; None when it failed."""
    error: GroundwireError | None = None
    """Why it failed."""
    milliseconds: float
    """How long it took."""


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


_News = Event | TextCompleted | TextDelta | TextReset
_Tell = Callable[[_News], None]
_SYNTAX = str.maketrans("", "", "*`#")  # of Markdown, in a block that is not complete yet
_T = TypeVar("_T", SearchOutcome, Reading, Answering)


class Pending(Generic[_T]):
    """A pending value of a template. The page is already being sent, so a failure is shown in the page.

    Args:
        visit: The visit with which it ends.
        work: Makes it; called with what takes news beside those of the providers.
    """

    def __init__(self, visit: Visit, work: Callable[[_Tell], Coroutine[Any, Any, _T]]) -> None:
        self._news: asyncio.Queue[_News | None] = asyncio.Queue()
        self._task: asyncio.Task[_T] = visit.begin(self._run(work(self._news.put_nowait)))

    async def news(self) -> AsyncIterator[Event | DraftText | TextCompleted | TextReset]:
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

    async def _run(self, work: Coroutine[Any, Any, _T]) -> _T:
        try:
            with listening(self._news.put_nowait):
                return await work
        finally:
            self._news.put_nowait(None)


async def start(visit: Visit) -> Html | Response:
    """Show the form, the results, and the opened page."""
    query = visit.query
    words = query.get("q")
    if (url := _address(words)) or with_scheme(query.get("open")) != query.get("open"):
        fields = {} if url else query.fields
        return RedirectResponse(link("/", fields, open=url or with_scheme(query.get("open"))) + "#reader", 303)
    results: Pending[SearchOutcome] | None = None
    reading: Pending[Reading] | None = None
    answering: Pending[Answering] | None = None
    may_spend = visit.may_spend
    if query.get("open") and may_spend:
        reading = Pending(visit, lambda _: read_page(visit.web, query))
    elif words and query.get("answer") and may_spend:
        answering = Pending(visit, partial(_ask, visit, words))
    # Beside a page, results come from the cache, so that opening one is no search.
    if words and may_spend and (reading is None or (visit.web.keeps and visit.web.settings.cache.enabled)):
        results = Pending(visit, lambda _: _search(visit, query))
    values = {
        "query": query,
        "results": results,
        "reading": reading,
        "answering": answering,
        "waits_for_click": bool(words or query.get("open")) and not may_spend,
        "providers": visit.web.settings.search.providers,
        "budget": await _budget(visit) if not (results or reading) else None,
    }
    return Html(template="start.html", values=values)


def _address(words: str) -> str:
    """Return the address that was entered, or an empty string for words: a host alone may be a name, as `node.js`."""
    url = with_scheme(words) if "/" in words or words.startswith("www.") else words
    return web_url(url) if not words.split()[1:] else ""


async def _search(visit: Visit, query: ViewQuery) -> SearchOutcome:
    started = time.perf_counter()
    try:
        response = await visit.web.search(query.get("q"), **query.search_arguments())
    except GroundwireError as error:
        return SearchOutcome(error=error, milliseconds=elapsed_ms(started))
    return SearchOutcome(response=response, milliseconds=elapsed_ms(started))


async def _ask(visit: Visit, question: str, tell: _Tell) -> Answering:
    answer: CitedAnswer | None = None
    try:
        async with aclosing(ask_stream(question, web=visit.web, follows=visit.query.follows)) as events:
            async for event in events:
                if isinstance(event, (TextCompleted, TextDelta, TextReset)):
                    tell(event)
                elif isinstance(event, AnswerCompleted):
                    answer = event.answer
    except GroundwireError as error:
        return Answering(error=error)
    if answer is None:
        raise RuntimeError("A stream of events ended without its answer.")
    doubtful = (row.text for row in answer.report.findings if row.sources and row.verdict != "supported")
    return Answering(answer=answer, html=_linked(answer, visit.query), doubtful=tuple(doubtful))


def _linked(answer: CitedAnswer, query: ViewQuery) -> Markup:
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

    def cite(match: re.Match[str]) -> str:
        source = sources[int(match[1])]
        to = link("/", query.link_fields, open=source.url) + "#reader"
        return Markup('<a class="cite" href="{}" title="{}">{}</a>').format(to, source.title or source.url, match[1])

    html = inert_html("".join(written))
    return Markup(_CITED.sub(cite, html))  # noqa: S704  # safe HTML, in which safe HTML was put for numbers


async def _budget(visit: Visit) -> Mapping[str, float]:
    web = visit.web
    used = await web.usage()
    return {**used, "searches": round(used["searches"]), "limit": web.settings.session.max_searches}
