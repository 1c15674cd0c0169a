"""Tavily's wire format: recorded answers, built answers, and the miniature web."""

from __future__ import annotations

import json
from collections.abc import Callable
from datetime import date, timedelta
from functools import partial
from pathlib import Path
from string import ascii_lowercase
from typing import Any

import pytest

from components.exchanges import answer, missing, recorded
from components.services import page_of, posted, request_of, results_of, sent
from groundwire.errors import PageUnavailable, QuotaExceeded
from groundwire.models import Filters
from groundwire.providers.query_mapping import country_name
from groundwire.providers.tavily import TavilyProvider
from groundwire.testing import InjectedFault
from world import World
from world.services.tavily import Tavily

parse = partial(results_of, "tavily")
parse_page = partial(page_of, "tavily")
to_body = partial(request_of, "tavily")

Make = Callable[..., TavilyProvider]
PAGE = "https://a.example/x"
KINDS = ("search", "extract")
OK = {
    "query": "q",
    "results": [
        {"url": PAGE, "content": "c", "score": 0.9, "published_date": "Mon, 02 Nov 2026 08:00:00 GMT"},
        {"title": "B", "url": "https://b.example/", "content": "c", "score": 0.5},
    ],
    "usage": {"credits": 1},
}
OK_PAGE = {"results": [{"url": PAGE, "raw_content": "# A", "images": []}], "failed_results": [], "response_time": 0.1}


class TestRecordings:
    async def test_the_emulator_has_their_shape(self, recordings: Path, world: World, make: Make) -> None:
        found = await posted(make(), "/search", {"query": "wikipedia"})
        page = await posted(make(), "/extract", {"urls": world.site("docs").page("api")})
        assert found["results"]
        assert page["results"]
        bodies = {kind: [one.body for one in recorded(recordings, "tavily", f"{kind}__*.json")] for kind in KINDS}
        assert missing(bodies["search"], found) == []
        assert missing(bodies["extract"], page) == []
        assert missing(bodies["search"], {**found, "results": [{"url": PAGE}]})


class TestParse:
    def test_dates_become_iso_8601(self) -> None:
        dates = ("Mon, 02 Nov 2026 08:00:00 GMT", "2026-11-02", "soon")
        rows = [{"url": PAGE, "published_date": said} for said in dates]
        found = parse(answer({"results": rows}))
        assert [row.published for row in found] == ["2026-11-02T08:00:00+00:00", "2026-11-02", None]
        assert [row.published_origin for row in found] == ["", "", "soon"]

    @pytest.mark.parametrize(("status", "words"), [(432, "plan"), (433, "pay as you go")])
    def test_a_used_up_plan_is_told_from_a_limit_of_speed(self, status: int, words: str) -> None:
        with pytest.raises(QuotaExceeded, match=words):
            parse(answer({"detail": {"error": f"No more: {words}."}}, status))

    @pytest.mark.req("Y6")
    def test_a_failed_page_in_a_200_is_a_failure(self) -> None:
        with pytest.raises(PageUnavailable, match="It did not answer"):
            parse_page(answer({"results": [], "failed_results": [{"url": PAGE, "error": "It did not answer."}]}), PAGE)


