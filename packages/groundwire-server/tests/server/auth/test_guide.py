"""The guide: its commands work, its code runs against a served gateway, and it names every option."""

from __future__ import annotations

import asyncio
import re
import shlex
from collections.abc import Callable
from datetime import UTC, datetime
from pathlib import Path
from typing import Any

import click
import pytest
from click.testing import CliRunner

from groundwire import Settings
from groundwire.cli import group
from groundwire.settings import load
from groundwire_server.api import build_gateway
from groundwire_server.auth import KeyFile
from groundwire_server.auth.keys import id_of, make_key
from groundwire_server.uvicorn_runner import serving

TEXT = (Path(__file__).resolve().parents[5] / "docs" / "guides" / "keys.md").read_text(encoding="utf-8")


def blocks(language: str) -> list[str]:
    return re.findall(rf"^```{language}\n(.*?)^```", TEXT, re.MULTILINE | re.DOTALL)


def test_its_commands_work(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("GROUNDWIRE_SERVER_KEY_FILE", str(tmp_path / "keys.json"))
    lines = [line for block in blocks("sh") for line in block.splitlines()]
    assert len(lines) == 7
    for line in lines:
        name, *words = shlex.split(line)
        assert name == "groundwire"
        done = CliRunner().invoke(group, words, prog_name="groundwire")
        assert done.exit_code == 0, (line, done.stderr)
    assert [record.name for record in KeyFile(tmp_path / "keys.json").records()] == [
        "ci",
        "research",
        "interns",
        "docs-bot",
        "monitoring",
    ]
    shown = re.search(r"gw_\S+", blocks("text")[0])
    assert shown
    assert id_of(shown[0])


async def test_its_python_runs(
    settings: Callable[..., Settings], tmp_path: Path, monkeypatch: pytest.MonkeyPatch, capsys: Any
) -> None:
    path = tmp_path / "keys.json"
    key, record = make_key("ci", datetime.now(UTC))
    KeyFile(path).add(record)
    monkeypatch.setenv("GROUNDWIRE_KEY", key)
    (code,) = blocks("python")
    made = settings(server={"key_file": str(path)})
    async with build_gateway(made) as gateway, serving(gateway) as url:
        served = compile(code.replace("http://127.0.0.1:8780", url), "keys.md", "exec")
        await asyncio.to_thread(exec, served, {"__name__": "guide"})
    assert capsys.readouterr().out == blocks("text")[1]


def test_its_settings_are_settings(tmp_path: Path) -> None:
    (tmp_path / "groundwire.toml").write_text(blocks("toml")[0])
    found = load(environment={}, folder=tmp_path, user_folder=tmp_path / "none")
    assert found.server.allowed_hosts == ("search.example.com",)
    named = set(re.findall(r"`server\.([a-z_]+)`", TEXT))
    assert named <= set(type(found.server).model_fields)


def test_it_names_every_option() -> None:
    command = group.get_command(click.Context(group), "keys")
    assert isinstance(command, click.Group)
    params = command.commands["create"].params
    options = {option for parameter in params for option in parameter.opts if option.startswith("--")}
    assert [option for option in options - {"--json"} if option not in TEXT] == []
