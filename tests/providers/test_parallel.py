"""Parallel's wire format: built answers, and the miniature web."""

from __future__ import annotations

import json
from collections.abc import Callable
from datetime import date
from functools import partial
from typing import Any

import pytest

from components.exchanges import answer, shape
from components.services import posted, request_of, results_of
from groundwire import Settings, Web
from groundwire.errors import RequestRefused, UnexpectedResponse
from groundwire.models import Applied, Filters
from groundwire.providers.parallel import ParallelOptions, ParallelSearchProvider
from groundwire.testing import InjectedFault
from world import World
from world.services.json_search_apis import Parallel

parse = partial(results_of, "parallel")
to_body = partial(request_of, "parallel")

Make = Callable[..., ParallelSearchProvider]
TODAY = date(2026, 3, 15)
OK_ROW: dict[str, Any] = {
    "url": "https://a.example/x",
    "title": "A",
    "publish_date": "2026-10-30",
    "excerpts": ["e1", "e2"],
}
OK: dict[str, Any] = {
    "search_id": "search_1",
    "results": [OK_ROW],
    "warnings": None,
    "usage": [{"name": "sku_search", "count": 1}],
    "session_id": "session_1",
}


class TestParse:
    def test_a_row_is_passed_as_it_came(self) -> None:
        row = parse(answer(OK))[0]
        assert (row.title, row.url, row.snippet) == ("A", "https://a.example/x", "e1\n\ne2")
        assert row.published == "2026-10-30"

    @pytest.mark.parametrize("excerpts", [None, [], "text", [None, 3]])
    def test_every_field_but_the_address_may_be_missing(self, excerpts: object) -> None:
        rows = [{"url": "https://a.example/x", "title": None, "publish_date": "last year", "excerpts": excerpts}]
        row = parse(answer({"results": rows}))[0]
        assert (row.title, row.snippet, row.published, row.published_origin) == ("", "", None, "last year")

    def test_rows_without_an_address_are_left_out(self) -> None:
        assert len(parse(answer({"results": [{"title": "B"}, None, {"url": []}, OK_ROW]}))) == 1

    @pytest.mark.req("B1")
    def test_rows_without_any_address_are_no_empty_result(self) -> None:
        with pytest.raises(UnexpectedResponse):
            parse(answer({"results": [{"title": "A"}, None]}))

    def test_its_warnings_are_passed_on(self) -> None:
        warnings = [{"type": "warning", "message": "One\nthing."}, {"message": None}, 3, {"type": "new"}]
        assert parse(answer(OK | {"warnings": warnings})).warnings == ("parallel: One thing.",)


DOMAINS = tuple(f"site{number}.example" for number in range(200 + 1))

MAPPINGS: list[tuple[str, Filters, dict[str, Any], dict[str, Applied]]] = [
    ("nothing", Filters(), {}, {}),
    ("week", Filters(time_range="w"), {"source_policy": {"after_date": "2026-03-08"}}, {}),
    (
        "after",
        Filters(time_range="y", published_after=date(2026, 3, 1)),
        {"source_policy": {"after_date": "2026-03-01"}},
        {"published_after": "native"},
    ),
    ("before", Filters(published_before=date(2025, 12, 31)), {}, {"published_before": "post_filter"}),
    ("allowed", Filters(allowed_domains=("a.org",)), {"source_policy": {"include_domains": ["a.org"]}}, {}),
    ("blocked", Filters(blocked_domains=("a.org",)), {"source_policy": {"exclude_domains": ["a.org"]}}, {}),
    (
        "one list only",
        Filters(allowed_domains=("a.org",), blocked_domains=("x.a.org",)),
        {"source_policy": {"include_domains": ["a.org"]}},
        {"blocked_domains": "post_filter"},
    ),
    ("too many allowed", Filters(allowed_domains=DOMAINS), {}, {"allowed_domains": "post_filter"}),
    (
        "too many blocked",
        Filters(blocked_domains=DOMAINS),
        {"source_policy": {"exclude_domains": list(DOMAINS[:200])}},
        {"blocked_domains": "post_filter"},
    ),
    ("region", Filters(region="GB"), {"location": "gb"}, {}),
    ("what it does not know", Filters(language="de", safesearch="strict", page=2), {}, {}),
]


class TestMapping:
    @pytest.mark.req("B4")
    @pytest.mark.parametrize(
        ("filters", "fields", "applied"), [case[1:] for case in MAPPINGS], ids=[case[0] for case in MAPPINGS]
    )
    def test_filters(self, filters: Filters, fields: dict[str, Any], applied: dict[str, Applied]) -> None:
        mapped = to_body("words", 5, filters, today=TODAY)
        assert mapped.values == {
            "search_queries": ["words"],
            "mode": "basic",
            "advanced_settings": {"max_results": 5, "excerpt_settings": {"max_chars_per_result": 1_000}} | fields,
        }
        assert mapped.applied == applied

    def test_more_domains_than_it_takes_are_announced(self) -> None:
        assert "200 " in to_body("words", 5, Filters(allowed_domains=DOMAINS)).warnings[0]

    def test_long_words_become_the_objective(self) -> None:
        text = "word " * 60 + "end"
        mapped = to_body(text, 5, Filters())
        assert len(mapped.values["search_queries"][0]) <= 200
        assert mapped.values["objective"] == text
        assert mapped.warnings == []

    def test_options(self) -> None:
        assert to_body("words", 5, Filters(), ParallelOptions(mode="turbo")).values["mode"] == "turbo"


