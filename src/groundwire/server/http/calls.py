"""What the calls of the gateway do: searching, reading pages, checking answers."""

from __future__ import annotations

import asyncio

from pydantic import BaseModel, ConfigDict

from groundwire.citations.verify.report import CitedPage, Finding, Verdict
from groundwire.models import Page, SearchResponse
from groundwire.server.http.asked import PagesRequest, SearchRequest, VerifyRequest
from groundwire.server.http.house import Caller

__all__ = ["PagesReply", "VerifyReply", "pages", "search", "verify"]


class PagesReply(BaseModel):
    """The pages that were read."""

    model_config = ConfigDict(frozen=True, extra="forbid", use_attribute_docstrings=True)

    pages: tuple[Page, ...]
    """One for each address, in their order. `status` says of each whether it could be read, `error` why not."""


class VerifyReply(BaseModel):
    """What became of every sentence of an answer."""

    model_config = ConfigDict(frozen=True, extra="forbid", use_attribute_docstrings=True)

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


async def search(caller: Caller, asked: SearchRequest) -> SearchResponse:
    """Search the web."""
    given = asked.model_dump(exclude={"session"})
    return await caller.session(asked.session).search(**given)


async def pages(caller: Caller, asked: PagesRequest) -> PagesReply:
    """Read one page, whose failure is that of the call, or several."""
    web = caller.session(asked.session)
    given = asked.model_dump(include={"query", "find", "max_length", "max_tokens", "refresh", "timeout"})
    if asked.urls is not None:
        return PagesReply(pages=await web.open_pages(asked.urls, **given))
    return PagesReply(pages=(await web.open_page(asked.url or "", cursor=asked.cursor, **given),))


async def verify(caller: Caller, asked: VerifyRequest) -> VerifyReply:
    """Check an answer against what it cites."""
    from groundwire.citations.verify import verify_answer  # costs nothing until it is used

    if asked.sources is None:
        report = await caller.session(asked.session).verify(asked.answer)
    else:
        sources = [CitedPage(**source.model_dump()) for source in asked.sources]
        report = await asyncio.to_thread(verify_answer, asked.answer, sources)
    verdicts = [finding.verdict for finding in report.findings]
    return VerifyReply(
        supported=report.supported,
        counts={verdict: verdicts.count(verdict) for verdict in sorted(set(verdicts))},
        findings=report.findings,
        unknown=report.unknown,
        warnings=report.warnings,
    )
