"""The guard without the vectors: exemptions, resolving, the last gate, and what a refusal gives away."""

import asyncio
import ipaddress
import socket
from collections.abc import Sequence

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from components.examples import examples
from groundwire.errors import BlockedAddress, ConfigurationError, InvalidRequest
from groundwire.safety.guard import BAD_PORTS, SPECIAL_SUFFIXES, Guard, is_special_name
from groundwire.safety.ip_ranges import is_public
from groundwire.safety.urls import WebUrl, parse_url

pytestmark = pytest.mark.req("Y13", "B3")

PUBLIC = "93.184.215.14"


REFUSED_PORTS = """
0, 1, 7, 9, 11, 13, 15, 17, 19, 20, 21, 22, 23, 25, 37, 42, 43, 53, 69, 77, 79, 87, 95, 101, 102,
103, 104, 109, 110, 111, 113, 115, 117, 119, 123, 135, 137, 139, 143, 161, 179, 389, 427, 465, 512,
513, 514, 515, 526, 530, 531, 532, 540, 548, 554, 556, 563, 587, 601, 636, 989, 990, 993, 995, 1719,
1720, 1723, 2049, 3659, 4045, 4190, 5060, 5061, 6000, 6566, 6665, 6666, 6667, 6668, 6669, 6679,
6697, 10080
"""


class Names:
    """A resolver with a fixed answer for each name; it notes what it was asked."""

    def __init__(self, **answers: Sequence[str]) -> None:
        self.answers = {name.replace("_", "."): given for name, given in answers.items()}
        self.asked: list[tuple[str, int]] = []

    async def __call__(self, host: str, port: int) -> Sequence[str]:
        self.asked.append((host, port))
        if host not in self.answers:
            raise socket.gaierror(socket.EAI_NONAME, "unknown")
        return self.answers[host]


@pytest.mark.parametrize(
    "url",
    [
        "http://127.0.0.1/",
        "http://[::1]/",
        "http://[::ffff:7f00:1]/",
        "http://168.63.129.16/",
        "http://localhost/",
        "http://localhost./",
        "http://a.localhost/",
        "http://intranet/",
        "http://db.internal/",
        "http://printer.local/",
        "http://api.svc.cluster.local/",
        "http://router.lan/",
        "http://nas.home.arpa/",
        "http://x.localdomain/",
        "http://x.onion/",
        "http://example.com:25/",
        "http://8.8.8.8:6667/",
    ],
)
def test_without_a_look_up(url: str) -> None:
    with pytest.raises(BlockedAddress):
        Guard(resolver=Names()).admit(url)


@pytest.mark.parametrize(
    "url",
    [
        "https://example.com/",
        "http://8.8.8.8/",
        "http://[2606:4700::1111]:8080/",
        "http://local.example/",
    ],
)
def test_admission(url: str) -> None:
    assert Guard().admit(url) == Guard().admit(parse_url(url)) == parse_url(url)


@pytest.mark.parametrize("suffix", sorted(SPECIAL_SUFFIXES))
def test_special_names_and_what_is_below_them(suffix: str) -> None:
    assert is_special_name(suffix)
    assert is_special_name(f"a.b.{suffix}")
    assert not is_special_name(f"{suffix}.example.com")
    assert not is_special_name(f"a.not{suffix}") or "." in suffix


def test_the_port_table() -> None:
    assert sorted(BAD_PORTS) == [int(port) for port in REFUSED_PORTS.split(",")]


def test_bad_ports() -> None:
    for port in BAD_PORTS - {0}:
        with pytest.raises(BlockedAddress, match=str(port)):
            Guard().admit(f"http://example.com:{port}/")


@pytest.mark.parametrize("port", [80, 443, 81, 591, 3000, 5000, 6001, 8000, 8008, 8080, 8443, 9000, 10081, 65_535])
def test_other_ports(port: int) -> None:
    assert Guard().admit(f"http://example.com:{port}/").port == port


async def test_every_answer_is_judged_and_returned() -> None:
    names = Names(many_example=["1.1.1.1", "2606:4700::1111", "1.1.1.1"], mixed_example=[PUBLIC, "10.0.0.1"])
    guard = Guard(resolver=names)
    assert await guard.resolve("many.example", 443) == ("1.1.1.1", "2606:4700::1111")
    with pytest.raises(BlockedAddress):
        await guard.resolve("mixed.example", 443)
    assert names.asked == [("many.example", 443), ("mixed.example", 443)]


@pytest.mark.parametrize(
    "answers",
    [
        [],
        ["127.0.0.1"],
        [PUBLIC, "fe80::1%eth0"],
        [PUBLIC, ""],
        ["example.com"],
        ["64:ff9b::808:808"],
        ["::ffff:10.0.0.1"],
    ],
)
async def test_answers_that_refuse_a_name_say_nothing_of_themselves(answers: list[str]) -> None:
    with pytest.raises(BlockedAddress) as caught:
        await Guard(resolver=Names(name_example=answers)).resolve("name.example", 80)
    assert str(caught.value) == "This address is not allowed: only public web addresses may be opened."


