"""Which reader is asked for a page, and what is said when none can show it."""

from __future__ import annotations

import os
import sys
from collections.abc import Callable
from pathlib import Path
from typing import Any

import pytest

from components.application import Application
from groundwire import Settings, Web
from groundwire.deadline import Deadline
from groundwire.errors import ConfigurationError, DeadlineExceeded, PageNeedsScripts, PageUnavailable
from groundwire.models import ReadResult
from groundwire.providers.base import Capabilities
from groundwire.reading.block_pages.empty_shell import LOADS_MORE, LOADS_PARTS
from groundwire.reading.extract import extract
from groundwire.testing import EmulatedResponse
from world import World

Make = Callable[..., Settings]


class Shows:
    """A reader that runs scripts."""

    name = "shows"
    capabilities = Capabilities(read=True, renders=True, guarded=True)

    async def read_url(self, url: str, *, deadline: Deadline | None = None) -> ReadResult:
        return ReadResult(url=url, title="Shown", content="What the scripts have made.", success=True)


@pytest.fixture
def site(world: World) -> Application:
    return world.add(Application())


def given(settings: Make, site: Application, **read: Any) -> Settings:
    return settings(policy={"allowed_origins": (site.url,)}, read=read)


@pytest.mark.req("B2")
async def test_a_shell_goes_to_the_next_reader(settings: Make, site: Application) -> None:
    async with Web(given(settings, site), read_providers=["local", Shows()]) as web:
        page = await web.open_page(site.url + "/late")
    assert (page.reader, page.title) == ("shows", "Shown")


@pytest.mark.req("B2")
async def test_without_a_reader_that_runs_scripts_it_is_said_what_to_add(settings: Make, site: Application) -> None:
    async with Web(given(settings, site)) as web:
        with pytest.raises(PageNeedsScripts, match="read\\.providers") as caught:
            await web.open_page(site.url + "/late")
    assert "groundwire doctor" in str(caught.value)
    assert sys.executable not in str(caught.value)  # a client elsewhere reads it


async def test_a_browser_that_is_set_but_missing_is_named(
    settings: Make, site: Application, monkeypatch: pytest.MonkeyPatch, tmp_path: Path
) -> None:
    monkeypatch.setenv("PATH", os.pathsep.join([str(tmp_path)]))
    monkeypatch.setenv("PLAYWRIGHT_BROWSERS_PATH", str(tmp_path))
    async with Web(given(settings, site, providers=("local", "browser"))) as web:
        with pytest.raises(PageNeedsScripts, match="apt install chromium-headless-shell"):
            await web.open_page(site.url + "/late")
    with pytest.raises(ConfigurationError, match=r"providers\.browser\.executable"):
        Web(given(settings, site, providers=("browser",)))


async def test_domains_can_be_shown_at_once(settings: Make, site: Application) -> None:
    site.pages["/text"] = EmulatedResponse.html(
        "<title>Text</title><p>Words that anybody can read without a browser.</p>"
    )
    for render, reader in ((), "local"), (("127.0.0.1",), "shows"):
        async with Web(given(settings, site, render_domains=render), read_providers=["local", Shows()]) as web:
            assert (await web.open_page(site.url + "/text")).reader == reader


async def test_data_that_a_shell_brings_are_read_without_a_browser(settings: Make, site: Application) -> None:
    words = "The orchard behind the mill has many trees, and somebody has counted all of them twice. " * 4
    state = f'{{"article": {{"title": "The orchard", "body": "{words}"}}}}'
    site.pages["/shell"] = EmulatedResponse.html(
        f'<title>Farm</title><div id="root"></div><script>window.__STATE__ = {state}</script><script src="/a"></script>'
    )
    async with Web(given(settings, site), read_providers=["local", Shows()]) as web:
        page = await web.open_page(site.url + "/shell")
    assert page.reader == "local"
    assert "counted all of them" in page.content
    assert "__STATE__" in page.warnings[0]


