"""`groundwire search`."""

from __future__ import annotations

import sys
import time
from types import MappingProxyType
from typing import TYPE_CHECKING, Any, get_args

import click

from groundwire.cli.call_runner import ToolCommand, each, print_json, run, show_progress, words_or_input
from groundwire.cli.options import SEARCH, search_with, timeout, with_refresh
from groundwire.cli.terminal_text import (
    ExitCode,
    clean,
    day,
    escaped,
    is_quiet,
    is_verbose,
    warn,
    warn_of_result,
    write,
    write_hit,
)
from groundwire.errors import AllProvidersFailed, GroundwireError, counted
from groundwire.models import MAX_LIMIT, SafeSearch, SearchResponse, SearchSource, Strategy
from groundwire.models.validators import TimeRangeName
from groundwire.web import Web

if TYPE_CHECKING:
    from groundwire.tools import ToolResult

_EPILOG = """\b
Examples:
  groundwire search "rank fusion" --time-range y
  groundwire search "rank fusion" --json | jq -r .url
  groundwire search --in ~/papers "what was measured in winter\""""
_TIME_RANGES = (*get_args(TimeRangeName), "all")
_FILTERED = MappingProxyType(
    {
        "native": "filtered by the provider",
        "operator": "sent as part of the query",
        "post_filter": "filtered here, after the provider answered",
        "not_possible": "not supported by the provider, so the results are not filtered",
    }
)


def _failed(query: str, error: GroundwireError) -> ToolResult:
    from groundwire.tools import search_failed  # costs nothing until it is used

    return search_failed(query, error)


@click.command(
    cls=ToolCommand,
    failed=_failed,
    subject="query",
    epilog=_EPILOG,
)
@click.argument("query", nargs=-1, metavar="QUERY...", callback=words_or_input)
@click.option(
    "-n",
    "--limit",
    "limit",
    type=int,
    metavar="N",
    help=f"Maximum number of results, 1 to {MAX_LIMIT}. By default the setting search.limit ({SEARCH.limit}).",
)
@click.option(
    "-t",
    "--time-range",
    default="all",
    metavar=f"[{'|'.join(_TIME_RANGES)}]",
    help="Maximum age of results.",
)
@click.option("--after", "published_after", metavar="DAY", help="Published on or after this day, such as 2026-01-31.")
@click.option("--before", "published_before", metavar="DAY", help="Published on or before this day.")
@click.option(
    "-d",
    "--domain",
    "--site",
    "allowed_domains",
    multiple=True,
    metavar="NAME",
    help="Only this domain and its subdomains; repeatable.",
)
@click.option(
    "-x",
    "--block-domain",
    "blocked_domains",
    multiple=True,
    metavar="NAME",
    help="Exclude this domain; repeatable.",
)
@click.option(
    "--in",
    "folders",
    multiple=True,
    type=click.Path(exists=True, file_okay=False, resolve_path=True),
    metavar="FOLDER",
    help="Search the files of this folder instead of the web; repeatable.",
)
@search_with
@click.option("--language", metavar="CODE", help="A language such as en or pt-BR.")
@click.option("--region", metavar="CODE", help="A country such as us or de.")
@click.option(
    "--safesearch",
    metavar=f"[{'|'.join(get_args(SafeSearch))}]",  # not a choice: the words of other search tools are taken, too
    help=f"How strictly to filter explicit results. By default the setting search.safesearch ({SEARCH.safesearch}).",
)
@click.option(
    "--sources",
    type=click.Choice(get_args(SearchSource)),
    default="web",
    help="What to search: the web, papers (search.paper_providers), or the files of policy.files.",
)
@click.option(
    "--strategy",
    type=click.Choice(get_args(Strategy)),
    help="Call one provider after another; start the next when one is slow; or call several and merge.",
)
@with_refresh
@click.option("--page", type=int, default=1, metavar="N", help="The page of results, if the provider has pages.")
@timeout(f"the whole search. By default the setting search.timeout ({SEARCH.timeout:g}).")
@click.option("--json", "as_lines", is_flag=True, help="Print each result as a line of JSON: --format jsonl.")
@click.option(
    "--format",
    "form",
    type=click.Choice(["text", "jsonl", "json"]),
    default="text",
    help="Print text; a line of JSON per result; or one JSON object, the tool's structured result, for a failure too.",
)
def search(
    query: str, folders: tuple[str, ...], providers: tuple[str, ...], as_lines: bool, form: str, **options: Any
) -> None:
    """Search the web for QUERY; without it, or with -, it is read from standard input.

    With --in, the files of folders are searched, except hidden files and files with keys.

    With --json, standard output has a line per result and nothing else, for jq; notes and errors go to standard error.
    """
    options |= {name: each(options[name]) for name in ("allowed_domains", "blocked_domains")}
    if folders and options["sources"] == "papers":
        raise click.UsageError("--in searches files: omit --sources papers.")
    chosen = "search.providers" if options["sources"] == "web" else "search.paper_providers"
    options["sources"] = ("files",) if folders else (options["sources"],)
    if options["sources"] == ("files",) and providers:
        raise click.UsageError("--in searches files without a provider: omit --provider.")

    async def call(web: Web) -> SearchResponse:
        if folders:
            indexed = await web.index_files(lambda read, total: show_progress(f"Reading files: {read:,} of {total:,}"))
            if indexed.read and not is_quiet():
                write(f"Read {counted(indexed.read, 'new or changed file')} of {indexed.files:,}.", err=True)
        return await web.search(query, **options)

    started = time.perf_counter()
    settings: dict[str, Any] = {chosen: each(providers)} if providers else {}
    response = run("Searching", settings | ({"policy.files": folders} if folders else {}), call)
    if form == "json":
        from groundwire.tools import searched

        print_json(searched(response))
    else:
        show = _print_lines if as_lines or form == "jsonl" else _print_text
        show(response)
        _print_notes(response, time.perf_counter() - started, as_lines=as_lines)
    sys.exit(ExitCode.OK if response.results else ExitCode.NOTHING)


def _print_lines(response: SearchResponse) -> None:
    for row in response.results:
        click.echo(escaped(row.model_dump_json()))


def _print_text(response: SearchResponse) -> None:
    for row in response.results:
        facts = " · ".join(filter(None, (row.source, day(row.published))))
        write_hit(row.citation_id, row.title, row.url, row.snippet, facts)


def _print_notes(response: SearchResponse, seconds: float, *, as_lines: bool) -> None:
    good = {"ok", "partial", "empty"}
    failed = [attempt for attempt in response.attempts if attempt.outcome not in good and not attempt.abandoned]
    if failed and response.results and not response.stale:  # otherwise the warnings explain it
        error = AllProvidersFailed(failed)
        warn(*(error.causes if is_verbose() else [error.trouble]))
    warn_of_result(response.warnings)
    for receipt in response.filters:
        if receipt.applied != "native" or receipt.note:
            note = f" ({receipt.note})" if receipt.note else ""
            warn(f"{receipt.filter}: {_FILTERED[receipt.applied]}{note}")
    if is_quiet():
        return
    if response.results:
        shape = ", one JSON object per line (--format json: one object)" if as_lines else ""
        count = counted(len(response.results), "result")
        write(f"{count} from {response.provider} in {seconds:.1f} s{shape}", err=True, dim=True)
    else:
        write(clean(f"No results found for: {response.query}"), err=True)
