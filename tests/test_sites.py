"""A whole site through a `Web`: its map, and reading many pages to files."""

from __future__ import annotations

import asyncio
import json
from collections.abc import Callable
from dataclasses import replace
from pathlib import Path
from typing import Any, cast

import pytest

from components.held import Held
from components.whole_site import WholeSite
from groundwire import Settings, SyncWeb, Web
from groundwire.errors import (
    BlockedByRobots,
    BudgetExceeded,
    InvalidRequest,
    PageError,
    PageNotFound,
    PageTooLarge,
    UnsupportedContent,
)
from groundwire.models import SiteUrl
from groundwire.reading.workers import WorkerUnavailable, WorkTooHeavy
from groundwire.testing import InjectedFault
from groundwire.web.site_map import LinkReader, SiteMap
from world import World

Make = Callable[..., Settings]

pytestmark = pytest.mark.req("B40")


@pytest.fixture
def site(world: World) -> WholeSite:
    return world.add(WholeSite())


def paths(site: WholeSite, rows: list[SiteUrl]) -> list[str]:
    return [row.url.removeprefix(site.url) for row in rows]


def tear(output: Path) -> None:
    """Leave what a process leaves that is killed while it writes."""
    state = output / ".groundwire-state.jsonl" if output.is_dir() else output.with_name(f"{output.name}.state")
    with state.open("ab") as file:
        file.write(b'{"url": "http://half.exam')
    if output.is_file():
        with output.open("ab") as file:
            file.write(b'{"url": "http://whole.example/"}\n{"url": "http://half')


def written(output: Path) -> list[str]:
    if output.is_dir():
        return [json.loads(file.read_text().splitlines()[1][5:]) for file in output.rglob("*.md")]
    return [json.loads(line)["url"] for line in output.read_text().splitlines()]


