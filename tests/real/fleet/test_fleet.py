"""Three gateways behind a load balancer are one: what is lost with one, what a session may use, who is asked when."""

from __future__ import annotations

import asyncio
import json
from collections import Counter
from collections.abc import Mapping

import aiohttp
import pytest

from components.gateways import Load
from components.held import Held
from real.fleet.conftest import Fleet

pytestmark = pytest.mark.timeout(600)  # the three gateways may take a while to start on a busy machine

_CLIENTS = 24
_HELD = 12
_REQUESTS = 200
_ENDED_BY_SIGTERM = 128 + 15


@pytest.mark.req("B6", "B20", "Y8")
async def test_a_gateway_that_is_killed_takes_with_it_only_what_it_held(fleet: Fleet) -> None:
    held = Held()
    fleet.tavily.fail(held.fault, times=_HELD)
    load = Load(fleet.balancer.url, clients=_CLIENTS, name="k", sessions=(None, "team"))
    running = asyncio.create_task(load.run(_REQUESTS))
    await asyncio.to_thread(fleet.tavily.wait_for_requests, _HELD + 20)
    await asyncio.to_thread(fleet.gateways[1].kill)
    await load.answered(40)
    held.release()
    answers = await running

    log = await asyncio.to_thread(fleet.balancer.log, [answer.id for answer in answers])
    lost = [answer for answer in answers if answer.status not in (200, 402)]
    assert len(answers) == _REQUESTS
    assert 0 < len(lost) < _CLIENTS
    assert {(log[one.id].server, log[one.id].ended) for one in lost} <= {("gateway-2", "SH"), ("gateway-2", "SD")}

    asked = _asked(fleet)
    twice = {id_: log[id_] for id_, times in asked.items() if times > 1}
    assert not twice  # nothing is tried again that may have been paid for
    found = {answer.id for answer in answers if answer.status == 200}
    assert found <= set(asked) <= found | {one.id for one in lost}

    paid = {answer.id for answer in answers if answer.session == "team"} & set(asked)
    lost_paid = [one for one in lost if one.session == "team"]
    assert await _spent(fleet, "team") == fleet.limit
    assert fleet.limit - len(lost_paid) <= len(paid) <= fleet.limit
    refused = [answer for answer in answers if answer.status == 402]
    assert len(refused) == _REQUESTS // 2 - len([one for one in found if one in paid]) - len(lost_paid)
    assert {answer.body["error"]["code"] for answer in refused} == {"budget_exceeded"}

    # The earliest moment that the pace allows: a slow machine only makes it later.
    moments = [request.at for request in fleet.tavily.requests]
    assert len(moments) > 100
    assert all(at >= load.began + turn * fleet.interval for turn, at in enumerate(sorted(moments)))


@pytest.mark.req("B20", "Y8")
async def test_a_budget_that_nobody_is_killed_under_is_spent_to_the_last_search(fleet: Fleet) -> None:
    load = Load(fleet.balancer.url, clients=_CLIENTS, name="b", sessions=("exact",))
    answers = await load.run(3 * fleet.limit)
    assert load.statuses() == {200: fleet.limit, 402: 2 * fleet.limit}
    assert sorted(_asked(fleet)) == sorted(answer.id for answer in answers if answer.status == 200)
    log = await asyncio.to_thread(fleet.balancer.log, [answer.id for answer in answers])
    assert {one.server for one in log.values()} == {"gateway-1", "gateway-2", "gateway-3"}


@pytest.mark.req("B20", "Y8")
async def test_no_request_is_lost_while_one_gateway_after_the_other_is_replaced(fleet: Fleet) -> None:
    load = Load(fleet.balancer.url, clients=_CLIENTS, name="r")
    running = asyncio.create_task(load.run())
    try:
        for gateway in fleet.gateways:
            await load.answered(_CLIENTS)
            assert await asyncio.to_thread(gateway.end) == _ENDED_BY_SIGTERM, gateway.log
            gateway.launch()
            await asyncio.to_thread(gateway.wait)
            await asyncio.to_thread(fleet.balancer.wait_until_up, 3)
    finally:
        load.stop()
        answers = await running
    assert load.statuses() == {200: len(answers)}
    assert _asked(fleet) == Counter(answer.id for answer in answers)


@pytest.mark.req("B20", "Y8")
async def test_the_gateways_answer_while_their_store_is_away_and_share_it_again_when_it_is_back(fleet: Fleet) -> None:
    load = Load(fleet.balancer.url, clients=_CLIENTS, name="s")
    running = asyncio.create_task(load.run())
    try:
        await load.answered(_CLIENTS)
        await asyncio.to_thread(fleet.valkey.stop)
        await asyncio.to_thread(fleet.balancer.wait_until_up, 0)
        await load.answered(2 * _CLIENTS)
        await asyncio.to_thread(fleet.valkey.restart)
        await asyncio.to_thread(fleet.balancer.wait_until_up, 3)
        await load.answered(_CLIENTS)
    finally:
        load.stop()
        answers = await running
    assert load.statuses() == {200: len(answers)}
    log = await asyncio.to_thread(fleet.balancer.log, [answer.id for answer in answers])
    assert {one.backend for one in log.values()} == {"ready", "alive"}
    again = Load(fleet.balancer.url, clients=_CLIENTS, name="t", sessions=("again",))
    await again.run(2 * fleet.limit)
    assert again.statuses() == {200: fleet.limit, 402: fleet.limit}


@pytest.mark.req("Y8")
async def test_a_session_of_an_older_mcp_stays_with_the_gateway_that_began_it(fleet: Fleet) -> None:
    async with aiohttp.ClientSession(fleet.balancer.url) as http:
        for client in range(6):
            hello = {
                "protocolVersion": "2025-06-18",
                "capabilities": {},
                "clientInfo": {"name": "one of many", "version": "1"},
            }
            status, headers = await _rpc(http, f"m{client}-0", "initialize", hello)
            assert status == 200
            session = {"Mcp-Session-Id": headers["Mcp-Session-Id"], "MCP-Protocol-Version": "2025-06-18"}
            for number in range(1, 6):
                status, _ = await _rpc(http, f"m{client}-{number}", "tools/list", {}, session)
                assert status == 200
    log = await asyncio.to_thread(
        fleet.balancer.log, [f"m{client}-{number}" for client in range(6) for number in range(6)]
    )
    by_client = [{log[f"m{client}-{number}"].server for number in range(6)} for client in range(6)]
    assert all(len(servers) == 1 for servers in by_client)
    assert len(set.union(*by_client)) > 1


async def _rpc(
    http: aiohttp.ClientSession, id_: str, method: str, params: object, headers: Mapping[str, str] | None = None
) -> tuple[int, Mapping[str, str]]:
    """Make one call of MCP and return its status and headers."""
    accepted = {"Accept": "application/json, text/event-stream", "X-Request-ID": id_, **(headers or {})}
    asked = {"jsonrpc": "2.0", "id": 1, "method": method, "params": params}
    async with http.post("/mcp", json=asked, headers=accepted) as response:
        await response.read()
        return response.status, response.headers


def _asked(fleet: Fleet) -> Counter[str]:
    """Return how often the provider was asked for each request."""
    return Counter(json.loads(request.body)["query"].split()[-1] for request in fleet.tavily.requests)


async def _spent(fleet: Fleet, session: str) -> int:
    async with aiohttp.ClientSession(fleet.balancer.url) as http, http.get(f"/v1/sessions/{session}") as response:
        assert response.status == 200, await response.text()
        return int((await response.json())["searches"])
