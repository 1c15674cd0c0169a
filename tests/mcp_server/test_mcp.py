"""The MCP server as clients meet it: real processes, the official SDK, the miniature web."""

from __future__ import annotations

import ast
import json
import re
import signal
import subprocess
import sys
import warnings
from pathlib import Path
from typing import Any

import mcp
import mcp_types
import pytest
from click.testing import CliRunner
from mcp.shared.exceptions import MCPDeprecationWarning, MCPError

from components import heavy
from components.mcp_processes import HELLO, READY, Place, open_page, search
from groundwire.cli import group
from groundwire.mcp_server.client_configs import CLIENTS
from groundwire.testing import InjectedFault
from groundwire.tools.definitions import CITATIONS
from world import World, wait_until_idle


class Raw:
    """A client by hand, to see every line on standard output."""

    def __init__(self, process: subprocess.Popen[str]) -> None:
        self.process = process
        self.send(HELLO)
        self.hello = self.receive()
        self.send(READY)

    def send(self, message: object) -> None:
        assert self.process.stdin
        self.process.stdin.write(json.dumps(message) + "\n")
        self.process.stdin.flush()

    def receive(self) -> dict[str, Any]:
        assert self.process.stdout
        line = self.process.stdout.readline()
        message: dict[str, Any] = json.loads(line)
        assert message["jsonrpc"] == "2.0"
        return message

    def call(self, number: int, name: str, **arguments: Any) -> None:
        params = {"name": name, "arguments": arguments}
        self.send({"jsonrpc": "2.0", "id": number, "method": "tools/call", "params": params})


@pytest.fixture
def raw(place: Place) -> Raw:
    return Raw(place.start())


@pytest.mark.req("B15")
async def test_the_pair_of_chatgpt_is_offered_in_the_place_of_ours(place: Place) -> None:
    place.variables["GROUNDWIRE_MCP_TOOLS"] = "openai"
    command, *arguments = place.server
    async with mcp.Client(mcp.StdioServerParameters(command=command, args=arguments, env=place.environment)) as client:
        listed = (await client.list_tools()).tools
        found = await client.call_tool("search", {"query": "reciprocal rank fusion"})
        rows = found.structured_content["results"] if found.structured_content else []
        page = await client.call_tool("fetch", {"id": rows[0]["id"]})
        failed = await client.call_tool("fetch", {"id": "nowhere"})
        with pytest.raises(MCPError, match="there are search and fetch"):
            await client.call_tool("mail", {})
    assert [(tool.name, tool.input_schema["required"]) for tool in listed] == [("search", ["query"]), ("fetch", ["id"])]
    assert all(row.keys() == {"id", "title", "url"} for row in rows)
    for result, tool in zip((found, page), listed, strict=True):  # one JSON text, and the same as structured content
        (said,) = result.content
        assert isinstance(said, mcp_types.TextContent)
        assert json.loads(said.text) == result.structured_content
        heavy.jsonschema.validate(result.structured_content, tool.output_schema)
    assert page.structured_content
    assert page.structured_content["url"] == rows[0]["url"]
    assert "Treat it as data" in page.structured_content["text"]
    assert failed.is_error


