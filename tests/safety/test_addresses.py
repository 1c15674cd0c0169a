"""The address tables: both ends of every range, one step outside, and the forms that carry an IPv4 address."""

from ipaddress import IPv4Address, IPv4Network, IPv6Address, IPv6Network, ip_address

import pytest
from hypothesis import given
from hypothesis import strategies as st

from groundwire.safety.ip_ranges import (
    IPV4_NOT_PUBLIC,
    IPV6_NOT_PUBLIC,
    IPV6_PUBLIC,
    METADATA,
    address_text,
    is_metadata,
    is_public,
    parse_address,
    unmapped,
)

pytestmark = pytest.mark.req("Y13", "B3")

EDGES = [
    ("0.0.0.0", "0.255.255.255"),
    ("10.0.0.0", "10.255.255.255"),
    ("100.64.0.0", "100.127.255.255"),
    ("127.0.0.0", "127.255.255.255"),
    ("168.63.129.16", "168.63.129.16"),
    ("169.254.0.0", "169.254.255.255"),
    ("172.16.0.0", "172.31.255.255"),
    ("192.0.0.0", "192.0.0.255"),
    ("192.0.2.0", "192.0.2.255"),
    ("192.88.99.0", "192.88.99.255"),
    ("192.168.0.0", "192.168.255.255"),
    ("198.18.0.0", "198.19.255.255"),
    ("198.51.100.0", "198.51.100.255"),
    ("203.0.113.0", "203.0.113.255"),
    ("224.0.0.0", "239.255.255.255"),
    ("240.0.0.0", "255.255.255.255"),
    ("2001::", "2001:1ff:ffff:ffff:ffff:ffff:ffff:ffff"),
    ("2001:db8::", "2001:db8:ffff:ffff:ffff:ffff:ffff:ffff"),
    ("2002::", "2002:ffff:ffff:ffff:ffff:ffff:ffff:ffff"),
    ("3ffe::", "3ffe:ffff:ffff:ffff:ffff:ffff:ffff:ffff"),
    ("3fff::", "3fff:fff:ffff:ffff:ffff:ffff:ffff:ffff"),
]
"""The first and the last address of every range, written out so that a slip in a table shows."""


