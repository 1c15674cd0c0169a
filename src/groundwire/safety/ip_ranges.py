"""Classification of public IP addresses, with Groundwire's own tables.

The standard library's `ipaddress` answers differently from one Python version to the next and calls multicast,
site-local and several IPv4-carrying ranges global, so only its parser and its arithmetic are used here.

Sources: the IANA special-purpose address registries for IPv4 and IPv6 (RFC 6890 and its successors,
https://www.iana.org/assignments/iana-ipv4-special-registry, .../iana-ipv6-special-registry), the IANA multicast
registries, and the documentation of the cloud vendors for their metadata services.
"""

from __future__ import annotations

from collections.abc import Iterator
from ipaddress import IPv4Address, IPv4Network, IPv6Address, IPv6Network, ip_address, ip_network
from pathlib import Path

Address = IPv4Address | IPv6Address
"""An IP address of either version."""


def address_rows(kind: str) -> tuple[str, ...]:
    """Return the ports, suffixes or networks of one kind in `addresses.txt`."""
    text = Path(__file__).with_name("addresses.txt").read_text(encoding="utf-8")
    return tuple(line.split()[1] for line in text.splitlines() if line.startswith(f"{kind} "))


IPV4_NOT_PUBLIC = tuple(map(IPv4Network, address_rows("ipv4")))
"""Every IPv4 range that is not part of the public Internet."""

IPV6_PUBLIC = IPv6Network("2000::/3")
"""The only range of global unicast addresses (RFC 4291, IANA); everything else is not public.

This alone excludes loopback, IPv4-mapped, -compatible and -translated, NAT64, unique local, link-local, site-local,
multicast, discard-only and segment-routing addresses.
"""

IPV6_NOT_PUBLIC = tuple(map(IPv6Network, address_rows("ipv6")))
"""The ranges inside `IPV6_PUBLIC` that are not public."""

METADATA: tuple[IPv4Network | IPv6Network, ...] = tuple(map(ip_network, address_rows("metadata")))
"""Metadata services of cloud machines, which provide credentials; always blocked, whatever the settings."""

_NAT64 = IPv6Network("64:ff9b::/96")  # RFC 6052, 2.1
_NAT64_LOCAL = IPv6Network("64:ff9b:1::/48")  # RFC 8215
_6TO4 = IPv6Network("2002::/16")  # RFC 3056
_TEREDO = IPv6Network("2001::/32")  # RFC 4380
_ISATAP = frozenset({0x0000_5EFE, 0x0200_5EFE})  # RFC 5214, 6.1: the upper half of the interface identifier
_MAPPED, _COMPATIBLE, _TRANSLATED = 0xFFFF, 0, 0xFFFF_0000  # RFC 4291, 2.5.5 and RFC 2765: an address's bits 0-95
_LOW_32 = 0xFFFF_FFFF


def parse_address(text: str) -> Address | None:
    """Parse an address in standard notation, or return None; also for a scoped address (`%eth0`)."""
    try:
        return None if "%" in text else ip_address(text)
    except ValueError:
        return None


def address_text(address: Address) -> str:
    """Return the canonical text of an address, the same in every Python version (RFC 5952, hexadecimal only)."""
    if isinstance(address, IPv6Address) and int(address) >> 32 == _MAPPED:
        return f"::ffff:{int(address) >> 16 & 0xFFFF:x}:{int(address) & 0xFFFF:x}"
    return str(address)


def unmapped(address: Address) -> Address:
    """Return the IPv4 address inside an IPv4-mapped one (`::ffff:a.b.c.d`), any other address as it is."""
    if isinstance(address, IPv6Address) and int(address) >> 32 == _MAPPED:
        return IPv4Address(int(address) & _LOW_32)
    return address


def is_public(address: str | Address) -> bool:
    """Return whether an address belongs to the public Internet.

    An IPv4-mapped address is judged by its IPv4 address; other forms with an embedded one are not public.

    Args:
        address: The address; a text that is malformed or has a zone is not public.
    """
    parsed = _bare_address(address)
    if parsed is None:
        return False
    if isinstance(parsed, IPv4Address):
        return not any(parsed in network for network in IPV4_NOT_PUBLIC)
    return (
        parsed in IPV6_PUBLIC
        and not any(parsed in network for network in IPV6_NOT_PUBLIC)
        and int(parsed) >> 32 & _LOW_32 not in _ISATAP
    )


def is_metadata(address: str | Address) -> bool:
    """Return whether an address is a cloud's metadata service, directly or embedded in IPv6.

    False for a malformed or scoped text.
    """
    parsed = _bare_address(address)
    if parsed is None:
        return False
    forms = [parsed, *_embedded_ipv4(parsed)] if isinstance(parsed, IPv6Address) else [parsed]
    return any(form in network for form in forms for network in METADATA)


def _bare_address(address: str | Address) -> Address | None:
    parsed = parse_address(address) if isinstance(address, str) else address
    if parsed is None or (isinstance(parsed, IPv6Address) and parsed.scope_id is not None):
        return None
    return unmapped(parsed)


def _embedded_ipv4(address: IPv6Address) -> Iterator[IPv4Address]:
    """Yield every IPv4 address embedded in `address` by any transition technique."""
    bits = int(address)
    low = bits & _LOW_32
    if bits >> 32 in {_COMPATIBLE, _TRANSLATED} or address in _NAT64 or bits >> 32 & _LOW_32 in _ISATAP:
        yield IPv4Address(low)
    if address in _6TO4:
        yield IPv4Address(bits >> 80 & _LOW_32)
    if address in _TEREDO:
        yield IPv4Address(bits >> 64 & _LOW_32)  # the server
        yield IPv4Address(low ^ _LOW_32)  # the client, inverted
    if address in _NAT64_LOCAL:
        # RFC 6052, 2.2: after a prefix of 48, 56, 64 or 96 bits, around bits 64-71, which are zero
        yield IPv4Address((bits >> 64 & 0xFFFF) << 16 | bits >> 40 & 0xFFFF)
        yield IPv4Address((bits >> 64 & 0xFF) << 24 | bits >> 32 & 0xFF_FFFF)
        yield IPv4Address(bits >> 24 & _LOW_32)
        yield IPv4Address(low)
