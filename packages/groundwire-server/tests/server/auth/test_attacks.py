"""The attack list, over real connections: nothing gets in, and nothing stays."""

from __future__ import annotations

import asyncio
import json
import logging
from collections.abc import Callable
from datetime import UTC, datetime, timedelta
from typing import Any

import pytest

from groundwire.errors import ConfigurationError
from groundwire.settings import Settings
from groundwire_server.auth import check_listening
from groundwire_server.auth.keys import KeyFile

Serve = Callable[..., Any]


async def test_on_loopback_without_keys_everybody_here_may_ask(serve: Serve) -> None:
    gateway = await serve()
    answer = await gateway.ask("/x", Authorization="Bearer sk-for-the-model-server")
    assert answer.status == 200
    assert answer.json["tenant"] is None
    assert answer.json["authorization"] == "Bearer sk-for-the-model-server"


async def test_the_first_key_closes_the_door(serve: Serve) -> None:
    gateway = await serve()
    assert (await gateway.ask("/x")).status == 200
    key = gateway.key()
    refused = await gateway.ask("/x")
    assert (refused.status, refused.code) == (401, "missing_key")
    assert refused.headers["www-authenticate"] == 'Bearer realm="groundwire"'
    gateway.revoke("ci")
    revoked = await gateway.ask("/x", key=key)
    assert (revoked.status, revoked.code) == (401, "revoked_key")
    assert (await gateway.ask("/x")).status == 401  # the last key is gone, the door stays closed


async def test_a_key_in_the_two_headers(serve: Serve) -> None:
    gateway = await serve(require_key=True)
    key, record = gateway.record()
    for headers in ({"Authorization": f"Bearer {key}"}, {"X_API_Key": key}):
        answer = await gateway.ask("/x", **headers)
        assert answer.json["tenant"] == record.id
        assert not {"authorization", "x-api-key"} & set(answer.json["headers"])


async def test_a_key_for_the_gateway_beside_one_for_the_model_server(serve: Serve) -> None:
    gateway = await serve()
    key = gateway.key()
    answer = await gateway.ask("/x", X_API_Key=key, Authorization="Bearer sk-model")
    assert answer.json["authorization"] == "Bearer sk-model"


async def test_wrong_expired_and_misplaced_keys(serve: Serve) -> None:
    gateway = await serve()
    key = gateway.key()
    old = gateway.key("old", expires=datetime.now(UTC) - timedelta(seconds=1))
    for wrong, code in ((key[:-1] + ("a" if key[-1] != "a" else "b"), "wrong_key"), (old, "expired_key")):
        answer = await gateway.ask("/x", key=wrong)
        assert (answer.status, answer.code) == (401, code)
        assert 'error="invalid_token"' in answer.headers["www-authenticate"]
        gateway.clock.now += 100
    for path in (f"/x?key={key}", f"/x?api_key={key}", f"/x?access_token={key}"):
        assert (await gateway.ask(path)).status == 401
    for headers in ({"Cookie": f"key={key}"}, {"Authorization": key}, {"Authorization": f"Token {key}"}):
        assert (await gateway.ask("/x", **headers)).status == 401
    assert gateway.echo.seen == []


async def test_guessing_is_slowed_and_those_who_have_a_key_are_not(serve: Serve) -> None:
    gateway = await serve()
    key, late = gateway.key(), gateway.key("late")
    guess = key[:20] + "x" * 35
    assert [(await gateway.ask("/x", key=guess)).status for _ in range(5)] == [401, 401, 401, 429, 429]
    assert (await gateway.ask("/x", key=late)).status == 200, "wrong keys lock out no right one, not even a new one"
    slowed = await gateway.ask("/x", key=guess)
    assert (slowed.status, slowed.code) == (429, "too_many_wrong_keys")
    assert slowed.headers["retry-after"] == "5"
    assert (await gateway.ask("/x", key=key)).status == 200
    gateway.clock.now += 5
    assert (await gateway.ask("/x", key=guess)).status == 401


