"""What is kept: the cache, the archive, a session's budget and a cassette, through a `Web`."""

from __future__ import annotations

import asyncio
import sqlite3
from collections.abc import Callable, Sequence
from contextlib import closing
from pathlib import Path
from typing import Any

import pytest

from groundwire import (
    AllProvidersFailed,
    BlockedByPolicy,
    BudgetExceeded,
    ConfigurationError,
    InvalidRequest,
    ReadResult,
    Settings,
    Web,
)
from groundwire.cassette import Cassette
from groundwire.deadline import Deadline
from groundwire.errors import PageUnavailable
from groundwire.models import NO_FILTERS, Filters, SearchResult
from groundwire.providers import Capabilities
from groundwire.telemetry import Metrics
from groundwire.testing import InjectedFault
from world import World
from world.services.brave import Brave

Make = Callable[..., Settings]


def kept(settings: Make, folder: Path, **sections: Any) -> Settings:
    """Settings with a store, a cache and an archive of their own, as they are by default."""
    base: dict[str, Any] = {
        "storage": {"url": f"sqlite:///{folder}/store.db"},
        "cache": {"enabled": True},
        "archive": {"enabled": True, "path": str(folder / "archive.db")},
    }
    return settings(**{name: base.get(name, {}) | sections.get(name, {}) for name in {*base, *sections}})


class Turning:
    """Somebody else's reader, which finds no text the first time, and fails the third time."""

    name = "turning"
    capabilities = Capabilities(read=True)

    def __init__(self) -> None:
        self.calls = 0

    async def read_url(self, url: str, *, deadline: Deadline | None = None) -> ReadResult:
        self.calls += 1
        if self.calls > 2:
            raise PageUnavailable(url, "The server failed.")
        return ReadResult(url=url, content=" \n" if self.calls == 1 else "text", success=True)

    async def aclose(self) -> None:
        """Hold nothing."""


