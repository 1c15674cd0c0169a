"""The exit codes, and the error that each belongs to."""

from __future__ import annotations

from enum import IntEnum

from groundwire.errors import ConfigurationError, GroundwireError, InvalidRequest

__all__ = ["ExitCode", "exit_code"]


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
