"""The small readers of requests: names, paths, headers, credentials, clients, failures."""

from __future__ import annotations

from contextlib import suppress
from typing import Any
from urllib.parse import unquote_to_bytes

import pytest
from hypothesis import given
from hypothesis import strategies as st

from groundwire.storage.memory import MemoryStore
from groundwire_server.auth.authentication import key_in, without_key
from groundwire_server.auth.error_response import safe_headers
from groundwire_server.auth.rate_limits import Failures, check_headers, check_path, declared_length
from groundwire_server.error_body import Failed
from groundwire_server.host_check import LOOPBACK, HostCheck

OURS = HostCheck.of("127.0.0.1")
WIDE = HostCheck.of("0.0.0.0", ("gw.example",))


@pytest.mark.parametrize(
    ("names", "host", "origin", "fault"),
    [
        (OURS, "127.0.0.1:8780", None, None),
        (OURS, "LOCALHOST", None, None),
        (OURS, "localhost.", None, None),
        (OURS, "[::1]:1", None, None),
        (OURS, None, None, "name"),
        (OURS, "", None, "name"),
        (OURS, "evil.example", None, "name"),
        (OURS, "127.0.0.1.evil.example", None, "name"),
        (OURS, "evil.example@127.0.0.1", None, "name"),
        (OURS, "127.0.0.1:80@evil.example", None, "name"),
        (OURS, "127.0.0.1, evil.example", None, "name"),
        (OURS, "127.0.0.1#evil", None, "name"),
        (OURS, "127.0.0.1/evil", None, "name"),
        (OURS, "10.0.0.1", None, "name"),
        (OURS, "[::1", None, "name"),
        (OURS, "localhost:8780", "http://localhost:8780", None),
        (OURS, "localhost:8780", "http://localhost:3000", "page"),
        (OURS, "localhost:8780", "http://127.0.0.1:8780", "page"),
        (OURS, "localhost:8780", "http://localhost:8780/", "page"),
        (OURS, "localhost:8780", "null", "page"),
        (OURS, "localhost:8780", "", "page"),
        (OURS, "localhost:8780", "http://evil@localhost:8780", "page"),
        (OURS, "localhost:8780", "file://localhost:8780", "page"),
        (WIDE, "10.1.2.3:8780", None, None),
        (WIDE, "gw.example", "https://gw.example", None),
        (WIDE, "GW.example", "https://gw.example:443", None),
        (WIDE, "gw.example", "http://gw.example:8080", "page"),
        (WIDE, "other.example", None, "name"),
        (HostCheck(None), "any.example", None, None),
        (HostCheck(None), "any.example", "http://other.example", "page"),
    ],
)
def test_names_and_pages(names: HostCheck, host: str | None, origin: str | None, fault: str | None) -> None:
    assert names.judge(host, origin) == fault


@given(st.text(max_size=40), st.none() | st.text(max_size=40))
def test_no_text_but_our_names_is_let_in(host: str, origin: str | None) -> None:
    if OURS.judge(host, origin) is None:
        name = host.lower().rpartition(":")[0] or host.lower()
        assert {host.lower().rstrip("."), name.strip("[]").rstrip(".")} & LOOPBACK
        assert origin is None or origin.partition("//")[2].lower().startswith(host.lower().partition(":")[0])


def scope(raw: bytes, query: bytes = b"") -> dict[str, Any]:
    return {"path": unquote_to_bytes(raw).decode("utf-8", "replace"), "raw_path": raw, "query_string": query}


@pytest.mark.parametrize(
    "raw", [b"/", b"/v1/search", b"/v1/sessions/a-b.c", b"/openai/v1/models/org%2Fname", b"/ui/", b"/%C3%A9"]
)
def test_paths_in_their_plain_form(raw: bytes) -> None:
    check_path(scope(raw))


