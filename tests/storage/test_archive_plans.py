"""Which rows the archive's databases read for a statement, as their planners say."""

from __future__ import annotations

from collections.abc import Sequence
from pathlib import Path
from typing import Any

import pytest

from components.postgres import Postgres
from groundwire.models import Page
from groundwire.safety.tenancy import OPERATOR, Owner, Viewer
from groundwire.storage.archive.postgres import PostgresTables
from groundwire.storage.archive.records import Item, page_item
from groundwire.storage.archive.sqlite import SqliteTables


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


def items() -> list[Item]:
    pages = [Page(url=f"https://a.example/{n}", title="A page", content=f"Page {n}", reader="local") for n in range(5)]
    made = [page_item(page, 1_700_000_000_000, Owner("t")) for page in pages]
    return [item for item in made if item is not None]


@pytest.mark.req("B13")
def test_statistics_read_no_row(tmp_path: Path, postgres: Postgres) -> None:
    url = f"{postgres.database()}?options=-c%20enable_seqscan%3Doff%20-c%20enable_bitmapscan%3Doff"  # with few rows
    tables = ExplainedSqlite(tmp_path / "archive.db", "sessions"), ExplainedPostgres(url, "sessions")
    for each in tables:
        each.put(items(), max_bytes=1 << 30, oldest=0)
        totals = each.totals(OPERATOR)
        each.close()
        assert (totals.pages, totals.results) == (5, 0)
    assert "USING COVERING INDEX archive_by_time" in tables[0].plan
    assert "Index Only Scan" in tables[1].plan
