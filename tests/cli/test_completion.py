"""Completion in shells: the scripts in real ones, and what is offered."""

from __future__ import annotations

import os
import re
import shutil
import subprocess
from collections.abc import Callable, Iterator
from contextlib import AbstractContextManager
from pathlib import Path
from typing import Any

import click
import pytest
from click.shell_completion import ShellComplete

from components.needs import require
from components.shells import Shell, started
from groundwire.cli import group
from groundwire.cli.completion import SHELLS
from groundwire.providers.registry import provider_class, provider_names

Terminal = Any  # see conftest.py

_GUIDE = Path(__file__).resolve().parents[2] / "docs" / "guides" / "installing.md"
_STARTS = {
    "bash": ("--noprofile", "--rcfile", "{home}/.bashrc", "-i"),
    "fish": ("-i",),
    "zsh": ("--no-globalrcs", "-i"),
}
_LAZY_BASH = Path("/usr/share/bash-completion/bash_completion")


def offered(*words: str) -> list[str]:
    """Return what is offered for the last word."""
    *before, last = words
    asked = ShellComplete(group, {}, "groundwire", "_GROUNDWIRE_COMPLETE")
    return [item.value for item in asked.get_completions(before, last)]


@pytest.fixture
def shell(terminal: Terminal, tmp_path: Path) -> Callable[[str], AbstractContextManager[Shell]]:
    """Start a shell for which our script was written as the guide says, and for which `groundwire` is a command."""

    def start(name: str) -> AbstractContextManager[Shell]:
        require(str(_LAZY_BASH) if name == "bash" else name)
        program = shutil.which(name) or name
        places = tmp_path / "bin"
        places.mkdir()
        (places / "groundwire").write_text(f'#!/bin/sh\nexec {terminal.python} -m groundwire "$@"\n')
        (places / "groundwire").chmod(0o755)
        environment = {
            **terminal.environment,
            "PATH": f"{places}:{os.environ['PATH']}",
            "PYTHONPATH": os.environ.get("PYTHONPATH", ""),
            "TERM": "dumb" if name == "bash" else "xterm",
            "COLUMNS": "100",
        }
        (commands,) = re.findall(rf"(?ms)^```sh\n([^`]*groundwire completion {name} >[^`]*)^```", _GUIDE.read_text())
        subprocess.run(["sh", "-eu", "-c", commands], env=environment, cwd=tmp_path, check=True)
        (tmp_path / ".bashrc").write_text(f". {_LAZY_BASH}\n")
        (tmp_path / ".zshrc").write_text("fpath+=~/.zfunc\nautoload -Uz compinit\ncompinit -u -D\n")
        (tmp_path / "report.md").write_text("An answer.\n")
        return started([program, *(one.format(home=tmp_path) for one in _STARTS[name])], environment, str(tmp_path))

    return start


@pytest.mark.parametrize("name", SHELLS)
def test_a_real_shell_completes(name: str, shell: Callable[[str], AbstractContextManager[Shell]]) -> None:
    with shell(name) as keys:
        keys.type("echo rea''dy\n")
        keys.wait_for(r"^ready$")
        keys.type("groundwire sear\t")
        keys.wait_for(r"groundwire search ")
        keys.type("--strat\t")
        keys.wait_for(r"--strategy ")
        keys.type("he\t")
        keys.wait_for(r"hedge ")
        keys.type("-p sear\t")
        keys.wait_for(r"searxng ")
        keys.type("\x15groundwire verify rep\t")
        keys.wait_for(r"report\.md")
        keys.type("\x15groundwire archive \t\t")
        seen = keys.wait_for(r"forget(?s:.*)search")
        assert all(word in seen for word in ("forget", "list", "search"))


def test_the_command_says_what_there_is(terminal: Terminal) -> None:
    wrong = terminal.here("completion", "csh")
    assert wrong.exit_code == 2
    assert "'bash', 'fish', 'zsh'" in wrong.stderr
    assert terminal.here("completion", "zsh").stdout.startswith("#compdef groundwire\n")


def test_what_is_offered() -> None:
    assert offered("comp") == ["completion"]
    assert offered("archive", "") == ["forget", "list", "search"]
    assert offered("config", "show", "--j") == ["--json"]
    assert offered("search", "words", "-t", "") == ["day", "week", "month", "year", "all"]
    assert offered("search", "--strategy", "fu") == ["fuse"]
    assert offered("mcp", "install", "-c", "claude-d") == ["claude-desktop"]
    able = {name: provider_class(name).capabilities for name in provider_names()}
    assert offered("search", "-p", "") == [name for name, can in able.items() if can.search]
    assert offered("open", "--reader", "") == [name for name, can in able.items() if can.read]


def test_a_provider_that_is_broken_is_not_offered(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    information = tmp_path / "lookup-1.0.dist-info"
    information.mkdir()
    (information / "METADATA").write_text("Metadata-Version: 2.1\nName: lookup\nVersion: 1.0\n")
    (information / "entry_points.txt").write_text("[groundwire.providers]\nlookup = lookup_is_not_here:Lookup\n")
    monkeypatch.syspath_prepend(tmp_path)
    assert "lookup" in provider_names()
    assert offered("search", "-p", "lo") == []


def _options(command: click.Command) -> Iterator[click.Option]:
    yield from (param for param in command.params if isinstance(param, click.Option))
    if isinstance(command, click.Group):
        context = click.Context(command)
        for name in command.list_commands(context):
            child = command.get_command(context, name)
            assert child
            yield from _options(child)


def test_each_option_with_a_few_words_offers_them() -> None:
    with click.Context(group) as context:
        lists = [option for option in _options(group) if "|" in (option.metavar or "")]
        assert lists
        for option in lists:
            words = [item.value for item in option.shell_complete(context, "")]
            assert f"[{'|'.join(words)}]" == option.metavar
