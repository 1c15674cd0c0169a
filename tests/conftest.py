"""What every test stands on: a scrubbed environment, the miniature web, and the table of requirements."""

from __future__ import annotations

import os
import signal
from collections.abc import Callable, Generator, Iterator, Mapping
from pathlib import Path
from typing import Any

import hypothesis
import pytest

from components.data_sets import RECORDINGS, SAVED_PAGES, SavedPages, set_name
from groundwire.settings import Settings
from groundwire.testing.world import World

pytest.register_assert_rewrite("components.store_suite")

ROWS = tuple(
    f"{letter}{number}"
    for letter, last in {"Y": 17, "H": 10, "C": 5, "S": 5, "K": 7, "B": 20}.items()
    for number in range(1, last + 1)
)
"""The ids of the table of requirements."""

# One example may take long on a busy machine; the time limit of the whole test is the bound that counts.
hypothesis.settings.register_profile("groundwire", deadline=None)
hypothesis.settings.load_profile("groundwire")

_SCRUBBED = ("GROUNDWIRE_", "WEB_SEARCH_", "DDGS_")
_SCRUBBED_ENDS = ("_API_KEY", "_PROXY", "_proxy")


@pytest.fixture(autouse=True)
def _scrubbed(monkeypatch: pytest.MonkeyPatch, tmp_path_factory: pytest.TempPathFactory) -> None:
    """Keep the developer's own keys, proxies and settings out of the tests."""
    for name in list(os.environ):
        if name.startswith(_SCRUBBED) or name.endswith(_SCRUBBED_ENDS):
            monkeypatch.delenv(name)
    monkeypatch.setenv("XDG_CONFIG_HOME", str(tmp_path_factory.getbasetemp() / "no-settings"))
    monkeypatch.setenv("XDG_CACHE_HOME", str(tmp_path_factory.mktemp("cache")))


@pytest.fixture
def anyio_backend() -> str:
    """The library runs on asyncio."""
    return "asyncio"


@pytest.fixture
def world() -> Iterator[World]:
    """A miniature web, started."""
    with World() as started:
        yield started


@pytest.fixture
def settings(world: World) -> Callable[..., Settings]:
    """Make settings whose one search provider is the world's SearXNG, and to which the world's pages are open."""

    def make(**sections: Mapping[str, Any]) -> Settings:
        base: dict[str, dict[str, Any]] = {
            "search": {"providers": ("searxng",)},
            "policy": {"allow_origins": world.origins},
            "providers": {"searxng": {"base_url": world.searxng.url}},
            "storage": {"url": "memory://"},
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


_PROVEN: pytest.StashKey[set[str]] = pytest.StashKey()
_FAILED: pytest.StashKey[set[str]] = pytest.StashKey()


def pytest_configure(config: pytest.Config) -> None:
    if signal.getsignal(signal.SIGINT) is signal.SIG_IGN:  # started in the background, and so would be what we start
        signal.signal(signal.SIGINT, signal.default_int_handler)
    config.stash[_PROVEN] = set()
    config.stash[_FAILED] = set()


def pytest_collection_modifyitems(items: list[pytest.Item]) -> None:
    for item in items:
        for mark in item.iter_markers("req"):
            unknown = [row for row in mark.args if row not in ROWS]
            if unknown or not mark.args:
                raise pytest.UsageError(f"{item.nodeid}: req({', '.join(map(repr, mark.args))}) names no known row")


@pytest.hookimpl(wrapper=True)
def pytest_runtest_makereport(
    item: pytest.Item,
) -> Generator[None, pytest.TestReport, pytest.TestReport]:
    report = yield
    rows: set[str] = {row for mark in item.iter_markers("req") for row in mark.args}
    if report.failed:
        item.config.stash[_FAILED].update(rows)
    elif report.when == "call" and report.passed:
        item.config.stash[_PROVEN].update(rows)
    return report


def pytest_terminal_summary(terminalreporter: pytest.TerminalReporter, config: pytest.Config) -> None:
    proven = {row for row in config.stash[_PROVEN] if row not in config.stash[_FAILED]}
    if config.option.collectonly or not proven:
        return
    missing = [row for row in ROWS if row not in proven]
    terminalreporter.write_sep("-", "requirements")
    terminalreporter.write_line(f"touched by passing tests: {' '.join(row for row in ROWS if row in proven)}")
    terminalreporter.write_line(f"proven by no passing test: {' '.join(missing) or 'none'}")
