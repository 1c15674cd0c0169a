"""A store that is full, locked, damaged or not writable: searching and reading go on, and one warning tells of it."""

from __future__ import annotations

import asyncio
import logging
import os
import resource
import shutil
import sqlite3
import tempfile
from collections.abc import Callable, Iterator
from contextlib import AbstractContextManager, closing, contextmanager
from pathlib import Path
from typing import Any

import pytest

from groundwire import BudgetExceeded, Settings, Web
from groundwire.safety.tenancy import OPERATOR
from world import World

Make = Callable[..., Settings]

_NONSENSE = b"This is no database, however long it may be. " * 1_000
_FILES = ("store.db", "archive.db")


@pytest.fixture
def folder() -> Iterator[Path]:
    """A folder that another user of this machine can reach; pytest closes its own whenever a run begins."""
    with tempfile.TemporaryDirectory() as made:
        Path(made).chmod(0o755)
        yield Path(made)


def kept(settings: Make, folder: Path, **sections: Any) -> Settings:
    """Settings with a store, a cache and an archive in a folder, and a session of four searches."""
    base: dict[str, Any] = {
        "session": {"id": "team", "max_searches": 4},
        "storage": {"url": f"sqlite:///{folder}/store.db", "timeout": 1.0},
        "cache": {"enabled": True},
        "archive": {"enabled": True, "path": str(folder / "archive.db")},
    }
    return settings(**base | sections)


def warnings(caplog: pytest.LogCaptureFixture, word: str) -> list[str]:
    """What was said of the store, or of the archive, at the level of a warning or above."""
    said = [record for record in caplog.records if record.levelno >= logging.WARNING]
    return [text for record in said if word in (text := record.getMessage())]


async def use(web: Web, world: World, words: str) -> None:
    """Search and read as if nothing were wrong."""
    found = await web.search(words)
    page = await web.open_page(world.site("articles").page("bm25"))
    assert found.results
    assert page.content


def moved_aside(folder: Path, name: str = "store.db") -> list[bytes]:
    """What the files hold that were moved out of the way."""
    return [path.read_bytes() for path in folder.glob(f"{name}.corrupt-*") if not path.name.endswith(("-wal", "-shm"))]


@contextmanager
def locked(folder: Path) -> Iterator[None]:
    store, archive = (sqlite3.connect(folder / name, isolation_level=None) for name in _FILES)
    with closing(store), closing(archive):
        store.execute("begin exclusive")
        archive.execute("begin exclusive")
        yield


@contextmanager
def full(folder: Path) -> Iterator[None]:
    """A write beyond what the files hold by now fails, as on a full disk."""
    soft, hard = resource.getrlimit(resource.RLIMIT_FSIZE)
    resource.setrlimit(resource.RLIMIT_FSIZE, (4_096, hard))
    try:
        yield
    finally:
        resource.setrlimit(resource.RLIMIT_FSIZE, (soft, hard))


@contextmanager
def readonly(folder: Path) -> Iterator[None]:
    """Nothing can be written; root, who may do everything, is somebody else meanwhile."""
    files = [*folder.iterdir()]
    for path in (*files, folder):
        path.chmod(0o555 if path.is_dir() else 0o444)
    me = os.geteuid()
    if me == 0:
        os.seteuid(65_534)
    try:
        yield
    finally:
        if me == 0:
            os.seteuid(me)
        for path in (folder, *files):
            path.chmod(0o755 if path.is_dir() else 0o644)


TROUBLES = [locked, full, readonly]


@pytest.mark.req("B5", "B19")
@pytest.mark.parametrize("trouble", TROUBLES)
async def test_trouble_from_the_start(
    trouble: Callable[[Path], AbstractContextManager[None]],
    world: World,
    settings: Make,
    folder: Path,
    caplog: pytest.LogCaptureFixture,
) -> None:
    async with Web(kept(settings, folder)) as web:
        await use(web, world, "bm25")
    before = {name: (folder / name).read_bytes() for name in _FILES}
    with trouble(folder):
        async with Web(kept(settings, folder)) as web:
            for words in ("reciprocal rank fusion", "citations", "ranks of citations"):
                await use(web, world, words)
            url = world.site("articles").page("bm25")
            for answer in (await web.search("bm25"), await web.open_page(url)):
                assert "are in this process's memory until it returns" in str(answer.warnings)
    assert len(warnings(caplog, "Using process memory instead")) == 1
    assert len(warnings(caplog, "archive")) <= 1
    for name in _FILES:
        assert (folder / name).read_bytes()[:4_096] == before[name][:4_096] or trouble is locked
    async with Web(kept(settings, folder)) as web:
        assert (await web.search("bm25")).cached, "what was kept before is there again"


