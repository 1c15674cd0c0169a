"""Whatever a page, a URL or a query is: no exception leaves a tool, and the deadline holds."""

from __future__ import annotations

import asyncio
import gzip
import json
import time
from collections.abc import Callable, Coroutine, Iterator
from pathlib import Path
from typing import Any, TypeVar

import pytest
from hypothesis import HealthCheck, example, given, settings
from hypothesis import strategies as st

from groundwire import Settings, Web
from groundwire.errors import GroundwireError
from groundwire.safety.urls import parse_url
from groundwire.testing import EmulatedResponse, Endpoint, Recorded, World
from groundwire.tools import OpenPageToolResult, ToolResult, WebSearchToolResult, render_text, web_tools

_T = TypeVar("_T")

DEADLINE = 2.0  # seconds
OVERRUN = 0.5  # seconds

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


class Anything(Endpoint):
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
                    "search": {"providers": ("searxng",), "timeout": DEADLINE},
                    "read": {"timeout": DEADLINE},
                    "session": {"limit": 0},
                    "policy": {"allow_origins": world.origins},
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
    async def timed() -> ToolResult:
        result: ToolResult = await call(**arguments)
        return result

    started = time.monotonic()
    result = bench.run(timed())
    assert time.monotonic() - started < DEADLINE + OVERRUN
    assert render_text(result)
    assert (result.status == "error") == bool(result.error)
    assert "Traceback" not in result.error
    return result


common = settings(max_examples=150, suppress_health_check=[HealthCheck.function_scoped_fixture])


@pytest.mark.timeout(120)
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


@pytest.mark.timeout(120)
@pytest.mark.req("Y13", "Y15")
@common
@given(
    st.text(max_size=80)
    | st.text(max_size=60).map("http://".__add__)
    | st.text(max_size=40).map("https://a.test/".__add__)
)
def test_any_text_is_a_url_or_an_error(bench: Bench, url: str) -> None:
    try:
        if parse_url(url).is_literal:
            return  # nothing may leave this machine
    except GroundwireError:
        pass
    assert checked(bench, bench.open.call, url=url).status == "error"


@pytest.mark.timeout(120)
@pytest.mark.req("H2")
@common
@given(st.text(max_size=100) | st.text(alphabet="!:<? a()\"'site-", max_size=30))
@example("!!w x")
@example("\ud800")
def test_any_text_is_a_query_or_an_error(bench: Bench, query: str) -> None:
    result = checked(bench, bench.search.call, query=query)
    assert isinstance(result, WebSearchToolResult)
    assert result.status == "success" or result.error.startswith("query: ")


class Archive(Endpoint):
    """A site made of saved pages."""

    def __init__(self, folder: Path) -> None:
        super().__init__("archive")
        self._folder = folder

    def handle(self, request: Recorded) -> EmulatedResponse:
        return EmulatedResponse.html(
            gzip.decompress((self._folder / f"{request.path[1:]}.html.gz").read_bytes()).decode()
        )


@pytest.mark.timeout(240)
@pytest.mark.req("B2")
async def test_200_real_pages_are_opened(world: World, extraction: Path) -> None:
    truth = json.loads((extraction / "truth.json").read_text())
    names = sorted(truth)[:: len(truth) // 200][:200]
    site = world.add(Archive(extraction / "html"))
    policy = {"policy": {"allow_origins": world.origins}, "search": {"providers": ("duckduckgo",)}}
    empty = []
    async with Web(Settings.model_validate(policy)) as web:
        for name in names:
            started = time.monotonic()
            try:
                page = await web.open_page(f"{site.url}/{name}")
            except GroundwireError as error:
                empty.append((name, str(error)))
                continue
            assert page.status == "success"
            assert page.content_length == len(page.content) > 0
            assert time.monotonic() - started < 10, name
    assert len(names) == 200
    assert len(empty) <= 2, empty
