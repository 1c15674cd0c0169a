"""The matrix: it is whole, and what it says of the tools' types is what the vendors' own SDKs say."""

from __future__ import annotations

import importlib.util
from datetime import date
from pathlib import Path
from typing import Any, get_args

import pytest

from components import heavy
from components.model_bodies import EVERYBODY
from groundwire.errors import InvalidRequest
from groundwire.hosted import load_matrix, plan
from groundwire.hosted.api_capabilities import Wire
from groundwire.hosted.requests.prepare import _BUILDERS
from groundwire.settings import MODEL_PROVIDERS

ROOT = Path(__file__).resolve().parents[2]


def _script() -> Any:
    spec = importlib.util.spec_from_file_location("check_matrix", ROOT / "scripts" / "check_matrix.py")
    assert spec
    assert spec.loader
    made = importlib.util.module_from_spec(spec)
    spec.loader.exec_module(made)
    return made


pytestmark = pytest.mark.xdist_group(heavy.GROUP)


@pytest.fixture(scope="module")
def matrix() -> Any:
    return _script()


@pytest.mark.req("B28")
def test_every_fact_has_a_source_and_every_hosted_api_a_builder() -> None:
    apis = load_matrix().apis
    assert {name for name, api in apis.items() if api.hosted} == set(_BUILDERS)
    assert {api.provider for api in apis.values() if api.hosted} == set(MODEL_PROVIDERS)
    for api in apis.values():
        assert api.wire in get_args(Wire)
        sources = [api.source, *(one.source for one in api.exceptions), *(one.source for one in api.versions)]
        assert all(len(source) > 10 for source in sources)
        for difference in api.exceptions:
            assert difference.note
            assert difference.cloud in ("", *api.clouds)
            assert difference.models or difference.cloud
        assert all(set(version.clouds) <= set(api.clouds) for version in api.versions)


def test_it_says_what_the_sdks_say(matrix: Any, capsys: pytest.CaptureFixture[str]) -> None:
    assert matrix.main([]) == 0, capsys.readouterr().out
    assert f"{len(load_matrix().apis)} rows, 0 wrong" in capsys.readouterr().out


@pytest.mark.req("B28")
def test_rows_age(matrix: Any) -> None:
    rows = load_matrix().apis.values()
    assert list(matrix.aged(min(row.checked for row in rows))) == []
    assert len(list(matrix.aged(max(row.expires for row in rows)))) == len(rows)
    [line] = [one for one in matrix.aged(date(2030, 1, 1)) if one.startswith("anthropic:")]
    assert "last compared on" in line


@pytest.mark.parametrize(
    ("api", "model", "tool"),
    [
        ("anthropic", "claude-fable-1", "web_search_20260209"),
        ("anthropic", "claude-fable-1", None),
        ("openai", "gpt-9-terra", None),
        ("gemini", "gemini-9-pro", None),
        ("xai", "grok-9", None),
        ("bedrock", "us.amazon.nova-2-lite-v1:0", None),
        ("deepseek", "deepseek-v9", None),
    ],
)
def test_a_family_that_is_not_known_is_taken_for_the_newest(api: str, model: str, tool: str | None) -> None:
    made = plan(api, model, "native", settings=EVERYBODY, tool=tool)
    assert made.hosted
    assert made.tool == (tool or made.hosted.tool)


@pytest.mark.parametrize("model", ["claude-3-7-sonnet-latest", "claude-opus-4-20250514", "claude-sonnet-4-5"])
def test_an_older_family_does_not_have_the_newest_tool(model: str) -> None:
    with pytest.raises(InvalidRequest, match="web_search_20260209 is not available"):
        plan("anthropic", model, tool="web_search_20260209")


@pytest.mark.req("B28")
def test_a_model_that_was_shut_down_is_refused_and_nothing_switches_to_it(matrix: Any) -> None:
    apis = load_matrix().apis
    for api, model in matrix.RETIRED:
        assert all(row.hosted is None or row.hosted.switch_to != model for row in apis.values())
        with pytest.raises(InvalidRequest, match=r"was shut down|ended on"):
            plan(apis[api], model)
