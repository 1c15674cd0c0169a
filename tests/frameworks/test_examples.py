"""Every framework's example, with the real framework in an environment of its own, the miniature model and web."""

from __future__ import annotations

import json
import os
import re
import subprocess
from collections.abc import Callable
from dataclasses import replace
from pathlib import Path
from typing import Any

import pytest

from frameworks.frameworks import AT_HOME, MODULES, Framework, with_framework
from groundwire.testing import EmulatedResponse, InjectedFault, Recorded
from groundwire.testing.model_apis import Say, ScriptedCall, ScriptedRequest, Turn
from world import World
from world.model_apis import ModelServer

EXAMPLES = Path(__file__).resolve().parents[2] / "examples"
HOST = Path(__file__).with_name("extension_host.py")
ANSWER = "Reciprocal rank fusion merges ranked lists [1]."
QUERY = {"query": "reciprocal rank fusion"}

_OBSERVATION = re.compile(r"\[\[ ## observation_\d+ ## \]\]\n(.*?)(?=\n\[\[ ## |\Z)", re.DOTALL)

pytestmark = [pytest.mark.real, pytest.mark.timeout(900)]

WITHOUT_MODULE = {
    "claude_agent_sdk": ("mcp", ("claude-agent-sdk<0.3",), "mcp__web__"),
    "deepagents": ("langchain", ("langchain-openai", "deepagents<0.8"), ""),
}
"""Frameworks that need no module of ours: an extra, what else is installed, and what is before the tools' names."""


class Models(ModelServer):
    """The miniature model with threads: the Anthropic SDK sends what is new, and names the message before it."""

    def __init__(self, decide: Callable[[ScriptedRequest], Turn], name: str) -> None:
        super().__init__(decide, name)
        self._thread: dict[str, Any] = {}

    def handle(self, request: Recorded) -> EmulatedResponse:
        body: Any = request.json()
        thread = body.pop("thread", {"type": "none"})
        if thread["type"] == "continue":
            body = {**self._thread, **body, "messages": [*self._thread["messages"], *body["messages"]]}
        self._thread = body
        return super().handle(replace(request, body=json.dumps(body).encode()))


class Agent:
    """Runs an example against a model that does one turn after the other, and keeps what the tools said to it."""

    def __init__(self, world: World, framework: Framework, folder: Path) -> None:
        self._world = world
        self._framework = framework
        self._folder = folder
        self.results: tuple[str, ...] = ()
        self.hosted: tuple[str, ...] = ()
        self.functions: tuple[str, ...] = ()
        self._runs = 0

    def run(self, file: Path, *turns: Turn, **environment: str) -> str:
        """Return what the example prints; it must end well."""

        def decide(asked: ScriptedRequest) -> Turn:
            if self._framework.extra == "dspy":
                self.results, turn = _in_fields(asked, turns)
                return turn
            self.results, self.hosted, self.functions = _results(asked), getattr(asked, "hosted", ()), asked.functions
            if len(self.results) < len(turns):
                return turns[len(self.results)]
            if "final_answer" in asked.functions:
                return ScriptedCall("final_answer", {"answer": ANSWER})
            return Say(ANSWER)

        self._runs += 1
        models = self._world.add(Models(decide, f"models{self._runs}"))
        world = self._world
        variables = {
            "PATH": os.environ["PATH"],
            "HOME": str(self._folder),
            "OPENAI_BASE_URL": f"{models.url}/v1",
            "ANTHROPIC_BASE_URL": models.url,
            "GOOGLE_GEMINI_BASE_URL": models.url,
            "GROUNDWIRE_SEARCH_PROVIDERS": "searxng",
            "GROUNDWIRE_PROVIDERS_SEARXNG_BASE_URL": world.searxng.url,
            "GROUNDWIRE_POLICY_ALLOWED_ORIGINS": ",".join(world.origins),
            "GROUNDWIRE_STORAGE_URL": "memory://",
            **AT_HOME,
            **environment,
        }
        done = subprocess.run(
            [str(self._framework.python), str(file), "What is reciprocal rank fusion?"],
            env=variables,
            cwd=self._folder,
            capture_output=True,
            text=True,
            check=False,
            timeout=500,
        )
        assert done.returncode == 0, done.stderr[-3_000:]
        return done.stdout

    def example(self, *turns: Turn, **environment: str) -> str:
        """Run the agent of the framework's guide."""
        extra = self._framework.extra.replace("-", "_")
        return self.run(EXAMPLES / f"{extra}_{'runner' if extra == 'anthropic' else 'agent'}.py", *turns, **environment)


