"""Requests: the search becomes what the plan says, and nothing else changes."""

from __future__ import annotations

import copy
import json
from collections.abc import Callable
from datetime import UTC, date, datetime
from typing import Any

import pytest
from hypothesis import given
from hypothesis import strategies as st

from components.model_bodies import (
    ADD,
    EVERYBODY,
    QUESTION,
    SCHEMA,
    anthropic,
    bedrock,
    body_of,
    chat,
    declaration,
    responses,
)
from groundwire.errors import GroundwireError, InvalidRequest, NativeUnsupported
from groundwire.hosted import Location, Needs, hosted_definition, load_matrix, plan, plan_for, prepare

NOW = datetime(2026, 11, 22, 12, tzinfo=UTC)
FORMS: dict[str, Callable[..., dict[str, Any]]] = {
    "anthropic": anthropic,
    "bedrock": bedrock,
    "responses": responses,
    "interactions": responses,
    "mistral": chat,
    "chat": chat,
}


@pytest.mark.req("C1", "K3", "K6")
def test_anthropic() -> None:
    add = anthropic("add", ADD)
    sent = prepare(body_of("anthropic", anthropic(), add), "anthropic")
    assert sent["tools"] == [{"type": "web_search_20250305", "name": "web_search"}, add]
    assert sent["tools"][1] is add
    needs = Needs(max_uses=3, blocked_domains=("b.org",), location=Location(city="Rome", country="IT"))
    assert prepare(body_of("anthropic", anthropic()), "anthropic", needs=needs)["tools"] == [
        {
            "type": "web_search_20250305",
            "name": "web_search",
            "max_uses": 3,
            "blocked_domains": ["b.org"],
            "user_location": {"type": "approximate", "city": "Rome", "country": "IT"},
        }
    ]


def test_anthropics_own_tool_keeps_what_it_says_and_the_lower_limit_holds() -> None:
    own = {"type": "web_search_20250305", "name": "web_search", "max_uses": 5, "cache_control": {"type": "ephemeral"}}
    body = body_of("anthropic", own)
    assert prepare(body, "anthropic", needs=Needs(max_uses=9))["tools"] == [own]
    assert prepare(body, "anthropic", needs=Needs(max_uses=2))["tools"] == [{**own, "max_uses": 2}]
    newer = {**own, "type": "web_search_20260209"}
    assert prepare(body_of("anthropic", newer, model="claude-opus-4-8"), "anthropic")["tools"] == [newer]
    with pytest.raises(InvalidRequest, match="not available for claude-haiku-4-5"):
        prepare(body_of("anthropic", newer, model="claude-haiku-4-5"), "anthropic")


def test_what_a_hosted_tool_says_is_never_dropped() -> None:
    own = {"type": "web_search_20250305", "name": "web_search", "allowed_domains": ["a.org", "b.org"]}
    body = body_of("anthropic", own)
    narrower = prepare(body, "anthropic", needs=Needs(allowed_domains=("docs.a.org", "c.org")))
    assert narrower["tools"][0]["allowed_domains"] == ["docs.a.org"]
    fewer = prepare(body, "anthropic", needs=Needs(blocked_domains=("b.org", "c.org")))
    assert fewer["tools"][0]["allowed_domains"] == ["a.org"]
    assert "blocked_domains" not in fewer["tools"][0]
    other = prepare(body_of("anthropic", {**own, "allowed_domains": None, "blocked_domains": ["a.org"]}), "anthropic")
    assert (other["tools"][0]["blocked_domains"], "allowed_domains" in other["tools"][0]) == (["a.org"], False)
    with pytest.raises(InvalidRequest, match="no domain that the other list of allowed domains includes"):
        prepare(body, "anthropic", needs=Needs(allowed_domains=("c.org",)))
    with pytest.raises(InvalidRequest, match="ask for a search that differs from the plan"):
        prepare(body_of("anthropic", own), plan("anthropic", "claude-sonnet-5"))


