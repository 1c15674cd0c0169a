"""The loop with the vendors' own SDKs, against miniature models that speak each wire; the web is the miniature one."""

from __future__ import annotations

import asyncio
import json
from collections.abc import AsyncIterator, Callable
from contextlib import AsyncExitStack
from typing import Any

import pytest

from components import heavy
from components.model_bodies import ADD, EVERYBODY, body_of, chat, responses
from groundwire import Settings, Web
from groundwire.agent_loop import CallEnded, CallStarted, Run, run_tools
from groundwire.agent_loop.wire_formats import joined
from groundwire.errors import InvalidRequest
from groundwire.hosted import Needs, hosted_definition, load_matrix, plan
from groundwire.hosted.answers import HostedAnswer, read_answer
from groundwire.testing.fault_injection import InjectedFault
from groundwire.testing.model_apis import ScriptedCall, ScriptedRequest, Turn, script
from world import World, wait_until_idle
from world.model_apis import ModelServer
from world.model_apis.turns import Cite, Say

pytestmark = pytest.mark.xdist_group(heavy.GROUP)
QUESTION = {"role": "user", "content": "What is reciprocal rank fusion?"}
SEARCH = ScriptedCall("web_search", {"query": "reciprocal rank fusion"})


@pytest.fixture
async def web(settings: Callable[..., Settings]) -> AsyncIterator[Web]:
    async with Web(settings(session={"max_searches": 10, "warning_threshold": 8})) as made:
        yield made


def page_of(world: World) -> str:
    return world.site("articles").url + "/wiki/reciprocal-rank-fusion"


def served(world: World, *turns: Turn, end: Say | None = None) -> ModelServer:
    return world.add(ModelServer(script(*turns, end=end or Say("It merges rankings [1], and sums [2].")), name="model"))


Caller = Callable[[ModelServer, str], Callable[[dict[str, Any]], Any]]


@pytest.fixture
async def caller() -> AsyncIterator[Caller]:
    """Make what a user would pass: the call of the SDK's own client."""
    async with AsyncExitStack() as stack:
        yield lambda models, api: client_of(stack, models, api)


def client_of(stack: AsyncExitStack, models: ModelServer, api: str) -> Callable[[dict[str, Any]], Any]:
    if api == "anthropic":
        made = heavy.anthropic.AsyncAnthropic(base_url=models.url, api_key="none", max_retries=0, timeout=100)
        stack.push_async_callback(made.close)
        return lambda body: made.messages.create(**body)
    if api == "gemini":
        google = heavy.genai.Client(api_key="none", http_options=heavy.genai.types.HttpOptions(base_url=models.url))
        stack.callback(google.close)
        return lambda body: google.models.generate_content(**body)
    client = heavy.openai.AsyncOpenAI(base_url=f"{models.url}/v1", api_key="none", max_retries=0, timeout=100)
    stack.push_async_callback(client.close)
    if api == "openai_responses":
        return lambda body: client.responses.create(**body)
    return lambda body: client.chat.completions.create(**body)


def request(api: str, **more: Any) -> dict[str, Any]:
    if api == "gemini":
        return {"model": "gemini-2.5-flash-lite", "contents": QUESTION["content"], "config": {}, **more}
    if api == "openai_responses":
        return {"model": "gpt-6-luna", "input": QUESTION["content"], **more}
    if api == "anthropic":
        return {"model": "claude-sonnet-5", "max_tokens": 100, "messages": [QUESTION], **more}
    return {"model": "qwen3", "messages": [QUESTION], **more}


