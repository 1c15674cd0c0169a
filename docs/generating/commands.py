"""The page of commands, from the parsers of the command line."""

from __future__ import annotations

import re
from collections.abc import Iterator

import click

from generating.docstrings import attribute_docs, row
from groundwire.cli import group
from groundwire.cli.terminal_text import ExitCode

_WIDTH = 100  # columns
_HELP_OPTION = re.compile(r"^  -h, --help .*\n", re.MULTILINE)
_NO_OPTIONS = re.compile(r"^Options:\n(?:\n|\Z)", re.MULTILINE)


def commands() -> str:
    """Return the page."""
    return "\n\n".join(
        [
            "# Commands",
            "The output of `--help` for every command, without the line of `--help` itself. "
            "`groundwire -v COMMAND` logs to standard error.",
            *_command(group, "groundwire", {}),
            "## Exit codes",
            "\n".join(_exit_codes()),
        ]
    )


def _command(command: click.Command, path: str, seen: dict[str, str]) -> Iterator[str]:
    context = click.Context(
        command, info_name=path, terminal_width=_WIDTH, max_content_width=_WIDTH, help_option_names=["-h", "--help"]
    )
    yield f"## `{path}`"
    text = _NO_OPTIONS.sub("", _HELP_OPTION.sub("", command.get_help(context) + "\n")).rstrip()
    _, _, said = text.partition("\n")
    if said in seen:
        yield f"The same as `{seen[said]}`."
        return
    seen[said] = path
    yield f"```text\n{text}\n```"
    if isinstance(command, click.Group):
        for name in command.list_commands(context):
            if (child := command.get_command(context, name)) is not None:
                yield from _command(child, f"{path} {name}", seen)


def _exit_codes() -> Iterator[str]:
    yield "| code | name | meaning |"
    yield "| --- | --- | --- |"
    docs = attribute_docs(ExitCode)
    for code in ExitCode:
        yield row(str(code.value), f"`{code.name}`", docs[code.name])
