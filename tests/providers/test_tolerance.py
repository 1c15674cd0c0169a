"""Tolerance: whatever becomes of a good answer on its way, it gives results or a provider's error, never a crash."""

from __future__ import annotations

import copy
import json
from collections.abc import Iterator
from importlib import import_module
from pathlib import Path
from typing import Any

import pytest
from hypothesis import given
from hypothesis import strategies as st
from multidict import CIMultiDict

from groundwire.errors import PageError, ProviderError
from groundwire.models import ReadResult, Results
from groundwire.transport import Reply

FOLDER = Path(__file__).parent / "outcomes"
GOOD = [
    (path.stem, case)
    for path in sorted(FOLDER.glob("*.jsonl"))
    for case in map(json.loads, path.read_text(encoding="utf-8").splitlines())
    if case["expect"] in {"ok", "partial"}
]

JUNK: st.SearchStrategy[object] = (
    st.none() | st.booleans() | st.integers() | st.floats() | st.text(max_size=8) | st.just([]) | st.just({})
)
JUNK |= st.lists(JUNK, max_size=2) | st.dictionaries(st.text(max_size=5), JUNK, max_size=2)


def read(provider: str, case: dict[str, Any], body: bytes, kind: str, status: int = 200) -> Results | ReadResult | None:
    module = import_module(f"groundwire.providers.{provider}")
    reply = Reply("https://service.example/", status, CIMultiDict({"Content-Type": kind}), body[:64], body)
    try:
        if case.get("reads"):
            page: ReadResult = module.parse_page(reply, "https://a.example/x", provider)
            return page
        found: Results = module.parse(reply, provider)
    except (ProviderError, PageError):
        return None
    assert isinstance(found, Results)
    for row in found:
        assert isinstance(row.url, str)
        assert row.url
    return found


def places(value: Any, path: tuple[Any, ...] = ()) -> Iterator[tuple[Any, ...]]:
    """Yield the path of every member of a JSON value."""
    members = value.items() if isinstance(value, dict) else enumerate(value) if isinstance(value, list) else ()
    for key, member in members:
        yield (*path, key)
        yield from places(member, (*path, key))


def ids(value: object) -> str:
    return value if isinstance(value, str) else str(value["case"]) if isinstance(value, dict) else ""


@pytest.mark.req("B1")
@pytest.mark.timeout(60)
@pytest.mark.parametrize(("provider", "case"), GOOD, ids=ids)
@given(data=st.data())
def test_mutated_bodies(provider: str, case: dict[str, Any], data: st.DataObject) -> None:
    if "body" not in case:
        text = case["text"]
        cut = data.draw(st.integers(0, len(text)))
        junk = data.draw(st.text(alphabet="<>\"'/= ad\x00é", max_size=20))
        read(provider, case, (text[:cut] + junk + text[cut + len(junk) :]).encode(), "text/html")
        return
    body = copy.deepcopy(case["body"])
    for _ in range(data.draw(st.integers(1, 4))):
        known = list(places(body))
        if not known:
            break
        *way, last = data.draw(st.sampled_from(known))
        target = body
        for key in way:
            target = target[key]
        if data.draw(st.booleans()):
            target[last] = data.draw(JUNK)
        else:
            del target[last]
    if isinstance(body, dict):
        body[data.draw(st.text(max_size=5))] = data.draw(JUNK)
    read(provider, case, json.dumps(body).encode(), "application/json")


@pytest.mark.parametrize(("provider", "case"), GOOD, ids=ids)
def test_cut_and_foreign_bodies_are_failures(provider: str, case: dict[str, Any]) -> None:
    html = b"<!doctype html><html><title>Sign in to the network</title><body><form></form></body></html>"
    assert read(provider, case, html, "text/html") is None, "a captive portal is no answer"
    if "body" in case:
        whole = json.dumps(case["body"]).encode()
        for length in range(0, len(whole) - 1, max(1, len(whole) // 40)):
            assert read(provider, case, whole[:length], "application/json") is None
        for other in (b"null", b"[]", b'"text"', b"42", b"{}", b"[" * 50_000):
            found = read(provider, case, other, "application/json")
            assert found is None or not found, other
