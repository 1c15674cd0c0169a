"""`groundwire demo --serve`: a miniature web to practise on, until it is stopped."""

from __future__ import annotations

import json
import os
import signal
import sys
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path
from types import FrameType

import click

from groundwire.cli.codes import ExitCode
from groundwire.cli.run import say_error
from groundwire.testing.model_apis import ModelServer, quoting
from groundwire.testing.world import World

__all__ = ["practise"]

_FIRST_LINE = "# Written by `groundwire demo --serve`, and removed when it ends."


def practise(port: int) -> None:
    """Serve the miniature web and a stand-in for a model until Control-C or SIGTERM.

    Args:
        port: The first of its ports; 0 takes any free ones.
    """
    file = Path("groundwire.toml")
    if file.exists() and not file.read_text(encoding="utf-8", errors="replace").startswith(_FIRST_LINE):
        say_error("There is a groundwire.toml here already, and it stays as it is. Run this in an empty folder.")
        sys.exit(ExitCode.WRONG_USE)
    world = World(port=port)
    models = world.add(ModelServer(quoting))
    try:
        world.start()
    except OSError as error:
        say_error(
            f"The ports from {port} on cannot be used ({os.strerror(error.errno or 0)}). Choose others with --port."
        )
        sys.exit(ExitCode.WRONG_USE)
    try:
        with _stopped_by_sigterm(), _settings(file, world):
            _serve_until_stopped(len(world.sites), models.url)
    finally:
        world.stop()


def _serve_until_stopped(sites: int, models: str) -> None:
    try:
        click.echo(f"groundwire.toml here leads to a miniature web of {sites} sites and a search service.")
        click.echo(f"A stand-in for a model answers at {models}/v1. Control-C stops both.")
        while True:
            signal.pause()
    except KeyboardInterrupt:
        click.echo("Stopped.")


@contextmanager
def _settings(file: Path, world: World) -> Iterator[None]:
    """Write the settings, and take them away again unless somebody changed them."""
    text = f"""{_FIRST_LINE}
[search]
providers = ["searxng"]

[providers.searxng]
base_url = "{world.searxng.url}"

[policy] # what lies on this machine is closed to pages and agents, but for these
allow_origins = {json.dumps([site.url for site in world.sites.values()])}
"""
    file.write_text(text, encoding="utf-8")
    try:
        yield
    finally:
        if file.exists() and file.read_text(encoding="utf-8", errors="replace") == text:
            file.unlink()


@contextmanager
def _stopped_by_sigterm() -> Iterator[None]:
    """Let SIGTERM end the block as Control-C does."""

    def stop(number: int, frame: FrameType | None) -> None:
        raise KeyboardInterrupt

    before = signal.signal(signal.SIGTERM, stop)
    try:
        yield
    finally:
        signal.signal(signal.SIGTERM, before)
