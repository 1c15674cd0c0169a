"""Perplexity's wire format: recorded answers, built answers, and the miniature web."""

from __future__ import annotations

import json
from collections.abc import AsyncIterator, Callable
from datetime import date, timedelta
from pathlib import Path
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
from groundwire.providers.perplexity import PerplexityOptions, PerplexitySearchProvider, parse, to_body
from groundwire.providers.prices import load_prices
from groundwire.routing.normalise import plain
from groundwire.safety.guard import Guard
from groundwire.testing.services.perplexity import Perplexity
from groundwire.testing.world import Fault, World
from groundwire.transport import Reply, Transport

TODAY = date(2026, 3, 15)
CANARY = "pplx-canary-3141592653"

Make = Callable[..., PerplexitySearchProvider]


def answer(body: object, status: int = 200, content_type: str = "application/json", **headers: str) -> Reply:
    data = body if isinstance(body, bytes) else json.dumps(body).encode()
    return Reply("https://api.example/search", status, {"Content-Type": content_type, **headers}, data[:64], data)


@pytest.fixture
def service(world: World) -> Perplexity:
    return cast("Perplexity", world.service("perplexity"))


@pytest.fixture
async def make(service: Perplexity) -> AsyncIterator[Make]:
    """Make providers that talk to the world's service."""
    transport = Transport(Guard(allow_origins=(service.url,)))

    def one(*keys: str, **options: Any) -> PerplexitySearchProvider:
        return PerplexitySearchProvider(
            transport,
            keys=Keys("perplexity", [SecretStr(key) for key in keys or ("test-key",)]),
            base_url=service.url,
            prices=load_prices()["perplexity"],
            name="perplexity",
            options=PerplexityOptions(**options),
        )

    yield one
    await transport.aclose()


class TestRecordings:
    @pytest.mark.req("Y5", "B1")
    def test_every_recording_reads_as_expected(self, recordings: Path) -> None:
        expected = json.loads((recordings / "expected.json").read_text())
        paths = sorted((recordings / "perplexity_search").glob("*.json"))
        assert paths
        for path in paths:
            response = json.loads(path.read_text())["response"]
            want = expected[f"perplexity_search/{path.name}"]
            is_json = "body" in response
            body = response["body"] if is_json else response["text"].encode()
            reply = answer(body, response["status"], "application/json" if is_json else "text/html")
            if want["ok"]:
                assert [(row.url, plain(row.title, 10**6), plain(row.snippet, 10**6)) for row in parse(reply)] == [
                    (row["url"], plain(row["title"], 10**6), plain(row["snippet"], 10**6)) for row in want["results"]
                ], path.name
            else:
                with pytest.raises(ProviderError):
                    parse(reply)

    def test_the_recorded_refusal_is_about_money(self, recordings: Path) -> None:
        response = json.loads((recordings / "perplexity_search" / "error_401__01.json").read_text())["response"]
        with pytest.raises(QuotaExceeded, match="Add credit"):
            parse(answer(response["body"], response["status"]))

    async def test_the_miniature_answer_has_the_recorded_shape(
        self, recordings: Path, make: Make, service: Perplexity
    ) -> None:
        real = json.loads((recordings / "perplexity_search" / "search__01.json").read_text())["response"]["body"]
        refusal = json.loads((recordings / "perplexity_search" / "error_401__01.json").read_text())["response"]["body"]
        ours = await exchange(make(), service, {"query": "reciprocal rank fusion"})
        assert shape(real) == shape(ours)
        service.searches_left["test-key"] = 0
        ours = await exchange(make(), service, {"query": "reciprocal rank fusion"})
        assert shape(refusal) == shape(ours)


