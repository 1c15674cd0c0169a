"""What a search costs a store is the same whatever its session has seen: statements, bytes, operations are counted."""

from __future__ import annotations

import sqlite3
from collections.abc import Sequence
from datetime import date
from pathlib import Path

import pytest

from components.archiving import add
from groundwire.models import Filters, Page, SearchResponse, SearchResult
from groundwire.routing.budget import Limits, SessionBudget
from groundwire.safety.tenancy import LOCAL, OPERATOR, Owner
from groundwire.storage import MemoryStore
from groundwire.storage.archive.records import page_item
from groundwire.storage.archive.sqlite import SqliteTables
from groundwire.storage.archive.store import Archive
from groundwire.storage.archive.tables import Search
from groundwire.storage.base import Answer, AssignNumbers, Operation
from groundwire.storage.sqlite import _run_batch
from groundwire.storage.sqlite_db import StoreFile
from groundwire.web.session_sources import SessionSources

pytestmark = pytest.mark.req("B9", "B20")


def rows(search: int) -> list[SearchResult]:
    return [
        SearchResult(title=f"Page {row} of {search:04}", url=f"https://w{search:04}.test/{row}", snippet="words " * 40)
        for row in range(10)
    ]


class Counting(MemoryStore):
    """A store that notes the batches it is given."""

    def __init__(self) -> None:
        super().__init__()
        self.batches: list[tuple[Operation, ...]] = []

    async def batch(self, operations: Sequence[Operation]) -> Sequence[Answer]:
        self.batches.append(tuple(operations))
        return await super().batch(operations)


async def test_numbering_is_one_operation_as_long_as_its_results() -> None:
    store = Counting()
    sources, session = SessionSources(store), SessionBudget(store, "team", Limits())
    for search in range(1_000):
        numbered = await sources.number_results(session, rows(search), None)
        assert [row.citation_id for row in numbered] == [*range(10 * search + 1, 10 * search + 11)]
    assert [len(batch) for batch in store.batches] == [1] * 1_000
    sizes = [
        len(one.note) + sum(len(name) for names in one.groups for name in names)
        for batch in store.batches
        for one in batch
        if isinstance(one, AssignNumbers)
    ]
    assert max(sizes[-100:]) <= max(sizes[:100]) + 20
    known = await sources.pages(session, ())
    assert [source.number for source in known] == [*range(1, 10_001)], "no number in use is forgotten"
    assert known[0].url == "https://w0000.test/0"


async def test_what_was_shown_is_noted_as_it_is_whatever_it_holds() -> None:
    sources = SessionSources(MemoryStore())
    titles = ["plain", "with \x1f a mark", "[brackets]", "x", '"', "\ud800", "日本語 …", ""]
    shown = [
        SearchResult(title=title, url=f"https://w.test/{place}", snippet=title * 2)
        for place, title in enumerate(titles)
    ]
    for named in (True, False):
        session = SessionBudget(MemoryStore(), "team", Limits(), named=named)
        await sources.number_results(session, shown, None)
        known = [(one.number, one.url, one.title, one.snippet) for one in await sources.pages(session, ())]
        assert known == [(place + 1, f"https://w.test/{place}", title, title * 2) for place, title in enumerate(titles)]


def test_a_file_runs_as_many_statements_at_the_thousandth_search_as_at_the_first(tmp_path: Path) -> None:
    writing = StoreFile(tmp_path / "store.db", max_wait=1).open()
    statements: list[str] = []
    writing.set_trace_callback(statements.append)
    counts = []
    for search in range(1_000):
        statements.clear()
        names = tuple((b"%d %d" % (search, row),) for row in range(10))
        _run_batch(writing, (AssignNumbers("s", names, b"note %d" % search, 60),), 10**9, 1_000.0)
        counts.append(len(statements))
    writing.close()
    assert set(counts[1:]) == {counts[1]}
    assert counts[0] <= counts[1]


async def test_content_that_is_seen_again_is_not_indexed_again(tmp_path: Path) -> None:
    now = 1_000.0
    archive = Archive(tmp_path / "archive.db", clock=lambda: now)
    answer = SearchResponse(query="words", results=tuple(rows(1)), provider="x")
    await add(archive, answer, owner=LOCAL)
    blocks = []
    for _ in range(3):
        now += 60
        assert await add(archive, answer, owner=LOCAL) == 10
        with sqlite3.connect(tmp_path / "archive.db") as db:
            blocks.append(db.execute("select count(*), sum(length(block)) from archive_words_data").fetchone())
        db.close()
    assert len(set(blocks)) == 1
    found = await archive.search("words", viewer=OPERATOR)
    assert found[0].seen.timestamp() == now
    await archive.aclose()


def test_the_writing_connection_keeps_half_a_megabyte_of_a_file_in_memory(tmp_path: Path) -> None:
    file = StoreFile(tmp_path / "store.db", max_wait=1)
    connections = [file.open(), file.connect()]
    kept = [db.execute("pragma cache_size").fetchone()[0] for db in connections]
    for db in connections:
        db.close()
    assert kept[0] == -500, "in KiB: a session of 1,000 searches takes 3 MB less than with the default"
    assert kept[1] != kept[0], "questions to the archive read much"


def test_rows_of_sessions_are_searched_only_if_there_are_some(tmp_path: Path) -> None:
    tables = SqliteTables(tmp_path / "archive.db")
    statements: list[str] = []

    def ranked(session: str) -> int:
        """Count how often rows are ranked for the local user once a session has a page."""
        page = Page(url=f"https://w.test/{session}", title="Some words", content="Some words.", reader="local")
        item = page_item(page, 1_000, Owner("", session))
        assert item is not None
        tables.put([item], max_bytes=10**9, oldest=0)
        tables._reader().set_trace_callback(statements.append)
        statements.clear()
        tables.find(Search("some words", Filters(), date(2026, 1, 1), limit=9), LOCAL)
        return sum(statement.count("bm25") for statement in statements)

    assert [ranked(""), ranked("a")] == [1, 2]
    tables.close()
