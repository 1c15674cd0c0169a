"""What a person sees while waiting: a line on the terminal that says what is under way."""

from __future__ import annotations

import logging
import sys
from collections.abc import Iterator
from contextlib import contextmanager

from groundwire.cli.terminal import clean
from groundwire.models import AttemptStarted, Event, Observer

__all__ = ["progress"]


@contextmanager
def progress(doing: str) -> Iterator[Observer]:
    """Show a spinner on standard error while the block runs, if that is a terminal.

    Args:
        doing: What is under way, such as `Searching`.

    Yields:
        An observer that keeps the line up to date.
    """
    if not sys.stderr.isatty() or logging.getLogger("groundwire").isEnabledFor(logging.INFO):  # the log tells it then
        yield _ignore
        return
    from rich.console import Console
    from rich.markup import escape

    with Console(stderr=True).status(f"{escape(doing)} …") as status:
        failed: list[str] = []

        def observe(event: Event) -> None:
            if isinstance(event, AttemptStarted):
                before = f"{'; '.join(failed)}; " if failed else ""
                status.update(escape(clean(f"{doing}: {before}asking {event.provider} …")))
            elif event.attempt.outcome not in {"ok", "partial"}:
                failed.append(f"{event.attempt.provider} {event.attempt.outcome}")

        yield observe


def _ignore(event: Event) -> None:
    """Nobody is watching."""
