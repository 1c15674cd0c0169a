"""Kagi's wire format: a recorded answer, built answers, and the miniature web."""

from __future__ import annotations

import json
from collections.abc import AsyncIterator, Callable
from datetime import date
from pathlib import Path
from typing import Any, cast

import pytest
from hypothesis import given
from hypothesis import strategies as st
from multidict import CIMultiDict
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
from groundwire.models import NO_FILTERS, Applied, Filters
from groundwire.providers.kagi import KagiOptions, KagiSearchProvider, parse, to_body, to_params
from groundwire.providers.keys import Keys
from groundwire.providers.prices import load_prices
from groundwire.routing.normalise import plain
from groundwire.safety.guard import Guard
from groundwire.testing.services.kagi import Kagi
from groundwire.testing.world import Fault, World
from groundwire.transport import Reply, Transport

Make = Callable[..., KagiSearchProvider]


def answer(body: object, status: int = 200, **headers: str) -> Reply:
    data = body if isinstance(body, bytes) else json.dumps(body).encode()
    sent = CIMultiDict({"Content-Type": "application/json", **headers})
    return Reply("https://service.example/x", status, sent, data[:64], data)


def missing(recorded: list[Any], ours: Any, where: str = "") -> list[str]:
    """Name what every recorded value has and ours has not, or has as another JSON type."""
    kinds = {type(value) for value in recorded}
    if len(kinds) != 1:
        return []
    if type(ours) not in kinds:
        return [f"{where} is {type(ours).__name__}"]
    if isinstance(ours, dict):
        return [
            text
            for key in sorted(set.intersection(*map(set, recorded)))
            for text in (
                missing([value[key] for value in recorded], ours[key], f"{where}.{key}")
                if key in ours
                else [f"{where}.{key} is missing"]
            )
        ]
    if isinstance(ours, list) and ours and any(recorded):
        return missing([item for value in recorded for item in value], ours[0], f"{where}[]")
    return []


@pytest.fixture
def kagi(world: World) -> Kagi:
    return cast("Kagi", world.service("kagi"))


@pytest.fixture
async def wire(kagi: Kagi) -> AsyncIterator[Transport]:
    transport = Transport(Guard(allow_origins=(kagi.url,)))
    yield transport
    await transport.aclose()


@pytest.fixture
def make(kagi: Kagi, wire: Transport) -> Make:
    def provider(*keys: str, **options: Any) -> KagiSearchProvider:
        return KagiSearchProvider(
            wire,
            keys=Keys("kagi", [SecretStr(key) for key in keys or ("test-key",)]),
            base_url=kagi.url,
            prices=load_prices()["kagi"],
            name="kagi",
            options=KagiOptions(**options),
        )

    return provider


