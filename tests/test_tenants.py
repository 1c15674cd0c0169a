"""Two tenants over every face of one gateway, in random order, with providers up and down: they never meet."""

from __future__ import annotations

import inspect
import itertools
import os
import random
import sqlite3
from collections.abc import AsyncIterator, Awaitable, Callable
from contextlib import AsyncExitStack, closing
from datetime import UTC, datetime
from pathlib import Path
from typing import Any

import aiohttp
import pytest
from hypothesis import HealthCheck, given
from hypothesis import settings as hypothesis_settings
from hypothesis import strategies as st

from groundwire import AllProvidersFailed, Settings, Web
from groundwire.errors import GroundwireError
from groundwire.models import Page, SearchResponse, SearchResult
from groundwire.routing.cache import Cache
from groundwire.routing.cache_codec import page_key, partition_of, search_key
from groundwire.safety.tenancy import LOCAL, OPERATOR, Owner, Sharing, page_visibility
from groundwire.safety.urls import parse_url
from groundwire.storage.archive.store import Archive
from groundwire.testing import InjectedFault
from groundwire.web.session_sources import SessionSources
from groundwire_server.api import build_gateway
from groundwire_server.auth import KeyFile
from groundwire_server.auth.keys import KeyLimits, make_key
from groundwire_server.ui.search_view import find_shown, keep_shown
from groundwire_server.uvicorn_runner import serving
from world import World
from world.model_apis import ModelServer

Make = Callable[..., Settings]

WORDS = "reciprocal rank fusion"
MARKS = {"alice": "quokka", "bob": "narwhal"}
"""A word that stands in everything private of a tenant, and nowhere else."""
MCP = {"Accept": "application/json, text/event-stream"}