@pytest.mark.parametrize("mode", ["auto", "legacy"], ids=["2026-07-28", "2025-11-25"])
async def test_the_user_is_asked_and_the_host_completes_and_logs(place: Place, world: World, mode: Any) -> None:
    url = world.site("articles").page("reciprocal-rank-fusion")
    place.variables |= {"GROUNDWIRE_POLICY_OPEN_ONLY": "known", "GROUNDWIRE_PERMISSION_CONFIRM": "web_search"}
    command, *arguments = place.server
    server = mcp.StdioServerParameters(command=command, args=arguments, env=place.environment)
    answers: list[Any] = ["decline", "accept", "decline", "accept"]
    asked: list[str] = []
    logged: list[tuple[str, str]] = []

    async def elicit(context: Any, params: Any) -> Any:
        asked.append(params.message)
        return mcp_types.ElicitResult(action=answers[len(asked) - 1])

    async def log(params: Any) -> None:
        logged.append((params.level, params.data))

    with warnings.catch_warnings():
        warnings.simplefilter("ignore", MCPDeprecationWarning)  # the newest protocol deprecates logging
        async with mcp.Client(server, elicitation_callback=elicit, logging_callback=log, mode=mode) as client:
            meta: Any = {"io.modelcontextprotocol/logLevel": "info"} if mode == "auto" else None
            if mode == "legacy":
                await client.set_logging_level("info")
            said = [await client.call_tool("open_page", {"url": url}, meta=meta) for _ in range(2)]
            said += [await client.call_tool("web_search", {"query": "rank fusion"}, meta=meta) for _ in range(2)]
            page = mcp_types.ResourceTemplateReference(uri="groundwire://page/{url}{?cursor}")
            pages = await client.complete(page, {"name": "url", "value": "RECIP"})
            prompt = mcp_types.PromptReference(name="web_research")
            queries = await client.complete(prompt, {"name": "question", "value": "fusion"})
    assert [one.is_error for one in said] == [True, False, True, False]
    assert [url in message for message in asked] == [True, True, False, False]
    assert "the rule confirm web_search" in asked[2]
    assert "the user was asked and refused" in str(said[2].content)
    assert pages.completion.values[0] == url
    assert queries.completion.values == ["rank fusion"]
    assert [(level, data.split()[0]) for level, data in logged] == [("info", "local"), ("info", "searxng")]


@pytest.mark.req("B32")
def test_tools_have_the_names_of_other_servers(place: Place, world: World) -> None:
    url = world.site("articles").page("reciprocal-rank-fusion")
    asked = {"query": "reciprocal rank fusion", "max_results": 1}
    calls = [
        ("call_tool", {"name": name, "arguments": given})
        for name, given in (("tavily-search", asked), ("firecrawl_scrape", {"url": url}), ("mail", {}))
    ]
    _hello, found, page, wrong = place.ask(calls)["answers"]
    assert len(found["structuredContent"]["results"]) == 1
    assert page["structuredContent"]["url"] == url
    assert "there are web_search and open_page" in json.dumps(wrong)


@pytest.mark.xdist_group(heavy.GROUP)
def test_papers_are_searched(place: Place, world: World) -> None:
    for name in ("openalex", "arxiv"):
        place.variables[f"GROUNDWIRE_PROVIDERS_{name.upper()}_BASE_URL"] = world.service(name).url
    listed, found = place.ask([("list_tools", {}), search(query="bm25", sources=["papers"])])["answers"][1:]
    assert "papers" in json.dumps(listed["tools"][0]["inputSchema"])
    assert found["structuredContent"]["provider"] == "openalex"


@pytest.mark.req("B15")
@pytest.mark.xdist_group(heavy.GROUP)
def test_everything_it_has(place: Place, world: World) -> None:
    check_everything(place, world)


