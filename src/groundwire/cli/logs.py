"""Log lines on standard error, when they are asked for."""

from __future__ import annotations

import logging
from collections.abc import Iterator
from contextlib import contextmanager

from groundwire.cli.terminal import clean

__all__ = ["log_to_stderr"]


class _Cleaning(logging.Formatter):
    """A formatter whose lines cannot steer the terminal."""

    def format(self, record: logging.LogRecord) -> str:
        return clean(super().format(record))


@contextmanager
def log_to_stderr(verbose: int) -> Iterator[None]:
    """Write the log to standard error while the block runs.

    Args:
        verbose: 0 nothing at all, 1 what Groundwire does, 2 or more everything that anybody says.
    """
    root, ours = logging.getLogger(), logging.getLogger("groundwire")
    handler = logging.StreamHandler() if verbose else logging.NullHandler()
    handler.setFormatter(_Cleaning("%(levelname)s %(name)s: %(message)s"))
    before = root.level, ours.level
    root.addHandler(handler)
    if verbose:
        ours.setLevel(logging.DEBUG if verbose > 1 else logging.INFO)
    if verbose > 1:
        root.setLevel(logging.DEBUG)
    try:
        yield
    finally:
        root.removeHandler(handler)
        root.setLevel(before[0])
        ours.setLevel(before[1])
