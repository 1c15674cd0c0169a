"""`groundwire export`."""

from __future__ import annotations

import sys
from pathlib import Path

import click

from groundwire.cli.exit_codes import ExitCode
from groundwire.cli.terminal_text import say_error
from groundwire.integrations.hosts.extension import export_extension

__all__ = ["export"]

_EPILOG = """\b
Exit codes:
  0  written
  2  a file already exists with different content, or cannot be written"""


@click.group(short_help="Write the files that an agent host loads.")
def export() -> None:
    """Write the files from which an agent host loads Groundwire."""


@export.command(short_help="Write an extension: manifest.yaml and main.py.", epilog=_EPILOG)
@click.option("--force", is_flag=True, help="Overwrite existing files.")
@click.argument("folder", metavar="DIR", type=click.Path(file_okay=False, path_type=Path))
def extension(folder: Path, force: bool) -> None:
    """Write manifest.yaml and main.py into DIR: an extension with the tools web_search and open_page."""
    try:
        written = export_extension(folder, force=force)
    except OSError as error:
        say_error(f"{folder} cannot be written: {error.strerror or error}.")
        sys.exit(ExitCode.WRONG_USE)
    for path in written:
        click.echo(path)