def test_another_apis_hosted_tool_is_translated() -> None:
    foreign = {"type": "web_search_20250305", "name": "web_search", "max_uses": 2, "allowed_domains": ["a.org"]}
    sent = prepare(body_of("openai_responses", foreign), "openai")
    assert sent["tools"] == [{"type": "web_search", "filters": {"allowed_domains": ["a.org"]}}]
    assert sent["max_tool_calls"] == 2
    theirs = {"type": "web_search", "filters": {"allowed_domains": ["a.org"]}}
    assert prepare(body_of("anthropic", theirs), "anthropic")["tools"] == [
        {"type": "web_search_20250305", "name": "web_search", "allowed_domains": ["a.org"]}
    ]


@pytest.mark.req("C2")
def test_openai_chat_as_document_c_has_it() -> None:
    add = chat("add", ADD)
    body = body_of("openai_chat", chat(), add, tool_choice="auto")
    sent = prepare(body, "openai", switch_model=True)
    assert sent == {
        "model": "gpt-5-search-api",
        "messages": QUESTION,
        "tools": [add],
        "tool_choice": "auto",
        "web_search_options": {"search_context_size": "medium"},
    }
    alone = prepare(
        body_of("openai_chat", chat(), tool_choice="auto", parallel_tool_calls=None), "openai_chat", mode="native"
    )
    assert set(alone) == {"model", "messages", "web_search_options"}
    place = prepare(
        body_of("openai_chat", chat()), "openai", needs=Needs(location=Location(country="NL")), switch_model=True
    )
    assert place["web_search_options"]["user_location"] == {"type": "approximate", "approximate": {"country": "NL"}}
    own = body_of(
        "openai_chat", chat(), model="gpt-5-search-api-2025-10-14", web_search_options={"search_context_size": "low"}
    )
    assert prepare(own, "openai")["model"] == "gpt-5-search-api-2025-10-14"
    assert prepare(own, "openai")["web_search_options"] == {"search_context_size": "low"}


@pytest.mark.req("K3", "K6")
def test_openai_responses() -> None:
    add = responses("add", ADD)
    needs = Needs(max_uses=4, allowed_domains=("a.org",), location=Location(timezone="Europe/Rome"))
    body = body_of("openai_responses", add, responses(), tool_choice={"type": "function", "name": "web_search"})
    sent = prepare(body, "openai", needs=needs)
    assert sent["tools"] == [
        add,
        {
            "type": "web_search",
            "filters": {"allowed_domains": ["a.org"]},
            "user_location": {"type": "approximate", "timezone": "Europe/Rome"},
        },
    ]
    assert sent["tool_choice"] == {"type": "web_search"}
    assert sent["max_tool_calls"] == 4
    assert prepare({**body, "max_tool_calls": 2}, "openai", needs=needs)["max_tool_calls"] == 2
    several = {"type": "allowed_tools", "mode": "auto", "tools": [{"type": "function", "name": "web_search"}, add]}
    changed = prepare(body_of("openai_responses", responses(), add, tool_choice=several), "openai")["tool_choice"]
    assert changed["tools"] == [{"type": "web_search"}, add]


