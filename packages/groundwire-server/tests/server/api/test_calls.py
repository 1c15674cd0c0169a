"""Searching, reading and checking through the gateway, over HTTP."""

from __future__ import annotations

import asyncio
import json
import sqlite3
from collections.abc import Callable
from contextlib import closing
from datetime import UTC, datetime
from pathlib import Path
from typing import Any

import aiohttp
import pytest

from groundwire import Settings
from groundwire.errors import Closed
from groundwire.testing.fault_injection import InjectedFault
from groundwire.testing.http_messages import Recorded
from groundwire.testing.model_apis import Say, quoting
from groundwire_server.api import build_gateway
from groundwire_server.auth.keys import KeyFile, make_key
from groundwire_server.uvicorn_runner import serving
from world import World
from world.model_apis import ModelServer

QUERY = {"query": "reciprocal rank fusion"}


async def post(client: aiohttp.ClientSession, path: str, body: Any, **options: Any) -> tuple[int, Any]:
    async with client.post(path, json=body, **options) as response:
        assert response.headers["Content-Type"] == "application/json"
        return response.status, await response.json()


async def get(client: aiohttp.ClientSession, path: str) -> tuple[int, Any]:
    async with client.get(path) as response:
        return response.status, await response.json()


async def events(
    client: aiohttp.ClientSession, path: str, body: Any, accept: str = "text/event-stream"
) -> list[tuple[str, Any]]:
    async with client.post(path, json=body, headers={"Accept": accept}) as response:
        assert response.headers["Content-Type"].startswith("text/event-stream")
        return read_events(await response.text())


def read_events(text: str) -> list[tuple[str, Any]]:
    pieces = [piece.split("\n") for piece in text.split("\n\n") if piece and not piece.startswith(":")]  # comments
    return [(name.removeprefix("event: "), json.loads(data.removeprefix("data: "))) for name, data in pieces]


@pytest.mark.req("B18")
async def test_searching(gateway: Any) -> None:
    client = await (await gateway()).client()
    status, body = await post(client, "/v1/search", QUERY | {"limit": 2, "time_range": "all"})
    assert (status, body["provider"], len(body["results"])) == (200, "searxng", 2)
    assert [row["citation_id"] for row in body["results"]] == [1, 2]
    assert body["attempts"][0]["outcome"] == "ok"


async def test_a_domain_may_have_any_letter_or_sign_that_a_registry_takes(gateway: Any) -> None:
    client = await (await gateway()).client()
    for domain, status in (("💩.la", 200), ("*.i❤.ws", 200), ("münchen.de", 200), ("a b.de", 400), ("a.de/b", 400)):
        assert (await post(client, "/v1/search", QUERY | {"allowed_domains": [domain]}))[0] == status, domain


async def test_names_of_other_apis_are_told_the_right_member(gateway: Any) -> None:
    client = await (await gateway()).client()
    for path, given, hint in (
        ("/v1/search", QUERY | {"max_results": 2}, "max_results: is unknown; did you mean 'limit'?"),
        ("/v1/search", QUERY | {"excludeDomains": ["a.test"]}, "did you mean 'blocked_domains'?"),
        ("/v1/search", QUERY | {"search_depth": "advanced"}, "search_depth: is unknown; a search is as deep as"),
        ("/v1/pages", {"url": "https://a.test/", "max_chars": 300}, "did you mean 'max_length'?"),
        ("/v1/pages", {"link": "https://a.test/"}, "did you mean 'url'?"),
        ("/v1/ask", {"q": "bm25"}, "did you mean 'question'?"),
    ):
        status, said = await post(client, path, given)
        assert (status, said["error"]["code"]) == (400, "invalid_request")
        assert hint in said["error"]["message"]


