"""Document C as its host would call it."""

from __future__ import annotations

import json
from typing import Any

import pytest

from groundwire.errors import InvalidRequest, ProviderError
from groundwire.integrations.hosts.three_tiers import (
    WEB_SEARCH_TOOL,
    build_tools_json_excluding_web_search,
    has_web_search_tool,
    parse_duckduckgo_results,
    prepare_request,
    tool_web_search,
    transform_tools_for_anthropic,
)
from groundwire.testing import InjectedFault
from world import World

OTHER: dict[str, Any] = {
    "name": "clock",
    "description": "The time.",
    "input_schema": {"type": "object", "properties": {}},
}
CHAT = {
    "type": "function",
    "function": {"name": "web_search", "description": "Search.", "parameters": WEB_SEARCH_TOOL["input_schema"]},
}
BODY = {"max_tokens": 9, "messages": [{"role": "user", "content": "What is new?"}]}


@pytest.mark.req("C1")
def test_anthropic_gets_its_own_search() -> None:
    tools = [OTHER, dict(WEB_SEARCH_TOOL)]
    native = {"type": "web_search_20250305", "name": "web_search"}
    assert transform_tools_for_anthropic(tools) == [OTHER, native]
    assert json.loads(transform_tools_for_anthropic(json.dumps(tools))) == [OTHER, native]
    request = prepare_request({**BODY, "model": "claude-sonnet-5", "tools": tools}, "anthropic")
    assert request["tools"] == [OTHER, native]


@pytest.mark.req("C2")
def test_openai_gets_the_model_that_searches(caplog: pytest.LogCaptureFixture) -> None:
    tools = [CHAT, {"type": "function", "function": {"name": "clock", "parameters": {}}}]
    assert has_web_search_tool(tools)
    assert not has_web_search_tool([OTHER])
    assert build_tools_json_excluding_web_search(tools) == tools[1:]
    request = prepare_request({**BODY, "model": "gpt-6-luna", "tools": [CHAT]}, "openai_chat")
    assert request["model"] == "gpt-5-search-api"
    assert request["web_search_options"] == {"search_context_size": "medium"}
    assert "tools" not in request
    assert "searches with gpt-5-search-api only, which answers instead of gpt-6-luna" in caplog.text


@pytest.mark.req("C3", "C4")
def test_a_page_of_results_is_parsed_within_the_bounds_of_the_document() -> None:
    row = (
        "<tr><td><a rel='nofollow' class='result-link' href='{}'>{}</a></td></tr>"
        "<tr><td class='result-snippet'>{}</td></tr>"
    )
    rows = [
        row.format("https://example.com/", "A <b>title</b>", "A &amp; B"),
        row.format("https://example.com/long", "t" * 600, "s" * 1_200),
        row.format(f"https://example.com/{'u' * 2_048}", "Too long", "x"),
    ]
    html = f"<html><body><form action='/lite/'></form><table>{''.join(rows)}</table></body></html>"
    first, second = parse_duckduckgo_results(html)
    assert first == {"title": "A title", "url": "https://example.com/", "snippet": "A & B"}
    assert (len(second["title"]), len(second["snippet"]), second["title"][-1]) == (500, 1_000, "…")
    assert parse_duckduckgo_results(html.encode()) == [first, second]
    with pytest.raises(ProviderError):
        parse_duckduckgo_results("<div class='anomaly-modal'></div>")


@pytest.mark.req("C3")
@pytest.mark.parametrize("provider", ["moonshot", "llamafile"])
def test_a_provider_that_is_not_known_keeps_the_tool(provider: str) -> None:
    body = {**BODY, "model": "some-model", "tools": [CHAT]}
    assert prepare_request(body, provider) == body


@pytest.mark.req("C3")
@pytest.mark.parametrize("provider", ["ollama", "mlx"])
def test_all_others_keep_the_tool(provider: str) -> None:
    body = {**BODY, "model": "some-model", "tools": [CHAT]}
    assert prepare_request(body, provider)["tools"] == [CHAT]


@pytest.mark.req("C3")
async def test_our_search_asks_the_page_for_simple_browsers(surroundings: World) -> None:
    text = await tool_web_search("reciprocal rank fusion")
    assert text.startswith(
        "Search results for: reciprocal rank fusion\n(Source: duckduckgo_lite)\n\nThe text between the web_content_"
    )
    lite = surroundings.service("duckduckgo_lite")
    assert lite.requests[-1].params["q"] == "reciprocal rank fusion"
    lite.fail(InjectedFault.status(500), times=None)
    assert (await tool_web_search("something else")).startswith("Search failed: ")


@pytest.mark.parametrize("tools", ["{", "{}", '"x"', 7, None, pytest.param("[" * 100_000, id="deep")])
def test_what_is_no_list_is_refused(tools: Any) -> None:
    with pytest.raises(InvalidRequest):
        has_web_search_tool(tools)
