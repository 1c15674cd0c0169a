"""What people type from memory of other libraries: it works, or the first line of the error names the right word."""

from __future__ import annotations

import asyncio
import csv
import inspect
import json
import re
from collections.abc import Callable
from pathlib import Path
from typing import Any

import pytest
from click.testing import CliRunner
from pydantic import SecretStr, ValidationError

import groundwire
from groundwire import Page, SyncWeb, Web
from groundwire.agent_loop.chat_model import find_model
from groundwire.cli import group
from groundwire.deadline import Deadline
from groundwire.errors import InvalidRequest
from groundwire.models.alias_table import ASK, NO_EFFECT, OPEN_PAGE, SEARCH
from groundwire.models.aliases import foreign, tool_method, translated, without_effect
from groundwire.models.validators import time_range_of
from groundwire.server.api.error_body import invalid
from groundwire.server.api.request_models import AskRequest, PagesRequest, SearchRequest
from groundwire.settings import Settings
from groundwire.settings.provider_options import setting_named
from groundwire.settings.schema import known_keys
from groundwire.tools import web_tool_definitions, web_tools
from groundwire.tools.argument_coercion import OpenArguments, SearchArguments, bad_arguments, understood
from world import World

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
    entered: Any = Web(settings())
    with pytest.raises(TypeError, match="async with Web"), entered:
        pytest.fail("it was entered")


def test_a_wrong_argument_is_told_the_right_word(web: Any) -> None:
    with pytest.raises(TypeError, match="'max_result'; did you mean 'limit'"):
        web.search(QUERY, max_result=3)
    with pytest.raises(TypeError, match=r"write it into the query.* \(arguments: query, limit"):
        web.search(QUERY, exact_match=True)
    with pytest.raises(TypeError, match=r"'include_domains'; use search\(\) with allowed_domains"):
        web.ask(QUERY, include_domains=["a.test"])
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
    ("name", "right"),
    [("HTTPError", "GroundwireError"), ("RateLimitError", "RateLimited"), ("DDGSException", "GroundwireError")],
)
def test_errors_have_other_names(name: str, right: str) -> None:
    assert getattr(groundwire, name) is getattr(groundwire.errors, right)


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
    typed: Any = {"max_retries": 2}
    assert web.ask(input=QUERY, quote=True).text == web.ask(QUERY, quote=True).text
    with pytest.raises(TypeError, match="whose key 'api_key' is; name its provider"):
        SyncWeb(settings(), api_key="x")
    assert [tool.name for tool in web_tools(web)] == ["web_search", "open_page"]
    for given in ((), ("openai",), (None,)):
        with pytest.raises(TypeError, match=r"takes a Web or a SyncWeb.*to_openai"):
            web_tools(*given)
    options: dict[str, Any] = {"format": "openai"}
    with pytest.raises(TypeError, match=r"to_openai"):
        web_tools(web, **options)
    with pytest.raises(AttributeError, match=r"did you mean 'SyncWeb\(\).verify'"):
        _ = groundwire.verify_claim
    found = web.search(QUERY)[0]
    assert str(found).startswith(f"{found.citation_id}. {found.title}")
    piece = web.open_page(found.url, max_length=500)
    assert piece.next_offset == piece.next_cursor is not None
    with pytest.raises(TypeError, match="'max_retries'; leave it out"):
        Web(settings(), **typed)
    with pytest.raises(AttributeError, match=r"groundwire\.integrations\.langchain"):
        _ = groundwire.langchain


@pytest.mark.parametrize(
    ("line", "right"),
    [
        (["search", "x", "--exact-match"], "'--exact-match'; write it into the query"),
        (["open", "--proxy", "x", "https://a.test/"], "network.proxy"),
        (["search", "x", "--json", "title,url"], "--json takes no field names"),
        (["config", "edit"], "'set'"),
        (["cache", "clean"], "config path"),
        (["login"], "'setup'"),
        (["upgrade"], "To update Groundwire: "),
    ],
)
def test_command_lines_typed_from_memory(line: list[str], right: str) -> None:
    done = CliRunner().invoke(group, line, prog_name="groundwire")
    assert (done.exit_code, right in done.stderr) == (2, True)


@pytest.mark.parametrize(
    "line", [["help", "search"], ["version"], ["-V"], ["config", "get", "search.limit"], ["providers", "list"]]
)
def test_commands_of_other_command_lines_work(line: list[str]) -> None:
    done = CliRunner().invoke(group, line, prog_name="groundwire")
    assert (done.exit_code, done.stderr) == (0, "")
    assert re.search(r"^(Usage: groundwire search|groundwire, version|[0-9]+\n|provider +use)", done.stdout)


