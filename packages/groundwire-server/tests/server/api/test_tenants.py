"""Keys and tenants in every part of the gateway: what a key may not do, it may not do anywhere."""

from __future__ import annotations

from pathlib import Path
from typing import Any

import aiohttp
import pytest

from components import heavy
from groundwire.errors import ConfigurationError
from groundwire.testing import InjectedFault
from groundwire.testing.model_apis import Say, ScriptedCall, script
from groundwire_server.api import build_gateway
from world import World
from world.model_apis import ModelServer

pytestmark = pytest.mark.req("B18")

WORDS = "reciprocal rank fusion"
PATHS = (
    ("POST", "/v1/search"),
    ("POST", "/v1/pages"),
    ("POST", "/v1/ask"),
    ("POST", "/v1/verify"),
    ("GET", "/v1/sessions/x"),
    ("DELETE", "/v1/sessions/x"),
    ("GET", "/search?q=x&format=json"),
    ("POST", "/search"),
    ("POST", "/mcp"),
    ("POST", "/openai/v1/chat/completions"),
    ("GET", "/openai/v1/models"),
    ("GET", "/openapi.json"),
    ("GET", "/metrics"),
)


async def ask(client: aiohttp.ClientSession, path: str, body: Any = None) -> tuple[int, Any]:
    method = "GET" if body is None else "POST"
    async with client.request(method, path, json=body) as response:
        return response.status, await response.json()


async def test_without_a_key_nothing_is_answered(gateway: Any, world: World) -> None:
    model = world.add(ModelServer(script(end=Say("x")), name="model"))
    served = await gateway(holders={"alice": {}, "operator": {}}, upstream=f"{model.url}/v1")
    nobody, alice, operator = await served.client(), await served.holder("alice"), await served.holder("operator")
    for client in (alice, operator):  # a key that was right is looked at however many are wrong
        assert (await ask(client, "/v1/search", {"query": WORDS}))[0] == 200
    wrong = await served.client("gw_00000000_" + "0" * 43)
    for method, path in PATHS:
        for client in (nobody, wrong):
            async with client.request(method, path, json={} if method == "POST" else None) as response:
                said = (await response.json())["error"]
                assert response.status == 401 or (client is wrong and said["code"] == "too_many_wrong_keys"), path
    for path in ("/healthz", "/readyz"):
        assert (await ask(nobody, path))[0] == 200
    assert (await ask(alice, "/v1/search", {"query": WORDS}))[0] == 200
    assert (await ask(alice, "/metrics"))[0] == 403
    assert not model.requests
    async with operator.get("/metrics") as response:
        text = await response.text()
    assert 'groundwire_http_requests_total{method="POST",path="/v1/search",status="401"} 2.0' in text


async def test_another_tenants_session_is_not_there(gateway: Any) -> None:
    served = await gateway(holders={"alice": {}, "bob": {}}, session={"max_searches": 3, "warning_threshold": 3})
    alice, bob = await served.holder("alice"), await served.holder("bob")
    await ask(alice, "/v1/search", {"query": WORDS, "session": "plan"})
    assert (await ask(alice, "/v1/sessions/plan"))[1]["searches"] == 1
    status, body = await ask(bob, "/v1/sessions/plan")
    assert (status, body["error"]["code"]) == (404, "no_such_session")
    await ask(bob, "/v1/search", {"query": "something else", "session": "plan"})
    assert (await ask(bob, "/v1/sessions/plan"))[1]["searches"] == 1
    assert (await ask(alice, "/v1/sessions/plan"))[1]["searches"] == 1
    name = "tenant:" + "x"
    assert (await ask(bob, f"/v1/sessions/{name}"))[0] == 404


@pytest.mark.req("B22")
async def test_a_page_that_another_tenant_read_is_nobodys_copy_in_an_outage(
    gateway: Any, world: World, tmp_path: Path
) -> None:
    served = await gateway(
        holders={"alice": {}, "bob": {}},
        storage={"url": f"sqlite:///{tmp_path}/store.db"},
        cache={"enabled": True, "page_ttl": 0.001},
        archive={"enabled": True, "path": str(tmp_path / "archive.db")},
    )
    alice, bob = await served.holder("alice"), await served.holder("bob")
    site = world.site("articles")
    asked = {"url": f"{site.url}/wiki/reciprocal-rank-fusion"}
    first = (await ask(alice, "/v1/pages", asked))[1]["pages"][0]
    site.fail(InjectedFault.status(500), times=None)
    status, own = await ask(alice, "/v1/pages", asked)
    assert (status, own["pages"][0]["content"]) == (200, first["content"])
    status, body = await ask(bob, "/v1/pages", asked)
    assert status >= 500
    assert first["content"] not in str(body)


