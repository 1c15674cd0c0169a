"""`groundwire config`."""

from __future__ import annotations

import json
import sys

import click

from groundwire.cli.codes import ExitCode
from groundwire.cli.run import warn
from groundwire.errors import ConfigurationError
from groundwire.settings import load

__all__ = ["config"]


@click.group()
def config() -> None:
    """Look at the settings."""


@config.command()
@click.option("--json", "as_json", is_flag=True, help="Print a JSON list of {key, value, origin}.")
def show(as_json: bool) -> None:
    """Print what is in force and where each value came from; secrets are masked."""
    try:
        settings = load()
    except ConfigurationError as error:
        click.echo(click.style("Error: ", fg="red", bold=True) + str(error), err=True)
        sys.exit(ExitCode.WRONG_USE)
    rows = settings.rows()
    if as_json:
        click.echo(json.dumps([row.model_dump() for row in rows], indent=2))
    else:
        key_width = max(len(row.key) for row in rows)
        value_width = min(40, max(len(row.value) for row in rows))
        for row in rows:
            origin = click.style(row.origin, dim=row.origin == "default")
            click.echo(f"{row.key:<{key_width}}  {row.value:<{value_width}}  {origin}")
    for warning in settings.warnings:
        warn(warning)