@pytest.mark.req("B5", "B7", "K2")
@pytest.mark.parametrize("api", ["anthropic", "openai_responses", "ollama", "gemini"])
async def test_our_tools_are_called_and_the_answer_is_cited(world: World, web: Web, api: str, caller: Caller) -> None:
    first = (SEARCH, ScriptedCall("web_search", {"query": "hedged requests"}))
    models = served(world, first, ScriptedCall("open_page", {"url": page_of(world)}))
    seen: list[str] = []

    def note(event: CallStarted | CallEnded) -> None:
        seen.append(f"{type(event).__name__} {event.call.name}")

    run = await run_tools(request(api), caller(models, api), web=web, api=api, mode="local", on_event=note)
    assert (run.stop, run.answer.text) == ("answered", "It merges rankings [1], and sums [2].")
    assert [one.citation_id for one in run.sources] == list(range(1, len(run.sources) + 1))
    assert len({one.url for one in run.sources}) == len(run.sources) > 2
    assert [(one.url, run.answer.text[one.start : one.end]) for one in run.answer.citations] == [
        (run.sources[0].url, "[1]"),
        (run.sources[1].url, "[2]"),
    ]
    assert (run.spent.rounds, run.spent.searches, run.spent.pages) == (3, 2, 1)
    assert (await web.usage())["searches"] == 2
    assert sorted(seen[:4]) == ["CallEnded web_search"] * 2 + ["CallStarted web_search"] * 2
    fused, hedged, page = models_results(models)
    assert "Search results for: reciprocal rank fusion" in fused
    assert "Search results for: hedged requests" in hedged
    assert page.startswith("Cite as: [1]\n")
    numbers = [line.split(".")[0] for text in (fused, hedged) for line in text.splitlines() if line[:1].isdigit()]
    assert set(map(int, numbers)) == {one.citation_id for one in run.sources}


def models_results(models: ModelServer) -> tuple[str, ...]:
    """Return what the model was told in the last request."""
    from world.model_apis.anthropic import MESSAGES
    from world.model_apis.chat_completions import CHAT_COMPLETIONS
    from world.model_apis.gemini import GENERATE_CONTENT
    from world.model_apis.responses import RESPONSES

    last = models.requests[-1]
    body = last.json()
    assert isinstance(body, dict)
    ends = {"/messages": MESSAGES, "/chat/completions": CHAT_COMPLETIONS, "/responses": RESPONSES}
    api = next((one for end, one in ends.items() if last.path.endswith(end)), GENERATE_CONTENT)
    body.setdefault("model", "gemini-2.5-flash-lite")
    return api.parse(body).results


@pytest.mark.req("B5")
async def test_hosted_searches_are_held_before_and_settled_after(world: World, web: Web, caller: Caller) -> None:
    held: list[float] = []

    def decide(asked: ScriptedRequest) -> Turn:
        held.append(float(asked.body["tools"][0]["max_uses"]))
        turns = [one for one in asked.body["messages"] if one["role"] == "assistant"]
        if turns:
            assert turns[0]["content"][0]["type"] == "server_tool_use"
            assert turns[0]["content"][1]["content"][0]["encrypted_content"] == "opaque"
        says = ("First. ", "Second. ", "Third.")
        return Say(
            says[len(turns)], paused=len(turns) < 2, searches=2, cites=(Cite(url=f"https://a.org/{len(turns)}"),)
        )

    models = world.add(ModelServer(decide, name="model"))
    await web.search("hedged requests")  # one local search of the same session
    run = await run_tools(
        request("anthropic"), caller(models, "anthropic"), web=web, api="anthropic", hosted_searches=7
    )
    assert run.plan.path == "native"
    assert held == [7, 7, 5]  # ten, less one of ours, less two for each turn
    assert (run.stop, run.spent.hosted_searches) == ("answered", 6)
    assert (await web.usage())["searches"] == 7
    assert run.answer.text == "First. Second. Third."
    assert [run.answer.text[one.start : one.end] for one in run.answer.citations] == ["First. ", "Second. ", "Third."]
    assert [one.url for one in run.sources] == [f"https://a.org/{number}" for number in range(3)]
    assert (await web.usage())["cost_usd"] == pytest.approx(0.06)


