"""What a search costs does not depend on what its session has seen: work is counted, results differ for each query."""

from __future__ import annotations

import asyncio
import itertools
import json
import sys
import threading
from collections.abc import Awaitable, Callable, Sequence
from pathlib import Path
from types import FrameType
from typing import Any

import aiohttp
import pytest

from components.work import lines
from groundwire import Capabilities, SearchResult, Settings, Web
from groundwire.safety.tenancy import LOCAL
from groundwire.testing.http_messages import EmulatedResponse, Recorded
from groundwire.testing.server import EmulatedServer
from world import World


class _Different:
    """A provider that never returns a page twice."""

    name = "different"
    capabilities = Capabilities(search=True)

    def __init__(self) -> None:
        self._numbers = itertools.count()

    async def search(self, query: str, **options: Any) -> Sequence[SearchResult]:
        numbers = itertools.islice(self._numbers, 10)
        return [SearchResult(title="T", url=f"https://a{one}.example/", snippet="s" * 200) for one in numbers]


@pytest.mark.parametrize("session", ["", "named"])
@pytest.mark.parametrize("store", ["memory", "sqlite"])
def test_a_search_does_not_cost_more_after_many(store: str, session: str, tmp_path: Path) -> None:
    url = "memory://" if store == "memory" else f"sqlite:///{tmp_path}/store.db"
    settings = Settings(
        storage={"url": url},  # type: ignore[arg-type]  # as a user may write it
        search={"timeout": 600},  # type: ignore[arg-type]  # a busy machine refuses no call with so much time
        session={"id": session, "max_searches": 1_000},  # type: ignore[arg-type]
        archive={"path": str(tmp_path / "archive.db")},  # type: ignore[arg-type]
    )
    queries = (f"query {number}" for number in itertools.count())
    with asyncio.Runner() as runner:

        async def opened() -> Web:
            return Web(settings, search_providers=[_Different()])

        web = runner.run(opened())

        async def search(count: int) -> None:
            for _ in range(count):
                found = await web.search(next(queries), limit=10)
            assert len({row.citation_id for row in found}) == 10

        runner.run(search(30))
        early = min(lines(lambda: runner.run(search(10))) for _ in range(3))
        runner.run(search(150))
        late = min(lines(lambda: runner.run(search(10))) for _ in range(3))
        assert runner.run(web.usage())["searches"] == 240
        runner.run(web.aclose())
    assert late < 1.05 * early


class _DistinctPages(EmulatedServer):
    """Tavily, as far as a search needs it; no page is returned twice."""

    def __init__(self) -> None:
        super().__init__("distinct")
        self._numbers = itertools.count()

    def handle(self, request: Recorded) -> EmulatedResponse:
        rows = [
            {"url": f"https://a{one}.example/", "title": f"Page {one}", "content": f"{one} " + "s" * 200, "score": 0.5}
            for one in itertools.islice(self._numbers, 10)
        ]
        return EmulatedResponse.json({"results": rows, "usage": {"credits": 1}})


def test_a_search_with_default_settings_executes_at_most_five_times_the_lines_of_its_bare_request(
    world: World, tmp_path: Path
) -> None:
    url, queries, calls = world.add(_DistinctPages()).url, (f"query {one}" for one in itertools.count()), 30

    async def bare() -> int:
        async with aiohttp.ClientSession() as session:

            async def search() -> None:
                body = {"query": next(queries), "max_results": 10}
                async with session.post(f"{url}/search", json=body) as reply:
                    assert len(json.loads(await reply.read())["results"]) == 10

            return await _lines_of(search, calls)

    async def ours() -> int:
        settings = Settings.model_validate(
            {
                "search": {"providers": ("tavily",), "timeout": 600},
                "session": {"max_searches": 1_000},
                "storage": {"url": f"sqlite:///{tmp_path}/store.db"},
                "archive": {"path": str(tmp_path / "archive.db")},
                "providers": {"tavily": {"base_url": url}},
                "keys": {"TAVILY_API_KEY": "test-key"},
            }
        )
        async with Web(settings) as web:
            archive = web.archive
            assert archive is not None

            async def search() -> None:
                assert len(await web.search(next(queries), limit=10)) == 10

            return await _lines_of(search, calls, lambda: archive.statistics(viewer=LOCAL))

    assert asyncio.run(ours()) <= 5 * asyncio.run(bare())  # 4.9 with CPython 3.11


async def _lines_of(
    search: Callable[[], Awaitable[object]], calls: int, settle: Callable[[], Awaitable[object]] | None = None
) -> int:
    """Return how many lines of Python some calls execute in this thread and in those that it starts.

    Args:
        search: Is called twenty times before, uncounted, so that everything is loaded.
        calls: How often it is called.
        settle: Waits for what the calls have put off.
    """
    counting, counted = False, itertools.count()

    def trace(frame: FrameType, event: str, argument: Any) -> Any:
        if counting and event == "line":
            next(counted)
        return trace

    async def work(times: int) -> None:
        for _ in range(times):
            await search()
        if settle is not None:
            await settle()

    threading.settrace(trace)
    sys.settrace(trace)
    try:
        await asyncio.create_task(work(20))
        counting = True
        await asyncio.create_task(work(calls))
        return next(counted)
    finally:
        sys.settrace(None)
        threading.settrace(None)


@pytest.mark.parametrize("session", ["", "named"])
def test_a_search_waits_for_the_thread_of_its_store_twice(session: str, tmp_path: Path) -> None:
    settings = Settings(
        storage={"url": f"sqlite:///{tmp_path}/store.db"},  # type: ignore[arg-type]  # as a user may write it
        session={"id": session, "max_searches": 1_000},  # type: ignore[arg-type]
        archive={"enabled": False},  # type: ignore[arg-type]  # it writes in batches of seconds
    )
    jobs = 0

    def enter(frame: FrameType, event: str, _: object) -> None:
        nonlocal jobs
        jobs += event == "call" and frame.f_code.co_qualname == "_WritingThread._put"

    with asyncio.Runner() as runner:

        async def opened() -> Web:
            return Web(settings, search_providers=[_Different()])

        web = runner.run(opened())

        async def search(count: int) -> None:
            for number in range(count):
                await web.search(f"query {number} of {count}", limit=10)

        runner.run(search(30))
        sys.setprofile(enter)
        try:
            runner.run(search(50))
        finally:
            sys.setprofile(None)
        runner.run(web.aclose())
    assert 100 <= jobs <= 106, "two each, and a few for shared health and the scorecard"
