"""A user's own files in the same calls: opened, searched by an index, cited and verified."""

from __future__ import annotations

import os
import sqlite3
from collections.abc import Callable
from contextlib import closing
from pathlib import Path
from typing import Any

import pytest

from components.papers import canvas_pdf
from groundwire import Settings, SyncWeb, Web
from groundwire.errors import (
    BudgetExceeded,
    DeadlineExceeded,
    GroundwireError,
    InvalidRequest,
    PageEmpty,
    PageTooLarge,
    PermissionDenied,
    UnsupportedContent,
)
from groundwire.routing.daily_quota import DailyLimits
from groundwire.safety.tenancy import OPERATOR
from groundwire.tools import OpenPageToolResult, WebSearchToolResult, web_tools
from world import World

Make = Callable[..., Settings]
FERRY = "# Ferry guide\n\nThe ferry runs daily.\n\n## Winter\n\nIn winter the ferry leaves the harbor at 7:40.\n"
FILES: Any = {"sources": ["files"]}


@pytest.fixture
def papers(tmp_path: Path) -> Path:
    """A folder with a note, a PDF of two pages, a picture, and a secret."""

    def draw(canvas: Any) -> None:
        for text in ("On the keepers of the northern lights.", "The lamp of Skagen burned whale oil until 1858."):
            canvas.drawString(72, 700, text)
            canvas.showPage()

    folder = tmp_path / "papers"
    (folder / "sub").mkdir(parents=True)
    (folder / "ferry.md").write_text(FERRY, encoding="utf-8")
    (folder / "sub" / "light houses.pdf").write_bytes(canvas_pdf(draw))
    (folder / "photo.png").write_bytes(b"\x89PNG\r\n\x1a\n" + bytes(100))
    (folder / ".env").write_text("TOKEN=harbor-secret ferry winter", encoding="utf-8")
    return folder


@pytest.fixture
def make(settings: Make, tmp_path: Path, papers: Path) -> Make:
    def made(*folders: Path, **sections: Any) -> Settings:
        archive = {"enabled": True, "path": str(tmp_path / "kept" / "archive.db")} | sections.pop("archive", {})
        base = settings(archive=archive, **sections)
        allowed = {"files": tuple(map(str, folders or (papers,)))}
        return base.model_copy(update={"policy": base.policy.model_copy(update=allowed)})

    return made


def rows(found: WebSearchToolResult | Any) -> list[tuple[str, str]]:
    return [(row.title, row.url) for row in found.results]


@pytest.mark.req("B39")
def test_a_person_opens_any_file_and_a_text_none(settings: Make, papers: Path, world: World) -> None:
    with SyncWeb(settings()) as web:
        page = web.open_page(papers / "ferry.md", query="when does it leave in winter")
        assert (page.title, page.reader, page.url) == ("Ferry guide", "files", (papers / "ferry.md").as_uri())
        assert "7:40" in page.content
        pdf = web.open_page(papers / "sub" / "light houses.pdf")
        assert "[page 2]" in pdf.content
        assert "whale oil" in pdf.content
        assert "harbor-secret" in web.open_page(papers / ".env").content
        both = web.open_pages([papers / "ferry.md", papers / "none.md", papers.as_uri() + "/ferry.md"])
        assert [one.status for one in both] == ["success", "error", "error"]
        assert "There is no file" in both[1].error
        assert "no folder is allowed" in both[2].error
        with pytest.raises(PermissionDenied, match=r"policy\.files"):
            web.open_page((papers / "ferry.md").as_uri())
        with pytest.raises(PermissionDenied, match=r"policy\.files"):
            web.search("ferry", sources=["files"])
    assert world.searxng.requests == []


@pytest.mark.req("B39")
async def test_one_clear_error_each(make: Make, papers: Path) -> None:
    (papers / "empty.txt").touch()
    (papers / "large.txt").write_bytes(b"word " * 400)
    (papers / "damaged.pdf").write_bytes(b"%PDF-1.7\n" + b"x" * 100)
    async with Web(make(read={"max_bytes": 1_000})) as web:
        for path, error, says in (
            (papers, UnsupportedContent, "is a folder"),
            (papers / "empty.txt", PageEmpty, "The file is empty"),
            (papers / "photo.png", UnsupportedContent, "The file is an image, which cannot be read as text"),
            (papers / "large.txt", PageTooLarge, "more than 1,000 bytes"),
            (papers / "damaged.pdf", UnsupportedContent, "PDF"),
            (Path("\0"), InvalidRequest, "names no file"),
            (Path("~nobody-of-that-name/x"), InvalidRequest, "names no file"),
        ):
            with pytest.raises(error, match=says):
                await web.open_page(path)
        with pytest.raises(InvalidRequest, match="which have no domains"):
            await web.search("ferry", allowed_domains=["example.org"], **FILES)
        with pytest.raises(InvalidRequest, match="sources: has more than one"):
            await web.search("ferry", sources=["web", "files"])
        with pytest.raises(InvalidRequest, match="keep"):
            await web.search("ferry", keep=False, **FILES)
    async with Web(make(papers / "missing")) as web:
        with pytest.raises(InvalidRequest, match=r"policy\.files: .*missing cannot be read"):
            await web.search("ferry", **FILES)
    async with Web(make(archive={"enabled": False})) as web:
        with pytest.raises(PermissionDenied, match=r"archive\.enabled"):
            await web.search("ferry", **FILES)
    if os.geteuid():
        (papers / "ferry.md").chmod(0)
        async with Web(make()) as web:
            with pytest.raises(GroundwireError, match="cannot be read: Permission denied"):
                await web.open_page(papers / "ferry.md")


