"""Validation of the Host and Origin headers of requests.

A page on the internet can have a browser on this machine send requests to it; with a name of its own that resolves
here (DNS rebinding) it could even read the answers. So a server looks at Host and Origin before anything else
(https://modelcontextprotocol.io/specification/2025-11-25/basic/transports, security warning).
"""

from __future__ import annotations

import re
from collections.abc import Collection, Mapping
from dataclasses import dataclass
from ipaddress import IPv4Address, IPv6Address, ip_address
from typing import Final, Literal

LOOPBACK = frozenset({"localhost", "127.0.0.1", "::1"})
"""The loopback names of this machine."""

_AUTHORITY = re.compile(r"(?:\[([0-9A-Fa-f:.]{2,45})\]|([A-Za-z0-9_.-]{1,255}))(?::(\d{1,5}))?")
_ORIGIN = re.compile(r"(https?)://([^/?#@\s]+)")
_PORTS: Final[Mapping[str, str]] = {"http": "80", "https": "443"}

Fault = Literal["name", "page"]
"""A foreign Host, or a foreign Origin."""


def is_loopback(host: str) -> bool:
    """Whether a server that listens there is reachable only from this machine."""
    if host.lower() == "localhost":
        return True
    address = _address(host)
    return address is not None and address.is_loopback


@dataclass(frozen=True, slots=True)
class HostCheck:
    """The host names and origins of a server."""

    names: Collection[str] | None
    """The accepted names, in lower case; None accepts any."""
    numbers: bool = False
    """Whether any IP address is accepted: DNS rebinding needs a name."""
    origins: Collection[str] = ()
    """Origins of other sites that may call it from a browser."""

    @classmethod
    def of(cls, host: str, also: Collection[str] = (), origins: Collection[str] = ()) -> HostCheck:
        """Return the check for a server that listens at `host`, with additional names, `*` for any, and origins."""
        if "*" in also:
            return cls(None, origins=origins)
        local = LOOPBACK if is_loopback(host) else frozenset({"localhost"})
        return cls(local | {host.lower()} | {name.lower() for name in also}, not is_loopback(host), origins)

    def opens_to(self, origin: str | None) -> bool:
        """Whether pages of an origin of another site may call."""
        return origin is not None and origin.lower() in self.origins

    def judge(self, host: str | None, origin: str | None) -> Fault | None:
        """Return the problem of a request, or None.

        Args:
            host: The Host header.
            origin: The Origin header, sent by browsers.
        """
        target = _authority(host or "")
        if target is None or not self._is_ours(target[0]):
            return "name"
        if origin is None or self.opens_to(origin):
            return None
        match = _ORIGIN.fullmatch(origin)
        page = _authority(match[2]) if match else None
        if match is None or page is None:
            return "page"
        # A reverse proxy may terminate TLS, so the scheme only determines the default port.
        default_port = _PORTS[match[1].lower()]
        same = page[0] == target[0] and (page[1] or default_port) == (target[1] or default_port)
        return None if same else "page"

    def _is_ours(self, name: str) -> bool:
        if self.names is None or name in self.names:
            return True
        return self.numbers and _address(name) is not None


def _authority(text: str) -> tuple[str, str] | None:
    """Split `HOST:PORT` into the host, in lower case, and the port, or return None if it is invalid."""
    match = _AUTHORITY.fullmatch(text)
    if match is None:
        return None
    host = (match[1] or match[2]).lower()
    return (host.removesuffix(".") or host), match[3] or ""


def _address(host: str) -> IPv4Address | IPv6Address | None:
    try:
        return ip_address(host)
    except ValueError:
        return None
