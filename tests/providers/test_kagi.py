"""Kagi's wire format: a recorded answer, built answers, and the miniature web."""

from __future__ import annotations

from collections.abc import Callable
from datetime import date
from functools import partial
from pathlib import Path

import pytest

from components.exchanges import answer, missing, recorded
from components.services import request_of, results_of
from groundwire.errors import AuthenticationFailed, QuotaExceeded, RateLimited, RequestRefused
from groundwire.models import NO_FILTERS, Applied, Filters
from groundwire.providers.kagi import KagiSearchProvider
from groundwire.providers.query_mapping import Mapped
from groundwire.transport import Response
from world import World
from world.services.kagi import Kagi

parse = partial(results_of, "kagi")
to_body = partial(request_of, "kagi")
to_params = partial(request_of, "kagi", version="v0")

Make = Callable[..., KagiSearchProvider]


class TestRecordings:
    async def test_the_emulator_answers_in_the_recorded_shape(self, recordings: Path, make: Make) -> None:
        bodies = [one.body for one in recorded(recordings, "kagi", "search__*.json")]
        ours = await make(version="v0").ask(
            Mapped({"q": "search engines"}), Response.json, method="GET", path="/api/v0/search", deadline=None
        )
        for kind in (0, 1):  # pages, and related searches
            known = [body | {"data": [row for row in body["data"] if row["t"] == kind]} for body in bodies]
            rows = [row for row in ours["data"] if row["t"] == kind]
            assert rows
            assert missing(known, ours | {"data": rows}) == []


ROW = {"url": "https://a.example/x", "title": "A", "snippet": "s"}


class TestParse:
    @pytest.mark.parametrize(
        ("row", "published", "origin"),
        [
            ({"time": "2026-11-01T08:00:00Z"}, "2026-11-01T08:00:00Z", ""),
            ({"published": "2026-11-01"}, "2026-11-01", ""),
            ({"time": "last week"}, None, "last week"),
            ({"time": 7}, None, ""),
        ],
    )
    def test_dates_are_iso_or_in_its_words(self, row: dict[str, object], published: str | None, origin: str) -> None:
        for data in ({"search": [ROW | row]}, [{"t": 0} | ROW | row]):
            found = parse(answer({"meta": {}, "data": data}))[0]
            assert (found.published, found.published_origin) == (published, origin)

    def test_rows_without_an_address_are_left_out(self) -> None:
        rows: list[object] = [{"title": "x"}, {"url": None}, "text", None, ROW]
        assert [row.url for row in parse(answer({"meta": {}, "data": {"search": rows}}))] == ["https://a.example/x"]


CASES: list[tuple[Filters, dict[str, object]]] = [
    (NO_FILTERS, {}),
    (Filters(time_range="w"), {"filters": {"after": "2026-11-13"}}),
    (Filters(published_after=date(2026, 1, 2)), {"filters": {"after": "2026-01-02"}}),
    (Filters(published_after=date(2026, 1, 2), time_range="w"), {"filters": {"after": "2026-11-13"}}),
    (Filters(published_before=date(2026, 1, 2)), {"filters": {"before": "2026-01-02"}}),
    (Filters(region="AT"), {"filters": {"region": "at"}}),
    (Filters(page=3), {"page": 3}),
    (Filters(safesearch="off"), {"safe_search": False}),
    (Filters(safesearch="strict"), {}),
    (
        Filters(allowed_domains=("a.org", "b.org"), blocked_domains=("x.a.org",)),
        {"lens": {"sites_included": ["a.org", "b.org"], "sites_excluded": ["x.a.org"]}},
    ),
]

FORMER: list[tuple[Filters, str, dict[str, Applied]]] = [
    (NO_FILTERS, "words", {}),
    (Filters(allowed_domains=("a.org",)), "words site:a.org", {"allowed_domains": "operator"}),
    (Filters(blocked_domains=tuple(f"{n}.org" for n in range(60))), "words", {"blocked_domains": "post_filter"}),
    (Filters(time_range="w", region="at"), "words", {"time_range": "post_filter", "region": "not_possible"}),
    (Filters(published_after=date(2026, 1, 2)), "words", {"published_after": "post_filter"}),
    (Filters(page=2, safesearch="off"), "words", {"page": "not_possible", "safesearch": "not_possible"}),
]


class TestMapping:
    @pytest.mark.req("B4")
    @pytest.mark.parametrize(("filters", "values"), CASES)
    def test_filters_are_mapped(self, filters: Filters, values: dict[str, object]) -> None:
        mapped = to_body("words", 5, filters, today=date(2026, 11, 20))
        assert mapped.values == {"query": "words", "workflow": "search", "limit": 5, "safe_search": True} | values
        assert not mapped.applied
        assert not mapped.warnings

    @pytest.mark.req("B4")
    @pytest.mark.parametrize(("filters", "query", "applied"), FORMER)
    def test_the_former_wire_says_what_it_cannot(
        self, filters: Filters, query: str, applied: dict[str, Applied]
    ) -> None:
        mapped = to_params("words", 5, filters)
        assert mapped.values["limit"] == "5"
        assert mapped.values["q"].startswith(query)
        assert mapped.applied == applied


class TestOnTheWire:
    @pytest.mark.req("Y5", "B4")
    async def test_it_finds_pages(self, service: Kagi, make: Make) -> None:
        found = await make().search("reciprocal rank fusion", limit=2)
        assert found[0].title == "Reciprocal rank fusion"
        assert found[0].published
        assert len(found) == 2
        assert found.cost_usd == pytest.approx(0.012)
        assert service.requests[-1].path == "/api/v1/search"

    @pytest.mark.req("Y5")
    async def test_the_former_wire_finds_pages(self, service: Kagi, make: Make) -> None:
        found = await make(version="v0").search("reciprocal rank fusion", limit=2)
        assert found[0].title == "Reciprocal rank fusion"
        assert service.requests[-1].path == "/api/v0/search"
        assert service.requests[-1].headers["Authorization"] == "Bot test-key"

    async def test_the_former_wire_finds_nothing_without_an_error(self, make: Make) -> None:
        assert len(await make(version="v0").search("xyzzy")) == 0

    @pytest.mark.req("B4")
    async def test_domains_hold_on_the_former_wire(self, make: Make, world: World) -> None:
        filters = Filters(allowed_domains=(world.site("articles").host,))
        here = await make().search("search", limit=20, filters=filters)
        former = await make(version="v0").search("search", limit=20, filters=filters)
        assert here
        assert [row.url for row in former] == [row.url for row in here]

    @pytest.mark.req("B1")
    @pytest.mark.parametrize("version", ["v1", "v0"])
    async def test_each_refusal_is_its_own_error(self, service: Kagi, make: Make, version: str) -> None:
        with pytest.raises(AuthenticationFailed):
            await make("wrong", version=version).search("search")
        service.used_up = {"test-key"}
        with pytest.raises(QuotaExceeded):
            await make(version=version).search("search")
        service.used_up, service.rate_limited = set(), True
        with pytest.raises(RateLimited) as caught:
            await make(version=version).search("search")
        assert caught.value.retry_after == (7 if version == "v1" else None)
        service.rate_limited = False
        with pytest.raises(RequestRefused):
            await make(version=version).search(" ")
