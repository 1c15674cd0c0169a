"""The host names that are refused before anybody is asked where they lead."""

from __future__ import annotations

__all__ = ["SPECIAL_SUFFIXES", "is_special_name"]

SPECIAL_SUFFIXES = frozenset(
    {
        "home.arpa",  # RFC 8375, home networks
        "internal",  # ICANN board resolution 2024.07.29.06, private use
        "lan",  # not delegated; what home routers hand out
        "local",  # RFC 6762, multicast DNS; also Kubernetes (cluster.local)
        "localdomain",  # not delegated; the hosts files of many systems
        "localhost",  # RFC 6761, 6.3
        "onion",  # RFC 7686, never in the DNS
    }
)
"""Names that are meant for one network or machine, together with everything below them."""


def is_special_name(host: str) -> bool:
    """Tell whether a name can only lead inside a network.

    Names of one label are among them: a resolver completes them with the domains of its own network.

    Args:
        host: A name in lower-case ASCII without a trailing dot; not an IP address.
    """
    labels = host.split(".")
    return len(labels) == 1 or any(".".join(labels[i:]) in SPECIAL_SUFFIXES for i in range(len(labels)))