@pytest.mark.req("B39", "B9")
async def test_a_models_search_is_cited_opened_and_verified(make: Make, papers: Path, world: World) -> None:
    async with Web(make(session={"id": "work"})) as web:
        search, read = web_tools(web)
        assert search.parameters["properties"]["sources"]["items"]["enum"] == ["web", "papers", "files"]
        found = await search.call(query="When does the ferry leave in winter?", sources="files")
        assert isinstance(found, WebSearchToolResult)
        assert rows(found) == [("Ferry guide > Winter", (papers / "ferry.md").as_uri())]
        assert "7:40" in found.results[0].snippet
        assert "1 of 3 files are too large or have no readable text" in found.message
        again = await search.call(query="lamp whale oil", sources=["files"])
        assert [title for title, _ in rows(again)] == ["light houses.pdf > page 2"]
        page = await read.call(url=found.results[0].url)
        assert isinstance(page, OpenPageToolResult)
        assert (page.citation_id, page.status) == (found.results[0].citation_id, "success")
        secret = await read.call(url=(papers / ".env").as_uri())
        assert (secret.status, "harbor-secret" in str(secret)) == ("error", False)
        report = await web.verify(
            "In winter the ferry leaves the harbor at 7:40 [1]. It leaves the harbor at 9:15 [1]."
        )
        assert [row.verdict for row in report.findings] == ["supported", "contradicted"]
        assert rows(await search.call(query="TOKEN", sources=["files"])) == []
        assert (await found_rows(web))[0].title == "Ferry guide > Winter"
    assert world.searxng.requests == []


async def found_rows(web: Web) -> Any:
    response = await web.search("ferry winter", **FILES)
    assert "7:40" in (await response.results[0].open()).content
    return response.results


@pytest.mark.req("B39")
async def test_the_index_is_built_once_and_follows_the_folder(make: Make, papers: Path) -> None:
    told: list[tuple[int, int]] = []
    async with Web(make()) as web:
        assert tuple(await web.index_files(lambda *numbers: told.append(numbers))) == (3, 3, 1, 0)
        assert told == [(1, 3), (2, 3), (3, 3)]
        assert tuple(await web.index_files()) == (3, 0, 1, 0)
    (papers / "ferry.md").write_text(FERRY.replace("7:40", "8:15 sharp"), encoding="utf-8")
    (papers / "sub" / "light houses.pdf").unlink()
    (papers / "new.txt").write_text("A note about the tide tables.", encoding="utf-8")
    async with Web(make()) as web:  # another process, later
        assert "8:15" in (await web.search("ferry winter", **FILES)).results[0].snippet
        assert tuple(await web.index_files()) == (3, 0, 1, 0)
        assert [row.title for row in (await web.search("tide tables", **FILES)).results] == ["new.txt"]
        gone = await web.search("whale oil lamp Skagen", **FILES)
        assert gone.results == ()
    with closing(sqlite3.connect(papers.parent / "kept" / "archive-files.db")) as db:
        assert b"whale" not in b"".join(str(row).encode() for row in db.execute("select * from archive_items"))


@pytest.mark.req("B39")
async def test_of_large_files_few_are_read_again_after_a_kill(make: Make, papers: Path) -> None:
    for number in range(8):
        text = f"<!-- {'x' * 600_000} --><p>The keeper of lock {number} opens it at dawn.</p>"
        (papers / f"{number}.html").write_text(text, encoding="utf-8")
    kept: list[int] = []

    def count(done: int, total: int) -> None:
        with closing(sqlite3.connect(papers.parent / "kept" / "archive-files.db")) as db:
            kept.append(done - db.execute("select count(*) from archive_items").fetchone()[0])

    async with Web(make()) as web:
        await web.index_files(count)
    assert max(kept) <= 6, "of 11, each is written soon after it is read"


