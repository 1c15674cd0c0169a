"""The ends of models: none that has one is named where users copy from, and a user of one is warned."""

from __future__ import annotations

import logging
from datetime import UTC, date, datetime, timedelta
from pathlib import Path

import pytest

from components import heavy
from components.matrix_script import check_matrix
from components.model_bodies import EVERYBODY, QUESTION, chat, responses
from groundwire.errors import InvalidRequest
from groundwire.hosted import load_matrix, plan, prepare
from groundwire.hosted.model_lifecycles import load_lifecycles

pytestmark = pytest.mark.xdist_group(heavy.GROUP)

CHECKED = load_lifecycles().checked
MONTHS = timedelta(days=90)
"""How long a model must still live when it is named in a release."""
COPIED = ("README.md", "deploy/", "docs/", "examples/", "packages/", "src/")
"""Where users copy names of models from."""
SPRING = datetime(2027, 3, 1, tzinfo=UTC)


@pytest.mark.req("B44")
def test_every_model_that_is_named_is_known_and_lives_on() -> None:
    script = check_matrix()
    named = script.named_models()
    assert {"gpt-6.1-terra", "claude-sonnet-5", "gemini-3.8-flash", "grok-4.3", "perplexity/sonar"} <= set(named)
    assert list(script.unknown(named)) == []
    assert list(script.ending(named, CHECKED + MONTHS)) == []
    for name, paths in named.items():
        life = load_lifecycles().find(name)
        copied = [path for path in paths if path.startswith(COPIED) and not path.endswith(".toml")]
        if copied and life and life.not_before:
            assert life.not_before >= CHECKED + MONTHS, f"{name} may end soon: {copied}"


@pytest.mark.req("B44")
def test_every_row_has_a_source_and_a_living_successor() -> None:
    models = load_lifecycles().models
    providers = {api.provider for api in load_matrix().apis.values()}
    for life in models.values():
        assert life.provider in providers
        assert life.source[-7:].startswith("2026-") or "2026-" in life.source
        if life.successor:
            assert not models[life.successor].has_ended(CHECKED + MONTHS)


@pytest.mark.req("B28")
def test_no_api_switches_to_a_model_that_has_ended() -> None:
    for api in load_matrix().apis.values():
        if api.hosted and api.hosted.switch_to:
            assert not load_lifecycles().models[api.hosted.switch_to].has_ended(CHECKED + MONTHS)


@pytest.mark.req("B44")
def test_make_matrix_fails_a_month_before_an_end(tmp_path: Path, capsys: pytest.CaptureFixture[str]) -> None:
    script = check_matrix()
    unheard = f"gpt-{77}"
    for folder, text in {"examples": "gpt-5-mini", "tests/recordings": "gpt-5", "docs": f"{unheard}, gpt-9"}.items():
        (tmp_path / folder).mkdir(parents=True)
        (tmp_path / folder / "one.py").write_text(f'model = "{text}"')
    named = script.named_models(tmp_path)
    assert set(named) == {"gpt-5-mini", "gpt-5", unheard}
    assert list(script.unknown(named)) == [f"{unheard} is not in models.toml (docs/one.py)"]
    assert list(script.ending(named, date(2026, 11, 10) + script.NOTICE)) == []
    [line] = script.ending(named, date(2026, 11, 11) + script.NOTICE)
    assert line == "gpt-5-mini ends on 2026-12-11, then gpt-6.1-terra, and is named in examples/one.py"
    script.main([], today=CHECKED)
    assert "ends: gpt-5-mini on 2026-12-11, then gpt-6.1-terra" in capsys.readouterr().out


