"""The face without `async`."""

from __future__ import annotations

import asyncio
import inspect
import os
import subprocess
import sys
import threading
from collections.abc import Callable
from concurrent.futures import ThreadPoolExecutor
from typing import Any, cast

import pytest

import groundwire
from groundwire import InvalidRequest, Settings, SyncWeb, Web
from groundwire.errors import Closed
from groundwire.tools import render_text, web_tools
from world import World

Make = Callable[..., Settings]


@pytest.fixture
def environment(world: World, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("GROUNDWIRE_SEARCH_PROVIDERS", "searxng")
    monkeypatch.setenv("GROUNDWIRE_PROVIDERS_SEARXNG_BASE_URL", world.searxng.url)
    monkeypatch.setenv("GROUNDWIRE_POLICY_ALLOWED_ORIGINS", ",".join(world.origins))


@pytest.mark.usefixtures("environment")
def test_search_and_open_page_of_the_package() -> None:
    found = groundwire.search("reciprocal rank fusion", limit=2)
    page = groundwire.open_page(found.results[0].url, max_length=500)
    assert page.title == "Reciprocal rank fusion"
    assert found[0].open(max_length=500).content == page.content  # though what found it is closed
    answer = groundwire.ask("reciprocal rank fusion", quote=True)
    assert answer.report.supported
    assert answer.sources


@pytest.mark.usefixtures("environment")
async def test_they_work_inside_a_running_loop() -> None:
    assert groundwire.search("bm25").results
    with pytest.raises(InvalidRequest, match="url: "):
        groundwire.open_page("no scheme")


async def test_the_results_are_those_of_the_other_face(settings: Make) -> None:
    with SyncWeb(settings()) as sync:
        one = sync.search("bm25")
    async with groundwire.Web(settings()) as web:
        other = await web.search("bm25")
    assert one.model_dump(exclude={"attempts"}) == other.model_dump(exclude={"attempts"})


def test_it_serves_several_threads(settings: Make) -> None:
    found: list[str] = []
    with SyncWeb(settings(session={"max_searches": 20})) as web:
        threads = [threading.Thread(target=lambda: found.append(web.search("bm25").provider)) for _ in range(8)]
        for thread in threads:
            thread.start()
        for thread in threads:
            thread.join()
        assert web.budget is not None
        assert web.budget.spent == 8
        web.reset_session()
        assert web.budget.spent == 0
    assert found == ["searxng"] * 8


def test_what_a_map_lists_is_read_and_counted(settings: Make) -> None:
    with SyncWeb(settings()) as web:
        start = web.search("bm25")[0].url
        batch = web.read_many(web.map(start, limit=3), delay=0)
        assert [page.title for page in batch] == ["BM25"]
        assert (batch.read, batch.failed, batch.skipped) == (1, 0, 0)
        with pytest.raises(RuntimeError, match="pass a list, or what map returned"):
            list(web.read_many((row.url for row in web.map(start)), delay=0))


def test_after_closing_it_says_so_and_no_thread_is_left(settings: Make) -> None:
    before = set(threading.enumerate())
    web = SyncWeb(settings())
    web.search("bm25")
    web.close()
    web.close()
    with pytest.raises(Closed):
        web.search("bm25")
    left = [thread.name for thread in set(threading.enumerate()) - before if "groundwire" in thread.name]
    assert left == []


def test_closing_cancels_what_is_still_running(settings: Make) -> None:
    begun, ended = threading.Event(), threading.Event()

    async def wait(_: Web) -> None:
        try:
            begun.set()
            await asyncio.Event().wait()
        finally:
            await asyncio.sleep(0)
            ended.set()

    web = SyncWeb(settings())
    with ThreadPoolExecutor(1) as thread:
        call = thread.submit(web.run, wait)
        begun.wait()
        web.close()
        with pytest.raises(Closed):
            call.result()
    assert ended.is_set()


_FORKED = """
import os, signal
from groundwire import SyncWeb
from groundwire.errors import Closed
web = SyncWeb({"storage.url": "memory://", "archive.enabled": False})
child = os.fork()
if not child:
    signal.alarm(60)  # ends it if it waits
    try:
        web.usage()
    except Closed:
        os._exit(7)
    os._exit(1)
assert os.waitstatus_to_exitcode(os.waitpid(child, 0)[1]) == 7
web.usage()
"""


@pytest.mark.skipif(not hasattr(os, "fork"), reason="there is no fork here")
def test_a_process_that_was_forked_has_none() -> None:
    assert subprocess.run([sys.executable, "-W", "ignore", "-c", _FORKED]).returncode == 0


def test_wrong_settings_leave_no_thread_behind() -> None:
    before = set(threading.enumerate())
    with pytest.raises(groundwire.ConfigurationError):
        SyncWeb(Settings.model_validate({"search": {"providers": ("gogle",)}}))
    assert set(threading.enumerate()) <= before


def test_signatures_are_those_of_the_other_face() -> None:

    for name in ("search", "open_page"):
        faces = [getattr(groundwire, name), getattr(SyncWeb, name), getattr(groundwire.Web, name)]
        signatures = [inspect.signature(face).parameters.values() for face in faces]
        shapes = [[(one.name, one.kind, one.default) for one in each if one.name != "self"] for each in signatures]
        assert shapes[0] == shapes[1] == shapes[2], name
    assert inspect.iscoroutinefunction(groundwire.Web.search)
    assert inspect.signature(SyncWeb).parameters == inspect.signature(groundwire.Web).parameters


async def test_providers_may_be_text_and_settings_a_mapping(settings: Make) -> None:
    plain, wrong = settings(), cast("Any", "tvly-secret")
    for given in ("searxng", "searxng, duckduckgo_lite"):
        async with groundwire.Web(plain, search_providers=given, read_providers="local") as web:
            assert [one.name for one in web.search_providers] == given.split(", ")
    for web in (
        groundwire.Web({"search.limit": 3, "search": {"timeout": 4.0}}),
        groundwire.Web({"search": {"limit": 3}}),
    ):
        assert web.settings.search.limit == 3
        await web.aclose()
    with pytest.raises(TypeError, match=r"Web\(\) takes Settings or a mapping .*, not str$"):
        groundwire.Web(wrong)


def test_the_pages_of_results_block_as_well(settings: Make) -> None:
    with SyncWeb(settings()) as web:
        assert web.search("reciprocal rank fusion", limit=2)[0].open(max_length=500).truncated


async def test_they_are_awaited_with_a_web(settings: Make) -> None:
    async with Web(settings()) as made:
        web: Any = made
        found = await web.search("reciprocal rank fusion", limit=2)
        assert (await found[0].open(max_length=500)).truncated
        assert [row.url async for row in found] == [row.url for row in found]
        with pytest.raises(TypeError, match="with SyncWeb"), web:
            pass


async def test_the_tools_of_a_sync_web_are_awaited_in_any_event_loop(settings: Make) -> None:
    with SyncWeb(settings()) as web:
        search, _ = web_tools(web)
        assert (await search.call(query="bm25")).status == "success"


def test_tools_of_a_web_are_called_by_name_and_print_as_the_model_sees_them(settings: Make) -> None:
    with SyncWeb(settings()) as web:
        tools: Any = web_tools(web)
        result = tools["web_search"]({"query": "bm25", "max_results": 1})
        assert str(result).splitlines()[0] == render_text(result).splitlines()[0] == "Search results for: bm25"
        assert tools["open_page"](url=result.results[0].url).status == "success"


def test_webs_that_are_collected_in_the_threads_of_one_another_end() -> None:
    webs, both = [SyncWeb(), SyncWeb()], threading.Barrier(2)

    async def collected(other: SyncWeb) -> None:
        both.wait()
        other.close()

    threads = [web._thread for web in webs]
    first, second = webs
    first.submit(lambda _: collected(second))
    second.submit(lambda _: collected(first))
    for thread in threads:
        thread.join(60)
    assert not any(thread.is_alive() for thread in threads)
