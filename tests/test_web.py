"""The one object, on the miniature web: the whole path and every refusal."""

from __future__ import annotations

import asyncio
import socket
from collections.abc import Callable
from pathlib import Path
from typing import Any

import pytest
from pydantic import BaseModel

from groundwire import (
    AllProvidersFailed,
    BlockedByPolicy,
    BudgetExceeded,
    ConfigurationError,
    DeadlineExceeded,
    GroundwireError,
    InvalidRequest,
    PageError,
    ReadResult,
    SearchResult,
    Settings,
    Web,
)
from groundwire.deadline import Deadline
from groundwire.errors import (
    BlockedAddress,
    BlockedDomain,
    Closed,
    PageEmpty,
    PageNotFound,
    PageRefused,
    PageTooLarge,
    PageUnavailable,
    TooManyRedirects,
    UnknownProvider,
    UnsupportedContent,
)
from groundwire.models import NO_FILTERS, Filters
from groundwire.providers import Capabilities, ReadProvider, SearchProvider
from groundwire.routing import shared_health
from groundwire.testing import InjectedFault
from world import World, wire_faults
from world.bombs import bomb_fault

Make = Callable[..., Settings]


@pytest.mark.req("Y1", "Y2", "Y11")
async def test_search_then_open(world: World, settings: Make) -> None:
    async with Web(settings()) as web:
        found = await web.search("reciprocal rank fusion", limit=3)
        page = await web.open_page(found.results[0].url, max_length=1000)
    assert [row.citation_id for row in found.results] == [1, 2, 3]
    assert [(source.citation_id, source.url) for source in found.sources] == [
        (row.citation_id, row.url) for row in found.results
    ]
    assert found.provider == "searxng"
    assert found.attempts[0].outcome == "ok"
    assert page.title == "Reciprocal rank fusion"
    assert "sum" in page.content or "list" in page.content
    assert page.truncated
    assert page.content_length == len(page.content) <= 1000
    assert page.original_length is not None
    assert page.original_length > 1000
    assert (page.status, page.reader, page.content_type) == ("success", "local", "text/html")


async def test_no_results_is_no_failure(settings: Make) -> None:
    async with Web(settings()) as web:
        found = await web.search("qqqqzzzz")
    assert found.results == ()
    assert found.attempts[0].outcome == "empty"


@pytest.mark.req("H2")
async def test_the_second_provider_answers_when_the_first_is_limited(world: World, settings: Make) -> None:
    world.searxng.fail(InjectedFault.status(429, headers={"Retry-After": "7"}))
    backup = world.add_searxng("backup")
    chain = {"search": {"providers": ("searxng", "searxng:backup")}}
    providers = {"searxng": {"base_url": world.searxng.url}, "searxng:backup": {"base_url": backup.url}}
    async with Web(settings(**chain, providers=providers)) as web:
        found = await web.search("bm25")
    assert found.provider == "searxng:backup"
    assert [attempt.outcome for attempt in found.attempts] == ["rate_limited", "ok"]
    assert found.attempts[0].retry_after == 7


async def test_all_down_is_a_failure_with_every_cause(world: World, settings: Make) -> None:
    world.searxng.fail(InjectedFault.reset(), times=None)
    async with Web(settings()) as web:
        with pytest.raises(AllProvidersFailed, match="searxng network") as caught:
            await web.search("bm25")
    assert {attempt.provider for attempt in caught.value.attempts} == {"searxng"}


