"""Politeness on the web, through a `Web`: robots.txt, paces, pauses, and asking whether a page has changed."""

from __future__ import annotations

import asyncio
import sqlite3
from collections.abc import Callable
from contextlib import closing
from pathlib import Path
from typing import Any

import pytest

from components.held import Held
from components.ruled import Ruled
from groundwire import BlockedByPolicy, DeadlineExceeded, ReadResult, Settings, Web
from groundwire.deadline import Deadline
from groundwire.errors import BlockedByRobots, PagePaced, PageRefused, PageUnavailable
from groundwire.providers import Capabilities
from groundwire.routing.politeness import Politeness, RobotsFiles
from groundwire.safety.guard import Guard
from groundwire.safety.urls import parse_url
from groundwire.storage import MemoryStore
from groundwire.testing import EmulatedResponse, InjectedFault, Recorded
from groundwire.transport import Transport
from world import World
from world.virtual_time import run_virtually

Make = Callable[..., Settings]


def about_robots(request: Recorded) -> bool:
    return request.path == "/robots.txt"


@pytest.fixture
def site(world: World) -> Ruled:
    """A site with rules."""
    return world.add(Ruled("tides", "User-agent: *\nDisallow: /private\nAllow: /private/not\n"))


class Elsewhere:
    """A reader that somebody else runs."""

    name = "elsewhere"
    capabilities = Capabilities(read=True)

    def __init__(self, leads_to: str = "") -> None:
        self.asked: list[str] = []
        self._leads_to = leads_to

    async def read_url(self, url: str, *, deadline: Deadline | None = None) -> ReadResult:
        self.asked.append(url)
        return ReadResult(url=url, content="words", success=True, final_url=self._leads_to)