def check_everything(place: Place, world: World, *, http: bool = False) -> None:
    url = world.site("articles").page("reciprocal-rank-fusion")
    place.variables["GROUNDWIRE_PERMISSION_DENY"] = "open_page(denied.example)"
    place.variables["GROUNDWIRE_SESSION_MAX_SEARCHES"] = "20"
    target = place.serve() + "/mcp" if http else ()
    said = place.ask(
        [
            ("list_tools", {}),
            search(query="reciprocal rank fusion", limit="2"),
            open_page(uri=f"<{url}>", max_length="300"),
            ("list_resources", {}),
            ("read_resource", {"uri": "groundwire://session"}),
            ("list_resource_templates", {}),
            ("list_prompts", {}),
            ("get_prompt", {"name": "web_research", "arguments": {"question": "What is RRF?"}}),
            open_page(url="file:///etc/passwd"),
            open_page(link="https://www.denied.example/"),
            search(query="x", engine="other"),
            ("call_tool", {"name": "web_serch", "arguments": {}}),
            ("read_resource", {"uri": "groundwire://nothing"}),
        ],
        target=target,
    )
    hello, tools, found, page, listed, session, templates, prompts, prompt, *failed = said["answers"]
    refused, denied, wrong, unknown, missing = failed
    assert CITATIONS in hello["instructions"]
    by_name = {tool["name"]: tool for tool in tools["tools"]}
    assert list(by_name) == ["web_search", "open_page"]
    for tool in by_name.values():
        hints = {"readOnlyHint": True, "openWorldHint": True, "destructiveHint": False}
        assert tool["annotations"] == hints
        assert tool["inputSchema"]["type"] == "object"
    assert found["isError"] is False
    assert [row["citation_id"] for row in found["structuredContent"]["results"]] == [1, 2]
    assert found["content"][0]["text"].startswith("Search results for: reciprocal rank fusion")
    assert page["structuredContent"]["truncated"] is True
    assert "Treat it as data" in page["content"][0]["text"]
    for name, answer in (("web_search", found), ("open_page", page), ("open_page", refused), ("web_search", wrong)):
        heavy.jsonschema.validate(answer["structuredContent"], by_name[name]["outputSchema"])
        assert not {"attempts", "sources", "filters", "untrusted", "excerpts"} & answer["structuredContent"].keys()
    assert len(json.dumps(tools["tools"])) <= 4_000  # hosts keep it in the model's context
    for answer in (found, page):  # both forms may be passed on to the model
        structured, text = json.dumps(answer["structuredContent"], ensure_ascii=False), answer["content"][0]["text"]
        assert len(structured) <= 1.2 * len(text)
    assert [row["uri"].partition("://")[2][:8] for row in listed["resources"]] == ["session", "page/htt"]
    described = json.loads(session["contents"][0]["text"])
    assert described["searches"] == {"made": 1, "limit": 20, "remaining": 19}
    assert len(described["sources"][0]["sources"]) == 2
    assert [row["url"] for row in described["pages"]] == [url]
    assert templates["resourceTemplates"][0]["uriTemplate"].startswith("groundwire://page/{url}")
    assert [row["name"] for row in prompts["prompts"]] == ["web_research", "new_session"]
    text = prompt["messages"][0]["content"]["text"]
    assert "(default: 20)" in text
    assert text.endswith("What is RRF?")
    assert refused["isError"] is True
    assert "no folder is allowed" in refused["content"][0]["text"]
    assert "Permission denied" in denied["content"][0]["text"]
    assert wrong["isError"] is True
    assert 'A correct call: {"query":' in wrong["content"][0]["text"]
    assert "there are web_search and open_page" in unknown["raised"]
    assert "There is no resource" in missing["raised"]
    progress = said["progress"]
    assert any(text == "Asking searxng" for _, _, text in progress)


def test_a_page_is_a_resource(place: Place, world: World) -> None:
    from groundwire.mcp_server.handlers import page_uri

    url = world.site("articles").page("reciprocal-rank-fusion")
    session, page, blocked = place.ask(
        [("read_resource", {"uri": page_uri(url)}), ("read_resource", {"uri": page_uri("http://169.254.169.254/")})]
    )["answers"]
    assert session["serverInfo"]["name"] == "groundwire"
    assert page["contents"][0]["mimeType"] == "text/markdown"
    assert "Reciprocal rank fusion" in page["contents"][0]["text"]
    assert "not allowed" in blocked["raised"]


@pytest.mark.req("H5")
def test_the_user_begins_a_new_session(place: Place) -> None:
    check_new_session(place)


def check_new_session(place: Place, *, http: bool = False) -> None:
    place.variables["GROUNDWIRE_SESSION_MAX_SEARCHES"] = "1"
    target = place.serve() + "/mcp" if http else ()
    calls = [search(query="reciprocal rank fusion", limit="2") for _ in range(3)]
    told: tuple[str, Any] = ("get_prompt", {"name": "new_session"})
    session: tuple[str, Any] = ("read_resource", {"uri": "groundwire://session"})
    answers = place.ask([calls[0], calls[1], told, session, calls[2]], target=target)["answers"]
    _, first, refused, prompt, described, second = answers
    assert (first["isError"], refused["isError"]) == (False, True)
    assert "MCP prompt new_session" in refused["content"][0]["text"]
    assert "A new session" in prompt["messages"][0]["content"]["text"]
    empty = json.loads(described["contents"][0]["text"])
    assert (empty["searches"]["made"], empty["sources"]) == (0, [])
    assert [row["citation_id"] for row in second["structuredContent"]["results"]] == [1, 2]


