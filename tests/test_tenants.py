"""What is kept of one tenant is not shown to another."""

from __future__ import annotations

import inspect
import sqlite3
from collections.abc import Awaitable, Callable
from contextlib import closing
from pathlib import Path
from typing import Any

import pytest

from components.archiving import add
from components.stored_keys import stored_keys
from groundwire import AllProvidersFailed, Settings, Web
from groundwire.errors import GroundwireError
from groundwire.models import Page, SearchResponse, SearchResult
from groundwire.routing.cache import Cache
from groundwire.routing.cache_codec import page_key, partition_of, search_key
from groundwire.safety.tenancy import LOCAL, OPERATOR, Owner, page_visibility
from groundwire.safety.urls import parse_url
from groundwire.storage import StoreError
from groundwire.storage.archive.store import Archive
from groundwire.testing import InjectedFault
from groundwire.web.session_sources import SessionSources
from world import World

Make = Callable[..., Settings]

WORDS = "reciprocal rank fusion"


def kept(settings: Make, folder: Path, **sections: Any) -> Settings:
    """Settings with a store, a cache and an archive of their own."""
    return settings(
        storage={"url": f"sqlite:///{folder}/store.db"},
        cache={"enabled": True},
        archive={"enabled": True, "path": str(folder / "archive.db")},
        session={"max_searches": 0},
        **sections,
    )


@pytest.fixture
def rrf(world: World) -> str:
    """A page that a search for WORDS finds."""
    return f"{world.site('articles').url}/wiki/reciprocal-rank-fusion"


class TestArchive:
    @pytest.mark.req("B22")
    async def test_a_private_address_stays_its_owners_when_providers_are_down(
        self, world: World, settings: Make, tmp_path: Path, rrf: str
    ) -> None:
        async with Web(kept(settings, tmp_path)) as web:
            for owner in (web.session("a"), web.restricted(tenant="a")):
                await owner.open_page(f"{rrf}?draft=merger")
            world.searxng.fail(InjectedFault.status(500), times=None)
            for other in (web, web.session(), web.session("b"), web.restricted(tenant="b").session("a")):
                assert "draft=merger" not in await said(other.search(WORDS))
            for owner in (web.session("a"), web.restricted(tenant="a"), web.restricted(tenant="a").session("x")):
                assert "draft=merger" in await said(owner.search(WORDS)), "its owner still has it"

    @pytest.mark.req("B22")
    async def test_what_is_public_is_shared_by_sessions_and_never_by_tenants(
        self, world: World, settings: Make, tmp_path: Path, rrf: str
    ) -> None:
        async with Web(kept(settings, tmp_path)) as web:
            await web.session("a").open_page(rrf)
            await web.restricted(tenant="a").open_page(rrf)
            world.searxng.fail(InjectedFault.status(500), times=None)
            assert rrf in await said(web.session("b").search(WORDS))
            with pytest.raises(AllProvidersFailed):
                await web.restricted(tenant="b").search(WORDS)

    @pytest.mark.req("B22")
    async def test_what_one_asked_for_leads_nobody_else_to_what_it_found(self, tmp_path: Path) -> None:
        archive = Archive(tmp_path / "archive.db")
        row = SearchResult(title="Reciprocal rank fusion", url="https://a.example/", snippet="It merges lists.")
        response = SearchResponse(query="project quokka", results=(row,), provider="searxng")
        await add(archive, response, owner=Owner(session="a"))
        assert await archive.search("quokka", viewer=Owner(session="a"))
        assert not await archive.search("quokka", viewer=LOCAL)
        assert not await archive.search("quokka project of nobody", viewer=LOCAL)
        assert [one.url for one in await archive.search("merges lists", viewer=LOCAL)] == [row.url]
        assert not await archive.search("merges lists", viewer=Owner(tenant="a"))
        await archive.aclose()

    @pytest.mark.req("B22")
    async def test_reads_name_who_looks(self, tmp_path: Path) -> None:
        archive = Archive(tmp_path / "archive.db")
        owners = (LOCAL, Owner(session="a"), Owner(tenant="a"), Owner(tenant="b"))
        for number, owner in enumerate(owners):
            page = Page(url=f"https://a.example/?q={number}", content=f"Words of number {number}.")
            assert await add(archive, page, owner=owner)
            assert await add(archive, Page(url="https://a.example/same", content=f"Own {number}."), owner=owner)
        assert (await archive.statistics(viewer=OPERATOR)).pages == 8
        for number, owner in enumerate(owners):
            for other in range(len(owners)):
                seen = await archive.get_page(f"https://a.example/?q={other}", viewer=owner)
                assert (seen is not None) == (other == number)
            own = [one.url for one in await archive.list(viewer=owner) if "q=" in one.url]
            assert own == [f"https://a.example/?q={number}"]
            if owner.tenant:
                same = await archive.get_page("https://a.example/same", viewer=owner)
                assert same is not None
                assert same.content == f"Own {number}."
                assert (await archive.statistics(viewer=owner)).pages == 2
        assert await archive.forget(url="https://a.example/same") == 4
        await archive.aclose()

    @pytest.mark.req("B22")
    async def test_an_archive_of_another_version_is_left_alone(self, tmp_path: Path) -> None:
        path = tmp_path / "archive.db"
        archive = Archive(path)
        await add(archive, Page(url="https://a.example/one", content="Whales sing."), owner=LOCAL)
        await archive.aclose()
        with closing(sqlite3.connect(path)) as db:
            db.execute("update archive_about set version = 1")
            db.commit()
        archive = Archive(path)
        with pytest.raises(StoreError, match="another version of Groundwire"):
            await archive.search("whales", viewer=LOCAL)
        await archive.aclose()


