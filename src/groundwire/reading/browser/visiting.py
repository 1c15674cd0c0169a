"""A browser's visit to a page, from its turn at the site to the result: the same for every browser."""

from __future__ import annotations

from collections.abc import Awaitable, Callable

from multidict import CIMultiDict

from groundwire.deadline import Deadline
from groundwire.errors import DeadlineExceeded, GroundwireError
from groundwire.models import ReadResult
from groundwire.reading.browser.rendering import Rendered
from groundwire.reading.browser.results import raise_for_rendered, rendered_result
from groundwire.reading.conversion import Conversion
from groundwire.safety.guard import Guard
from groundwire.safety.urls import WebUrl, parse_url
from groundwire.transport import Gate

__all__ = ["visit_page"]


async def visit_page(
    url: str,
    *,
    guard: Guard,
    gate: Gate | None,
    conversion: Conversion,
    deadline: Deadline,
    show: Callable[[WebUrl], Awaitable[Rendered]],
) -> ReadResult:
    """Return a page as a browser shows it.

    Args:
        url: Its address.
        guard: Admits it.
        gate: Decides whether and when; None lets everything through.
        conversion: Makes Markdown of what the browser brought.
        deadline: When the page must be here.
        show: Shows it.

    Raises:
        BlockedByPolicy, PageError, ProviderError, DeadlineExceeded.
    """
    target = guard.admit(url)
    try:
        async with deadline.timeout():
            rendered = await _politely(gate, target, deadline, lambda: show(target))
    except TimeoutError as error:
        if isinstance(error, GroundwireError):
            raise
        raise DeadlineExceeded(f"{target.host} could not be shown in time. Try again, or open another page.") from error
    raise_for_rendered(url, rendered)
    converted = await conversion.convert(
        rendered.html.encode("utf-8", "replace"),
        "text/html; charset=utf-8",
        rendered.url,
        headers=rendered.headers,
        deadline=deadline,
    )
    return rendered_result(url, rendered, converted)


async def _politely(
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
