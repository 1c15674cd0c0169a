"""`groundwire setup`."""

from __future__ import annotations

import asyncio
import os
import sys
from collections.abc import Sequence
from datetime import datetime
from pathlib import Path

import click

from groundwire.cli.call_runner import each
from groundwire.cli.help_pages import Command
from groundwire.cli.setup_prompts import PresetAnswers, Talk, parse_presets
from groundwire.cli.setup_steps import SetupRefused, Steps
from groundwire.cli.terminal_text import (
    ExitCode,
    diff,
    say_error,
    warn,
    write,
)
from groundwire.errors import ConfigurationError, UnknownProvider
from groundwire.settings import Settings, load
from groundwire.settings.sources import FILE_NAME, FILE_VARIABLE, keys_file, user_file, working_folder
from groundwire.settings.user_folders import expand_user, read
from groundwire.setup import (
    FileKeeper,
    Keeper,
    KeyringKeeper,
    ProviderStatus,
    SetupPlan,
    commit,
    key_source,
    keyring_state,
    load_offers,
    provider_statuses,
    with_values,
    would_load,
)

__all__ = ["setup"]

_EXIT_CODES = "Exit code 3: a provider rejected its key or address, and nothing was written."


@click.command(cls=Command, short_help="Choose providers, store their keys, and test them.", epilog=_EXIT_CODES)
@click.option("--provider", "-p", "providers", multiple=True, metavar="NAME", help="Prefer this provider for search.")
@click.option("--reader", "-r", "readers", multiple=True, metavar="NAME", help="Prefer this reader for pages.")
@click.option("--only", is_flag=True, help="Use only the named providers.")
@click.option("--key-from-env", multiple=True, metavar="[NAME=]VARIABLE", help="Variable that holds the key.")
@click.option("--key-file", multiple=True, metavar="[NAME=]FILE", help="File that holds the key; - is standard input.")
@click.option("--address", multiple=True, metavar="[NAME=]URL", help="URL of a self-hosted service.")
@click.option("--keep", type=click.Choice(["keyring", "file", "nowhere"]), help="Where to store keys.")
@click.option("--project", is_flag=True, help=f"Write ./{FILE_NAME} instead of the user settings.")
@click.option("--no-verify", is_flag=True, help="Do not test the providers.")
@click.option("--no-browser", is_flag=True, help="Only print sign-up URLs.")
@click.option("--yes", "-y", is_flag=True, help="Answer yes to every question.")
def setup(
    providers: tuple[str, ...],
    readers: tuple[str, ...],
    only: bool,
    key_from_env: tuple[str, ...],
    key_file: tuple[str, ...],
    address: tuple[str, ...],
    keep: str | None,
    project: bool,
    no_verify: bool,
    no_browser: bool,
    yes: bool,
) -> None:
    """Choose providers, enter their keys, and test them.

    Keys are stored in the keyring, or in a file that only you can read; never in groundwire.toml. Changes to that file
    are shown first, confirmed by you, and the old file is backed up. Run it again to see or change the setup.
    """
    try:
        settings = load()
        searching, reading = each(providers), each(readers)
        names, offers = (*searching, *reading), load_offers()
        for name in names:
            if name.partition(":")[0] not in offers:
                raise UnknownProvider(name, offers)
        presets = parse_presets(names, offers, from_env=key_from_env, from_file=key_file, addresses=address)
        talk = Talk(browser=not no_browser) if not yes and sys.stdin.isatty() and sys.stdout.isatty() else None
        if talk is None and not (yes and names):
            raise ConfigurationError(_no_terminal(named=bool(names)))
        named = os.environ.get(FILE_VARIABLE) or FILE_NAME
        path = working_folder() / expand_user(named) if project else user_file()
        _run(settings, searching, reading, presets, talk, path, keep=keep, only=only, tries=not no_verify)
    except SetupRefused as error:
        say_error(f"{error} Nothing was written.")
        sys.exit(ExitCode.FAILED)


