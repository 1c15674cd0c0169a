"""Firecrawl's wire format: recorded answers, built answers, and the miniature web."""

from __future__ import annotations

import json
from collections.abc import Callable
from datetime import date, timedelta
from functools import partial
from pathlib import Path
from typing import Any

import pytest

from components.exchanges import answer, missing, recorded
from components.services import page_of, posted, request_of, results_of, sent
from groundwire.deadline import Deadline
from groundwire.errors import (
    PageEmpty,
    PageError,
    PageNotFound,
    PageRefused,
    PageUnavailable,
    ProviderUnavailable,
    RateLimited,
    RequestRefused,
    UnsupportedContent,
)
from groundwire.models import Filters
from groundwire.providers.firecrawl import FirecrawlProvider
from groundwire.testing import InjectedFault
from world import World
from world.services.firecrawl import Firecrawl

parse = partial(results_of, "firecrawl")
parse_page = partial(page_of, "firecrawl")
to_body = partial(request_of, "firecrawl")

Make = Callable[..., FirecrawlProvider]
PAGE = "https://a.example/x"
OK = {
    "success": True,
    "data": {
        "web": [{"url": PAGE, "title": "A", "description": "d", "position": 1, "metadata": {"title": "A"}}],
        "news": [{"url": "https://b.example/", "title": "B", "snippet": "s", "date": "2 days ago"}],
    },
    "warning": "w",
    "creditsUsed": 2,
}
OK_PAGE = {
    "success": True,
    "data": {
        "markdown": "# A",
        "metadata": {
            "title": "A",
            "language": "en",
            "url": PAGE,
            "statusCode": 200,
            "contentType": "text/html; charset=utf-8",
            "publishedTime": "2026-10-30",
            "error": None,
        },
        "warning": "w",
    },
}


class TestRecordings:
    @pytest.mark.req("Y5")
    def test_the_recorded_search_reads_row_by_row(self, recordings: Path) -> None:
        for one in recorded(recordings, "firecrawl", "search__*.json"):
            found = parse(one.reply)
            assert len(found) >= 5
            assert [(row.url, row.title, row.snippet) for row in found] == [
                (row["url"], row["title"], row["description"]) for row in one.body["data"]["web"]
            ]

    @pytest.mark.req("Y6")
    def test_the_recorded_scrape_reads_as_a_page(self, recordings: Path) -> None:
        for one in recorded(recordings, "firecrawl", "scrape__*.json"):
            page, data = parse_page(one.reply, PAGE), one.body["data"]
            assert (page.content, page.title, page.language) == (data["markdown"], data["metadata"]["title"], "en")

    async def test_the_emulator_has_their_shape(self, recordings: Path, world: World, make: Make) -> None:
        searches, documents = [], []
        for one in recorded(recordings, "firecrawl"):
            if one.reply.status != 200:
                continue
            if one.name.startswith("search"):
                searches.append(one.body)
                documents += one.body["data"]["web"]
            else:
                documents += one.body["data"] if isinstance(one.body["data"], list) else [one.body["data"]]
        own = {"title", "description", "language", "sourceURL", "url", "statusCode", "contentType", "proxyUsed"}
        documents = [document for document in documents if "metadata" in document]  # a row may not have been scraped
        for document in documents:  # what else stands there are the head elements of the recorded pages themselves
            document["metadata"] = {key: value for key, value in document["metadata"].items() if key in own}
        wanted = {"query": "wikipedia", "scrapeOptions": {"formats": ["markdown"]}}
        found = await posted(make(), "/v2/search", wanted)
        page = await posted(make(), "/v2/scrape", {"url": world.site("docs").page("api")})
        assert found["data"]["web"]
        assert missing(searches, found) == []
        assert missing(documents, page["data"]) == []
        assert missing(documents, {"markdown": "# A", "metadata": {}})


