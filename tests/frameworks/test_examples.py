"""Every framework's example, with the real framework in an environment of its own, the miniature model and web."""

from __future__ import annotations

import json
import os
import re
import subprocess
from collections.abc import Callable
from dataclasses import dataclass, replace
from pathlib import Path
from typing import Any

import pytest

from groundwire.testing import EmulatedResponse, InjectedFault, Recorded, World
from groundwire.testing.model_apis import ModelServer, Say, ScriptedCall, ScriptedRequest, Turn

ROOT = Path(__file__).resolve().parents[2]
ANSWER = "Reciprocal rank fusion merges ranked lists [1]."
QUERY = {"query": "reciprocal rank fusion"}

_OBSERVATION = re.compile(r"\[\[ ## observation_\d+ ## \]\]\n(.*?)(?=\n\[\[ ## |\Z)", re.DOTALL)

pytestmark = [pytest.mark.real, pytest.mark.timeout(900)]

PythonWith = Callable[[str, tuple[str, ...]], Path]


@dataclass(frozen=True)
class Example:
    """One example and what it needs."""

    extra: str
    """The extra of Groundwire."""
    file: str
    """The file."""
    also: tuple[str, ...] = ()
    """What else the example installs."""

    folder: str = "examples"
    """Where the file is."""

    def __str__(self) -> str:
        return self.file.removesuffix(".py")


STRANDS_MODEL = ("strands-agents[openai]",)
DROP_IN = Example("strands", "strands_drop_in.py", STRANDS_MODEL)
HOST = Example("openai-agents", "extension_host.py", folder="tests/frameworks")
EXAMPLES = (
    Example("strands", "strands_agent.py", STRANDS_MODEL),
    Example("openai-agents", "openai_agents_agent.py"),
    Example("pydantic-ai", "pydantic_ai_agent.py", ("pydantic-ai-slim[openai]",)),
    Example("langchain", "langchain_agent.py", ("langchain-openai",)),
    Example("anthropic", "anthropic_runner.py"),
    Example("llamaindex", "llamaindex_agent.py", ("llama-index-llms-openai-like",)),
    Example("google-adk", "google_adk_agent.py"),
    Example("haystack", "haystack_agent.py"),
    Example("agno", "agno_agent.py", ("openai",)),
    Example("autogen", "autogen_agent.py", ("autogen-ext[openai]",)),
    Example("crewai", "crewai_agent.py"),
    Example("dspy", "dspy_agent.py"),
    Example("smolagents", "smolagents_agent.py", ("smolagents[openai]",)),
    Example("agent-framework", "agent_framework_agent.py", ("agent-framework-openai",)),
)


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

    def __init__(self, world: World, python_with: PythonWith, folder: Path) -> None:
        self._world = world
        self._python_with = python_with
        self._folder = folder
        self.results: tuple[str, ...] = ()
        self.hosted: tuple[str, ...] = ()
        self.functions: tuple[str, ...] = ()
        self._runs = 0

    def run(self, example: Example, *turns: Turn, **environment: str) -> str:
        """Return what the example prints; it must end well."""

        def decide(asked: ScriptedRequest) -> Turn:
            if example.extra == "dspy":
                self.results, turn = _in_fields(asked, turns)
                return turn
            self.results, self.hosted, self.functions = _results(asked), asked.hosted, asked.functions
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
            "OPENAI_API_KEY": "none",
            "ANTHROPIC_BASE_URL": models.url,
            "ANTHROPIC_API_KEY": "none",
            "GOOGLE_GEMINI_BASE_URL": models.url,
            "GOOGLE_API_KEY": "none",
            "HAYSTACK_TELEMETRY_ENABLED": "false",
            "AGNO_TELEMETRY": "false",
            "CREWAI_DISABLE_TELEMETRY": "true",
            "OTEL_SDK_DISABLED": "true",
            "GROUNDWIRE_SEARCH_PROVIDERS": "searxng",
            "GROUNDWIRE_PROVIDERS_SEARXNG_BASE_URL": world.searxng.url,
            "GROUNDWIRE_POLICY_ALLOWED_ORIGINS": ",".join(world.origins),
            "GROUNDWIRE_STORAGE_URL": "memory://",
            **environment,
        }
        python = self._python_with(example.extra, example.also)
        done = subprocess.run(
            [str(python), str(ROOT / example.folder / example.file), "What is reciprocal rank fusion?"],
            env=variables,
            cwd=self._folder,
            capture_output=True,
            text=True,
            check=False,
            timeout=500,
        )
        assert done.returncode == 0, done.stderr[-3_000:]
        return done.stdout


