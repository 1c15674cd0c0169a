"""Wikipedia's wire format: built answers, and the miniature web."""

from __future__ import annotations

import json
from collections.abc import AsyncIterator, Callable
from typing import Any, cast

import pytest
from hypothesis import given
from hypothesis import strategies as st
from multidict import CIMultiDict

from groundwire.deadline import Deadline
from groundwire.errors import (
    ProviderBlocked,
    ProviderError,
    ProviderTimeout,
    ProviderUnavailable,
    ProviderUnreachable,
    ProviderUnsupported,
    RateLimited,
    RequestRefused,
    UnexpectedResponse,
)
from groundwire.models import NO_FILTERS, Filters
from groundwire.providers.base import ProviderContext
from groundwire.providers.wikipedia import WikipediaSearchProvider, address, edition, parse, to_params
from groundwire.safety.guard import Guard
from groundwire.settings import Settings
from groundwire.testing.services.wikipedia import Wikipedia
from groundwire.testing.world import Fault, World
from groundwire.transport import Reply, Transport

Make = Callable[..., WikipediaSearchProvider]


def answer(body: object, status: int = 200, url: str = "https://en.wikipedia.org/w/api.php", **headers: str) -> Reply:
    data = body if isinstance(body, bytes) else json.dumps(body).encode()
    sent = CIMultiDict({"Content-Type": "application/json", **headers})
    return Reply(url, status, sent, data[:64], data)


@pytest.fixture
def wikipedia(world: World) -> Wikipedia:
    return cast("Wikipedia", world.service("wikipedia"))


@pytest.fixture
async def wire(wikipedia: Wikipedia) -> AsyncIterator[Transport]:
    transport = Transport(Guard(allow_origins=(wikipedia.url,)))
    yield transport
    await transport.aclose()


@pytest.fixture
def make(wikipedia: Wikipedia, wire: Transport) -> Make:
    def provider() -> WikipediaSearchProvider:
        return WikipediaSearchProvider(
            wire,
            base_url=wikipedia.url,
            name="wikipedia",
        )

    return provider


ROW = {
    "ns": 0,
    "title": "C sharp (language)",
    "pageid": 1,
    "snippet": 'some <span class="searchmatch">bold</span> text',
    "timestamp": "2026-11-01T08:00:00Z",
}


