"""The archive in PostgreSQL: tenants apart, weeks dropped, and a server that is killed, full or away."""

from __future__ import annotations

import logging
import os
import socket
import tempfile
from collections.abc import Iterator
from datetime import UTC, datetime
from pathlib import Path

import psycopg
import pytest

from components.archiving import add
from components.needs import needed
from components.postgres import Postgres
from groundwire.errors import ConfigurationError
from groundwire.models import Page
from groundwire.safety.tenancy import LOCAL, OPERATOR, Owner
from groundwire.settings import load
from groundwire.storage.archive.postgres import PostgresTables
from groundwire.storage.archive.records import page_item
from groundwire.storage.archive.store import Archive
from groundwire.storage.base import StoreError

START = datetime(2026, 11, 20, 12, tzinfo=UTC).timestamp()
WEEK = 604_800.0


class Clock:
    """Time that passes when a test says so."""

    def __init__(self) -> None:
        self.time = START

    def __call__(self) -> float:
        return self.time


@pytest.fixture
def clock() -> Clock:
    return Clock()


@pytest.fixture
def own() -> Iterator[Postgres]:
    """A server that a test may kill."""
    with tempfile.TemporaryDirectory(ignore_cleanup_errors=True) as folder:
        Path(folder).chmod(0o755)
        server = needed(lambda: Postgres(Path(folder), "fsync=on"))
        yield server
        server.stop()


def page(number: int, content: str = "Some words about whales.") -> Page:
    return Page(url=f"https://a.example/{number}", title="A page", content=content, reader="local")


@pytest.mark.req("B13")
async def test_the_database_itself_keeps_tenants_apart(postgres: Postgres, clock: Clock) -> None:
    url = postgres.database()
    archive = Archive(url, clock=clock)
    for tenant in ("a", "b"):
        assert await add(archive, page(1, "The same whales."), owner=Owner(tenant))
    assert await add(archive, page(2, "Whales of b only."), owner=Owner("b"))
    assert len(await archive.search("whales", viewer=Owner("a"))) == 1
    assert (await archive.statistics(viewer=OPERATOR)).pages == 3
    await archive.aclose()
    with psycopg.connect(url) as db:

        def counts() -> list[int]:
            tables = ("archive_items", "archive_bodies")
            return [count for table in tables for (count,) in db.execute(f"select count(*) from {table}")]

        assert counts() == [0, 0], "without a tenant, nothing"
        db.execute("set groundwire.tenant = 'a'")
        assert counts() == [1, 1]
        db.execute("set groundwire.tenant = 'b'")
        assert counts() == [2, 2]
        db.execute("set groundwire.operator = 'on'")
        assert counts() == [3, 2], "a text that two tenants have is there once"


async def test_a_text_goes_with_the_last_item_that_has_it(postgres: Postgres, clock: Clock) -> None:
    url = postgres.database()
    archive = Archive(url, clock=clock)
    for number in (1, 2):
        await add(archive, page(number, "One text."), owner=LOCAL)
    texts = "select count(*) from archive_bodies"
    for left in (1, 0):
        await archive.forget(url=f"https://a.example/{left + 1}")
        assert postgres.command(texts, url.rpartition("/")[2]) == [(left,)]
    await add(archive, page(1, "First text."), owner=LOCAL)
    clock.time += 1
    await add(archive, page(1, "Second text."), owner=LOCAL)
    assert postgres.command(texts, url.rpartition("/")[2]) == [(1,)]
    await archive.aclose()


def test_a_write_of_many_is_as_many_statements_and_nothing_is_compiled() -> None:
    with tempfile.TemporaryDirectory(ignore_cleanup_errors=True) as folder:
        Path(folder).chmod(0o755)
        server = needed(lambda: Postgres(Path(folder), "log_statement=all"))
        tables = PostgresTables(server.database())
        log = Path(folder) / "server.log"

        def statements(first: int, count: int) -> int:
            items = [page_item(page(first + at), int(START * 1_000), LOCAL) for at in range(count)]
            before = log.read_text(encoding="utf-8").count("execute <unnamed>")
            assert tables.put([item for item in items if item], max_bytes=10**9, oldest=0) == count
            return log.read_text(encoding="utf-8").count("execute <unnamed>") - before

        statements(0, 1)  # makes the tables
        assert statements(1, 1) == statements(2, 50) > 0
        with tables._transaction(OPERATOR) as db:
            assert db.execute("show jit").fetchone() == ("off",)
        tables.close()
        server.stop()