class TestParse:
    def test_news_keep_the_words_for_their_age(self) -> None:
        found = parse(answer(OK))
        assert [(row.title, row.snippet) for row in found] == [("A", "d"), ("B", "s")]
        assert (found[1].published, found[1].published_origin) == (None, "2 days ago")
        assert found.warnings == ("firecrawl: w",)

    @pytest.mark.parametrize(
        ("said", "modified"), [("2026-10-31", "2026-10-31"), ("2026-10-30T09:00:00Z", None), ("soon", None)]
    )
    def test_the_day_of_the_last_change_is_a_later_one(self, said: str, modified: str | None) -> None:
        body = json.loads(json.dumps(OK_PAGE))
        body["data"]["metadata"]["modifiedTime"] = said
        page = parse_page(answer(body), PAGE)
        assert (page.published, page.modified) == ("2026-10-30", modified)

    @pytest.mark.req("Y6")
    @pytest.mark.parametrize(
        ("status", "error"),
        [(404, PageNotFound), (410, PageNotFound), (403, PageRefused), (451, PageRefused), (503, PageUnavailable)],
    )
    def test_the_status_of_the_page_counts_not_that_of_the_answer(self, status: int, error: type[PageError]) -> None:
        body = {"success": True, "data": {"markdown": "# Some words of the server", "metadata": {"statusCode": status}}}
        with pytest.raises(error, match=str(status)) as caught:
            parse_page(answer(body), PAGE)
        assert caught.value.status == status

    def test_a_failure_in_a_200_is_a_failure(self) -> None:
        with pytest.raises(ProviderUnavailable, match="It broke"):
            parse(answer({"success": False, "error": "It broke"}))

    def test_a_head_element_that_a_page_has_twice_counts_once(self) -> None:
        metadata = {"title": ["A", "B"], "language": ["de", "en"], "statusCode": 200}
        page = parse_page(answer({"success": True, "data": {"markdown": "x", "metadata": metadata}}), PAGE)
        assert (page.title, page.language) == ("A", "de")


class TestBody:
    @pytest.mark.req("B4")
    @pytest.mark.parametrize(
        ("filters", "wanted", "applied"),
        [
            (Filters(language="de", safesearch="strict"), {}, {}),
            (Filters(time_range="w"), {"tbs": "qdr:w"}, {}),
            (
                Filters(published_after=date(2026, 3, 1), published_before=date(2026, 4, 1)),
                {"tbs": "cdr:1,cd_min:03/01/2026,cd_max:04/01/2026"},
                {},
            ),
            (Filters(published_before=date(2026, 4, 1)), {"tbs": "cdr:1,cd_max:04/01/2026"}, {}),
            (Filters(published_after=date(2099, 3, 1), time_range="d"), {"tbs": "cdr:1,cd_min:03/01/2099"}, {}),
            (Filters(blocked_domains=("b.org",)), {"excludeDomains": ["b.org"]}, {}),
            (
                Filters(allowed_domains=("a.org",), blocked_domains=("b.a.org",)),
                {"includeDomains": ["a.org"]},
                {"blocked_domains": "post_filter"},
            ),
            (Filters(region="gb"), {"country": "GB"}, {}),
        ],
    )
    def test_filters_are_mapped(self, filters: Filters, wanted: dict[str, Any], applied: dict[str, str]) -> None:
        mapped = to_body("words", 120, filters)
        assert mapped.values == {"query": "words", "limit": 100} | wanted
        assert mapped.applied == applied
        assert mapped.warnings == []

    def test_a_long_query_is_cut_and_it_is_said(self) -> None:
        mapped = to_body("word " * 120, 5, Filters())
        assert len(mapped.values["query"]) <= 500
        assert "was cut to" in mapped.warnings[0]


