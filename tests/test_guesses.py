"""What people type from memory of other libraries: it works, or the first line of the error names the right word."""

from __future__ import annotations

import asyncio
import inspect
from collections.abc import Callable
from typing import Any

import pytest
from click.testing import CliRunner

import groundwire
from groundwire import Page, SyncWeb, Web
from groundwire.cli import group
from groundwire.errors import InvalidRequest
from groundwire.models.aliases import OPEN_PAGE, SEARCH
from groundwire.models.validators import time_range_of
from groundwire.settings import Settings
from groundwire.tools import web_tool_definitions, web_tools

pytestmark = pytest.mark.req("B32")

Make = Callable[..., Settings]
QUERY = "reciprocal rank fusion"


@pytest.fixture
def web(settings: Make) -> Any:
    with SyncWeb(settings()) as made:
        yield made


def test_a_response_is_a_sequence_of_results(web: Any) -> None:
    response = web.search(QUERY)
    assert len(response) == len(response.results) > 1
    assert response[0] is response.results[0]
    assert response[:2] == response.results[:2]
    assert [row.url for row in response] == [row.url for row in response.results]
    assert response
    assert not response.model_copy(update={"results": ()})
    assert response["results"] == response.results
    assert response[0]["href"] == response[0]["url"] == response[0].url
    with pytest.raises(KeyError):
        response[0]["nonsense"]


async def test_a_result_opens_its_page(settings: Make, web: Any) -> None:
    row = web.search(QUERY)[0]
    assert row.open(max_length=500).content == web.open_page(row.url, max_length=500).content
    async with Web(settings()) as other:
        response = await other.search(QUERY)
        assert (await response[0].open()).url == response[0].url
    assert row == type(row).model_validate_json(row.model_dump_json())  # what opens it is no part of it
    with pytest.raises(TypeError, match="open_page"):
        type(row).model_validate_json(row.model_dump_json()).open()


async def test_a_result_is_opened_by_the_session_that_found_it(settings: Make) -> None:
    async with Web(settings()) as whole:
        first, second = whole.session(), whole.session()
        found, again = await asyncio.gather(first.search(QUERY), second.search(QUERY))  # one search for both
        await found[0].open()
        assert next(iter(await first.sources())).content
        assert not any(page.content for page in await second.sources())
        assert found.results == again.results


def test_a_response_and_a_page_print_as_text(web: Any) -> None:
    response = web.search(QUERY, limit=2)
    assert str(response).startswith(f"1. {response[0].title}\n   {response[0].url}\n")
    page = web.open_page(response[0].url)
    assert str(page) == page.markdown == page.text == page.content
    assert str(Page(url="https://a.test/", status="error", error="Gone.")) == "Gone."


@pytest.mark.parametrize("name", sorted(name for name, right in SEARCH.items() if right == "limit"))
def test_a_limit_has_many_names(web: Any, name: str) -> None:
    assert len(web.search(QUERY, **{name: 2})) == 2


@pytest.mark.parametrize(
    ("given", "meant"),
    [
        ({"include_domains": ["nowhere.test"]}, {"allowed_domains": ["nowhere.test"]}),
        ({"exclude_domains": ["nowhere.test"]}, {"blocked_domains": ["nowhere.test"]}),
        ({"time_range": "month"}, {"time_range": "m"}),
        ({"timelimit": "w"}, {"time_range": "w"}),
        ({"freshness": "pw"}, {"time_range": "w"}),
        ({"start_published_date": "2026-01-01"}, {"published_after": "2026-01-01"}),
        ({"country": "us", "lang": "en"}, {"region": "us", "language": "en"}),
    ],
)
def test_filters_have_other_names(web: Any, given: dict[str, Any], meant: dict[str, Any]) -> None:
    found, wanted = web.search(QUERY, **given), web.search(QUERY, **meant)
    assert [row.filter for row in found.filters] == [row.filter for row in wanted.filters]
    assert found.results == wanted.results


async def test_async_and_sync_have_the_same_names(settings: Make) -> None:
    web = Web(settings())
    assert len(await web.search(QUERY, max_results=1)) == 1
    await web.close()
    blocking = SyncWeb(settings())
    blocking.aclose()
    with pytest.raises(TypeError, match="async with Web"), Web(settings()):
        pytest.fail("it was entered")


def test_a_wrong_argument_is_told_the_right_word(web: Any) -> None:
    with pytest.raises(TypeError, match="'max_result'; did you mean 'limit'"):
        web.search(QUERY, max_result=3)
    with pytest.raises(TypeError, match=r"use ask\(\) \(arguments: query, limit"):
        web.search(QUERY, include_answer=True)
    with pytest.raises(TypeError, match="'limit' twice"):
        web.search(QUERY, limit=3, max_results=5)
    with pytest.raises(InvalidRequest, match="day, week, month, year, all"):
        web.search(QUERY, time_range="fortnight")


@pytest.mark.parametrize("name", ["scrape", "extract", "fetch", "get", "open", "read"])
def test_reading_has_other_names(web: Any, name: str) -> None:
    url = web.search(QUERY)[0].url
    assert getattr(web, name)(url, max_chars=300).content == web.open_page(url, max_length=300).content
    assert getattr(web.inner, name).__name__ == getattr(groundwire, name).__name__ == "open_page"