class TestBadInput:
    @pytest.mark.parametrize(
        ("arguments", "field"),
        [
            ({"query": ""}, "query"),
            ({"query": " \n\t "}, "query"),
            ({"query": "x" * 2_001}, "query"),
            ({"query": None}, "query"),
            ({"query": "x", "limit": 0}, "limit"),
            ({"query": "x", "limit": 10_000}, "limit"),
            ({"query": "x", "limit": "5"}, "limit"),
            ({"query": "x", "limit": True}, "limit"),
            ({"query": "x", "time_range": "decade"}, "time_range"),
            ({"query": "x", "allowed_domains": ["https://wikipedia.org/"]}, "allowed_domains"),
            ({"query": "x", "blocked_domains": [""]}, "blocked_domains"),
            ({"query": "x", "language": "english"}, "language"),
            ({"query": "x", "region": "usa"}, "region"),
            ({"query": "x", "safesearch": "none"}, "safesearch"),
            ({"query": "x", "timeout": 0}, "timeout"),
            ({"query": "x", "timeout": float("nan")}, "timeout"),
        ],
    )
    async def test_a_search_names_field_problem_and_fix(
        self, settings: Make, world: World, arguments: dict[str, Any], field: str
    ) -> None:
        async with Web(settings()) as web:
            with pytest.raises(InvalidRequest) as caught:
                await web.search(**arguments)
        assert caught.value.field == field
        assert str(caught.value).startswith(f"{field}: ")
        assert caught.value.problem
        assert caught.value.fix
        assert world.searxng.requests == []

    @pytest.mark.parametrize(
        "url",
        ["", "   ", "example.com/page", "file:///etc/passwd", "ftp://example.com/", "https://exa mple.com/", "https://",
         "https://example.com/" + "x" * 10_000, "javascript:alert(1)", "https://user:pw@example.com/", "\x00", "http://[::1"],
    )  # fmt: skip
    async def test_a_bad_url_is_named(self, settings: Make, url: str) -> None:
        async with Web(settings()) as web:
            with pytest.raises((InvalidRequest, BlockedByPolicy)) as caught:
                await web.open_page(url)
        assert len(str(caught.value)) > 20

    @pytest.mark.parametrize("max_length", [0, -1, 10**9, "many", 1.5])
    async def test_a_bad_length_is_named(self, settings: Make, world: World, max_length: Any) -> None:
        async with Web(settings()) as web:
            with pytest.raises(InvalidRequest, match="max_length"):
                await web.open_page(world.site("articles").url, max_length=max_length)

    async def test_a_url_that_is_no_text(self, settings: Make) -> None:
        async with Web(settings()) as web:
            with pytest.raises(InvalidRequest, match="url: must be text"):
                await web.open_page(42)  # type: ignore[arg-type]


