"""What models write loosely, read as they meant it."""

from __future__ import annotations

import json
from contextlib import suppress
from typing import Any

import pytest
from hypothesis import example, given
from hypothesis import strategies as st
from pydantic import ValidationError

from groundwire.errors import PermissionDenied
from groundwire.settings.sections import PermissionSettings
from groundwire.tools.argument_coercion import OpenArguments, SearchArguments, bad_arguments, understood
from groundwire.tools.permissions import Permission


@pytest.mark.parametrize(
    ("written", "meant"),
    [
        ({"query": "x", "limit": "5"}, {"limit": 5}),
        ({"query": "x", "limit": " 5.0 "}, {"limit": 5}),
        ({"query": "x", "limit": 5.0}, {"limit": 5}),
        ({"query": "x", "max_results": 3}, {"limit": 3}),
        ({"query": "x", "limit": None}, {"limit": None}),
        ({"query": "x", "limit": ""}, {"limit": None}),
        ({"query": "x", "limit": "null"}, {"limit": None}),
        ({"query": "x", "allowed_domains": '["a.org", "b.org"]'}, {"allowed_domains": ["a.org", "b.org"]}),
        ({"query": "x", "allowed_domains": "a.org, b.org"}, {"allowed_domains": ["a.org", "b.org"]}),
        ({"query": "x", "allowed_domains": "a.org"}, {"allowed_domains": ["a.org"]}),
        ({"query": "x", "allowed_domains": None}, {"allowed_domains": []}),
        ({"query": "x", "allowed_domains": "[]"}, {"allowed_domains": []}),
        ({"query": "x", "time_range": "Week"}, {"time_range": "w"}),
        ({"query": "x", "time_range": "past month"}, {"time_range": "m"}),
        ({"query": "x", "time_range": ""}, {"time_range": "all"}),
        ({"query": "x", "reason": None}, {}),
        ({"q": "x"}, {"query": "x"}),
        ({"query": 2026}, {"query": "2026"}),
        ({"query": ["x"]}, {"query": "x"}),
        ({"arguments": {"query": "x", "limit": "2"}}, {"query": "x", "limit": 2}),
        ({"input": '{"query": "x"}'}, {"query": "x"}),
        ({"query": "none"}, {"query": "none"}),
        ({"query": None, "q": "x", "limit": None, "count": 3}, {"query": "x", "limit": 3}),
        ({"count": 3, "q": "x", "query": ""}, {"query": "x", "limit": 3}),
        ({"query": "q", "search_query": ""}, {"query": "q"}),
    ],
)
def test_a_search(written: dict[str, Any], meant: dict[str, Any]) -> None:
    asked = SearchArguments.model_validate(understood("web_search", written))
    assert {key: getattr(asked, key) for key in meant} == meant


@pytest.mark.parametrize(
    ("written", "meant"),
    [
        ({"url": " <https://a.org/> "}, {"url": "https://a.org/"}),
        ({"url": "[A](https://a.org/)"}, {"url": "https://a.org/"}),
        ({"url": "`https://a.org/`"}, {"url": "https://a.org/"}),
        ({"url": ["https://a.org/"]}, {"url": "https://a.org/"}),
        ({"link": "https://a.org/"}, {"url": "https://a.org/"}),
        ({"url": "https://a.org/", "max_length": "4,000"}, {"max_length": 4000}),
        ({"url": "https://a.org/", "query": "", "find": " ", "cursor": "none"}, {"query": None, "cursor": None}),
        ({"url": "https://a.org/", "query": 7}, {"query": "7"}),
        ({"url": "https://a.org/", "timeout": 3, "bypass_cache": True}, {"url": "https://a.org/"}),
        ({"id": "https://a.org/", "maxLength": 500}, {"url": "https://a.org/", "max_length": 500}),
    ],
)
def test_a_page(written: dict[str, Any], meant: dict[str, Any]) -> None:
    asked = OpenArguments.model_validate(understood("open_page", written))
    assert {key: getattr(asked, key) for key in meant} == meant


@pytest.mark.parametrize(
    ("model", "tool", "written"),
    [
        (SearchArguments, "web_search", {"query": "x", "limit": "many"}),
        (SearchArguments, "web_search", {"query": "x", "limit": 2.5}),
        (SearchArguments, "web_search", {"query": "x", "limit": 2, "count": 3}),
        (SearchArguments, "web_search", {"query": "x", "q": "y"}),
        (SearchArguments, "web_search", {"query": "x", "engine": "y"}),
        (SearchArguments, "web_search", {"query": None}),
        (SearchArguments, "web_search", {"query": ["x", "y"]}),
        (SearchArguments, "web_search", {"arguments": "x"}),
        (OpenArguments, "open_page", {"url": ["https://a.org/", "https://b.org/"]}),
        (OpenArguments, "open_page", {"url": "https://a.org/", "raw": True}),
        (OpenArguments, "open_page", {}),
    ],
)
def test_what_is_not_plain_is_refused_with_a_correct_call(model: Any, tool: str, written: dict[str, Any]) -> None:
    with pytest.raises(ValidationError) as caught:
        model.model_validate(understood(tool, written))
    said = bad_arguments(caught.value, model)
    example = said.partition("A correct call: ")[2]
    assert model.model_validate(understood(tool, json.loads(example)))


values = st.recursive(
    st.none() | st.booleans() | st.integers() | st.floats() | st.text(max_size=20),
    lambda inner: st.lists(inner, max_size=3) | st.dictionaries(st.text(max_size=8), inner, max_size=3),
)
names = st.sampled_from(
    ["query", "q", "limit", "count", "allowed_domains", "time_range", "url", "uri", "arguments", "x"]
)


def inside(written: dict[str, Any]) -> dict[str, Any]:
    """Return what is in the object around the arguments, if that is all there is."""
    around = written.get("arguments") if len(written) == 1 else None
    if len(written) == 1:
        (only,) = written.values()
        if isinstance(only, list) and len(only) == 1 and isinstance(only[0], dict):  # one of several at a time
            return only[0]
    if isinstance(around, str):
        with suppress(ValueError):
            around = json.loads(around)
    return around if isinstance(around, dict) else written


@given(st.sampled_from(["web_search", "open_page", "search", "other"]), st.dictionaries(names, values))
@example("web_search", {"arguments": {"": False, "0": False}})
@example("open_page", {"arguments": '{"a": 1, "b": 2}'})
@example("web_search", {"query": [{"query": "a", "limit": 1}]})
def test_nothing_is_raised_changed_or_made_up(tool: str, written: dict[str, Any]) -> None:
    before = repr(written)
    plain = understood(tool, written)
    assert repr(written) == before
    assert len(plain) <= len(inside(written))


@pytest.mark.req("K5")
@pytest.mark.parametrize(
    ("tool", "written"),
    [
        ("open_page", {"uri": "https://evil.example/"}),
        ("open_page", {"url": "<https://evil.example/>"}),
        ("open_page", {"arguments": '{"link": "https://www.evil.example/"}'}),
        ("web_search", {"query": "x", "domains": '["evil.example"]'}),
    ],
)
async def test_no_way_to_write_it_evades_a_rule(tool: str, written: dict[str, Any]) -> None:
    rules = PermissionSettings(default="allow", deny=(f"{tool}(evil.example)",))
    with pytest.raises(PermissionDenied):
        await Permission(rules).check(tool, written)
