"""The same audit as for local results: what a hosted search cited is checked against the domain lists (row B4)."""

from __future__ import annotations

from collections.abc import Iterable
from dataclasses import dataclass

from groundwire.models import Applied, FilterReceipt
from groundwire.models.checks import check_domains
from groundwire.native.answers.model import HostedAnswer, HostedCitation, HostedSource
from groundwire.native.answers.sites import is_redirect
from groundwire.safety.domains import DomainPolicy

__all__ = ["Audit", "audit"]

_SHOWN = 5  # hosts that a note names


@dataclass(frozen=True, slots=True, kw_only=True)
class Audit:
    """What an audit of a hosted answer found."""

    receipts: tuple[FilterReceipt, ...] = ()
    """One for each list that was asked for; the note names the hosts that break it."""
    citations: tuple[HostedCitation, ...] = ()
    """The citations that the lists do not allow."""
    sources: tuple[HostedSource, ...] = ()
    """The sources that the lists do not allow."""

    @property
    def clean(self) -> bool:
        """Whether everything lies within the lists."""
        return not self.citations and not self.sources


def audit(
    answer: HostedAnswer,
    allowed: Iterable[str] = (),
    blocked: Iterable[str] = (),
    *,
    applied: Applied = "native",
) -> Audit:
    """Check the citations and sources of a hosted answer against domain lists.

    An address that only redirects is judged by the site that the API names; where it names none, and for anything
    else that is no address, nobody knows, and it counts as outside. Resolve redirects first to be sure.

    Args:
        answer: The answer.
        allowed: Only these domains and their sub-domains; empty means every domain.
        blocked: Never these domains nor their sub-domains.
        applied: Who was to see to the lists: the hosted tool (`native`), or nobody (`not_possible`).

    Raises:
        InvalidRequest: a list holds what is no domain.
    """
    lists = {
        "allowed_domains": DomainPolicy(allowed=check_domains("allowed_domains", allowed)),
        "blocked_domains": DomainPolicy(blocked=check_domains("blocked_domains", blocked)),
    }
    asked = {name: policy for name, policy in lists.items() if policy.allowed or policy.blocked}
    receipts = tuple(_receipt(name, policy, answer, applied) for name, policy in asked.items())
    policies = list(asked.values())
    return Audit(
        receipts=receipts,
        citations=tuple(one for one in answer.citations if not _permitted(one, policies)),
        sources=tuple(one for one in answer.sources if not _permitted(one, policies)),
    )


def _permitted(one: HostedCitation | HostedSource, policies: Iterable[DomainPolicy]) -> bool:
    return all(policy.permits(_place(one)) for policy in policies)


def _place(one: HostedCitation | HostedSource) -> str:
    """Return what the lists judge: the address, or the site that it leads to; nothing where nobody knows."""
    if not is_redirect(one.url):
        return one.url if "/" in one.url else ""
    return one.site


def _receipt(name: str, policy: DomainPolicy, answer: HostedAnswer, applied: Applied) -> FilterReceipt:
    parts = []
    for what, found in (("citations", answer.citations), ("sources", answer.sources)):
        outside = [one for one in found if not policy.permits(_place(one))]
        if outside:
            hosts = list(dict.fromkeys(_named(one) for one in outside))
            more = f" and {len(hosts) - _SHOWN} more" if len(hosts) > _SHOWN else ""
            shown = ", ".join(hosts[:_SHOWN])
            parts.append(f"{len(outside)} of {len(found)} {what} break it: {shown}{more}")
    return FilterReceipt(filter=name, applied=applied, note="; ".join(parts))


def _named(one: HostedCitation | HostedSource) -> str:
    place = _place(one) or one.url
    host = place.split("://", 1)[-1].split("/", 1)[0]
    return host[:100] or "an unreadable address"
