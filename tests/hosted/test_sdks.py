"""The vendors' own SDKs send each prepared request to a server that speaks their wire, and read the answer back."""

from __future__ import annotations

import json
from collections.abc import Iterator
from contextlib import ExitStack
from typing import Any, Protocol, TypeVar

import pytest

from components import heavy
from components.model_bodies import ADD, EVERYBODY, body_of, chat, declaration, responses
from components.model_bodies import anthropic as anthropic_tool
from groundwire.hosted import Location, Needs, hosted_definition, plan_for, prepare
from groundwire.testing.model_apis import ScriptedCall, script
from world import World
from world.model_apis import ModelServer
from world.model_apis.turns import Cite, Say

pytestmark = pytest.mark.xdist_group(heavy.GROUP)
NEEDS = Needs(allowed_domains=("a.org",), location=Location(country="IT", city="Rome"))


class _Closable(Protocol):
    def close(self) -> object: ...


_C = TypeVar("_C", bound=_Closable)


class Open(Protocol):
    """Closes an SDK's client with the test: a connection that is collected later is another test's warning."""

    def __call__(self, client: _C) -> _C: ...


@pytest.fixture
def opened() -> Iterator[Open]:
    with ExitStack() as stack:

        def keep(client: _C) -> _C:
            stack.callback(client.close)
            return client

        yield keep


@pytest.fixture
def models(world: World) -> ModelServer:
    return world.add(ModelServer(script(end=Say("Something is new.", cites=(Cite(url="https://a.org/x", title="X"),)))))


def sent_to(models: ModelServer) -> dict[str, Any]:
    whole = models.requests[-1].json()
    assert isinstance(whole, dict)
    return whole


@pytest.mark.req("C1", "K6", "B7")
@pytest.mark.parametrize("tool", [None, "web_search_20260209", "web_search_20260318", "newest"])
def test_anthropic(models: ModelServer, tool: str | None, opened: Open) -> None:
    client = opened(heavy.anthropic.Anthropic(base_url=models.url, api_key="none", max_retries=0, timeout=100))
    body = body_of("anthropic", anthropic_tool(), anthropic_tool("add", ADD), model="claude-opus-4-8")
    request = prepare(body, "anthropic", needs=Needs(max_uses=2, allowed_domains=("a.org",)), tool=tool)
    answer = client.messages.create(**request)
    assert sent_to(models) == json.loads(json.dumps(request))
    use, result, text = answer.content
    assert isinstance(use, heavy.anthropic.types.ServerToolUseBlock)
    assert use.name == "web_search"
    assert isinstance(result, heavy.anthropic.types.WebSearchToolResultBlock)
    assert isinstance(result.content, list)
    assert [row.url for row in result.content] == ["https://a.org/x"]
    assert isinstance(text, heavy.anthropic.types.TextBlock)
    assert text.citations
    assert isinstance(text.citations[0], heavy.anthropic.types.CitationsWebSearchResultLocation)
    with client.messages.stream(**request) as stream:
        final = stream.get_final_message()
    assert final.content[2].to_dict()["text"] == "Something is new."
    assert answer.usage.server_tool_use
    assert answer.usage.server_tool_use.web_search_requests == 1


@pytest.mark.req("C1", "B7")
@pytest.mark.parametrize("tool", [None, "web_search_20260209", "newest"])
def test_anthropic_reads_pages(models: ModelServer, tool: str | None, opened: Open) -> None:
    client = opened(heavy.anthropic.Anthropic(base_url=models.url, api_key="none", max_retries=0, timeout=100))
    body = body_of("anthropic", anthropic_tool(), model="claude-opus-4-8")
    made = plan_for(body, "anthropic", needs=Needs(blocked_domains=("a.org",)), tool=tool)
    request = prepare(body, made)
    reader = made.page_definition()
    assert reader
    request["tools"] = [*request["tools"], reader]
    assert prepare(request, made) == request
    kind = getattr(heavy.anthropic.types, f"WebFetchTool{reader['type'].removeprefix('web_fetch_')}Param")
    assert set(reader) <= set(kind.__annotations__)
    client.messages.create(**request)
    assert sent_to(models)["tools"] == request["tools"]