@pytest.mark.parametrize(
    "raw",
    [
        b"",
        b"*",
        b"http://127.0.0.1/v1/search",
        b"//v1/search",
        b"/v1//search",
        b"/healthz/../v1/search",
        b"/healthz/..",
        b"/./v1",
        b"/%2e%2e/v1",
        b"/%2E%2e%2Fv1",
        b"/healthz%2F..%2Fv1",
        b"/%2f%2fv1",
        b"/%252e%252e/v1",
        b"/%255c",
        b"/v1\\search",
        b"/v1%5Csearch",
        b"/v1%00",
        b"/v1%0d%0aX: y",
        b"/v1%0A",
        b"/\x7f",
        b"/%ff",
        b"/%c0%ae%c0%ae/",
        b"/" + b"a" * 9_000,
    ],
)
def test_path_tricks(raw: bytes) -> None:
    with pytest.raises(Failed) as caught:
        check_path(scope(raw))
    assert caught.value.status in {400, 414}


@given(st.text(alphabet="ab./%25ef2cC0\\", max_size=24).map(lambda text: "/" + text))
def test_a_path_that_passes_is_the_same_decoded_again(text: str) -> None:
    raw = text.encode()
    try:
        check_path(scope(raw))
    except Failed:
        return
    once = unquote_to_bytes(raw)
    parts = once.split(b"/")
    assert not {b".", b".."} & set(parts)
    assert b"" not in parts[1:-1]
    again = unquote_to_bytes(once).split(b"/")
    assert not {b".", b".."} & set(again)
    assert len(again) == len(parts)


@given(st.lists(st.tuples(st.binary(max_size=12), st.binary(max_size=12)), max_size=8))
def test_any_headers_are_read_or_refused(headers: list[tuple[bytes, bytes]]) -> None:
    with suppress(Failed):
        declared_length(check_headers(headers))


@pytest.mark.parametrize(
    "headers",
    [
        [(b"host", b"a"), (b"Host", b"b")],
        [(b"authorization", b"Bearer a"), (b"authorization", b"Bearer b")],
        [(b"x-api-key", b"a"), (b"x-api-key", b"a")],
        [(b"content-length", b"3"), (b"content-length", b"3")],
        [(b"content-length", b"3"), (b"transfer-encoding", b"chunked")],
        [(b"origin", b"http://a"), (b"origin", b"http://b")],
        [(b"x-any", b"a\x00b")],
        [(b"x-any", b"a\rb")],
        [(b"a", b"b")] * 101,
    ],
)
def test_headers_that_mean_two_things(headers: list[tuple[bytes, bytes]]) -> None:
    with pytest.raises(Failed):
        check_headers(headers)


@pytest.mark.parametrize("length", ["-1", "+1", "1_0", "0x1", "1,1", " ", "9" * 30, "١"])
def test_lengths_that_are_none(length: str) -> None:
    with pytest.raises(Failed):
        declared_length({"content-length": length.encode("utf-8").decode("latin-1")})


@pytest.mark.parametrize(
    ("headers", "key"),
    [
        ({}, ""),
        ({"authorization": "Bearer gw_a"}, "gw_a"),
        ({"authorization": "bearer   gw_a "}, "gw_a"),
        ({"x-api-key": " gw_b "}, "gw_b"),
        ({"x-api-key": "gw_b", "authorization": "Bearer sk-model"}, "gw_b"),
        ({"authorization": "Basic ***"}, ""),
        ({"authorization": "gw_a"}, ""),
        ({"authorization": "Token gw_a"}, ""),
        ({"authorization": ""}, ""),
    ],
)
def test_where_a_key_stands(headers: dict[str, str], key: str) -> None:
    assert key_in(headers) == key


@given(st.text(max_size=40))
def test_any_authorization_can_be_read(text: str) -> None:
    key_in({"authorization": text})
    key_in({"authorization": f"Basic {text}"})


@pytest.mark.parametrize(
    ("given_", "left"),
    [
        ([(b"authorization", b"Bearer gw_a")], []),
        ([(b"x-api-key", b"gw_a"), (b"authorization", b"Bearer sk-m")], [(b"authorization", b"Bearer sk-m")]),
        ([(b"X-API-Key", b" gw_a"), (b"Authorization", b"bearer  gw_a")], []),
        ([(b"authorization", b"Bearer sk-m"), (b"x-api-key", b"sk-n")],) * 2,
    ],
)
def test_a_key_goes_no_further(given_: list[tuple[bytes, bytes]], left: list[tuple[bytes, bytes]]) -> None:
    assert without_key(given_) == left


