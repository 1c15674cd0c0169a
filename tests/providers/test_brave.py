"""Brave's wire format: recorded answers, built answers, and the miniature web."""

from __future__ import annotations

from collections.abc import Callable
from datetime import date
from functools import partial
from pathlib import Path
from typing import Any, cast

import pytest

from components.exchanges import answer, missing, recorded
from components.services import request_of, results_of
from groundwire.errors import (
    AuthenticationFailed,
    ProviderError,
    QuotaExceeded,
    RateLimited,
    RequestRefused,
)
from groundwire.models import NO_FILTERS, Applied, Filters
from groundwire.providers.base import ProviderContext
from groundwire.providers.brave import BraveSearchProvider
from groundwire.providers.query_mapping import Mapped
from groundwire.settings import Settings
from groundwire.testing import InjectedFault
from groundwire.transport.clients import HttpClients
from world import World
from world.services.brave import Brave

parse = partial(results_of, "brave")
to_params = partial(request_of, "brave")

Make = Callable[..., BraveSearchProvider]
TODAY = date(2026, 11, 20)


class TestRecordings:
    def test_the_recorded_refusals_are_told_apart_and_rows_have_dates(self, recordings: Path) -> None:
        for one in recorded(recordings, "brave"):
            want = one.want or {}
            if one.reply.status == 200:
                assert any(row.published for row in parse(one.reply)) is bool(want["results"]), one.name
                continue
            with pytest.raises(ProviderError) as caught:
                parse(one.reply)
            usual = AuthenticationFailed if one.reply.status == 422 else RateLimited
            assert type(caught.value).__name__ == want.get("error", usual.__name__), one.name

    async def test_the_emulator_answers_in_the_recorded_shape(self, recordings: Path, make: Make) -> None:
        known = [one.body for one in recorded(recordings, "brave", "web_search__*.json")]
        ours = await make().ask(
            Mapped({"q": "search engines"}),
            lambda reply: reply,
            method="GET",
            path="/res/v1/web/search",
            deadline=None,
        )
        assert missing(known, ours.json()) == []
        assert len(ours.headers["X-RateLimit-Remaining"].split(", ")) == 2

    async def test_the_emulator_refuses_in_the_recorded_shape(
        self, recordings: Path, service: Brave, make: Make
    ) -> None:
        service.rate_limited = True
        for name, key in (("error_422__01", "wrong"), ("error_429__01", "test-key")):
            [known] = recorded(recordings, "brave", f"{name}.json")
            ours = await make(key).ask(
                Mapped({}), lambda reply: reply, method="GET", path="/res/v1/web/search", deadline=None
            )
            assert ours.status == known.reply.status
            assert missing([known.body], ours.json()) == []


ROW = {"title": "A", "url": "https://a.example/x", "description": "d"}


class TestParse:
    def test_dates_are_passed_as_they_came_or_in_its_words(self) -> None:
        dated, worded = ROW | {"page_age": "2026-11-01T08:00:00", "age": "2 days ago"}, ROW | {"age": "2 days ago"}
        rows = parse(answer({"query": {}, "web": {"results": [dated, worded]}}))
        assert [(row.published, row.published_origin) for row in rows] == [
            ("2026-11-01T08:00:00", ""),
            (None, "2 days ago"),
        ]

    def test_a_corrected_query_is_said(self) -> None:
        found = parse(answer({"query": {"original": "wether", "altered": "weather"}, "web": {"results": [ROW]}}))
        assert found.warnings == ("brave: it searched for 'weather' instead",)

    def test_rows_without_an_address_are_left_out(self) -> None:
        rows: list[object] = [{"title": "x"}, {"url": None}, "text", None, ROW]
        assert [row.url for row in parse(answer({"query": {}, "web": {"results": rows}}))] == ["https://a.example/x"]