async def test_names_of_other_apis_are_taken_at_their_paths(gateway: Any) -> None:
    client = await (await gateway()).client()
    status, body = await post(client, "/v2/search", {"query": "reciprocal rank fusion", "limit": 2, "tbs": "qdr:y"})
    assert (status, len(body["data"]["web"])) == (200, 2)
    link = {"urls": [body["data"]["web"][0]["url"]], "extract_depth": "advanced"}
    status, said = await post(client, "/extract", link)
    assert (status, len(said["results"])) == (200, 1)
    assert "extract_depth has no effect: pages are always Markdown" in said["results"][0]["warnings"]
    status, said = await post(client, "/v2/scrape", {"link": link["urls"][0], "url": link["urls"][0]})
    assert (status, said["field"]) == (400, "link")  # which of the two is meant nobody can know


async def test_what_is_wrong_is_said(gateway: Any) -> None:
    client = await (await gateway()).client()
    for body, field in (
        ({}, "query"),
        ({"query": "  "}, "query"),
        ({"query": 5}, "query"),
        (QUERY | {"limit": 51}, "limit"),
        (QUERY | {"limit": "5"}, "limit"),
        (QUERY | {"color": "red"}, "color"),
        (QUERY | {"published_after": "2026-02-02", "published_before": "2026-01-01"}, "published_before"),
        (QUERY | {"published_after": "0"}, "published_after"),
        (QUERY | {"published_before": 5e-324}, "published_before"),
        (QUERY | {"published_before": "1e-5"}, "published_before"),
        (
            QUERY | {"published_before": "2.07e-168"},
            "published_before",
        ),  # so little that it would be the first second of 1970
        (QUERY | {"session": "../x"}, "session"),
        (QUERY | {"timeout": 0.5}, "timeout"),
    ):
        status, said = await post(client, "/v1/search", body)
        assert (status, said["error"]["code"]) == (400, "invalid_request")
        assert said["error"]["field"] == field, body
        assert field in said["error"]["message"]
    misspelled = await post(client, "/v1/search", QUERY | {"limt": 3})
    assert misspelled[1]["error"]["message"] == "limt: is unknown; did you mean 'limit'?"
    async with client.post("/v1/search", data="{", headers={"Content-Type": "application/json"}) as response:
        assert (response.status, (await response.json())["error"]["code"]) == (400, "invalid_json")
    async with client.post("/v1/search", data="{}") as response:
        assert (response.status, (await response.json())["error"]["code"]) == (415, "not_json")
    status, said = await get(client, "/v1/verify")
    assert (status, said["error"]["code"]) == (405, "wrong_method")
    status, said = await get(client, "/v1/nothing")
    assert (status, said["error"]["code"]) == (404, "no_such_path")
    for base in ("/v1", "/openai/v1"):  # as clients of OpenAI are set up
        status, said = await get(client, f"{base}/models")
        assert (status, "no model server is connected" in said["error"]["message"]) == (404, True)


@pytest.mark.req("B1")
async def test_nothing_found_is_no_failure_and_a_failure_is_not_nothing(gateway: Any, world: World) -> None:
    client = await (await gateway()).client()
    status, body = await post(client, "/v1/search", {"query": "zzyzx qwrtp vbnmk"})
    assert (status, body["results"]) == (200, [])
    for fault, expected in (
        (InjectedFault.status(500), 502),
        (InjectedFault.status(429, headers={"Retry-After": "700"}), 503),
    ):
        word = f"fusion{expected}"
        world.searxng.fail(fault, times=10, when=lambda request, word=word: word in request.params["q"])  # type: ignore[misc]
        async with client.post("/v1/search", json={"query": word, "timeout": 60}) as response:
            said = (await response.json())["error"]
            assert (response.status, said["code"]) == (expected, "all_providers_failed")
            assert said["attempts"][0]["provider"] == "searxng"
            assert response.headers.get("Retry-After") == ("700" if expected == 503 else None)


@pytest.mark.req("B1")
async def test_a_call_ends_when_its_time_is_up(gateway: Any, world: World) -> None:
    client = await (await gateway()).client()
    world.searxng.fail(InjectedFault.hang(), times=10)
    status, body = await post(client, "/v1/search", QUERY | {"timeout": 1})
    assert (status, body["error"]["code"]) == (504, "all_providers_failed")
    assert {attempt["outcome"] for attempt in body["error"]["attempts"]} == {"timeout"}