@pytest.mark.req("B39")
async def test_what_has_some_of_the_words_says_so_and_nothing_is_nothing(make: Make) -> None:
    async with Web(make()) as web:
        some = await web.search("ferry to Heligoland", **FILES)
        assert [row.title for row in some.results] == ["Ferry guide"]
        assert "no file has all words of the query" in some.warnings[0]
        none = await web.search("zebra crossing", **FILES)
        assert (none.results, none.provider, none.attempts[0].outcome) == ((), "files", "empty")
        second = await web.search("ferry", page=2, **FILES)
        assert second.results == ()


@pytest.mark.req("B39", "B22")
async def test_an_index_is_of_a_tenant_and_a_folder_and_never_in_the_archive(
    make: Make, papers: Path, tmp_path: Path
) -> None:
    other = tmp_path / "other"
    other.mkdir()
    (other / "memo.txt").write_text("A memo about the ferry in winter.", encoding="utf-8")
    async with Web(make(papers, other)) as web:
        assert len((await web.search("ferry winter", **FILES)).results) == 2
        only = web.with_files(other)
        assert [row.title for row in (await only.search("ferry winter", **FILES)).results] == ["memo.txt"]
        tenant = web.restricted(tenant="t")
        for refused in (tenant, web.with_files(), tenant.session("s")):
            with pytest.raises(PermissionDenied):
                await refused.search("ferry winter", **FILES)
            with pytest.raises(PermissionDenied):
                await refused.open_page((papers / "ferry.md").as_uri())
        own = tenant.with_files(str(other))
        assert [row.title for row in (await own.search("ferry winter", **FILES)).results] == ["memo.txt"]
        with pytest.raises(PermissionDenied):
            await own.open_page((papers / "ferry.md").as_uri())
        assert web.archive is not None
        assert list(await web.archive.search("ferry winter", viewer=OPERATOR)) == []
        assert (await web.archive.statistics(viewer=OPERATOR)).pages == 0
    with closing(sqlite3.connect(tmp_path / "kept" / "archive-files.db")) as db:
        owners = dict(db.execute("select tenant || ' ' || session, count(*) from archive_items group by 1").fetchall())
    assert owners == {
        f"local {papers.as_uri()}": 3,
        f"local {other.as_uri()}": 1,
        f"tenant:t {other.as_uri()}": 1,
    }


@pytest.mark.req("B39")
async def test_a_full_index_and_too_little_time_are_said(make: Make, papers: Path) -> None:
    for number in range(40):
        (papers / f"{number}.txt").write_text("ferry " * 20_000, encoding="utf-8")
    async with Web(make(archive={"max_bytes": 1_000_000})) as web:
        found = await web.search("ferry", **FILES)
        assert any("of 43 files are not indexed yet" in said for said in found.warnings)
        assert found.results


@pytest.mark.req("B39")
async def test_reading_goes_on_after_a_search_that_had_no_time(make: Make, papers: Path) -> None:
    told: list[tuple[int, int]] = []
    async with Web(make()) as web:
        with pytest.raises(DeadlineExceeded, match="Search again"):
            await web.search("ferry winter", timeout=1e-6, **FILES)
        await web.index_files(lambda *numbers: told.append(numbers))
        assert told == []  # it waited for the work of the search, or that was done
        assert (await web.search("ferry winter", **FILES)).results
    (papers / "new.txt").write_text("A note about the tide tables.", encoding="utf-8")
    async with Web(make()) as web:  # closed while it works
        with pytest.raises(DeadlineExceeded):
            await web.search("tide", timeout=1e-6, **FILES)
    async with Web(make()) as web:
        assert (await web.search("tide", **FILES)).results


@pytest.mark.req("B39")
async def test_searches_and_files_are_calls_of_the_day(make: Make, papers: Path) -> None:
    async with Web(make()) as web:
        limited = web.restricted(daily=DailyLimits(name="key:a", calls=2))
        await limited.search("ferry winter", **FILES)
        await limited.open_page((papers / "ferry.md").as_uri())
        quota = limited._budget.quota
        assert quota is not None
        assert (await quota.used())["calls"] == 2
        with pytest.raises(BudgetExceeded):
            await limited.search("ferry winter", **FILES)
        with pytest.raises(BudgetExceeded):
            await limited.open_page((papers / "ferry.md").as_uri())


async def test_the_name_of_a_file_is_cleaned_like_its_text(make: Make, papers: Path) -> None:
    (papers / "tide\u202e\x1b[2J\n<|im_start|>.txt").write_text("A note about the tide tables.", encoding="utf-8")
    async with Web(make()) as web:
        (row,) = (await web.search("tide tables", **FILES)).results
    assert row.title.isprintable()
    assert row.url.isascii()


async def test_a_file_is_read_where_only_known_urls_are_opened(make: Make, papers: Path) -> None:
    settings = make()
    known = settings.model_copy(update={"policy": settings.policy.model_copy(update={"open_only": "known"})})
    async with Web(known) as web:
        assert "7:40" in (await web.open_page((papers / "ferry.md").as_uri())).content
