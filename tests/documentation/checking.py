"""Blocks that are read and not run: data by its parser, and what cannot run here as far as it can be checked."""

from __future__ import annotations

import ast
import json
import re
import shlex
import subprocess
import tomllib
from collections.abc import Callable, Mapping
from pathlib import Path
from types import CodeType, MappingProxyType

import click
import promql_parser
import yaml

from components.markdown_blocks import ROOT, Block
from groundwire.cli import group
from groundwire.settings import Settings, load


def compiled(block: Block) -> CodeType:
    """Return a Python block as code in which `await` may stand outside of functions.

    Raises:
        SyntaxError: It is no Python.
    """
    code: CodeType = compile(block.text, block.where, "exec", ast.PyCF_ALLOW_TOP_LEVEL_AWAIT)
    return code


def check_data(block: Block, folder: Path) -> None:
    """Read a block of data.

    Args:
        block: The block.
        folder: Where files may be written.

    Raises:
        ValueError: It cannot be read.
    """
    DATA[block.language](block.text, folder)


def _toml(text: str, folder: Path) -> None:
    """Read TOML; what has only sections of ours must be settings that are valid."""
    sections = tomllib.loads(text)
    if set(sections) <= set(Settings.model_fields):
        (folder / "groundwire.toml").write_text(text)
        assert load(environment={}, folder=folder, user_folder=folder / "none").warnings == ()


def _promql(text: str, folder: Path) -> None:
    for query in text.strip().split("\n\n"):
        promql_parser.parse(query)


DATA: Mapping[str, Callable[[str, Path], object]] = MappingProxyType(
    {
        "json": lambda text, folder: json.loads(text),
        "promql": _promql,
        "toml": _toml,
        "yaml": lambda text, folder: list(yaml.safe_load_all(text)),
    }
)
"""The languages of data, and what reads each."""


def check_unrun(block: Block) -> None:
    """Check what can be checked of code that cannot run here: its grammar, and commands, options and extras of ours.

    Raises:
        Exception: Something is wrong with it.
    """
    if block.language == "python":
        compiled(block)
        return
    text = "\n".join(line.removeprefix("$ ") for line in block.text.splitlines() if _is_command(block, line))
    subprocess.run(["bash", "-n"], input=text, text=True, check=True, capture_output=True)
    for line in text.replace("\\\n", " ").splitlines():
        words = shlex.split(line, comments=True)
        for number, word in enumerate(words):
            if re.search(r"(?:^|/)groundwire$", word) and (
                number == 0 or words[number - 1] in {"&&", "|", "--", ";", "||"}
            ):
                check_command(words[number + 1 :])
                break
        for extra in re.findall(r"(?:groundwire|\.)\[([\w,-]+)\]", line):
            assert set(extra.split(",")) <= _extras(), f"{block.where}: there is no extra {extra}"


def _is_command(block: Block, line: str) -> bool:
    return block.language != "console" or line.startswith("$ ")


def check_command(words: list[str]) -> None:
    """Parse the arguments of a `groundwire` command without running it.

    Raises:
        click.UsageError: There is no such command or option, or an argument is missing.
    """
    end = next(
        (number for number, word in enumerate(words) if word in {"&&", "||", "|", "&", ">", "<", ";"}), len(words)
    )
    rest = words[:end]
    command: click.Command = group
    context = click.Context(command, info_name="groundwire", **group.context_settings)
    while isinstance(command, click.Group) and rest and not rest[0].startswith("-"):
        child = command.get_command(context, rest[0])
        if child is None:
            raise click.UsageError(f"No such command {rest[0]!r}")
        command, rest = child, rest[1:]
        context = click.Context(command, parent=context, info_name=command.name)
    command.make_parser(context).parse_args(list(rest))


def _extras() -> set[str]:
    return set(tomllib.loads((ROOT / "pyproject.toml").read_text())["project"]["optional-dependencies"])


def check_claim(block: Block, claim: str) -> None:
    """Check that the test which is said to run a block is there, and speaks of its document.

    Raises:
        AssertionError: It is not, or does not.
    """
    path, _, name = claim.partition("::")
    file = ROOT / path
    assert path.startswith(("tests/", "packages/groundwire-server/tests/")), f"{block.where}: {claim} is no test"
    assert file.is_file(), f"{block.where}: there is no file {path}"
    text = file.read_text(encoding="utf-8")
    functions = {
        node.name for node in ast.walk(ast.parse(text)) if isinstance(node, (ast.FunctionDef, ast.AsyncFunctionDef))
    }
    assert name.rpartition("::")[2] in functions, f"{block.where}: {path} has no test {name}"
    stem = Path(block.document).stem
    whole = re.search(rf"[\"'/]{re.escape(stem)}\.md[\"']", text)
    pieced = "}.md" in text and re.search(rf"[\"']{re.escape(stem)}[\"']", text)
    assert whole or pieced, f"{block.where}: {path} does not name {stem}.md"
