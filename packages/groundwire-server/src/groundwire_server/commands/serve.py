"""`groundwire serve`, and its preset `groundwire proxy`."""

from __future__ import annotations

import asyncio
import logging
import os
import signal
import socket
import sys
from collections.abc import Callable, Iterator, Mapping
from contextlib import suppress
from dataclasses import dataclass
from importlib import import_module
from pathlib import Path
from tempfile import TemporaryDirectory
from typing import TYPE_CHECKING, Any, Final, NoReturn

import click

from groundwire.cli.call_runner import without_waiting
from groundwire.cli.help_pages import Command
from groundwire.cli.options import search_with
from groundwire.cli.terminal_text import clean, exit_code, log_to_stderr, say_failure, warn, write
from groundwire.errors import ConfigurationError, GroundwireError
from groundwire.settings import ServerSettings, Settings, load
from groundwire_server import fair_loop

if TYPE_CHECKING:  # what lists the commands does not need the server itself
    from groundwire_server.api import Gateway
    from groundwire_server.supervisor import Seat

_logger = logging.getLogger(__name__)

_LOGGER = "groundwire_server"
_SIGNALLED = 128  # plus the number of the signal, as in shells
_UPSTREAM_KEY = "GROUNDWIRE_UPSTREAM_KEY"  # the environment variable
_MOUNTS: Final[Mapping[str, str]] = {
    "/mcp": "MCP",
    "/openai/v1": "OpenAI, with the web",
    "/openai/api": "Ollama, with the web",
    "/openai/v1beta": "Gemini, with the web",
}
_DEFAULTS = ServerSettings.model_construct()
_CLOSING = 10.0  # seconds for closing open resources
_PRELOADED = (
    *("groundwire.mcp_server.handlers", "groundwire.storage.sqlite", "groundwire.web.resources"),
    *("groundwire_server.ui", "uvicorn.lifespan.off", "uvicorn.loops.auto"),
)
"""Modules that each worker would otherwise import for itself, in 0.6 s of CPU time."""
_BACKLOG = 512  # connections that wait to be accepted
_PROXY_GRACE = 3.0  # seconds that running conversations have to end


