"""Firecrawl's wire format: recorded answers, built answers, and the miniature web."""

from __future__ import annotations

import copy
import json
from collections.abc import AsyncIterator, Iterator
from contextlib import asynccontextmanager
from dataclasses import dataclass
from datetime import date, timedelta
from pathlib import Path
from typing import Any

import pytest
from hypothesis import given
from hypothesis import strategies as st
from pydantic import SecretStr

from groundwire.deadline import Deadline
from groundwire.errors import (
    AuthenticationFailed,
    MissingKey,
    PageEmpty,
    PageError,
    PageNotFound,
    PageRefused,
    PageUnavailable,
    ProviderError,
    ProviderTimeout,
    ProviderUnavailable,
    ProviderUnreachable,
    QuotaExceeded,
    RateLimited,
    RequestRefused,
    UnexpectedResponse,
    UnsupportedContent,
)
from groundwire.models import Filters
from groundwire.providers.base import ProviderContext
from groundwire.providers.firecrawl import FirecrawlOptions, FirecrawlProvider, parse, parse_page, to_body
from groundwire.providers.keys import Keys
from groundwire.providers.prices import load_prices
from groundwire.safety.guard import Guard
from groundwire.settings import Settings
from groundwire.testing.services.firecrawl import Firecrawl
from groundwire.testing.world import Fault, World
from groundwire.transport import Reply, Transport

PAGE = "https://a.example/x"
CANARY = "canary-5f0c1e2d"


def answer(body: object, status: int = 200, **headers: str) -> Reply:
    data = body if isinstance(body, bytes) else json.dumps(body).encode()
    return Reply("https://service.example/x", status, {"Content-Type": "application/json", **headers}, data[:64], data)


def service(world: World) -> Firecrawl:
    found = world.service("firecrawl")
    assert isinstance(found, Firecrawl)
    return found


@asynccontextmanager
async def provider(
    world: World, *keys: str, options: FirecrawlOptions | None = None
) -> AsyncIterator[FirecrawlProvider]:
    url = service(world).url
    transport = Transport(Guard(allow_origins=(url,)))
    yield FirecrawlProvider(
        transport,
        keys=Keys("firecrawl", [SecretStr(key) for key in keys]),
        base_url=url,
        prices=load_prices()["firecrawl"],
        name="firecrawl",
        options=options,
    )
    await transport.aclose()


def sent(world: World) -> dict[str, Any]:
    body = service(world).requests[-1].json()
    assert isinstance(body, dict)
    return body


def shape(values: list[Any]) -> Any:
    """Return what all the values have in common: keys that none lacks, and the types of their leaves."""
    known = [value for value in values if value is not None]
    if known and all(isinstance(value, dict) for value in known):
        return {key: shape([value[key] for value in known]) for key in set.intersection(*map(set, known))}
    if known and all(isinstance(value, list) for value in known):
        return [shape([item for value in known for item in value])]
    return {float if type(value) is int else type(value) for value in known}


def fits(wanted: Any, value: Any) -> bool:
    """Whether a value has everything that a shape has."""
    if value is None or wanted == set():
        return True
    if isinstance(wanted, dict):
        return isinstance(value, dict) and all(key in value and fits(one, value[key]) for key, one in wanted.items())
    if isinstance(wanted, list):
        return isinstance(value, list) and all(fits(wanted[0], item) for item in value)
    return (float if type(value) is int else type(value)) in wanted


def places(value: Any) -> Iterator[tuple[Any, Any]]:
    """Yield every container in a JSON value with each of its keys."""
    if isinstance(value, (dict, list)):
        for key, item in list(value.items() if isinstance(value, dict) else enumerate(value)):
            yield value, key
            yield from places(item)


JUNK = (
    st.none()
    | st.booleans()
    | st.integers()
    | st.floats()
    | st.text(max_size=5)
    | st.sampled_from(["\ud800", "\x00", [], {}, [[]], [None], {"url": None}, 10**30])
)


@st.composite
def mutated(draw: st.DrawFn, body: Any) -> bytes:
    """Return a body of the service with some of its parts dropped or replaced, and sometimes cut off."""
    changed = {"body": copy.deepcopy(body)}
    for _ in range(draw(st.integers(0, 4))):
        spots = list(places(changed))
        holder, key = spots[draw(st.integers(0, len(spots) - 1))]
        if isinstance(holder, dict) and holder is not changed and draw(st.booleans()):
            del holder[key]
        else:
            holder[key] = copy.deepcopy(draw(JUNK))
    data = json.dumps(changed["body"]).encode()
    return data if draw(st.integers(0, 4)) else data[: draw(st.integers(0, len(data)))]


