"""`groundwire open`."""

from __future__ import annotations

import click

from groundwire.cli.run import fail, run
from groundwire.errors import GroundwireError
from groundwire.models import Page
from groundwire.tools import open_failed, opened, render_json, render_text
from groundwire.web import Web

__all__ = ["open_"]


@click.command("open")
@click.argument("url")
@click.option("-m", "--max-length", type=int, help="Most characters of Markdown; longer pages are cut at a block.")
@click.option("--timeout", type=float, help="Seconds for the whole call.")
@click.option("--json", "as_json", is_flag=True, help="Print the tool's structured result and nothing else.")
def open_(url: str, max_length: int | None, timeout: float | None, as_json: bool) -> None:
    """Read the page at URL as Markdown.

    Exit codes: 0 the page was read, 2 wrong use, 3 the page could not be read.
    """

    async def call(web: Web) -> Page:
        return await web.open_page(url, max_length=max_length, timeout=timeout)

    try:
        page = run("Opening", {}, call)
    except GroundwireError as error:
        fail(error, open_failed(url[:200], error) if as_json else None)
    click.echo(render_json(opened(page)) if as_json else render_text(opened(page)))