@pytest.mark.req("B5", "B19")
@pytest.mark.parametrize("trouble", TROUBLES)
async def test_trouble_in_mid_run(
    trouble: Callable[[Path], AbstractContextManager[None]],
    world: World,
    settings: Make,
    folder: Path,
    caplog: pytest.LogCaptureFixture,
) -> None:
    async with Web(kept(settings, folder)) as web:
        await use(web, world, "bm25")
        with trouble(folder):
            for words in ("reciprocal rank fusion", "citations", "ranks of citations"):
                await use(web, world, words)
            with pytest.raises(BudgetExceeded, match="4/4"):
                await web.search("one more than the session has")
    # Files that are open stay writable whatever becomes of their folder.
    assert len(warnings(caplog, "Using process memory instead")) == (trouble is not readonly)
    assert len(warnings(caplog, "archive")) <= 1


@pytest.mark.req("B19", "B13")
async def test_damaged_files_are_kept_and_a_new_store_is_begun(
    world: World, settings: Make, folder: Path, caplog: pytest.LogCaptureFixture
) -> None:
    for name in _FILES:
        (folder / name).write_bytes(_NONSENSE)
    async with Web(kept(settings, folder)) as web:
        said = (await web.search("bm25")).warnings
        assert "store of cache and budgets was damaged" in said[0]
        assert "archive of earlier searches was damaged" in said[1]
        await use(web, world, "bm25")
        again = await web.search("bm25")
        assert (again.cached, again.warnings) == (True, ()), "it is said once"
    assert moved_aside(folder) == [_NONSENSE]
    assert moved_aside(folder, "archive.db") == [_NONSENSE]
    async with Web(kept(settings, folder)) as web:
        assert web.archive is not None
        assert await web.archive.search("bm25", viewer=OPERATOR), "the new one is in use"
    assert len(warnings(caplog, "moved to")) == 2
    assert len([record for record in caplog.records if record.levelno >= logging.WARNING]) == 2


@pytest.mark.req("B19", "B13")
async def test_files_that_are_damaged_in_mid_run_are_moved_aside(
    world: World, settings: Make, folder: Path, caplog: pytest.LogCaptureFixture
) -> None:
    async with Web(kept(settings, folder)) as web:
        await use(web, world, "bm25")
    async with Web(kept(settings, folder)) as web:
        await use(web, world, "bm25")
        for name in _FILES:
            with (folder / name).open("r+b") as file:
                size = file.seek(0, os.SEEK_END)
                file.seek(0)
                file.write(b"\xff" * size)
        for words in ("reciprocal rank fusion", "citations"):
            await use(web, world, words)
    async with Web(kept(settings, folder)) as web:
        await use(web, world, "ranks of citations")
    assert len(moved_aside(folder)) == len(moved_aside(folder, "archive.db")) == 1
    assert len(warnings(caplog, "moved to")) == 2
    assert len(warnings(caplog, "archive")) <= 2, "one for each Web"


def test_a_folder_in_which_nothing_can_be_made(
    world: World, settings: Make, folder: Path, caplog: pytest.LogCaptureFixture
) -> None:
    asyncio.run(_use_a_folder_without_rights(world, settings, folder))
    assert len(warnings(caplog, "Using process memory instead")) == 1
    assert len(warnings(caplog, "The archive is disabled")) == 1
    assert [*folder.iterdir()] == []


async def _use_a_folder_without_rights(world: World, settings: Make, folder: Path) -> None:
    elsewhere = folder / "elsewhere"
    elsewhere.mkdir()
    async with Web(kept(settings, elsewhere)) as web:
        await use(web, world, "bm25")  # loads the modules that the other user may not be able to read
    shutil.rmtree(elsewhere)
    with readonly(folder):
        async with Web(kept(settings, folder)) as web:
            for _ in range(2):
                await use(web, world, "bm25")
            assert (await web.search("bm25")).cached, "memory keeps it for this process"
            await use(web, world, "citations")
            with pytest.raises(BudgetExceeded):
                await web.search("one more than the session has")
