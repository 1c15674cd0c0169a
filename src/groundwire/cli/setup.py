"""`groundwire setup`."""

from __future__ import annotations

import asyncio
import sys
from collections.abc import Mapping, Sequence
from datetime import datetime

import click

from groundwire.cli.call_runner import each
from groundwire.cli.help_pages import Command
from groundwire.cli.setup_dialog import Dialog, choose
from groundwire.cli.terminal_text import (
    ExitCode,
    clean,
    diff,
    warn,
    write,
)
from groundwire.errors import ConfigurationError, UnknownProvider
from groundwire.settings import Settings, load
from groundwire.settings.sources import keys_file, user_file
from groundwire.settings.user_folders import read
from groundwire.setup.apply import SetupPlan, commit, with_values, would_load
from groundwire.setup.key_storage import FileKeeper, Keeper, KeyringKeeper, keyring_state
from groundwire.setup.provider_status import ProviderStatus, key_source, provider_statuses

_NO_TERMINAL = (
    "No terminal to prompt on. Set environment variables instead, such as "
    "GROUNDWIRE_SEARCH_PROVIDERS=brave,duckduckgo_lite and BRAVE_API_KEY; groundwire providers lists those of all."
)


@click.command(cls=Command)
@click.option("--provider", "-p", "providers", multiple=True, metavar="NAME", help="Set up this provider only.")
def setup(providers: tuple[str, ...]) -> None:
    """Choose providers, enter their keys, and test them.

    Keys are stored in the keyring, or in a file that only you can read; never in groundwire.toml. Changes to that file
    are shown first, confirmed by you, and the old file is backed up. Run it again to see or change the setup.
    """
    settings = load()
    named = each(providers)
    rows = {row.name: row for row in asyncio.run(provider_statuses(settings))}
    for name in named:
        if name not in rows:
            raise UnknownProvider(name, rows)
    if not (sys.stdin.isatty() and sys.stdout.isatty()):
        raise ConfigurationError(_NO_TERMINAL)
    searchers, readers = _with_named(settings, rows, named) if named else _choose(settings, rows)
    chosen = [rows[name] for name in named or dict.fromkeys((*searchers, *readers))]
    dialog = Dialog(settings)
    left_out = [row.name for row in chosen if not dialog.take(row)]
    searchers, readers = (tuple(name for name in names if name not in left_out) for names in (searchers, readers))
    if not searchers or len(left_out) == len(chosen):
        raise ConfigurationError("There is no provider left to set up. Nothing was written.")
    values = {"search.providers": searchers, **dialog.values}
    if readers and readers != settings.read.providers:
        values["read.providers"] = readers
    text = read(user_file())
    plan = SetupPlan(user_file(), text, with_values(text, values), dialog.keys, _keeper() if dialog.keys else None)
    _finish(plan, searchers)


def _with_named(
    settings: Settings, rows: Mapping[str, ProviderStatus], named: Sequence[str]
) -> tuple[tuple[str, ...], tuple[str, ...]]:
    """Return the providers of both roles: the named ones, each for search if it can, then those in use."""
    explicit = settings.origin("search.providers") != "default"
    used = [name for name in settings.search.providers if explicit or (name in rows and rows[name].state == "ready")]
    search = (*(name for name in named if _can(rows[name], "search")), *used)
    read = (*(name for name in named if not _can(rows[name], "search")), *settings.read.providers)
    return tuple(dict.fromkeys(search or settings.search.providers)), tuple(dict.fromkeys(read))


def _choose(settings: Settings, rows: Mapping[str, ProviderStatus]) -> tuple[tuple[str, ...], tuple[str, ...]]:
    """Ask which providers to use."""
    usable = [row for row in rows.values() if row.name != "archive"]
    searchers = [row for row in usable if _can(row, "search")]
    write("Groundwire calls search providers in the order that you choose; each is the fallback for those before it.\n")
    current = [name for name in settings.search.providers if name in rows and rows[name].state == "ready"]
    question = "Search with (numbers or names, best first)"
    search = choose("Search providers", question, searchers, current or ["duckduckgo_lite"])
    readers = sorted((row for row in usable if _can(row, "read")), key=lambda row: row.read_place is None)
    write()
    return search, choose("Read providers (local needs nothing)", "Read pages with", readers, settings.read.providers)


def _can(row: ProviderStatus, role: str) -> bool:
    able = row.offer.capabilities
    return able.search if role == "search" else able.read


def _keeper() -> Keeper | None:
    """Return where to store keys; None for nowhere."""
    state = keyring_state()
    if state.usable:
        return KeyringKeeper()
    file = FileKeeper(keys_file())
    detail = f" ({state.detail})" if state.kind in ("not_installed", "failing") else ""
    place = f"{file.place}, which only you can read; it is not encrypted"
    write(clean(f"\n{state.problem[:-1]}{detail}. Keys can be stored in\n{place}."))
    return file if click.confirm("Store them there?", default=False) else None


def _finish(plan: SetupPlan, search: Sequence[str]) -> None:
    """Show the changes, ask for confirmation, write them, and print the next steps."""
    after = would_load(plan)
    if plan.before == plan.after:
        write(f"\n{plan.path} is already up to date.", err=True)
    else:
        write("\n" + diff(plan.path, plan.before, plan.after).rstrip("\n"), err=True)
    for variable in plan.keys:
        if plan.keeper is None:
            warn(f"{variable} is not stored: set it in the environment.")
        else:
            write(f"{variable} goes into {plan.keeper.place}.", err=True)
    if plan.is_empty:
        write("Nothing was changed.", err=True)
    else:
        if not click.confirm("Write this?", default=True):
            write("Nothing was written.", err=True)
            sys.exit(ExitCode.WRONG_USE)
        copy = commit(plan, datetime.now())  # noqa: DTZ005  # a name for the user, in the user's time
        write(f"Written.{f' The previous version is saved as {copy}.' if copy else ''}", err=True)
        _say_stronger(plan)
    if after.search.providers != tuple(search):
        warn(
            f"{after.origin('search.providers')} says search.providers = {', '.join(after.search.providers)}, "
            "which takes precedence over this file."
        )
    write('Next: groundwire search "reciprocal rank fusion"; groundwire doctor diagnoses problems.', err=True)


def _say_stronger(plan: SetupPlan) -> None:
    """List the stored keys that are not used, because another source takes precedence."""
    now = load()
    for variable, key in plan.keys.items() if plan.keeper is not None else ():
        if now.secret(variable) != key and (source := key_source(now, (variable,))) is not None:
            warn(f"{variable} is also in {source[1]} with another key, which takes precedence over the stored one.")
