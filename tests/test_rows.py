"""Results and sources are slotted values: made once a search, numbered for each call, and models to their users."""

from __future__ import annotations

import asyncio
import copy
import pickle
import subprocess
import sys
from collections.abc import Callable, Sequence
from dataclasses import fields, replace
from pathlib import Path
from typing import Any

import pytest
from hypothesis import given
from hypothesis import strategies as st
from pydantic import TypeAdapter, ValidationError

from groundwire import Capabilities, SearchResult, Settings, Web
from groundwire.models import SearchResponse, Source
from groundwire.providers.http_parsing import result
from groundwire.routing.cache_codec import pack_search, sources_of, unpack_search
from groundwire.routing.result_merging import normalize

Make = Callable[..., Settings]

ROW = SearchResult(citation_id=2, title="A mill", url="https://a.example/", snippet="Old.", source="x", score=0.5)
CITED = Source(citation_id=2, title="A mill", url="https://a.example/")
TEXT = st.text(max_size=20)


class _Keeping:
    """A provider as ours are, which also keeps what it returned."""

    name = "keeping"
    capabilities = Capabilities(search=True)

    def __init__(self, *, own: bool = False) -> None:
        self.rows: list[SearchResult] = []
        self.begun, self.go_on = asyncio.Event(), asyncio.Event()
        self.go_on.set()
        self._own = own

    async def search(self, query: str, **options: Any) -> Sequence[SearchResult]:
        self.begun.set()
        await self.go_on.wait()
        said = [(f"https://{word}.example/", f"The <b>{word}</b>") for word in query.split()]
        if self._own:
            self.rows = [SearchResult(title=title, url=url) for url, title in said]
        else:
            made = [result(self.name, url=url, title=title, snippet="s") for url, title in said]
            self.rows = [row for row in made if row is not None]
        return self.rows


def numbers(found: SearchResponse) -> dict[str, int]:
    return {row.url: row.citation_id for row in found}


@pytest.mark.parametrize("value", [ROW, CITED], ids=["result", "source"])
class TestAsModels:
    def test_there_is_no_dictionary(self, value: Any) -> None:
        assert not hasattr(value, "__dict__")
        assert not hasattr(type(value)(title="T", url="u", citation_id=1), "__dict__")

    def test_it_is_copied_and_read_back_as_it_was(self, value: Any) -> None:
        kind = type(value)
        again = (
            *(
                TypeAdapter(kind).validate_python(value.model_dump()),
                TypeAdapter(kind).validate_json(value.model_dump_json()),
            ),
            *(copy.copy(value), copy.deepcopy(value), pickle.loads(pickle.dumps(value)), replace(value)),
        )
        assert all(one == value and type(one) is kind for one in again)
        assert replace(value, title="B") == kind(**value.model_dump() | {"title": "B"}) != value
        assert repr(value).startswith(f"{kind.__name__}(citation_id=2, title='A mill', url='https://a.example/'")

    def test_what_opens_it_is_not_copied(self, value: Any) -> None:
        bound = replace(value)
        bound.bind(object())
        assert copy.copy(bound)._opener is pickle.loads(pickle.dumps(bound))._opener is None
        assert bound == value

    def test_what_is_wrong_is_named(self, value: Any) -> None:
        for wrong, message in (
            ({"title": 1}, "valid string"),
            ({"url": None}, "valid string"),
            ({"x": 1}, "Unexpected"),
        ):
            with pytest.raises(ValidationError, match=message) as caught:
                TypeAdapter(type(value)).validate_python(value.model_dump() | wrong)
            assert caught.value.errors()[0]["loc"] == (next(iter(wrong)),)

    def test_its_schema_is_that_of_a_model(self, value: Any) -> None:
        schema = TypeAdapter(type(value)).json_schema()
        assert schema["title"] == type(value).__name__
        assert schema["description"] == type(value).__doc__
        assert list(schema["properties"]) == [field.name for field in fields(value)] == list(value.model_dump())
        assert all(field.get("description") for field in schema["properties"].values())
        assert schema["additionalProperties"] is False


def test_a_score_that_is_no_number_is_null_in_json() -> None:
    assert '"score":null' in replace(ROW, score=float("inf")).model_dump_json()


