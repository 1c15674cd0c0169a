"""`groundwire session`."""

from __future__ import annotations

import json
import sys

import click

from groundwire.cli.call_runner import run, say_error
from groundwire.cli.exit_codes import ExitCode, exit_code
from groundwire.cli.terminal_text import clean, escaped
from groundwire.errors import GroundwireError
from groundwire.web import Web

__all__ = ["session"]

_EXIT_CODES = """\b
Exit codes:
  0  done
  2  wrong use: an argument or a setting
  3  the store cannot be read"""


@click.command(epilog=_EXIT_CODES, short_help="Show what a session has used, or begin it anew.")
@click.argument("name")
@click.option("--reset", is_flag=True, help="Begin it anew: its limits are whole, its citations begin at [1].")
@click.option("--json", "as_json", is_flag=True, help="Print JSON and nothing else.")
def session(name: str, reset: bool, as_json: bool) -> None:
    """Show what the session NAME has used of its limits, or begin it anew.

    NAME is the setting session.id of the processes that share it.
    """

    async def call(web: Web) -> dict[str, float | None]:
        if reset:
            await web.reset_session()
        return {**await web.usage(), "limit": web.settings.session.max_searches or None}

    try:
        used = run("Reading the session", {"session.id": name}, call)
    except GroundwireError as error:
        say_error(str(error))
        sys.exit(exit_code(error))
    if as_json:
        click.echo(escaped(json.dumps({"session": name, **used})))
    else:
        of = f" of {used['limit']}" if used["limit"] else ""
        text = (
            f"{used['searches']:g}{of} searches, {used['cost_usd']:.4f} US dollars, {used['tokens']:g} tokens of pages"
        )
        click.echo(clean(f"{name}: {text}"))
    sys.exit(ExitCode.OK)
