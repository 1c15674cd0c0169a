"""Answering a question with what a `Web` finds, in a `Web` and in its views."""

from __future__ import annotations

import asyncio
from collections.abc import AsyncGenerator, Callable, Coroutine, Generator, Sequence
from dataclasses import replace
from importlib import import_module
from typing import TYPE_CHECKING, Any, Literal, Self, overload

from groundwire.errors import InvalidRequest
from groundwire.web.session import SessionView

if TYPE_CHECKING:
    from groundwire.agent_loop import AskEvent, CitedAnswer, LoopEvent
    from groundwire.citations.verify import Entailment, Report
    from groundwire.hosted.answers.types import HostedAnswer
    from groundwire.models import SearchResponse
    from groundwire.web.client import Web

__all__ = ["AnsweringView", "AskStream", "charge_model_call", "verified_hosted"]


class AnsweringView(SessionView):
    """What answers questions."""

    if not TYPE_CHECKING:  # what people type from memory of other libraries

        @classmethod
        def from_env(cls, **options: Any) -> Self:
            """Return a `Web` with the current settings, as `Web()` does."""
            return cls(**options)

        create = from_config = from_settings = from_env

        async def _search_several(self, queries: Sequence[str], **options: Any) -> list[SearchResponse]:
            """Return a response for each query, in order."""
            try:
                async with asyncio.TaskGroup() as group:
                    tasks = [group.create_task(self.search(query, **options)) for query in queries]
            except BaseExceptionGroup as errors:  # as of one search
                raise errors.exceptions[0] from None
            return [task.result() for task in tasks]

    @overload
    def ask(
        self,
        question: str,
        *,
        stream: Literal[False] = False,
        model: str | None = None,
        quote: bool = False,
        on_event: Callable[[LoopEvent], None] | None = None,
        timeout: float | None = None,
    ) -> Coroutine[Any, Any, CitedAnswer]: ...

    @overload
    def ask(
        self,
        question: str,
        *,
        stream: Literal[True],
        model: str | None = None,
        quote: bool = False,
        timeout: float | None = None,
    ) -> AskStream: ...

    def ask(
        self,
        question: str = "",
        *,
        stream: bool = False,
        model: str | None = None,
        quote: bool = False,
        on_event: Callable[[LoopEvent], None] | None = None,
        timeout: float | None = None,
        **aliases: Any,
    ) -> Coroutine[Any, Any, CitedAnswer] | AskStream:
        """Answer a question: search, read, and write an answer whose citations are checked against the pages.

        Without a model, in the settings or on this machine, passages are quoted.

        Args:
            question: The question, 1 to 2,000 characters.
            stream: Whether to return events as they happen, to be read by
                `async for event in web.ask(question, stream=True)`: `TextDelta` with more of the text in `delta`,
                `CallStarted` and `CallEnded` for tool calls, and at the end `AnswerCompleted` with the `answer`.
            model: The model's name, instead of the setting `answer.model`.
            quote: Whether to quote passages without asking a model.
            on_event: Called with each tool call of the model, at its start and its end; not with `stream`.
            timeout: Seconds for the whole answer; by default the setting `answer.timeout`.
            aliases: The question under the names of other libraries: `query`, `input`, `prompt`; and their arguments
                without effect, which become warnings.

        Returns:
            The answer; with `stream` an async generator of `groundwire.agent_loop.AskEvent`, whose failures are raised
            by the iteration. Closing it cancels the work.

        Raises:
            GroundwireError: see `groundwire.agent_loop.ask`.
        """
        if aliases:
            from groundwire.models.aliases import ASK, canonical, without_effect

            asked: Coroutine[Any, Any, CitedAnswer] | AskStream = self.ask(
                **canonical(AnsweringView.ask, locals(), ASK)
            )
            ignored = without_effect(aliases, ASK)
            return asked if isinstance(asked, AskStream) or not ignored else _noted(asked, ignored)
        loop = import_module("groundwire.agent_loop")  # by name, as it is built on this class
        if not stream:
            answer: Coroutine[Any, Any, CitedAnswer] = loop.ask(
                question, web=self, model=model, quote=quote, on_event=on_event, timeout=timeout
            )
            return answer
        if on_event is not None:
            raise InvalidRequest("on_event", "is given with stream", "Read the events from what ask returns.")
        return AskStream(loop.ask_stream(question, web=self, model=model, quote=quote, timeout=timeout))


async def _noted(asked: Coroutine[Any, Any, CitedAnswer], warnings: tuple[str, ...]) -> CitedAnswer:
    answer = await asked
    return replace(answer, warnings=(*answer.warnings, *warnings))


async def verified_hosted(
    view: Web, answer: HostedAnswer, timeout: float | None, entailment: Entailment | None
) -> Report:
    """Verify a hosted answer in a session of its own; see `Web.verify_hosted`.

    Args:
        view: The session.
        answer: The answer.
        timeout: Seconds for opening all pages.
        entailment: An additional entailment model.
    """
    from groundwire.citations.rendering import marked
    from groundwire.citations.verify import cited_numbers
    from groundwire.models import MAX_URL

    said = marked(answer)
    used = cited_numbers(said.text)
    pages = {page.url: page for page in said.pages}
    wanted = [page.url for page in said.pages if page.number in used and 0 < len(page.url) <= MAX_URL][:50]
    cited = view._cited()
    opened = await view.open_pages(wanted, timeout=timeout) if wanted else ()
    known = {page.number: page for page in await cited.pages(view._budget)}
    for url, page in zip(wanted, opened, strict=True):
        if page.citation_id in known:
            found = known[page.citation_id]
            pages[url] = replace(pages[url], content=found.content, version=found.version)
    return await view.verify(said.text, pages=tuple(pages.values()), entailment=entailment)


async def charge_model_call(view: SessionView, characters: int) -> None:
    """Count a call of a model that is given text of pages: one call of the owner's day, and the session's tokens.

    Args:
        view: The session.
        characters: How much text it is given.

    Raises:
        BudgetExceeded: the calls of the day, the session's tokens, or its money are used up.
    """
    await view._budget.check_money()
    await view._budget.check_tokens()
    await view._budget.take_page()
    await view._budget.read(characters)


class AskStream:
    """The events of an answer. Read it with `async for`; awaiting it first changes nothing, as other SDKs want it."""

    def __init__(self, events: AsyncGenerator[AskEvent]) -> None:
        self._events = events

    def __await__(self) -> Generator[Any, None, Self]:
        yield from ()
        return self

    def __aiter__(self) -> AsyncGenerator[AskEvent]:
        return self._events

    async def __anext__(self) -> AskEvent:
        return await anext(self._events)

    async def aclose(self) -> None:
        """Cancel the work."""
        await self._events.aclose()