@pytest.fixture
def agent(world: World, framework: Framework, tmp_path: Path) -> Agent:
    return Agent(world, framework, tmp_path)


def _results(asked: ScriptedRequest) -> tuple[str, ...]:
    """Return what the tools said; smolagents tells it in messages of the user."""
    if "final_answer" not in asked.functions:
        return asked.results
    texts = [json.dumps(message["content"]) for message in asked.body["messages"] if message["role"] == "user"]
    return tuple(json.loads(f'"{text[1:-1]}"') if text[0] == '"' else text for text in texts if "Observation" in text)


def _in_fields(asked: ScriptedRequest, turns: tuple[Turn, ...]) -> tuple[tuple[str, ...], Turn]:
    """Return what the tools said, and the turn, as DSPy has both: in fields of a text, without any function call."""
    system, *_, last = (str(message["content"]) for message in asked.body["messages"])
    results = tuple(text for text in _OBSERVATION.findall(last) if not text.startswith("Completed."))
    if "next_tool_name" not in system:
        return results, Say(_fields(reasoning="The page says so.", answer=ANSWER))
    turn = turns[len(results)] if len(results) < len(turns) else ScriptedCall("finish", {})
    assert isinstance(turn, ScriptedCall)
    arguments = json.dumps(dict(turn.arguments))
    return results, Say(_fields(next_thought="Go on.", next_tool_name=turn.name, next_tool_args=arguments))


def _fields(**fields: str) -> str:
    return "".join(f"[[ ## {name} ## ]]\n{text}\n\n" for name, text in fields.items()) + "[[ ## completed ## ]]"


@pytest.mark.req("H8")
@with_framework(*MODULES)
def test_the_agent_searches_reads_answers_and_is_told_of_failures(agent: Agent, world: World) -> None:
    url = world.library.search("reciprocal rank fusion")[0].url
    world.searxng.fail(InjectedFault.status(500), times=None, when=lambda request: "doomed" in request.query["q"])
    said = agent.example(
        ScriptedCall("web_search", {"query": "doomed"}),
        ScriptedCall("web_search", QUERY),
        ScriptedCall("open_page", {"url": url}),
        ScriptedCall("web_search", {"query": "rank fusion"}),
        WEB_SEARCH_SESSION_LIMIT="1",
    )
    assert ANSWER in said
    failed, search, page, refused = agent.results
    assert "Search failed: " in failed
    assert "HTTP 500" in failed
    assert "Search results for: reciprocal rank fusion" in search
    assert url in search
    assert "Length: " in page
    assert "the whole page" in page
    assert "Search limit reached (1/1)" in refused


@pytest.mark.slow
@pytest.mark.parametrize("name", WITHOUT_MODULE)
def test_agents_without_a_module_of_ours_search_and_read(
    name: str, python_with: Callable[..., Path], world: World, tmp_path: Path
) -> None:
    """The Claude Agent SDK starts its own command line, which asks the miniature model."""
    extra, also, prefix = WITHOUT_MODULE[name]
    agent = Agent(world, Framework(extra, python_with(extra, also, name=name)), tmp_path)
    world.searxng.fail(InjectedFault.status(500), times=None, when=lambda request: "doomed" in request.query["q"])
    url = world.library.search(QUERY["query"])[0].url
    turns = [("web_search", {"query": "doomed"}), ("web_search", QUERY), ("open_page", {"url": url})]
    said = agent.run(EXAMPLES / f"{name}_agent.py", *[ScriptedCall(f"{prefix}{tool}", given) for tool, given in turns])
    assert said.strip() == ANSWER
    failed, search, page = agent.results
    assert "Search failed: " in failed
    assert url in search
    assert "Length: " in page
    assert {f"{prefix}web_search", f"{prefix}open_page"} <= set(agent.functions)
    assert "WebSearch" not in agent.functions


