"""Tolerance: whatever becomes of a good answer on its way, it gives results or a provider's error, never a crash."""

from __future__ import annotations

import copy
import json
from collections.abc import Callable, Iterator
from functools import partial
from pathlib import Path
from typing import Any

import pytest
from hypothesis import given
from hypothesis import strategies as st

from components.exchanges import answer
from components.services import offline
from groundwire.errors import PageError, ProviderError
from groundwire.models import ReadResult, Results
from groundwire.providers.query_mapping import Mapped
from groundwire.transport import Response

FOLDER = Path(__file__).parent / "outcomes"
CASES = {
    path.stem: [json.loads(line) for line in path.read_text(encoding="utf-8").splitlines()]
    for path in sorted(FOLDER.glob("*.jsonl"))
}
GOOD = [(name, case) for name, cases in CASES.items() for case in cases if case["expect"] in {"ok", "partial"}]
STATUSES = [200, 200, 200, 400, 401, 402, 403, 422, 429, 451, 500, 503]
URL = "https://a.example/x"

JUNK: st.SearchStrategy[object] = (
    st.none()
    | st.booleans()
    | st.integers()
    | st.floats()
    | st.text(max_size=8)
    | st.sampled_from(["\ud800", "\x00", 10**30, [], {}, [[]], [None], {"url": None}])
)
JUNK |= st.lists(JUNK, max_size=2) | st.dictionaries(st.text(max_size=5), JUNK, max_size=2)


def readers(provider: str) -> list[Callable[[Response], object]]:
    """Return everything that reads a provider's answers."""
    made = offline(provider)
    further: list[Callable[[Response], object]] = [made.page_cost] if provider == "jina" else []
    if made.capabilities.search:
        further.append(partial(made.to_results, mapped=Mapped({})))
    if made.capabilities.read:
        further.append(partial(made.to_page, url=URL))
    return further


def checked(reader: Callable[[Response], object], reply: Response) -> object:
    """Return what is read, or None when the answer is a failure; anything else fails the test."""
    try:
        found = reader(reply)
    except PageError:
        return None
    except ProviderError as error:
        if error.retry_after is not None and not error.retry_after >= 0:
            raise AssertionError(f"{error.retry_after} s is no time to wait") from error
        return None
    if isinstance(found, ReadResult):
        assert found.success
        assert found.content.strip()
        assert found.model_dump_json()
    elif isinstance(found, Results):
        assert all(row.url and isinstance(row.url, str) for row in found)
    else:
        assert isinstance(found, (int, float))
    return found


def read(provider: str, case: dict[str, Any], body: bytes, kind: str, status: int = 200) -> Results | ReadResult | None:
    """Read an answer as that of a case is read."""
    wanted = ReadResult if case.get("reads") else Results
    for reader in readers(provider):
        found = checked(reader, answer(body, status, kind))
        if isinstance(found, wanted):
            return found
    return None


def places(value: Any, path: tuple[Any, ...] = ()) -> Iterator[tuple[Any, ...]]:
    """Yield the path of every member of a JSON value."""
    members = value.items() if isinstance(value, dict) else enumerate(value) if isinstance(value, list) else ()
    for key, member in members:
        yield (*path, key)
        yield from places(member, (*path, key))


def ids(value: object) -> str:
    return value if isinstance(value, str) else str(value["case"]) if isinstance(value, dict) else ""


@pytest.mark.req("B1")
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
            target[last] = copy.deepcopy(data.draw(JUNK))
        else:
            del target[last]
    if isinstance(body, dict):
        body[data.draw(st.text(max_size=5))] = data.draw(JUNK)
    whole = json.dumps(body).encode()
    end = data.draw(st.none() | st.integers(0, len(whole)))
    for reader in readers(provider):
        checked(reader, answer(whole[:end], data.draw(st.sampled_from(STATUSES))))


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


def names(value: object) -> Iterator[str]:
    """Yield the keys of all objects in a JSON value."""
    for *_, key in places(value):
        if isinstance(key, str):
            yield key


@pytest.mark.req("B1")
@pytest.mark.parametrize("provider", CASES)
@given(data=st.data())
def test_any_json_of_its_own_words(provider: str, data: st.DataObject) -> None:
    words = sorted({name for case in CASES[provider] for name in names(case.get("body"))}) or ["x"]
    scalars = st.none() | st.booleans() | st.floats() | st.integers() | st.text(max_size=20)
    values = st.recursive(
        scalars,
        lambda inner: st.lists(inner, max_size=4) | st.dictionaries(st.sampled_from(words), inner, max_size=5),
        max_leaves=20,
    )
    reply = answer(data.draw(values), data.draw(st.sampled_from(STATUSES)))
    for reader in readers(provider):
        checked(reader, reply)


@pytest.mark.req("B1")
@pytest.mark.parametrize("provider", CASES)
@given(
    body=st.binary(max_size=200) | st.binary(max_size=80).map(b"Title: ".__add__),
    status=st.integers(100, 599),
    kind=st.sampled_from(["application/json", "text/html", ""]),
    data=st.data(),
)
def test_any_bytes_and_headers(provider: str, body: bytes, status: int, kind: str, data: st.DataObject) -> None:
    known = sorted({"Retry-After"}.union(*(case.get("headers", {}) for case in CASES[provider])) - {"Content-Type"})
    headers = data.draw(st.dictionaries(st.sampled_from(known), st.text("0123456789, -x", max_size=12)))
    for reader in readers(provider):
        checked(reader, answer(body, status, kind, **headers))
        spoilt = checked(reader, answer(b"\xff" + body, status, kind, **headers))
        assert not isinstance(spoilt, ReadResult)
        assert not spoilt or not isinstance(spoilt, Results)


PAGES = [(provider, case) for provider, case in GOOD if case.get("reads") and "body" in case]


@pytest.mark.parametrize(("provider", "case"), PAGES, ids=ids)
def test_half_of_a_surrogate_pair_does_not_get_into_a_page(provider: str, case: dict[str, Any]) -> None:
    whole = json.dumps(case["body"])
    page = read(provider, case, whole.encode(), "application/json")
    assert isinstance(page, ReadResult)
    before = json.dumps(page.content)
    assert before in whole
    spoilt = whole.replace(before, f'"\\ud83d \\u0000{before[1:]}')
    read_again = read(provider, case, spoilt.encode(), "application/json")
    assert isinstance(read_again, ReadResult)
    assert read_again.content == f"? {page.content}"
    assert read_again.model_dump_json()