@pytest.mark.parametrize(
    ("headers", "status"),
    [
        ({"Host": "evil.example"}, 421),
        ({"Host": "127.0.0.1.evil.example"}, 421),
        ({"Host": "evil@127.0.0.1"}, 421),
        ({"Origin": "https://evil.example"}, 403),
        ({"Origin": "null"}, 403),
        ({"Origin": "http://127.0.0.1:1"}, 403),
        ({"Sec_Fetch_Site": "cross-site", "Sec_Fetch_Mode": "no-cors", "Sec_Fetch_Dest": "image"}, 403),
        ({"Sec_Fetch_Site": "same-site"}, 403),
        ({"Access_Control_Request_Method": "POST"}, 403),
    ],
)
async def test_pages_of_others_and_names_that_are_not_ours(serve: Serve, headers: dict[str, str], status: int) -> None:
    gateway = await serve()
    for key in ("", gateway.key()):
        for path in ("/x", "/healthz"):
            for method in ("GET", "OPTIONS"):
                answer = await gateway.ask(path, method=method, key=key, **headers)
                assert answer.status == status
                assert not [name for name in answer.headers if name.startswith("access-control")]
                assert "evil" not in answer.body.decode()
    assert gateway.echo.seen == []


async def test_a_link_to_our_page_is_followed_but_asks_for_nothing(serve: Serve) -> None:
    gateway = await serve()
    link = {"Sec_Fetch_Site": "cross-site", "Sec_Fetch_Mode": "navigate", "Sec_Fetch_Dest": "document"}
    assert (await gateway.ask("/", **link)).status == 200
    assert (await gateway.ask("/?q=spend", **link)).status == 403
    assert (await gateway.ask("/", method="POST", **link)).status == 403
    framed = link | {"Sec_Fetch_Dest": "iframe"}
    assert (await gateway.ask("/", **framed)).status == 403


async def test_answers_are_safe_in_browsers(serve: Serve) -> None:
    gateway = await serve()
    for answer in (await gateway.ask("/x"), await gateway.ask("/x", Host="evil.example")):
        assert answer.headers["x-content-type-options"] == "nosniff"
        assert answer.headers["x-frame-options"] == "DENY"
        assert "default-src 'none'" in answer.headers["content-security-policy"]
        assert "access-control-allow-origin" not in answer.headers  # which the application did send


@pytest.mark.parametrize(
    "path",
    [
        "//x",
        "/a//x",
        "/healthz/../x",
        "/healthz/%2e%2e/x",
        "/healthz%2f..%2fx",
        "/a/./x",
        "/%252e%252e/x",
        "/a%5c..%5cx",
    ],
)
async def test_paths_that_mean_two_things(serve: Serve, path: str) -> None:
    gateway = await serve()
    gateway.key()
    assert (await gateway.ask(path)).status == 400
    assert gateway.echo.seen == []


async def test_probes_need_no_key_and_only_they(serve: Serve) -> None:
    gateway = await serve(require_key=True)
    assert (await gateway.ask("/healthz")).status == 200
    assert (await gateway.ask("/readyz")).status == 200
    assert (await gateway.raw(b"GET /healthz HTTP/1.0\r\n\r\n")).status == 200
    assert (await gateway.raw(b"GET /x HTTP/1.0\r\n\r\n")).status == 421
    for path in ("/healthz/", "/healthz/x", "/HEALTHZ", "/healthz%2fx", "/healthzz", "/healthz;x"):
        assert (await gateway.ask(path)).status == 401


async def test_other_protocols_do_not_get_past(serve: Serve) -> None:
    gateway = await serve()
    sent: list[Any] = []

    async def send(message: Any) -> None:
        sent.append(message)

    async def receive() -> Any:
        return {"type": "websocket.connect"}

    await gateway.access({"type": "websocket", "path": "/x", "headers": []}, receive, send)
    assert sent == [{"type": "websocket.close", "code": 1008}]
    upgrade = "Host: 127.0.0.1\r\nConnection: Upgrade, HTTP2-Settings\r\nUpgrade: h2c\r\nHTTP2-Settings: AAAA"
    assert (
        await gateway.raw(f"GET /x HTTP/1.1\r\n{upgrade}\r\n\r\n".encode(), close=False)
    ).status == 200  # as HTTP/1.1
    assert (await gateway.raw(b"PRI * HTTP/2.0\r\n\r\nSM\r\n\r\n")).status == 400
    assert (await gateway.raw(b"CONNECT evil.example:443 HTTP/1.1\r\nHost: 127.0.0.1\r\n\r\n")).status == 400


