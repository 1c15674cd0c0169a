"""Serper's wire format: recorded answers, built answers, and the miniature web."""

from __future__ import annotations

from collections.abc import Callable
from datetime import date
from functools import partial
from pathlib import Path

import pytest

from components.exchanges import answer, missing, recorded
from components.services import posted, request_of, results_of
from groundwire.errors import QuotaExceeded, RateLimited, RequestRefused
from groundwire.models import NO_FILTERS, Applied, Filters, Results
from groundwire.providers.serper import SerperSearchProvider
from groundwire.testing import InjectedFault
from world.services.json_search_apis import Serper

parse = partial(results_of, "serper")
to_body = partial(request_of, "serper")

Make = Callable[..., SerperSearchProvider]


class TestRecordings:
    async def test_the_emulator_answers_in_the_recorded_shape(self, recordings: Path, make: Make) -> None:
        known = [one.body for one in recorded(recordings, "serper", "search__*.json")]
        assert missing(known, await posted(make(), "/search", {"q": "search engines"})) == []


ROW = {"title": "A", "link": "https://a.example/x", "snippet": "s", "position": 1}


class TestParse:
    @pytest.mark.parametrize(
        ("said", "published", "origin"),
        [
            ("Jan 29, 2023", "2023-01-29", ""),
            ("September 4, 2023", "2023-09-04", ""),
            ("2026-11-01T08:00:00.000Z", "2026-11-01T08:00:00.000Z", ""),
            ("2 days ago", None, "2 days ago"),
            ("Feb 30, 2023", None, "Feb 30, 2023"),
            ("Foo 3, 2023", None, "Foo 3, 2023"),
            (None, None, ""),
            (7, None, ""),
        ],
    )
    def test_dates_are_iso_or_in_its_words(self, said: object, published: str | None, origin: str) -> None:
        row = parse(answer({"organic": [ROW | {"date": said}]}))[0]
        assert (row.published, row.published_origin) == (published, origin)

    def test_rows_without_an_address_are_left_out(self) -> None:
        rows: list[object] = [{"title": "x"}, {"link": None}, "text", None, ROW]
        assert [row.url for row in parse(answer({"organic": rows}))] == ["https://a.example/x"]

    async def test_an_answer_says_what_it_cost(self, make: Make) -> None:
        provider = make()
        assert provider.search_cost(answer({"credits": 2}), Results()) == 2 * provider.price_usd
        bodies: list[object] = [{}, [], {"credits": "2"}, {"credits": -1}, {"credits": True}, b"<html>"]
        for body in bodies:
            assert provider.search_cost(answer(body), Results()) == provider.price_usd


CASES: list[tuple[Filters, dict[str, object], dict[str, Applied]]] = [
    (NO_FILTERS, {}, {}),
    (Filters(time_range="m"), {"tbs": "qdr:m"}, {}),
    (Filters(published_after=date(2026, 1, 2)), {"tbs": "cdr:1,cd_min:1/2/2026"}, {}),
    (Filters(published_before=date(2026, 1, 2)), {"tbs": "cdr:1,cd_max:1/2/2026"}, {}),
    (
        Filters(published_after=date(2026, 1, 2), published_before=date(2026, 12, 3), time_range="w"),
        {"tbs": "cdr:1,cd_min:11/13/2026,cd_max:12/3/2026"},
        {},
    ),
    (
        Filters(published_before=date(2026, 1, 2), time_range="w"),
        {"tbs": "cdr:1,cd_max:1/2/2026"},
        {"time_range": "post_filter"},
    ),
    (Filters(page=3), {"page": 3}, {}),
    (Filters(region="AT"), {"gl": "at"}, {}),
    (Filters(language="de-AT"), {"hl": "de"}, {}),
    (Filters(language="pt-BR"), {"hl": "pt-br"}, {}),
    (Filters(language="zh-Hant-HK"), {"hl": "zh-tw"}, {}),
    (Filters(language="zh"), {"hl": "zh-cn"}, {}),
    (Filters(safesearch="strict"), {"safe": "active"}, {}),
    (Filters(safesearch="off"), {"safe": "off"}, {}),
    (Filters(allowed_domains=("a.org", "b.org")), {"q": "words (site:a.org OR site:b.org)"}, {}),
    (Filters(blocked_domains=("a.org",)), {"q": "words -site:a.org"}, {}),
    (
        Filters(allowed_domains=tuple(f"{n}.org" for n in range(6))),
        {"q": "words"},
        {"allowed_domains": "post_filter"},
    ),
]


class TestBody:
    @pytest.mark.req("B4")
    @pytest.mark.parametrize(("filters", "values", "applied"), CASES)
    def test_filters_are_mapped(self, filters: Filters, values: dict[str, object], applied: dict[str, Applied]) -> None:
        mapped = to_body("words", 5, filters, today=date(2026, 11, 20))
        assert mapped.values == {"q": "words", "num": 5} | values
        assert mapped.applied == applied
        assert bool(mapped.warnings) == ("allowed_domains" in applied)


class TestOnTheWire:
    @pytest.mark.req("Y5", "B4")
    async def test_it_finds_pages(self, service: Serper, make: Make) -> None:
        found = await make().search("reciprocal rank fusion", limit=2)
        assert found[0].title == "Reciprocal rank fusion"
        assert len(found) == 2
        assert found.cost_usd == pytest.approx(0.001)
        assert service.requests[-1].json() == {"q": "reciprocal rank fusion", "num": 2}
        assert (await make().search("search", limit=20)).cost_usd == pytest.approx(0.002)

    @pytest.mark.req("B1")
    async def test_a_wrong_parameter_is_a_refused_request(self, make: Make) -> None:
        with pytest.raises(RequestRefused, match="page"):
            await make().search("search", filters=Filters(page=101))

    @pytest.mark.req("B1")
    @pytest.mark.parametrize("status", [200, 400, 403, 429])
    async def test_no_credits_are_a_quota_whatever_the_status(self, service: Serper, make: Make, status: int) -> None:
        service.used_up, service.refusal_status = {"test-key"}, status
        with pytest.raises(QuotaExceeded):
            await make().search("search")

    @pytest.mark.req("B1")
    async def test_too_many_requests_are_a_rate_limit(self, service: Serper, make: Make) -> None:
        service.rate_limited = True
        with pytest.raises(RateLimited) as caught:
            await make().search("search")
        assert caught.value.retry_after is None
        service.fail(InjectedFault.status(429, "{}", headers={"Retry-After": "7"}))
        with pytest.raises(RateLimited) as caught:
            await make().search("search")
        assert caught.value.retry_after == 7


def test_a_page_without_organic_rows_has_those_of_its_boxes() -> None:
    box = {"title": "A", "link": "https://a.example/", "snippet": "An answer"}
    asked = [{"question": "Q?", "title": "B", "link": "https://b.example/", "snippet": "b"}, {"question": "no link"}]
    body = {"searchParameters": {"type": "search", "q": "x"}, "answerBox": box, "peopleAlsoAsk": asked, "credits": 1}
    assert [row.url for row in results_of("serper", answer(body))] == ["https://a.example/", "https://b.example/"]
    graph = {"searchParameters": {"type": "search", "q": "x"}, "knowledgeGraph": {"title": "X"}, "credits": 1}
    assert len(results_of("serper", answer(graph))) == 0