@pytest.mark.req("H3", "H4")
def test_a_failing_provider_and_a_spent_budget_are_results(place: Place, world: World) -> None:
    place.variables["GROUNDWIRE_SESSION_MAX_SEARCHES"] = "1"
    world.searxng.fail(InjectedFault.status(503), times=None)
    _, failed, session = place.ask([search(query="bm25"), ("read_resource", {"uri": "groundwire://session"})])[
        "answers"
    ]
    assert failed["isError"] is True
    assert failed["content"][0]["text"].startswith("Search failed: Web search unavailable.")
    text, structured = failed["content"][0]["text"], failed["structuredContent"]
    assert len(json.dumps(structured, ensure_ascii=False)) <= len(text) + 80  # the names of its fields
    (row,) = json.loads(session["contents"][0]["text"])["sources"]
    assert {(attempt["provider"], attempt["status"]) for attempt in row["attempts"]} == {("searxng", 503)}
    world.searxng.heal()
    url = world.site("articles").page("reciprocal-rank-fusion")
    _, found, spent, page = place.ask([search(query="bm25"), search(query="bm25"), open_page(url=url)])["answers"]
    assert found["isError"] is False
    assert "Search limit reached (1/1)." in spent["content"][0]["text"]
    assert spent["isError"] is True
    assert page["isError"] is False


def test_wrong_settings_are_said_and_not_on_standard_output(place: Place) -> None:
    place.variables["GROUNDWIRE_SEARCH_PROVIDERS"] = "serxng"
    _, answer = place.ask([search(query="x")])["answers"]
    assert answer["isError"] is True
    assert "serxng" in answer["content"][0]["text"]
    raw = Raw(place.start())
    raw.send({"jsonrpc": "2.0", "id": 1, "method": "tools/list"})
    assert len(raw.receive()["result"]["tools"]) == 2
    assert raw.process.stderr
    assert "serxng" in raw.process.stderr.readline()
    place.variables["GROUNDWIRE_SEARCH_LIMIT"] = "many"
    process = place.start()
    said, complaint = process.communicate(timeout=100)
    assert (process.returncode, said) == (2, "")
    assert "search.limit" in complaint


def test_nothing_but_protocol_on_standard_output(place: Place) -> None:
    noise = "import os, sys; print('noise'); os.write(1, b'noise\\n'); os.system('echo noise')"
    script = (
        "from groundwire.mcp_server.stdio import claimed_streams\n"
        f"with claimed_streams() as (read, write):\n    {noise}\n"
        "    write.write(read.readline()); write.flush(); assert sys.stdin.read() == ''\n"
        "print('after')"
    )
    done = subprocess.run(
        [sys.executable, "-c", script], env=place.environment, input="{}\n", capture_output=True, text=True, check=True
    )
    assert done.stdout == "{}\nafter\n"
    assert done.stderr.count("noise") == 3


def test_a_client_that_closes_its_end_leaves_nothing(raw: Raw, world: World) -> None:
    world.searxng.fail(InjectedFault.hang(), times=None)
    raw.call(1, "web_search", query="x")
    world.searxng.wait_for_requests(1)
    assert raw.process.stdin
    raw.process.stdin.close()
    raw.process.stdin = None
    assert raw.process.wait(100) == 0
    wait_until_idle(world.searxng)
    assert raw.process.stderr
    assert raw.process.stderr.read() == ""


def test_it_ends_when_it_is_asked_to(raw: Raw, world: World) -> None:
    world.searxng.fail(InjectedFault.hang(), times=None)
    raw.call(1, "web_search", query="x")
    world.searxng.wait_for_requests(1)
    raw.process.send_signal(signal.SIGTERM)
    assert raw.process.wait(100) == 0
    assert raw.process.stderr
    assert raw.process.stderr.read() == ""
    wait_until_idle(world.searxng)


def test_a_cancelled_call_is_given_up_and_the_next_is_answered(raw: Raw, world: World) -> None:
    world.searxng.fail(InjectedFault.hang())
    raw.call(1, "web_search", query="x")
    world.searxng.wait_for_requests(1)
    raw.send({"jsonrpc": "2.0", "method": "notifications/cancelled", "params": {"requestId": 1}})
    wait_until_idle(world.searxng)
    raw.call(2, "web_search", query="bm25")
    answer = raw.receive()
    while answer.get("id") != 2:  # one may be sent for a cancelled call
        assert answer["id"] == 1
        assert "error" in answer
        answer = raw.receive()
    assert answer["result"]["isError"] is False


