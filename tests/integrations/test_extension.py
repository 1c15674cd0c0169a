"""Document Y: the extension as its host loads and drives it."""

from __future__ import annotations

import importlib.util
import re
import sys
from collections.abc import AsyncIterator, Callable
from pathlib import Path
from typing import Any

import pytest
from click.testing import CliRunner

from groundwire._version import install_command
from groundwire.cli import group
from groundwire.integrations.framework_versions import framework_of
from groundwire.integrations.hosts.extension import CITATION_SENTENCE, WebSearchExtension
from groundwire.integrations.hosts.extension_tools import (
    BatchOpenPageToolResult,
    OpenPageToolResult,
    PageTools,
    WebSearchToolResult,
)
from groundwire.testing import InjectedFault
from world import World


class Context:
    """What the host gives an extension, as far as the document names it."""

    def __init__(self, **config: Any) -> None:
        self.config = config
        self.secrets: dict[str, str] = {}

    def get_config(self, key: str, default: Any = None) -> Any:
        return self.config.get(key, default)

    async def get_secret(self, name: str) -> str | None:
        return self.secrets.get(name)

    async def set_secret(self, name: str, value: str) -> None:
        self.secrets[name] = value


Start = Callable[..., Any]


@pytest.fixture
async def start(surroundings: World) -> AsyncIterator[Start]:
    """Make an extension, initialized and started with a configuration."""
    made: list[WebSearchExtension] = []

    async def begin(context: Context | None = None, **config: Any) -> tuple[WebSearchExtension, PageTools]:
        usual = {
            "search_provider": "searxng",
            "searxng_base_url": surroundings.searxng.url,
            "read_provider": "local",
        }
        extension = WebSearchExtension()
        made.append(extension)
        context = context or Context()
        context.config = {**usual, **config}
        await extension.initialize(context)
        await extension.start()
        return extension, PageTools(lambda: extension._web, extension._config)

    yield begin
    for extension in made:
        await extension.stop()
        await extension.destroy()


@pytest.mark.req("Y2", "Y11")
async def test_each_call_is_numbered_by_itself(start: Start) -> None:
    _, tools = await start()
    for query in ("reciprocal rank fusion", "bm25", "reciprocal rank fusion"):
        found = await tools.web_search({"query": query, "limit": 2})
        assert [row.citation_id for row in found.results] == [1, 2]
        assert {one.citation_id: one.url for one in found.sources} == {
            row.citation_id: row.url for row in found.results
        }


