"""Output on a terminal: text without control sequences, wrapped to the width in any script; file diffs; log lines."""

from __future__ import annotations

import difflib
import logging
import re
import sys
import unicodedata
from collections.abc import Iterable, Iterator, Sequence
from contextlib import contextmanager
from enum import IntEnum
from pathlib import Path

import click

from groundwire.errors import BlockedAddress, ConfigurationError, GroundwireError, InvalidRequest

__all__ = [
    "QUIET",
    "ExitCode",
    "aligned",
    "cells",
    "clamped",
    "clean",
    "confirmed",
    "day",
    "diff",
    "escaped",
    "exit_code",
    "is_quiet",
    "keyless_notes",
    "log_to_stderr",
    "say_error",
    "say_failure",
    "shown_url",
    "storage_notes",
    "warn",
    "warn_of_result",
    "with_setting",
    "wrap",
]

_STEERING = re.compile("[\x00-\x08\x0b-\x1f\x7f-\x9f\u061c\u200e\u200f\u202a-\u202e\u2066-\u2069]")  # not \t and \n
_IN_JSON = re.compile("[\x7f-\x9f\u061c\u200e\u200f\u2028-\u202e\u2066-\u2069]")
_ROOM = 20  # cells; narrower text is unreadable


def clean(text: str) -> str:
    """Return text without control characters and bidirectional marks, which could alter the text beside it."""
    return _STEERING.sub("�", text.replace("\r\n", "\n"))


def escaped(text: str) -> str:
    """Escape control characters in the strings of JSON, without changing their meaning."""
    return _IN_JSON.sub(lambda found: f"\\u{ord(found[0]):04x}", text)


def say_error(text: str) -> None:
    """Print an error to standard error."""
    click.echo(click.style("Error: ", fg="red", bold=True) + clean(text), err=True)


def say_failure(error: GroundwireError, url: str = "") -> None:
    """Print why a call failed to standard error, and the setting that allows what is blocked.

    Args:
        error: The failure.
        url: The address that the user gave; empty for none.
    """
    say_error(with_setting(str(error), url) if isinstance(error, BlockedAddress) else str(error))


def with_setting(text: str, url: str = "") -> str:
    """Return why an address is blocked, with the setting that allows its origin.

    Args:
        text: Why it is blocked.
        url: The address that the user gave; not named if it redirects to the blocked one.
    """
    origin = "" if "redirects" in text else _origin(url)
    return f"{text} For your own server, add its origin{origin} to the setting policy.allowed_origins."


def _origin(url: str) -> str:
    from groundwire.safety.urls import parse_url  # only a call that failed needs it

    try:
        return f", {parse_url(url if '://' in url else f'https://{url}').origin},"
    except InvalidRequest:
        return ""


def shown_url(url: str) -> str:
    """Return a URL in blue; on a terminal with colors it is a hyperlink (OSC 8), which stays whole where it wraps."""
    text = clean(url)
    context = click.get_current_context(silent=True)
    styled = click.style(text, fg="blue")
    if not sys.stdout.isatty() or (context and context.find_root().color is False):
        return styled
    return f"\x1b]8;;{text}\x1b\\{styled}\x1b]8;;\x1b\\"


def clamped(text: str, rows: int) -> str:
    """Return wrapped text without the rows that are too many; an ellipsis stands for them."""
    lines = text.split("\n")
    return text if len(lines) <= rows else "\n".join(lines[:rows])[:-1].rstrip() + "…"


QUIET = "groundwire.quiet"
"""The entry of click's `Context.meta` that is true with `--quiet`."""


def is_quiet() -> bool:
    """Return whether the command was called with `--quiet`."""
    context = click.get_current_context(silent=True)
    return bool(context and context.meta.get(QUIET))


def warn(*texts: str) -> None:
    """Print warnings to standard error, one per line; with `--quiet`, none."""
    for text in () if is_quiet() else texts:
        click.echo(click.style("Note: ", fg="yellow") + clean(text), err=True)


def confirmed(question: str) -> bool:
    """Ask for a confirmation; no is the default.

    Raises:
        ConfigurationError: standard input has no answer.
    """
    try:
        return click.confirm(question, default=False, err=True)
    except click.Abort as error:
        if not isinstance(error.__context__, EOFError):  # Control-C
            raise
        raise ConfigurationError("There is no terminal to answer on. Pass --yes to go ahead.") from None


def cells(text: str) -> int:
    """Return how many columns a text takes (Unicode Standard Annex 11; combining marks take none)."""
    if text.isascii():
        return len(text)
    return sum(map(_cell, text))


def aligned(rows: Sequence[Sequence[str]]) -> list[str]:
    """Return the rows of a table as lines whose columns are aligned."""
    widths = [max(map(cells, column)) for column in zip(*rows, strict=True)]
    return [
        "  ".join(text + " " * (width - cells(text)) for text, width in zip(row, widths, strict=True)) for row in rows
    ]


def wrap(text: str, width: int, indent: str = "", first: str | None = None) -> str:
    """Wrap text to lines of at most `width` columns.

    Args:
        text: One paragraph; white space is collapsed.
        width: Columns, including the indent.
        indent: The prefix of every line.
        first: The prefix of the first line instead.
    """
    first = indent if first is None else first
    lines: list[str] = []
    line = ""
    for word in text.split():
        room = max(_ROOM, width - cells(indent if lines else first))
        if line and cells(line) + 1 + cells(word) <= room:
            line += f" {word}"
            continue
        if line:
            lines.append(line)
            room = max(_ROOM, width - cells(indent))
        *whole, line = _pieces(word, room)
        lines += whole
    lines.append(line)
    return "\n".join((indent if number else first) + line for number, line in enumerate(lines))


