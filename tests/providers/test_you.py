"""You.com's wire format: built answers, and the miniature web."""

from __future__ import annotations

from collections.abc import Callable
from datetime import UTC, date, datetime, timedelta
from functools import partial
from typing import Any

import pytest

from components.exchanges import answer, shape
from components.services import Makes, api_class, offline, posted, request_of, results_of, sent
from groundwire.deadline import Deadline
from groundwire.errors import AuthenticationFailed, PageUnavailable, QuotaExceeded, UnexpectedResponse
from groundwire.models import Applied, Filters
from groundwire.providers.query_mapping import Mapped
from groundwire.providers.you import YouSearchProvider
from groundwire.providers.you_free import YouFreeSearchProvider
from world import World
from world.services.you import You

parse = partial(results_of, "you")
to_body = partial(request_of, "you")

Make = Callable[..., YouSearchProvider]
TODAY = date(2026, 3, 15)
OK_ROW: dict[str, Any] = {
    "url": "https://a.example/x",
    "title": "A",
    "description": "d",
    "snippets": ["s1", "s2"],
    "page_age": "2026-10-30T00:00:00",
    "favicon_url": "",
}
OK: dict[str, Any] = {"results": {"web": [OK_ROW]}, "metadata": {"search_uuid": "u", "query": "q", "latency": 0.3}}


class TestParse:
    def test_a_row_is_passed_as_it_came(self) -> None:
        row = parse(answer(OK))[0]
        assert (row.title, row.url, row.snippet) == ("A", "https://a.example/x", "s1\ns2")
        assert row.published == "2026-10-30T00:00:00"

    def test_without_passages_the_description_speaks(self) -> None:
        for passages in (None, [], [None, 3], ["", " "], "text"):
            row = parse(answer({"results": {"web": [{**OK_ROW, "snippets": passages}]}}))[0]
            assert row.snippet == "d"

    def test_news_come_behind_the_web_and_say_so(self) -> None:
        news = {"url": "https://n.example/x", "title": "N", "description": "d", "page_age": "3 hours ago"}
        found = parse(answer({"results": {"news": [news], "web": [OK_ROW]}}))
        assert [row.source for row in found] == ["you", "you (news)"]
        assert (found[1].published, found[1].published_origin) == (None, "3 hours ago")
        assert len(parse(answer({"results": {"news": [news]}}))) == 1

    @pytest.mark.req("B1")
    @pytest.mark.parametrize("results", [{}, {"web": []}, {"web": None, "news": []}])
    def test_absent_sections_are_an_empty_result(self, results: object) -> None:
        assert not parse(answer({"results": results, "metadata": {}}))

    @pytest.mark.req("B1")
    @pytest.mark.parametrize(
        "results", [None, [], "none", {"web": {}}, {"news": "x"}, {"knowledge": "x"}, {"web": [{"title": "A"}, 1]}]
    )
    def test_another_form_is_no_empty_result(self, results: object) -> None:
        with pytest.raises(UnexpectedResponse):
            parse(answer({"results": results}))

    @pytest.mark.req("B1")
    def test_an_allowance_that_begins_anew_says_when(self) -> None:
        moment = datetime.now(UTC) + timedelta(hours=2)
        for text in (moment.isoformat(), moment.replace(tzinfo=None).isoformat()):
            with pytest.raises(QuotaExceeded) as caught:
                parse(answer({"error": "payment_required", "reset_at": text}, 402))
            assert caught.value.retry_after == pytest.approx(7_200, abs=120)
        with pytest.raises(QuotaExceeded) as caught:
            parse(answer({"reset_at": "tomorrow"}, 402))
        assert caught.value.retry_after is None


DOMAINS = tuple(f"site{number}.example" for number in range(500 + 1))

MAPPINGS: list[tuple[str, Filters, dict[str, Any], dict[str, Applied]]] = [
    ("nothing", Filters(), {}, {}),
    ("week", Filters(time_range="w"), {"freshness": "week"}, {}),
    ("after", Filters(published_after=date(2025, 3, 1)), {"freshness": "2025-03-01to2026-03-15"}, {}),
    ("before", Filters(published_before=date(2025, 12, 31)), {"freshness": "1990-01-01to2025-12-31"}, {}),
    (
        "a range beside days",
        Filters(time_range="w", published_after=date(2026, 1, 1), published_before=date(2026, 3, 12)),
        {"freshness": "2026-03-08to2026-03-12"},
        {},
    ),
    ("page", Filters(page=3), {"offset": 2}, {}),
    ("allowed", Filters(allowed_domains=("a.org",)), {"include_domains": ["a.org"]}, {}),
    ("blocked", Filters(blocked_domains=("a.org",)), {"exclude_domains": ["a.org"]}, {}),
    (
        "one list only",
        Filters(allowed_domains=("a.org",), blocked_domains=("x.a.org",)),
        {"include_domains": ["a.org"]},
        {"blocked_domains": "post_filter"},
    ),
    ("too many allowed", Filters(allowed_domains=DOMAINS), {}, {"allowed_domains": "post_filter"}),
    (
        "too many blocked",
        Filters(blocked_domains=DOMAINS),
        {"exclude_domains": list(DOMAINS[:500])},
        {"blocked_domains": "post_filter"},
    ),
    ("language and region", Filters(language="de", region="at"), {"language": "DE", "country": "AT"}, {}),
    ("a kind it has", Filters(language="en-GB"), {"language": "EN-GB"}, {}),
    ("a kind it lacks", Filters(language="en-US"), {"language": "EN"}, {}),
    ("the country tells", Filters(language="pt", region="br"), {"language": "PT-BR", "country": "BR"}, {}),
    (
        "the tag tells first",
        Filters(language="pt-PT", region="br"),
        {"language": "PT-PT", "country": "BR"},
        {},
    ),
    ("a script", Filters(language="zh-Hant-HK"), {"language": "ZH-HANT"}, {}),
    ("Portuguese", Filters(language="pt"), {"language": "PT-PT"}, {}),
    ("Chinese", Filters(language="zh-TW"), {"language": "ZH-HANT"}, {}),
    ("simplified", Filters(language="zh-CN"), {"language": "ZH-HANS"}, {}),
    ("Norwegian", Filters(language="no"), {"language": "NB"}, {}),
    ("unknown", Filters(language="tlh", region="aq"), {}, {"language": "not_possible", "region": "not_possible"}),
    ("decency", Filters(safesearch="strict"), {"safesearch": "strict"}, {}),
]


