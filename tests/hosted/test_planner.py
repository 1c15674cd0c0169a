"""Who searches: the table of convergio and codelia, and every need that a hosted tool may not honor."""

from __future__ import annotations

import json
from datetime import date
from typing import Any, get_args

import pytest
from hypothesis import given
from hypothesis import strategies as st

from groundwire.errors import ConfigurationError, InvalidRequest, NativeUnsupported
from groundwire.hosted import Location, Needs, load_matrix, plan
from groundwire.hosted.planner import Mode
from groundwire.hosted.requirements import common, simplified
from groundwire.models import TimeRange
from groundwire.safety.urls import DomainPolicy
from groundwire.settings import MODEL_PROVIDERS, Settings

EVERYBODY = Settings.model_validate({"search": {"native": {"providers": MODEL_PROVIDERS}}})
DOCUMENT_K = """
{"search": {"mode": "auto", "native": {"providers": ["openai", "anthropic"]},
 "local": {"backend": "ddg", "brave_api_key_env": "BRAVE_SEARCH_API_KEY"}}}
"""


@pytest.mark.req("K1")
def test_document_ks_block_is_our_default() -> None:
    assert Settings.model_validate(json.loads(DOCUMENT_K)).search == Settings().search
    with pytest.raises(ValueError, match="did you mean 'anthropic'"):
        Settings.model_validate({"search": {"native": {"providers": ["antropic"]}}})
    with pytest.raises(ValueError, match="brave_api_key_env"):
        Settings.model_validate({"search": {"local": {"brave_api_key_env": "BSAdx83-a-key"}}})


@pytest.mark.req("C1", "C2", "C3", "K2", "K3", "B7")
@pytest.mark.parametrize(
    ("api", "model", "path", "tool"),
    [
        ("anthropic", "claude-sonnet-4-5", "native", "web_search_20250305"),
        ("openai", "gpt-6.1-sol", "native", "web_search"),
        ("openai_responses", "gpt-6-luna", "native", "web_search"),
        ("openai_chat", "gpt-5-search-api", "native", "web_search_options"),
        ("openai_chat", "gpt-6-luna", "local", ""),
        ("openrouter", "anthropic/claude-sonnet-5", "local", ""),
        ("gemini", "gemini-2.5-flash-lite", "local", ""),
        ("ollama", "qwen3", "local", ""),
        ("mlx", "mlx-community/Qwen3-4B", "local", ""),
        ("xai", "grok-4.3", "local", ""),
    ],
)
def test_the_paths_of_the_documents(api: str, model: str, path: str, tool: str) -> None:
    found = plan(api, model)
    assert (found.path, found.tool) == (path, tool)
    assert found.reason.endswith(".")
    assert plan(api, model, "local").path == "local"


@pytest.mark.req("K7")
@pytest.mark.parametrize("api", ["ollama", "openrouter", "gemini", "bedrock", "mistral_chat"])
def test_native_with_an_unsupported_provider_fails_naming_both(api: str) -> None:
    with pytest.raises(NativeUnsupported) as caught:
        plan(api, "some-model", "native")
    assert "native" in str(caught.value)
    assert caught.value.provider in str(caught.value)
    assert isinstance(caught.value, ConfigurationError)


@pytest.mark.req("B7")
@pytest.mark.parametrize(
    ("api", "model", "needs", "said"),
    [
        ("anthropic", "claude-sonnet-5", Needs(time_range="w"), "cannot filter by date"),
        ("anthropic", "claude-sonnet-5", Needs(allowed_domains=("a.org",), blocked_domains=("x.a.org",)), "not both"),
        ("openai", "gpt-6.1-sol", Needs(blocked_domains=("a.org",)), "is known to ignore blocked_domains"),
        ("openai", "gpt-6.1-sol", Needs(allowed_domains=tuple(f"d{n}.org" for n in range(101))), "at most 100"),
        ("openai_chat", "gpt-5-search-api", Needs(allowed_domains=("a.org",)), "does not support allowed_domains"),
        ("openai_chat", "gpt-5-search-api", Needs(max_uses=3), "max_uses"),
        ("gemini", "gemini-3.8-flash", Needs(allowed_domains=("a.org",)), "does not support allowed_domains"),
        ("gemini", "gemini-3.8-flash", Needs(blocked_domains=("a.org",)), "does not support blocked_domains"),
        ("gemini", "gemini-2.5-flash-lite", Needs(functions=True), "before Gemini 3"),
        ("gemini", "gemini-3.8-flash", Needs(location=Location(city="Rome")), "the user's city"),
        ("xai", "grok-4.3", Needs(allowed_domains=tuple(f"d{n}.org" for n in range(6))), "at most 5"),
        ("xai", "grok-4.3", Needs(blocked_domains=("docs.a.org",)), "only whole sites, not docs.a.org"),
        ("xai", "grok-vision", Needs(), "begin with Grok 4"),
        ("mistral", "mistral-large-latest", Needs(published_after=date(2026, 1, 1)), "cannot filter by date"),
        ("openrouter", "openai/gpt-6.1-sol", Needs(max_uses=1), "max_uses"),
        ("openai", "gpt-oss-20b", Needs(), "no hosted search there"),
    ],
)
def test_a_need_that_hosted_search_cannot_honor(api: str, model: str, needs: Needs, said: str) -> None:
    found = plan(api, model, "auto", needs, settings=EVERYBODY)
    assert found.path == "local"
    assert said in found.reason
    if "known to ignore" in said:  # it can be asked for, and is not to be relied upon
        assert said in plan(api, model, "native", needs, settings=EVERYBODY).warnings[0]
    else:
        with pytest.raises(NativeUnsupported, match=said):
            plan(api, model, "native", needs, settings=EVERYBODY)