def kept(settings: Make, folder: Path, sharing: Sharing = "sessions", **sections: Any) -> Settings:
    """Settings with a store, a cache and an archive of their own."""
    return settings(
        storage={"url": f"sqlite:///{folder}/store.db", "sharing": sharing},
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
    @pytest.mark.parametrize(
        ("sharing", "leaks"), [("none", False), ("sessions", False), ("public", False), ("all", True)]
    )
    async def test_a_private_address_stays_its_owners_when_providers_are_down(
        self, world: World, settings: Make, tmp_path: Path, rrf: str, sharing: Sharing, leaks: bool
    ) -> None:
        async with Web(kept(settings, tmp_path, sharing)) as web:
            for owner in (web.session("a"), web.restricted(tenant="a")):
                await owner.open_page(f"{rrf}?draft=merger")
            world.searxng.fail(InjectedFault.status(500), times=None)
            for other in (web, web.session(), web.session("b"), web.restricted(tenant="b").session("a")):
                assert ("draft=merger" in await said(other.search(WORDS))) == leaks
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
        await archive.add(response, owner=Owner(session="a"))
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
            assert await archive.add(page, owner=owner)
            assert await archive.add(Page(url="https://a.example/same", content=f"Own {number}."), owner=owner)
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
    async def test_an_archive_of_an_earlier_version_is_the_local_users_and_private(self, tmp_path: Path) -> None:
        path = tmp_path / "archive.db"
        archive = Archive(path)
        await archive.add(Page(url="https://a.example/one", content="Whales sing."), owner=LOCAL)
        await archive.aclose()
        with closing(sqlite3.connect(path)) as db:
            db.execute("drop index archive_pages_by_place")
            for column in ("place", "tenant", "session", "public"):
                db.execute(f"alter table archive_items drop column {column}")
            db.execute("update archive_about set version = 1")
            db.commit()
        archive = Archive(path)
        assert [one.url for one in await archive.search("whales", viewer=LOCAL)] == ["https://a.example/one"]
        assert await archive.get_page("https://a.example/one", viewer=LOCAL) is not None
        for other in (Owner(session="a"), Owner(tenant="a")):
            assert not await archive.list(viewer=other)
        assert await archive.forget(url="https://a.example/one") == 1
        await archive.aclose()


class TestCache:
    @pytest.mark.req("B22")
    @pytest.mark.parametrize(
        ("sharing", "shared"),
        [
            ("none", (False, False)),
            ("sessions", (False, False)),
            ("public", (True, False)),
            ("all", (True, True)),
        ],
    )
    async def test_only_what_is_public_by_construction_is_shared(
        self, settings: Make, tmp_path: Path, rrf: str, sharing: Sharing, shared: tuple[bool, bool]
    ) -> None:
        async with Web(kept(settings, tmp_path, sharing)) as web:
            one, other = (web.restricted(tenant=name) for name in ("a", "b"))
            for url, expected in zip((rrf, f"{rrf}?draft=merger"), shared, strict=True):
                assert not (await one.open_page(url)).cached
                assert (await one.open_page(url)).cached
                assert (await other.open_page(url)).cached == expected
            await one.open_page(f"{rrf}#merger")
            assert "merger" not in str(await other.open_page(rrf))
            await one.search(WORDS)
            assert (await other.search(WORDS)).cached == shared[0]

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
            keys = [key async for key in web.store.scan("")]
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
        (Archive.export, "viewer"),
        (Archive.statistics, "viewer"),
        (Archive.add, "owner"),
        (Archive.remember, "owner"),
        (Cache.get_or_load, "owner"),
        (SessionSources.content, "owner"),
        (search_key, "partition"),
        (page_key, "partition"),
        (find_shown, "owner"),
        (keep_shown, "owner"),
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
    keys = {partition_of(owner, "private", "public") for owner in owners} | {"shared"}
    assert len(keys) == len(owners) + 1
    assert partition_of(Owner("a"), "public", "public") == "shared"


class House:
    """One gateway with everything on, and its two tenants."""

    def __init__(self, world: World, clients: dict[str, aiohttp.ClientSession], page: str) -> None:
        self.world = world
        self.clients = clients
        self.page = page
        self.numbers = itertools.count()
        self._mcp: dict[str, dict[str, str]] = {}

    async def ask(self, name: str, method: str, path: str, **options: Any) -> str:
        """Return everything that a tenant is answered."""
        async with self.clients[name].request(method, path, **options) as reply:
            return f"{reply.status} {dict(reply.headers)} {await reply.text()}"

    async def mcp(self, name: str, method: str, /, **params: Any) -> str:
        if name not in self._mcp:
            hello = {"protocolVersion": "2025-06-18", "capabilities": {}, "clientInfo": {"name": "t", "version": "1"}}
            message = {"jsonrpc": "2.0", "id": 1, "method": "initialize", "params": hello}
            async with self.clients[name].post("/mcp", json=message, headers=MCP) as reply:
                self._mcp[name] = {"Mcp-Session-Id": reply.headers["Mcp-Session-Id"]}
            await self.ask(
                name,
                "POST",
                "/mcp",
                json={"jsonrpc": "2.0", "method": "notifications/initialized"},
                headers=MCP | self._mcp[name],
            )
        message = {"jsonrpc": "2.0", "id": 2, "method": method, "params": params}
        return await self.ask(name, "POST", "/mcp", json=message, headers=MCP | self._mcp[name])

    async def step(self, name: str, action: str, number: int) -> str:
        """Do one thing as a tenant, with its mark in all that is its own; return what it is answered."""
        mark = f"{MARKS[name]}{number}"
        words, private = f"{WORDS} {mark}", f"{self.page}?draft={mark}"
        events = {"Accept": "text/event-stream"}
        match action:
            case "search":
                return await self.ask(name, "POST", "/v1/search", json={"query": words, "session": "work"})
            case "search events":
                return await self.ask(name, "POST", "/v1/search", json={"query": words}, headers=events)
            case "search the same":
                return await self.ask(name, "POST", "/v1/search", json={"query": WORDS, "session": "work"})
            case "open":
                return await self.ask(name, "POST", "/v1/pages", json={"url": private, "session": "work"})
            case "open a part":
                return await self.ask(name, "POST", "/v1/pages", json={"url": f"{self.page}#{mark}"}, headers=events)
            case "open the same":
                return await self.ask(name, "POST", "/v1/pages", json={"urls": [self.page]})
            case "searxng":
                return await self.ask(name, "GET", "/search", params={"q": words, "format": "json"})
            case "perplexity":
                return await self.ask(name, "POST", "/search", json={"query": words})
            case "proxy":
                body = {"model": "m", "messages": [{"role": "user", "content": words}]}
                return await self.ask(name, "POST", "/openai/v1/chat/completions", json=body)
            case "mcp search":
                return await self.mcp(name, "tools/call", name="web_search", arguments={"query": words})
            case "mcp open":
                return await self.mcp(name, "tools/call", name="open_page", arguments={"url": private})
            case "mcp resources":
                listed = await self.mcp(name, "resources/list")
                return listed + await self.mcp(name, "resources/read", uri="groundwire://session")
            case "mcp completion":
                ref = {"type": "ref/resource", "uri": "groundwire://page/{url}{?cursor}"}
                return await self.mcp(name, "completion/complete", ref=ref, argument={"name": "url", "value": "h"})
            case "mcp question":
                ref = {"type": "ref/prompt", "name": "web_research"}
                return await self.mcp(name, "completion/complete", ref=ref, argument={"name": "question", "value": "r"})
            case "ask":
                asked: dict[str, Any] = {"question": words, "quote": True, "session": "work"}
                return await self.ask(name, "POST", "/v1/ask", json=asked)
            case "ask events":
                return await self.ask(name, "POST", "/v1/ask", json={"question": WORDS, "quote": True}, headers=events)
            case "tool search":
                return await self.ask(name, "POST", "/v1/tools/web_search?session=work", json={"query": words})
            case "tool open":
                return await self.ask(name, "POST", "/v1/tools/open_page?session=work", json={"url": private})
            case "responses":
                return await self.ask(name, "POST", "/openai/v1/responses", json={"model": "m", "input": words})
            case "messages":
                message: dict[str, Any] = {"model": "m", "max_tokens": 99}
                message["messages"] = [{"role": "user", "content": words}]
                message["tools"] = [{"type": "web_search_20250305", "name": "web_search"}]
                return await self.ask(name, "POST", "/openai/v1/messages", json=message)
            case "forget":
                return await self.ask(name, "DELETE", "/v1/sessions/work")
            case "page":
                return await self.ask(name, "GET", "/", params={"q": words})
            case "page open":
                return await self.ask(name, "GET", "/", params={"open": private})
            case "verify":
                body = {"answer": "It merges rankings [1].", "session": "work"}
                return await self.ask(name, "POST", "/v1/verify", json=body)
            case _:
                return await self.ask(name, "GET", action)

    def weather(self, change: str, mark: str) -> None:
        """Let providers and sites fail, or be well again; one fault quotes a tenant to its next search."""
        site = self.world.site("articles")
        match change:
            case "search down":
                self.world.searxng.fail(InjectedFault.status(500), times=None)
            case "search up":
                self.world.searxng.heal()
            case "site down":
                site.fail(InjectedFault.status(500), times=None)
            case "site up":
                site.heal()
            case "quoting":
                said = f'{{"error": "too many queries like {mark}"}}'
                self.world.searxng.heal()
                self.world.searxng.fail(InjectedFault.status(429, said, headers={"Retry-After": "1"}))


ACTIONS = (
    "search",
    "search events",
    "search the same",
    "open",
    "open a part",
    "open the same",
    "searxng",
    "perplexity",
    "proxy",
    "mcp search",
    "mcp open",
    "mcp resources",
    "page",
    "page open",
    "verify",
    "mcp completion",
    "mcp question",
    "ask",
    "ask events",
    "tool search",
    "tool open",
    "responses",
    "messages",
    "forget",
    "/sessions",
    "/session",
    "/archive",
    "/archive?q=fusion",
    "/providers",
    "/v1/providers",
    "/v1/sessions/work",
    "/metrics",
    "/openapi.json",
    "/readyz",
)


@pytest.fixture
async def house(
    settings: Make, world: World, tmp_path: Path, rrf: str, request: pytest.FixtureRequest
) -> AsyncIterator[House]:
    async with AsyncExitStack() as stack:
        file = tmp_path / "keys.json"
        sharing: Sharing = getattr(request, "param", "sessions")
        model = world.add(ModelServer(name="model"))
        patient = {"timeout": 600}  # a busy machine refuses no call with so much time
        own = {"server": {"key_file": str(file)}, "search": patient, "read": patient}
        sections = kept(settings, tmp_path, sharing, **own)
        headers = {}
        for name in MARKS:
            key, record = make_key(name, datetime.now(UTC), limits=KeyLimits())
            KeyFile(file).add(record)
            headers[name] = {"Authorization": f"Bearer {key}"}
        gateway = await stack.enter_async_context(build_gateway(sections, upstream=f"{model.url}/v1", mcp=True))
        url = await stack.enter_async_context(serving(gateway))
        clients = {
            name: await stack.enter_async_context(aiohttp.ClientSession(url, headers=headers[name])) for name in MARKS
        }
        yield House(world, clients, rrf)


STEPS = [(name, action) for action in ACTIONS for name in MARKS]
WEATHER = ("", "", "", "search down", "search up", "site down", "site up", "quoting")


@pytest.mark.req("B22")
@pytest.mark.timeout(600)
@given(st.randoms(use_true_random=True))
@hypothesis_settings(max_examples=20 if os.environ.get("SLOW") else 1, suppress_health_check=list(HealthCheck))
async def test_two_tenants_never_meet(house: House, chance: random.Random) -> None:
    """Every face in any order, with providers up and down; what earlier examples did stays in the store."""
    for name, action in chance.sample(STEPS, len(STEPS)):
        change = chance.choice(WEATHER)
        number = next(house.numbers)
        house.weather(change, f"{MARKS[name]}{number}")
        answer = await house.step(name, action, number)
        if change == "quoting":  # what quotes one is not for the other
            house.world.searxng.heal()
        for other, mark in MARKS.items():
            assert other == name or mark not in answer.lower(), (
                f"step {number}: {name} did {action!r}: {answer[:2_000]}"
            )


@pytest.mark.req("B22")
@pytest.mark.parametrize("house", ["all"], indirect=True)
async def test_the_marks_are_seen_where_the_operator_shares_all(house: House, world: World) -> None:
    assert "quokka1" in await house.step("alice", "open", 1)
    world.searxng.fail(InjectedFault.status(500), times=None)
    assert "quokka1" in await house.step("bob", "search the same", 2)


async def said(call: Awaitable[Any]) -> str:
    try:
        return str(await call)
    except GroundwireError as error:
        return f"{error!r} {error}"
