"""`groundwire demo`: the whole path on a miniature web, without network or key.

`groundwire demo --serve`: a miniature web to practice on, until it is stopped.
"""

from __future__ import annotations

import asyncio
import json
import os
import re
import signal
import sys
import tempfile
import textwrap
import time
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path
from typing import NoReturn

import click

from groundwire.cli.help_pages import Command
from groundwire.cli.terminal_text import ExitCode, say_error, write
from groundwire.errors import ConfigurationError
from groundwire.models import Attempt, AttemptFinished, Event
from groundwire.settings import Settings
from groundwire.settings.sources import DEMO_LINE
from groundwire.testing.fault_injection import InjectedFault
from groundwire.testing.model_apis import ModelServer, quoting
from groundwire.testing.model_apis.scripted_turns import first_sentence
from groundwire.testing.world import World
from groundwire.tools import OpenPageToolResult, WebSearchToolResult, length_note, web_tools
from groundwire.web import Web

_QUESTION = "reciprocal rank fusion"
_FIRST, _SECOND = "searxng:first", "searxng:second"
_EXCERPT = 900  # characters of the page that are shown
_ELSEWHERE = "Run this in an empty folder that you may write to, on a disk with free space."


@click.command(cls=Command)
@click.option("--serve", is_flag=True, help="Keep the miniature web running, to try other commands.")
@click.option(
    "--port",
    type=click.IntRange(0, 65_000),
    default=8800,
    show_default=True,
    metavar="N",
    help="With --serve: the first port to listen on; 0 picks free ones.",
)
def demo(serve: bool, port: int) -> None:
    """Search, open and cite pages of a miniature web on this machine: no network, no keys.

    Only the outside world is a miniature; the rest is the code of a real search.

    With --serve, the miniature web runs until Control-C. Meanwhile, groundwire.toml in this folder points every command
    here to it.
    """
    if serve:
        practice(port)
        return
    with World(named=True) as world:
        ok = asyncio.run(_show(world))
    sys.exit(ExitCode.OK if ok else ExitCode.FAILED)


async def _show(world: World) -> bool:
    second = world.add_searxng("second")
    world.searxng.fail(InjectedFault.status(429, headers={"Retry-After": "7"}))
    settings = Settings.model_validate(
        {
            "search": {"providers": (_FIRST, _SECOND)},
            "policy": {"allowed_origins": world.origins},
            "storage": {"url": "memory://"},
            "archive": {"enabled": False},
            "providers": {_FIRST: {"base_url": world.searxng.url}, _SECOND: {"base_url": second.url}},
        }
    )
    write("Groundwire end to end on a miniature web on this machine: no network, no keys.")
    _step("World", f"{len(world.sites)} sites and 2 SearXNG services on loopback; the first one returns 429")
    async with Web(settings, attempt_listener=_print_attempt, resolver=world.resolver) as web:
        web_search, open_page = web_tools(web)
        _step("Search", f"web_search(query={_QUESTION!r}, limit=3)")
        result = await web_search.call(query=_QUESTION, limit=3)
        if not isinstance(result, WebSearchToolResult) or not result.results:
            return _failed(result.error)
        for row in result.results:
            write(f"    [{row.citation_id}] {click.style(row.title, bold=True)}")
            write(f"        {row.url}\n        {' '.join(row.snippet.split())}")
        best = result.results[0]
        _step("Open", f"open_page(url={best.url!r}, max_length={_EXCERPT})")
        page = await open_page.call(url=best.url, max_length=_EXCERPT)
        if not isinstance(page, OpenPageToolResult) or page.status == "error":
            return _failed(page.error)
        write(f"    {click.style(page.title, bold=True)} ({length_note(page)})\n")
        write(textwrap.indent(_without_escapes(page.content), "    | ", lambda line: True))
    _step("Cite", "an answer as a model writes it, and its sources")
    write(f"    {first_sentence(page.content)} [{best.citation_id}].\n\n    Sources")
    for source in result.sources:
        used = "opened" if source.citation_id == best.citation_id else "found"
        write(f"    [{source.citation_id}] {source.title} - {source.url} ({used})")
    write(f'\nNow the real web, if this machine has a network:\n    groundwire search "{_QUESTION}"')
    return True


