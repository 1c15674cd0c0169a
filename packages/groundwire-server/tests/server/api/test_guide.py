"""The guide: its commands and its code run against a served gateway, and its table has every status."""

from __future__ import annotations

import asyncio
import json
import re
from pathlib import Path
from typing import Any

import pytest

from components.needs import require
from world import World

TEXT = (Path(__file__).resolve().parents[5] / "docs" / "guides" / "gateway.md").read_text(encoding="utf-8")
USUAL = "http://127.0.0.1:8780"


def blocks(language: str) -> list[str]:
    return re.findall(rf"^```{language}\n(.*?)^```", TEXT, re.MULTILINE | re.DOTALL)


async def test_its_commands_work(gateway: Any) -> None:
    require("curl")
    served = await gateway()
    said = []
    for block in blocks("sh"):
        shell = await asyncio.create_subprocess_shell(
            block.replace(USUAL, served.url), stdout=asyncio.subprocess.PIPE, stderr=asyncio.subprocess.PIPE
        )
        out, _ = await shell.communicate()
        assert shell.returncode == 0
        said.append(out.decode())
    searched, watched, searxng, perplexity = said
    assert len(json.loads(searched)["results"]) == 3
    assert watched.startswith("event: attempt_started\n")
    assert "event: result\n" in watched
    assert json.loads(searxng)["results"][0]["engine"] == "searxng"
    assert 0 < len(json.loads(perplexity)["results"]) <= 5


async def test_its_python_runs(gateway: Any, world: World, monkeypatch: pytest.MonkeyPatch, capsys: Any) -> None:
    served = await gateway()
    client, own = blocks("python")
    code = compile(client.replace(USUAL, served.url), "gateway.md", "exec")
    await asyncio.to_thread(exec, code, {"__name__": "guide"})
    content, verdict, source = capsys.readouterr().out.rsplit("\n", 3)[:3]
    assert "rank" in content
    assert (verdict, "opened" in source) == ("supported", True)
    monkeypatch.setenv("GROUNDWIRE_SEARCH_PROVIDERS", "searxng")
    monkeypatch.setenv("GROUNDWIRE_PROVIDERS_SEARXNG_BASE_URL", world.searxng.url)
    await asyncio.to_thread(exec, compile(own, "gateway.md", "exec"), {"__name__": "guide"})
    assert "with ['searxng']" in capsys.readouterr().out


async def test_its_table_has_every_status(gateway: Any) -> None:
    client = await (await gateway()).client()
    async with client.get("/openapi.json") as response:
        document = await response.json()
    described = {
        status
        for path in document["paths"].values()
        for operation in path.values()
        for status in operation["responses"]
    }
    listed = {status for row in re.findall(r"^\| ([\d, ]+) \|", TEXT, re.MULTILINE) for status in row.split(", ")}
    assert listed | {"200", "500"} == described
    (form,) = blocks("json")
    assert set(json.loads(form)["error"]) == set(document["components"]["schemas"]["Problem"]["properties"])
