"""`groundwire serve`, and its preset `groundwire proxy`."""

from __future__ import annotations

import asyncio
import logging
import os
import sys
from collections.abc import Callable, Iterator, Mapping
from contextlib import suppress
from typing import TYPE_CHECKING, Any, Final

import click

from groundwire.cli.call_runner import without_waiting
from groundwire.cli.completion import search_with
from groundwire.cli.help_pages import Command
from groundwire.cli.terminal_text import clean, log_to_stderr, warn, write
from groundwire.settings import ServerSettings, Settings, load

if TYPE_CHECKING:  # what lists the commands does not need the server itself
    from groundwire_server.api import Gateway

__all__ = ["proxy", "run_server", "say", "serve"]

_LOGGER = "groundwire_server"
_SIGNALLED = 128  # plus the number of the signal, as in shells
_UPSTREAM_KEY = "GROUNDWIRE_UPSTREAM_KEY"  # the environment variable
_MOUNTS: Final[Mapping[str, str]] = {
    "/mcp": "MCP",
    "/openai/v1": "OpenAI, with the web",
    "/openai/api": "Ollama, with the web",
    "/openai/v1beta": "Gemini, with the web",
    "/openai/health": "is the model server there",
}
_USUAL = ServerSettings.model_construct()
_CLOSING = 10.0  # seconds for closing open resources
_PROXY_GRACE = 3.0  # seconds that running conversations have to end


@click.command(cls=Command, short_help="Serve search and reading over HTTP, for a team.")
@click.option(
    "--host", metavar="NAME", help=f"Listen on this address. By default the setting server.host ({_USUAL.host})."
)
@click.option(
    "--port",
    type=click.IntRange(0, 65_535),
    metavar="N",
    help=f"Port to listen on; 0 picks a free one. By default the setting server.port ({_USUAL.port}).",
)
@click.option(
    "--upstream",
    metavar="URL",
    help="Base URL of an OpenAI-compatible API whose models get web search, at /openai/v1. "
    f"Clients without a key use the one in {_UPSTREAM_KEY}.",
)
@click.option(
    "--grace",
    type=click.FloatRange(0, 3_600),
    default=30,
    show_default=True,
    metavar="SECONDS",
    help="Grace period for running calls when the gateway is stopped.",
)
@click.option(
    "--notice",
    type=click.FloatRange(0, 600),
    default=0,
    show_default=True,
    metavar="SECONDS",
    help="Seconds for which /readyz reports the shutdown while calls are still accepted.",
)
@search_with
@click.option("--no-page", "without_page", is_flag=True, help="Serve no web page at /.")
def serve(
    host: str | None,
    port: int | None,
    upstream: str | None,
    grace: float,
    notice: float,
    providers: tuple[str, ...],
    without_page: bool,
) -> None:
    """Serve search and reading over HTTP: one service for the agents of a team.

    On loopback it needs no API key until one exists; on other addresses it always does. Create one with
    groundwire keys create. SIGTERM stops it once running calls have ended; a second signal stops it at once.
    """
    given = {"server.host": host, "server.port": port, "search.providers": providers or None}

    def read() -> Settings:
        return load({name: value for name, value in given.items() if value is not None})

    settings = read()
    warn(*settings.warnings)
    context = click.get_current_context()
    if not logging.getLogger(_LOGGER).isEnabledFor(logging.INFO):  # else the log of -v has its records
        as_json = context.find_root().params.get("log_format") == "json"
        context.with_resource(log_to_stderr(1, as_json=as_json, only=_LOGGER))
    number = asyncio.run(
        without_waiting(lambda: _serve(settings, upstream, grace, notice, page=not without_page, read=read))
    )
    write("Stopped.", err=True)
    sys.exit(_SIGNALLED + number if number else 0)


async def _serve(
    settings: Settings,
    upstream: str | None,
    grace: float,
    notice: float,
    *,
    page: bool,
    read: Callable[[], Settings],
) -> int:
    from groundwire_server.api import build_gateway

    key = os.environ.get(_UPSTREAM_KEY, "").strip()
    gateway = build_gateway(settings, upstream=upstream, upstream_key=key, page=page)

    def ready(address: str) -> None:
        for line in _welcome(gateway, address, page=page):
            say(line)

    where = settings.server.host, settings.server.port
    return await run_server(gateway, *where, ready, grace=grace, notice=notice, read=read)


