"""`groundwire ask`."""

from __future__ import annotations

import sys
from contextlib import aclosing
from dataclasses import asdict
from typing import TYPE_CHECKING, Any

import click

from groundwire.agent_loop import ask as answered
from groundwire.agent_loop import ask_stream
from groundwire.cli.call_runner import ToolCommand, each, run, stop_progress, words_or_input
from groundwire.cli.options import search_with, timeout
from groundwire.cli.terminal_text import (
    ExitCode,
    Flow,
    clean,
    is_quiet,
    shown_url,
    warn,
    warn_of_result,
    write,
    write_json,
)
from groundwire.errors import counted
from groundwire.web import Web

if TYPE_CHECKING:
    from groundwire.agent_loop import CitedAnswer

_NO_MODEL = "no model is set up, so these are quotes; name one with --model or answer.model"
_EXIT_CODES = "Exit code 1: a sentence with a citation is not supported by its page, or nothing was found to quote."


@click.command(
    cls=ToolCommand,
    failed=None,
    subject="question",
    epilog=_EXIT_CODES,
)
@click.argument("question", nargs=-1, metavar="QUESTION...", callback=words_or_input)
@click.option("-m", "--model", metavar="NAME", help="The model that answers. By default the setting answer.model.")
@click.option("--base-url", metavar="URL", help="Base URL of its API. By default the setting answer.base_url.")
@search_with
@timeout("the whole answer. By default answer.timeout.")
@click.option("--quote", is_flag=True, help="Quote the best passages instead of asking a model.")
@click.option(
    "--stream/--no-stream",
    default=None,
    help="Print the answer while it is written; by default if standard output is a terminal.",
)
@click.option("--json", "as_json", is_flag=True, help="Print the answer, its sources and its verification as JSON.")
def ask(
    question: str,
    model: str | None,
    base_url: str | None,
    providers: tuple[str, ...],
    stream: bool | None,
    as_json: bool,
    **options: Any,
) -> None:
    """Answer QUESTION from the web, with citations that are verified against the pages.

    It uses the model of the settings, or of a local server (Ollama, LM Studio, llama.cpp, vLLM).
    Without a model, it quotes the best passages.
    """
    streams = not as_json and (sys.stdout.isatty() if stream is None else stream)

    flow = Flow()

    async def call(web: Web) -> CitedAnswer:
        if not streams:
            return await answered(question, web=web, **options)
        async with aclosing(ask_stream(question, web=web, **options)) as events:
            async for event in events:
                if event.type == "result":
                    return event.answer
                if event.type in ("delta", "reset"):
                    stop_progress()
                if event.type == "delta":
                    flow.add(clean(event.delta))
                elif event.type == "reset":  # what came before stays on the terminal; the answer begins below it
                    flow.add("\n", end=True)
        raise RuntimeError("A stream of events ended without its answer.")

    chosen = {"answer.model": model, "answer.base_url": base_url, "search.providers": each(providers) or None}
    answer = run("Answering", {name: value for name, value in chosen.items() if value is not None}, call)
    if as_json:
        write_json(_plain(answer))
    else:
        if streams:
            flow.add("\n\n", end=True)
        else:
            write(clean(answer.text) + "\n")
        _print(answer, by=answer.model or ("quoting passages" if options["quote"] else _NO_MODEL))
    is_complete = answer.model or answer.sources
    sys.exit(ExitCode.OK if is_complete and answer.report.supported else ExitCode.NOTHING)


def _plain(answer: CitedAnswer) -> dict[str, Any]:
    from groundwire.citations.verify.report_rendering import report_json

    plain = asdict(answer) | {"report": report_json(answer.report)}
    return plain | {"answer": answer.text, "sources": [source.model_dump() for source in answer.sources]}


def _print(answer: CitedAnswer, *, by: str) -> None:
    if answer.sources:
        write("Sources", bold=True)
    for source in answer.sources:
        write(f"{source.citation_id:>2}. {clean(source.title)}\n    {shown_url(source.url)}")
    sys.stdout.flush()  # before what goes to standard error
    for finding in answer.report.findings:
        if finding.sources and finding.verdict != "supported":
            warn(f"not supported by its source ({finding.verdict.replace('_', ' ')}): {finding.text}")
    warn_of_result(answer.warnings)
    if is_quiet():
        return
    cost = f", ${answer.cost_usd:.4f}" if answer.cost_usd else ""
    write(f"\n{by}; {counted(answer.searches, 'search', 'searches')}{cost}", err=True, dim=True)
