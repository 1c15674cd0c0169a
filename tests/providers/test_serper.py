"""Serper's wire format: recorded answers, built answers, and the miniature web."""

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
from groundwire.providers.keys import Keys
from groundwire.providers.prices import load_prices
from groundwire.providers.serper import SerperOptions, SerperSearchProvider, credits_used, parse, to_body
from groundwire.routing.normalise import plain
from groundwire.safety.guard import Guard
from groundwire.testing.services.serper import Serper
from groundwire.testing.world import Fault, World
from groundwire.transport import Reply, Transport

Make = Callable[..., SerperSearchProvider]


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
def serper(world: World) -> Serper:
    return cast("Serper", world.service("serper"))


@pytest.fixture
async def wire(serper: Serper) -> AsyncIterator[Transport]:
    transport = Transport(Guard(allow_origins=(serper.url,)))
    yield transport
    await transport.aclose()


@pytest.fixture
def make(serper: Serper, wire: Transport) -> Make:
    def provider(*keys: str, **options: Any) -> SerperSearchProvider:
        return SerperSearchProvider(
            wire,
            keys=Keys("serper", [SecretStr(key) for key in keys or ("test-key",)]),
            base_url=serper.url,
            prices=load_prices()["serper"],
            name="serper",
            options=SerperOptions(**options),
        )

    return provider


class TestRecordings:
    @pytest.mark.req("Y5")
    def test_every_recording_reads_as_expected(self, recordings: Path) -> None:
        expected = json.loads((recordings / "expected.json").read_text())
        seen = 0
        for path in sorted((recordings / "serper").glob("*.json")):
            response = json.loads(path.read_text())["response"]
            want = expected[f"serper/{path.name}"]
            assert want["ok"]
            rows = parse(answer(response["body"], response["status"]))
            assert [(row.url, plain(row.title, 10**6), plain(row.snippet, 10**6)) for row in rows] == [
                (row["url"], plain(row["title"], 10**6), plain(row["snippet"], 10**6)) for row in want["results"]
            ], path.name
            seen += 1
        assert seen >= 5

    @pytest.mark.parametrize(("path", "pattern"), [("search", "search__*.json"), ("news", "search_news__*.json")])
    async def test_the_emulator_answers_in_the_recorded_shape(
        self, recordings: Path, serper: Serper, wire: Transport, path: str, pattern: str
    ) -> None:
        recorded = [
            json.loads(file.read_text())["response"]["body"] for file in sorted((recordings / "serper").glob(pattern))
        ]
        assert recorded
        ours = await wire.call(
            "serper",
            "POST",
            f"{serper.url}/{path}",
            json_body={"q": "search engines"},
            headers={"X-API-KEY": "test-key"},
            deadline=Deadline.after(2),
        )
        assert missing(recorded, ours.json()) == []


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

    def test_an_answer_says_what_it_cost(self) -> None:
        assert credits_used(answer({"credits": 2})) == 2
        bodies: list[object] = [{}, [], {"credits": "2"}, {"credits": -1}, {"credits": True}, b"<html>"]
        for body in bodies:
            assert credits_used(answer(body)) == 1

    @given(
        st.recursive(
            st.none() | st.booleans() | st.floats() | st.integers() | st.text(max_size=20),
            lambda inner: (
                st.lists(inner, max_size=4)
                | st.dictionaries(
                    st.sampled_from(
                        ["searchParameters", "type", "organic", "news", "link", "title", "date", "message", "credits"]
                    ),
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
    async def test_it_finds_pages(self, serper: Serper, make: Make) -> None:
        found = await make().search("reciprocal rank fusion", limit=2)
        assert found[0].title == "Reciprocal rank fusion"
        assert len(found) == 2
        assert found.cost_usd == pytest.approx(0.001)
        assert serper.requests[-1].json() == {"q": "reciprocal rank fusion", "num": 2}
        assert (await make().search("search", limit=20)).cost_usd == pytest.approx(0.002)

    async def test_it_finds_news(self, serper: Serper, make: Make) -> None:
        found = await make(kind="news").search("reciprocal rank fusion")
        assert found[0].title == "Reciprocal rank fusion"
        assert serper.requests[-1].path == "/news"

    async def test_finding_nothing_is_no_error(self, make: Make) -> None:
        assert len(await make().search("xyzzy")) == 0

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
        middle = world.library.search("search")[1].published
        late = await provider.search("search", limit=20, filters=Filters(published_after=middle))
        early = await provider.search("search", limit=20, filters=Filters(published_before=middle))
        assert {row.url for row in late} | {row.url for row in early} == {row.url for row in everything}
        assert 0 < len(late) < len(everything)
        second = await provider.search("search", limit=2, filters=Filters(page=2))
        assert [row.url for row in second] == [row.url for row in everything[2:4]]

    @pytest.mark.req("B1")
    async def test_a_wrong_parameter_is_a_refused_request(self, make: Make) -> None:
        with pytest.raises(RequestRefused, match="page"):
            await make().search("search", filters=Filters(page=101))

    @pytest.mark.req("B1")
    @pytest.mark.parametrize("status", [200, 400, 403, 429])
    async def test_no_credits_are_a_quota_whatever_the_status(self, serper: Serper, make: Make, status: int) -> None:
        serper.used_up, serper.refusal_status = {"test-key"}, status
        with pytest.raises(QuotaExceeded):
            await make().search("search")

    @pytest.mark.req("B1")
    async def test_too_many_requests_are_a_rate_limit(self, serper: Serper, make: Make) -> None:
        serper.rate_limited = True
        with pytest.raises(RateLimited) as caught:
            await make().search("search")
        assert caught.value.retry_after is None
        serper.fail(Fault.status(429, "{}", headers={"Retry-After": "7"}))
        with pytest.raises(RateLimited) as caught:
            await make().search("search")
        assert caught.value.retry_after == 7

    @pytest.mark.req("B1", "Y7")
    async def test_a_wrong_key_is_an_error_that_does_not_show_it(self, serper: Serper, make: Make) -> None:
        provider = make("canary-key")
        with pytest.raises(AuthenticationFailed) as caught:
            await provider.search("search")
        request = serper.requests[-1]
        assert request.headers["X-API-KEY"] == "canary-key"
        assert "canary-key" not in f"{request.target}{request.body!r}"
        assert "canary-key" not in f"{caught.value}{caught.value!r}{vars(caught.value)}{vars(provider)}"
        serper.keys.add("canary-key")
        fresh = make("canary-key")
        assert "canary-key" not in repr(await fresh.search("search")) + repr(vars(fresh))

    @pytest.mark.req("B1", "B16")
    async def test_the_next_key_takes_over_when_the_money_is_used_up(self, serper: Serper, make: Make) -> None:
        serper.keys, serper.used_up = {"first", "second"}, {"first"}
        provider = make("first", "second")
        assert await provider.search("search")
        assert await provider.search("search")
        sent = [request.headers["X-API-KEY"] for request in serper.requests]
        assert sent == ["first", "second", "second"]
        serper.used_up.add("second")
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
        self, serper: Serper, make: Make, fault: Fault, error: type[ProviderError]
    ) -> None:
        serper.fail(fault, times=None)
        with pytest.raises(ProviderError) as caught:
            await make().search("search", deadline=Deadline.after(0.3))
        assert type(caught.value) is error