@dataclass
class Clients:
    """The HTTP clients that a provider is made with."""

    api: Transport
    pages: Transport

    def operator(self, base_url: str) -> Transport:
        return self.api


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
        for path in sorted((recordings / "firecrawl").glob("search__*.json")):
            response = json.loads(path.read_text())["response"]
            rows = response["body"]["data"]["web"]
            found = parse(answer(response["body"], response["status"]))
            assert len(found) >= 5
            assert [(row.url, row.title, row.snippet) for row in found] == [
                (row["url"], row["title"], row["description"]) for row in rows
            ]

    @pytest.mark.req("Y6")
    def test_the_recorded_scrape_reads_as_a_page(self, recordings: Path) -> None:
        for path in sorted((recordings / "firecrawl").glob("scrape__*.json")):
            response = json.loads(path.read_text())["response"]
            page = parse_page(answer(response["body"], response["status"]), PAGE)
            data = response["body"]["data"]
            assert (page.content, page.title, page.language) == (data["markdown"], data["metadata"]["title"], "en")

    async def test_the_emulator_has_their_shape(self, recordings: Path, world: World) -> None:
        searches, documents = [], []
        for path in sorted((recordings / "firecrawl").glob("*.json")):
            body = json.loads(path.read_text())["response"]["body"]
            if path.name.startswith("search"):
                searches.append(body)
                documents += body["data"]["web"]
            else:
                documents += body["data"] if isinstance(body["data"], list) else [body["data"]]
        own = {"title", "description", "language", "sourceURL", "url", "statusCode", "contentType", "proxyUsed"}
        documents = [document for document in documents if "metadata" in document]  # a row may not have been scraped
        for document in documents:  # what else stands there are the head elements of the recorded pages themselves
            document["metadata"] = {key: value for key, value in document["metadata"].items() if key in own}
        async with provider(world, "test-key") as firecrawl:
            wanted = {"query": "wikipedia", "scrapeOptions": {"formats": ["markdown"]}}
            one = await firecrawl.ask("POST", "/v2/search", Reply.json, json_body=wanted, deadline=None)
            url = world.site("docs").page("api")
            two = await firecrawl.ask("POST", "/v2/scrape", Reply.json, json_body={"url": url}, deadline=None)
        assert one["data"]["web"]
        assert fits(shape(searches), one)
        assert fits(shape(documents), two["data"])
        assert not fits(shape(documents), {"markdown": "# A", "metadata": {}})


class TestParse:
    def test_news_keep_the_words_for_their_age(self) -> None:
        found = parse(answer(OK))
        assert [(row.title, row.snippet) for row in found] == [("A", "d"), ("B", "s")]
        assert (found[1].published, found[1].published_origin) == (None, "2 days ago")
        assert found.warnings == ("firecrawl: w",)

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


class TestTolerance:
    @given(mutated(OK), st.sampled_from([200, 200, 200, 400, 402, 429, 500]))
    def test_any_answer_to_a_search_gives_rows_or_a_provider_error(self, body: bytes, status: int) -> None:
        try:
            found = parse(answer(body, status))
        except ProviderError:
            return
        assert all(row.url for row in found)

    @given(mutated(OK_PAGE), st.sampled_from([200, 200, 200, 400, 402, 403, 500]))
    def test_any_answer_for_a_page_gives_content_or_an_error(self, body: bytes, status: int) -> None:
        try:
            page = parse_page(answer(body, status), PAGE)
        except (ProviderError, PageError):
            return
        assert page.success
        assert page.content.strip()
        assert page.model_dump_json()

    def test_half_of_a_surrogate_pair_does_not_get_into_a_page(self) -> None:
        body = json.dumps(OK_PAGE).replace('"# A"', '"# A \\ud83d \\u0000"')
        page = parse_page(answer(body.encode()), PAGE)
        assert page.content == "# A ? "
        assert page.model_dump_json()

    @given(st.binary(max_size=100), st.integers(100, 599))
    def test_any_bytes_give_an_error(self, body: bytes, status: int) -> None:
        for read in (parse, lambda reply: parse_page(reply, PAGE)):
            with pytest.raises((ProviderError, PageError)):
                read(answer(b"\xff" + body, status))


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
        assert mapped.values == {"query": "words", "limit": 100, "sources": ["web"]} | wanted
        assert mapped.applied == applied
        assert mapped.warnings == []

    def test_a_long_query_is_cut_and_it_is_said(self) -> None:
        mapped = to_body("word " * 120, 5, Filters())
        assert len(mapped.values["query"]) <= 500
        assert "was cut to" in mapped.warnings[0]

    def test_options_go_into_the_body(self) -> None:
        assert to_body("words", 5, Filters(), FirecrawlOptions(sources="news")).values["sources"] == ["news"]


