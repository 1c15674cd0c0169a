"""`groundwire completion`, and the completion of option values that are validated elsewhere."""

from __future__ import annotations

from collections.abc import Callable, Iterable
from types import MappingProxyType
from typing import Any, TypeVar

import click
from click.shell_completion import BashComplete, CompletionItem, FishComplete, ZshComplete

from groundwire.cli.help_pages import Command
from groundwire.errors import ConfigurationError

__all__ = ["SHELLS", "Complete", "completion", "one_of", "providers_that_read", "providers_that_search", "search_with"]


_Command = TypeVar("_Command", bound=Callable[..., Any] | click.Command)


class _Zsh(ZshComplete):
    """The completion script for zsh, whose function is named after its file.

    If the function had another name, zsh would take the whole file for the function: the second TAB in a shell would
    only redefine what is already there (zshmisc, "Autoloading Functions").
    """

    @property
    def func_name(self) -> str:
        return "_groundwire"


SHELLS = MappingProxyType({"bash": BashComplete, "fish": FishComplete, "zsh": _Zsh})
"""The supported shells, and the class that writes the completion script of each."""

_VARIABLE = "_GROUNDWIRE_COMPLETE"  # click's convention: the program's name in capitals between _ and _COMPLETE
_PLACES = """\b
Where to save the script:
  bash  ~/.local/share/bash-completion/completions/groundwire
  fish  ~/.config/fish/completions/groundwire.fish
  zsh   _groundwire in a folder of $fpath, before compinit is called"""


@click.command(cls=Command, short_help="Print a shell completion script.", epilog=_PLACES)
@click.argument("shell", type=click.Choice(tuple(SHELLS)))
@click.pass_context
def completion(ctx: click.Context, shell: str) -> None:
    """Print a script that completes commands, options and their values in SHELL.

    Save it where the shell looks for completion scripts, then start a new shell. The script calls groundwire
    itself, so an update does not change the script. Bash must be 4.4 or newer.
    """
    click.echo(SHELLS[shell](ctx.find_root().command, {}, "groundwire", _VARIABLE).source())


Complete = Callable[[click.Context, click.Parameter, str], "list[CompletionItem[str]]"]
"""A click callback: returns the words that can complete the given prefix."""


def one_of(words: Iterable[str]) -> Complete:
    """Return a callback that completes with those of `words` that start with the value."""
    choices = tuple(words)

    def complete(ctx: click.Context, param: click.Parameter, incomplete: str) -> list[CompletionItem[str]]:
        return [CompletionItem(word) for word in choices if word.startswith(incomplete)]

    return complete


def providers_that_search(ctx: click.Context, param: click.Parameter, incomplete: str) -> list[CompletionItem[str]]:
    """Complete with the installed search providers."""
    return _providers(incomplete, search=True)


def providers_that_read(ctx: click.Context, param: click.Parameter, incomplete: str) -> list[CompletionItem[str]]:
    """Complete with the installed read providers."""
    return _providers(incomplete, search=False)


def _without_numbers(ctx: click.Context, param: click.Parameter, value: tuple[str, ...]) -> tuple[str, ...]:
    for name in filter(str.isdigit, value):  # -p is the port or the page of other command lines
        options = (option.name for option in ctx.command.params)
        meant = "".join(f" Did you mean '--{option}'?" for option in options if option in ("port", "page"))
        raise click.BadParameter(f"{name} is no provider.{meant}", ctx, param)
    return value


def search_with(command: _Command) -> _Command:
    """Add the option `--provider` to a command that searches."""
    return click.option(
        "-p",
        "--provider",
        "providers",
        multiple=True,
        metavar="NAME",
        shell_complete=providers_that_search,
        callback=_without_numbers,
        help="Search with this provider; repeatable, in order of preference. By default the setting search.providers.",
    )(command)


def _providers(incomplete: str, *, search: bool) -> list[CompletionItem[str]]:
    from groundwire.providers.registry import provider_class, provider_names  # local: every command loads this module

    items = []
    for name in provider_names():
        if not name.startswith(incomplete):
            continue
        try:
            able = provider_class(name).capabilities
        except ConfigurationError:  # a broken third-party provider: reported when it is used
            continue
        if able.search if search else able.read:
            items.append(CompletionItem(name))
    return items
