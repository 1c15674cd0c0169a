"""Domain lists: the allowed and blocked hosts of an operator or a caller."""

from __future__ import annotations

from dataclasses import dataclass

from groundwire.errors import BlockedAddress, InvalidRequest
from groundwire.safety.hostnames import canonical_host
from groundwire.safety.urls import parse_url

__all__ = ["DomainPolicy", "host_matches"]

_NOWHERE = "nowhere.invalid"  # a name that never exists (RFC 2606): an empty list would mean every domain


def host_matches(host: str, domain: str) -> bool:
    """Return whether a host is a domain or one of its subdomains.

    International names are compared in ASCII form; case, a trailing dot, and a leading `*.` or `.` of the domain are
    ignored. An IP address matches only itself. An invalid host matches nothing.
    """
    name, parent = _canonical(host), _canonical(domain.removeprefix("*").removeprefix("."))
    if name is None or parent is None:
        return False
    # A domain never ends a longer IP address: no name's last part is a number.
    return name == parent or name.endswith(f".{parent}")


@dataclass(frozen=True, slots=True)
class DomainPolicy:
    """Allowed and blocked domains, including subdomains; a block takes precedence."""

    allowed: tuple[str, ...] = ()
    """Only these domains; empty means every domain."""
    blocked: tuple[str, ...] = ()
    """Never these domains."""

    def permits(self, url_or_host: str) -> bool:
        """Return whether the lists allow a URL or a host. Anything invalid is not allowed."""
        host = _host_of(url_or_host)
        if host is None or any(host_matches(host, domain) for domain in self.blocked):
            return False
        return not self.allowed or any(host_matches(host, domain) for domain in self.allowed)

    def within(self, other: DomainPolicy) -> DomainPolicy:
        """Return the intersection of two policies."""
        blocked = tuple(dict.fromkeys((*self.blocked, *other.blocked)))
        if not self.allowed or not other.allowed:
            return DomainPolicy(self.allowed or other.allowed, blocked)
        both = [one for one in self.allowed if any(host_matches(one, domain) for domain in other.allowed)]
        both += [one for one in other.allowed if any(host_matches(one, domain) for domain in self.allowed)]
        return DomainPolicy(tuple(dict.fromkeys(both)) or (_NOWHERE,), blocked)


def _host_of(url_or_host: str) -> str | None:
    if "/" not in url_or_host:
        return _canonical(url_or_host)
    try:
        return parse_url(url_or_host).host
    except (InvalidRequest, BlockedAddress):
        return None


def _canonical(host: str) -> str | None:
    bare = host[1:-1] if host.startswith("[") and host.endswith("]") else host
    try:
        return canonical_host(bare)
    except (InvalidRequest, BlockedAddress):
        return None