async def test_what_a_client_asked_for_ends_when_it_leaves(gateway: Any, world: World) -> None:
    served = await gateway()
    loop, asked = asyncio.get_running_loop(), asyncio.Event()

    def note(_request: Recorded) -> bool:
        loop.call_soon_threadsafe(asked.set)
        return True

    world.searxng.fail(InjectedFault.hang(), times=10, when=note)
    for accept in ("application/json", "text/event-stream"):
        client = await served.client()
        body = QUERY | {"timeout": 60}
        waiting = asyncio.create_task(_begun(client, body, accept))
        await asked.wait()
        assert served.gateway.traffic.running == 1
        waiting.cancel()
        await asyncio.gather(waiting, return_exceptions=True)
        await client.close()
        await asyncio.wait_for(served.gateway.traffic.idle(), 100)
        asked.clear()


async def _begun(client: aiohttp.ClientSession, body: Any, accept: str) -> None:
    async with client.post("/v1/search", json=body, headers={"Accept": accept}) as response:
        await response.read()


@pytest.mark.req("B18")
async def test_progress_is_told(gateway: Any, world: World) -> None:
    other = world.add_searxng("second")
    sections = {
        "search": {"providers": ("searxng", "searxng:second"), "strategy": "fallback"},
        "providers": {"searxng": {"base_url": world.searxng.url}, "searxng:second": {"base_url": other.url}},
    }
    client = await (await gateway(**sections)).client()
    world.searxng.fail(InjectedFault.status(500), times=10)
    told = await events(client, "/v1/search", QUERY)
    assert [(name, data.get("provider")) for name, data in told[:4]] == [
        ("attempt_started", "searxng"),
        ("attempt_finished", "searxng"),
        ("attempt_started", "searxng:second"),
        ("attempt_finished", "searxng:second"),
    ]
    assert told[1][1]["outcome"] == "unavailable"
    name, result = told[-1]
    assert (name, result["provider"]) == ("result", "searxng:second")
    other.fail(InjectedFault.status(500), times=10)
    name, failure = (await events(client, "/v1/search", {"query": "another"}))[-1]
    assert (name, failure["error"]["code"]) == ("error", "all_providers_failed")


async def test_before_anything_is_told_a_failure_has_its_status(gateway: Any) -> None:
    client = await (await gateway(session={"max_searches": 1, "warning_threshold": 1})).client()
    await post(client, "/v1/search", QUERY | {"session": "one"})
    status, body = await post(
        client, "/v1/search", {"query": "more", "session": "one"}, headers={"Accept": "text/event-stream"}
    )
    assert (status, body["error"]["code"]) == (402, "budget_exceeded")


@pytest.mark.parametrize(
    ("accept", "wants"),
    [
        ("text/event-stream", True),
        ("application/json, text/event-stream", False),
        ("application/json, text/plain, */*", False),
        ("*/*", False),
    ],
)
async def test_events_are_for_who_wants_them(gateway: Any, accept: str, wants: bool) -> None:
    client = await (await gateway()).client()
    async with client.post("/v1/search", json=QUERY, headers={"Accept": accept}) as response:
        assert response.headers["Content-Type"].startswith("text/event-stream") == wants


@pytest.mark.req("B18")
async def test_reading(gateway: Any, world: World) -> None:
    client = await (await gateway()).client()
    url = f"{world.site('papers').url}/"
    status, body = await post(client, "/v1/pages", {"url": url})
    [page] = body["pages"]
    assert (status, page["status"], page["url"]) == (200, "success", url)
    status, body = await post(client, "/v1/pages", {"url": url, "max_length": 60})
    [piece] = body["pages"]
    assert piece["truncated"]
    status, body = await post(client, "/v1/pages", {"url": url, "cursor": piece["next_cursor"]})
    assert page["content"].startswith(piece["content"].rstrip())
    assert body["pages"][0]["content"] in page["content"]
    word = page["content"].split()[2]
    status, body = await post(client, "/v1/pages", {"url": url, "find": word})
    assert body["pages"][0]["match_count"] >= 1


