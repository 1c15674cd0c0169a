"""What a search costs does not depend on what its session has seen: work is counted, results differ for each query."""

from __future__ import annotations

import asyncio
import itertools
import sys
from collections.abc import Sequence
from pathlib import Path
from types import FrameType
from typing import Any

import pytest

from components.work import lines
from groundwire import Capabilities, SearchResult, Settings, Web


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
        jobs += event == "call" and frame.f_code.co_qualname == "Job.__init__"

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