class TestBody:
    @pytest.mark.req("B4")
    @pytest.mark.parametrize(
        ("filters", "wanted", "applied"),
        [
            (Filters(time_range="w"), {"time_range": "week"}, {}),
            (
                Filters(published_after=date(2026, 3, 1), published_before=date(2026, 4, 1)),
                {"start_date": "2026-03-01", "end_date": "2026-04-01"},
                {},
            ),
            (Filters(published_after=date(2099, 3, 1), time_range="d"), {"start_date": "2099-03-01"}, {}),
            (
                Filters(allowed_domains=("a.org",), blocked_domains=("b.a.org",)),
                {"include_domains": ["a.org"], "exclude_domains": ["b.a.org"]},
                {},
            ),
            (Filters(language="pt-BR"), {"language": "pt"}, {}),
            (Filters(language="fil"), {}, {"language": "not_possible"}),
            (Filters(region="GB"), {"country": "united kingdom"}, {}),
            (Filters(region="zz"), {}, {"region": "not_possible"}),
            (Filters(safesearch="strict", page=2), {}, {}),
        ],
    )
    def test_filters_are_mapped(self, filters: Filters, wanted: dict[str, Any], applied: dict[str, str]) -> None:
        mapped = to_body("words", 50, filters)
        usual = {"query": "words", "max_results": 20, "search_depth": "basic"}
        assert mapped.values == usual | {"include_usage": True} | wanted
        assert mapped.applied == applied
        assert mapped.warnings == []

    @pytest.mark.req("B4")
    def test_more_domains_than_it_takes_are_left_to_the_check_afterwards(self) -> None:
        many = tuple(f"site{number}.example" for number in range(301))
        mapped = to_body("words", 5, Filters(allowed_domains=many, blocked_domains=many))
        assert "include_domains" not in mapped.values
        assert mapped.values["exclude_domains"] == list(many[:150])
        assert mapped.applied == {"allowed_domains": "post_filter", "blocked_domains": "post_filter"}
        assert "it accepts at most 300 allowed_domains, not 301" in mapped.warnings[0]
        assert "it accepts at most 150 blocked_domains, not 301" in mapped.warnings[1]

    def test_a_long_query_is_cut_and_it_is_said(self) -> None:
        mapped = to_body("word " * 100, 5, Filters())
        assert len(mapped.values["query"]) <= 400
        assert "was cut to" in mapped.warnings[0]

    def test_every_country_has_a_name_of_letters(self) -> None:
        codes = [first + second for first in ascii_lowercase for second in ascii_lowercase]
        names = {code: name for code in codes if (name := country_name(code))}
        assert len(names) == len(set(names.values())) >= 160
        assert all(name.replace(" ", "").isalpha() for name in names.values())
        assert (names["at"], names["zw"], names["ba"]) == ("austria", "zimbabwe", "bosnia and herzegovina")


class TestOnTheWire:
    @pytest.mark.req("Y5")
    async def test_it_finds_pages(self, make: Make, service: Tavily) -> None:
        tavily = make()
        found = await tavily.search("reciprocal rank fusion", limit=2)
        assert found[0].title == "Reciprocal rank fusion"
        assert found[0].score is not None
        assert len(found) == 2
        assert found.cost_usd == pytest.approx(0.008)
        request = service.requests[-1]
        assert request.headers["Authorization"] == "Bearer test-key"
        assert "X-Tavily-Access-Mode" not in request.headers

    @pytest.mark.req("B4")
    async def test_filters_are_honored(self, world: World, make: Make, service: Tavily) -> None:
        filters = Filters(
            allowed_domains=("encyclopedia.test",),
            blocked_domains=("docs.test",),
            language="en",
            region="us",
            published_after=world.today - timedelta(days=30),
        )
        tavily = make()
        found = await tavily.search("search engines", filters=filters)
        today = Filters(time_range="d", allowed_domains=("docs.test",))
        narrow = await tavily.search("search engines", filters=today)
        assert found
        assert all("/wiki/" in row.url for row in found)
        assert all("/en/stable/" in row.url for row in narrow)
        assert found.applied == {}
        body = service.requests[0].json()
        assert isinstance(body, dict)
        assert (body["country"], body["language"]) == ("united states", "en")
        assert body["include_domains"] == ["encyclopedia.test"]
        assert sent(service)["time_range"] == "day"

    async def test_advanced_costs_twice(self, make: Make) -> None:
        tavily = make(search_depth="advanced")
        found = await tavily.search("reciprocal rank fusion", limit=1)
        assert found.cost_usd == pytest.approx(0.016)

    @pytest.mark.req("Y6")
    async def test_it_reads_a_page(self, world: World, make: Make, service: Tavily) -> None:
        url = world.site("docs").page("quickstart")
        tavily = make()
        page = await tavily.read_url(url)
        assert page.success
        assert page.content.startswith("# ")
        assert page.content_length == len(page.content)
        assert page.cost_usd == pytest.approx(0.0016)
        assert sent(service)["urls"] == [url]

    @pytest.mark.req("Y6")
    async def test_a_dead_page_is_an_error(self, world: World, make: Make) -> None:
        tavily = make()
        for url in (world.site("docs").url + "/nowhere", "http://nobody.test/"):
            with pytest.raises(PageUnavailable):
                await tavily.read_url(url)

    async def test_what_the_service_says_that_it_cost_counts(self, make: Make, service: Tavily) -> None:
        service.fail(InjectedFault.status(200, json.dumps(OK | {"usage": {"credits": 5}})))
        service.fail(InjectedFault.status(200, json.dumps(OK_PAGE | {"usage": {"credits": 3}})))
        tavily = make()
        found = await tavily.search("x")
        page = await tavily.read_url(PAGE)
        assert found.cost_usd == pytest.approx(0.04)
        assert page.cost_usd == pytest.approx(0.024)