@pytest.mark.req("B7")
@pytest.mark.parametrize(
    ("api", "model", "needs"),
    [
        ("anthropic", "claude-sonnet-5", Needs(max_uses=2, allowed_domains=("a.org",), functions=True)),
        ("anthropic", "claude-sonnet-5", Needs(allowed_domains=("a.org",), blocked_domains=("b.org",))),
        ("openai", "gpt-6.1-sol", Needs(max_uses=2, location=Location(country="DE"))),
        ("gemini", "gemini-3.8-flash", Needs(time_range="m", functions=True)),
        ("xai", "grok-4.3", Needs(blocked_domains=("bbc.co.uk",))),
        ("perplexity", "openai/gpt-5.5", Needs(time_range="d", allowed_domains=("a.org",))),
        ("groq", "groq/compound-mini", Needs(blocked_domains=("a.org",), allowed_domains=("b.org",))),
    ],
)
def test_needs_that_hosted_search_honors(api: str, model: str, needs: Needs) -> None:
    assert plan(api, model, "native", needs, settings=EVERYBODY).path == "native"


def test_clouds_differ() -> None:
    usual, newer = "web_search_20250305", "web_search_20260209"
    assert plan("anthropic", "claude-opus-4-8", tool=newer).tool == newer
    for cloud in ("vertex", "foundry"):
        assert plan("anthropic", "claude-opus-4-8", cloud=cloud).tool == usual
        with pytest.raises(InvalidRequest, match="not available for claude-opus-4-8"):
            plan("anthropic", "claude-opus-4-8", cloud=cloud, tool=newer)
    assert plan("anthropic", "claude-opus-4-8", cloud="bedrock").path == "local"
    with pytest.raises(InvalidRequest, match="not available for claude-sonnet-4-5"):
        plan("anthropic", "claude-sonnet-4-5", tool=newer)
    assert plan("anthropic", "claude-haiku-4-5", tool="web_search_20260318").direct_only
    needs = Needs(blocked_domains=("a.org",))
    assert plan("gemini", "gemini-2.5-flash-lite", "auto", needs, cloud="vertex", settings=EVERYBODY).path == "native"
    for model in ("gemini-2.5-flash-lite", "gemini-3.8-flash"):
        asked = Needs(functions=True)
        assert plan("gemini", model, "auto", asked, cloud="vertex", settings=EVERYBODY).path == "local"


def test_the_newest_version_is_the_last_one_that_the_model_has_there() -> None:
    usual, newest = "web_search_20250305", "web_search_20260318"
    for cloud in ("api", "aws"):
        assert plan("anthropic", "claude-opus-4-8", cloud=cloud).tool == usual
        assert plan("anthropic", "claude-opus-4-8", cloud=cloud, tool="web_search_20260209").tool.endswith("0209")
        made = plan("anthropic", "claude-opus-4-8", cloud=cloud, tool="newest")
        assert (made.tool, made.direct_only) == (newest, False)
        made = plan("anthropic", "claude-haiku-4-5", cloud=cloud, tool="newest")
        assert (made.tool, made.direct_only) == (newest, True)
    for cloud in ("vertex", "foundry"):
        assert plan("anthropic", "claude-opus-4-8", cloud=cloud, tool="newest").tool == usual
    assert plan("anthropic", "claude-opus-4-8", cloud="bedrock", tool="newest").path == "local"
    mistral = plan("mistral", "mistral-large-latest", tool="newest", settings=EVERYBODY)
    assert (mistral.tool, mistral.path) == ("web_search", "native"), "the premium search is no newer one"
    assert plan("xai", "grok-4.3", tool="newest", settings=EVERYBODY).tool == "web_search"


def test_pages_are_read_by_the_tool_of_the_same_version_where_there_is_one() -> None:
    body, needs = "claude-opus-4-8", Needs(allowed_domains=("a.org",))
    assert plan("anthropic", body, needs=needs).page_definition() == {
        "type": "web_fetch_20250910",
        "name": "web_fetch",
        "allowed_domains": ["a.org"],
    }
    assert plan("anthropic", body, tool="web_search_20260209").page_tool == "web_fetch_20260209"
    assert plan("anthropic", "claude-haiku-4-5", cloud="aws", tool="newest").page_definition() == {
        "type": "web_fetch_20260318",
        "name": "web_fetch",
        "allowed_callers": ["direct"],
    }
    for cloud in ("vertex", "foundry", "bedrock"):
        assert plan("anthropic", body, cloud=cloud).page_definition() is None
    assert plan("anthropic", body, "local").page_definition() is None
    assert plan("deepseek", "deepseek-v9", settings=EVERYBODY).page_definition() is None