def test_gemini() -> None:
    add = declaration("add", ADD)
    body = body_of(
        "gemini",
        {"functionDeclarations": [declaration(), add]},
        toolConfig={"functionCallingConfig": {"mode": "ANY", "allowedFunctionNames": ["web_search", "add"]}},
    )
    sent = prepare(body, "gemini", settings=EVERYBODY, needs=Needs(time_range="w"), now=NOW)
    span = {"startTime": "2026-11-15T12:00:00Z", "endTime": "2026-11-22T12:00:00Z"}
    assert sent["tools"] == [{"googleSearch": {"timeRangeFilter": span}}, {"functionDeclarations": [add]}]
    assert sent["tools"][1]["functionDeclarations"][0] is add
    assert sent["toolConfig"] == {
        "functionCallingConfig": {"mode": "ANY", "allowedFunctionNames": ["add"]},
        "includeServerSideToolInvocations": True,
    }
    alone = prepare(body_of("gemini", {"functionDeclarations": [declaration()]}), "gemini", settings=EVERYBODY)
    assert alone["tools"] == [{"googleSearch": {}}]
    assert "toolConfig" not in alone
    older = {**body, "model": "gemini-2.5-flash-lite"}
    assert prepare(older, "gemini", settings=EVERYBODY) == older
    vertex = prepare(
        body_of("gemini", hosted_definition()),
        "gemini",
        needs=Needs(blocked_domains=("a.org",)),
        settings=EVERYBODY,
        cloud="vertex",
    )
    assert vertex["tools"] == [{"googleSearch": {"excludeDomains": ["a.org"]}}]


def test_gemini_as_its_sdk_is_called() -> None:
    body = {
        "contents": "What is new?",
        "config": {"temperature": 0, "tools": [{"function_declarations": [declaration(), declaration("add", ADD)]}]},
    }
    sent = prepare(
        body, "gemini", model="gemini-3-flash-preview", settings=EVERYBODY, needs=Needs(time_range="d"), now=NOW
    )
    assert list(sent["config"]["tools"][0]["google_search"]) == ["time_range_filter"]
    assert sent["config"]["tool_config"] == {"include_server_side_tool_invocations": True}
    assert sent["config"]["temperature"] == 0
    with pytest.raises(InvalidRequest, match="model: is not given"):
        prepare(body, "gemini", settings=EVERYBODY)


@pytest.mark.parametrize(
    ("api", "needs", "changes"),
    [
        (
            "xai",
            Needs(blocked_domains=("a.org",)),
            {"tools": [{"type": "web_search", "filters": {"excluded_domains": ["a.org"]}}]},
        ),
        ("mistral", Needs(), {"tools": [{"type": "web_search"}]}),
        ("gemini_interactions", Needs(), {"tools": [{"type": "google_search"}]}),
        (
            "groq",
            Needs(allowed_domains=("a.org",), blocked_domains=("x.a.org",), location=Location(country="DE")),
            {"search_settings": {"include_domains": ["a.org"], "exclude_domains": ["x.a.org"], "country": "germany"}},
        ),
        (
            "openrouter",
            Needs(max_uses=2, blocked_domains=("a.org",)),
            {
                "tools": [
                    {"type": "openrouter:web_search", "parameters": {"max_uses": 2, "excluded_domains": ["a.org"]}}
                ]
            },
        ),
        (
            "perplexity",
            Needs(blocked_domains=("a.org",), published_after=date(2025, 3, 1), location=Location(country="FR")),
            {
                "tools": [
                    {
                        "type": "web_search",
                        "filters": {"search_domain_filter": ["-a.org"], "search_after_date_filter": "3/1/2025"},
                        "user_location": {"country": "FR"},
                    }
                ]
            },
        ),
        (
            "perplexity",
            Needs(time_range="m"),
            {"tools": [{"type": "web_search", "filters": {"search_recency_filter": "month"}}]},
        ),
        ("deepseek", Needs(), {"tools": [{"type": "web_search_20250305", "name": "web_search"}]}),
        (
            "kimi",
            Needs(),
            {
                "tools": [{"type": "builtin_function", "function": {"name": "$web_search"}}],
                "thinking": {"type": "disabled"},
            },
        ),
        ("qwen", Needs(), {"enable_search": True}),
        ("qwen_responses", Needs(), {"tools": [{"type": "web_search"}]}),
        ("venice", Needs(), {"venice_parameters": {"enable_web_search": "auto", "enable_web_citations": True}}),
        (
            "zai",
            Needs(time_range="w", allowed_domains=("a.org",)),
            {
                "tools": [
                    {
                        "type": "web_search",
                        "web_search": {
                            "enable": True,
                            "search_engine": "search_pro_jina",
                            "search_result": True,
                            "search_domain_filter": "a.org",
                            "search_recency_filter": "oneWeek",
                        },
                    }
                ]
            },
        ),
    ],
)
def test_the_others(api: str, needs: Needs, changes: dict[str, Any]) -> None:
    form = FORMS[load_matrix().apis[api].wire]
    body = body_of(api, form())
    sent = prepare(body, api, needs=needs, settings=EVERYBODY)
    assert sent == {**{key: value for key, value in body.items() if key != "tools"}, **changes}