@click.command(cls=Command, short_help="Serve search and reading over HTTP, for a team.")
@click.option(
    "--host", metavar="NAME", help=f"Listen on this address. By default the setting server.host ({_DEFAULTS.host})."
)
@click.option(
    "--port",
    type=click.IntRange(0, 65_535),
    metavar="N",
    help=f"Port to listen on; 0 picks a free one. By default the setting server.port ({_DEFAULTS.port}).",
)
@click.option(
    "--workers",
    type=click.IntRange(1, 64),
    metavar="N",
    help=f"Number of processes, for several cores. By default the setting server.workers ({_DEFAULTS.workers}).",
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
    workers: int | None,
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
    values: dict[str, Any] = {"server.host": host, "server.port": port, "server.workers": workers}
    values["search.providers"] = providers or None

    def read_settings() -> Settings:
        return load({name: value for name, value in values.items() if value is not None})

    settings = read_settings()
    warn(*settings.warnings)
    context = click.get_current_context()
    if not logging.getLogger(_LOGGER).isEnabledFor(logging.INFO):  # else the log of -v has its records
        as_json = context.find_root().params.get("log_format") == "json"
        context.with_resource(log_to_stderr(1, as_json=as_json, only=_LOGGER))
    options = _Options(upstream, grace, notice, page=not without_page, read_settings=read_settings)
    if settings.server.workers > 1:
        _stop(_supervise(settings, options))
    number = fair_loop.run(without_waiting(lambda: _serve(settings, options)))
    _stop(_SIGNALLED + number if number else 0)


def _stop(code: int) -> NoReturn:
    write("Stopped.", err=True)
    sys.exit(code)


@dataclass(frozen=True, slots=True)
class _Options:
    """The options of `groundwire serve` that are not settings."""

    upstream: str | None
    grace: float
    notice: float
    page: bool
    read_settings: Callable[[], Settings]
    """Reads the settings again."""


async def _serve(settings: Settings, options: _Options, seat: Seat | None = None, listener: Any = None) -> int:
    """Serve in this process; one of several has a seat, and a socket of all."""
    from groundwire_server.api import build_gateway
    from groundwire_server.api.peers import Peers

    key = os.environ.get(_UPSTREAM_KEY, "").strip()
    peers = None if seat is None else Peers(seat.folder, seat.number)
    gateway = build_gateway(settings, upstream=options.upstream, upstream_key=key, page=options.page, peers=peers)

    def ready(address: str) -> None:
        if seat is None or seat.is_first:
            for line in _welcome(gateway, address, page=options.page):
                say(line)
        if seat is not None:
            listener.listen(_BACKLOG)  # asyncio has set it to the number of connections that it accepts at a time
            seat.ready()

    where = settings.server.host, settings.server.port
    more: dict[str, Any] = {"grace": options.grace, "notice": options.notice, "read_settings": options.read_settings}
    if seat is None or peers is None:
        return await run_server(gateway, *where, ready, **more)
    from groundwire_server.uvicorn_runner import serving

    loop = asyncio.get_running_loop()

    def stop() -> None:
        loop.remove_reader(seat.parent)
        os.kill(os.getpid(), signal.SIGTERM)

    loop.add_reader(seat.parent, stop)
    own = socket.socket(socket.AF_UNIX)
    try:
        own.bind(str(peers.socket))
    except OSError as error:
        text = f"The workers cannot have sockets in {seat.folder}: {error}. Set TMPDIR to a folder with a short path."
        raise ConfigurationError(text) from error
    own.listen(_BACKLOG)
    async with serving(peers, options={}, listener=own):  # the other workers have limits for their clients
        try:
            return await run_server(gateway, *where, ready, listener=listener, retire=peers.leave, **more)
        finally:
            await peers.aclose()


def _supervise(settings: Settings, options: _Options) -> int:
    """Serve in several processes, and return the exit code.

    Raises:
        ConfigurationError: listening is not possible, or the processes would share no store.
    """
    from groundwire_server.api.app import differences
    from groundwire_server.auth import CHANGEABLE, KeyFile, check_listening, key_file_of
    from groundwire_server.supervisor import Supervisor
    from groundwire_server.uvicorn_runner import listen

    def check(new: Settings) -> Settings:
        if new.server.workers > 1 and new.storage.url.startswith("memory:"):
            text = "Several workers must share a store. Set storage.url to sqlite:// or to a Valkey server."
            raise ConfigurationError(
                f"server.workers is {new.server.workers}, and storage.url {new.storage.url}. {text}"
            )
        check_listening(new, KeyFile(key_file_of(new)))
        return new

    current = [check(settings)]
    for name in _PRELOADED:
        import_module(name)

    def work_with(new: Settings) -> Callable[[Seat], int]:
        def work(seat: Seat) -> int:
            try:
                fair_loop.run(without_waiting(lambda: _serve(new, options, seat, listener)))
            except GroundwireError as error:
                say_failure(error)
                return exit_code(error)
            return 0

        return work

    def hang_up(supervisor: Supervisor) -> None:
        try:
            new = check(options.read_settings())
        except ConfigurationError as error:
            _logger.error("The settings are not reloaded: %s", error)
            return
        here = current[0].server.model_dump(include={"host", "port"})
        if fixed := {name for name in here if getattr(new.server, name) != here[name]}:
            _logger.warning("These settings change only when the server is started again: %s", ", ".join(fixed))
            new = new.model_copy(update={"server": new.server.model_copy(update=here)})
        changed = set(differences(current[0], new))
        current[0] = new
        if changed <= {f"server.{name}" for name in CHANGEABLE}:
            supervisor.update(work_with(new))
            supervisor.signal(signal.SIGHUP)
        else:
            _logger.info("Workers are replaced; changed settings: %s", ", ".join(sorted(changed)))
            supervisor.replace(work_with(new), new.server.workers)

    with (
        listen(settings.server.host, settings.server.port) as listener,
        TemporaryDirectory(prefix="groundwire-") as name,
    ):
        return Supervisor(
            work_with(settings),
            settings.server.workers,
            Path(name),
            hang_up=hang_up,
            grace=options.notice + options.grace + 2 * _CLOSING,
        ).run()


async def run_server(
    gateway: Gateway,
    host: str,
    port: int,
    ready: Callable[[str], None],
    *,
    grace: float,
    notice: float = 0.0,
    read_settings: Callable[[], Settings] | None = None,
    listener: socket.socket | None = None,
    retire: Callable[[], None] | None = None,
) -> int:
    """Serve until the process is asked to end, close the gateway, and return the number of the signal.

    Args:
        gateway: The gateway to serve, from either command.
        host: The host to listen on.
        port: The port; 0 uses a free one.
        ready: Called with the URL when the server accepts requests.
        grace: Seconds that running calls have to end.
        notice: Seconds before that in which new calls are still accepted.
        read_settings: Reads the settings again, on SIGHUP.
        listener: A socket that listens there, which other processes have, too.
        retire: Called when this process is to leave it to the others.

    Raises:
        ConfigurationError: listening there is not possible.
    """
    from groundwire_server.uvicorn_runner import bounded, listen, run

    limits = gateway.web.settings.server
    options = bounded(
        head_timeout=limits.header_timeout, connections=limits.max_connections, admission=gateway.admission
    )
    if listener is not None:
        options["backlog"] = 1  # connections that are accepted at a time: the other processes get their share
    try:
        with listener or listen(host, port) as listener:
            url_host = f"[{host}]" if ":" in host else host
            address = f"http://{url_host}:{listener.getsockname()[1]}"
            await gateway.start()
            return await run(
                gateway,
                listener,
                lambda: ready(address),
                calls=gateway.traffic,
                grace=grace,
                notice=notice,
                say=say if retire is None else lambda _: None,
                options=options,
                reload=None if read_settings is None else lambda: gateway.reload(read_settings),
                retire=retire,
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
def proxy(upstream: str, host: str, port: int) -> None:
    """Serve an OpenAI-compatible API whose models can search the web and open pages.

    Chat completions and responses are sent to the model server with two more tools, whose calls run here; answers come
    back with citations. Other requests are forwarded unchanged. The client's key goes to the model server only.

    This is a preset of groundwire serve with that endpoint alone; the limits and keys of [server] apply.
    """
    settings = load()
    warn(*settings.warnings)
    number = fair_loop.run(without_waiting(lambda: _serve_proxy(settings, upstream, host, port)))
    _stop(_SIGNALLED + number if number else 0)


async def _serve_proxy(settings: Settings, upstream: str, host: str, port: int) -> int:
    from groundwire_server.api import build_proxy
    from groundwire_server.openai.upstream import Upstream

    gateway = build_proxy(upstream, settings, host=host)

    def ready(address: str) -> None:
        say(f"Ready at {address}/v1 for {Upstream(upstream).display_url}.\nControl-C stops it.")
        if gateway.asks_for_keys:
            say("Clients send a key of groundwire keys as X-API-Key, and the model server's own key as usual.")

    return await run_server(gateway, host, port, ready, grace=_PROXY_GRACE)