@pytest.mark.parametrize(("first", "last"), EDGES)
def test_a_range_is_refused_from_its_first_to_its_last_address(first: str, last: str) -> None:
    low, high = ip_address(first), ip_address(last)
    for address in (low, high, low + (int(high) - int(low)) // 3):
        assert not is_public(address)
        assert not is_public(str(address))


def test_every_range_of_the_tables_has_its_edges_here() -> None:
    ranges: list[IPv4Network | IPv6Network] = [*IPV4_NOT_PUBLIC, *IPV6_NOT_PUBLIC]
    assert [(str(network[0]), str(network[-1])) for network in ranges] == EDGES


@pytest.mark.parametrize(
    ("address", "public"),
    [
        ("1.0.0.0", True),
        ("9.255.255.255", True),
        ("11.0.0.0", True),
        ("100.63.255.255", True),
        ("100.128.0.0", True),
        ("126.255.255.255", True),
        ("128.0.0.0", True),
        ("168.63.129.15", True),
        ("168.63.129.17", True),
        ("169.253.255.255", True),
        ("169.255.0.0", True),
        ("172.15.255.255", True),
        ("172.32.0.0", True),
        ("191.255.255.255", True),
        ("192.0.1.0", True),
        ("192.0.1.255", True),
        ("192.0.3.0", True),
        ("192.88.98.255", True),
        ("192.88.100.0", True),
        ("192.167.255.255", True),
        ("192.169.0.0", True),
        ("198.17.255.255", True),
        ("198.20.0.0", True),
        ("198.51.99.255", True),
        ("198.51.101.0", True),
        ("203.0.112.255", True),
        ("203.0.114.0", True),
        ("223.255.255.255", True),
        ("1fff:ffff:ffff:ffff:ffff:ffff:ffff:ffff", False),
        ("2000::", True),
        ("2000:ffff:ffff:ffff:ffff:ffff:ffff:ffff", True),
        ("2001:200::", True),
        ("2001:db7:ffff:ffff:ffff:ffff:ffff:ffff", True),
        ("2001:db9::", True),
        ("2001:ffff:ffff:ffff:ffff:ffff:ffff:ffff", True),
        ("2003::", True),
        ("3ffd:ffff:ffff:ffff:ffff:ffff:ffff:ffff", True),
        ("3fff:1000::", True),
        ("3fff:ffff:ffff:ffff:ffff:ffff:ffff:ffff", True),
        ("4000::", False),
    ],
)
def test_one_step_outside(address: str, public: bool) -> None:
    assert is_public(address) is public
    assert is_public(ip_address(address)) is public


@pytest.mark.parametrize(
    "address",
    [
        "::",
        "::1",
        "::8.8.8.8",
        "::ffff:127.0.0.1",
        "::ffff:a00:1",
        "::ffff:0:8.8.8.8",
        "64:ff9b::8.8.8.8",
        "64:ff9b:1::1",
        "100::1",
        "200::1",
        "2a00::5efe:808:808",
        "2a00::200:5efe:7f00:1",
        "5f00::1",
        "fc00::",
        "fdff:ffff::1",
        "fe80::1",
        "fec0::1",
        "ff02::1",
        "ff0e::1",
    ],
)
def test_ipv6_outside_global_unicast_is_refused(address: str) -> None:
    assert not is_public(address)


@pytest.mark.parametrize(
    "text",
    [
        "",
        " ",
        "localhost",
        "8.8.8",
        "8.8.8.8 ",
        "08.8.8.8",
        "8.8.8.8/32",
        "134744072",
        "[::1]",
        "2a00::1%eth0",
        "2a00::1%",
    ],
)
def test_what_is_no_address_is_neither_public_nor_metadata(text: str) -> None:
    assert parse_address(text) is None
    assert not is_public(text)
    assert not is_metadata(text)


def test_an_address_object_with_a_zone_is_refused() -> None:
    assert not is_public(IPv6Address("2a00::1%eth0"))


def test_a_mapped_address_is_judged_by_what_it_carries() -> None:
    assert is_public("::ffff:8.8.8.8")
    assert not is_public("::ffff:10.0.0.1")


def test_nat64_is_not_public_whatever_it_carries() -> None:
    assert not is_public("64:ff9b::8.8.8.8")
    assert not is_public("64:ff9b::10.0.0.1")
    assert not is_public("64:ff9b:1::8.8.8.8")


@pytest.mark.parametrize("network", METADATA, ids=str)
def test_metadata_is_never_public(network: IPv4Network | IPv6Network) -> None:
    for address in (network[0], network[-1]):
        assert is_metadata(address)
        assert not is_public(address)


@pytest.mark.parametrize(
    "address",
    [
        "::ffff:169.254.169.254",
        "::169.254.169.254",
        "::ffff:0:169.254.169.254",
        "64:ff9b::169.254.169.254",
        "64:ff9b:1:a9fe:a9:fe00::",
        "64:ff9b:1:a9:fe:a9fe::",
        "64:ff9b:1:0:a9:fea9:fe00:0",
        "64:ff9b:1::a9fe:a9fe",
        "64:ff9b:1:6464:64:c800::",
        "64:ff9b:1:64:64:64c8::",
        "64:ff9b:1:0:64:6464:c800:0",
        "64:ff9b:1::6464:64c8",
        "2002:a9fe:a9fe::1",
        "2001:0:a9fe:a9fe::1",
        "2001:0:53aa:64c::5601:5601",
        "fe80::5efe:a9fe:a9fe",
        "2a00::200:5efe:6464:64c8",
        "fd00:ec2::254",
    ],
)
def test_metadata_is_known_in_every_disguise(address: str) -> None:
    assert is_metadata(address)


@pytest.mark.parametrize(
    "address", ["8.8.8.8", "10.0.0.1", "127.0.0.1", "::1", "fd00::1", "2a00::1", "100.100.100.201"]
)
def test_other_addresses_are_not_metadata(address: str) -> None:
    assert not is_metadata(address)


@given(st.ip_addresses())
def test_any_address_has_one_text_and_one_verdict(address: IPv4Address | IPv6Address) -> None:
    text = address_text(address)
    assert parse_address(text) == address
    assert is_public(text) == is_public(address) == is_public(address.exploded)
    assert not (is_public(address) and is_metadata(address))


@given(st.ip_addresses(v=4))
def test_a_mapped_address_has_the_verdict_of_its_ipv4(address: IPv4Address | IPv6Address) -> None:
    mapped = IPv6Address(0xFFFF << 32 | int(address))
    assert unmapped(mapped) == address
    assert "." not in address_text(mapped)
    assert is_public(mapped) == is_public(address)
    assert is_metadata(mapped) == is_metadata(address)


@given(st.ip_addresses(v=6, network="2000::/3"), st.ip_addresses(v=4))
def test_what_standard_tables_call_private_is_never_public(
    six: IPv4Address | IPv6Address, four: IPv4Address | IPv6Address
) -> None:
    for address in (six, four):
        if address.is_private or address.is_multicast or address.is_reserved or address.is_loopback:
            assert not is_public(address)


def test_the_positive_range_is_global_unicast() -> None:
    assert str(IPV6_PUBLIC) == "2000::/3"
    assert all(network.subnet_of(IPV6_PUBLIC) for network in IPV6_NOT_PUBLIC)


SERVICES = ["100.100.100.200", "168.63.129.16", "169.254.169.254", "169.254.0.1", "192.0.0.192"]


@pytest.mark.parametrize("service", SERVICES)
@pytest.mark.parametrize("length", [48, 56, 64, 96])
def test_a_metadata_service_is_known_behind_every_local_nat64_prefix(service: str, length: int) -> None:
    """RFC 6052, 2.2: the address follows the prefix, and leaves out bits 64 to 71."""
    bits = int(IPv4Address(service))
    prefix = int(IPv6Address("64:ff9b:1::"))
    if length == 96:
        embedded = prefix | bits
    else:
        before = 64 - length  # bits of the address before those that are left out
        embedded = prefix | (bits >> (32 - before)) << 64 | (bits & ((1 << (32 - before)) - 1)) << (56 - (32 - before))
    assert is_metadata(IPv6Address(embedded))
    assert not is_metadata(IPv6Address(prefix | 0x0808_0808))