def test_options_of_other_command_lines_work(world: World, settings: Make, tmp_path: Path) -> None:
    url = f"{world.site('articles').url}/wiki/bm25"
    variables = {"GROUNDWIRE_POLICY_ALLOWED_ORIGINS": ",".join(world.origins), "GROUNDWIRE_STORAGE_URL": "memory://"}
    file = tmp_path / "page.md"
    line = ["scrape", url, "-o", str(file), "-s", "--format", "markdown", "--max-time", "20", "--max-chars=300"]
    done = CliRunner().invoke(group, line, env=variables, prog_name="groundwire")
    assert (done.exit_code, done.stdout) == (0, "")
    assert "BM25" in file.read_text()
    assert re.search(r"Length: [12]?[0-9]{2,3} of", file.read_text())
    shown = CliRunner().invoke(group, ["open", url, "--format=json"], env=variables, prog_name="groundwire")
    assert json.loads(shown.stdout)["url"] == url


IGNORED = "search_depth has no effect: a search is as deep as its provider's; read pages with open_page()"


async def test_what_has_no_effect_is_told_in_the_response(settings: Make, web: Any) -> None:
    assert web.search(QUERY, search_depth="advanced").warnings == (IGNORED,)
    assert web.search(QUERY, search_depth="basic", topic="general").warnings == ()
    url = web.search(QUERY)[0].url
    warning = "extract_depth has no effect: pages are always Markdown"
    assert web.extract(url, extract_depth="advanced").warnings == (warning,)
    assert [page.warnings for page in web.extract(urls=[url], extract_depth="advanced")] == [(warning,)]
    async with Web(settings()) as made:
        tools: Any = web_tools(made)
        search, page = tools
        assert IGNORED in (await search({"query": QUERY, "search_depth": "advanced"})).message
        assert IGNORED in (await search({"arguments": {"query": QUERY, "search_depth": "advanced"}})).message
        assert warning in (await page({"url": url, "extract_depth": "advanced"})).warnings


async def test_the_module_of_the_tools_may_be_called(settings: Make) -> None:
    async with Web(settings()) as web:
        tools: Any = groundwire.tools
        assert [tool.name for tool in tools(web)] == [tool.name for tool in web_tools(web)]


@pytest.mark.parametrize(
    ("given", "meant"),
    [
        ({"numResults": 2}, {"limit": 2}),
        ({"searchDepth": "advanced", "topic": "general"}, {}),
        ({"includeAnswer": False, "include_images": []}, {}),
        ({"tbs": "qdr:w"}, {"time_range": "w"}),
        ({"locale": "pt-BR"}, {"language": "pt", "region": "br"}),
        ({"safe_search": True}, {"safesearch": "strict"}),
        ({"site": "a.test, b.test"}, {"allowed_domains": ["a.test", "b.test"]}),
        ({"start_index": 100}, None),
        ({"include_answer": True, "headers": {"User-Agent": "x"}}, {}),
        ({"headers": {"Authorization": "x"}}, None),
        (
            {"search_domain_filter": ["a.test", "-b.test"]},
            {"allowed_domains": ["a.test"], "blocked_domains": ["b.test"]},
        ),
        ({"freshness": "2026-01-01to2026-02-01"}, {"published_after": "2026-01-01", "published_before": "2026-02-01"}),
        ({"search_after_date_filter": "3/1/2026"}, {"published_after": "2026-03-01"}),
        ({"start_published_date": "2026-03-01T00:00:00.000Z"}, {"published_after": "2026-03-01"}),
        ({"user_location": {"type": "approximate", "country": "UK"}}, {"region": "gb"}),
        ({"filters": {"allowed_domains": ["a.test"]}}, {"allowed_domains": ["a.test"]}),
        ({"queries": ["x"], "text": True}, {"query": "x"}),
        ({"max_age": 0, "timeout": (3, 27)}, {"refresh": True, "timeout": 30.0}),
        ({"country": None, "lr": "lang_en"}, {"language": "en"}),
        ({"topic": "finance"}, None),
    ],
)
def test_arguments_that_mean_something_or_nothing(given: dict[str, Any], meant: dict[str, Any] | None) -> None:
    known = inspect.signature(Web.search).parameters
    found = [translated(name, value, SEARCH, known) for name, value in given.items()]
    assert found == [None] if meant is None else {k: v for one in found for k, v in (one or {}).items()} == meant


