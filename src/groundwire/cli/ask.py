"""`groundwire ask`."""

from __future__ import annotations

import json
import shutil
import sys
from dataclasses import asdict
from typing import TYPE_CHECKING, Any

import click

from groundwire.cli.call_runner import run, storable
from groundwire.cli.exit_codes import ExitCode
from groundwire.cli.terminal_text import clean, escaped, warn, wrap
from groundwire.web import Web

if TYPE_CHECKING:
    from groundwire.agent_loop import CitedAnswer

__all__ = ["ask"]

_WIDEST = 100  # columns
_EXIT_CODES = """\b
Exit codes:
  0  answered, and every sentence with a citation is supported by its page
  1  answered, and at least one sentence is not
  2  usage error: an argument or a setting
  3  the web could not be searched, or the model did not answer"""


@click.command(short_help="Answer a question from the web, with citations.", epilog=_EXIT_CODES)
@click.argument("question", nargs=-1, required=True)
@click.option("--model", metavar="NAME", help="The model that answers. By default the setting answer.model.")
@click.option("--base-url", metavar="URL", help="Base URL of its API. By default the setting answer.base_url.")
@click.option("--quote", is_flag=True, help="Quote the best passages instead of asking a model.")
@click.option("--json", "as_json", is_flag=True, help="Print the answer, its sources and its verification as JSON.")
def ask(question: tuple[str, ...], model: str | None, base_url: str | None, quote: bool, as_json: bool) -> None:
    """Answer QUESTION from the web, with citations that are verified against the pages.

    The model is that of the settings, or one of a local server (Ollama, LM Studio, llama.cpp, vLLM). Without a model,
    the best passages are quoted.
    """
    words = storable(" ".join(question))

    async def call(web: Web) -> CitedAnswer:
        return await web.ask(words, quote=quote)

    said = run("Answering", {"answer.model": model, "answer.base_url": base_url}, call)
    if as_json:
        click.echo(escaped(json.dumps(_plain(said), ensure_ascii=False)))
    else:
        _print(said)
    sys.exit(ExitCode.OK if said.report.supported else ExitCode.NOTHING)


def _plain(said: CitedAnswer) -> dict[str, Any]:
    from groundwire.citations.verify.report_rendering import report_json

    plain = asdict(said) | {"report": report_json(said.report)}
    return plain | {"sources": [source.model_dump() for source in said.sources]}


def _print(said: CitedAnswer) -> None:
    width = min(_WIDEST, shutil.get_terminal_size().columns)
    for block in said.text.split("\n\n"):
        click.echo((wrap(clean(block), width, "") if "\n" not in block else clean(block)) + "\n")
    if said.sources:
        click.echo(click.style("Sources", bold=True))
    for source in said.sources:
        click.echo(f"{source.citation_id:>2}. {clean(source.title)}\n    " + click.style(clean(source.url), fg="blue"))
    for finding in said.report.findings:
        if finding.sources and finding.verdict != "supported":
            warn(f"not supported by its source ({finding.verdict.replace('_', ' ')}): {finding.text}")
    warn(*said.warnings)
    by = said.model or "no model is configured; quoting passages"
    cost = f", ${said.cost_usd:.4f}" if said.cost_usd else ""
    searches = f"{said.searches} search{'es' if said.searches != 1 else ''}"
    click.echo(click.style(f"\n{by}; {searches}{cost}", dim=True), err=True)
