"""Verifying a hosted answer with a `Web`, which opens the pages that it cites."""

from __future__ import annotations

from dataclasses import replace
from typing import TYPE_CHECKING

if TYPE_CHECKING:
    from groundwire.citations.verify import Entailment, Report
    from groundwire.hosted.answers.types import HostedAnswer
    from groundwire.web.client import Web

__all__ = ["verified_hosted"]


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
    from groundwire.citations.verify import cited_numbers, verify_off_loop
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
    return await verify_off_loop(view.verification_workers, said.text, tuple(pages.values()), entailment=entailment)
