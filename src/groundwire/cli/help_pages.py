"""Help pages and usage errors that are wrapped as all other output is: between words, to the width of the terminal."""

from __future__ import annotations

from collections.abc import Iterable

import click

from groundwire.cli.terminal_text import say_error, wrap, write
from groundwire.cli.terminal_text import width as columns
from groundwire.hints import other_names
from groundwire.models.validators import nearest

_WIDEST_OPTION = 30  # columns; the help of a wider one begins below it
_PIPE_COLUMNS = 80  # columns in a pipe


class _Formatter(click.HelpFormatter):
    def __init__(self, indent_increment: int = 2, width: int | None = None, max_width: int | None = None) -> None:
        super().__init__(indent_increment, width or (columns() or _PIPE_COLUMNS) - 2, max_width)

    def write_text(self, text: str) -> None:
        """Write paragraphs; one that begins with a backspace keeps its lines, as click has it."""
        indent = " " * self.current_indent
        for number, paragraph in enumerate(text.split("\n\n")):
            _, keeps, block = paragraph.rpartition("\b\n")
            lines = block.splitlines() if keeps else [" ".join(block.split())]
            self.write("\n" * (number > 0), *(wrap(f"{indent}{line}", self.width) + "\n" for line in lines))

    def write(self, *texts: str) -> None:
        """Write texts as they are."""
        self.buffer.extend(texts)

    def write_dl(self, rows: Iterable[tuple[str, str]], col_max: int = _WIDEST_OPTION, col_spacing: int = 2) -> None:
        """Write terms and their descriptions in two columns."""
        rows = tuple(rows)
        room = min(max((len(term) for term, _ in rows), default=0), col_max)
        hang = self.current_indent + room + col_spacing
        for term, text in rows:
            head = f"{'':{self.current_indent}}{term}"
            if len(term) > room:
                self.write(wrap(head, self.width, self.current_indent + 2), "\n")
                head = ""
            self.write(wrap(f"{head:<{hang}}{text}", self.width, hang).rstrip(), "\n")


class _Context(click.Context):
    formatter_class: type[click.HelpFormatter] = _Formatter


class Command(click.Command):
    """A command whose help page fits the terminal."""

    context_class: type[click.Context] = _Context

    def option_hint(self, option: str) -> str:
        """Return the end of the message about an unknown option: what comes nearest; empty if nothing does."""
        return _option_hint(option)


def _option_hint(option: str) -> str:
    meant = other_names("options").get(option)
    return f". Did you mean {meant!r}?" if meant else ""


class Group(click.Group):
    """A group of commands whose help page fits the terminal."""

    context_class: type[click.Context] = _Context
    command_class: type[click.Command] | None = Command
    group_class: type[click.Group] | type[type] | None = type
    no_hint = ""
    """What is said of an unknown command that resembles none."""

    def resolve_command(
        self, ctx: click.Context, args: list[str]
    ) -> tuple[str | None, click.Command | None, list[str]]:
        """Find the command; a name that another command line has for it is an error that names the right one."""
        names = self.list_commands(ctx)
        if not ctx.resilient_parsing and args[0] not in names and not args[0].startswith("-"):
            meant = other_names("commands").get(args[0], "")
            near = meant if meant.partition(" ")[0].strip(",") in names else nearest(args[0], names)
            hint = f"Did you mean {near!r}?" if near else self.no_hint
            ctx.fail(f"No such command {args[0]!r}. {hint}".rstrip())
        return super().resolve_command(ctx, args)


def say_usage_error(error: click.ClickException) -> None:
    """Print what is wrong with a command line to standard error, and where its help is."""
    if isinstance(error, click.exceptions.NoArgsIsHelpError):  # its message is the help page, wrapped already
        click.echo(error.format_message(), err=True)
        return
    context = error.ctx if isinstance(error, click.UsageError) else None
    if context is not None:
        write(f"{context.get_usage()}\nTry '{context.command_path} --help' for help.\n", err=True)
    text = error.format_message()
    if isinstance(error, click.NoSuchOption):
        command = context.command if context else None
        hint = command.option_hint if isinstance(command, Command) else _option_hint
        text = f"No such option {error.option_name!r}{meant}" if (meant := hint(error.option_name)) else text
    say_error(text)
