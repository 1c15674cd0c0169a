"""The archive as a JSON Lines file: all lines are validated before any is imported."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from typing import IO, TYPE_CHECKING, NamedTuple

from groundwire.storage.archive.records import read_line
from groundwire.storage.base import StoreError

if TYPE_CHECKING:
    from sqlite3 import Connection

__all__ = ["ImportRefused", "Imported", "Progress", "check_lines", "take_in"]

_LONGEST_LINE = 32_000_000  # bytes
_MOST_PROBLEMS = 20  # lines that are named
_EVERY = 100  # lines between two progress reports

Progress = Callable[[int], object]
"""Called with the additional progress: bytes of an import, entries of an export. It may run on another thread."""


class ImportRefused(StoreError):
    """A file was not imported at all, because some of its lines are invalid.

    Args:
        problems: The number of a line, from 1, and what is wrong with it.
        more: How many more lines are wrong.
    """

    def __init__(self, problems: Sequence[tuple[int, str]], more: int = 0) -> None:
        self.problems: tuple[tuple[int, str], ...] = tuple(problems)
        self.more = more
        lines = [f"line {number}: {text}" for number, text in self.problems]
        lines += [f"and {more} more"] if more else []
        super().__init__("Nothing was imported. " + "; ".join(lines) + ".")


class Imported(NamedTuple):
    """The result of an import."""

    added: int
    """Entries that are new, or newer than what was there."""
    unchanged: int
    """Entries that were there already."""
    skipped: int
    """Entries that were skipped: too old, without text, or with a secret in their URL."""


def check_lines(file: IO[bytes], spool: IO[bytes], now: float, progress: Progress | None) -> None:
    """Copy and validate the lines of an import.

    Raises:
        ImportRefused: some are invalid.
    """
    problems: list[tuple[int, str]] = []
    wrong = number = size = 0
    while line := file.readline(_LONGEST_LINE + 1):
        number += 1
        size += len(line)
        if progress is not None and number % _EVERY == 0:
            progress(size)
            size = 0
        try:
            if len(line) > _LONGEST_LINE:
                raise ValueError(f"is longer than {_LONGEST_LINE:,} bytes")
            if line.strip():
                read_line(line, now)
                spool.write(line.rstrip(b"\r\n") + b"\n")
        except ValueError as error:
            wrong += 1
            if len(problems) < _MOST_PROBLEMS:
                problems.append((number, str(error)))
            if len(line) > _LONGEST_LINE:
                break  # what follows is its rest
    if progress is not None and size:
        progress(size)
    if wrong:
        raise ImportRefused(problems, wrong - len(problems))


def take_in(db: Connection, lines: IO[bytes], *, now: float, oldest: int, max_bytes: int) -> Imported:
    """Keep the items of lines that were found good.

    Args:
        db: The database.
        lines: Lines of JSON.
        now: The current time, in seconds since the epoch.
        oldest: Earlier entries are skipped; in milliseconds since the epoch.
        max_bytes: Maximum size of all entries.
    """
    from groundwire.storage.archive import sql

    added = unchanged = skipped = grown = 0
    for line in lines:
        item = read_line(line, now)
        if item is None or item.seen < oldest or item.size > max_bytes:
            skipped += 1
        elif (size := sql.put(db, item)) is not None:
            added += 1
            grown += size
        else:
            unchanged += 1
    sql.grow(db, grown)
    sql.prune(db, max_bytes=max_bytes, oldest=oldest)
    return Imported(added=added, unchanged=unchanged, skipped=skipped)