class TestCache:
    @pytest.mark.req("B22")
    async def test_tenants_share_nothing(self, settings: Make, tmp_path: Path, rrf: str) -> None:
        async with Web(kept(settings, tmp_path)) as web:
            one, other = (web.restricted(tenant=name) for name in ("a", "b"))
            for url in (rrf, f"{rrf}?draft=merger"):
                assert not (await one.open_page(url)).cached
                assert (await one.open_page(url)).cached
                assert not (await other.open_page(url)).cached
            await one.open_page(f"{rrf}#merger")
            assert "merger" not in str(await other.open_page(rrf))
            await one.search(WORDS)
            assert not (await other.search(WORDS)).cached

    @pytest.mark.req("B22")
    async def test_sessions_without_a_tenant_share_what_is_public(
        self, settings: Make, tmp_path: Path, rrf: str
    ) -> None:
        async with Web(kept(settings, tmp_path)) as web:
            one, other = (web.session(name) for name in ("a", "b"))
            for url, expected in ((rrf, True), (f"{rrf}?draft=merger", False)):
                await one.open_page(url)
                assert (await other.open_page(url)).cached == expected

    @pytest.mark.req("B22")
    async def test_a_call_or_a_key_can_say_that_nothing_is_kept(
        self, world: World, settings: Make, tmp_path: Path, rrf: str
    ) -> None:
        async with Web(kept(settings, tmp_path)) as web:
            for view, keep in ((web.session("a"), False), (web.restricted(keep=False).session("b"), True)):
                found = await view.search(WORDS, keep=keep)
                (page,) = await view.open_pages([rrf], keep=keep)
                assert (found.results[0].citation_id, page.status) == (1, "success")
                assert (await view.open_page(f"{rrf}?draft=merger", keep=keep)).content
                assert await view.sources() == ()
            keys = await stored_keys(web.store)
            assert not [key for key in keys if key.startswith(("search:", "page:", "sources:", "cited:"))]
            assert web.archive is not None
            assert not await web.archive.list(viewer=OPERATOR)
            assert not (await web.search(WORDS)).cached

    @pytest.mark.req("B22")
    async def test_sessions_of_one_name_are_their_tenants(self, settings: Make, tmp_path: Path) -> None:
        async with Web(kept(settings, tmp_path)) as web:
            assert web.restricted(tenant="a").session("x").owner == Owner(tenant="a")
            await web.restricted(tenant="a").session("x").search(WORDS)
            assert (await web.restricted(tenant="b").session("x").usage())["searches"] == 0
            await web.restricted(tenant="a").search(WORDS)
            assert await web.restricted(tenant="a").sources()
            assert await web.restricted(tenant="b").sources() == await web.sources() == ()