async def test_pages_that_cannot_be_had(gateway: Any, world: World) -> None:
    client = await (await gateway()).client()
    good, missing = f"{world.site('papers').url}/", f"{world.site('papers').url}/nothing-here"
    for url, status, code in (
        (missing, 404, "page_not_found"),
        ("http://10.0.0.1/", 403, "blocked_address"),
        ("no address", 400, "invalid_request"),
        (f"{world.closed_url}/", 403, "blocked_address"),
    ):
        assert code_of(await post(client, "/v1/pages", {"url": url})) == (status, code), url
    status, body = await post(client, "/v1/pages", {"urls": [good, missing, "http://10.0.0.1/"]})
    assert (status, [page["status"] for page in body["pages"]]) == (200, ["success", "error", "error"])
    assert all(page["error"] for page in body["pages"][1:])
    wrong: list[dict[str, Any]] = [{}, {"url": good, "urls": [good]}, {"urls": []}, {"urls": [good], "cursor": "#2"}]
    for body in (*wrong, {"url": good, "query": "x", "find": "y"}):
        assert (await post(client, "/v1/pages", body))[0] == 400


def code_of(answer: tuple[int, Any]) -> tuple[int, str]:
    return answer[0], answer[1]["error"]["code"]


@pytest.mark.req("B18")
async def test_a_session(gateway: Any, world: World) -> None:
    client = await (await gateway(session={"max_searches": 2, "warning_threshold": 2})).client()
    status, body = await get(client, "/v1/sessions/research")
    assert (status, body["error"]["code"]) == (404, "no_such_session")
    _, first = await post(client, "/v1/search", QUERY | {"session": "research"})
    found = first["results"][0]
    _, read = await post(client, "/v1/pages", {"url": found["url"], "session": "research"})
    assert read["pages"][0]["citation_id"] == found["citation_id"]
    _, session = await get(client, "/v1/sessions/research")
    assert (session["searches"], session["limit"], session["remaining"]) == (1, 2, 1)
    assert session["sources"][0] == {
        "citation_id": 1,
        "title": found["title"],
        "url": found["url"],
        "opened": True,
    }
    await post(client, "/v1/search", {"query": "more", "session": "research"})
    status, body = await post(client, "/v1/search", {"query": "too much", "session": "research"})
    assert (status, body["error"]["code"]) == (402, "budget_exceeded")
    assert "DELETE /v1/sessions/NAME" in body["error"]["message"]
    assert (await post(client, "/v1/search", {"query": "by itself"}))[0] == 200
    async with client.delete("/v1/sessions/research") as response:
        assert (response.status, (await response.json())["searches"]) == (200, 2)
    async with client.delete("/v1/sessions/research") as response:
        assert response.status == 404
    _, anew = await post(client, "/v1/search", QUERY | {"session": "research"})
    assert (anew["results"][0]["citation_id"], anew["budget"]["spent"]) == (1, 1)
    for wrong in ("a%20b", "x" * 129, "%C3%BC"):
        assert (await get(client, f"/v1/sessions/{wrong}"))[0] in (400, 404)


async def test_the_sources_of_a_session_come_in_pages(gateway: Any, world: World) -> None:
    client = await (await gateway()).client()
    _, found = await post(client, "/v1/search", QUERY | {"session": "research"})
    numbers = [result["citation_id"] for result in found["results"]]
    assert len(numbers) > 2
    _, whole = await get(client, "/v1/sessions/research")
    assert ([one["citation_id"] for one in whole["sources"]], whole["next_after"]) == (numbers, None)
    pages: list[Any] = []
    after: int | None = 0
    while after is not None:
        _, page = await get(client, f"/v1/sessions/research?limit=2&after={after}")
        assert (len(page["sources"]) <= 2, page["searches"]) == (True, 1)
        pages += page["sources"]
        after = page["next_after"]
    assert pages == whole["sources"]
    assert (await get(client, f"/v1/sessions/research?after={numbers[-1]}"))[1]["sources"] == []
    for wrong in ("limit=0", "limit=1001", "limit=x", "after=-1", "page=2"):
        status, body = await get(client, f"/v1/sessions/research?{wrong}")
        assert (status, body["error"]["field"]) == (400, wrong.partition("=")[0])