@pytest.mark.parametrize(
    ("given", "filters"),
    [
        ({"topic": "news"}, ["time_range"]),
        ({"category": "news", "timelimit": "y"}, ["time_range"]),
        ({"topic": "news", "days": 3650}, ["published_after"]),
    ],
)
async def test_news_are_recent_pages(web: Any, settings: Make, given: dict[str, Any], filters: list[str]) -> None:
    note = "pages of the last month, or of the time that is given"
    found = web.search(QUERY, **given)
    assert [one.filter for one in found.filters] == filters
    assert note in found.warnings[0]
    plain = SearchRequest.renamed({"query": QUERY, **given})
    assert {"time_range", "published_after"} & plain.keys() == set(filters)
    async with Web(settings()) as made:
        told: Any = await web_tools(made)[0].call(query=QUERY, **given)
        assert note in told.message


def test_news_is_a_method_and_a_command(web: Any, world: World) -> None:
    assert [one.filter for one in web.news(QUERY).filters] == ["time_range"]
    assert web.news(QUERY, timelimit="y").results == web.search(QUERY, time_range="year").results
    variables = {
        "GROUNDWIRE_PROVIDERS_SEARXNG_BASE_URL": world.searxng.url,
        "GROUNDWIRE_SEARCH_PROVIDERS": "searxng",
        "GROUNDWIRE_STORAGE_URL": "memory://",
    }
    for line, note in (
        (["news", QUERY, "--json"], "--topic: pages of the last month"),
        (["search", QUERY, "--topic=news", "--days", "9999"], "published_after: "),
        ([QUERY, "-k", "1", "-o", "-"], "1 result from searxng"),
    ):
        done = CliRunner().invoke(group, line, env=variables, prog_name="groundwire")
        assert (done.exit_code, note in done.stderr) == (0, True), done.output


@pytest.mark.parametrize(
    "given",
    [
        {"api_key": ""},
        {"api_key": 5},
        {"tavily_api_key": " "},
        {"exa_api_key": ["hidden"]},
        {"api_key": "tvly-hidden", "tavily_api_key": "hidden"},
    ],
)
def test_what_is_no_key_is_refused_without_showing_it(settings: Callable[..., Settings], given: dict[str, Any]) -> None:
    with pytest.raises(TypeError, match="key") as refused:
        SyncWeb(settings(), **given)
    assert "hidden" not in str(refused.value)


def test_a_key_that_is_none_is_not_given(settings: Callable[..., Settings]) -> None:
    with SyncWeb(settings(), tavily_api_key=None, exa_api_key="hidden") as web:
        assert not [name for name in web.inner.settings.keys if name.startswith("TAVILY")]
        assert "hidden" not in repr(web) + repr(web.inner.settings)


def test_a_key_is_an_argument_of_a_client(settings: Make) -> None:
    with SyncWeb(settings(), api_key="tvly-x") as first, SyncWeb(settings(), exa_api_key="y") as second:
        assert first.inner.search_providers[0].name == "tavily"
        assert second.inner.search_providers[0].name == "exa"
    with SyncWeb(settings(), search_providers=["brave"], api_key="z") as third:
        key = third.inner.settings.secret("BRAVE_API_KEY")
        assert key is not None
        assert key.get_secret_value() == "z"
        assert "z" not in repr(third.inner.settings.keys)
    typed: Any = {"nonsense_api_key": "x"}
    with pytest.raises(TypeError, match="'nonsense_api_key'"):
        Web(settings(), **typed)


@pytest.mark.parametrize(
    ("name", "right"),
    [
        ("PROVIDERS", "GROUNDWIRE_SEARCH_PROVIDERS"),
        ("TAVILY_API_KEY", "TAVILY_API_KEY"),
        ("PROXY", "GROUNDWIRE_NETWORK_PROXY"),
    ],
)
def test_variables_without_their_section_are_told_the_right_word(name: str, right: str) -> None:
    variables = {f"GROUNDWIRE_{name}": "x"}
    done = CliRunner().invoke(group, ["config", "show"], env=variables, prog_name="groundwire")
    said = f"GROUNDWIRE_{name} is not a setting and is ignored; did you mean {right!r}?"
    assert (done.exit_code, said in done.stderr) == (0, True)


