"""`groundwire keys`: the API keys of the gateway."""

from __future__ import annotations

import re
from collections.abc import Mapping, Sequence
from datetime import UTC, datetime, time, timedelta
from pathlib import Path
from typing import Any, Final

import click
from pydantic import ValidationError

from groundwire.cli.call_runner import each
from groundwire.cli.help_pages import Group
from groundwire.cli.terminal_text import clean, table, warn, write, write_json
from groundwire.errors import ConfigurationError
from groundwire.models.validators import did_you_mean, faults
from groundwire.settings import Settings, load
from groundwire.settings.provider_options import provider_names
from groundwire_server.auth.keys import KeyFile, KeyLimits, KeyRecord, key_file_of, make_key

_DAYS = re.compile(r"([1-9]\d{0,4})d")
_LISTS: Final[Mapping[str, str]] = {
    "providers": "providers",
    "allowed_domains": "allowed",
    "blocked_domains": "blocked",
}
"""The limits that are lists of names, with their options."""
_TABLE = ("id", "name", "key", "state", "created", "expires", "tenant", "limits")


@click.group(cls=Group, invoke_without_command=True, short_help="Create, list and revoke API keys.")
@click.pass_context
def keys(ctx: click.Context) -> None:
    """Create, list and revoke the API keys of the gateway; without a command, they are listed.

    The file of the setting server.key_file holds their hashes. Running gateways notice a change within a second.
    """
    if ctx.invoked_subcommand is None:
        ctx.invoke(keys.commands["list"])


@keys.command(short_help="Create a key and show it once.")
@click.argument("name")
@click.option("--tenant", metavar="NAME", help="Keys of one tenant share sessions; by default each has its own.")
@click.option("--expires", metavar="WHEN", help="Expiry: 90d (days from now), or 2027-01-31 (end of the day, UTC).")
@click.option("--operator", is_flag=True, help="Let the key see data of all tenants, such as metrics.")
@click.option("--rate", type=click.IntRange(1, 1_000_000), metavar="N", help="Sustained requests per minute.")
@click.option(
    "--burst",
    type=click.IntRange(1, 1_000_000),
    metavar="N",
    help="Burst of requests; by default a sixth of the rate.",
)
@click.option("--calls-per-day", type=click.IntRange(1), metavar="N", help="Searches and pages per day (UTC).")
@click.option("--usd-per-day", type=click.FloatRange(0, min_open=True), metavar="X", help="US dollars per day (UTC).")
@click.option("--provider", "providers", multiple=True, metavar="NAME", help="Allow only this provider; repeatable.")
@click.option("--allow-domain", "allowed", multiple=True, metavar="NAME", help="Allow only this domain; repeatable.")
@click.option("--block-domain", "blocked", multiple=True, metavar="NAME", help="Block this domain; repeatable.")
@click.option("--files", multiple=True, metavar="FOLDER", help="Let it read this folder's files; repeatable.")
@click.option("--no-keep", is_flag=True, help="Do not store its calls in the cache or the archive.")
def create(name: str, tenant: str | None, expires: str | None, operator: bool, no_keep: bool, **options: Any) -> None:
    """Create a key called NAME and show it.

    The key is shown only once; the key file holds its hash. Clients send it as
    `Authorization: Bearer KEY` or `X-API-Key: KEY`.
    """
    if options["burst"] and not options["rate"]:
        raise click.UsageError("--burst requires --rate.")
    settings = _settings()
    now = datetime.now(UTC)
    try:
        named = {name: each(options.pop(option)) for name, option in _LISTS.items()}
        numbers = {name: value for name, value in options.items() if value is not None}
        limits = KeyLimits(**{**numbers, **named, "providers": _providers(named["providers"]), "keep": not no_keep})
        key, record = make_key(
            name, now, expires=_moment(expires, now), tenant=tenant or "", operator=operator, limits=limits
        )
    except ValidationError as error:
        raise ConfigurationError(" ".join(_fault(where, what) for where, what in faults(error))) from None
    file = KeyFile(key_file_of(settings))
    file.add(record)
    warn(*(f"{folder} is no folder on this machine." for folder in limits.files if not Path(folder).is_dir()))
    write(f"Key {record.id} ({clean(record.name)}) is in {clean(str(file.path))}.", err=True)
    write("It is shown only once:", err=True)
    click.echo(key)


@keys.command(name="list", short_help="List the keys, without their secrets.")
@click.option("--json", "as_json", is_flag=True, help="Print JSON and nothing else.")
def list_(as_json: bool) -> None:
    """List all keys, including revoked and expired ones; only their last characters are shown."""
    file = KeyFile(key_file_of(_settings()))
    now = datetime.now(UTC)
    records = file.records()
    if as_json:
        write_json([_as_dict(record, now) for record in records], indent=2)
        return
    if not records:
        write(f"There is no key in {clean(str(file.path))}. Create one: groundwire keys create NAME", err=True)
        return
    write(table([_TABLE, *(tuple(map(clean, _row(record, now))) for record in records)]), hang=2)


@keys.command(short_help="Revoke a key.")
@click.argument("key")
def revoke(key: str) -> None:
    """Revoke a key by its ID or name. Gateways reject it within a second. This cannot be undone."""
    record = KeyFile(key_file_of(_settings())).revoke(key, datetime.now(UTC))
    write(f"Key {record.id} ({clean(record.name)}, ...{record.last}) is revoked.")


def _settings() -> Settings:
    settings = load()
    warn(*settings.warnings)
    return settings


def _providers(names: Sequence[str]) -> tuple[str, ...]:
    installed = provider_names()
    for name in names:
        if name.partition(":")[0] not in installed:
            meant = did_you_mean(name, installed)
            raise ConfigurationError(f"--provider: {name[:60]!r} is not an installed provider{meant}")
    return tuple(names)


def _moment(text: str | None, now: datetime) -> datetime | None:
    """Return when a key expires."""
    if text is None:
        return None
    try:
        if match := _DAYS.fullmatch(text):
            return now + timedelta(days=int(match[1]))
        day = datetime.strptime(text, "%Y-%m-%d").replace(tzinfo=UTC).date()
        end = datetime.combine(day, time.max, UTC)
    except (ValueError, OverflowError):
        raise ConfigurationError(
            f"--expires: {text[:60]!r} is not a date or a number of days. Write 90d, or a day such as 2027-01-31."
        ) from None
    if end <= now:
        raise ConfigurationError(f"--expires: {text} is in the past.")
    return end


def _fault(where: str, what: str) -> str:
    if where in {"name", "tenant"}:
        what = "must be 1 to 64 letters, digits, dots, dashes and underscores, and begin with a letter or digit"
    return f"{where}: {what.rstrip('.')}."


def _as_dict(record: KeyRecord, now: datetime) -> dict[str, Any]:
    """Return what may be shown of a key, without any part of its hash."""
    return {**record.model_dump(mode="json", exclude={"digest"}), "state": record.why_dead(now) or "valid"}


def _row(record: KeyRecord, now: datetime) -> tuple[str, ...]:
    limits = record.limits.model_dump(exclude_defaults=True)
    parts = [f"{name}={'+'.join(value) if isinstance(value, tuple) else value}" for name, value in limits.items()]
    parts += ["operator"] if record.operator else []
    return (
        record.id,
        record.name,
        f"...{record.last}",
        record.why_dead(now) or "valid",
        f"{record.created:%Y-%m-%d}",
        f"{record.expires:%Y-%m-%d}" if record.expires else "never",
        "" if record.tenant == record.id else record.tenant,
        ", ".join(parts),
    )
