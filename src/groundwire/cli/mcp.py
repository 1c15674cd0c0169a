"""`groundwire mcp`: the server, and its entry in the configurations of clients."""

from __future__ import annotations

import asyncio
import gc
import os
import sys
from importlib.util import find_spec
from pathlib import Path

import click

from groundwire.cli.codes import ExitCode, exit_code
from groundwire.cli.mcp_install import install, uninstall
from groundwire.cli.terminal import clean
from groundwire.errors import ConfigurationError, GroundwireError

__all__ = ["mcp"]

_TOKEN = "GROUNDWIRE_MCP_TOKEN"  # noqa: S105  # the variable's name
_EXIT_CODES = """\b
Exit codes:
  0  the client closed its end, or the server was asked to end
  2  wrong use: an argument or a setting
  3  the server failed"""


@click.group(invoke_without_command=True, short_help="Serve the tools to MCP clients.", epilog=_EXIT_CODES)
@click.option("--http", is_flag=True, help="Serve streamable HTTP at /mcp instead of standard input and output.")
@click.option("--sse", is_flag=True, help="With HTTP, serve the older SSE transport at /sse, too.")
@click.option("--host", default="127.0.0.1", show_default=True, help="Where to listen.")
@click.option("--port", type=click.IntRange(0, 65535), default=8765, show_default=True, help="0 takes a free one.")
@click.option(
    "--token-file",
    type=click.Path(exists=True, dir_okay=False, path_type=Path),
    help=f"Clients must send the token in this file, or in the variable {_TOKEN}, as their bearer token.",
)
@click.option(
    "--allowed-host", "allowed_hosts", multiple=True, metavar="NAME", help="A name to be called by; repeatable."
)
@click.pass_context
def mcp(
    ctx: click.Context,
    http: bool,
    sse: bool,
    host: str,
    port: int,
    token_file: Path | None,
    allowed_hosts: tuple[str, ...],
) -> None:
    """Serve web_search and open_page by the Model Context Protocol.

    By default over standard input and output, as clients start it. What the server has to say goes to standard error.
    """
    if ctx.invoked_subcommand is not None:
        return
    for name in ("host", "port", "token_file", "allowed_hosts"):
        if not (http or sse) and ctx.get_parameter_source(name) is click.core.ParameterSource.COMMANDLINE:
            raise click.UsageError(f"--{name.rstrip('s').replace('_', '-')} is for HTTP: give --http, too.")
    try:
        if find_spec("mcp") is None:
            raise ConfigurationError('The MCP SDK is not installed: pip install "groundwire[mcp]"')
        if http or sse:
            _serve_http(host, port, token_file, allowed_hosts, sse=sse)
        else:
            _serve_stdio()
    except KeyboardInterrupt:
        sys.exit(ExitCode.OK)
    except GroundwireError as error:
        _say(f"Error: {error}")
        sys.exit(exit_code(error))


def _serve_stdio() -> None:
    from groundwire.server.mcp.sdk import load_server_only
    from groundwire.server.mcp.stdio import claimed_streams, serve_stdio

    with claimed_streams() as (incoming, outgoing):
        gc.disable()  # loading makes many objects and no garbage
        load_server_only()
        from groundwire.settings import load

        settings = load()
        for warning in settings.warnings:
            _say(f"Note: {warning}")
        gc.enable()
        serve_stdio(settings, incoming, outgoing, complain=lambda text: _say(f"Error: {text}"))


def _serve_http(host: str, port: int, token_file: Path | None, allowed_hosts: tuple[str, ...], *, sse: bool) -> None:
    from groundwire.server.listening import listen
    from groundwire.server.mcp.gate import Gate
    from groundwire.server.mcp.http import check_gate, serve_http
    from groundwire.settings import load

    gate = Gate(host=host, token=_token(token_file), allowed_hosts=frozenset(name.lower() for name in allowed_hosts))
    check_gate(gate)
    settings = load()
    for warning in settings.warnings:
        _say(f"Note: {warning}")

    def ready(address: str) -> None:
        more = f" and SSE at {address}/sse" if sse else ""
        how = "with the token" if gate.token else "without a token, for this machine only"
        _say(f"Serving MCP at {address}/mcp{more}, {how}.")

    with listen(host, port) as sock:
        asyncio.run(serve_http(settings, gate, sock, sse=sse, ready=ready))


def _token(file: Path | None) -> str:
    """Return the token; a file is stronger than the variable.

    Raises:
        ConfigurationError: the file cannot be read, or holds nothing.
    """
    if file is None:
        return os.environ.get(_TOKEN, "").strip()
    try:
        token = file.read_text(encoding="utf-8").strip()
    except (OSError, UnicodeDecodeError) as error:
        raise ConfigurationError(f"The token file {file} cannot be read: {error}.") from error
    if not token:
        raise ConfigurationError(f"The token file {file} is empty. Write the token into it.")
    return token


def _say(text: str) -> None:
    click.echo(clean(text), err=True)


mcp.add_command(install)
mcp.add_command(uninstall)
