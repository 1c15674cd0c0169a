"""The command line: `groundwire search`, `open`, `demo`, `config show`."""

from __future__ import annotations

import errno
import gc
import io
import logging
import os
import sys
import threading
from collections.abc import Mapping
from importlib import import_module
from pathlib import Path
from types import MappingProxyType
from typing import Any, Final

import click

from groundwire._version import __version__
from groundwire.cli.help_pages import Group, say_usage_error
from groundwire.cli.server_commands import SERVER_COMMANDS, server_command
from groundwire.cli.terminal_text import (
    ExitCode,
    exit_code,
    has_colors,
    log_to_stderr,
    say_error,
    say_failure,
    warn,
    write,
)
from groundwire.errors import GroundwireError
from groundwire.settings.user_folders import os_reason

__all__ = ["group", "main"]

_logger = logging.getLogger(__name__)

_COLLECT_AFTER = 20_000  # new objects, by default 700: loading makes a hundred thousand, and hardly garbage

_COMMANDS = MappingProxyType(
    {
        "demo": ("demo", "Search and read a miniature web, without network or keys."),
        "search": ("search", "Search the web."),
        "open": ("open:open_", "Read pages as Markdown."),
        "ask": ("ask", "Answer a question from the web, with citations."),
        "setup": ("setup", "Choose providers, store their keys, and test them."),
        "doctor": ("doctor", "Diagnose this installation."),
        "mcp": ("mcp", "Serve the tools to MCP clients."),
        "config": (
            "config",
            "Show and change the settings; without a command, show those that differ from the defaults.",
        ),
        "providers": ("providers", "List providers: ready or not, prices, health."),
        "archive": ("archive", "Search and manage the offline archive of pages and search results."),
        "session": ("stats:session", "Show what a session has used, or reset it."),
        "stats": ("stats", "Show success, latency and cost of recent days."),
        "map": ("site:map_", "List the pages of a site."),
        "read": ("site:read", "Read any number of pages to files."),
        "eval": ("eval:eval_", "Measure how many known answers the searches find."),
        "new-provider": ("new_provider:new_provider", "Write a provider of your own, with its emulator and test."),
        "verify": ("verify", "Check an answer against the pages it cites."),
        "export": ("mcp:export", "Write the files that an agent host loads."),
    }
)
"""The module of each command, with its name there if it differs, and what the command does. Commands are loaded on use:
neither a server started by a client nor the help should wait for what it does not need."""

_FIRST = 7
"""How many commands are first in the help, in the order of the table; the others are below them, by name."""


_VERBOSE = MappingProxyType({"-v": "-v", "-vv": "-vv", "--verbose": "-v", "--debug": "-vv", "-vvv": "-vv"})
"""The options for a log on standard error, wherever they stand."""


class _Group(Group):
    """The command group. Every failure has its own exit code: 1 is reserved for "found nothing"."""

    no_hint = "To search the web: groundwire search QUERY."

    def list_commands(self, ctx: click.Context) -> list[str]:
        return sorted({*super().list_commands(ctx), *_COMMANDS, *SERVER_COMMANDS})

    def format_commands(self, ctx: click.Context, formatter: click.HelpFormatter) -> None:
        """Write the commands of every day, and the others."""
        first = tuple(_COMMANDS)[:_FIRST]
        others = [name for name in self.list_commands(ctx) if name not in first]
        for heading, names in (("Commands", first), ("More commands", others)):
            with formatter.section(heading):
                formatter.write_dl([(name, SERVER_COMMANDS.get(name) or _COMMANDS[name][1]) for name in names])

    def main(self, *args: Any, **options: Any) -> Any:
        """Run the command line; usage errors are wrapped as all output is."""
        try:
            code = super().main(*args, **{**options, "standalone_mode": False})
        except click.ClickException as error:
            say_usage_error(error)
            code = error.exit_code
        except click.Abort:
            write("Interrupted.", err=True)
            code = ExitCode.INTERRUPTED
        sys.exit(code if isinstance(code, int) else ExitCode.OK)

    def parse_args(self, ctx: click.Context, args: list[str]) -> list[str]:
        """Take -v and --verbose after the command, too, and --json and --quiet before it."""
        end = args.index("--") if "--" in args else len(args)
        early = 0
        while early < end and args[early] in ("--json", "--quiet", "-q"):
            early += 1
        words = [*args[early:end], *("--quiet" if word == "-q" else word for word in args[:early])]
        late = [_VERBOSE[word] for word in words if word in _VERBOSE]
        return super().parse_args(ctx, [*late, *(word for word in words if word not in _VERBOSE), *args[end:]])

    def get_command(self, ctx: click.Context, cmd_name: str) -> click.Command | None:
        if cmd_name in SERVER_COMMANDS:
            return server_command(cmd_name)
        if cmd_name not in _COMMANDS:
            return super().get_command(ctx, cmd_name)
        place, summary = _COMMANDS[cmd_name]
        room, _, name = place.partition(":")
        command: click.Command = getattr(import_module(f"groundwire.cli.{room}"), name or room)
        command.short_help = summary
        return command

    def resolve_command(
        self, ctx: click.Context, args: list[str]
    ) -> tuple[str | None, click.Command | None, list[str]]:
        if args[0] == "help":
            args = [*args[1:], "--help"]
            if len(args) == 1:
                click.echo(ctx.get_help())
                ctx.exit()
        elif args[0] == "version":
            write(f"groundwire, version {__version__}")
            ctx.exit()
        elif args[0] == "providers" and args[1:2] and args[1] in ("list", "ls", "show", "check", "test"):
            ctx.fail(f"No such command {args[1]!r}. Did you mean 'providers', or 'doctor'?")
        elif args[0].startswith(("https://", "http://")):
            args = ["open", *args]
        elif len(args[0].split()) > 1:
            args = ["search", *args]
        elif args[0] in ("update", "upgrade", "self"):
            ctx.fail(f"No such command {args[0]!r}. Install the new version in the way that you installed this one.")
        return super().resolve_command(ctx, args)

    def invoke(self, ctx: click.Context) -> object:
        try:
            return super().invoke(ctx)
        except (click.ClickException, click.exceptions.Exit):
            raise
        except GroundwireError as error:
            say_failure(error)
            sys.exit(exit_code(error))
        except (KeyboardInterrupt, click.Abort):
            raise click.Abort from None
        except BrokenPipeError:
            _forget_stdout()
            sys.exit(ExitCode.BROKEN_PIPE)
        except OSError as error:
            _forget_stdout()
            say_error(_os_error(error))
            sys.exit(ExitCode.FAILED)
        except Exception as error:
            _logger.exception("The command failed")
            say_error(f"Internal error ({type(error).__name__}). Run groundwire -v ... for details.")
            sys.exit(ExitCode.FAILED)