async def test_old_weeks_are_dropped_as_tables(postgres: Postgres, clock: Clock) -> None:
    url = postgres.database()
    weeks = "select count(*) from pg_inherits where inhparent = 'archive_items'::regclass"
    for number, kept in enumerate((1, 2, 3, 3)):
        archive = Archive(url, max_age=2 * WEEK, clock=clock)
        assert await add(archive, page(number), owner=LOCAL)
        await archive.aclose()
        assert postgres.command(weeks, url.rpartition("/")[2]) == [(kept,)]
        clock.time += WEEK
    small = Archive(url, max_bytes=100_000, clock=clock)  # a week takes more, even if it is empty
    assert await add(small, page(9), owner=LOCAL)
    assert [hit.url for hit in await small.search("whales", viewer=OPERATOR)] == ["https://a.example/9"]
    await small.aclose()


@pytest.mark.req("B13")
async def test_what_was_acknowledged_outlives_a_kill_and_what_came_meanwhile_is_caught_up(
    own: Postgres, clock: Clock, caplog: pytest.LogCaptureFixture
) -> None:
    caplog.set_level(logging.WARNING)
    archive = Archive(own.database(), clock=clock)
    for number in range(5):
        assert await add(archive, page(number), owner=LOCAL)
    own.kill()
    archive.remember(page(6), owner=LOCAL)
    await archive.flush()
    assert archive.problem
    assert not await add(archive, page(5), owner=LOCAL)
    with pytest.raises(StoreError, match="cannot be used"):
        await archive.search("whales", viewer=OPERATOR)
    assert [record.message.split(".")[0] for record in caplog.records] == ["The archive is disabled"]
    own.restart()
    clock.time += 31
    await archive.flush()
    assert (archive.problem, archive.dropped) == ("", 0)
    found = await archive.search("whales", limit=10, viewer=OPERATOR)
    assert {hit.url for hit in found} == {f"https://a.example/{number}" for number in (0, 1, 2, 3, 4, 6)}
    assert caplog.records[-1].message == "The archive works again."
    await archive.aclose()


async def test_what_waits_for_a_server_is_bounded_and_counted(clock: Clock) -> None:
    archive = Archive("postgresql://nobody@127.0.0.1:1/none", clock=clock)
    with pytest.raises(StoreError, match="cannot be used"):
        await archive.statistics(viewer=OPERATOR)
    for number in range(1_030):
        archive.remember(page(number), owner=LOCAL)
    assert archive.dropped == 6
    await archive.aclose()
    assert archive.dropped == 1_030


async def test_a_database_that_may_not_be_written_is_still_read(postgres: Postgres, clock: Clock) -> None:
    url = postgres.database()
    archive = Archive(url, clock=clock)
    await add(archive, page(1), owner=LOCAL)
    await archive.aclose()
    name = url.rpartition("/")[2]
    postgres.command(f"alter database {name} set default_transaction_read_only = on")
    archive = Archive(url, clock=clock)
    assert not await add(archive, page(2), owner=LOCAL)
    assert "cannot be written" in archive.problem
    assert len(await archive.search("whales", viewer=OPERATOR)) == 1
    await archive.aclose()


def test_a_server_that_is_gone_without_a_word_is_given_up(postgres: Postgres) -> None:
    tables = PostgresTables(postgres.database())
    with tables._transaction(OPERATOR) as db, socket.socket(fileno=os.dup(db.fileno())) as line:
        options = (socket.TCP_USER_TIMEOUT, socket.TCP_KEEPIDLE)
        assert [line.getsockopt(socket.IPPROTO_TCP, option) for option in options] == [10_000, 3]
    tables.close()


@pytest.mark.parametrize("url", ["postgresql://h/x?sslmod=require", "postgresql://groundwire:hunter%x2@h/x"])
async def test_an_address_that_cannot_be_read_is_a_broken_archive(url: str) -> None:
    archive = Archive(url)
    await archive.open()
    assert "archive.url is invalid" in archive.problem
    assert "hunter" not in archive.problem
    await archive.aclose()


def test_an_address_of_another_kind_is_refused(tmp_path: Path) -> None:
    with pytest.raises(ConfigurationError, match="postgresql://USER"):
        load({"archive.url": "mysql://user:secret@h/x"}, environment={}, folder=tmp_path, user_folder=tmp_path)