class TestCache:
    @pytest.mark.req("Y9", "B19")
    async def test_the_same_is_not_fetched_twice(self, world: World, settings: Make, tmp_path: Path) -> None:
        url = world.site("articles").page("bm25")
        for expected in (False, True):
            async with Web(kept(settings, tmp_path)) as web:
                found = await web.search("bm25")
                page = await web.open_page(url, max_length=500)
                longer = await web.open_page(url, max_length=2_000)
            assert (found.cached, page.cached, longer.cached) == (expected, expected, True)
            assert found.results
            assert page.content_length <= 500 < longer.content_length
        assert len(world.searxng.requests) == 1
        assert len(world.site("articles").requests) == 1

    @pytest.mark.req("B19")
    async def test_what_changes_the_answer_is_another_question(
        self, world: World, settings: Make, tmp_path: Path
    ) -> None:
        async with Web(kept(settings, tmp_path)) as web:
            await web.search("bm25")
            for other in ({"limit": 3}, {"time_range": "y"}, {"language": "de"}, {"strategy": "fuse"}):
                assert not (await web.search("bm25", **other)).cached
            assert not (await web.search("bm25", refresh=True)).cached
            assert (await web.search(" bm25 ")).cached

    @pytest.mark.req("B19")
    async def test_fifty_who_ask_at_once_make_one_request(self, world: World, settings: Make, tmp_path: Path) -> None:
        world.searxng.fail(InjectedFault.delay(0.1), times=None)
        async with Web(kept(settings, tmp_path, session={"max_searches": 0})) as web:
            answers = await asyncio.gather(*(web.search("bm25") for _ in range(50)))
        assert all(answer.results == answers[0].results for answer in answers)
        assert len(world.searxng.requests) == 1

    @pytest.mark.req("B19", "Y9")
    async def test_a_page_without_text_is_not_kept_like_a_good_one(self, settings: Make, tmp_path: Path) -> None:
        reader = Turning()
        own = kept(settings, tmp_path, cache={"page_ttl": 0.0}, archive={"enabled": False})
        async with Web(own, read_providers=[reader]) as web:
            assert (await web.open_page("https://93.184.215.14/")).content.strip() == ""
            assert (await web.open_page("https://93.184.215.14/")).content == "text"
            again = await web.open_page("https://93.184.215.14/")
        assert (again.content, again.cached, again.stale) == ("text", True, True), "a good one is"

    @pytest.mark.req("Y10", "Y13")
    async def test_a_page_that_was_kept_under_other_rules_is_not_shown(
        self, world: World, settings: Make, tmp_path: Path
    ) -> None:
        world.site("docs").fail(InjectedFault.redirect(world.site("articles").page("bm25", named=True)), times=None)
        url = world.site("docs").page("api", named=True)
        async with Web(kept(settings, tmp_path), resolver=world.resolver) as web:
            assert "bm25" in (await web.open_page(url)).final_url
        blocked = {"allowed_origins": world.origins, "blocked_domains": ("encyclopedia.test",)}
        async with Web(kept(settings, tmp_path, policy=blocked), resolver=world.resolver) as web:
            with pytest.raises(BlockedByPolicy):
                await web.open_page(url)
            world.site("docs").fail(InjectedFault.reset(), times=None)
            world.site("docs").heal()
            world.site("docs").fail(InjectedFault.reset(), times=None)
            with pytest.raises(PageUnavailable):
                await web.open_page(url)
        closed = {"allowed_origins": (world.site("articles").named_url,)}
        async with Web(kept(settings, tmp_path, policy=closed), resolver=world.resolver) as web:
            with pytest.raises(BlockedByPolicy):
                await web.open_page(url)

    async def test_a_failure_is_not_kept(self, world: World, settings: Make, tmp_path: Path) -> None:
        world.searxng.fail(InjectedFault.status(500), times=None)
        async with Web(kept(settings, tmp_path, archive={"enabled": False})) as web:
            with pytest.raises(AllProvidersFailed):
                await web.search("bm25")
            world.searxng.heal()
            assert (await web.search("bm25")).results

    @pytest.mark.req("B19")
    async def test_an_old_answer_stands_in_for_a_failure(self, world: World, settings: Make, tmp_path: Path) -> None:
        at_once_stale = {"search_ttl": 0.0}
        async with Web(kept(settings, tmp_path, cache=at_once_stale, archive={"enabled": False})) as web:
            await web.search("bm25")
            world.searxng.fail(InjectedFault.status(500), times=None)
            again = await web.search("bm25")
        assert (again.cached, again.stale) == (True, True)
        assert "minutes old" in again.warnings[0]

    @pytest.mark.req("B19")
    async def test_a_page_that_is_asked_for_fresh_is_fetched(
        self, world: World, settings: Make, tmp_path: Path
    ) -> None:
        url = world.site("articles").page("bm25")
        async with Web(kept(settings, tmp_path)) as web:
            await web.open_page(url)
            assert not (await web.open_page(url, refresh=True)).cached
            assert (await web.open_page(url)).cached
        assert len(world.site("articles").requests) == 2

    @pytest.mark.req("B19")
    async def test_an_empty_answer_is_not_kept_like_a_good_one(
        self, world: World, settings: Make, tmp_path: Path
    ) -> None:
        own = kept(settings, tmp_path, cache={"search_ttl": 0.0}, archive={"enabled": False})
        async with Web(own) as web:
            assert (await web.search("bm25")).results
            assert not (await web.search("zzzyyyxxx")).results
            world.searxng.fail(InjectedFault.status(500), times=None)
            assert (await web.search("bm25")).stale
            with pytest.raises(AllProvidersFailed):
                await web.search("zzzyyyxxx")

    @pytest.mark.req("B19", "B13")
    async def test_an_answer_of_the_archive_is_not_kept(self, world: World, settings: Make, tmp_path: Path) -> None:
        async with Web(kept(settings, tmp_path)) as web:
            await web.search("reciprocal rank fusion")
            world.searxng.fail(InjectedFault.status(500), times=None)
            assert (await web.search("lists merged by rank fusion")).provider == "archive"
            world.searxng.heal()
            again = await web.search("lists merged by rank fusion")
        assert (again.provider, again.cached, again.stale) == ("searxng", False, False)

    @pytest.mark.req("B19")
    async def test_a_stale_answer_is_for_failures_only(self, world: World, settings: Make, tmp_path: Path) -> None:
        own = kept(settings, tmp_path, cache={"search_ttl": 0.0, "stale_ttl": 7_200.0}, archive={"enabled": False})
        async with Web(own) as web:
            await web.search("bm25")
            await web.search("citations")
        _pass_time(tmp_path / "store.db", 4_000)
        async with Web(own) as web:
            assert not (await web.search("bm25")).cached
            world.searxng.fail(InjectedFault.status(500), times=None)
            old = await web.search("citations")
        assert (old.cached, old.stale) == (True, True)
        assert "67 minutes old" in old.warnings[0]