class TestRobots:
    @pytest.mark.req("B3")
    async def test_what_a_site_disallows_is_not_asked_for(self, site: Ruled, settings: Make) -> None:
        async with Web(settings()) as web:
            assert "tide tables" in (await web.open_page(f"{site.url}/open")).content
            assert (await web.open_page(f"{site.url}/private/not/this")).content
            with pytest.raises(BlockedByRobots, match=r"Disallow: /private\).*read\.robots") as caught:
                await web.open_page(f"{site.url}/private/a")
        assert isinstance(caught.value, BlockedByPolicy)
        assert [request.path for request in site.requests] == ["/open", "/private/not/this"]
        assert len(site.robots_requests) == 1
        assert site.robots_requests[0].headers["User-Agent"].startswith("groundwire/")

    @pytest.mark.req("B3")
    async def test_the_operator_may_switch_it_off(self, site: Ruled, settings: Make) -> None:
        for read in ({"robots": False}, {"robots_exceptions": ("127.0.0.1",)}):
            async with Web(settings(read=read)) as web:
                assert (await web.open_page(f"{site.url}/private/a")).content
        assert site.robots_requests == []

    def test_an_exception_is_a_domain(self, settings: Make) -> None:
        with pytest.raises(ValueError, match="not a domain name"):
            settings(read={"robots_exceptions": ("https://a.example/",)})

    @pytest.mark.req("B3")
    async def test_a_redirect_does_not_lead_around_it(self, site: Ruled, world: World, settings: Make) -> None:
        other = world.add(Ruled("other"))
        other.moved["/go"] = f"{site.url}/private/a"
        site.moved["/go"] = f"{site.url}/private/b"
        async with Web(settings()) as web:
            for start in (other, site):
                with pytest.raises(BlockedByRobots):
                    await web.open_page(f"{start.url}/go")
        assert [request.path for request in site.requests] == ["/go"]

    @pytest.mark.req("B3")
    async def test_nobody_else_reads_it_for_us(self, site: Ruled, settings: Make) -> None:
        reader = Elsewhere()
        async with Web(settings(), read_providers=[reader]) as web:
            with pytest.raises(BlockedByRobots):
                await web.open_page(f"{site.url}/private/a")
            await web.open_page(f"{site.url}/open")
            site.robots = EmulatedResponse.text("", status=500)
        async with Web(settings(), read_providers=[reader]) as web:
            with pytest.raises(PageUnavailable):
                await web.open_page(f"{site.url}/private/a")
            site.fail(InjectedFault.reset(), times=None, when=about_robots)
        async with Web(settings(), read_providers=[reader]) as web:
            await web.open_page(f"{site.url}/private/a")
        assert reader.asked == [f"{site.url}/open", f"{site.url}/private/a"], "it may know what we cannot"

    @pytest.mark.req("B3")
    async def test_nobody_else_follows_a_redirect_around_it(self, site: Ruled, world: World, settings: Make) -> None:
        other = world.add(Ruled("other"))
        async with Web(settings(), read_providers=[Elsewhere(f"{site.url}/private/a")]) as web:
            with pytest.raises(BlockedByRobots):
                await web.open_page(f"{other.url}/go")
        async with Web(settings(), read_providers=[Elsewhere(f"{site.url}/open")]) as web:
            assert (await web.open_page(f"{other.url}/go")).final_url == f"{site.url}/open"

    @pytest.mark.req("B3")
    @pytest.mark.parametrize("status", [401, 403, 404, 410, 429])
    async def test_a_site_without_rules_is_open(self, status: int, site: Ruled, settings: Make) -> None:
        site.robots = EmulatedResponse.html("<h1>No entries</h1>", status=status)
        async with Web(settings()) as web:
            assert (await web.open_page(f"{site.url}/private/a")).content

    @pytest.mark.req("B3")
    @pytest.mark.parametrize("status", [500, 503])
    async def test_rules_that_cannot_be_had_close_it(self, status: int, site: Ruled, settings: Make) -> None:
        site.robots = EmulatedResponse.text("", status=status)
        async with Web(settings()) as web:
            for _ in range(2):
                with pytest.raises(PageUnavailable, match=rf"HTTP {status}.*Try again in a minute"):
                    await web.open_page(f"{site.url}/open")
        assert (len(site.robots_requests), site.requests) == (1, []), "it is not asked again at once"

    async def test_rules_that_do_not_come_end_with_the_call(self, site: Ruled, settings: Make) -> None:
        site.fail(InjectedFault.hang(), times=None, when=about_robots)
        reader = Elsewhere()
        async with Web(settings()) as web, Web(settings(), read_providers=[reader]) as other:
            with pytest.raises(DeadlineExceeded):
                await web.open_page(f"{site.url}/open", timeout=0.4)
            assert (await other.open_page(f"{site.url}/open", timeout=6)).content
        assert site.requests == []

    async def test_they_are_not_waited_for_longer_than_some_seconds(self, site: Ruled) -> None:
        site.fail(InjectedFault.hang(), times=None, when=about_robots)
        transport = Transport(Guard(allowed_origins=[site.url]))
        files = RobotsFiles(transport, MemoryStore(), "acme/1.0", max_wait=0.2)  # and a quarter of the time
        for _ in range(2):
            with pytest.raises(PageUnavailable, match=r"robots\.txt timed out"):
                await files.of(parse_url(f"{site.url}/open"), Deadline.after(8))
        assert len(site.robots_requests) <= 1, "it is not asked again at once"
        await files.aclose()
        await transport.aclose()

    async def test_a_share_of_the_time_may_be_spent_on_them(self, site: Ruled) -> None:
        site.fail(InjectedFault.hang(), times=None, when=about_robots)
        transport = Transport(Guard(allowed_origins=[site.url]))
        files = RobotsFiles(transport, MemoryStore(), "acme/1.0")
        with pytest.raises(PageUnavailable, match=r"robots\.txt timed out"):
            await files.of(parse_url(f"{site.url}/open"), Deadline.after(30), share=0.01)
        await files.aclose()
        await transport.aclose()

    async def test_a_refusal_of_the_moment_is_not_believed_for_a_day(
        self, site: Ruled, settings: Make, tmp_path: Path
    ) -> None:
        rules, site.robots = site.robots, EmulatedResponse.text("", status=403)
        shared = {"storage": {"url": f"sqlite:///{tmp_path}/s.db"}}
        async with Web(settings(**shared)) as web:
            await web.open_page(f"{site.url}/private/a")
        _pass_time(tmp_path / "s.db", 70)
        site.robots = rules
        async with Web(settings(**shared)) as web:
            with pytest.raises(BlockedByRobots):
                await web.open_page(f"{site.url}/private/a")

    @pytest.mark.req("B3")
    async def test_redirects_of_the_rules_are_followed(self, site: Ruled, world: World, settings: Make) -> None:
        real = world.add(Ruled("rules", "User-agent: *\nDisallow: /open"))
        site.robots = EmulatedResponse.redirect(f"{real.url}/robots.txt")
        circle = world.add(Ruled("circle", EmulatedResponse.redirect("/robots.txt")))
        async with Web(settings()) as web:
            with pytest.raises(BlockedByRobots):
                await web.open_page(f"{site.url}/open")
            assert (await web.open_page(f"{circle.url}/open")).content
        assert len(circle.robots_requests) == 6

    async def test_what_is_too_long_of_them_is_left_out(self, site: Ruled, settings: Make) -> None:
        site.robots = EmulatedResponse.text(
            "User-agent: *\nDisallow: /private\n" + "#" * 600_000 + "\nDisallow: /open\n"
        )
        async with Web(settings()) as web:
            assert (await web.open_page(f"{site.url}/open")).content
            with pytest.raises(BlockedByRobots):
                await web.open_page(f"{site.url}/private/a")

    @pytest.mark.req("B19")
    async def test_they_are_asked_for_once_by_all(self, site: Ruled, settings: Make, tmp_path: Path) -> None:
        site.fail(InjectedFault.delay(0.1), when=about_robots)
        shared = {"storage": {"url": f"sqlite:///{tmp_path}/s.db"}}
        async with Web(settings(**shared)) as one, Web(settings(**shared)) as other:
            await asyncio.gather(*(web.open_page(f"{site.url}/{n}") for n in range(5) for web in (one, other)))
        async with Web(settings(**shared)) as web:
            await web.open_page(f"{site.url}/again")
        assert len(site.robots_requests) == 1

    async def test_old_rules_stand_in_for_a_day_of_failures(self, site: Ruled, settings: Make, tmp_path: Path) -> None:
        shared = {"storage": {"url": f"sqlite:///{tmp_path}/s.db"}}
        async with Web(settings(**shared)) as web:
            await web.open_page(f"{site.url}/open")
        _pass_time(tmp_path / "s.db", 100_000)
        site.robots = EmulatedResponse.text("", status=503)
        async with Web(settings(**shared)) as web:
            assert (await web.open_page(f"{site.url}/open")).content
            with pytest.raises(BlockedByRobots):
                await web.open_page(f"{site.url}/private/a")
        assert len(site.robots_requests) >= 2

    @pytest.mark.req("B12", "B3")
    async def test_a_replay_knows_them_too(self, site: Ruled, settings: Make, world: World, tmp_path: Path) -> None:
        made, file = settings(), str(tmp_path / "one.jsonl")
        async with Web(made, record=file) as web:
            page = await web.open_page(f"{site.url}/open")
            with pytest.raises(BlockedByRobots):
                await web.open_page(f"{site.url}/private/a")
        world.stop()
        async with Web(made, replay=file) as web:
            assert (await web.open_page(page.url)).content == page.content
            with pytest.raises(BlockedByRobots):
                await web.open_page(page.url.replace("open", "private/a"))

    async def test_what_was_recorded_without_them_is_replayed(
        self, site: Ruled, settings: Make, world: World, tmp_path: Path
    ) -> None:
        file = str(tmp_path / "one.jsonl")
        async with Web(settings(read={"robots": False}), record=file) as web:
            page = await web.open_page(f"{site.url}/open")
        made = settings()
        world.stop()
        async with Web(made, replay=file) as web:
            assert (await web.open_page(page.url)).content == page.content


