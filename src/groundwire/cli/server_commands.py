"""The commands of the distribution groundwire-server, by their entry points; without it, each says what to install."""

from __future__ import annotations

import sys
from collections.abc import Mapping
from types import MappingProxyType
from typing import Any, Final, NoReturn

import click

from groundwire._version import __version__, install_server
from groundwire.cli.help_pages import Command
from groundwire.errors import ConfigurationError

SERVER_COMMANDS: Final[Mapping[str, str]] = MappingProxyType(
    {
        "keys": "Create, list and revoke API keys.",
        "proxy": "Add web search to the models of an OpenAI-compatible server.",
        "serve": "Serve search and reading over HTTP, for a team.",
    }
)
"""The commands of the operator, and what they do."""


def server_entry(name: str, command: str) -> Any:
    """Return what an entry point of the group `groundwire.commands` names.

    Args:
        name: The name of the entry point.
        command: The command that needs it, for the error.

    Raises:
        ConfigurationError: groundwire-server is not installed, its version is another one, or this is Windows.
    """
    from importlib.metadata import entry_points  # a server that a client starts does not wait for it

    if str(sys.platform) == "win32":
        raise ConfigurationError(f"{command} does not run on Windows: run it in WSL 2 or in a container.")
    for entry in entry_points(group="groundwire.commands", name=name):
        version = entry.dist.version if entry.dist else ""
        if version != __version__:
            raise ConfigurationError(
                f"{command} needs groundwire-server {__version__}; {version} is installed: {install_server()}."
            )
        return entry.load()
    raise ConfigurationError(f"{command} needs groundwire-server, which is not installed: {install_server()}.")


def server_command(name: str) -> click.Command:
    """Return a command of groundwire-server, or one that says what to install.

    Args:
        name: The name of the command.
    """
    try:
        command: click.Command = server_entry(name, f"groundwire {name}")
    except ConfigurationError as error:
        return _missing(name, error)
    return command


def _missing(name: str, error: ConfigurationError) -> click.Command:
    def fail(arguments: tuple[str, ...]) -> NoReturn:
        raise error

    return Command(
        name,
        callback=fail,
        params=[click.Argument(["arguments"], nargs=-1, type=click.UNPROCESSED)],
        context_settings={"ignore_unknown_options": True},
        add_help_option=False,
        short_help=SERVER_COMMANDS[name],
    )
