"""Wikipedia's wire format: built answers, and the miniature web."""

from __future__ import annotations

from collections.abc import Callable
from functools import partial

import pytest

from components.exchanges import answer
from components.services import Makes, offline, request_of, results_of
from groundwire.errors import ProviderBlocked, ProviderUnsupported, RateLimited, RequestRefused
from groundwire.models import NO_FILTERS, Filters
from groundwire.providers.query_mapping import Mapped
from groundwire.providers.wikipedia import WikipediaSearchProvider, address, edition
from world.services.wikipedia import Wikipedia

parse = partial(results_of, "wikipedia")
to_params = partial(request_of, "wikipedia")

Make = Callable[..., WikipediaSearchProvider]
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
            assert (
                offline("wikipedia")
                .to_results(answer(body, url=url), Mapped({}, address={"language": language}))[0]
                .url.startswith(f"https://{host}.wikipedia.org/")
            )

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


EXCLUDED = {"allowed_domains": "excludes Wikipedia"}
CASES: list[tuple[Filters, str, dict[str, str]]] = [
    (NO_FILTERS, "en", {}),
    (Filters(language="de-AT"), "de", {}),
    (Filters(language="nb"), "no", {}),
    (Filters(language="fil"), "tl", {}),
    (Filters(language="tlh"), "en", {"language": "not_possible"}),
    (Filters(allowed_domains=("a.org", "fr.wikipedia.org")), "fr", {}),
    (Filters(allowed_domains=("evil.wikipedia.org",)), "en", EXCLUDED),
    (Filters(allowed_domains=("fr.wikipedia.org.a.org",)), "en", EXCLUDED),
    (Filters(language="de", allowed_domains=("fr.wikipedia.org",)), "de", EXCLUDED),
]


class TestParams:
    @pytest.mark.req("B4")
    @pytest.mark.parametrize(("filters", "language", "applied"), CASES)
    def test_the_language_is_an_edition(self, filters: Filters, language: str, applied: dict[str, str]) -> None:
        assert edition(filters) == language
        if "allowed_domains" in applied:
            with pytest.raises(ProviderUnsupported, match="domain filters exclude"):
                to_params("words", 5, filters)
            return
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
    async def test_it_finds_articles(self, service: Wikipedia, make: Make) -> None:
        found = await make().search("reciprocal rank fusion", limit=2)
        assert found[0].url == "https://en.wikipedia.org/wiki/Reciprocal_rank_fusion"
        assert "searchmatch" in found[0].snippet
        assert len(found) == 2
        assert found.cost_usd == 0
        request = service.requests[-1]
        assert request.headers["User-Agent"].startswith("groundwire/")
        assert "Authorization" not in request.headers

    async def test_the_language_is_that_of_the_results(self, make: Make) -> None:
        found = await make().search("search", filters=Filters(language="de"))
        assert all(row.url.startswith("https://de.wikipedia.org/wiki/") for row in found)

    async def test_the_edition_may_stand_in_the_address(self, service: Wikipedia, makes: Makes) -> None:
        provider = WikipediaSearchProvider(makes.transport(), base_url=f"{service.url}/{{language}}", name="wikipedia")
        with pytest.raises(RequestRefused):
            await provider.search("search", filters=Filters(language="sv"))
        assert service.requests[-1].path == "/sv/w/api.php"

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
        self, service: Wikipedia, make: Make, filters: Filters
    ) -> None:
        with pytest.raises(ProviderUnsupported):
            await make().search("search", filters=filters)
        assert not service.requests

    @pytest.mark.parametrize("domain", ["wikipedia.org", "en.wikipedia.org", "org"])
    async def test_its_own_domains_are_allowed(self, make: Make, domain: str) -> None:
        assert await make().search("search", filters=Filters(allowed_domains=(domain,)))

    @pytest.mark.req("B1")
    async def test_limits_say_when_to_ask_again(self, service: Wikipedia, make: Make) -> None:
        service.lagging = True
        with pytest.raises(RateLimited) as caught:
            await make().search("search")
        assert caught.value.retry_after == 5
        service.rate_limited = True
        with pytest.raises(RateLimited) as caught:
            await make().search("search")
        assert caught.value.retry_after == 9

    @pytest.mark.req("B1")
    async def test_a_refused_program_is_told_what_to_set(self, service: Wikipedia, makes: Makes) -> None:
        transport = makes.transport("python-urllib3")
        with pytest.raises(ProviderBlocked, match=r"network\.user_agent"):
            await WikipediaSearchProvider(transport, base_url=service.url, name="wikipedia").search("search")
