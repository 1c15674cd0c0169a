"""What every test stands on: a scrubbed environment, the miniature web, and the table of requirements."""

from __future__ import annotations

import os
import signal
from collections.abc import Callable, Generator, Iterator, Mapping
from pathlib import Path
from typing import Any

import hypothesis
import pytest

from components.examples import examples
from components.warm_python import warm_python as started_warm_python
from groundwire.settings import Settings
from groundwire.testing.world import World

pytest.register_assert_rewrite("components.store_suite")

SHARED = Path(__file__).resolve().parents[2] / "shared"
"""Data of the developers; it lies beside the checkout and is not part of it."""

ROWS = tuple(
    f"{letter}{number}"
    for letter, last in {"Y": 17, "H": 10, "C": 5, "S": 5, "K": 7, "B": 20}.items()
    for number in range(1, last + 1)
)
"""The ids of the table of requirements."""

# One example may take long on a busy machine; the time limit of the whole test is the bound that counts.
hypothesis.settings.register_profile("groundwire", deadline=None, max_examples=examples(100))
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


@pytest.fixture(scope="session")
def warm_python(tmp_path_factory: pytest.TempPathFactory) -> Iterator[Path]:
    """A program that is called as `python` is, without the cost of a start."""
    with started_warm_python(tmp_path_factory.mktemp("warm")) as program:
        yield program


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


@pytest.fixture
def recordings() -> Path:
    """The folder of recorded exchanges."""
    folder = SHARED / "data" / "recordings"
    if not folder.is_dir():
        pytest.skip("the recordings lie beside the developers' checkout only")
    return folder


@pytest.fixture
def extraction() -> Path:
    """The folder of real pages."""
    folder = SHARED / "data" / "extraction"
    if not folder.is_dir():
        pytest.skip("the extraction set lies beside the developers' checkout only")
    return folder


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