class TestPages:
    async def fails(self, settings: Make, url: str, error: type[GroundwireError], **arguments: Any) -> str:
        async with Web(settings()) as web:
            with pytest.raises(GroundwireError) as caught:
                await web.open_page(url, **arguments)
        assert type(caught.value) is error, repr(caught.value)
        text = str(caught.value)
        assert text.endswith((".", "!"))
        return text

    @pytest.mark.req("Y15")
    @pytest.mark.parametrize(
        ("page", "error", "says"),
        [
            ("nothing", PageEmpty, "204"),
            ("empty", PageEmpty, "empty"),
            ("image", UnsupportedContent, "is an image"),
            ("mislabelled-image", UnsupportedContent, "is an image"),
            ("video", UnsupportedContent, "video"),
        ],
    )
    async def test_what_cannot_be_read_is_named(
        self, world: World, settings: Make, page: str, error: type[GroundwireError], says: str
    ) -> None:
        assert says in await self.fails(settings, world.site("app").page(page), error)

    @pytest.mark.parametrize(
        ("fault", "error"),
        [
            (InjectedFault.status(404), PageNotFound),
            (InjectedFault.status(410), PageNotFound),
            (InjectedFault.status(403, b"no", "text/html"), PageRefused),
            (InjectedFault.status(429), PageRefused),
            (InjectedFault.status(500), PageUnavailable),
            (InjectedFault.status(418, b"tea"), PageUnavailable),
            (InjectedFault.reset(), PageUnavailable),
            (InjectedFault.truncated(), PageUnavailable),
            (wire_faults.garbage(), PageUnavailable),
            (wire_faults.not_gzip(), PageUnavailable),
            (bomb_fault("gzip", mb=100), PageTooLarge),
            (bomb_fault("gzip, gzip", mb=100), PageUnavailable),
        ],
        ids=repr,
    )
    @pytest.mark.req("Y15", "B2")
    async def test_each_fault_has_its_error(
        self, world: World, settings: Make, fault: InjectedFault, error: type[GroundwireError]
    ) -> None:
        world.site("articles").fail(fault, times=None)
        await self.fails(settings, world.site("articles").page("bm25"), error)

    @pytest.mark.req("B2")
    @pytest.mark.parametrize("page", ["hang", "endless", "endless-headers", "trickle", "trickle-head"])
    async def test_a_page_that_never_ends_ends_at_the_deadline(self, world: World, settings: Make, page: str) -> None:
        async with Web(settings()) as web:
            with pytest.raises((DeadlineExceeded, PageError)) as caught:
                await web.open_page(world.site("slow").page(page), timeout=0.4)
        if page in {"hang", "trickle"}:
            assert isinstance(caught.value, DeadlineExceeded)

    async def test_a_host_that_does_not_resolve(self, settings: Make) -> None:
        async def nowhere(host: str, port: int) -> list[str]:
            raise socket.gaierror(socket.EAI_NONAME, "Name or service not known")

        async with Web(settings(), resolver=nowhere) as web:
            with pytest.raises(PageUnavailable, match=r"nowhere\.example does not resolve to a public web address"):
                await web.open_page("https://nowhere.example/")

    @pytest.mark.req("Y13")
    async def test_a_name_that_leads_inside_reads_like_one_that_does_not_exist(self, settings: Make) -> None:
        async def inside(host: str, port: int) -> list[str]:
            return ["10.0.0.1"]

        async with Web(settings(), resolver=inside) as web:
            with pytest.raises(BlockedAddress, match=r"nowhere\.example does not resolve to a public web address"):
                await web.open_page("https://nowhere.example/")

    @pytest.mark.req("Y13")
    @pytest.mark.parametrize("page", ["private-metadata", "private-port", "private-ipv6", "private-decimal", "file"])
    async def test_a_redirect_does_not_lead_inside(self, world: World, settings: Make, page: str) -> None:
        await self.fails(settings, world.site("maze").page(page), BlockedAddress)

    async def test_redirects_end(self, world: World, settings: Make) -> None:
        await self.fails(settings, world.site("maze").page("loop"), TooManyRedirects)
        async with Web(settings()) as web:
            page = await web.open_page(world.site("maze").page("hops-3"))
        assert page.final_url != page.url
        assert page.status == "success"

    @pytest.mark.req("Y13", "B3")
    async def test_the_search_service_is_not_open_to_pages(self, world: World) -> None:
        alone = Settings.model_validate(
            {"search": {"providers": ("searxng",)}, "providers": {"searxng": {"base_url": world.searxng.url}}}
        )
        async with Web(alone) as web:
            assert (await web.search("bm25")).results
            with pytest.raises(BlockedAddress):
                await web.open_page(f"{world.searxng.url}/config")

    @pytest.mark.req("Y10")
    async def test_the_operators_lists_hold_for_pages(self, world: World, settings: Make) -> None:
        lists = {"allowed_origins": world.origins, "blocked_domains": ("encyclopedia.test",)}
        async with Web(settings(policy=lists), resolver=world.resolver) as web:
            with pytest.raises(BlockedDomain):
                await web.open_page(world.site("articles").page("bm25", named=True))
            world.site("docs").fail(InjectedFault.redirect(world.site("articles").page("bm25", named=True)))
            with pytest.raises(BlockedDomain):
                await web.open_page(world.site("docs").page("api", named=True))
            assert (await web.open_page(world.site("docs").page("api", named=True))).content

    @pytest.mark.req("B2")
    @pytest.mark.parametrize(
        ("page", "text"),
        [
            ("gbk-meta", "茶馆"),
            ("gbk-header", "茶馆"),
            ("windows-1251", "Библиотека"),
            ("shift-jis", "時計"),
            ("gbk-silent", "茶馆"),
        ],
    )
    async def test_old_charsets_are_read(self, world: World, settings: Make, page: str, text: str) -> None:
        async with Web(settings()) as web:
            read = await web.open_page(world.site("legacy").page(page))
        assert text in read.title + read.content
        assert "\ufffd" not in read.content

    async def test_text_markdown_and_json_are_read(self, world: World, settings: Make) -> None:
        async with Web(settings()) as web:
            json_page = await web.open_page(world.site("app").page("json"))
            assert json_page.content.startswith("```json\n")
            assert (await web.open_page(world.site("app").page("text"))).content_type == "text/plain"
            assert (await web.open_page(world.site("app").page("markdown"))).content.startswith("#")
        assert world.site("app").requests[0].headers["Accept"].startswith("text/markdown")


