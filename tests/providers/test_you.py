"""You.com's wire format: built answers, and the miniature web."""

from __future__ import annotations

import json
from collections.abc import AsyncIterator, Callable
from datetime import UTC, date, datetime, timedelta
from typing import Any, cast

import pytest
from hypothesis import given
from hypothesis import strategies as st
from pydantic import SecretStr

from groundwire.deadline import Deadline
from groundwire.errors import (
    AuthenticationFailed,
    ProviderError,
    ProviderTimeout,
    ProviderUnavailable,
    ProviderUnreachable,
    QuotaExceeded,
    RateLimited,
    RequestRefused,
    UnexpectedResponse,
)
from groundwire.models import Applied, Filters
from groundwire.providers.keys import Keys
from groundwire.providers.prices import load_prices
from groundwire.providers.you import YouSearchProvider, parse, to_body
from groundwire.safety.guard import Guard
from groundwire.testing.services.you import You
from groundwire.testing.world import Fault, World
from groundwire.transport import Reply, Transport

TODAY = date(2026, 3, 15)
CANARY = "canary-key-3141592653"

Make = Callable[..., YouSearchProvider]


def answer(body: object, status: int = 200, content_type: str = "application/json", **headers: str) -> Reply:
    data = body if isinstance(body, bytes) else json.dumps(body).encode()
    return Reply("https://api.example/v1/search", status, {"Content-Type": content_type, **headers}, data[:64], data)


@pytest.fixture
def service(world: World) -> You:
    return cast("You", world.service("you"))


@pytest.fixture
async def make(service: You) -> AsyncIterator[Make]:
    """Make providers that talk to the world's service."""
    transport = Transport(Guard(allow_origins=(service.url,)))

    def one(*keys: str) -> YouSearchProvider:
        return YouSearchProvider(
            transport,
            keys=Keys("you", [SecretStr(key) for key in keys or ("test-key",)]),
            base_url=service.url,
            prices=load_prices()["you"],
            name="you",
        )

    yield one
    await transport.aclose()


async def exchange(service: You, body: object) -> Any:
    """Return the body of one answer of the world's service as it came."""
    transport = Transport(Guard(allow_origins=(service.url,)))
    reply = await transport.call(
        "x",
        "POST",
        f"{service.url}/v1/search",
        json_body=body,
        headers={"X-API-Key": "test-key"},
        deadline=Deadline.after(2),
    )
    await transport.aclose()
    return reply.json()


def shape(value: object) -> object:
    """Return the keys and the JSON types of a value; a list is as its first item."""
    if isinstance(value, dict):
        return {key: shape(value[key]) for key in sorted(value)}
    if isinstance(value, list):
        return [shape(item) for item in value[:1]]
    return type(value).__name__


OK_ROW: dict[str, Any] = {
    "url": "https://a.example/x",
    "title": "A",
    "description": "d",
    "snippets": ["s1", "s2"],
    "page_age": "2026-10-30T00:00:00",
    "favicon_url": "",
}
OK: dict[str, Any] = {"results": {"web": [OK_ROW]}, "metadata": {"search_uuid": "u", "query": "q", "latency": 0.3}}


