"""The command line: `groundwire search`, `open`, `demo`, `config show`."""

from __future__ import annotations

import click

from groundwire._version import __version__
from groundwire.cli.config import config
from groundwire.cli.demo import demo
from groundwire.cli.open import open_
from groundwire.cli.search import search

__all__ = ["group", "main"]


@click.group(context_settings={"help_option_names": ["-h", "--help"]})
@click.version_option(__version__, prog_name="groundwire")
def group() -> None:
    """The web for AI agents: search it, open its pages as Markdown."""


group.add_command(search)
group.add_command(open_)
group.add_command(demo)
group.add_command(config)


def main() -> None:
    """Run the command line; the process ends with the command's exit code."""
    group(prog_name="groundwire")
