"""Which reader is asked for a page, and what is said when none can show it."""

from __future__ import annotations

import os
from collections.abc import Callable
from pathlib import Path
from typing import Any

import pytest

from components.application import Application
from groundwire import Settings, Web
from groundwire.deadline import Deadline
from groundwire.errors import ConfigurationError, PageNeedsScripts
from groundwire.models import ReadResult
from groundwire.providers.base import Capabilities
from groundwire.testing import EmulatedResponse, World

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
    assert 'pip install "groundwire[browser]"' in str(caught.value)


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
