"""The Wayback Machine's copy of a page that is gone, and only of that."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any, cast

import pytest

from groundwire import Settings, Web
from groundwire.errors import GroundwireError, HostNotFound, PageNotFound, PageRefused, PageUnavailable
from groundwire.testing import EmulatedResponse, InjectedFault
from groundwire.tools import render_text, web_tools
from world import World
from world.services.wayback import Wayback

COPY = """<title>Harbor hours</title>
<article><h1>Harbor hours</h1><p>The harbor opens at six.</p><a href='/map'>Map</a></article>"""


@pytest.fixture
def wayback(world: World) -> Wayback:
    return cast("Wayback", world.service("wayback"))


@pytest.fixture
def gone(world: World, wayback: Wayback) -> str:
    """The address of a page that its site no longer has, and the Wayback Machine does."""
    url = f"{world.site('articles').url}/harbor"
    wayback.copies[url] = COPY
    return url


@pytest.fixture
def given(world: World, wayback: Wayback) -> Callable[..., Settings]:
    def make(*readers: str, **sections: Any) -> Settings:
        return Settings.model_validate(
            {
                "policy": {"allowed_origins": world.origins},
                "providers": {"searxng": {"base_url": world.searxng.url}, "wayback": {"base_url": wayback.url}},
                "search": {"providers": ("searxng",)},
                "storage": {"url": "memory://"},
                "archive": {"enabled": False},
                **sections,
            }
            | {"read": {"providers": readers or ("local", "wayback"), **sections.get("read", {})}}
        )

    return make


async def test_a_page_that_is_gone_is_read_from_its_last_copy(
    given: Callable[..., Settings], wayback: Wayback, gone: str
) -> None:
    async with Web(given()) as web:
        page = await web.open_page(f"{gone}?utm_source=x#part")
        again = await web.open_page(f"{gone}?utm_source=x")
        text = render_text(await web_tools(web)[1].call(url=gone))
    assert (page.reader, page.title, again.cached) == ("wayback", "Harbor hours", True)
    assert page.final_url.startswith(gone)
    assert "opens at six" in page.content
    assert gone.replace("/harbor", "/map") in page.content
    assert page.warnings[0] == "this page is gone (HTTP 404)"
    assert page.warnings[1].startswith(
        "the Wayback Machine's copy of 2019-03-04: https://web.archive.org/web/20190304050607/"
    )
    assert "this page is gone (HTTP 404)" in text
    assert "copy of 2019-03-04" in text
    asked = [request.target for request in wayback.requests[:2]]
    assert "utm_source" not in "".join(asked)
    assert asked[1] == f"/web/20190304050607id_/{gone}"


async def test_a_host_that_is_gone(given: Callable[..., Settings], wayback: Wayback, world: World) -> None:
    wayback.copies["http://nowhere.example/harbor"] = COPY
    async with Web(given(read={"robots": True}), resolver=world.resolver) as web:
        page = await web.open_page("http://nowhere.example/harbor")
        assert page.warnings[0] == "this page is gone (its host has no address)"
        with pytest.raises(HostNotFound, match="does not resolve"):
            await web.open_page("http://nowhere.example/other")


async def test_nothing_else_is_asked_for(
    given: Callable[..., Settings], wayback: Wayback, gone: str, world: World
) -> None:
    site = world.site("articles")
    async with Web(given("local")) as web:
        with pytest.raises(PageNotFound, match="Check the URL"):
            await web.open_page(gone)
    assert Settings().read.providers == ("local",)
    async with Web(given()) as web:
        assert (await web.open_page(site.page("bm25"))).reader == "local"
        with pytest.raises(PageNotFound):
            await web.restricted(providers=["local"]).open_page(gone)
        for status, error in ((500, PageUnavailable), (403, PageRefused)):
            site.fail(InjectedFault.status(status), times=None)
            with pytest.raises(error):
                await web.open_page(f"{gone}?{status}")
            site.heal()
        with pytest.raises(PageNotFound):
            await web.open_page(f"{gone}?access_token=ghp_0123456789abcdefghijklmnopqrstuvwxyz")
    assert wayback.requests == []


@pytest.mark.parametrize(
    "closest",
    [
        {"status": "404"},
        {"status": None},
        {"url": "http://web.archive.org/web/20190304050607/http://other.example/harbor"},
        {"url": "http://evil.example/web/20190304050607/http://other.example/harbor"},
        {"url": 7},
        {"url": "http://web.archive.org/web/20190304050607/{gone}?id=2"},
        {"url": "http://web.archive.org/web/20190304050607/{gone}/other"},
        {"url": "http://web.archive.org/web/20191399050607/{gone}"},
    ],
)
async def test_what_is_no_copy_of_it_is_not_shown(
    given: Callable[..., Settings], wayback: Wayback, gone: str, closest: dict[str, object]
) -> None:
    wayback.closest = {
        key: value.replace("{gone}", gone) if isinstance(value, str) else value for key, value in closest.items()
    }
    async with Web(given()) as web:
        with pytest.raises(PageNotFound, match=r"There is no such page \(HTTP 404\)"):
            await web.open_page(gone)
    assert len(wayback.requests) == 1


@pytest.mark.parametrize("status", [200, 204, 301, 400, 403, 404, 418, 429, 451, 500, 503, 520])
@pytest.mark.parametrize(
    "body",
    [b"", b"{}", b"[]", b"null", b'{"archived_snapshots":[]}', b'{"archived_snapshots":{"closest":1}}', COPY.encode()],
)
async def test_no_answer_of_the_machine_changes_what_the_site_said(
    given: Callable[..., Settings], wayback: Wayback, gone: str, status: int, body: bytes
) -> None:
    wayback.fail(InjectedFault.status(status, body), times=None)
    async with Web(given()) as web:
        with pytest.raises(PageNotFound, match=r"There is no such page \(HTTP 404\)"):
            await web.open_page(gone)


@pytest.mark.parametrize("status", [204, 301, 302, 400, 403, 404, 410, 429, 451, 500, 503])
async def test_a_copy_that_does_not_come_is_none(
    given: Callable[..., Settings], wayback: Wayback, gone: str, status: int
) -> None:
    wayback.instead = EmulatedResponse(
        status=status, body=b"" if status == 204 else COPY.encode(), content_type="text/html"
    )
    async with Web(given()) as web:
        with pytest.raises(PageNotFound, match=r"There is no such page \(HTTP 404\)"):
            await web.open_page(gone)
    assert len(wayback.requests) == 2


async def test_a_machine_that_wants_rest_gets_it(given: Callable[..., Settings], wayback: Wayback, gone: str) -> None:
    wayback.retry_after = "900"
    async with Web(given()) as web:
        for number in range(3):
            with pytest.raises(PageNotFound):
                await web.open_page(f"{gone}?n={number}")
    assert len(wayback.requests) == 1


async def test_alone_it_reads_any_page(given: Callable[..., Settings], wayback: Wayback, world: World) -> None:
    async with Web(given("wayback")) as web:
        page = await web.open_page(world.site("articles").page("bm25"))
        assert (page.reader, page.warnings[0][:20]) == ("wayback", "the Wayback Machine'")
        with pytest.raises(GroundwireError, match="has no copy"):
            await web.open_page(f"{world.site('articles').url}/never")
    assert len(wayback.requests) == 3