async def test_a_call_that_names_no_session_leaves_nothing_in_the_store(gateway: Any, tmp_path: Path) -> None:
    served = await gateway(storage={"url": f"sqlite:///{tmp_path / 'store.db'}"})
    client = await served.client()
    for session in ({}, {"session": "kept"}):
        assert (await post(client, "/v1/search", QUERY | session))[0] == 200
    with closing(sqlite3.connect(tmp_path / "store.db")) as file:
        tables = [table for (table,) in file.execute("SELECT name FROM sqlite_master WHERE type = 'table'")]
        values = [value for table in tables for row in file.execute(f'SELECT * FROM "{table}"') for value in row]
    keys = [
        value.decode("utf-8", "replace") if isinstance(value, bytes) else str(value)
        for value in values
        if value is not None
    ]
    assert {key for key in keys if key.startswith(("session:", "sources:"))} == {
        "session:kept:searches",
        "sources:kept",
    }


@pytest.mark.req("B34")
async def test_answering_a_question(gateway: Any) -> None:
    client = await (await gateway()).client()
    asked = {"question": "reciprocal rank fusion", "quote": True, "session": "asked"}
    status, body = await post(client, "/v1/ask", asked)
    assert (status, body["model"], body["searches"], body["report"]["supported"]) == (200, "", 1, True)
    assert body["sources"]
    assert all(f"[{source['citation_id']}]" in body["text"] for source in body["sources"])
    status, again = await post(client, "/v1/ask", asked)
    assert again["sources"] == body["sources"]  # in one session a page keeps its number
    async with client.post("/v1/ask", json=asked, headers={"Accept": "text/event-stream"}) as reply:
        text = await reply.text()
    assert "event: result\n" in text
    assert (await post(client, "/v1/ask", {"question": "  "}))[0] == 400


@pytest.mark.req("B34")
@pytest.mark.parametrize("how", ["accept", "stream"])
async def test_an_answer_is_streamed_as_it_is_written(gateway: Any, world: World, how: str) -> None:
    model = world.add(ModelServer(quoting, name="writer"))
    client = await (await gateway(answer={"model": "m", "base_url": f"{model.url}/v1"})).client()
    asked = {"question": "reciprocal rank fusion"}
    if how == "accept":
        told = await events(client, "/v1/ask", asked)
    else:
        told = await events(client, "/v1/ask", asked | {"stream": True}, accept="application/json")
    names = [name for name, _ in told]
    assert names[0] == "attempt_started"
    assert names.count("delta") >= 2
    assert names.index("delta") > names.index("attempt_finished")
    name, result = told[-1]
    assert (name, result["model"], result["report"]["supported"]) == ("result", "m", True)
    assert "".join(data["delta"] for name, data in told if name == "delta") == result["text"]


@pytest.mark.req("B34")
async def test_the_gateways_model_answers_and_a_client_cannot_choose_another(gateway: Any, world: World) -> None:
    model = world.add(ModelServer(quoting, name="writer"))
    served = await gateway(answer={"model": "m", "base_url": f"{model.url}/v1"})
    client = await served.client()
    status, body = await post(client, "/v1/ask", {"question": "reciprocal rank fusion"})
    assert (status, body["model"]) == (200, "m")
    assert "Answer the question" in model.requests[0].body.decode()
    status, body = await post(client, "/v1/ask", {"question": "x", "base_url": "http://127.0.0.1:1/v1"})
    assert status == 400