@pytest.mark.req("B5")
async def test_a_paused_turn_stops_where_the_session_has_no_search_left(world: World, web: Web, caller: Caller) -> None:
    models = world.add(ModelServer(lambda asked: Say("On. ", paused=True, searches=5), name="model"))
    run = await run_tools(request("anthropic"), caller(models, "anthropic"), web=web, api="anthropic")
    assert (run.stop, run.spent.hosted_searches, len(models.requests)) == ("budget", 10, 2)
    assert "search limit is reached" in run.reason
    assert run.answer.text == "On. On. "
    again = await run_tools(request("anthropic"), caller(served_end(models), "anthropic"), web=web, api="anthropic")
    assert (again.stop, again.answer.text) == ("answered", "From memory.")
    assert "tools" not in models.requests[-1].json()  # type: ignore[operator]
    assert (await web.usage())["searches"] == 10


def served_end(models: ModelServer) -> ModelServer:
    models.decide = script(end=Say("From memory."))
    return models


@pytest.mark.req("B5")
async def test_the_limit_of_a_request_holds_over_its_pauses(world: World, web: Web, caller: Caller) -> None:
    asked_for: list[int] = []

    def decide(asked: ScriptedRequest) -> Turn:
        asked_for.append(asked.body["tools"][0]["max_uses"])
        return Say("On. ", paused=True, searches=1)

    models = world.add(ModelServer(decide, name="model"))
    body = request("anthropic", tools=[hosted_definition()])
    run = await run_tools(body, caller(models, "anthropic"), web=web, api="anthropic", needs=Needs(max_uses=3))
    call, other = caller(models, "anthropic"), plan("anthropic", "claude-sonnet-5")
    with pytest.raises(InvalidRequest, match="differ from those of the plan"):
        await run_tools(body, call, web=web, api="anthropic", needs=Needs(max_uses=3), plan=other)
    assert (asked_for, run.stop) == ([3, 2, 1], "budget")


@pytest.mark.req("B5")
async def test_parallel_runs_of_one_session_do_not_overspend(world: World, web: Web, caller: Caller) -> None:
    def decide(asked: ScriptedRequest) -> Turn:
        tools = asked.body.get("tools") or []
        return Say("Done.", searches=sum(tool.get("max_uses", 0) for tool in tools))

    models = world.add(ModelServer(decide, name="model"))
    call = caller(models, "anthropic")
    runs = await asyncio.gather(
        *(run_tools(request("anthropic"), call, web=web, api="anthropic", hosted_searches=4) for _ in range(6)),
        *(run_tools(request("ollama"), caller(served_local(world), "ollama"), web=web, api="ollama") for _ in range(1)),
    )
    assert all(run.stop == "answered" for run in runs)
    spent = sum(run.spent.hosted_searches + run.spent.searches for run in runs)
    assert spent == (await web.usage())["searches"] <= 10


def served_local(world: World) -> ModelServer:
    return world.add(ModelServer(script(SEARCH, end=Say("Done.")), name="local-model"))


@pytest.mark.req("B5")
async def test_failures_and_exceptions_give_back_what_was_held(world: World, web: Web, caller: Caller) -> None:
    models = world.add(ModelServer(name="model"))
    models.fail(
        InjectedFault.status(529, '{"type": "error", "error": {"type": "overloaded_error", "message": "Later"}}')
    )
    with pytest.raises(heavy.anthropic.APIStatusError):
        await run_tools(request("anthropic"), caller(models, "anthropic"), web=web, api="anthropic")
    assert (await web.usage()) == {"searches": 0, "cost_usd": 0, "tokens": 0}

    def refuse(body: dict[str, Any]) -> bytes:
        return b'{"type": "error", "error": {"type": "overloaded_error", "message": "Later"}}'

    run = await run_tools(request("anthropic"), refuse, web=web, api="anthropic")
    assert (run.stop, run.reason) == ("failed", "The API failed: Later.")
    assert (await web.usage())["searches"] == 0


@pytest.mark.req("B5")
async def test_cancelled_hosted_searches_stay_counted(world: World, web: Web, caller: Caller) -> None:
    models = world.add(ModelServer(name="model"))
    models.fail(InjectedFault.hang())
    task = asyncio.create_task(run_tools(request("anthropic"), caller(models, "anthropic"), web=web, api="anthropic"))
    await asyncio.to_thread(models.wait_for_requests, 1)
    task.cancel()
    with pytest.raises(asyncio.CancelledError):
        await task
    assert (await web.usage())["searches"] == 5
    await asyncio.to_thread(wait_until_idle, models)


