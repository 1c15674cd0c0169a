"""The pytest plugin: the fixture `groundwire_cassette`.

pytest loads it at its start in every project that has Groundwire installed, so nothing else is imported here.
"""

from __future__ import annotations

import hashlib
import os
import re
from collections.abc import Generator, Iterator
from pathlib import Path
from typing import TYPE_CHECKING, Literal, cast

import pytest

if TYPE_CHECKING:
    from groundwire.cassette import Cassette

__all__ = ["groundwire_cassette"]

_Mode = Literal["none", "once", "all"]

_LONGEST = 100  # characters of a file's name; file systems take 255 bytes
_PASSED: pytest.StashKey[bool] = pytest.StashKey()
_CASSETTE: pytest.StashKey[Cassette] = pytest.StashKey()


def pytest_addoption(parser: pytest.Parser) -> None:
    """Add `--groundwire-record`."""
    parser.getgroup("groundwire").addoption(
        "--groundwire-record",
        choices=("none", "once", "all"),
        default=None,
        help="When the fixture groundwire_cassette records: never (none), when there is no cassette yet (once), always "
        "(all). The default is once, and none where the environment variable CI is set.",
    )


@pytest.hookimpl(wrapper=True)
def pytest_runtest_makereport(item: pytest.Item) -> Generator[None, pytest.TestReport, pytest.TestReport]:
    """Record whether the test passed, and add missing recordings to a failure report."""
    report = yield
    if report.when == "call":
        item.stash[_PASSED] = report.passed
    if report.failed and _CASSETTE in item.stash and (missing := item.stash[_CASSETTE].missing):
        lines = [f"Not in {item.stash[_CASSETTE].path} (record it with --groundwire-record=all):", *missing]
        report.sections.append(("Groundwire cassette", "\n".join(lines)))
    return report


@pytest.fixture
def groundwire_cassette(request: pytest.FixtureRequest) -> Iterator[Cassette]:
    """A cassette per test, `cassettes/MODULE/TEST.jsonl` beside its file, for `Web(cassette=...)`.

    It records or replays as `--groundwire-record` says. A recording is kept only if the test passes.
    """
    from groundwire.cassette import Cassette

    item = cast("pytest.Item", request.node)
    path = _path(item)
    mode = _mode(request.config)
    if mode == "all" or (mode == "once" and not path.exists()):
        fresh = path.with_name(f"{path.name}.new")
        yield Cassette.record(fresh)
        if item.stash.get(_PASSED, False):
            fresh.replace(path)
        else:
            fresh.unlink(missing_ok=True)
        return
    if not path.exists():
        pytest.fail(f"There is no cassette {path}. Record it: pytest --groundwire-record=once.", pytrace=False)
    cassette = item.stash[_CASSETTE] = Cassette.replay(path)
    yield cassette


def _mode(config: pytest.Config) -> _Mode:
    mode = cast("_Mode | None", config.getoption("--groundwire-record"))
    return mode or ("none" if os.environ.get("CI") else "once")


def _path(item: pytest.Item) -> Path:
    """Return a test's file, named after the test with its classes, within file system limits."""
    parts = item.nodeid.split("::", 1)[-1]
    name = re.sub(r"[^\w.\-\[\]]+", "-", parts.replace("::", "."))
    if name != parts.replace("::", ".") or len(name) > _LONGEST:
        name = f"{name[:_LONGEST]}-{hashlib.sha256(parts.encode()).hexdigest()[:8]}"
    return item.path.parent / "cassettes" / item.path.stem / f"{name}.jsonl"