def _step(name: str, text: str) -> None:
    write("\n" + click.style(f"{name:<7}", fg="green", bold=True) + text, hang=7)


def _print_attempt(event: Event) -> None:
    """Print each attempt as it ends."""
    if isinstance(event, AttemptFinished):
        write("    " + _line(event.attempt))


def _line(attempt: Attempt) -> str:
    status = f" (HTTP {attempt.status})" if attempt.status else ""
    again = f", retry after {attempt.retry_after:,.10g} s" if attempt.retry_after else ""
    good = attempt.outcome in {"ok", "partial"}
    mark = click.style("ok  ", fg="green") if good else click.style("next", fg="yellow")
    return f"{mark} {attempt.provider}: {attempt.outcome}{status}{again}, {attempt.latency_ms} ms"


def _without_escapes(content: str) -> str:
    """Return Markdown as a person reads it, without the signs that keep a formula from being markup."""
    return re.sub(r"\\([_*\[\]])", r"\1", re.sub(r"\n{3,}", "\n\n", content))


def _failed(reason: str) -> bool:
    say_error(f"The demo failed: {reason}")
    return False


def practice(port: int) -> None:
    """Serve the miniature web and an emulated model until Control-C or SIGTERM.

    Args:
        port: The first of its ports; 0 uses free ones.
    """
    file = Path("groundwire.toml")
    if file.exists() and not file.read_text(encoding="utf-8", errors="replace").startswith(DEMO_LINE):
        say_error("groundwire.toml already exists here and was not changed. Run this in an empty folder.")
        sys.exit(ExitCode.WRONG_USE)
    world = World(port=port)
    models = world.add(ModelServer(quoting, listed=("miniature",)))
    try:
        world.start()
    except OSError as error:
        say_error(
            f"The ports starting at {port} cannot be used ({os.strerror(error.errno or 0)}). Choose others with --port."
        )
        sys.exit(ExitCode.WRONG_USE)
    signal.signal(signal.SIGTERM, lambda number, _: sys.exit(128 + number))  # as shells have it
    try:
        with _settings(file, world, models.url):
            _serve_until_stopped(len(world.sites), models.url)
    finally:
        world.stop()


def _serve_until_stopped(sites: int, models: str) -> NoReturn:
    try:  # a signal may come as soon as the address is read
        write(f"groundwire.toml here points to a miniature web of {sites} sites and a search service.")
        write(f"A stand-in for a model: {models}/v1. Control-C stops both.")
        while True:
            time.sleep(3_600)  # until a signal comes: Windows has no signal.pause
    finally:
        write("Stopped.")


@contextmanager
def _settings(file: Path, world: World, models: str) -> Iterator[None]:
    """Write the settings file, and remove it afterwards unless it was changed in the meantime."""
    with tempfile.TemporaryDirectory(prefix="groundwire-demo-") as folder:  # nothing outlives the demo
        text = f"""{DEMO_LINE}{os.getpid()}
[search]
providers = ["searxng"]

[providers.searxng]
base_url = "{world.searxng.url}"

[policy] # local addresses are blocked for pages and agents, except these
allowed_origins = {json.dumps([site.url for site in world.sites.values()])}

[answer] # a stand-in for a model, which quotes
base_url = "{models}/v1"

[storage]
url = "sqlite:///{folder}/store.sqlite3"

[archive]
path = "{folder}/archive.db"
"""
        try:
            file.write_text(text, encoding="utf-8")
        except OSError as error:
            file.unlink(missing_ok=True)
            path = file.absolute()
            raise ConfigurationError(f"{path} cannot be written: {error.strerror}. {_ELSEWHERE}") from error
        try:
            yield
        finally:
            content = file.read_text(encoding="utf-8", errors="replace") if file.exists() else ""
            if content == text:
                file.unlink()
            elif content.startswith(DEMO_LINE):  # changed by the user
                file.write_text(content.partition("\n")[2], encoding="utf-8")