async def test_the_deadline_ends_a_run_with_what_it_has(world: World, web: Web, caller: Caller) -> None:
    models = served(world, SEARCH)
    models.fail(InjectedFault.hang(), when=lambda asked: b'"tool"' in asked.body)
    run = await run_tools(request("ollama"), caller(models, "ollama"), web=web, api="ollama", timeout=6.0)
    assert (run.stop, run.spent.searches, run.reason) == ("deadline", 1, "The 6 seconds of the run have passed.")
    assert [one.get("role") for one in run.messages] == ["user", "assistant", "tool"]


@pytest.mark.req("B5")
async def test_a_model_that_searches_on_without_budget_is_stopped(world: World, settings: Any, caller: Caller) -> None:
    models = world.add(ModelServer(lambda asked: SEARCH, name="model"))
    async with Web(settings(session={"max_searches": 2, "warning_threshold": 1})) as web:
        run = await run_tools(request("ollama"), caller(models, "ollama"), web=web, api="ollama")
    assert (run.stop, run.spent.rounds, run.spent.searches) == ("budget", 4, 2)
    assert "Search limit reached (2/2)" in models_results(models)[-1]


async def test_in_the_last_round_the_model_has_to_answer(world: World, web: Web, caller: Caller) -> None:
    def decide(asked: ScriptedRequest) -> Turn:
        return Say("Enough.") if asked.body.get("tool_choice") == "none" else SEARCH

    models = world.add(ModelServer(decide, name="model"))
    run = await run_tools(request("ollama"), caller(models, "ollama"), web=web, api="ollama", max_rounds=3)
    assert (run.stop, run.answer.text, run.spent.searches) == ("answered", "Enough.", 2)
    models.decide = lambda asked: SEARCH
    run = await run_tools(request("ollama"), caller(models, "ollama"), web=web, api="ollama", max_rounds=1)
    assert (run.stop, run.spent.searches) == ("rounds", 0)


@pytest.mark.parametrize(
    ("api", "forced", "freed"),
    [
        (
            "anthropic",
            {"type": "any", "disable_parallel_tool_use": True},
            {"type": "auto", "disable_parallel_tool_use": True},
        ),
        ("ollama", {"type": "function", "function": {"name": "web_search"}}, "auto"),
        ("openai_responses", "required", "auto"),
    ],
)
async def test_a_demanded_call_is_demanded_once(
    world: World, web: Web, api: str, forced: Any, freed: Any, caller: Caller
) -> None:
    models = served(world, SEARCH)
    body = request(api, tool_choice=forced)
    await run_tools(body, caller(models, api), web=web, api=api, mode="local")
    assert [json.loads(one.body)["tool_choice"] for one in models.requests] == [forced, freed]


@pytest.mark.req("K2", "K6")
@pytest.mark.parametrize("api", ["anthropic", "openai_responses", "ollama", "gemini"])
async def test_calls_of_the_callers_own_functions_are_handed_back(
    world: World, web: Web, api: str, caller: Caller
) -> None:
    add = ScriptedCall("add", {"a": 1, "b": 2})
    models = served(world, (SEARCH, add), end=Say("Three [1]."))
    tools: dict[str, Any] = {
        "anthropic": {"tools": [{"name": "add", "description": "Adds", "input_schema": ADD}]},
        "openai_responses": {"tools": [responses("add", ADD)]},
        "ollama": {"tools": [chat("add", ADD)]},
        "gemini": {"config": {"tools": [{"function_declarations": [{"name": "add", "parameters_json_schema": ADD}]}]}},
    }
    body = request(api, **tools[api])
    call = caller(models, api)
    run = await run_tools(body, call, web=web, api=api, mode="local")
    assert (run.stop, [one.name for one in run.pending]) == ("calls", ["add"])
    assert run.spent.searches == 1
    together = api in ("anthropic", "gemini")  # which want all results of a turn in one message
    assert len(run.with_results(["3"])) == len(run.messages) + (not together)
    key = run.plan.api.body
    further = await run_tools({**body, key: list(run.with_results(["3"]))}, call, web=web, api=api, mode="local")
    assert (further.stop, further.answer.text) == ("answered", "Three [1].")
    found, added = models_results(models)
    assert "Search results for" in found
    assert added == "3"
    with pytest.raises(InvalidRequest, match="has 0 for 1 calls"):
        run.with_results([])