async def run_server(
    gateway: Gateway,
    host: str,
    port: int,
    ready: Callable[[str], None],
    *,
    grace: float,
    notice: float = 0.0,
    read: Callable[[], Settings] | None = None,
) -> int:
    """Serve until the process is asked to end, close the gateway, and return the number of the signal.

    Args:
        gateway: The gateway to serve, from either command.
        host: The host to listen on.
        port: The port; 0 uses a free one.
        ready: Called with the URL when the server accepts requests.
        grace: Seconds that running calls have to end.
        notice: Seconds before that in which new calls are still accepted.
        read: Reads the settings again, on SIGHUP.

    Raises:
        ConfigurationError: listening there is not possible.
    """
    from groundwire_server.uvicorn_runner import bounded, listen, run

    limits = gateway.web.settings.server
    options = bounded(head_timeout=limits.header_timeout, connections=limits.max_connections)
    try:
        with listen(host, port) as listener:
            shown = f"[{host}]" if ":" in host else host
            address = f"http://{shown}:{listener.getsockname()[1]}"
            await gateway.start()
            return await run(
                gateway,
                listener,
                lambda: ready(address),
                calls=gateway,
                grace=grace,
                notice=notice,
                say=say,
                options=options,
                reload=None if read is None else lambda: gateway.reload(read),
            )
    finally:
        with suppress(TimeoutError):
            async with asyncio.timeout(_CLOSING):
                await gateway.aclose()


def _welcome(gateway: Gateway, address: str, *, page: bool) -> Iterator[str]:
    """Yield what to tell a person who has just started a gateway."""
    yield f"Groundwire is ready at {address}"
    rows = [
        ("search, read, answer", "/v1/search  /v1/pages  /v1/ask  /v1/verify"),
        ("as SearXNG or Perplexity", "/search"),
    ]
    rows += [(_MOUNTS[path], path) for path in gateway.paths if path in _MOUNTS]
    rows += [("API description", "/openapi.json"), ("health and metrics", "/healthz  /readyz  /metrics")]
    if page:
        rows.insert(0, ("the web page", "/"))
    for what, paths in rows:
        yield f"  {what:<26}{paths}"
    providers = ", ".join(provider.name for provider in gateway.web.search_providers)
    yield f"  {'searches with':<26}{providers}"
    for reason in gateway.web.skipped:
        yield f"  {'not used':<26}{reason}"
    yield f"  {'keys':<26}{'required' if gateway.asks_for_keys else 'none, for this machine only'}"
    yield "Control-C stops it."


def say(text: str) -> None:
    """Print a line for the operator."""
    write(clean(text), err=True)


_PROXY_EPILOG = "Then point a client at it: export OPENAI_BASE_URL=http://127.0.0.1:8790/v1"


@click.command(
    cls=Command, short_help="Add web search to the models of an OpenAI-compatible server.", epilog=_PROXY_EPILOG
)
@click.option(
    "--upstream",
    required=True,
    metavar="URL",
    help="Base URL of the model server's API, such as http://127.0.0.1:11434/v1 (Ollama).",
)
@click.option("--host", default="127.0.0.1", show_default=True, metavar="NAME", help="Address to listen on.")
@click.option(
    "--port",
    type=click.IntRange(0, 65_535),
    default=8790,
    show_default=True,
    metavar="N",
    help="Port to listen on; 0 picks a free one.",
)
@click.option("--session", metavar="NAME", help="One budget for all conversations; by default each has its own.")
@click.option(
    "--max-rounds",
    type=click.IntRange(1, 100),
    default=12,
    show_default=True,
    metavar="N",
    help="Maximum number of model calls per request.",
)
@click.option(
    "--timeout",
    type=click.FloatRange(1, 86_400),
    default=900,
    show_default=True,
    metavar="SECONDS",
    help="Timeout of one request, including its searches.",
)
def proxy(upstream: str, host: str, port: int, session: str | None, max_rounds: int, timeout: float) -> None:
    """Serve an OpenAI-compatible API whose models can search the web and open pages.

    Chat completions and responses are sent to the model server with two more tools, whose calls run here; answers come
    back with citations. Other requests are forwarded unchanged. The client's key goes to the model server only.

    This is a preset of groundwire serve with that endpoint alone; the limits and keys of [server] apply.
    """
    settings = load()
    warn(*settings.warnings)
    options = {"session": session, "max_rounds": max_rounds, "timeout": timeout}
    number = asyncio.run(without_waiting(lambda: _serve_proxy(settings, upstream, host, port, options)))
    write("Stopped.", err=True)
    sys.exit(_SIGNALLED + number if number else 0)


async def _serve_proxy(settings: Settings, upstream: str, host: str, port: int, options: Mapping[str, Any]) -> int:
    from groundwire_server.api import build_proxy
    from groundwire_server.openai.upstream import Upstream

    gateway = build_proxy(upstream, settings, host=host, **options)

    def ready(address: str) -> None:
        say(f"Ready at {address}/v1 for {Upstream(upstream).shown}.\nControl-C stops it.")
        if gateway.asks_for_keys:
            say("Clients send a key of groundwire keys as X-API-Key, and the model server's own key as usual.")

    return await run_server(gateway, host, port, ready, grace=_PROXY_GRACE)