async def test_nat64_is_refused() -> None:
    guard = Guard(resolver=Names(six_example=["64:ff9b::808:808"]))
    assert not guard.permits("64:ff9b::808:808", 443)
    with pytest.raises(BlockedAddress):
        await guard.resolve("six.example", 443)


async def test_a_literal_needs_no_look_up() -> None:
    names = Names()
    guard = Guard(resolver=names)
    assert await guard.resolve("8.8.8.8", 443) == ("8.8.8.8",)
    assert await guard.resolve("2606:4700:0::1111", 443) == ("2606:4700::1111",)
    for host in ("127.0.0.1", "::1", "::ffff:127.0.0.1"):
        with pytest.raises(BlockedAddress):
            await guard.resolve(host, 443)
    assert names.asked == []


@pytest.mark.parametrize(
    "host", ["localhost", "LOCALHOST.", "intranet", "0x7f.1", "2130706433", "a b", "", "fe80::1%1", "[::1]", "x" * 64]
)
async def test_resolving_repeats_what_can_be_judged_before(host: str) -> None:
    names = Names()
    with pytest.raises(BlockedAddress):
        await Guard(resolver=names).resolve(host, 80)
    assert names.asked == []


async def test_resolving_refuses_bad_ports() -> None:
    with pytest.raises(BlockedAddress):
        await Guard(resolver=Names(name_example=[PUBLIC])).resolve("name.example", 25)


async def test_a_name_that_does_not_resolve() -> None:
    guard = Guard(resolver=Names())
    with pytest.raises(OSError, match="unknown"):
        await guard.resolve("nowhere.example", 443)
    with pytest.raises(BlockedAddress) as caught:
        await guard.check("https://nowhere.example/")
    with pytest.raises(BlockedAddress) as inside:
        await Guard(resolver=Names(nowhere_example=["10.0.0.1"])).check("https://nowhere.example/")
    assert str(caught.value) == str(inside.value)


async def test_the_system_resolver_is_the_default() -> None:
    guard = Guard(allowed_origins=["http://localhost:8080"])
    addresses = await guard.resolve("localhost", 8080)
    assert "127.0.0.1" in addresses or "::1" in addresses
    with pytest.raises((OSError, BlockedAddress)):
        await guard.resolve("does-not-exist.invalid", 80)


@pytest.mark.parametrize(
    ("origin", "host", "answers"),
    [
        ("http://127.0.0.1:8888", "127.0.0.1", ["127.0.0.1"]),
        ("http://localhost:8888", "localhost", ["127.0.0.1", "::1"]),
        ("http://[::1]:8888/", "::1", ["::1"]),
        ("http://searxng:8888", "searxng", ["172.18.0.5"]),
        ("http://search.internal:8888", "search.internal", ["10.1.2.3"]),
        ("http://search.example:8888", "search.example", ["fd12::3"]),
        ("HTTP://Search.Example.:8888", "search.example", ["10.1.2.3"]),
    ],
)
async def test_exactly_one_origin_is_exempt(origin: str, host: str, answers: list[str]) -> None:
    names = Names(**{host: answers}) if ":" not in host and not host[0].isdigit() else Names()
    names.answers[f"other.{host}"] = answers
    names.answers["other.example"] = answers
    guard = Guard(allowed_origins=[origin], resolver=names)
    written = f"[{host}]" if ":" in host else host

    assert guard.admit(f"http://{written}:8888/search?q=x").host == host
    assert await guard.resolve(host, 8888) == tuple(answers)
    assert all(guard.permits(address, 8888) for address in answers)

    assert not any(guard.permits(address, port) for address in answers for port in (80, 8889))
    assert not guard.permits("10.9.9.9", 8888)
    for refused in (f"https://{written}:8888/", "http://127.0.0.2:8888/", "http://localhost.:80/"):
        with pytest.raises(BlockedAddress):
            guard.admit(refused)
    for other, port in ((host, 8889), (host, 80), ("other.example", 8888), ("other.example", 80)):
        with pytest.raises(BlockedAddress):
            await guard.resolve(other, port)


async def test_an_exempt_port_may_be_a_bad_one() -> None:
    guard = Guard(allowed_origins=["http://search.example:6000"], resolver=Names(search_example=["10.0.0.1"]))
    assert guard.admit("http://search.example:6000/").port == 6000
    assert await guard.resolve("search.example", 6000) == ("10.0.0.1",)


@pytest.mark.parametrize(
    "address", ["169.254.169.254", "168.63.129.16", "100.100.100.200", "fd00:ec2::254", "::ffff:a9fe:a9fe"]
)
async def test_metadata_stays_closed_for_an_exempt_origin(address: str) -> None:
    written = f"[{address}]" if ":" in address else address
    origins = [f"http://{written}", "http://metadata:80"]
    guard = Guard(allowed_origins=origins, resolver=Names(metadata=["10.0.0.1", address]))
    with pytest.raises(BlockedAddress):
        guard.admit(f"http://{written}/")
    for host in (address, "metadata"):
        with pytest.raises(BlockedAddress):
            await guard.resolve(host, 80)
    assert not guard.permits(address, 80)
    assert not guard.permits("10.0.0.1", 80)


