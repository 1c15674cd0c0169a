"""Tavily's wire format: recorded answers, built answers, and the miniature web."""

from __future__ import annotations

import copy
import json
from collections.abc import AsyncIterator, Iterator
from contextlib import asynccontextmanager
from dataclasses import dataclass
from datetime import date, timedelta
from pathlib import Path
from string import ascii_lowercase
from typing import Any

import pytest
from hypothesis import given
from hypothesis import strategies as st
from pydantic import SecretStr

from groundwire.deadline import Deadline
from groundwire.errors import (
    AuthenticationFailed,
    NotConfigured,
    PageError,
    PageUnavailable,
    ProviderError,
    ProviderTimeout,
    ProviderUnavailable,
    ProviderUnreachable,
    QuotaExceeded,
    RateLimited,
    RequestRefused,
    UnexpectedResponse,
)
from groundwire.models import Filters
from groundwire.providers.base import ProviderContext
from groundwire.providers.countries import country_name
from groundwire.providers.keys import Keys
from groundwire.providers.prices import load_prices
from groundwire.providers.tavily import TavilyOptions, TavilyProvider, parse, parse_page, to_body
from groundwire.routing.normalise import plain
from groundwire.safety.guard import Guard
from groundwire.settings import Settings
from groundwire.testing.services.tavily import Tavily
from groundwire.testing.world import Fault, World
from groundwire.transport import Reply, Transport

PAGE = "https://a.example/x"
CANARY = "canary-5f0c1e2d"


def answer(body: object, status: int = 200, **headers: str) -> Reply:
    data = body if isinstance(body, bytes) else json.dumps(body).encode()
    return Reply("https://service.example/x", status, {"Content-Type": "application/json", **headers}, data[:64], data)


def service(world: World) -> Tavily:
    found = world.service("tavily")
    assert isinstance(found, Tavily)
    return found


@asynccontextmanager
async def provider(world: World, *keys: str, options: TavilyOptions | None = None) -> AsyncIterator[TavilyProvider]:
    url = service(world).url
    transport = Transport(Guard(allow_origins=(url,)))
    yield TavilyProvider(
        transport,
        keys=Keys("tavily", [SecretStr(key) for key in keys]),
        base_url=url,
        prices=load_prices()["tavily"],
        name="tavily",
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
    "query": "q",
    "results": [
        {"url": PAGE, "content": "c", "score": 0.9, "published_date": "Mon, 02 Nov 2026 08:00:00 GMT"},
        {"title": "B", "url": "https://b.example/", "content": "c", "score": 0.5},
    ],
    "usage": {"credits": 1},
}
OK_PAGE = {"results": [{"url": PAGE, "raw_content": "# A", "images": []}], "failed_results": [], "response_time": 0.1}


class TestRecordings:
    @pytest.mark.req("Y5", "Y6")
    def test_every_recording_reads_as_expected(self, recordings: Path) -> None:
        expected = json.loads((recordings / "expected.json").read_text())
        seen = 0
        for path in sorted((recordings / "tavily").glob("*.json")):
            response = json.loads(path.read_text())["response"]
            want = expected[f"tavily/{path.name}"]
            reply = answer(response["body"], response["status"])
            seen += 1
            if not want["ok"]:
                with pytest.raises(ProviderError) as caught:
                    parse(reply)
                assert caught.value.status == want["status"]
            elif want["kind"] == "extract":
                page = parse_page(reply, want["results"][0]["url"])
                assert page.content.startswith(want["results"][0]["snippet"])
            else:
                got = [(row.url, plain(row.title, 10**6), plain(row.snippet[:500], 10**6)) for row in parse(reply)]
                assert got == [
                    (row["url"], plain(row["title"], 10**6), plain(row["snippet"], 10**6)) for row in want["results"]
                ], path.name
        assert seen >= 10

    async def test_the_emulator_has_their_shape(self, recordings: Path, world: World) -> None:
        bodies: dict[str, list[Any]] = {"search": [], "extract": []}
        for path in sorted((recordings / "tavily").glob("*.json")):
            recorded = json.loads(path.read_text())
            if recorded["kind"] in bodies:
                bodies[recorded["kind"]].append(recorded["response"]["body"])
        async with provider(world, "test-key") as tavily:
            one = await tavily.ask("POST", "/search", Reply.json, json_body={"query": "wikipedia"}, deadline=None)
            url = world.site("docs").page("api")
            two = await tavily.ask("POST", "/extract", Reply.json, json_body={"urls": url}, deadline=None)
        assert one["results"]
        assert two["results"]
        assert fits(shape(bodies["search"]), one)
        assert fits(shape(bodies["extract"]), two)
        assert not fits(shape(bodies["search"]), {**one, "results": [{"url": PAGE}]})