async def exchange(provider: PerplexitySearchProvider, service: Perplexity, body: object) -> object:
    """Return the body of one answer as it came."""
    transport = Transport(Guard(allow_origins=(service.url,)))
    headers = provider.headers("test-key")
    reply = await transport.call(
        "x", "POST", f"{service.url}/search", json_body=body, headers=headers, deadline=Deadline.after(2)
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

    @given(
        st.recursive(
            st.none() | st.booleans() | st.floats() | st.integers() | st.text(max_size=20),
            lambda inner: (
                st.lists(inner, max_size=4)
                | st.dictionaries(
                    st.sampled_from(["results", "url", "title", "snippet", "date", "error", "type", "message"]),
                    inner,
                    max_size=4,
                )
            ),
            max_leaves=20,
        ),
        st.sampled_from([200, 401, 403, 429, 500]),
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
        body = json.dumps({"id": "s", "results": [OK_ROW, OK_ROW], "server_time": None}).encode()
        with pytest.raises(UnexpectedResponse):
            parse(answer(body[: min(at, len(body) - 1)]))


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
        assert "20 domains at most" in to_body("words", 5, Filters(allowed_domains=DOMAINS)).warnings[0]

    def test_the_limit_is_capped(self) -> None:
        assert to_body("words", 50, Filters()).values["max_results"] == 20

    def test_options(self) -> None:
        body = to_body("words", 5, Filters(), PerplexityOptions(mode="academic", max_tokens_per_page=64)).values
        assert (body["search_mode"], body["max_tokens_per_page"]) == ("academic", 64)


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

    async def test_snippets_are_as_long_as_asked(self, make: Make) -> None:
        found = await make(max_tokens_per_page=10).search("reciprocal rank fusion")
        assert max(len(row.snippet) for row in found) <= 40

    @pytest.mark.req("B4")
    async def test_filters_reach_the_index(self, make: Make, world: World, service: Perplexity) -> None:
        docs = world.site("docs")
        everything = await make().search("search ranking page", limit=20)
        assert len({row.url.split("/")[2] for row in everything}) > 1
        found = await make().search("search ranking page", filters=Filters(allowed_domains=(docs.host,)), limit=20)
        assert found
        assert all(row.url.startswith(docs.url) for row in found)
        found = await make().search("search ranking page", filters=Filters(blocked_domains=(docs.host,)), limit=20)
        assert found
        assert not any(row.url.startswith(docs.url) for row in found)
        start = world.today - timedelta(days=60)
        found = await make().search("search ranking page", filters=Filters(published_after=start), limit=20)
        assert 0 < len(found) < len(everything)
        assert all((row.published or "") >= start.isoformat() for row in found)
        assert service.requests[-1].json() == to_body("search ranking page", 20, Filters(published_after=start)).values

    @pytest.mark.req("B4")
    async def test_what_was_done_about_filters_is_said(self, make: Make) -> None:
        filters = Filters(allowed_domains=("127.0.0.1",), blocked_domains=("x.test",), time_range="y", page=1)
        found = await make().search("reciprocal rank fusion", filters=filters)
        assert found.applied == {"blocked_domains": "post_filter"}

    @pytest.mark.req("B1")
    async def test_a_wrong_key(self, make: Make) -> None:
        with pytest.raises(AuthenticationFailed) as caught:
            await make("wrong").search("x")
        assert caught.value.status == 401

    @pytest.mark.req("B16")
    @pytest.mark.parametrize("status", [401, 429])
    async def test_the_second_key_takes_over(self, make: Make, service: Perplexity, status: int) -> None:
        service.keys |= {"first", "second"}
        service.searches_left["first"] = 0
        service.money_status = status
        provider = make("first", "second")
        assert await provider.search("wikipedia")
        assert await provider.search("wikipedia")
        used = [request.headers["Authorization"] for request in service.requests]
        assert used == ["Bearer first", "Bearer second", "Bearer second"]

    @pytest.mark.req("B1")
    async def test_no_credit_is_no_wrong_key(self, make: Make, service: Perplexity) -> None:
        service.searches_left["test-key"] = 1
        provider = make()
        await provider.search("wikipedia")
        with pytest.raises(QuotaExceeded):
            await provider.search("wikipedia")

    @pytest.mark.req("B1")
    @pytest.mark.parametrize(("header", "seconds"), [("7", 7), ("", None)])
    async def test_haste(self, make: Make, service: Perplexity, header: str, seconds: float | None) -> None:
        service.retry_after = header
        with pytest.raises(RateLimited) as caught:
            await make().search("x")
        assert caught.value.retry_after == seconds

    async def test_its_own_refusals(self, make: Make, service: Perplexity) -> None:
        provider = make()
        with pytest.raises(RequestRefused, match="Words are needed"):
            await provider.search(" ")
        bodies: list[dict[str, Any]] = [
            {"search_domain_filter": ["a.org", "-b.org"]},
            {"search_domain_filter": ["a.org"] * 21},
            {"search_after_date_filter": "2026-01-01"},
            {"search_after_date_filter": "1/1/2026", "search_recency_filter": "week"},
            {"max_results": 21},
            {"search_language_filter": ["eng"]},
        ]
        for body in bodies:
            reply = await exchange(provider, service, {"query": "x", **body})
            assert isinstance(reply, dict)
            assert reply.keys() & {"error", "detail"}, body

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
        self, make: Make, service: Perplexity, fault: Fault, error: type[ProviderError]
    ) -> None:
        service.fail(fault, times=None)
        with pytest.raises(ProviderError) as caught:
            await make().search("x", deadline=Deadline.after(0.5))
        assert type(caught.value) is error

    @pytest.mark.req("Y7")
    async def test_the_key_stays_out_of_sight(self, make: Make, service: Perplexity) -> None:
        provider = make(CANARY)
        with pytest.raises(AuthenticationFailed) as caught:
            await provider.search("x")
        service.keys.add(CANARY)
        found = await make(CANARY).search("wikipedia")
        seen = f"{caught.value!r} {caught.value} {found!r} {provider!r} {provider.__dict__!r}"
        assert CANARY not in seen
        assert all(CANARY not in request.target for request in service.requests)

    def test_a_wrong_option_is_refused(self) -> None:
        with pytest.raises(ValueError, match="mode"):
            PerplexityOptions.model_validate({"mode": "images"})
