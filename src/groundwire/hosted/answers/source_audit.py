"""Audit of hosted citations against the domain lists, as for local results.

URLs that only redirect to the cited page, such as Google's links, are recognized and resolved without opening the
pages.
"""

from __future__ import annotations

import asyncio
import re
from collections.abc import Iterable
from dataclasses import dataclass, replace

from groundwire.deadline import Deadline
from groundwire.errors import BlockedByPolicy, InvalidRequest, ProviderError
from groundwire.hosted.answers.types import HostedAnswer, HostedCitation, HostedSource, clean_url, text_of
from groundwire.models import FilterReceipt
from groundwire.models.validators import check_domains
from groundwire.safety.urls import DomainPolicy, join_url, parse_url
from groundwire.transport import Transport

REDIRECTORS = ("vertexaisearch.cloud.google.com",)
"""Hosts whose URLs redirect to the pages that Google's search found."""

_HOST = re.compile(r"https?://([^/?#:@\s]+)(?::\d+)?(?=[/?#]|$)", re.IGNORECASE)
_NAME = re.compile(r"(?:[a-z0-9](?:[a-z0-9-]{0,61}[a-z0-9])?\.)+[a-z][a-z0-9-]{1,62}", re.IGNORECASE)


def is_redirect(url: str, hosts: tuple[str, ...] = REDIRECTORS) -> bool:
    """Return whether a URL only redirects to the cited page."""
    match = _HOST.match(url)
    return match is not None and match[1].lower() in hosts


def site_of(url: str, *names: object) -> str:
    """Return the host of the page behind a redirect, as named by the API, or an empty string.

    Args:
        url: The URL.
        names: Fields that may contain the name, the best first.
    """
    if not is_redirect(url):
        return ""
    return next((name.lower() for field in names if _NAME.fullmatch(name := text_of(field).strip())), "")


_MAX_HOSTS_IN_NOTE = 5  # hosts named in a note


@dataclass(frozen=True, slots=True, kw_only=True)
class Audit:
    """The result of auditing a hosted answer."""

    receipts: tuple[FilterReceipt, ...] = ()
    """One receipt per requested list; the note names the hosts that violate it."""
    citations: tuple[HostedCitation, ...] = ()
    """The citations outside the lists."""
    sources: tuple[HostedSource, ...] = ()
    """The sources outside the lists."""

    @property
    def clean(self) -> bool:
        """Whether everything is within the lists."""
        return not self.citations and not self.sources


def audit(answer: HostedAnswer, allowed: Iterable[str] = (), blocked: Iterable[str] = ()) -> Audit:
    """Check the citations and sources of a hosted answer against domain lists.

    A redirecting URL is judged by the site that the API names; without a name, or if the URL is invalid, the site is
    unknown and counts as outside. Resolve redirects first to be sure.

    Args:
        answer: The answer.
        allowed: Only these domains and their subdomains; empty means every domain.
        blocked: Exclude these domains and their subdomains.

    Raises:
        InvalidRequest: a list contains something that is not a domain.
    """
    lists = {
        "allowed_domains": DomainPolicy(allowed=check_domains("allowed_domains", allowed)),
        "blocked_domains": DomainPolicy(blocked=check_domains("blocked_domains", blocked)),
    }
    policies_by_list = {name: policy for name, policy in lists.items() if policy.allowed or policy.blocked}
    receipts = tuple(_receipt(name, policy, answer) for name, policy in policies_by_list.items())
    policies = list(policies_by_list.values())
    return Audit(
        receipts=receipts,
        citations=tuple(cited for cited in answer.citations if not _permitted(cited, policies)),
        sources=tuple(cited for cited in answer.sources if not _permitted(cited, policies)),
    )


def _permitted(page: HostedCitation | HostedSource, policies: Iterable[DomainPolicy]) -> bool:
    return all(policy.permits(_host(page)) for policy in policies)