def _pass_time(path: Path, seconds: float) -> None:
    """Make everything that a store keeps so much older."""
    with closing(sqlite3.connect(path)) as db, db:
        db.execute("update entries set fresh_until = fresh_until - ?, stale_until = stale_until - ?", (seconds,) * 2)


class TestArchive:
    @pytest.mark.req("B13")
    async def test_yesterdays_research_answers_when_nobody_else_does(
        self, world: World, settings: Make, tmp_path: Path
    ) -> None:
        no_cache = {"enabled": False}
        url = world.site("articles").page("reciprocal-rank-fusion")
        async with Web(kept(settings, tmp_path, cache=no_cache)) as web:
            await web.search("reciprocal rank fusion")
            first = await web.open_page(url)
        for endpoint in world.endpoints:
            endpoint.fail(InjectedFault.reset(), times=None)
        async with Web(kept(settings, tmp_path, cache=no_cache)) as web:
            found = await web.search("lists that are merged by their ranks")
            page = await web.open_page(url)
            with pytest.raises(PageUnavailable):
                await web.open_page(world.site("articles").page("citations"))
            with pytest.raises(AllProvidersFailed):
                await web.search("zebra xylophone")
        assert (found.provider, found.stale) == ("archive", True)
        assert "Reciprocal rank fusion" in {row.title for row in found.results}
        assert any("Web search unavailable" in warning for warning in found.warnings)
        assert (page.stale, page.content) == (True, first.content)
        assert any("archive" in warning for warning in page.warnings)


class TestSessions:
    @pytest.mark.req("H5", "B5")
    async def test_a_session_has_a_budget_of_its_own(self, settings: Make) -> None:
        async with Web(settings(session={"max_searches": 1})) as web:
            async with web.session("research", searches=2) as session:
                await session.search("bm25")
                await session.search("bm25")
                with pytest.raises(BudgetExceeded, match="2/2"):
                    await session.search("bm25")
                assert (await session.usage())["searches"] == 2
            with pytest.raises(BudgetExceeded):
                await web.session("research", searches=2).search("bm25")
            await web.search("bm25")

    @pytest.mark.req("B5", "H4")
    async def test_processes_that_share_a_name_share_the_budget(self, settings: Make, tmp_path: Path) -> None:
        shared = {"session": {"id": "team", "max_searches": 3}, "storage": {"url": f"sqlite:///{tmp_path}/s.db"}}
        async with Web(settings(**shared)) as one, Web(settings(**shared)) as other:
            await one.search("bm25")
            await other.search("bm25")
            await one.search("bm25")
            with pytest.raises(BudgetExceeded):
                await other.search("bm25")

    @pytest.mark.req("B5")
    async def test_money_and_text_are_limited(self, world: World, settings: Make) -> None:
        brave = {
            "search": {"providers": ("brave",)},
            "providers": {"brave": {"base_url": world.service("brave").url}},
            "keys": {"BRAVE_API_KEY": "test-key"},
        }
        async with Web(settings(**brave)) as web:
            poor = web.session(cost_usd=0.008)
            await poor.search("bm25")
            with pytest.raises(BudgetExceeded, match="US dollars"):
                await poor.search("bm25 again")
            short = web.session(tokens=10)
            await short.open_page(world.site("articles").page("bm25"), max_length=100)
            with pytest.raises(BudgetExceeded, match="tokens"):
                await short.open_page(world.site("articles").page("bm25"))
            with pytest.raises(InvalidRequest, match="session"):
                web.session(money=3)

    @pytest.mark.req("B5")
    async def test_free_readers_read_where_money_does_not_suffice_for_the_others(
        self, world: World, settings: Make
    ) -> None:
        firecrawl = world.service("firecrawl")
        keyed = {
            "providers": {"firecrawl": {"base_url": firecrawl.url}},
            "keys": {"FIRECRAWL_API_KEY": "test-key"},
        }
        url = world.site("articles").page("bm25")
        async with Web(settings(read={"providers": ("local", "firecrawl")}, **keyed)) as web:
            assert (await web.session(cost_usd=0.000_1).open_page(url)).reader == "local"
        async with Web(settings(read={"providers": ("firecrawl",)}, **keyed)) as web:
            with pytest.raises(BudgetExceeded, match="US dollars"):
                await web.session(cost_usd=0.000_1).open_page(url)
        assert not firecrawl.requests