CASES: list[tuple[Filters, dict[str, str], dict[str, Applied]]] = [
    (NO_FILTERS, {"safesearch": "moderate"}, {}),
    (Filters(time_range="w"), {"freshness": "pw"}, {}),
    (Filters(published_after=date(2026, 1, 2)), {"freshness": "2026-01-02to2026-11-20"}, {}),
    (Filters(published_before=date(2026, 1, 2)), {"freshness": "1990-01-01to2026-01-02"}, {}),
    (Filters(published_after=date(2026, 12, 24)), {"freshness": "2026-12-24to2026-12-24"}, {}),
    (Filters(published_after=date(2026, 1, 2), time_range="w"), {"freshness": "2026-11-13to2026-11-20"}, {}),
    (
        Filters(published_before=date(2026, 1, 2), time_range="w"),
        {"freshness": "1990-01-01to2026-01-02"},
        {"time_range": "post_filter"},
    ),
    (Filters(page=3), {"offset": "2"}, {}),
    (Filters(region="at"), {"country": "AT"}, {}),
    (Filters(region="gr"), {}, {"region": "not_possible"}),
    (Filters(language="de-AT"), {"search_lang": "de"}, {}),
    (Filters(language="ja"), {"search_lang": "jp"}, {}),
    (Filters(language="pt", region="br"), {"search_lang": "pt-br", "country": "BR"}, {}),
    (Filters(language="pt"), {"search_lang": "pt-pt"}, {}),
    (Filters(language="zh-Hant-HK"), {"search_lang": "zh-hant"}, {}),
    (Filters(language="zh"), {"search_lang": "zh-hans"}, {}),
    (Filters(language="tlh"), {}, {"language": "not_possible"}),
    (Filters(safesearch="strict"), {"safesearch": "strict"}, {}),
    (Filters(allowed_domains=("a.org",)), {"q": "words site:a.org"}, {}),
    (Filters(allowed_domains=("a.org", "b.org")), {"q": "words (site:a.org OR site:b.org)"}, {}),
    (Filters(blocked_domains=("a.org",)), {"q": "words -site:a.org"}, {}),
    (
        Filters(allowed_domains=tuple(f"{n}.org" for n in range(6)), blocked_domains=("x.0.org",)),
        {
            "q": "words",
            "goggles": "$discard\n$site=0.org\n$site=1.org\n$site=2.org\n$site=3.org\n$site=4.org\n$site=5.org\n"
            "$discard,site=x.0.org",
        },
        {"allowed_domains": "native", "blocked_domains": "native"},
    ),
    (
        Filters(blocked_domains=tuple(f"{n}.org" for n in range(500))),
        {"q": "words"},
        {"blocked_domains": "post_filter"},
    ),
]


class TestParams:
    @pytest.mark.req("B4")
    @pytest.mark.parametrize(("filters", "values", "applied"), CASES)
    def test_filters_are_mapped(self, filters: Filters, values: dict[str, str], applied: dict[str, Applied]) -> None:
        mapped = to_params("words", 5, filters, today=TODAY)
        base = {
            "q": "words",
            "count": "5",
            "safesearch": "moderate",
            "text_decorations": "false",
            "result_filter": "web",
        }
        assert mapped.values == base | values
        assert mapped.applied == applied
        assert bool(mapped.warnings) == ("post_filter" in applied.values() and "time_range" not in applied)

    def test_the_limit_is_capped(self) -> None:
        assert to_params("words", 50, NO_FILTERS).values["count"] == "20"

    def test_long_queries_are_cut_and_it_is_said(self) -> None:
        for query in ("w " * 60, "longer-word " * 40):
            mapped = to_params(query.strip(), 5, NO_FILTERS)
            assert len(mapped.values["q"]) <= 400
            assert len(mapped.values["q"].split()) <= 50
            assert "was cut to" in mapped.warnings[0]

    def test_domains_that_would_make_the_query_too_long_go_as_a_goggle(self) -> None:
        mapped = to_params("w " * 49 + "w", 5, Filters(allowed_domains=("a.org", "b.org")))
        assert len(mapped.values["q"].split()) == 50
        assert mapped.values["goggles"] == "$discard\n$site=a.org\n$site=b.org"


