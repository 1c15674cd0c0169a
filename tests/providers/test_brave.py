"""Brave's wire format: recorded answers, built answers, and the miniature web."""

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
    MissingKey,
    ProviderError,
    ProviderTimeout,
    ProviderUnavailable,
    ProviderUnreachable,
    ProviderUnsupported,
    QuotaExceeded,
    RateLimited,
    RequestRefused,
    UnexpectedResponse,
)
from groundwire.models import NO_FILTERS, Applied, Filters
from groundwire.providers.base import ProviderContext
from groundwire.providers.brave import BraveOptions, BraveSearchProvider, parse, to_params
from groundwire.providers.keys import Keys
from groundwire.providers.prices import load_prices
from groundwire.routing.normalise import plain
from groundwire.safety.guard import Guard
from groundwire.settings import Settings
from groundwire.testing.services.brave import Brave
from groundwire.testing.world import Fault, World
from groundwire.transport import Reply, Transport

Make = Callable[..., BraveSearchProvider]
TODAY = date(2026, 11, 20)


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
def brave(world: World) -> Brave:
    return cast("Brave", world.service("brave"))


@pytest.fixture
async def wire(brave: Brave) -> AsyncIterator[Transport]:
    transport = Transport(Guard(allow_origins=(brave.url,)))
    yield transport
    await transport.aclose()


@pytest.fixture
def make(brave: Brave, wire: Transport) -> Make:
    def provider(*keys: str, **options: Any) -> BraveSearchProvider:
        return BraveSearchProvider(
            wire,
            keys=Keys("brave", [SecretStr(key) for key in keys or ("test-key",)]),
            base_url=brave.url,
            prices=load_prices()["brave"],
            name="brave",
            options=BraveOptions(**options),
        )

    return provider


class TestRecordings:
    @pytest.mark.req("Y5")
    def test_every_recording_reads_as_expected(self, recordings: Path) -> None:
        expected = json.loads((recordings / "expected.json").read_text())
        seen = 0
        for path in sorted((recordings / "brave").glob("*.json")):
            response = json.loads(path.read_text())["response"]
            want = expected[f"brave/{path.name}"]
            reply = answer(response["body"], response["status"], **response["headers"])
            seen += 1
            if not want["ok"]:
                with pytest.raises(ProviderError) as caught:
                    parse(reply)
                assert type(caught.value) is (AuthenticationFailed if response["status"] == 422 else RateLimited)
                continue
            rows = parse(reply)
            assert [(row.url, plain(row.title, 10**6), plain(row.snippet, 10**6)) for row in rows] == [
                (row["url"], plain(row["title"], 10**6), plain(row["snippet"], 10**6)) for row in want["results"]
            ], path.name
            assert any(row.published for row in rows)
        assert seen >= 7

    @pytest.mark.parametrize("kind", ["web", "news"])
    async def test_the_emulator_answers_in_the_recorded_shape(
        self, recordings: Path, brave: Brave, wire: Transport, kind: str
    ) -> None:
        paths = sorted((recordings / "brave").glob(f"{kind}_search__*.json"))
        recorded = [json.loads(path.read_text())["response"]["body"] for path in paths]
        assert recorded
        ours = await wire.call(
            "brave",
            "GET",
            f"{brave.url}/res/v1/{kind}/search",
            params={"q": "search engines"},
            headers={"X-Subscription-Token": "test-key"},
            deadline=Deadline.after(2),
        )
        assert missing(recorded, ours.json()) == []
        assert len(ours.headers["X-RateLimit-Remaining"].split(", ")) == 2

    async def test_the_emulator_refuses_in_the_recorded_shape(
        self, recordings: Path, brave: Brave, wire: Transport
    ) -> None:
        for name, key in (("error_422__01", "wrong"), ("error_429__01", "test-key")):
            recorded = json.loads((recordings / "brave" / f"{name}.json").read_text())["response"]
            brave.rate_limited = True
            ours = await wire.call(
                "brave",
                "GET",
                f"{brave.url}/res/v1/web/search",
                headers={"X-Subscription-Token": key},
                deadline=Deadline.after(2),
            )
            assert ours.status == recorded["status"]
            assert missing([recorded["body"]], ours.json()) == []


ROW = {"title": "A", "url": "https://a.example/x", "description": "d"}


