"""`groundwire config`."""

from __future__ import annotations

import sys
import tomllib
from collections.abc import Iterable
from datetime import UTC, datetime
from itertools import groupby
from pathlib import Path
from typing import Any

import click

from groundwire.cli.help_pages import Group
from groundwire.cli.terminal_text import (
    ExitCode,
    clean,
    say_error,
    warn,
    write,
    write_json,
)
from groundwire.errors import ConfigurationError, GroundwireError
from groundwire.models.validators import did_you_mean
from groundwire.providers.query_mapping import base_of
from groundwire.providers.registry import provider_class
from groundwire.safety.guard import Guard
from groundwire.safety.urls import parse_url
from groundwire.settings import SettingValue, load, provider_rows, variable
from groundwire.settings.provider_options import provider_names, setting_key
from groundwire.settings.schema import display_text, known_keys, parse_store_url
from groundwire.settings.sources import FILE_NAME, FILE_VARIABLE, keys_file, places, user_file, working_folder
from groundwire.settings.user_folders import read, user_folder
from groundwire.storage.archive.store import archive_path


@click.group(cls=Group, invoke_without_command=True)
@click.pass_context
def config(ctx: click.Context) -> None:
    """Show and change the settings; without a command, show those that differ from the defaults."""
    if ctx.invoked_subcommand is None:
        ctx.invoke(show, everything=False, as_json=False)


@config.command(short_help="Print the settings that differ from the defaults.")
@click.option("--all", "everything", is_flag=True, help="Print every setting, those with their defaults too.")
@click.option("--json", "as_json", is_flag=True, help="Print a JSON list of {key, value, origin} of every setting.")
def show(everything: bool, as_json: bool) -> None:
    """Print the settings that differ from the defaults, with their origins; secrets are masked.

    Every setting can be written into a file, as `limit = 3` under `[search]`, or into the environment, as
    GROUNDWIRE_SEARCH_LIMIT=3. Arguments of a command take precedence over the environment, then a .env file, then the
    project's groundwire.toml (this folder or one above), then your user settings.
    """
    settings = load()
    rows = [*(row for row in settings.rows() if not row.key.startswith("providers.")), *provider_rows(settings)]
    rows.sort(key=lambda row: row.key.startswith("keys."))
    if as_json:
        write_json([row.model_dump() for row in rows], indent=2)
    else:
        _print_rows(rows if everything else [row for row in rows if row.origin != "default"])
        if not everything:
            defaults = sum(row.origin == "default" for row in rows)
            write(f"{defaults} settings have their defaults: groundwire config show --all prints them.")
    warn(*settings.warnings)
    if not as_json:
        write(f"\nYour own file: {user_file()}\nA project's file: {FILE_NAME}, or the one that {FILE_VARIABLE} names")
        write(f"A variable, for example: {variable('search.limit')}=3")


@config.command(short_help="Print the paths of settings, keys, cache and archive.")
def path() -> None:
    """Print the paths of the files in use; those that do not exist yet are marked."""
    settings = load()
    store = parse_store_url(settings.storage.url)
    files = {
        "your settings": user_file(),
        "project": next((file for file in places(None, working_folder()) if file != user_file()), Path(FILE_NAME)),
        "keys": keys_file(),
        "store": store.target or user_folder("cache") / "store.sqlite3" if store.kind == "sqlite" else store.kind,
        "archive": "postgresql" if settings.archive.url else archive_path(settings),
    }
    for name, file in files.items():
        missing = isinstance(file, Path) and not file.exists()
        write(f"{name:<14} {clean(str(file))}{'  (does not exist)' if missing else ''}", hang=15)


config.add_command(show, "list")


@config.command("get", short_help="Print the value of a setting.")
@click.argument("key")
def get(key: str) -> None:
    """Print the value of KEY, such as search.limit, and nothing else; secrets are masked."""
    settings = load()
    rows = {row.key: row.value for row in (*settings.rows(), *provider_rows(settings))}
    key = setting_key(key, rows)
    if key not in rows:
        within = [name for name in rows if name.startswith(f"{key}.")]
        raise ConfigurationError(
            f"{key} is a section; its settings are: {', '.join(within)}"
            if within
            else f"{key} is not a setting{did_you_mean(key, rows)}"
        )
    write(clean(rows[key]))


