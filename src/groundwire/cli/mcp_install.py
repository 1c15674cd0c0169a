"""`groundwire mcp install` and `groundwire mcp uninstall`."""

from __future__ import annotations

import sys
from collections.abc import Callable
from datetime import datetime
from pathlib import Path
from typing import TYPE_CHECKING

import click
from click.shell_completion import CompletionItem

from groundwire.cli.codes import ExitCode
from groundwire.cli.diff import diff
from groundwire.cli.terminal import clean
from groundwire.errors import ConfigurationError

if TYPE_CHECKING:
    from groundwire.server.mcp.install import Change, Client

    _Name = click.ParamType[str]
else:
    _Name = click.ParamType  # generic since click 8.4

__all__ = ["install", "uninstall"]

_EXIT_CODES = """\b
Exit codes:
  0  the configuration is as it should be
  2  wrong use, or nothing was changed"""


class _ClientName(_Name):
    """The name of a client, looked up when it is used: a server that starts needs no table of clients."""

    name = "name"

    def convert(self, value: str, param: click.Parameter | None, ctx: click.Context | None) -> str:
        from groundwire.server.mcp.install import CLIENTS

        if value.lower() not in CLIENTS:
            self.fail(f"{value!r} is not known; the clients are {', '.join(CLIENTS)}.", param, ctx)
        return value.lower()

    def shell_complete(self, ctx: click.Context, param: click.Parameter, incomplete: str) -> list[CompletionItem[str]]:
        from groundwire.server.mcp.install import CLIENTS

        return [CompletionItem(name) for name in CLIENTS if name.startswith(incomplete)]


_client = click.option("--client", "-c", required=True, type=_ClientName(), help="Whose configuration; see above.")
_print = click.option("--print", "only_print", is_flag=True, help="Show the change and make none.")
_yes = click.option("--yes", "-y", is_flag=True, help="Do not ask, not even where comments would be lost.")


@click.command(short_help="Write the server into a client's configuration.", epilog=_EXIT_CODES)
@_client
@_print
@_yes
def install(client: str, only_print: bool, yes: bool) -> None:
    """Write the server into a client's configuration.

    The change is shown before it is made, and a copy of the file is kept. Clients: claude-code, claude-code-project,
    claude-desktop, cline, codex, cursor, gemini, lm-studio, vscode, vscode-project, windsurf, zed.
    """
    from groundwire.server.mcp.install import install as change

    _apply(client, lambda whose, text: change(whose, text, _command()), only_print=only_print, yes=yes)


@click.command(short_help="Take the server out of a client's configuration.", epilog=_EXIT_CODES)
@_client
@_print
@_yes
def uninstall(client: str, only_print: bool, yes: bool) -> None:
    """Take the server out of a client's configuration."""
    from groundwire.server.mcp.install import uninstall as change

    _apply(client, change, only_print=only_print, yes=yes)


def _apply(name: str, make: Callable[[Client, str], Change], *, only_print: bool, yes: bool) -> None:
    from groundwire.server.mcp.install import CLIENTS, Host, read, replace

    client = CLIENTS[name]
    path = client.file(Host.here())
    try:
        change = make(client, read(path))
        if change.before == change.after:
            _say(f"{path} is as it should be; nothing was changed.")
            return
        click.echo(diff(path, change.before, change.after), nl=False)
        if change.loses_comments:
            _say("Note: the comments of this file will be lost; add the entry by hand to keep them.")
        if only_print:
            return
        if not yes and change.loses_comments:
            raise ConfigurationError("Nothing was changed. Give --yes to lose the comments; a copy is kept.")
        if not yes and not _asked(f"Change the configuration of {client.title}?"):
            _say("Nothing was changed.")
            sys.exit(ExitCode.WRONG_USE)
        copy = replace(path, change.after, datetime.now())  # noqa: DTZ005  # a name for the user, in the user's time
    except ConfigurationError as error:
        _say(f"Error: {error}")
        sys.exit(ExitCode.WRONG_USE)
    kept = f" What it was is kept in {copy}." if copy else ""
    _say(f"{path} was changed.{kept} Restart {client.title.partition(',')[0]} to use it.")


def _asked(question: str) -> bool:
    try:
        return click.confirm(question, default=False, err=True)
    except click.Abort:  # nobody there to answer
        return False


def _command() -> tuple[str, ...]:
    """Return what starts the server, by a whole path: desktop programs know nothing of a shell's PATH."""
    for name in ("groundwire", "groundwire.exe"):
        script = Path(sys.executable).with_name(name)
        if script.is_file():
            return str(script), "mcp"
    return sys.executable, "-m", "groundwire", "mcp"


def _say(text: str) -> None:
    click.echo(clean(text), err=True)