WORDS = "<p>" + "Words of an article that is there before any script has run. " * 12 + "</p>"
WITH_A_BOX = (
    "<!doctype html><html lang=en><head><title>Harbor</title><script src=/app.js></script></head>"
    "<body><main><h1>Harbor</h1>{}</main>{}"
)
BOX = "<div class=tides><span>Loading tides…</span></div>"


def half(main: str, after: str = "") -> EmulatedResponse:
    return EmulatedResponse.html(WITH_A_BOX.format(WORDS + main, after))


class Fails(Shows):
    name = "fails"

    async def read_url(self, url: str, *, deadline: Deadline | None = None) -> ReadResult:
        raise PageUnavailable(url, "The browser has crashed.")


class Hangs(Shows):
    name = "hangs"

    async def read_url(self, url: str, *, deadline: Deadline | None = None) -> ReadResult:
        assert deadline is not None
        assert deadline.remaining() < 0.85 * 20.0  # the rest is for handing on what is there
        raise DeadlineExceeded("It took too long.")


class Paid(Fails):
    page_price_usd = 0.01


@pytest.mark.req("B2")
async def test_a_page_that_waits_for_parts_goes_to_a_browser(settings: Make, site: Application) -> None:
    site.pages["/tides"] = half(BOX)
    async with Web(given(settings, site), read_providers=["local", Shows()]) as web:
        page = await web.open_page(site.url + "/tides")
    assert page.reader == "shows"


@pytest.mark.req("B2")
@pytest.mark.parametrize("others", [[], [Fails()], [Hangs()], [Paid()]], ids=["none", "fails", "hangs", "paid"])
async def test_a_part_is_better_than_nothing(settings: Make, site: Application, others: list[Any]) -> None:
    site.pages["/tides"] = half(BOX)
    async with Web(given(settings, site), read_providers=["local", *others]) as web:
        page = await web.open_page(site.url + "/tides", timeout=20.0)
    assert page.reader == "local"
    assert "Words of an article" in page.content
    assert LOADS_PARTS in page.warnings


@pytest.mark.parametrize(
    ("main", "after", "said"),
    [
        (BOX, "", LOADS_PARTS),
        ("<section aria-busy=true></section>", "", LOADS_PARTS),
        ("<p>Wird geladen ...</p>", "", LOADS_PARTS),
        ("<div>加载中</div>", "", LOADS_PARTS),
        ("<p>-\n Loading\n the\n list\n ...</p><p>of</p>", "", LOADS_PARTS),
        ("<p>Loading</p><p>docks of the harbor</p>", "", LOADS_PARTS),
        ("<p>Loading\ndocks of the harbor</p>", "", ""),
        ("<ul><li>One<li>Two</ul><button class=load-more>Load more ships</button>", "", LOADS_MORE),
        ("<div style='display:none'>Loading…</div>", "", ""),
        ("<div hidden>Loading...</div>", "", ""),
        ("<div class=comments>Loading comments…</div>", "", ""),
        ("<h2>Loading docks of the harbor</h2>", "", ""),
        ("<p>Please wait for the ferry at the quay.</p>", "", ""),
        ("", "<footer>Loading…</footer>", ""),
        ("", "<script>var box = '<div>Loading…</div>'</script>", ""),
        ("<p class=load-more>A sentence about how to load more ships.</p>", "", ""),
    ],
)
def test_boxes_that_wait(main: str, after: str, said: str) -> None:
    page = WITH_A_BOX.format(WORDS + main, after)
    assert extract(page, "https://a.example/").later == ((said,) if said else ())
    for script, runs in (
        ("<script>fill()</script>", True),
        ("<script type=application/ld+json>{}</script>", False),
        ("", False),
    ):
        found = extract(page.replace("<script src=/app.js></script>", script), "https://a.example/").later
        assert found == ((said,) if said and runs else ())