class TestMapping:
    @pytest.mark.req("B4")
    @pytest.mark.parametrize(
        ("filters", "fields", "applied"), [case[1:] for case in MAPPINGS], ids=[case[0] for case in MAPPINGS]
    )
    def test_filters(self, filters: Filters, fields: dict[str, Any], applied: dict[str, Applied]) -> None:
        mapped = to_body("words", 5, filters, today=TODAY)
        assert mapped.values == {"query": "words", "count": 5, "safesearch": "moderate"} | fields
        assert mapped.applied == applied

    def test_more_domains_than_it_takes_are_announced(self) -> None:
        assert "500 " in to_body("words", 5, Filters(allowed_domains=DOMAINS)).warnings[0]

    def test_a_range_never_runs_backwards(self) -> None:
        filters = Filters(time_range="d", published_before=date(2026, 1, 1))
        mapped = to_body("words", 5, filters, today=TODAY)
        assert mapped.values["freshness"] == "1990-01-01to2026-01-01"
        assert mapped.applied == {"time_range": "post_filter"}


class TestOnTheWire:
    @pytest.mark.req("B1")
    async def test_the_miniature_answer_has_the_documented_shape(self, make: Make) -> None:
        ours = await posted(make(), "/v1/search", {"query": "reciprocal rank fusion"})
        assert shape(ours) == shape(OK)

    @pytest.mark.req("Y5")
    async def test_it_finds_pages(self, make: Make, service: You) -> None:
        found = await make().search("reciprocal rank fusion", limit=3)
        assert found[0].title == "Reciprocal rank fusion"
        assert found[0].published
        assert found.cost_usd == pytest.approx(0.005)
        request = service.requests[-1]
        assert (request.method, request.path) == ("POST", "/v1/search")
        assert request.headers["X-API-Key"] == "test-key"
        assert "Authorization" not in request.headers

    async def test_news(self, make: Make, service: You) -> None:
        service.news = True
        found = await make().search("search ranking page", limit=30)
        assert {row.source for row in found} == {"you", "you (news)"}

    @pytest.mark.req("B1", "B16")
    async def test_an_allowance_says_when_it_begins_anew(self, make: Make, service: You) -> None:
        service.credits_left["test-key"] = 0
        service.reset_at = (datetime.now(UTC) + timedelta(hours=1)).isoformat()
        with pytest.raises(QuotaExceeded) as caught:
            await make().search("x")
        assert caught.value.retry_after == pytest.approx(3_600, abs=120)

    @pytest.mark.req("B1")
    async def test_a_key_without_the_right(self, make: Make, service: You) -> None:
        service.scoped = False
        with pytest.raises(AuthenticationFailed) as caught:
            await make().search("x")
        assert caught.value.status == 403

    async def test_the_older_way_to_ask(self, make: Make) -> None:
        params = {"query": "search ranking page", "count": "2", "include_domains": "docs.test,forum.test"}
        assert len(await make().ask(Mapped(params), parse, method="GET", path="/v1/search", deadline=None)) == 2

    async def test_passages_and_licensed_data_come_where_they_are_asked_for(self, make: Make, service: You) -> None:
        usual = await make().search("reciprocal rank fusion")
        assert not {"extraction", "knowledge"} & set(sent(service))
        assert not usual.warnings
        found = await make(highlights=True, knowledge=True).search("reciprocal rank fusion")
        assert sent(service)["extraction"] == {"extraction_mode": "highlights"}
        assert found[0].snippet == f"Also: {found[0].title}.\n{usual[0].snippet}"
        assert found.warnings == ("you: Copper: 9,812.50 US dollars a ton (2026-11-20, Metals Board)",)
        assert [row.url for row in found] == [row.url for row in usual]

    async def test_a_search_without_a_key_asks_for_neither(self, makes: Makes, world: World) -> None:
        await makes(YouFreeSearchProvider).search("bm25")
        assert not {"extraction", "knowledge"} & set(world.service("you_free").requests[-1].query)


@pytest.mark.req("B1", "Y15")
async def test_a_page_is_read_within_its_time(make: Make, service: You, world: World) -> None:
    url = world.site("articles").page("bm25")
    page = await make().read_url(url)
    assert (page.cost_usd, bool(page.title)) == (0.001, True)
    body = sent(service)
    assert (body["urls"], body["formats"]) == ([url], ["markdown"])
    for seconds, asked in ((9, 8), (0.5, 1), (500, 60)):
        request = offline("you").to_page_request(url, Deadline.after(seconds, lambda: 0.0))
        assert request.values["crawl_timeout"] == asked
    with pytest.raises(PageUnavailable, match="returned no text"):
        await make().read_url(f"{url}-is-not-here")
    assert not api_class("you_free").capabilities.read