async def test_what_concerns_everybody_is_for_operators(serve: Serve) -> None:
    gateway = await serve()
    usual, (operators, _) = gateway.key(), gateway.record("ops", operator=True)
    for path in ("/metrics", "/metrics/", "/metrics/x", "/%6detrics"):
        assert (await gateway.ask(path, key=usual)).status == 403
        assert (await gateway.ask(path, key=operators)).status == 200
    assert (await gateway.ask("/metricsx", key=usual)).status == 200


@pytest.mark.parametrize(
    "lines",
    [
        "Host: 127.0.0.1\r\nHost: evil.example",
        "Host: 127.0.0.1\r\nContent-Length: 5\r\nTransfer-Encoding: chunked",
        "Host: 127.0.0.1\r\nContent-Length: 5\r\nContent-Length: 6",
        "Host: 127.0.0.1\r\nContent-Length: -5",
        "Host: 127.0.0.1\r\nContent-Length: 5, 6",
        "Host: 127.0.0.1\r\nTransfer-Encoding: chunked, identity",
        "Host: 127.0.0.1\r\nTransfer-Encoding: chunked\r\nTransfer-Encoding: identity",
        "Host: 127.0.0.1\r\nTransfer-Encoding : chunked",
        "Host: 127.0.0.1\r\nAuthorization: Bearer a\r\nAuthorization: Bearer b",
        "Host: 127.0.0.1\r\nX-API-Key: a\r\nX-Api-Key: b",
        "Host: 127.0.0.1\r\nX-Any: a\x00b",
        "Host: 127.0.0.1\r\nX-Any: a\rX-API-Key: b",
        "Host: 127.0.0.1\r\nX Any: a",
        "Host: 127.0.0.1\r\n: a",
        "Host: 127.0.0.1\r\n" + "\r\n".join(f"X-{number}: a" for number in range(200)),
        "Host: 127.0.0.1\r\nX-Any: " + "a" * 70_000,
        "X-Any: no host",
    ],
)
async def test_heads_that_mean_two_things(serve: Serve, lines: str) -> None:
    gateway = await serve()
    answer = await gateway.raw(f"POST /x HTTP/1.1\r\n{lines}\r\n\r\n0\r\n\r\n".encode("latin-1"), close=False)
    assert 400 <= answer.status < 500 or answer.status == 501
    assert gateway.echo.seen == []


async def test_a_second_request_cannot_hide_in_the_body_of_the_first(serve: Serve) -> None:
    gateway = await serve()
    key = gateway.key()
    hidden = b"GET /smuggled HTTP/1.1\r\nHost: 127.0.0.1\r\n\r\n"
    head = f"POST /x HTTP/1.1\r\nHost: 127.0.0.1\r\nAuthorization: Bearer {key}\r\n"
    sized = head + f"Content-Length: {len(hidden)}\r\nTransfer-Encoding: chunked\r\n\r\n0\r\n\r\n"
    await gateway.raw(sized.encode() + hidden, close=False)
    chunked = head + "Transfer-Encoding: chunked\r\n\r\n0\r\n\r\n"
    await gateway.raw(chunked.encode() + hidden, close=False)  # a request of its own, and without a key
    assert gateway.echo.seen == ["/x"]


@pytest.mark.parametrize("path", ["/x", "/deaf"])
async def test_a_body_that_says_it_is_too_large(serve: Serve, path: str) -> None:
    gateway = await serve(max_body_bytes=1_000)
    answer = await gateway.ask(path, method="POST", body=b"x" * 1_001)
    assert (answer.status, answer.code) == (413, "body_too_large")
    assert gateway.echo.seen == []
    assert (await gateway.ask(path, method="POST", body=b"x" * 1_000)).status == 200
    assert (await gateway.ask("/larger/x", method="POST", body=b"x" * 100_000)).json["size"] == 100_000
    assert (await gateway.ask("/largerx", method="POST", body=b"x" * 100_000)).status == 413


