"""What becomes of the SQLite store when its file, its disk or its neighbors fail it."""

from __future__ import annotations

import asyncio
import json
import os
import random
import sqlite3
import stat
import subprocess
import sys
import tempfile
import threading
import time
from collections.abc import AsyncIterator, Callable, Iterator
from contextlib import closing, contextmanager
from pathlib import Path

import pytest

from components.store_suite import worker
from groundwire.storage import Count, MemoryStore, ResilientStore, StoreError, open_store
from groundwire.storage.sqlite import SqliteStore
from groundwire.storage.sqlite_db import APPLICATION_ID, VERSION

Open = Callable[[], SqliteStore]


@pytest.fixture
def path(tmp_path: Path) -> Path:
    return tmp_path / "store.sqlite3"


@pytest.fixture
async def open_sqlite(path: Path) -> AsyncIterator[Open]:
    opened: list[SqliteStore] = []

    def make() -> SqliteStore:
        opened.append(SqliteStore(path, max_wait=0.05))
        return opened[-1]

    yield make
    for store in opened:
        await store.aclose()


def raw(path: Path) -> closing[sqlite3.Connection]:
    return closing(sqlite3.connect(path, isolation_level=None))


def number(path: Path, sql: str) -> int:
    with raw(path) as db:
        return int(db.execute(sql).fetchone()[0])


def moved_aside(path: Path) -> list[Path]:
    return [found for found in path.parent.glob(f"{path.name}.corrupt-*") if not found.name.endswith(("-wal", "-shm"))]


def content(path: Path) -> bytes:
    return path.read_bytes()


def mode(path: Path) -> int:
    return stat.S_IMODE(path.stat().st_mode)


def names(folder: Path) -> set[str]:
    return {found.name for found in folder.iterdir()}


def overwrite(path: Path, start: int) -> bytes:
    """Damage a file from `start` on, in place, and return what is in it then."""
    with path.open("r+b") as file:
        end = file.seek(0, os.SEEK_END)
        file.seek(start)
        file.write(b"\xff" * (end - start))
    return path.read_bytes()


def rename(path: Path, name: str) -> None:
    """Rename a database with all that belongs to it."""
    for end in ("", "-wal", "-shm"):
        path.with_name(path.name + end).rename(path.with_name(name + end))


async def test_the_file_is_ours_alone_and_says_what_it_is(path: Path, open_sqlite: Open) -> None:
    await open_sqlite().count("c", 1)
    assert mode(path) == mode(path.with_name(f"{path.name}.lock")) == 0o600
    assert number(path, "pragma application_id") == APPLICATION_ID
    assert number(path, "pragma user_version") == VERSION
    with raw(path) as db:
        assert db.execute("pragma journal_mode").fetchone() == ("wal",)


async def test_closing_ends_the_thread_and_leaves_one_file(path: Path, open_sqlite: Open) -> None:
    before = threading.active_count()
    store = open_sqlite()
    assert threading.active_count() == before
    await store.set("k", b"v", fresh=60)
    assert threading.active_count() == before + 1
    await store.aclose()
    assert threading.active_count() == before
    assert names(path.parent) == {path.name, f"{path.name}.lock"}


async def test_a_store_that_was_never_used_makes_no_file(path: Path, open_sqlite: Open) -> None:
    await open_sqlite().aclose()
    assert names(path.parent) == set()


async def test_what_was_kept_outlives_the_process(open_sqlite: Open) -> None:
    first = open_sqlite()
    await first.set("k", b"v", fresh=60)
    await first.count("c", 3)
    await first.aclose()
    second = open_sqlite()
    found = await second.get("k")
    assert found is not None
    assert found.value == b"v"
    assert await second.count("c", 0) == Count(True, 3)


@pytest.mark.parametrize("kind", ["memory", "sqlite"])
async def test_the_oldest_values_go_first(kind: str, path: Path) -> None:
    now = [1_000.0]
    make = MemoryStore if kind == "memory" else lambda **options: SqliteStore(path, **options)
    store = make(max_bytes=50_000, clock=lambda: now[0])
    await store.count("c", 1)
    assert await store.lease("l", owner="one", ttl=1e9)
    for letter in "abcde":
        now[0] += 1
        await store.set(letter, b"x" * 9_000, fresh=1e9)
    now[0] += 100
    assert await store.get("a") is not None  # which makes it no newer
    await store.set("f", b"x" * 9_000, fresh=1e9)
    assert [letter for letter in "abcdef" if await store.get(letter)] == ["b", "c", "d", "e", "f"]
    await store.set("g", b"x" * 60_000, fresh=1e9)
    assert await store.get("g") is None
    assert [letter for letter in "abcdef" if await store.get(letter)] == ["b", "c", "d", "e", "f"]
    assert (await store.count("c", 0)).total == 1
    assert not await store.lease("l", owner="other", ttl=1)
    await store.aclose()


