"""The guide's walk-throughs in the real hosts: unpacked, patched, and asked a question, with a scripted model."""

from __future__ import annotations

import json
import os
import re
import selectors
import signal
import subprocess
import sys
import time
from collections.abc import Callable, Iterator, Mapping
from contextlib import contextmanager, nullcontext, suppress
from dataclasses import dataclass, field
from pathlib import Path
from typing import TypeVar

import pytest

from components.hosts import built_codelia, host_folder, host_python, moved_packages, pip_program
from components.markdown_blocks import Block, blocks_of
from components.processes import Unavailable
from components.pythons import uv
from documentation.shell import Shell, commands, matches
from groundwire.testing.model_apis import Say, ScriptedCall, ScriptedRequest, Turn
from world import World
from world.model_apis import ModelServer

ROOT = Path(__file__).resolve().parents[2]
CACHE = ROOT / ".venv-hosts"
QUERIES = ("reciprocal rank fusion", "bm25")
QUESTION = "What is reciprocal rank fusion?"
ANSWER = "Reciprocal rank fusion merges ranked lists [1]."
T = TypeVar("T")
PATIENCE = 120.0  # seconds for a host to start and answer
HOSTS = {
    "python -m core": "yodoca",
    "create_agent_by_name": "haytham",
    "squidbot agent": "squidbot",
    "codelia -p": "codelia",
}
CHECKS = {
    "haytham": """
import logging
from haytham.agents.utils.web_search import get_session_stats, reset_session_counter, web_search

records = []
handler = logging.Handler()
handler.emit = records.append
logging.basicConfig(level=logging.INFO, handlers=[handler])
reset_session_counter("workflow-1")
for count in (1, 2):
    assert web_search(query="reciprocal rank fusion").startswith("Search results for: "), web_search.__name__
    (one,) = [vars(record) for record in records if "query_length" in vars(record)]
    facts = {"query_length": 22, "session_id": "workflow-1", "session_count": count, "session_limit": 20}
    assert facts.items() <= one.items(), one
    records.clear()
assert get_session_stats()["count"] == 2
print("kept")
""",
    "squidbot": """
import asyncio, os
from squidbot.core.models import ToolDefinition, ToolResult
from squidbot.core.registry import ToolRegistry
from groundwire.integrations.hosts.tool_port import WebSearchTool

async def main():
    tool, registry = WebSearchTool({"provider": "searxng", "url": os.environ["SEARCH"]}), ToolRegistry()
    registry.register(tool)
    assert type(tool.to_definition()) is ToolDefinition
    for query in ("reciprocal rank fusion", "xylophone zeppelin quux", " "):
        result = await registry.execute("web_search", "call-1", query=query)
        assert (type(result), result.tool_call_id) == (ToolResult, "call-1"), result
    await tool.aclose()

asyncio.run(main())
print("kept")
""",
}
"""What the documents promise of more than a conversation, by the host's own Python after the walk-through."""
BLOCKS = [
    block for block in blocks_of("docs/guides/hosts.md") if "test_the_walkthrough" in block.notes.get("run by", "")
]

pytestmark = [pytest.mark.slow, pytest.mark.timeout(1_800)]


def host_of(block: Block) -> str:
    (name,) = (name for words, name in HOSTS.items() if words in block.text)
    return name


def here(make: Callable[[], T]) -> T:
    """Return what is made; the hosts are nobody's dependency, so a run without them skips, in CI too."""
    try:
        return make()
    except Unavailable as error:
        pytest.skip(str(error))


@dataclass
class Model:
    """Searches twice with whatever tool searches, and answers; it keeps what the tool said."""

    results: list[str] = field(default_factory=list)

    def __call__(self, asked: ScriptedRequest) -> Turn:
        ours = [name for name in asked.functions if "groundwire" in name and "web_search" in name]
        named = [name for name in ("web_search", "search") if name in asked.functions]
        if not (ours or named):
            return Say("a title")  # what hosts ask beside the conversation
        tool = (ours or named)[0]
        self.results = list(asked.results)
        left = QUERIES[len(asked.results) :]
        return ScriptedCall(tool, {"query": left[0]}) if left else Say(ANSWER)


