"""`groundwire map` and `groundwire read`: the addresses of a site, and any number of pages."""

from __future__ import annotations

import asyncio
import sys
import time
from collections import Counter
from collections.abc import AsyncIterator, Iterator
from contextlib import nullcontext
from datetime import timedelta
from pathlib import Path
from typing import Any

import click

from groundwire.cli.call_runner import ToolCommand, each, run, show_progress, stop_progress
from groundwire.cli.options import READ, read_with, timeout, with_refresh
from groundwire.cli.terminal_text import ExitCode, clean, escaped, is_quiet, say_error, warn, write, write_json
from groundwire.errors import GroundwireError, InvalidRequest
from groundwire.json_text import json_object
from groundwire.reading.documents.document import FILES
from groundwire.reading.encoding.content_type import media_type
from groundwire.safety.urls import parse_url, with_scheme
from groundwire.web import Web
from groundwire.web.page_batch import PageBatch
from groundwire.web.page_output import page_record

_LONGEST_LINE = 20_000  # characters; no address has more
_LONGEST_NAME = 255  # bytes of a file's name; asking for a longer one is an error
_HEAD = 4_096  # bytes by which the kind of a file is recognized
_LISTS = (".txt", ".csv", ".json", ".jsonl", ".ndjson")
_STEP = 100  # pages between two lines of progress where there is no terminal
_TIMEOUT = timeout(f"each request. By default the setting read.timeout ({READ.timeout:g}).")


@click.command(
    "map",
    cls=ToolCommand,
    failed=None,
    subject="urls",
)
@click.argument("urls", metavar="URL")
@click.option("-n", "--limit", type=int, default=1_000, show_default=True, metavar="N", help="Maximum addresses.")
@click.option(
    "--depth",
    type=int,
    metavar="N",
    help="Maximum links from the first page. By default 1 if sitemaps list pages, else 3.",
)
@_TIMEOUT
@click.option("--json", "as_json", is_flag=True, help="Print each address as a line of JSON, with its origin and date.")
def map_(urls: str, as_json: bool, **options: Any) -> None:
    """List the addresses of a site on the host and below the folder of URL, one per line.

    They come from its sitemaps, its feeds, and its links, breadth first, except those that its robots.txt forbids.
    """
    url = with_scheme(urls)

    async def call(web: Web) -> None:
        await web.allow_urls_in(url)  # a URL on the command line comes from the user
        rows = web.map(url, **options)
        count = 0
        async for row in rows:
            count += 1
            if sys.stdout.isatty():
                stop_progress()
            click.echo(escaped(row.model_dump_json(exclude_none=True)) if as_json else clean(row.url))
            show_progress(f"Mapping: {count:,} addresses, {rows.pages_read:,} documents read")
        warn(*rows.warnings)

    run("Mapping", {}, call, shows_attempts=False)


@click.command(
    "read",
    cls=ToolCommand,
    failed=None,
    subject="urls",
    epilog="""\b
Examples:
  groundwire map https://docs.example.org/ | groundwire read - -o docs
  groundwire read urls.txt -o pages.jsonl""",
)
@click.argument("urls", metavar="URL|FILE|-...", nargs=-1, required=True)
@click.option(
    "-o",
    "--output",
    type=click.Path(path_type=Path),
    metavar="PATH",
    help="A folder for a Markdown file per page, or a .jsonl file for a line per page. Run the same command "
    "again to resume an interrupted run. Without a path, pages are printed as lines of JSON.",
)
@click.option("--at-once", type=int, default=8, show_default=True, metavar="N", help="Maximum pages at the same time.")
@click.option("--per-host", type=int, default=2, show_default=True, metavar="N", help="The same for one host.")
@click.option(
    "--delay",
    type=float,
    default=0.5,
    show_default=True,
    metavar="SECONDS",
    help="Seconds between pages of one host.",
)
@read_with
@_TIMEOUT
@with_refresh
def read(urls: tuple[str, ...], readers: tuple[str, ...], output: Path | None, **options: Any) -> None:
    """Read the page at each URL, and at those in each FILE, or in standard input for -.

    A file has one URL per line, or lines of JSON with a url, as map --json prints them; lines with # are comments.
    """
    lines = _AddressLines(urls)

    async def call(web: Web) -> PageBatch:
        pages = web.read_many(lines.addresses(web), output=output, **options)
        meter = _Meter(pages, lines)
        async for page in pages:
            if page.status == "error":
                meter.causes[page.error] += 1
                say_error(f"{page.url}: {page.error}")
            elif output is None:
                write_json(page_record(page))
            meter.show()
        meter.close()
        return pages

    pages = run("Reading", {"read.providers": each(readers)} if readers else {}, call, shows_attempts=False)
    if pages.failed or pages.failed_earlier or lines.bad:
        sys.exit(ExitCode.FAILED)


