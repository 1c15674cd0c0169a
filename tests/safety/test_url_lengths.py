"""How long an address and a host may be, and how a refusal quotes them."""

from __future__ import annotations

import pytest

from groundwire.errors import InvalidRequest
from groundwire.safety.urls import MAX_LENGTH, parse_url

pytestmark = pytest.mark.req("Y13", "B3")


@pytest.mark.parametrize("rest", ["a", "/./a", "?a"])
def test_the_longest_address(rest: str) -> None:
    start = f"https://example.com/{rest}"
    longest = start + "a" * (MAX_LENGTH - len(start))
    assert len(parse_url(longest).text) <= MAX_LENGTH
    with pytest.raises(InvalidRequest, match="8,001 characters"):
        parse_url(longest + "a")


def test_an_address_is_not_even_read_when_it_is_too_long() -> None:
    with pytest.raises(InvalidRequest, match="8,022 characters"):
        parse_url("https://example.com/a/" + "./" * 4_000)


def test_an_address_may_become_too_long_by_encoding() -> None:
    start = "https://example.com/"
    room = MAX_LENGTH - len(start)
    assert len(parse_url(start + "é" * (room // 6) + "a" * (room % 6)).text) == MAX_LENGTH
    with pytest.raises(InvalidRequest, match="8,001 characters"):
        parse_url(start + "é" * (room // 6) + "a" * (room % 6 + 1))


def test_what_a_refusal_quotes_is_short() -> None:
    with pytest.raises(InvalidRequest, match=f"the scheme {'x' * 60}:"):
        parse_url("x" * 60 + "://example.com/")
    with pytest.raises(InvalidRequest, match=rf"the scheme {'x' * 57}\.\.\.:"):
        parse_url("x" * 61 + "://example.com/")


@pytest.mark.parametrize("last", ["com", "m\u00fc"])
def test_the_longest_host(last: str) -> None:
    with pytest.raises(InvalidRequest, match="has a part that is too long"):
        parse_url(f"https://{'a' * 64}.{last}/")
    assert parse_url(f"https://{'a' * 63}.{last}/").host.startswith("a" * 63)
    ending = "." + parse_url(f"https://{last}/").host
    name = ("a" * 58 + ".") * 4 + "a" * (17 - len(ending))
    assert len(parse_url(f"https://{name}.{last}/").host) == 253
    with pytest.raises(InvalidRequest, match="' is too long"):
        parse_url(f"https://{name}a.{last}/")


def test_the_work_on_a_hostile_name_is_bounded() -> None:
    with pytest.raises(InvalidRequest, match="has a part that is too long"):
        parse_url(f"https://{'é' * 1_024}/")
    with pytest.raises(InvalidRequest, match="' is too long"):
        parse_url(f"https://{'é' * 1_025}/")


@pytest.mark.parametrize(("length", "shown"), [(60, "-" + "a" * 59), (61, "-" + "a" * 56 + "...")])
def test_a_refused_host_is_quoted_in_short(length: int, shown: str) -> None:
    with pytest.raises(InvalidRequest) as caught:
        parse_url(f"https://-{'a' * (length - 1)}/")
    assert f"the host '{shown}' " in str(caught.value)


@pytest.mark.parametrize(
    ("scheme", "name"),
    [
        ("https", "example.com"),
        ("https", "intranet"),
        ("https", "localhost.example"),
        ("https", "128.0.0.1"),
        ("http", "localhost"),
        ("http", "127.0.0.1"),
        ("http", "[::1]"),
    ],
)
def test_a_host_with_a_port_misses_its_scheme(scheme: str, name: str) -> None:
    for start in ("", "//"):
        with pytest.raises(InvalidRequest) as caught:
            parse_url(f"{start}{name}:8080/a")
        assert f"has no scheme. Add {scheme}:// in front: {scheme}://{name}:8080/a" in str(caught.value)


@pytest.mark.parametrize("text", ["1", "[1]", "12", "[2026]"])
def test_a_citation_number_is_named_as_one(text: str) -> None:
    with pytest.raises(InvalidRequest, match=r"is a citation number, not an address. Pass the URL of that source\."):
        parse_url(text)


@pytest.mark.parametrize("text", ["/wiki/bm25", "C:\\a.pdf", r"\\server\a.pdf"])
def test_a_path_is_named_as_one(text: str) -> None:
    with pytest.raises(InvalidRequest, match=r"is a path without a host\. Pass https://, the host, and the path"):
        parse_url(text)


@pytest.mark.parametrize("name", ["example.com", "localhost"])
def test_a_host_with_a_colon_too(name: str) -> None:
    with pytest.raises(InvalidRequest, match="has no scheme"):
        parse_url(f"{name}:a")
    with pytest.raises(InvalidRequest, match=f"has the scheme {name}:"):
        parse_url(f"{name}://a")