class TestOnTheWire:
    @pytest.mark.req("Y5")
    async def test_it_finds_pages(self, make: Make, service: Firecrawl) -> None:
        service.warning = "Something was left out."
        firecrawl = make()
        found = await firecrawl.search("reciprocal rank fusion", limit=2)
        assert found[0].title == "Reciprocal rank fusion"
        assert found[0].snippet
        assert len(found) == 2
        assert found.cost_usd == pytest.approx(0.01066)
        assert found.warnings == ("firecrawl: Something was left out",)
        assert service.requests[-1].headers["Authorization"] == "Bearer test-key"

    @pytest.mark.req("B4")
    async def test_filters_are_honored(self, world: World, make: Make, service: Firecrawl) -> None:
        filters = Filters(allowed_domains=("encyclopedia.test",), blocked_domains=("docs.test",), region="us")
        recent = Filters(published_after=world.today - timedelta(days=8), published_before=world.today)
        firecrawl = make()
        found = await firecrawl.search("search engines", filters=filters)
        assert sent(service)["includeDomains"] == ["encyclopedia.test"]
        other = await firecrawl.search("search engines", filters=Filters(blocked_domains=("encyclopedia.test",)))
        new = await firecrawl.search("search engines", limit=20, filters=recent)
        every = await firecrawl.search("search engines", limit=20)
        week = await firecrawl.search("search engines", limit=20, filters=Filters(time_range="w"))
        assert found
        assert all("/wiki/" in row.url for row in found)
        assert found.applied == {"blocked_domains": "post_filter"}
        assert not any("/wiki/" in row.url for row in other)
        assert 0 < len(week) <= len(new) < len(every)

    @pytest.mark.req("Y6")
    async def test_it_reads_a_page(self, world: World, make: Make, service: Firecrawl) -> None:
        url = world.site("docs").page("quickstart")
        firecrawl = make()
        page = await firecrawl.read_url(url, deadline=Deadline.after(20, lambda: 0.0))
        assert page.success
        assert page.content.startswith("# ")
        assert page.title
        assert (page.final_url, page.language, page.content_type) == (url, "en", "text/html")
        assert page.published == (world.today - timedelta(days=20)).isoformat()
        assert page.cost_usd == pytest.approx(0.00533)
        assert sent(service)["timeout"] == 20_000

    @pytest.mark.req("Y6")
    async def test_each_dead_page_has_its_error(self, world: World, make: Make, service: Firecrawl) -> None:
        service.restricted = {"social.test"}
        pages: dict[str, type[PageError]] = {
            world.site("docs").url + "/nowhere": PageNotFound,
            "http://nobody.test/": PageUnavailable,
            "http://social.test/": PageRefused,
            world.site("app").page("image"): UnsupportedContent,
            world.site("app").page("shell"): PageEmpty,
        }
        firecrawl = make()
        for url, error in pages.items():
            with pytest.raises(PageError) as caught:
                await firecrawl.read_url(url)
            assert type(caught.value) is error, url

    @pytest.mark.req("B1")
    async def test_a_wrong_request_is_told_from_a_wrong_key(self, make: Make) -> None:
        firecrawl = make()
        with pytest.raises(RequestRefused, match="1 to 500 characters"):
            await firecrawl.search(" ")

    @pytest.mark.req("B1")
    async def test_its_limits_are_told_from_its_time_outs(self, make: Make, service: Firecrawl) -> None:
        service.retry_after = "30"
        firecrawl = make()
        with pytest.raises(RateLimited) as caught:
            await firecrawl.search("x")
        assert caught.value.retry_after == 30
        service.retry_after = None
        service.queue_full = True
        firecrawl = make()
        with pytest.raises(RateLimited, match="No browser became free"):
            await firecrawl.read_url(PAGE)

    async def test_what_the_service_says_that_it_cost_counts(self, make: Make, service: Firecrawl) -> None:
        service.fail(InjectedFault.status(200, json.dumps(OK | {"creditsUsed": 7})))
        service.fail(
            InjectedFault.status(
                200, json.dumps({"success": True, "data": {"markdown": "x", "metadata": {"creditsUsed": 5}}})
            )
        )
        firecrawl = make()
        found = await firecrawl.search("x")
        page = await firecrawl.read_url(PAGE)
        assert found.cost_usd == pytest.approx(7 * 0.00533)
        assert page.cost_usd == pytest.approx(5 * 0.00533)