def test_what_the_caller_told_venice_is_kept() -> None:
    given = {"character_slug": "alan", "enable_web_search": "off"}
    body = body_of("venice", chat(), venice_parameters=given)
    sent = prepare(body, "venice", settings=EVERYBODY)
    assert sent["venice_parameters"] == {
        "character_slug": "alan",
        "enable_web_search": "auto",
        "enable_web_citations": True,
    }
    assert body["venice_parameters"] == given == {"character_slug": "alan", "enable_web_search": "off"}


@pytest.mark.parametrize(
    ("api", "model", "why"),
    [
        ("kimi", "kimi-k3", "always thinks"),
        ("qwen", "qwen3.7-max", "Responses"),
        ("qwen_responses", "qwen-plus", "begins with qwen3-max"),
    ],
)
def test_models_that_cannot_search_get_the_local_tool(api: str, model: str, why: str) -> None:
    found = plan(load_matrix().apis[api], model, settings=EVERYBODY)
    assert found.path == "local"
    assert why in found.reason


@pytest.mark.parametrize(
    ("api", "model"),
    [
        ("kimi", "kimi-k2.6"),
        ("kimi", "moonshot-v1-auto"),
        ("deepseek", "deepseek-flash"),
        ("bedrock", "us.amazon.nova-2-lite-v1:0"),
        ("qwen", "qwen3.5-plus"),
        ("qwen_responses", "qwen3.8-max"),
        ("perplexity", "perplexity/sonar"),
        ("perplexity", "openai/gpt-6-luna"),
        ("venice", "zai-org-glm-5-2"),
        ("zai", "glm-5.3"),
    ],
)
def test_models_that_search(api: str, model: str) -> None:
    assert plan(load_matrix().apis[api], model, settings=EVERYBODY).path == "native"


def test_kimis_search_and_thinking_exclude_each_other() -> None:
    body = body_of("kimi", chat(), thinking={"type": "enabled"})
    assert prepare(body, "kimi", settings=EVERYBODY) == body
    old = prepare(body_of("kimi", chat(), model="moonshot-v1-auto"), "kimi", settings=EVERYBODY)
    assert "thinking" not in old


def test_groqs_other_search() -> None:
    sent = prepare(body_of("groq", chat(), model="openai/gpt-oss-120b"), "groq", settings=EVERYBODY)
    assert sent["tools"] == [{"type": "browser_search"}]


@pytest.mark.req("C3", "K6")
@pytest.mark.parametrize("api", ["ollama", "lmstudio", "vllm", "llama_cpp", "mlx", "openai_compatible", "bedrock"])
def test_everyone_else_gets_function_tools_in_its_own_form(api: str) -> None:
    form = FORMS[load_matrix().apis[api].wire]
    add = form("add", ADD)

    def body(*tools: Any) -> dict[str, Any]:
        whole = body_of(api, *tools)
        found = whole.pop("tools")
        return {**whole, "toolConfig": {"tools": found}} if api == "bedrock" else {**whole, "tools": found}

    assert prepare(body(form(), add), api) == body(form(), add)
    for other in FORMS.values():
        sent = prepare(body(other(), add), api)
        assert sent == body(form(), add)
    tools = (plain("web_search"), plain("open_page"))
    sent = prepare(body(hosted_definition(), add), api, tools=tools)
    assert sent == body(form("web_search", SCHEMA), form("open_page", SCHEMA), add)
    assert prepare(sent, api, tools=tools) == sent


