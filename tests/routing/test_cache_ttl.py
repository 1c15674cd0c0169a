"""Answers as bytes, and how long they are worth keeping."""

from __future__ import annotations

import json

import pytest
from hypothesis import example, given
from hypothesis import strategies as st

from groundwire.models import Attempt, Budget, Freshness, Outcome, Page, SearchResponse, SearchResult, Source
from groundwire.providers.registry import PlainProvider, as_provider
from groundwire.routing.cache import CacheTtl
from groundwire.routing.cache_codec import (
    CacheResult,
    age_fields,
    decode_entry,
    encode_entry,
    identity,
    pack_page,
    pack_search,
    page_ttl,
    search_codec,
    search_ttl,
    sources_of,
    unpack_page,
    unpack_search,
)
from groundwire.settings import Settings
from groundwire.storage.base import Entry

from .test_health import Named

TEXT = st.text(st.characters(exclude_categories=["Cs"]), max_size=20)
ROWS = st.lists(st.builds(SearchResult, title=TEXT, url=TEXT, snippet=TEXT, score=st.none() | st.floats(0, 1)))
WHOLE = CacheTtl(600, 86_400)


@given(st.builds(SearchResponse, query=TEXT, results=ROWS.map(tuple), provider=TEXT))
def test_a_search_comes_back_as_it_was(answer: SearchResponse) -> None:
    assert unpack_search(pack_search(answer)) == answer


@given(st.builds(Page, url=TEXT, content=TEXT, truncated=st.booleans(), original_length=st.none() | st.integers()))
def test_a_page_comes_back_as_it_was(page: Page) -> None:
    assert unpack_page(pack_page(page)) == page


def test_a_page_that_was_stored_before_a_field_was_added_is_read() -> None:
    page = Page(url="https://a.example/", content="x", published="2026-11-01")
    assert unpack_page(pack_page(page).replace(b'"modified":null,', b"")) == page


def test_what_is_true_of_one_call_only_is_not_kept() -> None:
    budget = Budget(limit=3, spent=1)
    answer = SearchResponse(query="q", results=(), provider="x", budget=budget, cached=True, stale=True)
    assert unpack_search(pack_search(answer)) == SearchResponse(query="q", results=(), provider="x")


def test_an_attempt_without_quota_left_is_not_kept_nor_what_is_not_said() -> None:
    answer = _answer("quota", "timeout", "ok")
    packed = pack_search(answer)
    assert [attempt.outcome for attempt in unpack_search(packed).attempts] == ["timeout", "ok"]
    assert set(json.loads(packed)) == {"query", "results", "provider", "attempts"}
    assert pack_search(_answer("timeout", "ok")) == packed
    codec = search_codec(WHOLE)
    assert codec.encode(answer) == packed
    assert codec.ttl(codec.decode(packed)) == WHOLE


def test_results_are_cited_by_their_titles_and_addresses() -> None:
    row = SearchResult(title="A", url="https://a.example/", citation_id=3)
    assert sources_of([row]) == (Source(title="A", url="https://a.example/", citation_id=3),)
    assert sources_of([]) == ()


class Engine(Named):
    """The same by another name."""


def test_a_provider_is_told_from_another_of_its_name_by_its_kind_and_its_options() -> None:
    plain, options = Settings(), Settings(providers={"a": {"delay": 2}})
    told = {identity(Named("a"), plain), identity(Engine("a"), plain), identity(Named("a"), options)}
    assert len(told) == 3
    assert identity(Named("a"), plain) == identity(Named("a"), plain)


class OfOneIndex:
    """A host's own object, which has no name."""

    def __init__(self, index: str) -> None:
        self.index = index
        self.calls = 0

    async def search(self, query: str, *, limit: int) -> list[object]:
        self.calls += 1
        return []


def test_two_objects_of_one_class_share_nothing_unless_they_have_the_same_attributes() -> None:
    first, second, again = (identity(as_provider(OfOneIndex(index)), Settings()) for index in "aba")
    assert (first != second, first) == (True, again)


async def test_an_object_that_counts_its_calls_stays_the_same_provider() -> None:
    own = OfOneIndex("a")
    provider = as_provider(own)
    before = identity(provider, Settings())
    assert isinstance(provider, PlainProvider)
    await provider.search("q")
    assert (own.calls, identity(provider, Settings())) == (1, before)


