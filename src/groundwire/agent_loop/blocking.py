"""Asking a question in synchronous code."""

from __future__ import annotations

from collections.abc import Callable, Generator
from typing import Any, Literal, Unpack, overload

from groundwire.agent_loop.ask import AskEvent, CitedAnswer, ask_stream
from groundwire.agent_loop.ask import ask as ask_web
from groundwire.agent_loop.types import LoopEvent
from groundwire.errors import InvalidRequest
from groundwire.models.argument_names import ASK, NoArguments, unknown_argument
from groundwire.sync import SyncWeb
from groundwire.web import Web

__all__ = ["ask"]

_ARGUMENTS = ("question", "web", "stream", "model", "quote", "on_event", "timeout")


@overload
def ask(
    question: str,
    web: SyncWeb | None = None,
    *,
    stream: Literal[False] = False,
    model: str | None = None,
    quote: bool = False,
    on_event: Callable[[LoopEvent], None] | None = None,
    timeout: float | None = None,
) -> CitedAnswer: ...


@overload
def ask(
    question: str,
    web: SyncWeb | None = None,
    *,
    stream: Literal[True],
    model: str | None = None,
    quote: bool = False,
    timeout: float | None = None,
) -> Generator[AskEvent]: ...


def ask(
    question: str,
    web: SyncWeb | None = None,
    *,
    stream: bool = False,
    model: str | None = None,
    quote: bool = False,
    on_event: Callable[[LoopEvent], None] | None = None,
    timeout: float | None = None,
    **unknown: Unpack[NoArguments],
) -> CitedAnswer | Generator[AskEvent]:
    """Answer a question: search, read, and write an answer whose citations are checked against the pages.

    Without a model, in the settings or on this machine, passages are quoted.

    Args:
        question: The question, 1 to 2,000 characters.
        web: Does the searching and reading, and stays open; by default a new one, for this question.
        stream: Whether to return an iterator of events as they happen: `TextDelta` with more of the text in `delta`,
            `CallStarted` and `CallEnded` for tool calls, and at the end `AnswerCompleted` with the `answer`.
        model: The model's name, instead of the setting `answer.model`.
        quote: Whether to quote passages without asking a model.
        on_event: Called with each tool call of the model, at its start and its end; not with `stream`.
        timeout: Seconds for the whole answer; by default the setting `answer.timeout`.
        unknown: None: another name is a TypeError that says which one is meant.

    Returns:
        The answer; with `stream` a generator of `groundwire.agent_loop.AskEvent`, whose failures are raised by the
        iteration. Closing it cancels the work.

    Raises:
        GroundwireError: see `groundwire.agent_loop.ask`. TypeError: an argument does not exist, or `web` is a `Web`.
    """
    if unknown:
        raise unknown_argument("ask", unknown, _ARGUMENTS, ASK)
    web_argument: object = web
    if isinstance(web_argument, Web):
        raise TypeError("ask() takes a SyncWeb; with a Web, use `await groundwire.agent_loop.ask(question, web=web)`")
    if stream and on_event is not None:
        raise InvalidRequest("on_event", "is given with stream", "Read the events from what ask returns.")
    if stream:
        return _events(question, web, model=model, quote=quote, timeout=timeout)
    if web is not None:
        return web.run(
            lambda inner: ask_web(question, web=inner, model=model, quote=quote, on_event=on_event, timeout=timeout)
        )
    with SyncWeb() as own:
        return ask(question, own, model=model, quote=quote, on_event=on_event, timeout=timeout)


def _events(question: str, web: SyncWeb | None, **options: Any) -> Generator[AskEvent]:
    """Yield the events, and cancel the work when the caller stops reading."""
    if web is None:
        with SyncWeb() as own:
            yield from _events(question, own, **options)
        return
    events = ask_stream(question, web=web.inner, **options)

    async def following(_: Web) -> AskEvent | None:
        return await anext(events, None)

    async def end(_: Web) -> None:
        await events.aclose()

    try:
        while (event := web.run(following)) is not None:
            yield event
    finally:
        if not web.is_closed:
            web.run(end)
