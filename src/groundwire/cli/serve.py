"""`groundwire serve`."""

from __future__ import annotations

import asyncio
import sys
from ipaddress import ip_address

import click

from groundwire.cli.codes import exit_code
from groundwire.cli.run import say_error, warn
from groundwire.cli.terminal import clean
from groundwire.errors import ConfigurationError, GroundwireError
from groundwire.settings import Settings, load

__all__ = ["serve"]

_SIGNALLED = 128  # and the number of the signal, as shells have it
_CLOSING = 10.0  # seconds for closing what is open
_EPILOG = """\b
Exit codes:
  130 or 143  stopped by Control-C or SIGTERM
  2           wrong use: an argument or a setting"""


@click.command(short_help="Serve searching and reading to many programs over HTTP.", epilog=_EPILOG)
@click.option("--host", default="127.0.0.1", show_default=True, metavar="NAME", help="Where to listen.")
@click.option(
    "--port",
    type=click.IntRange(0, 65_535),
    default=8780,
    show_default=True,
    metavar="N",
    help="Where to listen; 0 is any free port.",
)
@click.option(
    "--at-once",
    type=click.IntRange(1, 10_000),
    default=256,
    show_default=True,
    metavar="N",
    help="Most calls at the same time; further ones are told to try again.",
)
@click.option(
    "--grace",
    type=click.FloatRange(0, 3_600),
    default=30,
    show_default=True,
    metavar="SECONDS",
    help="For running calls to end in, once the gateway is asked to stop.",
)
@click.option(
    "--notice",
    type=click.FloatRange(0, 600),
    default=0,
    show_default=True,
    metavar="SECONDS",
    help="For load balancers to see at /readyz that the gateway is ending; calls are taken until then.",
)
def serve(host: str, port: int, at_once: int, grace: float, notice: float) -> None:
    """Serve searching and reading over HTTP: one service for the agents of a team."""
    try:
        settings = load()
        for warning in settings.warnings:
            warn(warning)
        number = asyncio.run(_serve(settings, host, port, at_once, grace, notice))
    except GroundwireError as error:
        say_error(str(error))
        sys.exit(exit_code(error))
    click.echo("Stopped.", err=True)
    sys.exit(_SIGNALLED + number if number else 0)


async def _serve(settings: Settings, host: str, port: int, at_once: int, grace: float, notice: float) -> int:
    try:
        from groundwire.server.http import build_gateway
        from groundwire.server.http.running import run_gateway
        from groundwire.server.serving import listen
    except ModuleNotFoundError as error:
        raise ConfigurationError(
            f'The gateway needs {error.name}, which is not installed: pip install "groundwire[server]".'
        ) from error
    if not _is_loopback(host):
        raise ConfigurationError(
            f"The gateway would listen on {host}, where other machines reach it, and it has no keys. "
            "Listen on 127.0.0.1."
        )
    gateway = build_gateway(settings, at_once=at_once)
    try:
        with listen(host, port) as listener:
            shown = f"[{host}]" if ":" in host else host
            address = f"http://{shown}:{listener.getsockname()[1]}"
            return await run_gateway(
                gateway, listener, lambda: _say(f"Ready at {address}"), grace=grace, say=_say, notice=notice
            )
    finally:
        async with asyncio.timeout(_CLOSING):
            await gateway.aclose()


def _say(text: str) -> None:
    click.echo(clean(text), err=True)


def _is_loopback(host: str) -> bool:
    if host.lower() == "localhost":
        return True
    try:
        return ip_address(host).is_loopback
    except ValueError:
        return False