class TestParse:
    def test_dates_become_iso_8601(self) -> None:
        dates = ("Mon, 02 Nov 2026 08:00:00 GMT", "2026-11-02", "soon")
        rows = [{"url": PAGE, "published_date": said} for said in dates]
        found = parse(answer({"results": rows}))
        assert [row.published for row in found] == ["2026-11-02T08:00:00+00:00", "2026-11-02", None]
        assert [row.published_origin for row in found] == ["", "", "soon"]

    def test_a_keyless_limit_says_when_and_what_to_do(self) -> None:
        error = {"code": "keyless_limit", "message": "Enough.", "window": "day", "retry_after_seconds": 90}
        with pytest.raises(QuotaExceeded, match="Set TAVILY_API_KEY") as caught:
            parse(answer({"error": error}, 429))
        assert caught.value.retry_after == 90

    @pytest.mark.parametrize(("status", "words"), [(432, "plan"), (433, "pay as you go")])
    def test_a_used_up_plan_is_told_from_a_limit_of_speed(self, status: int, words: str) -> None:
        with pytest.raises(QuotaExceeded, match=words):
            parse(answer({"detail": {"error": f"No more: {words}."}}, status))

    @pytest.mark.req("Y6")
    def test_a_failed_page_in_a_200_is_a_failure(self) -> None:
        with pytest.raises(PageUnavailable, match="It did not answer"):
            parse_page(answer({"results": [], "failed_results": [{"url": PAGE, "error": "It did not answer."}]}), PAGE)


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
        usual = {"query": "words", "max_results": 20, "search_depth": "basic", "topic": "general"}
        assert mapped.values == usual | {"include_usage": True} | wanted
        assert mapped.applied == applied
        assert mapped.warnings == []

    @pytest.mark.req("B4")
    def test_more_domains_than_it_takes_are_left_to_the_check_afterwards(self) -> None:
        many = tuple(f"site{number}.example" for number in range(301))
        mapped = to_body("words", 5, Filters(allowed_domains=many, blocked_domains=many))
        assert len(mapped.values["include_domains"]) == 300
        assert len(mapped.values["exclude_domains"]) == 150
        assert mapped.applied == {"allowed_domains": "post_filter", "blocked_domains": "post_filter"}
        assert "300 of 301 allowed_domains" in mapped.warnings[0]

    def test_a_long_query_is_cut_and_it_is_said(self) -> None:
        mapped = to_body("word " * 100, 5, Filters())
        assert len(mapped.values["query"]) <= 400
        assert "was cut to" in mapped.warnings[0]

    def test_options_go_into_the_body(self) -> None:
        news = to_body("w", 5, Filters(region="de"), TavilyOptions(topic="news", search_depth="advanced"))
        assert (news.values["topic"], news.values["search_depth"]) == ("news", "advanced")
        assert news.applied == {"region": "not_possible"}
        assert "country" not in news.values
        safe = to_body("w", 5, Filters(), TavilyOptions(safe_search=True))
        assert safe.values["safe_search"] is True
        assert safe.applied == {"safesearch": "native"}
        fast = to_body("w", 5, Filters(), TavilyOptions(safe_search=True, search_depth="ultra-fast"))
        assert "safe_search" not in fast.values

    def test_every_country_has_a_name_of_letters(self) -> None:
        codes = [first + second for first in ascii_lowercase for second in ascii_lowercase]
        names = {code: name for code in codes if (name := country_name(code))}
        assert len(names) == len(set(names.values())) >= 160
        assert all(name.replace(" ", "").isalpha() for name in names.values())
        assert (names["at"], names["zw"], names["ba"]) == ("austria", "zimbabwe", "bosnia and herzegovina")


