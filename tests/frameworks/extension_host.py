"""A host as yodoca describes it: it loads the exported extension and gives its tools to an agent.

It runs in an environment with the OpenAI Agents SDK, whose function tools the document's host runs.
"""

from __future__ import annotations

import asyncio
import importlib
import os
import subprocess
import sys
from pathlib import Path
from typing import Any

from agents import Agent, OpenAIChatCompletionsModel, Runner, set_tracing_disabled
from openai import AsyncOpenAI


class Context:
    """What the host gives an extension."""

    def __init__(self, config: dict[str, Any]) -> None:
        self.config = config

    def get_config(self, key: str, default: Any = None) -> Any:
        return self.config.get(key, default)

    async def get_secret(self, name: str) -> str | None:
        return os.environ.get(name)

    async def set_secret(self, name: str, value: str) -> None:
        os.environ[name] = value


def loaded() -> Any:
    """Return the extension as the loader makes it."""
    folder = Path("sandbox/extensions/web_search")
    subprocess.run([sys.executable, "-m", "groundwire", "export", "extension", str(folder)], check=True)
    sys.path.insert(0, str(Path.cwd()))
    manifest = (folder / "manifest.yaml").read_text()
    entry = next(line for line in manifest.splitlines() if line.startswith("entrypoint: "))
    module, _, name = entry.removeprefix("entrypoint: ").partition(":")
    return getattr(importlib.import_module(f"sandbox.extensions.web_search.{module}"), name)()


async def main(extension: Any) -> None:
    config: dict[str, Any] = {"search_provider": "searxng", "read_provider": "local", "max_page_length": 15_000}
    config["searxng_base_url"] = os.environ["GROUNDWIRE_PROVIDERS_SEARXNG_BASE_URL"]
    await extension.initialize(Context(config))
    await extension.start()
    try:
        print("healthy:", extension.health_check())
        instructions = await extension.get_context(sys.argv[1])
        print(instructions)
        model = OpenAIChatCompletionsModel("m", AsyncOpenAI(max_retries=0))
        agent = Agent(name="orchestrator", instructions=instructions, model=model, tools=extension.get_tools())
        print((await Runner.run(agent, sys.argv[1])).final_output)
    finally:
        await extension.stop()
        await extension.destroy()


set_tracing_disabled(True)
asyncio.run(main(loaded()))