@pytest.mark.req("B28", "B44")
@pytest.mark.parametrize(
    ("api", "model", "said"),
    [
        (
            "openai",
            "gpt-5-mini",
            "The maker of gpt-5-mini ended it on 2026-12-11, and names gpt-6.1-terra instead.",
        ),
        ("openai", "gpt-5-mini-2025-08-07", "of gpt-5-mini ended it"),
        ("openai_chat", "gpt-4o-search-preview", "ended it on 2026-07-23"),
        ("anthropic", "claude-opus-4-20250514", "ended it on 2026-06-15"),
        ("perplexity", "sonar-pro", "names perplexity/sonar instead"),
        ("deepseek", "deepseek-chat", "ended it on 2026-07-24"),
        ("bedrock", "us.amazon.nova-premier-v1:0", "ended it on 2026-09-14"),
        ("xai", "grok-3", "ended it on 2026-05-15"),
    ],
)
def test_a_model_past_its_end_is_a_warning_and_gets_the_local_tool(api: str, model: str, said: str) -> None:
    made = plan(api, model, settings=EVERYBODY, now=SPRING)
    assert made.path == "local"
    assert said in made.warnings[0]
    assert said in plan(api, model, "local", now=SPRING).warnings[0]


@pytest.mark.req("B44")
def test_a_model_is_not_warned_of_before_its_end_nor_where_it_is_not_its_makers() -> None:
    assert plan("openai", "gpt-5-mini", now=datetime(2026, 12, 10, tzinfo=UTC)).warnings == ()
    assert plan("openai", "gpt-5-mini", now=datetime(2026, 12, 11, tzinfo=UTC)).warnings
    assert plan("openai", "gpt-5-mini", cloud="azure", now=SPRING).path == "native"
    assert plan("ollama", "deepseek-chat", now=SPRING).warnings == ()
    assert plan("openrouter", "deepseek/deepseek-chat", settings=EVERYBODY, now=SPRING).path == "native"
    assert plan("perplexity", "perplexity/sonar", settings=EVERYBODY, now=SPRING).path == "native"
    found = plan("openai", "gpt-5-mini", "native", now=SPRING)
    assert (found.path, len(found.warnings)) == ("native", 1)


@pytest.mark.req("B44")
def test_prepare_logs_what_its_result_cannot_say(caplog: pytest.LogCaptureFixture) -> None:
    body = {"model": "gpt-5-mini", "input": "What is new?", "tools": [responses()]}
    with caplog.at_level(logging.WARNING, "groundwire"):
        prepare(body, "openai", now=SPRING)
        assert "gpt-5-mini ended it on 2026-12-11" in caplog.text
        caplog.clear()
        prepare(body, plan("openai", "gpt-5-mini", now=SPRING))
        assert caplog.text == ""


@pytest.mark.req("B28", "C2")
def test_a_model_is_changed_only_where_that_is_allowed_and_told(caplog: pytest.LogCaptureFixture) -> None:
    kept = plan("openai_chat", "gpt-6.2-sol")
    assert kept.path == "local"
    assert "gpt-5-search-api only, which answers instead of gpt-6.2-sol" in kept.reason
    assert "OpenAI Responses searches with gpt-6.2-sol itself" in kept.reason
    assert plan("openai", "gpt-6.2-sol").path == "native"
    body = {"model": "gpt-6.2-sol", "messages": QUESTION, "tools": [chat()]}
    assert prepare(body, "openai")["model"] == "gpt-6.2-sol"
    for changed in (
        plan("openai_chat", "gpt-6.2-sol", "native"),
        plan("openai_chat", "gpt-6.2-sol", switch_model=True),
    ):
        assert changed.path == "native"
        assert "gpt-5-search-api instead of gpt-6.2-sol" in changed.reason
        assert "which answers instead of gpt-6.2-sol" in changed.warnings[0]
    with caplog.at_level(logging.WARNING, "groundwire"):
        assert prepare(body, "openai", switch_model=True)["model"] == "gpt-5-search-api"
    assert "answers instead of gpt-6.2-sol" in caplog.text
    own = plan("openai_chat", "gpt-5-search-api")
    assert (own.path, own.warnings) == ("native", ())


@pytest.mark.parametrize("model", ["claude-3-7-sonnet-latest", "claude-opus-4-20250514", "claude-sonnet-4-5"])
def test_an_older_family_does_not_have_the_newest_tool(model: str) -> None:
    with pytest.raises(InvalidRequest, match="web_search_20260209 is not available"):
        plan("anthropic", model, tool="web_search_20260209")