@pytest.mark.req("Y4")
async def test_an_sdk_that_cannot_run_the_tools_is_refused_at_the_start(
    surroundings: World, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    folder = tmp_path / "openai_agents-99.0.dist-info"
    folder.mkdir()
    (folder / "METADATA").write_text("Metadata-Version: 2.1\nName: openai-agents\nVersion: 99.0\n")
    monkeypatch.syspath_prepend(tmp_path)
    extension = WebSearchExtension()
    with pytest.raises(ImportError, match=r"openai-agents 99\.0 is not supported"):
        await extension.initialize(Context(search_provider="searxng"))
    assert not extension.health_check()


@pytest.mark.req("Y2", "Y11")
async def test_a_search_is_structured_and_cited(start: Start) -> None:
    _, tools = await start()
    found = await tools.web_search({"query": "reciprocal rank fusion", "limit": 3, "time_range": "all"})
    assert isinstance(found, WebSearchToolResult)
    assert [row.citation_id for row in found.results] == [1, 2, 3]
    assert [(one.citation_id, one.url) for one in found.sources] == [(1, found.results[0].url)] + [
        (row.citation_id, row.url) for row in found.results[1:]
    ]
    assert WebSearchToolResult.model_validate_json(str(found)) == found


@pytest.mark.req("Y3", "Y17")
async def test_a_page_says_that_it_is_cut(start: Start) -> None:
    _, tools = await start()
    url = (await tools.web_search({"query": "reciprocal rank fusion"})).results[0].url
    whole = await tools.open_page({"url": url})
    cut = await tools.open_page({"url": url, "max_length": 200})
    assert isinstance(cut, OpenPageToolResult)
    assert (cut.status, cut.truncated) == ("success", True)
    assert cut.content_length == len(cut.content) <= 200
    assert cut.original_length == whole.content_length
    assert not whole.truncated


@pytest.mark.req("Y9")
async def test_a_page_is_fetched_once(start: Start, surroundings: World) -> None:
    _, tools = await start()
    url = (await tools.web_search({"query": "reciprocal rank fusion"})).results[0].url
    await tools.open_page({"url": url})
    sites = surroundings.sites.values()
    before = sum(len(site.requests) for site in sites)
    await tools.open_page({"url": url})
    assert sum(len(site.requests) for site in sites) == before


@pytest.mark.req("Y3", "Y17")
async def test_several_pages_share_the_budget(start: Start) -> None:
    _, tools = await start(total_content_budget=600, max_urls_per_call=3)
    rows = (await tools.web_search({"query": "reciprocal rank fusion", "limit": 5})).results
    read = await tools.open_page({"urls": [*(row.url for row in rows[:2]), "http://127.0.0.1:1/", rows[0].url]})
    assert isinstance(read, BatchOpenPageToolResult)
    assert (read.total, read.success_count, read.error_count) == (3, 2, 1)
    assert read.total_content_length == sum(page.content_length for page in read.pages) <= 600
    assert "Only the first 3 of 4 URLs were read." in read.budget_warning
    each = await tools.open_page({"urls": [row.url for row in rows[:2]], "max_length_per_page": 100})
    assert all(page.content_length <= 100 and page.truncated for page in each.pages)
    nothing = await tools.open_page({"urls": []})
    assert "No URLs provided" in nothing.budget_warning


@pytest.mark.req("Y13", "Y15")
@pytest.mark.parametrize("url", ["http://localhost/", "http://169.254.169.254/latest/", "file:///etc/passwd", "", 7])
async def test_addresses_that_are_not_allowed_are_results(start: Start, url: object) -> None:
    _, tools = await start()
    page = await tools.open_page({"url": url})
    assert page.status == "error"
    assert page.error
    batch = await tools.open_page({"urls": [url]})
    assert batch.error_count == 1


@pytest.mark.req("Y15")
async def test_a_search_that_fails_is_a_result(start: Start, surroundings: World) -> None:
    _, tools = await start()
    await tools.web_search({"query": "fusion"})
    surroundings.searxng.fail(InjectedFault.status(500), times=99)
    found = await tools.web_search({"query": "fusion"})
    assert (found.status, found.results) == ("error", [])
    assert "500" in found.message


@pytest.mark.req("Y4")
@pytest.mark.parametrize("key", ["search_provider", "read_provider"])
async def test_an_unknown_provider_is_refused_with_the_known_ones(start: Start, key: str) -> None:
    with pytest.raises(ValueError, match=r"Known providers: .*searxng"):
        await start(**{key: "altavista"})


@pytest.mark.req("Y4", "Y7")
async def test_one_provider_serves_both_with_the_hosts_key(start: Start, surroundings: World) -> None:
    context = Context()
    context.secrets["TAVILY_API_KEY"] = "test-key"
    extension, tools = await start(context, search_provider="tavily", read_provider="tavily")
    found = await tools.web_search({"query": "fusion"})
    assert found.status == "success"
    assert (await tools.open_page({"url": found.results[0].url})).status == "success"
    assert extension._web.read_providers[0] is extension._web.search_providers[0]
    assert "test-key" not in repr(extension._web.settings)


@pytest.mark.req("Y8")
async def test_set_up_asks_keeps_and_verifies(start: Start, surroundings: World) -> None:
    context = Context()
    extension = WebSearchExtension()
    context.config = {"search_provider": "tavily", "read_provider": "local"}
    with pytest.raises(ValueError, match="TAVILY_API_KEY"):
        await extension.initialize(context)
    assert not extension.health_check()
    schema = {row["name"]: row for row in extension.get_setup_schema()}
    assert schema["tavily_api_key"]["required"]
    assert schema["tavily_api_key"]["secret"]
    assert not schema["perplexity_api_key"]["required"]
    assert await extension.on_setup_complete() == (False, "TAVILY_API_KEY is required when using tavily.")
    await extension.apply_config("tavily_api_key", " wrong-key ")
    good, why = await extension.on_setup_complete()
    assert not good
    assert "401" in why
    assert "wrong-key" not in why
    await extension.apply_config("tavily_api_key", "test-key")
    assert (await extension.on_setup_complete())[0]
    assert extension.health_check()
    with pytest.raises(ValueError, match="tavily_api_key"):
        await extension.apply_config("tavily", "test-key")
    await extension.destroy()
    assert not extension.health_check()


@pytest.mark.req("Y10")
async def test_domains_of_the_configuration_hold_for_both(start: Start, surroundings: World) -> None:
    _, tools = await start(blocked_domains="127.0.0.1")
    assert (await tools.web_search({"query": "fusion"})).results == []
    assert (await tools.open_page({"url": surroundings.site("docs").url})).status == "error"


@pytest.mark.req("Y11")
async def test_the_citation_sentence_is_context(start: Start) -> None:
    extension, _ = await start()
    assert CITATION_SENTENCE == (
        "When stating facts from web search results, append the citation ID in brackets, e.g. [1]."
    )
    assert await extension.get_context("hello", agent_id="orchestrator") == CITATION_SENTENCE
    assert await extension.get_context("hello", object()) == CITATION_SENTENCE
    assert extension.context_priority == 100


@pytest.mark.req("Y4")
def test_export_writes_what_the_host_loads(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    folder = tmp_path / "sandbox" / "extensions" / "web_search"
    done = CliRunner().invoke(group, ["export", "extension", str(folder)])
    assert done.exit_code == 0
    manifest = (folder / "manifest.yaml").read_text()
    assert "entrypoint: main:WebSearchExtension" in manifest
    config = dict(
        line.split("#")[0].strip().split(": ", 1)
        for line in manifest.partition("config:\n")[2].splitlines()
        if not line.strip().startswith("#")
    )
    WebSearchExtension.ConfigModel.model_validate({key: value.strip('" ') for key, value in config.items()})
    spec = importlib.util.spec_from_file_location("exported_main", folder / "main.py")
    assert spec
    assert spec.loader
    module = importlib.util.module_from_spec(spec)
    spec.loader.exec_module(module)
    assert module.WebSearchExtension is WebSearchExtension
    assert CliRunner().invoke(group, ["export", "extension", str(folder)]).exit_code == 0
    (folder / "main.py").write_text("mine")
    again = CliRunner().invoke(group, ["export", "extension", str(folder)])
    assert again.exit_code == 2
    assert "--force" in again.output
    assert (folder / "main.py").read_text() == "mine"
    assert CliRunner().invoke(group, ["export", "extension", "--force", str(folder)]).exit_code == 0


@pytest.mark.skipif("agents" in sys.modules or importlib.util.find_spec("agents") is not None, reason="it is here")
async def test_without_the_sdk_the_tools_say_what_to_install(start: Start) -> None:
    extension, _ = await start()
    with pytest.raises(ImportError, match=re.escape(install_command(framework_of("openai-agents").requirement))):
        extension.get_tools()