@pytest.mark.req("B5")
async def test_auto_takes_no_hosted_search_that_nobody_can_bound(world: World, settings: Any, caller: Caller) -> None:
    models = served(world, SEARCH)
    body = {**request("gemini"), "model": "gemini-3-flash-preview"}
    native = {"native": {"providers": ("gemini", "openai", "anthropic")}}
    async with Web(settings(search=native, session={"max_searches": 20})) as web:
        run = await run_tools(body, caller(models, "gemini"), web=web, api="gemini")
        assert (run.plan.path, run.spent.searches) == ("local", 1)
        assert "does not support max_uses" in run.plan.reason
    models.decide = script(end=Say("It merges."))
    async with Web(settings(search=native, session={"max_searches": 0})) as web:
        run = await run_tools(body, caller(models, "gemini"), web=web, api="gemini")
        assert (run.plan.path, run.spent.hosted_searches) == ("native", 1)
        assert (await web.usage())["searches"] == 1


async def test_what_cannot_be_run_is_said_before_anything_is_asked(web: Web) -> None:
    def never(body: dict[str, Any]) -> Any:
        raise AssertionError("nothing must be asked")

    with pytest.raises(InvalidRequest, match="messages: is missing"):
        await run_tools({"model": "m"}, never, web=web, api="ollama")
    with pytest.raises(InvalidRequest, match="cannot be 'nobody'"):
        await run_tools(request("ollama"), never, web=web, api="nobody")
    with pytest.raises(InvalidRequest, match="has a format"):
        await run_tools({"modelId": "m", "messages": [QUESTION]}, never, web=web, api="bedrock")
    with pytest.raises(InvalidRequest, match="max_rounds"):
        await run_tools(request("ollama"), never, web=web, api="ollama", max_rounds=0)
    own = chat("web_search", {"type": "object", "properties": {"table": {"type": "string"}}, "required": ["table"]})
    with pytest.raises(InvalidRequest, match="function of your own"):
        await run_tools(request("ollama", tools=[own]), never, web=web, api="ollama")
    with pytest.raises(InvalidRequest, match="returned NoneType"):
        await run_tools(request("ollama"), lambda body: None, web=web, api="ollama")


async def test_broken_arguments_and_messages_alone(world: World, web: Web, caller: Caller) -> None:
    models = served(world, SEARCH)
    call = caller(models, "ollama")

    def breaking(body: dict[str, Any]) -> Any:
        answer = asyncio.run(plain(body))
        for one in answer["choices"][0]["message"].get("tool_calls") or ():
            one["function"]["arguments"] = '{"query": '
        return answer

    async def plain(body: dict[str, Any]) -> Any:
        client = heavy.openai.AsyncOpenAI(base_url=f"{models.url}/v1", api_key="none", max_retries=0, timeout=100)
        async with client:
            return (await client.chat.completions.create(**body)).to_dict(mode="json")

    run = await run_tools([QUESTION], breaking, web=web, api="ollama", model="qwen3")
    assert (run.stop, run.spent.searches) == ("answered", 0)
    assert "no JSON object" in models_results(models)[0]
    run = await run_tools("What?", call, web=web, api="ollama", model="qwen3")
    assert isinstance(run, Run)
    assert run.messages[0] == {"role": "user", "content": "What?"}


REFUSED = {
    "model_not_found": (404, {"message": "The model does not exist", "code": "model_not_found"}),
    "an unknown tool": (400, {"message": "tools.0: Input tag 'web_search_20250305' does not match any expected tags"}),
    "a refused field": (400, {"message": "Unknown parameter: 'tools[0].web_search.filters'."}),
}


