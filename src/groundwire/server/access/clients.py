"""Which address a request comes from."""

from __future__ import annotations

from collections.abc import Iterable
from ipaddress import IPv4Network, IPv6Network, ip_address, ip_network

from groundwire.server.mcp.presence import Scope

__all__ = ["Clients"]


class Clients:
    """Finds the client of a request, also behind load balancers.

    Args:
        trusted: Addresses and networks of load balancers. What they say in `X-Forwarded-For` is believed; what anybody
            else says there is not.
    """

    def __init__(self, trusted: Iterable[str] = ()) -> None:
        self._trusted = tuple(ip_network(word, strict=False) for word in trusted)

    def address(self, scope: Scope) -> str:
        """Return the client's address; empty when the server does not know it."""
        peer = str((scope.get("client") or ("",))[0])
        if not self._trusted or not self._is_trusted(peer):
            return peer
        said = b",".join(value for name, value in scope["headers"] if name.lower() == b"x-forwarded-for")
        for word in reversed(said.decode("latin-1").split(",")):
            address = word.strip()
            if not _is_address(address):
                return peer
            if not self._is_trusted(address):
                return address
            peer = address
        return peer

    def _is_trusted(self, address: str) -> bool:
        try:
            parsed = ip_address(address)
        except ValueError:
            return False
        return any(_holds(network, address) for network in self._trusted if network.version == parsed.version)


def _holds(network: IPv4Network | IPv6Network, address: str) -> bool:
    return ip_address(address) in network


def _is_address(word: str) -> bool:
    try:
        ip_address(word)
    except ValueError:
        return False
    return True