class TestBudget:
    @pytest.mark.req("H3", "H4", "H5")
    async def test_the_limit_is_checked_first_and_failures_are_given_back(self, world: World, settings: Make) -> None:
        async with Web(settings(session={"max_searches": 2, "warning_threshold": 1})) as web:
            first = await web.search("bm25")
            assert first.budget is not None
            assert (first.budget.spent, first.budget.remaining) == (1, 1)
            assert first.warnings[-1] == "Searches left in this session: 1 of 2."
            world.searxng.fail(InjectedFault.status(500), times=None)
            with pytest.raises(AllProvidersFailed):
                await web.search("bm25")
            world.searxng.heal()
            await web.search("bm25")
            asked = len(world.searxng.requests)
            with pytest.raises(BudgetExceeded, match=r"Search limit reached \(2/2\)"):
                await web.search("bm25")
            assert len(world.searxng.requests) == asked
            await web.reset_session()
            await web.search("bm25")

    async def test_cancelling_gives_the_search_back(self, world: World, settings: Make) -> None:
        world.searxng.fail(InjectedFault.hang())
        async with Web(settings(session={"max_searches": 1})) as web:
            task = asyncio.create_task(web.search("bm25"))
            await asyncio.to_thread(world.searxng.wait_for_requests, 1)
            task.cancel()
            with pytest.raises(asyncio.CancelledError):
                await task
            assert web.budget is not None
            assert web.budget.spent == 0


class Own:
    """Somebody else's hybrid: it searches and reads, with the names of yodoca and nothing more."""

    name = "own"
    capabilities = Capabilities(search=True, read=True)

    def __init__(self) -> None:
        self.closed = False

    async def search(
        self, query: str, *, limit: int = 5, filters: Filters = NO_FILTERS, deadline: Deadline | None = None
    ) -> list[SearchResult]:
        return [SearchResult(title=query, url="https://93.184.215.14/", snippet="s")]

    async def read_url(self, url: str, *, deadline: Deadline | None = None) -> ReadResult:
        if url.endswith("/down"):
            return ReadResult(url=url, success=False, error="the service is down")
        if url.endswith("/bug"):
            raise ZeroDivisionError
        if url.endswith("/marked"):
            return ReadResult(url=url, content="Open <|im_start|>dai\u200bly.\u202e\r\n\nmore\u2060", success=True)
        return ReadResult(url=url, title="T", content="c" * 100, content_length=100, success=True)

    async def aclose(self) -> None:
        self.closed = True


class HostResult(BaseModel):
    """A result as the host's document has it."""

    title: str
    url: str
    snippet: str


class HostPage(BaseModel):
    """A page as the host's document has it."""

    url: str
    title: str
    content: str
    content_length: int
    original_length: int | None = None
    truncated: bool = False
    success: bool
    error: str = ""


class PlainSearchProvider:
    """One of the host's Protocols as it stands in the document."""

    async def search(self, query: str, *, limit: int = 5) -> list[Any]:
        urls = ("https://93.184.215.14/a", "https://93.184.215.15/b")
        return [HostResult(title=query, url=url, snippet=f"{limit}") for url in urls]


