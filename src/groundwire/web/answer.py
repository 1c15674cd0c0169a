"""Verifying a hosted answer with a `Web`, which opens the pages that it cites."""

from __future__ import annotations

from dataclasses import replace
from typing import TYPE_CHECKING

if TYPE_CHECKING:
    from groundwire.citations.verify import Entailment, Report
    from groundwire.hosted.answers.types import HostedAnswer
    from groundwire.web.client import Web

__all__ = ["charge_model_call", "verified_hosted"]


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


async def charge_model_call(view: Web, characters: int) -> None:
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