class TestParse:
    def test_dates_are_passed_as_they_came_or_in_its_words(self) -> None:
        dated, worded = ROW | {"page_age": "2026-11-01T08:00:00", "age": "2 days ago"}, ROW | {"age": "2 days ago"}
        rows = parse(answer({"query": {}, "web": {"results": [dated, worded]}}))
        assert [(row.published, row.published_origin) for row in rows] == [
            ("2026-11-01T08:00:00", ""),
            (None, "2 days ago"),
        ]

    def test_further_passages_are_added_when_wanted(self) -> None:
        reply = answer({"query": {}, "web": {"results": [ROW | {"extra_snippets": ["e1", None, "e2"]}]}})
        assert parse(reply)[0].snippet == "d"
        assert parse(reply, extra_snippets=True)[0].snippet == "d e1 e2"

    def test_a_corrected_query_is_said(self) -> None:
        found = parse(answer({"query": {"original": "wether", "altered": "weather"}, "web": {"results": [ROW]}}))
        assert found.warnings == ("brave: it searched for 'weather' instead",)

    def test_rows_without_an_address_are_left_out(self) -> None:
        rows: list[object] = [{"title": "x"}, {"url": None}, "text", None, ROW]
        assert [row.url for row in parse(answer({"query": {}, "web": {"results": rows}}))] == ["https://a.example/x"]

    @given(
        st.recursive(
            st.none() | st.booleans() | st.floats() | st.integers() | st.text(max_size=20),
            lambda inner: (
                st.lists(inner, max_size=4)
                | st.dictionaries(
                    st.sampled_from(
                        [
                            "type",
                            "query",
                            "web",
                            "mixed",
                            "main",
                            "results",
                            "url",
                            "title",
                            "page_age",
                            "error",
                            "code",
                            "meta",
                        ]
                    ),
                    inner,
                    max_size=5,
                )
            ),
            max_leaves=20,
        ),
        st.sampled_from([200, 400, 422, 429, 500]),
    )
    def test_any_json_gives_results_or_a_provider_error(self, body: Any, status: int) -> None:
        try:
            found = parse(answer(body, status), extra_snippets=True)
        except ProviderError:
            return
        assert all(row.url for row in found)

    @given(
        st.binary(max_size=200),
        st.integers(100, 599),
        st.dictionaries(
            st.sampled_from(["Retry-After", "X-RateLimit-Limit", "X-RateLimit-Remaining", "X-RateLimit-Reset"]),
            st.text("0123456789, -x", max_size=12),
        ),
    )
    def test_any_bytes_give_results_or_a_provider_error(
        self, body: bytes, status: int, headers: dict[str, str]
    ) -> None:
        again: float | None = None
        try:
            parse(answer(body, status, **headers))
        except ProviderError as error:
            again = error.retry_after
        assert again is None or again >= 0


CASES: list[tuple[Filters, dict[str, str], dict[str, Applied]]] = [
    (NO_FILTERS, {"safesearch": "moderate"}, {}),
    (Filters(time_range="w"), {"freshness": "pw"}, {}),
    (Filters(published_after=date(2026, 1, 2)), {"freshness": "2026-01-02to2026-11-20"}, {}),
    (Filters(published_before=date(2026, 1, 2)), {"freshness": "1970-01-01to2026-01-02"}, {}),
    (Filters(published_after=date(2026, 12, 24)), {"freshness": "2026-12-24to2026-12-24"}, {}),
    (Filters(published_after=date(2026, 1, 2), time_range="w"), {"freshness": "2026-11-13to2026-11-20"}, {}),
    (
        Filters(published_before=date(2026, 1, 2), time_range="w"),
        {"freshness": "1970-01-01to2026-01-02"},
        {"time_range": "post_filter"},
    ),
    (Filters(page=3), {"offset": "2"}, {}),
    (Filters(region="at"), {"country": "AT"}, {}),
    (Filters(region="gr"), {}, {"region": "not_possible"}),
    (Filters(language="de-AT"), {"search_lang": "de"}, {}),
    (Filters(language="ja"), {"search_lang": "jp"}, {}),
    (Filters(language="pt", region="br"), {"search_lang": "pt-br", "country": "BR"}, {}),
    (Filters(language="pt"), {"search_lang": "pt-pt"}, {}),
    (Filters(language="zh-Hant-HK"), {"search_lang": "zh-hant"}, {}),
    (Filters(language="zh"), {"search_lang": "zh-hans"}, {}),
    (Filters(language="tlh"), {}, {"language": "not_possible"}),
    (Filters(safesearch="strict"), {"safesearch": "strict"}, {}),
    (Filters(allowed_domains=("a.org",)), {"q": "words site:a.org"}, {}),
    (Filters(allowed_domains=("a.org", "b.org")), {"q": "words (site:a.org OR site:b.org)"}, {}),
    (Filters(blocked_domains=("a.org",)), {"q": "words -site:a.org"}, {}),
    (
        Filters(allowed_domains=tuple(f"{n}.org" for n in range(6)), blocked_domains=("x.0.org",)),
        {
            "q": "words",
            "goggles": "$discard\n$site=0.org\n$site=1.org\n$site=2.org\n$site=3.org\n$site=4.org\n$site=5.org\n"
            "$discard,site=x.0.org",
        },
        {"allowed_domains": "native", "blocked_domains": "native"},
    ),
    (
        Filters(blocked_domains=tuple(f"{n}.org" for n in range(500))),
        {"q": "words"},
        {"blocked_domains": "post_filter"},
    ),
]


