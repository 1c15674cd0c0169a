"""Pages that lead on by themselves, redirects that need a cookie, and addresses with spaces."""

from __future__ import annotations

from collections.abc import Callable

import pytest

from groundwire import Web
from groundwire.errors import BlockedAddress, BlockedByRobots, BlockedDomain, TooManyRedirects
from groundwire.settings import Settings
from groundwire.testing import InjectedFault
from world import World

Make = Callable[..., Settings]

pytestmark = pytest.mark.req("B3", "Y13")


@pytest.mark.parametrize(
    ("name", "path"),
    [
        ("refresh", "/end"),
        ("refresh-relative", "/end"),
        ("refresh-based", "/two%20words"),
        ("refresh-chain", "/hops/0"),
        ("refresh-header", "/end"),
        ("cookie", "/cookie"),
        ("cookie-refresh", "/cookie"),
        ("space", "/two%20words"),
    ],
)
async def test_the_page_at_the_end_is_read(world: World, settings: Make, name: str, path: str) -> None:
    maze = world.site("maze")
    async with Web(settings()) as web:
        page = await web.open_page(maze.page(name))
    assert page.title == "The way out"
    assert page.final_url == f"{maze.url}{path}"
    assert not page.warnings


@pytest.mark.parametrize(
    ("name", "seconds"), [("refresh-later", 30), ("refresh-with-text", 0), ("refresh-header-later", 9)]
)
async def test_a_page_to_be_read_is_read_and_where_it_leads_is_said(
    world: World, settings: Make, name: str, seconds: int
) -> None:
    maze = world.site("maze")
    async with Web(settings()) as web:
        page = await web.open_page(maze.page(name))
    assert page.final_url == maze.page(name)
    assert f"the page leads on to {maze.url}/end after {seconds} seconds" in page.warnings


@pytest.mark.parametrize(
    "name", ["refresh-itself", "refresh-again", "refresh-script", "refresh-brackets", "refresh-without-scripts"]
)
async def test_what_leads_nowhere_else_is_a_page(world: World, settings: Make, name: str) -> None:
    async with Web(settings()) as web:
        page = await web.open_page(world.site("maze").page(name))
    assert "The tide is high" in page.content
    assert not any("leads on" in warning for warning in page.warnings)


@pytest.mark.parametrize(
    ("name", "error"),
    [
        ("refresh-private", BlockedAddress),
        ("refresh-port", BlockedAddress),
        ("refresh-loop", TooManyRedirects),
    ],
)
async def test_it_is_guarded_and_counted_as_a_redirect(
    world: World, settings: Make, name: str, error: type[Exception]
) -> None:
    async with Web(settings()) as web:
        with pytest.raises(error):
            await web.open_page(world.site("maze").page(name))


async def test_robots_txt_of_where_it_leads_holds(world: World, settings: Make) -> None:
    maze = world.site("maze")
    rules = InjectedFault.status(200, "User-agent: *\nDisallow: /forbidden\n")
    maze.fail(rules, times=None, when=lambda request: request.path == "/robots.txt")
    async with Web(settings()) as web:
        with pytest.raises(BlockedByRobots):
            await web.open_page(maze.page("refresh-forbidden"))
    assert "/forbidden" not in [request.path for request in maze.requests]


async def test_the_domain_lists_hold_where_it_leads(world: World, settings: Make) -> None:
    lists = {"allowed_origins": world.origins, "blocked_domains": ("encyclopedia.test",), "origin_redirects": "allowed"}
    async with Web(settings(policy=lists), resolver=world.resolver) as web:
        with pytest.raises(BlockedDomain):
            await web.open_page(world.site("maze").page("refresh-across", named=True))


async def test_the_cookies_of_a_chain_go_nowhere_else_and_are_gone_after_it(world: World, settings: Make) -> None:
    maze, articles = world.site("maze"), world.site("articles")
    async with Web(settings(policy={"allowed_origins": world.origins, "origin_redirects": "allowed"})) as web:
        for _ in range(2):
            await web.open_page(maze.page("cookie"), refresh=True)
        await web.open_page(maze.page("cookie-elsewhere"))
    sent = [request.headers.get("Cookie", "") for request in maze.requests if request.path == "/cookie"]
    assert sent == ["", "way=found"] * 2
    assert all("Cookie" not in request.headers for request in articles.requests)