async def test_a_body_that_turns_out_to_be_too_large(serve: Serve) -> None:
    gateway = await serve(max_body_bytes=100_000)
    piece = b"ffff\r\n" + b"x" * 0xFFFF + b"\r\n"
    head = b"POST /x HTTP/1.1\r\nHost: 127.0.0.1\r\nTransfer-Encoding: chunked\r\n\r\n"
    answer = await gateway.raw(head + piece * 20 + b"0\r\n\r\n", close=False)
    assert (answer.status, answer.code) == (413, "body_too_large")
    assert answer.headers["connection"] == "close"
    await gateway.echo.ended.wait()


async def test_a_body_that_does_not_come(serve: Serve) -> None:
    gateway = await serve(body_timeout=0.05)
    head = b"POST /x HTTP/1.1\r\nHost: 127.0.0.1\r\nContent-Length: 10\r\n\r\nabc"
    answer = await gateway.raw(head, close=False)
    assert (answer.status, answer.code) == (408, "body_too_slow")
    await gateway.echo.ended.wait()


async def test_a_body_that_drips(serve: Serve) -> None:
    gateway = await serve(body_timeout=2.0)
    reader, writer = await asyncio.open_connection("127.0.0.1", gateway.port)
    writer.write(b"POST /x HTTP/1.1\r\nHost: 127.0.0.1\r\nContent-Length: 100000\r\n\r\n")
    dripped = 0
    answered = asyncio.create_task(reader.readuntil(b"\r\n\r\n"))
    while not answered.done() and dripped < 200:
        writer.write(b"x")
        dripped += 1
        await asyncio.wait({answered}, timeout=0.02)
    assert 0 < dripped < 200
    assert b" 408 " in await answered
    writer.close()


async def test_a_process_takes_no_more_than_it_can(serve: Serve) -> None:
    gateway = await serve(max_concurrent_requests=1)
    first = asyncio.create_task(gateway.ask("/wait"))
    await gateway.echo.entered.wait()
    busy = await gateway.ask("/x")
    assert (busy.status, busy.code, busy.headers["retry-after"]) == (429, "busy", "1")
    assert (await gateway.ask("/healthz")).status == 200
    gateway.echo.go.set()
    assert (await first).status == 200
    assert (await gateway.ask("/x")).status == 200


async def test_a_key_has_a_rate_and_is_told_when_to_come_again(serve: Serve) -> None:
    gateway = await serve(requests_per_minute=6_000, burst=2)
    own = gateway.key("own", rate=60, burst=3)
    answers = [await gateway.ask("/x", key=own) for _ in range(4)]
    assert [answer.status for answer in answers] == [200, 200, 200, 429]
    assert answers[3].headers["retry-after"] == "1"
    assert answers[3].code == "rate_limited"


async def test_a_stream_ends_when_its_key_is_revoked(serve: Serve) -> None:
    gateway = await serve()
    key = gateway.key()
    reader, writer = await asyncio.open_connection("127.0.0.1", gateway.port)
    writer.write(f"GET /stream HTTP/1.1\r\nHost: 127.0.0.1\r\nAuthorization: Bearer {key}\r\n\r\n".encode())
    await reader.readuntil(b"tick\n")
    gateway.echo.go.set()
    await reader.readuntil(b"tick\n")
    gateway.revoke("ci")
    gateway.echo.go.set()
    async with asyncio.timeout(100):
        assert b"tick" not in await reader.read()
    await gateway.echo.ended.wait()
    writer.close()


async def test_a_key_file_that_breaks_lets_nobody_in_and_says_so(
    serve: Serve, caplog: pytest.LogCaptureFixture
) -> None:
    gateway = await serve()
    key = gateway.key()
    gateway.keys.path.write_text("{")
    gateway.clock.now += 1
    answer = await gateway.ask("/x", key=key)
    assert (answer.status, answer.code) == (503, "no_keys")
    assert str(gateway.keys.path) not in answer.body.decode()
    assert str(gateway.keys.path) in caplog.text
    assert gateway.echo.seen == []