@pytest.mark.parametrize(
    ("name", "method"),
    [("tavily-search", "search"), ("firecrawl_scrape", "open_page"), ("web_search_exa", "search"), ("mail", "")],
)
def test_tools_have_other_names(name: str, method: str) -> None:
    assert tool_method(name) == method


def test_an_age_in_days_is_a_day(web: Any) -> None:
    (filtered,) = [one for one in web.search(QUERY, days=7).filters if one.filter == "published_after"]
    assert filtered
    assert [row.filter for row in web.search(QUERY, region="us-en").filters] == ["language", "region"]


@pytest.mark.parametrize(("name", "letter"), [("past 7 days", "w"), ("qdr:y", "y"), ("last_month", "m"), ("24h", "d")])
def test_ages_in_words(name: str, letter: str) -> None:
    assert time_range_of(name) == letter


def test_several_pages_under_other_names(web: Any) -> None:
    first, second = (row.url for row in web.search(QUERY)[:2])
    assert [page.url for page in web.extract(urls=[first, second])] == [first, second]
    assert [page.url for page in web.get_contents([first])] == [first]
    assert web.extract(first)["results"][0].url == first
    assert web.scrape(first, formats=["markdown"], only_main_content=True).raise_for_status().success


def test_an_unknown_name_is_a_key_error_as_of_a_dictionary(web: Any) -> None:
    with pytest.raises(KeyError, match="the tools are web_search and open_page"):
        web.tools["send_mail"]
    answer = web.ask(QUERY)
    assert answer["answer"] == answer.text
    with pytest.raises(KeyError, match="mood"):
        answer["mood"]


def test_of_several_searches_the_error_of_one_is_raised(web: Any) -> None:
    with pytest.raises(InvalidRequest, match="query"):
        web.search_many([QUERY, " "])


async def test_events_of_an_answer_are_read_with_and_without_await(settings: Make) -> None:
    async with Web(settings()) as made:
        web: Any = made
        for events in (web.ask(QUERY, stream=True), await web.ask(query=QUERY, stream=True)):
            assert [event async for event in events][-1].answer.text


async def test_a_tool_takes_what_frameworks_pass(settings: Make) -> None:
    async with Web(settings()) as web:
        tools: Any = web_tools(web)
        search, page = tools
        for result in (
            await search.ainvoke({"query": QUERY}),
            await search(QUERY),
            await search.call(json.dumps({"q": QUERY, "excludeDomains": ["a.test"], "page": "1"})),
        ):
            assert result.status == "success"
        part = await page(result.results[0].url, start_index=100, max_length=200)
        assert part.content.strip()
        with pytest.raises(AttributeError, match=r"await tool\.call"):
            search.run(QUERY)


_METHODS: dict[str, tuple[Any, dict[str, str]]] = {
    "search": (Web.search, dict(SEARCH)),
    "open_page": (Web.open_page, dict(OPEN_PAGE)),
    "ask": (Web.ask, dict(ASK)),
}
_TABLE = Path(__file__).parent / "components" / "sdk_arguments.tsv"
SDK_ARGUMENTS = sorted(
    {
        (row["method"], name)
        for row in csv.DictReader(_TABLE.read_text().splitlines(), delimiter="\t")
        for name in row["arguments"].split()
    }
)
"""The arguments of 44 search, read and answer calls of other libraries and APIs, from their signatures (2026-11)."""


def _spelled(name: str) -> tuple[str, str]:
    first, *rest = name.split("_")
    return name, first + "".join(map(str.title, rest))


def _every_argument_of_the_sdks_is_taken_or_told_the_right_word(method: str, name: str) -> None:
    function, names = _METHODS[method]
    known = set(inspect.signature(function).parameters) - {"self", "aliases"}
    for spelled in _spelled(name):
        if spelled in known or names.get(spelled) in known:
            continue
        assert foreign(spelled, (), names), f"{method}({spelled}=...) is neither taken nor told what to use"
        if spelled in NO_EFFECT:
            assert translated(spelled, "x", names, known) == {}
            assert without_effect({spelled: "x"}, names) == (f"{spelled} has no effect: {NO_EFFECT[spelled]}",)


@pytest.mark.parametrize("method", ["search", "open_page", "ask"])
def test_every_argument_of_the_sdks_is_taken_or_told_the_right_word(method: str) -> None:
    names = [name for of, name in SDK_ARGUMENTS if of == method]
    assert names
    for name in names:
        _every_argument_of_the_sdks_is_taken_or_told_the_right_word(method, name)


