"""`groundwire archive`."""

from __future__ import annotations

import asyncio
import logging
import sys
from collections.abc import Awaitable, Callable, Sequence
from datetime import datetime
from pathlib import Path
from typing import TypeVar

import click

from groundwire.cli.call_runner import storable
from groundwire.cli.help_pages import Command, Group
from groundwire.cli.options import SEARCH
from groundwire.cli.terminal_text import (
    ExitCode,
    clean,
    confirmed,
    day,
    shown_url,
    warn,
    write,
    write_hit,
)
from groundwire.errors import ConfigurationError, InvalidRequest, counted
from groundwire.models import MAX_LIMIT, Query
from groundwire.safety.tenancy import OPERATOR
from groundwire.settings import load
from groundwire.settings.schema import display_text
from groundwire.storage.archive.store import Archive, ArchiveHit, Statistics, open_archive
from groundwire.storage.base import StoreError

_logger = logging.getLogger(__name__)

_OFF = "The archive is disabled: set archive.enabled = true."
_DAY = click.DateTime(["%Y-%m-%d"])

_T = TypeVar("_T")


@click.group(cls=Group)
def archive() -> None:
    """Search and manage the offline archive of pages and search results."""


@archive.command(cls=Command, short_help="Search archived pages and results.")
@click.argument("query", nargs=-1, required=True)
@click.option(
    "-n",
    "--limit",
    type=int,
    default=SEARCH.limit,
    show_default=True,
    metavar="N",
    help=f"Maximum results, 1 to {MAX_LIMIT}.",
)
def search(query: tuple[str, ...], limit: int) -> None:
    """Search archived pages and results for QUERY.

    To filter by day or domain: groundwire search QUERY --provider archive, which finds only what one passage answers.
    """
    wanted = Query(text=storable(" ".join(query)), limit=limit)
    hits = _run(lambda store: store.search(wanted.text, viewer=OPERATOR, limit=wanted.limit))
    _print(hits)
    if not hits:
        write(clean(f"No archived pages or results match: {wanted.text}"), err=True)
    sys.exit(ExitCode.OK if hits else ExitCode.NOTHING)


@archive.command("list", cls=Command)
@click.option("-n", "--limit", type=click.IntRange(1, 10_000), default=20, show_default=True, help="Maximum entries.")
@click.option("--offset", type=click.IntRange(0, 2**31), default=0, help="Skip the N newest entries.")
def list_(limit: int, offset: int) -> None:
    """List archived pages and results, newest first."""

    async def look(store: Archive) -> tuple[Sequence[ArchiveHit], Statistics]:
        return await store.list(limit, offset, viewer=OPERATOR), await store.statistics(viewer=OPERATOR)

    hits, totals = _run(look)
    for row in hits:
        when = click.style(f"{row.seen:%Y-%m-%d %H:%M}  {row.kind:<6}", dim=True)
        write(f"{when}  {shown_url(row.url)}{row.title and '  '}{clean(row.title)}", hang=26)
    size = f"about {totals.size / 1_000_000:.1f} MB"
    write(f"{counted(totals.pages, 'page')}, {counted(totals.results, 'result')}, {size}", err=True, dim=True)
    sys.exit(ExitCode.OK if hits else ExitCode.NOTHING)


@archive.command(cls=Command, short_help="Delete pages and results.")
@click.argument("url", required=False)
@click.option("-d", "--domain", metavar="NAME", help="This domain and its subdomains.")
@click.option("--before", type=_DAY, metavar="DAY", help="Entries seen before this day, such as 2026-01-31 (UTC).")
@click.option("--all", "everything", is_flag=True, help="All entries; asks first.")
@click.option("-y", "--yes", is_flag=True, help="Do not ask.")
def forget(url: str | None, domain: str | None, before: datetime | None, everything: bool, yes: bool) -> None:
    """Delete the entries of URL, or those that one option selects."""
    if sum((url is not None, domain is not None, before is not None, everything)) != 1:
        raise click.UsageError("Specify what to delete by one of these: a URL, --domain, --before or --all.")
    if domain is not None:
        try:
            (domain,) = Query(text="-", allowed_domains=(domain,)).allowed_domains
        except InvalidRequest as error:
            raise InvalidRequest("--domain", error.problem, error.fix) from None
    if everything and not yes and not confirmed("Delete all archived pages and results?"):
        write("Nothing was deleted.", err=True)
        sys.exit(ExitCode.WRONG_USE)
    day = before.date() if before else None
    count = _run(lambda store: store.forget(url=url, domain=domain, before=day, everything=everything))
    write(f"Forgot {counted(count, 'entry', 'entries')}.")
    sys.exit(ExitCode.OK if count else ExitCode.NOTHING)


def _run(work: Callable[[Archive], Awaitable[_T]]) -> _T:
    """Open the archive of the settings, call the function and close the archive.

    Raises:
        ConfigurationError: the settings are invalid, or disable it. GroundwireError: raised by the function.
    """
    settings = load()
    warn(*settings.warnings)
    store = open_archive(settings)
    if store is None:
        raise ConfigurationError(_OFF)
    _logger.info("The archive is %s", display_text("archive.url", str(store.path)))

    async def run_work() -> _T:
        try:
            await store.open()
            if store.recreated and isinstance(store.path, Path):  # the previous content was not deleted or searched
                aside = max(map(str, store.path.parent.glob(f"{store.path.name}.corrupt-*")), default="")
                raise StoreError(
                    f"The archive {store.path} was damaged and moved aside: {aside}. "
                    "Look at that file, then try again: a new archive was created."
                )
            return await work(store)
        finally:
            await store.aclose()

    return asyncio.run(run_work())


def _print(hits: Sequence[ArchiveHit]) -> None:
    for number, row in enumerate(hits, start=1):
        how = "read" if row.kind == "page" else "seen"
        published = f"published {day(row.published)} · " if row.published else ""
        write_hit(number, row.title or row.url, row.url, row.snippet, f"{published}{how} {row.seen:%Y-%m-%d}")