async def test_an_address_is_granted_only_once_a_name_has_led_to_it() -> None:
    guard = Guard(allowed_origins=["http://searxng:8080"], resolver=Names(searxng=["172.18.0.5"]))
    assert not guard.permits("172.18.0.5", 8080)
    await guard.resolve("searxng", 8080)
    assert guard.permits("172.18.0.5", 8080)
    assert guard.permits("::ffff:172.18.0.5", 8080)


@pytest.mark.parametrize(
    "address", ["", "localhost", "127.0.0.1", "10.0.0.1", "::1", "fe80::1%eth0", "2a00::1%eth0", "::ffff:127.0.0.1"]
)
def test_the_last_gate_is_closed(address: str) -> None:
    assert not Guard().permits(address, 443)


@pytest.mark.parametrize("address", ["8.8.8.8", "::ffff:8.8.8.8", "2606:4700::1111"])
def test_the_last_gate_is_open_to_the_public(address: str) -> None:
    assert Guard().permits(address, 443)


@pytest.mark.parametrize(
    "origin",
    [
        "",
        "example.com",
        "localhost:8080",
        "ftp://example.com",
        "http://me@host:80",
        "http://host/path",
        "http://host/?",
        "http://host#",
        "http://127.1:80",
    ],
)
def test_a_malformed_origin_is_named(origin: str) -> None:
    with pytest.raises(ConfigurationError) as caught:
        Guard(allowed_origins=["http://fine:8080", origin, "gopher://also-wrong"])
    assert repr(origin) in str(caught.value)
    assert "also-wrong" in str(caught.value)
    assert "fine" not in str(caught.value)


async def test_cancelling_a_look_up_grants_nothing() -> None:
    started = asyncio.Event()

    async def never(host: str, port: int) -> Sequence[str]:
        started.set()
        await asyncio.Event().wait()
        return ["10.0.0.1"]

    guard = Guard(allowed_origins=["http://searxng:8080"], resolver=never)
    task = asyncio.create_task(guard.resolve("searxng", 8080))
    await started.wait()
    task.cancel()
    with pytest.raises(asyncio.CancelledError):
        await task
    assert not guard.permits("10.0.0.1", 8080)


@settings(max_examples=examples(200), deadline=None)
@given(st.one_of(st.text(max_size=60), st.text("htps:/.?#@[]%0123456789abcdefx", max_size=30).map("http://".__add__)))
def test_any_text_is_admitted_or_refused(text: str) -> None:
    try:
        url = Guard().admit(text)
    except (InvalidRequest, BlockedAddress):
        return
    assert isinstance(url, WebUrl)
    assert Guard().admit(url.text) == url
    assert url.port not in BAD_PORTS
    if url.address is not None:
        assert is_public(url.address)


@settings(max_examples=examples(200), deadline=None)
@given(st.ip_addresses())
def test_a_literal_is_admitted_when_it_may_be_connected_to(
    address: ipaddress.IPv4Address | ipaddress.IPv6Address,
) -> None:
    written = f"[{address}]" if address.version == 6 else str(address)
    try:
        Guard().admit(f"http://{written}/")
    except BlockedAddress:
        assert not Guard().permits(str(address), 80)
    else:
        assert Guard().permits(str(address), 80)


@pytest.mark.req("B3")
def test_nothing_leads_to_an_allowed_origin_but_itself() -> None:
    guard = Guard(allowed_origins=("http://10.0.0.5:8080", "http://intranet:80"))
    public, one, other = map(parse_url, ("https://a.example/", "http://10.0.0.5:8080/x", "http://intranet/"))
    assert guard.follow(one, parse_url("http://10.0.0.5:8080/y")) == parse_url("http://10.0.0.5:8080/y")
    assert guard.follow(one, public) == public
    assert guard.admit(one) == one
    for source, target in ((public, one), (other, one), (one, other), (public, parse_url("http://10.0.0.6/"))):
        with pytest.raises(BlockedAddress):
            guard.follow(source, target)
    linked = Guard(allowed_origins=("http://10.0.0.5:8080", "http://intranet:80"), origin_redirects="allowed")
    assert linked.follow(other, one) == one
    with pytest.raises(BlockedAddress):
        linked.follow(public, one)


def test_a_text_that_is_no_host_is_no_allowed_origin() -> None:
    guard = Guard(allowed_origins=("http://10.0.0.5:8080",))
    rows = (("10.0.0.5", 8080, True), ("10.0.0.5", 80, False), ("no host", 8080, False), ("127.1", 8080, False))
    assert [guard.is_exempt(host, port) for host, port, _ in rows] == [wanted for *_, wanted in rows]


def test_an_origin_that_cannot_be_read_at_all_is_named_alone() -> None:
    with pytest.raises(ConfigurationError) as caught:
        Guard(allowed_origins=("nonsense here",))
    assert str(caught.value).count("allowed_origins:") == 1