async def test_wrong_keys_are_counted_by_address_over_all_servers_of_a_store() -> None:
    now = [0.0]
    store = MemoryStore(clock=lambda: now[0])
    one, other = (Failures(store, burst=3, interval=5.0) for _ in range(2))
    assert [await server.count("192.0.2.1") for server in (one, other, one, other)] == [0, 0, 0, 5]
    assert await one.count("192.0.2.2") == 0
    now[0] = 5.0
    assert await one.count("192.0.2.1") == 0
    assert [await one.count(f"2001:db8::{number}") for number in range(4)] == [0, 0, 0, 5]
    assert await one.count("2001:db8:0:1::1") == 0


def test_answers_are_closed_to_others() -> None:
    headers = safe_headers([(b"Access-Control-Allow-Origin", b"*"), (b"Content-Security-Policy", b"mine")])
    names = [name.lower() for name, _ in headers]
    assert not [name for name in names if name.startswith(b"access-control")]
    assert names.count(b"content-security-policy") == 1
    assert dict(headers)[b"x-content-type-options"] == b"nosniff"


@pytest.mark.parametrize(
    ("headers", "accepted"),
    [
        ([(b"x-a", b"1")] * 100, True),
        ([(b"x-a", b"1")] * 101, False),
        ([(b"x-a", b"v" * 32_765)], True),
        ([(b"x-a", b"v" * 32_766)], False),
        ([(b"n" * 32_768, b"")], True),
        ([(b"n" * 32_769, b"")], False),
        ([(b"x-a", b"v" * 16_381)] * 2, True),
        ([(b"x-a", b"v" * 16_381), (b"x-ab", b"v" * 16_381)], False),
    ],
)
def test_a_hundred_headers_of_32_kib_are_accepted(headers: list[tuple[bytes, bytes]], accepted: bool) -> None:
    if accepted:
        assert check_headers(headers) == {}
    else:
        with pytest.raises(Failed, match="at most 100 headers, 32,768 bytes") as caught:
            check_headers(headers)
        assert caught.value.status == 431


@pytest.mark.parametrize(
    ("headers", "status", "says"),
    [
        ([(b"host", b"a"), (b"Host", b"a")], 400, "Send the header host once."),
        ([(b"content-length", b"1"), (b"transfer-encoding", b"chunked")], 400, "Send Content-Length or Transfer-Encod"),
        ([(b"x-a", b"a\x00")], 400, "A header has a control character."),
        ([(b"x-a", b"a")] * 101, 431, "Send at most 100 headers"),
    ],
)
def test_what_headers_are_refused_with(headers: list[tuple[bytes, bytes]], status: int, says: str) -> None:
    with pytest.raises(Failed, match=says) as caught:
        check_headers(headers)
    assert caught.value.status == status


def test_what_lengths_and_paths_are_refused_with() -> None:
    with pytest.raises(Failed, match="Content-Length is not a number") as caught:
        declared_length({"content-length": "1x"})
    assert caught.value.status == 400
    with pytest.raises(Failed, match="8,192 bytes of URL") as caught:
        check_path({"path": f"/{'a' * 8_190}", "query_string": b"ab"})
    assert caught.value.status == 414
    check_path({"path": f"/{'a' * 8_190}", "query_string": b"a"})
    with pytest.raises(Failed, match="not normalized") as caught:
        check_path({"path": "/a//b"})
    assert caught.value.status == 400
    assert "/v1/pages" not in str(caught.value)
    with pytest.raises(Failed, match="to /v1/pages"):
        check_path({"path": "/https://a.test/page"})


@pytest.mark.parametrize(
    ("given", "length"),
    [((b"Content-Length", b"12"), 12), ((b"content-length", b"0"), 0), ((b"Transfer-Encoding", b"chunked"), None)],
)
def test_the_length_of_a_body_may_be_declared_or_not(given: tuple[bytes, bytes], length: int | None) -> None:
    headers = check_headers([given, (b"X-Other", b"1")])
    assert headers == {given[0].lower().decode(): given[1].decode()}
    assert declared_length(headers) == length
