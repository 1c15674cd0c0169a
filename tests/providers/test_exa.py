"""Exa's wire format: recorded answers, built answers, and the miniature web."""

from __future__ import annotations

import json
from collections.abc import Callable
from datetime import UTC, date, datetime, timedelta
from functools import partial
from pathlib import Path
from typing import Any

import pytest

from components.exchanges import answer, missing, recorded
from components.services import Makes, page_of, posted, request_of, results_of, sent
from groundwire import Settings, Web
from groundwire.errors import PageNotFound, PageRefused, ProviderUnavailable, QuotaExceeded, RateLimited
from groundwire.models import Filters
from groundwire.providers.exa import ExaOptions, ExaProvider
from groundwire.testing import InjectedFault
from world import World
from world.services.exa import Exa

parse = partial(results_of, "exa")
parse_page = partial(page_of, "exa")
to_body = partial(request_of, "exa")

Make = Callable[..., ExaProvider]
PAGE = "https://a.example/x"
KINDS = ("search", "contents")
OK = {
    "requestId": "r",
    "results": [
        {
            "id": PAGE,
            "url": PAGE,
            "title": "A",
            "score": 0.4,
            "publishedDate": "2026-10-30T00:00:00.000Z",
            "highlights": ["one", "two"],
            "summary": "s",
        },
        {"id": "b", "url": "https://b.example/", "title": None, "text": "t"},
    ],
    "costDollars": {"total": 0.007},
}
OK_PAGE = {
    "results": [{"id": PAGE, "url": PAGE, "title": "A", "text": "# A", "publishedDate": "2026-10-30T00:00:00.000Z"}],
    "statuses": [{"id": PAGE, "status": "success"}],
    "costDollars": {"total": 0.001},
}


class TestRecordings:
    async def test_the_emulator_has_their_shape(self, recordings: Path, world: World, make: Make) -> None:
        found = await posted(make(), "/search", {"query": "wikipedia"})
        page = await posted(make(), "/contents", {"urls": [world.site("docs").page("api")], "text": True})
        assert found["results"]
        assert page["results"]
        bodies = {kind: [one.body for one in recorded(recordings, "exa", f"{kind}__*.json")] for kind in KINDS}
        assert missing(bodies["search"], found) == []
        assert missing(bodies["contents"], page) == []
        assert missing(bodies["search"], {**found, "results": [{"url": PAGE}]})


class TestParse:
    def test_a_snippet_is_whatever_contents_came(self) -> None:
        first, second = parse(answer(OK))
        assert first.snippet == "one … two"
        assert (second.snippet, second.title) == ("t", "")
        assert parse(answer({"results": [{"url": PAGE, "summary": "s"}]}))[0].snippet == "s"

    def test_dates_are_kept_and_words_are_not_guessed(self) -> None:
        rows = [{"url": PAGE, "publishedDate": said} for said in ("2026-10-30T00:00:00.000Z", "last week", None)]
        found = parse(answer({"results": rows}))
        assert [row.published for row in found] == ["2026-10-30T00:00:00.000Z", None, None]
        assert [row.published_origin for row in found] == ["", "last week", ""]

    @pytest.mark.parametrize("tag", ["NO_MORE_CREDITS", "API_KEY_BUDGET_EXCEEDED"])
    def test_tags_of_money_are_a_quota(self, tag: str) -> None:
        with pytest.raises(QuotaExceeded, match="Add credits"):
            parse(answer({"requestId": "r", "error": "Said.", "tag": tag}, 402))

    def test_too_much_load_is_a_rate_limit_but_a_proxy_is_not(self) -> None:
        with pytest.raises(RateLimited):
            parse(answer({"error": "overloaded"}, 503))
        with pytest.raises(ProviderUnavailable):
            parse(answer(b"<html>", 503))

    def test_a_very_long_page_is_said_to_be_cut(self) -> None:
        page = parse_page(answer({"results": [{"url": PAGE, "text": "x" * 500_000}]}), PAGE)
        assert page.truncated


class TestBody:
    @pytest.mark.req("B4")
    @pytest.mark.parametrize(
        ("filters", "wanted", "applied"),
        [
            (Filters(), {"moderation": True}, {}),
            (Filters(safesearch="off"), {"moderation": False}, {}),
            (
                Filters(published_after=date(2026, 3, 1), published_before=date(2026, 4, 1)),
                {"startPublishedDate": "2026-03-01T00:00:00.000Z", "endPublishedDate": "2026-04-01T23:59:59.999Z"},
                {},
            ),
            (
                Filters(published_after=date(2099, 3, 1), time_range="d"),
                {"startPublishedDate": "2099-03-01T00:00:00.000Z"},
                {},
            ),
            (Filters(blocked_domains=("b.org",)), {"excludeDomains": ["b.org"]}, {}),
            (
                Filters(allowed_domains=("a.org",), blocked_domains=("b.a.org",)),
                {"includeDomains": ["a.org"]},
                {"blocked_domains": "post_filter"},
            ),
            (Filters(region="gb"), {"userLocation": "GB"}, {}),
        ],
    )
    def test_filters_are_mapped(self, filters: Filters, wanted: dict[str, Any], applied: dict[str, str]) -> None:
        mapped = to_body("words", 120, filters)
        usual = {
            "query": "words",
            "type": "auto",
            "numResults": 100,
            "contents": {"highlights": {"maxCharacters": 1_000}},
            "moderation": True,
        }
        assert mapped.values == usual | wanted
        assert mapped.applied == applied
        assert mapped.warnings == []

    def test_a_time_range_is_a_date(self) -> None:
        body = to_body("words", 5, Filters(time_range="w")).values
        age = datetime.now(UTC).date() - date.fromisoformat(body["startPublishedDate"][:10])
        assert 6 <= age.days <= 8

    def test_options_go_into_the_body(self) -> None:
        body = to_body("words", 5, Filters(), ExaOptions(type="fast")).values
        assert body["type"] == "fast"


