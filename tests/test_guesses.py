"""What people type from memory of other libraries is an error that names the right word; models are understood."""

from __future__ import annotations

import asyncio
import csv
import inspect
import json
import re
from collections.abc import Callable, Mapping
from pathlib import Path
from typing import Any

import click
import pytest
from click.testing import CliRunner
from pydantic import BaseModel, SecretStr, TypeAdapter, ValidationError

import groundwire
from groundwire import SearchResult, SyncWeb, Web
from groundwire.agent_loop.chat_model import find_model
from groundwire.cli import group
from groundwire.deadline import Deadline
from groundwire.errors import InvalidRequest
from groundwire.hints import other_names
from groundwire.models.argument_names import ASK, OPEN_PAGE, SEARCH, argument_hint, tool_method, translated
from groundwire.models.validators import time_range_of
from groundwire.settings import Settings
from groundwire.settings.provider_options import setting_key
from groundwire.settings.schema import KEY_VARIABLES, ProviderKeys, known_keys
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


async def test_a_result_opens_its_page(settings: Make, web: Any) -> None:
    row = web.search(QUERY)[0]
    assert row.open(max_length=500).content == web.open_page(row.url, max_length=500).content
    async with Web(settings()) as other:
        response = await other.search(QUERY)
        assert (await response[0].open()).url == response[0].url
    again = TypeAdapter(SearchResult).validate_json(row.model_dump_json())
    assert row == again  # what opens it is no part of it
    with pytest.raises(TypeError, match="open_page"):
        again.open()


async def test_a_result_is_opened_by_the_session_that_found_it(settings: Make) -> None:
    async with Web(settings()) as whole:
        first, second = whole.session(), whole.session()
        found, again = await asyncio.gather(first.search(QUERY), second.search(QUERY))  # one search for both
        await found[0].open()
        assert next(iter(await first.sources())).content
        assert not any(page.content for page in await second.sources())
        assert found.results == again.results


@pytest.mark.parametrize(
    ("call", "names"), [("search", SEARCH), ("open_page", OPEN_PAGE), ("open_pages", OPEN_PAGE), ("ask", ASK)]
)
def test_an_argument_of_another_library_is_told_the_right_word(web: Any, call: str, names: Mapping[str, str]) -> None:
    method: Any = groundwire.ask if call == "ask" else getattr(web, call)
    own = set(inspect.signature(method).parameters)
    assert not set(names) & own
    for name, right in names.items():
        with pytest.raises(TypeError, match=re.escape(f"{call}() has no argument {name!r}; did you mean {right!r}?")):
            method(QUERY, **{name: 1})


def test_the_arguments_named_in_an_error_are_those_of_the_method(web: Any) -> None:
    for call, method in (("search", Web.search), ("open_page", Web.open_page), ("ask", groundwire.ask)):
        wrong: Any = groundwire.ask if call == "ask" else getattr(web, call)
        with pytest.raises(TypeError, match="nonsense") as error:
            wrong(QUERY, nonsense=1)
        named = str(error.value).partition("(arguments: ")[2].rstrip(")").split(", ")
        assert set(named) == set(inspect.signature(method).parameters) - {"self", "unknown"}
    with pytest.raises(TypeError, match="'limt'; did you mean 'limit'"):
        web.search(QUERY, limt=3)
    for name in ("provider", "search_providers"):
        given: Any = {name: "wikipedia"}
        with pytest.raises(TypeError, match=re.escape(f"{name!r}; use Web(search_providers=[...])")):
            web.search(QUERY, **given)
    with pytest.raises(TypeError, match=r"'exact_match'; write it into the query"):
        web.search(QUERY, exact_match=True)
    with pytest.raises(TypeError, match=r"'include_domains'; use search\(\) with allowed_domains"):
        groundwire.ask(QUERY, web, include_domains=["a.test"])  # type: ignore[call-arg]
    with pytest.raises(TypeError, match=r"'stream'; answers are streamed by groundwire\.agent_loop\.ask_stream"):
        groundwire.ask(QUERY, web, stream=True)  # type: ignore[call-arg]
    with pytest.raises(InvalidRequest, match="day, week, month, year, all"):
        web.search(QUERY, time_range="fortnight")


