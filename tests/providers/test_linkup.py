"""Linkup's wire format: built answers, and the miniature web."""

from __future__ import annotations

import json
from collections.abc import AsyncIterator, Callable
from datetime import date, timedelta
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
from groundwire.providers.linkup import LinkupOptions, LinkupSearchProvider, parse, to_body
from groundwire.providers.prices import load_prices
from groundwire.safety.guard import Guard
from groundwire.testing.services.linkup import Linkup
from groundwire.testing.world import Fault, World
from groundwire.transport import Reply, Transport

TODAY = date(2026, 3, 15)
CANARY = "canary-key-3141592653"

Make = Callable[..., LinkupSearchProvider]


def answer(body: object, status: int = 200, content_type: str = "application/json", **headers: str) -> Reply:
    data = body if isinstance(body, bytes) else json.dumps(body).encode()
    return Reply("https://api.example/v1/search", status, {"Content-Type": content_type, **headers}, data[:64], data)


@pytest.fixture
def service(world: World) -> Linkup:
    return cast("Linkup", world.service("linkup"))


@pytest.fixture
async def make(service: Linkup) -> AsyncIterator[Make]:
    """Make providers that talk to the world's service."""
    transport = Transport(Guard(allow_origins=(service.url,)))

    def one(*keys: str, **options: Any) -> LinkupSearchProvider:
        return LinkupSearchProvider(
            transport,
            keys=Keys("linkup", [SecretStr(key) for key in keys or ("test-key",)]),
            base_url=service.url,
            prices=load_prices()["linkup"],
            name="linkup",
            options=LinkupOptions(**options),
        )

    yield one
    await transport.aclose()


async def exchange(service: Linkup, body: object) -> Any:
    """Return the body of one answer of the world's service as it came."""
    transport = Transport(Guard(allow_origins=(service.url,)))
    reply = await transport.call(
        "x",
        "POST",
        f"{service.url}/v1/search",
        json_body=body,
        headers={"Authorization": "Bearer test-key"},
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

    @given(
        st.recursive(
            st.none() | st.booleans() | st.floats() | st.integers() | st.text(max_size=20),
            lambda inner: (
                st.lists(inner, max_size=4)
                | st.dictionaries(
                    st.sampled_from(["results", "url", "name", "content", "type", "error", "code", "message"]),
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
    @pytest.mark.req("B4")
    async def test_filters_reach_the_index(self, make: Make, world: World, service: Linkup) -> None:
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
    async def test_the_miniature_answer_has_the_documented_shape(self, service: Linkup) -> None:
        ours = await exchange(service, {"q": "reciprocal rank fusion", "depth": "fast", "outputType": "searchResults"})
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
        service.searches_left["test-key"] = 0
        service.money_code = "EXCEED_BUDGET_LIMIT"
        with pytest.raises(QuotaExceeded, match="budget"):
            await make().search("x")

    @pytest.mark.req("B1")
    async def test_a_key_that_is_bound_to_another_machine(self, make: Make, service: Linkup) -> None:
        service.address_allowed = False
        with pytest.raises(AuthenticationFailed, match="public address"):
            await make().search("x")

    async def test_its_own_refusals(self, make: Make, service: Linkup) -> None:
        with pytest.raises(RequestRefused):
            await make().search(" ")
        good = {"q": "x", "depth": "fast", "outputType": "searchResults"}
        for change in ({"depth": "slow"}, {"maxResults": 0}, {"fromDate": "March"}, {"includeDomains": ["a"] * 101}):
            reply = await exchange(service, good | change)
            assert reply["error"]["code"] == "VALIDATION_ERROR"
            assert reply["error"]["details"][0]["field"] == next(iter(change))

    @pytest.mark.req("B1")
    async def test_a_wrong_key(self, make: Make) -> None:
        with pytest.raises(AuthenticationFailed) as caught:
            await make("wrong").search("x")
        assert caught.value.status == 401

    @pytest.mark.req("B16")
    async def test_the_second_key_takes_over(self, make: Make, service: Linkup) -> None:
        service.keys |= {"first", "second"}
        service.searches_left["first"] = 0
        provider = make("first", "second")
        assert await provider.search("wikipedia")
        assert await provider.search("wikipedia")
        used = [request.headers["Authorization"].removeprefix("Bearer ") for request in service.requests]
        assert used == ["first", "second", "second"]

    @pytest.mark.req("B1")
    async def test_no_credit(self, make: Make, service: Linkup) -> None:
        service.searches_left["test-key"] = 1
        provider = make()
        await provider.search("wikipedia")
        with pytest.raises(QuotaExceeded) as caught:
            await provider.search("wikipedia")
        assert caught.value.status == 429

    @pytest.mark.req("B1")
    @pytest.mark.parametrize(("header", "seconds"), [("7", 7), ("", None)])
    async def test_haste(self, make: Make, service: Linkup, header: str, seconds: float | None) -> None:
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
        self, make: Make, service: Linkup, fault: Fault, error: type[ProviderError]
    ) -> None:
        service.fail(fault, times=None)
        with pytest.raises(ProviderError) as caught:
            await make().search("x", deadline=Deadline.after(0.5))
        assert type(caught.value) is error

    @pytest.mark.req("Y7")
    async def test_the_key_stays_out_of_sight(self, make: Make, service: Linkup) -> None:
        provider = make(CANARY)
        with pytest.raises(AuthenticationFailed) as caught:
            await provider.search("x")
        service.keys.add(CANARY)
        found = await make(CANARY).search("wikipedia")
        assert found
        seen = f"{caught.value!r} {caught.value} {found!r} {provider!r} {provider.__dict__!r}"
        assert CANARY not in seen
        assert all(CANARY not in request.target + str(request.body) for request in service.requests)