class TestOnTheWire:
    @pytest.mark.req("Y5")
    async def test_it_finds_pages(self, world: World, make: Make, service: Exa) -> None:
        exa = make()
        found = await exa.search("reciprocal rank fusion", limit=2)
        assert found[0].title == "Reciprocal rank fusion"
        assert found[0].snippet
        assert date.fromisoformat((found[0].published or "")[:10]) == world.today - timedelta(days=12)
        assert len(found) == 2
        assert found.cost_usd == pytest.approx(0.007)
        assert service.requests[-1].headers["x-api-key"] == "test-key"

    @pytest.mark.req("B4")
    async def test_filters_are_honored(self, world: World, make: Make, service: Exa) -> None:
        filters = Filters(
            allowed_domains=("encyclopedia.test",), blocked_domains=("docs.test",), time_range="w", region="us"
        )
        exa = make()
        found = await exa.search("search engines", filters=filters)
        assert sent(service)["includeDomains"] == ["encyclopedia.test"]
        other = await exa.search("search engines", filters=Filters(blocked_domains=("encyclopedia.test",)))
        assert found
        assert all("/wiki/" in row.url for row in found)
        assert all(date.fromisoformat((row.published or "")[:10]) >= world.today - timedelta(days=8) for row in found)
        assert found.applied == {"blocked_domains": "post_filter"}
        assert not any("/wiki/" in row.url for row in other)

    @pytest.mark.req("Y6")
    async def test_it_reads_a_page(self, world: World, make: Make) -> None:
        url = world.site("docs").page("quickstart")
        exa = make()
        page = await exa.read_url(url)
        assert page.success
        assert page.content.startswith("# ")
        assert page.title
        assert (page.final_url, page.content_length, page.truncated) == (url, len(page.content), False)
        assert page.cost_usd == pytest.approx(0.001)

    @pytest.mark.req("Y6")
    async def test_a_dead_page_is_an_error(self, world: World, make: Make) -> None:
        exa = make()
        with pytest.raises(PageNotFound, match="CRAWL_NOT_FOUND"):
            await exa.read_url(world.site("docs").url + "/nowhere")
        with pytest.raises(PageRefused):
            parse_page(answer({"statuses": [{"status": "error", "error": {"httpStatusCode": 403}}]}), PAGE)

    @pytest.mark.req("B1")
    async def test_its_limits_say_when_to_come_back(self, make: Make, service: Exa) -> None:
        service.retry_after = "3"
        exa = make()
        with pytest.raises(RateLimited) as caught:
            await exa.search("x")
        assert caught.value.retry_after == 3
        service.overloaded = True
        exa = make()
        with pytest.raises(RateLimited, match="overloaded"):
            await exa.search("x")

    @pytest.mark.parametrize(
        ("kind", "price"),
        [
            ("auto", 0.007),
            ("fast", 0.007),
            ("lite", 0.004),
            ("deep", 0.012),
            ("deep-lite", 0.012),
            ("deep-reasoning", 0.015),
        ],
    )
    async def test_a_type_has_its_price(self, make: Make, service: Exa, kind: str, price: float) -> None:
        service.fail(InjectedFault.status(200, json.dumps({"results": OK["results"]})))
        assert make(type=kind).price_usd == price
        assert (await make(type=kind).search("wikipedia")).cost_usd == price

    async def test_it_is_said_that_pages_without_a_date_are_left_out(self, world: World, makes: Makes) -> None:
        async with Web(Settings(), search_providers=[makes(ExaProvider)]) as web:
            dated = await web.search("wikipedia", time_range="y")
            usual = await web.search("wikipedia")
        assert [receipt.applied for receipt in dated.filters] == ["native"]
        assert "pages without a date were left out by the service" in dated.filters[0].note
        assert any("without a date" in warning for warning in dated.warnings)
        assert not any("without a date" in warning for warning in usual.warnings)

    async def test_what_the_service_says_that_it_cost_counts(self, make: Make, service: Exa) -> None:
        service.fail(InjectedFault.status(200, json.dumps(OK | {"costDollars": {"total": 0.015}})))
        service.fail(InjectedFault.status(200, json.dumps(OK_PAGE | {"costDollars": {"total": 0.002}})))
        exa = make()
        found = await exa.search("x")
        page = await exa.read_url(PAGE)
        assert found.cost_usd == pytest.approx(0.015)
        assert page.cost_usd == pytest.approx(0.002)


def test_what_it_says_of_the_request_and_of_the_results_is_a_warning() -> None:
    body = {
        "results": [{"url": "https://a.example/x", "title": "A"}],
        "warnings": [{"code": "IGNORED_FIELD", "path": "/x", "message": "x has no effect."}],
        "notices": [
            {"code": "RESTRICTIONS_RELAXED", "path": "/query", "message": "Without site:b.example."},
            1,
        ],
    }
    found = results_of("exa", answer(body))
    assert found.warnings == ("exa: x has no effect.", "exa: Without site:b.example.")