@config.command("set", short_help="Change a setting in your settings file.")
@click.argument("key")
@click.argument("value", required=False)
def set_(key: str, value: str | None) -> None:
    """Set KEY, such as search.limit, to VALUE; separate list items by commas. Comments in the file are preserved."""
    if value is None and "=" in key:
        key, _, value = map(str.strip, key.partition("="))
    if value is None:
        raise click.UsageError("Missing argument 'VALUE'. To return to the default, use groundwire config unset KEY.")
    _write(key, _toml(value), f"= {display_text(key, value)}")


@config.command("unset", short_help="Remove a setting from your settings file.")
@click.argument("key")
def unset(key: str) -> None:
    """Remove KEY, such as search.limit, so that its default applies again."""
    _write(key, None, "is not set")


def _write(name: str, value: object, change: str) -> None:
    """Change a setting in its file, or remove it if its value is None."""
    from groundwire.setup.apply import SetupPlan, commit, with_values, would_load

    key = setting_key(name, known_keys())
    if key.upper().endswith(("_API_KEY", ".API_KEY", ".APIKEY", ".KEY", ".TOKEN")) or key.startswith("keys."):
        say_error("API keys do not belong in a settings file. Run groundwire setup, or set an environment variable.")
        sys.exit(ExitCode.WRONG_USE)
    file, before = user_file(), read(user_file())
    known, section = known_keys(), key.partition(".")[0]
    if key not in known and (section != "providers" or key.count(".") < 2):
        near = f"; did you mean {f'providers.{key}'!r}?" if section != key and section in provider_names() else ""
        raise ConfigurationError(f"{key} is not a setting{near or did_you_mean(key, known)}")
    plan = SetupPlan(file, before, with_values(before, {key: value}))
    Guard(allowed_origins=would_load(plan).policy.allowed_origins)
    if value and key.endswith(".base_url"):
        try:
            parse_url(base_of(str(value), ""))
        except GroundwireError as error:
            raise ConfigurationError(f"{key} = {value!r}: {error}") from error
    if value is not None and key in {"search.providers", "read.providers"}:
        for provider in value if isinstance(value, list) else (str(value),):
            provider_class(provider)
    commit(plan, datetime.now(UTC))
    write(clean(f"{key} {change}  ({file})"))
    if key == "policy.files":
        warn(
            *(f"{folder} is no folder on this machine." for folder in load().policy.files if not Path(folder).is_dir())
        )
    for row in load().rows():
        if row.key == key and row.origin not in {str(file), "default"}:
            warn(f"{row.origin} takes precedence: {key} is {row.value}.")


def _toml(value: str) -> Any:
    """Parse a value as TOML, or else as text; text with commas is a list."""
    try:
        return tomllib.loads(f"value = {value}")["value"]
    except tomllib.TOMLDecodeError:
        parts = [part.strip() for part in value.split(",")]
        return parts if len(parts) > 1 else value


def _print_rows(rows: Iterable[SettingValue]) -> None:
    """Print settings by section; the keys are last, without those in the keyring."""
    for section, group in groupby(rows, lambda row: row.key.rpartition(".")[0]):
        write("API keys, except those in the keyring" if section == "keys" else f"[{_quoted(section)}]", bold=True)
        for row in group:
            faint = click.style(clean(row.origin), dim=row.origin == "default")
            write(f"  {row.key.rpartition('.')[2]:<24}  {clean(row.value) or '-'}  {faint}", hang=28)
        write()


def _quoted(section: str) -> str:
    """Quote a section's name for TOML."""
    provider = section.removeprefix("providers.")
    return f'providers."{provider}"' if provider != section and not provider.isidentifier() else section
