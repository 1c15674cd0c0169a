"""Output on a terminal: text without control sequences, wrapped between words to the width; tables, diffs, log lines.

Every command writes with `write`. Lines of JSON and shell scripts go to `click.echo`, as programs read them.
"""

from __future__ import annotations

import json
import logging
import os
import re
import shutil
import sys
from collections.abc import Iterable, Iterator, Sequence
from contextlib import contextmanager
from enum import IntEnum
from pathlib import Path
from typing import Any

import click

from groundwire.errors import AllProvidersFailed, BlockedAddress, ConfigurationError, GroundwireError, InvalidRequest

_STEERING = re.compile("[\x00-\x08\x0b-\x1f\x7f-\x9f\u061c\u200e\u200f\u202a-\u202e\u2066-\u2069]")  # not \t and \n
_IN_JSON = re.compile("[\x7f-\x9f\u061c\u200e\u200f\u2028-\u202e\u2066-\u2069]")
_STYLE = re.compile(r"\x1b\[[0-9;]*m|\x1b\]8;;[^\x1b]*\x1b\\\\")  # colors and links, which take no columns
_LEAD = re.compile(r"\s*(?:(?:[-*|>]|\d{1,9}\.|\[\d{1,9}\]) +)*")  # the indent of a line and the mark of its list
_UNSPACED = "[\u0e00-\u0eff\u1000-\u109f\u1780-\u17ff\u2e80-\uffef\U0001f000-\U0003ffff]"  # to compile it takes 3 ms
"""Signs of scripts that have no spaces between words: Thai, Lao, Burmese, Khmer, Chinese, Japanese."""
_ROOM = 20  # cells; narrower text is unreadable
_TITLE_CHARS = 150  # characters
_WIDEST = 100  # columns; longer lines are hard to read


def width(*, err: bool = False) -> int | None:
    """Return the columns of a line, at most 100: the terminal's, or those of COLUMNS; None in a pipe, which has none.

    Args:
        err: Whether standard error is meant.
    """
    stream = sys.stderr if err else sys.stdout
    if not os.environ.get("COLUMNS", "").isdigit() and not stream.isatty():
        return None
    return min(_WIDEST, shutil.get_terminal_size().columns)


def has_colors() -> bool:
    """Return whether a terminal gets colors (https://no-color.org)."""
    return not os.environ.get("NO_COLOR") and os.environ.get("TERM") != "dumb"


def write(text: str = "", *, err: bool = False, hang: int | None = None, **style: Any) -> None:
    """Write lines of text, wrapped between words to the width of the terminal; colors only where they are wanted.

    Args:
        text: The lines, without control characters of others (see `clean`); each keeps its indent.
        err: Whether they go to standard error.
        hang: The indent where a line continues; by default its own, and that of its list.
        style: A style of `click.style` for all of it.
    """
    columns = width(err=err)
    lines = text.split("\n") if columns is None else (wrap(line, columns, hang) for line in text.split("\n"))
    styled = "\n".join(click.style(line, **style) if style else line for line in lines)
    click.echo(styled, err=err, color=None if has_colors() else False)


def write_json(value: object, *, indent: int | None = None) -> None:
    """Write a value as JSON to standard output, whose lines are never wrapped."""
    click.echo(escaped(json.dumps(value, ensure_ascii=False, indent=indent)))


class Flow:
    """Text that comes in pieces, written word by word and wrapped as `write` does."""

    def __init__(self) -> None:
        self._partial_word = ""
        self._used = 0

    def add(self, piece: str, *, end: bool = False) -> None:
        """Write the words that are whole; the last one stays until its end is known."""
        *words, self._partial_word = re.split(r"(?<=\s)(?=\S)", self._partial_word + piece)
        for word in [*words, self._partial_word] if end else words:
            body = word.rstrip()
            tail = word[len(body) :]
            if self._used and self._used + cells(body) > (width() or sys.maxsize):
                click.echo()
                self._used = 0
            click.echo(word, nl=False)
            self._used = 0 if "\n" in tail else self._used + cells(word)
        self._partial_word = "" if end else self._partial_word
        sys.stdout.flush()


def table(rows: Sequence[Sequence[str]]) -> str:
    """Return aligned columns; a row of a table that is wider than the terminal becomes a line of its own cells.

    Args:
        rows: The heads and the rows.
    """
    widths = [max(map(cells, column)) for column in zip(*rows, strict=True)]
    columns = width()
    if columns is not None and sum(widths) + 2 * len(widths) - 2 > columns:
        heads, *others = rows
        pairs = (zip(heads[1:], row[1:], strict=True) for row in others)
        facts = (", ".join(f"{head} {cell}".strip() for head, cell in pair if cell.strip()) for pair in pairs)
        return "\n".join(f"{row[0]}: {fact}" for row, fact in zip(others, facts, strict=True))
    padded = ((text + " " * (size - cells(text)) for text, size in zip(row, widths, strict=True)) for row in rows)
    return "\n".join("  ".join(row).rstrip() for row in padded)