@pytest.mark.req("K3", "K6", "B7")
def test_openai_responses(models: ModelServer, opened: Open) -> None:
    client = opened(heavy.openai.OpenAI(base_url=f"{models.url}/v1", api_key="none", max_retries=0, timeout=100))
    body = body_of("openai_responses", responses("add", ADD), responses(), reasoning={"effort": "low"})
    request = prepare(body, "openai", needs=Needs(max_uses=2, allowed_domains=("a.org",), location=NEEDS.location))
    answer = client.responses.create(**request)
    assert sent_to(models) == request
    call, message = answer.output
    assert isinstance(call, heavy.openai.types.responses.ResponseFunctionWebSearch)
    assert isinstance(message, heavy.openai.types.responses.ResponseOutputMessage)
    part = message.content[0]
    assert isinstance(part, heavy.openai.types.responses.ResponseOutputText)
    assert part.annotations[0].type == "url_citation"
    assert isinstance(answer.tools[1], heavy.openai.types.responses.WebSearchTool)
    assert answer.tools[1].filters
    assert answer.tools[1].filters.allowed_domains == ["a.org"]
    with client.responses.stream(**request) as stream:
        kinds = [event.type for event in stream]
        assert stream.get_final_response().output_text == "Something is new."
    assert "response.web_search_call.searching" in kinds
    with pytest.raises(heavy.openai.BadRequestError, match="minimal"):
        client.responses.create(**{**request, "reasoning": {"effort": "minimal"}})
    ours = prepare({**body, "reasoning": {"effort": "minimal"}}, "openai")
    assert client.responses.create(**ours).output_text == "Something is new."


@pytest.mark.req("C2", "B7")
def test_openai_chat(models: ModelServer, opened: Open) -> None:
    client = opened(heavy.openai.OpenAI(base_url=f"{models.url}/v1", api_key="none", max_retries=0, timeout=100))
    needs = Needs(location=NEEDS.location)
    request = prepare(body_of("openai_chat", chat(), chat("add", ADD)), "openai", needs=needs, mode="native")
    answer = client.chat.completions.create(**request)
    assert sent_to(models) == request
    assert answer.model == "gpt-5-search-api"
    annotations = answer.choices[0].message.annotations
    assert annotations
    assert annotations[0].url_citation.url == "https://a.org/x"
    with pytest.raises(heavy.openai.BadRequestError, match="temperature"):
        client.chat.completions.create(**request, temperature=0)
    ours = prepare(body_of("openai_chat", chat(), temperature=0), "openai")
    assert client.chat.completions.create(**ours).choices[0].message.content == "Something is new."


@pytest.mark.parametrize("api", ["ollama", "vllm", "openrouter", "groq", "xai_chat", "mistral_chat"])
def test_chat_of_the_others(models: ModelServer, api: str, opened: Open) -> None:
    client = opened(heavy.openai.OpenAI(base_url=f"{models.url}/v1", api_key="none", max_retries=0, timeout=100))
    request = prepare(body_of(api, hosted_definition()), api, settings=EVERYBODY)
    raw = client.post("/chat/completions", body=request, cast_to=heavy.openai.types.chat.ChatCompletion)
    assert raw.choices[0].message.content == "Something is new."
    hosted = api in ("openrouter", "groq")
    assert bool(raw.choices[0].message.annotations) == hosted


@pytest.mark.parametrize(("needs", "hosted"), [(Needs(allowed_domains=("a.org",)), True), (Needs(max_uses=1), False)])
def test_xai(models: ModelServer, needs: Needs, hosted: bool, opened: Open) -> None:
    client = opened(heavy.openai.OpenAI(base_url=f"{models.url}/v1", api_key="none", max_retries=0, timeout=100))
    request = prepare(body_of("xai", responses()), "xai", settings=EVERYBODY, needs=needs)
    answer = client.responses.create(**request)
    assert (answer.output[0].type == "web_search_call") == hosted