@given(st.binary(max_size=40) | st.sampled_from([b"[]", b"null", b"{}", b'{"query":"q"}', b"\xff\xfe"]))
@example(b"0\n\0")
@example(b"[]\n\0")
@example(b"\n\x80")
@example(b"[" * 100_000)
@example(b"[" * 100_000 + b"\n\0")
def test_other_bytes_are_refused(data: bytes) -> None:
    for unpack in (unpack_search, unpack_page):
        with pytest.raises(ValueError, match=r".+"):
            unpack(data)


def test_an_answer_with_a_field_of_another_version_is_refused() -> None:
    data = pack_search(SearchResponse(query="q", results=(), provider="x"))
    with pytest.raises(ValueError, match="newer"):
        unpack_search(data.replace(b'"query"', b'"newer":1,"query"'))


def _answer(*outcomes: Outcome, found: bool = True) -> SearchResponse:
    rows = (SearchResult(title="A", url="https://a.example/"),) if found else ()
    attempts = tuple(Attempt(provider="x", outcome=outcome) for outcome in outcomes)
    return SearchResponse(query="q", results=rows, provider="x", attempts=attempts)


@pytest.mark.req("B19")
def test_negative_and_degraded_searches_live_a_minute() -> None:
    assert search_ttl(_answer("ok"), WHOLE) == WHOLE
    assert search_ttl(_answer("timeout", "ok"), WHOLE) == WHOLE
    assert search_ttl(_answer("empty", found=False), WHOLE) == CacheTtl(60)
    assert search_ttl(_answer("partial"), WHOLE) == CacheTtl(60)
    assert search_ttl(_answer("partial"), CacheTtl(10, 10)) == CacheTtl(10)
    assert search_ttl(_answer("partial"), CacheTtl()) == CacheTtl()
    assert search_ttl(_answer("ok").model_copy(update={"stale": True}), WHOLE) == CacheTtl()


@pytest.mark.req("B19", "Y9")
def test_a_page_without_text_lives_a_minute() -> None:
    assert page_ttl(Page(url="u", content="text"), WHOLE) == WHOLE
    assert page_ttl(Page(url="u", content=" \n"), WHOLE) == CacheTtl(60)
    assert page_ttl(Page(url="u"), CacheTtl(10, 10)) == CacheTtl(10)
    assert page_ttl(Page(url="u", content="text", stale=True), WHOLE) == CacheTtl()


@pytest.mark.parametrize(
    ("freshness", "life"),
    [
        (Freshness(url="u", seconds=300), CacheTtl(300, 70)),
        (Freshness(url="u", seconds=5), CacheTtl(60, 70)),
        (Freshness(url="u", seconds=10_000), CacheTtl(1_000, 70)),
        (Freshness(url="u"), CacheTtl(1_000, 70)),
        (Freshness(url="u", no_store=True), CacheTtl(60)),
    ],
)
def test_a_page_is_kept_as_long_as_its_server_says(freshness: Freshness, life: CacheTtl) -> None:
    assert page_ttl(Page(url="u", content="text", freshness=freshness), CacheTtl(1_000, 70)) == life


@pytest.mark.parametrize(
    ("now", "stale", "seconds"),
    [(20.0, False, 0.0), (40.0, False, 0.0), (40.5, False, 0.5), (99.5, False, 59.5), (100.0, True, 60.0)],
)
def test_an_entry_is_fresh_and_then_stale(now: float, stale: bool, seconds: float) -> None:
    data = encode_entry(b"value", CacheTtl(60.0, 630.0))
    found = decode_entry(Entry(data, 100.0, 730.0), bytes.decode, now)
    assert found == CacheResult("value", cached=True, stale=stale, age=seconds)


def test_what_is_no_entry_is_refused() -> None:
    empty = encode_entry(b"", CacheTtl())
    assert decode_entry(Entry(empty, 1.0, 1.0), bytes.decode, 0.5).value == ""
    with pytest.raises(ValueError, match="too short"):
        decode_entry(Entry(empty[:-1], 1.0, 1.0), bytes.decode, 0.5)
    with pytest.raises(ValueError, match="the form b'g0'"):
        decode_entry(Entry(b"g0" + empty[2:], 1.0, 1.0), bytes.decode, 0.5)


def test_what_is_not_said_is_not_cached_and_is_fresh() -> None:
    assert CacheTtl() == CacheTtl(0.0, 0.0)
    assert CacheResult("value") == CacheResult("value", cached=False, stale=False, age=0.0)


def test_the_age_of_a_stale_value_is_a_warning() -> None:
    assert age_fields(("one",), True, False, 600.0) == {"cached": True}
    told = "this result is 10 minutes old; a new one is not available"
    assert age_fields(("one",), True, True, 600.0) == {"cached": True, "stale": True, "warnings": (told, "one")}
