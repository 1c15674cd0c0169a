"""Running one call of a `Web` for a command, with progress, and saying things on standard error."""

from __future__ import annotations

import asyncio
import logging
from collections.abc import Awaitable, Callable, Mapping
from concurrent.futures import ThreadPoolExecutor
from typing import Any, TypeVar

import click

from groundwire.cli.progress import progress
from groundwire.cli.terminal import clean
from groundwire.models import AttemptStarted, Event
from groundwire.settings import load
from groundwire.web import Web

__all__ = ["run", "say_error", "warn", "without_waiting"]

_logger = logging.getLogger(__name__)

_GRACE_SECONDS = 2.0  # seconds; a stale answer was shown, and the next call should have a fresh one
_T = TypeVar("_T")


def run(doing: str, arguments: Mapping[str, Any], call: Callable[[Web], Awaitable[_T]]) -> _T:
    """Make a `Web`, run one call, close it.

    Args:
        doing: What is under way, for the person who waits.
        arguments: Settings by dotted key that the command line gave; None means not given.
        call: The call.

    Raises:
        GroundwireError: what the call raised, or what is wrong with the settings.
    """
    settings = load({key: value for key, value in arguments.items() if value is not None})
    for warning in settings.warnings:
        warn(warning)

    async def whole() -> _T:
        with progress(doing) as shown:

            def observe(event: Event) -> None:
                _log(event)
                shown(event)

            async with Web(settings, attempt_listener=observe) as web:
                if "search.providers" in arguments:
                    for reason in web.skipped:
                        warn(reason)
                result = await call(web)
                await web.aclose(grace_seconds=_GRACE_SECONDS)
                return result

    return asyncio.run(without_waiting(whole))


async def without_waiting(work: Callable[[], Awaitable[_T]]) -> _T:
    """Await `work`, and leave behind threads that cannot be stopped, such as one that still resolves a name.

    `asyncio.run` waits for the loop's executor, so it gets an idle one at the end.
    """
    loop = asyncio.get_running_loop()
    threads = ThreadPoolExecutor(thread_name_prefix="groundwire-cli")
    loop.set_default_executor(threads)
    try:
        return await work()
    finally:
        threads.shutdown(wait=False, cancel_futures=True)
        loop.set_default_executor(ThreadPoolExecutor(1))


def _log(event: Event) -> None:
    if isinstance(event, AttemptStarted):
        _logger.info("Asking %s", event.provider)
    else:
        _logger.info("%s", event.attempt.describe())


def say_error(text: str) -> None:
    """Say on standard error what went wrong."""
    click.echo(click.style("Error: ", fg="red", bold=True) + clean(text), err=True)


def warn(text: str) -> None:
    """Say on standard error what a person should know."""
    click.echo(click.style("Note: ", fg="yellow") + clean(text), err=True)