class plain:  # noqa: N801  # stands for a tool of ours
    def __init__(self, name: str) -> None:
        self.name, self.description, self.parameters = name, "A tool.", SCHEMA


def test_gemini_searched_by_us() -> None:
    add = declaration("add", ADD)
    own: dict[str, Any] = {"googleSearch": {}}
    tools = (plain("web_search"), plain("open_page"))
    sent = prepare(body_of("gemini", own, {"functionDeclarations": [add]}), "gemini", tools=tools)
    new = [declaration("web_search"), declaration("open_page")]
    assert sent["tools"] == [{"functionDeclarations": new}, {"functionDeclarations": [add]}]
    assert prepare(sent, "gemini", tools=tools) == sent
    foreign = prepare(body_of("gemini", chat()), "gemini")
    assert foreign["tools"] == [{"functionDeclarations": [declaration()]}]


def test_gemini_searched_by_us_beside_a_declaration_without_a_name() -> None:
    nameless = {"description": "A function that a client has not filled in."}
    body = body_of("gemini", {"functionDeclarations": [nameless, declaration()]})
    sent = prepare(body, "gemini", mode="local", tools=(plain("web_search"), plain("open_page")))
    assert sent["tools"] == [{"functionDeclarations": [nameless, declaration("web_search"), declaration("open_page")]}]


@pytest.mark.req("K4")
def test_document_ks_tool_is_the_search_when_it_is_ours() -> None:
    body = body_of("anthropic", anthropic("search"), anthropic("add", ADD))
    assert prepare(body, "anthropic") == body  # somebody's own tool of that name is none of our business
    assert prepare(body, "anthropic", tools=(plain("search"),))["tools"][0]["type"] == "web_search_20250305"


@pytest.mark.parametrize(
    ("body", "api", "said"),
    [
        (body_of("x", chat()), "open-ai", "api: cannot be 'open-ai'"),
        ([], "openai", "body: must be an object, not list"),
        ({"model": "gpt-6-luna", "tools": [chat()]}, "openai_chat", "messages: is missing"),
        ({"model": "gpt-6.1-sol", "tools": [chat()]}, "openai_responses", "input: is missing"),
        ({"model": "c", "messages": [], "tools": [chat()]}, "anthropic", "messages: is empty"),
        ({"messages": QUESTION, "tools": [chat()]}, "ollama", "model: is not given"),
        (body_of("ollama") | {"tools": {"web_search": {}}}, "ollama", "tools: must be a list, not dict"),
        (body_of("ollama", chat(), chat()), "ollama", "has 2 tools that search the web"),
        (body_of("anthropic", anthropic(), hosted_definition()), "anthropic", "must not be named web_search"),
        (body_of("ollama", chat("web_search", ADD)), "ollama", "a function of your own that is named web_search"),
        (body_of("ollama", {"type": "groundwire:web_search", "maxuses": 1}), "ollama", "has no field 'maxuses'"),
    ],
)
def test_bad_bodies_are_named(body: Any, api: str, said: str) -> None:
    before = copy.deepcopy(body)
    with pytest.raises(InvalidRequest, match=said):
        prepare(body, api)
    assert body == before


def test_a_name_of_ours_that_is_taken() -> None:
    body = body_of("ollama", chat(), chat("open_page", ADD))
    with pytest.raises(InvalidRequest, match="of your own that is named open_page"):
        prepare(body, "ollama", tools=(plain("web_search"), plain("open_page")))


