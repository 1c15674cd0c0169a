"""A browser's visit to a site, as polite as one of our own requests."""

from __future__ import annotations

from collections.abc import Awaitable, Callable

from multidict import CIMultiDict

from groundwire.deadline import Deadline
from groundwire.errors import GroundwireError
from groundwire.reading.browser.rendering import Rendered
from groundwire.safety.urls import WebUrl, parse_url
from groundwire.transport import Gate

__all__ = ["politely"]


async def politely(
    gate: Gate | None, target: WebUrl, deadline: Deadline, show: Callable[[], Awaitable[Rendered]]
) -> Rendered:
    """Return a page when its site lets us read it, and it is our turn there; where it redirects to is asked, too.

    What the page's own scripts and frames ask for is not paced: it is one visit, as a person's is.

    Args:
        gate: Decides whether and when; None lets everything through.
        target: The page's address.
        deadline: When it must be here.
        show: Shows it.

    Raises:
        BlockedByPolicy, PageError: the page may not be read, or not in time.
    """
    if gate is None:
        return await show()
    async with gate.visit(target, deadline) as visit:
        rendered = await show()
        visit.status, visit.headers = rendered.status, CIMultiDict(rendered.headers)
    try:
        final = parse_url(rendered.url)
    except GroundwireError:
        return rendered
    if final.request_text != target.request_text:
        await gate.check(final, deadline)
    return rendered