def clean(text: str) -> str:
    """Return text without control characters and bidirectional marks, which could alter the text beside it."""
    return _STEERING.sub("�", text.replace("\r\n", "\n"))


def escaped(text: str) -> str:
    """Escape control characters in the strings of JSON, without changing their meaning."""
    return _IN_JSON.sub(lambda match: f"\\u{ord(match[0]):04x}", text)


def write_problem(what: str, why: str, fix: str, *, indent: int = 2, color: str | None = None) -> None:
    """Write a problem, its cause and its fix, in the form that `doctor` and `setup` share.

    Args:
        what: The problem, as a sentence.
        why: Its cause; empty if it is obvious.
        fix: How to fix it; empty if there is nothing to do.
        indent: Columns before each line.
        color: The color of the problem.
    """
    write(f"{'':{indent}}{clean(what)}", fg=color)
    if why:
        write(f"{'':{indent}}{clean(why)}")
    if fix:
        lines = clean(fix).replace("\n", f"\n{'':{indent + 5}}")
        write(f"{'':{indent}}{click.style('Fix:', bold=True)} {lines}", hang=indent + 5)


def say_error(text: str) -> None:
    """Print an error to standard error."""
    write(click.style("Error: ", fg="red", bold=True) + clean(text), err=True)


def say_failure(error: GroundwireError, url: str = "") -> None:
    """Print why a call failed to standard error, and the setting that allows what is blocked; with -v, each attempt.

    Args:
        error: The failure.
        url: The address that the user gave; empty for none.
    """
    say_error(with_setting(str(error), url) if isinstance(error, BlockedAddress) else error.summary)
    for text in error.causes if isinstance(error, AllProvidersFailed) and is_verbose() else ():
        write(f"  - {clean(text)}", err=True)


def with_setting(text: str, url: str = "") -> str:
    """Return why an address is blocked, with the setting that allows its origin.

    Args:
        text: Why it is blocked.
        url: The address that the user gave; not named if it redirects to the blocked one.
    """
    origin = "" if "redirects" in text else _origin(url)
    return f"{text} For your own server, add its origin{origin} to the setting policy.allowed_origins."


def _origin(url: str) -> str:
    from groundwire.safety.urls import parse_url, with_scheme  # only a call that failed needs it

    try:
        return f", {parse_url(with_scheme(url)).origin},"
    except InvalidRequest:
        return ""


def shown_url(url: str) -> str:
    """Return a URL in blue; on a terminal with colors it is a hyperlink (OSC 8), which stays whole where it wraps."""
    text = clean(url)
    styled = click.style(text, fg="blue")
    if not sys.stdout.isatty() or not has_colors():
        return styled
    return f"\x1b]8;;{text}\x1b\\{styled}\x1b]8;;\x1b\\"


def write_hit(number: int, title: str, url: str, snippet: str, facts: str) -> None:
    """Write what a search found: its title, its address, a passage, and where and when it is from."""
    write(f"{number:>2}. {click.style(clean(title)[:_TITLE_CHARS], bold=True)}")
    write(f"    {shown_url(url)}")
    if snippet:
        write(f"    {' '.join(clean(snippet).split())}")
    write(f"    {clean(facts)}\n", dim=True)


QUIET = "groundwire.quiet"
"""The entry of click's `Context.meta` that is true with `--quiet`."""


def is_quiet() -> bool:
    """Return whether the command was called with `--quiet`."""
    context = click.get_current_context(silent=True)
    return bool(context and context.meta.get(QUIET))


def is_verbose() -> bool:
    """Return whether the command was called with -v."""
    context = click.get_current_context(silent=True)
    return bool(context and context.find_root().params.get("verbose"))


def warn(*texts: str) -> None:
    """Print warnings to standard error, one per line; with `--quiet`, none."""
    for text in () if is_quiet() else texts:
        write(click.style("Note: ", fg="yellow") + clean(text), err=True)


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
    """Return how many columns a text takes (Unicode Standard Annex 11); combining marks and styles take none."""
    plain = _STYLE.sub("", text)
    if plain.isascii():
        return len(plain)
    from rich.cells import cell_len  # text in ASCII does not wait for it

    return cell_len(plain)


def wrap(line: str, width: int, hang: int | None = None) -> str:
    """Wrap a line between its words, which stay whole; scripts without spaces are wrapped between their signs.

    Args:
        line: The line; the spaces within it stay where it is not wrapped.
        width: Columns, including the indent.
        hang: The indent of the lines after the first; by default that of the first, and of its list.
    """
    if cells(line) <= width:
        return line
    lead = _LEAD.match(line)
    size = len(lead[0]) if lead and hang is None else hang or 0
    indent = " " * max(0, min(size, width - _ROOM))
    rows: list[str] = []
    row, used, empty = "", 0, True
    for spaces, word in re.findall(r"(\s*)(\S+)", line):
        for number, piece in enumerate(_pieces(word)):
            gap = "" if number else spaces
            room = cells(piece)
            if not empty and used + len(gap) + room > width:
                rows.append(row)
                row, used, gap = indent, len(indent), ""
            row, used, empty = row + gap + piece, used + len(gap) + room, False
    return "\n".join([*rows, row])


