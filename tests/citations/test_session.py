"""The numbers of a session, and checking an answer against what it was shown."""

from __future__ import annotations

import asyncio
from collections.abc import Callable
from pathlib import Path
from typing import Any, cast

import pytest

from groundwire import InvalidRequest, Page, Settings, SyncWeb, Web
from groundwire.citations.verify import Report
from groundwire.reading.passages.outline import version_of
from groundwire.routing.budget import Limits, SessionBudget
from groundwire.safety.tenancy import Owner
from groundwire.storage.memory import MemoryStore
from groundwire.tools import OpenPageToolResult, WebSearchToolResult, open_page_tool, render_text, web_search_tool
from groundwire.web.session_sources import SessionSources
from world import World

Make = Callable[..., Settings]


def verdicts(report: Report) -> list[str]:
    return [finding.verdict for finding in report.findings]


@pytest.mark.req("B9", "Y11")
async def test_a_page_keeps_its_number(settings: Make) -> None:
    async with Web(settings()) as web:
        first = await web.search("reciprocal rank fusion", limit=3)
        again = await web.search("bm25", limit=5)
        urls = {row.url: row.citation_id for row in first.results}
        for row in again.results:
            assert urls.setdefault(row.url, row.citation_id) == row.citation_id
        page = await web.open_page(first.results[1].url)
    assert [row.citation_id for row in first.results] == [1, 2, 3]
    assert sorted(urls.values()) == list(range(1, len(urls) + 1))
    assert [source.citation_id for source in again.sources] == [row.citation_id for row in again.results]
    assert page.citation_id == 2


@pytest.mark.req("B9")
async def test_sessions_count_for_themselves_and_begin_anew(settings: Make) -> None:
    async with Web(settings()) as web:
        await web.search("reciprocal rank fusion", limit=3)
        other = await web.session().search("bm25", limit=2)
        assert [row.citation_id for row in other.results] == [1, 2]
        await web.reset_session()
        assert await web.sources() == ()
        anew = await web.search("bm25", limit=2)
    assert [row.citation_id for row in anew.results] == [1, 2]


@pytest.mark.req("B9")
async def test_two_processes_of_a_session_give_no_number_twice(settings: Make, tmp_path: Path) -> None:
    store = f"sqlite:///{tmp_path / 'store.db'}"
    asked = settings(storage={"url": store}, session={"id": "team"})
    async with Web(asked) as one, Web(asked) as other:
        answers = await asyncio.gather(
            *(web.search(words, limit=5) for web in (one, other) for words in ("reciprocal rank fusion", "bm25"))
        )
        known = await other.sources()
    numbers = {row.url: row.citation_id for answer in answers for row in answer.results}
    assert all(numbers[row.url] == row.citation_id for answer in answers for row in answer.results)
    assert sorted(numbers.values()) == list(range(1, len(numbers) + 1))
    assert [page.number for page in known] == sorted(numbers.values())


@pytest.mark.req("Y11")
async def test_the_tools_say_the_number(settings: Make) -> None:
    async with Web(settings()) as web:
        found = await web_search_tool(web).call(query="reciprocal rank fusion", limit=2)
        assert isinstance(found, WebSearchToolResult)
        read = await open_page_tool(web).call(url=found.sources[1].url)
        failed = await open_page_tool(web).call(url="no address")
    assert isinstance(read, OpenPageToolResult)
    assert isinstance(failed, OpenPageToolResult)
    assert [source.citation_id for source in read.sources] == [read.citation_id] == [2]
    assert "Cite as: [2]" in render_text(read)
    assert failed.citation_id == 0
    assert failed.sources == ()


@pytest.mark.req("B9")
async def test_an_answer_is_checked_against_what_was_shown(settings: Make, world: World) -> None:
    async with Web(settings()) as web:
        found = await web.search("reciprocal rank fusion", limit=3)
        page = await web.open_page(found.results[0].url)
        sentence = next(
            line for line in page.content.splitlines() if len(line) > 60 and line[0].isalpha() and line.endswith(".")
        )
        sentence = sentence.split(". ")[0].rstrip(".")
        report = await web.verify(f"{sentence} [1]. Pigs flew over the palace in Vienna [1]. It rains frogs [2].")
        sources = await web.sources()
    assert verdicts(report) == ["supported", "not_found", "not_opened"]
    assert report.unknown == ()
    assert sources[0].content == page.content
    assert sources[0].version == page.version
    assert sources[1].content is None
    assert sources[1].snippet


@pytest.mark.req("B9")
@pytest.mark.parametrize("archived", ["the page as it was", "the page as it is now"])
async def test_what_is_no_longer_stored_is_taken_from_the_archive_and_said_to_have_changed(archived: str) -> None:
    class Archived:
        async def get_page(self, url: str, *, viewer: Owner) -> Page:
            return Page(url=url, content=archived)

    budget = SessionBudget(MemoryStore(), "session", Limits())
    sources = SessionSources(MemoryStore(), cast("Any", Archived()))
    seen = await sources.number_page(budget, Page(url="https://a.example/", content="the page as it was"))
    (page,) = await sources.pages(budget)
    assert (page.content, page.changed) == (seen.content, False)
    elsewhere = SessionSources(MemoryStore(), cast("Any", Archived()))  # without the content
    (page,) = await elsewhere.pages(budget)
    assert (page.content, page.changed) == (archived, archived != seen.content)
    assert page.version == version_of(archived)
    (page,) = await elsewhere.pages(budget, ())
    assert (page.content, page.changed, page.version) == (None, False, version_of(seen.content))


@pytest.mark.req("B9")
async def test_a_session_that_is_gone_and_a_number_that_never_was(settings: Make) -> None:
    async with Web(settings()) as web:
        gone = await web.session("gone").verify("It was built in 1901 [1].")
        await web.search("bm25", limit=2)
        unknown = await web.verify("It was built in 1901 [77].")
    assert verdicts(gone) == verdicts(unknown) == ["unknown_source"]
    assert "no source of this session is known" in gone.warnings[0]
    assert unknown.warnings == ("there is no source for [77]",)
    assert not gone.supported


async def test_the_other_face_verifies_too(settings: Make) -> None:
    with SyncWeb(settings()) as web:
        web.search("bm25", limit=1)
        assert [page.number for page in web.sources()] == [1]
        assert verdicts(web.verify("Nobody says that [9].")) == ["unknown_source"]
        with pytest.raises(InvalidRequest, match="answer"):
            web.verify(b"bytes")  # type: ignore[arg-type]  # what a caller without types may pass
