"""The Agent Skill: it is written once, has the form of a skill, and names only commands and options that there are."""

from __future__ import annotations

import re
import shlex
from pathlib import Path

import click
import pytest
import yaml
from click.testing import CliRunner

from groundwire.cli import group


@pytest.mark.req("B15")
def test_a_skill_is_written(tmp_path: Path) -> None:
    folder = tmp_path / "skills"
    done = CliRunner().invoke(group, ["export", "skill", str(folder)])
    path = folder / "groundwire" / "SKILL.md"
    assert (done.exit_code, done.output.split()) == (0, [str(path)])
    _, front, body = path.read_text("utf-8").split("---\n", 2)
    said = yaml.safe_load(front)
    assert (said["name"], len(said["description"]) <= 1_024) == (path.parent.name, True)
    for line in re.findall(r"^groundwire .*$", body, re.MULTILINE):
        _, name, *words = shlex.split(line)
        command = group.get_command(click.Context(group), name)
        assert command is not None, line
        options = {option for parameter in command.params for option in parameter.opts}
        assert {word for word in words if word.startswith("-")} <= options, line
    assert CliRunner().invoke(group, ["export", "skill", str(folder)]).exit_code == 0
    path.write_text("other", "utf-8")
    again = CliRunner().invoke(group, ["export", "skill", str(folder)])
    assert (again.exit_code, "Pass --force" in again.output) == (2, True)
    assert CliRunner().invoke(group, ["export", "skill", "--force", str(folder)]).exit_code == 0
