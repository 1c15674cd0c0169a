"""The manual page: up to date, whole, and without a fault that a formatter would find."""

from __future__ import annotations

import os
import re
import shutil
import subprocess
import sys
from pathlib import Path

import click
import pytest

from components.needs import require
from groundwire import __version__
from groundwire.cli import group

ROOT = Path(__file__).resolve().parents[2]
PAGE = ROOT / "docs" / "groundwire.1"
FORMATTERS = {
    "groff": ("groff", "-man", "-Tutf8", "-ww", "-z"),
    "man": ("man", "--warnings", "-E", "UTF-8", "-l", "-Tutf8"),
    "mandoc": ("mandoc", "-Tlint", "-W", "style"),
}


def formatted(name: str, page: Path) -> str:
    """Return what a formatter finds wrong with a page."""
    command = FORMATTERS[name]
    if name != "man":
        require(name)
    elif not shutil.which(name):
        pytest.skip("there is no man on this machine")
    environment = {"PATH": os.environ["PATH"], "HOME": "/nonexistent", "LC_ALL": "C.UTF-8", "MANPAGER": "cat"}
    done = subprocess.run([*command, str(page)], env=environment, capture_output=True, text=True, check=False)
    return done.stdout + done.stderr if name == "mandoc" else done.stderr


def test_it_is_up_to_date() -> None:
    done = subprocess.run([sys.executable, "docs/manual.py", "--check"], cwd=ROOT, stderr=subprocess.PIPE, check=False)
    assert done.returncode == 0, done.stderr


@pytest.mark.parametrize("name", FORMATTERS)
def test_a_formatter_finds_nothing_wrong(name: str, tmp_path: Path) -> None:
    assert formatted(name, PAGE) == ""
    broken = tmp_path / "broken.1"
    broken.write_text(PAGE.read_text() + ".XX wrong\n.nosuch\n")
    assert formatted(name, broken) != ""


def test_it_names_every_command_and_option() -> None:
    plain = re.sub(r"\\f[BIR]|\\&", "", PAGE.read_text()).replace(r"\-", "-")

    def look(command: click.Command, path: str) -> None:
        if path:
            assert f"\n.SS {path}\n" in plain
        context = click.Context(command)
        section = plain.partition(f"\n.SS {path}\n")[2].partition("\n.S")[0] if path else plain
        for param in command.params:
            if isinstance(param, click.Option):
                assert [name for name in param.opts if not re.search(rf"(?m)^.*{name}\b", section)] == []
        if isinstance(command, click.Group):
            for name in command.list_commands(context):
                child = command.get_command(context, name)
                assert child
                if not child.hidden:
                    look(child, f"{path} {name}".strip())

    look(group, "")


def test_it_tells_its_version_and_when_it_was_changed() -> None:
    head = re.search(r"(?m)^\.TH .*$", PAGE.read_text())
    assert head
    assert re.fullmatch(
        rf'\.TH GROUNDWIRE 1 "\d{{4}}-\d\d-\d\d" "groundwire {re.escape(__version__)}" "User Commands"', head[0]
    )