class TestMap:
    async def test_links_are_followed_breadth_first_below_the_address(self, site: WholeSite, settings: Make) -> None:
        async with Web(settings()) as web:
            found = web.map(f"{site.url}/docs/", depth=2)
            rows = [row async for row in found]
        assert paths(site, rows) == ["/docs/", "/docs/news", *site.articles[:6]]
        assert [row.origin for row in rows] == ["start", "feed"] + ["link"] * 6
        assert [row.depth for row in rows] == [0, 1, 1, 1, 1, 2, 2, 2]
        assert "1 not listed" in found.warnings[1]
        assert "Disallow: /docs/private" in found.warnings[1]
        assert found.warnings[0].startswith("the links of 3 pages were not followed")
        assert not any(path.startswith("/docs/private") for path in site.paths())

    @pytest.mark.parametrize("declared", [True, False], ids=["robots.txt", "usual place"])
    async def test_sitemaps_come_first(self, site: WholeSite, settings: Make, declared: bool) -> None:
        first = "deep/index.xml" if declared else "sitemap.xml"
        if declared:
            site.rules += f"Sitemap: {site.url}/{first}\n"
            site.sitemaps = {first: ["/a.xml.gz"], "a.xml.gz": ["/docs/old", "/other/x", "/docs/page-0"]}
        else:
            site.sitemaps = {first: ["/docs/old", "/other/x", "/docs/page-0"]}
        async with Web(settings()) as web:
            found = web.map(f"{site.url}/docs/")
            rows = [row async for row in found]
        assert paths(site, rows)[:3] == ["/docs/", "/docs/old", "/docs/page-0"]
        assert (rows[1].origin, rows[1].modified, rows[1].depth) == ("sitemap", "2026-03-05", 1)
        assert site.paths() == ["/docs/"], "a site with sitemaps is not crawled"
        assert [note for note in found.warnings if "not followed" in note] == []

    async def test_what_leads_on_by_itself_and_frames_are_followed(self, site: WholeSite, settings: Make) -> None:
        site.documents = {
            "/docs/latest": '<meta http-equiv="refresh" content="0; url=/docs/">',
            "/old/": '<frameset><frame src="menu"><frame src="/docs/page-0"></frameset>',
            "/old/menu": '<a href="/old/two">two</a>',
        }
        async with Web(settings()) as web:
            rows = [row async for row in web.map(f"{site.url}/docs/latest", depth=1)]
            assert paths(site, rows) == ["/docs/", "/docs/news", *site.articles[:3]]
            rows = [row async for row in web.map(f"{site.url}/old/")]
            assert paths(site, rows) == ["/old/", "/old/menu", "/old/two"]

    async def test_what_a_sitemap_lists_in_vain_is_said(self, site: WholeSite, settings: Make) -> None:
        site.sitemaps = {"sitemap.xml": ["/docs/old"]}
        site.sitemap_host = "https://www.whole.example"
        site.rules += f"Sitemap: {site.url}/sitemap.xml\nSitemap: {site.url}/gone.xml\n"
        async with Web(settings()) as web:
            found = web.map(f"{site.url}/docs/", depth=1)
            rows = [row async for row in found]
        assert "/docs/old" not in paths(site, rows)
        assert (
            "1 not listed: addresses of sitemaps and feeds on other hosts, most on www.whole.example" in found.warnings
        )
        assert f"such as {site.url}/gone.xml: There is no such page" in found.warnings[-1]

    async def test_of_a_large_sitemap_the_beginning_is_read_and_it_is_said(
        self, site: WholeSite, settings: Make
    ) -> None:
        site.sitemaps = {"sitemap.xml": [f"/docs/{number}?a=1&b=2" for number in range(100)]}
        site.documents = {"/broken.gz": b"\x1f\x8b\x08 and no archive"}
        site.rules += f"Sitemap: {site.url}/sitemap.xml\nSitemap: {site.url}/broken.gz\n"
        async with Web(settings(read={"max_bytes": 5_000})) as web:
            found = web.map(f"{site.url}/docs/", depth=1)
            rows = [path for path in paths(site, [row async for row in found]) if "?" in path]
        assert 10 < len(rows) < 100
        assert {path.partition("?")[2] for path in rows} == {"a=1&b=2"}
        notes = " ".join(found.warnings)
        assert f"such as {site.url}/sitemap.xml: only its first 5,000 bytes were read (read.max_bytes)" in notes
        assert f"such as {site.url}/broken.gz: The response is a gzip archive, but it is damaged" in notes

    async def test_an_index_of_too_many_sitemaps_is_cut_and_says_so(self, site: WholeSite, settings: Make) -> None:
        names = [f"{number}.xml" for number in range(210)]
        site.sitemaps = {"index.xml": [f"/{name}" for name in names]} | {name: ["/docs/old"] for name in names}
        async with Web(settings()) as web:
            found = web.map(f"{site.url}/index.xml")
            assert paths(site, [row async for row in found]) == ["/docs/old"]
        assert "only the first 200 sitemaps were read" in found.warnings

    @pytest.mark.parametrize("start", ["/calendar/0", "/list"])
    async def test_a_site_without_an_end_is_cut_and_says_so(self, site: WholeSite, settings: Make, start: str) -> None:
        async with Web(settings()) as web:
            found = web.map(f"{site.url}{start}".removesuffix("0"), limit=30, depth=100)
            rows = [row async for row in found]
        assert len({row.url for row in rows}) == len(rows) == 30
        assert found.warnings[0] == "the map ends at 30 addresses, its limit; the site has more"
        assert len(site.requests) <= 32

    async def test_a_site_that_forbids_says_so(self, site: WholeSite, settings: Make) -> None:
        site.rules = "User-agent: *\nDisallow: /\n"
        async with Web(settings()) as web:
            with pytest.raises(BlockedByRobots, match=r"robots\.txt disallows this page"):
                await anext(web.map(f"{site.url}/docs/"))
            with pytest.raises(InvalidRequest, match="limit"):
                web.map(site.url, limit=0)
        assert site.requests == []

    async def test_a_site_that_begins_to_refuse_is_left_alone(self, site: WholeSite, settings: Make) -> None:
        site.fail(InjectedFault.status(403), times=None, when=lambda request: request.path.startswith("/calendar/1"))
        site.articles = [f"/calendar/1{number}" for number in range(100)]
        site.sitemaps = {"sitemap.xml": ["/docs/", *site.articles]}
        async with Web(settings()) as web:
            found = web.map(f"{site.url}/sitemap.xml", depth=5)
            rows = [row async for row in found]
        assert len(rows) == 102, "the sitemap, and one link of its first page"
        assert "20 pages in a row could not be read" in " ".join(found.warnings)
        assert "refuses access" in " ".join(found.warnings)
        assert len(site.paths("/calendar")) <= 21

    async def test_the_first_page_must_be_there(self, site: WholeSite, settings: Make) -> None:
        async with Web(settings()) as web:
            with pytest.raises(PageNotFound):
                await anext(web.map(f"{site.url}/nothing"))

    @pytest.mark.parametrize(
        ("failure", "error"), [(WorkTooHeavy, PageTooLarge), (WorkerUnavailable, UnsupportedContent)]
    )
    async def test_a_document_that_no_process_can_read_is_an_error_of_its_page(
        self, site: WholeSite, settings: Make, failure: type[Exception], error: type[PageError]
    ) -> None:
        class Failing:
            async def run(self, *_: Any) -> Any:
                raise failure

        async with Web(settings(read={"isolation": "process"})) as web:
            reader = LinkReader(
                flow=replace(web.pages, workers=cast("Any", Failing())),
                transport=web.clients.pages,
                politeness=web._resources.politeness,
                new_call=web._new_calls(None, "bypass"),
            )
            with pytest.raises(error):
                await anext(SiteMap(reader, f"{site.url}/docs/", limit=10, depth=None))

    def test_without_async(self, site: WholeSite, settings: Make) -> None:
        with SyncWeb(settings()) as web:
            rows = web.map(f"{site.url}/docs/", limit=3)
            assert paths(site, list(rows)) == ["/docs/", "/docs/news", "/docs/page-0"]
            assert "its limit" in rows.warnings[0]