class TestParse:
    def test_a_row_is_passed_as_it_came(self) -> None:
        row = parse(answer(OK))[0]
        assert (row.title, row.url, row.snippet) == ("A", "https://a.example/x", "s1\ns2")
        assert row.published == "2026-10-30T00:00:00"

    def test_without_passages_the_description_speaks(self) -> None:
        for passages in (None, [], [None, 3], ["", " "], "text"):
            row = parse(answer({"results": {"web": [{**OK_ROW, "snippets": passages}]}}))[0]
            assert row.snippet == "d"

    def test_news_come_behind_the_web_and_say_so(self) -> None:
        news = {"url": "https://n.example/x", "title": "N", "description": "d", "page_age": "3 hours ago"}
        found = parse(answer({"results": {"news": [news], "web": [OK_ROW]}}))
        assert [row.source for row in found] == ["you", "you (news)"]
        assert (found[1].published, found[1].published_origin) == (None, "3 hours ago")
        assert len(parse(answer({"results": {"news": [news]}}))) == 1

    @pytest.mark.req("B1")
    @pytest.mark.parametrize("results", [{}, {"web": []}, {"web": None, "news": []}])
    def test_absent_sections_are_an_empty_result(self, results: object) -> None:
        assert not parse(answer({"results": results, "metadata": {}}))

    @pytest.mark.req("B1")
    @pytest.mark.parametrize("results", [None, [], "none", {"web": {}}, {"news": "x"}, {"web": [{"title": "A"}, 1]}])
    def test_another_form_is_no_empty_result(self, results: object) -> None:
        with pytest.raises(UnexpectedResponse):
            parse(answer({"results": results}))

    @pytest.mark.req("B1")
    def test_an_allowance_that_begins_anew_says_when(self) -> None:
        moment = datetime.now(UTC) + timedelta(hours=2)
        for text in (moment.isoformat(), moment.replace(tzinfo=None).isoformat()):
            with pytest.raises(QuotaExceeded) as caught:
                parse(answer({"error": "payment_required", "reset_at": text}, 402))
            assert caught.value.retry_after == pytest.approx(7_200, abs=5)
        with pytest.raises(QuotaExceeded) as caught:
            parse(answer({"reset_at": "tomorrow"}, 402))
        assert caught.value.retry_after is None

    @given(
        st.recursive(
            st.none() | st.booleans() | st.floats() | st.integers() | st.text(max_size=20),
            lambda inner: (
                st.lists(inner, max_size=4)
                | st.dictionaries(
                    st.sampled_from(["results", "web", "news", "url", "title", "snippets", "page_age", "reset_at"]),
                    inner,
                    max_size=4,
                )
            ),
            max_leaves=20,
        ),
        st.sampled_from([200, 400, 401, 402, 403, 429, 500]),
    )
    def test_any_json_gives_results_or_a_provider_error(self, body: Any, status: int) -> None:
        try:
            found = parse(answer(body, status))
        except ProviderError:
            return
        assert all(row.url for row in found)

    @given(st.binary(max_size=200), st.integers(100, 599), st.sampled_from(["application/json", "text/html", ""]))
    def test_any_bytes_give_results_or_a_provider_error(self, body: bytes, status: int, kind: str) -> None:
        try:
            parse(answer(body, status, kind))
        except ProviderError:
            return

    @given(st.integers(0, 200))
    def test_a_cut_answer_is_no_result(self, at: int) -> None:
        body = json.dumps(OK).encode()
        with pytest.raises(UnexpectedResponse):
            parse(answer(body[: min(at, len(body) - 1)]))


DOMAINS = tuple(f"site{number}.example" for number in range(500 + 1))

MAPPINGS: list[tuple[str, Filters, dict[str, Any], dict[str, Applied]]] = [
    ("nothing", Filters(), {}, {}),
    ("week", Filters(time_range="w"), {"freshness": "week"}, {}),
    ("after", Filters(published_after=date(2025, 3, 1)), {"freshness": "2025-03-01to2026-03-15"}, {}),
    ("before", Filters(published_before=date(2025, 12, 31)), {"freshness": "1990-01-01to2025-12-31"}, {}),
    (
        "a range beside days",
        Filters(time_range="w", published_after=date(2026, 1, 1), published_before=date(2026, 3, 12)),
        {"freshness": "2026-03-08to2026-03-12"},
        {},
    ),
    ("page", Filters(page=3), {"offset": 2}, {}),
    ("allowed", Filters(allowed_domains=("a.org",)), {"include_domains": ["a.org"]}, {}),
    ("blocked", Filters(blocked_domains=("a.org",)), {"exclude_domains": ["a.org"]}, {}),
    (
        "one list only",
        Filters(allowed_domains=("a.org",), blocked_domains=("x.a.org",)),
        {"include_domains": ["a.org"]},
        {"blocked_domains": "post_filter"},
    ),
    ("too many allowed", Filters(allowed_domains=DOMAINS), {}, {"allowed_domains": "post_filter"}),
    (
        "too many blocked",
        Filters(blocked_domains=DOMAINS),
        {"exclude_domains": list(DOMAINS[:500])},
        {"blocked_domains": "post_filter"},
    ),
    ("language and region", Filters(language="de", region="at"), {"language": "DE", "country": "AT"}, {}),
    ("a kind it has", Filters(language="en-GB"), {"language": "EN-GB"}, {}),
    ("a kind it lacks", Filters(language="en-US"), {"language": "EN"}, {}),
    ("the country tells", Filters(language="pt", region="br"), {"language": "PT-BR", "country": "BR"}, {}),
    (
        "the tag tells first",
        Filters(language="pt-PT", region="br"),
        {"language": "PT-PT", "country": "BR"},
        {},
    ),
    ("a script", Filters(language="zh-Hant-HK"), {"language": "ZH-HANT"}, {}),
    ("Portuguese", Filters(language="pt"), {"language": "PT-PT"}, {}),
    ("Chinese", Filters(language="zh-TW"), {"language": "ZH-HANT"}, {}),
    ("simplified", Filters(language="zh-CN"), {"language": "ZH-HANS"}, {}),
    ("Norwegian", Filters(language="no"), {"language": "NB"}, {}),
    ("unknown", Filters(language="tlh", region="aq"), {}, {"language": "not_possible", "region": "not_possible"}),
    ("decency", Filters(safesearch="strict"), {"safesearch": "strict"}, {}),
]


