"""What every test stands on: a scrubbed environment, the miniature web, and the table of requirements."""

from __future__ import annotations

import gc
import itertools
import os
import signal
import subprocess
from collections.abc import Callable, Generator, Iterator, Mapping
from contextlib import nullcontext
from pathlib import Path
from typing import Any

import hypothesis
import pytest

from components.data_sets import RECORDINGS, SAVED_PAGES, SavedPages, set_name
from components.examples import examples
from components.requirements_table import RequirementsTable
from components.shared_start import SharedStart
from components.slow_tests import SlowTests
from components.warm_python import warm_python as started_warm_python
from components.worker_groups import pytest_collection_modifyitems as pytest_collection_modifyitems
from groundwire.settings import Settings
from world import World

pytest.register_assert_rewrite("components.store_suite")

ROWS = tuple(
    f"{letter}{number}"
    for letter, last in {"Y": 17, "H": 10, "C": 5, "S": 5, "K": 7, "B": 47}.items()
    for number in range(1, last + 1)
)
"""The ids of the table of requirements."""

UNPROVEN = frozenset({"B21", "B41", "B42", "B46"})
"""The rows that no test is known to prove; a whole run fails if another one is unproven, or one of these is proven."""

# One example may take long on a busy machine; the time limit of the whole test is the bound that counts.
hypothesis.settings.register_profile("groundwire", deadline=None, max_examples=examples(100))
hypothesis.settings.load_profile("groundwire")

_SCRUBBED = ("GROUNDWIRE_", "WEB_SEARCH_", "DDGS_")
_SCRUBBED_ENDS = ("_API_KEY", "_API_BASE", "_PROXY", "_proxy")


@pytest.fixture(scope="session")
def _cache_folders(tmp_path_factory: pytest.TempPathFactory) -> Iterator[Path]:
    """A folder for each test that asks; `mktemp` would look through those of all tests before."""
    root = tmp_path_factory.mktemp("caches")
    return (root / str(number) for number in itertools.count())


@pytest.fixture(autouse=True)
def _scrubbed(
    monkeypatch: pytest.MonkeyPatch, tmp_path_factory: pytest.TempPathFactory, _cache_folders: Iterator[Path]
) -> None:
    """Keep the developer's own keys, proxies and settings out of the tests."""
    for name in list(os.environ):
        if name.startswith(_SCRUBBED) or name.endswith(_SCRUBBED_ENDS):
            monkeypatch.delenv(name)
    monkeypatch.delenv("COLUMNS", raising=False)  # set by pytest-xdist; the width of a terminal that is not there
    monkeypatch.setenv("XDG_CONFIG_HOME", str(tmp_path_factory.getbasetemp() / "no-settings"))
    monkeypatch.setenv("XDG_CACHE_HOME", str(next(_cache_folders)))


@pytest.fixture
def anyio_backend() -> str:
    """The library runs on asyncio."""
    return "asyncio"


@pytest.fixture
def world() -> Iterator[World]:
    """A miniature web, started."""
    with World() as started:
        yield started


@pytest.fixture(scope="session")
def warm_python(pytestconfig: pytest.Config, tmp_path_factory: pytest.TempPathFactory) -> Iterator[Path]:
    """A program that is called as `python` is, without the cost of a start; all workers fork from the same process."""
    shared: str = getattr(pytestconfig, "workerinput", {}).get(SharedStart.WARM_PYTHON, "")
    with nullcontext(Path(shared)) if shared else started_warm_python(tmp_path_factory.mktemp("warm")) as program:
        subprocess.run([program, "-c", ""], check=True)  # when that ends, everything is imported
        yield program


@pytest.fixture
def settings(world: World) -> Callable[..., Settings]:
    """Make settings whose one search provider is the world's SearXNG, and to which the world's pages are open."""

    def make(**sections: Mapping[str, Any]) -> Settings:
        base: dict[str, dict[str, Any]] = {
            "search": {"providers": ("searxng",)},
            "policy": {"allowed_origins": world.origins, "origin_redirects": "allowed"},  # as sites of one web
            "providers": {"searxng": {"base_url": world.searxng.url}},
            # A store that a busy machine answers late for would be replaced by memory that nobody shares.
            "storage": {"url": "memory://", "timeout": 60.0},
            "cache": {"enabled": False},
            "archive": {"enabled": False},
        }
        for name, values in sections.items():
            base[name] = base.get(name, {}) | dict(values)
        return Settings.model_validate(base)

    return make


@pytest.fixture(params=RECORDINGS, ids=set_name)
def recordings(request: pytest.FixtureRequest) -> Path:
    """A folder of recorded exchanges: our own, then the larger set when it is there."""
    folder: Path = request.param
    return folder


@pytest.fixture(params=SAVED_PAGES, ids=set_name)
def saved_pages(request: pytest.FixtureRequest) -> SavedPages:
    """Ordinary pages with their text: our own, then the larger set when it is there."""
    return SavedPages(request.param)


@pytest.fixture
def page_addresses(saved_pages: SavedPages) -> list[str]:
    """Addresses of ordinary pages, a few hundred at least."""
    found = saved_pages.addresses
    assert len(found) > (200 if saved_pages.is_own else 1_000)
    return found


def pytest_configure(config: pytest.Config) -> None:
    if signal.getsignal(signal.SIGINT) is signal.SIG_IGN:  # started in the background, and so would be what we start
        signal.signal(signal.SIGINT, signal.default_int_handler)
    config.pluginmanager.register(RequirementsTable(ROWS, UNPROVEN), "requirements-table")
    config.pluginmanager.register(SlowTests(), "slow-tests")
    config.pluginmanager.register(SharedStart(), "shared-start")


@pytest.hookimpl(wrapper=True)
def pytest_collection() -> Generator[None, object, object]:
    """Look for garbage neither while tests are collected, when there is none, nor in what was collected ever after."""
    gc.disable()
    try:
        return (yield)
    finally:
        gc.freeze()
        gc.enable()


def pytest_itemcollected(item: pytest.Item) -> None:
    if "warm_python" in getattr(item, "fixturenames", ()):  # it forks
        item.add_marker("posix")


def pytest_xdist_auto_num_workers() -> int:
    """Return how many workers `-n auto` is: five for two processors. Tests wait for programs half of the time."""
    return max(2, 5 * (os.cpu_count() or 1) // 2)
