"""`groundwire eval`."""

from __future__ import annotations

import asyncio
import json
import sys
from collections.abc import Sequence
from dataclasses import asdict
from typing import TYPE_CHECKING, TextIO, get_args

import click

from groundwire.cli.call_runner import ToolCommand, each, without_waiting
from groundwire.cli.completion import one_of
from groundwire.cli.terminal_text import ExitCode, escaped, is_quiet, keyless_notes, warn
from groundwire.evaluation import EvaluationQuestion, Outcome, Score, evaluate, read_questions, score
from groundwire.models import MAX_LIMIT, Strategy
from groundwire.settings import Settings, load
from groundwire.web import Web

if TYPE_CHECKING:
    from click._termui_impl import ProgressBar

__all__ = ["eval_"]

_EPILOG = """\b
A line of FILE:
  {"question": "When was the Eiffel Tower finished?", "answer": ["1889", "31 March 1889"]}

\b
Exit codes:
  0  the questions were searched for
  2  usage error: an argument, a setting, or a line of FILE
  3  none of them could be searched for"""


@click.command(
    "eval",
    cls=ToolCommand,
    failed=None,
    subject="file",
    short_help="Compare providers by questions with known answers.",
    epilog=_EPILOG,
)
@click.argument("file", type=click.File(encoding="utf-8"), metavar="FILE")
@click.option(
    "-p",
    "--providers",
    "chains",
    multiple=True,
    metavar="NAMES",
    help="A chain of providers, separated by commas; repeat it to compare. By default those of the settings.",
)
@click.option(
    "--strategy",
    type=click.Choice(get_args(Strategy)),
    shell_complete=one_of(get_args(Strategy)),
    help="How a chain is asked. By default the setting search.strategy.",
)
@click.option("-l", "--limit", type=click.IntRange(1, MAX_LIMIT), help="Maximum results of a search.")
@click.option(
    "--pages",
    type=click.IntRange(0, 10),
    default=3,
    show_default=True,
    help="Results to open where no result has the answer.",
)
@click.option(
    "--concurrency", type=click.IntRange(1, 32), default=4, show_default=True, help="Questions asked at a time."
)
@click.option("--json", "as_json", is_flag=True, help="Print the scores and each question's outcome as JSON.")
def eval_(
    file: TextIO,
    chains: tuple[str, ...],
    strategy: Strategy | None,
    limit: int | None,
    pages: int,
    concurrency: int,
    as_json: bool,
) -> None:
    """Search for the questions in FILE and count how often their answers are found.

    An answer is found where its words stand next to each other in a result, or in one of the pages that are opened,
    whatever their case, accents, and punctuation; numbers are compared as values. The cache and the archive are not
    used. With paid providers this costs money: each question is one search of each chain.
    """
    try:
        questions = read_questions(file)
    except UnicodeDecodeError as error:
        raise click.BadParameter("is not UTF-8.", param_hint="FILE") from error
    contenders: list[tuple[str, list[Outcome], Score]] = []
    for chain in chains or ("",):
        settings = load(
            {"cache.enabled": False, "archive.enabled": False, "session.max_searches": 0}
            | ({"search.providers": each([chain])} if chain else {})
        )
        warn(*settings.warnings)
        name = chain or "settings"
        with keyless_notes():
            contenders.append((name, *_run(settings, name, questions, strategy, limit, pages, concurrency)))
    if as_json:
        rows = [
            {"providers": name, **asdict(total), "outcomes": [asdict(outcome) for outcome in outcomes]}
            for name, outcomes, total in contenders
        ]
        click.echo(escaped(json.dumps({"questions": len(questions), "contenders": rows}, ensure_ascii=False)))
    else:
        _print(contenders, pages)
    failed = all(total.failed == total.questions for _, _, total in contenders)
    sys.exit(ExitCode.FAILED if failed else ExitCode.OK)


def _run(
    settings: Settings,
    name: str,
    questions: Sequence[EvaluationQuestion],
    strategy: Strategy | None,
    limit: int | None,
    pages: int,
    concurrency: int,
) -> tuple[list[Outcome], Score]:
    hidden = is_quiet() or not sys.stderr.isatty()
    bar: ProgressBar[int]
    with click.progressbar(length=len(questions), label=name, file=sys.stderr, hidden=hidden) as bar:

        async def whole() -> tuple[list[Outcome], Score]:
            async with Web(settings) as web:
                warn(*web.skipped)
                outcomes = await evaluate(
                    web,
                    questions,
                    limit=limit,
                    pages=pages,
                    strategy=strategy,
                    concurrency=concurrency,
                    on_outcome=lambda _: bar.update(1),
                )
                return outcomes, score(outcomes, (await web.usage())["cost_usd"])

        return asyncio.run(without_waiting(whole))


def _print(contenders: Sequence[tuple[str, list[Outcome], Score]], pages: int) -> None:
    from rich.console import Console
    from rich.table import Table

    table = Table(box=None, pad_edge=False)
    table.add_column("Providers", overflow="fold")
    for heading in ("In results", f"Or in {pages} pages", "Failed", "Cost", "p50", "p95"):
        table.add_column(heading, justify="right")
    for name, _, total in contenders:
        table.add_row(
            name,
            _share(total.in_results, total.in_results_interval),
            _share(total.in_pages, total.in_pages_interval),
            f"{total.failed} of {total.questions}",
            f"${total.cost_usd:.4f}",
            f"{total.p50_seconds:.1f} s",
            f"{total.p95_seconds:.1f} s",
        )
    Console().print(table)
    for name, outcomes, total in contenders:
        if total.failed:
            warn(f"{name}: {next(outcome.error for outcome in outcomes if outcome.error)}")


def _share(share: float, interval: tuple[float, float]) -> str:
    low, high = interval
    return f"{share:.0%} ({100 * low:.0f} to {100 * high:.0f})"