class TestPace:
    @pytest.mark.req("B3")
    async def test_a_site_is_asked_no_faster_than_it_wants(self, site: Ruled, settings: Make) -> None:
        site.robots = EmulatedResponse.text("User-agent: *\nCrawl-delay: 5\n")
        held = Held()
        site.fail(held.fault)
        async with Web(settings()) as web:
            first = asyncio.create_task(web.open_page(f"{site.url}/1"))
            await asyncio.to_thread(site.wait_for_requests, 1)  # reading the page might take a busy machine seconds
            with pytest.raises(PagePaced, match="every 5 seconds, according to its robots"):
                await web.open_page(f"{site.url}/2", timeout=2.0)
            held.release()
            await first
        assert len(site.requests) == 1

    def test_requests_in_a_row_come_at_the_pace(self) -> None:
        async def main() -> list[float]:
            clock = asyncio.get_running_loop().time
            transport = Transport(Guard())
            politeness = Politeness(
                transport, MemoryStore(clock=clock), robots=False, delay=0.3, user_agent="acme/1.0", clock=clock
            )

            async def visit(number: int) -> float:
                async with politeness.visit(parse_url(f"https://a.example/{number}"), Deadline.after(5, clock)):
                    return clock()

            moments = await asyncio.gather(*(visit(number) for number in range(3)))
            await politeness.aclose()
            await transport.aclose()
            return moments

        assert run_virtually(main()) == pytest.approx([0.0, 0.3, 0.6])

    @pytest.mark.parametrize(("delay", "told"), [(1.4, "in a second"), (1.5, "in 2 seconds"), (2.6, "in 3 seconds")])
    def test_a_wait_is_told_in_whole_seconds_and_a_site_is_forgotten(self, delay: float, told: str) -> None:
        async def main() -> None:
            clock = asyncio.get_running_loop().time
            transport = Transport(Guard())
            politeness = Politeness(
                transport, MemoryStore(clock=clock), robots=False, delay=delay, user_agent="acme/1.0", clock=clock
            )
            url = parse_url("https://a.example/1")
            async with politeness.visit(url, Deadline.after(5, clock)):
                assert len(politeness.__dict__["_slots"]) == 1
            with pytest.raises(PagePaced, match=rf"Try again {told}\."):
                async with politeness.visit(url, Deadline.after(1, clock)):
                    pass
            assert politeness.__dict__["_slots"] == {}
            await politeness.aclose()
            await transport.aclose()

        run_virtually(main())

    async def test_a_replay_keeps_no_pace(self, site: Ruled, settings: Make, world: World, tmp_path: Path) -> None:
        file = str(tmp_path / "one.jsonl")
        async with Web(settings(), record=file) as web:
            pages = [await web.open_page(f"{site.url}/{number}") for number in range(2)]
        paced = settings(read={"crawl_delay": 60})
        world.stop()
        async with Web(paced, replay=file) as web:
            assert [(await web.open_page(page.url)).content for page in pages] == [page.content for page in pages]

    @pytest.mark.req("B3")
    async def test_a_fleet_keeps_one_pace(self, site: Ruled, settings: Make, tmp_path: Path) -> None:
        shared = {"storage": {"url": f"sqlite:///{tmp_path}/s.db"}, "read": {"crawl_delay": 60}}
        async with Web(settings(**shared)) as one, Web(settings(**shared)) as other:
            await one.open_page(f"{site.url}/1")
            with pytest.raises(PagePaced, match="every 60 seconds"):
                await other.open_page(f"{site.url}/2")
        assert len(site.requests) == 1

    @pytest.mark.req("B3")
    async def test_who_cannot_wait_is_told_how_long(self, site: Ruled, settings: Make) -> None:
        async with Web(settings(read={"crawl_delay": 60.0})) as web:
            await web.open_page(f"{site.url}/1")
            with pytest.raises(PagePaced, match=r"every 60 seconds.*Try again in \d\d seconds") as caught:
                await web.open_page(f"{site.url}/2")
        assert 20 < caught.value.retry_after <= 60, "it did not wait to say so"

    @pytest.mark.req("B3")
    @pytest.mark.parametrize("status", [429, 503])
    async def test_a_site_that_asks_for_a_pause_gets_it(self, status: int, site: Ruled, settings: Make) -> None:
        site.fail(InjectedFault.status(status, headers={"Retry-After": "3000"}))
        async with Web(settings()) as web:
            with pytest.raises((PageRefused, PageUnavailable)):
                await web.open_page(f"{site.url}/1")
            with pytest.raises(PagePaced, match="asked for a delay") as caught:
                await web.open_page(f"{site.url}/2")
        assert 2_900 < caught.value.retry_after <= 3_000
        assert len(site.requests) == 1

    async def test_a_short_pause_is_waited_for(self, site: Ruled, settings: Make) -> None:
        site.fail(InjectedFault.status(429, headers={"Retry-After": "1"}))
        async with Web(settings()) as web:
            with pytest.raises(PageRefused):
                await web.open_page(f"{site.url}/1")
            assert (await web.open_page(f"{site.url}/2")).content
        first, second = (request.at for request in site.requests)
        assert second - first > 0.9

    @pytest.mark.req("B3")
    async def test_only_so_many_requests_run_at_once(self, site: Ruled, settings: Make) -> None:
        held = Held()
        site.fail(held.fault, times=None)
        async with Web(settings(read={"max_per_host": 2, "timeout": 60.0})) as web:
            first = [asyncio.create_task(web.open_page(f"{site.url}/{n}")) for n in range(2)]
            await asyncio.to_thread(site.wait_for_requests, 2)
            more = [asyncio.create_task(web.open_page(f"{site.url}/{n}", timeout=2.0)) for n in range(2, 5)]
            done = await asyncio.gather(*more, return_exceptions=True)
            assert len(site.requests) == 2
            assert all(isinstance(error, DeadlineExceeded) for error in done)
            assert all("is already serving 2 pages" in str(error) for error in done)
            held.release()
            await asyncio.gather(*first)
            assert (await web.open_page(f"{site.url}/after")).content