@pytest.mark.req("B28")
@pytest.mark.parametrize("why", REFUSED)
@pytest.mark.parametrize("api", ["anthropic", "openai_responses", "openai_chat"])
async def test_an_api_that_refuses_its_own_search_gets_ours(
    world: World, settings: Callable[..., Settings], caller: Caller, api: str, why: str
) -> None:
    models = served(world, SEARCH)
    ours = models.decide
    models.decide = lambda asked: ours(asked) if asked.functions else Say("Not reached.")
    status, error = REFUSED[why]
    refusal = InjectedFault.status(status, json.dumps({"type": "error", "error": error}))
    models.fail(refusal, times=None, when=lambda asked: b"open_page" not in asked.body)
    body: dict[str, Any] = {"model": "gpt-5-search-api" if api == "openai_chat" else "gpt-9"}
    body = {"model": "claude-9", "max_tokens": 99} if api == "anthropic" else body
    body |= {"input" if api == "openai_responses" else "messages": [QUESTION], "tools": [hosted_definition()]}
    search = {"mode": "auto", "native": {"providers": ("anthropic", "openai")}, "providers": ("searxng",)}
    async with Web(settings(search=search, session={"max_searches": 0})) as web:
        run = await run_tools(body, caller(models, api), web=web, api=api)
        assert run.stop == "answered"
        assert len(models.requests) == 3
        assert "refused its own search" in run.plan.reason
        assert "refused its own search" in run.plan.warnings[-1]
        assert [one.code for one in run.answer.errors] == ["hosted_search_refused"]
        assert run.sources[0].url == page_of(world)
        with pytest.raises((heavy.anthropic.APIStatusError, heavy.openai.APIStatusError)):
            await run_tools(body, caller(models, api), web=web, api=api, mode="native")
        assert len(models.requests) == 4


class Refused(Exception):
    """An error as the client libraries raise it."""

    def __init__(self, status: int, error: dict[str, Any]) -> None:
        super().__init__(json.dumps(error))
        self.status_code = status


_SAID: dict[str, dict[str, Any]] = {
    "chat": {"choices": [{"index": 0, "message": {"role": "assistant", "content": "Yes."}, "finish_reason": "stop"}]},
    "responses": {
        "object": "response",
        "status": "completed",
        "output": [{"type": "message", "role": "assistant", "content": [{"type": "output_text", "text": "Yes."}]}],
    },
    "anthropic": {"type": "message", "content": [{"type": "text", "text": "Yes."}], "stop_reason": "end_turn"},
    "gemini": {"candidates": [{"content": {"role": "model", "parts": [{"text": "Yes."}]}, "finishReason": "STOP"}]},
}
_HOSTED = sorted(name for name, row in load_matrix().apis.items() if row.hosted is not None and row.wire in _SAID)


@pytest.mark.req("B28")
@pytest.mark.parametrize("why", REFUSED)
@pytest.mark.parametrize("api", _HOSTED)
async def test_every_api_falls_back_once_and_says_so(settings: Callable[..., Settings], api: str, why: str) -> None:
    row, sent = load_matrix().apis[api], list[dict[str, Any]]()
    body = body_of(api, hosted_definition())
    body |= {"groq": {"model": "openai/gpt-oss-120b"}, "openai_chat": {"model": "gpt-5-search-api"}}.get(api, {})

    def refusing(asked: dict[str, Any]) -> dict[str, Any]:
        sent.append(asked)
        if "open_page" not in json.dumps(asked, default=str):
            raise Refused(*REFUSED[why])
        return _SAID[row.wire]

    def always(asked: dict[str, Any]) -> dict[str, Any]:
        sent.append(asked)
        raise Refused(*REFUSED[why])

    search = {"mode": "auto", "native": {"providers": (row.provider,)}, "providers": ("searxng",)}
    async with Web(settings(search=search)) as web:
        run = await run_tools(body, refusing, web=web, api=api)
        assert (run.stop, run.answer.text, len(sent), run.plan.path) == ("answered", "Yes.", 2, "local")
        assert "refused its own search" in run.plan.warnings[-1]
        assert [one.code for one in run.answer.errors] == ["hosted_search_refused"]
        with pytest.raises(Refused):
            await run_tools(body, always, web=web, api=api)
        assert len(sent) == 4, "it does not try for ever"
        if api == "groq":
            with pytest.raises(Refused):  # a compound model calls no tools, so that its own refusal is told
                await run_tools({**body, "model": "groq/compound"}, always, web=web, api=api)


