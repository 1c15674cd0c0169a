"""`groundwire completion`."""

from __future__ import annotations

from types import MappingProxyType

import click
from click.shell_completion import BashComplete, FishComplete, ZshComplete

from groundwire.cli.help_pages import Command

__all__ = ["SHELLS", "completion"]


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


@click.command(cls=Command, epilog=_PLACES)
@click.argument("shell", type=click.Choice(tuple(SHELLS)))
@click.pass_context
def completion(ctx: click.Context, shell: str) -> None:
    """Print a script that completes commands, options and their values in SHELL.

    Save it where the shell looks for completion scripts, then start a new shell. The script calls groundwire
    itself, so an update does not change the script. Bash must be 4.4 or newer.
    """
    click.echo(SHELLS[shell](ctx.find_root().command, {}, "groundwire", _VARIABLE).source())
