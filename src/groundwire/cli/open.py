"""`groundwire open`."""

from __future__ import annotations

import os
import sys
from collections.abc import Sequence
from contextlib import suppress
from pathlib import Path
from typing import Any

import click

from groundwire.cli.call_runner import ToolCommand, each, print_json, run
from groundwire.cli.options import READ, read_with, timeout, with_refresh
from groundwire.cli.terminal_text import (
    ExitCode,
    clean,
    say_error,
    warn,
    with_setting,
    write,
    write_json,
)
from groundwire.errors import HostNotFound, PageUnavailable
from groundwire.models import Page
from groundwire.safety.files import is_file_url, path_of
from groundwire.safety.hostnames import NOT_ALLOWED
from groundwire.safety.urls import with_scheme
from groundwire.tools import open_failed, opened, render_text
from groundwire.web import Web

_PATHS = ("./", "/", "../", "~", *((".\\", "..\\") if os.name == "nt" else ()))
"""Beginnings of an argument that is a path, whether or not there is such a file."""


@click.command("open", cls=ToolCommand, failed=open_failed, subject="urls")
@click.argument("urls", metavar="URL|FILE...", nargs=-1, required=True)
@click.option("-q", "--query", metavar="WORDS", help="Return only the passages that answer this.")
@click.option("--find", metavar="TEXT", help="Show only the matches of TEXT, with context.")
@click.option(
    "--cursor", metavar="WHERE", help="Continue at a next_cursor, at #2 (second section), or at @5120 (a position)."
)
@click.option("--sections", is_flag=True, help="List the sections instead of the page.")
@click.option("--links", is_flag=True, help="List the page's links instead of the page.")
@click.option(
    "-m",
    "--max-length",
    type=int,
    metavar="N",
    help="Maximum characters of Markdown; longer pages are cut between blocks and marked. "
    f"By default the setting read.max_length ({READ.max_length}).",
)
@click.option("--max-tokens", type=int, metavar="N", help="Maximum tokens of Markdown, counted as an upper bound.")
@read_with
@timeout(f"the whole call. By default the setting read.timeout ({READ.timeout:g}).")
@with_refresh
@click.option(
    "--json",
    "as_json",
    is_flag=True,
    help="Print the tool's structured result and nothing else; with --sections or --links only these.",
)
def open_(
    urls: tuple[str, ...], sections: bool, links: bool, readers: tuple[str, ...], as_json: bool, **options: Any
) -> None:
    """Read the page at each URL, or each local FILE, as Markdown.

    With - the URLs are read from standard input. Several URLs are read in parallel: --max-length and --max-tokens
    then limit all pages together, and --json prints one line per page.
    """
    sources = _sources(urls)
    if len(sources) > 1 and options.pop("cursor") is not None:
        raise click.UsageError("--cursor continues one page: give one URL.")

    async def call(web: Web) -> Sequence[Page]:
        addresses = [url for url in sources if isinstance(url, str)]
        await web.allow_urls_in(*addresses)  # URLs on the command line come from the user
        try:
            if len(sources) > 1:
                pages: Sequence[Page] = await web.open_pages(sources, **options)
            else:
                pages = [await web.open_page(sources[0], **options)]
        except PageUnavailable as error:
            _warn_of_proxy(web, addresses)
            if (
                isinstance(error, HostNotFound) and "/" not in urls[0] and urls[0] != "-"
            ):  # `notes.md` may be meant as a file
                warn(f"There is no file {urls[0]} here, so it was taken for an address.")
            raise
        if any(page.status == "error" for page in pages):
            _warn_of_proxy(web, addresses)
        return pages

    pages = run(
        f"Opening {len(sources)} pages" if len(sources) > 1 else "Opening",
        {"read.providers": each(readers)} if readers else {},
        call,
    )
    for page in pages:
        _print_page(page, sections=sections, links=links, as_json=as_json)
    if any(page.status == "error" for page in pages):
        sys.exit(ExitCode.FAILED)


def _sources(arguments: tuple[str, ...]) -> tuple[str | Path, ...]:
    """Return the URLs and files of the command line, with - replaced by the URLs of standard input.

    Only what is an argument itself names any file: the lines of standard input may come from a page.
    """
    urls: list[str | Path] = []
    for argument in arguments:
        lines = sys.stdin.read().split() if argument == "-" else []
        urls += [with_scheme(line) for line in lines] if argument == "-" else [_file(argument) or with_scheme(argument)]
    if not urls:
        raise click.UsageError("Standard input has no URL.")
    return tuple(urls)


def _file(argument: str) -> Path | None:
    """Return the file that an argument names; None for an address."""
    if is_file_url(argument):
        return path_of(argument)
    with suppress(OSError, ValueError):  # too long for a name, or with a NUL
        path = Path(argument)
        is_address = not argument or ":" in argument or with_scheme(argument) != argument
        first, slash, _ = argument.partition("/")  # a folder, or a host, which may have letters of any script
        is_below = slash and not is_address and ("." not in first.strip(".") or Path(first).is_dir())
        is_path = argument.startswith(_PATHS) or is_below
        if (is_path and not argument.startswith("//")) or path.is_file() or (path.exists() and not is_address):
            return path
    return None


def _print_page(page: Page, *, sections: bool, links: bool, as_json: bool) -> None:
    if as_json and (sections or links) and page.status != "error":
        part = {"sections": [row.model_dump() for row in page.sections]} if sections else {"links": page.links}
        write_json({"url": page.url} | part)
    elif as_json:
        print_json(opened(page))
    elif page.status == "error":
        text = f"{page.url}: {page.error}"
        say_error(with_setting(text, page.url) if NOT_ALLOWED in text else text)
    elif sections:
        write(clean(_outline(page)))
    elif links:
        write(clean("\n".join(page.links) or "The page has no links."))
    else:
        write(clean(render_text(opened(page), fenced=False)))


def _warn_of_proxy(web: Web, urls: Sequence[str]) -> None:
    """Print that pages are read without the proxy of the environment, if it names one."""
    if not web.settings.network.proxy and any(map(web.settings.proxy_for, urls)):
        warn("The proxy of HTTPS_PROXY is used for providers, not for pages. To read pages through it: " + _THROUGH)


_THROUGH = "groundwire config set network.proxy URL"


def _outline(page: Page) -> str:
    """Return the outline of a page, one section per line, indented by level."""
    rows = [
        f"{f'#{number}':>5} {'  ' * (row.level - 1)}{row.title} ({row.length:,})"
        for number, row in enumerate(page.sections, start=1)
    ]
    return "\n".join(rows) or "The page has no sections."