async def test_a_keys_domains_and_providers_hold_in_every_part(gateway: Any, world: World) -> None:
    other = world.add_searxng("second")
    narrow = {"providers": ("searxng:second", "local"), "blocked_domains": ("127.0.0.1",)}
    served = await gateway(
        holders={"narrow": narrow, "second": {"providers": ("searxng:second", "local")}},
        search={"providers": ("searxng", "searxng:second"), "strategy": "fallback"},
        providers={"searxng": {"base_url": world.searxng.url}, "searxng:second": {"base_url": other.url}},
    )
    papers = world.site("papers").url
    only = await served.holder("narrow")
    status, body = await ask(only, "/v1/pages", {"url": f"{papers}/"})
    assert (status, body["error"]["code"]) == (403, "blocked_domain")
    status, body = await ask(only, "/v1/pages", {"urls": [f"{papers}/"]})
    assert body["pages"][0]["status"] == "error"
    second = await served.holder("second")
    assert (await ask(second, "/v1/search", {"query": WORDS}))[1]["provider"] == "searxng:second"
    status, body = await ask(second, f"/search?q={WORDS}&format=json&engines=searxng")
    assert (status, body["error"]) == (400, "This gateway has no engine searxng; its engines are searxng:second.")
    body = (await ask(second, f"/search?q={WORDS}&format=json&engines=searxng:second"))[1]
    assert {row["engine"] for row in body["results"]} == {"searxng:second"}
    assert (await ask(second, "/search", {"query": WORDS}))[0] == 200
    assert not world.searxng.requests


async def test_a_keys_day_is_one_budget_for_every_part(gateway: Any, world: World) -> None:
    served = await gateway(holders={"alice": {"calls_per_day": 3}, "bob": {}})
    client = await served.holder("alice")
    assert (await ask(client, "/v1/search", {"query": WORDS}))[0] == 200
    assert (await ask(client, "/search", {"query": "rank fusion"}))[0] == 200
    assert (await ask(client, "/v1/pages", {"url": f"{world.site('papers').url}/"}))[0] == 200
    for path, body in (
        ("/v1/search", {"query": "more"}),
        ("/v1/pages", {"url": f"{world.site('docs').url}/"}),
        ("/search", {"query": "more"}),
        ("/search?q=more&format=json", None),
    ):
        async with client.request("POST" if body else "GET", path, json=body) as response:
            assert response.status == 402, path
            assert int(response.headers["Retry-After"]) > 0
    assert (await ask(await served.holder("bob"), "/v1/search", {"query": "more"}))[0] == 200


@pytest.mark.xdist_group(heavy.GROUP)
async def test_the_gateways_keys_stay_here(gateway: Any, world: World) -> None:
    turns = script(ScriptedCall("web_search", {"query": WORDS}), end=Say("It merges rankings [1]."))
    model = world.add(ModelServer(turns, name="model"))
    served = await gateway(holders={"alice": {}}, upstream=f"{model.url}/v1", upstream_key="the-model-key")
    key = served.keys["alice"]
    client = heavy.openai.AsyncOpenAI(base_url=f"{served.url}/openai/v1", api_key=key, max_retries=0, timeout=100)
    async with client:
        answer = await client.chat.completions.create(model="m", messages=[{"role": "user", "content": "What is it?"}])
    assert answer.choices[0].message.content == "It merges rankings [1]."
    assert model.requests
    for request in model.requests:
        assert key not in str(dict(request.headers))
        assert request.headers["Authorization"] == "Bearer the-model-key"
    alice = await served.client(key)
    status, body = await ask(alice, "/openai/v1/files", {"purpose": "x"})
    assert status == 403
    assert "does not allow" in body["error"]["message"]


async def test_the_page_is_for_who_has_signed_in(gateway: Any) -> None:
    nobody = await (await gateway()).client()
    async with nobody.get("/") as response:
        assert (response.status, response.url.path) == (200, "/")
    served = await gateway(holders={"alice": {}})
    nobody, key = await served.client(), served.keys["alice"]
    async with nobody.get("/") as response:
        assert (response.status, response.url.path) == (200, "/sign-in")
    origin = {"Origin": served.url}
    async with nobody.post("/sign-in", data={"key": key}, headers=origin) as response:
        assert (response.status, response.url.path) == (200, "/")
        assert key not in await response.text()
    async with nobody.post("/v1/search", json={"query": WORDS}) as response:  # the cookie opens the page only
        assert response.status == 401


def test_it_does_not_listen_for_others_without_keys(settings: Any, tmp_path: Any) -> None:
    with pytest.raises(ConfigurationError, match="groundwire keys create"):
        build_gateway(settings(server={"host": "0.0.0.0", "key_file": str(tmp_path / "keys.json")}))