@pytest.mark.parametrize("snake", [True, False])
@pytest.mark.parametrize("model", ["gemini-3-flash-preview", "gemini-2.5-flash-lite"])
def test_gemini(models: ModelServer, snake: bool, model: str, opened: Open) -> None:
    client = opened(heavy.genai.Client(api_key="none", http_options=heavy.genai.types.HttpOptions(base_url=models.url)))
    tools = [{"function_declarations": [_snake(declaration()), _snake(declaration("add", ADD))]}]
    if snake:
        request: dict[str, Any] = {"model": model, "contents": "What is new?", "config": {"tools": tools}}
        request = prepare(request, "gemini", settings=EVERYBODY, needs=Needs(time_range="w"))
    else:
        whole = prepare(
            {"contents": "What is new?", "tools": [{"functionDeclarations": [declaration(), declaration("add", ADD)]}]},
            "gemini",
            model=model,
            settings=EVERYBODY,
            needs=Needs(time_range="w"),
        )
        config = heavy.genai.types.GenerateContentConfig.model_validate(
            {"tools": whole["tools"], **({"tool_config": whole["toolConfig"]} if "toolConfig" in whole else {})}
        )
        request = {"model": model, "contents": whole["contents"], "config": config}
    answer = client.models.generate_content(**request)
    assert answer.text == "Something is new."
    wire = sent_to(models)
    assert answer.candidates
    grounding = answer.candidates[0].grounding_metadata
    if model.startswith("gemini-3"):
        assert len(wire["tools"][0]["googleSearch"]["timeRangeFilter"]) == 2
        assert wire["toolConfig"] == {"includeServerSideToolInvocations": True}
        assert [one["name"] for one in wire["tools"][1]["functionDeclarations"]] == ["add"]
        assert grounding
        assert grounding.web_search_queries == ["a question"]
    else:
        assert [one["name"] for one in wire["tools"][0]["functionDeclarations"]] == ["web_search", "add"]
        assert grounding is None
    assert "".join(part.text or "" for part in client.models.generate_content_stream(**request)) == "Something is new."


def _snake(one: dict[str, Any]) -> dict[str, Any]:
    return {("parameters_json_schema" if key == "parametersJsonSchema" else key): value for key, value in one.items()}


@pytest.mark.req("C3")
def test_a_model_that_searches_by_us_calls_our_function(world: World, opened: Open) -> None:
    models = world.add(ModelServer(script(ScriptedCall("web_search", {"query": "rank fusion"}), end=Say("Done."))))
    client = opened(heavy.openai.OpenAI(base_url=f"{models.url}/v1", api_key="none", max_retries=0, timeout=100))
    request = prepare(body_of("ollama", hosted_definition()), "ollama")
    answer = client.chat.completions.create(**request)
    calls = answer.choices[0].message.tool_calls
    assert calls
    assert calls[0].type == "function"
    assert (calls[0].function.name, json.loads(calls[0].function.arguments)) == ("web_search", {"query": "rank fusion"})
    messages = [
        *request["messages"],
        answer.choices[0].message.to_dict(),
        {"role": "tool", "tool_call_id": calls[0].id, "content": "Found."},
    ]
    again = client.chat.completions.create(**{**request, "messages": messages})
    assert again.choices[0].message.content == "Done."
    with client.chat.completions.stream(**request) as stream:
        whole = stream.get_final_completion()
    assert whole.choices[0].message.tool_calls
    assert whole.choices[0].message.tool_calls[0].function.arguments == '{"query": "rank fusion"}'


def test_the_server_refuses_what_the_services_refuse(models: ModelServer, opened: Open) -> None:
    openai_client = opened(heavy.openai.OpenAI(base_url=f"{models.url}/v1", api_key="none", max_retries=0, timeout=100))
    anthropic_client = opened(
        heavy.anthropic.Anthropic(base_url=models.url, api_key="none", max_retries=0, timeout=100)
    )
    for body in (
        body_of("openai_chat", {"type": "web_search"}),
        body_of("openai_chat", web_search_options={}),
        body_of("openai_chat", tools=[]),
    ):
        with pytest.raises(heavy.openai.BadRequestError):
            openai_client.chat.completions.create(**body)
    both = {"type": "web_search_20250305", "name": "web_search", "allowed_domains": ["a"], "blocked_domains": ["b"]}
    for tools in ([both], [{"type": "web_search", "name": "web_search"}], [anthropic_tool(), anthropic_tool()]):
        with pytest.raises(heavy.anthropic.BadRequestError):
            anthropic_client.messages.create(**body_of("anthropic", *tools))