async def test_no_key_is_in_logs_and_errors(serve: Serve, caplog: pytest.LogCaptureFixture) -> None:
    caplog.set_level(logging.DEBUG)
    gateway = await serve(max_body_bytes=1_000)
    key = gateway.key(rate=60, burst=4)
    bodies = [
        await gateway.ask("/x", key=key),
        await gateway.ask("/x", key=key, method="POST", body=b"x" * 2_000),
        await gateway.ask("/metrics", key=key),
        await gateway.ask("//x", key=key),
        await gateway.ask("/x", key=key, Host=key),
        await gateway.ask("/x", key=key, Origin=f"https://{key}"),
        await gateway.ask(f"/{key}", key=key + "x"),
        *[await gateway.ask("/x", X_API_Key=key, Authorization=f"Bearer {key}") for _ in range(5)],
    ]
    gateway.revoke("ci")
    bodies.append(await gateway.ask("/x", key=key))
    assert {answer.status for answer in bodies} >= {200, 400, 401, 403, 413, 421, 429}
    secret = key.rpartition("_")[2]
    said = caplog.text + json.dumps([[answer.headers, answer.body.decode()] for answer in bodies])
    assert secret not in said
    assert secret not in repr(vars(gateway.access))
    assert secret.encode() not in gateway.keys.path.read_bytes()


async def test_beyond_loopback_a_key_is_always_asked_for(serve: Serve) -> None:
    gateway = await serve(host="0.0.0.0")
    assert (await gateway.ask("/x")).status == 401
    assert (await gateway.ask("/x", key=gateway.key())).status == 200
    named = await serve(host="0.0.0.0", allowed_hosts=["gw.example"])
    key = named.made[0] if named.made else gateway.made[0]
    assert (await named.ask("/x", key=key, Host="gw.example")).status == 200
    assert (await named.ask("/x", key=key, Host="other.example")).status == 421


def test_it_refuses_to_listen_beyond_loopback_without_a_usable_key(tmp_path: Any) -> None:
    from groundwire_server.auth.keys import make_key

    now = datetime.now(UTC)
    keys = KeyFile(tmp_path / "keys.json")
    for host in ("0.0.0.0", "::", "192.0.2.1", "gw.example"):
        with pytest.raises(ConfigurationError, match="groundwire keys create"):
            check_listening(Settings(), keys, host=host)
    for host in ("127.0.0.1", "localhost", "::1", "127.8.8.8"):
        check_listening(Settings(), keys, host=host)
    with pytest.raises(ConfigurationError):
        check_listening(Settings.model_validate({"server": {"require_key": True}}), keys)
    KeyFile(keys.path).add(make_key("old", now, expires=now - timedelta(days=1))[1])
    with pytest.raises(ConfigurationError):
        check_listening(Settings(), KeyFile(keys.path), host="0.0.0.0")
    KeyFile(keys.path).add(make_key("new", now)[1])
    check_listening(Settings(), KeyFile(keys.path), host="0.0.0.0")


@pytest.mark.parametrize("coding", ["gzip", "GZIP", "br", "identity, gzip", "x"])
async def test_a_compressed_body_is_not_read_as_if_it_were_plain(serve: Serve, coding: str) -> None:
    gateway = await serve()
    answer = await gateway.ask("/x", method="POST", body=b"\x1f\x8b", Content_Encoding=coding)
    assert (answer.status, answer.code) == (415, "encoded_body")
    assert answer.headers["accept-encoding"] == "identity"
    assert "uncompressed" in answer.json["error"]["message"]
    assert gateway.echo.seen == []


async def test_a_plain_body_may_be_called_so(serve: Serve) -> None:
    gateway = await serve()
    assert (await gateway.ask("/x", method="POST", body=b"{}", Content_Encoding="Identity")).status == 200
    assert (await gateway.ask("/x", Content_Encoding="gzip")).status == 200  # it has no body