def _pieces(word: str) -> Iterable[str]:
    """Return a word, or the parts of one in a script without spaces."""
    if word.isascii() or not re.search(_UNSPACED, word):
        return (word,)
    return re.findall(f"{_UNSPACED}(?:(?!{_UNSPACED}).)*|(?:(?!{_UNSPACED}).)+", word)


def day(moment: str | None) -> str:
    """Return an ISO 8601 time for a person: only the date for midnight in UTC, and an empty string for none."""
    return (moment or "").removesuffix("Z").removesuffix("T00:00:00")


def diff(path: Path, before: str, after: str) -> str:
    """Return the changes of a file in the format of `diff -u`."""
    from difflib import unified_diff  # only a change to a file waits for it

    lines = unified_diff(before.splitlines(keepends=True), after.splitlines(keepends=True), str(path), str(path))
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


def _attempt(record: object) -> str:
    if not isinstance(record, dict):
        return str(record)
    status = record.get("status")
    return f"{record.get('provider')}:{record.get('outcome')}" + (f":{status}" if status not in (None, 200) else "")


@contextmanager
def log_to_stderr(verbose: int, *, as_json: bool = False, only: str = "") -> Iterator[None]:
    """Write the log to standard error while the block runs.

    Args:
        verbose: 0 nothing, 1 Groundwire's records, 2 or more the records of all packages.
        as_json: Whether each record is a line of JSON.
        only: The name of a logger, if only its records and the warnings of Groundwire are written.
    """
    roots = [logging.getLogger(name) for name in ([only, "groundwire"] if only else [""])]
    ours = [logging.getLogger(name) for name in ([only] if only else ["groundwire", "groundwire_server"])]
    handler = logging.StreamHandler() if verbose else logging.NullHandler()
    handler.setFormatter(_Cleaning("%(levelname)s %(name)s: %(message)s"))
    if verbose and as_json:
        from groundwire.telemetry.call_events import JsonFormatter

        handler.setFormatter(JsonFormatter())
    before = [(logger, logger.level) for logger in (*roots, *ours)]
    for logger in roots:
        logger.addHandler(handler)
    if verbose:
        for logger in ours:
            logger.setLevel(logging.DEBUG if verbose > 1 else logging.INFO)
    if verbose > 1:
        roots[0].setLevel(logging.DEBUG)
    try:
        yield
    finally:
        for logger in roots:
            logger.removeHandler(handler)
        for logger, level in before:
            logger.setLevel(level)


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
    """Control-C; 128 + SIGINT, as in shells."""
    BROKEN_PIPE = 141
    """The reader of the output has closed the pipe; 128 + SIGPIPE."""


def exit_code(error: GroundwireError) -> ExitCode:
    """Return the exit code for an error."""
    return ExitCode.WRONG_USE if isinstance(error, (InvalidRequest, ConfigurationError)) else ExitCode.FAILED


_EXPLAINED = "groundwire.explained"
"""The entry of click's `Context.meta` that is true once `log_notes` has said why nothing can be stored."""
_STORAGE, _KEYLESS = "groundwire.storage", "groundwire.routing.keyless"


def warn_of_result(warnings: Iterable[str]) -> None:
    """Print the warnings of a result, except for those that only say that storage fails where its reason was said."""
    from groundwire.web.search import STORAGE_FAILS  # loaded before there is a result

    context = click.get_current_context(silent=True)
    explained = STORAGE_FAILS if context and context.meta.get(_EXPLAINED) else ()
    warn(*(text for text in warnings if text not in explained))


class _Notes(logging.Handler):
    """Prints who sees queries without a key, before they do, and collects what threads say of storage."""

    def __init__(self) -> None:
        super().__init__(logging.WARNING)
        self.by_cause: dict[str, str] = {}
        """Why nothing can be stored; what stops both the store and the archive is there once."""

    def emit(self, record: logging.LogRecord) -> None:
        if record.name == _KEYLESS:
            warn(record.getMessage())
        else:
            cause = record.args[0] if isinstance(record.args, tuple) and record.args else record.msg
            self.by_cause.setdefault(str(cause).removesuffix("."), record.getMessage())


@contextmanager
def log_notes() -> Iterator[None]:
    """Print to standard error, unless the log does, why nothing can be stored, and who sees queries without a key.

    A result names no paths, as it may leave this machine.
    """
    handler = _Notes()
    loggers = [logging.getLogger(name) for name in (_STORAGE, _KEYLESS)]
    loggers = [logger for logger in loggers if not logger.isEnabledFor(logging.INFO)]
    for logger in loggers:
        logger.addHandler(handler)
    try:
        yield
    finally:
        for logger in loggers:
            logger.removeHandler(handler)
        warn(*handler.by_cause.values())  # now, as a thread knows no command, and a spinner has left its line
        if handler.by_cause and (context := click.get_current_context(silent=True)):
            context.meta[_EXPLAINED] = True