def _pieces(word: str, room: int) -> list[str]:
    """Split a word where it does not fit; scripts without spaces form long words."""
    pieces = [""]
    used = 0
    for sign in word:
        size = _cell(sign)
        if used + size > room:
            pieces.append("")
            used = 0
        pieces[-1] += sign
        used += size
    return pieces


def _cell(sign: str) -> int:
    if unicodedata.combining(sign) or unicodedata.category(sign) in {"Mn", "Me", "Cf"}:
        return 0
    return 2 if unicodedata.east_asian_width(sign) in "WF" else 1


def day(moment: str | None) -> str:
    """Return an ISO 8601 time for a person: only the date for midnight in UTC, and an empty string for none."""
    return (moment or "").removesuffix("Z").removesuffix("T00:00:00")


def diff(path: Path, before: str, after: str) -> str:
    """Return the changes of a file in the format of `diff -u`."""
    lines = difflib.unified_diff(
        before.splitlines(keepends=True), after.splitlines(keepends=True), str(path), str(path)
    )
    return clean("".join(line if line.endswith("\n") else f"{line}\n" for line in lines))


class _Cleaning(logging.Formatter):
    """A formatter whose lines cannot control the terminal; a record's extra fields follow its message."""

    def format(self, record: logging.LogRecord) -> str:
        from groundwire.telemetry.call_events import extra_of  # only a command that logs waits for it

        facts = (f" {name}={_fact(value)}" for name, value in extra_of(record).items() if value not in (None, "", []))
        return clean(super().format(record) + "".join(facts))


def _fact(value: object) -> str:
    if isinstance(value, list):  # the attempts of a call
        return ",".join(map(_attempt, value))
    return f"{value:g}" if isinstance(value, float) else str(value)


def _attempt(one: object) -> str:
    if not isinstance(one, dict):
        return str(one)
    status = one.get("status")
    return f"{one.get('provider')}:{one.get('outcome')}" + (f":{status}" if status not in (None, 200) else "")


@contextmanager
def log_to_stderr(verbose: int, *, as_json: bool = False) -> Iterator[None]:
    """Write the log to standard error while the block runs.

    Args:
        verbose: 0 nothing, 1 Groundwire's records, 2 or more the records of all packages.
        as_json: Whether each record is a line of JSON.
    """
    root, ours = logging.getLogger(), logging.getLogger("groundwire")
    handler = logging.StreamHandler() if verbose else logging.NullHandler()
    handler.setFormatter(_Cleaning("%(levelname)s %(name)s: %(message)s"))
    if verbose and as_json:
        from groundwire.telemetry.call_events import JsonFormatter

        handler.setFormatter(JsonFormatter())
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


class ExitCode(IntEnum):
    """The exit codes of every command."""

    OK = 0
    """There are results, or the page was read."""
    NOTHING = 1
    """The web was searched, and nothing was found."""
    WRONG_USE = 2
    """An argument or a setting is invalid."""
    FAILED = 3
    """The web could not be searched, or the page could not be read."""
    INTERRUPTED = 130
    """Control-C; 128 + SIGINT, as shells have it."""
    BROKEN_PIPE = 141
    """The reader of the output has closed the pipe; 128 + SIGPIPE."""


def exit_code(error: GroundwireError) -> ExitCode:
    """Return the exit code for an error."""
    return ExitCode.WRONG_USE if isinstance(error, (InvalidRequest, ConfigurationError)) else ExitCode.FAILED


class _StorageNotes(logging.Handler):
    """Collects why the store or the archive cannot be used; a result has no paths, as it may leave this machine."""

    def __init__(self) -> None:
        super().__init__(logging.WARNING)
        self.notes: dict[str, str] = {}

    def emit(self, record: logging.LogRecord) -> None:
        cause = str(record.args[0]) if isinstance(record.args, tuple) and record.args else record.msg
        self.notes.setdefault(cause.removesuffix("."), record.getMessage())  # one for the store and the archive


_EXPLAINED = "groundwire.explained"
"""The entry of click's `Context.meta` that is true once `storage_notes` has said why nothing can be stored."""


def warn_of_result(warnings: Iterable[str]) -> None:
    """Print the warnings of a result, except for those that only say that storage fails where its reason was said."""
    from groundwire.web.search import STORAGE_FAILS  # loaded before there is a result

    context = click.get_current_context(silent=True)
    explained = STORAGE_FAILS if context and context.meta.get(_EXPLAINED) else ()
    warn(*(text for text in warnings if text not in explained))


class _KeylessNotes(logging.Handler):
    """Prints who sees queries, before the first one is sent."""

    def emit(self, record: logging.LogRecord) -> None:
        warn(record.getMessage())


@contextmanager
def keyless_notes() -> Iterator[None]:
    """Print to standard error which services see queries without a key while the block runs, unless the log does."""
    logger, handler = logging.getLogger("groundwire.routing.keyless"), _KeylessNotes(logging.WARNING)
    said_by_log = logger.isEnabledFor(logging.INFO)
    if not said_by_log:
        logger.addHandler(handler)
    try:
        yield
    finally:
        logger.removeHandler(handler)


@contextmanager
def storage_notes() -> Iterator[None]:
    """Print the problems of the store and the archive to standard error after the block, also if it fails."""
    logger, handler = logging.getLogger("groundwire.storage"), _StorageNotes()
    logger.addHandler(handler)
    try:
        yield
    finally:
        logger.removeHandler(handler)
        if not logger.isEnabledFor(logging.INFO):  # the log shows them then
            warn(*handler.notes.values())
        if handler.notes and (context := click.get_current_context(silent=True)):
            context.meta[_EXPLAINED] = True