class TestOnTheWire:
    @pytest.mark.req("Y5", "B4")
    async def test_it_finds_pages(self, service: Brave, make: Make) -> None:
        found = await make().search("reciprocal rank fusion", limit=2)
        assert found[0].title == "Reciprocal rank fusion"
        assert len(found) == 2
        assert found.cost_usd == pytest.approx(0.005)
        request = service.requests[-1]
        assert request.path == "/res/v1/web/search"
        assert request.query["count"] == "2"

    @pytest.mark.req("B4")
    async def test_filters_hold(self, service: Brave, make: Make, world: World) -> None:
        provider = make()
        host = world.site("articles").host
        everything = await provider.search("search", limit=20)
        here = await provider.search("search", limit=20, filters=Filters(allowed_domains=(host,)))
        others = tuple(f"{number}.example" for number in range(9))
        by_goggle = await provider.search("search", limit=20, filters=Filters(allowed_domains=(*others, host)))
        elsewhere = await provider.search("search", limit=20, filters=Filters(blocked_domains=(*others, host)))
        assert "goggles" in service.requests[-1].query
        assert [row.url for row in here] == [row.url for row in by_goggle]
        assert {row.url for row in here} | {row.url for row in elsewhere} == {row.url for row in everything}
        assert here
        assert elsewhere
        assert by_goggle.applied == {"allowed_domains": "native"}
        middle = world.library.search("search")[1].published
        late = await provider.search("search", limit=20, filters=Filters(published_after=middle))
        early = await provider.search("search", limit=20, filters=Filters(published_before=middle))
        assert all((row.published or "")[:10] >= middle.isoformat() for row in late)
        assert {row.url for row in late} | {row.url for row in early} == {row.url for row in everything}
        second = await provider.search("search", limit=2, filters=Filters(page=2))
        assert [row.url for row in second] == [row.url for row in everything[2:4]]

    @pytest.mark.req("B1")
    async def test_a_wrong_parameter_is_a_refused_request(self, make: Make) -> None:
        with pytest.raises(RequestRefused):
            await make().search("search", filters=Filters(page=1, safesearch=cast("Any", "sometimes")))

    @pytest.mark.req("B1", "B16")
    async def test_a_used_up_quota_says_when_the_month_begins_anew(self, service: Brave, make: Make) -> None:
        service.used_up = {"test-key"}
        with pytest.raises(QuotaExceeded) as caught:
            await make().search("search")
        assert caught.value.retry_after == 1_419_704

    @pytest.mark.req("B1")
    async def test_a_rate_limit_says_when_to_ask_again(self, service: Brave, make: Make) -> None:
        service.rate_limited = True
        with pytest.raises(RateLimited) as caught:
            await make().search("search")
        assert caught.value.retry_after == 1
        service.quota = 0  # a plan without a monthly limit has nothing left of it, either
        with pytest.raises(RateLimited):
            await make().search("search")
        service.rate_limited = False
        service.fail(InjectedFault.status(429, "{}", headers={"Retry-After": "7"}))
        with pytest.raises(RateLimited) as caught:
            await make().search("search")
        assert caught.value.retry_after == 7


class TestCreate:
    @pytest.mark.parametrize("variable", BraveSearchProvider.key_variables)
    def test_either_variable_may_hold_keys(self, variable: str) -> None:
        settings = Settings.model_validate({"keys": {variable: "canary-one,canary-two"}})
        provider = BraveSearchProvider.create(ProviderContext("brave", settings, HttpClients(settings, None, None), {}))
        assert "Keys('brave', 2 keys" in repr(vars(provider))
        assert "canary" not in repr(vars(provider))