def test_minimal_effort_and_refused_parameters() -> None:
    assert "minimal" in plan("openai", "gpt-6.1-sol", effort="minimal").reason
    assert plan("openai", "gpt-6.1-sol", effort="low").path == "native"
    assert (
        "refuses temperature" in plan("openai_chat", "gpt-5-search-api", parameters=("temperature", "messages")).reason
    )


@pytest.mark.parametrize(
    ("arguments", "said"),
    [
        (("olama", "qwen3"), "did you mean 'ollama'"),
        ((None, "qwen3"), "cannot be 'None'"),
        (("ollama", ""), "model: is not given"),
        (("ollama", "qwen3", "hosted"), "Pass one of: auto, native, local"),
        (("openai", "whisper-1"), "'whisper-1' of OpenAI Responses calls no tools"),
        (("groq", "groq/compound", "auto", Needs(functions=True)), "calls no tools"),
    ],
)
def test_bad_input_is_named(arguments: Any, said: str) -> None:
    with pytest.raises(InvalidRequest, match=said):
        plan(*arguments)


def test_what_the_caller_knows_better() -> None:
    with pytest.raises(InvalidRequest, match="calls no tools"):
        plan("ollama", "tiny", calls_tools=False)
    with pytest.raises(InvalidRequest, match="Pass one of: api"):
        plan("ollama", "tiny", cloud="vertex")
    with pytest.raises(InvalidRequest, match="has no hosted tool 'web_search_1999'"):
        plan("anthropic", "claude-sonnet-5", tool="web_search_1999")


@pytest.mark.req("B7")
def test_the_operators_lists_hold_for_hosted_search_too() -> None:
    settings = Settings.model_validate({"policy": {"allowed_domains": ["python.org"], "blocked_domains": ["bad.org"]}})
    found = plan("anthropic", "claude-sonnet-5", "auto", Needs(allowed_domains=("docs.python.org",)), settings=settings)
    assert (found.path, found.needs.allowed_domains, found.needs.blocked_domains) == (
        "native",
        ("docs.python.org",),
        (),
    )
    with pytest.raises(InvalidRequest, match="the other list of allowed domains includes"):
        plan("anthropic", "claude-sonnet-5", "auto", Needs(allowed_domains=("a.org",)), settings=settings)


LABELS = st.lists(st.sampled_from(["a", "b", "c"]), min_size=1, max_size=3).map(".".join)
DOMAINS = st.lists(LABELS.map(lambda name: f"{name}.org"), max_size=4, unique=True).map(tuple)


@given(ours=DOMAINS, theirs=DOMAINS, host=LABELS)
def test_common_lists_let_through_what_both_let_through(
    ours: tuple[str, ...], theirs: tuple[str, ...], host: str
) -> None:
    name = f"{host}.org"
    both = DomainPolicy(ours).permits(name) and DomainPolicy(theirs).permits(name)
    try:
        assert DomainPolicy(common(ours, theirs)).permits(name) == both
    except InvalidRequest:
        assert not both


@given(allowed=DOMAINS, blocked=DOMAINS, host=LABELS)
def test_simplified_lists_mean_the_same(allowed: tuple[str, ...], blocked: tuple[str, ...], host: str) -> None:
    name = f"{host}.org"
    before = DomainPolicy(allowed, blocked).permits(name)
    try:
        assert DomainPolicy(*simplified(allowed, blocked)).permits(name) == before
    except InvalidRequest:
        assert not before


NEEDS = st.builds(
    Needs,
    max_uses=st.none() | st.integers(1, 5),
    allowed_domains=DOMAINS,
    blocked_domains=DOMAINS,
    time_range=st.sampled_from(get_args(TimeRange)),
    location=st.none() | st.builds(Location, country=st.just("DE"), city=st.none() | st.just("Bonn")),
    functions=st.booleans(),
)


@given(
    api=st.sampled_from(sorted(load_matrix().apis)),
    model=st.sampled_from(
        [
            "gpt-6.1-sol",
            "gemini-2.5-flash-lite",
            "gemini-3.8-flash",
            "perplexity/sonar",
            "grok-4.7",
            "claude-sonnet-5",
            "x",
        ]
    ),
    mode=st.sampled_from(get_args(Mode)),
    needs=NEEDS,
)
def test_a_native_plan_honors_every_need(api: str, model: str, mode: Mode, needs: Needs) -> None:
    try:
        found = plan(api, model, mode, needs, settings=EVERYBODY)
    except (InvalidRequest, NativeUnsupported):
        return
    assert found.path == mode or mode == "auto"
    assert (found.hosted is not None) == (found.path == "native") == bool(found.tool)
    if found.path == "native" and found.hosted:
        assert found.hosted.functions or not needs.functions
        assert found.hosted.max_uses or needs.max_uses is None
        assert found.hosted.recency or needs.time_range == "all"