def test_answering_has_other_names(web: Any) -> None:
    answer = web.answer(QUERY, quote=True)
    assert str(answer) == answer.answer == answer.output_text == answer.text
    assert answer.citations == answer.sources
    with pytest.raises(AttributeError, match="nonsense"):
        answer.nonsense()


@pytest.mark.parametrize(
    ("name", "near"), [("crawl", "open_page"), ("find_similar", "search"), ("with_options", "session")]
)
def test_what_is_not_here_is_told_what_comes_near(web: Any, name: str, near: str) -> None:
    for owner in (web, web.inner, groundwire):
        with pytest.raises(AttributeError, match=f"did you mean '{near}'"):
            getattr(owner, name)


@pytest.mark.parametrize(
    ("name", "right"), [("AsyncWeb", "Web"), ("Client", "SyncWeb"), ("AsyncClient", "Web"), ("web_search", "search")]
)
def test_classes_have_other_names(name: str, right: str) -> None:
    assert getattr(groundwire, name) is getattr(groundwire, right)


@pytest.mark.parametrize(
    ("name", "right"), [("HTTPError", "GroundwireError"), ("RateLimitError", "errors.RateLimited")]
)
def test_a_wrong_error_is_told_the_right_one(name: str, right: str) -> None:
    with pytest.raises(AttributeError, match=right):
        getattr(groundwire, name)


@pytest.mark.parametrize(
    ("name", "right"),
    [("link", "url"), ("href", "url"), ("body", "snippet"), ("content", "snippet"), ("published_date", "published")],
)
def test_fields_have_other_names(web: Any, name: str, right: str) -> None:
    row = web.search(QUERY)[0]
    assert getattr(row, name) == getattr(row, right)
    with pytest.raises(AttributeError, match="'highlights'; did you mean 'snippet'"):
        _ = row.highlights


def test_time_and_proxy_are_arguments_of_a_client(settings: Make) -> None:
    with SyncWeb(settings(), timeout=7, proxy="http://127.0.0.1:3128") as web:
        assert (web.inner.settings.search.timeout, web.inner.settings.read.timeout) == (7, 7)
        assert web.inner.settings.network.proxy == "http://127.0.0.1:3128"
        closed = web.is_closed
    assert (closed, web.is_closed) == (False, True)
    with pytest.raises(groundwire.ConfigurationError, match="timeout"):
        Web(settings(), timeout=-1)


def test_only_names_that_mean_something_are_hinted_at(web: Any) -> None:
    with pytest.raises(AttributeError, match=r"has no attribute 'nonsense'$"):
        web.nonsense()
    assert not hasattr(groundwire, "nonsense")


def test_tools_in_the_shapes_of_the_three_apis(settings: Make) -> None:
    for tool in web_tool_definitions(settings()):
        chat = tool.to_openai()
        assert chat == {"type": "function", "function": tool.definition()}
        assert tool.to_openai(api="responses")["name"] == tool.name
        assert tool.to_anthropic()["input_schema"] == tool.definition()["parameters"]
        assert tool.to_gemini()["parametersJsonSchema"] == tool.definition()["parameters"]


async def test_tools_and_people_are_understood_alike(settings: Make) -> None:
    async with Web(settings()) as web:
        result = await web_tools(web)[0].call(query=QUERY, num_results=1, recency="month")
        assert result.status == "success"


@pytest.mark.parametrize(("method", "names"), [(Web.search, SEARCH), (Web.open_page, OPEN_PAGE)])
def test_every_alias_means_an_argument(method: Any, names: dict[str, str]) -> None:
    parameters = set(inspect.signature(method).parameters)
    assert set(names.values()) <= parameters
    assert not set(names) & parameters


@pytest.mark.parametrize(
    ("name", "letter"), [("Day", "d"), ("past week", "w"), ("1m", "m"), ("YEAR", "y"), ("any", "all")]
)
def test_time_ranges(name: str, letter: str) -> None:
    assert time_range_of(name) == letter


async def test_what_is_typed_from_memory_is_told_the_right_word(web: Any, settings: Make) -> None:
    assert web.ask(input=QUERY, quote=True).text == web.ask(QUERY, quote=True).text
    with pytest.raises(TypeError, match="'api_key'; set the variable"):
        SyncWeb(settings(), api_key="x")
    with pytest.raises(TypeError, match="needs a Web"):
        web_tools(web)
    with pytest.raises(InvalidRequest, match='language="en"'):
        web.search(QUERY, region="us-en")
    with pytest.raises(AttributeError, match=r"groundwire\.integrations\.langchain"):
        _ = groundwire.langchain


@pytest.mark.parametrize(
    ("line", "right"), [(["open", "-o", "file", "https://a.test/"], "> FILE"), (["config", "list"], "'show'")]
)
def test_command_lines_typed_from_memory(line: list[str], right: str) -> None:
    done = CliRunner().invoke(group, line, prog_name="groundwire")
    assert (done.exit_code, right in done.stderr) == (2, True)