def _run(
    settings: Settings,
    searching: tuple[str, ...],
    reading: tuple[str, ...],
    presets: PresetAnswers,
    talk: Talk | None,
    path: Path,
    *,
    keep: str | None,
    only: bool,
    tries: bool,
) -> None:
    rows = {row.name: row for row in asyncio.run(provider_statuses(settings))}
    for name in (*searching, *reading):  # a new NAME:LABEL
        if name not in rows:
            kind = rows[name.partition(":")[0]]
            rows[name] = ProviderStatus(
                name=name, offer=kind.offer, search_place=None, read_place=None, state="not_set_up",
                key_from=kind.key_from, variable=kind.variable,
            )  # fmt: skip
    if searching or reading:
        searchers, readers = _named(settings, rows, searching, reading, only=only)
        chosen = [rows[name] for name in dict.fromkeys((*searching, *reading))]
    else:
        searchers, readers = _choose(settings, rows, talk or Talk(browser=False))
        chosen = [rows[name] for name in dict.fromkeys((*searchers, *readers))]
    steps = Steps(settings, presets, talk, tries)
    steps.take(chosen)
    searchers, readers = (tuple(name for name in names if name not in steps.left_out) for names in (searchers, readers))
    if not searchers:
        raise ConfigurationError("There is no provider left to search with. Nothing was written.")
    values = {"search.providers": searchers, **steps.values}
    if readers and readers != settings.read.providers:
        values["read.providers"] = readers
    text = read(path)
    plan = SetupPlan(path, text, with_values(text, values), steps.keys, _keeper(keep, talk) if steps.keys else None)
    _finish(plan, searchers, talk)


def _named(
    settings: Settings,
    rows: dict[str, ProviderStatus],
    searching: tuple[str, ...],
    reading: tuple[str, ...],
    *,
    only: bool,
) -> tuple[tuple[str, ...], tuple[str, ...]]:
    """Return the providers of both roles: the named ones, then the existing ones that can be used."""
    readers = tuple(dict.fromkeys((*reading, *(name for name in searching if not _can(rows[name], "search")))))
    for name, role in (
        *((name, "search") for name in searching if name not in readers),
        *((n, "read") for n in readers),
    ):
        if not _can(rows[name], role):
            raise ConfigurationError(f"{name} cannot {'search' if role == 'search' else 'read pages'}.")
    search = tuple(name for name in searching if name not in readers)
    if not only:
        explicit = settings.origin("search.providers") != "default"
        search += tuple(n for n in settings.search.providers if explicit or (n in rows and rows[n].state == "ready"))
        readers += settings.read.providers
    return tuple(dict.fromkeys(search or settings.search.providers)), tuple(dict.fromkeys(readers))


def _choose(settings: Settings, rows: dict[str, ProviderStatus], talk: Talk) -> tuple[tuple[str, ...], tuple[str, ...]]:
    """Ask which providers to use."""
    usable = [row for row in rows.values() if row.name != "archive"]
    searchers = [row for row in usable if _can(row, "search")]
    talk.say(
        "Groundwire calls search providers in the order that you choose; each is the fallback for those before it.\n"
    )
    talk.list_offers("Search providers", searchers)
    current = [name for name in settings.search.providers if name in rows and rows[name].state == "ready"]
    search = talk.choose("Search with (numbers or names, best first)", searchers, current or ["duckduckgo_lite"])
    readers = sorted((row for row in usable if _can(row, "read")), key=lambda row: row.read_place is None)
    talk.say()
    talk.list_offers("Read providers (local needs nothing)", readers)
    return search, talk.choose("Read pages with", readers, settings.read.providers)


def _can(row: ProviderStatus, role: str) -> bool:
    able = row.offer.capabilities
    return able.search if role == "search" else able.read


def _keeper(keep: str | None, talk: Talk | None) -> Keeper | None:
    """Return where to store keys; None for nowhere."""
    if keep == "nowhere":
        return None
    file = FileKeeper(keys_file())
    if keep == "file":
        return file
    state = keyring_state()
    if state.usable:
        return KeyringKeeper()
    detail = f" ({state.detail})" if state.kind in ("not_installed", "failing") else ""
    why = f"{state.problem[:-1]}{detail}."
    if keep == "keyring":
        raise ConfigurationError(f"{why} Nothing was written. Use --keep file, or fix the keyring first.")
    place = f"{file.place}, which only you can read; it is not encrypted"
    if talk is None:
        warn(f"{why} Keys are stored in {place}.")
        return file
    talk.say(f"\n{why} Keys can be stored in\n{place}.")
    return file if talk.confirm("Store them there?", default=False) else None


def _finish(plan: SetupPlan, search: Sequence[str], talk: Talk | None) -> None:
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
        if talk is not None and not talk.confirm("Write this?", default=True):
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


def _no_terminal(*, named: bool) -> str:
    """Return how to do the same without a terminal."""
    if named:
        return "No terminal to prompt on: add --yes to write without asking."
    return (
        "No terminal to prompt on. To set up without questions: groundwire setup --provider brave "
        "--key-from-env BRAVE_API_KEY --yes (or --key-file FILE, - for standard input). Or set the "
        "environment variables GROUNDWIRE_SEARCH_PROVIDERS=brave,duckduckgo_lite and BRAVE_API_KEY instead; "
        "groundwire providers lists the variables of all providers."
    )
