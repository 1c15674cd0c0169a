"""The guide to the first hour: its commands and its program run."""

from __future__ import annotations

import re
import shlex
from pathlib import Path

import pytest
from click.testing import CliRunner

from groundwire.cli import group
from groundwire.setup.provider_check import JSON_ON
from world import World

GUIDE = (Path(__file__).resolve().parents[2] / "docs" / "guides" / "onboarding.md").read_text()


def blocks(language: str) -> list[str]:
    return re.findall(rf"^```{language}\n(.*?)^```", GUIDE, re.MULTILINE | re.DOTALL)


def test_its_commands_run(world: World, tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.chdir(tmp_path)
    environment = {
        "XDG_CONFIG_HOME": str(tmp_path / "config"),
        "PYTHON_KEYRING_BACKEND": "keyring.backends.fail.Keyring",
        "GROUNDWIRE_STORAGE_URL": "memory://",
        "BRAVE_API_KEY": "test-key",
    }
    for name in ("brave", "tavily", "duckduckgo_lite"):
        environment[f"GROUNDWIRE_PROVIDERS_{name.upper()}_BASE_URL"] = world.service(name).url
    lines = [line for block in blocks("sh") for line in block.splitlines()]
    assert lines
    for line in lines:
        words = shlex.split(line)
        assert words[0] == "groundwire"
        if words[1:] == ["doctor"]:
            words.append("--offline")  # it would ask DuckDuckGo itself
        done = CliRunner(env=environment).invoke(group, words[1:])
        expected = (0, 1) if words[1] == "doctor" else (2,) if words[1:] == ["setup"] else (0,)
        assert done.exit_code in expected, (line, done.output)


def test_its_program_runs(capsys: pytest.CaptureFixture[str]) -> None:
    (program,) = blocks("python")
    exec(compile(program, "onboarding.md", "exec"), {})
    assert "tavily_api_key from https://app.tavily.com" in capsys.readouterr().out


def test_its_yaml_is_what_the_doctor_says() -> None:
    (text,) = blocks("yaml")
    where, what = text.split(":", 1)
    assert re.search(rf"under {where}, write {re.escape(what.strip())}", JSON_ON)
