"""Finding the pages behind links that only redirect, as Google's are, without opening the pages."""

from __future__ import annotations

import asyncio
from dataclasses import replace

from groundwire.deadline import Deadline
from groundwire.errors import BlockedByPolicy, InvalidRequest, ProviderError
from groundwire.native.answers.model import HostedAnswer, HostedSource
from groundwire.native.answers.sites import REDIRECTORS, is_redirect
from groundwire.native.answers.values import clean_url
from groundwire.safety.urls import join_url, parse_url
from groundwire.transport import Transport

__all__ = ["resolve_redirects"]

_AT_ONCE = 8
_MOST = 50  # links of one answer; more than any recorded answer has
_CAP = 65_536  # bytes of an answer whose body nobody reads
_REDIRECTS = range(300, 400)


async def resolve_redirects(
    answer: HostedAnswer,
    transport: Transport,
    *,
    deadline: Deadline,
    hosts: tuple[str, ...] = REDIRECTORS,
) -> HostedAnswer:
    """Return the answer with redirecting links replaced by where they lead.

    Each link is asked for once, and its redirect is read and not followed: the page itself is not opened. Where it
    leads is judged by the guard. A link that does not resolve, or leads where the guard forbids, stays as it is.

    Args:
        answer: The answer.
        transport: What asks, with its guard.
        deadline: When to stop asking; links that are not resolved by then stay.
        hosts: The hosts whose links redirect, in lower case.

    Raises:
        Closed: the transport was closed.
    """
    urls = [*(one.url for one in answer.citations), *(one.url for one in answer.sources), *answer.opened]
    wanted = list(dict.fromkeys(url for url in urls if is_redirect(url, hosts)))[:_MOST]
    if not wanted:
        return answer
    slots = asyncio.Semaphore(_AT_ONCE)
    found: dict[str, str] = {}

    async def resolve(url: str) -> None:
        async with slots:
            if (led := await _resolved(url, transport, answer.api, deadline)) is not None:
                found[url] = led

    await asyncio.gather(*map(resolve, wanted))
    return replace(
        answer,
        citations=tuple(replace(one, url=found.get(one.url, one.url)) for one in answer.citations),
        sources=_merged([replace(one, url=found.get(one.url, one.url)) for one in answer.sources]),
        opened=tuple(dict.fromkeys(found.get(url, url) for url in answer.opened)),
    )


async def _resolved(url: str, transport: Transport, api: str, deadline: Deadline) -> str | None:
    try:
        reply = await transport.call(api, "GET", url, deadline=deadline, cap=_CAP)
        location = reply.headers.get("Location", "")
        if reply.status not in _REDIRECTS or not location:
            return None
        target = join_url(parse_url(url), location)
        transport.guard.admit(target.text)
    except (ProviderError, BlockedByPolicy, InvalidRequest):
        return None
    return clean_url(target.text)


def _merged(sources: list[HostedSource]) -> tuple[HostedSource, ...]:
    """Return the sources with no address twice: two links may lead to one page."""
    kept: dict[str, HostedSource] = {}
    for one in sources:
        kept.setdefault(one.url, one)
    return tuple(kept.values())
