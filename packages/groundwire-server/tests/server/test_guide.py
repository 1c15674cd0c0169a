"""The guide: its code runs against a served proxy, and prints what it says."""

from __future__ import annotations

import ast
import asyncio
import inspect
import re
from collections.abc import Callable
from pathlib import Path
from typing import Any

import click
import pytest

from groundwire import Settings, Web
from groundwire.cli import group
from groundwire.testing.model_apis import Say, ScriptedCall, script
from groundwire_server.openai.app import Proxy
from groundwire_server.uvicorn_runner import serving
from world import World
from world.model_apis import ModelServer

TEXT = (Path(__file__).resolve().parents[4] / "docs" / "guides" / "proxy.md").read_text(encoding="utf-8")
BLOCKS = re.findall(r"^```python\n(.*?)^```(?:\n\n```text\n(.*?)^```)?", TEXT, re.MULTILINE | re.DOTALL)


async def test_its_python_runs(
    world: World, settings: Callable[..., Settings], monkeypatch: pytest.MonkeyPatch, capsys: Any
) -> None:
    monkeypatch.setenv("GROUNDWIRE_STORAGE_URL", "memory://")
    search = ScriptedCall("web_search", {"query": "reciprocal rank fusion"})
    models = world.add(ModelServer(script(search, end=Say("It merges ranked lists [1]."))))
    names: dict[str, Any] = {"__name__": "guide"}
    assert len(BLOCKS) == 4
    async with Web(settings()) as web:
        proxy = Proxy(web, f"{models.url}/v1")
        async with serving(proxy.app) as url:
            for number, (block, printed) in enumerate(BLOCKS):
                served = block.replace("http://127.0.0.1:8790", url)
                code = compile(served, f"proxy.md block {number}", "exec", ast.PyCF_ALLOW_TOP_LEVEL_AWAIT)
                if code.co_flags & inspect.CO_COROUTINE:
                    await eval(code, names)
                else:
                    await asyncio.to_thread(exec, code, names)
                assert capsys.readouterr().out == printed
            names["client"].close()
        await proxy.aclose()


def test_it_names_every_option() -> None:
    named = {"--upstream", "--host"}
    command = group.get_command(click.Context(group), "proxy")
    assert command is not None
    assert {option for parameter in command.params for option in parameter.opts} - {"--port"} == named
    assert [option for option in named if option not in TEXT] == []
