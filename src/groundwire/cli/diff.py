"""A change of a file, shown before it is made."""

from __future__ import annotations

import difflib
from pathlib import Path

from groundwire.cli.terminal import clean

__all__ = ["diff"]


def diff(path: Path, before: str, after: str) -> str:
    """Return what a file loses and gains, as `diff -u` shows it."""
    lines = difflib.unified_diff(
        before.splitlines(keepends=True), after.splitlines(keepends=True), str(path), str(path)
    )
    return clean("".join(line if line.endswith("\n") else f"{line}\n" for line in lines))