def configure(name: str, folder: Path, home: Path, model: str, search: str, *, own: bool) -> Mapping[str, str]:
    """Write what the reader of the guide has configured before: the host's model; return variables of theirs."""
    if name == "squidbot":
        pools = {"models": {"m": {"provider": "p", "model": "m"}}, "pools": {"default": [{"model": "m"}]}}
        tools = {"web_search": {"enabled": own, "provider": "searxng", "url": search}}
        config = {"llm": {"providers": {"p": {"api_base": model, "api_key": "none"}}, **pools}, "tools": tools}
        (home / ".squidbot").mkdir()
        (home / ".squidbot" / "config.json").write_text(json.dumps(config))
    if name == "codelia":
        known = {
            "provider": "moonshot",
            "modelId": "kimi-k2.5",
            "limits": {"contextWindow": 200_000, "outputTokens": 8_000},
        }
        days = {"cachedAt": "2026-01-01T00:00:00Z", "expiresAt": "2100-01-01T00:00:00Z"}
        cached = {"version": 1, **days, "entries": {"moonshot": {"kimi-k2.5": known}}}
        (home / ".codelia" / "cache").mkdir(parents=True)
        (home / ".codelia" / "cache" / "models.dev.json").write_text(json.dumps(cached))
        config = {"version": 1, "model": {"provider": "moonshot", "name": "kimi-k2.5"}, "search": {"mode": "local"}}
        (home / ".codelia" / "config.json").write_text(json.dumps(config))
        return {"MOONSHOT_BASE_URL": model, "MOONSHOT_API_KEY": "none"}
    if name == "yodoca":
        agents = {"default": {"instructions": "sandbox/prompts/default.jinja2", "model": "m", "provider": "p"}}
        providers = {"p": {"type": "openai_compatible", "base_url": model, "api_key_literal": "none"}}
        chosen = {"web_search": {"search_provider": "searxng", "searxng_base_url": search, "read_provider": "local"}}
        config = {"default_agent": "orchestrator_agent", "agents": agents, "providers": providers, "extensions": chosen}
        (folder / "config" / "settings.yaml").write_text(json.dumps(config))  # JSON is YAML
        return {"PYTHON_KEYRING_BACKEND": "keyring.backends.null.Keyring"}
    return {"LLM_PROVIDER": "openai", "OPENAI_API_KEY": "none", "OPENAI_BASE_URL": model, "PYTHONPATH": str(folder)}


@contextmanager
def gateway(world: World, folder: Path) -> Iterator[str]:
    """Serve as the guide has it started, and give the address."""
    command = [sys.executable, "-m", "groundwire", "serve", "--port", "0"]
    variables = variables_of(world, folder)
    with subprocess.Popen(command, env=variables, cwd=folder, stderr=subprocess.PIPE, text=True) as process:
        assert process.stderr
        said = process.stderr.readline()
        found = re.search(r"http://[\w.]+:\d+", said)
        assert found, said
        yield found[0]
        process.kill()


def variables_of(world: World, home: Path) -> dict[str, str]:
    return {
        "PATH": "/usr/local/bin:/usr/bin:/bin",
        "HOME": str(home),
        "LANG": "C.UTF-8",
        "SEARCH": world.searxng.url,
        "GROUNDWIRE_PROVIDERS_SEARXNG_BASE_URL": world.searxng.url,
        "GROUNDWIRE_PROVIDERS_DUCKDUCKGO_LITE_BASE_URL": world.service("duckduckgo_lite").url,
        "GROUNDWIRE_POLICY_ALLOWED_ORIGINS": ",".join(world.origins),
    }


def program(folder: Path, name: str, line: str) -> None:
    (folder / name).write_text(f'#!/bin/sh\nexec {line} "$@"\n')
    (folder / name).chmod(0o755)