def test_a_plan_that_does_not_fit_the_body() -> None:
    chosen = plan("gemini", "gemini-2.5-flash-lite", "native", settings=EVERYBODY)
    body = body_of(
        "gemini",
        {"googleSearch": {}},
        {"functionDeclarations": [declaration("add", ADD)]},
        model="gemini-2.5-flash-lite",
    )
    with pytest.raises(NativeUnsupported, match="other function tools"):
        prepare(body, chosen)
    with pytest.raises(InvalidRequest, match="Make a new plan"):
        prepare({**body, "model": "gemini-3"}, chosen)
    with pytest.raises(NativeUnsupported, match="temperature"):
        prepare(body_of("openai_chat", chat(), temperature=1), plan("openai_chat", "gpt-6-luna", "native"))
    with pytest.raises(NativeUnsupported, match="minimal"):
        prepare(
            body_of("openai_responses", responses(), reasoning={"effort": "minimal"}), plan("openai", "gpt-6.1-sol")
        )


def test_a_wrong_option_is_never_ignored() -> None:
    wrong: Any = {"moed": "native"}
    body = body_of("openai_responses", responses())
    for how, request in ((plan_for(body, "openai"), body), ("openai", {**body, "tools": []}), ("openai", body)):
        with pytest.raises(TypeError, match=r"prepare\(\) got an unexpected keyword argument 'moed'"):
            prepare(request, how, **wrong)
    with pytest.raises(TypeError, match="moed"):
        plan_for(body, "openai", **wrong)


def test_a_body_without_a_search_comes_back_as_it_is_unless_one_is_to_be_added() -> None:
    body = body_of("anthropic", anthropic("add", ADD))
    assert prepare(body, "anthropic") == body
    assert prepare(body, "anthropic", add=True)["tools"][1]["type"] == "web_search_20250305"
    assert prepare(body_of("ollama"), "ollama", add=True)["tools"][0]["function"]["name"] == "web_search"
    bare = {"model": "qwen3", "messages": QUESTION}
    assert prepare(bare, "ollama") == bare
    with pytest.raises(InvalidRequest, match="olama"):
        prepare(bare, "olama")


@pytest.mark.req("B7")
def test_what_a_hosted_tool_in_the_body_says_is_planned_for() -> None:
    own = {"type": "web_search", "filters": {"allowed_domains": ["a.org"], "blocked_domains": ["b.a.org"]}}
    found = plan_for(body_of("openai_responses", own), "openai")
    assert (found.path, found.needs.allowed_domains, found.needs.blocked_domains) == ("local", ("a.org",), ("b.a.org",))


OTHERS = st.lists(
    st.one_of(
        st.sampled_from(["add", "open_page", "searcher", "web_searches"]).flatmap(
            lambda name: st.sampled_from([chat(name, ADD), responses(name, ADD), anthropic(name, ADD)])
        ),
        st.dictionaries(st.text(max_size=5), st.integers() | st.text(max_size=5), max_size=3),
        st.just({"type": "code_interpreter", "container": {"type": "auto"}}),
    ),
    max_size=5,
)
NEEDS = st.sampled_from([Needs(), Needs(max_uses=2), Needs(allowed_domains=("a.org",)), Needs(time_range="w")])


@pytest.mark.req("K6")
@given(
    api=st.sampled_from(sorted(set(load_matrix().apis) - {"gemini", "bedrock"})),
    before=OTHERS,
    after=OTHERS,
    needs=NEEDS,
    kind=st.sampled_from(["function", "hosted"]),
)
def test_other_tools_are_the_same_objects_and_twice_is_once(
    api: str, before: list[Any], after: list[Any], needs: Needs, kind: str
) -> None:
    search = hosted_definition() if kind == "hosted" else FORMS[load_matrix().apis[api].wire]()
    body = body_of(api, *before, search, *after, temperature=None)
    frozen = json.dumps(body)
    try:
        chosen = plan_for(body, api, needs=needs, settings=EVERYBODY)
    except GroundwireError:
        return
    sent = prepare(body, chosen)
    assert json.dumps(body) == frozen
    assert prepare(sent, chosen) == sent
    ours = [tool for tool in sent.get("tools", ()) if not any(tool is other for other in (*before, *after))]
    assert len(ours) <= 1
    rest = [tool for tool in sent.get("tools", ()) if tool not in ours]
    assert [id(tool) for tool in rest] == [id(tool) for tool in (*before, *after)]


