"""Document K as its host would call it."""

from __future__ import annotations

from typing import Any

import pytest

from groundwire.errors import ConfigurationError, NativeUnsupported
from groundwire.integrations.hosts.search_policy import SearchPolicy, search_settings
from groundwire.testing import InjectedFault
from groundwire.tools.permissions import PermissionRequest
from world import World

BODY = {"model": "claude-sonnet-5", "max_tokens": 9, "messages": [{"role": "user", "content": "What is new?"}]}


@pytest.fixture
def services(surroundings: World, monkeypatch: pytest.MonkeyPatch) -> World:
    monkeypatch.setenv("GROUNDWIRE_SEARCH_PROVIDERS", "duckduckgo_lite")
    return surroundings


@pytest.mark.req("K1")
@pytest.mark.usefixtures("services")
def test_the_configuration_is_the_documents() -> None:
    settings = search_settings({"version": 1, "search": {"mode": "local", "native": {"providers": ["anthropic"]}}})
    assert (settings.search.mode, settings.search.native.providers) == ("local", ("anthropic",))
    assert (settings.search.local.backend, settings.search.local.brave_api_key_env) == ("ddg", "BRAVE_SEARCH_API_KEY")
    wrongs: tuple[dict[str, Any], ...] = (
        {"version": 2},
        {"search": []},
        {"search": {"mood": "auto"}},
        {"search": {"mode": "both"}},
    )
    for wrong in wrongs:
        with pytest.raises(ConfigurationError):
            search_settings(wrong)


@pytest.mark.req("K2", "K3", "K7")
@pytest.mark.usefixtures("services")
def test_one_path_is_in_a_request() -> None:
    policy = SearchPolicy()
    assert policy.resolve("openai", "gpt-6.1-sol").path == "native"
    assert policy.resolve("openrouter", "some/model").path == "local"
    native = policy.prepare(BODY, "anthropic")["tools"]
    assert native == [{"type": "web_search_20250305", "name": "web_search"}]
    (ours,) = SearchPolicy({"search": {"mode": "local"}}).prepare(BODY, "anthropic")["tools"]
    assert ours["name"] == "search"
    assert set(ours["input_schema"]["properties"]) == {"query", "max_results", "backend", "allowed_domains"}
    with pytest.raises(NativeUnsupported):
        SearchPolicy({"search": {"mode": "native"}}).resolve("openrouter", "some/model")


@pytest.mark.req("K3", "K7")
@pytest.mark.parametrize("provider", ["moonshot", "cerebras", "google"])
@pytest.mark.usefixtures("services")
def test_a_provider_that_is_not_known_searches_with_our_tool(provider: str) -> None:
    policy = SearchPolicy()
    chosen = policy.resolve(provider, "some-model")
    assert (chosen.path, chosen.api.provider) == ("local", provider)
    (tool,) = policy.prepare(BODY, provider)["tools"]
    assert tool["function"]["name"] == "search"
    contents = {"model": "m", "contents": [{"role": "user", "parts": [{"text": "What is new?"}]}]}
    (declared,) = policy.prepare(contents, provider)["tools"]
    assert declared["functionDeclarations"][0]["name"] == "search"
    with pytest.raises(NativeUnsupported, match=f"{provider} has no hosted search"):
        SearchPolicy({"search": {"mode": "native"}}).resolve(provider, "some-model")


@pytest.mark.req("K1")
@pytest.mark.usefixtures("services")
def test_the_keys_that_the_host_has_since_reach_hosted_search() -> None:
    place = {"city": "Kyoto", "country": "JP", "timezone": "Asia/Tokyo"}
    native = {"search_context_size": "high", "allowed_domains": ["example.com"], "user_location": place}
    policy = SearchPolicy({"search": {"native": native, "xai": {"x_search": {"enabled": True}}}})
    (tool,) = policy.prepare({"model": "gpt-6.1-sol", "input": "What is new?"}, "openai")["tools"]
    assert (tool["type"], tool["search_context_size"]) == ("web_search", "high")
    assert tool["filters"] == {"allowed_domains": ["example.com"]}
    assert tool["user_location"] == {"type": "approximate", **place}
    (tool,) = policy.prepare(BODY, "anthropic")["tools"]
    assert (tool["allowed_domains"], tool["user_location"]["city"]) == (["example.com"], "Kyoto")
    assert "search_context_size" not in tool
    sized = SearchPolicy({"search": {"native": {"search_context_size": "low"}}})
    chat = sized.prepare({"model": "gpt-5-search-api", "messages": BODY["messages"]}, "openai_chat")
    assert chat["web_search_options"] == {"search_context_size": "low"}
    wrongs: tuple[dict[str, Any], ...] = (
        {"search_context_size": "huge"},
        {"allowed_domains": "example.com"},
        {"user_location": "Kyoto"},
        {"user_location": {"planet": "Earth"}},
        {"user_location": {"country": "Japan"}},
    )
    for wrong in wrongs:
        with pytest.raises(ConfigurationError, match=r"search\.native"):
            SearchPolicy({"search": {"native": wrong}})


@pytest.mark.req("K4", "K5")
async def test_the_tool_searches_with_permission(services: World) -> None:
    asked: list[PermissionRequest] = []

    async def ask(request: PermissionRequest) -> bool:
        asked.append(request)
        return True

    found = await SearchPolicy(ask=ask).search("reciprocal rank fusion", max_results=2)
    assert set(found) == {"query", "backend", "results"}
    assert (found["backend"], len(found["results"])) == ("ddg", 2)
    assert set(found["results"][0]) == {"title", "url", "snippet", "source"}
    assert [request.tool for request in asked] == ["search"]
    refused = await SearchPolicy().search("reciprocal rank fusion")
    assert "no one can confirm it" in refused["error"]
    assert refused["backend"] == "ddg"
    brave = SearchPolicy({"search": {"local": {"backend": "brave"}}})
    assert (await brave.search("reciprocal rank fusion"))["backend"] == "brave"
    allowed = await SearchPolicy(arguments={"permission.allow": "search"}).search("reciprocal rank fusion")
    assert allowed["results"]


async def test_domains_that_leave_nothing_are_named(services: World) -> None:
    policy = SearchPolicy({"search": {"mode": "local"}}, arguments={"permission.allow": "search"})
    found = await policy.search("rank fusion", allowed_domains=["nowhere.example"])
    assert (found["backend"], found["results"]) == ("ddg", [])
    assert found["message"].endswith("The search was limited by allowed_domains. Other results may exist.")
    assert set(await policy.search("rank fusion")) == {"query", "backend", "results"}


@pytest.mark.req("K7")
async def test_failures_name_their_cause(services: World, monkeypatch: pytest.MonkeyPatch) -> None:
    policy = SearchPolicy(arguments={"permission.allow": "search"})
    assert "BRAVE_SEARCH_API_KEY" in (await policy.search("fusion", backend="brave"))["error"]
    services.service("duckduckgo_lite").fail(InjectedFault.status(500), times=None)
    failed: dict[str, Any] = await policy.search("fusion")
    assert "500" in failed["error"]
