"""The matrix: it is whole, and what it says of the tools' types is what the vendors' own SDKs say."""

from __future__ import annotations

import re
from typing import get_args

import pytest

from components import heavy
from groundwire.hosted import load_matrix
from groundwire.hosted.api_capabilities import Wire
from groundwire.hosted.requests.prepare import _BUILDERS
from groundwire.settings import MODEL_PROVIDERS

pytestmark = pytest.mark.xdist_group(heavy.GROUP)


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


def test_anthropics_versions_are_those_of_its_sdk() -> None:
    api = load_matrix().apis["anthropic"]
    assert api.hosted
    ours = {api.hosted.tool, *(version.tool for version in api.versions)}
    theirs = set(re.findall(r"WebSearchTool(\d{8})Param", str(heavy.anthropic.types.ToolUnionParam)))
    assert {tool.rpartition("_")[2] for tool in ours} == theirs


def test_openais_type_is_that_of_its_sdk() -> None:
    api = load_matrix().apis["openai_responses"]
    assert api.hosted
    kinds = set(
        re.findall(r"'(web_search\w*)'", str(heavy.openai.types.responses.WebSearchToolParam.__annotations__["type"]))
    )
    assert {api.hosted.tool, *(version.tool for version in api.versions)} == kinds


def test_geminis_fields_are_those_of_its_sdk() -> None:
    about = {name: field.description or "" for name, field in heavy.genai.types.GoogleSearch.model_fields.items()}
    assert "not supported in Gemini API" in about["exclude_domains"]
    assert "not supported in Vertex AI" in about["time_range_filter"]
    assert not any("include" in name for name in about)