def _people_models_and_http_are_told_alike(method: str, name: str) -> None:
    odd: Any = "an odd value"
    function, names = _METHODS[method]
    known = set(inspect.signature(function).parameters) - {"self", "aliases"}
    if names.get(name, name) in known or name in NO_EFFECT or name in ("provider", "urls"):
        return  # taken by each, or a list of providers or pages
    _, camel = _spelled(name)
    owner = Web(Settings())
    with pytest.raises(TypeError, match=re.escape(foreign(name, (), names))):
        asyncio.run(getattr(owner, method)(QUERY, **{name: odd}))
    tool: Any = {"search": ("web_search", SearchArguments), "open_page": ("open_page", OpenArguments)}.get(method)
    request: Any = {"search": SearchRequest, "open_page": PagesRequest, "ask": AskRequest}[method]
    for spelled in {name, camel}:
        if tool:
            plain = understood(tool[0], {"query": "x", "url": "http://a.test/", spelled: odd})
            with pytest.raises(ValidationError) as refused:
                tool[1].model_validate(plain)
            assert foreign(spelled, (), {}) in bad_arguments(refused.value, tool[1])
        with pytest.raises(ValidationError) as wrong:
            request.model_validate(request.renamed({spelled: odd}))
        assert foreign(spelled, (), {}).lstrip("; ") in invalid(wrong.value).problem.message


@pytest.mark.parametrize("method", ["search", "open_page", "ask"])
def test_people_models_and_http_are_told_alike(method: str) -> None:
    names = [name for of, name in SDK_ARGUMENTS if of == method]
    assert names
    for name in names:
        _people_models_and_http_are_told_alike(method, name)


def _options_named_as_in_the_sdks_are_taken_or_told_the_right_word(method: str, name: str) -> None:
    command: Any = {"search": "search", "open_page": "open"}[method]
    function, names = _METHODS[method]
    known = set(inspect.signature(function).parameters) - {"self", "aliases"}
    option = f"--{name.replace('_', '-')}"
    done = CliRunner().invoke(group, [command, option, "1", "--limit" if method == "search" else "--max-length", "0"])
    told = done.stderr
    assert done.exit_code == 2
    if names.get(name, name) not in known and name not in NO_EFFECT and "No such option" in told:
        assert "; " in told or "Did you mean" in told, told


@pytest.mark.parametrize("method", ["search", "open_page"])
def test_options_named_as_in_the_sdks_are_taken_or_told_the_right_word(method: str) -> None:
    names = [name for of, name in SDK_ARGUMENTS if of == method]
    assert names
    for name in names:
        _options_named_as_in_the_sdks_are_taken_or_told_the_right_word(method, name)


@pytest.mark.parametrize(
    ("options", "key", "value"),
    [
        ({"cache": False}, "cache.enabled", False),
        ({"provider": "searxng"}, "search.providers", ("searxng",)),
        ({"max_results": 3}, "search.limit", 3),
        ({"userAgent": "x/1"}, "network.user_agent", "x/1"),
        ({"budget_usd": 0.5}, "session.max_cost_usd", 0.5),
        ({"settings": {"search": {"limit": 2}, "cache.enabled": False}}, "search.limit", 2),
    ],
)
def test_settings_are_arguments_of_a_client(
    options: dict[str, Any], key: str, value: object, monkeypatch: pytest.MonkeyPatch, world: World
) -> None:
    monkeypatch.setenv("GROUNDWIRE_SEARCH_PROVIDERS", "searxng")
    monkeypatch.setenv("GROUNDWIRE_PROVIDERS_SEARXNG_BASE_URL", world.searxng.url)
    with SyncWeb(**options) as web:
        section, _, name = key.partition(".")
        if name == "providers":
            assert tuple(one.name for one in web.inner.search_providers) == value
        else:
            assert getattr(getattr(web.inner.settings, section), name) == value


def test_settings_beside_options_are_refused(settings: Make) -> None:
    with pytest.raises(TypeError, match=r"'cache\.enabled': write it into the settings"):
        SyncWeb(settings(), cache=False)
    with pytest.raises(TypeError, match="'nonsense'"):
        SyncWeb(nonsense=1)


