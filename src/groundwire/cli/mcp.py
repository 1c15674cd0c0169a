"""`groundwire mcp` and `groundwire export`: the server, and the files by which clients and hosts start it."""

from __future__ import annotations

import gc
import os
import sys
from datetime import datetime
from pathlib import Path

import click

from groundwire.cli.help_pages import Command, Group
from groundwire.cli.options import search_with
from groundwire.cli.server_commands import server_entry
from groundwire.cli.terminal_text import (
    ExitCode,
    clean,
    confirmed,
    diff,
    say_error,
    warn,
    write,
)
from groundwire.errors import ConfigurationError


def _known_client(ctx: click.Context, param: click.Parameter, value: str) -> str:
    """Return the name of a client; a starting server does not need the table of clients."""
    from groundwire.mcp_server.client_configs import CLIENTS

    if value.lower() not in CLIENTS:
        raise click.BadParameter(f"{value!r} is not a known client; choose one of {', '.join(CLIENTS)}.", ctx, param)
    return value.lower()


class _ForClient(Command):
    """A command for one client, whose name may stand without --client."""

    def parse_args(self, ctx: click.Context, args: list[str]) -> list[str]:
        if args and not args[0].startswith("-"):
            args = ["--client", *args]
        return super().parse_args(ctx, args)


_CLIENT_NAMES = """
Clients: claude-code, claude-code-project, claude-desktop, cline, cline-cli,
codelia, codex, continue, copilot-cli, cursor, gemini, junie, kiro, lm-studio,
opencode, roo, squidbot, vscode, vscode-project, windsurf, zed."""


@click.command(
    cls=_ForClient,
    epilog=_CLIENT_NAMES,
)
@click.option(
    "--client",
    "-c",
    required=True,
    callback=_known_client,
    metavar="NAME",
    help="The client to configure; see below.",
)
@click.option("--print", "only_print", is_flag=True, help="Show the change without making it.")
@click.option("--yes", "-y", is_flag=True, help="Do not ask, even if comments would be lost.")
def install(client: str, only_print: bool, yes: bool) -> None:
    """Add the server to a client's configuration.

    The change is shown before it is made, and the old file is backed up.
    """
    from groundwire.mcp_server.client_configs import CLIENTS, has_comments
    from groundwire.mcp_server.client_configs import install as changed
    from groundwire.mcp_server.stdio import check_sdk
    from groundwire.settings.user_folders import read, replace

    check_sdk()
    config = CLIENTS[client]
    path = config.file(sys.platform, Path.home(), os.environ)
    before = read(path)
    after = changed(config, before, _command())
    loses_comments = config.format != "toml" and has_comments(before)
    if before == after:
        _say(f"{path} is already up to date; nothing was changed.")
        return
    write(diff(path, before, after).rstrip("\n"))
    if loses_comments:
        warn("the comments of this file will be lost; add the entry by hand to keep them.")
    if only_print:
        return
    if not yes and loses_comments:
        raise ConfigurationError("Nothing was changed. Pass --yes to drop the comments; a backup is saved.")
    if not yes and not confirmed(f"Change the configuration of {config.title}?"):
        _say("Nothing was changed.")
        sys.exit(ExitCode.WRONG_USE)
    copy = replace(path, after, datetime.now())  # noqa: DTZ005  # a name for the user, in the user's time
    backup_note = f" The previous version is saved as {copy}." if copy else ""
    _say(f"{path} was changed.{backup_note} Restart {config.title.partition(',')[0]} to use it.")


def _command() -> tuple[str, ...]:
    """Return the command that starts the server, with an absolute path: desktop programs do not use a shell's PATH."""
    for name in ("groundwire", "groundwire.exe"):
        script = Path(sys.executable).with_name(name)
        if script.is_file():
            return str(script), "mcp"
    return sys.executable, "-m", "groundwire", "mcp"


_EPILOG = """Configuration of most clients, which groundwire mcp install writes:

  {"mcpServers": {"groundwire": {"command": "groundwire", "args": ["mcp"]}}}"""


@click.group(cls=Group, invoke_without_command=True, epilog=_EPILOG)
@click.option("--http", is_flag=True, help="Serve streamable HTTP at /mcp instead of standard input and output.")
@search_with
@click.option("--host", default="127.0.0.1", show_default=True, help="Address to listen on.")
@click.option(
    "--port",
    type=click.IntRange(0, 65535),
    default=8765,
    show_default=True,
    help="Port to listen on; 0 picks a free one.",
)
@click.pass_context
def mcp(ctx: click.Context, http: bool, providers: tuple[str, ...], host: str, port: int) -> None:
    """Serve web_search and open_page over the Model Context Protocol.

    The default transport is standard input and output; log messages go to standard error. With --http, it is
    groundwire serve with MCP alone: the keys and limits of [server] apply. This needs groundwire-server.
    """
    if ctx.invoked_subcommand is not None:
        return
    for name in ("host", "port"):
        if not http and ctx.get_parameter_source(name) is click.core.ParameterSource.COMMANDLINE:
            raise click.UsageError(f"--{name} requires --http.")
    if http:
        server_entry("mcp-http", "groundwire mcp --http")(providers, host, port)
        return
    from groundwire.mcp_server.stdio import check_sdk

    check_sdk()
    _serve_stdio(providers)


def _serve_stdio(providers: tuple[str, ...]) -> None:
    from groundwire.mcp_server.stdio import claimed_streams, serve_stdio

    with claimed_streams() as (incoming, outgoing):
        gc.disable()  # loading creates many objects and no garbage
        from groundwire.settings import load

        settings = load({"search.providers": providers} if providers else None)
        warn(*settings.warnings)
        gc.enable()
        serve_stdio(settings, incoming, outgoing, complain=say_error)


def _say(text: str) -> None:
    write(clean(text), err=True)


mcp.add_command(install)


@click.command(cls=Command)
@click.option("--force", is_flag=True, help="Overwrite existing files.")
@click.argument("kind", type=click.Choice(["extension", "skill"]))
@click.argument("folder", metavar="DIR", type=click.Path(file_okay=False, path_type=Path))
def export(kind: str, folder: Path, force: bool) -> None:
    """Write the files from which an agent host loads Groundwire into DIR.

    An extension is manifest.yaml and main.py, with the tools web_search and open_page. A skill is groundwire/SKILL.md,
    for a folder of skills such as .claude/skills: agents with a shell read it.
    """
    from groundwire.integrations.hosts.extension import export_extension
    from groundwire.integrations.hosts.skill import export_skill
    from groundwire.settings.user_folders import os_reason

    try:
        files = export_extension(folder, force=force) if kind == "extension" else (export_skill(folder, force=force),)
    except OSError as error:
        say_error(f"{folder} cannot be written: {os_reason(error, folder)}.")
        sys.exit(ExitCode.WRONG_USE)
    for path in files:
        write(clean(str(path)))