class TestParams:
    @pytest.mark.req("B4")
    @pytest.mark.parametrize(("filters", "values", "applied"), CASES)
    def test_filters_are_mapped(self, filters: Filters, values: dict[str, str], applied: dict[str, Applied]) -> None:
        mapped = to_params("words", 5, filters, today=TODAY)
        base = {
            "q": "words",
            "count": "5",
            "safesearch": "moderate",
            "text_decorations": "false",
            "result_filter": "web",
        }
        assert mapped.values == base | values
        assert mapped.applied == applied
        assert bool(mapped.warnings) == ("post_filter" in applied.values() and "time_range" not in applied)

    def test_the_limit_is_that_of_the_kind(self) -> None:
        assert to_params("words", 50, NO_FILTERS).values["count"] == "20"
        news = to_params("words", 50, NO_FILTERS, BraveOptions(kind="news", extra_snippets=True)).values
        assert news == {"q": "words", "count": "50", "safesearch": "moderate", "extra_snippets": "true"}

    def test_long_queries_are_cut_and_it_is_said(self) -> None:
        for query in ("w " * 60, "longer-word " * 40):
            mapped = to_params(query.strip(), 5, NO_FILTERS)
            assert len(mapped.values["q"]) <= 400
            assert len(mapped.values["q"].split()) <= 50
            assert "was cut to" in mapped.warnings[0]

    def test_domains_that_would_make_the_query_too_long_go_as_a_goggle(self) -> None:
        mapped = to_params("w " * 49 + "w", 5, Filters(allowed_domains=("a.org", "b.org")))
        assert len(mapped.values["q"].split()) == 50
        assert mapped.values["goggles"] == "$discard\n$site=a.org\n$site=b.org"