class TestOnTheWire:
    @pytest.mark.req("Y5")
    async def test_it_finds_pages(self, world: World) -> None:
        async with provider(world, "test-key") as tavily:
            found = await tavily.search("reciprocal rank fusion", limit=2)
        assert found[0].title == "Reciprocal rank fusion"
        assert found[0].score is not None
        assert len(found) == 2
        assert found.cost_usd == pytest.approx(0.008)
        request = service(world).requests[-1]
        assert request.headers["Authorization"] == "Bearer test-key"
        assert "X-Tavily-Access-Mode" not in request.headers

    @pytest.mark.req("Y5", "Y6")
    async def test_without_a_key_it_is_keyless_and_free_of_charge(self, world: World) -> None:
        async with provider(world) as tavily:
            found = await tavily.search("wikipedia")
            page = await tavily.read_url(world.site("docs").page("api"))
        assert found
        assert (found.cost_usd, page.cost_usd) == (0, 0)
        request = service(world).requests[-1]
        assert request.headers["X-Tavily-Access-Mode"] == "keyless"
        assert "Authorization" not in request.headers

    async def test_the_keyless_limit_is_a_quota(self, world: World) -> None:
        service(world).keyless_left = 1
        async with provider(world) as tavily:
            assert await tavily.search("wikipedia")
            with pytest.raises(QuotaExceeded) as caught:
                await tavily.search("wikipedia")
        assert caught.value.retry_after == 3_600

    @pytest.mark.req("B4")
    async def test_filters_are_honoured(self, world: World) -> None:
        filters = Filters(
            allowed_domains=("encyclopedia.test",),
            blocked_domains=("docs.test",),
            language="en",
            region="us",
            published_after=world.today - timedelta(days=30),
        )
        async with provider(world, "test-key") as tavily:
            found = await tavily.search("search engines", filters=filters)
            today = Filters(time_range="d", allowed_domains=("docs.test",))
            narrow = await tavily.search("search engines", filters=today)
        assert found
        assert all("/wiki/" in row.url for row in found)
        assert all("/en/stable/" in row.url for row in narrow)
        assert found.applied == {}
        body = service(world).requests[0].json()
        assert isinstance(body, dict)
        assert (body["country"], body["language"]) == ("united states", "en")
        assert body["include_domains"] == ["encyclopedia.test"]
        assert sent(world)["time_range"] == "day"

    async def test_news_have_dates_and_advanced_costs_twice(self, world: World) -> None:
        options = TavilyOptions(topic="news", search_depth="advanced")
        async with provider(world, "test-key", options=options) as tavily:
            found = await tavily.search("reciprocal rank fusion", limit=1)
        assert date.fromisoformat((found[0].published or "")[:10]) == world.today - timedelta(days=12)
        assert found.cost_usd == pytest.approx(0.016)

    @pytest.mark.req("Y6")
    async def test_it_reads_a_page(self, world: World) -> None:
        url = world.site("docs").page("quickstart")
        async with provider(world, "test-key") as tavily:
            page = await tavily.read_url(url)
        assert page.success
        assert page.content.startswith("# ")
        assert page.content_length == len(page.content)
        assert page.cost_usd == pytest.approx(0.0016)
        assert sent(world)["urls"] == [url]

    @pytest.mark.req("Y6")
    async def test_a_dead_page_is_an_error(self, world: World) -> None:
        async with provider(world, "test-key") as tavily:
            for url in (world.site("docs").url + "/nowhere", "http://nobody.test/"):
                with pytest.raises(PageUnavailable):
                    await tavily.read_url(url)

    @pytest.mark.req("B1")
    async def test_a_wrong_key_is_named_as_such(self, world: World) -> None:
        async with provider(world, "wrong") as tavily:
            with pytest.raises(AuthenticationFailed):
                await tavily.search("x")

    @pytest.mark.req("B1")
    async def test_a_wrong_request_is_told_from_a_wrong_key(self, world: World) -> None:
        async with provider(world, "test-key") as tavily:
            with pytest.raises(RequestRefused, match="query is missing"):
                await tavily.search(" ")

    @pytest.mark.req("B1")
    async def test_its_rate_limit_says_when_to_come_back(self, world: World) -> None:
        service(world).retry_after = "21"
        async with provider(world, "test-key") as tavily:
            with pytest.raises(RateLimited) as caught:
                await tavily.search("x")
        assert caught.value.retry_after == 21

    @pytest.mark.req("B16")
    async def test_the_second_key_takes_over(self, world: World) -> None:
        service(world).keys = {"one", "two"}
        service(world).calls_left = {"one": 1}
        async with provider(world, "one", "two") as tavily:
            for _ in range(3):
                assert await tavily.search("wikipedia")
        used = [request.headers["Authorization"] for request in service(world).requests]
        assert used == ["Bearer one", "Bearer one", "Bearer two", "Bearer two"]

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
        async with provider(world, "test-key") as tavily:
            with pytest.raises(ProviderError) as caught:
                await tavily.search("x", deadline=Deadline.after(0.7))
            assert type(caught.value) is error
            with pytest.raises(ProviderError) as caught:
                await tavily.read_url(PAGE, deadline=Deadline.after(0.7))
            assert type(caught.value) is error

    async def test_what_the_service_says_that_it_cost_counts(self, world: World) -> None:
        service(world).fail(Fault.status(200, json.dumps(OK | {"usage": {"credits": 5}})))
        service(world).fail(Fault.status(200, json.dumps(OK_PAGE | {"usage": {"credits": 3}})))
        async with provider(world, "test-key") as tavily:
            found = await tavily.search("x")
            page = await tavily.read_url(PAGE)
        assert found.cost_usd == pytest.approx(0.04)
        assert page.cost_usd == pytest.approx(0.024)

    @pytest.mark.parametrize(
        ("path", "body", "status"),
        [
            ("/nowhere", {}, 404),
            ("/search", [], 422),
            ("/search", {"query": "x" * 401}, 400),
            ("/search", {"query": "x", "max_results": 21}, 400),
            ("/search", {"query": "x", "topic": "sports"}, 400),
            ("/search", {"query": "x", "include_domains": ["a.org"] * 301}, 400),
            ("/search", {"query": "x", "start_date": "soon"}, 400),
            ("/search", {"query": "x", "country": "DE"}, 400),
            ("/search", {"query": "x", "safe_search": True, "search_depth": "fast"}, 400),
            ("/extract", {}, 400),
            ("/extract", {"urls": [PAGE] * 21}, 400),
        ],
    )
    async def test_the_emulator_refuses_what_the_service_refuses(
        self, world: World, path: str, body: object, status: int
    ) -> None:
        async with provider(world, "test-key") as tavily:
            got = await tavily.ask("POST", path, lambda reply: reply.status, json_body=body, deadline=None)
        assert got == status

    @pytest.mark.req("Y7")
    async def test_a_key_stays_out_of_sight(self, world: World) -> None:
        service(world).keys = {CANARY}
        async with provider(world, CANARY) as tavily:
            found = await tavily.search("wikipedia")
            service(world).keys = set()
            with pytest.raises(AuthenticationFailed) as caught:
                await tavily.search("wikipedia")
            seen = repr(tavily) + repr(vars(tavily)) + repr(found) + repr(caught.value) + str(caught.value)
        assert CANARY not in seen + "".join(request.target for request in service(world).requests)

    async def test_it_can_be_made_without_a_key(self, world: World) -> None:
        transport = Transport(Guard(allow_origins=(service(world).url,)))
        options = {"base_url": service(world).url}
        with pytest.raises(NotConfigured, match=r"TAVILY_API_KEY, or providers\.tavily\.keyless"):
            TavilyProvider.create(ProviderContext("tavily", Settings(), Clients(transport, transport), options))
        options["keyless"] = "true"
        context = ProviderContext("tavily", Settings(), Clients(transport, transport), options)
        assert await TavilyProvider.create(context).search("wikipedia")
        await transport.aclose()
