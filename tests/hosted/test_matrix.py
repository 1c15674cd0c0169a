"""The matrix: it is whole, and what it says of the tools' types is what the vendors' own SDKs say."""

from __future__ import annotations

from datetime import date
from typing import get_args

import pytest

from components import heavy
from components.matrix_script import check_matrix
from components.model_bodies import EVERYBODY
from groundwire.hosted import Hosted, load_matrix, plan
from groundwire.hosted.api_capabilities import Wire
from groundwire.hosted.model_lifecycles import load_lifecycles
from groundwire.hosted.requests.prepare import _BUILDERS, _OTHER_BUILDERS
from groundwire.settings import MODEL_PROVIDERS

pytestmark = pytest.mark.xdist_group(heavy.GROUP)


@pytest.mark.req("B28")
def test_every_fact_has_a_source_and_every_hosted_api_a_builder() -> None:
    apis = load_matrix().apis
    hosted = {name: api.hosted for name, api in apis.items() if api.hosted}
    by_code = {name for name in hosted if name in _OTHER_BUILDERS or apis[name].wire in _BUILDERS}
    as_data = {name for name, one in hosted.items() if one.request}
    assert by_code | as_data == set(hosted)
    assert set(_OTHER_BUILDERS) <= set(hosted) - as_data
    assert {api.provider for api in apis.values() if api.hosted} == set(MODEL_PROVIDERS)
    for api in apis.values():
        assert api.wire in get_args(Wire)
        sources = [api.source, *(one.source for one in api.exceptions), *(one.source for one in api.versions)]
        assert all(len(source) > 10 for source in sources)
        for difference in api.exceptions:
            assert difference.note
            assert difference.changes.keys() <= {*Hosted.__dataclass_fields__, "hosted", "tools"}
            assert difference.cloud in ("", *api.clouds)
            assert difference.models or difference.cloud
        assert all(set(version.clouds) <= set(api.clouds) for version in api.versions)


def test_it_says_what_the_sdks_say(capsys: pytest.CaptureFixture[str]) -> None:
    lives = load_lifecycles()
    code, out = check_matrix().main([], today=lives.checked), capsys.readouterr().out
    assert code == 0, out
    assert f"{len(load_matrix().apis)} rows, {len(lives.models)} models, 0 wrong" in out


@pytest.mark.req("B28")
def test_rows_age() -> None:
    rows = load_matrix().apis.values()
    assert list(check_matrix().aged(min(row.checked for row in rows))) == []
    assert len(list(check_matrix().aged(max(row.expires for row in rows)))) == len(rows)
    [line] = [one for one in check_matrix().aged(date(2030, 1, 1)) if one.startswith("anthropic:")]
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
