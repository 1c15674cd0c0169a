"""SearXNG's wire format: recorded answers, built answers, and the miniature web."""

from __future__ import annotations

import json
from collections.abc import Mapping
from functools import partial
from typing import Any

import pytest
from hypothesis import given
from hypothesis import strategies as st

from components.services import request_of, results_of
from groundwire.deadline import Deadline
from groundwire.errors import (
    AuthenticationFailed,
    ConfigurationError,
    NotConfigured,
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
from groundwire.models import Filters, Results
from groundwire.providers.searxng import SearXngOptions, SearXngSearchProvider, neutralize
from groundwire.safety.guard import Guard
from groundwire.settings import Settings
from groundwire.testing import InjectedFault
from groundwire.transport import Response, Transport
from groundwire.web import Web
from world import World
from world.bombs import bomb_fault

parse = partial(results_of, "searxng")


def answer(body: object, status: int = 200, content_type: str = "application/json", **headers: str) -> Response:
    data = body if isinstance(body, bytes) else json.dumps(body).encode()
    return Response("http://searx.example/search", status, {"Content-Type": content_type, **headers}, data[:64], data)


OK_ROW = {"url": "https://a.example/x", "title": "A", "content": "c", "engine": "bing", "engines": ["bing", "mojeek"]}

FAILURES: list[tuple[str, Response, type[ProviderError]]] = [
    ("limiter", answer(b"Too Many Requests", 429, "text/html"), RateLimited),
    ("bad request", answer({"error": "No query"}, 400), RequestRefused),
    ("proxy wants a key", answer(b"", 401, "text/html"), AuthenticationFailed),
    ("server error", answer({"error": "search error"}, 500), ProviderUnavailable),
    ("bad gateway", answer(b"<html>", 502, "text/html"), ProviderUnavailable),
    ("redirect", answer(b"", 302, "text/html", Location="https://elsewhere.example/"), UnexpectedResponse),
    ("a web page", answer(b"<html>", 200, "text/html"), UnexpectedResponse),
    ("broken JSON", answer(b'{"results": [', 200), UnexpectedResponse),
    ("another JSON", answer({"hits": []}), UnexpectedResponse),
    ("a list", answer([1, 2]), UnexpectedResponse),
    ("deep JSON", answer(b"[" * 100_000, 200), UnexpectedResponse),
    ("not found", answer(b"", 404, "text/html"), UnexpectedResponse),
    (
        "every engine failed",
        answer({"results": [], "unresponsive_engines": [["google", "Suspended: CAPTCHA"], ["brave", "timeout"]]}),
        ProviderUnavailable,
    ),
]


class TestParse:
    @pytest.mark.req("B1", "S4")
    @pytest.mark.parametrize(("reply", "error"), [case[1:] for case in FAILURES], ids=[case[0] for case in FAILURES])
    def test_each_failure_is_its_own_error(self, reply: Response, error: type[ProviderError]) -> None:
        with pytest.raises(error) as caught:
            parse(reply)
        assert type(caught.value) is error
        assert caught.value.status == reply.status

    def test_a_refusal_says_when_to_ask_again(self) -> None:
        with pytest.raises(RateLimited) as caught:
            parse(answer(b"", 429, "text/html", **{"Retry-After": "17"}))
        assert caught.value.retry_after == 17

    def test_failed_engines_are_named(self) -> None:
        with pytest.raises(ProviderUnavailable, match=r"google \(Suspended: CAPTCHA\), brave \(timeout\)"):
            parse(FAILURES[-1][1])

    def test_some_failed_engines_make_it_partial(self) -> None:
        found = parse(answer({"results": [OK_ROW], "unresponsive_engines": [["google", "timeout"]]}))
        assert found.partial
        assert found.warnings == ("searxng: some engines failed: google (timeout)",)

    def test_a_clean_empty_answer_is_no_error(self) -> None:
        assert parse(answer({"results": [], "unresponsive_engines": []})) == Results(status=200)

    def test_rows_without_an_address_are_left_out(self) -> None:
        found = parse(answer({"results": [{"url": None, "title": ""}, OK_ROW, "text", None]}))
        assert [row.url for row in found] == ["https://a.example/x"]
        assert found[0].source == "searxng (bing, mojeek)"

    @given(
        st.recursive(
            st.none() | st.booleans() | st.floats() | st.integers() | st.text(max_size=20),
            lambda inner: (
                st.lists(inner, max_size=4)
                | st.dictionaries(
                    st.sampled_from(["results", "url", "title", "content", "engines", "unresponsive_engines", "score"]),
                    inner,
                    max_size=4,
                )
            ),
            max_leaves=20,
        )
    )
    def test_any_json_gives_results_or_a_provider_error(self, body: Any) -> None:
        try:
            found = parse(answer(json.dumps(body).encode()))
        except ProviderError:
            return
        assert all(row.url for row in found)

    @given(st.binary(max_size=200), st.integers(100, 599), st.sampled_from(["application/json", "text/html", ""]))
    def test_any_bytes_give_results_or_a_provider_error(self, body: bytes, status: int, kind: str) -> None:
        try:
            parse(answer(body, status, kind))
        except ProviderError:
            return


class TestParams:
    def test_filters_are_mapped(self) -> None:
        filters = Filters(time_range="w", language="de", region="at", safesearch="strict", allowed_domains=("a.org",))
        mapped = request_of("searxng", "words", 5, filters, SearXngOptions(engines=("bing", "brave")))
        assert mapped.values == {
            "q": "words site:a.org",
            "format": "json",
            "pageno": "1",
            "safesearch": "2",
            "engines": "bing,brave",
            "time_range": "week",
            "language": "de-AT",
        }
        assert mapped.warnings == []
        assert request_of("searxng", "words", 5, Filters()).values["categories"] == "general"

    @pytest.mark.parametrize("page", [1, 2, 10])
    def test_the_page_that_is_wanted_is_asked_for(self, page: int) -> None:
        assert request_of("searxng", "words", 5, Filters(page=page)).values["pageno"] == str(page)

    @pytest.mark.parametrize(
        ("query", "expected"),
        [
            ("!!w x", "w x"),
            ("!general cats", "general cats"),
            (":fr cats", "fr cats"),
            ("<3 cats", "3 cats"),
            ("?cats", "cats"),
            ("cats !images", "cats images"),
            ("css !important rule", "css important rule"),
            ("a < b", "a < b"),
            ("C!! and D:E", "C!! and D:E"),
            ("cats !!", "cats"),
            ("!!", '"!!"'),
            ("!! !!", '"!!!!"'),
        ],
    )
    def test_commands_are_neutralized(self, query: str, expected: str) -> None:
        assert neutralize(query) == expected

    @given(st.text(alphabet="!:<?ab 3", max_size=20))
    def test_no_word_starts_with_a_command(self, query: str) -> None:
        for word in neutralize(query).split():
            assert word != "!!"
            assert word[0] not in "!:<?" or not word.strip("!:<?"), word


def provider(base_url: str) -> tuple[SearXngSearchProvider, Transport]:
    transport = Transport(Guard(allowed_origins=(base_url,)))
    return SearXngSearchProvider(transport, base_url=base_url, name="searxng"), transport


class TestOnTheWire:
    @pytest.mark.req("Y1", "S2", "B4")
    async def test_it_finds_pages(self, world: World) -> None:
        searxng, transport = provider(world.searxng.url)
        found = await searxng.search("reciprocal rank fusion", limit=3)
        await transport.aclose()
        assert found[0].title == "Reciprocal rank fusion"
        request = world.searxng.requests[-1]
        assert request.query["format"] == "json"
        assert request.headers["Accept"].startswith("application/json, text/html")
        assert request.headers["Accept-Language"]
        assert request.headers["Accept-Encoding"]
        assert request.headers["User-Agent"].startswith("groundwire/")

    async def test_pages_have_rows_of_their_own(self, world: World) -> None:
        searxng, transport = provider(world.searxng.url)
        pages = [await searxng.search("page", filters=Filters(page=number)) for number in (1, 2)]
        await transport.aclose()
        first, second = ({row.url for row in page} for page in pages)
        assert first
        assert second
        assert not first & second

    @pytest.mark.parametrize(
        ("fault", "error"),
        [
            (InjectedFault.status(429), RateLimited),
            (InjectedFault.status(403), ProviderBlocked),
            (InjectedFault.status(500), ProviderUnavailable),
            (InjectedFault.reset(), ProviderUnreachable),
            (InjectedFault.close(), ProviderUnreachable),
            (InjectedFault.truncated(), ProviderUnreachable),
            (InjectedFault.wrong_json(), UnexpectedResponse),
            (InjectedFault.html_for_json(), UnexpectedResponse),
            (InjectedFault.redirect("http://169.254.169.254/"), UnexpectedResponse),
            (InjectedFault.hang(), ProviderTimeout),
            (bomb_fault("gzip", mb=50), UnexpectedResponse),
        ],
        ids=lambda value: value.__name__ if isinstance(value, type) else "",
    )
    @pytest.mark.req("B1")
    async def test_each_fault_has_its_outcome(
        self, world: World, fault: InjectedFault, error: type[ProviderError]
    ) -> None:
        world.searxng.fail(fault, times=None)
        searxng, transport = provider(world.searxng.url)
        with pytest.raises(ProviderError) as caught:
            await searxng.search("x", deadline=Deadline.after(0.5 if error is ProviderTimeout else 60))
        await transport.aclose()
        assert type(caught.value) is error

    async def test_an_instance_without_json_is_told_from_one_that_refuses(self, world: World) -> None:
        world.searxng.json_enabled = False
        searxng, transport = provider(world.searxng.url)
        with pytest.raises(ProviderUnsupported, match=r"Add json to search\.formats"):
            await searxng.search("x")
        await transport.aclose()

    async def test_its_limiter_lets_us_pass(self, world: World) -> None:
        world.searxng.limiter = True
        searxng, transport = provider(world.searxng.url)
        assert await searxng.search("wikipedia")
        await transport.aclose()

    async def test_a_bang_does_not_send_us_elsewhere(self, world: World) -> None:
        searxng, transport = provider(world.searxng.url)
        assert await searxng.search("!!w wikipedia")
        await transport.aclose()

    @pytest.mark.req("S2", "Y7")
    async def test_a_key_goes_out_as_bearer_and_stays_out_of_sight(self, world: World) -> None:
        settings = Settings.model_validate(
            {
                "search": {"providers": ("searxng",)},
                "providers": {"searxng": {"base_url": world.searxng.url}},
                "keys": {"SEARXNG_API_KEY": "canary-key"},
            }
        )
        async with Web(settings) as web:
            response = await web.search("wikipedia")
        assert world.searxng.requests[-1].headers["Authorization"] == "Bearer canary-key"
        assert "canary-key" not in repr(settings) + repr(response) + repr(web.__dict__) + str(settings.rows())


class TestCreate:
    def make(self, options: Mapping[str, Any]) -> Web:
        return Web(Settings.model_validate({"search": {"providers": ("searxng",)}, "providers": {"searxng": options}}))

    def test_without_an_address_it_says_what_to_set(self) -> None:
        with pytest.raises(ConfigurationError, match=r"set providers\.searxng\.base_url"):
            self.make({})
        assert issubclass(NotConfigured, ConfigurationError)

    @pytest.mark.parametrize("url", ["searx.example", "ftp://searx.example", "http://", "http://a b/", "http://u:p@h/"])
    def test_a_wrong_address_is_named(self, url: str) -> None:
        with pytest.raises(ConfigurationError, match=r"providers\.searxng\.base_url"):
            self.make({"base_url": url})

    def test_a_typo_in_an_option_names_the_right_one(self) -> None:
        with pytest.raises(ConfigurationError, match="did you mean 'base_url'"):
            self.make({"base_ur": "http://127.0.0.1:1"})

    @pytest.mark.req("B3")
    @pytest.mark.parametrize("url", ["http://127.0.0.1:8888", "http://searxng:8080/", "http://localhost:8888/searxng/"])
    async def test_the_instance_may_be_private(self, url: str) -> None:
        async with self.make({"base_url": url}) as web:
            assert web.skipped == ()


@pytest.mark.parametrize("end", ["/search?q=<query>", "/search?q=%s&format=json", "/?q=<query>", "/search/", "/"])
async def test_the_address_of_its_search_page_is_that_of_the_instance(world: World, end: str) -> None:
    settings = Settings.model_validate(
        {
            "search": {"providers": ("searxng",)},
            "policy": {"allowed_origins": world.origins},
            "providers": {"searxng": {"base_url": world.searxng.url + end}},
        }
    )
    async with Web(settings) as web:
        assert (await web.search("bm25")).results
    [request] = world.searxng.requests
    assert request.path == "/search"
    assert request.target.count("q=") == 1


def test_another_query_in_its_address_is_refused_with_the_right_value() -> None:
    settings = Settings.model_validate(
        {
            "search": {"providers": ("searxng",)},
            "providers": {"searxng": {"base_url": "http://127.0.0.1:1/x/search?token=1"}},
        }
    )
    with pytest.raises(ConfigurationError, match=r"providers\.searxng\.base_url.* such as http://127\.0\.0\.1:1/x"):
        Web(settings)
