"""`groundwire mcp --http`: a preset of `groundwire serve` with MCP alone."""

from __future__ import annotations

import signal

from groundwire.cli.call_runner import without_waiting
from groundwire.cli.terminal_text import warn
from groundwire.settings import Settings, load
from groundwire_server import fair_loop
from groundwire_server.api import build_mcp
from groundwire_server.commands.serve import run_server, say

_GRACE = 2.0  # seconds for running calls when the server is stopped


def serve_mcp(providers: tuple[str, ...], host: str, port: int) -> None:
    """Serve MCP over streamable HTTP until the process is asked to end.

    Args:
        providers: The search providers; none are those of the settings.
        host: The address to listen on.
        port: The port; 0 picks a free one.

    Raises:
        ConfigurationError: a setting is invalid, or listening there is not possible.
        KeyboardInterrupt: Control-C ended it.
    """
    settings = load({"search.providers": providers} if providers else None)
    warn(*settings.warnings)
    fair_loop.run(without_waiting(lambda: _serve_preset(settings, host, port)))


async def _serve_preset(settings: Settings, host: str, port: int) -> None:
    gateway = build_mcp(settings, host=host)
    key = "with an access token or an API key" if settings.server.oauth.issuers else "with an API key"
    how = key if gateway.asks_for_keys else "without a key, for this machine only"

    def ready(address: str) -> None:
        say(f"Serving MCP at {address}/mcp, {how}.")

    if await run_server(gateway, host, port, ready, grace=_GRACE) == signal.SIGINT:
        raise KeyboardInterrupt
