"""Documents of the miniature web, opened as an agent opens them, and what the reader says of files it cannot read."""

from __future__ import annotations

import sys
from collections.abc import AsyncIterator, Callable
from contextlib import suppress

import pytest

from components.papers import encrypted, many_pages, scan
from groundwire import Settings, Web
from groundwire.deadline import Deadline
from groundwire.errors import DeadlineExceeded, PageEmpty, PageError, PageRefused, PageTooLarge, UnsupportedContent
from groundwire.reading.local import LocalReadProvider
from groundwire.safety.guard import Guard
from groundwire.testing import EmulatedResponse, EmulatedServer, Recorded
from groundwire.transport import Transport
from world import World

pytestmark = pytest.mark.req("B2")


@pytest.fixture
async def web(world: World) -> AsyncIterator[Web]:
    settings = Settings.model_validate(
        {
            "policy": {"allowed_origins": world.origins},
            "storage": {"url": "memory://"},
            "cache": {"enabled": False},
            "archive": {"enabled": False},
        }
    )
    async with Web(settings) as opened:
        yield opened


async def test_the_columns_of_a_pdf_are_read_in_their_order(world: World, web: Web) -> None:
    page = await web.open_page(world.site("papers").page("survey"))
    assert page.title == "Survey of the Night"
    assert page.content.startswith("[page 1]\n\nThe harbour office counts every ship that enters by night.")
    assert page.content.index("came of it in a year.") < page.content.index("In the year of the survey")
    assert (page.content_type, page.reader, page.truncated) == ("application/pdf", "local", False)


async def test_a_pdf_that_is_called_html_is_read_and_said(world: World, web: Web) -> None:
    page = await web.open_page(world.site("papers").page("mislabelled"))
    assert "four thousand and twelve ships" in page.content
    assert "the server declares text/html, but it is a PDF document" in page.warnings


async def test_a_page_that_is_called_pdf_is_read_and_said(world: World, web: Web) -> None:
    page = await web.open_page(world.site("papers").page("excuse"))
    assert "The survey has moved to the archive" in page.content
    assert "the server declares application/pdf, but it is an HTML page" in page.warnings


async def test_a_feed_a_table_and_a_word_document_are_read(world: World, web: Web) -> None:
    papers = world.site("papers")
    feed = await web.open_page(papers.page("feed"))
    assert f"## [The northern light is dark]({papers.url}/notices/1)" in feed.content
    assert "The lamp is **being repaired** until May." in feed.content
    table = await web.open_page(papers.page("table"))
    assert table.content.startswith("| month | ships | days of fog |\n")
    rules = await web.open_page(papers.page("rules"))
    assert rules.content == "# Rules of the harbour\n\nShips moor where the keeper says."


@pytest.mark.parametrize(("name", "error"), [("cut", UnsupportedContent), ("blank", PageEmpty)])
async def test_a_pdf_without_text_is_an_error_that_says_why(
    world: World, web: Web, name: str, error: type[PageError]
) -> None:
    with pytest.raises(error, match="PDF"):
        await web.open_page(world.site("papers").page(name))


class Shelf(EmulatedServer):
    """Serves one body under every path."""

    def __init__(self, body: bytes, content_type: str) -> None:
        super().__init__("shelf", "shelf.test")
        self._reply = EmulatedResponse(body=body, content_type=content_type)

    def handle(self, request: Recorded) -> EmulatedResponse:
        return self._reply


@pytest.mark.parametrize(
    ("body", "error", "says"),
    [
        (lambda: encrypted("tide"), PageRefused, "password"),
        (lambda: scan(2), PageEmpty, "pictures without text"),
        (lambda: many_pages(5)[:2_000], UnsupportedContent, "broken"),
    ],
    ids=["encrypted", "scanned", "cut"],
)
async def test_each_reason_is_an_error_of_its_own(
    world: World, web: Web, body: Callable[[], bytes], error: type[PageError], says: str
) -> None:
    shelf = world.add(Shelf(body(), "application/pdf"))
    async with Web(
        Settings.model_validate(
            {"policy": {"allowed_origins": [shelf.url]}, "storage": {"url": "memory://"}, "archive": {"enabled": False}}
        )
    ) as opened:
        with pytest.raises(error, match=says) as caught:
            await opened.open_page(f"{shelf.url}/file.pdf")
    assert caught.value.status == 200


async def read(
    url: str, origin: str, seconds: float = 120.0, *, max_bytes: int = 10_000_000, max_document_bytes: int = 50_000_000
) -> str:
    transport = Transport(Guard(allowed_origins=(origin,)))
    reader = LocalReadProvider(transport, max_bytes=max_bytes, max_document_bytes=max_document_bytes)
    try:
        result = await reader.read_url(url, deadline=Deadline.after(seconds))
    finally:
        await reader.aclose()
        await transport.aclose()
    return " ".join(result.warnings) + result.content


async def test_documents_have_a_cap_of_their_own(world: World) -> None:
    body = many_pages(4)
    shelf = world.add(Shelf(body, "application/pdf"))
    assert "Note 45" in await read(f"{shelf.url}/x", shelf.url, max_bytes=1_000)
    with pytest.raises(PageTooLarge):
        await read(f"{shelf.url}/x", shelf.url, max_document_bytes=len(body) - 1)


async def test_a_long_file_is_read_as_far_as_the_deadline_allows(world: World) -> None:
    shelf = world.add(Shelf(many_pages(1_500, rows=60), "application/pdf"))
    said = ""
    for seconds in (2.0, 5.0, 20.0, 80.0):  # on a busy machine the first pages may take five
        with suppress(DeadlineExceeded):
            said = await read(f"{shelf.url}/x", shelf.url, seconds=seconds)
            break
    assert "[page 1]" in said
    assert "of 1,500 pages were read" in said


async def test_a_document_is_not_read_without_a_process(world: World, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(sys, "executable", "")
    papers = world.site("papers")
    with pytest.raises(UnsupportedContent, match="separate process"):
        await read(papers.page("survey"), papers.url)
