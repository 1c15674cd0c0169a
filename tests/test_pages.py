"""Pages as handles through a whole `Web`: pieces, passages, finds, several at once; and as an agent meets them."""

from __future__ import annotations

import ast
import asyncio
import re
from collections.abc import Callable
from pathlib import Path
from typing import Any

import pytest

from groundwire import InvalidRequest, Settings, Web
from groundwire.models import Page
from groundwire.testing import EmulatedResponse, EmulatedServer, InjectedFault, Recorded
from groundwire.tools import OpenPageToolResult, open_page_tool, render_text
from world import World

Make = Callable[..., Settings]

pytestmark = [pytest.mark.req("B8", "Y3"), pytest.mark.filterwarnings("ignore:open_binary is deprecated")]


def text_of(name: str, paragraphs: int) -> str:
    parts = [f"# About {name}"]
    for number in range(paragraphs):
        if number % 10 == 0:
            parts.append(f"## Chapter {number // 10}")
        parts.append(f"Paragraph {number} of {name} goes on for a while, as paragraphs do, and ends in a full stop.")
    parts.insert(len(parts) // 2, f"The keeper of {name} is called Ingvild Haugerud and was born in 1931.")
    return "\n\n".join(parts)


class Shelf(EmulatedServer):
    """Serves Markdown: `/name/40` is a page of 40 paragraphs."""

    def __init__(self) -> None:
        super().__init__("shelf")
        self.edition = ""

    def handle(self, request: Recorded) -> EmulatedResponse:
        name, _, paragraphs = request.path.strip("/").partition("/")
        if not paragraphs.isdigit():
            return EmulatedResponse.text("nothing", status=404)
        return EmulatedResponse(
            status=200,
            headers={"Content-Type": "text/markdown; charset=utf-8"},
            body=(self.edition + text_of(name, int(paragraphs))).encode(),
        )

    def page(self, name: str, paragraphs: int) -> str:
        return f"{self.url}/{name}/{paragraphs}"


@pytest.fixture
def shelf(world: World) -> Shelf:
    return world.add(Shelf())


class TestPieces:
    @pytest.mark.parametrize("storage", ["memory", "file"])
    async def test_the_pieces_are_the_page_and_it_is_fetched_once(
        self, shelf: Shelf, settings: Make, tmp_path: Path, storage: str
    ) -> None:
        url = "memory://" if storage == "memory" else f"sqlite:///{tmp_path}/store.db"
        shelf.forget()
        async with Web(settings(cache={"enabled": True}, storage={"url": url})) as web:
            page = await web.open_page(shelf.page("lamps", 80), max_length=1_500)
            version, parts = page.version, [page]
            while page.next_cursor:
                page = await web.open_page(shelf.page("lamps", 80), cursor=page.next_cursor, max_length=1_500)
                parts.append(page)
        whole = text_of("lamps", 80)
        assert "".join(part.content for part in parts) == whole
        assert all(whole[part.start : part.end] == part.content for part in parts)
        assert all(part.truncated and part.version == version for part in parts)
        assert all(part.original_length == len(whole) for part in parts)
        assert len(shelf.requests) == 1

    async def test_a_page_that_changed_is_said_to(self, shelf: Shelf, settings: Make) -> None:
        url = shelf.page("lamps", 80)
        async with Web(settings()) as web:
            first = await web.open_page(url, max_length=1_500)
            shelf.edition = "# Errata\n\nNone are known.\n\n"
            second = await web.open_page(url, cursor=first.next_cursor, max_length=1_500)
        assert second.version != first.version
        assert "the page has changed since the cursor was given" in second.warnings[-1]
        assert second.content.strip() == text_of("lamps", 80)[first.end :][: len(second.content.strip())].strip() or (
            second.content.lstrip()[:60] == text_of("lamps", 80)[first.end or 0 :].lstrip()[:60]
        )

    async def test_a_passage_and_a_find(self, shelf: Shelf, settings: Make) -> None:
        url, whole = shelf.page("lamps", 400), text_of("lamps", 400)
        async with Web(settings(cache={"enabled": True})) as web:
            passage = await web.open_page(url, query="Who keeps the lamps?", max_tokens=300)
            found = await web.open_page(url, find="ingvild haugerud")
        assert "Ingvild Haugerud" in passage.content
        assert passage.excerpts[0].heading.startswith("About lamps > Chapter")
        assert [whole[match.start : match.end] for match in found.matches] == ["Ingvild Haugerud"]
        assert len(found.sections) == 41

    @pytest.mark.parametrize(
        ("asked", "says"),
        [
            ({"query": "a", "cursor": "#1"}, "cursor: cannot be given together with query"),
            ({"max_tokens": -1}, "max_tokens: is -1"),
            ({"find": ""}, "find: is empty"),
            ({"cursor": "no cursor"}, "cursor: is not one that was given here"),
        ],
    )
    async def test_wrong_arguments(self, shelf: Shelf, settings: Make, asked: dict[str, Any], says: str) -> None:
        async with Web(settings()) as web:
            with pytest.raises(InvalidRequest, match=says):
                await web.open_page(shelf.page("lamps", 3), **asked)


class TestSeveral:
    async def test_short_pages_leave_their_room_to_long_ones(self, shelf: Shelf, settings: Make) -> None:
        urls = [shelf.page("long", 200), shelf.page("short", 3), shelf.page("other", 2)]
        async with Web(settings()) as web:
            pages = await web.open_pages(urls, max_length=6_000)
        assert [page.url for page in pages] == urls
        assert not pages[1].truncated
        assert not pages[2].truncated
        total = sum(page.content_length for page in pages)
        assert 5_500 < total <= 6_000
        assert pages[0].content_length > 4_500

    async def test_tokens_are_shared_out_too(self, shelf: Shelf, settings: Make) -> None:
        import bpe_openai

        encoding = bpe_openai.get_encoding("o200k_base")
        urls = [shelf.page(name, 150) for name in ("one", "two", "three")]
        async with Web(settings()) as web:
            pages = await web.open_pages([*urls, urls[0]], query="keeper born", max_tokens=1_200)
        assert all("Ingvild Haugerud" in page.content for page in pages)
        assert sum(len(encoding.encode_ordinary(page.content)) for page in pages) <= 1_200

    async def test_a_page_that_fails_is_a_result_and_one_given_twice_is_read_once(
        self, shelf: Shelf, settings: Make, world: World
    ) -> None:
        url = shelf.page("one", 5)
        shelf.forget()
        async with Web(settings()) as web:
            pages = await web.open_pages([url, f"{shelf.url}/missing", "file:///etc/passwd", world.closed_url, url])
        assert [page.status for page in pages] == ["success", "error", "error", "error", "success"]
        assert pages[0] == pages[4]
        assert all(page.error and not page.content for page in pages[1:4])
        assert sorted(request.path for request in shelf.requests) == ["/missing", "/one/5"]

    async def test_one_deadline_for_all_of_them(self, shelf: Shelf, settings: Make) -> None:
        shelf.fail(InjectedFault.hang(), times=None, when=lambda request: request.path.startswith("/slow"))
        urls = [shelf.page("slow", 1), shelf.page("quick", 2), shelf.page("slow", 3)]
        async with Web(settings()) as web:
            pages = await web.open_pages(urls, timeout=5, at_once=2)
        assert [page.status for page in pages] == ["error", "success", "error"]
        assert "in time" in pages[0].error

    async def test_cancelling_leaves_nothing_behind(self, shelf: Shelf, settings: Make) -> None:
        shelf.fail(InjectedFault.hang(), times=None)
        async with Web(settings()) as web:
            before = len(asyncio.all_tasks())
            task = asyncio.create_task(web.open_pages([shelf.page("slow", n) for n in range(1, 6)], at_once=2))
            await asyncio.get_running_loop().run_in_executor(None, shelf.wait_for_requests, 2)
            task.cancel()
            with pytest.raises(asyncio.CancelledError):
                await task
            assert len(asyncio.all_tasks()) == before

    @pytest.mark.parametrize(
        ("urls", "says"),
        [
            ("http://a.example/", "must be a list"),
            ([], "has 0 addresses"),
            ([1], "must be text"),
            (["x"] * 51, "has 51"),
        ],
    )
    async def test_wrong_lists_are_named(self, settings: Make, urls: Any, says: str) -> None:
        async with Web(settings()) as web:
            with pytest.raises(InvalidRequest, match=f"urls: {says}"):
                await web.open_pages(urls)


class TestTool:
    async def test_an_agent_reads_on(self, shelf: Shelf, settings: Make) -> None:
        url = shelf.page("lamps", 80)
        async with Web(settings(cache={"enabled": True})) as web:
            tool = open_page_tool(web)
            first = await tool.call(url=url, max_length=1_500)
            assert isinstance(first, OpenPageToolResult)
            short = re.search(r'cursor="(@[0-9]+-[0-9]{6})"', render_text(first))
            assert short is not None
            following = await tool.call(url=url, cursor=short[1], max_length=1_500)
            assert isinstance(following, OpenPageToolResult)
            assert following.start == first.end
            assert first.sections[:2] == (f"#1 About lamps ({len(text_of('lamps', 80))})", "#2 Chapter 0 (874)")
            second = await tool.call(url=url, cursor=first.next_cursor, query="", max_length=1_500)
            chapter = await tool.call(url=url, cursor="#3")
            passage = await tool.call(url=url, query="keeper of lamps", max_length=1_000)
        assert isinstance(second, OpenPageToolResult)
        assert isinstance(chapter, OpenPageToolResult)
        assert isinstance(passage, OpenPageToolResult)
        assert second.start == first.end
        assert chapter.content.startswith("## Chapter 1\n")
        assert "## Chapter 2" not in chapter.content
        assert passage.excerpts[0].heading.startswith("About lamps > Chapter")
        assert 'cursor="@start"' in render_text(passage)
        assert OpenPageToolResult.model_validate_json(passage.model_dump_json()) == passage

    @pytest.mark.parametrize("tokens", [300, 500, 1_000, 3_000])
    @pytest.mark.parametrize("part", [{}, {"query": "keeper Ingvild"}, {"find": "paragraph 7"}, {"query": "zeppelin"}])
    async def test_what_an_agent_gets_is_within_its_tokens(
        self, shelf: Shelf, settings: Make, tokens: int, part: dict[str, str]
    ) -> None:
        import bpe_openai

        async with Web(settings()) as web:
            result = await open_page_tool(web).call(url=shelf.page("lamps", 500), max_tokens=tokens, **part)
        assert result.status == "success", result.error
        text = render_text(result)
        for name in ("cl100k_base", "o200k_base"):
            count = len(bpe_openai.get_encoding(name).encode_ordinary(text))
            assert 0 < count <= tokens
            assert part or count > 0.6 * tokens

    async def test_too_few_tokens_for_anything_are_refused(self, shelf: Shelf, settings: Make) -> None:
        async with Web(settings()) as web:
            result = await open_page_tool(web).call(url=shelf.page("lamps", 5), max_tokens=20)
        assert result.status == "error"
        assert "max_tokens: is 20" in result.error
        assert "Pass at least" in result.error


GUIDE = Path(__file__).resolve().parents[1] / "docs" / "guides" / "pages.md"
BLOCKS = re.findall(r"^```python\n(.*?)^```", GUIDE.read_text(), re.MULTILINE | re.DOTALL)


@pytest.mark.parametrize("number", range(len(BLOCKS)))
async def test_the_guides_python_runs(
    number: int, world: World, monkeypatch: pytest.MonkeyPatch, tmp_path: Path
) -> None:
    monkeypatch.chdir(tmp_path)
    monkeypatch.setenv("GROUNDWIRE_SEARCH_PROVIDERS", "searxng")
    monkeypatch.setenv("GROUNDWIRE_PROVIDERS_SEARXNG_BASE_URL", world.searxng.url)
    monkeypatch.setenv("GROUNDWIRE_POLICY_ALLOWED_ORIGINS", ",".join(world.origins))
    code = compile(BLOCKS[number], f"{GUIDE.name} block {number}", "exec", ast.PyCF_ALLOW_TOP_LEVEL_AWAIT)
    names: dict[str, Any] = {}
    await eval(code, names)
    if "titles" in names:
        assert len(names["titles"]) == len(list((tmp_path / "pages").rglob("*.md"))) > 0
    if "pieces" in names:
        whole = "".join(names["pieces"])
        assert names["answer"].excerpts
        assert all(excerpt.text in whole for excerpt in names["answer"].excerpts)
        assert names["places"].matches
        assert names["outline"]


def test_a_page_kept_by_an_older_version_can_be_read() -> None:
    old = '{"url": "https://a.example/", "content": "text", "content_length": 4}'
    assert Page.model_validate_json(old).sections == ()
