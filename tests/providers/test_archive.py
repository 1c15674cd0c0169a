"""The archive as a provider."""

from __future__ import annotations

from collections.abc import AsyncIterator
from datetime import UTC, date, datetime
from pathlib import Path
from typing import cast

import pytest

from components.archiving import add
from components.calls import CallingRouter
from groundwire.deadline import Deadline
from groundwire.errors import (
    NotConfigured,
    ProviderTimeout,
    ProviderUnavailable,
    ProviderUnsupported,
)
from groundwire.models import Filters, Page, Query, SearchResponse, SearchResult
from groundwire.providers.archive import ArchiveProvider
from groundwire.providers.base import ProviderContext, ReadProvider, SearchProvider
from groundwire.safety.tenancy import LOCAL
from groundwire.settings import Settings
from groundwire.storage.archive.store import Archive
from groundwire.transport.clients import HttpClients

NOW = datetime(2026, 11, 20, 12, tzinfo=UTC)


@pytest.fixture
async def archive(tmp_path: Path) -> AsyncIterator[Archive]:
    moment = [datetime(2026, 11, 18, tzinfo=UTC).timestamp()]
    made = Archive(tmp_path / "kept.db", clock=lambda: moment[0])
    row = SearchResult(title="A row", url="https://b.example/", snippet="Whales <b>sing</b>.", source="searxng")
    await add(made, SearchResponse(query="whales", results=(row,), provider="searxng"), owner=LOCAL)
    moment[0] = NOW.timestamp()
    page = Page(
        url="https://a.example/one",
        title="A page",
        content="# Whales\n\nThey swim.",
        published="2026-11-01",
        modified="2026-11-09",
        author="Ada Voss",
        reader="x",
    )
    await add(made, page, owner=LOCAL)
    yield made
    await made.aclose()


@pytest.mark.req("B13")
async def test_results_say_where_they_are_from_and_how_old_they_are(archive: Archive) -> None:
    results = await ArchiveProvider(archive).search("whales")
    assert results.warnings == (
        "from an earlier search, seen between 2026-11-18 and 2026-11-20; it may be out of date",
    )
    rows = {row.url: row for row in results}
    assert {row.source for row in results} == {"archive"}
    assert rows["https://a.example/one"].published == "2026-11-01"
    assert rows["https://a.example/one"].snippet == "Whales They swim."
    assert rows["https://b.example/"].published is None
    assert rows["https://b.example/"].published_origin == "seen 2026-11-18"
    (only,) = await ArchiveProvider(archive).search("whales", limit=1)
    (other,) = await ArchiveProvider(archive).search("whales", limit=1, filters=Filters(page=2))
    assert {only.url, other.url} == set(rows)
    one = await ArchiveProvider(archive).search("swim")
    assert one.warnings == ("from an earlier search, seen on 2026-11-20; it may be out of date",)


@pytest.mark.req("B4", "B13")
async def test_filters(archive: Archive) -> None:
    async def found(**filters: object) -> list[str]:
        rows = await ArchiveProvider(archive).search("whales", filters=Filters(**filters))  # type: ignore[arg-type]
        return [row.url for row in rows]

    assert await found(allowed_domains=("b.example",)) == ["https://b.example/"]
    assert await found(blocked_domains=("b.example",)) == ["https://a.example/one"]
    assert await found(time_range="w") == ["https://b.example/"]
    assert await found(published_before=date(2026, 11, 10)) == ["https://a.example/one"]


@pytest.mark.req("B13")
async def test_that_it_knows_nothing_is_no_answer(archive: Archive) -> None:
    with pytest.raises(ProviderUnsupported, match="archive: nothing in the archive answers this"):
        await ArchiveProvider(archive).search("sharks")


async def test_an_archive_that_is_off_or_a_deadline_that_is_over(tmp_path: Path, archive: Archive) -> None:
    (tmp_path / "archive.db").mkdir()  # a file that is damaged would be moved aside
    broken = Archive(tmp_path / "archive.db")
    for provider in (ArchiveProvider(broken), ArchiveProvider(broken)):
        with pytest.raises(ProviderUnavailable, match=r"archive\.db"):
            await provider.search("whales")
    await broken.aclose()
    late = Deadline.after(0)
    with pytest.raises(ProviderTimeout):
        await ArchiveProvider(archive).search("whales", deadline=late)


@pytest.mark.req("B13")
async def test_it_fits_the_contracts_and_the_chain(archive: Archive) -> None:
    provider = ArchiveProvider(archive)
    assert isinstance(provider, SearchProvider)
    assert not isinstance(provider, ReadProvider), "readers look there by themselves"
    chain = CallingRouter([provider])
    answer = await chain.ask(Query(text="whales", time_range="y"), Deadline.after(60))
    assert answer.provider == "archive"
    assert {row.published_origin for row in answer.results} == {"seen 2026-11-18", "seen 2026-11-20"}
    assert answer.stale
    assert answer.notice == "from an earlier search, seen between 2026-11-18 and 2026-11-20; it may be out of date"


async def test_making_it(archive: Archive) -> None:
    context = ProviderContext("archive", Settings(), cast("HttpClients", None), archive=archive)
    assert ArchiveProvider.create(context).name == "archive"
    without = ProviderContext("archive", Settings(), cast("HttpClients", None))
    with pytest.raises(NotConfigured, match=r"disabled: set archive\.enabled = true"):
        ArchiveProvider.create(without)