class TestRevalidation:
    @pytest.mark.req("B19", "Y9")
    @pytest.mark.parametrize("by", ["etag", "modified"])
    async def test_a_page_that_has_not_changed_is_not_sent_again(
        self, by: str, site: Ruled, settings: Make, tmp_path: Path
    ) -> None:
        setattr(site, by, {"etag": 'W/"one"', "modified": "Sat, 21 Nov 2026 10:00:00 GMT"}[by])
        own = kept(settings, tmp_path)
        async with Web(own) as web:
            first = await web.open_page(f"{site.url}/open")
        _pass_time(tmp_path / "s.db", 6_000)
        async with Web(own) as web:
            again = await web.open_page(f"{site.url}/open")
            assert (again.content, again.cached, again.stale) == (first.content, False, False)
            assert (await web.open_page(f"{site.url}/open")).cached
        name = {"etag": "If-None-Match", "modified": "If-Modified-Since"}[by]
        assert [name in request.headers for request in site.requests] == [False, True]
        _pass_time(tmp_path / "s.db", 6_000)
        site.text = "The tables are printed in autumn now, as the harbour has a new printer who is busy in spring."
        setattr(site, by, {"etag": '"two"', "modified": "Sat, 21 Nov 2026 11:00:00 GMT"}[by])
        async with Web(own) as web:
            assert "autumn" in (await web.open_page(f"{site.url}/open")).content

    @pytest.mark.req("B19")
    async def test_what_one_address_has_said_is_shown_to_no_other(
        self, site: Ruled, world: World, settings: Make, tmp_path: Path
    ) -> None:
        other = world.add(Ruled("other"))
        other.moved["/go"] = f"{site.url}/open"
        site.etag = other.etag = '"one"'
        own = kept(settings, tmp_path)
        async with Web(own) as web:
            first = await web.open_page(f"{other.url}/go")
        _pass_time(tmp_path / "s.db", 6_000)
        async with Web(own) as web:
            again = await web.open_page(f"{other.url}/go")
        assert (again.content, again.final_url) == (first.content, f"{site.url}/open")
        assert ["If-None-Match" in request.headers for request in (*other.requests, *site.requests)] == [
            False,
            False,
            False,
            True,
        ]

    @pytest.mark.req("B19")
    async def test_fresh_asks_for_the_whole_page(self, site: Ruled, settings: Make, tmp_path: Path) -> None:
        site.etag = '"one"'
        async with Web(kept(settings, tmp_path)) as web:
            await web.open_page(f"{site.url}/open")
            await web.open_page(f"{site.url}/open", refresh=True)
        assert not any("If-None-Match" in request.headers for request in site.requests)

    async def test_a_304_that_nobody_asked_for_is_no_page(self, site: Ruled, settings: Make) -> None:
        site.fail(InjectedFault.status(304))
        async with Web(settings()) as web:
            with pytest.raises(PageUnavailable, match="304"):
                await web.open_page(f"{site.url}/open")

    @pytest.mark.req("B19")
    async def test_a_server_may_want_to_be_asked_each_time(self, site: Ruled, settings: Make, tmp_path: Path) -> None:
        site.etag, site.headers = '"one"', {"Cache-Control": "no-cache"}
        own = kept(settings, tmp_path)
        async with Web(own) as web:
            await web.open_page(f"{site.url}/open")
            assert (await web.open_page(f"{site.url}/open")).cached, "within a minute it is one page"
            _pass_time(tmp_path / "s.db", 70)
            assert not (await web.open_page(f"{site.url}/open")).cached
            assert (await web.open_page(f"{site.url}/open")).cached, "it is written before it is read again"
            _pass_time(tmp_path / "s.db", 70)
            site.fail(InjectedFault.status(500), times=None)
            old = await web.open_page(f"{site.url}/open")
        assert (old.cached, old.stale) == (True, True)
        assert len(site.requests) == 3

    @pytest.mark.req("B19")
    async def test_what_should_not_be_kept_is_gone_after_a_minute(
        self, site: Ruled, settings: Make, tmp_path: Path
    ) -> None:
        site.headers = {"Cache-Control": "no-store"}
        own = kept(settings, tmp_path, archive={"enabled": True, "path": str(tmp_path / "archive.db")})
        async with Web(own) as web:
            await web.open_page(f"{site.url}/open")
        _pass_time(tmp_path / "s.db", 70)
        site.fail(InjectedFault.reset(), times=None)
        async with Web(own) as web:
            with pytest.raises(PageUnavailable):
                await web.open_page(f"{site.url}/open")


def kept(settings: Make, folder: Path, **sections: Any) -> Settings:
    """Settings with a cache, whose pages are fresh for an hour and then of use only when nothing else is."""
    base: dict[str, Any] = {
        "storage": {"url": f"sqlite:///{folder}/s.db"},
        "cache": {"enabled": True, "page_ttl": 1_000.0},
    }
    return settings(**base | sections)


def _pass_time(path: Path, seconds: float) -> None:
    """Make everything that a store keeps so much older."""
    with closing(sqlite3.connect(path)) as db, db:
        db.execute("update entries set fresh_until = fresh_until - ?, stale_until = stale_until - ?", (seconds,) * 2)