class PlainReadProvider:
    """The other one."""

    async def read_url(self, url: str) -> Any:
        if url.endswith("/odd"):
            return {"url": url}
        return HostPage(url=url, title="T", content="c" * 100, content_length=100, truncated=True, success=True)


class TestProviders:
    @pytest.mark.req("Y1")
    async def test_the_two_protocols_of_the_document_are_enough(self, settings: Make) -> None:
        search: Any = PlainSearchProvider()
        read: Any = PlainReadProvider()
        async with Web(settings(), search_providers=[search], read_providers=[read]) as web:
            found = await web.search("q", limit=7, allowed_domains=["93.184.215.14"])
            rows = [(row.title, row.url, row.snippet) for row in found.results]
            assert (found.provider, rows) == ("plain", [("q", "https://93.184.215.14/a", "7")])
            page = await web.open_page("https://93.184.215.14/x")
            assert (page.reader, page.title, page.content_length, page.truncated) == ("plain", "T", 100, True)
            with pytest.raises(GroundwireError, match="plain: returned a dict whose success is wrong"):
                await web.open_page("https://93.184.215.14/odd")
            assert (await web.with_providers(search).search("again")).provider == "plain"
        nothing: Any = object()
        with pytest.raises(ConfigurationError, match="object is not a provider"):
            Web(settings(), search_providers=[nothing])

    @pytest.mark.req("Y1", "Y4", "Y16")
    async def test_an_object_of_ones_own_serves_both_roles(self, settings: Make) -> None:
        own = Own()
        assert isinstance(own, SearchProvider)
        assert isinstance(own, ReadProvider)
        async with Web(settings(), search_providers=[own], read_providers=[own]) as web:
            assert (await web.search("q")).provider == "own"
            page = await web.open_page("https://93.184.215.14/x", max_length=10)
            assert (page.reader, page.content, page.truncated, page.original_length) == ("own", "c" * 10, True, 100)
            for path in ("down", "bug"):
                with pytest.raises(GroundwireError, match="own: "):
                    await web.open_page(f"https://93.184.215.14/{path}")
        assert not own.closed, "who made it closes it"

    @pytest.mark.parametrize(
        ("region", "language", "asked"),
        [
            ("us", None, ("us", None)),
            ("us-en", None, ("us", "en")),
            ("ch-de", "fr", ("ch", "fr")),
            ("wt-wt", None, (None, None)),
        ],
    )
    async def test_a_region_may_be_written_as_for_duckduckgo(
        self, settings: Make, region: str, language: str | None, asked: tuple[str | None, str | None]
    ) -> None:
        class Local(Own):
            capabilities = Capabilities(search=True, region=True, language=True)

            async def search(self, query: str, *, filters: Filters = NO_FILTERS, **rest: Any) -> list[SearchResult]:
                return [SearchResult(title=f"{filters.region} {filters.language}", url="https://a.example/")]

        async with Web(settings(), search_providers=[Local()]) as web:
            found = await web.search("q", region=region, language=language)
        assert found[0].title == " ".join(map(str, asked))

    @pytest.mark.req("B11")
    async def test_what_another_reader_returns_is_cleaned_as_well(self, settings: Make) -> None:
        async with Web(settings(), read_providers=[Own()]) as web:
            page = await web.open_page("https://93.184.215.14/marked")
        assert page.content == "Open <\\|im_start|>daily.\n\nmore"
        assert page.content_length == len(page.content)
        assert "chat-template tokens neutralized: 1" in page.warnings
        assert "invisible characters removed: 2" in page.warnings

    @pytest.mark.req("Y13", "B3")
    async def test_a_reader_of_ones_own_never_sees_an_address_that_leads_inside(self, settings: Make) -> None:
        async def inside(host: str, port: int) -> list[str]:
            return ["93.184.215.14", "192.168.0.1"]

        async with Web(settings(), read_providers=[Own()], resolver=inside) as web:
            with pytest.raises(BlockedByPolicy):
                await web.open_page("https://a.example/")

    @pytest.mark.req("Y4", "S5")
    def test_an_unknown_name_lists_the_known_ones(self, settings: Make) -> None:
        with pytest.raises(UnknownProvider, match=r"'gogle'.*duckduckgo.*local.*searxng") as caught:
            Web(settings(search={"providers": ("gogle",)}))
        assert isinstance(caught.value, ValueError)

    @pytest.mark.parametrize(("role", "name"), [("search", "local"), ("read", "duckduckgo")])
    def test_a_provider_in_the_wrong_role_is_refused(self, settings: Make, role: str, name: str) -> None:
        with pytest.raises(ConfigurationError, match=f"{name} cannot"):
            Web(settings(**{role: {"providers": (name,)}}))

    @pytest.mark.req("H1")
    async def test_one_that_is_not_configured_is_skipped_and_named(self, world: World, settings: Make) -> None:
        chain = {"search": {"providers": ("searxng:other", "searxng")}}
        async with Web(settings(**chain)) as web:
            assert "searxng:other is not configured: set providers.searxng:other.base_url" in web.skipped[0]
            assert (await web.search("bm25")).provider == "searxng"

    def test_with_no_usable_provider_it_says_why(self, settings: Make) -> None:
        with pytest.raises(ConfigurationError, match=r"no provider to search with.*set providers"):
            Web(settings(providers={"searxng": {}}))
        with pytest.raises(ConfigurationError, match=r"search\.providers is empty"):
            Web(settings(search={"providers": ()}))


