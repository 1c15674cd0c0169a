"""The cache under many processes that share a file."""

from __future__ import annotations

from collections import Counter
from collections.abc import Iterator
from pathlib import Path

import pytest

from components.stampede import Asker, Upstream, ask_in_four_processes
from groundwire.deadline import Deadline
from groundwire.routing.cache import Cache, CacheTtl, Codec
from groundwire.safety.tenancy import LOCAL
from groundwire.storage import open_store


@pytest.fixture
def upstream() -> Iterator[Upstream]:
    server = Upstream()
    yield server
    server.close()


@pytest.mark.req("B19")
def test_fifty_tasks_in_four_processes_cause_one_call(upstream: Upstream, tmp_path: Path, warm_python: Path) -> None:
    answers = ask_in_four_processes(warm_python, f"sqlite:///{tmp_path}/store.sqlite3", f"{upstream.url}/page")
    assert upstream.asked == {"/page": 1}
    assert Counter((answer.value, answer.cached, answer.stale) for answer in answers) == {
        ("answer 1", False, False): 1,
        ("answer 1", True, False): 49,
    }


@pytest.mark.req("B19")
async def test_a_stale_answer_is_fetched_anew_by_one_of_four_processes(
    upstream: Upstream, tmp_path: Path, warm_python: Path
) -> None:
    path, url = tmp_path / "store.sqlite3", f"{upstream.url}/page"
    old = open_store(f"sqlite:///{path}")
    cache = Cache(old)

    async def load() -> str:
        return "old"

    await cache.get_or_load(
        url,
        load,
        codec=Codec(str.encode, bytes.decode, lambda value: CacheTtl(stale=60)),
        deadline=Deadline.after(60),
        owner=LOCAL,
    )
    await cache.aclose()
    await old.aclose()
    answers = ask_in_four_processes(warm_python, f"sqlite:///{path}", url)
    assert upstream.asked == {"/page": 1}
    assert Counter((answer.value, answer.stale) for answer in answers) == {("answer 1", False): 50}


@pytest.mark.req("B19")
def test_when_the_process_that_fetches_is_killed_another_goes_on(
    upstream: Upstream, tmp_path: Path, warm_python: Path
) -> None:
    path, url = tmp_path / "store.sqlite3", f"{upstream.url}/held"
    first, second = (Asker(warm_python, f"sqlite:///{path}", url, 3, lease=1.0) for _ in range(2))
    try:
        first.go()
        assert upstream.first.wait(100)
        second.go()
        first.process.kill()
        answers = second.answers()
        assert second.process.wait(100) == 0
    finally:
        first.close()
        second.close()
    assert upstream.asked == {"/held": 2}
    assert {answer.value for answer in answers} == {"answer 2"}
