"""Perplexity's wire format: recorded answers, built answers, and the miniature web."""

from __future__ import annotations

from collections.abc import Callable
from datetime import date
from functools import partial
from pathlib import Path
from typing import Any

import pytest

from components.exchanges import answer, recorded, shape
from components.services import Makes, posted, request_of, results_of, sent
from groundwire.errors import QuotaExceeded, RequestRefused, UnexpectedResponse
from groundwire.models import Applied, Filters
from groundwire.providers.perplexity import PerplexityOptions, PerplexitySearchProvider
from world import World
from world.services.json_search_apis import Perplexity

parse = partial(results_of, "perplexity")
to_body = partial(request_of, "perplexity")

Make = Callable[..., PerplexitySearchProvider]
TODAY = date(2026, 3, 15)


class TestRecordings:
    def test_the_recorded_refusal_is_about_money(self, recordings: Path) -> None:
        [refusal] = recorded(recordings, "perplexity_search", "error_401__01.json")
        with pytest.raises(QuotaExceeded, match="Add credit"):
            parse(refusal.reply)

    async def test_the_miniature_answer_has_the_recorded_shape(
        self, recordings: Path, make: Make, service: Perplexity
    ) -> None:
        [real] = recorded(recordings, "perplexity_search", "search__01.json")
        [refusal] = recorded(recordings, "perplexity_search", "error_401__01.json")
        ours = await posted(make(), "/search", {"query": "reciprocal rank fusion"})
        assert shape(real.body) == shape(ours)
        service.credits_left["test-key"] = 0
        ours = await posted(make(), "/search", {"query": "reciprocal rank fusion"})
        assert shape(refusal.body) == shape(ours)


OK_ROW = {"title": "A", "url": "https://a.example/x", "snippet": "s", "date": "2026-10-30", "last_updated": None}


class TestParse:
    def test_a_row_is_passed_as_it_came(self) -> None:
        row = parse(answer({"id": "s", "results": [OK_ROW], "server_time": None}))[0]
        assert (row.title, row.url, row.snippet, row.published, row.source) == (
            "A",
            "https://a.example/x",
            "s",
            "2026-10-30",
            "perplexity",
        )

    def test_what_is_no_date_is_kept_as_it_was_said(self) -> None:
        row = parse(answer({"results": [{**OK_ROW, "date": "2 days ago"}]}))[0]
        assert (row.published, row.published_origin) == (None, "2 days ago")

    def test_the_last_change_is_no_publication(self) -> None:
        assert parse(answer({"results": [{**OK_ROW, "date": None, "last_updated": "2026-11-02"}]}))[0].published is None

    def test_rows_without_an_address_are_left_out(self) -> None:
        assert len(parse(answer({"results": [{"title": "A"}, None, 7, {"url": 5}, OK_ROW]}))) == 1

    @pytest.mark.req("B1")
    def test_rows_without_any_address_are_no_empty_result(self) -> None:
        with pytest.raises(UnexpectedResponse):
            parse(answer({"results": [{"title": "A"}, None]}))


DOMAINS = tuple(f"site{number}.example" for number in range(21))

MAPPINGS: list[tuple[str, Filters, dict[str, Any], dict[str, Applied]]] = [
    ("nothing", Filters(), {}, {}),
    ("day", Filters(time_range="d"), {"search_recency_filter": "day"}, {}),
    ("year", Filters(time_range="y"), {"search_recency_filter": "year"}, {}),
    ("after", Filters(published_after=date(2025, 3, 1)), {"search_after_date_filter": "3/1/2025"}, {}),
    ("before", Filters(published_before=date(2025, 12, 31)), {"search_before_date_filter": "12/31/2025"}, {}),
    (
        "a range beside a day becomes a day",
        Filters(time_range="w", published_before=date(2026, 3, 14)),
        {"search_after_date_filter": "3/8/2026", "search_before_date_filter": "3/14/2026"},
        {},
    ),
    (
        "the later start counts",
        Filters(time_range="y", published_after=date(2026, 3, 10)),
        {"search_after_date_filter": "3/10/2026"},
        {},
    ),
    ("allowed", Filters(allowed_domains=("a.org", "b.org")), {"search_domain_filter": ["a.org", "b.org"]}, {}),
    ("blocked", Filters(blocked_domains=("a.org",)), {"search_domain_filter": ["-a.org"]}, {}),
    (
        "one list only",
        Filters(allowed_domains=("a.org",), blocked_domains=("x.a.org",)),
        {"search_domain_filter": ["a.org"]},
        {"blocked_domains": "post_filter"},
    ),
    ("too many allowed", Filters(allowed_domains=DOMAINS), {}, {"allowed_domains": "post_filter"}),
    (
        "too many blocked",
        Filters(blocked_domains=DOMAINS),
        {"search_domain_filter": [f"-{domain}" for domain in DOMAINS[:20]]},
        {"blocked_domains": "post_filter"},
    ),
    ("language", Filters(language="pt-BR"), {"search_language_filter": ["pt"]}, {}),
    ("three letters", Filters(language="fil"), {}, {"language": "not_possible"}),
    ("region", Filters(region="de"), {"country": "DE"}, {}),
]