async def test_what_has_run_out_is_cleaned_away(path: Path) -> None:
    now = [1_000.0]
    store = SqliteStore(path, clock=lambda: now[0])
    for name in map(str, range(20)):
        await store.set(name, b"v", fresh=10)
        await store.count(name, 1, ttl=10)
        await store.pace(name, interval=10)
        await store.lease(name, owner="one", ttl=10)
    now[0] += 1_000
    await store.count("kept", 1)
    tables = ("entries", "counters", "paces", "leases")
    assert [number(path, f"select count(*) from {table}") for table in tables] == [0, 1, 0, 0]
    assert number(path, "select bytes from taken") == 0
    now[0] = 10.0  # the clock was set back
    await store.count("short", 1, ttl=10)
    now[0] += 1_000
    await store.count("kept", 1)
    assert number(path, "select count(*) from counters") == 1
    await store.aclose()


async def test_a_value_of_before_the_clock_was_set_back_is_none(path: Path) -> None:
    now = [2_000_000_000.0]
    store = SqliteStore(path, clock=lambda: now[0])
    await store.set("v", b"old", fresh=10)
    now[0] -= 30
    assert await store.get("v") is not None
    now[0] = 1_000_000_000.0
    assert await store.get("v") is None
    await store.set("v", b"new", fresh=10)
    assert await store.get("v") is not None
    await store.aclose()


@pytest.mark.parametrize("damaged_from", [0, 4_096], ids=["all", "all but the first page"])
async def test_a_damaged_file_is_moved_aside_and_a_new_one_begun(
    damaged_from: int, path: Path, open_sqlite: Open, caplog: pytest.LogCaptureFixture
) -> None:
    first = open_sqlite()
    for index in range(100):
        await first.set(f"k{index}", b"x" * 3_000, fresh=60)
    await first.aclose()
    broken = overwrite(path, damaged_from)

    store = open_sqlite()

    assert await store.get("k1") is None
    assert await store.count("c", 1) == Count(True, 1)
    (moved,) = moved_aside(path)
    assert content(moved) == broken
    assert [record.levelname for record in caplog.records] == ["WARNING"]
    assert str(moved) in caplog.text


async def test_damage_that_the_message_of_it_quotes_is_mended(path: Path, open_sqlite: Open) -> None:
    first = open_sqlite()
    await first.count("c", 1)
    await first.aclose()
    with raw(path) as db:
        db.executescript("pragma writable_schema = on; update sqlite_master set name = cast(x'ff' as text), sql = 'x'")
    store = open_sqlite()
    assert await store.count("c", 1) == Count(True, 1)
    assert len(moved_aside(path)) == 1


async def test_damage_while_it_is_open_is_found_and_mended(path: Path, open_sqlite: Open) -> None:
    store = open_sqlite()
    for index in range(100):
        await store.set(f"k{index}", b"x" * 3_000, fresh=60)
    with raw(path) as db:
        db.execute("pragma wal_checkpoint(truncate)")
        db.execute("create table unrelated (x)")  # makes the store's connections read their pages anew
    overwrite(path, 4_096)
    assert await store.get("k50") is None
    await store.set("k50", b"new", fresh=60)
    found = await store.get("k50")
    assert found is not None
    assert found.value == b"new"
    assert len(moved_aside(path)) == 1


async def test_the_journal_goes_with_its_damaged_file(path: Path, open_sqlite: Open) -> None:
    other = open_sqlite()
    for index in range(100):
        await other.set(f"k{index}", b"x" * 3_000, fresh=60)
    with raw(path) as db:
        db.execute("pragma wal_checkpoint(truncate)")
    await other.count("c", 5)  # is in the journal only, which stays as long as somebody has the file open
    overwrite(path, 4_096)
    store = open_sqlite()
    assert await store.get("k50") is None
    assert await store.count("c", 1) == Count(True, 1)
    assert await other.count("c", 1) == Count(True, 2)
    (moved,) = moved_aside(path)
    assert f"{moved.name}-wal" in names(path.parent)


