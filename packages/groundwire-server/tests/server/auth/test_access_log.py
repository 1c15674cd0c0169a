"""The access log: a record for each request, which says whose it was, and the ID by which it is found again."""

from __future__ import annotations

import logging
from collections.abc import Callable
from typing import Any

import pytest

pytestmark = pytest.mark.req("B18")

Serve = Callable[..., Any]
Log = pytest.LogCaptureFixture


def lines(log: Log) -> list[dict[str, Any]]:
    return [vars(record) for record in log.records if record.name == "groundwire_server.access"]


@pytest.fixture
def log(caplog: Log) -> Log:
    caplog.set_level(logging.INFO)
    return caplog


async def test_a_line_says_whose_request_it_was_and_how_it_ended(serve: Serve, log: Log) -> None:
    gateway = await serve()
    key, record = gateway.record("ci", tenant="acme")
    answer = await gateway.ask("/v1/x?query=secret", key=key, method="POST", body=b"{}", X_Request_ID="call-7")
    (line,) = lines(log)
    assert answer.headers["x-request-id"] == "call-7"
    expected = {
        "request_id": "call-7",
        "method": "POST",
        "path": "/v1/x",
        "status": 200,
        "bytes": len(answer.body),
        "client": "127.0.0.1",
        "tenant": "acme",
        "key_id": record.id,
    }
    assert {name: line[name] for name in expected} == expected
    assert line["latency_ms"] >= 0
    assert "secret" not in str(line)


async def test_a_refusal_says_who_was_refused(serve: Serve, log: Log) -> None:
    gateway = await serve()
    key, record = gateway.record("ci", rate=60, burst=1)
    answers = [await gateway.ask("/x", key=key), await gateway.ask("/x", key=key), await gateway.ask("/x")]
    gateway.revoke("ci")
    answers += [await gateway.ask("/x", key=key), await gateway.ask("//x"), await gateway.ask("/x", Host="other")]
    of_key = (record.tenant, record.id)
    assert [(line["status"], line["code"], (line["tenant"], line["key_id"])) for line in lines(log)] == [
        (200, "", of_key),
        (429, "rate_limited", of_key),
        (401, "missing_key", ("", "")),
        (401, "revoked_key", of_key),
        (400, "bad_path", ("", "")),
        (421, "wrong_host", ("", "")),
    ]
    assert [line["request_id"] for line in lines(log)] == [answer.headers["x-request-id"] for answer in answers]
    assert len({answer.headers["x-request-id"] for answer in answers}) == 6


@pytest.mark.parametrize("given", ["", "x" * 129, "a b", "a%0Ab", "caf\xe9", 'a"b', "gw_abcdefgh_" + "x" * 43])
async def test_an_id_that_is_unsafe_is_replaced(serve: Serve, log: Log, given: str) -> None:
    gateway = await serve()
    answer = await gateway.ask("/x", X_Request_ID=given)
    (line,) = lines(log)
    assert line["request_id"] == answer.headers["x-request-id"]
    assert len(line["request_id"]) == 32


async def test_a_path_ends_no_line_and_adds_no_field(serve: Serve, log: Log) -> None:
    gateway = await serve()
    key = gateway.key()
    for path in ("/a%0Ab%20status=200", f"/{key}", "/" + "x" * 5_000):
        await gateway.ask(path, key=key)
    paths = [line["path"] for line in lines(log)]
    assert paths == ["/a%0Ab%20status=200", f"/{key[:12]}***", "/" + "x" * 499]


async def test_a_failure_of_the_servers_own_has_its_reason_there(serve: Serve, log: Log) -> None:
    await (await serve()).ask("/broken")
    reason, line = lines(log)
    assert (str(reason["exc_info"][1]), reason["request_id"], line["status"]) == ("a bug", line["request_id"], 500)


async def test_it_can_be_off(serve: Serve, log: Log) -> None:
    gateway = await serve(access_log=False)
    assert len((await gateway.ask("/x")).headers["x-request-id"]) == 32
    assert lines(log) == []


async def test_a_key_that_is_created_or_revoked_is_audited(serve: Serve, log: Log) -> None:
    gateway = await serve()
    await gateway.ask("/x")
    key, record = gateway.record("ci", tenant="acme")
    await gateway.ask("/x", key=key)
    gateway.clock.now += 1
    await gateway.ask("/x", key=key)
    gateway.revoke(record.id)
    await gateway.ask("/x", key=key)
    said = [vars(one) for one in log.records if one.name == "groundwire_server.audit"]
    by_command = [line for line in said if "uid" in line]
    by_gateway = [line for line in said if "uid" not in line]
    for audit in (by_command, by_gateway):
        assert [line["action"] for line in audit] == ["created", "revoked"]
        assert {line["key_id"] for line in audit} == {record.id}
        assert {(line["tenant"], line["key_name"]) for line in audit} == {("acme", "ci")}
    assert key.rpartition("_")[2] not in str(said)
    assert record.digest not in str(said)