class TestOnTheWire:
    @pytest.mark.req("B1")
    async def test_the_miniature_answer_has_the_documented_shape(self, make: Make) -> None:
        ours = await posted(make(), "/v1/search", {"search_queries": ["reciprocal rank fusion"]})
        assert shape(ours) == shape(OK)

    @pytest.mark.req("Y5")
    async def test_it_finds_pages(self, make: Make, service: Parallel) -> None:
        found = await make().search("reciprocal rank fusion", limit=3)
        assert found[0].title == "Reciprocal rank fusion"
        assert found[0].published
        assert len(found) <= 3
        assert found.cost_usd == pytest.approx(0.005)
        request = service.requests[-1]
        assert (request.method, request.path) == ("POST", "/v1/search")
        assert request.headers["x-api-key"] == "test-key"
        assert "Authorization" not in request.headers

    @pytest.mark.parametrize(
        ("mode", "price", "returned", "unusable"),
        [
            ("turbo", 0.001, 3, 0),
            ("fast", 0.001, 11, 0),
            ("basic", 0.005, 10, 0),
            ("advanced", 0.005, 40, 0),
            ("turbo", 0.001, 13, 5),
        ],
    )
    async def test_each_mode_has_its_price_and_so_has_each_result_past_ten(
        self, make: Make, service: Parallel, mode: str, price: float, returned: int, unusable: int
    ) -> None:
        rows = [OK_ROW | {"url": f"https://a.example/{number}"} for number in range(returned - unusable)]
        body = json.dumps(OK | {"results": rows + [{"title": "without an address"}] * unusable})
        service.fail(InjectedFault.status(200, body, headers={"Content-Type": "application/json"}))
        provider = make(mode=mode)
        found = await provider.search("reciprocal rank fusion", limit=40)
        assert len(found) == returned - unusable
        assert provider.price_usd == pytest.approx(price), "what a search reserves"
        assert found.cost_usd == pytest.approx(price + 0.001 * max(0, returned - 10)), "what is counted"

    async def test_the_session_and_the_statistics_count_the_same(self, service: Parallel) -> None:
        rows = [OK_ROW | {"url": f"https://a.example/{number}"} for number in range(14)]
        json_type = {"Content-Type": "application/json"}
        service.fail(InjectedFault.status(200, json.dumps(OK | {"results": rows}), headers=json_type))
        settings = Settings.model_validate(
            {
                "search": {"providers": ("parallel",)},
                "providers": {"parallel": {"base_url": service.url, "mode": "turbo"}},
                "keys": {"PARALLEL_API_KEY": "test-key"},
                "storage": {"url": "memory://"},
            }
        )
        async with Web(settings) as web:
            found = await web.search("reciprocal rank fusion", limit=14)
            assert found.attempts[0].cost_usd == pytest.approx(0.005)
            assert (await web.usage())["cost_usd"] == pytest.approx(0.005)
            assert (await web.score_card(1)).providers[0].cost_usd == pytest.approx(0.005)

    async def test_a_long_question_gets_through(self, make: Make) -> None:
        found = await make().search("reciprocal rank fusion " + "in other words " * 30)
        assert found[0].title == "Reciprocal rank fusion"

    @pytest.mark.req("B4")
    async def test_a_country_it_ignores_is_said(self, make: Make) -> None:
        assert (await make().search("wikipedia", filters=Filters(region="at"))).warnings
        assert not (await make().search("wikipedia", filters=Filters(region="de"))).warnings

    async def test_pages_without_titles(self, make: Make, service: Parallel) -> None:
        service.untitled = True
        assert {(row.title, row.published) for row in await make().search("wikipedia")} == {("", None)}

    async def test_its_own_refusals(self, make: Make) -> None:
        with pytest.raises(RequestRefused, match="1 to 200"):
            await make().search("")
        for change in (
            {"max_results": 5},
            {"source_policy": {"include_domains": ["a.org"]}},
            {"search_queries": ["x" * 201]},
            {"mode": "one-shot"},
            {"advanced_settings": {"source_policy": {"after_date": "3/1/2026"}}},
        ):
            reply = await posted(make(), "/v1/search", {"search_queries": ["x"], **change})
            assert shape(reply) == shape({"type": "error", "error": {"ref_id": "", "message": "", "detail": None}})


@pytest.mark.req("B1", "Y15")
async def test_a_page_has_its_price_and_day(make: Make, service: Parallel, world: World) -> None:
    url = world.site("articles").page("bm25")
    page = await make().read_url(url)
    assert (page.cost_usd, page.title, len(page.published or "")) == (0.001, page.title, 10)