async def test_a_type_checker_refuses_them_too(settings: Make) -> None:
    async with Web(settings()) as web:
        with pytest.raises(TypeError, match="'limit'"):
            await web.search(QUERY, max_results=3)  # type: ignore[call-arg]
        with pytest.raises(TypeError, match="'max_length'"):
            await web.open_page("https://a.test/", max_chars=3)  # type: ignore[call-arg]
        with pytest.raises(TypeError, match="takes a SyncWeb"):
            groundwire.ask(QUERY, web)  # type: ignore[arg-type]
        entered: Any = web
        with pytest.raises(TypeError, match="async with Web"), entered:
            pytest.fail("it was entered")


@pytest.mark.parametrize(
    ("name", "hint"),
    [
        ("scrape", "did you mean 'open_page'"),
        ("fetch", "did you mean 'open_page'"),
        ("get_contents", "did you mean 'open_pages'"),
        ("crawl", "did you mean 'map'"),
        ("find_similar", "did you mean 'search'"),
        ("search_many", "use search, once a query"),
        ("news", r"use search\(query, time_range='month'\)"),
        ("ask", r"use groundwire\.ask\(question, web\), or await groundwire\.agent_loop\.ask\(question, web=web\)"),
        ("answer", r"use groundwire\.ask\(question, web\)"),
        ("ask_stream", r"use async for event in groundwire\.agent_loop\.ask_stream\(question, web=web\)"),
        ("tools", r"use groundwire\.web_tools\(web\)"),
        ("to_langchain", r"use groundwire\.integrations\.langchain\.web_tools\(web\)"),
        ("with_options", "did you mean 'session'|use web.inner.session"),
        ("config", "did you mean 'settings'"),
    ],
)
def test_a_method_of_another_library_is_told_the_right_word(web: Any, name: str, hint: str) -> None:
    for owner in (web, web.inner):
        with pytest.raises(AttributeError, match=f"has no attribute {name!r}; ({hint})"):
            getattr(owner, name)
        with pytest.raises(AttributeError, match=r"has no attribute 'nonsense'$"):
            owner.nonsense()
    with pytest.raises(AttributeError, match=r"use web\.inner\.restricted"):
        web.restricted()


def test_time_and_proxy_are_arguments_of_a_client(settings: Make) -> None:
    with SyncWeb(settings(), timeout=7, proxy="http://127.0.0.1:3128") as web:
        assert (web.inner.settings.search.timeout, web.inner.settings.read.timeout) == (7, 7)
        assert web.inner.settings.network.proxy == "http://127.0.0.1:3128"
        closed = web.is_closed
    assert (closed, web.is_closed) == (False, True)
    with pytest.raises(groundwire.ConfigurationError, match="timeout"):
        Web(settings(), timeout=-1)


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


@pytest.mark.parametrize(
    ("name", "letter"), [("Day", "d"), ("past week", "w"), ("1m", "m"), ("YEAR", "y"), ("any", "all")]
)
def test_time_ranges(name: str, letter: str) -> None:
    assert time_range_of(name) == letter


async def test_a_tool_is_told_the_right_word(settings: Make) -> None:
    async with Web(settings()) as web:
        tools: Any = web_tools(web)
        assert [tool.name for tool in tools] == ["web_search", "open_page"]
        assert tools["open_page"] is tools[1]
        for owner in (tools, tools[0]):
            with pytest.raises(AttributeError, match=r"'invoke'; use await tool\.call\(\.\.\.\)"):
                owner.invoke(QUERY)
            with pytest.raises(AttributeError, match=r"use groundwire\.integrations\.langchain\.web_tools\(web\)"):
                owner.to_langchain()
            with pytest.raises(AttributeError, match=r"nonsense'$"):
                owner.nonsense()
        with pytest.raises(KeyError, match="the tools are web_search and open_page"):
            tools["send_mail"]
        assert (await tools.call("web_search", '{"query": "bm25"}')).status == "success"
        for name in ("to_openai", "to_anthropic", "to_gemini"):
            assert getattr(tools, name)() == [getattr(tool, name)() for tool in tools]
    wrong: Any = web_tools
    for given in ("openai", None):
        with pytest.raises(TypeError, match=r"takes a Web or a SyncWeb.*to_openai"):
            wrong(given)
    module: Any = groundwire.tools
    assert not callable(module)


