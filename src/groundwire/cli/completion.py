"""`groundwire completion`.

What a shell offers for the value of an option whose words are judged elsewhere.
"""

from __future__ import annotations

from collections.abc import Callable, Iterable
from types import MappingProxyType

import click
from click.shell_completion import BashComplete, CompletionItem, FishComplete, ZshComplete

from groundwire.errors import ConfigurationError

__all__ = ["SHELLS", "Complete", "completion", "one_of", "providers_that_read", "providers_that_search"]


class _Zsh(ZshComplete):
    """The script for zsh, whose function bears the name of its file.

    zsh takes the whole file for the function when that has another name: the second TAB of a shell would only
    define again what is there (zshmisc, "Autoloading Functions").
    """

    @property
    def func_name(self) -> str:
        return "_groundwire"


SHELLS = MappingProxyType({"bash": BashComplete, "fish": FishComplete, "zsh": _Zsh})
"""The supported shells, and the class that writes the script of each."""

_VARIABLE = "_GROUNDWIRE_COMPLETE"  # click's own rule: the program's name in capitals between _ and _COMPLETE
_PLACES = """\b
Where to save the script:
  bash  ~/.local/share/bash-completion/completions/groundwire
  fish  ~/.config/fish/completions/groundwire.fish
  zsh   _groundwire in a folder of $fpath, before compinit is called"""


@click.command(short_help="Print a shell completion script.", epilog=_PLACES)
@click.argument("shell", type=click.Choice(tuple(SHELLS)))
@click.pass_context
def completion(ctx: click.Context, shell: str) -> None:
    """Print a script that completes commands, options and their values in SHELL.

    Save it where the shell looks for completion scripts, then start a new shell. The script calls groundwire
    itself, so an update does not change the script. Bash must be 4.4 or newer.
    """
    click.echo(SHELLS[shell](ctx.find_root().command, {}, "groundwire", _VARIABLE).source())


Complete = Callable[[click.Context, click.Parameter, str], "list[CompletionItem[str]]"]
"""What click asks: the words that may follow what was begun."""


def one_of(words: Iterable[str]) -> Complete:
    """Return a function that offers those of `words` which begin as the value does."""
    known = tuple(words)

    def complete(ctx: click.Context, param: click.Parameter, incomplete: str) -> list[CompletionItem[str]]:
        return [CompletionItem(word) for word in known if word.startswith(incomplete)]

    return complete


def providers_that_search(ctx: click.Context, param: click.Parameter, incomplete: str) -> list[CompletionItem[str]]:
    """Offer the installed providers that search."""
    return _providers(incomplete, search=True)


def providers_that_read(ctx: click.Context, param: click.Parameter, incomplete: str) -> list[CompletionItem[str]]:
    """Offer the installed providers that read."""
    return _providers(incomplete, search=False)


def _providers(incomplete: str, *, search: bool) -> list[CompletionItem[str]]:
    from groundwire.providers.registry import provider_class, provider_names  # here: every command loads this file

    found = []
    for name in provider_names():
        if not name.startswith(incomplete):
            continue
        try:
            able = provider_class(name).capabilities
        except ConfigurationError:  # somebody else's, and broken: said when it is used
            continue
        if able.search if search else able.read:
            found.append(CompletionItem(name))
    return found
