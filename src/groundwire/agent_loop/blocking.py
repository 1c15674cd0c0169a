"""Asking a question in synchronous code."""

from __future__ import annotations

from typing import Unpack

from groundwire.agent_loop.ask import CitedAnswer
from groundwire.agent_loop.ask import ask as ask_web
from groundwire.models.argument_names import ASK, NoArguments, unknown_argument
from groundwire.sync import SyncWeb
from groundwire.web import Web


def ask(
    question: str,
    web: SyncWeb | None = None,
    *,
    model: str | None = None,
    quote: bool = False,
    timeout: float | None = None,
    **unknown: Unpack[NoArguments],
) -> CitedAnswer:
    """Answer a question: search, read, and write an answer whose citations are checked against the pages.

    Without a model, in the settings or on this machine, passages are quoted. `groundwire.agent_loop.ask_stream` yields
    the answer while it is written.

    Args:
        question: The question, 1 to 2,000 characters.
        web: Does the searching and reading, and stays open; by default a new one, for this question.
        model: The model's name, instead of the setting `answer.model`.
        quote: Whether to quote passages without asking a model.
        timeout: Seconds for the whole answer; by default the setting `answer.timeout`.
        unknown: None: another name is a TypeError that says which one is meant.

    Raises:
        GroundwireError: see `groundwire.agent_loop.ask`. TypeError: an argument does not exist, or `web` is a `Web`.
    """
    if unknown:
        raise unknown_argument(ask, unknown, ASK)
    web_argument: object = web
    if isinstance(web_argument, Web):
        raise TypeError("ask() takes a SyncWeb; with a Web, use `await groundwire.agent_loop.ask(question, web=web)`")
    if web is not None:
        return web.run(lambda inner: ask_web(question, web=inner, model=model, quote=quote, timeout=timeout))
    with SyncWeb() as own:
        return ask(question, own, model=model, quote=quote, timeout=timeout)