@pytest.fixture
def agent(world: World, python_with: PythonWith, tmp_path: Path) -> Agent:
    return Agent(world, python_with, tmp_path)


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
@pytest.mark.parametrize("example", EXAMPLES, ids=str)
def test_the_agent_searches_reads_and_answers(example: Example, agent: Agent, world: World) -> None:
    url = world.library.search("reciprocal rank fusion")[0].url
    said = agent.run(example, ScriptedCall("web_search", QUERY), ScriptedCall("open_page", {"url": url}))
    assert ANSWER in said
    search, page = agent.results
    assert "Search results for: reciprocal rank fusion" in search
    assert url in search
    assert "Length: " in page
    assert "the whole page" in page


@pytest.mark.parametrize("example", EXAMPLES, ids=str)
def test_a_search_that_fails_is_told_to_the_model(example: Example, agent: Agent, world: World) -> None:
    world.searxng.fail(InjectedFault.status(500), times=None)
    assert ANSWER in agent.run(example, ScriptedCall("web_search", QUERY))
    (search,) = agent.results
    assert "Search failed: " in search
    assert "HTTP 500" in search


@pytest.mark.parametrize("example", EXAMPLES, ids=str)
def test_a_budget_that_is_spent_is_told_to_the_model(example: Example, agent: Agent) -> None:
    turns = ScriptedCall("web_search", QUERY), ScriptedCall("web_search", {"query": "rank fusion"})
    assert ANSWER in agent.run(example, *turns, WEB_SEARCH_SESSION_LIMIT="1")
    first, second = agent.results
    assert "Search results for: " in first
    assert "Search limit reached (1/1)" in second


def test_langchain_retrieves_documents(agent: Agent, world: World) -> None:
    said = agent.run(Example("langchain", "langchain_retriever.py", ("langchain-openai",)))
    assert said.splitlines()[0].startswith("1 Reciprocal rank fusion http://127.0.0.1:")


def test_anthropics_asynchronous_runner_uses_the_programs_loop(agent: Agent) -> None:
    turns = ScriptedCall("web_search", QUERY), ScriptedCall("open_page", {"url": "http://169.254.169.254/"})
    assert ANSWER in agent.run(Example("anthropic", "anthropic_async_runner.py"), *turns)
    search, page = agent.results
    assert "Search results for: reciprocal rank fusion" in search
    assert "The page could not be opened: " in page


def test_pydantic_ai_searches_natively_or_by_us(agent: Agent) -> None:
    example = Example("pydantic-ai", "pydantic_ai_capability.py", ("pydantic-ai-slim[openai]",))
    assert ANSWER in agent.run(example, ScriptedCall("web_search", QUERY), MODEL="openai-chat:some-model")
    assert "Search results for: reciprocal rank fusion" in agent.results[0]
    assert "web_search" not in agent.hosted
    assert ANSWER in agent.run(example, MODEL="openai-responses:gpt-5-mini")
    assert (agent.hosted, agent.functions) == (("web_search",), ())


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


@pytest.mark.req("Y15")
def test_the_extensions_search_fails_as_a_result(agent: Agent, world: World) -> None:
    world.searxng.fail(InjectedFault.status(500), times=None)
    assert ANSWER in agent.run(HOST, ScriptedCall("web_search", QUERY))
    (search,) = map(json.loads, agent.results)
    assert (search["status"], search["results"]) == ("error", [])
    assert "HTTP 500" in search["message"]


@pytest.mark.req("H4", "H5", "H8")
def test_the_drop_in_is_a_tool_of_strands(agent: Agent) -> None:
    more = {"max_results": 2, "include_domains": [], "search_depth": "basic"}
    turns = [
        ScriptedCall("web_search", {**QUERY, **more}),
        ScriptedCall("web_search", QUERY),
        ScriptedCall("web_search", QUERY),
    ]
    limits = {"WEB_SEARCH_SESSION_LIMIT": "2", "WEB_SEARCH_WARNING_THRESHOLD": "2"}
    said = agent.run(DROP_IN, *turns, **limits)
    assert ANSWER in said
    assert "{'count': 2, 'limit': 2, 'remaining': 0, 'session_id': 'workflow-1'}" in said
    first, second, third = agent.results
    assert first.startswith("Search results for: reciprocal rank fusion\n(Source: searxng)\n\n1. ")
    assert second.endswith("[WARNING: 0 searches remaining in session]")
    assert third.startswith("Search limit reached (2/2). ")