def talk(command: str, folder: Path, variables: Mapping[str, str]) -> str:
    """Run a command, ask it the question on its input too, and return what it prints until the answer."""
    process = subprocess.Popen(
        ["bash", "-c", command],
        cwd=folder,
        env=dict(variables),
        stdin=subprocess.PIPE,
        stdout=subprocess.PIPE,
        stderr=subprocess.STDOUT,
        start_new_session=True,
    )
    assert process.stdin
    assert process.stdout
    said, until = b"", time.monotonic() + PATIENCE
    with selectors.DefaultSelector() as ready:
        ready.register(process.stdout, selectors.EVENT_READ)
        process.stdin.write(f"{QUESTION}\n".encode())
        process.stdin.flush()
        while ANSWER.encode() not in said and ready.select(max(0.0, until - time.monotonic())):
            if not (more := os.read(process.stdout.fileno(), 65_536)):
                break
            said += more
    with suppress(ProcessLookupError):
        os.killpg(process.pid, signal.SIGKILL)
    process.communicate()
    return said.decode("utf-8", "replace")


def check(name: str, python: Path, folder: Path, variables: Mapping[str, str]) -> None:
    command = [str(python), "-c", CHECKS[name]]
    done = subprocess.run(command, cwd=folder, env=variables, capture_output=True, text=True, check=False)
    assert (done.returncode, done.stdout) == (0, "kept\n"), done.stderr


@pytest.mark.req("B30", "B31")
@pytest.mark.parametrize("block", BLOCKS, ids=lambda block: f"{host_of(block)}-{block.number}")
async def test_the_walkthrough(block: Block, world: World, say: Callable[[str], None], tmp_path: Path) -> None:
    name, model = host_of(block), Model()
    models = world.add(ModelServer(model, name="models"))
    home, bins = tmp_path / "home", tmp_path / "bin"
    home.mkdir()
    bins.mkdir()
    (home / "groundwire").symlink_to(ROOT)
    before: set[str] = set()
    python = Path(sys.executable)
    if name == "codelia":
        folder, runtimes = here(lambda: built_codelia(CACHE, say))
        program(bins, "codelia", f"{runtimes}/bun {folder}/packages/cli/src/index.ts")
        program(bins, "bun", f"{runtimes}/bun")
    else:
        folder = here(lambda: host_folder(name, tmp_path))
        python = here(lambda: host_python(name, CACHE, folder, say))
        before = set(uv("pip", "freeze", "--python", python).splitlines())
        pip_program(bins / "pip", python, ROOT)
        program(bins, "squidbot", f"{python} -c 'from squidbot.cli.main import app; app()'")
    ours = python.parent if "pip install" in block.text else Path(sys.executable).parent  # MCP servers live apart
    program(bins, "groundwire", f"{ours}/groundwire")
    program(bins, "python", str(python))
    variables = variables_of(world, home)
    variables |= configure(
        name, folder, home, f"{models.url}/v1", world.searxng.url, own="mcp install" not in block.text
    )
    variables["PATH"] = f"{bins}:{variables['PATH']}"
    if "mcp install" in block.text:  # a host starts the server with few of its variables, or none
        settings = f'[search]\nproviders = ["searxng"]\n[providers.searxng]\nbase_url = "{world.searxng.url}"\n'
        (home / ".config" / "groundwire").mkdir(parents=True)
        (home / ".config" / "groundwire" / "groundwire.toml").write_text(settings)

    *steps, (conversation, _) = commands(block.text)
    async with Shell(folder, variables) as shell:
        for command, shown in steps:
            code, printed = await shell.run(command, shown or None)
            assert code == 0, f"{command}\n{printed}"
            assert not shown or matches(shown, printed), printed
    with gateway(world, tmp_path) if "search.ts" in block.text else nullcontext("") as url:
        said = talk(conversation, folder, {**variables, "GROUNDWIRE_URL": url})
    assert ANSWER in said, said[-3_000:]
    assert "Reciprocal rank fusion" in model.results[0], model.results
    assert "/wiki/reciprocal-rank-fusion" in model.results[0]
    assert len(model.results) == len(QUERIES)
    if name == "yodoca":  # its document numbers the results of each call from 1
        rows = [[source["citation_id"] for source in json.loads(text)["sources"]] for text in model.results]
        assert [row[0] for row in rows] == [1, 1]
    if name in CHECKS and "mcp install" not in block.text:
        check(name, python, folder, variables)
    if before:
        assert moved_packages(python, before) == set()
