"""Crawl4AI for real, in an environment of its own, behind our proxy."""

from __future__ import annotations

import asyncio
from collections.abc import Callable, Sequence
from pathlib import Path
from typing import Any

import pytest

from components.application import PARAGRAPHS, Application, shell
from components.attacks import attacking_page, worker_script
from components.chromium import executable_or_skip, processes, until_gone
from components.environment import crawl4ai_python
from components.forbidden import Forbidden
from components.needs import needed
from groundwire import Settings, Web
from groundwire.errors import BlockedAddress, ConfigurationError, DeadlineExceeded, PageNotFound
from groundwire.testing import EmulatedResponse, InjectedFault
from world import World

Make = Callable[..., Web]
_FOLDER = Path(__file__).resolve().parents[2] / ".venv-crawl4ai"


@pytest.fixture(scope="module")
def python(say: Callable[[str], None]) -> Path:
    """The interpreter of an environment that has Crawl4AI."""
    return needed(lambda: crawl4ai_python(_FOLDER, say))


@pytest.fixture
def site(world: World) -> Application:
    return world.add(Application())


@pytest.fixture
def make(world: World, site: Application, python: Path) -> Make:
    executable = executable_or_skip()

    async def resolver(host: str, port: int) -> Sequence[str]:
        return ["127.0.0.1"] if host == "rebinding.test" else await world.resolver(host, port)

    def web(**options: Any) -> Web:
        return Web(
            Settings.model_validate(
                {
                    "search": {"providers": ("duckduckgo",)},
                    "read": {"providers": ("crawl4ai",), "timeout": 60},
                    "policy": {"allowed_origins": (site.url, site.named_url)},
                    "providers": {"crawl4ai": {"python": str(python), "executable": str(executable), **options}},
                    "storage": {"url": "memory://"},
                    "cache": {"enabled": False},
                    "archive": {"enabled": False},
                }
            ),
            resolver=resolver,
        )

    return web


@pytest.mark.timeout(1200)
@pytest.mark.req("Y6", "B2", "B3")
async def test_it_reads_what_scripts_make_and_reaches_nothing_else(make: Make, site: Application) -> None:
    before = processes()
    site.pages["/short"] = EmulatedResponse.html(
        shell("app.innerHTML = '<p>We open again on Monday.</p>'", title="Closed")
    )
    site.pages["/silent"] = EmulatedResponse(fault=InjectedFault.hang())
    with Forbidden() as forbidden:
        site.pages["/leads"] = EmulatedResponse.redirect(f"http://127.0.0.1:{forbidden.port}/x")
        site.pages["/attack"] = EmulatedResponse.html(attacking_page(forbidden.port))
        site.pages["/worker.js"] = EmulatedResponse(
            body=worker_script(forbidden.port).encode(), content_type="text/javascript"
        )
        async with make() as web:
            for path in ("/late", "/now"):
                page = await web.open_page(site.url + path)
                assert (page.reader, page.title) == ("crawl4ai", "The orchard")
                assert all(text in page.content for text in PARAGRAPHS)
                assert "Loading" not in page.content
            attacked = await web.open_page(site.named_url + "/attack")
            assert "SECRET" not in attacked.content
            assert "addresses that are not allowed" in " ".join(attacked.warnings)
            assert "open again on Monday" in (await web.open_page(site.url + "/short")).content
            with pytest.raises(BlockedAddress):
                await web.open_page(site.named_url + "/leads")
            with pytest.raises(PageNotFound):
                await web.open_page(site.url + "/none")
            with pytest.raises(DeadlineExceeded):
                await web.open_page(site.url + "/silent", timeout=1.0)
            pages = await asyncio.gather(*(web.open_page(f"{site.url}/late?{number}") for number in range(4)))
            assert all(PARAGRAPHS[2] in page.content for page in pages)
            assert processes() - before
        assert forbidden.hits == []
    await until_gone(before)


async def test_an_interpreter_without_it_is_told(make: Make, site: Application, tmp_path: Path) -> None:
    with pytest.raises(ConfigurationError, match=r"providers\.crawl4ai\.python"):
        make(python=str(tmp_path / "none"))
    program = tmp_path / "python"
    program.write_text("#!/bin/sh\nexit 3\n")
    program.chmod(0o700)
    async with make(python=str(program)) as web:
        with pytest.raises(Exception, match="Crawl4AI failed to start"):
            await web.open_page(site.url + "/now")