class TestOnTheWire:
    @pytest.mark.req("Y5", "B4")
    async def test_it_finds_pages(self, brave: Brave, make: Make) -> None:
        found = await make().search("reciprocal rank fusion", limit=2)
        assert found[0].title == "Reciprocal rank fusion"
        assert len(found) == 2
        assert found.cost_usd == pytest.approx(0.005)
        request = brave.requests[-1]
        assert request.path == "/res/v1/web/search"
        assert request.query["count"] == "2"

    async def test_it_finds_news(self, brave: Brave, make: Make) -> None:
        found = await make(kind="news").search("reciprocal rank fusion")
        assert found[0].title == "Reciprocal rank fusion"
        assert brave.requests[-1].path == "/res/v1/news/search"

    async def test_finding_nothing_is_no_error(self, make: Make) -> None:
        assert len(await make().search("xyzzy")) == 0

    @pytest.mark.req("B4")
    async def test_filters_hold(self, brave: Brave, make: Make, world: World) -> None:
        provider = make()
        host = world.site("articles").host
        everything = await provider.search("search", limit=20)
        here = await provider.search("search", limit=20, filters=Filters(allowed_domains=(host,)))
        others = tuple(f"{number}.example" for number in range(9))
        by_goggle = await provider.search("search", limit=20, filters=Filters(allowed_domains=(*others, host)))
        elsewhere = await provider.search("search", limit=20, filters=Filters(blocked_domains=(*others, host)))
        assert "goggles" in brave.requests[-1].query
        assert [row.url for row in here] == [row.url for row in by_goggle]
        assert {row.url for row in here} | {row.url for row in elsewhere} == {row.url for row in everything}
        assert here
        assert elsewhere
        assert by_goggle.applied == {"allowed_domains": "native"}
        middle = world.library.search("search")[1].published
        late = await provider.search("search", limit=20, filters=Filters(published_after=middle))
        early = await provider.search("search", limit=20, filters=Filters(published_before=middle))
        assert all((row.published or "")[:10] >= middle.isoformat() for row in late)
        assert {row.url for row in late} | {row.url for row in early} == {row.url for row in everything}
        second = await provider.search("search", limit=2, filters=Filters(page=2))
        assert [row.url for row in second] == [row.url for row in everything[2:4]]

    @pytest.mark.req("B1")
    async def test_a_wrong_parameter_is_a_refused_request(self, make: Make) -> None:
        with pytest.raises(RequestRefused):
            await make().search("search", filters=Filters(page=1, safesearch=cast("Any", "sometimes")))

    @pytest.mark.req("B1")
    async def test_what_the_plan_lacks_is_said(self, brave: Brave, make: Make) -> None:
        provider = make(extra_snippets=True)
        with pytest.raises(ProviderUnsupported, match="extra_snippets"):
            await provider.search("search")
        brave.extra_snippets = True
        assert "Also: " in (await provider.search("search"))[0].snippet

    @pytest.mark.req("B1", "Y7")
    async def test_a_wrong_key_is_an_error_that_does_not_show_it(self, brave: Brave, make: Make) -> None:
        provider = make("canary-key")
        with pytest.raises(AuthenticationFailed) as caught:
            await provider.search("search")
        assert brave.requests[-1].headers["X-Subscription-Token"] == "canary-key"
        assert "canary-key" not in brave.requests[-1].target
        assert "canary-key" not in f"{caught.value}{caught.value!r}{vars(caught.value)}{vars(provider)}"
        brave.keys.add("canary-key")
        fresh = make("canary-key")
        assert "canary-key" not in repr(await fresh.search("search")) + repr(vars(fresh))

    @pytest.mark.req("B16")
    async def test_the_next_key_takes_over_when_a_quota_is_used_up(self, brave: Brave, make: Make) -> None:
        brave.keys, brave.used_up = {"first", "second"}, {"first"}
        provider = make("first", "second")
        assert await provider.search("search")
        assert await provider.search("search")
        assert [request.headers["X-Subscription-Token"] for request in brave.requests] == ["first", "second", "second"]

    @pytest.mark.req("B1", "B16")
    async def test_a_used_up_quota_says_when_the_month_begins_anew(self, brave: Brave, make: Make) -> None:
        brave.used_up = {"test-key"}
        with pytest.raises(QuotaExceeded) as caught:
            await make().search("search")
        assert caught.value.retry_after == 1_419_704

    @pytest.mark.req("B1")
    async def test_a_rate_limit_says_when_to_ask_again(self, brave: Brave, make: Make) -> None:
        brave.rate_limited = True
        with pytest.raises(RateLimited) as caught:
            await make().search("search")
        assert caught.value.retry_after == 1
        brave.quota = 0  # a plan without a monthly limit has nothing left of it, either
        with pytest.raises(RateLimited):
            await make().search("search")
        brave.rate_limited = False
        brave.fail(Fault.status(429, "{}", headers={"Retry-After": "7"}))
        with pytest.raises(RateLimited) as caught:
            await make().search("search")
        assert caught.value.retry_after == 7

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
        self, brave: Brave, make: Make, fault: Fault, error: type[ProviderError]
    ) -> None:
        brave.fail(fault, times=None)
        with pytest.raises(ProviderError) as caught:
            await make().search("search", deadline=Deadline.after(0.3))
        assert type(caught.value) is error


class Wires:
    """Where `create` gets its clients."""

    def __init__(self) -> None:
        self.api = self.pages = Transport(Guard())

    def operator(self, base_url: str) -> Transport:
        return Transport(Guard(allow_origins=(base_url,)))


class TestCreate:
    @pytest.mark.req("B3")
    def test_without_a_key_it_names_the_variable(self) -> None:
        with pytest.raises(MissingKey, match="BRAVE_API_KEY"):
            BraveSearchProvider.create(ProviderContext("brave", Settings(), Wires()))

    @pytest.mark.parametrize("variable", BraveSearchProvider.key_variables)
    def test_either_variable_may_hold_keys(self, variable: str) -> None:
        settings = Settings.model_validate({"keys": {variable: "canary-one,canary-two"}})
        provider = BraveSearchProvider.create(ProviderContext("brave", settings, Wires(), {"kind": "news"}))
        assert "Keys('brave', 2 keys" in repr(vars(provider))
        assert "canary" not in repr(vars(provider))