class _AddressLines:
    """The addresses of the command line, with those of files and of standard input."""

    def __init__(self, arguments: tuple[str, ...]) -> None:
        self.bad = 0
        self._arguments = arguments
        files = [argument for argument in arguments if _is_file(argument)]
        inputs = sum(sum(1 for _ in _rows(file)) for file in files) + len(arguments) - len(files)
        self.total: int | None = None if "-" in arguments else inputs

    async def addresses(self, web: Web) -> AsyncIterator[str]:
        """Yield them; what is not an address is reported and counted."""
        for argument in self._arguments:
            if argument == "-" or _is_file(argument):
                rows = _rows(argument)
                while (row := await asyncio.to_thread(next, rows, None)) is not None:
                    number, text = row
                    try:
                        url = parse_url(with_scheme(_url_of(text))).text
                    except GroundwireError as error:
                        self.bad += 1
                        say_error(f"{argument}, line {number}: {error.summary}")
                        continue
                    await web.allow_urls_in(url)
                    yield url
            else:
                await web.allow_urls_in(argument)
                yield with_scheme(argument)


def _is_file(argument: str) -> bool:
    """Return whether an argument names a file.

    Raises:
        InvalidRequest: its name is that of a list, and it does not exist; it is no text.
    """
    if "://" not in argument and argument.endswith(_LISTS) and not Path(argument).exists():
        raise InvalidRequest("urls", f"{argument!r} is the name of a file that does not exist", "Check the path.")
    if argument.startswith((".", "/")) and len(argument) <= _LONGEST_NAME and Path(argument).is_dir():
        fix = f'To search its files: groundwire search --in {argument} "question"'
        raise InvalidRequest("urls", f"{argument!r} is a folder and no list of addresses", fix)
    if argument == "-" or "://" in argument or len(argument) > _LONGEST_NAME or not Path(argument).is_file():
        return False
    with Path(argument).open("rb") as file:
        kind = media_type("", file.read(_HEAD), argument)
    if kind.kind in FILES or kind.kind == "binary":
        fix = f"To read the file itself: groundwire open {argument}"
        raise InvalidRequest("urls", f"{argument!r} is {kind.description} and no list of addresses", fix)
    return True


def _rows(name: str) -> Iterator[tuple[int, str]]:
    """Yield the lines of a file, or of standard input for -, with their numbers, but no empty ones and no comments."""
    with nullcontext(sys.stdin) if name == "-" else Path(name).open(encoding="utf-8", errors="replace") as file:
        number = 0
        while line := file.readline(_LONGEST_LINE):
            number += 1
            text = line.strip().removeprefix("\ufeff")
            if text and not text.startswith("#"):
                yield number, text


def _url_of(text: str) -> str:
    """Return the address in a line of a file."""
    return str((json_object(text) or {}).get("url", text))


class _Meter:
    """How far the reading is."""

    def __init__(self, pages: PageBatch, lines: _AddressLines) -> None:
        self.causes: Counter[str] = Counter()
        self._pages = pages
        self._lines = lines
        self._started = time.monotonic()

    def show(self) -> None:
        """Show it on the terminal; elsewhere print a line now and then."""
        ended = self._pages.read + self._pages.failed
        show_progress(f"Reading: {self._text()}")
        if ended % _STEP == 0 and ended != self._lines.total and not (sys.stderr.isatty() or is_quiet()):
            write(self._text(), err=True)

    def close(self) -> None:
        """Print the sums, and how often each cause kept a page from being read."""
        pages = self._pages
        earlier = f", {pages.skipped:,} done before" if pages.skipped else ""
        if not is_quiet():
            write(f"{self._text()}{earlier}", err=True)
        for cause, count in self.causes.most_common(20 if pages.failed > 1 else 0):  # the only one was said already
            say_error(f"{count:,} not read: {cause}")
        if pages.failed_earlier:
            say_error(f"{pages.failed_earlier:,} could not be read in an earlier run and were not retried")
        if self._lines.bad:
            say_error(f"lines that are not addresses: {self._lines.bad:,}")

    def _text(self) -> str:
        pages, lines = self._pages, self._lines
        ended, seconds = pages.read + pages.failed, max(0.001, time.monotonic() - self._started)
        parts = [f"{pages.read:,} pages read", f"{pages.failed:,} failed", f"{ended / seconds:,.1f} per second"]
        if lines.total is not None and ended:
            remaining = max(0, lines.total - ended - pages.skipped - lines.bad)
            left = timedelta(seconds=round(remaining * seconds / ended))
            parts.append(f"{remaining:,} to go, about {left}" if remaining else "none left")
        return ", ".join(parts)