def _host(page: HostedCitation | HostedSource) -> str:
    """Return the host to judge: that of the URL, or the site it redirects to; empty if unknown."""
    if not is_redirect(page.url):
        return page.url if "/" in page.url else ""
    return page.site


def _receipt(name: str, policy: DomainPolicy, answer: HostedAnswer) -> FilterReceipt:
    parts = []
    for what, pages in (("citations", answer.citations), ("sources", answer.sources)):
        outside = [page for page in pages if not policy.permits(_host(page))]
        if outside:
            hosts = list(dict.fromkeys(_host_label(page) for page in outside))
            more = f" and {len(hosts) - _MAX_HOSTS_IN_NOTE} more" if len(hosts) > _MAX_HOSTS_IN_NOTE else ""
            names = ", ".join(hosts[:_MAX_HOSTS_IN_NOTE])
            parts.append(f"{len(outside)} of {len(pages)} {what} break it: {names}{more}")
    return FilterReceipt(filter=name, applied="native", note="; ".join(parts))


def _host_label(page: HostedCitation | HostedSource) -> str:
    place = _host(page) or page.url
    host = place.split("://", 1)[-1].split("/", 1)[0]
    return host[:100] or "an unreadable address"


_MAX_CONCURRENT = 8
_MAX_LINKS = 50  # links of one answer; more than any recorded answer has
_MAX_BODY_BYTES = 65_536  # bytes of a response whose body is not read
_REDIRECTS = range(300, 400)


async def resolve_redirects(
    answer: HostedAnswer,
    transport: Transport,
    *,
    deadline: Deadline,
    hosts: tuple[str, ...] = REDIRECTORS,
) -> HostedAnswer:
    """Replace redirecting links of an answer by their targets.

    Each link is requested once, and its redirect is not followed: the page itself is not opened. The guard judges the
    target. A link that does not resolve, or has a forbidden target, is unchanged.

    Args:
        answer: The answer.
        transport: The transport, with its guard.
        deadline: When to stop; links not resolved by then are unchanged.
        hosts: The hosts whose links redirect, in lower case.

    Raises:
        Closed: the transport was closed.
    """
    urls = [*(one.url for one in answer.citations), *(one.url for one in answer.sources), *answer.opened]
    links = list(dict.fromkeys(url for url in urls if is_redirect(url, hosts)))[:_MAX_LINKS]
    if not links:
        return answer
    slots = asyncio.Semaphore(_MAX_CONCURRENT)
    targets: dict[str, str] = {}

    async def resolve(url: str) -> None:
        async with slots:
            if (target := await _target(url, transport, answer.api, deadline)) is not None:
                targets[url] = target

    await asyncio.gather(*map(resolve, links))
    return replace(
        answer,
        citations=tuple(replace(one, url=targets.get(one.url, one.url)) for one in answer.citations),
        sources=_without_duplicates([replace(one, url=targets.get(one.url, one.url)) for one in answer.sources]),
        opened=tuple(dict.fromkeys(targets.get(url, url) for url in answer.opened)),
    )


async def _target(url: str, transport: Transport, api: str, deadline: Deadline) -> str | None:
    try:
        reply = await transport.call(api, "GET", url, deadline=deadline, cap=_MAX_BODY_BYTES)
        location = reply.headers.get("Location", "")
        if reply.status not in _REDIRECTS or not location:
            return None
        source = parse_url(url)
        target = transport.guard.follow(source, join_url(source, location))
    except (ProviderError, BlockedByPolicy, InvalidRequest):
        return None
    return clean_url(target.text)


def _without_duplicates(sources: list[HostedSource]) -> tuple[HostedSource, ...]:
    """Return the sources without duplicate URLs: two links may lead to one page."""
    sources_by_url: dict[str, HostedSource] = {}
    for source in sources:
        sources_by_url.setdefault(source.url, source)
    return tuple(sources_by_url.values())