@pytest.mark.parametrize(
    ("line", "right"),
    [
        (["search", "x", "--max-results", "3"], "No such option '--max-results'. Did you mean '--limit'?"),
        (["search", "x", "--max-results=3"], "No such option '--max-results'. Did you mean '--limit'?"),
        (["search", "x", "--include-domains", "a.test"], "Did you mean '--domain'?"),
        (["search", "x", "--exclude-domains", "a.test"], "Did you mean '--block-domain'?"),
        (["search", "x", "-m", "3"], "Did you mean '--limit'?"),
        (["search", "x", "-s"], "Did you mean '--quiet'?"),
        (["search", "-q", "x"], "Did you mean '--quiet, or QUERY without an option'?"),
        (["ask", "-q", "x"], "Did you mean '--quiet, or QUESTION without an option'?"),
        (["search", "--query", "x"], "No such option '--query'; write the query itself, without an option."),
        (["ask", "--question", "x"], "No such option '--question'; write the question itself, without an option."),
        (["open", "--url", "https://a.test/"], "No such option '--url'; write the url itself, without an option."),
        (["search", "x", "--allowed-domains", "a.test"], "Did you mean '--domain'?"),
        (["search", "x", "--providers", "brave"], "Did you mean '--provider'?"),
        (["search", "x", "-p", "2"], "2 is no provider. Did you mean '--page'?"),
        (["serve", "-p", "9000"], "9000 is no provider. Did you mean '--port'?"),
        (["serve", "--bind", "127.0.0.1"], "Did you mean '--host'?"),
        (["search", "x", "-o", "results.json"], "No such option '-o'. Did you mean '> FILE'?"),
        (["open", "-H", "Accept-Language: de", "https://a.test/"], "network.user_agent TEXT, the only header"),
        (["search", "x", "--search-depth", "advanced"], "'--search-depth'; a search is as deep as its provider's"),
        (["search", "x", "--include-images"], "'--include-images'; results are web pages"),
        (["search", "x", "--exact-match"], "'--exact-match'; write it into the query"),
        (["search", "x", "--topic", "news"], "'--topic'; use the words of the query, or allowed_domains."),
        (["search", "x", "--json", "title,url"], "--json takes no field names"),
        (["open", "--max-chars", "300", "https://a.test/"], "Did you mean '--max-length'?"),
        (["open", "--proxy", "x", "https://a.test/"], "network.proxy"),
        (["open", "-O", "x", "https://a.test/"], "Did you mean '> FILE'?"),
        (["scrape", "https://a.test/"], "No such command 'scrape'. Did you mean 'open'?"),
        (["curl", "https://a.test/"], "Did you mean 'open'?"),
        (["news", "x"], "Did you mean 'search --time-range month'?"),
        (["settings"], "Did you mean 'config'?"),
        (["providers", "list"], "Did you mean 'providers', or 'doctor'?"),
        (["ask", "--prompt", "x"], "No such option '--prompt'; write the question itself, without an option."),
        (["config", "edit"], "'set'"),
        (["cache", "clean"], "config path"),
        (["login"], "'setup'"),
        (["upgrade"], "Install the new version "),
    ],
)
def test_command_lines_typed_from_memory(line: list[str], right: str) -> None:
    done = CliRunner().invoke(group, line, prog_name="groundwire")
    assert (done.exit_code, right in done.stderr) == (2, True), done.stderr


@pytest.mark.parametrize("path", [(), ("config",), ("archive",), ("mcp",)])
def test_a_command_that_is_meant_is_there(path: tuple[str, ...]) -> None:
    command: Any = group
    for name in path:
        command = command.get_command(click.Context(command), name)
    with click.Context(command) as context:
        names = command.list_commands(context)
        for other in other_names("commands").keys() - {*names, "help", "version"}:
            with pytest.raises(click.UsageError) as refused:
                command.resolve_command(context, [other])
            meant = re.search("Did you mean '([a-z-]+)", refused.value.message)
            assert meant is None or meant[1] in names, (other, refused.value.message)


@pytest.mark.parametrize("line", [["help", "search"], ["version"], ["-V"], ["config", "get", "search.limit"]])
def test_what_every_command_line_has(line: list[str]) -> None:
    done = CliRunner().invoke(group, line, prog_name="groundwire")
    assert (done.exit_code, done.stderr) == (0, "")
    assert re.search(r"^(Usage: groundwire search|groundwire, version|[0-9]+\n)", done.stdout)