@pytest.mark.req("B18")
async def test_checking_an_answer(gateway: Any) -> None:
    client = await (await gateway()).client()
    sources = [{"number": 1, "url": "https://example.org/", "content": "The tower is 324 metres high."}]
    answer = "The tower is 324 metres high [1]. The tower is 900 metres high [1]."
    status, body = await post(client, "/v1/verify", {"answer": answer, "sources": sources})
    assert (status, body["supported"]) == (200, False)
    assert [finding["verdict"] for finding in body["findings"]] == ["supported", "contradicted"]
    assert body["counts"] == {"contradicted": 1, "supported": 1}
    _, found = await post(client, "/v1/search", QUERY | {"session": "cited"})
    title = found["results"][0]["title"]
    status, body = await post(client, "/v1/verify", {"answer": f"{title} [1]. Else [99].", "session": "cited"})
    assert (status, body["unknown"]) == (200, [99])
    assert (await post(client, "/v1/verify", {"answer": answer}))[0] == 400


@pytest.mark.req("B9")
@pytest.mark.parametrize("judge", ["words", "model"])
async def test_the_operator_chooses_whether_a_model_judges(gateway: Any, world: World, judge: str) -> None:
    model = world.add(ModelServer(lambda _: Say("It is fine."), name="writer"))
    client = await (await gateway(answer={"model": "m", "base_url": f"{model.url}/v1", "judge": judge})).client()
    sources = [{"number": 1, "url": "https://example.org/", "content": "The tower is 324 metres tall."}]
    asked = {"answer": "The tall tower is 324 metres, with guests, a lift and mail [1].", "sources": sources}
    status, body = await post(client, "/v1/verify", asked)
    assert (status, body["findings"][0]["judge"]) == (200, "words")
    assert len(model.requests) == len(body["warnings"]) == (judge == "model")
    assert (await post(client, "/v1/verify", asked | {"judge": "model"}))[0] == 400


@pytest.mark.req("B20")
async def test_health_and_metrics(gateway: Any, world: World) -> None:
    served = await gateway()
    client = await served.client()
    assert await get(client, "/healthz") == (200, {"status": "ok"})
    assert await get(client, "/readyz") == (200, {"status": "ok"})
    await post(client, "/v1/search", QUERY)
    async with client.get("/metrics") as response:
        text = await response.text()
    assert 'groundwire_searches_total{outcome="ok",provider="searxng"} 1.0' in text
    assert 'groundwire_http_requests_total{method="POST",path="/v1/search",status="200"} 1.0' in text
    # The provider of the other one has never answered, so that nothing speaks against it; no search waits for so long.
    other = await (await gateway(search={"timeout": 50})).client()
    world.searxng.fail(InjectedFault.status(429, headers={"Retry-After": "60"}), times=1)
    await post(other, "/v1/search", {"query": "again"})
    assert await get(other, "/readyz") == (503, {"status": "no_provider"})
    served.gateway.traffic.drain()
    assert await get(client, "/healthz") == (200, {"status": "ok"})
    assert await get(client, "/readyz") == (503, {"status": "draining"})
    async with client.post("/v1/search", json=QUERY) as response:
        assert (response.status, (await response.json())["error"]["code"]) == (503, "draining")
        assert int(response.headers["Retry-After"]) > 0


async def test_an_operator_sees_latency_refusals_admission_and_process(gateway: Any) -> None:
    client = await (await gateway(server={"max_concurrent_requests": 50}, archive={"enabled": True})).client()
    await post(client, "/v1/search", QUERY)
    await post(client, "/v1/search", {"query": ""})
    async with client.get("/a//x") as response:
        assert response.status == 400
    async with client.get("/metrics") as response:
        lines = (await response.text()).splitlines()
    for line in (
        'groundwire_http_request_seconds_bucket{le="+Inf",path="/v1/search",status="2xx"} 1.0',
        'groundwire_http_request_seconds_count{path="/v1/search",status="4xx"} 1.0',
        'groundwire_http_errors_total{code="invalid_request"} 1.0',
        'groundwire_http_errors_total{code="bad_path"} 1.0',
        "groundwire_http_admission_limit 45.0",
        "groundwire_http_admission_running 1.0",  # this one
        "groundwire_http_admission_queued 0.0",
        "groundwire_http_admission_refused_total 0.0",
        "groundwire_store_up 1.0",
        "groundwire_archive_up 1.0",
        "groundwire_page_workers_running 0.0",
        "groundwire_verification_workers_queued 0.0",
    ):
        assert line in lines
    figures = dict(line.rsplit(" ", 1) for line in lines if not line.startswith("#"))
    assert float(figures["groundwire_loop_lag_seconds"]) >= 0
    assert float(figures["process_cpu_seconds_total"]) > 0
    assert float(figures["process_resident_memory_bytes"]) > 1_000_000
    assert any(name.startswith("groundwire_build_info{") for name in figures)
    assert len(figures) == len([line for line in lines if not line.startswith("#")])  # no series twice