async def test_a_page_that_is_fetched_in_one_piece_is_cited_in_the_next(web: Web) -> None:
    fetched = {"type": "web_fetch_result", "url": "https://a.test/x", "content": {"type": "document", "title": "A"}}
    cite = {"type": "char_location", "document_index": 0, "document_title": "A", "cited_text": "x"}
    use = {"type": "server_tool_use", "id": "s1", "name": "web_fetch", "input": {"url": "https://a.test/x"}}
    result = {"type": "web_fetch_tool_result", "tool_use_id": "s1", "content": fetched}
    pieces = [
        {"type": "message", "role": "assistant", "content": [use, result], "stop_reason": "pause_turn"},
        {
            "type": "message",
            "role": "assistant",
            "content": [{"type": "text", "text": "So it is.", "citations": [cite]}],
            "stop_reason": "end_turn",
        },
    ]
    left = iter(pieces)
    body = {"model": "claude-sonnet-5", "max_tokens": 99, "messages": [QUESTION], "tools": [hosted_definition()]}
    run = await run_tools(body, lambda _: next(left), web=web, api="anthropic", mode="native")
    assert [one.url for one in run.answer.citations] == ["https://a.test/x"]
    assert run.answer.opened == ("https://a.test/x",)


def test_the_errors_of_a_paused_turn_are_those_of_all_its_parts() -> None:
    def part(code: str, stop: str) -> HostedAnswer:
        error = {"type": "web_search_tool_result_error", "error_code": code}
        use = {"type": "server_tool_use", "id": f"s-{code}", "name": "web_search", "input": {"query": code}}
        result = {"type": "web_search_tool_result", "tool_use_id": f"s-{code}", "content": error}
        content = [use, result, {"type": "text", "text": "So."}]
        return read_answer(
            "anthropic", {"type": "message", "role": "assistant", "content": content, "stop_reason": stop}
        )

    first, last = part("unavailable", "pause_turn"), part("max_uses_exceeded", "end_turn")
    turn = joined((first, first, last))
    assert turn.errors == (*first.errors, *last.errors)
    assert turn.error == first.error
    assert (turn.text, turn.finish, len(turn.turn)) == ("So.So.So.", "end", 3)
    assert joined((last,)) == last
    refusal = read_answer("anthropic", {"type": "error", "error": {"type": "overloaded_error", "message": "Busy."}})
    failed = joined((first, refusal))  # what ended the turn is in no part's content
    assert failed.errors == (*first.errors, *refusal.errors)
    assert (failed.text, failed.finish) == ("So.", "failed")


async def test_kimis_search_gets_its_arguments_back(web: Web) -> None:
    function = {"name": "$web_search", "arguments": '{"search_result": {"search_id": "1"}}'}
    calls = [{"id": "c1", "type": "builtin_function", "function": function}]
    answers = [{"role": "assistant", "content": "", "tool_calls": calls}, {"role": "assistant", "content": "Found."}]
    sent: list[Any] = []

    def model(body: dict[str, Any]) -> dict[str, Any]:
        sent.append(body)
        finish = "stop" if len(sent) > 1 else "tool_calls"
        return {"choices": [{"index": 0, "message": answers[len(sent) - 1], "finish_reason": finish}]}

    body = {"model": "kimi-k2.6", "messages": [QUESTION], "tools": [hosted_definition()]}
    kimi = plan("kimi", "kimi-k2.6", "native", settings=EVERYBODY)
    run = await run_tools(body, model, web=web, api="kimi", plan=kimi)
    assert run.answer.text == "Found."
    assert sent[1]["messages"][-1] == {"role": "tool", "tool_call_id": "c1", "content": function["arguments"]}
    assert sent[1]["tools"] == [{"type": "builtin_function", "function": {"name": "$web_search"}}]
