"""Filters are checked on every row, and each has a receipt."""

from __future__ import annotations

from collections.abc import Sequence
from datetime import date, timedelta

import pytest
from hypothesis import given
from hypothesis import strategies as st

from components.calls import CallingRouter
from groundwire.deadline import Deadline
from groundwire.errors import AllProvidersFailed
from groundwire.models import NO_FILTERS, Filters, Query, Results, SearchResponse, SearchResult
from groundwire.providers import Capabilities
from groundwire.routing.result_merging import filter_by_date
from groundwire.safety.urls import DomainPolicy, host_matches
from groundwire.tools.conversions import searched
from groundwire.tools.results import render_text

TODAY = date(2026, 11, 21)


class Gives:
    """A provider that returns its rows whatever it is asked."""

    name = "gives"

    def __init__(self, rows: Sequence[SearchResult], capabilities: Capabilities, **applied: object) -> None:
        self.capabilities = capabilities
        self._results = Results(tuple(rows), applied=applied)  # type: ignore[arg-type]
        self.asked: list[Filters] = []

    async def search(
        self, query: str, *, limit: int = 5, filters: Filters = NO_FILTERS, deadline: Deadline | None = None
    ) -> Results:
        self.asked.append(filters)
        return self._results


async def search(provider: Gives, query: Query, policy: DomainPolicy | None = None) -> SearchResponse:
    return await CallingRouter([provider], policy=policy).ask(query, Deadline.after(60))


ROW = SearchResult(title="A", url="https://a.example/")
ABLE = Capabilities(
    search=True,
    domains="native",
    time_ranges=frozenset({"w"}),
    dates=True,
    language=True,
    region=True,
    safesearch=True,
    pages=True,
)
UNABLE = Capabilities(search=True)
ALL = Query(
    text="q",
    allowed_domains=("a.example",),
    blocked_domains=("b.example",),
    time_range="w",
    language="de",
    region="at",
    safesearch="strict",
    page=2,
    published_after=date(2020, 1, 1),
    published_before=date(2099, 1, 1),
)


@pytest.mark.req("B4")
async def test_each_filter_has_a_receipt() -> None:
    able = {receipt.filter: receipt.applied for receipt in (await search(Gives([ROW], ABLE), ALL)).filters}
    unable = {receipt.filter: receipt.applied for receipt in (await search(Gives([ROW], UNABLE), ALL)).filters}
    assert set(able) == set(unable) == {
        "allowed_domains", "blocked_domains", "time_range", "published_after", "published_before", "language", "region",
        "safesearch", "page",
    }  # fmt: skip
    assert set(able.values()) == {"native"}
    assert {name for name, applied in unable.items() if applied == "post_filter"} == {
        "allowed_domains", "blocked_domains", "time_range", "published_after", "published_before",
    }  # fmt: skip
    assert set(unable.values()) == {"post_filter", "not_possible"}


async def test_what_was_not_asked_for_has_none() -> None:
    assert (await search(Gives([ROW], ABLE), Query(text="q"))).filters == ()


async def test_a_providers_word_about_one_request_wins() -> None:
    answer = await search(Gives([ROW], ABLE, blocked_domains="post_filter"), ALL)
    assert {receipt.filter: receipt.applied for receipt in answer.filters}["blocked_domains"] == "post_filter"


@pytest.mark.req("B4")
async def test_rows_without_a_date_are_kept_and_counted() -> None:
    old = SearchResult(title="old", url="https://old.example/", published="2001-01-01")
    answer = await search(Gives([ROW, old], ABLE), Query(text="q", time_range="w"))
    assert [row.url for row in answer.results] == [ROW.url]
    assert answer.filters[0].note == "1 of 1 results have no date and were kept"
    assert answer.warnings == ("time_range: 1 of 1 results have no date and were kept",)


async def test_what_cannot_be_done_is_said() -> None:
    answer = await search(Gives([ROW], UNABLE), Query(text="q", language="de"))
    assert answer.warnings == ("gives cannot filter by language; the results are not filtered by it",)


@pytest.mark.req("B4", "Y10")
async def test_the_operators_lists_reach_the_provider() -> None:
    provider = Gives([ROW], ABLE)
    policy = DomainPolicy(allowed=("a.example",), blocked=("x.example",))
    await search(provider, Query(text="q", blocked_domains=("y.example",)), policy)
    assert provider.asked[0].allowed_domains == ("a.example",)
    assert provider.asked[0].blocked_domains == ("y.example", "x.example")


@pytest.mark.req("B4")
async def test_a_filter_that_leaves_nothing_is_named() -> None:
    old = SearchResult(title="old", url="https://old.example/", published="2001-01-01")
    answer = await search(Gives([old, ROW], ABLE), Query(text="q", allowed_domains=("old.example",), time_range="w"))
    assert (answer.results, answer.attempts[0].outcome) == ((), "empty")
    assert answer.warnings == (
        "gives found 2 results, none of them on an allowed domain and within the dates; "
        "search again without allowed_domains and time_range",
    )
    assert render_text(searched(answer)) == f"No results found for: q\n{answer.warnings[0]}"


async def test_rows_that_are_all_too_old_prove_nothing_if_the_service_was_not_told() -> None:
    old = SearchResult(title="old", url="https://old.example/", published="2001-01-01")
    with pytest.raises(AllProvidersFailed, match="does not support time_range"):
        await search(Gives([old], UNABLE), Query(text="q", time_range="d"))


@given(
    st.lists(st.none() | st.dates(date(2000, 1, 1), date(2030, 1, 1)), max_size=8),
    st.sampled_from(["d", "w", "m", "y", "all"]),
)
def test_nothing_that_is_kept_is_too_old(days: list[date | None], time_range: str) -> None:
    rows = [
        SearchResult(title="x", url=f"https://{number}.example/", published=day.isoformat() if day else None)
        for number, day in enumerate(days)
    ]
    dated = filter_by_date(rows, Query(text="q", time_range=time_range), TODAY)  # type: ignore[arg-type]
    longest = {"d": 1, "w": 7, "m": 31, "y": 366}.get(time_range, 100_000)
    assert len(dated.rows) + dated.dropped == len(rows)
    assert dated.undated == days.count(None)
    for row in dated.rows:
        if row.published:
            assert date.fromisoformat(row.published) >= TODAY - timedelta(days=longest + 1)


_HOSTS = st.from_regex(r"[a-z]{1,4}(\.[a-z]{1,4}){0,2}\.(com|org|example)", fullmatch=True)


@pytest.mark.req("B4")
@given(st.lists(_HOSTS, max_size=8), st.lists(_HOSTS, max_size=3), st.lists(_HOSTS, max_size=3))
async def test_an_off_domain_row_is_never_returned(hosts: list[str], allowed: list[str], blocked: list[str]) -> None:
    rows = [SearchResult(title="x", url=f"https://{host}/") for host in hosts]
    query = Query(text="q", limit=50, allowed_domains=tuple(allowed), blocked_domains=tuple(blocked))
    try:
        answer = await search(Gives(rows, ABLE), query)
    except AllProvidersFailed:
        return
    for row in answer.results:
        host = row.url.removeprefix("https://").rstrip("/")
        assert not allowed or any(host_matches(host, domain) for domain in allowed)
        assert not any(host_matches(host, domain) for domain in blocked)