@pytest.mark.req("B18")
async def test_a_watcher_hears_of_every_call(world: World, settings: Make) -> None:
    metrics = Metrics()
    async with Web(settings(), call_listeners=[metrics]) as web:
        await web.search("bm25")
        await web.open_page(world.site("articles").page("bm25"))
        world.searxng.fail(InjectedFault.status(403), times=None)
        with pytest.raises(AllProvidersFailed):
            await web.search("bm25")
    text = metrics.render()
    assert 'groundwire_searches_total{outcome="ok",provider="searxng"} 1' in text
    assert "groundwire_pages_total" in text
    assert 'groundwire_forbidden_total{provider="searxng"}' in text


@pytest.mark.req("B12")
async def test_what_was_recorded_is_replayed_without_a_network(world: World, settings: Make, tmp_path: Path) -> None:
    made = settings()
    async with Web(made, record=tmp_path / "one.jsonl") as web:
        found = await web.search("bm25", limit=2)
        page = await web.open_page(found.results[0].url)
    world.stop()
    async with Web(made, replay=str(tmp_path / "one.jsonl")) as web:
        again = await web.search("bm25", limit=2)
        assert again.results == found.results
        assert (await web.open_page(found.results[0].url)).content == page.content
        with pytest.raises(AllProvidersFailed, match="cassette"):
            await web.search("something else")


async def test_a_web_has_one_cassette(settings: Make, tmp_path: Path) -> None:
    file = tmp_path / "one.jsonl"
    for both in ({"record": file, "replay": file}, {"cassette": Cassette.record(file), "replay": file}):
        with pytest.raises(ConfigurationError, match="one of cassette, record and replay"):
            Web(settings(), **both)
    with pytest.raises(ConfigurationError, match="missing"):
        Web(settings(), replay=tmp_path / "missing.jsonl")


@pytest.mark.req("B5")
async def test_the_bill_of_a_web_is_settled_when_it_is_closed(
    settings: Callable[..., Settings], world: World, tmp_path: Path
) -> None:
    store = {"storage": {"url": f"sqlite:///{tmp_path}/s.db"}, "session": {"id": "team"}}
    slow = _Paid("slow", 5.0)
    async with Web(settings(**store), search_providers=[slow, _Paid("quick", 0.0)]) as web:
        assert (await web.search("bm25")).provider == "quick"
        assert (await web.usage())["cost_usd"] == pytest.approx(0.010)
    async with Web(settings(**store)) as web:
        assert (await web.usage())["cost_usd"] == pytest.approx(0.010), "cancelled after it was sent"


@pytest.mark.req("B6", "B20")
async def test_the_next_web_knows_who_asked_to_be_left_alone(
    settings: Callable[..., Settings], world: World, tmp_path: Path
) -> None:
    brave = world.service("brave")
    assert isinstance(brave, Brave)
    brave.used_up.add("test-key")
    brave.keys.add("other-key")
    both = {
        "search": {"providers": ("brave", "searxng"), "strategy": "fallback"},  # no second one is asked meanwhile
        "providers": {"brave": {"base_url": brave.url}, "searxng": {"base_url": world.searxng.url}},
        "storage": {"url": f"sqlite:///{tmp_path}/s.db"},
    }
    outcomes, asked = [], []
    for key in ("test-key", "test-key", "other-key"):
        async with Web(settings(**both, keys={"BRAVE_API_KEY": key})) as web:
            router = web.search_flow.router
            assert router._shared is not None
            await router._shared.read(router.providers)  # a search waits for it, but not as long as it may take here
            answer = await web.search("bm25")
        outcomes.append([attempt.outcome for attempt in answer.attempts])
        asked.append(len(brave.requests))
    assert outcomes == [["quota", "ok"], ["quota", "ok"], ["ok"]]
    assert asked == [1, 1, 2], "the second did not ask, and a new key is tried at once"
    written = _everything_in(tmp_path)
    assert b"brave" in written
    assert b"test-key" not in written
    assert b"other-key" not in written


def _everything_in(folder: Path) -> bytes:
    return b"".join(path.read_bytes() for path in folder.iterdir())


class _Paid:
    capabilities = Capabilities(search=True, domains="native")
    price_usd = 0.005

    def __init__(self, name: str, seconds: float) -> None:
        self.name = name
        self._seconds = seconds

    async def search(
        self, query: str, *, limit: int = 5, filters: Filters = NO_FILTERS, deadline: Deadline | None = None
    ) -> Sequence[SearchResult]:
        await asyncio.sleep(self._seconds)
        return [SearchResult(title=query, url=f"https://{self.name}.example/")]