class TestOnTheWire:
    @pytest.mark.req("Y5")
    async def test_it_finds_pages(self, world: World) -> None:
        service(world).warning = "Something was left out."
        async with provider(world, "test-key") as firecrawl:
            found = await firecrawl.search("reciprocal rank fusion", limit=2)
        assert found[0].title == "Reciprocal rank fusion"
        assert found[0].snippet
        assert len(found) == 2
        assert found.cost_usd == pytest.approx(0.01066)
        assert found.warnings == ("firecrawl: Something was left out",)
        assert service(world).requests[-1].headers["Authorization"] == "Bearer test-key"

    async def test_it_finds_news(self, world: World) -> None:
        async with provider(world, "test-key", options=FirecrawlOptions(sources="news")) as firecrawl:
            found = await firecrawl.search("reciprocal rank fusion", limit=1)
        assert found[0].published_origin == "12 days ago"

    @pytest.mark.req("B4")
    async def test_filters_are_honoured(self, world: World) -> None:
        filters = Filters(allowed_domains=("encyclopedia.test",), blocked_domains=("docs.test",), region="us")
        recent = Filters(published_after=world.today - timedelta(days=8), published_before=world.today)
        async with provider(world, "test-key") as firecrawl:
            found = await firecrawl.search("search engines", filters=filters)
            assert sent(world)["includeDomains"] == ["encyclopedia.test"]
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
    async def test_it_reads_a_page(self, world: World) -> None:
        url = world.site("docs").page("quickstart")
        async with provider(world, "test-key") as firecrawl:
            page = await firecrawl.read_url(url, deadline=Deadline.after(3))
        assert page.success
        assert page.content.startswith("# ")
        assert page.title
        assert (page.final_url, page.language, page.content_type) == (url, "en", "text/html")
        assert page.published == (world.today - timedelta(days=20)).isoformat()
        assert page.cost_usd == pytest.approx(0.00533)
        assert 1_000 <= sent(world)["timeout"] <= 3_000

    @pytest.mark.req("Y6")
    async def test_each_dead_page_has_its_error(self, world: World) -> None:
        service(world).restricted = {"social.test"}
        pages: dict[str, type[PageError]] = {
            world.site("docs").url + "/nowhere": PageNotFound,
            "http://nobody.test/": PageUnavailable,
            "http://social.test/": PageRefused,
            world.site("app").page("image"): UnsupportedContent,
            world.site("app").page("shell"): PageEmpty,
        }
        async with provider(world, "test-key") as firecrawl:
            for url, error in pages.items():
                with pytest.raises(PageError) as caught:
                    await firecrawl.read_url(url)
                assert type(caught.value) is error, url

    @pytest.mark.req("B1")
    async def test_a_wrong_key_is_named_as_such(self, world: World) -> None:
        async with provider(world, "wrong") as firecrawl:
            with pytest.raises(AuthenticationFailed):
                await firecrawl.search("x")

    @pytest.mark.req("B1")
    async def test_a_wrong_request_is_told_from_a_wrong_key(self, world: World) -> None:
        async with provider(world, "test-key") as firecrawl:
            with pytest.raises(RequestRefused, match="1 to 500 characters"):
                await firecrawl.search(" ")

    @pytest.mark.req("B1")
    async def test_its_limits_are_told_from_its_time_outs(self, world: World) -> None:
        service(world).retry_after = "30"
        async with provider(world, "test-key") as firecrawl:
            with pytest.raises(RateLimited) as caught:
                await firecrawl.search("x")
            assert caught.value.retry_after == 30
        service(world).retry_after = None
        service(world).queue_full = True
        async with provider(world, "test-key") as firecrawl:
            with pytest.raises(RateLimited, match="No browser became free"):
                await firecrawl.read_url(PAGE)

    @pytest.mark.req("B16")
    async def test_the_second_key_takes_over(self, world: World) -> None:
        service(world).keys = {"one", "two"}
        service(world).credits_left = {"one": 2}
        async with provider(world, "one", "two") as firecrawl:
            for _ in range(3):
                assert await firecrawl.search("wikipedia")
        used = [request.headers["Authorization"] for request in service(world).requests]
        assert used == ["Bearer one", "Bearer one", "Bearer two", "Bearer two"]

    @pytest.mark.req("B1")
    async def test_without_credits_it_is_a_quota(self, world: World) -> None:
        service(world).credits_left = {"test-key": 0}
        async with provider(world, "test-key") as firecrawl:
            with pytest.raises(QuotaExceeded):
                await firecrawl.search("x")

    @pytest.mark.req("B1")
    @pytest.mark.parametrize(
        ("fault", "error"),
        [
            (Fault.status(500), ProviderUnavailable),
            (Fault.reset(), ProviderUnreachable),
            (Fault.wrong_json(), UnexpectedResponse),
            (Fault.html_for_json(), UnexpectedResponse),
            (Fault.empty_body(), UnexpectedResponse),
            (Fault.redirect("http://169.254.169.254/"), UnexpectedResponse),
            (Fault.hang(), ProviderTimeout),
        ],
        ids=lambda value: value.__name__ if isinstance(value, type) else "",
    )
    async def test_each_fault_has_its_outcome(self, world: World, fault: Fault, error: type[ProviderError]) -> None:
        service(world).fail(fault, times=None)
        async with provider(world, "test-key") as firecrawl:
            with pytest.raises(ProviderError) as caught:
                await firecrawl.search("x", deadline=Deadline.after(0.7))
            assert type(caught.value) is error
            with pytest.raises(ProviderError) as caught:
                await firecrawl.read_url(PAGE, deadline=Deadline.after(0.7))
            assert type(caught.value) is error

    async def test_what_the_service_says_that_it_cost_counts(self, world: World) -> None:
        service(world).fail(Fault.status(200, json.dumps(OK | {"creditsUsed": 7})))
        service(world).fail(
            Fault.status(200, json.dumps({"success": True, "data": {"markdown": "x", "metadata": {"creditsUsed": 5}}}))
        )
        async with provider(world, "test-key") as firecrawl:
            found = await firecrawl.search("x")
            page = await firecrawl.read_url(PAGE)
        assert found.cost_usd == pytest.approx(7 * 0.00533)
        assert page.cost_usd == pytest.approx(5 * 0.00533)

    @pytest.mark.parametrize(
        ("path", "body", "status"),
        [
            ("/v1/search", {}, 404),
            ("/v2/search", [], 400),
            ("/v2/search", {"query": "x" * 501}, 400),
            ("/v2/search", {"query": "x", "limit": 101}, 400),
            ("/v2/search", {"query": "x", "sources": ["maps"]}, 400),
            ("/v2/search", {"query": "x", "tbs": "soon"}, 400),
            ("/v2/search", {"query": "x", "country": "Germany"}, 400),
            ("/v2/search", {"query": "x", "includeDomains": ["a"], "excludeDomains": ["b"]}, 400),
            ("/v2/scrape", {"url": "x"}, 400),
            ("/v2/scrape", {"url": PAGE, "timeout": 5}, 400),
        ],
    )
    async def test_the_emulator_refuses_what_the_service_refuses(
        self, world: World, path: str, body: object, status: int
    ) -> None:
        async with provider(world, "test-key") as firecrawl:
            got = await firecrawl.ask("POST", path, lambda reply: reply.status, json_body=body, deadline=None)
        assert got == status

    @pytest.mark.req("Y7")
    async def test_a_key_stays_out_of_sight(self, world: World) -> None:
        service(world).keys = {CANARY}
        async with provider(world, CANARY) as firecrawl:
            found = await firecrawl.search("wikipedia")
            service(world).keys = set()
            with pytest.raises(AuthenticationFailed) as caught:
                await firecrawl.search("wikipedia")
            seen = repr(firecrawl) + repr(vars(firecrawl)) + repr(found) + repr(caught.value) + str(caught.value)
        assert CANARY not in seen + "".join(request.target for request in service(world).requests)

    async def test_without_a_key_it_names_the_variable(self, world: World) -> None:
        transport = Transport(Guard(allow_origins=(service(world).url,)))
        with pytest.raises(MissingKey, match="FIRECRAWL_API_KEY"):
            FirecrawlProvider.create(ProviderContext("firecrawl", Settings(), Clients(transport, transport), {}))
        settings = Settings.model_validate({"keys": {"FIRECRAWL_API_KEY": "wrong, test-key"}})
        options = {"base_url": service(world).url}
        context = ProviderContext("firecrawl", settings, Clients(transport, transport), options)
        assert await FirecrawlProvider.create(context).search("wikipedia")
        await transport.aclose()
