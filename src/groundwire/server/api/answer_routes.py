"""Answering a question over HTTP, and checking an answer."""

from __future__ import annotations

from contextlib import aclosing
from typing import TYPE_CHECKING, ClassVar

from pydantic import BaseModel, ConfigDict

from groundwire.citations.verify.report import CitedPage, Finding, Report, Verdict
from groundwire.models import Source
from groundwire.server.api.context import Caller
from groundwire.server.api.request_models import AskRequest, VerifyRequest

if TYPE_CHECKING:
    from groundwire.agent_loop import CitedAnswer

__all__ = ["AskReply", "Delta", "Reset", "VerifyReply", "ask", "verify"]


class VerifyReply(BaseModel):
    """The verification of an answer."""

    model_config: ClassVar[ConfigDict] = ConfigDict(frozen=True, extra="forbid", use_attribute_docstrings=True)

    supported: bool
    """Whether every sentence with a mark is supported."""
    counts: dict[Verdict, int]
    """How many sentences got each verdict; verdicts that none got are left out."""
    findings: tuple[Finding, ...]
    """One a sentence, in order."""
    unknown: tuple[int, ...]
    """The numbers in marks that no source has."""
    warnings: tuple[str, ...] = ()
    """What holds for the answer as a whole."""


class AskReply(BaseModel):
    """An answer to a question, with citations that were checked."""

    model_config: ClassVar[ConfigDict] = ConfigDict(frozen=True, extra="forbid", use_attribute_docstrings=True)

    question: str
    """The question."""
    text: str
    """The answer in Markdown, with marks such as `[1]`."""
    sources: tuple[Source, ...]
    """The pages that it cites."""
    report: VerifyReply
    """The verification of each sentence."""
    model: str
    """The model that wrote it; empty where passages are quoted."""
    searches: int
    """The searches that were made for it."""
    cost_usd: float
    """What searching and reading cost, in US dollars; the model's own price is not in it."""
    warnings: tuple[str, ...]
    """What the reader should know."""


class Delta(BaseModel):
    """The data of the event `delta`: more of the answer's text. No citation marker is divided between two."""

    model_config: ClassVar[ConfigDict] = ConfigDict(frozen=True, extra="forbid", use_attribute_docstrings=True)

    delta: str
    """The text."""


class Reset(BaseModel):
    """The data of the event `reset`: the text so far was not the answer, and begins again."""

    model_config: ClassVar[ConfigDict] = ConfigDict(frozen=True, extra="forbid")


async def ask(caller: Caller, asked: AskRequest) -> AskReply:
    """Answer a question; where events are wanted, with its text as it is written."""
    web = caller.session(asked.session)
    if caller.tell is None:
        return _asked(await web.ask(asked.question, quote=asked.quote, timeout=asked.timeout))
    stream = await web.ask(asked.question, stream=True, quote=asked.quote, timeout=asked.timeout)
    async with aclosing(stream) as events:
        async for event in events:
            if event.type == "delta":
                caller.tell("delta", Delta(delta=event.delta))
            elif event.type == "reset":
                caller.tell("reset", Reset())
            elif event.type == "result":
                return _asked(event.answer)
    raise RuntimeError("A stream of events ended without its answer.")


def _asked(said: CitedAnswer) -> AskReply:
    return AskReply(
        question=said.question,
        text=said.text,
        sources=said.sources,
        report=_verified(said.report),
        model=said.model,
        searches=said.searches,
        cost_usd=said.cost_usd,
        warnings=said.warnings,
    )


async def verify(caller: Caller, asked: VerifyRequest) -> VerifyReply:
    """Check an answer against what it cites."""
    from groundwire.citations.verify import verify_off_loop  # costs nothing until it is used

    if asked.sources is None:
        report = await caller.session(asked.session).verify(asked.answer)
    else:
        sources = [CitedPage(**source.model_dump()) for source in asked.sources]
        report = await verify_off_loop(caller.web.workers, asked.answer, sources)
    return _verified(report)


def _verified(report: Report) -> VerifyReply:
    verdicts = [finding.verdict for finding in report.findings]
    return VerifyReply(
        supported=report.supported,
        counts={verdict: verdicts.count(verdict) for verdict in sorted(set(verdicts))},
        findings=report.findings,
        unknown=report.unknown,
        warnings=report.warnings,
    )