@given(before=OTHERS, after=OTHERS, model=st.sampled_from(["gemini-2.5-flash-lite", "gemini-3.8-flash"]), needs=NEEDS)
def test_the_same_for_gemini(before: list[Any], after: list[Any], model: str, needs: Needs) -> None:
    tool = {"functionDeclarations": [*before, declaration(), *after], "codeExecution": {}}
    body = body_of("gemini", tool, model=model)
    frozen = json.dumps(body)
    chosen = plan_for(body, "gemini", needs=needs, settings=EVERYBODY)
    sent = prepare(body, chosen, now=NOW)
    assert json.dumps(body) == frozen
    assert prepare(sent, chosen, now=NOW) == sent
    declared = [one for each in sent["tools"] for one in each.get("functionDeclarations", ())]
    assert [id(one) for one in declared if one.get("name") != "web_search"] == [id(one) for one in (*before, *after)]
    assert any("codeExecution" in each for each in sent["tools"])


KEYS = st.sampled_from(
    [
        "type",
        "name",
        "function",
        "parameters",
        "input_schema",
        "properties",
        "required",
        "query",
        "filters",
        "toolSpec",
        "functionDeclarations",
        "googleSearch",
        "allowed_domains",
        "blocked_domains",
        "max_uses",
        "tools",
        "user_location",
        "location",
        "effort",
        "functionCallingConfig",
        "allowedFunctionNames",
    ]
)
BODY_KEYS = st.sampled_from(
    [
        "tool_choice",
        "toolConfig",
        "config",
        "reasoning",
        "search_settings",
        "web_search_options",
        "max_tool_calls",
        "model",
        "messages",
        "input",
        "contents",
        "inputs",
    ]
)
WORDS = st.sampled_from(["web_search", "function", "groundwire:web_search", "custom", "allowed_tools", "query", "x"])
SEARCHES: list[dict[str, Any]] = [
    chat(),
    responses(),
    anthropic(),
    bedrock(),
    hosted_definition(),
    {"functionDeclarations": [declaration()]},
    {"googleSearch": {}},
    {"type": "web_search"},
    {"type": "web_search_20250305", "name": "web_search"},
    {"type": "openrouter:web_search"},
]


def odd(depth: int = 2) -> st.SearchStrategy[Any]:
    """Return values as a careless caller writes them, with the keys that matter."""
    simple = st.none() | st.booleans() | st.integers(-2, 3) | WORDS
    inner = simple if depth == 0 else odd(depth - 1)
    return simple | st.lists(inner, max_size=3) | st.dictionaries(KEYS, inner, max_size=4)


@given(
    api=st.sampled_from(sorted(load_matrix().apis)),
    tools=odd(3) | st.lists(odd(2), max_size=3),
    more=st.dictionaries(BODY_KEYS, odd(2), max_size=3),
    search=st.none() | st.builds(dict.__or__, st.sampled_from(SEARCHES), st.dictionaries(KEYS, odd(1), max_size=2)),
    needs=NEEDS,
    own=st.booleans(),
)
def test_whatever_a_body_is_the_answer_is_a_body_or_an_error_of_ours(
    api: str, tools: Any, more: dict[str, Any], search: Any, needs: Needs, own: bool
) -> None:
    body = {**body_of(api), "tools": [*tools, search] if isinstance(tools, list) and search else tools, **more}
    frozen = json.dumps(body)
    ours = (plain("web_search"), plain("open_page")) if own else ()
    try:
        sent = prepare(body, api, needs=needs, settings=EVERYBODY, tools=ours, now=NOW)
    except GroundwireError:
        sent = {}
    assert json.dumps(body) == frozen
    json.dumps(sent)