IGNORED = "search_depth has no effect: a search is as deep as its provider's; read pages with open_page()"


async def test_what_has_no_effect_is_told_a_model_in_the_response(settings: Make) -> None:
    warning = "extract_depth has no effect: pages are always Markdown"
    async with Web(settings()) as web:
        url = (await web.search(QUERY))[0].url
        tools: Any = web_tools(web)
        search, page = tools
        assert IGNORED in (await search({"query": QUERY, "search_depth": "advanced"})).message
        assert IGNORED in (await search({"arguments": {"query": QUERY, "search_depth": "advanced"}})).message
        assert warning in (await page({"url": url, "extract_depth": "advanced"})).warnings


@pytest.mark.parametrize(
    ("given", "meant"),
    [
        ({"numResults": 2}, {"limit": 2}),
        ({"searchDepth": "advanced", "topic": "general"}, {}),
        ({"type": "deep-reasoning", "extras": {"links": 3}}, {}),
        ({"type": "instant", "additional_queries": ["x"]}, {}),
        ({"snapshot_as_of": "2026-01-01T00:00:00Z"}, None),
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
    if meant is None:
        assert found == [None]
    else:
        assert None not in found
        assert {key: value for one in found for key, value in (one or {}).items()} == meant


@pytest.mark.parametrize(
    "given", [{"topic": "news"}, {"category": "news", "timelimit": "y"}, {"topic": "news", "days": 3650}]
)
async def test_news_are_recent_pages(settings: Make, given: dict[str, Any]) -> None:
    note = "pages of the last month, or of the time that is given"
    async with Web(settings()) as made:
        told: Any = await web_tools(made)[0].call(query=QUERY, **given)
        assert note in told.message


@pytest.mark.parametrize(
    "given",
    [
        {"api_key": ""},
        {"api_key": 5},
        {"tavily_api_key": " "},
        {"exa_api_key": ["hidden"]},
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
    with SyncWeb(settings(), exa_api_key="y") as web:
        assert web.inner.search_providers[0].name == "exa"
    with SyncWeb(settings(), search_providers=["brave"], brave_api_key="z") as other:
        key = other.inner.settings.secret("BRAVE_API_KEY")
        assert key is not None
        assert key.get_secret_value() == "z"
        assert "z" not in repr(other.inner.settings.keys)
    for name, said in (
        ("api_key", "'api_key'; pass it to Web, as tavily_api_key="),
        ("nonsense_api_key", "'nonsense_api_key'"),
    ):
        typed: Any = {name: "tvly-x"}
        with pytest.raises(TypeError, match=said):
            SyncWeb(settings(), **typed)


def test_the_keys_of_a_client_are_those_of_the_environment() -> None:
    assert sorted(ProviderKeys.__annotations__) == sorted(name.lower() for name in KEY_VARIABLES)


@pytest.mark.parametrize(
    ("options", "hint"),
    [
        ({"cache": False}, "use Web({'cache.enabled': False})"),
        ({"max_results": 3}, "use Web({'search.limit': 3})"),
        ({"budget_usd": 0.5}, "use Web({'session.max_cost_usd': 0.5})"),
        ({"user_agent": "x/1"}, "use Web({'network.user_agent': ...})"),
        ({"search": {"limit": 2}}, "use Web({'search': ...})"),
        ({"provider": "brave"}, "use search_providers=[...]"),
        ({"reader": "local"}, "use read_providers=[...]"),
        ({"timeouts": 3}, "did you mean 'timeout'?"),
        ({"max_retries": 2}, "leave it out"),
    ],
)
def test_settings_are_no_arguments_of_a_client(options: dict[str, Any], hint: str) -> None:
    for kind in (Web, SyncWeb):
        with pytest.raises(TypeError, match=re.escape(f"Web() has no argument {next(iter(options))!r}; {hint}")):
            kind(**options)


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


@pytest.mark.parametrize(("name", "letter"), [("past 7 days", "w"), ("qdr:y", "y"), ("last_month", "m"), ("24h", "d")])
def test_ages_in_words(name: str, letter: str) -> None:
    assert time_range_of(name) == letter


async def test_a_tool_takes_what_models_pass(settings: Make) -> None:
    async with Web(settings()) as web:
        tools: Any = web_tools(web)
        search, page = tools
        for result in (
            await search(QUERY),
            await search.call(json.dumps({"q": QUERY, "excludeDomains": ["a.test"], "page": "1"})),
        ):
            assert result.status == "success"
        part = await page(result.results[0].url, start_index=100, max_length=200)
        assert part.content.strip()


METHODS: dict[str, tuple[Any, Mapping[str, str]]] = {
    "search": (Web.search, SEARCH),
    "open_page": (Web.open_page, OPEN_PAGE),
    "ask": (groundwire.ask, ASK),
}
_TABLE = Path(__file__).parent / "components" / "sdk_arguments.tsv"
SDK_ARGUMENTS = sorted(
    {
        (row["method"], name)
        for row in csv.DictReader(_TABLE.read_text().splitlines(), delimiter="\t")
        for name in row["arguments"].split()
    }
)
"""The arguments of 47 search, read and answer calls of other libraries and APIs, from their signatures (2026-11)."""


def spellings(name: str) -> tuple[str, str]:
    first, *rest = name.split("_")
    return name, first + "".join(map(str.title, rest))


@pytest.mark.parametrize("method", ["search", "open_page", "ask"])
def test_every_argument_of_the_sdks_is_ours_or_told_the_right_word(method: str) -> None:
    function, names = METHODS[method]
    known = set(inspect.signature(function).parameters) - {"self", "unknown"}
    owner = Web(Settings())
    told = 0
    for name in (name for of, name in SDK_ARGUMENTS if of == method):
        for spelled in spellings(name):
            if spelled in known:
                continue
            hint = argument_hint(spelled, sorted(known), names)
            assert hint, f"{method}({spelled}=...) is neither taken nor told what to use"
            told += 1
            call = function if method == "ask" else getattr(owner, method)
            with pytest.raises(TypeError, match=re.escape(f"has no argument {spelled!r}{hint}")):
                asyncio.run(call(QUERY, **{spelled: "x"}))
    assert told > 5


@pytest.mark.parametrize("method", ["search", "open_page"])
def test_what_no_tool_can_do_is_told_a_model(method: str) -> None:
    tool = {"search": "web_search"}.get(method, method)
    model: type[BaseModel] = SearchArguments if method == "search" else OpenArguments
    refused = 0
    for name in (name for of, name in SDK_ARGUMENTS if of == method):
        plain = understood(tool, {"query": "x", "url": "http://a.test/", name: "an odd value"})
        plain = {key: value for key, value in plain.items() if key in ("query" if method == "search" else "url", name)}
        if name not in plain or name in model.model_fields:
            continue  # understood, or without effect
        refused += 1
        with pytest.raises(ValidationError) as error:
            model.model_validate(plain)
        assert argument_hint(name, (), {}) in bad_arguments(error.value, model)
    assert refused > 5


@pytest.mark.parametrize("method", ["search", "open_page"])
def test_options_named_as_in_the_sdks_are_told_the_right_word(method: str) -> None:
    command = {"search": "search", "open_page": "open"}[method]
    for name in (name for of, name in SDK_ARGUMENTS if of == method):
        option = f"--{name.replace('_', '-')}"
        limit = "--limit" if method == "search" else "--max-length"
        done = CliRunner().invoke(group, [command, option, "1", limit, "0"])
        assert done.exit_code == 2
        if "No such option" in done.stderr:
            assert "; " in done.stderr or "Did you mean" in done.stderr, done.stderr


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
    assert setting_key(name, tuple(known_keys())) == key


@pytest.mark.parametrize(
    ("line", "out"),
    [
        (["--json", "search", QUERY], '"url":'),
        (["open", "{url}", "--links"], "http://"),
        (["{url}"], "BM25"),
        ([QUERY], "1. "),
        (["config"], "[search]"),
        (["config", "get", "provider"], "searxng"),
        (["ask", QUERY, "--quote", "-p", "searxng", "--timeout", "30"], "Sources"),
    ],
)
def test_commands_as_people_type_them(world: World, line: list[str], out: str) -> None:
    url = f"{world.site('articles').url}/wiki/bm25"
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