@pytest.mark.req("B22")
async def test_what_a_service_quotes_of_one_query_is_not_shown_to_others(
    settings: Make, tmp_path: Path, world: World
) -> None:
    said_by_it = '{"error": "too many queries like quokka"}'
    world.searxng.fail(InjectedFault.status(429, said_by_it, headers={"Retry-After": "60"}), times=None)
    async with Web(kept(settings, tmp_path)) as web:
        assert "quokka" in await said(web.restricted(tenant="a").search("quokka"))
        theirs = await said(web.restricted(tenant="b").search(WORDS))
        assert "not called" in theirs
        assert "quokka" not in theirs
        assert "quokka" not in str(web.provider_health())


@pytest.mark.req("B22")
@pytest.mark.parametrize(
    ("read", "name"),
    [
        (Archive.search, "viewer"),
        (Archive.get_page, "viewer"),
        (Archive.list, "viewer"),
        (Archive.statistics, "viewer"),
        (Archive.remember, "owner"),
        (Cache.get_or_load, "owner"),
        (SessionSources.content, "owner"),
        (search_key, "partition"),
        (page_key, "partition"),
    ],
)
def test_nothing_that_is_kept_is_had_without_saying_whose(read: Callable[..., object], name: str) -> None:
    parameter = inspect.signature(read).parameters[name]
    assert (parameter.kind, parameter.default) == (parameter.KEYWORD_ONLY, parameter.empty)


@pytest.mark.req("B22")
@pytest.mark.parametrize(
    ("url", "visibility"),
    [
        ("https://a.example/one", "public"),
        ("https://a.example/?q=merger", "private"),
        ("https://a.example/one#part", "private"),
        ("https://a.example/reset/" + "a1B2" * 10, "private"),
        ("https://a.example/share/8f3", "private"),
        ("https://a.example/share/quiet-otter-lamp", "private"),
        ("https://a.example/d/1BxiMVs0XRA5/edit", "private"),
        ("https://a.example/document/1BxiMVs0XRA5nFMdKvBd.html", "private"),
        ("https://a.example/p/8f3a9c2e-71d0-4b5f-9a3e-1b2c3d4e5f60", "private"),
        ("https://a.example/p/%38f3a9c2e71d0", "private"),
        ("https://a.example/notes/AbCdEfGhIjKlMnOpQrStUv", "private"),
        ("https://a.example/", "public"),
        ("https://a.example/2026/11/28/a-review-of-2026-11-28.html", "public"),
        ("https://a.example/wiki/Reciprocal_rank_fusion", "public"),
        ("https://a.example/AutomatedTeachingMachines", "public"),
        ("https://a.example/abs/2401.12345v2", "public"),
        ("https://a.example/questions/11227809/why-is-it-faster", "public"),
        ("https://a.example/wiki/%E8%88%B9%E3%81%8C%E6%9D%A5%E3%82%8B", "public"),
    ],
)
def test_what_is_public_by_construction(url: str, visibility: str) -> None:
    assert page_visibility(parse_url(url)) == visibility


def test_names_of_owners_never_run_together() -> None:
    owners = [LOCAL, Owner("shared"), Owner("local"), Owner("a:b"), Owner("a b"), Owner(session="a"), Owner("a")]
    keys = {partition_of(owner, "private") for owner in owners} | {"shared"}
    assert len(keys) == len(owners) + 1
    assert partition_of(Owner(session="a"), "public") == "shared"


async def said(call: Awaitable[Any]) -> str:
    try:
        return str(await call)
    except GroundwireError as error:
        return f"{error!r} {error}"
