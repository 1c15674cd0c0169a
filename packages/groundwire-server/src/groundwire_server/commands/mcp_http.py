"""`groundwire mcp --http`: a preset of `groundwire serve` with MCP alone."""

from __future__ import annotations

import os
import signal
from pathlib import Path

from groundwire.cli.call_runner import without_waiting
from groundwire.cli.terminal_text import warn
from groundwire.errors import ConfigurationError
from groundwire.settings import Settings, load
from groundwire_server import fair_loop
from groundwire_server.api import build_mcp
from groundwire_server.commands.serve import run_server, say

__all__ = ["serve_mcp"]

_GRACE = 2.0  # seconds for running calls when the server is stopped
_TOKEN = "GROUNDWIRE_MCP_TOKEN"  # noqa: S105  # the environment variable


def serve_mcp(
    providers: tuple[str, ...],
    host: str,
    port: int,
    token_file: Path | None,
    allowed_hosts: tuple[str, ...],
    *,
    sse: bool,
) -> None:
    """Serve MCP over streamable HTTP until the process is asked to end.

    Args:
        providers: The search providers; none are those of the settings.
        host: The address to listen on.
        port: The port; 0 picks a free one.
        token_file: The file with the token that clients send.
        allowed_hosts: Host names for requests, beside those of the settings.
        sse: Whether to serve the older SSE transport, too.

    Raises:
        ConfigurationError: a setting or the token is invalid, or listening there is not possible.
        KeyboardInterrupt: Control-C ended it.
    """
    settings = load({"search.providers": providers} if providers else None)
    warn(*settings.warnings)
    fair_loop.run(without_waiting(lambda: _serve_preset(settings, host, port, _token(token_file), allowed_hosts, sse)))


async def _serve_preset(
    settings: Settings, host: str, port: int, token: str, allowed_hosts: tuple[str, ...], sse: bool
) -> None:
    gateway = build_mcp(settings, host=host, token=token, allowed_hosts=allowed_hosts, sse=sse)
    open_to_all = "without a token, for this machine only"
    key = "with an access token or an API key" if settings.server.oauth.issuers else "with an API key"
    how = "with the token" if token else key if gateway.asks_for_keys else open_to_all

    def ready(address: str) -> None:
        more = f" and SSE at {address}/sse" if sse else ""
        say(f"Serving MCP at {address}/mcp{more}, {how}.")

    if await run_server(gateway, host, port, ready, grace=_GRACE) == signal.SIGINT:
        raise KeyboardInterrupt


def _token(file: Path | None) -> str:
    """Return the token; a file takes precedence over the variable.

    Raises:
        ConfigurationError: the file cannot be read, or is empty.
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