@pytest.mark.req("Y14", "B6")
async def test_a_provider_that_is_to_be_asked_slowly_has_its_calls_in_a_row(world: World, settings: Make) -> None:
    slowly = {"searxng": {"base_url": world.searxng.url, "delay": 60}}
    async with Web(settings(providers=slowly)) as web:
        assert (await web.search("bm25 1")).results
        with pytest.raises(AllProvidersFailed, match="its rate limit allows a request after the deadline"):
            await web.search("bm25 2")
    assert len(world.searxng.requests) == 1


async def test_after_closing_it_says_so(settings: Make) -> None:
    web = Web(settings())
    await web.aclose()
    await web.aclose()
    for call in (web.search("x"), web.open_page("https://93.184.215.14/"), web.usage(), web.reset_session()):
        with pytest.raises(Closed):
            await call


async def test_a_second_closing_waits_for_the_first_and_does_nothing(
    tmp_path: Path, settings: Make, monkeypatch: pytest.MonkeyPatch, caplog: pytest.LogCaptureFixture
) -> None:
    monkeypatch.setattr(
        shared_health, "_READ_INTERVAL", 0.0
    )  # as on a machine that took long to close it the first time
    web = Web(settings(storage={"url": f"sqlite:///{tmp_path / 'store.db'}"}))
    begun, may_end, close = asyncio.Event(), asyncio.Event(), web.store.aclose

    async def close_slowly() -> None:
        begun.set()
        await may_end.wait()
        await close()

    monkeypatch.setattr(web.store, "aclose", close_slowly)
    await web.search("bm25")
    first = asyncio.create_task(web.aclose())
    await begun.wait()
    second = asyncio.create_task(web.aclose())
    await asyncio.sleep(0)
    assert not second.done()
    may_end.set()
    await asyncio.gather(first, second)
    await web.aclose()
    assert [record.getMessage() for record in caplog.records if "store" in record.getMessage()] == []


async def test_one_connection_serves_many_calls(world: World, settings: Make) -> None:
    async with Web(settings(session={"max_searches": 0})) as web:
        for _ in range(5):
            await web.search("bm25")
        await asyncio.gather(*(web.search("bm25") for _ in range(20)))
    assert world.searxng.connections <= 20
    assert len(world.searxng.requests) == 25