class TestParse:
    @pytest.mark.req("Y5")
    def test_rows_become_results(self) -> None:
        row = parse(answer({"query": {"search": [ROW]}}))[0]
        assert row.url == "https://en.wikipedia.org/wiki/C_sharp_(language)"
        assert row.snippet == ROW["snippet"]
        assert row.published is None
        assert row.published_origin == "last edited 2026-11-01T08:00:00Z"

    def test_the_edition_is_that_of_the_address_unless_it_is_given(self) -> None:
        body = {"query": {"search": [ROW]}}
        for url, language, host in (
            ("https://de.wikipedia.org/w/api.php", "", "de"),
            ("http://127.0.0.1:8080/w/api.php", "", "en"),
            ("http://127.0.0.1:8080/w/api.php", "fr", "fr"),
        ):
            assert parse(answer(body, url=url), language=language)[0].url.startswith(f"https://{host}.wikipedia.org/")

    @pytest.mark.parametrize(
        ("title", "path"),
        [
            ("A b", "A_b"),
            ("AC/DC", "AC/DC"),
            ("What?", "What%3F"),
            ('"Hello, World!" program', "%22Hello,_World!%22_program"),
            ("100% a & b", "100%25_a_%26_b"),
            ("Zürich", "Z%C3%BCrich"),
        ],
    )
    def test_titles_become_addresses(self, title: str, path: str) -> None:
        assert address(title, "en") == f"https://en.wikipedia.org/wiki/{path}"

    def test_rows_without_a_title_are_left_out(self) -> None:
        rows: list[object] = [{"ns": 0}, {"title": None}, "text", None, ROW]
        assert len(parse(answer({"query": {"search": rows}}))) == 1

    @given(
        st.recursive(
            st.none() | st.booleans() | st.floats() | st.integers() | st.text(max_size=20),
            lambda inner: (
                st.lists(inner, max_size=4)
                | st.dictionaries(
                    st.sampled_from(
                        ["query", "search", "title", "snippet", "timestamp", "error", "errors", "code", "info"]
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


CASES: list[tuple[Filters, str, dict[str, str]]] = [
    (NO_FILTERS, "en", {}),
    (Filters(language="de-AT"), "de", {}),
    (Filters(language="nb"), "no", {}),
    (Filters(language="fil"), "tl", {}),
    (Filters(language="tlh"), "en", {"language": "not_possible"}),
    (Filters(allowed_domains=("a.org", "fr.wikipedia.org")), "fr", {}),
    (Filters(allowed_domains=("evil.wikipedia.org",)), "en", {}),
    (Filters(allowed_domains=("fr.wikipedia.org.a.org",)), "en", {}),
    (Filters(language="de", allowed_domains=("fr.wikipedia.org",)), "de", {}),
]


class TestParams:
    @pytest.mark.req("B4")
    @pytest.mark.parametrize(("filters", "language", "applied"), CASES)
    def test_the_language_is_an_edition(self, filters: Filters, language: str, applied: dict[str, str]) -> None:
        assert edition(filters) == language
        mapped = to_params("words", 5, filters)
        assert mapped.applied == applied
        assert bool(mapped.warnings) == bool(applied)

    def test_pages_and_limits(self) -> None:
        assert to_params("words", 5, NO_FILTERS).values["srlimit"] == "5"
        assert "sroffset" not in to_params("words", 5, NO_FILTERS).values
        assert to_params("words", 5, Filters(page=3)).values["sroffset"] == "10"

    def test_long_queries_are_cut_and_it_is_said(self) -> None:
        mapped = to_params("longer-word " * 40, 5, NO_FILTERS)
        assert len(mapped.values["srsearch"]) <= 300
        assert "was cut to" in mapped.warnings[0]


class TestOnTheWire:
    @pytest.mark.req("Y5", "B4")
    async def test_it_finds_articles(self, wikipedia: Wikipedia, make: Make) -> None:
        found = await make().search("reciprocal rank fusion", limit=2)
        assert found[0].url == "https://en.wikipedia.org/wiki/Reciprocal_rank_fusion"
        assert "searchmatch" in found[0].snippet
        assert len(found) == 2
        assert found.cost_usd == 0
        request = wikipedia.requests[-1]
        assert request.headers["User-Agent"].startswith("groundwire/")
        assert "Authorization" not in request.headers

    async def test_the_language_is_that_of_the_results(self, make: Make) -> None:
        found = await make().search("search", filters=Filters(language="de"))
        assert all(row.url.startswith("https://de.wikipedia.org/wiki/") for row in found)

    async def test_the_edition_may_stand_in_the_address(self, wikipedia: Wikipedia, wire: Transport) -> None:
        provider = WikipediaSearchProvider(wire, base_url=f"{wikipedia.url}/{{language}}", name="wikipedia")
        with pytest.raises(RequestRefused):
            await provider.search("search", filters=Filters(language="sv"))
        assert wikipedia.requests[-1].path == "/sv/w/api.php"

    async def test_finding_nothing_is_no_error(self, make: Make) -> None:
        assert len(await make().search("xyzzy")) == 0

    @pytest.mark.req("B4")
    async def test_pages_follow_each_other(self, make: Make) -> None:
        everything = await make().search("search", limit=20)
        second = await make().search("search", limit=2, filters=Filters(page=2))
        assert [row.url for row in second] == [row.url for row in everything[2:4]]

    @pytest.mark.req("B1", "B4")
    @pytest.mark.parametrize(
        "filters",
        [
            Filters(allowed_domains=("a.org",)),
            Filters(blocked_domains=("wikipedia.org",)),
            Filters(language="de", allowed_domains=("fr.wikipedia.org",)),
        ],
    )
    async def test_domains_that_leave_nothing_are_no_false_empty(
        self, wikipedia: Wikipedia, make: Make, filters: Filters
    ) -> None:
        with pytest.raises(ProviderUnsupported):
            await make().search("search", filters=filters)
        assert not wikipedia.requests

    @pytest.mark.parametrize("domain", ["wikipedia.org", "en.wikipedia.org", "org"])
    async def test_its_own_domains_are_allowed(self, make: Make, domain: str) -> None:
        assert await make().search("search", filters=Filters(allowed_domains=(domain,)))

    @pytest.mark.req("B1")
    async def test_limits_say_when_to_ask_again(self, wikipedia: Wikipedia, make: Make) -> None:
        wikipedia.lagging = True
        with pytest.raises(RateLimited) as caught:
            await make().search("search")
        assert caught.value.retry_after == 5
        wikipedia.rate_limited = True
        with pytest.raises(RateLimited) as caught:
            await make().search("search")
        assert caught.value.retry_after == 9

    @pytest.mark.req("B1")
    async def test_a_refused_program_is_told_what_to_set(self, wikipedia: Wikipedia) -> None:
        transport = Transport(Guard(allow_origins=(wikipedia.url,)), user_agent="python-urllib3")
        with pytest.raises(ProviderBlocked, match=r"network\.user_agent"):
            await WikipediaSearchProvider(transport, base_url=wikipedia.url, name="wikipedia").search("search")
        await transport.aclose()

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
        self, wikipedia: Wikipedia, make: Make, fault: Fault, error: type[ProviderError]
    ) -> None:
        wikipedia.fail(fault, times=None)
        with pytest.raises(ProviderError) as caught:
            await make().search("search", deadline=Deadline.after(0.3))
        assert type(caught.value) is error


class Wires:
    """Where `create` gets its clients."""

    def __init__(self) -> None:
        self.api = self.pages = Transport(Guard())

    def operator(self, base_url: str) -> Transport:
        return Transport(Guard(allow_origins=(base_url,)))


@pytest.mark.req("B3")
def test_it_needs_no_key() -> None:
    provider = WikipediaSearchProvider.create(ProviderContext("wikipedia", Settings(), Wires()))
    assert provider.name == "wikipedia"