async def test_a_file_that_was_replaced_is_noticed(path: Path, open_sqlite: Open) -> None:
    one, other = open_sqlite(), open_sqlite()
    await one.count("c", 1)
    await other.count("c", 1)
    rename(path, "elsewhere")
    assert await one.count("c", 1) == Count(True, 1)
    assert await other.count("c", 1) == Count(True, 2)


async def test_the_database_of_another_program_is_left_alone(path: Path, open_sqlite: Open) -> None:
    with raw(path) as db:
        db.execute("create table theirs (x)")
    before = content(path)
    with pytest.raises(StoreError, match="database of another program"):
        await open_sqlite().count("c", 1)
    assert content(path) == before


async def test_the_file_of_a_later_version_is_left_alone(path: Path, open_sqlite: Open) -> None:
    await open_sqlite().count("c", 1)
    with raw(path) as db:
        db.execute(f"pragma user_version = {VERSION + 1}")
    with pytest.raises(StoreError, match="another version of Groundwire"):
        await open_sqlite().count("c", 1)


async def test_a_locked_file_is_read_and_memory_counts_on(
    path: Path, open_sqlite: Open, caplog: pytest.LogCaptureFixture
) -> None:
    now = [0.0]
    caplog.set_level("INFO")
    store = ResilientStore(open_sqlite(), bound=2, clock=lambda: now[0])
    await store.set("k", b"v", fresh=60)
    await store.count("c", 3, limit=5)
    with raw(path) as db:
        db.execute("begin immediate")
        assert await store.count("c", 1, limit=5) == Count(True, 4)
        await store.set("new", b"v", fresh=60)
        assert await store.count("c", 2, limit=5) == Count(False, 4)
        assert await store.get("k") is not None
        assert await store.get("new") is not None
        now[0] += 1.5
        assert await store.count("c", 1, limit=5) == Count(True, 5)
        assert store.degraded
    now[0] += 10
    assert await store.count("c", 1, limit=5) == Count(False, 5)
    assert number(path, "select total from counters") == 5
    assert [record.levelname for record in caplog.records] == ["WARNING", "INFO"]
    await store.aclose()


async def test_a_file_that_its_last_user_is_closing_is_waited_for(path: Path, open_sqlite: Open) -> None:
    await (first := open_sqlite()).count("c", 1)
    await first.aclose()
    store = SqliteStore(path, max_wait=60)
    with raw(path) as db:
        db.execute("pragma locking_mode = exclusive")  # as a close does while it writes the journal back
        db.execute("delete from counters where key = 'nothing'")
        task = asyncio.create_task(store.count("c", 1))
        done, _ = await asyncio.wait({task}, timeout=0.2)  # longer than SQLite's own busy timeout
        assert not done
    assert (await task).total == 2
    await store.aclose()


async def test_a_file_is_opened_by_one_at_a_time(path: Path, open_sqlite: Open) -> None:
    store = open_sqlite()
    with raw(path.with_name(f"{path.name}.lock")) as other:
        other.execute("begin immediate")  # as another process does that opens the file, or moves it aside
        with pytest.raises(StoreError, match="locked"):
            await store.count("c", 1)
        assert path.name not in names(path.parent)
    assert (await store.count("c", 1)).total == 1


_OPENED_BY_A_THREAD = """
import sys, threading
from pathlib import Path
from groundwire.storage.sqlite_db import StoreFile

class Interrupted(threading.local):
    hook = None

interrupted = Interrupted()
path = Path(sys.argv[1])

def audit(event, args):
    if event == "open" and str(args[0]).endswith(".lock") and (hook := interrupted.hook) is not None:
        interrupted.hook = None
        hook()

def opened(path, hook=None):
    def run():
        interrupted.hook = hook
        StoreFile(path, max_wait=20.0).open().close()
    thread = threading.Thread(target=run)
    thread.start()
    return thread

sys.addaudithook(audit)
"""


def run_script(script: str, path: Path) -> str:
    made = subprocess.run(
        [sys.executable, "-c", _OPENED_BY_A_THREAD + script, str(path)], capture_output=True, text=True, timeout=60
    )
    assert not made.stderr
    return made.stdout


def test_another_thread_does_not_lock_a_lock_file_before_it_is_made_and_closed(path: Path) -> None:
    script = """
def while_it_is_made():
    other = opened(path)
    other.join(0.5)  # without a lock of threads it has the file by then
    print(other.is_alive())

opened(path, while_it_is_made).join()
"""
    assert run_script(script, path) == "True\n"