async def test_a_gateway_whose_store_is_gone_is_not_ready(gateway: Any) -> None:
    client = await (await gateway(storage={"url": "valkey://127.0.0.1:1/0"})).client()
    assert await get(client, "/readyz") == (503, {"status": "no_store"})
    assert (await post(client, "/v1/search", QUERY))[0] == 200
    async with client.get("/metrics") as response:
        assert "groundwire_store_up 0.0" in (await response.text()).splitlines()


async def test_a_gateway_is_ready_once_it_has_started(settings: Callable[..., Settings], tmp_path: Path) -> None:
    gateway = build_gateway(settings(server={"key_file": str(tmp_path / "keys.json")}), page=False)
    async with serving(gateway) as url, aiohttp.ClientSession(url) as client:
        assert await get(client, "/readyz") == (503, {"status": "starting"})
        async with gateway:
            assert await get(client, "/readyz") == (200, {"status": "ok"})
            assert (await get(client, "/"))[0] == 404


async def test_a_gateway_that_cannot_read_its_keys_is_not_ready(
    settings: Callable[..., Settings], tmp_path: Path
) -> None:
    file = tmp_path / "keys.json"
    KeyFile(file).add(make_key("one", datetime.now(UTC))[1])
    gateway = build_gateway(settings(server={"key_file": str(file)}), page=False)
    file.write_text("damaged", "utf-8")
    async with serving(gateway) as url, aiohttp.ClientSession(url) as client, gateway:
        key, _ = make_key("unknown", datetime.now(UTC))  # the file is looked at again at once for a key that it lacks
        async with client.post("/v1/search", json=QUERY, headers={"X-API-Key": key}) as response:
            assert response.status == 503
        assert await get(client, "/readyz") == (503, {"status": "no_keys"})


async def test_it_lives_with_the_lifespan_of_its_server(settings: Callable[..., Settings], tmp_path: Path) -> None:
    gateway = build_gateway(settings(server={"key_file": str(tmp_path / "keys.json")}))
    coming: asyncio.Queue[Any] = asyncio.Queue()
    said: asyncio.Queue[Any] = asyncio.Queue()
    living = asyncio.create_task(gateway({"type": "lifespan"}, coming.get, said.put))
    await coming.put({"type": "lifespan.startup"})
    assert await said.get() == {"type": "lifespan.startup.complete"}
    assert (await gateway.web.search("rank fusion")).results
    await coming.put({"type": "lifespan.shutdown"})
    assert await said.get() == {"type": "lifespan.shutdown.complete"}
    await living
    with pytest.raises(Closed):
        await gateway.web.search("rank fusion")


async def test_searching_for_papers(gateway: Any, world: World) -> None:
    served = {name: {"base_url": world.service(name).url} for name in ("openalex", "arxiv")}
    searxng = {"searxng": {"base_url": world.searxng.url}}
    policy = {"allowed_origins": world.origins}
    client = await (await gateway(providers=served | searxng, policy=policy)).client()
    status, body = await post(client, "/v1/search", QUERY | {"sources": ["papers"]})
    assert (status, body["provider"]) == (200, "openalex")
    status, body = await post(client, "/v1/tools/web_search", QUERY | {"sources": ["papers"]})
    assert (status, body["results"][0]["source"]) == (200, "openalex")
    assert (await post(client, "/v1/search", QUERY | {"sources": ["pages"]}))[0] in {400, 422}