class TestOfASearch:
    async def test_a_row_is_made_once_and_carries_its_address(self, settings: Make) -> None:
        provider = _Keeping()
        async with Web(settings(), search_providers=[provider]) as web:
            await web.search("three four")
            found = await web.search("one two three")
            assert [row.citation_id for row in found] == [3, 4, 1]
            assert [row.title for row in found] == ["The one", "The two", "The three"]
            assert [row._address[1] for row in found if row._address] == [f"{word}.example:?" for word in _words(found)]
            assert not any(hasattr(one, "__dict__") for one in (*found.results, *found.sources))
            assert found.sources == sources_of(found.results)

    async def test_what_a_provider_keeps_is_not_changed(self, settings: Make) -> None:
        provider = _Keeping(own=True)
        async with Web(settings(), search_providers=[provider]) as web:
            found = await web.search("one two")
            assert [row.title for row in found] == ["The one", "The two"]
            assert [row.title for row in provider.rows] == ["The <b>one</b>", "The <b>two</b>"]
            assert {row.citation_id for row in provider.rows} == {0}
            with pytest.raises(TypeError, match="not returned by a search"):
                provider.rows[0].open()

    def test_cleaning_leaves_the_rows_of_a_provider_as_they_are(self) -> None:
        row = result("x", url="https://a.example/", title="<b>A</b>", snippet="s")
        assert row is not None
        (first,), (second,) = normalize([row], (), "x"), normalize([row], (), "y")
        assert first is not row
        assert row.title == "<b>A</b>"
        assert (first.source, second.source) == ("x", "x")

    @pytest.mark.parametrize("store", ["memory", "sqlite"])
    async def test_sessions_that_share_a_search_have_their_own_numbers(
        self, settings: Make, store: str, tmp_path: Path
    ) -> None:
        url = "memory://" if store == "memory" else f"sqlite:///{tmp_path}/store.db"
        provider = _Keeping()
        chosen = settings(storage={"url": url}, cache={"enabled": True})
        async with Web(chosen, search_providers=[provider]) as web:
            one, other, third = (web.session() for _ in range(3))
            await one.search("four two")
            await other.search("three")
            provider.begun.clear()
            provider.go_on.clear()
            asked = [asyncio.create_task(session.search("one two three")) for session in (one, other, third)]
            await provider.begun.wait()
            await asyncio.sleep(0)
            provider.go_on.set()
            found = await asyncio.gather(*asked)
            found.append(await web.session().search("one two three"))
            assert [response.cached for response in found] == [False, True, True, True]
            expected = ([3, 2, 4], [2, 3, 1], [1, 2, 3], [1, 2, 3])
            assert [list(numbers(response).values()) for response in found] == list(expected)
            for session, response in zip((one, other, third), found, strict=False):
                assert {row._opener for row in response} == {session}
                assert [source.citation_id for source in response.sources] == list(numbers(response).values())
            rows = [id(row) for response in found for row in response]
            assert len(set(rows)) == len(rows)

    async def test_tenants_have_their_own_rows(self, settings: Make) -> None:
        provider = _Keeping()
        async with Web(settings(cache={"enabled": True}), search_providers=[provider]) as web:
            one, other = web.session("one"), web.session("other")
            await one.search("two")
            first, second = await asyncio.gather(one.search("one two"), other.search("one two"))
            assert (list(numbers(first).values()), list(numbers(second).values())) == ([2, 1], [1, 2])
            assert not {id(row) for row in first} & {id(row) for row in second}

    def test_a_search_leaves_no_garbage(self, tmp_path: Path) -> None:
        """In a process of its own, as other tests' threads and servers make garbage, too."""
        done = subprocess.run(
            [sys.executable, "-c", _GARBAGE], cwd=tmp_path, capture_output=True, text=True, check=True
        )
        assert done.stdout == "0\n"


_GARBAGE = """
import asyncio, gc
from groundwire import Capabilities, SearchResult, Web

class Provider:
    name = "own"
    capabilities = Capabilities(search=True)

    async def search(self, query, **options):
        return [SearchResult(title=word, url=f"https://{word}.example/") for word in query.split()]

async def main():
    settings = {"cache": {"enabled": True}, "storage": {"url": "memory://"}, "archive": {"enabled": False}}
    async with Web(settings, search_providers=[Provider()]) as web:
        for number in range(40):
            if number == 20:
                gc.collect()
                gc.disable()
            await web.search(f"w{number} x y z")
        print(gc.collect())

asyncio.run(main())
"""


def _words(found: SearchResponse) -> list[str]:
    return [row.url.removeprefix("https://").partition(".")[0] for row in found]


CLEANED = st.lists(st.builds(lambda *of: of, TEXT, TEXT, st.none() | st.floats(0, 1), st.none() | TEXT), max_size=4)


class TestInTheCache:
    @given(CLEANED)
    def test_cleaned_results_come_back_as_they_were(
        self, said: list[tuple[str, str, float | None, str | None]]
    ) -> None:
        made = [
            result("x", url=f"https://a{number}.example/", title=title, snippet=snippet, score=score, date=date)
            for number, (title, snippet, score, date) in enumerate(said)
        ]
        rows = tuple(normalize([row for row in made if row is not None], (), "x"))
        answer = SearchResponse(query="q", results=rows, provider="x", warnings=("w\n\x1f",))
        packed = pack_search(answer)
        assert unpack_search(packed) == answer

    @given(st.binary(max_size=60), st.integers(0, 200))
    def test_what_is_damaged_is_refused(self, noise: bytes, at: int) -> None:
        rows = normalize([ROW, replace(ROW, url="https://b.example/")], (), "x")
        packed = pack_search(SearchResponse(query="q", results=tuple(rows), provider="x"))
        for damaged in (packed[:at] + noise + packed[at:], packed[:at], packed + noise, packed[:at] + noise):
            try:
                assert isinstance(unpack_search(damaged), SearchResponse)
            except ValueError:
                continue