async def test_a_lock_that_is_no_database_is_not_taken_for_a_damaged_store(path: Path, open_sqlite: Open) -> None:
    await (first := open_sqlite()).count("c", 1)
    await first.aclose()
    path.with_name(f"{path.name}.lock").write_text("4711\nhost\n")
    store = open_sqlite()
    with pytest.raises(StoreError, match=rf"{path.name}\.lock is a file of another program"):
        await store.count("c", 1)
    path.with_name(f"{path.name}.lock").unlink()
    assert (await store.count("c", 1)).total == 2
    assert not store.recreated


async def test_two_stores_of_a_process_keep_the_journal_from_others(path: Path, open_sqlite: Open) -> None:
    first, second = open_sqlite(), open_sqlite()
    await first.count("c", 1)
    await second.count("c", 1)
    for total in (3, 5):
        with worker("count", f"sqlite:///{path}", "100", "1") as other:
            assert other.stdin is not None
            assert other.stdout is not None
            assert other.stdout.readline() == "ready\n"
            other.communicate("go\n")  # it ends, and was not the last that had the file open
        assert path.with_name(f"{path.name}-wal").exists()
        assert (await first.count("c", 1)).total == total
        assert (await second.count("c", 1)).total == total + 1


@pytest.fixture
def readonly() -> Iterator[Path]:
    """A folder in which nothing can be made; root, who may do everything, is somebody else meanwhile."""
    with tempfile.TemporaryDirectory() as name:
        folder = Path(name)
        folder.chmod(0o555)
        with _unprivileged():
            yield folder


@contextmanager
def _unprivileged() -> Iterator[None]:
    me = os.geteuid()
    if me == 0:
        os.seteuid(65_534)
    try:
        yield
    finally:
        if me == 0:
            os.seteuid(0)


async def test_a_folder_that_cannot_be_written_to(readonly: Path, caplog: pytest.LogCaptureFixture) -> None:
    store = open_store(f"sqlite:///{readonly}/store.sqlite3")
    await store.set("k", b"v", fresh=60)
    assert await store.get("k") is not None
    assert await store.count("c", 1, limit=1) == Count(True, 1)
    assert await store.count("c", 1, limit=1) == Count(False, 1)
    assert await store.lease("l", owner="one", ttl=60)
    await store.aclose()
    assert [record.levelname for record in caplog.records] == ["WARNING"]
    assert names(readonly) == set()


async def test_a_full_disk_fails_no_call_and_loses_nothing(path: Path, open_sqlite: Open) -> None:
    with worker("full", f"sqlite:///{path}", "300000") as process:
        told, _ = process.communicate("go\n")
    last = json.loads(told.splitlines()[-1])
    assert last == {"total": 6, "warnings": 1}
    with raw(path) as db:
        assert db.execute("pragma integrity_check").fetchall() == [("ok",)]
    assert await open_sqlite().count("calls", 0) == Count(True, 6)  # added when room was made, at the latest by closing


@pytest.mark.req("H4")
@pytest.mark.parametrize("rounds", [4, pytest.param(50, marks=pytest.mark.slow)])
def test_a_process_killed_in_the_middle_of_writing_loses_no_count(path: Path, rounds: int) -> None:
    chance = random.Random(7)
    total = 0
    for _ in range(rounds):
        with worker("hammer", f"sqlite:///{path}") as process:
            assert process.stdout is not None
            for _ in range(chance.randrange(1, 30)):
                total = int(float(process.stdout.readline()))
        with raw(path) as db:
            assert db.execute("pragma integrity_check").fetchall() == [("ok",)]
            (kept,) = db.execute("select total from counters").fetchone()
        assert kept >= total
        total = int(kept)


@pytest.mark.req("B19")
async def test_the_lease_of_a_killed_process_runs_out(path: Path) -> None:
    ahead = [0.0]
    store = SqliteStore(path, clock=lambda: time.time() + ahead[0])
    with worker("lease", f"sqlite:///{path}", "victim", "60") as process:
        assert process.stdin is not None
        assert process.stdout is not None
        process.stdin.write("go\n")
        process.stdin.flush()
        assert [process.stdout.readline() for _ in range(2)] == ["ready\n", "true\n"]
        process.kill()
        process.wait()
        assert not await store.lease("fleet", owner="other", ttl=60)
        ahead[0] = 61
        assert await store.lease("fleet", owner="other", ttl=60)
    await store.aclose()
