"""Domain lists put together: the operator's with the caller's, and the allowed with the blocked."""

from __future__ import annotations

from groundwire.errors import InvalidRequest
from groundwire.safety.domains import host_matches

__all__ = ["common", "simplified", "sub_domains"]


def common(ours: tuple[str, ...], theirs: tuple[str, ...]) -> tuple[str, ...]:
    """Return the domains that both lists of allowed domains let through; an empty list lets everything through.

    Raises:
        InvalidRequest: nothing would be left.
    """
    if not ours or not theirs:
        return ours or theirs
    both = [one for one in ours if any(host_matches(one, other) for other in theirs)]
    both += [other for other in theirs if other not in both and any(host_matches(other, one) for one in ours)]
    if not both:
        raise InvalidRequest(
            "allowed_domains",
            "has no domain that the other allowed domains let through",
            f"Pass some of: {', '.join(theirs[:10])}.",
        )
    return tuple(both)


def simplified(allowed: tuple[str, ...], blocked: tuple[str, ...]) -> tuple[tuple[str, ...], tuple[str, ...]]:
    """Return two lists that mean the same and hold no entry without effect: most searches then need one of them only.

    Raises:
        InvalidRequest: every allowed domain is blocked.
    """
    if not allowed or not blocked:
        return allowed, blocked
    left = tuple(one for one in allowed if not any(host_matches(one, other) for other in blocked))
    if not left:
        raise InvalidRequest("allowed_domains", "has only domains that are blocked", "Take them from one of the lists.")
    return left, tuple(other for other in blocked if any(host_matches(other, one) for one in left))


def sub_domains(domains: tuple[str, ...]) -> tuple[str, ...]:
    """Return the entries that are perhaps not whole sites: more than two parts, and not as `example.co.uk`."""
    found = []
    for domain in domains:
        parts = domain.split(".")
        second_level = len(parts) == 3 and len(parts[2]) == 2 and len(parts[1]) <= 3
        if len(parts) > 2 and not second_level:
            found.append(domain)
    return tuple(found)