class TestMapping:
    @pytest.mark.req("B4")
    @pytest.mark.parametrize(
        ("filters", "fields", "applied"), [case[1:] for case in MAPPINGS], ids=[case[0] for case in MAPPINGS]
    )
    def test_filters(self, filters: Filters, fields: dict[str, Any], applied: dict[str, Applied]) -> None:
        mapped = to_body("words", 5, filters, today=TODAY)
        assert mapped.values == {"query": "words", "max_results": 5, "max_tokens_per_page": 256} | fields
        assert mapped.applied == applied

    def test_more_domains_than_it_takes_are_announced(self) -> None:
        assert "at most 20 allowed_domains" in to_body("words", 5, Filters(allowed_domains=DOMAINS)).warnings[0]

    def test_the_limit_is_capped(self) -> None:
        assert to_body("words", 50, Filters()).values["max_results"] == 20


class TestOnTheWire:
    @pytest.mark.req("Y5")
    async def test_it_finds_pages(self, make: Make, service: Perplexity) -> None:
        found = await make().search("reciprocal rank fusion", limit=3)
        assert found[0].title == "Reciprocal rank fusion"
        assert found[0].published
        assert len(found) <= 3
        assert found.cost_usd == pytest.approx(0.005)
        request = service.requests[-1]
        assert (request.method, request.path) == ("POST", "/search")
        assert request.headers["Authorization"] == "Bearer test-key"

    @pytest.mark.req("B4")
    async def test_what_was_done_about_filters_is_said(self, make: Make) -> None:
        filters = Filters(allowed_domains=("127.0.0.1",), blocked_domains=("x.test",), time_range="y", page=1)
        found = await make().search("reciprocal rank fusion", filters=filters)
        assert found.applied == {"blocked_domains": "post_filter"}

    @pytest.mark.req("B16")
    @pytest.mark.parametrize("status", [401, 429])
    async def test_the_second_key_takes_over(self, make: Make, service: Perplexity, status: int) -> None:
        service.keys |= {"first", "second"}
        service.credits_left["first"] = 0
        service.money_status = status
        provider = make("first", "second")
        assert await provider.search("wikipedia")
        assert await provider.search("wikipedia")
        used = [request.headers["Authorization"] for request in service.requests]
        assert used == ["Bearer first", "Bearer second", "Bearer second"]

    async def test_its_own_refusals(self, make: Make) -> None:
        with pytest.raises(RequestRefused, match="Words are needed"):
            await make().search(" ")

    def test_a_wrong_option_is_refused(self) -> None:
        with pytest.raises(ValueError, match="mode"):
            PerplexityOptions.model_validate({"mode": "images"})


async def test_a_fast_search_is_asked_for_and_costs_a_fifth(world: World, makes: Makes) -> None:
    usual, fast = (makes(PerplexitySearchProvider, search_type=kind) for kind in ("web", "fast"))
    found = await usual.search("bm25")
    assert "search_type" not in sent(world.service("perplexity"))
    cheaper = await fast.search("bm25")
    assert sent(world.service("perplexity"))["search_type"] == "fast"
    assert (found.cost_usd, cheaper.cost_usd) == (0.005, 0.001)
    assert makes(PerplexitySearchProvider, search_type="people").price_usd == 0.005
