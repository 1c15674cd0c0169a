"""`groundwire eval`."""

from __future__ import annotations

import itertools
import sys
from collections import Counter
from collections.abc import Iterator, Sequence
from typing import TYPE_CHECKING, Any, Final, TextIO, cast, get_args

import click

from groundwire.cli.call_runner import ToolCommand, each, run, show_progress
from groundwire.cli.options import timeout
from groundwire.cli.terminal_text import ExitCode, table, warn, write, write_json
from groundwire.models import MAX_LIMIT, Strategy
from groundwire.web import Web

if TYPE_CHECKING:
    from groundwire.evaluation import Evaluation

_COLUMNS = ("providers", "strategy", "share", "95%", "rows", "pages", "missed", "failed", "cost", "p50", "p95")
_MOST_CAUSES: Final = 5
_EPILOG = """\b
Example:
  groundwire eval questions.jsonl --providers brave,exa --providers tavily --open 2"""


@click.command(
    "eval",
    cls=ToolCommand,
    failed=None,
    subject="file",
    epilog=_EPILOG,
)
@click.argument("file", type=click.File(encoding="utf-8", errors="replace"))
@click.option(
    "-p",
    "--providers",
    multiple=True,
    metavar="NAME,...",
    help="Providers to call, in order; repeatable, one row each. By default the setting search.providers.",
)
@click.option(
    "--strategy",
    "strategies",
    multiple=True,
    type=click.Choice(get_args(Strategy)),
    help="The strategy; repeatable, one row each. By default the setting search.strategy.",
)
@click.option("-n", "--limit", type=int, metavar="N", help=f"Results of a search, 1 to {MAX_LIMIT}.")
@click.option(
    "--open", "open_pages", type=int, default=0, metavar="N", help="Open the first N pages if no result has the answer."
)
@click.option("--concurrency", type=int, default=4, show_default=True, metavar="N", help="Questions at once, 1 to 32.")
@timeout("a search, and again of its pages.")
@click.option("--json", "as_json", is_flag=True, help="Print one JSON object, with each answer.")
def eval_(
    file: TextIO,
    providers: tuple[str, ...],
    strategies: tuple[str, ...],
    as_json: bool,
    **options: Any,
) -> None:
    """Search for the questions in FILE, and count those whose answer is in a result or an opened page.

    FILE has one JSON object per line: question, answer (a text or a list of accepted texts), and optionally id. The
    cache is not used, and services charge for each search.
    """
    from groundwire.evaluation import evaluate, read_questions

    questions = read_questions(file, str(getattr(file, "name", "questions")))

    async def call(web: Web) -> list[Evaluation]:
        chains = [_chain(web, each((names,))) for names in providers] or [web]  # all checked before the first is paid
        evaluations = []
        for chain, strategy in itertools.product(chains, cast("tuple[Strategy, ...]", strategies) or (None,)):
            label, asked = ",".join(provider.name for provider in chain.search_providers), itertools.count(1)

            def step(answer: object, label: str = label, asked: Iterator[int] = asked) -> None:
                show_progress(f"{label}: {next(asked):,} of {len(questions):,} questions")

            evaluations.append(await evaluate(chain, questions, strategy=strategy, listener=step, **options))
        return evaluations

    evaluations = run("Evaluating", {}, call, shows_attempts=False)
    if as_json:
        write_json([evaluation.as_dict() for evaluation in evaluations])
    else:
        write(table([_COLUMNS, *map(_row, evaluations)]))
        for evaluation in evaluations:
            warn(*_causes(evaluation))
    all_failed = all(evaluation.count("failed") == len(evaluation.answers) for evaluation in evaluations)
    sys.exit(ExitCode.FAILED if all_failed else ExitCode.OK)


def _chain(web: Web, names: Sequence[str]) -> Web:
    """Return a view with these providers; one that is not set up is an error, as it would change the contender."""
    chain = web.with_providers(*names)
    used = {provider.name for provider in chain.search_providers}
    for name in names:
        if name not in used:
            web.with_providers(name)  # raises the reason
    return chain


def _row(evaluation: Evaluation) -> tuple[str, ...]:
    low, high = evaluation.interval
    return (
        ",".join(evaluation.providers),
        evaluation.strategy,
        f"{evaluation.share:.0%}",
        f"{low:.0%} to {high:.0%}",
        *(str(evaluation.count(place)) for place in ("rows", "pages", "missed", "failed")),
        f"${evaluation.cost_usd:,.4f}",
        *("-" if (part := evaluation.seconds(share)) is None else f"{part:.2f} s" for share in (0.5, 0.95)),
    )


def _causes(evaluation: Evaluation) -> Iterator[str]:
    """Yield why questions failed, each reason once with its count."""
    name = ",".join(evaluation.providers)
    errors = Counter(answer.error for answer in evaluation.answers if answer.error)
    for error, count in errors.most_common(_MOST_CAUSES):
        yield f"{name}: {count} failed: {error}"
    if unread := sum(answer.pages_failed for answer in evaluation.answers):
        yield f"{name}: {unread} pages could not be read."