class TestRecordings:
    @pytest.mark.req("Y5")
    def test_every_recording_reads_as_expected(self, recordings: Path) -> None:
        expected = json.loads((recordings / "expected.json").read_text())
        paths = sorted((recordings / "kagi").glob("*.json"))
        assert paths
        for path in paths:
            response = json.loads(path.read_text())["response"]
            rows = parse(answer(response["body"], response["status"]))
            assert [(row.url, plain(row.title, 10**6), plain(row.snippet, 10**6)) for row in rows] == [
                (row["url"], plain(row["title"], 10**6), plain(row["snippet"], 10**6))
                for row in expected[f"kagi/{path.name}"]["results"]
            ], path.name

    async def test_the_emulator_answers_in_the_recorded_shape(
        self, recordings: Path, kagi: Kagi, wire: Transport
    ) -> None:
        bodies = [
            json.loads(path.read_text())["response"]["body"] for path in sorted((recordings / "kagi").glob("*.json"))
        ]
        ours = await wire.call(
            "kagi",
            "GET",
            f"{kagi.url}/api/v0/search",
            params={"q": "search engines"},
            headers={"Authorization": "Bot test-key"},
            deadline=Deadline.after(2),
        )
        for kind in (0, 1):  # pages, and related searches
            recorded = [body | {"data": [row for row in body["data"] if row["t"] == kind]} for body in bodies]
            rows = [row for row in ours.json()["data"] if row["t"] == kind]
            assert missing(recorded, ours.json() | {"data": rows}) == []


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

    def test_news_are_read_from_their_own_list(self) -> None:
        reply = answer({"meta": {}, "data": {"search": [ROW], "news": [ROW | {"url": "https://n.example/"}]}})
        assert [row.url for row in parse(reply)] == ["https://a.example/x"]
        assert [row.url for row in parse(reply, kind="news")] == ["https://n.example/"]

    def test_rows_without_an_address_are_left_out(self) -> None:
        rows: list[object] = [{"title": "x"}, {"url": None}, "text", None, ROW]
        assert [row.url for row in parse(answer({"meta": {}, "data": {"search": rows}}))] == ["https://a.example/x"]

    @given(
        st.recursive(
            st.none() | st.booleans() | st.floats() | st.integers() | st.text(max_size=20),
            lambda inner: (
                st.lists(inner, max_size=4)
                | st.dictionaries(
                    st.sampled_from(["meta", "data", "search", "t", "url", "title", "time", "error", "code", "msg"]),
                    inner,
                    max_size=5,
                )
            ),
            max_leaves=20,
        ),
        st.sampled_from([200, 400, 403, 429, 500]),
    )
    def test_any_json_gives_results_or_a_provider_error(self, body: Any, status: int) -> None:
        reply = answer(body, status)
        try:
            found = parse(reply)
        except ProviderError:
            return
        assert all(row.url for row in found)

    @given(st.binary(max_size=200), st.integers(100, 599))
    def test_any_bytes_give_results_or_a_provider_error(self, body: bytes, status: int) -> None:
        try:
            parse(answer(body, status))
        except ProviderError:
            return


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

    def test_the_kind_is_a_workflow(self) -> None:
        assert to_body("words", 5, NO_FILTERS, KagiOptions(kind="news")).values["workflow"] == "news"

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
    async def test_it_finds_pages(self, kagi: Kagi, make: Make) -> None:
        found = await make().search("reciprocal rank fusion", limit=2)
        assert found[0].title == "Reciprocal rank fusion"
        assert found[0].published
        assert len(found) == 2
        assert found.cost_usd == pytest.approx(0.012)
        assert kagi.requests[-1].path == "/api/v1/search"

    async def test_it_finds_news(self, make: Make) -> None:
        assert (await make(kind="news").search("reciprocal rank fusion"))[0].title == "Reciprocal rank fusion"

    @pytest.mark.req("Y5")
    async def test_the_former_wire_finds_pages(self, kagi: Kagi, make: Make) -> None:
        found = await make(version="v0").search("reciprocal rank fusion", limit=2)
        assert found[0].title == "Reciprocal rank fusion"
        assert kagi.requests[-1].path == "/api/v0/search"
        assert kagi.requests[-1].headers["Authorization"] == "Bot test-key"

    @pytest.mark.parametrize("version", ["v1", "v0"])
    async def test_finding_nothing_is_no_error(self, make: Make, version: str) -> None:
        assert len(await make(version=version).search("xyzzy")) == 0

    @pytest.mark.req("B4")
    async def test_filters_hold(self, make: Make, world: World) -> None:
        provider = make()
        host = world.site("articles").host
        everything = await provider.search("search", limit=20)
        here = await provider.search("search", limit=20, filters=Filters(allowed_domains=(host,)))
        elsewhere = await provider.search("search", limit=20, filters=Filters(blocked_domains=(host,)))
        assert {row.url for row in here} | {row.url for row in elsewhere} == {row.url for row in everything}
        assert here
        assert elsewhere
        former = await make(version="v0").search("search", limit=20, filters=Filters(allowed_domains=(host,)))
        assert [row.url for row in former] == [row.url for row in here]
        middle = world.library.search("search")[1].published
        late = await provider.search("search", limit=20, filters=Filters(published_after=middle))
        early = await provider.search("search", limit=20, filters=Filters(published_before=middle))
        assert all((row.published or "")[:10] >= middle.isoformat() for row in late)
        assert {row.url for row in late} | {row.url for row in early} == {row.url for row in everything}
        second = await provider.search("search", limit=2, filters=Filters(page=2))
        assert [row.url for row in second] == [row.url for row in everything[2:4]]

    @pytest.mark.req("B1")
    @pytest.mark.parametrize("version", ["v1", "v0"])
    async def test_each_refusal_is_its_own_error(self, kagi: Kagi, make: Make, version: str) -> None:
        with pytest.raises(AuthenticationFailed):
            await make("wrong", version=version).search("search")
        kagi.used_up = {"test-key"}
        with pytest.raises(QuotaExceeded):
            await make(version=version).search("search")
        kagi.used_up, kagi.rate_limited = set(), True
        with pytest.raises(RateLimited) as caught:
            await make(version=version).search("search")
        assert caught.value.retry_after == (7 if version == "v1" else None)
        kagi.rate_limited = False
        with pytest.raises(RequestRefused):
            await make(version=version).search(" ")

    @pytest.mark.req("B1", "Y7")
    async def test_a_wrong_key_is_an_error_that_does_not_show_it(self, kagi: Kagi, make: Make) -> None:
        provider = make("canary-key")
        with pytest.raises(AuthenticationFailed) as caught:
            await provider.search("search")
        request = kagi.requests[-1]
        assert request.headers["Authorization"] == "Bearer canary-key"
        assert "canary-key" not in f"{request.target}{request.body!r}"
        assert "canary-key" not in f"{caught.value}{caught.value!r}{vars(caught.value)}{vars(provider)}"
        kagi.keys.add("canary-key")
        fresh = make("canary-key")
        assert "canary-key" not in repr(await fresh.search("search")) + repr(vars(fresh))

    @pytest.mark.req("B1", "B16")
    async def test_the_next_key_takes_over_when_the_money_is_used_up(self, kagi: Kagi, make: Make) -> None:
        kagi.keys, kagi.used_up = {"first", "second"}, {"first"}
        provider = make("first", "second")
        assert await provider.search("search")
        assert await provider.search("search")
        sent = [request.headers["Authorization"] for request in kagi.requests]
        assert sent == ["Bearer first", "Bearer second", "Bearer second"]
        kagi.used_up.add("second")
        with pytest.raises(QuotaExceeded):
            await provider.search("search")

    @pytest.mark.req("B1")
    @pytest.mark.parametrize(
        ("fault", "error"),
        [
            (Fault.status(500), ProviderUnavailable),
            (Fault.reset(), ProviderUnreachable),
            (Fault.truncated(), ProviderUnreachable),
            (Fault.wrong_json(), UnexpectedResponse),
            (Fault.html_for_json(), UnexpectedResponse),
            (Fault.empty_body(), UnexpectedResponse),
            (Fault.redirect("http://169.254.169.254/"), UnexpectedResponse),
            (Fault.hang(), ProviderTimeout),
        ],
        ids=lambda value: value.__name__ if isinstance(value, type) else "",
    )
    async def test_each_fault_has_its_outcome(
        self, kagi: Kagi, make: Make, fault: Fault, error: type[ProviderError]
    ) -> None:
        kagi.fail(fault, times=None)
        with pytest.raises(ProviderError) as caught:
            await make().search("search", deadline=Deadline.after(0.3))
        assert type(caught.value) is error
