"""Linkup's wire format: built answers, and the miniature web."""

from __future__ import annotations

from collections.abc import Callable
from datetime import date
from functools import partial
from typing import Any

import pytest

from components.exchanges import answer, shape
from components.services import posted, request_of, results_of
from groundwire.errors import AuthenticationFailed, QuotaExceeded, RequestRefused, UnexpectedResponse
from groundwire.models import Applied, Filters
from groundwire.providers.linkup import LinkupOptions, LinkupSearchProvider
from world import World
from world.services.json_search_apis import Linkup

parse = partial(results_of, "linkup")
to_body = partial(request_of, "linkup")

Make = Callable[..., LinkupSearchProvider]
TODAY = date(2026, 3, 15)
OK_ROW: dict[str, Any] = {"type": "text", "name": "A", "url": "https://a.example/x", "content": "c", "favicon": ""}
OK: dict[str, Any] = {"results": [OK_ROW]}


class TestParse:
    def test_a_row_is_passed_as_it_came(self) -> None:
        row = parse(answer(OK))[0]
        assert (row.title, row.url, row.snippet, row.published) == ("A", "https://a.example/x", "c", None)

    def test_images_and_rows_without_an_address_are_left_out(self) -> None:
        image = {"type": "image", "name": "I", "url": "https://a.example/i.png"}
        assert len(parse(answer({"results": [image, None, {"name": "B"}, {"url": []}, OK_ROW]}))) == 1

    @pytest.mark.req("B1")
    def test_rows_without_any_address_are_no_empty_result(self) -> None:
        with pytest.raises(UnexpectedResponse):
            parse(answer({"results": [{"name": "A"}, None]}))

    @pytest.mark.req("B1")
    def test_nothing_found_comes_as_an_error_and_is_none(self) -> None:
        found = parse(answer({"statusCode": 400, "error": {"code": "SEARCH_QUERY_NO_RESULT", "message": "m"}}, 400))
        assert (len(found), found.status) == (0, 400)


DOMAINS = tuple(f"site{number}.example" for number in range(100 + 1))

MAPPINGS: list[tuple[str, Filters, dict[str, Any], dict[str, Applied]]] = [
    ("nothing", Filters(), {}, {}),
    ("day", Filters(time_range="d"), {"fromDate": "2026-03-14"}, {}),
    ("week", Filters(time_range="w"), {"fromDate": "2026-03-08"}, {}),
    ("after", Filters(published_after=date(2025, 3, 1)), {"fromDate": "2025-03-01"}, {}),
    ("before", Filters(published_before=date(2025, 12, 31)), {"toDate": "2025-12-31"}, {}),
    (
        "the later start counts",
        Filters(time_range="y", published_after=date(2026, 3, 10)),
        {"fromDate": "2026-03-10"},
        {},
    ),
    (
        "both lists",
        Filters(allowed_domains=("a.org",), blocked_domains=("x.a.org",)),
        {"includeDomains": ["a.org"], "excludeDomains": ["x.a.org"]},
        {},
    ),
    ("too many allowed", Filters(allowed_domains=DOMAINS), {}, {"allowed_domains": "post_filter"}),
    (
        "too many blocked",
        Filters(blocked_domains=DOMAINS),
        {"excludeDomains": list(DOMAINS[:100])},
        {"blocked_domains": "post_filter"},
    ),
    ("what it does not know", Filters(language="de", region="de", safesearch="strict", page=2), {}, {}),
]


class TestMapping:
    @pytest.mark.req("B4")
    @pytest.mark.parametrize(
        ("filters", "fields", "applied"), [case[1:] for case in MAPPINGS], ids=[case[0] for case in MAPPINGS]
    )
    def test_filters(self, filters: Filters, fields: dict[str, Any], applied: dict[str, Applied]) -> None:
        mapped = to_body("words", 5, filters, today=TODAY)
        assert (
            mapped.values
            == {
                "q": "words",
                "depth": "fast",
                "outputType": "searchResults",
                "includeImages": False,
                "maxResults": 5,
            }
            | fields
        )
        assert mapped.applied == applied

    def test_more_domains_than_it_takes_are_announced(self) -> None:
        assert "100 " in to_body("words", 5, Filters(allowed_domains=DOMAINS)).warnings[0]

    def test_options(self) -> None:
        assert to_body("words", 5, Filters(), LinkupOptions(depth="deep")).values["depth"] == "deep"


class TestOnTheWire:
    @pytest.mark.req("B1")
    async def test_the_miniature_answer_has_the_documented_shape(self, make: Make) -> None:
        ours = await posted(
            make(), "/v1/search", {"q": "reciprocal rank fusion", "depth": "fast", "outputType": "searchResults"}
        )
        assert shape(ours) == shape(OK)

    @pytest.mark.req("Y5")
    async def test_it_finds_pages(self, make: Make, service: Linkup) -> None:
        found = await make().search("reciprocal rank fusion", limit=3)
        assert found[0].title == "Reciprocal rank fusion"
        assert len(found) <= 3
        request = service.requests[-1]
        assert (request.method, request.path) == ("POST", "/v1/search")
        assert request.headers["Authorization"] == "Bearer test-key"

    @pytest.mark.parametrize(("depth", "cost"), [("flash", 0.005), ("standard", 0.005), ("deep", 0.05)])
    async def test_deep_searches_cost_more(self, make: Make, depth: str, cost: float) -> None:
        assert (await make(depth=depth).search("wikipedia")).cost_usd == pytest.approx(cost)

    @pytest.mark.req("B1")
    async def test_finding_nothing_is_free_and_no_failure(self, make: Make) -> None:
        found = await make().search("zyxwvutsrq")
        assert not found
        assert found.cost_usd == 0

    @pytest.mark.req("B1", "B16")
    async def test_a_budget_of_its_own(self, make: Make, service: Linkup) -> None:
        service.credits_left["test-key"] = 0
        service.money_code = "EXCEED_BUDGET_LIMIT"
        with pytest.raises(QuotaExceeded, match="budget"):
            await make().search("x")

    @pytest.mark.req("B1")
    async def test_a_key_that_is_bound_to_another_machine(self, make: Make, service: Linkup) -> None:
        service.address_allowed = False
        with pytest.raises(AuthenticationFailed, match="public address"):
            await make().search("x")

    async def test_its_own_refusals(self, make: Make) -> None:
        with pytest.raises(RequestRefused):
            await make().search(" ")
        good = {"q": "x", "depth": "fast", "outputType": "searchResults"}
        for change in ({"depth": "slow"}, {"maxResults": 0}, {"fromDate": "March"}, {"includeDomains": ["a"] * 101}):
            reply = await posted(make(), "/v1/search", good | change)
            assert reply["error"]["code"] == "VALIDATION_ERROR"
            assert reply["error"]["details"][0]["field"] == next(iter(change))


@pytest.mark.req("B1", "Y15")
async def test_a_page_has_its_price(make: Make, service: Linkup, world: World) -> None:
    url = world.site("articles").page("bm25")
    reader = make()
    page = await reader.read_url(url)
    assert (page.cost_usd, reader.page_price_usd) == (0.001, 0.001)
    assert service.requests[-1].json() == {"url": url, "renderJs": False}
