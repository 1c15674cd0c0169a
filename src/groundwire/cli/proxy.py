"""`groundwire proxy`."""

from __future__ import annotations

import asyncio
import sys

import click

from groundwire.cli.codes import exit_code
from groundwire.cli.run import say_error, warn
from groundwire.errors import ConfigurationError, GroundwireError
from groundwire.settings import Settings, load
from groundwire.web import Web

__all__ = ["proxy"]

_SIGNALLED = 128  # and the number of the signal, as shells have it
_EPILOG = """\b
Then point a client at it:
  export OPENAI_BASE_URL=http://127.0.0.1:8790/v1

\b
Exit codes:
  130 or 143  stopped by Control-C or SIGTERM
  2           wrong use: an argument or a setting"""


@click.command(short_help="Give the web to the models of an OpenAI-compatible server.", epilog=_EPILOG)
@click.option(
    "--upstream",
    required=True,
    metavar="URL",
    help="Where the model server's API begins, such as http://127.0.0.1:11434/v1 (Ollama).",
)
@click.option("--host", default="127.0.0.1", show_default=True, metavar="NAME", help="Where to listen.")
@click.option(
    "--port",
    type=click.IntRange(0, 65_535),
    default=8790,
    show_default=True,
    metavar="N",
    help="Where to listen; 0 is any free port.",
)
@click.option("--session", metavar="NAME", help="One budget for all conversations; by default each has one of its own.")
@click.option(
    "--max-rounds",
    type=click.IntRange(1, 100),
    default=12,
    show_default=True,
    metavar="N",
    help="Most calls of the model for one request.",
)
@click.option(
    "--timeout",
    type=click.FloatRange(1, 86_400),
    default=900,
    show_default=True,
    metavar="SECONDS",
    help="For one request, with all its searches.",
)
def proxy(upstream: str, host: str, port: int, session: str | None, max_rounds: int, timeout: float) -> None:
    """Serve an OpenAI-compatible API whose models can search the web and open pages.

    Chat completions and responses go to the model server with two more tools; their calls are made here, and the
    answer comes back with citations. All else is passed on. The client's key goes to the model server only.
    """
    try:
        settings = load()
        for warning in settings.warnings:
            warn(warning)
        number = asyncio.run(_serve(settings, upstream, host, port, session, max_rounds, timeout))
    except GroundwireError as error:
        say_error(str(error))
        sys.exit(exit_code(error))
    click.echo("Stopped.", err=True)
    sys.exit(_SIGNALLED + number if number else 0)


async def _serve(
    settings: Settings, upstream: str, host: str, port: int, session: str | None, max_rounds: int, timeout: float
) -> int:
    try:
        from groundwire.server.listening import listen
        from groundwire.server.names import LOOPBACK, is_loopback
        from groundwire.server.proxy import Proxy
        from groundwire.server.serving import serve
    except ModuleNotFoundError as error:
        raise ConfigurationError(
            f'The proxy needs {error.name}, which is not installed: pip install "groundwire[server]".'
        ) from error
    ours = is_loopback(host)
    if not ours:
        warn(f"Everybody who can reach {host} can search through this proxy and use the model server behind it.")
    async with Web(settings) as web:
        made = Proxy(
            web,
            upstream,
            session=session,
            max_rounds=max_rounds,
            timeout=timeout,
            hosts=LOOPBACK | {host.lower()} if ours else None,
        )
        with listen(host, port) as listener:
            shown = f"[{host}]" if ":" in host else host
            address = f"http://{shown}:{listener.getsockname()[1]}/v1"
            try:
                return await serve(
                    made.app,
                    listener,
                    lambda: click.echo(f"Ready at {address} for {made.upstream.shown}. Control-C stops it.", err=True),
                )
            finally:
                await made.aclose()