class TestReadMany:
    async def test_a_map_is_read_to_a_folder(self, site: WholeSite, settings: Make, tmp_path: Path) -> None:
        async with Web(settings()) as web:
            batch = web.read_many(web.map(f"{site.url}/docs/", depth=10), output=tmp_path / "out", delay=0)
            pages = [page async for page in batch]
        assert (batch.read, batch.failed) == (21, 1)
        assert [page.error for page in pages if page.status == "error"] == [
            "There is no such page (HTTP 404). Check the URL."
        ]
        files = sorted((tmp_path / "out").rglob("*.md"))
        assert len(files) == 21
        text = next(file for file in files if "page-7-" in file.name).read_text()
        head, _, content = text.removeprefix("---\n").partition("---\n")
        facts = {line.partition(": ")[0]: json.loads(line.partition(": ")[2]) for line in head.splitlines()}
        assert (facts["url"], facts["title"]) == (f"{site.url}/docs/page-7", "Lock /docs/page-7")
        assert facts["fetched"].endswith("Z")
        assert "# Lock /docs/page-7" in content

    @pytest.mark.parametrize("name", ["out", "out.jsonl"])
    async def test_a_second_run_asks_for_what_is_missing_only(
        self, site: WholeSite, settings: Make, tmp_path: Path, name: str
    ) -> None:
        urls = [f"{site.url}{path}" for path in site.articles]
        async with Web(settings()) as web:
            first = web.read_many([*urls[:8], f"{site.url}/docs/gone"], output=tmp_path / name, delay=0)
            assert len([page async for page in first]) == 9
            site.forget()
            tear(tmp_path / name)
            second = web.read_many([*urls, f"{site.url}/docs/gone"], output=tmp_path / name, delay=0)
            pages = [page async for page in second]
            third = web.read_many(urls, output=tmp_path / name, delay=0)
            assert [page async for page in third] == []
        assert sorted(site.paths()) == sorted(site.articles[8:])
        assert len(pages) == second.read == 12
        assert (second.skipped, second.failed, second.failed_earlier) == (9, 0, 1)
        assert sorted(written(tmp_path / name)) == sorted(urls)

    async def test_what_passes_is_tried_again_and_what_a_site_asks_for_is_kept(
        self, site: WholeSite, settings: Make, tmp_path: Path
    ) -> None:
        url = f"{site.url}/docs/page-1"
        site.fail(InjectedFault.status(503, headers={"Retry-After": "1"}), times=1)
        async with Web(settings()) as web:
            assert [page.status async for page in web.read_many([url], output=tmp_path / "a", delay=0)] == ["success"]
            assert len(site.paths()) == 2
            site.fail(InjectedFault.status(500), times=1)
            assert [page.status async for page in web.read_many([url], output=tmp_path / "b", delay=0)] == ["error"]
            assert [page.status async for page in web.read_many([url], output=tmp_path / "b", delay=0)] == ["success"]

    async def test_no_host_is_asked_for_more_than_its_share(self, world: World, settings: Make) -> None:
        one, other = world.add(WholeSite("one")), world.add(WholeSite("other"))
        held = Held()
        one.fail(held.fault, times=None)
        urls = [f"{one.url}{path}" for path in one.articles] + [f"{other.url}{path}" for path in other.articles]
        async with Web(settings()) as web:
            batch = web.read_many(urls, per_host=2, delay=0)
            pages = [await anext(batch) for _ in other.articles]
            assert {page.url for page in pages} == set(urls[20:]), "a slow host holds up no other"
            assert len(one.paths()) == 2
            held.release()
            assert len([page async for page in batch]) == 20

    async def test_it_ends_with_the_budget_of_the_day_and_goes_on_later(
        self, site: WholeSite, settings: Make, tmp_path: Path
    ) -> None:
        from groundwire.routing.daily_quota import DailyLimits

        urls = [f"{site.url}{path}" for path in site.articles[:6]]
        async with Web(settings()) as web:
            view = web.restricted(daily=DailyLimits(name="a", calls=3))
            with pytest.raises(BudgetExceeded):
                _ = [page async for page in view.read_many(urls, output=tmp_path / "out", delay=0)]
            rest = web.read_many(urls, output=tmp_path / "out", delay=0)
            assert len([page async for page in rest]) == 6 - rest.skipped <= 5

    async def test_two_runs_do_not_write_to_one_folder(self, site: WholeSite, settings: Make, tmp_path: Path) -> None:
        urls = [f"{site.url}{path}" for path in site.articles]
        (tmp_path / "mine.jsonl").write_text("{}\n")
        async with Web(settings()) as web:
            batch = web.read_many(urls, output=tmp_path, delay=0)
            await anext(batch)
            with pytest.raises(InvalidRequest, match="another process writes"):
                await anext(web.read_many(urls, output=tmp_path))
            await batch.aclose()
            with pytest.raises(InvalidRequest, match="has no state file"):
                await anext(web.read_many(urls, output=tmp_path / "mine.jsonl"))
            with pytest.raises(InvalidRequest, match="is one text"):
                web.read_many(urls[0])

    async def test_an_early_end_leaves_no_task(self, site: WholeSite, settings: Make) -> None:
        async with Web(settings()) as web:
            batch = web.read_many((f"{site.url}{path}" for path in site.articles), delay=0)
            await anext(batch)
            await batch.aclose()
            left = {task.get_coro().__qualname__ for task in asyncio.all_tasks()}  # type: ignore[union-attr]
        assert not any("PageBatch" in name for name in left)

    async def test_what_was_read_is_found_offline(self, site: WholeSite, settings: Make, tmp_path: Path) -> None:
        made = settings(
            archive={"enabled": True, "path": str(tmp_path / "archive.db")}, search={"providers": ("archive",)}
        )
        async with Web(made) as web:
            urls = [f"{site.url}{path}" for path in site.articles]
            assert len([page async for page in web.read_many(urls, delay=0)]) == 20
            found = await web.search("lock keeper of that mile page-7", allowed_domains=["127.0.0.1"])
        assert found.results[0].url == f"{site.url}/docs/page-7"
