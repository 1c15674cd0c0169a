"""`groundwire search`."""

from __future__ import annotations

import shutil
import sys
import textwrap
import time
from typing import get_args

import click

from groundwire.cli.codes import ExitCode
from groundwire.cli.run import fail, run, warn
from groundwire.errors import GroundwireError
from groundwire.models import SearchResponse, TimeRange
from groundwire.tools import render_json, search_failed, searched
from groundwire.web import Web

__all__ = ["search"]

_WIDEST = 100  # characters; longer lines are tiring to read


@click.command()
@click.argument("query", nargs=-1, required=True)
@click.option("-n", "--limit", type=int, help="Most results, 1 to 50.")
@click.option("-t", "--time-range", help=f"How recent: {', '.join(get_args(TimeRange))} (day, week, month, year, any).")
@click.option("-d", "--domain", "domains", multiple=True, help="Only this domain and its sub-domains; repeatable.")
@click.option("-x", "--block-domain", "blocked", multiple=True, help="Never this domain; repeatable.")
@click.option("-p", "--provider", "providers", multiple=True, help="Ask this provider; repeatable, in this order.")
@click.option("--language", help="A language such as en or pt-BR.")
@click.option("--region", help="A country such as us or de.")
@click.option("--timeout", type=float, help="Seconds for the whole search.")
@click.option("--json", "as_json", is_flag=True, help="Print the tool's structured result and nothing else.")
def search(
    query: tuple[str, ...],
    limit: int | None,
    time_range: str | None,
    domains: tuple[str, ...],
    blocked: tuple[str, ...],
    providers: tuple[str, ...],
    language: str | None,
    region: str | None,
    timeout: float | None,
    as_json: bool,
) -> None:
    """Search the web for QUERY.

    Exit codes: 0 results, 1 searched and found nothing, 2 wrong use, 3 the web could not be searched.
    """
    words = " ".join(query)

    async def call(web: Web) -> SearchResponse:
        return await web.search(
            words,
            limit=limit,
            allowed_domains=domains,
            blocked_domains=blocked,
            time_range=time_range or "all",  # type: ignore[arg-type]  # judged by Web.search, which says what is wrong
            language=language,
            region=region,
            timeout=timeout,
        )

    started = time.perf_counter()
    try:
        response = run("Searching", {"search.providers": providers or None}, call)
    except GroundwireError as error:
        fail(error, search_failed(words[:200], error) if as_json else None)
    if as_json:
        click.echo(render_json(searched(response)))
    else:
        _print(response, time.perf_counter() - started)
    sys.exit(ExitCode.OK if response.results else ExitCode.NOTHING)


def _print(response: SearchResponse, seconds: float) -> None:
    width = min(_WIDEST, shutil.get_terminal_size().columns)
    for row in response.results:
        click.echo(f"{row.citation_id:>2}. " + click.style(row.title, bold=True))
        click.echo("    " + click.style(row.url, fg="blue"))
        if row.snippet:
            click.echo(textwrap.fill(row.snippet, width, initial_indent="    ", subsequent_indent="    "))
        facts = " · ".join(filter(None, (row.source, row.published)))
        click.echo("    " + click.style(facts, dim=True) + "\n")
    for attempt in response.attempts:
        if attempt.outcome not in {"ok", "partial", "empty"}:
            warn(attempt.describe())
    for warning in response.warnings:
        warn(warning)
    if response.results:
        count = f"{len(response.results)} result{'s' if len(response.results) > 1 else ''}"
        click.echo(click.style(f"{count} from {response.provider} in {seconds:.1f} s", dim=True), err=True)
    else:
        click.echo(f"No results found for: {response.query}", err=True)