@click.group(
    cls=_Group,
    context_settings={"help_option_names": ["-h", "--help"], "max_content_width": 100},
    epilog='First steps: groundwire demo, groundwire setup, then groundwire search "reciprocal rank fusion".\n\n'
    "Exit codes: 0 done, 1 nothing found, 2 usage error, 3 failed.",
)
@click.option(
    "-v",
    "--verbose",
    count=True,
    help="Log one line per call to standard error; -vv also logs attempts and debug messages. "
    "GROUNDWIRE_LOG=info and GROUNDWIRE_LOG=debug do the same.",
)
@click.option(
    "--log-format",
    type=click.Choice(["text", "json"]),
    default="text",
    help="The format of the log of -v and of groundwire serve; json writes one object per line.",
)
@click.version_option(__version__, "-V", "--version", prog_name="groundwire")
@click.pass_context
def group(ctx: click.Context, verbose: int, log_format: str) -> None:
    """The web for AI agents: search it, open its pages as Markdown."""
    ctx.color = None if has_colors() else False
    ctx.with_resource(log_to_stderr(max(verbose, _level()), as_json=log_format == "json"))


_LEVELS: Final[Mapping[str, int]] = MappingProxyType({"": 0, "off": 0, "warning": 0, "info": 1, "debug": 2})
"""The number of -v that a value of GROUNDWIRE_LOG stands for."""


def _level() -> int:
    name = os.environ.get("GROUNDWIRE_LOG", "").strip().lower()
    if name not in _LEVELS:
        warn("GROUNDWIRE_LOG is ignored: it is debug, info, or off.")
    return _LEVELS.get(name, 0)


_REMEDIES = MappingProxyType(
    {
        **dict.fromkeys((errno.EACCES, errno.EPERM, errno.EROFS), "Use a folder that this user may write to."),
        **dict.fromkeys((errno.ENOSPC, errno.EDQUOT), "Free space on its disk, or write to another one."),
        **dict.fromkeys((errno.ENOENT, errno.EEXIST, errno.ENOTDIR, errno.EISDIR), "Check the path."),
    }
)


def _os_error(error: OSError) -> str:
    """Return which file could not be used, why, and what to do; without a name it is standard output."""
    name = str(Path(os.fsdecode(error.filename)).absolute()) if isinstance(error.filename, (str, bytes)) else ""
    if not name and error.errno in (errno.ENOSPC, errno.EDQUOT):
        name = "the output"
    why = os_reason(error, Path(name)) if name else error.strerror or error
    return f"{name}{name and ': '}{why}. {_REMEDIES.get(error.errno or 0, '')}".strip()


def main() -> None:
    """Run the command line and exit with the command's exit code."""
    gc.set_threshold(_COLLECT_AFTER)
    for name, mode in (("stdin", "r"), ("stdout", "w"), ("stderr", "w")):
        if getattr(sys, name) is None:  # closed by the parent process
            setattr(sys, name, os.fdopen(os.open(os.devnull, os.O_RDWR), mode, encoding="utf-8"))
    for stream in (sys.stdin, sys.stdout, sys.stderr):
        if isinstance(stream, io.TextIOWrapper):
            if sys.platform == "win32" and "PYTHONIOENCODING" not in os.environ:
                stream.reconfigure(encoding="utf-8")  # in pipes it is that of the machine's language, such as cp1252
            stream.reconfigure(errors="replace")  # pages may contain characters that the terminal cannot encode
    try:
        group(prog_name="groundwire")
    except SystemExit as end:
        _exit(end.code if isinstance(end.code, int) else ExitCode.OK)
        if not sys.warnoptions:  # else it is to tell what was not closed
            gc.freeze()  # as it ends, Python looks through all objects several times for what nothing refers to
        raise


def _exit(code: int) -> None:
    """Exit immediately if threads are left that cannot be stopped, such as one in which ddgs waits for a response."""
    if any(thread is not threading.main_thread() and not thread.daemon for thread in threading.enumerate()):
        try:
            sys.stdout.flush()
            sys.stderr.flush()
        finally:
            os._exit(code)


def _forget_stdout() -> None:
    """Discard unwritten standard output whose reader has closed the pipe."""
    try:
        nowhere = os.open(os.devnull, os.O_WRONLY)
        os.dup2(nowhere, sys.stdout.fileno())
        os.close(nowhere)
    except (OSError, ValueError):
        return