class TestMapping:
    @pytest.mark.req("B4")
    @pytest.mark.parametrize(
        ("filters", "fields", "applied"), [case[1:] for case in MAPPINGS], ids=[case[0] for case in MAPPINGS]
    )
    def test_filters(self, filters: Filters, fields: dict[str, Any], applied: dict[str, Applied]) -> None:
        mapped = to_body("words", 5, filters, today=TODAY)
        assert mapped.values == {"query": "words", "count": 5, "safesearch": "moderate"} | fields
        assert mapped.applied == applied

    def test_more_domains_than_it_takes_are_announced(self) -> None:
        assert "500 " in to_body("words", 5, Filters(allowed_domains=DOMAINS)).warnings[0]

    def test_a_range_never_runs_backwards(self) -> None:
        filters = Filters(time_range="d", published_before=date(2026, 1, 1))
        assert to_body("words", 5, filters, today=TODAY).values["freshness"] == "2026-01-01to2026-01-01"


class TestOnTheWire:
    @pytest.mark.req("B4")
    async def test_filters_reach_the_index(self, make: Make, world: World, service: You) -> None:
        docs = world.site("docs")
        everything = await make().search("search ranking page", limit=30)
        assert len({row.url.split("/")[2] for row in everything}) > 1
        found = await make().search("search ranking page", filters=Filters(allowed_domains=(docs.host,)), limit=30)
        assert found
        assert all(row.url.startswith(docs.url) for row in found)
        found = await make().search("search ranking page", filters=Filters(blocked_domains=(docs.host,)), limit=30)
        assert found
        assert not any(row.url.startswith(docs.url) for row in found)
        start = world.today - timedelta(days=60)
        found = await make().search("search ranking page", filters=Filters(published_after=start), limit=30)
        assert 0 < len(found) < len(everything)
        assert service.requests[-1].json() == to_body("search ranking page", 30, Filters(published_after=start)).values

    @pytest.mark.req("B1")
    async def test_the_miniature_answer_has_the_documented_shape(self, service: You) -> None:
        ours = await exchange(service, {"query": "reciprocal rank fusion"})
        assert shape(ours) == shape(OK)

    @pytest.mark.req("Y5")
    async def test_it_finds_pages(self, make: Make, service: You) -> None:
        found = await make().search("reciprocal rank fusion", limit=3)
        assert found[0].title == "Reciprocal rank fusion"
        assert found[0].published
        assert found.cost_usd == pytest.approx(0.005)
        request = service.requests[-1]
        assert (request.method, request.path) == ("POST", "/v1/search")
        assert request.headers["X-API-Key"] == "test-key"
        assert "Authorization" not in request.headers

    @pytest.mark.req("B4")
    async def test_pages_follow_each_other(self, make: Make) -> None:
        first = await make().search("search ranking page", limit=4)
        rest = [await make().search("search ranking page", limit=2, filters=Filters(page=page)) for page in (1, 2)]
        assert [row.url for page in rest for row in page] == [row.url for row in first]

    async def test_news(self, make: Make, service: You) -> None:
        service.news = True
        found = await make().search("search ranking page", limit=30)
        assert {row.source for row in found} == {"you", "you (news)"}

    @pytest.mark.req("B1")
    async def test_finding_nothing(self, make: Make) -> None:
        found = await make().search("zyxwvutsrq")
        assert (len(found), found.status) == (0, 200)

    @pytest.mark.req("B1", "B16")
    async def test_an_allowance_rests_until_it_begins_anew(self, make: Make, service: You) -> None:
        service.searches_left["test-key"] = 0
        service.reset_at = (datetime.now(UTC) + timedelta(hours=1)).isoformat()
        provider = make()
        for _ in range(2):
            with pytest.raises(QuotaExceeded) as caught:
                await provider.search("x")
            assert caught.value.retry_after == pytest.approx(3_600, abs=5)
        assert len(service.requests) == 1

    @pytest.mark.req("B1")
    async def test_a_key_without_the_right(self, make: Make, service: You) -> None:
        service.scoped = False
        with pytest.raises(AuthenticationFailed) as caught:
            await make().search("x")
        assert caught.value.status == 403

    async def test_its_own_refusals(self, make: Make, service: You) -> None:
        with pytest.raises(RequestRefused):
            await make().search(" ")
        for change in (
            {"count": 101},
            {"offset": 10},
            {"freshness": "hour"},
            {"country": "Germany"},
            {"include_domains": ["a"], "exclude_domains": ["b"]},
        ):
            reply = await exchange(service, {"query": "x", **change})
            assert reply.keys() <= {"detail", "error"}, change

    async def test_the_older_way_to_ask(self, service: You) -> None:
        transport = Transport(Guard(allow_origins=(service.url,)))
        reply = await transport.call(
            "x",
            "GET",
            f"{service.url}/v1/search",
            params={"query": "search ranking page", "count": "2", "include_domains": "docs.test,forum.test"},
            headers={"X-API-Key": "test-key"},
            deadline=Deadline.after(2),
        )
        await transport.aclose()
        assert len(parse(reply)) == 2

    @pytest.mark.req("B1")
    async def test_a_wrong_key(self, make: Make) -> None:
        with pytest.raises(AuthenticationFailed) as caught:
            await make("wrong").search("x")
        assert caught.value.status == 401

    @pytest.mark.req("B16")
    async def test_the_second_key_takes_over(self, make: Make, service: You) -> None:
        service.keys |= {"first", "second"}
        service.searches_left["first"] = 0
        provider = make("first", "second")
        assert await provider.search("wikipedia")
        assert await provider.search("wikipedia")
        used = [request.headers["X-API-Key"].removeprefix("Bearer ") for request in service.requests]
        assert used == ["first", "second", "second"]

    @pytest.mark.req("B1")
    async def test_no_credit(self, make: Make, service: You) -> None:
        service.searches_left["test-key"] = 1
        provider = make()
        await provider.search("wikipedia")
        with pytest.raises(QuotaExceeded) as caught:
            await provider.search("wikipedia")
        assert caught.value.status == 402

    @pytest.mark.req("B1")
    @pytest.mark.parametrize(("header", "seconds"), [("7", 7), ("", None)])
    async def test_haste(self, make: Make, service: You, header: str, seconds: float | None) -> None:
        service.retry_after = header
        with pytest.raises(RateLimited) as caught:
            await make().search("x")
        assert caught.value.retry_after == seconds

    @pytest.mark.req("B1")
    @pytest.mark.parametrize(
        ("fault", "error"),
        [
            (Fault.status(502), ProviderUnavailable),
            (Fault.close(), ProviderUnreachable),
            (Fault.wrong_json(), UnexpectedResponse),
            (Fault.html_for_json(), UnexpectedResponse),
            (Fault.redirect("http://169.254.169.254/"), UnexpectedResponse),
            (Fault.hang(), ProviderTimeout),
        ],
        ids=lambda value: value.__name__ if isinstance(value, type) else "",
    )
    async def test_each_fault_has_its_outcome(
        self, make: Make, service: You, fault: Fault, error: type[ProviderError]
    ) -> None:
        service.fail(fault, times=None)
        with pytest.raises(ProviderError) as caught:
            await make().search("x", deadline=Deadline.after(0.5))
        assert type(caught.value) is error

    @pytest.mark.req("Y7")
    async def test_the_key_stays_out_of_sight(self, make: Make, service: You) -> None:
        provider = make(CANARY)
        with pytest.raises(AuthenticationFailed) as caught:
            await provider.search("x")
        service.keys.add(CANARY)
        found = await make(CANARY).search("wikipedia")
        assert found
        seen = f"{caught.value!r} {caught.value} {found!r} {provider!r} {provider.__dict__!r}"
        assert CANARY not in seen
        assert all(CANARY not in request.target + str(request.body) for request in service.requests)