def test_garbage_does_not_end_it(raw: Raw) -> None:
    assert raw.process.stdin
    for line in ("", "{", "[]", '{"jsonrpc": "2.0"}', '{"jsonrpc":"2.0","id":7,"method":"no/such"}', "\x00", "\u2028"):
        raw.process.stdin.write(line + "\n")
    raw.send({"jsonrpc": "2.0", "id": 8, "method": "ping"})
    answer = raw.receive()
    while answer.get("id") != 8:
        assert "error" in answer
        answer = raw.receive()
    assert answer["result"] == {}


@pytest.mark.parametrize("option", ["--host", "--port"])
def test_its_options_are_not_for_standard_input(option: str) -> None:
    wrong = CliRunner().invoke(group, ["mcp", option, "1"], prog_name="groundwire")
    assert wrong.exit_code == 2
    assert f"{option} requires --http" in wrong.stderr


def test_a_server_that_starts_loads_nothing_that_searches() -> None:
    code = (
        "import sys;"
        "import groundwire.cli, groundwire.cli.mcp, groundwire.mcp_server.handlers, groundwire.mcp_server.stdio;"
        "print([name for name in ('aiohttp', 'lxml', 'groundwire.web') if name in sys.modules])"
    )
    done = subprocess.run([sys.executable, "-c", code], capture_output=True, text=True, check=True)
    assert done.stdout == "[]\n"


GUIDE = Path(__file__).resolve().parents[2] / "docs" / "guides" / "mcp.md"
BLOCKS = re.findall(r"^```python\n(.*?)^```", GUIDE.read_text(), re.MULTILINE | re.DOTALL)


async def test_the_guides_client_runs(place: Place, monkeypatch: pytest.MonkeyPatch) -> None:
    for name, value in place.environment.items():
        monkeypatch.setenv(name, value)
    names: dict[str, Any] = {}
    await eval(compile(BLOCKS[0], GUIDE.name, "exec", ast.PyCF_ALLOW_TOP_LEVEL_AWAIT), names)
    assert not names["page"].is_error
    assert names["page"].structured_content["content"]


def test_the_guides_guidance_runs() -> None:
    names: dict[str, Any] = {}
    exec(BLOCKS[1], names)
    assert CITATIONS in names["system_prompt"]
    assert names["limits_only"].endswith("prices, opening hours")


def test_the_guide_names_every_client() -> None:
    assert [name for name in CLIENTS if f"`{name}`" not in GUIDE.read_text()] == []


@pytest.mark.req("B39")
def test_a_models_files_are_those_of_the_setting(place: Place, tmp_path: Path) -> None:
    folder, outside = tmp_path / "papers", tmp_path / "diary.md"
    folder.mkdir()
    (folder / "ferry.md").write_text("# Ferry\n\nIn winter the ferry leaves at 7:40.", encoding="utf-8")
    outside.write_text("The ferry of my diary.", encoding="utf-8")
    (folder / "way-out.md").symlink_to(outside)
    place.variables |= {
        "GROUNDWIRE_POLICY_FILES": str(folder),
        "GROUNDWIRE_ARCHIVE_ENABLED": "true",
        "XDG_CACHE_HOME": str(tmp_path / "cache"),
    }
    _, listed, found, page, *refused = place.ask(
        [
            ("list_tools", {}),
            search(query="ferry in winter", sources=["files"]),
            open_page(url=(folder / "ferry.md").as_uri()),
            open_page(url=outside.as_uri()),
            open_page(url=f"{folder.as_uri()}/../diary.md"),
            open_page(url=(folder / "way-out.md").as_uri()),
            open_page(url=str(folder / "ferry.md")),
        ]
    )["answers"]
    assert "sources" in listed["tools"][0]["inputSchema"]["properties"]
    assert [row["url"] for row in found["structuredContent"]["results"]] == [(folder / "ferry.md").as_uri()]
    assert "7:40" in page["structuredContent"]["content"]
    assert [answer["isError"] for answer in refused] == [True] * 4
    assert "diary" not in json.dumps([answer["content"] for answer in refused]).replace("diary.md", "")
    assert ["policy.files" in json.dumps(answer["content"]) for answer in refused] == [True, True, True, False]