@with_framework("anthropic")
def test_anthropics_asynchronous_runner_uses_the_programs_loop(agent: Agent) -> None:
    turns = ScriptedCall("web_search", QUERY), ScriptedCall("open_page", {"url": "http://169.254.169.254/"})
    assert ANSWER in agent.run(EXAMPLES / "anthropic_async_runner.py", *turns)
    search, page = agent.results
    assert "Search results for: reciprocal rank fusion" in search
    assert "The page could not be opened: " in page


@with_framework("pydantic-ai")
def test_pydantic_ai_searches_natively_or_by_us(agent: Agent) -> None:
    example = EXAMPLES / "pydantic_ai_capability.py"
    assert ANSWER in agent.run(example, ScriptedCall("web_search", QUERY), MODEL="openai-chat:some-model")
    assert "Search results for: reciprocal rank fusion" in agent.results[0]
    assert "web_search" not in agent.hosted
    assert ANSWER in agent.run(example, MODEL="openai-responses:gpt-6.1-terra")
    assert (agent.hosted, agent.functions) == (("web_search",), ())


@with_framework("openai-agents")
@pytest.mark.req("Y2", "Y3", "Y11", "Y17")
def test_the_exported_extension_serves_its_host(agent: Agent, world: World) -> None:
    urls = [found.url for found in world.library.search("reciprocal rank fusion")[:2]]
    turns = (
        ScriptedCall("web_search", {**QUERY, "limit": 2, "allowed_domains": [], "time_range": "all"}),
        ScriptedCall("open_page", {"url": urls[0], "max_length": 300}),
        ScriptedCall("open_page", {"urls": urls, "max_length_per_page": None}),
        ScriptedCall("open_page", {"url": "http://169.254.169.254/latest/meta-data/"}),
    )
    said = agent.run(HOST, *turns)
    assert ANSWER in said
    assert "healthy: True" in said
    assert "append the citation ID in brackets, e.g. [1]." in said
    search, page, pages, refused = map(json.loads, agent.results)
    assert [(row["citation_id"], row["url"]) for row in search["sources"]] == list(enumerate(urls, start=1))
    assert (page["status"], page["truncated"]) == ("success", True)
    assert page["content_length"] == len(page["content"]) <= 300 < page["original_length"]
    assert (pages["total"], pages["success_count"]) == (2, 2)
    assert refused["status"] == "error"


@with_framework("openai-agents")
@pytest.mark.req("Y15")
def test_the_extensions_search_fails_as_a_result(agent: Agent, world: World) -> None:
    world.searxng.fail(InjectedFault.status(500), times=None)
    assert ANSWER in agent.run(HOST, ScriptedCall("web_search", QUERY))
    (search,) = map(json.loads, agent.results)
    assert (search["status"], search["results"]) == ("error", [])
    assert "HTTP 500" in search["message"]


@with_framework("strands")
@pytest.mark.req("H4", "H5", "H8")
def test_the_drop_in_is_a_tool_of_strands(agent: Agent) -> None:
    more = {"max_results": 2, "include_domains": [], "search_depth": "basic"}
    turns = [
        ScriptedCall("web_search", {**QUERY, **more}),
        ScriptedCall("web_search", QUERY),
        ScriptedCall("web_search", QUERY),
    ]
    limits = {"WEB_SEARCH_SESSION_LIMIT": "2", "WEB_SEARCH_WARNING_THRESHOLD": "2"}
    said = agent.run(EXAMPLES / "strands_drop_in.py", *turns, **limits)
    assert ANSWER in said
    assert "{'count': 2, 'limit': 2, 'remaining': 0, 'session_id': 'workflow-1'}" in said
    first, second, third = agent.results
    assert first.startswith("Search results for: reciprocal rank fusion\n(Source: searxng)\n\n1. ")
    assert second.endswith("[WARNING: 0 searches remaining in session]")
    assert third.startswith("Search limit reached (2/2). ")
