"""Which rows the archive's databases read for a statement, as their planners say."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from contextlib import contextmanager
from datetime import date
from pathlib import Path
from typing import Any

import pytest

from components.postgres import Postgres
from groundwire.models import Filters, Page
from groundwire.safety.tenancy import OPERATOR, Owner, Viewer
from groundwire.storage.archive.postgres import PostgresTables
from groundwire.storage.archive.records import Item, page_item
from groundwire.storage.archive.sqlite import SqliteTables
from groundwire.storage.archive.tables import Search


class ExplainedSqlite(SqliteTables):
    """Notes how each statement is carried out."""

    plan = ""

    def _select(self, sql: str, values: Sequence[object], viewer: Viewer) -> Sequence[tuple[Any, ...]]:
        self.plan = str(super()._select(f"explain query plan {sql}", values, viewer))
        return super()._select(sql, values, viewer)


class ExplainedPostgres(PostgresTables):
    """Notes how each statement is carried out."""

    plan = ""

    def _select(self, sql: str, values: Sequence[object], viewer: Viewer) -> Sequence[tuple[Any, ...]]:
        self.plan = str(super()._select(f"explain {sql}", values, viewer))
        return super()._select(sql, values, viewer)


class CountedPostgres(PostgresTables):
    """Counts the statements of searches."""

    statements = 0

    @contextmanager
    def _reading(self, viewer: Viewer) -> Iterator[Any]:
        with super()._reading(viewer) as db:

            class Connection:
                @staticmethod
                def execute(*statement: Any) -> Any:
                    self.statements += 1
                    return db.execute(*statement)

            yield Connection


def items(count: int) -> list[Item]:
    pages = [
        Page(url=f"https://a.example/{n}", title="A page", content=f"Whales {n}", reader="local") for n in range(count)
    ]
    made = [page_item(page, 1_700_000_000_000, Owner("t")) for page in pages]
    return [item for item in made if item is not None]


@pytest.mark.req("B13")
def test_statistics_read_no_row(tmp_path: Path, postgres: Postgres) -> None:
    url = f"{postgres.database()}?options=-c%20enable_seqscan%3Doff%20-c%20enable_bitmapscan%3Doff"  # with few rows
    tables = ExplainedSqlite(tmp_path / "archive.db"), ExplainedPostgres(url)
    for each in tables:
        each.put(items(5), max_bytes=1 << 30, oldest=0)
        totals = each.totals(OPERATOR)
        each.close()
        assert (totals.pages, totals.results) == (5, 0)
    assert "USING COVERING INDEX archive_by_time" in tables[0].plan
    assert "Index Only Scan" in tables[1].plan


@pytest.mark.req("B13")
def test_a_page_is_looked_up_by_both_of_its_addresses(tmp_path: Path, postgres: Postgres) -> None:
    tables = ExplainedSqlite(tmp_path / "archive.db"), ExplainedPostgres(postgres.database())
    for each in tables:
        each.put(items(3_000), max_bytes=1 << 30, oldest=0)
        page = each.newest_page("a.example/3", OPERATOR)
        each.close()
        assert page is not None
        assert page.url == "https://a.example/3"
    assert "archive_pages_by_place" in tables[0].plan
    assert "archive_pages_by_alias" in tables[0].plan
    assert "_place_idx" in tables[1].plan
    assert "_alias_idx" in tables[1].plan


@pytest.mark.req("B13")
def test_a_list_has_each_address_once_however_many_have_it(tmp_path: Path, postgres: Postgres) -> None:
    tables = SqliteTables(tmp_path / "archive.db"), PostgresTables(postgres.database())
    pages = [Page(url=f"https://a.example/{n}", title="A page", content="Whales", reader="local") for n in range(3)]
    made = [page_item(pages[n], 1_700_000_000_000 + n, Owner(f"t{m}")) for n in range(3) for m in range(20)]
    for each in tables:
        each.put([item for item in made if item is not None], max_bytes=1 << 30, oldest=0)
        lists = [
            each.newest_first(limit, offset, OPERATOR) for limit, offset in ((2, 0), (2, 1), (9, 2), (0, 0), (2, 3))
        ]
        each.close()
        assert [[hit.url[-1] for hit in hits] for hits in lists] == [["2", "1"], ["1", "0"], ["0"], [], []]


@pytest.mark.req("B13")
def test_matches_are_read_by_few_statements(postgres: Postgres) -> None:
    """One statement for each took 2 ms with 28 weeks, mostly to plan it."""
    tables = CountedPostgres(postgres.database())
    tables.put(items(60), max_bytes=1 << 30, oldest=0)
    found = tables.find(Search("whales", Filters(), date(2023, 11, 20), 60), OPERATOR)
    tables.close()
    assert len({hit.url for hit in found}) == 60
    assert tables.statements < 12


class ForgottenMeanwhile(PostgresTables):
    """Another process deletes one of the rows between the two statements of a search."""

    def _candidates(self, *arguments: Any) -> Any:
        found = super()._candidates(*arguments)
        other = PostgresTables(self._url)
        (place,) = (each.place for each in found if each.place.endswith("a.example/2"))
        assert other.forget(key=place, domain=None, before=None) == 1
        other.close()
        return found


@pytest.mark.req("B13")
def test_a_match_that_another_process_deletes_meanwhile_is_left_out(postgres: Postgres) -> None:
    tables = ForgottenMeanwhile(postgres.database())
    tables.put(items(5), max_bytes=1 << 30, oldest=0)
    found = tables.find(Search("whales", Filters(), date(2023, 11, 20), 60), OPERATOR)
    tables.close()
    assert {hit.url for hit in found} == {f"https://a.example/{number}" for number in (0, 1, 3, 4)}
