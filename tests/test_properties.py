"""Whatever a page, a URL or a query is: no exception leaves a tool, and the deadline holds."""

from __future__ import annotations

import asyncio
from collections.abc import Callable, Coroutine, Iterator
from typing import Any, TypeVar

import pytest
from hypothesis import HealthCheck, example, given, settings
from hypothesis import strategies as st

from components.data_sets import SavedPages
from components.examples import examples
from groundwire import Settings, Web
from groundwire.errors import GroundwireError
from groundwire.safety.urls import parse_url
from groundwire.testing import EmulatedResponse, EmulatedServer, Recorded
from groundwire.tools import OpenPageToolResult, ToolResult, WebSearchToolResult, render_text, web_tools
from world import World

_T = TypeVar("_T")

TYPES = st.sampled_from(
    [
        "text/html",
        "text/html; charset=gbk",
        "text/html; charset=\x7f",
        "text/plain",
        "application/json",
        "image/png",
        "",
    ]
)


class Anything(EmulatedServer):
    """A site whose one page is what a test says."""

    def __init__(self) -> None:
        super().__init__("anything")
        self.reply = EmulatedResponse(body=b"")

    def handle(self, request: Recorded) -> EmulatedResponse:
        return self.reply


class Bench:
    """A `Web` over a miniature web, used from synchronous tests."""

    def __init__(self, world: World) -> None:
        self.world = world
        self.page = world.add(Anything())
        self._runner = asyncio.Runner()
        self.web = Web(
            Settings.model_validate(
                {
                    "search": {"providers": ("searxng",), "timeout": 600.0},
                    "read": {"timeout": 600.0},
                    "session": {"max_searches": 0},
                    "policy": {"allowed_origins": world.origins},
                    "providers": {"searxng": {"base_url": world.searxng.url}},
                }
            ),
            resolver=world.resolver,
        )
        self.search, self.open = web_tools(self.web)

    def run(self, coroutine: Coroutine[Any, Any, _T]) -> _T:
        return self._runner.run(coroutine)

    def close(self) -> None:
        self.run(self.web.aclose())
        self._runner.close()


@pytest.fixture(scope="module")
def bench() -> Iterator[Bench]:
    with World() as world:
        made = Bench(world)
        yield made
        made.close()


def checked(bench: Bench, call: Callable[..., Any], **arguments: Any) -> ToolResult:
    async def called() -> ToolResult:
        result: ToolResult = await call(**arguments)
        return result

    result = bench.run(called())
    assert render_text(result)
    assert (result.status == "error") == bool(result.error)
    assert "Traceback" not in result.error
    return result


common = settings(max_examples=examples(150), suppress_health_check=[HealthCheck.function_scoped_fixture])


@pytest.mark.req("B2", "Y15")
@common
@given(st.binary(max_size=2_000) | st.text(alphabet='<>/"= abcdivtp&;!-\n', max_size=500).map(str.encode), TYPES)
@example(b"", "text/html")
@example(b"\x00" * 1_000, "text/html")
@example(b"\xff\xfe" + b"a" * 99, "text/html")
@example(b"<" * 5_000, "text/html")
@example(b"[" * 5_000, "application/json")
def test_any_bytes_are_a_page_or_an_error(bench: Bench, body: bytes, content_type: str) -> None:
    bench.page.reply = EmulatedResponse(body=body, content_type=content_type)
    result = checked(bench, bench.open.call, url=f"{bench.page.url}/x", max_length=300)
    assert isinstance(result, OpenPageToolResult)
    assert result.content_length == len(result.content) <= 300


@pytest.mark.req("Y13", "Y15")
@common
@given(
    st.text(max_size=80)
    | st.text(max_size=60).map("http://".__add__)
    | st.text(max_size=40).map("https://a.test/".__add__)
)
def test_any_text_is_a_url_or_an_error(bench: Bench, url: str) -> None:
    try:
        if parse_url(url).address is not None:
            return  # nothing may leave this machine
    except GroundwireError:
        pass
    assert checked(bench, bench.open.call, url=url).status == "error"


@pytest.mark.req("H2")
@common
@given(st.text(max_size=100) | st.text(alphabet="!:<? a()\"'site-", max_size=30))
@example("!!w x")
@example("\ud800")
def test_any_text_is_a_query_or_an_error(bench: Bench, query: str) -> None:
    result = checked(bench, bench.search.call, query=query)
    assert isinstance(result, WebSearchToolResult)
    assert result.status == "success" or result.error.startswith("query: ")


class Archive(EmulatedServer):
    """A site made of saved pages."""

    def __init__(self, pages: SavedPages) -> None:
        super().__init__("archive")
        self._pages = pages

    def handle(self, request: Recorded) -> EmulatedResponse:
        return EmulatedResponse.html(self._pages.body(request.path[1:]).decode())


@pytest.mark.req("B2")
@pytest.mark.parametrize("most", [25, pytest.param(200, marks=pytest.mark.slow)])
async def test_saved_pages_are_opened(world: World, saved_pages: SavedPages, most: int) -> None:
    names = sorted(saved_pages.truth)
    if not saved_pages.is_own:
        names = names[:: len(names) // most][:most]
    site = world.add(Archive(saved_pages))
    policy = {"policy": {"allowed_origins": world.origins}, "search": {"providers": ("duckduckgo",)}}
    empty = []
    async with Web(Settings.model_validate(policy)) as web:
        for name in names:
            try:
                page = await web.open_page(f"{site.url}/{name}")
            except GroundwireError as error:
                empty.append((name, str(error)))
                continue
            assert page.status == "success"
            assert page.content_length == len(page.content) > 0
    assert len(names) == (len(saved_pages.truth) if saved_pages.is_own else most) > 5
    assert len(empty) <= (0 if saved_pages.is_own else most // 100), empty
