"""`groundwire record`."""

from __future__ import annotations

import os
import shutil
import signal
import subprocess
import sys
from collections.abc import Sequence
from pathlib import Path

import click

from groundwire.cassette import RECORD_VARIABLE, REPLAY_VARIABLE, Cassette, count_exchanges
from groundwire.cli.help_pages import Command
from groundwire.cli.terminal_text import clean, say_error, warn, write
from groundwire.errors import counted

__all__ = ["record"]

_EPILOG = f"""Replay it: {REPLAY_VARIABLE}=FILE COMMAND...

The exit code is that of COMMAND, or 128 plus the number of the signal that ended it. It is 126 if COMMAND cannot be
started, 127 if it does not exist, and 2 if FILE cannot be written."""
_CANNOT_RUN = 126  # the convention of shells (POSIX.1-2024, 2.8.2)
_NOT_FOUND = 127
_SIGNALLED = 128


@click.command(
    cls=Command,
    epilog=_EPILOG,
    context_settings={"allow_interspersed_args": False},
)
@click.option("--append", is_flag=True, help="Append to FILE instead of replacing it.")
@click.argument("file", type=click.Path(dir_okay=False, path_type=Path))
@click.argument("command", nargs=-1, required=True, type=click.UNPROCESSED)
def record(file: Path, command: tuple[str, ...], append: bool) -> None:
    """Run COMMAND and record its web requests to FILE: `groundwire record FILE -- COMMAND...`.

    Every request that COMMAND and the processes it starts make through Groundwire is recorded, without its secrets.
    """
    path = file.absolute()
    command = command[1:] if command[0] == "--" else command
    if not command:
        raise click.UsageError("Missing argument 'COMMAND...'.")
    program = shutil.which(command[0])
    if program is None:  # checked first: a mistyped command must not truncate the file
        say_error(f"There is no command {command[0]!r}, or you may not run it.")
        sys.exit(_NOT_FOUND)
    Cassette.record(path, append=append)
    before = count_exchanges(path)
    code = _run((program if sys.platform == "win32" else command[0], *command[1:]), path)  # there, npx is npx.cmd
    recorded = count_exchanges(path) - before
    if recorded:
        write(f"Recorded {counted(recorded, 'exchange')} in {clean(str(file))}.", err=True)
    else:
        warn(f"Nothing was recorded in {file}: the command made no request through Groundwire.")
    sys.exit(code)


def _run(command: Sequence[str], path: Path) -> int:
    """Run a command to its end and return its exit code as a shell would."""
    environment = {name: value for name, value in os.environ.items() if name != REPLAY_VARIABLE}
    environment[RECORD_VARIABLE] = str(path)
    early: list[int] = []  # signals that come while the command is being started
    # The command decides what ends it; Control-C reaches it from the terminal directly.
    before = {
        signal.SIGTERM: signal.signal(signal.SIGTERM, lambda number, _: early.append(number)),
        signal.SIGINT: signal.signal(signal.SIGINT, lambda *_: None),
    }
    try:
        child = subprocess.Popen(command, env=environment)  # noqa: S603 - to run the user's command is what it is for
        signal.signal(signal.SIGTERM, lambda number, _: child.send_signal(number))
        for number in early:
            child.send_signal(number)
        code = child.wait()
    except OSError as error:
        say_error(f"{command[0]!r} cannot be run: {error.strerror or error}.")
        return _CANNOT_RUN
    finally:
        for number, handler in before.items():
            signal.signal(number, handler)
    return code if code >= 0 else _SIGNALLED - code
