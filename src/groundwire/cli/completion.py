"""`groundwire completion`."""

from __future__ import annotations

from types import MappingProxyType

import click
from click.shell_completion import BashComplete, FishComplete, ZshComplete

__all__ = ["SHELLS", "completion"]


class _Zsh(ZshComplete):
    """The script for zsh, whose function bears the name of its file.

    zsh takes the whole file for the function when that has another name: the second TAB of a shell would only
    define again what is there (zshmisc, "Autoloading Functions").
    """

    @property
    def func_name(self) -> str:
        return "_groundwire"


SHELLS = MappingProxyType({"bash": BashComplete, "fish": FishComplete, "zsh": _Zsh})
"""The shells that a script can be had for, and who writes it."""

_VARIABLE = "_GROUNDWIRE_COMPLETE"  # click's own rule: the program's name in capitals between _ and _COMPLETE
_PLACES = """\b
Where the script belongs:
  bash  ~/.local/share/bash-completion/completions/groundwire
  fish  ~/.config/fish/completions/groundwire.fish
  zsh   _groundwire in a folder of $fpath, before compinit is called"""


@click.command(short_help="Print what completes this command in a shell.", epilog=_PLACES)
@click.argument("shell", type=click.Choice(tuple(SHELLS)))
@click.pass_context
def completion(ctx: click.Context, shell: str) -> None:
    """Print the script with which SHELL completes commands, options and their values.

    Write it where the shell looks for such scripts; shells that are started after that complete. It asks groundwire
    itself, so it need not be written anew after an update. Bash must be 4.4 or newer.
    """
    click.echo(SHELLS[shell](ctx.find_root().command, {}, "groundwire", _VARIABLE).source())