@pytest.mark.parametrize(
    ("name", "key"),
    [
        ("provider", "search.providers"),
        ("user_agent", "network.user_agent"),
        ("NETWORK__PROXY", "network.proxy"),
        ("GROUNDWIRE_SEARCH_LIMIT", "search.limit"),
        ("search.max_results", "search.limit"),
        ("nonsense", "nonsense"),
    ],
)
def test_settings_have_other_names(name: str, key: str) -> None:
    assert setting_named(name, tuple(known_keys())) == key


@pytest.mark.parametrize(
    ("name", "right"),
    [
        ("NotFoundError", "PageNotFound"),
        ("BudgetExceededError", "BudgetExceeded"),
        ("MissingKeyError", "MissingKey"),
        ("RateLimitError", "RateLimited"),
        ("Nonsense", ""),
    ],
)
def test_errors_are_found_in_both_modules(name: str, right: str) -> None:
    for module in (groundwire, groundwire.errors):
        assert getattr(module, name, None) is (getattr(groundwire.errors, right) if right else None)


def test_what_other_libraries_have_beside_fields(web: Any, tmp_path: Path) -> None:
    found = web.search(QUERY)
    page = web.open_page(found[0].url)
    assert (found.total, found.first, found.urls) == (len(found), found[0], [row.url for row in found])
    assert (found[0].rank, found[0].domain) == (found[0].citation_id, "127.0.0.1")
    assert found[0].fetch().url == page.url
    assert (page.status_code, page.metadata["author"], page.metadata.sourceURL) == (200, page.author, page.url)
    assert (page.date, page.metadata["modified"]) == (page.published, page.modified)
    for name in ("updated", "last_modified", "dateModified", "date_modified", "modified_at"):
        assert getattr(page.model_copy(update={"modified": "2026-11-09"}), name) == "2026-11-09"
    assert page.save(tmp_path / "page.md").read_text() == page.content
    assert page.word_count == len(page.content.split())
    for text in ("links", "urls"):
        assert len(getattr(found, text)) == len(found)
    with pytest.raises(AttributeError, match="'html'; did you mean 'content'"):
        _ = page.html


def test_a_page_knows_its_links() -> None:
    content = "[a](https://a.test/x_(y)) and <https://b.test/> [b](https://b.test/ 'title') [no](/relative) ![i](i.png)"
    links = Page(url="https://a.test/", content=content).links
    assert [(link, link.text, link.url) for link in links] == [
        ("https://a.test/x_(y)", "a", "https://a.test/x_(y)"),
        ("https://b.test/", "", "https://b.test/"),
    ]


@pytest.mark.parametrize(
    ("line", "out"),
    [
        (["search", QUERY, "--verbose", "--results", "1"], "1. "),
        (["--json", "search", QUERY], '"url":'),
        (["open", "{url}", "--links"], "http://"),
        (["config"], "[search]"),
        (["config", "get", "provider"], "searxng"),
        (["ask", QUERY, "--quote", "-p", "searxng", "--timeout", "30"], "Sources"),
    ],
)
def test_commands_as_people_type_them(web: Any, world: World, line: list[str], out: str) -> None:
    url = web.search(QUERY)[0].url
    environment = {
        "GROUNDWIRE_SEARCH_PROVIDERS": "searxng",
        "GROUNDWIRE_PROVIDERS_SEARXNG_BASE_URL": world.searxng.url,
        "GROUNDWIRE_POLICY_ALLOWED_ORIGINS": ",".join(world.origins),
    }
    done = CliRunner().invoke(group, [word.format(url=url) for word in line], env=environment)
    assert (done.exit_code, out in done.stdout) == (0, True), done.output


@pytest.mark.parametrize(
    ("model", "api"),
    [
        ("claude-sonnet-4-5", "anthropic"),
        ("anthropic/claude-x", "anthropic"),
        ("gemini-2.5-flash-lite", "gemini"),
        ("openai:gpt-6-luna", "openai_chat"),
        ("llama3.2:3b", "openai_chat"),
    ],
)
async def test_a_model_is_of_the_api_that_its_name_tells(settings: Make, model: str, api: str) -> None:
    keys = {"ANTHROPIC_API_KEY": "a", "GEMINI_API_KEY": "b", "OPENAI_API_KEY": "c"}
    made = settings()
    for name, key in keys.items():
        made = made.with_key(name, SecretStr(key))
    async with Web(made) as web:
        chosen = await find_model(web, Deadline.after(5), model)
        assert chosen is not None
        assert (chosen.api, chosen.model) == (api, model.split("/")[-1].removeprefix("openai:"))
